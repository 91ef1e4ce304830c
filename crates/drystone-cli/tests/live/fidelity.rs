//! Distance of a real cluster from the decisions, and from a simulation of it: jobs of a real log,
//! scaled down to seconds.

use super::site::{Site, Tests, full};
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::model::{EndedJob, Span, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_live::cluster::{ClusterOrder, JobKey};
use drystone_live::journal;
use drystone_testbed::ClusterOptions;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![
        ("a_day_scaled_down_easy", || day("easy")),
        ("a_day_scaled_down_sjf", || day("easy(order=sjf,backfill=sjf)")),
        ("a_day_scaled_down_predictions", || day("easy++")),
        ("a_day_scaled_down_suspension", || day("ss(every=5,sf=1.2,width=none)")),
    ]
}

/// All jobs run on one node: the live side needs no packing, and the simulated side knows none.
const PROCS: u32 = 100;
/// As many as make a run of about three minutes; fewer where the machine has other things to do as
/// well.
fn jobs() -> usize {
    if full() { 240 } else { 80 }
}

/// A job of the plan: seconds after the first one, run time, processors, limit in minutes.
struct Planned {
    at: f64,
    run: i64,
    procs: u32,
    minutes: i64,
}

/// A real log where there is one, else a model's: from its three thousandth job, run times by 600,
/// at 90 % of the machine.
fn plan(site: &Site) -> Vec<Planned> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let log = root.join("traces/KTH-SP2-1996-2.1-cln.swf.gz");
    let log = log.display().to_string();
    if Path::new(&log).exists() {
        site.run(&["workload", "convert", &log, "--out", "log.swf", "--quiet"]);
    } else {
        eprintln!("{log} is missing (set DRYSTONE_SHARED): jobs of a model instead");
        let procs = PROCS.to_string();
        site.run(&["workload", "generate", "--procs", &procs, "--jobs", "4000", "--out", "log.swf", "--quiet"]);
    }
    let text = std::fs::read_to_string(site.path("log.swf")).expect("written");
    let plan: Vec<(i64, i64, u32, i64)> = text
        .lines()
        .filter(|line| !line.starts_with(';'))
        .skip(3_000)
        .filter_map(|line| {
            let fields: Vec<i64> = line.split_whitespace().flat_map(str::parse).collect();
            let (submit, run, procs, limit) =
                (fields[1], fields[3], fields[4].max(fields[7]), fields[8].max(fields[3]));
            let fits = run > 0 && (1..=i64::from(PROCS)).contains(&procs);
            // Run times are whole seconds and limits whole minutes.
            fits.then_some((submit, ((run + 300) / 600).clamp(2, 20), procs as u32, (limit + 599) / 600))
        })
        .take(jobs())
        .collect();
    let area: f64 = plan.iter().map(|(_, run, procs, _)| *run as f64 * f64::from(*procs)).sum();
    let (first, last) = (plan[0].0, plan[plan.len() - 1].0);
    let faster = (last - first) as f64 / (area / f64::from(PROCS) / 0.9);
    plan.into_iter()
        .map(|(submit, run, procs, minutes)| Planned {
            at: (submit - first) as f64 / faster,
            run,
            procs,
            minutes: minutes.clamp(1, 120),
        })
        .collect()
}

#[derive(Default)]
struct Waits(f64);

impl Observer for Waits {
    const NOTES: bool = false;

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.0 += job.wait_time().as_f64();
    }
}

fn mean_wait(workload: &Workload, policy: &PolicySpec) -> f64 {
    let mut waits = Waits::default();
    Experiment::new(policy, workload).run(&mut waits).expect("simulates");
    waits.0 / workload.len() as f64
}

/// Mean time until a job is seen, in seconds: half of the shortest period, and the duration of
/// `sbatch`.
const SEEN: f64 = 0.3;

/// The mean of whole seconds.
fn mean(waits: &BTreeMap<JobKey, i64>) -> f64 {
    waits.values().sum::<i64>() as f64 / waits.len().max(1) as f64
}

/// Number of draws of the lag model: enough to see how far single seconds move the mean wait.
const DRAWS: u64 = 100;

/// The workload with run times that are longer by lags drawn from the measured ones. A job keeps
/// its processors from the decision until its end is seen. How much longer than its run time that
/// is, is measured. Which job is how late is chance, and it decides which jobs are backfilled.
fn longer(workload: &Workload, lags: &[i64], seed: u64) -> Workload {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let truth = workload.truth().iter().map(|truth| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let lag = lags[(state >> 33) as usize % lags.len()];
        Truth { run: truth.run + Span(lag), ..*truth }
    });
    let truth: Vec<Truth> = truth.collect();
    Workload::new(workload.machine(), workload.jobs().to_vec(), truth, workload.provenance.clone()).expect("sound")
}

fn day(policy: &str) {
    let Some(site) = Site::with(ClusterOptions { nodes: 1, cpus: PROCS, ..ClusterOptions::default() }, policy) else {
        return;
    };
    let plan = plan(&site);
    let daemon = site.drive();
    let began = Instant::now();
    for job in &plan {
        std::thread::sleep(Duration::from_secs_f64(job.at).saturating_sub(began.elapsed()));
        // A sleep goes on while its job is stopped: many short ones do not.
        let wrap = format!("for k in $(seq {}); do sleep 1; done", job.run);
        let (procs, minutes) = (job.procs.to_string(), job.minutes.to_string());
        let args = ["--parsable", "-o", "/dev/null", "-n", &procs, "-t", &minutes, "--wrap", &wrap];
        site.tell("sbatch", &args);
    }
    site.drain(Duration::from_secs(300));
    site.settled();
    drop(daemon);
    let suspends = site.orders().iter().filter(|order| matches!(order, ClusterOrder::Suspend(_))).count();
    // The policy decides the same at every instant.
    site.replays();
    let delays = site.delays();
    let mut late: Vec<i64> = delays.starts.values().copied().collect();
    late.sort_unstable();
    assert_eq!(late.len(), plan.len(), "every start has its decision");
    let (median, most) = (late[late.len() / 2], late[late.len() - 1]);

    let (workload, waits) = journal::read_workload(&site.home().journal_folder()).expect("a workload");
    let policy: PolicySpec = policy.parse().expect("a policy");
    let live = waits.iter().map(|wait| wait.as_f64()).sum::<f64>() / waits.len() as f64;
    let (before, after) = (mean(&delays.starts), mean(&delays.ends));
    let lags: Vec<i64> = delays
        .starts
        .iter()
        .map(|(key, start)| start + delays.ends.get(key).copied().unwrap_or(after.round() as i64))
        .collect();
    let exact = mean_wait(&workload, &policy);
    let mut lagged: Vec<f64> =
        (0..DRAWS).map(|seed| mean_wait(&longer(&workload, &lags, seed), &policy) + SEEN + before).collect();
    lagged.sort_by(f64::total_cmp);
    let middle = lagged[lagged.len() / 2];
    let (least, greatest) = (lagged[0], lagged[lagged.len() - 1]);
    let is_strained = site.is_strained();
    println!(
        "{}: {} jobs, {suspends} suspensions; decision to start: mean {before:.2} s, median {median} s, most {most} s; end to look: mean \
         {after:.2} s; mean wait {live:.2} s, lag model {middle:.2} s ({least:.2} to {greatest:.2}), exact {exact:.2} s; strained: {is_strained}",
        policy.canonical_text(),
        plan.len()
    );
    assert!(median <= 3, "{late:?}");
    // On a machine that is busy with other things Slurm itself is late.
    assert!(is_strained || most <= 3, "{late:?}");
    let near = 0.85 * least - 0.5..=1.15 * greatest + 0.5;
    assert!(is_strained || near.contains(&live), "mean wait {live}, lag model {least} to {greatest}");
}
