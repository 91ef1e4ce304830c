//! `drystone live journal`.

use super::home;
use crate::args::{JournalCommand, JournalExportArgs, JournalListArgs};
use crate::exit::{DONE, FINDING, Outcome};
use crate::output::document::{Document, Table};
use crate::output::flat::{Row, Rows};
use crate::output::format::Target;
use crate::output::logs::{Log, Logs};
use crate::output::number::plural;
use crate::output::{self, Printable, message};
use drystone::log::swf::Record as SwfRecord;
use drystone::policy::Action;
use drystone_live::core::{Decided, Input};
use drystone_live::journal::{self, Record, Replayed};
use serde::Serialize;

pub(super) fn journal(command: JournalCommand) -> Outcome {
    match command {
        JournalCommand::List(args) => list(&args),
        JournalCommand::Show(args) => show(&args),
        JournalCommand::Replay(args) => replay(&args),
        JournalCommand::Export(args) => export(&args),
    }
}

/// Rows of texts, with names.
#[derive(Serialize)]
struct Lines {
    schema: &'static str,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Printable for Lines {
    fn document(&self) -> Document {
        let mut document = Document::default();
        let all: Vec<usize> = (0..self.columns.len()).collect();
        let mut table = Table::new(self.columns.iter().copied()).texts(&all);
        self.rows.iter().for_each(|row| table.row(row.iter().cloned().map(Into::into).collect()));
        document.table(table);
        document
    }

    /// Scripts search these lines.
    fn overview(&self) -> Option<Document> {
        None
    }

    fn rows(&self) -> Rows {
        let mut rows = Rows::of(self.columns.iter().map(ToString::to_string));
        for values in &self.rows {
            let mut row = Row::default();
            self.columns.iter().zip(values).for_each(|(name, value)| row.text(*name, value));
            rows.push(row);
        }
        rows
    }
}

fn list(args: &JournalListArgs) -> Outcome {
    let mut rows = Vec::new();
    for (segment, records) in journal::whole(&home(&args.home).journal())? {
        let inputs = records.iter().filter(|record| matches!(record, Record::In(_))).count();
        let told = match records.first() {
            Some(Record::Begin(begin)) => [
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
    let columns = vec!["segment", "began", "mode", "policy", "version", "looks", "bytes"];
    output::print(&Lines { schema: "drystone/live-journal/1", columns, rows }, args.format)?;
    Ok(DONE)
}

fn show(args: &JournalListArgs) -> Outcome {
    let mut rows = Vec::new();
    for (_, records) in journal::whole(&home(&args.home).journal())? {
        let mut now = 0;
        for record in records {
            match record {
                Record::Begin(begin) => {
                    now = begin.time + begin.offset;
                    rows.push(row(
                        now,
                        "begin",
                        format!("{} by {}", format!("{:?}", begin.settings.mode).to_lowercase(), begin.policy),
                    ));
                }
                Record::In(Input::Facts { stamp, .. } | Input::Tick(stamp) | Input::Restarted(stamp)) => {
                    now = stamp.now
                }
                Record::In(_) => {}
                Record::Out(output) => {
                    rows.extend(output.decided.iter().map(|decided| row(now, "decide", told(decided))));
                    let orders = output.orders.iter().map(|order| format!("{} {}", order.verb(), order.key().name()));
                    rows.extend(orders.map(|text| row(now, "order", text)));
                    rows.extend(output.doubt.iter().map(|text| row(now, "doubt", text.clone())));
                }
                Record::Note { at, text } => rows.push(row(at, "note", text)),
            }
        }
    }
    output::print(
        &Lines { schema: "drystone/live-journal-lines/1", columns: vec!["time", "what", "text"], rows },
        args.format,
    )?;
    Ok(DONE)
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
        Action::Resume(_) | Action::ResumeOn { .. } => format!("resume {job}{on}"),
        Action::Kill(_) => format!("end {job}"),
        Action::Reserve { start, .. } => format!("plan {job} for {start}"),
        Action::Repredict { prediction, .. } => format!("predict {job} to run {prediction} s"),
        _ => "note".to_string(),
    }
}

fn replay(args: &JournalListArgs) -> Outcome {
    let found = journal::replay(&home(&args.home).journal())?;
    let Replayed { segments, inputs, decided, orders, mismatch } = found;
    let outcome = match &mismatch {
        None => "the same came out, bit for bit".to_string(),
        Some(wrong) => format!("after record {} of segment {} something else came out", wrong.record, wrong.segment),
    };
    let columns = vec!["segments", "inputs", "decisions", "orders", "replay"];
    let row = vec![segments.to_string(), inputs.to_string(), decided.to_string(), orders.to_string(), outcome];
    output::print(&Lines { schema: "drystone/live-replay/1", columns, rows: vec![row] }, args.format)?;
    Ok(if mismatch.is_none() { DONE } else { FINDING })
}

fn export(args: &JournalExportArgs) -> Outcome {
    let target = Target::<Logs>::open(&args.out)?;
    let (workload, waits) = journal::workload(&home(&args.home).journal())?;
    let mut header = crate::input::synthetic_header(&workload);
    header.set("Computer", &workload.provenance.name);
    header.push("MaxJobs", &workload.len().to_string());
    header.push("MaxRecords", &workload.len().to_string());
    let jobs = workload.jobs().iter().zip(workload.truth()).zip(&waits);
    let records: Vec<SwfRecord> =
        jobs.map(|((job, truth), wait)| SwfRecord { wait: wait.0.into(), ..SwfRecord::of(job, truth) }).collect();
    target.write(&Log { header: &header, records: &records })?.publish()?;
    message::note(&format!("{} that ran and are over", plural(workload.len() as u64, "job")));
    Ok(DONE)
}
