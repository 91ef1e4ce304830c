//! What determined a result, recorded in every output.

use drystone::log::clean::{Audit, Options, Study};
use drystone::metrics::Calendar;
use drystone::model::{Setting, Span, Time, Workload};
use drystone::policy::PolicySpec;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The version of this program.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Names with values, in order; an object in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pairs(pub(crate) Vec<(String, String)>);

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl From<&[Setting]> for Pairs {
    fn from(settings: &[Setting]) -> Pairs {
        Pairs(settings.iter().map(|s| (s.name.clone(), s.value.clone())).collect())
    }
}

impl Pairs {
    /// `size=requested, overrun=kill`.
    pub(crate) fn text(&self) -> String {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(", ")
    }
}

/// The workload of a result.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct WorkloadMeta {
    pub(crate) name: String,
    /// Fingerprint of everything in it that can influence a result, after cleaning.
    pub(crate) hash: String,
    pub(crate) procs: u32,
    pub(crate) jobs: u64,
    pub(crate) first_submit: Option<Time>,
    pub(crate) last_submit: Option<Time>,
    pub(crate) load: Option<f64>,
    pub(crate) unix_start: Option<i64>,
    pub(crate) time_zone: Option<String>,
    pub(crate) settings: Pairs,
    pub(crate) cleaning: CleaningMeta,
}

/// What cleaning did.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct CleaningMeta {
    pub(crate) records: u64,
    pub(crate) jobs: u64,
    /// How many records each rule touched.
    pub(crate) rules: Counts,
}

/// Names with counts, in order; an object in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Counts(pub(crate) Vec<(&'static str, u64)>);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, count) in &self.0 {
            map.serialize_entry(name, count)?;
        }
        map.end()
    }
}

impl CleaningMeta {
    fn of(audit: &Audit) -> CleaningMeta {
        let rules = audit.counts().map(|(rule, count)| (rule.name(), count)).collect();
        CleaningMeta { records: audit.records, jobs: audit.jobs, rules: Counts(rules) }
    }

    /// `killed 7,174, guessed-estimate 6`; `None` where no rule had anything to do.
    pub(crate) fn text(&self) -> Option<String> {
        use crate::output::number::count;
        let touched = self.rules.0.iter().filter(|(_, records)| *records > 0);
        let rules: Vec<String> = touched.map(|(rule, records)| format!("{rule} {}", count(*records))).collect();
        (!rules.is_empty())
            .then(|| format!("of the log's {} records: {}; --audit lists them", count(self.records), rules.join(", ")))
    }
}

/// The time zone as the log names it, or its distance from UTC; `None` where the log has neither.
fn zone(workload: &Workload) -> Option<String> {
    let (provenance, first) = (&workload.provenance, workload.submits().unwrap_or_default().0);
    let offset = || provenance.utc_offset.map(|_| Calendar::new(first, provenance).zone());
    provenance.time_zone.clone().or_else(offset)
}

impl WorkloadMeta {
    pub(crate) fn of(workload: &Workload, audit: &Audit) -> WorkloadMeta {
        let provenance = &workload.provenance;
        WorkloadMeta {
            name: provenance.name.clone(),
            hash: drystone_sweep::fingerprint(workload),
            procs: workload.machine().procs,
            jobs: workload.len() as u64,
            first_submit: workload.submits().map(|s| s.0),
            last_submit: workload.submits().map(|s| s.1),
            load: workload.load(),
            unix_start: provenance.unix_start,
            time_zone: zone(workload),
            settings: provenance.settings.as_slice().into(),
            cleaning: CleaningMeta::of(audit),
        }
    }

    /// The workload in a line for people.
    pub(crate) fn line(&self) -> String {
        use crate::output::number::{duration, percent, plural};
        let span = self.last_submit.zip(self.first_submit).map_or(Span::ZERO, |(last, first)| last - first);
        format!(
            "{}: {} on {} over {}, load {}",
            self.name,
            plural(self.jobs, "job"),
            plural(u64::from(self.procs), "processor"),
            duration(span.as_f64()),
            percent(self.load, 1)
        )
    }
}

/// A policy of a result.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct PolicyMeta {
    /// As it can be given again.
    pub(crate) text: String,
    pub(crate) kind: &'static str,
    /// Every parameter with its value in force.
    pub(crate) parameters: Pairs,
    /// Whether it knows true run times: a bound for other policies, impossible on a real machine.
    pub(crate) clairvoyant: bool,
    /// Whether it suspends running jobs, which few machines can do, and none for nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) preemptive: bool,
}

/// Families of policies that suspend running jobs.
const PREEMPTIVE: [&str; 3] = ["ss", "tss", "is"];

impl PolicyMeta {
    pub(crate) fn of(spec: &PolicySpec) -> PolicyMeta {
        let parameters = spec.parameters().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let clairvoyant = spec.scheduler().forecast.predictor.clairvoyant();
        let kind = spec.kind().name;
        let preemptive = PREEMPTIVE.contains(&kind);
        PolicyMeta { text: spec.text().to_string(), kind, parameters: Pairs(parameters), clairvoyant, preemptive }
    }

    /// Its text, with what keeps a machine from running it.
    pub(crate) fn marked(&self) -> String {
        match (self.clairvoyant, self.preemptive) {
            (true, true) => format!("{} (knows run times, preemptive)", self.text),
            (true, false) => format!("{} (knows run times)", self.text),
            (false, true) => format!("{} (preemptive)", self.text),
            (false, false) => self.text.clone(),
        }
    }
}

/// The other settings of a result.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct ExperimentMeta {
    pub(crate) study: Option<StudyMeta>,
    pub(crate) trim: String,
    pub(crate) seed: u64,
    /// Whether each calendar month was simulated apart, from an empty machine.
    pub(crate) each_month: bool,
    /// The file of priorities, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) priorities: Option<FileMeta>,
    /// The platform file, where one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) platform: Option<FileMeta>,
}

/// A file that was given.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct FileMeta {
    pub(crate) file: String,
    /// BLAKE3 of its bytes.
    pub(crate) hash: String,
    /// The whole of it; `None` where it is longer than [`FileMeta::LONGEST`].
    pub(crate) text: Option<String>,
}

impl FileMeta {
    /// Longer files stand for themselves, by name and hash: what is written beside schedules should not outgrow them.
    const LONGEST: usize = 16 * 1024;

    pub(crate) fn of(file: String, text: &str) -> FileMeta {
        let hash = short(blake3::hash(text.as_bytes()));
        FileMeta { file, hash, text: (text.len() <= FileMeta::LONGEST).then(|| text.to_string()) }
    }
}

/// Everything that determined a schedule, as it stands in or beside files of it.
#[derive(Serialize, Debug)]
pub(crate) struct Determined<'a> {
    pub(crate) schema: &'static str,
    pub(crate) drystone: &'static str,
    pub(crate) workload: &'a WorkloadMeta,
    pub(crate) policy: &'a PolicyMeta,
    pub(crate) experiment: &'a ExperimentMeta,
}

/// A published study whose choices were taken.
#[derive(Clone, Serialize, Debug)]
pub(crate) struct StudyMeta {
    pub(crate) name: &'static str,
    /// What it sets that Drystone does otherwise; options given explicitly win.
    pub(crate) sets: Pairs,
}

impl StudyMeta {
    /// What the study sets, apart from policies. `procs` is the machine it simulated, where that is not the header's.
    pub(crate) fn of(study: Study, procs: Option<u32>, trim: &str) -> StudyMeta {
        let (own, default) = (study.options().settings(0), Options::default().settings(0));
        let mut sets: Vec<(String, String)> =
            own.into_iter().filter(|s| s.name != "as" && !default.contains(s)).map(|s| (s.name, s.value)).collect();
        if let Some(procs) = procs {
            sets.push(("procs".to_string(), procs.to_string()));
        }
        sets.push(("trim".to_string(), trim.to_string()));
        StudyMeta { name: study.name(), sets: Pairs(sets) }
    }
}

/// 128 bits are enough to tell things apart, and short enough to be read.
fn short(hash: blake3::Hash) -> String {
    format!("blake3:{}", &hash.to_hex()[..32])
}
