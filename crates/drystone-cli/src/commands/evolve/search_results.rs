//! Results of a search, for people and machines.

use super::evolved::{Evolved, heading};
use crate::output::Printable;
use crate::output::document::{Document, DocumentTable};
use crate::output::flat::{FlatRow, FlatRows};
use crate::output::number::{change, count, fixed, hours, minutes};
use drystone_evolve::{OnLog, PolicyVerdict};

impl Printable for Evolved {
    fn document(&self) -> Document {
        let mut document = Document::default();
        document.heading(self.workload.line());
        let guard = self.guard.as_ref().map_or("none".to_string(), |guard| {
            format!("{guard} ({} here)", self.bound.map_or_else(String::new, |bound| fixed(bound, 1)))
        });
        document.facts(vec![
            ("drystone".to_string(), self.drystone.to_string()),
            ("workload hash".to_string(), self.workload.hash.clone()),
            ("settings".to_string(), self.workload.settings.text()),
            ("policy".to_string(), self.policy.clone()),
            ("objective".to_string(), self.objective.clone()),
            ("guard".to_string(), guard),
            ("seed".to_string(), self.seed.to_string()),
            (
                "search".to_string(),
                format!(
                    "{} generations, {} formulas simulated, beside {} at random",
                    count(self.generations),
                    count(self.evaluations),
                    count(self.random_evaluations)
                ),
            ),
        ]);
        document.heading("Formulas by size, on the weeks that they were chosen by (smallest value first)");
        let mut table = DocumentTable::new(["parts", &self.objective, "guard exceeded by", "formula"]).texts(&[3]);
        for found in &self.front {
            let excess = if found.score.excess > 0.0 { change(found.score.excess) } else { "-".to_string() };
            table.row(vec![
                count(found.size as u64).into(),
                fixed(found.score.quality, 2).into(),
                excess.into(),
                found.formula.as_str().into(),
            ]);
        }
        document.table(table);
        for log in &self.logs {
            document.heading(heading(log));
            document.table(table_of(log));
        }
        document.text(
            "Changes are against fcfs in place of the formula, with 95% intervals from blocks of weeks. What is \
             better on seen weeks than on unseen ones was fitted to the weeks that it was chosen by.",
        );
        document
    }

    fn overview(&self) -> Option<Document> {
        (!self.whole).then(|| super::overview::overview(self))
    }

    fn rows(&self) -> FlatRows {
        let mut rows = FlatRows::default();
        for (log, verdict) in self.logs.iter().flat_map(|log| log.verdicts.iter().map(move |v| (log, v))) {
            rows.push(self.row(log, verdict));
        }
        rows
    }
}

impl Evolved {
    fn row(&self, log: &OnLog, verdict: &PolicyVerdict) -> FlatRow {
        let mut row = FlatRow::default();
        row.text("drystone", self.drystone);
        row.text("searched_on", &self.workload.name);
        row.text("searched_on_hash", &self.workload.hash);
        row.text("settings", self.workload.settings.text());
        row.text("objective", &self.objective);
        row.text("guard", self.guard.as_deref().unwrap_or(""));
        row.text("seed", self.seed);
        row.text("log", &log.log);
        row.number("unseen_weeks", Some(log.unseen_weeks as f64));
        row.text("name", &verdict.name);
        row.text("policy", &verdict.policy);
        row.number("seen", verdict.seen);
        row.number("unseen", Some(verdict.unseen));
        row.number("seen_change", verdict.seen_change);
        row.number("unseen_change", Some(verdict.unseen_change));
        row.number("unseen_change_low", verdict.interval.map(|i| i.0));
        row.number("unseen_change_high", verdict.interval.map(|i| i.1));
        row.number("unseen_wait_mean", Some(verdict.unseen_wait));
        row.number("unseen_wait_max", Some(verdict.unseen_longest_wait));
        row
    }
}

fn table_of(log: &OnLog) -> DocumentTable {
    let seen = log.seen_weeks > 0;
    let mut columns = vec!["order"];
    if seen {
        columns.extend(["seen weeks", "change"]);
    }
    columns.extend(["unseen weeks", "change", "95% interval", "mean wait, min", "longest wait, h"]);
    let mut table = DocumentTable::new(columns).texts(&[0]);
    for verdict in &log.verdicts {
        let mut row = vec![verdict.name.as_str().into()];
        if seen {
            row.push(fixed(verdict.seen.unwrap_or(0.0), 2).into());
            row.push(verdict.seen_change.map_or_else(|| "-".to_string(), change).into());
        }
        let interval = verdict.interval.map(|(low, high)| format!("{} to {}", change(low), change(high)));
        row.extend([
            fixed(verdict.unseen, 2).into(),
            change(verdict.unseen_change).into(),
            interval.unwrap_or_else(|| "-".to_string()).into(),
            minutes(Some(verdict.unseen_wait)).into(),
            hours(Some(verdict.unseen_longest_wait)).into(),
        ]);
        table.row(row);
    }
    table
}
