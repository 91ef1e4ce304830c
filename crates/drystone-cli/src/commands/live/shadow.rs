//! `drystone live shadow`.

use super::daemon::{config, judge, log, work};
use super::{home, slurm};
use crate::args::ShadowArgs;
use crate::exit::{DONE, Failure, Outcome};
use crate::output::message;
use drystone_live::cluster::Cluster;
use drystone_live::core::Core;
use drystone_live::journal;
use drystone_live::state::Home;
use drystone_live::tracker::Mode;

pub(super) fn shadow(args: &ShadowArgs) -> Outcome {
    let common = &args.daemon;
    log(common.log);
    if let Some(from) = &args.from {
        return recorded(args, &Home::new(from, from.join("run")));
    }
    let mut cluster = slurm(&common.cluster, Core::reads_priorities(&common.policy)).map_err(Failure::usage)?;
    let site = cluster.site().map_err(Failure::usage)?;
    let partitions = cluster.partitions().to_vec();
    Core::suits(&common.policy, cluster.can()).map_err(Failure::usage)?;
    judge(&site.for_shadow(&partitions), false)?;
    let config = config(common, &site, &partitions, Mode::Shadow, true);
    message::note(&format!("the shadow touches nothing; its journal is in {}", home(&common.home).journal().display()));
    let (_daemon, outcome) = work(common, config, cluster, &site.conf());
    outcome
}

/// Goes over a recording.
fn recorded(args: &ShadowArgs, home: &Home) -> Outcome {
    let found = journal::shadow(&home.journal(), &args.daemon.policy)?;
    message::note(&format!(
        "{} looks; {} would have started {} jobs before the cluster did, or when it did, {:.0} s before on average",
        found.looks,
        args.daemon.policy.canonical(),
        found.earlier,
        found.mean_earlier
    ));
    Ok(DONE)
}
