"""Columns of mappings and of pandas in the form in which the extension reads them."""

from __future__ import annotations

import datetime
import decimal
import math
import sys
from collections.abc import Iterator, Mapping, Sequence, ValuesView
from typing import Any, TypeAlias

import numpy as np

from drystone._errors import LogError

__all__ = ["Parts", "column_parts", "is_frame", "with_readable_columns"]

Parts: TypeAlias = "tuple[str, str, Any, Any, list[str] | None]"
"""Name, kind, values, rows without a value, names."""

EPOCH = datetime.datetime(1970, 1, 1)
MICROSECOND = datetime.timedelta(microseconds=1)

#: Units of numpy that Arrow has, and those that are converted to them.
UNITS = {"s": "s", "ms": "ms", "us": "us", "ns": "ns", "ps": "ns", "fs": "ns", "as": "ns"}


def is_frame(table: Any) -> bool:
    """Returns whether a table is a frame of pandas, which is read without pyarrow."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def with_readable_columns(table: Any, wanted: Sequence[str], needed: Sequence[str]) -> Any:
    """Returns a frame of polars with the wanted columns alone, of types that Arrow's interface passes on. Anything else, and a
    frame that lacks a needed column, comes back as it is."""
    polars = sys.modules.get("polars")
    if polars is None or not isinstance(table, (polars.DataFrame, polars.LazyFrame)):
        return table
    if isinstance(table, polars.LazyFrame):
        table = table.collect()
    if any(name not in table.columns for name in needed):
        return table.clear().select([polars.lit(0).alias(name) for name in table.columns])
    frame = table.select([name for name in dict.fromkeys(wanted) if name in table.columns])
    for name, kind in frame.schema.items():
        if kind == polars.Null:
            frame = frame.with_columns(polars.col(name).cast(polars.Int64))
        elif str(kind) in ("Int128", "UInt128"):
            try:
                frame = frame.with_columns(polars.col(name).cast(polars.Int64))
            except polars.exceptions.InvalidOperationError as error:
                values = frame[name].to_list()
                row = next(row for row, value in enumerate(values) if value is not None and not -(2**63) <= value < 2**63)
                raise _wrong(name, f"{values[row]} is too large", row) from error
    return frame


def column_parts(table: Any, wanted: Sequence[str], needed: Sequence[str]) -> list[Parts]:
    """The wanted columns of a frame of pandas or a mapping of names to arrays, as far as they are there. Where a needed one is
    missing, all have their names, for the error."""
    if is_frame(table):
        labels = [str(label) for label in table.columns]
        for name in wanted:
            if labels.count(name) > 1:
                raise LogError(f"there are {labels.count(name)} columns `{name}`; expected one", field=name)
        columns = {label: table.iloc[:, at] for at, label in enumerate(labels)}
    elif isinstance(table, Mapping):
        columns = {str(name): table[name] for name in table}
    else:
        raise TypeError(
            f"{type(table).__name__} is no table: expected a frame of pandas, polars, pyarrow or DuckDB, or a mapping "
            "of names to arrays"
        )
    if any(name not in columns for name in needed):
        return [(name, "int", np.zeros(0, np.int64), None, None) for name in columns]
    return [_parts(name, columns[name]) for name in dict.fromkeys(wanted) if name in columns]


def _wrong(name: str, problem: str, row: int | None = None) -> LogError:
    place = f"column `{name}`" if row is None else f"column `{name}`, row {row}:"
    return LogError(f"{place} {problem}", field=name, line=row)


def _parts(name: str, values: Any) -> Parts:
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, (pandas.Series, pandas.Index)):
        values = pandas.Series(values)
        dtype = values.dtype
        if isinstance(dtype, pandas.CategoricalDtype):
            return _categories(name, values)
        if isinstance(dtype, pandas.DatetimeTZDtype):
            values = values.dt.tz_convert(None)
        elif not isinstance(dtype, np.dtype):
            return _objects(name, list(values))
        values = values.to_numpy()
    if isinstance(values, np.ma.MaskedArray) or isinstance(values, (str, bytes)):
        values = values.tolist() if isinstance(values, np.ma.MaskedArray) else np.asarray(values)
    if isinstance(values, (list, tuple)):
        return _objects(name, list(values))
    if isinstance(values, (Iterator, ValuesView)):
        return _objects(name, list(values))
    array = np.asarray(values)
    if array.dtype.kind == "f" and str(getattr(values, "type", getattr(values, "dtype", ""))).lower().startswith(("int", "uint")):
        # Whole numbers of pyarrow and polars, some of them missing: floats would not hold them all.
        listed = getattr(values, "to_pylist", None) or getattr(values, "to_list", None) or values.tolist
        return _objects(name, listed())
    if array.ndim != 1:
        raise _wrong(name, f"has {array.ndim} dimensions; expected one value for each row")
    if array.dtype.kind == "O":
        return _objects(name, array.tolist())
    return _array(name, array)


def _array(name: str, array: Any) -> Parts:
    """A column of a type of numpy."""
    kind = array.dtype.kind
    if kind in "Mm":
        unit = np.datetime_data(array.dtype)[0]
        if kind == "m" and unit in ("Y", "M"):
            raise _wrong(name, "holds years or months, which have no length in seconds")
        # Days, weeks and so on are whole seconds.
        unit = UNITS.get(unit, "s")
        missing = np.isnat(array)
        numbers = array.astype(f"{kind}8[{unit}]").astype(np.int64)
        return (name, f"{'stamp' if kind == 'M' else 'length'}:{unit}", numbers, missing if missing.any() else None, None)
    if kind == "u" and array.size and int(array.max()) >= 2**63:
        row = int(array.argmax())
        raise _wrong(name, f"{array[row]} is too large", row)
    if kind in "iu":
        return (name, "int", np.ascontiguousarray(array, np.int64), None, None)
    if kind == "f":
        return (name, "float", np.ascontiguousarray(array, np.float64), None, None)
    if kind in "UT":
        return _objects(name, array.tolist())
    what = "truth values" if kind == "b" else "bytes" if kind == "S" else str(array.dtype)
    raise _wrong(name, f"holds {what}; expected numbers, timestamps, dates, durations, texts or categories")


def _categories(name: str, values: Any) -> Parts:
    """Categories of pandas: what they stand for."""
    codes = np.asarray(values.cat.codes, np.int64)
    of = _parts(name, values.cat.categories)
    if of[1] == "text":
        return (name, "names", codes, codes < 0, [str(word) for word in of[2]])
    if not len(of[2]):
        return (name, "int", np.zeros(len(codes), np.int64), np.ones(len(codes), np.bool_), None)
    taken = np.asarray(of[2])[np.maximum(codes, 0)]
    missing = codes < 0 if of[3] is None else (codes < 0) | np.asarray(of[3])[np.maximum(codes, 0)]
    return (name, of[1], np.ascontiguousarray(taken), missing if missing.any() else None, None)


def _is_missing(value: Any) -> bool:
    """Returns whether a value is none: None, NaN, NaT, NA."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return type(value).__name__ in ("NaTType", "NAType")


#: Kinds of values, the more special ones first.
KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("text", (str,)),
    ("truth", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating, decimal.Decimal)),
    ("stamp", (datetime.datetime, np.datetime64, datetime.date)),
    ("length", (datetime.timedelta, datetime.time, np.timedelta64)),
)


def _kind(value: Any) -> str:
    # A duration of numpy is a whole number to Python.
    if isinstance(value, np.timedelta64):
        return "length"
    return next((kind for kind, types in KINDS if isinstance(value, types)), type(value).__name__)


def _objects(name: str, values: list[Any]) -> Parts:
    """A column of objects of Python: of one kind, or whole numbers and fractions."""
    types = set(map(type, values))
    if types == {str}:
        return (name, "text", values, None, None)
    if types == {int}:
        return (name, "int", _whole(name, values, None), None, None)
    missing = np.fromiter(map(_is_missing, values), np.bool_, len(values))
    kinds = {_kind(value): row for row, value in reversed(list(enumerate(values))) if not missing[row]}
    if "float" in kinds and "int" in kinds:
        kinds.pop("int")
    if len(kinds) > 1:
        (first, _), (_, row) = sorted(kinds.items(), key=lambda item: item[1])[:2]
        raise _wrong(name, f"{values[row]!r} stands among values of another kind ({first}); expected one kind", row)
    kind = next(iter(kinds), "int")
    gaps = missing if missing.any() else None
    if kind == "text":
        return (name, "text", [None if gap else value for value, gap in zip(values, missing)], None, None)
    if kind == "int":
        return (name, "int", _whole(name, values, missing), gaps, None)
    if kind == "float":
        floats = [math.nan if gap else float(value) for value, gap in zip(values, missing)]
        return (name, "float", np.asarray(floats, np.float64), None, None)
    if kind == "stamp":
        zoned = np.fromiter((getattr(value, "tzinfo", None) is not None for value in values), np.bool_, len(values)) & ~missing
        if zoned.any() and (plain := ~zoned & ~missing).any():
            row = int(plain.argmax())
            raise _wrong(name, f"{values[row]} has no time zone, others have one", row)
        return (name, "stamp:us", _whole(name, [None if g else _moment(v) for v, g in zip(values, missing)], missing), gaps, None)
    if kind == "length":
        return (name, "length:us", _whole(name, [None if g else _length(v) for v, g in zip(values, missing)], missing), gaps, None)
    what = "truth values" if kind == "truth" else f"values of the type {kind}"
    raise _wrong(name, f"holds {what}; expected numbers, timestamps, dates, durations, texts or categories")


def _whole(name: str, values: list[Any], missing: Any) -> Any:
    for row, value in enumerate(values):
        if (missing is None or not missing[row]) and not -(2**63) <= value < 2**63:
            raise _wrong(name, f"{value} is too large", row)
    if missing is None:
        return np.asarray(values, np.int64)
    return np.asarray([0 if gap else int(value) for value, gap in zip(values, missing)], np.int64)


def _moment(value: Any) -> int:
    """Microseconds since 1970."""
    if isinstance(value, np.datetime64):
        return int(value.astype("M8[us]").astype(np.int64))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return int((value - EPOCH) // MICROSECOND)
    return int(value.toordinal() - EPOCH.toordinal()) * 86_400_000_000


def _length(value: Any) -> int:
    """Microseconds."""
    if isinstance(value, np.timedelta64):
        return int(value.astype("m8[us]").astype(np.int64))
    if isinstance(value, datetime.time):
        value = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
    return int(value // MICROSECOND)
