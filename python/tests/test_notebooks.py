"""The notebooks run from the first cell to the last."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import shared

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["administrator", "researcher", "author", "learner"])
def test_notebook(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough to learn which way is up; the notebook itself takes two minutes.
    monkeypatch.setenv("DRYSTONE_TRAIN_SECONDS", "8")
    run_notebook(name, tmp_path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_notebook_of_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sb3_contrib", reason="SKIPPED, not tested: sb3-contrib (with PyTorch) is not here")
    # Two updates of the network; the notebook itself takes a minute of processor time.
    monkeypatch.setenv("DRYSTONE_TRAIN_STEPS", "16384")
    monkeypatch.setenv("DRYSTONE_LOG", str(shared("traces/KTH-SP2-1996-2.1-cln.swf.gz")))
    run_notebook("masked-ppo", tmp_path)


def run_notebook(name: str, tmp_path: Path) -> None:
    """Executes a copy of a notebook, all of whose cells must end without an error."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    shutil.copy(NOTEBOOKS / f"{name}.ipynb", tmp_path)
    notebook = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs and all(output.output_type != "error" for output in outputs)


def test_they_are_kept_with_what_they_printed() -> None:
    """`python/notebooks/execute` keeps text and small drawings, and nothing of the machine."""
    nbformat = pytest.importorskip("nbformat")
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert paths
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), path.name
        outputs = [output for cell in cells for output in cell.outputs]
        assert len(outputs) >= 3 and all(output.output_type != "error" for output in outputs), path.name
        assert path.stat().st_size < 100_000 and "/tmp" not in path.read_text(), path.name
