//! `lsb.acct` of LSF: one `JOB_FINISH` record for each job, fields parted by blanks, lists preceded
//! by their length.

use super::FileReading;
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft};
use crate::rules::ImportRule;
use crate::text::{Amount, IdPart, JobLabel, RecordLimit, RecordState, UNKNOWN, When, parse_digits, split_leading};
use std::collections::BTreeSet;
use std::io::Read;

pub(crate) fn read_lsf(input: impl Read, reading: &mut FileReading<'_>) -> Result<(), SiteError> {
    reading.each_line(input, |reading, line, place| {
        let text = line.bytes.trim_ascii();
        if text.is_empty() {
            return Ok(true);
        }
        if !text.starts_with(b"\"JOB_FINISH\"") {
            reading.intake.count_rule(ImportRule::Record, place, text, 0);
            return Ok(true);
        }
        let fields = split_fields(text);
        match parse_job(text, &fields, place) {
            Some(draft) => reading.intake.push(&draft.borrow_draft())?,
            None if line.whole => reading.intake.count_bad(ImportRule::Shape, place, text, 0),
            None => {
                reading.intake.count_bad(ImportRule::Cut, place, text, 0);
                return reading.note_cut(place).map(|()| false);
            }
        }
        Ok(true)
    })
}

/// The fields of a record, quotes taken away.
fn split_fields(line: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < line.len() {
        let mut field = Vec::new();
        if line[at] == b'"' {
            at += 1;
            while at < line.len() {
                match (line[at], line.get(at + 1)) {
                    (b'"', Some(b'"')) => {
                        field.push(b'"');
                        at += 2;
                    }
                    (b'"', _) => {
                        at += 1;
                        break;
                    }
                    (byte, _) => {
                        field.push(byte);
                        at += 1;
                    }
                }
            }
        } else {
            let end = memchr::memchr(b' ', &line[at..]).map_or(line.len(), |space| at + space);
            field.extend_from_slice(&line[at..end]);
            at = end;
        }
        fields.push(field);
        while line.get(at) == Some(&b' ') {
            at += 1;
        }
    }
    fields
}

/// Takes one field after the other.
struct Cursor<'a> {
    fields: &'a [Vec<u8>],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn next_text(&mut self) -> Option<&'a [u8]> {
        let field = self.fields.get(self.at)?;
        self.at += 1;
        Some(field)
    }

    fn next_number(&mut self) -> Option<i64> {
        std::str::from_utf8(self.next_text()?).ok()?.parse().ok()
    }

    fn skip_fields(&mut self, count: usize) -> Option<()> {
        self.at += count;
        (self.at <= self.fields.len()).then_some(())
    }

    fn next_list(&mut self) -> Option<&'a [Vec<u8>]> {
        let length = usize::try_from(self.next_number()?).ok()?;
        let from = self.at;
        self.skip_fields(length)?;
        self.fields.get(from..from + length)
    }
}

/// A job, with texts of its own.
struct LsfJob<'a> {
    draft: RowDraft<'a>,
    nodes: Vec<u8>,
}

impl LsfJob<'_> {
    fn borrow_draft(&self) -> RowDraft<'_> {
        RowDraft { nodes: &self.nodes, ..self.draft.clone() }
    }
}

/// Fields between the job's name and its index.
const USAGE: usize = 19;

fn parse_job<'a>(line: &'a [u8], fields: &'a [Vec<u8>], place: FilePlace) -> Option<LsfJob<'a>> {
    let mut c = Cursor { fields, at: 2 };
    let time_of = |moment: i64| if moment > 0 { When::Epoch(moment) } else { When::Unknown };
    let mut draft = RowDraft::new(place, line);
    let end = c.next_number()?;
    let raw = u64::try_from(c.next_number()?).ok()?;
    draft.uid = u32::try_from(c.next_number()?).ok();
    c.skip_fields(1)?;
    let processors = u32::try_from(c.next_number()?).ok()?;
    let (submit, begin) = (c.next_number()?, c.next_number()?);
    c.skip_fields(1)?;
    let start = c.next_number()?;
    (draft.user, draft.partition) = (c.next_text()?, c.next_text()?);
    // Resource request, dependency, command before; host, folder and files.
    c.skip_fields(9)?;
    c.next_list()?;
    let hosts = c.next_list()?;
    let status = c.next_number()?;
    c.skip_fields(1)?;
    draft.name = c.next_text()?;
    // The command and its use of resources.
    c.skip_fields(1 + USAGE)?;
    c.skip_fields(1)?;
    draft.account = c.next_text()?;
    let exit = c.next_number()?;
    c.skip_fields(3)?;
    let index = c.next_number()?;
    let part = u32::try_from(index).ok().filter(|&i| i > 0).map_or(IdPart::Whole, IdPart::Task);
    draft.raw = matches!(part, IdPart::Whole).then_some(raw);
    draft.id = Some(JobLabel { number: raw, part });
    let (names, slots) = count_hosts(hosts);
    draft.submit = time_of(submit);
    draft.eligible = time_of(submit.max(begin));
    (draft.start, draft.end) = (time_of(start), time_of(end));
    draft.elapsed = (start > 0 && end >= start).then(|| u32::try_from(end - start).ok()).flatten();
    draft.asked = Amount { cpus: processors, ..Amount::UNKNOWN };
    if start > 0 {
        let nodes = if names.is_empty() { UNKNOWN } else { names.len() as u32 };
        draft.held = Amount { cpus: processors.max(slots), nodes, ..Amount::UNKNOWN };
    }
    draft.exit = i16::try_from(exit).ok().map(|code| (code, 0));
    let limit = counted_limit(Cursor { fields, at: c.at }).or_else(|| run_limit(c));
    draft.limit = limit.map_or(RecordLimit::Unknown, RecordLimit::Seconds);
    draft.state = match (status, start) {
        (64, _) => RecordState::Completed,
        (_, 0) => RecordState::Cancelled,
        _ => RecordState::Failed,
    };
    Some(LsfJob { draft, nodes: names.join(&b',') })
}

/// `16*host1` or a host once for each slot: distinct hosts, and slots.
fn count_hosts(hosts: &[Vec<u8>]) -> (Vec<&[u8]>, u32) {
    let mut seen_hosts = BTreeSet::new();
    let (mut names, mut slots) = (Vec::new(), 0_u32);
    for host in hosts {
        let (count, name) = match split_leading(host) {
            Some((count, [b'*', name @ ..])) => (u32::try_from(count).unwrap_or(1), name),
            _ => (1, host.as_slice()),
        };
        slots = slots.saturating_add(count);
        if seen_hosts.insert(name) {
            names.push(name);
        }
    }
    (names, slots)
}

/// Fields between the index and the extensions of the submission.
const BEHIND_INDEX: usize = 23;
/// Fields of each host's use: its name and five numbers.
const HOST: usize = 6;

/// The limit of the run time, where the lists before it are as long as their counts say: extensions
/// of the submission, two fields each, and the use of each host.
fn counted_limit(mut c: Cursor<'_>) -> Option<u32> {
    c.skip_fields(BEHIND_INDEX)?;
    let mut count = |each: usize| {
        let number = usize::try_from(c.next_number()?).ok().filter(|&n| n <= 100_000)?;
        c.skip_fields(number.checked_mul(each)?)?;
        Some(number)
    };
    count(2)?;
    count(HOST)?;
    let limit = c.next_number()?;
    // Flags and the average of memory follow, then a text.
    c.next_number()?;
    c.next_number()?;
    u32::try_from(limit).ok().filter(|&limit| limit > 0)
}

/// The limit of the run time by the look of what comes before it: a number of hosts, and for each
/// its name and five numbers. For versions with other fields before the lists.
fn run_limit(mut c: Cursor<'_>) -> Option<u32> {
    let rest = c.fields.get(c.at..)?;
    for at in 0..rest.len() {
        let Some(hosts) =
            parse_digits(&rest[at]).and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=100_000).contains(n))
        else {
            continue;
        };
        let host_fields = rest.get(at + 1..at + 1 + hosts * HOST);
        let fits = host_fields.is_some_and(|fields| {
            fields
                .chunks(HOST)
                .all(|host| parse_digits(&host[0]).is_none() && host[1..].iter().all(|n| parse_digits(n).is_some()))
        });
        if fits {
            c.at += at + 1 + hosts * HOST;
            return c.next_number().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
        }
    }
    None
}
