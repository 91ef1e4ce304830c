//! Subject of a trial: a policy, its guarantees, and the size limits of its cases.

use crate::case::CaseLimits;
use drystone::engine::Scheduler;
use drystone::policy::PolicySpec;
use std::fmt;

/// Guarantee of a policy beyond the rules of every schedule.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum Guarantee {
    /// Jobs start in the order of their arrival.
    InOrder,
    /// No job waits while it fits the free processors.
    WorkConserving,
    /// If no job outlives its first prediction, none starts later than first promised.
    KeepsPromises,
    /// If moreover run times are as predicted and no job is withdrawn, each starts when first
    /// promised, to the second.
    ExactPromises,
    /// No job is suspended, so each has one segment.
    Uninterrupted,
    /// Suspended jobs resume where they were.
    GoesOnInPlace,
    /// No job is suspended more often.
    SuspendsAtMost(u32),
    /// A job that outlives its estimate may be killed, once its estimate is over.
    MayKill,
    /// Any number of threads gives one schedule
    /// ([`Policy::set_threads`](drystone::policy::Policy::set_threads)).
    AnyThreads,
    /// It remembers nothing: what it decides follows from what waits and runs, so that a simulation
    /// cut anywhere goes on as it did.
    Forgets,
    /// Another text gives an equal schedule.
    SameAs(String),
}

/// A policy that is tried.
pub struct Subject {
    /// Its text, or a name.
    pub name: String,
    /// Makes a fresh scheduler of it.
    pub make: Box<dyn Fn() -> Scheduler>,
    /// Guarantees beyond the rules of every schedule.
    pub guarantees: Vec<Guarantee>,
    /// Size limits of its cases.
    pub limits: CaseLimits,
    /// The text of its predictor.
    pub predictor: String,
}

impl Subject {
    /// A policy by its text, which guarantees nothing.
    #[must_use]
    pub fn from_spec(spec: &PolicySpec) -> Subject {
        let own_spec = spec.clone();
        Subject {
            name: spec.text().to_string(),
            make: Box::new(move || own_spec.build_scheduler()),
            guarantees: Vec::new(),
            limits: CaseLimits::default(),
            predictor: parameter_value(spec, "predict"),
        }
    }

    /// With these guarantees.
    #[must_use]
    pub fn with_guarantees(self, guarantees: impl Into<Vec<Guarantee>>) -> Subject {
        Subject { guarantees: guarantees.into(), ..self }
    }

    /// Returns whether it plans with estimates, times a factor or not.
    #[must_use]
    pub fn plans_with_estimates(&self) -> bool {
        !["recent", "quantile", "deviations", "learn", "random"].iter().any(|word| self.predictor.contains(word))
    }

    /// With cases no larger than this.
    #[must_use]
    pub fn with_limits(self, limits: CaseLimits) -> Subject {
        Subject { limits, ..self }
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("name", &self.name)
            .field("guarantees", &self.guarantees)
            .finish_non_exhaustive()
    }
}

/// The value of a parameter in force.
#[must_use]
pub fn parameter_value(spec: &PolicySpec, name: &str) -> String {
    spec.parameters().into_iter().find(|p| p.0 == name).map(|p| p.1).unwrap_or_default()
}
