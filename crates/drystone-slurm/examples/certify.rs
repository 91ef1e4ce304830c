//! Prints how the model agrees with recordings: `cargo run --example certify -- FOLDER [NAME]`.

use drystone_slurm::certify::{Golden, free_run, pass_by_pass};
use std::path::Path;

fn main() {
    let mut args = std::env::args().skip(1);
    let (dir, only) = (args.next().expect("a folder"), args.next());
    for golden in Golden::all(Path::new(&dir)).expect("recordings") {
        let (a, differences) = pass_by_pass(&golden);
        println!(
            "{:16} passes {:4} extra {} ({} after an end)  starts {}/{}/{}  plans {}/{}/{} extra {}  {}",
            golden.name,
            a.passes,
            a.passes_with_extra,
            a.extra_after_end,
            a.same_nodes,
            a.same_starts,
            a.starts,
            a.same_plan_nodes,
            a.same_plans,
            a.plans,
            a.extra_plans,
            if a.holds() { "holds" } else { "FAILS" }
        );
        let free = free_run(&golden, 16);
        let (least, most) = (free.model[0], free.model[15]);
        println!("{:16} mean wait {:.1}, model {:.1} ({least:.1} to {most:.1})", "", free.real, free.mean());
        if only.as_deref() == Some(golden.name.as_str()) {
            differences
                .iter()
                .take(60)
                .for_each(|d| println!("{:8} #{}: real {}; model {}", d.at, d.job, d.real, d.model));
        }
    }
}
