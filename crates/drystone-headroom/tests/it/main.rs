//! Floors and schedules found, held against what is known otherwise.

mod optimum;
mod oracle;
mod policies;
mod search;
