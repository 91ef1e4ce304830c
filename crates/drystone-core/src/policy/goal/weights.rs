//! Weight of each job's wait in the measures that weigh waits: fair share and special priority,
//! which the authors left to future work, and shares of resources.

use super::measures::GoalMeasure;
use super::objective::GoalObjective;
use super::rules::SearchRow;
use super::task::GoalTask;
use std::collections::BTreeMap;

/// The weight of a user that had nothing.
const FULL: i128 = 1024;

/// Fills the weights of the rows, `places` being those of their jobs. O(n log n) where there is
/// something to weigh.
pub(super) fn fill_weights(task: &GoalTask, objective: &GoalObjective, places: &[u32], rows: &mut [SearchRow]) {
    for (at, measure) in objective.measures.iter().enumerate() {
        let owner = |place: u32| task.waiting[place as usize].owner;
        match measure {
            GoalMeasure::Special(select) => {
                for (row, &place) in rows.iter_mut().zip(places) {
                    row.weights[at] = u16::from(select.is_special(&owner(place)));
                }
            }
            GoalMeasure::ShareArea(resource) => {
                for (row, &place) in rows.iter_mut().zip(places) {
                    row.weights[at] = task.shares.get(place as usize).map_or(0, |shares| resource.share_of(shares));
                }
            }
            GoalMeasure::Fair(_) => {
                let mut usage: BTreeMap<i32, i64> =
                    task.usage.iter().filter(|entry| *entry.1 > 0).map(|(&user, &amount)| (user, amount)).collect();
                places.iter().for_each(|&place| {
                    usage.entry(owner(place).user).or_insert(0);
                });
                let share = equal_share(&usage);
                for (row, &place) in rows.iter_mut().zip(places) {
                    row.weights[at] = share_weight(share, usage[&owner(place).user]);
                }
            }
            _ => {}
        }
    }
}

fn equal_share(usage: &BTreeMap<i32, i64>) -> i128 {
    let total_usage: i128 = usage.values().map(|&amount| i128::from(amount)).sum();
    total_usage / (usage.len() as i128).max(1)
}

/// 1024·share / (share + used).
fn share_weight(share: i128, amount: i64) -> u16 {
    let sum = share + i128::from(amount);
    if sum == 0 { FULL as u16 } else { (FULL * share / sum) as u16 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three users, with 600, 0 and 300 processor-seconds: the equal share is 300.
    #[test]
    fn who_had_little_weighs_much() {
        let usage = BTreeMap::from([(1, 600), (2, 0), (3, 300)]);
        let share = equal_share(&usage);
        assert_eq!(share, 300);
        assert_eq!([600, 0, 300].map(|amount| share_weight(share, amount)), [341, 1024, 512]);
        assert_eq!(share_weight(0, 0), 1024);
    }
}
