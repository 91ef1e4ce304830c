//! The engine: its contract with policies, its promises to users, small schedules computed by hand.

use crate::common::{spec, starts, workload};
use drystone::engine::{Observer, Schedule, Scheduler, Simulation, SimulationError, WorkloadReplay};
use drystone::model::{EndedJob, Job, JobId, ProcSet, Span, Time, Workload};
use drystone::parts::predict::{Forecast, Prediction, parse_forecast};
use drystone::policy::{Action, Actions, PassRule, Policy, PolicyEvent, StartReason, View, policy_names};
use serde::{Deserialize, Serialize};

/// The picture by which the papers explain backfilling: 4 processors, A runs on 2 until 10, B needs
/// 3 and must wait for it, and behind B come C, short enough to end before B can start, D, long but
/// narrow, and E, which fits neither hole.
#[test]
fn small_schedules_by_hand() {
    // (submit, processors, estimate, run)
    let w = workload(4, &[(0, 2, 10, 10), (1, 3, 10, 10), (2, 2, 5, 5), (3, 1, 30, 30), (4, 2, 4, 4)]);
    // No job overtakes: B at 10 until 20, then C and D, and E when C has ended.
    assert_eq!(starts(&w, "fcfs"), [0, 10, 20, 20, 25]);
    // B is reserved at 10 with 1 extra processor. C backfills at 2 until 7. D cannot start at 3,
    // when all 4 are taken, but at 7 it may take the extra processor, though it runs until 37. E
    // needs 2, and only 1 is free before B has ended.
    assert_eq!(starts(&w, "easy"), [0, 10, 2, 7, 20]);
    assert_eq!(starts(&w, "conservative"), [0, 10, 2, 7, 20]);
    // A runs on 3 until 10, B needs all 4. C is narrow but long: it would delay B until 102.
    let w = workload(4, &[(0, 3, 10, 10), (1, 4, 10, 10), (2, 1, 100, 100)]);
    assert_eq!(starts(&w, "easy"), [0, 10, 20]);
    assert_eq!(starts(&w, "easy(reserve=0)"), [0, 102, 2]);
    assert_eq!(starts(&w, "greedy"), [0, 102, 2]);
}

/// EASY protects only the head of the queue, conservative backfilling every job. 4 processors: A
/// holds 3 until 10, B needs 3 and is reserved at 10 with 1 extra processor, C needs all 4, D is
/// narrow and long.
#[test]
fn conservative_promises_hold_where_easy_makes_none() {
    let w = workload(4, &[(0, 3, 10, 10), (1, 3, 10, 10), (2, 4, 10, 10), (3, 1, 30, 30)]);
    assert_eq!(starts(&w, "easy"), [0, 10, 33, 3], "D takes the extra processor, and C, second in the queue, pays");
    assert_eq!(starts(&w, "easy(reserve=2)"), [0, 10, 20, 30], "with two reservations C is also protected");
    assert_eq!(starts(&w, "conservative"), [0, 10, 20, 30], "C was promised 20 and gets it");
}

/// Early ends: job A is estimated until 100 but ends at 10. The plan is compressed at once, or at
/// the next event that was known beforehand: the arrival at 40.
#[test]
fn early_ends_are_noticed_at_once_or_late() {
    let w = workload(2, &[(0, 2, 100, 10), (1, 2, 10, 10), (40, 1, 5, 5)]);
    assert_eq!(starts(&w, "conservative"), [0, 10, 40]);
    assert_eq!(starts(&w, "conservative(notice=late)"), [0, 40, 50]);
    assert_eq!(starts(&w, "easy"), [0, 10, 40]);
    // For EASY an arrival is also an event that was known beforehand; so is an estimated end.
    assert_eq!(starts(&w, "easy(notice=late)"), [0, 40, 50]);
    let w = workload(2, &[(0, 2, 100, 10), (1, 2, 10, 10)]);
    assert_eq!(starts(&w, "easy(notice=late)"), [0, 100]);
}

/// Tsafrir et al. 2007, section 4. One user's first jobs run for 9, so all others are predicted to.
/// From 10 on A holds 2 of 4 processors, and B needs all 4. By estimates A ends at 110: C, which
/// asks for 90, ends by 101 and starts at once; D asks for 120 and has to wait for B, which starts
/// when A has ended after 50.
#[test]
fn estimates_admit_what_predictions_put_in_order() {
    let history = [(0, 1, 100, 9), (0, 1, 100, 9)];
    let w = workload(4, &[history[0], history[1], (10, 2, 100, 50), (10, 4, 20, 3), (11, 2, 90, 9), (12, 2, 120, 9)]);
    let of = |choice: &str| starts(&w, &format!("easy(backfill=sjf,predict=recent(2),{choice})"));
    assert_eq!(of("plan=estimate"), [0, 0, 10, 60, 11, 63]);
    // By predictions A ends at 19, and C would end at 20. A is corrected to end at 110 then, and
    // both C and D are predicted to end long before; D starts when C has ended, and runs until 37.
    assert_eq!(of("plan=prediction"), [0, 0, 10, 60, 19, 28]);
    assert_eq!(of("announce=estimate"), of("plan=prediction"));
}

/// Tsafrir et al. 2007, section 4. One user's first jobs run for 2 and 4, so all others are
/// predicted to run for 3. At 10 A takes 3 of 4 processors, B needs all 4 and is reserved at 13,
/// and C is predicted to end just then, but is estimated to run for 50 and does run for 9.
#[test]
fn a_guard_keeps_underpredicted_jobs_out_of_the_reservation() {
    let w = workload(4, &[(0, 1, 100, 2), (0, 1, 100, 4), (10, 3, 20, 3), (10, 4, 20, 3), (10, 1, 50, 9)]);
    assert_eq!(starts(&w, "easy++"), [0, 0, 10, 19, 10], "C delays B");
    let guard_policy = "easy(backfill=sjf,predict=recent(2),guard=estimate)";
    assert_eq!(starts(&w, guard_policy), [0, 0, 10, 13, 16], "C has to wait");
    // With a truthful estimate C may overtake.
    let w = workload(4, &[(0, 1, 100, 2), (0, 1, 100, 4), (10, 3, 20, 3), (10, 4, 20, 3), (10, 1, 3, 2)]);
    assert_eq!(starts(&w, guard_policy), [0, 0, 10, 13, 10]);
}

/// Jobs of unknown users share one history; a user without a finished job is believed; run times
/// beyond the estimate are learned as they were; and what is predicted to run for no time is
/// planned and corrected like any other.
#[test]
fn odd_jobs_have_defined_predictions() {
    let asking = |estimate: i64, mut job: Job| {
        job.estimate = Span(estimate);
        job
    };
    let job = |user: i32| Job::new(Time(0), 1, Span(600)).with_user(user);
    for predictor in ["recent(2)", "quantile(0.5)"] {
        let mut p = parse_forecast(predictor).expect("a predictor").predictor;
        p.learn_from_end(JobId(0), &job(-1), Span(100), Time(0));
        p.learn_from_end(JobId(1), &asking(50, job(-1)), Span(100), Time(0));
        assert_eq!(p.predict(JobId(2), &job(-1), None), Prediction::from_learned(Span(100)), "{predictor}");
        assert_eq!(p.predict(JobId(3), &job(7), None), Prediction::from_given(Span(600)), "{predictor}");
        assert_eq!(p.predict(JobId(4), &asking(0, job(7)), None).run, Span(0), "{predictor}");
    }
    // The first two run for no time, so all others are predicted to; they need the whole machine
    // for 5 each, or half of it.
    let w = workload(2, &[(0, 1, 100, 0), (0, 1, 100, 0), (10, 2, 100, 5), (11, 2, 100, 5), (12, 1, 100, 5)]);
    for policy in [
        "easy++",
        "easy(backfill=sjf,predict=recent(2),guard=estimate)",
        "easy(backfill=sjf,predict=recent(2),plan=estimate)",
        "easy(backfill=sjf,predict=recent(2),announce=estimate)",
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

/// New predictions of running jobs without any correction: if they expired, they would do so for
/// ever.
#[test]
fn predictions_may_change_without_being_corrected() {
    let w = workload(2, &[(0, 1, 100, 2), (0, 1, 100, 50), (1, 2, 100, 5), (60, 1, 100, 5)]);
    let policy = "easy(predict=recent(1,propagate=running),correct=none)";
    assert_eq!(starts(&w, policy), [0, 0, 50, 60]);
}

/// Times may lie before the origin, and the shadow of no job lies at the end of all times.
#[test]
fn the_past_of_the_origin_is_a_time_like_any_other() {
    // No job is planned for: job 1 has the machine, job 2 waits for it, and job 3 comes when that
    // is known.
    let w = workload(2, &[(-9, 2, 5, 5), (-8, 2, 5, 5), (-7, 1, 5, 5)]);
    for policy in ["greedy", "fcfs", "easy(reserve=0)", "easy", "conservative"] {
        assert_eq!(starts(&w, policy), [-9, -4, 1], "{policy}");
    }
}

/// A plan may be withdrawn by an event that leads to no decision: when the policy wakes next is
/// then what it said before, also where the state is restored in between.
#[test]
fn a_restored_session_wakes_when_it_would_have() {
    let w = workload(1, &[(0, 1, 100, 50), (1, 1, 100, 10)]);
    let cancellations = [(Time(2), JobId(1))];
    let mut simulation = Simulation::new(
        w.machine(),
        spec("conservative").build_scheduler(),
        WorkloadReplay::with_cancellations(&w, &cancellations),
    );
    // Job 2 is planned for 100, and withdrawn when no other job waits.
    for _ in 0..3 {
        simulation.step(&mut ()).expect("runs");
    }
    assert_eq!(simulation.current_time(), Time(2));
    let source = WorkloadReplay::with_cancellations(&w, &cancellations);
    let mut second_simulation = Simulation::new(w.machine(), spec("conservative").build_scheduler(), source);
    second_simulation.load(&simulation.save().expect("saves")).expect("loads");
    assert_eq!(simulation.session().next_due_time(), Some(Time(100)));
    assert_eq!(second_simulation.session().next_due_time(), simulation.session().next_due_time());
}

/// A state of another policy, or of another predictor, is refused, and what was there before goes
/// on as if nothing had happened.
#[test]
fn a_state_that_is_refused_leaves_no_trace() {
    let w = workload(2, &[(0, 1, 100, 50), (1, 1, 100, 10), (2, 2, 50, 50), (20, 1, 100, 5), (70, 1, 10, 10)]);
    let after = |policy: &str, steps: usize| {
        let mut simulation = Simulation::new(w.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(&w));
        for _ in 0..steps {
            simulation.step(&mut ()).expect("runs");
        }
        simulation
    };
    for (policy, rival_policy) in [
        ("easy(predict=learn)", "easy(predict=recent(2))"),
        ("conservative(predict=recent(2))", "easy(predict=recent(2))"),
        ("slack(predict=quantile(0.5))", "conservative(predict=quantile(0.5))"),
    ] {
        let mut simulation = after(policy, 3);
        let before = simulation.save().expect("saves");
        let foreign = after(rival_policy, 5).save().expect("saves");
        assert!(simulation.load(&foreign).is_err(), "{policy} takes a state of {rival_policy}");
        assert_eq!(simulation.save().expect("saves"), before, "{policy} after a state of {rival_policy}");
    }
}

/// A state has the choices of its policy in it: a session of other choices would go on with those
/// and not with its own.
#[test]
fn a_state_of_other_choices_is_refused() {
    let w = workload(2, &[(0, 1, 100, 50), (1, 1, 100, 10), (2, 2, 50, 50), (20, 1, 100, 5), (70, 1, 10, 10)]);
    let names = policy_names().into_iter().map(str::to_string);
    let others =
        ["easy(order=sjf)", "easy(pass=event)", "easy++(correct=gradual)", "easy++(predict=recent(3))", "ss(sf=1.5)"];
    let policies: Vec<String> = names.chain(others.map(str::to_string)).collect();
    let after = |policy: &str, steps: usize| {
        let mut simulation = Simulation::new(w.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(&w));
        for _ in 0..steps {
            simulation.step(&mut ()).expect("runs");
        }
        simulation
    };
    let states: Vec<Vec<u8>> = policies.iter().map(|policy| after(policy, 3).save().expect("saves")).collect();
    for policy in &policies {
        for (rival, state) in policies.iter().zip(&states) {
            let result = after(policy, 0).load(state);
            let same = spec(policy).canonical_text() == spec(rival).canonical_text();
            assert_eq!(result.is_ok(), same, "{policy} and a state of {rival}");
            if let Err(error) = result {
                assert!(error.to_string().contains("it is of another scheduler"), "{error}");
            }
        }
    }
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
    // Expansion factors at 100: 1 + 99/30 = 4.3, 1 + 98/10 = 10.8, 1 + 97/20 = 5.85, 1 + 10/10 = 2.
    // At 110 the others are 1 + 109/30 = 4.6, 1 + 107/20 = 6.35, 3; at 130: 1 + 129/30 = 5.3 and 1
    // + 40/10 = 5.
    assert_eq!(order("fcfs(order=lxf)"), [2, 3, 1, 4]);
    let wide = workload(2, &[(0, 2, 50, 50), (1, 1, 9, 9), (2, 2, 9, 9)]);
    assert_eq!(starts(&wide, "fcfs(order=widest)"), [0, 59, 50]);
    assert_eq!(starts(&wide, "fcfs(order=narrowest)"), [0, 50, 59]);
}

/// A job that runs on beyond its estimate is overdue: reservations that counted on it move, and
/// nothing is oversubscribed.
#[test]
fn overdue_jobs_delay_reservations() {
    let w = workload(2, &[(0, 2, 10, 500), (1, 2, 10, 10), (2, 1, 10, 10)]);
    // A policy that suspends jobs has no reservations, and lets the others in.
    for policy in policy_names().into_iter().filter(|p| !["ss", "tss", "is"].contains(p)) {
        assert_eq!(starts(&w, policy)[0], 0, "{policy}");
        assert!(starts(&w, policy)[1] >= 500, "{policy}");
    }
}

#[test]
fn jobs_without_run_time_and_crowds_at_one_instant() {
    let w = workload(2, &[(5, 2, 0, 0), (5, 2, 10, 0), (5, 1, 10, 10), (5, 2, 1, 1), (15, 2, 1, 0)]);
    for policy in policy_names() {
        for (start, job) in starts(&w, policy).iter().zip(w.jobs()) {
            assert!(*start >= job.submit.0, "{policy}");
        }
    }
    assert_eq!(starts(&w, "fcfs"), [5, 5, 5, 15, 16]);
}

/// Actions of a policy under test, in order, at its decisions.
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
    fn name(&self) -> &str {
        "script"
    }

    fn observe(&mut self, _: PolicyEvent, _: &View<'_>) {}

    fn decide(&mut self, _: &View<'_>, actions: &mut Actions) {
        self.wake = None;
        if self.decisions.is_empty() {
            return;
        }
        for step in self.decisions.remove(0) {
            match step {
                Step::Start(id) => actions.start_job(JobId(id), StartReason::Planned),
                Step::StartOn(id, from, to) => {
                    actions.start_on(JobId(id), StartReason::Planned, ProcSet::from_range(from..to))
                }
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
    let scheduler = Scheduler { policy, forecast: Forecast::default(), pass: PassRule::Instant };
    let mut schedule = Schedule::default();
    Simulation::new(w.machine(), scheduler, WorkloadReplay::new(w)).run(&mut schedule).map(|()| schedule)
}

/// A job is suspended, keeps its progress, and resumes on the processors it had.
#[test]
fn suspended_jobs_get_the_run_time_they_are_due() {
    use Step::*;
    let w = workload(4, &[(0, 3, 100, 100), (10, 2, 20, 20)]);
    // Job 0 runs on 0-2 from 0; at 10 it makes way for job 1 on 0-1; at 30 it goes on for its last
    // 90 s.
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

/// Every impossible action is refused with what is wrong, and a policy that forgets jobs is found
/// out.
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

/// Predictions for a user's third job, after two that ran for 10 s: 10 s, then 1 min more at 10, 15
/// min more at 70, and at 970 the estimate, 2000 s, as another 30 min would be beyond it (Tsafrir
/// et al. 2007, section 3.2). It runs for 1000 s: accuracies of 1, 7, 97 and 50 % over 10, 60, 900
/// and 30 s. Nothing else happens meanwhile, or others end and arrive, but none waits: all three
/// corrections are due.
#[test]
fn corrections_that_nobody_waits_for_are_all_made() {
    struct Last(Option<(u32, Option<f64>, Time)>);
    impl Observer for Last {
        fn note_end(&mut self, job_end: &EndedJob<'_>) {
            let outcome = job_end.outcome;
            self.0 = Some((outcome.corrections, outcome.accuracy, outcome.end));
        }
    }
    let alone = vec![(0, 1, 2000, 10), (0, 1, 2000, 10), (100, 1, 2000, 1000)];
    // One that came before its user had a history ends as it was estimated, at 500; a short one
    // arrives at 600.
    let among_others = [alone.clone(), vec![(5, 1, 495, 495), (600, 1, 2000, 1)]].concat();
    for mut jobs in [alone, among_others] {
        jobs.sort_unstable();
        let w = workload(4, &jobs);
        let simulation =
            || Simulation::new(w.machine(), spec("easy++(correct=gradual)").build_scheduler(), WorkloadReplay::new(&w));
        let mut observer = Last(None);
        simulation().run(&mut observer).expect("runs");
        let (corrections, accuracy, end) = observer.0.expect("ends");
        assert_eq!((corrections, end), (3, Time(1100)));
        assert!((accuracy.expect("known") - 0.8923).abs() < 1e-12, "{accuracy:?}");
        simulation().without_accuracy().run(&mut observer).expect("runs");
        assert_eq!(observer.0, Some((3, None, Time(1100))));
    }
}

/// The window of live jobs is small however long the log is.
#[test]
fn the_past_is_forgotten() {
    let jobs: Vec<_> = (0..20_000).map(|i| (i * 10, 1, 9, 9)).collect();
    let w = workload(2, &jobs);
    let mut simulation = Simulation::new(w.machine(), spec("easy").build_scheduler(), WorkloadReplay::new(&w));
    let mut largest = 0;
    while simulation.step(&mut ()).expect("runs") {
        if simulation.current_time().0 % 1000 == 0 {
            largest = largest.max(simulation.save().expect("saves").len());
        }
    }
    assert!(largest < 20_000, "a state of {largest} bytes for one running job");
}
