//! `drystone live drive`.

use super::daemon::{config, guarded, judge, log, work};
use super::{home, slurm};
use crate::args::{Adopt, DriveArgs, OnStop};
use crate::exit::{DONE, Failure, Outcome};
use crate::output::message;
use drystone_live::cluster::Cluster;
use drystone_live::core::Core;
use drystone_live::daemon::wall;
use drystone_live::hand_back::{Options, hand_back};
use drystone_live::tracker::Mode;
use std::time::Duration;

/// A clock that differs so much makes a heartbeat a lie, in seconds; and what is said before.
const FAR: i64 = 30;
const NEAR: i64 = 2;

pub(super) fn drive(args: &DriveArgs) -> Outcome {
    let common = &args.daemon;
    log(common.log);
    let home = home(&common.home);
    let ranks = Core::reads_priorities(&common.policy);
    let mut cluster = slurm(&common.cluster, ranks).map_err(Failure::usage)?;
    let site = cluster.site().map_err(Failure::usage)?;
    let partitions = cluster.partitions().to_vec();
    Core::suits(&common.policy, cluster.can()).map_err(Failure::usage)?;
    let hook = std::fs::read_to_string(site.hook()).ok();
    let suspends = common.policy.scheduler().policy.needs().suspend;
    let mut remarks = site.for_drive(&partitions, hook.as_deref(), &home.heartbeat(), suspends, ranks);
    remarks.extend(site.about_wake_file(&home.wake()));
    judge(&remarks, args.force)?;
    check_clock(cluster.clock_ahead().map_err(Failure::usage)?)?;
    if args.check {
        message::note("this site allows it");
        return Ok(DONE);
    }
    let config = config(common, &site, &partitions, Mode::Drive, args.adopt == Adopt::All);
    let conf = site.conf();
    let mut daemon = None;
    let outcome = guarded(|| {
        let (worked, outcome) = work(common, config, cluster, &conf);
        daemon = worked;
        outcome
    });
    let Some(outcome) = outcome else {
        // A bug of this program: the cluster must not pay for it.
        give_back(args, &home);
        return Err(Failure::usage("the daemon failed and gave everything back; this is a bug, please report it"));
    };
    let told_to_stop = matches!(outcome, Ok(code) if code >= 128);
    let failed = outcome.is_err() && daemon.is_some();
    drop(daemon);
    if (told_to_stop && args.on_stop == OnStop::HandBack) || failed {
        give_back(args, &home);
    }
    outcome
}

/// Gives back without the daemon.
fn give_back(args: &DriveArgs, home: &drystone_live::state::Home) {
    let options = Options { patience: Duration::from_secs(10), ..Options::default() };
    let given = slurm(&args.daemon.cluster, false)
        .and_then(|mut cluster| cluster.site().map_err(|e| e.to_string()).map(|_| cluster))
        .and_then(|mut cluster| {
            hand_back(&mut cluster, home, &options, &mut std::thread::sleep).map_err(|e| e.to_string())
        });
    match given {
        Ok(given) => message::note(&format!("given back: {}", super::give_back::told(&given))),
        Err(error) => {
            message::error(&format!("nothing was given back: {error}; `drystone live hand-back` tries again"))
        }
    }
}

fn check_clock(ahead: i64) -> Result<(), Failure> {
    let here = wall();
    if ahead.abs() >= FAR {
        return Err(Failure::usage(format_args!(
            "slurmctld's clock is {ahead} s ahead of this one ({here}): its hook would take the heartbeat for stale; set the clocks"
        )));
    }
    if ahead.abs() >= NEAR {
        message::warning(&format!("slurmctld's clock is {ahead} s ahead of this one"));
    }
    Ok(())
}
