"""Environments for Stable-Baselines3, where it and PyTorch are."""

from __future__ import annotations

from typing import Any

import drystone as ds
import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("stable_baselines3", reason="SKIPPED, not tested: Stable-Baselines3 (with PyTorch) is not here")

from drystone.gym import VecEnv  # noqa: E402
from drystone.sb3 import SB3VecEnv  # noqa: E402


def test_steps_are_those_of_the_environments(small: ds.Workload) -> None:
    given: dict[str, Any] = {"jobs": 20, "window": 16, "warm": "easy"}
    ours, plain = SB3VecEnv(small, 3, **given), VecEnv(small, 3, autoreset="same_step", **given)
    ours.seed(5)
    seen, (expected, _) = ours.reset(), plain.reset(seed=5)
    ended = 0
    for _ in range(80):
        masks = np.stack(ours.env_method("action_masks"))
        assert (masks == plain.action_masks()).all() and masks.any(axis=1).all()
        actions = masks.argmax(axis=1).astype(np.int32)
        seen, reward, done, infos = ours.step(actions)
        expected, reward_again, terminated, truncated, info = plain.step(actions)
        assert all((seen[name] == expected[name]).all() for name in ("jobs", "machine"))
        assert (reward == reward_again).all() and (done == (terminated | truncated)).all()
        for env in np.flatnonzero(done):
            ended += 1
            assert (infos[env]["terminal_observation"]["jobs"] == info["final_obs"][env]["jobs"]).all()
            assert infos[env]["episode"]["r"] == pytest.approx(reward[env]) and infos[env]["episode"]["l"] <= 20
    assert ended > 5 and ours.has_attr("action_masks") and ours.env_is_wrapped(object) == [False] * 3
    with pytest.raises(ds.OptionError, match="autoreset"):
        SB3VecEnv(small, 2, autoreset="disabled")


def test_a_masked_agent_learns_and_is_a_policy(small: ds.Workload) -> None:
    contrib = pytest.importorskip("sb3_contrib", reason="SKIPPED, not tested: sb3-contrib is not here")
    env = SB3VecEnv(small, 4, jobs=20, window=16, obs="rlscheduler")
    model = contrib.MaskablePPO("MlpPolicy", env, n_steps=32, batch_size=32, n_epochs=1, seed=1)
    model.learn(256)
    assert len(ds.simulate(small, env.agent(model)).jobs) == len(small)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["Pick-v0", "StartOrWait-v0", "Accept-v0"])
@pytest.mark.parametrize("obs", ["default", "rlscheduler"])
def test_its_checker_accepts_single_environments(small: ds.Workload, kind: str, obs: str) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(gymnasium.make(f"drystone/{kind}", workload=small, jobs=20, window=16, obs=obs))
