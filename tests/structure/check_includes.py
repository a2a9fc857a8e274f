#!/usr/bin/env python3
"""Fails when a folder of src/tesela/ includes or links what the architecture does not allow it to.

    check_includes.py ROOT

The table of docs/architecture.md ("Who may include whom") is the only one: it is read from there, and a row or permission
that nobody uses is an error too, so that it says what is so.
"""
import pathlib
import re
import sys

# External libraries that only one folder may include.
ONLY = {
    r"starpu(_\w+)?\.h": {"starpu"},
    r"mpi\.h": {"net"},
    r"simgrid/.*": {"sim"},
    r"nlopt\.(h|hpp)": {"geo"},
    r"coin/.*": {"lp"},
    r"(hdf5|H5\w+)\.h": {"io"},
    r"CLI/.*": {"cli"},
    r"cblas\.h": {"kernels"},
}
# Headers above the folders: they only put others together.
TOGETHER = {"tesela.hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def allowed_by_docs(root: pathlib.Path):
    """The table as a map from a folder to those it may include beside base and itself."""
    text = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = re.search(r"^\| folder \| may include \|\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    if not table:
        raise SystemExit("docs/architecture.md has no table 'folder | may include'")
    rows = {}
    for row in table.group(1).splitlines():
        folder, others = (cell.strip() for cell in row.strip("|").split("|"))
        rows[folder] = set() if others.startswith("(") else {name.strip() for name in others.split(",")}
    return rows


def includes(root: pathlib.Path):
    """(file, line, folder, header) of every include."""
    source = root / "src" / "tesela"
    for path in sorted(source.rglob("*.[ch]pp")):
        folder = path.relative_to(source).parts[0]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if match := INCLUDE.match(line):
                yield path, number, folder, match.group(1)


def wrong_includes(root: pathlib.Path, allowed, used):
    for path, number, folder, header in includes(root):
        if folder in TOGETHER:
            continue
        where = f"{path}:{number}: {header}"
        if folder not in allowed:
            yield f"{path}: folder '{folder}' is not in the table"
        elif header.startswith("tesela/"):
            target = header.split("/")[1]
            used.setdefault(folder, set()).add(target)
            if target not in allowed[folder] | {folder, "base"}:
                yield f"{where}: '{folder}' may not include '{target}'"
            elif "internal" in header.split("/") and target != folder:
                yield f"{where}: internal to '{target}'"
        for pattern, folders in ONLY.items():
            if re.fullmatch(pattern, header) and folder not in folders:
                yield f"{where}: only {', '.join(sorted(folders))} may include it"


def unused_permissions(root: pathlib.Path, allowed, used):
    for folder, others in allowed.items():
        if not (root / "src" / "tesela" / folder).is_dir():
            yield f"docs/architecture.md: there is no folder '{folder}'"
        for other in sorted(others - used.get(folder, set())):
            yield f"docs/architecture.md: '{folder}' may include '{other}', which it never does"


def wrong_links(root: pathlib.Path, allowed):
    """What CMake links to a folder's library, as far as it is ours."""
    for folder, others in allowed.items():
        file = root / "src" / "tesela" / folder / "CMakeLists.txt"
        if not file.exists():
            continue
        call = re.search(rf"tesela_library\({folder}\b[^)]*\)", file.read_text(encoding="utf-8"))
        for target in re.findall(r"tesela::(\w+)", call.group(0) if call else ""):
            # Targets of their own within a folder: io_hdf5.
            if target.split("_")[0] not in others | {"base", folder}:
                yield f"{file}: '{folder}' may not link '{target}'"


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    allowed = allowed_by_docs(root)
    used = {}
    found = list(wrong_includes(root, allowed, used))
    found += unused_permissions(root, allowed, used)
    found += wrong_links(root, allowed)
    for violation in found:
        print(violation)
    print(f"{len(allowed)} folders checked, {len(found)} violations")
    return 1 if found or len(allowed) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
