//! Hashes as text.

/// 128 bits are enough to tell things apart, and short enough to be read.
pub(crate) fn short_hash(hash: blake3::Hash) -> String {
    format!("blake3:{}", &hash.to_hex()[..32])
}
