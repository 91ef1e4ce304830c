//! Everything that can be seen of a simulation, written down.

use drystone::engine::{Levels, Observer};
use drystone::metrics::PromiseAudit;
use drystone::model::{Adopted, EndedJob, JobId, ProcSet, Procs, Span, Time};
use drystone::policy::{Gauge, Moved, StartReason};
use drystone_reference::checker::NaiveSegment;
use std::collections::{BTreeMap, BTreeSet};

/// Fate of a job.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum WatchedFate {
    /// It ended.
    Ended {
        /// Time.
        at: i64,
        /// Its first start.
        start: i64,
        /// Run time received.
        ran: i64,
        /// Number of suspensions.
        suspensions: u32,
        /// Cost of the suspensions, in seconds.
        overhead: i64,
    },
    /// It was withdrawn before it started.
    Cancelled,
    /// An outage ended it for good.
    Lost {
        /// Time.
        at: i64,
        /// Run time by then.
        ran: i64,
    },
}

/// Everything that can be seen of a simulation.
#[derive(Default, Debug)]
pub struct FullObserver {
    /// Every call, in order: two simulations are the same if these are.
    pub trace: Vec<(i64, &'static str, u32, i64, i64)>,
    /// Pieces in which jobs ran.
    pub segments: Vec<NaiveSegment>,
    /// Those of attempts that an outage made vain.
    pub in_vain: Vec<NaiveSegment>,
    /// First start of each job.
    pub started: BTreeMap<u32, i64>,
    /// Time at which each job was gone, for any reason.
    pub gone: BTreeMap<u32, i64>,
    /// Fates of each job; a sound one has exactly one.
    pub fates: BTreeMap<u32, Vec<WatchedFate>>,
    /// Audit of the promises.
    pub audit: PromiseAudit,
    /// The first promise to each job that was made one.
    pub promised: BTreeMap<u32, i64>,
    /// The first instant at which a waiting job would have fitted the free processors when all was
    /// done.
    pub idle: Option<(i64, u32)>,
    /// Widths and numbers: the narrowest comes first, and fits if any does.
    waiting: BTreeSet<(u32, u32)>,
    widths: Vec<u32>,
    running: BTreeMap<u32, (i64, Option<Vec<u32>>)>,
    last: BTreeMap<u32, Option<Vec<u32>>>,
}

impl FullObserver {
    /// Nothing has been seen yet of jobs that are so wide.
    #[must_use]
    pub fn new(widths: Vec<u32>) -> FullObserver {
        FullObserver { widths, ..FullObserver::default() }
    }

    fn push_trace(&mut self, now: Time, event: &'static str, id: JobId, a: i64, b: i64) {
        self.trace.push((now.0, event, id.0, a, b));
    }

    fn insert_waiting(&mut self, id: JobId) {
        self.waiting.insert((self.widths[id.index()], id.0));
    }

    fn waits_no_more(&mut self, id: JobId) {
        self.waiting.remove(&(self.widths[id.index()], id.0));
    }

    fn close_segment(&mut self, now: Time, id: JobId) {
        if let Some((start, processors)) = self.running.remove(&id.0) {
            self.last.insert(id.0, processors.clone());
            self.segments.push(NaiveSegment { job: id.index(), start, end: now.0, processors });
        }
    }
}

impl Observer for FullObserver {
    fn note_arrival(&mut self, now: Time, id: JobId) {
        self.push_trace(now, "arrived", id, 0, 0);
        self.insert_waiting(id);
    }

    fn note_start(&mut self, now: Time, id: JobId, reason: StartReason) {
        self.push_trace(now, "started", id, reason as i64, 0);
        self.audit.note_start(now, id, reason);
        self.started.entry(id.0).or_insert(now.0);
        self.waits_no_more(id);
        self.running.insert(id.0, (now.0, None));
    }

    fn note_placement(&mut self, now: Time, id: JobId, on: &ProcSet) {
        let proc_numbers: Vec<u32> = on.ranges().iter().flat_map(Clone::clone).collect();
        self.push_trace(now, "placed", id, proc_numbers.iter().map(|&p| i64::from(p)).sum(), proc_numbers.len() as i64);
        if let Some((_, processors)) = self.running.get_mut(&id.0) {
            *processors = Some(proc_numbers);
        }
    }

    fn note_suspension(&mut self, now: Time, id: JobId) {
        self.push_trace(now, "suspended", id, 0, 0);
        self.close_segment(now, id);
    }

    fn note_resumption(&mut self, now: Time, id: JobId) {
        self.push_trace(now, "resumed", id, 0, 0);
        let processors = self.last.get(&id.0).cloned().flatten();
        self.running.insert(id.0, (now.0, processors));
    }

    fn note_reservation(&mut self, now: Time, id: JobId, start: Time, latest: Time) {
        self.push_trace(now, "reserved", id, start.0, latest.0);
        self.audit.note_reservation(now, id, start, latest);
        self.promised.entry(id.0).or_insert(start.0);
    }

    fn note_move(&mut self, now: Time, job_move: &Moved) {
        self.push_trace(now, "moved", job_move.job, job_move.to.0, job_move.price.to_bits() as i64);
    }

    fn note_prediction(&mut self, now: Time, id: JobId, prediction: Span) {
        self.push_trace(now, "repredicted", id, prediction.0, 0);
    }

    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.push_trace(now, "cancelled", id, 0, 0);
        self.audit.note_withdrawal(now, id);
        self.waits_no_more(id);
        self.gone.insert(id.0, now.0);
        self.fates.entry(id.0).or_default().push(WatchedFate::Cancelled);
    }

    fn note_end(&mut self, job_end: &EndedJob<'_>) {
        let outcome = job_end.outcome;
        let accuracy = outcome.accuracy.unwrap_or(-1.0).to_bits() as i64;
        self.push_trace(outcome.end, "ended", job_end.id, i64::from(outcome.corrections), accuracy);
        self.close_segment(outcome.end, job_end.id);
        self.gone.insert(job_end.id.0, outcome.end.0);
        self.fates.entry(job_end.id.0).or_default().push(WatchedFate::Ended {
            at: outcome.end.0,
            start: outcome.start.0,
            ran: outcome.ran.0,
            suspensions: outcome.suspensions,
            overhead: outcome.overhead.0,
        });
    }

    fn note_adoption(&mut self, now: Time, id: JobId, adoption: &Adopted) {
        self.push_trace(now, "adopted", id, 0, 0);
        match adoption {
            Adopted::Running { since, .. } => {
                self.waits_no_more(id);
                self.started.insert(id.0, since.0);
                self.running.insert(id.0, (since.0, None));
            }
            Adopted::Held => self.waits_no_more(id),
            _ => {}
        }
    }

    fn note_hold(&mut self, now: Time, id: JobId) {
        self.push_trace(now, "held", id, 0, 0);
        self.audit.note_hold(now, id);
        self.waits_no_more(id);
    }

    fn note_release(&mut self, now: Time, id: JobId) {
        self.push_trace(now, "released", id, 0, 0);
        self.audit.note_release(now, id);
        self.insert_waiting(id);
    }

    fn note_requeue(&mut self, now: Time, id: JobId, procs: Procs, ran: Span) {
        self.push_trace(now, "requeued", id, i64::from(procs), ran.0);
        self.audit.note_requeue(now, id, procs, ran);
        self.close_segment(now, id);
        // All that it has run was for nothing.
        let (vain, other_segments) =
            std::mem::take(&mut self.segments).into_iter().partition(|s: &NaiveSegment| s.job == id.index());
        self.segments = other_segments;
        self.in_vain.extend::<Vec<NaiveSegment>>(vain);
        self.last.remove(&id.0);
        self.insert_waiting(id);
    }

    fn note_loss(&mut self, job_end: &EndedJob<'_>) {
        let (now, ran) = (job_end.outcome.end, job_end.outcome.ran);
        self.push_trace(now, "lost", job_end.id, ran.0, 0);
        self.close_segment(now, job_end.id);
        self.gone.insert(job_end.id.0, now.0);
        self.fates.entry(job_end.id.0).or_default().push(WatchedFate::Lost { at: now.0, ran: ran.0 });
    }

    fn note_capacity(&mut self, now: Time, foreseen: bool) {
        self.push_trace(now, "capacity", JobId(0), i64::from(foreseen), 0);
        self.audit.note_capacity(now, foreseen);
    }

    fn note_gauge(&mut self, now: Time, _gauge: Gauge, value: i64) {
        self.push_trace(now, "noted", JobId(0), value, 0);
    }

    fn note_settlement(&mut self, now: Time, levels: Levels) {
        self.push_trace(now, "settled", JobId(levels.running), i64::from(levels.free), i64::from(levels.suspended));
        if self.idle.is_none()
            && let Some(&(width, id)) = self.waiting.first()
            && width <= levels.free
        {
            self.idle = Some((now.0, id));
        }
    }
}
