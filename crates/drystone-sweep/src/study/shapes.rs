//! Jobs of several sizes, and power, in a study file: `reshape = { share = [0, 50, 100] }`, tables.

use super::raw::RawWorkload;
use super::{FileEntry, StudyReader};
use crate::error::SweepError;
use drystone::generate::reshape::{Reshape, read_watts};
use drystone::model::JobKind;
use std::ops::Range as Bytes;
use toml::{Spanned, Value};

/// Sizes of the jobs of a workload, and power.
#[derive(Clone, Debug)]
pub(crate) struct ShapeEntry {
    /// The table of sizes.
    pub(crate) shapes: Option<FileEntry>,
    /// Draws of sizes, each on its own, without their seeds.
    pub(crate) draws: Vec<Option<Reshape>>,
    pub(crate) draws_at: Bytes<usize>,
    /// The table of caps.
    pub(crate) power: Option<FileEntry>,
    /// Watts of an idle processor.
    pub(crate) idle: u64,
    /// The table of carbon and prices.
    pub(crate) series: Option<FileEntry>,
    /// Position of what asks for power first.
    pub(crate) power_at: Bytes<usize>,
}

impl ShapeEntry {
    /// Returns whether jobs have several sizes, or power is counted.
    pub(crate) fn has_shapes(&self) -> bool {
        let tables = [&self.shapes, &self.power, &self.series];
        tables.into_iter().any(Option::is_some) || self.idle > 0 || self.draws.iter().any(Option::is_some)
    }

    /// Every draw with every seed that it has: that of a generated workload, else those of the
    /// study.
    pub(crate) fn seeded_draws<'a>(
        &'a self,
        own: Option<u64>,
        seeds: &'a [u64],
    ) -> impl Iterator<Item = (Option<Reshape>, Option<u64>)> + 'a {
        self.draws.iter().flat_map(move |draw| -> Vec<(Option<Reshape>, Option<u64>)> {
            match (draw, own) {
                (None, own) => vec![(None, own)],
                (Some(draw), Some(seed)) => vec![(Some(Reshape { seed, ..draw.clone() }), Some(seed))],
                (Some(draw), None) => {
                    seeds.iter().map(|&seed| (Some(Reshape { seed, ..draw.clone() }), Some(seed))).collect()
                }
            }
        })
    }
}

const EXPECTED: &str = "expected { kind = \"malleable\", share = [0, 50, 100], by = \"efficiency\", speedup = \"linear\", every = 60, \
                        grow-cost = 0, shrink-cost = 0, watts = \"60-200\" }, of which all may be left out, or \"none\", or a list \
                        of such";

impl StudyReader<'_> {
    pub(super) fn read_shapes(&self, raw: &RawWorkload, whole: Bytes<usize>) -> Result<ShapeEntry, SweepError> {
        if let (Some(_), Some(reshape)) = (&raw.shapes, &raw.reshape) {
            let problem = "`reshape` draws what `shapes` would say; leave one of them out";
            return Err(self.error_at(reshape.span(), problem));
        }
        let draws = match &raw.reshape {
            None => vec![None],
            Some(value) => self.read_draws(value)?,
        };
        let power_at = raw.power.as_ref().map(Spanned::span).or(raw.idle.as_ref().map(Spanned::span));
        let entry = ShapeEntry {
            shapes: raw.shapes.clone(),
            draws,
            draws_at: raw.reshape.as_ref().map_or(whole.clone(), Spanned::span),
            power: raw.power.clone(),
            idle: raw.idle.as_ref().map_or(0, |idle| *idle.as_ref()),
            series: raw.series.clone(),
            power_at: power_at.unwrap_or(whole.clone()),
        };
        if let Some(idle) = raw.idle.as_ref().filter(|idle| *idle.as_ref() > 1 << 32) {
            return Err(self.error_at(idle.span(), "`idle` is a number of watts up to 4294967296"));
        }
        if entry.has_shapes() && (raw.resources.is_some() || raw.on_nodes.is_some()) {
            let problem =
                "`shapes`, `reshape` and `power` count processors and watts; leave `resources` and `on-nodes` out";
            return Err(self.error_at(whole, problem));
        }
        Ok(entry)
    }

    /// Draws of sizes, a share at a time.
    fn read_draws(&self, raw: &Spanned<Value>) -> Result<Vec<Option<Reshape>>, SweepError> {
        let wrong = |problem: String| self.error_at(raw.span(), format!("`reshape`: {problem}"));
        let mut draw_list = Vec::new();
        let mut add = |value: &Value| -> Result<(), String> {
            match value {
                Value::String(text) if text == "none" => draw_list.push(None),
                Value::Table(table) => draw_list.extend(read_reshapes(table)?.into_iter().map(Some)),
                _ => return Err(EXPECTED.to_string()),
            }
            Ok(())
        };
        match raw.as_ref() {
            Value::Array(values) if values.is_empty() => Err(EXPECTED.to_string()),
            Value::Array(values) => values.iter().try_for_each(&mut add),
            value => add(value),
        }
        .map_err(wrong)?;
        let text = |draw: &Option<Reshape>| draw.as_ref().map_or("none".to_string(), ToString::to_string);
        self.without_repeats("reshape", raw.span(), draw_list.iter().map(text).collect())?;
        Ok(draw_list)
    }
}

fn read_reshapes(table: &toml::map::Map<String, Value>) -> Result<Vec<Reshape>, String> {
    let mut draw = Reshape::default();
    let mut shares = vec![1.0];
    for (key, value) in table {
        let wrong = || format!("`{key}` has no such value; {EXPECTED}");
        let text = || value.as_str().ok_or_else(wrong);
        let whole = || value.as_integer().and_then(|number| u32::try_from(number).ok()).ok_or_else(wrong);
        match key.as_str() {
            "kind" => {
                let kinds = [JobKind::Moldable, JobKind::Malleable];
                let kind = kinds.into_iter().find(|kind| value.as_str() == Some(kind.name()));
                draw.kind = kind.ok_or_else(|| format!("`kind` is moldable or malleable; {EXPECTED}"))?;
            }
            "share" => shares = read_shares(value).ok_or_else(|| format!("`share` is 0 to 100 percent; {EXPECTED}"))?,
            "by" => draw.rule = text()?.parse()?,
            "speedup" => draw.speedup = text()?.parse()?,
            "every" => draw.every = Some(whole()?),
            "grow-cost" => draw.costs.0 = whole()?,
            "shrink-cost" => draw.costs.1 = whole()?,
            "watts" => {
                let whole = value.as_integer().map(|watts| watts.to_string());
                draw.watts = read_watts(whole.as_deref().or(value.as_str()).ok_or_else(wrong)?)?;
            }
            _ => return Err(format!("there is no `{key}`; {EXPECTED}")),
        }
    }
    Ok(shares.into_iter().map(|share| Reshape { share, ..draw.clone() }).collect())
}

/// Percentages as shares of 1.
fn read_shares(value: &Value) -> Option<Vec<f64>> {
    let read_share = |value: &Value| {
        let percent = value.as_float().or(value.as_integer().map(|whole| whole as f64))?;
        (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
    };
    match value {
        Value::Array(values) if values.is_empty() => None,
        Value::Array(values) => values.iter().map(read_share).collect(),
        value => Some(vec![read_share(value)?]),
    }
}
