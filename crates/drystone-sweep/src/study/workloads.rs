//! Workloads of a study file: logs or generators, how they are cleaned, and what is done with them.

use super::raw::{RawGenerate, RawStudy, RawWorkload};
use super::{FileEntry, StudyReader, SubmitSlice, WorkloadEntry, WorkloadSource};
use crate::design::Range;
use crate::error::SweepError;
use drystone::experiment;
use drystone::generate::{Habits, Params, WorkloadLength};
use drystone::log::clean::{CleaningOptions, CleaningStudy as Published};
use drystone::log::resources::ResourceSpec;
use drystone::log::transform::LoadFactor;
use drystone::metrics::JobSelection;
use drystone::model::{NodeFill, Span as Seconds, TIME_LIMIT, Time};
use drystone_whatif::ChangeList;
use std::collections::BTreeMap;
use toml::{Spanned, Value};

/// Examples for messages.
const FAILURES: &str = "{ mtbf = \"30d\", repair = \"6h\", node = 8, jobs = \"requeue\", shape = 1, seed = 1 }, of which only \
                        `mtbf` must be there";
const CHECKPOINTS: &str = "\"young\", \"daly,cost=5m\" or { interval = \"1h\", cost = \"5m\", restart = \"5m\" }";

impl StudyReader<'_> {
    pub(super) fn read_workload(
        &self,
        raw: &Spanned<RawWorkload>,
        study: &RawStudy,
        trim: Option<JobSelection>,
    ) -> Result<WorkloadEntry, SweepError> {
        let (span, raw) = (raw.span(), raw.as_ref());
        let source = match (&raw.file, &raw.generate) {
            (Some(file), None) => WorkloadSource::Log(file.as_ref().clone()),
            (None, Some(generate)) => WorkloadSource::Generated(Box::new(self.read_generator(generate)?)),
            _ => return Err(self.error_at(span, "a workload needs either `file` or `generate`")),
        };
        let published_schedule: Option<Published> = match &raw.published {
            None => None,
            Some(text) => Some(
                text.as_ref()
                    .parse()
                    .map_err(|e: drystone::log::clean::OptionError| self.error_at(text.span(), e.to_string()))?,
            ),
        };
        let trim = match (&raw.trim, trim, published_schedule) {
            (Some(text), _, _) => self.read_selection(text)?,
            (None, Some(trim), _) => trim,
            (None, None, schedule) => experiment::study_selection(schedule),
        };
        let excess = raw.excess.as_ref().or(study.excess.as_ref()).map(|value| self.read_excess(value)).transpose()?;
        let name = match (&raw.name, &source) {
            (Some(name), _) => name.clone(),
            (None, WorkloadSource::Log(file)) => drystone::log::file_title(file),
            (None, WorkloadSource::Generated(_)) => "generated".to_string(),
        };
        let warm_start = self.warm_start(raw)?;
        let from_log = raw.circumstances.is_some() || raw.feedback || warm_start.is_some();
        if from_log && matches!(source, WorkloadSource::Generated(_)) {
            let problem = "`circumstances`, `warm-start` and `feedback` need a log: give `file` instead of `generate`";
            return Err(self.error_at(span, problem));
        }
        let mut options =
            self.read_cleaning(published_schedule.map(Published::options).unwrap_or_default(), &raw.clean)?;
        if let Some(study) = published_schedule.filter(|_| !raw.clean.keys().any(|key| key.as_ref() == "take")) {
            options.take = study.job_count();
            options.same_month = study == Published::Talby1999 && raw.month.is_some();
        }
        options.records |= raw.feedback || warm_start.is_some();
        let resources = raw.resources.as_ref().or(study.resources.as_ref());
        let on_nodes = self.on_nodes(raw.on_nodes.as_ref().or(study.on_nodes.as_ref()))?;
        let placement = self.read_placement(raw, study, on_nodes.is_some())?;
        Ok(WorkloadEntry {
            name,
            source,
            published: published_schedule,
            options,
            trim,
            excess,
            platform: raw.platform.clone().or_else(|| study.platform.clone()),
            priorities: raw.priorities.clone().or_else(|| study.priorities.clone()),
            outages: raw.outages.clone(),
            supply: raw.supply.clone(),
            resources: self.read_resources(resources)?,
            resources_at: resources.map_or(span.clone(), Spanned::span),
            on_nodes,
            placement,
            circumstances: raw.circumstances.clone(),
            warm_start,
            feedback: raw.feedback,
            loads: self.read_loads(raw.load.as_ref())?,
            months: self.read_months(raw.month.as_ref())?,
            months_at: raw.month.as_ref().map_or(span.clone(), Spanned::span),
            slices: self.read_slices(raw.slice.as_ref())?,
            slices_at: raw.slice.as_ref().map_or(span.clone(), Spanned::span),
            windows: self.read_windows(raw, study)?,
            windows_at: raw.windows.as_ref().or(study.windows.as_ref()).map_or(span.clone(), Spanned::span),
            failures: self.read_each(("failures", FAILURES), raw.failures.as_ref())?,
            failures_at: raw.failures.as_ref().map_or(span.clone(), Spanned::span),
            checkpoints: self.read_each(("checkpoints", CHECKPOINTS), raw.checkpoints.as_ref())?,
            checkpoints_at: raw.checkpoints.as_ref().map_or(span.clone(), Spanned::span),
            shape: self.read_shapes(raw, span.clone())?,
            changes: self.read_changes(raw.change.as_ref())?,
            changes_at: raw.change.as_ref().map_or(span.clone(), Spanned::span),
            file_at: raw.file.as_ref().map_or(span, Spanned::span),
        })
    }

    /// Resources beyond processors, in the words of `--resources`: one text, or a list of texts.
    fn read_resources(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<ResourceSpec>, SweepError> {
        let Some(raw) = raw else { return Ok(Vec::new()) };
        let wrong = |problem: String| self.error_at(raw.span(), problem);
        let expected_form = "`resources` is a text such as \"mem=8GB\", \"mem=4GB/proc,partition:2=64\" or \"demands.csv\", or a \
                        list of such";
        let texts: Vec<&str> = match raw.as_ref() {
            Value::String(text) => vec![text],
            Value::Array(items) => {
                let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
                texts.filter(|texts| !texts.is_empty()).ok_or_else(|| wrong(expected_form.to_string()))?
            }
            _ => return Err(wrong(expected_form.to_string())),
        };
        let parts = texts.iter().flat_map(|text| text.split(','));
        let parse_spec = |part: &str| part.parse().map_err(|problem: String| wrong(format!("`resources`: {problem}")));
        let specs: Vec<ResourceSpec> = parts.map(parse_spec).collect::<Result<_, _>>()?;
        if specs.contains(&ResourceSpec::None) {
            return match specs.len() {
                1 => Ok(Vec::new()),
                _ => Err(wrong("`resources`: none does not go with other resources".to_string())),
            };
        }
        Ok(specs)
    }

    /// The table of nodes, in the words of `--on-nodes`.
    fn on_nodes(&self, raw: Option<&FileEntry>) -> Result<Option<FileEntry>, SweepError> {
        let Some(file) = raw else { return Ok(None) };
        match file.as_ref().to_str().unwrap_or_default() {
            "none" => Ok(None),
            text if text.ends_with(".csv") => Ok(Some(file.clone())),
            "site" => Err(self.error_at(
                file.span(),
                "`on-nodes`: a study takes of a site its jobs and processors; name a table of its nodes: on-nodes = \"FILE.csv\"",
            )),
            text => {
                let problem = format!("`on-nodes`: `{text}` names no nodes; expected a table FILE.csv or none");
                Err(self.error_at(file.span(), problem))
            }
        }
    }

    /// Choice of nodes for jobs, in the words of `--placement`; without nodes it is a mistake.
    fn read_placement(&self, raw: &RawWorkload, study: &RawStudy, has_places: bool) -> Result<NodeFill, SweepError> {
        let Some(word) = raw.placement.as_ref().or(study.placement.as_ref()) else { return Ok(NodeFill::default()) };
        let rule = NodeFill::ALL.iter().copied().find(|rule| rule.name() == word.as_ref()).ok_or_else(|| {
            let names = NodeFill::ALL.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(", ");
            self.error_at(word.span(), format!("`placement`: there is no rule `{}`; expected {names}", word.as_ref()))
        })?;
        match &raw.placement {
            Some(word) if !has_places => {
                Err(self.error_at(word.span(), "`placement` needs nodes to place jobs on: `on-nodes = \"nodes.csv\"`"))
            }
            _ => Ok(rule),
        }
    }

    /// Returns the time between the first submit and the beginning of the workload, which starts
    /// with the jobs present then.
    pub(super) fn warm_start(&self, raw: &RawWorkload) -> Result<Option<Seconds>, SweepError> {
        let Some(seconds) = &raw.warm_start else { return Ok(None) };
        if let Some(field) = [&raw.load, &raw.month, &raw.slice].into_iter().flatten().next() {
            let at = field.span();
            let problem = "`load`, `month` and `slice` do not go with `warm-start`: the running and waiting jobs are \
                recorded at the load of the log";
            return Err(self.error_at(at, problem));
        }
        match *seconds.as_ref() {
            after @ 0..=TIME_LIMIT => Ok(Some(Seconds(after))),
            _ => {
                Err(self
                    .error_at(seconds.span(), "`warm-start` is a number of seconds after the first submit, 0 or more"))
            }
        }
    }

    fn read_generator(&self, raw: &Spanned<RawGenerate>) -> Result<Params, SweepError> {
        let (span, raw) = (raw.span(), raw.as_ref());
        let length = match (raw.jobs, raw.days) {
            (Some(jobs), None) => WorkloadLength::Jobs(jobs),
            (None, Some(days)) => WorkloadLength::Span(Seconds(i64::from(days) * Seconds::DAY.0)),
            _ => return Err(self.error_at(span, "`generate` needs either `jobs` or `days`")),
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
        params.check_params().map_err(|e| self.error_at(span, e.to_string()))?;
        Ok(params)
    }

    /// The options of a study with changes, each checked where it stands.
    pub(super) fn read_cleaning(
        &self,
        base: CleaningOptions,
        changes: &BTreeMap<Spanned<String>, Spanned<Value>>,
    ) -> Result<CleaningOptions, SweepError> {
        let mut options = base;
        for (key, value) in changes {
            let name = key.as_ref().as_str();
            if ELSEWHERE.contains(&name) {
                let instead = if name == "load" { "`load`, one level up" } else { "`as`, one level up" };
                return Err(self.error_at(key.span(), format!("`{name}` cannot stand here; see {instead}")));
            }
            let fail = |e: String| self.error_at(value.span(), format!("clean.{name}: {e}"));
            let mut option_table = Value::try_from(&options).map_err(|e| fail(e.to_string()))?;
            // Missing estimates may be numbers of seconds; the library reads them as text.
            let mut new = value.as_ref().clone();
            if let ("missing-estimate", Value::Integer(seconds)) = (name, &new) {
                new = Value::String(seconds.to_string());
            }
            option_table.as_table_mut().map(|table| table.insert(name.to_string(), new));
            options = option_table.try_into().map_err(|e: toml::de::Error| match e.message().trim() {
                text if text.starts_with("unknown field") => self.error_at(key.span(), without_elsewhere(text)),
                text => fail(text.to_string()),
            })?;
            if options.take == Some(0) {
                return Err(fail("expected a number of jobs from 1".to_string()));
            }
        }
        Ok(options)
    }

    pub(super) fn read_loads(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<LoadFactor>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let read_load = |value: &Value| match value {
            Value::Integer(_) | Value::Float(_) | Value::String(_) => {
                let text = self.read_level(value, raw.span())?.to_string();
                text.parse()
                    .map(Some)
                    .map_err(|e: drystone::log::clean::OptionError| self.error_at(raw.span(), e.to_string()))
            }
            _ => Err(self.error_at(
                raw.span(),
                "`load` is a factor such as 1.1, a list of factors, or a range { from = 0.8, to = 1.2, step = 0.1 }",
            )),
        };
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(self.error_at(raw.span(), "`load` is empty")),
            Value::Array(values) => {
                let loads: Vec<Option<LoadFactor>> = values.iter().map(read_load).collect::<Result<_, _>>()?;
                self.without_repeats("load", raw.span(), loads.iter().flatten().map(|load| load.as_f64()).collect())?;
                Ok(loads)
            }
            Value::Table(_) => match self.read_range(raw)? {
                Range::Levels(levels) => {
                    levels.iter().map(|level| read_load(&Value::String(level.to_string()))).collect()
                }
                Range::Between { .. } | Range::Whole { .. } => {
                    let problem = "a range of loads needs a `step`: { from = 0.8, to = 1.2, step = 0.1 }";
                    Err(self.error_at(raw.span(), problem))
                }
            },
            value => Ok(vec![read_load(value)?]),
        }
    }

    /// Parts of the log by submit, each on its own.
    pub(super) fn read_slices(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<SubmitSlice>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let wrong = || {
            let problem = "`slice` is FROM..UNTIL in seconds of the log, such as \"0..604800\", or a list of such; either \
                           end may be left out";
            self.error_at(raw.span(), problem)
        };
        let read_slice = |value: &Value| {
            let text = value.as_str().ok_or_else(wrong)?.trim();
            let (from, until) = text.split_once("..").ok_or_else(wrong)?;
            let second = |part: &str| match part.trim() {
                "" => Ok(None),
                part => match part.parse::<i64>() {
                    Ok(at) if at.abs() <= TIME_LIMIT => Ok(Some(Time(at))),
                    _ => Err(wrong()),
                },
            };
            let (from, until) = (second(from)?, second(until)?);
            if from.zip(until).is_some_and(|(from, until)| from >= until) {
                let problem = format!("`slice` {text}: the end is not behind the beginning");
                return Err(self.error_at(raw.span(), problem));
            }
            Ok(Some(SubmitSlice { text: text.to_string(), from, until }))
        };
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(wrong()),
            Value::Array(values) => {
                let slices: Vec<Option<SubmitSlice>> = values.iter().map(read_slice).collect::<Result<_, _>>()?;
                self.without_repeats("slice", raw.span(), slices.iter().flatten().map(|slice| &slice.text).collect())?;
                Ok(slices)
            }
            value => Ok(vec![read_slice(value)?]),
        }
    }

    /// Changes of the machine or the jobs, each on its own; `none` is no change.
    pub(super) fn read_changes(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<ChangeList>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let wrong = || {
            let problem = "`change` is a change such as \"procs +64\" or \"limits x0.5; load 1.1\", or a list of such; \"none\" is the \
                           log as it is";
            self.error_at(raw.span(), problem)
        };
        let read_change = |value: &Value| {
            let text = value.as_str().ok_or_else(wrong)?;
            let list: ChangeList = text
                .parse()
                .map_err(|e: drystone_whatif::SiteChangeError| self.error_at(raw.span(), format!("`change`: {e}")))?;
            Ok((!list.0.is_empty()).then_some(list))
        };
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(wrong()),
            Value::Array(values) => {
                let change_lists: Vec<Option<ChangeList>> = values.iter().map(read_change).collect::<Result<_, _>>()?;
                let texts =
                    change_lists.iter().map(|list| list.as_ref().map_or("none".to_string(), ToString::to_string));
                self.without_repeats("change", raw.span(), texts.collect())?;
                Ok(change_lists)
            }
            value => Ok(vec![read_change(value)?]),
        }
    }

    pub(super) fn read_months(&self, raw: Option<&Spanned<Value>>) -> Result<Vec<Option<String>>, SweepError> {
        let Some(raw) = raw else { return Ok(vec![None]) };
        let wrong = || self.error_at(raw.span(), "`month` is a month such as \"1997-03\", or a list of months");
        let read_month = |value: &Value| value.as_str().map(|s| Some(s.to_string())).ok_or_else(wrong);
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(wrong()),
            Value::Array(values) => {
                let months: Vec<Option<String>> = values.iter().map(read_month).collect::<Result<_, _>>()?;
                self.without_repeats("month", raw.span(), months.iter().flatten().collect())?;
                Ok(months)
            }
            value => Ok(vec![read_month(value)?]),
        }
    }
}

/// Fields of the library's options that a study sets one level up.
const ELSEWHERE: [&str; 4] = ["study", "load", "list", "records"];

/// A list of fields that are expected, without those that would be refused.
fn without_elsewhere(text: &str) -> String {
    ELSEWHERE.iter().fold(text.to_string(), |text, name| {
        text.replace(&format!("`{name}`, "), "").replace(&format!(", `{name}`"), "")
    })
}
