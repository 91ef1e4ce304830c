//! Lag of a start behind the end before it: driven and under Slurm alone, at the same time.

use super::site::{Site, Tests, within};
use drystone_testbed::ClusterOptions;
use std::time::Duration;

/// Only where it is asked for: `DRYSTONE_LIVE_LAG` is the number of jobs. It prints a measurement.
pub(crate) fn tests() -> Tests {
    if jobs().is_none() {
        return Vec::new();
    }
    vec![("lag_of_starts_behind_ends", lag)]
}

fn jobs() -> Option<u32> {
    std::env::var("DRYSTONE_LIVE_LAG").ok()?.parse().ok()
}

/// Jobs that each need the whole machine, of 0.6 to 2.6 s, so that ends fall anywhere into the
/// second of slurmctld's cycle. Each notes its start and its end.
fn lag() {
    let Some(jobs) = jobs() else { return };
    let options = ClusterOptions { nodes: 4, cpus: 8, ..ClusterOptions::default() };
    let (Some(driven), Some(plain)) = (Site::with(options.clone(), "easy"), Site::with(options, "easy")) else {
        return;
    };
    let _daemon = driven.drive();
    for job in 0..jobs {
        let run = 600 + u64::from(job) * 7_919 % 2_000;
        for site in [&driven, &plain] {
            let times = site.path("times");
            let note = format!("date +%s.%N >> {}", times.display());
            let wrap = format!("{note}; sleep {}.{:03}; {note}", run / 1_000, run % 1_000);
            let args = ["-o", "/dev/null", "-N4", "-n32", "-t1", "--wrap", &wrap];
            site.tell("sbatch", &args);
        }
    }
    for (name, site) in [("driven", &driven), ("under Slurm alone", &plain)] {
        let text = || std::fs::read_to_string(site.path("times")).unwrap_or_default();
        let lines = 2 * jobs as usize;
        within(Duration::from_secs(u64::from(jobs) * 10), "all jobs are over", || text().lines().count() == lines);
        let times: Vec<f64> = text().lines().map(|line| line.parse().expect("a time")).collect();
        let mut gaps: Vec<f64> = times[1..lines - 1].chunks(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| *gap > 0.0), "a job begins before the end of the last: {gaps:?}");
        gaps.sort_by(f64::total_cmp);
        let (count, mean) = (gaps.len(), gaps.iter().sum::<f64>() / gaps.len() as f64);
        println!(
            "{name}: {count} gaps, mean {mean:.3} s, median {:.3}, nine in ten below {:.3}, most {:.3}",
            gaps[count / 2],
            gaps[count * 9 / 10],
            gaps[count - 1]
        );
    }
}
