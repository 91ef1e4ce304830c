//! `drystone live journal`.

use super::find_home;
use crate::args::{JournalCommand, JournalExportArgs, JournalListArgs};
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::format::OutputTarget;
use crate::output::logs::{Logs, WrittenLog};
use crate::output::number::format_plural;
use crate::output::{self, Printable, message};
use drystone::log::swf::SwfRecord;
use drystone::policy::Action;
use drystone_live::core::{CoreInput, Decided};
use drystone_live::journal::{self, JournalError, JournalRecord, JournalReplay};
use serde::Serialize;
use std::path::Path;

pub(super) fn run_journal(command: JournalCommand) -> CommandOutcome {
    match command {
        JournalCommand::List(args) => list_journal(&args),
        JournalCommand::Show(args) => show_journal(&args),
        JournalCommand::Replay(args) => replay_journal(&args),
        JournalCommand::Export(args) => export_journal(&args),
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
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        let column_places: Vec<usize> = (0..self.columns.len()).collect();
        let mut table = DocumentTable::new(self.columns.iter().copied()).with_text_columns(&column_places);
        self.rows.iter().for_each(|row| table.add_row(row.iter().cloned().map(Into::into).collect()));
        document.add_table(table);
        document
    }

    /// Scripts search these lines.
    fn render_overview(&self) -> Option<Document> {
        None
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::with_columns(self.columns.iter().map(ToString::to_string));
        for values in &self.rows {
            let mut row = FlatRow::default();
            self.columns.iter().zip(values).for_each(|(name, value)| row.add_text(*name, value));
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
    let journals = find_home(&args.home).list_journals();
    let several = journals.len() > 1;
    let mut rows = Vec::new();
    for (set, folder) in journals {
        let set = set.unwrap_or_default();
        let first = |row: Vec<String>| if several { [vec![set.clone()], row].concat() } else { row };
        rows.extend(read(&folder)?.into_iter().map(first));
    }
    let columns = if several { [&["partitions"], columns].concat() } else { columns.to_vec() };
    output::print_result(&JournalRows { schema, columns, rows }, args.format)?;
    Ok(())
}

fn list_journal(args: &JournalListArgs) -> CommandOutcome {
    let columns = ["segment", "began", "mode", "policy", "version", "looks", "bytes"];
    of_sets(args, "drystone/live-journal/1", &columns, |folder| {
        let mut rows = Vec::new();
        for (segment, records) in journal::read_journal(folder)? {
            let inputs = records.iter().filter(|record| matches!(record, JournalRecord::In(_))).count();
            let begin_fields = match records.first() {
                Some(JournalRecord::Begin(begin)) => [
                    begin.time.to_string(),
                    format!("{:?}", begin.settings.mode).to_lowercase(),
                    begin.policy.clone(),
                    begin.version.clone(),
                ],
                _ => ["torn".to_string(), String::new(), String::new(), String::new()],
            };
            let mut row = vec![segment.number.to_string()];
            row.extend(begin_fields);
            row.extend([inputs.to_string(), segment.bytes.to_string()]);
            rows.push(row);
        }
        Ok(rows)
    })?;
    Ok(DONE)
}

fn show_journal(args: &JournalListArgs) -> CommandOutcome {
    of_sets(args, "drystone/live-journal-lines/1", &["time", "what", "text"], journal_rows)?;
    Ok(DONE)
}

fn journal_rows(folder: &Path) -> Result<Vec<Vec<String>>, JournalError> {
    let mut rows = Vec::new();
    for (_, records) in journal::read_journal(folder)? {
        let mut now = 0;
        for record in records {
            match record {
                JournalRecord::Begin(begin) => {
                    now = begin.time + begin.offset;
                    rows.push(text_row(
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
                    rows.extend(
                        output.decided.iter().map(|decision| text_row(now, "decide", describe_decision(decision))),
                    );
                    let orders =
                        output.orders.iter().map(|order| format!("{} {}", order.verb(), order.job_key().name()));
                    rows.extend(orders.map(|text| text_row(now, "order", text)));
                    rows.extend(output.doubt.iter().map(|text| text_row(now, "doubt", text.clone())));
                }
                JournalRecord::Note { at, text } => rows.push(text_row(at, "note", text)),
            }
        }
    }
    Ok(rows)
}

fn text_row(now: i64, event: &str, text: String) -> Vec<String> {
    vec![now.to_string(), event.to_string(), text]
}

fn describe_decision(decision: &Decided) -> String {
    let job = decision.key.map_or_else(|| "?".to_string(), |key| key.name());
    let on = decision.on.as_ref().map_or(String::new(), |set| format!(" on {set}"));
    match decision.action {
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

fn replay_journal(args: &JournalListArgs) -> CommandOutcome {
    let differs = std::cell::Cell::new(false);
    let columns = ["segments", "inputs", "decisions", "orders", "replay"];
    of_sets(args, "drystone/live-replay/1", &columns, |folder| {
        let JournalReplay { segments, inputs, decided, orders, mismatch } = journal::replay_journal(folder)?;
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

fn export_journal(args: &JournalExportArgs) -> CommandOutcome {
    let target = OutputTarget::<Logs>::open(&args.out)?;
    let folder = super::one_journal(&find_home(&args.home), args.set.as_deref())?;
    let (workload, waits) = journal::read_workload(&folder)?;
    let mut header = crate::input::synthetic_header(&workload);
    header.set_field("Computer", &workload.provenance.name);
    header.push("MaxJobs", &workload.len().to_string());
    header.push("MaxRecords", &workload.len().to_string());
    let jobs = workload.jobs().iter().zip(workload.truth()).zip(&waits);
    let records: Vec<SwfRecord> =
        jobs.map(|((job, truth), wait)| SwfRecord { wait: wait.0.into(), ..SwfRecord::from_job(job, truth) }).collect();
    target.write_contents(&WrittenLog { header: &header, records: &records })?.publish()?;
    message::print_note(&format!("{} that ran and are over", format_plural(workload.len() as u64, "job")));
    Ok(DONE)
}
