//! Numbers of resources beyond processors.

use serde::{Deserialize, Serialize};

/// The place of a resource in [`ResourceTable::resources`](super::ResourceTable::resources).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResourceId(pub u16);

impl ResourceId {
    /// Returns the place as an index.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
