"""Ctrl-C ends work within a tenth of a second, and nothing ends the interpreter."""

from __future__ import annotations

import subprocess
import sys
import textwrap

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
