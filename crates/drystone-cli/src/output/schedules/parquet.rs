//! A schedule as Parquet, with the columns of the CSV and what determined it in the file's
//! metadata.

use super::{Schedules, WrittenSchedule};
use crate::exit::CommandFailure;
use crate::output::columnar::{ColumnGetter, ColumnarFile, MISSING};
use crate::output::file::OutputFile;
use crate::output::format::Format;
use drystone::metrics::{JobRow, measures};

/// The columns of the CSV.
pub(super) struct ParquetSchedule;

const COLUMNS: [(&str, ColumnGetter<'static, JobRow>); 20] = [
    ("job_id", ColumnGetter::Long(&|r| r.number)),
    ("submit", ColumnGetter::Long(&|r| r.submit.0)),
    ("start", ColumnGetter::Long(&|r| r.start.0)),
    ("end", ColumnGetter::Long(&|r| r.end.0)),
    ("wait", ColumnGetter::Long(&|r| r.wait().0)),
    ("run", ColumnGetter::Long(&|r| r.ran.0)),
    ("procs", ColumnGetter::Long(&|r| i64::from(r.procs))),
    ("estimate", ColumnGetter::Long(&|r| r.estimate.0)),
    ("user", ColumnGetter::Long(&|r| i64::from(r.user))),
    ("bounded_slowdown", ColumnGetter::Double(&|r| measures::bounded_slowdown(r.wait(), r.ran))),
    ("suspensions", ColumnGetter::Long(&|r| i64::from(r.suspensions))),
    ("suspended", ColumnGetter::Long(&|r| r.suspended.0)),
    ("overhead", ColumnGetter::Long(&|r| r.overhead.0)),
    ("first_reservation", ColumnGetter::MaybeLong(&|r| r.first_reservation.map(|t| t.0))),
    ("first_prediction", ColumnGetter::Long(&|r| r.first_prediction.0)),
    ("corrections", ColumnGetter::Long(&|r| i64::from(r.corrections))),
    ("accuracy", ColumnGetter::MaybeDouble(&|r| r.accuracy)),
    ("counted", ColumnGetter::Bool(&|r| r.counted)),
    ("ended", ColumnGetter::MaybeText(&|r| Some(r.ended.name()))),
    ("promised", ColumnGetter::MaybeLong(&|r| r.promised.map(|t| t.0))),
];

impl Format<Schedules> for ParquetSchedule {
    fn file_endings(&self) -> &'static [&'static str] {
        &[".parquet"]
    }

    fn missing_feature(&self) -> Option<&'static str> {
        MISSING
    }

    fn write_to(&self, schedule: &WrittenSchedule<'_>, out: &mut OutputFile) -> Result<(), CommandFailure> {
        let inputs = schedule.render_inputs()?;
        ColumnarFile { columns: &COLUMNS, metadata: &[("drystone", &inputs)] }.write_rows(out, schedule.rows)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_columns_are_those_of_the_csv() {
        assert_eq!(super::COLUMNS.map(|(name, _)| name).join(","), crate::output::schedules::csv::HEADER);
    }
}
