//! More or less of a resource over time, as news of a session.

use drystone_core::engine::{JournalEntry, Schedule, Session, SessionNews, Simulation, WorkloadReplay};
use drystone_core::model::{
    Demand, DemandId, Job, JobId, Machine, Provenance, Resource, ResourceId, ResourceTable, ResourceTableBuilder,
    ResourceUnit, Span, Time, Workload,
};
use drystone_core::policy::{KnownSupply, PolicySpec};
use std::sync::Arc;

/// 4 licences; the demand of each number asks for so many.
fn table() -> Arc<ResourceTable> {
    let mut builder = ResourceTableBuilder::new();
    let cad = builder.add_resource(Resource::new("license:cad", ResourceUnit::Count, 4)).expect("new");
    for amount in 0..=4 {
        builder.intern_demand(Demand::from_totals([(cad, amount)])).expect("known");
    }
    builder.finish()
}

fn session(policy: &str) -> Session {
    let spec: PolicySpec = policy.parse().expect("a policy");
    let mut session = Session::new(Machine::new(8), spec.build_scheduler());
    session.set_resources(table());
    session
}

fn asking(licences: u32) -> Job {
    let mut job = Job::new(Time(0), 1, Span(100));
    job.demand = DemandId(licences);
    job
}

fn known(steps: &[(i64, u64)]) -> Vec<KnownSupply> {
    let step = |&(from, amount): &(i64, u64)| KnownSupply { from: Time(from), resource: ResourceId(0), amount };
    steps.iter().map(step).collect()
}

const POLICIES: [&str; 5] = ["easy", "conservative", "slack", "multiqueue", "ss"];

/// Of 4 licences there are 2 until 50, as is announced: a job with 3 waits in the queue, has a
/// place then, and starts when the session says that something is due. A second announcement of the
/// same is no news.
#[test]
fn an_announced_change_happens_by_itself() {
    for policy in POLICIES {
        let mut session = session(policy);
        assert_eq!(session.set_supply(Time(0), &known(&[(-9, 2), (50, 4)])), Ok(true), "{policy}");
        assert_eq!(session.set_supply(Time(0), &known(&[(-9, 2), (50, 4)])), Ok(false), "{policy}");
        session.note_arrival(Time(0), &asking(3), None).expect("possible");
        let mut short = asking(2);
        short.estimate = Span(40);
        session.note_arrival(Time(0), &short, None).expect("possible");
        session.decide(Time(0)).expect("sound");
        // The second fits now, and is to end at 40, before the first may start.
        assert_eq!((session.running_count(), session.waiting_count(), session.held_count()), (1, 1, 0), "{policy}");
        assert_eq!(session.view().resources().expect("some").levels(), [0], "{policy}");
        assert!(session.next_due_time().is_some_and(|deadline| deadline <= Time(50)), "{policy}");
        session.end_job(Time(30), JobId(1));
        session.decide(Time(30)).expect("sound");
        assert_eq!((session.running_count(), session.waiting_count()), (0, 1), "{policy}");
        session.expire_due(Time(50));
        assert_eq!(session.view().resources().expect("some").levels(), [4], "{policy}");
        session.decide(Time(50)).expect("sound");
        assert_eq!((session.running_count(), session.waiting_count()), (1, 0), "{policy}");
    }
}

/// Unannounced, 2 of 4 licences go. The running job keeps its 3. A job with 3 is held back, which
/// no release by its user changes; one with 1 waits. When there are 4 again the first may start, in
/// its place, unless its user holds it.
#[test]
fn what_is_not_there_holds_back() {
    for policy in POLICIES {
        let mut session = session(policy);
        session.note_arrival(Time(0), &asking(3), None).expect("possible");
        session.decide(Time(0)).expect("sound");
        session.note_arrival(Time(1), &asking(3), None).expect("possible");
        session.note_arrival(Time(1), &asking(1), None).expect("possible");
        session.note_arrival(Time(1), &asking(4), None).expect("possible");
        assert_eq!(session.set_supply(Time(2), &known(&[(2, 2)])), Ok(true), "{policy}");
        assert_eq!(session.view().resources().expect("some").levels(), [-1], "{policy}");
        assert_eq!(session.short_jobs().collect::<Vec<_>>(), [JobId(1), JobId(3)], "{policy}");
        assert_eq!((session.waiting_count(), session.held_count()), (1, 2), "{policy}");
        assert_eq!(session.release_job(Time(2), JobId(1)), Ok(false), "{policy}");
        assert_eq!(session.hold_job(Time(2), JobId(3)), Ok(true), "{policy}");
        session.decide(Time(2)).expect("sound");
        assert_eq!(session.running_count(), 1, "{policy}");
        // Saved and restored it is the same.
        let snapshot = session.save().expect("saved");
        let mut again = self::session(policy);
        again.load(&snapshot).expect("restored");
        assert_eq!(again.save().expect("saved"), snapshot, "{policy}");
        let mut session = again;
        session.end_job(Time(10), JobId(0));
        session.decide(Time(10)).expect("sound");
        assert_eq!((session.running_count(), session.waiting_count(), session.held_count()), (1, 0, 2), "{policy}");
        assert_eq!(session.set_supply(Time(20), &known(&[(20, 4)])), Ok(true), "{policy}");
        assert_eq!((session.waiting_count(), session.held_count()), (1, 1), "{policy}");
        session.decide(Time(20)).expect("sound");
        assert_eq!((session.running_count(), session.waiting_count()), (2, 0), "{policy}");
        // The other is its user's.
        assert_eq!(session.release_job(Time(20), JobId(3)), Ok(true), "{policy}");
        assert_eq!((session.waiting_count(), session.held_count()), (1, 0), "{policy}");
        assert!(session.withdraw_job(Time(20), JobId(3)), "{policy}");
    }
}

/// A journal of the news leads to the same session.
#[test]
fn a_journal_has_the_supply() {
    let entry = |at, news| JournalEntry { at: Time(at), news };
    let journal = [
        entry(0, SessionNews::Supply(known(&[(0, 2), (50, 4)]))),
        entry(0, SessionNews::Arrived(asking(3))),
        entry(0, SessionNews::Decided),
        entry(50, SessionNews::Expired),
        entry(50, SessionNews::Decided),
    ];
    let mut session = session("easy");
    for entry in &journal {
        session.take_in(entry).expect("sound");
    }
    assert_eq!(session.running_count(), 1);
    let text = postcard::to_stdvec(&journal[..]).expect("written");
    assert_eq!(postcard::from_bytes::<Vec<JournalEntry>>(&text).expect("read"), journal);
}

/// A possible future of a session has what is announced: the job starts at 50.
#[test]
fn a_future_has_what_is_announced() {
    let mut session = session("easy");
    session.set_supply(Time(0), &known(&[(0, 2), (50, 4)])).expect("heard");
    session.note_arrival(Time(0), &asking(3), None).expect("possible");
    session.decide(Time(0)).expect("sound");
    let workload = Workload::new(Machine::new(8), Vec::new(), Vec::new(), Provenance::default()).expect("empty");
    let mut schedule = Schedule::default();
    let run = |id, view: drystone_core::policy::View<'_>| view.job(id).estimate;
    Simulation::from_session(session, WorkloadReplay::new(&workload), run).run(&mut schedule).expect("to its end");
    assert_eq!(schedule.spans, [Some((Time(50), Time(150)))]);
}

#[test]
fn a_supply_that_cannot_be_is_refused() {
    let mut session = session("easy");
    let more = session.set_supply(Time(0), &known(&[(0, 5)])).expect_err("too much").to_string();
    assert_eq!(more, "5 of `license:cad` is more than its total, 4");
    let supplies = [KnownSupply { from: Time(0), resource: ResourceId(3), amount: 1 }];
    let message = session.set_supply(Time(0), &supplies).expect_err("none").to_string();
    assert_eq!(message, "resource 3 is none of the 1 of the machine");
    assert!(session.known_supply().is_empty());
}
