//! Options of the conversion of a log's records to jobs.

use super::choices::{Duplicates, Keep, MissingEstimate, NegativeRun, Overrun, SizeField, TooWide};
use super::study::CleaningStudy;
use crate::log::transform::LoadFactor;
use crate::model::{Procs, Setting};
use serde::{Deserialize, Serialize};

/// Conversion of a log's records to jobs. [`CleaningOptions::default`] is Drystone's own way;
/// [`CleaningStudy::options`] are those of papers.
///
/// ```
/// use drystone::log::clean::{CleaningOptions, CleaningStudy, Overrun};
///
/// // Jobs end at their estimates, and the first thousand count.
/// let options = CleaningOptions { overrun: Overrun::Kill, take: Some(1_000), ..CleaningOptions::default() };
/// assert!(options.build_settings(128).iter().any(|setting| (&*setting.name, &*setting.value) == ("overrun", "kill")));
/// // The choices of a paper.
/// assert_eq!(CleaningStudy::Tsafrir2007.options().study, Some(CleaningStudy::Tsafrir2007));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CleaningOptions {
    /// The study whose choices the others were set to before any was changed. It still gives the
    /// machine's size for the logs where the study used another than the header's.
    pub study: Option<CleaningStudy>,
    /// Size of the machine; else the study's, else the header's `MaxProcs`, else its `MaxNodes`.
    pub procs: Option<Procs>,
    /// Field that gives a job's size.
    pub size: SizeField,
    /// Substitute for a missing estimate.
    pub missing_estimate: MissingEstimate,
    /// True if every estimate counts as missing.
    pub replace_estimates: bool,
    /// Treatment of records with run time 0: kept as jobs, or dropped.
    pub zero_run: Keep,
    /// Treatment of records with a negative run time.
    pub negative_run: NegativeRun,
    /// Treatment of records with a negative submit: kept as jobs, or dropped.
    pub negative_submit: Keep,
    /// Treatment of jobs wider than the machine.
    pub too_wide: TooWide,
    /// Treatment of records that repeat a job number.
    pub duplicates: Duplicates,
    /// Treatment of a job that outlives its estimate.
    pub overrun: Overrun,
    /// Only the first this many jobs, in order of arrival.
    pub take: Option<usize>,
    /// True if only jobs count that ended in the month of their submit, as the log has it, with
    /// times seen as Talby & Feitelson saw them
    /// ([`talby1999_months`](crate::log::transform::talby1999_months)).
    pub same_month: bool,
    /// Submit times are divided by this.
    pub load: Option<LoadFactor>,
    /// True if times are shifted so that the first submit is 0.
    pub shift: bool,
    /// True if malformed lines are skipped and counted; otherwise they are errors.
    pub lenient: bool,
    /// True if each record dropped or changed is listed in the audit, not only counted.
    pub list: bool,
    /// True if the original records are kept beside the workload, to write it as a log again.
    pub records: bool,
}

impl CleaningOptions {
    /// The choices as settings, for people and for provenance. `procs` is the size of machine that
    /// was settled on.
    #[must_use]
    pub fn build_settings(&self, procs: Procs) -> Vec<Setting> {
        let mut settings = Vec::new();
        let mut add = |name: &str, value: String| {
            settings.push(Setting { name: name.to_string(), value });
        };
        if let Some(study) = self.study {
            add("as", study.to_string());
        }
        add("procs", procs.to_string());
        add("size", self.size.to_string());
        add("missing-estimate", self.missing_estimate.to_string());
        if self.replace_estimates {
            add("replace-estimates", "true".to_string());
        }
        add("zero-run", self.zero_run.to_string());
        add("negative-run", self.negative_run.to_string());
        add("negative-submit", self.negative_submit.to_string());
        add("too-wide", self.too_wide.to_string());
        add("duplicates", self.duplicates.to_string());
        add("overrun", self.overrun.to_string());
        if self.lenient {
            add("lenient", "true".to_string());
        }
        if let Some(take) = self.take {
            add("take", take.to_string());
        }
        if self.same_month {
            add("same-month", "true".to_string());
        }
        if let Some(load) = &self.load {
            add("load", load.to_string());
        }
        if self.shift {
            add("shift", "true".to_string());
        }
        settings
    }
}
