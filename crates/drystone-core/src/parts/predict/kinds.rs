//! Every predictor by name: its parameters, how it is built; those of this crate and those that
//! others register.

use super::{
    AboveEstimate, Branch, Deviations, Fallback, JobWeight, Learner, LearnerOptions, Like, Perfect, Predictor,
    Propagation, Quantile, RandomFactor, Recency, RecentOptions, RecentPredictor, RecentWindow, UserEstimate,
    WindowMetric,
};
use crate::text::{Args, Param, RegisterError, SpecError, Takes};
use std::fmt;
use std::sync::{PoisonError, RwLock};

/// Constructor of a predictor from its parameters.
pub type BuildPredictor = &'static (dyn Fn(&Args<'_>) -> Result<Box<dyn Predictor>, SpecError> + Send + Sync);

/// A family of predictors, named in `predict=`.
#[non_exhaustive]
pub struct PredictorKind {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Source.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The parameter whose value may stand without its key, as in `recent(2)`, if there is one.
    pub unnamed: Option<&'static str>,
    /// True if it learns from history: then `correct=auto` corrects to the user's estimate.
    pub learns: bool,
    /// Builds it from its parameters.
    pub build: BuildPredictor,
}

impl PredictorKind {
    /// A family without parameters that learns from history.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str, build: BuildPredictor) -> PredictorKind {
        PredictorKind { name, summary, source: "", params: &[], unnamed: None, learns: true, build }
    }

    /// With a source: a paper, a program, a site.
    #[must_use]
    pub const fn with_source(mut self, source: &'static str) -> PredictorKind {
        self.source = source;
        self
    }

    /// With these parameters.
    #[must_use]
    pub const fn with_params(mut self, params: &'static [Param]) -> PredictorKind {
        self.params = params;
        self
    }

    /// With a parameter whose value may stand without its key.
    #[must_use]
    pub const fn with_unnamed_param(mut self, param: &'static str) -> PredictorKind {
        self.unnamed = Some(param);
        self
    }

    /// One that learns nothing.
    #[must_use]
    pub const fn without_history(mut self) -> PredictorKind {
        self.learns = false;
        self
    }

    /// Returns the mistake in its declaration, found without building it.
    fn declaration_problem(&self) -> Option<String> {
        if let Some(problem) = crate::text::name_problem(self.name) {
            return Some(problem);
        }
        if let Some(problem) = self.params.iter().find_map(Param::find_problem) {
            return Some(problem);
        }
        let twice = (1..self.params.len()).find(|&at| self.params[..at].iter().any(|p| p.name == self.params[at].name));
        if let Some(at) = twice {
            return Some(format!("it declares `{}` twice", self.params[at].name));
        }
        let unknown = self.unnamed.filter(|name| !self.params.iter().any(|p| p.name == *name))?;
        Some(format!("`unnamed` is `{unknown}`, which is no parameter of it"))
    }
}

impl fmt::Debug for PredictorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Names that stand for a predictor with its predictions multiplied.
pub(super) const FACTORS: [&str; 2] = ["double", "times"];

/// The predictors of this crate. One entry each.
static BUILT_IN: &[&PredictorKind] = &[&ESTIMATE, &PERFECT, &RECENT, &QUANTILE, &DEVIATIONS, &LEARN, &RANDOM];

static ESTIMATE: PredictorKind = PredictorKind::new("estimate", "the user's estimate", &|_| Ok(Box::new(UserEstimate)))
    .with_source("common to all batch systems")
    .without_history();

static PERFECT: PredictorKind =
    PredictorKind::new("perfect", "the true run time: a bound, not for real machines", &|_| Ok(Box::new(Perfect)))
        .with_source("the bound of every study of predictions")
        .without_history();

static RECENT: PredictorKind = PredictorKind::new("recent", "run times of the user's last jobs", &|args| {
    Ok(Box::new(RecentPredictor::new(parse_recent(args)?)))
})
.with_source("Tsafrir, Etsion & Feitelson 2007; `recency=termination,above=clip` after Gaussier et al. 2015")
.with_unnamed_param("size")
.with_params(&[
    Param::new("size", "2", WINDOW_SIZE, "number of jobs in the window"),
    Param::new(
        "window",
        "all",
        &[Takes::Words(&["all", "immediate", "extended"])],
        "jobs of the user that make the window",
    ),
    Param::new("full", "yes", &[Takes::NO_YES], "yes: the window must be full to predict from"),
    Param::new("metric", "average", &[Takes::Words(&["average", "median", "min", "max"])], "statistic of the window"),
    Param::new("fallback", "estimate", &[Takes::Words(&["estimate", "relative"])], "prediction without a window"),
    Param::new(
        "recency",
        "submission",
        &[Takes::Words(&["submission", "termination"])],
        "order by which jobs are recent",
    ),
    Param::new(
        "above",
        "discard",
        &[Takes::Words(&["discard", "clip", "keep"])],
        "treatment of predictions above the estimate",
    ),
    Param::new(
        "propagate",
        "no",
        &[Takes::Words(&["no", "waiting", "running"])],
        "earlier predictions that new history changes",
    ),
]);

static QUANTILE: PredictorKind = PredictorKind::new(
    "quantile",
    "a quantile of the run times of the user's last jobs, relative to their estimates",
    &|args| {
        let (size, least) = (args.get("size")?, args.get("least")?);
        if least > size {
            return Err(args.spec_error(format!("quantile waits for {least} jobs but remembers only {size}")));
        }
        Ok(Box::new(Quantile::new(args.get("q")?, size, least)))
    },
)
.with_source("Drystone")
.with_unnamed_param("q")
.with_params(&[
    Param::new("q", "0.5", &[Takes::Number { from: 0.0, to: 1.0 }], "the quantile"),
    Param::new("size", "20", WINDOW_SIZE, "number of jobs remembered"),
    Param::new("least", "2", WINDOW_SIZE, "least number of jobs to predict from"),
]);

static DEVIATIONS: PredictorKind = PredictorKind::new(
    "deviations",
    "mean and k standard deviations of the run times of the user's last similar jobs",
    &|args| {
        let (size, least) = (args.get("size")?, args.get("least")?);
        if least > size {
            return Err(args.spec_error(format!("deviations waits for {least} jobs but remembers only {size}")));
        }
        Ok(Box::new(Deviations::new(args.get("k")?, args.choose_value("like", LIKES)?, size, least)))
    },
)
.with_source("Mu'alem & Feitelson 2001")
.with_unnamed_param("k")
.with_params(&[
    Param::new("k", "1.5", &[Takes::Number { from: 0.0, to: 100.0 }], "standard deviations above the mean"),
    Param::new(
        "like",
        "user",
        &[Takes::Words(&["user", "procs", "executable", "both"])],
        "similar jobs: the user's; those of as many processors, of the same executable, or both",
    ),
    Param::new("size", "20", WINDOW_SIZE, "number of jobs remembered, of each kind"),
    Param::new("least", "2", WINDOW_SIZE, "least number of jobs to predict from"),
]);

static LEARN: PredictorKind =
    PredictorKind::new("learn", "a model of all users' jobs, fitted whenever a job ends", &|args| {
        Ok(Box::new(Learner::new(parse_learner(args)?)))
    })
    .with_source("Gaussier, Glesser, Reis & Trystram 2015")
    .with_params(&[
        Param::new("under", "linear", BRANCH, "the loss of predictions that are too short"),
        Param::new("over", "squared", BRANCH, "the loss of predictions that are too long"),
        Param::new("bias", "1", POSITIVE, "the weight of the loss of predictions that are too short"),
        Param::new("weight", "area", &[Takes::Words(&["even", "area", "small", "long", "wide"])], "weight of jobs"),
        Param::new("rate", "5000", POSITIVE, "learning rate").for_experts(),
        Param::new(
            "l2",
            "4000000000",
            &[Takes::Number { from: 0.0, to: 1e24 }],
            "strength of the regularisation of coefficients",
        )
        .for_experts(),
    ]);

static RANDOM: PredictorKind = PredictorKind::new(
    "random",
    "the user's estimate times a random number, of each job its own: to see what inaccuracy does",
    &|args| Ok(Box::new(RandomFactor::new(args.get("most")?, args.get("seed")?))),
)
.with_source("after the randomised estimates that Tsafrir, Etsion & Feitelson 2007 speak of; their rule is Drystone's")
.with_unnamed_param("most")
.without_history()
.with_params(&[
    Param::new("most", "2", &[Takes::Number { from: 1.0, to: 1_000.0 }], "largest factor; the least is 1"),
    Param::new("seed", "1", &[Takes::Whole { from: 0, to: 1_000_000_000 }], "seed of the random numbers"),
]);

const WINDOW_SIZE: &[Takes] = &[Takes::Whole { from: 1, to: 1_000 }];
const BRANCH: &[Takes] = &[Takes::Words(&["linear", "squared"])];
const POSITIVE: &[Takes] = &[Takes::Above { above: 0.0, to: 1e24 }];

pub(super) fn parse_recent(args: &Args<'_>) -> Result<RecentOptions, SpecError> {
    Ok(RecentOptions {
        size: args.get("size")?,
        window: args.choose_value("window", WINDOWS)?,
        full: args.is_yes("full")?,
        metric: args.choose_value("metric", METRICS)?,
        fallback: args.choose_value("fallback", FALLBACKS)?,
        recency: args.choose_value("recency", RECENCIES)?,
        above: args.choose_value("above", ABOVES)?,
        propagation: args.choose_value("propagate", PROPAGATIONS)?,
    })
}

const WINDOWS: &[(&str, RecentWindow)] =
    &[("all", RecentWindow::All), ("immediate", RecentWindow::Immediate), ("extended", RecentWindow::Extended)];
const LIKES: &[(&str, Like)] =
    &[("user", Like::User), ("procs", Like::Procs), ("executable", Like::Executable), ("both", Like::Both)];
const METRICS: &[(&str, WindowMetric)] = &[
    ("average", WindowMetric::Average),
    ("median", WindowMetric::Median),
    ("min", WindowMetric::Min),
    ("max", WindowMetric::Max),
];
const FALLBACKS: &[(&str, Fallback)] = &[("estimate", Fallback::Estimate), ("relative", Fallback::Relative)];
const RECENCIES: &[(&str, Recency)] = &[("submission", Recency::Submission), ("termination", Recency::Termination)];
const ABOVES: &[(&str, AboveEstimate)] =
    &[("discard", AboveEstimate::Discard), ("clip", AboveEstimate::Clip), ("keep", AboveEstimate::Keep)];
const PROPAGATIONS: &[(&str, Propagation)] =
    &[("no", Propagation::None), ("waiting", Propagation::Waiting), ("running", Propagation::Running)];
const BRANCHES: &[(&str, Branch)] = &[("linear", Branch::Linear), ("squared", Branch::Squared)];
const WEIGHTS: &[(&str, JobWeight)] = &[
    ("even", JobWeight::Even),
    ("area", JobWeight::Area),
    ("small", JobWeight::Small),
    ("long", JobWeight::Long),
    ("wide", JobWeight::Wide),
];

/// Returns the shortest text that [`parse_recent`] reads back, defaults left out.
pub(super) fn shortest_recent(o: &RecentOptions) -> String {
    let d = RecentOptions::default();
    let mut text = format!("recent({}", o.size);
    let mut append_option = |key: &str, differs: bool, value: &str| {
        if differs {
            text.push_str(&format!(",{key}={value}"));
        }
    };
    append_option("window", o.window != d.window, find_word(o.window, WINDOWS));
    append_option("full", o.full != d.full, if o.full { "yes" } else { "no" });
    append_option("metric", o.metric != d.metric, find_word(o.metric, METRICS));
    append_option("fallback", o.fallback != d.fallback, find_word(o.fallback, FALLBACKS));
    append_option("recency", o.recency != d.recency, find_word(o.recency, RECENCIES));
    append_option("above", o.above != d.above, find_word(o.above, ABOVES));
    append_option("propagate", o.propagation != d.propagation, find_word(o.propagation, PROPAGATIONS));
    text.push(')');
    text
}

fn find_word<T: Copy + PartialEq>(value: T, words: &[(&'static str, T)]) -> &'static str {
    words.iter().find(|w| w.1 == value).map_or("", |w| w.0)
}

fn parse_learner(args: &Args<'_>) -> Result<LearnerOptions, SpecError> {
    let o = LearnerOptions {
        under: args.choose_value("under", BRANCHES)?,
        over: args.choose_value("over", BRANCHES)?,
        bias: args.get("bias")?,
        weight: args.choose_value("weight", WEIGHTS)?,
        rate: args.get("rate")?,
        l2: args.get("l2")?,
    };
    // What is smaller is lost among rounded numbers.
    let is_too_small = |value: f64| value != 0.0 && value < 1e-12;
    match [("bias", o.bias), ("rate", o.rate), ("l2", o.l2)].into_iter().find(|&(_, value)| is_too_small(value)) {
        Some((name, _)) => Err(args.spec_error(format!("{name} of learn is at least 1e-12"))),
        None => Ok(o),
    }
}

/// Predictors registered by other crates, in that order.
static REGISTERED: RwLock<Vec<&'static PredictorKind>> = RwLock::new(Vec::new());

/// Makes a predictor known by name, in this process and from now on: `predict=NAME(...)` then takes
/// it under every policy.
///
/// ```
/// use drystone_core::model::{Job, JobId, Span};
/// use drystone_core::parts::predict::{Prediction, Predictor, PredictorKind, register_predictor};
/// use drystone_core::policy::{Param, PolicySpec, Takes};
/// use serde::{Deserialize, Serialize};
///
/// /// A share of what the user asks for.
/// #[derive(Serialize, Deserialize)]
/// struct Share(f64);
///
/// impl Predictor for Share {
///     fn name(&self) -> &str {
///         "share"
///     }
///     fn predict(&mut self, _id: JobId, job: &Job, _oracle: Option<Span>) -> Prediction {
///         Prediction::from_learned(Span((job.estimate.0 as f64 * self.0) as i64))
///     }
/// }
///
/// static SHARE: PredictorKind =
///     PredictorKind::new("share", "a share of the estimate", &|args| Ok(Box::new(Share(args.get("of")?))))
///         .with_unnamed_param("of")
///         .with_params(&[Param::new("of", "0.5", &[Takes::Above { above: 0.0, to: 1.0 }], "which share")]);
///
/// register_predictor(&SHARE)?;
/// assert!("easy(predict=share(0.25))".parse::<PolicySpec>().is_ok());
/// assert!("easy(predict=double(share))".parse::<PolicySpec>().is_ok());
/// assert!("easy(predict=share(2))".parse::<PolicySpec>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// A name that is taken, also by the predictor itself; a declaration that contradicts itself; a
/// predictor that cannot be built with its defaults.
pub fn register_predictor(kind: &'static PredictorKind) -> Result<(), RegisterError> {
    let unsound = |problem: String| RegisterError::Unsound { name: kind.name.to_string(), problem };
    if let Some(problem) = kind.declaration_problem() {
        return Err(unsound(problem));
    }
    let args = Args { text: kind.name, params: [kind.params, &[]], set: &[] };
    (kind.build)(&args).map_err(|error| unsound(error.problem))?;
    let mut registry = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let by = BUILT_IN.iter().chain(registry.iter()).find(|k| k.name == kind.name).map(|k| k.summary);
    let by = by.or_else(|| FACTORS.contains(&kind.name).then_some("a factor on predictions"));
    if let Some(by) = by {
        return Err(RegisterError::Taken { name: kind.name.to_string(), by: by.to_string() });
    }
    registry.push(kind);
    Ok(())
}

/// All predictors: those of this crate, then those registered, in that order.
#[must_use]
pub fn predictor_kinds() -> Vec<&'static PredictorKind> {
    let registry = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(registry.iter()).copied().collect()
}
