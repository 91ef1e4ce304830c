"""Reads a store and its exports as docs/sweep.md says, by pandas and DuckDB, and holds them against each other.

Arguments: store, export as Parquet, export as CSV. Prints how many rows each reader found.
"""

import sqlite3
import sys

import duckdb
import duckdb_extensions
import pandas

store, parquet, csv = sys.argv[1:]
by_pandas = pandas.read_sql("SELECT * FROM result", sqlite3.connect(store))
# DuckDB fetches this extension itself (INSTALL sqlite) where it may; this is the same from PyPI.
duckdb_extensions.import_extension("sqlite_scanner")
duck = duckdb.connect()
duck.execute(f"LOAD sqlite; ATTACH '{store}' AS study (TYPE sqlite)")
by_duckdb = duck.sql("SELECT * FROM study.result").df()
assert list(by_duckdb.columns) == list(by_pandas.columns), by_duckdb.columns
for column in by_pandas.columns:
    ours, theirs = by_pandas[column].tolist(), by_duckdb[column].tolist()
    same = [a == b or (pandas.isna(a) and pandas.isna(b)) for a, b in zip(ours, theirs, strict=True)]
    assert all(same), (column, ours, theirs)

counts = [len(by_pandas), len(by_duckdb)]
for frame in (
    pandas.read_csv(csv),
    duck.sql(f"SELECT * FROM '{parquet}'").df(),
    duck.sql(f"SELECT * FROM '{csv}'").df(),
):
    for column in ("configuration", "policy", "wait_mean", "size"):
        assert frame[column].tolist() == by_pandas[column].tolist(), (column, frame[column])
    counts.append(len(frame))
means = duck.sql('SELECT "order", avg(wait_mean) FROM study.result GROUP BY ALL ORDER BY ALL').fetchall()
assert dict(means) == by_pandas.groupby("order").wait_mean.mean().to_dict(), means
print(*counts)
