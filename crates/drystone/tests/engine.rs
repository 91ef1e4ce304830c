//! The engine: its contract with policies, its promises to users, small schedules computed by hand.

mod common;

use common::{simulate, spec, starts, workload};
use drystone::engine::{Replay, Schedule, Scheduler, Simulation, SimulationError};
use drystone::metrics::PromiseAudit;
use drystone::model::{Job, JobId, ProcSet, Span, Time, Workload};
use drystone::parts::predict::{Forecast, Prediction, forecast};
use drystone::policy::{Action, Actions, Event, Pass, Policy, View, Why, names};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// The picture by which the papers explain backfilling: 4 processors, A runs on 2 until 10, B needs 3 and must wait for it,
/// and behind B come C, short enough to end before B can start, D, long but narrow, and E, which fits neither hole.
#[test]
fn small_schedules_by_hand() {
    // (submit, processors, estimate, run)
    let w = workload(4, &[(0, 2, 10, 10), (1, 3, 10, 10), (2, 2, 5, 5), (3, 1, 30, 30), (4, 2, 4, 4)]);
    // Nobody overtakes: B at 10 until 20, then C and D, and E when C has ended.
    assert_eq!(starts(&w, "fcfs"), [0, 10, 20, 20, 25]);
    // B is reserved at 10 with 1 extra processor. C backfills at 2 until 7. D cannot start at 3, when all 4 are taken, but
    // at 7 it may take the extra processor, though it runs until 37. E needs 2, and only 1 is free before B has ended.
    assert_eq!(starts(&w, "easy"), [0, 10, 2, 7, 20]);
    assert_eq!(starts(&w, "conservative"), [0, 10, 2, 7, 20]);
    // A runs on 3 until 10, B needs all 4. C is narrow but long: it would delay B until 102.
    let w = workload(4, &[(0, 3, 10, 10), (1, 4, 10, 10), (2, 1, 100, 100)]);
    assert_eq!(starts(&w, "easy"), [0, 10, 20]);
    assert_eq!(starts(&w, "easy(reserve=0)"), [0, 102, 2]);
    assert_eq!(starts(&w, "greedy"), [0, 102, 2]);
}

/// EASY protects only the head of the queue, conservative backfilling everybody. 4 processors: A holds 3 until 10, B needs 3
/// and is reserved at 10 with 1 extra processor, C needs all 4, D is narrow and long.
#[test]
fn conservative_promises_hold_where_easy_makes_none() {
    let w = workload(4, &[(0, 3, 10, 10), (1, 3, 10, 10), (2, 4, 10, 10), (3, 1, 30, 30)]);
    assert_eq!(starts(&w, "easy"), [0, 10, 33, 3], "D takes the extra processor, and C, second in the queue, pays");
    assert_eq!(starts(&w, "easy(reserve=2)"), [0, 10, 20, 30], "with two reservations C is protected, too");
    assert_eq!(starts(&w, "conservative"), [0, 10, 20, 30], "C was promised 20 and gets it");
}

/// Early ends: job A is estimated until 100 but ends at 10. The plan is compressed at once, or at the next event that was
/// known beforehand: the arrival at 40.
#[test]
fn early_ends_are_noticed_at_once_or_late() {
    let w = workload(2, &[(0, 2, 100, 10), (1, 2, 10, 10), (40, 1, 5, 5)]);
    assert_eq!(starts(&w, "conservative"), [0, 10, 40]);
    assert_eq!(starts(&w, "conservative(notice=late)"), [0, 40, 50]);
    assert_eq!(starts(&w, "easy"), [0, 10, 40]);
}

/// Tsafrir et al. 2007, section 4. One user's first jobs run for 2 and 4, so all others are predicted to run for 3. At 10 A
/// takes 3 of 4 processors, B needs all 4 and is reserved at 13, and C is predicted to end just then, but is estimated to run
/// for 50 and does run for 9.
#[test]
fn a_guard_keeps_underpredicted_jobs_out_of_the_reservation() {
    let w = workload(4, &[(0, 1, 100, 2), (0, 1, 100, 4), (10, 3, 20, 3), (10, 4, 20, 3), (10, 1, 50, 9)]);
    assert_eq!(starts(&w, "easy++"), [0, 0, 10, 19, 10], "C delays B");
    assert_eq!(starts(&w, "easy++-guarded"), [0, 0, 10, 13, 16], "C has to wait");
    // With a truthful estimate C may overtake.
    let w = workload(4, &[(0, 1, 100, 2), (0, 1, 100, 4), (10, 3, 20, 3), (10, 4, 20, 3), (10, 1, 3, 2)]);
    assert_eq!(starts(&w, "easy++-guarded"), [0, 0, 10, 13, 10]);
}

/// Whoever the log does not know shares one history; a user without a finished job is believed; run times beyond the
/// estimate are learned as they were; and what is predicted to run for no time is planned and corrected like any other.
#[test]
fn odd_jobs_have_defined_predictions() {
    let job = |user: i32| Job { user, ..Job::new(Time(0), 1, Span(600)) };
    for predictor in ["recent(2)", "quantile(0.5)"] {
        let mut p = forecast(predictor).expect("a predictor").predictor;
        p.learn(JobId(0), &job(-1), Span(100), Time(0));
        p.learn(JobId(1), &Job { estimate: Span(50), ..job(-1) }, Span(100), Time(0));
        assert_eq!(p.predict(JobId(2), &job(-1), None), Prediction::learned(Span(100)), "{predictor}");
        assert_eq!(p.predict(JobId(3), &job(7), None), Prediction::given(Span(600)), "{predictor}");
        assert_eq!(p.predict(JobId(4), &Job { estimate: Span(0), ..job(7) }, None).run, Span(0), "{predictor}");
    }
    // The first two run for no time, so all others are predicted to; they need the whole machine for 5 each, or half of it.
    let w = workload(2, &[(0, 1, 100, 0), (0, 1, 100, 0), (10, 2, 100, 5), (11, 2, 100, 5), (12, 1, 100, 5)]);
    for policy in [
        "easy++",
        "easy++-guarded",
        "easy(predict=recent(2),correct=none)",
        "easy(predict=recent(2),reserve=2)",
        "easy(predict=recent(2),correct=doubling)",
        "conservative(predict=recent(2))",
        "slack(sf=0,predict=recent(2))",
        "slack(sf=0,predict=quantile(1),correct=none)",
    ] {
        assert_eq!(starts(&w, policy), [0, 0, 10, 15, 20], "{policy}");
    }
}

/// New predictions of running jobs without any correction: an alarm for them would go off for ever.
#[test]
fn predictions_may_change_without_being_corrected() {
    let w = workload(2, &[(0, 1, 100, 2), (0, 1, 100, 50), (1, 2, 100, 5), (60, 1, 100, 5)]);
    let policy = "easy(predict=recent(1,propagate=running),correct=none)";
    assert_eq!(starts(&w, policy), [0, 0, 50, 60]);
}

/// The orders, on one processor: all jobs arrive while the first one runs.
#[test]
fn orders_by_hand() {
    // Jobs 1 to 4 wait at 100: estimates 30, 10, 20, 10; arrivals 1, 2, 3, 90.
    let w = workload(1, &[(0, 1, 100, 100), (1, 1, 30, 30), (2, 1, 10, 10), (3, 1, 20, 20), (90, 1, 10, 10)]);
    let order = |policy: &str| {
        let starts = starts(&w, policy);
        let mut ids: Vec<usize> = (1..5).collect();
        ids.sort_by_key(|&i| starts[i]);
        ids
    };
    assert_eq!(order("fcfs"), [1, 2, 3, 4]);
    assert_eq!(order("fcfs(order=sjf)"), [2, 4, 3, 1]);
    assert_eq!(order("fcfs(order=ljf)"), [1, 3, 2, 4]);
    assert_eq!(order("fcfs(order=smallest)"), [2, 4, 3, 1]);
    // Expansion factors at 100: 1 + 99/30 = 4.3, 1 + 98/10 = 10.8, 1 + 97/20 = 5.85, 1 + 10/10 = 2. At 110 the others
    // are 1 + 109/30 = 4.6, 1 + 107/20 = 6.35, 3; at 130: 1 + 129/30 = 5.3 and 1 + 40/10 = 5.
    assert_eq!(order("fcfs(order=lxf)"), [2, 3, 1, 4]);
    let wide = workload(2, &[(0, 2, 50, 50), (1, 1, 9, 9), (2, 2, 9, 9)]);
    assert_eq!(starts(&wide, "fcfs(order=widest)"), [0, 59, 50]);
    assert_eq!(starts(&wide, "fcfs(order=narrowest)"), [0, 50, 59]);
}

/// A job that runs on beyond its estimate is overdue: reservations that counted on it move, and nothing is oversubscribed.
#[test]
fn overdue_jobs_delay_reservations() {
    let w = workload(2, &[(0, 2, 10, 500), (1, 2, 10, 10), (2, 1, 10, 10)]);
    // Whoever suspends jobs has no reservations, and lets the others in.
    for policy in names().into_iter().filter(|p| !["ss", "tss", "is"].contains(p)) {
        assert_eq!(starts(&w, policy)[0], 0, "{policy}");
        assert!(starts(&w, policy)[1] >= 500, "{policy}");
    }
}

#[test]
fn jobs_without_run_time_and_crowds_at_one_instant() {
    let w = workload(2, &[(5, 2, 0, 0), (5, 2, 10, 0), (5, 1, 10, 10), (5, 2, 1, 1), (15, 2, 1, 0)]);
    for policy in names() {
        for (start, job) in starts(&w, policy).iter().zip(w.jobs()) {
            assert!(*start >= job.submit.0, "{policy}");
        }
    }
    assert_eq!(starts(&w, "fcfs"), [5, 5, 5, 15, 16]);
}

fn random_jobs(max: usize) -> impl Strategy<Value = Workload> {
    let job = (0i64..400, 1u32..9, 0i64..60, 0i64..60, any::<bool>());
    (8u32..12, prop::collection::vec(job, 1..max)).prop_map(|(procs, jobs)| {
        let mut now = 0;
        let jobs: Vec<_> = jobs
            .into_iter()
            .map(|(gap, procs, estimate, run, overrun)| {
                now += gap / 20;
                (now, procs, estimate, if overrun { run } else { run.min(estimate) })
            })
            .collect();
        workload(procs, &jobs)
    })
}

/// Every policy in the registry, and parameters that take other paths.
fn policies() -> Vec<String> {
    let mut all: Vec<String> = names().iter().map(ToString::to_string).collect();
    all.extend(
        [
            "easy@tsafrir2007",
            "easy++@tsafrir2007",
            "easy(predict=learn)",
            "conservative(predict=learn(under=squared))",
            "easy(predict=recent(3,propagate=running))",
            "easy(reserve=3)",
            "easy(order=lxf,backfill=sjf)",
            "easy(backfill=lxf)",
            "easy(predict=recent(3,full=no,propagate=running),correct=gradual)",
            "easy(order=sjf,backfill=sjf,predict=recent(2,propagate=waiting),correct=exponential)",
            "conservative(predict=recent(2))",
            "conservative(notice=late)",
            "conservative(predict=perfect)",
            "goal(tradeoff(Tw:avgX),version=c,predict=recent(2,propagate=running),nodes=500)",
            "goal(lexical(maxW>avgX>unused),search=lds-fcfs,diff=strict,nodes=500,pass=event)",
            "goal(tradeoff(Tw(30):areaW:late(60)),version=b,predict=perfect,nodes=20000,threads=2)",
            "goal(tradeoff(fair(100):avgX),reuse=branch,local=20,nodes=300)",
            "goal(lexical(special(user=1)>Tw),reuse=seed,prune=beside,nodes=300)",
            "goal(plan=estimate,predict=recent(2,propagate=running),nodes=300)",
            "ss(sf=1,every=7)",
            "ss(sf=1.5,every=3,predict=recent(2))",
            "ss(place=priosf,every=5)",
            "ss(place=avoid,rule=skip,every=5)",
            "ss(migration=yes,every=5,cap=2)",
            "ss(sf=auto,relief=3,every=5,place=contiguous)",
            "tss(sf=1.2,every=5)",
            "is(slice=5,every=5)",
        ]
        .map(String::from),
    );
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A simulation stopped after any event and resumed from its saved state ends as if it had not been stopped.
    #[test]
    fn resuming_is_as_if_nothing_happened(w in random_jobs(60), stop in 0usize..100) {
        for policy in policies() {
            let spec = spec(&policy);
            let whole = simulate(&w, &policy);
            let mut schedule = Schedule::default();
            let mut first = Simulation::new(w.machine(), spec.scheduler(), Replay::new(&w));
            for _ in 0..stop {
                if !first.step(&mut schedule).expect("runs") {
                    break;
                }
            }
            let saved = first.save().expect("saves");
            drop(first);
            let mut second = Simulation::new(w.machine(), spec.scheduler(), Replay::new(&w));
            second.load(&saved).expect("loads");
            prop_assert_eq!(&second.save().expect("saves"), &saved, "{}: a state saves as it was loaded", policy);
            second.run(&mut schedule).expect("runs");
            prop_assert_eq!(&schedule, &whole, "{}", policy);
        }
    }

    /// No policy looks at run times that are not over: other run times of unfinished jobs change nothing before the first
    /// of their ends, old or new.
    #[test]
    fn no_policy_knows_the_future(w in random_jobs(40), noise in prop::collection::vec(0i64..80, 40), at in 0i64..400) {
        for policy in policies().into_iter().filter(|p| !p.contains("perfect")) {
            let before = simulate(&w, &policy);
            let (machine, jobs, mut truth, provenance) = w.clone().into_parts();
            let mut until = i64::MAX;
            for (i, t) in truth.iter_mut().enumerate() {
                let (start, end) = before.spans[i].expect("ends");
                if end.0 >= at {
                    let run = t.run.0.max(noise[i % noise.len()]).max(at - start.0);
                    until = until.min(end.0).min(start.0 + run);
                    t.run.0 = run;
                }
            }
            let other = Workload::new(machine, jobs, truth, provenance).expect("sound");
            let after = simulate(&other, &policy);
            for (a, b) in before.spans.iter().zip(&after.spans) {
                let (a, b) = (a.expect("ends").0.0, b.expect("ends").0.0);
                prop_assert!(a == b || (a >= until && b >= until), "{policy}: a start at {a} moved to {b} before {until}");
            }
        }
    }

    /// Where no job outlives its estimate, conservative backfilling starts nobody later than it promised at submission, and
    /// EASY no head later than its first reservation, whatever the order of backfilling.
    #[test]
    fn promises_are_kept(w in random_jobs(80)) {
        let (machine, jobs, mut truth, provenance) = w.into_parts();
        truth.iter_mut().zip(&jobs).for_each(|(t, j)| t.run = t.run.min(j.estimate));
        let w = Workload::new(machine, jobs, truth, provenance).expect("sound");
        for policy in ["conservative", "easy", "easy(backfill=sjf)", "easy(backfill=lxf)", "easy(backfill=widest)"] {
            let mut audit = PromiseAudit::default();
            Simulation::new(w.machine(), spec(policy).scheduler(), Replay::new(&w)).run(&mut audit).expect("runs");
            prop_assert_eq!(audit.kept().worst, None, "{}", policy);
        }
    }

    /// Jobs are withdrawn at random: whoever is left ends, and nobody is lost.
    #[test]
    fn cancellations_lose_nobody(w in random_jobs(40), picks in prop::collection::vec((0u32..40, 0i64..600), 0..12)) {
        let mut cancellations: Vec<(Time, JobId)> =
            picks.into_iter().filter(|p| (p.0 as usize) < w.len())
                .map(|(id, after)| (w.jobs()[id as usize].submit + drystone::model::Span(after), JobId(id))).collect();
        cancellations.sort();
        for policy in policies() {
            #[derive(Default)]
            struct Count { cancelled: usize, ended: usize }
            impl drystone::engine::Observer for Count {
                fn cancelled(&mut self, _: Time, _: JobId) { self.cancelled += 1; }
                fn ended(&mut self, _: &drystone::model::Ended<'_>) { self.ended += 1; }
            }
            let mut count = Count::default();
            let source = Replay::with_cancellations(&w, &cancellations);
            Simulation::new(w.machine(), spec(&policy).scheduler(), source).run(&mut count).expect("runs");
            prop_assert_eq!(count.cancelled + count.ended, w.len(), "{}", policy);
        }
    }
}

/// What a policy under test does, in order, at its decisions.
#[derive(Serialize, Deserialize, Clone, Default)]
struct Script {
    decisions: Vec<Vec<Step>>,
    wake: Option<Time>,
}

#[derive(Serialize, Deserialize, Clone, Copy)]
enum Step {
    Start(u32),
    StartOn(u32, u32, u32),
    Suspend(u32),
    Resume(u32),
    Kill(u32),
    Wake(i64),
}

impl Policy for Script {
    fn observe(&mut self, _: Event, _: &View<'_>) {}

    fn decide(&mut self, _: &View<'_>, actions: &mut Actions) {
        self.wake = None;
        if self.decisions.is_empty() {
            return;
        }
        for step in self.decisions.remove(0) {
            match step {
                Step::Start(id) => actions.start(JobId(id), Why::Planned),
                Step::StartOn(id, from, to) => actions.start_on(JobId(id), Why::Planned, ProcSet::range(from..to)),
                Step::Suspend(id) => actions.push(Action::Suspend(JobId(id))),
                Step::Resume(id) => actions.push(Action::Resume(JobId(id))),
                Step::Kill(id) => actions.push(Action::Kill(JobId(id))),
                Step::Wake(at) => self.wake = Some(Time(at)),
            }
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }
}

fn run_script(w: &Workload, decisions: Vec<Vec<Step>>) -> Result<Schedule, SimulationError> {
    let policy = Box::new(Script { decisions, wake: None });
    let scheduler = Scheduler { policy, forecast: Forecast::default(), pass: Pass::Instant };
    let mut schedule = Schedule::default();
    Simulation::new(w.machine(), scheduler, Replay::new(w)).run(&mut schedule).map(|()| schedule)
}

/// A job is suspended, keeps its progress, and goes on on its own processors.
#[test]
fn suspended_jobs_get_the_run_time_they_are_due() {
    use Step::*;
    let w = workload(4, &[(0, 3, 100, 100), (10, 2, 20, 20)]);
    // Job 0 runs on 0-2 from 0; at 10 it makes way for job 1 on 0-1; at 30 it goes on for its last 90 s.
    let script = vec![vec![StartOn(0, 0, 3)], vec![Suspend(0), StartOn(1, 0, 2)], vec![Resume(0)]];
    let schedule = run_script(&w, script).expect("sound");
    assert_eq!(schedule.spans, [Some((Time(0), Time(120))), Some((Time(10), Time(30)))]);
}

#[test]
fn killed_jobs_end_at_once() {
    let w = workload(1, &[(0, 1, 100, 100), (10, 1, 5, 5)]);
    let schedule =
        run_script(&w, vec![vec![Step::Start(0)], vec![Step::Kill(0)], vec![Step::Start(1)]]).expect("sound");
    assert_eq!(schedule.spans, [Some((Time(0), Time(10))), Some((Time(10), Time(15)))]);
}

/// Every impossible action is refused with what is wrong, and a policy that forgets jobs is found out.
#[test]
fn impossible_actions_are_refused() {
    use Step::*;
    let w = workload(4, &[(0, 3, 100, 100), (0, 2, 20, 20), (5, 1, 1, 1)]);
    for (script, part) in [
        (vec![vec![Start(0), Start(1)]], "cannot start on 2 processors: 1 are free"),
        (vec![vec![Start(0), Start(0)]], "cannot start: it is Running"),
        (vec![vec![Start(7)]], "is not known"),
        (vec![vec![Resume(0)]], "cannot be resumed: it is Waiting"),
        (vec![vec![Suspend(0)]], "cannot be suspended: it is Waiting"),
        (vec![vec![Kill(0)]], "cannot be killed: it is Waiting"),
        (vec![vec![StartOn(0, 0, 2)]], "needs 3 processors but is placed on 2: 0-1"),
        (vec![vec![StartOn(1, 3, 5)]], "beyond the machine of 4"),
        (vec![vec![StartOn(0, 0, 3)], vec![StartOn(2, 2, 3)]], "some of which are taken"),
        (
            vec![vec![StartOn(0, 0, 3)], vec![Suspend(0), StartOn(1, 0, 2), Wake(6)], vec![Resume(0)]],
            "cannot be resumed on 3 processors: 2 are free",
        ),
        (vec![vec![Wake(0)]], "asks to be woken at 0"),
        (vec![vec![Start(0)]], "leaves 2 waiting and 0 suspended jobs for ever"),
    ] {
        let error = run_script(&w, script).expect_err(part).to_string();
        assert!(error.contains(part), "{error} does not say {part}");
    }
}

/// The window of live jobs is small however long the log is.
#[test]
fn the_past_is_forgotten() {
    let jobs: Vec<_> = (0..20_000).map(|i| (i * 10, 1, 9, 9)).collect();
    let w = workload(2, &jobs);
    let mut simulation = Simulation::new(w.machine(), spec("easy").scheduler(), Replay::new(&w));
    let mut largest = 0;
    while simulation.step(&mut ()).expect("runs") {
        if simulation.now().0 % 1000 == 0 {
            largest = largest.max(simulation.save().expect("saves").len());
        }
    }
    assert!(largest < 20_000, "a state of {largest} bytes for one running job");
}
