//! Workloads behind rows: a log as the study had it, its months, windows of it, or logs made of its
//! weeks.

use crate::coverage;
use crate::error::ReproduceError;
use crate::study::Resampling;
use drystone::log::clean::{CleaningOptions, CleaningStudy};
use drystone::log::source;
use drystone::log::swf::SwfReader;
use drystone::log::{self, transform};
use drystone::model::{Procs, Setting, Workload};
use std::path::PathBuf;

/// A workload that rows ask for: rows that agree in this share it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RowWorkload {
    pub(crate) path: PathBuf,
    pub(crate) cleaning: Option<String>,
    pub(crate) overrun: Option<String>,
    pub(crate) take: Option<usize>,
    pub(crate) from: Option<usize>,
    pub(crate) windows: Vec<usize>,
    pub(crate) resample: Option<Resampling>,
    pub(crate) procs: Option<Procs>,
    pub(crate) load: Option<String>,
    pub(crate) months: bool,
}

/// The workload of a source, or its months, windows or resampled logs, each with its name.
pub(crate) fn load_parts(source: &RowWorkload) -> Result<Vec<(String, Workload)>, ReproduceError> {
    if source.months {
        let log_file = source::open_log(&source.path)?;
        let mut reader = SwfReader::new(log_file.bytes, log_file.name)?;
        let mut records = Vec::new();
        while let Some(record) = reader.read_record()? {
            records.push(record);
        }
        let (header, _) = reader.into_header();
        return Ok(transform::talby1999_months(&header, &records, &log::file_title(&source.path))?);
    }
    let cleaning = source.cleaning.as_deref().and_then(|c| c.parse::<CleaningStudy>().ok());
    let mut options = cleaning.map_or_else(CleaningOptions::default, CleaningStudy::options);
    let last = source.windows.iter().copied().max().or(source.from).unwrap_or(0);
    options.take = source.take.map(|jobs| jobs.saturating_add(last));
    options.procs = source.procs.or(options.procs);
    options.load = source.load.as_deref().and_then(|load| load.parse().ok());
    if let Some(overrun) = source.overrun.as_deref().and_then(|o| o.parse().ok()) {
        options.overrun = overrun;
    }
    let workload = log::load_log(&source.path, &options)?.workload;
    if let Some(Resampling { weeks, logs, seed }) = source.resample {
        let draw_log =
            |at: u64| Ok((format!("seed {}", seed + at), coverage::draw_weeks(&workload, weeks, seed + at)?));
        return (0..u64::from(logs)).map(draw_log).collect();
    }
    if !source.windows.is_empty() {
        // The mean is over windows of one length.
        let length = source.take.unwrap_or(1);
        let part = |&from: &usize| Ok((from.to_string(), cut_window(&workload, from, (length, length), source)?));
        return source.windows.iter().map(part).collect();
    }
    match source.from {
        None => Ok(vec![(String::new(), workload)]),
        Some(from) => Ok(vec![(from.to_string(), cut_window(&workload, from, (1, usize::MAX), source)?)]),
    }
}

/// The jobs from this one on, at least and at most so many.
fn cut_window(
    workload: &Workload,
    from: usize,
    (least, most): (usize, usize),
    source: &RowWorkload,
) -> Result<Workload, ReproduceError> {
    let places = from.min(workload.len())..from.saturating_add(most).min(workload.len());
    if places.len() < least {
        return Err(ReproduceError::Window {
            log: log::file_title(&source.path),
            from,
            length: least,
            jobs: workload.len(),
        });
    }
    let setting = Setting { name: "from".to_string(), value: from.to_string() };
    Ok(transform::cut_piece(workload, places, setting)?)
}
