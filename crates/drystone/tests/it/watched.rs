//! A session that is driven from outside tells an observer what a simulation tells it.

use crate::common::spec;
use drystone::engine::explain::Biography;
use drystone::engine::{ObservedSession, Observer, Session, Simulation, WorkloadReplay};
use drystone::generate::{Params, generate};
use drystone::metrics::{Collector, MetricsConfig, Scope};
use drystone::model::{EndedJob, JobId, Span, Time, Workload};
use std::collections::BTreeSet;

/// Drives a session as a cluster on time does: ends by number, expiries, arrivals, one decision.
fn driven<O: Observer>(workload: &Workload, policy: &str, observer: O) -> O {
    let mut cluster = ObservedSession::new(Session::new(workload.machine(), spec(policy).scheduler()), observer);
    let mut ends: BTreeSet<(Time, JobId)> = BTreeSet::new();
    let mut next = 0;
    loop {
        let arrival = workload.jobs().get(next).map(|job| job.submit);
        let Some(now) = [arrival, ends.first().map(|e| e.0), cluster.deadline()].into_iter().flatten().min() else {
            return cluster.into_parts().1;
        };
        while let Some(&(end, id)) = ends.first().filter(|e| e.0 == now) {
            let truth = &workload.truth()[id.index()];
            assert!(cluster.end(end, id, truth.number, truth.status));
            ends.pop_first();
        }
        cluster.expire(now);
        while let Some(job) = workload.jobs().get(next).filter(|job| job.submit == now) {
            cluster.arrive(now, job, None).expect("possible");
            next += 1;
        }
        let actions = cluster.decide(now).expect("a sound policy").list().to_vec();
        for action in actions {
            if let drystone::policy::Action::Start { job, .. } = action {
                ends.insert((now + workload.truth()[job.index()].run, job));
            }
        }
    }
}

/// Ends with all their data, levels left out: a session is also asked where a simulation sees that
/// nothing is to be done.
#[derive(Default, PartialEq, Debug)]
struct Outcomes(Vec<(u32, drystone::model::JobOutcome)>);

impl Observer for Outcomes {
    fn ended(&mut self, ended: &EndedJob<'_>) {
        self.0.push((ended.id.0, ended.outcome.clone()));
    }
}

#[test]
fn outcomes_measures_and_stories_are_those_of_a_simulation() {
    let workload = generate(&Params { load: Some(0.9), seed: 3, ..Params::new(64, 300) }).expect("sound parameters");
    assert!(workload.truth().iter().all(|truth| truth.run > Span::ZERO), "an end at its own start is another instant");
    for policy in ["fcfs", "easy", "easy++", "conservative", "multiqueue", "slack"] {
        let new = || {
            let collector = Collector::new(Scope::of(&workload), MetricsConfig::default());
            (Outcomes::default(), (collector, Biography::new(JobId(150), 64)))
        };
        let mut simulated = new();
        Simulation::new(workload.machine(), spec(policy).scheduler(), WorkloadReplay::new(&workload))
            .run(&mut simulated)
            .expect("sound");
        let live = driven(&workload, policy, new());
        assert_eq!(live.0, simulated.0, "{policy}");
        assert_eq!(live.0.0.len(), 300);
        let (live, simulated) = (live.1, simulated.1);
        assert_eq!(live.0.finish().measures, simulated.0.finish().measures, "{policy}");
        assert_eq!(live.1.start(), simulated.1.start(), "{policy}");
    }
}
