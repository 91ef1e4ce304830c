//! Conditions under which parameters count.

use super::Args;
use std::borrow::Cow;
use std::fmt;

/// Condition on another parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParamCondition {
    /// This parameter has this value.
    Is(&'static str, &'static str),
    /// This parameter has another value than this one.
    Not(&'static str, &'static str),
}

impl ParamCondition {
    /// The other parameter.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            ParamCondition::Is(key, _) | ParamCondition::Not(key, _) => key,
        }
    }

    fn met(&self, args: &Args<'_>) -> bool {
        match *self {
            ParamCondition::Is(key, wanted) => plain(args.text(key)) == wanted,
            ParamCondition::Not(key, other) => plain(args.text(key)) != other,
        }
    }
}

/// `bounds=auto`, `delay other than none`.
impl fmt::Display for ParamCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamCondition::Is(key, wanted) => write!(f, "{key}={wanted}"),
            ParamCondition::Not(key, other) => write!(f, "{key} other than {other}"),
        }
    }
}

/// Parameters that count only where others have, or have not, certain values: elsewhere they change
/// no schedule.
#[derive(Clone, Copy, Debug)]
pub struct ParamNeeds {
    /// Parameters concerned.
    pub params: &'static [&'static str],
    /// Their conditions; one of these is enough.
    pub any: &'static [ParamCondition],
}

impl ParamNeeds {
    /// Returns whether one of the conditions is met.
    #[must_use]
    pub fn met(&self, args: &Args<'_>) -> bool {
        self.any.iter().any(|condition| condition.met(args))
    }
}

/// `migration=no or place=contiguous`.
impl fmt::Display for ParamNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = self.any.iter().map(ToString::to_string).collect();
        f.write_str(&told.join(" or "))
    }
}

/// A whole number as it is written as a rule: `1` for `01` and `+1`. Other texts as they are.
pub fn plain(value: &str) -> Cow<'_, str> {
    value.parse::<u64>().map_or(Cow::Borrowed(value), |number| Cow::Owned(number.to_string()))
}
