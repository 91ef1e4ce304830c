//! Division of the jobs: those that the policy starts, and those of them that may start now.

use super::{DaemonMode, HoldReason, Retry, Tracked, Tracker};
use crate::cluster::{
    DependencyCondition, Ending, HookMark, JobDependencies, JobFact, JobKey, JobSlot, JobState, PendingReason,
    StartCondition, UnmodelledRequest,
};
use drystone::model::Time;

impl Tracker {
    /// Returns the reasons, for people, why a job is the cluster's to start; empty where it is the
    /// policy's.
    pub(super) fn foreign_reasons(&self, fact: &JobFact, user_nodes: bool) -> Vec<String> {
        let mut reasons = Vec::new();
        if !self.settings.partitions.contains(&fact.partition)
            && !fact.asks.contains(&UnmodelledRequest::SeveralPartitions)
        {
            reasons.push(format!("jobs of partition {}", fact.partition));
        }
        let (has_devices, has_licences) = (self.counts_devices(fact), self.counts_licences(fact));
        let asks = fact.asks.iter().filter(|&&ask| match ask {
            UnmodelledRequest::Devices => !has_devices,
            UnmodelledRequest::Licences => !has_licences,
            UnmodelledRequest::Features => !self.knows_features(fact),
            _ => true,
        });
        reasons.extend(asks.map(|ask| format!("jobs that ask for {}", ask.name())));
        // A policy that only counts leaves it to the cluster where a job starts.
        if user_nodes && self.settings.names {
            reasons.push("jobs that ask for certain nodes".to_string());
        }
        if fact.procs > self.layout.procs() {
            reasons.push("jobs wider than the machine".to_string());
        }
        reasons
    }

    /// Returns whether a pending job is the cluster's to start.
    pub(super) fn is_foreign(&self, job: &Tracked, fact: &JobFact) -> bool {
        job.foreign || !self.foreign_reasons(fact, job.user_nodes).is_empty()
    }

    /// Returns whether a held job is held by us.
    pub(super) fn is_ours(job: &Tracked, fact: &JobFact) -> bool {
        fact.mark != HookMark::None || job.taken
    }

    /// Returns whether a hold that looks like an administrator's is one. The cluster calls every
    /// job of priority 0 so whose own reason it has lost: the hook tells of operators' holds.
    pub(super) fn is_administrators(&self, job: &Tracked, fact: &JobFact) -> bool {
        let is_kept = self.operator_words.is_held(job.key);
        !job.orphaned && (is_kept || !Tracker::is_ours(job, fact))
    }

    /// Returns the reason why a pending job may not start now. `throttled`: enough tasks of its
    /// array run.
    pub(super) fn why_not(&mut self, job: &mut Tracked, fact: &JobFact, is_throttled: bool) -> Option<HoldReason> {
        let driving = self.settings.mode == DaemonMode::Drive;
        match fact.reason {
            PendingReason::AdminHold if self.is_administrators(job, fact) => return Some(HoldReason::Admin),
            PendingReason::LaunchFailed if !job.freed => return Some(HoldReason::LaunchFailed),
            PendingReason::RequeuedHeld if !job.freed => return Some(HoldReason::User),
            PendingReason::UserHold if !driving => return Some(HoldReason::User),
            PendingReason::UserHold if !Tracker::is_ours(job, fact) => job.user_hold = true,
            _ => {}
        }
        if driving && job.user_hold {
            return Some(HoldReason::User);
        }
        match self.dependency_state(job.key, fact) {
            ConditionState::No => {
                self.depending.insert(job.key);
                return Some(if is_in_vain(&fact.depends) { HoldReason::InVain } else { HoldReason::Dependency });
            }
            ConditionState::Later(time) => {
                self.depending.insert(job.key);
                self.timers.insert((time, job.key));
                return Some(HoldReason::Dependency);
            }
            ConditionState::Yes | ConditionState::Perhaps => {
                self.depending.remove(&job.key);
            }
        }
        if let Some(begin) =
            fact.start.map(|start| Time(start + self.offset)).filter(|&begin| begin > self.stamp.session_time())
        {
            self.timers.insert((begin, job.key));
            return Some(HoldReason::Begin);
        }
        match fact.reason {
            PendingReason::PartitionClosed => return Some(HoldReason::PartitionClosed),
            PendingReason::Limit if !driving => return Some(HoldReason::Limit),
            PendingReason::Throttle if !driving => return Some(HoldReason::Throttle),
            _ => {}
        }
        if let Some(retry) = job.retry {
            let (Retry::At(time) | Retry::OnEnd(time)) = retry;
            if time > self.stamp.session_time() {
                self.timers.insert((time, job.key));
                return Some(if matches!(retry, Retry::At(_)) { HoldReason::Retry } else { HoldReason::Limit });
            }
            job.retry = None;
            self.limited.remove(&job.key);
        }
        if driving && let Some((why, until)) = self.block_shape(job, fact) {
            self.timers.insert((until, job.key));
            return Some(why);
        }
        is_throttled.then_some(HoldReason::Throttle)
    }

    /// Returns whether a job's dependencies are fulfilled, according to the cluster or to the other
    /// jobs that it shows.
    fn dependency_state(&self, key: JobKey, fact: &JobFact) -> ConditionState {
        match &fact.depends {
            JobDependencies::No if fact.reason == PendingReason::Dependency => ConditionState::No,
            JobDependencies::No => ConditionState::Yes,
            // The cluster alone knows: it is let go and held again as often as that is in vain.
            JobDependencies::Else => ConditionState::Perhaps,
            JobDependencies::On(conditions) => conditions
                .iter()
                .map(|condition| self.condition_state(condition, key, fact))
                .max()
                .unwrap_or(ConditionState::Yes),
            JobDependencies::Any(conditions) => conditions
                .iter()
                .map(|condition| self.condition_state(condition, key, fact))
                .min()
                .unwrap_or(ConditionState::Yes),
        }
    }

    fn condition_state(&self, condition: &StartCondition, key: JobKey, fact: &JobFact) -> ConditionState {
        let task = match condition.after {
            DependencyCondition::Never => return ConditionState::No,
            DependencyCondition::Alone => return self.is_alone(key, fact),
            DependencyCondition::SameTask => key.task,
            _ => condition.task,
        };
        let mut siblings = self.mirror.of_array(condition.id).filter(|sibling| match (task, &sibling.slot) {
            (None, _) => true,
            (Some(task), JobSlot::Task(own)) => task == *own,
            (Some(task), JobSlot::Folded(ranges)) => ranges.iter().any(|range| (range.0..=range.1).contains(&task)),
            (Some(_), JobSlot::Single) => false,
        });
        if siblings.clone().next().is_none() {
            // Of jobs that are not listed any more the cluster itself has to tell.
            return ConditionState::Perhaps;
        }
        let did = |sibling: &JobFact| match (condition.after, sibling.state) {
            (DependencyCondition::Start, JobState::Running | JobState::Suspended) => true,
            (DependencyCondition::Start, JobState::Ended(_)) => !sibling.places.is_empty(),
            (DependencyCondition::End, JobState::Ended(_)) => true,
            (DependencyCondition::Success | DependencyCondition::SameTask, JobState::Ended(Ending::Completed)) => true,
            (DependencyCondition::Failure, JobState::Ended(ending)) => ending != Ending::Completed,
            _ => false,
        };
        if !siblings.clone().all(did) {
            return ConditionState::No;
        }
        if condition.delay == 0 {
            return ConditionState::Yes;
        }
        let last = siblings.try_fold(i64::MIN, |last, sibling| Some(last.max(sibling.start?)));
        match last.map(|last| Time(last.saturating_add(condition.delay).saturating_add(self.offset))) {
            Some(time) if time > self.stamp.session_time() => ConditionState::Later(time),
            Some(_) => ConditionState::Yes,
            None => ConditionState::Perhaps,
        }
    }

    /// Returns whether no other job of the user can keep back one that has to be alone: none runs,
    /// and none with a lower number waits. Names are not known here, so that others only may.
    fn is_alone(&self, key: JobKey, fact: &JobFact) -> ConditionState {
        let stands = |sibling: &JobFact| match sibling.state {
            JobState::Ended(_) => false,
            JobState::Pending => sibling.id < key.id,
            JobState::Running | JobState::Suspended => sibling.id != key.id,
        };
        let siblings = self.mirror.records().filter(|sibling| sibling.user == fact.user);
        if siblings.into_iter().any(stands) { ConditionState::Perhaps } else { ConditionState::Yes }
    }
}

/// Returns whether dependencies cannot be fulfilled any more.
fn is_in_vain(depends: &JobDependencies) -> bool {
    let is_never = |condition: &StartCondition| condition.after == DependencyCondition::Never;
    match depends {
        JobDependencies::On(conditions) => conditions.iter().any(is_never),
        JobDependencies::Any(conditions) => !conditions.is_empty() && conditions.iter().all(is_never),
        JobDependencies::No | JobDependencies::Else => false,
    }
}

/// State of a condition, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum ConditionState {
    Yes,
    /// Only the cluster knows.
    Perhaps,
    Later(Time),
    No,
}
