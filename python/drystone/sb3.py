"""Environments for Stable-Baselines3: ``drystone.gym.VecEnv`` as its ``VecEnv``, with masks for ``MaskablePPO``.

Needs ``stable_baselines3``, which needs PyTorch::

    from drystone.sb3 import SB3VecEnv
    from sb3_contrib import MaskablePPO

    env = SB3VecEnv(log, num_envs=16, jobs=256, window=32, warm="easy", obs="rlscheduler")
    model = MaskablePPO("MlpPolicy", env).learn(100_000)
    agent = env.agent(model)            # a policy: ds.compare(log, ["easy", agent])
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv as BaseVecEnv
except ImportError as error:  # pragma: no cover
    raise ImportError("drystone.sb3 needs Stable-Baselines3: pip install stable-baselines3 sb3-contrib") from error

from drystone._errors import OptionError
from drystone._workload import Workload
from drystone.gym import Agent, VecEnv

__all__ = ["SB3VecEnv"]


class SB3VecEnv(BaseVecEnv):  # type: ignore[misc]
    """Many environments in one, for Stable-Baselines3: the same arguments as ``drystone.gym.VecEnv``.

    A new episode begins in the step in which one ends: ``infos[i]["terminal_observation"]`` has the last observation, and
    ``infos[i]["episode"]`` what the episode came to. ``env_method("action_masks")`` is what ``MaskablePPO`` asks for.
    """

    def __init__(self, workload: Workload | Sequence[Workload], num_envs: int = 16, **options: Any) -> None:
        if "autoreset" in options:
            raise OptionError("autoreset: Stable-Baselines3 expects a new episode in the same step; leave it out")
        self.envs = VecEnv(workload, num_envs, autoreset="same_step", **options)
        self.render_mode = None
        self._began = time.monotonic()
        self._actions: Any = None
        super().__init__(num_envs, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> Any:
        """Begins new episodes everywhere; ``seed`` before says which."""
        options: dict[str, Any] = {}
        for given in self._options:
            options.update(given)
        # One seed is enough: every environment draws from a stream of its own.
        obs, info = self.envs.reset(seed=self._seeds[0], options=options or None)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{"action_mask": mask} for mask in info["action_mask"]]
        return obs

    def step_async(self, actions: Any) -> None:
        """Keeps the actions for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Takes the actions: observations, rewards, ends, and a dictionary for each environment."""
        obs, reward, terminated, truncated, info = self.envs.step(self._actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        for env in np.flatnonzero(done):
            episode = {name: float(values[env]) for name, values in info["episode"].items()}
            infos[env] = {
                "TimeLimit.truncated": bool(truncated[env] and not terminated[env]),
                "terminal_observation": info["final_obs"][env],
                "episode": {**episode, "t": time.monotonic() - self._began},
            }
            self.reset_infos[env] = {"action_mask": info["action_mask"][env]}
        return obs, reward, done, infos

    def close(self) -> None:
        """Closes the environments."""
        self.envs.close()

    def _chosen(self, indices: Any) -> list[int]:
        if indices is None:
            return list(range(self.num_envs))
        return [int(one) for one in indices] if isinstance(indices, Iterable) else [int(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, once for each environment: they share it."""
        value = None if attr_name == "render_mode" else getattr(self.envs, attr_name)
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: what environments are is said when they are made."""
        raise OptionError(f"{attr_name}: attributes of these environments cannot be changed; make new ones")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method: ``action_masks`` answers a mask for each environment."""
        if method_name != "action_masks":
            raise AttributeError(f"there is no method {method_name} of each environment; there is action_masks")
        masks = self.envs.action_masks()
        return [masks[env] for env in self._chosen(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Returns False for each: none is wrapped, and results of episodes come without a wrapper."""
        return [False for _ in self._chosen(indices)]

    def agent(self, model: Any, *, name: str | None = None) -> Agent:
        """A trained model as a policy, for ``simulate`` and ``compare``; it acts without chance."""
        return Agent(_ModelActs(model), self.envs, name=name or type(model).__name__)


class _ModelActs:
    """Asks a model of Stable-Baselines3 or sb3-contrib for an action."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.masks = "Maskable" in type(model).__name__

    def __deepcopy__(self, memo: object) -> _ModelActs:
        # Asked for an action, a model does not change.
        return self

    def __call__(self, obs: Any, mask: Any) -> int:
        if self.masks:
            action, _ = self.model.predict(obs, action_masks=mask, deterministic=True)
            return int(action)
        action, _ = self.model.predict(obs, deterministic=True)
        # A model without masks may choose what is not possible; the first that is stands for it.
        return int(action) if mask[int(action)] else int(np.flatnonzero(mask)[0])
