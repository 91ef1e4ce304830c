"""Sweeps: thousands of simulations into one store."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from drystone import _drystone
from drystone._errors import OptionError
from drystone._identity import identify_program
from drystone._own_metric import OwnMetric, check_metrics
from drystone._policy import registered_programs
from drystone._table import Table
from drystone._workload import PathLike

__all__ = ["Store", "sweep"]


class Store:
    """The results of a sweep: an SQLite file that pandas and DuckDB can also read."""

    def __init__(self, path: PathLike) -> None:
        self.path = Path(path)

    @property
    def table(self) -> Table:
        """A row per configuration: policy, parameters, metrics."""
        return Table(_drystone.configurations(self.path))

    def rank(
        self,
        metrics: Sequence[str] = (),
        workloads: Sequence[str] = (),
        *,
        against: str | int | None = None,
        confidence: float = 0.95,
    ) -> Table:
        """Candidates by their average degradation from the best of each test case, in percent.

        Each is tested against the first, or against the one that ``against`` names: a policy, a name of the study, or a number of it.
        ``test_change`` is the mean change of all means over jobs, from ``test_low`` to ``test_high``, ``test_p_holm`` is corrected for
        the number of tests, and ``test_verdict`` is ``better``, ``worse``, ``unclear`` or ``untested``, as in ``drystone sweep rank``.
        """
        base = None if against is None else str(against)
        return Table(_drystone.rank(self.path, list(metrics), list(workloads), base, confidence))

    def query(self, sql: str) -> Table:
        """The answer to a question in SQL, which cannot change the store."""
        return Table(_drystone.query(self.path, sql))

    def __repr__(self) -> str:
        return f"<Store {self.path}>"


def _value(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(key))} = {_value(one)}" for key, one in value.items()) + " }"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value), ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    raise OptionError(f"a study holds numbers, texts, lists and mappings, not {value!r}")


def sweep(
    study: PathLike | Mapping[str, Any],
    *,
    store: PathLike | None = None,
    logs: PathLike | None = None,
    threads: int | None = None,
    progress: bool | Callable[[int, int], object] = True,
    metrics: Mapping[str, OwnMetric] | None = None,
) -> Store:
    """Simulates every configuration of a study that the store lacks.

    The study is a file (``docs/sweep.md``) or a mapping of the same shape; a mapping needs ``store``. Interrupted, the same call
    goes on. ``progress`` is shown on a terminal, or is a function of how many simulations are done and how many there are.
    Policies and predictors of Python that were registered can be named: ``policy = "python(NAME)"``.

    ``metrics`` are some of your own beside those of the study: functions that take the table of jobs and return a value per job, NaN
    where it does not count. Their means are columns of the store, with sums per week for intervals, as all others are; less is
    better. A function depends on the table alone: several threads call it. A store knows the code of its functions, and what they
    capture: it is continued with the same ones, and others are refused. A new one has all simulations made again.

    Examples:
        >>> import drystone as ds, os, tempfile
        >>> study = {
        ...     "name": "how much history",
        ...     "workload": [{"name": "generated", "generate": {"procs": 64, "jobs": 300, "load": 0.9}}],
        ...     "policy": [{"policy": "easy++(predict=recent({size}))", "parameters": {"size": [1, 2, 3]}}],
        ... }
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = ds.sweep(study, store=os.path.join(folder, "study.db"), progress=False)
        ...     len(store.table), store.table["size"].tolist()
        (3, [1.0, 2.0, 3.0])
        >>> late = {"late": lambda jobs: jobs["wait"] > 3600}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = ds.sweep(study, store=os.path.join(folder, "study.db"), metrics=late, progress=False)
        ...     store.rank(["late"]).columns[-3:], len(store.query("select late from result"))
        (['test_high', 'test_p_holm', 'test_verdict'], 3)
    """
    text = None
    if isinstance(study, Mapping):
        if store is None:
            raise OptionError("a study that is no file has no place beside it: say where the store is (store=...)")
        text = "".join(f"{key} = {_value(value)}\n" for key, value in study.items())
        file = Path(store).with_suffix(".toml")
    else:
        file = Path(study)
    own = metrics or {}
    check_metrics(own)
    judged = [(name, identify_program(metric), _drystone.Slot(f"metric-{name}", metric)) for name, metric in own.items()]
    watch = progress if callable(progress) else _shown() if progress and sys.stderr.isatty() else None
    path, (_, left, failed) = _drystone.sweep(
        file,
        text,
        None if store is None else Path(store),
        None if logs is None else Path(logs),
        threads or os.cpu_count() or 1,
        watch,
        registered_programs(),
        judged,
    )
    if failed:
        from drystone._errors import SweepError

        raise SweepError(f"{failed} simulations failed: a policy broke its contract; `drystone sweep status {path}` says which")
    if left:
        raise KeyboardInterrupt(f"{left} simulations are left")
    return Store(path)


def _shown() -> Callable[[int, int], None]:
    """Progress on one line of the terminal."""
    last = -1

    def show(done: int, of: int) -> None:
        nonlocal last
        if done != last:
            last = done
            print(f"\r{done:,} of {of:,} simulations", end="\n" if done == of else "", file=sys.stderr, flush=True)

    return show
