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
    if module.name not in ("drystone._drystone", "drystone.__main__")
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
    guide = Path(__file__).parents[2] / "docs" / "python.md"
    if not guide.exists():
        pytest.skip("SKIPPED, not tested: the guide is not beside the tests")
    monkeypatch.chdir(tmp_path)
    blocks = [part.split("```", 1)[0] for part in guide.read_text().split("```python\n")[1:]]
    assert len(blocks) >= 8
    names: dict[str, object] = {}
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"block {number} of docs/python.md", "exec"), names)
