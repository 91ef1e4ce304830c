//! A pool simulated under a policy: when each of its jobs started.

use super::case::{ELSEWHERE, PoolCase};
use super::errors::Starts;
use crate::error::SiteError;
use crate::site::Site;
use crate::workload::PoolWorkload;
use drystone::engine::Observer;
use drystone::experiment::{Experiment, ExperimentError};
use drystone::metrics::JobSelection;
use drystone::model::{Adopted, EndedJob, JobId, Time};
use drystone::policy::{PolicySpec, StartReason};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::atomic::AtomicBool;

/// Reason why a replay failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    #[error(transparent)]
    Site(#[from] SiteError),
    #[error(transparent)]
    Pool(#[from] crate::error::PoolError),
    #[error("policy {policy}: {source}")]
    Experiment { policy: String, source: ExperimentError },
    #[error("policy {policy}: {source}")]
    Policy { policy: String, source: drystone::policy::SpecError },
    #[error("interrupted")]
    Stopped,
    #[error("{0}")]
    Nothing(String),
}

#[derive(Default)]
struct StartObserver {
    start: Vec<Option<Time>>,
    backfilled: Vec<bool>,
}

impl StartObserver {
    fn put_start(&mut self, id: JobId, at: Time, is_backfill: bool) {
        let place = id.index();
        if self.start.len() <= place {
            self.start.resize(place + 1, None);
            self.backfilled.resize(place + 1, false);
        }
        if self.start[place].is_none() {
            self.start[place] = Some(at);
            self.backfilled[place] = is_backfill;
        }
    }
}

impl Observer for StartObserver {
    const NOTES: bool = false;
    const ENDS: bool = false;

    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        self.put_start(id, now, reason == StartReason::Backfilled);
    }

    fn note_adoption(&mut self, _: Time, id: JobId, adoption: &Adopted) {
        if let Adopted::Running { since, .. } = adoption {
            self.put_start(id, *since, false);
        }
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.put_start(job.id, job.outcome.start, false);
    }
}

/// Shared inputs of all replays of a site.
#[derive(Clone, Copy)]
pub(super) struct ReplayInputs<'a> {
    pub(super) site: &'a Site,
    pub(super) stop: Option<&'a AtomicBool>,
    pub(super) told: &'a (dyn Fn(u64) + Sync),
}

impl ReplayInputs<'_> {
    /// Simulates the pool of a case. `jitter` moves arrivals by up to so many seconds, drawn by the
    /// seed.
    pub(super) fn replay_case(
        &self,
        case: &PoolCase,
        spec: &PolicySpec,
        jitter: Option<(i64, u64)>,
    ) -> Result<Starts, ReplayError> {
        let pool = match jitter {
            None => self.site.pool_workload(case.pool)?,
            Some((most, seed)) => {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                self.site.pool_workload_later(case.pool, |_| random.random_range(-most..=most))?
            }
        };
        let watch = self.simulate_pool(&pool, spec)?;
        let mut starts = Starts { wait: vec![None; case.jobs.len()], backfilled: vec![false; case.jobs.len()] };
        for (at, &place) in pool.places.iter().enumerate() {
            let pool_place = case.places[place as usize];
            if pool_place == ELSEWHERE {
                continue;
            }
            let submit = pool.workload.job(JobId(at as u32)).submit;
            if let Some(Some(start)) = watch.start.get(at) {
                starts.wait[pool_place as usize] = Some((*start - submit).0);
                starts.backfilled[pool_place as usize] = watch.backfilled[at];
            }
        }
        Ok(starts)
    }

    fn simulate_pool(&self, pool: &PoolWorkload, policy: &PolicySpec) -> Result<StartObserver, ReplayError> {
        let mut watch = StartObserver::default();
        let spec = self.site.pool_policy(pool.pool, policy);
        let spec = &spec.map_err(|source| ReplayError::Policy { policy: policy.to_string(), source })?;
        // A model that counts processors only is one beside the site's own.
        let counts = pool.workload.resources().is_none_or(|table| !table.has_resources());
        let bare =
            (!counts && !spec.build_scheduler().policy.counts_resources()).then(|| pool.bare_workload()).transpose()?;
        let mut experiment = Experiment::new(spec, bare.as_ref().unwrap_or(&pool.workload))
            .with_outages(Some(&pool.outages))
            .for_metrics(&[], JobSelection::All)
            .with_progress(self.told);
        if let Some(stop) = self.stop {
            experiment = experiment.with_stop(stop);
        }
        let run_result = experiment.run(&mut watch);
        match run_result.map_err(|source| ReplayError::Experiment { policy: spec.to_string(), source })? {
            Some(_) => Ok(watch),
            None => Err(ReplayError::Stopped),
        }
    }
}
