//! Walks over starts and ends in the order of time.

use crate::jobs::Job;

/// What happens to a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moves {
    Starts,
    Ends,
}

/// Calls `visit` for each start and each end of those jobs of `which` that ran or run, in the order of time; at one instant ends come first. A job that
/// still runs never ends, and one that ends at its start takes nothing from anyone and is left out.
pub(crate) fn moves<'a>(jobs: &'a [Job], which: impl Fn(&Job) -> bool, mut visit: impl FnMut(&'a Job, Moves)) {
    let takes = |job: &Job| job.kind.started() && (job.end == 0 || job.end > job.start) && which(job);
    let mut starts: Vec<u32> = (0..jobs.len() as u32).filter(|&at| takes(&jobs[at as usize])).collect();
    let mut ends: Vec<u32> = starts.iter().copied().filter(|&at| jobs[at as usize].end > 0).collect();
    starts.sort_by_key(|&at| jobs[at as usize].start);
    ends.sort_by_key(|&at| jobs[at as usize].end);
    let mut ends = ends.into_iter().map(|at| &jobs[at as usize]).peekable();
    for job in starts.into_iter().map(|at| &jobs[at as usize]) {
        while let Some(over) = ends.next_if(|next| next.end <= job.start) {
            visit(over, Moves::Ends);
        }
        visit(job, Moves::Starts);
    }
    ends.for_each(|over| visit(over, Moves::Ends));
}
