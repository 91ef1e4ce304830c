"""Simulations and comparisons, and what is drawn of them."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from drystone import _drystone
from drystone._errors import DrystoneError, OptionError
from drystone._own_metric import OwnMetric, check_metrics, own_values
from drystone._policy import PolicyLike, PredictorLike, places, registered, texts
from drystone._table import Array, Table
from drystone._workload import PathLike, Workload, options, read, tell, write

__all__ = ["Comparison", "Figure", "Result", "Story", "compare", "simulate"]


class Figure:
    """A drawing: shown in a notebook, and saved as SVG, PDF or PNG. What determined it is in the file."""

    def __init__(self, plot: _drystone.Plot) -> None:
        self._plot = plot

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored_figure, (self._plot.save(),))

    @property
    def id(self) -> str:
        """Its short name."""
        return self._plot.id

    @property
    def title(self) -> str:
        """Title of the plot."""
        return self._plot.title

    @property
    def svg(self) -> str:
        """The drawing as SVG."""
        return self._plot.svg()

    def png(self, scale: float = 2.0) -> bytes:
        """The drawing as PNG, ``scale`` pixels to a unit."""
        return bytes(self._plot.png(scale))

    def pdf(self) -> bytes:
        """The drawing as PDF of one page."""
        return bytes(self._plot.pdf())

    def save(self, path: PathLike, *, scale: float = 2.0) -> None:
        """Writes ``.svg``, ``.pdf`` or ``.png``."""
        path = Path(path)
        if path.suffix.lower() == ".svg":
            write(path, self.svg.encode())
        elif path.suffix.lower() == ".pdf":
            write(path, self.pdf())
        elif path.suffix.lower() == ".png":
            write(path, self.png(scale))
        else:
            raise OptionError(f"{path}: the ending says how to write it; expected .svg, .pdf or .png")

    def __repr__(self) -> str:
        return f"<Figure {self.id}: {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg


def _restored_figure(saved: str) -> Figure:
    return Figure(_drystone.Plot.restore(saved))


class Story:
    """Explanation of a job's start: ``str(story)`` for people, ``story.data`` for programs."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.text = text
        self.data = data

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.preformatted(self.text)


class _Kept:
    """Facts of a result that was made in another process. Whatever is not among them is simulated again."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "facts" or name not in self.facts:
            raise AttributeError(name)
        value = self.facts[name]
        return value if name in ("messages", "verdict", "baseline") else lambda: value


class _PickledObjects:
    """Policies and predictors of a result, as another process has pickled them."""

    def __init__(self, objects: Any) -> None:
        self.pickled: bytes | None = None
        self.problem = ""
        try:
            self.pickled = pickle.dumps(objects)
        except Exception as error:
            self.problem = str(error)

    def unpickled(self) -> Any:
        if self.pickled is None:
            raise DrystoneError(
                f"this result came from another process, and its policy did not: it cannot be pickled ({self.problem}). Plots, pages "
                "and files are made where the result was made"
            )
        return pickle.loads(self.pickled)


class _Drawn:
    """Common part of results of one and of several policies: plots and pages."""

    _made: Any
    _data: dict[str, Any] | None = None
    _figures: dict[int, list[Figure]]
    _detailed: bool
    _objects: Any
    _run: Callable[[Any, bool], Any]
    _facts: tuple[str, ...]

    def _again(self, details: bool) -> Any:
        if isinstance(self._objects, _PickledObjects):
            self._objects = self._objects.unpickled()
        return self._run(self._objects, details)

    def _whole(self) -> Any:
        """The result itself, simulated again where it was made in another process."""
        if isinstance(self._made, _Kept):
            self._made = self._again(False)
        return self._made

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_figures": {}, "_detailed": False}
        if not isinstance(self._objects, _PickledObjects):
            state["_objects"] = _PickledObjects(self._objects)
        facts = {name: getattr(self._made, name) for name in self._facts}
        state["_made"] = _Kept({name: value() if callable(value) else value for name, value in facts.items()})
        return state

    @property
    def data(self) -> dict[str, Any]:
        """Everything, as the command line writes it with ``--format json``."""
        if self._data is None:
            self._data = json.loads(self._made.json())
        return dict(self._data or {})

    @property
    def provenance(self) -> dict[str, Any]:
        """Inputs of the result: version, workload with its hash and cleaning, settings, policies with parameters, seed."""
        data = self.data
        told = {key: data[key] for key in ("drystone", "workload", "experiment")}
        told["policies"] = [one["policy"] for one in data["results"]] if "results" in data else [data["policy"]]
        return told

    @property
    def text(self) -> str:
        """The result as tables for people, as the command line prints it."""
        return str(self._made.text())

    def plots(self, *, width: int = 820) -> list[Figure]:
        """Every plot that the result has something for."""
        if width not in self._figures:
            self._figures[width] = [Figure(plot) for plot in self._detail().plots(width)]
        return self._figures[width]

    def plot(self, kind: str = "cdf-wait", *, width: int = 820) -> Figure:
        """One plot by its name; ``plots()`` has them all."""
        figures = self.plots(width=width)
        for figure in figures:
            if figure.id == kind:
                return figure
        known = ", ".join(figure.id for figure in figures)
        raise OptionError(f"there is no plot `{kind}` of this result; there are {known}")

    def _detail(self) -> Any:
        return self._made

    def report(self, path: PathLike | None = None) -> str:
        """The whole result as one page of HTML with plots, tables and data; with a path it is written there, in the format of its
        ending: ``.html``, ``.json``, ``.csv``, ``.md``, ``.txt``."""
        made = self._detail()
        if path is not None:
            made.write_report(Path(path))
            return str(path)
        return str(made.page())

    def report_view(self, height: int = 600) -> Any:
        """The page in a notebook, in a frame of its own that reaches nothing outside."""
        from drystone import _repr

        return _repr.Frame(self.report(), height)


class Result(_Drawn):
    """Result of one policy on one workload.

    Examples:
        >>> import drystone as ds
        >>> result = ds.simulate(ds.generate(jobs=500, procs=64, load=0.9, seed=1), "easy")
        >>> result.jobs.columns[:4]
        ['job_id', 'submit', 'start', 'end']
        >>> bool((result.jobs["wait"] >= 0).all()), result["wait_mean"] == result.measures["wait_mean"]
        (True, True)
        >>> result.provenance["workload"]["hash"] == result.workload.hash
        True
    """

    _facts = ("messages", "json", "text", "measures")

    def __init__(
        self,
        made: _drystone.Outcome,
        workload: Workload,
        policy: str,
        run: Callable[[Any, bool], _drystone.Outcome],
        given: tuple[PolicyLike, PredictorLike | None],
        files: Mapping[str, PathLike | None],
    ) -> None:
        self._made = made
        self._files = files
        self._figures = {}
        self._run = run
        self._objects = given
        self._detailed = False
        self._jobs: Table | None = None
        self.workload = workload
        self.policy = policy
        self.messages = tell(made.messages)

    @property
    def jobs(self) -> Table:
        """A row per job in the order of arrival: when it started and ended, how long it waited, what was predicted of it."""
        if self._jobs is None:
            self._jobs = Table(self._whole().jobs())
        return self._jobs

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_jobs": self.jobs}

    @property
    def measures(self) -> Mapping[str, float]:
        """Every metric by name, such as ``wait_mean``; ``metrics()`` says what they mean."""
        return dict(self._made.measures())

    def __getitem__(self, metric: str) -> float:
        measures = self.measures
        if metric not in measures:
            if any(metric == known for known, *_ in _drystone.metrics()):
                raise KeyError(f"`{metric}` was not measured: no job that counts has it; {' '.join(self.messages)}".strip("; "))
            raise KeyError(f"there is no metric `{metric}` of this result; there are {', '.join(measures)}")
        return measures[metric]

    def _detail(self) -> Any:
        if not self._detailed:
            self._made, self._detailed, self._data = self._again(True), True, None
        return self._made

    def write(self, path: PathLike) -> None:
        """Writes the schedule job by job, byte for byte as ``drystone run --jobs`` does: ``.csv``, ``.parquet``, ``.swf`` and
        ``.swf.gz``, or ``jobs.csv`` of Batsim with the ending ``.batsim.csv``."""
        self._whole().write_schedule(Path(path))

    def gantt(
        self,
        start: int | None = None,
        end: int | None = None,
        *,
        colour: str = "user",
        size: tuple[int, int] = (1200, 500),
    ) -> Figure:
        """The schedule drawn, processors by time, between two seconds of the log. ``colour`` is user, class or wait."""
        plot, _ = self._gantt(start, end, colour, size)
        if plot is None:
            raise OptionError("nothing was drawn")
        return Figure(plot)

    def gantt_page(self, start: int | None = None, end: int | None = None, *, colour: str = "user") -> str:
        """Returns the Gantt chart as an HTML page with zoom and details of each job."""
        _, page = self._gantt(start, end, colour, None)
        return page or ""

    def _given_objects(self) -> tuple[PolicyLike, PredictorLike | None]:
        if isinstance(self._objects, _PickledObjects):
            self._objects = self._objects.unpickled()
        policy, predictor = self._objects
        return policy, predictor

    def _gantt(
        self, start: int | None, end: int | None, colour: str, size: tuple[int, int] | None
    ) -> tuple[_drystone.Plot | None, str | None]:
        (policy, predictor), study = self._given_objects(), self.workload.study
        window = f"{'' if start is None else start}..{'' if end is None else end}"
        with places() as taken:
            text = taken.policy(policy, predictor)
            given = {"policy": text, "as": study, "window": window, **self._files}
            words = _words(self.workload, given)
            return _drystone.gantt(self.workload._log, words, colour, size, taken.slots + registered())

    def explain(self, job: int, *, what_if: bool = True, why_not: bool = False) -> Story:
        """Explains the start of the job with this number (``job_id``). ``what_if`` adds the effect of a shorter estimate or fewer
        processors, ``why_not`` the obstacles hour by hour."""
        (policy, predictor), study = self._given_objects(), self.workload.study
        with places() as taken:
            text = taken.policy(policy, predictor)
            given = {"policy": text, "job": job, "as": study, "why_not": why_not, **self._files}
            given["no_what_if"] = not what_if and not why_not
            words = _words(self.workload, given)
            told, data = _drystone.explain(self.workload._log, words, taken.slots + registered())
        return Story(told, json.loads(data))

    def __repr__(self) -> str:
        wait = self.measures.get("wait_mean")
        mean = "" if wait is None else f", mean wait {wait / 60:.1f} min"
        return f"<Result of {self.policy} on {self.workload.name}: {len(self.workload):,} jobs{mean}>"

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.result(self)


def _workload(given: Workload | PathLike, study: str | None) -> tuple[Workload, str | None]:
    """A workload and the study whose choices hold."""
    if not isinstance(given, Workload):
        given = read(given, as_study=study)
    elif study is not None and study != given.study:
        raise OptionError(
            f"as_study={study!r}: the workload was read without it; read(..., as_study={study!r}) cleans it as the study did"
        )
    return given, given.study


def _words(workload: Workload, given: Mapping[str, object | None]) -> list[str]:
    """Options of a command on a workload."""
    return [*options(given), *workload._shaped]


def simulate(
    workload: Workload | PathLike,
    policy: PolicyLike = "easy",
    *,
    predictor: PredictorLike | None = None,
    as_study: str | None = None,
    trim: str | None = None,
    by: Sequence[str] = (),
    excess: Sequence[int | str] = (),
    seed: int = 1,
    priorities: PathLike | None = None,
    platform: PathLike | None = None,
    search_threads: int = 1,
) -> Result:
    """Simulates one policy on one workload.

    The schedule is the same, to the byte, as that of ``drystone run``. Other threads of Python run meanwhile, and Ctrl-C ends it.
    ``trim`` says which jobs count, ``by`` adds categories, ``excess`` waits beyond this many seconds,
    ``priorities`` and ``platform`` are files: all as on the command line.

    Examples:
        >>> import drystone as ds
        >>> log = ds.generate(jobs=500, procs=64, load=0.9, seed=1)
        >>> ds.simulate(log, "easy", predictor="recent(2)").policy
        'easy(predict=recent(2))'
        >>> try:
        ...     ds.simulate(log, "esy")
        ... except ds.PolicyTextError as error:
        ...     print(error.suggestion)
        easy
    """
    workload, study = _workload(workload, as_study)
    files = {"priorities": priorities, "platform": platform}
    given: dict[str, object | None] = {
        "as": study,
        "trim": trim,
        "by": list(by),
        "excess": list(excess),
        "seed": seed,
        "search_threads": search_threads,
        **files,
    }
    run = partial(_simulated, workload, given)
    with places() as taken:
        text = taken.policy(policy, predictor)
    return Result(run((policy, predictor), False), workload, text, run, (policy, predictor), files)


def _simulated(
    workload: Workload,
    given: Mapping[str, object | None],
    objects: tuple[PolicyLike, PredictorLike | None],
    details: bool,
) -> _drystone.Outcome:
    with places() as taken:
        words = _words(workload, {"policy": taken.policy(*objects), **given, "details": details})
        return _drystone.simulate(workload._log, words, taken.slots + registered())


class Comparison(_Drawn):
    """Comparison of several policies on one workload: a verdict, a table, plots.

    Examples:
        >>> import drystone as ds
        >>> log = ds.generate(jobs=8000, procs=64, load=0.9, seed=1)
        >>> comparison = ds.compare(log, ["easy", "fcfs", "easy++"])
        >>> list(comparison.table["policy"])
        ['easy', 'fcfs', 'easy++']
        >>> change = comparison.changes("fcfs")["wait_mean"]
        >>> change["relative"] > 0, change["verdict"]
        (True, 'worse')
    """

    _facts = ("messages", "json", "text", "verdict", "baseline")

    def __init__(
        self,
        made: _drystone.Judgement,
        workload: Workload,
        run: Callable[[Any, bool], _drystone.Judgement],
        given: tuple[Sequence[PolicyLike], PolicyLike | None, PredictorLike | None],
    ) -> None:
        self._made = made
        self._figures = {}
        self._run = run
        self._objects = given
        self._detailed = False
        self._table: Table | None = None
        # Metrics of the caller's own, by policy and name.
        self._own: dict[str, dict[str, dict[str, Any]]] = {}
        self.workload = workload
        self.messages = tell(made.messages)

    @property
    def verdict(self) -> str:
        """Verdict of the comparison, in sentences for decision makers."""
        return "\n".join(self._made.verdict)

    @property
    def baseline(self) -> str:
        """The policy that the others are compared with."""
        return str(self._made.baseline)

    @property
    def policies(self) -> list[str]:
        """The policies, in order."""
        return [str(text) for text in self.table["policy"]]

    @property
    def table(self) -> Table:
        """A row per policy: every metric, and its change against the baseline with the interval and what that says."""
        if self._table is None:
            self._table = Table(self._whole().table())
        return self._table if not self._own else _with_own(self._table, self._own)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_table": self._table or self.table}

    def changes(self, policy: str) -> dict[str, dict[str, Any]]:
        """By metric the change of a policy against the baseline: ``relative``, ``interval`` (two bounds or ``None``), ``verdict``.

        Beside them stand ``p``, ``p_family`` (corrected for the number of policies) and ``signs`` (weeks by their direction).
        """
        if policy not in self.policies or policy == self.baseline:
            others = [one for one in self.policies if one != self.baseline]
            raise OptionError(f"there is no change of `{policy}`; there are those of {', '.join(others)}")
        for one in self.data["comparison"]["policies"]:
            if one["name"] == policy:
                return {**{_metric(change["metric"]): change for change in one["changes"]}, **self._own.get(policy, {})}
        return {}

    def _detail(self) -> Any:
        if not self._detailed:
            self._made, self._detailed, self._data = self._again(True), True, None
        return self._made

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.policies)} on {self.workload.name}>\n{self.verdict}"

    def _repr_html_(self) -> str:
        from drystone import _repr

        return _repr.comparison(self)


def _with_own(table: Table, own: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Table:
    """A table of policies with the columns of a caller's own metrics."""
    policies = [str(policy) for policy in table["policy"]]
    parts = table._table.parts()
    for name in next(iter(own.values())):
        of = [own[policy][name] for policy in policies]
        bounds = [one["interval"] or (np.nan, np.nan) for one in of]
        for column, values in (
            (name, [one["mean"] for one in of]),
            (f"{name}_change", [one["relative"] for one in of]),
            (f"{name}_change_low", [low for low, _ in bounds]),
            (f"{name}_change_high", [high for _, high in bounds]),
        ):
            floats = np.array([np.nan if value is None else value for value in values], np.float64)
            parts.append((column, "float", floats, np.isnan(floats), None))
        parts.append((f"{name}_verdict", "text", [one["verdict"] for one in of], None, None))
    return Table(_drystone.arrays(parts))


def _metric(told: Any) -> str:
    """The name of a metric, as JSON has it: a word, or a statistic of a measure."""
    if isinstance(told, dict):
        ((statistic, measure),) = told.items()
        return f"{measure}_{statistic}"
    return str(told)


def compare(
    workload: Workload | PathLike,
    policies: Sequence[PolicyLike] | None = None,
    *,
    baseline: PolicyLike | None = None,
    all: bool = False,
    predictor: PredictorLike | None = None,
    as_study: str | None = None,
    confidence: float = 0.95,
    threads: int | None = None,
    trim: str | None = None,
    by: Sequence[str] = (),
    excess: Sequence[int | str] = (),
    loads: Sequence[float] = (),
    seed: int = 1,
    priorities: PathLike | None = None,
    platform: PathLike | None = None,
    metrics: Mapping[str, OwnMetric] | None = None,
) -> Comparison:
    """Simulates several policies on one workload and says which is better, and how sure that is.

    Without ``policies`` it compares the candidates that the command line does. Differences carry intervals from blocks
    of weeks, of the same jobs under both; a verdict counts all policies compared, and what is not decided ranks nothing.
    Policies may be texts and objects of Python; each is simulated on a copy of its own. Native policies run on ``threads`` threads at a time; objects of Python take turns.

    ``metrics`` are some of your own: functions that take the table of jobs and return a value per job, NaN where it does not count.
    Their means are compared as all others are, with intervals from sums per week; less is better. Each policy is simulated
    once more for them.

    Examples:
        >>> import drystone as ds
        >>> def shortest_first(view, actions):
        ...     free = view.free
        ...     for at in view.waiting.estimate.argsort(kind="stable"):
        ...         if view.waiting.procs[at] > free:
        ...             break
        ...         actions.start(view.waiting.id[at], why="head")
        ...         free -= view.waiting.procs[at]
        >>> log = ds.generate(jobs=1000, procs=64, load=0.8, seed=1)
        >>> ds.compare(log, ["easy", shortest_first]).policies
        ['easy', 'python(shortest_first)']
        >>> late = {"late": lambda jobs: jobs["wait"] > 3600}
        >>> ds.compare(log, ["easy", "fcfs"], metrics=late).changes("fcfs")["late"]["relative"] > 0
        True
    """
    workload, study = _workload(workload, as_study)
    if policies is not None and (isinstance(policies, str) or not len(policies)):
        raise OptionError("policies: expected a list of at least one policy, such as ['easy', 'slack']")

    given: dict[str, object | None] = {
        "all": all,
        "as": study,
        "confidence": confidence,
        "threads": threads,
        "trim": trim,
        "by": list(by),
        "excess": list(excess),
        "loads": ",".join(str(load) for load in loads) or None,
        "seed": seed,
        "priorities": priorities,
        "platform": platform,
    }
    run = partial(_compared, workload, given)
    objects = (list(policies or []), baseline, predictor)
    comparison = Comparison(run(objects, False), workload, run, objects)
    if metrics:
        if loads:
            raise OptionError("metrics: those of your own are compared at one load; leave loads out")
        shared = {name: given[name] for name in ("as", "trim", "seed", "priorities", "platform")}
        comparison._own = _own_metrics(comparison, metrics, objects, shared, confidence)
    return comparison


def _own_metrics(
    comparison: Comparison,
    metrics: Mapping[str, OwnMetric],
    objects: tuple[Sequence[PolicyLike], PolicyLike | None, PredictorLike | None],
    given: Mapping[str, object | None],
    confidence: float,
) -> dict[str, dict[str, dict[str, Any]]]:
    """By policy and metric: mean, change, interval, verdict."""
    policies, baseline, predictor = objects
    workload, known = comparison.workload, comparison.table.columns
    check_metrics(metrics)
    for name in metrics:
        if name in known:
            raise OptionError(f"metrics: `{name}` is a column already; choose another name")
    measured: dict[str, list[tuple[Array, Array]]] = {name: [] for name in metrics}
    with ExitStack() as stack:
        named, taken = texts(stack, [*policies, *([] if baseline is None else [baseline])], predictor)
        slots = taken.slots + registered()
        for policy in comparison.policies:
            # Those that the command chose have names alone.
            text = policy if policy in named or not named else named[comparison.policies.index(policy)]
            words = _words(workload, {"policy": text, **given})
            jobs = _drystone.simulate(workload._log, words, slots).jobs()
            submits = jobs.numpy("submit")
            for name, metric in metrics.items():
                measured[name].append((submits, own_values(name, metric, jobs, f", under {policy}")))
    base = comparison.policies.index(comparison.baseline)
    own: dict[str, dict[str, dict[str, Any]]] = {policy: {} for policy in comparison.policies}
    for name, values in measured.items():
        judged = _drystone.judge_metric(workload._log, values, base, confidence)
        for policy, (mean, relative, interval, p, p_family, verdict) in zip(comparison.policies, judged):
            change: dict[str, Any] = {"relative": relative, "interval": interval, "verdict": verdict, "p": p, "p_family": p_family}
            # The baseline is not compared with itself.
            if policy == comparison.baseline:
                change = dict.fromkeys(change)
            own[policy][name] = {"metric": name, "mean": mean, **change}
    return own


def _compared(
    workload: Workload,
    given: Mapping[str, object | None],
    objects: tuple[Sequence[PolicyLike], PolicyLike | None, PredictorLike | None],
    details: bool,
) -> _drystone.Judgement:
    policies, baseline, predictor = objects
    with ExitStack() as stack:
        named, taken = texts(stack, policies, predictor)
        base = None if baseline is None else taken.policy(baseline, predictor)
        words = _words(workload, {"policy": named, "baseline": base, **given, "details": details})
        return _drystone.compare(workload._log, words, taken.slots + registered())


def metrics() -> Table | list[dict[str, str]]:
    """Every metric: ``id``, ``name``, ``unit``, and whether ``more`` or ``less`` is better.

    Examples:
        >>> import drystone as ds
        >>> ds.metrics()[0]
        {'id': 'wait_mean', 'name': 'mean wait', 'unit': 'seconds', 'better': 'less'}
    """
    return [dict(zip(("id", "name", "unit", "better"), one)) for one in _drystone.metrics()]
