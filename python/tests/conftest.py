"""Shared parts of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import drystone as ds
import pytest

# Threads of OpenMP that wait for each other burn the processors that other steps need.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def log() -> ds.Workload:
    """A busy machine for about two weeks."""
    return ds.generate(jobs=2_000, procs=128, load=0.9, seed=1)


@pytest.fixture(scope="session")
def small() -> ds.Workload:
    """Few jobs, for policies that are slow."""
    return ds.generate(jobs=400, procs=64, load=1.0, seed=2)


@pytest.fixture(scope="session")
def command() -> list[str]:
    """The command line of the package."""
    found = Path(sysconfig.get_path("scripts")) / "drystone"
    assert found.exists(), "the package brings the command `drystone`"
    return [str(found)]


def run(command: list[str], *words: str, **kwargs: object) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end."""
    return subprocess.run([*command, *words], capture_output=True, text=True, check=True, **kwargs)  # type: ignore[call-overload,no-any-return]


def shared(part: str) -> Path:
    """Returns a path beside the project, or skips the test with a message."""
    root = Path(os.environ.get("DRYSTONE_SHARED", Path(__file__).parents[2].parent / "shared"))
    if not (root / part).exists():
        pytest.skip(f"SKIPPED, not tested: {root / part} is not there (DRYSTONE_SHARED)")
    return root / part


@pytest.fixture
def python() -> str:
    """This interpreter, for programs of their own."""
    return shutil.which(sys.executable) or sys.executable
