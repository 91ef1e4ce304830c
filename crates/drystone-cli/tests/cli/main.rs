//! The program as users meet it: what it prints, writes and returns.
#![allow(clippy::disallowed_methods, reason = "tests wait for processes")]

mod accounting;
mod advise;
mod browser;
mod builds;
mod cluster;
mod common;
mod compare;
mod decisions;
mod documents;
mod evolve;
mod explain;
mod faults;
mod golden;
mod headroom;
mod help;
mod inputs;
mod library;
mod machine;
mod outputs;
mod over_time;
mod overviews;
mod predict;
mod readers;
mod report;
mod reproduce;
mod resources;
mod run;
mod slurm;
mod suspension;
mod sweep;
mod terminal;
mod unfit;
mod whatif;
mod when;
mod workload;
