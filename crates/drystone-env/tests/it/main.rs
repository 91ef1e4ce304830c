//! What environments promise.

mod agents;
mod episodes;
mod equal;
