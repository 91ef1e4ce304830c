//! Changes of a site, and the workloads that they make.

mod supply;
mod whatif;
