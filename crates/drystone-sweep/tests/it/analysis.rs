//! Rankings and fronts, computed by hand.

use drystone::inference::{PeriodSum, positive_mean_interval};
use drystone_sweep::analysis::{
    CandidateTable, CaseSelection, CellStanding, Front, Ranking, ReplicatedTable, StudyCandidate, Subspace,
};
use drystone_sweep::{DesignLevel, Metric, PlanOutcome, SimulationValues, Store, SweepPlan, SweepStudy};
use std::path::Path;

fn table(metrics: &[&str], cases: &[&str], values: &[&[f64]]) -> CandidateTable {
    let candidates = values.iter().enumerate().map(|(at, values)| StudyCandidate {
        number: at + 1,
        name: "p".to_string(),
        policy: format!("p{}", at + 1),
        policies: Vec::new(),
        point: vec![Some(DesignLevel::Int(at as i64 + 1))],
        values: values.to_vec(),
        simulations: vec![at as i64 + 1; cases.len()],
    });
    CandidateTable {
        parameters: vec!["size".to_string()],
        metrics: metrics.iter().map(|m| m.parse::<Metric>().expect("a metric").into()).collect(),
        cases: cases.iter().map(|c| (*c).to_string()).collect(),
        candidates: candidates.collect(),
        incomplete: 0,
        undefined: Vec::new(),
    }
}

#[test]
fn degradation_from_the_best_of_each_test_case_averaged() {
    // Best: 10 and 10. Degradations: (0, 100), (100, 0), (20, 40).
    let table = table(&["wait_mean"], &["a", "b"], &[&[10.0, 20.0], &[20.0, 10.0], &[12.0, 14.0]]);
    let ranking = Ranking::from_table(&table);
    let order: Vec<(usize, f64)> = ranking.ranked.iter().map(|r| (r.candidate, r.average)).collect();
    assert_eq!(order[1..], [(0, 50.0), (1, 50.0)], "equals in the order of the study");
    assert!(order[0].0 == 2 && (order[0].1 - 30.0).abs() < 1e-9, "{order:?}");
    assert_eq!(ranking.tests[1].policy, "p2");
    let whole = ranking.overall_quality().expect("candidates");
    assert_eq!((whole.count, whole.best_rank, whole.worst_rank), (3, 1, 2));
    let ranks: Vec<usize> = ranking.ranked.iter().map(|r| r.rank).collect();
    assert_eq!(ranks, [1, 2, 2], "equals share a rank");
    assert!((whole.mean - 130.0 / 3.0).abs() < 1e-9);
    // Deviations −40/3, 20/3, 20/3: variance (1600 + 400 + 400) / 9 / 3.
    assert!((whole.deviation - (2400.0f64 / 27.0).sqrt()).abs() < 1e-9);
    let subspace = Subspace::parse("size<=2", &table.parameters).expect("conditions");
    let spread = ranking.subspace_quality(&table, &subspace).expect("two");
    assert_eq!((spread.count, spread.min, spread.max, spread.best_rank, spread.worst_rank), (2, 50.0, 50.0, 2, 2));
    let empty_space = Subspace::parse("size>7", &table.parameters).expect("conditions");
    assert_eq!(ranking.subspace_quality(&table, &empty_space), None);
}

/// By wait the first is best, by utilisation the third; the average of both degradations hides
/// that.
#[test]
fn each_metric_has_ranks_of_its_own() {
    // Waits 0, 10, 100 %; utilisations 100, 60 and 0 % short of 0.8; averages 50, 35, 50.
    let table = table(&["wait_mean", "utilisation"], &["a"], &[&[10.0, 0.4], &[11.0, 0.5], &[20.0, 0.8]]);
    assert!(table.mixes_kinds());
    let ranking = Ranking::from_table(&table);
    let ranks: Vec<(usize, Vec<usize>)> = ranking.ranked.iter().map(|r| (r.candidate, r.by_metric.clone())).collect();
    assert_eq!(ranks, [(1, vec![2, 2]), (0, vec![1, 3]), (2, vec![3, 1])]);
    let subspace = Subspace::parse("size!=2", &table.parameters).expect("conditions");
    let within = ranking.within_subspace(&table, &subspace);
    assert_eq!(within.ranked[0].by_metric, [1, 2]);
}

#[test]
fn more_may_be_better() {
    // Utilisation 0.8 is the best; 0.4 would have to double: 100 %.
    let table = table(&["utilisation"], &["a"], &[&[0.4], &[0.8]]);
    let ranking = Ranking::from_table(&table);
    assert_eq!(ranking.ranked[0].candidate, 1);
    assert_eq!(ranking.ranked[1].average, 100.0);
}

/// Of 0 nothing is a multiple: waits of 0, 2 and 6 s are 0, 100 and 300 % of the smallest above 0.
/// Of utilisations 0, 0.4 and 0.8 the second would have to double, and 0 is a step behind it.
#[test]
fn values_beside_a_zero_are_measured_in_the_smallest_above_it() {
    let waits = table(&["wait_mean"], &["a"], &[&[6.0], &[0.0], &[2.0], &[0.0]]);
    let ranking = Ranking::from_table(&waits);
    let ranks: Vec<(usize, usize, f64)> = ranking.ranked.iter().map(|r| (r.rank, r.candidate, r.average)).collect();
    assert_eq!(ranks, [(1, 1, 0.0), (1, 3, 0.0), (3, 2, 100.0), (4, 0, 300.0)]);
    assert_eq!((waits.zero_tests(), ranking.tests[0].best), (vec![0], 0.0));
    let more = table(&["utilisation"], &["a"], &[&[0.4], &[0.0], &[0.8]]);
    let ranks: Vec<(usize, f64)> = Ranking::from_table(&more).ranked.iter().map(|r| (r.candidate, r.average)).collect();
    assert_eq!(ranks, [(2, 0.0), (0, 100.0), (1, 200.0)]);
    // Beside a test case without zeros it counts as much: (0 + 100) / 2 and (100 + 0) / 2.
    let two = table(&["wait_mean"], &["a", "b"], &[&[0.0, 20.0], &[3.0, 10.0]]);
    let averages: Vec<f64> = Ranking::from_table(&two).ranked.iter().map(|r| r.average).collect();
    assert_eq!((averages, two.zero_tests()), (vec![50.0, 50.0], vec![0]));
}

#[test]
fn where_all_have_zero_nobody_is_worse() {
    // (0 + 100) / 2 for the second.
    let table = table(&["wait_mean"], &["idle", "busy"], &[&[0.0, 10.0], &[0.0, 20.0]]);
    let ranking = Ranking::from_table(&table);
    let averages: Vec<f64> = ranking.ranked.iter().map(|r| r.average).collect();
    assert_eq!(averages, [0.0, 50.0]);
    assert_eq!(Front::from_table(&table).members.len(), 1);
}

#[test]
fn shares_of_ranks() {
    // Forty candidates in the order of their size: ranks are sizes, each bin holds two.
    let values: Vec<Vec<f64>> = (0..40).map(|i| vec![10.0 + f64::from(i)]).collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let table = table(&["wait_mean"], &["a"], &values);
    let ranking = Ranking::from_table(&table);
    let distributions = ranking.value_distributions(&table);
    assert_eq!((distributions[0].shares.len(), &distributions[0].configurations), (40, &vec![2; 20]));
    let shares = &distributions[0].group_numbers().shares;
    // Six groups of seven, the last of five.
    let names: Vec<&str> = shares.iter().map(|s| s.value.as_str()).collect();
    assert_eq!(names, ["1..7", "8..14", "15..21", "22..28", "29..35", "36..40"]);
    assert_eq!(shares[0].bins[..5], [Some(1.0), Some(1.0), Some(1.0), Some(0.5), Some(0.0)]);
    assert_eq!(shares[1].bins[..5], [Some(0.0), Some(0.0), Some(0.0), Some(0.5), Some(1.0)]);
    for bin in 0..20 {
        let sum: f64 = shares.iter().filter_map(|s| s.bins[bin]).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }
    let against = ranking.value_degradations(&table);
    assert_eq!(against[0].values[0].0, "1");
    // Size 40: 49 is 390 % more than 10.
    assert!((against[0].values[39].1.mean - 390.0).abs() < 1e-9);
    // Among the twenty largest ranks count from 1 again, one in each bin; nothing else changes.
    let large = Subspace::parse("size>20", &table.parameters).expect("a condition");
    let within = ranking.within_subspace(&table, &large);
    let ends = [&within.ranked[0], &within.ranked[19]].map(|entry| (entry.rank, entry.candidate));
    assert_eq!((within.ranked.len(), ends), (20, [(1, 20), (20, 39)]));
    assert!((within.ranked[0].average - 200.0).abs() < 1e-9, "30 is 200 % more than 10");
    let shares = &within.value_distributions(&table)[0];
    assert_eq!((shares.shares.len(), &shares.configurations), (20, &vec![1; 20]));
    assert_eq!(shares.shares[0].bins[..2], [Some(1.0), Some(0.0)]);
}

/// Sixteen configurations of 20: twelve of size 1 share the first rank, four of size 3 the 13th,
/// and four more are behind. In the first 5 % are twelve, and none in the next 55 %.
#[test]
fn who_shares_a_rank_shares_a_bin_and_bins_are_merged_by_what_is_in_them() {
    let values: Vec<Vec<f64>> = (0..20)
        .map(|i| {
            vec![if i < 12 {
                10.0
            } else if i < 16 {
                20.0
            } else {
                11.0 + f64::from(i)
            }]
        })
        .collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let mut table = table(&["wait_mean"], &["a"], &values);
    for (at, candidate) in table.candidates.iter_mut().enumerate() {
        candidate.point = vec![Some(DesignLevel::Int(if at < 12 { 1 } else { 3 }))];
    }
    let distribution = Ranking::from_table(&table).value_distributions(&table).remove(0);
    let counts: Vec<usize> = distribution.configurations.clone();
    assert_eq!((counts[0], counts[12], counts[16..].to_vec()), (12, 4, vec![1; 4]));
    assert_eq!(counts.iter().sum::<usize>(), 20);
    assert_eq!((distribution.shares[0].bins[0], distribution.shares[0].bins[1]), (Some(1.0), None));
    // The first 65 %: twelve of sixteen, and not the mean of all and none.
    let merged_bins = distribution.merge_bins(&[0, 13, 20]);
    assert_eq!(merged_bins.shares[0].bins, [Some(0.75), Some(0.0)]);
    assert_eq!(merged_bins.shares[1].bins, [Some(0.25), Some(1.0)]);
}

/// Words have no neighbours.
#[test]
fn words_stay_by_themselves() {
    let values: Vec<Vec<f64>> = (0..22).map(|i| vec![10.0 + f64::from(i)]).collect();
    let values: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let mut table = table(&["wait_mean"], &["a"], &values);
    for (at, candidate) in table.candidates.iter_mut().enumerate().filter(|(at, _)| *at >= 12) {
        candidate.point = vec![Some(DesignLevel::Text(format!("w{at}")))];
    }
    let distribution = Ranking::from_table(&table).value_distributions(&table).remove(0).group_numbers();
    let names: Vec<&str> = distribution.shares.iter().map(|s| s.value.as_str()).collect();
    assert_eq!(names[..7], ["1..2", "3..4", "5..6", "7..8", "9..10", "11..12", "w12"]);
    assert_eq!(names.len(), 16);
}

/// Sums of the same numbers in another order may differ in the last bit; 0.1 + 0.2 is not 0.3
/// either.
#[test]
fn the_last_bit_makes_nobody_better() {
    let near = [0.1 + 0.2, 0.3];
    assert_ne!(near[0], near[1]);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("study.db");
    let text = "metrics = [\"accuracy\"]\n[[workload]]\ngenerate = { procs = 4, jobs = 3, load = 0.5 }\n[[policy]]\n\
        policy = \"easy(reserve={k})\"\n[policy.parameters]\nk = [1, 2, 3]\n";
    let study = SweepStudy::parse(Path::new("study.toml"), text.to_string()).expect("a study");
    let plan = SweepPlan::from_study(&study, None).expect("a plan");
    let mut store = Store::open(&path, &plan, None).expect("a store");
    let of = |place: usize, value: f64| PlanOutcome {
        place,
        measured: SimulationValues { values: vec![Some(value)], weeks: Vec::new(), error: None },
    };
    store.record_outcomes(&plan, &[of(0, near[0]), of(1, near[1]), of(2, 0.2)]).expect("recorded");
    let table = CandidateTable::from_store(&store, &CaseSelection::default()).expect("a table");
    let ranks: Vec<usize> = Ranking::from_table(&table).ranked.iter().map(|r| r.rank).collect();
    assert_eq!(ranks, [1, 1, 3]);
    assert_eq!(Front::from_table(&table).members.len(), 2);
}

/// `as` gives one workload another variant of the policy; a test case's best is the one that was
/// simulated there.
#[test]
fn a_policy_is_called_what_it_was_where_it_was_simulated() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("study.db");
    let text = "metrics = [\"wait_mean\"]\n[[workload]]\nname = \"a\"\nas = \"tsafrir2007\"\n\
        generate = { procs = 4, jobs = 3, load = 0.5 }\n[[workload]]\nname = \"b\"\n\
        generate = { procs = 4, jobs = 3, load = 0.5 }\n[[policy]]\npolicy = \"easy(predict=recent({n}))\"\n\
        [policy.parameters]\nn = [1, 2]\n";
    let study = SweepStudy::parse(Path::new("study.toml"), text.to_string()).expect("a study");
    let plan = SweepPlan::from_study(&study, None).expect("a plan");
    let mut store = Store::open(&path, &plan, None).expect("a store");
    let of = |place: usize| PlanOutcome {
        place,
        measured: SimulationValues { values: vec![Some(10.0 + place as f64)], weeks: Vec::new(), error: None },
    };
    store.record_outcomes(&plan, &(0..4).map(of).collect::<Vec<_>>()).expect("recorded");
    let table = CandidateTable::from_store(&store, &CaseSelection::default()).expect("a table");
    assert_eq!(table.candidates[0].policy, "easy(predict=recent(1))");
    assert_eq!(table.candidates[0].policies, ["easy@tsafrir2007(predict=recent(1))", "easy(predict=recent(1))"]);
    let ranking = Ranking::from_table(&table);
    let bests: Vec<&str> = ranking.tests.iter().map(|t| t.policy.as_str()).collect();
    assert_eq!(bests, ["easy@tsafrir2007(predict=recent(1))", "easy(predict=recent(1))"]);
    let alone = CaseSelection { workloads: vec!["a".to_string()], ..CaseSelection::default() };
    let alone = CandidateTable::from_store(&store, &alone).expect("a table");
    assert_eq!(alone.candidates[1].policy, "easy@tsafrir2007(predict=recent(2))");
    assert!(alone.candidates[1].policies.is_empty());
    let twice = CaseSelection { metrics: vec!["wait_mean".to_string(); 2], ..CaseSelection::default() };
    assert!(CandidateTable::from_store(&store, &twice).is_err_and(|e| e.to_string().contains("given twice")));
}

#[test]
fn fronts() {
    // On one workload values as they are; more utilisation is better. The third is beaten, the
    // fourth equal to the first: neither beats the other.
    let single_case =
        table(&["wait_mean", "utilisation"], &["a"], &[&[10.0, 0.8], &[12.0, 0.9], &[11.0, 0.7], &[10.0, 0.8]]);
    let front = Front::from_table(&single_case);
    let members: Vec<usize> = front.members.iter().map(|m| m.candidate).collect();
    assert_eq!((members, front.degradations), (vec![0, 3, 1], false));
    // On two, mean degradations: waits (0 + 100)/2, (50 + 0)/2, 100; slowdowns 0, 50, 100: the
    // third is beaten.
    let two = table(
        &["wait_mean", "slowdown_mean"],
        &["a", "b"],
        &[&[10.0, 2.0, 40.0, 4.0], &[15.0, 3.0, 20.0, 6.0], &[20.0, 4.0, 40.0, 8.0]],
    );
    let front = Front::from_table(&two);
    let members: Vec<(usize, Vec<f64>)> = front.members.into_iter().map(|m| (m.candidate, m.values)).collect();
    assert_eq!(members, [(1, vec![25.0, 50.0]), (0, vec![50.0, 0.0])]);
    assert!(front.degradations);
}

/// Of 0 nothing is a multiple, but a front needs none: such a metric counts by its mean, the others
/// as ever.
#[test]
fn a_front_over_workloads_where_a_metric_is_0() {
    // Suspensions 0 + 6, 1 + 1, 0 + 0, 1 + 1; waits 0 % worse, 0 % + 100 %, 100 % + 100 %, 100 % +
    // 100 %.
    let two = table(
        &["suspensions", "wait_mean"],
        &["a", "b"],
        &[&[0.0, 10.0, 6.0, 20.0], &[1.0, 10.0, 1.0, 40.0], &[0.0, 20.0, 0.0, 40.0], &[1.0, 20.0, 1.0, 40.0]],
    );
    let front = Front::from_table(&two);
    let members: Vec<(usize, Vec<f64>)> = front.members.into_iter().map(|m| (m.candidate, m.values)).collect();
    assert_eq!(members, [(2, vec![0.0, 100.0]), (1, vec![1.0, 50.0]), (0, vec![3.0, 0.0])]);
    let means: Vec<String> = front.means.iter().map(ToString::to_string).collect();
    assert_eq!((means, front.degradations), (vec!["suspensions".to_string()], true));
    // More is better also by means: utilisation 0 of one workload hides nothing.
    let more = table(&["utilisation"], &["a", "b"], &[&[0.0, 0.6], &[0.4, 0.5], &[0.4, 0.4]]);
    let members: Vec<usize> = Front::from_table(&more).members.iter().map(|m| m.candidate).collect();
    assert_eq!(members, [1]);
    // In a ranking 0 is a step from the smallest value above it: 0 %, 100 %, 0 %, 100 % and 600 %,
    // 100 %, 0 %, 100 %.
    assert_eq!(two.zero_tests(), [0, 2]);
    let ranking = Ranking::from_table(&two);
    let first = ranking.ranked.iter().find(|entry| entry.candidate == 0).expect("ranked");
    assert_eq!(first.degradations, [0.0, 0.0, 600.0, 0.0]);
}

/// Four windows of ten jobs at two loads. Twice each value of the best is worse by a test, a mix of
/// larger and smaller ones is not, and equal means are both the best. A value is the mean of its
/// windows, which count alike.
#[test]
fn windows_are_replications_of_their_load() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = "metrics = [\"wait_mean\"]\nwindows = { jobs = 10, count = 4 }\n[[workload]]\nload = [1.0, 1.1]\n\
        generate = { procs = 4, jobs = 40, load = 0.5 }\n[[policy]]\npolicy = \"easy(reserve={k})\"\n[policy.parameters]\n\
        k = [1, 2, 3, 4]\n";
    let study = SweepStudy::parse(Path::new("study.toml"), text.to_string()).expect("a study");
    let plan = SweepPlan::from_study(&study, None).expect("a plan");
    assert_eq!((plan.cases.len(), plan.simulations.len()), (8, 32));
    let mut store = Store::open(dir.path().join("study.db"), &plan, None).expect("a store");
    let base = [10.0, 12.0, 14.0, 18.0];
    let value = |policy: usize, window: usize| match policy {
        0 => base[window],
        1 => 2.0 * base[window],
        2 => base[window] * [0.8, 1.4, 0.9, 1.2][window],
        _ => base[3 - window],
    };
    // Point by point, and of each the windows at load 1 before those at load 1.1.
    let of = |place: usize| PlanOutcome {
        place,
        measured: SimulationValues { values: vec![Some(value(place / 8, place % 4))], weeks: Vec::new(), error: None },
    };
    store.record_outcomes(&plan, &(0..32).map(of).collect::<Vec<_>>()).expect("recorded");
    let table = CandidateTable::from_store(&store, &CaseSelection::default()).expect("a table");
    let replicates = ReplicatedTable::from_store(&store, &table, 0.95).expect("replications");
    let loads: Vec<f64> = replicates.groups.iter().map(|group| group.load).collect();
    assert_eq!(loads, [1.0, 1.1]);
    for column in &replicates.columns {
        let means: Vec<f64> = column.cells.iter().map(|cell| cell.mean).collect();
        assert_eq!(means, [13.5, 27.0, (8.0 + 16.8 + 12.6 + 21.6) / 4.0, 13.5]);
        let standings: Vec<CellStanding> = column.cells.iter().map(|cell| cell.standing).collect();
        use CellStanding::{Behind, Best, Tied};
        assert_eq!(standings, [Best, Behind, Tied, Best]);
        let units = base.map(|sum| PeriodSum { sum, count: 1.0 });
        assert_eq!(column.cells[0].interval, positive_mean_interval(&units, 0.95));
    }
}

/// Windows that share jobs are no replications: a mean without interval, and without a test.
#[test]
fn windows_that_overlap_have_no_interval() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = "metrics = [\"wait_mean\"]\nwindows = { jobs = 30, from = [0, 1, 2, 3] }\n[[workload]]\n\
        generate = { procs = 4, jobs = 40, load = 0.5 }\n[[policy]]\npolicy = \"easy(reserve={k})\"\n[policy.parameters]\n\
        k = [1, 2]\n";
    let study = SweepStudy::parse(Path::new("study.toml"), text.to_string()).expect("a study");
    let plan = SweepPlan::from_study(&study, None).expect("a plan");
    let mut store = Store::open(dir.path().join("study.db"), &plan, None).expect("a store");
    let of = |place: usize| PlanOutcome {
        place,
        measured: SimulationValues { values: vec![Some(1.0 + place as f64)], weeks: Vec::new(), error: None },
    };
    store.record_outcomes(&plan, &(0..8).map(of).collect::<Vec<_>>()).expect("recorded");
    let table = CandidateTable::from_store(&store, &CaseSelection::default()).expect("a table");
    let column = &ReplicatedTable::from_store(&store, &table, 0.95).expect("replications").columns[0];
    let standings: Vec<CellStanding> = column.cells.iter().map(|cell| cell.standing).collect();
    assert_eq!(standings, [CellStanding::Best, CellStanding::Untested]);
    assert!(column.cells.iter().all(|cell| cell.interval.is_none()) && column.cells[0].mean == 2.5);
}
