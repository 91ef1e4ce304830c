//! Layout of tables and text in a terminal: lines break between words, never within a number.

/// Blanks between two columns.
pub(super) const GAP: usize = 2;
/// Narrower columns are unreadable.
const LEAST: usize = 12;

/// Space needed by a column, in characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnNeeds {
    /// The longest of what stays in one piece.
    least: usize,
    /// Width at which no cell is wrapped, though its header may be.
    cells: usize,
    /// Width at which nothing is wrapped.
    whole: usize,
    /// True if it means nothing without the column before it.
    beside: bool,
}

impl ColumnNeeds {
    /// Of a column with this header. Only cells of text may be wrapped.
    pub(super) fn for_column<'a>(
        header: &str,
        cells: impl Iterator<Item = &'a str>,
        text: bool,
        beside: bool,
    ) -> ColumnNeeds {
        let (mut longest, mut broad) = (0, 0);
        for cell in cells {
            broad = broad.max(text_width(cell));
            longest = longest.max(longest_piece(cell));
        }
        let least = if text { longest.max(broad.min(LEAST)) } else { broad };
        let header = (longest_piece(header), text_width(header));
        ColumnNeeds { least: least.max(header.0), cells: broad.max(header.0), whole: broad.max(header.1), beside }
    }
}

/// Returns the groups of columns that fit side by side, with their widths. Where not all of them
/// have room, they stand below each other in parts that begin with the first columns each, as many
/// as `keys`, so that every row says of what it is.
pub(super) fn group_columns(needs: &[ColumnNeeds], keys: usize, room: Option<usize>) -> Vec<Vec<(usize, usize)>> {
    let Some(room) = room else { return vec![needs.iter().map(|n| n.whole).enumerate().collect()] };
    let least = |columns: &[usize]| columns.iter().map(|&at| needs[at].least + GAP).sum::<usize>() - GAP;
    let keys: Vec<usize> = (0..keys.clamp(1, needs.len().max(1))).collect();
    let mut parts: Vec<Vec<usize>> = vec![Vec::new()];
    let mut at = 0;
    while at < needs.len() {
        // A column goes with those that need it beside them, if they have room together at all.
        let beside = needs[at + 1..].iter().take_while(|n| n.beside).count();
        let together: Vec<usize> = (at..=at + beside).collect();
        let alone = at < keys.len() || least(&[&[0], &together[..]].concat()) > room;
        let together = if alone { vec![at] } else { together };
        at += together.len();
        match parts.last_mut() {
            Some(part) if part.len() <= 1 || least(&[&part[..], &together].concat()) <= room => part.extend(together),
            _ => {
                let first_columns = [&keys[..], &together].concat();
                parts.push(if least(&first_columns) <= room { first_columns } else { [&[0], &together[..]].concat() });
            }
        }
    }
    parts.into_iter().map(|columns| fit_widths(needs, columns, room)).collect()
}

/// Gives columns what they need at least, and what room there is beyond that first where it saves
/// cells from being wrapped.
fn fit_widths(needs: &[ColumnNeeds], columns: Vec<usize>, room: usize) -> Vec<(usize, usize)> {
    let mut widths: Vec<usize> = columns.iter().map(|&at| needs[at].least).collect();
    let used_width = widths.iter().sum::<usize>() + GAP * columns.len().saturating_sub(1);
    let spare = pour_spare(&mut widths, columns.iter().map(|&at| needs[at].cells), room.saturating_sub(used_width));
    pour_spare(&mut widths, columns.iter().map(|&at| needs[at].whole), spare);
    columns.into_iter().zip(widths).collect()
}

/// Shares room out evenly among those that want more. Returns what is left.
fn pour_spare(widths: &mut [usize], targets: impl Iterator<Item = usize> + Clone, mut spare: usize) -> usize {
    loop {
        let wanting = widths.iter().zip(targets.clone()).filter(|(has, wants)| *has < wants).count();
        if wanting == 0 || spare == 0 {
            return spare;
        }
        let share = (spare / wanting).max(1);
        for (has, wants) in widths.iter_mut().zip(targets.clone()) {
            let more = wants.saturating_sub(*has).min(share).min(spare);
            *has += more;
            spare -= more;
        }
    }
}

/// The broadest line.
fn text_width(text: &str) -> usize {
    text.split('\n').map(text_length).max().unwrap_or(0)
}

fn text_length(text: &str) -> usize {
    text.chars().count()
}

fn longest_piece(text: &str) -> usize {
    text.split([' ', '\n']).flat_map(split_word).map(text_length).max().unwrap_or(0)
}

/// Splits a word where it may break, if it must: in lists of values and parameters, not in numbers
/// such as 1,152.
fn split_word(word: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, _) in word.match_indices(['|', ',']) {
        if word[at + 1..].starts_with(|c: char| !c.is_ascii_digit()) {
            pieces.push(&word[from..=at]);
            from = at + 1;
        }
    }
    pieces.push(&word[from..]);
    pieces
}

/// The widest first column of a story: a date and a time.
const MARGIN: usize = 26;

/// The text in lines of at most this many characters, as far as its words have room in one.
pub(super) fn fill_lines(text: &str, width: usize) -> String {
    let mut filled_text = String::with_capacity(text.len() + 8);
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            filled_text.push('\n');
        }
        if text_length(line) <= width {
            filled_text.push_str(line);
            continue;
        }
        let mut used_width = 0;
        for (at, word) in line.split(' ').enumerate() {
            if at > 0 && used_width + 1 + text_length(word) <= width {
                filled_text.push(' ');
                used_width += 1;
            } else if at > 0 {
                filled_text.push('\n');
                used_width = 0;
            }
            let pieces = if text_length(word) > width { split_word(word) } else { vec![word] };
            for piece in pieces {
                if used_width > 0 && used_width + text_length(piece) > width {
                    filled_text.push('\n');
                    used_width = 0;
                }
                filled_text.push_str(piece);
                used_width += text_length(piece);
            }
        }
    }
    filled_text
}

/// Lines of at most this many characters. What does not fit goes on below the text behind two
/// blanks, where these end within 26 characters, else below the line's first word.
pub fn fill_story(text: &str, width: usize) -> String {
    let mut story_text = String::with_capacity(text.len() + 80);
    for line in text.lines() {
        let blanks = line.len() - line.trim_start().len();
        let margin = line[blanks..].find("  ").map(|at| blanks + at + 2).filter(|&at| at <= MARGIN);
        let indent = margin.unwrap_or(blanks + 2);
        let filled_line = match text_length(line) > width && line.is_char_boundary(indent) {
            true => {
                let (head, rest) = line.split_at(if margin.is_some() { indent } else { blanks });
                let below = format!("\n{:indent$}", "");
                head.to_string() + &fill_lines(rest.trim_start(), width - indent).replace('\n', &below)
            }
            false => line.to_string(),
        };
        story_text.push_str(&filled_line);
        story_text.push('\n');
    }
    story_text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stories_go_on_below_their_text() {
        let text =
            "job 1: four words here\n10:00:00  arrives; just before, 10 waited\n  - an item that is long\nshort\n";
        let story = "job 1: four words\n  here\n\
                    10:00:00  arrives;\n          just\n          before, 10\n          waited\n  \
                    - an item that\n    is long\nshort\n";
        assert_eq!(fill_story(text, 20), story);
    }

    #[test]
    fn words_and_numbers_stay_whole() {
        assert_eq!(fill_lines("two words", 9), "two words");
        assert_eq!(fill_lines("a 15,055.95 b", 4), "a\n15,055.95\nb");
        assert_eq!(fill_lines("1,152 of fcfs|sjf|lxf", 9), "1,152 of\nfcfs|sjf|\nlxf");
        assert_eq!(fill_lines("one\nand another", 11), "one\nand another");
        assert_eq!(fill_lines("", 0), "");
    }

    fn column(header: &str, cell: &str, text: bool, beside: bool) -> ColumnNeeds {
        ColumnNeeds::for_column(header, [cell].into_iter(), text, beside)
    }

    #[test]
    fn what_has_room_is_as_it_is_without_a_terminal() {
        let needs = [column("policy", "easy", true, false), column("mean wait", "9,009.5", false, false)];
        let whole = vec![vec![(0, 6), (1, 9)]];
        assert_eq!(group_columns(&needs, 1, None), whole);
        assert_eq!(group_columns(&needs, 1, Some(17)), whole);
        // Headers are wrapped first: no row is longer for it.
        assert_eq!(group_columns(&needs, 1, Some(16)), [[(0, 6), (1, 8)]]);
        assert_eq!(group_columns(&needs, 1, Some(3)), [[(0, 6), (1, 7)]]);
        assert_eq!(group_columns(&[], 1, Some(3)), [[]]);
    }

    #[test]
    fn columns_without_room_stand_below() {
        let number = |beside| column("p95", "12345678", false, beside);
        let needs = [column("policy", "easy", true, false), number(false), number(false), number(true)];
        let columns = |room| -> Vec<Vec<usize>> {
            group_columns(&needs, 1, Some(room))
                .into_iter()
                .map(|part| part.into_iter().map(|c| c.0).collect())
                .collect()
        };
        assert_eq!(columns(36), [[0, 1, 2, 3]]);
        // The last one goes with the one before it.
        assert_eq!(columns(35), [vec![0, 1], vec![0, 2, 3]]);
        // Where these two alone have no room there is no other way.
        assert_eq!(columns(25), [vec![0, 1], vec![0, 2], vec![0, 3]]);
        assert_eq!(columns(1), [vec![0, 1], vec![0, 2], vec![0, 3]]);
    }

    #[test]
    fn text_has_what_room_there_is() {
        let long = "a sentence of more words than there is room for beside numbers";
        let needs =
            [column("name", "x", true, false), column("n", "1,000", false, false), column("", long, true, false)];
        assert_eq!(group_columns(&needs, 1, Some(40)), [[(0, 4), (1, 5), (2, 27)]]);
        assert_eq!(group_columns(&needs, 1, Some(25)), [[(0, 4), (1, 5), (2, 12)]]);
    }

    #[test]
    fn parts_repeat_what_rows_are_told_apart_by() {
        // A policy and a pool, and four figures of 8 each.
        let column = |cell: &'static str| ColumnNeeds::for_column("", [cell].into_iter(), false, false);
        let needs: Vec<ColumnNeeds> =
            ["easy", "gpu", "1,000.00", "2,000.00", "3,000.00", "4,000.00"].map(column).into();
        let columns = |room, keys| -> Vec<Vec<usize>> {
            group_columns(&needs, keys, Some(room))
                .into_iter()
                .map(|part| part.into_iter().map(|c| c.0).collect())
                .collect()
        };
        // 4 + 2 + 3 and then 2 + 8 for each figure.
        assert_eq!(columns(29, 2), [vec![0, 1, 2, 3], vec![0, 1, 4, 5]]);
        assert_eq!(columns(29, 1), [vec![0, 1, 2, 3], vec![0, 4, 5]]);
        // Too narrow for both beside a figure: the first alone, which leaves room for one figure.
        assert_eq!(columns(18, 2), [vec![0, 1], vec![0, 2], vec![0, 3], vec![0, 4], vec![0, 5]]);
    }
}
