//! Tables of outages: `outages.csv`.
//!
//! ```text
//! begin,end,procs,processors,announced,expected,jobs,cut
//! 86400,100800,16,,,,,
//! 1997-03-31T06:00:00,1997-03-31T18:00:00,,0-127,1997-03-17T06:00:00,,drain,no
//! ```
//!
//! The first line names the columns, in any order. Only `begin` and one of `procs` and `processors`
//! must be there. Lines that begin with `#` are comments. Times are whole seconds of the log, or
//! dates in its time zone.
//!
//! | column | meaning | where it is empty |
//! |---|---|---|
//! | `begin` | time at which the processors go | an error |
//! | `end` | time at which they are back | never |
//! | `procs` | number of processors; which ones is drawn | that of `processors` |
//! | `processors` | their numbers, from 0, such as `0-3 7` | drawn, as many as `procs` |
//! | `announced` | time of the announcement to the scheduler | its beginning |
//! | `expected` | return that the scheduler expects; `end` for the true end, `unknown` for no time | `end` if announced, else `unknown` |
//! | `jobs` | fate of jobs on them at the beginning: `drain`, `requeue`, `lose` | `drain` if announced and not `cut`, else `requeue` |
//! | `cut` | `yes` if jobs may be started that would run into it | `no` |

use super::table::{LogClock, LogTable, TableError, TableRow};
use crate::model::{Machine, Outage, OutageField, OutageHit, Outages, ProcSet, Provenance, Time, Which};
use std::io::{self, Read, Write};

const COLUMNS: &[&str] = &["begin", "end", "procs", "processors", "announced", "expected", "jobs", "cut"];

/// Reads outages of this machine. `provenance` is the workload's: it tells what seconds dates are.
///
/// ```
/// use drystone::log::outages;
/// use drystone::model::{Machine, Provenance, Time};
///
/// let text = "begin,end,procs,announced\n3600,7200,4,\n86400,172800,16,0\n";
/// let read = outages::read_outages(text.as_bytes(), "outages.csv", Machine::new(16), &Provenance::default())?;
/// assert_eq!(read.list()[1].expected, Some(Time(172_800)));
/// let wrong = outages::read_outages(&b"begin,procs\n0,17\n"[..], "outages.csv", Machine::new(16), &Provenance::default());
/// assert_eq!(
///     wrong.expect_err("too many").to_string(),
///     "outages.csv:2: column 2 (procs): takes 17 processors of a machine of 16"
/// );
/// # Ok::<(), drystone::log::TableError>(())
/// ```
///
/// # Errors
/// The file cannot be read; a column that there is not; a field that is not what it should be;
/// outages that cannot be ([`Outages::new`]): each with its line.
pub fn read_outages(
    input: impl Read,
    file: &str,
    machine: Machine,
    provenance: &Provenance,
) -> Result<Outages, TableError> {
    let mut table = LogTable::read_table(input, file, COLUMNS)?;
    if !table.has_column("begin") || !(table.has_column("procs") || table.has_column("processors")) {
        let problem = format!(
            "the first line must name `begin` and one of `procs` and `processors`; the columns are {}",
            COLUMNS.join(", ")
        );
        return Err(table.error_at(1, "", problem));
    }
    let clock = LogClock::from_provenance(provenance);
    let (mut outages, mut lines) = (Vec::new(), Vec::new());
    while let Some(row) = table.next() {
        outages.push(read_outage(&row, &clock)?);
        lines.push(row.line_number());
    }
    Outages::new(machine, outages.clone()).map_err(|error| {
        let other_line = error.other.map_or(String::new(), |place| format!(" (line {} has them)", lines[place]));
        let column = field_column(error.field, &outages[error.index]);
        table.error_at(lines[error.index], column, format!("{}{other_line}", error.problem))
    })
}

fn field_column(field: OutageField, outage: &Outage) -> &'static str {
    match (field, &outage.which) {
        (OutageField::Procs, Which::Named(_)) => "processors",
        (OutageField::Procs, Which::Count(_)) => "procs",
        (OutageField::End, _) => "end",
        (OutageField::Announced, _) => "announced",
        (OutageField::Expected, _) => "expected",
        (OutageField::Hit, _) => "jobs",
        (OutageField::MayCut, _) => "cut",
        _ => "begin",
    }
}

fn read_outage(row: &TableRow<'_>, clock: &LogClock) -> Result<Outage, TableError> {
    let begin = row.require_field("begin", "the time at which the processors go")?;
    let begin =
        row.read_time("begin", clock)?.ok_or_else(|| row.field_error("begin", format!("`{begin}` is no time")))?;
    let (end, announcement) = (row.read_time("end", clock)?, row.read_time("announced", clock)?);
    let may_cut = row.read_word("cut", &[true, false], |yes| if yes { "yes" } else { "no" })?.unwrap_or(false);
    let hit = row.read_word("jobs", &OutageHit::ALL, OutageHit::name)?;
    let hit = hit.unwrap_or(if announcement.is_some() && !may_cut { OutageHit::Drain } else { OutageHit::Requeue });
    Ok(Outage {
        which: read_which(row)?,
        begin,
        end,
        announced: announcement,
        expected: read_expected(row, clock, end, announcement)?,
        hit,
        may_cut,
    })
}

fn read_which(row: &TableRow<'_>) -> Result<Which, TableError> {
    let count = row.read_number("procs", "a number of processors")?;
    match (count, row.get("processors")) {
        (Some(count), None) => Ok(Which::Count(count)),
        (count, Some(text)) => {
            let set: ProcSet = text.parse().map_err(|error| row.field_error("processors", error))?;
            match count {
                Some(count) if count != set.len() => Err(row.field_error(
                    "procs",
                    format!("says {count}, but `processors` names {}: leave one empty", set.len()),
                )),
                _ => Ok(Which::Named(set)),
            }
        }
        (None, None) => Err(row.field_error("procs", "neither `procs` nor `processors` says which processors go")),
    }
}

fn read_expected(
    row: &TableRow<'_>,
    clock: &LogClock,
    end: Option<Time>,
    notice: Option<Time>,
) -> Result<Option<Time>, TableError> {
    match row.get("expected") {
        None if notice.is_some() => Ok(end),
        None | Some("unknown") => Ok(None),
        Some("end") => Ok(end),
        Some(_) => row.read_time("expected", clock),
    }
}

/// Writes outages so that [`read_outages`] finds the same, in seconds of the log.
///
/// # Errors
/// Writing failed.
pub fn write_outages(outages: &[Outage], out: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    let text = |time: Option<Time>| time.map_or(String::new(), |time| time.0.to_string());
    for outage in outages {
        let (count, set) = match &outage.which {
            Which::Count(count) => (count.to_string(), String::new()),
            Which::Named(set) => (set.len().to_string(), set.to_string().replace(',', " ")),
        };
        let expected_text = outage.expected.map_or("unknown".to_string(), |time| time.0.to_string());
        let cut = if outage.may_cut { "yes" } else { "no" };
        csv.write_record([
            &text(Some(outage.begin)),
            &text(outage.end),
            &count,
            &set,
            &text(outage.announced),
            &expected_text,
            outage.hit.name(),
            cut,
        ])?;
    }
    csv.flush()
}
