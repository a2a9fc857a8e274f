"""Every command's help: at most 60 lines, and --help-all shows as many more options as --help says.
    help.py TESELA
Prints what is wrong, a line each."""
import re
import subprocess
import sys

most_lines = 60
failures = []


def help_of(words, option):
    return subprocess.run([sys.argv[1], *words, option], capture_output=True, text=True, check=True).stdout


def options_in(text):
    return set(re.findall(r"^  (-\S+)", text, re.MULTILINE))


def check(words):
    name = " ".join(["tesela", *words])
    short, long = help_of(words, "--help"), help_of(words, "--help-all")
    if (lines := len(short.splitlines())) > most_lines:
        failures.append(f"{name} --help has {lines} lines")
    said = re.search(r"^--help-all shows (\d+) more options?\.$", short, re.MULTILINE)
    hidden = options_in(long) - options_in(short) - {"--help-all"}
    commands = re.findall(r"^  (\S+)", (short.split("\nSubcommands:\n") + [""])[1].split("\n\n")[0], re.MULTILINE)
    if not commands and len(hidden) != (int(said[1]) if said else 0):
        failures.append(f"{name} --help counts {said and said[1]} hidden options; they are {sorted(hidden)}")
    for command in commands:
        if command != "bench":  # a program of its own
            check([*words, command])
    return len(commands)


if check([]) < 10:
    failures.append("the commands were not found")
print(*failures, sep="\n", end="")
sys.exit(1 if failures else 0)
