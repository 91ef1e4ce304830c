//! Output of `sacct` as text.

mod columns;
mod decode;
mod head;
mod header;
mod parts;
mod realign;
mod split;
mod trial;
mod unfold;
mod usage;

pub(crate) use columns::{SacctColumn, ValueChange, is_column, parse_column_name};
pub(crate) use header::{FirstLine, RowHeader};
pub(crate) use trial::{TrialFigures, lacks_zone, try_columns};

use self::columns::COLUMNS;
use self::decode::{Caches, decode_row};
use self::head::TextHead;
use self::realign::{Realigned, realign_row};
use self::split::{ColumnValues, Cut, Splitter};
use self::unfold::Unfolded;
use super::FileReading;
use super::lines::{Blocks, InputLine, LineBlock};
use crate::error::SiteError;
use crate::readers::table::{TableSample, advice};
use crate::rows::{FilePlace, RowIntake, RowTrouble, RowUsage};
use crate::rules::ImportRule;
use crate::text::{Id, IdPart, JobLabel, is_message, is_remark};
use memchr::memmem::Finder;
use std::io::Read;

/// Layout of text without a header, or with an odd delimiter.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextLayout {
    /// A layout's name or a list of columns.
    pub(crate) columns: Option<String>,
    pub(crate) delimiter: Option<String>,
}

/// Bytes that a thread takes at once.
const BLOCK: usize = 1 << 22;

pub(crate) fn read_sacct(input: impl Read, job: &mut FileReading<'_>, layout: &TextLayout) -> Result<(), SiteError> {
    let size = if job.effort.block == 0 { BLOCK } else { job.effort.block };
    let (head, text) = TextHead::read_head(Unfolded::new(input, layout));
    let mut blocks = Blocks::new(text, size);
    let Some((mut reader, mut buffer)) = read_beginning(&mut blocks, &head, job, layout)? else { return Ok(()) };
    // The lines before distinguish a continued line from a bad one, so they must be known.
    while job.effort.threads() < 2 || reader.behind.is_none() {
        job.watch.check_stop()?;
        let block = match blocks.next(buffer) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(()),
            Err(error) => return job.note_broken(error, reader.behind.unwrap_or(0)),
        };
        let cut = reader.take_rows(block.split_lines(), job.intake)?;
        cut.map_or(Ok(()), |place| job.note_cut(place))?;
        buffer = block.into_buffer();
    }
    parts::read_parts(&mut blocks, buffer, &reader, job)
}

/// Reads blocks up to the one with the first line and its rows. Returns how the others are read,
/// and memory for them; `None` where there is no line.
fn read_beginning<R: Read>(
    blocks: &mut Blocks<R>,
    head: &TextHead,
    job: &mut FileReading<'_>,
    layout: &TextLayout,
) -> Result<Option<(SacctReader, Vec<u8>)>, SiteError> {
    let mut buffer = Vec::new();
    let mut reader: Option<SacctReader> = None;
    // A line of units follows a header, in this block or the next.
    let mut expects_units = false;
    loop {
        let block = match blocks.next(buffer) {
            Ok(Some(block)) => block,
            Ok(None) => return Ok(reader.map(|reader| (reader, Vec::new()))),
            Err(error) => return job.note_broken(error, 0).map(|()| None),
        };
        let mut lines = block.split_lines().filter(|line| !line.bytes.is_empty()).peekable();
        if reader.is_none() {
            while let Some(line) = lines.next_if(|line| is_message(line.bytes) || is_remark(line.bytes)) {
                let rule = if is_remark(line.bytes) { ImportRule::Header } else { ImportRule::Message };
                job.intake.count_rule(rule, job.place_of(line.number), line.bytes, 0);
            }
            if let Some(first) = lines.peek() {
                let sample = || {
                    let rows = head.whole_rows();
                    TableSample::of_xdmod(&rows).or_else(|| TableSample::of_lines(&rows, layout.delimiter.as_deref()))
                };
                let (splitter, is_header) = begin_layout(first.bytes, sample, layout, job)?;
                let new_reader = SacctReader::new(job.file, splitter);
                expects_units = is_header;
                reader = Some(if is_header { new_reader.with_header(first.bytes, layout) } else { new_reader });
                if is_header {
                    lines.next();
                }
            }
        }
        if let Some(mut reader) = reader.take_if(|_| !expects_units || lines.peek().is_some()) {
            if expects_units && let Some(line) = lines.next_if(|line| reader.layout.is_of_units(line.bytes)) {
                job.intake.count_rule(ImportRule::Header, job.place_of(line.number), line.bytes, 0);
            }
            let cut = reader.take_rows(lines, job.intake)?;
            cut.map_or(Ok(()), |place| job.note_cut(place))?;
            // What ails every row is said at once.
            job.intake.troubled_early()?;
            return Ok(Some((reader, block.into_buffer())));
        }
        drop(lines);
        buffer = block.into_buffer();
    }
}

/// The layout from the first line, and whether that is a header. `sample` takes the first rows of
/// a table apart, which is worth while only where the names are not those of sacct.
fn begin_layout(
    line: &[u8],
    sample: impl FnOnce() -> Option<TableSample>,
    layout: &TextLayout,
    job: &mut FileReading<'_>,
) -> Result<(Splitter, bool), SiteError> {
    let place = || format!("{}:1", job.name);
    let delimiter = layout.delimiter.as_deref();
    let settings = job.intake.settings();
    let (header, is_header) = match (RowHeader::of_line(line, delimiter), &layout.columns) {
        (FirstLine::Header(_) | FirstLine::Row, Some(columns)) => RowHeader::from_layout(columns, line, delimiter)?,
        (FirstLine::Header(header), None) => {
            // Whatever sacct itself prints needs no proof.
            if !header.is_of_sacct
                && let Some(sample) = sample()
                && let Some(error) = advice::find_doubts(&header, &sample, job.name, &settings)
            {
                return Err(error);
            }
            (header, true)
        }
        (FirstLine::Padded, _) => {
            let text = String::from_utf8_lossy(line).trim().to_string();
            return Err(SiteError::Padded { place: place(), example: format!("`{text}`") });
        }
        (FirstLine::Row, None) => {
            let sample = sample();
            let table_advice = sample.as_ref().and_then(|sample| advice::advise_table(sample, job.name, &settings));
            // The columns of Parquet and of records have names, whatever they mean.
            let strange = sample.filter(|sample| !sample.names.is_empty()).map(|sample| {
                let (looks, advice) = crate::foreign::detect_table(&sample.shown_names(), sample.column_count());
                SiteError::Unknown { file: job.name.to_string(), looks, advice }
            });
            return Err(table_advice.or(strange).unwrap_or_else(|| SiteError::NoHeader { place: place() }));
        }
    };
    if !header.has_any(&[SacctColumn::Submit, SacctColumn::Start]) {
        return Err(SiteError::NoColumn {
            file: job.name.to_string(),
            what: "the submissions and starts of jobs",
            columns: "Submit,Eligible,Start,End",
        });
    }
    if layout.columns.is_some() {
        job.intake.table.unkeyed.insert(job.file);
    }
    if !header.has_any(&[SacctColumn::End]) {
        job.intake.table.endless.insert(job.file);
    }
    if header.numbered {
        job.memory.numbered.push(job.name.to_string());
    }
    job.note_ignored(&header.ignored);
    Ok((Splitter::new(header), is_header))
}

struct SacctReader {
    file: u16,
    splitter: Splitter,
    layout: RowHeader,
    /// The line that names the columns: it may come again, or another one.
    header: Vec<u8>,
    delimiter: Option<String>,
    /// Name of the column of job numbers, where columns are those that the file names.
    mark: Option<Finder<'static>>,
    /// Line of the last row that was whole.
    behind: Option<u32>,
    caches: Caches,
    changed: ChangedValues,
}

/// Values that were changed before they are read, by their columns.
#[derive(Default)]
struct ChangedValues {
    texts: Vec<(SacctColumn, Vec<u8>)>,
}

impl ChangedValues {
    /// Makes the changes of the layout. A value that cannot be changed stays as it is, and is
    /// reported as such.
    fn make_changes(&mut self, layout: &RowHeader, values: &ColumnValues<'_>) {
        self.texts.clear();
        let instances = crate::text::parse_decimal(values[SacctColumn::Instances as usize]).unwrap_or(1.0).max(1.0);
        for (column, change) in layout.columns.iter().zip(&layout.changes) {
            let Some(column) = column.filter(|_| *change != ValueChange::Keep) else { continue };
            let value = values[column as usize];
            if crate::text::is_missing(value) {
                continue;
            }
            let number = crate::text::parse_decimal(value);
            let text = match (change, number) {
                // A name that is a number keeps it.
                (ValueChange::Key, Some(_))
                    if crate::text::parse_digits(value).is_some_and(|number| number < 1 << 52) =>
                {
                    continue;
                }
                (ValueChange::Key, _) => crate::rows::key_of(value).to_string(),
                (ValueChange::Code(code), Some(number)) => code.state_word(number as u64).to_string(),
                // Parts of a processor are rounded up once for all instances.
                (ValueChange::Over(by), Some(number)) if is_part(column) => {
                    (number * instances / f64::from(*by)).ceil().to_string()
                }
                (ValueChange::Over(by), Some(number)) => (number / f64::from(*by)).ceil().to_string(),
                (ValueChange::Times(by), Some(number)) => (number * f64::from(*by)).round().to_string(),
                (ValueChange::Plus(by), Some(number)) => (number + f64::from(*by)).floor().to_string(),
                _ => continue,
            };
            self.texts.push((column, text.into_bytes()));
        }
        if instances > 1.0 && self.texts.iter().any(|(column, _)| is_part(*column)) {
            // Sizes without a change are multiplied here as well: the rest of the row is of all.
            for (column, _) in
                layout.columns.iter().zip(&layout.changes).filter(|(_, change)| **change == ValueChange::Keep)
            {
                let Some(column) = column.filter(|column| is_part(*column)) else { continue };
                if let Some(number) = crate::text::parse_decimal(values[column as usize]) {
                    self.texts.push((column, (number * instances).to_string().into_bytes()));
                }
            }
            self.texts.push((SacctColumn::Instances, b"1".to_vec()));
        }
    }
}

/// Returns whether a column has the size of one instance.
fn is_part(column: SacctColumn) -> bool {
    matches!(column, SacctColumn::ReqCpus | SacctColumn::AllocCpus | SacctColumn::ReqGpus | SacctColumn::AllocGpus)
}

/// Returns whether a row's numbers are fractions, `11.0`, as data frames write columns with gaps:
/// no step is called so where a count, a limit or a time is written in the same way.
fn in_fractions(values: &ColumnValues<'_>) -> bool {
    use SacctColumn::{AllocCpus, AllocNodes, ElapsedRaw, End, ReqCpus, Start, Submit, TimeLimitRaw, Uid};
    let fraction = |column: SacctColumn| {
        let value = values[column as usize];
        value.strip_suffix(b".0").is_some_and(|number| crate::text::parse_digits(number).is_some())
    };
    [Submit, Start, End, ElapsedRaw, TimeLimitRaw, AllocCpus, ReqCpus, AllocNodes, Uid].into_iter().any(fraction)
}

impl SacctReader {
    fn new(file: u16, splitter: Splitter) -> SacctReader {
        let layout = splitter.header().clone();
        SacctReader {
            file,
            splitter,
            layout,
            header: Vec::new(),
            delimiter: None,
            mark: None,
            behind: None,
            caches: Caches::default(),
            changed: ChangedValues::default(),
        }
    }

    /// Another that reads rows as this one does.
    fn new_reader(&self) -> SacctReader {
        SacctReader {
            header: self.header.clone(),
            delimiter: self.delimiter.clone(),
            mark: self.mark.clone(),
            behind: self.behind,
            ..SacctReader::new(self.file, Splitter::new(self.splitter.header().clone()))
        }
    }

    /// Reads by the columns that a first line names.
    fn with_header(mut self, header: &[u8], layout: &TextLayout) -> SacctReader {
        self.header = header.to_vec();
        if layout.columns.is_none() {
            self.delimiter.clone_from(&layout.delimiter);
            let at =
                self.layout.columns.iter().position(|c| matches!(c, Some(SacctColumn::JobId | SacctColumn::JobIdRaw)));
            let names = header::names_of(header, &self.layout.delimiter);
            let name = at.and_then(|at| names.into_iter().nth(at));
            self.mark = name.map(|name| Finder::new(&name).into_owned());
        }
        self
    }

    /// Returns whether a line names columns in place of those that counted before, and follows it:
    /// two files, one behind the other. The names of most lines are not looked at: only those that
    /// have the name of the job's number.
    fn names_others(&mut self, line: &[u8]) -> bool {
        if self.mark.as_ref().is_none_or(|mark| mark.find(line).is_none()) {
            return false;
        }
        let FirstLine::Header(header) = RowHeader::of_line(line, self.delimiter.as_deref()) else { return false };
        if !header.has_any(&[SacctColumn::JobId, SacctColumn::JobIdRaw])
            || !header.has_any(&[SacctColumn::Submit, SacctColumn::Start])
        {
            return false;
        }
        (self.layout, self.splitter) = (header.clone(), Splitter::new(header));
        self.header = line.to_vec();
        true
    }

    /// Reads on from a block's beginning by the columns that count there.
    fn follow_header(&mut self, header: &[u8]) {
        if self.header != header {
            self.names_others(header);
        }
    }

    /// Passes over a block: what it says of columns counts behind it.
    fn pass_block(&mut self, block: &LineBlock) {
        if self.mark.as_ref().is_some_and(|mark| mark.find(block.as_bytes()).is_some()) {
            block.split_lines().for_each(|line| _ = self.names_others(line.bytes));
        }
    }

    /// Takes rows. Returns the last of them, where it is cut off.
    fn take_rows<'a>(
        &mut self,
        lines: impl Iterator<Item = InputLine<'a>>,
        intake: &mut RowIntake,
    ) -> Result<Option<FilePlace>, SiteError> {
        let mut cut = None;
        for line in lines.filter(|line| !line.bytes.is_empty()) {
            let place = FilePlace { file: self.file, line: line.number };
            if line.bytes == self.header.as_slice() || self.names_others(line.bytes) {
                intake.count_rule(ImportRule::Header, place, line.bytes, 0);
            } else if is_message(line.bytes) {
                intake.count_rule(ImportRule::Message, place, line.bytes, 0);
            } else if !self.take_row(&line, place, intake)? {
                cut = Some(place);
            }
        }
        Ok(cut)
    }

    /// Takes a row; `false` where it is cut off.
    #[inline]
    fn take_row(&mut self, line: &InputLine<'_>, place: FilePlace, intake: &mut RowIntake) -> Result<bool, SiteError> {
        if memchr::memchr(0, line.bytes).is_some() {
            intake.count_bad(ImportRule::Zeros, place, line.bytes, 0);
            return Ok(true);
        }
        let mut values: ColumnValues<'_> = [b""; COLUMNS];
        let free = self.splitter.header().free;
        match self.splitter.split_row(line.bytes, &mut values) {
            Cut::Right => {}
            Cut::Joined => intake.count_rule(ImportRule::Joined, place, line.bytes, 0),
            // The rest of a name or comment with a line end in it.
            Cut::Wrong(count) if free && self.behind.is_some() && !begins_a_row(line.bytes, count) => {
                intake.count_rule(ImportRule::Continued, place, line.bytes, 0);
                return Ok(true);
            }
            Cut::Wrong(count) if line.whole && count > self.layout.columns.len() => {
                let realignment = realign_row(&self.layout, line.bytes, &intake.form, &mut values);
                match realignment {
                    Realigned::Found { last: true } => intake.count_rule(ImportRule::Joined, place, line.bytes, 0),
                    Realigned::Found { last: false } => intake.count_rule(ImportRule::Realigned, place, line.bytes, 0),
                    Realigned::Nothing => {
                        intake.count_bad(ImportRule::Columns, place, line.bytes, 0);
                        return Ok(true);
                    }
                }
            }
            Cut::Wrong(_) => {
                let rule = if line.whole { ImportRule::Columns } else { ImportRule::Cut };
                intake.count_bad(rule, place, line.bytes, 0);
                return Ok(line.whole);
            }
        }
        self.behind = Some(line.number);
        let numbers = [values[SacctColumn::JobId as usize], values[SacctColumn::JobIdRaw as usize]];
        if numbers.iter().any(|number| number.ends_with(b".0")) && in_fractions(&values) {
            for column in [SacctColumn::JobId, SacctColumn::JobIdRaw] {
                let value = values[column as usize];
                values[column as usize] = value.strip_suffix(b".0").unwrap_or(value);
            }
        }
        if self.layout.changed {
            self.changed.make_changes(&self.layout, &values);
            for (column, text) in &self.changed.texts {
                values[*column as usize] = text;
            }
        }
        let composed_id = self.layout.composed.then(|| compose_id(&values)).flatten();
        if let Some(text) = &composed_id {
            values[SacctColumn::JobId as usize] = text;
        }
        let usage = if self.layout.used { usage::row_usage(&values) } else { RowUsage::UNKNOWN };
        if self.layout.numbered {
            // Of several files, each has numbers of its own.
            let number = u64::from(place.file) * FILE_NUMBERS + u64::from(place.line);
            let id = JobLabel { number, part: IdPart::Whole };
            intake.count_rule(ImportRule::Numbered, place, line.bytes, 0);
            intake.job_begins(b"", b"");
            decode_row(line.bytes, place, &values, (id, usage), intake, &mut self.caches)?;
            return Ok(true);
        }
        decode_columns(line.bytes, place, &values, usage, intake, &mut self.caches)?;
        Ok(true)
    }
}

/// Numbers that each file of rows without a job's number has for itself.
const FILE_NUMBERS: u64 = 10_000_000_000;

/// The name of a job that several columns say: its number, or its array's, and the task.
fn compose_id(values: &ColumnValues<'_>) -> Option<Vec<u8>> {
    let get = |column: SacctColumn| values[column as usize];
    let [id, raw] = [SacctColumn::JobId, SacctColumn::JobIdRaw].map(get);
    let mut base = if id.is_empty() { raw } else { id };
    let array = get(SacctColumn::ArrayId);
    match crate::text::parse_whole(array) {
        Some(0) => return None,
        Some(_) => base = array,
        None if !array.is_empty() => return None,
        None => {}
    }
    // Databases have their own numbers for "none".
    let is_none = |number: u64| matches!(number, 65_534 | 4_294_967_294 | 4_294_967_295);
    // Indices of LSF begin at 1; a job that is no array has 0.
    let index = Some(get(SacctColumn::JobIndex)).filter(|index| *index != b"0").unwrap_or_default();
    let task = if index.is_empty() { get(SacctColumn::TaskId) } else { index };
    let number = crate::text::parse_whole(task).filter(|&number| !is_none(number)).and_then(|n| u32::try_from(n).ok());
    match number {
        Some(number) => Some([base, b"_", number.to_string().as_bytes()].concat()),
        None if crate::text::parse_whole(task).is_some() || crate::text::is_missing(task) || task.starts_with(b"-") => {
            let tasks = get(SacctColumn::ArrayTasks);
            let has_waiting_tasks = crate::text::parse_whole(array).is_some() && !crate::text::is_missing(tasks);
            has_waiting_tasks.then(|| [base, b"_[", tasks, b"]"].concat())
        }
        // Names of tasks, unique within their job.
        None => Some(crate::rows::key_of(&[base, b"\0", task].concat()).to_string().into_bytes()),
    }
}

/// Rows of a table that is no text, as if they were lines.
pub(crate) struct TableRows(SacctReader);

impl TableRows {
    /// By the names of the columns, parted like the rows; `sample` has the first of these.
    pub(crate) fn begin_rows(
        names: &str,
        sample: TableSample,
        layout: &TextLayout,
        job: &mut FileReading<'_>,
    ) -> Result<TableRows, SiteError> {
        let (splitter, _) = begin_layout(names.as_bytes(), || Some(sample), layout, job)?;
        Ok(TableRows(SacctReader::new(job.file, splitter)))
    }

    pub(crate) fn read_columns(&self) -> impl Iterator<Item = bool> {
        self.0.layout.columns.iter().map(Option::is_some)
    }

    pub(crate) fn take_row(&mut self, line: &InputLine<'_>, job: &mut FileReading<'_>) -> Result<(), SiteError> {
        let place = job.place_of(line.number);
        self.0.take_row(line, place, job.intake).map(|_| ())
    }
}

/// Returns whether a line with too few columns begins like a row.
fn begins_a_row(line: &[u8], count: usize) -> bool {
    let end = line.iter().position(|b| !(b.is_ascii_digit() || matches!(b, b'_' | b'.' | b'+'))).unwrap_or(line.len());
    count > 2 && end > 0
}

#[inline]
fn decode_columns(
    line: &[u8],
    place: FilePlace,
    values: &ColumnValues<'_>,
    usage: RowUsage,
    intake: &mut RowIntake,
    caches: &mut Caches,
) -> Result<(), SiteError> {
    let (name, raw) = (values[SacctColumn::JobId as usize], values[SacctColumn::JobIdRaw as usize]);
    let id = Id::parse_id(if name.is_empty() { raw } else { name });
    match id {
        Some(Id::Step(of)) => {
            intake.take_step(of, place, line);
            intake.step_usage(of, usage);
            Ok(())
        }
        Some(Id::Job(id)) => {
            intake.job_begins(name, raw);
            decode_row(line, place, values, (id, usage), intake, caches)
        }
        None => {
            if name.ends_with(b"+") || raw.ends_with(b"+") {
                intake.note_trouble(RowTrouble::Padded, place, if name.is_empty() { raw } else { name });
            }
            intake.count_bad(ImportRule::JobId, place, line, 0);
            Ok(())
        }
    }
}
