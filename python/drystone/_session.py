"""A scheduler at work, told of events one by one."""

from __future__ import annotations

from typing import Any

from drystone import _drystone
from drystone._policy import Job, PolicyLike, PredictorLike, _Places, registered
from drystone._table import whole
from drystone._errors import OptionError

__all__ = ["Session"]


class Session:
    """A scheduler at work: what the simulator drives, and a live cluster can.

    Time is an argument of every call, in seconds, and never goes back. At each instant, and at each ``deadline``, tell in this
    order what has happened: ``end`` of jobs, ``expire``, ``arrive`` and ``cancel``; then ask once for ``decide`` and carry out what
    it answers.

    Examples:
        >>> import drystone as ds
        >>> session = ds.Session(4, "easy")
        >>> ids = [session.arrive(0, procs=procs, estimate=estimate) for procs, estimate in [(3, 100), (4, 100), (1, 50)]]
        >>> session.decide(0)                       # the second job waits for all four processors, the third fits beside the first
        [('start', 0, None), ('reserve', 1, 100), ('start', 2, None)]
        >>> session.end(20, 0), session.end(20, 2), session.expire(20)
        (True, True, None)
        >>> session.decide(20)
        [('start', 1, None)]
        >>> state = session.save()                  # continue elsewhere, or later
    """

    def __init__(self, procs: int, policy: PolicyLike = "easy", *, predictor: PredictorLike | None = None) -> None:
        if not whole(procs) or procs < 1:
            raise OptionError(f"procs: {procs!r} is no number of processors; expected at least 1")
        # The objects have their places as long as the session lives.
        self._places = _Places()
        text = self._places.policy(policy, predictor)
        self._session = _drystone.Session(procs, text, self._places.slots + registered())

    @property
    def policy(self) -> str:
        """The policy's text."""
        return self._session.policy

    def arrive(self, now: int, *, procs: int, estimate: int, **attributes: int) -> int:
        """Adds a job and returns its id: jobs are numbered in the order of arrival from 0. Attributes are ``user``, ``group``,
        ``executable``, ``queue``, ``partition`` and ``memory_kb``."""
        return self._session.arrive(now, procs=procs, estimate=estimate, **attributes)

    def end(self, now: int, job: int) -> bool:
        """A running job has ended; returns whether there was such a job."""
        return self._session.end(now, job)

    def expire(self, now: int) -> None:
        """Corrects predictions that have expired by now, and wakes the policy if it asked for that."""
        self._session.expire(now)

    def cancel(self, now: int, job: int) -> bool:
        """A waiting or suspended job is withdrawn; returns whether there was such a job. A running one ends (``end``)."""
        return self._session.cancel(now, job)

    def decide(self, now: int) -> list[tuple[str, int, int | None]]:
        """One scheduling pass: what to carry out, in order. Each is an action (``start``, ``suspend``, ``resume``, ``kill``; or
        ``reserve`` and ``repredict``, which only tell), a job, and the seconds that a reservation or prediction has."""
        return self._session.decide(now)

    @property
    def deadline(self) -> int | None:
        """Next time to call if nothing happens before."""
        return self._session.deadline

    @property
    def free(self) -> int:
        """Free processors."""
        return self._session.free

    @property
    def waiting(self) -> list[int]:
        """Ids of the waiting jobs, in the order of arrival."""
        return self._session.waiting

    @property
    def running(self) -> list[int]:
        """Ids of the running jobs, in the order of their predicted ends."""
        return self._session.running

    def job(self, job: int) -> Job:
        """Returns the known facts of a job in the session."""
        return self._session.job(job)

    def save(self) -> bytes:
        """The whole state. An object of Python is saved by pickle, or the call says why it cannot be."""
        return self._session.save()

    def load(self, state: bytes) -> None:
        """Goes on from a state that a session with the same policy has saved."""
        self._session.load(state)

    def __repr__(self) -> str:
        return f"<Session of {self.policy}: {len(self.waiting)} jobs wait, {len(self.running)} run, {self.free} processors free>"

    def __reduce__(self) -> Any:
        raise TypeError("a session is saved with save() and goes on with load(); it cannot be pickled")
