//! Averages of schedules made by an independent simulator, against the averages which that
//! simulator's authors report.
//!
//! Wait and bounded slowdown of Tsafrir's policies on the KTH log, trimmed by Tsafrir's rule. The
//! schedules lie outside the project: `DRYSTONE_SHARED` says where.
#![cfg(feature = "gzip")]

use crate::metrics_support::{Done, report};
use drystone::metrics::{JobSelection, MetricsConfig, Report};
use std::io::Read;
use std::path::PathBuf;

/// The report on a golden schedule, its jobs handled by end, then by order of arrival; `None` where
/// it is missing.
fn golden(policy: &str) -> Option<Report> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join(format!("golden/easy/KTH-SP2-1996-2.1-cln.{policy}.csv.gz"));
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("SKIPPED: {} is missing", path.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("the schedule is compressed text");
    let mut jobs: Vec<Done> = text
        .lines()
        .skip(1)
        .zip(0..)
        .map(|(line, id)| {
            let fields: Vec<i64> = line.split(',').map(|f| f.parse().expect("numbers")).collect();
            Done::new(id, fields[1], fields[2], fields[3] - fields[2], 1)
        })
        .collect();
    jobs.sort_by_key(|job| (job.outcome.end, job.id));
    Some(report(100, &jobs, MetricsConfig { selection: JobSelection::Tsafrir, ..MetricsConfig::default() }))
}

#[test]
fn averages_of_independent_schedules_are_theirs() {
    // Minutes of wait and bounded slowdown as reported. The minutes were rounded to hundredths
    // first and then to tenths: the 101.8 stand for 101.748, whence the half of a hundredth on top
    // of the half of a tenth.
    let averages = [
        ("EASY", 115.1, 90.16),
        ("EASY_SJBF", 101.8, 72.99),
        ("PERFECT++", 91.1, 49.79),
        ("EASY++", 93.4, 57.68),
        ("X2", 102.9, 81.40),
        ("EASY+imm", 107.7, 77.57),
    ];
    for (policy, wait, slowdown) in averages {
        let Some(report) = golden(policy) else { return };
        let minutes = report.measures.wait.mean.expect("jobs") / 60.0;
        let own_slowdown = report.measures.bounded_slowdown.mean.expect("jobs");
        assert!((minutes - wait).abs() <= 0.055, "{policy}: {minutes} min");
        assert!((own_slowdown - slowdown).abs() <= 0.005, "{policy}: {own_slowdown}");
    }
}
