//! Policies of a study file: texts with places for parameters, and the points that go there.

use super::raw::{RawPolicy, RawRange};
use super::{PolicyEntry, RESERVED, StudyReader};
use crate::design::{DesignLevel, Range, Sampling};
use crate::error::SweepError;
use drystone::metrics::Metric;
use drystone::policy::PolicySpec;
use std::collections::BTreeMap;
use std::ops::Range as Bytes;
use toml::{Spanned, Value};

/// No more points than this: beyond it a study file is a mistake.
const MOST: usize = 1_000_000;

impl StudyReader<'_> {
    pub(super) fn read_policy(&self, raw: &Spanned<RawPolicy>, seed: u64) -> Result<PolicyEntry, SweepError> {
        let (span, raw) = (raw.span(), raw.as_ref());
        let template = raw.policy.as_ref();
        let (parameters, points) = match &raw.points {
            Some(points) => self.read_points(raw, points)?,
            None => self.read_design(raw, span.clone(), seed)?,
        };
        let wanted_names = self.find_places(&raw.policy)?;
        if let Some(missing) = wanted_names.iter().find(|w| !parameters.contains(w)) {
            let problem = format!("`{{{missing}}}` has no values: give it some below [policy.parameters]");
            return Err(self.error_at(raw.policy.span(), problem));
        }
        if let Some(parameter) = parameters.iter().find(|p| !wanted_names.contains(p)) {
            let problem =
                format!("the parameter `{parameter}` does not stand in the policy: write `{{{parameter}}}` there");
            return Err(self.error_at(raw.policy.span(), problem));
        }
        let mut specs = Vec::with_capacity(points.len());
        for point in points {
            let mut text = template.clone();
            for (name, level) in parameters.iter().zip(&point) {
                text = text.replace(&format!("{{{name}}}"), &level.to_string());
            }
            let spec: PolicySpec = text
                .parse()
                .map_err(|e: drystone::policy::SpecError| self.error_at(raw.policy.span(), e.to_string()))?;
            specs.push((point, spec));
        }
        let head = || template.split(['(', '@']).next().unwrap_or(template).trim().to_string();
        let name = raw.name.clone().unwrap_or_else(head);
        Ok(PolicyEntry { name, parameters, points: specs, at: raw.policy.span() })
    }

    /// The names in braces in the text of a policy.
    pub(super) fn find_places(&self, text: &Spanned<String>) -> Result<Vec<String>, SweepError> {
        let mut names = Vec::new();
        let mut rest = text.as_ref().as_str();
        while let Some(open) = rest.find('{') {
            let Some(close) = rest[open..].find('}') else {
                return Err(self.error_at(text.span(), "`{` without `}`: write {name} where a parameter goes"));
            };
            let name = rest[open + 1..open + close].to_string();
            if !names.contains(&name) {
                names.push(name);
            }
            rest = &rest[open + close + 1..];
        }
        Ok(names)
    }

    pub(super) fn read_name(&self, key: &Spanned<String>) -> Result<String, SweepError> {
        let name = key.as_ref();
        let fine = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        if !fine {
            let problem = format!("`{name}` cannot name a parameter; use letters, digits and _, a letter first");
            return Err(self.error_at(key.span(), problem));
        }
        if RESERVED.contains(&name.to_lowercase().as_str()) || name.parse::<Metric>().is_ok() {
            return Err(self.error_at(
                key.span(),
                format!("`{name}` is a column of the store or of a ranking; take another name"),
            ));
        }
        Ok(name.clone())
    }

    fn read_points(
        &self,
        raw: &RawPolicy,
        points: &[BTreeMap<Spanned<String>, Spanned<Value>>],
    ) -> Result<(Vec<String>, Vec<Vec<DesignLevel>>), SweepError> {
        let at = raw.policy.span();
        if !raw.parameters.is_empty() || raw.samples.is_some() {
            return Err(self.error_at(at, "a policy has `points` or `parameters`, not both"));
        }
        if let Some(design) = raw.design.as_ref().filter(|d| d.as_ref() != "list") {
            return Err(self.error_at(design.span(), "with `points` the design is \"list\""));
        }
        let Some(first) = points.first() else { return Err(self.error_at(at, "`points` is empty")) };
        let keys = in_order(first);
        let names = keys.iter().map(|(key, _)| self.read_name(key)).collect::<Result<Vec<_>, _>>()?;
        let mut rows = Vec::new();
        for (number, point) in (1..).zip(points) {
            if let Some((key, _)) = point.iter().find(|(key, _)| !names.contains(key.as_ref())) {
                let problem = format!("every point has the parameters of the first: {}", names.join(", "));
                return Err(self.error_at(key.span(), problem));
            }
            let value = |name: &String| {
                let entry = point.iter().find(|(key, _)| key.as_ref() == name);
                let entry = entry.ok_or_else(|| self.error_at(at.clone(), format!("point {number} lacks `{name}`")))?;
                self.read_level(entry.1.as_ref(), entry.1.span())
            };
            rows.push(names.iter().map(value).collect::<Result<Vec<_>, _>>()?);
        }
        Ok((names, rows))
    }

    /// The points of a grid or a sample.
    fn read_design(
        &self,
        raw: &RawPolicy,
        span: Bytes<usize>,
        seed: u64,
    ) -> Result<(Vec<String>, Vec<Vec<DesignLevel>>), SweepError> {
        let (mut names, mut ranges) = (Vec::new(), Vec::new());
        for (key, value) in in_order(&raw.parameters) {
            names.push(self.read_name(key)?);
            ranges.push((self.read_range(value)?, value.span()));
        }
        let design = raw.design.as_ref().map_or("grid", |d| d.as_ref().as_str());
        let at = raw.design.as_ref().map_or(span, Spanned::span);
        let samples = || match &raw.samples {
            Some(samples) if (1..=MOST).contains(samples.as_ref()) => Ok(*samples.as_ref()),
            Some(samples) => Err(self.error_at(samples.span(), format!("`samples` is a number from 1 to {MOST}"))),
            None => Err(self.error_at(at.clone(), format!("the design \"{design}\" needs `samples`"))),
        };
        let sampling = match design {
            "grid" => Sampling::Grid,
            "random" => Sampling::Random(samples()?),
            "latin-hypercube" => Sampling::LatinHypercube(samples()?),
            "list" => return Err(self.error_at(at, "the design \"list\" needs `points = [{ … }, … ]`")),
            _ => {
                let problem = format!("`{design}` is no design; expected grid, list, random or latin-hypercube");
                return Err(self.error_at(at, problem));
            }
        };
        if sampling == Sampling::Grid {
            if let Some(samples) = &raw.samples {
                return Err(self.error_at(samples.span(), "a grid has no `samples`; set `design`"));
            }
            let mut size = 1usize;
            for (range, span) in &ranges {
                match range {
                    Range::Between { .. } | Range::Whole { .. } => {
                        return Err(self.error_at(span.clone(), "a grid needs a `step` and takes no `log`"));
                    }
                    Range::Levels(levels) => size = size.saturating_mul(levels.len()),
                }
            }
            if size > MOST {
                return Err(self.error_at(at, format!("the grid has more than {MOST} points; take a sample")));
            }
        }
        let ranges: Vec<Range> = ranges.into_iter().map(|r| r.0).collect();
        Ok((names, crate::design::choose_points(&ranges, sampling, raw.seed.unwrap_or(seed))))
    }

    pub(super) fn read_range(&self, value: &Spanned<Value>) -> Result<Range, SweepError> {
        let span = value.span();
        match value.as_ref() {
            Value::Array(values) if values.is_empty() => {
                Err(self.error_at(span, "a parameter needs at least one value"))
            }
            Value::Array(values) => {
                let levels = values.iter().map(|v| self.read_level(v, span.clone())).collect::<Result<Vec<_>, _>>()?;
                // As they will stand in policies: 0.5 and "0.5" are the same.
                let texts: Vec<String> = levels.iter().map(ToString::to_string).collect();
                if let Some(at) = (1..texts.len()).find(|&i| texts[..i].contains(&texts[i])) {
                    return Err(self.error_at(span, format!("`{}` is there twice", texts[at])));
                }
                Ok(Range::Levels(levels))
            }
            Value::Table(_) => {
                let raw: RawRange = value.as_ref().clone().try_into().map_err(|e: toml::de::Error| {
                    let problem = e.message().trim().to_string();
                    self.error_at(span.clone(), format!("{problem}; a range is {{ from = 1, to = 30, step = 1 }}"))
                })?;
                self.read_between(&raw, span)
            }
            single => Ok(Range::Levels(vec![self.read_level(single, span)?])),
        }
    }

    fn read_between(&self, raw: &RawRange, span: Bytes<usize>) -> Result<Range, SweepError> {
        let number = |value: &Value| value.as_float().or(value.as_integer().map(|i| i as f64));
        let (Some(from), Some(to)) = (number(&raw.from), number(&raw.to)) else {
            return Err(self.error_at(span, "`from` and `to` are numbers"));
        };
        if !(from <= to && from.is_finite() && to.is_finite()) {
            return Err(self.error_at(span, "`from` is at most `to`"));
        }
        if raw.log && (from <= 0.0 || raw.step.is_some()) {
            return Err(self.error_at(span, "`log` needs numbers above 0 and no `step`"));
        }
        let whole = (raw.from.as_integer(), raw.to.as_integer());
        let step = match &raw.step {
            None => None,
            Some(step) => Some(
                number(step)
                    .filter(|s| *s > 0.0 && s.is_finite())
                    .ok_or_else(|| self.error_at(span.clone(), "`step` is a number above 0"))?,
            ),
        };
        if step.unwrap_or(1.0) > 0.0 && (to - from) / step.unwrap_or(1.0) >= MOST as f64 {
            return Err(self.error_at(span, format!("the range has more than {MOST} values")));
        }
        match (whole, &raw.step, step) {
            ((Some(from), Some(to)), None, _) if !raw.log => {
                Ok(Range::Levels((from..=to).map(DesignLevel::Int).collect()))
            }
            ((Some(from), Some(to)), Some(Value::Integer(step)), _) => {
                let step = usize::try_from(*step).unwrap_or(1);
                Ok(Range::Levels((from..=to).step_by(step).map(DesignLevel::Int).collect()))
            }
            (_, Some(_), Some(step)) => {
                // Counted, not added up, and cleaned of binary fractions: 0.1, 0.2, 0.3.
                let count = ((to - from) / step + 1e-9).floor() as usize;
                let value = |i: usize| format!("{:.9}", from + step * i as f64).parse().unwrap_or(from);
                Ok(Range::Levels((0..=count).map(|i| DesignLevel::Real(value(i))).collect()))
            }
            // Parameters that take whole numbers take no others.
            ((Some(from), Some(to)), ..) => Ok(Range::Whole { from, to }),
            _ => Ok(Range::Between { from, to, log: raw.log }),
        }
    }
}

/// The entries in the order in which they stand in the file.
fn in_order(table: &BTreeMap<Spanned<String>, Spanned<Value>>) -> Vec<(&Spanned<String>, &Spanned<Value>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}
