//! Tests of the whole crate in one program.

mod conf;
mod heard;
mod news;
mod policy;
mod recorded;
mod resources;
mod shared;
mod site;
