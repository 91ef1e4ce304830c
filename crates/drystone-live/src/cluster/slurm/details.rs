//! Details beyond the ordinary listing, requested once per record: the hook's mark, restarts,
//! requests.

use super::jobs::WHOLE;
use super::run::Runner;
use super::texts;
use crate::cluster::{ClusterError, HookMark, JobFact, NodeShare, RecordId, UnmodelledRequest};
use std::collections::BTreeMap;

/// Beginnings of what the hook writes.
pub(super) const HELD: &str = "drystone:held";
const USER: &str = "drystone:user";
/// Between fields.
const SEPARATOR: char = '\x1f';
/// Width of the list of nodes that a user named: one that fills it may be cut.
const NAMED: u32 = 250;
/// Fields requested, by place, with their widths.
const FIELDS: [(&str, u32); 14] = [
    ("ArrayJobID", 20),
    ("ArrayTaskID", 20),
    ("SubmitTime", 30),
    ("admin_comment", 24),
    ("RestartCnt", 10),
    ("ReqNodes", NAMED),
    ("cpus-per-task", 10),
    ("MinCpus", 10),
    ("tres-per-job", 64),
    ("tres-per-task", 64),
    ("tres-per-socket", 64),
    ("tres-alloc", 96),
    ("tres-per-node", 64),
    ("NumTasks", 12),
];

/// Facts that do not change while a record keeps its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct RecordDetails {
    mark: HookMark,
    restarts: u32,
    pinned: bool,
    /// Nodes that it is bound to.
    named: String,
    together: u32,
    devices: bool,
    memory: Option<u64>,
    /// Devices, by name: of the job, of each node.
    job_devices: Vec<(String, u32)>,
    node_devices: Vec<(String, u32)>,
}

impl RecordDetails {
    /// Returns whether its comment is the hook's.
    pub(super) fn is_marked(&self) -> bool {
        self.mark != HookMark::None
    }

    pub(super) fn add_to(&self, fact: &mut JobFact) {
        (fact.mark, fact.restarts) = (self.mark, self.restarts);
        fact.pinned |= self.pinned;
        fact.request.named.clone_from(&self.named);
        fact.together = if fact.together == WHOLE { fact.procs.div_ceil(fact.nodes.max(1)) } else { self.together };
        fact.memory = self.memory;
        if self.devices {
            fact.asks.insert(UnmodelledRequest::Devices);
        }
        let device_counts =
            self.node_devices.iter().map(|(name, count)| (name.clone(), count.saturating_mul(fact.nodes.max(1))));
        fact.devices = self.job_devices.iter().cloned().chain(device_counts).collect();
    }
}

/// Returns the details of a record: its own, those of the folded record that it was part of, or
/// those of a task. The cluster splits an array at any time, also between the ordinary listing and
/// this one: without its mark the array would look as if its owner held it. The next look reads
/// the details of such a record again.
pub(super) fn of_record(records: &BTreeMap<RecordId, RecordDetails>, own: RecordId) -> Option<&RecordDetails> {
    let folded_id = RecordId { task: None, ..own };
    let tasks = || {
        let whole = RecordId { task: Some(0), ..own }..=RecordId { task: Some(u32::MAX), ..own };
        records.range(whole).filter(|(record, _)| record.submit == own.submit).map(|(_, details)| details)
    };
    records
        .get(&own)
        .or_else(|| records.get(&folded_id))
        .or_else(|| tasks().min_by_key(|task| (task.pinned, task.restarts)))
}

/// Details of every record, or of those of one number.
pub(super) fn read_details(run: &Runner, only: Option<u64>) -> Result<Vec<(RecordId, RecordDetails)>, ClusterError> {
    let format: Vec<String> = FIELDS.iter().map(|(name, width)| format!("{name}:{width}{SEPARATOR}")).collect();
    let format = format.join(",");
    let number = only.map(|number| number.to_string());
    let mut args = vec!["-h", "-a", "-t", "all", "-O", &format];
    args.extend(number.iter().flat_map(|number| ["-j", number]));
    match run.read_output("squeue", &args) {
        Ok(text) => text.lines().map(parse_line).collect(),
        // It came and went.
        Err(ClusterError::Silent(problem)) if only.is_some() && problem.contains("Invalid job id") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

pub(super) fn parse_line(line: &str) -> Result<(RecordId, RecordDetails), ClusterError> {
    let garbled_error = || ClusterError::Garbled(format!("squeue -O: `{}`", line.escape_debug()));
    let fields: Vec<&str> = line.split(SEPARATOR).map(str::trim).collect();
    let [
        id,
        tasks,
        submit,
        mark,
        restarts,
        nodes,
        per_task,
        least,
        per_job,
        each_task,
        per_socket,
        tres,
        per_node,
        each,
        "",
    ] = fields[..]
    else {
        return Err(garbled_error());
    };
    // A set of tasks may be cut: it is the folded record then.
    let task = tasks.parse().ok();
    let submit = texts::parse_time(submit).ok_or_else(garbled_error)?;
    let number = |text: &str| text.parse::<u32>().unwrap_or(1).max(1);
    let record = RecordId { id: id.parse().map_err(|_| garbled_error())?, task, submit };
    let mark = match mark {
        _ if mark.starts_with(HELD) => HookMark::Held,
        _ if mark.starts_with(USER) => HookMark::User,
        _ => HookMark::None,
    };
    let details = RecordDetails {
        mark,
        restarts: restarts.parse().map_err(|_| garbled_error())?,
        pinned: !texts::is_nothing(nodes),
        named: if texts::is_nothing(nodes) || nodes.len() >= NAMED as usize {
            String::new()
        } else {
            nodes.to_string()
        },
        together: number(per_task).max(number(least)),
        devices: [per_job, each_task, per_socket].iter().any(|text| texts::names_devices(text)),
        memory: texts::parse_memory(tres),
        job_devices: {
            let tasks = number(each);
            let of_tasks =
                texts::parse_devices(each_task).into_iter().map(|(name, count)| (name, count.saturating_mul(tasks)));
            texts::parse_devices(per_job).into_iter().chain(of_tasks).collect()
        },
        node_devices: texts::parse_devices(per_node),
    };
    Ok((record, details))
}

/// Processors of jobs on each of their nodes, by the job's own number; of all, where none are
/// named.
///
/// This listing holds what users wrote. What comes out of it is checked against the ordinary one
/// ([`are_sound`]).
pub(super) fn query_places(run: &Runner, only: &[u64]) -> Result<BTreeMap<u64, Vec<NodeShare>>, ClusterError> {
    let mut shares = BTreeMap::new();
    if only.is_empty() {
        read_places(&run.read_output("scontrol", &["-o", "-d", "show", "job"])?, &mut shares);
    }
    for number in only {
        match run.read_output("scontrol", &["-o", "-d", "show", "job", &number.to_string()]) {
            Ok(text) => read_places(&text, &mut shares),
            Err(ClusterError::Silent(problem)) if problem.contains("Invalid job id") => {}
            Err(error) => return Err(error),
        }
    }
    Ok(shares)
}

fn read_places(text: &str, shares: &mut BTreeMap<u64, Vec<NodeShare>>) {
    for line in text.lines() {
        let number = line.strip_prefix("JobId=").and_then(|rest| rest.split(' ').next()).and_then(|n| n.parse().ok());
        let Some(number) = number else { continue };
        let mut places = Vec::new();
        let mut nodes: Option<Vec<String>> = None;
        for word in line.split_whitespace() {
            if let Some(list) = word.strip_prefix("Nodes=") {
                nodes = drystone_slurm::conf::expand_hostlist(list).ok();
            } else if let Some(ids) = word.strip_prefix("CPU_IDs=")
                && let Some((ranges, None)) = texts::parse_tasks(ids)
            {
                let procs = ranges.iter().map(|(from, to)| to - from + 1).sum();
                let group_nodes = nodes.take().unwrap_or_default();
                places.extend(group_nodes.into_iter().map(|node| NodeShare { node, procs: Some(procs) }));
            }
        }
        shares.insert(number, places);
    }
}

/// Returns whether places are consistent with a job: its nodes, and its number of processors.
pub(super) fn are_sound(places: &[NodeShare], fact: &JobFact) -> bool {
    let mut nodes: Vec<&str> = places.iter().map(|place| place.node.as_str()).collect();
    let mut own: Vec<&str> = fact.places.iter().map(|place| place.node.as_str()).collect();
    nodes.sort_unstable();
    own.sort_unstable();
    let procs: u64 = places.iter().map(|place| u64::from(place.procs.unwrap_or(0))).sum();
    nodes == own && procs == u64::from(fact.procs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_read() {
        let text = "2    \x1f2,4%2  \x1f1795571603   \x1fdrystone:held     \x1f1 \x1f \x1f2  \x1f1 \x1fN/A \x1fN/A \x1fN/A \x1fcpu=2,mem=3G,node=1 \x1fgres:gpu:2 \x1f2 \x1f";
        let (record, details) = parse_line(text).expect("sound");
        assert_eq!(record, RecordId { id: 2, task: None, submit: 1_795_571_603 });
        assert_eq!((details.mark, details.restarts, details.together, details.pinned), (HookMark::Held, 1, 2, false));
        assert_eq!((details.memory, details.devices), (Some(3_072), false));
        let mut fact = super::super::jobs::sample_fact();
        details.add_to(&mut fact);
        assert_eq!(fact.devices, [("gpu".to_string(), 4)], "two on each of two nodes");
        assert!(parse_line("2\x1f3").is_err());
    }

    /// An array that is split between the two listings keeps its mark: it is listed whole in the
    /// one and by its tasks in the other, or the other way round.
    #[test]
    fn an_array_that_is_split_during_a_look_keeps_its_mark() {
        let row = |tasks: &str, submit: u32, mark: &str, restarts: u32, nodes: &str| {
            let text = [
                "7",
                tasks,
                &submit.to_string(),
                mark,
                &restarts.to_string(),
                nodes,
                "1",
                "1",
                "N/A",
                "N/A",
                "N/A",
                "cpu=1",
                "N/A",
                "1",
                "",
            ];
            parse_line(&text.join("\x1f")).expect("sound")
        };
        let record = |task, submit| RecordId { id: 7, task, submit };
        let mark =
            |records: &BTreeMap<RecordId, RecordDetails>, own| of_record(records, own).map(|details| details.mark);
        let tasks = [("3", 0, "n1"), ("4", 1, ""), ("5", 0, "")]
            .map(|(task, restarts, nodes)| row(task, 1_795_571_603, "drystone:held", restarts, nodes));
        let older = row("6", 1_700_000_000, "", 0, "");
        let split: BTreeMap<RecordId, RecordDetails> = tasks.into_iter().chain([older]).collect();
        assert_eq!(mark(&split, record(None, 1_795_571_603)), Some(HookMark::Held));
        let whole = of_record(&split, record(None, 1_795_571_603)).expect("a task's");
        assert_eq!((whole.pinned, whole.restarts), (false, 0), "a task without nodes of its own");
        assert_eq!(mark(&split, record(Some(5), 1_795_571_603)), Some(HookMark::Held));
        assert_eq!(mark(&split, record(None, 1_700_000_000)), Some(HookMark::None), "another of the same number");
        assert_eq!(mark(&split, record(None, 1_600_000_000)), None);
        assert_eq!(mark(&split, RecordId { id: 8, task: None, submit: 1_795_571_603 }), None);
        let single_record: BTreeMap<_, _> = [row("1-5%2", 1_795_571_603, "drystone:user", 0, "")].into_iter().collect();
        assert_eq!(mark(&single_record, record(Some(2), 1_795_571_603)), Some(HookMark::User));
    }

    /// A job's name that looks like places does not put it elsewhere.
    #[test]
    fn what_users_write_moves_no_job() {
        let text = "JobId=9 JobName=x Nodes=n9 CPU_IDs=0-99 UserId=eve(7) JOB_GRES=(null) Nodes=n[1-2] CPU_IDs=0-2 Mem=0 GRES= Nodes=n3 CPU_IDs=0,2 Mem=0\n";
        let mut shares = BTreeMap::new();
        read_places(text, &mut shares);
        let mut fact = super::super::jobs::parse(&format!(
            "{}\n",
            [
                "9", "9", "N/A", "9", "R", "None", "8", "3", "5:00", "0:07", "1", "2", "3", "9", "n[1-3]", "eve",
                "users", "main", "(null)", "(null)", "(null)", "N/A", "(null)", "(null)", "OK", "phys", ""
            ]
            .join("\x1f")
        ))
        .expect("sound")
        .remove(0);
        assert!(!are_sound(&shares[&9], &fact), "{shares:?}");
        let honest = text.replace("Nodes=n9 CPU_IDs=0-99 ", "");
        read_places(&honest, &mut shares);
        assert!(are_sound(&shares[&9], &fact), "{shares:?}");
        fact.procs = 9;
        assert!(!are_sound(&shares[&9], &fact));
    }
}
