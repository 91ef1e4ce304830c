//! Classes of jobs, by run time and processors.

use super::category::Scheme;
use crate::inference::PeriodSum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Results of a class of jobs, by run time and processors ([`Scheme::Chiang`]).
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobClass {
    /// Its key: class of run time × 5 + class of processors.
    pub key: i64,
    /// Jobs.
    pub jobs: u64,
    /// Processor-seconds that they received.
    pub work: f64,
    /// The longest wait, in seconds.
    pub longest: f64,
    /// Sums of waits per week of submits.
    #[serde(skip)]
    pub(super) weeks: BTreeMap<i64, PeriodSum>,
}

impl JobClass {
    pub(super) fn take_job(&mut self, week: i64, wait: f64, work: f64) {
        self.jobs += 1;
        self.work += work;
        self.longest = self.longest.max(wait);
        let sum = self.weeks.entry(week).or_default();
        sum.sum += wait;
        sum.count += 1.0;
    }

    pub(super) fn add_class(&mut self, class: &JobClass) {
        self.jobs += class.jobs;
        self.work += class.work;
        self.longest = self.longest.max(class.longest);
        for (week, sum) in &class.weeks {
            let week_sum = self.weeks.entry(*week).or_default();
            week_sum.sum += sum.sum;
            week_sum.count += sum.count;
        }
    }

    pub(super) fn mean_wait(&self) -> f64 {
        let sums = self.weeks.values().fold((0.0, 0.0), |total, sum| (total.0 + sum.sum, total.1 + sum.count));
        sums.0 / sums.1.max(1.0)
    }
}

pub(super) const SCHEME: Scheme = Scheme::Chiang;
