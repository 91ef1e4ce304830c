//! Output of `sacct` as text.

mod columns;
mod decode;
mod header;
mod parts;
mod presets;
mod realign;
mod split;
mod suggest;
mod unfold;

pub(crate) use columns::guess;
pub(crate) use columns::is_column;
pub(crate) use header::{FirstLine, Header};
pub(crate) use presets::preset_names;
pub(crate) use suggest::{known_table, suggest};

use self::columns::{COLUMNS, Change, Column};
use self::decode::{Caches, decode};
use self::realign::{Realigned, realign};
use self::split::{Cut, Splitter, Values};
use self::unfold::Unfolded;
use super::Reading;
use super::lines::{Blocks, Line};
use crate::error::SiteError;
use crate::rows::{Intake, Place, Trouble};
use crate::rules::Rule;
use crate::text::{Id, is_message};
use std::io::Read;

/// Layout of text without a header, or with an odd delimiter.
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
    let mut blocks = Blocks::new(Unfolded::new(input, layout), size);
    let Some((mut reader, mut buffer)) = beginning(&mut blocks, job, layout)? else { return Ok(()) };
    // The lines before distinguish a continued line from a bad one, so they must be known.
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

/// Reads blocks up to the one with the first line and its rows. Returns how the others are read,
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
        while let Some(line) = lines.next_if(|line| is_message(line.bytes)) {
            job.intake.count(Rule::Message, job.place(line.number), line.bytes, 0);
        }
        if let Some(first) = lines.peek() {
            let (splitter, is_header) = begin(first.bytes, layout, job)?;
            let mut reader = Reader::new(job.file, splitter);
            if is_header {
                reader.header = first.bytes.to_vec();
                lines.next();
            }
            let cut = reader.take(lines, job.intake)?;
            cut.map_or(Ok(()), |place| job.cut(place))?;
            // What ails every row is said at once.
            job.intake.troubled_early()?;
            return Ok(Some((reader, block.into_buffer())));
        }
        drop(lines);
        buffer = block.into_buffer();
    }
}

/// The layout from the first line, and whether that is a header.
fn begin(line: &[u8], layout: &Layout, job: &mut Reading<'_>) -> Result<(Splitter, bool), SiteError> {
    let place = || format!("{}:1", job.name);
    let delimiter = layout.delimiter.as_deref();
    let (header, is_header) = match (Header::of_line(line, delimiter), &layout.columns) {
        (FirstLine::Header(_) | FirstLine::Row, Some(columns)) => Header::told(columns, line, delimiter)?,
        (FirstLine::Header(header), None) => (header, true),
        (FirstLine::Padded, _) => {
            let text = String::from_utf8_lossy(line).trim().to_string();
            return Err(SiteError::Padded { place: place(), example: format!("`{text}`") });
        }
        (FirstLine::Row, None) => return Err(nameless(line, job.name, place())),
    };
    if let (true, None) = (is_header, &layout.columns)
        && let Some((lost, columns)) = header.unread(&header::names_of(line))
    {
        return Err(unread(&header::names_of(line), &lost, columns, job.name));
    }
    let needs: [(&[Column], &'static str, &'static str); 2] = [
        (&[Column::JobId, Column::JobIdRaw], "the job of a row", "JobIDRaw,JobID"),
        (&[Column::Submit, Column::Start], "the submissions and starts of jobs", "Submit,Eligible,Start,End"),
    ];
    for (wanted, what, columns) in needs {
        if !header.has(wanted) {
            return Err(SiteError::NoColumn { file: job.name.to_string(), what, columns });
        }
    }
    job.ignored(&header.ignored);
    Ok((Splitter::new(header), is_header))
}

/// Columns that are not known: the table by its name, where it is a public one.
fn unread(names: &[String], lost: &[String], columns: String, file: &str) -> SiteError {
    let columns = known_table(names, lost).map_or(columns, String::from);
    SiteError::UnreadColumns { file: file.to_string(), names: lost.join(", "), columns }
}

/// Returns the error for a first line that names no columns of sacct, with the `--columns` that
/// would continue.
fn nameless(line: &[u8], file: &str, place: String) -> SiteError {
    let (names, empty) = (header::names_of(line), Header::empty(header::names_of(line).len()));
    if let Some(table) = known_table(&names, &[]) {
        return SiteError::NamelessColumns {
            place,
            found: "these are the names of a table that is known",
            columns: table.to_string(),
            unnamed: "The columns may stand in any order".to_string(),
        };
    }
    if let Some((lost, columns)) = empty.unread(&names).filter(|(lost, _)| lost.len() > 2) {
        return unread(&names, &lost, columns, file);
    }
    let Some(found) = suggest(line) else { return SiteError::NoHeader { place } };
    let sizes = if suggest::lacks_size(&found.columns) { ", one of them AllocCPUS" } else { "" };
    let unnamed = match found.unnamed.as_str() {
        "" => "A hyphen skips a column".to_string(),
        values => format!("Put names in the place of hyphens where you know them{sizes}: the columns {values}"),
    };
    let told = "no header line says what the columns are; by their values they could be";
    SiteError::NamelessColumns { place, found: told, columns: found.columns, unnamed }
}

/// Reads rows.
struct Reader {
    file: u16,
    splitter: Splitter,
    layout: Header,
    /// The first line, where it names columns: it may come again.
    header: Vec<u8>,
    /// Line of the last row that was whole.
    behind: Option<u32>,
    caches: Caches,
    changed: Changed,
}

/// Values that were changed before they are read, by their columns.
#[derive(Default)]
struct Changed {
    texts: Vec<(Column, Vec<u8>)>,
}

impl Changed {
    /// Makes the changes of the layout. A value that cannot be changed stays as it is, and is
    /// reported as such.
    fn make(&mut self, layout: &Header, values: &Values<'_>) {
        self.texts.clear();
        for (column, change) in layout.columns.iter().zip(&layout.changes) {
            let Some(column) = column.filter(|_| *change != Change::Keep) else { continue };
            let value = values[column as usize];
            if crate::text::is_missing(value) {
                continue;
            }
            let number = crate::text::decimal(value);
            let text = match (change, number) {
                (Change::Key, _) => crate::rows::key_of(value).to_string(),
                (Change::Over(by), Some(number)) => (number / f64::from(*by)).ceil().to_string(),
                (Change::Times(by), Some(number)) => (number * f64::from(*by)).round().to_string(),
                (Change::Plus(by), Some(number)) => (number + f64::from(*by)).floor().to_string(),
                _ => continue,
            };
            self.texts.push((column, text.into_bytes()));
        }
    }
}

/// Returns whether a row's numbers are fractions, `11.0`, as data frames write columns with gaps:
/// no step is called so where a count, a limit or a time is written in the same way.
fn in_fractions(values: &Values<'_>) -> bool {
    use Column::{AllocCpus, AllocNodes, ElapsedRaw, End, ReqCpus, Start, Submit, TimeLimitRaw, Uid};
    let fraction = |column: Column| {
        let value = values[column as usize];
        value.strip_suffix(b".0").is_some_and(|number| crate::text::digits(number).is_some())
    };
    [Submit, Start, End, ElapsedRaw, TimeLimitRaw, AllocCpus, ReqCpus, AllocNodes, Uid].into_iter().any(fraction)
}

impl Reader {
    fn new(file: u16, splitter: Splitter) -> Reader {
        let layout = splitter.header().clone();
        Reader {
            file,
            splitter,
            layout,
            header: Vec::new(),
            behind: None,
            caches: Caches::default(),
            changed: Changed::default(),
        }
    }

    /// Another that reads rows as this one does.
    fn another(&self) -> Reader {
        Reader {
            header: self.header.clone(),
            behind: self.behind,
            ..Reader::new(self.file, Splitter::new(self.splitter.header().clone()))
        }
    }

    /// Takes rows. Returns the last of them, where it is cut off.
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
            } else if is_message(line.bytes) {
                intake.count(Rule::Message, place, line.bytes, 0);
            } else if !self.row(&line, place, intake)? {
                cut = Some(place);
            }
        }
        Ok(cut)
    }

    /// Takes a row; `false` where it is cut off.
    #[inline]
    fn row(&mut self, line: &Line<'_>, place: Place, intake: &mut Intake) -> Result<bool, SiteError> {
        if memchr::memchr(0, line.bytes).is_some() {
            intake.bad(Rule::Zeros, place, line.bytes, 0);
            return Ok(true);
        }
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
            Cut::Wrong(count) if line.whole && count > self.layout.columns.len() => {
                let found = realign(&self.layout, line.bytes, &intake.form, &mut values);
                match found {
                    Realigned::Found { last: true } => intake.count(Rule::Joined, place, line.bytes, 0),
                    Realigned::Found { last: false } => intake.count(Rule::Realigned, place, line.bytes, 0),
                    Realigned::Nothing => {
                        intake.bad(Rule::Columns, place, line.bytes, 0);
                        return Ok(true);
                    }
                }
            }
            Cut::Wrong(_) => {
                let rule = if line.whole { Rule::Columns } else { Rule::Cut };
                intake.bad(rule, place, line.bytes, 0);
                return Ok(line.whole);
            }
        }
        self.behind = Some(line.number);
        let numbers = [values[Column::JobId as usize], values[Column::JobIdRaw as usize]];
        if numbers.iter().any(|number| number.ends_with(b".0")) && in_fractions(&values) {
            for column in [Column::JobId, Column::JobIdRaw] {
                let value = values[column as usize];
                values[column as usize] = value.strip_suffix(b".0").unwrap_or(value);
            }
        }
        if self.layout.changed {
            self.changed.make(&self.layout, &values);
            for (column, text) in &self.changed.texts {
                values[*column as usize] = text;
            }
        }
        row(line.bytes, place, &values, intake, &mut self.caches)?;
        Ok(true)
    }
}

/// Rows of a table that is no text, as if they were lines.
pub(crate) struct Rows(Reader);

impl Rows {
    /// By the names of the columns, parted like the rows.
    pub(crate) fn begin(names: &str, layout: &Layout, job: &mut Reading<'_>) -> Result<Rows, SiteError> {
        let (splitter, _) = begin(names.as_bytes(), layout, job)?;
        Ok(Rows(Reader::new(job.file, splitter)))
    }

    /// Takes a row.
    pub(crate) fn take(&mut self, line: &Line<'_>, job: &mut Reading<'_>) -> Result<(), SiteError> {
        let place = job.place(line.number);
        self.0.row(line, place, job.intake).map(|_| ())
    }
}

/// Returns whether a line with too few columns begins like a row.
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
                intake.trouble(Trouble::Padded, place, if name.is_empty() { raw } else { name });
            }
            intake.bad(Rule::JobId, place, line, 0);
            Ok(())
        }
    }
}
