#!/usr/bin/env python3
"""Runs the commands that README.md and docs/*.md show, and compares what they print with what is shown.

    run_blocks.py SOURCE_DIR BUILD_DIR [--all] [--update] [--list] [--only PAGE]

Commands stand in ```console blocks, each after "$ ", with their output below; a command that ends in \\ goes on in the
next line. A block shows the output of all its commands or of none; then they only have to succeed. The blocks of a page
run in order in one folder of their own, with copies of data/, platforms/, examples/, docs/, python/ and bench/cluster/,
with BUILD_DIR as build/release and first in PATH.

What is compared is standard output, word by word, spaces aside:
  - times, rates, dates, versions and what "node 0 of 1: ..." says of the machine are not compared, nor numbers in columns
    and lines named "seconds", "..._seconds", "seconds_to_make", "..._per_second", "...gflops" and the like;
  - whole numbers must be equal, others within 1e-6 or one unit of the last digit that is shown;
  - a line "…" stands for any lines, "…" at the end of a line for the rest of it.

What a reader need not see stands in a comment before the block, parts separated by ";":
    <!-- run: slow -->            takes more than 5 s: only with --all
    <!-- run: root -->            needs root and network namespaces: only with --all, and where they are to be had
    <!-- run: never REASON -->    is not run
    <!-- run: exit 2 -->          every command of the block exits with 2
    <!-- run: stderr -->          standard error is shown too
    <!-- run: times -->           times and rates are compared: they are predicted, not measured
    <!-- run: mask NAME, NAME, /REGEX/ -->   these are not compared either: numbers in columns of that name and in lines that
                                  begin with it, and whatever the expression finds

--update writes what was printed into the pages; --list says what there is and runs nothing.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ALLOWED_SECONDS = 5.0  # without the mark `slow`
LOADED_SECONDS = 60.0  # the same on a machine that does other things too: beyond it the mark is required
LIMIT_SECONDS = 120.0  # then a command is ended
SLOW_LIMIT_SECONDS = 1800.0
COPIED = ["data", "platforms", "examples", "docs", "python", "bench/cluster"]
ELLIPSIS = "…"

# In blocks of other languages a line that begins like this is a command that nobody runs. "tesela dist: …" is an error message.
COMMAND = re.compile(r"\s*(\$ |(sudo )?(tesela(?! \S+:)|tesela-bench|tesela-papers|mpirun|srun|python3|cmake|ctest|git|\./dev|(build|bench|papers)/\S+)(\s|$))")
OTHER_LANGUAGES = {"cpp", "json", "python", "cmake"}
SHELLS = {"sh", "bash", "shell"}


class Wrong(Exception):
    """Something in a page that has to be written differently."""


@dataclasses.dataclass
class Marks:
    slow: bool = False
    root: bool = False
    never: str = ""
    exit: int = 0
    stderr: bool = False
    times: bool = False
    names: list = dataclasses.field(default_factory=list)  # of columns and lines
    patterns: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Command:
    line: int  # in the page, from 1
    text: str
    first_shown: int = 0
    shown: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Block:
    page: str
    line: int
    marks: Marks
    commands: list

    def shows_output(self):
        return any(command.shown for command in self.commands)


# --- Pages -----------------------------------------------------------------------------------------------------------


def parse_marks(text):
    marks = Marks()
    for part in (part.strip() for part in text.split(";")):
        word, _, rest = part.partition(" ")
        rest = rest.strip()
        if word in ("slow", "root", "stderr", "times") and not rest:
            setattr(marks, word, True)
        elif word == "never" and rest:
            marks.never = rest
        elif word == "exit" and re.fullmatch(r"\d+", rest):
            marks.exit = int(rest)
        elif word == "mask" and rest:
            for name in re.findall(r"/(?:[^/])+/|[^,/]+", rest):
                name = name.strip()
                if name.startswith("/"):
                    marks.patterns.append(name.strip("/"))
                elif name:
                    marks.names.append(name)
        else:
            raise Wrong(f'"{part}" is no mark: slow, root, never REASON, exit CODE, stderr, times, mask NAME, …')
    return marks


def parse_commands(lines, first):
    """Of the lines inside a block, of which the first has that number in the page."""
    commands = []
    continued = False
    for number, line in enumerate(lines, first):
        if continued:
            commands[-1].text += "\n" + line
        elif line.startswith("$ "):
            commands.append(Command(number, line[2:]))
        elif commands:
            if not commands[-1].shown:
                commands[-1].first_shown = number
            commands[-1].shown.append(line)
            continue
        elif line.strip():
            raise Wrong('a ```console block begins with a command: "$ tesela …"')
        continued = bool(commands) and commands[-1].text.endswith("\\")
        if commands:
            commands[-1].first_shown = number + 1
    for command in commands:
        while command.shown and not command.shown[-1].strip():
            command.shown.pop()
        if not [line for line in command.shown if line.strip()]:
            command.shown = []
    if not commands:
        raise Wrong("a ```console block without a command")
    return commands


def parse_page(page, text):
    """The blocks of a page, and what is wrong with it as (line, message)."""
    blocks, errors = [], []
    lines = text.split("\n")
    marks, marks_line = None, 0
    at = 0
    while at < len(lines):
        line = lines[at]
        comment = re.match(r"\s*<!--\s*run\b:?(.*)", line)
        fence = re.fullmatch(r" {0,3}(```+|~~~+)\s*(\w*)\s*", line)
        if comment:
            if marks:
                errors.append((marks_line, "a run comment without a ```console block"))
            try:
                if not comment[1].rstrip().endswith("-->"):
                    raise Wrong("a run comment is one line: <!-- run: … -->")
                marks, marks_line = parse_marks(comment[1].rstrip().removesuffix("-->")), at + 1
            except Wrong as wrong:
                errors.append((at + 1, str(wrong)))
        elif fence:
            end = at + 1
            while end < len(lines) and lines[end].strip() != fence[1]:
                end += 1
            inside = lines[at + 1 : end]
            if fence[2] == "console":
                try:
                    blocks.append(Block(page, at + 1, marks or Marks(), parse_commands(inside, at + 2)))
                except Wrong as wrong:
                    errors.append((at + 1, str(wrong)))
                marks = None
            elif fence[2] in SHELLS:
                errors.append((at + 1, "commands stand in a ```console block, each after \"$ \""))
            elif fence[2] not in OTHER_LANGUAGES:
                errors += unmarked(inside, at + 2)
            at = end
        elif line.startswith("    ") and (at == 0 or not lines[at - 1].strip()):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            errors += unmarked(lines[at:end], at + 1)
            at = end - 1
        elif line.strip() and marks:
            errors.append((marks_line, "a run comment without a ```console block"))
            marks = None
        at += 1
    if marks:
        errors.append((marks_line, "a run comment without a ```console block"))
    return blocks, errors


def unmarked(lines, first):
    """At most one error: a block that holds a command and is not run."""
    for number, line in enumerate(lines, first):
        if COMMAND.match(line):
            return [(number, f'a command outside a ```console block: write "$ {line.strip().removeprefix("$ ")}" in one')]
    return []


# --- Comparing -------------------------------------------------------------------------------------------------------

TIME_UNIT = r"(?:s|ms|us|µs|μs|ns|min|h)\b(?!/)"
RATE_UNIT = r"[A-Za-z]+/s\b"
PLAIN = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
NUMBER = re.compile(rf"(?<![\w.])({PLAIN})(?!\.?\w)")
MEASURED = re.compile(rf"(?<![\w.]){PLAIN} ?(?:({RATE_UNIT})|{TIME_UNIT})")
MASKED = "\x00masked"
# What a node says of its machine, and dates and versions anywhere.
MACHINE = [
    (
        re.compile(
            r"(node \d+ of \d+): \S+, \d+ cores?, \d+ workers?, \d+ accelerators?, StarPU [\d.]+ \([^)]*\) for up to \d+ cores,"
            r" BLAS kernels for \w+(?: \([^)]*\))?, (\d+ BLAS threads?), loops for [\w-]+, (scheduler \w+), \S+ \w+ free"
        ),
        r"\1: \2, \3",
    ),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?Z?)?"), "\x00date"),
    (re.compile(r"(?<![\w.])\d+\.\d+\.\d+(?:[-+.~]\w+)*"), "\x00version"),
]
MEASURED_NAME = re.compile(r"(\w+_)?seconds(_to_make)?|\w+_per_second|(\w+_)?gflops|[A-Za-z]*/s")


def normalised(line, marks, times):
    for pattern in marks.patterns:
        line = re.sub(pattern, MASKED, line)
    for pattern, instead in MACHINE:
        line = pattern.sub(instead, line)
    if not times:
        line = MEASURED.sub(lambda found: "\x00rate" if found[1] else "\x00time", line)
    return line


def begins_with(line, name):
    return re.match(rf"\s*{re.escape(name)}(?!\w)", line) is not None


def masked_key(line, marks):
    words = line.split()
    return len(words) > 1 and (
        MEASURED_NAME.fullmatch(words[0]) is not None or any(begins_with(line, name) for name in marks.names)
    )


def masked_columns(lines, marks):
    """For each line the columns that are not compared, counted from the right, since names of rows can be several words."""
    found, columns = [], set()
    for line in lines:
        words = line.split()
        if not words:
            columns = set()
        elif len(words) > 1 and not any(NUMBER.search(word) for word in words):
            named = {
                len(words) - at
                for at, word in enumerate(words)
                if MEASURED_NAME.fullmatch(word) or word in marks.names
            }
            columns = named or columns
            found.append(set())
            continue
        found.append(columns)
    return found


def close(shown, found):
    if re.fullmatch(r"[-+]?\d+", shown) and re.fullmatch(r"[-+]?\d+", found):
        return int(shown) == int(found)
    unit = 0.0
    if not re.fullmatch(r"[-+]?\d+", shown):
        mantissa, _, exponent = shown.lower().partition("e")
        unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(shown) - float(found)) <= max(1e-6 * abs(float(shown)), 1.000001 * unit)


def words_match(shown, found):
    shown_parts, found_parts = NUMBER.split(shown), NUMBER.split(found)
    if shown_parts[0::2] != found_parts[0::2]:
        return False
    return all(close(a, b) for a, b in zip(shown_parts[1::2], found_parts[1::2]))


def line_matches(shown, found, columns, marks):
    key = masked_key(found, marks)
    times = marks.times and not key
    a, b = normalised(shown, marks, times).split(), normalised(found, marks, times).split()
    if a and a[-1].endswith(ELLIPSIS):
        part = a.pop().removesuffix(ELLIPSIS)
        if len(b) < len(a) + bool(part) or (part and not b[len(a)].startswith(part)):
            return False
        b = b[: len(a)]
    if len(a) != len(b):
        return False
    for at, (x, y) in enumerate(zip(a, b)):
        masked = len(a) - at in columns or key
        if masked and all("\x00" in word or re.search(r"\d", word) for word in (x, y)):
            continue
        if not words_match(x, y):
            return False
    return True


def shape(line, marks):
    return re.sub(r"\s+", " ", NUMBER.sub("#", normalised(line, marks, False)).strip())


def compare(shown, found, marks):
    """The shortest way from what is shown to what was found: a list of (kind, number of the line in `shown`, line), with
    kind " " (as shown), "…", "-" (shown only) or "+" (found only)."""
    columns = masked_columns(found, marks)
    rows, cols = len(shown), len(found)
    # cost[i][j]: of shown[i:] beside found[j:]. A line that differs in numbers only is replaced, which is cheaper than to leave it
    # out: otherwise "…" would swallow the new one.
    cost = [[0] * (cols + 1) for _ in range(rows + 1)]
    step = [[""] * (cols + 1) for _ in range(rows + 1)]
    for i in range(rows, -1, -1):
        for j in range(cols, -1, -1):
            ways = []
            if i < rows and shown[i].strip() == ELLIPSIS:
                ways.append((cost[i + 1][j], "skip"))
                if j < cols:
                    ways.append((cost[i][j + 1], "…"))
            else:
                if i < rows and j < cols:
                    if line_matches(shown[i], found[j], columns[j], marks):
                        ways.append((cost[i + 1][j + 1], " "))
                    elif shape(shown[i], marks) == shape(found[j], marks):
                        ways.append((1 + cost[i + 1][j + 1], "~"))
                if i < rows:
                    ways.append((2 + cost[i + 1][j], "-"))
                if j < cols:
                    ways.append((2 + cost[i][j + 1], "+"))
            if ways:
                cost[i][j], step[i][j] = min(ways, key=lambda way: way[0])
    result, i, j = [], 0, 0
    while step[i][j]:
        kind = step[i][j]
        if kind == "skip":
            result.append(("…", i, shown[i]))
        elif kind == " ":
            result.append((" ", i, shown[i]))
        elif kind == "~":
            result += [("-", i, shown[i]), ("+", i, found[j])]
        elif kind == "-":
            result.append(("-", i, shown[i]))
        elif kind == "+":
            result.append(("+", i, found[j]))
        i += kind in ("skip", " ", "~", "-")
        j += kind in ("…", " ", "~", "+")
    return result


def differs(result):
    return any(kind in "-+" for kind, _, _ in result)


def updated(result):
    return [line for kind, _, line in result if kind != "-"]


def unused_masks(block, outputs):
    """Masks that nothing is left for would hide what comes next."""
    lines = [line for command in block.commands for line in command.shown] + [line for output in outputs for line in output]
    for name in block.marks.names:
        if not any(begins_with(line, name) or name in line.split() for line in lines):
            yield name
    for pattern in block.marks.patterns:
        if not any(re.search(pattern, line) for line in lines):
            yield f"/{pattern}/"


# --- Running ---------------------------------------------------------------------------------------------------------


def namespaces_can_be_made():
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", "--net", "--mount", "--uts", "true"], capture_output=True, check=False).returncode == 0


def prepare_folder(folder, source, build):
    for name in COPIED:
        if (source / name).is_dir():
            shutil.copytree(source / name, folder / name)
    (folder / "build").mkdir(parents=True)
    (folder / "build/release").symlink_to(build)


def environment(build, tools):
    # What a user has set for runs of his own would change what is printed.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("STARPU_", "TESELA_"))}
    path = os.pathsep.join([str(build), str(tools), os.environ.get("PATH", "")])
    return kept | {
        "PATH": path,
        "LC_ALL": "C.UTF-8",
        # As root, and with more nodes than cores: Open MPI 4, then 5.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
    }


def run_command(command, folder, env, marks):
    """Exit code (None: it was ended), lines of output, text of standard error."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            ["bash", "-c", "set -o pipefail\n" + command.text],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT if marks.stderr else err,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=SLOW_LIMIT_SECONDS if marks.slow or marks.root else LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        if code is None:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", errors="replace"))
    lines = texts[0].split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    return code, lines, texts[1]


def run_block(block, folder, env):
    """What is wrong, as messages, and the edits that would mend it: (first line, lines that are there, lines to be)."""
    wrong, edits, outputs = [], [], []
    for command in block.commands:
        where = f"{block.page}:{command.line}"
        code, found, complaints = run_command(command, folder, env, block.marks)
        outputs.append(found)
        if code != block.marks.exit:
            said = "".join(f"\n    {line}" for line in (found[-10:] if block.marks.stderr else complaints.split("\n")[-20:]) if line)
            ended = f"exits with {code}, not {block.marks.exit}" if code is not None else "takes too long"
            wrong.append(f"{where}: $ {command.text}\n  {ended}{said}")
            continue
        if not block.shows_output():
            continue
        result = compare(command.shown, found, block.marks)
        if not differs(result):
            continue
        text = [f"{where}: $ {command.text}"]
        for kind, at, line in result:
            text.append(f"{kind if kind != '…' else ' '} {f'{command.first_shown + at}:':6} {line}" if kind != "+" else f"+        {line}")
        if any(kind == "…" for kind, _, _ in result):  # which swallowed what was there instead
            text += ["  all that was printed:", *(f"    {line}" for line in found[:60])]
        wrong.append("\n".join(text))
        edits.append((command.first_shown, len(command.shown), updated(result)))
    if not wrong:
        wrong += [f"{block.page}:{block.line}: mask {name}: there is nothing of that name" for name in unused_masks(block, outputs)]
    return wrong, edits


def why_not(block, everything, root):
    if block.marks.never:
        return f"never: {block.marks.never}"
    if block.marks.root and not (everything and root):
        return "root" if not everything else "root: network namespaces are not to be had here"
    if block.marks.slow and not everything:
        return "slow"
    return ""


def write_edits(path, edits):
    lines = path.read_text(encoding="utf-8").split("\n")
    for first, count, instead in sorted(edits, reverse=True):
        lines[first - 1 : first - 1 + count] = instead
    path.write_text("\n".join(lines), encoding="utf-8")


def read_pages(source, only):
    """(name, blocks, errors) of each page."""
    for path in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
        name = str(path.relative_to(source))
        if path.exists() and (not only or name in only):
            yield name, *parse_page(name, path.read_text(encoding="utf-8"))


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Runs the commands that the pages show and compares what they print.")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="also blocks that are slow or need root")
    parser.add_argument("--update", action="store_true", help="write what was printed into the pages")
    parser.add_argument("--list", action="store_true", help="list the blocks and run nothing")
    parser.add_argument("--only", action="append", metavar="PAGE", help="this page, as docs/geo.md; can be repeated")
    options = parser.parse_args(arguments)
    source, build = options.source.resolve(), options.build.resolve()
    pages = list(read_pages(source, options.only))

    if options.list:
        for _, blocks, _ in pages:
            for block in blocks:
                marked = why_not(block, False, False)
                print(f"{block.page}:{block.line}:" + (f" ({marked})" if marked else ""))
                for command in block.commands:
                    print(f"  $ {command.text}" + (f"   [{len(command.shown)} lines]" if command.shown else ""))
    wrong, ran, compared, left_out = 0, 0, 0, []
    for name, _, errors in pages:
        for line, message in errors:
            wrong += 1
            print(f"{name}:{line}: {message}")
    if options.list:
        return 1 if wrong else 0

    root = options.all and namespaces_can_be_made()
    with tempfile.TemporaryDirectory(prefix="tesela-docs-") as scratch:
        tools = pathlib.Path(scratch) / "tools"
        tools.mkdir()
        if os.geteuid() == 0 and not shutil.which("sudo"):  # who is root needs none
            (tools / "sudo").write_text('#!/bin/sh\nexec "$@"\n', encoding="utf-8")
            (tools / "sudo").chmod(0o755)
        env = environment(build, tools)
        for name, blocks, _ in pages:
            folder = pathlib.Path(scratch) / name.replace("/", "_")
            prepare_folder(folder, source, build)
            page_edits = []
            for block in blocks:
                where = f"{block.page}:{block.line}"
                reason = why_not(block, options.all, root)
                if reason:
                    left_out.append(reason)
                    print(f"left out  {where} ({reason})")
                    continue
                begin = time.monotonic()
                messages, edits = run_block(block, folder, env)
                took = time.monotonic() - begin
                ran += 1
                compared += block.shows_output()
                marked = block.marks.slow or block.marks.root
                if took > LOADED_SECONDS and not marked:
                    messages.append(f"{where}: took {took:.1f} s: mark it <!-- run: slow -->")
                elif took > ALLOWED_SECONDS and not marked:
                    print(f"warning   {where} took {took:.1f} s: above {ALLOWED_SECONDS:.0f} s a block is to be marked slow")
                page_edits += edits
                if options.update and len(edits) == len(messages) and messages:
                    print(f"updated   {where}")
                elif not messages:
                    print(f"ok        {where} {took:.1f} s")
                    continue
                else:
                    wrong += 1
                    print(f"wrong     {where} {took:.1f} s")
                print("\n".join(messages), flush=True)
            if options.update:
                write_edits(source / name, page_edits)
    never = sum(reason.startswith("never") for reason in left_out)
    print(
        f"{ran} blocks run, {compared} compared with what is shown, {wrong} wrong;"
        f" {len(left_out) - never} left out{'' if options.all else ' (--all runs them)'}, {never} never run"
    )
    return 1 if wrong or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
