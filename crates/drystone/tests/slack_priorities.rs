//! Slack-based backfilling: where priorities come from, and what is announced.

mod common;

use common::{spec, workload};
use drystone::engine::{Observer, Replay, Simulation};
use drystone::model::{JobId, Time};
use drystone::policy::{PolicySpec, Priorities};

/// Priorities in the policy's text and others beside it contradict each other, whatever they are about.
#[test]
fn a_text_and_a_file_are_not_mixed() {
    let given = |text: &str| Priorities::from_text(text).expect(text);
    for text in ["all(up=1)", "every(5)", "user(3)", "group(2)", "queue(1,pp=0.5)"] {
        let mut policy = spec(&format!("slack(priorities={text})")).scheduler().policy;
        let error = policy.prioritise(given("every(7)")).expect_err(text).to_string();
        assert!(error.contains("leave out one"), "{error}");
        // Nor are they given twice.
        let mut policy = spec("slack").scheduler().policy;
        policy.prioritise(given(text)).expect("the first time");
        assert!(policy.prioritise(given("every(7)")).is_err(), "{text}, a second time");
    }
    let toml = "[[group]]\nid = 3\nquota = { processor_hours = 10.5, days = 7 }\n";
    let mut policy = spec("slack").scheduler().policy;
    policy.prioritise(Priorities::from_toml(toml).expect("a quota")).expect("the first time");
    assert!(policy.prioritise(given("every(7)")).is_err(), "a quota, then a text");
}

/// A rule for a job's number needs to know which job has it.
#[test]
fn job_numbers_need_the_log() {
    let numbered = Priorities::from_toml("[[job]]\nnumber = 1\nup = 1.0\n").expect("a rule");
    let error = spec("slack").scheduler().policy.prioritise(numbered.clone()).expect_err("no log").to_string();
    assert!(error.contains("need the log"), "{error}");
    let w = workload(2, &[(0, 2, 10, 10)]);
    spec("slack").scheduler().policy.prioritise(numbered.for_workload(&w).expect("job 1 is there")).expect("placed");
}

/// Average waits are divided by.
#[test]
fn an_average_wait_of_nothing_is_refused() {
    for (text, good) in
        [("slack(awt=0)", false), ("slack(awt=-1)", false), ("slack(awt=0.5)", true), ("slack(awt=auto)", true)]
    {
        assert_eq!(text.parse::<PolicySpec>().is_ok(), good, "{text}");
    }
}

/// A has both processors from 0 to 10. B arrives at 1, is planned for 10, and told so at once; A started at once and was
/// promised nothing.
#[test]
fn whoever_has_to_wait_is_told_when_it_arrives() {
    struct Told(Vec<(i64, u32, i64)>);
    impl Observer for Told {
        fn reserved(&mut self, now: Time, id: JobId, start: Time, _latest: Time) {
            self.0.push((now.0, id.0, start.0));
        }
    }
    let w = workload(2, &[(0, 2, 10, 10), (1, 2, 10, 10)]);
    let mut told = Told(Vec::new());
    Simulation::new(w.machine(), spec("slack").scheduler(), Replay::new(&w)).run(&mut told).expect("runs");
    assert_eq!(told.0, [(1, 1, 10)]);
}
