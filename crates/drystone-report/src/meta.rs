//! Inputs that determined a result, recorded in every output and read again.

use crate::number::{format_count, format_duration, format_percent, format_plural};
use drystone::log::clean::{Audit, CleaningOptions, CleaningStudy};
use drystone::metrics::Calendar;
use drystone::model::{Setting, Span, Time, Workload};
use drystone::policy::PolicySpec;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Names with values, in order; an object in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NamedPairs(pub Vec<(String, String)>);

impl Serialize for NamedPairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for NamedPairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedPairs, D::Error> {
        Ok(NamedPairs(read_entries(deserializer)?))
    }
}

impl From<&[Setting]> for NamedPairs {
    fn from(settings: &[Setting]) -> NamedPairs {
        NamedPairs(settings.iter().map(|s| (s.name.clone(), s.value.clone())).collect())
    }
}

impl NamedPairs {
    /// `size=requested, overrun=kill`.
    pub fn format_pairs(&self) -> String {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(", ")
    }
}

/// The setting that names the world of a site's jobs.
pub const WORLD: &str = "world";

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkloadMeta {
    pub name: String,
    /// Fingerprint of everything in it that can influence a result, after cleaning.
    pub hash: String,
    pub procs: u32,
    pub jobs: u64,
    /// First submit; `None` without jobs.
    pub first_submit: Option<Time>,
    pub last_submit: Option<Time>,
    /// Offered load: work per processor-second of the [span](WorkloadMeta::load_span).
    pub load: Option<f64>,
    /// Length of the window that a site's jobs were recorded in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Span>,
    /// The calendar time of second 0, where the log says it.
    pub unix_start: Option<i64>,
    /// The time zone of days and months.
    pub time_zone: Option<String>,
    /// Settings by which records became jobs.
    pub settings: NamedPairs,
    pub cleaning: CleaningMeta,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CleaningMeta {
    /// Records of the log.
    pub records: u64,
    /// Jobs that were made of them.
    pub jobs: u64,
    /// Number of records that each rule touched.
    pub rules: NamedCounts,
}

/// Names with counts, in order; an object in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NamedCounts(pub Vec<(String, u64)>);

impl Serialize for NamedCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, count)| (name, count)))
    }
}

impl<'de> Deserialize<'de> for NamedCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NamedCounts, D::Error> {
        Ok(NamedCounts(read_entries(deserializer)?))
    }
}

/// The entries of an object, in order.
fn read_entries<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<(String, T)>, D::Error> {
    struct Entries<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    deserializer.deserialize_map(Entries(PhantomData))
}

impl CleaningMeta {
    fn from_audit(audit: &Audit) -> CleaningMeta {
        let rules = audit.rule_counts().map(|(rule, count)| (rule.name().to_string(), count)).collect();
        CleaningMeta { records: audit.records, jobs: audit.jobs, rules: NamedCounts(rules) }
    }

    /// `killed 7,174, guessed-estimate 6`; `None` where no rule had anything to do.
    pub fn format_rules(&self) -> Option<String> {
        let touched_rules = self.rules.0.iter().filter(|(_, records)| *records > 0);
        let rules: Vec<String> =
            touched_rules.map(|(rule, records)| format!("{rule} {}", format_count(*records))).collect();
        (!rules.is_empty()).then(|| {
            format!("of the log's {} records: {}; --audit lists them", format_count(self.records), rules.join(", "))
        })
    }
}

/// The time zone as the log names it, or its distance from UTC; `None` where the log has neither.
fn time_zone(workload: &Workload) -> Option<String> {
    let (provenance, first) = (&workload.provenance, workload.submit_range().unwrap_or_default().0);
    let offset = || provenance.utc_offset.map(|_| Calendar::new(first, provenance).zone_name());
    provenance.time_zone.clone().or_else(offset)
}

impl WorkloadMeta {
    /// Description of a workload; `hash` is its fingerprint.
    pub fn from_workload(workload: &Workload, audit: &Audit, hash: String) -> WorkloadMeta {
        let provenance = &workload.provenance;
        WorkloadMeta {
            name: provenance.name.clone(),
            hash,
            procs: workload.machine().procs,
            jobs: workload.len() as u64,
            first_submit: workload.submit_range().map(|s| s.0),
            last_submit: workload.submit_range().map(|s| s.1),
            load: workload.offered_load(),
            window: None,
            unix_start: provenance.unix_start,
            time_zone: time_zone(workload),
            settings: provenance.settings.as_slice().into(),
            cleaning: CleaningMeta::from_audit(audit),
        }
    }

    pub fn find_setting(&self, name: &str) -> Option<&str> {
        self.settings.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// Sets the window that the jobs were recorded in: the load becomes that of the window.
    #[must_use]
    pub fn with_window(mut self, window: Span) -> WorkloadMeta {
        let span = self.load_span();
        if window > Span::ZERO {
            self.load = self.load.map(|load| load * span.as_f64() / window.as_f64());
            self.window = Some(window);
        }
        self
    }

    /// Returns the time that the load is over: the window, else from the first to the last submit.
    pub fn load_span(&self) -> Span {
        let submits = || self.last_submit.zip(self.first_submit).map(|(last, first)| last - first);
        self.window.or_else(submits).unwrap_or(Span::ZERO)
    }

    pub fn format_line(&self) -> String {
        let span = self.load_span();
        format!(
            "{}: {} on {} over {}, load {}",
            self.name,
            format_plural(self.jobs, "job"),
            format_plural(u64::from(self.procs), "processor"),
            format_duration(span.as_f64()),
            format_percent(self.load, 1)
        )
    }
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyMeta {
    /// As it can be given again.
    pub text: String,
    /// The name of its family.
    pub kind: String,
    /// Every parameter with its value in force.
    pub parameters: NamedPairs,
    /// True if it knows true run times: a bound for other policies, impossible on a real machine.
    pub clairvoyant: bool,
    /// True if it suspends running jobs, which few machines can do, and none for nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub preemptive: bool,
}

/// Families of policies that suspend running jobs.
const PREEMPTIVE: [&str; 3] = ["ss", "tss", "is"];

impl PolicyMeta {
    pub fn from_spec(spec: &PolicySpec) -> PolicyMeta {
        let parameters = spec.parameters().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let scheduler = spec.build_scheduler();
        let clairvoyant = scheduler.forecast.predictor.is_clairvoyant();
        let preemptive = PREEMPTIVE.contains(&spec.kind().name) || scheduler.policy.needed_abilities().suspend;
        let kind = spec.kind().name.to_string();
        PolicyMeta { text: spec.text().to_string(), kind, parameters: NamedPairs(parameters), clairvoyant, preemptive }
    }

    /// Its text, with what keeps a machine from running it.
    pub fn marked_text(&self) -> String {
        match (self.clairvoyant, self.preemptive) {
            (true, true) => format!("{} (knows run times, preemptive)", self.text),
            (true, false) => format!("{} (knows run times)", self.text),
            (false, true) => format!("{} (preemptive)", self.text),
            (false, false) => self.text.clone(),
        }
    }
}

/// The other settings of a result.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExperimentMeta {
    /// The published study whose choices were taken.
    pub study: Option<StudyMeta>,
    /// Rule for the jobs that count.
    pub trim: String,
    /// Seed of everything random.
    pub seed: u64,
    /// True if each calendar month was simulated apart, from an empty machine.
    pub each_month: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priorities: Option<FileMeta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<FileMeta>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outages: Option<FileMeta>,
    /// Random failures of nodes, where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<String>,
    /// Checkpoints of jobs, where they wrote any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoints: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circumstances: Option<FileMeta>,
    /// True if jobs arrive after the end of others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub feedback: bool,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FileMeta {
    pub file: String,
    /// BLAKE3 of its bytes.
    pub hash: String,
    /// The whole of it; `None` where it is longer than 16 KiB.
    pub text: Option<String>,
}

impl FileMeta {
    /// Longer files stand for themselves, by name and hash: what is written beside schedules should
    /// not outgrow them.
    const LONGEST: usize = 16 * 1024;

    pub fn from_text(file: String, text: &str) -> FileMeta {
        let hash = short_hash(blake3::hash(text.as_bytes()));
        FileMeta { file, hash, text: (text.len() <= FileMeta::LONGEST).then(|| text.to_string()) }
    }
}

/// A published study whose choices were taken.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StudyMeta {
    pub name: String,
    /// Settings that differ from Drystone's own; options given explicitly win.
    pub sets: NamedPairs,
}

impl StudyMeta {
    /// Settings of the study, apart from policies. `procs` is the machine it simulated, where that
    /// is not the header's.
    pub fn from_study(study: CleaningStudy, procs: Option<u32>, trim: &str) -> StudyMeta {
        let (own, default) = (study.options().build_settings(0), CleaningOptions::default().build_settings(0));
        let mut sets: Vec<(String, String)> =
            own.into_iter().filter(|s| s.name != "as" && !default.contains(s)).map(|s| (s.name, s.value)).collect();
        if let Some(procs) = procs {
            sets.push(("procs".to_string(), procs.to_string()));
        }
        if let Some(jobs) = study.job_count() {
            sets.push(("take".to_string(), jobs.to_string()));
        }
        sets.push(("trim".to_string(), trim.to_string()));
        StudyMeta { name: study.name().to_string(), sets: NamedPairs(sets) }
    }
}

/// 128 bits are enough to tell things apart, and short enough to be read.
fn short_hash(hash: blake3::Hash) -> String {
    format!("blake3:{}", &hash.to_hex()[..32])
}
