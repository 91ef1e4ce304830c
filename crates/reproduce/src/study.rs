//! Studies as data: the files in `studies/`.

use crate::cell::Published;
use crate::measure::Measured;
use drystone::engine::Platform;
use drystone::log::clean::{Overrun, Study as Cleaning};
use drystone::log::transform::Factor;
use drystone::model::Procs;
use drystone::policy::PolicySpec;
use serde::Deserialize;

/// A publication: its logs and its tables.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
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
    /// Its tables.
    #[serde(rename = "table")]
    pub tables: Vec<Table>,
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
pub struct Table {
    /// Its number or name in the publication.
    pub id: String,
    /// Title of the table.
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
    pub columns: Vec<Column>,
    /// One per printed line.
    #[serde(rename = "row")]
    pub rows: Vec<RowSpec>,
}

impl Table {
    /// The first job of a row.
    pub(crate) fn first_job_of(&self, row: &RowSpec) -> Option<usize> {
        row.from.or(self.from)
    }

    /// Returns the cleaning of a row's records.
    pub(crate) fn cleaning_of(&self, row: &RowSpec) -> Option<Cleaning> {
        row.cleaning.or(self.cleaning)
    }
}

/// A column.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// Measure of the column.
    pub measure: Measured,
}

/// A printed line.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowSpec {
    /// Label in print.
    pub label: String,
    /// The log it is about.
    pub log: String,
    /// The policy that is simulated; none where the row is about the log itself.
    pub policy: Option<String>,
    /// The policy that measures such as `ratio` and `relative-wait` compare with.
    pub baseline: Option<String>,
    /// The month it is about, where months are simulated apart; none for all of them together.
    pub month: Option<String>,
    /// Cleaning of the records, where it differs from the table's.
    #[serde(rename = "as")]
    pub cleaning: Option<Cleaning>,
    /// Load factor: submit times are divided by it.
    pub load: Option<String>,
    /// The first of the jobs that `take` counts, where that is not what the table says.
    pub from: Option<usize>,
    /// The printed values, as printed; or statements such as `> 0`; empty where nothing is printed.
    pub published: Vec<Published>,
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
    /// It does not read.
    #[error("{name}: {source}")]
    Syntax {
        /// The file.
        name: String,
        /// Position and cause.
        source: toml::de::Error,
    },
    /// It contradicts itself.
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

impl Study {
    /// Reads a study; `name` is that of its file, for messages.
    ///
    /// # Errors
    /// It is no TOML, has fields that no study has or lacks some, or rows do not fit their tables.
    pub fn parse(text: &str, name: &str) -> Result<Study, StudyError> {
        let study: Study =
            toml::from_str(text).map_err(|source| StudyError::Syntax { name: name.to_string(), source })?;
        for table in &study.tables {
            if let Some(overrun) = &table.overrun
                && let Err(error) = overrun.parse::<Overrun>()
            {
                let (name, table) = (name.to_string(), table.id.clone());
                return Err(StudyError::Row { name, table, row: "(all)".to_string(), problem: error.to_string() });
            }
            let whole = |problem: String| {
                let (name, table) = (name.to_string(), table.id.clone());
                Err(StudyError::Row { name, table, row: "(all)".to_string(), problem })
            };
            if table.procs == Some(0) {
                return whole("`procs` is the number of processors, from 1".to_string());
            }
            if let Some(Err(error)) = table.platform.as_deref().map(Platform::from_toml) {
                return whole(format!("platform: {error}"));
            }
            if table.months && (table.procs.is_some() || table.platform.is_some() || table.from.is_some()) {
                return whole("months apart take neither `procs`, `platform` nor `from`".to_string());
            }
            for row in &table.rows {
                let refuse = |problem: String| {
                    Err(StudyError::Row {
                        name: name.to_string(),
                        table: table.id.clone(),
                        row: row.label.clone(),
                        problem,
                    })
                };
                if !study.logs.iter().any(|log| log.id == row.log) {
                    return refuse(format!("there is no [[log]] with id = \"{}\"", row.log));
                }
                if let Some(Err(error)) = row.load.as_ref().map(|load| load.parse::<Factor>()) {
                    return refuse(error.to_string());
                }
                for policy in row.policy.iter().chain(&row.baseline) {
                    if let Err(error) = policy.parse::<PolicySpec>() {
                        return refuse(error.to_string());
                    }
                }
                if row.published.len() != table.columns.len() {
                    let (have, want) = (row.published.len(), table.columns.len());
                    return refuse(format!("{have} published values for {want} columns"));
                }
                if row.tolerance.as_ref().is_some_and(|t| t.len() != table.columns.len()) {
                    return refuse(format!("one tolerance per column is expected, {} of them", table.columns.len()));
                }
                if row.tolerance.as_ref().is_some_and(|t| t.iter().any(|t| t.is_nan() || *t < 0.0)) {
                    return refuse("a tolerance is a percentage from 0 up".to_string());
                }
                for column in &table.columns {
                    if column.measure.of_schedule() && row.policy.is_none() {
                        return refuse(format!("`{}` needs a policy", column.measure));
                    }
                    if column.measure.of_two() && row.baseline.is_none() {
                        return refuse(format!("`{}` needs a baseline", column.measure));
                    }
                }
                if table.months && (row.baseline.is_some() || table.columns.iter().any(|c| !c.measure.of_months())) {
                    return refuse("months apart are measured by wait-mean-s and its parts only".to_string());
                }
            }
        }
        Ok(study)
    }

    /// The log of a row.
    #[must_use]
    pub fn log(&self, id: &str) -> Option<&LogRef> {
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
];

/// Reads the studies that come with the program.
///
/// # Errors
/// None, unless the program was built with a broken study.
pub fn builtin() -> Result<Vec<Study>, StudyError> {
    BUILTIN.iter().map(|(name, text)| Study::parse(text, name)).collect()
}
