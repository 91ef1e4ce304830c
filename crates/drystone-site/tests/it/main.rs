//! The importer, from dumps to workloads, and the replay held against them.

mod bad;
mod checks;
mod common;
mod folder;
mod generated;
mod kinds;
mod machine;
mod neighbours;
mod nodes;
mod periods;
mod random;
mod replayed;
mod samples;
mod torture;
