//! State of a job, or the way in which it ended.

use serde::{Deserialize, Serialize};

macro_rules! states {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $code:literal;)*) => {
        /// State of a job, or the way in which it ended, in Slurm's words.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum RecordState {
            $($(#[$doc])* $variant,)*
            /// A word that is none of these, or none at all.
            #[default]
            Other,
        }

        impl RecordState {
            /// Every state that has a word.
            pub const ALL: &'static [RecordState] = &[$(RecordState::$variant,)*];

            /// Its word; empty for what is none.
            pub fn word(self) -> &'static str {
                match self { $(RecordState::$variant => $word,)* RecordState::Other => "" }
            }

            /// The state of a word or a short code, without regard to case.
            pub fn find_state(word: &str) -> Option<RecordState> {
                $(if word.eq_ignore_ascii_case($word) || word.eq_ignore_ascii_case($code) { return Some(RecordState::$variant); })*
                None
            }
        }
    };
}

states! {
    /// It ended by itself with success.
    Completed = "COMPLETED", "CD";
    /// It ended by itself without.
    Failed = "FAILED", "F";
    /// It reached its limit.
    Timeout = "TIMEOUT", "TO";
    /// A user or an operator ended it, before its start or after.
    Cancelled = "CANCELLED", "CA";
    /// It needed more memory than it had.
    OutOfMemory = "OUT_OF_MEMORY", "OOM";
    /// A node failed under it.
    NodeFail = "NODE_FAIL", "NF";
    /// Another job took its place.
    Preempted = "PREEMPTED", "PR";
    /// A node did not boot for it.
    BootFail = "BOOT_FAIL", "BF";
    /// It could not have ended before its deadline.
    Deadline = "DEADLINE", "DL";
    /// It went back to the queue.
    Requeued = "REQUEUED", "RQ";
    /// It is about to change its size.
    Resizing = "RESIZING", "RS";
    /// A sibling of a federation started instead.
    Revoked = "REVOKED", "RV";
    Suspended = "SUSPENDED", "S";
    /// It runs.
    Running = "RUNNING", "R";
    /// It waits.
    Pending = "PENDING", "PD";
    /// Its node cleans up behind it.
    Completing = "COMPLETING", "CG";
    /// Its nodes boot for it.
    Configuring = "CONFIGURING", "CF";
}

impl RecordState {
    /// Returns whether it has ended for good.
    pub fn is_over(self) -> bool {
        !matches!(self, RecordState::Pending | RecordState::Configuring) && !self.is_on()
    }

    /// Returns whether it holds its processors.
    pub fn is_on(self) -> bool {
        matches!(self, RecordState::Running | RecordState::Suspended | RecordState::Resizing | RecordState::Completing)
    }
}

/// Returns the first word of a state, and the user who cancelled the job, from `CANCELLED by 1234`.
#[inline]
pub(crate) fn split_state(text: &[u8]) -> (RecordState, Option<&[u8]>) {
    // Nearly all are these.
    match text {
        b"COMPLETED" => return (RecordState::Completed, None),
        b"FAILED" => return (RecordState::Failed, None),
        b"TIMEOUT" => return (RecordState::Timeout, None),
        _ => {}
    }
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let by = rest.trim_ascii().strip_prefix(b"by ").map(<[u8]>::trim_ascii).filter(|by| !by.is_empty());
    (state_word(word), by)
}

pub(crate) fn state_word(word: &[u8]) -> RecordState {
    let Ok(word) = std::str::from_utf8(word) else { return RecordState::Other };
    let elsewhere =
        || ELSEWHERE.iter().find(|(words, _)| words.iter().any(|candidate| candidate.eq_ignore_ascii_case(word)));
    RecordState::find_state(word).or_else(|| elsewhere().map(|(_, state)| *state)).unwrap_or_default()
}

/// Words of other systems: HTCondor, OAR, Flux, LSF, Kubernetes, and the tables of centres.
const ELSEWHERE: [(&[&str], RecordState); 8] = [
    (&["done", "success", "succeeded", "finished", "terminated", "complete", "pass", "passed"], RecordState::Completed),
    (&["error", "exit", "exited", "abort", "aborted", "fail", "zombi"], RecordState::Failed),
    // The first as Americans write it.
    (&["canceled", "removed", "deleted", "killed", "interrupted"], RecordState::Cancelled),
    (&["timedout", "timed_out", "time_out"], RecordState::Timeout),
    (&["oom", "outofmemory", "oom_killed"], RecordState::OutOfMemory),
    (&["waiting", "queued", "idle", "ready", "pend", "held", "hold", "psusp"], RecordState::Pending),
    (&["run", "unkwn"], RecordState::Running),
    (&["ususp", "ssusp"], RecordState::Suspended),
];

/// Slurm's notes on the start of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Flags(pub u8);

impl Flags {
    /// The main scheduler started it.
    pub const MAIN: Flags = Flags(1);
    /// Backfill started it.
    pub const BACKFILL: Flags = Flags(2);
    /// It was started at its submission.
    pub const SUBMIT: Flags = Flags(4);
    /// The node said that it began.
    pub const RECEIVED: Flags = Flags(8);

    pub fn union_with(self, flags: Flags) -> Flags {
        Flags(self.0 | flags.0)
    }

    pub fn has_all(self, flags: Flags) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// The flag of one word, as text or JSON writes it; none for words that say something else.
    pub(crate) fn of_word(word: &[u8]) -> Flags {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if is("SchedMain") || is("STARTED_ON_SCHEDULE") => Flags::MAIN,
            () if is("SchedBackfill") || is("STARTED_ON_BACKFILL") => Flags::BACKFILL,
            () if is("SchedSubmit") || is("STARTED_ON_SUBMIT") => Flags::SUBMIT,
            // 22.05 writes it so.
            () if is("StartReceived") || is("StartRecieved") || is("START_RECEIVED") => Flags::RECEIVED,
            () => Flags::default(),
        }
    }

    pub(crate) fn of_list(text: &[u8]) -> Flags {
        let words = text.split(|&b| b == b',' || b == b'|').map(<[u8]>::trim_ascii);
        words.fold(Flags::default(), |flags, word| flags.union_with(Flags::of_word(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_words_codes_and_a_canceller() {
        assert_eq!(split_state(b"CANCELLED by 380693"), (RecordState::Cancelled, Some(&b"380693"[..])));
        assert_eq!(split_state(b"CA"), (RecordState::Cancelled, None));
        assert_eq!(split_state(b"out_of_memory"), (RecordState::OutOfMemory, None));
        assert_eq!(split_state(b"Canceled"), (RecordState::Cancelled, None));
        assert_eq!(split_state(b"STAGE_OUT"), (RecordState::Other, None));
        assert_eq!(split_state(b""), (RecordState::Other, None));
        assert_eq!(split_state(b"CANCELLED by "), (RecordState::Cancelled, None));
    }

    #[test]
    fn flags_are_read_from_both_spellings() {
        assert_eq!(Flags::of_list(b"SchedBackfill,StartRecieved"), Flags::BACKFILL.union_with(Flags::RECEIVED));
        assert_eq!(Flags::of_word(b"STARTED_ON_SCHEDULE"), Flags::MAIN);
        assert_eq!(Flags::of_list(b"Whatever"), Flags::default());
    }
}
