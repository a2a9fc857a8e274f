"""Traces of Tesela in pandas and networkx.

    import tesela_trace
    run = tesela_trace.load("run.trace.h5")      # tesela trace export run.trace --format hdf5
    run.tasks, run.comms, run.memory, run.waits, run.workers, run.edges, run.counters, run.events["name"]
    graph = run.graph()                           # a networkx.DiGraph over task numbers

Times are seconds from the beginning of the trace. Tasks are identified by their number, column `task`. Values that are copied
out of the engine appear in run.tasks with kind "fetch", on every node under one number; run.tasks.kind == "task" is the rest.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

import h5py
import pandas as pd

TABLES = ("tasks", "comms", "memory", "waits", "workers", "edges", "counters")


def _frame(dataset: h5py.Dataset) -> pd.DataFrame:
    rows = dataset[:]
    columns = {}
    for name in rows.dtype.names:
        values = rows[name]
        if values.dtype.kind == "S":
            values = pd.Categorical([value.decode("utf-8", "replace") for value in values])
        columns[name] = values
    return pd.DataFrame(columns)


@dataclass
class Trace:
    """The tables of a run. `graph` and the functions below join events to vertices of the dependency graph."""

    tasks: pd.DataFrame
    comms: pd.DataFrame
    memory: pd.DataFrame
    waits: pd.DataFrame
    workers: pd.DataFrame
    edges: pd.DataFrame
    counters: pd.DataFrame
    events: dict[str, pd.DataFrame] = field(default_factory=dict)

    def graph(self):
        """The dependency graph as a networkx.DiGraph; each vertex has the columns of its task as attributes."""
        import networkx

        graph = networkx.DiGraph()
        rows = self.tasks.drop_duplicates("task").set_index("task")
        graph.add_nodes_from(rows.to_dict("index").items())
        graph.add_edges_from(zip(self.edges["from"], self.edges["to"]))
        return graph

    def task(self, number: int) -> pd.Series:
        """The row of one task."""
        rows = self.tasks[self.tasks.task == number]
        if rows.empty:
            raise KeyError(f"there is no task {number}")
        return rows.iloc[0]

    def find(self, **where) -> pd.DataFrame:
        """Tasks by their columns: run.find(kernel="potrf", step=3)."""
        rows = self.tasks
        for column, value in where.items():
            rows = rows[rows[column] == value]
        return rows

    def successors(self, number: int) -> pd.DataFrame:
        """The tasks that wait for a task."""
        return self.tasks[self.tasks.task.isin(self.edges["to"][self.edges["from"] == number])]

    def predecessors(self, number: int) -> pd.DataFrame:
        """The tasks that a task waits for."""
        return self.tasks[self.tasks.task.isin(self.edges["from"][self.edges["to"] == number])]

    def walk(self, number: int, depth: int = 1) -> Iterator[tuple[int, pd.Series]]:
        """The successors of a task, theirs, and so on, breadth first: (distance, row), each task once."""
        seen = {number}
        layer = [number]
        for distance in range(1, depth + 1):
            after = []
            for one in layer:
                for _, row in self.successors(one).iterrows():
                    if row.task not in seen:
                        seen.add(row.task)
                        after.append(row.task)
                        yield distance, row
            layer = after

    def messages(self) -> pd.DataFrame:
        """Each send beside its receive: columns of both with endings _send and _receive, and their latency."""
        sends = self.comms[self.comms.direction == "send"].sort_values("start").copy()
        receives = self.comms[self.comms.direction == "receive"].sort_values("start").copy()
        sends["nth"] = sends.groupby(["tag", "node", "peer"]).cumcount()
        receives["nth"] = receives.groupby(["tag", "peer", "node"]).cumcount()
        joined = sends.merge(
            receives,
            left_on=["tag", "node", "peer", "nth"],
            right_on=["tag", "peer", "node", "nth"],
            suffixes=("_send", "_receive"),
        )
        joined["latency"] = joined.end_receive - joined.start_send
        return joined


def load(path: str | Path) -> Trace:
    """Reads the HDF5 file that `tesela trace export --format hdf5` wrote; a trace itself is converted first, with the `tesela`
    command that is found in PATH."""
    path = Path(path)
    if h5py.is_hdf5(path):
        return _load_hdf5(path)
    command = shutil.which("tesela")
    if command is None:
        raise FileNotFoundError(f"{path} is not HDF5, and there is no `tesela` in PATH to convert it with")
    with tempfile.TemporaryDirectory() as folder:
        converted = Path(folder) / "trace.h5"
        subprocess.run([command, "trace", "export", str(path), "--format", "hdf5", "-o", str(converted)], check=True)
        return _load_hdf5(converted)


def _load_hdf5(path: Path) -> Trace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with h5py.File(path, "r") as file:
            missing = [name for name in TABLES if name not in file]
            if missing:
                raise ValueError(f"{path} is not a trace of Tesela: it has no table {', '.join(missing)}")
            tables = {name: _frame(file[name]) for name in TABLES}
            events = {name: _frame(dataset) for name, dataset in file.get("events", {}).items()}
    return Trace(**tables, events=events)


def delays(run: Trace, producer: str, consumer: str) -> pd.DataFrame:
    """From the end of each `producer` task to the start of the `consumer` tasks that wait for it (figure 3 of the PaRSEC
    profiling paper, with "potrf" and "trsm")."""
    columns = ["task", "kernel", "i", "j", "step", "node", "start", "end"]
    before = run.tasks[run.tasks.kernel == producer][columns]
    after = run.tasks[run.tasks.kernel == consumer][columns]
    joined = run.edges.merge(before, left_on="from", right_on="task").merge(
        after, left_on="to", right_on="task", suffixes=("_producer", "_consumer")
    )
    joined["delay"] = joined.start_consumer - joined.end_producer
    return joined


def ready_tasks(run: Trace) -> pd.DataFrame:
    """The number of tasks that are ready and not started, over time."""
    tasks = run.tasks.dropna(subset=["ready", "start"])
    steps = pd.concat([pd.Series(1, index=tasks.ready), pd.Series(-1, index=tasks.start)]).sort_index(kind="stable")
    return pd.DataFrame({"time": steps.index, "ready": steps.cumsum().to_numpy()})
