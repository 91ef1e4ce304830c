//! From the columns of a row to what they mean.

use super::columns::Column;
use super::padded;
use super::split::Values;
use crate::error::SiteError;
use crate::rows::{Cache, Draft, Intake, Place};
use crate::rules::Rule;
use crate::text::{
    Amount, Flags, JobId, Limit, MemoryRequest, NoTime, State, UNKNOWN, When, digits, limit_minutes, limit_span,
    megabytes, memory_request, span, state, tres,
};

/// What texts mean that many rows have.
#[derive(Default)]
pub(super) struct Caches {
    /// `None` for what cannot be read.
    resources: Cache<Option<Amount>>,
    memory: Cache<Option<MemoryRequest>>,
    flags: Cache<Flags>,
}

/// Reads all columns of a row and gives it to the intake.
#[inline]
pub(super) fn decode(
    line: &[u8],
    place: Place,
    values: &Values<'_>,
    id: JobId,
    intake: &mut Intake,
    caches: &mut Caches,
) -> Result<(), SiteError> {
    let get = |column: Column| values[column as usize];
    let mut draft = Draft::new(place, line);
    draft.id = Some(id);
    draft.raw = digits(get(Column::JobIdRaw));
    let mut odd = Odd::default();
    if !times(&mut draft, values, intake)? {
        intake.bad(Rule::Time, place, line, draft.core_seconds());
        return Ok(());
    }
    draft.elapsed = odd.maybe(get(Column::ElapsedRaw), span).or_else(|| odd.maybe(get(Column::Elapsed), span));
    draft.suspended = odd.maybe(get(Column::Suspended), span);
    draft.limit = limit(values, &mut odd);
    let (known, by) = state(get(Column::State));
    (draft.state, draft.canceller) = (known, by.unwrap_or_default());
    if known == State::Other {
        draft.word = get(Column::State);
        if draft.word.ends_with(b"+") {
            return Err(padded(place, draft.word, intake));
        }
    }
    texts(&mut draft, values);
    draft.uid = odd.maybe(get(Column::Uid), |text| digits(text).and_then(|n| u32::try_from(n).ok()));
    draft.priority = odd.maybe(get(Column::Priority), |text| digits(text).and_then(|n| u32::try_from(n).ok()));
    draft.exit = odd.maybe(get(Column::ExitCode), exit);
    draft.flags = caches.flags.get(0, get(Column::Flags), Flags::of_list);
    let leaked = amounts(&mut draft, values, &mut odd, caches);
    if get(Column::SubmitLine).windows(11).any(|w| w == b"--exclusive") {
        draft.exclusive = true;
    }
    if leaked {
        intake.count(Rule::MemoryFlag, place, line, draft.core_seconds());
    }
    if odd.found {
        intake.count(Rule::Field, place, line, draft.core_seconds());
    }
    intake.push(&draft)
}

/// Whether some value could not be read.
#[derive(Default)]
struct Odd {
    found: bool,
}

impl Odd {
    /// A value that may be missing.
    #[inline]
    fn maybe<T>(&mut self, text: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        if matches!(text, b"" | b"Unknown" | b"INVALID" | b"None" | b"N/A" | b"unknown") {
            return None;
        }
        let value = read(text);
        self.found |= value.is_none();
        value
    }
}

/// The four times; `false` where one cannot be read.
fn times<'a>(draft: &mut Draft<'a>, values: &Values<'a>, intake: &Intake) -> Result<bool, SiteError> {
    let columns = [Column::Submit, Column::Eligible, Column::Start, Column::End];
    let mut whens = [When::Unknown; 4];
    for (when, column) in whens.iter_mut().zip(columns) {
        let text = values[column as usize];
        match intake.form.read(text) {
            Ok(read) => *when = read,
            Err(NoTime::Unreadable) => return Ok(false),
            Err(NoTime::Relative) => {
                let time = String::from_utf8_lossy(text).into_owned();
                return Err(SiteError::RelativeTime { place: intake.table.files.text(draft.place), time });
            }
        }
    }
    [draft.submit, draft.eligible, draft.start, draft.end] = whens;
    Ok(true)
}

fn limit(values: &Values<'_>, odd: &mut Odd) -> Limit {
    let get = |column: Column| values[column as usize];
    let mut read = |text: &[u8], read: fn(&[u8]) -> Option<Limit>| {
        let limit = if text.is_empty() { Some(Limit::Unknown) } else { read(text) };
        odd.found |= limit.is_none();
        limit.filter(|&limit| limit != Limit::Unknown)
    };
    // A plain number is minutes, as wherever Slurm takes a time.
    let either = |text: &[u8]| limit_minutes(text).or_else(|| limit_span(text));
    let seconds = |text: &[u8]| digits(text).and_then(|s| u32::try_from(s).ok()).map(Limit::Seconds);
    let limit = read(get(Column::TimeLimitRaw), either).or_else(|| read(get(Column::TimeLimit), either));
    limit.or_else(|| read(get(Column::LimitSeconds), seconds)).unwrap_or(Limit::Unknown)
}

fn texts<'a>(draft: &mut Draft<'a>, values: &Values<'a>) {
    let get = |column: Column| values[column as usize];
    draft.cluster = get(Column::Cluster);
    draft.user = get(Column::User);
    draft.account = get(Column::Account);
    draft.group = if get(Column::Group).is_empty() { get(Column::Gid) } else { get(Column::Group) };
    draft.partition = get(Column::Partition);
    draft.qos = get(Column::Qos);
    draft.reservation = get(Column::Reservation);
    draft.constraints = get(Column::Constraints);
    draft.nodes = get(Column::NodeList);
    draft.reason = get(Column::Reason);
    draft.name = get(Column::JobName);
}

/// `1:0`, exit code and signal.
fn exit(text: &[u8]) -> Option<(i16, i16)> {
    let at = memchr::memchr(b':', text);
    let number = |text: &[u8]| digits(text).and_then(|n| i16::try_from(n).ok());
    match at {
        Some(at) => Some((number(&text[..at])?, number(&text[at + 1..])?)),
        None => Some((number(text)?, 0)),
    }
}

/// What was asked for and held; whether a flag had leaked into the memory.
fn amounts(draft: &mut Draft<'_>, values: &Values<'_>, odd: &mut Odd, caches: &mut Caches) -> bool {
    let get = |column: Column| values[column as usize];
    let mut count = |column: Column| odd.maybe(get(column), number).unwrap_or(UNKNOWN);
    let (asked, held) = (
        Amount { cpus: count(Column::ReqCpus), nodes: count(Column::ReqNodes), ..Amount::UNKNOWN },
        Amount { cpus: count(Column::AllocCpus), nodes: count(Column::AllocNodes), ..Amount::UNKNOWN },
    );
    let mut resources = |column: Column, gres: Column| {
        let read = |text: &[u8]| caches.resources.get(column as usize % 2, text, tres);
        let amount = odd.maybe(get(column), read).unwrap_or(Amount::UNKNOWN);
        let gpus = odd.maybe(get(gres), |text| Some(gpus(text)));
        Amount { gpus: if amount.gpus == UNKNOWN { gpus.unwrap_or(UNKNOWN) } else { amount.gpus }, ..amount }
    };
    let (in_asked, in_held) =
        (resources(Column::ReqTres, Column::ReqGres), resources(Column::AllocTres, Column::AllocGres));
    draft.asked = asked.or(in_asked);
    draft.held = held.or(in_held);
    let request = match odd.maybe(get(Column::ReqMem), |text| caches.memory.get(0, text, memory_request)) {
        Some(request) => request,
        None => match odd.maybe(get(Column::MemoryMb), megabytes) {
            Some(kb) => MemoryRequest::Total(kb),
            None => MemoryRequest::Unknown,
        },
    };
    if draft.asked.memory_kb == Amount::NO_MEMORY || request == MemoryRequest::All {
        draft.asked.memory_kb = request.total(draft.asked.cpus, draft.asked.nodes);
    }
    matches!(request, MemoryRequest::PerCpu(_, true))
}

/// A count, perhaps with a unit: `2K`; of a range the lower end.
fn number(text: &[u8]) -> Option<u32> {
    let plain = digits(text).and_then(|n| u32::try_from(n).ok()).filter(|&n| n < UNKNOWN - 8);
    plain.or_else(|| crate::text::leading(text).filter(|(_, rest)| rest.starts_with(b"-")).map(|(n, _)| n as u32))
}

/// GPUs in what old versions call generic resources: `gpu:2`, `gpu:k80:4`.
fn gpus(text: &[u8]) -> u32 {
    let one = |entry: &[u8]| {
        let mut parts = entry.split(|&b| b == b':' || b == b'=');
        let is_gpu = parts.next() == Some(b"gpu");
        let count = parts.next_back().and_then(digits).and_then(|n| u32::try_from(n).ok());
        if is_gpu { count.unwrap_or(1).min(1 << 20) } else { 0 }
    };
    text.split(|&b| b == b',').map(one).fold(0, u32::saturating_add)
}
