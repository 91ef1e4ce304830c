//! Passes of Slurm's two schedulers that considered a job, in words.

use crate::output::number::{format_duration, format_plural};
use drystone::engine::explain::StoryWords;
use drystone::model::{JobId, Time};
use drystone::policy::PolicySpec;
use drystone_slurm::policy::{PassReason, SLURM, listen_to_job};

pub(super) use drystone_slurm::policy::SharedVerdict;

/// Most lines.
const MOST: usize = 40;

/// Does the work of a simulation, and returns what passes said of the job; `None` where the policy
/// is not Slurm's, and the work was not done.
pub(super) fn hear_passes<R>(
    spec: &PolicySpec,
    job: JobId,
    work: impl FnOnce() -> R,
) -> Option<(R, Vec<SharedVerdict>)> {
    (spec.kind().name == SLURM.name).then(|| listen_to_job(job.0, work))
}

/// Lines for people; empty where no pass said anything. Moments are dates where `site` has them,
/// else time since `submit`, when the job came.
pub(super) fn format_passes(verdicts: &[SharedVerdict], submit: Time, site: Option<&dyn StoryWords>) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut lines = vec!["\nPasses of Slurm's schedulers that considered it:".to_string()];
    lines.extend(verdicts.iter().take(MOST).map(|verdict| format_pass_line(verdict, submit, site)));
    if verdicts.len() > MOST {
        lines.push(format!(
            "  and {} more; --format json has them all",
            format_plural((verdicts.len() - MOST) as u64, "change")
        ));
    }
    lines.join("\n") + "\n"
}

fn format_pass_line(verdict: &SharedVerdict, submit: Time, site: Option<&dyn StoryWords>) -> String {
    let after = |at: i64| match site {
        Some(site) => site.format_moment(Time(at)),
        None => format!("{} after it came", format_duration((at - submit.0) as f64)),
    };
    let moment = match (verdict.passes, site) {
        (1, _) => format!("{}, a {} pass", after(verdict.from), verdict.pass),
        (n, Some(_)) => format!("{} to {}, {n} {} passes", after(verdict.from), after(verdict.until), verdict.pass),
        (n, None) => {
            let first = format_duration((verdict.from - submit.0) as f64);
            format!("{first} to {}, {n} {} passes", after(verdict.until), verdict.pass)
        }
    };
    let by = verdict.by.unwrap_or_default();
    let plan_note = match (verdict.planned, verdict.planned_last) {
        (Some(first), Some(last)) if first != last => {
            format!("{}, at last {}", after(first), after(last))
        }
        (Some(first), _) => after(first),
        _ => "at no known time".to_string(),
    };
    let reason = match verdict.verdict {
        PassReason::Started => "it started".to_string(),
        PassReason::Blocked => "it did not fit, and kept its partition from the jobs behind it".to_string(),
        PassReason::BehindBlocked => "a job before it did not fit, and kept its partition or its nodes".to_string(),
        PassReason::Unavailable => "jobs of other partitions kept so many nodes that the rest could never \
            suffice"
            .to_string(),
        PassReason::Planned => format!("planned to start {plan_note}"),
        PassReason::BeyondWindow => format!("could start {plan_note}, beyond bf_window: nothing was kept for it"),
        PassReason::Unplanned => format!("could start {plan_note}, and was to have no plan"),
        PassReason::NoRoom => "plans of jobs before it left no room within bf_window".to_string(),
        PassReason::Skipped => format!("skipped for {by}, not even tested"),
        PassReason::NotReached => format!("the pass ended before it, by {by}"),
        PassReason::Limit => format!("a limit of its account or QOS: {by}"),
        PassReason::Licences => "licences that it asks for were not free".to_string(),
        PassReason::Resources => "too little was left of a resource that it asks for".to_string(),
        PassReason::Reserved => {
            "reservations or announced outages kept its nodes for the time of its limit".to_string()
        }
        PassReason::Array => {
            "other tasks of its array were refused, had plans, or ran in the number that may".to_string()
        }
    };
    let room = match (verdict.verdict, verdict.room) {
        (PassReason::Started, _) => String::new(),
        (_, 0) => "; too few nodes were idle".to_string(),
        (_, room) if room == verdict.passes => "; idle nodes would have been enough".to_string(),
        (_, room) => format!("; idle nodes would have been enough in {room} of them"),
    };
    let partition = verdict.partition.as_ref().map_or_else(String::new, |name| format!(" in the partition {name}"));
    format!("  {moment}{partition}: {reason}{room}")
}
