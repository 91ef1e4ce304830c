"""Policies and predictors in Python: on the same contract, with errors that say what and where, and nothing kept behind."""

from __future__ import annotations

import gc
import traceback
import weakref
from pathlib import Path
from typing import Any

import drystone as ds
import numpy as np
import pytest


class Greedy:
    """Every job that fits starts, in the order of arrival."""

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        free = view.free
        for job, procs in zip(view.waiting.id, view.waiting.procs):
            if procs <= free:
                actions.start(job)
                free -= procs


class Fcfs:
    """Strictly in the order of arrival, by columns."""

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        waiting = view.waiting
        fit = int(np.searchsorted(np.cumsum(waiting.procs), view.free, side="right"))
        actions.start(waiting.id[:fit], why="head")


class Easy:
    """The head of the queue has a reservation, others overtake if they do not delay it."""

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        waiting, free, now = view.waiting, view.free, view.now
        ids, procs, predictions = waiting.id, waiting.procs, waiting.prediction
        head, started = 0, []
        while head < len(ids) and procs[head] <= free:
            actions.start(ids[head], why="head")
            started.append(ids[head])
            free -= int(procs[head])
            head += 1
        if head == len(ids):
            return
        # Nothing that runs is in the way of a job that is wider than what is up: none of it will be enough.
        time, extra = view.shadow(procs[head], started=started) or (float("inf"), 0)
        if time < float("inf"):
            actions.reserve(ids[head], int(time), latest=float("inf"))
        for at in range(head + 1, len(ids)):
            if procs[at] <= free and (now + predictions[at] <= time or procs[at] <= extra):
                actions.start(ids[at])
                free -= int(procs[at])
                if now + predictions[at] > time:
                    extra -= int(procs[at])


@pytest.mark.parametrize(("ours", "theirs"), [(Greedy, "greedy"), (Fcfs, "fcfs"), (Easy, "easy")])
@pytest.mark.parametrize("predictor", [None, "recent(2)", "double(estimate)"])
def test_policies_of_python_make_the_schedules_of_native_ones(
    ours: type, theirs: str, predictor: str | None, log: ds.Workload
) -> None:
    if theirs == "easy" and predictor == "recent(2)":
        # Where predictions are learned and corrected, `easy` does without passes that change nothing; the schedule is the same.
        pass
    mine, native = ds.simulate(log, ours(), predictor=predictor), ds.simulate(log, theirs, predictor=predictor)
    for column in ("start", "end", "first_prediction", "corrections"):
        assert (mine.jobs[column] == native.jobs[column]).all(), column


@pytest.mark.parametrize("overrun", ["run-on", "kill", "raise"])
def test_a_reservation_is_that_of_easy_where_jobs_outlive_their_estimates(
    overrun: Any, log: ds.Workload, tmp_path: Path
) -> None:
    """One job in three runs three times as long as its estimate, and processors are out for a while."""
    jobs = log.to_pandas()
    jobs.loc[jobs.index % 3 == 0, "run"] = jobs["estimate"] * 3
    # Every job fits what is up.
    jobs["procs"] = jobs["procs"].clip(upper=64)
    ds.from_arrow(jobs, procs=128).write(tmp_path / "log.swf")
    late = ds.read(tmp_path / "log.swf", overrun=overrun)
    assert (ds.simulate(late, Easy()).jobs["start"] == ds.simulate(late, "easy").jobs["start"]).all()
    out = tmp_path / "outages.csv"
    out.write_text("begin,end,procs\n200000,500000,40\n700000,800000,64\n")
    lost = ds.read(tmp_path / "log.swf", overrun=overrun, outages=out)
    mine, native = ds.simulate(lost, Easy()), ds.simulate(lost, "easy")
    assert (mine.jobs["start"] == native.jobs["start"]).all()
    assert (mine.jobs["start"] != ds.simulate(late, "easy").jobs["start"]).any()


def test_classes_functions_and_objects() -> None:
    log = ds.generate(jobs=200, procs=32, load=0.8, seed=3)

    def one_at_a_time(view: ds.View, actions: ds.Actions) -> None:
        fits = view.waiting.id[view.waiting.procs <= view.free]
        actions.start(fits[:1])

    first = ds.simulate(log, one_at_a_time)
    assert first.policy == "python(one_at_a_time)"
    assert (ds.simulate(log, Greedy).jobs["start"] == ds.simulate(log, Greedy()).jobs["start"]).all()
    named = Greedy()
    named.name = "my greedy, v2"  # type: ignore[attr-defined]
    assert ds.simulate(log, named).policy == "python(my_greedy__v2)"
    both = ds.compare(log, ["easy", Greedy(), Greedy(), named], baseline=named)
    assert both.policies == ["easy", "python(Greedy)", "python(Greedy-2)", "python(my_greedy__v2)"]
    assert both.baseline == "python(my_greedy__v2)"
    for wrong in (7, None, object()):
        with pytest.raises(TypeError, match="is no policy"):
            ds.simulate(log, wrong)  # type: ignore[arg-type]


def test_each_simulation_has_an_object_of_its_own() -> None:
    class Counts:
        def __init__(self) -> None:
            self.calls = 0

        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            self.calls += 1
            assert self.calls < 2_000, "it was restarted each time"
            Greedy.decide(self, view, actions)  # type: ignore[arg-type]

    log, policy = ds.generate(jobs=400, procs=32, load=0.8, seed=3), Counts()
    for _ in range(6):
        ds.simulate(log, policy)
    assert policy.calls == 0


def test_a_view_is_valid_only_inside_its_call(small: ds.Workload) -> None:
    kept: dict[str, Any] = {}

    class Keeps(Greedy):
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            if "view" in kept:
                # The same object shows the present, never the past.
                assert kept["view"] is view and kept["waiting"].id.tolist() == view.waiting.id.tolist()
            kept.update(view=view, waiting=view.waiting, actions=actions, column=view.waiting.id, job=view.waiting[0])
            super().decide(view, actions)

    ds.simulate(small, Keeps)
    view, job = kept["view"], kept["job"]
    for use in (
        lambda: view.now,
        lambda: view.waiting,
        lambda: view.job(0),
        lambda: kept["waiting"].procs,
        lambda: len(kept["waiting"]),
        lambda: view.running.id,
    ):
        with pytest.raises(RuntimeError, match="valid only inside the call"):
            use()
    with pytest.raises(RuntimeError, match="taken only inside the call"):
        kept["actions"].start(0)
    assert "no longer valid" in repr(view)
    # Copies stay what they were, and cannot be changed.
    assert job.procs > 0 and kept["column"].size >= 0
    with pytest.raises(ValueError, match="read-only"):
        kept["column"][:] = 0

    class Borrows(Greedy):
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            with pytest.raises(RuntimeError, match="valid only inside"):
                kept["view"].now
            super().decide(view, actions)

    ds.simulate(small, Borrows)


def test_what_a_policy_sees(small: ds.Workload) -> None:
    jobs = small.jobs

    class Looks(Easy):
        def __init__(self) -> None:
            self.events: list[tuple[str, int | None]] = []

        def observe(self, event: ds.Event, view: ds.View) -> None:
            assert event.job is None or view.job(event.job).submit <= view.now
            self.events.append((event.kind, event.job))
            if event.kind == "arrived":
                assert view.waiting[-1].id == event.job

        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            waiting, running = view.waiting, view.running
            assert not any(hasattr(waiting[0], name) for name in ("run", "run_time", "end"))
            assert (waiting.submit == jobs["submit"][waiting.id]).all()
            assert (waiting.procs == jobs["procs"][waiting.id]).all()
            assert (waiting.user == jobs["user"][waiting.id]).all()
            assert (waiting.submit <= view.now).all() and (np.diff(waiting.id) > 0).all()
            assert view.free == view.procs - running.procs.sum()
            assert (np.diff(running.end) >= 0).all() and (running.start <= view.now).all()
            assert len(waiting) == len(waiting.id) > 0 and len(running) == len(running.id)
            if len(running):
                assert view.ran(running.id[0]) == view.now - running.start[0]
                assert view.phase(running.id[0]) == "running"
            assert view.waited(waiting.id[0]) == view.now - waiting.submit[0]
            with pytest.raises(KeyError, match="there is no job"):
                view.job(10**6)
            with pytest.raises(TypeError, match="is no job"):
                view.job("first")  # type: ignore[arg-type]
            with pytest.raises(IndexError):
                waiting[len(waiting)]
            super().decide(view, actions)

    mine = ds.simulate(small, Looks)
    assert (mine.jobs["start"] == ds.simulate(small, "easy").jobs["start"]).all()


class Wrong(Greedy):
    """Does something wrong at the tenth pass."""

    def __init__(self, what: str) -> None:
        self.what, self.calls = what, 0

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        self.calls += 1
        if self.calls == 10:
            if self.what == "raises":
                raise LookupError("lost")
            if self.what == "too wide":
                actions.start(view.waiting.id[view.waiting.procs > view.free][:1] if view.free < 64 else [0])
            if self.what == "unknown":
                actions.start(10**6)
            if self.what == "not a job":
                actions.start("first")  # type: ignore[arg-type]
            if self.what == "negative":
                actions.start(-1)
            if self.what == "why":
                actions.start(view.waiting.id[0], why="because")
            if self.what == "suspends a job that waits":
                actions.suspend(view.waiting.id[0])
            if self.what == "predicts":
                actions.repredict(view.waiting.id[0], -5)
        super().decide(view, actions)


@pytest.mark.parametrize("what", ["unknown", "suspends a job that waits", "predicts"])
def test_what_breaks_the_contract_says_what_and_where(what: str, small: ds.Workload) -> None:
    for run in (lambda p: ds.simulate(small, p), lambda p: ds.compare(small, ["easy", p])):
        with pytest.raises(ds.ContractViolation) as caught:
            run(Wrong(what))
        error = caught.value
        assert error.at is not None and error.job is not None and error.problem and "python(Wrong)" in str(error)
    # Nothing is broken by it.
    assert len(ds.simulate(small, Greedy).jobs) == len(small)


@pytest.mark.parametrize(
    ("what", "kind", "part"),
    [
        ("raises", LookupError, "lost"),
        ("not a job", TypeError, "'first' is no job"),
        ("negative", TypeError, "-1 is no job"),
        ("why", ds.OptionError, "there is no `because`"),
    ],
)
def test_what_a_policy_raises_comes_unchanged(what: str, kind: type[Exception], part: str, small: ds.Workload) -> None:
    policy = Wrong(what)
    for run in (
        lambda: ds.simulate(small, policy),
        lambda: ds.compare(small, ["easy", policy, "fcfs"]),
        lambda: ds.simulate(small, "easy").__class__ and ds.simulate(small, policy),
    ):
        with pytest.raises(kind, match=part) as caught:
            run()
        lines = "".join(traceback.format_exception(caught.value))
        assert "in decide" in lines and __file__ in lines


def test_a_policy_that_starts_nothing_is_told_so(small: ds.Workload) -> None:
    class Idle:
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            pass

    with pytest.raises(ds.ContractViolation, match="leaves 400 waiting") as caught:
        ds.simulate(small, Idle)
    assert caught.value.job == small.jobs["job_id"][0] == 1 and "the first is job 1" in str(caught.value)
    assert "report it" not in str(caught.value)


def test_a_job_that_does_not_fit_cannot_start() -> None:
    log = ds.from_arrow({"submit": [0, 0], "run": [10, 10], "procs": [3, 3]}, procs=4)

    def all_at_once(view: ds.View, actions: ds.Actions) -> None:
        actions.start(view.waiting.id)

    with pytest.raises(ds.ContractViolation, match="cannot start on 3 processors: 1 are free") as caught:
        ds.simulate(log, all_at_once)
    # The log's number of the job, and the line that asked for it.
    assert (caught.value.at, caught.value.job) == (0, 2)
    text = str(caught.value)
    assert "job 2" in text and "report it" not in text and f"{__file__}, line {all_at_once.__code__.co_firstlineno + 1}" in text


def test_a_violation_names_the_job_as_the_log_does() -> None:
    log = ds.from_arrow({"job_id": [5, 0, 1], "submit": [0, 0, 0], "run": [10, 20, 30], "procs": [4, 4, 4]}, procs=4)
    seen: list[tuple[list[int], list[int], int]] = []

    def bad(view: ds.View, actions: ds.Actions) -> None:
        first = view.waiting[0]
        seen.append((view.waiting.job_id.tolist(), view.waiting.id.tolist(), view.job(1).job_id))
        assert first.job_id == 5 and "job_id 5" in repr(first) and view.running.job_id.tolist() == []
        actions.start(view.waiting.id)

    for run in (lambda: ds.simulate(log, bad), lambda: ds.compare(log, ["easy", bad])):
        with pytest.raises(ds.ContractViolation) as caught:
            run()
        assert caught.value.job == 0 and "job 0" in str(caught.value) and "#" not in str(caught.value)
        assert "job 0" in ds.simulate(log, "easy").explain(caught.value.job).text.splitlines()[0]
    assert seen[0] == ([5, 0, 1], [0, 1, 2], 0)
    # A predictor knows the numbers as well; a session has none.
    class Numbers:
        numbers: list[int] = []

        def predict(self, job: ds.Job) -> None:
            self.numbers.append(job.job_id)

    ds.simulate(log, "easy", predictor=Numbers())
    assert Numbers.numbers == [5, 0, 1]
    session = ds.Session(4, "easy")
    session.arrive(0, procs=1, estimate=5)
    assert session.job(0).job_id == -1


def test_the_line_is_that_of_the_request_that_failed(small: ds.Workload) -> None:
    class Twice:
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            fits = view.waiting.id[view.waiting.procs <= view.free][:1]
            actions.start(fits)
            actions.start(fits)

    with pytest.raises(ds.ContractViolation, match="cannot start: it is Running") as caught:
        ds.simulate(small, Twice)
    assert str(caught.value).endswith(f"line {Twice.decide.__code__.co_firstlineno + 3}")


def test_waking_up() -> None:
    log = ds.from_arrow({"submit": [0, 7], "run": [10, 10], "procs": [1, 1]}, procs=4)

    class Patient:
        """Starts each job a hundred seconds after it came."""

        def __init__(self) -> None:
            self.next: int | None = None

        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            ripe = view.waiting.submit + 100 <= view.now
            actions.start(view.waiting.id[ripe])
            rest = view.waiting.submit[~ripe]
            self.next = int(rest.min()) + 100 if rest.size else None

        def next_wake(self) -> int | None:
            return self.next

    assert ds.simulate(log, Patient).jobs["start"].tolist() == [100, 107]


class Last:
    """The run time of the user's last job."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}

    def predict(self, job: ds.Job) -> float:
        return min(self.last.get(job.user, job.estimate), job.estimate)

    def learn(self, job: ds.Job, ran: int, now: int) -> None:
        self.last[job.user] = ran


def test_a_predictor_is_never_shown_the_future(log: ds.Workload) -> None:
    """Run times of jobs that have not ended make no difference to what is predicted until then."""
    seen: list[tuple[int, float]] = []

    class Notes(Last):
        def predict(self, job: ds.Job) -> float:
            assert job.prediction is None and not hasattr(job, "run")
            answer = super().predict(job)
            seen.append((job.id, answer))
            return answer

        def learn(self, job: ds.Job, ran: int, now: int) -> None:
            assert ran == runs[job.id] and now >= submits[job.id] + ran, "told when it has ended, not before"
            super().learn(job, ran, now)

        def __deepcopy__(self, memo: object) -> Notes:
            return Notes()

    runs, submits = log.jobs["run"], log.jobs["submit"]
    ds.simulate(log, "easy", predictor=Notes())
    before, seen = seen[:], []
    # The last tenth of the log has other run times: all that is predicted before is the same.
    changed = {name: log.jobs[name].copy() for name in log.jobs}
    cut = int(submits[-len(log) // 10])
    changed["run"][submits >= cut] = 1
    other = ds.from_arrow(changed, procs=log.procs)
    runs = other.jobs["run"]
    ds.simulate(other, "easy", predictor=Notes())
    early = [one for one in before if submits[one[0]] < cut]
    assert early == seen[: len(early)]


def test_what_a_predictor_answers(small: ds.Workload) -> None:
    class Says:
        def __init__(self, answer: Any) -> None:
            self.answer = answer

        def predict(self, job: ds.Job) -> Any:
            return self.answer

    def starts(answer: Any) -> Any:
        return ds.simulate(small, "easy", predictor=Says(answer)).jobs["first_prediction"]

    assert (starts(None) == small.jobs["estimate"]).all()
    assert (starts(1e300) == 2**40).all() and (starts(-3) == 0).all() and (starts(12.6) == 13).all()
    for wrong, kind, part in (("soon", TypeError, "not 'soon'"), (float("nan"), ValueError, "NaN for job 0")):
        with pytest.raises(kind, match=part):
            starts(wrong)
    with pytest.raises(TypeError, match="is no predictor"):
        ds.simulate(small, "easy", predictor=object())  # type: ignore[arg-type]


def test_models_of_scikit_learn(log: ds.Workload) -> None:
    sklearn = pytest.importorskip("sklearn.ensemble")
    from drystone.sklearn import FEATURES, sklearn_predictor

    model = sklearn.HistGradientBoostingRegressor(max_iter=20, random_state=0)
    predictor = sklearn_predictor(model, FEATURES, refit_every=300)
    one, two = (ds.simulate(log, "easy++", predictor=predictor) for _ in range(2))
    assert (one.jobs["start"] == two.jobs["start"]).all(), "each run begins with a model that knows nothing"
    assert (one.jobs["first_prediction"] <= log.jobs["estimate"]).all()
    # Before the first fit estimates stand; later most predictions are learned.
    learned = one.jobs["first_prediction"] != log.jobs["estimate"]
    assert not learned[:300].any() and learned[600:].mean() > 0.5
    with pytest.raises(ds.OptionError, match="run"):
        sklearn_predictor(model, ["estimate", "run"])
    with pytest.raises(TypeError, match="no model"):
        sklearn_predictor(object())


def drive(session: ds.Session, jobs: ds.Table, until: int, state: dict[str, Any]) -> list[tuple[str, int, int | None]]:
    """Plays a workload to a session until some job, as a simulator would."""
    told: list[tuple[str, int, int | None]] = []
    while state["next"] < until or state["ends"]:
        arrival = int(jobs["submit"][state["next"]]) if state["next"] < until else None
        end = min(state["ends"])[0] if state["ends"] else None
        now = min(time for time in (arrival, end, session.deadline) if time is not None)
        for job in sorted(job for time, job in state["ends"] if time == now):
            assert session.end(now, job)
        state["ends"] = [one for one in state["ends"] if one[0] > now]
        session.expire(now)
        while state["next"] < until and jobs["submit"][state["next"]] == now:
            at = state["next"]
            user = int(jobs["user"][at])
            session.arrive(now, procs=int(jobs["procs"][at]), estimate=int(jobs["estimate"][at]), user=user)
            state["next"] += 1
        for action in session.decide(now):
            told.append(action)
            if action[0] == "start":
                state["starts"][action[1]] = now
                state["ends"].append((now + int(jobs["run"][action[1]]), action[1]))
        if until < len(jobs["submit"]) and state["next"] >= until:
            return told
    return told


@pytest.mark.parametrize(("policy", "predictor"), [("easy++", None), (Easy(), None), ("easy", Last()), (Easy(), Last())])
def test_sessions_save_and_go_on(policy: Any, predictor: Any, small: ds.Workload) -> None:
    """Half of a workload, saved, loaded into another session: the same starts as a simulation of the whole."""
    jobs = small.jobs
    state: dict[str, Any] = {"next": 0, "ends": [], "starts": {}}
    first = ds.Session(small.procs, policy, predictor=predictor)
    drive(first, jobs, len(small) // 2, state)
    second = ds.Session(small.procs, policy, predictor=predictor)
    second.load(first.save())
    drive(second, jobs, len(small), state)
    expected = ds.simulate(small, policy, predictor=predictor).jobs["start"]
    assert [state["starts"][job] for job in range(len(small))] == expected.tolist()
    with pytest.raises(ds.SnapshotError, match="another scheduler"):
        ds.Session(small.procs, "fcfs").load(first.save())
    with pytest.raises(ds.SnapshotError, match="does not begin as one"):
        second.load(b"nothing")


def test_what_cannot_be_pickled_says_so() -> None:
    class Local(Greedy):
        def __init__(self) -> None:
            self.callback = lambda: None

    session = ds.Session(4, Local())
    session.arrive(0, procs=1, estimate=10)
    assert session.decide(0) == [("start", 0, None)]
    with pytest.raises(ds.SnapshotError, match="Local.*cannot be pickled"):
        session.save()


def test_sessions_of_other_objects_are_told_apart() -> None:
    a, b = Wrong("raises"), Wrong("why")
    session = ds.Session(4, a)
    state = session.save()
    ds.Session(4, Wrong("raises")).load(state)
    for other in (b, Easy()):
        with pytest.raises(ds.SnapshotError, match="another scheduler"):
            ds.Session(4, other).load(state)


def test_a_session_after_an_error() -> None:
    session = ds.Session(4, lambda view, actions: actions.start(view.waiting.id))
    for _ in range(2):
        session.arrive(0, procs=3, estimate=10)
    with pytest.raises(ds.ContractViolation, match="cannot start on 3 processors"):
        session.decide(0)
    for use in (lambda: session.decide(1), lambda: session.free, lambda: session.save(), lambda: session.end(2, 0)):
        with pytest.raises(ds.ContractViolation, match="of no more use; begin a new one"):
            use()
    class Curious(Greedy):
        def decide(self, view: ds.View, actions: ds.Actions) -> None:
            with pytest.raises(RuntimeError, match="the session is at work"):
                curious[0].free
            super().decide(view, actions)

        def __deepcopy__(self, memo: object) -> Curious:
            return self

    curious = [ds.Session(4, Curious())]
    curious[0].arrive(0, procs=1, estimate=10)
    assert curious[0].decide(0) == [("start", 0, None)]
    session = ds.Session(4, "easy")
    for wrong in (dict(procs=5, estimate=1), dict(procs=0, estimate=1), dict(procs=1, estimate=-1)):
        with pytest.raises(ds.OptionError, match="the job"):
            session.arrive(0, **wrong)
    assert session.arrive(0, procs=1, estimate=5) == 0
    with pytest.raises(OverflowError):
        session.arrive(0, procs=-1, estimate=5)
    with pytest.raises(ds.OptionError, match="run times"):
        ds.Session(4, "easy(predict=perfect)")
    with pytest.raises(LookupError):
        raising = ds.Session(4, Wrong("raises"))
        for at in range(20):
            raising.arrive(at, procs=1, estimate=5)
            raising.decide(at)


def test_nothing_is_kept(small: ds.Workload) -> None:
    """An object is let go of when its work is done, also after errors; texts name it no more."""
    kinds = [weakref.ref(Greedy()) for _ in range(1)]
    gone: list[weakref.ref[Any]] = []
    for what in ("fine", "raises", "unknown"):
        policy = Greedy() if what == "fine" else Wrong(what)
        gone.append(weakref.ref(policy))
        try:
            ds.compare(small, ["easy", policy])
        except (LookupError, ds.ContractViolation):
            pass
        del policy
    session: Any = ds.Session(4, policy := Greedy())
    gone.append(weakref.ref(policy))
    del session, policy
    gc.collect()
    assert [one() for one in (*kinds, *gone)] == [None] * 5
    with pytest.raises(ds.PolicyTextError, match="no object `Greedy`"):
        ds.describe_policy("python(Greedy)")


def test_registered_objects_can_be_named(small: ds.Workload, tmp_path: Any) -> None:
    text = ds.register(Greedy, name="mine")
    try:
        assert text == "python(mine)" and ds.describe_policy("python(mine,predict=recent(2))").parameters
        assert (ds.simulate(small, "python(mine)").jobs["start"] == ds.simulate(small, "greedy").jobs["start"]).all()
        study = {
            "name": "mine",
            "workload": [{"name": "g", "generate": {"procs": 64, "jobs": 200, "load": 0.9}}],
            "policy": [{"policy": "python(mine)"}, {"policy": "greedy"}],
        }
        table = ds.sweep(study, store=tmp_path / "s.db", threads=2, progress=False).table
        assert table["wait_mean"][0] == table["wait_mean"][1]
        ds.register(Wrong("raises"), name="mine")
        with pytest.raises(LookupError):
            ds.simulate(small, "python(mine)")
    finally:
        ds.unregister("mine")
    with pytest.raises(ds.PolicyTextError):
        ds.simulate(small, "python(mine)")
    with pytest.raises(ds.OptionError, match="there is no `mine`"):
        ds.unregister("mine")
