//! `lsb.acct` of LSF: one `JOB_FINISH` record for each job, fields parted by blanks, lists preceded
//! by their length.

use super::FileReading;
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft};
use crate::rules::ImportRule;
use crate::text::{Amount, IdPart, JobLabel, RecordLimit, RecordState, UNKNOWN, When, digits, leading};
use std::collections::BTreeSet;
use std::io::Read;

pub(crate) fn read(input: impl Read, reading: &mut FileReading<'_>) -> Result<(), SiteError> {
    reading.each_line(input, |reading, line, place| {
        let text = line.bytes.trim_ascii();
        if text.is_empty() {
            return Ok(true);
        }
        if !text.starts_with(b"\"JOB_FINISH\"") {
            reading.intake.count(ImportRule::Record, place, text, 0);
            return Ok(true);
        }
        let fields = fields(text);
        match job(text, &fields, place) {
            Some(draft) => reading.intake.push(&draft.borrow())?,
            None if line.whole => reading.intake.bad(ImportRule::Shape, place, text, 0),
            None => {
                reading.intake.bad(ImportRule::Cut, place, text, 0);
                return reading.cut(place).map(|()| false);
            }
        }
        Ok(true)
    })
}

/// The fields of a record, quotes taken away.
fn fields(line: &[u8]) -> Vec<Vec<u8>> {
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
    fn text(&mut self) -> Option<&'a [u8]> {
        let field = self.fields.get(self.at)?;
        self.at += 1;
        Some(field)
    }

    fn number(&mut self) -> Option<i64> {
        std::str::from_utf8(self.text()?).ok()?.parse().ok()
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at += count;
        (self.at <= self.fields.len()).then_some(())
    }

    /// A list behind its length.
    fn list(&mut self) -> Option<&'a [Vec<u8>]> {
        let length = usize::try_from(self.number()?).ok()?;
        let from = self.at;
        self.skip(length)?;
        self.fields.get(from..from + length)
    }
}

/// A job, with texts of its own.
struct LsfJob<'a> {
    draft: RowDraft<'a>,
    nodes: Vec<u8>,
}

impl LsfJob<'_> {
    fn borrow(&self) -> RowDraft<'_> {
        RowDraft { nodes: &self.nodes, ..self.draft.clone() }
    }
}

/// Fields between the job's name and its index.
const USAGE: usize = 19;

fn job<'a>(line: &'a [u8], fields: &'a [Vec<u8>], place: FilePlace) -> Option<LsfJob<'a>> {
    let mut c = Cursor { fields, at: 2 };
    let when = |moment: i64| if moment > 0 { When::Epoch(moment) } else { When::Unknown };
    let mut draft = RowDraft::new(place, line);
    let end = c.number()?;
    let raw = u64::try_from(c.number()?).ok()?;
    draft.uid = u32::try_from(c.number()?).ok();
    c.skip(1)?;
    let processors = u32::try_from(c.number()?).ok()?;
    let (submit, begin) = (c.number()?, c.number()?);
    c.skip(1)?;
    let start = c.number()?;
    (draft.user, draft.partition) = (c.text()?, c.text()?);
    // Resource request, dependency, command before; host, folder and files.
    c.skip(9)?;
    c.list()?;
    let hosts = c.list()?;
    let status = c.number()?;
    c.skip(1)?;
    draft.name = c.text()?;
    // The command and its use of resources.
    c.skip(1 + USAGE)?;
    c.skip(1)?;
    draft.account = c.text()?;
    let exit = c.number()?;
    c.skip(3)?;
    let index = c.number()?;
    let part = u32::try_from(index).ok().filter(|&i| i > 0).map_or(IdPart::Whole, IdPart::Task);
    draft.raw = matches!(part, IdPart::Whole).then_some(raw);
    draft.id = Some(JobLabel { number: raw, part });
    let (names, slots) = nodes(hosts);
    draft.submit = when(submit);
    draft.eligible = when(submit.max(begin));
    (draft.start, draft.end) = (when(start), when(end));
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
fn nodes(hosts: &[Vec<u8>]) -> (Vec<&[u8]>, u32) {
    let mut seen = BTreeSet::new();
    let (mut names, mut slots) = (Vec::new(), 0_u32);
    for host in hosts {
        let (count, name) = match leading(host) {
            Some((count, [b'*', name @ ..])) => (u32::try_from(count).unwrap_or(1), name),
            _ => (1, host.as_slice()),
        };
        slots = slots.saturating_add(count);
        if seen.insert(name) {
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
    c.skip(BEHIND_INDEX)?;
    let mut count = |each: usize| {
        let number = usize::try_from(c.number()?).ok().filter(|&n| n <= 100_000)?;
        c.skip(number.checked_mul(each)?)?;
        Some(number)
    };
    count(2)?;
    count(HOST)?;
    let limit = c.number()?;
    // Flags and the average of memory follow, then a text.
    c.number()?;
    c.number()?;
    u32::try_from(limit).ok().filter(|&limit| limit > 0)
}

/// The limit of the run time by the look of what comes before it: a number of hosts, and for each
/// its name and five numbers. For versions with other fields before the lists.
fn run_limit(mut c: Cursor<'_>) -> Option<u32> {
    let rest = c.fields.get(c.at..)?;
    for at in 0..rest.len() {
        let Some(hosts) = digits(&rest[at]).and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=100_000).contains(n))
        else {
            continue;
        };
        let all = rest.get(at + 1..at + 1 + hosts * HOST);
        let fits = all.is_some_and(|all| {
            all.chunks(HOST).all(|host| digits(&host[0]).is_none() && host[1..].iter().all(|n| digits(n).is_some()))
        });
        if fits {
            c.at += at + 1 + hosts * HOST;
            return c.number().and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
        }
    }
    None
}
