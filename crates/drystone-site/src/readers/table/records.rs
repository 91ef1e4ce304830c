//! A table of jobs as JSON: a list of records, a record a line, or a list within a document.

use super::flat_record::{FlatRecord, text_of};
use super::pods;
use super::presets::recognise_preset;
use super::sample::{ROWS, TableSample};
use crate::error::SiteError;
use crate::readers::FileReading;
use crate::readers::json::{JsonValue, each_record};
use crate::readers::lines::InputLine;
use crate::readers::sacct::{TableRows, TextLayout};
use crate::rules::ImportRule;
use std::collections::BTreeMap;
use std::io::Read;

/// Separator of the values of a row: no value has it.
const PART: &str = "\u{1f}";

/// Reads all records. The first of them say which columns there are.
pub(crate) fn read_records(
    input: impl Read,
    reading: &mut FileReading<'_>,
    layout: &TextLayout,
) -> Result<(), SiteError> {
    let mut first: Vec<FlatRecord> = Vec::new();
    let mut table: Option<RecordTable> = None;
    let mut number = 0_u32;
    let mut kind: Option<String> = None;
    each_record(input, reading, &mut |reading, value| {
        if let Some(pod_kind) = pods::kind_of(value) {
            if !matches!(pod_kind, "Pod" | "Job") {
                number = number.saturating_add(1);
                let place = reading.place_of(number);
                reading.intake.count_rule(ImportRule::Record, place, pod_kind.as_bytes(), 0);
                return Ok(());
            }
            let first = kind.get_or_insert_with(|| pod_kind.to_string());
            if first != pod_kind {
                return Err(both_kinds(reading.name));
            }
        }
        for record in flatten_record(value) {
            match &mut table {
                Some(table) => table.take_record(&record, &mut number, reading)?,
                None => first.push(record),
            }
        }
        if table.is_none() && first.len() >= ROWS {
            table = Some(RecordTable::begin_table(std::mem::take(&mut first), &mut number, layout, reading)?);
        }
        Ok(())
    })?;
    if table.is_none() {
        RecordTable::begin_table(first, &mut number, layout, reading)?;
    }
    Ok(())
}

/// The error for a list in which the pods of a job count beside it.
fn both_kinds(file: &str) -> SiteError {
    SiteError::Unknown {
        file: file.to_string(),
        looks: "a list of Kubernetes with jobs and pods, and a job's pods would count twice".to_string(),
        advice: "give one of the two: kubectl get pods -A -o json > pods.json".to_string(),
    }
}

/// Rows with the columns of the first records.
struct RecordTable {
    rows: TableRows,
    places: BTreeMap<String, usize>,
}

impl RecordTable {
    fn begin_table(
        first: Vec<FlatRecord>,
        number: &mut u32,
        layout: &TextLayout,
        reading: &mut FileReading<'_>,
    ) -> Result<RecordTable, SiteError> {
        let mut names: Vec<String> = Vec::new();
        let mut places = BTreeMap::new();
        for (name, _) in first.iter().flatten() {
            places.entry(name.clone()).or_insert_with(|| {
                names.push(name.clone());
                names.len() - 1
            });
        }
        let mut layout = TextLayout { delimiter: Some(PART.to_string()), ..layout.clone() };
        // What Slurm itself writes needs no question.
        if layout.columns.is_none() && recognise_preset(&names).is_some_and(|preset| preset.names[0] == "jobcomp-json")
        {
            layout.columns = Some("jobcomp-json".to_string());
        }
        let sample_rows = first.iter().take(ROWS).map(|record| row_values(record, &places)).collect();
        let sample = TableSample::with_names(names.clone(), sample_rows);
        let rows = TableRows::begin_rows(&names.join(PART), sample, &layout, reading)?;
        let mut table = RecordTable { rows, places };
        for record in &first {
            table.take_record(record, number, reading)?;
        }
        Ok(table)
    }

    fn take_record(
        &mut self,
        record: &FlatRecord,
        number: &mut u32,
        reading: &mut FileReading<'_>,
    ) -> Result<(), SiteError> {
        *number = number.saturating_add(1);
        reading.note_lines(*number)?;
        let line = row_values(record, &self.places).join(PART);
        self.rows.take_row(&InputLine { bytes: line.as_bytes(), number: *number, whole: true }, reading)
    }
}

fn row_values(record: &FlatRecord, places: &BTreeMap<String, usize>) -> Vec<String> {
    let mut row = vec![String::new(); places.len()];
    for (name, value) in record {
        if let Some(&at) = places.get(name) {
            row[at].clone_from(value);
        }
    }
    row
}

/// The rows of a record: one, or one for each attempt of a job.
fn flatten_record(value: &JsonValue) -> Vec<FlatRecord> {
    // What a search engine exports has the record within.
    let value = value.get("_source").unwrap_or(value);
    let JsonValue::Map(pairs) = value else { return vec![Vec::new()] };
    if let Some(row) = pods::row_of(value) {
        return vec![row];
    }
    let mut flat = Vec::new();
    for (name, value) in pairs.iter().filter(|(name, _)| name != "attempts") {
        flatten_value(name, value, &mut flat);
    }
    // Slurm's completion records have UTC without saying so.
    for (name, value) in flat.iter_mut().filter(|(name, _)| name.starts_with('@')) {
        if value.len() == 19 && name != "@timestamp" {
            value.push('Z');
        }
    }
    match value.get("attempts").map(JsonValue::as_list) {
        Some(attempts) => of_attempts(&flat, attempts),
        None => vec![flat],
    }
}

/// A row for each attempt; all but the last were put back into the queue.
fn of_attempts(job: &FlatRecord, attempts: &[JsonValue]) -> Vec<FlatRecord> {
    let row = |(at, attempt): (usize, &JsonValue)| {
        let mut row = job.clone();
        if at + 1 < attempts.len() {
            row.iter_mut().filter(|(name, _)| name == "status").for_each(|(_, value)| *value = "REQUEUED".to_string());
        }
        for name in ["start_time", "end_time"] {
            row.push((format!("attempt.{name}"), attempt.get(name).map_or(String::new(), text_of)));
        }
        let hosts = attempt.get("detail").map_or(&[][..], JsonValue::as_list);
        let gpus: usize = hosts.iter().filter_map(|host| host.get("gpus")).map(|gpus| gpus.as_list().len()).sum();
        let names: Vec<String> = hosts.iter().filter_map(|host| host.get("ip")).map(text_of).collect();
        row.push(("attempt.gpus".to_string(), gpus.to_string()));
        row.push(("attempt.nodes".to_string(), hosts.len().to_string()));
        row.push(("attempt.hosts".to_string(), names.join(",")));
        row
    };
    if attempts.is_empty() {
        let attempt_names =
            ["attempt.start_time", "attempt.end_time", "attempt.gpus", "attempt.nodes", "attempt.hosts"];
        let empty_values = attempt_names.iter().map(|name| ((*name).to_string(), String::new()));
        return vec![job.iter().cloned().chain(empty_values).collect()];
    }
    attempts.iter().enumerate().map(row).collect()
}

fn flatten_value(name: &str, value: &JsonValue, out: &mut FlatRecord) {
    match value {
        JsonValue::Map(pairs) => {
            pairs.iter().for_each(|(inner, value)| flatten_value(&format!("{name}.{inner}"), value, out))
        }
        JsonValue::List(list) if list.iter().any(|item| matches!(item, JsonValue::Map(_))) => {
            // Of a list of records, the values of each name side by side.
            let mut names: Vec<&String> = Vec::new();
            for pairs in
                list.iter().filter_map(|item| if let JsonValue::Map(pairs) = item { Some(pairs) } else { None })
            {
                names.extend(
                    pairs.iter().map(|(inner, _)| inner).filter(|inner| !names.contains(inner)).collect::<Vec<_>>(),
                );
            }
            for inner in names {
                let values: Vec<String> = list.iter().filter_map(|item| item.get(inner)).map(text_of).collect();
                out.push((format!("{name}.{inner}"), values.join(",")));
            }
        }
        other => out.push((name.to_string(), text_of(other))),
    }
}
