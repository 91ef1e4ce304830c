//! The settings outside nodes and partitions that change what the scheduler decides.

use super::units;
use std::collections::BTreeMap;

/// Unit of allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SelectUnit {
    /// `select/linear`: whole nodes.
    Linear,
    /// `select/cons_tres` or `cons_res` with `CR_CPU`: single processors.
    Cpu,
    /// With `CR_Core`, the default: whole cores.
    #[default]
    Core,
    /// With `CR_Socket`: whole sockets.
    Socket,
}

/// Source of priorities.
#[derive(Clone, PartialEq, Debug)]
pub struct PriorityType {
    /// `priority/multifactor`, else `priority/basic`: first come, first served.
    pub multifactor: bool,
    /// Weight of the age.
    pub age: f64,
    /// Weight of the fair share.
    pub fair_share: f64,
    /// Weight of the size.
    pub size: f64,
    /// Weight of the partition.
    pub partition: f64,
    /// Weight of the QOS.
    pub qos: f64,
    /// Weight of the association's own priority.
    pub assoc: f64,
    /// Weights of trackable resources, `CPU=1000,Mem=…`.
    pub tres: BTreeMap<String, f64>,
    /// The age in seconds at which a job's age counts in full.
    pub max_age: i64,
    /// After so many seconds past use counts half; `0`: for ever.
    pub half_life: i64,
    /// Seconds between two calculations.
    pub calc_period: i64,
    /// True if small jobs are favoured.
    pub favor_small: bool,
    /// `PriorityFlags`, in capitals.
    pub flags: Vec<String>,
    /// Divides effective use in the classic formula.
    pub dampening: f64,
    /// Period after which use is forgotten, with a half-life of 0; as written, in capitals.
    pub usage_reset: String,
}

impl Default for PriorityType {
    fn default() -> PriorityType {
        PriorityType {
            multifactor: false,
            age: 0.0,
            fair_share: 0.0,
            size: 0.0,
            partition: 0.0,
            qos: 0.0,
            assoc: 0.0,
            tres: BTreeMap::new(),
            max_age: 7 * 86_400,
            half_life: 7 * 86_400,
            calc_period: 300,
            favor_small: false,
            flags: Vec::new(),
            dampening: 1.0,
            usage_reset: "NONE".to_string(),
        }
    }
}

impl PriorityType {
    /// Returns whether a flag is set.
    pub fn has_flag(&self, flag: &str) -> bool {
        self.flags.iter().any(|f| f == flag)
    }

    pub(super) fn from_settings(settings: &SettingLookup<'_>) -> Result<PriorityType, (&'static str, String)> {
        let d = PriorityType::default();
        let weight = |key| settings.read_value(key, parse_number).map(|w| w.unwrap_or(0.0));
        let whole_minutes = |key, default| {
            settings
                .read_value(key, units::parse_minutes)
                .map(|m| m.map_or(default, |m| m.map_or(i64::MAX, |m| m * 60)))
        };
        let flags = settings.text_of("PriorityFlags").unwrap_or_default().to_ascii_uppercase();
        Ok(PriorityType {
            multifactor: settings
                .text_of("PriorityType")
                .is_some_and(|t| t.eq_ignore_ascii_case("priority/multifactor")),
            age: weight("PriorityWeightAge")?,
            fair_share: weight("PriorityWeightFairshare")?,
            size: weight("PriorityWeightJobSize")?,
            partition: weight("PriorityWeightPartition")?,
            qos: weight("PriorityWeightQOS")?,
            assoc: weight("PriorityWeightAssoc")?,
            tres: settings.read_value("PriorityWeightTRES", parse_tres_weights)?.unwrap_or_default(),
            max_age: whole_minutes("PriorityMaxAge", d.max_age)?,
            half_life: whole_minutes("PriorityDecayHalfLife", d.half_life)?,
            calc_period: whole_minutes("PriorityCalcPeriod", d.calc_period)?,
            favor_small: settings.read_value("PriorityFavorSmall", units::yes_no)?.unwrap_or(false),
            flags: flags.split(',').filter(|f| !f.is_empty()).map(String::from).collect(),
            dampening: settings.read_value("FairShareDampeningFactor", parse_number)?.unwrap_or(1.0).max(1.0),
            usage_reset: settings.read_value("PriorityUsageResetPeriod", reset_period)?.unwrap_or(d.usage_reset),
        })
    }
}

/// A word of `PriorityUsageResetPeriod`, in capitals. `slurmctld` does not start with any other.
fn reset_period(text: &str) -> Result<String, String> {
    const KNOWN: [&str; 7] = ["NONE", "NOW", "DAILY", "WEEKLY", "MONTHLY", "QUARTERLY", "YEARLY"];
    let word = text.to_ascii_uppercase();
    match KNOWN.contains(&word.as_str()) {
        true => Ok(word),
        false => Err(format!(
            "`{text}` is no reset period, and slurmctld does not start with it; expected one of {}",
            KNOWN.join(", ")
        )),
    }
}

/// Fate of running jobs that others are to replace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum PreemptMode {
    /// Nothing.
    #[default]
    Off,
    /// They go back to the queue and start again.
    Requeue,
    /// They end for good.
    Cancel,
    /// They stop and go on later.
    Suspend,
}

impl PreemptMode {
    /// The mode that a value says, without the words beside it: see [`PreemptWords`].
    ///
    /// # Errors
    /// A word that is none.
    pub fn parse_mode(text: &str) -> Result<PreemptMode, String> {
        Ok(PreemptWords::parse_words(text)?.job_fate().unwrap_or_default())
    }
}

/// The words of a `PreemptMode`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct PreemptWords {
    /// Fate of the jobs; `None` where only other words are given.
    pub mode: Option<PreemptMode>,
    /// `GANG`: jobs take turns on the same processors.
    pub gang: bool,
    /// `WITHIN`: jobs of one QOS may replace each other, those of higher priority the others.
    pub within: bool,
    /// `PRIORITY`: only jobs of higher priority replace others.
    pub priority: bool,
}

impl PreemptWords {
    /// Fate of the jobs; `None` where the words leave it to a more general setting.
    pub fn job_fate(&self) -> Option<PreemptMode> {
        self.mode.or(self.gang.then_some(PreemptMode::Off))
    }

    /// Reads a value.
    ///
    /// # Errors
    /// A word that is none.
    pub fn parse_words(text: &str) -> Result<PreemptWords, String> {
        let mut words = PreemptWords::default();
        for word in text.split(',') {
            match word.trim().to_ascii_lowercase().as_str() {
                "" => {}
                "off" => words.mode = words.mode.or(Some(PreemptMode::Off)),
                "requeue" => words.mode = Some(PreemptMode::Requeue),
                // Up to 19.05 jobs without a checkpoint were cancelled.
                "cancel" | "checkpoint" => words.mode = Some(PreemptMode::Cancel),
                "suspend" => words.mode = Some(PreemptMode::Suspend),
                "gang" => words.gang = true,
                "within" => words.within = true,
                "priority" => words.priority = true,
                _ => return Err(format!("`{word}` is none of OFF, CANCEL, REQUEUE, SUSPEND, GANG, WITHIN, PRIORITY")),
            }
        }
        Ok(words)
    }
}

/// Criterion by which jobs may replace others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum PreemptType {
    /// None.
    #[default]
    None,
    /// Those of a partition of a higher tier.
    Partition,
    /// Those of a QOS that names the other one.
    Qos,
}

/// Preemption.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Preempt {
    /// Criterion by which jobs may replace others.
    pub by: PreemptType,
    /// Fate of the jobs that are replaced.
    pub mode: PreemptMode,
    /// Seconds that a job has run before it may be replaced.
    pub exempt_seconds: i64,
    /// True if jobs take turns on the same processors (`GANG`).
    pub gang: bool,
    /// True if jobs of one QOS may replace each other (`WITHIN`).
    pub within: bool,
    /// True if only jobs of higher priority replace others (`PRIORITY`).
    pub by_priority: bool,
    /// True if jobs that are replaced may start again (`JobRequeue`).
    pub requeues: bool,
    /// Priority from which a job is never replaced (`min_exempt_priority`); `None`: from none.
    pub exempt_priority: Option<i64>,
}

impl Preempt {
    pub(super) fn from_settings(settings: &SettingLookup<'_>) -> Result<Preempt, (&'static str, String)> {
        let by = |text: &str| match text.to_ascii_lowercase().as_str() {
            "preempt/none" | "preempt/job_prio" => Ok(PreemptType::None),
            "preempt/partition_prio" => Ok(PreemptType::Partition),
            "preempt/qos" => Ok(PreemptType::Qos),
            _ => Err(format!("`{text}` is none of preempt/none, preempt/partition_prio, preempt/qos")),
        };
        let words = settings.read_value("PreemptMode", PreemptWords::parse_words)?.unwrap_or_default();
        let exempt = |text: &str| {
            let number = text.split(',').find_map(|word| word.trim().strip_prefix("min_exempt_priority="));
            let wrong = |number: &str| format!("`{number}` is no priority; expected a whole number");
            number.map(|number| number.parse::<i64>().map_err(|_| wrong(number))).transpose()
        };
        Ok(Preempt {
            by: settings.read_value("PreemptType", by)?.unwrap_or_default(),
            mode: words.job_fate().unwrap_or_default(),
            exempt_seconds: settings.read_value("PreemptExemptTime", units::parse_seconds)?.flatten().unwrap_or(0),
            gang: words.gang,
            within: words.within,
            by_priority: words.priority,
            requeues: settings.read_value("JobRequeue", units::parse_count)? != Some(0),
            exempt_priority: settings.read_value("PreemptParameters", exempt)?.flatten(),
        })
    }
}

/// Settings of the ends of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndSettings {
    /// True if an `Epilog` runs: then each node that is done calls the main scheduler at once.
    pub epilog: bool,
    /// Seconds from SIGTERM to SIGKILL.
    pub kill_wait: i64,
    /// Minutes that a job may run beyond its limit; `None`: as long as it likes.
    pub over_minutes: Option<i64>,
    /// Seconds for which nothing starts after a job has ended while a node is not done.
    pub complete_wait: i64,
}

impl EndSettings {
    pub(super) fn from_settings(settings: &SettingLookup<'_>) -> Result<EndSettings, (&'static str, String)> {
        let seconds = |key, default| {
            settings
                .read_value(key, units::parse_limit)
                .map(|s| s.map_or(default, |s| s.map_or(i64::from(u32::MAX), i64::from)))
        };
        let over = settings.read_value("OverTimeLimit", units::parse_minutes)?;
        Ok(EndSettings {
            epilog: settings.text_of("Epilog").is_some(),
            kill_wait: seconds("KillWait", 30)?,
            over_minutes: over.unwrap_or(Some(0)),
            complete_wait: seconds("CompleteWait", 0)?,
        })
    }
}

/// Settings by name, without regard to case.
pub(super) struct SettingLookup<'a>(pub(super) &'a BTreeMap<String, super::ConfSetting>);

impl SettingLookup<'_> {
    pub(super) fn text_of(&self, key: &str) -> Option<&str> {
        self.0.get(&key.to_ascii_lowercase()).map(|s| s.value.as_str())
    }

    /// A value, or the key with what is wrong with it.
    fn read_value<T>(
        &self,
        key: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, (&'static str, String)> {
        self.text_of(key).map(read).transpose().map_err(|problem| (key, problem))
    }

    pub(super) fn select_unit(&self) -> SelectUnit {
        let linear = self.text_of("SelectType").is_some_and(|t| t.trim().eq_ignore_ascii_case("select/linear"));
        let flags = self.text_of("SelectTypeParameters").unwrap_or_default().to_ascii_uppercase();
        let has =
            |word: &str| flags.split(',').any(|flag| flag.trim() == word || flag.trim() == format!("{word}_MEMORY"));
        match () {
            () if linear => SelectUnit::Linear,
            () if has("CR_SOCKET") => SelectUnit::Socket,
            () if has("CR_CPU") => SelectUnit::Cpu,
            () => SelectUnit::Core,
        }
    }

    /// Returns whether memory is given out: where a parameter says so; without a parameter that
    /// names a unit, where Slurm's own default does, which is CR_Core_Memory but for select/linear.
    pub(super) fn counts_memory(&self) -> bool {
        let flags = self.text_of("SelectTypeParameters").unwrap_or_default().to_ascii_uppercase();
        let words = || flags.split(',').map(str::trim);
        let unit = |word: &str| {
            ["CR_CPU", "CR_CORE", "CR_SOCKET", "CR_BOARD"]
                .iter()
                .any(|unit| word.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest == "_MEMORY"))
        };
        self.names_memory()
            || (self.select_unit() != SelectUnit::Linear
                && !words().any(unit)
                && !words().any(|w| w == "OTHER_CONS_RES"))
    }

    /// Returns whether a parameter says that memory is given out.
    pub(super) fn names_memory(&self) -> bool {
        let flags = self.text_of("SelectTypeParameters").unwrap_or_default().to_ascii_uppercase();
        flags.split(',').any(|word| word.trim().ends_with("_MEMORY"))
    }

    /// Returns whether jobs go to the least loaded nodes, wherever they run (`CR_LLN`).
    pub(super) fn least_loaded(&self) -> bool {
        let flags = self.text_of("SelectTypeParameters").unwrap_or_default();
        flags.split(',').any(|word| word.trim().eq_ignore_ascii_case("CR_LLN"))
    }
}

fn parse_number(text: &str) -> Result<f64, String> {
    if ["unlimited", "infinite"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Ok(f64::from(u32::MAX));
    }
    let whole = units::parse_count(text).ok().map(f64::from);
    let parsed_number = whole.or_else(|| text.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0));
    parsed_number.ok_or_else(|| format!("`{text}` is no number from 0"))
}

fn parse_tres_weights(text: &str) -> Result<BTreeMap<String, f64>, String> {
    let parse_weight = |part: &str| {
        let (name, weight) = part.split_once('=').ok_or_else(|| format!("`{part}` is no NAME=WEIGHT"))?;
        // slurmctld reads these weights, and no others, as signed numbers.
        let weight = weight.trim();
        let parsed_weight = weight.parse::<f64>().ok().filter(|n| n.is_finite());
        let signed_weight = parsed_weight.ok_or_else(|| format!("`{weight}` is no number"))?;
        Ok((name.trim().to_ascii_lowercase(), signed_weight))
    };
    text.split(',').filter(|part| !part.is_empty()).map(parse_weight).collect()
}
