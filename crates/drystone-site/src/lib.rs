//! From a site's accounting to a workload.

pub mod clock;
mod text;
