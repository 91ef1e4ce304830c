//! Takes what readers find, settles times, and puts rows into the table.

use super::draft::RowDraft;
use super::folds::{self, Candidates, OpenHour, Settled};
use super::places::{FileNames, FilePlace};
use super::symbols::Symbol;
use super::table::{AccountingRow, AccountingTable, NONE, RowNote, RowPart, RowShape, Where, Who};
use super::troubles::{RowTrouble, Troubles};
use super::usage::RowUsage;
use crate::clock::{Local, Zone, ZoneLookup};
use crate::error::SiteError;
use crate::ranges::NodeRanges;
use crate::rules::{Example, ImportRule, RuleTally};
use crate::text::{IdPart, RecordState, TimeForm, UNKNOWN, When};

#[derive(Clone, Debug, Default)]
pub(crate) struct ReadSettings {
    /// The zone of times that have none.
    pub(crate) zone: Option<Zone>,
    /// Notation of times, beside the usual forms.
    pub(crate) form: TimeForm,
    /// Only rows of this cluster.
    pub(crate) cluster: Option<String>,
    /// Ranges of nodes that jobs ask for, where they are collected.
    pub(crate) ranges: Option<NodeRanges>,
}

/// Constructor of intakes of parts of a file.
pub(crate) struct IntakeRecipe {
    settings: ReadSettings,
    cluster: Option<Vec<u8>>,
    files: FileNames,
}

impl IntakeRecipe {
    /// An intake of a part of the file that other parts come before.
    pub(crate) fn part_intake(&self) -> RowIntake {
        let mut part = RowIntake::new(self.settings.clone());
        part.cluster.clone_from(&self.cluster);
        part.table.files = self.files.clone();
        part.leading = Some(Vec::new());
        part
    }
}

/// Rows that are kept to find their zone.
const OFF_SPANS: usize = 2_000;

/// So many rows tell what a file is like.
const MANY: u64 = 1_000;

pub(crate) struct RowIntake {
    pub(crate) table: AccountingTable,
    pub(crate) tally: RuleTally,
    pub(crate) form: TimeForm,
    cluster: Option<Vec<u8>>,
    zone: Option<ZoneLookup>,
    ranges: Option<NodeRanges>,
    open: Vec<OpenHour>,
    /// Jobs whose steps were found elsewhere than behind their own row.
    pub(crate) orphans: Vec<(Symbol, FilePlace)>,
    /// The name of the last job, and its raw number as text.
    last_job: [Vec<u8>; 2],
    /// Of a part of a file that another part comes before: jobs whose steps come before the first
    /// job.
    leading: Option<Vec<(Vec<u8>, FilePlace)>>,
    /// Use that these steps made of their jobs.
    leading_usage: Vec<(Vec<u8>, RowUsage)>,
    /// True if a job has come.
    begun: bool,
    /// The row of the last job, if it has one.
    last_row: Option<u32>,
    /// Rows in which End - Start is an hour off Elapsed + Suspended, and all rows that know these.
    pub(crate) hour_off: (u64, u64),
    /// Local start, local end and run time of some of the former.
    pub(crate) off_spans: Vec<(i64, i64, i64)>,
    /// Rows of jobs that were read, usable or not.
    pub(crate) read: u64,
    troubles: Troubles,
    /// Rows that were read before this file.
    before: u64,
}

impl RowIntake {
    pub(crate) fn new(settings: ReadSettings) -> RowIntake {
        let ReadSettings { zone, form, cluster, ranges } = settings;
        RowIntake {
            table: AccountingTable::default(),
            tally: RuleTally::default(),
            form,
            cluster: cluster.map(String::into_bytes),
            zone: zone.map(ZoneLookup::new),
            ranges,
            open: Vec::new(),
            orphans: Vec::new(),
            last_job: [Vec::new(), Vec::new()],
            leading: None,
            leading_usage: Vec::new(),
            begun: false,
            last_row: None,
            hour_off: (0, 0),
            off_spans: Vec::new(),
            read: 0,
            troubles: Troubles::default(),
            before: 0,
        }
    }

    /// Notes what may ail every row of the file.
    pub(crate) fn note_trouble(&mut self, trouble: RowTrouble, place: FilePlace, value: &[u8]) {
        let files = &self.table.files;
        self.troubles.add_trouble(trouble, || files.format_place(place), value);
    }

    /// Checks that no single trouble affects most rows of the file so far.
    ///
    /// # Errors
    /// It does.
    pub(crate) fn check_troubles(&self) -> Result<(), SiteError> {
        self.troubles.main_trouble(self.read - self.before).map_or(Ok(()), Err)
    }

    /// As [`RowIntake::check_troubles`], of so many rows that the others will hardly be better.
    ///
    /// # Errors
    /// As there.
    pub(crate) fn troubled_early(&self) -> Result<(), SiteError> {
        if self.read - self.before < MANY { Ok(()) } else { self.check_troubles() }
    }

    /// A file is read to its end.
    ///
    /// # Errors
    /// One thing ails most of its rows.
    pub(crate) fn end_file(&mut self) -> Result<(), SiteError> {
        self.check_troubles()?;
        self.troubles = Troubles::default();
        self.before = self.read;
        Ok(())
    }

    /// Returns a constructor of intakes of parts of a file that can be absorbed.
    pub(crate) fn part_recipe(&self) -> IntakeRecipe {
        IntakeRecipe { settings: self.settings(), cluster: self.cluster.clone(), files: self.table.files.clone() }
    }

    /// Takes what a part of the file brought, as if its rows came here one by one. The part is as
    /// new then.
    pub(crate) fn absorb_part(&mut self, part: &mut RowIntake) {
        for (of, place) in part.leading.iter_mut().flat_map(|leading| leading.drain(..)) {
            self.note_orphan(&of, place);
        }
        for (of, usage) in part.leading_usage.drain(..) {
            self.step_usage(&of, usage);
        }
        let rows = self.table.rows.len() as u32;
        let new_symbols = self.table.absorb_rows(&part.table);
        part.table.clear();
        self.tally.absorb_tally(std::mem::take(&mut part.tally));
        self.open.extend(part.open.drain(..).map(|open| OpenHour { row: rows + open.row, ..open }));
        for (of, place) in part.orphans.drain(..) {
            self.push_orphan(new_symbols[of.0 as usize], place);
        }
        if std::mem::take(&mut part.begun) {
            self.last_job.clone_from(&part.last_job);
            part.last_job.iter_mut().for_each(Vec::clear);
            self.begun = true;
            self.last_row = part.last_row.take().map(|row| rows + row);
        }
        let (off, known_hours) = std::mem::take(&mut part.hour_off);
        self.hour_off.0 += off;
        self.hour_off.1 += known_hours;
        let room = OFF_SPANS - self.off_spans.len().min(OFF_SPANS);
        self.off_spans.extend(part.off_spans.drain(..).take(room));
        self.read += std::mem::take(&mut part.read);
        self.troubles.absorb_troubles(std::mem::take(&mut part.troubles));
    }

    /// Counts a row that cannot be used.
    pub(crate) fn count_bad(&mut self, rule: ImportRule, place: FilePlace, record: &[u8], core_seconds: u64) {
        self.read += 1;
        self.count_rule(rule, place, record, core_seconds);
    }

    /// Counts a row that is a part of a job's story, and no job.
    pub(crate) fn count_event(&mut self, place: FilePlace, record: &[u8]) {
        self.read += 1;
        self.count_rule(ImportRule::Event, place, record, 0);
    }

    pub(crate) fn count_rule(&mut self, rule: ImportRule, place: FilePlace, record: &[u8], core_seconds: u64) {
        let files = &self.table.files;
        self.tally.count_row(rule, core_seconds, || Example::new(files.format_place(place), record));
    }

    #[inline]
    pub(crate) fn take_step(&mut self, of: &[u8], place: FilePlace, record: &[u8]) {
        self.count_rule(ImportRule::Step, place, record, 0);
        match &mut self.leading {
            // Which job came before is not known here.
            Some(leading) if !self.begun => {
                if leading.last().is_none_or(|(last, _)| last != of) {
                    leading.push((of.to_vec(), place));
                }
            }
            _ => self.note_orphan(of, place),
        }
    }

    /// Takes what a step of the job of this name used, where it follows that job's own row.
    pub(crate) fn step_usage(&mut self, of: &[u8], usage: RowUsage) {
        if usage == RowUsage::UNKNOWN {
            return;
        }
        if self.leading.is_some() && !self.begun {
            self.leading_usage.push((of.to_vec(), usage));
        } else if let Some(row) = self.last_row
            && self.last_job.iter().any(|last| last == of)
        {
            self.table.change_usage(row, |job| job.add_step(usage));
        }
    }

    fn note_orphan(&mut self, of: &[u8], place: FilePlace) {
        if self.last_job.iter().any(|last| last == of) {
            return;
        }
        let parent = self.table.names.intern(of);
        self.push_orphan(parent, place);
    }

    fn push_orphan(&mut self, parent: Symbol, place: FilePlace) {
        if self.orphans.last().is_none_or(|last| last.0 != parent) {
            self.orphans.push((parent, place));
        }
    }

    /// Remembers the job whose steps come next.
    #[inline]
    pub(crate) fn job_begins(&mut self, name: &[u8], raw: &[u8]) {
        self.begun = true;
        self.last_row = None;
        for (last, now) in self.last_job.iter_mut().zip([name, raw]) {
            last.clear();
            last.extend_from_slice(now);
        }
    }

    /// Takes one row. One whose times have no zone where none was given is counted as bad.
    ///
    /// # Errors
    /// None yet.
    pub(crate) fn push(&mut self, draft: &RowDraft<'_>) -> Result<(), SiteError> {
        let seconds = draft.core_seconds();
        if let Some(cluster) = &self.cluster
            && draft.cluster != cluster.as_slice()
            && !draft.cluster.is_empty()
        {
            self.count_rule(ImportRule::OtherCluster, draft.place, draft.record, seconds);
            return Ok(());
        }
        let mut row = AccountingRow::empty_row();
        if !self.identify_row(draft, &mut row) {
            self.count_bad(ImportRule::JobId, draft.place, draft.record, seconds);
            return Ok(());
        }
        row.elapsed = draft.elapsed.unwrap_or(u32::MAX);
        row.suspended = draft.suspended.unwrap_or(u32::MAX);
        if !self.settle_times(draft, &mut row) {
            self.count_bad(ImportRule::Time, draft.place, draft.record, seconds);
            return Ok(());
        }
        self.read += 1;
        self.fill_row(draft, &mut row);
        let at = self.table.rows.len() as u32;
        self.table.rows.push(row);
        self.last_row = Some(at);
        if draft.usage != RowUsage::UNKNOWN {
            self.table.change_usage(at, |job| *job = draft.usage);
        }
        Ok(())
    }

    /// The numbers; `false` where there is none.
    fn identify_row(&mut self, draft: &RowDraft<'_>, row: &mut AccountingRow) -> bool {
        row.id = draft.raw.unwrap_or(NONE);
        let Some(id) = &draft.id else {
            return draft.raw.is_some();
        };
        row.of = id.number;
        match &id.part {
            IdPart::Whole => {
                row.of = NONE;
                row.id = draft.raw.unwrap_or(id.number);
            }
            IdPart::Task(task) => row.set_part(RowPart::Task(*task)),
            IdPart::Component(offset) => row.set_part(RowPart::Component(*offset)),
            IdPart::Tasks(set) => {
                row.set_part(RowPart::Tasks(self.table.sets.len() as u32));
                self.table.sets.push(set.clone());
            }
        }
        true
    }

    /// The times; `false` where one is out of reach.
    fn settle_times(&mut self, draft: &RowDraft<'_>, row: &mut AccountingRow) -> bool {
        let whens = [draft.submit, draft.eligible, draft.start, draft.end];
        let mut candidates: [Candidates; 4] = [[0; 2]; 4];
        let (mut twice, mut was_skipped) = (false, false);
        for (entry, candidates) in whens.into_iter().zip(&mut candidates) {
            *candidates = match entry {
                When::Unknown => continue,
                When::Epoch(moment) => [moment; 2],
                When::Civil(civil) => match self.zone.as_mut().map(|zone| zone.resolve_local(civil)) {
                    None => {
                        self.note_trouble(
                            RowTrouble::NoZone,
                            draft.place,
                            crate::clock::format_moment(civil).as_bytes(),
                        );
                        return false;
                    }
                    Some(Local::Once(moment)) => [moment; 2],
                    Some(Local::Twice(first, second)) => {
                        twice = true;
                        [first, second]
                    }
                    Some(Local::Skipped(moment)) => {
                        was_skipped = true;
                        [moment; 2]
                    }
                },
            };
            if candidates.iter().any(|&c| !(1..i64::from(u32::MAX)).contains(&c)) {
                return false;
            }
        }
        let seconds_of = |span: Option<u32>| span.map(i64::from);
        let ran = seconds_of(draft.elapsed).map(|seconds| seconds + seconds_of(draft.suspended).unwrap_or(0));
        let mut times = candidates.map(|c| c[0]);
        if twice {
            self.count_rule(ImportRule::Twice, draft.place, draft.record, draft.core_seconds());
            let row = self.table.rows.len() as u32;
            times = match folds::settle_times(candidates, ran) {
                Settled::Times(times) => {
                    let [early, late] = candidates[0];
                    if early != late {
                        let choices = [[early, 0, 0, 0]; 2];
                        self.open.push(OpenHour { row, second: Some(times[0] == late), choices });
                    }
                    times
                }
                Settled::Open(choices) => {
                    self.open.push(OpenHour { row, second: None, choices });
                    choices[0]
                }
            };
        }
        if was_skipped {
            self.count_rule(ImportRule::Skipped, draft.place, draft.record, draft.core_seconds());
        }
        if settle_wait(draft, &mut times) {
            self.count_rule(ImportRule::Waited, draft.place, draft.record, draft.core_seconds());
        }
        if let (Some(ran), true) = (ran, times[2] > 0 && times[3] > 0) {
            self.hour_off.1 += 1;
            if (times[3] - times[2] - ran).abs() == 3_600 {
                self.hour_off.0 += 1;
                if let (When::Civil(start), When::Civil(end)) = (draft.start, draft.end)
                    && self.off_spans.len() < OFF_SPANS
                {
                    self.off_spans.push((start, end, ran));
                }
            }
        }
        let stamp = |time: i64| u32::try_from(time).unwrap_or(0);
        (row.submit, row.eligible) = (stamp(times[0]), stamp(times[1]));
        (row.start, row.end) = (stamp(times[2]), stamp(times[3]));
        true
    }

    /// Everything else.
    fn fill_row(&mut self, draft: &RowDraft<'_>, row: &mut AccountingRow) {
        let mut partition = draft.partition;
        if partition.contains(&b',') {
            self.count_rule(ImportRule::PartitionList, draft.place, draft.record, draft.core_seconds());
            partition = partition.split(|&b| b == b',').find(|name| !name.is_empty()).unwrap_or_default();
        }
        let table = &mut self.table;
        let names = &mut table.names;
        let uid = draft.uid.unwrap_or(u32::MAX);
        let user = match draft.uid {
            Some(uid) if draft.user.is_empty() => names.intern(uid.to_string().as_bytes()),
            _ => names.intern_in(1, draft.user),
        };
        let owner =
            Who { user, account: names.intern_in(2, draft.account), group: names.intern_in(3, draft.group), uid };
        row.who = table.who.intern(owner);
        row.at = table.at.intern(Where {
            cluster: names.intern_in(4, draft.cluster),
            partition: names.intern_in(5, partition),
            qos: names.intern_in(6, draft.qos),
            reservation: names.intern_in(7, draft.reservation),
            constraints: names.intern_in(8, draft.constraints),
            asks: names.intern_in(12, &draft.asks),
        });
        row.shape = table.shapes.intern(RowShape { asked: draft.asked, held: draft.held, exclusive: draft.exclusive });
        row.note = table.notes.intern(RowNote {
            reason: names.intern_in(9, draft.reason),
            canceller: names.intern_in(10, draft.canceller),
            word: names.intern_in(11, draft.word),
            flags: draft.flags,
            exit: draft.exit,
        });
        row.set_limit(draft.limit);
        row.nodes = match parse_python_list(draft.nodes) {
            Some(list) => table.node_lists.intern(&list),
            None => table.node_lists.intern(node_list(draft.nodes)),
        };
        row.priority = draft.priority.unwrap_or(UNKNOWN);
        row.name = if draft.name.is_empty() { 0 } else { number_of(draft.name) };
        if let Some(ranges) = self.ranges.as_ref().filter(|_| !draft.command.is_empty() && row.id != NONE) {
            let [line, name] = [draft.command, draft.name].map(String::from_utf8_lossy);
            ranges.note_command(row.id, &line, &name);
        }
        row.state = draft.state;
        (row.file, row.line) = (draft.place.file, draft.place.line);
    }

    /// Settles what waited for all rows.
    pub(crate) fn finish(&mut self) {
        folds::close_hours(std::mem::take(&mut self.open), &mut self.table.rows);
    }

    pub(crate) fn settings(&self) -> ReadSettings {
        let ranges = self.ranges.clone();
        ReadSettings { zone: self.zone().cloned(), form: self.form.clone(), cluster: None, ranges }
    }

    /// The zone of local times.
    pub(crate) fn zone(&self) -> Option<&Zone> {
        self.zone.as_ref().map(ZoneLookup::zone)
    }
}

/// Fills the start, the submission or the departure that a wait says. A job without a run time
/// left at the end of its wait. Returns whether it did.
fn settle_wait(draft: &RowDraft<'_>, times: &mut [i64; 4]) -> bool {
    let Some(wait) = draft.waited.map(i64::from) else { return false };
    let [submit, _, start, end] = *times;
    let waits = matches!(draft.state, RecordState::Pending | RecordState::Configuring);
    match (submit > 0, start > 0) {
        (true, false) if !waits => {
            let end_of_wait = submit + wait;
            let is_on = draft.state.is_on();
            let ran = draft.elapsed.is_some() || end > 0 || is_on;
            if ran {
                times[2] = end_of_wait;
            }
            if !ran || (end == 0 && !is_on && draft.elapsed == Some(0)) {
                times[3] = end_of_wait;
            }
        }
        (false, true) => times[0] = start - wait,
        _ => return false,
    }
    true
}

/// A list as Python writes it, `[12, 'n3']`, as names parted by commas.
fn parse_python_list(text: &[u8]) -> Option<Vec<u8>> {
    let inner = text.strip_prefix(b"[")?.strip_suffix(b"]")?;
    let plain = !inner.contains(&b'[') && !inner.is_empty();
    plain.then(|| inner.iter().copied().filter(|b| !matches!(b, b' ' | b'\'' | b'"')).collect())
}

/// A list of nodes, empty where it says that there are none.
fn node_list(text: &[u8]) -> &[u8] {
    match text {
        b"None assigned" | b"None" | b"(null)" | b"N/A" | b"Unknown" | b"none" | b"null" => b"",
        _ => text,
    }
}

/// A number of 52 bits for a name that stands for one: of a million names no two have the same,
/// but for one chance in ten thousand.
pub(crate) fn key_of(name: &[u8]) -> u64 {
    let hash = name
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    ((hash ^ hash >> 29) & ((1 << 52) - 1)).max(1)
}

/// A number from 1 for a name, the same on every machine (FNV-1a).
pub(crate) fn number_of(name: &[u8]) -> u32 {
    let hash = name
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    ((hash ^ hash >> 32) as u32 & 0x7fff_ffff).max(1)
}
