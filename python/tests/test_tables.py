"""Tables of every library and type: one workload from all of them, or one error with column and row."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import drystone as ds
import numpy as np
import pytest

BASE: dict[str, Any] = {"submit": [0, 5, 9], "run": [10, 20, 30], "procs": [1, 2, 3]}


def of(procs: int = 4, **columns: Any) -> ds.Workload:
    return ds.from_arrow({**BASE, **columns}, procs=procs)


def test_states_of_jobs_are_read() -> None:
    words = ["COMPLETED", "FAILED", "CANCELLED by 1000", "TIMEOUT", "OOM", "cd", "RUNNING", None, "", "1", "0"]
    table = {"submit": range(11), "run": [9] * 11, "procs": [1] * 11, "status": words}
    # A job without a state is unknown, as in logs, whether the cell is empty or null.
    assert ds.from_arrow(table, procs=4).jobs["status"].tolist() == [1, 0, 5, 0, 0, 1, -1, -1, -1, 1, 0]
    assert of(status=[1.0, None, 5.0]).jobs["status"].tolist() == [1, -1, 5]
    assert of().jobs["status"].tolist() == [1, 1, 1]
    counted = ds.simulate(of(status=["COMPLETED", "FAILED", "COMPLETED"]), "easy", trim="completed").jobs["counted"]
    assert counted.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("01:00:00", 3600),
        ("1-02:03:04", 93784),
        ("90:30", 5430),
        ("2-00", 172800),
        ("1-06:30", 109800),
        ("0 days 01:00:00", 3600),
        ("1 day, 2:00:00.5", 93601),
        ("00:00:09.4", 9),
        ("3600", 3600),
        ("59.5", 60),
        ("2h", 7200),
        ("1d12h", 129600),
        ("90 min", 5400),
        ("1.5 days", 129600),
        ("PT1H30M", 5400),
        ("P1DT2H", 93600),
        ("P0DT0H0M9.5S", 10),
    ],
)
def test_texts_of_durations(text: str, seconds: int) -> None:
    assert of(estimate=[text] * 3).jobs["estimate"].tolist() == [seconds] * 3
    assert of(run=[text] * 3).jobs["run"].tolist() == [seconds] * 3


@pytest.mark.parametrize(("text", "kilobytes"), [("4G", 4 << 20), ("512M", 512 << 10), ("1.5GiB", 3 << 19), ("2000", 2000), ("4Gc", 4 << 20)])
def test_texts_of_memory(text: str, kilobytes: int) -> None:
    assert of(memory_kb=[text] * 3).jobs["memory_kb"].tolist() == [kilobytes] * 3


def test_no_limit_is_what_it_is_in_logs() -> None:
    import pandas
    import polars

    for none in ([50, None, -1], [50.0, float("nan"), -1.0], ["50", "UNLIMITED", "Partition_Limit"], ["50", None, ""], [50.0, np.inf, -1.0], ["50", "inf", "INFINITE"]):
        for made in (
            {**BASE, "estimate": none},
            pandas.DataFrame({**BASE, "estimate": none}),
            polars.DataFrame({**BASE, "estimate": none}),
        ):
            log = ds.from_arrow(made, procs=4)
            assert log.jobs["estimate"].tolist() == [50, 20, 30] and "2 jobs have no limit" in log.messages[0]


@pytest.mark.parametrize(
    ("column", "values", "row", "part"),
    [
        ("status", ["COMPLETED", "LOST", "FAILED"], 1, "the text `LOST`"),
        ("estimate", ["01:00:00", "soon", "1"], 1, "the text `soon`"),
        ("estimate", [5, 5, -7], 2, "-7 is not possible"),
        ("run", ["00:10:00", "long", "9"], 1, "the text `long`"),
        ("procs", ["1", "two", "3"], 1, "the text `two`"),
        ("procs", [1, 2.5, 3], 1, "2.5 is no whole number"),
        ("job_id", ["1234_1", "1234_2", "77"], 0, "the text `1234_1`"),
        ("estimate", ["P1M", "1h", "1h"], 0, "the text `P1M`"),
        ("estimate", ["1h", "1h30", "1h"], 1, "the text `1h30`"),
        ("run", ["UNLIMITED", "1h", "1h"], 0, "the text `UNLIMITED`"),
        ("run", [1.0, np.inf, 1.0], 1, "inf is too large"),
        ("status", [1, 7, 0], 1, "7 is not possible; expected -1 to 5"),
        ("status", ["1", "0", "127"], 2, "127 is not possible"),
        ("memory_kb", [-1, 0, -5], 2, "-5 is not possible"),
        ("memory_kb", ["4G", "2X", "4G"], 1, "the text `2X`"),
        ("memory_kb", ["4Gn", "2G", "4G"], 0, "the text `4Gn`"),
        ("user", [1, 2, 2.5], 2, "2.5 is no whole number"),
        ("job_id", [1, 2**63, 3], 1, "is too large"),
        ("procs", [True, True, True], None, "truth values|Boolean"),
        ("run", [datetime.datetime(2026, 1, 1)] * 3, None, "timestamps or dates"),
        ("submit", ["2026-01-05 08:00"] * 3, None, "holds texts"),
        ("user", [[1], [2], [3]], None, "holds|dimensions"),
    ],
)
def test_values_that_cannot_be_say_where(column: str, values: list[Any], row: int | None, part: str) -> None:
    import pandas
    import polars

    forms: list[Any] = [{**BASE, column: values}, pandas.DataFrame({**BASE, column: values})]
    if not any(isinstance(value, float) or value == 2**63 for value in values if not isinstance(value, list)):
        forms.append(polars.DataFrame({**BASE, column: values}))
    for made in forms:
        with pytest.raises(ds.LogError) as caught:
            ds.from_arrow(made, procs=4)
        assert any(one in str(caught.value) for one in part.split("|")), (type(made), str(caught.value))
        assert caught.value.field == column and caught.value.line == row, (type(made), str(caught.value))


def test_values_of_several_kinds_say_where() -> None:
    with pytest.raises(ds.LogError, match="row 1: 'a' stands among") as caught:
        of(run=[1, "a", 3])
    assert (caught.value.field, caught.value.line) == ("run", 1)


def test_whole_numbers_of_arrow_with_gaps_stay_whole() -> None:
    import pandas
    import polars
    import pyarrow

    large = 2**60 + 1
    for made in (
        {**BASE, "job_id": pyarrow.array([large, None, 3])},
        {**BASE, "job_id": pyarrow.chunked_array([[large], [None, 3]])},
        {**BASE, "job_id": polars.Series([large, None, 3])},
        {**BASE, "job_id": pandas.array([large, None, 3], dtype="Int64")},
        pandas.DataFrame({**BASE, "job_id": pandas.array([large, None, 3], dtype="int64[pyarrow]")}),
        polars.DataFrame({**BASE, "job_id": [large, None, 3]}),
    ):
        assert ds.from_arrow(made, procs=4).jobs["job_id"].tolist() == [large, 2, 3]


def test_frames_of_polars_as_they_are() -> None:
    import polars

    frame = polars.DataFrame({**BASE, "nothing": [None] * 3, "wide": polars.Series([2**100] * 3, dtype=polars.Int128)})
    plain = ds.from_arrow(BASE, procs=4)
    # Columns that are not read may hold anything; a column of nulls is one without values.
    for made in (frame, frame.lazy(), frame.with_columns(polars.col("nothing").alias("estimate"))):
        assert ds.from_arrow(made, procs=4) == plain
    assert ds.from_arrow(frame.with_columns(polars.col("run").cast(polars.Int128)), procs=4) == plain
    with pytest.raises(ds.LogError, match="column `user`, row 0: 1267650600228229401496703205376 is too large"):
        ds.from_arrow(frame.with_columns(polars.col("wide").alias("user")), procs=4)
    with pytest.raises(ds.LogError, match="there is no column `run`.*the table has submit, procs, nothing, wide;"):
        ds.from_arrow(frame.drop("run"), procs=4)


def test_times_of_objects() -> None:
    berlin, utc = datetime.timezone(datetime.timedelta(hours=1)), datetime.timezone.utc
    moments = [datetime.datetime(2026, 1, 1, 1, tzinfo=berlin), datetime.datetime(2026, 1, 1, 1, tzinfo=utc), None]
    with pytest.raises(ds.LogError, match="row 2: nothing stands there"):
        of(submit=moments)
    moments[2] = datetime.datetime(2026, 1, 1, 2)
    with pytest.raises(ds.LogError, match="row 2: 2026-01-01 02:00:00 has no time zone, others have one"):
        of(submit=moments)
    moments[2] = datetime.datetime(2026, 1, 1, 2, tzinfo=utc)
    assert np.diff(of(submit=moments).jobs["submit"]).tolist() == [3600, 3600]
    assert of(estimate=[datetime.time(1), datetime.time(0, 0, 5, 500000), None]).jobs["estimate"].tolist() == [3600, 6, 30]
    with pytest.raises(ds.LogError, match="years or months, which have no length"):
        of(run=np.array([1, 2, 3], "m8[M]"))
    assert of(submit=iter([0, 5, 9])) == of(submit={"a": 0, "b": 5, "c": 9}.values()) == of()


def test_what_is_no_table_says_so() -> None:
    import pandas
    import polars

    for column in (pandas.Series([1, 2]), polars.Series([1, 2])):
        with pytest.raises(TypeError, match="Series is one column; expected a table"):
            ds.from_arrow(column, procs=4)
    with pytest.raises(ds.LogError, match="there is no column `submit`"):
        ds.from_arrow({}, procs=4)
    with pytest.raises(ds.LogError, match="holds texts .pandas.to_datetime and polars"):
        of(submit=["2026-01-05T08:00:00"] * 3)
    assert of(submit=["0", "4.5", "9"]) == of()


def test_ids_have_any_size() -> None:
    unset = 4294967294
    log = of(user=[unset, 1, unset], group=np.array([2**40, -1, 7]))
    assert log.jobs["user"].tolist() == [unset, 1, unset] and log.jobs["group"].tolist() == [2**40, -1, 7]
    assert log.names("user") == []
    again = ds.from_arrow(log.jobs)
    assert again == log and again.jobs["user"].tolist() == [unset, 1, unset]
    assert ds.from_arrow(log.to_pandas(), procs=4) == log
    assert ds.simulate(log, "easy").jobs["user"].tolist() == [unset, 1, unset]
    many = {"submit": range(5000), "run": [1] * 5000, "procs": [1] * 5000, "user": np.arange(5000) + 2**33}
    assert ds.from_arrow(many, procs=4).jobs["user"].tolist() == many["user"].tolist()  # type: ignore[attr-defined]


def test_names_come_back() -> None:
    import pandas
    import polars
    import pyarrow

    # Numbers are given in the order of arrival.
    log = of(submit=[5, 0, 9], user=["bob", "alice", "bob"], queue=["long", None, ""])
    assert log.names("user") == ["alice", "bob"] and log.names("queue") == ["long"] and log.names("group") == []
    assert log.jobs["user"].tolist() == [0, 1, 1] and log.jobs["queue"].tolist() == [-1, 0, -1]
    with pytest.raises(ds.OptionError, match="names of user, group"):
        log.names("colour")  # type: ignore[arg-type]
    result = ds.simulate(log, "easy")
    for table in (log.jobs, result.jobs):
        assert table.names("user") == ["alice", "bob"]
        frame = table.to_pandas()
        assert isinstance(frame["user"].dtype, pandas.CategoricalDtype) and list(frame["user"]) == ["alice", "bob", "bob"]
        assert table.to_polars()["user"].cast(polars.String).to_list() == ["alice", "bob", "bob"]
        assert pyarrow.types.is_dictionary(table.to_arrow()["user"].type)
    for made in (log, log.jobs, log.to_pandas(), log.to_polars(), log.to_arrow()):
        assert ds.from_arrow(made, procs=4) == log
    # A part keeps the numbers, and so does what is made of it.
    assert log[1:].names("user") == ["alice", "bob"] and ds.from_arrow(log[1:].jobs) == log[1:]


def test_the_same_workload_comes_back_whole(log: ds.Workload) -> None:
    import pyarrow

    half = log[200:].scale(1.1)
    for one in (log, half):
        for made in (one, one.jobs, one.to_arrow(), pyarrow.table(one), one.to_pandas()):
            again = ds.from_arrow(made)
            assert (again.hash, again.header, again.settings, again.name) == (one.hash, one.header, one.settings, one.name)
            assert again == one and again.unix_start == one.unix_start
    # What was changed is a table.
    changed = log.to_arrow().slice(10)
    assert ds.from_arrow(changed).settings == [("from", "a table")] and ds.from_arrow(changed).procs == log.procs
    assert ds.from_arrow(log, procs=log.procs + 1).settings == [("from", "a table")]
    with pytest.raises(ds.OptionError, match="procs"):
        ds.from_arrow(BASE)


def test_frames_of_results(log: ds.Workload) -> None:
    import pandas

    jobs = ds.simulate(log, "easy").jobs
    frame = pandas.DataFrame(jobs)
    assert len(frame) == len(log) and list(frame.columns) == jobs.columns
    assert (frame["wait"] == jobs["wait"]).all() and frame["wait"].dtype == np.int64


def forms(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """The same columns in the forms of several libraries."""
    import pandas
    import polars
    import pyarrow

    frame = pandas.DataFrame(columns)
    category = {"user": frame["user"].astype("category")}
    named = isinstance(columns["user"][0], str)
    utc = [datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=at) for at in columns["submit"]]
    spans = [datetime.timedelta(seconds=at) for at in columns["run"]]
    limits = [None if at is None else datetime.timedelta(seconds=at) for at in columns["estimate"]]
    timed = {**columns, "submit": utc, "run": spans, "estimate": limits}
    plain = {
        "mapping": columns,
        "arrays": {name: np.array(values) for name, values in columns.items()},
        "pandas": frame,
        "pandas, nullable": frame.convert_dtypes(),
        "pandas, categories": frame.assign(**category),
        "polars": polars.DataFrame(columns),
        "polars, categories": polars.DataFrame(columns).with_columns(polars.col("user").cast(polars.Categorical if named else polars.UInt64)),
        "pyarrow": pyarrow.table(columns),
        "pyarrow, dictionary": pyarrow.table({**columns, "user": pyarrow.array(columns["user"]).dictionary_encode()}),
        "pyarrow, decimals": pyarrow.table({**columns, "run": [decimal.Decimal(one) for one in columns["run"]]}),
        "pyarrow, in pieces": pyarrow.concat_tables([pyarrow.table(columns).slice(0, 3), pyarrow.table(columns).slice(3)]),
        "floats": {**columns, "submit": [one + 0.4 for one in columns["submit"]]},
        "texts": {**columns, "run": [str(one) for one in columns["run"]], "procs": [str(one) for one in columns["procs"]]},
    }
    moments = {
        "mapping, timed": timed,
        "mapping, numpy": {**timed, "submit": np.array(utc, "M8[ms]"), "run": np.array(spans, "m8[s]")},
        "pandas, timed": pandas.DataFrame(timed),
        "pandas, zone": pandas.DataFrame(timed).assign(
            submit=pandas.Series(pandas.to_datetime(utc)).dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
        ),
        "polars, timed": polars.DataFrame(timed),
        "pyarrow, timed": pyarrow.table(timed),
        "half a second less": {**timed, "submit": [one - datetime.timedelta(milliseconds=400) for one in utc]},
    }
    return {"plain": plain, "moments": moments}


@pytest.mark.parametrize("seed", range(12))
def test_all_forms_of_a_workload_are_one(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = int(random.integers(4, 30))
    users: Any = ["u" + str(one) for one in random.integers(0, 6, rows)]
    if seed % 3 == 0:
        users = [int(one) for one in random.integers(0, 2**33, rows)]
    columns: dict[str, list[Any]] = {
        "submit": [int(one) for one in random.integers(1, 10**6, rows)],
        "run": [int(one) for one in random.integers(0, 10**5, rows)],
        "procs": [int(one) for one in random.integers(1, 9, rows)],
        "estimate": [None if random.random() < 0.3 else int(one) for one in random.integers(1, 10**5, rows)],
        "user": users,
    }
    for kind, made in forms(columns).items():
        hashes = {name: ds.from_arrow(one, procs=8).hash for name, one in made.items()}
        assert len(set(hashes.values())) == 1, (kind, hashes)
    # And what cannot be is refused by all, in the same row.
    broken = {**columns, "procs": [*columns["procs"][:-1], 9]}
    for made in forms(broken).values():
        for name, one in made.items():
            with pytest.raises(ds.LogError) as caught:
                ds.from_arrow(one, procs=8)
            assert (caught.value.field, caught.value.line) == ("procs", rows - 1), name
            assert "9 is not possible; expected 1 to 8" in str(caught.value), name


def test_what_names_no_log_and_no_column_says_so(small: ds.Workload) -> None:
    jobs = ds.simulate(small, "easy").jobs
    assert list(dict(jobs)) == jobs.columns
    cases: list[tuple[Any, str]] = [
        (jobs, r"from_arrow\(table, procs=...\)"),
        ({"submit": [0]}, r"from_arrow\(table, procs=...\)"),
        ([small, small], "expected one log, not several"),
        (None, "None is no log"),
    ]
    for source, problem in cases:
        for call in (ds.read, ds.whatif, ds.advise, lambda log: ds.simulate(log, "easy"), lambda log: ds.predict(log, ["estimate"])):
            with pytest.raises(TypeError, match=problem):
                call(source)
    with pytest.raises(TypeError, match="takes the name of a column, such as 'job_id'"):
        jobs[:5]  # type: ignore[index]
