//! Studies as data: the files in `studies/`.

use crate::cell::PublishedValue;
use crate::measure::MeasureOfClass;
use crate::price::PricedDelay;
use drystone::engine::Platform;
use drystone::log::clean::{CleaningStudy as Cleaning, Overrun};
use drystone::log::transform::LoadFactor;
use drystone::model::Procs;
use drystone::policy::PolicySpec;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// A publication: its logs and its tables.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperStudy {
    /// Name on the command line: `tsafrir-2007`.
    pub name: String,
    /// Publication.
    pub source: String,
    /// Note on all tables.
    #[serde(default)]
    pub note: String,
    /// The logs it used, as far as they are public.
    #[serde(rename = "log")]
    pub logs: Vec<LogRef>,
    #[serde(rename = "table")]
    pub tables: Vec<StudyTable>,
}

/// A log: what the study calls it, and which file that is.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogRef {
    /// Identifier used by rows.
    pub id: String,
    /// Its name in its archive, without `.gz` or `.zst`.
    pub file: String,
    /// BLAKE3 of the decompressed file; empty if any version will do.
    #[serde(default)]
    pub blake3: String,
    /// Page of the archive that offers it.
    #[serde(default)]
    pub page: String,
}

/// A table of a study, or a list of statements that can be checked.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyTable {
    /// Its number or name in the publication.
    pub id: String,
    pub title: String,
    /// Cleaning of the records and selection of the jobs that count; a row may override it.
    #[serde(rename = "as")]
    pub cleaning: Option<Cleaning>,
    /// Treatment of jobs that outlive their estimate, where it differs from that of `as`.
    pub overrun: Option<String>,
    /// Only the first this many jobs; with `from`, this many from there on.
    pub take: Option<usize>,
    /// Only jobs from this one on, by its place in the order of arrival, from 0; a row may say
    /// otherwise.
    pub from: Option<usize>,
    /// First jobs of windows of `take` jobs, each simulated from an empty machine; a value is the
    /// mean of those of the windows.
    #[serde(default)]
    pub windows: Vec<usize>,
    /// Logs made of weeks of this one; a value is the mean of theirs.
    pub resample: Option<Resampling>,
    /// Processors of the machine, where they are neither the study's nor the log's.
    pub procs: Option<Procs>,
    /// Costs of suspension: a platform file's text. Without it suspension costs nothing.
    pub platform: Option<String>,
    /// The months of the log are simulated apart, as Talby & Feitelson 1999 did.
    #[serde(default)]
    pub months: bool,
    /// Reason for the tolerances.
    #[serde(default)]
    pub reason: String,
    /// Printed columns.
    #[serde(rename = "column")]
    pub columns: Vec<StudyColumn>,
    /// One per printed line.
    #[serde(rename = "row")]
    pub rows: Vec<RowSpec>,
}

/// Logs that are made of whole weeks of a log, drawn with replacement and put one behind the other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resampling {
    pub weeks: u32,
    /// Their number.
    pub logs: u32,
    /// Seed of the first; those that follow have the next ones.
    pub seed: u64,
}

impl fmt::Display for Resampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Resampling { weeks, logs, seed } = self;
        write!(f, "{logs} logs of {weeks} weeks from seed {seed}")
    }
}

impl StudyTable {
    /// Problem of the settings that hold for all rows.
    fn find_problem(&self) -> Option<String> {
        if self.procs == Some(0) {
            return Some("`procs` is the number of processors, from 1".to_string());
        }
        if let Some(Err(error)) = self.overrun.as_deref().map(str::parse::<Overrun>) {
            return Some(error.to_string());
        }
        if let Some(Err(error)) = self.platform.as_deref().map(Platform::from_toml) {
            return Some(format!("platform: {error}"));
        }
        let apart = !self.windows.is_empty() || self.resample.is_some();
        if self.months && (self.procs.is_some() || self.platform.is_some() || self.from.is_some() || apart) {
            return Some("months apart take neither `procs`, `platform`, `from`, `windows` nor `resample`".to_string());
        }
        let moves = self.from.is_some() || self.rows.iter().any(|row| row.from.is_some());
        if !self.windows.is_empty() && (moves || self.take.is_none_or(|jobs| jobs == 0) || self.resample.is_some()) {
            return Some("`windows` need `take`, their length, and go with neither `from` nor `resample`".to_string());
        }
        match self.resample {
            Some(Resampling { weeks: 0, .. } | Resampling { logs: 0, .. }) => {
                Some("`resample` takes a number of weeks and of logs, each from 1".to_string())
            }
            _ => None,
        }
    }

    pub(crate) fn first_job_of(&self, row: &RowSpec) -> Option<usize> {
        row.from.or(self.from)
    }

    pub(crate) fn cleaning_of(&self, row: &RowSpec) -> Option<Cleaning> {
        row.cleaning.or(self.cleaning)
    }
}

#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyColumn {
    pub name: String,
    pub measure: MeasureOfClass,
}

/// A printed line.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSpec {
    /// Label in print.
    pub label: String,
    /// The log it is about; none where it prices a delay.
    #[serde(default)]
    pub log: String,
    /// The policy that is simulated; none where the row is about the log itself.
    pub policy: Option<String>,
    /// The policy that measures such as `ratio` and `relative-wait` compare with.
    pub baseline: Option<String>,
    /// The month it is about, where months are simulated apart; none for all of them together.
    pub month: Option<String>,
    /// Policies of months that have another, by month.
    #[serde(default)]
    pub monthly: BTreeMap<String, String>,
    /// Delay whose price under slack-based backfilling it is about, without any log.
    pub price: Option<PricedDelay>,
    /// Cleaning of the records, where it differs from the table's.
    #[serde(rename = "as")]
    pub cleaning: Option<Cleaning>,
    /// Load factor: submit times are divided by it.
    pub load: Option<String>,
    /// The first of the jobs that `take` counts, where that is not what the table says.
    pub from: Option<usize>,
    /// The printed values, as printed; or statements such as `> 0`; empty where nothing is printed.
    pub published: Vec<PublishedValue>,
    /// Tolerance of each value, in percent. None where the specification calls the row not
    /// attainable: it is then shown and not judged.
    pub tolerance: Option<Vec<f64>>,
    /// Reason why it is not attainable, or another note.
    #[serde(default)]
    pub note: String,
}

/// A study file that is not one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    #[error("{name}: {source}")]
    Syntax {
        /// The file.
        name: String,
        /// Position and cause.
        source: toml::de::Error,
    },
    #[error("{name}, table {table}, row `{row}`: {problem}")]
    Row {
        /// The file.
        name: String,
        /// Identifier of the table.
        table: String,
        /// Number of the row.
        row: String,
        /// Description of the mistake.
        problem: String,
    },
}

impl PaperStudy {
    /// Reads a study; `name` is that of its file, for messages.
    ///
    /// # Errors
    /// It is no TOML, has fields that no study has or lacks some, or rows do not fit their tables.
    pub fn parse(text: &str, name: &str) -> Result<PaperStudy, StudyError> {
        let study: PaperStudy =
            toml::from_str(text).map_err(|source| StudyError::Syntax { name: name.to_string(), source })?;
        for table in &study.tables {
            if let Some(problem) = table.find_problem() {
                let (name, table) = (name.to_string(), table.id.clone());
                return Err(StudyError::Row { name, table, row: "(all)".to_string(), problem });
            }
            for row in &table.rows {
                if let Some(problem) = study.problem_of(table, row) {
                    let (name, table, row) = (name.to_string(), table.id.clone(), row.label.clone());
                    return Err(StudyError::Row { name, table, row, problem });
                }
            }
        }
        Ok(study)
    }

    fn problem_of(&self, table: &StudyTable, row: &RowSpec) -> Option<String> {
        if row.price.is_some() != row.log.is_empty() {
            return Some("a row is about a log, or has a `price`".to_string());
        }
        if row.price.is_none() && !self.logs.iter().any(|log| log.id == row.log) {
            return Some(format!("there is no [[log]] with id = \"{}\"", row.log));
        }
        if let Some(Err(error)) = row.load.as_ref().map(|load| load.parse::<LoadFactor>()) {
            return Some(error.to_string());
        }
        for policy in row.policy.iter().chain(&row.baseline).chain(row.monthly.values()) {
            if let Err(error) = policy.parse::<PolicySpec>() {
                return Some(error.to_string());
            }
        }
        let columns = table.columns.len();
        if row.published.len() != columns {
            return Some(format!("{} published values for {columns} columns", row.published.len()));
        }
        if row.tolerance.as_ref().is_some_and(|t| t.len() != columns) {
            return Some(format!("one tolerance per column is expected, {columns} of them"));
        }
        if row.tolerance.as_ref().is_some_and(|t| t.iter().any(|t| t.is_nan() || *t < 0.0)) {
            return Some("a tolerance is a percentage from 0 up".to_string());
        }
        for column in &table.columns {
            if column.measure.of_price() != row.price.is_some() {
                return Some(format!(
                    "`{}`: a row with a `price` is measured by slack-price, no other is",
                    column.measure
                ));
            }
            if column.measure.of_schedule() && row.policy.is_none() {
                return Some(format!("`{}` needs a policy", column.measure));
            }
            if column.measure.of_two() && row.baseline.is_none() {
                return Some(format!("`{}` needs a baseline", column.measure));
            }
        }
        if table.months && (row.baseline.is_some() || table.columns.iter().any(|c| !c.measure.of_months())) {
            return Some("months apart are measured by wait-mean-s and its parts only".to_string());
        }
        (!table.months && !row.monthly.is_empty()).then(|| "`monthly` goes with `months = true` only".to_string())
    }

    pub fn find_log(&self, id: &str) -> Option<&LogRef> {
        self.logs.iter().find(|log| log.id == id)
    }
}

/// The studies that come with the program: name and text.
pub(crate) const BUILTIN: &[(&str, &str)] = &[
    ("tsafrir-2007", include_str!("../studies/tsafrir-2007.toml")),
    ("gaussier-2015", include_str!("../studies/gaussier-2015.toml")),
    ("talby-1999", include_str!("../studies/talby-1999.toml")),
    ("lawson-2002", include_str!("../studies/lawson-2002.toml")),
    ("kettimuthu-2005", include_str!("../studies/kettimuthu-2005.toml")),
    ("chiang-2008", include_str!("../studies/chiang-2008.toml")),
    ("easy-variants", include_str!("../studies/easy-variants.toml")),
    ("rlscheduler-2020", include_str!("../studies/rlscheduler-2020.toml")),
];

/// Reads the studies that come with the program.
///
/// # Errors
/// None, unless the program was built with a broken study.
pub fn read_builtin() -> Result<Vec<PaperStudy>, StudyError> {
    BUILTIN.iter().map(|(name, text)| PaperStudy::parse(text, name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"
name = "mine"
source = "a paper"
[[log]]
id = "A"
file = "a.swf"
[[table]]
id = "1"
title = "One"
SETTINGS
[[table.column]]
name = "wait"
measure = "wait-mean-s"
[[table.row]]
label = "easy"
log = "A"
policy = "easy"
published = ["1"]
ROW
"#;

    fn read(settings: &str, row: &str) -> Result<PaperStudy, StudyError> {
        PaperStudy::parse(&EXAMPLE.replace("SETTINGS", settings).replace("ROW", row), "mine.toml")
    }

    #[test]
    fn settings_that_contradict_each_other_are_refused() {
        for (settings, row) in [
            ("take = 8\nwindows = [0, 8]", ""),
            ("resample = { weeks = 2, logs = 3, seed = 1 }", ""),
            ("months = true", r#"monthly = { "1996-10" = "slack(awt=60)" }"#),
        ] {
            assert!(read(settings, row).is_ok(), "{settings} {row}");
        }
        for (settings, row, problem) in [
            ("windows = [0, 8]", "", "`windows` need `take`"),
            ("take = 8\nwindows = [0]", "from = 3", "go with neither"),
            ("take = 8\nwindows = [0]\nresample = { weeks = 2, logs = 3, seed = 1 }", "", "go with neither"),
            ("resample = { weeks = 0, logs = 3, seed = 1 }", "", "each from 1"),
            ("months = true\ntake = 8\nwindows = [0]", "", "months apart take neither"),
            ("", r#"monthly = { "1996-10" = "slack(awt=60)" }"#, "goes with `months = true` only"),
            ("months = true", r#"monthly = { "1996-10" = "slak" }"#, "slack"),
            ("", "price = { weights = [1, 1, 1, 1], procs = 1, delay = 2 }", "is about a log, or has a `price`"),
        ] {
            let error = read(settings, row).expect_err(problem).to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    /// Whatever is judged has a reason for how closely, and what is not judged says why.
    #[test]
    fn tolerances_of_the_studies_have_reasons() {
        for study in read_builtin().expect("studies") {
            for table in &study.tables {
                let has_tolerance = table.rows.iter().any(|row| row.tolerance.is_some());
                assert!(!has_tolerance || !table.reason.is_empty(), "{} {}", study.name, table.id);
                for row in table.rows.iter().filter(|row| row.tolerance.is_none()) {
                    let has_value = row.published.iter().any(|value| *value != crate::PublishedValue::Nothing);
                    let has_reason = !table.reason.is_empty() || !row.note.is_empty();
                    assert!(!has_value || has_reason, "{} {} {}", study.name, table.id, row.label);
                }
            }
        }
    }
}
