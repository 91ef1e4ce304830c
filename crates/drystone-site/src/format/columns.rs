//! The columns of `jobs.parquet`.

use crate::jobs::{Kind, LimitFrom, Marks};
use crate::site::SiteJob;
use crate::text::Flags;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Number,
    Text,
}

/// Where a job has what a column holds.
#[derive(Clone, Copy)]
pub(super) enum Get {
    Number(fn(&SiteJob<'_>) -> Option<i64>),
    Text(Text),
}

/// A column: its name, what it holds, and where a job has it.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    pub(super) get: Get,
}

fn number(value: Option<impl TryInto<i64>>) -> Option<i64> {
    value.and_then(|v| v.try_into().ok())
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
    LimitFrom,
    State,
    Kind,
    Canceller,
    Reason,
    Pool,
    NodeList,
    Marks,
    Swf,
}

macro_rules! column {
    ($name:literal Number |$job:ident| $get:expr) => {
        Column {
            name: $name,
            holds: Holds::Number,
            get: Get::Number({
                fn get($job: &SiteJob<'_>) -> Option<i64> {
                    $get
                }
                get
            }),
        }
    };
    ($name:literal Text $text:ident) => {
        Column { name: $name, holds: Holds::Text, get: Get::Text(Text::$text) }
    };
}

/// Every column, in order.
pub(super) const COLUMNS: &[Column] = &[
    column!("job" Number |job| number(Some(job.number))),
    column!("id" Number |job| number(job.id)),
    column!("of" Number |job| number(job.of)),
    column!("task" Number |job| number(job.task)),
    column!("component" Number |job| number(job.component)),
    column!("attempt" Number |job| number(Some(job.attempt))),
    column!("user" Text User),
    column!("account" Text Account),
    column!("group" Text Group),
    column!("uid" Number |job| number(job.uid)),
    column!("partition" Text Partition),
    column!("qos" Text Qos),
    column!("reservation" Text Reservation),
    column!("constraints" Text Constraints),
    column!("submit" Number |job| number(Some(job.submit))),
    column!("eligible" Number |job| number(job.eligible)),
    column!("arrive" Number |job| number(Some(job.arrive))),
    column!("start" Number |job| number(job.start)),
    column!("end" Number |job| number(job.end)),
    column!("run" Number |job| number(job.run)),
    column!("suspended" Number |job| number(job.suspended)),
    column!("imputed_run" Number |job| number(job.imputed_run)),
    column!("limit" Number |job| number(Some(job.limit))),
    column!("limit_from" Text LimitFrom),
    column!("state" Text State),
    column!("kind" Text Kind),
    column!("exit_code" Number |job| number(job.exit.map(|exit| exit.0))),
    column!("exit_signal" Number |job| number(job.exit.map(|exit| exit.1))),
    column!("canceller" Text Canceller),
    column!("reason" Text Reason),
    column!("flags" Number |job| number(Some(job.flags.0))),
    column!("cpus" Number |job| number(job.cpus)),
    column!("nodes" Number |job| number(job.nodes)),
    column!("gpus" Number |job| number(job.gpus)),
    column!("memory_kb" Number |job| job.memory_kb.and_then(|kb| if kb == u64::MAX { Some(-1) } else { kb.try_into().ok() })),
    column!("asked_cpus" Number |job| number(job.asked_cpus)),
    column!("asked_nodes" Number |job| number(job.asked_nodes)),
    column!("pool" Text Pool),
    column!("units" Number |job| number(Some(job.units))),
    column!("node_list" Text NodeList),
    column!("priority" Number |job| number(job.priority)),
    column!("name" Number |job| number(Some(job.name).filter(|&n| n > 0))),
    column!("marks" Text Marks),
    column!("swf" Text Swf),
];

/// The place of a column.
pub(super) fn place(name: &str) -> usize {
    COLUMNS.iter().position(|column| column.name == name).unwrap_or(COLUMNS.len())
}

/// A kind by its word.
pub(super) fn kind(word: &str) -> Option<Kind> {
    Kind::ALL.iter().copied().find(|kind| kind.name() == word)
}

/// Where a limit is from, by its word.
pub(super) fn limit_from(word: &str) -> Option<LimitFrom> {
    LimitFrom::ALL.iter().copied().find(|from| from.name() == word)
}

/// Marks by their words.
pub(super) fn marks(words: &str) -> Marks {
    Marks::of_words(words)
}

/// Flags by their number.
pub(super) fn flags(number: i64) -> Flags {
    Flags(u8::try_from(number).unwrap_or(0))
}
