//! Generic resources of nodes: `gpu:a100:4(S:0-1),gpu:v100:2`.

pub(super) fn count_gpus(text: &str) -> u32 {
    split_entries(text).iter().map(|entry| count_entry(entry)).fold(0, u32::saturating_add)
}

/// Splits at commas outside parentheses.
fn split_entries(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0_i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

fn count_entry(entry: &str) -> u32 {
    let entry = entry.split('(').next().unwrap_or(entry).trim();
    let mut parts = entry.split([':', '=']);
    if parts.next() != Some("gpu") {
        return 0;
    }
    match parts.next_back().map(str::parse::<u32>) {
        Some(Ok(count)) => count,
        // `gpu` and `gpu:a100` are one.
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::count_gpus;

    #[test]
    fn types_and_sockets_may_be_named() {
        assert_eq!(count_gpus("gpu:2"), 2);
        assert_eq!(count_gpus("gpu:a100:4(S:0,1),gpu:v100:2"), 6);
        assert_eq!(count_gpus("gpu:tesla_v100-pcie-32gb:2"), 2);
        assert_eq!(count_gpus("gpu:a100"), 1);
        assert_eq!(count_gpus("craynetwork:4"), 0);
        assert_eq!(count_gpus("(null)"), 0);
        assert_eq!(count_gpus(""), 0);
    }
}
