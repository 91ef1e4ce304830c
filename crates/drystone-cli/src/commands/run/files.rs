//! The files that a run writes beside its result.

use super::result::RunResult;
use crate::args::RunArgs;
use crate::exit::CommandFailure;
use crate::input::{self, WorkloadInput};
use crate::output::csv_metadata::{self, CsvWithOrigin};
use crate::output::file::{self, Folder};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::schedules::{self, ScheduleFile, WrittenSchedule};
use crate::output::{Printable, ReportFile, message, plots};
use drystone::engine::{Notes, Segments};
use drystone::metrics::{JobRow, weekly_classes};
use drystone::policy::Priorities;
use std::collections::BTreeMap;
use std::path::Path;

/// Every file that was asked for, opened before the work begins: what cannot be written is said at
/// once.
pub(super) struct RunFiles<'a> {
    schedule: Option<ScheduleFile>,
    report: Option<ReportFile>,
    plots: Option<&'a Path>,
    _folder: Option<Folder>,
    trace: Option<CsvWithOrigin>,
    weeks: Option<CsvWithOrigin>,
    segments: Option<CsvWithOrigin>,
    charges: Option<CsvWithOrigin>,
    /// The option whose file is the standard output.
    pub(super) on_stdout: Option<&'static str>,
}

pub(super) struct FileObservers<'a> {
    pub(super) input: &'a WorkloadInput,
    pub(super) rows: Option<&'a [JobRow]>,
    pub(super) notes: &'a Notes,
    pub(super) segments: Option<&'a Segments>,
    pub(super) priorities: Option<&'a Priorities>,
}

impl<'a> RunFiles<'a> {
    /// Opens them; no two may be the same, and none that is read.
    pub(super) fn open(args: &'a RunArgs) -> Result<RunFiles<'a>, CommandFailure> {
        let common = &args.common;
        let output_files = [
            ("--jobs", args.jobs.as_deref(), args.jobs.as_deref().and_then(schedules::meta_path_beside)),
            ("--trace", args.trace.as_deref(), args.trace.as_deref().and_then(csv_metadata::meta_path_beside)),
            ("--weeks", args.weeks.as_deref(), args.weeks.as_deref().and_then(csv_metadata::meta_path_beside)),
            ("--segments", args.segments.as_deref(), args.segments.as_deref().and_then(csv_metadata::meta_path_beside)),
            ("--charges", args.charges.as_deref(), args.charges.as_deref().and_then(csv_metadata::meta_path_beside)),
            ("--audit", common.log.audit.as_deref(), None),
            ("--report", common.report.as_deref(), None),
        ];
        let files =
            output_files.iter().flat_map(|(option, path, beside)| [(*option, *path), (*option, beside.as_deref())]);
        let output_paths: Vec<(&str, Option<&Path>)> = files.collect();
        file::check_distinct(&input::read_by(common), &output_paths)?;
        Ok(RunFiles {
            schedule: args.jobs.as_deref().map(ScheduleFile::create_file).transpose()?,
            report: common.report.as_deref().map(ReportFile::create_file).transpose()?,
            plots: common.plots.as_deref(),
            _folder: common.plots.as_deref().map(plots::prepare_folder).transpose()?,
            trace: args.trace.as_deref().map(CsvWithOrigin::open).transpose()?,
            weeks: args.weeks.as_deref().map(CsvWithOrigin::open).transpose()?,
            segments: args.segments.as_deref().map(CsvWithOrigin::open).transpose()?,
            charges: args.charges.as_deref().map(CsvWithOrigin::open).transpose()?,
            on_stdout: output_files
                .iter()
                .find(|(_, path, _)| *path == Some(Path::new("-")))
                .map(|(option, ..)| *option),
        })
    }

    pub(super) fn need_records(&self) -> bool {
        self.schedule.as_ref().is_some_and(ScheduleFile::needs_records)
    }

    pub(super) fn need_rows(&self) -> bool {
        self.schedule.is_some() || self.weeks.is_some() || self.charges.is_some()
    }

    pub(super) fn need_segments(&self) -> bool {
        self.segments.is_some()
    }

    pub(super) fn need_details(&self) -> bool {
        self.plots.is_some() || self.report.as_ref().is_some_and(ReportFile::is_page)
    }

    /// Writes all of them. All are complete then, or the command fails and none of them is new.
    pub(super) fn write_all(self, result: &RunResult, observers: &FileObservers<'_>) -> Result<(), CommandFailure> {
        let mut files = Vec::new();
        let inputs_for = |schema| result.result_inputs(schema);
        if let (Some(schedule), Some(rows)) = (self.schedule, observers.rows) {
            let inputs = &inputs_for("drystone/schedule/1");
            let sizes = result.report.sizes.as_ref().map(|sizes| &sizes.jobs);
            files.extend(schedule.write_schedule(&WrittenSchedule {
                rows,
                input: observers.input,
                determined: inputs,
                sizes,
            })?);
        }
        if let (Some(file), Some(rows)) = (self.weeks, observers.rows) {
            files.extend(file.write_both(&weeks_csv(rows)?, &inputs_for("drystone/weeks/1"))?);
        }
        if let (Some(file), Some(rows)) = (self.charges, observers.rows) {
            files.extend(file.write_both(&charges_csv(rows, observers)?, &inputs_for("drystone/charges/1"))?);
        }
        if let Some(file) = self.trace {
            let (policy, notes) = (&result.policy.text, observers.notes);
            if notes.list.is_empty() {
                message::print_warning(&format!("{policy} reported no diagnostics: the file of --trace has no rows"));
            }
            let mut csv = Vec::new();
            notes.write_csv(&mut csv).map_err(CommandFailure::usage_error)?;
            files.extend(file.write_both(&csv, &inputs_for("drystone/trace/1"))?);
        }
        if let (Some(file), Some(segments)) = (self.segments, observers.segments) {
            let mut csv = Vec::new();
            segments.write_csv(&mut csv).map_err(CommandFailure::usage_error)?;
            files.extend(file.write_both(&csv, &inputs_for("drystone/segments/1"))?);
        }
        // Files can be compared byte by byte: no timing unless it was asked for.
        if let Some(file) = self.report {
            files.push(file.write_result(result)?);
        }
        if let Some(directory) = self.plots {
            files.extend(plots::write_plots(directory, &result.plot_results()?)?);
        }
        file::publish_all(files)
    }
}

/// Use and charges of a user.
#[derive(Default)]
struct UserAccount {
    jobs: u64,
    hours: f64,
    charged: f64,
    wait: f64,
}

/// Formats the ledger of the users, by number.
fn charges_csv(jobs: &[JobRow], observers: &FileObservers<'_>) -> Result<Vec<u8>, CommandFailure> {
    let workload = &observers.input.workload;
    let priorities = observers.priorities.cloned().unwrap_or_default().for_part(workload);
    let mut accounts: BTreeMap<i32, UserAccount> = BTreeMap::new();
    for job in jobs {
        let hours = f64::from(job.procs) * job.ran.as_f64() / 3_600.0;
        let importance = priorities.job_importance(job.id, workload.job(job.id)).user;
        let account = accounts.entry(job.user).or_default();
        account.jobs += 1;
        account.hours += hours;
        account.charged += hours * (1.0 + importance);
        account.wait += job.wait().as_f64();
    }
    let mut rows = FlatRows::default();
    for (user, account) in accounts {
        let mut row = FlatRow::default();
        row.add_number("user", Some(f64::from(user)));
        row.add_number("jobs", Some(account.jobs as f64));
        row.add_number("processor_hours", Some(account.hours));
        row.add_number("charged_hours", Some(account.charged));
        row.add_number("wait_mean", Some(account.wait / account.jobs as f64));
        rows.push(row);
    }
    rows.render_csv()
}

/// Formats the results of each class of run times week by week.
fn weeks_csv(jobs: &[JobRow]) -> Result<Vec<u8>, CommandFailure> {
    let mut rows = FlatRows::default();
    for week in weekly_classes(jobs) {
        let mut row = FlatRow::default();
        row.add_number("week", Some((week.week + 1) as f64));
        row.add_number("class", Some((week.class + 1) as f64));
        row.add_number("jobs", Some(week.jobs as f64));
        row.add_number("wait_mean", week.wait);
        row.add_number("slowdown_mean", week.slowdown);
        rows.push(row);
    }
    rows.render_csv()
}
