"""Models of scikit-learn, and anything with ``fit`` and ``predict``, as predictors of run times."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from drystone._errors import OptionError
from drystone._policy import Job

__all__ = ["FEATURES", "Regressor", "sklearn_predictor"]

#: What a model may be shown of a job. The last three are of the user's jobs that have ended: their last run time, the mean of their
#: last two, and how many there were.
FEATURES = (
    "estimate",
    "procs",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "memory_kb",
    "hour",
    "weekday",
    "last_run",
    "mean_run",
    "runs",
)


class Regressor:
    """Fits a model on jobs that have ended, again after every ``refit_every`` of them, and predicts those that arrive.

    A job is shown as it was when it arrived; its run time joins the history when it ends, never before. Until the first fit, and where
    the model predicts nothing, the user's estimate stands.
    """

    def __init__(
        self,
        model: Any,
        features: Sequence[str],
        *,
        refit_every: int = 1_000,
        history: int | None = 20_000,
        clip: Literal["estimate"] | None = "estimate",
        transform: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> None:
        unknown = [feature for feature in features if feature not in FEATURES]
        if unknown or not features:
            told = ", ".join(unknown) or "none"
            raise OptionError(f"features: {told}; a model may be shown {', '.join(FEATURES)}")
        if refit_every < 1:
            raise OptionError(f"refit_every: {refit_every} is not possible; expected at least 1")
        if not (hasattr(model, "fit") and hasattr(model, "predict")):
            raise TypeError(f"{model!r} is no model: expected fit and predict")
        self.model = model
        self.features = tuple(features)
        self.refit_every = refit_every
        self.history = history
        self.clip = clip
        self.transform = transform
        self.name = name or type(model).__name__
        self._fitted = False
        self._since = 0
        self._rows: list[list[float]] = []
        self._runs: list[float] = []
        self._pending: dict[int, list[float]] = {}
        self._users: dict[int, tuple[float, float, int]] = {}

    def __fresh__(self) -> Regressor:
        """A predictor that has learned nothing yet, with a copy of the model as it was given."""
        again = copy.copy(self)
        again.model = copy.deepcopy(self.model)
        again._fitted, again._since = False, 0
        again._rows, again._runs, again._pending, again._users = [], [], {}, {}
        return again

    def _row(self, job: Job) -> list[float]:
        last, mean, runs = self._users.get(job.user, (job.estimate, job.estimate, 0))
        known = {
            "hour": job.submit // 3_600 % 24,
            "weekday": job.submit // 86_400 % 7,
            "last_run": last,
            "mean_run": mean,
            "runs": runs,
        }
        return [float(known[name] if name in known else getattr(job, name)) for name in self.features]

    def predict(self, job: Job) -> float | None:
        """The run time that the model expects of a job that arrives."""
        row = self._row(job)
        self._pending[job.id] = row
        if not self._fitted:
            return None
        value = float(np.asarray(self.model.predict(self._shown([row]))).ravel()[0])
        if not np.isfinite(value):
            return None
        return min(value, job.estimate) if self.clip == "estimate" else value

    def learn(self, job: Job, ran: int, now: int) -> None:
        """A job has ended."""
        last, _, runs = self._users.get(job.user, (float(ran), float(ran), 0))
        self._users[job.user] = (float(ran), (last + ran) / 2, runs + 1)
        self._rows.append(self._pending.pop(job.id) if job.id in self._pending else self._row(job))
        self._runs.append(float(ran))
        self._since += 1
        if self._since >= self.refit_every:
            self._since = 0
            if self.history is not None:
                self._rows, self._runs = self._rows[-self.history :], self._runs[-self.history :]
            self.model.fit(self._shown(self._rows), np.asarray(self._runs))
            self._fitted = True

    def _shown(self, rows: list[list[float]]) -> Any:
        shown = np.asarray(rows, np.float64)
        return self.transform(shown) if self.transform is not None else shown


def sklearn_predictor(
    model: Any,
    features: Sequence[str] = ("estimate", "procs", "user", "hour", "last_run", "mean_run"),
    *,
    refit_every: int = 1_000,
    history: int | None = 20_000,
    clip: Literal["estimate"] | None = "estimate",
    name: str | None = None,
) -> Regressor:
    """A model as a predictor of run times: fitted on jobs that have ended, again after every ``refit_every`` of them.

    ``history`` is how many of the last jobs it is fitted on; ``clip="estimate"`` predicts no more than the user asks for.

    Examples:
        >>> import drystone as ds
        >>> from drystone.sklearn import sklearn_predictor
        >>> from sklearn.linear_model import LinearRegression
        >>> log = ds.generate(jobs=600, procs=64, load=0.9, seed=1)
        >>> result = ds.simulate(log, "easy", predictor=sklearn_predictor(LinearRegression(), refit_every=100))
        >>> result.policy
        'easy(predict=python(LinearRegression))'
    """
    return Regressor(model, features, refit_every=refit_every, history=history, clip=clip, name=name)
