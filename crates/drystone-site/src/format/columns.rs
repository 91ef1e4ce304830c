//! The columns of `jobs.parquet`.

use crate::jobs::{JobMarks, LimitFrom, SiteJobFate};
use crate::site_job::SiteJob;
use crate::text::Flags;

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Number,
    Text,
}

/// A column: its name, and what it holds.
pub(super) struct SiteColumn {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    pub(super) text: Option<Text>,
}

/// No number: none that is one is so small.
pub(super) const NO_NUMBER: i64 = i64::MIN;

fn number_cell(value: Option<impl TryInto<i64>>) -> i64 {
    value.and_then(|v| v.try_into().ok()).unwrap_or(NO_NUMBER)
}

/// Kilobytes of memory; all of each node is -1.
fn memory_cell(kilobytes: Option<u64>) -> i64 {
    if kilobytes == Some(u64::MAX) { -1 } else { number_cell(kilobytes) }
}

/// The columns of texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Text {
    User,
    Account,
    Group,
    Partition,
    Qos,
    Reservation,
    Constraints,
    Asks,
    LimitFrom,
    State,
    Kind,
    Canceller,
    Reason,
    Pool,
    NodeList,
    JobMarks,
    Swf,
}

macro_rules! columns {
    ($job:ident, $($name:literal $holds:ident $([$get:expr])? $(($text:ident))?;)*) => {
        pub(super) const COLUMNS: &[SiteColumn] = &[$(
            SiteColumn { name: $name, holds: Holds::$holds, text: columns!(@text $($text)?) },
        )*];

        /// Each number of a job, in the order of their columns; [`NO_NUMBER`] for none.
        #[inline]
        pub(super) fn each_number($job: &SiteJob<'_>, mut put: impl FnMut(i64)) {
            $($(put($get);)?)*
        }
    };
    (@text $text:ident) => { Some(Text::$text) };
    (@text) => { None };
}

columns! {
    job,
    "job" Number [number_cell(Some(job.number))];
    "id" Number [number_cell(job.id)];
    "of" Number [number_cell(job.of)];
    "task" Number [number_cell(job.task)];
    "component" Number [number_cell(job.component)];
    "attempt" Number [number_cell(Some(job.attempt))];
    "user" Text (User);
    "account" Text (Account);
    "group" Text (Group);
    "uid" Number [number_cell(job.uid)];
    "partition" Text (Partition);
    "qos" Text (Qos);
    "reservation" Text (Reservation);
    "constraints" Text (Constraints);
    "asks" Text (Asks);
    "submit" Number [number_cell(Some(job.submit))];
    "eligible" Number [number_cell(job.eligible)];
    "arrive" Number [number_cell(Some(job.arrive))];
    "start" Number [number_cell(job.start)];
    "end" Number [number_cell(job.end)];
    "run" Number [number_cell(job.run)];
    "suspended" Number [number_cell(job.suspended)];
    "imputed_run" Number [number_cell(job.imputed_run)];
    "limit" Number [number_cell(Some(job.limit))];
    "limit_from" Text (LimitFrom);
    "state" Text (State);
    "kind" Text (Kind);
    "exit_code" Number [number_cell(job.exit.map(|exit| exit.0))];
    "exit_signal" Number [number_cell(job.exit.map(|exit| exit.1))];
    "canceller" Text (Canceller);
    "reason" Text (Reason);
    "flags" Number [number_cell(Some(job.flags.0))];
    "cpus" Number [number_cell(job.cpus)];
    "nodes" Number [number_cell(job.nodes)];
    "gpus" Number [number_cell(job.gpus)];
    "memory_kb" Number [memory_cell(job.memory_kb)];
    "asked_cpus" Number [number_cell(job.asked_cpus)];
    "asked_nodes" Number [number_cell(job.asked_nodes)];
    "pool" Text (Pool);
    "units" Number [number_cell(Some(job.units))];
    "node_list" Text (NodeList);
    "priority" Number [number_cell(job.priority)];
    "name" Number [number_cell(Some(job.name).filter(|&n| n > 0))];
    "used_cpu_ms" Number [number_cell(job.used_cpu_ms)];
    "used_memory_kb" Number [number_cell(job.used_memory_kb)];
    "used_gpu_hundredths" Number [number_cell(job.used_gpu_hundredths)];
    "marks" Text (JobMarks);
    "swf" Text (Swf);
}

pub(super) fn column_place(name: &str) -> usize {
    COLUMNS.iter().position(|column| column.name == name).unwrap_or(COLUMNS.len())
}

pub(super) fn parse_kind(word: &str) -> Option<SiteJobFate> {
    SiteJobFate::ALL.iter().copied().find(|kind| kind.name() == word)
}

pub(super) fn limit_from(word: &str) -> Option<LimitFrom> {
    LimitFrom::ALL.iter().copied().find(|from| from.name() == word)
}

pub(super) fn parse_marks(words: &str) -> JobMarks {
    JobMarks::of_words(words)
}

pub(super) fn flags_from(number: i64) -> Flags {
    Flags(u8::try_from(number).unwrap_or(0))
}
