"""Sites: a cluster's accounting as a workload, and how far simulations are from what happened there."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from drystone import _drystone
from drystone._errors import OptionError
from drystone._policy import registered
from drystone._table import Table
from drystone._workload import PathLike, Workload, options, read, tell

__all__ = ["Account", "Site", "foresee", "import_accounting", "predict", "whatif", "when"]


class Account:
    """Result of a command: ``str(account)`` for people, ``data`` and ``table`` for programs."""

    def __init__(self, said: _drystone.Said) -> None:
        self._said = said
        self.messages = tell(said.messages)
        self._data: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """Everything, as the command line writes it with ``--format json``."""
        if self._data is None:
            self._data = json.loads(self._said.json())
        return self._data

    @property
    def verdict(self) -> str:
        """Verdict, in sentences."""
        return "\n".join(self.data["verdict"])

    @property
    def text(self) -> str:
        """As tables for people."""
        return self._said.text()

    @property
    def table(self) -> Table:
        """A row per predictor or pool: what the command line writes with ``--format csv``."""
        return _table(self._said.rows())

    def report(self, path: PathLike | None = None) -> str:
        """A page of HTML where there is one; with a path it is written there, as its ending says: ``.html``, ``.json``, ``.csv``,
        ``.md``, ``.txt``."""
        if path is None:
            return self._said.page()
        self._said.write(Path(path))
        return str(path)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.verdict or self.text

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.preformatted(self.text)


def _table(rows: list[list[tuple[str, str]]]) -> Table:
    """Rows of texts as columns: numbers where every value is one."""
    names = list(dict.fromkeys(name for row in rows for name, _ in row))
    columns: list[tuple[str, Any]] = []
    for name in names:
        values = [dict(row).get(name, "") for row in rows]
        columns.append((name, _numbers(values)))
    return Table(_drystone.arrays(columns))


def _numbers(values: list[str]) -> Any:
    import numpy as np

    try:
        return np.array([float(value) if value else np.nan for value in values])
    except ValueError:
        return list(values)


class Site:
    """A site: the folder that ``import_accounting`` or ``drystone import`` made. ``read`` makes a workload of it.

    Examples:
        >>> import drystone as ds, tempfile
        >>> from pathlib import Path
        >>> rows = ["JobIDRaw|User|Partition|Submit|Start|End|State|AllocCPUS|TimelimitRaw"]
        >>> rows += [f"{n}|u{n % 3}|batch|{n * 60}|{n * 60 + 5}|{n * 60 + 900}|COMPLETED|2|30" for n in range(1, 60)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     accounting = Path(folder) / "jobs.psv"
        ...     written = accounting.write_text("\\n".join(rows))
        ...     site = ds.import_accounting(accounting, out=Path(folder) / "site")
        ...     print(len(site.read()), site.pools)
        59 ['batch']
    """

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)
        file = self.path / "site.json"
        try:
            self.manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OptionError(f"{self.path} is no site: {error}; import_accounting makes one") from None
        self.text = ""
        self.messages: tuple[str, ...] = ()

    @property
    def pools(self) -> list[str]:
        """Names of its pools, the largest first: machines that share no node."""
        return [pool["name"] for pool in self.manifest["pools"]]

    def read(self, pool: str | None = None, **given: Any) -> Workload:
        """A workload of all pools side by side, or of one. ``given`` is what ``read`` takes."""
        return read(self.path, pool=pool, **given)

    def fidelity(
        self,
        policy: str = "easy",
        *,
        pool: str | None = None,
        repetitions: Sequence[PathLike] = (),
        seeds: int = 20,
        jitter: int = 1,
        seed: int = 1,
        warm_up: str | None = None,
        threads: int | None = None,
    ) -> Account:
        """Holds a simulation under the policy that stands for the site's own against what happened: ``drystone fidelity``."""
        given = {
            "policy": policy,
            "repetition": list(repetitions),
            "seeds": seeds,
            "jitter": jitter,
            "seed": seed,
            "warm_up": warm_up,
            "threads": threads,
        }
        path = self.path if pool is None else Path(f"{self.path}#{pool}")
        return Account(_drystone.fidelity(path, options(given)))

    def __str__(self) -> str:
        return self.text or repr(self)

    def __repr__(self) -> str:
        return f"<Site {self.path}: {self.manifest['jobs']:,} jobs, pools {', '.join(self.pools)}>"

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.preformatted(str(self))


def import_accounting(
    files: PathLike | Sequence[PathLike],
    *,
    out: PathLike,
    machine: PathLike | Sequence[PathLike] = (),
    events: PathLike | Sequence[PathLike] = (),
    timezone: str | None = None,
    time_format: str | None = None,
    columns: str | None = None,
    delimiter: str | None = None,
    cluster: str | None = None,
    partial: bool = False,
    arrive: Literal["eligible", "submit"] | None = None,
    size: Literal["allocated", "requested"] | None = None,
    withdraw: Literal["leave", "drop"] | None = None,
    throttle: str | None = None,
    het: str | None = None,
    preempted: str | None = None,
    wide: Literal["drop", "error"] | None = None,
    start: str | None = None,
    end: str | None = None,
    anonymise: bool | str = False,
    anonymise_partitions: bool = False,
    shift_time: bool = False,
) -> Site:
    """Makes a site of a cluster's accounting, in the folder ``out``: what ``drystone import`` does.

    ``files`` are text or JSON of ``sacct``, job completion records, records of PBS, Torque, LSF or Grid Engine, or folders of
    them; ``machine`` describes the machine (``slurm.conf``, what ``scontrol`` prints), ``events`` are outages and reservations.
    ``drystone import --ask`` prints the commands that give them all. The other arguments mean what they mean on the command line;
    ``start`` and ``end`` are its ``--from`` and ``--until``. ``site.text`` is the account of the import, ``site.messages`` what was
    said meanwhile.
    """
    given = {
        "machine": _several(machine),
        "events": _several(events),
        "timezone": timezone,
        "time_format": time_format,
        "columns": columns,
        "delimiter": delimiter,
        "cluster": cluster,
        "partial": partial,
        "arrive": arrive,
        "size": size,
        "withdraw": withdraw,
        "throttle": throttle,
        "het": het,
        "preempted": preempted,
        "wide": wide,
        "from": start,
        "until": end,
        "anonymise": anonymise,
        "anonymise_partitions": anonymise_partitions,
        "shift_time": shift_time,
    }
    text, _, messages = _drystone.import_([Path(file) for file in _several(files)], Path(out), options(given))
    site = Site(out)
    site.text, site.messages = text, tell(messages)
    return site


def _several(given: PathLike | Sequence[PathLike]) -> list[PathLike]:
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)


def predict(workload: Workload | PathLike, predictors: Sequence[str] = ()) -> Account:
    """Judges predictors of run times alone, each job at its arrival in the log: ``drystone predict``. What predictions do to a
    schedule is what ``compare`` tells.

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
    registered()
    return Account(_drystone.predict(workload._log, options({"predictor": list(predictors)})))


def headroom(
    workload: Workload | PathLike,
    policies: str | Sequence[str] = (),
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
    registered()
    given = {
        "policy": [policies] if isinstance(policies, str) else list(policies),
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
    return Account(_drystone.headroom(workload._log, options(given)))


def foresee(workload: Workload | PathLike, policy: str = "easy", **options_: Any) -> Account:
    """Judges answers to "when will my job start?" on a log: scores, calibration and baselines, as ``drystone foresee``. Its options
    are passed on by name: ``every=10``, ``samples=50``, ``method=["plan", "calibrated"]``.

    >>> import drystone as ds
    >>> log = ds.generate(jobs=500, procs=32, load=1.0, seed=1)
    >>> found = ds.foresee(log, "easy", samples=20, method=["plan", "calibrated"])
    >>> list(dict.fromkeys(found.table["method"]))
    ['plan', 'calibrated']
    """
    if not isinstance(workload, Workload):
        workload = read(workload)
    registered()
    return Account(_drystone.foresee(workload._log, options({"policy": policy, **options_})))


def whatif(workload: Workload | PathLike, changes: str | Sequence[str] = (), **options_: Any) -> Account:
    """Simulates a log or a site before and after changes, as ``drystone whatif``. ``changes`` are alternatives, each a text: changes
    with ``;`` between them. Options of the command are passed on by name: ``nodes="gpu:+2,+4"``, ``policy="easy"``.

    A path is read by the command: a site is simulated by its own Slurm. A ``Workload`` is simulated as it is in memory.

    >>> import drystone as ds
    >>> log = ds.generate(jobs=500, procs=64, load=0.9, seed=1)
    >>> found = ds.whatif(log, ["none", "procs +16", "limits exact; load 1.1"], policy="fcfs")
    >>> [one["change"] for one in found.data["alternatives"]]
    ['none', 'procs +16', 'limits exact; load 1.1']
    >>> found.data["alternatives"][0]["wait"]["difference"]
    0.0
    """
    registered()
    given = options({"change": [changes] if isinstance(changes, str) else list(changes), **options_})
    if isinstance(workload, Workload):
        return Account(_drystone.whatif(workload._log, None, given))
    return Account(_drystone.whatif(None, workload, given))


def when(state: PathLike, job: str | int | None = None, **options_: Any) -> dict[str, Any]:
    """Tells when waiting jobs of a Slurm cluster will start, as ``drystone when``: one job, or all where none is named. ``state``
    is a folder with what the commands of ``drystone when --ask`` print; options are passed on by name: ``policy="easy"``,
    ``procs=64, limit="12h", user="alice"`` for a job that is not submitted yet.

    Times are seconds since 1970; the keys are those of ``drystone when --format json``.
    """
    registered()
    given = {"job": None if job is None else str(job), **options_}
    _, answer, messages = _drystone.when(state, options(given))
    tell(messages)
    found: dict[str, Any] = json.loads(answer)
    return found
