//! Local search: from the best path that the tree search has found to better ones nearby, as the
//! authors suggest for future work (section 2.4).
//!
//! Neighbours of a path are made from a pair of its jobs: the later one put before the earlier one,
//! the earlier one put behind the later one, or both exchanged. Pairs are tried by the earlier
//! place, then by the later one; a better path is taken at once, and the pairs of its earlier place
//! are tried again. The search ends where no neighbour is better, or at a limit.

use super::objective::Judge;
use super::table::RankTable;
use super::walker::{SearchLimits, Walker};

/// Goes on from the best path as long as the limits allow.
pub(super) fn search_locally(table: &RankTable, walker: &mut Walker, judge: &mut Judge, limits: &SearchLimits<'_>) {
    walker.rewind_to_root(table);
    let mut path = walker.best.path.clone();
    let mut quiet = 0;
    let mut first = 0;
    let n = path.len();
    // As many earlier places in a row as there are, and none of them has a better neighbour.
    while quiet + 1 < n {
        match improve_path(table, walker, judge, limits, &mut path, first) {
            None => return,
            Some(true) => quiet = 0,
            Some(false) => quiet += 1,
        }
        first = (first + 1) % (n - 1);
    }
}

/// Replaces the path by better neighbours whose earlier place is `first`, until none is. `None`
/// where a limit ended it.
fn improve_path(
    table: &RankTable,
    walker: &mut Walker,
    judge: &mut Judge,
    limits: &SearchLimits<'_>,
    path: &mut [u32],
    first: usize,
) -> Option<bool> {
    let mut has_improved = false;
    let mut second = first + 1;
    while second < path.len() {
        // Of two neighbours all three moves are one.
        let moves = if second == first + 1 { 1 } else { 3 };
        let mut is_moved = false;
        for way in 0..moves {
            apply_move(path, first, second, way);
            if walker.follow_path(table, judge, path, limits)? {
                is_moved = true;
                break;
            }
            undo_move(path, first, second, way);
        }
        has_improved |= is_moved;
        second = if is_moved { first + 1 } else { second + 1 };
    }
    Some(has_improved)
}

fn apply_move(path: &mut [u32], first: usize, second: usize, way: usize) {
    match way {
        0 => path[first..=second].rotate_right(1),
        1 => path[first..=second].rotate_left(1),
        _ => path.swap(first, second),
    }
}

fn undo_move(path: &mut [u32], first: usize, second: usize, way: usize) {
    match way {
        0 => path[first..=second].rotate_left(1),
        1 => path[first..=second].rotate_right(1),
        _ => path.swap(first, second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_by_hand() {
        let after_move = |way| {
            let mut path = [1, 2, 3, 4, 5];
            apply_move(&mut path, 1, 3, way);
            let new_path = path;
            undo_move(&mut path, 1, 3, way);
            assert_eq!(path, [1, 2, 3, 4, 5]);
            new_path
        };
        assert_eq!(after_move(0), [1, 4, 2, 3, 5]);
        assert_eq!(after_move(1), [1, 3, 4, 2, 5]);
        assert_eq!(after_move(2), [1, 4, 3, 2, 5]);
    }
}
