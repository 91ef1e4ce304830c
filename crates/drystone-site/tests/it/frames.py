"""Reads a dump of accounting with pandas and writes it again as data frames are written: numbers with gaps as fractions, moments in
seconds and in thousandths, lengths as time deltas, with an index, with another delimiter and a comma for the point, and as Parquet.

Arguments: the dump, the folder to write into. Prints the names of the files.
"""

import sys

import pandas

dump, folder = sys.argv[1:]
raw = pandas.read_csv(dump, sep="|", dtype=str, keep_default_na=False)
jobs = raw[["JobID", "User", "Account", "Partition", "Submit", "Start", "End", "ReqCPUS", "TimelimitRaw"]].copy()
moments = ["Submit", "Start", "End"]
for name in moments:
    jobs[name] = pandas.to_datetime(jobs[name]).astype("datetime64[s]")
jobs["JobID"] = jobs.JobID.astype("int64")
jobs["State"] = "COMPLETED"
epoch = {name: jobs[name].astype("int64") for name in moments}


def written(name, frame, **how):
    frame.to_csv(f"{folder}/{name}", **how)
    print(name)


# A column with gaps becomes fractions as a whole.
gaps = jobs.assign(**epoch, ReqCPUS=jobs.ReqCPUS.astype("float64"), TimelimitRaw=jobs.TimelimitRaw.astype("float64"))
written("fractions.csv", gaps)
written("commas.csv", gaps, sep=";", decimal=",", index=False)
written("thousandths.csv", jobs.assign(**{name: column * 1000 for name, column in epoch.items()}), index=False)
written("dates.csv", jobs, index=False, date_format="%Y-%m-%d %H:%M:%S+00:00")
lengths = pandas.to_timedelta(jobs.TimelimitRaw.astype("int64"), unit="min").astype(str)
written("lengths.csv", jobs.drop(columns="TimelimitRaw").assign(Timelimit=lengths), index=False)
table = jobs.assign(ReqCPUS=jobs.ReqCPUS.astype("Int64"), TimelimitRaw=jobs.TimelimitRaw.astype("float64"))
try:
    table.to_parquet(f"{folder}/table.parquet", index=False)
    print("table.parquet")
except ImportError:
    # pandas needs another package for Parquet.
    pass
