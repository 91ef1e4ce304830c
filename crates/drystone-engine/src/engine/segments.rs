//! Times and places of each job's runs: data for a Gantt chart that shows suspensions.

use super::{Levels, Observer};
use crate::model::{Adopted, Decimal, EndedJob, JobId, JobPace, ProcSet, Procs, SharedSort, Span, Time};
use crate::policy::StartReason;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A time in which a job ran without interruption.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Job concerned.
    pub job: JobId,
    /// The log's number of the job.
    pub number: i64,
    /// Start.
    pub start: Time,
    /// End.
    pub end: Time,
    /// Number of processors.
    pub procs: Procs,
    /// Pace, where it is not the full one.
    pub pace: Option<JobPace>,
    /// Processors, where the policy names them.
    pub on: Option<ProcSet>,
    /// Event at the end of the segment.
    pub then: SegmentEnd,
}

/// A request of a running job for another size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeRequest {
    /// Job concerned.
    pub job: JobId,
    /// Time of the request.
    pub time: Time,
    /// Size that it asks for.
    pub procs: Procs,
}

crate::word_enum! {
    /// Event that ends a job's segment.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum SegmentEnd {
        /// It ended.
        Ended = "ended",
        /// It was suspended.
        Suspended = "suspended",
        /// An outage hit it, and it waited again.
        Requeued = "requeued",
        /// An outage ended it for good.
        Lost = "lost",
        /// It got another size and ran on.
        Resized = "resized",
        /// It got another pace and ran on.
        Paced = "paced",
    }
}

/// Records the segments of all jobs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Segments {
    /// Of jobs that have ended, or were lost, in the order of their ends.
    pub list: Vec<Segment>,
    /// Requests for other sizes, in order of time.
    pub asks: Vec<SizeRequest>,
    /// Processor-seconds whose progress outages took from jobs that ran on with fewer processors.
    pub set_back: u64,
    /// Processors that are out, from each time on.
    pub down: Vec<(Time, Procs)>,
    /// Sizes of jobs that were suspended at the first instant, where these are not the preferred.
    suspended: BTreeMap<JobId, Procs>,
    open: BTreeMap<JobId, Vec<SegmentPart>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct SegmentPart {
    start: Time,
    /// Size, where it is another than the preferred.
    procs: Option<Procs>,
    /// Pace, where it is not the full one.
    pace: Option<JobPace>,
    end: Option<(Time, SegmentEnd)>,
    on: Option<ProcSet>,
}

impl Segments {
    /// Writes the segments as CSV with the columns `job_id,start,end,procs,processors,then`, in
    /// order of arrival and time. `processors` is a list of ranges, such as `"0-3,7"`, empty where
    /// the policy only counts; `then` is `suspended`, `requeued`, `lost`,
    /// `resized`, `paced` or `ended`. Where a job ran below its full pace there is a last column,
    /// `pace`, with the speed of each segment as a share of the full one.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, mut to: impl Write) -> io::Result<()> {
        let paces = self.list.iter().any(|segment| segment.pace.is_some());
        writeln!(to, "job_id,start,end,procs,processors,then{}", if paces { ",pace" } else { "" })?;
        let mut list: Vec<&Segment> = self.list.iter().collect();
        list.sort_shared_by_key(|s| (s.job, s.start, s.end));
        for Segment { number, start, end, procs, pace, on, then, .. } in list {
            write!(to, "{number},{start},{end},{procs},")?;
            if let Some(on) = on {
                write!(to, "\"{on}\"")?;
            }
            write!(to, ",{}", then.name())?;
            if paces {
                write!(to, ",{}", pace.map_or(Decimal::ONE, |pace| pace.speed))?;
            }
            writeln!(to)?;
        }
        Ok(())
    }

    fn begin_segment(&mut self, now: Time, id: JobId, on: Option<ProcSet>) {
        self.open.entry(id).or_default().push(SegmentPart { start: now, procs: None, pace: None, end: None, on });
    }

    fn close_segment(&mut self, now: Time, id: JobId, then: SegmentEnd) {
        if let Some(part) = self.open.get_mut(&id).and_then(|parts| parts.last_mut())
            && part.end.is_none()
        {
            part.end = Some((now, then));
        }
    }

    fn last_part(&self, id: JobId) -> Option<&SegmentPart> {
        self.open.get(&id)?.last()
    }

    /// A running job goes on with another size, where `from` is the one before, or another pace.
    fn change_segment(&mut self, now: Time, id: JobId, from: Option<Procs>, next: SegmentPart) {
        let Some(parts) = self.open.get_mut(&id) else { return };
        // All changes of one instant are one.
        if parts.last().is_some_and(|part| part.start == now) {
            parts.pop();
        } else if let Some(part) = parts.last_mut() {
            part.end = Some((now, SegmentEnd::Paced));
        }
        let is_changed_now = |part: &&mut SegmentPart| matches!(part.end, Some((end, SegmentEnd::Resized | SegmentEnd::Paced)) if end == now);
        let Some(part) = parts.last_mut().filter(is_changed_now) else { return parts.push(next) };
        part.procs = part.procs.or(from);
        if part.procs == next.procs && part.pace == next.pace {
            part.end = None;
            return;
        }
        let end_kind = if part.procs == next.procs { SegmentEnd::Paced } else { SegmentEnd::Resized };
        part.end = Some((now, end_kind));
        parts.push(next);
    }

    /// The job is over.
    fn record_segments(&mut self, record: &EndedJob<'_>, last: SegmentEnd) {
        for SegmentPart { start, procs, pace, end, on } in self.open.remove(&record.id).unwrap_or_default() {
            let (end, end_kind) = end.unwrap_or((record.outcome.end, last));
            let (job, number, procs) = (record.id, record.truth.number, procs.unwrap_or(record.job.procs));
            self.list.push(Segment { job, number, start, end, procs, pace, on, then: end_kind });
        }
    }
}

impl Observer for Segments {
    const NOTES: bool = false;

    fn note_start(&mut self, now: Time, id: JobId, _why: StartReason) {
        self.begin_segment(now, id, None);
    }

    fn note_placement(&mut self, _now: Time, id: JobId, on: &ProcSet) {
        if let Some(part) = self.open.get_mut(&id).and_then(|parts| parts.last_mut()) {
            part.on = Some(on.clone());
        }
    }

    fn note_size(&mut self, _now: Time, id: JobId, procs: Procs) {
        match self.open.get_mut(&id).and_then(|parts| parts.last_mut()) {
            Some(part) => part.procs = Some(procs),
            None => _ = self.suspended.insert(id, procs),
        }
    }

    fn note_size_request(&mut self, time: Time, job: JobId, procs: Procs) {
        self.asks.push(SizeRequest { job, time, procs });
    }

    fn note_resize(&mut self, now: Time, id: JobId, (from, to): (Procs, Procs), (_, lost): (Span, Span)) {
        self.set_back += u64::from(from) * lost.0.unsigned_abs();
        let pace = self.last_part(id).and_then(|part| part.pace);
        self.change_segment(
            now,
            id,
            Some(from),
            SegmentPart { start: now, procs: Some(to), pace, end: None, on: None },
        );
    }

    fn note_pace(&mut self, now: Time, id: JobId, (_, to): (JobPace, JobPace)) {
        let Some(part) = self.last_part(id) else { return };
        let (procs, on) = (part.procs, part.on.clone());
        let pace = (to.speed != Decimal::ONE).then_some(to);
        self.change_segment(now, id, None, SegmentPart { start: now, procs, pace, end: None, on });
    }

    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.close_segment(now, id, SegmentEnd::Suspended);
    }

    fn note_adoption(&mut self, _now: Time, id: JobId, adoption: &Adopted) {
        if let Adopted::Running { since, on } = adoption {
            self.begin_segment(*since, id, on.clone());
        }
    }

    fn note_requeue(&mut self, now: Time, id: JobId, _procs: Procs, _ran: Span) {
        self.close_segment(now, id, SegmentEnd::Requeued);
    }

    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.record_segments(job, SegmentEnd::Lost);
    }

    fn note_resumption(&mut self, now: Time, id: JobId) {
        let last = self.open.get(&id).and_then(|parts| parts.last());
        let first = || (None, self.suspended.get(&id).copied(), None);
        let (on, procs, pace) = last.map_or_else(first, |part| (part.on.clone(), part.procs, part.pace));
        self.begin_segment(now, id, on);
        if let Some(part) = self.open.get_mut(&id).and_then(|parts| parts.last_mut()) {
            (part.procs, part.pace) = (procs, pace);
        }
    }

    fn note_withdrawal(&mut self, _now: Time, id: JobId) {
        self.open.remove(&id);
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.record_segments(job, SegmentEnd::Ended);
    }

    fn note_settlement(&mut self, now: Time, levels: Levels) {
        if levels.down != self.down.last().map_or(0, |last| last.1) {
            self.down.push((now, levels.down));
        }
    }
}
