#!/usr/bin/env python3
"""check_api.py ROOT [PREFIX]: docs/api.md lists headers that are there, once each, and that include no header of Tesela outside
of the list; examples include stable ones alone. With PREFIX: what is installed there is the list."""
import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    row = re.compile(r"^\| `(tesela/[^`]+)` \| \S", re.MULTILINE)
    text = (root / "docs/api.md").read_text()
    listed, stable = row.findall(text), row.findall(text.partition("# The rest")[0])
    problems = [f"docs/api.md lists {header} twice" for header in sorted(set(listed)) if listed.count(header) > 1]
    for header in listed:
        path = root / "src" / header
        if not path.is_file():
            problems.append(f"docs/api.md lists {header}, which is not there")
            continue
        for included in re.findall(r'^#include "(tesela/[^"]+)"', path.read_text(), re.MULTILINE):
            if included not in listed:
                problems.append(f"{header} includes {included}, which docs/api.md does not list")
    for example in sorted((root / "examples").glob("*.cpp")):
        for included in re.findall(r'^#include "(tesela/[^"]+)"', example.read_text(), re.MULTILINE):
            if included not in stable:
                problems.append(f"{example.name} includes {included}, which is not stable by docs/api.md")
    if len(sys.argv) > 2:
        include = pathlib.Path(sys.argv[2]) / "include"
        installed = {str(path.relative_to(include)) for path in include.rglob("*") if path.is_file()}
        problems += [f"{header} is installed, but docs/api.md does not list it" for header in sorted(installed - set(listed))]
        problems += [f"docs/api.md lists {header}, which is not installed" for header in sorted(set(listed) - installed)]
    if not listed:
        problems.append("docs/api.md lists no headers")
    print("\n".join(problems) or f"{len(listed)} headers, {len(stable)} of them stable")
    sys.exit(bool(problems))


main()
