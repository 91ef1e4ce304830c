//! Effect on the queues of jobs that arrive, leave or change.

use super::Backfill;
use crate::model::{JobId, Span};
use crate::parts::RunningJob;
use crate::parts::ranking;
use crate::policy::{Phase, View};

// One function each: the events of every job then need few registers.
impl Backfill {
    #[inline(never)]
    pub(super) fn note_arrival(&mut self, id: JobId, view: &View<'_>) {
        self.fresh.push(ranking::waiting_job(&self.choices.order, id, view.prediction(id), view));
    }

    #[cold]
    pub(super) fn note_withdrawal(&mut self, id: JobId, view: &View<'_>) {
        self.fresh.retain(|f| f.id != id);
        if let Some(at) = self.aside.iter().position(|&candidate| candidate == id) {
            self.aside.remove(at);
            return;
        }
        self.dequeue_job(&ranking::waiting_job(&self.choices.order, id, view.prediction(id), view), view);
        (self.blocked, self.ended) = (None, true);
    }

    #[inline(never)]
    pub(super) fn note_prediction(&mut self, id: JobId, old: Span, view: &View<'_>) {
        let (job, new) = (view.job(id), view.prediction(id));
        match view.phase(id) {
            Phase::Running => {
                self.ended |= view.outlook().is_some();
                let end = view.predicted_end(id);
                let before = RunningJob { end: end - (new - old), id, procs: job.procs };
                self.blocked = self.blocked.and_then(|b| b.with_moved_end(&before, end, self.choices.extra));
            }
            Phase::Waiting if self.aside.contains(&id) => {}
            Phase::Waiting => {
                self.note_longer_prediction(new);
                self.blocked = None;
                self.ended |= view.outlook().is_some();
                let order = &self.choices.order;
                let (old, new) =
                    (ranking::waiting_job(order, id, old, view), ranking::waiting_job(order, id, new, view));
                if let Some(fresh) = self.fresh.iter_mut().find(|f| f.id == id) {
                    *fresh = new;
                } else {
                    if !self.predictions_lag() {
                        self.queue.replace_job(old.queue_place(), new, &self.choices.order, view);
                    }
                    let (old, new) = (self.as_candidate(&old, view).queue_place(), self.as_candidate(&new, view));
                    let order = self.choices.backfill.as_ref().unwrap_or(&self.choices.order);
                    if let Some(candidates) = &mut self.candidates {
                        candidates.replace_job(old, new, order, view);
                    }
                }
            }
            Phase::Held | Phase::Suspended | Phase::Done => {}
        }
    }
}
