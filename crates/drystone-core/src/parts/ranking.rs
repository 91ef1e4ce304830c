//! A queue of waiting jobs in any order: indexed where places stay, rated again at each pass where
//! jobs overtake.

use crate::clock_length::read_clock_length;
use crate::model::{JobId, SharedSort, Span};
use crate::parts::formula::{BeyondProcessors, Formula, Moment, QueueBoard, RunUsage, Shares, WaitingFacts};
use crate::parts::{BackfillFit, Order, QueuePlace, WaitQueue, WaitingJob};
use drystone_engine::policy::{Args, Param, SpecError, Takes, ValueForm, View};
use serde::{Deserialize, Serialize};

/// The value of a parameter that takes an order: a name or a formula.
///
/// # Errors
/// No such order, or a formula that is wrong; the message points at the character. A formula of
/// true run times in a policy that is not clairvoyant.
pub(crate) fn parse_order(args: &Args<'_>, name: &str) -> Result<Order, SpecError> {
    let text = args.text_value(name);
    let order: Order = text.parse().map_err(|problem| {
        let is_word = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if is_word { args.value_error(name) } else { args.spec_error(format!("{name}: {problem}")) }
    })?;
    match &order {
        Order::Formula(formula) if !args.has_value("predict", "perfect") => match formula.peek_problem() {
            Some(problem) => Err(args.spec_error(format!("{name}: {problem}"))),
            None => Ok(order),
        },
        _ => Ok(order),
    }
}

/// The parameter of a guard against starvation, for every family whose queue has an order.
pub(crate) const STARVE: Param = Param::new(
    "starve",
    "none",
    &[Takes::Words(&["none"]), PATIENCE],
    "a job that has waited longer heads the queue, of several the first to arrive",
);

/// Longest wait of a job.
pub(crate) const PATIENCE: Takes = Takes::Form(&ValueForm {
    name: "duration",
    shape: "20h|2d",
    samples: &["20h", "2d", "0s", "90m", "30", "2-00:00:00"],
    check: |text| parse_seconds(text).is_some(),
});

pub(crate) fn parse_starve(args: &Args<'_>) -> Result<Option<Span>, SpecError> {
    match args.text_value("starve") {
        "none" => Ok(None),
        text => parse_seconds(text).map(Some).ok_or_else(|| args.value_error("starve")),
    }
}

/// A length of time: a whole number and a unit, or as Slurm writes it.
pub(crate) fn parse_seconds(text: &str) -> Option<Span> {
    if let Some(length) = read_clock_length(text) {
        return (length <= 1 << 40).then_some(Span(length));
    }
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let (number, length) = match unit {
        "s" => (number, 1),
        "m" => (number, 60),
        "h" => (number, 3_600),
        "d" => (number, 86_400),
        "w" => (number, 7 * 86_400),
        _ => (text, 1),
    };
    let number: i64 = number.parse().ok().filter(|number| (0..=1 << 30).contains(number))?;
    Some(Span(number * length))
}

pub(crate) fn waiting_facts(id: JobId, prediction: Span, view: &View<'_>) -> WaitingFacts {
    let job = view.job(id);
    WaitingFacts {
        run: prediction.as_f64(),
        estimate: job.estimate.as_f64(),
        procs: f64::from(job.procs),
        submit: (job.submit - view.first_submit()).as_f64(),
        user: job.user,
        group: job.group,
        queue: job.queue,
        machine: f64::from(view.machine().procs),
        priority: job.priority as f64,
        beyond: view.resources().map_or_else(BeyondProcessors::default, |resources| resources.demand_facts(job.demand)),
    }
}

/// Returns the facts available to a formula of this moment.
pub(crate) fn current_moment<'a>(waiting: usize, shares: Option<&'a Shares>, view: &View<'_>) -> Moment<'a> {
    let machine = f64::from(view.machine().procs);
    Moment {
        now: (view.current_time() - view.first_submit()).as_f64(),
        load: (machine - f64::from(view.free_processors())) / machine,
        waiting: waiting as f64,
        shares,
    }
}

/// Returns the recent usage of users, for the formulas of these orders; `None` where none asks for
/// it.
pub(crate) fn shares_for<'a>(orders: impl Iterator<Item = &'a Order>) -> Option<Shares> {
    let mut windows = Vec::new();
    for order in orders {
        if let Order::Formula(formula) = order {
            windows.extend(formula.usage_windows());
        }
    }
    windows.sort_by(f64::total_cmp);
    windows.dedup();
    Shares::new(&windows)
}

/// Accounts for a job that has ended.
pub(crate) fn account_usage(shares: &mut Shares, id: JobId, view: &View<'_>) {
    let job = view.job(id);
    let run = RunUsage { user: job.user, procs: i64::from(job.procs), from: view.segment_start(id) };
    shares.note_end(run, view.current_time());
}

/// Makes the shares those of now.
pub(crate) fn bring_up_to_date(shares: &mut Shares, view: &View<'_>) {
    let usage = |id: JobId, procs: u32| RunUsage {
        user: view.job(id).user,
        procs: i64::from(procs),
        from: view.segment_start(id),
    };
    shares.update_usage(view.current_time(), view.running_jobs().iter().map(|run| usage(run.id, run.procs)));
}

#[inline]
pub(crate) fn waiting_job(order: &Order, id: JobId, prediction: Span, view: &View<'_>) -> WaitingJob {
    let job = view.job(id);
    order.waiting_job(id, job.submit, job.procs, prediction, || waiting_facts(id, prediction, view))
}

/// Waiting jobs in the order of one [`Order`], which every call must name alike.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct OrderRanking {
    queue: WaitQueue,
    /// Replaces the queue where a formula is to be rated again at each pass.
    board: Option<QueueBoard>,
}

impl OrderRanking {
    pub(crate) fn new(order: &Order) -> OrderRanking {
        OrderRanking { queue: WaitQueue::default(), board: order.moving_formula().map(|_| QueueBoard::default()) }
    }

    /// The queue, where places stay or the order is by expansion factors.
    #[inline]
    pub(crate) fn queue(&mut self) -> &mut WaitQueue {
        &mut self.queue
    }

    #[inline]
    pub(crate) fn insert(&mut self, job: WaitingJob, order: &Order, view: &View<'_>) {
        match (&mut self.board, order.moving_formula()) {
            (Some(board), Some(formula)) => board.insert(formula, job, &waiting_facts(job.id, job.prediction, view)),
            _ => self.queue.insert(job),
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, place: QueuePlace) {
        match &mut self.board {
            Some(board) => _ = board.remove(place.id),
            None => _ = self.queue.remove(place),
        }
    }

    pub(crate) fn replace_job(&mut self, place: QueuePlace, job: WaitingJob, order: &Order, view: &View<'_>) {
        match (&mut self.board, order.moving_formula()) {
            (Some(board), Some(formula)) => {
                if board.remove(place.id).is_some() {
                    board.insert(formula, job, &waiting_facts(job.id, job.prediction, view));
                }
            }
            _ => _ = self.queue.replace_job(place, job),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.board.as_ref().map_or(self.queue.len(), QueueBoard::len)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.board.as_ref().map_or(self.queue.is_empty(), QueueBoard::is_empty)
    }

    /// Gives every job its place at this moment, where places change.
    pub(crate) fn rate_jobs(&mut self, formula: Option<&Formula>, moment: &Moment<'_>) {
        if let (Some(board), Some(formula)) = (&mut self.board, formula) {
            board.rate_jobs(formula, moment);
        }
    }

    /// The first job; where places change, at the last rating.
    #[inline]
    pub(crate) fn first_job(&self, order: &Order, view: &View<'_>) -> Option<WaitingJob> {
        match (&self.board, order) {
            (Some(board), _) => board.first_job(),
            (None, Order::Lxf) => self.queue.most_expanded(view.current_time(), None),
            _ => self.queue.first_job(),
        }
    }

    /// The first job that `fit` admits. By expansion factors or a formula that changes it is the
    /// first of all, in a queue whose places stay the first behind `after`.
    pub(crate) fn next_fit(
        &self,
        after: Option<QueuePlace>,
        fit: BackfillFit,
        order: &Order,
        view: &View<'_>,
    ) -> Option<WaitingJob> {
        match (&self.board, order) {
            (Some(board), _) => board.next_fit(fit),
            (None, Order::Lxf) => self.queue.most_expanded(view.current_time(), Some(fit)),
            _ => self.queue.next_fit(after, fit),
        }
    }

    /// Returns whether `fit` admits any job.
    pub(crate) fn any_fits(&self, fit: BackfillFit) -> bool {
        self.board.as_ref().map_or_else(|| self.queue.next_fit(None, fit).is_some(), |board| board.any_fits(fit))
    }

    pub(crate) fn sorted_jobs(&self, order: &Order, view: &View<'_>) -> Vec<WaitingJob> {
        if let Some(board) = &self.board {
            return board.sorted_jobs();
        }
        let mut jobs: Vec<WaitingJob> = self.queue.iter().copied().collect();
        if *order == Order::Lxf {
            let now = view.current_time();
            let more = crate::parts::more_expanded;
            jobs.sort_by(|a, b| more(b, a, now).cmp(&more(a, b, now)));
        }
        jobs
    }
}

/// Puts jobs in an order at a moment: for policies that occasionally sort a few of them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Rater {
    order: Order,
    /// A job that has waited longer comes first, of several the first to arrive.
    starve: Option<Span>,
}

impl Rater {
    pub(crate) fn new(order: Order) -> Rater {
        Rater { order, starve: None }
    }

    /// Makes a rater with a guard against starvation.
    pub(crate) fn with_guard(order: Order, starve: Option<Span>) -> Rater {
        Rater { order, starve }
    }

    /// Returns the usage of users that must be kept for it.
    pub(crate) fn initial_shares(&self) -> Option<Shares> {
        shares_for(std::iter::once(&self.order))
    }

    /// The places of these jobs in the order: which is first, which second. O(n log n).
    pub(crate) fn rank_jobs(&self, jobs: &[JobId], shares: Option<&mut Shares>, view: &View<'_>) -> Vec<usize> {
        let shares = shares.map(|shares| {
            bring_up_to_date(shares, view);
            &*shares
        });
        let moment = current_moment(jobs.len(), shares, view);
        let mut places: Vec<(WaitingJob, usize)> = jobs
            .iter()
            .enumerate()
            .map(|(at, &id)| {
                let prediction = view.prediction(id);
                let mut job = waiting_job(&self.order, id, prediction, view);
                if let Some(formula) = self.order.moving_formula() {
                    job.key = formula.key_at_moment(&waiting_facts(id, prediction, view), &moment);
                }
                (job, at)
            })
            .collect();
        if self.order == Order::Lxf {
            let more = |a: &WaitingJob, b: &WaitingJob| crate::parts::more_expanded(a, b, view.current_time());
            places.sort_by(|a, b| more(&b.0, &a.0).cmp(&more(&a.0, &b.0)));
        } else {
            places.sort_shared_by_key(|(job, _)| job.queue_place());
        }
        if let Some(patience) = self.starve {
            let starves = |job: &WaitingJob| view.current_time() > job.submit.saturating_add(patience);
            places.sort_shared_by_key(|(job, _)| if starves(job) { (false, job.id) } else { (true, JobId::default()) });
        }
        places.into_iter().map(|(_, at)| at).collect()
    }
}
