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
        return self._table.numpy(name)

    def to_numpy(self, name: str) -> Array:
        """A column. Numbers that are missing are NaN."""
        return self._table.numpy(name)

    def to_pandas(self) -> pandas.DataFrame:
        """The table for pandas; needs pandas alone."""
        import pandas

        return pandas.DataFrame({name: self._table.numpy(name) for name in self.columns})

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


def whole(value: Any) -> bool:
    """Returns whether a value is a whole number, of Python or numpy."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
