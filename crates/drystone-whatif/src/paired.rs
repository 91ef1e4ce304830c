//! Jobs before and after: differences with intervals, as a whole and class by class.

use crate::periods::{PeriodLength, Periods};
use drystone::inference::{DifferenceVerdict, MeanDifference, NoEstimate, PeriodSum, WeekSigns, says_nothing};
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
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PairedChange {
    pub jobs: u64,
    /// Mean wait before, in seconds.
    pub before: f64,
    /// Mean wait after, in seconds.
    pub after: f64,
    /// Difference of the means, in seconds; below 0 jobs wait less.
    pub difference: f64,
    /// Its interval, in seconds: the mean before times the interval of the relative change; `None`
    /// where there is none.
    pub interval: Option<(f64, f64)>,
    /// after / before − 1; `None` where nothing waited before.
    pub change: Option<f64>,
    pub change_interval: Option<(f64, f64)>,
    /// Probability of a difference as large where there is none.
    pub p: Option<f64>,
    /// Weeks in which jobs wait longer, shorter and as long.
    pub signs: WeekSigns,
    pub verdict: DifferenceVerdict,
    /// Hours that all these jobs wait more.
    pub job_hours: f64,
    /// Change weighted by nodes.
    pub node_hours: f64,
    /// Evidence for the verdict.
    #[serde(skip)]
    evidence: MeanDifference,
}

impl PairedChange {
    /// Returns the sign of a decided change: −1 where jobs wait less, 1 where they wait more, else
    /// 0.
    pub fn change_sign(&self) -> i8 {
        match self.verdict {
            DifferenceVerdict::Shorter => -1,
            DifferenceVerdict::Longer => 1,
            _ => 0,
        }
    }

    /// Judges the difference as one of a family of so many, by its corrected p value.
    pub fn judge_in_family(&mut self, p: f64, confidence: f64, family: usize) {
        self.verdict = self.evidence.judge_difference(Some(p), confidence, family);
    }

    /// Returns whether there is an interval that says something of the size.
    pub fn tells_size(&self) -> bool {
        self.change_interval.is_some_and(|interval| !says_nothing(interval))
    }

    /// Returns the number of further weeks like these after which this relative change would be
    /// told from none.
    pub fn more_weeks(&self, change: f64, confidence: f64) -> Option<usize> {
        self.evidence.estimate.ok()?.more_weeks(change, confidence)
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

/// The change of the mean wait of some of the jobs: jobs and periods are the same before and after,
/// so what they have in common cancels. Days are no weeks: they have signs, and no interval.
pub fn compare_waits<'a>(
    jobs: impl Iterator<Item = &'a PairedWait>,
    periods: &Periods,
    confidence: f64,
) -> PairedChange {
    let mut old = vec![PeriodSum::default(); periods.period_count()];
    let mut new = old.clone();
    let (mut before, mut after, mut node_difference, mut count) = (0.0, 0.0, 0.0, 0_u64);
    for job in jobs {
        let place = job.period as usize;
        let (Some(was), Some(is)) = (old.get_mut(place), new.get_mut(place)) else { continue };
        was.add(PeriodSum { sum: job.before, count: 1.0 });
        is.add(PeriodSum { sum: job.after, count: 1.0 });
        before += job.before;
        after += job.after;
        node_difference += (job.after - job.before) * job.nodes;
        count += 1;
    }
    let mut evidence = MeanDifference::compare_sums(old, new);
    if periods.length == PeriodLength::Day && evidence.estimate.is_ok() {
        evidence.estimate = Err(NoEstimate::TooFew);
    }
    let divisor = (count as f64).max(1.0);
    let change_interval = evidence.change_interval(confidence);
    PairedChange {
        jobs: count,
        before: before / divisor,
        after: after / divisor,
        difference: (after - before) / divisor,
        interval: change_interval.map(|(low, high)| (low * before / divisor, high * before / divisor)),
        change: (before > 0.0).then(|| after / before - 1.0),
        change_interval,
        p: evidence.p_value(),
        signs: evidence.signs,
        verdict: match evidence.judge_difference(evidence.p_value(), confidence, 1) {
            DifferenceVerdict::Shorter | DifferenceVerdict::Longer if periods.length == PeriodLength::Day => {
                DifferenceVerdict::TooFew
            }
            verdict => verdict,
        },
        job_hours: (after - before) / 3_600.0,
        node_hours: node_difference / 3_600.0,
        evidence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::model::{Span, Time};

    fn weeks(count: i64) -> Periods {
        Periods::from_submits((Time(0), Time(count * Span::WEEK.0 - 1)), false)
    }

    /// Ten jobs in five weeks that wait 10, 20, …, 100 s before, and twice as long after.
    #[test]
    fn differences_of_the_same_jobs() {
        let jobs: Vec<PairedWait> = (0..10)
            .map(|k| PairedWait {
                period: k / 2,
                before: f64::from(k + 1) * 10.0,
                after: f64::from(k + 1) * 20.0,
                nodes: 2.0,
            })
            .collect();
        let change = compare_waits(jobs.iter(), &weeks(5), 0.95);
        assert_eq!((change.jobs, change.before, change.after, change.difference), (10, 55.0, 110.0, 55.0));
        // Every week doubles: there is no doubt.
        let (low, high) = change.interval.expect("five weeks");
        assert!((low - 55.0).abs() < 1e-9 && (high - 55.0).abs() < 1e-9, "{low} {high}");
        assert!((change.job_hours - 550.0 / 3_600.0).abs() < 1e-12);
        assert!((change.node_hours - 1_100.0 / 3_600.0).abs() < 1e-12);
        assert_eq!((change.change_sign(), change.signs.longer), (1, 5));
        let same: Vec<PairedWait> = jobs.iter().map(|job| PairedWait { after: job.before, ..*job }).collect();
        let change = compare_waits(same.iter(), &weeks(5), 0.95);
        assert_eq!((change.difference, change.interval, change.change_sign()), (0.0, Some((0.0, 0.0)), 0));
        assert_eq!(change.verdict, DifferenceVerdict::Same);
        // Three weeks are days, and too few.
        let days = Periods::from_submits((Time(0), Time(20 * Span::DAY.0)), false);
        let change = compare_waits(jobs.iter(), &days, 0.95);
        assert_eq!((change.interval, change.verdict, change.signs.longer), (None, DifferenceVerdict::TooFew, 5));
    }

    /// Nothing waited before: no ratio and no interval, but in each of nine weeks some job waits.
    #[test]
    fn from_nothing_to_something() {
        let jobs: Vec<PairedWait> =
            (0..9).map(|k| PairedWait { period: k, before: 0.0, after: 60.0 * f64::from(k + 1), nodes: 1.0 }).collect();
        let change = compare_waits(jobs.iter(), &weeks(9), 0.95);
        assert_eq!((change.change, change.interval, change.change_sign()), (None, None, 1));
        assert_eq!(change.signs.describe("week").as_deref(), Some("longer in 9 of 9 weeks"));
        let change = compare_waits(jobs.iter().take(7), &weeks(9), 0.95);
        assert_eq!((change.change_sign(), change.verdict), (0, DifferenceVerdict::NoRatio));
    }

    /// Judged as one of many, a change may no longer be decided.
    #[test]
    fn families_decide() {
        let jobs: Vec<PairedWait> = (0..12)
            .map(|k| PairedWait {
                period: k,
                before: 100.0,
                after: if k == 3 { 99.0 } else { 120.0 + f64::from(k) },
                nodes: 1.0,
            })
            .collect();
        let mut change = compare_waits(jobs.iter(), &weeks(12), 0.95);
        assert_eq!(change.change_sign(), 1, "{change:?}");
        change.judge_in_family(0.06, 0.95, 1);
        assert_eq!(change.verdict, DifferenceVerdict::Unclear);
    }
}
