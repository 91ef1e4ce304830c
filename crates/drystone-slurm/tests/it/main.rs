//! Tests of the whole crate in one program.

mod conf;
mod heard;
mod named_nodes;
mod news;
mod partitions;
mod policy;
mod recorded;
mod resources;
mod shared;
mod site;
