//! Output of Slurm's plugin `jobcomp/filetxt`: one line of `Key=value` for each job that has
//! finished.

use super::FileReading;
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft, RowTrouble};
use crate::rules::ImportRule;
use crate::text::{
    Amount, IdPart, JobLabel, NoTime, RecordLimit, RecordState, UNKNOWN, When, limit_minutes, limit_span, parse_digits,
    parse_tasks, parse_tres, split_leading, split_state,
};
use std::io::Read;

/// Every key of any version: a value goes on until the next of them.
const KEYS: &[&str] = &[
    "JobId",
    "UserId",
    "GroupId",
    "Name",
    "JobState",
    "Partition",
    "TimeLimit",
    "StartTime",
    "EndTime",
    "NodeList",
    "NodeCnt",
    "ProcCnt",
    "WorkDir",
    "ReservationName",
    "Gres",
    "Tres",
    "Account",
    "QOS",
    "WcKey",
    "Cluster",
    "SubmitTime",
    "EligibleTime",
    "ArrayJobId",
    "ArrayTaskId",
    "HetJobId",
    "HetJobOffset",
    "PackJobId",
    "PackJobOffset",
    "DerivedExitCode",
    "ExitCode",
];

struct LineValues<'a>(Vec<(&'a [u8], &'a [u8])>);

impl<'a> LineValues<'a> {
    fn split_line(line: &'a [u8]) -> LineValues<'a> {
        let mut pairs: Vec<(&[u8], usize, usize)> = Vec::with_capacity(KEYS.len());
        let mut at = 0;
        while at < line.len() {
            let end = memchr::memchr(b' ', &line[at..]).map_or(line.len(), |space| at + space);
            let word = &line[at..end];
            let key = memchr::memchr(b'=', word).map(|equals| &word[..equals]);
            match key.filter(|key| KEYS.iter().any(|name| name.as_bytes() == *key)) {
                Some(key) => pairs.push((key, at + key.len() + 1, end)),
                // A value with a blank in it.
                None => pairs.last_mut().into_iter().for_each(|last| last.2 = end),
            }
            at = end + 1;
        }
        LineValues(pairs.into_iter().map(|(key, from, to)| (key, line[from..to].trim_ascii_end())).collect())
    }

    /// The value of a key; of several the last, since a job's name comes before what it may
    /// imitate.
    fn get(&self, key: &str) -> &'a [u8] {
        self.0.iter().rev().find(|(k, _)| *k == key.as_bytes()).map_or(b"", |(_, v)| v)
    }
}

pub(crate) fn read_jobcomp(input: impl Read, reading: &mut FileReading<'_>) -> Result<(), SiteError> {
    reading.each_line(input, |reading, line, place| {
        let text = line.bytes.trim_ascii();
        if text.is_empty() {
            return Ok(true);
        }
        let pairs = LineValues::split_line(text);
        if !line.whole && pairs.get("EndTime").is_empty() {
            reading.intake.count_bad(ImportRule::Cut, place, text, 0);
            return reading.note_cut(place).map(|()| false);
        }
        take_row(text, &pairs, place, reading)?;
        Ok(true)
    })
}

fn take_row(
    line: &[u8],
    pairs: &LineValues<'_>,
    place: FilePlace,
    reading: &mut FileReading<'_>,
) -> Result<(), SiteError> {
    let intake = &mut *reading.intake;
    let Some(raw) = parse_digits(pairs.get("JobId")) else {
        intake.count_bad(ImportRule::JobId, place, line, 0);
        return Ok(());
    };
    let mut draft = RowDraft::new(place, line);
    draft.raw = Some(raw);
    draft.id = id(pairs, raw);
    let mut whens = [When::Unknown; 4];
    for (moment, key) in whens.iter_mut().zip(["SubmitTime", "EligibleTime", "StartTime", "EndTime"]) {
        match intake.form.read_time(pairs.get(key)) {
            Ok(read) => *moment = read,
            Err(unlike) => {
                let trouble = if unlike == NoTime::Relative { RowTrouble::Relative } else { RowTrouble::Form };
                intake.note_trouble(trouble, place, pairs.get(key));
                intake.count_bad(ImportRule::Time, place, line, 0);
                return Ok(());
            }
        }
    }
    [draft.submit, draft.eligible, draft.start, draft.end] = whens;
    let limit = pairs.get("TimeLimit");
    let time_limit = limit_minutes(limit).or_else(|| limit_span(limit));
    draft.limit = time_limit.unwrap_or(RecordLimit::Unknown);
    let (record_state, by) = split_state(pairs.get("JobState"));
    (draft.state, draft.canceller) = (record_state, by.unwrap_or_default());
    draft.word = if record_state == RecordState::Other { pairs.get("JobState") } else { b"" };
    (draft.user, draft.uid) = split_name_number(pairs.get("UserId"));
    draft.group = split_name_number(pairs.get("GroupId")).0;
    draft.cluster = pairs.get("Cluster");
    draft.account = pairs.get("Account");
    draft.partition = pairs.get("Partition");
    draft.qos = pairs.get("QOS");
    draft.reservation = pairs.get("ReservationName");
    draft.nodes = pairs.get("NodeList");
    draft.name = pairs.get("Name");
    let count = |key: &str| {
        split_leading(pairs.get(key))
            .and_then(|(n, _)| u32::try_from(n).ok())
            .filter(|&n| n < UNKNOWN - 8)
            .unwrap_or(UNKNOWN)
    };
    draft.asked = parse_tres(pairs.get("Tres")).unwrap_or(Amount::UNKNOWN);
    let allocation = Amount { cpus: count("ProcCnt"), nodes: count("NodeCnt"), ..Amount::UNKNOWN };
    // What it held beside is what it asked for.
    draft.held = if allocation.nodes == 0 { allocation } else { allocation.or_else(draft.asked) };
    if time_limit.is_none() {
        intake.count_rule(ImportRule::Field, place, line, 0);
    }
    intake.push(&draft)
}

fn id(pairs: &LineValues<'_>, raw: u64) -> Option<JobLabel> {
    let part = |of: &str, index: &str| Some((parse_digits(pairs.get(of))?, pairs.get(index)));
    if let Some((number, task)) = part("ArrayJobId", "ArrayTaskId").filter(|(_, task)| !task.is_empty()) {
        let single_task = parse_digits(task).and_then(|n| u32::try_from(n).ok()).map(IdPart::Task);
        let text = task.strip_prefix(b"[").and_then(|t| t.strip_suffix(b"]")).unwrap_or(task);
        return single_task.or_else(|| parse_tasks(text).map(IdPart::Tasks)).map(|part| JobLabel { number, part });
    }
    let het = part("HetJobId", "HetJobOffset").or_else(|| part("PackJobId", "PackJobOffset"));
    if let Some((number, offset)) = het.filter(|(number, _)| *number > 0)
        && let Some(offset) = parse_digits(offset).and_then(|n| u32::try_from(n).ok())
    {
        return Some(JobLabel { number, part: IdPart::Component(offset) });
    }
    Some(JobLabel { number: raw, part: IdPart::Whole })
}

/// `root(0)`: a name and its number.
fn split_name_number(text: &[u8]) -> (&[u8], Option<u32>) {
    let Some(inner) = text.strip_suffix(b")") else { return (text, None) };
    let Some(at) = inner.iter().rposition(|&b| b == b'(') else { return (text, None) };
    (&text[..at], parse_digits(&inner[at + 1..]).and_then(|n| u32::try_from(n).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_go_on_until_the_next_key() {
        let line =
            b"JobId=3 UserId=al ice(7) GroupId=g(8) Name=a b=c JobState=COMPLETED WorkDir=/x y z  Tres=cpu=2,mem=1G ";
        let pairs = LineValues::split_line(line);
        assert_eq!(pairs.get("Name"), b"a b=c");
        assert_eq!(pairs.get("WorkDir"), b"/x y z");
        assert_eq!(pairs.get("Tres"), b"cpu=2,mem=1G");
        assert_eq!(split_name_number(pairs.get("UserId")), (&b"al ice"[..], Some(7)));
        assert_eq!(pairs.get("QOS"), b"");
    }
}
