//! Fairness of a policy to jobs and users.

use super::keyed::Keyed;
use super::row::JobRow;
use super::summary::Summary;
use crate::model::{Job, Machine, ResourceId, ResourceTable, Span};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Fairness of the bounded slowdowns (10 s, Tsafrir's form) of the jobs that count.
///
/// The index of Jain, Chiu & Hawe (1984) of values x is (Σx)² / (n Σx²): 1 where all are equal, 1/n
/// where one has everything.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Fairness {
    /// Jain's index over the bounded slowdowns of jobs; `None` without jobs.
    pub jobs: Option<f64>,
    /// Jain's index over the users' mean bounded slowdowns; jobs without a user count as one
    /// user's.
    pub users: Option<f64>,
    /// The user with the largest mean bounded slowdown; the smallest number among equals.
    pub worst_user: Option<i32>,
    /// That mean.
    pub worst_user_slowdown: Option<f64>,
    /// Share of jobs that started later than some job submitted after them; `None` where job rows
    /// were not kept.
    pub overtaken: Option<f64>,
    /// Jain's index over what users received of the dominant shares that they asked for; jobs
    /// without a user count as one user's. `None` where no job ran.
    ///
    /// The dominant share s of a job is the largest share of the machine that it asks for, of
    /// processors or of another resource (Ghodsi et al. 2011, section 4). A user whose jobs waited
    /// w and ran r received Σ s·r of Σ s·(w + r): 1 where no job waited.
    #[serde(default)]
    pub dominant: Option<f64>,
}

/// Mean bounded slowdowns per user, and dominant shares received and asked for.
#[derive(Clone, Debug)]
pub(super) struct Users {
    sums: Keyed<OfUser>,
    procs: f64,
    resources: Option<Arc<ResourceTable>>,
}

/// Sums of one user.
#[derive(Clone, Debug, Default)]
struct OfUser {
    jobs: u64,
    slowdown: f64,
    /// Dominant shares times seconds, received and asked for.
    received: f64,
    asked: f64,
}

impl Users {
    pub(super) fn new(machine: Machine, resources: Option<Arc<ResourceTable>>) -> Users {
        let resources = resources.filter(|table| table.has_resources());
        Users { sums: Keyed::default(), procs: f64::from(machine.procs.max(1)), resources }
    }

    pub(super) fn take_job(&mut self, job: &Job, slowdown: f64, wait: Span, ran: Span) {
        let share = self.dominant_share(job);
        let user = self.sums.value_at(i64::from(job.user), Default::default);
        user.jobs += 1;
        user.slowdown += slowdown;
        user.received += share * ran.as_f64();
        user.asked += share * (wait + ran).as_f64();
    }

    /// The largest share of the machine that a job asks for.
    #[inline]
    fn dominant_share(&self, job: &Job) -> f64 {
        let share = f64::from(job.procs) / self.procs;
        let Some(table) = &self.resources else { return share };
        let of = |&(id, amount): &(ResourceId, u64)| {
            amount as f64 / table.find_resource(id).map_or(1, |resource| resource.total.max(1)) as f64
        };
        table.demand_totals(job.demand).iter().map(of).fold(share, f64::max)
    }

    pub(super) fn finish(self, slowdown: &Summary, rows: Option<&[JobRow]>) -> Fairness {
        let sums: Vec<(i64, OfUser)> = self.sums.into_sorted().collect();
        let means: Vec<(i32, f64)> =
            sums.iter().map(|(user, own)| (*user as i32, own.slowdown / own.jobs as f64)).collect();
        let served_shares = sums.iter().filter(|(_, own)| own.asked > 0.0).map(|(_, own)| own.received / own.asked);
        let worst = means.iter().copied().reduce(|worst, user| if user.1 > worst.1 { user } else { worst });
        let jobs = || {
            let variation = slowdown.deviation? / slowdown.mean?;
            Some(1.0 / (1.0 + variation * variation))
        };
        Fairness {
            jobs: jobs(),
            users: jain_index(means.iter().map(|m| m.1)),
            worst_user: worst.map(|w| w.0),
            worst_user_slowdown: worst.map(|w| w.1),
            overtaken: rows.and_then(overtaken_share),
            dominant: jain_index(served_shares),
        }
    }
}

/// Jain's index of fairness; `None` without values or where all are 0.
#[must_use]
pub fn jain_index(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

/// Share of counted jobs that started later than some job submitted strictly after them. `None`
/// without counted jobs.
///
/// `rows` in order of arrival, all jobs of the simulation. Cost: O(n).
#[must_use]
pub fn overtaken_share(rows: &[JobRow]) -> Option<f64> {
    let (mut jobs, mut late) = (0_u64, 0_u64);
    // Earliest start among jobs submitted after `submit`, and among those submitted at `submit` or
    // after.
    let (mut after, mut from) = (i64::MAX, i64::MAX);
    let mut submit = None;
    for row in rows.iter().rev() {
        if submit != Some(row.submit) {
            (after, submit) = (from, Some(row.submit));
        }
        from = from.min(row.start.0);
        if row.counted {
            jobs += 1;
            late += u64::from(row.start.0 > after);
        }
    }
    (jobs > 0).then(|| late as f64 / jobs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Demand, DemandId, Resource, ResourceTableBuilder, ResourceUnit, Time};

    /// By hand, on 4 processors and 8 GB. User 1 has half of the processors: 10 s of wait, 10 s of
    /// run, so x₁ = 5/10. User 2 has ¾ of the memory for 20 s at once, and after a wait of 20 s a
    /// quarter of the processors for 20 s: x₂ = (15 + 5) / (15 + 10) = 0.8. The index is
    /// 1.3² / (2 · (0.25 + 0.64)).
    #[test]
    fn dominant_shares_by_hand() {
        let mut table = ResourceTableBuilder::new();
        let memory = table.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, 8 << 20)).expect("new");
        let large = table.intern_demand(Demand::from_totals([(memory, 6 << 20)])).expect("known");
        let mut users = Users::new(Machine::new(4), Some(table.finish()));
        let mut take = |user, procs, demand, wait, ran| {
            let mut job = Job::new(Time(0), procs, Span(ran));
            (job.user, job.demand) = (user, demand);
            users.take_job(&job, 1.0, Span(wait), Span(ran));
        };
        take(1, 2, DemandId::NONE, 10, 10);
        take(2, 1, large, 0, 20);
        take(2, 1, DemandId::NONE, 20, 20);
        // A user whose job took no time asked for nothing.
        take(3, 1, large, 0, 0);
        let share = users.finish(&Summary::default(), None).dominant.expect("jobs ran");
        assert!((share - 1.69 / 1.78).abs() < 1e-12, "{share}");
    }
}
