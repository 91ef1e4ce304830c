//! Limits that jobs share: schedules computed by hand.

use crate::world::{simulate, with, workload};
use drystone_core::model::{
    Adopted, Circumstances, DependencyEffect, DependsOn, JobId, JobLimit, LimitClaim, Outages, Span, Time, Withdrawal,
    Workload,
};

const POLICIES: [&str; 8] =
    ["fcfs", "easy", "easy(backfill=sjf)", "conservative", "slack", "multiqueue", "ss", "goal(nodes=50)"];

/// Adds a limit of this size, and the part that each of these jobs takes of it.
fn limit(circumstances: &mut Circumstances, reason: &str, most: u64, parts: &[(u32, u64)]) {
    let (of, family) = ("the QOS normal for the user ada".to_string(), "the QOS normal".to_string());
    let limit = circumstances.limits.add_limit(JobLimit { reason: reason.to_string(), of, family, most });
    for &(job, amount) in parts {
        let mut claims = circumstances.limits.job_claims(JobId(job)).to_vec();
        claims.push(LimitClaim { limit, amount, binds: amount <= most });
        let set = circumstances.limits.intern_claims(claims);
        circumstances.limits.bind_job(JobId(job), set);
    }
}

fn told(policy: &str, jobs: &Workload) -> (Vec<String>, Vec<Option<(i64, i64)>>) {
    let record = simulate(policy, jobs, &Outages::default(), false).unwrap_or_else(|e| panic!("{policy}: {e}"));
    let spans = record.schedule.spans.iter().map(|span| span.map(|(start, end)| (start.0, end.0))).collect();
    (record.words, spans)
}

/// A user may have 2 of 4 processors: its second job waits for the first, and the jobs of others
/// pass it.
#[test]
fn a_user_limit_holds_the_second_job() {
    let jobs = with(workload(4, &[(0, 2, 10, 10), (0, 2, 10, 10), (0, 2, 10, 10), (1, 2, 10, 10)]), |c| {
        limit(c, "QOSMaxCpuPerUserLimit", 2, &[(0, 2), (1, 2)]);
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs);
        assert_eq!(spans, [Some((0, 10)), Some((10, 20)), Some((0, 10)), Some((10, 20))], "{policy}: {words:?}");
        let of_second: Vec<&str> = words.iter().filter(|w| w.ends_with(" 1")).map(String::as_str).collect();
        assert_eq!(of_second[..2], ["0 hold 1", "10 release 1"], "{policy}: {words:?}");
    }
}

/// A group may have 8 of 16 processors. Beside the job of 6 the one of 4 does not fit, and the one
/// of 2 does: it is not held back by the other, which needs more than the 2 that this one leaves.
#[test]
fn a_job_that_fits_a_group_limit_passes_one_that_does_not() {
    let jobs = with(workload(16, &[(0, 6, 10, 10), (0, 4, 10, 10), (1, 2, 10, 4)]), |c| {
        limit(c, "AssocGrpCpuLimit", 8, &[(0, 6), (1, 4), (2, 2)]);
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs);
        assert_eq!(spans, [Some((0, 10)), Some((10, 20)), Some((1, 5))], "{policy}: {words:?}");
    }
}

/// A group may have 100 processor-seconds left to run. Beside 80 neither 40 nor 30 fit. The first
/// job wears 4 off each second, so the 30 fit at 3 (68 + 30). Then 5 wear off each second, and the
/// 40 fit at 11 (36 + 22 + 40), or at 8 where the first job ends there and leaves 25.
#[test]
fn time_left_wears_off_while_jobs_run() {
    for (run, last) in [(20, 11), (8, 8)] {
        let rows = [(0, 4, 20, run), (0, 4, 10, 10), (0, 1, 30, 30), (1, 2, 10, 10)];
        let jobs = with(workload(12, &rows), |c| {
            limit(c, "AssocGrpCPURunMinutesLimit", 100, &[(0, 80), (1, 40), (2, 30)]);
            c.limits.wear_off(0);
            for job in 0..3 {
                let set = c.limits.set_of(JobId(job)).expect("claims");
                c.limits.set_span(set, rows[job as usize].2);
            }
        });
        for policy in POLICIES {
            let (words, spans) = told(policy, &jobs);
            let expected = [(0, run), (last, last + 10), (3, 33), (1, 11)].map(Some);
            assert_eq!(spans, expected, "{policy}: {words:?}");
        }
    }
}

/// Two jobs end at 10 and leave all 8: of those that wait the first gets all, the second nothing.
#[test]
fn ends_of_an_instant_make_room_together() {
    let jobs = with(workload(16, &[(0, 4, 10, 10), (0, 4, 10, 10), (1, 8, 10, 10), (2, 4, 10, 10)]), |c| {
        limit(c, "AssocGrpCpuLimit", 8, &[(0, 4), (1, 4), (2, 8), (3, 4)]);
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs);
        assert_eq!(spans, [Some((0, 10)), Some((0, 10)), Some((10, 20)), Some((20, 30))], "{policy}: {words:?}");
    }
}

/// Two limits at once: two jobs of the user, three of the group. Job 3, of another user, is the
/// third of the group; job 4 waits for the group, job 2 for the user and then for the group.
#[test]
fn every_limit_of_a_job_holds() {
    let rows = [(0, 1, 30, 10), (0, 1, 30, 20), (0, 1, 30, 10), (0, 1, 30, 12), (0, 1, 30, 10)];
    let jobs = with(workload(16, &rows), |c| {
        limit(c, "QOSMaxJobsPerUserLimit", 2, &[(0, 1), (1, 1), (2, 1)]);
        limit(c, "QOSGrpJobsLimit", 3, &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]);
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs);
        // At 10 job 0 leaves: job 2 comes before job 4. At 12 job 3 leaves.
        let right = [Some((0, 10)), Some((0, 20)), Some((10, 20)), Some((0, 12)), Some((12, 22))];
        assert_eq!(spans, right, "{policy}: {words:?}");
    }
}

/// A limit of 2 jobs is claimed by one that runs on all processors and one that waits for it. When
/// the latter is withdrawn, the third takes its place.
#[test]
fn a_withdrawn_job_leaves_its_part() {
    let jobs = with(workload(4, &[(0, 4, 10, 10), (1, 4, 10, 10), (2, 1, 5, 5), (3, 2, 5, 5)]), |c| {
        limit(c, "QOSMaxJobsPerUserLimit", 2, &[(0, 1), (1, 1), (2, 1)]);
        c.withdrawn.push(Withdrawal { at: Time(5), job: JobId(1), only_waiting: true });
    });
    for policy in ["fcfs", "easy", "conservative", "slack"] {
        let (words, spans) = told(policy, &jobs);
        assert_eq!(spans, [Some((0, 10)), None, Some((10, 15)), Some((10, 15))], "{policy}: {words:?}");
        assert!(words.contains(&"5 release 2".to_string()), "{policy}: {words:?}");
    }
}

/// Jobs that run at the beginning count, also beyond the limit: 3 jobs of 2. The fourth starts when
/// two of them have gone.
#[test]
fn running_jobs_count_though_they_are_too_many() {
    let rows = [(0, 1, 60, 25), (0, 1, 60, 30), (0, 1, 60, 35), (5, 1, 10, 10)];
    let jobs = with(workload(8, &rows), |c| {
        c.begin = Some(Time(20));
        for job in 0..3 {
            c.here.insert(JobId(job), Adopted::Running { since: Time(0), on: None });
        }
        limit(c, "QOSMaxJobsPerUserLimit", 2, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs);
        assert_eq!(spans[3], Some((30, 40)), "{policy}: {words:?}");
    }
}

/// A job waits for its dependency, then for its begin time, then for the limit; a held one never
/// comes. What waits for others takes no part of the limit.
#[test]
fn dependencies_begin_times_and_holds_come_before_limits() {
    let rows = [(-1, 1, 20, 10), (-1, 1, 20, 20), (-1, 1, 20, 10), (-1, 1, 20, 10), (1, 1, 50, 40)];
    let jobs = with(workload(8, &rows), |c| {
        c.begin = Some(Time(0));
        c.after.insert(JobId(1), DependsOn { jobs: vec![JobId(0)], think: Span(0), then: DependencyEffect::Starts });
        c.eligible.insert(JobId(2), Time(15));
        c.here.insert(JobId(3), Adopted::Held);
        limit(c, "QOSMaxJobsPerUserLimit", 2, &[(1, 1), (2, 1), (3, 1), (4, 1)]);
    });
    for policy in POLICIES {
        let (words, spans) = told(policy, &jobs);
        // Job 4 from 1 to 41, job 1 from 10 to 30; job 2 may start from 15 on and has a part from
        // 30.
        let right = [Some((0, 10)), Some((10, 30)), Some((30, 40)), None, Some((1, 41))];
        assert_eq!(spans, right, "{policy}: {words:?}");
    }
}

/// A claim that its limit can never grant is refused: such a job would wait for ever.
#[test]
fn a_claim_beyond_its_limit_is_refused() {
    let mut circumstances = Circumstances::default();
    let (reason, of, family) = ("QOSGrpCpuLimit".to_string(), "the QOS a".to_string(), "the QOS a".to_string());
    let limit = circumstances.limits.add_limit(JobLimit { reason, of, family, most: 2 });
    let set = circumstances.limits.intern_claims(vec![LimitClaim { limit, amount: 3, binds: true }]);
    circumstances.limits.bind_job(JobId(0), set);
    let error = workload(4, &[(0, 3, 10, 10)]).with_circumstances(circumstances).expect_err("too much").to_string();
    assert_eq!(error, "job 1 takes 3 of `QOSGrpCpuLimit`, which lets 2 be taken: it would never start");
}

/// A user may have 8 of 10 processors. Its job of 8 waits for the machine until 100 and uses
/// nothing of the limit: its jobs of 4 run meanwhile on what is left, one after the other. While
/// one runs, the limit has no room for the job of 8; from 82 on it has.
#[test]
fn a_job_that_waits_for_the_machine_uses_nothing_of_a_limit() {
    let rows = [(0, 6, 100, 100), (1, 8, 50, 50), (2, 4, 50, 50), (3, 4, 30, 30)];
    let jobs = with(workload(10, &rows), |c| {
        limit(c, "QOSMaxCpuPerUserLimit", 8, &[(1, 8), (2, 4), (3, 4)]);
    });
    for policy in ["easy", "easy(backfill=sjf)", "easy(reserve=2)", "conservative", "slack", "multiqueue", "ss"] {
        let (words, spans) = told(policy, &jobs);
        let right = [(0, 100), (100, 150), (2, 52), (52, 82)].map(Some);
        assert_eq!(spans, right, "{policy}: {words:?}");
        let of_wide: Vec<&str> =
            words.iter().filter(|w| w.ends_with("e 1") || w.ends_with("d 1")).map(String::as_str).collect();
        assert_eq!(of_wide[..2], ["2 hold 1", "82 release 1"], "{policy}: {words:?}");
    }
}

/// A job of 8 is planned for 100. At 95 another job of its user starts on the two processors that
/// the plan leaves: the limit has no room for the job of 8 from then on, and one of 4 takes the
/// rest at 100. The job of 8 starts when that has ended.
#[test]
fn a_limit_counts_what_runs_at_a_start() {
    let rows = [(0, 6, 100, 100), (1, 8, 50, 50), (4, 4, 200, 200), (95, 2, 30, 30)];
    let jobs = with(workload(10, &rows), |c| {
        limit(c, "QOSMaxCpuPerUserLimit", 8, &[(1, 8), (2, 4), (3, 2)]);
    });
    let (words, schedule) = told("easy", &jobs);
    assert_eq!(schedule, [(0, 100), (300, 350), (100, 300), (95, 125)].map(Some), "{words:?}");
    let is_of_wide = |word: &&String| word.ends_with(" 1");
    let of_wide: Vec<&str> = words.iter().filter(is_of_wide).map(String::as_str).collect();
    assert_eq!(of_wide[..2], ["95 hold 1", "300 release 1"], "{words:?}");
}

/// A user may run 2 jobs. The first waits for the whole machine until 10, and three more are tried
/// at 1 beside the job that runs: two start, the third has to wait until one of these has ended.
#[test]
fn of_the_jobs_that_fit_the_first_keep_the_limit() {
    let rows = [(0, 4, 10, 10), (0, 8, 10, 10), (1, 1, 5, 5), (1, 1, 3, 3), (1, 1, 4, 4)];
    let jobs = with(workload(8, &rows), |c| {
        limit(c, "QOSMaxJobsPerUserLimit", 2, &[(1, 1), (2, 1), (3, 1), (4, 1)]);
    });
    let (words, schedule) = told("easy", &jobs);
    // At 4 job 3 ends, and job 4 runs until 8.
    assert_eq!(schedule, [(0, 10), (10, 20), (1, 6), (1, 4), (4, 8)].map(Some), "{words:?}");
}
