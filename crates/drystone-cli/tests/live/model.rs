//! Slurm's model held to a real Slurm on a scenario that no recording has.

use drystone_certify::scenario::Scenario;
use drystone_certify::{Golden, free_run, pass_by_pass};
use std::time::{SystemTime, UNIX_EPOCH};

/// Only in the long runs: a scenario takes minutes, and a busy machine makes `slurmctld` late.
pub(super) fn tests() -> Vec<(&'static str, fn())> {
    if !super::site::full() {
        return Vec::new();
    }
    vec![("passes_of_a_fresh_scenario_are_those_of_the_model", fresh)]
}

/// Scenarios that are tried: one on which this machine was too busy for `slurmctld` to work on time
/// says nothing of the model, and what the model does wrong it does wrong again.
const TRIES: u64 = 3;

/// The bar of all recordings, on freshly drawn jobs and settings: every start in the same pass, 99
/// % of the plans to the second. `DRYSTONE_SEED` repeats the draw of a failed run.
fn fresh() {
    let fixed_seed = std::env::var("DRYSTONE_SEED").ok().and_then(|seed| seed.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as u64);
    let first: u64 = fixed_seed.unwrap_or_else(now);
    let mut reports = Vec::new();
    for seed in first..first + TRIES {
        let scenario = Scenario::draw_scenario("brief", seed).expect("a family");
        let Some(recording) = scenario.record_run() else { return };
        let folder = tempfile::tempdir().expect("a folder");
        recording.write_files(folder.path(), 1).expect("files are written");
        let golden = Golden::read_recording(folder.path(), &format!("brief-{seed}.rep1")).expect("a recording");
        let (agreement, differences) = pass_by_pass(&golden);
        let free = free_run(&golden, 8);
        let (least, most) = (free.model[0], free.model[free.model.len() - 1]);
        let wait = format!("mean wait {:.1} s, of the model {least:.1} s to {most:.1} s", free.real);
        eprintln!("a fresh scenario with the seed {seed}: {agreement:?}, {wait}");
        if agreement.starts == scenario.jobs.len() && agreement.reaches_bar() {
            return;
        }
        reports.push(format!("seed {seed}: {agreement:?}\n{differences:#?}"));
    }
    panic!("the model differs from this Slurm on {TRIES} scenarios, one after another:\n{}", reports.join("\n"));
}
