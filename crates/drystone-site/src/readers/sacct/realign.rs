//! Rows with more delimiters than the header has: which column of text holds the surplus, the other
//! columns tell.

use super::columns::{COLUMNS, SacctColumn, can_hold};
use super::header::RowHeader;
use super::split::ColumnValues;
use crate::text::TimeForm;

/// Places that a search looks at before it gives a row up.
const MOST: u32 = 20_000;
/// More delimiters than this in surplus are another table.
const SURPLUS: usize = 200;

/// Result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Realigned {
    /// The one way in which all columns hold what they should; whether only the last takes more.
    Found { last: bool },
    /// There is none, or several.
    Nothing,
}

/// Puts the columns of a row with too many delimiters into `values`, where there is one way to do
/// so.
pub(super) fn realign_row<'a>(
    header: &RowHeader,
    line: &'a [u8],
    form: &TimeForm,
    values: &mut ColumnValues<'a>,
) -> Realigned {
    if !header.flexible.contains(&true) || (header.quoted && line.contains(&b'"')) {
        return Realigned::Nothing;
    }
    let mut fields: Vec<(usize, usize)> = Vec::new();
    let mut from = 0;
    for at in memchr::memmem::find_iter(line, &header.delimiter) {
        // Delimiters of several bytes may overlap.
        if at >= from {
            fields.push((from, at));
            from = at + header.delimiter.len();
        }
    }
    fields.push((from, line.len()));
    let bare = fields.last().is_some_and(|(from, to)| from == to);
    if header.trailing && bare {
        fields.pop();
    }
    let mut starts_found = SurplusSearch::new(header, line, &fields, form).find_starts();
    if starts_found.is_none() && bare && !header.trailing {
        fields.pop();
        starts_found = SurplusSearch::new(header, line, &fields, form).find_starts();
    }
    let Some(starts) = starts_found else { return Realigned::Nothing };
    *values = [b""; COLUMNS];
    for (at, column) in header.columns.iter().enumerate() {
        let next = starts.get(at + 1).copied().unwrap_or(fields.len());
        if let Some(column) = column {
            values[*column as usize] = &line[fields[starts[at]].0..fields[next - 1].1];
        }
    }
    let last = header.columns.len() - 1;
    Realigned::Found { last: starts[last] == last }
}

/// Goes through all ways to give the surplus to columns of text.
struct SurplusSearch<'a> {
    header: &'a RowHeader,
    line: &'a [u8],
    fields: &'a [(usize, usize)],
    form: &'a TimeForm,
    /// The first field of each column, on the way.
    starts: Vec<usize>,
    /// The first way that was found.
    found: Option<Vec<usize>>,
    /// True if another differs from it in a column that holds no free text.
    several: bool,
    steps: u32,
}

impl<'a> SurplusSearch<'a> {
    fn new(
        header: &'a RowHeader,
        line: &'a [u8],
        fields: &'a [(usize, usize)],
        form: &'a TimeForm,
    ) -> SurplusSearch<'a> {
        SurplusSearch { header, line, fields, form, starts: Vec::new(), found: None, several: false, steps: 0 }
    }

    /// The one way, if there is one.
    fn find_starts(mut self) -> Option<Vec<usize>> {
        let surplus = self.fields.len().checked_sub(self.header.columns.len())?;
        if surplus > SURPLUS {
            return None;
        }
        self.search_from(0, surplus);
        self.found.filter(|_| !self.several && self.steps < MOST)
    }

    fn search_from(&mut self, field: usize, surplus: usize) {
        self.steps += 1;
        let at = self.starts.len();
        if self.several || self.steps >= MOST {
            return;
        }
        if at == self.header.columns.len() {
            if surplus == 0 {
                self.keep_starts();
            }
            return;
        }
        let most = if self.header.flexible[at] { surplus } else { 0 };
        // Alternatives of features are usual, delimiters in a name are not.
        let features = self.header.columns[at] == Some(SacctColumn::Constraints);
        for nth in 0..=most {
            let more = if features { most - nth } else { nth };
            if self.can_take(at, field, more) {
                self.starts.push(field);
                self.search_from(field + more + 1, surplus - more);
                self.starts.pop();
            }
        }
    }

    fn keep_starts(&mut self) {
        match &self.found {
            None => self.found = Some(self.starts.clone()),
            Some(starts) => {
                let flexible = &self.header.flexible;
                let differs = |at: usize| !flexible[at] && starts[at] != self.starts[at];
                self.several = (0..flexible.len()).any(differs);
            }
        }
    }

    /// Returns whether a column may hold these fields.
    fn can_take(&self, at: usize, field: usize, more: usize) -> bool {
        let text = &self.line[self.fields[field].0..self.fields[field + more].1];
        let Some(column) = self.header.columns[at] else { return true };
        if column == SacctColumn::Constraints && more > 0 {
            let feature = |b: &u8| b.is_ascii_alphanumeric() || b"_.-+&|,*()[]@/: ".contains(b);
            let parts = &self.fields[field..=field + more];
            return text.iter().all(feature) && parts.iter().all(|(from, to)| from < to);
        }
        match column {
            // Commas separate nodes and resources, and also columns.
            SacctColumn::NodeList | SacctColumn::Nodes if more > 0 => is_balanced(text) && !text.contains(&b'='),
            SacctColumn::ReqTres | SacctColumn::AllocTres if more > 0 => {
                text.split(|&b| b == b',').all(|e| e.contains(&b'='))
            }
            _ => can_hold(column, text, self.form),
        }
    }
}

fn is_balanced(text: &[u8]) -> bool {
    let count = |byte: u8| text.iter().filter(|&&b| b == byte).count();
    count(b'[') == count(b']') && text.contains(&b'[')
}

#[cfg(test)]
mod tests {
    use super::super::header::FirstLine;
    use super::*;

    fn aligned(header: &str, line: &str) -> Option<[String; 3]> {
        let FirstLine::Header(header) = RowHeader::of_line(header.as_bytes(), None) else { panic!("a header") };
        let mut values: ColumnValues<'_> = [b""; COLUMNS];
        let outcome = realign_row(&header, line.as_bytes(), &TimeForm::default(), &mut values);
        let text = |column: SacctColumn| String::from_utf8_lossy(values[column as usize]).into_owned();
        (outcome != Realigned::Nothing)
            .then(|| [SacctColumn::Constraints, SacctColumn::End, SacctColumn::User].map(text))
    }

    #[test]
    fn typed_columns_tell_where_a_text_ends() {
        let header = "JobID|User|Constraints|Elapsed|End|State";
        let row = |c: &str| format!("7|ada|{c}|00:10:00|1700000000|COMPLETED");
        for constraints in ["a|b", "a|b|c", "[x|y]", "(p|q)&r", "n1*2|n2"] {
            let expected = [constraints, "1700000000", "ada"].map(String::from);
            assert_eq!(aligned(header, &row(constraints)), Some(expected), "{constraints}");
        }
        // What follows is no time: nothing fits.
        assert_eq!(aligned(header, "7|ada|a|b|soon|1700000000|COMPLETED"), None);
        // Behind a name that may hold anything, two ways remain.
        assert_eq!(aligned("JobID|JobName|User|Constraints|End", "7|a|b|ada|x|1700000000"), None);
        // Two columns of text side by side: only these differ.
        let fields = aligned("JobID|User|Constraints|JobName|End", "7|ada|x|y|name|1700000000");
        assert_eq!(fields.expect("one way for the others")[1], "1700000000");
    }

    #[test]
    fn an_empty_last_column_is_no_trailing_delimiter() {
        let fields = aligned("JobID|User|Constraints|ReqCPUS|End|NodeList", "7|ada|a|b|4|1700000000|");
        assert_eq!(fields, Some(["a|b", "1700000000", "ada"].map(String::from)));
        // With one, the empty column is taken away first.
        let trim_fields = aligned("JobID|User|Constraints|ReqCPUS|End|", "7|ada|a|b|4|1700000000|");
        assert_eq!(trim_fields, Some(["a|b", "1700000000", "ada"].map(String::from)));
    }
}
