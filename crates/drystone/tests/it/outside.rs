//! A simulation that stops at each pass, and decisions from outside.

use crate::common::{spec, workload};
use drystone::engine::{Notes, Observer, Schedule, Scheduler, Simulation, SimulationError, WorkloadReplay};
use drystone::generate::{Params, generate_workload};
use drystone::model::{EndedJob, JobId, Time, Workload};
use drystone::policy::{Action, Actions, Outside, StartReason, View};

fn generated() -> Workload {
    generate_workload(&Params { seed: 5, ..Params::new(64, 400) }).expect("sound parameters")
}

/// Every start, promise, end, and event between instants that observers receive.
#[derive(Default, PartialEq, Debug)]
struct Told(Vec<(Time, &'static str, u32, i64)>);

impl Observer for Told {
    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        self.0.push((now, "started", id.0, reason as i64));
    }
    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, _latest: Time) {
        self.0.push((now, "reserved", id.0, start.0));
    }
    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        self.0.push((job_end.outcome.end, "ended", job_end.id.0, i64::from(job_end.outcome.corrections)));
    }
    fn note_settlement(&mut self, now: Time, levels: drystone::engine::Levels) {
        self.0.push((now, "settled", levels.running, i64::from(levels.free)));
    }
}

/// A simulation that stops at each pass and lets the policy make it tells the same as one that runs
/// through.
#[test]
fn stopping_at_each_pass_changes_nothing() {
    let workload = generated();
    for policy in
        ["easy", "easy++", "easy@tsafrir2007", "conservative", "easy(pass=pyss)", "ss", "multiqueue(delay=300)"]
    {
        let new =
            || Simulation::new(workload.machine(), spec(policy).build_scheduler(), WorkloadReplay::new(&workload));
        let (mut whole, mut pieces) = (Told::default(), Told::default());
        new().run(&mut whole).expect("sound");
        let mut simulation = new();
        let mut passes = 0;
        while simulation.next_pass(&mut pieces).expect("sound") {
            passes += 1;
            assert!(simulation.is_at_pass());
            simulation.step(&mut pieces).expect("sound");
            assert!(!simulation.is_at_pass());
        }
        assert_eq!(pieces, whole, "{policy}");
        assert!(passes >= 400, "{policy}: {passes} passes");
    }
}

/// Strictly in order of arrival, decided outside one start at a time.
fn first(view: &View<'_>) -> Option<Actions> {
    let id = view.waiting_jobs().next().filter(|&id| view.job(id).procs <= view.free_processors())?;
    let mut actions = Actions::default();
    actions.start_job(id, StartReason::Head);
    Some(actions)
}

/// A driver that decides what the policy would have decided gets its schedule, and sees each
/// action's effect at once.
#[test]
fn decisions_from_outside_are_as_good() {
    let workload = generated();
    let mut expected = Schedule::default();
    Simulation::new(workload.machine(), spec("fcfs").build_scheduler(), WorkloadReplay::new(&workload))
        .run(&mut expected)
        .expect("sound");
    let scheduler = Scheduler::new(Box::new(Outside));
    let mut simulation = Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(&workload));
    let mut schedule = Schedule::default();
    while simulation.next_pass(&mut schedule).expect("sound") {
        while let Some(actions) = first(&simulation.session().view()) {
            simulation.apply_actions(&actions, &mut schedule).expect("possible");
        }
    }
    assert_eq!(schedule, expected);
}

/// Saved at a pass, before or after an action, and restored elsewhere, it goes on the same.
#[test]
fn it_is_saved_at_a_pass_as_well() {
    let workload = generated();
    let new = || {
        let scheduler = Scheduler::new(Box::new(Outside));
        Simulation::new(workload.machine(), scheduler, WorkloadReplay::new(&workload))
    };
    let decide = |simulation: &mut Simulation<WorkloadReplay<'_>>, record: &mut Told, most: usize| {
        for _ in 0..most {
            let Some(actions) = first(&simulation.session().view()) else { break };
            simulation.apply_actions(&actions, record).expect("possible");
        }
    };
    let mut whole = Told::default();
    let mut simulation = new();
    while simulation.next_pass(&mut whole).expect("sound") {
        decide(&mut simulation, &mut whole, usize::MAX);
    }
    for most in [0, 1] {
        let mut record = Told::default();
        let mut simulation = new();
        for at in 0.. {
            if !simulation.next_pass(&mut record).expect("sound") {
                break;
            }
            if at % 50 == 49 {
                decide(&mut simulation, &mut record, most);
                let bytes = simulation.save().expect("saves");
                simulation = new();
                simulation.load(&bytes).expect("loads");
                assert!(simulation.is_at_pass());
            }
            decide(&mut simulation, &mut record, usize::MAX);
        }
        assert_eq!(record, whole);
    }
}

/// Impossible actions are refused: actions between passes, and jobs that do not fit. Doing nothing
/// leaves jobs for ever.
#[test]
fn what_is_impossible_outside_is_refused() {
    let workload = workload(4, &[(0, 3, 100, 100), (0, 2, 100, 100)]);
    let new = || Simulation::new(workload.machine(), Scheduler::new(Box::new(Outside)), WorkloadReplay::new(&workload));
    let mut pair = Actions::default();
    pair.start_job(JobId(0), StartReason::Head);
    pair.start_job(JobId(1), StartReason::Head);
    let mut simulation = new();
    let early = simulation.apply_actions(&pair, &mut ()).expect_err("no pass");
    assert!(matches!(early, SimulationError::NoPass), "{early}");
    assert!(simulation.next_pass(&mut ()).expect("sound"));
    let error = simulation.apply_actions(&pair, &mut ()).expect_err("too wide").to_string();
    assert!(error.contains("job #1") && error.contains("cannot start"), "{error}");
    let mut idle = new();
    assert!(idle.next_pass(&mut ()).expect("sound"));
    let starvation = idle.next_pass(&mut ()).expect_err("both wait for ever");
    assert!(matches!(starvation, SimulationError::Starved { waiting: 2, .. }), "{starvation}");
}

/// A driver outside may ask for a pass at a time at which nothing else happens.
#[test]
fn a_pass_can_be_asked_for() {
    let workload = workload(4, &[(0, 3, 100, 100)]);
    let mut simulation =
        Simulation::new(workload.machine(), Scheduler::new(Box::new(Outside)), WorkloadReplay::new(&workload));
    let mut schedule = Schedule::default();
    assert!(simulation.next_pass(&mut schedule).expect("sound"));
    simulation.wake_at(Time(37));
    assert!(simulation.next_pass(&mut schedule).expect("sound"));
    assert_eq!(simulation.current_time(), Time(37));
    let mut start = Actions::default();
    start.start_job(JobId(0), StartReason::Planned);
    start.push(Action::Note { gauge: drystone::policy::Gauge::Nodes, value: 7 });
    let mut observers = (schedule, Notes::default());
    simulation.apply_actions(&start, &mut observers).expect("possible");
    assert!(!simulation.next_pass(&mut observers).expect("sound"));
    assert_eq!(observers.0.spans, [Some((Time(37), Time(137)))]);
    assert_eq!(observers.1.last_value(drystone::policy::Gauge::Nodes), Some(7));
}
