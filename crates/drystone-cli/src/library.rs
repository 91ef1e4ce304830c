//! Commands for programs that have workloads and policies in memory; the package for Python is one.
//!
//! Options are those of the command line, as words: `--confidence=0.9`. They mean the same, have
//! the same defaults and are checked alike. What a command would say on the standard error comes
//! back as text.

mod more;
mod parts;
#[cfg(feature = "sites")]
mod sites;
#[cfg(any(feature = "evolve", feature = "reproduce", feature = "sites"))]
mod studies;

pub use self::more::{LibraryOutput, bracket_headroom, draw_gantt, test_predictors};
#[cfg(feature = "sites")]
pub use self::sites::{check_fidelity, forecast_starts, import_files, score_forecasts, simulate_changes};
#[cfg(feature = "evolve")]
pub use self::studies::evolve_orders;
#[cfg(feature = "reproduce")]
pub use self::studies::reproduce_papers;
#[cfg(feature = "sites")]
pub use self::studies::{advise_changes, read_waits};
use crate::args::{
    Cli, Command, CompareArgs, ExplainArgs, RunArgs, SimulationArgs, SourceArgs, WorkloadArgs, WorkloadCommand,
};
use crate::commands::compare::{JudgedComparison, judge_comparison};
use crate::commands::explain::tell_story;
use crate::commands::run::{RunOutcome, WantedData, run_policy};
pub use crate::exit::CommandFailure;
pub use crate::input::WorkloadInput;
use crate::output::{excess, message};
use drystone::log::clean::{Audit, CleaningOptions};
use drystone::log::series::PowerSeries;
use drystone::log::source::LogFile;
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::log::{self};
use drystone::metrics::{JobRow, SizedJob};
use drystone::model::{TimeMove, Workload};
use drystone::policy::PolicySpec;
use drystone_report::Results;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Something, and the notes and warnings that came with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithNotes<T> {
    pub what: T,
    pub messages: Vec<String>,
}

fn collect_notes<T>(work: impl FnOnce() -> Result<T, CommandFailure>) -> Result<WithNotes<T>, CommandFailure> {
    let (result, messages) = message::overhear_messages(work);
    Ok(WithNotes { what: result?, messages })
}

fn parse_command(words: &[String]) -> Result<Command, CommandFailure> {
    let words = ["drystone".to_string()].into_iter().chain(words.iter().cloned());
    let cli = <Cli as clap::Parser>::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        let problem_text = text.split("\n\n").next().unwrap_or_default();
        CommandFailure::usage_error(problem_text.strip_prefix("error: ").unwrap_or(problem_text).trim())
    })?;
    Ok(cli.command)
}

/// The arguments of a command without the name of the program, from its words.
#[cfg(feature = "sites")]
pub(crate) fn of_words(words: &[&str]) -> Result<Command, CommandFailure> {
    parse_command(&words.iter().map(ToString::to_string).collect::<Vec<_>>())
}

fn build_command(name: &str, prefix: &[&str], options: &[String]) -> Result<Command, CommandFailure> {
    let mut words = vec![name.to_string()];
    words.extend(prefix.iter().map(ToString::to_string));
    words.extend_from_slice(options);
    parse_command(&words)
}

fn shaping_args(options: &[String]) -> Result<SimulationArgs, CommandFailure> {
    match build_command("run", &["--policy=easy"], options)? {
        Command::Run(args) => Ok(args.common),
        _ => Err(CommandFailure::usage_error("no options of a log")),
    }
}

/// An input as it is simulated under these policies: of a site each pool has its own.
fn localise_input<'a>(input: &'a WorkloadInput, specs: &[PolicySpec]) -> Cow<'a, WorkloadInput> {
    if input.site.is_none() {
        return Cow::Borrowed(input);
    }
    let mut own = input.clone();
    own.site.iter_mut().for_each(|site| site.localise_policies(specs));
    Cow::Owned(own)
}

/// Refuses several pools, for a question about one machine.
fn one_machine(input: &WorkloadInput, subject: &str) -> Result<(), CommandFailure> {
    match input.pool_division() {
        Some(_) => Err(CommandFailure::usage_error(format_args!(
            "{subject} is about one machine, and the site has several pools; SITE#POOL names one"
        ))),
        None => Ok(()),
    }
}

/// Names the folder of a site that was read before: its own Slurm is the baseline.
fn from_site(source: &mut SourceArgs, input: &WorkloadInput) {
    if let Some(site) = &input.site {
        *source = SourceArgs::from_path(site.folder());
    }
}

/// Refuses jobs of several sizes and power, for a question about jobs of one size each.
fn one_size(input: Option<&WorkloadInput>, subject: &str) -> Result<(), CommandFailure> {
    match input.is_some_and(WorkloadInput::is_shaped) {
        true => Err(CommandFailure::usage_error(format_args!(
            "{subject} is about jobs of one size each, and these have several, or power is counted; take the log without shapes"
        ))),
        false => Ok(()),
    }
}

impl WorkloadInput {
    /// Reads and cleans a log, or a site with its pools and what they lacked; `options` are those
    /// of `drystone run` that shape a workload, such as `--overrun=kill`, `--warm-start=7d`,
    /// `--month=1997-03`. `plain` takes of a site its jobs alone.
    ///
    /// # Errors
    /// A file that cannot be read, is no log or breaks a rule; options that are wrong.
    pub fn load(path: &Path, options: &[String], plain: bool) -> Result<WithNotes<WorkloadInput>, CommandFailure> {
        let args = SimulationArgs { source: SourceArgs::from_path(path), ..shaping_args(options)? };
        collect_notes(|| WorkloadInput::read_for_simulation(&args, true, plain))
    }

    /// Loads a workload from bytes that were opened elsewhere; `title` is its name.
    ///
    /// # Errors
    /// As [`WorkloadInput::load`].
    pub fn load_from(
        source: LogFile,
        title: &str,
        options: &[String],
    ) -> Result<WithNotes<WorkloadInput>, CommandFailure> {
        let args = shaping_args(options)?;
        let read_log = |log: &crate::args::LogArgs| {
            let options = CleaningOptions { records: true, ..log.cleaning_options() };
            let log::LoadedLog { workload, audit, header, records } = log::load_from(source, title, &options)?;
            let input = WorkloadInput {
                workload,
                audit,
                header,
                records,
                site: None,
                counted: None,
                windows: Vec::new(),
                series: None,
            };
            input.say_what_is_odd(log);
            input.with_asked_resources(log)
        };
        let (log, cut) = args.study_protocol();
        collect_notes(|| {
            let input = WorkloadInput::arrange_input(read_log, None, (&log, &cut, &args.real))?;
            input.with_shapes(&args.shape, log.cleaning_options().overrun)
        })
    }

    /// A workload that was made by a program.
    pub fn from_workload(workload: Workload) -> WorkloadInput {
        let mut header = crate::input::synthetic_header(&workload);
        header.set_field("MaxJobs", &workload.len().to_string());
        header.set_field("MaxRecords", &workload.len().to_string());
        let jobs = workload.jobs().iter().zip(workload.truth());
        let records = jobs.map(|(job, truth)| SwfRecord::from_job(job, truth)).collect();
        let mut audit = Audit::default();
        (audit.records, audit.jobs) = (workload.len() as u64, workload.len() as u64);
        WorkloadInput {
            workload,
            audit,
            header,
            records: Some(records),
            site: None,
            counted: None,
            windows: Vec::new(),
            series: None,
        }
    }

    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// The account of the cleaning.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    pub fn header(&self) -> &SwfHeader {
        &self.header
    }

    /// The original records, in the order of the jobs, where they were kept.
    pub fn records(&self) -> Option<&[SwfRecord]> {
        self.records.as_deref()
    }

    /// Some of the jobs at the times that they have, with what is known of them; `records` are
    /// theirs.
    pub fn with_some_jobs(&self, workload: Workload, records: Option<Vec<SwfRecord>>) -> WorkloadInput {
        let mut site = self.site.clone();
        if let (Some(site), Some(records)) = (&mut site, &records) {
            site.places = crate::site::site_places(records);
        }
        WorkloadInput {
            workload,
            audit: self.audit.clone(),
            header: self.header.clone(),
            records,
            site,
            counted: None,
            windows: Vec::new(),
            series: self.series.clone(),
        }
    }

    /// The jobs at other times; `records` are theirs.
    ///
    /// # Errors
    /// A site of which more than the jobs was taken: what its pools lacked was at other times.
    pub fn with_moved_jobs(
        &self,
        workload: Workload,
        records: Option<Vec<SwfRecord>>,
    ) -> Result<WorkloadInput, CommandFailure> {
        if self.site.as_ref().is_some_and(|site| !site.plain) {
            return Err(CommandFailure::usage_error(
                "the jobs of a site do not move: the initial jobs and the missing capacity belong to these times; \
                 read(SITE, plain=True) \
                 takes the jobs alone, and read(SITE, load=1.1) moves them",
            ));
        }
        let times =
            [self.workload.submit_range(), workload.submit_range()].map(|submits| submits.map(|(first, _)| first));
        let mut input = self.with_some_jobs(workload, records);
        // Shifted jobs take the series along; at another load it stays.
        let moves = &input.workload.provenance.moves;
        let is_shifted =
            moves.len() > self.workload.provenance.moves.len() && matches!(moves.last(), Some(TimeMove::Earlier(_)));
        if let (Some(series), [Some(before), Some(now)], true) = (&self.series, times, is_shifted) {
            input.series = Some(Arc::new(series.shift_earlier(before - now)));
        }
        Ok(input)
    }

    /// Gives the jobs several sizes, drawn as `drystone workload reshape` draws them; `options` are
    /// its own.
    ///
    /// # Errors
    /// Options that are wrong; a site, which is more than its jobs; resources beyond processors.
    pub fn with_drawn_sizes(&self, options: &[String]) -> Result<WithNotes<WorkloadInput>, CommandFailure> {
        let Command::Workload(WorkloadArgs { command: WorkloadCommand::Reshape(args), .. }) =
            build_command("workload", &["reshape", "LOG", "--out=shapes.csv"], options)?
        else {
            return Err(CommandFailure::usage_error("no options of a reshaping"));
        };
        collect_notes(|| self.clone().drawn_shapes(&args.build_reshape()))
    }

    /// With carbon and prices over time.
    #[must_use]
    pub fn with_series(self, series: Option<PowerSeries>) -> WorkloadInput {
        WorkloadInput { series: series.map(Arc::new), ..self }
    }

    /// Returns carbon and prices over time.
    pub fn power_series(&self) -> Option<&PowerSeries> {
        self.series.as_deref()
    }

    /// Returns whether the jobs have several sizes, or power is counted.
    pub fn is_shaped(&self) -> bool {
        self.workload.shapes().is_some()
    }

    /// Names the data beyond the jobs, where the jobs alone are not the whole workload: several
    /// pools, lost capacity, circumstances.
    pub fn beyond_jobs(&self) -> Option<&'static str> {
        let lacks = self.site.as_ref().is_some_and(|site| site.lacks_capacity());
        match (self.pool_division(), self.workload.circumstances()) {
            (Some(_), _) => Some("several pools side by side"),
            _ if lacks => Some("capacity that is out"),
            (_, Some(_)) => Some("knowledge of jobs beyond the log"),
            _ if self.is_shaped() => Some("jobs of several sizes, or power"),
            _ => None,
        }
    }

    /// Writes the jobs as a log: .swf, .swf.gz, .swf.zst, .csv, .parquet or .json.
    ///
    /// # Errors
    /// An ending that says nothing, a place that cannot be written.
    pub fn write_log(&self, path: &Path) -> Result<(), CommandFailure> {
        crate::commands::workload::write_jobs(self, path)
    }
}

/// One policy on one workload.
pub struct LibraryRun(RunOutcome);

impl LibraryRun {
    /// Simulates; `None` on cancellation. `options` are those of `drystone run`, `--policy=` among
    /// them.
    ///
    /// # Errors
    /// Options that are wrong, a policy that does not fit or breaks its contract.
    pub fn from_input(
        input: &WorkloadInput,
        options: &[String],
        stop: &AtomicBool,
    ) -> Result<Option<WithNotes<LibraryRun>>, CommandFailure> {
        let Command::Run(args) = build_command("run", &[], options)? else {
            return Err(CommandFailure::usage_error("no options of a run"));
        };
        let args: RunArgs = *args;
        let outcome = collect_notes(|| {
            let excessive = excess::fixed_thresholds(&args.common.excess)?;
            let wanted_data = WantedData { rows: true, segments: false, details: args.common.details, excessive };
            let spec = crate::input::in_study(&crate::commands::run::asked_policy(&args)?, args.common.log.study)?;
            run_policy(&args, &localise_input(input, &[spec]), wanted_data, Some(stop))
        })?;
        Ok(outcome.what.map(|ran| WithNotes { what: LibraryRun(ran), messages: outcome.messages }))
    }

    /// Sizes of each job over its life, by the log's numbers; `None` where every job has one.
    pub fn job_sizes(&self) -> Option<&BTreeMap<i64, SizedJob>> {
        self.0.size_report().map(|sizes| &sizes.jobs)
    }

    /// A row per job, in the order of arrival.
    pub fn rows(&self) -> &[JobRow] {
        self.0.rows.as_deref().unwrap_or_default()
    }

    /// Returns the results shown by pages and plots, which the command prints as JSON.
    ///
    /// # Errors
    /// A result that is no JSON.
    pub fn results(&self) -> Result<Results, CommandFailure> {
        use crate::output::Printable;
        self.0.result.plot_results()
    }

    /// As the command prints it.
    pub fn render_text(&self) -> String {
        crate::output::reports::render_text(&self.0.result)
    }

    /// Writes the schedule job by job, byte for byte as `drystone run --jobs` does.
    ///
    /// # Errors
    /// An ending that says nothing, a place that cannot be written.
    pub fn write_schedule(&self, input: &WorkloadInput, path: &Path) -> Result<(), CommandFailure> {
        self.0.write_schedule(input, path)
    }

    /// Writes the result: .html, .json, .csv, .md or .txt.
    ///
    /// # Errors
    /// As [`LibraryRun::write_schedule`].
    pub fn write_report(&self, path: &Path) -> Result<(), CommandFailure> {
        self.0.write_report(path)
    }
}

/// Several policies on one workload.
pub struct LibraryComparison(JudgedComparison);

impl LibraryComparison {
    /// Simulates and judges; `None` on cancellation. `options` are those of `drystone compare`.
    ///
    /// # Errors
    /// As [`LibraryRun::from_input`].
    pub fn from_input(
        input: &WorkloadInput,
        options: &[String],
        stop: &AtomicBool,
    ) -> Result<Option<WithNotes<LibraryComparison>>, CommandFailure> {
        let Command::Compare(args) = build_command("compare", &[], options)? else {
            return Err(CommandFailure::usage_error("no options of a comparison"));
        };
        let mut args: CompareArgs = *args;
        from_site(&mut args.common.source, input);
        let outcome = collect_notes(|| {
            let specs =
                if input.site.is_some() { crate::commands::compare::policies_to_compare(&args)? } else { Vec::new() };
            judge_comparison(&args, &localise_input(input, &specs), stop)
        })?;
        Ok(outcome.what.map(|comparison| WithNotes { what: LibraryComparison(comparison), messages: outcome.messages }))
    }

    /// As [`LibraryRun::results`].
    ///
    /// # Errors
    /// A result that is no JSON.
    pub fn results(&self) -> Result<Results, CommandFailure> {
        self.0.results()
    }

    /// As the command prints it.
    pub fn render_text(&self) -> String {
        self.0.render_text()
    }

    /// As [`LibraryRun::write_report`].
    ///
    /// # Errors
    /// As [`LibraryRun::write_schedule`].
    pub fn write_report(&self, path: &Path) -> Result<(), CommandFailure> {
        self.0.write_report(path)
    }
}

/// Explains the start of a job: in words, and as JSON. `options` are those of `drystone explain`.
///
/// # Errors
/// As [`LibraryRun::from_input`]; no such job.
pub fn explain_start(input: &WorkloadInput, options: &[String]) -> Result<WithNotes<(String, String)>, CommandFailure> {
    let Command::Explain(args) = build_command("explain", &[], options)? else {
        return Err(CommandFailure::usage_error("no options of an explanation"));
    };
    let mut args: ExplainArgs = *args;
    from_site(&mut args.source, input);
    one_machine(input, "an explanation")?;
    collect_notes(|| {
        let job_story = tell_story(&args, input)?;
        Ok((job_story.text, String::from_utf8_lossy(&job_story.json).into_owned()))
    })
}

/// Makes the policies and the logs of other crates known that the command knows. Called again it
/// does nothing.
///
/// # Errors
/// A program that has registered a policy of its own under one of their names.
pub fn register_policies() -> Result<(), CommandFailure> {
    static DONE: OnceLock<Result<(), String>> = OnceLock::new();
    drystone::log::source::register_opener(crate::input::as_log);
    #[cfg(feature = "sweep")]
    {
        drystone_sweep::set_build(crate::meta::VERSION);
        drystone_sweep::set_localiser(crate::site::localised_policy);
    }
    let registration = DONE.get_or_init(crate::site::register_policies);
    registration.clone().map_err(CommandFailure::usage_error)
}

/// Runs the command with these arguments as [`main`](crate::main) does, and answers its exit code.
/// The first argument is the program that runs it again, where a sweep works in several processes.
pub fn main_with(args: Vec<OsString>) -> u8 {
    if let Some(program) = args.first() {
        // Said twice, it is the same program.
        let _ = crate::PROGRAM.set(program.into());
    }
    crate::run_with(args)
}

/// Puts this around the work of every thread that simulates, once for the whole process: for an
/// interpreter that policies call back and that wants to know the threads.
pub fn around_threads(around: fn(&mut (dyn FnMut() + Send))) {
    // Said twice, it is the same.
    let _ = crate::parallel::AROUND.set(around);
}
