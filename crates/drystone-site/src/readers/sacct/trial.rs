//! A line of `--columns` tried on the first rows of a table, before it is printed.

use super::header::RowHeader;
use super::split::Splitter;
use super::{InputLine, SacctColumn, SacctReader};
use crate::error::SiteError;
use crate::jobs::{self, SiteJobFate};
use crate::options::{ImportEffort, JobChoices};
use crate::readers::table::TableSample;
use crate::rows::{FilePlace, ReadSettings, RowIntake};
use crate::rules::RuleTally;
use crate::sweep::Crew;
use crate::text::{RecordLimit, UNKNOWN};

/// Separator of values: no value has it.
const PART: &str = "\u{1f}";

/// Figures of the jobs that a line makes of some rows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TrialFigures {
    pub(crate) rows: usize,
    pub(crate) jobs: usize,
    /// Rows that cannot be used.
    pub(crate) bad: u64,
    /// Jobs that ran.
    pub(crate) ran: usize,
    /// Least and greatest number of a job.
    pub(crate) ids: Option<(u64, u64)>,
    pub(crate) cpus: Option<(u32, u32)>,
    pub(crate) nodes: Option<(u32, u32)>,
    pub(crate) gpus: Option<(u32, u32)>,
    /// Processors times seconds.
    pub(crate) core_seconds: u64,
    /// Longest run in seconds.
    pub(crate) longest: u32,
    /// Limits in seconds, as far as rows say them.
    pub(crate) limits: Option<(u32, u32)>,
    /// Trouble that most rows have.
    pub(crate) trouble: Option<String>,
    /// First and last moment.
    pub(crate) window: Option<(u32, u32)>,
}

/// Reads the rows of a sample as `columns` say. Times without a zone count as UTC where none is
/// given.
///
/// # Errors
/// The line does not fit the table.
pub(crate) fn try_columns(
    sample: &TableSample,
    columns: &str,
    settings: &ReadSettings,
) -> Result<TrialFigures, SiteError> {
    let mut settings = settings.clone();
    settings.zone.get_or_insert_with(crate::clock::Zone::utc_zone);
    let intake = read_sample(sample, columns, settings)?;
    // Its place has no file.
    let trouble = intake.check_troubles().err().map(|error| error.to_string());
    let trouble = trouble.and_then(|text| text.split_once(": ").map(|(_, text)| text.to_string()));
    Ok(TrialFigures { trouble, ..compute_figures(&intake, sample.rows.len()) })
}

/// Returns whether the times that `columns` name have no zone, and none is given.
pub(crate) fn lacks_zone(sample: &TableSample, columns: &str, settings: &ReadSettings) -> bool {
    let intake = read_sample(sample, columns, settings.clone());
    intake.is_ok_and(|intake| matches!(intake.check_troubles(), Err(SiteError::NoZone { .. })))
}

fn read_sample(sample: &TableSample, columns: &str, mut settings: ReadSettings) -> Result<RowIntake, SiteError> {
    let lines = || sample.rows.iter().map(|row| row.join(PART));
    let first = if sample.names.is_empty() { lines().next().unwrap_or_default() } else { sample.names.join(PART) };
    let (header, _) = RowHeader::from_layout(columns, first.as_bytes(), Some(PART))?;
    settings.cluster = None;
    if settings.form.0.is_none() {
        settings.form = sample.form.clone();
    }
    let mut intake = RowIntake::new(settings);
    let file = intake.table.files.add_file("");
    // As an import reads it: without ends, all that has a run time ran.
    if !header.has_any(&[SacctColumn::End]) {
        intake.table.endless.insert(file);
    }
    let mut reader = SacctReader::new(file, Splitter::new(header));
    for (line, number) in lines().zip(1..) {
        let place = FilePlace { file, line: number };
        reader.take_row(&InputLine { bytes: line.as_bytes(), number, whole: true }, place, &mut intake)?;
    }
    intake.finish();
    Ok(intake)
}

fn compute_figures(intake: &RowIntake, rows: usize) -> TrialFigures {
    let (table, mut tally) = (&intake.table, RuleTally::default());
    let crew = Crew::for_effort(ImportEffort { threads: 1, block: 0 });
    let site_jobs = jobs::find_attempts(table, &mut tally, &JobChoices::default(), &intake.orphans, crew);
    let mut out = TrialFigures { rows, jobs: site_jobs.jobs.len(), ..TrialFigures::default() };
    out.bad = intake.tally.bad_rows() + tally.bad_rows();
    fn widen_range<T: Copy + Ord>(range: &mut Option<(T, T)>, value: T) {
        *range = Some(range.map_or((value, value), |(least, most)| (least.min(value), most.max(value))));
    }
    for job in &site_jobs.jobs {
        let (row, amount) = (table.rows.get(job.row), &site_jobs.amounts.items()[job.amount as usize]);
        widen_range(&mut out.ids, if job.task == jobs::NOTHING { row.id } else { row.of });
        for (range, value) in
            [(&mut out.cpus, amount.cpus), (&mut out.nodes, amount.nodes), (&mut out.gpus, amount.gpus)]
        {
            if value != UNKNOWN {
                widen_range(range, value);
            }
        }
        if let RecordLimit::Seconds(limit) = row.limit() {
            widen_range(&mut out.limits, limit);
        }
        for moment in [job.submit, job.start, job.end].into_iter().filter(|moment| *moment > 0) {
            widen_range(&mut out.window, moment);
        }
        if job.kind == SiteJobFate::Ran {
            out.ran += 1;
            out.core_seconds += job.core_seconds(amount);
            out.longest = out.longest.max(if job.run == jobs::NOTHING { 0 } else { job.run });
        }
    }
    out
}
