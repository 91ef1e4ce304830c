//! Cost of outages: each policy on a log without outages, with them, and without them where as many
//! jobs wait.
//!
//! Outages make queues longer, and longer queues take longer by themselves. The third run tells
//! both apart: submit times are divided by the smallest factor, in steps of a fiftieth, with which
//! as many jobs wait as with outages. Nodes are out 1 % of the time, and a day of maintenance comes
//! every 30 days, as `drystone workload outages` draws them with seed 7. Processor time of the
//! whole simulation, best of as many runs in turn as fit into some seconds.
//!
//! `cargo bench -p drystone --bench outages -- WORDS` takes the rows whose names hold one of the
//! words, such as `KTH` or `BLUE`; `-- slow` adds those that take minutes.

mod clock;

use clock::processor_time;
use drystone::engine::{Happenings, Levels, Observer, Simulation, WorkloadReplay};
use drystone::generate::{OutageParams, draw_outages};
use drystone::log::clean::{CleaningOptions, Overrun};
use drystone::model::{Outages, Time, Workload};
use drystone::policy::PolicySpec;
use std::path::PathBuf;
use std::time::Duration;

/// A log of the archive, with submit times divided by a factor.
fn log(name: &str, factor: Option<f64>) -> Option<Workload> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let load = factor.map(|factor| format!("{factor:.2}").parse().expect("a factor"));
    let options = CleaningOptions { overrun: Overrun::Kill, load, ..CleaningOptions::default() };
    let file = root.join(format!("traces/{name}.swf.gz"));
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(drystone::log::load_log(file, &options).expect("a good log").workload)
}

/// Jobs that wait, on average over the time in which jobs arrive.
#[derive(Default)]
struct Waiting {
    until: Time,
    since: Time,
    now: u32,
    sum: f64,
}

impl Observer for Waiting {
    const ENDS: bool = false;
    const NOTES: bool = false;

    fn note_settlement(&mut self, now: Time, levels: Levels) {
        let now = now.min(self.until);
        self.sum += f64::from(self.now) * (now - self.since).as_f64();
        (self.since, self.now) = (now, levels.waiting + levels.suspended);
    }
}

/// Processor time, and jobs that wait where that is asked for.
fn simulate(policy: &PolicySpec, workload: &Workload, outages: Option<&Outages>, watch: bool) -> (Duration, f64) {
    let (first, last) = workload.submit_range().expect("jobs");
    let mut waiting = Waiting { until: last, since: first, ..Waiting::default() };
    let machine = workload.machine();
    let before = processor_time();
    match (outages, watch) {
        (Some(outage_table), true) => {
            let source = Happenings::new(workload, outage_table, false);
            Simulation::new(machine, policy.build_scheduler(), source).run(&mut waiting).expect("a sound policy");
        }
        (Some(outage_table), false) => {
            let source = Happenings::new(workload, outage_table, false);
            Simulation::new(machine, policy.build_scheduler(), source).run(&mut ()).expect("a sound policy");
        }
        (None, true) => {
            Simulation::new(machine, policy.build_scheduler(), WorkloadReplay::new(workload))
                .run(&mut waiting)
                .expect("a sound policy");
        }
        (None, false) => {
            Simulation::new(machine, policy.build_scheduler(), WorkloadReplay::new(workload))
                .run(&mut ())
                .expect("a sound policy");
        }
    }
    (processor_time() - before, waiting.sum / (last - first).as_f64())
}

/// One policy on one log.
fn row(text: &str, name: &str, node: u32) {
    let policy: PolicySpec = text.parse().expect("known");
    let Some(plain) = log(name, None) else { return };
    let (first, last) = plain.submit_range().expect("jobs");
    let outages =
        draw_outages(&OutageParams { node, ..OutageParams::new(plain.machine(), first, last, 7) }).expect("sound");
    let wait = |workload: &Workload, outages: Option<&Outages>| simulate(&policy, workload, outages, true).1;
    let (without, with) = (wait(&plain, None), wait(&plain, Some(&outages)));
    let dense_choice = (51..100).map(|step| f64::from(step) / 50.0).find_map(|factor| {
        let workload = log(name, Some(factor))?;
        let waiting = wait(&workload, None);
        (waiting >= with).then_some((factor, waiting, workload))
    });
    let (factor, equal, dense_log) = dense_choice.expect("a load at which as many wait");
    let runs: [(&Workload, Option<&Outages>); 3] = [(&plain, None), (&plain, Some(&outages)), (&dense_log, None)];
    let mut best = [Duration::MAX; 3];
    let (mut total_time, mut turns) = (Duration::ZERO, 0);
    while turns == 0 || total_time < Duration::from_secs(4) && turns < 30 {
        for (best, (workload, outages)) in best.iter_mut().zip(runs) {
            let (time, _) = simulate(&policy, workload, outages, false);
            *best = time.min(*best);
            total_time += time;
        }
        turns += 1;
    }
    let [plain, outage_time, dense_time] = best.map(|time| time.as_secs_f64());
    println!(
        "{:24} waiting {without:6.1} {with:6.1}, {equal:6.1} with submit times / {factor:.2}; seconds {plain:8.4} {outage_time:8.4}, {dense_time:8.4}; \
         speed {:.2}, where as many wait {:.2}",
        format!("{text}, {}", &name[..name.len().min(9)]),
        plain / outage_time,
        dense_time / outage_time
    );
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let slow = words.iter().any(|word| word == "slow");
    let filters: Vec<&String> = words.iter().filter(|word| *word != "slow").collect();
    let has_row = |name: &str| filters.is_empty() || filters.iter().any(|word| name.contains(word.as_str()));
    let logs = [("KTH-SP2-1996-2.1-cln", 1, "KTH"), ("SDSC-BLUE-2000-4.1-cln", 8, "BLUE")];
    for (log, node, short) in logs {
        let policies = ["greedy", "easy", "easy++", "conservative", "multiqueue", "slack", "ss", "tss", "goal"];
        for policy in policies {
            let takes_minutes =
                short == "BLUE" && ["slack", "ss", "tss"].contains(&policy) || policy.starts_with("goal");
            let name = format!("{policy}, {short}");
            if has_row(&name) && (slow || !takes_minutes) && !(short == "BLUE" && policy.starts_with("goal")) {
                row(policy, log, node);
            }
        }
    }
}
