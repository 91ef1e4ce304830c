//! Places where jobs need not be looked for while a plan fills up.

use crate::model::{Procs, Span, Time};

/// This many are kept: each is looked at for each job.
pub(crate) const FEW: usize = 8;

/// Lower bounds of starts, learned while jobs are put one by one into a profile, each at its
/// earliest place. The profile only fills up meanwhile: a job that needs no fewer processors for no
/// less time than a job before starts no earlier than that.
///
/// O(1): a few jobs are kept, those that say most.
pub(crate) struct Bounds<const KEPT: usize = FEW> {
    kept: [(Procs, Span, Time); KEPT],
    len: usize,
}

impl<const KEPT: usize> Default for Bounds<KEPT> {
    fn default() -> Self {
        Bounds { kept: [Default::default(); KEPT], len: 0 }
    }
}

impl<const KEPT: usize> Bounds<KEPT> {
    /// No job of this size and span starts earlier; `now` if nothing better is known.
    #[inline]
    pub(crate) fn earliest_bound(&self, procs: Procs, span: Span, now: Time) -> Time {
        let smaller = self.kept[..self.len].iter().filter(|entry| entry.0 <= procs && entry.1 <= span);
        smaller.map(|entry| entry.2).fold(now, Time::max)
    }

    /// A job of this size and span, with this bound, has its earliest place here.
    #[inline]
    pub(crate) fn learn_start(&mut self, procs: Procs, span: Span, bound: Time, start: Time) {
        // What it says is known already.
        if bound >= start {
            return;
        }
        let known_bounds = &mut self.kept[..self.len];
        let at = match known_bounds.iter().position(|entry| entry.0 >= procs && entry.1 >= span && entry.2 <= start) {
            // It says all that this one says.
            Some(at) => at,
            None if self.len < KEPT => {
                self.len += 1;
                self.len - 1
            }
            // The earliest of all says least.
            None => match (0..KEPT).min_by_key(|&at| self.kept[at].2) {
                Some(at) if self.kept[at].2 < start => at,
                _ => return,
            },
        };
        self.kept[at] = (procs, span, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Profile;
    use proptest::prelude::*;

    #[test]
    fn who_is_no_smaller_starts_no_earlier() {
        let mut bounds: Bounds = Bounds::default();
        bounds.learn_start(4, Span(100), Time(7), Time(50));
        assert_eq!(bounds.earliest_bound(4, Span(100), Time(7)), Time(50));
        assert_eq!(bounds.earliest_bound(5, Span(200), Time(7)), Time(50));
        assert_eq!(bounds.earliest_bound(3, Span(200), Time(7)), Time(7));
        assert_eq!(bounds.earliest_bound(5, Span(99), Time(7)), Time(7));
        bounds.learn_start(2, Span(10), Time(7), Time(60));
        assert_eq!(
            (bounds.earliest_bound(4, Span(100), Time(7)), bounds.len),
            (Time(60), 1),
            "the smaller one says more"
        );
    }

    proptest! {
        /// A search that begins at the bound finds what one from the present finds.
        #[test]
        fn bounds_are_never_too_late(jobs in prop::collection::vec((1u32..16, 1i64..60), 1..120), now in 0i64..50) {
            let mut profile = Profile::new(Time(now), 16);
            let mut bounds: Bounds = Bounds::default();
            for (procs, span) in jobs {
                let span = Span(span);
                let start = profile.earliest_start(procs, span, Time(now)).expect("fits");
                let bound = bounds.earliest_bound(procs, span, Time(now));
                prop_assert!(bound <= start, "{bound} is later than {start}");
                prop_assert_eq!(profile.earliest_start(procs, span, bound), Some(start));
                bounds.learn_start(procs, span, bound, start);
                profile.reserve_procs(start, start + span, procs);
            }
        }
    }
}
