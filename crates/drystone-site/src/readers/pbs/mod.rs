//! Accounting records of PBS Professional, OpenPBS and Torque: one line for each event of a job,
//! written when it happens.

mod pairs;
mod resources;

use self::pairs::RecordPairs;
use self::resources::{exec_nodes, is_block, parse_kilobytes, read_sizes};
use super::FileReading;
use crate::clock::days_since_epoch;
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft, RowIntake, RowUsage};
use crate::rules::ImportRule;
use crate::text::{
    Amount, IdPart, JobLabel, RecordLimit, RecordState, UNKNOWN, When, is_missing, parse_digits, parse_milliseconds,
    parse_span, split_leading,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// A job's number with its task, which jobs without one lack, and its server.
type PbsKey = (u64, Option<u32>, Vec<u8>);

/// Jobs whose records have begun and that have not ended.
#[derive(Default)]
pub(crate) struct OpenRecords {
    jobs: BTreeMap<PbsKey, KnownFacts>,
    /// Arrays by number and server.
    arrays: BTreeMap<(u64, Vec<u8>), KnownArray>,
    /// Local time less UTC, from the last record that knows both.
    offset: Option<i64>,
    /// The latest time of any record, UTC.
    pub(crate) latest: i64,
    /// Jobs that are deleted, aborted or changed, without any other record.
    pub(crate) unheard: u64,
    /// Reservations by number and beginning: standing ones have several.
    pub(crate) reservations: BTreeMap<(String, i64), PbsReservation>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PbsReservation {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) nodes: String,
    /// True once it has begun: until then it may be moved.
    begun: bool,
}

/// An array whose tasks have no records of their own while they wait.
#[derive(Clone, Debug, Default)]
struct KnownArray {
    facts: KnownFacts,
    /// Its tasks as ranges with their steps.
    indices: Vec<(u32, u32, u32)>,
    /// Tasks with records of their own.
    seen: BTreeSet<u32>,
    over: bool,
}

#[derive(Clone, Debug, Default)]
struct KnownFacts {
    place: FilePlace,
    record: Vec<u8>,
    user: Vec<u8>,
    group: Vec<u8>,
    account: Vec<u8>,
    queue: Vec<u8>,
    name: Vec<u8>,
    nodes: Vec<u8>,
    requestor: Vec<u8>,
    reservation: Vec<u8>,
    created: i64,
    queued: i64,
    /// Time of the record `Q`, which may be all that says when it was queued.
    heard: HeardTime,
    eligible: i64,
    start: i64,
    end: i64,
    limit: Option<u32>,
    asked: Option<Amount>,
    held: Option<Amount>,
    exclusive: bool,
    usage: Option<RowUsage>,
    /// True if its limit is given and cannot be read.
    odd: bool,
    /// Time at which it was deleted or aborted, by `D` or `A`.
    gone: Option<i64>,
    deleted: bool,
    /// End of its last attempt, since which it waits again.
    requeued: i64,
    exit: Option<i32>,
}

/// Time of a record: local, and UTC where that was known.
#[derive(Clone, Copy, Debug, Default)]
struct HeardTime {
    local: i64,
    utc: Option<i64>,
}

pub(crate) fn read_pbs(input: impl Read, reading: &mut FileReading<'_>) -> Result<(), SiteError> {
    reading.each_line(input, |reading, line, place| {
        let text = line.bytes.trim_ascii_end();
        if text.is_empty() {
            return Ok(true);
        }
        let Some(record) = PbsRecord::split_line(text) else {
            let rule = if line.whole { ImportRule::Shape } else { ImportRule::Cut };
            reading.intake.count_bad(rule, place, text, 0);
            if line.whole {
                return Ok(true);
            }
            return reading.note_cut(place).map(|()| false);
        };
        let pairs = RecordPairs::split_pairs(record.rest);
        // The record of an end says how it ended, behind all that tells its size.
        if !line.whole && record.kind == b'E' && pairs.get("Exit_status").is_none() {
            reading.intake.count_bad(ImportRule::Cut, place, text, 0);
            return reading.note_cut(place).map(|()| false);
        }
        take_record(&record, &pairs, text, place, &mut reading.memory.pbs, reading.intake)?;
        Ok(true)
    })
}

struct PbsRecord<'a> {
    /// Local time, in seconds as if it were UTC.
    time: i64,
    kind: u8,
    id: &'a [u8],
    rest: &'a [u8],
}

impl PbsRecord<'_> {
    /// `MM/DD/YYYY HH:MM:SS;T;id;…`.
    fn split_line(line: &[u8]) -> Option<PbsRecord<'_>> {
        let (time, rest) = line.split_at_checked(19)?;
        let [b';', kind, b';', rest @ ..] = rest else { return None };
        let number = |from: usize, to: usize| parse_digits(&time[from..to]).map(|n| n as i64);
        let marks = [(2, b'/'), (5, b'/'), (10, b' '), (13, b':'), (16, b':')];
        if marks.iter().any(|&(at, mark)| time[at] != mark) {
            return None;
        }
        let (month, day, year) = (number(0, 2)?, number(3, 5)?, number(6, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        let end = memchr::memchr(b';', rest);
        let (id, rest) = end.map_or((rest, &b""[..]), |at| (&rest[..at], &rest[at + 1..]));
        let seconds = hour * 3_600 + minute * 60 + second;
        Some(PbsRecord { time: days_since_epoch(year, month, day) * 86_400 + seconds, kind: *kind, id, rest })
    }
}

enum PbsIdKind {
    Job(PbsKey),
    /// A whole array.
    Parent(u64, Vec<u8>),
    Reservation,
    Unreadable,
}

/// `123.server`, `123[7].server`, `123[].server`, Torque's `123-7.server`; `R123.server` and
/// `S123.server` are reservations.
fn classify_id(id: &[u8]) -> PbsIdKind {
    if matches!(id.first(), Some(b'R' | b'S' | b'M')) {
        return PbsIdKind::Reservation;
    }
    let Some((number, rest)) = split_leading(id) else { return PbsIdKind::Unreadable };
    let task = |text: &[u8], close: &[u8]| {
        let (task, behind) = split_leading(text)?;
        behind.starts_with(close).then(|| u32::try_from(task).ok()).flatten()
    };
    let server = memchr::memchr(b'.', rest).map_or_else(Vec::new, |dot| rest[dot + 1..].to_vec());
    let of_array = |task: Option<u32>| match task {
        Some(task) => PbsIdKind::Job((number, Some(task), server.clone())),
        None => PbsIdKind::Unreadable,
    };
    match rest {
        [] | [b'.', ..] => PbsIdKind::Job((number, None, server)),
        [b'[', b']', ..] => PbsIdKind::Parent(number, server),
        [b'[', inner @ ..] => of_array(task(inner, b"]")),
        [b'-', inner @ ..] => of_array(task(inner, b"")),
        _ => PbsIdKind::Unreadable,
    }
}

fn take_record(
    record: &PbsRecord<'_>,
    pairs: &RecordPairs<'_>,
    line: &[u8],
    place: FilePlace,
    open: &mut OpenRecords,
    intake: &mut RowIntake,
) -> Result<(), SiteError> {
    open.learn_offset(record, pairs);
    let now = open.to_utc(record.time, intake);
    let key = match classify_id(record.id) {
        PbsIdKind::Job(key) => key,
        PbsIdKind::Parent(number, server) => {
            intake.count_rule(ImportRule::Parent, place, line, 0);
            open.note_array((number, server), record, pairs, now, (place, line));
            return Ok(());
        }
        PbsIdKind::Reservation => {
            open.note_reservation(record, pairs);
            intake.count_rule(ImportRule::Record, place, line, 0);
            return Ok(());
        }
        PbsIdKind::Unreadable => {
            // Records about the server or licences have no job.
            let rule = if matches!(record.kind, b'E' | b'S' | b'Q') { ImportRule::JobId } else { ImportRule::Record };
            match rule {
                ImportRule::JobId => intake.count_bad(rule, place, line, 0),
                _ => intake.count_rule(rule, place, line, 0),
            }
            return Ok(());
        }
    };
    if let Some(task) = key.1 {
        open.arrays.entry((key.0, key.2.clone())).or_default().seen.insert(task);
    }
    open.part_from_another(&key, pairs, intake)?;
    match record.kind {
        b'Q' | b'S' | b'T' | b'a' => {
            intake.count_event(place, line);
            let job = open.open_job(key, place, line);
            job.update_facts(pairs);
            if record.kind == b'S' {
                job.start = if job.start == 0 { now.unwrap_or(0) } else { job.start };
            }
            job.note_queue_time(record, now);
        }
        b'E' | b'R' => {
            open.open_job(key.clone(), place, line).update_facts(pairs);
            return open.note_end(key, record.kind == b'R', now, intake);
        }
        b'D' | b'A' => {
            intake.count_event(place, line);
            let Some(now) = now else {
                // Only its own time says when it left.
                return Err(SiteError::NoZone {
                    place: intake.table.files.format_place(place),
                    time: crate::clock::format_moment(record.time),
                });
            };
            let job = open.open_job(key, place, line);
            (job.gone, job.deleted) = (Some(now), record.kind == b'D');
            if let Some(by) = pairs.get("requestor") {
                job.requestor = by.split(|&b| b == b'@').next().unwrap_or_default().to_vec();
            }
        }
        _ => intake.count_rule(ImportRule::Record, place, line, 0),
    }
    Ok(())
}

impl OpenRecords {
    fn open_job(&mut self, key: PbsKey, place: FilePlace, line: &[u8]) -> &mut KnownFacts {
        let job = self.jobs.entry(key).or_default();
        job.place = place;
        job.record = line[..line.len().min(200)].to_vec();
        job
    }

    /// Records are written at the event: where one says both, its own local time and the event's
    /// moment tell the distance from UTC.
    fn learn_offset(&mut self, record: &PbsRecord<'_>, pairs: &RecordPairs<'_>) {
        let key = match record.kind {
            b'E' => "end",
            b'S' => "start",
            b'Q' => "qtime",
            _ => return,
        };
        let Some(moment) = pairs.parse_moment(key) else { return };
        let distance = record.time - moment;
        let rounded_offset = (distance as f64 / 900.0).round() as i64 * 900;
        if (distance - rounded_offset).abs() <= 120 && rounded_offset.abs() <= 14 * 3_600 {
            self.offset = Some(rounded_offset);
        }
        self.latest = self.latest.max(moment);
    }

    fn to_utc(&self, civil: i64, intake: &RowIntake) -> Option<i64> {
        let zone_time = intake.zone().map(|zone| match zone.resolve_local(civil) {
            crate::clock::Local::Once(at) | crate::clock::Local::Twice(at, _) | crate::clock::Local::Skipped(at) => at,
        });
        // What the records themselves say is right also in the hour that comes twice.
        self.offset.map(|offset| civil - offset).or(zone_time)
    }

    fn note_reservation(&mut self, record: &PbsRecord<'_>, pairs: &RecordPairs<'_>) {
        let id = String::from_utf8_lossy(record.id).into_owned();
        let moments = pairs.parse_moment("start").zip(pairs.parse_moment("end"));
        let last = self.reservations.range((id.clone(), i64::MIN)..=(id.clone(), i64::MAX)).next_back();
        let last_entry = last.map(|((_, start), entry)| (*start, entry.clone()));
        let (mut key, mut reservation) = last_entry.unwrap_or_default();
        if let Some((start, end)) = moments {
            // Another time of one that has begun is its next occurrence; of one that has not, it
            // was moved.
            if reservation.begun && start != reservation.start {
                reservation = PbsReservation { nodes: reservation.nodes, ..PbsReservation::default() };
            } else {
                self.reservations.remove(&(id.clone(), key));
            }
            key = start;
            (reservation.start, reservation.end) = (start, end);
        }
        reservation.begun |= record.kind == b'B';
        if let Some(nodes) = pairs.get("nodes").or_else(|| pairs.get("exec_vnode")) {
            reservation.nodes = String::from_utf8_lossy(&exec_nodes(nodes)).into_owned();
        }
        // Deleted or finished early.
        if matches!(record.kind, b'K' | b'k' | b'F')
            && let Some(offset) = self.offset
        {
            reservation.end = reservation.end.min(record.time - offset).max(reservation.start);
        }
        self.reservations.insert((id, key), reservation);
    }

    /// Takes what a record says of a whole array.
    fn note_array(
        &mut self,
        key: (u64, Vec<u8>),
        record: &PbsRecord<'_>,
        pairs: &RecordPairs<'_>,
        now: Option<i64>,
        (place, line): (FilePlace, &[u8]),
    ) {
        let array = self.arrays.entry(key).or_default();
        let facts = &mut array.facts;
        (facts.place, facts.record) = (place, line[..line.len().min(200)].to_vec());
        facts.note_queue_time(record, now);
        match record.kind {
            b'Q' | b'S' | b'a' => facts.update_facts(pairs),
            b'E' => array.over = true,
            b'D' | b'A' => (facts.gone, facts.deleted) = (now.or(facts.gone), record.kind == b'D'),
            _ => {}
        }
        if let Some(text) = pairs.get("array_indices") {
            array.indices = parse_indices(text);
        }
    }

    /// Ends a job without a record of its end, where its number comes again for another one.
    fn part_from_another(
        &mut self,
        key: &PbsKey,
        pairs: &RecordPairs<'_>,
        intake: &mut RowIntake,
    ) -> Result<(), SiteError> {
        let is_other_job =
            |facts: &KnownFacts| pairs.parse_moment("ctime").is_some_and(|at| facts.created > 0 && at != facts.created);
        if !self.jobs.get(key).is_some_and(is_other_job) {
            return Ok(());
        }
        let Some(job) = self.jobs.remove(key) else { return Ok(()) };
        self.give_job(key, job, intake)
    }

    /// An attempt is over, for good or to be made again.
    fn note_end(
        &mut self,
        key: PbsKey,
        again: bool,
        now: Option<i64>,
        intake: &mut RowIntake,
    ) -> Result<(), SiteError> {
        let Some(mut job) = self.jobs.remove(&key) else { return Ok(()) };
        if job.end == 0 {
            job.end = now.unwrap_or(0);
        }
        let state = if again { RecordState::Requeued } else { job.final_state() };
        job.count_odd_limit(&key, state, intake);
        intake.push(&job.draft_row(&key, state))?;
        if again {
            // It waits again, eligible from now on.
            let (eligible, requeue_time) = (job.end, job.end);
            let (no_allocation, nodes) = (None, Vec::new());
            let requeued_facts = KnownFacts {
                start: 0,
                end: 0,
                exit: None,
                held: no_allocation,
                nodes,
                eligible,
                requeued: requeue_time,
                ..job
            };
            self.jobs.insert(key, requeued_facts);
        }
        Ok(())
    }

    /// Gives what never ended to the intake: jobs that wait, run, or were deleted before they ran.
    pub(crate) fn flush_open(&mut self, intake: &mut RowIntake) -> Result<(), SiteError> {
        for (key, job) in std::mem::take(&mut self.jobs) {
            self.give_job(&key, job, intake)?;
        }
        for ((number, server), array) in std::mem::take(&mut self.arrays) {
            let task_numbers =
                array.indices.iter().flat_map(|&(first, last, step)| (first..=last).step_by(step.max(1) as usize));
            for task in task_numbers.filter(|task| !array.over && !array.seen.contains(task)) {
                let facts = KnownFacts { start: 0, ..array.facts.clone() };
                self.give_job(&(number, Some(task), server.clone()), facts, intake)?;
            }
        }
        Ok(())
    }

    /// Gives a job that has not ended to the intake.
    fn give_job(&mut self, key: &PbsKey, mut job: KnownFacts, intake: &mut RowIntake) -> Result<(), SiteError> {
        let state = match (job.start > 0, job.gone) {
            (true, None) => RecordState::Running,
            (false, None) => RecordState::Pending,
            (_, Some(end)) => {
                job.end = end;
                if job.deleted { RecordState::Cancelled } else { RecordState::Failed }
            }
        };
        if job.created == 0 && job.queued == 0 && job.heard.local > 0 {
            // Older versions say no more than the queue when a job comes.
            let HeardTime { local, utc } = job.heard;
            let Some(submit) = utc.or_else(|| self.to_utc(local, intake)) else {
                let place = intake.table.files.format_place(job.place);
                return Err(SiteError::NoZone { place, time: crate::clock::format_moment(local) });
            };
            job.queued = submit;
        }
        if job.created == 0 && job.queued == 0 && job.start == 0 {
            // A deletion of a job of which nothing else is known.
            self.unheard += 1;
            intake.count_rule(ImportRule::NoTimes, job.place, &job.record, 0);
            return Ok(());
        }
        job.count_odd_limit(key, state, intake);
        // Its rows were counted as they came.
        intake.push(&job.draft_row(key, state))?;
        intake.read -= 1;
        Ok(())
    }
}

impl KnownFacts {
    /// Takes what a record says.
    fn update_facts(&mut self, pairs: &RecordPairs<'_>) {
        for (key, field) in [
            ("user", &mut self.user),
            ("group", &mut self.group),
            ("queue", &mut self.queue),
            ("jobname", &mut self.name),
        ] {
            if let Some(value) = pairs.get(key) {
                *field = value.to_vec();
            }
        }
        // As reservations are named: without their server.
        if let Some(name) = pairs.get("resvID").and_then(|id| id.split(|&b| b == b'.').next()) {
            self.reservation = name.to_vec();
        }
        let project = pairs.get("project").filter(|name| *name != b"_pbs_project_default");
        if let Some(value) = pairs.get("account").or(project) {
            self.account = value.to_vec();
        }
        for (key, field) in [
            ("ctime", &mut self.created),
            ("etime", &mut self.eligible),
            ("start", &mut self.start),
            ("end", &mut self.end),
        ] {
            if let Some(moment) = pairs.parse_moment(key) {
                *field = moment;
            }
        }
        // A job that was sent back keeps its first time of eligibility in the records.
        self.eligible = self.eligible.max(self.requeued);
        // A routed job is queued again; its first queue counts.
        if let Some(moment) = pairs.parse_moment("qtime").filter(|_| self.queued == 0) {
            self.queued = moment;
        }
        if let Some(text) = pairs.get("Resource_List.walltime") {
            let limit = parse_walltime(text);
            self.limit = limit.or(self.limit);
            self.odd |= limit.is_none() && !is_missing(text);
        }
        if let Some(usage) = job_usage(pairs) {
            self.usage = Some(usage);
        }
        if let Some(exit) = pairs.get("Exit_status") {
            self.exit = std::str::from_utf8(exit).ok().and_then(|text| text.parse().ok());
        }
        if let Some(nodes) = pairs.get("exec_host").or_else(|| pairs.get("exec_vnode"))
            && !is_block(pairs)
        {
            self.nodes = exec_nodes(nodes);
        }
        let (demand, allocation) = read_sizes(pairs);
        self.asked = demand.or(self.asked);
        self.held = allocation.or(self.held);
        if let Some(place) = pairs.get("Resource_List.place") {
            self.exclusive = place.split(|&b| b == b':').any(|word| word == b"excl" || word == b"exclhost");
        }
    }

    /// Keeps the time of the first record that it was queued.
    fn note_queue_time(&mut self, record: &PbsRecord<'_>, utc: Option<i64>) {
        if record.kind == b'Q' && self.heard.local == 0 {
            self.heard = HeardTime { local: record.time, utc };
        }
    }

    /// Returns the way in which it ended, by its exit status.
    fn final_state(&self) -> RecordState {
        let over = self.limit.is_some_and(|limit| self.start > 0 && self.end - self.start >= i64::from(limit));
        match self.exit {
            Some(0) => RecordState::Completed,
            // JOB_EXEC_KILL_WALLTIME of PBS.
            Some(-29) => RecordState::Timeout,
            // SIGTERM and SIGKILL: at the limit, or deleted.
            Some(271 | 265 | 143 | 137) if over => RecordState::Timeout,
            Some(271 | 265) => RecordState::Cancelled,
            _ if self.gone.is_some() => RecordState::Cancelled,
            Some(_) => RecordState::Failed,
            None => RecordState::Completed,
        }
    }

    fn count_odd_limit(&self, key: &PbsKey, state: RecordState, intake: &mut RowIntake) {
        if self.odd && self.limit.is_none() {
            let seconds = self.draft_row(key, state).core_seconds();
            intake.count_rule(ImportRule::Field, self.place, &self.record, seconds);
        }
    }

    fn draft_row(&self, key: &PbsKey, state: RecordState) -> RowDraft<'_> {
        let mut draft = RowDraft::new(self.place, &self.record);
        let time_of = |moment: i64| if moment > 0 { When::Epoch(moment) } else { When::Unknown };
        draft.id = Some(match key.1 {
            Some(task) => JobLabel { number: key.0, part: IdPart::Task(task) },
            None => JobLabel { number: key.0, part: IdPart::Whole },
        });
        draft.raw = key.1.is_none().then_some(key.0);
        draft.state = state;
        (draft.user, draft.group, draft.account) = (&self.user, &self.group, &self.account);
        (draft.partition, draft.name, draft.canceller) = (&self.queue, &self.name, &self.requestor);
        draft.reservation = &self.reservation;
        let creation_time = if self.created > 0 { self.created } else { self.queued };
        draft.submit = time_of(creation_time);
        draft.eligible = time_of(if self.eligible > 0 { self.eligible } else { self.queued });
        (draft.start, draft.end) = (time_of(self.start), time_of(self.end));
        if self.start > 0 && self.end >= self.start {
            draft.elapsed = u32::try_from(self.end - self.start).ok();
        }
        draft.limit = self.limit.map_or(RecordLimit::Unknown, RecordLimit::Seconds);
        draft.asked = self.asked.unwrap_or(Amount::UNKNOWN);
        draft.held = if self.start > 0 { self.held.or(self.asked).unwrap_or(Amount::UNKNOWN) } else { Amount::UNKNOWN };
        if self.start > 0 {
            draft.nodes = &self.nodes;
            // Whole nodes are known by their names alone.
            if draft.held.nodes == UNKNOWN && !self.nodes.is_empty() {
                draft.held.nodes = self.nodes.split(|&b| b == b',').count() as u32;
            }
        }
        draft.exclusive = self.exclusive;
        draft.usage = self.usage.unwrap_or(RowUsage::UNKNOWN);
        draft.exit = self.exit.map(|code| (i16::try_from(code).unwrap_or(i16::MAX), 0));
        draft
    }
}

/// `1-1000`, `0-10:2,15`, as first, last and step.
fn parse_indices(text: &[u8]) -> Vec<(u32, u32, u32)> {
    /// An array has at most so many tasks: more are a number gone wrong.
    const MOST: u32 = 10_000_000;
    let number = |text: &[u8]| parse_digits(text).and_then(|n| u32::try_from(n).ok());
    let range = |part: &[u8]| {
        let (span, step) = part.split_at(memchr::memchr(b':', part).unwrap_or(part.len()));
        let (first, last) = span.split_at(memchr::memchr(b'-', span).unwrap_or(span.len()));
        let (first, last) =
            (number(first)?, last.strip_prefix(b"-").map_or(Some(None), |last| number(last).map(Some))?);
        let last = last.unwrap_or(first);
        let step = step.strip_prefix(b":").map_or(Some(1), number)?;
        (last >= first && last - first < MOST && step > 0).then_some((first, last, step))
    };
    text.split(|&b| b == b',').filter_map(range).collect()
}

/// Processor time and memory that a job used, of records that have them.
fn job_usage(pairs: &RecordPairs<'_>) -> Option<RowUsage> {
    let cpu = pairs.get("resources_used.cput").and_then(parse_milliseconds);
    let memory = pairs.get("resources_used.mem").and_then(parse_kilobytes);
    (cpu.is_some() || memory.is_some()).then(|| RowUsage::of_row(cpu, memory, None))
}

/// `[[[D:]H…:]MM:]SS`, perhaps with a fraction, or Slurm's `D-HH:MM:SS`, in seconds.
fn parse_walltime(text: &[u8]) -> Option<u32> {
    parse_span(text).or_else(|| {
        let mut parts = text.splitn(2, |&b| b == b':');
        let (days, rest) = (parts.next().and_then(parse_digits)?, parts.next()?);
        // Hours, minutes and seconds.
        let clock = rest.iter().filter(|&&b| b == b':').count() == 2;
        let seconds = u64::from(parse_span(rest).filter(|_| clock)?) + days.checked_mul(86_400)?;
        u32::try_from(seconds).ok().filter(|&s| s < u32::MAX - 8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walltime_may_have_days() {
        for (text, expected) in [
            ("2:00:00:00", Some(172_800)),
            ("01:02:03:04", Some(93_784)),
            ("48:00:00", Some(172_800)),
            ("3600", Some(3_600)),
            ("10:00", Some(600)),
            ("1:2:3:4:5", None),
            ("x:00:00:00", None),
            ("", None),
        ] {
            assert_eq!(parse_walltime(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn ids_name_jobs_tasks_arrays_and_reservations() {
        let job = |id: &str| match classify_id(id.as_bytes()) {
            PbsIdKind::Job(key) => Some(key),
            _ => None,
        };
        let key = |number, task, server: &str| Some((number, task, server.as_bytes().to_vec()));
        assert_eq!(job("4413086.casper-pbs"), key(4_413_086, None, "casper-pbs"));
        assert_eq!(job("6"), key(6, None, ""));
        assert_eq!(job("123[7].srv.site"), key(123, Some(7), "srv.site"));
        assert_eq!(job("123-7.srv"), key(123, Some(7), "srv"));
        assert!(matches!(classify_id(b"123[].srv"), PbsIdKind::Parent(123, server) if server == b"srv"));
        assert!(matches!(classify_id(b"S3011784.casper-pbs"), PbsIdKind::Reservation));
        assert!(matches!(classify_id(b"license"), PbsIdKind::Unreadable));
        assert!(matches!(classify_id(b"123[x].srv"), PbsIdKind::Unreadable));
    }

    #[test]
    fn tasks_of_an_array_are_ranges() {
        assert_eq!(parse_indices(b"1-1000"), [(1, 1_000, 1)]);
        assert_eq!(parse_indices(b"0-10:2,15"), [(0, 10, 2), (15, 15, 1)]);
        assert_eq!(parse_indices(b"5-1,x,1-4000000000"), []);
    }

    #[test]
    fn records_have_a_date_a_letter_and_an_id() {
        let record = PbsRecord::split_line(b"04/16/2025 10:19:48;E;7.srv;user=a").expect("a record");
        assert_eq!(
            (record.time, record.kind, record.id, record.rest),
            (1_744_798_788, b'E', &b"7.srv"[..], &b"user=a"[..])
        );
        assert!(PbsRecord::split_line(b"04/16/2025 10:19:48;E").is_none());
        assert!(PbsRecord::split_line(b"13/16/2025 10:19:48;E;7;").is_none());
        assert!(PbsRecord::split_line(b"short").is_none());
    }
}
