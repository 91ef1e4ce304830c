//! `drystone live hand-back`.

use super::{OFF, home, slurm};
use crate::args::HandBackArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::Document;
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::{self, Printable};
use drystone_live::clock::wall;
use drystone_live::cluster::slurm::hook::{SILENCE, heartbeat_of};
use drystone_live::hand_back::{HandBackOptions, HandBackSummary, hand_back as give_back};
use drystone_live::state::{Beat, Home};
use serde::Serialize;
use std::path::Path;

pub(super) fn hand_back(args: &HandBackArgs) -> CommandOutcome {
    let mut home = home(&args.home);
    let mut cluster = slurm(&args.cluster, false).map_err(CommandFailure::usage)?;
    let options = HandBackOptions { if_silent: args.if_silent, requeue: args.requeue, patience: args.patience };
    // Whichever partitions were driven: all are looked at, for nodes and jobs.
    let site = cluster.site().map_err(CommandFailure::usage)?;
    cluster.look_at_all(&site);
    // The heartbeat that the hook reads is the one that counts.
    let hooked = std::fs::read_to_string(site.hook()).ok().and_then(|hook| heartbeat_of(&hook));
    if let (None, Some(folder)) = (&args.home.run, hooked.as_deref().and_then(Path::parent)) {
        home = Home::new(home.state(), folder);
    }
    let given = give_back(&mut cluster, &home, &options, &mut std::thread::sleep)?;
    if given.skipped.is_none() {
        nothing_beats(&hooked.unwrap_or_else(|| home.heartbeat()))?;
        // A daemon that re-arms does so after a timer's hand-back, never after an administrator's.
        let mark = home.timers_mark();
        let _ = if args.if_silent.is_some() { std::fs::write(&mark, "") } else { std::fs::remove_file(&mark) };
    }
    let done = given.released + given.resumed + given.crowded + given.requeued + given.left.len() > 0;
    if done || !args.quiet {
        output::print(&HandBackReport { schema: "drystone/live-hand-back/1", given: &given }, args.format)?;
    }
    Ok(if given.left.is_empty() { DONE } else { OFF })
}

/// Refuses to report success while a daemon still beats where the hook looks.
fn nothing_beats(heartbeat: &Path) -> Result<(), CommandFailure> {
    let Beat::At { second, instance } = Beat::read(heartbeat) else { return Ok(()) };
    let age = wall() - second;
    if age.unsigned_abs() > SILENCE {
        return Ok(());
    }
    let run = heartbeat.parent().unwrap_or(heartbeat).display();
    Err(CommandFailure::usage(format_args!(
        "{instance} still drives: it beat {age} s ago in {}, which the hook reads, and new jobs come in held; repeat with --run {run}",
        heartbeat.display()
    )))
}

/// Describes a hand-back in one sentence.
pub(super) fn told(given: &HandBackSummary) -> String {
    if let Some(why) = &given.skipped {
        return format!("nothing was done: {why}");
    }
    let mut parts = vec![format!("{} jobs let go", given.released)];
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    };
    add(given.resumed, "suspended jobs resume");
    add(given.crowded, "suspended jobs resume beside others, for they had no room in time");
    add(given.requeued, "suspended jobs requeued");
    add(given.unpinned, "jobs freed from nodes");
    add(given.users, "jobs stay held by their users");
    parts.extend(given.left.iter().cloned());
    parts.join(", ")
}

#[derive(Serialize)]
struct HandBackReport<'a> {
    schema: &'static str,
    #[serde(flatten)]
    given: &'a HandBackSummary,
}

impl Printable for HandBackReport<'_> {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.text(told(self.given));
        document
    }

    /// Scripts search these lines.
    fn overview(&self) -> Option<Document> {
        None
    }

    fn rows(&self) -> FlatRows {
        let mut row = FlatRow::default();
        for (name, value) in [
            ("released", self.given.released),
            ("resumed", self.given.resumed),
            ("crowded", self.given.crowded),
            ("requeued", self.given.requeued),
            ("unpinned", self.given.unpinned),
            ("users", self.given.users),
            ("left", self.given.left.len()),
        ] {
            row.text(name, value);
        }
        let mut rows = FlatRows::default();
        rows.push(row);
        rows
    }
}
