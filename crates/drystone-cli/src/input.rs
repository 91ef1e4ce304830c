//! From the command line to a workload: a log read and cleaned, or the built-in example.

mod cut;
mod files;
mod limits;
#[cfg(feature = "parquet")]
mod parquet_log;
mod read;
mod recorded;
pub(crate) mod resources;
#[cfg_attr(not(feature = "sites"), path = "input/scene_absent.rs")]
mod scene;
mod shapes;
mod synthetic;
mod wrong_kinds;

use crate::args::{LogArgs, RealArgs, SimulationArgs};
use crate::doubts;
use crate::exit::CommandFailure;
use crate::meta::{ExperimentMeta, StudyMeta, WorkloadMeta};
use crate::output::message;
use crate::output::number;
use crate::site::SiteInput;
use drystone::experiment::{self, PoolDivision};
use drystone::fingerprint::compute_fingerprint;
use drystone::log::LogError;
use drystone::log::clean::{Audit, CleaningRule, CleaningStudy, Overrun};
use drystone::log::series::PowerSeries;
use drystone::log::source::LogFile;
use drystone::log::swf::{SwfHeader, SwfRecord};
use drystone::metrics::{Calendar, JobSelection};
use drystone::model::{JobId, Outages, Workload};
use drystone::policy::{PolicySpec, Priorities};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub(crate) use cut::WorkloadParts;
pub(crate) use files::{PolicyFiles, read_platform, read_priorities};
pub(crate) use limits::parse_time_range;
pub(crate) use read::open_log;
pub(crate) use synthetic::synthetic_header;
pub(crate) use wrong_kinds::InputKind;

/// Opens what is no text and reads as a log all the same: the folder of a site, and a log in
/// Parquet.
pub(crate) fn as_log(path: &Path) -> Option<Result<LogFile, LogError>> {
    #[cfg(feature = "parquet")]
    if let Some(log_file) = parquet_log::as_log(path) {
        return Some(log_file);
    }
    crate::site::as_log(path)
}

/// A workload with all that is known of it.
#[derive(Clone, Debug)]
pub struct WorkloadInput {
    pub(crate) workload: Workload,
    pub(crate) audit: Audit,
    pub(crate) header: SwfHeader,
    /// The original records, in the order of the jobs, where they were asked for.
    pub(crate) records: Option<Vec<SwfRecord>>,
    /// Data of an imported site beyond its jobs, if it is one.
    pub(crate) site: Option<SiteInput>,
    /// Places of the jobs that count, where others are simulated around them.
    pub(crate) counted: Option<Range<usize>>,
    /// Number of jobs of each window that is simulated apart; empty without windows.
    pub(crate) windows: Vec<usize>,
    /// Carbon and prices over time.
    pub(crate) series: Option<Arc<PowerSeries>>,
}

impl WorkloadInput {
    /// Says what people should know of a log that was read so.
    pub(crate) fn say_what_is_odd(&self, args: &LogArgs) {
        let options = args.cleaning_options();
        let guesses = options.missing_estimate.is_run();
        self.say_what_was_dropped(args.audit.is_some());
        doubts::say_what_work_is_lost(&self.workload, &self.audit);
        // With exact estimates there is nothing to warn of.
        if options.overrun != Overrun::Exact {
            self.say_who_is_foreseen(guesses);
        }
        for (key, text) in self.header.unreadable_fields() {
            message::print_warning(&format!("the header's {key} is no whole number and ignored: `{text}`"));
        }
        for (key, texts) in self.header.contradictory_fields() {
            let quoted_texts: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
            message::print_warning(&format!(
                "the header says {key} {} times, not always the same: {}; the first counts",
                texts.len(),
                quoted_texts.join(", ")
            ));
        }
        for (key, value, possible) in self.header.absurd_fields() {
            message::print_warning(&format!("the header's {key}, {value}, cannot be and is ignored: it is {possible}"));
        }
        match args.procs {
            Some(procs) => doubts::say_where_sizes_differ(&self.header, procs),
            None => self.say_where_the_size_is_from(),
        }
        if let Some(zone) = Calendar::unknown_zone(&self.workload.provenance) {
            let submits = self.workload.submit_range().unwrap_or_default();
            let used_zone = Calendar::new(submits.0, &self.workload.provenance).zone_name();
            message::print_warning(&format!(
                "the log's time zone `{zone}` is unknown; days and months are those of {used_zone}"
            ));
        }
    }

    /// Returns the capacity that the machine lacks over time: as requested, else as the site has
    /// it. Recorded among the settings.
    pub(crate) fn find_outages(
        &self,
        real: &RealArgs,
        experiment: &mut ExperimentMeta,
    ) -> Result<Outages, CommandFailure> {
        let asked_outages = real.read_outages(&self.workload, experiment)?;
        let Some(site) = &self.site else { return Ok(asked_outages) };
        let (outages, lacks, site_circumstances) = site.read_outages()?;
        if experiment.circumstances.is_none() {
            experiment.circumstances = site_circumstances.filter(|_| self.workload.circumstances().is_some());
        }
        if real.outages.is_some() {
            return Ok(asked_outages);
        }
        experiment.outages = lacks;
        Ok(outages)
    }

    /// Returns the division among pools that share no node.
    pub(crate) fn pool_division(&self) -> Option<&PoolDivision> {
        self.site.as_ref().and_then(SiteInput::pool_division)
    }

    /// Checks that these policies can be simulated on it. Pools side by side are looked at when
    /// they are simulated.
    pub(crate) fn check_fit<'a>(&self, specs: impl IntoIterator<Item = &'a PolicySpec>) -> Result<(), CommandFailure> {
        match self.pool_division() {
            Some(_) => Ok(()),
            None => check_policies(specs, &self.workload),
        }
    }

    /// A policy as it is simulated here.
    pub(crate) fn localised_policy(&self, spec: &PolicySpec) -> Result<PolicySpec, CommandFailure> {
        let spec = self.site.as_ref().map_or_else(|| Ok(spec.clone()), |site| site.simulated_policy(spec))?;
        crate::site::tell_remarks([&spec]);
        Ok(spec)
    }

    /// Returns the selection of the jobs that count: as requested, else as the study or the site
    /// has it, else all.
    pub(crate) fn job_selection(&self, args: &SimulationArgs) -> JobSelection {
        if let (Some(selection), None) = (self.counted_submits(), args.trim) {
            return selection;
        }
        match (&self.site, args.trim, args.log.study) {
            (Some(site), None, None) => site.selection,
            _ => choose_selection(args),
        }
    }

    /// The settings of an experiment; says what a study set.
    pub(crate) fn experiment_meta(&self, args: &SimulationArgs) -> ExperimentMeta {
        let study = args.log.study.map(|study| {
            let meta = study_meta(study, &self.header);
            message::print_note(&format!(
                "--as {} sets {}, and policies to their variant where they have one",
                meta.name,
                meta.sets.format_pairs()
            ));
            if study == CleaningStudy::Chiang2008 && self.counted.is_some() {
                message::print_note(
                    "with --month it simulates the jobs around it as well (--around 7d), at an offered load of the month of \
                     at least 0.9 (--load-to 0.9), and counts those of the month",
                );
            }
            meta
        });
        let trim = self.job_selection(args).to_string();
        ExperimentMeta { study, trim, seed: args.seed, each_month: args.each_month, ..ExperimentMeta::default() }
    }

    /// Returns the metadata that represent the workload in every output.
    pub(crate) fn workload_meta(&self) -> WorkloadMeta {
        let meta = WorkloadMeta::from_workload(&self.workload, &self.audit, compute_fingerprint(&self.workload));
        match self.site.as_ref().and_then(SiteInput::recorded_window).filter(|_| !self.is_part()) {
            Some(window) => meta.with_window(window),
            None => meta,
        }
    }

    /// Returns whether the jobs are those of a part of the time only.
    fn is_part(&self) -> bool {
        let parts = ["month", "slice", "windows", "window"];
        self.workload.provenance.settings.iter().any(|setting| parts.contains(&setting.name.as_str()))
    }

    /// Nodes may have many processors each: then most jobs are wider than such a machine.
    fn say_where_the_size_is_from(&self) {
        let positive_procs = |procs: Option<i64>| procs.filter(|&procs| procs > 0);
        let (procs, nodes) = (positive_procs(self.header.max_procs()), positive_procs(self.header.max_nodes()));
        if procs.is_none() && nodes == Some(i64::from(self.workload.machine().procs)) {
            let nodes = number::format_count(nodes.unwrap_or(0).unsigned_abs());
            message::print_note(&format!(
                "the header has no MaxProcs; its MaxNodes, {nodes}, is taken as processors (--procs N overrides it)"
            ));
        }
    }

    fn say_what_was_dropped(&self, has_list: bool) {
        use drystone::log::clean::CleaningEffect;
        let drop_texts: Vec<String> = self
            .audit
            .rule_counts()
            .filter(|(rule, _)| rule.effect() == CleaningEffect::Dropped && rule.name() != "not-taken")
            .map(|(rule, records)| format!("{} {rule}", number::format_count(records)))
            .collect();
        if !drop_texts.is_empty() {
            let advice = if has_list { "" } else { " (--audit FILE lists them)" };
            let records = number::format_count(self.audit.records);
            message::print_note(&format!("of {records} records cleaning dropped {}{advice}", drop_texts.join(", ")));
        }
    }

    /// A run time that stands for an estimate makes every policy that plans with estimates
    /// clairvoyant: told from one job in twenty on where it is put there now, and from one in three
    /// of at least a hundred on where it may have been before. (On real logs one job in ten is
    /// killed at its limit.)
    fn say_who_is_foreseen(&self, guesses: bool) {
        let jobs = self.workload.len() as u64;
        let guessed_count = if guesses { self.audit.count_touched(CleaningRule::GuessedEstimate).min(jobs) } else { 0 };
        if guessed_count > 0 && guessed_count >= jobs / 20 {
            let (have, their) = if guessed_count == 1 { ("has", "its") } else { ("have", "their") };
            return message::print_warning(&format!(
                "{} of {} {have} no estimate, so {their} true run time replaces it: every policy that plans with \
                 estimates knows the true run times; the ranking does not apply to a real site (--estimates \
                 tsafrir|factor(2)|user-mean|SECONDS|drop)",
                number::format_count(guessed_count),
                number::format_plural(jobs, "job")
            ));
        }
        let job_truths = self.workload.jobs().iter().zip(self.workload.truth());
        let exact = job_truths.filter(|(job, truth)| truth.run == job.estimate).count() as u64;
        if jobs >= 100 && exact >= jobs.div_ceil(3) {
            message::print_warning(&format!(
                "{} of {} jobs run exactly as long as their estimates: if these are run times, every policy that \
                 plans with estimates knows the future",
                number::format_count(exact),
                number::format_count(jobs)
            ));
        }
    }
}

/// The files that `run` and `compare` read.
pub(crate) fn read_by(args: &SimulationArgs) -> [Option<&Path>; 9] {
    let ([outages, circumstances, supply], [shapes, power, series]) =
        (args.real.named_files(), args.shape.named_files());
    let input_paths = [args.source.path(), args.priorities.as_deref(), args.platform.as_deref()];
    [input_paths[0], input_paths[1], input_paths[2], outages, circumstances, supply, shapes, power, series]
}

/// Returns the policy that was asked for, else a site's own Slurm.
pub(crate) fn policy_or_own(policy: Option<&PolicySpec>, path: Option<&Path>) -> Result<PolicySpec, CommandFailure> {
    let own = || -> Result<_, CommandFailure> {
        crate::site::own_policy(path)?.ok_or_else(|| {
            CommandFailure::usage_error(
                "--policy is missing: `drystone policies` lists all; a site that was imported with its slurm.conf needs none",
            )
        })
    };
    policy.cloned().map_or_else(own, Ok)
}

/// The policy in the variant of the study, where it has one. Says which of its parameters change
/// nothing.
pub(crate) fn in_study(spec: &PolicySpec, study: Option<CleaningStudy>) -> Result<PolicySpec, CommandFailure> {
    let spec = match study {
        Some(study) => spec.in_study(study.name())?,
        None => spec.clone(),
    };
    for (name, needs) in spec.idle_parameters() {
        message::print_warning(&format!("{spec}: {name} changes nothing here; it counts with {needs}"));
    }
    Ok(spec)
}

/// The place of the job with this number in the order of arrival.
pub(crate) fn find_job(workload: &Workload, number: i64) -> Result<JobId, CommandFailure> {
    let mut matches = workload.truth().iter().enumerate().filter(|(_, truth)| truth.number == number);
    let Some((at, _)) = matches.next() else {
        let numbers = || workload.truth().iter().map(|truth| truth.number);
        let (first, last) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
        return Err(CommandFailure::usage_error(format_args!(
            "the workload has no job {number}; its jobs have numbers from {first} to {last}, without those that cleaning \
             dropped"
        )));
    };
    if matches.next().is_some() {
        message::print_warning(&format!("several jobs have the number {number}; this is the first of them"));
    }
    Ok(JobId(at as u32))
}

pub(crate) fn check_priorities(
    spec: &PolicySpec,
    priorities: &Priorities,
    workload: &Workload,
) -> Result<(), CommandFailure> {
    let prioritisation = spec.build_scheduler().policy.set_priorities(priorities.clone().for_part(workload));
    prioritisation.map_err(|error| CommandFailure::usage_error(format_args!("policy {spec}: {error}")))
}

pub(crate) fn check_policies<'a>(
    specs: impl IntoIterator<Item = &'a PolicySpec>,
    workload: &Workload,
) -> Result<(), CommandFailure> {
    for spec in specs {
        let unfit = |error| CommandFailure::usage_error(format_args!("policy {spec}: {error}"));
        spec.build_scheduler().check_fit(workload).map_err(unfit)?;
    }
    Ok(())
}

/// Returns the selection of the jobs that count: as requested, else as the study has it, else all.
pub(crate) fn choose_selection(args: &SimulationArgs) -> JobSelection {
    args.trim.unwrap_or_else(|| experiment::study_selection(args.log.study))
}

/// Seed in the settings of commands that draw nothing at random.
pub(crate) const UNSEEDED: u64 = 1;

/// The settings of a schedule of which nothing is trimmed.
pub(crate) fn untrimmed_experiment(study: Option<CleaningStudy>, seed: u64, header: &SwfHeader) -> ExperimentMeta {
    ExperimentMeta {
        study: study.map(|study| study_meta(study, header)),
        trim: JobSelection::All.to_string(),
        seed,
        ..ExperimentMeta::default()
    }
}

fn study_meta(study: CleaningStudy, header: &SwfHeader) -> StudyMeta {
    StudyMeta::from_study(study, study.machine_procs(header), &experiment::study_selection(Some(study)).to_string())
}
