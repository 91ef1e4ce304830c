//! One job of `sacct --json`.

use super::loose::{Loose, Number};
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft, RowIntake, RowUsage};
use crate::rules::ImportRule;
use crate::text::{
    Amount, AskColumns, Flags, IdPart, JobLabel, MemoryRequest, RecordLimit, RecordState, UNKNOWN, When, format_asks,
    minutes_of, parse_tasks, state_word,
};

pub(super) fn is_read(key: &str) -> bool {
    [
        "account",
        "allocation_nodes",
        "array",
        "association",
        "cluster",
        "constraints",
        "licenses",
        "exit_code",
        "flags",
        "group",
        "het",
        "job_id",
        "kill_request_user",
        "name",
        "nodes",
        "partition",
        "priority",
        "qos",
        "required",
        "reservation",
        "state",
        "steps",
        "submit_line",
        "time",
        "tres",
        "user",
    ]
    .contains(&key)
}

struct JobParts<'a>(&'a [(String, Loose)]);

impl<'a> JobParts<'a> {
    fn get(&self, key: &str) -> Option<&'a Loose> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    fn inner_part(&self, key: &str, inner: &str) -> Option<&'a Loose> {
        self.get(key)?.get(inner)
    }

    fn text_of(&self, key: &str) -> &'a str {
        self.get(key).and_then(Loose::as_text).unwrap_or_default()
    }
}

fn number_of(value: Option<&Loose>) -> Number {
    value.map_or(Number::Missing, Loose::as_number)
}

fn known_number(value: Option<&Loose>) -> Option<u64> {
    match number_of(value) {
        Number::Of(number) => Some(number),
        Number::Missing | Number::Infinite => None,
    }
}

fn small_number(value: Option<&Loose>) -> Option<u32> {
    known_number(value).and_then(|n| u32::try_from(n).ok()).filter(|&n| n < UNKNOWN - 8)
}

pub(super) fn take_job(job: &[(String, Loose)], place: FilePlace, intake: &mut RowIntake) -> Result<(), SiteError> {
    let parts = JobParts(job);
    let Some(raw) = known_number(parts.get("job_id")).filter(|&id| id > 0) else {
        let rule = if job.is_empty() { ImportRule::Shape } else { ImportRule::JobId };
        intake.count_bad(rule, place, describe_job(&parts).as_bytes(), 0);
        return Ok(());
    };
    let Some(id) = id(&parts, raw) else {
        intake.count_bad(ImportRule::JobId, place, describe_job(&parts).as_bytes(), 0);
        return Ok(());
    };
    let record = describe_job(&parts);
    let mut draft = RowDraft::new(place, record.as_bytes());
    (draft.id, draft.raw) = (Some(id), Some(raw));
    set_times(&mut draft, &parts);
    let canceller = canceller_name(&parts);
    set_texts(&mut draft, &parts);
    draft.canceller = canceller.as_bytes();
    set_states(&mut draft, &parts);
    let nodes = list_nodes(parts.get("nodes"));
    draft.nodes = nodes.as_bytes();
    set_amounts(&mut draft, &parts);
    draft.usage = resource_usage(&parts);
    draft.priority = known_number(parts.get("priority")).and_then(|n| u32::try_from(n).ok());
    let command = parts.text_of("submit_line");
    draft.command = command.as_bytes();
    draft.exclusive = command.contains("--exclusive");
    let exit = parts.get("exit_code");
    let code = |value: Option<&Loose>| small_number(value).and_then(|n| i16::try_from(n).ok());
    let signal = exit.and_then(|e| e.get("signal")).and_then(|s| s.get("id").or_else(|| s.get("signal_id")));
    draft.exit = code(exit.and_then(|e| e.get("return_code"))).map(|c| (c, code(signal).unwrap_or(0)));
    if matches!(required_memory(&parts), MemoryRequest::PerCpu(_, true)) {
        intake.count_rule(ImportRule::MemoryFlag, place, record.as_bytes(), draft.core_seconds());
    }
    intake.push(&draft)
}

/// A few words for examples.
fn describe_job(parts: &JobParts<'_>) -> String {
    let id = known_number(parts.get("job_id")).map_or("?".to_string(), |id| id.to_string());
    format!("job_id {id} of {} in {}", parts.text_of("user"), parts.text_of("partition"))
}

/// The name; `None` where the array's tasks cannot be read.
fn id(parts: &JobParts<'_>, raw: u64) -> Option<JobLabel> {
    let array = known_number(parts.inner_part("array", "job_id")).filter(|&id| id > 0);
    if let Some(array) = array {
        if let Some(task) = small_number(parts.inner_part("array", "task_id")) {
            return Some(JobLabel { number: array, part: IdPart::Task(task) });
        }
        let set = parts.inner_part("array", "task").and_then(Loose::as_text).unwrap_or_default();
        let set = set.trim_start_matches('[').trim_end_matches(']');
        if !set.is_empty() {
            let mut set = parse_tasks(set.as_bytes())?;
            let running_limit =
                parts.inner_part("array", "limits").and_then(|l| l.get("max")).and_then(|m| m.get("running"));
            set.throttle = set.throttle.or(small_number(running_limit.and_then(|r| r.get("tasks"))).filter(|&n| n > 0));
            return Some(JobLabel { number: array, part: IdPart::Tasks(set) });
        }
    }
    let het = known_number(parts.inner_part("het", "job_id")).filter(|&id| id > 0);
    match (het, small_number(parts.inner_part("het", "job_offset"))) {
        (Some(of), Some(offset)) => Some(JobLabel { number: of, part: IdPart::Component(offset) }),
        _ => Some(JobLabel { number: raw, part: IdPart::Whole }),
    }
}

fn set_times(draft: &mut RowDraft<'_>, parts: &JobParts<'_>) {
    let time = |key: &str| parts.inner_part("time", key);
    let moment_of = |key: &str| match known_number(time(key)) {
        Some(0) | None => When::Unknown,
        Some(seconds) => i64::try_from(seconds).map_or(When::Unknown, When::Epoch),
    };
    draft.submit = moment_of("submission");
    draft.eligible = moment_of("eligible");
    draft.start = moment_of("start");
    draft.end = moment_of("end");
    draft.elapsed = small_number(time("elapsed"));
    draft.suspended = small_number(time("suspended"));
    draft.limit = match number_of(time("limit")) {
        Number::Of(0) | Number::Missing => RecordLimit::Unknown,
        Number::Infinite => RecordLimit::Unlimited,
        Number::Of(minutes) => minutes_of(minutes),
    };
}

fn set_texts<'a>(draft: &mut RowDraft<'a>, parts: &JobParts<'a>) {
    let association = |key: &str| parts.inner_part("association", key).and_then(Loose::as_text).unwrap_or_default();
    let or = |text: &'a str, fallback: &'a str| if text.is_empty() { fallback.as_bytes() } else { text.as_bytes() };
    draft.cluster = or(parts.text_of("cluster"), association("cluster"));
    draft.user = or(parts.text_of("user"), association("user"));
    draft.account = or(parts.text_of("account"), association("account"));
    draft.group = parts.text_of("group").as_bytes();
    draft.partition = parts.text_of("partition").as_bytes();
    draft.qos = parts.text_of("qos").as_bytes();
    draft.constraints = parts.text_of("constraints").as_bytes();
    draft.reservation = parts.inner_part("reservation", "name").and_then(Loose::as_text).unwrap_or_default().as_bytes();
    draft.name = parts.text_of("name").as_bytes();
    draft.reason = parts.inner_part("state", "reason").and_then(Loose::as_text).unwrap_or_default().as_bytes();
}

fn canceller_name(parts: &JobParts<'_>) -> String {
    match parts.get("kill_request_user") {
        Some(Loose::Text(name)) => name.clone(),
        other => known_number(other).map_or(String::new(), |uid| uid.to_string()),
    }
}

/// One state, or a base with flags behind it; the flags of how it started.
fn set_states<'a>(draft: &mut RowDraft<'a>, parts: &JobParts<'a>) {
    let state = parts.get("state");
    let current = state.and_then(|s| s.get("current")).or(state);
    let words: Vec<&str> = match current {
        Some(Loose::Text(word)) => vec![word],
        Some(list) => list.as_list().iter().filter_map(Loose::as_text).collect(),
        None => Vec::new(),
    };
    let states: Vec<RecordState> = words.iter().map(|w| state_word(w.as_bytes())).collect();
    draft.state = states.iter().copied().find(|&s| s != RecordState::Other).unwrap_or_default();
    // Flags behind the base: what ended for good as far as the base says, and will be run again.
    let goes_on = matches!(
        draft.state,
        RecordState::Pending
            | RecordState::Running
            | RecordState::NodeFail
            | RecordState::BootFail
            | RecordState::Preempted
            | RecordState::Suspended
    );
    if states.contains(&RecordState::Revoked) {
        draft.state = RecordState::Revoked;
    } else if states.contains(&RecordState::Requeued) && !goes_on {
        draft.state = RecordState::Requeued;
    }
    if draft.state == RecordState::Other {
        draft.word = words.first().unwrap_or(&"").as_bytes();
    }
    draft.flags = match parts.get("flags") {
        Some(Loose::Text(flags)) => Flags::of_list(flags.as_bytes()),
        Some(list) => list
            .as_list()
            .iter()
            .filter_map(Loose::as_text)
            .fold(Flags::default(), |flags, word| flags.union_with(Flags::of_word(word.as_bytes()))),
        None => Flags::default(),
    };
}

/// The list of nodes, as a text or as a list.
fn list_nodes(value: Option<&Loose>) -> String {
    match value {
        Some(Loose::Text(text)) => text.clone(),
        Some(map @ Loose::Map(_)) => match map.get("list") {
            Some(list) if !list.as_list().is_empty() => list_nodes(Some(list)),
            _ => map.get("range").or_else(|| map.get("nodes")).and_then(Loose::as_text).unwrap_or_default().to_string(),
        },
        Some(Loose::List(names)) => names.iter().filter_map(Loose::as_text).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

fn set_amounts(draft: &mut RowDraft<'_>, parts: &JobParts<'_>) {
    let listed_amount = |key: &str| parts.inner_part("tres", key).map_or(Amount::UNKNOWN, parse_tres);
    let required_amount = Amount {
        cpus: small_number(parts.inner_part("required", "CPUs")).filter(|&n| n > 0).unwrap_or(UNKNOWN),
        ..Amount::UNKNOWN
    };
    draft.asked = listed_amount("requested").or_else(required_amount);
    let named_resources = |key: &str| parts.inner_part("tres", key).map_or_else(String::new, list_beyond);
    draft.asks = format_asks(AskColumns {
        tres: named_resources("requested").as_bytes(),
        held: named_resources("allocated").as_bytes(),
        gres: b"",
        licences: parts.text_of("licenses").as_bytes(),
        memory: required_memory(parts),
        command: parts.text_of("submit_line").as_bytes(),
        name: parts.text_of("name").as_bytes(),
        partition: parts.text_of("partition").as_bytes(),
    });
    let nodes = small_number(parts.get("allocation_nodes")).unwrap_or(UNKNOWN);
    draft.held = listed_amount("allocated").or_else(Amount { nodes, ..Amount::UNKNOWN });
    let request = required_memory(parts);
    if draft.asked.memory_kb == Amount::NO_MEMORY || request == MemoryRequest::All {
        draft.asked.memory_kb = request.total_memory(&draft.asked, &draft.held);
    }
}

/// Use of what it held: the job's processor time, and memory and GPUs of its steps.
fn resource_usage(parts: &JobParts<'_>) -> RowUsage {
    let milliseconds = |time: Option<&Loose>| {
        let total = time?.get("total")?;
        let part = |key: &str| known_number(total.get(key));
        Some(part("seconds")?.saturating_mul(1_000).saturating_add(part("microseconds").unwrap_or(0) / 1_000))
    };
    let mut usage = RowUsage::of_row(milliseconds(parts.get("time")), None, None);
    for step in parts.get("steps").map(Loose::as_list).unwrap_or_default() {
        // Slurm calls what tasks took in `requested`, whatever they asked for.
        let totals = step.get("tres").and_then(|tres| tres.get("requested")?.get("total")).map(Loose::as_list);
        let count = |kind: &str, name: &str| {
            let is_it = |entry: &&Loose| {
                let text = |key: &str| entry.get(key).and_then(Loose::as_text).unwrap_or_default();
                text("type") == kind && (name.is_empty() || text("name") == name)
            };
            known_number(totals?.iter().find(is_it)?.get("count"))
        };
        let gpus = count("gres", "gpuutil").and_then(|share| u32::try_from(share).ok());
        let memory = count("mem", "").map(|bytes| bytes / 1_024);
        usage.add_step(RowUsage::of_row(milliseconds(step.get("time")), memory, gpus));
    }
    usage
}

/// The generic resources and licences of a list, as `ReqTRES` has them.
fn list_beyond(list: &Loose) -> String {
    let entry = |entry: &Loose| {
        let text = |key: &str| entry.get(key).and_then(Loose::as_text).unwrap_or_default();
        let count = small_number(entry.get("count"))?;
        ["gres", "license"].contains(&text("type")).then(|| format!("{}/{}={count}", text("type"), text("name")))
    };
    list.as_list().iter().filter_map(entry).collect::<Vec<_>>().join(",")
}

/// Returns the memory in `required`, in megabytes.
fn required_memory(parts: &JobParts<'_>) -> MemoryRequest {
    const PER_CPU: u64 = 1 << 63;
    let required_count = |key: &str| known_number(parts.inner_part("required", key)).filter(|&n| n > 0);
    let kb = |megabytes: u64| megabytes.saturating_mul(1024);
    if let Some(megabytes) = required_count("memory_per_cpu") {
        return MemoryRequest::PerCpu(kb(megabytes & (PER_CPU - 1)), false);
    }
    match required_count("memory_per_node").or(required_count("memory")) {
        Some(bits) if bits & PER_CPU != 0 => MemoryRequest::PerCpu(kb(bits & (PER_CPU - 1)), true),
        Some(megabytes) => MemoryRequest::PerNode(kb(megabytes)),
        None => MemoryRequest::Unknown,
    }
}

/// `[{"type": "cpu", "name": null, "count": 4}, …]`, memory in megabytes.
fn parse_tres(list: &Loose) -> Amount {
    let mut amount = Amount::UNKNOWN;
    let (mut gpus, mut typed_gpus) = (None, None);
    for entry in list.as_list() {
        let text = |key: &str| entry.get(key).and_then(Loose::as_text).unwrap_or_default();
        let count = small_number(entry.get("count"));
        match (text("type"), text("name")) {
            ("cpu", _) => amount.cpus = count.unwrap_or(amount.cpus),
            ("node", _) => amount.nodes = count.unwrap_or(amount.nodes),
            ("mem", _) => {
                let megabytes = known_number(entry.get("count"));
                amount.memory_kb = megabytes.map_or(amount.memory_kb, |mb| mb.saturating_mul(1024));
            }
            ("gres", "gpu") => gpus = count.or(gpus),
            ("gres", name) if name.starts_with("gpu:") => {
                typed_gpus = Some(typed_gpus.unwrap_or(0) + count.unwrap_or(0))
            }
            _ => {}
        }
    }
    let some = !list.as_list().is_empty();
    amount.gpus = gpus.or(typed_gpus).unwrap_or(if some { 0 } else { UNKNOWN });
    amount
}
