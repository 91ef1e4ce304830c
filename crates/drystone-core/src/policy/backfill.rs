//! The EASY family: a queue in some order, reservations for its first jobs, and backfilling around them.
//!
//! One policy with its choices as parameters covers FCFS without backfilling, greedy backfilling without a reservation,
//! EASY, and plans with k reservations. "EASY" is not one algorithm: published results differ in how extra processors are
//! counted, what an overdue job means, and when a pass is made; each choice is a parameter here.

mod around;
mod kinds;
mod starvation;

pub(crate) use kinds::{EASY, FCFS, GREEDY};

use super::ranking::{self, Ranking, moment};
use super::{Actions, Event, Phase, Policy, Requirement, View, Why};
use crate::model::{JobId, Procs, Span, Time};
use crate::parts::formula::Shares;
use crate::parts::{Extra, Fit, Line, Order, Place, Profile, Running, Stairs, Waiting};
use serde::{Deserialize, Serialize};
use starvation::Starvation;

/// What a running job that has outlived its prediction means for the shadow time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Overdue {
    /// It counts as ending now.
    #[default]
    Now,
    /// Its predicted end stays where it was, so a shadow time may lie in the past and then only the extra processors are
    /// left for backfilling (Tsafrir et al. 2007).
    Stale,
    /// Its processors count as free already (Gaussier et al. 2015). Only with [`Pass::Pyss`](super::Pass::Pyss), where such
    /// a job is one that ends later in the same second.
    Free,
}

/// What an arrival leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Arrive {
    /// A pass.
    #[default]
    Always,
    /// A pass only if the newcomer fits the free processors (Gaussier et al. 2015, plain EASY).
    Fits,
}

/// By what a job is judged that would overtake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Guard {
    /// By its predicted end.
    #[default]
    Prediction,
    /// By its estimated end, too: it cannot run into the reservation by outliving its prediction (Tsafrir et al. 2007,
    /// section 4). Reservations are computed, and jobs are ordered, by predictions all the same.
    Estimate,
}

/// The choices of the EASY family.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Choices {
    /// Which job is first in the queue, and so gets a reservation.
    pub order: Order,
    /// In which order the others are tried; `None` for no backfilling at all.
    pub backfill: Option<Order>,
    /// How many jobs get a reservation at each pass: 0 for greedy backfilling, 1 for EASY.
    pub reservations: u32,
    /// How extra processors are counted.
    pub extra: Extra,
    /// What an overdue job means.
    pub overdue: Overdue,
    /// What an arrival leads to.
    pub arrive: Arrive,
    /// By what a job is judged that would overtake.
    pub guard: Guard,
    /// A job that has waited longer heads the queue; of several the first to arrive.
    pub starve: Option<Span>,
}

impl Default for Choices {
    fn default() -> Self {
        Choices {
            order: Order::Fcfs,
            backfill: Some(Order::Fcfs),
            reservations: 1,
            extra: Extra::default(),
            overdue: Overdue::default(),
            arrive: Arrive::default(),
            guard: Guard::default(),
            starve: None,
        }
    }
}

impl Choices {
    /// Where a job stands in the queue of reservations, given as either queue holds it.
    #[inline]
    fn place(&self, job: &Waiting, view: &View<'_>) -> Place {
        let facts = || ranking::facts(job.id, job.prediction, view);
        Place { key: self.order.key(job.procs, job.prediction, job.id, facts), id: job.id }
    }

    /// Whether the next pass would find the reservation as this one leaves it behind when it backfills this job. Ends before
    /// the shadow time are counted, and those behind it are not, wherever the walk over them stops. Where it stops at the
    /// first sufficient end, a job that ends at the shadow time itself may have become that end; and where estimates guard,
    /// one that had to use extra processors may count as ending in time.
    #[inline]
    fn keeps_reservation(&self, job: &Waiting, window: Span) -> bool {
        self.guard == Guard::Prediction && (self.extra == Extra::All || job.prediction != window)
    }
}

/// Queue, reservations, backfilling.
///
/// A pass costs O(log r) for the shadow time over r running jobs, and a pruned search of the queue per job started; a pass
/// after arrivals, and ends that leave the reservation as it was and give back too little for any job that waits, looks at the newcomers
/// only. With two or more reservations each pass plans anew: O(k·r), and a pruned
/// search per job started, in an order that does not change with time.
#[derive(Serialize, Deserialize)]
pub struct Backfill {
    choices: Choices,
    /// Waiting jobs in the order of reservations, unless they are in line. See [`Backfill::predictions_lag`].
    queue: Ranking,
    /// Instead of it where only the first of it is ever asked for, and the order is that of arrival.
    line: Option<Line>,
    /// The same jobs in the order of backfilling, where that is another.
    candidates: Option<Ranking>,
    /// Whom this pass has started from the head of the queue.
    #[serde(skip)]
    started: Vec<Running>,
    /// Jobs that arrived since the last pass, not in a queue yet.
    fresh: Vec<Waiting>,
    /// Why no job in the queue could start at the last pass; `None` when the reservation may have changed.
    blocked: Option<Blocked>,
    /// Jobs that no plan can hold: too many processors are out, for an unknown time. They are in no queue.
    aside: Vec<JobId>,
    /// Whether a job has ended since the last pass while another waited: then a pass is due, whatever arrives.
    ended: bool,
    /// What passes around announced windows remember.
    around: around::Around,
    /// The reservation announced last.
    announced: Option<(JobId, Time)>,
    /// Kept where jobs may not wait for ever.
    starvation: Option<Starvation>,
    /// Kept where a formula asks for it.
    shares: Option<Shares>,
    #[serde(skip)]
    profile: Option<Profile>,
}

/// The end of a pass: no other job could start because of this. As long as only time passes and jobs arrive, that stays so;
/// where a job ends that was to end before the shadow time, the reservation stays, but others may start in its shade.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Blocked {
    head: Place,
    /// Processors that the head needs.
    procs: Procs,
    /// The shadow time, not clamped to the present.
    shadow: Time,
    extra: Procs,
    /// As long as no more processors than these are free, no job in the queue can start.
    room: Procs,
    /// Whether processors were given back since.
    freed: bool,
    /// After this another job heads the queue, for it has waited too long.
    until: Time,
}

impl Blocked {
    /// Whether the job that the shadow waits for is overdue by now: it and others count as ending now then. Or whether
    /// another job heads the queue by now.
    #[inline]
    fn out_of_date(&self, now: Time, overdue: Overdue) -> bool {
        now > self.until || (now > self.shadow && overdue == Overdue::Now)
    }

    /// What may start beside the reservation while so many processors are free.
    #[inline]
    fn fit(&self, free: Procs, now: Time) -> Fit {
        // The present may lie before the origin: nothing is taken from the end of all times.
        let window = if self.shadow == Time::MAX { Span::MAX } else { self.shadow - now };
        Fit { free, window, extra: self.extra }
    }

    /// The room there is with another job in the queue, which cannot start while so many are free.
    #[inline]
    fn room_beside(&self, job: &Waiting, free: Procs) -> Procs {
        // A job that fits, but runs too long, will not have more time than now.
        if job.procs > free { self.room.min(job.procs - 1) } else { self.room }
    }

    /// What is true after a running job's predicted end has moved to a later time; `None` where the reservation has to be
    /// computed anew. The shadow time and what is free then are counted over the ends up to it: a later end among these changes
    /// nothing, nor does any end behind it. One that leaves them takes its processors with it: where there were as many left over,
    /// the shadow time stays, for what is free before was too little with them.
    #[inline]
    fn moved(self, job: &Running, to: Time, extra: Extra) -> Option<Blocked> {
        let (among, stays) = match extra {
            Extra::All => (job.end <= self.shadow, to <= self.shadow),
            // Of the ends at the shadow time itself only some were counted.
            Extra::First => (job.end < self.shadow, to < self.shadow),
        };
        if to < job.end {
            None
        } else if stays || job.end > self.shadow {
            Some(self)
        } else if among && to > self.shadow && job.procs <= self.extra {
            Some(Blocked { extra: self.extra - job.procs, ..self })
        } else {
            None
        }
    }
}

impl Backfill {
    /// A policy with these choices and an empty queue.
    #[must_use]
    pub fn new(choices: Choices) -> Backfill {
        let separate = choices.backfill.as_ref().filter(|&backfill| *backfill != choices.order);
        let in_line = separate.is_some() && choices.order == Order::Fcfs && choices.reservations <= 1;
        // In the order of arrival, a job that has waited too long heads the queue anyway.
        let starve = choices.starve.filter(|_| choices.order != Order::Fcfs);
        Backfill {
            queue: Ranking::new(&choices.order),
            line: in_line.then(Line::default),
            candidates: separate.map(Ranking::new),
            starvation: starve.map(Starvation::new),
            shares: ranking::shares_for([&choices.order].into_iter().chain(&choices.backfill)),
            choices,
            started: Vec::new(),
            fresh: Vec::new(),
            aside: Vec::new(),
            blocked: None,
            ended: false,
            around: around::Around::default(),
            announced: None,
            profile: None,
        }
    }

    /// Whether the queue of reservations does not follow changed predictions: where it neither orders nor is searched by
    /// them, it is spared the changes, and a job that starts from its head is asked about anew.
    #[inline]
    fn predictions_lag(&self) -> bool {
        self.candidates.is_some() && !self.choices.order.heeds_predictions() && self.choices.reservations <= 1
    }

    /// The order in which jobs are tried behind the head.
    #[inline]
    fn backfill_order(&self) -> &Order {
        self.choices.backfill.as_ref().unwrap_or(&self.choices.order)
    }

    #[inline]
    fn candidate(&self, job: &Waiting, view: &View<'_>) -> Waiting {
        let facts = || ranking::facts(job.id, job.prediction, view);
        self.backfill_order().waiting(job.id, job.submit, job.procs, job.prediction, facts)
    }

    #[inline]
    fn enqueue(&mut self, job: Waiting, view: &View<'_>) {
        if let Some(starvation) = &mut self.starvation {
            starvation.join(job.id);
        }
        match &mut self.line {
            Some(line) => line.join(job.id),
            None => self.queue.insert(job, &self.choices.order, view),
        }
        if self.candidates.is_some() {
            let job = self.candidate(&job, view);
            let order = self.choices.backfill.as_ref().unwrap_or(&self.choices.order);
            if let Some(candidates) = &mut self.candidates {
                candidates.insert(job, order, view);
            }
        }
    }

    /// Takes a job out of both queues, given as either holds it. In line it stays until it would be first.
    #[inline]
    fn dequeue(&mut self, job: &Waiting, view: &View<'_>) {
        self.leave_queue(job, view);
        self.leave_candidates(job, view);
    }

    #[inline]
    fn leave_queue(&mut self, job: &Waiting, view: &View<'_>) {
        if self.line.is_none() {
            self.queue.remove(self.choices.place(job, view));
        }
    }

    #[inline]
    fn leave_candidates(&mut self, job: &Waiting, view: &View<'_>) {
        if self.candidates.is_some() {
            let place = self.candidate(job, view).place();
            if let Some(candidates) = &mut self.candidates {
                candidates.remove(place);
            }
        }
    }

    #[inline]
    fn enqueue_fresh(&mut self, view: &View<'_>) {
        match self.fresh[..] {
            [] => return,
            [job] => {
                self.fresh.clear();
                return self.enqueue(job, view);
            }
            _ => {}
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        fresh.drain(..).for_each(|job| self.enqueue(job, view));
        self.fresh = fresh;
    }

    #[inline]
    fn head(&mut self, view: &View<'_>) -> Option<Waiting> {
        if let Some(line) = &mut self.line {
            let aside = &self.aside;
            let waits = |id| id >= view.oldest() && view.phase(id) == Phase::Waiting && !aside.contains(&id);
            let id = line.first(waits)?;
            return Some(ranking::waiting(&self.choices.order, id, view.prediction(id), view));
        }
        if let Some(starvation) = &mut self.starvation {
            let (started, aside) = (&self.started, &self.aside);
            let waits = |id| started.iter().all(|job| job.id != id) && !aside.contains(&id);
            let head = starvation.head(waits, view);
            if head.is_some() {
                return head;
            }
        }
        let head = self.queue.first(&self.choices.order, view);
        head.map(|head| Waiting { prediction: view.prediction(head.id), ..head })
    }

    /// Whether the queues are empty.
    #[inline]
    fn no_job_waits(&self) -> bool {
        self.candidates.as_ref().unwrap_or(&self.queue).is_empty()
    }

    /// Gives every job its place of now in the queues whose order changes with time.
    fn rate(&mut self, view: &View<'_>) {
        let Backfill { choices, queue, candidates, shares, .. } = self;
        let formulas = [choices.order.moving(), choices.backfill.as_ref().and_then(Order::moving)];
        if formulas == [None, None] {
            return;
        }
        if let Some(shares) = shares {
            ranking::bring_up_to_date(shares, view);
        }
        let moment = moment(candidates.as_ref().unwrap_or(queue).len(), shares.as_ref(), view);
        queue.rate(formulas[0], &moment);
        if let Some(candidates) = candidates {
            candidates.rate(formulas[1], &moment);
        }
    }

    /// Jobs that arrived at once in the order in which they are tried.
    #[cold]
    fn sort_fresh(&mut self, view: &View<'_>) {
        let mut fresh = std::mem::take(&mut self.fresh);
        match self.backfill_order().moving() {
            None => fresh.sort_by_key(|job| self.candidate(job, view).place()),
            Some(_) => {
                if let Some(shares) = &mut self.shares {
                    ranking::bring_up_to_date(shares, view);
                }
                let waiting = self.candidates.as_ref().unwrap_or(&self.queue).len() + fresh.len();
                let moment = moment(waiting, self.shares.as_ref(), view);
                let order = self.backfill_order();
                let place = |job: &Waiting| {
                    let facts = ranking::facts(job.id, job.prediction, view);
                    (order.moving().map(|formula| formula.place(&facts, &moment)), job.id)
                };
                fresh.sort_by_cached_key(place);
            }
        }
        self.fresh = fresh;
    }

    /// Jobs arrived, and what others gave back is too little for the jobs that could not start before: they cannot start now. Answers
    /// `false` where a full pass is due after all.
    fn newcomers(&mut self, view: &View<'_>, actions: &mut Actions) -> bool {
        let now = view.now();
        let overdue = self.choices.overdue;
        let blocked = match &mut self.blocked {
            Some(b) if (!b.freed || view.free() <= b.room) && !b.out_of_date(now, overdue) => {
                b.freed = false;
                *b
            }
            _ => return false,
        };
        debug_assert!(self.none_fits(blocked.fit(view.free(), now)), "a job in the queue can start at {now}");
        if self.fresh.is_empty() {
            return true;
        }
        if self.fresh.iter().any(|job| job.place() < blocked.head) {
            return false;
        }
        if self.choices.backfill.is_none() {
            self.enqueue_fresh(view);
            return true;
        }
        debug_assert_eq!(
            (blocked.shadow, blocked.extra),
            self.reservation_of(blocked.head.id, self.free(view), view),
            "at {now}"
        );
        let mut fit = blocked.fit(view.free(), now);
        if let [job] = self.fresh[..]
            && !fit.admits(job.procs, job.prediction)
        {
            self.fresh.clear();
            self.enqueue(job, view);
            if let Some(blocked) = &mut self.blocked {
                blocked.room = blocked.room_beside(&job, fit.free);
            }
            return true;
        }
        if self.fresh.len() > 1 {
            self.sort_fresh(view);
        }
        let (mut kept, mut blocked) = (true, blocked);
        for at in 0..self.fresh.len() {
            let job = self.fresh[at];
            let longest = self.longest(&job, view);
            if fit.admits(job.procs, longest) {
                kept &= self.choices.keeps_reservation(&job, fit.window);
                fit.take(job.procs, longest);
                actions.start(job.id, Why::Backfilled);
            } else {
                self.enqueue(job, view);
                blocked.room = blocked.room_beside(&job, fit.free);
            }
        }
        self.fresh.clear();
        self.blocked = kept.then_some(Blocked { extra: fit.extra, ..blocked });
        true
    }

    /// Whether a pass over the queue would backfill no job, as far as predictions say so.
    fn none_fits(&self, fit: Fit) -> bool {
        let queue = self.candidates.as_ref().unwrap_or(&self.queue);
        self.choices.backfill.is_none() || self.choices.guard == Guard::Estimate || !queue.any_fits(fit)
    }

    /// Processors that count as free.
    #[inline]
    fn free(&self, view: &View<'_>) -> Procs {
        match self.choices.overdue {
            Overdue::Now | Overdue::Stale => view.free(),
            Overdue::Free => view.machine().procs - (view.running().procs() - view.running().ending_by(view.now())),
        }
    }

    /// How long a job may run as far as backfilling is concerned.
    #[inline]
    fn longest(&self, job: &Waiting, view: &View<'_>) -> Span {
        match self.choices.guard {
            Guard::Prediction => job.prediction,
            Guard::Estimate => job.prediction.max(view.job(job.id).estimate),
        }
    }

    /// Starts jobs from the head of the queue while they fit. Returns what is free then and the job that blocks the queue.
    fn start_heads(&mut self, view: &View<'_>, actions: &mut Actions) -> (Procs, Option<Waiting>) {
        let now = view.now();
        let mut free = self.free(view);
        if self.no_job_waits() && self.fresh.len() == 1 && self.fresh[0].procs <= free {
            // An idle machine: the job need not go through the queue.
            if let Some(job) = self.fresh.pop() {
                actions.start(job.id, Why::Head);
                return (free - job.procs, None);
            }
        }
        self.enqueue_fresh(view);
        self.rate(view);
        loop {
            match self.head(view) {
                Some(head) if head.procs <= free => {
                    match &mut self.line {
                        Some(line) => line.leave(),
                        None if self.choices.order.is_dynamic() || self.starvation.is_some() => {
                            self.leave_queue(&head, view);
                        }
                        None => _ = self.queue.queue().take_first(),
                    }
                    self.leave_candidates(&head, view);
                    actions.start(head.id, Why::Head);
                    self.started.push(Running { end: now + head.prediction, id: head.id, procs: head.procs });
                    free -= head.procs;
                }
                head => return (free, head),
            }
        }
    }

    fn full_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        let (free, blocked) = match &self.blocked {
            // The head is still too large for what was given back.
            Some(known)
                if known.procs > view.free()
                    && self.fresh.is_empty()
                    && !known.out_of_date(now, self.choices.overdue) =>
            {
                let known = *known;
                self.rate(view);
                (view.free(), known)
            }
            known => {
                match self.blocked_anew(known.filter(|b| !b.out_of_date(now, self.choices.overdue)), view, actions) {
                    Some(blocked) => blocked,
                    None => return self.blocked = None,
                }
            }
        };
        let Blocked { shadow, extra, .. } = blocked;
        debug_assert_eq!((shadow, extra), self.reservation_of(blocked.head.id, free, view), "at {now}");
        let mut fit = blocked.fit(free, now);
        let (kept, room) = match &self.choices.backfill {
            None => (true, Procs::MAX),
            Some(order) if order.is_dynamic() => (self.backfill_as_of_now(&mut fit, view, actions), fit.free),
            Some(_) => self.backfill_in_order(&mut fit, view, actions),
        };
        let room = room.min(blocked.procs - 1);
        // Where the order changes with time, or overdue jobs are clamped to the present, the result may change with time alone.
        let timeless = match self.choices.overdue {
            Overdue::Now => shadow > now,
            Overdue::Stale => true,
            Overdue::Free => false,
        };
        let stays = timeless && kept && !self.choices.order.is_dynamic();
        self.blocked = stays.then_some(Blocked { extra: fit.extra, room, freed: false, ..blocked });
    }

    /// Starts jobs from the head of the queue, and answers what is free then and the reservation of the job that blocks it: the
    /// one that is known if it is still that.
    fn blocked_anew(
        &mut self,
        known: Option<Blocked>,
        view: &View<'_>,
        actions: &mut Actions,
    ) -> Option<(Procs, Blocked)> {
        let (free, head) = self.start_heads(view, actions);
        let head = head?;
        if let Some(known) = known
            && known.head == head.place()
            && free == view.free()
        {
            return Some((free, known));
        }
        let (shadow, extra) = self.reservation(head.procs, free, view);
        if shadow < Time::MAX {
            self.announce(head.id, shadow, actions);
        }
        let until = match &mut self.starvation {
            Some(starvation) => {
                let started = &self.started;
                starvation.until(head.id, |id| started.iter().all(|job| job.id != id), view)
            }
            None => Time::MAX,
        };
        Some((free, Blocked { head: head.place(), procs: head.procs, shadow, extra, room: 0, freed: false, until }))
    }

    /// Shadow time and extra processors of the job that blocks the queue; [`Time::MAX`] where it has no reservation.
    #[inline]
    fn reservation(&mut self, procs: Procs, free: Procs, view: &View<'_>) -> (Time, Procs) {
        if self.choices.backfill.is_none() || self.choices.reservations == 0 {
            return (Time::MAX, 0);
        }
        let (now, running, extra) = (view.now(), view.running(), self.choices.extra);
        let floor = if self.choices.overdue == Overdue::Now { now } else { Time::MIN };
        let already = match self.choices.overdue {
            Overdue::Free => {
                let started = self.started.iter().filter(|job| job.end <= now).map(|job| job.procs).sum::<Procs>();
                running.ending_by(now) + started
            }
            Overdue::Now | Overdue::Stale => 0,
        };
        let missing = procs + already - free;
        let shadow = if let Some(outlook) = view.outlook() {
            running.shadow_with(&self.started_and_returns(outlook, now), missing, extra, floor)
        } else if self.started.is_empty() {
            running.shadow(missing, extra, floor)
        } else {
            self.started.sort_unstable_by_key(|job| (job.end, job.id));
            running.shadow_with(&self.started, missing, extra, floor)
        };
        match shadow {
            Some(shadow) => (shadow.time, shadow.extra),
            // Not even all of the machine suffices, which a pass within an instant may find: nothing that runs now can be in the
            // way of the head.
            None => (Time::MAX, 0),
        }
    }

    /// The reservation of a job that heads the queue, computed anew.
    fn reservation_of(&mut self, head: JobId, free: Procs, view: &View<'_>) -> (Time, Procs) {
        self.reservation(view.job(head).procs, free, view)
    }

    /// Answers whether the reservation is then as it was, see [`Choices::keeps_reservation`], and how many processors may be free for
    /// all that are left to stay.
    fn backfill_in_order(&mut self, fit: &mut Fit, view: &View<'_>, actions: &mut Actions) -> (bool, Procs) {
        if self.choices.guard == Guard::Estimate {
            return (self.backfill_guarded(fit, view, actions), fit.free);
        }
        let Backfill { choices, queue, candidates, line, .. } = self;
        let (window, mut kept) = (fit.window, true);
        let mut starts = |job: &Waiting| {
            kept &= choices.keeps_reservation(job, window);
            actions.start(job.id, Why::Backfilled);
        };
        let room = match candidates {
            None => queue.queue().take_all(fit, starts),
            Some(candidates) => candidates.queue().take_all(fit, |job| {
                if line.is_none() {
                    queue.remove(choices.place(job, view));
                }
                starts(job);
            }),
        };
        (kept, room)
    }

    /// [`Backfill::backfill_in_order`] where jobs are tried by their predictions, but judged by their estimates, too.
    fn backfill_guarded(&mut self, fit: &mut Fit, view: &View<'_>, actions: &mut Actions) -> bool {
        let (mut after, mut kept) = (None, true);
        while let Some(job) =
            self.candidates.as_ref().unwrap_or(&self.queue).next_fit(after, *fit, self.backfill_order(), view)
        {
            after = Some(job.place());
            let longest = self.longest(&job, view);
            if fit.admits(job.procs, longest) {
                self.dequeue(&job, view);
                kept &= self.choices.keeps_reservation(&job, fit.window);
                fit.take(job.procs, longest);
                actions.start(job.id, Why::Backfilled);
            }
        }
        kept
    }

    /// [`Backfill::backfill_in_order`] where the order changes with time.
    fn backfill_as_of_now(&mut self, fit: &mut Fit, view: &View<'_>, actions: &mut Actions) -> bool {
        let mut kept = true;
        loop {
            let queue = self.candidates.as_ref().unwrap_or(&self.queue);
            let Some(job) = queue.next_fit(None, *fit, self.backfill_order(), view) else {
                return kept;
            };
            self.dequeue(&job, view);
            kept &= self.choices.keeps_reservation(&job, fit.window);
            fit.take(job.procs, job.prediction);
            actions.start(job.id, Why::Backfilled);
        }
    }

    /// A pass with several reservations: a plan of the future, made anew each time.
    fn planned_pass(&mut self, view: &View<'_>, actions: &mut Actions) {
        let now = view.now();
        self.enqueue_fresh(view);
        self.rate(view);
        let mut free = view.free();
        let mut profile = self.profile.take().unwrap_or_else(|| Profile::new(now, 0));
        // In the plan an overdue job ends now; what it still holds is not free for a start.
        view.fill(&mut profile, free, view.running().iter().map(|j| (j.end, j.procs)));
        let Backfill { choices, queue, starvation, .. } = &mut *self;
        let mut planned = 0;
        let mut starting: Vec<Waiting> = Vec::new();
        let mut plan = |job: &Waiting| {
            let span = job.prediction.max(Span(1));
            if let Some(start) = profile.earliest(job.procs, span, now) {
                profile.reserve(start, start.saturating_add(span), job.procs);
                if start == now && job.procs <= free {
                    free -= job.procs;
                    let why = if planned == 0 { Why::Head } else { Why::Backfilled };
                    actions.start(job.id, why);
                    starting.push(*job);
                } else {
                    planned += 1;
                    actions.reserve(job.id, start);
                }
            }
            planned < choices.reservations
        };
        if choices.order.is_dynamic() || starvation.is_some() {
            let mut waiting = queue.sorted(&choices.order, view);
            if let Some(starvation) = starvation {
                starvation.put_first(&mut waiting, now);
            }
            let _ = waiting.iter().all(&mut plan);
        } else {
            let _ = queue.queue().iter().all(&mut plan);
        }
        for job in &starting {
            self.dequeue(job, view);
        }
        match &self.choices.backfill {
            None => {}
            Some(order) if order.is_dynamic() => {
                let candidates = self.candidates.as_ref().unwrap_or(&self.queue).sorted(order, view);
                for job in &candidates {
                    let span = job.prediction.max(Span(1));
                    if job.procs <= free && profile.least_free(now, span) >= job.procs {
                        profile.reserve(now, now.saturating_add(span), job.procs);
                        free -= job.procs;
                        self.dequeue(job, view);
                        actions.start(job.id, Why::Backfilled);
                    }
                }
            }
            Some(_) => {
                let (mut after, mut stairs) = (None, Stairs::default());
                stairs.beside(&profile, now, free);
                while let Some(job) =
                    self.candidates.as_mut().unwrap_or(&mut self.queue).queue().next_admitted(after, &stairs)
                {
                    after = Some(job.place());
                    profile.reserve(now, now.saturating_add(job.prediction.max(Span(1))), job.procs);
                    free -= job.procs;
                    self.dequeue(&job, view);
                    actions.start(job.id, Why::Backfilled);
                    stairs.beside(&profile, now, free);
                }
            }
        }
        self.profile = Some(profile);
    }

    fn announce(&mut self, job: JobId, shadow: Time, actions: &mut Actions) {
        if self.announced != Some((job, shadow)) {
            self.announced = Some((job, shadow));
            actions.reserve(job, shadow);
        }
    }
}

impl Policy for Backfill {
    fn name(&self) -> &str {
        "backfill"
    }

    #[inline]
    fn observe(&mut self, event: Event, view: &View<'_>) {
        match event {
            Event::Arrived(id) => self.arrived(id, view),
            Event::Ended { job, predicted_end } | Event::Stopped { job, predicted_end } => {
                if let Some(shares) = &mut self.shares {
                    ranking::account(shares, job, view);
                }
                self.ended = !self.no_job_waits();
                // What it gives back now was counted as free at the shadow time, and just before it, too.
                match &mut self.blocked {
                    Some(blocked) if predicted_end < blocked.shadow => blocked.freed = true,
                    blocked => *blocked = None,
                }
            }
            Event::Repredicted { job, old } => self.repredicted(job, old, view),
            Event::Cancelled(id) | Event::Held(id) => self.cancelled(id, view),
            Event::Released(id) => {
                (self.blocked, self.ended) = (None, true);
                self.arrived(id, view);
            }
            Event::Runs(_) => (self.blocked, self.ended) = (None, true),
            Event::Capacity => self.capacity_changed(view),
            Event::Woken | Event::Parked(_) => {}
        }
    }

    #[inline]
    fn decide(&mut self, view: &View<'_>, actions: &mut Actions) {
        self.started.clear();
        if self.choices.arrive == Arrive::Fits && !self.fresh.is_empty() {
            let free = self.free(view);
            if !self.ended && self.fresh.iter().all(|job| job.procs > free) {
                // A job that comes before the head has the next reservation.
                self.blocked = self.blocked.filter(|b| self.fresh.iter().all(|job| job.place() > b.head));
                if let Some(blocked) = &mut self.blocked {
                    blocked.room = self.fresh.iter().fold(blocked.room, |room, job| room.min(job.procs - 1));
                }
                self.enqueue_fresh(view);
                return;
            }
        }
        let changed = std::mem::take(&mut self.ended);
        if let Some(outlook) = view.outlook()
            && self.decide_around(outlook, changed, view, actions)
        {
            return;
        }
        if self.choices.reservations > 1 {
            self.planned_pass(view, actions);
        } else if !self.newcomers(view, actions) {
            self.full_pass(view, actions);
        }
    }

    #[inline]
    fn unmoved_until(&self, now: Time) -> Time {
        if !self.fresh.is_empty() {
            return Time::MIN;
        }
        match self.blocked {
            Some(b) if !b.freed && !b.out_of_date(now, self.choices.overdue) => match self.choices.extra {
                Extra::All => b.shadow.min(b.until),
                // Of the ends at the shadow time itself only some were counted.
                Extra::First => (b.shadow - Span(1)).min(b.until),
            },
            None if self.no_job_waits() => Time::MAX,
            _ => Time::MIN,
        }
    }

    #[inline]
    fn has_taken_in(&self, now: Time) -> bool {
        self.unmoved_until(now) > Time::MIN
    }

    fn wakes(&self) -> bool {
        false
    }

    fn hears(&self) -> bool {
        // Processors of overdue jobs that count as free are free only where nothing else can happen in that second.
        self.choices.overdue != Overdue::Free
    }

    fn reserves(&self) -> bool {
        self.choices.backfill.is_some() && self.choices.reservations > 0
    }

    fn requires(&self) -> Requirement {
        // A job past its prediction counts as having given back its processors: it must have, by the end of the second.
        if self.choices.overdue == Overdue::Free { Requirement::Punctual } else { Requirement::Nothing }
    }
}

// One function each: what is told of every job then needs few registers.
impl Backfill {
    #[inline(never)]
    fn arrived(&mut self, id: JobId, view: &View<'_>) {
        self.fresh.push(ranking::waiting(&self.choices.order, id, view.prediction(id), view));
    }

    #[cold]
    fn cancelled(&mut self, id: JobId, view: &View<'_>) {
        self.fresh.retain(|f| f.id != id);
        if let Some(at) = self.aside.iter().position(|&other| other == id) {
            self.aside.remove(at);
            return;
        }
        self.dequeue(&ranking::waiting(&self.choices.order, id, view.prediction(id), view), view);
        (self.blocked, self.ended) = (None, true);
    }

    #[inline(never)]
    fn repredicted(&mut self, id: JobId, old: Span, view: &View<'_>) {
        let (job, new) = (view.job(id), view.prediction(id));
        match view.phase(id) {
            Phase::Running => {
                self.ended |= view.outlook().is_some();
                let end = view.predicted_end(id);
                let before = Running { end: end - (new - old), id, procs: job.procs };
                self.blocked = self.blocked.and_then(|b| b.moved(&before, end, self.choices.extra));
            }
            Phase::Waiting if self.aside.contains(&id) => {}
            Phase::Waiting => {
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
