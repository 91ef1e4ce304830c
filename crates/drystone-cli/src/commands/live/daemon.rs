//! Shared parts of shadow and drive: the messages at the start, logs, the page, the end of a
//! daemon.

use super::OFF;
use crate::args::{DaemonArgs, LogForm};
use crate::exit::{CommandFailure, CommandOutcome, VIOLATION};
use crate::interrupt;
use crate::output::message;
use crate::output::number::format_plural;
use drystone_live::board::PublishedBoard;
use drystone_live::clock::{MachineClock, unix_seconds};
use drystone_live::cluster::slurm::{SlurmCli, SlurmSite};
use drystone_live::cluster::{DrivenSet, SiteRemark};
use drystone_live::daemon::{Daemon, DaemonConfig, DaemonEnd, LiveDesk, PointFaults};
use drystone_live::tracker::DaemonMode;
use drystone_live::web::{self, Listen};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(super) type SlurmDaemon = Daemon<SlurmCli, MachineClock>;

/// Sends logs to the standard error.
pub(super) fn start_logging(form: LogForm) {
    use tracing_subscriber::filter::LevelFilter;
    let level = if form == LogForm::Quiet { LevelFilter::WARN } else { LevelFilter::INFO };
    let builder = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    // Where one is set already it stays.
    let _ = match form {
        LogForm::Json => tracing::subscriber::set_global_default(builder.json().finish()),
        LogForm::Text | LogForm::Quiet => tracing::subscriber::set_global_default(builder.with_ansi(false).finish()),
    };
}

/// Says what is worth knowing of a site; an error where something forbids to go on.
pub(super) fn judge_site(remarks: &[SiteRemark], force: bool) -> Result<(), CommandFailure> {
    let is_untested = |remark: &&SiteRemark| remark.change.starts_with("--force");
    let (blockers, warnings): (Vec<&SiteRemark>, Vec<&SiteRemark>) =
        remarks.iter().partition(|remark| remark.forbids && !(force && is_untested(remark)));
    warnings.iter().for_each(|remark| message::print_warning(&remark.to_string()));
    if blockers.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = blockers.iter().map(|remark| format!("  - {remark}")).collect();
    Err(CommandFailure::usage_error(format_args!("this site does not allow it yet:\n{}", lines.join("\n"))))
}

pub(super) fn daemon_config(
    args: &DaemonArgs,
    site: &SlurmSite,
    sets: Vec<DrivenSet>,
    mode: DaemonMode,
    adopt_old: bool,
) -> DaemonConfig {
    let host = nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    DaemonConfig {
        home: super::find_home(&args.home),
        mode,
        policy: args.policy.clone(),
        sets,
        adopt_old,
        by_count: args.by_count,
        comments: false,
        cluster: site.cluster_name().to_string(),
        instance: format!("{host}/{}/{}", std::process::id(), unix_seconds()),
        waker: site.slurmctld_user(),
    }
}

fn serve_page(args: &DaemonArgs, board: &PublishedBoard) -> Result<(), CommandFailure> {
    let listen = match args.listen.clone() {
        Listen::Tcp { address, .. } => Listen::Tcp { address, public: args.public },
        other => other,
    };
    if let Some(address) = web::serve_board(&listen, board).map_err(CommandFailure::usage_error)? {
        message::print_note(&format!(
            "the page is at {address}, metrics at {}metrics",
            address.trim_end_matches('/').to_owned() + "/"
        ));
    }
    Ok(())
}

/// Begins a daemon, says what it found, and lets it work until it ends.
pub(super) fn start_daemon(
    args: &DaemonArgs,
    config: DaemonConfig,
    cluster: SlurmCli,
    conf: &std::path::Path,
) -> (Option<SlurmDaemon>, CommandOutcome) {
    let stop = interrupt::stop_in_order();
    let board = Arc::new(PublishedBoard::default());
    // What cannot be had is said before anything is taken over.
    if let Err(failure) = serve_page(args, &board) {
        return (None, Err(failure));
    }
    let home = config.home.clone();
    let mut daemon =
        match Daemon::begin_daemon(config, cluster, MachineClock::new(), PointFaults::from_environment(), board) {
            Ok(daemon) => daemon,
            Err(error) => return (None, Err(error.into())),
        };
    // Reports simulate the site's own scheduler by it.
    if let Err(error) = home.note_conf(conf) {
        message::print_warning(&format!(
            "{}: {error}; `live report` will not know the cluster's configuration",
            home.state_folder().display()
        ));
    }
    let outcome = run(&mut daemon, stop);
    (Some(daemon), outcome)
}

fn run(daemon: &mut SlurmDaemon, stop: &AtomicBool) -> CommandOutcome {
    let first = daemon.run_turn()?;
    announce_daemon(daemon);
    let end = match first {
        Some(end) => end,
        None => daemon.run(stop)?,
    };
    match end {
        DaemonEnd::Asked => Ok(interrupt::exit_code()),
        DaemonEnd::Fenced => {
            message::print_loud_warning("everything was given back, or another daemon drives: nothing more is ordered");
            Ok(OFF)
        }
        DaemonEnd::GaveBack(reason) => {
            message::print_error(&format!("{reason}; everything was given back"));
            Ok(OFF)
        }
        DaemonEnd::Violation(reason) => {
            let text = format!(
                "the policy broke its contract: {reason}; everything was given back; this is a bug of the policy"
            );
            Err(CommandFailure::Message { code: VIOLATION, text })
        }
    }
}

/// Says which partitions are scheduled together, where there are several sets of nodes.
pub(super) fn tell_sets(sets: &[DrivenSet]) {
    if sets.len() < 2 {
        return;
    }
    for set in sets {
        message::print_note(&format!(
            "partition {}: {}, scheduled by themselves",
            set.name(),
            format_plural(set.nodes.len() as u64, "node")
        ));
    }
}

fn announce_daemon(daemon: &SlurmDaemon) {
    for desk in daemon.desks() {
        let name = if daemon.desks().len() > 1 { format!("{}: ", desk.driven_set().name()) } else { String::new() };
        say_of(desk, &name);
    }
    let tracker = daemon.first_core().tracker();
    let are_counted = tracker.settings().counts;
    let devices = if are_counted { "licences or devices that are not counted" } else { "licences, GPUs" };
    let on_nodes = tracker.settings().on_nodes;
    let features = if on_nodes { "node features with a count" } else { "node features" };
    message::print_note(&format!(
        "left to the cluster whenever they come: jobs that ask for {devices}, {features} or a reservation, of several \
         components or partitions; limits of QOS and accounts are met by trying, holding again and trying later"
    ));
    message::print_note(if on_nodes {
        "the policy chooses the nodes of jobs, and keeps nodes for jobs that wait"
    } else {
        "the policy counts processors, and Slurm chooses the nodes of jobs"
    });
    let licences = tracker.layout().licences();
    if are_counted && !licences.is_empty() {
        let list: Vec<String> = licences.iter().map(|(name, total)| format!("{total} of {name}")).collect();
        message::print_note(&format!(
            "the policy counts licences: {}, less those that jobs of others hold",
            list.join(", ")
        ));
    }
    let memory: Option<u64> = daemon.desks().iter().map(|desk| desk.core().tracker().layout().total_memory()).sum();
    match (memory, are_counted) {
        (Some(mb), true) => {
            let scope = if on_nodes { "on each node" } else { "in all" };
            message::print_note(&format!("the policy counts {mb} MB of memory, {scope}, and devices of nodes"));
        }
        (Some(_), false) => message::print_warning(
            "nodes run out of memory here, and this policy counts processors only: jobs that find no memory are held back and tried \
             again; `easy` and `conservative` count memory",
        ),
        (None, _) => {}
    }
}

/// Says what it has found of one set of nodes.
fn say_of(desk: &LiveDesk, name: &str) {
    let (session, tracker) = (desk.core().session(), desk.core().tracker());
    message::print_note(&format!(
        "{name}{} on {}; jobs: {} running, {} waiting, {} held back, {} suspended",
        format_plural(u64::from(tracker.layout().procs()), "processor"),
        format_plural(tracker.layout().len() as u64, "node"),
        session.running_count(),
        session.waiting_count(),
        session.held_count(),
        session.suspended_count()
    ));
    for (reason, count) in desk.left_out() {
        message::print_note(&format!("{name}left to the cluster: {count} {reason}"));
    }
}

/// Works with something that may panic: whatever that was, it must not keep a cluster.
pub(super) fn guard_panics<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
