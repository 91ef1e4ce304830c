//! `drystone live drive`.

use super::daemon::{daemon_config, guard_panics, judge_site, start_daemon, start_logging, tell_sets};
use super::{OFF, find_home, reach_cluster, reach_slurm};
use crate::args::{Adopt, DriveArgs, OnStop};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::message;
use crate::output::number::format_plural;
use drystone_live::clock::unix_seconds;
use drystone_live::cluster::Cluster;
use drystone_live::core::Core;
use drystone_live::daemon::DaemonConfig;
use drystone_live::hand_back::{HandBackOptions, hand_back};
use drystone_live::state::{Beat, Home};
use drystone_live::tracker::DaemonMode;
use std::time::Duration;

/// A clock that differs so much makes a heartbeat a lie, in seconds; and what is said before.
const FAR: i64 = 30;
const NEAR: i64 = 2;
/// Times that a daemon drives again by itself, and where it counts them.
const RE_ARMS: u32 = 3;
const RE_ARMED: &str = "DRYSTONE_RE_ARMED";
/// Time after the hand-back before it does.
const CALM: Duration = Duration::from_secs(30);

pub(super) fn run_drive(args: &DriveArgs) -> CommandOutcome {
    let common = &args.daemon;
    start_logging(common.log);
    let home = find_home(&common.home);
    let ranks = Core::reads_priorities(&common.policy);
    let mut cluster = reach_slurm(&common.policy, &common.cluster, args.shrink)?;
    let site = cluster.read_site().map_err(CommandFailure::usage_error)?;
    let partitions = cluster.partitions().to_vec();
    Core::check_policy(&common.policy, cluster.capabilities()).map_err(CommandFailure::usage_error)?;
    let hook = std::fs::read_to_string(site.hook_path()).ok();
    let suspends = common.policy.build_scheduler().policy.needed_abilities().suspend;
    let mut remarks = site.for_drive(&partitions, hook.as_deref(), &home.heartbeat_path(), suspends, ranks);
    if args.shrink {
        remarks.extend(site.about_shrinking(&common.policy.canonical_text(), cluster.capabilities().shrink));
    }
    remarks.extend(site.about_wake_file(&home.wake_path()));
    remarks.extend(site.about_page(common.listen.is_for_all()));
    judge_site(&remarks, args.force)?;
    check_clock(cluster.clock_ahead().map_err(CommandFailure::usage_error)?)?;
    tell_sets(&cluster.driven_sets());
    if args.check {
        message::print_note("this site allows it");
        return Ok(DONE);
    }
    let config = daemon_config(common, &site, cluster.driven_sets(), DaemonMode::Drive, args.adopt == Adopt::All);
    let config = DaemonConfig { comments: args.comments, ..config };
    let conf = site.conf_path();
    let mut daemon = None;
    let outcome = guard_panics(|| {
        let (started_daemon, outcome) = start_daemon(common, config, cluster, &conf);
        daemon = started_daemon;
        outcome
    });
    let Some(outcome) = outcome else {
        // A bug of this program: the cluster must not pay for it.
        give_back(args, &home);
        return Err(CommandFailure::usage_error(
            "the daemon failed and gave everything back; this is a bug, please report it",
        ));
    };
    let told_to_stop = matches!(outcome, Ok(code) if code >= 128);
    let has_failed = outcome.is_err() && daemon.is_some();
    drop(daemon);
    if args.re_arm && matches!(outcome, Ok(OFF)) {
        re_arm(&home)?;
    }
    if (told_to_stop && args.on_stop == OnStop::HandBack) || has_failed {
        give_back(args, &home);
    }
    outcome
}

/// Drives again, as a new process with the same arguments, where a timer gave the cluster back
/// because nothing beat: slurmctld was silent, and answers again. Returns where that is not so, or
/// when it has happened too often.
fn re_arm(home: &Home) -> Result<(), CommandFailure> {
    use std::os::unix::process::CommandExt;
    let times: u32 = std::env::var(RE_ARMED).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    if !home.timers_mark().exists() || Beat::read_beat(&home.heartbeat_path()) != Beat::Off {
        return Ok(());
    }
    if times >= RE_ARMS {
        message::print_error(&format!(
            "given back by the timer {}: not driving again",
            format_plural(times.into(), "time")
        ));
        return Ok(());
    }
    let pause = CALM.as_secs();
    message::print_loud_warning(&format!(
        "the timer gave everything back while nothing beat; driving again in {pause} s"
    ));
    let stop = crate::interrupt::stop_in_order();
    let mut remaining_calm = CALM;
    while !remaining_calm.is_zero() {
        if stop.load(std::sync::atomic::Ordering::SeqCst) {
            return Ok(());
        }
        let nap = remaining_calm.min(Duration::from_millis(500));
        std::thread::sleep(nap);
        remaining_calm -= nap;
    }
    let _ = std::fs::remove_file(home.timers_mark());
    let program = std::env::current_exe().map_err(CommandFailure::usage_error)?;
    let mut command = std::process::Command::new(program);
    command.args(std::env::args_os().skip(1)).env(RE_ARMED, (times + 1).to_string());
    Err(CommandFailure::usage_error(format_args!("cannot drive again: {}", command.exec())))
}

/// Gives back without the daemon.
fn give_back(args: &DriveArgs, home: &Home) {
    let options = HandBackOptions { patience: Duration::from_secs(10), ..HandBackOptions::default() };
    let summary = reach_cluster(&args.daemon.cluster, false)
        .and_then(|mut cluster| {
            let site = cluster.read_site().map_err(|e| e.to_string())?;
            cluster.look_at_all(&site);
            Ok(cluster)
        })
        .and_then(|mut cluster| {
            hand_back(&mut cluster, home, &options, &mut std::thread::sleep).map_err(|e| e.to_string())
        });
    match summary {
        Ok(outcome) => message::print_note(&format!("given back: {}", super::give_back::describe_hand_back(&outcome))),
        Err(error) => {
            message::print_error(&format!("nothing was given back: {error}; `drystone live hand-back` tries again"))
        }
    }
}

fn check_clock(ahead: i64) -> Result<(), CommandFailure> {
    let wall_time = unix_seconds();
    if ahead.abs() >= FAR {
        return Err(CommandFailure::usage_error(format_args!(
            "slurmctld's clock is {ahead} s ahead of this one ({wall_time}): its hook would take the heartbeat for stale; set the clocks"
        )));
    }
    if ahead.abs() >= NEAR {
        message::print_warning(&format!("slurmctld's clock is {ahead} s ahead of this one"));
    }
    Ok(())
}
