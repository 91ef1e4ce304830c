# What the extension module holds. `drystone` is what people call.
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float32]
_Bools = npt.NDArray[np.bool_]

__version__: str
__all__ = [
    "Actions",
    "AgentSpec",
    "EnvOptions",
    "Event",
    "Job",
    "Judgement",
    "Log",
    "Outcome",
    "Plot",
    "RunningJobs",
    "Said",
    "Session",
    "Slot",
    "Table",
    "VecEnv",
    "View",
    "WaitingJobs",
    "__version__",
    "advise",
    "arrays",
    "close",
    "column_names",
    "compare",
    "configurations",
    "evolve",
    "explain",
    "fidelity",
    "foresee",
    "gantt",
    "headroom",
    "import_",
    "judge_metric",
    "main",
    "metrics",
    "policies",
    "policy",
    "predict",
    "predictors",
    "query",
    "rank",
    "reproduce",
    "simulate",
    "sweep",
    "waits",
    "whatif",
    "when",
    "with_parameter",
]

def main(arguments: Sequence[str]) -> int: ...
def simulate(log: Log, options: Sequence[str], slots: Sequence[Slot]) -> Outcome: ...
def compare(log: Log, options: Sequence[str], slots: Sequence[Slot]) -> Judgement: ...
def gantt(
    log: Log, options: Sequence[str], colour: str, size: tuple[int, int] | None, slots: Sequence[Slot]
) -> tuple[Plot | None, str | None]: ...
def foresee(log: Log, options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def whatif(log: Log | None, place: str | PathLike[str] | None, options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def predict(log: Log, options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def headroom(log: Log, options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def when(
    state: str | PathLike[str], options: Sequence[str], slots: Sequence[Slot]
) -> tuple[str, str, list[str]]: ...
def fidelity(site: str | PathLike[str], options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def judge_metric(
    log: Log, policies: Sequence[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]], baseline: int, confidence: float
) -> list[
    tuple[float | None, float | None, tuple[float, float] | None, float | None, float | None, str]
]: ...
def explain(log: Log, options: Sequence[str], slots: Sequence[Slot]) -> tuple[str, str]: ...
def import_(
    files: Sequence[str | PathLike[str]], out: str | PathLike[str], options: Sequence[str]
) -> tuple[str, str, list[str]]: ...
def policies() -> list[dict[str, Any]]: ...
def predictors() -> list[dict[str, Any]]: ...
def metrics() -> list[tuple[str, str, str, str]]: ...
def policy(text: str) -> tuple[str, list[tuple[str, str]], bool, bool]: ...
def with_parameter(text: str, name: str, value: str) -> str: ...
def arrays(
    columns: Sequence[tuple[str, str, Any, Any, list[str] | None]], metadata: dict[str, str] | None = None
) -> Table: ...
def column_names() -> list[str]: ...
def close() -> bool: ...
def advise(log: Log | None, place: str | PathLike[str] | None, options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def waits(site: str | PathLike[str], options: Sequence[str]) -> Said: ...
def evolve(log: Log, also: Sequence[str | PathLike[str]], options: Sequence[str], slots: Sequence[Slot]) -> Said: ...
def reproduce(options: Sequence[str]) -> Said: ...
def sweep(
    study: str | PathLike[str],
    text: str | None,
    store: str | PathLike[str] | None,
    logs: str | PathLike[str] | None,
    threads: int,
    watch: Callable[[int, int], object] | None,
    programs: Sequence[tuple[Slot, str]],
    metrics: Sequence[tuple[str, str, Slot]],
) -> tuple[Path, tuple[int, int, int]]: ...
def query(store: str | PathLike[str], sql: str) -> Table: ...
def configurations(store: str | PathLike[str]) -> Table: ...
def rank(
    store: str | PathLike[str],
    metrics: Sequence[str],
    workloads: Sequence[str],
    against: str | None,
    confidence: float,
) -> Table: ...
@final
class Log:
    @staticmethod
    def read(path: str | PathLike[str], options: Sequence[str], plain: bool) -> tuple[Log, list[str]]: ...
    @staticmethod
    def read_bytes(bytes: bytes, title: str, options: Sequence[str]) -> tuple[Log, list[str]]: ...
    @staticmethod
    def from_arrow(
        table: Any, procs: int | None, columns: dict[str, str], name: str | None
    ) -> tuple[Log, int]: ...
    @staticmethod
    def restore(bytes: bytes) -> Log: ...
    def save(self, /) -> bytes | None: ...
    def column_names(self, /, column: str) -> list[str]: ...
    @staticmethod
    def generate(
        *,
        procs: int,
        jobs: int | None,
        days: int | None,
        load: float | None,
        seed: int,
        model: str,
        max_estimate: int,
        users: int | None,
    ) -> Log: ...
    def reshape(self, /, options: Sequence[str]) -> tuple[Log, list[str]]: ...
    def __len__(self, /) -> int: ...
    @property
    def procs(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def load(self) -> float | None: ...
    @property
    def submits(self) -> tuple[int, int] | None: ...
    @property
    def unix_start(self) -> int | None: ...
    @property
    def settings(self) -> list[tuple[str, str]]: ...
    @property
    def header(self) -> list[tuple[str, str]]: ...
    @property
    def beyond_jobs(self) -> str | None: ...
    @property
    def audit(self) -> dict[str, Any]: ...
    def table(self, /) -> Table: ...
    def piece(self, /, start: int, stop: int, name: str, value: str) -> Log: ...
    def submitted(self, /, start: int | None, stop: int | None) -> tuple[int, int]: ...
    def months(self, /) -> list[tuple[str, int, int]]: ...
    def windows(self, /, rule: str) -> list[tuple[str, int, int]]: ...
    def scale(self, /, factor: str) -> Log: ...
    def shift(self, /) -> Log: ...
    def write(self, /, path: str | PathLike[str]) -> None: ...

@final
class Table:
    @property
    def columns(self) -> list[str]: ...
    def __len__(self, /) -> int: ...
    def __arrow_c_stream__(self, /, requested_schema: object | None = None) -> object: ...
    def numpy(self, /, name: str) -> npt.NDArray[Any]: ...
    def names(self, /, name: str) -> list[str] | None: ...
    def parts(self, /) -> list[tuple[str, str, Any, Any, list[str] | None]]: ...
    def metadata(self, /) -> dict[str, str]: ...

@final
class Outcome:
    @property
    def messages(self) -> list[str]: ...
    def jobs(self, /) -> Table: ...
    def measures(self, /) -> list[tuple[str, float]]: ...
    def json(self, /) -> str: ...
    def text(self, /) -> str: ...
    def page(self, /) -> str: ...
    def plots(self, /, width: int) -> list[Plot]: ...
    def write_schedule(self, /, path: str | PathLike[str]) -> None: ...
    def write_report(self, /, path: str | PathLike[str]) -> None: ...

@final
class Judgement:
    @property
    def messages(self) -> list[str]: ...
    @property
    def verdict(self) -> list[str]: ...
    @property
    def baseline(self) -> str: ...
    def table(self, /) -> Table: ...
    def json(self, /) -> str: ...
    def text(self, /) -> str: ...
    def page(self, /) -> str: ...
    def plots(self, /, width: int) -> list[Plot]: ...
    def write_report(self, /, path: str | PathLike[str]) -> None: ...

@final
class Plot:
    def save(self, /) -> str: ...
    @staticmethod
    def restore(saved: str) -> Plot: ...
    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    def svg(self, /) -> str: ...
    def pdf(self, /) -> bytes: ...
    def png(self, /, scale: float) -> bytes: ...

@final
class Said:
    @property
    def messages(self) -> list[str]: ...
    def text(self, /) -> str: ...
    def json(self, /) -> str: ...
    def rows(self, /) -> list[list[tuple[str, str]]]: ...
    def page(self, /) -> str: ...
    def write(self, /, path: str | PathLike[str]) -> None: ...

@final
class Slot:
    def __new__(cls, name: str, object: Any) -> Slot: ...
    @property
    def name(self) -> str: ...

@final
class View:
    """View of a policy. It is valid only inside the call that received it."""

    @property
    def now(self) -> int:
        """The present, in seconds."""
    @property
    def origin(self) -> int:
        """Submit time of the first job."""
    @property
    def free(self) -> int:
        """Free processors, before anything that is decided in this call."""
    @property
    def procs(self) -> int:
        """Processors of the machine."""
    @property
    def waiting(self) -> WaitingJobs:
        """The waiting jobs in the order of their arrival."""
    @property
    def running(self) -> RunningJobs:
        """The running jobs in the order of their predicted ends."""
    @property
    def suspended(self) -> _Ints:
        """Ids of the suspended jobs in the order of their arrival."""
    def fits_now(self, /, job: int | np.integer[Any]) -> bool:
        """Returns whether all that a job asks for is free beside the starts of this call: processors, memory, devices and licences, on
        nodes that it may have."""
    def job(self, /, job: int | np.integer[Any]) -> Job:
        """Returns the known facts of a job."""
    def prediction(self, /, job: int | np.integer[Any], procs: int | np.integer[Any] | None = None) -> int:
        """Returns the predicted total run time of a job, in seconds; of a waiting one at another size than the preferred, if one
        is given."""
    def sizes(self, /, job: int | np.integer[Any]) -> _Ints:
        """Returns the sizes that a job may have, ascending: one, unless it has several."""
    def size(self, /, job: int | np.integer[Any]) -> int:
        """Returns the present size of a running job; of a waiting one the preferred."""
    def paces(self, /, job: int | np.integer[Any]) -> list[tuple[float, int]]:
        """Returns the paces of a job, the full one first: pairs of a speed as a share of the full one and of watts of each
        processor."""
    def pace(self, /, job: int | np.integer[Any]) -> int:
        """Returns the number of the present pace of a running or suspended job, from 0, the full one; 0 of any other."""
    def ran(self, /, job: int | np.integer[Any]) -> int:
        """Returns the run time of a job so far, in seconds."""
    def waited(self, /, job: int | np.integer[Any]) -> int:
        """Returns the time that a job has spent here without running, in seconds."""
    def phase(self, /, job: int | np.integer[Any]) -> str:
        """Returns the phase of a job: waiting, held, running, suspended, done."""
    def shadow(
        self, /, procs: int | np.integer[Any], started: Sequence[int | np.integer[Any]] | None = None
    ) -> tuple[int, int] | None:
        """Returns the time at which this many processors are predicted to be free, and the number left over then: the
        reservation of a blocked job under EASY. ``None`` where that is never: processors are out. ``started`` are jobs that this call starts."""

@final
class WaitingJobs:
    """The waiting jobs in the order of their arrival, as columns."""

    @property
    def id(self) -> _Ints:
        """Ids: places in the order of arrival."""
    @property
    def job_id(self) -> _Ints:
        """The log's numbers; -1 where there is no log."""
    @property
    def submit(self) -> _Ints:
        """Submit times."""
    @property
    def procs(self) -> _Ints:
        """Processors that each needs."""
    @property
    def estimate(self) -> _Ints:
        """The users' estimates."""
    @property
    def prediction(self) -> _Ints:
        """Predicted run times."""
    @property
    def user(self) -> _Ints:
        """Users."""
    @property
    def group(self) -> _Ints:
        """Groups."""
    @property
    def executable(self) -> _Ints:
        """Programs."""
    @property
    def queue(self) -> _Ints:
        """Queues."""
    @property
    def partition(self) -> _Ints:
        """Partitions."""
    @property
    def memory_kb(self) -> _Ints:
        """Memory per processor in kilobytes."""
    def __len__(self, /) -> int: ...
    def __getitem__(self, key: int, /) -> Job: ...

@final
class RunningJobs:
    """The running jobs in the order of their predicted ends, as columns."""

    @property
    def id(self) -> _Ints:
        """Ids: places in the order of arrival."""
    @property
    def job_id(self) -> _Ints:
        """The log's numbers; -1 where there is no log."""
    @property
    def end(self) -> _Ints:
        """Predicted ends; may lie in the past."""
    @property
    def procs(self) -> _Ints:
        """Processors that each holds."""
    @property
    def start(self) -> _Ints:
        """Start times of the current run."""
    @property
    def user(self) -> _Ints:
        """Users."""
    @property
    def estimate(self) -> _Ints:
        """The users' estimates."""
    def __len__(self, /) -> int: ...

@final
class Job:
    """Facts that a scheduler may know of a job. A copy: it stays valid. The run time is not in it."""

    @property
    def id(self) -> int:
        """Place in the order of arrival, from 0: what actions take."""
    @property
    def job_id(self) -> int:
        """The log's number of the job; -1 where there is no log."""
    @property
    def submit(self) -> int: ...
    @property
    def procs(self) -> int: ...
    @property
    def estimate(self) -> int: ...
    @property
    def prediction(self) -> int | None:
        """Predicted run time; `None` while it is being predicted."""
    @property
    def user(self) -> int: ...
    @property
    def group(self) -> int: ...
    @property
    def executable(self) -> int: ...
    @property
    def queue(self) -> int: ...
    @property
    def partition(self) -> int: ...
    @property
    def memory_kb(self) -> int: ...

@final
class Event:
    """Something that happened: ``kind`` is arrived, ended, repredicted, cancelled, woken, or what only a real machine has."""

    @property
    def kind(self) -> str:
        """arrived, ended, repredicted, cancelled, woken, held, released, runs, stopped, parked, capacity."""
    @property
    def job(self) -> int | None:
        """Job concerned, or `None`."""

@final
class Actions:
    """Requests of a policy in one call, in order."""

    def start(
        self,
        /,
        job: int | np.integer[Any] | Sequence[int] | _Ints,
        why: str = "backfilled",
        procs: int | np.integer[Any] | None = None,
        pace: int | np.integer[Any] = 0,
    ) -> None:
        """Starts a waiting job, or each of several; with this size, if one is given and it is one of the job's, and then at one of its
        paces by number, 0 being the full one. ``why`` is head, backfilled, planned or preempting, for people who ask."""
    def suspend(self, /, job: int | np.integer[Any]) -> None:
        """Takes a running job off its processors; it keeps its progress."""
    def resume(self, /, job: int | np.integer[Any]) -> None:
        """Lets a suspended job go on."""
    def reserve(
        self,
        /,
        job: int | np.integer[Any],
        start: int | np.integer[Any],
        latest: int | float | np.integer[Any] | None = None,
    ) -> None:
        """Announces where a waiting job is planned to start, and the latest start that is promised: the same where it is left
        out, none where it is infinite."""
    def repredict(self, /, job: int | np.integer[Any], prediction: int | np.integer[Any]) -> None:
        """Replaces the prediction of a job: its run time in total, in seconds."""

@final
class Session:
    def __new__(cls, procs: int, policy: str, slots: Sequence[Slot]) -> Session: ...
    @property
    def policy(self) -> str: ...
    def arrive(
        self,
        /,
        now: int,
        *,
        procs: int,
        estimate: int,
        user: int = ...,
        group: int = ...,
        executable: int = ...,
        queue: int = ...,
        partition: int = ...,
        memory_kb: int = ...,
    ) -> int: ...
    def end(self, /, now: int, job: int) -> bool: ...
    def expire(self, /, now: int) -> None: ...
    def cancel(self, /, now: int, job: int) -> bool: ...
    def decide(self, /, now: int) -> list[tuple[str, int, int | None]]: ...
    @property
    def deadline(self) -> int | None: ...
    @property
    def free(self) -> int: ...
    @property
    def waiting(self) -> list[int]: ...
    @property
    def running(self) -> list[int]: ...
    def job(self, /, job: int) -> Job: ...
    def save(self, /) -> bytes: ...
    def load(self, /, state: bytes) -> None: ...

@final
class EnvOptions:
    def __new__(
        cls,
        *,
        act: str,
        fill: str,
        jobs: int,
        window: int,
        order: str,
        obs: Sequence[str],
        reward: str,
        dense: bool,
        warm: str | None,
        predict: str,
        split: Sequence[tuple[int, int]],
        base: str,
        patience: int,
        rejections: int,
        autoreset: str,
    ) -> EnvOptions: ...
    @property
    def actions(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def machine(self) -> int: ...
    @property
    def features(self) -> list[str]: ...
    @property
    def clairvoyant(self) -> bool: ...

@final
class VecEnv:
    def __new__(cls, logs: Sequence[Log], number: int, options: EnvOptions, threads: int) -> VecEnv: ...
    def lengths(self, /) -> dict[str, int]: ...
    def reset(self, /, arrays: dict[str, Any], seed: int | None, mask: Sequence[bool] | None) -> None: ...
    def step(self, /, actions: _Ints, arrays: dict[str, Any], fresh: bool) -> None: ...
    def finished(self, /) -> list[tuple[int, dict[str, float]]] | None: ...
    def reset_one(self, /, seed: int | None) -> tuple[_Floats, _Floats, _Bools]: ...
    def step_one(
        self, /, action: int
    ) -> tuple[tuple[_Floats, _Floats, _Bools], float, bool, bool, dict[str, float] | None]: ...
    def mask_one(self, /) -> _Bools: ...

@final
class AgentSpec:
    def __new__(cls, options: EnvOptions, trained_on: Log) -> AgentSpec: ...
    def __deepcopy__(self, /, _memo: object) -> AgentSpec: ...
