//! Records scenarios on a real Slurm: `record DIR FAMILY SEED [REPETITION]`. The whole log goes
//! beside them.

use drystone_certify::scenario::{FAMILIES, Scenario};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let [dir, family, seed, rest @ ..] = args.as_slice() else {
        eprintln!("usage: record DIR FAMILY SEED [REPETITION]; families:");
        FAMILIES.iter().for_each(|(name, _)| eprintln!("  {name}"));
        return ExitCode::from(2);
    };
    let seed = seed.parse().expect("a seed is a number");
    let rep = rest.first().map_or(1, |rep| rep.parse().expect("a repetition is a number"));
    let scenario = Scenario::draw_scenario(family, seed).expect("a family");
    if let Some(recording) = scenario.record_run() {
        recording.write_files(Path::new(dir), rep).expect("files are written");
        let log = Path::new(dir).join(format!("{}.rep{rep}.log", recording.name));
        std::fs::write(log, &recording.log).expect("the log is written");
        println!("{} {rep}: {} lines of events", recording.name, recording.events.lines().count());
    }
    ExitCode::SUCCESS
}
