"""The examples in the documentation run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import drystone
import pytest

MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules(drystone.__path__, "drystone.")
    if module.name not in ("drystone._drystone", "drystone.__main__", "drystone.sb3")
)


@pytest.mark.parametrize("name", ["drystone", *MODULES])
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert tried.failed == 0


def test_every_public_name_has_an_example_or_says_what_it_is() -> None:
    for name in drystone.__all__:
        if name.startswith("__") or name in ("gym", "sklearn"):
            continue
        text = getattr(drystone, name).__doc__
        assert text and len(text) > 20, name
    for name in ("read", "from_arrow", "generate", "simulate", "compare", "sweep", "Session", "Policy", "Predictor"):
        assert ">>>" in (getattr(drystone, name).__doc__ or ""), name


def test_the_examples_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of Python in docs/python.md, one after the other, in one session."""
    monkeypatch.chdir(tmp_path)
    assert run_blocks("docs/python.md") >= 8


def test_the_examples_for_users_of_other_simulators_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_blocks("docs/python-from.md") == 3


def test_the_guide_is_short() -> None:
    path = Path(__file__).parents[2] / "docs/python.md"
    if path.exists():
        assert len(path.read_text().splitlines()) <= 300


def test_the_example_of_the_first_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: drystone.Workload) -> None:
    monkeypatch.chdir(tmp_path)
    log.write("LOG.swf.gz")
    assert run_blocks("README.md") == 1


def run_blocks(document: str) -> int:
    """Runs the blocks of Python of a document, one after the other, as they stand there; returns how many there are."""
    path = Path(__file__).parents[2] / document
    if not path.exists():
        pytest.skip(f"SKIPPED, not tested: {document} is not beside the tests")
    blocks = [part.split("```", 1)[0] for part in path.read_text().split("```python\n")[1:]]
    names: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"block {number} of {document}", "exec"), names)
    return len(blocks)
