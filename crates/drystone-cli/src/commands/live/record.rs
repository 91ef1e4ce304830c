//! `drystone live record`: a recording of a test cluster.

use crate::args::RecordArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::message;
use crate::output::number::format_plural;
use drystone_live::clock::{DaemonClock, MachineClock};
use drystone_live::cluster::slurm::record::ClusterRecorder;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval of looks at the jobs.
const PERIOD: Duration = Duration::from_secs(1);
/// Interval of checks for a stop signal.
const NAP: Duration = Duration::from_millis(100);
/// Looks in a row without a job that waits or runs, after which all have ended.
const QUIET: u32 = 5;

pub(super) fn run_record(args: &RecordArgs) -> CommandOutcome {
    let stop = interrupt::stop_in_order();
    let mut recorder =
        ClusterRecorder::begin_recording(args.conf.clone(), args.log.clone()).map_err(CommandFailure::usage_error)?;
    message::print_note("slurmctld logs what its schedulers do; submit jobs now, with limits and run times of minutes");
    let mut clock = MachineClock::new();
    let (begin, mut next, mut quiet) = (clock.steady_time(), clock.steady_time(), 0);
    loop {
        let (jobs, remaining_jobs) = recorder.record_look().map_err(CommandFailure::usage_error)?;
        quiet = if jobs > 0 && remaining_jobs == 0 { quiet + 1 } else { 0 };
        let over = match args.time {
            Some(time) => clock.steady_time() - begin >= time,
            None => quiet >= QUIET,
        };
        if over {
            break;
        }
        next += PERIOD;
        while clock.steady_time() < next && !stop.load(Ordering::SeqCst) {
            clock.sleep(NAP.min(next.saturating_sub(clock.steady_time())));
        }
        if stop.load(Ordering::SeqCst) {
            break;
        }
    }
    let (jobs, remaining_jobs) = recorder.record_look().map_err(CommandFailure::usage_error)?;
    let files = recorder.end_recording().map_err(CommandFailure::usage_error)?;
    files
        .write_files(&args.out, &args.name)
        .map_err(|e| CommandFailure::write_error(&args.out.display().to_string(), &e))?;
    let (passes, starts) = files.count_passes_and_starts();
    if remaining_jobs > 0 {
        message::print_warning(&format!("{} had not ended", format_plural(remaining_jobs as u64, "job")));
    }
    message::print_note(&format!(
        "{}, {} and {passes} {} are in {}; to compare the model with them: drystone reproduce slurm --logs {}",
        format_plural(jobs as u64, "job"),
        format_plural(starts as u64, "start"),
        if passes == 1 { "pass" } else { "passes" },
        args.out.display(),
        args.out.display()
    ));
    Ok(DONE)
}
