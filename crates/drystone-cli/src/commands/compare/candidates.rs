//! Default policies of a comparison, and their cost.

use crate::exit::CommandFailure;
use crate::meta::PolicyMeta;
use crate::output::number::format_count;
use drystone::policy::{self, PolicySpec};

/// Policies that a site can run, from the plainest to the most ambitious: none knows run times, and
/// none suspends jobs.
const CANDIDATES: [&str; 8] = ["easy", "fcfs", "easy-sjbf", "easy+", "easy++", "easy-sjbf+", "conservative", "slack"];

/// Seconds on a usual machine that a policy may be expected to take and still be tried unasked.
const LONG: f64 = 30.0;

/// The policies that are tried unasked.
pub(super) fn default_candidates() -> Result<Vec<PolicySpec>, CommandFailure> {
    Ok(CANDIDATES.iter().map(|name| name.parse()).collect::<Result<_, _>>()?)
}

/// Returns whether a policy is one of the defaults, in the variant of a study or not.
pub(super) fn is_candidate(spec: &PolicySpec) -> bool {
    CANDIDATES.iter().any(|name| spec.text().split('@').next() == Some(name))
}

/// Every family of policies and every short name.
pub(super) fn every_policy() -> Result<Vec<PolicySpec>, CommandFailure> {
    Ok(policy::policy_names().into_iter().map(str::parse).collect::<Result<_, _>>()?)
}

/// Returns whether a policy would take long on this many jobs with this many waiting on average. It
/// depends on the workload alone, never on the machine, so that the same command tries the same
/// policies everywhere.
pub(crate) fn takes_long(spec: &PolicySpec, jobs: usize, waiting: f64) -> bool {
    estimate_cost(spec, jobs, waiting) > LONG
}

/// About how many seconds a policy takes on a usual processor. Policies that plan every waiting job
/// look at all of them again and again; others look at few of them.
pub(super) fn estimate_cost(spec: &PolicySpec, jobs: usize, waiting: f64) -> f64 {
    let considered_jobs =
        queue_bound(&PolicyMeta::from_spec(spec)).map_or(waiting, |(_, most)| waiting.min(most as f64));
    // Microseconds per job, and per job and job that waits beside it.
    let (cost_each, beside) = match spec.kind().name {
        "conservative" => (1.0, 0.12),
        "slack" => (10.0, 7.0),
        "goal" => (200.0, 5.0),
        "ss" | "tss" | "is" => (50.0, 1.0),
        _ => (2.0, 0.0),
    };
    jobs as f64 * (cost_each + beside * considered_jobs) * 1e-6
}

/// The parameter by which a policy looks at the first of many waiting jobs only, and at how many.
pub(super) fn queue_bound(policy: &PolicyMeta) -> Option<(&'static str, u64)> {
    let name = match policy.kind.as_str() {
        "conservative" | "slack" => "horizon",
        "goal" => "depth",
        _ => return None,
    };
    let value = policy.parameters.0.iter().find(|(key, _)| key == name)?;
    value.1.parse().ok().map(|most| (name, most))
}

/// Says that a policy looked at the first of the waiting jobs only, where more waited.
pub(crate) fn describe_bound(policy: &PolicyMeta, waiting_jobs: u64) -> Option<String> {
    let (name, most) = queue_bound(policy).filter(|(_, most)| waiting_jobs > *most)?;
    let text = &policy.text;
    let unbounded_text = match text.strip_suffix(')') {
        Some(head) => format!("{head},{name}=all)"),
        None => format!("{text}({name}=all)"),
    };
    Some(format!(
        "{text} looked at the first {} waiting jobs only, and up to {} waited: {unbounded_text} looks at all of them, however long that takes.",
        format_count(most),
        format_count(waiting_jobs)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_can_be_run_by_a_site() {
        let default_policies = default_candidates().unwrap_or_default();
        assert_eq!(default_policies.len(), CANDIDATES.len());
        for spec in default_policies {
            let meta = PolicyMeta::from_spec(&spec);
            assert!(!meta.clairvoyant && !meta.preemptive, "{spec}");
        }
    }

    /// `docs/verdict.md` says which policies are tried by default.
    #[test]
    fn every_candidate_is_documented() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verdict.md");
        let text = std::fs::read_to_string(page).expect("a page");
        let sentence = text.split("By default `compare` tries ").nth(1).and_then(|rest| rest.split("\n\n").next());
        let sentence = sentence.expect("the sentence on the default");
        for name in CANDIDATES {
            assert!(sentence.contains(&format!("`{name}`")), "docs/verdict.md lacks the candidate `{name}`");
        }
    }

    #[test]
    fn a_bound_is_told_where_it_counts() {
        let notes = |text: &str, waiting_jobs| {
            describe_bound(&PolicyMeta::from_spec(&text.parse().expect("a policy")), waiting_jobs)
        };
        assert_eq!(notes("slack", 100), None);
        assert!(
            notes("slack", 101).is_some_and(|t| t.contains("slack(horizon=all) looks at all")),
            "{:?}",
            notes("slack", 101)
        );
        assert!(notes("goal(horizon=50)", 5_000).is_some_and(|t| t.contains("goal(horizon=50,depth=all)")));
        assert_eq!(notes("conservative(horizon=all)", 1_000_000), None);
        assert_eq!(notes("easy", 1_000_000), None);
    }

    #[test]
    fn planning_is_left_out_where_many_wait() {
        let long = |text: &str, jobs, waiting| takes_long(&text.parse().expect("a policy"), jobs, waiting);
        assert!(!long("slack", 28_000, 7.0) && !long("conservative", 300_000, 300.0));
        assert!(long("slack", 300_000, 900.0) && long("conservative", 300_000, 900.0));
        assert!(!long("easy++", 3_000_000, 9_000.0));
    }
}
