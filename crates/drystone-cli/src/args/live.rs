//! `drystone live` and its subcommands.

use super::values;
use crate::output::ReportFormat;
use clap::{Args, Subcommand, ValueEnum};
use drystone::policy::PolicySpec;
use drystone_live::web::Listen;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  drystone live shadow --policy easy++                  # touches nothing; records its decisions
  drystone live report                                  # what it would have changed
  drystone live install hook --out /etc/slurm/job_submit.lua
  drystone live drive --policy easy++ --check           # what the site does not allow
  drystone live drive --policy easy++                   # takes over: every start is decided here
  drystone live status
  drystone live hand-back                               # gives everything back

Exit codes: 0 done; 1 everything was given back, or another daemon drives; 2 wrong usage, input or output, or the site does not allow it;\n\
3 a policy broke its contract, and everything was given back; 130 interrupted, 143 terminated, 129 hung up.";

/// Arguments of `drystone live`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LiveArgs {
    #[command(subcommand)]
    pub(crate) command: LiveCommand,
}

/// The subcommands of `drystone live`.
#[derive(Subcommand, Clone, Debug)]
pub(crate) enum LiveCommand {
    /// Watch a cluster and record the policy's decisions; touch nothing.
    Shadow(Box<ShadowArgs>),
    /// Take over a cluster: the policy starts every job.
    Drive(Box<DriveArgs>),
    /// Return all jobs to Slurm. Works without the daemon; safe to repeat.
    HandBack(HandBackArgs),
    /// Show the daemon's status.
    Status(LiveStatusArgs),
    /// Look at, replay and export the journal.
    Journal(JournalArgs),
    /// Compare the policy on the journal's jobs with the site's scheduler, with intervals.
    Report(LiveReportArgs),
    /// Print or write the files of an installation: hook, units, dashboard.
    Install(InstallArgs),
    /// Start a private Slurm on this machine, with jobs, to try all of this on.
    Playground(PlaygroundArgs),
    /// Record what the schedulers of a test cluster do, for `drystone reproduce slurm`.
    Record(RecordArgs),
}

/// Folders of a daemon.
#[derive(Args, Clone, Debug)]
pub(crate) struct HomeArgs {
    /// The folder of journal, ledger and lock.
    #[arg(long, value_name = "DIR", default_value = "/var/lib/drystone", env = "DRYSTONE_STATE")]
    pub(crate) state: PathBuf,

    /// Folder of the heartbeat and the wake file, which the hook knows [default: the last daemon's,
    /// else STATE/run].
    #[arg(long, value_name = "DIR", env = "DRYSTONE_RUN")]
    pub(crate) run: Option<PathBuf>,
}

/// The cluster.
#[derive(Args, Clone, Debug)]
pub(crate) struct ClusterArgs {
    /// Slurm's configuration [default: SLURM_CONF, else Slurm's own default].
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,

    /// Partitions whose jobs the policy starts; those with the same nodes are scheduled together,
    /// those with none in common by themselves; repeatable [default: the default partition].
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Vec<String>,
}

/// Options of both daemons.
#[derive(Args, Clone, Debug)]
pub(crate) struct DaemonArgs {
    /// The policy.
    #[arg(long, short, value_name = "POLICY", value_parser = values::parse_policy)]
    pub(crate) policy: PolicySpec,

    #[command(flatten)]
    pub(crate) home: HomeArgs,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,

    /// Let the policy count processors, and Slurm choose the nodes of jobs; without it, fcfs,
    /// greedy, easy and conservative choose nodes, and keep nodes for jobs that wait.
    #[arg(long)]
    pub(crate) by_count: bool,

    /// Address of the page, JSON and metrics: a port of loopback, ADDRESS:PORT, unix:FILE, or none.
    #[arg(long, value_name = "PLACE", default_value = "9797")]
    pub(crate) listen: Listen,

    /// Let other machines look, where --listen names an address that they reach.
    #[arg(long)]
    pub(crate) public: bool,

    /// Format of the log on the standard error.
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(crate) log: LogForm,
}

/// Formats of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum LogForm {
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
    /// Warnings and errors only, as text.
    Quiet,
}

/// Arguments of `drystone live shadow`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live shadow --policy easy++
  drystone live shadow --policy conservative --state ~/shadow --listen unix:/tmp/shadow.sock
  drystone live shadow --policy easy --from ~/shadow     # another, on what a shadow recorded")]
pub(crate) struct ShadowArgs {
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,

    /// Instead of a cluster, replay the records of the daemon in this state folder, and end.
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<PathBuf>,
}

/// Treatments of jobs that are pending when `drive` begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Adopt {
    /// They are held and started by the policy.
    All,
    /// The cluster starts them; the policy starts new ones.
    New,
}

/// Actions when `drive` stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum OnStop {
    /// Everything is given back.
    HandBack,
    /// Nothing: start again within a minute, or the hook lets jobs pass.
    Leave,
}

/// Arguments of `drystone live drive`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live drive --policy easy++ --check
  drystone live drive --policy 'easy(order=sjf,backfill=sjf)' --partition batch
  drystone live drive --policy ss --adopt new --log json")]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    pub(crate) daemon: DaemonArgs,

    /// Only list the obstacles in the site's configuration, each with the line to change.
    #[arg(long)]
    pub(crate) check: bool,

    /// Treatment of jobs that are pending already.
    #[arg(long, value_name = "WHICH", default_value = "all")]
    pub(crate) adopt: Adopt,

    /// Action when the daemon stops.
    #[arg(long, value_name = "WHAT", default_value = "hand-back")]
    pub(crate) on_stop: OnStop,

    /// Drive again where the timer gave everything back because slurmctld was silent; three times
    /// at most. Never after a hand-back by hand.
    #[arg(long)]
    pub(crate) re_arm: bool,

    /// Let a policy with `resize=shrink` take nodes from running jobs whose users allow it by
    /// `--comment=drystone:min-nodes=N`.
    #[arg(long)]
    pub(crate) shrink: bool,

    /// Write planned starts into the AdminComment of waiting jobs, at most every ten minutes a job.
    #[arg(long)]
    pub(crate) comments: bool,

    /// Drive a release of Slurm that was not tried.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Arguments of `drystone live hand-back`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live hand-back
  drystone live hand-back --if-silent 120                # from cron or a timer, each minute")]
pub(crate) struct HandBackArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,

    /// Only if there has been no heartbeat for this many seconds.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) if_silent: Option<u64>,

    /// Requeue suspended jobs that have no room, instead of resuming them beside others.
    #[arg(long)]
    pub(crate) requeue: bool,

    /// Time that suspended jobs wait for room before waiting jobs are released.
    #[arg(long, value_name = "TIME", value_parser = values::parse_time, default_value = "30s")]
    pub(crate) patience: Duration,

    /// Say nothing unless something was done or left.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Format of the printed result.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone live status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  drystone live status\n  drystone live status --format json")]
pub(crate) struct LiveStatusArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone live journal`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live journal list
  drystone live journal replay
  drystone live journal export --out site.swf.gz")]
pub(crate) struct JournalArgs {
    #[command(subcommand)]
    pub(crate) command: JournalCommand,
}

/// The subcommands of `drystone live journal`.
#[derive(Subcommand, Clone, Debug)]
pub(crate) enum JournalCommand {
    /// List the segments: when, under which policy, how large.
    List(JournalListArgs),
    /// Print decisions and orders, line by line.
    Show(JournalListArgs),
    /// Replay the recorded inputs and verify that the outputs are identical.
    Replay(JournalListArgs),
    /// Write the jobs as a log in Standard Workload Format.
    Export(JournalExportArgs),
}

/// Arguments of `drystone live journal list`, `show` and `replay`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone live journal replay --state /var/lib/drystone")]
pub(crate) struct JournalListArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// Arguments of `drystone live journal export`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  drystone live journal export --out site.swf.gz")]
pub(crate) struct JournalExportArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,

    /// Set of nodes, by its partitions, where the daemon drives several.
    #[arg(long, value_name = "PARTITIONS")]
    pub(crate) set: Option<String>,

    /// Output file: .swf, .swf.gz or .swf.zst; - is the standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,
}

/// Arguments of `drystone live report`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live report
  drystone live report --policy conservative --baseline slurm:slurm.conf --format json")]
pub(crate) struct LiveReportArgs {
    #[command(flatten)]
    pub(crate) home: HomeArgs,

    /// The policy [default: that of the journal].
    #[arg(long, short, value_name = "POLICY", value_parser = values::parse_policy)]
    pub(crate) policy: Option<PolicySpec>,

    /// Set of nodes, by its partitions, where the daemon drives several [default: each, as tables].
    #[arg(long, value_name = "PARTITIONS")]
    pub(crate) set: Option<String>,

    /// The model of the site's own scheduler: slurm:FILE simulates a slurm.conf, easy is a plain
    /// backfilling scheduler, fcfs is Slurm's builtin scheduler [default: the slurm.conf of the
    /// cluster that the daemon saw].
    #[arg(long, value_name = "POLICY", value_parser = values::parse_policy)]
    pub(crate) baseline: Option<PolicySpec>,

    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = values::format_parser())]
    pub(crate) format: ReportFormat,
}

/// The files that an installation needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum InstallPiece {
    /// job_submit.lua for slurmctld: jobs come in held while the daemon lives.
    Hook,
    /// The script of ends, for JobCompLoc.
    Wake,
    /// The systemd unit of the daemon.
    Unit,
    /// The systemd unit that gives the cluster back when the daemon is silent.
    HandBack,
    /// The timer of that unit.
    Timer,
    /// The timer as a line for cron.
    Cron,
    /// The run folder for tmpfiles.d, where it lies in a file system that a boot empties.
    Tmpfiles,
    /// A dashboard for Grafana.
    Dashboard,
    /// Lines for the message of the day: why jobs show JobHeldUser.
    Motd,
}

/// Arguments of `drystone live install`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live install hook --out /etc/slurm/job_submit.lua
  drystone live install hook --merge --out /etc/slurm/job_submit.lua   # beside the site's own
  drystone live install wake --out /etc/slurm/wake.sh
  drystone live install unit --policy easy++ --user drystone --out drystone-live.service
  drystone live install hand-back --out /etc/systemd/system/drystone-live-hand-back.service
  drystone live install timer --out /etc/systemd/system/drystone-live-hand-back.timer
  drystone live install tmpfiles --run /run/drystone --user drystone --out /etc/tmpfiles.d/drystone.conf
  drystone live install dashboard --out drystone.json
  drystone live install motd --out /etc/motd.d/drystone")]
pub(crate) struct InstallArgs {
    /// The file to print.
    pub(crate) piece: InstallPiece,

    #[command(flatten)]
    pub(crate) home: HomeArgs,

    /// Partitions that are driven; repeatable [default: all, which is right where there is one].
    #[arg(long, value_name = "NAME")]
    pub(crate) partition: Vec<String>,

    /// The policy of the unit.
    #[arg(long, short, value_name = "POLICY", default_value = "easy++", value_parser = values::parse_policy)]
    pub(crate) policy: PolicySpec,

    /// The unit only looks.
    #[arg(long)]
    pub(crate) shadow: bool,

    /// Slurm's configuration, which the units set as SLURM_CONF [default: SLURM_CONF, where it is
    /// set].
    #[arg(long, value_name = "FILE", env = "SLURM_CONF", hide_env = true)]
    pub(crate) conf: Option<PathBuf>,

    /// The daemon's user [default: this one].
    #[arg(long, value_name = "USER")]
    pub(crate) user: Option<String>,

    /// Output file; - is the standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) out: PathBuf,

    /// Keep a site's own job_submit.lua that is there: the hook calls it first. A copy stays beside
    /// it.
    #[arg(long)]
    pub(crate) merge: bool,
}

/// Arguments of `drystone live record`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live record --out recording                    # then submit jobs; ends when all have ended
  drystone live record --out recording --for 30m --conf /etc/slurm/slurm.conf

Needs a cluster without jobs, and the right to change slurmctld's debug flags and log level. Restores both at the end.")]
pub(crate) struct RecordArgs {
    /// Folder for the files; made if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Name of the recording: its files are NAME.conf, NAME.gres, NAME.accounts, NAME.rep1.csv,
    /// NAME.rep1.events.
    #[arg(long, value_name = "NAME", default_value = "site")]
    pub(crate) name: String,

    /// End after this time; without it, when all jobs have ended, or on a signal.
    #[arg(long = "for", value_name = "TIME", value_parser = values::parse_time)]
    pub(crate) time: Option<Duration>,

    /// Slurm's configuration [default: SLURM_CONF, else Slurm's own default].
    #[arg(long, value_name = "FILE")]
    pub(crate) conf: Option<PathBuf>,

    /// slurmctld's log [default: SlurmctldLogFile].
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
}

/// Arguments of `drystone live playground`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  drystone live playground --dir play &                  # then: export SLURM_CONF=play/slurm.conf
  drystone live playground --dir play --jobs 300 --seed 7")]
pub(crate) struct PlaygroundArgs {
    /// Folder for slurm.conf and the state of the playground; made if missing.
    #[arg(long, value_name = "DIR", default_value = "playground")]
    pub(crate) dir: PathBuf,

    /// Nodes.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) nodes: u32,

    /// Processors of each node. They are only claimed: jobs sleep.
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) cpus: u32,

    /// Jobs to submit, one after the other; they run for seconds.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) jobs: u32,

    /// Seed of the jobs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u32,

    /// Slurm's own scheduler: backfill or builtin.
    #[arg(long, value_name = "NAME", default_value = "backfill", value_parser = ["backfill", "builtin"])]
    pub(crate) scheduler: String,

    /// End when every job has ended, instead of on a signal.
    #[arg(long)]
    pub(crate) once: bool,
}
