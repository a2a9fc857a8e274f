#!/usr/bin/env python3
"""Lets nodes of a run fail and looks at how it ends: soon, with an exit code other than 0, and with no process left.

    run.py PROGRAM CASE [--runs 5] [--first-seed 1] [--nodes 4]

CASE: none                        nothing happens: mpirun returns 0
      throw, exit, return, kill   one node leaves the others in that way, at a node and step that the seed chooses
      opens, waits, meets         one node does something else than the others, and waits for them there
      reads, swaps                one node reads a value more, or does the same steps in another order
      error                       all nodes throw the same Error: mpirun returns 2
      error-each                  the same, noted for each node by itself: each returns 2
      interrupt                   Ctrl-C: mpirun gets SIGINT
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import uuid

LAUNCHER = os.environ.get("TESELA_MPIRUN", "mpirun --oversubscribe --bind-to none").split()
RUN_LIMIT = 30  # seconds from the start of mpirun
FAULT_LIMIT = 10  # seconds from the fault
SETTLE_LIMIT = 1  # seconds in which processes may still go when mpirun has ended
MARK = "TESELA_FAULT_RUN"  # in the environment of every process of a run


class Run:
    """One mpirun, with a folder of its own and a mark by which its processes are found, whoever is their parent."""

    def __init__(self, folder, arguments, options):
        self.case = options.case
        self.folder = pathlib.Path(folder)
        self.mark = f"{MARK}={uuid.uuid4()}".encode()
        self.stamp_file = self.folder / "stamp"
        name, value = self.mark.decode().split("=")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **{name: value})
        command = [*LAUNCHER, "-n", str(options.nodes), *arguments,
                   "--stamp", str(self.stamp_file)]
        self.stderr_file = self.folder / "stderr"
        self.started = time.monotonic()
        with open(self.stderr_file, "w") as stderr:
            self.mpirun = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=stderr)

    def stamp(self):
        """Node, step and time of the fault; None before it."""
        try:
            node, step, seconds = self.stamp_file.read_text().split()
        except FileNotFoundError:
            return None
        return int(node), int(step), float(seconds)

    def processes(self):
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                pass  # it has ended meanwhile, or is another user's
        return found

    def wait_for(self, condition, seconds):
        """Whether the condition holds within so many seconds after the start."""
        while not condition():
            if time.monotonic() > self.started + seconds:
                return False
            time.sleep(0.01)
        return True

    def ended(self):
        return self.mpirun.poll() is not None

    def ended_or_too_late(self):
        stamp = self.stamp()
        return self.ended() or (stamp is not None and time.monotonic() > stamp[2] + FAULT_LIMIT)

    def finish(self):
        """Waits for the end; seconds from the fault to it, and how many processes are left. Ends those."""
        self.wait_for(self.ended_or_too_late, RUN_LIMIT)
        end = time.monotonic()
        stamp = self.stamp()
        if self.ended():
            self.wait_for(lambda: not self.processes(), end + SETTLE_LIMIT - self.started)
        left = self.processes()
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        was_running = not self.ended()
        self.mpirun.wait()
        self.code = None if was_running else self.mpirun.returncode
        self.seconds = None if stamp is None else end - stamp[2]
        self.left = len(left)

    def code_is_right(self):
        # mpirun, which would end the others when one has failed, is not told then: it returns 0.
        wanted = {"none": 0, "error": 2, "error-each": 0}
        return self.code == wanted[self.case] if self.case in wanted else self.code != 0

    def problems(self):
        """What is wrong whatever the fault was."""
        found = []
        if self.stamp() is None:
            found.append("the step of the fault was not reached")
        if self.code is None:
            found.append("mpirun does not end")
        elif not self.code_is_right():
            found.append(f"mpirun ends with {self.code}")
        if self.seconds is not None and self.seconds > FAULT_LIMIT:
            found.append(f"more than {FAULT_LIMIT} s after the fault")
        if self.left:
            found.append(f"{self.left} processes left")
        return found


def names_the_node(run):
    """A line of the engine's own says which node has gone."""
    node = run.stamp()[0] if run.stamp() else -1
    text = run.stderr_file.read_text(errors="replace").replace("\0", "")  # which Open MPI 5 puts between
    lines = re.findall(r"^tesela: node (\d+): (.*the job ends)$", text, re.MULTILINE)
    if len(lines) != 1:
        return [f"{len(lines)} lines of the engine's own on stderr instead of one"]
    reporter, said = lines[0]
    if re.search(rf"\bnode {node}\b", said) or int(reporter) == node:
        return []
    return [f"the line does not name node {node}: {said}"]


def each_returns_2(run, nodes):
    found = []
    for node in range(nodes):
        file = run.folder / f"code.{node}"
        code = file.read_text().strip() if file.exists() else "nothing"
        if code != "2":
            found.append(f"node {node} returns {code} instead of 2")
    return found


def interrupt(run):
    if run.wait_for(lambda: run.stamp() is not None or run.ended(), RUN_LIMIT):
        run.mpirun.send_signal(signal.SIGINT)


def check(run, options):
    """Lets the run end; what is wrong with it."""
    if options.case == "interrupt":
        interrupt(run)
    run.finish()
    found = run.problems()
    if options.case in ("throw", "exit", "return", "opens", "waits", "meets", "reads", "swaps"):
        found += names_the_node(run)
    if options.case == "error-each":
        found += each_returns_2(run, options.nodes)
    return found


def arguments_of(options, folder, seed):
    if options.case == "interrupt":
        return [options.program, "--fault", "none", "--seed", str(seed), "--rounds", "1000000"]
    fault = options.case.removesuffix("-each")
    program = [options.program, "--fault", fault, "--seed", str(seed)]
    if options.case != "error-each":
        return program
    note = f'"$@"; echo $? > {folder}/code.$OMPI_COMM_WORLD_RANK'  # and 0, or mpirun would end the others
    return ["bash", "-c", note, "bash", *program]


def try_once(options, seed):
    with tempfile.TemporaryDirectory(prefix="tesela-faults-") as folder:
        run = Run(folder, arguments_of(options, folder, seed), options)
        found = check(run, options)
        node, step, _ = run.stamp() or ("?", "?", 0)
        after = "?" if run.seconds is None else f"{run.seconds:.2f} s"
        print(f"{options.case} seed {seed}: node {node} at step {step}, ended {after} later with {run.code}, "
              f"{run.left} processes left{''.join('; ' + text for text in found)}", flush=True)
        if found:
            sys.stdout.write(run.stderr_file.read_text(errors="replace")[-2000:])
        return not found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("case", choices=["none", "throw", "exit", "return", "kill", "opens", "waits", "meets", "reads",
                                         "swaps", "error",
                                         "error-each", "interrupt"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=4)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.runs)
    right = sum(try_once(options, seed) for seed in seeds)
    print(f"{right} of {options.runs} as they should be")
    return 0 if right == options.runs else 1


if __name__ == "__main__":
    sys.exit(main())
