//! Tables of circumstances: what is known of jobs beyond a log, `circumstances.csv`.
//!
//! ```text
//! job,at,state,since,eligible,after,think,array,most,withdrawn,unless_started,ended
//! 17,604800,running,600000,,,,,,,,
//! 18,,,,650000,,,,,,,
//! 19,,,,,17 18,0,,,,,
//! 20,,,,,,,a7,2,,,
//! 21,,,,,,,,,700000,yes,cancelled
//! ```
//!
//! The first line names the columns, in any order; only `job` must be there. A row says something
//! of one job, and a job has one row. Lines that begin with `#` are comments. Times are whole
//! seconds of the log, or dates in its time zone.
//!
//! | column | meaning | where it is empty |
//! |---|---|---|
//! | `job` | the log's number of the job (SWF field 1) | an error |
//! | `at` | the first instant of the window; the same in every row that has it | no window |
//! | `state` | where the job is then: `waiting`, `held`, `running`, `suspended` | it waits, if it was submitted before |
//! | `since` | since when it runs | an error where it is `running` |
//! | `ran` | how many seconds it had run | an error where it is `suspended` |
//! | `processors` | on which it runs or is suspended, from 0, such as `0-3 7` | not known |
//! | `eligible` | from when on it may start | as soon as it is submitted |
//! | `after` | jobs that have to end first, by number, such as `17 18` | none |
//! | `think` | seconds that pass between their ends and what follows | 0 |
//! | `then` | what follows: it `starts`, or it `arrives` (with feedback only) | `starts` |
//! | `array` | a name for jobs of which only this many may wait or run at a time | none |
//! | `most` | how many | an error where there is an `array` |
//! | `withdrawn` | when it leaves | it stays to its end |
//! | `unless_started` | `yes` if it leaves only if it has not started by then | `no` |
//! | `counts` | `no` if no measure counts it: how long it would have run is a guess | `yes` |
//! | `ended` | `completed`, `at-limit`, `cancelled`, `machine-failed`, `not-started`: only the run times of the first two are learned | `completed` |

use super::table::{LogClock, LogTable, TableError, TableRow};
use crate::model::{
    Adopted, CircumstanceError, Circumstances, DependencyEffect, DependsOn, How, JobId, ProcSet, SharedSort, Span,
    Throttle, Withdrawal, Workload,
};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Write};

const COLUMNS: &[&str] = &[
    "job",
    "at",
    "state",
    "since",
    "ran",
    "processors",
    "eligible",
    "after",
    "think",
    "then",
    "array",
    "most",
    "withdrawn",
    "unless_started",
    "counts",
    "ended",
];

/// Circumstances as they were read.
#[derive(Clone, Debug)]
pub struct FoundCircumstances {
    /// Those of jobs that the workload has.
    pub circumstances: Circumstances,
    /// Rows, and jobs that others wait for, of numbers that the workload does not have: cleaning
    /// has dropped them.
    pub unknown: u64,
}

/// Reads the circumstances of the jobs of a workload. Of several jobs with one number the first is
/// meant.
///
/// ```
/// # use drystone::generate::{Params, generate_workload};
/// use drystone::log::circumstances;
/// use drystone::model::JobId;
///
/// let workload = generate_workload(&Params::new(16, 3))?;
/// let table = circumstances::read_circumstances(&b"job,after,think\n3,1 2,60\n"[..], "circumstances.csv", &workload)?;
/// assert_eq!(table.circumstances.after[&JobId(2)].jobs, [JobId(0), JobId(1)]);
/// let wrong = circumstances::read_circumstances(&b"job,after\n1,2\n2,1\n"[..], "circumstances.csv", &workload);
/// assert_eq!(
///     wrong.expect_err("a circle").to_string(),
///     "circumstances.csv:2: column 2 (after): job 1 waits for itself: 1, 2 depend on each other in a circle"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The file cannot be read; a column that there is not; a field that is not what it should be; a
/// job with two rows; circumstances that cannot be ([`Workload::with_circumstances`]): each with
/// its line.
pub fn read_circumstances(input: impl Read, file: &str, workload: &Workload) -> Result<FoundCircumstances, TableError> {
    let mut table = LogTable::read_table(input, file, COLUMNS)?;
    if !table.has_column("job") {
        let problem = format!("the first line must name the column `job`; the columns are {}", COLUMNS.join(", "));
        return Err(table.error_at(1, "", problem));
    }
    let mut by_number: HashMap<i64, JobId> = HashMap::with_capacity(workload.len());
    for (at, truth) in workload.truth().iter().enumerate() {
        by_number.entry(truth.number).or_insert(JobId(at as u32));
    }
    let mut reading = CircumstancesReading {
        clock: LogClock::from_provenance(&workload.provenance),
        by_number,
        found: FoundCircumstances { circumstances: Circumstances::default(), unknown: 0 },
        lines: BTreeMap::new(),
        arrays: BTreeMap::new(),
    };
    while let Some(row) = table.next() {
        reading.take_row(&row)?;
    }
    let mut result = reading.found;
    for (_, mut throttle) in reading.arrays.into_values() {
        throttle.jobs.sort_unstable();
        result.circumstances.throttles.push(throttle);
    }
    result.circumstances.withdrawn.sort_shared_by_key(|withdrawal| (withdrawal.at, withdrawal.job));
    match result.circumstances.check_jobs(workload.machine(), workload.jobs(), workload.truth()) {
        Ok(()) => Ok(result),
        Err(error) => {
            let line = reading.lines.get(&error.job).copied().unwrap_or(0);
            Err(table.error_at(line, likely_column(&result.circumstances, &error), error))
        }
    }
}

fn likely_column(circumstances: &Circumstances, error: &CircumstanceError) -> &'static str {
    let says = |word: &str| error.problem.contains(word);
    match () {
        () if says("withdrawn") => "withdrawn",
        () if says("may start") => "eligible",
        () if says("think") => "think",
        () if says("waits for itself") => "after",
        () if says("may run at a time") => "most",
        () if says("processors") => "processors",
        () if says("suspended after") => "ran",
        () if says("since") || says("ended at") => "since",
        () if circumstances.here.contains_key(&error.job) => "state",
        () => "job",
    }
}

struct CircumstancesReading {
    clock: LogClock,
    by_number: HashMap<i64, JobId>,
    found: FoundCircumstances,
    lines: BTreeMap<JobId, u64>,
    /// By name, with the line that named each first.
    arrays: BTreeMap<String, (u64, Throttle)>,
}

impl CircumstancesReading {
    fn take_row(&mut self, row: &TableRow<'_>) -> Result<(), TableError> {
        row.require_field("job", "the log's number of a job")?;
        let number: i64 = row.read_number("job", "the log's number of a job")?.unwrap_or_default();
        let begin = row.read_time("at", &self.clock)?;
        let known_begin = &mut self.found.circumstances.begin;
        if let (Some(former_begin), Some(begin)) = (*known_begin, begin)
            && former_begin != begin
        {
            return Err(row.field_error(
                "at",
                format!("says {begin}, where another row says {former_begin}: a window has one first instant"),
            ));
        }
        *known_begin = known_begin.or(begin);
        let Some(&job) = self.by_number.get(&number) else {
            self.found.unknown += 1;
            return Ok(());
        };
        if let Some(line) = self.lines.insert(job, row.line_number()) {
            return Err(row.field_error("job", format!("job {number} has a row already, in line {line}")));
        }
        self.read_state(row, job)?;
        self.read_eligibility(row, job)?;
        self.read_array(row, job)?;
        if let Some(at) = row.read_time("withdrawn", &self.clock)? {
            let only_waiting = read_yes_no(row, "unless_started")?;
            self.found.circumstances.withdrawn.push(Withdrawal { at, job, only_waiting });
        }
        if row.read_word("counts", &[true, false], |yes| if yes { "yes" } else { "no" })? == Some(false) {
            self.found.circumstances.uncounted.insert(job);
        }
        if let Some(how) = row.read_word("ended", &How::ALL, How::name)?
            && how != How::Completed
        {
            self.found.circumstances.ends.insert(job, how);
        }
        Ok(())
    }

    fn read_state(&mut self, row: &TableRow<'_>, job: JobId) -> Result<(), TableError> {
        let states = ["waiting", "held", "running", "suspended"];
        let Some(state) = row.read_word("state", &states, |word| word)? else { return Ok(()) };
        if row.get("at").is_none() {
            return Err(row.field_error("at", "a row with a `state` says in `at` when that is"));
        }
        let on =
            row.get("processors").map(|text| text.parse::<ProcSet>().map_err(|e| row.field_error("processors", e)));
        let on = on.transpose()?;
        let adopted_state = match state {
            "running" => {
                row.require_field("since", "its start time")?;
                Adopted::Running { since: row.read_time("since", &self.clock)?.unwrap_or_default(), on }
            }
            "suspended" => {
                row.require_field("ran", "its run time so far in seconds")?;
                Adopted::Suspended { ran: Span(row.read_number("ran", "whole seconds")?.unwrap_or_default()), on }
            }
            "held" => Adopted::Held,
            _ => return Ok(()),
        };
        self.found.circumstances.here.insert(job, adopted_state);
        Ok(())
    }

    fn read_eligibility(&mut self, row: &TableRow<'_>, job: JobId) -> Result<(), TableError> {
        if let Some(time) = row.read_time("eligible", &self.clock)? {
            self.found.circumstances.eligible.insert(job, time);
        }
        let Some(text) = row.get("after") else { return Ok(()) };
        let mut jobs = Vec::new();
        for part in text.split([' ', ',', ';', '+']).filter(|part| !part.is_empty()) {
            let wrong =
                || row.field_error("after", format!("`{part}` is no number of a job; expected numbers such as 17 18"));
            match self.by_number.get(&part.parse::<i64>().map_err(|_| wrong())?) {
                Some(&other) => jobs.push(other),
                None => self.found.unknown += 1,
            }
        }
        let think = Span(row.read_number("think", "whole seconds")?.unwrap_or(0));
        let word = |then: DependencyEffect| if then == DependencyEffect::Arrives { "arrives" } else { "starts" };
        let effect = row
            .read_word("then", &[DependencyEffect::Starts, DependencyEffect::Arrives], word)?
            .unwrap_or(DependencyEffect::Starts);
        if !jobs.is_empty() {
            self.found.circumstances.after.insert(job, DependsOn { jobs, think, then: effect });
        }
        Ok(())
    }

    fn read_array(&mut self, row: &TableRow<'_>, job: JobId) -> Result<(), TableError> {
        let Some(name) = row.get("array") else { return Ok(()) };
        row.require_field("most", "largest number of the array's jobs that may wait or run at a time")?;
        let most: u32 = row.read_number("most", "a number of jobs")?.unwrap_or(1);
        let line = row.line_number();
        let (first, throttle) =
            self.arrays.entry(name.to_string()).or_insert_with(|| (line, Throttle { jobs: Vec::new(), most }));
        if throttle.most != most {
            let problem = format!("says {most} of array {name}, where line {first} says {}", throttle.most);
            return Err(row.field_error("most", problem));
        }
        throttle.jobs.push(job);
        Ok(())
    }
}

fn read_yes_no(row: &TableRow<'_>, column: &str) -> Result<bool, TableError> {
    Ok(row.read_word(column, &[true, false], |yes| if yes { "yes" } else { "no" })?.unwrap_or(false))
}

/// Writes the circumstances of a workload so that [`read_circumstances`] finds the same: a row for
/// each job of which something is known.
///
/// # Errors
/// Writing failed.
pub fn write_circumstances(workload: &Workload, out: impl Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    let Some(circumstances) = workload.circumstances() else { return csv.flush() };
    let mut rows: BTreeMap<JobId, BTreeMap<&str, String>> = BTreeMap::new();
    let mut put_cell = |job: JobId, column: &'static str, text: String| {
        rows.entry(job).or_default().insert(column, text);
    };
    let begin = circumstances.begin.map_or(String::new(), |begin| begin.0.to_string());
    if let (Some(begin), Some(first)) = (circumstances.begin, workload.jobs().first())
        && first.submit <= begin
    {
        // Whatever else is known, one row says when the window begins.
        put_cell(JobId(0), "at", begin.0.to_string());
    }
    for (&job, adoption) in &circumstances.here {
        put_cell(job, "at", begin.clone());
        let (state, on) = match adoption {
            Adopted::Waiting => ("waiting", None),
            Adopted::Held => ("held", None),
            Adopted::Running { since, on } => {
                put_cell(job, "since", since.0.to_string());
                ("running", on.as_ref())
            }
            Adopted::Suspended { ran, on } => {
                put_cell(job, "ran", ran.0.to_string());
                ("suspended", on.as_ref())
            }
        };
        put_cell(job, "state", state.to_string());
        if let Some(on) = on {
            put_cell(job, "processors", on.to_string().replace(',', " "));
        }
    }
    circumstances.eligible.iter().for_each(|(&job, time)| put_cell(job, "eligible", time.0.to_string()));
    let number = |job: JobId| workload.truth()[job.index()].number.to_string();
    for (&job, after) in &circumstances.after {
        put_cell(job, "after", after.jobs.iter().map(|&job| number(job)).collect::<Vec<_>>().join(" "));
        put_cell(job, "think", after.think.0.to_string());
        put_cell(job, "then", if after.then == DependencyEffect::Arrives { "arrives" } else { "starts" }.to_string());
    }
    for (at, throttle) in circumstances.throttles.iter().enumerate() {
        for &job in &throttle.jobs {
            put_cell(job, "array", format!("a{}", at + 1));
            put_cell(job, "most", throttle.most.to_string());
        }
    }
    for withdrawal in &circumstances.withdrawn {
        put_cell(withdrawal.job, "withdrawn", withdrawal.at.0.to_string());
        put_cell(withdrawal.job, "unless_started", if withdrawal.only_waiting { "yes" } else { "no" }.to_string());
    }
    circumstances.uncounted.iter().for_each(|&job| put_cell(job, "counts", "no".to_string()));
    circumstances.ends.iter().for_each(|(&job, how)| put_cell(job, "ended", how.name().to_string()));
    for (job, mut row) in rows {
        row.insert("job", number(job));
        csv.write_record(COLUMNS.iter().map(|column| row.get(column).map_or("", String::as_str)))?;
    }
    csv.flush()
}
