//! Jobs that are held and released in a recording.

use super::golden::Golden;
use super::recorded::Happening;
use std::collections::BTreeSet;

/// Command that holds or releases jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HoldCommand {
    /// True if it holds them, else it releases them.
    pub(super) holds: bool,
    /// The jobs by their places in the recording.
    pub(super) jobs: Vec<u32>,
}

impl HoldCommand {
    /// Reads `scontrol hold 7 9`, `scontrol release 7,9`; `None` for other commands.
    pub(super) fn read(command: &str, golden: &Golden) -> Option<HoldCommand> {
        let mut words = command.split("->").next()?.split([' ', ',']).filter(|word| !word.is_empty());
        let holds = words.find_map(|word| match word {
            "hold" | "uhold" => Some(true),
            "release" => Some(false),
            _ => None,
        })?;
        let numbers: BTreeSet<u32> = words.filter_map(|word| word.parse().ok()).collect();
        let is = |&id: &u32| {
            let job = &golden.jobs[id as usize];
            numbers.contains(&job.task.map_or(job.slurm_id, |(array, _)| array))
        };
        Some(HoldCommand { holds, jobs: (0..golden.jobs.len() as u32).filter(is).collect() })
    }

    /// The jobs that are held or released at any time of a recording.
    pub(super) fn all_jobs(golden: &Golden) -> BTreeSet<u32> {
        let commands = golden.events.iter().filter_map(|(_, happening)| match happening {
            Happening::Action(text) => HoldCommand::read(text, golden),
            _ => None,
        });
        commands.flat_map(|command| command.jobs).collect()
    }
}
