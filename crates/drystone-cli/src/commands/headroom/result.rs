//! The result of `drystone headroom`, as it is written.

use super::bracket::{Bracket, BracketPolicy, figure_below, format_figure, share_above, share_below};
use crate::meta::{ExperimentMeta, PolicyMeta, WorkloadMeta};
use crate::output::Printable;
use crate::output::columns::{self, OVERVIEW};
use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::flat::FlatRows;
use crate::output::number::{NONE, format_count, format_duration};
use crate::output::report;
use drystone::metrics::Report;
use drystone_headroom::DelayMeasure;
use serde::Serialize;

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

    fn bracket_table(&self) -> DocumentTable {
        let (mut heads, beside) = columns::table_heads(&["policy"], &OVERVIEW);
        heads.push("found saves");
        if self.shows_floor() {
            heads.push("at most");
        }
        let mut table = DocumentTable::new(heads).with_beside_columns(&beside);
        let row = |name: String, report: &Report, against: Option<&BracketPolicy>| {
            let mut row: Vec<TableValue> = vec![name.into()];
            row.extend(OVERVIEW.iter().map(|column| TableValue::from((column.show)(column.metric.value_of(report)))));
            row.push(against.and_then(|bracket| bracket.saved).map_or_else(|| NONE.to_string(), share_below).into());
            if self.shows_floor() {
                row.push(
                    against.and_then(|bracket| bracket.at_most).map_or_else(|| NONE.to_string(), share_above).into(),
                );
            }
            row
        };
        for (neighbours, against) in self.policies.iter().zip(&self.bracket.policies) {
            table.add_row(row(neighbours.policy.marked_text(), &neighbours.report, Some(against)));
        }
        table.add_row(row(self.found.policy.marked_text(), &self.found.report, None));
        table
    }

    /// The bracket as one table, and what follows.
    fn short_document(&self) -> Document {
        let Bracket { floor, found, .. } = &self.bracket;
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        document.add_text(self.verdict.join("\n"));
        let mut heads = vec!["schedule", measure_name(self.measure), "found saves"];
        if self.shows_floor() {
            heads.push("at most");
        }
        let mut table = DocumentTable::new(heads);
        for bracket in &self.bracket.policies {
            let suspends = if bracket.suspends { " (suspends jobs)" } else { "" };
            let mut row: Vec<TableValue> = vec![
                format!("{}{suspends}", bracket.policy).into(),
                format_figure(self.measure, bracket.value).into(),
                bracket.saved.map_or_else(|| NONE.to_string(), share_below).into(),
            ];
            if self.shows_floor() {
                row.push(bracket.at_most.map_or_else(|| NONE.to_string(), share_above).into());
            }
            table.add_row(row);
        }
        let search = match found.trials {
            0 => String::new(),
            _ => format!("; {} of search", found.describe_effort()),
        };
        table.add_row(vec![
            format!("best found (knows all run times{search})").into(),
            format_figure(self.measure, found.value).into(),
        ]);
        if self.shows_floor() {
            table.add_row(vec![
                "no non-preemptive schedule is below".into(),
                figure_below(self.measure, floor.value).into(),
            ]);
        }
        document.add_table(table);
        document.add_text("More: --details (all measures, floor, search)   --jobs FILE (the schedule found)");
        document
    }

    fn result_facts(&self) -> Vec<(String, String)> {
        let Bracket { floor, floor_with_suspension, found, .. } = &self.bracket;
        let mut facts = report::determined_facts(&self.workload, &self.experiment);
        let pair = |name: &str, value: String| (name.to_string(), value);
        if let Some(first) = self.policies.first() {
            facts.push(pair("jobs that count", report::describe_counted_jobs(&first.report)));
        }
        let cut = |is_interrupted: bool| if is_interrupted { ", interrupted" } else { "" };
        if self.shows_floor() {
            facts.push(pair(
                "floor",
                format!(
                    "prices per {}, {} steps{}, certified in whole numbers",
                    format_duration(floor.grid as f64),
                    format_count(u64::from(floor.steps)),
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
                    found.seconds.map_or(String::new(), |seconds| format!("{} ", format_duration(seconds))),
                    found.begun_from,
                    format_count(trials),
                    found.seed,
                    cut(found.stopped)
                ),
            },
        ));
        facts
    }
}

/// Returns whether a floor is worth showing: that of bounded slowdowns is close to 1.
pub(super) fn shows_floor(measure: DelayMeasure, is_asked: bool) -> bool {
    measure != DelayMeasure::BoundedSlowdown || is_asked
}

fn measure_name(measure: DelayMeasure) -> &'static str {
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
pub(crate) fn bracket_lines(bracket: &Bracket, measure: DelayMeasure, with_floor: bool) -> Vec<String> {
    let mut parts: Vec<String> = bracket
        .policies
        .iter()
        .map(|policy_bracket| {
            let suspends = if policy_bracket.suspends { " (suspends jobs)" } else { "" };
            format!("{} {}{suspends}", policy_bracket.policy, format_figure(measure, policy_bracket.value))
        })
        .collect();
    let best_found = &bracket.found;
    parts.push(match best_found.trials {
        0 => format!("best found {} (knows all run times)", format_figure(measure, best_found.value)),
        _ => format!(
            "best found {} (knows all run times; {} of search)",
            format_figure(measure, best_found.value),
            best_found.describe_effort()
        ),
    });
    if with_floor {
        parts.push(format!("no non-preemptive schedule below {}", figure_below(measure, bracket.floor.value)));
    }
    let mut lines = vec![format!("{}   {}", measure_name(measure), parts.join(" | "))];
    lines.extend(bracket.policies.first().and_then(|first| saving_sentence(first, measure, with_floor)));
    lines
}

/// Both ends of the bracket in a sentence of a verdict, and what follows for a policy.
pub(crate) fn bracket_remark(bracket: &Bracket, measure: DelayMeasure, policy: &str) -> Option<String> {
    let policy_bracket = bracket.policies.iter().find(|candidate| candidate.policy == policy)?;
    let search_text = match bracket.found.trials {
        0 => format!("the best of these schedules ({}) has", bracket.found.begun_from),
        _ => format!("the best schedule found in {} has", bracket.found.describe_effort()),
    };
    let below = figure_below(measure, bracket.floor.value);
    let ends = format!("{search_text} a mean wait of {} min", format_figure(measure, bracket.found.value));
    let follows = saving_sentence(policy_bracket, measure, true).map_or_else(String::new, |text| format!(": {text}"));
    Some(format!("Headroom: {ends}, and no non-preemptive schedule is below {below} min{follows}."))
}

/// Describes the possible saving on a policy's measure.
pub(crate) fn saving_sentence(bracket: &BracketPolicy, measure: DelayMeasure, with_floor: bool) -> Option<String> {
    let (measure_phrase, policy) = (of_what(measure), &bracket.policy);
    let most = bracket.at_most.filter(|_| with_floor).map(share_above);
    match (bracket.saved.map(share_below), most) {
        (Some(saving), Some(most)) => Some(format!(
            "{measure_phrase} under {policy} {saving} could be saved by an omniscient scheduler; at most {most} by any"
        )),
        (Some(saving), None) => {
            Some(format!("{measure_phrase} under {policy} {saving} could be saved by an omniscient scheduler"))
        }
        (None, Some(most)) => Some(format!(
            "{measure_phrase} under {policy} at most {most} could be saved by any schedule, with or without suspension"
        )),
        (None, None) => None,
    }
}

impl Printable for HeadroomResult {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        document.add_text(self.verdict.join("\n"));
        document.add_facts(self.result_facts());
        document.add_table(self.bracket_table());
        let reports = self.policies.iter().map(|neighbours| &neighbours.report).chain([&self.found.report]);
        report::say_if_inexact(&mut document, reports.flat_map(report::all_summaries));
        document
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| self.short_document())
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        let Bracket { measure, floor, found, .. } = &self.bracket;
        let against = self.bracket.policies.iter().map(Some).chain([None]);
        for (neighbours, against) in self.policies.iter().chain([&self.found]).zip(against) {
            let mut row = report::input_columns(&self.workload, &neighbours.policy, &self.experiment);
            row.add_text("measure", measure);
            row.add_number("value", Some(against.map_or(found.value, |against| against.value)));
            row.add_number("found", Some(found.value));
            row.add_number("floor", Some(floor.value));
            row.add_number("saved", against.and_then(|against| against.saved));
            row.add_number("at_most", against.and_then(|against| against.at_most));
            row.add_number("search_seconds", found.seconds);
            row.add_number("search_trials", Some(found.trials as f64));
            rows.push(row);
        }
        rows
    }
}
