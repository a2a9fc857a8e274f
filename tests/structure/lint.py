#!/usr/bin/env python3
"""lint.py BUILD_DIR [--changed COMMITS] [--seconds LIMIT]: clang-tidy over the sources; any finding is an error.

BUILD_DIR was configured with -DTESELA_PCH=OFF, so that a file that does not include what it needs is found too. A file that was
clean is not looked at again until it, a header it includes, how it is compiled, .clang-tidy or clang-tidy changes
(~/.cache/tesela/lint remembers). --changed: only files of the last COMMITS commits, the newest first; a header is looked at in a
file that includes it. --seconds: none is begun after that; what was left out is said.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], check=True, capture_output=True, text=True).stdout.splitlines()


def changed(commits):
    """Files that are not committed or that the last commits changed, the newest first."""
    names = git("diff", "--name-only", "HEAD") + git("log", f"-{commits}", "--name-only", "--format=")
    return [ROOT / name for name in dict.fromkeys(names) if (ROOT / name).is_file()]


class Texts:
    """What a file is made of: its own text and that of the project's headers that it includes, directly or not."""

    def __init__(self, folders):
        self.folders = folders
        self.known = {}

    def of(self, path):
        if path not in self.known:
            text = path.read_text()
            found = (self.find(name, path) for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE))
            self.known[path] = text, [header for header in found if header]
        return self.known[path]

    def find(self, name, path):
        return next((folder / name for folder in [*self.folders, path.parent] if (folder / name).is_file()), None)

    def all(self, path):
        seen, waiting = {}, [path]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen[one], headers = self.of(one)
                waiting += headers
        return seen


def sources(commits, compiled, texts):
    """The files to look at: all that are compiled, or those that show what the last commits changed."""
    if commits is None:
        return compiled
    wanted = {}
    for path in changed(commits):
        if path.suffix == ".hpp":
            path = including(path, compiled, texts)
        if path in compiled:
            wanted[path] = True
    return list(wanted)


def including(header, compiled, texts):
    """The source of that name, or the first that includes the header."""
    own = header.with_suffix(".cpp")
    return own if own in compiled else next((path for path in compiled if header in texts.all(path)), None)


def key_of(path, command, texts, rules):
    digest = hashlib.sha256(rules)
    digest.update(command.replace(str(ROOT), "").encode())
    for one, text in sorted(texts.all(path).items()):
        digest.update(f"{one.relative_to(ROOT)}\0{text}\0".encode())
    return digest.hexdigest()


def look_at(path, build):
    """What clang-tidy says of a file; empty if nothing. A file that it cannot compile is a finding too."""
    done = subprocess.run(["clang-tidy", "-p", str(build), "--quiet", "--warnings-as-errors=*", str(path)],
                          capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return "\n".join(line for line in done.stdout.splitlines() if line.strip()) or done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--changed", type=int, metavar="COMMITS")
    parser.add_argument("--seconds", type=float, default=float("inf"), metavar="LIMIT")
    options = parser.parse_args()

    entries = json.loads((options.build / "compile_commands.json").read_text())
    ours = {ROOT / name for name in git("ls-files", "*.cpp")}
    commands = {pathlib.Path(entry["file"]): entry["command"] for entry in entries}
    compiled = sorted(path for path in commands if path in ours and "compile_fail" not in path.parts)  # those must not compile
    texts = Texts([ROOT / folder for folder in ("src", "bench", "papers", "tests")])
    wanted = sources(options.changed, compiled, texts)
    if not compiled:
        sys.exit(f"{options.build} compiles none of the sources")
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True).stdout
    rules = b"".join(path.read_bytes() for path in (ROOT / ".clang-tidy", ROOT / "tests/.clang-tidy")) + version
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tesela/lint"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        cache = options.build / "lint"
        cache.mkdir(exist_ok=True)
    marks = {path: cache / key_of(path, commands[path], texts, rules) for path in wanted}
    todo = [path for path in wanted if not marks[path].exists()]

    start, left_out, bad = time.monotonic(), [], 0

    def one(path):
        if time.monotonic() - start > options.seconds:
            left_out.append(path)
            return path, ""
        return path, look_at(path, options.build)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, said in pool.map(one, todo):
            if said:
                bad += 1
                print(said, flush=True)
            elif path not in left_out:
                marks[path].touch()
    print(f"{len(wanted)} files: {len(wanted) - len(todo)} known to be clean, {len(todo) - len(left_out)} looked at, "
          f"{bad} with findings, {len(left_out)} left out for want of time", file=sys.stderr)
    sys.exit(bad > 0)


main()
