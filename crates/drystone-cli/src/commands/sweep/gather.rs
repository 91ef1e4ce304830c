//! `drystone sweep gather` and `cancel`: what tasks on a cluster have done, and ending them.

use super::status::Progressed;
use super::tasks::Shown;
use crate::args::{CancelArgs, GatherArgs};
use crate::exit::{DONE, FINDING, Failure, Outcome};
use crate::output::document::Document;
use crate::output::flat::Rows;
use crate::output::number::{count, plural};
use crate::output::{self, Printable, message};
use crate::progress::Progress;
use drystone_sweep::cluster::{Queue, Slurm, Tasks};
use drystone_sweep::{Merged, Store, gather as gather_stores};
use serde::Serialize;

pub(super) fn gather(args: &GatherArgs) -> Outcome {
    let tasks = Tasks::of(&args.store);
    let published = tasks.published()?;
    let progress = Progress::new("gathering", "stores", Some(published.len() as u64));
    let merged = gather_stores(&args.store, &published, &mut || progress.add(1));
    drop(progress);
    let merged = merged?;
    let store = Store::look(&args.store)?;
    let gathered = Gathered {
        stores: published.len(),
        added: merged.added,
        equal: merged.equal,
        missing: merged.missing,
        status: Progressed::of(&store)?.with_tasks(Shown::of(&store)?),
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
struct Gathered {
    stores: usize,
    added: u64,
    equal: u64,
    missing: u64,
    #[serde(flatten)]
    status: Progressed,
}

impl Printable for Gathered {
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

    fn rows(&self) -> Rows {
        self.status.rows()
    }
}

pub(super) fn cancel(args: &CancelArgs) -> Outcome {
    let tasks = Tasks::of(&args.store);
    if tasks.submissions()?.is_empty() {
        let store = args.store.display();
        return Err(Failure::usage(format_args!("{store}: no task of it was ever submitted")));
    }
    let queue = Queue::ask(&tasks.jobs()?)?;
    let jobs = queue.jobs();
    if jobs.is_empty() {
        message::note("no task waits or runs");
        return Ok(DONE);
    }
    Slurm.cancel(&jobs, args.waiting)?;
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
