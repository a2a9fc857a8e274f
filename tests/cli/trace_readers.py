#!/usr/bin/env python3
"""Reads what `tesela trace export` writes with the tools it is meant for: trace_readers.py FORMAT TESELA TRACE.

Exits with 77 where a tool is not installed, which the tests count as skipped.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def expected(tesela, trace):
    return json.loads(run(tesela, "trace", "summary", "--json", trace))


def read_hdf5(tesela, trace, folder):
    try:
        import warnings

        warnings.simplefilter("ignore")
        import h5py
        import pandas
        import tables  # noqa: F401  pandas.read_hdf needs it
    except ImportError as missing:
        skip(missing)
    file = folder / "run.h5"
    run(tesela, "trace", "export", trace, "--format", "hdf5", "-o", file)
    summary = expected(tesela, trace)
    tasks = pandas.read_hdf(file, "tasks")
    assert (tasks.kind == "task").sum() == summary["tasks"], "tasks"
    makespan = tasks.end.max() - min(tasks.created.min(), tasks.start.min())
    assert abs(makespan - summary["makespan"]) < 1e-9, "makespan"
    comms = pandas.read_hdf(file, "comms")
    assert comms.bytes[comms.direction == "send"].sum() == summary["bytes"], "bytes"
    for name in ("memory", "waits", "workers", "edges", "counters"):
        assert len(pandas.read_hdf(file, name)) == len(h5py.File(file)[name]), name

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
    try:
        import networkx
    except ImportError as missing:
        skip(missing)
    import tesela_trace

    loaded = tesela_trace.load(file)
    graph = loaded.graph()
    assert networkx.is_directed_acyclic_graph(graph)
    # The longest path by networkx, with a vertex's time on the edges that leave it and an edge after the last vertices.
    for number in list(graph):
        duration = graph.nodes[number]["end"] - graph.nodes[number]["start"]
        graph.add_edge(number, -1)
        for after in graph.successors(number):
            graph.edges[number, after]["weight"] = 0 if duration != duration else duration
    longest = networkx.dag_longest_path_length(graph)
    assert abs(longest - summary["critical_path"]) < 1e-9, (longest, summary["critical_path"])
    assert len(loaded.messages()) == summary["messages"] or not summary["complete"]


def read_perfetto(tesela, trace, folder):
    file = folder / "run.json"
    run(tesela, "trace", "export", trace, "--format", "perfetto", "-o", file)
    events = json.loads(file.read_text())["traceEvents"]
    tasks = [event for event in events if event["ph"] == "X" and "task" in event.get("args", {})]
    summary = expected(tesela, trace)
    assert len(tasks) >= summary["tasks"] - summary["unfinished"]
    assert all(event["dur"] >= 0 and event["ts"] >= 0 for event in tasks)
    opened = sorted(event["id"] for event in events if event["ph"] == "b")
    assert opened == sorted(event["id"] for event in events if event["ph"] == "e")


def read_paje(tesela, trace, folder):
    if shutil.which("pj_dump") is None:
        skip("pj_dump (package pajeng) is not installed")
    file = folder / "run.paje"
    run(tesela, "trace", "export", trace, "--format", "paje", "-o", file)
    lines = [line.split(", ") for line in run("pj_dump", file).splitlines()]
    kernels = {row.split(",")[0] for row in run(tesela, "trace", "table", "kernels", trace).splitlines()[1:]}
    busy = [line for line in lines if line[0] == "State" and line[-1] in kernels]
    summary = expected(tesela, trace)
    assert len(busy) >= summary["tasks"] - summary["unfinished"], len(busy)


if __name__ == "__main__":
    reader = {"hdf5": read_hdf5, "perfetto": read_perfetto, "paje": read_paje}[sys.argv[1]]
    with tempfile.TemporaryDirectory() as temporary:
        reader(sys.argv[2], sys.argv[3], Path(temporary))
    print("ok")
