//! Walks over starts and ends in the order of time.

use crate::jobs::Job;
use crate::watch::threads;

/// What happens to a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moves {
    Starts,
    Ends,
}

/// So many jobs are worth a second thread.
pub(crate) const MANY: usize = 1 << 17;

/// Does two things that know nothing of each other, side by side where it is worth a thread.
pub(crate) fn both<A, B: Send>(side_by_side: bool, a: impl FnOnce() -> A, b: impl FnOnce() -> B + Send) -> (A, B) {
    if !side_by_side || threads() == 1 {
        return (a(), b());
    }
    std::thread::scope(|scope| {
        let b = scope.spawn(b);
        let a = a();
        match b.join() {
            Ok(b) => (a, b),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Calls `visit` for each start and each end of those jobs of `which` that ran or run, in the order
/// of time; at one instant ends come first. A job that still runs never ends, and one that ends at
/// its start takes nothing from anyone and is left out.
pub(crate) fn moves<'a>(jobs: &'a [Job], which: impl Fn(&Job) -> bool + Sync, mut visit: impl FnMut(&'a Job, Moves)) {
    let takes = |job: &Job| job.kind.started() && (job.end == 0 || job.end > job.start) && which(job);
    // A moment and a place in one number: what is sorted is small, and of equal moments the first
    // job comes first.
    let in_order = |moment: fn(&Job) -> u32| {
        let of = |(job, at): (&Job, u32)| u64::from(moment(job)) << 32 | u64::from(at);
        let mut order: Vec<u64> = jobs.iter().zip(0..).filter(|(job, _)| takes(job)).map(of).collect();
        order.sort_unstable();
        order
    };
    // Sorting is most of the work of many jobs, and the two orders know nothing of each other.
    let (starts, ends) = both(jobs.len() >= MANY, || in_order(|job| job.start), || in_order(|job| job.end));
    let job = |of: u64| &jobs[of as u32 as usize];
    let mut ends = ends.into_iter().map(job).skip_while(|job| job.end == 0).peekable();
    for job in starts.into_iter().map(job) {
        while let Some(over) = ends.next_if(|next| next.end <= job.start) {
            visit(over, Moves::Ends);
        }
        visit(job, Moves::Starts);
    }
    ends.for_each(|over| visit(over, Moves::Ends));
}
