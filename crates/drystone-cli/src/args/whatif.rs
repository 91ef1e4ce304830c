//! `drystone whatif`.

use super::OutputArgs;
use super::{CutArgs, LogArgs, RealArgs, SourceArgs};
use crate::exit::CODES;
use clap::{Args, ValueEnum};
use drystone::policy::PolicySpec;
use drystone_whatif::{ChangeList, SiteChange, change_words};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drystone whatif site/ --nodes gpu:+8
  drystone whatif site/ --nodes gpu:+2,+4,+8,+16 --report nodes.html
  drystone whatif site/ --limit-max 24h --split
  drystone whatif site/ --limits x0.5 --limits 'p90 of user'
  drystone whatif site/ --load 1.2 --maintenance 2026-12-03T08:00/10h
  drystone whatif site/ --partition-border 'small: nodes<=4 else large'
  drystone whatif LOG.swf.gz --policy easy --procs-change +64
  drystone whatif LOG.swf.gz --change 'nodes +8; load 1.2' --format json
  drystone whatif --nodes +32   # the built-in example

Options of different kinds are changes that are made together. An option that is given several times, or with several values, \
    makes alternatives: each is simulated by itself, beside the others. --change takes a whole alternative as a text.

Before and after are both simulated, from the same jobs and the same clocks. The interval is that of the difference over the same \
    jobs, from sums per week. Results do not depend on the number of threads.";

/// Arguments of `drystone whatif`.
#[derive(Args, Clone, Debug)]
#[command(after_help = CODES, after_long_help = format!("{EXAMPLES}\n\n{}\n\n{CODES}", change_help()))]
pub(crate) struct WhatifArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Nodes more or fewer of a partition or pool, such as gpu:+8; several values make a curve:
    /// gpu:+2,+4,+8.
    #[arg(long, value_name = "[PLACE:]N,...", allow_hyphen_values = true, value_parser = parse_nodes, help_heading = "Changes")]
    pub(crate) nodes: Vec<Several>,

    /// Processors more or fewer of a log's machine, such as +64 or +10%.
    #[arg(long, value_name = "N,...", allow_hyphen_values = true, value_parser = parse_procs, help_heading = "Changes")]
    pub(crate) procs_change: Vec<Several>,

    /// Memory of each node of a partition or pool, such as gpu:+128G, 512G or +50%.
    #[arg(long, value_name = "[PLACE:]AMOUNT,...", allow_hyphen_values = true, value_parser = parse_memory, help_heading = "Changes")]
    pub(crate) memory: Vec<Several>,

    /// Longest limit of jobs, such as 24h, 2-00:00:00 or gpu:24h; longer jobs are refused unless
    /// --split.
    #[arg(long, value_name = "[PARTITION:]TIME", help_heading = "Changes")]
    pub(crate) limit_max: Vec<String>,

    /// With --limit-max: split longer jobs into pieces (checkpoint). Each is submitted when the one
    /// before it has ended, and after the first loses this time to its restart [default: 0].
    #[arg(long, value_name = "OVERHEAD", num_args = 0..=1, default_missing_value = "", requires = "limit_max",
          help_heading = "Changes")]
    pub(crate) split: Option<String>,

    /// Limits that users give: x0.5, 'p90 of user' or exact.
    #[arg(long, value_name = "RULE", value_parser = |text: &str| parse_change("limits", text), help_heading = "Changes")]
    pub(crate) limits: Vec<SiteChange>,

    /// Treatment of --load: submit times are compressed, or days of users are drawn again.
    #[arg(long, value_name = "HOW", default_value = "compressed", help_heading = "Changes")]
    pub(crate) arrivals: ArrivalsArg,

    /// Border between two partitions, such as 'small: nodes<=4 else large'; also procs and limit.
    #[arg(long, value_name = "BORDER", value_parser = |text: &str| parse_change("border", text), help_heading = "Changes")]
    pub(crate) partition_border: Vec<SiteChange>,

    /// Partition of a higher tier on the same nodes for jobs with limits up to this.
    #[arg(long, value_name = "TIME", value_parser = |text: &str| parse_change("short-queue", text), help_heading = "Changes")]
    pub(crate) short_queue: Vec<SiteChange>,

    /// Limits of a QOS, such as 'normal: MaxJobsPU=10 GrpTRES=cpu=64'.
    #[arg(long, value_name = "QOS: LIMITS", value_parser = |text: &str| parse_change("qos", text), help_heading = "Changes")]
    pub(crate) qos_limit: Vec<SiteChange>,

    /// Limits of an account, such as 'physics: GrpTRES=gres/gpu=16'.
    #[arg(long, value_name = "ACCOUNT: LIMITS", value_parser = |text: &str| parse_change("account", text), help_heading = "Changes")]
    pub(crate) account_limit: Vec<SiteChange>,

    /// Maintenance of all nodes, a partition or nodes by name, announced two weeks before:
    /// '2026-12-03T08:00/10h of c[041-048]'.
    #[arg(long, value_name = "BEGIN/LENGTH", value_parser = |text: &str| parse_change("maintenance", text), help_heading = "Changes")]
    pub(crate) maintenance: Vec<SiteChange>,

    /// Reservation of so many nodes, which other jobs do without: '2026-12-03T08:00/10h 16 of gpu'.
    #[arg(long, value_name = "BEGIN/LENGTH N", value_parser = |text: &str| parse_change("reservation", text), help_heading = "Changes")]
    pub(crate) reservation: Vec<SiteChange>,

    /// User, account or QOS without whose jobs is simulated: user:ada, account:physics, qos:debug.
    #[arg(long, value_name = "KIND:NAME", value_parser = |text: &str| parse_change("remove", text), help_heading = "Changes")]
    pub(crate) remove: Vec<SiteChange>,

    /// Whole nodes for each job, or nodes that jobs share.
    #[arg(long, value_name = "whole|shared", value_parser = |text: &str| parse_change("sharing", text), help_heading = "Changes")]
    pub(crate) sharing: Vec<SiteChange>,

    /// Alternative as a text: changes with `;` between them, such as 'nodes gpu:+8; load 1.2',
    /// 'drain gpu from 2026-12-03T08:00' or 'nodes c[041-060] from 2026-12-03'; repeatable.
    #[arg(long, value_name = "TEXT", value_parser = str::parse::<ChangeList>, help_heading = "Changes")]
    pub(crate) change: Vec<ChangeList>,

    /// Policy before and after [default: the site's own Slurm where there is a slurm.conf, else
    /// easy].
    #[arg(long, short, value_name = "SPEC", value_parser = super::values::parse_policy)]
    pub(crate) policy: Option<PolicySpec>,

    /// The site's slurm.conf, for a log [default: the site's own].
    #[arg(long, value_name = "FILE", help_heading = "Slurm")]
    pub(crate) slurm: Option<PathBuf>,

    /// Processors of each node of a log's machine, where there is no slurm.conf.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096), conflicts_with = "slurm",
          help_heading = "Slurm")]
    pub(crate) cpus: u32,

    /// Associations and QOS: tables of sacctmgr -P, a sacctmgr dump, or commands of sacctmgr.
    #[arg(long, value_name = "FILE", help_heading = "Slurm")]
    pub(crate) accounts: Option<PathBuf>,

    /// Probability that an interval covers the true change.
    #[arg(long, value_name = "P", default_value_t = 0.95, value_parser = super::values::parse_probability)]
    pub(crate) confidence: f64,

    /// Stop after this time, such as 60s or 5min, and show the alternatives that are done.
    #[arg(long, value_name = "TIME", value_parser = super::values::parse_time)]
    pub(crate) within: Option<Duration>,

    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Threads that simulate; results do not depend on it
    /// [default: as many as there are processors].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,

    #[command(flatten)]
    pub(crate) output: OutputArgs<true>,

    #[command(flatten)]
    pub(crate) log: LogArgs,

    #[command(flatten)]
    pub(crate) cut: CutArgs,

    #[command(flatten)]
    pub(crate) real: RealArgs,
}

/// Ways in which jobs come to arrive at another load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ArrivalsArg {
    /// Submit times are divided by the factor.
    Compressed,
    /// Days of users are drawn: some are repeated in other weeks, or left out.
    Resampled,
}

/// Changes that are alternatives to each other.
#[derive(Clone, Debug)]
pub(crate) struct Several(pub(crate) Vec<SiteChange>);

/// The sentence of the help on the texts of --change.
fn change_help() -> String {
    let words: Vec<&str> = change_words().collect();
    format!("A change begins with one of {}; docs/whatif.md has a text of each.", words.join(", "))
}

fn parse_change(word: &str, text: &str) -> Result<SiteChange, String> {
    SiteChange::of_option(word, text).map_err(|error| error.to_string())
}

/// Values with commas between them, the place of the first for all.
fn parse_several(word: &str, text: &str) -> Result<Several, String> {
    let (place, values) = match text.rsplit_once(':') {
        Some((place, values)) => (format!("{place}:"), values),
        None => (String::new(), text),
    };
    let changes = values.split(',').map(|value| parse_change(word, &format!("{place}{}", value.trim())));
    Ok(Several(changes.collect::<Result<_, _>>()?))
}

fn parse_nodes(text: &str) -> Result<Several, String> {
    parse_several("nodes", text)
}

fn parse_procs(text: &str) -> Result<Several, String> {
    parse_several("procs", text)
}

fn parse_memory(text: &str) -> Result<Several, String> {
    parse_several("memory", text)
}

impl WhatifArgs {
    /// The alternatives: every choice of one value of each option that is given, then those of
    /// `--change`.
    pub(crate) fn list_alternatives(&self) -> Result<Vec<ChangeList>, String> {
        let mut axes: Vec<Vec<SiteChange>> = Vec::new();
        let flat = |several: &[Several]| several.iter().flat_map(|several| several.0.clone()).collect::<Vec<_>>();
        axes.push(flat(&self.nodes));
        axes.push(flat(&self.procs_change));
        axes.push(flat(&self.memory));
        let longer = match self.split.as_deref() {
            None => "refuse".to_string(),
            Some(overhead) => format!("split {overhead}"),
        };
        let limit = |text: &String| parse_change("limit-max", &format!("{text} {longer}"));
        axes.push(self.limit_max.iter().map(limit).collect::<Result<_, _>>()?);
        axes.push(self.limits.clone());
        let suffix = if self.arrivals == ArrivalsArg::Resampled { " resampled" } else { "" };
        let load = self.log.load.iter().map(|factor| parse_change("load", &format!("{factor}{suffix}")));
        axes.push(load.collect::<Result<_, _>>()?);
        for axis in [&self.partition_border, &self.short_queue, &self.qos_limit, &self.account_limit] {
            axes.push(axis.clone());
        }
        for axis in [&self.maintenance, &self.reservation, &self.remove, &self.sharing] {
            axes.push(axis.clone());
        }
        let mut combinations = vec![ChangeList::default()];
        for axis in axes.into_iter().filter(|axis| !axis.is_empty()) {
            let with = |list: &ChangeList| {
                let list = list.clone();
                axis.iter()
                    .map(move |change| {
                        let mut list = list.clone();
                        list.0.push(change.clone());
                        list
                    })
                    .collect::<Vec<_>>()
            };
            combinations = combinations.iter().flat_map(with).collect();
        }
        combinations.retain(|list| !list.0.is_empty());
        combinations.extend(self.change.iter().cloned());
        Ok(combinations)
    }
}
