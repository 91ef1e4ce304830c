//! Simulates what the rows of a study need, each schedule once, and puts the values beside the
//! printed ones.

use crate::cell::{CellVerdict, StudyCell};
use crate::error::ReproduceError;
use crate::logs::{Library, LogState};
use crate::measure::{MeasureOfClass, RowResults};
use crate::parts::{RowWorkload, load_parts};
use crate::study::{PaperStudy, RowSpec, StudyTable};
use drystone::engine::{Observer, Platform};
use drystone::experiment::{Experiment, ExperimentError, ExperimentResult as Run, study_selection};
use drystone::metrics::{BATCH, HeelAndToe, JobSelection, MetricsConfig, Report, Scheme, slowdown_ratios};
use drystone::model::Workload;
use drystone::policy::PolicySpec;
use drystone::statistics::arithmetic_mean;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A table with our values.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TableResult {
    pub study: String,
    pub id: String,
    pub title: String,
    /// Reason for the tolerances.
    pub reason: String,
    /// Headings.
    pub columns: Vec<String>,
    /// Measure of each column.
    pub measures: Vec<String>,
    /// One per printed line.
    pub rows: Vec<StudyRow>,
}

/// A line of a table.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StudyRow {
    /// As printed.
    pub label: String,
    /// Name of the log in the study.
    pub log: String,
    /// The policy that was simulated, if any.
    pub policy: Option<String>,
    /// Other settings that determine its values, where the study gives them: `as`, `overrun`,
    /// `take`, `months`, `month`, `monthly`, `from`, `windows`, `resample`, `procs`, `platform`,
    /// `load`, `trim`, `baseline`.
    pub settings: BTreeMap<&'static str, String>,
    pub note: String,
    pub cells: Vec<StudyCell>,
}

impl TableResult {
    pub fn count_cells(&self, verdict: CellVerdict) -> usize {
        self.rows.iter().flat_map(|r| &r.cells).filter(|c| c.verdict == verdict).count()
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Reproduced {
    /// The tables, with the rows that are done.
    pub tables: Vec<TableResult>,
    /// Tables that lack rows because the work was stopped, with the number of rows.
    pub left_out: Vec<(String, usize)>,
}

/// A schedule that rows ask for, with everything any of them measures.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct RowSchedule {
    source: RowWorkload,
    policy: Option<String>,
    baseline: Option<String>,
    month: Option<String>,
    monthly: BTreeMap<String, String>,
    platform: Option<String>,
}

/// Measured values of one schedule, by the measure's name.
type MeasuredValues = BTreeMap<String, Option<f64>>;

/// Runs the tables of a study that `wanted` names (all, if empty), on this many threads. `done` is
/// called after each schedule with the number of jobs it held. The results do not depend on the
/// number of threads. Once `stop` is set, rows that are not done are left out.
///
/// # Errors
/// A log that is found does not read, or a policy breaks its contract. A log that is not found
/// leaves its cells [`CellVerdict::Missing`]; what became of each log is in `states`.
pub fn reproduce_study(
    study: &PaperStudy,
    table_ids: &[String],
    library: &Library,
    threads: usize,
    states: &mut BTreeMap<String, LogState>,
    progress: &(dyn Fn(u64) + Sync),
    stop: &AtomicBool,
) -> Result<Reproduced, ReproduceError> {
    let tables: Vec<&StudyTable> =
        study.tables.iter().filter(|t| table_ids.is_empty() || table_ids.contains(&t.id)).collect();
    // Which schedules are needed, and what is measured of each.
    let mut needs: BTreeMap<RowSchedule, Vec<MeasureOfClass>> = BTreeMap::new();
    for table in &tables {
        for row in &table.rows {
            if let Some(schedule) = row_schedule(study, table, row, library, states) {
                let measures = needs.entry(schedule).or_default();
                for column in &table.columns {
                    if !measures.contains(&column.measure) {
                        measures.push(column.measure.clone());
                    }
                }
            }
        }
    }
    let mut values: BTreeMap<RowSchedule, MeasuredValues> = BTreeMap::new();
    let mut sources: Vec<RowWorkload> = needs.keys().map(|s| s.source.clone()).collect();
    sources.dedup();
    let message = WorkMessage { done: progress, stop };
    for source in sources {
        if message.to_stop() {
            break;
        }
        let parts = load_parts(&source)?;
        let work: Vec<(&RowSchedule, &Vec<MeasureOfClass>)> =
            needs.iter().filter(|(s, _)| s.source == source).collect();
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let take = || {
            while !message.to_stop()
                && let Some(&(schedule, measures)) = work.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let measurement = measure_parts(schedule, measures, &parts, message);
                if let Ok(mut results) = results.lock() {
                    results.push((schedule.clone(), measurement));
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, work.len().max(1)) {
                // A thread that cannot be started for want of memory is one fewer: this thread
                // works as well.
                let _ = std::thread::Builder::new().spawn_scoped(scope, take);
            }
            take();
        });
        let mut results = results.into_inner().unwrap_or_default();
        results.sort_by(|a, b| a.0.cmp(&b.0));
        for (schedule, result) in results {
            match result {
                Err(ReproduceError::Stopped) => {}
                outcome => _ = values.insert(schedule, outcome?),
            }
        }
    }
    let mut is_done = |table: &StudyTable, row: &&RowSpec| {
        row_schedule(study, table, row, library, states).is_none_or(|schedule| values.contains_key(&schedule))
    };
    let rows: Vec<Vec<&RowSpec>> =
        tables.iter().map(|table| table.rows.iter().filter(|row| is_done(table, row)).collect()).collect();
    let result = |(table, rows): (&&StudyTable, &Vec<&RowSpec>)| TableResult {
        study: study.name.clone(),
        id: table.id.clone(),
        title: table.title.clone(),
        reason: table.reason.clone(),
        columns: table.columns.iter().map(|c| c.name.clone()).collect(),
        measures: table.columns.iter().map(|c| c.measure.to_string()).collect(),
        rows: rows.iter().map(|row| judge_row(study, table, row, library, states, &values)).collect(),
    };
    let lacks = |(table, rows): (&&StudyTable, &Vec<&RowSpec>)| (table.id.clone(), table.rows.len() - rows.len());
    Ok(Reproduced {
        tables: tables.iter().zip(&rows).filter(|(_, rows)| !rows.is_empty()).map(result).collect(),
        left_out: tables.iter().zip(&rows).map(lacks).filter(|(_, rows)| *rows > 0).collect(),
    })
}

/// Messages between the work and its caller.
#[derive(Clone, Copy)]
struct WorkMessage<'a> {
    /// Called with the number of jobs that are done.
    done: &'a (dyn Fn(u64) + Sync),
    /// Set when the work is to stop.
    stop: &'a AtomicBool,
}

impl WorkMessage<'_> {
    fn to_stop(self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The schedule behind a row; `None` where its log is not there.
fn row_schedule(
    study: &PaperStudy,
    table: &StudyTable,
    row: &RowSpec,
    library: &Library,
    states: &mut BTreeMap<String, LogState>,
) -> Option<RowSchedule> {
    let log = study.find_log(&row.log)?;
    let state = states.entry(log.file.clone()).or_insert_with(|| library.find_log(log));
    let LogState::Found { path, .. } = state else { return None };
    let source = RowWorkload {
        path: path.clone(),
        cleaning: table.cleaning_of(row).map(|c| c.name().to_string()),
        overrun: table.overrun.clone(),
        take: table.take,
        from: table.first_job_of(row),
        windows: table.windows.clone(),
        resample: table.resample,
        procs: table.procs,
        load: row.load.clone(),
        months: table.months,
    };
    let RowSpec { policy, baseline, month, monthly, .. } = row.clone();
    Some(RowSchedule { source, policy, baseline, month, monthly, platform: table.platform.clone() })
}

fn join_list(items: impl IntoIterator<Item = impl ToString>, between: &str) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(between)
}

fn judge_row(
    study: &PaperStudy,
    table: &StudyTable,
    row: &RowSpec,
    library: &Library,
    states: &BTreeMap<String, LogState>,
    values: &BTreeMap<RowSchedule, MeasuredValues>,
) -> StudyRow {
    let mut states = states.clone();
    let row_values = row_schedule(study, table, row, library, &mut states).and_then(|s| values.get(&s));
    let cell = |at: usize| {
        if let Some(price) = &row.price {
            let tolerance = row.tolerance.as_ref().map(|t| t[at]);
            return StudyCell::new(row.published[at].clone(), Some(Some(price.compute_price())), tolerance);
        }
        let measured_value =
            row_values.map(|values| values.get(&table.columns[at].measure.to_string()).copied().flatten());
        StudyCell::new(row.published[at].clone(), measured_value, row.tolerance.as_ref().map(|t| t[at]))
    };
    StudyRow {
        label: row.label.clone(),
        log: row.log.clone(),
        policy: row.policy.clone(),
        settings: row_settings(table, row),
        note: row.note.clone(),
        cells: (0..table.columns.len()).map(cell).collect(),
    }
}

/// Returns the settings of a row besides its policy.
fn row_settings(table: &StudyTable, row: &RowSpec) -> BTreeMap<&'static str, String> {
    if row.price.is_some() {
        return BTreeMap::new();
    }
    let cleaning = table.cleaning_of(row);
    // Months that are simulated apart are counted whole.
    let trim = if table.months { JobSelection::All } else { study_selection(cleaning) };
    let setting_values = [
        ("as", cleaning.map(|c| c.name().to_string())),
        ("overrun", table.overrun.clone()),
        ("take", table.take.map(|jobs| jobs.to_string())),
        ("from", table.first_job_of(row).map(|job| job.to_string())),
        ("windows", (!table.windows.is_empty()).then(|| join_list(&table.windows, " "))),
        ("resample", table.resample.map(|resampling| resampling.to_string())),
        ("procs", table.procs.map(|procs| procs.to_string())),
        ("platform", table.platform.as_ref().map(|text| text.trim().replace('\n', ", "))),
        ("months", table.months.then(|| "apart".to_string())),
        ("month", row.month.clone()),
        (
            "monthly",
            (!row.monthly.is_empty()).then(|| join_list(row.monthly.iter().map(|(m, p)| format!("{m}: {p}")), "; ")),
        ),
        ("load", row.load.clone()),
        ("trim", Some(trim.to_string())),
        ("baseline", row.baseline.clone()),
    ];
    setting_values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn measure_parts(
    schedule: &RowSchedule,
    measures: &[MeasureOfClass],
    parts: &[(String, Workload)],
    message: WorkMessage<'_>,
) -> Result<MeasuredValues, ReproduceError> {
    if schedule.source.months {
        return measure_months(schedule, measures, parts, message);
    }
    let part_results = parts.iter().map(|(_, workload)| measure_one(schedule, measures, workload, message));
    Ok(mean_values(&part_results.collect::<Result<Vec<_>, _>>()?))
}

/// Means of the values of windows or resampled logs; the value itself where there is one part. None
/// where a part has none.
fn mean_values(parts: &[MeasuredValues]) -> MeasuredValues {
    let mean = |name: &String| {
        let of_parts: Option<Vec<f64>> = parts.iter().map(|values| values.get(name).copied().flatten()).collect();
        of_parts.and_then(arithmetic_mean)
    };
    parts.first().into_iter().flat_map(BTreeMap::keys).map(|name| (name.clone(), mean(name))).collect()
}

fn measure_one(
    schedule: &RowSchedule,
    measures: &[MeasureOfClass],
    workload: &Workload,
    message: WorkMessage<'_>,
) -> Result<MeasuredValues, ReproduceError> {
    let mut schemes: Vec<Scheme> = measures.iter().filter_map(MeasureOfClass::scheme).collect();
    schemes.dedup();
    let selection = study_selection(schedule.source.cleaning.as_deref().and_then(|c| c.parse().ok()));
    // The shares of classes are those of the log; some schedule must be there to hold the jobs.
    let needs_report =
        !schemes.is_empty() || schedule.policy.is_some() || measures.iter().any(MeasureOfClass::of_stalls);
    let policy = schedule.policy.as_deref().unwrap_or("fcfs");
    let config = MetricsConfig { selection, categories: schemes, keep_jobs: true, ..MetricsConfig::default() };
    let mut stalls = measures.iter().any(MeasureOfClass::of_stalls).then(|| HeelAndToe::new(workload, selection));
    let platform = schedule.platform.as_deref().and_then(|text| Platform::from_toml(text).ok()).unwrap_or_default();
    let run = |policy: &str, also: &mut Option<HeelAndToe<'_>>| {
        run((workload, platform), policy, config.clone(), also, message)
    };
    let report = if needs_report { Some(run(policy, &mut stalls)?) } else { None };
    let stalls = stalls.map(HeelAndToe::finish);
    let baseline = schedule.baseline.as_deref().map(|baseline| run(baseline, &mut None)).transpose()?;
    let ratios = match (&baseline, &report) {
        (Some(single), Some(report)) => {
            let rows = |run: &Run| run.report.jobs.clone().unwrap_or_default();
            Some(slowdown_ratios(&rows(single), &rows(report), BATCH)?)
        }
        _ => None,
    };
    (message.done)(workload.len() as u64);
    let row_results = RowResults {
        workload,
        run: report.as_ref(),
        stalls: stalls.as_ref(),
        ratios: ratios.as_ref(),
        baseline: baseline.as_ref(),
    };
    Ok(measures.iter().map(|m| (m.to_string(), m.of_run(&row_results))).collect())
}

fn measure_months(
    schedule: &RowSchedule,
    measures: &[MeasureOfClass],
    parts: &[(String, Workload)],
    message: WorkMessage<'_>,
) -> Result<MeasuredValues, ReproduceError> {
    let policy = schedule.policy.as_deref().unwrap_or("fcfs");
    let is_wanted = |name: &str| schedule.month.as_deref().is_none_or(|month| month == name);
    let mut runs = Vec::new();
    for (name, workload) in parts.iter().filter(|(name, _)| is_wanted(name)) {
        runs.push(run(
            (workload, Platform::default()),
            schedule.monthly.get(name).map_or(policy, String::as_str),
            MetricsConfig { keep_jobs: true, ..MetricsConfig::light_config() },
            &mut (),
            message,
        )?);
        (message.done)(workload.len() as u64);
    }
    let unknown = schedule.monthly.keys().find(|month| !parts.iter().any(|(name, _)| name == *month));
    if let Some(month) = unknown.or(schedule.month.as_ref().filter(|_| runs.is_empty())) {
        let month_names = parts.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let log = schedule.source.path.display().to_string();
        return Err(ReproduceError::Month { log, month: month.clone(), known: month_names });
    }
    let reports: Vec<&Report> = runs.iter().map(|run| &run.report).collect();
    Ok(measures.iter().map(|m| (m.to_string(), m.of_parts(&reports))).collect())
}

/// One simulation, measured.
fn run(
    (workload, platform): (&Workload, Platform),
    policy: &str,
    config: MetricsConfig,
    also: &mut impl Observer,
    message: WorkMessage<'_>,
) -> Result<Run, ReproduceError> {
    let spec: PolicySpec = policy.parse()?;
    let policy = || policy.to_string();
    match Experiment::new(&spec, workload).on_platform(platform).with_metrics(config).with_stop(message.stop).run(also)
    {
        Ok(result) => result.ok_or(ReproduceError::Stopped),
        Err(ExperimentError::Simulation(source)) => Err(ReproduceError::Policy { policy: policy(), source }),
        Err(source) => Err(ReproduceError::Impossible { policy: policy(), source }),
    }
}
