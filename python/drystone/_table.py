"""Tables that other libraries take without a copy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from drystone import _drystone

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Array = npt.NDArray[Any]


class Table:
    """Columns of equal length.

    ``polars.DataFrame(table)``, ``pyarrow.table(table)`` and DuckDB take it as it is, through Arrow's C interface; nothing is
    copied. ``table["wait"]`` is a column as an array of numpy.
    """

    def __init__(self, table: _drystone.Table) -> None:
        self._table = table

    def __reduce__(self) -> tuple[Any, ...]:
        return (_table_of, (self._table.parts(), self._table.metadata()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return len(self) == len(other) and self.columns == other.columns and all(
            self.names(name) == other.names(name) and _same(self[name], other[name]) for name in self
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self._table.columns

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __getitem__(self, name: str) -> Array:
        if not isinstance(name, str):
            raise TypeError(f"{name!r}: a table takes the name of a column, such as {self.columns[0]!r}; for rows, use to_pandas or to_polars")
        return self._table.numpy(name)

    def keys(self) -> list[str]:
        """Names of the columns, so that ``dict(table)`` is a dictionary of arrays."""
        return self.columns

    def to_numpy(self, name: str) -> Array:
        """A column. Numbers that are missing are NaN; of names it has their places in ``names(name)``."""
        return self._table.numpy(name)

    def names(self, name: str) -> list[str] | None:
        """The names that the numbers of a column stand for, from 0 on; ``None`` where it holds no names."""
        return self._table.names(name)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The rows as data classes, of which ``pandas.DataFrame(table)`` makes rows; ``to_pandas`` is quicker."""
        import dataclasses

        row = dataclasses.make_dataclass("Row", self.columns)
        values = [self._values(name).tolist() for name in self.columns]
        rows = np.empty(len(self), object)
        rows[:] = [row(*cells) for cells in zip(*values)]
        return rows if dtype is None else rows.astype(dtype)

    def _values(self, name: str) -> Array:
        """A column with names instead of their places."""
        values, names = self._table.numpy(name), self._table.names(name)
        if names is None:
            return values
        # Place −1 is the last: what has no name.
        words: Array = np.array([*names, None], object)[values]
        return words

    def to_pandas(self) -> pandas.DataFrame:
        """The table for pandas; needs pandas alone."""
        import pandas

        def column(name: str) -> Any:
            values, names = self._table.numpy(name), self._table.names(name)
            return values if names is None else pandas.Categorical.from_codes(values, categories=pandas.Index(names, dtype=object))

        frame = pandas.DataFrame({name: column(name) for name in self.columns})
        # from_arrow makes the same workload of it, where nothing was changed.
        frame.attrs.update(self._table.metadata())
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The table for polars."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """The table for pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table: {len(self):,} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.table(self)


def _table_of(parts: Any, metadata: dict[str, str]) -> Table:
    return Table(_drystone.arrays(parts, metadata))


def _same(one: Array, other: Array) -> bool:
    return bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f" and other.dtype.kind == "f"))


def whole(value: Any) -> bool:
    """Returns whether a value is a whole number, of Python or numpy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
