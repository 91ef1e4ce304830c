//! Jobs before and after: differences with intervals, as a whole and class by class.

use drystone::metrics::interval::{PeriodSum, mean_interval};
use serde::Serialize;

/// A job before and after.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PairedWait {
    /// Its period of submit, before.
    pub period: u32,
    /// Its wait before, in seconds.
    pub before: f64,
    /// Its wait after, in seconds: of one that was split, all that its response exceeds its run
    /// time by.
    pub after: f64,
    pub nodes: f64,
}

/// A mean wait before and after, over the same jobs.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct PairedChange {
    pub jobs: u64,
    /// Mean wait before, in seconds.
    pub before: f64,
    /// Mean wait after, in seconds.
    pub after: f64,
    /// Difference of the means, in seconds; below 0 jobs wait less.
    pub difference: f64,
    /// Its interval, in seconds; `None` where there are too few periods.
    pub interval: Option<(f64, f64)>,
    /// Hours that all these jobs wait more.
    pub job_hours: f64,
    /// Change weighted by nodes.
    pub node_hours: f64,
}

impl PairedChange {
    /// Returns the sign of a clear change: −1 where jobs clearly wait less, 1 where they clearly
    /// wait more, else 0.
    pub fn sign(&self) -> i8 {
        match self.interval {
            Some((_, high)) if high < 0.0 => -1,
            Some((low, _)) if low > 0.0 => 1,
            _ => 0,
        }
    }
}

/// A class of jobs before and after.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassChange {
    /// The kind of class: `partition`, `account`, `size and run time`, `GPU`.
    pub by: String,
    pub class: String,
    /// Its share of all node-hours of work before.
    pub work: f64,
    /// Its jobs before and after.
    #[serde(flatten)]
    pub change: PairedChange,
}

/// The change of the mean wait of some of the jobs, with the interval of the difference: jobs and
/// periods are the same before and after, so what they have in common cancels.
pub fn paired<'a>(jobs: impl Iterator<Item = &'a PairedWait>, periods: usize, confidence: f64) -> PairedChange {
    let mut sums = vec![PeriodSum::default(); periods];
    let (mut before, mut after, mut weighted) = (0.0, 0.0, 0.0);
    for job in jobs {
        let difference = job.after - job.before;
        before += job.before;
        after += job.after;
        weighted += difference * job.nodes;
        if let Some(sum) = sums.get_mut(job.period as usize) {
            sum.sum += difference;
            sum.count += 1.0;
        }
    }
    let count: f64 = sums.iter().map(|sum| sum.count).sum();
    let total: f64 = sums.iter().map(|sum| sum.sum).sum();
    let filled: Vec<PeriodSum> = sums.into_iter().filter(|sum| sum.count > 0.0).collect();
    let each = count.max(1.0);
    PairedChange {
        jobs: count as u64,
        before: before / each,
        after: after / each,
        difference: total / each,
        interval: mean_interval(&filled, confidence),
        job_hours: total / 3_600.0,
        node_hours: weighted / 3_600.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten jobs in five periods that wait 10, 20, …, 100 s before, and 60 s less or more by turns
    /// in pairs of periods.
    #[test]
    fn differences_of_the_same_jobs() {
        let jobs: Vec<PairedWait> = (0..10)
            .map(|k| PairedWait {
                period: k / 2,
                before: f64::from(k + 1) * 10.0,
                after: f64::from(k + 1) * 10.0 + 36.0,
                nodes: 2.0,
            })
            .collect();
        let change = paired(jobs.iter(), 5, 0.95);
        assert_eq!((change.jobs, change.before, change.after, change.difference), (10, 55.0, 91.0, 36.0));
        // Every period moves by the same: there is no doubt.
        assert_eq!(change.interval, Some((36.0, 36.0)));
        assert!((change.job_hours - 0.1).abs() < 1e-12 && (change.node_hours - 0.2).abs() < 1e-12);
        assert_eq!(change.sign(), 1);
        let same: Vec<PairedWait> = jobs.iter().map(|job| PairedWait { after: job.before, ..*job }).collect();
        let change = paired(same.iter(), 5, 0.95);
        assert_eq!((change.difference, change.interval, change.sign()), (0.0, Some((0.0, 0.0)), 0));
        assert_eq!(paired(same.iter().take(4), 5, 0.95).interval, None, "two periods");
    }
}
