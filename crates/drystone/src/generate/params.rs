//! Parameters of generated workloads, and their checks.

use crate::model::{Procs, Span, WorkloadError};
use serde::{Deserialize, Serialize};

/// Variant of the model of Lublin & Feitelson that draws sizes, run times and arrivals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadModel {
    /// One type of job.
    #[default]
    Typeless,
    /// Batch and interactive jobs, each with their own arrivals, merged. The type is the SWF queue
    /// number: 0 for interactive jobs, 1 for batch jobs. The two have different users.
    Typed,
}

/// Length of the workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadLength {
    /// This many jobs.
    Jobs(u32),
    /// As many jobs as it takes to offer the target load for this long; without a target load, as
    /// many as arrive in it.
    Span(Span),
}

/// Everything that determines a synthetic workload: the same parameters give the same workload.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Processors of the machine, at least 1.
    pub procs: Procs,
    /// Length of the workload.
    pub length: WorkloadLength,
    /// Offered load to meet, as [`Workload::offered_load`](crate::model::Workload::offered_load)
    /// measures it: work per processor-second between the first and the last submit. Above 0; may
    /// exceed 1. `None` leaves the arrivals as the model draws them.
    pub load: Option<f64>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Variant of the model.
    #[serde(default)]
    pub model: WorkloadModel,
    /// The largest estimate, and so the longest run time. From one hour to a year. The default is
    /// 18 hours; see [`super`].
    #[serde(default = "default_max_estimate")]
    pub max_estimate: Span,
    /// Behaviour of users.
    #[serde(default)]
    pub habits: Habits,
}

fn default_max_estimate() -> Span {
    Span(18 * Span::HOUR.0)
}

impl Params {
    /// `jobs` jobs for a machine of `procs` processors, everything else by default: typeless,
    /// natural load, seed 0.
    #[must_use]
    pub fn new(procs: Procs, jobs: u32) -> Params {
        Params {
            procs,
            length: WorkloadLength::Jobs(jobs),
            load: None,
            seed: 0,
            model: WorkloadModel::default(),
            max_estimate: default_max_estimate(),
            habits: Habits::default(),
        }
    }

    /// Refuses what makes no workload.
    ///
    /// # Errors
    /// See [`GenerateError`].
    pub fn check_params(&self) -> Result<(), GenerateError> {
        if self.procs == 0 {
            return Err(GenerateError::NoProcessors);
        }
        match self.length {
            WorkloadLength::Jobs(0) => return Err(GenerateError::NoJobs),
            WorkloadLength::Span(span) if span <= Span::ZERO => return Err(GenerateError::NoSpan(span)),
            WorkloadLength::Jobs(_) | WorkloadLength::Span(_) => {}
        }
        if let Some(load) = self.load
            && !(load > 0.0 && load.is_finite())
        {
            return Err(GenerateError::BadLoad(load));
        }
        if self.max_estimate < Span::HOUR || self.max_estimate > LARGEST_MAX_ESTIMATE {
            return Err(GenerateError::BadMaxEstimate(self.max_estimate));
        }
        self.habits.check_habits()
    }
}

const LARGEST_MAX_ESTIMATE: Span = Span(366 * Span::DAY.0);

/// Behaviour of users: our own model. The defaults are calibrated on real logs; see [`super`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Habits {
    /// Number of users; by default 1.5 times the square root of the number of jobs. With types, of
    /// each type.
    pub users: Option<u32>,
    /// The r-th most active user starts sessions at a rate proportional to r^−activity.
    pub activity: f64,
    /// A session has at least k jobs with probability k^−tail. Above 0.
    pub session_tail: f64,
    /// No session has more jobs than this.
    pub longest_session: u32,
    /// Median of the time from one submit of a session to when the next is due, in seconds;
    /// log-normal. Above 0.
    pub think_time: f64,
    /// Standard deviation of its natural logarithm.
    pub think_scatter: f64,
    /// A session ends where no arrival comes within this many seconds after the next job is due.
    pub patience: u32,
    /// A campaign, a series of similar jobs, has at least k jobs with probability k^−tail. Above 0.
    pub campaign_tail: f64,
    /// No campaign has more jobs than this.
    pub longest_campaign: u32,
    /// A campaign ends where the natural logarithms of run times, noise included, would differ by
    /// more than this: few jobs make many short campaigns rather than a few of unlike jobs.
    pub breadth: f64,
    /// Spread of run times within a campaign: standard deviation of the noise in natural
    /// logarithms.
    pub scatter: f64,
    /// Probability that a job is odd: its run time has little to do with its campaign.
    pub odd_jobs: f64,
    /// The `scatter` of odd jobs.
    pub odd_scatter: f64,
    /// Number of fitting estimates that a user considers before giving the smallest of them; 1 is
    /// the model of Tsafrir et al.
    pub care: u32,
    /// Difference between the campaigns of one user: 0, as similar as possible; 1, as different as
    /// those of all users.
    pub variety: f64,
}

impl Default for Habits {
    fn default() -> Habits {
        Habits {
            users: None,
            activity: 0.8,
            session_tail: 1.4,
            longest_session: 500,
            think_time: 10.0,
            think_scatter: 1.5,
            patience: 3_600,
            campaign_tail: 1.1,
            longest_campaign: 500,
            breadth: 0.5,
            scatter: 0.1,
            odd_jobs: 0.12,
            odd_scatter: 3.0,
            care: 8,
            variety: 0.15,
        }
    }
}

impl Habits {
    fn check_habits(&self) -> Result<(), GenerateError> {
        let bad = |name, value: f64, expected| Err(GenerateError::BadHabit { name, value, expected });
        for (name, count) in [
            ("users", self.users.unwrap_or(1)),
            ("longest_session", self.longest_session),
            ("care", self.care),
            ("longest_campaign", self.longest_campaign),
        ] {
            if count == 0 {
                return bad(name, 0.0, "at least 1");
            }
        }
        for (name, value) in [
            ("session_tail", self.session_tail),
            ("campaign_tail", self.campaign_tail),
            ("think_time", self.think_time),
        ] {
            if !(value > 0.0 && value.is_finite()) {
                return bad(name, value, "above 0");
            }
        }
        for (name, value) in [
            ("activity", self.activity),
            ("breadth", self.breadth),
            ("scatter", self.scatter),
            ("odd_scatter", self.odd_scatter),
            ("think_scatter", self.think_scatter),
        ] {
            if !(0.0..=20.0).contains(&value) {
                return bad(name, value, "from 0 to 20");
            }
        }
        for (name, value) in [("odd_jobs", self.odd_jobs), ("variety", self.variety)] {
            if !(0.0..=1.0).contains(&value) {
                return bad(name, value, "from 0 to 1");
            }
        }
        Ok(())
    }
}

/// Reason why no workload can be generated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// The machine has no processor.
    #[error("a machine needs at least one processor")]
    NoProcessors,
    /// Zero jobs were asked for.
    #[error("a workload needs at least one job")]
    NoJobs,
    /// The span is zero or negative.
    #[error("a workload needs a span above 0 s, not {0} s")]
    NoSpan(Span),
    /// The load is not a number above 0.
    #[error("the load must be a finite number above 0, not {0}")]
    BadLoad(f64),
    /// The load is so low that the times would exceed what a workload can hold, or so high that the
    /// jobs would arrive within a second.
    #[error("a load of {load} would spread {jobs} jobs over {span:.3e} s")]
    UnreachableLoad {
        /// The load asked for.
        load: f64,
        /// Number of jobs.
        jobs: usize,
        /// The time between the first and the last submit that it takes, in seconds.
        span: f64,
    },
    /// The largest estimate is out of range.
    #[error("the largest estimate must be from one hour (3600 s) to 366 days (31622400 s), not {0} s")]
    BadMaxEstimate(Span),
    /// A habit is out of range.
    #[error("{name} must be {expected}, not {value}")]
    BadHabit {
        /// Its name in [`Habits`].
        name: &'static str,
        /// The value given.
        value: f64,
        /// Allowed values.
        expected: &'static str,
    },
    /// The span takes more jobs than can be numbered.
    #[error("more than {max} jobs", max = u32::MAX)]
    TooManyJobs,
    /// The generated jobs are no workload (times beyond the limit, without a target load).
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}
