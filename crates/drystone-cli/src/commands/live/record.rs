//! `drystone live record`: a recording of a test cluster.

use crate::args::RecordArgs;
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::interrupt;
use crate::output::message;
use crate::output::number::plural;
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

pub(super) fn record(args: &RecordArgs) -> CommandOutcome {
    let stop = interrupt::stop_in_order();
    let mut recorder = ClusterRecorder::begin(args.conf.clone(), args.log.clone()).map_err(CommandFailure::usage)?;
    message::note("slurmctld logs what its schedulers do; submit jobs now, with limits and run times of minutes");
    let mut clock = MachineClock::new();
    let (begin, mut next, mut quiet) = (clock.steady(), clock.steady(), 0);
    loop {
        let (jobs, left) = recorder.look().map_err(CommandFailure::usage)?;
        quiet = if jobs > 0 && left == 0 { quiet + 1 } else { 0 };
        let over = match args.time {
            Some(time) => clock.steady() - begin >= time,
            None => quiet >= QUIET,
        };
        if over {
            break;
        }
        next += PERIOD;
        while clock.steady() < next && !stop.load(Ordering::SeqCst) {
            clock.sleep(NAP.min(next.saturating_sub(clock.steady())));
        }
        if stop.load(Ordering::SeqCst) {
            break;
        }
    }
    let (jobs, left) = recorder.look().map_err(CommandFailure::usage)?;
    let files = recorder.end().map_err(CommandFailure::usage)?;
    files.write(&args.out, &args.name).map_err(|e| CommandFailure::write(&args.out.display().to_string(), &e))?;
    let (passes, starts) = files.counts();
    if left > 0 {
        message::warning(&format!("{} had not ended", plural(left as u64, "job")));
    }
    message::note(&format!(
        "{}, {} and {passes} {} are in {}; to compare the model with them: drystone reproduce slurm --logs {}",
        plural(jobs as u64, "job"),
        plural(starts as u64, "start"),
        if passes == 1 { "pass" } else { "passes" },
        args.out.display(),
        args.out.display()
    ));
    Ok(DONE)
}
