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
    pub fn param_name(&self) -> &'static str {
        match self {
            ParamCondition::Is(key, _) | ParamCondition::Not(key, _) => key,
        }
    }

    fn is_met(&self, args: &Args<'_>) -> bool {
        match *self {
            ParamCondition::Is(key, value) => simplify_number(args.text_value(key)) == value,
            ParamCondition::Not(key, other) => simplify_number(args.text_value(key)) != other,
        }
    }
}

/// `bounds=auto`, `delay other than none`.
impl fmt::Display for ParamCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamCondition::Is(key, value) => write!(f, "{key}={value}"),
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
    pub fn is_met(&self, args: &Args<'_>) -> bool {
        self.any.iter().any(|condition| condition.is_met(args))
    }
}

/// `migration=no or place=contiguous`.
impl fmt::Display for ParamNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions: Vec<String> = self.any.iter().map(ToString::to_string).collect();
        f.write_str(&conditions.join(" or "))
    }
}

/// A whole number as it is written as a rule: `1` for `01` and `+1`. Other texts as they are.
pub fn simplify_number(value: &str) -> Cow<'_, str> {
    value.parse::<u64>().map_or(Cow::Borrowed(value), |number| Cow::Owned(number.to_string()))
}
