#!/usr/bin/env python3
"""Fails when a C++ block of the README or of docs/ is not, line by line, part of a program in examples/, which is built.

    check_code_blocks.py ROOT
"""
import pathlib
import re
import sys


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    programs = [path.read_text(encoding="utf-8") for path in sorted((root / "examples").glob("*.cpp"))]
    count = 0
    missing = 0
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for block in re.findall(r"^```cpp\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            count += 1
            # A block of a page may be several pieces of one program, one after the other.
            pieces = [piece for piece in re.split(r"\n\n", block.strip("\n")) if piece]
            if any(all(piece in program for piece in pieces) for program in programs):
                continue
            missing += 1
            print(f"{page}: not in any program of examples/:\n{block}")
    print(f"{count} blocks checked, {missing} are in no program")
    return 1 if missing or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
