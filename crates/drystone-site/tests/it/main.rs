//! The importer, from dumps to workloads, and the replay held against them.

mod bad;
mod checks;
mod common;
mod every_policy;
mod folder;
mod generated;
mod kinds;
mod listings;
mod machine;
mod named_nodes;
mod neighbours;
mod nodes;
mod periods;
mod published;
mod queued;
mod random;
mod random_site;
mod refusals;
mod replayed;
mod samples;
mod shares;
mod spellings;
mod tables;
mod tables_cases;
mod torture;
mod waited;
