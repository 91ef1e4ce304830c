//! Options of `run` and `compare`: the workload, the measurements and the form of the output.

use super::values::{format_parser, parse_scheme, parse_selection, parse_span, parse_threshold, parse_window_rule};
use super::{CutArgs, FailureArgs, LogArgs, RealArgs, ShapeArgs, SourceArgs};
use crate::output::ReportFormat;
use clap::Args;
use drystone::log::clean::CleaningStudy;
use drystone::log::transform::WindowRule;
use drystone::metrics::{JobSelection, Scheme, Threshold};
use drystone::model::Span;
use std::path::PathBuf;

/// The options that `run` and `compare` share.
#[derive(Args, Clone, Debug)]
pub(crate) struct SimulationArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Jobs that count: all, tsafrir (without the first 1 % to end and those that end after the
    /// last submit), completed, submitted(FROM,UNTIL), window(WARM_UP,COOL_DOWN), in seconds of the
    /// simulation, after --load [default: the study's, else all].
    #[arg(long, value_name = "RULE", help_heading = "Measuring", value_parser = parse_selection)]
    pub(crate) trim: Option<JobSelection>,

    /// Also report by category; repeatable: sixteen, four, lawson, chiang, estimate,
    /// sixteen-estimate, user, group, queue, month, week, priority (of --priorities), resources
    /// (that jobs ask for), or classes with your own borders: classes(run=10m/1h/8h,procs=1/8/32).
    #[arg(long, value_name = "SCHEME", help_heading = "Measuring", value_parser = parse_scheme)]
    pub(crate) by: Vec<Scheme>,

    /// Also report excessive waits (jobs, total, mean): those beyond this many seconds or, with
    /// `compare`, beyond the longest wait under the baseline (baseline-max) or its 98th percentile
    /// (baseline-p98); repeatable.
    #[arg(long, value_name = "THRESHOLD", help_heading = "Measuring", value_parser = parse_threshold)]
    pub(crate) excess: Vec<Threshold>,

    /// Seed of everything random: the synthetic workload where no log is given, and the intervals
    /// of comparisons.
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Measuring")]
    pub(crate) seed: u64,

    /// Priorities and quotas of users, groups, queues and jobs, for policies that know them
    /// (slack, multiqueue); see `drystone explain --help` for an example.
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) priorities: Option<PathBuf>,

    /// Cost of suspending a job on this machine, for policies that suspend (ss, tss, is); see
    /// docs/suspension.md. Without it suspension costs nothing.
    #[arg(long, value_name = "FILE.toml", help_heading = "Policy")]
    pub(crate) platform: Option<PathBuf>,

    /// Exit with code 1 if any job started later than first promised. Only conservative and
    /// slack-based backfilling, multiple queues and the head of EASY's queue are bound by promises,
    /// and only with one pass per instant (not pass=event) where no job outlives its estimate
    /// (--overrun kill or exact).
    #[arg(long, help_heading = "Measuring")]
    pub(crate) require_promises: bool,

    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Output", value_parser = format_parser())]
    pub(crate) format: ReportFormat,

    /// Also write the results to a file, in the format of its ending (.html, .json, .csv, .md,
    /// .tex, .txt). An HTML page has verdict, plots, tables, settings and data in one file that
    /// needs no network.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,

    /// Also write every plot of the page into this directory, as SVG, PDF and PNG. Files of the
    /// same names are replaced.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) plots: Option<PathBuf>,

    /// Print every table. With --format json also write distributions, levels over time, classes
    /// and users under `details`, from which `drystone report` makes a page. A page (--report
    /// FILE.html) has them anyway.
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,

    /// Print how fast each simulation was, in every format. Differs from run to run.
    #[arg(long, help_heading = "Output")]
    pub(crate) timing: bool,

    /// Print only errors to stderr, and that no job counts.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,

    #[command(flatten)]
    pub(crate) failure: FailureArgs,

    #[command(flatten)]
    pub(crate) shape: ShapeArgs,

    /// Also simulate the jobs submitted within this time before and after --month, without counting
    /// them [default: none; with --as chiang2008 7d].
    #[arg(long, value_name = "TIME", value_parser = parse_span, requires = "month", conflicts_with = "slice",
          help_heading = "Cleaning")]
    pub(crate) around: Option<Span>,

    /// Simulate each calendar month of submits apart, from an empty machine, and trim each by
    /// itself.
    #[arg(long, help_heading = "Cleaning", conflicts_with_all = ["load", "month", "warm_start"])]
    pub(crate) each_month: bool,

    /// Simulate windows of the log apart, each from an empty machine: jobs=N or days=N with count=N
    /// (at equal distances), count=N,seed=N (at random) or from=A+B (jobs or days from 0); or sc17.
    ///
    /// Without count they lie one behind the other. Windows have no job in common; a study file
    /// takes those that overlap, such as RLScheduler's, and warm-up and cool-down (docs/paper.md).
    #[arg(long, value_name = "RULE", help_heading = "Cleaning", value_parser = parse_window_rule,
          conflicts_with_all = ["month", "slice", "warm_start", "each_month"])]
    pub(crate) windows: Option<WindowRule>,
}

impl SimulationArgs {
    /// Cleaning and part of the log, with what a study has for months: Chiang & Vasupongayya
    /// simulate a week before a month and the arrivals after it, at an offered load of 0.9 or above
    /// where they are.
    pub(crate) fn study_protocol(&self) -> (LogArgs, CutArgs) {
        let (mut log, mut cut) = (self.log.clone(), self.cut.clone());
        cut.windows.clone_from(&self.windows);
        // Talby & Feitelson simulated months apart, of jobs that were submitted and ended in the
        // same.
        log.same_month = log.study == Some(CleaningStudy::Talby1999) && (self.each_month || cut.month.is_some());
        let of_study = log.study == Some(CleaningStudy::Chiang2008) && cut.month.is_some() && cut.slice.is_none();
        cut.around = self.around.or_else(|| of_study.then_some(Span::WEEK));
        if of_study && log.load.is_none() && log.load_to.is_none() {
            (log.load_to, log.shrinks) = (Some(0.9), true);
        }
        (log, cut)
    }
}
