"""Typical user code, for mypy --strict."""

from __future__ import annotations

import drystone as ds
import numpy as np


class Greedy:
    name = "mine"

    def decide(self, view: ds.View, actions: ds.Actions) -> None:
        free = view.free
        for job, procs in zip(view.waiting.id, view.waiting.procs):
            if procs <= free:
                actions.start(job)
                free -= int(procs)


class Mean:
    def __init__(self) -> None:
        self.runs: dict[int, list[int]] = {}

    def predict(self, job: ds.Job) -> float | None:
        runs = self.runs.get(job.user)
        return float(np.mean(runs)) if runs else None

    def learn(self, job: ds.Job, ran: int, now: int) -> None:
        self.runs.setdefault(job.user, []).append(ran)


def once(view: ds.View, actions: ds.Actions) -> None:
    actions.start(view.waiting.id[:1])


policy: ds.Policy = Greedy()
predictor: ds.Predictor = Mean()


def study(path: str) -> str:
    log = ds.read(path, overrun="kill")
    result = ds.simulate(log, policy, predictor=predictor)
    wait: float = result["wait_mean"]
    longest = int(result.jobs["wait"].max())
    comparison = ds.compare(log[:1000], ["easy", Greedy(), Greedy, once], confidence=0.9)
    session = ds.Session(64, "easy")
    job: int = session.arrive(0, procs=4, estimate=100, user=3)
    return f"{wait} {longest} {comparison.verdict} {job} {session.decide(0)}"


def learn(log: ds.Workload) -> None:
    from drystone.gym import Agent, VecEnv, weeks

    training, tests = weeks(log)
    env = VecEnv(log, 16, split=training, reward="-wait_mean", warm="easy")
    obs, info = env.reset(seed=1)
    obs, reward, terminated, truncated, info = env.step([0] * 16)
    total: float = float(reward.sum())
    agent = Agent(lambda seen, mask: int(mask.argmax()), env)
    ds.compare(log, ["easy", agent])
    print(total, terminated.any(), tests)


def administrate(folder: str) -> str:
    machine = [f"{folder}/slurm.conf", f"{folder}/nodes.txt"]
    site = ds.import_accounting(f"{folder}/jobs.psv", out=f"{folder}/site", machine=machine, timezone="UTC")
    account: ds.Account = site.fidelity("easy", seeds=3)
    log = site.read("gpu", overrun="kill")
    later = ds.read(f"{folder}/log.swf", warm_start="7d", slice=(0, 10_000_000), outages=f"{folder}/outages.csv")
    judged: str = ds.predict(later, ["estimate", "recent(2)"]).verdict
    return account.verdict + judged + ds.compare(log, ["easy", Greedy()]).verdict
