//! The lines of `slurm.conf` to change.

use crate::options::{KnobChange, in_slurm};
use drystone_slurm::conf::{Knob, SchedParams, SlurmConf, merge_parameters};
use serde::Serialize;

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConfEdit {
    pub line: String,
    /// Position of the line that it replaces, `FILE:LINE`; `None` for a new line.
    pub replaces: Option<String>,
    /// Present contents of that line: `KEY=VALUE`.
    pub was: Option<String>,
}

/// The lines to change, in the order of the changes; everything about `SchedulerParameters` is one
/// line, which keeps what it has.
pub fn conf_edits(conf: Option<&SlurmConf>, changes: &[&KnobChange]) -> Vec<ConfEdit> {
    let mut words: Vec<(&'static str, &str)> = Vec::new();
    let mut lines: Vec<(&'static str, String)> = Vec::new();
    for (param, value) in changes.iter().flat_map(|change| &change.set) {
        match in_slurm(param) {
            (name, true) => words.push((name, value)),
            ("PriorityType", _) => lines.push(("PriorityType", format!("priority/{value}"))),
            ("PriorityFavorSmall", _) => lines.push(("PriorityFavorSmall", value.to_uppercase())),
            (name, false) => lines.push((name, value.clone())),
        }
    }
    let mut edits = Vec::new();
    if conf.is_some_and(|conf| !conf.backfill) && words.iter().any(|(name, _)| name.starts_with("bf_")) {
        edits.push(conf_edit(conf, "SchedulerType", "sched/backfill"));
    }
    if !words.is_empty() {
        let now = conf.and_then(|conf| conf.setting_value("SchedulerParameters")).unwrap_or_default();
        edits.push(conf_edit(conf, "SchedulerParameters", &merge_parameters(now, &words)));
    }
    edits.extend(lines.iter().map(|(key, value)| conf_edit(conf, key, value)));
    edits
}

/// Sentences on settings that do not go together after some changes and did before: a
/// recommendation that the remarks on a configuration contradict. `longest` is the longest limit of
/// the log's jobs, in minutes.
pub(crate) fn find_contradictions(conf: Option<&SlurmConf>, longest: i64, changes: &[&KnobChange]) -> Vec<String> {
    let mut sched = conf.map_or_else(SchedParams::default, |conf| conf.sched.clone());
    let mut window = None;
    let mut backfills = conf.is_none_or(|conf| conf.backfill);
    for (param, value) in changes.iter().flat_map(|change| &change.set) {
        let (name, _) = in_slurm(param);
        let Some(knob) = Knob::find_knob(name) else { continue };
        let number = match value.as_str() {
            "yes" => Some(1),
            "no" => Some(0),
            number => number.parse().ok(),
        };
        if let Some(number) = number {
            knob.set_value(&mut sched, number);
            window = window.or((name == "bf_window").then_some(number));
        }
        backfills |= name.starts_with("bf_");
    }
    let mut contradictions = Vec::new();
    if let Some(conf) = conf {
        let before = conf.contradictions();
        let changed_conf = SlurmConf { sched, backfill: backfills, ..conf.clone() };
        contradictions.extend(changed_conf.contradictions().into_iter().filter(|text| !before.contains(text)));
    }
    if let Some(window) = window.filter(|&window| backfills && window < longest && contradictions.is_empty()) {
        contradictions.push(format!(
            "bf_window={window} min is below the longest limit of the jobs of this log, {longest} min: jobs planned beyond the \
             window are not protected"
        ));
    }
    contradictions
}

fn conf_edit(conf: Option<&SlurmConf>, key: &str, value: &str) -> ConfEdit {
    let now = conf.and_then(|conf| conf.settings.get(&key.to_ascii_lowercase()));
    ConfEdit {
        line: format!("{key}={value}"),
        replaces: now.map(|setting| setting.place.to_string()),
        was: now.map(|setting| format!("{}={}", setting.key, setting.value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(set: &[(&'static str, &str)]) -> KnobChange {
        KnobChange { knob: set[0].0, set: set.iter().map(|(key, value)| (*key, (*value).to_string())).collect() }
    }

    #[test]
    fn a_line_keeps_what_it_has() {
        let text = "# ours\nSchedulerParameters=max_rpc_cnt=150,BF_Window=60,bf_continue,kill_invalid_depend\nPriorityWeightAge=10\n";
        let conf = SlurmConf::parse(text, "etc/slurm.conf").expect("valid");
        let window = change(&[("bf_window", "2880")]);
        let off = change(&[("bf_continue", "no")]);
        let depth = change(&[("bf_max_job_test", "1000")]);
        let edits = conf_edits(Some(&conf), &[&window, &off, &depth]);
        assert_eq!(edits.len(), 1);
        assert_eq!(
            edits[0].line,
            "SchedulerParameters=max_rpc_cnt=150,bf_window=2880,kill_invalid_depend,bf_max_job_test=1000"
        );
        assert_eq!(edits[0].replaces.as_deref(), Some("etc/slurm.conf:2"));
        let small =
            change(&[("priorityweightjobsize", "5"), ("priorityfavorsmall", "yes"), ("priorityweightage", "20")]);
        let lines: Vec<String> = conf_edits(Some(&conf), &[&small]).into_iter().map(|edit| edit.line).collect();
        assert_eq!(lines, ["PriorityWeightJobSize=5", "PriorityFavorSmall=YES", "PriorityWeightAge=20"]);
    }

    #[test]
    fn without_a_configuration_lines_are_new() {
        let on = change(&[("bf_continue", "yes")]);
        let edits = conf_edits(None, &[&on]);
        assert_eq!((edits[0].line.as_str(), edits[0].replaces.as_deref()), ("SchedulerParameters=bf_continue", None));
        let conf = SlurmConf::parse("SchedulerType=sched/builtin\n", "slurm.conf").expect("valid");
        let lines: Vec<String> =
            conf_edits(Some(&conf), &[&change(&[("bf_interval", "30")])]).into_iter().map(|edit| edit.line).collect();
        assert_eq!(lines, ["SchedulerType=sched/backfill", "SchedulerParameters=bf_interval=30"]);
    }

    /// A window of a day was as long as the longest partition allows; half a day is not. A change
    /// elsewhere adds no remark, nor does one that is there already.
    #[test]
    fn a_window_below_the_longest_limit_contradicts() {
        let text = "SchedulerType=sched/backfill\nSchedulerParameters=bf_window=1440\nNodeName=n[1-4] CPUs=4\n\
                    PartitionName=p Nodes=ALL MaxTime=1-0\n";
        let conf = SlurmConf::parse(text, "slurm.conf").expect("a configuration");
        let [half, week, other] =
            [("bf_window", "720"), ("bf_window", "10080"), ("bf_interval", "60")].map(|set| change(&[set]));
        let contradictions = find_contradictions(Some(&conf), 600, &[&half]);
        assert!(
            contradictions.len() == 1 && contradictions[0].contains("bf_window=720 min is below MaxTime=1440 min"),
            "{contradictions:?}"
        );
        assert!(find_contradictions(Some(&conf), 600, &[&week]).is_empty());
        assert!(find_contradictions(Some(&conf), 600, &[&other]).is_empty());
        // Without a configuration the longest limit of the jobs stands for it.
        let contradictions = find_contradictions(None, 1_000, &[&half]);
        assert!(
            contradictions.len() == 1
                && contradictions[0].contains("the longest limit of the jobs of this log, 1000 min"),
            "{contradictions:?}"
        );
        assert!(find_contradictions(None, 720, &[&half]).is_empty());
    }
}
