//! Numbers of things in notes.

/// Returns a number with what it counts: `1 job asks`, `2 jobs ask`.
pub(crate) fn count_things(number: u64, singular: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { singular } else { many })
}
