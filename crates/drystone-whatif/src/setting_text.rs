//! Settings of `slurm.conf` in the text of a change.

use super::scan::{Scan, SiteChangeError};
use drystone::text::find_nearest;
use drystone_slurm::conf::{KNOBS, Knob};

/// Settings with a line of their own that the model of Slurm heeds, and the shape of their values.
const LINES: [(&str, ValueShape); 15] = [
    ("PriorityType", ValueShape::Priority),
    ("PriorityWeightAge", ValueShape::Whole),
    ("PriorityWeightFairshare", ValueShape::Whole),
    ("PriorityWeightJobSize", ValueShape::Whole),
    ("PriorityWeightPartition", ValueShape::Whole),
    ("PriorityWeightQOS", ValueShape::Whole),
    ("PriorityWeightAssoc", ValueShape::Whole),
    ("PriorityDecayHalfLife", ValueShape::Length),
    ("PriorityMaxAge", ValueShape::Length),
    ("PriorityCalcPeriod", ValueShape::Length),
    ("PriorityFavorSmall", ValueShape::YesNo),
    ("SchedulerType", ValueShape::Scheduler),
    ("AccountingStorageEnforce", ValueShape::Any),
    (DEFAULT_MEMORY, ValueShape::Whole),
    (MOST_MEMORY, ValueShape::Whole),
];

/// Shapes of values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueShape {
    Whole,
    YesNo,
    Length,
    Priority,
    Scheduler,
    Any,
}

impl ValueShape {
    /// The value as `slurm.conf` has it; in words what is expected, where it has not.
    fn parse_value(self, text: &str) -> Result<String, &'static str> {
        let lower = text.to_ascii_lowercase();
        let one_of = |choices: [&str; 2]| choices.contains(&lower.as_str()).then(|| lower.clone());
        let setting_value = match self {
            ValueShape::Whole => text.parse::<u32>().ok().map(|number| number.to_string()),
            ValueShape::YesNo => one_of(["yes", "no"]).map(|word| word.to_uppercase()),
            ValueShape::Length => {
                text.chars().all(|c| c.is_ascii_digit() || ":-".contains(c)).then(|| text.to_string())
            }
            ValueShape::Priority => one_of(["priority/basic", "priority/multifactor"]),
            ValueShape::Scheduler => one_of(["sched/backfill", "sched/builtin"]),
            ValueShape::Any => Some(text.to_string()),
        };
        setting_value.filter(|value| !value.is_empty()).ok_or(match self {
            ValueShape::Whole => "expected a whole number",
            ValueShape::YesNo => "expected YES or NO",
            ValueShape::Length => "expected a time as slurm.conf has it, such as 7-0 or 12:00:00",
            ValueShape::Priority => "expected priority/basic or priority/multifactor",
            ValueShape::Scheduler => "expected sched/backfill or sched/builtin",
            ValueShape::Any => "expected a value",
        })
    }
}

/// Reads settings: those with a line of their own, and words of `SchedulerParameters`.
pub(super) fn read_settings(scan: &mut Scan<'_>) -> Result<Vec<(String, String)>, SiteChangeError> {
    let mut settings: Vec<(String, String)> = Vec::new();
    while !scan.is_done() {
        let (from, key) = scan.read_word(|c| c == '=');
        let line = LINES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&key));
        let knob = Knob::find_knob(&key);
        let name = match (line, knob) {
            (Some((name, _)), _) => *name,
            (None, Some(knob)) => knob.name,
            (None, None) => {
                let known_names = LINES.iter().map(|(name, _)| *name).chain(KNOBS.iter().map(|knob| knob.name));
                let near =
                    find_nearest(&key, known_names).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                let problem = format!(
                    "expected a setting that Slurm's scheduler heeds, such as PriorityWeightAge or bf_window{near}"
                );
                return Err(scan.error_at(from, problem));
            }
        };
        let flag = knob.is_some_and(Knob::is_flag);
        let value = if scan.take_char('=') {
            let (from, value) = scan.read_word(|_| false);
            let value_result = match (line, flag) {
                (Some((_, shape)), _) => shape.parse_value(&value),
                (None, true) => ValueShape::YesNo.parse_value(&value).map(|word| word.to_lowercase()),
                (None, false) => value.parse::<i64>().map(|n| n.to_string()).map_err(|_| "expected a whole number"),
            };
            value_result.map_err(|problem| scan.error_at(from, problem))?
        } else if flag {
            "yes".to_string()
        } else {
            return Err(scan.error_at(scan.position(), format!("expected `=` behind `{name}`")));
        };
        settings.retain(|(candidate, _)| candidate != name);
        settings.push((name.to_string(), value));
    }
    match settings.is_empty() {
        true => {
            Err(scan.error_at(scan.position(), "expected settings such as PriorityWeightAge=1000 or bf_window=2880"))
        }
        false => Ok(settings),
    }
}

/// Megabytes for each processor of a job that asks for no memory.
pub(super) const DEFAULT_MEMORY: &str = "DefMemPerCPU";

/// The most megabytes for each processor; a job that asks for more gets more processors.
pub(super) const MOST_MEMORY: &str = "MaxMemPerCPU";
