//! The fast futures of plain policies are those that the policies themselves make.

use drystone::generate::{Params, WorkloadLength, generate_workload};
use drystone_core::engine::{Observer, Simulation, WorkloadReplay};
use drystone_core::model::{EndedJob, JobId, Span, Time, Workload};
use drystone_core::policy::{Phase, PolicySpec};
use drystone_when::{Forecaster, ForecasterSettings, RunTimes};

/// Events for the forecasters.
#[derive(Default)]
struct Heard {
    arrived: Vec<JobId>,
    ended: Vec<(JobId, Span)>,
}

impl Observer for Heard {
    const NOTES: bool = false;

    fn note_arrival(&mut self, _: Time, id: JobId) {
        self.arrived.push(id);
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.ended.push((job_end.id, job_end.outcome.ran));
    }
}

/// A busy machine, days enough to replay, and estimates that some jobs outlive.
fn workload(seed: u64) -> Workload {
    let params = Params { length: WorkloadLength::Jobs(250), load: Some(0.95), seed, ..Params::new(64, 1) };
    let workload = generate_workload(&params).expect("sound");
    let mut truth = workload.truth().to_vec();
    for (job, truth) in workload.jobs().iter().zip(&mut truth).step_by(9) {
        truth.run = Span(job.estimate.0 + job.estimate.0 / 3 + 100);
    }
    Workload::new(workload.machine(), workload.jobs().to_vec(), truth, workload.provenance.clone()).expect("sound")
}

/// Asks both now and then; answers how many questions there were.
fn compare(policy: &str, seed: u64) -> u32 {
    let workload = workload(seed);
    let spec: PolicySpec = policy.parse().expect(policy);
    let settings = ForecasterSettings { samples: 4, seed, ..ForecasterSettings::default() };
    let mut fast = Forecaster::new(&spec, settings.clone()).expect("no clairvoyance");
    let mut slow = Forecaster::new(&spec, settings).expect("no clairvoyance").without_shortcut();
    let mut simulation = Simulation::new(workload.machine(), spec.build_scheduler(), WorkloadReplay::new(&workload));
    let (mut observer, mut steps, mut questions) = (Heard::default(), 0, 0);
    while simulation.step(&mut observer).expect("sound") {
        for forecaster in [&mut fast, &mut slow] {
            observer.arrived.iter().for_each(|&id| forecaster.note_job_arrival(id, &workload.jobs()[id.index()]));
            observer.ended.iter().for_each(|&(id, ran)| forecaster.note_job_end(id, &workload.jobs()[id.index()], ran));
        }
        observer.arrived.clear();
        observer.ended.clear();
        steps += 1;
        let session = simulation.session();
        let waiting: Vec<JobId> = session.view().waiting_jobs().collect();
        if steps % 17 != 0 || waiting.is_empty() {
            continue;
        }
        questions += 1;
        assert_eq!(session.view().phase(waiting[0]), Phase::Waiting);
        for arrivals in [false, true] {
            let [a, b] = [&mut fast, &mut slow].map(|f| f.start_times(session, &waiting, 5, arrivals).expect("sound"));
            assert_eq!(a, b, "{policy}, seed {seed}, step {steps}, arrivals {arrivals}");
        }
        // One that comes later, in the same futures.
        let job = workload.jobs()[waiting[0].index()].clone();
        for after in [Span(1), Span(5_000)] {
            let [a, b] = [&mut fast, &mut slow].map(|f| f.times_of_later(session, &job, after, 5).expect("sound"));
            assert_eq!(a, b, "{policy}, seed {seed}, step {steps}, {after:?} later");
            assert!(a.iter().flatten().all(|&start| start >= after.0), "{a:?}");
        }
        for plan in [RunTimes::Limits, RunTimes::LastTwo] {
            let [a, b] = [&mut fast, &mut slow].map(|f| f.point_starts(session, &waiting, plan).expect("sound"));
            assert_eq!(a, b, "{policy}, seed {seed}, step {steps}, {plan:?}");
        }
    }
    questions
}

#[test]
fn fast_futures_are_those_of_the_policy() {
    for policy in [
        "easy",
        "easy@tsafrir2007",
        "easy(pass=event)",
        "easy(extra=first)",
        "easy(overdue=now)",
        "easy(overdue=stale,extra=all)",
        "easy(reserve=0)",
        "fcfs",
        "fcfs(pass=event)",
        "greedy",
    ] {
        let questions: u32 = (1..=3).map(|seed| compare(policy, seed)).sum();
        assert!(questions > 20, "{policy}: {questions}");
    }
}
