//! The choices of goal-oriented scheduling, by hand: what its measures weigh, what it remembers
//! between decisions, and when it believes that running jobs end.

use crate::common::{spec, starts, with_jobs, workload};
use drystone::engine::{Notes, Simulation, WorkloadReplay};
use drystone::model::{Job, Workload};
use drystone::policy::Gauge;

/// One processor, busy until 10, and two jobs that are equal but for whose they are. At 10 the
/// second one goes first only where its wait counts and the other's does not.
#[test]
fn special_jobs_wait_less_whichever_user_has_them() {
    type Attribute = fn(&mut Job) -> &mut i32;
    let attributes: [(&str, Attribute); 3] =
        [("user", |job| &mut job.user), ("group", |job| &mut job.group), ("queue", |job| &mut job.queue)];
    for (name, of) in attributes {
        let w = workload(1, &[(0, 1, 10, 10), (1, 1, 20, 20), (1, 1, 20, 20)]);
        let w = with_jobs(w, |at, job| *of(job) = at as i32);
        for (special, expected) in [(1, [0, 10, 30]), (2, [0, 30, 10])] {
            let policy = format!("goal(lexical(special({name}={special})))");
            assert_eq!(starts(&w, &policy), expected, "{policy}");
        }
    }
}

/// One processor. User 1 has it for 100 s, then user 2 for 10 s; at 110 each has a job that arrived
/// at 105 and takes 30 s: one waits for 5 s, the other for 35 s.
///
/// Of 1000 s both have ended jobs: 100 and 10 processor-seconds, the equal share is 55, and the
/// weights are ⌊1024·55/155⌋ = 363 and ⌊1024·55/65⌋ = 866: user 2 goes first. The last 10 s all
/// belong to user 2, whose weight is ⌊1024·5/15⌋ = 341 and that of user 1 1024: user 1 goes first.
#[test]
fn all_that_ended_in_the_window_counts() {
    let w = workload(1, &[(0, 1, 100, 100), (50, 1, 10, 10), (105, 1, 30, 30), (105, 1, 30, 30)]);
    let w = with_jobs(w, |at, job| job.user = 1 + at as i32 % 2);
    assert_eq!(starts(&w, "goal(lexical(fair(1000)))"), [0, 100, 140, 110]);
    assert_eq!(starts(&w, "goal(lexical(fair(10)))"), [0, 100, 110, 140]);
}

/// One processor, busy until 10. Waits over run times at 10 are 10/20, 9/100 and 2/30: by slowdown
/// the jobs go 1, 2, 3. At 30, when 1 ends, they are 29/100 and 22/30: 3 overtakes 2.
fn overtaking() -> Workload {
    workload(1, &[(0, 1, 10, 10), (0, 1, 20, 20), (1, 1, 100, 100), (8, 1, 30, 30)])
}

/// Without any search the order of branches is the schedule: that of the moment, or that of the
/// decision before.
#[test]
fn the_last_best_path_is_the_order_of_branches() {
    let with = |reuse: &str| starts(&overtaking(), &format!("goal(nodes=0,search=dds-lxf,reuse={reuse})"));
    assert_eq!(with("no"), [0, 10, 60, 30]);
    assert_eq!(with("branch"), [0, 10, 30, 130]);
    // Tried after the heuristic path, for which all nodes are spent.
    assert_eq!(with("seed"), [0, 10, 60, 30]);
}

/// Number of paths that each decision visits with 4 nodes. At 0 both orders of jobs 0 and 1. At 10
/// the heuristic path takes 3 nodes, and no other fits; what the decision before left, job 1 and
/// newcomers behind it, is the same path. At 30 the heuristic path is 3, 2; the other one, 2, 3,
/// takes 2 nodes more. It is also what the decision before left, and is then visited twice: as a
/// path to try, and in its turn, where its nodes are placed already.
#[test]
fn the_last_best_path_is_visited_first() {
    let paths = |reuse: &str| {
        let (w, mut notes) = (overtaking(), Notes::default());
        let policy = spec(&format!("goal(lexical(avgW),nodes=4,prune=never,search=dds-lxf,reuse={reuse})"));
        Simulation::new(w.machine(), policy.build_scheduler(), WorkloadReplay::new(&w)).run(&mut notes).expect("sound");
        let paths = notes.list.iter().filter(|note| note.gauge == Gauge::Paths);
        paths.map(|note| (note.at.0, note.value)).collect::<Vec<_>>()
    };
    assert_eq!(paths("no"), [(0, 2), (10, 1), (30, 2), (60, 1)]);
    assert_eq!(paths("seed"), [(0, 2), (10, 1), (30, 3), (60, 1)]);
}

/// Two processors. Job 0 says 10 s and takes 500: its end is corrected from 10 to 70 (a minute
/// more), and at 70 to 970 (15 minutes more). Job 1 is wide and arrives at 80; job 2 is narrow,
/// arrives at 81, and takes 100 s.
///
/// A policy that knows the correction plans job 1 for 970 and lets job 2 go before; job 1 starts at
/// 500, when job 0 ends. A policy that does not know it finds job 0 overdue by 70 s at 80 and gives
/// it as long again: job 1 is planned for 150, and job 2 has no room before.
#[test]
fn corrected_ends_are_believed() {
    let w = workload(2, &[(0, 1, 10, 500), (80, 2, 50, 50), (81, 1, 100, 100)]);
    for plan in ["prediction", "estimate"] {
        let with = |correct: &str| starts(&w, &format!("goal(nodes=0,search=dds-fcfs,plan={plan},correct={correct})"));
        assert_eq!(with("estimate"), [0, 500, 81], "{plan}");
        assert_eq!(with("none"), [0, 500, 550], "{plan}");
    }
}

/// Two processors. Job 0 runs for 10 s, which is then also predicted of job 1; it says 1000 s and
/// takes 500. At 20 its prediction is corrected to 70 s. Job 2 is wide and arrives at 30; job 3 is
/// narrow, arrives at 31 and says 100 s.
///
/// Placed for estimates, job 1 is believed to run until 1010, whatever is predicted: job 3 goes
/// before job 2. If the correction were believed, job 2 would be planned for 80 and job 3 would
/// have no room before.
#[test]
fn a_correction_below_the_estimate_moves_no_planned_end() {
    let w = workload(2, &[(0, 2, 10, 10), (10, 1, 1000, 500), (30, 2, 50, 50), (31, 1, 100, 100)]);
    let policy = "goal(nodes=0,search=dds-fcfs,predict=recent(1),correct=gradual,plan=estimate)";
    assert_eq!(starts(&w, policy), [0, 10, 510, 31]);
}

/// Unless the text says otherwise the search follows what comes first: waits the order of arrival,
/// slowdowns that of expansion, and trade-offs the latter. With no node to search, the order of
/// branches is the schedule.
#[test]
fn the_search_follows_the_objective() {
    for (objective, expected) in [
        ("lexical(maxW>avgX)", [0, 10, 30, 130]),
        ("lexical(avgX>maxW)", [0, 10, 60, 30]),
        ("tradeoff(maxW:avgX)", [0, 10, 60, 30]),
    ] {
        assert_eq!(starts(&overtaking(), &format!("goal({objective},nodes=0)")), expected, "{objective}");
    }
}
