//! Demands of which a backfill pass has shown that they cannot be met before a time. Plans only
//! take nodes away, so that what is shown once holds for the rest of the pass.

use super::Pending;
use serde::{Deserialize, Serialize};

/// Time before which the search for a start has shown that there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartProof {
    /// The grid on which plans end; 0: nothing is to be shown.
    resolution: i64,
    /// That time.
    pub(super) from: i64,
}

impl StartProof {
    /// Nothing is to be shown.
    pub(super) fn empty_proof() -> StartProof {
        StartProof { resolution: 0, from: i64::MIN }
    }

    /// There is no start before `from`.
    pub(super) fn new(resolution: i64, from: i64) -> StartProof {
        StartProof { resolution, from }
    }

    /// Returns the time up to which a job certainly has to have its nodes if it begins at `from` or
    /// later: the end of its plan on the grid. A search wants them a little longer, but one that
    /// begins later may not.
    pub(super) fn bound_end(&self, from: i64, limit: i64) -> i64 {
        match self.resolution {
            0 => i64::MIN,
            grid => from.saturating_add(limit).div_euclid(grid) * grid,
        }
    }

    /// Returns whether a failure of the try at `from` can show anything.
    pub(super) fn goes_on(&self, from: i64) -> bool {
        self.resolution > 0 && from <= self.from
    }

    /// A try at `from`, with the next one at `later`, has failed; `sure`: whatever comes.
    pub(super) fn note_failure(&mut self, from: i64, later: i64, sure: bool) {
        if sure && self.goes_on(from) {
            self.from = self.from.max(later);
        }
    }
}

/// Lower bounds of starts, from the searches of one pass.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct DemandBounds {
    /// Demands that cannot begin before a time.
    late: Vec<LateDemand>,
    /// Demands that cannot begin at all.
    never: Vec<LateDemand>,
}

/// A demand, and the time before which it cannot be met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct LateDemand {
    part: u16,
    demand: u32,
    nodes: u32,
    cpus: u32,
    limit: i64,
    from: i64,
}

impl LateDemand {
    /// The demand of a job that needs at least so many nodes, and cannot begin before `from`.
    pub(super) fn new(job: &Pending, nodes: u32, from: i64) -> LateDemand {
        LateDemand { part: job.part, demand: job.demand, nodes, cpus: job.cpus, limit: job.limit, from }
    }

    /// Returns whether the other asks for no less.
    fn is_within(&self, demand: &LateDemand) -> bool {
        self.cpus <= demand.cpus
            && self.limit <= demand.limit
            && self.nodes <= demand.nodes
            && self.part == demand.part
            && self.demand == demand.demand
    }
}

impl DemandBounds {
    pub(super) fn clear(&mut self) {
        self.late.clear();
        self.never.clear();
    }

    /// Returns whether a demand cannot be met at all.
    pub(super) fn excludes_demand(&self, ask: &LateDemand) -> bool {
        self.never.iter().any(|bound| bound.is_within(ask))
    }

    /// Returns the time before which a demand cannot be met.
    pub(super) fn earliest_time(&self, ask: &LateDemand) -> i64 {
        self.late.iter().filter(|bound| bound.is_within(ask)).fold(ask.from, |from, bound| from.max(bound.from))
    }

    /// A demand cannot be met before its time.
    pub(super) fn add_demand(&mut self, demand: LateDemand) {
        self.late.retain(|bound| !(demand.is_within(bound) && bound.from <= demand.from));
        self.late.push(demand);
    }

    /// So long, no more than `most` processors can be had at any time.
    pub(super) fn add_never(&mut self, job: &Pending, most: u64) {
        let cpus = u32::try_from(most.saturating_add(1)).unwrap_or(u32::MAX);
        let demand = LateDemand { cpus, ..LateDemand::new(job, 0, i64::MAX) };
        self.never.retain(|bound| !demand.is_within(bound));
        self.never.push(demand);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demand_is_bounded_by_those_that_ask_for_less() {
        let ask = |cpus, limit| LateDemand::new(&Pending::new(0, cpus, limit), cpus, 0);
        let mut bounds = DemandBounds::default();
        bounds.add_demand(LateDemand { from: 50, ..ask(4, 600) });
        bounds.add_demand(LateDemand { from: 90, ..ask(8, 900) });
        let earliest = |bounds: &DemandBounds, cpus, limit| bounds.earliest_time(&ask(cpus, limit));
        assert_eq!([earliest(&bounds, 4, 600), earliest(&bounds, 9, 899), earliest(&bounds, 8, 900)], [50, 50, 90]);
        assert_eq!([earliest(&bounds, 3, 600), earliest(&bounds, 4, 599)], [0, 0]);
        bounds.add_never(&Pending::new(0, 20, 3600), 6);
        assert!(
            bounds.excludes_demand(&ask(7, 3600))
                && !bounds.excludes_demand(&ask(6, 9999))
                && !bounds.excludes_demand(&ask(9, 3599))
        );
        let elsewhere = LateDemand { part: 1, ..ask(9, 9999) };
        assert!(!bounds.excludes_demand(&elsewhere) && bounds.earliest_time(&elsewhere) == 0);
    }
}
