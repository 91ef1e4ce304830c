//! `drystone sweep gather` and `cancel`: what tasks on a cluster have done, and ending them.

use super::status::Progressed;
use super::tasks::ShownTasks;
use crate::args::{CancelArgs, GatherArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use crate::output::number::{format_count, format_plural};
use crate::output::{self, Printable, message};
use crate::progress::WorkProgress;
use drystone_sweep::cluster::{SlurmBatch, TaskFolder, TaskQueue};
use drystone_sweep::{Merged, Store, gather_published as gather_stores};
use serde::Serialize;

pub(super) fn run_gather(args: &GatherArgs) -> CommandOutcome {
    let tasks = TaskFolder::for_store(&args.store);
    let published_stores = tasks.published_stores()?;
    let progress = WorkProgress::new("gathering", "stores", Some(published_stores.len() as u64));
    let merge_result = gather_stores(&args.store, &published_stores, &mut || progress.add_done(1));
    drop(progress);
    let merge_result = merge_result?;
    let store = Store::open_to_read(&args.store)?;
    let summary = GatherSummary {
        stores: published_stores.len(),
        added: merge_result.added,
        equal: merge_result.equal,
        missing: merge_result.missing,
        status: Progressed::from_store(&store)?.with_tasks(ShownTasks::from_store(&store)?),
    };
    output::print_result(&summary, args.format)?;
    if merge_result.missing > 0 {
        tell_what_is_missing(args, &merge_result);
    }
    Ok(if args.require_complete && merge_result.missing > 0 { FINDING } else { DONE })
}

fn tell_what_is_missing(args: &GatherArgs, summary: &Merged) {
    message::print_note(&format!(
        "{} missing; `drystone sweep slurm {}` submits the simulations of no waiting or running task",
        format_plural(summary.missing, "configuration"),
        args.store.display()
    ));
}

#[derive(Serialize)]
struct GatherSummary {
    stores: usize,
    added: u64,
    equal: u64,
    missing: u64,
    #[serde(flatten)]
    status: Progressed,
}

impl Printable for GatherSummary {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_facts(vec![
            ("published stores".to_string(), format_count(self.stores as u64)),
            ("results added".to_string(), format_count(self.added)),
            ("there already, equal".to_string(), format_count(self.equal)),
            ("still missing".to_string(), format_count(self.missing)),
        ]);
        self.status.append_progress(&mut document);
        document
    }

    fn render_rows(&self) -> FlatRows {
        self.status.render_rows()
    }
}

pub(super) fn run_cancel(args: &CancelArgs) -> CommandOutcome {
    let tasks = TaskFolder::for_store(&args.store);
    if tasks.submissions()?.is_empty() {
        let store = args.store.display();
        return Err(CommandFailure::usage_error(format_args!("{store}: no task of it was ever submitted")));
    }
    let queue = TaskQueue::ask_slurm(&tasks.noted_jobs()?)?;
    let jobs = queue.unfinished_jobs();
    if jobs.is_empty() {
        message::print_note("no task waits or runs");
        return Ok(DONE);
    }
    SlurmBatch.cancel_jobs(&jobs, args.waiting)?;
    let (waiting_tasks, running_tasks) = (queue.waiting_tasks() as u64, queue.running_tasks() as u64);
    let task_fate = if args.waiting { "continue" } else { "publish what they have and stop" };
    message::print_note(&format!(
        "cancelled in {}: {} waited; {} run and {task_fate}",
        jobs.iter().map(|job| format!("job {job}")).collect::<Vec<_>>().join(", "),
        format_plural(waiting_tasks, "task"),
        format_plural(running_tasks, "task")
    ));
    Ok(DONE)
}
