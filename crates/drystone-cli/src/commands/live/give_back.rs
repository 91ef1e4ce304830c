//! `drystone live hand-back`.

use super::{OFF, find_home, reach_cluster};
use crate::args::HandBackArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::document::Document;
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::{self, Printable};
use drystone_live::clock::unix_seconds;
use drystone_live::cluster::slurm::hook::{SILENCE, heartbeat_of};
use drystone_live::hand_back::{HandBackOptions, HandBackSummary, JobHolder, hand_back as give_back};
use drystone_live::state::{Beat, Home};
use serde::Serialize;
use std::path::Path;

/// Jobs of a kind that are listed by number.
const LISTED: usize = 20;

pub(super) fn hand_back(args: &HandBackArgs) -> CommandOutcome {
    let mut home = find_home(&args.home);
    let mut cluster = reach_cluster(&args.cluster, false).map_err(CommandFailure::usage_error)?;
    let options = HandBackOptions { if_silent: args.if_silent, requeue: args.requeue, patience: args.patience };
    // Whichever partitions were driven: all are looked at, for nodes and jobs.
    let site = cluster.read_site().map_err(CommandFailure::usage_error)?;
    cluster.look_at_all(&site);
    // The heartbeat that the hook reads is the one that counts.
    let heartbeat = std::fs::read_to_string(site.hook_path()).ok().and_then(|hook| heartbeat_of(&hook));
    if let (None, Some(folder)) = (&args.home.run, heartbeat.as_deref().and_then(Path::parent)) {
        home = Home::new(home.state_folder(), folder);
    }
    let summary = give_back(&mut cluster, &home, &options, &mut std::thread::sleep)?;
    if summary.skipped.is_none() {
        nothing_beats(&heartbeat.unwrap_or_else(|| home.heartbeat_path()))?;
        // A daemon that re-arms does so after a timer's hand-back, never after an administrator's.
        let mark = home.timers_mark();
        let _ = if args.if_silent.is_some() { std::fs::write(&mark, "") } else { std::fs::remove_file(&mark) };
    }
    let has_effect = summary.released + summary.resumed + summary.crowded + summary.requeued + summary.left.len() > 0;
    let has_effect = has_effect || summary.is_doubtful();
    if has_effect || !args.quiet {
        output::print_result(&HandBackReport { schema: "drystone/live-hand-back/1", given: &summary }, args.format)?;
    }
    Ok(if summary.left.is_empty() && !summary.is_doubtful() { DONE } else { OFF })
}

/// Refuses to report success while a daemon still beats where the hook looks.
fn nothing_beats(heartbeat: &Path) -> Result<(), CommandFailure> {
    let Beat::At { second, instance } = Beat::read_beat(heartbeat) else { return Ok(()) };
    let age = unix_seconds() - second;
    if age.unsigned_abs() > SILENCE {
        return Ok(());
    }
    let run = heartbeat.parent().unwrap_or(heartbeat).display();
    Err(CommandFailure::usage_error(format_args!(
        "{instance} still drives: it beat {age} s ago in {}, which the hook reads, and new jobs come in held; repeat with --run {run}",
        heartbeat.display()
    )))
}

pub(super) fn describe_hand_back(summary: &HandBackSummary) -> String {
    if let Some(reason) = &summary.skipped {
        return format!("nothing was done: {reason}");
    }
    let jobs = |count: usize| format!("{count} {}", if count == 1 { "job" } else { "jobs" });
    let mut parts = vec![format!("{} let go", jobs(summary.released))];
    let mut add = |count: usize, singular: &str, several: &str| {
        if count > 0 {
            parts.push(format!("{count} {}", if count == 1 { singular } else { several }));
        }
    };
    add(summary.resumed, "suspended job resumes", "suspended jobs resume");
    add(
        summary.crowded,
        "suspended job resumes beside others, for it had no room in time",
        "suspended jobs resume beside others, for they had no room in time",
    );
    add(summary.requeued, "suspended job requeued", "suspended jobs requeued");
    add(summary.unpinned, "job freed from nodes", "jobs freed from nodes");
    for by in [JobHolder::User, JobHolder::Administrator, JobHolder::Cluster, JobHolder::Unknown] {
        let names: Vec<&str> = summary.held.iter().filter(|hold| hold.by == by).map(|hold| hold.job.as_str()).collect();
        if !names.is_empty() {
            let stay = if names.len() == 1 { "stays" } else { "stay" };
            parts.push(format!(
                "{} {stay} held {}: {}",
                jobs(names.len()),
                holder_phrase(by, names.len()),
                list_names(&names)
            ));
        }
    }
    parts.extend(summary.left.iter().cloned());
    let mut text = parts.join(", ");
    if let Some(hold) = summary.held.iter().find(|hold| hold.by == JobHolder::Unknown).or(summary.held.first()) {
        text.push_str(&format!("; `scontrol release {}` lets such a job go", hold.job));
    }
    text
}

/// Returns who holds so many jobs.
fn holder_phrase(by: JobHolder, count: usize) -> &'static str {
    match (by, count) {
        (JobHolder::User, 1) => "by its user",
        (JobHolder::User, _) => "by their users",
        (JobHolder::Administrator, _) => "by an administrator",
        (JobHolder::Cluster, 1) => {
            "by Slurm, which could not launch it, finds no nodes for it, or holds it for its exit code"
        }
        (JobHolder::Cluster, _) => {
            "by Slurm, which could not launch them, finds no nodes for them, or holds them for their exit codes"
        }
        (JobHolder::Unknown, 1) => "as if by its user, of which no hook told",
        (JobHolder::Unknown, _) => "as if by their users, of which no hook told",
    }
}

/// Lists the first jobs.
fn list_names(names: &[&str]) -> String {
    let first = names[..names.len().min(LISTED)].join(" ");
    match names.len().saturating_sub(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

#[derive(Serialize)]
struct HandBackReport<'a> {
    schema: &'static str,
    #[serde(flatten)]
    given: &'a HandBackSummary,
}

impl Printable for HandBackReport<'_> {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_text(describe_hand_back(self.given));
        document
    }

    /// Scripts search these lines.
    fn render_overview(&self) -> Option<Document> {
        None
    }

    fn render_rows(&self) -> FlatRows {
        let mut row = FlatRow::default();
        for (name, value) in [
            ("released", self.given.released),
            ("resumed", self.given.resumed),
            ("crowded", self.given.crowded),
            ("requeued", self.given.requeued),
            ("unpinned", self.given.unpinned),
            ("users", self.given.users),
            ("held", self.given.held.len()),
            ("left", self.given.left.len()),
        ] {
            row.add_text(name, value);
        }
        let mut rows = FlatRows::default();
        rows.push(row);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_live::hand_back::HeldJob;

    #[test]
    fn a_hand_back_is_told_in_plain_words() {
        let hold = |job: &str, by| HeldJob { job: job.into(), by };
        let mut summary = HandBackSummary { released: 1, requeued: 2, ..HandBackSummary::default() };
        assert_eq!(describe_hand_back(&summary), "1 job let go, 2 suspended jobs requeued");
        summary.held = vec![hold("4", JobHolder::User), hold("8", JobHolder::Unknown), hold("9_3", JobHolder::User)];
        assert_eq!(
            describe_hand_back(&summary),
            "1 job let go, 2 suspended jobs requeued, 2 jobs stay held by their users: 4 9_3, 1 job stays held as if by its user, of which no hook told: 8; `scontrol release 8` lets such a job go"
        );
        assert!(summary.is_doubtful());
        summary.held = (1..=22).map(|k| hold(&k.to_string(), JobHolder::Administrator)).collect();
        assert!(
            describe_hand_back(&summary).contains("19 20 and 2 more; `scontrol release 1` lets such a job go"),
            "{}",
            describe_hand_back(&summary)
        );
        assert!(!summary.is_doubtful());
    }
}
