//! Logs and golden schedules that lie beside the checkout; tests that need them say so loudly when
//! they are missing.
#![allow(dead_code, reason = "every test file uses its own part")]

use drystone_reference::{JobIn, JobOut};
use flate2::read::MultiGzDecoder;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

/// The folder with logs and golden schedules, if there is one.
pub(crate) fn shared() -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let path = PathBuf::from(std::env::var("DRYSTONE_SHARED").unwrap_or_else(|_| default.into()));
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: no logs or golden schedules at {} (set DRYSTONE_SHARED)", path.display());
    None
}

/// A text file of that folder, unpacked if need be; `None` (said loudly) where it is missing.
pub(crate) fn text(name: &str) -> Option<String> {
    let path = shared()?.join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("SKIPPED: {} is missing", path.display());
        return None;
    };
    let mut text = String::new();
    if name.ends_with(".gz") {
        MultiGzDecoder::new(&bytes[..]).read_to_string(&mut text).expect("readable gzip");
    } else {
        text = String::from_utf8(bytes).expect("readable text");
    }
    Some(text)
}

/// The data lines of a log: 18 numbers each. `swf_fields(log)[i][f - 1]` is SWF field `f`.
pub(crate) fn swf(name: &str) -> Option<Vec<Vec<i64>>> {
    let text = text(&format!("traces/{name}.swf.gz"))?;
    let lines = text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with(';'));
    let number = |field: &str| field.parse::<f64>().expect("a number").round() as i64;
    Some(lines.map(|line| line.split_whitespace().map(number).collect()).collect())
}

/// Sorts records (log number, job) into order of arrival.
pub(crate) fn in_order(mut records: Vec<(i64, JobIn)>) -> (Vec<i64>, Vec<JobIn>) {
    records.sort_by_key(|(_, job)| job.submit);
    records.into_iter().unzip()
}

/// A golden schedule by job number: start, end and whatever columns follow.
pub(crate) fn golden(name: &str) -> Option<BTreeMap<i64, Vec<i64>>> {
    let text = text(&format!("golden/{name}.csv.gz"))?;
    let row = |line: &str| -> Vec<i64> { line.split(',').map(|f| f.parse().expect("an integer")).collect() };
    Some(text.lines().skip(1).map(row).map(|r| (r[0], r[2..].to_vec())).collect())
}

/// Every job of the golden schedule, and no other, with exactly its start and end.
pub(crate) fn assert_golden(name: &str, numbers: &[i64], schedule: &[JobOut]) {
    let Some(golden) = golden(name) else { return };
    assert_eq!(golden.len(), numbers.len(), "{name}: other jobs");
    let differing: Vec<_> = numbers
        .iter()
        .zip(schedule)
        .filter(|(number, out)| golden.get(number).is_none_or(|row| row[..2] != [out.start, out.end]))
        .map(|(number, out)| (number, out, golden.get(number)))
        .take(5)
        .collect();
    assert!(differing.is_empty(), "{name}: {differing:?}");
}

/// Jobs as the papers on suspension and on multiple queues take them (rules S1 and M1): estimates
/// are exact.
pub(crate) fn exact_jobs(log: &str, machine: i64) -> Option<(Vec<i64>, Vec<JobIn>)> {
    let job = |f: &Vec<i64>| JobIn {
        submit: f[1],
        procs: if f[7] > 0 { f[7] } else { f[4] },
        estimate: f[3],
        run: f[3],
        user: f[11],
    };
    let lines = swf(log)?;
    let jobs = lines.iter().map(|f| (f[0], job(f)));
    Some(in_order(jobs.filter(|(_, j)| j.run > 0 && (1..=machine).contains(&j.procs)).collect()))
}
