//! `drystone live journal`.

use super::home;
use crate::args::{JournalCommand, JournalExportArgs, JournalListArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::number::plural;
use crate::output::{self, Printable, message};
use drystone::log::swf::SwfRecord;
use drystone::policy::Action;
use drystone_live::core::{CoreInput, Decided};
use drystone_live::journal::{self, JournalError, JournalRecord, JournalReplay};
use serde::Serialize;
use std::path::Path;

pub(super) fn journal(command: JournalCommand) -> CommandOutcome {
    match command {
        JournalCommand::List(args) => list(&args),
        JournalCommand::Show(args) => show(&args),
        JournalCommand::Replay(args) => replay(&args),
        JournalCommand::Export(args) => export(&args),
    }
}

/// Rows of texts, with names.
#[derive(Serialize)]
struct JournalRows {
    schema: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Printable for JournalRows {
    fn document(&self) -> Document {
        let mut document = Document::default();
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let mut table = DocumentTable::new(self.columns.iter().copied()).texts(&all);
        self.rows.iter().for_each(|row| table.row(row.iter().cloned().map(Into::into).collect()));
        document.table(table);
        document
    }

    /// Scripts search these lines.
    fn overview(&self) -> Option<Document> {
        None
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::of(self.columns.iter().map(ToString::to_string));
        for values in &self.rows {
            let mut row = FlatRow::default();
            self.columns.iter().zip(values).for_each(|(name, value)| row.text(*name, value));
            rows.push(row);
        }
        rows
    }
}

/// Rows of every journal, with a column of the sets of nodes where there are several.
fn of_sets(
    args: &JournalListArgs,
    schema: &'static str,
    columns: &[&'static str],
    read: impl Fn(&Path) -> Result<Vec<Vec<String>>, JournalError>,
) -> Result<(), CommandFailure> {
    let journals = home(&args.home).journals();
    let several = journals.len() > 1;
    let mut rows = Vec::new();
    for (set, folder) in journals {
        let set = set.unwrap_or_default();
        let first = |row: Vec<String>| if several { [vec![set.clone()], row].concat() } else { row };
        rows.extend(read(&folder)?.into_iter().map(first));
    }
    let columns = if several { [&["partitions"], columns].concat() } else { columns.to_vec() };
    output::print(&JournalRows { schema, columns, rows }, args.format)?;
    Ok(())
}

fn list(args: &JournalListArgs) -> CommandOutcome {
    let columns = ["segment", "began", "mode", "policy", "version", "looks", "bytes"];
    of_sets(args, "drystone/live-journal/1", &columns, |folder| {
        let mut rows = Vec::new();
        for (segment, records) in journal::whole(folder)? {
            let inputs = records.iter().filter(|record| matches!(record, JournalRecord::In(_))).count();
            let told = match records.first() {
                Some(JournalRecord::Begin(begin)) => [
                    begin.time.to_string(),
                    format!("{:?}", begin.settings.mode).to_lowercase(),
                    begin.policy.clone(),
                    begin.version.clone(),
                ],
                _ => ["torn".to_string(), String::new(), String::new(), String::new()],
            };
            let mut row = vec![segment.number.to_string()];
            row.extend(told);
            row.extend([inputs.to_string(), segment.bytes.to_string()]);
            rows.push(row);
        }
        Ok(rows)
    })?;
    Ok(DONE)
}

fn show(args: &JournalListArgs) -> CommandOutcome {
    of_sets(args, "drystone/live-journal-lines/1", &["time", "what", "text"], lines)?;
    Ok(DONE)
}

/// One row for each thing that happened.
fn lines(folder: &Path) -> Result<Vec<Vec<String>>, JournalError> {
    let mut rows = Vec::new();
    for (_, records) in journal::whole(folder)? {
        let mut now = 0;
        for record in records {
            match record {
                JournalRecord::Begin(begin) => {
                    now = begin.time + begin.offset;
                    rows.push(row(
                        now,
                        "begin",
                        format!("{} by {}", format!("{:?}", begin.settings.mode).to_lowercase(), begin.policy),
                    ));
                }
                JournalRecord::In(
                    CoreInput::Facts { stamp, .. } | CoreInput::Tick(stamp) | CoreInput::Restarted(stamp),
                ) => now = stamp.now,
                JournalRecord::In(_) => {}
                JournalRecord::Out(output) => {
                    rows.extend(output.decided.iter().map(|decided| row(now, "decide", told(decided))));
                    let orders = output.orders.iter().map(|order| format!("{} {}", order.verb(), order.key().name()));
                    rows.extend(orders.map(|text| row(now, "order", text)));
                    rows.extend(output.doubt.iter().map(|text| row(now, "doubt", text.clone())));
                }
                JournalRecord::Note { at, text } => rows.push(row(at, "note", text)),
            }
        }
    }
    Ok(rows)
}

fn row(now: i64, what: &str, text: String) -> Vec<String> {
    vec![now.to_string(), what.to_string(), text]
}

fn told(decided: &Decided) -> String {
    let job = decided.key.map_or_else(|| "?".to_string(), |key| key.name());
    let on = decided.on.as_ref().map_or(String::new(), |set| format!(" on {set}"));
    match decided.action {
        Action::Start { why, .. } => format!("start {job} ({why:?}){on}"),
        Action::Suspend(_) => format!("suspend {job}"),
        Action::Resume(_) | Action::ResumeOn { .. } | Action::ResumeWith { .. } => format!("resume {job}{on}"),
        Action::Kill(_) => format!("end {job}"),
        Action::Resize { procs, .. } => format!("shrink {job} to {procs} processors"),
        Action::Reserve { start, .. } => format!("plan {job} for {start}"),
        Action::Repredict { prediction, .. } => format!("predict {job} to run {prediction} s"),
        _ => "note".to_string(),
    }
}

fn replay(args: &JournalListArgs) -> CommandOutcome {
    let differs = std::cell::Cell::new(false);
    let columns = ["segments", "inputs", "decisions", "orders", "replay"];
    of_sets(args, "drystone/live-replay/1", &columns, |folder| {
        let JournalReplay { segments, inputs, decided, orders, mismatch } = journal::replay(folder)?;
        differs.set(differs.get() || mismatch.is_some());
        let outcome = match &mismatch {
            None => "the same came out, bit for bit".to_string(),
            Some(wrong) => {
                format!("after record {} of segment {} something else came out", wrong.record, wrong.segment)
            }
        };
        Ok(vec![vec![segments.to_string(), inputs.to_string(), decided.to_string(), orders.to_string(), outcome]])
    })?;
    Ok(if differs.get() { FINDING } else { DONE })
}

fn export(args: &JournalExportArgs) -> CommandOutcome {
    let target = OutputTarget::<Logs>::open(&args.out)?;
    let folder = super::one_journal(&home(&args.home), args.set.as_deref())?;
    let (workload, waits) = journal::workload(&folder)?;
    let mut header = crate::input::synthetic_header(&workload);
    header.set("Computer", &workload.provenance.name);
    header.push("MaxJobs", &workload.len().to_string());
    header.push("MaxRecords", &workload.len().to_string());
    let jobs = workload.jobs().iter().zip(workload.truth()).zip(&waits);
    let records: Vec<SwfRecord> =
        jobs.map(|((job, truth), wait)| SwfRecord { wait: wait.0.into(), ..SwfRecord::of(job, truth) }).collect();
    target.write(&WrittenLog { header: &header, records: &records })?.publish()?;
    message::note(&format!("{} that ran and are over", plural(workload.len() as u64, "job")));
    Ok(DONE)
}
