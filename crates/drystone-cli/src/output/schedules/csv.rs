//! A schedule as CSV. The first four columns never change: others read them.

use super::{Schedules, WrittenSchedule};
use crate::exit::CommandFailure;
use crate::output::file::OutputFile;
use crate::output::format::{Format, FormatTraits};
use crate::progress::WorkProgress;
use drystone::metrics::{JobRow, PACE_COLUMNS, SIZE_COLUMNS, SizedJob, measures};
use std::collections::BTreeMap;
use std::io::{self, Write};

pub(super) const HEADER: &str = "job_id,submit,start,end,wait,run,procs,estimate,user,bounded_slowdown,suspensions,\
    suspended,overhead,first_reservation,first_prediction,corrections,accuracy,counted,ended,promised";

pub(super) struct CsvSchedule;

impl Format<Schedules> for CsvSchedule {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".csv"]
    }

    fn format_traits(&self) -> FormatTraits {
        FormatTraits { needs_meta_beside: true, ..FormatTraits::default() }
    }

    fn write_to(&self, schedule: &WrittenSchedule<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let progress = WorkProgress::for_writing(schedule.rows.len(), out);
        write_lines(out, progress.count_items(schedule.rows), schedule.sizes)
            .map_err(|e| CommandFailure::write_error(out.name(), &e))
    }
}

/// Numbers and words of ours: nothing needs quotes.
fn write_lines<'r>(
    out: &mut impl Write,
    rows: impl Iterator<Item = &'r JobRow>,
    sizes: Option<&BTreeMap<i64, SizedJob>>,
) -> io::Result<()> {
    let paces = sizes.is_some_and(|sizes| sizes.values().any(|job| job.paces.is_some()));
    match sizes {
        None => writeln!(out, "{HEADER}")?,
        Some(_) if paces => writeln!(out, "{HEADER},{SIZE_COLUMNS},{PACE_COLUMNS}")?,
        Some(_) => writeln!(out, "{HEADER},{SIZE_COLUMNS}")?,
    }
    for row in rows {
        let JobRow { number, submit, start, end, ran, procs, estimate, user, suspensions, suspended, overhead, .. } =
            row;
        let JobRow { first_prediction, corrections, .. } = row;
        let wait = row.wait();
        let slowdown = measures::bounded_slowdown(wait, *ran);
        write!(
            out,
            "{number},{submit},{start},{end},{wait},{ran},{procs},{estimate},{user},{slowdown},{suspensions},{suspended},{overhead},"
        )?;
        if let Some(reservation) = row.first_reservation {
            write!(out, "{reservation}")?;
        }
        write!(out, ",{first_prediction},{corrections},")?;
        if let Some(accuracy) = row.accuracy {
            write!(out, "{accuracy}")?;
        }
        write!(out, ",{},{},", u8::from(row.counted), row.ended.name())?;
        if let Some(promise) = row.promised {
            write!(out, "{promise}")?;
        }
        if let Some(sizes) = sizes {
            let sized_job = sizes.get(number).copied().unwrap_or_default();
            write!(out, ",{}", sized_job.render_cells())?;
            if paces {
                write!(out, ",{}", sized_job.paces.map_or_else(|| ",,".to_string(), |paces| paces.render_cells()))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{HEADER, PACE_COLUMNS, SIZE_COLUMNS};

    #[test]
    fn every_column_is_documented() {
        let text = include_str!("../../../../../docs/schedules.md");
        for column in [HEADER, SIZE_COLUMNS, PACE_COLUMNS].iter().flat_map(|columns| columns.split(',')) {
            assert!(text.contains(&format!("`{column}`")), "{column}");
        }
    }
}
