//! Descriptions of policies, and of the way to run them, in words for people without knowledge of
//! the papers.

use crate::meta::PolicyMeta;

pub(super) fn describe_policy(policy: &PolicyMeta) -> String {
    let own = match policy.text.split('@').next().unwrap_or_default() {
        "easy" => {
            "The first job that waits has a reservation; other jobs may start before it if they do not delay it, in the order in \
             which they came."
        }
        "easy-sjbf" => {
            "Like easy, but of the jobs that may overtake, those with the shortest estimates are tried first."
        }
        "easy+" => {
            "Like easy, but it plans with the mean run time of the user's last two jobs instead of the user's estimate."
        }
        "easy++" => {
            "Like easy+ (it plans with the mean run time of the user's last two jobs), and of the jobs that may overtake, the \
             shortest are tried first."
        }
        "easy-sjbf+" => {
            "Like easy, with reservations by estimates, which hold as long as jobs end by their estimates; of the jobs that may \
             overtake, those that the user's last two jobs of the kind predict to be the shortest are tried first."
        }
        "x2" => "Like easy, but it plans with twice the estimates.",
        "sjf" => {
            "The job with the shortest estimate is always next; it has a reservation, and others may start around it."
        }
        _ => "",
    };
    let family = match policy.kind.as_str() {
        "fcfs" => "Jobs start strictly in the order in which they came.",
        "greedy" => "Any job that fits starts at once; nothing is reserved, so wide jobs may wait very long.",
        "easy" => {
            "A job at the head of the queue has a reservation; other jobs may start before it if they do not delay it."
        }
        "committed" => {
            "The job that the order puts first heads the queue until it starts, whatever arrives; other jobs may start before it \
             if they end before it could start."
        }
        "conservative" => "Every job is promised a start when it arrives, and no later job may delay it.",
        "slack" => "Every job is promised a latest start; within that bound its place may be given to others.",
        "multiqueue" => {
            "Short and long jobs wait in queues of their own, and the first of each queue is promised a start."
        }
        "goal" => "At each decision it searches for the schedule that serves a stated objective best.",
        "ss" | "tss" => {
            "A job that has waited long for its length suspends running jobs; they resume later on the processors they had."
        }
        "is" => "A job that arrives starts at once, in place of jobs that have had their time slice.",
        _ => "",
    };
    let mut text = if own.is_empty() { family.to_string() } else { own.to_string() };
    if policy.clairvoyant {
        text.push_str(" It knows the true run times: a bound for other policies, which no machine can run.");
    }
    if policy.preemptive {
        text.push_str(" It suspends running jobs, which few systems can do.");
    }
    text
}

/// Returns the availability of a policy: a setting of Slurm, the live scheduler, or none.
pub(super) fn describe_availability(policy: &PolicyMeta) -> &'static str {
    match policy.kind.as_str() {
        _ if policy.clairvoyant => "no policy of a real machine: it knows the true run times",
        _ if chooses_sizes(policy) => "a policy of simulations; `drystone live drive` chooses no sizes of jobs",
        "fcfs" if is_plain(policy) => {
            "a setting of Slurm (SchedulerType=sched/builtin) and under `drystone live drive`"
        }
        "slurm" => "a setting of Slurm",
        _ => "a policy of `drystone live drive`, which starts the jobs of a Slurm cluster; Slurm has no such setting",
    }
}

/// Returns the same availability in a line of the terminal.
pub(super) fn how_in_short(policy: &PolicyMeta) -> &'static str {
    match policy.kind.as_str() {
        _ if policy.clairvoyant => "on no real machine: it knows the true run times",
        _ if chooses_sizes(policy) => "in simulations alone: `drystone live drive` chooses no sizes of jobs",
        "fcfs" if is_plain(policy) => "a setting of Slurm: SchedulerType=sched/builtin",
        "slurm" => "a setting of Slurm",
        _ => "`drystone live drive` beside Slurm: Slurm has no such setting",
    }
}

/// Returns whether it starts jobs with other sizes than the preferred one, or changes them.
fn chooses_sizes(policy: &PolicyMeta) -> bool {
    let usual = |name: &str, value: &str| match name {
        "shape" => value == "preferred",
        "resize" | "drop" => value == "none",
        _ => true,
    };
    !policy.parameters.0.iter().all(|(name, value)| usual(name, value))
}

/// Returns whether the queue is in the order of arrival alone.
fn is_plain(policy: &PolicyMeta) -> bool {
    policy.parameters.0.iter().all(|(name, value)| name != "order" || value == "fcfs")
}

/// Describes the way to run a policy on the systems that sites have.
pub(super) fn to_run_it(policy: &PolicyMeta) -> String {
    if chooses_sizes(policy) {
        return "No common system has it as a setting, and `drystone live drive` chooses no sizes of jobs.".to_string();
    }
    let predicts = policy.parameters.0.iter().any(|(name, value)| name == "predict" && value != "estimate");
    let sorts = policy.parameters.0.iter().any(|(name, value)| name == "backfill" && value != "fcfs");
    if predicts || sorts {
        let technique = match (predicts, sorts) {
            (true, true) => "predictions of run times and shortest-first backfilling",
            (true, false) => "predictions of run times",
            _ => "backfilling that tries the shortest job first",
        };
        return format!(
            "Neither Slurm, PBS Professional nor Maui has {technique} as a setting: `drystone live drive` runs it."
        );
    }
    match policy.kind.as_str() {
        "fcfs" => "Slurm: SchedulerType=sched/builtin. PBS Professional: strict_ordering without backfill. Maui: BACKFILLPOLICY NONE.",
        "easy" => {
            "No setting of Slurm is this: its sched/backfill plans many jobs again at each of its passes, and its waits differ (the policy \
             `slurm` simulates it). `drystone live drive` runs it. PBS Professional: strict_ordering with backfill_depth=1. Maui: \
             BACKFILLPOLICY FIRSTFIT with RESERVATIONDEPTH 1."
        }
        "conservative" => {
            "Slurm's sched/backfill plans every job as far as bf_max_job_test and bf_window reach, but it plans again at each pass and \
             keeps no promise. Maui: BACKFILLPOLICY FIRSTFIT with a large RESERVATIONDEPTH."
        }
        "greedy" => "PBS Professional: strict_ordering off and no backfilling. Maui: RESERVATIONDEPTH 0.",
        "multiqueue" => {
            "Queues or partitions by time limit exist in every system; processors that move between them, and a promised start for \
             the first of each queue, need a separate scheduler."
        }
        "ss" | "tss" | "is" => {
            "Slurm suspends jobs with PreemptMode=SUSPEND,GANG by partition or quality of service, not by how long a job has waited; \
             memory must hold both jobs."
        }
        _ => "No common system has it as a setting; `drystone live drive` can run it beside Slurm.",
    }
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::policy::{self, PolicySpec};

    #[test]
    fn every_policy_has_its_words() {
        for name in policy::policy_names() {
            let spec: PolicySpec = name.parse().expect(name);
            let meta = PolicyMeta::from_spec(&spec);
            assert!(describe_policy(&meta).ends_with('.') && to_run_it(&meta).ends_with('.'), "{name}");
        }
    }

    #[test]
    fn what_a_setting_cannot_do_is_not_said_to_be_one() {
        let of = |text: &str| to_run_it(&PolicyMeta::from_spec(&text.parse().expect("a policy")));
        assert!(of("easy").starts_with("No setting of Slurm is this") && of("easy").contains("live drive"));
        let describe = |text: &str| describe_availability(&PolicyMeta::from_spec(&text.parse().expect("a policy")));
        assert!(describe("perfect").contains("no policy of a real machine"));
        assert!(describe("fcfs").contains("sched/builtin") && !describe("fcfs(order=sjf)").contains("sched/builtin"));
        assert!(describe("easy").contains("live drive") && describe("easy++").contains("live drive"));
        assert!(of("easy++").contains("predictions of run times and shortest-first"));
        assert!(of("easy-sjbf").contains("shortest job first"));
    }
}
