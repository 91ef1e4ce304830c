//! Known processors that are out, or will be: the one source of future capacity for plans.

use crate::model::{JobId, ProcSet, Procs, ResourceId, SharedSort, Span, Time};
use serde::{Deserialize, Serialize};

/// Processors that are out for some time: a node that has failed or is drained, a maintenance
/// window.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapacityLoss {
    /// Processors concerned.
    pub on: ProcSet,
    /// Beginning. A loss in the future is an announced window: no plan places a job across its
    /// beginning.
    pub from: Time,
    /// Expected return; [`Time::MAX`] if it is unknown, and plans then never count on them.
    pub until: Time,
}

/// A running job on processors that are out: it keeps them to its end, and does not give them back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Drain {
    pub job: JobId,
    pub procs: Procs,
    pub until: Time,
}

/// Amount of a resource from a time on, as far as is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct KnownSupply {
    /// Time from which on there is this amount. A time in the future is announced.
    pub from: Time,
    /// Resource concerned.
    pub resource: ResourceId,
    /// Amount from then on, in the unit of the resource.
    pub amount: u64,
}

/// An announced change in the amount of a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct SupplyChange {
    /// Time at which it happens.
    pub at: Time,
    /// Resource concerned.
    pub resource: ResourceId,
    /// Amount that comes or, below 0, goes. Never 0.
    pub change: i64,
}

/// Known processors that are out, or will be, and announced changes of further resources.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Outlook {
    /// All that are out now, those of jobs that still run on them among them.
    pub offline: ProcSet,
    /// Those of them that are expected back, by when; only where processors have names.
    pub back: Vec<(Time, ProcSet)>,
    /// Returns of idle ones among them, with their number; ascending, [`Time::MAX`] for those that
    /// are not expected.
    pub returns: Vec<(Time, Procs)>,
    pub drains: Vec<Drain>,
    /// Running jobs with their processors where some share one, because another scheduler started
    /// them so: only the last of them to end gives it back.
    pub shared: Vec<(JobId, ProcSet)>,
    /// Announced windows, by beginning.
    pub windows: Vec<CapacityLoss>,
    /// Idle processors that are out.
    pub down: Procs,
    /// Processors that have gone and of which no return is known.
    pub gone: Procs,
    /// Returns and windows as changes of free processors, in ascending order of time.
    ahead: Vec<(Time, i64)>,
    /// Announced changes of further resources, in ascending order of time.
    pub(crate) supply: Vec<SupplyChange>,
}

impl Outlook {
    /// All processors that are out now. A job may still run on some of them: they are being
    /// drained.
    #[inline]
    #[must_use]
    pub fn offline_processors(&self) -> &ProcSet {
        &self.offline
    }

    /// The announced windows that have not begun, by beginning.
    #[inline]
    #[must_use]
    pub fn windows(&self) -> &[CapacityLoss] {
        &self.windows
    }

    /// Returns the announced changes of further resources, in ascending order of time.
    #[inline]
    #[must_use]
    pub fn supply_changes(&self) -> &[SupplyChange] {
        &self.supply
    }

    /// Returns whether more of a further resource is announced.
    #[must_use]
    pub fn supply_grows(&self) -> bool {
        self.supply.iter().any(|step| step.change > 0)
    }

    /// Returns the time of the first announced change: processors go, or the amount of a further
    /// resource changes.
    #[inline]
    #[must_use]
    pub fn first_change(&self) -> Option<Time> {
        let window = self.windows.first().map(|window| window.from);
        window.into_iter().chain(self.supply.first().map(|step| step.at)).min()
    }

    /// Idle processors that are out, by when they are expected back; [`Time::MAX`] for never.
    #[inline]
    #[must_use]
    pub fn expected_returns(&self) -> &[(Time, Procs)] {
        &self.returns
    }

    /// Idle processors that are out.
    #[inline]
    pub fn down_processors(&self) -> Procs {
        self.down
    }

    /// Processors that are out and are not expected back.
    pub fn gone_set(&self) -> ProcSet {
        self.offline.difference(&ProcSet::union_of(self.back.iter().map(|back| &back.1)))
    }

    /// Returns whether running jobs hold processors that go with them, or share some: future
    /// returns then depend on the ends of these jobs.
    #[inline]
    pub fn hangs_on_jobs(&self) -> bool {
        !(self.drains.is_empty() && self.shared.is_empty())
    }

    /// Returns whether the only changes ahead are processors that come back: nothing is being
    /// drained, no window is announced, and no change of a further resource.
    #[inline]
    #[must_use]
    pub fn only_returns(&self) -> bool {
        self.windows.is_empty() && self.supply.is_empty() && !self.hangs_on_jobs()
    }

    /// Returns whether no change is known: processors are out for an unknown time, and no window is
    /// announced.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.only_returns() && self.returns.first().is_none_or(|back| back.0 == Time::MAX)
    }

    /// Returns the processors of a machine of this size that are left without those that have gone
    /// with no known return. A wider job cannot be planned.
    #[inline]
    #[must_use]
    pub fn left_of(&self, machine: Procs) -> Procs {
        machine.saturating_sub(self.gone)
    }

    /// Puts all in order, when everything is known.
    pub(crate) fn sort_all(&mut self) {
        let never = |until: Time| until == Time::MAX;
        let returns = self.returns.iter().filter(|r| never(r.0)).map(|r| r.1);
        let drains = self.drains.iter().filter(|d| never(d.until)).map(|d| d.procs);
        self.gone = returns.chain(drains).sum();
        self.down = self.returns.iter().map(|back| back.1).sum();
        self.returns.sort_unstable();
        self.back.sort_shared_by_key(|back| back.0);
        self.windows.sort_shared_by_key(|window| window.from);
        let returns = self.returns.iter().map(|&(until, procs)| (until, i64::from(procs)));
        let windows = self.windows.iter().flat_map(|window| {
            let procs = i64::from(window.on.len());
            [(window.from, -procs), (window.until, procs)]
        });
        self.ahead = returns.chain(windows).filter(|change| change.0 < Time::MAX).collect();
        self.ahead.sort_shared_by_key(|change| change.0);
    }

    /// Returns and windows as changes of free processors, in ascending order of time. What is
    /// expected in this very second is not back yet.
    pub(super) fn changes_ahead(&self, now: Time) -> impl Iterator<Item = (Time, i64)> + '_ {
        self.ahead.iter().map(move |&(at, procs)| (at.max(if procs < 0 { now } else { now + Span(1) }), procs))
    }

    /// Returns those left also without processors announced to go with no known return. A wider job
    /// can be planned before they go only.
    #[must_use]
    pub fn in_the_end(&self, machine: Procs) -> Procs {
        let windows = self.windows.iter().filter(|w| w.until == Time::MAX).map(|w| w.on.len());
        self.left_of(machine).saturating_sub(windows.sum())
    }

    /// The processors that a job must not be on that starts now and runs for so long: those that
    /// are out, and those of windows that begin before its end.
    #[must_use]
    pub fn barred_processors(&self, now: Time, run: Span) -> ProcSet {
        let end = now.saturating_add(run);
        let ahead = self.windows.iter().take_while(|w| w.from < end);
        ahead.fold(self.offline.clone(), |set, window| set.union(&window.on))
    }

    /// Every change of free processors ahead, in ascending order of time: from when, and how many
    /// more or, below 0, fewer. `ends` says when a running job gives its processors back in the
    /// plan; what goes with the job, or is shared with another, is taken away then. The past counts
    /// as the present.
    pub fn capacity_changes(&self, now: Time, ends: impl Fn(JobId) -> Time, changes: &mut Vec<(Time, i64)>) {
        changes.clear();
        changes.extend(self.changes_ahead(now));
        if !self.hangs_on_jobs() {
            return;
        }
        let mut add = |at: Time, procs: i64| {
            if at < Time::MAX {
                changes.push((at, procs));
            }
        };
        for drain in &self.drains {
            let end = ends(drain.job).max(now);
            add(end, -i64::from(drain.procs));
            add(drain.until.max(end), i64::from(drain.procs));
        }
        let mut sharing: Vec<_> = self.shared.iter().map(|(id, set)| (ends(*id), id, set)).collect();
        sharing.sort_shared_by_key(|&(end, id, _)| std::cmp::Reverse((end, id)));
        let mut kept_procs = ProcSet::new();
        for (end, _, set) in sharing {
            add(end.max(now), -i64::from(set.intersection(&kept_procs).len()));
            kept_procs = kept_procs.union(set);
        }
        changes.sort_shared_by_key(|change| change.0);
    }
}

/// Two sequences of changes, each in ascending order of time, as one.
pub fn merge_changes(
    first: impl Iterator<Item = (Time, i64)>,
    second: impl Iterator<Item = (Time, i64)>,
) -> impl Iterator<Item = (Time, i64)> {
    let (mut first_changes, mut second_changes) = (first.peekable(), second.peekable());
    std::iter::from_fn(move || match (first_changes.peek(), second_changes.peek()) {
        (Some(a), Some(b)) if b.0 < a.0 => second_changes.next(),
        (None, _) => second_changes.next(),
        _ => first_changes.next(),
    })
}
