//! Drystone's plans against the naive definition where predictions change while jobs wait and run:
//! every start and end, and everything that was announced to jobs while they waited.

use crate::drawn::forecasts;
use drystone::engine::{Observer, Simulation, WorkloadReplay};
use drystone::model::{EndedJob, Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::predict::{NaiveForecast, NaiveGrowth};
use drystone_reference::talby::{
    self, Exponents, Heuristic, NaiveAnnounced, NaiveHorizon, NaiveImportance, NaiveNotice, NaivePriority,
    NaiveRemoval, NaiveTalbyScheduler,
};
use drystone_reference::{JobIn, JobOut, jobs_of};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Jobs of at most three users on a small machine: crowds at one instant, full width, no run time;
/// estimates of a few kinds, so that windows of similar jobs fill, which are right, too long or too
/// short by seconds or by hours.
fn workloads() -> impl Strategy<Value = Workload> {
    let estimate = prop_oneof![4 => prop::sample::select(vec![20i64, 60, 100, 600]), 2 => 1i64..200, 1 => Just(0i64)];
    let share = prop_oneof![3 => Just(1.0), 1 => Just(0.0), 4 => 0.0..1.0f64, 3 => 1.0..4.0f64, 1 => 4.0..60.0f64];
    let gap = prop_oneof![2 => Just(0i64), 4 => 0i64..40, 1 => 0i64..400];
    let job = (gap, 1u32..=8, estimate, share, 0i32..3);
    (2u32..=8, prop::collection::vec(job, 1..30)).prop_map(|(procs, rows)| {
        let (mut jobs, mut truth, mut now) = (Vec::new(), Vec::new(), 0);
        for (number, (gap, width, estimate, share, user)) in (1..).zip(rows) {
            now += gap;
            jobs.push(Job::new(Time(now), width.min(procs), Span(estimate)).with_user(user));
            let run = Span((estimate.max(1) as f64 * share) as i64);
            truth.push(Truth { run, number, status: LogStatus::Unknown });
        }
        Workload::new(Machine::new(procs), jobs, truth, Provenance::default()).expect("sound")
    })
}

/// Outcome of each job, and its announcements.
#[derive(Default)]
struct Seen(Vec<(Option<JobOut>, Vec<NaiveAnnounced>)>);

impl Observer for Seen {
    fn note_arrival(&mut self, _: Time, _: JobId) {
        self.0.push((None, Vec::new()));
    }

    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        let latest = (latest < Time::MAX).then_some(latest.0);
        self.0[id.index()].1.push(NaiveAnnounced { at: now.0, start: start.0, latest });
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.0[job_end.id.index()].0 = Some(JobOut { start: job_end.outcome.start.0, end: job_end.outcome.end.0 });
    }
}

/// Compares the product with the definition, job by job; a difference is shown with all jobs.
fn compare(
    policy: &str,
    scheduler: NaiveTalbyScheduler<'_>,
    notice: NaiveNotice,
    forecast: NaiveForecast,
    w: &Workload,
) {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut observer = Seen::default();
    Simulation::new(w.machine(), spec.build_scheduler(), WorkloadReplay::new(w))
        .run(&mut observer)
        .unwrap_or_else(|e| panic!("{policy}: {e}"));
    let (jobs, procs) = (jobs_of(w), w.machine().procs);
    let naive = talby::run_predicted(scheduler, notice, forecast, &jobs, i64::from(procs));
    let render_jobs = |jobs: &[JobIn]| -> String { jobs.iter().map(|j| format!("\n{j:?}")).collect() };
    assert_eq!(observer.0.len(), jobs.len());
    let different = |&j: &usize| observer.0[j] != (Some(naive.schedule[j]), naive.announced[j].clone());
    let first = |&j: &usize| naive.schedule[j].start.min(observer.0[j].0.map_or(i64::MAX, |out| out.start));
    if let Some(j) = (0..jobs.len()).filter(different).min_by_key(first) {
        let (own_out, announcements) = &observer.0[j];
        panic!(
            "{policy} on {procs} processors, job {j}: ours {own_out:?}, by definition {:?}\ntold by us {announcements:?}\nby definition {:?}{}",
            naive.schedule[j],
            naive.announced[j],
            render_jobs(&jobs)
        );
    }
    // The first announcement to a job is its promise; a job without announcements starts at once.
    for (j, (out, announcements)) in observer.0.iter().enumerate() {
        match announcements.first() {
            Some(first) => assert_eq!(first.latest, naive.promised[j], "{policy}, job {j}"),
            // Beyond a horizon jobs wait without announcements.
            None if matches!(scheduler, NaiveTalbyScheduler::Horizon(_)) => {}
            None => assert_eq!(out.map(|out| out.start), Some(jobs[j].submit), "{policy}, job {j}"),
        }
    }
}

const ORDERS: [(&str, Heuristic); 5] = [
    ("ast", Heuristic::StartTime),
    ("aat", Heuristic::Arrival),
    ("du", Heuristic::Area),
    ("dc", Heuristic::Cost),
    ("dp", Heuristic::Priority),
];

fn notice() -> impl Strategy<Value = (&'static str, NaiveNotice)> {
    prop::sample::select(vec![("immediate", NaiveNotice::Immediate), ("late", NaiveNotice::Late)])
}

/// A user priority and a political one by the job's place, with their text for the product.
type Importances = (&'static str, fn(usize) -> NaiveImportance);

fn importances() -> impl Strategy<Value = Importances> {
    const EQUAL: NaiveImportance = NaiveImportance { user: 0.0, political: 0.0 };
    const HIGH: NaiveImportance = NaiveImportance { user: 1.0, political: 0.5 };
    const ABSOLUTE_ZERO: NaiveImportance = NaiveImportance { user: 0.0, political: f64::NEG_INFINITY };
    let choices: [Importances; 3] = [
        ("equal", |_| EQUAL),
        ("every(3,first=1,up=1,pp=0.5)", |j| if j % 3 == 0 { HIGH } else { EQUAL }),
        ("every(4,first=2,up=0,pp=-inf)", |j| if j % 4 == 1 { ABSOLUTE_ZERO } else { EQUAL }),
    ];
    prop::sample::select(choices.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn conservative_with_predictions(
        w in workloads(), (name, notice) in notice(), (predict, correct, forecast) in forecasts(),
    ) {
        let policy = format!("conservative(notice={name},predict={predict},correct={correct})");
        compare(&policy, NaiveTalbyScheduler::Conservative, notice, forecast, &w);
    }

    /// Without a word on corrections, predictions of every kind are put off in all families.
    #[test]
    fn overdue_jobs_are_extended_unasked(
        w in workloads(), (name, notice) in notice(), (predict, _, forecast) in forecasts(),
    ) {
        let forecast = NaiveForecast { correction: Some(NaiveGrowth::AtOnce), ..forecast };
        compare(&format!("conservative(notice={name},predict={predict})"), NaiveTalbyScheduler::Conservative, notice, forecast, &w);
        let priority = NaivePriority { slack_factor: 2.0, average_wait: 30.0, ..NaivePriority::default() };
        compare(&format!("slack(notice={name},predict={predict},sf=2,awt=30)"), NaiveTalbyScheduler::Priority(&priority), notice,
            forecast, &w);
    }

    #[test]
    fn conservative_with_a_horizon(
        w in workloads(), (name, notice) in notice(), (predict, correct, forecast) in forecasts(),
        (text, horizon) in prop_oneof![
            (1usize..6).prop_map(|most| (most.to_string(), NaiveHorizon::Jobs(most))),
            (1i64..300).prop_map(|seconds| (format!("{seconds}s"), NaiveHorizon::Seconds(seconds))),
        ],
    ) {
        let policy = format!("conservative(horizon={text},notice={name},predict={predict},correct={correct})");
        compare(&policy, NaiveTalbyScheduler::Horizon(horizon), notice, forecast, &w);
    }

    #[test]
    fn slack_with_predictions(
        w in workloads(), (name, notice) in notice(), (predict, correct, forecast) in forecasts(),
        order in 0usize..5, priced in any::<bool>(), (priorities, importance) in importances(),
        slack_factor in prop_oneof![Just(0.0), Just(3.0), 0.0..10.0f64],
        average_wait in prop_oneof![Just(30.0), 1.0..400.0f64],
        weights in prop_oneof![3 => Just([1.0; 4]), 1 => prop::array::uniform4(0.0..=1.0f64)],
    ) {
        let (order, heuristic) = ORDERS[order];
        let (remove, removal) = if priced { ("priced", NaiveRemoval::Priced) } else { ("compress", NaiveRemoval::Compress) };
        let [au, at, ap, af] = weights;
        let policy = format!(
            "slack(sf={slack_factor:?},awt={average_wait:?},order={order},notice={name},remove={remove},\
             au={au:?},at={at:?},ap={ap:?},af={af:?},priorities={priorities},predict={predict},correct={correct})"
        );
        let exponents = Exponents { procs: au, time: at, priority: ap, fairness: af };
        let importance = (0..w.len()).map(importance).collect();
        let settings = NaivePriority { slack_factor, average_wait, exponents, heuristic, removal, importance };
        compare(&policy, NaiveTalbyScheduler::Priority(&settings), notice, forecast, &w);
    }
}

/// Predictions of waiting and of running jobs do change, plans move back and up, and promises are
/// broken: else the comparisons would say little.
#[test]
fn what_is_drawn_puts_plans_to_the_test() {
    let mut runner = TestRunner::deterministic();
    let mut draw = || {
        let tree = (workloads(), notice(), forecasts()).new_tree(&mut runner).expect("a case");
        tree.current()
    };
    let (mut waiting, mut running, mut back, mut up, mut broken) = (0, 0, 0, 0, 0);
    for _ in 0..1_000 {
        let (w, (_, notice), (_, _, forecast)) = draw();
        let procs = i64::from(w.machine().procs);
        let plan = talby::run_predicted(NaiveTalbyScheduler::Conservative, notice, forecast, &jobs_of(&w), procs);
        for (j, out) in plan.schedule.iter().enumerate() {
            let changes = || plan.predictions[j][1..].iter();
            waiting += usize::from(changes().any(|p| p.0 < out.start));
            running += usize::from(changes().any(|p| p.0 > out.start));
            let moved = |later: bool| plan.announced[j].windows(2).any(|pair| (pair[1].start > pair[0].start) == later);
            back += usize::from(moved(true));
            up += usize::from(moved(false));
            broken += usize::from(plan.promised[j].is_some_and(|promise| out.start > promise));
        }
    }
    for (label, jobs) in [("waiting", waiting), ("running", running), ("back", back), ("up", up), ("broken", broken)] {
        assert!(jobs >= 500, "{label}: {jobs} jobs of 1,000 cases");
    }
}
