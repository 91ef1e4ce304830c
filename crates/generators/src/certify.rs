//! Compares recordings of a real Slurm with the model: `certify DIR [NAME]...`. With names, every
//! difference is listed.

use drystone_certify::{Golden, compare_priorities, free_run, pass_by_pass};
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn main(args: Vec<String>) -> ExitCode {
    let dir = Path::new(args.first().map_or("../shared/golden/slurm", String::as_str));
    let wanted_names = args.get(1..).unwrap_or_default();
    for name in Golden::list_recordings(dir).expect("a folder of recordings") {
        if !wanted_names.is_empty() && !wanted_names.iter().any(|c| name.contains(c.as_str())) {
            continue;
        }
        let golden = match Golden::read_recording(dir, &name) {
            Ok(golden) => golden,
            Err(error) => {
                println!("{name}: {error}");
                continue;
            }
        };
        let (a, differences) = pass_by_pass(&golden);
        let free = free_run(&golden, if wanted_names.is_empty() { 8 } else { 1 });
        println!(
            "{name:26} passes {:5} extra {:3} ({:2} after ends)  starts {:3}/{:3} nodes {:3}  plans {:5}/{:5} nodes {:5} extra {:3}  victims {}/{}  wait {:.1} model {:.1} ({:.1} to {:.1}) {}",
            a.passes,
            a.passes_with_extra,
            a.extra_after_end,
            a.same_starts,
            a.starts,
            a.same_nodes,
            a.same_plans,
            a.plans,
            a.same_plan_nodes,
            a.extra_plans,
            a.same_victims,
            a.victims,
            free.real,
            free.mean_over_phases(),
            free.model[0],
            free.model[free.model.len() - 1],
            if a.reaches_bar() { "" } else { "BELOW THE BAR" }
        );
        if let Some(p) = compare_priorities(&golden) {
            println!("{:26} priorities {}/{} largest difference {}", "", p.same, p.all, p.largest);
        }
        if !wanted_names.is_empty() {
            differences
                .iter()
                .for_each(|d| println!("  {:9} job {:3}  real: {}  model: {}", d.at, d.job, d.real, d.model));
        }
    }
    ExitCode::SUCCESS
}
