//! Logs: the Standard Workload Format, read and written, cleaned with an audit, transformed.
//!
//! - [`swf`]: records and headers, streaming reader and writer.
//! - [`clean`]: from records to a workload; every record dropped, changed or guessed is counted by
//!   a named rule.
//! - [`describe`]: what a person wants to know of a workload.
//! - [`transform`]: other loads, pieces of a log, months.
//! - [`transient`]: how a workload changes from batch to batch.
//! - [`batsim`]: workloads and schedules of Batsim.
//! - [`elastic`]: workloads of ElastiSim and Batsim whose jobs have several sizes.
//! - [`load_log`]: all of it in one step.
//! - [`outages`], [`supply`], [`circumstances`]: tables of processors that were out, of the amounts
//!   of other resources over time, and of what is known of jobs beyond a log.

pub mod batsim;
pub mod circumstances;
pub mod clean;
pub mod describe;
pub mod elastic;
mod error;
mod foreign;
mod load;
pub mod nodes;
pub mod outages;
mod peek;
pub mod power;
pub mod recorded;
mod records;
pub mod resources;
pub mod series;
pub mod shapes;
pub mod source;
pub mod supply;
pub mod swf;
mod table;
pub mod transform;
pub mod transient;

pub use error::{LogError, LogPlace};
pub use foreign::Foreign;
pub use load::{LoadedLog, file_title, load_from, load_log};
pub use records::{Records, read_records};
pub use table::TableError;
