//! A pool of a site as a workload: jobs, running and waiting ones at the beginning, withdrawals,
//! and missing capacity.

use crate::capacity::{Cause, NodeLoss, PoolLoss};
use crate::error::PoolError;
use crate::export::{ExportPurpose, Numbering};
use crate::fleet::Fleet;
use crate::jobs::{JobMarks, SiteJobFate};
use crate::machine::PoolUnit;
use crate::site::Site;
use crate::site_job::SiteJob;
use crate::text::RecordState;
use drystone::log::swf::SwfRecord;
use drystone::model::{
    Adopted, Circumstances, DemandId, How, Job, JobId, LogStatus, Machine, NodeShape, Outage, OutageError, OutageHit,
    Outages, ProcSet, Provenance, ResourceTable, Setting, SharedSort, Span, Time, Truth, Which, Withdrawal, Workload,
};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct PoolWorkload {
    pub name: String,
    pub pool: u16,
    /// Its jobs, in circumstances.
    pub workload: Workload,
    /// Capacity that it lacks over time.
    pub outages: Outages,
    /// For each job of the workload its place among the jobs of the site.
    pub places: Vec<u32>,
    pub cpus_per_unit: f64,
}

impl PoolWorkload {
    /// The workload of which processors count alone.
    pub(crate) fn bare_workload(&self) -> Result<Workload, PoolError> {
        let circumstances = self.workload.circumstances().cloned().unwrap_or_default();
        let (machine, mut jobs, truth, provenance) = self.workload.clone().into_parts();
        jobs.iter_mut().for_each(|job| job.demand = DemandId::NONE);
        Ok(Workload::new(machine, jobs, truth, provenance)?.with_circumstances(circumstances)?)
    }
}

impl Site {
    /// Returns whether a job is simulated: those within reservations start at their recorded times,
    /// as capacity that others lack.
    pub fn is_simulated(job: &SiteJob<'_>) -> bool {
        !job.marks.has_mark(JobMarks::RESERVED)
    }

    /// The jobs of a pool as a workload in its circumstances, straight from the site.
    ///
    /// # Errors
    /// Jobs that form no workload.
    pub fn pool_workload(&self, pool: u16) -> Result<PoolWorkload, PoolError> {
        self.pool_workload_later(pool, |_| 0)
    }

    /// Returns the workload with jobs that arrive later by these seconds. Those that are here at
    /// the beginning of the window stay where they are.
    pub(crate) fn pool_workload_later(
        &self,
        pool: u16,
        mut later: impl FnMut(usize) -> i64,
    ) -> Result<PoolWorkload, PoolError> {
        let numbering = Numbering::from_site(self);
        let summary = &self.manifest.pools[usize::from(pool)];
        let from = self.time_of(self.manifest.window.from);
        let mut selected_jobs: Vec<(Job, Truth, u32)> = Vec::new();
        for at in 0..self.len() {
            let job = self.job_at(at);
            if job.pool != pool || !Site::is_simulated(&job) {
                continue;
            }
            let record = self.swf_record(&job, &numbering, job_number(&job), ExportPurpose::Simulation);
            // A log may have jobs wider than its machine, which cleaning drops as well.
            let fits = |(facts, _): &(Job, Truth)| facts.procs <= summary.units;
            let Some((mut facts, fate)) = of_record(&record).filter(fits) else { continue };
            let by = later(at);
            if facts.submit >= from && by != 0 {
                facts.submit = (facts.submit + Span(by)).max(from);
            }
            selected_jobs.push((facts, fate, at as u32));
        }
        selected_jobs.sort_by_key(|(facts, ..)| facts.submit);
        let places: Vec<u32> = selected_jobs.iter().map(|(.., place)| *place).collect();
        let (jobs, truth) = selected_jobs.into_iter().map(|(facts, fate, _)| (facts, fate)).unzip();
        let provenance = Provenance {
            name: self.pool_title(pool),
            settings: vec![Setting { name: "pool".to_string(), value: summary.name.clone() }],
            unix_start: Some(self.time_origin()),
            utc_offset: None,
            time_zone: Some(self.manifest.time_zone.clone()),
            moves: Vec::new(),
        };
        let workload = Workload::new(Machine::new(summary.units), jobs, truth, provenance)?;
        let (workload, circumstances) = self.furnish_workload(&[pool], workload, &places)?;
        let workload = workload.with_circumstances(circumstances)?;
        let outages = self.find_outages(pool)?;
        Ok(PoolWorkload {
            name: summary.name.clone(),
            pool,
            workload,
            outages,
            places,
            cpus_per_unit: if summary.unit == PoolUnit::Cpu { 1.0 } else { summary.cpus_per_unit },
        })
    }

    /// Returns the name of a pool in results.
    pub fn pool_title(&self, pool: u16) -> String {
        let cluster = if self.manifest.cluster.is_empty() { "site" } else { &self.manifest.cluster };
        match self.manifest.pools.len() {
            0 | 1 => cluster.to_string(),
            _ => format!("{cluster}, {}", self.manifest.pools[usize::from(pool)].name),
        }
    }

    /// Seconds after the origin.
    pub(crate) fn time_of(&self, moment: i64) -> Time {
        Time(moment - self.time_origin())
    }

    /// A workload whose jobs ask for what the site says, beside their processors, and what is known
    /// of them beyond each by itself. `places` are their places among the jobs of the site; a site
    /// that is not taken as its nodes changes nothing.
    ///
    /// # Errors
    /// Demands beyond what can be counted.
    pub(crate) fn furnish_workload(
        &self,
        pools: &[u16],
        workload: Workload,
        places: &[u32],
    ) -> Result<(Workload, Circumstances), PoolError> {
        let mut circumstances = self.find_circumstances(&workload, places);
        circumstances.limits = self.limits_at(places);
        if !self.on_nodes {
            return Ok((workload, circumstances));
        }
        let (machine, mut jobs, truth, provenance) = workload.into_parts();
        let demands = self.find_demands(pools, places)?;
        for (job, &demand) in jobs.iter_mut().zip(&demands.demands) {
            job.demand = demand;
        }
        let seated_circumstances = self.seat_running(pools, circumstances, &mut jobs, demands.table.as_deref(), places);
        let table = demands.table.map(|table| self.leave_licences(&table, pools).map_or(table, Arc::new));
        Ok((Workload::with_resources(machine, table, jobs, truth, provenance)?, seated_circumstances))
    }

    /// Gives jobs that run at the beginning the processors of the nodes that their records name. A
    /// job whose nodes others have gets other ones; one for which none are free asks for processors
    /// only and, where these are not free either, waits.
    fn seat_running(
        &self,
        pools: &[u16],
        mut circumstances: Circumstances,
        jobs: &mut [Job],
        table: Option<&ResourceTable>,
        places: &[u32],
    ) -> Circumstances {
        let mut offset = 0_u32;
        for &pool in pools {
            let Some(mut fleet) = Fleet::for_pool(self, pool) else { continue };
            let mut present_jobs: Vec<(JobId, Time)> = (circumstances.here.iter())
                .filter_map(|(&id, adoption)| match adoption {
                    Adopted::Running { since, .. } if self.job_at(places[id.index()] as usize).pool == pool => {
                        Some((id, *since))
                    }
                    _ => None,
                })
                .collect();
            present_jobs.sort_shared_by_key(|&(id, since)| (since, id));
            let asking: Vec<(SiteJob<'_>, u32, Option<NodeShape>)> = (present_jobs.iter())
                .map(|&(id, _)| {
                    let job = &jobs[id.index()];
                    let shape = table.and_then(|table| table.node_shape(job.demand)).cloned();
                    (self.job_at(places[id.index()] as usize), job.procs, shape)
                })
                .collect();
            let seats = fleet.seat_jobs(&asking);
            let mut used_procs: u64 = seats.of.iter().flatten().map(|set| u64::from(set.len())).sum();
            for (&(id, since), set) in present_jobs.iter().zip(seats.of) {
                let job = &mut jobs[id.index()];
                if set.is_none() {
                    used_procs += u64::from(job.procs);
                    if used_procs > u64::from(fleet.procs()) {
                        // It waits, for all that it asks for.
                        used_procs -= u64::from(job.procs);
                        circumstances.here.remove(&id);
                        continue;
                    }
                    job.demand = DemandId::NONE;
                }
                let on = set.map(|set| shift_processors(&set, offset));
                circumstances.here.insert(id, Adopted::Running { since, on });
            }
            offset += fleet.procs();
        }
        circumstances
    }

    /// Returns the knowledge of a workload's jobs beyond each by itself: jobs that run and wait at
    /// the beginning of the window, that wait for others, that leave without a start, the ways in
    /// which they ended, and run times that are guesses. `places` are their places among the jobs
    /// of the site.
    pub fn find_circumstances(&self, workload: &Workload, places: &[u32]) -> Circumstances {
        let mut circumstances = Circumstances::default();
        let from = self.time_of(self.manifest.window.from);
        let early = workload.jobs().first().is_some_and(|job| job.submit < from);
        circumstances.begin = early.then_some(from);
        for (at, &place) in places.iter().enumerate() {
            let (id, job) = (JobId(at as u32), self.job_at(place as usize));
            let arrive = workload.job(id).submit;
            match (job.kind, job.start.map(|start| self.time_of(start))) {
                (SiteJobFate::Ran | SiteJobFate::Running, Some(since)) if early && since < from => {
                    circumstances.here.insert(id, Adopted::Running { since, on: None });
                }
                _ => {}
            }
            if job.kind == SiteJobFate::Withdrawn
                && let Some(end) = job.end
            {
                let at = self.time_of(end).max(arrive).max(if early { from } else { arrive });
                circumstances.withdrawn.push(Withdrawal { at, job: id, only_waiting: true });
            }
            if job.kind != SiteJobFate::Ran {
                circumstances.uncounted.insert(id);
            }
            if let Some(ending) = end_kind(&job) {
                circumstances.ends.insert(id, ending);
            }
        }
        circumstances.withdrawn.sort_shared_by_key(|withdrawal| (withdrawal.at, withdrawal.job));
        circumstances.after = self.find_dependencies(places);
        circumstances
    }

    /// Returns the capacity that a pool lacks over time.
    ///
    /// # Errors
    /// More than it has.
    pub fn find_outages(&self, pool: u16) -> Result<Outages, OutageError> {
        let summary = &self.manifest.pools[usize::from(pool)];
        if self.on_nodes
            && let Some(fleet) = Fleet::for_pool(self, pool)
        {
            let mine: Vec<&NodeLoss> = self.node_losses.iter().filter(|loss| loss.pool == pool).collect();
            return Outages::new(
                Machine::new(summary.units),
                fleet.list_outages(&mine, self.manifest.window.until, |moment| self.time_of(moment)),
            );
        }
        let mine = self.losses.iter().filter(|loss| loss.pool == pool && loss.units > 0);
        let list = mine.map(|loss| self.outage_of(loss)).collect();
        Outages::new(Machine::new(summary.units), list)
    }

    fn outage_of(&self, loss: &PoolLoss) -> Outage {
        let which = Which::Count(loss.units);
        let (begin, end) = (self.time_of(loss.begin), loss.end.map(|end| self.time_of(end)));
        match loss.cause {
            // What ran there is in the records as it ended: nothing is to be hit a second time.
            Cause::Down | Cause::Cluster | Cause::NewNode => Outage::new_drain(which, begin, end),
            Cause::Reservation | Cause::ReservedJob => {
                let announcement = loss.announced.map(|at| self.time_of(at).min(begin));
                Outage {
                    announced: announcement,
                    expected: end,
                    hit: OutageHit::Drain,
                    ..Outage::new_drain(which, begin, end)
                }
            }
        }
    }
}

fn shift_processors(set: &ProcSet, by: u32) -> ProcSet {
    let ranges: Vec<ProcSet> =
        set.ranges().iter().map(|range| ProcSet::from_range(range.start + by..range.end + by)).collect();
    ProcSet::union_of(&ranges)
}

/// The number by which people know a job.
pub(crate) fn job_number(job: &SiteJob<'_>) -> i64 {
    job.id.and_then(|id| i64::try_from(id).ok()).unwrap_or_else(|| i64::try_from(job.number).unwrap_or(i64::MAX))
}

/// A record as a job, without any cleaning; `None` for one without processors or run time.
fn of_record(record: &SwfRecord) -> Option<(Job, Truth)> {
    let procs = [record.requested, record.allocated].into_iter().find(|&n| n > 0);
    let procs = u32::try_from(procs?).ok()?;
    let run = record.run.round();
    if run < 0 {
        return None;
    }
    let limit = record.requested_time.round();
    let small = |value: i64| i32::try_from(value).unwrap_or(-1);
    let mut job = Job::new(Time(record.submit.round()), procs, Span(if limit > 0 { limit } else { run }));
    (job.user, job.group, job.executable) = (small(record.user), small(record.group), small(record.executable));
    (job.queue, job.partition) = (small(record.queue), small(record.partition));
    job.memory_kb = record.requested_memory.round();
    Some((job, Truth { run: Span(run), number: record.number, status: LogStatus::from_swf(record.status) }))
}

/// Returns the way in which a job ended, where that is not by itself.
fn end_kind(job: &SiteJob<'_>) -> Option<How> {
    match (job.kind, RecordState::find_state(&job.state)) {
        (SiteJobFate::Ran, Some(RecordState::Timeout | RecordState::Deadline)) => Some(How::AtLimit),
        (
            SiteJobFate::Ran,
            Some(RecordState::Cancelled | RecordState::Preempted | RecordState::Requeued | RecordState::Revoked),
        ) => Some(How::Cancelled),
        (SiteJobFate::Ran, Some(RecordState::NodeFail)) => Some(How::MachineFailed),
        (SiteJobFate::Ran, Some(RecordState::BootFail)) => Some(How::NotStarted),
        (SiteJobFate::Ran, _) => None,
        // Nothing may learn from a guess.
        (SiteJobFate::Running | SiteJobFate::Waiting | SiteJobFate::Withdrawn, _) => Some(How::Cancelled),
    }
}
