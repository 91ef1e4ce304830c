//! Resources beyond processors, as a session counts them.

use drystone_core::engine::{Session, Simulation, SimulationError, Unfit, WorkloadReplay};
use drystone_core::model::{
    Demand, DemandId, Job, JobId, LogStatus, Machine, Provenance, Resource, ResourceId, ResourceTable,
    ResourceTableBuilder, ResourceUnit, Span, Time, Truth, Workload,
};
use drystone_core::policy::{Action, Actions, Outside, Policy, StartReason};
use std::sync::Arc;

const MEM: ResourceId = ResourceId(0);
const GPU: ResourceId = ResourceId(1);

/// 8 GB of memory, which stays with suspended jobs, and 2 GPUs, which do not; demands 1 to 3 ask
/// for 6 GB and a GPU, 3 GB, and 3 GPUs.
fn table() -> Arc<ResourceTable> {
    let mut builder = ResourceTableBuilder::new();
    builder.add_resource(Resource::new("mem", ResourceUnit::Kilobytes, 8 << 20)).expect("new");
    builder.add_resource(Resource::new("gpu", ResourceUnit::Count, 2)).expect("new");
    for totals in [vec![(MEM, 6 << 20), (GPU, 1)], vec![(MEM, 3 << 20)], vec![(GPU, 3)]] {
        builder.intern_demand(Demand::from_totals(totals)).expect("known resources");
    }
    builder.finish()
}

fn job(demand: u32) -> Job {
    let mut job = Job::new(Time(0), 1, Span(100));
    job.demand = DemandId(demand);
    job
}

/// A session of 10 processors with one job of each of these demands.
fn session(demands: &[u32]) -> Session {
    let mut session = Session::new(Machine::new(10), scheduler());
    session.set_resources(table());
    for &demand in demands {
        session.note_arrival(Time(0), &job(demand), None).expect("possible");
    }
    session
}

fn scheduler() -> drystone_core::engine::Scheduler {
    drystone_core::engine::Scheduler::new(Box::new(Outside))
}

fn act(session: &mut Session, now: i64, action: Action) -> Result<(), String> {
    let mut actions = Actions::default();
    match action {
        Action::Start { job, .. } => actions.start_job(job, StartReason::Head),
        other => actions.push(other),
    }
    session.apply_actions(Time(now), &actions).map_err(|violation| violation.to_string())
}

fn start(session: &mut Session, job: u32) -> Result<(), String> {
    let on = drystone_core::policy::Placement::Any;
    act(session, 1, Action::Start { job: JobId(job), why: StartReason::Head, on })
}

fn free(session: &Session) -> (u64, u64) {
    let resources = session.view().resources().expect("the machine has some");
    (resources.free_amount(MEM) >> 20, resources.free_amount(GPU))
}

#[test]
fn a_start_beyond_what_is_free_is_a_violation() {
    let mut session = session(&[1, 2, 0]);
    assert_eq!(free(&session), (8, 2));
    start(&mut session, 0).expect("6 of 8 GB");
    assert_eq!(free(&session), (2, 1));
    let view = session.view();
    let resources = view.resources().expect("the machine has some");
    assert!(!resources.has_free(DemandId(2)) && resources.has_free(DemandId::NONE));
    start(&mut session, 2).expect("processors only");
    let refusal = start(&mut session, 1).expect_err("3 of 2 GB");
    assert!(refusal.contains("job #1: cannot start with 3 GB of `mem`: 2 GB are free"), "{refusal}");
}

#[test]
fn what_a_job_held_is_free_when_it_has_ended() {
    let mut session = session(&[1, 2]);
    start(&mut session, 0).expect("fits");
    assert!(session.end_job(Time(5), JobId(0)));
    assert_eq!(free(&session), (8, 2));
    start(&mut session, 1).expect("fits by now");
    assert_eq!(free(&session), (5, 2));
}

#[test]
fn a_suspended_job_keeps_its_memory_and_no_gpu() {
    let mut session = session(&[1, 2]);
    start(&mut session, 0).expect("fits");
    act(&mut session, 2, Action::Suspend(JobId(0))).expect("runs");
    assert_eq!(free(&session), (2, 2));
    act(&mut session, 3, Action::Resume(JobId(0))).expect("its GPU is free");
    assert_eq!(free(&session), (2, 1));
    act(&mut session, 4, Action::Suspend(JobId(0))).expect("runs");
    assert!(session.withdraw_job(Time(5), JobId(0)));
    assert_eq!(free(&session), (8, 2));
}

#[test]
fn news_moves_resources_as_it_moves_processors() {
    let mut session = session(&[1, 2]);
    assert_eq!(session.note_start(Time(1), JobId(0), Time(1), None), Ok(true));
    // Another scheduler starts more than there is.
    assert_eq!(session.note_start(Time(1), JobId(1), Time(1), None), Ok(true));
    assert_eq!(session.view().resources().map(|resources| resources.levels().to_vec()), Some(vec![-(1 << 20), 1]));
    assert_eq!(free(&session), (0, 1));
    assert_eq!(session.note_interruption(Time(2), JobId(0)), Ok(true));
    assert_eq!(free(&session), (0, 2));
    assert_eq!(session.note_requeue(Time(3), JobId(0)), Ok(true));
    assert_eq!(free(&session), (5, 2));
    assert_eq!(session.note_requeue(Time(3), JobId(1)), Ok(true));
    assert_eq!(free(&session), (8, 2));
}

#[test]
fn counts_survive_a_saved_state() {
    let mut before = session(&[1, 2]);
    start(&mut before, 0).expect("fits");
    let snapshot = before.save().expect("savable");
    let mut after = Session::new(Machine::new(10), scheduler());
    after.load(&snapshot).expect("the same scheduler");
    assert_eq!(free(&after), (2, 1));
    assert!(after.end_job(Time(9), JobId(0)));
    start(&mut after, 1).expect("fits by now");
    assert_eq!(free(&after), (5, 2));
}

#[test]
fn demands_beyond_the_machine_are_refused() {
    let mut session = session(&[]);
    let error = session.note_arrival(Time(0), &job(3), None).expect_err("3 of 2 GPUs");
    assert_eq!(error.to_string(), "the job asks for 3 of `gpu`; the machine has 2");
    let mut plain = Session::new(Machine::new(10), scheduler());
    let error = plain.note_arrival(Time(0), &job(1), None).expect_err("no resources at all");
    assert!(error.to_string().contains("of which the machine has none"), "{error}");
}

fn workload(demand: u32, table: Option<Arc<ResourceTable>>) -> Result<Workload, String> {
    let truth = Truth { run: Span(10), number: 4711, status: LogStatus::Completed };
    Workload::with_resources(Machine::new(10), table, vec![job(demand)], vec![truth], Provenance::default())
        .map_err(|error| error.to_string())
}

#[test]
fn a_workload_names_the_job_that_asks_for_too_much() {
    assert!(workload(1, Some(table())).is_ok());
    assert_eq!(workload(3, Some(table())).map(|_| ()), Err("job 4711: asks for 3 of `gpu`; the machine has 2".into()));
    assert!(workload(1, None).is_err_and(|error| error.contains("job 4711: asks for resources")));
    assert!(workload(9, Some(table())).is_err_and(|error| error.contains("demand 9")));
}

/// A policy that counts nothing but processors.
#[derive(serde::Serialize, serde::Deserialize)]
struct Blind;

impl Policy for Blind {
    fn name(&self) -> &str {
        "blind"
    }

    fn observe(&mut self, _: drystone_core::policy::PolicyEvent, _: &drystone_core::policy::View<'_>) {}

    fn decide(&mut self, view: &drystone_core::policy::View<'_>, actions: &mut Actions) {
        view.waiting_jobs().for_each(|job| actions.start_job(job, StartReason::Head));
    }
}

#[test]
fn a_policy_that_counts_processors_only_is_refused_before_the_start() {
    let workload = workload(1, Some(table())).expect("possible");
    let blind = || drystone_core::engine::Scheduler::new(Box::new(Blind));
    assert_eq!(blind().check_fit(&workload), Err(Unfit::Uncounted));
    let mut simulation = Simulation::new(workload.machine(), blind(), WorkloadReplay::new(&workload));
    let error = simulation.run(&mut ()).expect_err("it would not count");
    assert!(matches!(error, SimulationError::Uncounted), "{error}");
    assert!(error.to_string().contains("counts processors only"), "{error}");
}
