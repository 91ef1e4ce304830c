"""Types: our own code and a user's pass mypy --strict, and the stubs say what the extension has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_mypy_strict() -> None:
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_stubs_are_the_extension() -> None:
    pytest.importorskip("mypy")
    words = ["-m", "mypy.stubtest", "drystone._drystone", "--ignore-disjoint-bases"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
