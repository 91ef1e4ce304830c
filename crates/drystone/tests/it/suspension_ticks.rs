//! Passes of suspending policies: by hand, at the borders of what they compute beforehand; and SF
//! as it follows the number of suspensions.

use crate::common::{parts, starts, workload};

/// Jobs one after the other on one processor, some of which suspend another, and then what shows
/// SF.
#[derive(Default)]
struct Story {
    now: i64,
    jobs: Vec<(i64, u32, i64, i64)>,
}

impl Story {
    /// Jobs that meet no other.
    fn quiet(mut self, number: usize) -> Story {
        for _ in 0..number {
            self.jobs.push((self.now, 1, 1, 1));
            self.now += 20;
        }
        self
    }

    /// Pairs, so that each is two completions and one suspension: a job that needs 1 s has a factor
    /// of 1 plus the seconds waited, so up to SF = 10 it suspends the other, which has a factor of
    /// 1, before its 10 s are over.
    fn suspensions(mut self, number: usize) -> Story {
        for _ in 0..number {
            self.jobs.extend([(self.now, 1, 10, 10), (self.now, 1, 1, 1)]);
            self.now += 20;
        }
        self
    }

    /// SF in thousandths: a job that needs 1,000 s takes the place of a job that never waited when
    /// it has waited SF − 1 times as long.
    fn factor(mut self, policy: &str) -> i64 {
        self.jobs.extend([(self.now, 1, 100_000, 100_000), (self.now, 1, 1_000, 1_000)]);
        let starts = starts(&workload(1, &self.jobs), policy);
        starts[self.jobs.len() - 1] - self.now + 1_000
    }
}

/// SF is 2 at first. After every 100 completions it is divided by 1.1, rounded down, unless there
/// were more suspensions per completion than the target: then it is multiplied by 1.1. It never is
/// less than 1.1.
#[test]
fn the_factor_follows_the_number_of_suspensions() {
    let new = Story::default;
    for (story, factor) in [
        (new(), 2_000),
        (new().quiet(99), 2_000),
        (new().quiet(100), 1_818),
        (new().quiet(199), 1_818),
        (new().quiet(200), 1_652),
        // 1,501, 1,364, 1,240, 1,127 and, no longer, 1,024.
        (new().quiet(700), 1_100),
        // As many as the target are not more.
        (new().suspensions(20).quiet(60), 1_818),
        (new().suspensions(21).quiet(58), 2_200),
        (new().suspensions(21).quiet(58 + 99), 2_200),
        // Each batch counts its own.
        (new().suspensions(21).quiet(58 + 100), 2_000),
        (new().suspensions(21).quiet(58).suspensions(21).quiet(58), 2_420),
    ] {
        assert_eq!(story.factor("ss(sf=auto,every=1)"), factor);
    }
    for (suspensions, factor) in [(5, 1_818), (6, 2_200)] {
        let story = new().suspensions(suspensions).quiet(100 - 2 * suspensions);
        assert_eq!(story.factor("ss(sf=auto,target=0.05,every=1)"), factor);
    }
}

/// Job 1 takes job 0's place at 10, when its slice is over. Job 0 may take it back, not before job
/// 1 has had a slice, as soon as t / 10, its instantaneous factor, is `resume` times (t - 5) / (t -
/// 10), that of job 1: at the very second.
#[test]
fn who_was_suspended_goes_on_at_the_very_second() {
    let w = workload(4, &[(0, 4, 1_000, 1_000), (5, 4, 1_000, 1_000)]);
    for tenths in 11..60 {
        let due = (20..).find(|t| t * (t - 10) >= tenths * (t - 5)).expect("some second");
        let parts = parts(&w, &format!("is(slice=10,every=1,resume={}.{})", tenths / 10, tenths % 10));
        assert_eq!((parts[0][0].1, parts[0][1].0, parts[1][0].0), (10, due, 10), "{tenths} tenths");
    }
}

/// A tick may have several passes. At the first of them job 0 finds one job in its way that gives
/// way and one that does not; when the second has ended in that very second, it goes on. Found by a
/// program that was written from the rules alone.
#[test]
fn who_was_suspended_goes_on_at_the_second_pass_of_a_tick() {
    let spans = |jobs: &[(i64, u32, i64, i64)], policy: &str, job: usize| -> Vec<(i64, i64)> {
        parts(&workload(3, jobs), policy)[job].iter().map(|part| (part.0, part.1)).collect()
    };
    // Jobs 2 and 3 end at 1,200: at the first pass job 3 is still there, and job 1 has had its
    // slice since 600.
    let jobs = [(0, 3, 3_000, 3_000), (600, 1, 5_000, 5_000), (660, 1, 540, 540), (660, 1, 540, 540)];
    for policy in ["is", "is(pass=event)"] {
        assert_eq!(spans(&jobs, policy, 0)[..2], [(0, 600), (1_200, 2_280)], "{policy}");
        assert_eq!(spans(&jobs, policy, 1)[..2], [(600, 1_200), (2_280, 4_620)], "{policy}");
    }
    // Job 2 comes at a tick, in which job 1 has had its slice, and ends in it.
    let jobs = [(60, 3, 120, 120), (120, 1, 240, 240), (180, 1, 60, 0)];
    assert_eq!(spans(&jobs, "is(slice=60)", 0), [(60, 120), (180, 240)]);
    assert_eq!(spans(&jobs, "is(slice=60)", 1), [(120, 180), (240, 420)]);
}

/// Lengths whose products need more than 64 bits, and a quotient without remainder: (3.6e9 + 3.6e9)
/// / 3.6e9 is 2 at a tick.
#[test]
fn centuries_are_counted_to_the_second() {
    let w = workload(4, &[(0, 4, 7_200_000_000, 7_200_000_000), (0, 4, 3_600_000_000, 3_600_000_000)]);
    assert_eq!(starts(&w, "ss"), [0, 3_600_000_000]);
}

/// Times before the origin are times like any other: a job that comes earlier by a multiple of
/// `every` is served as much earlier.
#[test]
fn nothing_is_slept_through_before_time_zero() {
    const EARLIER: i64 = 6_000;
    let jobs = [(0, 4, 900, 900), (5, 4, 300, 300), (70, 3, 100, 100), (400, 1, 700, 700)];
    let before = jobs.map(|(submit, procs, estimate, run)| (submit - EARLIER, procs, estimate, run));
    for policy in ["ss", "ss(sf=1.2,place=priosf)", "tss", "is(slice=60)", "is(slice=60,resume=free)"] {
        let mut late = parts(&workload(4, &jobs), policy);
        assert!(late[0].len() > 1, "{policy}: job 0 is suspended");
        late.iter_mut().flatten().for_each(|part| (part.0, part.1) = (part.0 - EARLIER, part.1 - EARLIER));
        assert_eq!(parts(&workload(4, &before), policy), late, "{policy}");
    }
}
