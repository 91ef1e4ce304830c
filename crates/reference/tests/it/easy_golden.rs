//! The 18 policies of Tsafrir et al. against golden schedules, job by job.

use crate::common::{assert_golden, in_order, swf};
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{EndedJob, Job, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::{JobIn, easy, statistics, talby, tsafrir};

/// Rules 1 to 4.
fn tsafrir_jobs(log: &str, machine: i64) -> Option<(Vec<i64>, Vec<JobIn>)> {
    let lines = swf(log)?;
    let rows = lines.iter().filter(|f| f[4] > 0 && f[3] >= 0 && f[4] <= machine);
    let job = |f: &Vec<i64>| JobIn {
        submit: f[1],
        procs: f[4],
        estimate: if f[8] > 0 { f[8] } else { f[3] },
        run: f[3],
        user: f[11],
    };
    Some(in_order(rows.map(|f| (f[0], job(f))).collect()))
}

#[test]
fn every_policy_of_the_paper_schedules_kth_as_the_golden_files_say() {
    let Some((numbers, jobs)) = tsafrir_jobs("KTH-SP2-1996-2.1-cln", 100) else {
        return;
    };
    for name in tsafrir::NAMES {
        let policy = tsafrir::find_policy(name).expect("a policy of every name");
        let run = easy::run(&policy, &jobs, 100);
        assert_golden(&format!("easy/KTH-SP2-1996-2.1-cln.{name}"), &numbers, &run.schedule());
    }
}

/// Statistics of KTH equal those of another implementation (tables of the specification), to the
/// digits printed there.
#[test]
fn statistics_of_kth_are_those_that_others_computed() {
    let Some((_, jobs)) = tsafrir_jobs("KTH-SP2-1996-2.1-cln", 100) else {
        return;
    };
    let statistics = |name: &str| {
        let policy = tsafrir::find_policy(name).expect("a policy of this name");
        statistics::compute_statistics(&jobs, &easy::run(&policy, &jobs, 100))
    };
    let close = |name: &str, value: f64, target: f64, digits: i32| {
        let half = 0.500_001 * 10_f64.powi(-digits);
        assert!((value - target).abs() <= half, "{name}: {value}, expected {target}");
    };

    let s = statistics("EASY");
    close("wait", s.wait / 60.0, 115.1, 1);
    close("bounded slowdown", s.bounded_slowdown, 90.16, 2);
    close("accuracy", s.accuracy, 47.3, 1);
    close("reservation rate", s.reservation_rate, 15.04, 2);
    close("difference", s.difference.mean / 60.0, 38.3, 1);
    close("median difference", s.difference.median / 60.0, 6.27, 2);
    close("deviation of difference", s.difference.deviation / 60.0, 84.7, 1);
    close("delay rate", s.delay_rate, 0.11, 2);
    close("delay", s.delay.mean / 60.0, 58.7, 1);
    close("median delay", s.delay.median / 60.0, 0.65, 2);
    close("deviation of delay", s.delay.deviation / 60.0, 108.2, 1);
    close("stalled rate", s.stalled_rate, 6.89, 2);
    close("stall", s.stall / 60.0, 50.3, 1);
    close("thieves", s.thieves, 1.60, 2);

    let s = statistics("X2");
    close("wait", s.wait / 60.0, 102.9, 1);
    close("accuracy", s.accuracy, 23.8, 1);
    close("stalled rate", s.stalled_rate, 11.04, 2);
    close("stall", s.stall / 60.0, 110.9, 1);
    close("thieves", s.thieves, 2.33, 2);

    let s = statistics("EASY++");
    close("wait", s.wait / 60.0, 93.4, 1);
    close("accuracy", s.accuracy, 60.6, 1);
    close("prediction rate", s.prediction_rate, 83.8, 1);
    close("reservation rate", s.reservation_rate, 10.72, 2);
    close("difference", s.difference.mean / 60.0, 61.6, 1);
    close("delay rate", s.delay_rate, 3.64, 2);
    close("delay", s.delay.mean / 60.0, 145.6, 1);

    let s = statistics("EASY++imm");
    close("prediction rate", s.prediction_rate, 39.0, 1);
    close("deviation of delay", s.delay.deviation / 60.0, 86.1, 1);
    close("median delay", s.delay.median / 60.0, 9.38, 2);

    let s = statistics("EASY+");
    close("bounded slowdown", s.bounded_slowdown, 64.92, 2);
    close("corrections", s.corrections.mean, 0.53, 2);
    close("deviation of corrections", s.corrections.deviation, 0.56, 2);
}

/// The two solutions of section 4 and EASY with late notice on KTH, job by job: the product against
/// the naive definitions.
#[test]
fn the_ways_out_of_delays_schedule_kth_as_their_definitions_say() {
    let Some((_, jobs)) = tsafrir_jobs("KTH-SP2-1996-2.1-cln", 100) else {
        return;
    };
    let w = workload_of(&jobs, 100);
    let [order_easy, booking_easy] = tsafrir::list_solutions().expect("policies of the paper");
    for (text, definition) in [
        ("easy-sjbf+@tsafrir2007", order_easy),
        ("easy++@tsafrir2007(announce=estimate)", booking_easy),
        (
            "easy-sjbf+",
            easy::Easy {
                pass: easy::NaivePass::PerInstant,
                extra: easy::NaiveExtra::All,
                overdue: easy::NaiveEasyOverdue::EndsNow,
                ..order_easy
            },
        ),
    ] {
        let naive = easy::run(&definition, &jobs, 100);
        assert_eq!(
            seen(text, &w),
            naive.jobs.iter().map(|r| (r.start, r.end, r.first_reservation)).collect::<Vec<_>>()
        );
    }
    let jobs: Vec<JobIn> = jobs
        .iter()
        .map(|job| {
            let estimate = job.estimate.max(1);
            JobIn { estimate, run: job.run.min(estimate), ..*job }
        })
        .collect();
    let naive = talby::run(talby::NaiveTalbyScheduler::Easy, talby::NaiveNotice::Late, &jobs, 100).schedule;
    let own: Vec<_> = seen("easy@talby1999", &workload_of(&jobs, 100)).into_iter().map(|job| (job.0, job.1)).collect();
    assert_eq!(own, naive.iter().map(|job| (job.start, job.end)).collect::<Vec<_>>());
}

fn workload_of(jobs: &[JobIn], procs: u32) -> Workload {
    let truth =
        |(i, job): (usize, &JobIn)| Truth { run: Span(job.run), number: i as i64, status: LogStatus::Completed };
    let truths = jobs.iter().enumerate().map(truth).collect();
    let job = |j: &JobIn| Job::new(Time(j.submit), j.procs as u32, Span(j.estimate)).with_user(j.user as i32);
    Workload::new(Machine::new(procs), jobs.iter().map(job).collect(), truths, Provenance::default()).expect("sound")
}

/// Start, end and first reservation of each job under the product's policy.
fn seen(policy: &str, w: &Workload) -> Vec<(i64, i64, Option<i64>)> {
    struct Seen(Vec<(i64, i64, Option<i64>)>);
    impl Observer for Seen {
        fn note_end(&mut self, job_end: &EndedJob<'_>) {
            let outcome = job_end.outcome;
            self.0[job_end.id.index()] = (outcome.start.0, outcome.end.0, outcome.first_reservation.map(|time| time.0));
        }
    }
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut observer = Seen(vec![(0, 0, None); w.len()]);
    Simulation::new(w.machine(), spec.build_scheduler(), WorkloadReplay::new(w))
        .run(&mut observer)
        .unwrap_or_else(|e| panic!("{e}"));
    observer.0
}
