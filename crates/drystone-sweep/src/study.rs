//! Study files: what is to be simulated, in TOML, with errors that point at the line.

mod raw;

use crate::design::{Level, Range, Sampling};
use crate::error::SweepError;
use drystone::experiment;
use drystone::generate::{Habits, Length, Params};
use drystone::log::clean::{Options, Study as Published};
use drystone::log::transform::Factor;
use drystone::metrics::{Measure, Metric, Selection, UnknownWord};
use drystone::model::{Span as Seconds, TIME_LIMIT};
use drystone::policy::PolicySpec;
use raw::{RawGenerate, RawPolicy, RawRange, RawStudy, RawWorkload};
use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use std::path::{Path, PathBuf};
use toml::{Spanned, Value};

/// A study, read and checked as far as that goes without its logs.
#[derive(Clone, Debug)]
pub struct Study {
    /// The study file, for messages.
    pub file: PathBuf,
    /// Its whole text.
    pub text: String,
    /// What it is called.
    pub name: String,
    /// What is measured.
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
    pub(crate) source: Source,
    pub(crate) published: Option<Published>,
    pub(crate) options: Options,
    pub(crate) trim: Selection,
    pub(crate) platform: Option<FileEntry>,
    pub(crate) priorities: Option<FileEntry>,
    pub(crate) outages: Option<FileEntry>,
    pub(crate) circumstances: Option<FileEntry>,
    pub(crate) warm_start: Option<Seconds>,
    pub(crate) feedback: bool,
    pub(crate) loads: Vec<Option<Factor>>,
    pub(crate) months: Vec<Option<String>>,
    pub(crate) months_at: Bytes<usize>,
    /// Where its `file` stands.
    pub(crate) file_at: Bytes<usize>,
}

/// A file that a study names, and where it does.
pub(crate) type FileEntry = Spanned<PathBuf>;

/// Where a workload comes from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Log(PathBuf),
    Generated(Box<Params>),
}

/// Policies of a study: a text with places for parameters, and the points to put there.
#[derive(Clone, Debug)]
pub(crate) struct PolicyEntry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<String>,
    /// The values of the parameters, and the policy they make.
    pub(crate) points: Vec<(Vec<Level>, PolicySpec)>,
    /// Where its `policy` stands.
    pub(crate) at: Bytes<usize>,
}

/// Says where in a file something is wrong.
struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
}

/// No more points than this: beyond it a study file is a mistake.
const MOST: usize = 1_000_000;

/// Names of columns of the store, which parameters cannot have.
pub(crate) const RESERVED: [&str; 20] = [
    // Columns of a ranking.
    "rank",
    "degradation",
    "clairvoyant",
    "configuration",
    "simulation",
    "study",
    "workload",
    "workload_hash",
    "cleaning",
    "load",
    "month",
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

impl Reader<'_> {
    fn error(&self, span: Bytes<usize>, problem: impl Into<String>) -> SweepError {
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

impl Study {
    /// Reads a study file.
    ///
    /// # Errors
    /// It cannot be read, is no TOML, or says something impossible; the error points at the line.
    pub fn read(file: &Path) -> Result<Study, SweepError> {
        let name = || file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|source| SweepError::Unreadable { file: name(), source })?;
        Study::parse(file, text)
    }

    /// Reads a study from its text; `file` is where it is or was, and paths in it are relative to its directory.
    ///
    /// # Errors
    /// As for [`Study::read`].
    pub fn parse(file: &Path, text: String) -> Result<Study, SweepError> {
        let read = Reader { file, text: &text };
        let raw: RawStudy = toml::from_str(&text)
            .map_err(|e| read.error(e.span().unwrap_or(0..0), e.message().trim().replace('\n', "; ")))?;
        let whole = 0..0;
        let metrics = match &raw.metrics {
            None => vec![Metric::Mean(Measure::Wait), Metric::Mean(Measure::BoundedSlowdown)],
            Some(names) => read.metrics(names)?,
        };
        let trim = raw.trim.as_ref().map(|t| read.selection(t)).transpose()?;
        let seeds = read.seeds(&raw)?;
        let mut workloads = Vec::new();
        for workload in &raw.workload {
            let entry = read.workload(workload, &raw, trim)?;
            if workloads.iter().any(|w: &WorkloadEntry| w.name == entry.name) {
                let problem = format!("there is another workload named `{}`; give one a `name`", entry.name);
                return Err(read.error(workload.span(), problem));
            }
            workloads.push(entry);
        }
        if workloads.is_empty() {
            return Err(read.error(whole, "there is no [[workload]]: write one with a `file` or `generate`"));
        }
        let mut policies: Vec<PolicyEntry> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for policy in &raw.policy {
            let entry = read.policy(policy, raw.seed.as_ref().map_or(1, |seed| *seed.as_ref()))?;
            for name in &entry.parameters {
                // The store's columns have no case.
                if let Some(other) = names.iter().find(|n| *n != name && n.eq_ignore_ascii_case(name)) {
                    let problem = format!("the parameters `{other}` and `{name}` differ in case only; rename one");
                    return Err(read.error(policy.span(), problem));
                }
                names.push(name.clone());
            }
            policies.push(entry);
        }
        if policies.is_empty() {
            return Err(read.error(whole, "there is no [[policy]]: write one with `policy = \"easy\"`"));
        }
        let stem = || file.file_stem().map_or("study".to_string(), |s| s.to_string_lossy().into_owned());
        let name = raw.name.unwrap_or_else(stem);
        Ok(Study { file: file.to_path_buf(), name, metrics, store: raw.store, workloads, policies, seeds, text })
    }

    /// Where its results go: what it says, else its own name with `.db`, beside it.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        match &self.store {
            Some(store) => self.directory().join(store),
            None => self.file.with_extension("db"),
        }
    }

    /// The directory that paths in it are relative to.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new(""))
    }

    /// Every parameter of every policy, in the order in which they first stand in the file.
    #[must_use]
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.policies.iter().flat_map(|p| &p.parameters) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// The first policy with a time limit, if there is one: its results depend on the speed of the machine.
    ///
    /// Cost: makes the scheduler of every point.
    #[must_use]
    pub fn timed(&self) -> Option<&PolicySpec> {
        let mut specs = self.policies.iter().flat_map(|entry| &entry.points).map(|(_, spec)| spec);
        specs.find(|spec| spec.scheduler().policy.time_limit().is_some())
    }

    pub(crate) fn error(&self, span: Bytes<usize>, problem: impl Into<String>) -> SweepError {
        Reader { file: &self.file, text: &self.text }.error(span, problem)
    }
}

impl Reader<'_> {
    fn metrics(&self, names: &[Spanned<String>]) -> Result<Vec<Metric>, SweepError> {
        let mut metrics = Vec::new();
        for name in names {
            let metric: Metric = name.as_ref().parse().map_err(|e: UnknownWord| {
                self.error(name.span(), format!("there is no metric `{}`; expected {}", e.word, e.expected))
            })?;
            if metrics.contains(&metric) {
                return Err(self.error(name.span(), format!("`{metric}` is there twice")));
            }
            metrics.push(metric);
        }
        if metrics.is_empty() {
            return Err(self.error(0..0, "`metrics` is empty; without it wait_mean and bounded_slowdown_mean count"));
        }
        Ok(metrics)
    }

    fn selection(&self, text: &Spanned<String>) -> Result<Selection, SweepError> {
        text.as_ref().parse().map_err(|e: UnknownWord| {
            self.error(text.span(), format!("`{}` is no rule of trimming; expected {}", text.as_ref(), e.expected))
        })
    }

    fn seeds(&self, raw: &RawStudy) -> Result<Vec<u64>, SweepError> {
        let first = raw.seed.as_ref().map_or(1, |seed| *seed.as_ref());
        // The store's whole numbers have a sign.
        let largest = i64::MAX as u64;
        if let (Some(seed), n) = (&raw.seed, raw.repetitions.as_ref().map_or(1, |n| *n.as_ref()))
            && first.saturating_add(u64::from(n.max(1)) - 1) > largest
        {
            let problem =
                format!("seeds are at most {largest}, and `repetitions` goes on from `seed`; take a smaller `seed`");
            return Err(self.error(seed.span(), problem));
        }
        match (&raw.seeds, &raw.repetitions) {
            (Some(seeds), Some(_)) => Err(self.error(seeds.span(), "give `seeds` or `repetitions`, not both")),
            (Some(seeds), None) if seeds.as_ref().is_empty() => Err(self.error(seeds.span(), "`seeds` is empty")),
            (Some(seeds), None) if seeds.as_ref().iter().any(|seed| *seed > largest) => {
                Err(self.error(seeds.span(), format!("seeds are at most {largest}")))
            }
            (Some(seeds), None) => self.once("seeds", seeds.span(), seeds.as_ref().clone()),
            (None, Some(n)) if *n.as_ref() == 0 => Err(self.error(n.span(), "`repetitions` is at least 1")),
            (None, n) => Ok((0..u64::from(n.as_ref().map_or(1, |n| *n.as_ref()))).map(|i| first + i).collect()),
        }
    }

    fn workload(
        &self,
        raw: &Spanned<RawWorkload>,
        study: &RawStudy,
        trim: Option<Selection>,
    ) -> Result<WorkloadEntry, SweepError> {
        let (span, raw) = (raw.span(), raw.as_ref());
        let source = match (&raw.file, &raw.generate) {
            (Some(file), None) => Source::Log(file.as_ref().clone()),
            (None, Some(generate)) => Source::Generated(Box::new(self.generated(generate)?)),
            _ => return Err(self.error(span, "a workload needs either `file` or `generate`")),
        };
        let published: Option<Published> = match &raw.published {
            None => None,
            Some(text) => Some(
                text.as_ref()
                    .parse()
                    .map_err(|e: drystone::log::clean::OptionError| self.error(text.span(), e.to_string()))?,
            ),
        };
        let trim = match (&raw.trim, trim, published) {
            (Some(text), _, _) => self.selection(text)?,
            (None, Some(trim), _) => trim,
            (None, None, published) => experiment::selection(published),
        };
        let name = match (&raw.name, &source) {
            (Some(name), _) => name.clone(),
            (None, Source::Log(file)) => drystone::log::title(file),
            (None, Source::Generated(_)) => "generated".to_string(),
        };
        let warm_start = self.warm_start(raw)?;
        let from_log = raw.circumstances.is_some() || raw.feedback || warm_start.is_some();
        if from_log && matches!(source, Source::Generated(_)) {
            let problem = "`circumstances`, `warm-start` and `feedback` need a log: give `file` instead of `generate`";
            return Err(self.error(span, problem));
        }
        let mut options = self.cleaning(published.map(Published::options).unwrap_or_default(), &raw.clean)?;
        options.records |= raw.feedback || warm_start.is_some();
        Ok(WorkloadEntry {
            name,
            source,
            published,
            options,
            trim,
            platform: raw.platform.clone().or_else(|| study.platform.clone()),
            priorities: raw.priorities.clone().or_else(|| study.priorities.clone()),
            outages: raw.outages.clone(),
            circumstances: raw.circumstances.clone(),
            warm_start,
            feedback: raw.feedback,
            loads: self.loads(raw.load.as_ref())?,
            months: self.months(raw.month.as_ref())?,
            months_at: raw.month.as_ref().map_or(span.clone(), Spanned::span),
            file_at: raw.file.as_ref().map_or(span, Spanned::span),
        })
    }

    /// How long after the first submit the workload begins, with the jobs that are here then.
    fn warm_start(&self, raw: &RawWorkload) -> Result<Option<Seconds>, SweepError> {
        let Some(seconds) = &raw.warm_start else { return Ok(None) };
        if let Some(at) = raw.load.as_ref().map(Spanned::span).or_else(|| raw.month.as_ref().map(Spanned::span)) {
            let problem = "`load` and `month` do not go with `warm-start`: what ran and waited is recorded at the load of the log";
            return Err(self.error(at, problem));
        }
        match *seconds.as_ref() {
            after @ 0..=TIME_LIMIT => Ok(Some(Seconds(after))),
            _ => {
                Err(self.error(seconds.span(), "`warm-start` is a number of seconds after the first submit, 0 or more"))
            }
        }
    }

    fn generated(&self, raw: &Spanned<RawGenerate>) -> Result<Params, SweepError> {
        let (span, raw) = (raw.span(), raw.as_ref());
        let length = match (raw.jobs, raw.days) {
            (Some(jobs), None) => Length::Jobs(jobs),
            (None, Some(days)) => Length::Span(Seconds(i64::from(days) * Seconds::DAY.0)),
            _ => return Err(self.error(span, "`generate` needs either `jobs` or `days`")),
        };
        let plain = Params::new(raw.procs, 1);
        let params = Params {
            length,
            load: raw.load,
            model: raw.model.unwrap_or_default(),
            max_estimate: raw.max_estimate.map_or(plain.max_estimate, Seconds),
            habits: Habits { users: raw.users, ..Habits::default() },
            ..plain
        };
        params.check().map_err(|e| self.error(span, e.to_string()))?;
        Ok(params)
    }

    /// The options of a study with changes, each checked where it stands.
    fn cleaning(
        &self,
        base: Options,
        changes: &BTreeMap<Spanned<String>, Spanned<Value>>,
    ) -> Result<Options, SweepError> {
        let mut options = base;
        for (key, value) in changes {
            let name = key.as_ref().as_str();
            if ELSEWHERE.contains(&name) {
                let instead = if name == "load" { "`load`, one level up" } else { "`as`, one level up" };
                return Err(self.error(key.span(), format!("`{name}` cannot stand here; see {instead}")));
            }
            let fail = |e: String| self.error(value.span(), format!("clean.{name}: {e}"));
            let mut all = Value::try_from(&options).map_err(|e| fail(e.to_string()))?;
            // Missing estimates may be numbers of seconds; the library reads them as text.
            let mut new = value.as_ref().clone();
            if let ("missing-estimate", Value::Integer(seconds)) = (name, &new) {
                new = Value::String(seconds.to_string());
            }
            all.as_table_mut().map(|table| table.insert(name.to_string(), new));
            options = all.try_into().map_err(|e: toml::de::Error| match e.message().trim() {
                told if told.starts_with("unknown field") => self.error(key.span(), without_elsewhere(told)),
                told => fail(told.to_string()),
            })?;
            if options.take == Some(0) {
                return Err(fail("expected a number of jobs from 1".to_string()));
            }
        }
        Ok(options)
    }

    fn loads(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<Factor>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let one = |value: &Value| match value {
            Value::Integer(_) | Value::Float(_) | Value::String(_) => {
                let text = self.level(value, raw.span())?.to_string();
                text.parse()
                    .map(Some)
                    .map_err(|e: drystone::log::clean::OptionError| self.error(raw.span(), e.to_string()))
            }
            _ => Err(self.error(raw.span(), "`load` is a factor such as 1.1, or a list of factors")),
        };
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(self.error(raw.span(), "`load` is empty")),
            Value::Array(values) => {
                let loads: Vec<Option<Factor>> = values.iter().map(one).collect::<Result<_, _>>()?;
                self.once("load", raw.span(), loads.iter().flatten().map(|load| load.as_f64()).collect())?;
                Ok(loads)
            }
            value => Ok(vec![one(value)?]),
        }
    }

    fn months(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<String>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let wrong = || self.error(raw.span(), "`month` is a month such as \"1997-03\", or a list of months");
        let one = |value: &Value| value.as_str().map(|s| Some(s.to_string())).ok_or_else(wrong);
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(wrong()),
            Value::Array(values) => {
                let months: Vec<Option<String>> = values.iter().map(one).collect::<Result<_, _>>()?;
                self.once("month", raw.span(), months.iter().flatten().collect())?;
                Ok(months)
            }
            value => Ok(vec![one(value)?]),
        }
    }

    /// Values of which none may be there twice.
    fn once<T: PartialEq + std::fmt::Display>(
        &self,
        key: &str,
        span: Bytes<usize>,
        values: Vec<T>,
    ) -> Result<Vec<T>, SweepError> {
        let twice = (1..values.len()).find(|&at| values[..at].contains(&values[at]));
        match twice {
            Some(at) => Err(self.error(span, format!("`{key}` has {} twice", values[at]))),
            None => Ok(values),
        }
    }

    fn policy(&self, raw: &Spanned<RawPolicy>, seed: u64) -> Result<PolicyEntry, SweepError> {
        let (span, raw) = (raw.span(), raw.as_ref());
        let template = raw.policy.as_ref();
        let (parameters, points) = match &raw.points {
            Some(points) => self.listed(raw, points)?,
            None => self.designed(raw, span.clone(), seed)?,
        };
        let wanted = self.places(&raw.policy)?;
        if let Some(missing) = wanted.iter().find(|w| !parameters.contains(w)) {
            let problem = format!("`{{{missing}}}` has no values: give it some below [policy.parameters]");
            return Err(self.error(raw.policy.span(), problem));
        }
        if let Some(unused) = parameters.iter().find(|p| !wanted.contains(p)) {
            let problem = format!("the parameter `{unused}` does not stand in the policy: write `{{{unused}}}` there");
            return Err(self.error(raw.policy.span(), problem));
        }
        let mut made = Vec::with_capacity(points.len());
        for point in points {
            let mut text = template.clone();
            for (name, level) in parameters.iter().zip(&point) {
                text = text.replace(&format!("{{{name}}}"), &level.to_string());
            }
            let spec: PolicySpec =
                text.parse().map_err(|e: drystone::policy::SpecError| self.error(raw.policy.span(), e.to_string()))?;
            made.push((point, spec));
        }
        let head = || template.split(['(', '@']).next().unwrap_or(template).trim().to_string();
        let name = raw.name.clone().unwrap_or_else(head);
        Ok(PolicyEntry { name, parameters, points: made, at: raw.policy.span() })
    }

    /// The names in braces in the text of a policy.
    fn places(&self, text: &Spanned<String>) -> Result<Vec<String>, SweepError> {
        let mut names = Vec::new();
        let mut rest = text.as_ref().as_str();
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}') else {
                return Err(self.error(text.span(), "`{` without `}`: write {name} where a parameter goes"));
            };
            let name = rest[open + 1..open + close].to_string();
            if !names.contains(&name) {
                names.push(name);
            }
            rest = &rest[open + close + 1..];
        }
        Ok(names)
    }

    fn name(&self, key: &Spanned<String>) -> Result<String, SweepError> {
        let name = key.as_ref();
        let fine = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        if !fine {
            let problem = format!("`{name}` cannot name a parameter; use letters, digits and _, a letter first");
            return Err(self.error(key.span(), problem));
        }
        if RESERVED.contains(&name.to_lowercase().as_str()) || name.parse::<Metric>().is_ok() {
            return Err(
                self.error(key.span(), format!("`{name}` is a column of the store or of a ranking; take another name"))
            );
        }
        Ok(name.clone())
    }

    /// The points of a list.
    fn listed(
        &self,
        raw: &RawPolicy,
        points: &[BTreeMap<Spanned<String>, Spanned<Value>>],
    ) -> Result<(Vec<String>, Vec<Vec<Level>>), SweepError> {
        let at = raw.policy.span();
        if !raw.parameters.is_empty() || raw.samples.is_some() {
            return Err(self.error(at, "a policy has `points` or `parameters`, not both"));
        }
        if let Some(design) = raw.design.as_ref().filter(|d| d.as_ref() != "list") {
            return Err(self.error(design.span(), "with `points` the design is \"list\""));
        }
        let Some(first) = points.first() else { return Err(self.error(at, "`points` is empty")) };
        let keys = in_order(first);
        let names = keys.iter().map(|(key, _)| self.name(key)).collect::<Result<Vec<_>, _>>()?;
        let mut made = Vec::new();
        for (number, point) in (1..).zip(points) {
            if let Some((key, _)) = point.iter().find(|(key, _)| !names.contains(key.as_ref())) {
                let problem = format!("every point has the parameters of the first: {}", names.join(", "));
                return Err(self.error(key.span(), problem));
            }
            let value = |name: &String| {
                let found = point.iter().find(|(key, _)| key.as_ref() == name);
                let found = found.ok_or_else(|| self.error(at.clone(), format!("point {number} lacks `{name}`")))?;
                self.level(found.1.as_ref(), found.1.span())
            };
            made.push(names.iter().map(value).collect::<Result<Vec<_>, _>>()?);
        }
        Ok((names, made))
    }

    /// The points of a grid or a sample.
    fn designed(
        &self,
        raw: &RawPolicy,
        span: Bytes<usize>,
        seed: u64,
    ) -> Result<(Vec<String>, Vec<Vec<Level>>), SweepError> {
        let (mut names, mut ranges) = (Vec::new(), Vec::new());
        for (key, value) in in_order(&raw.parameters) {
            names.push(self.name(key)?);
            ranges.push((self.range(value)?, value.span()));
        }
        let design = raw.design.as_ref().map_or("grid", |d| d.as_ref().as_str());
        let at = raw.design.as_ref().map_or(span, Spanned::span);
        let samples = || match &raw.samples {
            Some(samples) if (1..=MOST).contains(samples.as_ref()) => Ok(*samples.as_ref()),
            Some(samples) => Err(self.error(samples.span(), format!("`samples` is a number from 1 to {MOST}"))),
            None => Err(self.error(at.clone(), format!("the design \"{design}\" needs `samples`"))),
        };
        let sampling = match design {
            "grid" => Sampling::Grid,
            "random" => Sampling::Random(samples()?),
            "latin-hypercube" => Sampling::LatinHypercube(samples()?),
            "list" => return Err(self.error(at, "the design \"list\" needs `points = [{ … }, … ]`")),
            _ => {
                let problem = format!("`{design}` is no design; expected grid, list, random or latin-hypercube");
                return Err(self.error(at, problem));
            }
        };
        if sampling == Sampling::Grid {
            if let Some(samples) = &raw.samples {
                return Err(self.error(samples.span(), "a grid has no `samples`; set `design`"));
            }
            let mut size = 1usize;
            for (range, span) in &ranges {
                match range {
                    Range::Between { .. } | Range::Whole { .. } => {
                        return Err(self.error(span.clone(), "a grid needs a `step` and takes no `log`"));
                    }
                    Range::Levels(levels) => size = size.saturating_mul(levels.len()),
                }
            }
            if size > MOST {
                return Err(self.error(at, format!("the grid has more than {MOST} points; take a sample")));
            }
        }
        let ranges: Vec<Range> = ranges.into_iter().map(|r| r.0).collect();
        Ok((names, crate::design::points(&ranges, sampling, raw.seed.unwrap_or(seed))))
    }

    fn range(&self, value: &Spanned<Value>) -> Result<Range, SweepError> {
        let span = value.span();
        match value.as_ref() {
            Value::Array(values) if values.is_empty() => Err(self.error(span, "a parameter needs at least one value")),
            Value::Array(values) => {
                let levels = values.iter().map(|v| self.level(v, span.clone())).collect::<Result<Vec<_>, _>>()?;
                // As they will stand in policies: 0.5 and "0.5" are the same.
                let texts: Vec<String> = levels.iter().map(ToString::to_string).collect();
                if let Some(at) = (1..texts.len()).find(|&i| texts[..i].contains(&texts[i])) {
                    return Err(self.error(span, format!("`{}` is there twice", texts[at])));
                }
                Ok(Range::Levels(levels))
            }
            Value::Table(_) => {
                let raw: RawRange = value.as_ref().clone().try_into().map_err(|e: toml::de::Error| {
                    let problem = e.message().trim().to_string();
                    self.error(span.clone(), format!("{problem}; a range is {{ from = 1, to = 30, step = 1 }}"))
                })?;
                self.between(&raw, span)
            }
            single => Ok(Range::Levels(vec![self.level(single, span)?])),
        }
    }

    fn between(&self, raw: &RawRange, span: Bytes<usize>) -> Result<Range, SweepError> {
        let number = |value: &Value| value.as_float().or(value.as_integer().map(|i| i as f64));
        let (Some(from), Some(to)) = (number(&raw.from), number(&raw.to)) else {
            return Err(self.error(span, "`from` and `to` are numbers"));
        };
        if !(from <= to && from.is_finite() && to.is_finite()) {
            return Err(self.error(span, "`from` is at most `to`"));
        }
        if raw.log && (from <= 0.0 || raw.step.is_some()) {
            return Err(self.error(span, "`log` needs numbers above 0 and no `step`"));
        }
        let whole = (raw.from.as_integer(), raw.to.as_integer());
        let step = match &raw.step {
            None => None,
            Some(step) => Some(
                number(step)
                    .filter(|s| *s > 0.0 && s.is_finite())
                    .ok_or_else(|| self.error(span.clone(), "`step` is a number above 0"))?,
            ),
        };
        if step.unwrap_or(1.0) > 0.0 && (to - from) / step.unwrap_or(1.0) >= MOST as f64 {
            return Err(self.error(span, format!("the range has more than {MOST} values")));
        }
        match (whole, &raw.step, step) {
            ((Some(from), Some(to)), None, _) if !raw.log => Ok(Range::Levels((from..=to).map(Level::Int).collect())),
            ((Some(from), Some(to)), Some(Value::Integer(step)), _) => {
                let step = usize::try_from(*step).unwrap_or(1);
                Ok(Range::Levels((from..=to).step_by(step).map(Level::Int).collect()))
            }
            (_, Some(_), Some(step)) => {
                // Counted, not added up, and cleaned of binary fractions: 0.1, 0.2, 0.3.
                let count = ((to - from) / step + 1e-9).floor() as usize;
                let value = |i: usize| format!("{:.9}", from + step * i as f64).parse().unwrap_or(from);
                Ok(Range::Levels((0..=count).map(|i| Level::Real(value(i))).collect()))
            }
            // Parameters that take whole numbers take no others.
            ((Some(from), Some(to)), ..) => Ok(Range::Whole { from, to }),
            _ => Ok(Range::Between { from, to, log: raw.log }),
        }
    }

    fn level(&self, value: &Value, span: Bytes<usize>) -> Result<Level, SweepError> {
        match value {
            Value::Integer(value) => Ok(Level::Int(*value)),
            Value::Float(value) if value.is_finite() => Ok(Level::Real(*value)),
            Value::String(value) => Ok(Level::Text(value.clone())),
            Value::Boolean(value) => Ok(Level::Bool(*value)),
            _ => Err(self.error(span, "a value is a number, a text or true or false")),
        }
    }
}

/// The entries in the order in which they stand in the file.
fn in_order(table: &BTreeMap<Spanned<String>, Spanned<Value>>) -> Vec<(&Spanned<String>, &Spanned<Value>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// Fields of the library's options that a study sets one level up.
const ELSEWHERE: [&str; 4] = ["study", "load", "list", "records"];

/// A list of fields that are expected, without those that would be refused.
fn without_elsewhere(told: &str) -> String {
    ELSEWHERE.iter().fold(told.to_string(), |told, name| {
        told.replace(&format!("`{name}`, "), "").replace(&format!(", `{name}`"), "")
    })
}
