//! The command line: one file per command.

mod advise;
mod compare;
mod cut;
#[cfg(feature = "evolve")]
mod evolve;
mod explain;
mod fidelity;
mod foresee;
mod gantt;
mod headroom;
mod import;
#[cfg(all(unix, feature = "live"))]
mod live;
mod log;
mod policies;
mod predict;
mod real;
mod report;
#[cfg(feature = "reproduce")]
mod reproduce;
mod run;
#[cfg(feature = "shell")]
mod shell;
mod simulation;
#[cfg(feature = "sweep")]
mod sweep;
#[cfg(feature = "sweep")]
mod tasks;
mod values;
mod waits;
mod when;
mod workload;

pub(crate) use advise::{AdviseArgs, Only};
pub(crate) use compare::CompareArgs;
pub(crate) use cut::CutArgs;
#[cfg(feature = "evolve")]
pub(crate) use evolve::{EvolveArgs, Method};
pub(crate) use explain::{ExplainArgs, StoryFormat};
pub(crate) use fidelity::FidelityArgs;
pub(crate) use foresee::ForeseeArgs;
pub(crate) use gantt::GanttArgs;
pub(crate) use headroom::{Grid, HeadroomArgs};
pub(crate) use import::{ImportArgs, ImportFormat};
#[cfg(all(unix, feature = "live"))]
pub(crate) use live::{
    Adopt, ClusterArgs, DaemonArgs, DriveArgs, HandBackArgs, HomeArgs, InstallArgs, JournalCommand, JournalExportArgs,
    JournalListArgs, LiveArgs, LiveCommand, LiveReportArgs, LiveStatusArgs, LogForm, OnStop, Piece, PlaygroundArgs,
    ShadowArgs,
};
pub(crate) use log::LogArgs;
pub(crate) use policies::PoliciesArgs;
pub(crate) use predict::PredictArgs;
pub(crate) use real::RealArgs;
pub(crate) use report::ReportArgs;
#[cfg(feature = "reproduce")]
pub(crate) use reproduce::ReproduceArgs;
pub(crate) use run::RunArgs;
#[cfg(feature = "shell")]
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use simulation::SimulationArgs;
#[cfg(feature = "sweep")]
pub(crate) use sweep::{
    ChunkArgs, ExportArgs, MergeArgs, ParetoArgs, QueryArgs, RankArgs, ResumeArgs, StatusArgs, SweepArgs, SweepCommand,
    WorkArgs,
};
#[cfg(feature = "sweep")]
pub(crate) use tasks::{CancelArgs, DivideArgs, GatherArgs, RecipeArgs, SlurmArgs, TaskArgs};
pub(crate) use waits::WaitsArgs;
pub(crate) use when::WhenArgs;
pub(crate) use workload::{
    CleanArgs, ConvertArgs, GenerateArgs, HitArg, InfoArgs, InfoFormat, ModelArg, OutagesArgs, RewriteArgs, ScaleArgs,
    SliceArgs, WorkloadArgs, WorkloadCommand,
};

use crate::exit::CODES;
use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

/// Simulate, compare and choose batch scheduling policies on real logs.
///
/// Without any file at hand, `drystone compare` simulates a synthetic workload under the policies
/// that a site can run.
#[derive(Parser, Debug)]
#[command(name = "drystone", version, max_term_width = 110, after_help = CODES, after_long_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to colour output (also --colour); NO_COLOR is honoured.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub(crate) color: Color,
}

const EXAMPLES: &str = "\
Examples:
  drystone compare                                     # the usual policies on a synthetic workload
  drystone compare --workload LOG.swf.gz               # the same on your log
  drystone compare --workload LOG.swf.gz --all         # every policy
  drystone compare -w LOG.swf.gz --report out.html     # the same as a page with plots
  drystone run --workload LOG.swf.gz --policy easy     # one policy, in depth
  drystone explain -w LOG.swf.gz --job 4711 -p slack   # why this job started when it did
  drystone gantt --workload LOG.swf.gz --policy ss     # the schedule, drawn
  drystone headroom LOG.swf.gz                         # how much is left to gain, at most
  drystone predict LOG.swf.gz                          # how well run times can be foreseen
  drystone foresee -w LOG.swf.gz --policy easy         # how well starts of waiting jobs can be
  drystone when --state now/ --job 4711                # when a waiting job will start
  drystone evolve -w LOG.swf.gz --for 10m              # a better order, found by search
  drystone advise site/ --guard 'maxW<+20%'            # what to change in slurm.conf
  drystone sweep STUDY.toml                            # every configuration of a study
  drystone live shadow --policy easy++                 # beside a real Slurm, changing nothing
  drystone reproduce --logs DIR                        # the published record, number by number
  drystone policies                                    # what policies there are

Exit codes:
  0    done
  1    a finding: a promise was broken and --require-promises given, or a published number is not met
  2    wrong usage, input or output
  3    a policy broke its contract
  130  interrupted; 143 terminated; 129 hung up";

/// Arguments of a command that this build has not.
#[cfg(not(all(feature = "evolve", feature = "live", feature = "reproduce", feature = "shell", feature = "sweep")))]
#[derive(clap::Args, Debug)]
pub(crate) struct AbsentArgs {
    /// Whatever is given.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _all: Vec<OsString>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Simulate several policies on one workload and compare them.
    Compare(Box<CompareArgs>),
    /// Simulate one policy and report on it in depth.
    Run(Box<RunArgs>),
    /// Make a page with plots of results that were written as JSON.
    Report(ReportArgs),
    /// Tell why a job started when it did.
    Explain(Box<ExplainArgs>),
    /// Say what to change in Slurm, or to leave it: chosen on some weeks, judged on others.
    Advise(Box<AdviseArgs>),
    /// Search for orders of waiting jobs: chosen on some weeks of a log, judged on others.
    #[cfg(feature = "evolve")]
    Evolve(Box<EvolveArgs>),
    /// Not in this build: it was made without the feature `evolve`.
    #[cfg(not(feature = "evolve"))]
    Evolve(AbsentArgs),
    /// Draw the schedule of a policy, processors by time.
    Gantt(Box<GanttArgs>),
    /// Say how far policies are from the best possible: a proven floor, and the best schedule found.
    Headroom(Box<HeadroomArgs>),
    /// Judge predictors of run times on a log, without a schedule.
    Predict(Box<PredictArgs>),
    /// Judge answers to "when will my job start?" on a log: scores, calibration, baselines.
    Foresee(Box<ForeseeArgs>),
    /// Tell when waiting jobs of a Slurm cluster will start, and what would make it earlier.
    When(Box<WhenArgs>),
    /// Simulate published tables again and compare cell by cell.
    #[cfg(feature = "reproduce")]
    Reproduce(ReproduceArgs),
    /// Not in this build: it was made without the feature `reproduce`.
    #[cfg(not(feature = "reproduce"))]
    Reproduce(AbsentArgs),
    /// List policies, their parameters, variants and sources.
    Policies(PoliciesArgs),
    /// Make a workload of a site's accounting.
    Import(Box<ImportArgs>),
    /// Hold a simulation of a site against what happened there.
    Fidelity(Box<FidelityArgs>),
    /// Show what a site's users waited, as its accounting has it: no simulation.
    Waits(WaitsArgs),
    /// Look at, clean, change, convert and generate workloads.
    Workload(WorkloadArgs),
    /// Simulate a whole study, tens of thousands of configurations, into a store; rank them.
    #[cfg(feature = "sweep")]
    Sweep(Box<SweepArgs>),
    /// Not in this build: it was made without the feature `sweep`.
    #[cfg(not(feature = "sweep"))]
    Sweep(AbsentArgs),
    /// Schedule a real cluster: watch it, drive it, give it back.
    #[cfg(all(unix, feature = "live"))]
    Live(LiveArgs),
    /// Not in this build: it was made without the feature `live`.
    #[cfg(all(unix, not(feature = "live")))]
    Live(AbsentArgs),
    /// Print completions for a shell.
    #[cfg(feature = "shell")]
    Completions(CompletionsArgs),
    /// Not in this build: it was made without the feature `shell`.
    #[cfg(not(feature = "shell"))]
    Completions(AbsentArgs),
    /// Print manual pages.
    #[cfg(feature = "shell")]
    Man(ManArgs),
    /// Not in this build: it was made without the feature `shell`.
    #[cfg(not(feature = "shell"))]
    Man(AbsentArgs),
}

/// When to colour output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On terminals that can, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    fn apply(self) {
        match self {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The arguments, `--colour` taken for `--color` everywhere but after `gantt`, where it says by
/// what jobs are coloured.
pub(crate) fn spelled(args: Vec<OsString>) -> Vec<OsString> {
    if args.iter().any(|arg| arg == "gantt") {
        return args;
    }
    let spell = |arg: OsString| match arg.to_str() {
        Some("--colour") => "--color".into(),
        Some(text) => {
            text.strip_prefix("--colour=").map_or_else(|| arg.clone(), |when| format!("--color={when}").into())
        }
        None => arg,
    };
    args.into_iter().map(spell).collect()
}

/// Looks for `--color` before the command line is parsed, so that it also holds for messages about
/// the command line.
pub(crate) fn choose_color_early(args: &[OsString]) {
    let args: Vec<String> = args.iter().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let pairs = args.iter().zip(args.iter().skip(1).map(Some).chain([None]));
    for (arg, next) in pairs {
        let value = match (arg.strip_prefix("--color="), arg == "--color") {
            (Some(value), _) => Some(value),
            (None, true) => next.map(String::as_str),
            (None, false) => None,
        };
        if let Some(color) = value.and_then(|v| Color::from_str(v, false).ok()) {
            color.apply();
        }
    }
}
