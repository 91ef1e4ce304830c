//! The job set of Talby & Feitelson (1999).

use super::TalbyClock;
use crate::log::LogError;
use crate::log::clean::{Cleaner, CleaningStudy};
use crate::log::swf::{SwfHeader, SwfRecord};
use crate::model::Workload;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The jobs that best explain the tables of Talby & Feitelson (1999), by month (`1996-10`), from
/// the records of the uncleaned KTH log.
///
/// They simulated each month on its own and counted the jobs that were both submitted and ended in
/// it, by local time. Their time stamps were those of a clock on the wall, taken for seconds of an
/// even flow: a job that runs while the clocks are set back seems an hour shorter. So every start
/// and end is moved by what local time has gained on UTC since the log's start; the submit keeps
/// its distance to the start. Cleaning is that of [`CleaningStudy::Talby1999`].
///
/// # Errors
/// The header gives no calendar, or no machine.
pub fn talby1999_months(
    header: &SwfHeader,
    records: &[SwfRecord],
    name: &str,
) -> Result<Vec<(String, Workload)>, LogError> {
    let clock = TalbyClock::new(header, name)?;
    let mut months: BTreeMap<i64, Cleaner> = BTreeMap::new();
    for record in records {
        let Some((month, month_record)) = clock.read_record(record)? else { continue };
        let cleaner = match months.entry(month) {
            Entry::Occupied(cleaner) => cleaner.into_mut(),
            Entry::Vacant(place) => {
                let title = format!("{name} {}", clock.calendar.month_name(month));
                place.insert(Cleaner::new(header, CleaningStudy::Talby1999.options(), name, &title)?)
            }
        };
        cleaner.push(&month_record)?;
    }
    let name = |month: i64| clock.calendar.month_name(month);
    months.into_iter().map(|(month, cleaner)| Ok((name(month), cleaner.finish()?.0))).collect()
}
