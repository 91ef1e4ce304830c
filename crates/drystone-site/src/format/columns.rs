//! The columns of `jobs.parquet`.

use crate::jobs::{Kind, LimitFrom, Marks};
use crate::site::SiteJob;
use crate::text::Flags;
use std::borrow::Cow;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holds {
    Number,
    Text,
}

/// A value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Value<'a> {
    None,
    Number(i64),
    Text(Cow<'a, str>),
}

/// A column: its name, what it holds, and where a job has it.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    pub(super) get: for<'a> fn(&SiteJob<'a>, &'a [String]) -> Value<'a>,
}

fn number(value: Option<impl TryInto<i64>>) -> Value<'static> {
    value.and_then(|v| v.try_into().ok()).map_or(Value::None, Value::Number)
}

fn text<'a>(value: &Cow<'a, str>) -> Value<'a> {
    if value.is_empty() { Value::None } else { Value::Text(value.clone()) }
}

fn word(value: &'static str) -> Value<'static> {
    Value::Text(Cow::Borrowed(value))
}

macro_rules! columns {
    ($($name:literal $holds:ident |$job:ident, $pools:ident| $get:expr;)*) => {
        /// Every column, in order.
        pub(super) const COLUMNS: &[Column] = &[$(
            Column { name: $name, holds: Holds::$holds, get: { fn get<'a>($job: &SiteJob<'a>, $pools: &'a [String]) -> Value<'a> { let _ = $pools; $get } get } },
        )*];
    };
}

columns! {
    "job" Number |job, pools| number(Some(job.number));
    "id" Number |job, pools| number(job.id);
    "of" Number |job, pools| number(job.of);
    "task" Number |job, pools| number(job.task);
    "component" Number |job, pools| number(job.component);
    "attempt" Number |job, pools| number(Some(job.attempt));
    "user" Text |job, pools| text(&job.user);
    "account" Text |job, pools| text(&job.account);
    "group" Text |job, pools| text(&job.group);
    "uid" Number |job, pools| number(job.uid);
    "partition" Text |job, pools| text(&job.partition);
    "qos" Text |job, pools| text(&job.qos);
    "reservation" Text |job, pools| text(&job.reservation);
    "constraints" Text |job, pools| text(&job.constraints);
    "submit" Number |job, pools| number(Some(job.submit));
    "eligible" Number |job, pools| number(job.eligible);
    "arrive" Number |job, pools| number(Some(job.arrive));
    "start" Number |job, pools| number(job.start);
    "end" Number |job, pools| number(job.end);
    "run" Number |job, pools| number(job.run);
    "suspended" Number |job, pools| number(job.suspended);
    "imputed_run" Number |job, pools| number(job.imputed_run);
    "limit" Number |job, pools| number(Some(job.limit));
    "limit_from" Text |job, pools| word(job.limit_from.name());
    "state" Text |job, pools| text(&job.state);
    "kind" Text |job, pools| word(job.kind.name());
    "exit_code" Number |job, pools| number(job.exit.map(|exit| exit.0));
    "exit_signal" Number |job, pools| number(job.exit.map(|exit| exit.1));
    "canceller" Text |job, pools| text(&job.canceller);
    "reason" Text |job, pools| text(&job.reason);
    "flags" Number |job, pools| number(Some(job.flags.0));
    "cpus" Number |job, pools| number(job.cpus);
    "nodes" Number |job, pools| number(job.nodes);
    "gpus" Number |job, pools| number(job.gpus);
    "memory_kb" Number |job, pools| match job.memory_kb { Some(u64::MAX) => Value::Number(-1), kb => number(kb) };
    "asked_cpus" Number |job, pools| number(job.asked_cpus);
    "asked_nodes" Number |job, pools| number(job.asked_nodes);
    "pool" Text |job, pools| pools.get(usize::from(job.pool)).map_or(Value::None, |name| Value::Text(Cow::Borrowed(name.as_str())));
    "units" Number |job, pools| number(Some(job.units));
    "node_list" Text |job, pools| text(&job.node_list);
    "priority" Number |job, pools| number(job.priority);
    "name" Number |job, pools| number(Some(job.name).filter(|&n| n > 0));
    "marks" Text |job, pools| Value::Text(Cow::Owned(job.marks.words()));
    "swf" Text |job, pools| text(&job.swf);
}

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
