//! Numbers of things in sentences.

/// Returns a number with what it counts, whose plural ends in s: `1 row`, `2 rows`.
pub(crate) fn count_noun(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
