"""Policies and predictors: by text, and as objects of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

from drystone import _drystone
from drystone._drystone import Actions, Event, Job, View
from drystone._errors import OptionError
from drystone._identity import identify_program

__all__ = [
    "Actions",
    "Decide",
    "Event",
    "Job",
    "Policy",
    "PolicyInfo",
    "PolicyLike",
    "Predictor",
    "PredictorLike",
    "View",
    "describe_policy",
    "policies",
    "predictors",
    "register",
    "unregister",
]

Decide: TypeAlias = Callable[[View, Actions], None]
"""A policy that keeps nothing: a function."""


@runtime_checkable
class Policy(Protocol):
    """A scheduling policy: a state machine that takes events and returns actions.

    ``decide`` is called at every scheduling pass. It looks at the view and asks for actions. What it starts counts at once: the
    view shows the machine as it was before this call. Methods and attributes that a class may also have:

    - ``observe(event, view)`` receives every event before the pass;
    - ``next_wake()`` returns the next wake-up time if nothing happens before, or ``None``;
    - ``name`` is what results call it, else the name of the class;
    - ``suspends = True`` where it suspends jobs;
    - ``places = True`` where it asks ``view.fits_now(job)`` before it starts a job: then it also runs where jobs ask for memory, devices,
      licences or nodes, which without it is refused. Not beside ``suspends``;
    - ``hears = True`` where ``observe`` knows what to do with events that only a real machine has (outages, jobs that are held or
      started by others). Without it such a policy is refused where there are any; a policy without ``observe`` hears unless it
      says ``hears = False``.

    A policy reads no clock and draws no random numbers that it did not seed itself: the same workload must give the same schedule.
    Each simulation works on a copy of the object (``copy.deepcopy``), so that the object stays as it was.

    Examples:
        >>> import drystone as ds
        >>> class Greedy:
        ...     "Every job that fits starts, in the order of arrival."
        ...     def decide(self, view, actions):
        ...         free = view.free
        ...         for job, procs in zip(view.waiting.id, view.waiting.procs):
        ...             if procs <= free:
        ...                 actions.start(job)
        ...                 free -= procs
        >>> log = ds.generate(jobs=300, procs=64, load=0.9, seed=1)
        >>> ours, theirs = ds.simulate(log, Greedy()), ds.simulate(log, "greedy")
        >>> bool((ours.jobs["start"] == theirs.jobs["start"]).all())
        True
    """

    def decide(self, view: View, actions: Actions) -> None:
        """Makes one scheduling pass."""


@runtime_checkable
class Predictor(Protocol):
    """Predicts how long jobs will run, in seconds.

    ``predict`` is called when a job arrives; ``None`` stands for the user's estimate. ``learn``, if defined, receives the run time of
    a job when it has ended, never before. A predictor cannot see run times of the future.

    Examples:
        >>> import drystone as ds
        >>> class Last:
        ...     "The run time of the user's last job."
        ...     def __init__(self):
        ...         self.last = {}
        ...     def predict(self, job):
        ...         return min(self.last.get(job.user, job.estimate), job.estimate)
        ...     def learn(self, job, ran, now):
        ...         self.last[job.user] = ran
        >>> log = ds.generate(jobs=300, procs=64, load=0.9, seed=1)
        >>> ds.simulate(log, "easy", predictor=Last()).policy
        'easy(predict=python(Last))'
    """

    def predict(self, job: Job) -> float | None:
        """The run time that is expected of a job that arrives."""


PolicyLike: TypeAlias = "str | Policy | Decide | type[Any]"
"""A policy text such as ``"easy(backfill=sjf)"``, an object with ``decide``, its class, or a function."""

PredictorLike: TypeAlias = "str | Predictor"
"""A predictor's text such as ``"recent(2)"``, or an object with ``predict``."""


class _Function:
    """A function as a policy."""

    def __init__(self, decide: Decide) -> None:
        self.decide = decide
        self.name = getattr(decide, "__name__", "function").strip("<>")


def _name(given: Any) -> str:
    name = getattr(given, "name", None)
    kind = given if isinstance(given, type) else type(given)
    return name if isinstance(name, str) and name else kind.__name__


@dataclass
class _Places:
    """Objects that take part in a piece of work, with the texts that name them while it lasts."""

    slots: list[_drystone.Slot] = field(default_factory=list)
    _known: list[tuple[Any, str]] = field(default_factory=list)

    def _place(self, given: Any) -> str:
        for other, text in self._known:
            if other is given:
                return text
        slot = _drystone.Slot(_name(given), given)
        self.slots.append(slot)
        text = f"python({slot.name})"
        self._known.append((given, text))
        return text

    def policy(self, given: PolicyLike, predictor: PredictorLike | None = None) -> str:
        """The text of a policy, with a predictor where one is given."""
        if isinstance(given, str):
            _drystone.policy(given)
            text = given
        elif callable(getattr(given, "decide", None)):
            text = self._place(given)
        elif callable(given) and not isinstance(given, type):
            text = self._place_function(given)
        else:
            raise TypeError(
                f"{given!r} is no policy: expected a policy text, an object with decide(view, actions), or such a function"
            )
        if predictor is None:
            return text
        text = _drystone.with_parameter(text, "predict", self.predictor(predictor))
        _drystone.policy(text)
        return text

    def _place_function(self, given: Decide) -> str:
        for other, text in self._known:
            if isinstance(other, _Function) and other.decide is given:
                return text
        return self._place(_Function(given))

    def predictor(self, given: PredictorLike) -> str:
        """The text of a predictor."""
        if isinstance(given, str):
            return given
        if not callable(getattr(given, "predict", None)):
            raise TypeError(f"{given!r} is no predictor: expected a text such as 'recent(2)', or an object with predict(job)")
        if isinstance(given, type):
            raise TypeError(f"give an object, {given.__name__}(), and not the class")
        return self._place(given)


@contextmanager
def places() -> Iterator[_Places]:
    """Objects have places until the end; then nothing holds them any more."""
    taken = _Places()
    try:
        yield taken
    finally:
        # The extension lets go of an object when its slot goes.
        taken._known.clear()
        taken.slots.clear()


_registered: dict[str, tuple[_drystone.Slot, Any]] = {}


def register(given: PolicyLike | Predictor, *, name: str | None = None) -> str:
    """Gives a policy or predictor a name that lasts, so that study files and the command line of this process can name it.

    Returns the text that names it: ``python(NAME)`` as a policy, ``predict=python(NAME)`` as a predictor. A name in use
    is replaced.

    Examples:
        >>> import drystone as ds
        >>> class Nothing:
        ...     def decide(self, view, actions):
        ...         actions.start(view.waiting.id[view.waiting.procs <= view.free][:1])
        >>> ds.register(Nothing, name="one-at-a-time")
        'python(one-at-a-time)'
        >>> ds.unregister("one-at-a-time")
    """
    if isinstance(given, str):
        raise TypeError("a text names a policy already; register takes objects")
    if not (callable(getattr(given, "decide", None)) or callable(getattr(given, "predict", None))):
        given = _Function(cast(Decide, given))
    name = name or _name(given)
    _registered.pop(name, None)
    slot = _drystone.Slot(name, given)
    _registered[name] = (slot, given)
    return f"python({slot.name})"


def unregister(name: str) -> None:
    """Forgets a name that ``register`` gave."""
    if _registered.pop(name, None) is None:
        raise OptionError(f"there is no `{name}` to unregister; there are {', '.join(_registered) or 'none'}")


def registered() -> list[_drystone.Slot]:
    """Returns the registered objects, so that work stops where one of them raises."""
    return [slot for slot, _ in _registered.values()]


def registered_programs() -> list[tuple[_drystone.Slot, str]]:
    """Returns the registered objects with what tells them from others."""
    programs = ((slot, given.decide if isinstance(given, _Function) else given) for slot, given in _registered.values())
    return [(slot, identify_program(given)) for slot, given in programs]


@dataclass(frozen=True)
class PolicyInfo:
    """Meaning of a policy text."""

    text: str
    """As it was given."""
    canonical: str
    """The shortest text without variants and short names that means the same."""
    parameters: dict[str, str]
    """Every parameter with its value in force."""
    clairvoyant: bool
    """True if it knows run times: a bound, impossible on a real machine."""
    preemptive: bool
    """True if it suspends running jobs."""


def describe_policy(text: str) -> PolicyInfo:
    """Returns the meaning of a policy text, or raises an error that points at the mistake.

    Examples:
        >>> import drystone as ds
        >>> ds.describe_policy("easy++").canonical
        'easy(backfill=sjf,predict=recent(2))'
        >>> try:
        ...     ds.describe_policy("easy(oder=sjf)")
        ... except ds.PolicyTextError as error:
        ...     print(error.position, error.suggestion)
        5 order
    """
    canonical, parameters, clairvoyant, preemptive = _drystone.policy(text)
    return PolicyInfo(text, canonical, dict(parameters), clairvoyant, preemptive)


def policies() -> list[dict[str, Any]]:
    """Every policy by name: what it does, its source, its parameters with default, values and meaning.

    Examples:
        >>> import drystone as ds
        >>> {"easy", "slack", "goal"} <= {entry["name"] for entry in ds.policies()}
        True
    """
    return _drystone.policies()


def predictors() -> list[dict[str, Any]]:
    """Every predictor of run times by name.

    Examples:
        >>> import drystone as ds
        >>> [entry["name"] for entry in ds.predictors()][:3]
        ['estimate', 'perfect', 'recent']
    """
    return _drystone.predictors()


def texts(
    stack: ExitStack, given: Sequence[PolicyLike], predictor: PredictorLike | None = None
) -> tuple[list[str], _Places]:
    """The texts of several policies, for as long as the stack is open."""
    taken = stack.enter_context(places())
    return [taken.policy(one, predictor) for one in given], taken
