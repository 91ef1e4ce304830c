//! Events of a case besides arrivals and ends: outages, holds, dependencies, a busy beginning.

use drystone::model::{Circumstances, JobId, JobLimits, Machine, Outage, Outages, Procs};
use std::collections::BTreeMap;

/// Events besides arrivals and ends.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct CaseWorld {
    /// Processors that are out.
    pub outages: Vec<Outage>,
    /// Known circumstances of the jobs beyond each job's own facts.
    pub known: Circumstances,
    /// True if jobs arrive when others end.
    pub feedback: bool,
}

impl CaseWorld {
    /// Returns whether there are no such events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == CaseWorld::default()
    }

    /// The outages on a machine; `None` where they are impossible there.
    #[must_use]
    pub fn build_outages(&self, procs: Procs) -> Option<Outages> {
        Outages::new(Machine::new(procs), self.outages.clone()).ok()
    }

    /// Returns the world without the jobs from one place up to another.
    #[must_use]
    pub fn without_jobs(&self, from: usize, until: usize) -> CaseWorld {
        let place = |job: JobId| match job.index() {
            at if at < from => Some(job),
            at if at >= until => Some(JobId((at - (until - from)) as u32)),
            _ => None,
        };
        CaseWorld { known: self.known.restrict_to(place), ..self.clone() }
    }

    /// Smaller ones: without an outage, without a kind of circumstance.
    pub(crate) fn smaller_worlds(&self) -> Vec<CaseWorld> {
        let mut worlds = Vec::new();
        if self.is_empty() {
            return worlds;
        }
        worlds.push(CaseWorld::default());
        worlds.push(CaseWorld { known: Circumstances::default(), feedback: false, ..self.clone() });
        worlds.push(CaseWorld { outages: Vec::new(), ..self.clone() });
        worlds.push(CaseWorld { feedback: false, ..self.clone() });
        for at in 0..self.outages.len() {
            let mut smaller = self.clone();
            smaller.outages.remove(at);
            worlds.push(smaller);
        }
        for at in 0..self.outages.len() {
            let outage = &self.outages[at];
            let plain = Outage::new_failure(outage.which.clone(), outage.begin, outage.end);
            for other in
                [plain.clone(), Outage { hit: outage.hit, ..plain }, Outage { expected: None, ..outage.clone() }]
            {
                let mut smaller = self.clone();
                smaller.outages[at] = other;
                worlds.push(smaller);
            }
        }
        let circumstances = &self.known;
        let mut less = |change: &dyn Fn(&mut Circumstances)| {
            let mut changed_circumstances = circumstances.clone();
            change(&mut changed_circumstances);
            worlds.push(CaseWorld { known: changed_circumstances, ..self.clone() });
        };
        less(&|k| (k.begin, k.here) = (None, BTreeMap::new()));
        less(&|k| k.eligible.clear());
        less(&|k| k.after.clear());
        less(&|k| k.throttles.clear());
        less(&|k| k.limits = JobLimits::default());
        less(&|k| k.withdrawn.clear());
        less(&|k| k.ends.clear());
        less(&|k| _ = k.here.pop_last());
        less(&|k| _ = k.eligible.pop_last());
        less(&|k| _ = k.after.pop_last());
        less(&|k| _ = k.withdrawn.pop());
        worlds.retain(|smaller| smaller != self);
        worlds
    }
}
