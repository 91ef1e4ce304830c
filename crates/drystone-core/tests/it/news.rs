//! A session with the news of users, operators and the machine: random news in random order,
//! delivered late and twice.

use drystone_core::engine::{Adopted, How, JournalEntry, Session, SessionNews};
use drystone_core::model::{Job, JobId, Machine, ProcSet, Span, Time};
use drystone_core::policy::{Action, Actions, CapacityLoss, Conservative, Notice, Phase, PolicySpec, Snapshot};
use proptest::prelude::*;

const PROCS: u32 = 8;

const POLICIES: [&str; 24] = [
    "fcfs",
    "greedy",
    "easy",
    "easy++",
    "easy(backfill=sjf)",
    "easy(order=sjf,backfill=lxf)",
    "easy(reserve=3)",
    "easy(guard=estimate,predict=recent(2),backfill=sjf)",
    "easy(predict=recent(3,propagate=running))",
    "easy(pass=event)",
    "conservative",
    "conservative(notice=late)",
    "conservative(predict=recent(2))",
    "slack",
    "slack(predict=recent(2))",
    "slack(tick=kill)",
    "multiqueue",
    "multiqueue(delay=30)",
    "multiqueue(own=fig4)",
    "ss",
    "ss(migration=yes)",
    "tss",
    "is",
    "goal(nodes=30)",
];

fn session(policy: &str) -> Session {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|e| panic!("{policy}: {e}"));
    Session::new(Machine::new(PROCS), spec.build_scheduler())
}

fn of_user(user: i32, mut job: Job) -> Job {
    job.user = user;
    job
}

/// One thing that happens; numbers choose among what is there.
#[derive(Clone, Copy, Debug)]
enum Step {
    Pass(i64),
    Arrive(u32, i64),
    AdoptRunning(u32, i64, i64),
    AdoptSuspended(u32, i64),
    Started(usize),
    Hold(usize),
    Release(usize),
    Requeue(usize),
    Interrupt(usize),
    Continue(usize),
    Change(usize, u32, i64),
    End(usize, u8),
    Cancel(usize),
    Lose(u32, u32, i64, i64),
    Restore,
    Save,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::*;
    let step = prop_oneof![
        6 => (1i64..40).prop_map(Pass),
        6 => (1..=PROCS, 1i64..60).prop_map(|(p, e)| Arrive(p, e)),
        1 => (1..=PROCS, 1i64..60, 0i64..80).prop_map(|(p, e, s)| AdoptRunning(p, e, s)),
        1 => (1..=PROCS, 1i64..60).prop_map(|(p, e)| AdoptSuspended(p, e)),
        1 => (0usize..20).prop_map(Started),
        1 => (0usize..20).prop_map(Hold),
        1 => (0usize..20).prop_map(Release),
        1 => (0usize..20).prop_map(Requeue),
        1 => (0usize..20).prop_map(Interrupt),
        1 => (0usize..20).prop_map(Continue),
        1 => (0usize..20, 1..=PROCS, 1i64..60).prop_map(|(j, p, e)| Change(j, p, e)),
        4 => (0usize..20, 0u8..5).prop_map(|(j, h)| End(j, h)),
        1 => (0usize..20).prop_map(Cancel),
        2 => (0..PROCS, 1..=PROCS, -5i64..60, 1i64..100).prop_map(|(a, n, f, l)| Lose(a, n, f, l)),
        1 => Just(Restore),
        1 => Just(Save),
    ];
    prop::collection::vec(step, 1..80)
}

/// A session, and what is known of its jobs from outside.
struct Cluster {
    policy: &'static str,
    session: Session,
    now: i64,
    jobs: Vec<JobId>,
    losses: Vec<CapacityLoss>,
    /// Everything that was decided.
    decided: Vec<Action>,
    /// Every input so far.
    journal: Vec<JournalEntry>,
    /// Delivers everything twice, and saves and restores on request.
    careful: bool,
}

impl Cluster {
    fn phase(&self, id: JobId) -> Phase {
        // Jobs are forgotten once they are done.
        let view = self.session.view();
        if id < view.oldest_job() { Phase::Done } else { view.phase(id) }
    }

    /// One of the jobs in one of these phases.
    fn one_of(&self, which: usize, phases: &[Phase]) -> Option<JobId> {
        let jobs: Vec<JobId> = self.jobs.iter().copied().filter(|&id| phases.contains(&self.phase(id))).collect();
        (!jobs.is_empty()).then(|| jobs[which % jobs.len()])
    }

    fn tell(&mut self, news: SessionNews) -> bool {
        let entry = JournalEntry { at: Time(self.now), news };
        let has_effect = self.session.take_in(&entry).unwrap_or_else(|e| panic!("{}: {e}", self.policy));
        self.journal.push(entry);
        has_effect
    }

    fn twice(&mut self, news: SessionNews) {
        let first = self.tell(news.clone());
        if self.careful && first {
            assert!(!self.tell(news), "{}: told twice it is new twice", self.policy);
        }
    }

    fn arrive(&mut self, news: SessionNews) {
        let id = JobId(self.jobs.len() as u32);
        self.tell(news);
        self.jobs.push(id);
    }

    fn pass(&mut self) {
        self.tell(SessionNews::Expired);
        self.tell(SessionNews::Decided);
        let actions = self.session.actions().list().to_vec();
        for action in &actions {
            if let Action::Kill(job) = *action {
                assert!(self.tell(SessionNews::Ended { job, how: How::Completed, ran: None }));
            }
        }
        self.decided.extend(actions);
        self.check();
    }

    fn check(&self) {
        let view = self.session.view();
        let offline = view.outlook().map(|o| o.offline_processors().clone()).unwrap_or_default();
        let live = |id: &&JobId| self.phase(**id) == Phase::Running;
        let busy = ProcSet::union_of(self.jobs.iter().filter(live).filter_map(|&id| view.job_processors(id)));
        let processor_count = self.jobs.iter().filter(live).all(|&id| view.job_processors(id).is_some());
        let busy_count: u32 = match processor_count {
            true => busy.union(&offline).len(),
            false => self.jobs.iter().filter(live).map(|&id| view.job(id).procs).sum(),
        };
        // More jobs may run than there is room for where another scheduler starts jobs.
        assert_eq!(view.free_processors(), PROCS.saturating_sub(busy_count), "{}: {busy_count} used", self.policy);
        let count = |phase: Phase| self.jobs.iter().filter(|&&id| self.phase(id) == phase).count() as u32;
        assert_eq!(count(Phase::Waiting), self.session.waiting_count(), "{}", self.policy);
        assert_eq!(count(Phase::Held), self.session.held_count(), "{}", self.policy);
        assert_eq!(count(Phase::Running), self.session.running_count(), "{}", self.policy);
        assert_eq!(count(Phase::Suspended), self.session.suspended_count(), "{}", self.policy);
    }

    fn job(&self, procs: u32, estimate: i64) -> Job {
        of_user(procs as i32 % 3, Job::new(Time(self.now), procs, Span(estimate)))
    }

    fn take(&mut self, step: Step) {
        use Phase::{Held, Running, Suspended, Waiting};
        match step {
            Step::Pass(after) => {
                self.pass();
                self.now += after;
            }
            Step::Arrive(procs, estimate) => self.arrive(SessionNews::Arrived(self.job(procs, estimate))),
            Step::AdoptRunning(procs, estimate, since) => {
                let mut job = self.job(procs, estimate);
                job.submit = Time(self.now - since);
                let on = (since % 2 == 0).then(|| ProcSet::from_range(0..procs));
                let adoption = Adopted::Running { since: Time(self.now - since), on };
                self.arrive(SessionNews::Adopted(job, adoption));
            }
            Step::AdoptSuspended(procs, estimate) => {
                let job = self.job(procs, estimate);
                let adoption = Adopted::Suspended { ran: Span(3), on: None };
                let suspends = ["ss", "tss", "is"].iter().any(|name| self.policy.starts_with(name));
                if suspends {
                    self.arrive(SessionNews::Adopted(job, adoption));
                } else {
                    assert!(self.session.adopt_job(Time(self.now), &job, None, &adoption).is_err(), "{}", self.policy);
                }
            }
            Step::Started(which) => {
                if let Some(job) = self.one_of(which, &[Waiting, Held]) {
                    self.twice(SessionNews::Started { job, since: Time(self.now), on: None });
                }
            }
            Step::Hold(which) => {
                self.one_of(which, &[Waiting]).into_iter().for_each(|id| self.twice(SessionNews::Held(id)))
            }
            Step::Release(which) => {
                self.one_of(which, &[Held]).into_iter().for_each(|id| self.twice(SessionNews::Released(id)))
            }
            Step::Requeue(which) => {
                self.one_of(which, &[Running, Suspended])
                    .into_iter()
                    .for_each(|id| self.twice(SessionNews::Requeued(id)));
            }
            Step::Interrupt(which) => {
                self.one_of(which, &[Running]).into_iter().for_each(|id| self.twice(SessionNews::Interrupted(id)));
            }
            Step::Continue(which) => {
                self.one_of(which, &[Suspended]).into_iter().for_each(|id| self.twice(SessionNews::Continued(id)));
            }
            Step::Change(which, procs, estimate) => {
                if let Some(id) = self.one_of(which, &[Waiting, Held, Running, Suspended]) {
                    let mut job = self.session.view().job(id).clone();
                    (job.procs, job.estimate) = (procs, Span(estimate));
                    self.twice(SessionNews::Updated(id, job));
                }
            }
            Step::End(which, number) => {
                if let Some(job) = self.one_of(which, &[Running]) {
                    let end_kind = How::ALL[usize::from(number) % How::ALL.len()];
                    self.twice(SessionNews::Ended { job, how: end_kind, ran: None });
                }
            }
            Step::Cancel(which) => {
                let job = self.one_of(which, &[Waiting, Held, Suspended]);
                job.into_iter().for_each(|id| self.twice(SessionNews::Cancelled(id)));
            }
            Step::Lose(first, count, from, length) => {
                let on = ProcSet::from_range(first..(first + count).min(PROCS));
                let from = Time(self.now + from);
                let until = if length > 80 { Time::MAX } else { from + Span(length) };
                self.losses.truncate(2);
                self.losses.push(CapacityLoss { on, from, until });
                self.twice(SessionNews::Losses(self.losses.clone()));
            }
            Step::Restore => {
                self.losses.clear();
                self.twice(SessionNews::Losses(Vec::new()));
            }
            Step::Save => {
                if self.careful {
                    let snapshot = self.session.save().expect("saves");
                    let mut copy = session(self.policy);
                    copy.load(&snapshot).expect("loads");
                    self.session = copy;
                }
            }
        }
    }

    /// All is well again: whatever is held is released, and everything ends.
    fn finish(&mut self) {
        self.tell(SessionNews::Losses(Vec::new()));
        for id in self.jobs.clone() {
            self.tell(SessionNews::Released(id));
            self.tell(SessionNews::Continued(id));
        }
        for _ in 0..4_000 {
            self.pass();
            let running = self.one_of(0, &[Phase::Running]);
            let waits = self.session.waiting_count() + self.session.suspended_count() > 0;
            match running {
                None if !waits => return,
                Some(id) => {
                    self.now += 7;
                    self.twice(SessionNews::Ended { job: id, how: How::Completed, ran: None });
                }
                // It may have wanted to be woken first.
                None => {
                    let next = self.session.next_due_time();
                    self.now = next.map_or(self.now + 60, |next| next.0.max(self.now + 1));
                }
            }
        }
        panic!("{}: {} jobs wait for ever", self.policy, self.session.waiting_count() + self.session.suspended_count());
    }
}

fn cluster(policy: &'static str, careful: bool) -> Cluster {
    let (jobs, losses, decisions, journal) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    Cluster { policy, session: session(policy), now: 0, jobs, losses, decided: decisions, journal, careful }
}

/// A journal, told to another session, leads to the same actions and the same state, bit for bit.
fn replays(cluster: &Cluster) {
    let journal = postcard_like(&cluster.journal);
    assert_eq!(journal, cluster.journal);
    let mut twin = session(cluster.policy);
    let mut decisions = Vec::new();
    for entry in &journal {
        twin.take_in(entry).unwrap_or_else(|e| panic!("{}: {e}", cluster.policy));
        if entry.news == SessionNews::Decided {
            decisions.extend_from_slice(twin.actions().list());
        }
    }
    assert_eq!(decisions, cluster.decided, "{}", cluster.policy);
    assert_eq!(twin.save().expect("saves"), cluster.session.save().expect("saves"), "{}", cluster.policy);
}

/// The journal as it comes back from where it was written.
fn postcard_like(journal: &[JournalEntry]) -> Vec<JournalEntry> {
    let bytes = journal.to_vec().save().expect("is written");
    let mut read: Vec<JournalEntry> = Vec::new();
    read.load(&bytes).expect("is read");
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order, no policy asks for the impossible, the books are right,
    /// and every job ends. Saved and restored anywhere, and with every input twice, it decides the
    /// same; and so does one that reads its inputs from a journal.
    #[test]
    fn no_news_breaks_anything(steps in steps()) {
        for policy in POLICIES {
            let (mut plain, mut careful) = (cluster(policy, false), cluster(policy, true));
            for &step in &steps {
                plain.take(step);
                careful.take(step);
            }
            prop_assert_eq!(&plain.decided, &careful.decided, "{}", policy);
            plain.finish();
            replays(&plain);
        }
    }
}

/// Plans that are kept in place as soon as this many jobs are planned.
fn kept_in_place(policy: &'static str, from: usize) -> Cluster {
    let notice = if policy.contains("late") { Notice::Late } else { Notice::Immediate };
    let mut scheduler = policy.parse::<PolicySpec>().unwrap_or_else(|e| panic!("{policy}: {e}")).build_scheduler();
    scheduler.policy = Box::new(Conservative::deep_from(notice, from));
    Cluster { session: Session::new(Machine::new(PROCS), scheduler), ..cluster(policy, false) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    /// A plan that is kept in place decides and promises as one that is rebuilt, in the same order,
    /// whatever happens.
    #[test]
    fn news_in_place(steps in steps(), from in 0usize..6, careful in any::<bool>()) {
        for policy in [
            "conservative(horizon=all)",
            "conservative(notice=late,horizon=all)",
            "conservative(predict=recent(2),horizon=all)",
        ] {
            let (mut plain, mut in_place) = (kept_in_place(policy, usize::MAX), kept_in_place(policy, from));
            in_place.careful = careful;
            for &step in &steps {
                plain.take(step);
                in_place.take(step);
            }
            plain.finish();
            in_place.finish();
            prop_assert_eq!(&plain.decided, &in_place.decided, "{}", policy);
        }
    }
}

fn starts(actions: &Actions) -> Vec<u32> {
    actions.list().iter().filter_map(|a| if let Action::Start { job, .. } = a { Some(job.0) } else { None }).collect()
}

/// A proposal is what a decision would be, and changes nothing.
#[test]
fn a_proposal_changes_nothing() {
    let mut s = session("easy");
    s.note_arrival(Time(0), &Job::new(Time(0), 3, Span(10)), None).expect("possible");
    let before = s.save().expect("saves");
    assert_eq!(starts(&s.propose_actions(Time(0)).expect("sound")), [0]);
    assert_eq!(s.save().expect("saves"), before);
    assert_eq!(starts(s.decide(Time(0)).expect("sound")), [0]);
}

/// Only run times teach: a job that the machine failed under after 1 s says nothing of the user's
/// next job.
#[test]
fn a_failure_is_no_run_time() {
    for (end_kind, prediction) in [(How::MachineFailed, 100), (How::NotStarted, 100), (How::Completed, 1)] {
        let mut s = session("easy(predict=recent(1))");
        let job = |submit| of_user(7, Job::new(Time(submit), 1, Span(100)));
        for at in [0, 1] {
            let id = s.note_arrival(Time(at * 10), &job(at * 10), None).expect("possible");
            s.decide(Time(at * 10)).expect("sound");
            assert!(s.note_end(Time(at * 10 + 1), id, end_kind, None));
        }
        let id = s.note_arrival(Time(30), &job(30), None).expect("possible");
        assert_eq!(s.view().prediction(id), Span(prediction), "{end_kind:?}");
    }
}

/// The driver's measured time counts, not the time at which the session heard of it.
#[test]
fn the_true_run_time_is_learned() {
    let mut s = session("easy(predict=recent(1))");
    let job = |submit| of_user(7, Job::new(Time(submit), 1, Span(100)));
    let id = s.note_arrival(Time(0), &job(0), None).expect("possible");
    s.decide(Time(0)).expect("sound");
    assert!(s.note_end(Time(90), id, How::Completed, Some(Span(40))));
    let id = s.note_arrival(Time(100), &job(100), None).expect("possible");
    assert_eq!(s.view().prediction(id), Span(40));
}

/// A limit is extended while a reservation depends on it. 8 processors: job 0 holds 6 until 100,
/// job 1 needs 4 and is reserved 100; job 2, of 2 processors and 120 s, would delay no job with 4
/// extra processors then. Job 0's limit becomes 200: the reservation moves to 200.
#[test]
fn an_extended_limit_moves_the_reservation() {
    for policy in ["easy", "conservative", "slack", "multiqueue"] {
        let mut s = session(policy);
        let job = |procs, estimate| Job::new(Time(0), procs, Span(estimate));
        s.note_arrival(Time(0), &job(6, 100), None).expect("possible");
        assert_eq!(starts(s.decide(Time(0)).expect("sound")), [0], "{policy}");
        s.note_arrival(Time(0), &job(4, 50), None).expect("possible");
        let reservations = |actions: &Actions| {
            let of = |a: &Action| if let Action::Reserve { start, .. } = a { Some(start.0) } else { None };
            actions.list().iter().filter_map(of).collect::<Vec<_>>()
        };
        assert_eq!(reservations(s.decide(Time(0)).expect("sound")), [100], "{policy}");
        assert!(s.update_job(Time(10), JobId(0), &job(6, 200)).expect("possible"));
        assert_eq!(reservations(s.decide(Time(10)).expect("sound")), [200], "{policy}");
        // The reservation is kept there: two processors are free until then, and a job of 190 s
        // fits before.
        s.note_arrival(Time(10), &Job::new(Time(10), 2, Span(190)), None).expect("possible");
        assert_eq!(starts(s.decide(Time(10)).expect("sound")), [2], "{policy}");
    }
}

/// A foreign job that shares processors with an outage ends when it was expected to: more is free
/// then than the plan foresaw, and the plan says so.
#[test]
fn processors_come_up_that_no_plan_foresaw() {
    use Step::*;
    let steps = [
        Arrive(3, 8),
        Pass(1),
        AdoptRunning(3, 25, 6),
        Lose(0, 2, 0, 50),
        Arrive(5, 8),
        Pass(19),
        End(0, 0),
        End(0, 0),
        Pass(1),
    ];
    for policy in ["slack", "conservative"] {
        let mut cluster = cluster(policy, false);
        steps.into_iter().for_each(|step| cluster.take(step));
        assert_eq!(cluster.phase(JobId(2)), Phase::Running, "{policy}: {:?}", cluster.decided);
    }
}
