//! `drystone import`.

use super::values::word_parser;
use crate::exit::CODES;
use clap::{Args, ValueEnum};
use drystone_site::{
    Arrive, Counting, Het, ImportEffort, ImportOptions, NodeRanges, Preempted, Size, Throttle, Wide, Withdraw,
};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  drystone import --example dump/                        # a made-up site, to try everything
  drystone import jobs.psv --machine slurm.conf --accounts assoc.txt --events events.psv --out site/
  drystone import jobs.psv --machine slurm.conf --machine gres.conf --out site/
  drystone import dump/ --out site/                      # a folder with all of these dumps
  drystone import 2026-01.psv.gz 2026-02.psv.gz --machine nodes.txt --out site/
  drystone import jobs.psv --timezone Europe/Berlin --out site/
  drystone import xdmod.log --columns xdmod --timezone UTC --out site/
  drystone import 21_04.parquet --columns fugaku --out site/      # public tables by name
  drystone import accounting/ --machine pbsnodes.txt --out site/  # PBS: server_priv/accounting
  sacct … | drystone import - --out site/
  drystone import jobs.psv --timezone UTC --anonymise --shift-time --out site/  # may be given away
  drystone workload convert site/ --out site.swf         # a log, and what it cannot hold
  drystone compare site/                      # everything that takes a log takes this
  drystone fidelity site/ --policy easy                  # simulated against recorded

`drystone import --ask` prints what to run at the site.";

/// Arguments of `drystone import`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub(crate) struct ImportArgs {
    /// Accounting: text or JSON of sacct, job completion records, records of PBS, Torque, LSF or
    /// Grid Engine, a log in Standard Workload Format; a table in Parquet; plain or compressed with
    /// gzip, zstd, xz or bzip2; folders of such files; - is the standard input. The format is
    /// detected from the first lines.
    #[arg(value_name = "FILE", required_unless_present_any = ["ask", "example"])]
    pub(crate) files: Vec<PathBuf>,

    /// Folder to make. Replaces an existing site, never another folder.
    #[arg(long, short, value_name = "DIR", required_unless_present_any = ["ask", "example"])]
    pub(crate) out: Option<PathBuf>,

    /// Print the commands to run at the site, and end.
    #[arg(long)]
    pub(crate) ask: bool,

    /// Write the accounting of a small made-up site into a folder, as those commands would, and
    /// end.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "out", "ask"])]
    pub(crate) example: Option<PathBuf>,

    /// Description of the machine: slurm.conf, or the output of scontrol -o show nodes, show
    /// partitions, show config, sinfo --json or pbsnodes -av; repeatable. Without one the machine
    /// is inferred from the jobs.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) machine: Vec<PathBuf>,

    /// Outages and reservations: the output of sacctmgr -P show event and show reservation, or
    /// scontrol -o show reservation; repeatable.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) events: Vec<PathBuf>,

    /// Associations and QOS, for fair share and limits: the output of sacctmgr -P show assoc and
    /// show qos, a sacctmgr dump, or commands of sacctmgr; repeatable.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) accounts: Vec<PathBuf>,

    /// Time zone of times that have none, by its IANA name: sacct prints the local time of the user
    /// that runs it.
    #[arg(long, value_name = "ZONE", help_heading = "Reading")]
    pub(crate) timezone: Option<String>,

    /// Format of times as for strftime, if it is none of the usual forms.
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) time_format: Option<String>,

    /// Columns of text or of a table, also beside a header: a list of sacct's names, with a hyphen
    /// for one to skip, or a table by name, such as m100, slurm-db, helios or htcondor;
    /// docs/accounting.md lists them.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, help_heading = "Reading")]
    pub(crate) columns: Option<String>,

    /// Column separator, if the header does not reveal it.
    #[arg(long, value_name = "TEXT", help_heading = "Reading")]
    pub(crate) delimiter: Option<String>,

    /// Only rows of this cluster.
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub(crate) cluster: Option<String>,

    /// Accept files that end in the middle of a record [default: an error].
    #[arg(long, help_heading = "Reading")]
    pub(crate) partial: bool,

    /// Arrival of a job: the time it became eligible, or the time of its submit.
    #[arg(long, value_name = "RULE", default_value = "eligible", help_heading = "From records to jobs", value_parser = word_parser(&Arrive::ALL, Arrive::name))]
    pub(crate) arrive: Arrive,

    /// Size of a job that ran: allocated, or requested.
    #[arg(long, value_name = "RULE", default_value = "allocated", help_heading = "From records to jobs", value_parser = word_parser(&Size::ALL, Size::name))]
    pub(crate) size: Size,

    /// Units of pools and jobs: of each pool nodes, GPUs or processors with dominant shares, by
    /// what its jobs hold; the same with dominant shares of GPUs as well; or processors, GPUs or
    /// whole nodes that jobs hold, in every pool.
    #[arg(long, value_name = "RULE", default_value = "auto", help_heading = "From records to jobs", value_parser = word_parser(&Counting::ALL, Counting::name))]
    pub(crate) count: Counting,

    /// Jobs that never ran: they wait, and leave when they left; or they are dropped.
    #[arg(long, value_name = "RULE", default_value = "leave", help_heading = "From records to jobs", value_parser = word_parser(&Withdraw::ALL, Withdraw::name))]
    pub(crate) withdraw: Withdraw,

    /// Arrays that run few tasks at once: inferred from starts and ends, only where a row says so,
    /// or not at all.
    #[arg(long, value_name = "RULE", default_value = "infer", help_heading = "From records to jobs", value_parser = word_parser(&Throttle::ALL, Throttle::name))]
    pub(crate) throttle: Throttle,

    /// Components of heterogeneous jobs: joined where they share a pool, or a job each.
    #[arg(long, value_name = "RULE", default_value = "join", help_heading = "From records to jobs", value_parser = word_parser(&Het::ALL, Het::name))]
    pub(crate) het: Het,

    /// Attempts that preemption ended: merged with the last one, or a job each.
    #[arg(long, value_name = "RULE", default_value = "merge", help_heading = "From records to jobs", value_parser = word_parser(&Preempted::ALL, Preempted::name))]
    pub(crate) preempted: Preempted,

    /// Jobs that need more than their pool ever had: dropped, or an error.
    #[arg(long, value_name = "RULE", default_value = "drop", help_heading = "From records to jobs", value_parser = word_parser(&Wide::ALL, Wide::name))]
    pub(crate) wide: Wide,

    /// Beginning of the window: a date or a time, also as Slurm's commands take it (now-30days; now
    /// is the end of the records), or seconds since 1970. Jobs that run or wait then are there at
    /// the beginning [default: found in the records].
    #[arg(long, value_name = "TIME", help_heading = "Window")]
    pub(crate) from: Option<String>,

    /// End of the window [default: the last event].
    #[arg(long, value_name = "TIME", help_heading = "Window")]
    pub(crate) until: Option<String>,

    /// Replace users, groups, accounts, nodes, reservations and qualities of service by keyed
    /// numbers, and drop names of jobs and files, reasons, comments and the description of the
    /// machine. Equal KEYs give equal numbers; without one it is random, and is not kept. Lists
    /// data that could still identify people.
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Anonymous")]
    pub(crate) anonymise: Option<String>,

    /// Also hide the names of partitions.
    #[arg(long, requires = "anonymise", help_heading = "Anonymous")]
    pub(crate) anonymise_partitions: bool,

    /// Also move all times by a secret number of weeks, the same for every job: hours and days of
    /// the week stay, in UTC.
    #[arg(long, requires = "anonymise", help_heading = "Anonymous")]
    pub(crate) shift_time: bool,

    /// Print every rule, the evidence about the machine and the gaps of a simulation.
    #[arg(long, help_heading = "Output")]
    pub(crate) details: bool,

    /// Format of the printed summary.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub(crate) format: ImportFormat,

    /// Print nothing but errors on the standard error.
    #[arg(long, short, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Also write a table of the sizes of jobs that asked for a range of nodes (sbatch -N 2-4), as
    /// moldable jobs for --shapes of run. Slurm's column SubmitLine says it (docs/shapes.md).
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    pub(crate) shapes: Option<PathBuf>,
}

/// Formats of the printed summary of an import.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ImportFormat {
    /// Lines to read.
    Text,
    /// Content of `site.json`.
    Json,
}

impl ImportArgs {
    pub(crate) fn import_options(&self) -> ImportOptions {
        ImportOptions {
            columns: self.columns.clone(),
            delimiter: self.delimiter.clone(),
            time_zone: self.timezone.clone(),
            time_format: self.time_format.clone(),
            cluster: self.cluster.clone(),
            machine: self.machine.clone(),
            events: self.events.clone(),
            accounts: self.accounts.clone(),
            partial: self.partial,
            arrive: self.arrive,
            size: self.size,
            count: self.count,
            withdraw: self.withdraw,
            throttle: self.throttle,
            het: self.het,
            preempted: self.preempted,
            wide: self.wide,
            from: self.from.clone(),
            until: self.until.clone(),
            node_ranges: self.shapes.is_some().then(NodeRanges::default),
            effort: ImportEffort::default(),
        }
    }
}
