//! `drystone reproduce coverage`: a command for each feature of the papers, run, and its output
//! looked through.

use super::core_count;
use crate::args::ReproduceArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE, FINDING};
use crate::interrupt;
use crate::meta::VERSION;
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::{self, Printable, ReportFile, file};
use crate::progress::WorkProgress;
use drystone_reproduce::{Library, LogRef, LogState, Paper, PaperFeature, PaperStudy, read_builtin, read_features};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Name on the command line.
pub(super) const NAME: &str = "coverage";

#[derive(Serialize)]
struct Covered {
    schema: &'static str,
    drystone: &'static str,
    papers: Vec<CoveredPaper>,
}

#[derive(Serialize)]
struct CoveredPaper {
    study: String,
    source: String,
    features: Vec<CoveredFeature>,
}

#[derive(Serialize)]
struct CoveredFeature {
    section: String,
    feature: String,
    command: String,
    shows: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    open: String,
    result: Finding,
    #[serde(skip_serializing_if = "String::is_empty")]
    problem: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Finding {
    /// The command ran, and its output holds what it must.
    Shown,
    /// As `Shown`, but a part of the feature has no command.
    Partly,
    /// No command shows it yet.
    Open,
    /// The command failed, or its output lacks something.
    Failed,
    /// A log is not there.
    Missing,
}

impl Finding {
    const ALL: [(Finding, &'static str); 5] = [
        (Finding::Shown, "shown"),
        (Finding::Partly, "shown in part"),
        (Finding::Open, "not done"),
        (Finding::Failed, "failed"),
        (Finding::Missing, "open for want of a log"),
    ];

    fn format_word(self) -> &'static str {
        Finding::ALL.iter().find(|(finding, _)| *finding == self).map_or("", |(_, word)| word)
    }
}

/// Logs of the studies by study and identifier: path, or the reason why it is not there.
type Paths = BTreeMap<(String, String), Result<PathBuf, String>>;

pub(super) fn run_coverage(args: &ReproduceArgs) -> CommandOutcome {
    let studies = read_builtin().map_err(CommandFailure::usage_error)?;
    let papers = select_papers(&args.studies[1..])?;
    if !args.table.is_empty() {
        return Err(CommandFailure::usage_error(
            "--table: coverage has no tables; name studies behind it to choose papers",
        ));
    }
    if args.list {
        let covered_papers =
            papers.iter().map(|paper| cover_paper(paper, &studies, &mut |_| (Finding::Open, String::new())));
        output::print_document(&render_document(&covered_papers.collect::<Vec<_>>(), false))?;
        return Ok(DONE);
    }
    let output_paths: Vec<_> = args.report.iter().map(|path| ("--report", Some(path.as_path()))).collect();
    file::check_distinct(&[], &output_paths)?;
    let reports = args.report.iter().map(|path| ReportFile::open_plain(path)).collect::<Result<Vec<_>, _>>()?;
    let paths = find_paths(args, &papers, &studies);
    let features: Vec<(&str, &PaperFeature)> =
        papers.iter().flat_map(|p| p.features.iter().map(|f| (p.study.as_str(), f))).collect();
    let findings = run_all(args, &features, &paths)?;
    if interrupt::stop_at_once() {
        return Ok(interrupt::exit_code());
    }
    let mut findings = findings.into_iter();
    let mut next = |_: &PaperFeature| findings.next().unwrap_or((Finding::Failed, "it was not run".to_string()));
    let papers = papers.iter().map(|paper| cover_paper(paper, &studies, &mut next)).collect();
    let coverage = Covered { schema: "drystone/coverage/1", drystone: VERSION, papers };
    let reports = reports.into_iter().map(|report| report.write_result(&coverage)).collect::<Result<Vec<_>, _>>()?;
    file::publish_all(reports)?;
    output::print_result(&coverage, args.format)?;
    let has_failed = coverage.papers.iter().flat_map(|p| &p.features).any(|f| f.result == Finding::Failed);
    Ok(if has_failed { FINDING } else { DONE })
}

/// The papers of these studies; all, if none is named.
fn select_papers(names: &[String]) -> Result<Vec<Paper>, CommandFailure> {
    let papers = read_features().map_err(CommandFailure::usage_error)?;
    for name in names {
        if !papers.iter().any(|paper| paper.study == *name) {
            let known_studies: Vec<&str> = papers.iter().map(|paper| paper.study.as_str()).collect();
            return Err(CommandFailure::usage_error(format_args!(
                "coverage has no paper `{name}`; expected one of {}",
                known_studies.join(", ")
            )));
        }
    }
    Ok(papers.into_iter().filter(|paper| names.is_empty() || names.contains(&paper.study)).collect())
}

fn find_paths(args: &ReproduceArgs, papers: &[Paper], studies: &[PaperStudy]) -> Paths {
    let library = Library { directories: args.logs.clone() };
    let find = |log: &LogRef| match library.find_log(log) {
        LogState::Found { path, .. } => Ok(path),
        LogState::Absent => Err(format!("{} is missing", log.file)),
        LogState::Wrong { path, problem } => Err(format!("{}: {problem}", path.display())),
    };
    let of_papers = studies.iter().filter(|study| papers.iter().any(|paper| paper.study == study.name));
    of_papers.flat_map(|study| study.logs.iter().map(|log| ((study.name.clone(), log.id.clone()), find(log)))).collect()
}

/// Output of a command and the names of its files, or the finding where it failed.
type CommandOutput = Result<(String, Vec<String>), (Finding, String)>;

/// Runs every command once, several at a time, and judges the features by what they gave.
fn run_all(
    args: &ReproduceArgs,
    features: &[(&str, &PaperFeature)],
    paths: &Paths,
) -> Result<Vec<(Finding, String)>, CommandFailure> {
    let program = std::env::current_exe().map_err(|error| {
        CommandFailure::usage_error(format_args!("coverage runs this program again, which cannot be found: {error}"))
    })?;
    let mut commands: Vec<(&str, &PaperFeature)> = Vec::new();
    for &(study, feature) in features.iter().filter(|(_, feature)| !feature.command.is_empty()) {
        if !commands.iter().any(|(s, f)| *s == study && is_same_command(f, feature)) {
            commands.push((study, feature));
        }
    }
    let progress = WorkProgress::new("running", "commands", Some(commands.len() as u64));
    let (next, outputs) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let take = || {
        while !interrupt::stop_at_once()
            && let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(&(study, feature)) = commands.get(at)
        {
            let output = run_feature(&program, args, study, feature, paths);
            if let Ok(mut results) = outputs.lock() {
                results.insert((study, feature.command.as_str(), feature.input.as_str()), output);
            }
            progress.add_done(1);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..args.threads.map_or_else(core_count, usize::from).clamp(1, commands.len().max(1)) {
            // A thread that cannot be started is one fewer: this thread works as well.
            let _ = std::thread::Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
    let outputs = outputs.into_inner().unwrap_or_default();
    let finding = |&(study, feature): &(&str, &PaperFeature)| {
        judge_feature(feature, outputs.get(&(study, feature.command.as_str(), feature.input.as_str())))
    };
    Ok(features.iter().map(finding).collect())
}

/// True if two features are shown by one command.
fn is_same_command(a: &PaperFeature, b: &PaperFeature) -> bool {
    a.command == b.command && a.input == b.input
}

/// The finding of a feature by what its command gave.
fn judge_feature(feature: &PaperFeature, answer: Option<&CommandOutput>) -> (Finding, String) {
    let (output, files) = match answer {
        None => return (Finding::Open, String::new()),
        Some(Err(finding)) => return finding.clone(),
        Some(Ok(success)) => success,
    };
    if let Some(text) = feature.lacking_text(output) {
        return (Finding::Failed, format!("its output lacks `{text}`"));
    }
    if let Some(name) = feature.files.iter().find(|name| !files.contains(name)) {
        return (Finding::Failed, format!("it wrote no {name}"));
    }
    (if feature.open.is_empty() { Finding::Shown } else { Finding::Partly }, String::new())
}

fn run_feature(
    program: &Path,
    args: &ReproduceArgs,
    study: &str,
    feature: &PaperFeature,
    paths: &Paths,
) -> CommandOutput {
    let as_failure = |problem: String| (Finding::Failed, problem);
    let out = tempfile::tempdir().map_err(|error| as_failure(format!("no folder for its files: {error}")))?;
    if !feature.input.is_empty() {
        let mut text = feature.input.clone();
        for ((_, id), path) in paths.iter().filter(|((name, _), _)| name == study) {
            let name = format!("${id}");
            if text.contains(&name) {
                let path = path.as_ref().map_err(|problem| (Finding::Missing, problem.clone()))?;
                text = text.replace(&name, &path.display().to_string());
            }
        }
        let file = out.path().join(&feature.input_name);
        std::fs::write(file, text).map_err(|error| as_failure(format!("its input cannot be written: {error}")))?;
    }
    let mut commands: Vec<Vec<OsString>> = vec![Vec::new()];
    for word in feature.split_words() {
        if word == ";" {
            commands.push(Vec::new());
            continue;
        }
        let Some(words) = commands.last_mut() else { continue };
        match word.strip_prefix('$') {
            // `--logs` is repeatable: each folder has its own.
            Some("LOGS") => {
                let missing =
                    paths.iter().filter(|((name, _), _)| name == study).find_map(|(_, path)| path.as_ref().err());
                if let Some(problem) = missing {
                    return Err((Finding::Missing, problem.clone()));
                }
                let option = words.pop().unwrap_or_default();
                words.extend(args.logs.iter().flat_map(|dir| [option.clone(), dir.clone().into_os_string()]));
            }
            Some(rest) if rest.starts_with("OUT") => {
                words.push(out.path().join(rest[3..].trim_start_matches('/')).into_os_string());
            }
            Some(id) => match paths.get(&(study.to_string(), id.to_string())) {
                Some(Ok(path)) => words.push(path.clone().into_os_string()),
                Some(Err(problem)) => return Err((Finding::Missing, problem.clone())),
                None => return Err(as_failure(format!("the study has no log `{id}`"))),
            },
            None => words.push(word.into()),
        }
    }
    let mut output = String::new();
    for words in &commands {
        let ran = Command::new(program).args(words).stdin(Stdio::null()).output();
        let ran = ran.map_err(|error| as_failure(format!("it cannot be run: {error}")))?;
        if !ran.status.success() {
            let error_text = String::from_utf8_lossy(&ran.stderr);
            let error_line = error_text.lines().find(|line| line.starts_with("error")).unwrap_or("");
            return Err(as_failure(format!("{} {error_line}", ran.status).trim_end().to_string()));
        }
        output.push_str(&String::from_utf8_lossy(&ran.stdout));
    }
    let entries =
        std::fs::read_dir(out.path()).map_err(|error| as_failure(format!("its folder cannot be read: {error}")))?;
    let file_names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    Ok((output, file_names))
}

/// A paper with the findings of its features.
fn cover_paper(
    paper: &Paper,
    studies: &[PaperStudy],
    finding: &mut dyn FnMut(&PaperFeature) -> (Finding, String),
) -> CoveredPaper {
    let study = studies.iter().find(|study| study.name == paper.study);
    let features = paper.features.iter().map(|feature| {
        let (result, problem) = finding(feature);
        let mut command = feature.command.clone();
        for log in study.iter().flat_map(|study| &study.logs) {
            command = command.replace(&format!("${}", log.id), &format!("LOGS/{}", log.file));
        }
        if !feature.input.is_empty() {
            let lines: Vec<&str> = feature.input.lines().filter(|line| !line.is_empty()).collect();
            command = format!("{command} ({})", lines.join("; "));
        }
        let command = command.replace("$LOGS", "LOGS").replace("$OUT", "OUT");
        CoveredFeature {
            section: feature.section.clone(),
            feature: feature.name.clone(),
            command: if command.is_empty() {
                command
            } else {
                format!("drystone {}", command.replace(" ; ", "; drystone "))
            },
            shows: feature.shows.iter().chain(&feature.files).cloned().collect(),
            open: feature.open.clone(),
            result,
            problem,
        }
    });
    let source = study.map_or_else(String::new, |study| study.source.clone());
    CoveredPaper { study: paper.study.clone(), source, features: features.collect() }
}

fn count_line<'a>(features: impl Iterator<Item = &'a CoveredFeature> + Clone) -> String {
    let counts = Finding::ALL.iter().filter_map(|&(finding, word)| {
        let count = features.clone().filter(|f| f.result == finding).count();
        (count > 0).then(|| format!("{count} {word}"))
    });
    format!("{} features: {}", features.clone().count(), counts.collect::<Vec<_>>().join(", "))
}

fn render_document(papers: &[CoveredPaper], ran: bool) -> Document {
    let mut document = Document::default();
    document.add_heading(format!("Features of the papers, by drystone {VERSION}"));
    if ran {
        document.add_text(count_line(papers.iter().flat_map(|p| &p.features)));
    }
    document.add_text(
        "Each row names a feature, the command that shows it and the text or file that the command must give. LOGS is the \
         folder of the logs, OUT an empty folder. Generated by `drystone reproduce coverage`, which runs every command.",
    );
    for paper in papers {
        document.add_heading(paper.study.clone());
        document.add_text(paper.source.clone());
        if ran {
            document.add_text(count_line(paper.features.iter()));
        }
        let mut table = DocumentTable::new(["section", "feature", "command", "must show", "result"])
            .with_text_columns(&[0, 1, 2, 3, 4]);
        for f in &paper.features {
            let code = |text: &str| if text.is_empty() { "-".to_string() } else { format!("`{text}`") };
            let shows: Vec<String> = f.shows.iter().map(|text| code(text)).collect();
            let shows = if shows.is_empty() { "-".to_string() } else { shows.join(", ") };
            table.add_row(vec![
                f.section.clone().into(),
                f.feature.clone().into(),
                code(&f.command).into(),
                shows.into(),
                result_value(f, ran),
            ]);
        }
        document.add_table(table);
    }
    document
}

fn result_value(feature: &CoveredFeature, ran: bool) -> TableValue {
    if !ran {
        return TableValue::toned_text(if feature.open.is_empty() { "-" } else { &feature.open }, Tone::Faint);
    }
    let word = feature.result.format_word();
    match feature.result {
        Finding::Shown => TableValue::toned_text(word, Tone::Good),
        Finding::Partly => format!("{word}; not done: {}", feature.open).into(),
        Finding::Open => TableValue::toned_text(format!("{word}: {}", feature.open), Tone::Faint),
        Finding::Failed => TableValue::toned_text(format!("{word}: {}", feature.problem), Tone::Bad),
        Finding::Missing => TableValue::toned_text(format!("{word}: {}", feature.problem), Tone::Faint),
    }
}

impl Printable for Covered {
    fn render_document(&self) -> Document {
        render_document(&self.papers, true)
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for paper in &self.papers {
            for f in &paper.features {
                let mut row = FlatRow::default();
                row.add_text("drystone", VERSION);
                row.add_text("paper", &paper.study);
                row.add_text("section", &f.section);
                row.add_text("feature", &f.feature);
                row.add_text("command", &f.command);
                row.add_text("shows", f.shows.join("; "));
                row.add_text("result", f.result.format_word());
                row.add_text("not_done", &f.open);
                row.add_text("problem", &f.problem);
                rows.push(row);
            }
        }
        rows
    }
}
