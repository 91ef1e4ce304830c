//! Does history predict as well as in real logs?

use drystone::generate::{Params, generate_workload};
use drystone::model::{Span, Workload};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Mean accuracy of the recent-two predictor and of the estimates, every job starting when it is
/// submitted.
fn accuracy(workload: &Workload) -> (f64, f64) {
    let ratio = |a: f64, b: f64| a.min(b).max(1.0) / a.max(b).max(1.0);
    let mut running = BinaryHeap::new();
    // Terminated jobs of each user, by place in the workload.
    let mut past_runs: BTreeMap<i32, BTreeMap<usize, Span>> = BTreeMap::new();
    let (mut recent, mut estimates) = (0.0, 0.0);
    for (i, (job, truth)) in workload.jobs().iter().zip(workload.truth()).enumerate() {
        while running.peek().is_some_and(|&Reverse((end, _))| end <= job.submit) {
            if let Some(Reverse((_, k))) = running.pop() {
                let k: usize = k;
                let user = past_runs.entry(workload.jobs()[k].user).or_default();
                user.insert(k, workload.truth()[k].run);
                if user.len() > 2 {
                    user.pop_first();
                }
            }
        }
        let estimate = job.estimate.as_f64();
        let run = truth.run.as_f64();
        let prediction = match past_runs.get(&job.user) {
            Some(last) if last.len() == 2 => (last.values().map(|r| r.as_f64()).sum::<f64>() / 2.0).min(estimate),
            _ => estimate,
        };
        recent += ratio(prediction, run);
        estimates += ratio(estimate, run);
        running.push(Reverse((job.submit + truth.run, i)));
    }
    let n = workload.len() as f64;
    (recent / n, estimates / n)
}

/// The four logs, measured alike, have 0.53 to 0.60 for the predictor (0.60 to 0.62 in Tsafrir et
/// al. 2007, where predictions are corrected while jobs run) and 0.30 to 0.47 for estimates.
#[test]
fn history_predicts_as_in_real_logs() {
    for (procs, jobs, load) in [(100, 28_000, 0.7), (128, 60_000, 0.83), (256, 10_000, 0.85), (338, 77_000, 0.84)] {
        for seed in 1..=4 {
            let params = Params { load: Some(load), seed, ..Params::new(procs, jobs) };
            let (recent, estimates) = accuracy(&generate_workload(&params).expect("valid"));
            let label = format!("{procs} processors, {jobs} jobs, seed {seed}: {recent:.3}, {estimates:.3}");
            assert!((0.54..=0.66).contains(&recent), "recent two of {label}");
            assert!((0.30..=0.45).contains(&estimates), "estimates of {label}");
        }
    }
}

#[test]
fn a_few_users_submit_most_jobs_in_sessions() {
    let params = Params { load: Some(0.8), seed: 1, ..Params::new(128, 50_000) };
    let workload = generate_workload(&params).expect("valid");
    let mut jobs_of = BTreeMap::new();
    let mut last: BTreeMap<i32, (i64, u32)> = BTreeMap::new();
    let (mut soon, mut same_size, mut again) = (0.0, 0.0, 0.0);
    for job in workload.jobs() {
        *jobs_of.entry(job.user).or_insert(0) += 1;
        if let Some((time, procs)) = last.insert(job.user, (job.submit.0, job.procs)) {
            again += 1.0;
            soon += f64::from(u8::from(job.submit.0 - time <= 1_200));
            same_size += f64::from(u8::from(job.procs == procs));
        }
    }
    let mut counts: Vec<usize> = jobs_of.into_values().collect();
    counts.sort_unstable_by_key(|&c| Reverse(c));
    let tenth: usize = counts[..counts.len() / 10].iter().sum();
    let tenth = tenth as f64 / workload.len() as f64;
    // KTH, CTC, SDSC SP2 and BLUE: 0.47 to 0.59 of the jobs; 0.55 to 0.62 within 20 minutes; 0.68
    // to 0.85 of the same size.
    assert!((0.42..=0.64).contains(&tenth), "the most active tenth submits {tenth:.2}");
    assert!((0.45..=0.75).contains(&(soon / again)), "{:.2} within 20 minutes", soon / again);
    assert!((0.65..=0.88).contains(&(same_size / again)), "{:.2} of the same size", same_size / again);
}
