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

pub(crate) use asks::{AskColumns, GPU_NUMBER, asks};
pub(crate) use id::{Id, IdPart, JobLabel};
pub(crate) use message::{is_message, is_remark};
pub(crate) use number::{
    RecordLimit, decimal, digits, is_missing, kilobytes, leading, limit_minutes, limit_span, megabytes, milliseconds,
    minutes_of, span, whole,
};
pub(crate) use resources::{Amount, MemoryRequest, UNKNOWN, memory_request, tres};
pub use state::{Flags, RecordState};
pub(crate) use state::{state, state_word};
pub(crate) use tasks::{TaskSet, tasks};
pub(crate) use time::{NoTime, TimeForm, When, dated_command, guess_forms, likely_forms};
