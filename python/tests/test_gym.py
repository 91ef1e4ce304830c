"""Environments: Gymnasium's own checks, the same trajectories however they are stepped, agents as policies."""

from __future__ import annotations

from typing import Any

import drystone as ds
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from drystone.gym import Agent, SchedulingEnv, VecEnv, weeks  # noqa: E402


@pytest.mark.parametrize("name", ["Pick", "StartOrWait", "Accept"])
@pytest.mark.parametrize("obs", ["default", "rlscheduler", ["wait", "procs", "user"]])
@pytest.mark.filterwarnings("ignore:.*render.*")
def test_gymnasium_checks_each(name: str, obs: Any, small: ds.Workload) -> None:
    from gymnasium.utils.env_checker import check_env

    env = gymnasium.make(f"drystone/{name}-v0", workload=small, jobs=32, obs=obs, warm="easy")
    check_env(env.unwrapped, skip_render_check=True)


def test_vector_entry_points(small: ds.Workload) -> None:
    many = gymnasium.make_vec(
        "drystone/Pick-v0", num_envs=8, vectorization_mode="vector_entry_point", workload=small, jobs=16
    )
    obs, info = many.reset(seed=1)
    assert many.observation_space.contains(obs) and many.action_space.contains(many.action_space.sample())
    assert many.unwrapped.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.NEXT_STEP
    assert info["action_mask"].shape == (8, 128)


def play(log: ds.Workload, num_envs: int, threads: int, steps: int = 400, **options: Any) -> list[bytes]:
    """Returns the observations of environment 1 while each picks by its own count."""
    env = VecEnv(log, num_envs, threads=threads, jobs=40, window=16, warm="easy", **options)
    obs, info = env.reset(seed=7)
    told = []
    for step in range(steps):
        mask = info["action_mask"]
        actions = [int(np.flatnonzero(row)[(step * 7 + at) % row.sum()]) if row.any() else 0 for at, row in enumerate(mask)]
        obs, reward, terminated, truncated, info = env.step(actions)
        told.append(obs["jobs"][1].tobytes() + obs["machine"][1].tobytes() + reward[1].tobytes() + terminated[1].tobytes())
    return told


@pytest.mark.parametrize("act", ["pick", "start_or_wait", "accept"])
def test_trajectories_are_the_same_for_threads_and_numbers(act: str, log: ds.Workload) -> None:
    alone = play(log, 2, 1, act=act)
    assert alone == play(log, 2, 2, act=act) == play(log, 11, 2, act=act) == play(log, 2, 1, act=act, copy=False)
    assert len(set(alone)) > 100


def test_one_environment_plays_what_the_first_of_many_does(log: ds.Workload) -> None:
    one, many = SchedulingEnv(log, jobs=20), VecEnv(log, 3, jobs=20, autoreset="same_step")
    (a, _), (b, _) = one.reset(seed=3), many.reset(seed=3)
    for _ in range(60):
        assert (a["jobs"] == b["jobs"][0]).all() and (a["machine"] == b["machine"][0]).all()
        a, reward, done, _, info = one.step(0)
        b, rewards, dones, _, infos = many.step(np.zeros(3, np.int32))
        assert done == dones[0] and reward == pytest.approx(float(rewards[0]), rel=1e-6)
        if done:
            assert info["episode"]["r"] == infos["episode"]["r"][0] and infos["_episode"][0]
            assert (infos["final_obs"][0]["jobs"] == a["jobs"]).all()
            a, _ = one.reset()


def test_modes_and_masks(log: ds.Workload) -> None:
    env = VecEnv(log, 2, jobs=5, window=4, autoreset="disabled")
    obs, info = env.reset(seed=1)
    assert (env.action_masks() == info["action_mask"]).all()
    while not all(env._arrays["terminated"]):
        _, _, terminated, _, info = env.step([0, 0])
    assert not info["action_mask"].any()
    # What is over stays as it is until it is reset.
    before = env._seen()["jobs"].copy()
    obs, reward, terminated, _, _ = env.step([0, 0])
    assert (obs["jobs"] == before).all() and terminated.all() and not reward.any()
    env.reset(options={"reset_mask": np.array([True, False])})
    assert env.action_masks()[0].any() and not env.action_masks()[1].any()
    # An impossible action does nothing, and is counted.
    env = VecEnv(log, 1, jobs=3, window=64)
    obs, info = env.reset(seed=1)
    impossible = int(np.flatnonzero(~info["action_mask"][0])[0])
    again, reward, *_ = env.step([impossible])
    assert (again["jobs"] == obs["jobs"]).all() and reward[0] == 0
    done = False
    while not done:
        _, _, terminated, _, info = env.step([0])
        done = bool(terminated[0])
    assert info["episode"]["impossible"][0] == 1


def test_copies(log: ds.Workload) -> None:
    kept, live = VecEnv(log, 4, jobs=20), VecEnv(log, 4, jobs=20, copy=False)
    (first, _), (same, _) = kept.reset(seed=1), live.reset(seed=1)
    before = first["jobs"].copy()
    for env in (kept, live):
        for _ in range(5):
            obs, *_ = env.step([0] * 4)
    assert (first["jobs"] == before).all() and same["jobs"] is not None
    assert np.shares_memory(same["jobs"], obs["jobs"]) and not np.shares_memory(first["jobs"], obs["jobs"])


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"jobs": 0}, "at least 1 job"),
        ({"jobs": 10**6}, "no episode of 1000000 jobs"),
        ({"act": "guess"}, "there is no `guess`"),
        ({"obs": ["waits"]}, "there is no `waits`"),
        ({"obs": ["wait", "wait"]}, "twice"),
        ({"reward": "bounded_slowdown"}, "there is no `bounded_slowdown`"),
        ({"warm": "esy"}, "Did you mean `easy`"),
        ({"predict": "tomorrow"}, "tomorrow"),
        ({"split": slice(0, 10)}, "longest range has 10 jobs"),
        ({"order": "random"}, "there is no `random`"),
        ({"act": "start_or_wait", "fill": "short"}, "fill"),
        ({"num_envs": 0}, "num_envs"),
    ],
)
def test_wrong_options(options: dict[str, Any], part: str, small: ds.Workload) -> None:
    with pytest.raises(ds.DrystoneError, match=part):
        VecEnv(small, **{"num_envs": 2, "jobs": 32, **options})


def test_wrong_actions(small: ds.Workload) -> None:
    env = VecEnv(small, 2, jobs=32, window=8)
    with pytest.raises(ds.DrystoneError, match="never reset"):
        env.step([0, 0])
    env.reset(seed=1)
    for wrong, kind, part in (
        ([0], ValueError, "shape"),
        ([0, 8], ValueError, "environment 1: 8 is no action; expected 0 to 7"),
        ([-1, 0], ValueError, "environment 0: -1 is no action"),
        ([0.5, 1.0], TypeError, "whole numbers"),
    ):
        with pytest.raises(kind, match=part):
            env.step(wrong)
    with pytest.raises(TypeError, match="is no workload"):
        VecEnv("LOG.swf", 2)  # type: ignore[arg-type]
    with pytest.raises(ds.OptionError, match="autoreset"):
        SchedulingEnv(small, autoreset="next_step")


def test_rewards(log: ds.Workload) -> None:
    def final(**options: Any) -> tuple[float, dict[str, float]]:
        env = SchedulingEnv(log, jobs=50, **options)
        env.reset(seed=4)
        total, done = 0.0, False
        while not done:
            _, reward, done, _, info = env.step(0)
            total += reward
        return total, info["episode"]

    sparse, episode = final()
    assert sparse == pytest.approx(-episode["bounded_slowdown_mean"])
    assert final(dense=True)[0] == pytest.approx(sparse, rel=1e-5)
    assert final(reward="-wait_mean")[0] == pytest.approx(-episode["wait_mean"])
    assert final(reward="utilisation")[0] == pytest.approx(episode["utilisation"]) and 0 < episode["utilisation"] <= 1
    assert final(reward=lambda told: -2 * told["wait_mean"])[0] == pytest.approx(-2 * episode["wait_mean"])
    with pytest.raises(ds.OptionError, match="dense"):
        final(reward=lambda told: 0.0, dense=True)


def test_observations_hold_no_run_times(log: ds.Workload) -> None:
    """With every run time another one, the first observations of all episodes are the same, unless an oracle is asked for."""
    changed = {name: log.jobs[name].copy() for name in log.jobs}
    changed["run"] = (changed["run"] * 3 + 17) % 5_000
    other = ds.from_arrow(changed, procs=log.procs)
    honest = ["present", "wait", "prediction", "estimate", "procs", "fits", "area", "user", "group", "queue"]

    def first(workload: ds.Workload, obs: Any) -> Any:
        env = VecEnv(workload, 64, jobs=20, obs=obs)
        assert env.clairvoyant == (obs != honest)
        seen, _ = env.reset(seed=1)
        return seen["jobs"]

    assert (first(log, honest) == first(other, honest)).all()
    assert (first(log, ["run"]) != first(other, ["run"])).any()
    env = VecEnv(log, 1, obs=["run", "procs"])
    with pytest.raises(ds.OptionError, match="no policy can know"):
        Agent(lambda obs, mask: 0, env)


def test_the_preset_equals_rlscheduler(log: ds.Workload) -> None:
    """Its observation, computed again from its definition, and its reward."""
    env = SchedulingEnv(log, jobs=256, obs="rlscheduler", order="shortest+smallest", fill="short")
    obs, _ = env.reset(seed=5)
    assert obs.shape == (128 * 8,)
    jobs, below = log.jobs, 1 - 1e-5
    first = None
    total, done = 0.0, False
    rng = np.random.default_rng(1)
    steps = []
    while not done:
        rows = obs.reshape(128, 8)
        count = int(env.action_masks().sum())
        steps.append((rows[:count].copy(), rows[count:].copy()))
        obs, reward, done, _, info = env.step(int(rng.integers(count)))
        total += reward
    first = int(info["episode"]["first"])
    # The job that arrives first stands alone in the first observation.
    seen, empty = steps[0]
    same = np.flatnonzero(jobs["submit"][first : first + 256] == jobs["submit"][first])
    for row, job in zip(seen, first + same):
        expected = [
            0.0,
            min(jobs["estimate"][job] / jobs["run"].max(), below),
            min(jobs["procs"][job] / log.procs, below),
            1.0,
            min(jobs["user"][job] / jobs["user"].max(), below),
            1.0 if jobs["group"][job] < 0 else min(jobs["group"][job] / jobs["group"].max(), below),
            1.0 if jobs["executable"][job] < 0 else min(jobs["executable"][job] / jobs["executable"].max(), below),
            below,
        ]
        assert row == pytest.approx(expected, abs=1e-6)
    for _, empty in steps:
        assert (empty == np.array([0, 1, 1, 1, 1, 1, 1, 0], np.float32)).all()
    for rows, _ in steps:
        assert (rows[:, 0] <= below).all() and set(np.round(rows[:, 7].astype(float), 6)) <= {0.00001, 0.99999}
    # The reward comes at the end: minus the mean bounded slowdown, run times of at least 10 s.
    assert total == pytest.approx(-info["episode"]["bounded_slowdown_mean"])


def test_training_and_test_weeks_are_apart(log: ds.Workload) -> None:
    training, tests = weeks(log, test=2)
    places = {name: {job for part in parts for job in range(*part.indices(len(log)))} for name, parts in
              (("training", training), ("tests", tests))}
    assert not places["training"] & places["tests"] and len(places["training"] | places["tests"]) == len(log)
    for name, parts in (("training", training), ("tests", tests)):
        env = VecEnv(log, 8, jobs=16, split=parts)
        env.reset(seed=1)
        firsts = set()
        for _ in range(200):
            *_, info = env.step([0] * 8)
            if "episode" in info:
                firsts |= {int(first) for first in info["episode"]["first"][info["_episode"]]}
        assert firsts and all(set(range(first, first + 16)) <= places[name] for first in firsts)


def test_an_agent_is_a_policy(log: ds.Workload) -> None:
    env = VecEnv(log, 2)
    oldest = Agent(lambda obs, mask: 0, env, name="oldest")
    mine, easy = ds.simulate(log, oldest), ds.simulate(log, "easy")
    assert (mine.jobs["start"] == easy.jobs["start"]).all(), "an agent that picks the oldest job is EASY"
    comparison = ds.compare(log, ["easy", "fcfs", oldest])
    assert comparison.changes("python(oldest)")["wait_mean"]["relative"] == 0.0

    def raises(obs: Any, mask: Any) -> int:
        raise ArithmeticError("no weights")

    with pytest.raises(ArithmeticError, match="no weights"):
        ds.simulate(log, Agent(raises, env))
    with pytest.raises(TypeError):
        ds.simulate(log, Agent(lambda obs, mask: None, env))
    session = ds.Session(log.procs, oldest)
    session.arrive(0, procs=1, estimate=10)
    assert session.decide(0) == [("start", 0, None)]
    with pytest.raises(ds.SnapshotError, match="cannot be saved"):
        session.save()


def test_memory_stays_flat(log: ds.Workload) -> None:
    """Thousands of episodes leave nothing behind."""
    import resource

    env = VecEnv(log, 64, jobs=32, window=32, warm="easy", copy=False)
    env.reset(seed=1)
    actions = np.zeros(64, np.int64)

    def some(steps: int) -> int:
        for _ in range(steps):
            env.step(actions)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = some(1_000)
    assert some(6_000) - before < 4_000, "kilobytes more than after the first thousand steps"


def test_one_environment_refuses_what_many_refuse(small: ds.Workload) -> None:
    env = SchedulingEnv(small, jobs=20)
    env.reset(seed=1, options={})
    for wrong, kind in ((0.5, TypeError), (True, TypeError), (np.array([0]), ValueError), (999, ValueError)):
        with pytest.raises(kind):
            env.step(wrong)
    obs, *_ = env.step(np.int32(0))
    assert env.observation_space.contains(obs)
    for reset in (env.reset, VecEnv(small, 2, jobs=20).reset):
        with pytest.raises(ds.OptionError, match="options: colour"):
            reset(options={"colour": "red"})


def test_jobs_of_several_sizes_are_refused(log: ds.Workload) -> None:
    with pytest.raises(ds.OptionError, match="one size per job"):
        VecEnv(log.reshape(share=20), 2, jobs=20)
