//! Walks over many jobs: in parts side by side, and over their starts and ends in the order of
//! time.

use crate::jobs::FoundJob;
use crate::options::ImportEffort;
use std::ops::Range;

/// Event of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moves {
    Starts,
    Ends,
}

/// So many jobs are worth a second thread.
const MANY: usize = 1 << 17;

/// The threads that walks are divided among. What comes of a walk is the same for any number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crew {
    threads: usize,
    /// Fewer jobs than this are walked over by one thread.
    many: usize,
}

impl Crew {
    /// As many threads as an import may have; with blocks of text of a given size also few jobs are
    /// divided, so that tests see it.
    pub(crate) fn for_effort(effort: ImportEffort) -> Crew {
        Crew { threads: effort.threads(), many: if effort.block == 0 { MANY } else { 2 } }
    }

    /// One part for each thread. Neighbours that are `joined` stay together.
    fn cut_parts<T>(self, items: &[T], is_joint: impl Fn(&T, &T) -> bool) -> Vec<Range<usize>> {
        let threads = if items.len() < self.many { 1 } else { self.threads.max(1) };
        let mut cuts = Vec::with_capacity(threads);
        let mut from = 0;
        for part in 1..=threads {
            let mut to = items.len() * part / threads;
            while to > from && to < items.len() && is_joint(&items[to - 1], &items[to]) {
                to += 1;
            }
            if to > from {
                cuts.push(from..to);
                from = to;
            }
        }
        cuts
    }

    /// Does `work` on parts side by side; returns what each gives, in order.
    pub(crate) fn map_parts<T: Sync, R: Send>(self, items: &[T], work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
        self.map_joined(items, |_, _| false, work)
    }

    /// As [`Crew::map_parts`], with neighbours that are `joined` in one part.
    pub(crate) fn map_joined<T: Sync, R: Send>(
        self,
        items: &[T],
        is_joint: impl Fn(&T, &T) -> bool,
        work: impl Fn(&[T]) -> R + Sync,
    ) -> Vec<R> {
        let tasks = self.cut_parts(items, is_joint).into_iter().map(|part| {
            let (work, part) = (&work, &items[part]);
            move || work(part)
        });
        side_by_side(tasks.collect())
    }

    /// As [`Crew::map_parts`], on parts that may be changed.
    pub(crate) fn map_parts_mut<T: Send, R: Send>(
        self,
        items: &mut [T],
        work: impl Fn(&mut [T]) -> R + Sync,
    ) -> Vec<R> {
        let mut tasks = Vec::new();
        let mut rest = items;
        for part in self.cut_parts(rest, |_, _| false) {
            let (first, remainder) = rest.split_at_mut(part.len());
            let work = &work;
            tasks.push(move || work(first));
            rest = remainder;
        }
        side_by_side(tasks)
    }

    pub(crate) fn any_job(self, jobs: &[FoundJob], is: impl Fn(&FoundJob) -> bool + Sync) -> bool {
        self.map_parts(jobs, |jobs| jobs.iter().any(&is)).contains(&true)
    }

    /// Lets one sweep for each thread go through a span of time of its own, so that each has as
    /// many starts as the others; returns what each gives, in the order of time.
    pub(crate) fn map_spans<R: Send>(self, jobs: &[FoundJob], sweep: impl Fn(TimeSpan) -> R + Sync) -> Vec<R> {
        let threads = if jobs.len() < self.many { 1 } else { self.threads.max(1) };
        let step = (jobs.len() / 1_024).max(1);
        let mut starts: Vec<u32> =
            jobs.iter().step_by(step).filter(|job| job.kind.has_start()).map(|job| job.start).collect();
        starts.sort_unstable();
        let mut spans = Vec::with_capacity(threads);
        let mut from = 0;
        for part in 1..threads {
            let until = starts.get(starts.len() * part / threads).copied().unwrap_or(0);
            if until > from {
                spans.push(TimeSpan { from, until });
                from = until;
            }
        }
        spans.push(TimeSpan { from, until: u32::MAX });
        let tasks = spans.into_iter().map(|span| {
            let sweep = &sweep;
            move || sweep(span)
        });
        side_by_side(tasks.collect())
    }
}

/// Does all of these at once, each on a thread of its own but the first.
fn side_by_side<R: Send>(tasks: Vec<impl FnOnce() -> R + Send>) -> Vec<R> {
    let mut tasks = tasks.into_iter();
    let Some(first) = tasks.next() else { return Vec::new() };
    std::thread::scope(|scope| {
        let handles: Vec<_> = tasks.map(|task| scope.spawn(task)).collect();
        let mut results = vec![first()];
        for handle in handles {
            match handle.join() {
                Ok(result) => results.push(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    })
}

/// A span of time: from a moment on, until before another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeSpan {
    from: u32,
    until: u32,
}

impl TimeSpan {
    pub(crate) const ALL: TimeSpan = TimeSpan { from: 0, until: u32::MAX };
}

/// Calls `visit` for each start and each end in a span of those jobs of `which` that ran or run, in
/// the order of time; at one instant ends come first. Jobs that run at the beginning of the span
/// start before all others. A job that still runs never ends, and one that ends at its start takes
/// nothing from anyone and is left out.
pub(crate) fn visit_moves<'a>(
    jobs: &'a [FoundJob],
    span: TimeSpan,
    which: impl Fn(&FoundJob) -> bool,
    mut visit: impl FnMut(&'a FoundJob, Moves),
) {
    let (mut starts, mut ends): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
    for (job, at) in jobs.iter().zip(0_u64..) {
        if !job.kind.has_start() || (job.end != 0 && job.end <= job.start) || job.start >= span.until || !which(job) {
            continue;
        }
        // What ended before is no part of it.
        if job.end != 0 && job.end < span.from {
            continue;
        }
        if job.start < span.from {
            visit(job, Moves::Starts);
        } else {
            starts.push(u64::from(job.start) << 32 | at);
        }
        if job.end != 0 && job.end < span.until {
            ends.push(u64::from(job.end) << 32 | at);
        }
    }
    let job = |of: u64| &jobs[of as u32 as usize];
    let mut ends = by_moment(ends).into_iter().map(job).peekable();
    for job in by_moment(starts).into_iter().map(job) {
        while let Some(over) = ends.next_if(|next| next.end <= job.start) {
            visit(over, Moves::Ends);
        }
        visit(job, Moves::Starts);
    }
    ends.for_each(|over| visit(over, Moves::Ends));
}

/// Bits of a moment that are looked at together.
const BITS: u32 = 11;

/// Sorts numbers made of a moment and, below it, a place. The places ascend already, so that equal
/// moments keep their order.
///
/// Cost: three passes at most, whatever the order.
pub(crate) fn by_moment(mut moments: Vec<u64>) -> Vec<u64> {
    let moment = |of: u64| (of >> 32) as u32;
    if moments.len() < 1 << BITS {
        moments.sort_unstable();
        return moments;
    }
    let (low, high) =
        moments.iter().fold((u32::MAX, 0), |(low, high), &of| (low.min(moment(of)), high.max(moment(of))));
    let mut buffer = vec![0_u64; moments.len()];
    let mut shift = 0;
    while shift < 32 && (high - low) >> shift > 0 {
        let digit = |of: u64| ((moment(of) - low) >> shift) as usize & ((1 << BITS) - 1);
        let mut place = [0_usize; 1 << BITS];
        moments.iter().for_each(|&of| place[digit(of)] += 1);
        let mut before = 0;
        for count in &mut place {
            before += std::mem::replace(count, before);
        }
        for &of in &moments {
            let to = &mut place[digit(of)];
            buffer[*to] = of;
            *to += 1;
        }
        std::mem::swap(&mut moments, &mut buffer);
        shift += BITS;
    }
    moments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::{JobMarks, LimitFrom, NOTHING, SiteJobFate};
    use proptest::prelude::*;

    fn job((start, run, open): (u32, u32, bool)) -> FoundJob {
        FoundJob {
            row: 0,
            task: NOTHING,
            submit: start,
            eligible: start,
            arrive: start,
            start,
            end: if open { 0 } else { start + run },
            run,
            limit: run,
            units: 1,
            amount: 0,
            marks: JobMarks::default(),
            pool: 0,
            attempt: 1,
            kind: if open { SiteJobFate::Running } else { SiteJobFate::Ran },
            limit_from: LimitFrom::Record,
        }
    }

    /// The most jobs at once: after each start, those that started and have not ended by then.
    fn defined(jobs: &[FoundJob]) -> usize {
        let runs = |job: &&FoundJob| job.end == 0 || job.end > job.start;
        let at = |moment: u32| {
            jobs.iter().filter(runs).filter(|job| job.start <= moment && (job.end == 0 || job.end > moment)).count()
        };
        jobs.iter().filter(runs).map(|job| at(job.start)).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn moments_are_sorted_as_numbers_are(
            moments in prop::collection::vec(any::<u32>(), 0..3_000),
            narrow in 1..40_u32,
        ) {
            let all: Vec<u64> =
                moments.iter().zip(0_u64..).map(|(m, at)| u64::from(m % (1 << (narrow % 32).max(1))) << 32 | at).collect();
            let mut expected = all.clone();
            expected.sort_unstable();
            prop_assert_eq!(by_moment(all), expected);
        }

        #[test]
        fn sweeps_side_by_side_find_what_one_does(
            jobs in prop::collection::vec((1..300_u32, 0..90_u32, prop::bool::weighted(0.1)), 0..200),
            threads in 1..5_usize,
        ) {
            let jobs: Vec<FoundJob> = jobs.into_iter().map(job).collect();
            let crew = Crew { threads, many: 2 };
            let most = crew.map_spans(&jobs, |span| {
                let (mut now, mut most) = (0_usize, 0_usize);
                visit_moves(&jobs, span, |_| true, |_, change| {
                    if change == Moves::Starts { now += 1 } else { now -= 1 }
                    most = most.max(now);
                });
                most
            });
            prop_assert_eq!(most.into_iter().max().unwrap_or(0), defined(&jobs));
        }

        #[test]
        fn parts_are_all_and_in_order(
            all in prop::collection::vec(0..5_u32, 0..60),
            threads in 1..6_usize,
        ) {
            let crew = Crew { threads, many: 2 };
            let parts = crew.map_joined(&all, |a, b| a == b, <[u32]>::to_vec);
            for pair in parts.windows(2) {
                prop_assert_ne!(pair[0].last(), pair[1].first());
            }
            prop_assert_eq!(parts.concat(), all.clone());
            let mut copy = all.clone();
            let sums = crew.map_parts_mut(&mut copy, |part| {
                part.iter_mut().for_each(|n| *n += 1);
                part.len()
            });
            prop_assert_eq!(sums.iter().sum::<usize>(), all.len());
            prop_assert!(copy.iter().zip(&all).all(|(new, old)| *new == old + 1));
        }
    }
}
