//! Power of a machine over time: a cap that changes, and the draw of idle processors.

use crate::model::{Procs, Span, Time};
use serde::{Deserialize, Serialize};

/// A cap on power.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PowerCap {
    /// Beginning; it holds until the next.
    pub from: Time,
    /// Watts.
    pub watts: u64,
    /// Time from which on the scheduler knows of it.
    pub announced: Time,
}

/// Power of a machine over time.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PowerSupply {
    /// Caps, ascending by their beginnings; without a cap power is unlimited.
    pub caps: Vec<PowerCap>,
    /// Watts of each processor that is up, whether a job holds it or not.
    pub idle: u64,
}

/// More watts than any machine draws.
pub const UNLIMITED: i64 = i64::MAX / 4;

impl PowerSupply {
    /// Returns the cap at a time as it is known at `now`; `None` where there is none.
    #[must_use]
    pub fn cap_at(&self, time: Time, now: Time) -> Option<u64> {
        let is_known = |cap: &&PowerCap| cap.from <= time && cap.announced <= now;
        self.caps.iter().rfind(is_known).map(|cap| cap.watts)
    }

    /// Returns the watts that jobs may draw at a time, as it is known at `now`, while so many
    /// processors are up. Below 0 where idle processors draw more than the cap.
    #[must_use]
    pub fn for_jobs(&self, time: Time, now: Time, up: Procs) -> i64 {
        match self.cap_at(time, now) {
            None => UNLIMITED,
            Some(watts) => (watts.min(UNLIMITED as u64) as i64).saturating_sub_unsigned(self.idle * u64::from(up)),
        }
    }

    /// The times after `now` at which a known cap begins.
    pub fn cap_changes(&self, now: Time) -> impl Iterator<Item = Time> + '_ {
        self.caps.iter().filter(move |cap| cap.from > now && cap.announced <= now).map(|cap| cap.from)
    }

    /// Returns the same power, earlier by so much.
    #[must_use]
    pub(crate) fn shifted_earlier(&self, by: Span) -> PowerSupply {
        let moved_cap = |cap: &PowerCap| PowerCap {
            from: cap.from - by,
            announced: if cap.announced == Time::MIN { Time::MIN } else { cap.announced - by },
            ..*cap
        };
        PowerSupply { caps: self.caps.iter().map(moved_cap).collect(), idle: self.idle }
    }

    /// Returns the next time at which a cap begins or is announced; [`Time::MAX`] for never.
    #[must_use]
    pub fn next_change(&self, now: Time) -> Time {
        let times = self.caps.iter().flat_map(|cap| [cap.from, cap.announced]);
        times.filter(|time| *time > now).fold(Time::MAX, Time::min)
    }
}
