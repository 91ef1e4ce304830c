"""The package with some libraries and without others: one workload from whatever is installed, and the policy of the guide."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import drystone as ds
import pytest

PROGRAM = """
    import sys

    class Missing:
        # As in an environment that lacks these libraries.
        def find_spec(self, name, path=None, target=None):
            if name.split(".")[0] in {missing}:
                raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

    sys.meta_path.insert(0, Missing())
    import drystone as ds

    table = {table}
    {make}
    log = ds.from_arrow(made, procs=8)
    assert ds.from_arrow(log.jobs) == log and log.names("user") == ["alice", "bob"]
    jobs = ds.simulate(log, "easy").jobs
    {back}
    print(log.hash, jobs["start"].tolist())
    for block in {blocks}:
        exec(block)
    for library in {missing}:
        assert library not in sys.modules, library
"""

TABLE: dict[str, Any] = {
    "submit": [0, 60, 90],
    "run": [600, 7200, 30],
    "procs": [4, 8, 1],
    "user": ["alice", None, "bob"],
    "status": ["COMPLETED", "TIMEOUT", None],
}
OTHERS = {"duckdb", "gymnasium", "scipy", "sklearn"}
ENVIRONMENTS = {
    "numpy alone": (OTHERS | {"pandas", "polars", "pyarrow"}, "made = table", "assert len(jobs) == 3"),
    "pandas without pyarrow": (
        OTHERS | {"polars", "pyarrow"},
        "import pandas; made = pandas.DataFrame(table).astype({'user': 'category'})",
        "assert jobs.to_pandas()['user'].tolist()[0] == 'alice' and len(pandas.DataFrame(jobs)) == 3",
    ),
    "pandas with pyarrow": (
        OTHERS | {"polars"},
        "import pandas, pyarrow; made = pandas.DataFrame(table).convert_dtypes(dtype_backend='pyarrow')",
        "assert jobs.to_pandas()['user'].tolist()[0] == 'alice' and jobs.to_arrow().num_rows == 3",
    ),
    "polars": (
        OTHERS | {"pandas", "pyarrow"},
        "import polars; made = polars.DataFrame(table).with_columns(polars.col('status').cast(polars.Categorical))",
        "assert jobs.to_polars().height == 3",
    ),
    "all": (
        set(),
        "import duckdb, pandas, polars, pyarrow; held = polars.DataFrame(table); made = duckdb.sql('select * from held')",
        "assert jobs.to_pandas().shape == jobs.to_polars().shape",
    ),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_what_is_not_installed_is_not_needed(name: str, tmp_path: Path) -> None:
    missing, make, back = ENVIRONMENTS[name]
    if name == "all":
        pytest.importorskip("duckdb", reason="SKIPPED, not tested: DuckDB is not here")
    guide = Path(__file__).parents[2] / "docs/python.md"
    blocks = [part.split("```", 1)[0] for part in guide.read_text().split("```python\n")[1:]] if guide.exists() else []
    # The first block makes a log, on which policies of the next ones work.
    words = ("log = ds.generate", "class Easy", "except ds.ContractViolation")
    chosen = [block for block in blocks if any(word in block for word in words)]
    given = {"missing": sorted(missing), "table": TABLE, "make": make, "back": back, "blocks": chosen}
    program = textwrap.dedent(PROGRAM).format(**given)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # The second job takes the whole machine once the first has ended; the third is done before that.
    assert done.stdout.splitlines()[0] == f"{ds.from_arrow(TABLE, procs=8).hash} [0, 600, 90]"
