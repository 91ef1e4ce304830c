//! A seed gives one result on any number of threads, in one go or resumed, and the result is no
//! worse than the starting point.

use drystone::generate::{Params, WorkloadLength, generate_workload};
use drystone::metrics::MeasureObjective;
use drystone::model::{Span, Workload};
use drystone::parts::formula::NAMED;
use drystone_evolve::{
    ChoiceGround, EvolveSearch, EvolveSettings, EvolveState, JudgedPolicy, LogWeeks, ObjectiveGuard, Template,
    judge_policies,
};
use std::sync::atomic::AtomicBool;

fn workload() -> Workload {
    let length = WorkloadLength::Span(Span(6 * Span::WEEK.0));
    generate_workload(&Params { length, load: Some(0.9), seed: 3, ..Params::new(64, 1) }).expect("good parameters")
}

const PARTS: LogWeeks = LogWeeks { weeks: 1, count: 2 };

fn ground(workload: &Workload, guard: Option<&str>) -> ChoiceGround {
    let guard: Option<ObjectiveGuard> = guard.map(|text| text.parse().expect(text));
    ChoiceGround::new(workload, PARTS, MeasureObjective::default(), guard.as_ref(), Template::default())
        .expect("long enough")
}

fn settings() -> EvolveSettings {
    EvolveSettings { population: 12, seed: 5, ..EvolveSettings::default() }
}

fn searched(ground: &ChoiceGround, threads: usize, generations: usize) -> EvolveState {
    let mut search = EvolveSearch::new(ground, settings(), threads, "test".to_string());
    let stop = AtomicBool::new(false);
    for _ in 0..generations {
        search.breed_generation(&stop).expect("no failure").expect("not stopped");
    }
    search.state().clone()
}

#[test]
fn a_search_is_determined_by_its_seed() {
    let workload = workload();
    let ground = ground(&workload, None);
    let whole = searched(&ground, 1, 3);
    assert_eq!(searched(&ground, 3, 3), whole);
    let before = serde_json::to_string(&searched(&ground, 2, 2)).expect("a state can be saved");
    let search = EvolveSearch::new(&ground, settings(), 2, "test".to_string());
    let mut second_search = search.resume_from(&before).expect("the same search");
    second_search.breed_generation(&AtomicBool::new(false)).expect("no failure").expect("not stopped");
    assert_eq!(*second_search.state(), whole);
    // What it began with is among what it keeps, or something better is.
    let fcfs = ground.score_formula("s", &AtomicBool::new(false)).expect("no failure").expect("not stopped");
    assert!(whole.population[0].score.quality <= fcfs.quality);
    assert!(whole.population.windows(2).all(|pair| pair[0].score.excess <= pair[1].score.excess));
    assert_eq!((whole.generation, whole.random_evaluations > 0), (3, true));
}

/// Several logs: the value is the mean of those on each, as multiples of that of first come, first
/// served, and the guard is that of the log on which it is exceeded most.
#[test]
fn several_logs_count_alike() {
    let length = WorkloadLength::Span(Span(4 * Span::WEEK.0));
    let changed_search =
        generate_workload(&Params { length, load: Some(0.7), seed: 8, ..Params::new(32, 1) }).expect("good parameters");
    let (first, guard) = (workload(), "wait_max<=0.8*easy");
    let guard_spec: ObjectiveGuard = guard.parse().expect(guard);
    let grounds = [ground(&first, Some(guard)), ground(&changed_search, Some(guard))];
    let joint_ground =
        ground(&first, Some(guard)).with_log(&changed_search, PARTS, Some(&guard_spec)).expect("long enough");
    assert_eq!(joint_ground.jobs(), grounds.iter().map(ChoiceGround::jobs).sum::<usize>());
    let score = |ground: &ChoiceGround, formula: &str| {
        ground.score_formula(formula, &AtomicBool::new(false)).expect("no failure").expect("not stopped")
    };
    let reference = [0, 1].map(|at| score(&grounds[at], "fcfs").quality);
    for formula in ["fcfs", "spf", "n*r", "-w"] {
        let alone = [0, 1].map(|at| score(&grounds[at], formula));
        let mean = (alone[0].quality / reference[0] + alone[1].quality / reference[1]) / 2.0;
        let of_both = score(&joint_ground, formula);
        assert!((of_both.quality - mean).abs() < 1e-12, "{formula}: {} of {mean}", of_both.quality);
        assert_eq!(of_both.excess, alone[0].excess.max(alone[1].excess), "{formula}");
    }
}

#[test]
fn a_search_that_is_stopped_changes_nothing() {
    let workload = workload();
    let ground = ground(&workload, None);
    let mut search = EvolveSearch::new(&ground, settings(), 1, "test".to_string());
    assert!(search.breed_generation(&AtomicBool::new(true)).expect("no failure").is_err());
    assert_eq!((search.state().generation, search.state().evaluations), (0, 0));
}

#[test]
fn a_saved_search_of_another_log_is_refused() {
    let workload = workload();
    let ground = ground(&workload, None);
    let state = serde_json::to_string(&searched(&ground, 1, 1)).expect("a state can be saved");
    let foreign_search = EvolveSearch::new(&ground, settings(), 1, "another".to_string());
    let error = foreign_search.resume_from(&state).err().expect("another search").to_string();
    assert!(error.contains("of another search: test"), "{error}");
    let search = EvolveSearch::new(&ground, settings(), 1, "test".to_string());
    assert!(search.resume_from("{").err().expect("no state").to_string().contains("unreadable"));
}

/// With a bound that the first come, first served order keeps by definition, what is best keeps it.
#[test]
fn what_is_best_keeps_the_guard() {
    let workload = workload();
    let ground = ground(&workload, Some("wait_max<=1*easy"));
    let state = searched(&ground, 2, 2);
    assert_eq!(state.population[0].score.excess, 0.0, "{:?}", state.population[0]);
    assert!(ground.bound().is_some_and(|bound| bound > 0.0));
}

/// However short the search and whatever it begins with, no named order is better on its weeks than
/// the best of its front.
#[test]
fn no_named_order_is_better_on_the_chosen_weeks() {
    let (workload, stop) = (workload(), AtomicBool::new(false));
    for guard in [None, Some("wait_max<=1.2*easy")] {
        let ground = ground(&workload, guard);
        let settings = EvolveSettings { population: 2, start: vec!["-s".to_string()], ..settings() };
        let mut search = EvolveSearch::new(&ground, settings, 2, "test".to_string());
        search.breed_generation(&stop).expect("no failure").expect("not stopped");
        search.polish_front(&stop).expect("no failure").expect("not stopped");
        let best = search.state().front.last().expect("a formula").score;
        for order in NAMED.iter().filter(|order| order.name != "site") {
            let score = ground.score_formula(order.name, &stop).expect("no failure").expect("not stopped");
            assert!(best.compare(&score).is_le(), "{}: {best:?} {score:?}", order.name);
        }
    }
}

/// A guard is measured on the weeks that were not seen, by its policy there.
#[test]
fn a_guard_has_a_bound_on_unseen_weeks() {
    let workload = workload();
    let easy = JudgedPolicy { name: "easy".to_string(), policy: "easy".parse().expect("a policy") };
    let guard: ObjectiveGuard = "wait_max<=1.5*easy".parse().expect("a guard");
    let stop = AtomicBool::new(false);
    let on_log = judge_policies(&workload, Some(PARTS), (MeasureObjective::default(), Some(&guard)), &[easy], &stop);
    let on_log = on_log.expect("no failure").expect("not stopped");
    let longest = on_log.verdicts[0].unseen_longest_wait;
    assert!(longest > 0.0);
    assert_eq!((on_log.unseen_bound, on_log.verdicts[0].unseen_guarded), (Some(1.5 * longest), Some(longest)));
}

/// Against itself a policy changes nothing, and weeks seen and unseen are all weeks.
#[test]
fn verdicts_are_about_all_weeks() {
    let workload = workload();
    let entry = |name: &str, text: &str| JudgedPolicy { name: name.to_string(), policy: text.parse().expect(text) };
    let policies = [entry("easy", "easy"), entry("again", "easy(order=s,backfill=s)"), entry("sjf", "sjf")];
    let stop = AtomicBool::new(false);
    let on_log = judge_policies(&workload, Some(PARTS), (MeasureObjective::default(), None), &policies, &stop);
    let on_log = on_log.expect("no failure").expect("not stopped");
    // Parts 0, 2, 4 are to choose by; two of them are simulated.
    assert_eq!(on_log.seen_weeks, 2);
    assert!((4..=5).contains(&on_log.unseen_weeks), "{}", on_log.unseen_weeks);
    let [_, again, sjf] = &on_log.verdicts[..] else { panic!("three policies") };
    assert_eq!((again.unseen_change, again.interval), (0.0, Some((0.0, 0.0))));
    let (low, high) = sjf.interval.expect("enough weeks");
    assert!(low <= sjf.unseen_change && sjf.unseen_change <= high, "{sjf:?}");
}

#[test]
fn a_log_that_is_too_short_is_refused() {
    let params = Params { load: Some(0.9), seed: 3, ..Params::new(64, 200) };
    let workload = generate_workload(&params).expect("good parameters");
    let parts = LogWeeks { weeks: 52, count: 2 };
    let error = ChoiceGround::new(&workload, parts, MeasureObjective::default(), None, Template::default()).err();
    assert!(error.expect("too short").to_string().contains("two parts of 52 weeks"));
}
