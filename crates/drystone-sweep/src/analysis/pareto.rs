//! Pareto fronts: what no other beats in everything.

use super::Table;
use super::table::even;
use crate::Metric;
use crate::error::SweepError;

/// The candidates that no other beats.
#[derive(Clone, Debug)]
pub struct Front {
    /// The metrics that were weighed.
    pub metrics: Vec<Metric>,
    /// Whether values are mean degradations from the best, in percent, because there are several workloads.
    pub degradations: bool,
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
    /// The front of a table. With one workload its metrics are compared as they are; with several, each metric by its mean
    /// degradation from the best over the workloads. Equal candidates do not beat each other.
    ///
    /// # Errors
    /// As for [`Table::degradations`], with several workloads.
    ///
    /// Cost: O(n·f) for n candidates and a front of f.
    pub fn of(table: &Table) -> Result<Front, SweepError> {
        let degradations = table.cases.len() > 1;
        let width = table.metrics.len();
        let objectives: Vec<Vec<f64>> = if degradations {
            let (_, all) = table.degradations()?;
            let mean = |list: &Vec<f64>, metric: usize| {
                even(list.iter().skip(metric).step_by(width).sum::<f64>() / table.cases.len() as f64)
            };
            all.iter().map(|list| (0..width).map(|metric| mean(list, metric)).collect()).collect()
        } else {
            table.candidates.iter().map(|c| c.values.clone()).collect()
        };
        // Smaller is better from here on.
        let cost = |at: usize, metric: usize| {
            let more = !degradations && table.metrics[metric].more_is_better();
            if more { -objectives[at][metric] } else { objectives[at][metric] }
        };
        let compare = |&a: &usize, &b: &usize| {
            let by = (0..width).map(|m| cost(a, m).total_cmp(&cost(b, m))).find(|o| o.is_ne());
            by.unwrap_or(a.cmp(&b))
        };
        let mut order: Vec<usize> = (0..objectives.len()).collect();
        order.sort_by(compare);
        // In this order nobody is beaten by one that comes later.
        let mut front: Vec<usize> = Vec::new();
        for at in order {
            let beaten = front.iter().any(|&other| {
                (0..width).all(|m| cost(other, m) <= cost(at, m)) && (0..width).any(|m| cost(other, m) < cost(at, m))
            });
            if !beaten {
                front.push(at);
            }
        }
        let members =
            front.into_iter().map(|candidate| OnFront { candidate, values: objectives[candidate].clone() }).collect();
        Ok(Front { metrics: table.metrics.clone(), degradations, members })
    }
}
