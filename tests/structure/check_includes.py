#!/usr/bin/env python3
"""Fails when a folder of src/tesela/ includes what the architecture does not allow it to.

The table below is the one of docs/architecture.md; that page and this file change together.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "platform": set(),
    "distribution": {"platform"},
    "kernels": set(),
    "trace": set(),
    "flow": {"distribution", "kernels", "trace"},
    "algs": {"flow", "distribution", "kernels"},
    "net": set(),
    "starpu": {"net", "flow", "distribution", "kernels", "trace"},
    "sim": {"flow", "distribution", "kernels", "platform", "trace"},
    "lp": set(),
    "plan": {"flow", "distribution", "platform", "kernels", "sim", "lp", "trace"},
    "corun": {"flow", "platform", "sim", "lp", "trace"},
    "io": {"distribution", "trace"},
    "report": {"distribution", "trace", "io"},
    "apps": {"algs", "flow", "distribution", "kernels", "platform", "trace", "io", "plan", "report"},
}
ALLOWED["cli"] = set(ALLOWED)

# External libraries that only one folder may include.
ONLY = {
    r"starpu(_\w+)?\.h": {"starpu"},
    r"mpi\.h": {"net"},
    r"simgrid/.*": {"sim"},
    r"coin/.*": {"lp"},
    r"nlopt\.(h|hpp)": {"apps"},
    r"(hdf5|H5\w+)\.h": {"io"},
    r"CLI/.*": {"cli"},
    r"cblas\.h": {"kernels"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def violations(root: pathlib.Path):
    for path in sorted((root / "src" / "tesela").rglob("*.[ch]pp")):
        folder = path.relative_to(root / "src" / "tesela").parts[0]
        if folder not in ALLOWED:
            yield f"{path}: folder '{folder}' is not in the table"
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            header = match.group(1)
            where = f"{path}:{number}: {header}"
            if header.startswith("tesela/"):
                parts = header.split("/")
                target = parts[1]
                if target not in ALLOWED[folder] | {folder, "base"}:
                    yield f"{where}: '{folder}' may not include '{target}'"
                elif "internal" in parts and target != folder:
                    yield f"{where}: internal to '{target}'"
                continue
            for pattern, folders in ONLY.items():
                if re.fullmatch(pattern, header) and folder not in folders:
                    yield f"{where}: only {', '.join(sorted(folders))} may include it"


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    found = list(violations(root))
    for violation in found:
        print(violation)
    count = len(list((root / "src" / "tesela").rglob("*.[ch]pp")))
    print(f"{count} files checked, {len(found)} violations")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
