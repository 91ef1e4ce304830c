//! The command line: one file per command.

#[cfg(feature = "sites")]
mod advise;
mod cite;
mod compare;
mod cut;
#[cfg(feature = "evolve")]
mod evolve;
mod explain;
mod failures;
#[cfg(feature = "sites")]
mod fidelity;
#[cfg(feature = "sites")]
mod foresee;
mod gantt;
mod headroom;
mod help;
#[cfg(feature = "sites")]
mod import;
#[cfg(all(unix, feature = "live"))]
mod live;
mod log;
mod output;
mod policies;
mod predict;
mod real;
mod report;
#[cfg(feature = "reproduce")]
mod reproduce;
mod reshape;
mod run;
#[cfg(all(unix, feature = "live"))]
mod serve;
mod shapes;
#[cfg(feature = "shell")]
mod shell;
mod simulation;
mod source;
#[cfg(feature = "sweep")]
mod sweep;
#[cfg(feature = "sweep")]
mod tasks;
mod values;
#[cfg(feature = "sites")]
mod waits;
#[cfg(feature = "sites")]
mod whatif;
#[cfg(feature = "sites")]
mod when;
mod workload;

#[cfg(feature = "sites")]
pub(crate) use advise::{AdviseArgs, Only};
pub(crate) use cite::{CitationFormat, CiteArgs};
pub(crate) use compare::CompareArgs;
pub(crate) use cut::CutArgs;
#[cfg(feature = "evolve")]
pub(crate) use evolve::{EvolveArgs, EvolveMethod};
pub(crate) use explain::{ExplainArgs, StoryFormat};
pub(crate) use failures::FailureArgs;
#[cfg(feature = "sites")]
pub(crate) use fidelity::FidelityArgs;
#[cfg(feature = "sites")]
pub(crate) use foresee::ForeseeArgs;
pub(crate) use gantt::GanttArgs;
pub(crate) use headroom::{Grid, HeadroomArgs};
pub(crate) use help::{asks_for_all, build_command};
#[cfg(feature = "sites")]
pub(crate) use import::{ImportArgs, ImportFormat};
#[cfg(all(unix, feature = "live"))]
pub(crate) use live::{
    Adopt, ClusterArgs, DaemonArgs, DriveArgs, HandBackArgs, HomeArgs, InstallArgs, InstallPiece, JournalCommand,
    JournalExportArgs, JournalListArgs, LiveArgs, LiveCommand, LiveReportArgs, LiveStatusArgs, LogForm, OnStop,
    PlaygroundArgs, RecordArgs, ShadowArgs,
};
pub(crate) use log::{LogArgs, NodeSource, SiteWorld};
pub(crate) use output::OutputArgs;
pub(crate) use policies::PoliciesArgs;
pub(crate) use predict::PredictArgs;
pub(crate) use real::RealArgs;
pub(crate) use report::ReportArgs;
#[cfg(feature = "reproduce")]
pub(crate) use reproduce::ReproduceArgs;
pub(crate) use reshape::ReshapeArgs;
pub(crate) use run::RunArgs;
#[cfg(all(unix, feature = "live"))]
pub(crate) use serve::ServeArgs;
pub(crate) use shapes::ShapeArgs;
#[cfg(feature = "shell")]
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use simulation::SimulationArgs;
pub(crate) use source::SourceArgs;
#[cfg(feature = "sweep")]
pub(crate) use sweep::{
    BracketArgs, ChunkArgs, ExportArgs, MergeArgs, ParetoArgs, QueryArgs, RankArgs, ResumeArgs, StatusArgs, SweepArgs,
    SweepCommand, TableArgs, TableColumns, WorkArgs,
};
#[cfg(feature = "sweep")]
pub(crate) use tasks::{CancelArgs, DivideArgs, GatherArgs, RecipeArgs, SlurmArgs, TaskArgs};
#[cfg(feature = "sites")]
pub(crate) use waits::WaitsArgs;
#[cfg(feature = "sites")]
pub(crate) use whatif::WhatifArgs;
#[cfg(feature = "sites")]
pub(crate) use when::WhenArgs;
pub(crate) use workload::{
    CleanArgs, ConvertArgs, GenerateArgs, HitArg, InfoArgs, InfoFormat, ModelArg, OutagesArgs, RewriteArgs, ScaleArgs,
    SliceArgs, WorkloadArgs, WorkloadCommand,
};

use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;

/// Replay your cluster's job log under other scheduling policies and see who would wait less.
#[derive(Parser, Debug)]
#[command(name = "drystone", version = crate::meta::VERSION, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Use of colour (also --colour); NO_COLOR is honoured.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options",
        hide_short_help = true
    )]
    pub(crate) color: Color,
}

const EXAMPLES: &str = "\
Examples:
  drystone compare                   # the built-in example
  drystone compare LOG.swf.gz        # your own log
  drystone import jobs.psv --machine slurm.conf --out site/   # Slurm accounting

`drystone COMMAND -h` fits on a screen, --help explains, --help-all lists all.";

/// Arguments of a command that this build has not.
#[cfg(not(all(
    feature = "evolve",
    feature = "live",
    feature = "reproduce",
    feature = "shell",
    feature = "sites",
    feature = "sweep"
)))]
#[derive(clap::Args, Debug)]
pub(crate) struct AbsentArgs {
    /// Whatever is given.
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _all: Vec<OsString>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Compare policies on a log and recommend one.
    Compare(Box<CompareArgs>),
    /// Simulate one policy and report on it in depth.
    Run(Box<RunArgs>),
    /// Make a page with plots from results in JSON.
    Report(ReportArgs),
    /// Explain why a job started when it did.
    Explain(Box<ExplainArgs>),
    /// Recommend Slurm settings, judged on weeks held out.
    #[cfg(feature = "sites")]
    Advise(Box<AdviseArgs>),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    Advise(AbsentArgs),
    /// Simulate a changed site: nodes, limits, partitions, load.
    #[cfg(feature = "sites")]
    Whatif(Box<WhatifArgs>),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    Whatif(AbsentArgs),
    /// Search for better orders of the queue.
    #[cfg(feature = "evolve")]
    Evolve(Box<EvolveArgs>),
    /// Not in this build: it was made without the feature `evolve`.
    #[cfg(not(feature = "evolve"))]
    Evolve(AbsentArgs),
    /// Draw a schedule, processors by time.
    Gantt(Box<GanttArgs>),
    /// Bound the waiting that any policy could still save.
    Headroom(Box<HeadroomArgs>),
    /// Judge predictors of run times on a log.
    Predict(Box<PredictArgs>),
    /// Judge answers to "when will my job start?" on a log.
    #[cfg(feature = "sites")]
    Foresee(Box<ForeseeArgs>),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    Foresee(AbsentArgs),
    /// Predict the starts of waiting jobs on a Slurm cluster.
    #[cfg(feature = "sites")]
    When(Box<WhenArgs>),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    When(AbsentArgs),
    /// Repeat published tables, cell by cell.
    #[cfg(feature = "reproduce")]
    Reproduce(ReproduceArgs),
    /// Not in this build: it was made without the feature `reproduce`.
    #[cfg(not(feature = "reproduce"))]
    Reproduce(AbsentArgs),
    /// List policies, their parameters, variants and sources.
    Policies(PoliciesArgs),
    /// Print how to cite this program.
    Cite(CiteArgs),
    /// Convert a site's accounting into a workload.
    #[cfg(feature = "sites")]
    Import(Box<ImportArgs>),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    Import(AbsentArgs),
    /// Check a simulation against what really happened.
    #[cfg(feature = "sites")]
    Fidelity(Box<FidelityArgs>),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    Fidelity(AbsentArgs),
    /// Show the recorded waits of a site, without a simulation.
    #[cfg(feature = "sites")]
    Waits(WaitsArgs),
    /// Not in this build: it was made without the feature `sites`.
    #[cfg(not(feature = "sites"))]
    Waits(AbsentArgs),
    /// Show the pages of a site in a browser, on this machine.
    #[cfg(all(unix, feature = "live"))]
    Serve(ServeArgs),
    /// Not in this build: it was made without the feature `live`.
    #[cfg(all(unix, not(feature = "live")))]
    Serve(AbsentArgs),
    /// Inspect, clean, convert and generate workloads.
    Workload(WorkloadArgs),
    /// Simulate thousands of configurations and rank them.
    #[cfg(feature = "sweep")]
    Sweep(Box<SweepArgs>),
    /// Not in this build: it was made without the feature `sweep`.
    #[cfg(not(feature = "sweep"))]
    Sweep(AbsentArgs),
    /// Watch or drive a real cluster.
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

/// Uses of colour.
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

/// The arguments, `--colour` taken for `--color` everywhere but after `gantt`, where it sets the
/// meaning of the colours.
pub(crate) fn normalise_spelling(args: Vec<OsString>) -> Vec<OsString> {
    if args.iter().any(|arg| arg == "gantt") {
        return args;
    }
    let spell = |arg: OsString| match arg.to_str() {
        Some("--colour") => "--color".into(),
        Some(text) => {
            text.strip_prefix("--colour=").map_or_else(|| arg.clone(), |mode| format!("--color={mode}").into())
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
