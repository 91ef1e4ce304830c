//! Nodes that reservations and the users of exclusive nodes leave to a job.

use super::{AdvanceReservation, ModelCluster, NONE, NodeSet, Pending};
use crate::conf::SchedParams;

/// Ends of reservations that a search goes on behind, one after the other.
const MOST_MOVES: u32 = 10;

/// Nodes that reservations leave to a job that starts at a given time.
pub(super) enum Access {
    /// All nodes of its partition.
    Free,
    /// These nodes; and whether a reservation has nodes of its partition.
    Nodes(NodeSet, bool),
    /// None up to this time.
    Until(i64),
    /// Its own reservation is over, or its job cannot use it.
    Never,
}

impl ModelCluster {
    /// Returns the nodes that reservations leave to a job that would run from `start` for `limit`
    /// seconds. Where a partition has `ExclusiveUser`, nodes that jobs of others keep now are out,
    /// whenever these end: Slurm looks at the present there.
    pub(super) fn find_access(&self, job: &Pending, start: i64, limit: i64) -> Access {
        let access = self.access_by_reservations(job, start, limit);
        if !self.machine.parts.iter().any(|part| part.exclusive_user) {
            return access;
        }
        let own = self.machine.parts[usize::from(job.part)].exclusive_user;
        let barring_jobs = self.running_jobs().filter(|running| {
            let other_job = &running.job;
            other_job.user != job.user && (own || self.machine.parts[usize::from(other_job.part)].exclusive_user)
        });
        let without = |mut rest: NodeSet, meets| {
            barring_jobs.for_each(|running| rest.subtract(&running.alloc.nodes));
            Access::Nodes(rest, meets)
        };
        match access {
            Access::Free => without(self.machine.parts[usize::from(job.part)].nodes.clone(), false),
            Access::Nodes(rest, meets) => without(rest, meets),
            Access::Until(_) | Access::Never => access,
        }
    }

    fn access_by_reservations(&self, job: &Pending, start: i64, limit: i64) -> Access {
        if job.reservation == NONE && self.reservations.is_empty() {
            return Access::Free;
        }
        let end = start.saturating_add(limit);
        let part = &self.machine.parts[usize::from(job.part)].nodes;
        if job.reservation != NONE {
            return self.own_access(job, start, end);
        }
        // Most jobs end before any begins: there is nothing to be worked out.
        let mut remaining: Option<NodeSet> = None;
        for reservation in self.reservations.iter().filter(|reservation| reservation.meets_window(start, end)) {
            if reservation.nodes.is_empty() {
                continue;
            }
            if reservation.all
                || reservation.part == u32::from(job.part)
                || (reservation.maint && !part.is_empty() && part.is_subset(&reservation.nodes))
            {
                return Access::Until(reservation.end);
            }
            if reservation.nodes.has_common(part) {
                remaining.get_or_insert_with(|| part.clone()).subtract(&reservation.nodes);
            }
        }
        remaining.map_or(Access::Free, |rest| Access::Nodes(rest, true))
    }

    fn own_access(&self, job: &Pending, start: i64, end: i64) -> Access {
        let Some(own) = self.reservations.get(job.reservation as usize) else { return Access::Never };
        if start < own.begin {
            return Access::Until(own.begin);
        }
        if start >= own.end {
            return Access::Never;
        }
        let (mut remaining, mut overlap) = (own.nodes.clone(), false);
        for reservation in self
            .reservations
            .iter()
            .filter(|reservation| reservation.name != own.name && reservation.meets_window(start, end))
        {
            if own.maint || (own.overlap && !reservation.maint) || !reservation.nodes.has_common(&remaining) {
                continue;
            }
            overlap = true;
            remaining.subtract(&reservation.nodes);
        }
        Access::Nodes(remaining, overlap)
    }

    /// The first end of any reservation at or after `start`, on the grid of plans, and a second.
    pub(super) fn first_reservation_end(&self, start: i64, resolution: i64) -> Option<i64> {
        let first = self.reservations.iter().map(|own| own.end).filter(|&end| end >= start).min()?;
        Some((first + resolution - 1).div_euclid(resolution) * resolution + 1)
    }

    /// Returns the time up to which reservations leave jobs of this limit the same as at `now`, and
    /// plans that reach this far ahead.
    pub(super) fn access_holds_until(&self, now: i64, limit: i64, window: i64) -> i64 {
        let turns = self
            .reservations
            .iter()
            .flat_map(|own| [own.begin.saturating_sub(limit), own.begin, own.end, own.end.saturating_sub(window)]);
        turns.filter(|&turn| turn > now).min().unwrap_or(i64::MAX)
    }

    /// Licences of one kind that reservations hold from a job which would run now.
    pub(super) fn held_licences(&self, licence: u16, job: &Pending, now: i64) -> u32 {
        let end = now.saturating_add(job.limit);
        let other_reservations =
            (0..).zip(&self.reservations).filter(|&(at, own)| at != job.reservation && own.meets_window(now, end));
        let of = |own: &AdvanceReservation| {
            own.licences.iter().filter(|&&(kind, _)| kind == licence).map(|&(_, count)| count).sum::<u32>()
        };
        other_reservations.map(|(_, own)| of(own)).sum()
    }
}

/// Leaves in `free` what reservations leave to the job, and moves `from` behind those that leave
/// nothing. Returns when it may be otherwise, where that is known; `None`: they leave nothing.
#[expect(clippy::option_option, reason = "true if there is a way, and the end of that if known")]
pub(super) fn apply_reservations(
    cluster: &ModelCluster,
    params: &SchedParams,
    job: &Pending,
    from: &mut i64,
    limit: i64,
    free: &mut NodeSet,
) -> Option<Option<i64>> {
    for _ in 0..=MOST_MOVES {
        match cluster.find_access(job, *from, limit) {
            Access::Free => return Some(None),
            Access::Nodes(rest, meets) => {
                free.intersect(&rest);
                let end = || cluster.first_reservation_end(*from, params.bf_resolution);
                return Some(meets.then(end).flatten());
            }
            Access::Until(end) => *from = end,
            Access::Never => return None,
        }
    }
    None
}
