//! The header line: which columns, parted by what.

use super::columns::{
    SacctColumn, USAGE_COLUMNS, ValueChange, can_hold, is_canonical, is_column, is_free, is_of_sacct, layout_names,
    parse_column_name,
};
use crate::error::SiteError;
use crate::readers::table::{find_preset, find_roles};
use crate::text::is_missing;

/// Layout of rows.
#[derive(Clone, Debug)]
pub(crate) struct RowHeader {
    /// Meaning of each column, where an import reads it.
    pub(crate) columns: Vec<Option<SacctColumn>>,
    /// Names of columns that are not read.
    pub(crate) ignored: Vec<String>,
    pub(crate) delimiter: Vec<u8>,
    /// True if values may be quoted, as in files of values separated by commas.
    pub(crate) quoted: bool,
    /// True if the last column is free text.
    pub(crate) free: bool,
    /// Columns that may contain delimiters: free text, and features where `|` is one.
    pub(crate) flexible: Vec<bool>,
    /// True if a delimiter follows the last column.
    pub(crate) trailing: bool,
    /// Change of each column's values.
    pub(crate) changes: Vec<ValueChange>,
    /// True if any is changed.
    pub(crate) changed: bool,
    /// True if all names are those that sacct prints.
    pub(crate) is_of_sacct: bool,
    /// True if several columns make the name of a job.
    pub(crate) composed: bool,
    /// True if no column has the number of a job: rows are numbered.
    pub(crate) numbered: bool,
    /// True if a column says what jobs or steps used.
    pub(crate) used: bool,
    /// Columns that say the same as one that is read, by their places: the one, and the other.
    pub(crate) doubled: Vec<(usize, usize)>,
}

#[derive(Debug)]
pub(crate) enum FirstLine {
    Header(RowHeader),
    /// It names columns, padded with blanks.
    Padded,
    /// It is none.
    Row,
}

impl RowHeader {
    /// Examines a first line. `delimiter` is given where the line does not reveal it.
    pub(crate) fn of_line(line: &[u8], delimiter: Option<&str>) -> FirstLine {
        let Ok(text) = std::str::from_utf8(line) else { return FirstLine::Row };
        let text = text.strip_prefix('#').map_or(text, str::trim_start);
        let words = text.split_whitespace().collect::<Vec<_>>();
        let is_padded = words.len() > 1 && words.iter().filter(|w| is_column(w)).count() * 2 > words.len();
        let delimiter = match delimiter {
            Some(sign) => sign.to_string(),
            None if text.starts_with(' ') && is_padded => return FirstLine::Padded,
            None => match guess_delimiter(text) {
                Some(delimiter) if delimiter.trim_matches(' ').is_empty() && is_padded => return FirstLine::Padded,
                Some(delimiter) => delimiter,
                // One column only is possible, but of no use.
                None => return FirstLine::Row,
            },
        };
        let mut names: Vec<String> =
            text.split(delimiter.as_str()).map(|name| name.trim().trim_matches('"').to_string()).collect();
        let trailing = names.len() > 1 && names.last().is_some_and(String::is_empty);
        if trailing {
            names.pop();
        }
        let known_count = names.iter().filter(|name| is_column(name)).count();
        // A table of another kind, some of whose names are known.
        let words = names.iter().all(|name| name.is_empty() || name.starts_with(|c: char| c.is_alphabetic()));
        let alike =
            || known_count + names.iter().filter(|name| !is_column(name) && !find_roles(name).is_empty()).count();
        let has_names = known_count * 2 > names.len() || (known_count > 2 && words && alike() * 2 > names.len());
        if !has_names || known_count < 2.min(names.len()) {
            return FirstLine::Row;
        }
        let mut header = RowHeader { trailing, ..RowHeader::new(&names, delimiter.into_bytes()) };
        header.quoted |= is_quoted(text, &header.delimiter);
        FirstLine::Header(header)
    }

    /// By a layout's name or a list of columns, which count whether the first line names them
    /// or not; and whether it does.
    pub(crate) fn from_layout(
        columns: &str,
        first: &[u8],
        delimiter: Option<&str>,
    ) -> Result<(RowHeader, bool), SiteError> {
        let names = layout_names(columns)?;
        let text = String::from_utf8_lossy(first).into_owned();
        let delimiter = match delimiter {
            Some(sign) => sign.to_string(),
            None => {
                let own = guess_delimiter(&text)
                    .filter(|d| !d.trim_matches(' ').is_empty() && text.matches(d.as_str()).count() + 1 >= names.len());
                own.unwrap_or_else(|| char::from(find_delimiter(first, names.len())).to_string())
            }
        };
        let mut fields: Vec<&str> = text.split(delimiter.as_str()).map(|name| name.trim().trim_matches('"')).collect();
        let trailing =
            fields.len() > 1 && fields.last().is_some_and(|last| last.is_empty()) && fields.len() > names.len();
        if trailing {
            fields.pop();
        }
        // The columns of a table that is known may stand in any order.
        if let Some(preset) = find_preset(columns) {
            let preset_column = |name: &str| preset.columns.iter().find(|(title, _)| title.eq_ignore_ascii_case(name));
            if fields.iter().filter(|name| preset_column(name).is_some()).count() > 2 {
                let names: Vec<String> = fields
                    .iter()
                    .map(|name| preset_column(name).map_or("-", |(_, column)| *column).to_string())
                    .collect();
                let mut header = RowHeader { trailing, ..RowHeader::new(&names, delimiter.into_bytes()) };
                header.quoted |= is_quoted(&text, &header.delimiter);
                return Ok((header, true));
            }
        }
        if fields.len() < names.len() {
            return Err(SiteError::Option(format!(
                "--columns names {} columns, and the first line has {}, parted by `{}`: {}; a hyphen stands for a column to skip, and \
                 --delimiter says what parts them",
                names.len(),
                fields.len(),
                delimiter.escape_debug(),
                text.chars().take(120).collect::<String>()
            )));
        }
        let mut header = RowHeader { trailing, ..RowHeader::new(&names, delimiter.into_bytes()) };
        header.quoted |= is_quoted(&text, &header.delimiter);
        let form = crate::text::TimeForm::default();
        let form_checks = header.formed_values(&fields);
        // Where a job's number stands there is a row, however odd.
        let has_job_number =
            fields.iter().zip(header.columns.iter().zip(&header.changes)).any(|(text, (column, change))| {
                *column == Some(SacctColumn::JobId)
                    && *change == ValueChange::Keep
                    && can_hold(SacctColumn::JobId, text.as_bytes(), &form)
            });
        let names_stand_there = !has_job_number
            && !form_checks.is_empty()
            && form_checks.iter().filter(|fits| !**fits).count() * 2 > form_checks.len();
        Ok((header, names_stand_there))
    }

    fn new(names: &[String], delimiter: Vec<u8>) -> RowHeader {
        let (mut columns, changes): (Vec<Option<SacctColumn>>, Vec<ValueChange>) =
            names.iter().map(|name| parse_column_name(name)).unzip();
        // Of several columns of one meaning that with sacct's own name counts, else the first.
        let mut duplicates = Vec::new();
        for at in 0..columns.len() {
            let Some(first) = columns[..at].iter().position(|column| column.is_some() && *column == columns[at]) else {
                continue;
            };
            let better = is_canonical(&names[at]) && !is_canonical(&names[first]);
            let (winner, duplicate) = if better { (at, first) } else { (first, at) };
            duplicates.push((winner, duplicate));
            columns[duplicate] = None;
        }
        let ignored_names = names.iter().zip(&columns).filter(|(_, c)| c.is_none()).map(|(n, _)| n.clone()).collect();
        let allows_quotes = matches!(delimiter.as_slice(), b"," | b";");
        let free = names.last().is_some_and(|name| is_free(name));
        let flexible = names.iter().zip(&columns).map(|(name, column)| {
            let lists = matches!(
                column,
                Some(SacctColumn::NodeList | SacctColumn::Nodes | SacctColumn::ReqTres | SacctColumn::AllocTres)
            );
            is_free(name) || *column == Some(SacctColumn::Constraints) || (lists && allows_quotes)
        });
        let flexible = flexible.collect();
        let has = |targets: &[SacctColumn]| columns.iter().flatten().any(|column| targets.contains(column));
        RowHeader {
            ignored: ignored_names,
            delimiter,
            quoted: allows_quotes,
            free,
            flexible,
            trailing: false,
            changed: changes.iter().any(|change| *change != ValueChange::Keep),
            is_of_sacct: names.iter().all(|name| is_of_sacct(name)),
            composed: has(&[SacctColumn::TaskId, SacctColumn::JobIndex, SacctColumn::ArrayId, SacctColumn::ArrayTasks]),
            numbered: !has(&[SacctColumn::JobId, SacctColumn::JobIdRaw]),
            used: has(USAGE_COLUMNS),
            doubled: duplicates,
            changes,
            columns,
        }
    }

    /// Returns, for each value of a column with a form (a number or a time), whether it has that
    /// form. Names of columns do not.
    fn formed_values(&self, fields: &[&str]) -> Vec<bool> {
        let form = crate::text::TimeForm::default();
        let typed_values = fields.iter().zip(self.columns.iter().zip(&self.changes));
        let column_values =
            typed_values.filter_map(|(text, (column, change))| Some((text.as_bytes(), (*column)?, *change)));
        column_values
            .filter(|(text, column, change)| *change != ValueChange::Key && has_form(*column) && !text.is_empty())
            .map(|(text, column, _)| can_hold(column, text, &form))
            .collect()
    }

    /// Returns whether a line behind the names says their units: `-,s,s,s,cores`.
    pub(crate) fn is_of_units(&self, line: &[u8]) -> bool {
        let (text, delimiter) = (String::from_utf8_lossy(line), String::from_utf8_lossy(&self.delimiter));
        let fields: Vec<&str> = text
            .split(delimiter.as_ref())
            .map(|value| value.trim().trim_matches('"'))
            .map(|value| if is_missing(value.as_bytes()) { "" } else { value })
            .collect();
        let form_checks = self.formed_values(&fields);
        fields.len() == self.columns.len() && form_checks.len() > 1 && !form_checks.contains(&true)
    }

    pub(crate) fn has_any(&self, targets: &[SacctColumn]) -> bool {
        self.columns.iter().flatten().any(|column| targets.contains(column))
    }
}

/// Returns whether the values of a column have a form that names have not.
fn has_form(column: SacctColumn) -> bool {
    use SacctColumn::{AllocCpus, AllocNodes, ElapsedRaw, Eligible, End, JobId, JobIdRaw, ReqCpus, Start, Submit};
    matches!(column, JobId | JobIdRaw | Submit | Eligible | Start | End | ElapsedRaw | ReqCpus | AllocCpus | AllocNodes)
}

/// The names of a first line.
pub(crate) fn names_of(line: &[u8], delimiter: &[u8]) -> Vec<String> {
    let (text, delimiter) = (String::from_utf8_lossy(line), String::from_utf8_lossy(delimiter));
    text.split(delimiter.as_ref()).map(|name| name.trim().trim_matches('"').to_string()).collect()
}

/// Returns the text between the first two names of columns, or the separator of most of a line
/// whose names have blanks and colons.
fn guess_delimiter(text: &str) -> Option<String> {
    let between = text_between_names(text);
    let usual = ["|", ",", "\t", ";", "\u{1f}"];
    if between.as_deref().is_some_and(|own| own.trim_matches([' ', ':', '.']).is_empty()) {
        let most = usual.into_iter().map(|part| (text.matches(part).count(), part)).max_by_key(|(count, _)| *count);
        if let Some((2.., part)) = most {
            return Some(part.to_string());
        }
    }
    between
}

/// Returns the text between the first two names of columns.
fn text_between_names(text: &str) -> Option<String> {
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '"';
    let first = text.find(|c| !letter(c))?;
    let rest = &text[first..];
    let next = rest.find(letter).unwrap_or(rest.len());
    // `Cluster|Node Name`: a blank within a name parts nothing where something else does.
    let delimiter = &rest[..next];
    Some(if delimiter.trim_matches(' ').is_empty() {
        delimiter.to_string()
    } else {
        delimiter.trim_matches(' ').to_string()
    })
    .filter(|d| !d.is_empty())
}

/// The delimiter of rows without a header: of the usual ones that which makes as many columns, or
/// nearly so.
fn find_delimiter(line: &[u8], columns: usize) -> u8 {
    let count = |delimiter: u8| line.iter().filter(|&&b| b == delimiter).count() + 1;
    let candidates = [b'|', b'\t', b';', b',', 0x1f, b'^'];
    // Blanks part what nothing else does.
    if columns > 1 && candidates.into_iter().all(|delimiter| count(delimiter) == 1) && count(b' ') > 1 {
        return b' ';
    }
    candidates.into_iter().min_by_key(|&delimiter| count(delimiter).abs_diff(columns)).unwrap_or(b'|')
}

/// Returns whether a first line has its values in quotes, as programs for statistics write all.
fn is_quoted(line: &str, delimiter: &[u8]) -> bool {
    delimiter.len() == 1 && line.trim_start_matches(['\u{feff}', ' ']).starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(line: &str) -> Option<(Vec<u8>, usize, bool)> {
        match RowHeader::of_line(line.as_bytes(), None) {
            FirstLine::Header(header) => Some((header.delimiter, header.columns.len(), header.free)),
            _ => None,
        }
    }

    #[test]
    fn any_delimiter_is_found() {
        assert_eq!(header("JobID|User|Submit"), Some((b"|".to_vec(), 3, false)));
        assert_eq!(header("JobID|User|Submit|"), Some((b"|".to_vec(), 3, false)));
        assert_eq!(header("jobid\tuser\tjobname"), Some((b"\t".to_vec(), 3, true)));
        assert_eq!(header("JobIDRaw@@@Start@@@End"), Some((b"@@@".to_vec(), 3, false)));
        assert_eq!(header("job_unique_id,submit_time,eligible_time"), Some((b",".to_vec(), 3, false)));
        assert_eq!(header("JobID\u{1f}User\u{1f}End"), Some((b"\x1f".to_vec(), 3, false)));
    }

    #[test]
    fn rows_and_padded_headers_are_told_apart() {
        let line = "       JobID    JobName  Partition    Account  AllocCPUS      State ExitCode ";
        assert!(matches!(RowHeader::of_line(line.as_bytes(), None), FirstLine::Padded));
        assert!(matches!(RowHeader::of_line(b"JobID           State      ExitCode", None), FirstLine::Padded));
        assert!(matches!(RowHeader::of_line(b"163485|163485|phillips|focaccia", None), FirstLine::Row));
        assert!(matches!(RowHeader::of_line(b"1 0 10 3600 64 -1", None), FirstLine::Row));
        // Blanks and colons within names part nothing.
        assert_eq!(header("Unnamed: 0,JobID,User,Submit"), Some((b",".to_vec(), 4, false)));
        assert_eq!(header("Job ID,User,Start Time,End Time"), Some((b",".to_vec(), 4, false)));
    }

    #[test]
    fn layouts_find_their_delimiter() {
        let row = format!("1|{}|a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,0,1,2|x", "v|".repeat(23));
        let (header, layout_names) = RowHeader::from_layout("xdmod", row.as_bytes(), None).expect("a layout");
        assert!(!layout_names);
        assert_eq!((header.delimiter.as_slice(), header.columns.len(), header.free), (&b"|"[..], 26, true));
        // Brackets of an array in the first column part nothing.
        let (header, _) =
            RowHeader::from_layout("xdmod", row.replacen('1', "7_[1-3]", 1).as_bytes(), None).expect("a layout");
        assert_eq!(header.delimiter, b"|");
    }
}
