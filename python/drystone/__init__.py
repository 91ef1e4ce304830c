"""Batch scheduling policies, simulated on your own log.

A parallel machine has a number of processors; jobs arrive, each with the processors that it needs and the user's estimate of its run
time; a policy decides which job starts when. Drystone has the policies of the literature, simulates them on real logs, and says
which is better and how sure that is. A policy, a predictor of run times or a scheduler that learns may be written in Python.

Examples:
    >>> import drystone as ds
    >>> log = ds.generate(jobs=2000, procs=128, load=0.9, seed=1)     # or ds.read("LOG.swf.gz")
    >>> result = ds.simulate(log, "easy++")
    >>> bool(result.jobs["wait"].mean() == result["wait_mean"])
    True
    >>> verdict = ds.compare(log, ["easy", "easy++", "fcfs"]).verdict
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drystone import _callbacks as _callbacks
from drystone._drystone import __version__
from drystone._errors import (
    ContractViolation,
    DrystoneError,
    LogError,
    OptionError,
    PolicyTextError,
    SimulationError,
    SnapshotError,
    StoreLocked,
    StudyError,
    SweepError,
)
from drystone._policy import (
    Actions,
    Event,
    Job,
    Policy,
    PolicyInfo,
    Predictor,
    View,
    describe_policy,
    policies,
    predictors,
    register,
    unregister,
)
from drystone._result import Comparison, Figure, Result, Story, compare, metrics, simulate
from drystone._session import Session
from drystone._site import Account, Site, import_accounting
from drystone._studies import advise, evolve, foresee, headroom, predict, reproduce, waits, whatif, when
from drystone._sweep import Store, sweep
from drystone._table import Table
from drystone._workload import Workload, from_arrow, generate, read


if TYPE_CHECKING:
    from drystone import gym as gym
    from drystone import sklearn as sklearn


def __getattr__(name: str) -> Any:
    """``drystone.gym``, ``drystone.sb3`` and ``drystone.sklearn`` are loaded when they are used: they need more than numpy."""
    if name in ("gym", "sb3", "sklearn"):
        import importlib

        return importlib.import_module(f"drystone.{name}")
    raise AttributeError(f"module 'drystone' has no attribute {name!r}")


__all__ = [
    "Account",
    "Actions",
    "Comparison",
    "ContractViolation",
    "DrystoneError",
    "Event",
    "Figure",
    "Job",
    "LogError",
    "OptionError",
    "Policy",
    "PolicyInfo",
    "PolicyTextError",
    "Predictor",
    "Result",
    "Session",
    "SimulationError",
    "Site",
    "SnapshotError",
    "Store",
    "StoreLocked",
    "Story",
    "StudyError",
    "SweepError",
    "Table",
    "View",
    "Workload",
    "__version__",
    "advise",
    "compare",
    "describe_policy",
    "evolve",
    "foresee",
    "from_arrow",
    "generate",
    "headroom",
    "import_accounting",
    "metrics",
    "policies",
    "predict",
    "predictors",
    "read",
    "register",
    "reproduce",
    "simulate",
    "sweep",
    "unregister",
    "waits",
    "whatif",
    "when",
]
