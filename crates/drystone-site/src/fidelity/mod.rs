//! Distance of a simulation of a site from its records.
//!
//! The site is simulated under a policy, pool by pool, and compared with its records: waits job by
//! job, their distributions by class, their order, the use of the machine and the queue by the
//! hour, what started by backfill. All of it is set beside what needs no model (no wait, the median
//! of the week before), beside models of no site (`fcfs`, `easy`), and beside the noise: the same
//! simulation with arrivals moved by some seconds, or other recordings of the same workload.

mod baselines;
mod case;
mod errors;
mod faults;
mod happened;
mod hours;
mod intervals;
mod reason;
mod repetition;
mod replay;
mod require;
mod result;
mod stats;

pub use errors::Errors;
pub use faults::{ConstantShift, QuietTime};
pub use happened::AsHappened;
pub use hours::{HourErrors, Hours, SeriesError};
pub use intervals::{Interval, Intervals};
pub use reason::RecordedReason;
pub use replay::ReplayError;
pub use require::{FidelityRequirement, UnmetRequirement};
pub use result::{
    AccountingCoverage, CensoredWaits, ClassRow, Fidelity, FidelityBaseline, Mechanism, Noise, PoolFidelity,
    RecordFaults, Repetition, ReplaySkill,
};

use self::baselines::{LENGTHS, SIZES, class_medians, classes, nothing_waits};
use self::case::PoolCase;
use self::errors::{Starts, WaitPairs};
use self::replay::ReplayInputs;
use self::stats::{quantile, sorted};
use crate::site::Site;
use drystone::model::SharedSort;
use drystone::policy::PolicySpec;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Settings of the measurement of fidelity.
#[derive(Clone)]
pub struct FidelitySettings<'a> {
    /// The site's policy.
    pub policy: PolicySpec,
    /// Runs with moved arrivals.
    pub seeds: u32,
    /// Largest shift of arrivals, in seconds.
    pub jitter: i64,
    /// First seed of all that is drawn.
    pub seed: u64,
    /// Seconds of the window that are not measured; `None`: as the import found.
    pub warm_up: Option<i64>,
    /// Other recordings of the same workload.
    pub repetitions: Vec<(String, &'a Site)>,
    /// Only this pool.
    pub pool: Option<u16>,
    /// Threads that simulate.
    pub threads: usize,
    /// Set when it is to stop.
    pub stop: Option<&'a AtomicBool>,
    /// Told of jobs that have ended.
    pub told: &'a (dyn Fn(u64) + Sync),
}

/// Measures how faithful a simulation of a site is.
///
/// # Errors
/// No pool has a start to compare with; a policy that cannot be simulated; told to stop.
pub fn fidelity(site: &Site, settings: &FidelitySettings<'_>) -> Result<Fidelity, ReplayError> {
    if !site.manifest.waits_half_known() {
        return Err(ReplayError::Nothing(crate::site::NO_WAITS.to_string()));
    }
    let span = PoolCase::span(site, settings.warm_up);
    let pools = 0..site.manifest.pools.len() as u16;
    let cases: Vec<PoolCase> = pools
        .filter(|pool| settings.pool.is_none_or(|only| only == *pool))
        .map(|pool| PoolCase::of(site, pool, span))
        .collect();
    let counted: usize = cases.iter().map(|case| case.counted().count()).sum();
    if counted == 0 {
        return Err(ReplayError::Nothing(format!(
            "no job of the site has a start that a simulation could be held against between {} and {}; --warm-up 0 measures from the \
             beginning of the window",
            PoolCase::when(span.0),
            PoolCase::when(span.1)
        )));
    }
    let bench = ReplayInputs { site, stop: settings.stop, told: settings.told };
    let mut found = Vec::new();
    for case in cases.iter().filter(|case| case.counted().next().is_some()) {
        found.push(pool(site, case, &bench, settings)?);
    }
    let total = (found.len() > 1).then(|| total(&found));
    Ok(Fidelity::new(site, settings, span, found.into_iter().map(|(pool, _)| pool).collect(), total))
}

/// A pool's jobs and how its replay started them, to be added up.
type PoolReplay = (PoolFidelity, WaitPairs);

/// All pools together, job by job.
fn total(found: &[PoolReplay]) -> Errors {
    let mut all = WaitPairs::default();
    for (_, waits) in found {
        all.recorded.extend(&waits.recorded);
        all.replayed.extend(&waits.replayed);
        all.blocks.extend(&waits.blocks);
    }
    Errors::of(&all)
}

fn pool(
    site: &Site,
    case: &PoolCase,
    bench: &ReplayInputs<'_>,
    settings: &FidelitySettings<'_>,
) -> Result<PoolReplay, ReplayError> {
    let replayed = bench.replay(case, &settings.policy, None)?;
    let recorded = Starts::recorded(case);
    let waits = WaitPairs::of(case, &replayed, |_| true);
    let errors = Errors::of(&waits);
    let (recorded_hours, hours) = (Hours::of(case, &recorded), Hours::of(case, &replayed));
    let hour_errors = hours.errors(&recorded_hours);
    let baselines = baselines_of(case, bench, settings, &replayed, &recorded_hours)?;
    let noise = noise(case, bench, settings, &replayed, &hours)?;
    let repetitions = settings
        .repetitions
        .iter()
        .map(|(name, other)| repetition::compare(name, site, other, case, &recorded, &recorded_hours))
        .collect();
    let worst_week = hours.worst_week(&recorded_hours);
    Ok((
        PoolFidelity {
            name: case.name.clone(),
            jobs: case.jobs.len() as u64,
            as_happened: happened::as_happened(site, case, &replayed),
            faults: RecordFaults::find(&waits, site, case),
            modelled: Errors::of(&WaitPairs::of(case, &replayed, |job| job.modelled)),
            classes: class_rows(case, &replayed),
            mechanism: mechanism(case, &replayed),
            skill: ReplaySkill::of(&errors, &hour_errors, &baselines),
            intervals: intervals::intervals(&waits, case.block()),
            waiting: CensoredWaits::of(case),
            reason: case.main_reason(),
            errors,
            hour_errors,
            baselines,
            noise,
            repetitions,
            worst_week,
            hours,
            recorded_hours,
            verdict: String::new(),
        },
        waits,
    ))
}

/// Returns the baselines, which need no model of the site.
fn baselines_of(
    case: &PoolCase,
    bench: &ReplayInputs<'_>,
    settings: &FidelitySettings<'_>,
    replayed: &Starts,
    recorded: &Hours,
) -> Result<Vec<FidelityBaseline>, ReplayError> {
    let own = settings.policy.to_string();
    let simulate = |name: &str| -> Result<Starts, ReplayError> {
        if own == name {
            return Ok(replayed.clone());
        }
        let spec: PolicySpec = name.parse().map_err(|e| ReplayError::Nothing(format!("{name}: {e}")))?;
        bench.replay(case, &spec, None)
    };
    let all = [
        (result::NOTHING_WAITS, nothing_waits(case)),
        ("median of the block before", class_medians(case)),
        ("fcfs", simulate("fcfs")?),
        ("easy", simulate("easy")?),
    ];
    let one = |(name, starts): (&str, Starts)| FidelityBaseline {
        name: name.to_string(),
        is_policy: own == name,
        errors: Errors::of(&WaitPairs::of(case, &starts, |_| true)),
        hours: Hours::of(case, &starts).errors(recorded),
    };
    Ok(all.into_iter().map(one).collect())
}

/// Simulates with arrivals moved by some seconds, and compares with the simulation itself.
fn noise(
    case: &PoolCase,
    bench: &ReplayInputs<'_>,
    settings: &FidelitySettings<'_>,
    replayed: &Starts,
    hours: &Hours,
) -> Result<Noise, ReplayError> {
    let seeds: Vec<u64> = (1..=u64::from(settings.seeds)).map(|at| settings.seed.wrapping_add(at)).collect();
    let run = |seed: u64| -> Result<(Errors, HourErrors), ReplayError> {
        let moved = bench.replay(case, &settings.policy, Some((settings.jitter, seed)))?;
        let mut waits = WaitPairs::default();
        for (at, job) in case.counted() {
            if let (Some(a), Some(b)) = (replayed.wait[at], moved.wait[at]) {
                waits.recorded.push(a as f64);
                waits.replayed.push(b as f64);
                waits.blocks.push(case.block_of(job));
            }
        }
        Ok((Errors::of(&waits), Hours::of(case, &moved).errors(hours)))
    };
    let runs = on_threads(&seeds, settings.threads, run).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Noise::of(settings.jitter, &runs))
}

/// Applies `work` to each item, in their order. A thread that cannot be started is one fewer: this
/// thread works as well.
fn on_threads<R: Send>(items: &[u64], threads: usize, work: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let take = || {
        while let Some((at, &item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| items.get(at).map(|i| (at, i)))
        {
            let result = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_shared_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Waits by size and by how long jobs held their processors.
fn class_rows(case: &PoolCase, replayed: &Starts) -> Vec<ClassRow> {
    let mut keys: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    case.counted().for_each(|(_, job)| *keys.entry(classes(job)).or_default() += 1);
    let row = |&(size, length): &(usize, usize)| {
        let waits = WaitPairs::of(case, replayed, |job| classes(job) == (size, length));
        let errors = Errors::of(&waits);
        let quantiles = |values: &[f64]| {
            let values = sorted(values.to_vec());
            [0.1, 0.5, 0.9, 0.99].map(|q| quantile(&values, q))
        };
        ClassRow {
            size: SIZES[size].1.to_string(),
            length: LENGTHS[length].1.to_string(),
            jobs: errors.jobs,
            recorded: quantiles(&waits.recorded),
            replayed: quantiles(&waits.replayed),
            wasserstein: errors.wasserstein,
            kolmogorov_smirnov: errors.kolmogorov_smirnov,
        }
    };
    keys.keys().map(row).collect()
}

/// Shares that backfill started.
fn mechanism(case: &PoolCase, replayed: &Starts) -> Mechanism {
    let known = || case.counted().filter_map(|(at, job)| Some((at, job.backfilled?)));
    let share = |part: usize, all: usize| (all > 0).then(|| part as f64 / all as f64);
    let all = case.counted().count();
    Mechanism {
        jobs_with_flags: known().count() as u64,
        recorded: share(known().filter(|(_, backfilled)| *backfilled).count(), known().count()),
        replayed: share(case.counted().filter(|(at, _)| replayed.backfilled[*at]).count(), all),
        same_way: share(
            known().filter(|(at, backfilled)| replayed.backfilled[*at] == *backfilled).count(),
            known().count(),
        ),
    }
}
