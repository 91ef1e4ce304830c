"""Accounting, sites, outages, warm starts: the same as on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import drystone as ds
import numpy as np
import pytest
from conftest import run, shared

HEADER = "JobIDRaw|User|Partition|Submit|Start|End|State|AllocCPUS|ReqCPUS|TimelimitRaw"
# Two pools that share no node.
CONF = """ClusterName=toy
NodeName=c[1-8] CPUs=8
NodeName=g[1-4] CPUs=8
PartitionName=batch Nodes=c[1-8] Default=YES
PartitionName=gpu Nodes=g[1-4]
"""
BEGIN = 1_767_225_600


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Accounting of two partitions, made by simulating each of them, and nodes that were down for a while."""
    folder = tmp_path_factory.mktemp("dump")
    rows, number = [HEADER], 1
    for partition, procs, seed in (("batch", 64, 1), ("gpu", 32, 2)):
        done = ds.simulate(ds.generate(jobs=600, procs=procs, load=0.9, seed=seed), "easy").jobs
        columns = zip(*(done[name].tolist() for name in ("submit", "start", "end", "procs", "estimate", "user")), strict=True)
        for submit, start, end, width, estimate, user in columns:
            times = f"{BEGIN + submit}|{BEGIN + start}|{BEGIN + end}"
            rows.append(f"{number}|u{user}|{partition}|{times}|COMPLETED|{width}|{width}|{-(-estimate // 60)}")
            number += 1
    (folder / "jobs.psv").write_text("\n".join(rows) + "\n")
    (folder / "slurm.conf").write_text(CONF)
    down = f"toy||c1|{BEGIN + 200_000}|{BEGIN + 400_000}|DOWN|power|cpu=8"
    (folder / "events.psv").write_text(
        f"Cluster|ClusterNodes|NodeName|TimeStart|TimeEnd|State|Reason|TRES\n{down}\n"
    )
    return folder


@pytest.fixture(scope="module")
def site(dump: Path) -> ds.Site:
    files = {"machine": dump / "slurm.conf", "events": dump / "events.psv"}
    return ds.import_accounting(dump / "jobs.psv", out=dump / "site", **files)


def test_an_import_is_the_commands(site: ds.Site, dump: Path, command: list[str], tmp_path: Path) -> None:
    words = ["--machine", str(dump / "slurm.conf"), "--events", str(dump / "events.psv"), "--out", str(tmp_path / "site")]
    told = run(command, "import", str(dump / "jobs.psv"), *words, "--format", "json").stdout
    assert json.loads(told) == site.manifest
    for file in sorted(site.path.iterdir()):
        assert file.read_bytes() == (tmp_path / "site" / file.name).read_bytes(), file.name
    assert site.manifest["jobs"] == 1200 and set(site.pools) == {"batch", "gpu"}
    assert "1200 jobs" in site.text and "1,200" in repr(site)
    assert "1200 jobs" in site._repr_html_()


@pytest.mark.parametrize("pool", [None, "batch", "gpu"])
def test_a_site_is_simulated_as_by_the_command(
    pool: str | None, site: ds.Site, command: list[str], tmp_path: Path
) -> None:
    log = site.read(pool)
    assert len(log) == (1200 if pool is None else 600)
    ours = ds.simulate(log, "easy")
    ours.write(tmp_path / "mine.csv")
    path = str(site.path) if pool is None else f"{site.path}#{pool}"
    words = ["-w", path, "-p", "easy", "--jobs", str(tmp_path / "theirs.csv"), "--format", "json"]
    told = json.loads(run(command, "run", *words).stdout)
    assert (tmp_path / "mine.csv").read_bytes() == (tmp_path / "theirs.csv").read_bytes()
    assert told == ours.data
    compared = ds.compare(log, ["easy", "fcfs"])
    told = json.loads(run(command, "compare", "-w", path, "-p", "easy", "-p", "fcfs", "--format", "json").stdout)
    assert told == compared.data


def test_lost_capacity_is_lost(site: ds.Site) -> None:
    """No job of the pool `batch` runs on the eight processors that were down."""
    log = site.read("batch")
    assert log.beyond_jobs == "capacity that is out" and log.procs == 64
    jobs = ds.simulate(log, "easy").jobs
    start, end, procs = jobs["start"], jobs["end"], jobs["procs"]
    origin = log.unix_start or 0
    first, last = BEGIN + 200_000 - origin, BEGIN + 400_000 - origin
    moments = np.unique(np.concatenate([start, end]))
    used = np.array([procs[(start <= at) & (end > at)].sum() for at in moments])
    # The node was free when it went down, or its job is over: nothing that began later used it.
    inside = (moments >= first + 100_000) & (moments < last)
    assert inside.sum() > 10 and used[inside].max() <= 56 and used.max() > 56


def test_a_site_knows_what_does_not_go_with_it(site: ds.Site, dump: Path) -> None:
    log = site.read()
    assert log.beyond_jobs == "several pools side by side"
    result = ds.simulate(log, "easy")
    for call in (result.gantt, lambda: result.explain(1)):
        with pytest.raises(ds.OptionError, match="about one machine, and the site has several pools"):
            call()
    with pytest.raises(ds.OptionError, match="jobs of a site do not move"):
        log.scale(1.1)
    with pytest.raises(ds.DrystoneError, match="no pool is called `fat`; the pools are"):
        site.read("fat")
    with pytest.raises(ds.OptionError, match="is no site"):
        ds.Site(dump)
    pytest.importorskip("gymnasium")
    with pytest.raises(ds.OptionError, match=r"several pools side by side.*plain=True"):
        ds.gym.VecEnv(log, 2, jobs=10)
    plain = site.read("batch", plain=True)
    assert plain.beyond_jobs is None and plain.scale(1.1).load == pytest.approx(1.1 * (plain.load or 0), rel=0.01)
    ds.gym.VecEnv(plain, 2, jobs=10).reset(seed=1)
    one = site.read("batch")
    assert "<svg" in ds.simulate(one, "easy").gantt(0, 86_400).svg
    # The site's own rule counts no job while the machine fills.
    few = ds.simulate(one[:20], "easy")
    with pytest.raises(KeyError, match="`wait_mean` was not measured: no job that counts has it"):
        few["wait_mean"]
    assert len(few.jobs) == 20 and ds.simulate(one[:20], "easy", trim="all")["wait_mean"] >= 0


def test_fidelity_is_the_commands(site: ds.Site, command: list[str], tmp_path: Path) -> None:
    found = site.fidelity("easy", seeds=2)
    told = json.loads(run(command, "fidelity", str(site.path), "-p", "easy", "--seeds", "2", "--format", "json").stdout)
    assert told == found.data and found.verdict == "\n".join(told["verdict"])
    assert len(found.table) == 2 and set(found.table["pool"]) == {"batch", "gpu"}
    found.report(tmp_path / "fidelity.html")
    assert "<html" in found.report() and (tmp_path / "fidelity.html").stat().st_size > 1000


def test_accounting_that_is_wrong_says_where(tmp_path: Path) -> None:
    wrong = tmp_path / "jobs.psv"
    wrong.write_text(HEADER + "\n1|u|batch|2026-01-05T08:00:00|2026-01-05T08:00:01|2026-01-05T09:00:00|COMPLETED|1|1|10\n")
    with pytest.raises(ds.LogError, match="has no zone") as caught:
        ds.import_accounting(wrong, out=tmp_path / "site")
    assert caught.value.file == str(wrong) and caught.value.line == 2
    with pytest.raises(ds.DrystoneError, match="cannot be read|cannot be opened"):
        ds.import_accounting(tmp_path / "none.psv", out=tmp_path / "site")
    with pytest.raises(ds.OptionError, match="--withdraw|withdraw"):
        ds.import_accounting(wrong, out=tmp_path / "site", withdraw="perhaps")  # type: ignore[arg-type]


def test_outages_and_warm_starts_are_the_commands(log: ds.Workload, command: list[str], tmp_path: Path) -> None:
    path, out = tmp_path / "log.swf", tmp_path / "outages.csv"
    ds.simulate(log, "easy").write(path)
    out.write_text("begin,end,procs\n200000,600000,32\n")
    for given, words in (
        ({"outages": out}, ["--outages", str(out)]),
        (
            {"failures": "mtbf=2d,repair=1h,node=4", "checkpoints": "daly,cost=1m"},
            ["--failures", "mtbf=2d,repair=1h,node=4", "--checkpoints", "daly,cost=1m"],
        ),
        ({"warm_start": "2d"}, ["--warm-start", "2d"]),
        ({"slice": (100_000, None), "overrun": "kill"}, ["--slice", "100000..", "--overrun", "kill"]),
    ):
        ours = ds.simulate(ds.read(path, **given), "easy++")  # type: ignore[arg-type]
        ours.write(tmp_path / "mine.csv")
        told = run(command, "run", "-w", str(path), "-p", "easy++", *words, "--jobs", str(tmp_path / "t.csv"), "--format", "json")
        assert (tmp_path / "mine.csv").read_bytes() == (tmp_path / "t.csv").read_bytes(), words
        assert json.loads(told.stdout) == ours.data, words
    out.write_text("begin,end,procs\n200000,soon,32\n")
    with pytest.raises(ds.LogError, match="soon") as caught:
        ds.simulate(ds.read(path, outages=out), "easy")
    assert (caught.value.file, caught.value.line, caught.value.field) == (str(out), 2, "end")


def test_predictors_alone_are_the_commands(log: ds.Workload, command: list[str], tmp_path: Path) -> None:
    log.write(tmp_path / "log.swf")
    ours = ds.predict(ds.read(tmp_path / "log.swf"), ["estimate", "recent(2)"])
    words = ["--predictor", "estimate", "--predictor", "recent(2)", "--format", "json"]
    assert json.loads(run(command, "predict", str(tmp_path / "log.swf"), *words).stdout) == ours.data
    assert list(ours.table["predictor"]) == ["estimate", "recent(2)"] and ours.table["coverage"][0] == 0
    with pytest.raises(ds.DrystoneError, match="recently"):
        ds.predict(log, ["recently(2)"])

    class Estimate:
        def predict(self, job: ds.Job) -> float:
            return job.estimate

    rows = ds.predict(log, ["estimate", Estimate()]).table
    first, second = ({name: rows[name][row] for name in rows if name not in ("predictor", "coverage")} for row in (0, 1))
    assert list(rows["predictor"]) == ["estimate", "python(Estimate)"] and str(first) == str(second)


class Head:
    """The head of the queue, and no other."""

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        free = view.free
        for job, procs in zip(view.waiting.id, view.waiting.procs):
            if procs > free:
                return
            actions.start(job, why="head")
            free -= int(procs)


def test_a_policy_of_python_schedules_each_pool(site: ds.Site) -> None:
    # On nodes a job starts on named ones, which a policy of Python does not choose.
    with pytest.raises(ds.OptionError, match=r'placed on nodes.*on_nodes="none"'):
        ds.simulate(site.read(), Head())
    log = site.read(on_nodes="none")
    whole = ds.simulate(log, Head())
    waits = dict(zip(whole.jobs["job_id"].tolist(), whole.jobs["wait"].tolist(), strict=True))
    # Pools share no node: each is scheduled as if it were alone.
    for pool in site.pools:
        alone = ds.simulate(site.read(pool, on_nodes="none"), Head).jobs
        assert [waits.pop(job) for job in alone["job_id"].tolist()] == alone["wait"].tolist(), pool
    assert not waits and len(whole.data["pools"]) == 2
    # Nothing is out of this pool. (Of the other one native FCFS passes a job that needs the whole machine while a node is down.)
    gpu = site.read("gpu", on_nodes="none")
    mine, native = ds.simulate(gpu, Head), ds.simulate(gpu, "fcfs")
    assert (mine.jobs["start"] == native.jobs["start"]).all()

    class Observes(Head):
        def observe(self, event: ds.Event, view: ds.View) -> None: ...

    with pytest.raises(ds.DrystoneError, match="python\\(Observes\\).*cannot handle jobs that are held"):
        ds.simulate(log, Observes())

    class Hears(Observes):
        hears = True

        def observe(self, event: ds.Event, view: ds.View) -> None:
            assert view.free <= view.procs and event.kind != "other"

    assert (ds.simulate(log, Hears()).jobs["start"] == whole.jobs["start"]).all()


class Greedy:
    """Every job that fits starts, in the order of arrival."""

    places = True

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        for job in view.waiting.id:
            if view.fits_now(job):
                actions.start(job)


def test_a_policy_of_python_places_jobs_on_nodes(site: ds.Site, tmp_path: Path) -> None:
    case = shared("cases/slurm/gpu-site")
    gpus = ds.import_accounting(case / "jobs.psv", out=tmp_path / "gpus", machine=case / "slurm.conf")
    # Nodes with memory and two kinds of GPUs; two pools of nodes, one of which is down for a while.
    for log in (gpus.read(), site.read(), site.read("gpu")):
        mine, native = ds.simulate(log, Greedy()), ds.simulate(log, "greedy")
        assert (mine.jobs["start"] == native.jobs["start"]).all()

    class Blind(Head):
        places = True

    # The count of free processors is not the whole question.
    with pytest.raises(ds.ContractViolation):
        ds.simulate(gpus.read(), Blind())


def test_changes_are_the_commands(site: ds.Site, command: list[str]) -> None:
    changes = ["none", "nodes batch:+2", "limits x0.5; load 1.1"]
    words = [word for change in changes for word in ("--change", change)]
    told = json.loads(run(command, "whatif", str(site.path), *words, "--format", "json").stdout)
    found = ds.whatif(site.path, changes)
    assert found.data == told
    assert [one["change"] for one in found.data["alternatives"]] == changes
    assert found.data["alternatives"][0]["verdict"] == "same"
    # Options by name, and a log in memory.
    log = ds.generate(jobs=400, procs=64, load=0.9, seed=1)
    grown = ds.whatif(log, procs_change="+16,+32", policy="fcfs").data
    assert [point["change"] for point in grown["curve"]["points"]] == ["as it is", "procs +16", "procs +32"]
    assert grown["alternatives"][1]["wait"]["difference"] <= 0.0
    with pytest.raises(ValueError, match="did you mean `nodes`"):
        ds.whatif(log, "nods +1")

    def first_come(view: ds.View, actions: ds.Actions) -> None:
        fits = np.cumsum(view.waiting.procs) <= view.free
        actions.start(view.waiting.id[fits])

    own = ds.whatif(log, procs_change="+16,+32", policy=first_come).data["alternatives"]
    assert [one["wait"] for one in own] == [one["wait"] for one in grown["alternatives"]]


class Narrowest:
    """The narrowest job first. A saved state refers to the policy by its name in this module."""

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        free = view.free
        for job, procs in sorted(zip(view.waiting.id, view.waiting.procs), key=lambda one: int(one[1])):
            if procs <= free:
                actions.start(job)
                free -= procs


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine of two nodes of four processors: one job holds all of it, two wait for it."""
    folder = tmp_path_factory.mktemp("state")
    (folder / "now.txt").write_text("1700000000\n")
    (folder / "squeue.txt").write_text(
        "11|RUNNING|None|8|1:00:00|1699990000|1699998200|900|ann|main\n"
        "12|PENDING|(Resources)|8|2:00:00|1699998300|N/A|800|bob|main\n"
        "13|PENDING|(Priority)|4|30:00|1699998200|N/A|700|ann|main\n"
    )
    nodes = [f"NodeName=n{node} CPUAlloc=4 CPUTot=4 State=ALLOCATED Partitions=main\n" for node in (1, 2)]
    (folder / "nodes.txt").write_text("".join(nodes))
    return folder


def test_policies_of_python_foresee_starts(state: Path, command: list[str]) -> None:
    """Under FCFS the two jobs start one after the other: when the running job ends at its limit, after half an hour, and two hours later."""
    answer = json.loads(run(command, "when", "--state", str(state), "--format", "json").stdout)
    assert ds.when(state) == answer, "the policy that the command takes"
    planned = [one["plan"] for one in ds.when(state, policy="fcfs")["jobs"]]
    assert planned == [1_700_001_800, 1_700_009_000]

    own = {one["job"]: one for one in ds.when(state, policy=Narrowest())["jobs"]}
    assert own["13"]["start"]["p50"] < own["12"]["start"]["p50"]


def test_what_cannot_be_an_object_says_so(state: Path) -> None:
    log = ds.generate(days=56, procs=32, load=0.8, seed=1)
    search: dict[str, object] = {"evaluations": 5, "population": 4, "weeks": 1, "parts": 2}
    cases: list[tuple[dict[str, object], str]] = [
        ({"policy": lambda view, actions: None}, "policy: expected a text with `\\?`"),
        ({"objective": lambda jobs: 0.0}, "objective: expected the name of a metric"),
        ({"learn": [log]}, "learn: expected the path of a log, not a workload in memory"),
        ({"also": [log]}, "also: expected the path of a log"),
    ]
    for wrong, problem in cases:
        with pytest.raises(ds.OptionError, match=problem):
            ds.evolve(log, **{**search, **wrong})  # type: ignore[arg-type]
    with pytest.raises(ds.OptionError, match="state: expected the path of a folder"):
        ds.when(log)  # type: ignore[arg-type]
    with pytest.raises(ds.OptionError, match="site: expected the path of a folder"):
        ds.waits(log)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is no policy"):
        ds.when(state, policy=3)  # type: ignore[arg-type]
