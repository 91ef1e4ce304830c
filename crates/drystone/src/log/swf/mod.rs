//! The Standard Workload Format, version 2.2: records, header, streaming reader and writer.

mod decimal;
mod header;
mod parse;
mod quick;
mod reader;
mod record;
mod writer;

pub use decimal::{Decimal, MAX_DECIMALS};
pub use header::{Comment, Header, Preemption};
pub use parse::Malformed;
pub use reader::Reader;
pub use record::{FIELDS, Field, Record};
pub use writer::Writer;
