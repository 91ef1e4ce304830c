//! A schedule as Parquet, with the columns of the CSV and what determined it in the file's
//! metadata.

use super::{Schedule, Schedules};
use crate::exit::Failure;
use crate::output::columnar::{Column, File, MISSING};
use crate::output::file::Output;
use crate::output::format::Format;
use drystone::metrics::{JobRow, measures};

/// The columns of the CSV.
pub(super) struct Parquet;

const COLUMNS: [(&str, Column<'static, JobRow>); 20] = [
    ("job_id", Column::Long(&|r| r.number)),
    ("submit", Column::Long(&|r| r.submit.0)),
    ("start", Column::Long(&|r| r.start.0)),
    ("end", Column::Long(&|r| r.end.0)),
    ("wait", Column::Long(&|r| r.wait().0)),
    ("run", Column::Long(&|r| r.ran.0)),
    ("procs", Column::Long(&|r| i64::from(r.procs))),
    ("estimate", Column::Long(&|r| r.estimate.0)),
    ("user", Column::Long(&|r| i64::from(r.user))),
    ("bounded_slowdown", Column::Double(&|r| measures::bounded_slowdown(r.wait(), r.ran))),
    ("suspensions", Column::Long(&|r| i64::from(r.suspensions))),
    ("suspended", Column::Long(&|r| r.suspended.0)),
    ("overhead", Column::Long(&|r| r.overhead.0)),
    ("first_reservation", Column::MaybeLong(&|r| r.first_reservation.map(|t| t.0))),
    ("first_prediction", Column::Long(&|r| r.first_prediction.0)),
    ("corrections", Column::Long(&|r| i64::from(r.corrections))),
    ("accuracy", Column::MaybeDouble(&|r| r.accuracy)),
    ("counted", Column::Bool(&|r| r.counted)),
    ("ended", Column::MaybeText(&|r| Some(r.ended.word()))),
    ("promised", Column::MaybeLong(&|r| r.promised.map(|t| t.0))),
];

impl Format<Schedules> for Parquet {
    fn endings(&self) -> &'static [&'static str] {
        &[".parquet"]
    }

    fn missing(&self) -> Option<&'static str> {
        MISSING
    }

    fn write(&self, schedule: &Schedule<'_>, out: &mut Output) -> Result<(), Failure> {
        let determined = schedule.determined()?;
        File { columns: &COLUMNS, metadata: &[("drystone", &determined)] }.write(out, schedule.rows)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_columns_are_those_of_the_csv() {
        assert_eq!(super::COLUMNS.map(|(name, _)| name).join(","), crate::output::schedules::csv::HEADER);
    }
}
