//! Reads what commands simulate: a log, a site, or the built-in example.

use super::scene::{self, SceneTake};
use super::synthetic::synthetic_input;
use super::{InputKind, WorkloadInput, recorded};
use crate::args::{CutArgs, LogArgs, RealArgs, SimulationArgs};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::progress::{CountedReader, WorkProgress};
use crate::site;
use drystone::log::clean::CleaningOptions;
use drystone::log::{self, LogError, source, transform};
use drystone::metrics::Scheme;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens a log and counts what is read of it.
pub(crate) fn open_log(path: &Path) -> Result<source::LogFile, CommandFailure> {
    site::refuse_folder(path)?;
    InputKind::refuse_path(path, &[InputKind::Log, InputKind::Site])?;
    if let Some(log_file) = site::open_counted_log(path) {
        return Ok(log_file?);
    }
    #[cfg(feature = "parquet")]
    if let Some(log_file) = super::parquet_log::as_log(path) {
        return Ok(log_file?);
    }
    let (input, name, total): (Box<dyn Read>, String, Option<u64>) = if path.as_os_str() == source::STDIN {
        (Box::new(io::stdin()), "standard input".to_string(), None)
    } else {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|source| LogError::Open { file: name.clone(), source })?;
        let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|m| m.len());
        (Box::new(file), name, total)
    };
    let progress = WorkProgress::new("reading", "bytes", total);
    Ok(source::decompress_log(Box::new(CountedReader { input, progress }), name.into())?)
}

impl WorkloadInput {
    /// Reads and cleans a log, or makes the built-in example where none is given.
    pub(crate) fn read_workload(
        path: Option<&Path>,
        args: &LogArgs,
        seed: u64,
        records: bool,
    ) -> Result<WorkloadInput, CommandFailure> {
        let options = CleaningOptions { records, ..args.cleaning_options() };
        let audit = args.audit.as_deref().map(OutputFile::create).transpose()?;
        let input = match path {
            Some(path) => {
                let log::LoadedLog { workload, audit, header, records } =
                    log::load_from(open_log(path)?, &log::file_title(path), &options)?;
                WorkloadInput {
                    workload,
                    audit,
                    header,
                    records,
                    site: None,
                    counted: None,
                    windows: Vec::new(),
                    series: None,
                }
            }
            None => synthetic_input(seed, options)?,
        };
        if let Some(mut out) = audit {
            input.audit.write_csv(&mut out).map_err(|e| CommandFailure::write_error(out.name(), &e))?;
            out.finish()?;
        }
        if path.is_some() {
            input.say_what_is_odd(args);
        }
        input.with_asked_resources(args)
    }

    /// Reads the input of `run` and `compare`.
    ///
    /// `plain` takes of a site its jobs alone: they are to arrive at other times than they did.
    pub(crate) fn read_for_simulation(
        args: &SimulationArgs,
        records: bool,
        plain: bool,
    ) -> Result<WorkloadInput, CommandFailure> {
        let (log, cut) = args.study_protocol();
        if log.moves_arrivals() && args.by.contains(&Scheme::Month) {
            let problem = "--by month does not go with --load: arrivals that come faster keep no calendar. --by week counts weeks";
            return Err(CommandFailure::usage_error(problem));
        }
        if args.by.contains(&Scheme::Priority) && args.priorities.is_none() {
            return Err(CommandFailure::usage_error(
                "--by priority needs the priorities of jobs: --priorities FILE.toml",
            ));
        }
        let take = SceneTake { all: true, plain: plain || log.moves_arrivals(), counted: false };
        let input =
            WorkloadInput::read_for_take(args.source.path(), (&log, &cut, &args.real), args.seed, records, take)?;
        if args.by.contains(&Scheme::Resources) && input.workload.resources().is_none_or(|table| !table.has_resources())
        {
            let problem =
                "--by resources needs jobs that ask for more than processors: --resources mem=SIZE or a table";
            return Err(CommandFailure::usage_error(problem));
        }
        input.with_shapes(&args.shape, log.cleaning_options().overrun)
    }

    /// The whole of a log or a site, all pools side by side.
    #[cfg(feature = "sites")]
    pub(crate) fn read_whole(
        path: Option<&Path>,
        args: (&LogArgs, &CutArgs, &RealArgs),
        seed: u64,
    ) -> Result<WorkloadInput, CommandFailure> {
        WorkloadInput::read_for_take(path, args, seed, false, SceneTake { all: true, plain: false, counted: true })
    }

    #[cfg(feature = "sites")]
    pub(crate) fn whole_recorded(
        path: Option<&Path>,
        args: (&LogArgs, &CutArgs, &RealArgs),
        seed: u64,
    ) -> Result<WorkloadInput, CommandFailure> {
        WorkloadInput::read_for_take(path, args, seed, true, SceneTake { all: true, plain: false, counted: true })
    }

    /// Reads the whole of a log or a site, and of a site its jobs alone: they are to arrive at
    /// other times than they did.
    #[cfg(feature = "sites")]
    pub(crate) fn whole_plain(
        path: Option<&Path>,
        args: (&LogArgs, &CutArgs, &RealArgs),
        seed: u64,
    ) -> Result<WorkloadInput, CommandFailure> {
        WorkloadInput::read_for_take(path, args, seed, false, SceneTake { all: true, plain: true, counted: true })
    }

    /// A part of a log, or the whole; of a site one pool.
    pub(crate) fn read_part(
        path: Option<&Path>,
        args: (&LogArgs, &CutArgs, &RealArgs),
        seed: u64,
        records: bool,
    ) -> Result<WorkloadInput, CommandFailure> {
        WorkloadInput::read_for_take(path, args, seed, records, SceneTake { all: false, plain: false, counted: false })
    }

    pub(super) fn read_for_take(
        path: Option<&Path>,
        (log, cut, real): (&LogArgs, &CutArgs, &RealArgs),
        seed: u64,
        records: bool,
        take: SceneTake,
    ) -> Result<WorkloadInput, CommandFailure> {
        if let Some(path) = path
            && let Some(mut input) = scene::read_site(path, (log, cut, real), take)?
        {
            input.workload = real.give_supply(input.workload)?;
            return Ok(input);
        }
        let read_log = |log: &LogArgs| WorkloadInput::read_workload(path, log, seed, records || real.needs_records());
        WorkloadInput::arrange_input(read_log, path, (log, cut, real))
    }

    /// Reads an input with `read`, with its circumstances, cut, scaled and shifted. Times are
    /// scaled and shifted last: months and seconds are those of the log.
    pub(crate) fn arrange_input(
        read: impl FnOnce(&LogArgs) -> Result<WorkloadInput, CommandFailure>,
        path: Option<&Path>,
        (log, cut, real): (&LogArgs, &CutArgs, &RealArgs),
    ) -> Result<WorkloadInput, CommandFailure> {
        let parts = cut.month.is_some() || cut.slice.is_some() || cut.windows.is_some();
        let cuts = parts || log.load_to.is_some() || real.needs_times_of_the_log();
        if real.warm_start.is_some() && cut.around.is_some() {
            let problem = "--warm-start does not go with --around: the jobs around the month fill the machine";
            return Err(CommandFailure::usage_error(problem));
        }
        if real.warm_start.is_some() && log.moves_arrivals() {
            let problem = "--warm-start does not go with --load: the running and waiting jobs are recorded at the load of the \
                 log";
            return Err(CommandFailure::usage_error(problem));
        }
        let later = log.load.filter(|_| cuts);
        let first = LogArgs { load: log.load.filter(|_| !cuts), shift: log.shift && !cuts, ..log.clone() };
        let mut input = recorded::attach_circumstances(read(&first)?, path, real)?.cut_jobs(cut, real)?;
        if let Some(load) = later {
            input.workload = transform::scale_load(input.workload, load).map_err(CommandFailure::usage_error)?;
        }
        input = input.scale_to_target(log)?;
        if cuts && log.shift {
            input.workload = transform::shift_workload(input.workload).map_err(CommandFailure::usage_error)?;
        }
        input.workload = real.give_supply(input.workload)?;
        Ok(input)
    }
}
