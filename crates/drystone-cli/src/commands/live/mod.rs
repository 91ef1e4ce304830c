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
use drystone_live::clock::wall;
use drystone_live::cluster::slurm::SlurmCli;
use drystone_live::core::Core;
use drystone_live::journal::JournalError;
use drystone_live::state::Home;
use std::path::PathBuf;

/// Everything was given back, or another daemon drives.
const OFF: u8 = crate::exit::FINDING;

pub(super) fn live(command: LiveCommand) -> CommandOutcome {
    match command {
        LiveCommand::Shadow(args) => shadow::shadow(&args),
        LiveCommand::Drive(args) => drive::drive(&args),
        LiveCommand::HandBack(args) => give_back::hand_back(&args),
        LiveCommand::Status(args) => status::status(&args),
        LiveCommand::Journal(args) => journal::journal(args.command),
        LiveCommand::Report(args) => report::report(&args),
        LiveCommand::Install(args) => install::install(&args),
        LiveCommand::Playground(args) => playground::playground(&args),
        LiveCommand::Record(args) => record::record(&args),
    }
}

fn home(args: &HomeArgs) -> Home {
    let noted = || Home::noted_run(&args.state);
    Home::new(&args.state, args.run.clone().or_else(noted).unwrap_or_else(|| args.state.join("run")))
}

/// Returns the journal of a set of nodes, or the only one.
fn one_journal(home: &Home, set: Option<&str>) -> Result<PathBuf, CommandFailure> {
    let mut journals = home.journals();
    let names = |journals: &[(Option<String>, PathBuf)]| {
        journals.iter().filter_map(|(name, _)| name.clone()).map(|name| format!("--set {name}")).collect::<Vec<_>>()
    };
    let known = names(&journals);
    journals.retain(|(name, _)| set.is_none() || name.as_deref() == set);
    match (journals.len(), set) {
        (1, _) => Ok(journals.remove(0).1),
        (0, Some(set)) if known.is_empty() => Err(CommandFailure::usage(format_args!(
            "there is no set of nodes {set}: the daemon had one set, whose journal is meant without --set"
        ))),
        (0, Some(set)) => {
            Err(CommandFailure::usage(format_args!("there is no set of nodes {set}; choose: {}", known.join(" or "))))
        }
        _ => {
            Err(CommandFailure::usage(format_args!("there are several sets of nodes; choose: {}", known.join(" or "))))
        }
    }
}

/// Reaches the cluster for a policy. `shrinks`: the policy may take nodes from running jobs.
///
/// # Errors
/// As [`slurm`].
fn reach_slurm(policy: &PolicySpec, args: &ClusterArgs, shrinks: bool) -> Result<SlurmCli, CommandFailure> {
    let cluster = slurm(args, Core::reads_priorities(policy)).map_err(CommandFailure::usage)?;
    Ok(cluster.with_allowances(shrinks && Core::may_shrink(policy)))
}

/// Reaches the cluster. `ranks`: the policy reads the site's priorities.
///
/// # Errors
/// The configuration that was named is not there: Slurm's commands would look for it for ten
/// seconds.
fn slurm(args: &ClusterArgs, ranks: bool) -> Result<SlurmCli, String> {
    let named = args.conf.clone().or_else(|| std::env::var_os("SLURM_CONF").map(Into::into));
    if let Some(conf) = named.filter(|conf| !conf.exists()) {
        return Err(format!(
            "{}: there is no such file; --conf or SLURM_CONF names Slurm's configuration",
            conf.display()
        ));
    }
    Ok(SlurmCli::new(args.conf.clone(), args.partition.clone(), wall).with_priorities(ranks))
}

impl From<LiveError> for CommandFailure {
    fn from(error: LiveError) -> CommandFailure {
        CommandFailure::usage(error)
    }
}

impl From<JournalError> for CommandFailure {
    fn from(error: JournalError) -> CommandFailure {
        CommandFailure::usage(error)
    }
}
