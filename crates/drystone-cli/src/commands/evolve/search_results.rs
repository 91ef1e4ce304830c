//! Results of a search, for people and machines.

use super::evolved::{Evolved, log_heading};
use crate::output::Printable;
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{format_change, format_count, format_fixed, format_hours, format_minutes};
use drystone_evolve::{OnLog, PolicyVerdict};

impl Printable for Evolved {
    fn render_document(&self) -> Document {
        let mut document = Document::default();
        document.add_heading(self.workload.format_line());
        let guard = self.guard.as_ref().map_or("none".to_string(), |guard| {
            format!("{guard} ({} here)", self.bound.map_or_else(String::new, |bound| format_fixed(bound, 1)))
        });
        document.add_facts(vec![
            ("drystone".to_string(), self.drystone.to_string()),
            ("workload hash".to_string(), self.workload.hash.clone()),
            ("settings".to_string(), self.workload.settings.format_pairs()),
            ("policy".to_string(), self.policy.clone()),
            ("objective".to_string(), self.objective.clone()),
            ("guard".to_string(), guard),
            ("seed".to_string(), self.seed.to_string()),
            (
                "search".to_string(),
                format!(
                    "{} generations, {} formulas simulated, beside {} at random",
                    format_count(self.generations),
                    format_count(self.evaluations),
                    format_count(self.random_evaluations)
                ),
            ),
        ]);
        document.add_heading("Formulas by size, on the weeks that they were chosen by (smallest value first)");
        let mut table =
            DocumentTable::new(["parts", &self.objective, "guard exceeded by", "formula"]).with_text_columns(&[3]);
        for formula in &self.front {
            let excess = if formula.score.excess > 0.0 { format_change(formula.score.excess) } else { "-".to_string() };
            table.add_row(vec![
                format_count(formula.size as u64).into(),
                format_fixed(formula.score.quality, 2).into(),
                excess.into(),
                formula.formula.as_str().into(),
            ]);
        }
        document.add_table(table);
        for log in &self.logs {
            document.add_heading(log_heading(log));
            document.add_table(table_of(log));
        }
        document.add_text(
            "Changes are against fcfs in place of the formula, with 95% intervals from blocks of weeks. What is \
             better on seen weeks than on unseen ones was fitted to the weeks that it was chosen by.",
        );
        document
    }

    fn render_overview(&self) -> Option<Document> {
        (!self.whole).then(|| super::overview::render_overview(self))
    }

    fn render_rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for (log, verdict) in self.logs.iter().flat_map(|log| log.verdicts.iter().map(move |v| (log, v))) {
            rows.push(self.verdict_row(log, verdict));
        }
        rows
    }
}

impl Evolved {
    fn verdict_row(&self, log: &OnLog, verdict: &PolicyVerdict) -> FlatRow {
        let mut row = FlatRow::default();
        row.add_text("drystone", self.drystone);
        row.add_text("searched_on", &self.workload.name);
        row.add_text("searched_on_hash", &self.workload.hash);
        row.add_text("settings", self.workload.settings.format_pairs());
        row.add_text("objective", &self.objective);
        row.add_text("guard", self.guard.as_deref().unwrap_or(""));
        row.add_text("seed", self.seed);
        row.add_text("log", &log.log);
        row.add_number("unseen_weeks", Some(log.unseen_weeks as f64));
        row.add_text("name", &verdict.name);
        row.add_text("policy", &verdict.policy);
        row.add_number("seen", verdict.seen);
        row.add_number("unseen", Some(verdict.unseen));
        row.add_number("seen_change", verdict.seen_change);
        row.add_number("unseen_change", Some(verdict.unseen_change));
        row.add_number("unseen_change_low", verdict.interval.map(|i| i.0));
        row.add_number("unseen_change_high", verdict.interval.map(|i| i.1));
        row.add_number("unseen_wait_mean", Some(verdict.unseen_wait));
        row.add_number("unseen_wait_max", Some(verdict.unseen_longest_wait));
        row
    }
}

fn table_of(log: &OnLog) -> DocumentTable {
    let has_seen_weeks = log.seen_weeks > 0;
    let mut columns = vec!["order"];
    if has_seen_weeks {
        columns.extend(["seen weeks", "change"]);
    }
    columns.extend(["unseen weeks", "change", "95% interval", "mean wait, min", "longest wait, h"]);
    let mut table = DocumentTable::new(columns).with_text_columns(&[0]);
    for verdict in &log.verdicts {
        let mut row = vec![verdict.name.as_str().into()];
        if has_seen_weeks {
            row.push(format_fixed(verdict.seen.unwrap_or(0.0), 2).into());
            row.push(verdict.seen_change.map_or_else(|| "-".to_string(), format_change).into());
        }
        let interval = verdict.interval.map(|(low, high)| format!("{} to {}", format_change(low), format_change(high)));
        row.extend([
            format_fixed(verdict.unseen, 2).into(),
            format_change(verdict.unseen_change).into(),
            interval.unwrap_or_else(|| "-".to_string()).into(),
            format_minutes(Some(verdict.unseen_wait)).into(),
            format_hours(Some(verdict.unseen_longest_wait)).into(),
        ]);
        table.add_row(row);
    }
    table
}
