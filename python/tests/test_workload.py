"""Workloads: from files, from tables, changed; what is wrong is said with its place."""

from __future__ import annotations

import gzip
import io
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import drystone as ds
import numpy as np
import pytest
from conftest import run

COLUMNS = ["submit", "run", "procs", "estimate", "user"]


def table(rows: int = 3) -> dict[str, Any]:
    return {
        "submit": np.arange(rows) * 10,
        "run": np.full(rows, 60),
        "procs": np.full(rows, 2),
        "estimate": np.full(rows, 100),
        "user": np.arange(rows),
    }


def test_tables_of_every_library_are_the_same_workload() -> None:
    duckdb = pytest.importorskip("duckdb")
    import pandas
    import polars
    import pyarrow

    frame = pandas.DataFrame(table())
    given = {
        "mapping": table(),
        "pandas": frame,
        "polars": polars.DataFrame(table()),
        "pyarrow": pyarrow.table(table()),
        "duckdb": duckdb.sql("select * from frame").arrow(),
    }
    hashes = {name: ds.from_arrow(one, procs=8).hash for name, one in given.items()}
    assert len(set(hashes.values())) == 1, hashes


def test_a_workload_comes_back_through_every_library(log: ds.Workload) -> None:
    import polars
    import pyarrow

    for table in (log, log.jobs, log.to_polars(), log.to_arrow(), log.to_pandas()):
        again = ds.from_arrow(table, procs=log.procs)
        assert len(again) == len(log)
        for name in log.jobs:
            assert (again.jobs[name] == log.jobs[name]).all(), name
    assert polars.DataFrame(log).height == pyarrow.table(log).num_rows == len(log)


def test_times_and_names(tmp_path: Path) -> None:
    import pandas

    frame = pandas.DataFrame(
        {
            "Submit": [datetime(2026, 1, 5, 8), datetime(2026, 1, 5, 9)],
            "Elapsed": [timedelta(minutes=5), timedelta(hours=2)],
            "CPUs": [4, 8],
            "User": ["alice", "bob"],
        }
    )
    named = {"submit": "Submit", "run": "Elapsed", "procs": "CPUs", "user": "User"}
    log = ds.from_arrow(frame, procs=8, columns=named)
    assert list(log.jobs["run"]) == [300, 7200]
    assert list(log.jobs["user"]) == [0, 1]
    assert log.unix_start == 0 and log.jobs["submit"][1] - log.jobs["submit"][0] == 3600
    assert log.months() == ["2026-01"]


@pytest.mark.parametrize(
    ("change", "field", "line", "part"),
    [
        ({"procs": None}, "procs", None, "there is no column `procs` (processors); the table has submit, run, estimate, user"),
        ({"procs": [2, -1, 2]}, "procs", 1, "row 1: -1 is not possible; expected 1 to 8"),
        ({"procs": [2, 9, 2]}, "procs", 1, "row 1: 9 is not possible; expected 1 to 8"),
        ({"run": [1.0, float("nan"), 2.0]}, "run", 1, "row 1: nothing stands there"),
        ({"run": [1.0, float("inf"), 2.0]}, "run", 1, "row 1: inf is too large"),
        ({"run": [1, -5, 2]}, "run", 1, "row 1: -5 is not possible; expected 0 to"),
        ({"submit": [0, 2**60, 2]}, "submit", 1, "is not possible"),
        ({"run": ["a", "b", "c"]}, "run", None, "holds texts"),
    ],
)
def test_tables_that_are_no_workload(change: dict[str, Any], field: str, line: int | None, part: str) -> None:
    import pandas

    given = {name: values for name, values in {**table(), **change}.items() if values is not None}
    for made in (given, pandas.DataFrame(given)):
        with pytest.raises(ds.LogError) as caught:
            ds.from_arrow(made, procs=8)
        assert part in str(caught.value)
        assert caught.value.field == field and caught.value.line == line


def test_other_things_are_no_tables() -> None:
    for wrong in (None, 7, "LOG.swf", [1, 2, 3]):
        with pytest.raises((TypeError, ds.DrystoneError)):
            ds.from_arrow(wrong, procs=8)
    with pytest.raises(ds.LogError, match="no rows"):
        ds.from_arrow(table(0), procs=8)
    with pytest.raises(ds.LogError, match="has 2 rows, others have 3"):
        ds.from_arrow({**table(), "run": [1, 2]}, procs=8)
    with pytest.raises(ds.OptionError, match="there is no `sise`"):
        ds.from_arrow(table(), procs=8, columns={"sise": "procs"})
    for procs in (0, -4, 2.5, True):
        with pytest.raises(ds.OptionError, match="procs"):
            ds.from_arrow(table(), procs=procs)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="make a workload of it"):
        ds.simulate(table())  # type: ignore[arg-type]


SWF = "; MaxProcs: 8\n1 0 0 60 2 -1 -1 2 100 -1 1 3 -1 -1 -1 -1 -1 -1\n2 5 0 6o 2 -1 -1 2 100 -1 1 3 -1 -1 -1 -1 -1 -1\n"


def test_logs_that_are_wrong_say_where(tmp_path: Path) -> None:
    path = tmp_path / "wrong.swf"
    path.write_text(SWF)
    with pytest.raises(ds.LogError) as caught:
        ds.read(path)
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(path), 3, "7")
    assert isinstance(caught.value, ValueError)
    assert len(ds.read(path, lenient=True)) == 1
    with pytest.raises(ds.LogError, match="cannot be opened"):
        ds.read(tmp_path / "none.swf")
    with pytest.raises(ds.OptionError, match="overrun"):
        ds.read(path, overrun="never")  # type: ignore[arg-type]
    with pytest.raises(ds.OptionError, match="tsafrir2007"):
        ds.read(path, as_study="tsafrir2006")
    cut = gzip.compress(SWF.replace("6o", "60").encode() * 100)[:-10]
    with pytest.raises(ds.LogError, match="ends too soon"):
        ds.read(io.BytesIO(cut))


def test_slices_and_loads_are_those_of_the_command(log: ds.Workload, command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "log.swf.gz"
    log.write(path)
    again = ds.read(path)
    assert again.hash == log.hash
    first, last = log.submits or (0, 0)
    middle = (first + last) // 2
    import json

    for mine, words in (
        (again.between(None, middle), ["--slice", f"..{middle}"]),
        (again.scale(1.25), ["--load", "1.25"]),
    ):
        told = run(command, "run", "-w", str(path), "-p", "fcfs", "--format", "json", *words).stdout
        assert json.loads(told)["workload"]["hash"] == mine.hash, words
    assert len(again[:100]) == 100 and again[-50:].submits[1] == last  # type: ignore[index]
    with pytest.raises(ds.OptionError, match="step"):
        again[::2]
    with pytest.raises(ds.OptionError, match="no job is left"):
        again[10:10]
    with pytest.raises(TypeError, match="slices"):
        again[3]  # type: ignore[index]


def test_batsim_there_and_back(log: ds.Workload, command: list[str], tmp_path: Path) -> None:
    import csv

    log.write(tmp_path / "log.json")
    again = ds.read(tmp_path / "log.json")
    for name in ("submit", "run", "procs", "estimate", "user"):
        assert (again.jobs[name] == log.jobs[name]).all(), name
    run(command, "workload", "convert", str(tmp_path / "log.json"), "--out", str(tmp_path / "log.swf"))
    assert ds.read(tmp_path / "log.swf").hash == again.hash
    result = ds.simulate(log, "easy")
    result.write(tmp_path / "out.batsim.csv")
    rows = list(csv.DictReader((tmp_path / "out.batsim.csv").read_text().splitlines()))
    assert len(rows) == len(log)
    starts = {int(row["job_id"]): int(row["starting_time"]) for row in rows}
    assert starts == dict(zip(result.jobs["job_id"].tolist(), result.jobs["start"].tolist()))
    # As many processors as were asked for, and no processor for two jobs at once.
    used: list[tuple[int, int, set[int]]] = []
    for row in rows:
        held: set[int] = set()
        for part in row["allocated_resources"].split():
            low, _, high = part.partition("-")
            held |= set(range(int(low), int(high or low) + 1))
        assert len(held) == int(row["requested_number_of_resources"])
        used.append((int(row["starting_time"]), int(row["finish_time"]), held))
    used.sort(key=lambda one: one[:2])
    for at, (_, end, held) in enumerate(used):
        for start, _, others in used[at + 1 :]:
            if start >= end:
                break
            assert not held & others


def test_what_a_workload_says_of_itself(log: ds.Workload) -> None:
    assert "2,000 jobs" in repr(log) and "<table>" in log._repr_html_()
    assert log.audit["jobs"] == 2000 and log.settings
    import copy

    assert copy.deepcopy(log) is log


def test_jobs_of_several_sizes() -> None:
    import pickle

    log = ds.generate(jobs=300, procs=64, load=0.95, seed=1)
    shaped = log.reshape(share=60, watts="60-200", seed=2)
    assert shaped != log and shaped == log.reshape(share=60, watts="60-200", seed=2)
    assert shaped.settings[-1][0] == "shapes" and "malleable 60%" in shaped.settings[-1][1]
    result = ds.simulate(shaped, "easy-keep")
    jobs = result.jobs
    assert (jobs["grows"] + jobs["shrinks"]).sum() > 0
    assert (jobs["energy"] > 0).all() and (jobs["procs_mean"] >= 1).all()
    assert result["grows"] == jobs["grows"].sum() and result["rigid_wait"] >= 0
    # A policy that does not change sizes has the schedule of the log.
    plain = ds.simulate(log, "easy").jobs
    assert (ds.simulate(shaped, "easy").jobs["start"] == plain["start"]).all()
    assert "procs_first" not in plain
    again = pickle.loads(pickle.dumps(shaped))
    assert again == shaped and (ds.simulate(again, "easy-keep").jobs["end"] == jobs["end"]).all()
    with pytest.raises(ds.OptionError, match="magic"):
        log.reshape(by="magic")
    with pytest.raises(ds.OptionError, match="one size"):
        ds.headroom(shaped)


def test_sizes_and_power_are_read_from_tables(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    row = "{} {} -1 {} {} -1 -1 {} {} -1 1 1 -1 -1 -1 -1 -1 -1\n"
    log.write_text("; MaxProcs: 8\n" + row.format(1, 0, 100, 8, 8, 100) + row.format(2, 40, 50, 4, 4, 50))
    (tmp_path / "shapes.csv").write_text("job,kind,min,max,watts\n1,malleable,2,8,100\n")
    (tmp_path / "series.csv").write_text("time,carbon\n0,360\n")
    read = ds.read(log, shapes=tmp_path / "shapes.csv", idle=10, series=tmp_path / "series.csv")
    result = ds.simulate(read, "easy(resize=both)")
    # Eight processors until 40, four until 90, eight until 125; 80 W of idle processors.
    assert result.jobs["end"].tolist() == [125, 90] and result.jobs["procs_mean"][0] == 6.4
    assert result["energy"] == 90_000 and result["carbon"] == pytest.approx(9.0)
    (tmp_path / "wrong.csv").write_text("job,kind,min\n1,moldable,9\n")
    with pytest.raises(ds.DrystoneError, match="line 2"):
        ds.read(log, shapes=tmp_path / "wrong.csv")


def test_paces_are_read_from_tables_and_seen(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    row = "{0} 0 -1 {1} 4 -1 -1 4 {1} -1 1 1 -1 -1 -1 -1 -1 -1\n"
    log.write_text("; MaxProcs: 8\n" + row.format(1, 60) + row.format(2, 50))
    (tmp_path / "shapes.csv").write_text("job,watts,paces\n1,200,\n2,,1:200 0.5:50\n")
    read = ds.read(log, shapes=tmp_path / "shapes.csv", idle=10)
    seen: list[tuple[list[tuple[float, int]], int]] = []

    class Slow:
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            seen.extend((view.paces(job), view.pace(job)) for job in view.running.id)
            for job in view.waiting.id:
                actions.start(job, procs=view.size(job), pace=len(view.paces(job)) - 1)

    jobs = ds.simulate(read, Slow()).jobs
    # 50 s at half speed.
    assert jobs["end"].tolist() == [60, 100] and jobs["pace_first"].tolist() == [1.0, 0.5]
    assert jobs["slowed"].tolist() == [0, 100] and jobs["energy"].tolist() == [48_000, 20_000]
    assert all(pace == (len(paces) - 1) for paces, pace in seen)


def test_a_policy_sees_sizes_and_chooses_one(tmp_path: Path) -> None:
    seen: list[list[int]] = []

    class Smallest:
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            free = view.free
            for job in view.waiting.id:
                sizes = view.sizes(job)
                seen.append(sizes.tolist())
                assert view.prediction(job, sizes[0]) >= view.prediction(job)
                if sizes[0] <= free:
                    actions.start(job, procs=int(sizes[0]))
                    free -= sizes[0]

    log = ds.from_arrow({"submit": [0, 1], "run": [100, 50], "procs": [4, 2]}, procs=8)
    shaped = log.reshape(kind="moldable", by="range(0.5,2)")
    jobs = ds.simulate(shaped, Smallest()).jobs
    assert jobs["procs_first"].tolist() == [2, 1] and jobs["end"].tolist() == [200, 101]
    assert [2, 3, 4, 5, 6, 7, 8] in seen and [1, 2, 3, 4] in seen
