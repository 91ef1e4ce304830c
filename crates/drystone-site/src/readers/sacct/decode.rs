//! From the columns of a row to what they mean.

use super::columns::SacctColumn;
use super::split::ColumnValues;
use crate::error::SiteError;
use crate::rows::{Cache, FilePlace, RowDraft, RowIntake, RowTrouble, RowUsage};
use crate::rules::ImportRule;
use crate::text::{
    Amount, AskColumns, Flags, GPU_NUMBER, JobLabel, MemoryRequest, NoTime, RecordLimit, RecordState, UNKNOWN, When,
    format_asks, is_missing, limit_minutes, limit_span, memory_request, parse_decimal, parse_megabytes, parse_span,
    parse_tres, parse_whole, split_state,
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
pub(super) fn decode_row(
    line: &[u8],
    place: FilePlace,
    values: &ColumnValues<'_>,
    (id, usage): (JobLabel, RowUsage),
    intake: &mut RowIntake,
    caches: &mut Caches,
) -> Result<(), SiteError> {
    let get = |column: SacctColumn| values[column as usize];
    let mut draft = RowDraft::new(place, line);
    draft.id = Some(id);
    draft.raw = parse_whole(get(SacctColumn::JobIdRaw));
    let mut odd = OddValue::default();
    let seconds = |text: &[u8]| parse_span(text).or_else(|| parse_decimal(text).map(|s| s as u32));
    draft.elapsed = odd.read_value("ElapsedRaw", get(SacctColumn::ElapsedRaw), seconds);
    draft.elapsed = draft.elapsed.or_else(|| odd.read_value("Elapsed", get(SacctColumn::Elapsed), seconds));
    draft.waited = odd.read_value("WaitRaw", get(SacctColumn::WaitRaw), seconds);
    draft.suspended = odd.read_value("Suspended", get(SacctColumn::Suspended), seconds);
    let small = |text: &[u8]| parse_whole(text).and_then(|n| u32::try_from(n).ok());
    let has_leaked_flag = decode_amounts(&mut draft, values, &mut odd, caches);
    if let Err(unlike) = decode_times(&mut draft, values, intake) {
        if unlike == NoTime::Relative {
            let text = [SacctColumn::Submit, SacctColumn::Eligible, SacctColumn::Start, SacctColumn::End].map(get);
            let odd = text.into_iter().find(|text| intake.form.read_time(text) == Err(NoTime::Relative));
            intake.note_trouble(RowTrouble::Relative, place, odd.unwrap_or_default());
        } else {
            intake.note_trouble(RowTrouble::Form, place, unreadable_time(values, intake));
        }
        intake.count_bad(ImportRule::Time, place, line, draft.core_seconds());
        return Ok(());
    }
    draft.limit = decode_limit(values, &mut odd);
    if draft.elapsed.is_none() && (draft.start == When::Unknown || draft.end == When::Unknown) {
        draft.elapsed = odd.read_value("ElapsedElse", get(SacctColumn::ElapsedElse), seconds);
    }
    let (record_state, by) = split_state(get(SacctColumn::State));
    (draft.state, draft.canceller) = (record_state, by.unwrap_or_default());
    if record_state == RecordState::Other {
        draft.word = get(SacctColumn::State);
        if draft.word.ends_with(b"+") {
            intake.note_trouble(RowTrouble::Padded, place, draft.word);
        }
    }
    decode_texts(&mut draft, values);
    draft.usage = usage;
    draft.uid = odd.read_value("UID", get(SacctColumn::Uid), small);
    draft.priority = odd.read_value("Priority", get(SacctColumn::Priority), small);
    draft.exit = odd.read_value("ExitCode", get(SacctColumn::ExitCode), parse_exit);
    draft.flags = caches.flags.get(0, get(SacctColumn::Flags), Flags::of_list);
    draft.command = get(SacctColumn::SubmitLine);
    if get(SacctColumn::SubmitLine).windows(11).any(|w| w == b"--exclusive") {
        draft.exclusive = true;
    }
    if has_leaked_flag {
        intake.count_rule(ImportRule::MemoryFlag, place, line, draft.core_seconds());
    }
    if let Some((column, value)) = odd.found {
        let field_text = [column.as_bytes(), b"=`", value, b"`: ", line].concat();
        intake.count_rule(ImportRule::Field, place, &field_text, draft.core_seconds());
    }
    intake.push(&draft)
}

/// The first value that could not be read, and its column.
#[derive(Default)]
struct OddValue<'a> {
    found: Option<(&'static str, &'a [u8])>,
}

impl<'a> OddValue<'a> {
    /// A value that may be missing.
    #[inline]
    fn read_value<T>(
        &mut self,
        column: &'static str,
        text: &'a [u8],
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<T> {
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

fn unreadable_time<'a>(values: &ColumnValues<'a>, intake: &RowIntake) -> &'a [u8] {
    let columns = [SacctColumn::Submit, SacctColumn::Eligible, SacctColumn::Start, SacctColumn::End];
    let texts = columns.map(|column| values[column as usize]);
    texts.into_iter().find(|text| intake.form.read_time(text).is_err()).unwrap_or_default()
}

/// The four times.
///
/// # Errors
/// One that cannot be read.
fn decode_times<'a>(draft: &mut RowDraft<'a>, values: &ColumnValues<'a>, intake: &RowIntake) -> Result<(), NoTime> {
    let columns = [SacctColumn::Submit, SacctColumn::Eligible, SacctColumn::Start, SacctColumn::End];
    let mut whens = [When::Unknown; 4];
    for (moment, column) in whens.iter_mut().zip(columns) {
        *moment = intake.form.read_time(values[column as usize])?;
    }
    [draft.submit, draft.eligible, draft.start, draft.end] = whens;
    Ok(())
}

fn decode_limit<'a>(values: &ColumnValues<'a>, odd: &mut OddValue<'a>) -> RecordLimit {
    let get = |column: SacctColumn| values[column as usize];
    let mut read_limit = |name, text: &'a [u8], read: fn(&[u8]) -> Option<RecordLimit>| {
        odd.read_value(name, text, read).filter(|&limit| limit != RecordLimit::Unknown)
    };
    // A plain number is minutes, as wherever Slurm takes a time. LSF names the host whose speed
    // the minutes are of.
    let either = |text: &[u8]| {
        let number = text.split(|&byte| byte == b'/').next().unwrap_or(text);
        limit_minutes(text).or_else(|| limit_span(text)).or_else(|| limit_minutes(number))
    };
    let seconds = |text: &[u8]| match parse_decimal(text) {
        Some(0.0) => Some(RecordLimit::Unlimited),
        Some(seconds) => (seconds < f64::from(u32::MAX - 8)).then(|| RecordLimit::Seconds(seconds.ceil() as u32)),
        None => limit_span(text),
    };
    let limit = read_limit("TimelimitRaw", get(SacctColumn::TimeLimitRaw), either);
    let limit = limit.or_else(|| read_limit("Timelimit", get(SacctColumn::TimeLimit), either));
    limit
        .or_else(|| read_limit("TimelimitSeconds", get(SacctColumn::LimitSeconds), seconds))
        .unwrap_or(RecordLimit::Unknown)
}

fn decode_texts<'a>(draft: &mut RowDraft<'a>, values: &ColumnValues<'a>) {
    let get = |column: SacctColumn| values[column as usize];
    draft.cluster = get(SacctColumn::Cluster);
    draft.user = get(SacctColumn::User);
    draft.account = get(SacctColumn::Account);
    draft.group = if get(SacctColumn::Group).is_empty() { get(SacctColumn::Gid) } else { get(SacctColumn::Group) };
    draft.partition = get(SacctColumn::Partition);
    draft.qos = get(SacctColumn::Qos);
    draft.reservation = get(SacctColumn::Reservation);
    draft.constraints = get(SacctColumn::Constraints);
    draft.nodes = get(SacctColumn::NodeList);
    // A column `nodes` is a list to some and a count to others.
    if draft.nodes.is_empty()
        && (parse_whole(get(SacctColumn::Nodes)).is_none() || !get(SacctColumn::AllocNodes).is_empty())
    {
        draft.nodes = get(SacctColumn::Nodes);
    }
    draft.reason = get(SacctColumn::Reason);
    draft.name = get(SacctColumn::JobName);
}

/// `1:0`, exit code and signal.
fn parse_exit(text: &[u8]) -> Option<(i16, i16)> {
    let at = memchr::memchr(b':', text);
    let number = |text: &[u8]| parse_whole(text).and_then(|n| i16::try_from(n).ok());
    match at {
        Some(at) => Some((number(&text[..at])?, number(&text[at + 1..])?)),
        None => Some((number(text)?, 0)),
    }
}

/// Reads the demand and the allocation; returns whether a flag had leaked into the memory.
fn decode_amounts<'a>(
    draft: &mut RowDraft<'_>,
    values: &ColumnValues<'a>,
    odd: &mut OddValue<'a>,
    caches: &mut Caches,
) -> bool {
    let get = |column: SacctColumn| values[column as usize];
    let mut count = |name, column: SacctColumn| odd.read_value(name, get(column), parse_count).unwrap_or(UNKNOWN);
    let demand = Amount {
        cpus: count("ReqCPUS", SacctColumn::ReqCpus),
        nodes: count("ReqNodes", SacctColumn::ReqNodes),
        gpus: count("ReqGPUS", SacctColumn::ReqGpus),
        ..Amount::UNKNOWN
    };
    let allocation = Amount {
        cpus: count("AllocCPUS", SacctColumn::AllocCpus),
        nodes: match count("NNodes", SacctColumn::AllocNodes) {
            UNKNOWN => parse_count(get(SacctColumn::Nodes)).unwrap_or(UNKNOWN),
            nodes => nodes,
        },
        gpus: count("AllocGPUS", SacctColumn::AllocGpus),
        ..Amount::UNKNOWN
    };
    // Generic resources that were asked for count for each node, those that were given in all.
    let nodes = [demand.nodes, allocation.nodes].into_iter().find(|&nodes| nodes != UNKNOWN && nodes > 0).unwrap_or(1);
    let mut resources = |name, column: SacctColumn, gres: SacctColumn, times: u32| {
        let read_tres = |text: &[u8]| caches.resources.get(column as usize % 2, text, parse_tres);
        let amount = odd.read_value(name, get(column), read_tres).unwrap_or(Amount::UNKNOWN);
        let gpus =
            odd.read_value("Gres", get(gres), |text| Some(count_gpus(text).saturating_mul(times).min(UNKNOWN - 9)));
        Amount { gpus: if amount.gpus == UNKNOWN { gpus.unwrap_or(UNKNOWN) } else { amount.gpus }, ..amount }
    };
    let in_asked = resources("ReqTRES", SacctColumn::ReqTres, SacctColumn::ReqGres, nodes);
    let in_held = resources("AllocTRES", SacctColumn::AllocTres, SacctColumn::AllocGres, 1);
    draft.asked = demand.or_else(in_asked);
    draft.held = allocation.or_else(in_held);
    // Sizes are those of one instance.
    if let Some(instances) = odd.read_value("Instances", get(SacctColumn::Instances), parse_count).filter(|&n| n > 1) {
        for amount in [&mut draft.asked, &mut draft.held] {
            for each in [&mut amount.cpus, &mut amount.gpus].into_iter().filter(|each| **each != UNKNOWN) {
                *each = each.saturating_mul(instances).min(UNKNOWN - 9);
            }
        }
    }
    let request =
        match odd.read_value("ReqMem", get(SacctColumn::ReqMem), |text| caches.memory.get(0, text, memory_request)) {
            Some(request) => request,
            None => match odd.read_value("ReqMemTotal", get(SacctColumn::MemoryMb), parse_megabytes) {
                Some(kb) => MemoryRequest::Total(kb),
                None => MemoryRequest::Unknown,
            },
        };
    if draft.asked.memory_kb == Amount::NO_MEMORY || request == MemoryRequest::All {
        draft.asked.memory_kb = request.total_memory(&draft.asked, &draft.held);
    }
    draft.asks = format_asks(AskColumns {
        tres: get(SacctColumn::ReqTres),
        held: get(SacctColumn::AllocTres),
        gres: get(SacctColumn::ReqGres),
        licences: get(SacctColumn::Licenses),
        memory: request,
        command: get(SacctColumn::SubmitLine),
        name: get(SacctColumn::JobName),
        partition: get(SacctColumn::Partition),
    });
    matches!(request, MemoryRequest::PerCpu(_, true))
}

/// A count, perhaps with a unit of 1,024, as sacct writes large ones without `--noconvert`: `2K`,
/// `1.50K`. Of a range the lower end.
fn parse_count(text: &[u8]) -> Option<u32> {
    let plain = parse_whole(text).or_else(|| {
        let (number, unit) = text.split_at(text.len().checked_sub(1)?);
        let power = b"KMG".iter().position(|letter| *letter == unit[0].to_ascii_uppercase())?;
        let value = parse_decimal(number)? * 1024_f64.powi(power as i32 + 1);
        (value < f64::from(UNKNOWN)).then(|| value.round() as u64)
    });
    let plain = plain.and_then(|n| u32::try_from(n).ok()).filter(|&n| n < UNKNOWN - 8);
    plain.or_else(|| crate::text::split_leading(text).filter(|(_, rest)| rest.starts_with(b"-")).map(|(n, _)| n as u32))
}

/// GPUs in what old versions call generic resources: `gpu:2`, `gpu:k80:4(IDX:0-3)`. Some of them
/// print the number by which they know `gpu` in its place.
fn count_gpus(text: &[u8]) -> u32 {
    let count_entry = |entry: &[u8]| {
        let entry = entry.split(|&b| b == b'(').next().unwrap_or(entry);
        let mut parts = entry.split(|&b| b == b':' || b == b'=');
        let is_gpu = parts.next().is_some_and(|name| name == b"gpu" || name == GPU_NUMBER);
        let count = parts.next_back().and_then(parse_whole).and_then(|n| u32::try_from(n).ok());
        if is_gpu { count.unwrap_or(1).min(1 << 20) } else { 0 }
    };
    text.split(|&b| b == b',').map(count_entry).fold(0, u32::saturating_add)
}
