"""Environments for schedulers that learn, for Gymnasium 1.x: many simulations that stop where an agent decides.

``VecEnv`` is many environments in one, stepped on all cores; ``SchedulingEnv`` is one. ``Agent`` makes what was learned a policy that
``drystone.compare`` sets against all others. Needs ``gymnasium``.

Examples:
    >>> import drystone as ds, gymnasium
    >>> from drystone.gym import VecEnv
    >>> log = ds.generate(jobs=2000, procs=128, load=0.9, seed=1)
    >>> envs = VecEnv([log], num_envs=4, jobs=64, window=32)
    >>> obs, info = envs.reset(seed=1)
    >>> obs["jobs"].shape, obs["machine"].shape, info["action_mask"].shape
    ((4, 32, 6), (4, 7), (4, 32))
    >>> obs, reward, terminated, truncated, info = envs.step([0, 0, 0, 0])
    >>> one = gymnasium.make("drystone/Pick-v0", workload=log, jobs=64)
    >>> one.observation_space["jobs"].shape
    (128, 6)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError as error:  # pragma: no cover
    raise ImportError("drystone.gym needs Gymnasium: pip install 'drystone[gym]'") from error

from drystone import _drystone
from drystone._errors import OptionError
from drystone._policy import Actions, View
from drystone._workload import Workload

__all__ = ["Agent", "SchedulingEnv", "VecEnv", "weeks"]

Floats: TypeAlias = npt.NDArray[np.float32]
Bools: TypeAlias = npt.NDArray[np.bool_]
Observation: TypeAlias = "dict[str, Floats] | Floats"
Split: TypeAlias = "slice | Sequence[slice] | None"
Act: TypeAlias = Literal["pick", "start_or_wait", "accept"]

WEEK = 7 * 86_400

#: Numbers of ``obs["machine"]``, in order: shares of processors, of jobs, and of processors predicted to be free.
MACHINE = ("free", "waiting", "running", "free in 10 min", "free in 1 h", "free in 4 h", "free in 1 d")


def weeks(workload: Workload, *, test: int = 5) -> tuple[list[slice], list[slice]]:
    """Weeks to train in and weeks to test in, as places of jobs: every ``test``-th week is for tests.

    Examples:
        >>> import drystone as ds
        >>> from drystone.gym import weeks
        >>> training, tests = weeks(ds.generate(jobs=5000, procs=128, load=0.9, seed=1))
        >>> len(training) > 3 * len(tests) > 0
        True
    """
    if test < 2:
        raise OptionError(f"test: every {test}-th week leaves none to train in; expected at least 2")
    submit = workload.jobs["submit"]
    week = (submit - submit[0]) // WEEK
    edges = np.flatnonzero(np.diff(week)) + 1
    bounds = [0, *(int(edge) for edge in edges), len(submit)]
    parts: tuple[list[slice], list[slice]] = ([], [])
    for start, stop in zip(bounds, bounds[1:]):
        is_test = int(week[start]) % test == test - 1
        parts[is_test].append(slice(start, stop))
    return parts


def _ranges(split: Split, jobs: int) -> list[tuple[int, int]]:
    if split is None:
        return []
    parts = [split] if isinstance(split, slice) else list(split)
    ranges = []
    for part in parts:
        start, stop, step = part.indices(jobs)
        if step != 1:
            raise OptionError(f"split: a slice of jobs has the step 1, not {step}")
        if start < stop:
            ranges.append((start, stop))
    if not ranges:
        raise OptionError("split: no job is left")
    return ranges


class _Kind:
    """Description of environments, one or many: options, spaces, forms of observations."""

    def __init__(
        self,
        workloads: Sequence[Workload],
        *,
        jobs: int,
        act: Act,
        fill: str | None,
        window: int,
        order: str,
        obs: str | Sequence[str],
        reward: str | Callable[[Mapping[str, float]], float],
        dense: bool,
        warm: str | None,
        predict: str,
        split: Split,
        base: str,
        patience: int,
        rejections: int,
        autoreset: str,
    ) -> None:
        given = dict(locals())
        self.given = {name: value for name, value in given.items() if name not in ("self", "workloads")}
        if act == "start_or_wait" and fill == "easy":
            fill = None
        self.flat = obs == "rlscheduler"
        self.judge = reward if callable(reward) else None
        self.dense = dense
        if self.judge is not None and dense:
            raise OptionError("dense: a reward that is a function of the whole episode comes at its end")
        split_of = len(workloads[0]) if workloads else 0
        if split is not None and len(workloads) > 1:
            raise OptionError("split: places of jobs are those of one workload")
        self.options = _drystone.EnvOptions(
            act=act,
            fill=fill or "none",
            jobs=jobs,
            window=window,
            order=order,
            obs=[obs] if isinstance(obs, str) else list(obs),
            reward=reward if isinstance(reward, str) else "-bounded_slowdown_mean",
            dense=dense,
            warm=warm,
            predict=predict,
            split=_ranges(split, split_of),
            base=base,
            patience=patience,
            rejections=rejections,
            autoreset=autoreset,
        )
        self.rows, self.features = self.options.shape
        self.actions = self.options.actions
        box = spaces.Box(0.0, 1.0, (self.rows, self.features), np.float32)
        machine = spaces.Box(0.0, 1.0, (self.options.machine,), np.float32)
        flat = spaces.Box(0.0, 1.0, (self.rows * self.features,), np.float32)
        self.observation_space: spaces.Space[Any] = flat if self.flat else spaces.Dict({"jobs": box, "machine": machine})
        self.action_space = spaces.Discrete(self.actions)

    def judged(self, values: dict[str, float]) -> dict[str, float]:
        """Results of an episode, with the reward of a function of one's own."""
        if self.judge is not None:
            values["r"] = float(self.judge(values))
        return values

    def shaped(self, jobs: Floats, machine: Floats, envs: int | None) -> Observation:
        """Flat arrays as observations of one or of many environments."""
        before = () if envs is None else (envs,)
        if self.flat:
            return jobs.reshape(*before, self.rows * self.features)
        return {
            "jobs": jobs.reshape(*before, self.rows, self.features),
            "machine": machine.reshape(*before, self.options.machine),
        }


def _workloads(given: Workload | Sequence[Workload]) -> list[Workload]:
    workloads = [given] if isinstance(given, Workload) else list(given)
    for workload in workloads:
        if not isinstance(workload, Workload):
            raise TypeError(f"{workload!r} is no workload: expected what drystone.read, generate or from_arrow make")
        if workload.beyond_jobs == "jobs of several sizes, or power":
            raise OptionError(
                f"{workload!r} holds {workload.beyond_jobs}, and environments know one size per job: take the log without shapes"
            )
        if workload.beyond_jobs is not None:
            raise OptionError(
                f"{workload!r} holds {workload.beyond_jobs}, and an environment plays jobs on one whole machine: "
                "read(..., pool=NAME, plain=True) takes the jobs of a site's pool alone"
            )
    if not workloads:
        raise OptionError("workload: at least one is needed")
    return workloads


def _vec_env(workloads: list[Workload], num_envs: int, given: dict[str, Any]) -> VecEnv:
    return VecEnv(workloads, num_envs, **given)


def _agent(act: Any, name: str, workload: Workload, given: dict[str, Any]) -> Agent:
    return Agent(act, VecEnv(workload, 1, threads=1, **given), name=name)


def _check_options(options: Mapping[str, Any] | None, known: Sequence[str]) -> None:
    unknown = [name for name in options or {} if name not in known]
    if unknown:
        raise OptionError(f"options: {', '.join(unknown)} means nothing to reset; it takes {', '.join(known) or 'none'}")


_WHOLE = frozenset((int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32))
"""Types of actions that are taken as they are."""


def _chosen(actions: Any, number: int) -> npt.NDArray[np.int64]:
    """Returns actions as the extension takes them; refuses anything else."""
    chosen = np.ascontiguousarray(actions)
    if chosen.shape != (number,):
        raise ValueError(f"actions have the shape {chosen.shape}; expected ({number},)")
    if chosen.dtype.kind not in "iu":
        raise TypeError(f"actions are {chosen.dtype}; expected whole numbers")
    return chosen.astype(np.int64, copy=False)


def _entropy() -> int:
    drawn = np.random.SeedSequence().entropy
    return int(drawn) % 2**63 if isinstance(drawn, int) else 0


class VecEnv(VectorEnv[Any, Any, Any]):
    """Many environments in one.

    Environment ``i`` plays ``workload[i % len(workload)]``; its ``k``-th episode is a window of ``jobs`` jobs that depends on the seed,
    ``i`` and ``k`` alone, so that trajectories are the same for any ``threads`` and any ``num_envs``.

    - ``act="pick"``: an action is the row of a waiting job. If the job fits, it starts; if not, it is next, and the machine goes on
      until it does, with gaps filled as ``fill`` says: ``"easy"`` exactly as EASY does, ``"short"`` only by jobs that end before, or
      ``None``. ``act="start_or_wait"``: the row of a job that fits, or the last action, to wait until something happens.
      ``act="accept"``: 1 starts the job that the order ``base`` proposes, 0 puts it off for at most ``patience`` seconds.
    - ``window`` rows show the waiting jobs; where more wait, ``order`` says which: ``"head"``, ``"head+tail"``, ``"shortest"``.
    - ``obs`` is ``"default"`` (present, wait, prediction, estimate, procs, fits), ``"rlscheduler"``, or a list of names. No observation
      holds a true run time; ``"run"`` has to be asked for by name, and makes ``clairvoyant`` true.
    - ``reward`` is minus a mean such as ``"-bounded_slowdown_mean"``, ``"utilisation"``, or a function of what the episode came to;
      ``dense`` gives each job's part when it starts, with the same sum.
    - ``warm`` names the policy that left the machine as an episode finds it; without it episodes begin on an empty machine.
    - ``split`` are the jobs from which episodes are taken (``weeks`` makes some for training and others for tests).
    - ``autoreset`` is ``"next_step"``, ``"same_step"`` (``info["final_obs"]`` has the last observation) or ``"disabled"``
      (``reset(options={"reset_mask": ...})``); ``metadata["autoreset_mode"]`` says which.

    ``info["action_mask"]`` says which actions are possible. An impossible action does nothing and is counted; a number that is no
    action is an error. ``info["episode"]`` has, where ``info["_episode"]`` is true, what the episode came to: rewards ``r``, steps ``l``,
    and every mean that results have.

    ``copy=False`` gives the same arrays with every step, which is faster where many environments have large observations.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        workload: Workload | Sequence[Workload],
        num_envs: int = 256,
        *,
        jobs: int = 256,
        act: Act = "pick",
        fill: str | None = "easy",
        window: int = 128,
        order: str = "head",
        obs: str | Sequence[str] = "default",
        reward: str | Callable[[Mapping[str, float]], float] = "-bounded_slowdown_mean",
        dense: bool = False,
        warm: str | None = None,
        predict: str = "estimate",
        split: Split = None,
        base: str = "sjf",
        patience: int = 600,
        rejections: int = 72,
        autoreset: Literal["next_step", "same_step", "disabled"] = "next_step",
        threads: int | None = None,
        copy: bool = True,
    ) -> None:
        workloads = _workloads(workload)
        if num_envs < 1:
            raise OptionError(f"num_envs: {num_envs} is not possible; expected at least 1")
        self._threads = threads
        self._kind = _Kind(
            workloads,
            jobs=jobs,
            act=act,
            fill=fill,
            window=window,
            order=order,
            obs=obs,
            reward=reward,
            dense=dense,
            warm=warm,
            predict=predict,
            split=split,
            base=base,
            patience=patience,
            rejections=rejections,
            autoreset=autoreset,
        )
        self.workloads = workloads
        self.num_envs = num_envs
        self.copy = copy
        modes = {
            "next_step": AutoresetMode.NEXT_STEP,
            "same_step": AutoresetMode.SAME_STEP,
            "disabled": AutoresetMode.DISABLED,
        }
        self.metadata = {"render_modes": [], "autoreset_mode": modes[autoreset]}
        self.single_observation_space = self._kind.observation_space
        self.single_action_space = self._kind.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        logs = [one._log for one in workloads]
        self._envs = _drystone.VecEnv(logs, num_envs, self._kind.options, threads or os.cpu_count() or 1)
        self._lengths = self._envs.lengths()
        self._arrays = self._new()
        self._seeded = False

    def __reduce__(self) -> tuple[Any, ...]:
        # By its arguments: it begins as a new one does.
        given = {**self._kind.given, "threads": self._threads, "copy": self.copy}
        return (_vec_env, (self.workloads, self.num_envs, given))

    @property
    def features(self) -> list[str]:
        """Names of the numbers of a row, in order."""
        return self._kind.options.features

    @property
    def clairvoyant(self) -> bool:
        """True if the agent sees true run times."""
        return self._kind.options.clairvoyant

    def _new(self) -> dict[str, Any]:
        bools = ("mask", "terminated", "truncated")
        return {
            name: np.zeros(length, np.bool_ if name in bools else np.float32) for name, length in self._lengths.items()
        }

    def _seed(self, seed: int | list[int | None] | None) -> int | None:
        """The seed to begin with; ``None`` to go on with the sequence of episodes."""
        if isinstance(seed, (list, tuple)):
            raise OptionError("seed: one seed is enough; every environment draws from a stream of its own")
        if seed is None and not self._seeded:
            seed = _entropy()
        elif seed is not None and seed < 0:
            raise OptionError(f"seed: {seed} is not possible; expected a number from 0 on")
        self._seeded = True
        return seed

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins new episodes. A seed restarts the sequence of episodes; ``options={"reset_mask": mask}`` resets some."""
        _check_options(options, ("reset_mask",))
        mask = (options or {}).get("reset_mask")
        seed = self._seed(seed)
        if self.copy and mask is None:
            self._arrays = self._new()
        elif self.copy:
            self._arrays = {name: array.copy() for name, array in self._arrays.items()}
        told = None if mask is None else [bool(one) for one in np.asarray(mask)]
        self._envs.reset(self._arrays, seed, told)
        return self._seen(), {"action_mask": self.action_masks()}

    def step(self, actions: Any) -> tuple[Observation, Floats, Bools, Bools, dict[str, Any]]:
        """Takes an action in each environment."""
        chosen = _chosen(actions, self.num_envs)
        if self.copy:
            self._arrays = self._new()
        arrays = self._arrays
        self._envs.step(chosen, arrays, self.copy)
        info: dict[str, Any] = {"action_mask": self.action_masks()}
        finished = self._envs.finished()
        if finished is not None:
            self._tell(finished, info)
        return self._seen(), arrays["reward"], arrays["terminated"], arrays["truncated"], info

    def _seen(self) -> Observation:
        return self._kind.shaped(self._arrays["jobs"], self._arrays["machine"], self.num_envs)

    def _tell(self, finished: list[tuple[int, dict[str, float]]], info: dict[str, Any]) -> None:
        """Adds the results of the episodes that ended, in the form of Gymnasium's own environments."""
        ended = np.zeros(self.num_envs, np.bool_)
        episode = {name: np.zeros(self.num_envs) for name in finished[0][1]}
        for env, values in finished:
            ended[env] = True
            if self._kind.judge is not None:
                self._kind.judged(values)
                self._arrays["reward"][env] = values["r"]
            for name, value in values.items():
                episode[name][env] = value
        info["episode"], info["_episode"] = episode, ended
        if self._lengths["final_jobs"]:
            last = np.full(self.num_envs, None, object)
            rows, machine = self._kind.rows * self._kind.features, self._kind.options.machine
            for env, _ in finished:
                jobs = self._arrays["final_jobs"][env * rows : (env + 1) * rows].copy()
                numbers = self._arrays["final_machine"][env * machine : (env + 1) * machine].copy()
                last[env] = self._kind.shaped(jobs, numbers, None)
            info["final_obs"], info["_final_obs"] = last, ended

    def action_masks(self) -> Bools:
        """Mask of the possible actions: environments × actions."""
        masks: Bools = self._arrays["mask"].reshape(self.num_envs, self._kind.actions)
        return masks

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is left open."""


class SchedulingEnv(gymnasium.Env[Any, Any]):
    """One environment: as ``VecEnv`` with one, and the same arguments. ``reset`` begins an episode; none begins by itself.

    Examples:
        >>> import drystone as ds
        >>> from drystone.gym import SchedulingEnv
        >>> env = SchedulingEnv(ds.generate(jobs=1000, procs=64, load=0.9, seed=1), jobs=32)
        >>> obs, info = env.reset(seed=1)
        >>> done = False
        >>> while not done:
        ...     obs, reward, done, truncated, info = env.step(0)
        >>> reward == -info["episode"]["bounded_slowdown_mean"], info["episode"]["l"] <= 32
        (True, True)
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, workload: Workload | Sequence[Workload], *, act: Act = "pick", **options: Any) -> None:
        for fixed in ("num_envs", "threads", "autoreset", "copy"):
            if fixed in options:
                raise OptionError(f"{fixed}: this is one environment; VecEnv is many")
        self._many = VecEnv(workload, 1, act=act, autoreset="disabled", threads=1, copy=False, **options)
        self._flat = self._many._kind.flat
        self.observation_space = self._many.single_observation_space
        self.action_space = self._many.single_action_space

    @property
    def features(self) -> list[str]:
        """Names of the numbers of a row, in order."""
        return self._many.features

    @property
    def clairvoyant(self) -> bool:
        """True if the agent sees true run times."""
        return self._many.clairvoyant

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: with a seed the first of that seed, else the next one."""
        _check_options(options, ())
        super().reset(seed=seed)
        jobs, machine, mask = self._many._envs.reset_one(self._many._seed(seed))
        return self._seen(jobs, machine), {"action_mask": mask}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes an action."""
        if type(action) not in _WHOLE:
            action = _chosen([action], 1)[0]
        (jobs, machine, mask), reward, terminated, truncated, episode = self._many._envs.step_one(action)
        info: dict[str, Any] = {"action_mask": mask}
        if episode is not None:
            # The sum that the episode came to, in full; the array has it in 32 bits.
            kind = self._many._kind
            info["episode"] = {name: float(value) for name, value in kind.judged(episode).items()}
            reward = reward if kind.dense else info["episode"]["r"]
        return self._seen(jobs, machine), reward, terminated, truncated, info

    def _seen(self, jobs: Floats, machine: Floats) -> Observation:
        return jobs.reshape(-1) if self._flat else {"jobs": jobs, "machine": machine}

    def action_masks(self) -> Bools:
        """Mask of the possible actions."""
        masks: Bools = self._many._envs.mask_one()
        return masks


class Agent:
    """A learned policy: for ``simulate`` and ``compare``, on whole logs.

    ``act(obs, mask)`` chooses an action from an observation, as in the environment ``env`` in which it was trained; the numbers are
    scaled as there. Each simulation works on a copy.

    Examples:
        >>> import drystone as ds
        >>> from drystone.gym import Agent, VecEnv
        >>> log = ds.generate(jobs=1000, procs=64, load=0.9, seed=1)
        >>> env = VecEnv(log, 8, window=64)
        >>> def shortest(obs, mask):
        ...     rows = obs["jobs"][:, 2].copy()
        ...     rows[~mask] = 2.0
        ...     return rows.argmin()
        >>> ds.compare(log, ["easy", Agent(shortest, env, name="shortest")]).policies
        ['easy', 'python(shortest)']
    """

    def __init__(
        self, act: Callable[[Any, Bools], Any], env: VecEnv | SchedulingEnv, *, name: str | None = None
    ) -> None:
        many = env._many if isinstance(env, SchedulingEnv) else env
        self.act = act
        self.name = name or getattr(act, "__name__", type(act).__name__).strip("<>")
        self._kind = many._kind
        self._trained_on = many.workloads[0]
        self._drystone_agent = _drystone.AgentSpec(many._kind.options, many.workloads[0]._log)

    def __reduce__(self) -> tuple[Any, ...]:
        # The weeks of training make no difference to what it does.
        given = {**self._kind.given, "split": None}
        return (_agent, (self.act, self.name, self._trained_on, given))

    def __deepcopy__(self, memo: dict[int, Any]) -> Agent:
        import copy

        again = object.__new__(Agent)
        again.__dict__.update(self.__dict__)
        again.act = copy.deepcopy(self.act, memo)
        return again

    def _act(self, jobs: Floats, machine: Floats, mask: Bools) -> int:
        return int(self.act(self._kind.shaped(jobs, machine, None), mask))

    def decide(self, view: View, actions: Actions) -> None:
        """Not called: the simulator asks the agent row by row."""
        raise RuntimeError("an agent decides by observations; give it to simulate or compare")


def _register() -> None:
    for name, act in (("Pick", "pick"), ("StartOrWait", "start_or_wait"), ("Accept", "accept")):
        gymnasium.register(
            id=f"drystone/{name}-v0",
            entry_point="drystone.gym:SchedulingEnv",
            vector_entry_point="drystone.gym:VecEnv",
            kwargs={"act": act},
        )


_register()
