//! `drystone sweep task`: one task of a study, on a node.

use crate::args::TaskArgs;
use crate::exit::{CommandOutcome, DONE, VIOLATION};
use crate::interrupt;
use crate::output::message;
use crate::output::number::{format_count, format_duration, format_plural, format_speed};
use crate::progress::WorkProgress;
use drystone_sweep::cluster::SubmittedTask;

pub(super) fn run_task(args: &TaskArgs) -> CommandOutcome {
    let task = SubmittedTask::open(&args.folder, args.task)?;
    let plan = task.submission().build_plan()?;
    let total = task.simulation_count();
    let tasks = task.submission().tasks.len();
    let name = format!("task {} of {tasks}", args.task);
    let remaining_count = task.remaining_places(&plan)?.len();
    message::print_note(&format!(
        "{name}: {}, {} of them published before",
        format_plural(total as u64, "simulation"),
        format_count((total - remaining_count) as u64)
    ));
    let threads = args.threads.map_or(task.submission().terms.cpus as usize, usize::from);
    let scratch = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    let cancel = interrupt::stop_in_order();
    let progress = WorkProgress::new("simulating", "simulations", Some(remaining_count as u64));
    let outcome =
        task.run(&plan, (&scratch, threads), cancel, &mut |_| progress.add_done(1), &mut message::print_warning);
    drop(progress);
    let outcome = outcome?;
    if outcome.simulated > 0 && outcome.seconds > 0.0 {
        let simulated_text = format_plural(outcome.simulated as u64, "simulation");
        let rate = format_speed(outcome.jobs as f64 / outcome.seconds);
        message::print_note(&format!(
            "{simulated_text} in {}, {rate} jobs/s, published",
            format_duration(outcome.seconds)
        ));
    }
    if outcome.left > 0 {
        let remaining_text = format_plural(outcome.left as u64, "simulation");
        message::print_note(&format!("{name} was stopped: {remaining_text} left, the rest is published"));
        return Ok(interrupt::exit_code());
    }
    if outcome.failed > 0 {
        let failed_text = format_plural(outcome.failed as u64, "simulation");
        message::print_error(&format!(
            "{failed_text} failed: a policy broke its contract; gather and look at `drystone sweep status`"
        ));
        return Ok(VIOLATION);
    }
    message::print_note(&format!("{name} is complete"));
    Ok(DONE)
}
