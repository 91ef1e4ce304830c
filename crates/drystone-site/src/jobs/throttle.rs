//! Arrays that run few tasks at once: their tasks wait for each other, not for the machine.

use super::{FoundJob, JobMarks, count_rule};
use crate::rows::{AccountingTable, RowPart};
use crate::rules::{ImportRule, RuleTally};
use crate::text::Amount;
use drystone::model::SharedSort;
use std::collections::BTreeMap;

/// A start within so many seconds of an end takes its slot.
const NEAR: u32 = 60;
/// Of so many later starts at least nine in ten have to be near an end, for a limit to be inferred.
const FEWEST: usize = 5;

/// Lets the later tasks of a throttled array arrive when a slot was free. The limit is what a row
/// says, else, where it may be inferred, what the starts and ends show.
pub(crate) fn throttle_arrays(
    jobs: &mut [FoundJob],
    table: &AccountingTable,
    throttles: &BTreeMap<u64, u32>,
    infer: bool,
    amounts: &[Amount],
    tally: &mut RuleTally,
) {
    let mut arrays: Vec<(u64, u32, u32)> = Vec::new();
    for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.marks.has_mark(JobMarks::ARRAY) && job.start > 0) {
        let row = table.rows.get(job.row);
        if matches!(row.part(), RowPart::Task(_) | RowPart::Tasks(_)) {
            arrays.push((row.of, job.submit, at as u32));
        }
    }
    // Jobs come by number: this is nearly the order already.
    arrays.sort_shared();
    for tasks in arrays.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let array = tasks[0].0;
        let mut tasks: Vec<u32> = tasks.iter().map(|task| task.2).collect();
        tasks.sort_shared_by_key(|&at| (jobs[at as usize].start, jobs[at as usize].task));
        let spans: Vec<(u32, u32)> = tasks.iter().map(|&at| run_span(&jobs[at as usize])).collect();
        let most = most_at_once(&spans);
        let limit = match throttles.get(&array) {
            Some(&limit) => limit as usize,
            None if infer && shows_limit(&spans, most) => most,
            None => continue,
        };
        for (place, &at) in tasks.iter().enumerate().skip(limit) {
            let Some(free_time) = slot_free_time(&spans, place, limit) else { continue };
            let job = &mut jobs[at as usize];
            if free_time > job.arrive {
                job.arrive = free_time.min(job.start);
                job.marks.set_mark(JobMarks::THROTTLED);
                let seconds = job.core_seconds(&amounts[job.amount as usize]);
                count_rule(tally, table, ImportRule::Throttle, table.rows.get(job.row), seconds);
            }
        }
    }
}

fn run_span(job: &FoundJob) -> (u32, u32) {
    (job.start, if job.end == 0 { u32::MAX } else { job.end })
}

/// Returns the largest number that ran at once. `spans` are in the order of their starts.
fn most_at_once(spans: &[(u32, u32)]) -> usize {
    let mut ends: Vec<u32> = spans.iter().map(|s| s.1).collect();
    ends.sort_unstable();
    let (mut over, mut most) = (0, 0);
    for (index, &(start, _)) in spans.iter().enumerate() {
        while over < ends.len() && ends[over] <= start {
            over += 1;
        }
        most = most.max((index + 1).saturating_sub(over));
    }
    most
}

/// Returns whether the starts after the first `most` follow ends.
fn shows_limit(spans: &[(u32, u32)], most: usize) -> bool {
    let later = spans.len().saturating_sub(most);
    if most == 0 || later < FEWEST {
        return false;
    }
    let mut ends: Vec<u32> = spans.iter().map(|s| s.1).collect();
    ends.sort_unstable();
    let near = |start: u32| {
        let behind = ends.partition_point(|&end| end <= start);
        behind > 0 && start - ends[behind - 1] <= NEAR
    };
    let prompt_starts = spans[most..].iter().filter(|(start, _)| near(*start)).count();
    prompt_starts * 10 >= later * 9
}

/// Returns the time at which the slot became free that the task at this place took: the end after
/// which fewer than `limit` of those before it ran.
fn slot_free_time(spans: &[(u32, u32)], place: usize, limit: usize) -> Option<u32> {
    let start = spans[place].0;
    let mut ends: Vec<u32> = spans[..place].iter().map(|s| s.1).collect();
    // Of those that started before, all but `limit - 1` had to end.
    let end_rank = (place + 1).checked_sub(limit)?.checked_sub(1)?;
    if end_rank >= ends.len() {
        return None;
    }
    let end = *ends.select_nth_unstable(end_rank).1;
    (end <= start).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_shows_where_starts_follow_ends() {
        // Two at once, each start right behind an end.
        let spans: Vec<(u32, u32)> = (0..10).map(|i| (100 + i / 2 * 50, 150 + i / 2 * 50)).collect();
        assert_eq!(most_at_once(&spans), 2);
        assert!(shows_limit(&spans, 2));
        assert_eq!(slot_free_time(&spans, 2, 2), Some(150));
        assert_eq!(slot_free_time(&spans, 9, 2), Some(300));
        // Starts that follow nothing.
        let apart: Vec<(u32, u32)> = (0..10).map(|i| (1_000 * i, 1_000 * i + 10)).collect();
        assert!(!shows_limit(&apart, most_at_once(&apart)));
        // Too few to tell.
        assert!(!shows_limit(&spans[..5], 2));
    }
}
