//! A running job whose size may change: seconds that are left at its present size, true and known.

use super::room::NaiveSpan;
use std::collections::BTreeMap;

/// Kind of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NaiveKind {
    /// One size.
    Rigid,
    /// A size chosen at the start.
    Moldable,
    /// A size that may change.
    Malleable,
    /// A size that the job asks for.
    Evolving,
}

/// A job with its run time at each size.
#[derive(Clone, Debug)]
pub struct NaiveSizedJob {
    pub submit: i64,
    pub kind: NaiveKind,
    /// Sizes, ascending.
    pub sizes: Vec<i64>,
    /// The preferred one.
    pub preferred: i64,
    /// The one in the log.
    pub reference: i64,
    /// True run time at each.
    pub run: BTreeMap<i64, i64>,
    /// Run time at each as the scheduler knows it.
    pub known: BTreeMap<i64, i64>,
    /// Seconds between points; 0 for none.
    pub every: i64,
    /// Cost of growing and of shrinking.
    pub costs: (i64, i64),
    /// Watts of each processor at the full pace.
    pub watts: i64,
    /// Slower paces, the fastest first: thousandths of the full speed, and watts of each processor.
    pub paces: Vec<(i64, i64)>,
    /// Percentages of its work after which it asks, and sizes.
    pub asks: Vec<(i64, i64)>,
}

impl NaiveSizedJob {
    /// Watts of each processor at a pace; 0 is the full one.
    pub(crate) fn watts_at(&self, pace: usize) -> i64 {
        if pace == 0 { self.watts } else { self.paces[pace - 1].1 }
    }

    fn run_seconds(&self, table: &BTreeMap<i64, i64>, (size, pace): (i64, usize)) -> i64 {
        if pace == 0 {
            table[&size]
        } else {
            (table[&size] * 1000 + self.paces[pace - 1].0 - 1) / self.paces[pace - 1].0
        }
    }

    /// Run time at a size and a pace as the scheduler knows it.
    pub(crate) fn known_at(&self, size: i64, pace: usize) -> i64 {
        self.run_seconds(&self.known, (size, pace))
    }
}

/// State of a job before the changes of an instant.
#[derive(Clone, Copy, Debug)]
struct SizeMoment {
    time: i64,
    size: i64,
    pace: usize,
    stall: i64,
    left: (i64, i64),
}

/// A running job.
#[derive(Clone, Debug)]
pub(crate) struct NaiveSizedRun<'a> {
    pub(crate) job: &'a NaiveSizedJob,
    pub(crate) at: usize,
    pub(crate) size: i64,
    /// Pace; 0 is the full one.
    pub(crate) pace: usize,
    /// Time of its last change of pace.
    pub(crate) paced_at: i64,
    /// Beginning of its present size and pace.
    pub(crate) since: i64,
    pub(crate) began: i64,
    /// Start, or last resumption.
    pub(crate) resumed: i64,
    stall: i64,
    /// True and known seconds that were left at the beginning of its present size.
    left: (i64, i64),
    pub(crate) pending: Option<(i64, i64)>,
    /// Time at which it began to give processors back.
    pub(crate) gives_since: Option<i64>,
    releases_late: bool,
    before: Option<SizeMoment>,
    pub(crate) asked: Option<i64>,
    /// Number of its asks so far.
    pub(crate) heard: usize,
}

fn scale_seconds(seconds: i64, from: i64, to: i64) -> i64 {
    let product = i128::from(seconds) * i128::from(to);
    i64::try_from((product + i128::from(from) - 1) / i128::from(from)).expect("seconds")
}

impl<'a> NaiveSizedRun<'a> {
    pub(crate) fn new(
        job: &'a NaiveSizedJob,
        at: usize,
        now: i64,
        (size, pace): (i64, usize),
        releases_late: bool,
    ) -> NaiveSizedRun<'a> {
        NaiveSizedRun {
            job,
            at,
            size,
            pace,
            paced_at: i64::MIN,
            since: now,
            began: now,
            resumed: now,
            stall: 0,
            left: (job.run_seconds(&job.run, (size, pace)), job.known_at(size, pace)),
            pending: None,
            gives_since: None,
            releases_late,
            before: None,
            asked: None,
            heard: 0,
        }
    }

    fn at_time(&self, now: i64) -> SizeMoment {
        let progress = (now - self.since - self.stall).max(0);
        let remaining_seconds = (self.left.0 - progress, self.left.1 - progress);
        SizeMoment {
            time: now,
            size: self.size,
            pace: self.pace,
            stall: (self.stall - (now - self.since)).max(0),
            left: remaining_seconds,
        }
    }

    /// Its state before this instant.
    fn base_moment(&self, now: i64) -> SizeMoment {
        self.before.filter(|before| before.time == now).unwrap_or_else(|| self.at_time(now))
    }

    fn resize_cost(&self, from: i64, to: i64) -> i64 {
        match to.cmp(&from) {
            std::cmp::Ordering::Greater => self.job.costs.0,
            std::cmp::Ordering::Less => self.job.costs.1,
            std::cmp::Ordering::Equal => 0,
        }
    }

    pub(crate) fn run_end(&self) -> i64 {
        self.since + self.stall + self.left.0
    }

    pub(crate) fn known_end(&self, now: i64) -> i64 {
        (self.since + self.stall + self.left.1).max(now + 1)
    }

    /// Known end if it has another size from a time on.
    pub(crate) fn end_after(&self, time: i64, size: i64) -> i64 {
        self.end_after_change(time, (size, self.pace))
    }

    /// Known end if it has another size and pace from a time on.
    pub(crate) fn end_after_change(&self, time: i64, (size, pace): (i64, usize)) -> i64 {
        let SizeMoment { size: from, pace: before, stall, left, .. } = self.base_moment(time);
        let is_paid = self.gives_since.is_some() && self.pending == Some((size, time));
        let cost = if is_paid { 0 } else { self.resize_cost(from, size) };
        time + stall
            + cost
            + scale_seconds(left.1.max(1), self.job.known_at(from, before), self.job.known_at(size, pace))
    }

    pub(crate) fn resize_to(&mut self, now: i64, size: i64) {
        let base = self.base_moment(now);
        let is_paid = self.gives_since.is_some_and(|since| since < now) && self.pending == Some((size, now));
        self.stall = base.stall + if is_paid { 0 } else { self.resize_cost(base.size, size) };
        self.left = self.convert_remaining(base, (size, self.pace));
        (self.before, self.pending, self.gives_since) = (Some(base), None, None);
        (self.size, self.since) = (size, now);
    }

    /// True and known seconds that are left at another size and pace.
    fn convert_remaining(&self, base: SizeMoment, to: (i64, usize)) -> (i64, i64) {
        let convert = |table: &BTreeMap<i64, i64>, rest| {
            scale_seconds(rest, self.job.run_seconds(table, (base.size, base.pace)), self.job.run_seconds(table, to))
        };
        (convert(&self.job.run, base.left.0), convert(&self.job.known, base.left.1).max(1))
    }

    pub(crate) fn set_pace(&mut self, now: i64, pace: usize) {
        let base = self.base_moment(now);
        // A change of size at this instant has its cost already.
        if self.before.is_none_or(|before| before.time != now) {
            self.stall = base.stall;
        }
        self.left = self.convert_remaining(base, (self.size, pace));
        self.before = Some(base);
        (self.pace, self.paced_at, self.since) = (pace, now, now);
    }

    /// Time at which it gives processors back, or has new ones, if it changes then.
    pub(crate) fn release_time(&self, time: i64, size: i64) -> i64 {
        let from = self.base_moment(time).size;
        if self.releases_late && size < from { time + self.job.costs.1 } else { time }
    }

    /// It stands still until it gives processors back.
    pub(crate) fn begin_to_give(&mut self, now: i64, size: i64) {
        let base = self.base_moment(now);
        // It may have given some at this very instant.
        let slower = base.size.min(self.size);
        self.left = self.convert_remaining(base, (slower, self.pace));
        (self.size, self.since, self.stall) = (slower, now, base.stall + self.job.costs.1);
        self.before = Some(base);
        (self.pending, self.gives_since) = (Some((size, now + self.job.costs.1)), Some(now));
    }

    pub(crate) fn change_point(&self, now: i64) -> i64 {
        if self.job.every == 0 { now } else { now + (self.since - now).rem_euclid(self.job.every) }
    }

    pub(crate) fn held_procs(&self) -> i64 {
        self.size.max(self.pending.map_or(0, |(size, _)| size))
    }

    /// Watts of each processor.
    pub(crate) fn watts_per_proc(&self) -> i64 {
        self.job.watts_at(self.pace)
    }

    pub(crate) fn is_movable(&self, now: i64) -> bool {
        self.job.kind == NaiveKind::Malleable && self.pending.is_none() && self.resumed < now
    }

    pub(crate) fn next_ask(&self) -> Option<i64> {
        let (percent, _) = self.job.asks.get(self.heard)?;
        let whole = self.job.run_seconds(&self.job.run, (self.size, self.pace));
        let due = (percent * whole + 99) / 100;
        Some(self.since + self.stall + (due - (whole - self.left.0)).max(0))
    }

    /// It is suspended: `since` is then the time of that.
    pub(crate) fn pause_run(&mut self, now: i64) {
        let SizeMoment { stall, left, .. } = self.at_time(now);
        (self.since, self.stall, self.left) = (now, stall, left);
        (self.pending, self.gives_since, self.before) = (None, None, None);
    }

    pub(crate) fn run_span(&self, from: i64, until: i64, procs: i64) -> NaiveSpan {
        NaiveSpan { from, until, procs, watts: procs * self.watts_per_proc() }
    }

    pub(crate) fn run_spans(&self, now: i64) -> Vec<NaiveSpan> {
        let span = |from, until, procs| self.run_span(from, until, procs);
        match self.pending.filter(|pending| pending.1 > now) {
            Some((size, at)) => {
                let release = if self.gives_since.is_some() { at } else { self.release_time(at, size) };
                vec![span(now, release, self.held_procs()), span(release, self.end_after(at, size), size)]
            }
            None => vec![span(now, self.known_end(now), self.size)],
        }
    }
}
