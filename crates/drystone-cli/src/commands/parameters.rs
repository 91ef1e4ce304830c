//! Parameters of policies and predictors, for people and machines.

use drystone::policy::{Param, ParamNeeds, Takes};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct ParamEntry {
    pub(super) name: &'static str,
    pub(super) default: &'static str,
    pub(super) values: String,
    /// The types of values that it takes, for machines.
    takes: Vec<Type>,
    /// Audience: main, study, expert.
    pub(super) level: &'static str,
    meaning: &'static str,
    /// Conditions on other parameters under which this one counts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    needs: Vec<String>,
}

/// A type of values; what it does not have is left out.
#[derive(Serialize, Default)]
struct Type {
    #[serde(rename = "type")]
    name: &'static str,
    #[serde(skip_serializing_if = "<[&str]>::is_empty")]
    words: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    above: Option<f64>,
    /// Left out where it is no bound in practice.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<&'static str>,
}

impl From<&Takes> for Type {
    fn from(takes: &Takes) -> Type {
        let plain = Type { name: takes.type_name(), ..Type::default() };
        let bound = |to: f64| (to < f64::from(u32::MAX)).then_some(to);
        match *takes {
            Takes::Words(words) => Type { words, ..plain },
            Takes::Whole { from, to } | Takes::Seconds { from, to } => {
                Type { from: Some(from as f64), to: bound(to as f64), ..plain }
            }
            Takes::Number { from, to } => Type { from: Some(from), to: bound(to), ..plain },
            Takes::Above { above, to } => Type { above: Some(above), to: bound(to), ..plain },
            Takes::Ascending { unit } => Type { unit: Some(unit), ..plain },
            Takes::Numbers { count } => Type { count: Some(count), ..plain },
            Takes::Form(form) => Type { shape: Some(form.shape), examples: form.samples.to_vec(), ..plain },
            _ => plain,
        }
    }
}

impl ParamEntry {
    pub(super) fn new(p: &Param, needs: &[ParamNeeds]) -> ParamEntry {
        let needs = needs.iter().filter(|needs| needs.params.contains(&p.name)).map(ParamNeeds::to_string);
        ParamEntry {
            name: p.name,
            default: p.default,
            values: p.describe_values(),
            takes: p.takes.iter().map(Type::from).collect(),
            level: p.level.name(),
            meaning: p.meaning,
            needs: needs.collect(),
        }
    }

    pub(super) fn describe_meaning(&self) -> String {
        if self.needs.is_empty() {
            return self.meaning.to_string();
        }
        format!("with {}: {}", self.needs.join(" and "), self.meaning)
    }
}
