//! `squeue`: every job that Slurm lists.

use super::run::Runner;
use super::texts;
use crate::cluster::{
    ClusterError, Ending, HookMark, JobFact, JobSlot, JobState, NodeRequest, NodeShare, PendingReason,
    UnmodelledRequest,
};
use std::collections::BTreeSet;

/// Between fields: no value has it.
const SEPARATOR: char = '\x1f';
/// Fields requested, by place. Names and comments are left out, because they may contain anything,
/// and groups are numbers: `squeue` looks each name up again, at LDAP or in a file.
const FORMAT: [&str; 27] = [
    "%A", "%F", "%K", "%i", "%t", "%r", "%C", "%D", "%l", "%M", "%V", "%S", "%e", "%Q", "%N", "%u", "%G", "%P", "%q",
    "%E", "%f", "%b", "%W", "%v", "%h", "%a", "%x",
];

/// Reads all of them. `--array-unique`: without it the waiting tasks of an array are one line,
/// whether they are held or released.
pub(super) fn read_jobs(run: &Runner) -> Result<Vec<JobFact>, ClusterError> {
    let format = FORMAT.join(&SEPARATOR.to_string());
    let listing = run.read_output("squeue", &["-h", "-a", "--array-unique", "-t", "all", "-o", &format])?;
    parse(&listing)
}

/// The records of a listing. One line that is not understood makes all of it worthless: a job that
/// is missing would count as gone.
pub(super) fn parse(listing: &str) -> Result<Vec<JobFact>, ClusterError> {
    if !listing.is_empty() && !listing.ends_with('\n') {
        return Err(ClusterError::Garbled("squeue's last line is cut".into()));
    }
    listing.lines().map(parse_line).collect()
}

fn parse_line(line: &str) -> Result<JobFact, ClusterError> {
    let garbled_error =
        |subject: &str| ClusterError::Garbled(format!("squeue: {subject} in `{}`", line.escape_debug()));
    let fields: Vec<&str> = line.split(SEPARATOR).collect();
    let [
        number,
        id,
        tasks,
        name,
        state,
        reason,
        procs,
        nodes,
        limit,
        ran,
        submit,
        start,
        end,
        priority,
        on,
        user,
        group,
        partition,
        class,
        depends,
        features,
        devices,
        licences,
        reservation,
        shares,
        account,
        excluded,
    ] = fields[..]
    else {
        return Err(garbled_error(&format!("{} fields instead of {}", fields.len(), FORMAT.len())));
    };
    let (slot, throttle) = parse_slot(tasks).ok_or_else(|| garbled_error("no set of tasks"))?;
    let (state, leaving, held_state) = self::parse_state(state).ok_or_else(|| garbled_error("an unknown state"))?;
    let reason = match self::parse_reason(reason) {
        PendingReason::RequeuedHeld => PendingReason::RequeuedHeld,
        _ if held_state => PendingReason::LaunchFailed,
        other => other,
    };
    let is_held = priority == "0" || held_state;
    let procs: u32 = parse_count(procs).ok_or_else(|| garbled_error("no number of processors"))?;
    let mut asks = BTreeSet::new();
    let mut note = |text: &str, ask| {
        if !texts::is_nothing(text) {
            asks.insert(ask);
        }
    };
    note(features, UnmodelledRequest::Features);
    note(devices, UnmodelledRequest::Devices);
    note(licences, UnmodelledRequest::Licences);
    note(reservation, UnmodelledRequest::Reservation);
    asks.extend(name.contains('+').then_some(UnmodelledRequest::Heterogeneous));
    asks.extend(partition.contains(',').then_some(UnmodelledRequest::SeveralPartitions));
    let pending = state == JobState::Pending;
    // What Slurm expects of a job that waits for room changes from look to look; a begin time does
    // not.
    let begins = !pending || is_held || reason == PendingReason::Begin;
    let places = drystone_slurm::conf::expand_hostlist(on).map_err(|e| garbled_error(&e))?;
    let alone = places.len() == 1;
    Ok(JobFact {
        id: id.parse().map_err(|_| garbled_error("no number of the array"))?,
        slot,
        number: number.parse().map_err(|_| garbled_error("no number"))?,
        submit: texts::parse_time(submit).ok_or_else(|| garbled_error("no submit time"))?,
        state,
        reason,
        held: is_held && pending,
        procs,
        nodes: parse_count(nodes).unwrap_or(1),
        least_nodes: None,
        together: if shares == "NO" && pending { WHOLE } else { 1 },
        memory: None,
        limit: texts::parse_span(limit),
        ran: if state == JobState::Running { 0 } else { texts::parse_span(ran).unwrap_or(0) },
        start: begins.then(|| texts::parse_time(start)).flatten(),
        end: matches!(state, JobState::Ended(_)).then(|| texts::parse_time(end)).flatten(),
        places: places.into_iter().map(|node| NodeShare { node, procs: alone.then_some(procs) }).collect(),
        leaving,
        depends: texts::parse_dependencies(depends),
        throttle,
        user: user.into(),
        group: group.into(),
        account: text_or_empty(account),
        priority: 0,
        devices: Vec::new(),
        licences: texts::parse_licences(licences),
        partition: partition.into(),
        class: text_or_empty(class),
        asks,
        mark: HookMark::None,
        restarts: 0,
        pinned: false,
        request: NodeRequest {
            named: String::new(),
            excluded: text_or_empty(excluded),
            features: text_or_empty(features),
            exclusive: shares == "NO",
        },
    })
}

/// A text, empty where Slurm says that there is none.
fn text_or_empty(text: &str) -> String {
    if texts::is_nothing(text) { String::new() } else { text.to_string() }
}

/// A job that wants nodes for itself: how large these are is known later.
pub(super) const WHOLE: u32 = u32::MAX;

fn parse_slot(text: &str) -> Option<(JobSlot, Option<u32>)> {
    if text == "N/A" || text.is_empty() {
        return Some((JobSlot::Single, None));
    }
    if let Ok(task) = text.parse() {
        return Some((JobSlot::Task(task), None));
    }
    let (ranges, throttle) = texts::parse_tasks(text)?;
    Some((JobSlot::Folded(ranges), throttle))
}

/// Numbers that may be short: `1.5K`.
fn parse_count(text: &str) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let (number, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1_024.0),
        b'M' => (&text[..text.len() - 1], 1_048_576.0),
        _ => return None,
    };
    number.parse::<f64>().ok().filter(|n| (0.0..4_000.0).contains(n)).map(|n| (n * factor) as u32)
}

/// The state, whether it is only being cleaned up, and whether Slurm itself holds it.
fn parse_state(text: &str) -> Option<(JobState, bool, bool)> {
    let ended_state = |ending| Some((JobState::Ended(ending), false, false));
    match text {
        "PD" | "RQ" | "RD" | "RF" => Some((JobState::Pending, false, false)),
        "RH" | "SE" => Some((JobState::Pending, false, true)),
        "R" | "CF" | "RS" | "SI" | "ST" => Some((JobState::Running, false, false)),
        "CG" | "SO" => Some((JobState::Running, true, false)),
        "S" => Some((JobState::Suspended, false, false)),
        "CD" => ended_state(Ending::Completed),
        "F" => ended_state(Ending::Failed),
        "TO" => ended_state(Ending::AtLimit),
        "OOM" => ended_state(Ending::OutOfMemory),
        "CA" => ended_state(Ending::Cancelled),
        "NF" | "BF" => ended_state(Ending::MachineFailed),
        "DL" | "PR" | "RV" => ended_state(Ending::Removed),
        _ => None,
    }
}

/// Reads a reason. Newer releases write sentences with underscores for blanks.
fn parse_reason(text: &str) -> PendingReason {
    let text = text.replace('_', " ");
    match text.as_str() {
        "None" | "(null)" | "" => PendingReason::None,
        "JobHeldUser" => PendingReason::UserHold,
        "JobHeldAdmin" => PendingReason::AdminHold,
        // It failed to be launched too often.
        "JobHoldMaxRequeue" => PendingReason::LaunchFailed,
        "Dependency" | "DependencyNeverSatisfied" => PendingReason::Dependency,
        "BeginTime" => PendingReason::Begin,
        "JobArrayTaskLimit" => PendingReason::Throttle,
        "Resources" => PendingReason::Room,
        "Priority" => PendingReason::Turn,
        "PartitionDown" | "PartitionInactive" | "PartitionTimeLimit" | "PartitionNodeLimit" | "PartitionConfig"
        | "InvalidAccount" | "InvalidQOS" | "QOSNotAllowed" | "AccountNotAllowed" => PendingReason::PartitionClosed,
        "BadConstraints" | "Constraints" | "ReservationDeleted" | "ReservationInvalid" | "Reservation" | "DeadLine" => {
            PendingReason::Unsatisfiable
        }
        "job requeued in held state" => PendingReason::RequeuedHeld,
        _ if text.ends_with("requeued held") => PendingReason::LaunchFailed,
        "MaxMemPerLimit" | "AccountingPolicy" => PendingReason::Limit,
        _ if text.starts_with("QOS") || text.starts_with("Assoc") || text.ends_with("PerAccount") => {
            PendingReason::Limit
        }
        "NodeDown" => PendingReason::NodesOut,
        _ if text.starts_with("ReqNodeNotAvail") || text.starts_with("Nodes required for job are") => {
            PendingReason::NodesOut
        }
        _ => PendingReason::Other,
    }
}

/// A record for tests: a held job.
#[cfg(test)]
pub(super) fn sample_fact() -> JobFact {
    parse(&tests::sample_record(&tests::HELD)).expect("sound").remove(0)
}

#[cfg(test)]
pub(in crate::cluster::slurm) mod tests {
    use super::*;
    use crate::cluster::{DependencyCondition, JobDependencies, StartCondition};

    pub(in crate::cluster::slurm) fn sample_record(fields: &[&str]) -> String {
        format!("{}\n", fields.join("\x1f"))
    }

    pub(in crate::cluster::slurm) const HELD: [&str; 27] = [
        "7",
        "7",
        "N/A",
        "7",
        "PD",
        "JobHeldUser",
        "4",
        "2",
        "5:00",
        "0:00",
        "1795571646",
        "1795575246",
        "N/A",
        "0",
        "",
        "anna",
        "users",
        "main",
        "normal",
        "afterok:1(unfulfilled)",
        "(null)",
        "N/A",
        "(null)",
        "(null)",
        "OK",
        "phys",
        "",
    ];

    #[test]
    fn a_held_job_shows_its_begin_time_and_what_it_waits_for() {
        let facts = parse(&sample_record(&HELD)).expect("sound");
        let fact = &facts[0];
        assert_eq!((fact.state, fact.reason, fact.held), (JobState::Pending, PendingReason::UserHold, true));
        assert_eq!(fact.depends, JobDependencies::On(vec![StartCondition::new(1, None, DependencyCondition::Success)]));
        assert_eq!((fact.start, fact.limit, fact.procs, fact.end), (Some(1_795_575_246), Some(300), 4, None));
        assert_eq!((fact.class.as_str(), fact.asks.len()), ("normal", 0));
    }

    #[test]
    fn a_job_that_excludes_nodes_is_bound_to_others() {
        assert!(parse(&sample_record(&HELD)).expect("sound")[0].request.excluded.is_empty());
        let mut excludes = HELD;
        excludes[26] = "n[3-4]";
        assert_eq!(parse(&sample_record(&excludes)).expect("sound")[0].request.excluded, excludes[26]);
    }

    #[test]
    fn what_slurm_expects_is_no_fact() {
        let mut waits = HELD;
        (waits[5], waits[13], waits[19]) = ("Resources", "4294901759", "(null)");
        assert_eq!(parse(&sample_record(&waits)).expect("sound")[0].start, None);
        waits[5] = "BeginTime";
        assert_eq!(parse(&sample_record(&waits)).expect("sound")[0].start, Some(1_795_575_246));
    }

    #[test]
    fn what_is_not_modelled_is_named() {
        let mut asks = HELD;
        (asks[3], asks[17], asks[20], asks[21], asks[22]) = ("21+1", "main,long", "big&fast", "gres:gpu:2", "matlab:1");
        let fact = &parse(&sample_record(&asks)).expect("sound")[0];
        let expected_requests = [
            UnmodelledRequest::Licences,
            UnmodelledRequest::Devices,
            UnmodelledRequest::Features,
            UnmodelledRequest::Heterogeneous,
            UnmodelledRequest::SeveralPartitions,
        ];
        assert_eq!(fact.asks, expected_requests.into_iter().collect());
    }

    #[test]
    fn a_running_job_has_places_and_no_changing_times() {
        let mut runs = HELD;
        (runs[4], runs[5], runs[9], runs[13], runs[14]) = ("R", "None", "0:07", "4294901759", "n[1-2]");
        let fact = &parse(&sample_record(&runs)).expect("sound")[0];
        assert_eq!((fact.state, fact.ran, fact.places.len(), fact.places[0].procs), (JobState::Running, 0, 2, None));
        runs[14] = "n7";
        assert_eq!(
            parse(&sample_record(&runs)).expect("sound")[0].places[0],
            NodeShare { node: "n7".into(), procs: Some(4) }
        );
        runs[4] = "CG";
        assert!(parse(&sample_record(&runs)).expect("sound")[0].leaving);
    }

    #[test]
    fn half_a_line_makes_all_worthless() {
        let whole = sample_record(&HELD);
        for end in 1..whole.len() {
            assert!(matches!(parse(&whole[..end]), Err(ClusterError::Garbled(_))), "{end}");
        }
        let mut strange = HELD;
        strange[4] = "XX";
        assert!(parse(&sample_record(&strange)).is_err());
        assert_eq!(parse(""), Ok(Vec::new()));
    }

    #[test]
    fn reasons_are_read_as_release_22_05_prints_them() {
        for (text, expected) in [
            ("launch failed requeued held", PendingReason::LaunchFailed),
            ("ReqNodeNotAvail, UnavailableNodes:n3", PendingReason::NodesOut),
            (
                "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
                PendingReason::NodesOut,
            ),
            ("QOSMaxJobsPerUserLimit", PendingReason::Limit),
            ("AssocGrpCpuLimit", PendingReason::Limit),
            ("Licenses", PendingReason::Other),
        ] {
            assert_eq!(parse_reason(text), expected, "{text}");
        }
    }
}
