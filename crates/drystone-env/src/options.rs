//! Options of an environment.

use crate::error::EnvError;
use crate::features::{Observation, RowFeature};
use drystone::metrics::Measure;
use drystone::parts::Order;
use drystone::policy::PolicySpec;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// An enum of words.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident, $what:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)+ }) => {
        drystone::word_enum! {
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
            pub enum $type { $($(#[$vdoc])* $variant = $text,)+ }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = EnvError;
            fn from_str(word: &str) -> Result<$type, EnvError> {
                $type::ALL.iter().copied().find(|one| one.name() == word).ok_or_else(|| {
                    let all: Vec<&str> = $type::ALL.iter().map(|one| one.name()).collect();
                    EnvError::Option(format!("{}: there is no `{word}`; there are {}", $what, all.join(", ")))
                })
            }
        }
    };
}

words! {
    /// Meaning of an action.
    Act, "act" {
        /// The row of a waiting job. If the job fits, it starts; else it is next, and the machine
        /// goes on until it does (RLScheduler, Zhang et al. SC 2020).
        #[default]
        Pick = "pick",
        /// The row of a waiting job that fits, which starts; or, behind the last row, to wait until
        /// something happens.
        StartOrWait = "start_or_wait",
        /// 1 accepts the job that an order proposes, 0 puts it off (SchedInspector, Zhang et al.
        /// HPDC 2022).
        Accept = "accept",
    }
}

words! {
    /// Jobs that start while another is blocked.
    Fill, "fill" {
        /// As EASY has it: a job that ends by the time at which the blocked one can start, or that
        /// needs no more processors than are left over then.
        #[default]
        Easy = "easy",
        /// A job that is over before that time. RLScheduler fills so.
        Short = "short",
        /// Nothing.
        Nothing = "none",
    }
}

words! {
    /// Choice of the waiting jobs with a row, where more wait than there are rows.
    Rows, "order" {
        /// Those that have waited longest.
        #[default]
        Head = "head",
        /// Half of those that have waited longest, half of the newest.
        HeadAndTail = "head+tail",
        /// Those with the shortest predictions.
        Shortest = "shortest",
        /// In turn one of the shortest and one of the narrowest. RLScheduler has it so.
        ShortestAndSmallest = "shortest+smallest",
    }
}

words! {
    /// Moment at which a finished environment begins another episode.
    Autoreset, "autoreset" {
        /// At the next step, which takes no action.
        #[default]
        NextStep = "next_step",
        /// At once; the last observation is returned separately.
        SameStep = "same_step",
        /// On reset only.
        Disabled = "disabled",
    }
}

/// Reward of an episode.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reward {
    /// Minus the mean of a measure over the jobs of the episode.
    Mean(Measure),
    /// The share of the machine that the jobs of the episode use from the first submit to the last
    /// end.
    Utilisation,
}

impl FromStr for Reward {
    type Err = EnvError;

    /// `-bounded_slowdown_mean`, `-wait_mean`, …; `utilisation`.
    fn from_str(text: &str) -> Result<Reward, EnvError> {
        let measure = text.strip_prefix('-').and_then(|rest| rest.strip_suffix("_mean"));
        if let Some(measure) = measure.and_then(|word| word.parse().ok()) {
            return Ok(Reward::Mean(measure));
        }
        if text == "utilisation" {
            return Ok(Reward::Utilisation);
        }
        let means: Vec<String> = Measure::ALL.iter().map(|measure| format!("-{measure}_mean")).collect();
        Err(EnvError::Option(format!("reward: there is no `{text}`; there are {}, utilisation", means.join(", "))))
    }
}

/// Options of an environment.
#[derive(Clone, Debug)]
pub struct EnvOptions {
    /// Meaning of an action.
    pub act: Act,
    /// Jobs that start while another is blocked.
    pub fill: Fill,
    /// Jobs of an episode.
    pub jobs: u32,
    /// Rows of an observation.
    pub window: u32,
    /// Choice of the jobs with a row.
    pub rows: Rows,
    /// Numbers observed.
    pub observation: Observation,
    /// Reward of an episode.
    pub reward: Reward,
    /// True if each start is rewarded with its job's share, false if the reward comes with the end
    /// of the episode. The sum is the same.
    pub dense: bool,
    /// The policy that left the machine as an episode finds it; an empty machine where there is
    /// none.
    pub warm: Option<PolicySpec>,
    /// Prediction of run times, in the syntax of `predict=`.
    pub predict: String,
    /// Ranges of jobs for episodes, by their places in the log: each episode lies within one range.
    /// The whole log if empty.
    pub split: Vec<Range<u32>>,
    /// Order that proposes jobs, where they are accepted or put off.
    pub base: Order,
    /// Longest time for which a job is put off, in seconds.
    pub patience: u32,
    /// Largest number of times that a job is put off.
    pub rejections: u32,
    /// Moment at which another episode begins.
    pub autoreset: Autoreset,
}

impl Default for EnvOptions {
    fn default() -> EnvOptions {
        EnvOptions {
            act: Act::Pick,
            fill: Fill::Easy,
            jobs: 256,
            window: 128,
            rows: Rows::Head,
            observation: Observation::default(),
            reward: Reward::Mean(Measure::BoundedSlowdown),
            dense: false,
            warm: None,
            predict: "estimate".to_string(),
            split: Vec::new(),
            base: Order::Sjf,
            patience: 600,
            rejections: 72,
            autoreset: Autoreset::NextStep,
        }
    }
}

impl EnvOptions {
    /// Number of actions.
    #[must_use]
    pub fn action_count(&self) -> usize {
        match self.act {
            Act::Pick => self.window as usize,
            Act::StartOrWait => self.window as usize + 1,
            Act::Accept => 2,
        }
    }

    /// Returns whether the agent sees true run times, or predictions equal to them.
    #[must_use]
    pub fn is_clairvoyant(&self) -> bool {
        self.observation.features().contains(&RowFeature::Run) || self.predict.contains("perfect")
    }

    /// Refuses what makes no environment.
    ///
    /// # Errors
    /// Options that contradict each other or are out of range.
    pub fn check_options(&self) -> Result<(), EnvError> {
        let refuse = |problem: String| Err(EnvError::Option(problem));
        if self.jobs == 0 {
            return refuse("jobs: an episode has at least 1 job".to_string());
        }
        if !(1..=4096).contains(&self.window) {
            return refuse(format!("window: {} rows are not possible; expected 1 to 4096", self.window));
        }
        if self.act == Act::StartOrWait && self.fill != Fill::Nothing {
            return refuse(
                "fill: where the agent starts jobs or waits, no job is blocked that gaps could be filled around; fill=None".to_string(),
            );
        }
        if self.act == Act::Accept && !(1..=31_536_000).contains(&self.patience) {
            return refuse(format!("patience: {} s are not possible; expected 1 s to a year", self.patience));
        }
        if self.act == Act::Accept && self.rejections == 0 {
            return refuse(
                "rejections: where no job is ever put off there is no question; expected at least 1".to_string(),
            );
        }
        if let Order::Formula(formula) = &self.base {
            if formula.peek_problem().is_some() {
                return refuse("base: the order knows true run times".to_string());
            }
            if !formula.usage_windows().is_empty() {
                return refuse("base: an environment does not track the recent usage of users (`usage`)".to_string());
            }
        }
        Ok(())
    }
}
