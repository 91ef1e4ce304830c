//! One job of `sacct --json`.

use super::loose::{Loose, Number};
use crate::error::SiteError;
use crate::rows::{FilePlace, RowDraft, RowIntake, RowUsage};
use crate::rules::ImportRule;
use crate::text::{
    Amount, AskColumns, Flags, IdPart, JobLabel, MemoryRequest, RecordLimit, RecordState, UNKNOWN, When, asks,
    minutes_of, state_word, tasks,
};

/// The parts of a job that are read.
pub(super) fn counts(key: &str) -> bool {
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

/// A job's parts by name.
struct JobParts<'a>(&'a [(String, Loose)]);

impl<'a> JobParts<'a> {
    fn get(&self, key: &str) -> Option<&'a Loose> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// A part of a part.
    fn within(&self, key: &str, inner: &str) -> Option<&'a Loose> {
        self.get(key)?.get(inner)
    }

    fn text(&self, key: &str) -> &'a str {
        self.get(key).and_then(Loose::text).unwrap_or_default()
    }
}

fn number(value: Option<&Loose>) -> Number {
    value.map_or(Number::Missing, Loose::number)
}

fn known(value: Option<&Loose>) -> Option<u64> {
    match number(value) {
        Number::Of(number) => Some(number),
        Number::Missing | Number::Infinite => None,
    }
}

fn small(value: Option<&Loose>) -> Option<u32> {
    known(value).and_then(|n| u32::try_from(n).ok()).filter(|&n| n < UNKNOWN - 8)
}

/// Takes one job.
pub(super) fn job(job: &[(String, Loose)], place: FilePlace, intake: &mut RowIntake) -> Result<(), SiteError> {
    let parts = JobParts(job);
    let Some(raw) = known(parts.get("job_id")).filter(|&id| id > 0) else {
        let rule = if job.is_empty() { ImportRule::Shape } else { ImportRule::JobId };
        intake.bad(rule, place, what(&parts).as_bytes(), 0);
        return Ok(());
    };
    let Some(id) = id(&parts, raw) else {
        intake.bad(ImportRule::JobId, place, what(&parts).as_bytes(), 0);
        return Ok(());
    };
    let record = what(&parts);
    let mut draft = RowDraft::new(place, record.as_bytes());
    (draft.id, draft.raw) = (Some(id), Some(raw));
    times(&mut draft, &parts);
    let canceller = canceller(&parts);
    texts(&mut draft, &parts);
    draft.canceller = canceller.as_bytes();
    states(&mut draft, &parts);
    let nodes = nodes(parts.get("nodes"));
    draft.nodes = nodes.as_bytes();
    amounts(&mut draft, &parts);
    draft.usage = usage(&parts);
    draft.priority = known(parts.get("priority")).and_then(|n| u32::try_from(n).ok());
    let command = parts.text("submit_line");
    draft.command = command.as_bytes();
    draft.exclusive = command.contains("--exclusive");
    let exit = parts.get("exit_code");
    let code = |value: Option<&Loose>| small(value).and_then(|n| i16::try_from(n).ok());
    let signal = exit.and_then(|e| e.get("signal")).and_then(|s| s.get("id").or_else(|| s.get("signal_id")));
    draft.exit = code(exit.and_then(|e| e.get("return_code"))).map(|c| (c, code(signal).unwrap_or(0)));
    if matches!(memory(&parts), MemoryRequest::PerCpu(_, true)) {
        intake.count(ImportRule::MemoryFlag, place, record.as_bytes(), draft.core_seconds());
    }
    intake.push(&draft)
}

/// A few words for examples.
fn what(parts: &JobParts<'_>) -> String {
    let id = known(parts.get("job_id")).map_or("?".to_string(), |id| id.to_string());
    format!("job_id {id} of {} in {}", parts.text("user"), parts.text("partition"))
}

/// The name; `None` where the array's tasks cannot be read.
fn id(parts: &JobParts<'_>, raw: u64) -> Option<JobLabel> {
    let array = known(parts.within("array", "job_id")).filter(|&id| id > 0);
    if let Some(array) = array {
        if let Some(task) = small(parts.within("array", "task_id")) {
            return Some(JobLabel { number: array, part: IdPart::Task(task) });
        }
        let set = parts.within("array", "task").and_then(Loose::text).unwrap_or_default();
        let set = set.trim_start_matches('[').trim_end_matches(']');
        if !set.is_empty() {
            let mut set = tasks(set.as_bytes())?;
            let running = parts.within("array", "limits").and_then(|l| l.get("max")).and_then(|m| m.get("running"));
            set.throttle = set.throttle.or(small(running.and_then(|r| r.get("tasks"))).filter(|&n| n > 0));
            return Some(JobLabel { number: array, part: IdPart::Tasks(set) });
        }
    }
    let het = known(parts.within("het", "job_id")).filter(|&id| id > 0);
    match (het, small(parts.within("het", "job_offset"))) {
        (Some(of), Some(offset)) => Some(JobLabel { number: of, part: IdPart::Component(offset) }),
        _ => Some(JobLabel { number: raw, part: IdPart::Whole }),
    }
}

fn times(draft: &mut RowDraft<'_>, parts: &JobParts<'_>) {
    let time = |key: &str| parts.within("time", key);
    let when = |key: &str| match known(time(key)) {
        Some(0) | None => When::Unknown,
        Some(seconds) => i64::try_from(seconds).map_or(When::Unknown, When::Epoch),
    };
    draft.submit = when("submission");
    draft.eligible = when("eligible");
    draft.start = when("start");
    draft.end = when("end");
    draft.elapsed = small(time("elapsed"));
    draft.suspended = small(time("suspended"));
    draft.limit = match number(time("limit")) {
        Number::Of(0) | Number::Missing => RecordLimit::Unknown,
        Number::Infinite => RecordLimit::Unlimited,
        Number::Of(minutes) => minutes_of(minutes),
    };
}

fn texts<'a>(draft: &mut RowDraft<'a>, parts: &JobParts<'a>) {
    let association = |key: &str| parts.within("association", key).and_then(Loose::text).unwrap_or_default();
    let or = |text: &'a str, other: &'a str| if text.is_empty() { other.as_bytes() } else { text.as_bytes() };
    draft.cluster = or(parts.text("cluster"), association("cluster"));
    draft.user = or(parts.text("user"), association("user"));
    draft.account = or(parts.text("account"), association("account"));
    draft.group = parts.text("group").as_bytes();
    draft.partition = parts.text("partition").as_bytes();
    draft.qos = parts.text("qos").as_bytes();
    draft.constraints = parts.text("constraints").as_bytes();
    draft.reservation = parts.within("reservation", "name").and_then(Loose::text).unwrap_or_default().as_bytes();
    draft.name = parts.text("name").as_bytes();
    draft.reason = parts.within("state", "reason").and_then(Loose::text).unwrap_or_default().as_bytes();
}

fn canceller(parts: &JobParts<'_>) -> String {
    match parts.get("kill_request_user") {
        Some(Loose::Text(name)) => name.clone(),
        other => known(other).map_or(String::new(), |uid| uid.to_string()),
    }
}

/// One state, or a base with flags behind it; the flags of how it started.
fn states<'a>(draft: &mut RowDraft<'a>, parts: &JobParts<'a>) {
    let state = parts.get("state");
    let current = state.and_then(|s| s.get("current")).or(state);
    let words: Vec<&str> = match current {
        Some(Loose::Text(word)) => vec![word],
        Some(list) => list.list().iter().filter_map(Loose::text).collect(),
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
            .list()
            .iter()
            .filter_map(Loose::text)
            .fold(Flags::default(), |flags, word| flags.and(Flags::of_word(word.as_bytes()))),
        None => Flags::default(),
    };
}

/// The list of nodes, as a text or as a list.
fn nodes(value: Option<&Loose>) -> String {
    match value {
        Some(Loose::Text(text)) => text.clone(),
        Some(map @ Loose::Map(_)) => match map.get("list") {
            Some(list) if !list.list().is_empty() => nodes(Some(list)),
            _ => map.get("range").or_else(|| map.get("nodes")).and_then(Loose::text).unwrap_or_default().to_string(),
        },
        Some(Loose::List(names)) => names.iter().filter_map(Loose::text).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

fn amounts(draft: &mut RowDraft<'_>, parts: &JobParts<'_>) {
    let listed = |key: &str| parts.within("tres", key).map_or(Amount::UNKNOWN, tres);
    let required = Amount {
        cpus: small(parts.within("required", "CPUs")).filter(|&n| n > 0).unwrap_or(UNKNOWN),
        ..Amount::UNKNOWN
    };
    draft.asked = listed("requested").or(required);
    let named = |key: &str| parts.within("tres", key).map_or_else(String::new, beyond);
    draft.asks = asks(AskColumns {
        tres: named("requested").as_bytes(),
        held: named("allocated").as_bytes(),
        gres: b"",
        licences: parts.text("licenses").as_bytes(),
        memory: memory(parts),
        command: parts.text("submit_line").as_bytes(),
        name: parts.text("name").as_bytes(),
        partition: parts.text("partition").as_bytes(),
    });
    let nodes = small(parts.get("allocation_nodes")).unwrap_or(UNKNOWN);
    draft.held = listed("allocated").or(Amount { nodes, ..Amount::UNKNOWN });
    let request = memory(parts);
    if draft.asked.memory_kb == Amount::NO_MEMORY || request == MemoryRequest::All {
        draft.asked.memory_kb = request.total(&draft.asked, &draft.held);
    }
}

/// Use of what it held: the job's processor time, and memory and GPUs of its steps.
fn usage(parts: &JobParts<'_>) -> RowUsage {
    let milliseconds = |time: Option<&Loose>| {
        let total = time?.get("total")?;
        let part = |key: &str| known(total.get(key));
        Some(part("seconds")?.saturating_mul(1_000).saturating_add(part("microseconds").unwrap_or(0) / 1_000))
    };
    let mut usage = RowUsage::of_row(milliseconds(parts.get("time")), None, None);
    for step in parts.get("steps").map(Loose::list).unwrap_or_default() {
        // Slurm calls what tasks took in `requested`, whatever they asked for.
        let totals = step.get("tres").and_then(|tres| tres.get("requested")?.get("total")).map(Loose::list);
        let count = |kind: &str, name: &str| {
            let is_it = |entry: &&Loose| {
                let text = |key: &str| entry.get(key).and_then(Loose::text).unwrap_or_default();
                text("type") == kind && (name.is_empty() || text("name") == name)
            };
            known(totals?.iter().find(is_it)?.get("count"))
        };
        let gpus = count("gres", "gpuutil").and_then(|share| u32::try_from(share).ok());
        let memory = count("mem", "").map(|bytes| bytes / 1_024);
        usage.add_step(RowUsage::of_row(milliseconds(step.get("time")), memory, gpus));
    }
    usage
}

/// The generic resources and licences of a list, as `ReqTRES` has them.
fn beyond(list: &Loose) -> String {
    let entry = |entry: &Loose| {
        let text = |key: &str| entry.get(key).and_then(Loose::text).unwrap_or_default();
        let count = small(entry.get("count"))?;
        ["gres", "license"].contains(&text("type")).then(|| format!("{}/{}={count}", text("type"), text("name")))
    };
    list.list().iter().filter_map(entry).collect::<Vec<_>>().join(",")
}

/// Returns the memory in `required`, in megabytes.
fn memory(parts: &JobParts<'_>) -> MemoryRequest {
    const PER_CPU: u64 = 1 << 63;
    let required = |key: &str| known(parts.within("required", key)).filter(|&n| n > 0);
    let kb = |megabytes: u64| megabytes.saturating_mul(1024);
    if let Some(megabytes) = required("memory_per_cpu") {
        return MemoryRequest::PerCpu(kb(megabytes & (PER_CPU - 1)), false);
    }
    match required("memory_per_node").or(required("memory")) {
        Some(flagged) if flagged & PER_CPU != 0 => MemoryRequest::PerCpu(kb(flagged & (PER_CPU - 1)), true),
        Some(megabytes) => MemoryRequest::PerNode(kb(megabytes)),
        None => MemoryRequest::Unknown,
    }
}

/// `[{"type": "cpu", "name": null, "count": 4}, …]`, memory in megabytes.
fn tres(list: &Loose) -> Amount {
    let mut amount = Amount::UNKNOWN;
    let (mut gpus, mut typed) = (None, None);
    for entry in list.list() {
        let text = |key: &str| entry.get(key).and_then(Loose::text).unwrap_or_default();
        let count = small(entry.get("count"));
        match (text("type"), text("name")) {
            ("cpu", _) => amount.cpus = count.unwrap_or(amount.cpus),
            ("node", _) => amount.nodes = count.unwrap_or(amount.nodes),
            ("mem", _) => {
                let megabytes = known(entry.get("count"));
                amount.memory_kb = megabytes.map_or(amount.memory_kb, |mb| mb.saturating_mul(1024));
            }
            ("gres", "gpu") => gpus = count.or(gpus),
            ("gres", name) if name.starts_with("gpu:") => typed = Some(typed.unwrap_or(0) + count.unwrap_or(0)),
            _ => {}
        }
    }
    let some = !list.list().is_empty();
    amount.gpus = gpus.or(typed).unwrap_or(if some { 0 } else { UNKNOWN });
    amount
}
