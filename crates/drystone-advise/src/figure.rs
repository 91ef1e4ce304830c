//! Figure of a goal or a guard: one number of the jobs of some weeks.

use drystone::metrics::MeasureObjective;
use drystone::metrics::MetricUnit;
use drystone::model::{EndedJob, Job, Span};
use drystone::policy::goal::GoalMeasure;
use drystone::text::find_nearest;
use std::fmt;
use std::str::FromStr;

/// A number over jobs; less is better. Either a measure of goals (`Tw`, `avgX`) or one of the
/// catalogue (`bounded_slowdown_mean`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GoalFigure {
    /// A measure of goal-oriented scheduling, over the jobs of a period instead of those that wait.
    Goal(GoalMeasure),
    /// Mean or maximum of a measure of jobs.
    Catalogue(MeasureObjective),
    /// Mean or longest wait of the jobs of some widths.
    Widths {
        /// More processors than this.
        above: u32,
        /// So many processors at most.
        most: u32,
        /// The longest wait, not the mean.
        longest: bool,
    },
    /// Mean or longest wait of the jobs of a partition, an account, a user or a QOS.
    Class {
        /// Property that the jobs have in common.
        of: ClassOf,
        /// Its name, as it was given.
        name: &'static str,
        /// Its number in the workload; `None` until the name is looked up.
        number: Option<i32>,
        /// The longest wait, not the mean.
        longest: bool,
    },
}

drystone::word_enum! {
    /// Properties that jobs of a class have in common.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum ClassOf {
        Partition = "partition",
        Account = "account",
        User = "user",
        /// The QOS, which a log has in the number of the queue.
        Qos = "qos",
    }
}

impl ClassOf {
    fn class_number(self, job: &Job) -> i32 {
        match self {
            ClassOf::Partition => job.partition,
            ClassOf::Account => job.group,
            ClassOf::User => job.user,
            ClassOf::Qos => job.queue,
        }
    }
}

/// The widths that are shown unasked: the borders of the classes that pages show.
pub(crate) const SHOWN_WIDTHS: [(u32, u32); 5] = [(0, 1), (1, 8), (8, 32), (32, 64), (64, u32::MAX)];

/// Beyond which wait a wait is excessive, where the figure does not say so itself.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Thresholds {
    /// For `Tw`.
    pub excess: Span,
}

/// Measures of goals that are sums or maxima over jobs.
const GOALS: [&str; 8] = ["maxW", "Tw", "maxTw", "avgW", "avgX", "areaW", "late", "special"];
/// The bound of `avgX`, in seconds.
const BOUND: f64 = 60.0;

impl GoalFigure {
    pub fn unit(&self) -> MetricUnit {
        match self {
            GoalFigure::Goal(GoalMeasure::Slowdown) => MetricUnit::Ratio,
            GoalFigure::Goal(GoalMeasure::Late(_)) => MetricUnit::Share,
            GoalFigure::Goal(_) | GoalFigure::Widths { .. } | GoalFigure::Class { .. } => MetricUnit::Seconds,
            GoalFigure::Catalogue(objective) => objective.measure.unit(),
        }
    }

    /// Returns whether the largest value counts, not the mean.
    pub fn is_maximum(&self) -> bool {
        match self {
            GoalFigure::Goal(measure) => matches!(measure, GoalMeasure::MaxWait | GoalMeasure::LargestExcess(_)),
            GoalFigure::Catalogue(objective) => objective.maximum,
            GoalFigure::Widths { longest, .. } | GoalFigure::Class { longest, .. } => *longest,
        }
    }

    /// Returns whether it is about waits beyond a threshold that is not given.
    pub fn needs_threshold(&self) -> bool {
        matches!(self, GoalFigure::Goal(GoalMeasure::Excess(None) | GoalMeasure::LargestExcess(None)))
    }

    /// Returns whether it is the mean of what jobs wait beyond a threshold.
    pub(crate) fn is_mean_excess(&self) -> bool {
        matches!(self, GoalFigure::Goal(GoalMeasure::Excess(_)))
    }

    /// Smaller differences count as none: no user notices them, however large they are beside what
    /// there is.
    pub fn negligible_change(&self) -> f64 {
        match self.unit() {
            MetricUnit::Seconds => 30.0,
            MetricUnit::Share => 0.000_5,
            MetricUnit::Ratio | MetricUnit::Count => 0.01,
        }
    }

    pub fn name(&self) -> String {
        match self {
            GoalFigure::Goal(GoalMeasure::MaxWait) => "longest wait".to_string(),
            GoalFigure::Goal(GoalMeasure::Excess(_)) => "excessive wait per job".to_string(),
            GoalFigure::Goal(GoalMeasure::LargestExcess(_)) => "largest excessive wait".to_string(),
            GoalFigure::Goal(GoalMeasure::Wait) => "mean wait".to_string(),
            GoalFigure::Goal(GoalMeasure::Slowdown) => "mean slowdown bounded at 60 s".to_string(),
            GoalFigure::Goal(GoalMeasure::Area) => "mean wait weighted by processors".to_string(),
            GoalFigure::Goal(GoalMeasure::Late(_)) => "share of jobs that start late".to_string(),
            GoalFigure::Goal(GoalMeasure::Special(_)) => "mean wait of the jobs that are special".to_string(),
            GoalFigure::Goal(other) => other.to_string(),
            GoalFigure::Catalogue(objective) => {
                format!("{} {}", if objective.maximum { "largest" } else { "mean" }, objective.measure.name())
            }
            GoalFigure::Class { of, name, longest, .. } => {
                format!("{} wait of the {} {name}", if *longest { "longest" } else { "mean" }, of.name())
            }
            GoalFigure::Widths { above, most, longest } => {
                let widths = match (above, most) {
                    (0, 1) => "1 processor".to_string(),
                    (0, most) => format!("up to {most} processors"),
                    (above, &u32::MAX) => format!("more than {above} processors"),
                    (above, most) => format!("{} to {most} processors", u64::from(*above) + 1),
                };
                format!("{} wait of jobs of {widths}", if *longest { "longest" } else { "mean" })
            }
        }
    }

    /// The value of one job and its weight; `None` where the job does not count in it.
    pub(crate) fn job_value(&self, job: &EndedJob<'_>, thresholds: Thresholds) -> Option<(f64, f64)> {
        self.of_job(job.job, (job.wait_time(), job.outcome.ran), thresholds)
    }

    /// The value of a job by its wait and the time that it ran, and its weight.
    pub(crate) fn of_job(&self, job: &Job, (wait, ran): (Span, Span), thresholds: Thresholds) -> Option<(f64, f64)> {
        let seconds = wait.as_f64();
        Some(match self {
            GoalFigure::Goal(GoalMeasure::MaxWait | GoalMeasure::Wait) => (seconds, 1.0),
            GoalFigure::Goal(GoalMeasure::Excess(threshold) | GoalMeasure::LargestExcess(threshold)) => {
                ((seconds - threshold.unwrap_or(thresholds.excess).as_f64()).max(0.0), 1.0)
            }
            GoalFigure::Goal(GoalMeasure::Slowdown) => (1.0 + seconds / ran.as_f64().max(BOUND), 1.0),
            GoalFigure::Goal(GoalMeasure::Area) => (seconds * f64::from(job.procs), f64::from(job.procs)),
            GoalFigure::Goal(GoalMeasure::Late(limit)) => (if wait > *limit { 1.0 } else { 0.0 }, 1.0),
            GoalFigure::Goal(GoalMeasure::Special(select)) => {
                use drystone::policy::goal::SpecialJobs;
                let special = match *select {
                    SpecialJobs::User(user) => job.user == user,
                    SpecialJobs::Group(group) => job.group == group,
                    SpecialJobs::Queue(queue) => job.queue == queue,
                };
                return special.then_some((seconds, 1.0));
            }
            GoalFigure::Goal(GoalMeasure::Unused | GoalMeasure::Fair(_) | GoalMeasure::ShareArea(_)) => return None,
            GoalFigure::Class { of, number, .. } => {
                return (*number == Some(of.class_number(job))).then_some((seconds, 1.0));
            }
            GoalFigure::Widths { above, most, .. } => {
                return (job.procs > *above && job.procs <= *most).then_some((seconds, 1.0));
            }
            GoalFigure::Catalogue(objective) => {
                let value = objective.measure.value_of(wait, ran);
                return (!value.is_nan()).then_some((value, 1.0));
            }
        })
    }
}

impl fmt::Display for GoalFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoalFigure::Goal(measure) => measure.fmt(f),
            GoalFigure::Catalogue(objective) => objective.fmt(f),
            GoalFigure::Class { of, name, longest, .. } => {
                write!(f, "{}({}={name})", if *longest { "maxW" } else { "avgW" }, of.name())
            }
            GoalFigure::Widths { above, most, longest } => {
                let name = if *longest { "maxW" } else { "avgW" };
                match (above, most) {
                    (0, most) => write!(f, "{name}(<={most})"),
                    (above, &u32::MAX) => write!(f, "{name}(>{above})"),
                    (above, most) => write!(f, "{name}(>{above}<={most})"),
                }
            }
        }
    }
}

impl FromStr for GoalFigure {
    type Err = String;

    /// Reads `maxW`, `Tw`, `Tw(50h)`, `maxTw`, `avgW`, `avgX`, `areaW`, `late(24h)`,
    /// `special(queue=2)`, or a mean or maximum of the catalogue such as `bounded_slowdown_mean`.
    fn from_str(text: &str) -> Result<GoalFigure, String> {
        let text = text.trim();
        if let Some(widths) = parse_widths(text) {
            return widths;
        }
        if let Ok(objective) = text.to_ascii_lowercase().parse::<MeasureObjective>() {
            return Ok(GoalFigure::Catalogue(objective));
        }
        let name = text.split('(').next().unwrap_or_default().trim();
        match text.parse::<GoalMeasure>() {
            Ok(GoalMeasure::Unused | GoalMeasure::Fair(_)) => Err(format!(
                "`{text}` is about the jobs that wait at one instant, and has no sum over weeks; expected {}",
                expected_forms()
            )),
            Ok(GoalMeasure::ShareArea(_)) => Err(format!(
                "`{text}` weighs jobs by shares of resources, which only the policy `goal` does; take areaW, which weighs them by \
                 processors, or another of {}",
                expected_forms()
            )),
            Ok(measure) => Ok(GoalFigure::Goal(measure)),
            Err(problem) if GOALS.iter().any(|goal| goal.eq_ignore_ascii_case(name)) => Err(problem),
            Err(_) => {
                let catalogue = catalogue_names();
                let known_names = GOALS.into_iter().chain(catalogue.iter().map(String::as_str));
                let near =
                    find_nearest(name, known_names).map_or(String::new(), |near| format!(" Did you mean `{near}`?"));
                Err(format!("`{text}` is no measure.{near} Expected {}", expected_forms()))
            }
        }
    }
}

/// `avgW(>64)`, `maxW(<=8)`, `avgW(>8<=32)`; `None` where the text is nothing of the kind.
fn parse_widths(text: &str) -> Option<Result<GoalFigure, String>> {
    let (name, inside) = text.strip_suffix(')')?.split_once('(')?;
    let longest = match name.trim().to_ascii_lowercase().as_str() {
        "avgw" => false,
        "maxw" => true,
        _ => return None,
    };
    let inside = inside.trim();
    if let Some(class) = parse_class(inside, longest) {
        return Some(class);
    }
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let width_range = match (inside.strip_prefix('>'), inside.strip_prefix("<=")) {
        (Some(above), _) => match above.split_once("<=") {
            Some((above, most)) => number(above).zip(number(most)),
            None => number(above).map(|above| (above, u32::MAX)),
        },
        (None, Some(most)) => number(most).map(|most| (0, most)),
        (None, None) => None,
    };
    Some(match width_range.filter(|(above, most)| above < most) {
        Some((above, most)) => Ok(GoalFigure::Widths { above, most, longest }),
        None => Err(format!(
            "`{text}`: expected the widths of jobs in brackets, such as {name}(>64), {name}(<=8) or {name}(>8<=32) processors"
        )),
    })
}

/// `partition=gpu`; `None` where the text has no `=` of its own.
fn parse_class(inside: &str, longest: bool) -> Option<Result<GoalFigure, String>> {
    let (word, name) =
        inside.split_once('=').filter(|(word, _)| !word.trim_end().ends_with('<') && !word.contains('>'))?;
    let (word, name) = (word.trim(), name.trim());
    let of = ClassOf::ALL.into_iter().find(|of| of.name().eq_ignore_ascii_case(word));
    let Some(of) = of.filter(|_| !name.is_empty()) else {
        let problem = format!("`{inside}`: expected partition=NAME, account=NAME, user=NAME or qos=NAME in brackets");
        return Some(Err(problem));
    };
    // Figures are read once, from the command line, and copied freely.
    let name: &'static str = Box::leak(name.to_string().into_boxed_str());
    Some(Ok(GoalFigure::Class { of, name, number: None, longest }))
}

/// Means and maxima of the catalogue by name.
fn catalogue_names() -> Vec<String> {
    let mean_and_maximum = |measure| [false, true].map(|maximum| MeasureObjective { measure, maximum }.to_string());
    drystone::metrics::Measure::ALL.into_iter().flat_map(mean_and_maximum).collect()
}

fn expected_forms() -> String {
    "maxW, Tw, Tw(50h), maxTw, avgW, avgW(>64), avgW(partition=gpu), avgX, areaW, late(24h), special(user=1), or a mean or maximum such as bounded_slowdown_mean"
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_are_written() {
        for (text, canonical_text) in [
            ("tw", "Tw"),
            ("Tw(1h)", "Tw(3600s)"),
            ("AVGX", "avgX"),
            ("wait_max", "wait_max"),
            ("late(24h)", "late(86400s)"),
            ("avgw(>64)", "avgW(>64)"),
            ("maxW( <= 8 )", "maxW(<=8)"),
            ("avgW(>8<=32)", "avgW(>8<=32)"),
            ("avgw( Partition = gpu )", "avgW(partition=gpu)"),
            ("maxW(account=physics)", "maxW(account=physics)"),
        ] {
            assert_eq!(text.parse::<GoalFigure>().map(|f| f.to_string()).as_deref(), Ok(canonical_text));
        }
        for (text, part) in [
            ("avgW(64)", "expected the widths of jobs"),
            ("avgW(>64<=8)", "expected the widths of jobs"),
            ("avgW(group=a)", "expected partition=NAME"),
            ("avgW(user=)", "expected partition=NAME"),
            ("avgXX", "Did you mean `avgX`?"),
            ("maxWW", "Did you mean `maxW`?"),
            ("wait_maen", "Did you mean `wait_mean`?"),
            ("unused", "no sum over weeks"),
            ("areaW(gpus)", "only the policy `goal` does"),
            ("Tw(never)", "no length"),
            ("", "no measure"),
        ] {
            let error = text.parse::<GoalFigure>().expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
