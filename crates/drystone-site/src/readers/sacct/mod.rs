//! What `sacct` prints as text.

mod columns;
mod decode;
mod header;
mod parts;
mod split;

pub(crate) use columns::is_column;
pub(crate) use header::{FirstLine, Header};

use self::columns::{COLUMNS, Column};
use self::decode::{Caches, decode};
use self::split::{Cut, Splitter, Values};
use super::Reading;
use super::lines::{Blocks, Line};
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

/// Bytes that a thread takes at once.
const BLOCK: usize = 1 << 22;

/// Reads a whole text.
pub(crate) fn read(input: impl Read, job: &mut Reading<'_>, layout: &Layout) -> Result<(), SiteError> {
    let size = if job.effort.block == 0 { BLOCK } else { job.effort.block };
    let mut blocks = Blocks::new(input, size);
    let Some((mut reader, mut buffer)) = beginning(&mut blocks, job, layout)? else { return Ok(()) };
    // A line that goes on is told from one that is bad by what comes before: that has to be known.
    while job.effort.threads() < 2 || reader.behind.is_none() {
        job.watch.check()?;
        let block = match blocks.next(buffer) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(()),
            Err(error) => return job.broken(error, reader.behind.unwrap_or(0)),
        };
        let cut = reader.take(block.lines(), job.intake)?;
        cut.map_or(Ok(()), |place| job.cut(place))?;
        buffer = block.into_buffer();
    }
    parts::read(&mut blocks, buffer, &reader, job)
}

/// Reads blocks up to the one with the first line and its rows. Answers how the others are read,
/// and memory for them; `None` where there is no line.
fn beginning<R: Read>(
    blocks: &mut Blocks<R>,
    job: &mut Reading<'_>,
    layout: &Layout,
) -> Result<Option<(Reader, Vec<u8>)>, SiteError> {
    let mut buffer = Vec::new();
    loop {
        let block = match blocks.next(buffer) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(None),
            Err(error) => return job.broken(error, 0).map(|()| None),
        };
        let mut lines = block.lines().filter(|line| !line.bytes.is_empty()).peekable();
        if let Some(first) = lines.peek() {
            let (splitter, is_header) = begin(first.bytes, layout, job)?;
            let mut reader = Reader::new(job.file, splitter);
            if is_header {
                reader.header = first.bytes.to_vec();
                lines.next();
            }
            let cut = reader.take(lines, job.intake)?;
            cut.map_or(Ok(()), |place| job.cut(place))?;
            return Ok(Some((reader, block.into_buffer())));
        }
        drop(lines);
        buffer = block.into_buffer();
    }
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

/// Reads rows.
struct Reader {
    file: u16,
    splitter: Splitter,
    /// The first line, where it names columns: it may come again.
    header: Vec<u8>,
    /// Line of the last row that was whole.
    behind: Option<u32>,
    caches: Caches,
}

impl Reader {
    fn new(file: u16, splitter: Splitter) -> Reader {
        Reader { file, splitter, header: Vec::new(), behind: None, caches: Caches::default() }
    }

    /// Another that reads rows as this one does.
    fn another(&self) -> Reader {
        Reader {
            header: self.header.clone(),
            behind: self.behind,
            ..Reader::new(self.file, Splitter::new(self.splitter.header().clone()))
        }
    }

    /// Takes rows. Answers the last of them, where it is cut off.
    fn take<'a>(
        &mut self,
        lines: impl Iterator<Item = Line<'a>>,
        intake: &mut Intake,
    ) -> Result<Option<Place>, SiteError> {
        let mut cut = None;
        for line in lines.filter(|line| !line.bytes.is_empty()) {
            let place = Place { file: self.file, line: line.number };
            if line.bytes == self.header.as_slice() {
                intake.count(Rule::Header, place, line.bytes, 0);
            } else if !self.row(&line, place, intake)? {
                cut = Some(place);
            }
        }
        Ok(cut)
    }

    /// Takes a row; `false` where it is cut off.
    #[inline]
    fn row(&mut self, line: &Line<'_>, place: Place, intake: &mut Intake) -> Result<bool, SiteError> {
        let mut values: Values<'_> = [b""; COLUMNS];
        let free = self.splitter.header().free;
        match self.splitter.split(line.bytes, &mut values) {
            Cut::Right => {}
            Cut::Joined => intake.count(Rule::Joined, place, line.bytes, 0),
            // The rest of a name or comment with a line end in it.
            Cut::Wrong(count) if free && self.behind.is_some() && !begins_a_row(line.bytes, count) => {
                intake.count(Rule::Continued, place, line.bytes, 0);
                return Ok(true);
            }
            Cut::Wrong(_) => {
                let rule = if line.whole { Rule::Columns } else { Rule::Cut };
                intake.bad(rule, place, line.bytes, 0);
                return Ok(line.whole);
            }
        }
        self.behind = Some(line.number);
        row(line.bytes, place, &values, intake, &mut self.caches)?;
        Ok(true)
    }
}

/// Whether a line with too few columns begins like a row.
fn begins_a_row(line: &[u8], count: usize) -> bool {
    let end = line.iter().position(|b| !(b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'+'))).unwrap_or(line.len());
    count > 2 && end > 0
}

/// A row by its columns.
#[inline]
fn row(
    line: &[u8],
    place: Place,
    values: &Values<'_>,
    intake: &mut Intake,
    caches: &mut Caches,
) -> Result<(), SiteError> {
    let (name, raw) = (values[Column::JobId as usize], values[Column::JobIdRaw as usize]);
    let id = Id::read(if name.is_empty() { raw } else { name });
    match id {
        Some(Id::Step(of)) => {
            intake.step(of, place, line);
            Ok(())
        }
        Some(Id::Job(id)) => {
            intake.job_begins(name, raw);
            decode(line, place, values, id, intake, caches)
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
