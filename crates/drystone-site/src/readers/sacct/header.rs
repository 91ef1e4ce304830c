//! The header line: which columns, parted by what.

use super::columns::{Column, column, is_column, is_free, layout};
use crate::error::SiteError;

/// How rows are laid out.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    /// What each column is, where an import reads it.
    pub(crate) columns: Vec<Option<Column>>,
    /// Names of columns that are not read.
    pub(crate) ignored: Vec<String>,
    /// What parts columns.
    pub(crate) delimiter: Vec<u8>,
    /// Whether values may be quoted, as in files of values parted by commas.
    pub(crate) quoted: bool,
    /// Whether the last column is free text.
    pub(crate) free: bool,
}

/// What a first line is.
#[derive(Debug)]
pub(crate) enum FirstLine {
    /// It names columns.
    Header(Header),
    /// It names columns, padded with blanks.
    Padded,
    /// It is none.
    Row,
}

impl Header {
    /// Looks at a first line. `delimiter` is given where it cannot be told from the line.
    pub(crate) fn of_line(line: &[u8], delimiter: Option<&str>) -> FirstLine {
        let Ok(text) = std::str::from_utf8(line) else { return FirstLine::Row };
        let words = text.split_whitespace().collect::<Vec<_>>();
        let padded = words.len() > 1 && words.iter().filter(|w| is_column(w)).count() * 2 > words.len();
        let delimiter = match delimiter {
            Some(given) => given.to_string(),
            None if text.starts_with(' ') && padded => return FirstLine::Padded,
            None => match guess(text) {
                Some(delimiter) if delimiter.trim_matches(' ').is_empty() && padded => return FirstLine::Padded,
                Some(delimiter) => delimiter,
                // One column only is possible, but of no use.
                None => return FirstLine::Row,
            },
        };
        let mut names: Vec<String> =
            text.split(delimiter.as_str()).map(|name| name.trim().trim_matches('"').to_string()).collect();
        if names.len() > 1 && names.last().is_some_and(String::is_empty) {
            names.pop();
        }
        let known = names.iter().filter(|name| is_column(name)).count();
        if known * 2 <= names.len() || names.is_empty() || known < 2.min(names.len()) {
            return FirstLine::Row;
        }
        FirstLine::Header(Header::new(&names, delimiter.into_bytes()))
    }

    /// For rows without a header, by a layout's name or a list of columns.
    pub(crate) fn given(columns: &str, first: &[u8], delimiter: Option<&str>) -> Result<Header, SiteError> {
        let names = layout(columns)?;
        let delimiter = match delimiter {
            Some(given) => given.as_bytes().to_vec(),
            None => vec![parting(first, names.len())],
        };
        Ok(Header::new(&names, delimiter))
    }

    fn new(names: &[String], delimiter: Vec<u8>) -> Header {
        let columns: Vec<Option<Column>> = names.iter().map(|name| column(name)).collect();
        let ignored = names.iter().zip(&columns).filter(|(_, c)| c.is_none()).map(|(n, _)| n.clone()).collect();
        let quoted = matches!(delimiter.as_slice(), b"," | b";");
        let free = names.last().is_some_and(|name| is_free(name));
        Header { columns, ignored, delimiter, quoted, free }
    }

    /// Whether it has one of these columns.
    pub(crate) fn has(&self, wanted: &[Column]) -> bool {
        self.columns.iter().flatten().any(|column| wanted.contains(column))
    }
}

/// What stands between the first two names of columns.
fn guess(text: &str) -> Option<String> {
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
fn parting(line: &[u8], columns: usize) -> u8 {
    let count = |delimiter: u8| line.iter().filter(|&&b| b == delimiter).count() + 1;
    let candidates = [b'|', b'\t', b';', b',', 0x1f, b'^'];
    candidates.into_iter().min_by_key(|&delimiter| count(delimiter).abs_diff(columns)).unwrap_or(b'|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(line: &str) -> Option<(Vec<u8>, usize, bool)> {
        match Header::of_line(line.as_bytes(), None) {
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
        assert!(matches!(Header::of_line(line.as_bytes(), None), FirstLine::Padded));
        assert!(matches!(Header::of_line(b"JobID           State      ExitCode", None), FirstLine::Padded));
        assert!(matches!(Header::of_line(b"163485|163485|phillips|focaccia", None), FirstLine::Row));
        assert!(matches!(Header::of_line(b"1 0 10 3600 64 -1", None), FirstLine::Row));
    }

    #[test]
    fn layouts_find_their_delimiter() {
        let row = format!("1|{}|a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,0,1,2|x", "v|".repeat(23));
        let header = Header::given("xdmod", row.as_bytes(), None).expect("a layout");
        assert_eq!((header.delimiter.as_slice(), header.columns.len(), header.free), (&b"|"[..], 26, true));
    }
}
