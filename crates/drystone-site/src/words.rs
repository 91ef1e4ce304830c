//! Numbers of things in sentences.

/// Returns a number with what it counts, whose plural ends in s: `1 row`, `2 rows`.
pub(crate) fn count_noun(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
