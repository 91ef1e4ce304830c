//! `drystone sweep gather` and `cancel`: what tasks on a cluster have done, and ending them.

use super::status::Progressed;
use super::tasks::ShownTasks;
use crate::args::{CancelArgs, GatherArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::output::document::Document;
use crate::output::flat::FlatRows;
use crate::output::number::{count, plural};
use crate::output::{self, Printable, message};
use crate::progress::WorkProgress;
use drystone_sweep::cluster::{SlurmBatch, TaskFolder, TaskQueue};
use drystone_sweep::{Merged, Store, gather as gather_stores};
use serde::Serialize;

pub(super) fn gather(args: &GatherArgs) -> CommandOutcome {
    let tasks = TaskFolder::of(&args.store);
    let published = tasks.published()?;
    let progress = WorkProgress::new("gathering", "stores", Some(published.len() as u64));
    let merged = gather_stores(&args.store, &published, &mut || progress.add(1));
    drop(progress);
    let merged = merged?;
    let store = Store::look(&args.store)?;
    let gathered = GatherSummary {
        stores: published.len(),
        added: merged.added,
        equal: merged.equal,
        missing: merged.missing,
        status: Progressed::of(&store)?.with_tasks(ShownTasks::of(&store)?),
    };
    output::print(&gathered, args.format)?;
    if merged.missing > 0 {
        tell_what_is_missing(args, &merged);
    }
    Ok(if args.require_complete && merged.missing > 0 { FINDING } else { DONE })
}

fn tell_what_is_missing(args: &GatherArgs, merged: &Merged) {
    message::note(&format!(
        "{} missing; `drystone sweep slurm {}` submits the simulations of no waiting or running task",
        plural(merged.missing, "configuration"),
        args.store.display()
    ));
}

/// Summary of a gather, and the progress of the study.
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
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.facts(vec![
            ("published stores".to_string(), count(self.stores as u64)),
            ("results added".to_string(), count(self.added)),
            ("there already, equal".to_string(), count(self.equal)),
            ("still missing".to_string(), count(self.missing)),
        ]);
        self.status.tell(&mut document);
        document
    }

    fn rows(&self) -> FlatRows {
        self.status.rows()
    }
}

pub(super) fn cancel(args: &CancelArgs) -> CommandOutcome {
    let tasks = TaskFolder::of(&args.store);
    if tasks.submissions()?.is_empty() {
        let store = args.store.display();
        return Err(CommandFailure::usage(format_args!("{store}: no task of it was ever submitted")));
    }
    let queue = TaskQueue::ask(&tasks.jobs()?)?;
    let jobs = queue.jobs();
    if jobs.is_empty() {
        message::note("no task waits or runs");
        return Ok(DONE);
    }
    SlurmBatch.cancel(&jobs, args.waiting)?;
    let (waiting, running) = (queue.waiting() as u64, queue.running() as u64);
    let what = if args.waiting { "continue" } else { "publish what they have and stop" };
    message::note(&format!(
        "cancelled in {}: {} waited; {} run and {what}",
        jobs.iter().map(|job| format!("job {job}")).collect::<Vec<_>>().join(", "),
        plural(waiting, "task"),
        plural(running, "task")
    ));
    Ok(DONE)
}
