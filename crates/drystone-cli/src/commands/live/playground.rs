//! `drystone live playground`: a private Slurm on this machine, with jobs, to try things on.

use crate::args::PlaygroundArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::message;
use crate::output::number::format_plural;
use drystone::generate::{self, Params, WorkloadLength};
use drystone_live::cluster::slurm::install::Installation;
use drystone_live::state::Home;
use drystone_live::tracker::DaemonMode;
use drystone_testbed::{ClusterOptions, PrivateSlurm};
use nix::unistd::{Gid, Uid, setgid, setuid};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval of checks for a stop signal.
const NAP: Duration = Duration::from_millis(100);
/// Jobs of the model run for hours; here they run for seconds.
const FASTER: i64 = 600;
/// They come as fast as makes the machine this busy.
const LOAD: f64 = 0.95;
/// The longest run time, in seconds.
const LONGEST: i64 = 20;

pub(super) fn run_playground(args: &PlaygroundArgs) -> CommandOutcome {
    let stop = interrupt::stop_in_order();
    drop_root()?;
    let dir =
        std::path::absolute(&args.dir).map_err(|e| CommandFailure::write_error(&args.dir.display().to_string(), &e))?;
    let home = Home::new(dir.join("state"), dir.join("run"));
    let is_own = !dir.exists();
    std::fs::create_dir_all(home.run_folder())
        .map_err(|e| CommandFailure::write_error(&dir.display().to_string(), &e))?;
    let partitions = ["main".to_string()];
    let policy = String::new();
    let installation = Installation {
        home: &home,
        user: ("", Uid::effective().as_raw()),
        program: Path::new("drystone"),
        policy: &policy,
        mode: DaemonMode::Drive,
        partitions: &partitions,
        conf: None,
        commands: None,
    };
    let options = ClusterOptions {
        nodes: args.nodes,
        cpus: args.cpus,
        scheduler: args.scheduler.clone(),
        job_submit: Some(installation.render_hook()),
        munge: true,
        ..ClusterOptions::default()
    };
    let Some(cluster) = PrivateSlurm::start_cluster(&options) else {
        return Err(CommandFailure::usage_error(
            "Slurm is not installed here: apt-get install slurmctld slurmd slurm-client munge",
        ));
    };
    let link = dir.join("slurm.conf");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(cluster.conf_path(), &link)
        .map_err(|e| CommandFailure::write_error(&link.display().to_string(), &e))?;
    message::print_note(&format!(
        "a private Slurm of {} with {} each is up; in another terminal: export SLURM_CONF={} DRYSTONE_STATE={} DRYSTONE_RUN={}",
        format_plural(args.nodes.into(), "node"),
        format_plural(args.cpus.into(), "processor"),
        link.display(),
        home.state_folder().display(),
        home.run_folder().display()
    ));
    let outcome = submit_jobs(args, &cluster, stop).and_then(|()| wait_for_end(args, &cluster, stop));
    drop(cluster);
    let _ = std::fs::remove_file(&link);
    remove_playground(&home, is_own.then_some(&dir));
    outcome
}

/// Becomes the user who called `sudo`: a private cluster needs no right of root, and its jobs would
/// have all of them.
fn drop_root() -> Result<(), CommandFailure> {
    if !Uid::effective().is_root() {
        return Ok(());
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let (Some(uid), Some(gid)) = (number("SUDO_UID").filter(|&uid| uid > 0), number("SUDO_GID")) else {
        message::print_warning("the playground is root's, and so are its jobs: an ordinary user may start one as well");
        return Ok(());
    };
    let gid = Gid::from_raw(gid);
    // Slurm runs on Linux alone.
    #[cfg(target_os = "linux")]
    let groups_result = nix::unistd::setgroups(&[gid]);
    #[cfg(not(target_os = "linux"))]
    let others: nix::Result<()> = Ok(());
    let drop_result = groups_result.and_then(|()| setgid(gid)).and_then(|()| setuid(Uid::from_raw(uid)));
    drop_result
        .map_err(|e| CommandFailure::usage_error(format_args!("cannot become the user {uid} who called sudo: {e}")))
}

/// Removes what the playground has made. A journal that a daemon wrote stays, for a report.
fn remove_playground(home: &Home, dir: Option<&PathBuf>) {
    let _ = std::fs::remove_dir_all(home.run_folder());
    let _ = std::fs::remove_dir(home.state_folder());
    let _ = dir.map(std::fs::remove_dir);
}

/// Submits jobs as they come.
fn submit_jobs(args: &PlaygroundArgs, cluster: &PrivateSlurm, stop: &AtomicBool) -> Result<(), CommandFailure> {
    let procs = args.nodes * args.cpus;
    let params = Params { length: WorkloadLength::Jobs(args.jobs.max(1)), ..Params::new(procs, args.seed) };
    let workload = generate::generate_workload(&params)?;
    let (first, last) = workload.submit_range().map_or((0, 1), |(first, last)| (first.0, last.0.max(first.0 + 1)));
    let seconds = |run: i64| (run / FASTER).clamp(1, LONGEST);
    let jobs = workload.jobs().iter().zip(workload.truth());
    let area: f64 = jobs.map(|(job, truth)| f64::from(job.procs) * seconds(truth.run.0) as f64).sum();
    let scale = area / (f64::from(procs) * LOAD) / (last - first) as f64;
    let mut passed_time = Duration::ZERO;
    for (job, truth) in workload.jobs().iter().zip(workload.truth()).take(args.jobs as usize) {
        let due = Duration::from_secs_f64((job.submit.0 - first) as f64 * scale);
        while passed_time < due {
            if stop.load(Ordering::SeqCst) {
                return Ok(());
            }
            std::thread::sleep(NAP);
            passed_time += NAP;
        }
        let run = seconds(truth.run.0);
        let minutes = (job.estimate.0 / FASTER / 60).max(1);
        let (tasks, limit) = (job.procs.to_string(), minutes.to_string());
        let name = format!("u{}", job.user);
        let wrap = format!("sleep {run}");
        let output = PathBuf::from("/dev/null").display().to_string();
        let args = ["--parsable", "-Q", "-o", &output, "-n", &tasks, "-t", &limit, "-J", &name, "--wrap", &wrap];
        let submit_output = cluster
            .slurm_command("sbatch")
            .args(args)
            .output()
            .map_err(|e| CommandFailure::usage_error(format_args!("sbatch: {e}")))?;
        if !submit_output.status.success() {
            message::print_warning(String::from_utf8_lossy(&submit_output.stderr).trim());
        }
    }
    message::print_note("every job is submitted; Ctrl-C ends the cluster, --once when the last job has ended");
    Ok(())
}

/// Waits until it is cancelled, or every job is over.
fn wait_for_end(args: &PlaygroundArgs, cluster: &PrivateSlurm, stop: &AtomicBool) -> CommandOutcome {
    loop {
        for _ in 0..10 {
            if stop.load(Ordering::SeqCst) {
                return Ok(DONE);
            }
            std::thread::sleep(NAP);
        }
        let remaining_bytes =
            cluster.slurm_command("squeue").args(["-h", "-o", "%A"]).output().map(|output| output.stdout.len());
        if args.once && remaining_bytes.is_ok_and(|byte_count| byte_count == 0) {
            return Ok(DONE);
        }
    }
}
