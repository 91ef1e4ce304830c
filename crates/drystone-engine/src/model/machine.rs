//! The machine.

use serde::{Deserialize, Serialize};

/// The machine: `procs` identical processors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Machine {
    /// Number of processors, at least 1.
    pub procs: Procs,
}

impl Machine {
    /// A machine of this many identical processors.
    #[must_use]
    pub const fn new(procs: Procs) -> Machine {
        Machine { procs }
    }
}

/// A number of processors.
pub type Procs = u32;
