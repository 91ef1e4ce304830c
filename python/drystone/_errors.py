"""Exceptions, whose messages state the place and the cause.

An exception that a policy or a predictor written in Python raises is none of these: it reaches the caller unchanged, with its
traceback.
"""

from __future__ import annotations


class DrystoneError(Exception):
    """The base of all errors of Drystone."""


class LogError(DrystoneError, ValueError):
    """A log or table that cannot be read, or is no workload.

    ``file`` and ``line`` say where, ``field`` is the column: its number in a log, its name in a table. The line of a table is its
    row, counted from 0. What is not known is ``None``.
    """

    def __init__(
        self, text: str, *, file: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.field = field


class PolicyTextError(DrystoneError, ValueError):
    """A policy text that means nothing.

    ``policy`` is the text, ``position`` the character that the problem is about, from 0, and ``suggestion`` a name that was perhaps
    meant; both are ``None`` where there is none.
    """

    def __init__(
        self, text: str, *, policy: str = "", position: int | None = None, suggestion: str | None = None
    ) -> None:
        super().__init__(text)
        self.policy = policy
        self.position = position
        self.suggestion = suggestion


class OptionError(DrystoneError, ValueError):
    """An argument that is wrong, or does not go with another one."""


class SimulationError(DrystoneError, RuntimeError):
    """A simulation that cannot go on."""


class ContractViolation(SimulationError):
    """A policy asked for something impossible, or left jobs waiting for ever: a bug of the policy.

    ``at`` is the second, ``job`` the log's number of the job (``job_id``; in a session its id), ``problem`` what was wrong with it. Of
    a policy written in Python the text names the line that asked for it.
    """

    def __init__(
        self, text: str, *, at: int | None = None, job: int | None = None, problem: str = ""
    ) -> None:
        super().__init__(text)
        self.at = at
        self.job = job
        self.problem = problem


class SnapshotError(DrystoneError, ValueError):
    """A state that cannot be saved, or is none of this session."""


class SweepError(DrystoneError):
    """A sweep or its store fails."""


class StudyError(SweepError, ValueError):
    """A study file that says something impossible, at ``line`` and ``column`` of ``file``, both from 1."""

    def __init__(
        self, text: str, *, file: str | None = None, line: int | None = None, column: int | None = None
    ) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.column = column


class StoreLocked(SweepError):
    """Another process is working on the store."""
