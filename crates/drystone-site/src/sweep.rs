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
    // A moment and a place in one number: what is sorted is small, and of equal moments the first job comes first.
    let in_order = |moment: fn(&Job) -> u32| {
        let of = |(job, at): (&Job, u32)| u64::from(moment(job)) << 32 | u64::from(at);
        let mut order: Vec<u64> = jobs.iter().zip(0..).filter(|(job, _)| takes(job)).map(of).collect();
        order.sort_unstable();
        order.into_iter().map(|of| &jobs[of as u32 as usize])
    };
    let mut ends = in_order(|job| job.end).skip_while(|job| job.end == 0).peekable();
    for job in in_order(|job| job.start) {
        while let Some(over) = ends.next_if(|next| next.end <= job.start) {
            visit(over, Moves::Ends);
        }
        visit(job, Moves::Starts);
    }
    ends.for_each(|over| visit(over, Moves::Ends));
}
