//! Logs without estimates: what stands for them, and what that means for a verdict.

use crate::meta::WorkloadMeta;
use crate::output::number::{format_count, format_percent, format_plural};
use drystone::log::clean::MissingEstimate;

/// From this share of the jobs on, run times in place of estimates leave nothing to recommend.
const MANY: f64 = 0.1;

/// Returns the number of jobs without an estimate, and the substitute for it.
fn missing_estimates(workload: &WorkloadMeta) -> Option<(u64, MissingEstimate)> {
    let guessed_jobs =
        workload.cleaning.rules.0.iter().find(|(rule, _)| *rule == "guessed-estimate").map(|(_, n)| *n)?;
    let rule = workload.settings.0.iter().find(|(name, _)| name == "missing-estimate")?.1.parse().ok()?;
    (guessed_jobs > 0).then_some((guessed_jobs.min(workload.jobs), rule))
}

/// Returns the reason why no policy that plans with estimates is recommended: for too many jobs the
/// run time itself is the estimate.
pub(super) fn foresight_reason(workload: &WorkloadMeta) -> Option<String> {
    let (jobs, rule) = missing_estimates(workload)?;
    let share = jobs as f64 / workload.jobs.max(1) as f64;
    (rule.is_run() && share > MANY).then(|| {
        format!(
            "{} of {} ({}): no estimate, and the true run time replaces it: a policy that plans with it \
             knows the future, so no policy that plans with estimates is recommended. --estimates tsafrir, factor(2) \
             or user-mean uses a model instead.",
            format_count(jobs),
            format_plural(workload.jobs, "job"),
            format_percent(Some(share), 0)
        )
    })
}

/// That estimates are made up by a model, where they are.
pub(super) fn describe_model(workload: &WorkloadMeta) -> Option<String> {
    let (jobs, rule) = missing_estimates(workload)?;
    let is_model = matches!(
        rule,
        MissingEstimate::Factor(_) | MissingEstimate::Uniform(_) | MissingEstimate::UserMean | MissingEstimate::Tsafrir
    );
    let is_replaced = workload.settings.0.iter().any(|(name, _)| name == "replace-estimates");
    let reason = if is_replaced { "those of the log are replaced" } else { "the log has none" };
    is_model.then(|| {
        format!(
            "The estimates of {} of {} are made up by the model {rule}: {reason}, and another model may give another \
             verdict.",
            format_count(jobs),
            format_plural(workload.jobs, "job")
        )
    })
}
