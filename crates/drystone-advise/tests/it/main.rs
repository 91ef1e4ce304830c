//! Advice on a site whose simulations are made up: what is better, and by how much, is known
//! beforehand.

mod coverage;

use drystone_advise::{
    Advice, AdviceGoal, AdviceReason, AdviceSettings, AdviceStudy, CandidateSimulator, GoalGuard, KnobChange,
    LivePolicy, PassCost, PeriodFigures, SiteKnobs, give_advice,
};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A bench that looks its answers up: the mean wait and the longest wait of each week by a rule.
struct Made<F> {
    rule: F,
    asked: Vec<String>,
    told: Vec<String>,
    /// Number of simulations after which it is cancelled.
    stops_after: usize,
}

impl<F: Fn(&str, usize) -> f64> CandidateSimulator for Made<F> {
    type Error = Infallible;

    fn simulate(&mut self, policies: &[String], _: &str) -> Result<Vec<Option<PeriodFigures>>, Infallible> {
        let run_policy = |policy: &String| {
            if self.asked.len() >= self.stops_after {
                return None;
            }
            self.asked.push(policy.clone());
            let weeks: Vec<Vec<Vec<f64>>> = (0..WEEKS)
                .map(|week| {
                    // Mean, longest, and the five classes of widths, which all fare alike.
                    let wait = (self.rule)(policy, week);
                    [wait, 2.0 * wait].into_iter().chain([wait; 5]).map(|value| vec![value]).collect()
                })
                .collect();
            Some(PeriodFigures::of_values(&weeks))
        };
        Ok(policies.iter().map(run_policy).collect())
    }

    fn report_progress(&mut self, text: &str) {
        self.told.push(text.to_string());
    }
}

const WEEKS: usize = 10;

fn change(knob: &'static str, value: &str) -> KnobChange {
    KnobChange { knob, set: vec![(knob, value.to_string())] }
}

fn asked(
    rule: impl Fn(&str, usize) -> f64,
    guards: &[&str],
    stops_after: usize,
) -> (Option<Advice>, Vec<String>, Vec<String>) {
    let site = SiteKnobs {
        conf: None,
        more: Vec::new(),
        cost: PassCost::from_micros(1),
        instantaneous: false,
        longest: 60,
        ranks_qos: false,
    };
    let goal: AdviceGoal = "avgW".parse().expect("valid");
    let guards: Vec<GoalGuard> = guards.iter().map(|guard| guard.parse().expect("valid")).collect();
    let changes = vec![
        change("bf_window", "2880"),
        change("bf_window", "720"),
        change("bf_interval", "60"),
        change("bf_resolution", "300"),
    ];
    let live = vec![LivePolicy { policy: "easy".to_string() }, LivePolicy { policy: "easy++".to_string() }];
    let mut study = AdviceStudy::new(&site, (&goal, &guards), (changes, live), 3);
    let mut bench = Made { rule, asked: Vec::new(), told: Vec::new(), stops_after };
    let Ok(advice) = give_advice(&mut study, &mut bench, AdviceSettings::default());
    (advice, bench.asked, bench.told)
}

/// A wait of hours that depends on the week alone.
fn usual(week: usize) -> f64 {
    10_000.0 + 1_000.0 * (week % 3) as f64
}

#[test]
fn changes_that_help_are_combined_and_hold() {
    let rule = |policy: &str, week: usize| {
        let mut wait = usual(week);
        wait *= if policy.contains("bf_window=2880") { 0.8 } else { 1.0 };
        wait *= if policy.contains("bf_interval=60") { 0.9 } else { 1.0 };
        wait * if policy.contains("bf_resolution=300") { 1.1 } else { 1.0 }
    };
    let (advice, policies, messages) = self::asked(rule, &[], usize::MAX);
    let advice = advice.expect("nothing stops it");
    assert_eq!(advice.settings.reason, AdviceReason::Recommended);
    let best = advice.settings.best.expect("there is one");
    assert_eq!((best.name.as_str(), best.phases), ("bf_window=2880, bf_interval=60", 3));
    assert!((best.change + 0.28).abs() < 1e-9, "{}", best.change);
    let lines: Vec<&str> = advice.settings.edits.iter().map(|edit| edit.line.as_str()).collect();
    assert_eq!(lines, ["SchedulerParameters=bf_window=2880,bf_interval=60"]);
    let judgement = &advice.settings.judged;
    assert_eq!((judgement.of, judgement.better, judgement.half, judgement.left), (40, 40, 40, 0));
    assert!(judgement.got.is_some_and(|gain| (gain + 0.28).abs() < 1e-9));
    assert_eq!(advice.settings.better_periods, (10, 10));
    assert_eq!(advice.live.reason, AdviceReason::NothingBetter, "both live policies are as good as what there is");
    assert!(
        messages[0].contains("of live policies nothing better") && !messages[0].contains("settings"),
        "{messages:?}"
    );
    assert!(messages[1].contains("bf_interval=60 (-10.0 %)"), "one change of each knob: {messages:?}");
    assert!(messages[2].contains("bf_window=2880 (-20.0 %)"), "{messages:?}");
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    policies.iter().for_each(|policy| *counts.entry(policy).or_default() += 1);
    assert!(counts.values().all(|&times| times == 1), "nothing is simulated twice");
}

/// In each week another setting is best by far: what is chosen on some is worth nothing on others.
#[test]
fn what_fits_some_weeks_only_is_not_recommended() {
    let knobs = ["bf_window=2880", "bf_window=720", "bf_interval=60", "bf_resolution=300"];
    let rule = |policy: &str, week: usize| {
        let hit = knobs.iter().position(|knob| policy.contains(knob)).is_some_and(|at| at == week % 4);
        let has_knob = knobs.iter().any(|knob| policy.contains(knob));
        usual(week)
            * if hit {
                0.5
            } else if has_knob {
                1.2
            } else {
                1.0
            }
    };
    let (advice, ..) = self::asked(rule, &[], usize::MAX);
    let settings = advice.expect("nothing stops it").settings;
    assert!(!settings.is_recommended(), "{settings:?}");
}

#[test]
fn what_clocks_do_is_no_gain() {
    let rule = |policy: &str, week: usize| {
        let phase = policy.split("phase=").nth(1).and_then(|text| text.trim_end_matches(')').parse::<f64>().ok());
        let gain = if policy.contains("bf_window=2880") { 0.97 } else { 1.0 };
        usual(week) * gain * (1.0 + 0.1 * (phase.unwrap_or(1.0) - 1.0))
    };
    let (advice, ..) = self::asked(rule, &[], usize::MAX);
    let advice = advice.expect("nothing stops it");
    assert!((advice.spread - 0.1).abs() < 1e-9);
    assert_eq!(advice.settings.reason, AdviceReason::NothingBetter);
    assert!(advice.settings.best.is_none());
}

/// One value of the window looks best in the first phase and is worth nothing in the others; the
/// other value is worth the same in all.
#[test]
fn a_value_that_only_the_first_phase_flatters_does_not_hide_another_value_of_its_knob() {
    let rule = |policy: &str, week: usize| {
        let first = !policy.contains("phase=1") && !policy.contains("phase=2");
        let gain = if policy.contains("bf_window=2880") {
            if first { 0.5 } else { 1.3 }
        } else if policy.contains("bf_window=720") {
            0.8
        } else {
            1.0
        };
        usual(week) * gain
    };
    let (advice, policies, _) = self::asked(rule, &[], usize::MAX);
    let settings = advice.expect("nothing stops it").settings;
    assert!(policies.iter().any(|policy| policy.contains("phase=2")), "phases have numbers: {policies:?}");
    assert_eq!(settings.reason, AdviceReason::Recommended, "{settings:?}");
    let best = settings.best.expect("there is one");
    assert_eq!((best.name.as_str(), best.phases), ("bf_window=720", 3));
    assert_eq!(settings.judged.better, 40);
}

/// A number from 0 up to 1 that depends on the text alone.
fn drawn(text: &str) -> f64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    });
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24)
}

/// If every setting has an effect of its own in each week and phase, halves find others than all
/// weeks do. Even then the best over all weeks is the best of everything that is listed as tried in
/// all phases.
#[test]
fn nothing_listed_is_better_than_the_best_over_all_weeks() {
    let mut gain_count = 0;
    for seed in 0..60 {
        let rule = |policy: &str, week: usize| {
            let setting = policy.split(",test-us").next().unwrap_or(policy);
            let gain = if setting == policy { 1.0 } else { 0.75 + 0.4 * drawn(&format!("{seed} {setting}")) };
            usual(week) * gain * (0.9 + 0.2 * drawn(&format!("{seed} {policy} {week}")))
        };
        let advice = self::asked(rule, &["maxW<+5%"], usize::MAX).0.expect("nothing stops it");
        let trials = advice.tried.iter().filter(|trial| !trial.live && trial.phases == 3 && trial.keeps);
        let best = trials.min_by(|a, b| a.change.total_cmp(&b.change)).expect("the site as it is");
        let name = advice.settings.best.as_ref().map_or("as it is", |best| &best.name);
        if best.change < -advice.spread {
            assert_eq!(name, best.name, "seed {seed}");
            gain_count += 1;
        } else {
            assert_eq!(name, "as it is", "seed {seed}");
        }
    }
    assert!((10..60).contains(&gain_count), "both happen: {gain_count}");
}

#[test]
fn guards_are_kept_where_choices_are_made_and_counted_where_they_are_judged() {
    // The best by the mean has one week of very long waits.
    let rule = |policy: &str, week: usize| match policy {
        "easy++" if week == 3 => 2.0 * usual(week),
        "easy++" => 0.3 * usual(week),
        "easy" => 0.7 * usual(week),
        _ => usual(week),
    };
    let best = |guards: &[&str]| {
        let live = self::asked(rule, guards, usize::MAX).0.expect("nothing stops it").live;
        (live.best.expect("there is one").name, live.judged)
    };
    assert_eq!(best(&[]).0, "easy++");
    let (name, judgement) = best(&["maxW<+20%"]);
    assert_eq!(name, "easy");
    assert!(
        judgement.kept < judgement.of && judgement.kept >= judgement.of / 2 - 1,
        "halves without that week choose easy++: {judgement:?}"
    );
}

#[test]
fn what_is_known_when_it_is_stopped_is_told() {
    let rule = |policy: &str, week: usize| usual(week) * if policy.contains("bf_window=2880") { 0.5 } else { 1.0 };
    assert!(self::asked(rule, &[], 0).0.is_none(), "not even the site as it is");
    let advice = self::asked(rule, &[], 7).0.expect("the site as it is was known");
    assert_eq!(
        (advice.tried.len(), advice.settings.best.map(|best| best.name).as_deref()),
        (7, Some("bf_window=2880"))
    );
    assert_eq!(advice.settings.reason, AdviceReason::Unfinished);
}

/// If no job waits for long, nothing is worth a change: 5 s that become 0 are no gain.
#[test]
fn a_few_seconds_are_no_gain() {
    let rule = |policy: &str, _: usize| if policy.contains("bf_window=2880") { 0.0 } else { 5.0 };
    let (advice, ..) = self::asked(rule, &[], usize::MAX);
    let settings = advice.expect("nothing stops it").settings;
    assert_eq!((settings.reason, settings.best.is_none()), (AdviceReason::NothingBetter, true));
}
