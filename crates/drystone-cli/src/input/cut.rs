//! Parts of a workload: a month, a slice, each month by itself.

use super::{WorkloadInput, parse_time_range, recorded};
use crate::args::{CutArgs, LogArgs, RealArgs};
use crate::exit::CommandFailure;
use drystone::log::swf::SwfRecord;
use drystone::log::transform::{self, WindowRule};
use drystone::metrics::JobSelection;
use drystone::model::{Setting, Span, Workload};
use std::ops::Range;

impl WorkloadInput {
    /// Keeps only the jobs that `--month` and `--slice` ask for.
    pub(crate) fn cut_jobs(self, args: &CutArgs, real: &RealArgs) -> Result<WorkloadInput, CommandFailure> {
        let mut input = self;
        if let Some(after) = real.warm_start {
            let places = input.window_places(args)?;
            return recorded::warm_window(input, after, places, args);
        }
        if let Some(month) = &args.month {
            let places = input.month_places(month)?;
            input = match args.around {
                None => input.cut_piece(places, "month", month)?,
                Some(around) => input.surrounded_month(places, around, month)?,
            };
        }
        if let Some(text) = &args.slice {
            let (from, until) = parse_time_range("--slice", text)?;
            let places = transform::find_submitted(&input.workload, from, until);
            input = input.cut_piece(places, "slice", text)?;
        }
        match &args.windows {
            Some(rule) => input.in_windows(rule),
            None => Ok(input),
        }
    }

    /// Keeps the jobs of windows, which follow each other.
    fn in_windows(self, rule: &WindowRule) -> Result<WorkloadInput, CommandFailure> {
        let wrong = |problem: &dyn std::fmt::Display| CommandFailure::usage_error(format_args!("--windows: {problem}"));
        if self.pool_division().is_some() {
            return Err(wrong(&"windows are of one machine, and the site has several pools; SITE#POOL names one"));
        }
        if rule.has_margins() {
            return Err(wrong(
                &"jobs of warm-up and cool-down would be in two windows; a study file of `sweep` takes them",
            ));
        }
        let mut windows = rule.find_windows(&self.workload).map_err(|problem| wrong(&problem))?;
        windows.sort_by_key(|window| window.counted.start);
        if windows.windows(2).any(|pair| pair[0].counted.end > pair[1].counted.start) {
            return Err(wrong(&"these windows have jobs in common; a study file of `sweep` takes them"));
        }
        let ranges: Vec<Range<usize>> = windows.into_iter().map(|window| window.counted).collect();
        let setting = Setting { name: "windows".to_string(), value: rule.to_string() };
        let workload = transform::cut_pieces(&self.workload, &ranges, setting).map_err(CommandFailure::usage_error)?;
        let of =
            |records: Vec<SwfRecord>| ranges.iter().flat_map(|range| records[range.clone()].iter().cloned()).collect();
        let records = self.records.map(of);
        Ok(WorkloadInput { workload, records, windows: ranges.iter().map(Range::len).collect(), ..self })
    }

    /// A month with the jobs submitted so long before its first and after its last, which do not
    /// count.
    fn surrounded_month(self, month: Range<usize>, around: Span, name: &str) -> Result<WorkloadInput, CommandFailure> {
        let jobs = self.workload.jobs();
        let (first, last) = (jobs[month.start].submit, jobs[month.end - 1].submit);
        let from = jobs.partition_point(|job| job.submit < first - around);
        let until = jobs.partition_point(|job| job.submit <= last + around);
        let counted_places = month.start - from..month.end - from;
        let text = format!("{name} within {}s", around.0);
        let input = self.cut_piece(from..until, "month", &text)?;
        Ok(WorkloadInput { counted: Some(counted_places), ..input })
    }

    /// Returns the selection of the jobs that count, where others are simulated around them. It
    /// follows the times of the jobs as they are now.
    pub(super) fn counted_submits(&self) -> Option<JobSelection> {
        let counted_jobs = self.workload.jobs().get(self.counted.clone()?)?;
        let (first, last) = (counted_jobs.first()?.submit, counted_jobs.last()?.submit);
        Some(JobSelection::Submitted { from: first, until: last + Span(1) })
    }

    /// Scales the load to the one that is asked for, if any: that of the jobs that count.
    pub(super) fn scale_to_target(mut self, log: &LogArgs) -> Result<WorkloadInput, CommandFailure> {
        let now = match &self.counted {
            None => self.workload.offered_load(),
            Some(range) => {
                let setting = Setting { name: "part".to_string(), value: "counted".to_string() };
                transform::cut_piece(&self.workload, range.clone(), setting)
                    .map_err(CommandFailure::usage_error)?
                    .offered_load()
            }
        };
        self.workload = log.scale_to_target(self.workload, now)?;
        Ok(self)
    }

    pub(super) fn month_places(&self, month: &str) -> Result<Range<usize>, CommandFailure> {
        let months = transform::calendar_months(&self.workload)?;
        if let Some((_, places)) = months.iter().find(|(name, _)| name == month) {
            return Ok(places.clone());
        }
        let name = |m: Option<&(String, Range<usize>)>| m.map_or("?".to_string(), |m| m.0.clone());
        Err(CommandFailure::usage_error(format_args!(
            "no job was submitted in {month}; the log's months are {} to {}",
            name(months.first()),
            name(months.last())
        )))
    }

    /// The places of the jobs that `--month` and `--slice` ask for.
    fn window_places(&self, args: &CutArgs) -> Result<Range<usize>, CommandFailure> {
        let mut places = 0..self.workload.len();
        if let Some(month) = &args.month {
            places = self.month_places(month)?;
        }
        if let Some(text) = &args.slice {
            let (from, until) = parse_time_range("--slice", text)?;
            let slice = transform::find_submitted(&self.workload, from, until);
            places = places.start.max(slice.start)..places.end.min(slice.end);
        }
        if places.is_empty() {
            return Err(CommandFailure::usage_error("no job was submitted in that month and slice"));
        }
        Ok(places)
    }

    /// A part of the jobs, as a workload of its own.
    pub(crate) fn cut_piece(
        self,
        places: Range<usize>,
        name: &str,
        value: &str,
    ) -> Result<WorkloadInput, CommandFailure> {
        if places.is_empty() {
            return Err(CommandFailure::usage_error(format_args!("no job was submitted in the {name} {value}")));
        }
        let setting = Setting { name: name.to_string(), value: value.to_string() };
        let workload =
            transform::cut_piece(&self.workload, places.clone(), setting).map_err(CommandFailure::usage_error)?;
        let records = self.records.map(|records| records[places].to_vec());
        Ok(WorkloadInput { workload, records, ..self })
    }
}

/// Parts that are simulated from an empty machine: the whole workload, or each month or window of
/// it.
pub(crate) enum WorkloadParts<'a> {
    Whole(&'a Workload),
    Apart(Vec<Workload>),
}

impl WorkloadParts<'_> {
    pub(crate) fn from_input(input: &WorkloadInput, each_month: bool) -> Result<WorkloadParts<'_>, CommandFailure> {
        if each_month && input.pool_division().is_some() {
            return Err(CommandFailure::usage_error(
                "--each-month is about one machine, and the site has several pools; SITE#POOL names one",
            ));
        }
        WorkloadParts::of_jobs(&input.workload, each_month, &input.windows)
    }

    /// The parts of jobs of one machine; `windows` are the numbers of jobs of windows, which follow
    /// each other.
    pub(crate) fn of_jobs<'a>(
        workload: &'a Workload,
        each_month: bool,
        windows: &[usize],
    ) -> Result<WorkloadParts<'a>, CommandFailure> {
        if !windows.is_empty() {
            let mut end = 0;
            let part = |(number, &jobs): (usize, &usize)| {
                end += jobs;
                let setting = Setting { name: "window".to_string(), value: (number + 1).to_string() };
                transform::cut_piece(workload, end - jobs..end, setting).map_err(CommandFailure::usage_error)
            };
            return Ok(WorkloadParts::Apart(windows.iter().enumerate().map(part).collect::<Result<_, _>>()?));
        }
        if !each_month {
            return Ok(WorkloadParts::Whole(workload));
        }
        let months = transform::calendar_months(workload)?.into_iter().map(|(name, places)| {
            let setting = Setting { name: "month".to_string(), value: name };
            transform::cut_piece(workload, places, setting).map_err(CommandFailure::usage_error)
        });
        Ok(WorkloadParts::Apart(months.collect::<Result<_, _>>()?))
    }

    pub(crate) fn as_slice(&self) -> &[Workload] {
        match self {
            WorkloadParts::Whole(workload) => std::slice::from_ref(*workload),
            WorkloadParts::Apart(parts) => parts,
        }
    }
}
