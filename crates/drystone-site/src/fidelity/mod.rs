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
pub use require::{FidelityRequirement, RequirementError, UnmetRequirement};
pub use result::{
    AccountingCoverage, CensoredWaits, ClassRow, Fidelity, FidelityBaseline, Mechanism, Noise, PoolFidelity,
    RecordFaults, Repetition, ReplaySkill,
};

use self::baselines::{LENGTHS, SIZES, class_medians, job_classes, nothing_waits};
use self::case::PoolCase;
use self::errors::{Starts, WaitPairs};
use self::replay::ReplayInputs;
use self::stats::sort_values;
use crate::site::Site;
use drystone::model::SharedSort;
use drystone::policy::PolicySpec;
use drystone::statistics::nearest_rank_quantile;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Clone)]
pub struct FidelitySettings<'a> {
    pub policy: PolicySpec,
    /// Runs with moved arrivals.
    pub seeds: u32,
    /// Largest shift of arrivals, in seconds.
    pub jitter: i64,
    pub seed: u64,
    /// Seconds of the window that are not measured; `None`: as the import found.
    pub warm_up: Option<i64>,
    /// Other recordings of the same workload.
    pub repetitions: Vec<(String, &'a Site)>,
    /// Only this pool.
    pub pool: Option<u16>,
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
pub fn measure_fidelity(site: &Site, settings: &FidelitySettings<'_>) -> Result<Fidelity, ReplayError> {
    if !site.manifest.waits_half_known() {
        return Err(ReplayError::Nothing(crate::site::NO_WAITS.to_string()));
    }
    let span = PoolCase::measured_span(site, settings.warm_up);
    let pools = 0..site.manifest.pools.len() as u16;
    let cases: Vec<PoolCase> = pools
        .filter(|pool| settings.pool.is_none_or(|only| only == *pool))
        .map(|pool| PoolCase::from_site(site, pool, span))
        .collect();
    let counted_total: usize = cases.iter().map(|case| case.counted_jobs().count()).sum();
    if counted_total == 0 {
        return Err(ReplayError::Nothing(format!(
            "no job of the site has a start that a simulation could be held against between {} and {}; --warm-up 0 measures from the \
             beginning of the window",
            PoolCase::format_moment(span.0),
            PoolCase::format_moment(span.1)
        )));
    }
    let bench = ReplayInputs { site, stop: settings.stop, told: settings.told };
    let mut replays = Vec::new();
    for case in cases.iter().filter(|case| case.counted_jobs().next().is_some()) {
        replays.push(replay_pool(site, case, &bench, settings)?);
    }
    let total = (replays.len() > 1).then(|| total_errors(&replays));
    Ok(Fidelity::new(site, settings, span, replays.into_iter().map(|(pool, _)| pool).collect(), total))
}

/// A pool's jobs and how its replay started them, to be added up.
type PoolReplay = (PoolFidelity, WaitPairs);

/// All pools together, job by job.
fn total_errors(replays: &[PoolReplay]) -> Errors {
    let mut all_pairs = WaitPairs::default();
    for (_, waits) in replays {
        all_pairs.recorded.extend(&waits.recorded);
        all_pairs.replayed.extend(&waits.replayed);
        all_pairs.blocks.extend(&waits.blocks);
    }
    Errors::from_waits(&all_pairs)
}

fn replay_pool(
    site: &Site,
    case: &PoolCase,
    bench: &ReplayInputs<'_>,
    settings: &FidelitySettings<'_>,
) -> Result<PoolReplay, ReplayError> {
    let replayed_starts = bench.replay_case(case, &settings.policy, None)?;
    let recorded_starts = Starts::from_records(case);
    let waits = WaitPairs::from_case(case, &replayed_starts, |_| true);
    let errors = Errors::from_waits(&waits);
    let (recorded_hours, hours) =
        (Hours::from_starts(case, &recorded_starts), Hours::from_starts(case, &replayed_starts));
    let hour_errors = hours.hour_errors(&recorded_hours);
    let baselines = baselines_of(case, bench, settings, &replayed_starts, &recorded_hours)?;
    let noise = measure_noise(case, bench, settings, &replayed_starts, &hours)?;
    let repetitions = settings
        .repetitions
        .iter()
        .map(|(name, recording)| {
            repetition::compare_recordings(name, site, recording, case, &recorded_starts, &recorded_hours)
        })
        .collect();
    let worst_week = hours.worst_week(&recorded_hours);
    Ok((
        PoolFidelity {
            name: case.name.clone(),
            jobs: case.jobs.len() as u64,
            as_happened: happened::as_happened(site, case, &replayed_starts),
            faults: RecordFaults::find_faults(&waits, site, case),
            modelled: Errors::from_waits(&WaitPairs::from_case(case, &replayed_starts, |job| job.modelled)),
            classes: class_rows(case, &replayed_starts),
            mechanism: backfill_shares(case, &replayed_starts),
            skill: ReplaySkill::from_errors(&errors, &hour_errors, &baselines),
            intervals: intervals::error_intervals(&waits, case.block_length()),
            waiting: CensoredWaits::from_case(case),
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
    replay_starts: &Starts,
    record_hours: &Hours,
) -> Result<Vec<FidelityBaseline>, ReplayError> {
    let own = settings.policy.to_string();
    let simulate = |name: &str| -> Result<Starts, ReplayError> {
        if own == name {
            return Ok(replay_starts.clone());
        }
        let spec: PolicySpec = name.parse().map_err(|e| ReplayError::Nothing(format!("{name}: {e}")))?;
        bench.replay_case(case, &spec, None)
    };
    let models = [
        (result::NOTHING_WAITS, nothing_waits(case)),
        ("median of the block before", class_medians(case)),
        ("fcfs", simulate("fcfs")?),
        ("easy", simulate("easy")?),
    ];
    let baseline_of = |(name, starts): (&str, Starts)| FidelityBaseline {
        name: name.to_string(),
        is_policy: own == name,
        errors: Errors::from_waits(&WaitPairs::from_case(case, &starts, |_| true)),
        hours: Hours::from_starts(case, &starts).hour_errors(record_hours),
    };
    Ok(models.into_iter().map(baseline_of).collect())
}

/// Simulates with arrivals moved by some seconds, and compares with the simulation itself.
fn measure_noise(
    case: &PoolCase,
    bench: &ReplayInputs<'_>,
    settings: &FidelitySettings<'_>,
    starts: &Starts,
    hours: &Hours,
) -> Result<Noise, ReplayError> {
    let seeds: Vec<u64> = (1..=u64::from(settings.seeds)).map(|at| settings.seed.wrapping_add(at)).collect();
    let run = |seed: u64| -> Result<(Errors, HourErrors), ReplayError> {
        let jittered_starts = bench.replay_case(case, &settings.policy, Some((settings.jitter, seed)))?;
        let mut waits = WaitPairs::default();
        for (at, job) in case.counted_jobs() {
            if let (Some(a), Some(b)) = (starts.wait[at], jittered_starts.wait[at]) {
                waits.recorded.push(a as f64);
                waits.replayed.push(b as f64);
                waits.blocks.push(case.block_of(job));
            }
        }
        Ok((Errors::from_waits(&waits), Hours::from_starts(case, &jittered_starts).hour_errors(hours)))
    };
    let runs = on_threads(&seeds, settings.threads, run).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Noise::from_runs(settings.jitter, &runs))
}

/// Applies `work` to each item, in their order. A thread that cannot be started is one fewer: this
/// thread works as well.
fn on_threads<R: Send>(items: &[u64], threads: usize, work: impl Fn(u64) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let result_slots: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let take = || {
        while let Some((at, &item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| items.get(at).map(|i| (at, i)))
        {
            let result = work(item);
            result_slots.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, items.len().max(1)) {
            let _ = std::thread::Builder::new().spawn_scoped(scope, take);
        }
        take();
    });
    let mut indexed_results = result_slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    indexed_results.sort_shared_by_key(|(at, _)| *at);
    indexed_results.into_iter().map(|(_, result)| result).collect()
}

/// Waits by size and by how long jobs held their processors.
fn class_rows(case: &PoolCase, starts: &Starts) -> Vec<ClassRow> {
    let mut keys: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    case.counted_jobs().for_each(|(_, job)| *keys.entry(job_classes(job)).or_default() += 1);
    let row = |&(size, length): &(usize, usize)| {
        let waits = WaitPairs::from_case(case, starts, |job| job_classes(job) == (size, length));
        let errors = Errors::from_waits(&waits);
        let quantiles = |values: &[f64]| {
            let values = sort_values(values.to_vec());
            [0.1, 0.5, 0.9, 0.99].map(|q| nearest_rank_quantile(&values, q))
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

fn backfill_shares(case: &PoolCase, starts: &Starts) -> Mechanism {
    let known_jobs = || case.counted_jobs().filter_map(|(at, job)| Some((at, job.backfilled?)));
    let share = |part: usize, total: usize| (total > 0).then(|| part as f64 / total as f64);
    let job_count = case.counted_jobs().count();
    Mechanism {
        jobs_with_flags: known_jobs().count() as u64,
        recorded: share(known_jobs().filter(|(_, is_backfill)| *is_backfill).count(), known_jobs().count()),
        replayed: share(case.counted_jobs().filter(|(at, _)| starts.backfilled[*at]).count(), job_count),
        same_way: share(
            known_jobs().filter(|(at, is_backfill)| starts.backfilled[*at] == *is_backfill).count(),
            known_jobs().count(),
        ),
    }
}
