//! Arrivals from a source of one's own, which may send anything; and jobs that are withdrawn.

use crate::common::spec;
use drystone::engine::{EventSource, Incoming, Observer, Segments, Simulation, SimulationError, WorkloadReplay};
use drystone::model::{EndedJob, How, Job, JobId, LogStatus, Machine, Provenance, Span, Time, Truth, Workload};
use std::cell::Cell;

/// Jobs as they are given, whatever they are.
struct List {
    jobs: Vec<(Time, Job, Truth)>,
    next: usize,
    /// Has nothing where it says that something comes.
    empty: bool,
}

impl EventSource for List {
    fn peek_time(&self) -> Option<Time> {
        self.jobs.get(self.next).map(|(at, ..)| *at)
    }

    fn next(&mut self) -> Option<Incoming<'_>> {
        let (_, job, truth) = self.jobs.get(self.next).filter(|_| !self.empty)?;
        self.next += 1;
        Some(Incoming::Submit(job, truth))
    }

    fn position(&self) -> u64 {
        self.next as u64
    }

    fn seek(&mut self, position: u64) {
        self.next = position as usize;
    }
}

fn truth(run: i64) -> Truth {
    Truth { run: Span(run), number: 1, status: LogStatus::Completed }
}

fn job(submit: i64, procs: u32, estimate: i64, run: i64) -> (Time, Job, Truth) {
    (Time(submit), Job::new(Time(submit), procs, Span(estimate)), truth(run))
}

fn simulate(policy: &str, jobs: Vec<(Time, Job, Truth)>, empty: bool) -> Result<(), SimulationError> {
    let source = List { jobs, next: 0, empty };
    Simulation::new(Machine::new(4), spec(policy).build_scheduler(), source).run(&mut ())
}

#[test]
fn what_a_source_sends_is_checked_and_the_source_is_named() {
    let good = || job(5, 2, 10, 10);
    let at = |time, (_, job, truth)| (Time(time), job, truth);
    for policy in ["easy", "conservative", "goal(nodes=9)"] {
        assert!(simulate(policy, vec![good(), job(6, 4, 0, 0)], false).is_ok());
        for (bad, problem) in [
            (job(6, 5, 10, 10), "arrival 1 of the source: needs 5 processors of a machine of 4"),
            (job(6, 0, 10, 10), "arrival 1 of the source: needs no processor"),
            (job(6, 1, -10, 10), "arrival 1 of the source: has a negative estimate"),
            (job(6, 1, 10, -10), "arrival 1 of the source: has a negative run time"),
            (job(6, 1, i64::MAX, 10), "arrival 1 of the source: has a time beyond"),
            (job(6, 1, 10, i64::MAX), "arrival 1 of the source: has a time beyond"),
            (job(i64::MAX - 1, 1, 10, 10), "arrival 1 of the source: has a time beyond"),
            (job(i64::MAX, 1, 10, 10), "arrival 1 of the source: comes at 9223372036854775807, which is never"),
            (at(7, job(6, 1, 10, 10)), "arrival 1 of the source: comes at 7, but was submitted at 6"),
            (job(4, 1, 10, 10), "an arrival at 4 comes after the present, 5"),
        ] {
            let error = simulate(policy, vec![good(), bad], false).expect_err(problem).to_string();
            assert!(error.contains(problem), "{policy}: {error} instead of {problem}");
        }
        let error = simulate(policy, vec![good()], true).expect_err("it has none").to_string();
        assert_eq!(error, "arrival 0 of the source: was to come at 5, and there is none");
    }
    let far = Workload::new(
        Machine::new(4),
        vec![Job::new(Time(i64::MIN), 1, Span(1))],
        vec![truth(1)],
        Provenance::default(),
    );
    assert!(far.expect_err("far").to_string().contains("has a time beyond"));
}

/// Jobs told of as withdrawn, and as ended: with start, end, and what was received.
#[derive(Default)]
struct Told {
    cancelled: Cell<Vec<JobId>>,
    ended: Vec<(u32, i64, i64, i64)>,
}

impl Observer for Told {
    fn note_withdrawal(&mut self, _: Time, id: JobId) {
        self.cancelled.get_mut().push(id);
    }

    fn note_end(&mut self, e: &EndedJob<'_>) {
        let o = e.outcome;
        assert_eq!(o.ran, e.truth.run);
        self.ended.push((e.id.0, o.start.0, o.end.0, o.ran.0));
    }
}

/// Job 0 holds the machine until job 1, much shorter, has waited long enough (`ss` looks each
/// minute: 60 s, so that its expansion factor is 2); it is withdrawn while it is suspended, and has
/// used 4 processors for 60 s. Job 2 never starts.
#[test]
fn a_suspended_job_that_is_withdrawn_ends_with_what_it_has_received() {
    let jobs = [(0, 4, 600, 600), (0, 4, 60, 60), (70, 4, 600, 600)];
    let (jobs, truths): (Vec<Job>, Vec<Truth>) = jobs
        .map(|(submit, procs, estimate, run)| (Job::new(Time(submit), procs, Span(estimate)), truth(run)))
        .into_iter()
        .unzip();
    let w = Workload::new(Machine::new(4), jobs, truths, Provenance::default()).expect("a good workload");
    let cancellations = [(Time(90), JobId(0)), (Time(95), JobId(2)), (Time(99), JobId(7))];
    let (mut observer, mut segments) = (Told::default(), Segments::default());
    let source = WorkloadReplay::with_cancellations(&w, &cancellations);
    let mut simulation = Simulation::new(w.machine(), spec("ss(sf=2)").build_scheduler(), source);
    simulation.run(&mut (&mut observer, &mut segments)).expect("runs");
    assert_eq!(observer.cancelled.take(), [JobId(2)]);
    assert_eq!(observer.ended, [(0, 0, 90, 60), (1, 60, 120, 60)]);
    let area: i64 = segments.list.iter().map(|s| (s.end.0 - s.start.0) * i64::from(s.procs)).sum();
    assert_eq!(area, 2 * 4 * 60);
}

/// Jobs 0 and 1 are withdrawn while they run; what they ran until then is no run time to learn
/// from.
#[test]
fn a_job_that_is_withdrawn_while_it_runs_ends_as_cancelled() {
    struct Ends(Vec<(u32, How, i64)>);
    impl Observer for Ends {
        fn note_end(&mut self, job_end: &EndedJob<'_>) {
            self.0.push((job_end.id.0, job_end.outcome.how, job_end.outcome.first_prediction.0));
        }
    }
    let job_rows = [job(0, 1, 100, 100), job(0, 1, 100, 100), job(50, 1, 100, 100)];
    let (mut jobs, truths): (Vec<Job>, Vec<Truth>) = job_rows.into_iter().map(|(_, job, truth)| (job, truth)).unzip();
    jobs.iter_mut().for_each(|job| job.user = 1);
    let workload = Workload::new(Machine::new(4), jobs, truths, Provenance::default()).expect("a workload");
    let withdrawn = [(Time(10), JobId(0)), (Time(10), JobId(1))];
    let mut ends = Ends(Vec::new());
    let source = WorkloadReplay::with_cancellations(&workload, &withdrawn);
    Simulation::new(Machine::new(4), spec("easy+").build_scheduler(), source).run(&mut ends).expect("a simulation");
    ends.0.sort_by_key(|end| end.0);
    assert_eq!(ends.0, [(0, How::Cancelled, 100), (1, How::Cancelled, 100), (2, How::Completed, 100)]);
}
