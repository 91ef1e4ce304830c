//! `accounting` of Grid Engine: one line for each attempt, fields parted by colons.

use super::Reading;
use super::lines::Lines;
use crate::error::SiteError;
use crate::rows::{Draft, Place};
use crate::rules::Rule;
use crate::text::{Amount, JobId, Limit, Part, State, When, digits, span};
use std::io::Read;

/// Fields that every version has.
const FEWEST: usize = 40;

/// Reads a whole file.
pub(crate) fn read(input: impl Read, reading: &mut Reading<'_>) -> Result<(), SiteError> {
    let mut lines = Lines::new(input);
    let mut last = 0;
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(()),
            Err(error) => return reading.broken(error, last),
        };
        reading.lines(line.number)?;
        last = line.number;
        let place = reading.place(line.number);
        let text = line.bytes;
        if text.is_empty() || text.starts_with(b"#") {
            continue;
        }
        let fields: Vec<&[u8]> = text.split(|&b| b == b':').collect();
        if fields.len() < FEWEST {
            if !line.whole {
                reading.intake.bad(Rule::Cut, place, text, 0);
                return reading.cut(place);
            }
            reading.intake.bad(Rule::Columns, place, text, 0);
            continue;
        }
        // The parts of a parallel job, one for each of its hosts.
        if fields.get(41).is_some_and(|id| !id.is_empty() && *id != b"NONE") {
            reading.intake.count(Rule::Record, place, text, 0);
            continue;
        }
        match job(text, &fields, place) {
            Some(draft) => reading.intake.push(&draft)?,
            None => reading.intake.bad(Rule::Shape, place, text, 0),
        }
    }
}

fn job<'a>(line: &'a [u8], fields: &[&'a [u8]], place: Place) -> Option<Draft<'a>> {
    let mut draft = Draft::new(place, line);
    (draft.partition, draft.group, draft.user, draft.name) = (fields[0], fields[2], fields[3], fields[4]);
    let number = digits(fields[5])?;
    let task = digits(fields[35]).and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    draft.raw = task.is_none().then_some(number);
    draft.id = Some(JobId { number, part: task.map_or(Part::Whole, Part::Task) });
    draft.account = if fields[31].is_empty() || fields[31] == b"NONE" { fields[6] } else { fields[31] };
    draft.submit = when(fields[8])?;
    (draft.start, draft.end) = (when(fields[9])?, when(fields[10])?);
    let (failed, exit) = (digits(fields[11])?, digits(fields[12]).unwrap_or(0));
    let slots = digits(fields[34]).and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
    let ran = draft.start != When::Unknown;
    draft.asked = Amount { cpus: slots?, ..Amount::UNKNOWN };
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
    draft.limit = limit(fields[39]);
    draft.exit = i16::try_from(exit).ok().map(|code| (code, 0));
    draft.state = match (ran, failed, exit) {
        (false, ..) => State::Cancelled,
        // Rescheduled, by hand or for its host; migrated.
        (_, 24 | 25, _) => State::Requeued,
        (_, 100, 137) => State::Cancelled,
        (_, 0, 0) => State::Completed,
        _ => State::Failed,
    };
    Some(draft)
}

/// Seconds or, in Univa's versions, milliseconds since 1970; 0 for never.
fn when(text: &[u8]) -> Option<When> {
    match digits(text)? {
        0 => Some(When::Unknown),
        seconds @ 1..100_000_000_000 => Some(When::Epoch(seconds as i64)),
        milliseconds => i64::try_from(milliseconds / 1_000).ok().map(When::Epoch),
    }
}

/// `-l h_rt=3600,…` in the category of a job.
fn limit(category: &[u8]) -> Limit {
    let text = String::from_utf8_lossy(category);
    let value = |key: &str| {
        let (_, behind) = text.split_once(key)?;
        let end = behind.find([',', ' ']).unwrap_or(behind.len());
        span(&behind.as_bytes()[..end])
    };
    value("h_rt=").or_else(|| value("s_rt=")).map_or(Limit::Unknown, Limit::Seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_hides_in_the_category() {
        assert_eq!(limit(b"-U x -l h_rt=3600,mem=4G -pe mpi 16"), Limit::Seconds(3_600));
        assert_eq!(limit(b"-l mem=4G,h_rt=02"), Limit::Seconds(2));
        assert_eq!(limit(b"NONE"), Limit::Unknown);
    }

    #[test]
    fn moments_are_seconds_or_milliseconds() {
        assert_eq!(when(b"1769860800"), Some(When::Epoch(1_769_860_800)));
        assert_eq!(when(b"1769860800123"), Some(When::Epoch(1_769_860_800)));
        assert_eq!(when(b"0"), Some(When::Unknown));
        assert_eq!(when(b"x"), None);
    }
}
