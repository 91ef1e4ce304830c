//! The simulator of RLScheduler by definition: its averages on Lublin-1, to the last digits, and
//! those of two of its orders with waits up to the present.

use crate::common::{swf, text};
use drystone_reference::JobIn;
use drystone_reference::committed::{Rank, run};

const FIRST: [usize; 10] = [1981, 2756, 4299, 8850, 3316, 2714, 5228, 7762, 4022, 7085];

fn jobs() -> Option<Vec<JobIn>> {
    let job = |f: &Vec<i64>| JobIn { submit: f[1], procs: f[4], estimate: f[3], run: f[3], user: f[11] };
    Some(swf("lublin_256")?.iter().map(job).collect())
}

/// Mean bounded slowdown of the window that begins with this job.
fn window(jobs: &[JobIn], first: usize, rank: Rank<'_>, backfilling: bool) -> f64 {
    let jobs = &jobs[first..first + 1024];
    let slowdown = |(job, out): (&JobIn, drystone_reference::JobOut)| {
        ((out.start - job.submit + job.run) as f64 / job.run.max(10) as f64).max(1.0)
    };
    jobs.iter().zip(run(rank, backfilling, jobs, 256)).map(slowdown).sum::<f64>() / 1024.0
}

fn logarithm(number: i64) -> f64 {
    (number as f64 + 1e-15).log2()
}

/// A job that waits counts as started at -1.
fn wfp3(job: &JobIn, start: i64) -> f64 {
    -((start - job.submit) as f64 / job.estimate as f64).powi(3) * job.procs as f64
}

fn unicep(job: &JobIn, start: i64) -> f64 {
    -((start - job.submit) as f64 + 1e-15) / (logarithm(job.procs) * job.estimate as f64)
}

#[test]
fn every_window_has_the_published_mean() {
    let (Some(table), Some(jobs)) = (text("published/rlscheduler-2020-lublin1.csv"), jobs()) else { return };
    for line in table.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let rank: Rank<'_> = match f[3] {
            "fcfs" => &|job, _| job.submit as f64,
            "sjf" => &|job, _| job.estimate as f64,
            "f1" => &|job, _| (job.estimate as f64).log10() * job.procs as f64 + 870.0 * (job.submit as f64).log10(),
            "wfp" => &|job, _| wfp3(job, -1),
            "uni" => &|job, _| unicep(job, -1),
            other => panic!("unknown order {other}"),
        };
        let mean = window(&jobs, f[1].parse().expect("a place"), rank, f[4] == "1");
        let paper_mean: f64 = f[5].parse().expect("a number");
        assert!((mean / paper_mean - 1.0).abs() < 1e-11, "{line}: {mean}");
    }
}

/// The means of the study file `rlscheduler-2020`, table `waits`.
#[test]
fn waits_up_to_the_present_make_other_means() {
    let Some(jobs) = jobs() else { return };
    for (rank, backfilling, expected) in [
        (&wfp3 as Rank<'_>, false, "337.34"),
        (&unicep, false, "381.71"),
        (&wfp3, true, "126.50"),
        (&unicep, true, "103.10"),
    ] {
        let mean = FIRST.iter().map(|&first| window(&jobs, first, rank, backfilling)).sum::<f64>() / 10.0;
        assert_eq!(format!("{mean:.2}"), expected);
    }
}
