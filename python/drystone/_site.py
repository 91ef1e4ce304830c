"""Sites: a cluster's accounting as a workload, and how far simulations are from what happened there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from drystone import _drystone
from drystone._columns import Parts
from drystone._errors import DrystoneError, OptionError
from drystone._policy import PolicyLike, places, registered
from drystone._table import Table
from drystone._workload import PathLike, Workload, options, read, tell, write

__all__ = ["Account", "Site", "import_accounting"]


class _PickledOutput:
    """Output of a command that another process has pickled: every form of it."""

    def __init__(self, said: _drystone.Said | _PickledOutput) -> None:
        self.messages: list[str] = list(said.messages)
        self._text, self._json, self._rows = said.text(), said.json(), said.rows()
        self._forms: dict[str, bytes] = {}
        with tempfile.TemporaryDirectory() as folder:
            for ending in (".html", ".json", ".csv", ".md", ".txt"):
                path = Path(folder, f"output{ending}")
                try:
                    said.write(path)
                except DrystoneError:
                    # A command without a page has no such form.
                    continue
                self._forms[ending] = path.read_bytes()

    def text(self) -> str:
        return self._text

    def json(self) -> str:
        return self._json

    def rows(self) -> list[list[tuple[str, str]]]:
        return self._rows

    def page(self) -> str:
        if ".html" not in self._forms:
            raise OptionError("there is no page of this result; report(path) writes .json, .csv, .md and .txt")
        return self._forms[".html"].decode()

    def write(self, path: Path) -> None:
        if path.suffix not in self._forms:
            raise OptionError(f"{path}: the ending says how to write it; expected {', '.join(self._forms)}")
        write(path, self._forms[path.suffix])


class Account:
    """Result of a command: ``str(account)`` for people, ``data`` and ``table`` for programs."""

    def __init__(self, said: _drystone.Said) -> None:
        self._said: _drystone.Said | _PickledOutput = said
        self.messages = tell(said.messages)
        self._data: dict[str, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        said = self._said
        return {**self.__dict__, "_said": said if isinstance(said, _PickledOutput) else _PickledOutput(said)}

    @property
    def data(self) -> dict[str, Any]:
        """Everything, as the command line writes it with ``--format json``."""
        if self._data is None:
            self._data = json.loads(self._said.json())
        return self._data

    @property
    def verdict(self) -> str:
        """Verdict, in sentences."""
        return "\n".join(self.data.get("verdict", ()))

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
    cells = [dict(row) for row in rows]
    return Table(_drystone.arrays([_column(name, [row.get(name, "") for row in cells]) for name in names]))


def _column(name: str, values: list[str]) -> Parts:
    import numpy as np

    try:
        return (name, "float", np.array([float(value) if value else np.nan for value in values]), None, None)
    except ValueError:
        return (name, "text", list(values), None, None)


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
        policy: PolicyLike = "easy",
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
        given: dict[str, object | None] = {
            "repetition": list(repetitions),
            "seeds": seeds,
            "jitter": jitter,
            "seed": seed,
            "warm_up": warm_up,
            "threads": threads,
        }
        path = self.path if pool is None else Path(f"{self.path}#{pool}")
        with places() as taken:
            given["policy"] = taken.policy(policy)
            return Account(_drystone.fidelity(path, options(given), taken.slots + registered()))

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
