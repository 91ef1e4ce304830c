//! Change of a workload over time, for people.

use crate::output::document::{Document, DocumentTable, TableValue};
use crate::output::number::{fixed_or, format_count, format_fixed, format_percent};
use drystone::log::transient::{JobBatch, Transient, ValueMoments};

const CLASSES: [&str; 4] = ["up to 100 s", "up to 1,000 s", "up to 10,000 s", "above 10,000 s"];

/// Adds what is said of the whole workload, and of every batch.
pub(super) fn append_over_time(document: &mut Document, transient: &Transient) {
    document.add_heading("Variability");
    document.add_table(variability_table(transient));
    let correlation = fixed_or(transient.correlation, 3);
    document.add_facts(vec![("correlation of run time and processors".to_string(), correlation)]);
    document.add_heading(format!(
        "Run times in batches of {} submissions, in seconds",
        format_count(transient.batch as u64)
    ));
    document.add_table(batch_table(transient));
}

fn variability_table(transient: &Transient) -> DocumentTable {
    let mut table = DocumentTable::new(["", "jobs", "share", "mean", "median", "C.V."]);
    let mut row = |name: String, m: &ValueMoments, decimals: usize| {
        let share = m.jobs as f64 / transient.run_times.jobs as f64;
        table.add_row(vec![
            name.into(),
            format_count(m.jobs).into(),
            format_percent(Some(share), 1).into(),
            fixed_or(m.mean, decimals).into(),
            fixed_or(m.median, decimals).into(),
            fixed_or(m.variation, 2).into(),
        ]);
    };
    row("processors".to_string(), &transient.procs, 2);
    row("run time, s".to_string(), &transient.run_times, 0);
    for (name, moments) in CLASSES.iter().zip(&transient.classes) {
        row(format!("  {name}"), moments, 0);
    }
    table
}

fn batch_table(transient: &Transient) -> DocumentTable {
    let classes = (1..=4).flat_map(|c| [format!("share {c}"), format!("mean {c}"), format!("C.V. {c}")]);
    let columns = ["batch", "since day", "mean", "C.V."].map(str::to_string);
    let mut table = DocumentTable::new(columns.into_iter().chain(classes));
    let first = transient.batches.first().map_or(0, |b| b.from.0);
    for (number, batch) in transient.batches.iter().enumerate() {
        table.add_row(batch_row(number, batch, first));
    }
    table
}

fn batch_row(number: usize, batch: &JobBatch, first: i64) -> Vec<TableValue> {
    let day = (batch.from.0 - first) as f64 / 86_400.0;
    let mut row: Vec<TableValue> = vec![
        (number + 1).to_string().into(),
        format_fixed(day, 1).into(),
        fixed_or(batch.all.mean, 0).into(),
        fixed_or(batch.all.variation, 2).into(),
    ];
    for (class, moments) in batch.classes.iter().enumerate() {
        row.push(format_percent(Some(batch.class_share(class)), 1).into());
        row.push(fixed_or(moments.mean, 0).into());
        row.push(fixed_or(moments.variation, 2).into());
    }
    row
}
