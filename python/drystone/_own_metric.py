"""Metrics of a caller's own: functions from the table of jobs to a value per job."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from drystone import _drystone
from drystone._errors import OptionError
from drystone._table import Array, Table

OwnMetric: TypeAlias = Callable[[Table], Any]
"""A metric of one's own: from the table of jobs a value for each."""


def check_metrics(metrics: Mapping[str, OwnMetric]) -> None:
    """Refuses what is no mapping from names to functions."""
    if not isinstance(metrics, Mapping):
        raise OptionError("metrics: expected a mapping from names to functions, such as {'late': lambda jobs: jobs['wait'] > 3600}")
    for name, metric in metrics.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise OptionError(f"metrics: `{name}` is no name of a column; use letters, digits and _")
        if not callable(metric):
            raise OptionError(f"metrics: `{name}` is {metric!r}; expected a function from the table of jobs to a value per job")


def own_values(name: str, metric: OwnMetric, jobs: _drystone.Table, where: str = "") -> Array:
    """Returns the values of a metric, NaN where a job does not count."""
    table = Table(jobs)
    try:
        values = np.asarray(metric(table))
    except Exception as error:
        if sys.version_info >= (3, 11):
            error.add_note(f"raised by the metric `{name}`{where}")
        raise
    if values.shape != (len(table),) or values.dtype.kind not in "biuf":
        raise OptionError(
            f"metrics: `{name}`{_place(metric)} gave {values.dtype} of the shape {values.shape}{where}; expected a number for each job"
        )
    floats: Array = np.ascontiguousarray(values, np.float64).copy()
    # What does not count elsewhere does not count here.
    floats[~table["counted"]] = np.nan
    infinite = np.flatnonzero(np.isinf(floats))
    if len(infinite):
        job = table["job_id"][infinite[0]]
        raise OptionError(
            f"metrics: `{name}`{_place(metric)} gave {floats[infinite[0]]} for job {job}{where}; expected a number, or NaN where a job "
            "does not count"
        )
    return floats


def _place(metric: OwnMetric) -> str:
    """The file and line of a function, where it has one."""
    while isinstance(metric, functools.partial):
        metric = metric.func
    code = getattr(metric, "__code__", None) or getattr(getattr(type(metric), "__call__", None), "__code__", None)
    return f" ({code.co_filename}, line {code.co_firstlineno})" if isinstance(code, types.CodeType) else ""
