//! `drystone reproduce`: the published record, cell by cell.

#[cfg(feature = "certify")]
mod certified;
mod checks;
mod covered;
#[cfg(not(feature = "certify"))]
mod uncertified;

pub(crate) use checks::checks;
#[cfg(not(feature = "certify"))]
use uncertified as certified;

use crate::args::ReproduceArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::plural;
use crate::output::{self, Printable, ReportFile, file, message};
use crate::progress::WorkProgress;
use drystone_reproduce::{
    CellVerdict, Library, LogState, PaperStudy, PublishedValue, Reproduced, StudyCell, StudyTable, TableResult,
    builtin, reproduce,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Serialize)]
struct Reproduction {
    schema: &'static str,
    drystone: &'static str,
    counts: CellCounts,
    /// Missing parts after an interrupt.
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<String>,
    studies: Vec<StudyResult>,
}

#[derive(Serialize)]
struct StudyResult {
    name: String,
    source: String,
    note: String,
    logs: Vec<LogLine>,
    counts: CellCounts,
    tables: Vec<TableResult>,
}

#[derive(Serialize)]
struct LogLine {
    id: String,
    file: String,
    /// Of the file that was found, else of the one expected.
    blake3: String,
    page: String,
    found: bool,
}

/// Cells by outcome.
#[derive(Clone, Copy, Default, Serialize)]
struct CellCounts {
    met: usize,
    within: usize,
    out: usize,
    shown: usize,
    missing: usize,
}

impl CellCounts {
    fn of<'a>(tables: impl Iterator<Item = &'a TableResult> + Clone) -> CellCounts {
        let count = |verdict| tables.clone().map(|t| t.count(verdict)).sum();
        CellCounts {
            met: count(CellVerdict::Met),
            within: count(CellVerdict::Within),
            out: count(CellVerdict::Out),
            shown: count(CellVerdict::Shown),
            missing: count(CellVerdict::Missing),
        }
    }

    fn line(self) -> String {
        let mut line = format!(
            "{} judged: {} met to the printed digit, {} within tolerance, {} out of tolerance",
            plural((self.met + self.within + self.out) as u64, "cell"),
            self.met,
            self.within,
            self.out
        );
        if self.shown > 0 {
            line += &format!("; {} shown, not judged", self.shown);
        }
        if self.missing > 0 {
            line += &format!("; {} open for want of a log", self.missing);
        }
        line
    }
}

/// Failure where logs are needed and no folder is named.
fn no_folder() -> CommandFailure {
    CommandFailure::usage("the folder of the logs is missing (--logs DIR); --list names the logs")
}

/// Folders of logs are there where a row is about a log, or recordings are named.
fn check_folders(args: &ReproduceArgs, studies: &[PaperStudy], named: bool) -> Result<(), CommandFailure> {
    let asked = |table: &&StudyTable| args.table.is_empty() || args.table.contains(&table.id);
    let mut rows = studies.iter().flat_map(|study| &study.tables).filter(asked).flat_map(|table| &table.rows);
    if args.logs.is_empty() && (named || rows.any(|row| row.price.is_none())) {
        return Err(no_folder());
    }
    match args.logs.iter().find(|directory| !directory.is_dir()) {
        Some(directory) => Err(CommandFailure::usage(format_args!("--logs {}: is no directory", directory.display()))),
        None => Ok(()),
    }
}

pub(crate) fn reproduce_studies(args: &ReproduceArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    if args.studies.first().is_some_and(|name| name == covered::NAME) {
        if args.logs.is_empty() && !args.list {
            return Err(no_folder());
        }
        return covered::coverage(args);
    }
    let (asked, certifies) = studies(&args.studies)?;
    if args.list {
        known_tables(args, &asked, certifies)?;
        output::print_document(&list(&asked, certifies))?;
        return Ok(DONE);
    }
    let written: Vec<_> = args.report.iter().map(|path| ("--report", Some(path.as_path()))).collect();
    file::distinct(&[], &written)?;
    let reports = args.report.iter().map(|path| ReportFile::open_plain(path)).collect::<Result<Vec<_>, _>>()?;
    let stop = interrupt::stop_in_order();
    let Some((all, lacks_parts)) = found(args, (&asked, certifies), stop)? else { return Ok(interrupt::code()) };
    let reports = reports.into_iter().filter_map(|report| report.unless_lost(lacks_parts));
    let reports = reports.map(|report| report.write(&all)).collect::<Result<Vec<_>, _>>()?;
    file::publish(reports)?;
    output::print(&all, args.format)?;
    Ok(match all.interrupted {
        Some(_) => interrupt::code(),
        None if all.counts.out > 0 => FINDING,
        None => DONE,
    })
}

/// Published tables beside ours, for programs; `None` on cancellation.
pub(crate) fn reproduced(
    args: &ReproduceArgs,
    stop: &AtomicBool,
) -> Result<Option<impl Printable + use<>>, CommandFailure> {
    if args.list || args.studies.first().is_some_and(|name| name == covered::NAME) {
        return Err(CommandFailure::usage("the list of studies and their coverage are for the command line"));
    }
    let (asked, certifies) = studies(&args.studies)?;
    let all = found(args, (&asked, certifies), stop)?;
    Ok(all.filter(|_| !stop.load(Ordering::Relaxed)).map(|(all, _)| all))
}

/// Simulates the studies; answers also whether parts were left out. `None` where it was interrupted
/// before there was any result.
fn found(
    args: &ReproduceArgs,
    (studies, certifies): (&[PaperStudy], bool),
    stop: &AtomicBool,
) -> Result<Option<(Reproduction, bool)>, CommandFailure> {
    known_tables(args, studies, certifies)?;
    let named = args.studies.iter().any(|name| name == certified::NAME);
    check_folders(args, studies, named)?;
    // Where it was not asked for by name, it is part of all only where recordings are.
    let recordings = if certifies { certified::find(&args.logs) } else { None };
    if recordings.is_none() && named {
        let dirs = args.logs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ");
        let expected = "expected NAME.conf, NAME.repK.csv and NAME.repK.events.gz";
        return Err(CommandFailure::usage(format_args!("{dirs}: no recordings of a real Slurm; {expected}")));
    }
    let library = Library { directories: args.logs.clone() };
    let threads = args.threads.map_or_else(cores, usize::from);
    let progress = WorkProgress::new("simulating", "jobs", None);
    let (mut states, mut results, mut left_out) = (BTreeMap::new(), Vec::new(), Vec::new());
    for study in studies {
        let told = |jobs| progress.add(jobs);
        let Reproduced { tables, left_out: lacks } =
            reproduce(study, &args.table, &library, threads, &mut states, &told, stop)
                .map_err(CommandFailure::usage)?;
        left_out.extend(
            lacks.iter().map(|(table, rows)| format!("{} of {} {table}", plural(*rows as u64, "row"), study.name)),
        );
        if tables.is_empty() && !lacks.is_empty() {
            continue;
        }
        let found = |file: &str| match states.get(file) {
            Some(LogState::Found { blake3, .. }) => Some(blake3.clone()),
            _ => None,
        };
        let logs = study.logs.iter().map(|log| LogLine {
            id: log.id.clone(),
            file: log.file.clone(),
            blake3: found(&log.file).unwrap_or_else(|| log.blake3.clone()),
            page: log.page.clone(),
            found: found(&log.file).is_some(),
        });
        let (name, source, note) = (study.name.clone(), study.source.clone(), study.note.clone());
        let counts = CellCounts::of(tables.iter());
        results.push(StudyResult { name, source, note, logs: logs.collect(), counts, tables });
    }
    let certified_any = recordings.is_some();
    if let Some(recordings) = &recordings {
        let told = |jobs| progress.add(jobs);
        let (result, lacks) = certified::certify(recordings, &args.table, threads, &told, stop)?;
        left_out.extend((lacks > 0).then(|| format!("{} of slurm", plural(lacks as u64, "recording"))));
        if !result.tables.is_empty() {
            results.push(result);
        }
    }
    drop(progress);
    let lacks_parts = !left_out.is_empty();
    let stopped = interrupt::stop_at_once() || stop.load(Ordering::Relaxed);
    let interrupted = stopped.then(|| match left_out.join(", ") {
        nothing if nothing.is_empty() => "interrupted when all was simulated".to_string(),
        left_out => format!("interrupted: left out {left_out}"),
    });
    interrupted.iter().for_each(|told| message::note(told));
    tell_missing(studies, &states);
    // A table may be about no log at all.
    if !certified_any && !states.is_empty() && !states.values().any(|s| matches!(s, LogState::Found { .. })) {
        let wrong = states.values().any(|s| matches!(s, LogState::Wrong { .. }));
        let none = if wrong { "none of the logs is the one expected" } else { "none of the logs was found" };
        return Err(CommandFailure::usage(format_args!("{none}, nothing was simulated; --list names them")));
    }
    if interrupted.is_some() && results.is_empty() {
        return Ok(None);
    }
    let counts = CellCounts::of(results.iter().flat_map(|s| &s.tables));
    let all = Reproduction { schema: "drystone/reproduce/1", drystone: VERSION, counts, interrupted, studies: results };
    Ok(Some((all, lacks_parts)))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Refuses tables that no study has.
fn known_tables(args: &ReproduceArgs, studies: &[PaperStudy], certifies: bool) -> Result<(), CommandFailure> {
    let mut all: Vec<(&str, Vec<&str>)> =
        studies.iter().map(|s| (s.name.as_str(), s.tables.iter().map(|t| t.id.as_str()).collect())).collect();
    all.extend(certifies.then(|| (certified::NAME, certified::TABLES.map(|(id, _)| id).to_vec())));
    for id in &args.table {
        if !all.iter().any(|(_, tables)| tables.contains(&id.as_str())) {
            let tables: Vec<String> = all.iter().map(|(name, ids)| format!("{name}: {}", ids.join(", "))).collect();
            return Err(CommandFailure::usage(format_args!("there is no table `{id}`; {}", tables.join("; "))));
        }
    }
    Ok(())
}

/// The studies asked for, in the order in which they were, and whether Slurm's model is to be held
/// to recordings.
fn studies(names: &[String]) -> Result<(Vec<PaperStudy>, bool), CommandFailure> {
    let mut known = builtin().map_err(CommandFailure::usage)?;
    if names.is_empty() {
        return Ok((known, certified::IN_THIS_BUILD));
    }
    let (mut studies, mut certifies) = (Vec::new(), false);
    for name in names {
        if name == certified::NAME {
            certified::check_build()?;
            certifies = true;
        } else if let Some(at) = known.iter().position(|s| s.name == *name) {
            studies.push(known.remove(at));
        } else if Path::new(name).extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(name)
                .map_err(|error| CommandFailure::usage(format_args!("{name}: cannot be read: {error}")))?;
            studies.push(PaperStudy::parse(&text, name).map_err(CommandFailure::usage)?);
        } else if !studies.iter().any(|s: &PaperStudy| s.name == *name) {
            let names: Vec<&str> =
                known.iter().map(|s| s.name.as_str()).chain([certified::NAME, covered::NAME]).collect();
            return Err(CommandFailure::usage(format_args!(
                "there is no study `{name}`; expected one of {}, or a file ending in .toml",
                names.join(", ")
            )));
        }
    }
    Ok((studies, certifies))
}

fn list(studies: &[PaperStudy], certifies: bool) -> Document {
    let mut document = Document::default();
    for study in studies {
        document.heading(format!("{}: {}", study.name, study.source));
        let mut table = DocumentTable::new(["table", "title", "rows", "logs"]).texts(&[0, 1, 3]);
        for t in &study.tables {
            let mut logs: Vec<&str> = t.rows.iter().map(|r| r.log.as_str()).collect();
            logs.sort_unstable();
            logs.dedup();
            let rows = t.rows.len().to_string();
            table.row(vec![t.id.clone().into(), t.title.clone().into(), rows.into(), logs.join(" ").into()]);
        }
        document.table(table);
        let facts = study.logs.iter().map(|log| (log.id.clone(), format!("{}  {}", log.file, log.page)));
        document.facts(facts.collect());
    }
    if certifies {
        document.heading(format!("{}: {}", certified::NAME, certified::SOURCE));
        let mut table = DocumentTable::new(["table", "title", "needs"]).texts(&[0, 1, 2]);
        for (id, title) in certified::TABLES {
            table.row(vec![id.into(), title.into(), "NAME.conf, NAME.repK.csv, NAME.repK.events.gz".into()]);
        }
        document.table(table);
    }
    document
}

fn tell_missing(studies: &[PaperStudy], states: &BTreeMap<String, LogState>) {
    for (file, state) in states {
        let page = studies.iter().flat_map(|s| &s.logs).find(|log| log.file == *file).map_or("", |log| &log.page);
        let offers = |what: &str| if page.is_empty() { String::new() } else { format!("; {page} offers {what}") };
        match state {
            LogState::Found { .. } => {}
            LogState::Absent => message::warning(&format!("{file} is missing{}", offers("it"))),
            LogState::Wrong { path, problem } => {
                message::warning(&format!("{}: {problem}{}", path.display(), offers("the one expected")));
            }
        }
    }
}

/// Ours with two digits more than printed, but no more than a double holds.
fn ours(cell: &StudyCell) -> String {
    let digits = match &cell.published {
        PublishedValue::Number { text, .. } => text.split_once('.').map_or(0, |(_, f)| f.len()) + 1,
        _ => 3,
    };
    cell.ours.map_or_else(|| "-".to_string(), |value| format!("{value:.*}", digits.min(12)))
}

fn value(cell: &StudyCell) -> TableValue {
    let published = cell.published.to_string();
    let text = if published.is_empty() { ours(cell) } else { format!("{published} / {}", ours(cell)) };
    let deviation = match cell.deviation_percent {
        Some(percent) if percent.abs() >= 0.05 => format!(" {percent:+.1}%"),
        _ => String::new(),
    };
    match cell.verdict {
        CellVerdict::Met => TableValue::toned(format!("{text}{deviation}"), Tone::Good),
        CellVerdict::Within => format!("{text}{deviation} ~").into(),
        CellVerdict::Out => TableValue::toned(format!("{text}{deviation} !"), Tone::Bad),
        CellVerdict::Shown => TableValue::toned(format!("({text}{deviation})"), Tone::Faint),
        CellVerdict::Missing => TableValue::toned(format!("{published} / no log"), Tone::Faint),
    }
}

impl Printable for Reproduction {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(format!("Published / ours, by drystone {VERSION}"));
        document.text(self.counts.line());
        if let Some(told) = &self.interrupted {
            document.text(format!("This is not all, {told}."));
        }
        document.text(
            "~ within the tolerance, ! out of it, in brackets shown and not judged; without a mark ours rounds to the \
             printed digits. Generated by `drystone reproduce`.",
        );
        for study in &self.studies {
            document.heading(study.name.clone());
            document.text(format!("{}. {}", study.source, study.note).trim_end().to_string());
            let log = |l: &LogLine| (l.id.clone(), format!("{}{}", l.file, if l.found { "" } else { " (missing)" }));
            document.facts(study.logs.iter().map(log).collect());
            document.text(study.counts.line());
            for t in &study.tables {
                document.heading(format!("{}, table {}: {}", study.name, t.id, t.title));
                let columns = ["row", "log"].map(String::from).into_iter().chain(t.columns.iter().cloned());
                let mut table = DocumentTable::new(columns).texts(&[0, 1]);
                for row in &t.rows {
                    let mut values = vec![row.label.clone().into(), row.log.clone().into()];
                    values.extend(row.cells.iter().map(value));
                    table.row(values);
                }
                document.table(table);
                if !t.reason.is_empty() {
                    document.text(format!("Tolerance: {}.", t.reason));
                }
                let mut notes: Vec<(String, String)> = Vec::new();
                for row in t.rows.iter().filter(|row| !row.note.is_empty()) {
                    if !notes.iter().any(|(label, note)| *label == row.label && *note == row.note) {
                        notes.push((row.label.clone(), row.note.clone()));
                    }
                }
                if !notes.is_empty() {
                    document.facts(notes);
                }
            }
        }
        document
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for study in &self.studies {
            for t in &study.tables {
                for r in &t.rows {
                    let log = study.logs.iter().find(|log| log.id == r.log);
                    let settings: Vec<String> =
                        r.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    for ((column, measure), cell) in t.columns.iter().zip(&t.measures).zip(&r.cells) {
                        let mut row = FlatRow::default();
                        row.text("drystone", VERSION);
                        row.text("study", &study.name);
                        row.text("table", &t.id);
                        row.text("row", &r.label);
                        row.text("log", &r.log);
                        row.text("policy", r.policy.as_deref().unwrap_or(""));
                        row.text("column", column);
                        row.text("published", &cell.published);
                        row.number("ours", cell.ours);
                        row.number("deviation_percent", cell.deviation_percent);
                        row.number("tolerance_percent", cell.tolerance_percent);
                        row.text("verdict", format!("{:?}", cell.verdict).to_lowercase());
                        row.text("measure", measure);
                        row.text("settings", settings.join(", "));
                        row.text("log_file", log.map_or("", |log| &log.file));
                        row.text("log_blake3", log.map_or("", |log| &log.blake3));
                        row.text("reason", if r.note.is_empty() { &t.reason } else { &r.note });
                        rows.push(row);
                    }
                }
            }
        }
        rows
    }
}
