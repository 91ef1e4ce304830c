//! `drystone live`: one file per subcommand.

mod daemon;
mod drive;
mod give_back;
mod install;
mod journal;
mod playground;
mod record;
mod report;
mod shadow;
mod status;

use crate::args::{ClusterArgs, HomeArgs, LiveCommand};
use crate::exit::{CommandFailure, CommandOutcome};
use drystone::policy::PolicySpec;
use drystone_live::LiveError;
use drystone_live::clock::unix_seconds;
use drystone_live::cluster::slurm::SlurmCli;
use drystone_live::core::Core;
use drystone_live::journal::JournalError;
use drystone_live::state::Home;
use std::path::PathBuf;

/// Everything was given back, or another daemon drives.
const OFF: u8 = crate::exit::FINDING;

pub(super) fn run_live(command: LiveCommand) -> CommandOutcome {
    match command {
        LiveCommand::Shadow(args) => shadow::run_shadow(&args),
        LiveCommand::Drive(args) => drive::run_drive(&args),
        LiveCommand::HandBack(args) => give_back::hand_back(&args),
        LiveCommand::Status(args) => status::run_status(&args),
        LiveCommand::Journal(args) => journal::run_journal(args.command),
        LiveCommand::Report(args) => report::run_report(&args),
        LiveCommand::Install(args) => install::run_install(&args),
        LiveCommand::Playground(args) => playground::run_playground(&args),
        LiveCommand::Record(args) => record::run_record(&args),
    }
}

fn find_home(args: &HomeArgs) -> Home {
    let noted_run = || Home::noted_run(&args.state);
    Home::new(&args.state, args.run.clone().or_else(noted_run).unwrap_or_else(|| args.state.join("run")))
}

/// Returns the journal of a set of nodes, or the only one.
fn one_journal(home: &Home, set: Option<&str>) -> Result<PathBuf, CommandFailure> {
    let mut journals = home.list_journals();
    let names = |journals: &[(Option<String>, PathBuf)]| {
        journals.iter().filter_map(|(name, _)| name.clone()).map(|name| format!("--set {name}")).collect::<Vec<_>>()
    };
    let known_names = names(&journals);
    journals.retain(|(name, _)| set.is_none() || name.as_deref() == set);
    match (journals.len(), set) {
        (1, _) => Ok(journals.remove(0).1),
        (0, Some(set)) if known_names.is_empty() => Err(CommandFailure::usage_error(format_args!(
            "there is no set of nodes {set}: the daemon had one set, whose journal is meant without --set"
        ))),
        (0, Some(set)) => Err(CommandFailure::usage_error(format_args!(
            "there is no set of nodes {set}; choose: {}",
            known_names.join(" or ")
        ))),
        _ => Err(CommandFailure::usage_error(format_args!(
            "there are several sets of nodes; choose: {}",
            known_names.join(" or ")
        ))),
    }
}

/// Reaches the cluster for a policy. `shrinks`: the policy may take nodes from running jobs.
///
/// # Errors
/// As [`reach_cluster`].
fn reach_slurm(policy: &PolicySpec, args: &ClusterArgs, shrinks: bool) -> Result<SlurmCli, CommandFailure> {
    let cluster = reach_cluster(args, Core::reads_priorities(policy)).map_err(CommandFailure::usage_error)?;
    Ok(cluster.with_allowances(shrinks && Core::may_shrink(policy)))
}

/// Reaches the cluster. `ranks`: the policy reads the site's priorities.
///
/// # Errors
/// The configuration that was named is not there: Slurm's commands would look for it for ten
/// seconds.
fn reach_cluster(args: &ClusterArgs, ranks: bool) -> Result<SlurmCli, String> {
    let conf_path = args.conf.clone().or_else(|| std::env::var_os("SLURM_CONF").map(Into::into));
    if let Some(conf) = conf_path.filter(|conf| !conf.exists()) {
        return Err(format!(
            "{}: there is no such file; --conf or SLURM_CONF names Slurm's configuration",
            conf.display()
        ));
    }
    Ok(SlurmCli::new(args.conf.clone(), args.partition.clone(), unix_seconds).with_priorities(ranks))
}

impl From<LiveError> for CommandFailure {
    fn from(error: LiveError) -> CommandFailure {
        CommandFailure::usage_error(error)
    }
}

impl From<JournalError> for CommandFailure {
    fn from(error: JournalError) -> CommandFailure {
        CommandFailure::usage_error(error)
    }
}
