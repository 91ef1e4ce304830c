"""Workloads, results and environments in other processes."""

from __future__ import annotations

import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import drystone as ds
import numpy as np
import pytest


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


class Greedy:
    """Every job that fits starts."""

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        free = view.free
        for job, procs in zip(view.waiting.id, view.waiting.procs):
            if procs <= free:
                actions.start(job)
                free -= procs


def simulated(log: ds.Workload, policy: Any) -> ds.Result:
    return ds.simulate(log, policy)


SWF = "; Computer: here\n; MaxProcs: 8\n; UnixStartTime: 800000000\n; TimeZoneString: Europe/Stockholm\n" + "".join(
    f"{n} {n * 60} {n} {n * 7 + 1} 2 -1 -1 2 {n * 9 + 1} 1024 {n % 2} {n % 3} 1 {n % 5} 1 -1 -1 -1\n" for n in range(1, 60)
)


def test_workloads(log: ds.Workload, tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(SWF)
    outages = tmp_path / "out.csv"
    outages.write_text("begin,end,procs\n100,2000,4\n")
    read = ds.read(tmp_path / "log.swf", overrun="kill", outages=outages)
    names = ds.from_arrow({"submit": [0, 1], "run": [5, 5], "procs": [1, 1], "user": ["a", "b"]}, procs=2)
    for one in (log, log[100:300].scale(1.2), read, read.scale(2), names):
        other = again(one)
        assert other == one and other is not one and hash(other) == hash(one) and repr(other) == repr(one)
        assert (other.header, other.settings, other.audit, other.study) == (one.header, one.settings, one.audit, one.study)
        assert other.jobs == one.jobs and other.names("user") == one.names("user")
        assert ds.simulate(other, "easy").jobs == ds.simulate(one, "easy").jobs
        one.write(tmp_path / "one.swf")
        other.write(tmp_path / "other.swf")
        assert (tmp_path / "one.swf").read_bytes() == (tmp_path / "other.swf").read_bytes()
    assert log != log[:100] and log != "log" and len({log, again(log), log[:100]}) == 2
    with pytest.raises(ds.DrystoneError):
        ds.Workload(ds._drystone.Log.restore(b"nothing"))


def test_sites_are_pickled_by_their_place(tmp_path: Path) -> None:
    rows = ["JobIDRaw|User|Partition|Submit|Start|End|State|AllocCPUS|TimelimitRaw"]
    rows += [f"{n}|u{n % 3}|batch|{n * 60}|{n * 60 + 5}|{n * 60 + 900}|COMPLETED|2|30" for n in range(1, 60)]
    (tmp_path / "jobs.psv").write_text("\n".join(rows))
    site = ds.import_accounting(tmp_path / "jobs.psv", out=tmp_path / "site").read()
    assert again(site) == site
    with pytest.raises(TypeError, match="part of a site cannot be pickled"):
        pickle.dumps(site[:10])
    saved = pickle.dumps(site)
    (tmp_path / "jobs.psv").write_text("\n".join(rows[:-10]))
    import shutil

    shutil.rmtree(tmp_path / "site")
    ds.import_accounting(tmp_path / "jobs.psv", out=tmp_path / "site")
    with pytest.raises(ds.OptionError, match="another site"):
        pickle.loads(saved)


def test_results(small: ds.Workload, tmp_path: Path) -> None:
    one = ds.simulate(small, "easy", predictor="recent(2)")
    other = again(one)
    assert other.jobs == one.jobs and other.measures == one.measures and other.data == one.data and other.text == one.text
    assert other.policy == one.policy and other._repr_html_() == one._repr_html_() and other.workload == small
    # What is not kept is simulated again.
    one.write(tmp_path / "one.csv")
    other.write(tmp_path / "other.csv")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "other.csv").read_bytes()
    assert other.report() == one.report() and other.explain(5).text == one.explain(5).text
    twice = again(again(ds.simulate(small, Greedy())))
    assert "<svg" in twice.gantt(0, 86_400).svg
    gone = again(ds.simulate(small, lambda view, actions: Greedy().decide(view, actions)))
    assert len(gone.jobs) == len(small) and again(gone).measures == gone.measures
    with pytest.raises(ds.DrystoneError, match="its policy did not: it cannot be pickled"):
        gone.plots()


def test_comparisons(small: ds.Workload) -> None:
    one = ds.compare(small, ["easy", "fcfs", Greedy()])
    other = again(one)
    assert other.table == one.table and other.verdict == one.verdict and other.baseline == one.baseline
    assert other.changes("fcfs") == one.changes("fcfs") and other._repr_html_() == one._repr_html_()
    assert other.report() == one.report()


def test_tables(log: ds.Workload) -> None:
    jobs = ds.simulate(log, "easy").jobs
    assert again(jobs) == jobs and again(jobs) != log.jobs and jobs != 1
    assert ds.from_arrow(again(log.jobs)) == log


def test_drawings_and_outputs_of_commands(small: ds.Workload, tmp_path: Path) -> None:
    figure = ds.simulate(small, "easy").plot()
    assert (again(figure).svg, again(figure).id, again(figure).pdf()) == (figure.svg, figure.id, figure.pdf())
    account = ds.predict(small, ["estimate", "recent(2)"])
    other = again(again(account))
    assert (other.text, other.data, other.table, other.messages) == (account.text, account.data, account.table, account.messages)
    for ending in (".json", ".csv", ".md", ".txt"):
        assert Path(other.report(tmp_path / f"there{ending}")).read_bytes() == Path(account.report(tmp_path / f"here{ending}")).read_bytes()
    with pytest.raises(ds.OptionError, match="expected .*json"):
        other.report(tmp_path / "there.xyz")


def test_errors_come_back_from_other_processes(small: ds.Workload) -> None:
    for wrong in (lambda: ds.simulate(small, "easy(oder=sjf)"), lambda: ds.simulate(small, all_at_once), lambda: small[::2]):
        with pytest.raises(ds.DrystoneError) as caught:
            wrong()
        other = again(caught.value)
        assert type(other) is type(caught.value) and str(other) == str(caught.value) and other.__dict__ == caught.value.__dict__


def all_at_once(view: ds.View, actions: ds.Actions) -> None:
    actions.start(view.waiting.id)


def test_joblib(small: ds.Workload) -> None:
    joblib = pytest.importorskip("joblib", reason="SKIPPED, not tested: joblib is not here")
    here = [ds.simulate(small, policy)["wait_mean"] for policy in ("easy", "fcfs")]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(ds.simulate)(small, policy) for policy in ("easy", "fcfs"))
    assert [one["wait_mean"] for one in there] == here
    # What caches look up by content is the same in every process.
    assert joblib.hash(again(small)) == joblib.hash(small) != joblib.hash(small[1:])


def test_processes_that_are_spawned(small: ds.Workload) -> None:
    here = [ds.simulate(small, policy)["wait_mean"] for policy in ("easy", Greedy())]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = list(pool.map(simulated, [small] * 2, ["easy", Greedy()]))
    assert [one["wait_mean"] for one in there] == here and there[0].workload == small


def test_environments(small: ds.Workload) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    from drystone.gym import Agent, VecEnv

    one = VecEnv(small, 3, jobs=20, window=16, warm="easy", split=slice(0, 300), autoreset="same_step", threads=1)
    other = again(one)
    assert other.metadata == one.metadata and other.num_envs == 3
    (seen, _), (seen_again, _) = one.reset(seed=4), other.reset(seed=4)
    assert (seen["jobs"] == seen_again["jobs"]).all()
    assert (one.step([0, 0, 0])[0]["jobs"] == other.step([0, 0, 0])[0]["jobs"]).all()
    agent = Agent(first_possible, one, name="first")
    assert again(agent).name == "first"
    assert ds.simulate(small, again(agent)).jobs == ds.simulate(small, agent).jobs
    many = gymnasium.make_vec("drystone/Pick-v0", num_envs=2, vectorization_mode="async", workload=small, jobs=16)
    try:
        seen, _ = many.reset(seed=1)
        assert seen["jobs"].shape == (2, 128, 6)
        many.step([0, 0])
    finally:
        many.close()


def first_possible(seen: Any, mask: Any) -> int:
    return int(np.flatnonzero(mask)[0])
