//! Objective models: when one schedule is better than another (section 3.2 and 3.3 of the paper;
//! rule 7).
//!
//! Every relation here is antitone: if F is not better than G, no schedule that is at least as
//! large as F in every measure is. With measures that only grow as jobs are placed, a partial
//! schedule that is not better proves that none of its completions is: that is what pruning rests
//! on, with strict and with relaxed differences.

use super::measures::{GoalMeasure, MOST_MEASURES, WORDS};
use crate::model::Span;
use crate::policy::{NamedCall, Takes, ValueForm};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Way in which measures are weighed against each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ObjectiveModel {
    /// The first measure in which two schedules differ decides.
    Lexical,
    /// Relative improvements and degradations are added up: F is better than G if Σ (G_m − F_m) /
    /// reference_m > 0.
    #[default]
    Tradeoff,
}

/// Reference of improvements and degradations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Version {
    /// The best schedule so far. The paper's choice. Which schedule wins depends on the order of
    /// visits.
    #[default]
    A,
    /// The smaller of both. For two measures the same as minimising their product.
    B,
    /// The result of backfilling, computed once per decision: equivalent to minimising a weighted
    /// sum.
    C,
}

/// Differences that count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Differences {
    /// If some measures improve and others degrade, those that change by less than 1 % count as
    /// unchanged: 1 % of the best schedule's value; for the total excessive wait, of the longest
    /// current wait.
    #[default]
    Relaxed,
    /// Every difference counts.
    Strict,
}

/// Objective that the search minimises.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GoalObjective {
    /// Way in which the measures are weighed.
    pub model: ObjectiveModel,
    /// The measures; the first leads where the model is lexical.
    pub measures: Vec<GoalMeasure>,
    /// Weights of their changes in a trade-off; empty where all are equal.
    pub weights: Vec<u32>,
    /// Reference of the trade-off.
    pub version: Version,
    /// Differences that count.
    pub differences: Differences,
}

impl GoalObjective {
    pub(super) const TAKES: Takes = Takes::Form(&ValueForm {
        name: "objective",
        shape: "tradeoff(M:M...)|tradeoff(3*M:M...)|lexical(M>M...)|minimise(wait|slowdown|longest,wait<50h)|maximise(utilisation|fairness,wait<50h), M: maxW|Tw|Tw(50h)|maxTw|avgW|avgX|areaW|areaW(gpus)|areaW(mem)|areaW(share)|unused|late(24h)|\
                fair(7d)|special(user=1)|special(group=1)|special(queue=1)",
        samples: &[
            "tradeoff(Tw:avgX)",
            "lexical(maxW>avgX)",
            "tradeoff(Tw(50h):areaW:late(24h))",
            "tradeoff(fair(7d):avgW)",
            "lexical(special(user=1)>unused)",
            "tradeoff(maxTw:avgX)",
            "lexical(maxTw(1h)>avgW)",
            "tradeoff(areaW(share):Tw)",
            "tradeoff(3*Tw:avgX)",
            "minimise(slowdown,wait<50h)",
            "maximise(utilisation)",
        ],
        check: |text| GoalObjective::parse(text).is_ok(),
    });
}

impl Default for GoalObjective {
    fn default() -> GoalObjective {
        GoalObjective {
            model: ObjectiveModel::Tradeoff,
            measures: vec![GoalMeasure::Excess(None), GoalMeasure::Slowdown],
            weights: Vec::new(),
            version: Version::A,
            differences: Differences::Relaxed,
        }
    }
}

impl fmt::Display for GoalObjective {
    /// Model and measures: `tradeoff(Tw:avgX)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, between) = match self.model {
            ObjectiveModel::Lexical => ("lexical", ">"),
            ObjectiveModel::Tradeoff => ("tradeoff", ":"),
        };
        let format_weighted = |(at, measure): (usize, &GoalMeasure)| match self.weights.get(at) {
            None | Some(1) => measure.to_string(),
            Some(weight) => format!("{weight}*{measure}"),
        };
        let measures: Vec<_> = self.measures.iter().enumerate().map(format_weighted).collect();
        write!(f, "{name}({})", measures.join(between))
    }
}

/// Returns the parts of a list, where what stands in brackets parts nothing: `Tw(2-02:00:00):avgX`
/// has two.
fn parts_of(list: &str, between: char) -> Vec<&str> {
    let mut depth = 0_i32;
    list.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == between && depth == 0
    })
    .collect()
}

impl GoalObjective {
    /// Returns whether a measure weighs jobs by their shares of resources.
    pub(super) fn weighs_shares(&self) -> bool {
        self.measures.iter().any(|measure| matches!(measure, GoalMeasure::ShareArea(_)))
    }

    /// Reads model and measures: `tradeoff(Tw:avgX)`, `lexical(Tw>avgX)`, with any number of
    /// measures from 1 to 8, those of a trade-off with weights, `tradeoff(3*Tw:avgX)`; or a goal in
    /// words, for which measures are chosen: `minimise(slowdown,wait<50h)` is
    /// `lexical(Tw(50h)>avgX)`.
    ///
    /// # Errors
    /// The mistake and its correction.
    pub fn parse(text: &str) -> Result<GoalObjective, String> {
        let fail = |problem: String| format!("{problem}; write e.g. tradeoff(Tw:avgX) or lexical(Tw>avgX)");
        let call = NamedCall::parse(text).map_err(|e| fail(e.problem))?;
        if let "minimise" | "minimize" | "maximise" | "maximize" = call.name.as_str() {
            return GoalObjective::read_goal(&call);
        }
        let (model, between) = match call.name.as_str() {
            "lexical" => (ObjectiveModel::Lexical, '>'),
            "tradeoff" => (ObjectiveModel::Tradeoff, ':'),
            other => return Err(fail(format!("`{other}` is no objective model"))),
        };
        let [(None, list)] = call.args.as_slice() else {
            return Err(fail(format!("{} takes one list of measures, separated by `{between}`", call.name)));
        };
        let (mut measures, mut weights) = (Vec::<GoalMeasure>::new(), Vec::new());
        for part in parts_of(list, between) {
            let (weight, measure) = part.split_once('*').map_or((None, part), |(weight, rest)| (Some(weight), rest));
            measures.push(measure.parse().map_err(fail)?);
            let parse_weight = |weight: &str| {
                let number = weight.trim().parse().ok().filter(|number| (1..=1_000_000).contains(number));
                number.ok_or_else(|| fail(format!("`{weight}` is no weight: a whole number from 1 to 1000000")))
            };
            weights.push(weight.map_or(Ok(1), parse_weight)?);
        }
        if weights.iter().all(|&weight| weight == 1) {
            weights.clear();
        } else if model == ObjectiveModel::Lexical {
            return Err(fail("the measures of `lexical` come one after the other and have no weights".into()));
        }
        for (at, measure) in measures.iter().enumerate() {
            if measures[..at].contains(measure) {
                return Err(fail(format!("`{measure}` is given twice")));
            }
        }
        if measures.iter().filter(|m| matches!(m, GoalMeasure::Fair(_))).count() > 1 {
            return Err(fail("`fair` is given twice; an objective looks back over one window".into()));
        }
        if measures.len() > MOST_MEASURES {
            return Err(fail(format!(
                "there are {} measures, and no more than {MOST_MEASURES} are possible ({WORDS})",
                measures.len()
            )));
        }
        Ok(GoalObjective { model, measures, weights, ..GoalObjective::default() })
    }

    /// Chooses measures for a goal in words: bounds come first, as the time by which waits exceed
    /// them, then what is to be as small or as large as possible.
    fn read_goal(call: &NamedCall) -> Result<GoalObjective, String> {
        const FORM: &str = "write e.g. minimise(slowdown,wait<50h), with wait, slowdown or longest, or maximise(utilisation), with \
                            utilisation or fairness, and with any of wait<50h and start<24h behind them";
        let fail = |part: &str| format!("`{part}` is no goal of {}; {FORM}", call.name);
        let mut parts = call.args.iter().map(|(key, value)| if key.is_none() { value.trim() } else { "=" });
        let first = parts.next().unwrap_or_default();
        let aim = match (call.name.starts_with("min"), first) {
            (true, "wait") => GoalMeasure::Wait,
            (true, "slowdown") => GoalMeasure::Slowdown,
            (true, "longest") => GoalMeasure::MaxWait,
            (false, "utilisation" | "utilization") => GoalMeasure::Unused,
            (false, "fairness") => GoalMeasure::Fair(Span::WEEK),
            _ => return Err(fail(first)),
        };
        let mut measures = Vec::new();
        for part in parts {
            let bound = match part.split_once('<').map(|(measure, time)| (measure.trim(), time.trim())) {
                Some(("wait", time)) => format!("Tw({time})"),
                Some(("start", time)) => format!("late({time})"),
                _ => return Err(fail(part)),
            };
            measures.push(bound.parse::<GoalMeasure>().map_err(|_| fail(part))?);
        }
        measures.push(aim);
        if measures.len() > MOST_MEASURES
            || measures.iter().enumerate().any(|(at, measure)| measures[..at].contains(measure))
        {
            return Err(format!("a goal has up to {} bounds, each once; {FORM}", MOST_MEASURES - 1));
        }
        Ok(GoalObjective { model: ObjectiveModel::Lexical, measures, ..GoalObjective::default() })
    }

    /// Returns the time that `fair` looks back, where it is one of the measures.
    #[must_use]
    pub fn fair_window(&self) -> Option<Span> {
        self.measures.iter().find_map(|m| if let GoalMeasure::Fair(window) = m { Some(*window) } else { None })
    }

    /// Returns whether the best schedule does not depend on the order in which schedules are
    /// compared ("uniqueness property", section 3.2): then a search that has exhausted the tree has
    /// found an optimum.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        let single = self.measures.len() == 1;
        let unique = match (self.model, self.version) {
            (ObjectiveModel::Lexical, _) | (_, Version::C) => true,
            (_, Version::B) => self.measures.len() <= 2 && self.weights.is_empty(),
            (_, Version::A) => single,
        };
        // A relaxed difference needs one measure that improves and one that degrades.
        unique && (single || self.differences == Differences::Strict)
    }
}

/// The best schedule so far, ready for comparisons.
#[derive(Clone, Debug)]
pub(super) struct Judge {
    model: ObjectiveModel,
    version: Version,
    pub(super) best: Vec<i64>,
    /// Differences below this are none where some measures improve and others degrade.
    slack: Vec<i64>,
    /// If not 0, the slack of a measure whatever the best value is.
    fixed_slack: Vec<i64>,
    relaxed: bool,
    /// Differences up to this are none: they may come from rounding alone.
    rounding: Vec<i64>,
    /// References of versions A and C, and 0 where there is no finite one.
    reference: Vec<f64>,
    weights: Vec<f64>,
}

impl Judge {
    /// `oldest` is the longest current wait of `jobs` jobs; `references` those of version C.
    pub(super) fn new(objective: &GoalObjective, jobs: usize, oldest: i64, references: &[i64]) -> Judge {
        let excess = |m: &GoalMeasure| matches!(m, GoalMeasure::Excess(_) | GoalMeasure::LargestExcess(_));
        let slack_of = |m: &GoalMeasure| if excess(m) { round_hundredth_up(oldest).max(1) } else { 0 };
        Judge {
            model: objective.model,
            version: objective.version,
            best: Vec::new(),
            slack: vec![0; objective.measures.len()],
            fixed_slack: objective.measures.iter().map(slack_of).collect(),
            relaxed: objective.differences == Differences::Relaxed,
            rounding: objective.measures.iter().map(|m| m.rounding_error(jobs)).collect(),
            reference: references.iter().map(|&r| r as f64).collect(),
            weights: (0..objective.measures.len())
                .map(|at| f64::from(objective.weights.get(at).copied().unwrap_or(1)))
                .collect(),
        }
    }

    /// These are the values of the best schedule from now on.
    pub(super) fn set_best(&mut self, values: &[i64]) {
        self.best.clear();
        self.best.extend_from_slice(values);
        for ((slack, setting), &value) in self.slack.iter_mut().zip(&self.fixed_slack).zip(values) {
            *slack = if *setting > 0 { *setting } else { round_hundredth_up(value) };
        }
        if self.version == Version::A {
            self.reference.clear();
            self.reference.extend(values.iter().map(|&v| v as f64));
        }
    }

    /// Returns whether a schedule with these values is better than the best so far. Or may be, if
    /// they are lower bounds.
    #[inline]
    pub(super) fn is_better(&self, values: &[i64]) -> bool {
        let (mut improves, mut degrades) = (false, false);
        for ((&f, &g), &rounding) in values.iter().zip(&self.best).zip(&self.rounding) {
            improves |= g - f > rounding;
            degrades |= f - g > rounding;
        }
        // All better, or all worse: no model can see it otherwise.
        if !(improves && degrades) {
            return improves;
        }
        match self.model {
            ObjectiveModel::Lexical => self.is_better_in_order(values),
            ObjectiveModel::Tradeoff => self.is_better_on_balance(values),
        }
    }

    fn counted_difference(&self, at: usize, value: i64) -> i64 {
        let difference = self.best[at] - value;
        let counts = difference.abs() > self.rounding[at] && !(self.relaxed && difference.abs() < self.slack[at]);
        if counts { difference } else { 0 }
    }

    fn is_better_in_order(&self, values: &[i64]) -> bool {
        let mut differences = values.iter().enumerate().map(|(at, &f)| self.counted_difference(at, f));
        differences.find(|&d| d != 0).is_some_and(|d| d > 0)
    }

    fn is_better_on_balance(&self, values: &[i64]) -> bool {
        // An improvement upon a reference of zero outweighs every finite change, and so does a
        // degradation.
        let (mut dominant, mut sum, mut size) = (0, 0.0_f64, 0.0_f64);
        for (at, &f) in values.iter().enumerate() {
            let difference = self.counted_difference(at, f);
            let reference = match self.version {
                Version::A | Version::C => self.reference[at],
                Version::B => self.best[at].min(f) as f64,
            };
            if difference == 0 {
            } else if reference > 0.0 {
                let change = difference as f64 / reference * self.weights[at];
                sum += change;
                size += change.abs();
            } else {
                dominant += difference.signum();
            }
        }
        // Changes that make up for each other may add up to a last bit.
        dominant > 0 || (dominant == 0 && sum > EVEN * size)
    }
}

/// Sums of relative changes that are smaller than this part of the changes are 0.
const EVEN: f64 = 1e-12;

/// The smallest whole number that is no less than 1 % of a value: `d < hundredth(v)` is
/// `100·d < v`.
fn round_hundredth_up(value: i64) -> i64 {
    value / 100 + i64::from(value % 100 > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judge(text: &str, version: Version, differences: Differences, best: &[i64], references: &[i64]) -> Judge {
        let objective = GoalObjective { version, differences, ..GoalObjective::parse(text).expect(text) };
        let mut judge = Judge::new(&objective, 3, 1000, references);
        judge.set_best(best);
        judge
    }

    const TWO: &str = "tradeoff(maxW:avgW)";
    use Differences::{Relaxed, Strict};

    #[test]
    fn reads_and_prints_objectives() {
        for text in [
            "tradeoff(Tw:avgX)",
            "lexical(Tw>avgX)",
            "lexical(maxW)",
            "tradeoff(maxW:avgW:avgX:late(3600s))",
            "lexical(special(queue=2)>fair(604800s))",
        ] {
            assert_eq!(GoalObjective::parse(text).map(|o| o.to_string()).as_deref(), Ok(text));
        }
        for (goal, text) in [
            ("minimise(slowdown,wait<50h)", "lexical(Tw(180000s)>avgX)"),
            ("minimise(wait, start<24h, wait<50h)", "lexical(late(86400s)>Tw(180000s)>avgW)"),
            ("maximise(utilisation)", "lexical(unused)"),
            ("maximize(fairness,wait<1d)", "lexical(Tw(86400s)>fair(604800s))"),
            ("tradeoff(3*Tw:1*avgX)", "tradeoff(3*Tw:avgX)"),
            ("tradeoff(1*Tw:avgX)", "tradeoff(Tw:avgX)"),
        ] {
            let objective = GoalObjective::parse(goal).map(|o| o.to_string());
            assert_eq!(objective.as_deref(), Ok(text), "{goal}");
            assert_eq!(GoalObjective::parse(text).map(|o| o.to_string()), objective);
        }
        // What stands in brackets parts nothing.
        let slurm = GoalObjective::parse("tradeoff(Tw(2-02:00:00):avgX)").map(|objective| objective.to_string());
        assert_eq!(slurm, GoalObjective::parse("tradeoff(Tw(50h):avgX)").map(|objective| objective.to_string()));
        assert!(slurm.is_ok());
        for (text, part) in [
            ("minimise(utilisation)", "no goal of minimise"),
            ("maximise", "no goal of maximise"),
            ("minimise(wait,wait<soon)", "`wait<soon` is no goal"),
            ("minimise(wait,wait<1d,wait<1d)", "each once"),
            ("tradeoff(0*Tw:avgX)", "no weight"),
            ("lexical(2*Tw>avgX)", "have no weights"),
            ("tradeoff", "takes one list"),
            ("tradeoff(Tw>avgX)", "no measure"),
            ("lexical(Tw>avgX>Tw)", "`Tw` is given twice"),
            ("lexical(fair(1d)>fair(7d))", "`fair` is given twice"),
            ("best(Tw)", "no objective model"),
            ("tradeoff(Tw,avgX)", "takes one list"),
            ("lexical(", "not closed"),
            ("lexical(late(1)>late(2)>late(3)>late(4)>late(5)>late(6)>late(7)>late(8)>late(9))", "9 measures"),
        ] {
            let error = GoalObjective::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// The paper's example: x from 100 to 20 improves by 80 %, from 20 to 100 degrades by 400 %.
    #[test]
    fn version_a_measures_against_the_best_schedule() {
        let from_100 = judge(TWO, Version::A, Strict, &[100, 1000], &[]);
        assert!(from_100.is_better(&[20, 1799]));
        assert!(!from_100.is_better(&[20, 1800]));
        let from_20 = judge(TWO, Version::A, Strict, &[20, 1000], &[]);
        // "A degradation of over 100 percent will not be accepted in any case."
        assert!(!from_20.is_better(&[100, 0]));
        assert!(!from_20.is_better(&[41, 0]));
        assert!(from_20.is_better(&[39, 0]));
    }

    #[test]
    fn version_b_minimises_the_product_and_version_c_a_weighted_sum() {
        for g in [[100, 50], [7, 3], [1, 99]] {
            let b = judge(TWO, Version::B, Strict, &g, &[]);
            let c = judge(TWO, Version::C, Strict, &g, &[10, 4]);
            for x in 1..130 {
                for y in 1..110 {
                    assert_eq!(b.is_better(&[x, y]), x * y < g[0] * g[1], "{g:?} {x} {y}");
                    // x/10 + y/4, times 20.
                    assert_eq!(c.is_better(&[x, y]), 2 * x + 5 * y < 2 * g[0] + 5 * g[1], "{g:?} {x} {y}");
                }
            }
        }
    }

    /// avgW falls by 100 of 1,000, maxW rises by 15 of 100: worse by 0.05, and with a weight of 2
    /// better by 0.05.
    #[test]
    fn weights_multiply_relative_changes() {
        assert!(!judge("tradeoff(maxW:avgW)", Version::A, Strict, &[100, 1000], &[]).is_better(&[115, 900]));
        assert!(judge("tradeoff(maxW:2*avgW)", Version::A, Strict, &[100, 1000], &[]).is_better(&[115, 900]));
        assert!(!judge("tradeoff(maxW:2*avgW)", Version::A, Strict, &[100, 1000], &[]).is_better(&[120, 900]));
    }

    #[test]
    fn lexical_looks_at_the_second_only_where_the_first_is_equal() {
        let j = judge("lexical(maxW>avgW)", Version::A, Strict, &[100, 100], &[]);
        assert!(j.is_better(&[99, 500]));
        assert!(j.is_better(&[100, 99]));
        assert!(!j.is_better(&[100, 100]));
        assert!(!j.is_better(&[101, 0]));
    }

    #[test]
    fn relaxed_differences_overlook_less_than_one_percent() {
        let j = judge("lexical(maxW>avgW)", Version::A, Relaxed, &[1000, 1000], &[]);
        assert!(!j.is_better(&[991, 1500]), "9 of 1000 is less than 1 %");
        assert!(j.is_better(&[990, 1500]), "10 of 1000 is not");
        assert!(j.is_better(&[1009, 900]), "a degradation of less than 1 % is none");
        assert!(!j.is_better(&[1010, 900]));
        assert!(j.is_better(&[999, 999]) && j.is_better(&[999, 1000]), "nothing degrades: strict differences");
        // The slack of Tw is 1 % of the longest current wait, here 1000 s, even where the best Tw
        // is 0.
        let j = judge("lexical(Tw>avgW)", Version::A, Relaxed, &[0, 1000], &[]);
        assert!(j.is_better(&[9, 900]) && !j.is_better(&[10, 900]));
    }

    #[test]
    fn a_reference_of_zero_dominates() {
        let a = judge(TWO, Version::A, Strict, &[0, 100], &[]);
        assert!(!a.is_better(&[1, 0]), "a degradation from zero dominates");
        assert!(a.is_better(&[0, 99]), "0/0 is no change");
        let b = judge(TWO, Version::B, Strict, &[100, 100], &[]);
        assert!(b.is_better(&[0, 1_000_000]), "an improvement to zero dominates");
        let c = judge(TWO, Version::C, Strict, &[5, 100], &[0, 100]);
        assert!(c.is_better(&[4, 1_000_000]) && !c.is_better(&[6, 0]));
        let judgement = judge(TWO, Version::B, Strict, &[0, 100], &[]);
        assert!(!judgement.is_better(&[100, 0]), "one to zero and one from zero are even");
    }

    #[test]
    fn which_objectives_have_one_optimum() {
        let of = |text: &str, version, differences| {
            GoalObjective { version, differences, ..GoalObjective::parse(text).expect(text) }.is_unique()
        };
        assert!(of("lexical(maxW>avgW>avgX)", Version::A, Strict));
        assert!(of(TWO, Version::B, Strict) && of(TWO, Version::C, Strict));
        assert!(!of(TWO, Version::A, Strict) && !of(TWO, Version::B, Relaxed));
        assert!(!of("tradeoff(maxW:avgW:avgX)", Version::B, Strict));
        assert!(of("tradeoff(maxW)", Version::A, Relaxed));
    }

    proptest! {
        /// Basis of pruning: values that are no larger anywhere are preferred wherever the larger
        /// ones are.
        #[test]
        fn preferences_are_antitone(
            lexical in any::<bool>(), version in 0usize..3, relaxed in any::<bool>(), k in 1usize..5,
            values in prop::collection::vec((0i64..400, 0i64..400, 0i64..6, 0i64..300), 4),
        ) {
            let names = ["maxW", "Tw", "avgW", "avgX"];
            let text = if lexical { format!("lexical({})", names[..k].join(">")) } else { format!("tradeoff({})", names[..k].join(":")) };
            let version = [Version::A, Version::B, Version::C][version];
            let best: Vec<_> = values[..k].iter().map(|v| v.0).collect();
            let small: Vec<_> = values[..k].iter().map(|v| v.1).collect();
            let large: Vec<_> = values[..k].iter().map(|v| v.1 + if v.2 > 2 { v.2 * v.3 / 5 } else { v.2 }).collect();
            let references: Vec<_> = values[..k].iter().map(|v| v.3).collect();
            let j = judge(&text, version, if relaxed { Relaxed } else { Strict }, &best, &references);
            prop_assert!(j.is_better(&small) || !j.is_better(&large), "{text} {version:?}: best {best:?}, {small:?} <= {large:?}");
            prop_assert!(!j.is_better(&best));
        }
    }
}
