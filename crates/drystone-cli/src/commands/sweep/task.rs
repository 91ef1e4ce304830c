//! `drystone sweep task`: one task of a study, on a node.

use crate::args::TaskArgs;
use crate::exit::{CommandOutcome, DONE, VIOLATION};
use crate::interrupt;
use crate::output::message;
use crate::output::number::{count, duration, plural, speed};
use crate::progress::WorkProgress;
use drystone_sweep::cluster::SubmittedTask;

pub(super) fn task(args: &TaskArgs) -> CommandOutcome {
    let task = SubmittedTask::open(&args.folder, args.task)?;
    let plan = task.submission().plan()?;
    let total = task.simulations();
    let tasks = task.submission().tasks.len();
    let name = format!("task {} of {tasks}", args.task);
    let left = task.todo(&plan)?.len();
    message::note(&format!(
        "{name}: {}, {} of them published before",
        plural(total as u64, "simulation"),
        count((total - left) as u64)
    ));
    let threads = args.threads.map_or(task.submission().terms.cpus as usize, usize::from);
    let scratch = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let cancel = interrupt::stop_in_order();
    let progress = WorkProgress::new("simulating", "simulations", Some(left as u64));
    let done = task.run(&plan, (&scratch, threads), cancel, &mut |_| progress.add(1), &mut message::warning);
    drop(progress);
    let done = done?;
    if done.simulated > 0 && done.seconds > 0.0 {
        let made = plural(done.simulated as u64, "simulation");
        let rate = speed(done.jobs as f64 / done.seconds);
        message::note(&format!("{made} in {}, {rate} jobs/s, published", duration(done.seconds)));
    }
    if done.left > 0 {
        let left = plural(done.left as u64, "simulation");
        message::note(&format!("{name} was stopped: {left} left, the rest is published"));
        return Ok(interrupt::code());
    }
    if done.failed > 0 {
        let failed = plural(done.failed as u64, "simulation");
        message::error(&format!(
            "{failed} failed: a policy broke its contract; gather and look at `drystone sweep status`"
        ));
        return Ok(VIOLATION);
    }
    message::note(&format!("{name} is complete"));
    Ok(DONE)
}
