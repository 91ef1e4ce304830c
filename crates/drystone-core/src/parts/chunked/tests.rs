use super::*;
use crate::model::Span;
use proptest::prelude::*;

/// One number per second: the obvious profile.
#[derive(Clone, Debug)]
struct Seconds {
    free: Vec<i32>,
    was: Vec<i32>,
    now: i64,
}

const HORIZON: i64 = 400;
const PROCS: i32 = 9;

impl Seconds {
    fn add(&mut self, from: i64, to: i64, by: i32) {
        (from.max(self.now)..to.min(HORIZON)).for_each(|t| self.free[t as usize] += by);
    }

    fn at(of: &[i32], t: i64) -> i32 {
        of[t.min(HORIZON - 1) as usize]
    }

    fn fits(&self, of: &[i32], procs: i32, from: i64, span: i64) -> bool {
        (from..from + span).all(|t| Seconds::at(of, t) >= procs)
    }
}

/// Changes to make: a kind, a time, a span, processors.
fn changes() -> impl Strategy<Value = Vec<(u8, i64, i64, i32)>> {
    prop::collection::vec((0u8..12, 0i64..300, 1i64..60, 1i32..=PROCS), 1..260)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever is added and forgotten, the answers are those of an array of seconds.
    #[test]
    fn agrees_with_an_array_of_seconds(changes in changes()) {
        let mut profile = Chunked::from_profile(&Profile::new(Time(0), PROCS as Procs));
        let seconds_free = vec![PROCS; HORIZON as usize];
        let mut seconds = Seconds { free: seconds_free.clone(), was: seconds_free, now: 0 };
        for (kind, at, span, procs) in changes {
            let (from, to) = (at.max(seconds.now), at + span);
            match kind {
                0..=5 => {
                    let procs = procs.min(1 + procs / 4);
                    if (from..to).all(|t| Seconds::at(&seconds.free, t) >= procs) {
                        profile.add_during(Time(from), Time(to), -procs);
                        seconds.add(from, to, -procs);
                    }
                }
                6..=8 => {
                    profile.add_during(Time(from), Time(to), procs);
                    seconds.add(from, to, procs);
                }
                9 => {
                    profile.settle_all();
                    seconds.was.clone_from(&seconds.free);
                    let steps: Vec<(Time, i32)> = profile.settled_steps().collect();
                    prop_assert!(steps.is_sorted_by(|a, b| a.0 < b.0), "{steps:?}");
                }
                10 => {
                    seconds.now = seconds.now.max(at / 6);
                    profile.advance_to(Time(seconds.now));
                }
                _ => {
                    profile = Chunked::try_from(Profile::from(profile.clone())).expect("a profile");
                    // What is saved is settled.
                    seconds.was.clone_from(&seconds.free);
                }
            }
            let now = seconds.now;
            prop_assert_eq!(profile.heads[0].first, Time(now));
            for t in now..HORIZON - 1 {
                let spot = profile.find_step(Time(t));
                prop_assert_eq!(profile.free_in(spot), seconds.free[t as usize], "at {}", t);
                prop_assert_eq!(profile.chunks[spot.chunk].was[spot.step], seconds.was[t as usize], "before, at {}", t);
                prop_assert_eq!(profile.walk_to(profile.find_step(Time(now)), Time(t)), spot);
            }
            let from = at.max(now);
            let earliest = (from..HORIZON).find(|&t| seconds.fits(&seconds.free, procs, t, span));
            prop_assert_eq!(profile.earliest_start(procs, Span(span), Time(from)), earliest.map(Time));
            let least = (from..from + span).map(|t| Seconds::at(&seconds.free, t)).min();
            prop_assert_eq!(Some(profile.least_free(Time(from), Time(from + span))), least);
            if Seconds::at(&seconds.free, from) >= procs {
                let run = (now..=from).rev().take_while(|&t| seconds.free[t as usize] >= procs).last();
                prop_assert_eq!(Some(profile.run_begins(procs, profile.find_step(Time(from)), Time(now))), run.map(Time));
            }
            // The first window that is free now and was not, where no window was free before.
            let until = from + 3 * span;
            let windows = || from..=until - span;
            if windows().all(|t| !seconds.fits(&seconds.was, procs, t, span)) {
                let gain = windows().find(|&t| seconds.fits(&seconds.free, procs, t, span));
                prop_assert_eq!(profile.earliest_gained_start(procs, Span(span), Time(from), Time(until)), gain.map(Time));
            }
            let (least, most) = profile.gain_range(0, profile.find_step(Time(HORIZON)));
            for t in now..HORIZON {
                let (free, was) = (seconds.free[t as usize], seconds.was[t as usize]);
                prop_assert!(free <= was || least <= was && free <= most, "gains {least} to {most}, at {t}: {was} to {free}");
            }
        }
    }
}
