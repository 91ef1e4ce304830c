//! Goal to improve, and guards against getting much worse.

use crate::figure::GoalFigure;
use drystone::metrics::MetricUnit;
use drystone::policy::NamedCall;
use drystone::text::find_nearest;
use std::fmt;
use std::str::FromStr;

#[derive(Clone, PartialEq, Debug)]
pub struct AdviceGoal {
    lexical: bool,
    figures: Vec<GoalFigure>,
    /// As it was written.
    text: String,
}

/// A lexical goal takes smaller changes for none: 1 %.
const RELAXED: f64 = 0.01;
/// Most figures of a goal.
const MOST: usize = 8;

impl AdviceGoal {
    pub fn figures(&self) -> &[GoalFigure] {
        &self.figures
    }

    /// Returns the change of values against those of the baseline: −0.1 is a tenth better. A
    /// trade-off is the mean of the relative changes of its figures; a lexical goal is the first
    /// change of at least 1 %, and 0 without one. What no user notices, less than a second or a
    /// hundredth of a slowdown, is no change.
    pub fn goal_change(&self, baseline: &[f64], values: &[f64]) -> f64 {
        self.change_beyond(baseline, values, 0.0)
    }

    /// As [`AdviceGoal::goal_change`], where a mean excess that differs by less than so many
    /// seconds is no change as well: it may be a tiny part of what jobs wait, and its ratio then
    /// says nothing.
    pub(crate) fn change_beyond(&self, baseline: &[f64], values: &[f64], excess: f64) -> f64 {
        let places = 0..self.figures.len().min(baseline.len()).min(values.len());
        let mut changes = places.map(|at| match self.is_noticed(at, baseline, values, excess) {
            true => relative_change(baseline[at], values[at]),
            false => 0.0,
        });
        if self.lexical {
            return changes.find(|change| change.abs() >= RELAXED).unwrap_or(0.0);
        }
        let count = self.figures.len().max(1) as f64;
        changes.sum::<f64>() / count
    }

    fn is_noticed(&self, at: usize, baseline: &[f64], values: &[f64], excess: f64) -> bool {
        let figure = &self.figures[at];
        let least =
            if figure.is_mean_excess() { excess.max(figure.negligible_change()) } else { figure.negligible_change() };
        (values[at] - baseline[at]).abs() >= least
    }

    /// Places of the figures that make the change: all of a trade-off that change noticeably, and
    /// the first of a lexical goal that changes by at least 1 %.
    pub(crate) fn counting_figures(&self, baseline: &[f64], values: &[f64], excess: f64) -> Vec<usize> {
        let mut counting = (0..self.figures.len()).filter(|&at| self.is_noticed(at, baseline, values, excess));
        match self.lexical {
            true => {
                counting.find(|&at| relative_change(baseline[at], values[at]).abs() >= RELAXED).into_iter().collect()
            }
            false => counting.collect(),
        }
    }

    /// The policy that searches for this goal at every decision, where there is one.
    pub fn search_policy(&self) -> Option<String> {
        let is_searchable = self.figures.iter().all(|figure| matches!(figure, GoalFigure::Goal(_)));
        (is_searchable
            && self.text.contains('(')
            && NamedCall::parse(&self.text).is_ok_and(|call| MODELS.contains(&call.name.as_str())))
        .then(|| format!("goal({})", self.text))
    }
}

/// A change of a figure. From nothing to something is a change by 1.
pub(crate) fn relative_change(old: f64, new: f64) -> f64 {
    if old > 0.0 {
        new / old - 1.0
    } else if new > 0.0 {
        1.0
    } else {
        0.0
    }
}

const MODELS: [&str; 2] = ["tradeoff", "lexical"];
const EXAMPLE: &str = "write e.g. tradeoff(Tw:avgX), lexical(maxW>avgW) or avgX";

impl fmt::Display for AdviceGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for AdviceGoal {
    type Err = String;

    /// Reads `tradeoff(Tw:avgX)`, `lexical(maxW>avgW)`, or one figure.
    fn from_str(text: &str) -> Result<AdviceGoal, String> {
        let text = text.trim();
        let name = text.split('(').next().unwrap_or_default().trim().to_ascii_lowercase();
        let parse_figures = |list: &str, between: char| -> Result<Vec<GoalFigure>, String> {
            let figures = list.split(between).map(str::parse).collect::<Result<Vec<GoalFigure>, String>>();
            let figures = figures.map_err(|problem| format!("{problem}; {EXAMPLE}"))?;
            if figures.len() > MOST {
                return Err(format!("{} measures; no more than {MOST} are possible", figures.len()));
            }
            match figures.iter().enumerate().find(|(at, figure)| figures[..*at].contains(figure)) {
                Some((_, twice)) => Err(format!("`{twice}` is given twice")),
                None => Ok(figures),
            }
        };
        if !MODELS.contains(&name.as_str()) {
            if let Ok(figure) = text.parse::<GoalFigure>() {
                return Ok(AdviceGoal { lexical: false, figures: vec![figure], text: figure.to_string() });
            }
            if let Some(near) = find_nearest(&name, MODELS).filter(|_| text.contains('(')) {
                return Err(format!("`{text}` is no goal. Did you mean `{near}`? {EXAMPLE}"));
            }
            return Err(parse_figures(text, ':').err().unwrap_or_else(|| format!("`{text}` is no goal; {EXAMPLE}")));
        }
        let call = NamedCall::parse(text).map_err(|error| format!("{}; {EXAMPLE}", error.problem))?;
        let [(None, list)] = call.args.as_slice() else {
            return Err(format!("{name} takes one list of measures; {EXAMPLE}"));
        };
        let lexical = name == "lexical";
        let between = if lexical { '>' } else { ':' };
        let figures = parse_figures(list, between)?;
        let words: Vec<String> = figures.iter().map(ToString::to_string).collect();
        let text = format!("{name}({})", words.join(&between.to_string()));
        Ok(AdviceGoal { lexical, figures, text })
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bound {
    /// At most so much more than the baseline: 0.2 is a fifth.
    Relative(f64),
    /// At most this value, in seconds where it is a time.
    Absolute(f64),
}

/// Bound on getting worse: `maxW<+20%`, `maxW<48h`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GoalGuard {
    pub figure: GoalFigure,
    pub bound: Bound,
}

impl GoalGuard {
    pub fn is_kept(&self, baseline: f64, value: f64) -> bool {
        // A last digit is no breach.
        value <= self.largest_allowed(baseline) * (1.0 + 1e-12)
    }

    pub fn largest_allowed(&self, baseline: f64) -> f64 {
        match self.bound {
            Bound::Relative(more) => baseline * (1.0 + more),
            Bound::Absolute(most) => most,
        }
    }
}

impl fmt::Display for GoalGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.bound, self.figure.unit()) {
            (Bound::Relative(more), _) => {
                let percent = (more * 1e6).round() / 1e4;
                write!(f, "{}<{}{percent}%", self.figure, if more < 0.0 { "" } else { "+" })
            }
            (Bound::Absolute(most), MetricUnit::Seconds) => write!(f, "{}<{most}s", self.figure),
            (Bound::Absolute(most), _) => write!(f, "{}<{most}", self.figure),
        }
    }
}

impl FromStr for GoalGuard {
    type Err = String;

    /// Reads `maxW<+20%`, `avgW<0%`, `maxW<48h`, `avgX<10`, `avgW(>64)<+10%`.
    fn from_str(text: &str) -> Result<GoalGuard, String> {
        const HOW: &str = "write e.g. maxW<+20% (a fifth more than today at most) or maxW<48h";
        // Behind the brackets of `avgW(>64)`.
        let from = text.rfind(')').map_or(0, |at| at + 1);
        let at = text[from..].find('<').ok_or_else(|| format!("`{text}` is no guard; {HOW}"))? + from;
        let (figure, bound) = (&text[..at], &text[at + 1..]);
        let figure: GoalFigure = figure.parse().map_err(|problem| format!("{problem}; {HOW}"))?;
        let bound = bound.trim().trim_start_matches('=').trim();
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        let wrong = || format!("`{bound}` is no bound of {figure}; {HOW}");
        if let Some(percent) = bound.strip_suffix('%') {
            let more = number(percent).filter(|&more| more > -100.0).ok_or_else(wrong)?;
            return Ok(GoalGuard { figure, bound: Bound::Relative(more / 100.0) });
        }
        let (digits, unit) = match bound.strip_suffix(['s', 'm', 'h', 'd']) {
            Some(digits) if figure.unit() == MetricUnit::Seconds => (digits, &bound[digits.len()..]),
            _ => (bound, "s"),
        };
        let seconds = match unit {
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => 1.0,
        };
        let most = number(digits).filter(|&most| most >= 0.0).ok_or_else(wrong)?;
        Ok(GoalGuard { figure, bound: Bound::Absolute(most * seconds) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_may_bound_a_class() {
        let guard: GoalGuard = "avgW(>64)<+10%".parse().expect("a guard");
        assert_eq!(guard.figure, GoalFigure::Widths { above: 64, most: u32::MAX, longest: false });
        assert_eq!(guard.to_string(), "avgW(>64)<+10%");
        assert!(guard.is_kept(100.0, 110.0) && !guard.is_kept(100.0, 111.0));
        assert_eq!("maxW(<=8)<48h".parse::<GoalGuard>().map(|g| g.to_string()).as_deref(), Ok("maxW(<=8)<172800s"));
        assert!("avgW(>64)".parse::<GoalGuard>().is_err());
    }

    #[test]
    fn goals_are_read_as_they_are_written() {
        for (text, canonical_text) in [
            ("tradeoff(Tw:avgX)", "tradeoff(Tw:avgX)"),
            (" Lexical( maxw > avgw )", "lexical(maxW>avgW)"),
            ("avgx", "avgX"),
            ("bounded_slowdown_mean", "bounded_slowdown_mean"),
            ("tradeoff(Tw(50h):wait_mean)", "tradeoff(Tw(180000s):wait_mean)"),
        ] {
            assert_eq!(text.parse::<AdviceGoal>().map(|goal| goal.to_string()).as_deref(), Ok(canonical_text));
        }
        for (text, part) in [
            ("tradeof(Tw:avgX)", "Did you mean `tradeoff`?"),
            ("tradeoff(Tw:avgXX)", "Did you mean `avgX`?"),
            ("tradeoff(Tw:Tw)", "given twice"),
            ("tradeoff", "one list"),
            ("tradeoff(Tw,avgX)", "one list"),
            ("best", "no measure"),
        ] {
            let error = text.parse::<AdviceGoal>().expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        assert_eq!(
            "tradeoff(Tw:avgX)".parse::<AdviceGoal>().ok().and_then(|g| g.search_policy()).as_deref(),
            Some("goal(tradeoff(Tw:avgX))")
        );
        assert_eq!("avgX".parse::<AdviceGoal>().ok().and_then(|g| g.search_policy()), None);
        assert_eq!("tradeoff(wait_mean)".parse::<AdviceGoal>().ok().and_then(|g| g.search_policy()), None);
    }

    #[test]
    fn changes_are_weighed_as_the_goal_says() {
        let tradeoff: AdviceGoal = "tradeoff(Tw:avgX)".parse().expect("valid");
        assert!((tradeoff.goal_change(&[100.0, 10.0], &[50.0, 11.0]) + 0.2).abs() < 1e-12);
        assert!(
            (tradeoff.goal_change(&[0.0, 10.0], &[50.0, 10.0]) - 0.5).abs() < 1e-12,
            "from nothing to something counts as all"
        );
        assert!(tradeoff.goal_change(&[1.0, 1.005], &[0.1, 1.0]).abs() < 1e-12, "no user notices that");
        let lexical: AdviceGoal = "lexical(maxW>avgW)".parse().expect("valid");
        assert!((lexical.goal_change(&[10_000.0, 100.0], &[10_090.0, 50.0]) + 0.5).abs() < 1e-12, "0.9 % is no change");
        assert!(lexical.goal_change(&[10_000.0, 100.0], &[10_100.0, 50.0]) > 0.0);
        assert!(lexical.goal_change(&[1.0, 1.0], &[1.0, 1.0]).abs() < 1e-12);
        // 90 s more of excess are a tripling of 40 s, and nothing beside waits of hours.
        assert!((tradeoff.goal_change(&[40.0, 20.0], &[130.0, 14.0]) - 0.975).abs() < 1e-12);
        assert!((tradeoff.change_beyond(&[40.0, 20.0], &[130.0, 14.0], 250.0) + 0.15).abs() < 1e-12);
        assert_eq!(tradeoff.counting_figures(&[40.0, 20.0], &[130.0, 14.0], 250.0), [1]);
    }

    #[test]
    fn guards_are_read_and_kept() {
        for (text, canonical_text, most) in [
            ("maxW<+20%", "maxW<+20%", 120.0),
            ("maxW <= 20%", "maxW<+20%", 120.0),
            ("avgX<-5%", "avgX<-5%", 95.0),
            ("maxW<2h", "maxW<7200s", 7200.0),
            ("avgX<10", "avgX<10", 10.0),
        ] {
            let guard: GoalGuard = text.parse().expect(text);
            assert_eq!((guard.to_string().as_str(), guard.largest_allowed(100.0).round()), (canonical_text, most));
            assert!(guard.is_kept(100.0, most) && !guard.is_kept(100.0, most * 1.01));
        }
        for (text, part) in [
            ("maxW", "no guard"),
            ("maxX<+20%", "Did you mean `maxW`?"),
            ("maxW<lots", "no bound of maxW"),
            ("maxW<-100%", "no bound"),
            ("avgX<10h", "no bound"),
        ] {
            let error = text.parse::<GoalGuard>().expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
