//! `accounting` and `reporting` of Grid Engine: one line for each attempt, fields parted by colons.

use super::FileReading;
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft};
use crate::rules::ImportRule;
use crate::text::{
    Amount, IdPart, JobLabel, RecordLimit, RecordState, UNKNOWN, When, parse_digits, parse_span, parse_whole,
    split_leading,
};
use std::io::Read;

/// Fields that every version has.
const FEWEST: usize = 40;

pub(crate) fn read_grid_engine(input: impl Read, reading: &mut FileReading<'_>) -> Result<(), SiteError> {
    // Fields of the row before.
    let mut usual = 0;
    reading.each_line(input, |reading, line, place| {
        let text = line.bytes;
        if text.is_empty() || text.starts_with(b"#") {
            return Ok(true);
        }
        let text = match split_reported(text) {
            None => text,
            Some((b"acct", record)) => record,
            Some(_) => {
                reading.intake.count_rule(ImportRule::Record, place, text, 0);
                return Ok(true);
            }
        };
        if text.trim_ascii_start().starts_with(b"{") {
            match of_json(text) {
                Some(fields) => {
                    let fields: Vec<&[u8]> = fields.iter().map(String::as_bytes).collect();
                    take_record(text, &fields, place, reading)?;
                }
                None if line.whole => reading.intake.count_bad(ImportRule::Shape, place, text, 0),
                None => {
                    reading.intake.count_bad(ImportRule::Cut, place, text, 0);
                    return reading.note_cut(place).map(|()| false);
                }
            }
            return Ok(true);
        }
        let mut fields: Vec<&[u8]> = text.split(|&b| b == b':').collect();
        rejoin_name(text, &mut fields);
        rejoin_category(text, &mut fields);
        // The last line may lack its end, but not fields that the others have.
        if !line.whole && fields.len() < usual.max(FEWEST) {
            reading.intake.count_bad(ImportRule::Cut, place, text, lost_seconds(&fields));
            return reading.note_cut(place).map(|()| false);
        }
        if fields.len() < FEWEST || !usage_is_whole(&fields) {
            reading.intake.count_bad(ImportRule::Columns, place, text, lost_seconds(&fields));
            return Ok(true);
        }
        usual = fields.len();
        take_record(text, &fields, place, reading)?;
        Ok(true)
    })
}

/// The kind of a line of the file `reporting`, and what follows: it has accounting among records of
/// hosts, queues and what happens to jobs, each behind its time.
pub(super) fn split_reported(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (time, rest) = line.split_at(line.iter().position(|&b| b == b':')?);
    parse_digits(time)?;
    let rest = &rest[1..];
    let (kind, record) = rest.split_at(rest.iter().position(|&b| b == b':')?);
    let record_kinds: &[&[u8]] = &[
        b"acct",
        b"new_job",
        b"job_log",
        b"host",
        b"host_consumable",
        b"queue",
        b"queue_consumable",
        b"sharelog",
        b"new_ar",
        b"ar_attribute",
        b"ar_log",
        b"ar_acct",
        b"department_usage",
        b"statistic",
    ];
    record_kinds.contains(&kind).then(|| (kind, &record[1..]))
}

/// Returns whether no field is missing or added before the category: the slots, the task and the
/// usage of processor, memory and I/O are numbers.
fn usage_is_whole(fields: &[&[u8]]) -> bool {
    let whole = |at: usize| fields[at].is_empty() || parse_digits(fields[at]).is_some();
    let decimal = |at: usize| fields[at].is_empty() || crate::text::parse_decimal(fields[at]).is_some();
    whole(34) && whole(35) && (36..39).all(decimal)
}

/// Returns the seconds that a row of an unusable shape was on the machine: on one slot at least.
fn lost_seconds(fields: &[&[u8]]) -> u64 {
    let moment = |at: usize| match fields.get(at).copied().and_then(parse_time) {
        Some(When::Epoch(second)) => Some(second),
        _ => None,
    };
    moment(9).zip(moment(10)).and_then(|(start, end)| u64::try_from(end - start).ok()).unwrap_or(0)
}

fn take_record(
    text: &[u8],
    fields: &[&[u8]],
    place: FilePlace,
    reading: &mut FileReading<'_>,
) -> Result<(), SiteError> {
    // The parts of a parallel job, one for each of its hosts, such as `1.n0006`.
    let part = |id: &&[u8]| !id.is_empty() && **id != *b"NONE" && crate::text::parse_decimal(id).is_none();
    if fields.get(41).is_some_and(part) {
        reading.intake.count_rule(ImportRule::Record, place, text, 0);
        return Ok(());
    }
    match parse_job(text, fields, place) {
        Some(draft) => reading.intake.push(&draft),
        None => {
            reading.intake.count_bad(ImportRule::Shape, place, text, 0);
            Ok(())
        }
    }
}

/// The names of the fields that are read, and their places in a line of text.
const NAMED: [(&str, usize, &str); 18] = [
    ("qname", 0, ""),
    ("hostname", 1, ""),
    ("group", 2, ""),
    ("owner", 3, ""),
    ("job_name", 4, ""),
    ("job_number", 5, ""),
    ("account", 6, "sge"),
    ("submission_time", 8, "0"),
    ("start_time", 9, "0"),
    ("end_time", 10, "0"),
    ("failed", 11, "0"),
    ("exit_status", 12, "0"),
    ("project", 31, "NONE"),
    ("granted_pe", 33, "NONE"),
    ("slots", 34, "0"),
    ("task_number", 35, "0"),
    ("category", 39, "NONE"),
    ("pe_taskid", 41, "NONE"),
];

/// The fields of a record in JSON, as Gridware and Open Cluster Scheduler write it, in their places
/// of the text.
fn of_json(text: &[u8]) -> Option<Vec<String>> {
    let record: serde_json::Value = serde_json::from_slice(text).ok()?;
    record.get("job_number")?;
    let mut fields = vec![String::new(); 43];
    for (name, at, blank) in NAMED {
        fields[at] = match record.get(name) {
            Some(serde_json::Value::String(value)) => value.clone(),
            Some(serde_json::Value::Number(value)) => value.to_string(),
            _ => blank.to_string(),
        };
    }
    Some(fields)
}

/// Puts a name with colons together again. The job's number, its account, its priority and five
/// more numbers behind it stand where no name has them.
fn rejoin_name<'a>(line: &'a [u8], fields: &mut Vec<&'a [u8]>) {
    let number = |at: usize| fields.get(at).is_some_and(|f| !f.is_empty() && f.iter().all(u8::is_ascii_digit));
    let is_signed = |at: usize| {
        fields.get(at).is_some_and(|f| {
            let digits = f.strip_prefix(b"-").unwrap_or(f);
            !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
        })
    };
    // Number, priority, submission, start, end, failure, exit status.
    let begins = |at: usize| number(at) && is_signed(at + 2) && (3..8).all(|next| number(at + next));
    if begins(5) {
        return;
    }
    let Some(at) = (6..fields.len().saturating_sub(8)).find(|&at| begins(at)) else { return };
    let from: usize = fields[..4].iter().map(|field| field.len() + 1).sum();
    let to: usize = fields[..at].iter().map(|field| field.len() + 1).sum::<usize>() - 1;
    fields.splice(4..at, [&line[from..to]]);
}

/// Puts a category with colons together again, such as `-l h_rt=1:00:00`: behind it come seconds of
/// waiting for I/O, the number of a parallel task or `NONE`, and memory.
fn rejoin_category<'a>(line: &'a [u8], fields: &mut Vec<&'a [u8]>) {
    const CATEGORY: usize = 39;
    let number = |at: usize| fields.get(at).is_some_and(|f| !f.is_empty() && crate::text::parse_decimal(f).is_some());
    let task = |at: usize| {
        fields
            .get(at)
            .is_some_and(|f| *f == b"NONE" || (f.contains(&b'.') && f.first().is_some_and(u8::is_ascii_digit)))
    };
    let behind = |at: usize| number(at) && task(at + 1) && number(at + 2);
    if behind(CATEGORY + 1) {
        return;
    }
    let Some(at) = (CATEGORY + 2..fields.len().saturating_sub(2)).find(|&at| behind(at)) else { return };
    let from: usize = fields[..CATEGORY].iter().map(|field| field.len() + 1).sum();
    let to: usize = fields[..at].iter().map(|field| field.len() + 1).sum::<usize>() - 1;
    fields.splice(CATEGORY..at, [&line[from..to]]);
}

fn parse_job<'a>(line: &'a [u8], fields: &[&'a [u8]], place: FilePlace) -> Option<RowDraft<'a>> {
    let mut draft = RowDraft::new(place, line);
    (draft.partition, draft.group, draft.user, draft.name) = (fields[0], fields[2], fields[3], fields[4]);
    let number = parse_digits(fields[5])?;
    let task = parse_digits(fields[35]).and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    draft.raw = task.is_none().then_some(number);
    draft.id = Some(JobLabel { number, part: task.map_or(IdPart::Whole, IdPart::Task) });
    draft.account = match (fields[31], fields[6]) {
        // `sge` is what stands there unless the user says `-A`.
        (b"" | b"NONE", b"sge") => b"",
        (b"" | b"NONE", account) => account,
        (project, _) => project,
    };
    draft.submit = parse_time(fields[8])?;
    (draft.start, draft.end) = (parse_time(fields[9])?, parse_time(fields[10])?);
    let (failure, exit) = (parse_digits(fields[11])?, parse_digits(fields[12]).unwrap_or(0));
    let slots = parse_digits(fields[34]).and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let ran = draft.start != When::Unknown;
    // One that never ran has no slots: its category says what it asked for.
    let slots = slots.or_else(|| asked_slots(fields[39])).or((!ran).then_some(1))?;
    draft.asked = Amount { cpus: slots, gpus: count_gpus(fields[39]).unwrap_or(UNKNOWN), ..Amount::UNKNOWN };
    if ran {
        draft.held = draft.asked;
        // One host is named; where the others are is not said.
        if draft.asked.cpus == 1 || fields[33] == b"NONE" {
            draft.nodes = fields[1];
            draft.held.nodes = 1;
        }
    }
    if let (When::Epoch(start), When::Epoch(end)) = (draft.start, draft.end) {
        draft.elapsed = (end >= start).then(|| u32::try_from(end - start).ok()).flatten();
    }
    draft.limit = parse_limit(fields[39]);
    draft.exit = i16::try_from(exit).ok().map(|code| (code, 0));
    draft.state = match (ran, failure, exit) {
        (false, ..) => RecordState::Cancelled,
        // Rescheduled, by hand or for its host; migrated.
        (_, 24 | 25, _) => RecordState::Requeued,
        (_, 100, 137) => RecordState::Cancelled,
        (_, 0, 0) => RecordState::Completed,
        _ => RecordState::Failed,
    };
    Some(draft)
}

/// Seconds or, in other versions, milliseconds or microseconds since 1970; 0 for never.
fn parse_time(text: &[u8]) -> Option<When> {
    match parse_digits(text)? {
        0 => Some(When::Unknown),
        seconds @ 1..100_000_000_000 => Some(When::Epoch(seconds as i64)),
        milliseconds @ ..100_000_000_000_000 => i64::try_from(milliseconds / 1_000).ok().map(When::Epoch),
        microseconds => i64::try_from(microseconds / 1_000_000).ok().map(When::Epoch),
    }
}

/// The requests in the category of a job: `-l h_rt=3600,gpu=2 -pe mpi 16`.
fn split_requests(category: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let words = category.split(|&b| b == b' ').filter(|word| !word.is_empty());
    let lists = words.clone().zip(words.skip(1)).filter(|(option, _)| *option == b"-l").map(|(_, list)| list);
    lists.flat_map(|list| list.split(|&b| b == b',')).filter_map(|request| {
        let at = memchr::memchr(b'=', request)?;
        Some((&request[..at], &request[at + 1..]))
    })
}

/// The hard limit of the run time, else the soft one.
fn parse_limit(category: &[u8]) -> RecordLimit {
    let value =
        |key: &[u8]| split_requests(category).find(|(name, _)| *name == key).and_then(|(_, value)| parse_span(value));
    value(b"h_rt").or_else(|| value(b"s_rt")).map_or(RecordLimit::Unknown, RecordLimit::Seconds)
}

/// GPUs, by the names that sites give to this resource. Taken as those of the job: whether a
/// request is for each slot, the accounting does not say.
fn count_gpus(category: &[u8]) -> Option<u32> {
    const NAMES: [&[u8]; 8] = [b"gpu", b"gpus", b"ngpu", b"ngpus", b"num_gpu", b"num_gpus", b"gpu_count", b"gpu_card"];
    let number = |value: &[u8]| match value {
        b"TRUE" | b"true" => Some(1),
        _ => parse_whole(value).and_then(|n| u32::try_from(n).ok()).filter(|&n| n < 1 << 20),
    };
    split_requests(category).find(|(name, _)| NAMES.contains(name)).and_then(|(_, value)| number(value))
}

/// The slots of `-pe NAME 16`; of a range the lower end.
fn asked_slots(category: &[u8]) -> Option<u32> {
    let mut words = category.split(|&b| b == b' ').filter(|word| !word.is_empty());
    words.find(|word| *word == b"-pe")?;
    let (slots, _) = split_leading(words.nth(1)?)?;
    u32::try_from(slots).ok().filter(|&n| n > 0 && n < 1 << 24)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_hides_in_the_category() {
        assert_eq!(parse_limit(b"-U x -l h_rt=3600,mem=4G -pe mpi 16"), RecordLimit::Seconds(3_600));
        assert_eq!(parse_limit(b"-l mem=4G,h_rt=02"), RecordLimit::Seconds(2));
        assert_eq!(parse_limit(b"NONE"), RecordLimit::Unknown);
    }

    #[test]
    fn a_category_names_gpus_and_slots() {
        assert_eq!(count_gpus(b"-U x -l h_rt=60,gpu=2 -pe smp 8"), Some(2));
        assert_eq!(count_gpus(b"-l ngpus=4"), Some(4));
        assert_eq!(count_gpus(b"-l mygpu=4,gpu=x"), None);
        assert_eq!((asked_slots(b"-pe mpi 128"), asked_slots(b"-pe mpi 8-16 -l a=1")), (Some(128), Some(8)));
        assert_eq!(asked_slots(b"-l pe=3"), None);
        // Neither is the beginning of another name.
        assert_eq!(parse_limit(b"-l xh_rt=5,h_rt=7"), RecordLimit::Seconds(7));
    }

    #[test]
    fn names_may_have_colons() {
        let plain = "q:h:g:u:NAME:7:sge:0:1490016705:1490016710:1490016720:0:0:10:x";
        for name in ["a", "a:b", "m0:aero:0588:post", "1:2:3", "9:sge:0:1", ":", "x:"] {
            let line = plain.replace("NAME", name);
            let mut fields: Vec<&[u8]> = line.as_bytes().split(|&b| b == b':').collect();
            rejoin_name(line.as_bytes(), &mut fields);
            assert_eq!((fields[4], fields[5], fields.len()), (name.as_bytes(), &b"7"[..], 15), "{name}");
        }
    }

    #[test]
    fn categories_may_have_colons() {
        let behind = "0.0:NONE:104.0:0:0";
        for category in ["NONE", "-l h_rt=1:00:00", "-l h=a:b,h_rt=0:30:0 -pe smp 4", "-l t=0.5:NONE"] {
            let line = format!("{}{category}:{behind}", "x:".repeat(39));
            let mut fields: Vec<&[u8]> = line.as_bytes().split(|&b| b == b':').collect();
            rejoin_category(line.as_bytes(), &mut fields);
            assert_eq!((fields[39], fields[41], fields.len()), (category.as_bytes(), &b"NONE"[..], 45), "{category}");
        }
        assert_eq!(parse_limit(b"-l h=a:b,h_rt=1:30:00"), RecordLimit::Seconds(5_400));
    }

    #[test]
    fn moments_are_seconds_or_milliseconds() {
        assert_eq!(parse_time(b"1769860800"), Some(When::Epoch(1_769_860_800)));
        assert_eq!(parse_time(b"1769860800123"), Some(When::Epoch(1_769_860_800)));
        assert_eq!(parse_time(b"1769860800123456"), Some(When::Epoch(1_769_860_800)));
        assert_eq!(parse_time(b"0"), Some(When::Unknown));
        assert_eq!(parse_time(b"x"), None);
    }
}
