//! The low byte of each node's scheduling weight, which outlives the test that set it.
//!
//! Slurm writes it while it only asks whether a job fits, so it changes behind shared references.

use super::NodeSet;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The byte of a node that no GPU job was tested on.
const UNTOUCHED: u8 = 255;

/// A byte for each node.
#[derive(Debug, Default)]
pub struct StoredBytes {
    bytes: Vec<AtomicU8>,
    changes: AtomicU64,
}

impl StoredBytes {
    /// Of a machine of `nodes`.
    pub fn new(nodes: usize) -> StoredBytes {
        StoredBytes::from_bytes((0..nodes).map(|_| UNTOUCHED), 0)
    }

    fn from_bytes(bytes: impl IntoIterator<Item = u8>, changes: u64) -> StoredBytes {
        StoredBytes { bytes: bytes.into_iter().map(AtomicU8::new).collect(), changes: changes.into() }
    }

    /// Returns the number of changes of bytes so far. Looks at the same number have the same bytes.
    pub(super) fn change_count(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    fn store_byte(&self, byte: &AtomicU8, value: u8) {
        if byte.load(Ordering::Relaxed) != value {
            byte.store(value, Ordering::Relaxed);
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The byte of a node.
    #[inline]
    pub(super) fn get(&self, node: usize) -> u8 {
        self.bytes.get(node).map_or(UNTOUCHED, |byte| byte.load(Ordering::Relaxed))
    }

    /// A GPU job was tested on a node that could give it so many GPUs.
    #[inline]
    pub(super) fn note_gpu_test(&self, node: usize, gpus: i64) {
        if let Some(byte) = self.bytes.get(node) {
            self.store_byte(byte, UNTOUCHED - gpus.clamp(0, i64::from(UNTOUCHED)) as u8);
        }
    }

    /// Sets the nodes back.
    pub(super) fn reset_nodes(&self, nodes: &NodeSet) {
        if !self.bytes.is_empty() {
            nodes.iter().filter_map(|node| self.bytes.get(node)).for_each(|byte| self.store_byte(byte, UNTOUCHED));
        }
    }

    /// Takes over what another machine has stored.
    pub fn copy_from(&self, source: &StoredBytes) {
        for (own, byte) in self.bytes.iter().zip(&source.bytes) {
            self.store_byte(own, byte.load(Ordering::Relaxed));
        }
    }

    fn stored_bytes(&self) -> Vec<u8> {
        self.bytes.iter().map(|byte| byte.load(Ordering::Relaxed)).collect()
    }
}

impl Clone for StoredBytes {
    fn clone(&self) -> StoredBytes {
        StoredBytes::from_bytes(self.stored_bytes(), self.change_count())
    }
}

impl PartialEq for StoredBytes {
    fn eq(&self, other: &StoredBytes) -> bool {
        self.stored_bytes() == other.stored_bytes()
    }
}

impl Eq for StoredBytes {}

impl Serialize for StoredBytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.stored_bytes().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StoredBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StoredBytes, D::Error> {
        Ok(StoredBytes::from_bytes(Vec::<u8>::deserialize(deserializer)?, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_a_byte_is_a_change() {
        let bytes = StoredBytes::new(2);
        let node_set = NodeSet::from_members(2, [0, 1]);
        bytes.reset_nodes(&node_set);
        bytes.note_gpu_test(1, 0);
        assert_eq!(bytes.change_count(), 0);
        bytes.note_gpu_test(1, 3);
        bytes.note_gpu_test(1, 3);
        assert_eq!((bytes.get(1), bytes.change_count()), (UNTOUCHED - 3, 1));
        bytes.reset_nodes(&node_set);
        assert_eq!((bytes.get(1), bytes.change_count()), (UNTOUCHED, 2));
    }
}
