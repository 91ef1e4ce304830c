//! The first rows of a table, taken apart: what a proposal is made of and tested on.

use super::values::is_typed;
use super::words::find_roles;
use crate::text::{TimeForm, guess_forms};

/// Rows that are looked at.
pub(crate) const ROWS: usize = 1_000;
const DELIMITERS: [&str; 6] = ["|", "\t", ";", ",", "\u{1f}", "^"];
/// A table of jobs has this many columns at least.
const FEWEST: usize = 3;
/// A table of jobs has this many columns at most: `sacct` knows about 110.
const MOST: usize = 400;

/// Names and rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableSample {
    /// Empty where no first line names the columns.
    pub(crate) names: Vec<String>,
    /// Units of the columns, where a line behind the names says them; else empty.
    pub(crate) units: Vec<String>,
    /// Each with as many values as there are columns.
    pub(crate) rows: Vec<Vec<String>>,
    /// Notation of its times: one that would have to be declared, or none.
    pub(crate) form: TimeForm,
    /// True if the month of its times may be the day.
    pub(crate) is_unsure: bool,
}

impl TableSample {
    pub(crate) fn with_names(names: Vec<String>, rows: Vec<Vec<String>>) -> TableSample {
        let (form, is_unsure) = form_of(&names, &rows);
        TableSample { names, units: Vec::new(), rows, form, is_unsure }
    }

    /// Returns this sample with the notation of times that the command declares, if it does.
    pub(crate) fn with_declared_form(&self, form: &TimeForm) -> TableSample {
        match &form.0 {
            Some(_) => TableSample { form: form.clone(), is_unsure: false, ..self.clone() },
            None => self.clone(),
        }
    }

    /// The table of these lines; `None` where they are none.
    pub(crate) fn of_lines(lines: &[&[u8]], delimiter: Option<&str>) -> Option<TableSample> {
        let texts: Vec<String> = lines
            .iter()
            .filter(|line| !line.is_empty())
            .take(ROWS + 1)
            .map(|line| String::from_utf8_lossy(line).trim_start_matches('\u{feff}').trim_end().to_string())
            .collect();
        let delimiter = match delimiter {
            Some(text) => text.to_string(),
            None => find_delimiter(&texts).or_else(|| detect_blank(&texts))?.to_string(),
        };
        let is_quoted_text = is_quoted(&texts);
        let mut rows: Vec<Vec<String>> =
            texts.iter().map(|line| split_fields(line, &delimiter, is_quoted_text)).collect();
        let columns = rows.first()?.len();
        if !(FEWEST..=MOST).contains(&columns) {
            return None;
        }
        // The delimiter behind the last value of `sacct -p`.
        let bare = |row: &Vec<String>| row.last().is_some_and(String::is_empty);
        let trailing = rows.iter().all(|row| row.len() == columns && bare(row));
        let columns = columns - usize::from(trailing && columns > FEWEST);
        rows.iter_mut().for_each(|row| row.truncate(columns));
        let mut first = rows.remove(0);
        if let Some(bare) = first[0].strip_prefix('#') {
            first[0] = bare.trim().to_string();
        }
        // Lines of another kind are the reader's to count.
        rows.retain(|row| row.len() == columns);
        if !names_columns(&first, &rows) {
            return Some(TableSample::with_names(Vec::new(), std::iter::once(first).chain(rows).collect()));
        }
        let units = if are_units(&rows) { rows.remove(0) } else { Vec::new() };
        Some(TableSample { units, ..TableSample::with_names(first, rows) })
    }

    /// The rows of a dump of Open XDMoD, whose last column may hold its delimiter; `None` for
    /// another text.
    pub(crate) fn of_xdmod(lines: &[&[u8]]) -> Option<TableSample> {
        const COLUMNS: usize = 26;
        let row = |line: &&[u8]| {
            let text = String::from_utf8_lossy(line);
            let fields: Vec<String> =
                text.trim_start_matches('\u{feff}').splitn(COLUMNS, '|').map(String::from).collect();
            (fields.len() == COLUMNS).then_some(fields)
        };
        let lines: Vec<&&[u8]> = lines.iter().filter(|line| !line.is_empty()).take(ROWS).collect();
        let rows: Vec<Vec<String>> = lines.iter().filter_map(|line| row(line)).collect();
        let sample = TableSample { rows, ..TableSample::default() };
        let is_dump = super::presets::recognised_rows(&sample).is_some_and(|preset| preset.names == ["xdmod"]);
        (is_dump && sample.rows.len() * 10 >= lines.len() * 9).then_some(sample)
    }

    pub(crate) fn column_count(&self) -> usize {
        if self.names.is_empty() { self.rows.first().map_or(0, Vec::len) } else { self.names.len() }
    }

    /// The first names.
    pub(crate) fn shown_names(&self) -> String {
        let first_names: Vec<&str> = self.names.iter().take(6).map(String::as_str).collect();
        first_names.join(", ") + if self.names.len() > 6 { ", …" } else { "" }
    }

    /// The name of a column, or its place.
    pub(crate) fn shown_name(&self, at: usize) -> String {
        match self.names.get(at) {
            Some(name) => format!("`{name}`"),
            None => format!("column {}", at + 1),
        }
    }
}

/// The delimiter that divides most lines into as many values as the first.
fn find_delimiter(lines: &[String]) -> Option<&'static str> {
    let is_quoted_text = is_quoted(lines);
    let of = |delimiter: &&'static str| {
        let count = |line: &String| split_fields(line, delimiter, is_quoted_text).len();
        let columns = count(lines.first()?);
        let near = &lines[..lines.len().min(50)];
        let alike = near.iter().filter(|line| count(line) == columns).count();
        (columns >= FEWEST).then_some((alike * 10 / near.len(), columns, *delimiter))
    };
    DELIMITERS.iter().filter_map(of).max_by_key(|(alike, columns, _)| (*alike, *columns)).map(|(.., text)| text)
}

/// A blank, where it parts all lines alike and the first names the columns of a known table.
fn detect_blank(lines: &[String]) -> Option<&'static str> {
    let names: Vec<String> = lines.first()?.split(' ').map(String::from).collect();
    let alike = lines.iter().all(|line| line.split(' ').count() == names.len());
    (alike && lines.len() > 1 && super::presets::recognise_preset(&names).is_some()).then_some(" ")
}

/// The notation of the times of columns that by their names have some, where it is none that is
/// read without being declared, and whether another fits as well.
fn form_of(names: &[String], rows: &[Vec<String>]) -> (TimeForm, bool) {
    let names_moment = |name: &String| find_roles(name).iter().any(|(role, _)| role.is_moment());
    let mut texts: Vec<&str> = Vec::new();
    for at in (0..names.len()).filter(|&at| names_moment(&names[at])) {
        let texts_present = rows.iter().filter_map(|row| row.get(at)).map(String::as_str);
        let values: Vec<&str> = texts_present.filter(|text| !crate::text::is_missing(text.as_bytes())).collect();
        let looks_dated = |text: &&str| text.contains(|c: char| "/.-: ".contains(c)) && !is_typed(text);
        if values.iter().all(looks_dated) {
            texts.extend(values);
        }
    }
    let forms = guess_forms(&texts);
    (TimeForm(forms.first().cloned()), forms.len() > 1)
}

/// Returns whether a table has its values in quotes, whatever parts them.
fn is_quoted(lines: &[String]) -> bool {
    lines.first().is_some_and(|line| line.starts_with('"'))
}

/// The values of a line, without blanks around them, and without quotes. Where a table is `quoted`
/// any delimiter may stand within quotes.
fn split_fields(line: &str, delimiter: &str, is_quoted: bool) -> Vec<String> {
    if !(is_quoted || matches!(delimiter, "," | ";")) || !line.contains('"') {
        return line.split(delimiter).map(|field| field.trim().trim_matches('"').to_string()).collect();
    }
    let mut out = Vec::new();
    let mut rest = line;
    loop {
        let indented_rest = rest.trim_start_matches(' ');
        if let Some(quote_rest) = indented_rest.strip_prefix('"') {
            let mut end = 0;
            while let Some(at) = quote_rest[end..].find('"') {
                end += at;
                if quote_rest[end + 1..].starts_with('"') {
                    end += 2;
                } else {
                    break;
                }
            }
            let has_closing_quote = quote_rest[end..].starts_with('"');
            let (value, behind) =
                if has_closing_quote { (&quote_rest[..end], &quote_rest[end + 1..]) } else { (quote_rest, "") };
            out.push(value.replace("\"\"", "\""));
            match behind.find(delimiter) {
                Some(at) => rest = &behind[at + delimiter.len()..],
                None => return out,
            }
        } else {
            match rest.find(delimiter) {
                Some(at) => {
                    out.push(rest[..at].trim().to_string());
                    rest = &rest[at + delimiter.len()..];
                }
                None => {
                    out.push(rest.trim().to_string());
                    return out;
                }
            }
        }
    }
}

/// Returns whether the first row has words where all others have numbers and times, and no number
/// nor time itself.
fn are_units(rows: &[Vec<String>]) -> bool {
    let [first, rest @ ..] = rows else { return false };
    let is_there = |text: &str| !crate::text::is_missing(text.as_bytes());
    let is_number_elsewhere = |at: usize| {
        let mut values = rest.iter().take(20).map(|row| row[at].as_str()).filter(|text| is_there(text)).peekable();
        values.peek().is_some() && values.all(is_typed)
    };
    let words = (0..first.len()).filter(|&at| is_there(&first[at]) && is_number_elsewhere(at)).count();
    words > 1 && !first.iter().any(|text| is_there(text) && is_typed(text))
}

/// Returns whether a first line names columns: it has no number and no time, and either the rows
/// have some, or its words are those of jobs.
fn names_columns(first: &[String], rows: &[Vec<String>]) -> bool {
    let word = |text: &String| text.is_empty() || text.starts_with(|c: char| c.is_alphabetic() || "_@#".contains(c));
    if first.iter().filter(|text| !text.is_empty()).count() < 2 || !first.iter().all(word) {
        return false;
    }
    let known_count = first.iter().filter(|name| super::is_known(name) || !find_roles(name).is_empty()).count();
    match rows {
        [] => known_count * 2 >= first.len().min(6),
        rows => (0..first.len()).any(|at| rows.iter().take(20).any(|row| is_typed(&row[at]))) || known_count > 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_names_and_rows() {
        let of = |text: &str| TableSample::of_lines(&text.lines().map(str::as_bytes).collect::<Vec<_>>(), None);
        let table = of("id, who, n\n1, \"a, b\", 3\n2,c,4\n").expect("a table");
        assert_eq!(table.names, ["id", "who", "n"]);
        assert_eq!(table.rows, [["1", "a, b", "3"], ["2", "c", "4"]]);
        // Rows alone, and the delimiter behind the last value.
        let table = of("1|a|3|\n2|b|4|\n").expect("a table");
        assert_eq!((table.names.len(), table.column_count(), table.rows.len()), (0, 3, 2));
        // Names alone.
        assert_eq!(of("job_id,start,end,user\n").expect("a table").column_count(), 4);
        // A line of units is no row.
        let table = of("id,start,end,user\n-,s,s,name\n1,100,200,ann\n2,150,260,bob\n").expect("a table");
        assert_eq!((table.units.concat(), table.rows.len()), ("-ssname".to_string(), 2));
        assert!(of("id,user,state\nx,ann,new\n2,bob,old\n").expect("a table").units.is_empty());
        for text in ["hello world", "a,b\n1,2\n", ""] {
            assert!(of(text).is_none(), "{text}");
        }
    }
}
