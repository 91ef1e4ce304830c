//! Plans by hand where predictions change while jobs wait and run: what late notice sees, and what
//! a plan gives jobs that are predicted to run for no time.

use crate::common::{owned, spec, starts, workload};
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{JobId, Time, Workload};

struct Told(JobId, Vec<(i64, i64)>);

impl Observer for Told {
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, _: Time) {
        if id == self.0 {
            self.1.push((now.0, start.0));
        }
    }
}

/// Returns the announcements of a job: time and planned start.
fn told(w: &Workload, policy: &str, job: u32) -> Vec<(i64, i64)> {
    let mut observer = Told(JobId(job), Vec::new());
    Simulation::new(w.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(w))
        .run(&mut observer)
        .expect(policy);
    observer.1
}

/// The end that the plan has a job at is an event known beforehand, also where the job gets more
/// time just then. A is estimated at 10 s and runs for 100; B ends at 5, 45 s early; C needs the
/// processors of B and is planned for 50. At 10, when A should end, it is seen that B has gone.
#[test]
fn late_notice_sees_an_end_that_is_put_off() {
    let w = workload(3, &[(0, 1, 10, 100), (0, 2, 50, 5), (1, 2, 20, 20)]);
    for family in ["conservative(", "slack(sf=0,"] {
        for (rest, start) in [
            ("notice=immediate,correct=none", 5),
            ("notice=immediate,correct=estimate", 5),
            ("notice=late,correct=none", 10),
            ("notice=late,correct=estimate", 10),
            ("notice=late,correct=doubling", 10),
        ] {
            let policy = format!("{family}{rest})");
            assert_eq!(starts(&w, &policy), [0, 0, start], "{policy}");
        }
    }
}

/// The time by which a job is over its prediction is seen when a job waits, whatever the notice. A
/// is estimated at 10 s and runs for 1,000; C needs the whole machine and comes at 30, when A is 20
/// s over: it is planned to go on for another minute. At 90 it is 80 s over, and so on; from 650 it
/// is planned until 1,290. Late notice does not see its end before then.
#[test]
fn no_job_is_overdue_before_another_waits() {
    let w = workload(2, &[(0, 1, 10, 1_000), (30, 2, 20, 20)]);
    for (policy, start) in [
        ("conservative(notice=immediate,overdue=again)", 1_000),
        ("conservative(notice=late,overdue=again)", 1_290),
        ("slack(sf=0,notice=late,overdue=again)", 1_290),
    ] {
        assert_eq!(starts(&w, policy), [0, start], "{policy}");
        assert_eq!(told(&w, policy, 1)[..5], [(30, 90), (90, 170), (170, 330), (330, 650), (650, 1_290)], "{policy}");
    }
}

/// One rule in all families: a job that outlives its estimate has its end put off by a minute, then
/// by 15, 30 minutes. A asks for 10 s and runs for 1,000: it is expected to end at 70 from 10 on,
/// at 970 from 70 on, at 2,770 from 970 on. B needs the whole machine and comes at 30. C comes at
/// 40 for one processor and 600 s: it would delay B, which is promised 70 then, and so waits; at 70
/// B is promised 970, and C ends by then.
#[test]
fn every_family_puts_off_the_end_of_a_job_that_outlives_its_estimate() {
    let w = workload(2, &[(0, 1, 10, 1_000), (30, 2, 20, 20), (40, 1, 600, 600)]);
    for policy in ["easy", "conservative", "slack(sf=0)", "multiqueue", "easy(reserve=2)", "goal(lexical(maxW>avgX))"] {
        assert_eq!(starts(&w, policy), [0, 1_000, 70], "{policy}");
    }
    for policy in ["easy", "conservative", "slack(sf=0)", "multiqueue"] {
        assert_eq!(told(&w, policy, 1)[..3], [(30, 70), (70, 970), (970, 2_770)], "{policy}");
    }
}

/// Even a job that is predicted to run for no time needs its processors for an instant, also where
/// that is predicted in the very second of its start. A ends at 60, when B and C of another user
/// start. B ends at once, and C is predicted to. D, which needs the whole machine, is planned for
/// the next second; then C is a second over, which makes another minute.
#[test]
fn a_running_job_is_planned_for_a_second_at_least() {
    let w = workload(2, &[(0, 2, 60, 60), (0, 1, 20, 0), (0, 1, 20, 7), (0, 2, 20, 20)]);
    let w = owned(&w, &[1, 2, 2, 1]);
    for family in ["conservative(", "slack(sf=0,"] {
        let policy = format!("{family}predict=recent(1,propagate=running),correct=none)");
        assert_eq!(starts(&w, &policy), [0, 60, 60, 67], "{policy}");
        assert_eq!(told(&w, &policy, 3), [(0, 80), (60, 61), (61, 121), (67, 67)], "{policy}");
    }
}
