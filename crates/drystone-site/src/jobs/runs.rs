//! Run times of jobs that never ran, for a policy that starts them before their user gave up.

use super::{FoundJob, JobMarks, NOTHING, SiteJobFate};
use crate::rows::AccountingTable;
use crate::sweep::Crew;
use drystone::statistics::lower_median;

/// Parts of the limit are counted in thousandths.
const PARTS: u64 = 1_000;

/// Imputes a run time: the limit times the median share of their limits that the user's jobs run,
/// of all users' where the user has none. Returns how many.
pub(crate) fn impute_runs(jobs: &mut [FoundJob], table: &AccountingTable, crew: Crew) -> u64 {
    let lacks =
        |job: &FoundJob| job.run == NOTHING && matches!(job.kind, SiteJobFate::Withdrawn | SiteJobFate::Waiting);
    if !crew.any_job(jobs, lacks) {
        return 0;
    }
    let mut shares: Vec<Vec<u16>> = vec![Vec::new(); table.names.len()];
    let mut all_shares: Vec<u16> = Vec::new();
    for job in jobs.iter().filter(|job| job.kind == SiteJobFate::Ran && job.limit > 0 && job.run != NOTHING) {
        let share = (u64::from(job.run) * PARTS / u64::from(job.limit)).min(PARTS) as u16;
        shares[user_index(job, table)].push(share);
        all_shares.push(share);
    }
    let of_all = lower_median(&mut all_shares).map_or(PARTS, u64::from);
    let medians: Vec<Option<u64>> = shares.into_iter().map(|mut list| lower_median(&mut list).map(u64::from)).collect();
    let mut imputed_count = 0;
    for job in jobs.iter_mut().filter(|job| lacks(job)) {
        let share = medians[user_index(job, table)].unwrap_or(of_all);
        // One that never stood in the queue could not have run: it is no load.
        let was_queued = job.kind == SiteJobFate::Waiting || job.end == 0 || job.arrive < job.end;
        let run = if was_queued { u64::from(job.limit) * share / PARTS } else { 0 };
        // It would have run for some time at least.
        job.run = u32::try_from(run).unwrap_or(NOTHING - 1).max(1);
        job.marks.set_mark(JobMarks::RUN);
        imputed_count += 1;
    }
    imputed_count
}

fn user_index(job: &FoundJob, table: &AccountingTable) -> usize {
    table.owner_of(table.rows.get(job.row)).user.0 as usize
}
