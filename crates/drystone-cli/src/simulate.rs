//! One simulation, measured: what `run` and `compare` do once and many times.

use crate::progress::Progress;
use drystone::engine::{Levels, Observer, Platform, Replay, Scheduler, Simulation, SimulationError};
use drystone::metrics::{Collector, Config, JobRow, PromiseAudit, PromisesKept, Report, Scheme, Scope};
use drystone::model::{Ended, JobId, Span, Time, Workload};
use drystone::policy::{PolicySpec, Priorities};
use drystone_report::{Details, Material, Watcher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What came out of a simulation.
pub(crate) struct Measured {
    pub(crate) report: Report,
    pub(crate) promises: PromisesKept,
    /// Wall-clock time of the simulation, measuring included, summing up not. Differs from run to run.
    pub(crate) took: Duration,
}

/// How many ends between two reports of progress.
const STRIDE: u64 = 256;

/// What a simulation is given besides jobs and a policy.
#[derive(Clone, Copy, Default)]
pub(crate) struct Given<'a> {
    pub(crate) priorities: Option<&'a Priorities>,
    pub(crate) platform: Platform,
    /// Set when it is to stop before its end.
    pub(crate) stop: Option<&'a AtomicBool>,
}

/// Simulates `parts`, one after the other and each from an empty machine, and measures them as one workload. `None` where it was
/// told to stop.
///
/// `whole` holds all jobs of the parts in the same order. `also` watches, too; the ids it sees are those of the parts.
#[expect(clippy::disallowed_methods, reason = "how fast it was, which is shown only where asked for")]
pub(crate) fn simulate(
    whole: &Workload,
    parts: &[Workload],
    spec: &PolicySpec,
    given: Given<'_>,
    config: Config,
    progress: &Progress,
    also: &mut impl Observer,
) -> Result<Option<Measured>, SimulationError> {
    let stop = || given.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let since = Instant::now();
    let mut collector = Collector::new(Scope::of(whole), config);
    let mut promises = PromisesKept::default();
    let mut offset = 0;
    for part in parts {
        // Parts overlap in time, so that a queue over all of them has no meaning.
        let queue = parts.len() == 1;
        if !queue {
            collector.begin_part(part.len() as u64, part.submits().unwrap_or_default());
        }
        let watch = Watch { collector, offset, queue, counted: Counted::on(progress) };
        let mut observer = ((watch, PromiseAudit::default()), &mut *also);
        let scheduler = scheduler(spec, given.priorities, part);
        let mut simulation = Simulation::new(part.machine(), scheduler, Replay::new(part)).on(&given.platform);
        while simulation.step(&mut observer)? {
            if stop() {
                return Ok(None);
            }
        }
        let (watch, audit) = observer.0;
        promises = promises.and(audit.kept().of(part), offset);
        collector = watch.collector;
        offset += part.len() as u32;
    }
    // The simulation with all that is counted while it runs, but not the sorting for percentiles behind it.
    let took = since.elapsed();
    Ok(Some(Measured { report: collector.finish(), promises, took }))
}

/// A fresh scheduler for a part of a workload, with priorities that the policy was found to take.
pub(crate) fn scheduler(spec: &PolicySpec, priorities: Option<&Priorities>, part: &Workload) -> Scheduler {
    let mut scheduler = spec.scheduler();
    if let Some(priorities) = priorities {
        let taken = scheduler.policy.prioritise(priorities.clone().placed(part));
        debug_assert!(taken.is_ok(), "found to take priorities");
    }
    scheduler
}

/// Feeds a collector with the jobs of a part under their ids in the whole, and counts them.
struct Watch<'a> {
    collector: Collector,
    offset: u32,
    queue: bool,
    counted: Counted<'a>,
}

/// Counts jobs that end on a bar.
pub(crate) struct Counted<'a> {
    progress: &'a Progress,
    /// Not told to the bar yet.
    ended: u64,
}

impl Counted<'_> {
    pub(crate) fn on(progress: &Progress) -> Counted<'_> {
        Counted { progress, ended: 0 }
    }
}

impl Observer for Counted<'_> {
    #[inline]
    fn ended(&mut self, _: &Ended<'_>) {
        self.ended += 1;
        if self.ended == STRIDE {
            self.progress.add(STRIDE);
            self.ended = 0;
        }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.progress.add(self.ended);
    }
}

impl Observer for Watch<'_> {
    #[inline]
    fn ended(&mut self, ended: &Ended<'_>) {
        let id = JobId(ended.id.0 + self.offset);
        self.collector.ended(&Ended { id, ..*ended });
        self.counted.ended(ended);
    }

    fn suspended(&mut self, now: Time, id: JobId) {
        self.collector.suspended(now, JobId(id.0 + self.offset));
    }

    fn resumed(&mut self, now: Time, id: JobId) {
        self.collector.resumed(now, JobId(id.0 + self.offset));
    }

    #[inline]
    fn settled(&mut self, now: Time, levels: Levels) {
        if self.queue {
            self.collector.settled(now, levels);
        }
    }
}

/// What to measure, `excessive` waits among it; `detailed` measures what [`details`] takes.
pub(crate) fn config(
    args: &crate::args::SimulationArgs,
    excessive: &[Span],
    keep_jobs: bool,
    detailed: bool,
) -> Config {
    let mut categories = args.by.clone();
    if detailed {
        categories.extend(DETAILED.iter().filter(|s| !args.by.contains(s)));
    }
    Config {
        selection: crate::input::selection(args),
        categories,
        category_percentiles: true,
        excessive: excessive.to_vec(),
        keep_jobs: keep_jobs || detailed,
        ..Config::default()
    }
}

/// How plots sort jobs.
const DETAILED: [Scheme; 2] = [Scheme::Chiang, Scheme::User];

/// What plots need of a report and what was watched. Takes out of the report the categories that nobody else asked for, and
/// leaves its rows.
pub(crate) fn details(
    args: &crate::args::SimulationArgs,
    report: &mut Report,
    baseline: Option<&[JobRow]>,
    watched: Option<Watcher>,
) -> Details {
    let find = |scheme: Scheme| report.categories.iter().find(|c| c.scheme == scheme);
    let material = Material {
        rows: report.jobs.as_deref().unwrap_or(&[]),
        baseline,
        classes: find(Scheme::Chiang),
        users: find(Scheme::User),
    };
    let details = Details::of(material, watched);
    report.categories.retain(|c| args.by.contains(&c.scheme));
    details
}
