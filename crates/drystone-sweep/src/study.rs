//! Study files: what is to be simulated, in TOML, with errors that point at the line.

mod failures;
mod points;
mod raw;
mod shapes;
mod windows;
mod workloads;

use crate::design::DesignLevel;
use crate::error::SweepError;
use drystone::engine::Checkpoints;
use drystone::generate::{NodeFailures, Params};
use drystone::log::clean::{CleaningOptions, CleaningStudy as Published};
use drystone::log::resources::ResourceSpec;
use drystone::log::transform::{LoadFactor, WindowRule};
use drystone::metrics::{JobSelection, Measure, Metric, MetricNeeds, Threshold, UnknownWord};
use drystone::model::{NodeFill, Span as Seconds, Time};
use drystone::policy::PolicySpec;
use drystone_whatif::ChangeList;
use raw::RawStudy;
pub(crate) use shapes::ShapeEntry;
use std::ops::Range as Bytes;
use std::path::{Path, PathBuf};
use toml::{Spanned, Value};

/// A study, read and checked as far as that goes without its logs.
#[derive(Clone, Debug)]
pub struct SweepStudy {
    /// The study file, for messages.
    pub file: PathBuf,
    pub text: String,
    pub name: String,
    pub metrics: Vec<Metric>,
    pub(crate) store: Option<PathBuf>,
    pub(crate) workloads: Vec<WorkloadEntry>,
    pub(crate) policies: Vec<PolicyEntry>,
    pub(crate) seeds: Vec<u64>,
}

/// A workload of a study, before its transformations.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadEntry {
    pub(crate) name: String,
    pub(crate) source: WorkloadSource,
    pub(crate) published: Option<Published>,
    pub(crate) options: CleaningOptions,
    pub(crate) trim: JobSelection,
    pub(crate) excess: Option<Threshold>,
    pub(crate) platform: Option<FileEntry>,
    pub(crate) priorities: Option<FileEntry>,
    pub(crate) outages: Option<FileEntry>,
    /// Table of the amounts of its resources over time.
    pub(crate) supply: Option<FileEntry>,
    /// Resources beyond processors, and where the study names them.
    pub(crate) resources: Vec<ResourceSpec>,
    pub(crate) resources_at: Bytes<usize>,
    /// The table of the nodes on which jobs are placed, and how.
    pub(crate) on_nodes: Option<FileEntry>,
    pub(crate) placement: NodeFill,
    pub(crate) circumstances: Option<FileEntry>,
    pub(crate) warm_start: Option<Seconds>,
    pub(crate) feedback: bool,
    pub(crate) loads: Vec<Option<LoadFactor>>,
    pub(crate) months: Vec<Option<String>>,
    pub(crate) months_at: Bytes<usize>,
    pub(crate) slices: Vec<Option<SubmitSlice>>,
    pub(crate) slices_at: Bytes<usize>,
    /// Windows of the log, each simulated apart.
    pub(crate) windows: Option<WindowRule>,
    pub(crate) windows_at: Bytes<usize>,
    pub(crate) changes: Vec<Option<ChangeList>>,
    pub(crate) changes_at: Bytes<usize>,
    /// Failures of nodes, each on its own.
    pub(crate) failures: Vec<Option<NodeFailures>>,
    pub(crate) failures_at: Bytes<usize>,
    /// Checkpoints, each on its own.
    pub(crate) checkpoints: Vec<Option<Checkpoints>>,
    pub(crate) checkpoints_at: Bytes<usize>,
    /// Sizes of jobs, and power.
    pub(crate) shape: ShapeEntry,
    pub(crate) file_at: Bytes<usize>,
}

/// The jobs submitted from one second up to but not including another.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SubmitSlice {
    /// As the study has it.
    pub(crate) text: String,
    pub(crate) from: Option<Time>,
    pub(crate) until: Option<Time>,
}

/// A file that a study names, and where it does.
pub(crate) type FileEntry = Spanned<PathBuf>;

#[derive(Clone, Debug)]
pub(crate) enum WorkloadSource {
    Log(PathBuf),
    Generated(Box<Params>),
}

/// Policies of a study: a text with places for parameters, and the points to put there.
#[derive(Clone, Debug)]
pub(crate) struct PolicyEntry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<String>,
    /// The values of the parameters, and the policy they make.
    pub(crate) points: Vec<(Vec<DesignLevel>, PolicySpec)>,
    /// Position of its `policy`.
    pub(crate) at: Bytes<usize>,
}

/// Says where in a file something is wrong.
struct StudyReader<'a> {
    file: &'a Path,
    text: &'a str,
}

/// Names of columns of the store, which parameters cannot have.
pub(crate) const RESERVED: [&str; 28] = [
    // Columns of a ranking.
    "rank",
    "degradation",
    "clairvoyant",
    "test_change",
    "test_low",
    "test_high",
    "test_p",
    "test_p_holm",
    "test_verdict",
    "configuration",
    "simulation",
    "study",
    "workload",
    "workload_hash",
    "cleaning",
    "load",
    "month",
    "slice",
    "change",
    "seed",
    "trim",
    "name",
    "policy",
    "simulated",
    "parameters",
    "drystone",
    "error",
    "rowid",
];

impl StudyReader<'_> {
    fn error_at(&self, span: Bytes<usize>, problem: impl Into<String>) -> SweepError {
        let at = span.start.min(self.text.len());
        let before = self.text.get(..at).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |b| b + 1);
        let text = self.text[begin..].lines().next().unwrap_or("").trim_end().to_string();
        SweepError::Study {
            file: self.file.display().to_string(),
            line,
            column: before[begin..].chars().count() + 1,
            problem: problem.into(),
            text,
        }
    }
}

impl SweepStudy {
    /// Reads a study file.
    ///
    /// # Errors
    /// It cannot be read, is no TOML, or says something impossible; the error points at the line.
    pub fn read_file(file: &Path) -> Result<SweepStudy, SweepError> {
        let name = || file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|source| SweepError::Unreadable { file: name(), source })?;
        SweepStudy::parse(file, text)
    }

    /// Reads a study from its text; `file` is where it is or was, and paths in it are relative to
    /// its directory.
    ///
    /// # Errors
    /// As for [`SweepStudy::read_file`].
    pub fn parse(file: &Path, text: String) -> Result<SweepStudy, SweepError> {
        let study_reader = StudyReader { file, text: &text };
        let raw: RawStudy = toml::from_str(&text)
            .map_err(|e| study_reader.error_at(e.span().unwrap_or(0..0), e.message().trim().replace('\n', "; ")))?;
        let whole = 0..0;
        let metrics = match &raw.metrics {
            None => vec![Metric::Mean(Measure::Wait), Metric::Mean(Measure::BoundedSlowdown)],
            Some(names) => study_reader.read_metrics(names)?,
        };
        let trim = raw.trim.as_ref().map(|t| study_reader.read_selection(t)).transpose()?;
        let seeds = study_reader.read_seeds(&raw)?;
        let mut workloads = Vec::new();
        for workload in &raw.workload {
            let entry = study_reader.read_workload(workload, &raw, trim)?;
            study_reader.check_excess(workload.span(), &metrics, &entry)?;
            if workloads.iter().any(|w: &WorkloadEntry| w.name == entry.name) {
                let problem = format!("there is another workload named `{}`; give one a `name`", entry.name);
                return Err(study_reader.error_at(workload.span(), problem));
            }
            workloads.push(entry);
        }
        if let Some(word) = raw.placement.as_ref().filter(|_| workloads.iter().all(|w| w.on_nodes.is_none())) {
            let problem = "`placement` needs nodes to place jobs on: `on-nodes = \"nodes.csv\"`";
            return Err(study_reader.error_at(word.span(), problem));
        }
        if workloads.is_empty() {
            return Err(study_reader.error_at(whole, "there is no [[workload]]: write one with a `file` or `generate`"));
        }
        let mut policies: Vec<PolicyEntry> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for policy in &raw.policy {
            let entry = study_reader.read_policy(policy, raw.seed.as_ref().map_or(1, |seed| *seed.as_ref()))?;
            for name in &entry.parameters {
                // The store's columns have no case.
                if let Some(namesake) = names.iter().find(|n| *n != name && n.eq_ignore_ascii_case(name)) {
                    let problem = format!("the parameters `{namesake}` and `{name}` differ in case only; rename one");
                    return Err(study_reader.error_at(policy.span(), problem));
                }
                names.push(name.clone());
            }
            policies.push(entry);
        }
        if policies.is_empty() {
            return Err(study_reader.error_at(whole, "there is no [[policy]]: write one with `policy = \"easy\"`"));
        }
        let stem = || file.file_stem().map_or("study".to_string(), |s| s.to_string_lossy().into_owned());
        let name = raw.name.unwrap_or_else(stem);
        Ok(SweepStudy { file: file.to_path_buf(), name, metrics, store: raw.store, workloads, policies, seeds, text })
    }

    /// Returns the path of the results: the one the study gives, else the study's own name with
    /// `.db`, beside it.
    pub fn store_path(&self) -> PathBuf {
        match &self.store {
            Some(store) => self.directory().join(store),
            None => self.file.with_extension("db"),
        }
    }

    /// The directory that paths in it are relative to.
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// Every parameter of every policy, in the order in which they first stand in the file.
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.policies.iter().flat_map(|p| &p.parameters) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The first policy with a time limit, if there is one: its results depend on the speed of the
    /// machine.
    ///
    /// Cost: makes the scheduler of every point.
    pub fn timed_policy(&self) -> Option<&PolicySpec> {
        let mut specs = self.policies.iter().flat_map(|entry| &entry.points).map(|(_, spec)| spec);
        specs.find(|spec| spec.build_scheduler().policy.time_limit().is_some())
    }

    pub(crate) fn error_at(&self, span: Bytes<usize>, problem: impl Into<String>) -> SweepError {
        StudyReader { file: &self.file, text: &self.text }.error_at(span, problem)
    }
}

impl StudyReader<'_> {
    fn read_metrics(&self, names: &[Spanned<String>]) -> Result<Vec<Metric>, SweepError> {
        let mut metrics = Vec::new();
        for name in names {
            let metric: Metric = name.as_ref().parse().map_err(|e: UnknownWord| {
                self.error_at(name.span(), format!("there is no metric `{}`; expected {}", e.word, e.expected))
            })?;
            if metrics.contains(&metric) {
                return Err(self.error_at(name.span(), format!("`{metric}` is there twice")));
            }
            metrics.push(metric);
        }
        if metrics.is_empty() {
            return Err(self.error_at(0..0, "`metrics` is empty; without it wait_mean and bounded_slowdown_mean count"));
        }
        Ok(metrics)
    }

    /// The threshold of excessive waits: a number of seconds, or taken from FCFS-backfill.
    fn read_excess(&self, value: &Spanned<Value>) -> Result<Threshold, SweepError> {
        let threshold = match value.as_ref() {
            Value::Integer(seconds) => seconds.to_string().parse().ok(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        threshold.ok_or_else(|| {
            self.error_at(
                value.span(),
                "`excess` is a number of seconds, \"baseline-max\" or \"baseline-p98\": the longest wait under `easy`, or the \
                 wait that 98 % of its jobs do not exceed",
            )
        })
    }

    /// Metrics of excessive waits need a threshold, and a threshold metrics.
    fn check_excess(&self, span: Bytes<usize>, metrics: &[Metric], entry: &WorkloadEntry) -> Result<(), SweepError> {
        let asking = metrics.iter().find(|metric| metric.needed_measurements().contains(&MetricNeeds::Threshold));
        match (asking, entry.excess) {
            (Some(metric), None) => {
                let problem = format!("`{metric}` needs a threshold: give `excess = \"baseline-max\"` or seconds");
                Err(self.error_at(span, problem))
            }
            (None, Some(_)) => {
                let problem = "`excess` changes nothing: no metric is excess_jobs, excess_total or excess_mean";
                Err(self.error_at(span, problem))
            }
            _ => Ok(()),
        }
    }

    fn read_selection(&self, text: &Spanned<String>) -> Result<JobSelection, SweepError> {
        text.as_ref().parse().map_err(|e: UnknownWord| {
            self.error_at(text.span(), format!("`{}` is no rule of trimming; expected {}", text.as_ref(), e.expected))
        })
    }

    fn read_seeds(&self, raw: &RawStudy) -> Result<Vec<u64>, SweepError> {
        let first = raw.seed.as_ref().map_or(1, |seed| *seed.as_ref());
        // The store's whole numbers have a sign.
        let largest = i64::MAX as u64;
        if let (Some(seed), n) = (&raw.seed, raw.repetitions.as_ref().map_or(1, |n| *n.as_ref()))
            && first.saturating_add(u64::from(n.max(1)) - 1) > largest
        {
            let problem =
                format!("seeds are at most {largest}, and `repetitions` counts up from `seed`; take a smaller `seed`");
            return Err(self.error_at(seed.span(), problem));
        }
        match (&raw.seeds, &raw.repetitions) {
            (Some(seeds), Some(_)) => Err(self.error_at(seeds.span(), "give `seeds` or `repetitions`, not both")),
            (Some(seeds), None) if seeds.as_ref().is_empty() => Err(self.error_at(seeds.span(), "`seeds` is empty")),
            (Some(seeds), None) if seeds.as_ref().iter().any(|seed| *seed > largest) => {
                Err(self.error_at(seeds.span(), format!("seeds are at most {largest}")))
            }
            (Some(seeds), None) => self.without_repeats("seeds", seeds.span(), seeds.as_ref().clone()),
            (None, Some(n)) if *n.as_ref() == 0 => Err(self.error_at(n.span(), "`repetitions` is at least 1")),
            (None, n) => Ok((0..u64::from(n.as_ref().map_or(1, |n| *n.as_ref()))).map(|i| first + i).collect()),
        }
    }

    /// Values of which none may be there twice.
    fn without_repeats<T: PartialEq + std::fmt::Display>(
        &self,
        key: &str,
        span: Bytes<usize>,
        values: Vec<T>,
    ) -> Result<Vec<T>, SweepError> {
        let twice = (1..values.len()).find(|&at| values[..at].contains(&values[at]));
        match twice {
            Some(at) => Err(self.error_at(span, format!("`{key}` has {} twice", values[at]))),
            None => Ok(values),
        }
    }

    fn read_level(&self, value: &Value, span: Bytes<usize>) -> Result<DesignLevel, SweepError> {
        match value {
            Value::Integer(value) => Ok(DesignLevel::Int(*value)),
            Value::Float(value) if value.is_finite() => Ok(DesignLevel::Real(*value)),
            Value::String(value) => Ok(DesignLevel::Text(value.clone())),
            Value::Boolean(value) => Ok(DesignLevel::Bool(*value)),
            _ => Err(self.error_at(span, "a value is a number, a text or true or false")),
        }
    }
}
