//! Slurm's notation of numbers, times and sets.

use crate::cluster::{DependencyCondition, JobDependencies, StartCondition};

/// Lengths of time: `5:00`, `1:00:00`, `1-00:00:00`; `None` for those that are none (`UNLIMITED`,
/// `INVALID`, `N/A`).
pub(super) fn parse_span(text: &str) -> Option<i64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<i64>().ok()?, rest),
        None => (0, text),
    };
    let (mut seconds, mut parts) = (0_i64, 0);
    for part in rest.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
        parts += 1;
    }
    // Minutes and seconds, or hours as well.
    if matches!(parts, 2 | 3) { days.checked_mul(86_400)?.checked_add(seconds) } else { None }
}

/// Points of time, as seconds since 1970; `None` for `N/A`, `NONE`, `Unknown`.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Returns whether a field is empty in Slurm's notation.
pub(super) fn is_nothing(text: &str) -> bool {
    matches!(text, "" | "(null)" | "N/A" | "none" | "NONE")
}

/// Licences of a job, `matlab:2,cad`; none where any of several would do.
pub(super) fn parse_licences(text: &str) -> Vec<(String, u32)> {
    if is_nothing(text) || text.contains('|') { Vec::new() } else { drystone_slurm::model::parse_licences(text) }
}

/// Returns whether a list of trackable resources names a device: `gres:gpu:1`, `gres/gpu=2`. Since
/// 23.11 processors for each task stand there as well: `cpu:4`.
pub(super) fn names_devices(text: &str) -> bool {
    !is_nothing(text)
        && text.split(',').any(|item| {
            let name = item.split([':', '=']).next().unwrap_or(item);
            !matches!(name, "cpu" | "mem" | "node" | "billing" | "energy" | "pages" | "vmem" | "")
        })
}

/// Devices of a list, in all and by type: `gres:gpu:a100:2`, `gres/gpu=2`,
/// `gpu:a100:4(S:0-1),gpu:2`. Sorted by name; entries without a device are left out.
pub(super) fn parse_devices(text: &str) -> Vec<(String, u32)> {
    let mut sums: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    let mut depth = 0_u32;
    // Places such as `(IDX:0-1,3)` have commas of their own.
    let plain: String = text
        .chars()
        .filter(|&c| {
            depth += u32::from(c == '(');
            let keep = depth == 0;
            depth = depth.saturating_sub(u32::from(c == ')'));
            keep
        })
        .collect();
    for item in plain.split(',').filter(|item| names_devices(item)) {
        let item = item.strip_prefix("gres:").or_else(|| item.strip_prefix("gres/")).unwrap_or(item);
        let parts: Vec<&str> = item.split([':', '=']).collect();
        let (name, kind, count) = match parts[..] {
            [name] => (name, None, 1),
            [name, last] => match last.parse() {
                Ok(count) => (name, None, count),
                Err(_) => (name, Some(last), 1),
            },
            [name, kind, count, ..] => (name, Some(kind), count.parse().unwrap_or(1)),
            [] => continue,
        };
        for name in std::iter::once(name.to_string()).chain(kind.map(|kind| format!("{name}:{kind}"))) {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(count);
        }
    }
    sums.into_iter().filter(|&(_, count)| count > 0).collect()
}

/// Memory in MB of a list of trackable resources: `cpu=1,mem=60G,node=1,billing=1`.
pub(super) fn parse_memory(text: &str) -> Option<u64> {
    let amount = text.split(',').find_map(|item| item.strip_prefix("mem="))?;
    let digits = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: f64 = digits.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)?;
    let factor = match &amount[digits.len()..] {
        "K" => 1.0 / 1_024.0,
        "" | "M" => 1.0,
        "G" => 1_024.0,
        "T" => 1_048_576.0,
        _ => return None,
    };
    Some((number * factor).ceil() as u64)
}

/// Ranges from, to, and how many at a time.
type TaskRanges = (Vec<(u32, u32)>, Option<u32>);

/// Tasks of an array, `1-4,7,9-15:2%3`: ranges from, to, and the throttle.
pub(super) fn parse_tasks(text: &str) -> Option<TaskRanges> {
    let (set, throttle) = match text.split_once('%') {
        Some((set, throttle)) => (set, Some(throttle.parse().ok()?)),
        None => (text, None),
    };
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for part in set.split(',') {
        let (range, step) = match part.split_once(':') {
            Some((range, step)) => (range, step.parse::<u32>().ok().filter(|&step| step > 0)?),
            None => (part, 1),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
            None => (range.parse().ok()?, range.parse().ok()?),
        };
        if step == 1 {
            ranges.push((from, to));
        } else {
            ranges.extend((from..=to).step_by(step as usize).map(|task| (task, task)));
        }
    }
    (ranges.iter().all(|(from, to)| from <= to)).then_some((ranges, throttle))
}

/// Dependencies: `afterok:1(unfulfilled),afterany:5_*(unfulfilled)`. What is not fulfilled is
/// listed; of conditions separated by `?` any one is enough. What is not known is left to Slurm.
pub(super) fn parse_dependencies(text: &str) -> JobDependencies {
    if is_nothing(text) {
        return JobDependencies::No;
    }
    let is_any = text.contains('?');
    let conditions: Option<Vec<StartCondition>> =
        text.split(if is_any { '?' } else { ',' }).map(parse_condition).collect();
    match conditions {
        Some(list) if is_any => JobDependencies::Any(list),
        Some(list) => JobDependencies::On(list),
        None => JobDependencies::Else,
    }
}

/// One of them: `afterok:1`, `after:5_3+10`, `singleton`, with its state behind it.
fn parse_condition(clause: &str) -> Option<StartCondition> {
    let (clause, state) = match clause.split_once('(') {
        Some((clause, state)) => (clause, state.strip_suffix(')')?),
        None => (clause, "unfulfilled"),
    };
    let never = match state {
        "unfulfilled" => false,
        "failed" => true,
        _ => return None,
    };
    if clause == "singleton" {
        return (!never).then_some(StartCondition::new(0, None, DependencyCondition::Alone));
    }
    let (kind, job) = clause.split_once(':')?;
    let after = match kind {
        _ if never => DependencyCondition::Never,
        "after" => DependencyCondition::Start,
        "afterany" => DependencyCondition::End,
        "afterok" => DependencyCondition::Success,
        "afternotok" => DependencyCondition::Failure,
        "aftercorr" => DependencyCondition::SameTask,
        _ => return None,
    };
    // `after:1+5` is five minutes after the start.
    let (job, minutes) = match job.split_once('+') {
        Some((job, minutes)) => (job, minutes.parse::<u32>().ok()?),
        None => (job, 0),
    };
    let (id, task) = match job.split_once('_') {
        Some((id, "*")) => (id, None),
        Some((id, task)) => (id, Some(task.parse().ok()?)),
        None => (job, None),
    };
    Some(StartCondition { id: id.parse().ok()?, task, after, delay: i64::from(minutes) * 60 })
}

/// Names of jobs, tasks that follow each other put together: `21_[3-5],22`.
pub(super) fn join_names(keys: &[crate::cluster::JobKey]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut at = 0;
    while at < keys.len() {
        let key = keys[at];
        let mut end = at;
        while let (Some(next), Some(task), Some(first)) = (keys.get(end + 1), keys[end].task, key.task) {
            if next.id != key.id || next.task != Some(task + 1) || first > task {
                break;
            }
            end += 1;
        }
        parts.push(match (key.task, keys[end].task) {
            (Some(from), Some(to)) if end > at => format!("{}_[{from}-{to}]", key.id),
            _ => key.name(),
        });
        at = end + 1;
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::JobKey;

    #[test]
    fn lengths_of_time() {
        for (text, seconds) in [
            ("0:07", Some(7)),
            ("5:00", Some(300)),
            ("1:00:00", Some(3_600)),
            ("2-03:04:05", Some(2 * 86_400 + 3 * 3_600 + 4 * 60 + 5)),
            ("UNLIMITED", None),
            ("INVALID", None),
            ("", None),
            ("5", None),
        ] {
            assert_eq!(parse_span(text), seconds, "{text}");
        }
    }

    #[test]
    fn devices_and_memory_of_resource_lists() {
        for text in ["gres:gpu:1", "gres/gpu=2", "cpu=4,gres/gpu:a100=1", "cpu:4,gres/gpu:1", "license/matlab=1"] {
            assert!(names_devices(text), "{text}");
        }
        // As 23.11 and later write `-c 4`.
        for text in ["", "N/A", "cpu:4", "cpu=4", "cpu=4,mem=1G"] {
            assert!(!names_devices(text), "{text}");
        }
        for (text, mb) in [
            ("cpu=1,mem=60G,node=1,billing=1", Some(61_440)),
            ("cpu=1,mem=500M", Some(500)),
            ("mem=1.50G,cpu=1", Some(1_536)),
            ("cpu=1,node=1", None),
            ("mem=x", None),
            ("N/A", None),
        ] {
            assert_eq!(parse_memory(text), mb, "{text}");
        }
    }

    #[test]
    fn numbers_of_devices() {
        let counts = |text: &str| -> Vec<String> {
            parse_devices(text).iter().map(|(name, count)| format!("{name}={count}")).collect()
        };
        assert_eq!(counts("gres:gpu:2"), ["gpu=2"]);
        assert_eq!(counts("gres:gpu:a100:2"), ["gpu=2", "gpu:a100=2"]);
        assert_eq!(counts("gres/gpu=3,cpu=4,mem=5G"), ["gpu=3"]);
        assert_eq!(counts("gpu:a100:4(S:0-1),gpu:v100:2(S:0,2)"), ["gpu=6", "gpu:a100=4", "gpu:v100=2"]);
        assert_eq!(counts("gpu:a100:1(IDX:0,3),fs:1"), ["fs=1", "gpu=1", "gpu:a100=1"]);
        assert_eq!(counts("gres:gpu"), ["gpu=1"]);
        assert_eq!(counts("gpu:0"), [] as [&str; 0]);
        assert_eq!(counts("(null)"), [] as [&str; 0]);
    }

    #[test]
    fn licences_of_a_job_are_all_or_none() {
        let licence = |name: &str, count| (name.to_string(), count);
        assert_eq!(parse_licences("matlab:2,cad@flex"), [licence("matlab", 2), licence("cad@flex", 1)]);
        assert_eq!(parse_licences("(null)"), []);
        assert_eq!(parse_licences("matlab:2|cad:1"), []);
    }

    #[test]
    fn tasks_of_arrays() {
        assert_eq!(parse_tasks("3"), Some((vec![(3, 3)], None)));
        assert_eq!(parse_tasks("1-4%2"), Some((vec![(1, 4)], Some(2))));
        assert_eq!(parse_tasks("2,4,8-9%1"), Some((vec![(2, 2), (4, 4), (8, 9)], Some(1))));
        assert_eq!(parse_tasks("1-7:3"), Some((vec![(1, 1), (4, 4), (7, 7)], None)));
        for bad in ["", "a", "4-1", "1-4:0", "1%x", "1,,2"] {
            assert_eq!(parse_tasks(bad), None, "{bad}");
        }
    }

    #[test]
    fn dependencies() {
        assert_eq!(parse_dependencies("(null)"), JobDependencies::No);
        let condition = StartCondition::new;
        let conditions = vec![
            condition(1, None, DependencyCondition::Success),
            condition(5, None, DependencyCondition::End),
            condition(7, Some(3), DependencyCondition::Start),
        ];
        assert_eq!(
            parse_dependencies("afterok:1(unfulfilled),afterany:5_*(unfulfilled),after:7_3(unfulfilled)"),
            JobDependencies::On(conditions)
        );
        let any =
            vec![condition(1, None, DependencyCondition::Success), condition(2, None, DependencyCondition::Never)];
        assert_eq!(parse_dependencies("afterok:1(unfulfilled)?afterok:2(failed)"), JobDependencies::Any(any));
        let later = StartCondition { delay: 300, ..condition(1, None, DependencyCondition::Start) };
        assert_eq!(parse_dependencies("after:1+5(unfulfilled)"), JobDependencies::On(vec![later]));
        assert_eq!(
            parse_dependencies("singleton(unfulfilled)"),
            JobDependencies::On(vec![condition(0, None, DependencyCondition::Alone)])
        );
        assert_eq!(
            parse_dependencies("aftercorr:3_*(unfulfilled)"),
            JobDependencies::On(vec![condition(3, None, DependencyCondition::SameTask)])
        );
        for text in ["expand:1", "afterok:x", "afterburstbuffer:1(unfulfilled)", "afterok:1(strange)", "after:1+x"] {
            assert_eq!(parse_dependencies(text), JobDependencies::Else, "{text}");
        }
    }

    #[test]
    fn names_put_tasks_together() {
        let key = |id, task| JobKey { id, task, submit: 0 };
        let keys = [key(7, None), key(8, Some(1)), key(8, Some(2)), key(8, Some(3)), key(8, Some(5)), key(9, Some(6))];
        assert_eq!(join_names(&keys), "7,8_[1-3],8_5,9_6");
    }
}
