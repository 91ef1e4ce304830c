"""Workloads: read from logs, taken from tables, generated."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from drystone import _drystone
from drystone._columns import column_parts, is_frame, with_readable_columns
from drystone._errors import DrystoneError, LogError, OptionError
from drystone._table import Table, whole

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

PathLike = str | os.PathLike[str]

_log = logging.getLogger("drystone")


def tell(messages: Sequence[str]) -> tuple[str, ...]:
    """Passes on what the library said: warnings as such, notes as information."""
    for message in messages:
        kind, _, text = message.partition(": ")
        _log.log(logging.WARNING if kind == "warning" else logging.INFO, text)
    return tuple(messages)


def options(given: Mapping[str, object | None]) -> list[str]:
    """Arguments of Python as options of the command line: what is None or False is left out."""
    words: list[str] = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            words.extend(f"{option}={one}" for one in value)
        else:
            words.append(f"{option}={value}")
    return words


def write(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


class Workload:
    """Jobs in the order of arrival on a machine of equal processors, and where they come from.

    A workload never changes: ``scale`` and slices are new ones, and what they did is recorded in ``settings``. ``read``,
    ``from_arrow`` and ``generate`` make workloads.

    Examples:
        >>> import drystone as ds
        >>> log = ds.generate(jobs=1000, procs=128, load=0.9, seed=1)
        >>> len(log), log.procs, round(log.load, 3)
        (1000, 128, 0.9)
        >>> week = log[:500]
        >>> len(week), week.settings[-1]
        (500, ('jobs', '0..500'))
        >>> round(log.scale(1.1).load, 2)
        0.99
    """

    def __init__(
        self,
        log: _drystone.Log,
        *,
        study: str | None = None,
        messages: Sequence[str] = (),
        shaped: Sequence[str] = (),
        place: tuple[Path, list[str], bool] | None = None,
    ) -> None:
        self._log = log
        # Where a site was read from: it is more than its jobs, and pickled by its place.
        self._place = place
        self._study = study
        # What simulations have to know of how it was read, as options.
        self._shaped = tuple(shaped)
        self._messages = tuple(messages)

    @staticmethod
    def from_arrow(
        table: Any, *, procs: int | None = None, columns: Mapping[str, str] | None = None, name: str | None = None
    ) -> Workload:
        """As the function ``from_arrow``."""
        return from_arrow(table, procs=procs, columns=columns, name=name)

    @property
    def procs(self) -> int:
        """Processors of the machine."""
        return self._log.procs

    @property
    def name(self) -> str:
        """Name in results."""
        return self._log.name

    @property
    def hash(self) -> str:
        """Fingerprint of everything in it that can influence a result."""
        return self._log.hash

    @property
    def load(self) -> float | None:
        """Offered load: work per processor-second between the first and the last submit."""
        return self._log.load

    @property
    def submits(self) -> tuple[int, int] | None:
        """First and last submit, in seconds of the log."""
        return self._log.submits

    @property
    def unix_start(self) -> int | None:
        """Unix time of second 0, where the log says it."""
        return self._log.unix_start

    @property
    def study(self) -> str | None:
        """The published study whose choices it was read with; ``simulate`` and ``compare`` keep to them."""
        return self._study

    @property
    def settings(self) -> list[tuple[str, str]]:
        """Everything that shaped it, in order: size field, overrun, load factor, slice."""
        return self._log.settings

    @property
    def header(self) -> list[tuple[str, str]]:
        """Fields of the log's header; a field may stand there several times."""
        return self._log.header

    @property
    def beyond_jobs(self) -> str | None:
        """Data beyond jobs on one whole machine, such as ``capacity that is out``; ``None`` where there is nothing."""
        if any(option.startswith(("--outages=", "--failures=", "--checkpoints=")) for option in self._shaped):
            return "capacity that is out"
        return self._log.beyond_jobs

    @property
    def audit(self) -> dict[str, Any]:
        """Audit of cleaning: ``records``, ``jobs``, and under ``rules`` how many records each rule touched."""
        return self._log.audit

    @property
    def messages(self) -> tuple[str, ...]:
        """Notes and warnings that came with it."""
        return self._messages

    def __len__(self) -> int:
        return len(self._log)

    def __eq__(self, other: object) -> bool:
        """Workloads are equal where nothing in them can make results differ: their hashes are."""
        return self.hash == other.hash if isinstance(other, Workload) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        how = {"study": self._study, "shaped": self._shaped, "messages": self._messages}
        saved = self._log.save()
        if saved is not None:
            return (_loaded, (saved, how))
        if self._place is None:
            raise TypeError("a changed part of a site cannot be pickled; pickle what read(SITE) made and change it again")
        return (_read_again, (self._place, self.hash, how))

    def names(self, column: Literal["user", "group", "executable", "queue", "partition"]) -> list[str]:
        """Names of users, groups, programs, queues or partitions: number ``n`` stands for the ``n``-th. Empty where the log has
        numbers.

        Examples:
            >>> import drystone as ds
            >>> log = ds.from_arrow({"submit": [0, 5], "run": [9, 9], "procs": [1, 1], "user": ["bob", "alice"]}, procs=4)
            >>> log.names("user"), log.jobs["user"].tolist()
            (['bob', 'alice'], [0, 1])
        """
        return self._log.column_names(column)

    def _changed(self, log: _drystone.Log) -> Workload:
        return Workload(log, study=self._study, shaped=self._shaped)

    def __getitem__(self, places: slice) -> Workload:
        """Jobs by their places in the order of arrival; the step is 1."""
        if not isinstance(places, slice):
            raise TypeError("a workload takes slices, such as log[:1000]; workload.jobs has the jobs as a table")
        start, stop, step = places.indices(len(self))
        if step != 1:
            raise OptionError(f"a slice of a workload has the step 1, not {step}")
        return self._changed(self._log.piece(start, stop, "jobs", f"{start}..{stop}"))

    def between(self, start: int | None = None, end: int | None = None) -> Workload:
        """The jobs submitted from ``start`` up to but not including ``end``, in seconds of the log."""
        first, last = self._log.submitted(start, end)
        text = f"{'' if start is None else start}..{'' if end is None else end}"
        return self._changed(self._log.piece(first, last, "slice", text))

    def months(self) -> list[str]:
        """The calendar months in which jobs were submitted, such as ``1997-03``."""
        return [name for name, _, _ in self._log.months()]

    def month(self, name: str) -> Workload:
        """The jobs that were submitted in a calendar month of the log's time zone."""
        months = self._log.months()
        for month, start, stop in months:
            if month == name:
                return self._changed(self._log.piece(start, stop, "month", name))
        known = f"{months[0][0]} to {months[-1][0]}" if months else "none"
        raise OptionError(f"no job was submitted in {name}; the months are {known}")

    def windows(self, rule: str) -> list[Workload]:
        """Windows of the log, each a workload of its own: ``"jobs=256,count=10,seed=1"`` or ``"rlscheduler"``."""
        return [self._changed(self._log.piece(start, stop, "window", name)) for name, start, stop in self._log.windows(rule)]

    def scale(self, load: float | str) -> Workload:
        """Returns the jobs with submit times divided by ``load``: 1.1 is 10 % more load."""
        return self._changed(self._log.scale(str(load)))

    def shift(self) -> Workload:
        """Returns the jobs with the first submit at 0."""
        return self._changed(self._log.shift())

    def reshape(
        self,
        *,
        kind: Literal["malleable", "moldable"] = "malleable",
        share: int = 100,
        by: str = "efficiency",
        speedup: str = "linear",
        every: int | None = None,
        grow_cost: int = 0,
        shrink_cost: int = 0,
        watts: int | str = 0,
        seed: int = 1,
    ) -> Workload:
        """Returns the jobs with several sizes each, for a ``share`` of them in percent, as ``drystone workload reshape`` draws
        them (``docs/shapes.md``). A job that is drawn at a share of 20 is so at 40.

        Examples:
            >>> import drystone as ds
            >>> log = ds.generate(jobs=200, procs=64, load=0.9, seed=1).reshape(share=50, seed=2)
            >>> result = ds.simulate(log, "easy-keep")
            >>> {"procs_first", "procs_mean", "grows", "shrinks"} <= set(result.jobs)
            True
        """
        given = options(
            {
                "kind": kind,
                "share": share,
                "by": by,
                "speedup": speedup,
                "every": every,
                "grow_cost": grow_cost,
                "shrink_cost": shrink_cost,
                "watts": watts,
                "seed": seed,
            }
        )
        log, messages = self._log.reshape(given)
        return Workload(log, study=self._study, shaped=self._shaped, messages=tell(messages))

    @property
    def jobs(self) -> Table:
        """The jobs as a table; ``from_arrow`` reads it back."""
        return Table(self._log.table())

    def to_pandas(self) -> pandas.DataFrame:
        """The jobs for pandas."""
        return self.jobs.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The jobs for polars."""
        return self.jobs.to_polars()

    def to_arrow(self) -> pyarrow.Table:
        """The jobs for pyarrow."""
        return self.jobs.to_arrow()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.jobs.__arrow_c_stream__(requested_schema)

    def write(self, path: PathLike) -> None:
        """Writes the jobs as a log: ``.swf``, ``.swf.gz``, ``.swf.zst``, ``.csv``, ``.parquet``, or ``.json`` for Batsim."""
        self._log.write(Path(path))

    def __copy__(self) -> Workload:
        return self

    def __deepcopy__(self, memo: object) -> Workload:
        # It never changes.
        return self

    def __repr__(self) -> str:
        load = "" if self.load is None else f", load {self.load:.2f}"
        return f"<Workload {self.name}: {len(self):,} jobs on {self.procs:,} processors{load}>"

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.workload(self)


def refuse_no_log(source: object) -> None:
    """Raises an error that says what to do with an object that names no log."""
    if hasattr(source, "__arrow_c_stream__") or isinstance(source, Mapping):
        raise TypeError("a table has no machine: make a workload of it with from_arrow(table, procs=...)")
    if isinstance(source, (list, tuple)):
        raise TypeError("expected one log, not several: call it for each, or give `sweep` all of them")
    if not (isinstance(source, (str, os.PathLike)) or hasattr(source, "read")):
        raise TypeError(f"{source!r} is no log: expected a workload, a path or an open binary file")


def read(
    source: PathLike | BinaryIO,
    *,
    as_study: str | None = None,
    procs: int | None = None,
    overrun: Literal["run-on", "kill", "raise", "exact"] | None = None,
    size: str | None = None,
    missing_estimate: str | int | None = None,
    zero_run: Literal["keep", "drop"] | None = None,
    negative_run: str | None = None,
    negative_submit: Literal["keep", "drop"] | None = None,
    too_wide: str | None = None,
    duplicates: str | None = None,
    take: int | str | None = None,
    load: float | str | None = None,
    shift: bool = False,
    lenient: bool = False,
    resources: str | None = None,
    on_nodes: str | None = None,
    placement: str | None = None,
    month: str | None = None,
    slice: tuple[int | None, int | None] | None = None,
    outages: PathLike | None = None,
    supply: PathLike | None = None,
    failures: str | None = None,
    checkpoints: str | None = None,
    circumstances: PathLike | None = None,
    warm_start: bool | str = False,
    feedback: bool = False,
    shapes: PathLike | None = None,
    power: PathLike | None = None,
    idle: int | None = None,
    series: PathLike | None = None,
    resizing: str | None = None,
    pool: str | None = None,
    plain: bool = False,
    name: str | None = None,
) -> Workload:
    """Reads and cleans a log: a path or an open binary file, in Standard Workload Format, plain or compressed; or a site that
    ``import_accounting`` made, with its pools, what they lacked over time, and what ran and waited at the beginning.

    Every option means what it means on the command line (``drystone run --help``). ``as_study`` sets cleaning, trimming and the
    variants of policies as a published study had them; options that are given win. ``slice`` takes the jobs submitted between two
    seconds of the log; with ``warm_start`` (``True`` is 7 days) simulations begin so long after the first submit, with the jobs
    that ran and waited then. ``outages``, ``supply`` and ``circumstances`` are tables, ``failures`` and ``checkpoints`` texts such as
    ``"mtbf=30d,node=8"`` and ``"daly,cost=5m"`` (``docs/real-machines.md``); with ``feedback`` jobs arrive
    when the job before them in the log has ended and its user has thought. ``resources`` counts more than processors, such as
    ``"mem=2TB"`` (``docs/resources.md``), and ``on_nodes`` places jobs on the nodes of a table, as ``placement`` says. ``shapes``
    is a table of the sizes that jobs may have, ``power`` one of caps, ``idle`` the watts of an idle processor, ``series`` carbon and
    prices over time, ``resizing`` rules for changes of size such as ``"limit=wall"`` (``docs/shapes.md``). Of a site, ``pool`` names one of its pools, and ``plain``
    takes the jobs alone.

    Examples:
        >>> import drystone as ds, io
        >>> text = b"; MaxProcs: 4\\n1 0 0 100 3 -1 -1 3 100 -1 1 7 -1 -1 -1 -1 -1 -1\\n"
        >>> ds.read(io.BytesIO(text), name="tiny")
        <Workload tiny: 1 jobs on 4 processors>
        >>> try:
        ...     ds.read(io.BytesIO(b"; MaxProcs: 4\\n1 0 0 1oo 3\\n"), name="tiny")
        ... except ds.LogError as error:
        ...     print(error.line, error.field)
        2 7
    """
    refuse_no_log(source)
    given = options(
        {
            "as": as_study,
            "procs": procs,
            "overrun": overrun,
            "size": size,
            "missing_estimate": missing_estimate,
            "zero_run": zero_run,
            "negative_run": negative_run,
            "negative_submit": negative_submit,
            "too_wide": too_wide,
            "duplicates": duplicates,
            "take": take,
            "load": load,
            "shift": shift,
            "lenient": lenient,
            "resources": resources,
            "on_nodes": on_nodes,
            "placement": placement,
            "month": month,
            "slice": None if slice is None else "..".join("" if end is None else str(end) for end in slice),
            "shapes": shapes,
            "power": power,
            "idle": idle,
            "series": series,
            "resizing": resizing,
        }
    )
    shaped = options(
        {
            "outages": outages,
            "supply": supply,
            "failures": failures,
            "checkpoints": checkpoints,
            "circumstances": circumstances,
            "warm_start": "7d" if warm_start is True else warm_start,
            "feedback": feedback,
        }
    )
    given += shaped
    # What a log of another load recorded says nothing of this one.
    shaped += options({"load": load})
    if isinstance(source, (str, os.PathLike)):
        if name is not None:
            raise OptionError("name is for open files; a path names itself")
        path = Path(source) if pool is None else Path(f"{os.fspath(source)}#{pool}")
        log, messages = _drystone.Log.read(path, given, plain)
        place = (path.absolute(), given, plain)
    else:
        if pool is not None or plain:
            raise OptionError("pool and plain are about sites, and a site is a folder")
        told = getattr(source, "name", None)
        title = name or (Path(told).name if isinstance(told, str) else "log")
        log, messages = _drystone.Log.read_bytes(source.read(), title, given)
        place = None
    return Workload(log, study=as_study, messages=tell(messages), shaped=shaped, place=place)


def _loaded(saved: bytes, how: dict[str, Any]) -> Workload:
    return Workload(_drystone.Log.restore(saved), **how)


def _read_again(place: tuple[Path, list[str], bool], expected: str, how: dict[str, Any]) -> Workload:
    log, _ = _drystone.Log.read(*place)
    if log.hash != expected:
        raise OptionError(f"{place[0]} is another site than the one that was pickled: its hash is {log.hash}, not {expected}")
    return Workload(log, place=place, **how)


def from_arrow(
    table: Any, *, procs: int | None = None, columns: Mapping[str, str] | None = None, name: str | None = None
) -> Workload:
    """A workload from a table of pandas, polars, pyarrow, DuckDB, or anything else that supports Arrow's C interface, or from
    a mapping of names to arrays.

    Needed are ``submit``, ``run`` and ``procs``; ``estimate``, ``job_id``, ``user``, ``group``, ``executable``, ``queue``,
    ``partition``, ``memory_kb`` and ``status`` are read where they are there. ``columns`` says which column is which:
    ``columns={"run": "elapsed"}``.

    - Times are seconds, timestamps, dates or durations; fractions are rounded, halves away from zero. Texts such as ``1-02:00:00``,
      ``90min`` and ``PT1H30M`` are durations.
    - An estimate that is missing, infinite, 0 or -1 is no limit, as in logs: the run time stands for it.
    - Users, groups, programs, queues and partitions are numbers of any size, or names, which ``Workload.names`` gives back.
    - ``memory_kb`` may hold texts such as ``4G``, ``status`` states of Slurm such as ``COMPLETED``. A missing status is
      unknown; without the column all jobs completed.

    What a workload's ``jobs`` are made into is the same workload again, with header and settings; then ``procs`` may be left out.

    Examples:
        >>> import drystone as ds
        >>> log = ds.from_arrow({"submit": [0, 5], "run": [10, 20], "cpus": [4, 2]}, procs=4, columns={"procs": "cpus"})
        >>> len(log), ds.from_arrow(log.jobs) == log
        (2, True)
        >>> try:
        ...     ds.from_arrow({"submit": [0], "run": [10], "procs": [-3]}, procs=4)
        ... except ds.LogError as error:
        ...     print(error, "|", error.field, error.line)
        column `procs`, row 0: -3 is not possible; expected 1 to 4 | procs 0
    """
    if procs is not None and (not whole(procs) or not 1 <= procs < 2**32):
        raise OptionError(f"procs: {procs!r} is no number of processors; expected 1 to {2**32 - 1}")
    named = dict(columns or {})
    wanted = [named.get(column, column) for column in _drystone.column_names()]
    needed = [*wanted[:3], *named.values()]
    table = with_readable_columns(table, wanted, needed)
    if is_frame(table) or not (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")):
        attributes = getattr(table, "attrs", None)
        origin = attributes.get("drystone") if isinstance(attributes, Mapping) else None
        metadata = {"drystone": origin} if isinstance(origin, str) else None
        table = _drystone.arrays(column_parts(table, wanted, needed), metadata)
    try:
        log, unlimited = _drystone.Log.from_arrow(table, None if procs is None else int(procs), named, name)
    except DrystoneError:
        raise
    except Exception as error:
        if "as a Schema" in str(error):
            raise TypeError(f"{type(table).__name__} is one column; expected a table, or a mapping of names to columns") from error
        raise LogError(f"the table cannot be read through Arrow's interface: {error}") from error
    told = f"note: {unlimited:,} jobs have no limit: their run time stands for the estimate"
    if unlimited == 1:
        told = "note: 1 job has no limit: its run time stands for the estimate"
    return Workload(log, messages=tell([told] if unlimited else []))


def generate(
    model: str = "lublin",
    *,
    procs: int,
    jobs: int | None = None,
    days: int | None = None,
    load: float | None = None,
    seed: int = 1,
    max_estimate: int = 64_800,
    users: int | None = None,
) -> Workload:
    """A synthetic workload: jobs of Lublin & Feitelson, estimates of Tsafrir et al., users of our own.

    ``jobs`` or ``days`` says how much. The same arguments give the same workload on every platform.

    Examples:
        >>> import drystone as ds
        >>> ds.generate(jobs=100, procs=64, load=0.8, seed=3)
        <Workload lublin-typeless-64-seed3: 100 jobs on 64 processors, load 0.80>
    """
    if procs < 1:
        raise OptionError(f"procs: {procs} is no number of processors; expected at least 1")
    for what, value in (("jobs", jobs), ("days", days), ("seed", seed)):
        if value is not None and (not whole(value) or value < 0):
            raise OptionError(f"{what}: {value!r} is not possible; expected a whole number from 0 on")
    return Workload(
        _drystone.Log.generate(
            procs=procs,
            jobs=jobs,
            days=days,
            load=load,
            seed=seed,
            model=model,
            max_estimate=max_estimate,
            users=users,
        )
    )
