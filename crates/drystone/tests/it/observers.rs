//! Observers of a simulation receive everything in order, through references and pairs as well; the
//! results are computed by hand.

use crate::common::{Outcomes, spec, workload};
use drystone::engine::{
    GaugeNote, Levels, Notes, Observer, Platform, Schedule, Scheduler, Segments, Simulation, SimulationError,
    WorkloadReplay,
};
use drystone::model::{EndedJob, JobId, JobOutcome, ProcSet, Span, Time, Workload};
use drystone::parts::predict::Forecast;
use drystone::policy::{Action, Actions, Gauge, Moved, PassRule, Policy, PolicyEvent, StartReason, View};
use serde::{Deserialize, Serialize};

/// A policy that follows a script at its decisions.
#[derive(Serialize, Deserialize, Clone)]
struct Script(Vec<Vec<Do>>);

#[derive(Serialize, Deserialize, Clone)]
enum Do {
    Act(Action),
    StartOn(u32, u32, u32),
    ResumeOn(u32, u32, u32),
    Explain(Moved),
}

impl Policy for Script {
    fn name(&self) -> &str {
        "script"
    }

    fn observe(&mut self, _: PolicyEvent, _: &View<'_>) {}

    fn decide(&mut self, _: &View<'_>, actions: &mut Actions) {
        if self.0.is_empty() {
            return;
        }
        for step in self.0.remove(0) {
            match step {
                Do::Act(action) => actions.push(action),
                Do::StartOn(id, from, to) => {
                    actions.start_on(JobId(id), StartReason::Planned, ProcSet::from_range(from..to))
                }
                Do::ResumeOn(id, from, to) => actions.resume_on(JobId(id), ProcSet::from_range(from..to)),
                Do::Explain(job_move) => actions.explain_move(job_move),
            }
        }
    }
}

/// A policy that starts every job at once, and notes which is the oldest.
#[derive(Serialize, Deserialize, Default)]
struct Usher(Vec<JobId>);

impl Policy for Usher {
    fn name(&self) -> &str {
        "usher"
    }

    fn observe(&mut self, event: PolicyEvent, _: &View<'_>) {
        if let PolicyEvent::Arrived(id) = event {
            self.0.push(id);
        }
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.0.drain(..).for_each(|id| actions.start_job(id, StartReason::Head));
        actions.push(Action::Note { gauge: Gauge::Delay, value: i64::from(view.oldest_job().0) });
    }
}

/// Every event of an observer, a line each.
#[derive(Default)]
struct Diary(Vec<String>);

impl Diary {
    fn write(&mut self, now: Time, line: String) {
        self.0.push(format!("{now}: {line}"));
    }
}

impl Observer for Diary {
    fn note_arrival(&mut self, now: Time, id: JobId) {
        self.write(now, format!("{id} arrives"));
    }
    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        self.write(now, format!("{id} starts, {reason:?}"));
    }
    fn note_placement(&mut self, now: Time, id: JobId, on: &ProcSet) {
        self.write(now, format!("{id} on {on}"));
    }
    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.write(now, format!("{id} is suspended"));
    }
    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.write(now, format!("{id} goes on"));
    }
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        self.write(now, format!("{id} is promised {start}, {latest} at the latest"));
    }
    fn note_move(&mut self, now: Time, job_move: &Moved) {
        self.write(now, format!("{} moves from {} to {}", job_move.job, job_move.from, job_move.to));
    }
    fn note_prediction(&mut self, now: Time, id: JobId, prediction: Span) {
        self.write(now, format!("{id} shall run for {prediction}"));
    }
    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.write(now, format!("{id} is withdrawn"));
    }
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.write(job_end.outcome.end, format!("{} ends, {} s", job_end.id, job_end.outcome.ran));
    }
    fn note_gauge(&mut self, now: Time, gauge: Gauge, value: i64) {
        self.write(now, format!("{gauge} is {value}"));
    }
    fn note_settlement(&mut self, now: Time, levels: Levels) {
        let Levels { free, waiting, waiting_procs, running, suspended, suspended_procs, .. } = levels;
        let levels = format!(
            "{free} free, {waiting} wait for {waiting_procs}, {running} run, {suspended} suspended of {suspended_procs}"
        );
        self.write(now, levels);
    }
}

const DAY: [&str; 26] = [
    "0: #0 arrives",
    "0: #1 arrives",
    "0: #0 is promised 0, 5 at the latest",
    "0: #0 starts, Planned",
    "0: #0 on 0-2",
    "0: delay is 7",
    "0: 1 free, 1 wait for 2, 1 run, 0 suspended of 0",
    // Job 2 arrives, and job 0 makes way for job 1.
    "5: #2 arrives",
    "5: #0 is suspended",
    "5: #1 starts, Planned",
    "5: #0 moves from 5 to 55",
    "5: 2 free, 1 wait for 1, 1 run, 1 suspended of 3",
    "7: #2 is withdrawn",
    "7: #1 shall run for 60",
    "7: 2 free, 0 wait for 0, 1 run, 1 suspended of 3",
    // Job 0 goes on elsewhere for the 95 s that it is still due.
    "55: #1 ends, 50 s",
    "55: #0 goes on",
    "55: #0 on 1-3",
    "55: delay is 3",
    "55: 1 free, 0 wait for 0, 1 run, 0 suspended of 0",
    "60: #3 arrives",
    "60: #3 starts, Head",
    "60: 0 free, 0 wait for 0, 2 run, 0 suspended of 0",
    "70: #3 ends, 10 s",
    "70: 1 free, 0 wait for 0, 1 run, 0 suspended of 0",
    "150: #0 ends, 100 s",
];

fn watch(observer: &mut impl Observer) {
    let w = workload(4, &[(0, 3, 100, 100), (0, 2, 50, 50), (5, 1, 10, 10), (60, 1, 10, 10)]);
    let start = |id, reason| {
        let mut actions = Actions::default();
        actions.start_job(JobId(id), reason);
        Do::Act(actions.list()[0])
    };
    let note = |value| Do::Act(Action::Note { gauge: Gauge::Delay, value });
    let job_move = Moved { job: JobId(0), favour: Some(JobId(1)), from: Time(5), to: Time(55), price: 1.0 };
    let script = Script(vec![
        vec![
            Do::Act(Action::Reserve { job: JobId(0), start: Time(0), latest: Time(5) }),
            Do::StartOn(0, 0, 3),
            note(7),
        ],
        // Explanations come when everything is done.
        vec![Do::Explain(job_move), Do::Act(Action::Suspend(JobId(0))), start(1, StartReason::Planned)],
        vec![Do::Act(Action::Repredict { job: JobId(1), prediction: Span(60) })],
        vec![Do::ResumeOn(0, 1, 4), note(3)],
        vec![start(3, StartReason::Head)],
    ]);
    let scheduler = Scheduler { policy: Box::new(script), forecast: Forecast::default(), pass: PassRule::Instant };
    let withdrawn = [(Time(7), JobId(2))];
    let source = WorkloadReplay::with_cancellations(&w, &withdrawn);
    Simulation::new(w.machine(), scheduler, source).run(observer).expect("sound");
}

#[test]
fn everything_is_told_in_order() {
    let expected: Vec<&str> = DAY.into_iter().chain(["150: 4 free, 0 wait for 0, 0 run, 0 suspended of 0"]).collect();
    let mut direct = Diary::default();
    watch(&mut direct);
    assert_eq!(direct.0, expected);
    // Through a reference, and as either of a pair, whatever the other is.
    let mut diary = Diary::default();
    watch(&mut &mut diary);
    assert_eq!(diary.0, expected);
    let mut pair = (Diary::default(), Diary::default());
    watch(&mut pair);
    assert_eq!((&pair.0.0[..], &pair.1.0[..]), (&direct.0[..], &direct.0[..]));
    let (mut first, mut second) = ((Diary::default(), ()), ((), Diary::default()));
    watch(&mut first);
    watch(&mut second);
    assert_eq!((&first.0.0[..], &second.1.0[..]), (&direct.0[..], &direct.0[..]));
}

#[test]
fn notes_are_kept_and_written() {
    let mut notes = Notes::default();
    watch(&mut notes);
    let note = |at, value| GaugeNote { at: Time(at), gauge: Gauge::Delay, value };
    assert_eq!(notes.list, [note(0, 7), note(55, 3)]);
    assert_eq!((notes.last_value(Gauge::Delay), notes.last_value(Gauge::Queues)), (Some(3), None));
    let mut csv = Vec::new();
    notes.write_csv(&mut csv).expect("written");
    assert_eq!(String::from_utf8(csv).expect("text"), "time,gauge,value\n0,delay,7\n55,delay,3\n");
}

#[test]
fn segments_are_kept_and_written() {
    let mut segments = Segments::default();
    watch(&mut segments);
    let mut csv = Vec::new();
    segments.write_csv(&mut csv).expect("written");
    let csv = String::from_utf8(csv).expect("text");
    let expected = "job_id,start,end,procs,processors,then\n\
                    1,0,5,3,\"0-2\",suspended\n1,55,150,3,\"1-3\",ended\n2,5,55,2,,ended\n4,60,70,1,,ended\n";
    assert_eq!(csv, expected);
}

/// A job that is withdrawn while it is suspended leaves nothing behind.
#[test]
fn a_suspended_job_that_is_withdrawn_has_no_segments() {
    let mut segments = Segments::default();
    segments.note_start(Time(0), JobId(0), StartReason::Head);
    segments.note_suspension(Time(10), JobId(0));
    assert_ne!(segments, Segments::default());
    segments.note_withdrawal(Time(15), JobId(0));
    assert_eq!(segments, Segments::default());
}

fn outcomes(w: &Workload, policy: &str) -> Vec<JobOutcome> {
    let mut observer = Outcomes::default();
    Simulation::new(w.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(w))
        .run(&mut observer)
        .expect("runs");
    observer.0.into_iter().map(|o| o.expect("every job ends")).collect()
}

/// Jobs with a reservation: a job that waits and then starts as the head counts from its start
/// where no plan was announced for it; one that starts upon arrival, or overtakes, does not; and
/// under policies without reservations none does. 3 processors: job 0 holds 2 until 10 and job 1
/// one until 5; job 2 needs all, and job 3, for which nothing is free at first, overtakes it at 5.
#[test]
fn first_reservations_by_hand() {
    let w = workload(3, &[(0, 2, 10, 10), (0, 1, 5, 5), (1, 3, 10, 10), (2, 1, 2, 2)]);
    let reservations = |policy: &str| -> Vec<_> {
        outcomes(&w, policy).iter().map(|o| (o.start.0, o.first_reservation.map(|t| t.0))).collect()
    };
    assert_eq!(reservations("greedy"), [(0, None), (0, None), (10, None), (5, None)]);
    assert_eq!(reservations("fcfs"), [(0, None), (0, None), (10, None), (20, None)]);
    // Selective suspension, which gives processors names: at 5 job 3 is the head, (3 + 2) / 2 being
    // more than (4 + 10) / 10.
    assert_eq!(reservations("ss"), [(0, None), (0, None), (10, None), (5, None)]);
    // EASY announces at 1 that job 2 is due at 10.
    assert_eq!(reservations("easy"), [(0, None), (0, None), (10, Some(10)), (5, None)]);
    // One of 4 processors is free until 10, and job 1 is announced for 10 when it arrives at 1.
    // Job 2 becomes the head only when job 1 has started, and so starts at 10 as well.
    let w = workload(4, &[(0, 3, 10, 10), (1, 2, 10, 10), (2, 2, 20, 20)]);
    let rows: Vec<_> = outcomes(&w, "easy").iter().map(|o| (o.start.0, o.first_reservation.map(|t| t.0))).collect();
    assert_eq!(rows, [(0, None), (10, Some(10)), (10, Some(10))]);
    // With `arrive=fits` job 1 is not looked at before job 0 ends, and no job had a start announced
    // before.
    let w = workload(1, &[(0, 1, 100, 100), (10, 1, 5, 5)]);
    for (policy, promise) in [("easy(arrive=fits)", Some(100)), ("easy(arrive=fits,reserve=0)", None), ("fcfs", None)] {
        let pairs: Vec<_> =
            outcomes(&w, policy).iter().map(|o| (o.start.0, o.first_reservation.map(|t| t.0))).collect();
        assert_eq!(pairs, [(0, None), (100, promise)], "{policy}");
    }
}

/// Accuracy over a life, weighted by time (Tsafrir et al. 2007, section 3.3). On one processor the
/// first two jobs run for 2 and 4 of an estimated 100: 0.02 and 0.04 from start to end. All others
/// are predicted to run for 3.
///
/// Job 2 runs from 10 to 19: for 3 s it is predicted to run for 3, then, a minute more being beyond
/// it, for its estimate, 50. Job 3 arrives at 12 and runs from 19 to 25: for 10 s predicted 3 of 6,
/// then 50.
#[test]
fn accuracy_over_a_life_by_hand() {
    let w = workload(1, &[(0, 1, 100, 2), (2, 1, 100, 4), (10, 1, 50, 9), (12, 1, 50, 6), (25, 1, 50, 3)]);
    let results = outcomes(&w, "easy(predict=recent(2),correct=gradual)");
    assert_eq!(results.iter().map(|o| o.start.0).collect::<Vec<_>>(), [0, 2, 10, 19, 25]);
    let expected = [
        0.02,
        0.04,
        (3.0 * (3.0 / 9.0) + 6.0 * (9.0 / 50.0)) / 9.0,
        (10.0 * (3.0 / 6.0) + 3.0 * (6.0 / 50.0)) / 13.0,
        // Predicted from 9 and 6: 7, and 3 is run.
        3.0 / 7.0,
    ];
    for (id, (outcome, expected)) in results.iter().zip(expected).enumerate() {
        let accuracy = outcome.accuracy.expect("recorded");
        assert!((accuracy - expected).abs() < 1e-12, "job {id}: {accuracy} instead of {expected}");
    }
    assert_eq!(results.iter().map(|o| o.corrections).collect::<Vec<_>>(), [0, 0, 1, 1, 0]);
}

/// Memory as the log has it: 10 MB per processor at 4 MB/s take 2.5 s, which is 3. Job 0 is
/// suspended at 60, when job 1 has waited as long as it will run, and goes on at 120 for what it is
/// still due, the writing of its memory included.
#[test]
fn memory_of_the_log_by_hand() {
    let plain = workload(4, &[(0, 3, 6_000, 6_000), (0, 4, 60, 60)]);
    let mut jobs = plain.jobs().to_vec();
    jobs[0].memory_kb = 10 * 1024;
    let w = Workload::new(plain.machine(), jobs, plain.truth().to_vec(), plain.provenance.clone()).expect("sound");
    let text = "[suspension]\nmemory = 'log'\nsmallest = 200\nlargest = 200\nrate = 4";
    let platform = Platform::from_toml(text).expect("a platform");
    for (w, overhead) in [(&w, 3), (&plain, 50)] {
        let mut observer = Outcomes::default();
        let mut simulation =
            Simulation::new(w.machine(), spec("ss").build_scheduler(), WorkloadReplay::new(w)).with_platform(&platform);
        simulation.run(&mut observer).expect("runs");
        let first = observer.0[0].as_ref().expect("ended");
        assert_eq!((first.end.0, first.overhead.0, first.ran.0), (6_060 + overhead, overhead, 6_000));
    }
}

/// A source that goes back in time is refused.
#[test]
fn arrivals_out_of_order_are_refused() {
    struct Backwards<'a>(WorkloadReplay<'a>, u32);
    impl drystone::engine::EventSource for Backwards<'_> {
        fn peek_time(&self) -> Option<Time> {
            // The second arrival claims to be before the first.
            self.0.peek_time().map(|t| if self.1 == 1 { Time(t.0 - 10) } else { t })
        }
        fn next(&mut self) -> Option<drystone::engine::Incoming<'_>> {
            self.1 += 1;
            self.0.next()
        }
        fn position(&self) -> u64 {
            self.0.position()
        }
        fn seek(&mut self, position: u64) {
            self.0.seek(position);
        }
    }
    let w = workload(2, &[(5, 1, 10, 10), (6, 1, 10, 10)]);
    let mut simulation =
        Simulation::new(w.machine(), spec("easy").build_scheduler(), Backwards(WorkloadReplay::new(&w), 0));
    let error = simulation.run(&mut Schedule::default()).expect_err("refused");
    assert!(matches!(error, SimulationError::Disorder { now: Time(5), next: Time(-4) }), "{error}");
}

/// Conservative plans by hand, as they are announced: job 1 is promised 100 and job 2 110, and when
/// job 0 ends at 10 instead of 100, job 1 starts, and job 2 is promised 20. A job that can start at
/// once is promised nothing, and none twice the same.
#[test]
fn conservative_announces_what_has_changed() {
    #[derive(Default)]
    struct Announced(Vec<(i64, u32, i64)>);
    impl Observer for Announced {
        fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
            assert_eq!(start, latest);
            self.0.push((now.0, id.0, start.0));
        }
    }
    let w = workload(2, &[(0, 2, 100, 10), (1, 2, 10, 10), (2, 1, 10, 10), (3, 2, 5, 5)]);
    let mut observer = Announced::default();
    let mut simulation = Simulation::new(w.machine(), spec("conservative").build_scheduler(), WorkloadReplay::new(&w));
    simulation.run(&mut observer).expect("runs");
    let promises = [(1, 1, 100), (2, 2, 110), (3, 3, 120), (10, 1, 10), (10, 2, 20), (10, 3, 30)];
    assert_eq!(observer.0, promises);
    let first: Vec<_> = outcomes(&w, "conservative").iter().map(|o| o.first_reservation.map(|t| t.0)).collect();
    assert_eq!(first, [None, Some(100), Some(110), Some(120)]);
}

/// A policy may forget all jobs before the oldest. At 20 job 1 is done, but job 0 is not; when that
/// ends at 100, so are all three until then.
#[test]
fn the_oldest_job_is_the_first_that_is_not_done() {
    #[derive(Default)]
    struct Oldest(Vec<(i64, i64)>);
    impl Observer for Oldest {
        fn note_gauge(&mut self, now: Time, _: Gauge, value: i64) {
            self.0.push((now.0, value));
        }
    }
    let w = workload(4, &[(0, 1, 100, 100), (1, 1, 10, 10), (20, 1, 10, 10), (150, 1, 10, 10), (155, 1, 10, 10)]);
    let scheduler =
        Scheduler { policy: Box::new(Usher::default()), forecast: Forecast::default(), pass: PassRule::Instant };
    let mut observer = Oldest::default();
    Simulation::new(w.machine(), scheduler, WorkloadReplay::new(&w)).run(&mut observer).expect("runs");
    assert_eq!(observer.0, [(0, 0), (1, 0), (20, 0), (150, 3), (155, 3)]);
}
