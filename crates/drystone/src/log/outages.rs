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
/// let read = outages::read(text.as_bytes(), "outages.csv", Machine::new(16), &Provenance::default())?;
/// assert_eq!(read.list()[1].expected, Some(Time(172_800)));
/// let wrong = outages::read(&b"begin,procs\n0,17\n"[..], "outages.csv", Machine::new(16), &Provenance::default());
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
pub fn read(input: impl Read, file: &str, machine: Machine, provenance: &Provenance) -> Result<Outages, TableError> {
    let mut table = LogTable::read(input, file, COLUMNS)?;
    if !table.has("begin") || !(table.has("procs") || table.has("processors")) {
        let problem = format!(
            "the first line must name `begin` and one of `procs` and `processors`; the columns are {}",
            COLUMNS.join(", ")
        );
        return Err(table.error(1, "", problem));
    }
    let clock = LogClock::of(provenance);
    let (mut outages, mut lines) = (Vec::new(), Vec::new());
    while let Some(row) = table.next() {
        outages.push(outage(&row, &clock)?);
        lines.push(row.line());
    }
    Outages::new(machine, outages.clone()).map_err(|error| {
        let other = error.other.map_or(String::new(), |other| format!(" (line {} has them)", lines[other]));
        let column = column(error.field, &outages[error.index]);
        table.error(lines[error.index], column, format!("{}{other}", error.problem))
    })
}

/// Returns the column of a part of an outage.
fn column(field: OutageField, outage: &Outage) -> &'static str {
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

fn outage(row: &TableRow<'_>, clock: &LogClock) -> Result<Outage, TableError> {
    let begin = row.must("begin", "the time at which the processors go")?;
    let begin = row.time("begin", clock)?.ok_or_else(|| row.error("begin", format!("`{begin}` is no time")))?;
    let (end, announced) = (row.time("end", clock)?, row.time("announced", clock)?);
    let may_cut = row.word("cut", &[true, false], |yes| if yes { "yes" } else { "no" })?.unwrap_or(false);
    let hit = row.word("jobs", &OutageHit::ALL, OutageHit::word)?;
    let hit = hit.unwrap_or(if announced.is_some() && !may_cut { OutageHit::Drain } else { OutageHit::Requeue });
    Ok(Outage {
        which: which(row)?,
        begin,
        end,
        announced,
        expected: expected(row, clock, end, announced)?,
        hit,
        may_cut,
    })
}

fn which(row: &TableRow<'_>) -> Result<Which, TableError> {
    let count = row.number("procs", "a number of processors")?;
    match (count, row.get("processors")) {
        (Some(count), None) => Ok(Which::Count(count)),
        (count, Some(text)) => {
            let set: ProcSet = text.parse().map_err(|error| row.error("processors", error))?;
            match count {
                Some(count) if count != set.len() => {
                    Err(row
                        .error("procs", format!("says {count}, but `processors` names {}: leave one empty", set.len())))
                }
                _ => Ok(Which::Named(set)),
            }
        }
        (None, None) => Err(row.error("procs", "neither `procs` nor `processors` says which processors go")),
    }
}

fn expected(
    row: &TableRow<'_>,
    clock: &LogClock,
    end: Option<Time>,
    announced: Option<Time>,
) -> Result<Option<Time>, TableError> {
    match row.get("expected") {
        None if announced.is_some() => Ok(end),
        None | Some("unknown") => Ok(None),
        Some("end") => Ok(end),
        Some(_) => row.time("expected", clock),
    }
}

/// Writes outages so that [`read`] finds the same, in seconds of the log.
///
/// # Errors
/// Writing failed.
pub fn write(outages: &[Outage], out: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    let text = |time: Option<Time>| time.map_or(String::new(), |time| time.0.to_string());
    for outage in outages {
        let (count, set) = match &outage.which {
            Which::Count(count) => (count.to_string(), String::new()),
            Which::Named(set) => (set.len().to_string(), set.to_string().replace(',', " ")),
        };
        let expected = outage.expected.map_or("unknown".to_string(), |time| time.0.to_string());
        let cut = if outage.may_cut { "yes" } else { "no" };
        csv.write_record([
            &text(Some(outage.begin)),
            &text(outage.end),
            &count,
            &set,
            &text(outage.announced),
            &expected,
            outage.hit.word(),
            cut,
        ])?;
    }
    csv.flush()
}
