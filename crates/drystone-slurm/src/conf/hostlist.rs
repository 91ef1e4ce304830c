//! Host lists: `n[001-087,090],rack[0-3]n[1-4],login1`.

/// More hosts than this in one list are a mistake in the ranges.
const MOST: usize = 1_000_000;

/// Every name of a list, in its order.
///
/// # Errors
/// The mistake in the list, in words.
pub fn expand_list(list: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    for part in split_list(list)? {
        expand_one(part, &mut names)?;
    }
    Ok(names)
}

/// Splits at commas and blanks outside brackets.
fn split_list(list: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, c) in list.char_indices() {
        match c {
            '[' if inside => return Err(format!("`[` inside brackets in `{list}`")),
            '[' => inside = true,
            ']' if !inside => return Err(format!("`]` without `[` in `{list}`")),
            ']' => inside = false,
            ',' | ' ' | '\t' if !inside => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(format!("`[` without `]` in `{list}`"));
    }
    parts.push(&list[start..]);
    parts.retain(|part| !part.is_empty());
    Ok(parts)
}

fn expand_one(part: &str, names: &mut Vec<String>) -> Result<(), String> {
    let mut stems = vec![String::new()];
    let mut rest = part;
    while let Some((prefix, bracket)) = rest.split_once('[') {
        // `split` has seen to it that there is one.
        let (ranges, after) = bracket.split_once(']').ok_or("`[` without `]`")?;
        let numbers = expand_numbers(ranges, part)?;
        if stems.len().saturating_mul(numbers.len()) > MOST {
            return Err(format!("`{part}` is more than {MOST} hosts"));
        }
        let longer = |stem: &String| numbers.iter().map(|n| format!("{stem}{prefix}{n}")).collect::<Vec<_>>();
        stems = stems.iter().flat_map(longer).collect();
        rest = after;
    }
    names.extend(stems.into_iter().map(|stem| stem + rest));
    Ok(())
}

/// `1-3,007` as texts, with the leading zeros of the lower end.
fn expand_numbers(ranges: &str, part: &str) -> Result<Vec<String>, String> {
    let mut number_texts = Vec::new();
    for range in ranges.split(',') {
        let (low, high) = range.split_once('-').unwrap_or((range, range));
        let parse = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        let (Some(from), Some(to)) = (parse(low), parse(high)) else {
            return Err(format!("`{range}` in `{part}` is no range of numbers such as 1-16"));
        };
        if from > to {
            return Err(format!("the range `{range}` in `{part}` runs backwards"));
        }
        if (to - from) as usize >= MOST {
            return Err(format!("`{part}` is more than {MOST} hosts"));
        }
        number_texts.extend((from..=to).map(|n| format!("{n:0width$}", width = low.len())));
    }
    Ok(number_texts)
}

/// The shortest text for some names, as Slurm prints them: names that differ in their last number
/// share brackets.
pub fn compress_names(names: &[String]) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in names {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (stem, number) = name.split_at(name.len() - digits);
        match groups
            .iter_mut()
            .find(|(s, n)| *s == stem && n.first().is_some_and(|f| f.is_empty() == number.is_empty()))
        {
            Some((_, numbers)) => numbers.push(number),
            None => groups.push((stem, vec![number])),
        }
    }
    let text = |(stem, numbers): &(&str, Vec<&str>)| match numbers.as_slice() {
        [""] => (*stem).to_string(),
        [one] => format!("{stem}{one}"),
        many => format!("{stem}[{}]", format_ranges(many)),
    };
    groups.iter().map(text).collect::<Vec<_>>().join(",")
}

fn format_ranges(numbers: &[&str]) -> String {
    let follows = |a: &str, b: &str| match (a.parse::<u64>(), b.parse::<u64>()) {
        (Ok(x), Ok(y)) => y == x + 1 && format!("{y:0width$}", width = a.len()) == b,
        _ => false,
    };
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for &number in numbers {
        match parts.last_mut() {
            Some((_, last)) if follows(last, number) => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let text = |&(a, b): &(&str, &str)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_zeros() {
        assert_eq!(expand_list("n[08-10],m1").expect("list"), ["n08", "n09", "n10", "m1"]);
        assert_eq!(expand_list("a01-[02,04-05]").expect("list"), ["a01-02", "a01-04", "a01-05"]);
        assert_eq!(expand_list("a1 a2,\ta[3-4]").expect("list"), ["a1", "a2", "a3", "a4"]);
    }

    #[test]
    fn several_brackets_multiply() {
        assert_eq!(expand_list("r[1-2]n[1-2]x").expect("list"), ["r1n1x", "r1n2x", "r2n1x", "r2n2x"]);
    }

    #[test]
    fn mistakes_are_told() {
        assert_eq!(expand_list("n[3-1]").expect_err("backwards"), "the range `3-1` in `n[3-1]` runs backwards");
        assert_eq!(expand_list("n[1-2").expect_err("open"), "`[` without `]` in `n[1-2`");
        assert_eq!(expand_list("n[a]").expect_err("letters"), "`a` in `n[a]` is no range of numbers such as 1-16");
        assert_eq!(expand_list("n[0-99999999]").expect_err("too many"), "`n[0-99999999]` is more than 1000000 hosts");
    }

    #[test]
    fn compressed_lists_expand_to_the_same() {
        for list in ["n[08-12]", "n[1-3,5]", "n[9-10]", "login,n1"] {
            assert_eq!(compress_names(&expand_list(list).expect("list")), list);
        }
    }
}
