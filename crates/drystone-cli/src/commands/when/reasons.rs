//! Reasons of jobs to wait for anything but processors, from Slurm's words.

use std::borrow::Cow;
use std::fmt;

/// A reason to wait for anything but processors.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct WaitReason {
    pub(super) effect: WaitEffect,
    /// Words that follow the job: `is held by its user`.
    pub(super) why: Cow<'static, str>,
    /// Slurm's word for it; empty where it has none.
    pub(super) word: String,
    /// The time at which it may begin, where that is known.
    pub(super) begin: Option<i64>,
}

/// Effect of a reason on the answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WaitEffect {
    /// No start can be foretold before that is over.
    Bars,
    /// Something has to happen first, which is simulated.
    Delays(Condition),
    /// It is not simulated: the job may start later than the answer says.
    Adds,
}

/// Condition of a start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Condition {
    /// A time has come.
    Begin,
    /// Other jobs have ended.
    Jobs,
    /// Of the running tasks of its array one has ended.
    Tasks,
    /// Its reservation has begun, and has room.
    Reservation,
    /// Jobs that hold a limit have ended.
    Limit(ReasonScope, LimitMeasure),
}

/// Jobs that count for a limit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum ReasonScope {
    User,
    Account,
    /// Of one user in one account.
    Own,
    Qos,
    QosUser,
    QosAccount,
}

/// Amount that a limit bounds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum LimitMeasure {
    Jobs,
    Processors,
    Memory,
    Nodes,
    Gpus,
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word.as_str() {
            "" => write!(f, "{}", self.why),
            word => write!(f, "{} ({word})", self.why),
        }
    }
}

impl WaitReason {
    /// No start can be foretold after all.
    pub(super) fn bar_start(&mut self, explanation: impl Into<Cow<'static, str>>) {
        (self.effect, self.why) = (WaitEffect::Bars, explanation.into());
    }

    /// Returns what has to happen first, where that is simulated.
    pub(super) fn condition(&self) -> Option<Condition> {
        match self.effect {
            WaitEffect::Delays(condition) => Some(condition),
            _ => None,
        }
    }
}

/// Returns what else than processors a job waits for, from Slurm's word for it.
pub(super) fn reason_from_word(word: &str, priority: i64, begin: Option<i64>) -> Option<WaitReason> {
    use WaitEffect::{Adds, Bars, Delays};
    // squeue adds nodes to some: `ReqNodeNotAvail, UnavailableNodes:n[1-2]`.
    let word = word.split(',').next().unwrap_or_default().trim();
    let (effect, explanation) = match word {
        "JobHeldUser" => (Bars, "is held by its user"),
        "JobHeldAdmin" => (Bars, "is held by an administrator"),
        "JobHoldMaxRequeue" | "launch_failed_requeued_held" => (Bars, "is held since it failed to start too often"),
        "Dependency" => (Delays(Condition::Jobs), "waits for other jobs that it depends on"),
        "DependencyNeverSatisfied" => (Bars, "depends on a job that ended otherwise, so that it never starts"),
        "BeginTime" if begin.is_some() => (Delays(Condition::Begin), "may begin later only"),
        "BeginTime" => (Bars, "may begin later only"),
        "JobArrayTaskLimit" => (Delays(Condition::Tasks), "waits for other tasks of its array"),
        "Reservation" => (Bars, "waits for its reservation"),
        "ReservationDeleted" | "ReservationInvalid" => (Bars, "asks for a reservation that is gone"),
        "PartitionDown" => (Bars, "is in a partition that is down"),
        "PartitionInactive" => (Bars, "is in a partition that is inactive"),
        "DeadLine" => (Bars, "cannot end by its deadline"),
        "AccountNotAllowed" | "QOSNotAllowed" | "InvalidAccount" | "InvalidQOS" => {
            (Bars, "has an account or QOS that may not use the partition")
        }
        "BadConstraints" | "PartitionNodeLimit" | "PartitionTimeLimit" | "MaxMemPerLimit" => {
            (Bars, "asks for more than the nodes or the limits of its partition allow")
        }
        _ if priority == 0 => (Bars, "is held"),
        "ReqNodeNotAvail" | "NodeDown" => (Adds, "asks for nodes that are down, drained or reserved"),
        "Licenses" => (Adds, "waits for licenses, which are not simulated"),
        "BurstBufferResources" | "BurstBufferStageIn" | "BurstBufferOperation" => {
            (Adds, "waits for a burst buffer, which is not simulated")
        }
        word if word.starts_with("Assoc") || word.starts_with("QOS") => of_limit(word),
        word if word.starts_with("MaxBB") => (Adds, "waits for a limit on burst buffers, which is not simulated"),
        _ => return None,
    };
    let begin = begin.filter(|_| word == "BeginTime");
    Some(WaitReason { effect, why: explanation.into(), word: word.to_string(), begin })
}

/// The effect of a limit of an account or QOS, from Slurm's word (`job_state_reason_string`).
fn of_limit(word: &str) -> (WaitEffect, &'static str) {
    let has = |part: &str| word.contains(part);
    if has("PerJob") || has("PerNode") || has("TimeLimit") || word.starts_with("QOSMin") {
        return (WaitEffect::Bars, "asks for more or less than a limit of its account or QOS allows");
    }
    if (has("Minutes") && !has("RunMinutes")) || has("GrpWall") || has("UsageThreshold") {
        return (WaitEffect::Bars, "waits for a budget of its account or QOS that is used up");
    }
    if has("Submit") {
        return (WaitEffect::Bars, "is beyond a limit of submitted jobs of its account or QOS");
    }
    let measure = match () {
        () if has("Job") => LimitMeasure::Jobs,
        () if has("Mem") => LimitMeasure::Memory,
        () if has("Node") => LimitMeasure::Nodes,
        () if has("GRES") || has("Gres") => LimitMeasure::Gpus,
        () => LimitMeasure::Processors,
    };
    let scope = match () {
        () if has("PerUser") => ReasonScope::QosUser,
        () if has("PerAccount") => ReasonScope::QosAccount,
        () if word.starts_with("QOS") => ReasonScope::Qos,
        () if has("AssocMax") => ReasonScope::Own,
        () => ReasonScope::Account,
    };
    (WaitEffect::Delays(Condition::Limit(scope, measure)), "waits for a limit of its account or QOS")
}

/// The reason of a job in a reservation: what keeps it back wherever it is, or the reservation.
pub(super) fn in_reservation(name: &str, reason: Option<WaitReason>) -> Option<WaitReason> {
    let is_barred = |reason: &WaitReason| reason.effect == WaitEffect::Bars && reason.word != "Reservation";
    let effect = WaitEffect::Delays(Condition::Reservation);
    let own = || WaitReason { effect, why: "waits for room in its reservation".into(), word: name.into(), begin: None };
    if name.is_empty() || reason.as_ref().is_some_and(is_barred) { reason } else { Some(own()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: &str) -> Option<WaitReason> {
        reason_from_word(word, 1, Some(99))
    }

    #[test]
    fn reasons_say_whether_a_job_competes() {
        for word in ["Resources", "Priority", "None", "Prolog", "Cleaning", ""] {
            assert_eq!(of(word), None, "{word}");
        }
        let words = [
            "JobHeldUser",
            "JobHeldAdmin",
            "DependencyNeverSatisfied",
            "PartitionDown",
            "PartitionInactive",
            "Reservation",
            "AssocMaxCpuPerJobLimit",
            "QOSMaxWallDurationPerJobLimit",
            "QOSMinCpuNotSatisfied",
            "AssocGrpCPUMinutesLimit",
            "QOSUsageThreshold",
        ];
        for word in words {
            assert!(
                of(word).is_some_and(|reason| reason.effect == WaitEffect::Bars && reason.begin.is_none()),
                "{word}"
            );
        }
        for word in ["ReqNodeNotAvail, UnavailableNodes:n[1-2]", "Licenses", "BurstBufferResources"] {
            assert!(of(word).is_some_and(|reason| reason.effect == WaitEffect::Adds), "{word}");
        }
        assert_eq!(of("BeginTime").and_then(|reason| reason.begin), Some(99));
        let wait_reason = reason_from_word("Priority", 0, None);
        assert!(wait_reason.is_some_and(|reason| reason.effect == WaitEffect::Bars), "a priority of 0 is a hold");
        assert!(reason_from_word("BeginTime", 5, None).is_some_and(|reason| reason.effect == WaitEffect::Bars));
    }

    #[test]
    fn limits_are_known_by_their_words() {
        use LimitMeasure::{Gpus, Jobs, Memory, Nodes, Processors};
        use ReasonScope::{Account, Own, Qos, QosAccount, QosUser};
        for (word, scope, measure) in [
            ("QOSMaxJobsPerUserLimit", QosUser, Jobs),
            ("QOSMaxCpuPerUserLimit", QosUser, Processors),
            ("QOSMaxGRESPerUser", QosUser, Gpus),
            ("QOSMaxMemoryPerUser", QosUser, Memory),
            ("QOSMaxNodePerUserLimit", QosUser, Nodes),
            ("QOSMaxJobsPerAccountLimit", QosAccount, Jobs),
            ("QOSGrpCpuLimit", Qos, Processors),
            ("QOSGrpNodeLimit", Qos, Nodes),
            ("QOSGrpCPURunMinutesLimit", Qos, Processors),
            ("AssocGrpCpuLimit", Account, Processors),
            ("AssocGrpGRES", Account, Gpus),
            ("AssocGrpMemLimit", Account, Memory),
            ("AssocMaxJobsLimit", Own, Jobs),
            ("AssociationJobLimit", Account, Jobs),
        ] {
            let condition = of(word).and_then(|reason| reason.condition());
            assert_eq!(condition, Some(Condition::Limit(scope, measure)), "{word}");
        }
    }
}
