//! `drystone reproduce slurm`: Slurm's model held to recordings of a real Slurm, as tables like
//! those of published studies. What was printed is what Slurm did.

use super::{CellCounts, LogLine, StudyResult};
use crate::exit::CommandFailure;
use crate::output::message;
use crate::output::number::format_plural;
use drystone_certify::{
    Agreement, Difference, FreeRun, Golden, GoldenError, PriorityAgreement, compare_priorities, free_run, pass_by_pass,
};
use drystone_reproduce::{PublishedValue, StudyCell, StudyRow, TableResult};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// True if this build compares the model with recordings.
pub(super) const IN_THIS_BUILD: bool = true;

/// Succeeds: this build compares the model with recordings.
pub(super) fn check_build() -> Result<(), CommandFailure> {
    Ok(())
}

/// Name on the command line.
pub(super) const NAME: &str = "slurm";
pub(super) const SOURCE: &str = "recordings of a real slurmctld, pass by pass and in free runs";
const NOTE: &str = "A row of `passes` gives the model the real state before each pass and asks who starts, where, and for every plan; then \
                    the recording counts. A row of `runs` simulates the jobs of a scenario without the recording. Slurm's number \
                    stands first, the model's behind it";
const WHY_PASSES: &str = "every start in the same pass; 99 % of the plans to the second; fewer than 10 of 1,000 passes with a start that Slurm did \
                          not make and that no node explains that was still completing, within 25 ms of an end. Nodes are shown";
const WHY_RUNS: &str = "Slurm does not repeat its own schedule: the phases of its clocks decide over single jobs. The mean wait of each real run \
                        lies between the least and the most of the model's phases, or beyond them by no more than the real runs lie apart";
const WHY_PRIORITIES: &str = "every priority that Slurm calculated and told";
/// Passes of a recording whose first difference is shown.
const SHOWN: usize = 5;
/// Phases of Slurm's clocks in free runs.
const PHASES: u64 = 16;

/// The tables: id, what it shows.
pub(super) const TABLES: [(&str, &str); 3] = [
    ("passes", "Passes of both schedulers"),
    ("runs", "Free runs over 16 phases of the clocks"),
    ("priorities", "Priorities, where a recording says all that they depend on"),
];

struct CertifiedRecording {
    scenario: String,
    log: LogLine,
    agreement: Agreement,
    free: Option<FreeRun>,
    priorities: Option<PriorityAgreement>,
    differences: Vec<Difference>,
    /// Commands of the recorder that are not followed.
    unread: Vec<String>,
}

/// The folder of recordings among these, and their names; `None` where there is none.
pub(super) fn find_recordings(directories: &[PathBuf]) -> Option<(PathBuf, Vec<String>)> {
    directories.iter().find_map(|dir| {
        let names = Golden::list_recordings(dir).ok().filter(|names| !names.is_empty())?;
        Some((dir.clone(), names))
    })
}

/// Compares the model with every recording of a folder on this many threads. `told` receives the
/// jobs that are done. Returns also the number of recordings left out on cancellation.
pub(super) fn certify_model(
    (dir, names): &(PathBuf, Vec<String>),
    table_ids: &[String],
    threads: usize,
    reporter: &(dyn Fn(u64) + Sync),
    stop: &AtomicBool,
) -> Result<(StudyResult, usize), CommandFailure> {
    let wants = |id: &str| table_ids.is_empty() || table_ids.iter().any(|w| w == id);
    let (next, comparisons) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        while !stop.load(Ordering::Relaxed)
            && let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let comparison = compare_recording(dir, name, wants("runs"), reporter);
            if let Ok(mut results) = comparisons.lock() {
                results.push((name.clone(), comparison));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, names.len()) {
            // A thread that cannot be started for want of memory is one fewer: this thread works as
            // well.
            let _ = std::thread::Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
    let mut comparisons = comparisons.into_inner().unwrap_or_default();
    comparisons.sort_by(|a, b| a.0.cmp(&b.0));
    let recordings = comparisons
        .into_iter()
        .map(|(_, comparison)| comparison)
        .collect::<Result<Vec<_>, _>>()
        .map_err(CommandFailure::usage_error)?;
    let left_out = names.len() - recordings.len();
    recordings.iter().for_each(tell_differences);
    let tables = TABLES.iter().filter(|(id, _)| wants(id)).map(|&(id, title)| match id {
        "passes" => certified_table(id, title, WHY_PASSES, PASSES, pass_rows(&recordings)),
        "runs" => certified_table(id, title, WHY_RUNS, RUNS, run_rows(&recordings)),
        _ => certified_table(id, title, WHY_PRIORITIES, PRIORITIES, told_priorities(&recordings)),
    });
    let tables: Vec<TableResult> = tables.filter(|table| !table.rows.is_empty()).collect();
    let result = StudyResult {
        name: NAME.to_string(),
        source: SOURCE.to_string(),
        note: NOTE.to_string(),
        counts: CellCounts::from_tables(tables.iter()),
        logs: recordings.into_iter().map(|recording| recording.log).collect(),
        tables,
    };
    Ok((result, left_out))
}

fn compare_recording(
    dir: &Path,
    name: &str,
    runs: bool,
    reporter: &(dyn Fn(u64) + Sync),
) -> Result<CertifiedRecording, GoldenError> {
    let golden = Golden::read_recording(dir, name)?;
    let file = [".events.gz", ".events"].map(|end| format!("{name}{end}"));
    let file = file.into_iter().find(|file| dir.join(file).exists()).unwrap_or_default();
    let bytes = std::fs::read(dir.join(&file)).unwrap_or_default();
    let blake3 = blake3::hash(&bytes).to_hex().to_string();
    let log = LogLine { id: name.to_string(), file, blake3, page: String::new(), found: true };
    let (agreement, differences) = pass_by_pass(&golden);
    let free = (runs && golden.runs_freely()).then(|| free_run(&golden, PHASES));
    reporter(golden.jobs.len() as u64);
    let scenario = name.rsplit_once(".rep").map_or(name, |(scenario, _)| scenario).to_string();
    let unread = golden.unread_commands().into_iter().map(String::from).collect();
    Ok(CertifiedRecording {
        scenario,
        log,
        agreement,
        free,
        priorities: compare_priorities(&golden),
        differences,
        unread,
    })
}

/// Prints the first difference of each pass in which the model and a recording part.
///
/// The rest of a pass follows from its first difference.
fn tell_differences(recording: &CertifiedRecording) {
    for command in &recording.unread {
        message::print_warning(&format!(
            "{}: `{command}` is not followed: passes after it may differ",
            recording.log.id
        ));
    }
    let mut last = None;
    let firsts = recording.differences.iter().filter(|own| last.replace(own.at) != Some(own.at));
    let firsts: Vec<&Difference> = firsts.collect();
    for difference in firsts.iter().take(SHOWN) {
        message::print_note(&format!("{}: {difference}", recording.log.id));
    }
    if firsts.len() > SHOWN {
        message::print_note(&format!(
            "{}: {} in all differ",
            recording.log.id,
            format_plural(firsts.len() as u64, "pass")
        ));
    }
}

/// Heading and measure of each column.
type Columns = &'static [(&'static str, &'static str)];

const PASSES: Columns = &[
    ("passes", "passes of both schedulers"),
    ("starts", "jobs that the model starts in the same pass"),
    ("on the same nodes", "and on the same nodes"),
    ("plans", "plans with the same start, to the second"),
    ("plans, end and nodes", "and with the same end on the same nodes"),
    ("extra", "passes with a start that Slurm did not make"),
    ("unexplained per 1,000", "those that no end within 25 ms explains, in 1,000 passes"),
    ("victims", "jobs that have to go for others"),
];
const RUNS: Columns = &[
    ("wait, s", "mean wait: of the real runs, and over the phases"),
    ("least, s", "least over the real runs, and over the phases"),
    ("most, s", "most over the real runs, and over the phases"),
    ("real runs within", "real runs whose mean wait the phases explain"),
];
const PRIORITIES: Columns = &[
    ("priorities", "priorities that the model calculates the same"),
    ("largest difference", "largest difference from what Slurm calculated"),
];

fn certified_table(id: &str, title: &str, reason: &str, columns: Columns, rows: Vec<StudyRow>) -> TableResult {
    TableResult {
        study: NAME.to_string(),
        id: id.to_string(),
        title: title.to_string(),
        reason: reason.to_string(),
        columns: columns.iter().map(|(heading, _)| heading.to_string()).collect(),
        measures: columns.iter().map(|(_, measure)| measure.to_string()).collect(),
        rows,
    }
}

fn certified_row(label: &str, log: String, cells: Vec<StudyCell>) -> StudyRow {
    let policy = Some(NAME.to_string());
    StudyRow { label: label.to_string(), log, policy, settings: BTreeMap::new(), note: String::new(), cells }
}

/// Slurm's number and the model's; judged where there is a tolerance in percent.
fn certified_cell(real: f64, digits: usize, model: f64, tolerance: Option<f64>) -> StudyCell {
    let rounding = 0.5 * 10f64.powi(-(digits as i32));
    let published_value = PublishedValue::Number { text: format!("{real:.digits$}"), value: real, rounding };
    StudyCell::new(published_value, Some(Some(model)), tolerance)
}

fn count_cell(real: usize, model: usize, tolerance: Option<f64>) -> StudyCell {
    certified_cell(real as f64, 0, model as f64, tolerance)
}

fn model_cell(model: f64) -> StudyCell {
    StudyCell::new(PublishedValue::Nothing, Some(Some(model)), None)
}

fn pass_rows(recordings: &[CertifiedRecording]) -> Vec<StudyRow> {
    let mut total = Agreement::default();
    recordings.iter().for_each(|recording| total.add(&recording.agreement));
    let mut rows: Vec<StudyRow> =
        recordings.iter().map(|h| certified_row(&h.scenario, h.log.id.clone(), pass_cells(&h.agreement))).collect();
    if rows.len() > 1 {
        rows.push(certified_row("all", "all".to_string(), pass_cells(&total)));
    }
    rows
}

fn pass_cells(a: &Agreement) -> Vec<StudyCell> {
    let unexplained_rate = (a.passes_with_extra - a.extra_after_end) as f64 * 1000.0 / a.passes.max(1) as f64;
    // Without a plan or a victim there is nothing to judge.
    let tolerance_of = |real: usize, tolerance| (real > 0).then_some(tolerance);
    vec![
        model_cell(a.passes as f64),
        count_cell(a.starts, a.same_starts, Some(0.0)),
        count_cell(a.starts, a.same_nodes, None),
        count_cell(a.plans, a.same_plans, tolerance_of(a.plans, 1.0)),
        count_cell(a.plans, a.same_plan_nodes, None),
        model_cell(a.passes_with_extra as f64),
        StudyCell::new(PublishedValue::Below(10.0), Some(Some(unexplained_rate)), Some(0.0)),
        count_cell(a.victims, a.same_victims, tolerance_of(a.victims, 1.0)),
    ]
}

fn run_rows(recordings: &[CertifiedRecording]) -> Vec<StudyRow> {
    let mut scenarios: BTreeMap<&str, Vec<(&str, &FreeRun)>> = BTreeMap::new();
    for recording in recordings {
        if let Some(free) = &recording.free {
            scenarios.entry(&recording.scenario).or_default().push((&recording.log.id, free));
        }
    }
    scenarios.iter().map(|(scenario, runs)| run_row(scenario, runs)).collect()
}

/// The real runs of a scenario against the phases. Each run is simulated with its own submissions,
/// so each has phases of its own.
fn run_row(scenario: &str, runs: &[(&str, &FreeRun)]) -> StudyRow {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let ends = |values: &[f64]| {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let real: Vec<f64> = runs.iter().map(|(_, run)| run.real).collect();
    let model: Vec<f64> = runs.iter().flat_map(|(_, run)| run.model.iter().copied()).collect();
    let ((real_least, real_most), (least, most)) = (ends(&real), ends(&model));
    let apart = real_most - real_least;
    let within = real.iter().filter(|&&wait| (least - apart..=most + apart).contains(&wait)).count();
    let log = runs.iter().map(|(log, _)| *log).collect::<Vec<_>>().join(" ");
    let cells = vec![
        certified_cell(mean(&real), 1, mean(&model), None),
        certified_cell(real_least, 1, least, None),
        certified_cell(real_most, 1, most, None),
        count_cell(real.len(), within, Some(0.0)),
    ];
    certified_row(scenario, log, cells)
}

fn told_priorities(recordings: &[CertifiedRecording]) -> Vec<StudyRow> {
    let rows = recordings.iter().filter_map(|recording| {
        let priorities = recording.priorities.as_ref()?;
        let cells = vec![count_cell(priorities.all, priorities.same, Some(0.0)), model_cell(priorities.largest as f64)];
        Some(certified_row(&recording.scenario, recording.log.id.clone(), cells))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone_reproduce::CellVerdict;

    /// Two real runs of 10 s and 12 s lie 2 s apart. Phases from 7 s to 9 s are within 2 s of the
    /// first run, not of the second.
    #[test]
    fn a_run_that_the_phases_do_not_explain_is_out() {
        let run = |real: f64| FreeRun { real, model: vec![7.0, 9.0] };
        let (shorter, two) = (run(10.0), run(12.0));
        let row = run_row("made up", &[("a", &shorter), ("b", &two)]);
        let cell = &row.cells[3];
        assert_eq!((cell.ours, cell.verdict), (Some(1.0), CellVerdict::Out));
        assert_eq!((row.cells[0].ours, row.cells[0].verdict), (Some(8.0), CellVerdict::Shown));
        let alone = run_row("made up", &[("a", &run(8.0))]);
        assert_eq!(alone.cells[3].verdict, CellVerdict::Met);
    }

    /// A start that the model lacks is out, 2 plans of 300 are within 1 %, and so are extra starts
    /// while nodes complete.
    #[test]
    fn passes_are_judged_by_starts_plans_and_extra_starts() {
        let verdicts = |a: &Agreement| [1, 3, 6].map(|at| pass_cells(a)[at].verdict);
        let good = Agreement {
            passes: 100,
            passes_with_extra: 1,
            extra_after_end: 1,
            starts: 80,
            same_starts: 80,
            plans: 300,
            same_plans: 298,
            ..Agreement::default()
        };
        assert_eq!(verdicts(&good), [CellVerdict::Met, CellVerdict::Within, CellVerdict::Met]);
        let bad = Agreement { same_starts: 79, same_plans: 296, extra_after_end: 0, ..good };
        assert_eq!(verdicts(&bad), [CellVerdict::Out; 3]);
    }
}
