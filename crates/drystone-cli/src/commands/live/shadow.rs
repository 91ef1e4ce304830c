//! `drystone live shadow`.

use super::daemon::{config, judge, log, tell_sets, work};
use super::{home, reach_slurm};
use crate::args::ShadowArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::message;
use crate::output::number::plural;
use drystone_live::cluster::Cluster;
use drystone_live::core::Core;
use drystone_live::journal;
use drystone_live::state::Home;
use drystone_live::tracker::DaemonMode;

pub(super) fn shadow(args: &ShadowArgs) -> CommandOutcome {
    let common = &args.daemon;
    log(common.log);
    if let Some(from) = &args.from {
        return recorded(args, &Home::new(from, from.join("run")));
    }
    let mut cluster = reach_slurm(&common.policy, &common.cluster, true)?;
    let site = cluster.site().map_err(CommandFailure::usage)?;
    let partitions = cluster.partitions().to_vec();
    Core::suits(&common.policy, cluster.can()).map_err(CommandFailure::usage)?;
    let mut remarks = site.for_shadow(&partitions);
    remarks.extend(site.about_page(common.listen.is_for_all()));
    judge(&remarks, false)?;
    let config = config(common, &site, cluster.sets(), DaemonMode::Shadow, true);
    tell_sets(&config.sets);
    message::note(&format!("the shadow touches nothing; its journal is in {}", home(&common.home).state().display()));
    let (_daemon, outcome) = work(common, config, cluster, &site.conf());
    outcome
}

/// Goes over a recording.
fn recorded(args: &ShadowArgs, home: &Home) -> CommandOutcome {
    for (set, folder) in home.journals() {
        let name = set.map_or_else(String::new, |set| format!("{set}: "));
        let found = journal::shadow(&folder, &args.daemon.policy, args.daemon.by_count)?;
        message::note(&format!(
            "{name}{}; {} would have started {} before the cluster did, or when it did, {:.0} s before on average",
            plural(found.looks as u64, "look"),
            args.daemon.policy.canonical(),
            plural(found.earlier as u64, "job"),
            found.mean_earlier
        ));
    }
    Ok(DONE)
}
