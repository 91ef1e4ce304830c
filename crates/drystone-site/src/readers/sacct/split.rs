//! A row's columns.

use super::columns::COLUMNS;
use super::header::RowHeader;
use memchr::memmem;

pub(crate) type ColumnValues<'a> = [&'a [u8]; COLUMNS];

/// Division of a row into columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// As the header says.
    Right,
    /// With more delimiters, which belong to the last column.
    Joined,
    /// With this other number of columns.
    Wrong(usize),
}

pub(crate) struct Splitter {
    header: RowHeader,
    finder: Option<memmem::Finder<'static>>,
    /// True if a column before the last may contain delimiters.
    inner: bool,
    /// Values whose quotes had to be taken out.
    unquoted: Vec<(usize, Vec<u8>)>,
}

impl Splitter {
    pub(crate) fn new(header: RowHeader) -> Splitter {
        let finder = (header.delimiter.len() > 1).then(|| memmem::Finder::new(&header.delimiter).into_owned());
        let inner =
            header.flexible.split_last().is_some_and(|(last, rest)| rest.contains(&true) || (*last && !header.free));
        Splitter { header, finder, inner, unquoted: Vec::new() }
    }

    pub(crate) fn header(&self) -> &RowHeader {
        &self.header
    }

    #[inline]
    pub(crate) fn split_row<'a>(&'a mut self, line: &'a [u8], values: &mut ColumnValues<'a>) -> Cut {
        self.unquoted.clear();
        if self.header.quoted && memchr::memchr(b'"', line).is_some() {
            return self.split_quoted(line, values);
        }
        let step = self.header.delimiter.len();
        let mut count = 0;
        let (mut from, columns) = (0, &self.header.columns);
        let mut take = |from: usize, to: usize| {
            if let Some(Some(column)) = columns.get(count) {
                values[*column as usize] = trim_blanks(&line[from..to]);
            }
            count += 1;
        };
        match &self.finder {
            None => each_place(line, self.header.delimiter[0], |at| {
                take(from, at);
                from = at + step;
            }),
            Some(finder) => {
                for at in finder.find_iter(line) {
                    take(from, at);
                    from = at + step;
                }
            }
        }
        take(from, line.len());
        let column_count = columns.len();
        match count {
            _ if count == column_count => Cut::Right,
            // A delimiter behind the last column.
            _ if count == column_count + 1 && from == line.len() && (self.header.trailing || !self.inner) => Cut::Right,
            _ if count > column_count && self.header.free && !self.inner => Cut::Joined,
            _ => Cut::Wrong(count),
        }
    }

    /// Values in quotes, doubled where they stand for themselves (RFC 4180).
    fn split_quoted<'a>(&'a mut self, line: &'a [u8], values: &mut ColumnValues<'a>) -> Cut {
        let delimiter = self.header.delimiter[0];
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut at = 0;
        loop {
            // A blank behind a delimiter is no part of a value.
            let blanks = line[at..].iter().take_while(|b| **b == b' ').count();
            if line.get(at + blanks) == Some(&b'"') {
                at += blanks;
                let Some((end, has_double)) = find_closing_quote(line, at + 1) else {
                    return Cut::Wrong(spans.len() + 1);
                };
                if has_double {
                    let text = line[at + 1..end].to_vec();
                    self.unquoted.push((spans.len(), undouble_quotes(&text)));
                }
                spans.push((at + 1, end));
                at = end + 1;
                if at < line.len() && line[at] != delimiter {
                    return Cut::Wrong(spans.len());
                }
            } else {
                let end = memchr::memchr(delimiter, &line[at..]).map_or(line.len(), |offset| at + offset);
                spans.push((at, end));
                at = end;
            }
            if at >= line.len() {
                break;
            }
            at += 1;
        }
        let column_count = self.header.columns.len();
        for (place, (&(from, to), column)) in spans.iter().zip(&self.header.columns).enumerate() {
            if let Some(column) = column {
                let unquoted_value = self.unquoted.iter().find(|(index, _)| *index == place);
                values[*column as usize] = unquoted_value.map_or(trim_blanks(&line[from..to]), |(_, text)| text);
            }
        }
        match spans.len() {
            count if count == column_count => Cut::Right,
            count if count == column_count + 1 && spans.last().is_some_and(|(from, to)| from == to) => Cut::Right,
            count if count > column_count && self.header.free => Cut::Joined,
            count => Cut::Wrong(count),
        }
    }
}

/// A value without blanks around it.
#[inline]
fn trim_blanks(value: &[u8]) -> &[u8] {
    match value {
        [b' ', ..] | [.., b' '] => value.trim_ascii(),
        _ => value,
    }
}

/// Calls `found` with each place of a byte. Columns are short: eight bytes at once are quicker here
/// than a search for the next.
#[inline]
fn each_place(line: &[u8], byte: u8, mut on_place: impl FnMut(usize)) {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let pattern = u64::from_ne_bytes([byte; 8]);
    let (words, rest) = line.as_chunks::<8>();
    for (word, from) in words.iter().zip((0..).step_by(8)) {
        let unlike = u64::from_le_bytes(*word) ^ pattern;
        // The highest bit of each byte that is as wanted.
        let mut like = !(((unlike & LOW) + LOW) | unlike | LOW);
        while like != 0 {
            on_place(from + like.trailing_zeros() as usize / 8);
            like &= like - 1;
        }
    }
    let from = line.len() - rest.len();
    rest.iter().zip(from..).filter(|(value, _)| **value == byte).for_each(|(_, at)| on_place(at));
}

/// Returns the end of a quoted value, and whether it contains doubled quotes.
fn find_closing_quote(line: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut has_doubled_quotes = false;
    loop {
        let quote = at + memchr::memchr(b'"', &line[at..])?;
        if line.get(quote + 1) != Some(&b'"') {
            return Some((quote, has_doubled_quotes));
        }
        has_doubled_quotes = true;
        at = quote + 2;
    }
}

fn undouble_quotes(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        out.push(byte);
        if byte == b'"' {
            bytes.next();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::columns::SacctColumn;
    use super::super::header::FirstLine;
    use super::*;

    fn split(header: &str, line: &str) -> (Cut, String, String) {
        let FirstLine::Header(header) = RowHeader::of_line(header.as_bytes(), None) else { panic!("a header") };
        let mut splitter = Splitter::new(header);
        let mut values: ColumnValues<'_> = [b""; COLUMNS];
        let cut = splitter.split_row(line.as_bytes(), &mut values);
        let text = |column: SacctColumn| String::from_utf8_lossy(values[column as usize]).into_owned();
        (cut, text(SacctColumn::User), text(SacctColumn::End))
    }

    #[test]
    fn every_delimiter_is_found() {
        let line: Vec<u8> = (0..2_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 % 5 + b'z').collect();
        for byte in b'y'..=b'\x7f' {
            for from in 0..9 {
                let mut places = Vec::new();
                each_place(&line[from..], byte, |at| places.push(at));
                let expected: Vec<usize> = memchr::memchr_iter(byte, &line[from..]).collect();
                assert_eq!(places, expected);
            }
        }
    }

    #[test]
    fn columns_are_parted() {
        let header = "JobID|User|End";
        assert_eq!(split(header, "1|alice|5"), (Cut::Right, "alice".into(), "5".into()));
        assert_eq!(split(header, "1|alice|5|"), (Cut::Right, "alice".into(), "5".into()));
        assert_eq!(split(header, "1|a|5|6").0, Cut::Wrong(4));
        assert_eq!(split(header, "1|a").0, Cut::Wrong(2));
        assert_eq!(split("User|End|JobName", "a|5|x|y|z"), (Cut::Joined, "a".into(), "5".into()));
        assert_eq!(split("User@@End@@JobID", "a@@5@@@7"), (Cut::Right, "a".into(), "5".into()));
    }

    #[test]
    fn values_are_quoted_where_commas_part_them() {
        let header = "User,End,JobID";
        assert_eq!(split(header, "\"a,b\",\"5\",1"), (Cut::Right, "a,b".into(), "5".into()));
        assert_eq!(split(header, "\"a\"\"b\",5,1"), (Cut::Right, "a\"b".into(), "5".into()));
        assert_eq!(split(header, "\"a,5,1").0, Cut::Wrong(1));
        assert_eq!(split(header, "\"a\"x,5,1").0, Cut::Wrong(1));
        assert_eq!(split("User|End|JobID", "\"a|5|1").0, Cut::Right);
    }
}
