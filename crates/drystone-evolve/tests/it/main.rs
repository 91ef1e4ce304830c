//! The search as a whole, on generated workloads.

mod search;
