//! Waits for more than a place on the machine: for limits that jobs share, for other jobs, for
//! times.

use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use crate::output::number::percent;
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{JobId, JobLimit, Outages, Time};
use drystone::policy::{PolicySpec, StartReason};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// The policy under which waits are measured: which of them place jobs, and where, is of little
/// weight.
const POLICY: &str = "easy";
/// Parts of the waiting below this are not worth a sentence.
const WORTH: f64 = 0.1;
/// Causes that are named.
const NAMED: usize = 2;

/// Parts of all waiting in which jobs were held back, the largest first.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(crate) struct HeldWaits {
    /// By holder of the limits, such as `the QOS normal`.
    limits: Vec<(String, f64)>,
    /// For other jobs, a time to begin or a release.
    others: f64,
}

/// Watches for what jobs wait.
#[derive(Default)]
struct HoldObserver {
    since: BTreeMap<JobId, Time>,
    /// Beginning of the present hold, and the holder of its limit.
    holds: BTreeMap<JobId, (Time, Option<String>)>,
    waited: f64,
    limits: BTreeMap<String, f64>,
    others: f64,
}

impl HoldObserver {
    fn end(&mut self, now: Time, id: JobId) {
        let Some((from, family)) = self.holds.remove(&id) else { return };
        let part = (now - from).as_f64().max(0.0);
        match family {
            Some(family) => *self.limits.entry(family).or_default() += part,
            None => self.others += part,
        }
    }
}

impl Observer for HoldObserver {
    const NOTES: bool = false;
    const ENDS: bool = false;

    fn arrived(&mut self, now: Time, id: JobId) {
        self.since.insert(id, now);
    }

    fn held(&mut self, now: Time, id: JobId) {
        self.holds.insert(id, (now, None));
    }

    fn limited(&mut self, now: Time, id: JobId, limit: &JobLimit) {
        self.end(now, id);
        self.holds.insert(id, (now, Some(limit.family.clone())));
    }

    fn released(&mut self, now: Time, id: JobId) {
        self.end(now, id);
    }

    fn started(&mut self, now: Time, id: JobId, _why: StartReason) {
        if let Some(since) = self.since.remove(&id) {
            self.waited += (now - since).as_f64();
        }
    }
}

impl HeldWaits {
    /// Simulates the jobs of a site whose jobs share limits; `None` for others, and on
    /// cancellation.
    ///
    /// # Errors
    /// As a simulation.
    pub(crate) fn measure(
        input: &WorkloadInput,
        (outages, feedback): (&Outages, bool),
        stop: &AtomicBool,
    ) -> Result<Option<HeldWaits>, CommandFailure> {
        if input.workload.circumstances().is_none_or(|known| known.limits.is_empty()) {
            return Ok(None);
        }
        let spec: PolicySpec = POLICY.parse()?;
        let mut watch = HoldObserver::default();
        let done = Experiment::new(&spec, &input.workload)
            .losing(Some(outages))
            .divided(input.division())
            .feeding_back(feedback)
            .finding(&[], JobSelection::All)
            .until(stop)
            .run(&mut watch)
            .map_err(|error| CommandFailure::experiment(POLICY, error))?;
        Ok(done.and_then(|_| watch.shares()))
    }

    /// The sentence for people; `None` where hardly any waiting is of this kind. `site` is the path
    /// of the site.
    pub(crate) fn sentence(&self, site: &str) -> Option<String> {
        let mut parts: Vec<String> = (self.limits.iter().take(NAMED))
            .filter(|(_, share)| *share >= WORTH)
            .map(|(family, share)| format!("{} of the waiting is a limit of {family}", percent(Some(*share), 0)))
            .collect();
        let limits = !parts.is_empty();
        if self.others >= WORTH {
            let share = percent(Some(self.others), 0);
            parts.push(format!("{share} of the waiting is for other jobs, a time to begin or a release"));
        }
        if parts.is_empty() {
            return None;
        }
        let advice = if limits { format!(": `drystone advise {site} --only limits`") } else { String::new() };
        Some(format!("{}, which no policy changes{advice}", parts.join("; ")))
    }
}

impl HoldObserver {
    fn shares(self) -> Option<HeldWaits> {
        let all = self.waited;
        let mut limits: Vec<(String, f64)> =
            self.limits.into_iter().map(|(family, seconds)| (family, seconds / all)).collect();
        limits.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        (all > 0.0).then(|| HeldWaits { limits, others: self.others / all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a job waits 40 s, 30 of them for a limit; another one 60 s, all of them for its
    /// machine: 30 of 100 s.
    #[test]
    fn parts_are_of_all_waiting() {
        let limit = JobLimit {
            reason: "QOSMaxCpuPerUserLimit".to_string(),
            of: "the QOS normal for the user ada".to_string(),
            family: "the QOS normal".to_string(),
            most: 8,
        };
        let mut watch = HoldObserver::default();
        for id in [JobId(0), JobId(1)] {
            watch.arrived(Time(0), id);
        }
        watch.held(Time(0), JobId(0));
        watch.limited(Time(0), JobId(0), &limit);
        watch.released(Time(30), JobId(0));
        watch.started(Time(40), JobId(0), StartReason::Head);
        watch.started(Time(60), JobId(1), StartReason::Head);
        let shares = watch.shares().expect("jobs waited");
        assert_eq!(shares, HeldWaits { limits: vec![("the QOS normal".to_string(), 0.3)], others: 0.0 });
        assert_eq!(
            shares.sentence("site").as_deref(),
            Some(
                "30% of the waiting is a limit of the QOS normal, which no policy changes: `drystone advise site --only limits`"
            )
        );
    }
}
