//! When and where each job ran: data for a Gantt chart that shows suspensions.

use super::Observer;
use crate::model::{Ended, JobId, ProcSet, Procs, Time};
use crate::policy::Why;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A time in which a job ran without interruption.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Which job.
    pub job: JobId,
    /// The log's number of the job.
    pub number: i64,
    /// From when on.
    pub start: Time,
    /// Until when.
    pub end: Time,
    /// Number of processors.
    pub procs: Procs,
    /// Which processors, where the policy names them.
    pub on: Option<ProcSet>,
    /// Whether the job was suspended then; otherwise it ended.
    pub suspended: bool,
}

/// Records the segments of all jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segments {
    /// Of jobs that have ended, in the order of their ends.
    pub list: Vec<Segment>,
    open: BTreeMap<JobId, Vec<Part>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    start: Time,
    end: Option<Time>,
    on: Option<ProcSet>,
}

impl Segments {
    /// Writes the segments as CSV with the columns `job_id,start,end,procs,processors,then`, in order of arrival and time.
    /// `processors` is a list of ranges, such as `"0-3,7"`, empty where the policy only counts; `then` is `suspended` or
    /// `ended`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, mut to: impl Write) -> io::Result<()> {
        writeln!(to, "job_id,start,end,procs,processors,then")?;
        let mut list: Vec<&Segment> = self.list.iter().collect();
        list.sort_by_key(|s| (s.job, s.start, s.end));
        for Segment { number, start, end, procs, on, suspended, .. } in list {
            write!(to, "{number},{start},{end},{procs},")?;
            if let Some(on) = on {
                write!(to, "\"{on}\"")?;
            }
            writeln!(to, ",{}", if *suspended { "suspended" } else { "ended" })?;
        }
        Ok(())
    }

    fn begin(&mut self, now: Time, id: JobId, on: Option<ProcSet>) {
        self.open.entry(id).or_default().push(Part { start: now, end: None, on });
    }
}

impl Observer for Segments {
    const NOTES: bool = false;

    fn started(&mut self, now: Time, id: JobId, _why: Why) {
        self.begin(now, id, None);
    }

    fn placed(&mut self, _now: Time, id: JobId, on: &ProcSet) {
        if let Some(part) = self.open.get_mut(&id).and_then(|parts| parts.last_mut()) {
            part.on = Some(on.clone());
        }
    }

    fn suspended(&mut self, now: Time, id: JobId) {
        if let Some(part) = self.open.get_mut(&id).and_then(|parts| parts.last_mut()) {
            part.end = Some(now);
        }
    }

    fn resumed(&mut self, now: Time, id: JobId) {
        let on = self.open.get(&id).and_then(|parts| parts.last()).and_then(|part| part.on.clone());
        self.begin(now, id, on);
    }

    fn cancelled(&mut self, _now: Time, id: JobId) {
        self.open.remove(&id);
    }

    fn ended(&mut self, ended: &Ended<'_>) {
        for Part { start, end, on } in self.open.remove(&ended.id).unwrap_or_default() {
            self.list.push(Segment {
                job: ended.id,
                number: ended.truth.number,
                start,
                end: end.unwrap_or(ended.outcome.end),
                procs: ended.job.procs,
                on,
                suspended: end.is_some(),
            });
        }
    }
}
