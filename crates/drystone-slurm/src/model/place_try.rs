//! Tries of a search for a job's place, and which of them are made.

use super::table_window::{LikelyTry, PlaceSearch};
use super::{ModelCluster, Pending};

/// Extent of a search for a job's place.
#[derive(Clone, Copy)]
pub(super) struct SearchKind {
    /// True if nothing is kept for the job.
    pub(super) unplanned: bool,
    /// True if tries that must fail are left out.
    pub(super) skips: bool,
    /// True if there certainly is no place, and only the count of jobs tested is open.
    pub(super) is_hopeless: bool,
}

/// Outcome of a try.
pub(super) struct PlaceTry {
    /// The next try.
    pub(super) next: Option<i64>,
    /// True if the job counts among those tested.
    pub(super) counts: bool,
    /// True if the job cannot have its processors there.
    pub(super) fails: bool,
}

impl PlaceTry {
    /// A try that may succeed, whose nodes are known.
    pub(super) fn of_likely(likely: LikelyTry) -> PlaceTry {
        PlaceTry { next: (likely.later > 0).then_some(likely.later), counts: true, fails: false }
    }
}

/// A search that has made no try.
pub(super) fn place_search(
    cluster: &ModelCluster,
    job: &Pending,
    (now, limit): (i64, i64),
    kind: SearchKind,
    earliest: i64,
) -> PlaceSearch {
    let is_exact = kind.skips && job.demand == 0;
    PlaceSearch {
        number: usize::from(job.part),
        limit,
        cpus: u64::from(job.cpus),
        now,
        fewest: (job.min_nodes, cluster.fewest_nodes(job)),
        earliest,
        opens: is_exact,
        first_try: None,
        counted: false,
        is_hopeless: kind.is_hopeless,
        is_exact,
        slides: false,
    }
}
