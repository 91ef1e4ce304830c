//! Sharing work out so that all tasks end together.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A task with the work it has so far. The one with least work is the greatest, of equal ones the
/// first.
struct Load {
    seconds: f64,
    task: usize,
}

impl Ord for Load {
    fn cmp(&self, other: &Load) -> Ordering {
        other.seconds.total_cmp(&self.seconds).then(other.task.cmp(&self.task))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Load) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Load) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Load {}

/// Gives each piece of work to the task that has least so far, the largest piece first. Returns for
/// each task the places of its pieces in `seconds`, the largest first. The last task to end has at
/// most 4/3 of the shortest time possible (Graham 1969).
pub(super) fn balance_work(seconds: &[f64], tasks: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..seconds.len()).collect();
    order.sort_by(|&a, &b| seconds[b].total_cmp(&seconds[a]));
    let mut loads: BinaryHeap<Load> = (0..tasks).map(|task| Load { seconds: 0.0, task }).collect();
    let mut shares = vec![Vec::new(); tasks];
    for piece in order {
        let Some(mut least) = loads.pop() else { break };
        shares[least.task].push(piece);
        least.seconds += seconds[piece];
        loads.push(least);
    }
    shares
}

/// Returns the time that `threads` threads take for pieces of work in this order, each thread
/// taking the next when it is free.
pub(super) fn compute_duration(seconds: impl IntoIterator<Item = f64>, threads: usize) -> f64 {
    let mut loads: BinaryHeap<Load> = (0..threads.max(1)).map(|task| Load { seconds: 0.0, task }).collect();
    let mut last: f64 = 0.0;
    for piece in seconds {
        let Some(mut least) = loads.pop() else { break };
        least.seconds += piece;
        last = last.max(least.seconds);
        loads.push(least);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_largest_comes_first_to_the_task_with_least() {
        // By hand: 9 to the first, 7 to the second, 5 to the second (12), 4 to the first (13), 3 to
        // the second (15).
        assert_eq!(balance_work(&[3.0, 9.0, 4.0, 7.0, 5.0], 2), [vec![1, 2], vec![3, 4, 0]]);
        assert_eq!(balance_work(&[1.0, 1.0], 3), [vec![0], vec![1], vec![]]);
        assert!((compute_duration([5.0, 4.0, 3.0], 2) - 7.0).abs() < 1e-12, "5, and 4 then 3");
    }

    proptest! {
        #[test]
        fn every_piece_has_one_task_and_no_task_much_more_than_its_part(
            seconds in prop::collection::vec(0.0f64..100.0, 1..60),
            tasks in 1usize..9,
        ) {
            let shares = balance_work(&seconds, tasks);
            let mut pieces: Vec<usize> = shares.concat();
            pieces.sort_unstable();
            prop_assert_eq!(pieces, (0..seconds.len()).collect::<Vec<_>>());
            // Graham's bound for any list: the mean, and the last piece of the longest task.
            let load = |share: &Vec<usize>| share.iter().map(|&piece| seconds[piece]).sum::<f64>();
            let mean = seconds.iter().sum::<f64>() / tasks as f64;
            for share in &shares {
                let last = share.last().map_or(0.0, |&piece| seconds[piece]);
                prop_assert!(load(share) <= mean + last + 1e-9);
                prop_assert!(share.windows(2).all(|pair| seconds[pair[0]] >= seconds[pair[1]]));
            }
        }
    }
}
