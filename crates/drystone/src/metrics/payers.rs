//! Classes of jobs that pay for a change: whose wait becomes clearly longer.

use super::classes::JobClass;
use super::report::Report;
use crate::inference::{DifferenceVerdict, MeanDifference, PeriodSum};
use crate::model::SharedSort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A class that pays.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Payer {
    /// Its jobs in words: `>64 processors`.
    pub class: String,
    /// Their share of all work.
    pub work: f64,
    /// Mean wait under the baseline and under the policy, in seconds.
    pub mean: (f64, f64),
    /// Longest wait under both, in seconds.
    pub longest: (f64, f64),
    /// True if the mean is clearly worse, false if only the longest wait is.
    pub by_mean: bool,
}

const WIDTHS: [&str; 5] =
    ["1 processor", "2 to 8 processors", "9 to 32 processors", "33 to 64 processors", "more than 64 processors"];
const RUNS: [&str; 5] = ["up to 10 min", "10 min to 1 h", "1 to 4 h", "4 to 8 h", "more than 8 h"];
/// Of less of the work and of the jobs nothing is said.
const WORTH_NAMING: f64 = 0.01;
/// A mean wait that grows by less, in seconds, is no price.
const NOTICEABLE: f64 = 300.0;
/// A longest wait that grows by less, in seconds, or is less than twice as long, is none.
const LONG: f64 = 4.0 * 3_600.0;

/// Classes whose mean wait is clearly longer than under the baseline, or whose longest wait is at
/// least twice as long; those that lose most processor-seconds of waiting first. A class by width
/// or by run time alone stands for those in it.
#[must_use]
pub fn find_payers(old: &Report, new: &Report, confidence: f64) -> Vec<Payer> {
    let total_work: f64 = old.classes.iter().map(|class| class.work).sum();
    let jobs: u64 = old.classes.iter().map(|class| class.jobs).sum();
    let sum = |report: &Report, keys: &dyn Fn(i64) -> bool| {
        let mut sum = JobClass::default();
        report.classes.iter().filter(|class| keys(class.key)).for_each(|class| sum.add_class(class));
        sum
    };
    let mut payers: Vec<(f64, Payer, BTreeSet<i64>)> = Vec::new();
    let mut judge = |name: String, keys: BTreeSet<i64>| {
        if payers.iter().any(|(_, _, rival_keys)| keys.is_subset(rival_keys)) {
            return;
        }
        let (before, after) = (sum(old, &|key| keys.contains(&key)), sum(new, &|key| keys.contains(&key)));
        let share = before.work / total_work.max(1.0);
        if share < WORTH_NAMING && (before.jobs as f64) < WORTH_NAMING * jobs as f64 || before.jobs == 0 {
            return;
        }
        let (mean, longest) = ((before.mean_wait(), after.mean_wait()), (before.longest, after.longest));
        let by_mean = mean.1 - mean.0 >= NOTICEABLE && is_longer(&before, &after, confidence);
        if by_mean || longest.1 - longest.0 >= LONG && longest.1 >= 2.0 * longest.0 {
            let price = (mean.1 - mean.0).max(0.0) * before.work;
            payers.push((price, Payer { class: name, work: share, mean, longest, by_mean }, keys));
        }
    };
    for (width, name) in (0..).zip(WIDTHS) {
        judge(name.to_string(), (0..5).map(|run| run * 5 + width).collect());
    }
    for (run, name) in (0..).zip(RUNS) {
        judge(format!("{name} of run time"), (0..5).map(|width| run * 5 + width).collect());
    }
    for (run, length) in (0..).zip(RUNS) {
        for (width, name) in (0..).zip(WIDTHS) {
            judge(format!("{name}, {length}"), [run * 5 + width].into());
        }
    }
    payers.sort_shared_by(|a, b| b.0.total_cmp(&a.0));
    payers.into_iter().map(|(_, payer, _)| payer).collect()
}

fn is_longer(old: &JobClass, new: &JobClass, confidence: f64) -> bool {
    let keys = || old.weeks.keys().chain(new.weeks.keys()).copied();
    let (Some(first), Some(last)) = (keys().min(), keys().max()) else { return false };
    let sums = |class: &JobClass| -> Vec<PeriodSum> {
        (first..=last).map(|week| class.weeks.get(&week).copied().unwrap_or_default()).collect()
    };
    let difference = MeanDifference::compare_sums(sums(old), sums(new));
    difference.judge_difference(difference.p_value(), confidence, 1) == DifferenceVerdict::Longer
}
