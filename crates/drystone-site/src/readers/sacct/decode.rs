//! From the columns of a row to what they mean.

use super::columns::Column;
use super::split::Values;
use crate::error::SiteError;
use crate::rows::{Cache, Draft, Intake, Place, Trouble};
use crate::rules::Rule;
use crate::text::{
    Amount, Asking, Flags, JobId, Limit, MemoryRequest, NoTime, State, UNKNOWN, When, asks, decimal, is_missing,
    limit_minutes, limit_span, megabytes, memory_request, span, state, tres, whole,
};

/// Parsed texts that many rows share.
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
    draft.raw = whole(get(Column::JobIdRaw));
    let mut odd = Odd::default();
    let seconds = |text: &[u8]| span(text).or_else(|| decimal(text).map(|s| s as u32));
    draft.elapsed = odd.of("ElapsedRaw", get(Column::ElapsedRaw), seconds);
    draft.elapsed = draft.elapsed.or_else(|| odd.of("Elapsed", get(Column::Elapsed), seconds));
    draft.suspended = odd.of("Suspended", get(Column::Suspended), seconds);
    let small = |text: &[u8]| whole(text).and_then(|n| u32::try_from(n).ok());
    let leaked = amounts(&mut draft, values, &mut odd, caches);
    if let Err(unlike) = times(&mut draft, values, intake) {
        if unlike == NoTime::Relative {
            let text = [Column::Submit, Column::Eligible, Column::Start, Column::End].map(get);
            let odd = text.into_iter().find(|text| intake.form.read(text) == Err(NoTime::Relative));
            intake.trouble(Trouble::Relative, place, odd.unwrap_or_default());
        } else {
            intake.trouble(Trouble::Form, place, unread(values, intake));
        }
        intake.bad(Rule::Time, place, line, draft.core_seconds());
        return Ok(());
    }
    draft.limit = limit(values, &mut odd);
    let (known, by) = state(get(Column::State));
    (draft.state, draft.canceller) = (known, by.unwrap_or_default());
    if known == State::Other {
        draft.word = get(Column::State);
        if draft.word.ends_with(b"+") {
            intake.trouble(Trouble::Padded, place, draft.word);
        }
    }
    texts(&mut draft, values);
    draft.uid = odd.of("UID", get(Column::Uid), small);
    draft.priority = odd.of("Priority", get(Column::Priority), small);
    draft.exit = odd.of("ExitCode", get(Column::ExitCode), exit);
    draft.flags = caches.flags.get(0, get(Column::Flags), Flags::of_list);
    if get(Column::SubmitLine).windows(11).any(|w| w == b"--exclusive") {
        draft.exclusive = true;
    }
    if leaked {
        intake.count(Rule::MemoryFlag, place, line, draft.core_seconds());
    }
    if let Some((column, value)) = odd.found {
        let said = [column.as_bytes(), b"=`", value, b"`: ", line].concat();
        intake.count(Rule::Field, place, &said, draft.core_seconds());
    }
    intake.push(&draft)
}

/// The first value that could not be read, and its column.
#[derive(Default)]
struct Odd<'a> {
    found: Option<(&'static str, &'a [u8])>,
}

impl<'a> Odd<'a> {
    /// A value that may be missing.
    #[inline]
    fn of<T>(&mut self, column: &'static str, text: &'a [u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        if is_missing(text) {
            return None;
        }
        let value = read(text);
        if value.is_none() && self.found.is_none() {
            self.found = Some((column, text));
        }
        value
    }
}

/// The time that cannot be read.
fn unread<'a>(values: &Values<'a>, intake: &Intake) -> &'a [u8] {
    let columns = [Column::Submit, Column::Eligible, Column::Start, Column::End];
    let texts = columns.map(|column| values[column as usize]);
    texts.into_iter().find(|text| intake.form.read(text).is_err()).unwrap_or_default()
}

/// The four times.
///
/// # Errors
/// One that cannot be read.
fn times<'a>(draft: &mut Draft<'a>, values: &Values<'a>, intake: &Intake) -> Result<(), NoTime> {
    let columns = [Column::Submit, Column::Eligible, Column::Start, Column::End];
    let mut whens = [When::Unknown; 4];
    for (when, column) in whens.iter_mut().zip(columns) {
        *when = intake.form.read(values[column as usize])?;
    }
    [draft.submit, draft.eligible, draft.start, draft.end] = whens;
    Ok(())
}

fn limit<'a>(values: &Values<'a>, odd: &mut Odd<'a>) -> Limit {
    let get = |column: Column| values[column as usize];
    let mut read = |name, text: &'a [u8], read: fn(&[u8]) -> Option<Limit>| {
        odd.of(name, text, read).filter(|&limit| limit != Limit::Unknown)
    };
    // A plain number is minutes, as wherever Slurm takes a time.
    let either = |text: &[u8]| limit_minutes(text).or_else(|| limit_span(text));
    let seconds = |text: &[u8]| match decimal(text) {
        Some(seconds) => (seconds < f64::from(u32::MAX - 8)).then(|| Limit::Seconds(seconds.ceil() as u32)),
        None => limit_span(text),
    };
    let limit = read("TimelimitRaw", get(Column::TimeLimitRaw), either);
    let limit = limit.or_else(|| read("Timelimit", get(Column::TimeLimit), either));
    limit.or_else(|| read("TimelimitSeconds", get(Column::LimitSeconds), seconds)).unwrap_or(Limit::Unknown)
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
    // A column `nodes` is a list to some and a count to others.
    if draft.nodes.is_empty() && (whole(get(Column::Nodes)).is_none() || !get(Column::AllocNodes).is_empty()) {
        draft.nodes = get(Column::Nodes);
    }
    draft.reason = get(Column::Reason);
    draft.name = get(Column::JobName);
}

/// `1:0`, exit code and signal.
fn exit(text: &[u8]) -> Option<(i16, i16)> {
    let at = memchr::memchr(b':', text);
    let number = |text: &[u8]| whole(text).and_then(|n| i16::try_from(n).ok());
    match at {
        Some(at) => Some((number(&text[..at])?, number(&text[at + 1..])?)),
        None => Some((number(text)?, 0)),
    }
}

/// Reads the demand and the allocation; returns whether a flag had leaked into the memory.
fn amounts<'a>(draft: &mut Draft<'_>, values: &Values<'a>, odd: &mut Odd<'a>, caches: &mut Caches) -> bool {
    let get = |column: Column| values[column as usize];
    let mut count = |name, column: Column| odd.of(name, get(column), number).unwrap_or(UNKNOWN);
    let asked = Amount {
        cpus: count("ReqCPUS", Column::ReqCpus),
        nodes: count("ReqNodes", Column::ReqNodes),
        gpus: count("ReqGPUS", Column::ReqGpus),
        ..Amount::UNKNOWN
    };
    let held = Amount {
        cpus: count("AllocCPUS", Column::AllocCpus),
        nodes: match count("NNodes", Column::AllocNodes) {
            UNKNOWN => number(get(Column::Nodes)).unwrap_or(UNKNOWN),
            nodes => nodes,
        },
        gpus: count("AllocGPUS", Column::AllocGpus),
        ..Amount::UNKNOWN
    };
    let mut resources = |name, column: Column, gres: Column| {
        let read = |text: &[u8]| caches.resources.get(column as usize % 2, text, tres);
        let amount = odd.of(name, get(column), read).unwrap_or(Amount::UNKNOWN);
        let gpus = odd.of("Gres", get(gres), |text| Some(gpus(text)));
        Amount { gpus: if amount.gpus == UNKNOWN { gpus.unwrap_or(UNKNOWN) } else { amount.gpus }, ..amount }
    };
    let in_asked = resources("ReqTRES", Column::ReqTres, Column::ReqGres);
    let in_held = resources("AllocTRES", Column::AllocTres, Column::AllocGres);
    draft.asked = asked.or(in_asked);
    draft.held = held.or(in_held);
    // Sizes are those of one instance.
    if let Some(instances) = odd.of("Instances", get(Column::Instances), number).filter(|&n| n > 1) {
        for amount in [&mut draft.asked, &mut draft.held] {
            for each in [&mut amount.cpus, &mut amount.gpus].into_iter().filter(|each| **each != UNKNOWN) {
                *each = each.saturating_mul(instances).min(UNKNOWN - 9);
            }
        }
    }
    let request = match odd.of("ReqMem", get(Column::ReqMem), |text| caches.memory.get(0, text, memory_request)) {
        Some(request) => request,
        None => match odd.of("ReqMemTotal", get(Column::MemoryMb), megabytes) {
            Some(kb) => MemoryRequest::Total(kb),
            None => MemoryRequest::Unknown,
        },
    };
    if draft.asked.memory_kb == Amount::NO_MEMORY || request == MemoryRequest::All {
        draft.asked.memory_kb = request.total(draft.asked.cpus, draft.asked.nodes);
    }
    draft.asks = asks(Asking {
        tres: get(Column::ReqTres),
        held: get(Column::AllocTres),
        gres: get(Column::ReqGres),
        licences: get(Column::Licenses),
        memory: request,
    });
    matches!(request, MemoryRequest::PerCpu(_, true))
}

/// A count, perhaps with a unit: `2K`; of a range the lower end.
fn number(text: &[u8]) -> Option<u32> {
    let plain = whole(text).and_then(|n| u32::try_from(n).ok()).filter(|&n| n < UNKNOWN - 8);
    plain.or_else(|| crate::text::leading(text).filter(|(_, rest)| rest.starts_with(b"-")).map(|(n, _)| n as u32))
}

/// GPUs in what old versions call generic resources: `gpu:2`, `gpu:k80:4`.
fn gpus(text: &[u8]) -> u32 {
    let one = |entry: &[u8]| {
        let mut parts = entry.split(|&b| b == b':' || b == b'=');
        let is_gpu = parts.next() == Some(b"gpu");
        let count = parts.next_back().and_then(whole).and_then(|n| u32::try_from(n).ok());
        if is_gpu { count.unwrap_or(1).min(1 << 20) } else { 0 }
    };
    text.split(|&b| b == b',').map(one).fold(0, u32::saturating_add)
}
