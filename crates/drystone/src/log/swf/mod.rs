//! The Standard Workload Format, version 2.2: records, header, streaming reader and writer.

mod decimal;
mod header;
mod parse;
mod quick;
mod reader;
mod record;
mod writer;

pub use decimal::{MAX_DECIMALS, SwfDecimal};
pub use header::{HeaderComment, Preemption, SwfHeader};
pub use parse::Malformed;
pub use reader::SwfReader;
pub use record::{FIELDS, RecordField, SwfRecord};
pub use writer::SwfWriter;
