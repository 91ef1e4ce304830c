//! A session that is driven from outside starts jobs when a simulation does.

use crate::common::spec;
use drystone::engine::{Schedule, Session, Simulation, WorkloadReplay};
use drystone::generate::{Params, generate_workload};
use drystone::model::{JobId, Span, Time, Workload};
use drystone::policy::Action;
use std::collections::BTreeSet;

/// Drives a session as a cluster on time does: ends by number, expiries, arrivals, one decision.
/// Returns start and end of each job.
fn driven(workload: &Workload, policy: &str) -> Vec<Option<(Time, Time)>> {
    let mut session = Session::new(workload.machine(), spec(policy).build_scheduler());
    let mut ends: BTreeSet<(Time, JobId)> = BTreeSet::new();
    let mut spans = vec![None; workload.len()];
    let mut next = 0;
    loop {
        let arrival = workload.jobs().get(next).map(|job| job.submit);
        let Some(now) = [arrival, ends.first().map(|e| e.0), session.next_due_time()].into_iter().flatten().min()
        else {
            return spans;
        };
        while let Some(&(end, id)) = ends.first().filter(|e| e.0 == now) {
            assert!(session.end_job(end, id));
            ends.pop_first();
        }
        session.expire_due(now);
        while let Some(job) = workload.jobs().get(next).filter(|job| job.submit == now) {
            session.note_arrival(now, job, None).expect("possible");
            next += 1;
        }
        for action in session.decide(now).expect("a sound policy").list() {
            if let Action::Start { job, .. } = *action {
                let end = now + workload.truth()[job.index()].run;
                spans[job.index()] = Some((now, end));
                ends.insert((end, job));
            }
        }
    }
}

#[test]
fn a_driven_session_makes_the_schedule_of_a_simulation() {
    let workload =
        generate_workload(&Params { load: Some(0.9), seed: 3, ..Params::new(64, 300) }).expect("sound parameters");
    assert!(workload.truth().iter().all(|truth| truth.run > Span::ZERO), "an end at its own start is another instant");
    for policy in ["fcfs", "easy", "easy++", "conservative", "multiqueue", "slack"] {
        let mut schedule = Schedule::default();
        Simulation::new(workload.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(&workload))
            .run(&mut schedule)
            .expect("sound");
        assert_eq!(driven(&workload, policy), schedule.spans, "{policy}");
    }
}
