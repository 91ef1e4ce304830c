"""Reads a dump of accounting with pandas, and the folder of the site that was imported of it with DuckDB, and holds one against the other:
every job with its times, limit, size, user and partition, and what never ran.

Arguments: what the dump is, the dump, the folder. Prints rows, jobs, jobs that never ran, and processors times seconds of those that did.
"""

import gzip
import json
import sys

import duckdb
import pandas

XDMOD = (
    "jobid raw cluster partition qos account group gid user uid submit eligible start end elapsed exit state nodes cpus "
    "asked mem reqtres tres limit list name"
).split()


def opened(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def seconds(column):
    """Local times in UTC as seconds since 1970; 0 where there is none."""
    times = pandas.to_datetime(column.where(column.str.match(r"\d{4}-")), format="mixed")
    return (times - pandas.Timestamp(0)).dt.total_seconds().fillna(0).astype("int64")


def span(text):
    """[D-]HH:MM:SS"""
    days, _, clock = text.rpartition("-")
    hours, minutes, rest = clock.split(":")
    return ((int(days or 0) * 24 + int(hours)) * 60 + int(minutes)) * 60 + int(rest)


def text(path, separator, names=None):
    return pandas.read_csv(
        path, sep=separator, header=None if names else 0, names=names, dtype=str, keep_default_na=False, quoting=0 if separator == "," else 3
    )


def phillips(path):
    raw = text(path, "|", XDMOD)
    jobs = pandas.DataFrame({"id": raw.raw.astype("int64"), "user": raw.user, "partition": raw.partition})
    for name in ("submit", "eligible", "start", "end"):
        jobs[name] = seconds(raw[name])
    jobs["limit"] = raw.limit.map(span)
    jobs["cpus"] = raw.cpus.astype("int64")
    jobs["never"] = raw.state.str.startswith("CANCELLED") & (jobs.start == jobs.end)
    return jobs


def usc(path):
    raw = text(path, "|")
    jobs = pandas.DataFrame({"id": raw.JobID.astype("int64"), "user": raw.User, "partition": raw.Partition})
    for name in ("Submit", "Start", "End"):
        jobs[name.lower()] = seconds(raw[name])
    jobs["eligible"] = 0
    jobs["limit"] = raw.TimelimitRaw.astype("int64") * 60
    jobs["cpus"] = raw.ReqCPUS.astype("int64")
    jobs["never"] = False
    return jobs


def graham(path):
    raw = text(path, ",")
    jobs = pandas.DataFrame({"id": raw.job_unique_id.astype("int64"), "user": "", "partition": raw.partition_id})
    for name in ("submit", "eligible", "start", "end"):
        jobs[name] = seconds(raw[f"{name}_time"])
    jobs["limit"] = raw.time_limit_sec.astype("int64")
    jobs["cpus"] = raw.req_cpus.astype("int64")
    jobs["never"] = False
    return jobs


def jobcomp(path):
    with opened(path) as file:
        raw = pandas.DataFrame([dict(word.split("=", 1) for word in line.split(" ") if "=" in word) for line in file])
    # A record without processors is none that can be used.
    raw = raw[raw.ProcCnt.astype("int64") > 0]
    jobs = pandas.DataFrame({"id": raw.JobId.astype("int64"), "user": raw.UserId.str.partition("(")[0], "partition": raw.Partition})
    for name in ("Submit", "Eligible", "Start", "End"):
        jobs[name.lower()] = seconds(raw[f"{name}Time"])
    jobs["limit"] = raw.TimeLimit.astype("int64") * 60
    jobs["cpus"] = raw.ProcCnt.astype("int64")
    jobs["never"] = False
    return jobs


def from_json(path):
    with opened(path) as file:
        records = json.load(file)["jobs"]

    def number(value):
        return value["number"] if isinstance(value, dict) else value

    rows = []
    for record in records:
        times, asked = record["time"], record["required"]["CPUs"]
        held = [t["count"] for t in record["tres"]["allocated"] if t["type"] == "cpu"]
        rows.append(
            {
                "id": record["job_id"],
                "user": record["user"],
                "partition": record["partition"],
                "submit": times["submission"],
                "eligible": times["eligible"],
                "start": times["start"],
                "end": times["end"],
                # What the record says itself, which need not be the distance of its times.
                "ran": times["elapsed"],
                "limit": number(times["limit"]) * 60,
                "cpus": held[0] if held else asked,
                "never": False,
            }
        )
    return pandas.DataFrame(rows)


kind, dump, folder = sys.argv[1:]
expected = {"phillips": phillips, "usc": usc, "graham": graham, "jobcomp": jobcomp, "json": from_json}[kind](dump)
found = duckdb.sql(
    f"""SELECT id, coalesce("user", '') AS user, partition, submit, coalesce(eligible, 0) AS eligible, coalesce(start, 0) AS start,
    coalesce("end", 0) AS "end", "limit", cpus, kind = 'withdrawn' AS never FROM '{folder}/jobs.parquet'"""
).df()
columns = ["id", "user", "partition", "submit", "eligible", "start", "end", "limit", "cpus", "never"]
# A job that never ran never started: some records say that it did as it left.
expected.loc[expected.never, "start"] = 0
found.loc[found.never, "start"] = 0
ours = [tuple(row) for row in found[columns].sort_values(columns).itertuples(index=False)]
theirs = [tuple(row) for row in expected[columns].sort_values(columns).itertuples(index=False)]
for one, other in zip(ours, theirs):
    assert one == other, f"{one} is not {other}"
assert len(ours) == len(theirs), f"{len(ours)} jobs, not {len(theirs)}"
ran = expected[~expected.never]
length = ran.ran if "ran" in ran else ran.end - ran.start
print(len(expected), int(expected.never.sum()), int((ran.cpus * length).sum()))
