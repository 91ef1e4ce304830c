//! The texts of accounting: numbers, spans, states, sets of tasks, resources, memory.
//!
//! Everything here takes bytes and answers a value or nothing: what is wrong is counted by the
//! reader that asked.

mod asks;
mod id;
mod message;
mod number;
mod resources;
mod state;
mod tasks;
mod time;

pub(crate) use asks::{AskColumns, GPU_NUMBER, format_asks};
pub(crate) use id::{Id, IdPart, JobLabel};
pub(crate) use message::{is_message, is_remark};
pub(crate) use number::{
    RecordLimit, is_missing, limit_minutes, limit_span, minutes_of, parse_decimal, parse_digits, parse_kilobytes,
    parse_megabytes, parse_milliseconds, parse_span, parse_whole, split_leading,
};
pub(crate) use resources::{Amount, MemoryRequest, UNKNOWN, memory_request, parse_tres};
pub use state::{Flags, RecordState};
pub(crate) use state::{split_state, state_word};
pub(crate) use tasks::{TaskSet, parse_tasks};
pub(crate) use time::{NoTime, TimeForm, When, dated_command, guess_forms, likely_forms};
