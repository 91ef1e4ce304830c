//! `drystone reproduce`: the published record, cell by cell.

#[cfg(feature = "certify")]
mod certified;
mod checks;
mod covered;
#[cfg(not(feature = "certify"))]
mod uncertified;

pub(crate) use checks::check_table;
#[cfg(not(feature = "certify"))]
use uncertified as certified;

use crate::args::ReproduceArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::format_plural;
use crate::output::{self, Printable, ReportFile, file, message};
use crate::progress::WorkProgress;
use drystone_reproduce::{
    CellVerdict, Library, LogState, PaperStudy, PublishedValue, Reproduced, StudyCell, StudyTable, TableResult,
    read_builtin, reproduce_study,
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
    fn from_tables<'a>(tables: impl Iterator<Item = &'a TableResult> + Clone) -> CellCounts {
        let count = |verdict| tables.clone().map(|t| t.count_cells(verdict)).sum();
        CellCounts {
            met: count(CellVerdict::Met),
            within: count(CellVerdict::Within),
            out: count(CellVerdict::Out),
            shown: count(CellVerdict::Shown),
            missing: count(CellVerdict::Missing),
        }
    }

    fn format_line(self) -> String {
        let mut line = format!(
            "{} judged: {} met to the printed digit, {} within tolerance, {} out of tolerance",
            format_plural((self.met + self.within + self.out) as u64, "cell"),
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
    CommandFailure::usage_error("the folder of the logs is missing (--logs DIR); --list names the logs")
}

/// Folders of logs are there where a row is about a log, or recordings are named.
fn check_folders(args: &ReproduceArgs, studies: &[PaperStudy], has_names: bool) -> Result<(), CommandFailure> {
    let is_asked = |table: &&StudyTable| args.table.is_empty() || args.table.contains(&table.id);
    let mut rows = studies.iter().flat_map(|study| &study.tables).filter(is_asked).flat_map(|table| &table.rows);
    if args.logs.is_empty() && (has_names || rows.any(|row| row.price.is_none())) {
        return Err(no_folder());
    }
    match args.logs.iter().find(|directory| !directory.is_dir()) {
        Some(directory) => {
            Err(CommandFailure::usage_error(format_args!("--logs {}: is no directory", directory.display())))
        }
        None => Ok(()),
    }
}

pub(crate) fn reproduce_studies(args: &ReproduceArgs) -> CommandOutcome {
    message::be_quiet(args.quiet);
    if args.studies.first().is_some_and(|name| name == covered::NAME) {
        if args.logs.is_empty() && !args.list {
            return Err(no_folder());
        }
        return covered::run_coverage(args);
    }
    let (asked_studies, certifies) = select_studies(&args.studies)?;
    if args.list {
        known_tables(args, &asked_studies, certifies)?;
        output::print_document(&list_studies(&asked_studies, certifies))?;
        return Ok(DONE);
    }
    let output_paths: Vec<_> = args.report.iter().map(|path| ("--report", Some(path.as_path()))).collect();
    file::check_distinct(&[], &output_paths)?;
    let reports = args.report.iter().map(|path| ReportFile::open_plain(path)).collect::<Result<Vec<_>, _>>()?;
    let stop = interrupt::stop_in_order();
    let Some((reproduction, lacks_parts)) = simulate_studies(args, (&asked_studies, certifies), stop)? else {
        return Ok(interrupt::exit_code());
    };
    let reports = reports.into_iter().filter_map(|report| report.unless_lost(lacks_parts));
    let reports = reports.map(|report| report.write_result(&reproduction)).collect::<Result<Vec<_>, _>>()?;
    file::publish_all(reports)?;
    output::print_result(&reproduction, args.format)?;
    Ok(match reproduction.interrupted {
        Some(_) => interrupt::exit_code(),
        None if reproduction.counts.out > 0 => FINDING,
        None => DONE,
    })
}

/// Published tables beside ours, for programs; `None` on cancellation.
pub(crate) fn reproduce_tables(
    args: &ReproduceArgs,
    stop: &AtomicBool,
) -> Result<Option<impl Printable + use<>>, CommandFailure> {
    if args.list || args.studies.first().is_some_and(|name| name == covered::NAME) {
        return Err(CommandFailure::usage_error("the list of studies and their coverage are for the command line"));
    }
    let (asked_studies, certifies) = select_studies(&args.studies)?;
    let reproduction = simulate_studies(args, (&asked_studies, certifies), stop)?;
    Ok(reproduction.filter(|_| !stop.load(Ordering::Relaxed)).map(|(result, _)| result))
}

/// Simulates the studies; answers also whether parts were left out. `None` where it was interrupted
/// before there was any result.
fn simulate_studies(
    args: &ReproduceArgs,
    (studies, certifies): (&[PaperStudy], bool),
    stop: &AtomicBool,
) -> Result<Option<(Reproduction, bool)>, CommandFailure> {
    known_tables(args, studies, certifies)?;
    let is_named = args.studies.iter().any(|name| name == certified::NAME);
    check_folders(args, studies, is_named)?;
    // Where it was not asked for by name, it is part of all only where recordings are.
    let recordings = if certifies { certified::find_recordings(&args.logs) } else { None };
    if recordings.is_none() && is_named {
        let dirs = args.logs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(", ");
        let expected_files = "expected NAME.conf, NAME.repK.csv and NAME.repK.events.gz";
        return Err(CommandFailure::usage_error(format_args!(
            "{dirs}: no recordings of a real Slurm; {expected_files}"
        )));
    }
    let library = Library { directories: args.logs.clone() };
    let threads = args.threads.map_or_else(core_count, usize::from);
    let progress = WorkProgress::new("simulating", "jobs", None);
    let (mut states, mut results, mut left_out) = (BTreeMap::new(), Vec::new(), Vec::new());
    for study in studies {
        let report_jobs = |jobs| progress.add_done(jobs);
        let Reproduced { tables, left_out: lacks } =
            reproduce_study(study, &args.table, &library, threads, &mut states, &report_jobs, stop)
                .map_err(CommandFailure::usage_error)?;
        left_out.extend(
            lacks
                .iter()
                .map(|(table, rows)| format!("{} of {} {table}", format_plural(*rows as u64, "row"), study.name)),
        );
        if tables.is_empty() && !lacks.is_empty() {
            continue;
        }
        let file_state = |file: &str| match states.get(file) {
            Some(LogState::Found { blake3, .. }) => Some(blake3.clone()),
            _ => None,
        };
        let logs = study.logs.iter().map(|log| LogLine {
            id: log.id.clone(),
            file: log.file.clone(),
            blake3: file_state(&log.file).unwrap_or_else(|| log.blake3.clone()),
            page: log.page.clone(),
            found: file_state(&log.file).is_some(),
        });
        let (name, source, note) = (study.name.clone(), study.source.clone(), study.note.clone());
        let counts = CellCounts::from_tables(tables.iter());
        results.push(StudyResult { name, source, note, logs: logs.collect(), counts, tables });
    }
    let certified_any = recordings.is_some();
    if let Some(recordings) = &recordings {
        let report_jobs = |jobs| progress.add_done(jobs);
        let (result, lacks) = certified::certify_model(recordings, &args.table, threads, &report_jobs, stop)?;
        left_out.extend((lacks > 0).then(|| format!("{} of slurm", format_plural(lacks as u64, "recording"))));
        if !result.tables.is_empty() {
            results.push(result);
        }
    }
    drop(progress);
    let lacks_parts = !left_out.is_empty();
    let is_stopped = interrupt::stop_at_once() || stop.load(Ordering::Relaxed);
    let interruption = is_stopped.then(|| match left_out.join(", ") {
        nothing if nothing.is_empty() => "interrupted when all was simulated".to_string(),
        left_out => format!("interrupted: left out {left_out}"),
    });
    interruption.iter().for_each(|sentence| message::print_note(sentence));
    tell_missing(studies, &states);
    // A table may be about no log at all.
    if !certified_any && !states.is_empty() && !states.values().any(|s| matches!(s, LogState::Found { .. })) {
        let wrong = states.values().any(|s| matches!(s, LogState::Wrong { .. }));
        let missing_text = if wrong { "none of the logs is the one expected" } else { "none of the logs was found" };
        return Err(CommandFailure::usage_error(format_args!(
            "{missing_text}, nothing was simulated; --list names them"
        )));
    }
    if interruption.is_some() && results.is_empty() {
        return Ok(None);
    }
    let counts = CellCounts::from_tables(results.iter().flat_map(|s| &s.tables));
    let reproduction = Reproduction {
        schema: "drystone/reproduce/1",
        drystone: VERSION,
        counts,
        interrupted: interruption,
        studies: results,
    };
    Ok(Some((reproduction, lacks_parts)))
}

fn core_count() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Refuses tables that no study has.
fn known_tables(args: &ReproduceArgs, studies: &[PaperStudy], certifies: bool) -> Result<(), CommandFailure> {
    let mut study_tables: Vec<(&str, Vec<&str>)> =
        studies.iter().map(|s| (s.name.as_str(), s.tables.iter().map(|t| t.id.as_str()).collect())).collect();
    study_tables.extend(certifies.then(|| (certified::NAME, certified::TABLES.map(|(id, _)| id).to_vec())));
    for id in &args.table {
        if !study_tables.iter().any(|(_, tables)| tables.contains(&id.as_str())) {
            let tables: Vec<String> =
                study_tables.iter().map(|(name, ids)| format!("{name}: {}", ids.join(", "))).collect();
            return Err(CommandFailure::usage_error(format_args!("there is no table `{id}`; {}", tables.join("; "))));
        }
    }
    Ok(())
}

/// The studies asked for, in the order in which they were, and whether Slurm's model is to be held
/// to recordings.
fn select_studies(names: &[String]) -> Result<(Vec<PaperStudy>, bool), CommandFailure> {
    let mut known_studies = read_builtin().map_err(CommandFailure::usage_error)?;
    if names.is_empty() {
        return Ok((known_studies, certified::IN_THIS_BUILD));
    }
    let (mut studies, mut certifies) = (Vec::new(), false);
    for name in names {
        if name == certified::NAME {
            certified::check_build()?;
            certifies = true;
        } else if let Some(at) = known_studies.iter().position(|s| s.name == *name) {
            studies.push(known_studies.remove(at));
        } else if Path::new(name).extension().is_some_and(|e| e == "toml") {
            let text = std::fs::read_to_string(name)
                .map_err(|error| CommandFailure::usage_error(format_args!("{name}: cannot be read: {error}")))?;
            studies.push(PaperStudy::parse(&text, name).map_err(CommandFailure::usage_error)?);
        } else if !studies.iter().any(|s: &PaperStudy| s.name == *name) {
            let names: Vec<&str> =
                known_studies.iter().map(|s| s.name.as_str()).chain([certified::NAME, covered::NAME]).collect();
            return Err(CommandFailure::usage_error(format_args!(
                "there is no study `{name}`; expected one of {}, or a file ending in .toml",
                names.join(", ")
            )));
        }
    }
    Ok((studies, certifies))
}

fn list_studies(studies: &[PaperStudy], certifies: bool) -> Document {
    let mut document = Document::default();
    for study in studies {
        document.add_heading(format!("{}: {}", study.name, study.source));
        let mut table = DocumentTable::new(["table", "title", "rows", "logs"]).with_text_columns(&[0, 1, 3]);
        for t in &study.tables {
            let mut logs: Vec<&str> = t.rows.iter().map(|r| r.log.as_str()).collect();
            logs.sort_unstable();
            logs.dedup();
            let rows = t.rows.len().to_string();
            table.add_row(vec![t.id.clone().into(), t.title.clone().into(), rows.into(), logs.join(" ").into()]);
        }
        document.add_table(table);
        let facts = study.logs.iter().map(|log| (log.id.clone(), format!("{}  {}", log.file, log.page)));
        document.add_facts(facts.collect());
    }
    if certifies {
        document.add_heading(format!("{}: {}", certified::NAME, certified::SOURCE));
        let mut table = DocumentTable::new(["table", "title", "needs"]).with_text_columns(&[0, 1, 2]);
        for (id, title) in certified::TABLES {
            table.add_row(vec![id.into(), title.into(), "NAME.conf, NAME.repK.csv, NAME.repK.events.gz".into()]);
        }
        document.add_table(table);
    }
    document
}

fn tell_missing(studies: &[PaperStudy], states: &BTreeMap<String, LogState>) {
    for (file, state) in states {
        let page = studies.iter().flat_map(|s| &s.logs).find(|log| log.file == *file).map_or("", |log| &log.page);
        let offers = |kind: &str| if page.is_empty() { String::new() } else { format!("; {page} offers {kind}") };
        match state {
            LogState::Found { .. } => {}
            LogState::Absent => message::print_warning(&format!("{file} is missing{}", offers("it"))),
            LogState::Wrong { path, problem } => {
                message::print_warning(&format!("{}: {problem}{}", path.display(), offers("the one expected")));
            }
        }
    }
}

/// Ours with two digits more than printed, but no more than a double holds.
fn format_ours(cell: &StudyCell) -> String {
    let digits = match &cell.published {
        PublishedValue::Number { text, .. } => text.split_once('.').map_or(0, |(_, f)| f.len()) + 1,
        _ => 3,
    };
    cell.ours.map_or_else(|| "-".to_string(), |value| format!("{value:.*}", digits.min(12)))
}

fn cell_value(cell: &StudyCell) -> TableValue {
    let published_text = cell.published.to_string();
    let text =
        if published_text.is_empty() { format_ours(cell) } else { format!("{published_text} / {}", format_ours(cell)) };
    let deviation = match cell.deviation_percent {
        Some(percent) if percent.abs() >= 0.05 => format!(" {percent:+.1}%"),
        _ => String::new(),
    };
    match cell.verdict {
        CellVerdict::Met => TableValue::toned_text(format!("{text}{deviation}"), Tone::Good),
        CellVerdict::Within => format!("{text}{deviation} ~").into(),
        CellVerdict::Out => TableValue::toned_text(format!("{text}{deviation} !"), Tone::Bad),
        CellVerdict::Shown => TableValue::toned_text(format!("({text}{deviation})"), Tone::Faint),
        CellVerdict::Missing => TableValue::toned_text(format!("{published_text} / no log"), Tone::Faint),
    }
}

impl Printable for Reproduction {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(format!("Published / ours, by drystone {VERSION}"));
        document.add_text(self.counts.format_line());
        if let Some(interruption) = &self.interrupted {
            document.add_text(format!("This is not all, {interruption}."));
        }
        document.add_text(
            "~ within the tolerance, ! out of it, in brackets shown and not judged; without a mark ours rounds to the \
             printed digits. Generated by `drystone reproduce`.",
        );
        for study in &self.studies {
            document.add_heading(study.name.clone());
            document.add_text(format!("{}. {}", study.source, study.note).trim_end().to_string());
            let log = |l: &LogLine| (l.id.clone(), format!("{}{}", l.file, if l.found { "" } else { " (missing)" }));
            document.add_facts(study.logs.iter().map(log).collect());
            document.add_text(study.counts.format_line());
            for t in &study.tables {
                document.add_heading(format!("{}, table {}: {}", study.name, t.id, t.title));
                let columns = ["row", "log"].map(String::from).into_iter().chain(t.columns.iter().cloned());
                let mut table = DocumentTable::new(columns).with_text_columns(&[0, 1]);
                for row in &t.rows {
                    let mut values = vec![row.label.clone().into(), row.log.clone().into()];
                    values.extend(row.cells.iter().map(cell_value));
                    table.add_row(values);
                }
                document.add_table(table);
                if !t.reason.is_empty() {
                    document.add_text(format!("Tolerance: {}.", t.reason));
                }
                let mut notes: Vec<(String, String)> = Vec::new();
                for row in t.rows.iter().filter(|row| !row.note.is_empty()) {
                    if !notes.iter().any(|(label, note)| *label == row.label && *note == row.note) {
                        notes.push((row.label.clone(), row.note.clone()));
                    }
                }
                if !notes.is_empty() {
                    document.add_facts(notes);
                }
            }
        }
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for study in &self.studies {
            for t in &study.tables {
                for r in &t.rows {
                    let log = study.logs.iter().find(|log| log.id == r.log);
                    let settings: Vec<String> =
                        r.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
                    for ((column, measure), cell) in t.columns.iter().zip(&t.measures).zip(&r.cells) {
                        let mut row = FlatRow::default();
                        row.add_text("drystone", VERSION);
                        row.add_text("study", &study.name);
                        row.add_text("table", &t.id);
                        row.add_text("row", &r.label);
                        row.add_text("log", &r.log);
                        row.add_text("policy", r.policy.as_deref().unwrap_or(""));
                        row.add_text("column", column);
                        row.add_text("published", &cell.published);
                        row.add_number("ours", cell.ours);
                        row.add_number("deviation_percent", cell.deviation_percent);
                        row.add_number("tolerance_percent", cell.tolerance_percent);
                        row.add_text("verdict", format!("{:?}", cell.verdict).to_lowercase());
                        row.add_text("measure", measure);
                        row.add_text("settings", settings.join(", "));
                        row.add_text("log_file", log.map_or("", |log| &log.file));
                        row.add_text("log_blake3", log.map_or("", |log| &log.blake3));
                        row.add_text("reason", if r.note.is_empty() { &t.reason } else { &r.note });
                        rows.push(row);
                    }
                }
            }
        }
        rows
    }
}
