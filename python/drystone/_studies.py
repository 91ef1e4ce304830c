"""Functions for the other commands: predictors alone, brackets, starts foreseen, changes, advice, searches, published tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from drystone import _drystone
from drystone._errors import OptionError
from drystone._policy import PolicyLike, PredictorLike, places, registered
from drystone._site import Account, Site
from drystone._workload import PathLike, Workload, options, read, refuse_no_log, tell

__all__ = ["advise", "evolve", "foresee", "headroom", "predict", "reproduce", "waits", "whatif", "when"]

Texts = str | Sequence[str]
"""One text, or several."""


def _list(given: Texts) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _place(given: Workload | Site | PathLike) -> tuple[_drystone.Log | None, Path | None, list[str]]:
    """A log in memory, or the place of a log or a site, and options that come with it."""
    if isinstance(given, Workload):
        return given._log, None, list(given._shaped)
    if not isinstance(given, Site):
        refuse_no_log(given)
    return None, given.path if isinstance(given, Site) else Path(given), []


def _paths(sources: PathLike | Sequence[PathLike], name: str, content: str) -> list[Path]:
    """Paths of files or folders; a workload in memory has none."""
    several = [sources] if isinstance(sources, (str, Workload)) or hasattr(sources, "__fspath__") else list(sources)
    for one in several:
        if isinstance(one, Workload):
            raise OptionError(f"{name}: expected the path of {content}, not a workload in memory; its write(PATH) makes a file")
    return [Path(one) for one in several]


def predict(workload: Workload | PathLike, predictors: Sequence[PredictorLike] = ()) -> Account:
    """Judges predictors of run times alone, texts and objects, each job at its arrival in the log: ``drystone predict``. What
    predictions do to a schedule is what ``compare`` tells.

    Examples:
        >>> import drystone as ds
        >>> log = ds.generate(jobs=2000, procs=64, load=0.9, seed=1)
        >>> list(ds.predict(log, ["estimate", "recent(2)"]).table["predictor"])
        ['estimate', 'recent(2)']
    """
    if isinstance(predictors, str):
        raise OptionError("predictors: expected a list, such as ['estimate', 'recent(2)']")
    if not isinstance(workload, Workload):
        workload = read(workload)
    with places() as taken:
        given = {"predictor": [taken.predictor(one) for one in predictors]}
        return Account(_drystone.predict(workload._log, options(given), taken.slots + registered()))


def headroom(
    workload: Workload | PathLike,
    policies: PolicyLike | Sequence[PolicyLike] = (),
    *,
    measure: Literal["wait", "bounded-slowdown", "area-wait"] = "wait",
    seconds: int = 60,
    trials: int | None = None,
    grid: Literal[3600, 900, 300, 60] | None = None,
    trim: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    jobs: PathLike | None = None,
    prices: PathLike | None = None,
) -> Account:
    """Measures the distance of policies from the best possible: ``drystone headroom``.

    ``data["bracket"]`` has the floor, below which no schedule is that runs each job once without a break, and the best schedule
    that a search found, which knows all run times. ``trials`` makes the search the same on every machine; otherwise it takes
    ``seconds``. ``jobs`` and ``prices`` are files to write: the schedule found, and the prices that prove the floor.

    >>> import drystone as ds
    >>> log = ds.generate(jobs=500, procs=64, load=0.9, seed=1)
    >>> bracket = ds.headroom(log, "easy", trials=5000).data["bracket"]
    >>> bracket["floor"]["value"] <= bracket["found"]["value"] <= bracket["policies"][0]["value"]
    True
    """
    if not isinstance(workload, Workload):
        workload = read(workload)
    several: list[Any] = list(policies) if isinstance(policies, (list, tuple)) else [policies]
    given: dict[str, object | None] = {
        "measure": measure,
        "for": None if trials is not None else f"{seconds}s",
        "trials": trials,
        "grid": grid,
        "trim": trim,
        "seed": seed,
        "threads": threads,
        "jobs": jobs,
        "prices": prices,
    }
    with places() as taken:
        given["policy"] = [taken.policy(one) for one in several]
        return Account(_drystone.headroom(workload._log, options(given), taken.slots + registered()))


def foresee(
    workload: Workload | PathLike,
    policy: PolicyLike = "easy",
    *,
    method: Texts = (),
    every: int | None = None,
    samples: int = 100,
    priorities: PathLike | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Account:
    """Judges answers to "when will my job start?" on a log: scores, calibration and baselines, as ``drystone foresee``.

    Each job that waits is asked about, or one in ``every``; ``samples`` futures are simulated for each question. ``method`` names ways
    to answer, all by default.

    >>> import drystone as ds
    >>> log = ds.generate(jobs=500, procs=32, load=1.0, seed=1)
    >>> found = ds.foresee(log, "easy", samples=20, method=["plan", "calibrated"])
    >>> list(dict.fromkeys(found.table["method"]))
    ['plan', 'calibrated']
    """
    if not isinstance(workload, Workload):
        workload = read(workload)
    given: dict[str, object | None] = {
        "method": _list(method),
        "every": every,
        "samples": samples,
        "priorities": priorities,
        "seed": seed,
        "threads": threads,
    }
    with places() as taken:
        given["policy"] = taken.policy(policy)
        words = [*options(given), *workload._shaped]
        return Account(_drystone.foresee(workload._log, words, taken.slots + registered()))


def whatif(
    workload: Workload | Site | PathLike,
    changes: Texts = (),
    *,
    nodes: Texts = (),
    procs_change: Texts = (),
    memory: Texts = (),
    limits: Texts = (),
    limit_max: Texts = (),
    load: float | str | None = None,
    arrivals: Literal["compressed", "resampled"] = "compressed",
    partition_border: Texts = (),
    short_queue: Texts = (),
    qos_limit: Texts = (),
    account_limit: Texts = (),
    maintenance: Texts = (),
    reservation: Texts = (),
    remove: Texts = (),
    sharing: Literal["whole", "shared"] | None = None,
    policy: PolicyLike | None = None,
    slurm: PathLike | None = None,
    cpus: int | None = None,
    accounts: PathLike | None = None,
    confidence: float = 0.95,
    seed: int = 1,
    threads: int | None = None,
) -> Account:
    """Simulates a log or a site before and after changes, as ``drystone whatif``.

    ``changes`` are alternatives, each a text: changes with ``;`` between them. The other arguments make alternatives as on the command
    line: ``nodes="gpu:+2,+4"``, ``limits="exact"``, ``maintenance="2026-12-03T08:00/10h of gpu"``. A path is read by the command: a site is
    simulated by its own Slurm. A ``Workload`` is simulated as it is in memory.

    >>> import drystone as ds
    >>> log = ds.generate(jobs=500, procs=64, load=0.9, seed=1)
    >>> found = ds.whatif(log, ["none", "procs +16", "limits exact; load 1.1"], policy="fcfs")
    >>> [one["change"] for one in found.data["alternatives"]]
    ['none', 'procs +16', 'limits exact; load 1.1']
    >>> found.data["alternatives"][0]["wait"]["difference"]
    0.0
    """
    given: dict[str, object | None] = {
        "change": _list(changes),
        "nodes": _list(nodes),
        "procs_change": _list(procs_change),
        "memory": _list(memory),
        "limits": _list(limits),
        "limit_max": _list(limit_max),
        "load": load,
        "arrivals": arrivals,
        "partition_border": _list(partition_border),
        "short_queue": _list(short_queue),
        "qos_limit": _list(qos_limit),
        "account_limit": _list(account_limit),
        "maintenance": _list(maintenance),
        "reservation": _list(reservation),
        "remove": _list(remove),
        "sharing": sharing,
        "slurm": slurm,
        "cpus": cpus,
        "accounts": accounts,
        "confidence": confidence,
        "seed": seed,
        "threads": threads,
    }
    log, place, shaped = _place(workload)
    with places() as taken:
        given["policy"] = None if policy is None else taken.policy(policy)
        return Account(_drystone.whatif(log, place, [*options(given), *shaped], taken.slots + registered()))


def when(
    state: PathLike,
    job: str | int | None = None,
    *,
    procs: int | None = None,
    limit: str | None = None,
    user: str | None = None,
    partition: str | None = None,
    policy: PolicyLike | None = None,
    samples: int | None = None,
    rehearse: int | None = None,
    what_if: bool = True,
    seed: int = 1,
    threads: int | None = None,
    timezone: str | None = None,
) -> dict[str, Any]:
    """Tells when waiting jobs of a Slurm cluster will start, as ``drystone when``: one job, or all where none is named.

    ``state`` is a folder with what the commands of ``drystone when --ask`` print. ``procs``, ``limit`` and ``user`` describe a job that is
    not submitted yet. The default ``policy`` is Slurm's own where the folder has a ``slurm.conf``, else ``easy``. Times are seconds since 1970; the
    keys are those of ``drystone when --format json``.
    """
    given: dict[str, object | None] = {
        "job": None if job is None else str(job),
        "procs": procs,
        "limit": limit,
        "user": user,
        "partition": partition,
        "samples": samples,
        "rehearse": rehearse,
        "no_what_if": not what_if,
        "seed": seed,
        "threads": threads,
        "timezone": timezone,
    }
    place = _paths(state, "state", "a folder")[0]
    with places() as taken:
        given["policy"] = policy if policy is None or isinstance(policy, str) else taken.policy(policy)
        _, answer, messages = _drystone.when(place, options(given), taken.slots + registered())
    tell(messages)
    found: dict[str, Any] = json.loads(answer)
    return found


def advise(
    workload: Workload | Site | PathLike,
    *,
    check: bool = False,
    worth: bool = False,
    goal: str = "tradeoff(Tw:avgX)",
    guard: Texts = (),
    only: Literal["settings", "live", "limits"] | None = None,
    slurm: PathLike | None = None,
    cpus: int | None = None,
    accounts: PathLike | None = None,
    sdiag: PathLike | None = None,
    phases: int = 4,
    splits: int = 20,
    warm_up: str | None = None,
    knobs: int = 3,
    seed: int = 1,
    threads: int | None = None,
) -> Account:
    """Finds what a site can change, and what that is worth on weeks that were not used to find it: ``drystone advise``.

    ``check=True`` holds a ``slurm.conf`` against the recorded jobs instead, in seconds; it takes a path. ``guard`` are limits that no
    suggestion may exceed, such as ``"maxW<+20%"``.

    >>> import drystone as ds
    >>> log = ds.generate(days=42, procs=16, load=0.8, seed=1)
    >>> advice = ds.advise(log, only="live", goal="avgW", splits=2, phases=1)
    >>> advice.data["goal"]
    'avgW'
    """
    given = {
        "check": check,
        "worth": worth,
        "goal": goal,
        "guard": _list(guard),
        "only": only,
        "slurm": slurm,
        "cpus": cpus,
        "accounts": accounts,
        "sdiag": sdiag,
        "phases": phases,
        "splits": splits,
        "warm_up": warm_up,
        "knobs": knobs,
        "seed": seed,
        "threads": threads,
    }
    log, place, shaped = _place(workload)
    return Account(_drystone.advise(log, place, [*options(given), *shaped], registered()))


def waits(
    site: Site | PathLike,
    *,
    by: Sequence[str] = ("account", "partition"),
    since: str | None = None,
    until: str | None = None,
    top: int | None = None,
) -> Account:
    """Sums up the waits that a site's accounting recorded, by properties of jobs: ``drystone waits``. Nothing is simulated."""
    place = site.path if isinstance(site, Site) else _paths(site, "site", "a folder")[0]
    given = {"by": ",".join(by), "since": since, "until": until, "top": top}
    return Account(_drystone.waits(place, options(given)))


def evolve(
    workload: Workload | PathLike,
    *,
    learn: Sequence[PathLike] = (),
    also: Sequence[PathLike] = (),
    objective: str = "bounded_slowdown_mean",
    guard: str | None = None,
    policy: str = "easy(order=?,backfill=?)",
    evaluations: int | None = None,
    seconds: int | None = None,
    population: int = 40,
    largest: int = 24,
    weeks: int = 2,
    parts: int = 6,
    state: PathLike | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> Account:
    """Searches for orders of waiting jobs, chosen on some weeks of the log and judged on the others: ``drystone evolve``.

    It ends after ``evaluations`` formulas, 1,000 by default, or after ``seconds``. ``learn`` are logs on whose weeks formulas are
    chosen as well, ``also`` those on which results are judged only; ``state`` is a file that keeps the search, so that the same call
    goes on.

    >>> import drystone as ds
    >>> log = ds.generate(days=56, procs=32, load=0.8, seed=1)
    >>> found = ds.evolve(log, evaluations=20, population=4, weeks=1, parts=2)
    >>> found.data["objective"]
    'bounded_slowdown_mean'
    """
    if not isinstance(workload, Workload):
        workload = read(workload)
    if not isinstance(policy, str):
        problem = "policy: expected a text with `?` for each order that is searched, such as 'easy(order=?)'; an object has none"
        raise OptionError(problem)
    if not isinstance(objective, str):
        raise OptionError("objective: expected the name of a metric; a function of your own works in compare and sweep")
    given = {
        "learn": _paths(learn, "learn", "a log"),
        "objective": objective,
        "guard": guard,
        "policy": policy,
        "evaluations": evaluations,
        "for": None if seconds is None else f"{seconds}s",
        "population": population,
        "largest": largest,
        "weeks": weeks,
        "parts": parts,
        "state": state,
        "seed": seed,
        "threads": threads,
    }
    return Account(_drystone.evolve(workload._log, _paths(also, "also", "a log"), options(given), registered()))


def reproduce(
    studies: Texts = (),
    *,
    logs: PathLike | Sequence[PathLike] = (),
    table: Texts = (),
    threads: int | None = None,
) -> Account:
    """Simulates published tables and holds each cell beside the paper's: ``drystone reproduce``.

    ``studies`` are names, or files of your own, all that come with the program by default; ``logs`` are folders. Worked examples need
    no log.

    >>> import drystone as ds
    >>> record = ds.reproduce("talby-1999", table="4.4")
    >>> record.data["counts"]["out"]
    0
    """
    folders = [logs] if isinstance(logs, str) or hasattr(logs, "__fspath__") else list(logs)
    given = {"logs": folders, "table": _list(table), "threads": threads}
    return Account(_drystone.reproduce([*_list(studies), *options(given)]))
