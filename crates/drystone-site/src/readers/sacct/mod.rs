//! What `sacct` prints as text.

mod columns;
mod decode;
mod header;
mod split;

pub(crate) use columns::is_column;
pub(crate) use header::{FirstLine, Header};

use self::columns::{COLUMNS, Column};
use self::decode::decode;
use self::split::{Cut, Splitter, Values};
use super::Reading;
use super::lines::Lines;
use crate::error::SiteError;
use crate::rows::{Intake, Place};
use crate::rules::Rule;
use crate::text::Id;
use std::io::Read;

/// How text without a header, or with an odd delimiter, is laid out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layout {
    /// A layout's name or a list of columns.
    pub(crate) columns: Option<String>,
    pub(crate) delimiter: Option<String>,
}

/// Reads a whole text.
pub(crate) fn read(input: impl Read, job: &mut Reading<'_>, layout: &Layout) -> Result<(), SiteError> {
    let mut lines = Lines::new(input);
    let mut first: Option<(Splitter, Vec<u8>)> = None;
    let mut reader = Reader { file: job.file, behind: None };
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => return job.broken(error, reader.behind.unwrap_or(0)),
        };
        job.lines(line.number)?;
        if line.bytes.is_empty() {
            continue;
        }
        let Some((splitter, header)) = &mut first else {
            let (splitter, is_header) = begin(line.bytes, layout, job)?;
            let header = if is_header { line.bytes.to_vec() } else { Vec::new() };
            let (splitter, header) = first.insert((splitter, header));
            if header.is_empty() {
                reader.row(line.bytes, line.number, line.whole, splitter, job)?;
            }
            continue;
        };
        if !header.is_empty() && line.bytes == header.as_slice() {
            job.intake.count(Rule::Header, Place { file: job.file, line: line.number }, line.bytes, 0);
            continue;
        }
        reader.row(line.bytes, line.number, line.whole, splitter, job)?;
    }
    Ok(())
}

/// The layout from the first line, and whether that is a header.
fn begin(line: &[u8], layout: &Layout, job: &mut Reading<'_>) -> Result<(Splitter, bool), SiteError> {
    let place = || format!("{}:1", job.name);
    let (header, is_header) = match (Header::of_line(line, layout.delimiter.as_deref()), &layout.columns) {
        (FirstLine::Header(header), _) => (header, true),
        (FirstLine::Padded, _) => {
            let text = String::from_utf8_lossy(line).trim().to_string();
            return Err(SiteError::Padded { place: place(), example: format!("`{text}`") });
        }
        (FirstLine::Row, Some(columns)) => (Header::given(columns, line, layout.delimiter.as_deref())?, false),
        (FirstLine::Row, None) => return Err(SiteError::NoHeader { place: place() }),
    };
    let needs: [(&[Column], &'static str, &'static str); 2] = [
        (&[Column::JobId, Column::JobIdRaw], "which job a row is about", "JobIDRaw,JobID"),
        (&[Column::Submit, Column::Start], "when jobs were submitted and started", "Submit,Eligible,Start,End"),
    ];
    for (wanted, what, columns) in needs {
        if !header.has(wanted) {
            return Err(SiteError::NoColumn { file: job.name.to_string(), what, columns });
        }
    }
    job.ignored(&header.ignored);
    Ok((Splitter::new(header), is_header))
}

struct Reader {
    file: u16,
    /// Line of the last row that was whole.
    behind: Option<u32>,
}

impl Reader {
    #[inline]
    fn row(
        &mut self,
        line: &[u8],
        number: u32,
        whole: bool,
        splitter: &mut Splitter,
        job: &mut Reading<'_>,
    ) -> Result<(), SiteError> {
        let place = Place { file: self.file, line: number };
        let free = splitter.header().free;
        let mut values: Values<'_> = [b""; COLUMNS];
        match splitter.split(line, &mut values) {
            Cut::Right => {}
            Cut::Joined => job.intake.count(Rule::Joined, place, line, 0),
            // The rest of a name or comment with a line end in it.
            Cut::Wrong(count) if free && self.behind.is_some() && !begins_a_row(line, count) => {
                job.intake.count(Rule::Continued, place, line, 0);
                return Ok(());
            }
            Cut::Wrong(_) => {
                let rule = if whole { Rule::Columns } else { Rule::Cut };
                job.intake.bad(rule, place, line, 0);
                return if whole { Ok(()) } else { job.cut(place) };
            }
        }
        self.behind = Some(number);
        row(line, place, &values, job.intake)
    }
}

/// Whether a line with too few columns begins like a row.
fn begins_a_row(line: &[u8], count: usize) -> bool {
    let end = line.iter().position(|b| !(b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'+'))).unwrap_or(line.len());
    count > 2 && end > 0
}

/// A row by its columns.
#[inline]
fn row(line: &[u8], place: Place, values: &Values<'_>, intake: &mut Intake) -> Result<(), SiteError> {
    let (name, raw) = (values[Column::JobId as usize], values[Column::JobIdRaw as usize]);
    let id = Id::read(if name.is_empty() { raw } else { name });
    match id {
        Some(Id::Step(of)) => {
            intake.step(of, place, line);
            Ok(())
        }
        Some(Id::Job(id)) => {
            intake.job_begins(name, raw);
            decode(line, place, values, id, intake)
        }
        None => {
            if name.ends_with(b"+") || raw.ends_with(b"+") {
                return Err(padded(place, if name.is_empty() { raw } else { name }, intake));
            }
            intake.bad(Rule::JobId, place, line, 0);
            Ok(())
        }
    }
}

fn padded(place: Place, value: &[u8], intake: &Intake) -> SiteError {
    let example = format!("`{}`", String::from_utf8_lossy(value));
    SiteError::Padded { place: intake.table.files.text(place), example }
}
