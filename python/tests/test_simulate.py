"""Simulations, comparisons, sweeps: the same as on the command line."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import drystone as ds
import numpy as np
import pytest
from conftest import run, shared

POLICIES = ["easy", "easy++", "conservative", "slack", "ss", "easy(order=sjf,predict=recent(2))"]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_schedule_is_the_commands_byte_for_byte(
    policy: str, log: ds.Workload, command: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "log.swf"
    log.write(path)
    ours = ds.simulate(ds.read(path), policy)
    for ending in ("csv", "parquet", "swf", "swf.gz", "batsim.csv"):
        mine, theirs = tmp_path / f"mine.{ending}", tmp_path / f"theirs.{ending}"
        ours.write(mine)
        words = ["run", "-w", str(path), "-p", policy, "--jobs", str(theirs), "--format", "json", "--quiet"]
        told = run(command, *words).stdout
        assert mine.read_bytes() == theirs.read_bytes(), ending
    assert json.loads(told) == ours.data


def test_a_real_log_gives_the_commands_schedule(command: list[str], tmp_path: Path) -> None:
    path = shared("traces/KTH-SP2-1996-2.1-cln.swf.gz")
    ours = ds.simulate(path, "easy++", as_study="tsafrir2007")
    ours.write(tmp_path / "mine.csv")
    words = ["run", "-w", str(path), "-p", "easy++", "--as", "tsafrir2007", "--jobs", str(tmp_path / "theirs.csv")]
    run(command, *words)
    assert (tmp_path / "mine.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    assert ours.workload.study == "tsafrir2007" and "tsafrir2007" in json.dumps(ours.provenance)


def test_a_result(log: ds.Workload, tmp_path: Path) -> None:
    result = ds.simulate(log, "easy", trim="tsafrir", by=["sixteen"])
    jobs = result.jobs
    assert (jobs["start"] + jobs["run"] == jobs["end"]).all() and (jobs["start"] >= jobs["submit"]).all()
    counted = jobs["wait"][jobs["counted"]]
    assert result["wait_mean"] == pytest.approx(counted.mean()) and counted.size < len(log)
    assert {entry["id"] for entry in ds.metrics()} >= set(result.measures)  # type: ignore[call-overload,union-attr]
    with pytest.raises(KeyError, match="there is no metric `wait`"):
        result["wait"]
    with pytest.raises(KeyError, match="there is no column `waits`"):
        jobs["waits"]
    assert "easy on" in result.text
    html = result._repr_html_()
    assert "<svg" in html and "<script" not in html
    assert "<iframe sandbox='allow-scripts'" in result.report_view()._repr_html_()
    result.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    figure = result.plot("cdf-wait")
    figure.save(tmp_path / "wait.png")
    figure.save(tmp_path / "wait.pdf")
    assert (tmp_path / "wait.pdf").read_bytes().startswith(b"%PDF-")
    figure.save(tmp_path / "wait.svg")
    assert (tmp_path / "wait.png").read_bytes().startswith(b"\x89PNG") and "<svg" in (tmp_path / "wait.svg").read_text()
    assert "<svg" in result.gantt(0, 86_400).svg and "<html" in result.gantt_page(0, 86_400)
    with pytest.raises(ds.OptionError, match="there is no plot `wait`; there are|there is no plot `wait` of"):
        result.plot("wait")
    number = int(jobs["job_id"][jobs["wait"].argmax()])
    story = result.explain(number, why_not=True)
    assert str(number) in str(story) and story.data["schema"] == "drystone/explanation/1"
    with pytest.raises(ds.OptionError, match="has no job 999999"):
        result.explain(999_999)


def test_a_comparison_is_the_commands(log: ds.Workload, command: list[str], tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    log.write(path)
    ours = ds.compare(ds.read(path), ["easy", "fcfs", "easy++"], threads=2)
    words = [word for policy in ours.policies for word in ("-p", policy)]
    told = json.loads(run(command, "compare", "-w", str(path), *words, "--format", "json").stdout)
    assert told == ours.data
    assert ours.verdict == "\n".join(told["verdict"]) and ours.verdict in repr(ours)
    change = ours.changes("fcfs")["wait_mean"]
    table = ours.table
    assert change["relative"] == pytest.approx(table["wait_mean_change"][1])
    assert np.isnan(table["wait_mean_change"][0]) and table["wait_mean_verdict"][1] == change["verdict"]
    ours.report(tmp_path / "mine.html")
    run(command, "compare", "-w", str(path), *words, "--report", str(tmp_path / "theirs.html"), "--quiet")
    assert (tmp_path / "mine.html").read_bytes() == (tmp_path / "theirs.html").read_bytes()
    assert "(baseline)" in ours._repr_html_() and len(ours.plots()) > 3
    with pytest.raises(ds.OptionError, match="there is no change of `easy`"):
        ours.changes("easy")


def test_unasked_it_compares_what_the_command_compares(small: ds.Workload, command: list[str], tmp_path: Path) -> None:
    small.write(tmp_path / "log.swf")
    told = json.loads(run(command, "compare", "-w", str(tmp_path / "log.swf"), "--format", "json").stdout)
    assert ds.compare(ds.read(tmp_path / "log.swf")).policies == [one["policy"]["text"] for one in told["results"]]


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda log: ds.compare(log, []), "at least one policy"),
        (lambda log: ds.compare(log, "easy"), "a list"),
        (lambda log: ds.compare(log, ["easy", "fcfs"], confidence=1.5), "confidence"),
        (lambda log: ds.simulate(log, "easy", trim="sometimes"), "trim"),
        (lambda log: ds.simulate(log, "easy", by=["colour"]), "by"),
        (lambda log: ds.simulate(log, "easy", as_study="tsafrir2007"), "read without it"),
        (lambda log: ds.simulate(log, "easy", priorities="none.toml"), "none.toml"),
        (lambda log: ds.generate(procs=0, jobs=5), "procs"),
        (lambda log: ds.generate(procs=8), "either jobs or days"),
        (lambda log: ds.generate(procs=8, jobs=5, load=-1.0), "load"),
        (lambda log: ds.generate("cirne", procs=8, jobs=5), "there is no model `cirne`"),
        (lambda log: log.scale(0), "load cannot be `0`"),
        (lambda log: log.month("1997-03"), "1997-03|months need"),
    ],
)
def test_wrong_arguments(call: object, part: str, small: ds.Workload) -> None:
    with pytest.raises(ds.DrystoneError, match=part):
        call(small)  # type: ignore[operator]


def test_policy_texts_that_mean_nothing(small: ds.Workload) -> None:
    for text, position, suggestion in (("esy", 0, "easy"), ("easy(oder=sjf)", 5, "order"), ("easy(order=r+)", 13, None)):
        with pytest.raises(ds.PolicyTextError) as caught:
            ds.simulate(small, text)
        assert (caught.value.policy, caught.value.position, caught.value.suggestion) == (text, position, suggestion)
    with pytest.raises(ds.PolicyTextError, match="no object `X` of Python"):
        ds.simulate(small, "python(X)")


def test_other_threads_run_while_it_simulates(log: ds.Workload) -> None:
    """A thread that counts goes on counting during a long simulation."""
    counted, done = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.0005)

    busy = ds.generate(jobs=60_000, procs=128, load=1.1, seed=3)
    thread = threading.Thread(target=count)
    thread.start()
    began, before = time.monotonic(), counted
    ds.simulate(busy, "conservative")
    took, after = time.monotonic() - began, counted
    done.set()
    thread.join()
    # A thread that waits for the lock would count at most a few times.
    assert after - before > 20 or took < 0.05


def test_sweeps(tmp_path: Path) -> None:
    study = {
        "name": "history",
        "workload": [{"name": "generated", "generate": {"procs": 64, "jobs": 300, "load": 0.9}}],
        "policy": [{"policy": "easy++(predict=recent({size}))", "parameters": {"size": [1, 2, 3]}}],
    }
    seen: list[tuple[int, int]] = []
    store = ds.sweep(study, store=tmp_path / "s.db", progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (3, 3) and list(store.table["size"]) == [1.0, 2.0, 3.0]
    assert len(store.rank()) == 3 and min(store.rank()["rank"]) == 1
    assert store.query("select count(*) as n from result")["n"][0] >= 3
    with pytest.raises(ds.SweepError, match="a query only looks|fails"):
        store.query("delete from configuration")
    # The same again has nothing left to do.
    assert len(ds.sweep(study, store=tmp_path / "s.db", progress=False).table) == 3
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('name = "x"\n[[policy]]\npolicy = "esy"\n')
    with pytest.raises(ds.StudyError) as caught:
        ds.sweep(wrong)
    assert caught.value.file == str(wrong) and caught.value.line is not None
    with pytest.raises(ds.OptionError, match="store"):
        ds.sweep(study)


def test_metrics_of_ones_own_have_the_same_intervals() -> None:
    """The waits, as a metric of one's own, are judged as the waits are."""
    log = ds.generate(jobs=6_000, procs=64, load=0.9, seed=4)
    given = {"policies": ["easy", "fcfs", "easy++"], "trim": "tsafrir", "confidence": 0.9}
    metrics = {"own_wait": lambda jobs: jobs["wait"], "late": lambda jobs: jobs["wait"] > 3600}
    ours = ds.compare(log, **given, metrics=metrics)  # type: ignore[arg-type]
    plain = ds.compare(log, **given)  # type: ignore[arg-type]
    for policy in ("fcfs", "easy++"):
        own, known = ours.changes(policy)["own_wait"], plain.changes(policy)["wait_mean"]
        assert own["relative"] == pytest.approx(known["relative"]) and own["verdict"] == known["verdict"]
        assert own["interval"] == pytest.approx(known["interval"])
        assert own["p"] == pytest.approx(known["p"]) and own["p_family"] == pytest.approx(known["p_family"])
    # Weeks are those of the log before its times were divided.
    busier = log.scale(1.3)
    for policy in ("fcfs", "easy++"):
        changes = ds.compare(busier, **given, metrics=metrics).changes(policy)  # type: ignore[arg-type]
        assert changes["own_wait"]["interval"] == pytest.approx(changes["wait_mean"]["interval"])
        assert changes["own_wait"]["verdict"] == changes["wait_mean"]["verdict"]
    late = ds.simulate(log, "fcfs", trim="tsafrir").jobs
    row = list(ours.table["policy"]).index("fcfs")
    assert ours.table["late"][row] == pytest.approx((late["wait"][late["counted"]] > 3600).mean())
    assert ours.table["own_wait"] == pytest.approx(ours.table["wait_mean"])
    assert np.isnan(ours.table["late_change"][0]) and ours.table["late_verdict"][0] is None
    assert set(plain.table.columns) < set(ours.table.columns)
    for wrong, part in (({"wait_mean": len}, "is a column already"), ({"a b": len}, "is no name of a column"), ({"x": len}, "for each job")):
        with pytest.raises(ds.OptionError, match=part):
            ds.compare(log, ["easy"], metrics=wrong)  # type: ignore[arg-type]


def test_what_commands_answer(small: ds.Workload, tmp_path: Path) -> None:
    rows = ["JobIDRaw|User|Partition|Submit|Start|End|State|AllocCPUS|TimelimitRaw"]
    rows += [f"{n}|u{n % 3}|batch|{n * 60}|{n * 60 + 5 * (n % 4)}|{n * 60 + 900}|COMPLETED|2|30" for n in range(1, 60)]
    (tmp_path / "jobs.psv").write_text("\n".join(rows))
    site = ds.import_accounting(tmp_path / "jobs.psv", out=tmp_path / "site")
    waits = ds.waits(site, by=["user"])
    assert waits.data["jobs"] == 59 and "u1" in waits.text and "<pre>" in waits._repr_html_()
    waits.report(tmp_path / "waits.csv")
    assert "u2" in (tmp_path / "waits.csv").read_text() and repr(waits)
    # A check needs a slurm.conf, and says so.
    with pytest.raises(ds.OptionError, match="--slurm"):
        ds.advise(site, check=True)
    with pytest.raises(ds.OptionError, match="needs the path"):
        ds.advise(small, check=True)
    with pytest.raises(ds.OptionError, match="there is no study"):
        ds.reproduce("tsafrir-2006")
    with pytest.raises(ds.OptionError, match="objective|measure"):
        ds.evolve(small, objective="beauty")
