//! The account of a cleaning: which rule touched how many records, and which.

use crate::log::swf::{Malformed, RecordField, SwfDecimal};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, Write};

/// Effect of a rule on a record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CleaningEffect {
    /// The record does not become a job.
    Dropped,
    /// A value was changed: clipped, rounded, moved.
    Changed,
    /// A missing value was guessed.
    Guessed,
    /// Nothing was done; it is worth knowing.
    Noted,
}

impl fmt::Display for CleaningEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CleaningEffect::Dropped => "dropped",
            CleaningEffect::Changed => "changed",
            CleaningEffect::Guessed => "guessed",
            CleaningEffect::Noted => "noted",
        })
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, $effect:ident, $meaning:literal;)+) => {
        /// A rule of cleaning.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum CleaningRule { $(#[doc = $meaning] $rule,)+ }

        impl CleaningRule {
            /// Every rule, in the order in which they apply.
            pub const ALL: &'static [CleaningRule] = &[$(CleaningRule::$rule,)+];

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(CleaningRule::$rule => $name,)+ }
            }

            /// Returns the effect of the rule.
            #[must_use]
            pub fn effect(self) -> CleaningEffect {
                match self { $(CleaningRule::$rule => CleaningEffect::$effect,)+ }
            }

            /// Returns the meaning of the rule, in words.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(CleaningRule::$rule => $meaning,)+ }
            }
        }
    };
}

rules! {
    MalformedLine = "malformed-line", Dropped, "The line is not a record.";
    PartialExecution = "partial-execution", Dropped, "A part of a job whose whole is the record before.";
    JoinedExecution = "joined-execution", Dropped, "A part of a job that has no record of the whole; its run time was added to the first part's.";
    OtherMonth = "other-month", Dropped, "The job did not end in the month of its submit.";
    RoundedTime = "rounded-time", Changed, "A submit, run time or estimate had a fraction and was rounded to whole seconds.";
    NegativeSubmit = "negative-submit", Dropped, "The submit is negative.";
    NegativeRun = "negative-run", Dropped, "The run time is negative or unknown.";
    NegativeRunZeroed = "negative-run-zeroed", Changed, "The run time was negative or unknown and became 0.";
    NegativeRunTen = "negative-run-ten", Changed, "The run time was negative or unknown and became 10 s.";
    ZeroRun = "zero-run", Dropped, "The run time is 0.";
    NoProcessors = "no-processors", Dropped, "No positive processor count in the chosen fields.";
    OtherSizeField = "other-size-field", Guessed, "The preferred size field is missing and the other one was taken.";
    TooWide = "too-wide", Dropped, "More processors than the machine has.";
    NoEstimate = "no-estimate", Dropped, "The estimate is missing.";
    GuessedEstimate = "guessed-estimate", Guessed, "The estimate is missing and was guessed.";
    RunsOn = "runs-on", Noted, "The job outlives its estimate and keeps its run time.";
    Killed = "killed", Changed, "The job outlives its estimate and its run time was cut there.";
    RaisedEstimate = "raised-estimate", Changed, "The job outlives its estimate, which was raised to the run time.";
    ExactEstimate = "exact-estimate", Changed, "The estimate was replaced by the run time.";
    IdOutOfRange = "id-out-of-range", Changed, "An attribute is beyond 32 bits and became unknown.";
    RepeatedNumber = "repeated-number", Noted, "The job number was used before.";
    DroppedNumber = "dropped-number", Dropped, "The job number was used before.";
    KeptNegativeSubmit = "kept-negative-submit", Noted, "The submit is negative, as an unknown one (-1) is, and stays so.";
    OutOfOrder = "out-of-order", Changed, "The submit is before that of a record further up; jobs were sorted by submit.";
    NotTaken = "not-taken", Dropped, "The job comes after the requested number of first jobs.";
}

impl fmt::Display for CleaningRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One record that a rule touched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The rule.
    pub rule: CleaningRule,
    /// The record's line.
    pub line: u64,
    /// The log's number of the job.
    pub number: i64,
    /// The field that mattered.
    pub field: RecordField,
    /// Original value.
    pub before: SwfDecimal,
    /// New value; `None` where the record was dropped or nothing was changed.
    pub after: Option<i64>,
}

/// The account of a cleaning.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Audit {
    /// Records read, malformed lines included.
    pub records: u64,
    /// Jobs made of them.
    pub jobs: u64,
    /// Number of records that each rule touched, in the order of [`CleaningRule::ALL`].
    counts: Vec<u64>,
    /// Work of the records that were dropped as too wide, in processor-seconds.
    #[serde(default)]
    pub too_wide_work: u64,
    /// Each record touched, where the options asked for it, in the order of the log; sorting and
    /// taking come last.
    pub entries: Vec<AuditEntry>,
    /// The malformed lines, where reading was lenient: the first 100,000 of them.
    pub malformed: Vec<Malformed>,
    /// Data in the log's lines beyond the fields of its format, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<String>,
}

impl Audit {
    /// Returns the number of records that `rule` touched.
    #[must_use]
    pub fn count_touched(&self, rule: CleaningRule) -> u64 {
        self.counts.get(rule as usize).copied().unwrap_or(0)
    }

    /// The rules that touched any record, and how many, in the order in which they apply.
    pub fn rule_counts(&self) -> impl Iterator<Item = (CleaningRule, u64)> + '_ {
        CleaningRule::ALL.iter().map(|rule| (*rule, self.count_touched(*rule))).filter(|(_, count)| *count > 0)
    }

    /// Returns the number of records dropped by any rule.
    #[must_use]
    pub fn dropped_count(&self) -> u64 {
        self.rule_counts().filter(|(rule, _)| rule.effect() == CleaningEffect::Dropped).map(|(_, count)| count).sum()
    }

    pub(super) fn add_count(&mut self, rule: CleaningRule, count: u64) {
        if self.counts.is_empty() {
            self.counts = vec![0; CleaningRule::ALL.len()];
        }
        self.counts[rule as usize] += count;
    }

    /// Writes the list as CSV: `rule,effect,line,job,field,before,after,note`.
    ///
    /// # Errors
    /// Writing failed.
    pub fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "rule,effect,line,job,field,before,after,note")?;
        for Malformed { line, column, expected, found } in &self.malformed {
            let rule = CleaningRule::MalformedLine;
            let note = format!("column {column}: expected {expected}, found {found}").replace('"', "\"\"");
            writeln!(out, "{rule},{},{line},,,,,\"{note}\"", rule.effect())?;
        }
        for entry in &self.entries {
            let AuditEntry { rule, line, number, field, before, after } = entry;
            let after = after.map_or(String::new(), |a| a.to_string());
            writeln!(out, "{rule},{},{line},{number},{},{before},{after},", rule.effect(), field.standard_number(),)?;
        }
        Ok(())
    }
}

/// The account for people: one line for each rule that touched any record.
impl fmt::Display for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |n: u64| if n == 1 { "" } else { "s" };
        write!(f, "{} record{}, {} job{}", self.records, s(self.records), self.jobs, s(self.jobs))?;
        for (rule, count) in self.rule_counts() {
            write!(f, "\n{count:>10} {:<8} {rule:<20} {}", rule.effect(), rule.meaning())?;
        }
        Ok(())
    }
}
