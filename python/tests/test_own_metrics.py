"""Metrics of one's own in sweeps, and what a store knows of the programs that made it."""

from __future__ import annotations

import collections
import datetime
import functools
import re
import subprocess
import sys
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import drystone as ds
import numpy as np
import pytest
from conftest import run
from drystone._identity import identify_program

STUDY: dict[str, Any] = {
    "name": "own",
    "metrics": ["wait_mean"],
    "trim": "tsafrir",
    "workload": [{"name": "g", "generate": {"procs": 64, "jobs": 4000, "load": 0.9}}],
    "policy": [{"policy": "easy++(predict=recent({size}))", "parameters": {"size": [1, 2]}}, {"policy": "fcfs"}],
}
LIMIT = 3600


def late(jobs: ds.Table) -> Any:
    return jobs["wait"] > LIMIT


@pytest.fixture(autouse=True)
def limit() -> Iterator[None]:
    yield
    globals()["LIMIT"] = 3600


def sweep(path: Path, **more: Any) -> ds.Store:
    return ds.sweep(STUDY, store=path, progress=False, **more)


def test_they_have_the_intervals_of_others(tmp_path: Path) -> None:
    metrics = {"own_wait": lambda jobs: jobs["wait"], "late": late}
    store = sweep(tmp_path / "a.db", metrics=metrics, threads=2)
    assert store.table["own_wait"].tolist() == store.table["wait_mean"].tolist()
    for against in (None, "fcfs", 1):
        catalogued, own = (store.rank([name], against=against) for name in ("wait_mean", "own_wait"))
        assert catalogued.columns == own.columns and "test_low" in own.columns
        for column in own.columns:
            assert catalogued[column].tolist() == own[column].tolist() or np.allclose(catalogued[column], own[column], equal_nan=True)
    ranked = store.rank(["late"], against="fcfs")
    row = ranked["policy"].tolist().index("fcfs")
    assert ranked["test_verdict"][row] is None and np.isnan(ranked["test_change"][row])
    assert set(ranked["test_verdict"].tolist()) <= {"better", "unclear", None}
    assert ranked["test_low"][0] < ranked["test_change"][0] < min(ranked["test_high"][0], 0.0)
    # Job by job, as simulate and compare have it.
    log = ds.generate(procs=64, jobs=4000, load=0.9, seed=1)
    jobs = ds.simulate(log, "fcfs", trim="tsafrir").jobs
    swept = store.table["late"][store.table["policy"].tolist().index("fcfs")]
    assert swept == (jobs["wait"][jobs["counted"]] > 3600).mean()
    compared = ds.compare(log, ["fcfs", "easy++"], trim="tsafrir", metrics={"late": late}).table
    assert compared["late"].tolist()[0] == swept
    with pytest.raises(ds.OptionError, match="against: nothing: no configuration"):
        store.rank(against="nothing")
    with pytest.raises(ds.OptionError, match="confidence"):
        store.rank(confidence=2)


def test_threads_make_no_difference(tmp_path: Path) -> None:
    def rows(threads: int) -> list[list[Any]]:
        store = sweep(tmp_path / f"{threads}.db", metrics={"late": late}, threads=threads)
        tables = (store.query("select * from result"), store.query("select simulation, metric, hex(sums) as s from week"))
        return [table[name].tolist() for table in tables for name in table.columns]

    assert repr(rows(1)) == repr(rows(2))


def test_errors_name_their_line(tmp_path: Path) -> None:
    def broken(jobs: ds.Table) -> Any:
        return jobs["wait"] / jobs["nothing"]

    with pytest.raises(KeyError, match="nothing") as caught:
        sweep(tmp_path / "a.db", metrics={"broken": broken})
    frames = [(frame.name, frame.line) for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert ("broken", 'return jobs["wait"] / jobs["nothing"]') in frames, frames
    if sys.version_info >= (3, 11):
        assert any("metric `broken`, under" in note and " on g" in note for note in caught.value.__notes__)
    for metric, problem in (
        (lambda jobs: jobs["wait"][:-1], "a number for each job"),
        (lambda jobs: ["x"] * len(jobs), "a number for each job"),
        (lambda jobs: None, "a number for each job"),
        (lambda jobs: np.where(jobs["wait"] >= 0, np.inf, 0.0), "gave inf for job"),
    ):
        with pytest.raises(ds.OptionError, match=problem) as refused:
            sweep(tmp_path / "a.db", metrics={"wrong": metric})
        assert f"{Path(__file__).name}, line " in str(refused.value) and "under" in str(refused.value)
    for name, metric in (("wait_mean", late), ("size", late), ("a b", late), ("case", late), ("x", 3)):
        with pytest.raises((ds.OptionError, ds.SweepError), match="is a column already|is no name of a column|expected a function"):
            sweep(tmp_path / "a.db", metrics={name: metric})
    with pytest.raises(ds.OptionError, match="expected a mapping"):
        sweep(tmp_path / "a.db", metrics=[late])
    # Nothing of that is left: the same store takes the repaired function.
    assert len(sweep(tmp_path / "a.db", metrics={"broken": late}).table) == 3


def test_a_store_is_continued_with_the_same_functions(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "a.db"
    calls: list[int] = []

    def count(jobs: ds.Table, seen: Any = calls.append) -> Any:
        seen(1)
        return jobs["wait"] > LIMIT

    sweep(path, metrics={"count": count})
    assert len(calls) == 3
    sweep(path, metrics={"count": count})
    assert len(calls) == 3, "all is recorded"
    store = sweep(path, metrics={"count": count, "late": late})
    assert len(calls) == 6 and store.table["late"].tolist() == store.table["count"].tolist(), "one more: all again"
    before = store.query("select * from result")
    globals()["LIMIT"] = 60
    for metrics, problem in (
        ({"count": count, "late": late}, "`(count|late)` was another function"),
        ({"count": lambda jobs: jobs["wait"], "late": late}, "was another function"),
        ({"late": late}, "continue with that program|another function"),
        (None, "continue with that program"),
    ):
        with pytest.raises(ds.SweepError, match=problem):
            sweep(path, metrics=metrics)
    after = store.query("select * from result")
    assert all(repr(before[name]) == repr(after[name]) for name in before.columns)
    # The command shows the metrics, and does not go on without the functions.
    assert "late" in run(command, "sweep", "rank", str(path), "--metric", "late").stdout
    assert "late" in run(command, "sweep", "query", str(path), "SELECT late FROM result").stdout
    assert run(command, "sweep", "status", str(path)).returncode == 0


def test_a_store_knows_registered_policies(tmp_path: Path) -> None:
    class Mine:
        def __init__(self, most: int) -> None:
            self.most = most

        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            fits = view.waiting.id[view.waiting.procs <= view.free]
            actions.start(fits[: self.most // self.most])

    study = {**STUDY, "workload": [{"name": "g", "generate": {"procs": 64, "jobs": 200, "load": 0.9}}]}
    study["policy"] = [{"policy": "python(mine)"}, {"policy": "easy"}]
    try:
        ds.register(Mine(1), name="mine")
        for _ in range(2):
            ds.sweep(study, store=tmp_path / "s.db", progress=False)
        ds.register(Mine(1), name="mine")
        ds.sweep(study, store=tmp_path / "s.db", progress=False)
        ds.register(Mine(2), name="mine")
        with pytest.raises(ds.SweepError, match="program `mine` was another one"):
            ds.sweep(study, store=tmp_path / "s.db", progress=False)
        # What is registered beside it makes no difference.
        ds.register(Mine(1), name="mine")
        ds.register(Mine(7), name="other")
        ds.sweep(study, store=tmp_path / "s.db", progress=False)
    finally:
        for name in ("mine", "other"):
            try:
                ds.unregister(name)
            except ds.OptionError:
                pass


PROGRAM = """
import functools
import numpy as np
from drystone._identity import identify_program

WORDS = {"a", "b", "c", "dd", "e"}
ARRAY = np.arange(5)

def helper(x):
    return x in WORDS

def metric(jobs, *, most=3):
    "Documentation."
    return [helper(x) and most in {"p", "q", "r"} and ARRAY[0] for x in jobs]

class Policy:
    __slots__ = ("limit",)
    def __init__(self, limit):
        self.limit = limit
    def decide(self, view, actions):
        return helper(self.limit)

def make(limit):
    return lambda jobs: jobs["wait"] > limit

parts = (metric, Policy, Policy(3), make(4), functools.partial(metric, most=4), functools.lru_cache(metric), Policy(3).decide)
print("|".join(map(identify_program, parts)))
"""


def test_identities_are_those_of_what_is_computed(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)

    def identify(text: str = "", by: str = "", seed: int = 1) -> list[str]:
        file.write_text(PROGRAM.replace(text, by) if text else PROGRAM)
        ran = subprocess.run([sys.executable, file], capture_output=True, text=True, env={"PYTHONHASHSEED": str(seed)}, check=True)
        return ran.stdout.strip().split("|")

    first = identify()
    assert len(set(first)) == len(first) and identify(seed=2) == first
    assert identify("import functools", "import os, functools\n\n# Elsewhere.") == first
    for text, by, same in (
        ('"dd", "e"', '"dd", "f"', {3}),
        ("x in WORDS", "x not in WORDS", {3}),
        ("arange(5)", "arange(6)", {1, 2, 3, 6}),
        ("most=3", "most=5", {1, 2, 3, 6}),
        ("> limit", "< limit", {0, 1, 2, 4, 5, 6}),
        ("make(4)", "make(5)", {0, 1, 2, 4, 5, 6}),
        ("Policy(3), make", "Policy(4), make", {0, 1, 3, 4, 5, 6}),
        ("self.limit)", "self.limit + 1)", {0, 3, 4, 5}),
    ):
        changed = identify(text, by)
        assert {at for at in range(len(first)) if changed[at] == first[at]} == same, (text, by)
    # Values that keep what they hold outside of their attributes.
    pairs = (
        (re.compile("a"), re.compile("b")),
        (collections.deque([1]), collections.deque([2])),
        (datetime.timedelta(1), datetime.timedelta(2)),
        (range(2), range(3)),
        (types.SimpleNamespace(a=1), types.SimpleNamespace(a=2)),
        (Path("a"), Path("b")),
        (functools.lru_cache(lambda: 1), functools.lru_cache(lambda: 2)),
    )
    for one, other in pairs:
        assert identify_program(functools.partial(late, one)) != identify_program(functools.partial(late, other)), one
    path = Path("/a/b")
    before = identify_program(functools.partial(late, path))
    assert str(path) and hash(path) and identify_program(functools.partial(late, path)) == before
    nested: list[Any] = []
    for _ in range(3_000):
        nested = [nested]
    with pytest.raises(ds.OptionError, match="nested too deeply"):
        identify_program(functools.partial(late, nested))
    # What holds itself, and what is shared.
    loop: list[Any] = [1]
    loop.append(loop)
    assert identify_program(functools.partial(late, loop)) == identify_program(functools.partial(late, loop))
    assert identify_program(np.add) != identify_program(np.subtract)
