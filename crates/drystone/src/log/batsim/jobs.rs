//! `jobs.csv`: what became of each job.

use super::read::convert_seconds;
use super::{BatsimSource, batsim_error};
use crate::log::LogError;
use crate::log::swf::{SwfDecimal, SwfHeader, SwfRecord};
use crate::metrics::JobRow;
use crate::model::{How, LogStatus, ProcSet, Procs, Time, Truth};
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::sync::Arc;

const HEADER: &str = "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,\
    final_state,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,\
    consumed_energy,metadata";

/// Processors on which a job ran; `None` where there was no room, since it was suspended meanwhile.
pub type PlacedJob = Option<ProcSet>;

/// Processors for every job of a schedule whose policy only counted: the lowest free ones, in the
/// order of starts. O(n log n) for few free ranges at a time.
#[must_use]
pub fn place_jobs(rows: &[JobRow], machine: Procs) -> Vec<PlacedJob> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&at| (rows[at].start, rows[at].id));
    let mut ends: std::collections::BinaryHeap<std::cmp::Reverse<(Time, usize)>> = std::collections::BinaryHeap::new();
    let mut free: ProcSet = ProcSet::from_range(0..machine);
    let mut placements: Vec<PlacedJob> = vec![None; rows.len()];
    for at in order {
        let row = &rows[at];
        while let Some(std::cmp::Reverse((end, index))) = ends.peek().copied() {
            if end > row.start {
                break;
            }
            ends.pop();
            if let Some(set) = &placements[index] {
                free = free.union(set);
            }
        }
        if free.len() < row.procs {
            continue;
        }
        let set = free.lowest_procs(row.procs);
        free = free.difference(&set);
        placements[at] = Some(set);
        ends.push(std::cmp::Reverse((row.end, at)));
    }
    placements
}

/// Writes a schedule as Batsim does, in the order of the ends.
///
/// # Errors
/// Those of the writer.
pub fn write_jobs(
    out: &mut impl Write,
    workload: &str,
    rows: &[JobRow],
    truth: &[Truth],
    placements: &[PlacedJob],
) -> io::Result<()> {
    let name: String =
        workload.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    writeln!(out, "{HEADER}")?;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&at| (rows[at].end, rows[at].id));
    for at in order {
        let row = &rows[at];
        let has_failed = row.ended == How::MachineFailed
            || truth.get(row.id.index()).is_some_and(|truth| truth.status == LogStatus::Failed);
        let state = if has_failed { "COMPLETED_FAILED" } else { "COMPLETED_SUCCESSFULLY" };
        let JobRow { number, submit, start, end, ran, procs, estimate, .. } = row;
        let (wait, response) = (row.wait(), row.response());
        let stretch = response.as_f64() / ran.as_f64().max(1.0);
        write!(
            out,
            "{number},{name},delay-{ran},{submit},{procs},{estimate},{},{state},{start},{ran},{end},{wait},{response},{stretch},",
            u8::from(!has_failed)
        )?;
        let ranges = placements.get(at).and_then(Option::as_ref).into_iter().flat_map(ProcSet::ranges);
        let texts: Vec<String> = ranges
            .map(|r| if r.end - r.start == 1 { r.start.to_string() } else { format!("{}-{}", r.start, r.end - 1) })
            .collect();
        writeln!(out, "{},-1,\"\"", texts.join(" "))?;
    }
    Ok(())
}

/// Reads it as a log: with the waits that it records.
pub(super) fn read_jobs_csv(input: &mut impl BufRead, name: &Arc<str>) -> Result<BatsimSource, LogError> {
    let mut lines = JobLines { input, number: 0 };
    let head = lines.next(name)?.unwrap_or_default();
    let columns: BTreeMap<&str, usize> = head.split(',').map(str::trim).zip(0..).collect();
    let column = |wanted: &[&str]| -> Result<usize, LogError> {
        let position = wanted.iter().find_map(|name| columns.get(name));
        position.copied().ok_or_else(|| {
            batsim_error(name, 1, format!("there is no column `{}`, as jobs.csv of Batsim has it", wanted[0]))
        })
    };
    let at = [
        column(&["submission_time"])?,
        column(&["requested_number_of_resources", "requested_number_of_processors"])?,
        column(&["execution_time"])?,
        column(&["starting_time"])?,
    ];
    let optional = |key: &str| columns.get(key).copied();
    let (walltime, success, allocation) = (
        optional("requested_time"),
        optional("success"),
        optional("allocated_resources").or(optional("allocated_processors")),
    );
    let mut records: Vec<SwfRecord> = Vec::new();
    let mut last = -1;
    while let Some(text) = lines.next(name)? {
        if text.is_empty() {
            continue;
        }
        let cells = split_cells(&text);
        let line = lines.number;
        let number = |at: usize, what: &str| -> Result<f64, LogError> {
            let cell = cells.get(at).map_or("", String::as_str);
            let value = cell.parse().ok().filter(|value: &f64| value.is_finite());
            value.ok_or_else(|| batsim_error(name, line, format!("`{what}` is `{cell}`; expected a number")))
        };
        let time = |value: f64, what: &str| -> Result<SwfDecimal, LogError> {
            convert_seconds(value)
                .ok_or_else(|| batsim_error(name, line, format!("`{what}` is {value}, outside the range of times")))
        };
        let submit = number(at[0], "submission_time")?;
        let procs = number(at[1], "requested_number_of_resources")?;
        if procs < 1.0 {
            return Err(batsim_error(
                name,
                line,
                format!("`requested_number_of_resources` is {procs}; expected at least 1"),
            ));
        }
        // A job that was refused or never started has no times.
        let run = number(at[2], "execution_time").unwrap_or(-1.0);
        let start = number(at[3], "starting_time").unwrap_or(-1.0);
        let wait = if start < 0.0 { SwfDecimal::UNKNOWN } else { time(start - submit, "starting_time")? };
        let requested_time = match walltime {
            Some(at) => number(at, "requested_time").ok().filter(|time| *time > 0.0),
            None => None,
        };
        if let Some(cell) = allocation.and_then(|at| cells.get(at)) {
            last = last.max(highest_resource(cell));
        }
        records.push(SwfRecord {
            number: cells[0].rsplit('!').next().and_then(|id| id.parse().ok()).unwrap_or(records.len() as i64 + 1),
            submit: time(submit, "submission_time")?,
            wait,
            run: if run < 0.0 { SwfDecimal::UNKNOWN } else { time(run, "execution_time")? },
            allocated: procs as i64,
            requested: procs as i64,
            requested_time: requested_time.and_then(convert_seconds).unwrap_or(SwfDecimal::UNKNOWN),
            status: success
                .and_then(|at| cells.get(at))
                .map_or(-1, |cell| i64::from(matches!(&**cell, "1" | "True" | "true"))),
            line,
            ..SwfRecord::default()
        });
    }
    if records.is_empty() {
        return Err(LogError::Empty { file: name.clone(), lines: lines.number });
    }
    let mut header = SwfHeader::new();
    header.push("Version", "2.2");
    header.push("Conversion", "from jobs.csv of Batsim");
    if last >= 0 {
        // As many as were ever used; the platform may have more.
        header.push("MaxProcs", &(last + 1).to_string());
    }
    records.sort_by_key(|record| record.submit.round());
    Ok(BatsimSource { header, records })
}

/// The highest resource of an interval set such as `1-2 5 10-50`.
fn highest_resource(set: &str) -> i64 {
    let ends = set.split([' ', ',']).filter_map(|range| range.rsplit('-').next()?.parse().ok());
    ends.max().unwrap_or(-1)
}

/// Cells of a line, of which some may stand in quotes.
fn split_cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    cells.push(cell);
    cells
}

struct JobLines<'a, R> {
    input: &'a mut R,
    number: u64,
}

impl<R: BufRead> JobLines<'_, R> {
    fn next(&mut self, name: &Arc<str>) -> Result<Option<String>, LogError> {
        let mut text = String::new();
        let read_error = |source| LogError::Read { file: name.clone(), line: self.number, source };
        let byte_count = self.input.read_line(&mut text).map_err(read_error)?;
        self.number += u64::from(byte_count > 0);
        Ok((byte_count > 0).then(|| text.trim_end_matches(['\r', '\n']).to_string()))
    }
}
