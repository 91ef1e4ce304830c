//! Rules of preemption, and the choice of victims.

use super::{NONE, Pending};
use crate::conf::{PreemptMode, PreemptType};
use serde::{Deserialize, Serialize};

/// The rules of preemption.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Preempting {
    /// Criterion by which jobs may replace others.
    pub by: PreemptType,
    /// Fate of the jobs that are replaced.
    pub mode: PreemptMode,
    /// Seconds that a job has run before it may be replaced.
    pub exempt: i64,
    /// Priority from which a job is never replaced.
    pub exempt_priority: Option<i64>,
    /// True if jobs of one QOS may replace each other, those of higher priority the others.
    pub within: bool,
    /// True if only jobs of higher priority replace others.
    pub by_priority: bool,
    /// True if jobs that are to go back to the queue end for good (`JobRequeue=0`).
    pub ends_requeued: bool,
    /// For each QOS: those whose jobs its own may replace, what becomes of its own jobs, their
    /// grace in seconds, its priority.
    pub qos: Vec<QosPreempt>,
    /// Seconds after a preemption in which a job begins no other.
    pub pause: i64,
    /// The youngest jobs first.
    pub youngest_first: bool,
    /// Number of times that the order of victims is improved.
    pub reorder: u32,
    /// True if that keeps their order.
    pub strict_order: bool,
    /// True if jobs start on processors of those that are suspended for them. Only where something
    /// does suspend them: the contract of policies has no such action.
    pub suspends: bool,
}

/// Settings of a QOS for preemption.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct QosPreempt {
    /// QOS whose jobs its own may replace.
    pub over: Vec<u32>,
    /// Fate of its jobs.
    pub mode: Option<PreemptMode>,
    /// Seconds that they have left.
    pub grace: i64,
    pub priority: u32,
    /// True if its jobs get no plan.
    pub no_reserve: bool,
    /// Seconds that its jobs have run before they may be replaced; `None` for the general ones.
    pub exempt: Option<i64>,
    /// True if its own settings come before those of the partition's QOS.
    pub over_partition: bool,
    /// True if its jobs may replace each other.
    pub within: bool,
}

/// A job that is replaced, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Victim {
    /// The job.
    pub id: u32,
    /// Fate of the job.
    pub mode: PreemptMode,
    /// Seconds that it has left.
    pub grace: i64,
}

impl Preempting {
    /// Returns whether any job may replace another.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.by != PreemptType::None && self.mode != PreemptMode::Off
    }

    pub(super) fn qos_over(&self, a: u32, b: u32) -> bool {
        a != b && b != NONE && self.qos.get(a as usize).is_some_and(|qos| qos.over.contains(&b))
    }

    /// Returns whether jobs of this QOS may replace each other.
    pub(super) fn is_within(&self, qos: u32) -> bool {
        qos != NONE && (self.within || self.qos.get(qos as usize).is_some_and(|qos| qos.within))
    }

    /// Returns the seconds that a job has run before it may be replaced: by the QOS whose limits
    /// come first, then the other one, then the general setting.
    pub(super) fn exempt_of(&self, machine: &super::ModelMachine, victim: &Pending) -> i64 {
        let own = self.qos.get(victim.qos as usize);
        let of_part = self.qos.get(machine.parts[usize::from(victim.part)].qos as usize);
        let order = if own.is_some_and(|own| own.over_partition) { [own, of_part] } else { [of_part, own] };
        order.into_iter().flatten().find_map(|qos| qos.exempt).unwrap_or(self.exempt)
    }

    /// Returns the fate of a running job that is replaced.
    pub fn mode_of(&self, machine: &super::ModelMachine, victim: &Pending) -> PreemptMode {
        let own = match self.by {
            PreemptType::None => Some(PreemptMode::Off),
            PreemptType::Partition => machine.parts[usize::from(victim.part)].preempt_mode,
            PreemptType::Qos => self.qos.get(victim.qos as usize).and_then(|qos| qos.mode),
        };
        match own.unwrap_or(self.mode) {
            PreemptMode::Requeue if self.ends_requeued => PreemptMode::Cancel,
            mode => mode,
        }
    }
}
