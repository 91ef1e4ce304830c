//! Machines side by side: a workload that is divided among pools which share no processor.

use crate::model::{
    Adopted, Circumstances, JobId, Machine, Outage, OutageError, Outages, ProcSet, Procs, Workload, WorkloadError,
};
use crate::policy::{PolicySpec, SpecError};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A pool of a divided workload.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolShare {
    /// Its name.
    pub name: String,
    /// Its processors, as its own policy counts them.
    pub procs: Procs,
    /// Number of processors of the whole per processor of the pool.
    pub scale: Procs,
    /// The partitions whose jobs it runs: their numbers in the whole and in the pool by itself.
    pub partitions: Vec<(i32, i32)>,
    /// Missing processors over time, in the pool's own processors.
    pub outages: Vec<Outage>,
    /// Its classes of nodes among those of the whole, where policies place jobs on nodes.
    pub classes: Option<Range<usize>>,
    /// Texts within the text of a policy that are others here: files that describe this pool.
    pub texts: Vec<(String, String)>,
}

/// Division of a workload into pools. Each job belongs to the pool of its partition; the whole
/// counts processors of which a pool's are multiples.
#[derive(Clone, PartialEq, Debug)]
pub struct PoolDivision {
    shares: Vec<PoolShare>,
    /// Pool and number there of each partition.
    of: BTreeMap<i32, (usize, i32)>,
}

#[derive(Clone, Debug)]
pub(super) struct PoolPart {
    pub(super) workload: Workload,
    pub(super) outages: Outages,
    /// Id in the whole of each of its jobs.
    pub(super) ids: Vec<JobId>,
}

/// Reason why a workload cannot be divided in this way.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DivisionError {
    /// No pool runs the jobs of a partition.
    #[error("job {number} is of the partition {partition}, which belongs to no pool")]
    NoPool {
        /// The log's number of the job.
        number: i64,
        /// Its partition.
        partition: i32,
    },
    /// The jobs of a pool form no workload.
    #[error("pool {pool}: {source}")]
    Workload {
        /// The pool.
        pool: String,
        /// Cause.
        source: WorkloadError,
    },
    /// The outages of a pool are impossible.
    #[error("pool {pool}: {source}")]
    Outages {
        /// The pool.
        pool: String,
        /// Cause.
        source: OutageError,
    },
    /// A policy's text is none for a pool.
    #[error("pool {pool}: {source}")]
    Policy {
        /// The pool.
        pool: String,
        /// Cause.
        source: SpecError,
    },
}

impl PoolDivision {
    /// Of these pools. A partition that several name belongs to the first.
    #[must_use]
    pub fn new(shares: Vec<PoolShare>) -> PoolDivision {
        let mut of = BTreeMap::new();
        for (at, share) in shares.iter().enumerate() {
            for &(partition, own) in &share.partitions {
                of.entry(partition).or_insert((at, own));
            }
        }
        PoolDivision { shares, of }
    }

    /// The pools.
    #[must_use]
    pub fn shares(&self) -> &[PoolShare] {
        &self.shares
    }

    /// Processors of the whole.
    #[must_use]
    pub fn procs(&self) -> Procs {
        self.shares.iter().map(|share| share.procs.saturating_mul(share.scale)).fold(0, Procs::saturating_add)
    }

    /// The parts of a workload, in the order of the pools.
    pub(super) fn divide_workload(&self, whole: &Workload) -> Result<Vec<PoolPart>, DivisionError> {
        let mut ids: Vec<Vec<JobId>> = vec![Vec::new(); self.shares.len()];
        for (at, job) in whole.jobs().iter().enumerate() {
            let Some(&(share, _)) = self.of.get(&job.partition) else {
                return Err(DivisionError::NoPool { number: whole.truth()[at].number, partition: job.partition });
            };
            ids[share].push(JobId(at as u32));
        }
        self.shares.iter().zip(ids).map(|(share, ids)| self.build_part(share, whole, ids)).collect()
    }

    pub(super) fn pool_policy(&self, share: usize, spec: &PolicySpec) -> Result<PolicySpec, DivisionError> {
        let share = &self.shares[share];
        let text = share.texts.iter().fold(spec.text().to_string(), |text, (from, to)| text.replace(from.as_str(), to));
        if text == spec.text() {
            return Ok(spec.clone());
        }
        text.parse().map_err(|source| DivisionError::Policy { pool: share.name.clone(), source })
    }

    /// Puts texts in the place of others in the texts of policies, for a pool.
    pub fn replace_texts(&mut self, pool: usize, texts: Vec<(String, String)>) {
        if let Some(share) = self.shares.get_mut(pool) {
            share.texts = texts;
        }
    }

    fn build_part(&self, share: &PoolShare, whole: &Workload, ids: Vec<JobId>) -> Result<PoolPart, DivisionError> {
        let scale = share.scale.max(1);
        let jobs = ids.iter().map(|&id| {
            let mut job = whole.job(id).clone();
            job.procs = job.procs.div_ceil(scale);
            job.partition = self.of.get(&job.partition).map_or(job.partition, |&(_, own)| own);
            job
        });
        let truth = ids.iter().map(|&id| whole.truth()[id.index()].clone());
        let wrong = |source| DivisionError::Workload { pool: share.name.clone(), source };
        let machine = Machine::new(share.procs);
        let (mut resources, provenance) = (whole.resources().cloned(), whole.provenance.clone());
        if let (Some(table), Some(classes)) = (&resources, &share.classes) {
            resources = Some(Arc::new(table.of_classes(classes.clone())));
        }
        let mut workload =
            Workload::with_resources(machine, resources, jobs.collect(), truth.collect(), provenance).map_err(wrong)?;
        if let Some(whole_circumstances) = whole.circumstances() {
            let place = |id: JobId| ids.binary_search(&id).ok().map(|at| JobId(at as u32));
            let mut circumstances: Circumstances = whole_circumstances.restrict_to(place);
            // Processors of the whole are those of the pools one behind the other.
            let before = self.shares.iter().take_while(|sibling| !std::ptr::eq(*sibling, share));
            let offset =
                before.map(|sibling| sibling.procs.saturating_mul(sibling.scale)).fold(0, Procs::saturating_add);
            circumstances.here.values_mut().for_each(|adoption| own_processors(adoption, (offset, share)));
            workload = workload.with_circumstances(circumstances).map_err(wrong)?;
        }
        let outages = Outages::new(machine, share.outages.clone())
            .map_err(|source| DivisionError::Outages { pool: share.name.clone(), source })?;
        Ok(PoolPart { workload, outages, ids })
    }
}

/// Names the processors of a running job as its pool counts them; none where they are not
/// processors of the pool.
fn own_processors(adoption: &mut Adopted, (offset, share): (Procs, &PoolShare)) {
    let (Adopted::Running { on, .. } | Adopted::Suspended { on, .. }) = adoption else { return };
    let Some(set) = on.take() else { return };
    let end = offset.saturating_add(share.procs);
    let inside = share.scale <= 1 && set.ranges().iter().all(|range| range.start >= offset && range.end <= end);
    if inside {
        let own = set.ranges().iter().map(|range| ProcSet::from_range(range.start - offset..range.end - offset));
        *on = Some(ProcSet::union_of(&own.collect::<Vec<_>>()));
    }
}
