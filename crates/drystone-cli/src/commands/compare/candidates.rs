//! Which policies are tried where none is asked for, and what trying one costs.

use crate::exit::Failure;
use drystone::policy::{self, PolicySpec};

/// What a site can run, from the plainest to the most ambitious: no policy that knows run times,
/// and none that suspends jobs.
const CANDIDATES: [&str; 8] =
    ["easy", "fcfs", "easy-sjbf", "easy+", "easy++", "easy++-guarded", "conservative", "slack"];

/// Seconds on a usual machine that a policy may be expected to take and still be tried unasked.
const LONG: f64 = 30.0;

/// The policies that are tried unasked.
pub(super) fn candidates() -> Result<Vec<PolicySpec>, Failure> {
    Ok(CANDIDATES.iter().map(|name| name.parse()).collect::<Result<_, _>>()?)
}

/// Whether a policy is one of those that are tried unasked, in the variant of a study or not.
pub(super) fn is_candidate(spec: &PolicySpec) -> bool {
    CANDIDATES.iter().any(|name| spec.text().split('@').next() == Some(name))
}

/// Every family of policies and every short name.
pub(super) fn everything() -> Result<Vec<PolicySpec>, Failure> {
    Ok(policy::names().into_iter().map(str::parse).collect::<Result<_, _>>()?)
}

/// Whether a policy would take long on so many jobs of which so many wait on average. It depends on
/// the workload alone, never on the machine, so that the same command tries the same policies
/// everywhere.
pub(crate) fn takes_long(spec: &PolicySpec, jobs: usize, waiting: f64) -> bool {
    cost(spec, jobs, waiting) > LONG
}

/// About how many seconds a policy takes on a usual processor. Policies that plan every waiting job
/// look at all of them again and again; others look at few of them.
pub(super) fn cost(spec: &PolicySpec, jobs: usize, waiting: f64) -> f64 {
    // Microseconds per job, and per job and job that waits beside it.
    let (each, beside) = match spec.kind().name {
        "conservative" => (1.0, 0.12),
        "slack" => (10.0, 7.0),
        "goal" => (200.0, 5.0),
        "ss" | "tss" | "is" => (50.0, 1.0),
        _ => (2.0, 0.0),
    };
    jobs as f64 * (each + beside * waiting) * 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_can_be_run_by_a_site() {
        let all = candidates().unwrap_or_default();
        assert_eq!(all.len(), CANDIDATES.len());
        for spec in all {
            let meta = crate::meta::PolicyMeta::of(&spec);
            assert!(!meta.clairvoyant && !meta.preemptive, "{spec}");
        }
    }

    #[test]
    fn planning_is_left_out_where_many_wait() {
        let long = |text: &str, jobs, waiting| takes_long(&text.parse().expect("a policy"), jobs, waiting);
        assert!(!long("slack", 28_000, 7.0) && !long("conservative", 300_000, 300.0));
        assert!(long("slack", 300_000, 900.0) && long("conservative", 300_000, 900.0));
        assert!(!long("easy++", 3_000_000, 9_000.0));
    }
}
