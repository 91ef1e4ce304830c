//! Division of the jobs: those that the policy starts, and those of them that may start now.

use super::{Mode, Retry, Tracked, Tracker, Why};
use crate::cluster::{After, Ask, Condition, Depends, Ending, JobFact, Key, Mark, Reason, Slot, State};
use drystone::model::Time;

impl Tracker {
    /// Returns the reasons, for people, why a job is the cluster's to start; empty where it is the
    /// policy's.
    pub(super) fn foreign_reasons(&self, fact: &JobFact, user_nodes: bool) -> Vec<String> {
        let mut reasons = Vec::new();
        if !self.settings.partitions.contains(&fact.partition) && !fact.asks.contains(&Ask::SeveralPartitions) {
            reasons.push(format!("jobs of partition {}", fact.partition));
        }
        let counted = self.counts_devices(fact);
        let asks = fact.asks.iter().filter(|&&ask| !(ask == Ask::Devices && counted));
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
    pub(super) fn is_foreign(&self, tracked: &Tracked, fact: &JobFact) -> bool {
        tracked.foreign || !self.foreign_reasons(fact, tracked.user_nodes).is_empty()
    }

    /// Returns whether a held job is held by us.
    pub(super) fn is_ours(tracked: &Tracked, fact: &JobFact) -> bool {
        fact.mark != Mark::None || tracked.taken
    }

    /// Returns the reason why a pending job may not start now. `throttled`: enough tasks of its
    /// array run.
    pub(super) fn why_not(&mut self, tracked: &mut Tracked, fact: &JobFact, throttled: bool) -> Option<Why> {
        let driving = self.settings.mode == Mode::Drive;
        match fact.reason {
            Reason::AdminHold if !tracked.orphaned && !tracked.slipped => return Some(Why::Admin),
            Reason::LaunchFailed => return Some(Why::LaunchFailed),
            Reason::RequeuedHeld if !tracked.freed => return Some(Why::User),
            Reason::UserHold if !driving => return Some(Why::User),
            Reason::UserHold if !Tracker::is_ours(tracked, fact) => tracked.user_hold = true,
            _ => {}
        }
        if driving && tracked.user_hold {
            return Some(Why::User);
        }
        match self.depends(tracked.key, fact) {
            Answer::No => {
                self.depending.insert(tracked.key);
                return Some(Why::Dependency);
            }
            Answer::Later(time) => {
                self.depending.insert(tracked.key);
                self.timers.insert((time, tracked.key));
                return Some(Why::Dependency);
            }
            Answer::Yes | Answer::Perhaps => {
                self.depending.remove(&tracked.key);
            }
        }
        if let Some(begin) =
            fact.start.map(|start| Time(start + self.offset)).filter(|&begin| begin > self.stamp.time())
        {
            self.timers.insert((begin, tracked.key));
            return Some(Why::Begin);
        }
        match fact.reason {
            Reason::PartitionClosed => return Some(Why::PartitionClosed),
            Reason::Limit if !driving => return Some(Why::Limit),
            Reason::Throttle if !driving => return Some(Why::Throttle),
            _ => {}
        }
        if let Some(retry) = tracked.retry {
            let (Retry::At(time) | Retry::OnEnd(time)) = retry;
            if time > self.stamp.time() {
                self.timers.insert((time, tracked.key));
                return Some(if matches!(retry, Retry::At(_)) { Why::Retry } else { Why::Limit });
            }
            tracked.retry = None;
            self.limited.remove(&tracked.key);
        }
        if driving && let Some((why, until)) = self.block(tracked, fact) {
            self.timers.insert((until, tracked.key));
            return Some(why);
        }
        throttled.then_some(Why::Throttle)
    }

    /// Returns whether a job's dependencies are fulfilled, according to the cluster or to the other
    /// jobs that it shows.
    fn depends(&self, key: Key, fact: &JobFact) -> Answer {
        match &fact.depends {
            Depends::No if fact.reason == Reason::Dependency => Answer::No,
            Depends::No => Answer::Yes,
            // The cluster alone knows: it is let go and held again as often as that is in vain.
            Depends::Else => Answer::Perhaps,
            Depends::On(all) => all.iter().map(|one| self.holds(one, key, fact)).max().unwrap_or(Answer::Yes),
            Depends::Any(all) => all.iter().map(|one| self.holds(one, key, fact)).min().unwrap_or(Answer::Yes),
        }
    }

    fn holds(&self, one: &Condition, key: Key, fact: &JobFact) -> Answer {
        let task = match one.after {
            After::Never => return Answer::No,
            After::Alone => return self.is_alone(key, fact),
            After::SameTask => key.task,
            _ => one.task,
        };
        let mut all = self.mirror.of_array(one.id).filter(|other| match (task, &other.slot) {
            (None, _) => true,
            (Some(task), Slot::Task(own)) => task == *own,
            (Some(task), Slot::Folded(ranges)) => ranges.iter().any(|range| (range.0..=range.1).contains(&task)),
            (Some(_), Slot::Single) => false,
        });
        if all.clone().next().is_none() {
            // Of jobs that are not listed any more the cluster itself has to tell.
            return Answer::Perhaps;
        }
        let did = |other: &JobFact| match (one.after, other.state) {
            (After::Start, State::Running | State::Suspended) => true,
            (After::Start, State::Ended(_)) => !other.places.is_empty(),
            (After::End, State::Ended(_)) => true,
            (After::Success | After::SameTask, State::Ended(Ending::Completed)) => true,
            (After::Failure, State::Ended(ending)) => ending != Ending::Completed,
            _ => false,
        };
        if !all.clone().all(did) {
            return Answer::No;
        }
        if one.delay == 0 {
            return Answer::Yes;
        }
        let last = all.try_fold(i64::MIN, |last, other| Some(last.max(other.start?)));
        match last.map(|last| Time(last.saturating_add(one.delay).saturating_add(self.offset))) {
            Some(time) if time > self.stamp.time() => Answer::Later(time),
            Some(_) => Answer::Yes,
            None => Answer::Perhaps,
        }
    }

    /// Returns whether no other job of the user can keep back one that has to be alone: none runs,
    /// and none with a lower number waits. Names are not known here, so that others only may.
    fn is_alone(&self, key: Key, fact: &JobFact) -> Answer {
        let stands = |other: &JobFact| match other.state {
            State::Ended(_) => false,
            State::Pending => other.id < key.id,
            State::Running | State::Suspended => other.id != key.id,
        };
        let others = self.mirror.records().filter(|other| other.user == fact.user);
        if others.into_iter().any(stands) { Answer::Perhaps } else { Answer::Yes }
    }
}

/// State of a condition, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Answer {
    Yes,
    /// Only the cluster knows.
    Perhaps,
    /// Not before this time.
    Later(Time),
    No,
}
