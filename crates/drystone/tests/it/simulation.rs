//! Behaviour of the simulated machine, by hand: withdrawals of jobs that were suspended at a price,
//! limits of what a machine may charge, workloads that a policy cannot be simulated on, refused
//! actions, and the reason for each start.

use crate::common::{spec, workload};
use drystone::engine::{Observer, Platform, Schedule, Scheduler, Simulation, SimulationError, Unfit, WorkloadReplay};
use drystone::model::{EndedJob, JobId, JobOutcome, Span, Time, Workload};
use drystone::parts::predict::{Correction, Forecast};
use drystone::policy::{Action, Actions, PassRule, Policy, PolicyEvent, Priorities, StartReason, View};
use serde::{Deserialize, Serialize};

/// Outcomes in order of arrival, and why each job started.
#[derive(Default)]
struct Seen {
    outcomes: Vec<Option<JobOutcome>>,
    why: Vec<(u32, i64, StartReason)>,
}

impl Observer for Seen {
    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        self.why.push((id.0, now.0, reason));
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let at = job_end.id.index();
        self.outcomes.resize(self.outcomes.len().max(at + 1), None);
        self.outcomes[at] = Some(job_end.outcome.clone());
    }
}

fn run(w: &Workload, policy: &str, platform: &str, withdrawn: &[(Time, JobId)]) -> Seen {
    let platform = Platform::from_toml(platform).expect("a platform");
    let mut record = Seen::default();
    let source = WorkloadReplay::with_cancellations(w, withdrawn);
    Simulation::new(w.machine(), spec(policy).build_scheduler(), source)
        .with_platform(&platform)
        .run(&mut record)
        .expect("runs");
    record
}

/// Job 0 runs from 0 to 60 and makes way for job 1; at 120 it has its processors again and first
/// makes up for writing its memory, 200 MB at 2 MB/s. Withdrawn at 300 it has had 60 + 80 s,
/// withdrawn at 150 only the first 60, and 30 were overhead.
#[test]
fn withdrawn_while_it_pays() {
    let w = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 60, 60)]);
    let platform = "[suspension]\nsmallest = 200\nlargest = 200";
    for (at, ran, overhead) in [(300, 140, 100), (150, 0, 90), (40, 40, 0)] {
        let record = run(&w, "ss", platform, &[(Time(at), JobId(0))]);
        let first = record.outcomes[0].as_ref().expect("ended");
        assert_eq!((first.end.0, first.ran.0, first.overhead.0), (at, ran, overhead), "withdrawn at {at}");
    }
}

/// Job 2 is withdrawn in the second in which job 0 ends and job 1, which needs all processors, is
/// served at its expense. It ends there, and is not suspended to be resumed.
#[test]
fn withdrawn_before_another_end_in_whose_favour_it_would_be_suspended() {
    let w = workload(16, &[(0, 1, 1, 1), (0, 16, 1, 1), (0, 1, 1, 2)]);
    let record = run(&w, "is(slice=1,pass=pyss)", "", &[(Time(1), JobId(2))]);
    let last = record.outcomes[2].as_ref().expect("ended");
    assert_eq!((last.start.0, last.end.0, last.ran.0, last.suspensions), (0, 1, 1, 0));
}

/// Drawn memory lies between its limits, both included, and every job has its own: at 1 MB/s,
/// seconds are megabytes.
#[test]
fn memory_is_drawn_between_its_limits() {
    let mut counts = [0; 2];
    for number in 0..40 {
        // Jobs of the log are numbered from 1: those before only make the number grow, and are gone
        // when it begins.
        let mut jobs: Vec<_> = (0..number).map(|_| (0, 1, 1, 0)).collect();
        jobs.extend([(600, 3, 6_000, 6_000), (600, 4, 60, 60)]);
        let w = workload(4, &jobs);
        let seen_by = run(&w, "ss", "[suspension]\nsmallest = 100\nlargest = 101\nrate = 1", &[]);
        let outcome = seen_by.outcomes[number].as_ref().expect("ended");
        assert_eq!(outcome.suspensions, 1);
        assert!((100..=101).contains(&outcome.overhead.0), "{}", outcome.overhead);
        counts[outcome.overhead.0 as usize - 100] += 1;
    }
    // Of 40 fair draws fewer than 5 are on one side with a probability below 10⁻⁶.
    assert!(counts.iter().all(|&n| n >= 5), "{counts:?}");
}

#[test]
fn impossible_machines_are_refused() {
    for (text, good) in [
        ("largest = 1000000000", true),
        ("largest = 1000000001", false),
        ("largest = 2000000000", false),
        ("smallest = 1000", true),
        ("smallest = 1001", false),
        ("rate = 0.000001", true),
        ("rate = 0.0000001", false),
        ("rate = 1000000000", true),
        ("rate = 1000000001", false),
        ("rate = nan", false),
    ] {
        assert_eq!(Platform::from_toml(&format!("[suspension]\n{text}")).is_ok(), good, "{text}");
    }
}

/// A policy that counts a job past its prediction as gone cannot be simulated where jobs outlive
/// theirs: three of four do, by up to a second.
#[test]
fn policies_that_need_punctual_jobs_say_who_is_not() {
    let w = workload(1, &[(0, 1, 10, 10), (1, 1, 10, 11), (2, 1, 5, 8), (3, 1, 1, 100)]);
    let fits = |policy: &str| spec(policy).build_scheduler().check_fit(&w);
    let unfit = Unfit::Outlived { outliving: 3, jobs: 4, first: 2, predicted: Span(10), run: Span(11) };
    assert_eq!(fits("easy@gaussier2015"), Err(unfit));
    // Twice their estimates only the last one outlives.
    let unfit = Unfit::Outlived { outliving: 1, jobs: 4, first: 4, predicted: Span(2), run: Span(100) };
    assert_eq!(fits("easy@gaussier2015(predict=double(estimate))"), Err(unfit));
    for fitting in ["easy", "easy@gaussier2015(correct=estimate)", "easy@gaussier2015(predict=perfect)"] {
        assert_eq!(fits(fitting), Ok(()), "{fitting}");
    }
    let punctual = workload(1, &[(0, 1, 10, 10), (1, 1, 10, 9)]);
    assert_eq!(spec("easy@gaussier2015").build_scheduler().check_fit(&punctual), Ok(()));
}

/// A policy that changes the prediction of one job when it is first asked.
#[derive(Serialize, Deserialize)]
struct Foretells {
    job: u32,
    prediction: i64,
    done: u32,
}

impl Policy for Foretells {
    fn name(&self) -> &str {
        "foretells"
    }

    fn observe(&mut self, event: PolicyEvent, _: &View<'_>) {
        self.done += u32::from(matches!(event, PolicyEvent::Ended { .. }));
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        // Job 1 waits until job 0 has ended.
        actions.start_job(JobId(self.done), StartReason::Head);
        if self.done == 1 {
            actions.push(Action::Repredict { job: JobId(self.job), prediction: Span(self.prediction) });
            assert_eq!(view.current_time(), Time(10));
        }
    }
}

#[test]
fn only_jobs_that_are_here_are_predicted_anew_and_not_to_less_than_nothing() {
    let w = workload(1, &[(0, 1, 10, 10), (10, 1, 10, 10), (10, 1, 10, 10)]);
    for (job, prediction, error) in [
        (1, 0, None),
        (1, 7, None),
        (2, 0, None),
        (1, -1, Some("cannot be predicted to run for -1 s: 0 to 1099511627776 are possible")),
        (2, -5, Some("cannot be predicted to run for -5 s: 0 to 1099511627776 are possible")),
        // What has ended in this instant is still known, what never came is not.
        (0, 5, Some("cannot be given another prediction: it is done")),
        (3, 5, Some("is not known")),
    ] {
        let policy = Box::new(Foretells { job, prediction, done: 0 });
        let scheduler = Scheduler { policy, forecast: Forecast::default(), pass: PassRule::Instant };
        let result = Simulation::new(w.machine(), scheduler, WorkloadReplay::new(&w)).run(&mut ());
        match (result, error) {
            (Ok(()), None) => {}
            (Err(SimulationError::Violation(violation)), Some(error)) => {
                assert_eq!((violation.at, violation.job), (Time(10), Some(JobId(job))));
                assert!(violation.problem.contains(error), "{violation}");
            }
            (outcome, _) => panic!("job {job}, {prediction} s: {outcome:?}"),
        }
    }
}

/// A policy that starts every job that comes at 0, whatever is free, and at 10 one more.
#[derive(Serialize, Deserialize)]
struct Rash {
    come: Vec<JobId>,
    then: u32,
}

impl Policy for Rash {
    fn name(&self) -> &str {
        "rash"
    }

    fn observe(&mut self, event: PolicyEvent, _: &View<'_>) {
        if let PolicyEvent::Arrived(id) = event {
            self.come.push(id);
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        match view.current_time().0 {
            0 => self.come.drain(..).for_each(|id| actions.start_job(id, StartReason::Head)),
            10 => actions.start_job(JobId(self.then), StartReason::Head),
            _ => {}
        }
    }
}

/// A breach of contract is found when it happens, and the first job concerned is named.
#[test]
fn broken_contracts_are_found_out() {
    let error = |procs: u32, jobs: &[(i64, u32, i64, i64)], then: u32, pass: PassRule| {
        let w = workload(procs, jobs);
        let scheduler =
            Scheduler { policy: Box::new(Rash { come: Vec::new(), then }), forecast: Forecast::default(), pass };
        Simulation::new(w.machine(), scheduler, WorkloadReplay::new(&w)).run(&mut ()).expect_err("broken").to_string()
    };
    // With passes as pyss makes them, a job may have processors that another one gives back in the
    // same second, but no later.
    let jobs = [(0, 1, 20, 20), (0, 2, 10, 10)];
    assert!(
        error(2, &jobs, 0, PassRule::Pyss).contains("at 0, the policy: 1 processors more are in use than there are")
    );
    assert!(error(2, &jobs, 0, PassRule::Instant).contains("at 0, job #1: cannot start on 2 processors: 1 are free"));
    // A job that runs is not started again, where there is room for it as where there is none.
    let jobs = [(0, 1, 20, 20), (0, 1, 20, 20), (10, 1, 5, 5)];
    assert!(error(2, &jobs, 0, PassRule::Instant).contains("at 10, job #0: cannot start: it is Running"));
    assert!(error(9, &jobs, 0, PassRule::Instant).contains("at 10, job #0: cannot start: it is Running"));
    // Jobs 0 to 2 run, and job 3 is never started.
    let jobs = [(0, 1, 5, 5), (0, 1, 5, 5), (10, 1, 5, 5), (11, 1, 5, 5)];
    assert!(
        error(9, &jobs, 2, PassRule::Instant)
            .contains("leaves 1 waiting and 0 suspended jobs for ever; the first is #3")
    );
}

/// The reason for each start. Of 3 processors job 0 holds 2 until 10, job 1 needs all, and job 2 is
/// short and narrow.
#[test]
fn reasons_by_hand() {
    let w = workload(3, &[(0, 2, 10, 10), (1, 3, 10, 10), (2, 1, 5, 5)]);
    for (policy, first, second, third) in [
        ("fcfs", (0, StartReason::Head), (10, StartReason::Head), (20, StartReason::Head)),
        ("greedy", (0, StartReason::Head), (10, StartReason::Head), (2, StartReason::Backfilled)),
        ("easy", (0, StartReason::Head), (10, StartReason::Head), (2, StartReason::Backfilled)),
        ("easy(backfill=lxf)", (0, StartReason::Head), (10, StartReason::Head), (2, StartReason::Backfilled)),
        ("easy(reserve=2)", (0, StartReason::Head), (10, StartReason::Head), (2, StartReason::Backfilled)),
        ("conservative", (0, StartReason::Planned), (10, StartReason::Planned), (2, StartReason::Planned)),
    ] {
        let mut reasons = run(&w, policy, "", &[]).why;
        reasons.sort_by_key(|w| w.0);
        assert_eq!(reasons, [(0, first.0, first.1), (1, second.0, second.1), (2, third.0, third.1)], "{policy}");
    }
}

/// A plan keeps track of running jobs whose predictions change: from 2 on, job 1, which was
/// believed to run until 100, is predicted to end at once, and ends at 50. Only then can job 2 have
/// both processors; the others find the machine empty.
#[test]
fn plans_follow_predictions_of_running_jobs() {
    let w = workload(2, &[(0, 1, 100, 2), (0, 1, 100, 50), (1, 2, 100, 5), (60, 1, 100, 5), (500, 2, 100, 5)]);
    for policy in ["easy(", "conservative(", "slack(", "multiqueue(", "ss(", "goal(", "goal(plan=estimate,"] {
        for correction in ["none", "estimate"] {
            let text = format!("{policy}predict=recent(1,propagate=running),correct={correction})");
            let mut reasons = run(&w, &text, "", &[]).why;
            reasons.sort_by_key(|w| w.0);
            assert_eq!(reasons.iter().map(|w| w.1).collect::<Vec<_>>(), [0, 0, 50, 60, 500], "{text}");
        }
    }
}

/// Priorities go only to policies that have a use for them.
#[test]
fn priorities_are_not_ignored() {
    for policy in ["fcfs", "easy", "conservative", "multiqueue(own=fig4)", "ss", "is"] {
        let expected_starts =
            spec(policy).build_scheduler().policy.set_priorities(Priorities::from_text("every(5)").expect("a text"));
        assert!(expected_starts.is_err(), "{policy}");
    }
}

/// Says at each pass that each running job will have run for a second in all, and starts every job
/// that fits.
#[derive(Serialize, Deserialize, Default)]
struct Hopes {
    waiting: Vec<u32>,
}

impl Policy for Hopes {
    fn name(&self) -> &str {
        "hopes"
    }

    fn observe(&mut self, event: PolicyEvent, _: &View<'_>) {
        if let PolicyEvent::Arrived(id) = event {
            self.waiting.push(id.0);
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        for job in view.running_jobs().iter() {
            actions.push(Action::Repredict { job: job.id, prediction: Span(1) });
        }
        let mut free = view.free_processors();
        self.waiting.retain(|&id| {
            let procs = view.job(JobId(id)).procs;
            let fits = procs <= free;
            if fits {
                free -= procs;
                actions.start_job(JobId(id), StartReason::Head);
            }
            !fits
        });
    }
}

/// A prediction that the job has outlived already expires neither in the past nor again and again
/// at one instant.
#[test]
fn a_job_that_has_run_for_longer_is_not_predicted_to_have_ended() {
    let w = workload(4, &[(0, 3, 100, 90), (5, 4, 100, 80), (10, 1, 50, 40), (20, 2, 30, 30), (30, 1, 500, 300)]);
    for correction in [Correction::None, Correction::Estimate, Correction::Doubling] {
        for pass in [PassRule::Instant, PassRule::Event] {
            let forecast = Forecast { correction, ..Forecast::default() };
            let scheduler = Scheduler { policy: Box::new(Hopes::default()), forecast, pass };
            let mut schedule = Schedule::default();
            Simulation::new(w.machine(), scheduler, WorkloadReplay::new(&w))
                .run(&mut schedule)
                .expect("no way back in time");
            // Every job that fits starts: the one that needs the whole machine comes last.
            let spans = [(0, 90), (350, 430), (10, 50), (90, 120), (50, 350)].map(|(s, e)| Some((Time(s), Time(e))));
            assert_eq!(schedule.spans, spans);
        }
    }
}
