//! Goal-oriented scheduling as a policy: whole schedules against the definition, its text, its
//! notes, its time limit.

use crate::common::{simulate, spec, starts, with_jobs, workload};
use drystone::engine::{Notes, Session, Simulation, WorkloadReplay};
use drystone::metrics::SearchEffort;
use drystone::model::{Job, Machine, Span, Time, Workload};
use drystone::policy::{Gauge, PolicySpec, Stopwatch};
use drystone_reference::search::{
    NaiveBranching, NaiveGoal, NaiveMeasure, NaiveReuse, NaiveSearchModel, NaiveTraversal, run, run_by_estimates,
};
use drystone_reference::{JobOut, jobs_of};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A machine of 8 with at most 6 jobs that can wait at a time.
fn workloads() -> impl Strategy<Value = Workload> {
    let job = (0i64..120, prop_oneof![3 => 1u32..=4, 1 => 5u32..=8], 1i64..200, 0i32..3);
    prop::collection::vec(job, 1..7).prop_map(|jobs| {
        let mut now = 0;
        let users: Vec<i32> = jobs.iter().map(|job| job.3).collect();
        let jobs: Vec<_> = jobs
            .into_iter()
            .map(|(gap, procs, run, _)| {
                now += gap / 4;
                (now, procs, run + 50, run)
            })
            .collect();
        with_jobs(workload(8, &jobs), |at, job| job.user = users[at])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every start of whole workloads is that of a scheduler that visits all permutations at every
    /// arrival and end.
    #[test]
    fn schedules_agree_with_the_definition(w in workloads(), which in 0usize..14) {
        use NaiveMeasure::{Excess, ExcessOver, Fair, LargestExcess, LargestExcessOver, MaxWait, Slowdown, Special, Wait};
        let (text, model, measures, relaxed, traversal, branching, reuse) = [
            ("tradeoff(Tw:avgX)", NaiveSearchModel::A, vec![Excess, Slowdown], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
            ("lexical(Tw>avgX),diff=strict", NaiveSearchModel::Lexical, vec![Excess, Slowdown], false, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
            ("lexical(maxW>avgW)", NaiveSearchModel::Lexical, vec![MaxWait, Wait], true, NaiveTraversal::Dds, NaiveBranching::Fcfs, NaiveReuse::No),
            ("tradeoff(Tw(30):avgW:maxW),version=b,search=lds-fcfs", NaiveSearchModel::B, vec![ExcessOver(30), Wait, MaxWait], true, NaiveTraversal::Lds, NaiveBranching::Fcfs, NaiveReuse::No),
            ("tradeoff(maxW:avgX),version=c,search=lds-lxf", NaiveSearchModel::C, vec![MaxWait, Slowdown], true, NaiveTraversal::Lds, NaiveBranching::Lxf, NaiveReuse::No),
            ("lexical(Tw(0)>avgX),search=dds-fcfs", NaiveSearchModel::Lexical, vec![ExcessOver(0), Slowdown], true, NaiveTraversal::Dds, NaiveBranching::Fcfs, NaiveReuse::No),
            ("tradeoff(fair(90):maxW)", NaiveSearchModel::A, vec![Fair(90), MaxWait], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
            ("lexical(special(user=1)>fair(1000)),diff=strict", NaiveSearchModel::Lexical, vec![Special(1), Fair(1000)], false, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
            ("tradeoff(Tw:avgX),reuse=branch", NaiveSearchModel::A, vec![Excess, Slowdown], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::Branch),
            ("tradeoff(maxW:avgX),reuse=seed,prune=beside", NaiveSearchModel::A, vec![MaxWait, Slowdown], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::Seed),
    ("tradeoff(Tw:avgX),plan=estimate", NaiveSearchModel::A, vec![Excess, Slowdown], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
            ("lexical(maxW>avgX),version=c,plan=estimate,search=lds-lxf", NaiveSearchModel::Lexical, vec![MaxWait, Slowdown], true, NaiveTraversal::Lds, NaiveBranching::Lxf, NaiveReuse::No),
            ("tradeoff(maxTw:avgX)", NaiveSearchModel::A, vec![LargestExcess, Slowdown], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
            ("lexical(maxTw(30)>avgW)", NaiveSearchModel::Lexical, vec![LargestExcessOver(30), Wait], true, NaiveTraversal::Dds, NaiveBranching::Lxf, NaiveReuse::No),
        ].into_iter().nth(which).expect("fourteen");
        let by_estimate = text.contains("plan=estimate");
        let goal = NaiveGoal { model, measures, relaxed, traversal, branching, reuse, by_estimate };
        let policy = format!("goal({text},nodes=all,predict=perfect)");
        let own_jobs: Vec<JobOut> = simulate(&w, &policy).spans.iter()
            .map(|s| s.map(|(start, end)| JobOut { start: start.0, end: end.0 }).expect("ended")).collect();
        prop_assert_eq!(own_jobs, run(&goal, &jobs_of(&w), 8), "{}", policy);
    }
}

/// A job that says less than two minutes and runs for up to hours, on a part of the machine of 8,
/// and at most 6 jobs beside it, half of them wide, whose estimates are right, too long or short.
fn overdue_workloads() -> impl Strategy<Value = Workload> {
    let first = (1u32..=5, 1i64..120, 500i64..9_000);
    let share = prop_oneof![2 => Just(1.0), 2 => 0.02..1.0f64, 2 => 1.0..3.0f64];
    let job = (0i64..400, prop_oneof![1 => 1u32..=3, 1 => 4u32..=8], 50i64..4_000, share);
    (first, prop::collection::vec(job, 2..7)).prop_map(|((procs, estimate, run), jobs)| {
        let mut now = 0;
        let later_jobs = jobs.into_iter().map(|(gap, procs, run, share)| {
            now += gap;
            (now, procs, ((run as f64 * share) as i64).max(1), run)
        });
        let jobs: Vec<_> = std::iter::once((0, procs, estimate, run)).chain(later_jobs).collect();
        workload(8, &jobs)
    })
}

/// The rule for a job that outlives its estimate: its end is put off by a minute, then by 15, 30,
/// 60 minutes and so on, and each time a search follows.
fn agrees_about_overdue_jobs(w: &Workload) -> Result<Vec<JobOut>, TestCaseError> {
    let goal = |model, measures, is_loose, branching| NaiveGoal {
        model,
        measures,
        relaxed: is_loose,
        traversal: NaiveTraversal::Dds,
        branching,
        reuse: NaiveReuse::No,
        by_estimate: true,
    };
    let mut first = Vec::new();
    for (text, goal) in [
        (
            "nodes=all",
            goal(NaiveSearchModel::A, vec![NaiveMeasure::Excess, NaiveMeasure::Slowdown], true, NaiveBranching::Lxf),
        ),
        (
            "lexical(maxW>avgW),nodes=all",
            goal(
                NaiveSearchModel::Lexical,
                vec![NaiveMeasure::MaxWait, NaiveMeasure::Wait],
                true,
                NaiveBranching::Fcfs,
            ),
        ),
    ] {
        let policy = format!("goal({text})");
        let own_jobs: Vec<JobOut> = simulate(w, &policy)
            .spans
            .iter()
            .map(|s| s.map(|(start, end)| JobOut { start: start.0, end: end.0 }).expect("ended"))
            .collect();
        prop_assert_eq!(&own_jobs, &run_by_estimates(&goal, &jobs_of(w), 8), "{}", policy);
        first = own_jobs;
    }
    Ok(first)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn overdue_jobs_agree_with_the_definition(w in overdue_workloads()) {
        agrees_about_overdue_jobs(&w)?;
    }
}

/// The draw puts the rule to the test: the older one makes other schedules in many cases.
#[test]
fn the_rule_of_overdue_jobs_matters() {
    let mut runner = TestRunner::deterministic();
    let mut different = 0;
    for _ in 0..300 {
        let w = overdue_workloads().new_tree(&mut runner).expect("a case").current();
        different += u32::from(starts(&w, "goal(nodes=all)") != starts(&w, "goal(nodes=all,overdue=again)"));
    }
    assert!(different >= 20, "{different} of 300");
}

/// 4 processors, all busy until 100. At that time four jobs wait: one for the whole machine, since
/// 1; and three short ones. LXF-backfill would start the short ones first; FCFS the wide one.
#[test]
fn the_objective_decides_who_goes_first() {
    let w = workload(4, &[(0, 4, 100, 100), (1, 4, 600, 600), (2, 2, 60, 60), (3, 2, 60, 60), (4, 4, 60, 60)]);
    // Least slowdown: all short ones before the long one, as in the shop whose shortest job goes
    // first.
    assert_eq!(starts(&w, "goal(lexical(avgX))"), [0, 220, 100, 100, 160]);
    // No job may wait longer than the oldest has waited at each decision, 99 s at 100: any order
    // exceeds that in total by at least as much as wide first exceeds it: the three short jobs 599
    // + 598 + 657 = 1854 beyond; short ones first 120 + 57.
    assert_eq!(starts(&w, "goal(lexical(Tw))"), [0, 220, 100, 100, 160]);
    // The longest wait: wide last gives 219, wide first 756. One pair first, then wide, then the
    // last: 159 and 756.
    assert_eq!(starts(&w, "goal(lexical(maxW))"), [0, 220, 100, 100, 160]);
    // No search: the heuristic alone. By arrival the wide job goes first.
    assert_eq!(starts(&w, "goal(lexical(maxW),nodes=0,search=dds-fcfs)"), [0, 100, 700, 700, 760]);
}

/// Schedules that are equally good in exact fractions are no improvement: the one found first
/// stays.
#[test]
fn equal_schedules_are_equal_whatever_is_rounded() {
    // At 0 the heuristic starts the first and the third: only the second waits, for 366 s, and
    // 366/183 = 2. With the second first the two others wait 183 s: 183/366 + 183/122 = 2 as well.
    // No job has waited yet: Tw is the sum of waits, 366 for both.
    let w = workload(2, &[(0, 1, 366, 366), (0, 2, 183, 183), (0, 1, 122, 122)]);
    assert_eq!(starts(&w, "goal"), [0, 366, 0]);
    // At 35 a change by 14/49 + 1/3 − 7/21 − 14/49 is none, though in floating point it is not 0.
    let jobs = [(0, 1, 42, 42), (35, 2, 21, 21), (35, 1, 28, 28), (35, 1, 28, 28), (35, 1, 35, 35)];
    let policy =
        "goal(tradeoff(unused:Tw(0):late(5):maxW:areaW),version=a,diff=strict,search=lds-fcfs,nodes=all,prune=never)";
    assert_eq!(starts(&workload(3, &jobs), policy), [0, 35, 56, 56, 42]);
}

#[test]
fn texts_are_read_printed_and_refused() {
    for text in [
        "goal",
        "goal(tradeoff(Tw:avgX))",
        "goal(lexical(Tw>avgX),nodes=100)",
        "goal(lexical(maxW>avgX),search=dds-fcfs,diff=strict)",
        "goal(tradeoff(Tw(50h):avgX:late(24h)),version=c,budget=50ms)",
        "goal(objective=lexical(Tw>avgX),nodes=all,predict=recent(2))",
        "goal(lexical(special(queue=2)>Tw>fair(7d)),local=20,reuse=seed,prune=beside)",
        "goal(lexical(special(group=2)>Tw(1099511627775)))",
    ] {
        let spec: PolicySpec = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(spec.text(), text);
    }
    let of = |text: &str| spec(text).parameters().into_iter().find(|p| p.0 == "objective").map(|p| p.1);
    assert_eq!(of("goal").as_deref(), Some("tradeoff(Tw:avgX)"));
    assert_eq!(of("goal(lexical(Tw>avgX))").as_deref(), Some("lexical(Tw>avgX)"));
    for (text, part) in [
        ("goal(lexical(Tw>avgX),objective=lexical(Tw))", "given twice"),
        ("goal(lexical(Tw>avgX),lexical(Tw))", "given twice"),
        ("goal(best(Tw))", "no objective model"),
        ("goal(lexical(Tw>fun))", "`fun` is no measure"),
        ("goal(nodes=some)", "nodes takes"),
        ("goal(nodes=-1)", "nodes takes"),
        ("goal(budget=50)", "budget takes"),
        ("goal(budget=0ms)", "budget takes"),
        ("goal(budget=xs)", "budget takes"),
        ("goal(local=101)", "local takes"),
        ("goal(local=20,nodes=all)", "local is a share of the nodes"),
        ("goal(local=20,budget=50ms)", "local is a share of the nodes"),
        ("goal(reuse=yes)", "reuse takes"),
        ("goal(lexical(fair(1d)>fair(2d)))", "`fair` is given twice"),
        ("goal(lexical(special(boss)))", "no measure"),
        ("goal(lexical(special(user=boss)))", "`boss` is no number of a user"),
        // 2⁴⁰ s.
        ("goal(lexical(Tw(1099511627776)))", "`1099511627776` is no length of time"),
        ("goal(search=bfs)", "search takes"),
        ("goal(version=d)", "version takes"),
    ] {
        let error = text.parse::<PolicySpec>().expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// The effort of each search is noted: here a full machine, then three jobs at one instant, and
/// three ends.
#[test]
fn searches_are_noted() {
    let w = workload(2, &[(0, 2, 10, 10), (1, 2, 10, 10), (1, 2, 20, 20), (1, 2, 30, 30)]);
    let mut notes = Notes::default();
    let policy = spec("goal(lexical(avgW),prune=never,search=dds-fcfs)");
    Simulation::new(w.machine(), policy.build_scheduler(), WorkloadReplay::new(&w)).run(&mut notes).expect("sound");
    let of = |gauge| notes.list.iter().filter(|n| n.gauge == gauge).map(|n| (n.at.0, n.value)).collect::<Vec<_>>();
    // At 1 no job fits the free processors and nothing is searched. Then 3, 2 and 1 jobs wait: 6, 2
    // and 1 paths. Three jobs are 123, 213, 312, 132, 231, 321: 3 + 3 + 3 + 3 + 3 + 2 nodes, the
    // last two paths share nothing but 3 with 312.
    assert_eq!(of(Gauge::Paths), [(0, 1), (10, 6), (20, 2), (40, 1)]);
    assert_eq!(of(Gauge::Nodes), [(0, 1), (10, 18), (20, 4), (40, 1)]);
    assert_eq!(of(Gauge::Exhausted), [(0, 1), (10, 1), (20, 1), (40, 1)]);
    assert_eq!(of(Gauge::Improvements), [(0, 0), (10, 0), (20, 0), (40, 0)]);
    let effort = SearchEffort::from_notes(&notes).expect("searched");
    assert_eq!((effort.searches, effort.nodes, effort.paths, effort.exhausted), (4, 24, 10, 4));
    assert_eq!(SearchEffort::from_notes(&Notes::default()), None);
}

/// Counts how often it is started and looked at; never says that time is up.
#[derive(Clone, Debug, Default)]
struct Counting(Arc<(AtomicU32, AtomicU32)>);

impl Stopwatch for Counting {
    fn start_timer(&mut self, limit: Duration) {
        assert_eq!(limit, Duration::from_millis(50));
        self.0.0.fetch_add(1, Ordering::Relaxed);
    }

    fn is_up(&self) -> bool {
        self.0.1.fetch_add(1, Ordering::Relaxed);
        false
    }
}

/// With no job waiting, or none that fits, no search is made and the clock is not looked at; and
/// only a policy that has a time limit is timed at all.
#[test]
fn time_is_spent_only_where_somebody_could_start() {
    let job = |procs| Job::new(Time::ZERO, procs, Span(100));
    let decide = |policy: &str, jobs: &[u32]| {
        let counting = Counting::default();
        let mut session = Session::new(Machine::new(4), spec(policy).build_scheduler());
        session.set_stopwatch(Box::new(counting.clone()));
        let mut notes = Vec::new();
        for &procs in jobs {
            session.note_arrival(Time::ZERO, &job(procs), None).expect("possible");
        }
        notes.push(session.decide(Time::ZERO).expect("sound").list().len());
        (notes[0], counting.0.0.load(Ordering::Relaxed), counting.0.1.load(Ordering::Relaxed))
    };
    assert_eq!(decide("goal(budget=50ms)", &[]), (0, 0, 0));
    // No job fits: a search would be of no use.
    assert_eq!(decide("goal(budget=50ms)", &[4, 4]).1, 1);
    assert_eq!(decide("goal", &[3, 3, 3]).1, 0);
    let (actions, start_count, looks) = decide("goal(budget=50ms,prune=never)", &[3, 3, 3]);
    // Four notes and a start.
    assert_eq!((actions, start_count), (5, 1));
    assert!(looks > 0);
}

/// A search under a stopwatch that never rings is the search without one.
#[test]
fn a_generous_budget_is_no_limit() {
    let jobs: Vec<_> =
        (0..40_i64).map(|i| (i * 7, 1 + (i * 5 % 8) as u32, 30 + i * 31 % 90, 20 + i * 31 % 90)).collect();
    let w = workload(8, &jobs);
    let with = |budget: &str| starts(&w, &format!("goal(lexical(Tw>avgX){budget},nodes=300)"));
    assert_eq!(with(""), with(",budget=1000s"));
}
