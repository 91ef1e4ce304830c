//! Tables of jobs that are no output of `sacct`: what their columns mean.

pub(crate) mod advice;
mod flat_record;
#[cfg(test)]
mod fuzzed;
mod pods;
mod presets;
mod propose;
mod records;
mod sample;
mod values;
mod words;

pub(crate) use presets::{find_preset, preset_names};
pub(crate) use records::read_records;
pub(crate) use sample::{ROWS as SAMPLED, TableSample};
pub(crate) use words::find_roles;

use crate::readers::sacct::is_column as is_known;

/// The names of a table that is none of jobs, and how many columns it has.
pub(crate) fn describe_table(head: &[u8], delimiter: Option<&str>) -> Option<(String, usize)> {
    let sample = sample_of(head, delimiter)?;
    (!sample.names.is_empty()).then(|| (sample.shown_names(), sample.column_count()))
}

/// Returns whether the beginning of a text is a table that an import reads or can give advice on.
pub(crate) fn looks_like_jobs(head: &[u8], delimiter: Option<&str>) -> bool {
    sample_of(head, delimiter).is_some_and(|sample| advice::is_of_jobs(&sample))
}

fn sample_of(head: &[u8], delimiter: Option<&str>) -> Option<TableSample> {
    let mut lines: Vec<&[u8]> = head.split(|&b| b == b'\n').map(<[u8]>::trim_ascii_end).collect();
    // The last line of a beginning may be a part of one.
    if lines.len() > 2 {
        lines.pop();
    }
    lines.retain(|line| !line.is_empty() && !crate::text::is_message(line));
    TableSample::of_lines(&lines[..lines.len().min(200)], delimiter)
}
