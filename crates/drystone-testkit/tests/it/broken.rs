//! Policies that are broken on purpose: the harness must find out each of them, and show it on a
//! few jobs.

use drystone::engine::Scheduler;
use drystone::log::clean::CleaningOptions;
use drystone::log::{self, source::LogFile};
use drystone::model::JobId;
use drystone::parts::predict::Forecast;
use drystone::policy::{Actions, PassRule, Policy, PolicyEvent, StartReason, View};
use drystone_testkit::{
    CaseFailure, CaseLimits, Guarantee, PolicyCase, Random, Subject, YEAR, check_policy, try_random_case,
};
use serde::{Deserialize, Serialize};

/// First come, first served, with one fault.
#[derive(Serialize, Deserialize)]
struct Broken {
    fault: Fault,
    queue: Vec<JobId>,
    #[serde(skip)]
    decisions: u32,
    ends: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Fault {
    /// None: the control.
    Sound,
    /// Forgets a job that arrives while three others wait.
    Forgets,
    /// Starts the first job, whether it fits or not, when two wait.
    Oversubscribes,
    /// Promises every job a start in ten seconds.
    Promises,
    /// Lets every second decision go by; how many there were is not saved.
    Unsaved,
    /// Overtakes though it says it does not.
    Overtakes,
    /// Panics when the third job has ended.
    Panics,
}

impl Policy for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    fn observe(&mut self, event: PolicyEvent, _: &View<'_>) {
        match event {
            PolicyEvent::Arrived(_) if self.fault == Fault::Forgets && self.queue.len() == 3 => {}
            PolicyEvent::Arrived(id) => self.queue.push(id),
            PolicyEvent::Cancelled(id) => self.queue.retain(|&q| q != id),
            PolicyEvent::Ended { .. } => self.ends += 1,
            _ => {}
        }
        assert!(self.fault != Fault::Panics || self.ends < 3, "three have ended");
    }

    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.decisions += 1;
        if self.fault == Fault::Unsaved
            && self.decisions.is_multiple_of(2)
            && view.free_processors() < view.machine().procs
        {
            return;
        }
        let mut free = view.free_processors();
        let waiting = self.queue.len();
        let fault = self.fault;
        let mut has_block = false;
        self.queue.retain(|&id| {
            let procs = view.job(id).procs;
            let is_excess = fault == Fault::Oversubscribes && waiting == 2;
            if (!has_block || fault == Fault::Overtakes) && procs <= free || is_excess {
                free = free.saturating_sub(procs);
                actions.start_job(id, StartReason::Head);
                return false;
            }
            has_block = true;
            if fault == Fault::Promises {
                actions.reserve_start(id, view.current_time() + drystone::model::Span(10));
            }
            true
        });
    }
}

fn subject(fault: Fault, guarantees: &[Guarantee]) -> Subject {
    let new = move || Scheduler {
        policy: Box::new(Broken { fault, queue: Vec::new(), decisions: 0, ends: 0 }),
        forecast: Forecast::default(),
        pass: PassRule::Instant,
    };
    Subject {
        name: "broken".to_string(),
        make: Box::new(new),
        guarantees: guarantees.to_vec(),
        limits: CaseLimits { jobs: 200, run: YEAR, ..CaseLimits::default() },
        predictor: "estimate".to_string(),
    }
}

fn found(subject: &Subject) -> Option<Box<CaseFailure>> {
    (0..400).find_map(|seed| try_random_case(subject, seed).err())
}

#[test]
fn a_sound_policy_passes() {
    let sound = subject(Fault::Sound, &[Guarantee::InOrder, Guarantee::Uninterrupted]);
    assert!(found(&sound).is_none(), "{}", found(&sound).map_or(String::new(), |f| f.render_report()));
}

/// Each fault, the word by which it is found out, and the most jobs that it takes to show it.
#[test]
fn every_fault_is_found_and_shown_on_few_jobs() {
    for (fault, guarantees, word, most) in [
        // One runs, three wait, and the next is forgotten.
        (Fault::Forgets, vec![], "for ever", 4),
        (Fault::Oversubscribes, vec![], "cannot start", 3),
        (Fault::Promises, vec![Guarantee::KeepsPromises], "was promised", 2),
        (Fault::Unsaved, vec![], "goes on otherwise", 4),
        (Fault::Overtakes, vec![Guarantee::InOrder], "jobs start in the order", 3),
        (Fault::Panics, vec![], "three have ended", 3),
        (Fault::Sound, vec![Guarantee::WorkConserving], "fits and waits", 3),
        (Fault::Sound, vec![Guarantee::SameAs("greedy".into())], "another schedule", 3),
    ] {
        let subject = subject(fault, &guarantees);
        let failure = found(&subject).unwrap_or_else(|| panic!("nothing finds out what should be found by `{word}`"));
        assert!(failure.problem.contains(word), "{}", failure.render_report());
        assert!(failure.case.rows.len() <= most, "more than {most} jobs:{}", failure.render_report());
        // The log that is printed is the case.
        let report = failure.render_report();
        assert!(report.contains("--workload failing.swf --policy 'broken'") && report.contains(&failure.case.to_swf()));
        let bytes = Box::new(std::io::Cursor::new(failure.case.to_swf().into_bytes()));
        let read =
            log::load_from(LogFile { bytes, name: "failing.swf".into() }, "failing", &CleaningOptions::default());
        let read = read.expect("a good log").workload;
        let workload = failure.case.to_workload();
        assert_eq!(
            (read.machine(), read.jobs(), read.truth()),
            (workload.machine(), workload.jobs(), workload.truth())
        );
        assert!(check_policy(&subject, &failure.case).is_err(), "it fails again");
    }
}

/// Cases are what they are drawn to be: every hostile kind does come up.
#[test]
fn hostile_kinds_come_up() {
    let mut random = Random::new(1);
    let cases: Vec<PolicyCase> = (0..2_000)
        .map(|_| PolicyCase::random_case(&mut random, CaseLimits { jobs: 3_000, run: YEAR, ..CaseLimits::default() }))
        .collect();
    let share = |predicate: &dyn Fn(&PolicyCase) -> bool| cases.iter().filter(|c| predicate(c)).count();
    let many = |c: &PolicyCase| c.rows.len() >= 10;
    for (kind, least, count) in [
        ("all at once", 50, share(&|c| many(c) && c.rows.iter().all(|r| r.submit == c.rows[0].submit))),
        ("all full width", 50, share(&|c| many(c) && c.procs > 1 && c.rows.iter().all(|r| r.procs == c.procs))),
        ("no run time", 50, share(&|c| many(c) && c.rows.iter().all(|r| r.run == 0))),
        ("estimates of a second", 50, share(&|c| many(c) && c.rows.iter().all(|r| r.estimate == 1))),
        ("estimates of a year", 50, share(&|c| many(c) && c.rows.iter().all(|r| r.estimate == YEAR))),
        ("exact estimates", 50, share(&|c| many(c) && c.rows.iter().all(|r| r.estimate == r.run))),
        ("overruns", 200, share(&|c| c.rows.iter().any(|r| r.run > r.estimate))),
        ("withdrawals", 200, share(&|c| !c.cancel.is_empty())),
        ("one job", 20, share(&|c| c.rows.len() == 1)),
        ("a thousand jobs and more", 10, share(&|c| c.rows.len() >= 1_000)),
        ("one processor", 50, share(&|c| c.procs == 1)),
    ] {
        assert!(count >= least, "{kind}: {count} of {} cases", cases.len());
    }
}
