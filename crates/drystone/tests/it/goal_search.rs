//! The search of goal-oriented scheduling (Chiang & Vasupongayya 2008) against its definition:
//! every permutation, in the order of visits, each scheduled from nothing.

use drystone::model::Time;
use drystone::policy::Stopwatch;
use drystone::policy::goal::{
    Branching, Differences, FoundSchedule, GoalCandidate, GoalMeasure, GoalObjective, GoalOwner, GoalSearch,
    GoalSettings, GoalTask, ObjectiveModel, PathReuse, Prune, SpecialJobs, Traversal, Version,
};
use drystone_reference::search::{self as naive, NaiveGoal, NaiveProblem};
use proptest::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn candidate(submit: i64, procs: u32, span: i64) -> GoalCandidate {
    GoalCandidate { submit: Time(submit), procs, span, run: span, owner: GoalOwner::default() }
}

fn settings(objective: GoalObjective) -> GoalSettings {
    GoalSettings { objective, nodes: None, ..GoalSettings::default() }
}

fn objective(text: &str) -> GoalObjective {
    GoalObjective::parse(text).expect(text)
}

/// Four jobs, 1 to 4 in the order of their arrival, on a machine for which only one fits at a time.
fn four() -> GoalTask {
    let waiting = (1..=4).map(|i| candidate(i, 2, 100)).collect();
    GoalTask { now: Time(10), free: 2, waiting, ..GoalTask::default() }
}

fn visited(traversal: Traversal, nodes: Option<u64>) -> (FoundSchedule, Vec<String>) {
    let branching = Branching::Fcfs;
    let settings =
        GoalSettings { traversal, branching, prune: Prune::Never, nodes, ..settings(GoalObjective::default()) };
    trace(&four(), &settings)
}

/// Returns the result, and the paths on the way, the jobs numbered from 1 in the order of their
/// arrival.
fn trace(task: &GoalTask, settings: &GoalSettings) -> (FoundSchedule, Vec<String>) {
    let (best_path, paths) = GoalSearch::default().trace_paths(task, settings);
    let print = |path: Vec<u32>| path.iter().map(|place| (place + 1).to_string()).collect();
    (best_path, paths.into_iter().map(print).collect())
}

/// One processor, and jobs that arrived just now, each of another user: 1, 2, ...
fn one_at_a_time(spans: &[i64]) -> GoalTask {
    let job =
        |(span, user)| GoalCandidate { owner: GoalOwner { user, ..GoalOwner::default() }, ..candidate(0, 1, span) };
    GoalTask {
        now: Time(0),
        free: 1,
        waiting: spans.iter().copied().zip(1..).map(job).collect(),
        ..GoalTask::default()
    }
}

/// Figure 1: the paths of the first iterations from left to right, and the text around it: "the
/// path 0-2-1-3-4 contains exactly one discrepancy at depth one".
#[test]
fn figure_1() {
    let (schedule, lds) = visited(Traversal::Lds, None);
    assert_eq!(lds[..1], ["1234"]);
    assert_eq!(lds[1..7], ["1243", "1324", "1423", "2134", "3124", "4123"]);
    let eleven = ["1342", "1432", "2143", "2314", "2413", "3142", "3214", "3412", "4132", "4213", "4312"];
    assert_eq!(lds[7..18], eleven);
    assert_eq!(lds[18..], ["2341", "2431", "3241", "3421", "4231", "4321"]);
    assert!(schedule.exhausted && schedule.effort.paths == 24);
    let (schedule, dds) = visited(Traversal::Dds, None);
    assert_eq!(dds[..1], ["1234"]);
    assert_eq!(dds[1..4], ["2134", "3124", "4123"]);
    assert_eq!(dds[4..12], ["1324", "1423", "2314", "2413", "3214", "3412", "4213", "4312"]);
    assert_eq!(dds[12..15], ["1243", "1342", "1432"]);
    assert_eq!(dds.len(), 24);
    assert!(schedule.exhausted);
}

/// A node that consecutive paths share is placed once and counted once: DDS places 4 + 3·4 nodes up
/// to iteration 1, and the first path of iteration 2, 1324, shares nothing with 4123; 1423 shares
/// the 1.
#[test]
fn nodes_are_counted_once_and_the_heuristic_path_is_always_completed() {
    for (limit, paths, nodes) in
        [(0, 1, 4), (4, 1, 4), (7, 1, 7), (8, 2, 8), (16, 4, 16), (20, 5, 20), (22, 5, 22), (23, 6, 23)]
    {
        let (schedule, visits) = visited(Traversal::Dds, Some(limit));
        assert_eq!((visits.len() as u64, schedule.effort.nodes), (paths, nodes), "limit {limit}");
        assert!(!schedule.exhausted);
    }
    // LDS: 1243 shares the 12 of 1234.
    for (limit, paths) in [(5, 1), (6, 2), (8, 2), (9, 3)] {
        assert_eq!(visited(Traversal::Lds, Some(limit)).1.len(), paths, "limit {limit}");
    }
}

#[test]
fn an_empty_queue_and_a_single_job() {
    let schedule = GoalSearch::default().run(
        &GoalTask { free: 4, ..GoalTask::default() },
        &settings(GoalObjective::default()),
        None,
    );
    assert!(schedule.exhausted && schedule.starts.is_empty() && schedule.effort.nodes == 0);
    let task = GoalTask {
        waiting: vec![candidate(0, 4, 5)],
        now: Time(9),
        ..GoalTask { running: vec![(Time(12), 1)], free: 3, ..GoalTask::default() }
    };
    let schedule = GoalSearch::default().run(&task, &settings(GoalObjective::default()), None);
    assert_eq!((schedule.starts, schedule.effort.nodes, schedule.exhausted), (vec![3], 1, true));
}

/// If every job can start at once nothing can be better, and nothing is searched.
#[test]
fn an_idle_machine_needs_no_search() {
    let task = GoalTask {
        now: Time(100),
        free: 64,
        waiting: (0..20).map(|i| candidate(i, 3, 50)).collect(),
        ..GoalTask::default()
    };
    let schedule = GoalSearch::default().run(&task, &settings(GoalObjective::default()), None);
    assert!(schedule.exhausted);
    assert_eq!(schedule.effort.nodes, 20);
    assert!(schedule.starts.iter().all(|&s| s == 0));
}

/// One processor, jobs of 100, 10 and 1 minutes that arrived in this order just now. Shortest first
/// has the least total wait, 0 + 1 + 11, and also the least maximum wait: 11 beats 101 and 110.
#[test]
fn shortest_first_by_hand() {
    let task = one_at_a_time(&[100, 10, 1].map(|m| 60 * m));
    for text in ["lexical(avgW)", "lexical(maxW>avgW)", "tradeoff(avgX:avgW)"] {
        for traversal in [Traversal::Lds, Traversal::Dds] {
            let settings = GoalSettings { traversal, branching: Branching::Fcfs, ..settings(objective(text)) };
            let schedule = GoalSearch::default().run(&task, &settings, None);
            assert_eq!(schedule.starts, [660, 60, 0], "{text}");
            assert!(schedule.exhausted);
        }
    }
}

/// Waits of 1, 2 and 3 that take 10, 20 and 30 s: 123 has (0, 10, 30). Of the smaller of both as
/// reference, what falls to zero and what rises from zero weigh each other up, and the third
/// decides: 213 (20, 0, 30) changes nothing there; 312 and 132 (0, 40, 10) lose more of 2 than they
/// gain of 3; 231 (50, 0, 20) gains (30 − 20)/20; 321 (50, 30, 0) is no better than that, one from
/// zero and one to zero.
#[test]
fn one_to_zero_and_one_from_zero_leave_it_to_the_third() {
    let objective = objective("tradeoff(special(user=1):special(user=2):special(user=3))");
    let objective = GoalObjective { version: Version::B, ..objective };
    let settings = GoalSettings { branching: Branching::Fcfs, ..settings(objective) };
    let schedule = GoalSearch::default().run(&one_at_a_time(&[10, 20, 30]), &settings, None);
    assert_eq!((schedule.starts, schedule.values), (vec![50, 0, 20], vec![50, 0, 20]));
}

/// A processor that is busy for 100 s, and jobs of 10, 20 and 50 s. DDS visits 123, 213, 312, 132,
/// 231, 321, which share nothing: 18 nodes. The best is 123; its waits are 100 + 110 + 130 = 340.
///
/// By the jobs placed nothing is pruned before the third job. With at least 100 s for every other
/// job, 31 has 100 + 150 + 100 and 32 the same: 312 and 321 end there, 2 nodes less. With what the
/// others would have as the next ones, 2 has 100 + 120 + 120, 3 has 100 + 150 + 150, and 13 has 100
/// + 110 + 160: they end as soon as they are placed, and 3 + 1 + 1 + 2 + 1 + 1 nodes are left.
#[test]
fn pruned_nodes_by_hand() {
    let busy = GoalTask { free: 0, running: vec![(Time(100), 1)], ..one_at_a_time(&[10, 20, 50]) };
    let nodes = [Prune::Never, Prune::Placed, Prune::Earliest, Prune::Beside].map(|prune| {
        let settings = GoalSettings { prune, branching: Branching::Fcfs, ..settings(objective("lexical(avgW)")) };
        GoalSearch::default().run(&busy, &settings, None).effort.nodes
    });
    assert_eq!(nodes, [18, 18, 16, 9]);
}

/// The first job must not wait, and then the sum of waits counts: of jobs of 10, 30 and 20 s, 132
/// is the best. All nodes are kept for the local search, which starts from 123. No pair with the
/// first place helps: 213; of 1 and 3 the later one before, the earlier one behind, and both
/// exchanged, 312, 231, 321. 132 is better and taken at once; its pair comes again, which is 123;
/// then the pairs with the first place: 312; 213, 321, 231.
#[test]
fn local_search_tries_pairs_in_order() {
    let settings =
        GoalSettings { local: 100, nodes: Some(100), ..settings(objective("lexical(special(user=1)>avgW)")) };
    let settings = GoalSettings { branching: Branching::Fcfs, prune: Prune::Never, ..settings };
    let (schedule, paths) = trace(&one_at_a_time(&[10, 30, 20]), &settings);
    assert_eq!(paths[..6], ["123", "213", "312", "231", "321", "132"]);
    assert_eq!(paths[6..11], ["123", "312", "213", "321", "231"]);
    assert_eq!((schedule.starts, schedule.effort.improvements, paths.len()), (vec![0, 30, 10], 1, 12));
}

/// Two jobs have two paths of two nodes. When both have been visited there is nothing left to look
/// for near the best.
#[test]
fn no_local_search_after_an_exhausted_one() {
    let settings = GoalSettings { local: 20, nodes: Some(100), ..settings(objective("lexical(avgW)")) };
    let settings = GoalSettings { branching: Branching::Fcfs, prune: Prune::Never, ..settings };
    let effort = GoalSearch::default().run(&one_at_a_time(&[10, 20]), &settings, None).effort;
    assert_eq!((effort.nodes, effort.paths), (4, 2));
}

fn measures() -> impl Strategy<Value = Vec<usize>> {
    prop::sample::subsequence((0..12).collect::<Vec<usize>>(), 1..4).prop_shuffle()
}

const MEASURES: [(GoalMeasure, naive::NaiveMeasure); 12] = [
    (GoalMeasure::MaxWait, naive::NaiveMeasure::MaxWait),
    (GoalMeasure::Excess(None), naive::NaiveMeasure::Excess),
    (GoalMeasure::Excess(Some(drystone::model::Span(50))), naive::NaiveMeasure::ExcessOver(50)),
    (GoalMeasure::Wait, naive::NaiveMeasure::Wait),
    (GoalMeasure::Slowdown, naive::NaiveMeasure::Slowdown),
    (GoalMeasure::Unused, naive::NaiveMeasure::Unused),
    (GoalMeasure::Late(drystone::model::Span(60)), naive::NaiveMeasure::Late(60)),
    (GoalMeasure::Area, naive::NaiveMeasure::Area),
    (GoalMeasure::Fair(drystone::model::Span(500)), naive::NaiveMeasure::Fair(500)),
    (GoalMeasure::Special(SpecialJobs::User(1)), naive::NaiveMeasure::Special(1)),
    (GoalMeasure::LargestExcess(None), naive::NaiveMeasure::LargestExcess),
    (GoalMeasure::LargestExcess(Some(drystone::model::Span(50))), naive::NaiveMeasure::LargestExcessOver(50)),
];

/// An objective and a search, as the product and as the definition have them.
fn goals() -> impl Strategy<Value = (GoalSettings, NaiveGoal)> {
    (measures(), 0usize..4, any::<bool>(), any::<bool>(), any::<bool>(), 0usize..3).prop_map(
        |(measures, model, is_loose, lds, lxf, reuse)| {
            let (model, version, definition) = [
                (ObjectiveModel::Lexical, Version::A, naive::NaiveSearchModel::Lexical),
                (ObjectiveModel::Tradeoff, Version::A, naive::NaiveSearchModel::A),
                (ObjectiveModel::Tradeoff, Version::B, naive::NaiveSearchModel::B),
                (ObjectiveModel::Tradeoff, Version::C, naive::NaiveSearchModel::C),
            ][model];
            let differences = if is_loose { Differences::Relaxed } else { Differences::Strict };
            let objective = GoalObjective {
                model,
                version,
                differences,
                measures: measures.iter().map(|&m| MEASURES[m].0).collect(),
                weights: Vec::new(),
            };
            let traversal = if lds { Traversal::Lds } else { Traversal::Dds };
            let branching = if lxf { Branching::Lxf } else { Branching::Fcfs };
            let (reuse, naive_reuse) = [
                (PathReuse::No, naive::NaiveReuse::No),
                (PathReuse::Branch, naive::NaiveReuse::Branch),
                (PathReuse::Seed, naive::NaiveReuse::Seed),
            ][reuse];
            let goal = NaiveGoal {
                model: definition,
                measures: measures.iter().map(|&m| MEASURES[m].1).collect(),
                relaxed: is_loose,
                traversal: if lds { naive::NaiveTraversal::Lds } else { naive::NaiveTraversal::Dds },
                branching: if lxf { naive::NaiveBranching::Lxf } else { naive::NaiveBranching::Fcfs },
                reuse: naive_reuse,
                by_estimate: false,
            };
            (GoalSettings { traversal, branching, reuse, ..settings(objective) }, goal)
        },
    )
}

/// Random moments on a machine of 16: some jobs running, up to `most` waiting for very different
/// times.
fn moments(most: usize) -> impl Strategy<Value = (GoalTask, NaiveProblem)> {
    let size = prop_oneof![3 => 1u32..=4, 2 => 1u32..=16, 1 => Just(16u32)];
    let span = prop_oneof![2 => 1i64..30, 1 => 1i64..400];
    let running = prop::collection::vec((1i64..200, 1u32..=6), 0..8);
    let waiting = prop::collection::vec((0i64..150, size, span, 0i64..400, 0i32..4), 1..=most);
    let usage = prop::collection::vec(prop_oneof![Just(0i64), 0i64..3000], 4);
    (running, waiting, usage, any::<prop::sample::Index>()).prop_map(|(mut running, mut waiting, usage, some)| {
        let now = 1000;
        running.sort_unstable();
        let mut free = 16;
        running.retain(|&(_, procs)| {
            let fits = procs <= free;
            free -= if fits { procs } else { 0 };
            fits
        });
        waiting.sort_by_key(|job| std::cmp::Reverse(job.0));
        // Of an earlier path some jobs are left, in an order of their own.
        let last: Vec<usize> = (0..some.index(waiting.len() + 1)).rev().map(|i| (i * 7 + 3) % waiting.len()).collect();
        let last: Vec<usize> =
            last.iter().enumerate().filter(|&(i, at)| !last[..i].contains(at)).map(|(_, &at)| at).collect();
        let task = GoalTask {
            now: Time(now),
            free,
            running: running.iter().map(|&(end, procs)| (Time(now + end), procs)).collect(),
            waiting: waiting
                .iter()
                .map(|&(age, procs, span, run, user)| GoalCandidate {
                    run,
                    owner: GoalOwner { user, ..GoalOwner::default() },
                    ..candidate(now - age, procs, span)
                })
                .collect(),
            usage: (0..).zip(usage.iter().copied()).collect(),
            last: places(&last),
            ranked: Vec::new(),
            ..GoalTask::default()
        };
        let problem = NaiveProblem {
            now,
            procs: 16,
            running: running.iter().map(|&(end, procs)| (now + end, i64::from(procs))).collect(),
            waiting: waiting
                .iter()
                .map(|&(age, procs, span, run, user)| naive::NaiveSearchWaiting {
                    submit: now - age,
                    procs: i64::from(procs),
                    span,
                    run: run.max(1),
                    user: i64::from(user),
                })
                .collect(),
            usage: (0..).zip(usage).collect(),
            last,
        };
        (task, problem)
    })
}

/// For each pair of jobs: the later one put before the earlier one, the earlier one behind the
/// later one, both exchanged.
fn neighbours(path: &[usize]) -> Vec<Vec<usize>> {
    let pairs = (1..path.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    let three = pairs.flat_map(|(first, second)| {
        let mut three = [path.to_vec(), path.to_vec(), path.to_vec()];
        three[0][first..=second].rotate_right(1);
        three[1][first..=second].rotate_left(1);
        three[2].swap(first, second);
        three
    });
    three.collect()
}

fn places(path: &[usize]) -> Vec<u32> {
    path.iter().map(|&place| place as u32).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Up to 6 waiting jobs: the same paths in the same order, the same best path, starts and
    /// values as by definition, for every model, version, kind of differences, and algorithm;
    /// pruned or not.
    #[test]
    fn agrees_with_the_definition((task, problem) in moments(6), (settings, goal) in goals()) {
        let answer = problem.search_permutations(&goal);
        let mut search = GoalSearch::default();
        for prune in [Prune::Never, Prune::Placed, Prune::Earliest, Prune::Beside] {
            let (best_path, path_count) = search.trace_paths(&task, &GoalSettings { prune, ..settings.clone() });
            prop_assert!(best_path.exhausted);
            prop_assert_eq!(&best_path.values, &answer.values, "{:?} {:?}", prune, goal);
            prop_assert_eq!(&best_path.path, &places(&answer.path));
            let starts: Vec<i64> = answer.starts.iter().map(|s| s - problem.now).collect();
            prop_assert_eq!(&best_path.starts, &starts);
            if prune == Prune::Never {
                let visit_places: Vec<Vec<u32>> = answer.visited.iter().map(|path| places(path)).collect();
                prop_assert_eq!(path_count, visit_places);
                prop_assert_eq!(best_path.effort.nodes, naive::count_nodes(&answer.visited) as u64);
            }
        }
    }

    /// A limit cuts the sequence of visits where its nodes are used up, and nothing else changes.
    #[test]
    fn limits_cut_the_visits_short((task, problem) in moments(6), (settings, goal) in goals(), limit in 0u64..400) {
        let answer = problem.search_permutations(&goal);
        let settings = GoalSettings { prune: Prune::Never, nodes: Some(limit), ..settings };
        let (best_path, path_count) = GoalSearch::default().trace_paths(&task, &settings);
        let within = |&count: &usize| count == 1 || naive::count_nodes(&answer.visited[..count]) as u64 <= limit;
        let count = (1..=answer.visited.len()).take_while(within).last().unwrap_or(0);
        let expected: Vec<Vec<u32>> = answer.visited[..count].iter().map(|path| places(path)).collect();
        prop_assert_eq!(path_count, expected);
        prop_assert!(best_path.effort.nodes <= limit.max(task.waiting.len() as u64));
        prop_assert_eq!(best_path.exhausted, count == answer.visited.len());
    }

    /// Models with the uniqueness property: the best of all permutations, whatever the order of
    /// visits. The criterion here is the one that the paper says each model is equivalent to.
    #[test]
    fn unique_objectives_reach_the_optimum(
        (task, problem) in moments(7), model in 0usize..3, x in 0usize..10, y in 0usize..10, lds in any::<bool>(), lxf in any::<bool>(),
    ) {
        prop_assume!(x != y);
        let (version, model) = [(Version::A, ObjectiveModel::Lexical), (Version::B, ObjectiveModel::Tradeoff), (Version::C, ObjectiveModel::Tradeoff)][model];
        let objective = GoalObjective { model, version, measures: vec![MEASURES[x].0, MEASURES[y].0], weights: Vec::new(), differences: Differences::Strict };
        prop_assert!(objective.is_unique());
        let traversal = if lds { Traversal::Lds } else { Traversal::Dds };
        let branching = if lxf { Branching::Lxf } else { Branching::Fcfs };
        let schedule = GoalSearch::default().run(&task, &GoalSettings { traversal, branching, ..settings(objective) }, None);
        prop_assert!(schedule.exhausted);
        let measures = [MEASURES[x].1, MEASURES[y].1];
        let references = problem.reference_values(&measures);
        prop_assume!(version != Version::C || references.iter().all(|&r| r > 0));
        // By how much equal sums of slowdowns may differ: each job's is rounded, in both schedules.
        let tolerances = measures.map(|m| if m == naive::NaiveMeasure::Slowdown { 2 * task.waiting.len() as i64 } else { 0 });
        let better = |own_values: &[i64], rival_values: &[i64]| {
            let [x, y] = [0, 1].map(|at| rival_values[at] as f64);
            let [our_x, our_y] = [0, 1].map(|at| (own_values[at] - tolerances[at]) as f64);
            let nearly = 1.0 - 1e-12;
            match (model, version) {
                (ObjectiveModel::Lexical, _) => x < our_x || x <= (own_values[0] + tolerances[0]) as f64 && y < our_y,
                (_, Version::B) => x * y < our_x * our_y * nearly,
                _ => {
                    let [a, b] = [0, 1].map(|at| references[at] as f64);
                    x / a + y / b < (our_x / a + our_y / b) * nearly
                }
            }
        };
        for path in naive::list_permutations(task.waiting.len()) {
            let starts = problem.schedule_order(&path);
            let search_values = measures.map(|m| problem.measure_value(m, &starts));
            prop_assert!(!better(&schedule.values, &search_values), "{path:?}: {search_values:?} is better than {:?}", schedule.values);
        }
    }

    /// Pruned and unpruned searches to the end agree even on queues that are searched for a long
    /// time, and no pruned one places more nodes.
    #[test]
    fn pruning_changes_nothing_but_the_effort((task, _) in moments(8), (settings, _) in goals()) {
        let mut search = GoalSearch::default();
        let [never, placement, earliest, beside] = [Prune::Never, Prune::Placed, Prune::Earliest, Prune::Beside]
            .map(|prune| search.run(&task, &GoalSettings { prune, ..settings.clone() }, None));
        prop_assert_eq!((&never.path, &never.values), (&placement.path, &placement.values));
        prop_assert_eq!((&never.path, &never.values), (&earliest.path, &earliest.values));
        prop_assert_eq!((&never.path, &never.values), (&beside.path, &beside.values));
        prop_assert!(beside.effort.nodes <= earliest.effort.nodes && earliest.effort.nodes <= placement.effort.nodes && placement.effort.nodes <= never.effort.nodes);
        prop_assert_eq!(never.effort.improvements, earliest.effort.improvements);
    }

    /// Longer queues under a limit: every start is possible, and no worse than the heuristic path.
    /// A search that goes on longer does not end with something that its objective likes less.
    #[test]
    fn schedules_are_sound((task, problem) in moments(40), (settings, goal) in goals(), limit in 0u64..3000) {
        let mut search = GoalSearch::default();
        let short = search.run(&task, &GoalSettings { nodes: Some(limit), ..settings.clone() }, None);
        let order: Vec<usize> = short.path.iter().map(|&place| place as usize).collect();
        let starts: Vec<i64> = short.starts.iter().map(|s| s + problem.now).collect();
        prop_assert_eq!(&problem.schedule_order(&order), &starts, "each job at its earliest place");
        let values: Vec<i64> = goal.measures.iter().map(|&m| problem.measure_value(m, &starts)).collect();
        prop_assert_eq!(&values, &short.values);
        let heuristic = search.run(&task, &GoalSettings { nodes: Some(0), ..settings.clone() }, None);
        prop_assert!(short.values == heuristic.values || short.effort.improvements > 0);
        // A local search from there takes better paths only, within the limit; its result is also
        // sound.
        let local = search.run(&task, &GoalSettings { nodes: Some(limit), local: 40, ..settings.clone() }, None);
        let order: Vec<usize> = local.path.iter().map(|&place| place as usize).collect();
        let starts: Vec<i64> = local.starts.iter().map(|s| s + problem.now).collect();
        prop_assert_eq!(&problem.schedule_order(&order), &starts);
        prop_assert!(local.effort.nodes <= limit.max(task.waiting.len() as u64));
        let tree = search.run(&task, &GoalSettings { nodes: Some(limit - limit * 40 / 100), ..settings.clone() }, None);
        prop_assert!(local == tree || local.effort.nodes > tree.effort.nodes);
        prop_assert!(local.values == tree.values || local.effort.improvements > tree.effort.improvements);
        if settings.objective.is_unique() {
            let references = problem.reference_values(&goal.measures);
            prop_assert!(!problem.is_better(&goal, &references, &heuristic.values, &short.values));
            prop_assert!(!problem.is_better(&goal, &references, &tree.values, &local.values));
        }
        // The scratch of earlier searches leaves no trace.
        prop_assert_eq!(GoalSearch::default().run(&task, &GoalSettings { nodes: Some(limit), ..settings }, None), short);
    }

    /// A local search that no limit ends is done where no neighbour of the best path is better: no
    /// two of its jobs, the later one put before the earlier one, the earlier one behind the later
    /// one, or both exchanged.
    #[test]
    fn local_search_ends_where_no_neighbour_is_better((task, problem) in moments(7), (settings, goal) in goals()) {
        // Where the best schedule depends on the order of comparisons, a search may go round in
        // circles.
        prop_assume!(settings.objective.is_unique());
        let schedule = GoalSearch::default().run(&task, &GoalSettings { nodes: Some(1_000_000), local: 100, ..settings }, None);
        let references = problem.reference_values(&goal.measures);
        let path: Vec<usize> = schedule.path.iter().map(|&place| place as usize).collect();
        for neighbour in neighbours(&path) {
            let starts = problem.schedule_order(&neighbour);
            let values: Vec<i64> = goal.measures.iter().map(|&m| problem.measure_value(m, &starts)).collect();
            let better = problem.is_better(&goal, &references, &values, &schedule.values);
            prop_assert!(!better, "{:?} is better than {:?}", neighbour, path);
        }
    }

    /// Backfilling as reference: version C needs what EASY would do.
    #[test]
    fn references_agree_with_the_definition((task, problem) in moments(12), x in 0usize..10) {
        let objective = GoalObjective { version: Version::C, measures: vec![MEASURES[x].0], ..GoalObjective::default() };
        let references = GoalSearch::default().reference_values(&task, &objective);
        prop_assert_eq!(references, problem.reference_values(&[MEASURES[x].1]));
    }
}

/// Time is up after this many looks.
#[derive(Debug)]
struct Looks(AtomicU32);

impl Stopwatch for Looks {
    fn start_timer(&mut self, _: Duration) {}

    fn is_up(&self) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |rest| rest.checked_sub(1)).is_err()
    }
}

/// A time limit ends the search soon after the stopwatch says so, at queues of any length: no more
/// than some ten thousand steps of the plan lie between two looks. Without a limit in the settings
/// it never looks.
#[test]
fn the_stopwatch_is_looked_at_often_enough() {
    for waiting in [1, 2, 10, 100, 1000, 5000] {
        let job = |i: i64| candidate(-i, 1 + (i * 7 % 60) as u32, 60 + i * 37 % 5000);
        let task = GoalTask {
            now: Time(0),
            free: 0,
            running: vec![(Time(50), 64)],
            waiting: (0..waiting).rev().map(job).collect(),
            ..GoalTask::default()
        };
        let limit_settings = GoalSettings {
            budget: Some(Duration::from_secs(1)),
            prune: Prune::Never,
            ..settings(GoalObjective::default())
        };
        for looks in [0, 1, 3] {
            let watch = Looks(AtomicU32::new(looks));
            let schedule = GoalSearch::default().run(&task, &limit_settings, Some(&watch));
            assert!(schedule.exhausted || watch.0.into_inner() == 0);
            assert_eq!(schedule.exhausted, waiting == 1 || (waiting == 2 && looks > 0), "{waiting} jobs");
            let nodes = schedule.effort.nodes;
            assert!(nodes * (waiting as u64 + 2) <= 5 * (1 << 14), "{waiting} jobs: {nodes} nodes, {looks} looks");
            // A job that was not placed has no start; the path is the beginning of the heuristic
            // path.
            let start_count = schedule.starts.iter().filter(|&&start| start < i64::MAX).count();
            assert_eq!(start_count, schedule.path.len());
            assert_eq!(start_count == waiting as usize, !schedule.values.is_empty());
            assert!(start_count > 0 && start_count as u64 <= nodes);
        }
    }
    let watch = Looks(AtomicU32::new(0));
    let free_settings = settings(GoalObjective::default());
    let schedule =
        GoalSearch::default().run(&four(), &GoalSettings { prune: Prune::Never, ..free_settings }, Some(&watch));
    assert!(schedule.exhausted);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The result does not depend on threads: not the schedule, not a single node, with any limit
    /// and to the end.
    #[test]
    fn threads_change_nothing((task, _) in moments(40), (settings, _) in goals(), limit in 8_000u64..60_000, few in 2u32..9) {
        let mut search = GoalSearch::default();
        let settings = GoalSettings { nodes: Some(limit), ..settings };
        let single = search.run(&task, &settings, None);
        for threads in [2, few] {
            let many = search.run(&task, &GoalSettings { threads, ..settings.clone() }, None);
            prop_assert_eq!(&many, &single, "{} threads", threads);
        }
        let beyond = GoalSettings { local: 30, prune: Prune::Beside, ..settings };
        let single = search.run(&task, &beyond, None);
        for threads in [2, few] {
            let many = search.run(&task, &GoalSettings { threads, ..beyond.clone() }, None);
            prop_assert_eq!(&many, &single, "{} threads", threads);
        }
    }
}

/// Returns the result of DDS within a limit, on one thread as on several, where `n` equal jobs
/// follow each other, no path is better than the first one, and nothing is pruned.
fn on_any_threads(n: usize, limit: u64) -> FoundSchedule {
    let task = one_at_a_time(&vec![100; n]);
    let settings =
        GoalSettings { branching: Branching::Fcfs, prune: Prune::Never, ..settings(GoalObjective::default()) };
    let [single, two, three] = [1, 2, 3].map(|threads| {
        GoalSearch::default().run(&task, &GoalSettings { nodes: Some(limit), threads, ..settings.clone() }, None)
    });
    assert_eq!(single, two);
    assert_eq!(single, three);
    single
}

/// Nodes of an iteration of DDS for `n` jobs: all there are above the depth of the iteration, there
/// all but the first of each, and the rest of each path. The first path of an iteration shares
/// nothing with the last one before.
fn nodes_of_dds(n: u64, iteration: u64) -> u64 {
    let at = |depth: u64| (n - depth + 1..=n).product::<u64>();
    let (above, rest) = ((1..iteration).map(at).sum::<u64>(), n - iteration);
    above + at(iteration - 1) * rest * (1 + rest)
}

/// Limits where a subtree ends, or where a path ends, or just before or behind that, so large that
/// threads are worth it. In iteration 2 there are 20 paths of 1 + 20·21 nodes below each of 22
/// jobs.
#[test]
fn threads_stop_at_the_same_node() {
    let first = 22 + nodes_of_dds(22, 1);
    let below = nodes_of_dds(22, 2) / 22;
    assert_eq!((first, below), (22 + 21 * 22, 1 + 20 * 21));
    for (subtrees, more, paths) in
        [(20, 0, 0), (20, 1, 0), (21, 0, 0), (21, 21, 0), (21, 22, 1), (21, 42, 1), (21, 43, 2)]
    {
        let limit = first + subtrees * below + more;
        let schedule = on_any_threads(22, limit);
        let effort = (schedule.effort.nodes, schedule.effort.paths, schedule.exhausted);
        assert_eq!(effort, (limit, 22 + subtrees * 20 + paths, false), "{subtrees} subtrees and {more} nodes");
    }
}

/// In the last iteration for 8 jobs: a limit that is used up by the first subtree leaves others,
/// and the tree is not exhausted.
#[test]
fn threads_do_not_take_a_subtree_for_the_tree() {
    let before = 8 + (1..7).map(|iteration| nodes_of_dds(8, iteration)).sum::<u64>();
    let limit = before + nodes_of_dds(8, 7) / 8;
    let schedule = on_any_threads(8, limit);
    assert_eq!((schedule.effort.nodes, schedule.exhausted), (limit, false));
}
