//! Pareto fronts: what no other beats in everything.

use super::CandidateTable;
use super::table::round_digits;
use crate::SweepMetric;
use drystone::metrics::Better;

/// The candidates that no other beats.
#[derive(Clone, Debug)]
pub struct Front {
    /// The metrics that were weighed.
    pub metrics: Vec<SweepMetric>,
    /// True if values are mean degradations from the best, in percent, because there are several
    /// workloads.
    pub degradations: bool,
    /// The metrics whose values then are plain means over the workloads, because on one of them
    /// they are 0 for some candidate, and other values are no multiple of that.
    pub means: Vec<SweepMetric>,
    /// The front, by the first metric.
    pub members: Vec<OnFront>,
}

/// A candidate on the front.
#[derive(Clone, PartialEq, Debug)]
pub struct OnFront {
    /// Its place in the table's candidates.
    pub candidate: usize,
    /// A value per metric.
    pub values: Vec<f64>,
}

impl Front {
    /// The front of a table. With one workload its metrics are compared as they are; with several,
    /// each metric by its mean degradation from the best over the workloads, or by its mean over
    /// them where there are no such degradations. Equal candidates do not beat each other.
    ///
    /// Cost: O(n·f) for n candidates and a front of f.
    pub fn from_table(table: &CandidateTable) -> Front {
        let degradations = table.cases.len() > 1;
        let width = table.metrics.len();
        let mut means = Vec::new();
        let mut objectives: Vec<Vec<f64>> = vec![Vec::with_capacity(width); table.candidates.len()];
        for (at, metric) in table.metrics.iter().enumerate() {
            let tests = || (at..table.test_count()).step_by(width);
            let worse: Option<Vec<Vec<f64>>> = tests().map(|test| Some(table.test_degradation(test)?.1)).collect();
            for (candidate, list) in objectives.iter_mut().enumerate() {
                let sum: f64 = match worse.as_ref().filter(|_| degradations) {
                    Some(worse) => worse.iter().map(|test| test[candidate]).sum(),
                    None => tests().map(|test| table.candidates[candidate].values[test]).sum(),
                };
                list.push(round_digits(sum / table.cases.len() as f64));
            }
            if degradations && worse.is_none() {
                means.push(metric.clone());
            }
        }
        // Smaller is better from here on.
        let cost = |at: usize, metric: usize| {
            let plain = !degradations || means.contains(&table.metrics[metric]);
            let more = plain && table.metrics[metric].better_direction() == Better::More;
            if more { -objectives[at][metric] } else { objectives[at][metric] }
        };
        let compare = |&a: &usize, &b: &usize| {
            let by = (0..width).map(|m| cost(a, m).total_cmp(&cost(b, m))).find(|o| o.is_ne());
            by.unwrap_or(a.cmp(&b))
        };
        let mut order: Vec<usize> = (0..objectives.len()).collect();
        order.sort_by(compare);
        // In this order none is beaten by one that comes later.
        let mut front: Vec<usize> = Vec::new();
        for at in order {
            let is_beaten = front.iter().any(|&rival| {
                (0..width).all(|m| cost(rival, m) <= cost(at, m)) && (0..width).any(|m| cost(rival, m) < cost(at, m))
            });
            if !is_beaten {
                front.push(at);
            }
        }
        let members =
            front.into_iter().map(|candidate| OnFront { candidate, values: objectives[candidate].clone() }).collect();
        Front { metrics: table.metrics.clone(), degradations, means, members }
    }
}
