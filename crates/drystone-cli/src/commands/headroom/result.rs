//! The result of `drystone headroom`, as it is written.

use super::bracket::{Bracket, BracketPolicy, figure, figure_below, share_above, share_below};
use crate::meta::{ExperimentMeta, PolicyMeta, WorkloadMeta};
use crate::output::Printable;
use crate::output::columns::{self, OVERVIEW};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::FlatRows;
use crate::output::number::{NONE, count, duration};
use crate::output::report;
use drystone::metrics::Report;
use drystone_headroom::DelayMeasure;
use serde::Serialize;

/// Results beside the bracket, by every measure.
#[derive(Serialize)]
pub(crate) struct BracketNeighbours {
    pub(crate) policy: PolicyMeta,
    pub(crate) report: Report,
}

/// A bracket with the policies beside it.
#[derive(Serialize)]
pub(crate) struct HeadroomResult {
    pub(crate) schema: &'static str,
    pub(crate) drystone: &'static str,
    pub(crate) workload: WorkloadMeta,
    pub(crate) experiment: ExperimentMeta,
    #[serde(skip)]
    pub(crate) floor_of_slowdown: bool,
    #[serde(skip)]
    pub(crate) measure: DelayMeasure,
    /// True prints everything, not only the overview.
    #[serde(skip)]
    pub(crate) whole: bool,
    pub(crate) verdict: Vec<String>,
    pub(crate) bracket: Bracket,
    pub(crate) policies: Vec<BracketNeighbours>,
    pub(crate) found: BracketNeighbours,
}

impl HeadroomResult {
    /// Returns whether the floor is worth showing: that of bounded slowdowns is close to 1.
    fn shows_floor(&self) -> bool {
        shows_floor(self.measure, self.floor_of_slowdown)
    }

    fn table(&self) -> DocumentTable {
        let (mut heads, beside) = columns::heads(&["policy"], &OVERVIEW);
        heads.push("found saves");
        if self.shows_floor() {
            heads.push("at most");
        }
        let mut table = DocumentTable::new(heads).beside(&beside);
        let row = |name: String, report: &Report, against: Option<&BracketPolicy>| {
            let mut row: Vec<TableValue> = vec![name.into()];
            row.extend(OVERVIEW.iter().map(|column| TableValue::from((column.show)(column.metric.of(report)))));
            row.push(against.and_then(|one| one.saved).map_or_else(|| NONE.to_string(), share_below).into());
            if self.shows_floor() {
                row.push(against.and_then(|one| one.at_most).map_or_else(|| NONE.to_string(), share_above).into());
            }
            row
        };
        for (one, against) in self.policies.iter().zip(&self.bracket.policies) {
            table.row(row(one.policy.marked(), &one.report, Some(against)));
        }
        table.row(row(self.found.policy.marked(), &self.found.report, None));
        table
    }

    /// The bracket as one table, and what follows.
    fn short(&self) -> Document {
        let Bracket { floor, found, .. } = &self.bracket;
        let mut document = Document::default();
        document.heading(self.workload.line());
        document.text(self.verdict.join("\n"));
        let mut heads = vec!["schedule", named(self.measure), "found saves"];
        if self.shows_floor() {
            heads.push("at most");
        }
        let mut table = DocumentTable::new(heads);
        for one in &self.bracket.policies {
            let suspends = if one.suspends { " (suspends jobs)" } else { "" };
            let mut row: Vec<TableValue> = vec![
                format!("{}{suspends}", one.policy).into(),
                figure(self.measure, one.value).into(),
                one.saved.map_or_else(|| NONE.to_string(), share_below).into(),
            ];
            if self.shows_floor() {
                row.push(one.at_most.map_or_else(|| NONE.to_string(), share_above).into());
            }
            table.row(row);
        }
        let search = match found.trials {
            0 => String::new(),
            _ => format!("; {} of search", found.effort()),
        };
        table.row(vec![
            format!("best found (knows all run times{search})").into(),
            figure(self.measure, found.value).into(),
        ]);
        if self.shows_floor() {
            table.row(vec![
                "no non-preemptive schedule is below".into(),
                figure_below(self.measure, floor.value).into(),
            ]);
        }
        document.table(table);
        document.text("More: --details (all measures, floor, search)   --jobs FILE (the schedule found)");
        document
    }

    fn facts(&self) -> Vec<(String, String)> {
        let Bracket { floor, floor_with_suspension, found, .. } = &self.bracket;
        let mut facts = report::determined_facts(&self.workload, &self.experiment);
        let pair = |name: &str, value: String| (name.to_string(), value);
        if let Some(first) = self.policies.first() {
            facts.push(pair("jobs that count", report::counted(&first.report)));
        }
        let cut = |stopped: bool| if stopped { ", interrupted" } else { "" };
        if self.shows_floor() {
            facts.push(pair(
                "floor",
                format!(
                    "prices per {}, {} steps{}, certified in whole numbers",
                    duration(floor.grid as f64),
                    count(u64::from(floor.steps)),
                    cut(floor.stopped)
                ),
            ));
        }
        if let Some(floor) = floor_with_suspension {
            let value = figure_below(self.measure, floor.value);
            facts.push(pair(
                "floor with suspension",
                format!(
                    "{value}: the floor of all schedules, suspension \
                included"
                ),
            ));
        }
        facts.push(pair(
            "search",
            match found.trials {
                0 => format!("none: the schedule of {}", found.begun_from),
                trials => format!(
                    "{}from {}, {} trials, seed {}{}",
                    found.seconds.map_or(String::new(), |seconds| format!("{} ", duration(seconds))),
                    found.begun_from,
                    count(trials),
                    found.seed,
                    cut(found.stopped)
                ),
            },
        ));
        facts
    }
}

/// Returns whether a floor is worth showing: that of bounded slowdowns is close to 1.
pub(super) fn shows_floor(measure: DelayMeasure, asked: bool) -> bool {
    measure != DelayMeasure::BoundedSlowdown || asked
}

/// Returns the name of the measure, in words.
fn named(measure: DelayMeasure) -> &'static str {
    match measure {
        DelayMeasure::Wait => "mean wait, min",
        DelayMeasure::BoundedSlowdown => "mean bounded slowdown",
        DelayMeasure::AreaWait => "mean wait weighted by area, min",
    }
}

/// Returns the quantity that the shares refer to.
fn of_what(measure: DelayMeasure) -> &'static str {
    match measure {
        DelayMeasure::Wait => "of the wait",
        DelayMeasure::BoundedSlowdown => "of the bounded slowdown above 1",
        DelayMeasure::AreaWait => "of the weighted wait",
    }
}

/// Policies, the schedule found and the floor in a line, and what follows for the first policy.
pub(crate) fn lines(bracket: &Bracket, measure: DelayMeasure, with_floor: bool) -> Vec<String> {
    let mut parts: Vec<String> = bracket
        .policies
        .iter()
        .map(|one| {
            let suspends = if one.suspends { " (suspends jobs)" } else { "" };
            format!("{} {}{suspends}", one.policy, figure(measure, one.value))
        })
        .collect();
    let found = &bracket.found;
    parts.push(match found.trials {
        0 => format!("best found {} (knows all run times)", figure(measure, found.value)),
        _ => format!("best found {} (knows all run times; {} of search)", figure(measure, found.value), found.effort()),
    });
    if with_floor {
        parts.push(format!("no non-preemptive schedule below {}", figure_below(measure, bracket.floor.value)));
    }
    let mut lines = vec![format!("{}   {}", named(measure), parts.join(" | "))];
    lines.extend(bracket.policies.first().and_then(|first| sentence(first, measure, with_floor)));
    lines
}

/// Both ends of the bracket in a sentence of a verdict, and what follows for a policy.
pub(crate) fn remark(bracket: &Bracket, measure: DelayMeasure, policy: &str) -> Option<String> {
    let one = bracket.policies.iter().find(|one| one.policy == policy)?;
    let found = match bracket.found.trials {
        0 => format!("the best of these schedules ({}) has", bracket.found.begun_from),
        _ => format!("the best schedule found in {} has", bracket.found.effort()),
    };
    let below = figure_below(measure, bracket.floor.value);
    let ends = format!("{found} a mean wait of {} min", figure(measure, bracket.found.value));
    let follows = sentence(one, measure, true).map_or_else(String::new, |text| format!(": {text}"));
    Some(format!("Headroom: {ends}, and no non-preemptive schedule is below {below} min{follows}."))
}

/// Describes the possible saving on a policy's measure.
pub(crate) fn sentence(one: &BracketPolicy, measure: DelayMeasure, with_floor: bool) -> Option<String> {
    let (what, policy) = (of_what(measure), &one.policy);
    let most = one.at_most.filter(|_| with_floor).map(share_above);
    match (one.saved.map(share_below), most) {
        (Some(saved), Some(most)) => Some(format!(
            "{what} under {policy} {saved} could be saved by an omniscient scheduler; at most {most} by any"
        )),
        (Some(saved), None) => Some(format!("{what} under {policy} {saved} could be saved by an omniscient scheduler")),
        (None, Some(most)) => Some(format!(
            "{what} under {policy} at most {most} could be saved by any schedule, with or without suspension"
        )),
        (None, None) => None,
    }
}

impl Printable for HeadroomResult {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(self.workload.line());
        document.text(self.verdict.join("\n"));
        document.facts(self.facts());
        document.table(self.table());
        let all = self.policies.iter().map(|one| &one.report).chain([&self.found.report]);
        report::say_if_inexact(&mut document, all.flat_map(report::summaries));
        document
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| self.short())
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        let Bracket { measure, floor, found, .. } = &self.bracket;
        let against = self.bracket.policies.iter().map(Some).chain([None]);
        for (one, against) in self.policies.iter().chain([&self.found]).zip(against) {
            let mut row = report::determined(&self.workload, &one.policy, &self.experiment);
            row.text("measure", measure);
            row.number("value", Some(against.map_or(found.value, |against| against.value)));
            row.number("found", Some(found.value));
            row.number("floor", Some(floor.value));
            row.number("saved", against.and_then(|against| against.saved));
            row.number("at_most", against.and_then(|against| against.at_most));
            row.number("search_seconds", found.seconds);
            row.number("search_trials", Some(found.trials as f64));
            rows.push(row);
        }
        rows
    }
}
