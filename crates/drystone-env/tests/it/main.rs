//! Guarantees of environments.

mod agents;
mod episodes;
mod equal;
