//! Tests of the whole crate in one program.

mod conf;
mod shared;
