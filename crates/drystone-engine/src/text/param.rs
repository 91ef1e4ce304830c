//! Parameters: what they are called, what they take, what they mean.

use super::Takes;

crate::word_enum! {
    /// Audience of a parameter. Help shows the main ones first.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
    pub enum ParamLevel {
        /// A choice that a site may well make.
        #[default]
        Main = "main",
        /// A choice in which published studies differ: needed to repeat one.
        Study = "study",
        /// A choice inside the algorithm, to tune or examine it.
        Expert = "expert",
    }
}

/// A parameter of a policy or a predictor.
///
/// ```
/// use drystone_core::policy::{Param, Takes};
///
/// const DEPTH: Param = Param::new(
///     "depth",
///     "all",
///     &[Takes::Words(&["all"]), Takes::Whole { from: 1, to: 1000 }],
///     "number of waiting jobs considered in one pass",
/// );
/// assert_eq!(DEPTH.describe_values(), "all|a whole number from 1 to 1000");
/// assert!(DEPTH.accepts_text("all") && DEPTH.accepts_text("1000") && !DEPTH.accepts_text("0"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Param {
    /// Its key.
    pub name: &'static str,
    /// Its value where it is not given.
    pub default: &'static str,
    /// The types of values that it takes; one of them is enough.
    pub takes: &'static [Takes],
    /// Meaning.
    pub meaning: &'static str,
    /// Audience.
    pub level: ParamLevel,
}

impl Param {
    /// A main parameter.
    #[must_use]
    pub const fn new(
        name: &'static str,
        default: &'static str,
        takes: &'static [Takes],
        meaning: &'static str,
    ) -> Param {
        Param { name, default, takes, meaning, level: ParamLevel::Main }
    }

    /// Marks the parameter as needed to repeat published studies only.
    #[must_use]
    pub const fn for_studies(mut self) -> Param {
        self.level = ParamLevel::Study;
        self
    }

    /// Marks the parameter as one to tune or examine the algorithm.
    #[must_use]
    pub const fn for_experts(mut self) -> Param {
        self.level = ParamLevel::Expert;
        self
    }

    /// The values it takes, for people.
    #[must_use]
    pub fn describe_values(&self) -> String {
        self.takes.iter().map(ToString::to_string).collect::<Vec<_>>().join("|")
    }

    /// Returns whether it accepts this value. Some values need others beside them: only building
    /// the policy tells that.
    #[must_use]
    pub fn accepts_text(&self, text: &str) -> bool {
        self.takes.iter().any(|takes| takes.accepts_text(text))
    }

    /// Values to try. Each is accepted.
    #[must_use]
    pub fn sample_values(&self) -> Vec<String> {
        self.takes.iter().flat_map(Takes::sample_values).collect()
    }

    /// Returns the mistake in its declaration.
    pub fn find_problem(&self) -> Option<String> {
        let Param { name, default, .. } = *self;
        let plain = !name.is_empty() && name.chars().all(|c| super::is_name(c) && !c.is_ascii_uppercase());
        if !plain {
            return Some(format!("the parameter `{name}` needs a name of small letters, digits, `-`, `_`, `.` or `+`"));
        }
        if !self.accepts_text(default) {
            return Some(format!(
                "`{name}` does not take its own default `{default}`; it takes {}",
                self.describe_values()
            ));
        }
        None
    }
}
