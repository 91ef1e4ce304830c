"""Ctrl-C ends work within a tenth of a second, and nothing ends the interpreter."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
    import os, signal, sys, threading, time
    import drystone as ds
    from drystone import _drystone
    log = ds.generate(jobs=200_000, procs=128, load=1.2, seed=1)
    class Slow:
        def decide(self, view, actions):
            time.sleep(0.001)
            actions.start(view.waiting.id[view.waiting.procs <= view.free][:1])
    work = {work}
    late = []
    def strike():
        time.sleep(0.5)
        late.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=strike).start()
    try:
        work()
    except KeyboardInterrupt:
        print("%.3f" % (time.monotonic() - late[0]))
    else:
        sys.exit("it ended by itself")
    # And the interpreter goes on.
    print(len(ds.simulate(log[:100], "easy").jobs))
"""


@pytest.mark.parametrize(
    "work",
    [
        "lambda: ds.simulate(log, 'conservative')",
        "lambda: ds.simulate(log, Slow())",
        "lambda: ds.compare(log, ['conservative', 'slack', Slow()])",
        "lambda: ds.simulate(log, 'easy(order=lxf)').explain(199_000)",
        "lambda: [ds.generate(jobs=3_000_000, procs=128, seed=1) for _ in range(9)]",
    ],
)
def test_interrupts(work: str) -> None:
    program = textwrap.dedent(PROGRAM).replace("{work}", work)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    late, jobs = done.stdout.split()
    # A tenth of a second on a quiet machine; more where others compile.
    assert float(late) < 1.0 and jobs == "100"
    assert "panicked" not in done.stderr


def test_a_panic_is_an_exception() -> None:
    """A panic, here from a view of a job that is long gone, does not end the interpreter."""
    program = """
        import drystone as ds
        class Looks:
            def decide(self, view, actions):
                try:
                    view.job(0)
                except KeyError:
                    pass
                actions.start(view.waiting.id[view.waiting.procs <= view.free][:1])
        log = ds.generate(jobs=3000, procs=64, load=0.5, seed=1)
        print(len(ds.simulate(log, Looks()).jobs))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "3000", done.stderr


LOOPS = """
    import os, signal, sys, threading, time
    import drystone as ds
    import numpy as np

    log = ds.generate(jobs=300, procs=64, load=0.9, seed=1)
    turns = 0

    def loop(*ignored):
        global turns
        while True:
            turns += 1

    def loop_in_numpy(view, actions):
        global turns
        while True:
            turns += 1
            np.sort(np.random.default_rng(1).random(1000))

    def stubborn(view, actions):
        # A bare except swallows the first interrupts.
        for _ in range(3):
            try:
                loop()
            except:
                pass
        loop()

    class Observes:
        observe = loop
        def decide(self, view, actions):
            actions.start(view.waiting.id[view.waiting.procs <= view.free][:1])

    class Wakes(Observes):
        observe = None
        next_wake = loop

    class Made:
        __init__ = loop
        def decide(self, view, actions): ...

    class Predicts:
        predict = loop

    class Learns:
        def predict(self, job): return None
        learn = loop

    def nested(view, actions):
        ds.simulate(log, loop)

    def session():
        one = ds.Session(4, loop)
        one.arrive(0, procs=1, estimate=9)
        one.decide(0)

    ds.register(loop, name="registered")

    def loop_in_reward(kind):
        from drystone.gym import SchedulingEnv, VecEnv
        env = VecEnv(log, 1, jobs=4, window=8, reward=loop) if kind == "many" else SchedulingEnv(log, jobs=4, reward=loop)
        env.reset(seed=1)
        while True:
            env.step([0] if kind == "many" else 0)

    def loop_in_agent():
        from drystone.gym import Agent, VecEnv
        ds.simulate(log, Agent(lambda seen, mask: loop(), VecEnv(log, 1, jobs=4, window=8)))

    study = {
        "name": "s", "workload": [{"name": "g", "generate": {"procs": 8, "jobs": 50, "load": 0.9}}],
        "policy": [{"policy": "python(registered)"}],
    }
    works = [
        lambda: ds.simulate(log, loop),
        lambda: ds.simulate(log, loop_in_numpy),
        lambda: ds.simulate(log, stubborn),
        lambda: ds.simulate(log, Observes()),
        lambda: ds.simulate(log, Made),
        lambda: ds.simulate(log, "easy", predictor=Predicts()),
        lambda: ds.simulate(log, "easy", predictor=Learns()),
        lambda: ds.simulate(log, nested),
        lambda: ds.compare(log, ["easy", loop, "conservative", lambda v, a: loop()], threads=2),
        lambda: ds.simulate(log, "python(registered)"),
        lambda: ds.sweep(study, store=os.path.join(sys.argv[1], "s.db"), threads=2, progress=False),
        lambda: ds.sweep({**study, "policy": [{"policy": "fcfs"}]}, store=os.path.join(sys.argv[1], "t.db"), progress=loop),
        lambda: ds.sweep(
            {**study, "policy": [{"policy": "fcfs"}]}, store=os.path.join(sys.argv[1], "u.db"), metrics={"own": loop}, progress=False
        ),
        session,
        lambda: ds.predict(log, ["estimate", Predicts()]),
        lambda: ds.whatif(log, "none", policy=loop),
        lambda: ds.whatif(log, "none", policy="python(registered)"),
        lambda: ds.foresee(log, loop, samples=2),
        lambda: ds.compare(log, ["easy", "fcfs"], metrics={"own": loop}),
        lambda: loop_in_reward("one"),
        lambda: loop_in_reward("many"),
        loop_in_agent,
    ]

    def strike():
        before = turns
        while turns == before:
            time.sleep(0.01)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    for number, work in enumerate(works):
        thread = threading.Thread(target=strike, daemon=True)
        thread.start()
        try:
            work()
        except KeyboardInterrupt:
            pass
        else:
            sys.exit(f"work {number} ended by itself")
        thread.join()
        left = turns
        time.sleep(0.1)
        if turns != left:
            sys.exit(f"work {number} goes on")
        # Registered objects work again, or rather are not broken.
        ds.simulate(log, "easy")
    print("done", len(works))
"""


def test_loops_of_python_are_interrupted_and_nothing_goes_on(tmp_path: Path) -> None:
    program = textwrap.dedent(LOOPS)
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.split() == ["done", "22"] and "Fatal" not in done.stderr


END = """
    import threading, time
    import drystone as ds
    log = ds.generate(jobs=3_000, procs=64, load=0.9, seed=1)
    begun = threading.Event()
    def loop(view, actions):
        begun.set()
        while True:
            pass
    def naps(view, actions):
        begun.set()
        time.sleep(0.3)
    work = {work}
    threading.Thread(target=work, daemon=True).start()
    begun.wait()
    print("the end")
"""


@pytest.mark.parametrize(
    "work",
    [
        "lambda: ds.simulate(log, loop)",
        "lambda: ds.compare(log, ['easy', loop])",
        "lambda: ds.simulate(log, naps)",
        "lambda: (begun.set(), ds.simulate(ds.generate(jobs=100_000, procs=64, load=1.2, seed=1), 'conservative'))",
    ],
)
def test_the_interpreter_ends_while_another_thread_simulates(work: str) -> None:
    program = textwrap.dedent(END).replace("{work}", work)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "the end\n", done.stderr
    assert "Fatal" not in done.stderr and "panicked" not in done.stderr


JOINED = """
    import concurrent.futures, os, signal, threading, time
    import drystone as ds
    log = ds.generate(jobs=300, procs=64, load=0.9, seed=1)
    begun = threading.Event()
    def loop(view, actions):
        begun.set()
        while True:
            pass
    def strike():
        begun.wait()
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=strike).start()
    {work}
"""


@pytest.mark.parametrize(
    "work",
    [
        "thread = threading.Thread(target=ds.simulate, args=(log, loop)); thread.start(); thread.join()",
        "concurrent.futures.ThreadPoolExecutor(1).submit(ds.simulate, log, loop).result()",
    ],
)
def test_ctrl_c_ends_a_program_that_waits_for_a_thread(work: str) -> None:
    program = textwrap.dedent(JOINED).replace("{work}", work)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "KeyboardInterrupt" in done.stderr
    assert "Fatal" not in done.stderr and "panicked" not in done.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_kernel_that_is_interrupted_five_times_goes_on() -> None:
    manager = pytest.importorskip("jupyter_client.manager")
    pytest.importorskip("ipykernel")
    kernel, client = manager.start_new_kernel()
    try:
        cell = "import drystone as ds, os\nlog = ds.generate(jobs=300, procs=64, load=0.9, seed=1)\nprint(os.getpid())"
        assert client.execute_interactive(cell, timeout=60, output_hook=lambda message: None)["content"]["status"] == "ok"
        for _ in range(5):
            busy = threading.Event()

            def listen(message: dict[str, Any], busy: threading.Event = busy) -> None:
                if message["msg_type"] == "stream" and not busy.is_set():
                    busy.set()
                    kernel.interrupt_kernel()

            loop = "def loop(view, actions):\n    print('in', flush=True)\n    while True: pass\nds.simulate(log, loop)"
            reply = client.execute_interactive(loop, timeout=60, output_hook=listen)
            assert reply["content"]["status"] == "error" and reply["content"]["ename"] == "KeyboardInterrupt"
        cell = "assert len(ds.simulate(log, 'easy').jobs) == 300\nimport threading\nassert threading.active_count() < 12"
        assert client.execute_interactive(cell, timeout=60, output_hook=lambda message: None)["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
