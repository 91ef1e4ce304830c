//! Effect on the queues of jobs that arrive, leave or change.

use super::Backfill;
use crate::model::{JobId, Span};
use crate::parts::RunningJob;
use crate::parts::ranking;
use crate::policy::{Phase, View};

// One function each: the events of every job then need few registers.
impl Backfill {
    #[inline(never)]
    pub(super) fn arrived(&mut self, id: JobId, view: &View<'_>) {
        self.fresh.push(ranking::waiting(&self.choices.order, id, view.prediction(id), view));
    }

    #[cold]
    pub(super) fn cancelled(&mut self, id: JobId, view: &View<'_>) {
        self.fresh.retain(|f| f.id != id);
        if let Some(at) = self.aside.iter().position(|&other| other == id) {
            self.aside.remove(at);
            return;
        }
        self.dequeue(&ranking::waiting(&self.choices.order, id, view.prediction(id), view), view);
        (self.blocked, self.ended) = (None, true);
    }

    #[inline(never)]
    pub(super) fn repredicted(&mut self, id: JobId, old: Span, view: &View<'_>) {
        let (job, new) = (view.job(id), view.prediction(id));
        match view.phase(id) {
            Phase::Running => {
                self.ended |= view.outlook().is_some();
                let end = view.predicted_end(id);
                let before = RunningJob { end: end - (new - old), id, procs: job.procs };
                self.blocked = self.blocked.and_then(|b| b.moved(&before, end, self.choices.extra));
            }
            Phase::Waiting if self.aside.contains(&id) => {}
            Phase::Waiting => {
                self.lengthened(new);
                self.blocked = None;
                self.ended |= view.outlook().is_some();
                let order = &self.choices.order;
                let (old, new) = (ranking::waiting(order, id, old, view), ranking::waiting(order, id, new, view));
                if let Some(fresh) = self.fresh.iter_mut().find(|f| f.id == id) {
                    *fresh = new;
                } else {
                    if !self.predictions_lag() {
                        self.queue.replace(old.place(), new, &self.choices.order, view);
                    }
                    let (old, new) = (self.candidate(&old, view).place(), self.candidate(&new, view));
                    let order = self.choices.backfill.as_ref().unwrap_or(&self.choices.order);
                    if let Some(candidates) = &mut self.candidates {
                        candidates.replace(old, new, order, view);
                    }
                }
            }
            Phase::Held | Phase::Suspended | Phase::Done => {}
        }
    }
}
