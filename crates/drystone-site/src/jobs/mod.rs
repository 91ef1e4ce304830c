//! From rows to jobs: which rows are the same job, what became of it, when it arrived, how long it
//! may run.

mod attempts;
mod causes;
mod classify;
mod het;
mod limits;
mod runs;
mod throttle;

pub(crate) use attempts::{FoundJobs, find_attempts};
pub(crate) use causes::{find_cause_notes, mark_causes};
pub(crate) use het::join_components;
pub(crate) use limits::{DefaultLimits, set_limits};
pub(crate) use runs::impute_runs;
pub(crate) use throttle::throttle_arrays;

use crate::rows::{AccountingRow, AccountingTable};
use crate::rules::{Example, ImportRule, RuleTally};
use crate::text::{Amount, UNKNOWN};
use serde::{Deserialize, Serialize};

drystone::word_enum! {
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SiteJobFate {
        #[default]
        Ran = "ran",
        /// It never ran and left.
        Withdrawn = "withdrawn",
        /// It waited when the records end.
        Waiting = "waiting",
        /// It ran when the records end.
        Running = "running",
    }
}

impl SiteJobFate {
    pub fn has_start(self) -> bool {
        matches!(self, SiteJobFate::Ran | SiteJobFate::Running)
    }
}

drystone::word_enum! {
    /// Source of a job's limit.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LimitFrom {
        #[default]
        Record = "record",
        PartitionDefault = "partition-default",
        /// The partition's longest.
        PartitionMax = "partition-max",
        /// The longest limit of any job of the partition or, without one, of all.
        Longest = "longest",
        /// Nothing: a year.
        Year = "year",
    }
}

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident = $bit:expr, $word:literal;)*) => {
        /// Special properties of a job.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
        pub struct JobMarks(pub u32);

        impl JobMarks {
            $($(#[$doc])* pub const $name: JobMarks = JobMarks(1 << $bit);)*

            /// Each mark with its word.
            pub const ALL: &'static [(JobMarks, &'static str)] = &[$((JobMarks::$name, $word),)*];
        }
    };
}

marks! {
    /// One of the tasks of an array.
    ARRAY = 0, "array";
    /// Waited for a slot of its array.
    THROTTLED = 1, "throttled";
    /// Waited, by the last reason recorded, for more than a place on the machine.
    CAUSE = 2, "unmodelled";
    /// Ran within a reservation.
    RESERVED = 3, "reserved";
    /// A later attempt of a job that was requeued.
    REQUEUED = 4, "requeued";
    /// Several attempts made one.
    MERGED = 5, "merged";
    /// Changed its size.
    RESIZED = 6, "resized";
    /// Made of components.
    HET = 7, "het";
    /// A component that stays apart.
    HET_SPLIT = 8, "het-split";
    /// Ran beyond its limit.
    OVER = 9, "over";
    /// Was suspended.
    SUSPENDED = 10, "suspended";
    /// Its size is that of its nodes.
    SIZE = 11, "size";
    /// Its limit was imputed.
    LIMIT = 12, "limit";
    /// Its run time was imputed.
    RUN = 13, "run";
    /// Holds more than it asked for.
    GRANTED = 14, "granted";
    /// Holds whole nodes.
    EXCLUSIVE = 15, "exclusive";
    /// Its submission is unknown, and its start stands for it.
    NO_SUBMIT = 16, "no-submit";
}

impl JobMarks {
    pub fn has_mark(self, mark: JobMarks) -> bool {
        self.0 & mark.0 != 0
    }

    pub fn set_mark(&mut self, mark: JobMarks) {
        self.0 |= mark.0;
    }

    /// Their words, parted by blanks.
    pub fn format_words(self) -> String {
        let words = JobMarks::ALL.iter().filter(|(mark, _)| self.has_mark(*mark)).map(|(_, word)| *word);
        words.collect::<Vec<_>>().join(" ")
    }

    pub fn of_words(words: &str) -> JobMarks {
        let mark_bits = |word: &str| JobMarks::ALL.iter().find(|(_, name)| *name == word).map_or(0, |(mark, _)| mark.0);
        JobMarks(words.split_whitespace().map(mark_bits).fold(0, |marks, mark| marks | mark))
    }
}

/// No run time, no start: `u32::MAX`, where 0 is a value.
pub(crate) const NOTHING: u32 = u32::MAX;

/// A job, as small as possible: there may be ten million. Times are seconds since 1970, 0 for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundJob {
    /// The row that counts.
    pub(crate) row: u32,
    /// Its task; [`NOTHING`].
    pub(crate) task: u32,
    pub(crate) submit: u32,
    pub(crate) eligible: u32,
    pub(crate) arrive: u32,
    pub(crate) start: u32,
    /// End, or when it left the queue.
    pub(crate) end: u32,
    /// Seconds that it ran; [`NOTHING`].
    pub(crate) run: u32,
    pub(crate) limit: u32,
    /// Its size in its pool.
    pub(crate) units: u32,
    /// Number of its amounts.
    pub(crate) amount: u32,
    pub(crate) marks: JobMarks,
    pub(crate) pool: u16,
    pub(crate) attempt: u16,
    pub(crate) kind: SiteJobFate,
    pub(crate) limit_from: LimitFrom,
}

impl FoundJob {
    /// Processors times seconds that it used.
    pub(crate) fn core_seconds(&self, amount: &Amount) -> u64 {
        let cpus = if amount.cpus == UNKNOWN { 0 } else { amount.cpus };
        let run = if self.run == NOTHING { 0 } else { self.run };
        u64::from(cpus) * u64::from(run)
    }

    /// Processors times seconds of a job that still runs, until a moment.
    pub(crate) fn core_seconds_until(&self, until: u32, amount: &Amount) -> u64 {
        FoundJob { run: until.saturating_sub(self.start), ..*self }.core_seconds(amount)
    }

    /// Seconds that it holds its processors.
    pub(crate) fn occupied_seconds(&self) -> u32 {
        if self.kind.has_start() { self.end.saturating_sub(self.start) } else { 0 }
    }
}

pub(crate) fn count_rule(
    tally: &mut RuleTally,
    table: &AccountingTable,
    rule: ImportRule,
    row: &AccountingRow,
    core_seconds: u64,
) {
    tally.count_job(rule, core_seconds, || rule_example(table, row));
}

pub(crate) fn rule_example(table: &AccountingTable, row: &AccountingRow) -> Example {
    let user_name = table.names.text_of(table.owner_of(row).user).into_owned();
    let at = table.names.text_of(table.place_of(row).partition).into_owned();
    let word = table.names.text_of(table.note_of(row).word);
    let state = if row.state == crate::text::RecordState::Other { word.as_ref() } else { row.state.word() };
    let mut text = format_name(row);
    for (word, name) in [("of", user_name), ("in", at)].into_iter().filter(|(_, name)| !name.is_empty()) {
        text.push_str(&format!(" {word} {name}"));
    }
    let text = format!("{text}, {}", if state.is_empty() { "without a state" } else { state });
    Example::new(table.files.format_place(row.place()), text.as_bytes())
}

/// A row's name as Slurm writes it.
pub(crate) fn format_name(row: &AccountingRow) -> String {
    use crate::rows::{NONE, RowPart};
    match row.part() {
        RowPart::Task(task) => format!("{}_{task}", row.of),
        RowPart::Tasks(_) => format!("{}_[…]", row.of),
        RowPart::Component(offset) => format!("{}+{offset}", row.of),
        RowPart::Whole if row.id == NONE => "?".to_string(),
        RowPart::Whole => row.id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_small() {
        assert_eq!(size_of::<FoundJob>(), 56);
    }

    #[test]
    fn marks_are_words() {
        let mut marks = JobMarks::default();
        marks.set_mark(JobMarks::OVER);
        marks.set_mark(JobMarks::ARRAY);
        assert_eq!(marks.format_words(), "array over");
        assert_eq!(JobMarks::of_words("array over"), marks);
        for (at, (mark, _)) in JobMarks::ALL.iter().enumerate() {
            assert_eq!(mark.0, 1 << at);
        }
    }
}
