//! Coverage of the intervals of changes: independent logs of eight weeks, each with its interval of
//! the relative change, and the true one, which is that over all of them.

use drystone::experiment::Experiment;
use drystone::generate::{Params, generate_workload};
use drystone::metrics::{JobRow, MetricsConfig};
use drystone::model::{Machine, Outages, Time};
use drystone::policy::PolicySpec;
use drystone_advise::Periods;
use drystone_whatif::{Applied, PairedChange, PairedWait, Premises, apply_changes, compare_waits};

const CHANGES: [&str; 3] = ["procs +16", "limits exact", "load 1.1"];

/// Waits by place among the jobs before.
fn waits(scenario: &Applied, policy: &PolicySpec) -> Vec<f64> {
    let outages = Outages::new(Machine::new(scenario.premises.pools[0].procs), Vec::new()).expect("possible");
    let measurement = Experiment::new(policy, &scenario.premises.workload)
        .with_outages(Some(&outages))
        .with_metrics(MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() })
        .run(&mut ());
    let rows = measurement.expect("simulated").expect("to its end").report.jobs.expect("rows");
    let mut waits = vec![f64::NAN; scenario.origin.len()];
    let at = |row: &JobRow| scenario.origin[row.id.index()].expect("no job is added") as usize;
    rows.iter().for_each(|row| waits[at(row)] = row.wait().as_f64());
    waits
}

/// The differences of a log under each change.
fn log(load: f64, jobs: u32, seed: u64) -> Vec<PairedChange> {
    let params = Params { load: Some(load), seed, ..Params::new(128, jobs) };
    let premises = Premises::of_log(generate_workload(&params).expect("possible"), Vec::new(), 1.0);
    let easy: PolicySpec = "easy".parse().expect("a policy");
    let after = |changes: &str| {
        let list = changes.parse().unwrap_or_else(|error| panic!("{error}"));
        let change_result =
            apply_changes(&premises, &list, &|_| Ok(Time(0)), 1).unwrap_or_else(|error| panic!("{error}"));
        waits(&change_result, &easy)
    };
    let before = after("none");
    let periods = Periods::from_submits(premises.workload.submit_range().expect("jobs"), false);
    let compare = |changes: &&str| {
        let rows = before.iter().zip(after(changes)).zip(premises.workload.jobs());
        let pairs: Vec<PairedWait> = rows
            .map(|((&before, after), job)| PairedWait {
                period: periods.find_period(job.submit).expect("it counts") as u32,
                before,
                after,
                nodes: f64::from(job.procs),
            })
            .collect();
        compare_waits(pairs.iter(), &periods, 0.95)
    };
    CHANGES.iter().map(compare).collect()
}

/// For each change the logs that have an interval, and how many of these hold the true change.
fn coverage(load: f64, jobs: u32, logs: u64) -> Vec<(f64, usize, usize)> {
    let changes: Vec<Vec<PairedChange>> = (0..logs).map(|seed| log(load, jobs, 40_000 + seed)).collect();
    let cover = |at: usize| {
        let pairs: Vec<&PairedChange> = changes.iter().map(|log| &log[at]).collect();
        let hours =
            |of: fn(&PairedChange) -> f64| pairs.iter().map(|change| change.jobs as f64 * of(change)).sum::<f64>();
        let truth = hours(|change| change.after) / hours(|change| change.before) - 1.0;
        let intervals: Vec<(f64, f64)> = pairs.iter().filter_map(|change| change.change_interval).collect();
        let holding = intervals.iter().filter(|(low, high)| *low <= truth && truth <= *high).count();
        (truth, intervals.len(), holding)
    };
    (0..CHANGES.len()).map(cover).collect()
}

/// Of 40 intervals that hold with probability 0.95 fewer than 34 do so once in a hundred times.
#[test]
fn intervals_of_changes_hold() {
    for (change, (_, intervals, holding)) in CHANGES.iter().zip(coverage(0.7, 5_000, 40)) {
        assert!(intervals == 40 && holding >= 34, "{change}: {holding} of {intervals}");
    }
}

/// The table of `docs/whatif.md`.
#[test]
#[ignore = "minutes: it prints the table of the document"]
fn the_table_of_coverage() {
    for (load, jobs) in [(0.6, 5_000), (0.7, 5_000)] {
        for (change, (truth, intervals, holding)) in CHANGES.iter().zip(coverage(load, jobs, 200)) {
            let share = holding as f64 / intervals.max(1) as f64;
            println!("load {load}, {jobs} jobs | {change} | {:+.0} % | {share:.3} of {intervals}", truth * 100.0);
        }
    }
}
