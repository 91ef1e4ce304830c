//! The workloads of a study: each log read once, then transformed as often as asked.

use crate::error::SweepError;
use crate::furnish::furnish_workload;
use crate::real;
use crate::shaped::shape_workload;
use crate::simulation_inputs::{self, ExcessThreshold, GivenFiles};
use crate::study::{SubmitSlice, SweepStudy, WorkloadEntry, WorkloadSource};
use drystone::engine::Checkpoints;
use drystone::fingerprint::compute_fingerprint;
use drystone::generate::reshape::Reshape;
use drystone::generate::{NodeFailures, Params, generate_workload, measure_failures};
use drystone::log::clean::{Cleaner, CleaningOptions, CleaningStudy as Published};
use drystone::log::resources::ResourceNotes;
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::log::transform::{self, LoadFactor, LogWindow};
use drystone::log::{self, LogError};
use drystone::metrics::JobSelection;
use drystone::model::{Outages, Setting, Span, Time, Workload};
use drystone_whatif::{ChangeList, Premises};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct SweepCase {
    /// The workload's name in the study; with the transformations it tells cases apart.
    pub name: String,
    /// The log that it was read from.
    pub source: Option<PathBuf>,
    /// The log that it comes from: a file, or a generator with its seed. Cases of one log are no
    /// independent evidence.
    pub log: String,
    /// The time from which weeks of submits are counted, in the times of the workload: the log's
    /// first submit, where it is a slice of the log.
    pub weeks_from: Option<Time>,
    pub workload: Workload,
    /// [`compute_fingerprint`] of the jobs.
    pub hash: String,
    /// Selection of the jobs that count.
    pub trim: JobSelection,
    /// The study whose policy variants are meant where policies name none.
    pub published: Option<Published>,
    /// Costs of suspension, and priorities.
    pub given: GivenFiles,
    /// Divisor of the submit times.
    pub load: Option<LoadFactor>,
    /// The month it is a piece of.
    pub month: Option<String>,
    /// Seconds of the log from which it is a piece, as the study has them; or the limits of its
    /// window.
    pub slice: Option<String>,
    /// The changes made to the log, as a text.
    pub change: Option<String>,
    /// Seed of the generator, or of the drawn sizes.
    pub seed: Option<u64>,
    /// Oddities of the resources of the whole workload.
    pub notes: ResourceNotes,
}

impl SweepCase {
    /// The case in a few words: name and transformations.
    pub fn label(&self) -> String {
        let load = self.load.map(|l| format!("load={l}"));
        let seed = self.seed.map(|s| format!("seed={s}"));
        let change = self.change.as_ref().map(|change| format!("change={change}"));
        case_label(&self.name, [load, self.month.clone(), self.slice.clone(), change, seed])
    }

    /// Divisor of the submit times; 1 where they were not scaled.
    pub fn load_factor(&self) -> f64 {
        self.load.map_or(1.0, LoadFactor::as_f64)
    }

    /// Returns the cleaning rules and the hashes of the given files: `procs=100, size=requested,
    /// …`.
    pub fn cleaning_text(&self) -> String {
        let settings = self.workload.provenance.settings.iter().map(|s| format!("{}={}", s.name, s.value));
        let file_settings = (!self.given.settings.is_empty()).then(|| self.given.settings.clone());
        settings.chain(file_settings).collect::<Vec<_>>().join(", ")
    }
}

/// `KTH load=1.1 1997-03 0..604800 change=procs +64 seed=2`.
fn case_label(name: &str, transformations: [Option<String>; 5]) -> String {
    let mut words = vec![name.to_string()];
    words.extend(transformations.into_iter().flatten());
    words.join(" ")
}

/// Every workload of a study, transformed in every way. Logs are looked for in `logs`, else beside
/// the study file.
pub(crate) fn list_cases(study: &SweepStudy, logs: Option<&Path>) -> Result<Vec<SweepCase>, SweepError> {
    let mut cases: Vec<SweepCase> = Vec::new();
    for entry in &study.workloads {
        let source = match &entry.source {
            WorkloadSource::Log(file) => Some(log_path(study, file, logs)),
            WorkloadSource::Generated(_) => None,
        };
        let bases: Vec<((Workload, ResourceNotes), Option<u64>)> = match &entry.source {
            WorkloadSource::Log(file) => vec![(read_log(study, entry, file, logs)?, None)],
            WorkloadSource::Generated(params) => study
                .seeds
                .iter()
                .map(|&seed| {
                    let workload = generate_entry(entry, &Params { seed, ..(**params).clone() })?;
                    Ok((furnish_workload(study, entry, workload)?, Some(seed)))
                })
                .collect::<Result<_, SweepError>>()?,
        };
        for ((base, notes), seed) in bases {
            let log = log_name(&entry.source, seed);
            let parts = log_parts(study, entry, &base)?;
            for load in &entry.loads {
                for (place, part) in parts.iter().enumerate() {
                    let workload = transform_workload(study, entry, &base, *load, part)?;
                    let trim = part.counted_selection(entry, &base, *load);
                    let variants = entry.happenings().flat_map(|happening| {
                        let draws_and_seeds = entry.shape.seeded_draws(seed, &study.seeds);
                        draws_and_seeds.map(move |(draw, seed)| (happening, draw, seed))
                    });
                    for ((change, failures, checkpoints), draw, seed) in variants {
                        let (workload, mut files) = change_workload(study, entry, &workload, change)?;
                        if let Some(failures) = failures {
                            fail_nodes(study, entry, &workload, (failures, place), &mut files)?;
                        }
                        let workload = shape_workload(study, entry, workload, draw.as_ref(), &mut files)?;
                        if let Some(checkpoints) = checkpoints {
                            write_checkpoints(study, entry, &workload, (checkpoints, failures), &mut files)?;
                        }
                        cases.push(SweepCase {
                            name: entry.name.clone(),
                            log: log.clone(),
                            weeks_from: weeks_from(&base, *load, part.is_piece()),
                            hash: compute_fingerprint(&workload),
                            given: files,
                            source: source.clone(),
                            workload,
                            trim,
                            published: entry.published,
                            load: *load,
                            month: part.month.map(String::from),
                            slice: part.slice_name(),
                            change: happening_text((change, failures, checkpoints), draw.as_ref()),
                            seed,
                            notes: notes.clone(),
                        });
                    }
                }
            }
        }
    }
    Ok(cases)
}

type CaseHappening<'a> = (Option<&'a ChangeList>, Option<&'a NodeFailures>, Option<&'a Checkpoints>);

impl WorkloadEntry {
    /// Every change with every kind of failures and of checkpoints.
    fn happenings(&self) -> impl Iterator<Item = CaseHappening<'_>> {
        let with_checkpoints =
            |(change, failures)| self.checkpoints.iter().map(move |points| (change, failures, points.as_ref()));
        let with = |change| self.failures.iter().map(move |failures| (change, failures.as_ref()));
        self.changes.iter().map(Option::as_ref).flat_map(with).flat_map(with_checkpoints)
    }
}

/// The change, the failures, the checkpoints and the drawn sizes of a case in words.
fn happening_text((change, failures, points): CaseHappening<'_>, draw: Option<&Reshape>) -> Option<String> {
    let (change, failures) = (change.map(ToString::to_string), failures.map(ToString::to_string));
    let points = points.map(|points| format!("checkpoints({points})"));
    let words: Vec<String> = [change, failures, points, draw.map(ToString::to_string)].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Lets nodes of a case fail, beside its other outages.
fn fail_nodes(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    workload: &Workload,
    (failures, part): (&NodeFailures, usize),
    files: &mut GivenFiles,
) -> Result<(), SweepError> {
    let wrong =
        |problem: String| study.error_at(entry.failures_at.clone(), format!("workload {}: {problem}", entry.name));
    let drawn_outages = failures.draw_outages(workload, part).map_err(|problem| wrong(problem.to_string()))?;
    let all_outages = files.outages.list().iter().chain(drawn_outages.list()).cloned().collect();
    files.outages = Outages::new(workload.machine(), all_outages).map_err(|problem| wrong(problem.to_string()))?;
    let settings = [std::mem::take(&mut files.settings), format!("{failures} part {part}")];
    files.settings = settings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    Ok(())
}

/// Lets the jobs of a case write checkpoints, whose interval its failures may choose.
fn write_checkpoints(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    workload: &Workload,
    (checkpoints, failures): (&Checkpoints, Option<&NodeFailures>),
    files: &mut GivenFiles,
) -> Result<(), SweepError> {
    let wrong =
        |problem: String| study.error_at(entry.checkpoints_at.clone(), format!("workload {}: {problem}", entry.name));
    if workload.shapes().is_some() {
        return Err(wrong("jobs of several sizes write no checkpoints".to_string()));
    }
    // Beside a case without failures the same choice as with them would be none.
    let node_times = failures.or_else(|| entry.failures.iter().flatten().next()).map(|model| (model.mtbf, model.node));
    let nodes = node_times.or_else(|| measure_failures(&files.outages, workload));
    let checkpoints = checkpoints.on_nodes(nodes.map(|times| times.0), nodes.map(|times| times.1));
    checkpoints.check_intervals().map_err(|problem| wrong(problem.to_string()))?;
    files.platform.checkpoints = Some(checkpoints);
    let settings = [std::mem::take(&mut files.settings), format!("checkpoints({checkpoints})")];
    files.settings = settings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    Ok(())
}

/// A part of a log that is simulated apart.
#[derive(Default)]
struct LogPart<'a> {
    month: Option<&'a str>,
    slice: Option<&'a SubmitSlice>,
    window: Option<LogWindow>,
}

/// The parts that an entry asks for: its windows, else each slice of each month.
fn log_parts<'a>(
    study: &SweepStudy,
    entry: &'a WorkloadEntry,
    base: &Workload,
) -> Result<Vec<LogPart<'a>>, SweepError> {
    let Some(rule) = &entry.windows else {
        let months = entry.months.iter().flat_map(|month| entry.slices.iter().map(move |slice| (month, slice)));
        let part = |(month, slice): (&'a Option<String>, &'a Option<SubmitSlice>)| LogPart {
            month: month.as_deref(),
            slice: slice.as_ref(),
            window: None,
        };
        return Ok(months.map(part).collect());
    };
    let wrong =
        |problem: String| study.error_at(entry.windows_at.clone(), format!("workload {}: {problem}", entry.name));
    let mut windows = rule.find_windows(base).map_err(|problem| wrong(problem.to_string()))?;
    // A window that is drawn twice is simulated once.
    let mut names: Vec<String> = Vec::new();
    windows.retain(|window| {
        let is_new = !names.contains(&window.name);
        names.push(window.name.clone());
        is_new
    });
    Ok(windows.into_iter().map(|window| LogPart { window: Some(window), ..LogPart::default() }).collect())
}

impl LogPart<'_> {
    fn is_piece(&self) -> bool {
        self.month.is_some() || self.slice.is_some() || self.window.is_some()
    }

    fn slice_name(&self) -> Option<String> {
        let window = self.window.as_ref().map(|window| window.name.clone());
        window.or_else(|| self.slice.map(|slice| slice.text.clone()))
    }

    /// The jobs that count: of a window with warm-up or cool-down those between, by the second of
    /// their submit.
    fn counted_selection(&self, entry: &WorkloadEntry, base: &Workload, load: Option<LoadFactor>) -> JobSelection {
        let window = self.window.as_ref().filter(|window| window.counted != window.simulated);
        let counted_jobs = window.and_then(|window| base.jobs().get(window.counted.clone()));
        let Some((first, last)) = counted_jobs.and_then(|jobs| jobs.first().zip(jobs.last())) else {
            return entry.trim;
        };
        let at = |time: Time| load.map_or(time, |load| load.divide_time(time));
        JobSelection::Submitted { from: at(first.submit), until: at(last.submit) + Span(1) }
    }
}

/// Names the log that a workload comes from. Loads that a generator meets by the same numbers are
/// one log.
fn log_name(source: &WorkloadSource, seed: Option<u64>) -> String {
    match source {
        WorkloadSource::Log(file) => file.display().to_string(),
        WorkloadSource::Generated(params) => {
            format!("generated {:?} {} procs seed {}", params.model, params.procs, seed.unwrap_or(params.seed))
        }
    }
}

/// Returns the log's first submit in the times of a part of it.
fn weeks_from(base: &Workload, load: Option<LoadFactor>, is_part: bool) -> Option<Time> {
    let first = base.submit_range().filter(|_| is_part)?.0;
    Some(load.map_or(first, |load| load.divide_time(first)))
}

/// Returns the path of a log: below `logs` by its whole path or its name alone, else beside the
/// study file.
fn log_path(study: &SweepStudy, file: &Path, logs: Option<&Path>) -> PathBuf {
    let below = logs.into_iter().flat_map(|logs| [Some(logs.join(file)), file.file_name().map(|name| logs.join(name))]);
    below.flatten().find(|path| path.exists()).unwrap_or_else(|| study.directory().join(file))
}

fn read_log(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    file: &Path,
    logs: Option<&Path>,
) -> Result<(Workload, ResourceNotes), SweepError> {
    let fail = |source: LogError| match source {
        // What the study file says is wrong, not what is in the log.
        LogError::Open { .. } | LogError::Read { line: 0, .. } => {
            let problem = format!(
                "workload {}: {source}; logs are looked for in --logs DIR first, then beside the study file",
                entry.name
            );
            study.error_at(entry.file_at.clone(), problem)
        }
        source => SweepError::Log { name: entry.name.clone(), source },
    };
    let loaded_log = log::load_log(log_path(study, file, logs), &entry.options).map_err(fail)?;
    let (workload, notes) = furnish_workload(study, entry, loaded_log.workload)?;
    Ok((real::apply_circumstances(study, entry, workload, loaded_log.records.as_deref().unwrap_or(&[]))?, notes))
}

/// A synthetic workload, which goes through cleaning like a log, so that every option means the
/// same.
fn generate_entry(entry: &WorkloadEntry, params: &Params) -> Result<Workload, SweepError> {
    let name = || entry.name.clone();
    let workload = generate_workload(params).map_err(|source| SweepError::Generate { name: name(), source })?;
    if entry.options == CleaningOptions::default() {
        return Ok(workload);
    }
    let clean = || -> Result<Workload, LogError> {
        let mut header = SwfHeader::new();
        header.push("MaxProcs", &workload.machine().procs.to_string());
        if let Some(start) = workload.provenance.unix_start {
            header.push("UnixStartTime", &start.to_string());
        }
        let mut cleaner = Cleaner::new(&header, entry.options.clone(), name(), &workload.provenance.name)?;
        for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
            cleaner.push(&SwfRecord::from_job(job, truth))?;
        }
        let (mut cleaned_log, _, _) = cleaner.finish()?;
        // What it was generated from, then what was changed.
        cleaned_log.provenance.settings.splice(0..0, workload.provenance.settings.iter().cloned());
        cleaned_log.provenance.utc_offset = workload.provenance.utc_offset;
        Ok(cleaned_log)
    };
    clean().map_err(|source| SweepError::Log { name: name(), source })
}

/// Seed of the days that a load by resampled arrivals draws.
const RESAMPLED: u64 = 1;

/// The workload after a change, and its other inputs.
fn change_workload(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    workload: &Workload,
    change: Option<&ChangeList>,
) -> Result<(Workload, GivenFiles), SweepError> {
    let (platform, priorities) = (entry.platform.as_ref(), entry.priorities.as_ref());
    let given_files = simulation_inputs::read_files(study, platform, priorities, entry.outages.as_ref(), workload)?;
    let mut files =
        GivenFiles { feedback: entry.feedback, excess: entry.excess.map(ExcessThreshold::new), ..given_files };
    if let Some(threshold) = entry.excess {
        // The metrics of a simulation depend on it.
        let settings = [files.settings, format!("excess={threshold}")];
        files.settings = settings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    }
    let with_supply =
        entry.supply.as_ref().map(|file| simulation_inputs::give_supply(study, file, workload)).transpose()?;
    if let Some((_, setting)) = &with_supply {
        let settings = [files.settings, setting.clone()];
        files.settings = settings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    }
    let workload = with_supply.as_ref().map_or(workload, |(workload, _)| workload);
    let Some(change) = change else { return Ok((workload.clone(), files)) };
    let wrong = |problem: String| study.error_at(entry.changes_at.clone(), problem);
    let premises = Premises::of_log(workload.clone(), files.outages.list().to_vec(), 1.0);
    let log_end = workload.submit_range().map_or(Time(0), |(_, last)| last);
    let clock = |text: &str| {
        drystone_whatif::parse_moment(&workload.provenance, log_end, text).map_err(|error| error.to_string())
    };
    let change_result =
        drystone_whatif::apply_changes(&premises, change, &clock, RESAMPLED).map_err(|e| wrong(e.to_string()))?;
    let outages = change_result.premises.pools.into_iter().flat_map(|pool| pool.outages).collect();
    let workload = change_result.premises.workload;
    files.outages = Outages::new(workload.machine(), outages).map_err(|e| wrong(e.to_string()))?;
    files.feedback |= change_result.feeds_back;
    // Not every change shows in the jobs: what is out belongs to the plan as well.
    let settings = [files.settings, format!("change={change}")];
    files.settings = settings.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(", ");
    Ok((workload, files))
}

fn transform_workload(
    study: &SweepStudy,
    entry: &WorkloadEntry,
    base: &Workload,
    load: Option<LoadFactor>,
    part: &LogPart<'_>,
) -> Result<Workload, SweepError> {
    let fail = |source| SweepError::Transform { name: entry.name.clone(), source };
    // Parts first: their borders are those of the log, not of the scaled times.
    let mut workload = match &part.window {
        Some(window) => {
            let setting = Setting { name: "window".to_string(), value: window.name.clone() };
            transform::cut_piece(base, window.simulated.clone(), setting).map_err(fail)?
        }
        None => base.clone(),
    };
    if let Some(month) = part.month {
        let months = transform::calendar_months(&workload)
            .map_err(|source| SweepError::Log { name: entry.name.clone(), source })?;
        let Some((_, places)) = months.iter().find(|(name, _)| name == month) else {
            let name = |m: Option<&(String, _)>| m.map_or("?".to_string(), |m| m.0.clone());
            let (first, last) = (name(months.first()), name(months.last()));
            let problem = format!("no job was submitted in {month}; the log's months are {first} to {last}");
            return Err(study.error_at(entry.months_at.clone(), problem));
        };
        let setting = Setting { name: "month".to_string(), value: month.to_string() };
        workload = transform::cut_piece(&workload, places.clone(), setting).map_err(fail)?;
    }
    if let Some(SubmitSlice { text, from, until }) = part.slice {
        let places = transform::find_submitted(&workload, *from, *until);
        if places.is_empty() {
            let (first, last) = workload.submit_range().unwrap_or_default();
            let problem = format!(
                "no job was submitted in the slice {text}; jobs are submitted from second {} to second {} of the log",
                first.0, last.0
            );
            return Err(study.error_at(entry.slices_at.clone(), problem));
        }
        let setting = Setting { name: "slice".to_string(), value: text.clone() };
        workload = transform::cut_piece(&workload, places, setting).map_err(fail)?;
    }
    match load {
        Some(load) => transform::scale_load(workload, load).map_err(fail),
        None => Ok(workload),
    }
}
