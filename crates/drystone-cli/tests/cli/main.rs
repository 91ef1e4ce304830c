//! The program as users meet it: what it prints, writes and returns.

mod common;
mod compare;
mod explain;
mod golden;
mod help;
mod inputs;
mod outputs;
mod over_time;
mod predict;
mod report;
mod reproduce;
mod run;
mod suspension;
mod sweep;
mod unfit;
mod workload;
