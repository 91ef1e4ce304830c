//! `drystone sweep table`: tables for a paper, policies by load, log or metric.

use super::rank::{open_whole_store, tell_left_out};
use super::shown::AnalysisOrigin;
use super::swarms::{self, PlottedTable};
use crate::args::{TableArgs, TableColumns};
use crate::exit::{CommandOutcome, DONE};
use crate::output::document::{Document, DocumentTable, TableValue, Tone};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{exact_percent, format_fixed};
use crate::output::{self, Printable, plots};
use drystone::inference::LEAST_UNITS;
use drystone_sweep::analysis::{
    CandidateTable, CaseSelection, CellStanding, ReplicatedCell, ReplicatedColumn, ReplicatedTable, ReplicationGroup,
};
use serde::{Serialize, Serializer};

pub(super) fn run_table(args: &TableArgs) -> CommandOutcome {
    let store = open_whole_store(&args.store)?;
    let choice = CaseSelection { metrics: args.metric.clone(), workloads: args.workload.clone() };
    let candidates = CandidateTable::from_store(&store, &choice)?;
    tell_left_out(&candidates);
    let replicated_table = ReplicatedTable::from_store(&store, &candidates, args.confidence)?;
    let columns = args.by.unwrap_or_else(|| usual_columns(&replicated_table.groups));
    let shown_tables = ShownTables {
        origin: AnalysisOrigin::from_store(&store)?,
        names: short_names(&candidates),
        candidates,
        replicated: replicated_table,
        columns,
        intervals: !args.no_intervals,
    };
    if let Some(directory) = &args.plots {
        let about = serde_json::json!({
            "study": shown_tables.origin.study,
            "simulated by": shown_tables.origin.drystone,
            "configurations": shown_tables.candidates.candidates.len(),
        });
        let plotted_table = PlottedTable { names: &shown_tables.names, replicated: &shown_tables.replicated };
        plots::write_figures(directory, &swarms::table_figures(plotted_table), &about)?;
    }
    output::print_result(&shown_tables, args.format)?;
    Ok(DONE)
}

struct ShownTables {
    origin: AnalysisOrigin,
    candidates: CandidateTable,
    /// A short name for each candidate.
    names: Vec<String>,
    replicated: ReplicatedTable,
    columns: TableColumns,
    intervals: bool,
}

/// Columns that differ, loads first.
fn usual_columns(groups: &[ReplicationGroup]) -> TableColumns {
    let differs = |of: &dyn Fn(&ReplicationGroup) -> String| groups.iter().any(|group| of(group) != of(&groups[0]));
    if differs(&|group| group.load.to_string()) {
        TableColumns::Load
    } else if differs(&|group| group.workload.clone()) {
        TableColumns::Workload
    } else {
        TableColumns::Metric
    }
}

/// The names of the study's entries; the policies where several share one, or have none.
fn short_names(table: &CandidateTable) -> Vec<String> {
    let is_alone = |name: &str| table.candidates.iter().filter(|candidate| candidate.name == name).count() == 1;
    let own = table.candidates.iter();
    own.map(|candidate| match candidate.is_named() && is_alone(&candidate.name) {
        true => candidate.name.clone(),
        false => candidate.policy.clone(),
    })
    .collect()
}

/// A number with three digits or all before the point, as tables of papers have them.
fn format_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format_fixed(value, decimals)
}

impl ShownTables {
    fn column_group(&self, column: &ReplicatedColumn) -> &ReplicationGroup {
        &self.replicated.groups[column.group]
    }

    /// Heading of the table that a column belongs to: all but what the columns are.
    fn column_heading(&self, column: &ReplicatedColumn) -> String {
        let group = self.column_group(column);
        let at_load = if group.load == 1.0 { String::new() } else { format!(" at load {}", group.load) };
        let change = group.change.as_ref().map_or_else(String::new, |change| format!(", {change}"));
        match self.columns {
            TableColumns::Load => format!("{} on {}{change}", column.metric, group.workload),
            TableColumns::Workload => format!("{}{at_load}{change}", column.metric),
            TableColumns::Metric => format!("{}{at_load}{change}", group.workload),
            TableColumns::Change => format!("{} on {}{at_load}", column.metric, group.workload),
        }
    }

    fn column_name(&self, column: &ReplicatedColumn) -> String {
        match self.columns {
            TableColumns::Load => format!("load {}", self.column_group(column).load),
            TableColumns::Workload => self.column_group(column).workload.clone(),
            TableColumns::Metric => column.metric.to_string(),
            TableColumns::Change => self.column_group(column).change.clone().unwrap_or_else(|| "none".to_string()),
        }
    }

    fn cell_value(&self, cell: &ReplicatedCell) -> TableValue {
        let interval = match cell.interval.filter(|_| self.intervals) {
            Some((low, high)) if low < 0.0 => format!(" ({} to {})", format_digits(low), format_digits(high)),
            Some((low, high)) => format!(" ({}–{})", format_digits(low), format_digits(high)),
            None => String::new(),
        };
        let mark = if cell.standing == CellStanding::Tied { " †" } else { "" };
        let tone = if cell.standing == CellStanding::Best { Tone::Strong } else { Tone::Plain };
        TableValue::toned_text(format!("{}{interval}{mark}", format_digits(cell.mean)), tone)
    }

    /// Tables in the order of their first column, each with its columns.
    fn group_tables(&self) -> Vec<(String, Vec<&ReplicatedColumn>)> {
        let mut tables: Vec<(String, Vec<&ReplicatedColumn>)> = Vec::new();
        for column in &self.replicated.columns {
            let heading = self.column_heading(column);
            match tables.iter_mut().find(|(group_heading, _)| *group_heading == heading) {
                Some((_, columns)) => columns.push(column),
                None => tables.push((heading, vec![column])),
            }
        }
        tables
    }

    fn cell_legend(&self) -> String {
        let confidence = exact_percent(self.replicated.confidence);
        let sizes: Vec<usize> = self.replicated.groups.iter().map(|group| group.cases.len()).collect();
        let (least, most) = (sizes.iter().min().copied().unwrap_or(0), sizes.iter().max().copied().unwrap_or(0));
        let over = match (least, most) {
            (1, 1) => "A cell is the value on the whole log".to_string(),
            (least, most) if least == most => {
                format!("A cell is the mean over {most} windows or seeds, which count alike")
            }
            _ => format!("A cell is the mean over {least} to {most} windows or seeds, which count alike"),
        };
        let cells = || self.replicated.columns.iter().flat_map(|column| &column.cells);
        let bounds = match cells().any(|cell| cell.interval.is_some()) && self.intervals {
            true => format!(", with the interval that holds the mean of logs like these at {confidence}"),
            false => String::new(),
        };
        let mut text = format!("{over}{bounds}. The best of each column is bold.");
        if cells().any(|cell| cell.standing == CellStanding::Tied) {
            text.push_str(&format!(
                " † differs from it by no more than chance at {confidence}, paired and corrected for the pairs of the column (Holm)."
            ));
        }
        if cells().any(|cell| cell.standing == CellStanding::Untested) {
            text.push_str(&format!(
                " Without a test are columns of fewer than {LEAST_UNITS} windows or weeks, and of windows that overlap."
            ));
        }
        text
    }
}

impl Printable for ShownTables {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        for (heading, columns) in self.group_tables() {
            document.add_heading(format!("{}: {heading}", self.origin.study));
            let names = columns.iter().map(|column| self.column_name(column));
            let mut grid = DocumentTable::new(["policy".to_string()].into_iter().chain(names));
            for (at, name) in self.names.iter().enumerate() {
                let cells = columns.iter().map(|column| self.cell_value(&column.cells[at]));
                grid.add_row([TableValue::from(name.clone())].into_iter().chain(cells).collect());
            }
            document.add_table(grid);
        }
        document.add_text(self.cell_legend());
        document
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for column in &self.replicated.columns {
            let group = self.column_group(column);
            for (at, cell) in column.cells.iter().enumerate() {
                let candidate = &self.candidates.candidates[at];
                let mut row = FlatRow::default();
                row.add_text("workload", &group.workload);
                row.add_text("load", group.load);
                row.add_text("change", group.change.as_deref().unwrap_or_default());
                row.add_text("metric", &column.metric);
                row.add_text("name", &candidate.name);
                row.add_text("policy", candidate.policy_on(group.cases[0]));
                row.add_text("replications", cell.values.len());
                row.add_number("mean", Some(cell.mean));
                row.add_number("low", cell.interval.map(|interval| interval.0));
                row.add_number("high", cell.interval.map(|interval| interval.1));
                row.add_text("standing", standing_word(cell.standing));
                self.origin.append_columns(&mut row);
                rows.push(row);
            }
        }
        rows
    }
}

fn standing_word(standing: CellStanding) -> &'static str {
    match standing {
        CellStanding::Best => "best",
        CellStanding::Tied => "tied",
        CellStanding::Behind => "behind",
        CellStanding::Untested => "untested",
    }
}

impl Serialize for ShownTables {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let cell = |column: &ReplicatedColumn, at: usize| {
            let (cell, candidate) = (&column.cells[at], &self.candidates.candidates[at]);
            let replications =
                self.column_group(column).cases.iter().zip(&cell.values).map(
                    |(&case, value)| serde_json::json!({ "workload": self.candidates.cases[case], "value": value }),
                );
            serde_json::json!({
                "name": candidate.name,
                "policy": candidate.policy_on(self.column_group(column).cases[0]),
                "mean": cell.mean,
                "interval": cell.interval,
                "standing": standing_word(cell.standing),
                "replications": replications.collect::<Vec<_>>(),
            })
        };
        let column = |column: &ReplicatedColumn| {
            let group = self.column_group(column);
            serde_json::json!({
                "workload": group.workload,
                "load": group.load,
                "change": group.change,
                "metric": column.metric.to_string(),
                "cells": (0..column.cells.len()).map(|at| cell(column, at)).collect::<Vec<_>>(),
            })
        };
        let tables = serde_json::json!({
            "schema": "drystone/sweep-table/1",
            "study": self.origin.study,
            "drystone": self.origin.drystone,
            "confidence": self.replicated.confidence,
            "incomplete": self.candidates.incomplete,
            "columns": self.replicated.columns.iter().map(column).collect::<Vec<_>>(),
        });
        tables.serialize(serializer)
    }
}
