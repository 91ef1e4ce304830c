//! Places where jobs need not be looked for while a plan of many is traversed in the order of its
//! starts.

use crate::model::{Procs, Span, Time};

/// Lower bounds of starts, as [`Bounds`](super::Bounds), for passes over many jobs: all that say
/// something new are kept.
///
/// A job that starts at s says that no job behind it that needs no fewer processors for no less
/// time starts before s. One that says no more than another is forgotten: of n jobs of random sizes
/// and spans about (ln n)² / 2 are kept.
#[derive(Default)]
pub(crate) struct StartStairs {
    /// Processors and spans, the job learned last at the end.
    sizes: Vec<(u32, u32)>,
    starts: Vec<Time>,
}

/// Most that are kept: each may be looked at for each job.
const MOST: usize = 48;

/// A span, rounded up or down where it is longer than a century.
fn clamp_span(span: Span, longest: u32) -> u32 {
    u32::try_from(span.0).unwrap_or(u32::MAX).min(longest)
}

impl StartStairs {
    /// No job of this size and span starts earlier; `now` if nothing better is known.
    #[inline]
    pub(crate) fn earliest_bound(&self, procs: Procs, span: Span, now: Time) -> Time {
        // Jobs come in the order of their starts: what was learned last says most.
        let span = clamp_span(span, u32::MAX - 1);
        let smaller = self.sizes.iter().rposition(|&(p, d)| (p <= procs) & (d <= span));
        smaller.map_or(now, |at| self.starts[at].max(now))
    }

    /// A job of this size and span has its earliest place here.
    pub(crate) fn learn_start(&mut self, procs: Procs, span: Span, start: Time) {
        let span = clamp_span(span, u32::MAX);
        let mut kept_count = 0;
        for at in 0..self.sizes.len() {
            let (p, d) = self.sizes[at];
            let says_no_more = (p >= procs) & (d >= span) & (self.starts[at] <= start);
            self.sizes[kept_count] = (p, d);
            self.starts[kept_count] = self.starts[at];
            kept_count += usize::from(!says_no_more);
        }
        self.sizes.truncate(kept_count);
        self.starts.truncate(kept_count);
        if kept_count == MOST {
            self.sizes.remove(0);
            self.starts.remove(0);
        }
        self.sizes.push((procs, span));
        self.starts.push(start);
    }
}
