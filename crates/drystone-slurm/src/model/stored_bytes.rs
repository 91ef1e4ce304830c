//! The low byte of each node's scheduling weight, which outlives the test that set it.
//!
//! Slurm writes it while it only asks whether a job fits, so it changes behind shared references.

use super::NodeSet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::atomic::{AtomicU8, Ordering};

/// The byte of a node that no GPU job was tested on.
const UNTOUCHED: u8 = 255;

/// A byte for each node.
#[derive(Debug, Default)]
pub struct StoredBytes(Vec<AtomicU8>);

impl StoredBytes {
    /// Of a machine of `nodes`.
    pub fn new(nodes: usize) -> StoredBytes {
        StoredBytes((0..nodes).map(|_| AtomicU8::new(UNTOUCHED)).collect())
    }

    /// The byte of a node.
    #[inline]
    pub(super) fn get(&self, node: usize) -> u8 {
        self.0.get(node).map_or(UNTOUCHED, |byte| byte.load(Ordering::Relaxed))
    }

    /// A GPU job was tested on a node that could give it so many GPUs.
    #[inline]
    pub(super) fn set(&self, node: usize, gpus: i64) {
        if let Some(byte) = self.0.get(node) {
            byte.store(UNTOUCHED - gpus.clamp(0, i64::from(UNTOUCHED)) as u8, Ordering::Relaxed);
        }
    }

    /// Sets the nodes back.
    pub(super) fn reset(&self, nodes: &NodeSet) {
        if !self.0.is_empty() {
            nodes.iter().filter_map(|node| self.0.get(node)).for_each(|byte| byte.store(UNTOUCHED, Ordering::Relaxed));
        }
    }

    /// Takes over what another machine has stored.
    pub fn assign(&self, other: &StoredBytes) {
        for (own, other) in self.0.iter().zip(&other.0) {
            own.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

impl Clone for StoredBytes {
    fn clone(&self) -> StoredBytes {
        StoredBytes(self.bytes().into_iter().map(AtomicU8::new).collect())
    }
}

impl PartialEq for StoredBytes {
    fn eq(&self, other: &StoredBytes) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for StoredBytes {}

impl Serialize for StoredBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredBytes, D::Error> {
        Ok(StoredBytes(Vec::<u8>::deserialize(deserializer)?.into_iter().map(AtomicU8::new).collect()))
    }
}
