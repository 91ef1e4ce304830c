//! `drystone live shadow`.

use super::daemon::{daemon_config, judge_site, start_daemon, start_logging, tell_sets};
use super::{find_home, reach_slurm};
use crate::args::ShadowArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::message;
use crate::output::number::format_plural;
use drystone_live::cluster::Cluster;
use drystone_live::core::Core;
use drystone_live::journal;
use drystone_live::state::Home;
use drystone_live::tracker::DaemonMode;

pub(super) fn run_shadow(args: &ShadowArgs) -> CommandOutcome {
    let common = &args.daemon;
    start_logging(common.log);
    if let Some(from) = &args.from {
        return shadow_recording(args, &Home::new(from, from.join("run")));
    }
    let mut cluster = reach_slurm(&common.policy, &common.cluster, true)?;
    let site = cluster.read_site().map_err(CommandFailure::usage_error)?;
    let partitions = cluster.partitions().to_vec();
    Core::check_policy(&common.policy, cluster.capabilities()).map_err(CommandFailure::usage_error)?;
    let mut remarks = site.for_shadow(&partitions);
    remarks.extend(site.about_page(common.listen.is_for_all()));
    judge_site(&remarks, false)?;
    let config = daemon_config(common, &site, cluster.driven_sets(), DaemonMode::Shadow, true);
    tell_sets(&config.sets);
    message::print_note(&format!(
        "the shadow touches nothing; its journal is in {}",
        find_home(&common.home).state_folder().display()
    ));
    let (_daemon, outcome) = start_daemon(common, config, cluster, &site.conf_path());
    outcome
}

/// Goes over a recording.
fn shadow_recording(args: &ShadowArgs, home: &Home) -> CommandOutcome {
    for (set, folder) in home.list_journals() {
        let name = set.map_or_else(String::new, |set| format!("{set}: "));
        let comparison = journal::shadow_journal(&folder, &args.daemon.policy, args.daemon.by_count)?;
        message::print_note(&format!(
            "{name}{}; {} would have started {} before the cluster did, or when it did, {:.0} s before on average",
            format_plural(comparison.looks as u64, "look"),
            args.daemon.policy.canonical_text(),
            format_plural(comparison.earlier as u64, "job"),
            comparison.mean_earlier
        ));
    }
    Ok(DONE)
}
