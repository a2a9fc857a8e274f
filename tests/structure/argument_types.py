#!/usr/bin/env python3
"""The types of arguments that kernels take, as the sources have them.

    argument_types.py tests ROOT OUTPUT     writes a test for each to OUTPUT
    argument_types.py compiled ROOT FILE…   sees that these programs have no others: one that the tests would forget
"""
import pathlib
import re
import subprocess
import sys

FOLDERS = ("src", "bench", "papers", "examples")
PARAMETERS = {"Arguments", "T"}  # of templates
BUILT_IN = {"double", "float", "int", "Index"}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


class Sources:
    def __init__(self, root):
        files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.[ch]pp"))
        self.texts = {path.relative_to(root): without_comments(path.read_text()) for path in files}

    def names(self):
        """Every type that a kernel takes, and a file where it does."""
        found = {}
        for path, text in self.texts.items():
            names = re.findall(r"\bKernelOf<\s*(\w+)\s*[,>]", text) + re.findall(r"\bargs<(\w+)>\(\)", text)
            for function in re.findall(r"\bmake_kernel<(\w+)", text):
                names += re.findall(rf"\bKernelResult {function}\(\s*const (\w+)&", text)
            for name in set(names) - PARAMETERS:
                found.setdefault(name, path)
        return found

    def definitions(self, name):
        """Where structs of a name are defined, and what is between their braces."""
        for path, text in self.texts.items():
            for body in re.findall(rf"^struct {name} \{{(\}};|.*?^\}};)", text, re.MULTILINE | re.DOTALL):
                yield path, body[:-2]

    def definition(self, name, near):
        """That which is near a file or else in a header."""
        visible = [(path, body) for path, body in self.definitions(name) if path == near or path.suffix == ".hpp"]
        return min(visible, key=lambda found: found[0] != near, default=(None, ""))

    def pointers(self, name, near):
        """How many pointers a struct has, itself and in what it is made of."""
        path, body = self.definition(name, near)
        if path is None:
            return 0
        functions = re.findall(r"using (\w+) = [^;]*\(\*\)", self.texts[path])
        members = [word for word in re.findall(r"\b[A-Z]\w+(?= \w+(?: = [^;]*|\{\})?;)", body) if word != name]
        return body.count("*") + sum(1 if word in functions else self.pointers(word, path) for word in members)


def write_tests(root, output):
    sources = Sources(root)
    includes, tests = set(), []
    for name, near in sorted(sources.names().items()):
        path, body = sources.definition(name, near)
        if len(others := [str(path) for path, _ in sources.definitions(name)]) > 1:
            sys.exit(f"{name} is what kernels take, and defined in {' and in '.join(others)}: only one would be tested")
        if path is None and name not in BUILT_IN:
            sys.exit(f"{near}: a kernel takes {name}, which is no struct of that name")
        if path is not None and path.suffix == ".hpp" and path.parts[0] == "src":
            includes.add("/".join(path.parts[1:]))
        elif path is not None:  # of a source file's own: what it points to does not matter
            tests.append(f"struct {name} {{{re.sub(r'(const )?[A-Za-z_:]+[*] ', 'const void* ', body)}}};\n")
        tests.append(f"TEST(Arguments, {name}) {{ see_all_but_pointers<{name}>({sources.pointers(name, near)}); }}\n")
    lines = [f'#include "{header}"\n' for header in ["unit/flow/argument_bytes.hpp", *sorted(includes)]]
    text = "".join([*lines, "\nnamespace tesela {\nnamespace {\n\n", *tests, "\n}\n}\n"])
    if not output.is_file() or output.read_text() != text:
        output.write_text(text)


def compare_compiled(root, programs):
    known = set(Sources(root).names())
    problems, seen = [], set()
    for program in programs:
        names = subprocess.run(["nm", "-C", "--defined-only", program], check=True, capture_output=True,
                               text=True).stdout
        for name in re.findall(r"\btesela::add_fields_at<(?:\w+::|\(anonymous namespace\)::)*(\w+)>", names):
            seen.add(name)
            if name not in known | {"long"}:
                problems.append(f"{program}: a kernel takes {name}, which the test of arguments does not find")
    if not seen:
        problems.append("no kernel with arguments was found")
    print("\n".join(sorted(set(problems))) or f"{len(seen)} types of arguments")
    return 1 if problems else 0


def main():
    mode, root, rest = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    if mode == "tests":
        write_tests(root, pathlib.Path(rest[0]))
        return 0
    return compare_compiled(root, rest)


if __name__ == "__main__":
    sys.exit(main())
