//! Treatment of jobs that outlive their estimates: as in the log, and alternatives.

use crate::exit::CommandFailure;
use crate::output::number::{format_percent, format_plural};
use drystone::log::clean::{CleaningOptions, MissingEstimate, Overrun};
use drystone::log::swf::SwfRecord;
use drystone::log::transform::{Overrunning, treat_overruns};
use drystone::model::{Span, Workload};

drystone::word_enum! {
    /// Treatment of jobs that outlive their estimates.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(super) enum Treatment {
        /// They run on, as the log says that they did.
        RunOn = "run-on",
        /// They are killed at their estimates.
        Kill = "kill",
        /// Their estimates are raised to their run times.
        Raise = "raise",
    }
}

impl Treatment {
    /// Returns the treatment of `--overrun`; `None` where every estimate is the run time, so that
    /// no job outlives it.
    pub(super) fn from_overrun(overrun: Overrun) -> Option<Treatment> {
        match overrun {
            Overrun::RunOn => Some(Treatment::RunOn),
            Overrun::Kill => Some(Treatment::Kill),
            Overrun::Raise => Some(Treatment::Raise),
            Overrun::Exact => None,
        }
    }

    pub(super) fn other_treatments(self) -> impl Iterator<Item = Treatment> {
        Treatment::ALL.into_iter().filter(move |treatment| *treatment != self)
    }

    pub(super) fn sentence_beginning(self) -> &'static str {
        match self {
            Treatment::RunOn => "If they run on",
            Treatment::Kill => "If they are killed at the limit",
            Treatment::Raise => "With limits raised to their run times",
        }
    }

    /// An adverb for it, where the jobs have not been named.
    pub(super) fn where_used(self) -> &'static str {
        match self {
            Treatment::RunOn => "where jobs run on past their limits",
            Treatment::Kill => "where jobs that run past their limits are killed",
            Treatment::Raise => "where limits are raised to run times",
        }
    }

    /// Describes the assumption about this many jobs.
    pub(super) fn describe_assumption(self, jobs: u64, share: f64) -> String {
        let (jobs, share) = (format_plural(jobs, "job"), format_percent(Some(share), 1));
        match self {
            Treatment::RunOn => format!("{jobs} ({share}) ran past their time limit."),
            Treatment::Kill => {
                format!("{jobs} ({share}) ran past their time limit in the log; here they are killed at the limit.")
            }
            Treatment::Raise => format!(
                "{jobs} ({share}) ran past their time limit in the log; here their limits are raised to their run times, \
                 which no scheduler can know."
            ),
        }
    }

    /// Jobs that run on, treated so.
    pub(super) fn treat_workload(self, workload: &Workload) -> Result<Workload, CommandFailure> {
        match self {
            Treatment::RunOn => Ok(workload.clone()),
            Treatment::Kill => treat_overruns(workload.clone(), Overrunning::Kill).map_err(CommandFailure::usage_error),
            Treatment::Raise => {
                treat_overruns(workload.clone(), Overrunning::Raise).map_err(CommandFailure::usage_error)
            }
        }
    }

    /// Takes the treatment back: the same jobs as the log has them. `records` are theirs, in the
    /// same order.
    pub(super) fn restore_workload(
        self,
        workload: &Workload,
        records: &[SwfRecord],
        options: &CleaningOptions,
    ) -> Result<Workload, CommandFailure> {
        let resources = workload.resources().cloned();
        let circumstances = workload.circumstances().cloned().unwrap_or_default();
        let (machine, mut jobs, mut truth, provenance) = workload.clone().into_parts();
        for ((job, truth), record) in jobs.iter_mut().zip(&mut truth).zip(records) {
            match self {
                Treatment::RunOn => {}
                Treatment::Kill => truth.run = truth.run.max(Span(record.run.round())),
                Treatment::Raise => {
                    job.estimate = job.estimate.min(stated_estimate(record, options).unwrap_or(job.estimate))
                }
            }
        }
        let undone = Workload::with_resources(machine, resources, jobs, truth, provenance);
        undone.and_then(|undone| undone.with_circumstances(circumstances)).map_err(CommandFailure::usage_error)
    }
}

/// The estimate before it was raised; `None` where the run time stands for it anyway.
fn stated_estimate(record: &SwfRecord, options: &CleaningOptions) -> Option<Span> {
    let requested_seconds = record.requested_time.round();
    match options.missing_estimate {
        _ if requested_seconds > 0 && !options.replace_estimates => Some(Span(requested_seconds)),
        MissingEstimate::Seconds(span) => Some(span),
        _ => None,
    }
}

/// Returns the number of jobs that outlive their estimates.
pub(super) fn count_overrunning(workload: &Workload) -> u64 {
    workload.jobs().iter().zip(workload.truth()).filter(|(job, truth)| truth.run > job.estimate).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::log::clean::Cleaner;
    use drystone::log::swf::SwfHeader;

    /// Cleaned with any treatment, the jobs are those of the log again once it is undone.
    #[test]
    fn what_cleaning_did_can_be_undone() {
        // Run times and estimates; the last has none and gets 20 s.
        let times = [(100, 100), (150, 100), (40, 100), (0, 1), (30, -1)];
        let records: Vec<SwfRecord> = times
            .iter()
            .enumerate()
            .map(|(i, &(run, estimate))| SwfRecord {
                number: i as i64,
                submit: (i as i64).into(),
                run: i64::into(run),
                requested: 1,
                requested_time: i64::into(estimate),
                ..SwfRecord::default()
            })
            .collect();
        let clean = |overrun| {
            let options = CleaningOptions {
                overrun,
                missing_estimate: MissingEstimate::Seconds(Span(20)),
                records: true,
                procs: Some(4),
                ..CleaningOptions::default()
            };
            let mut cleaner = Cleaner::new(&SwfHeader::new(), options.clone(), "log", "log").expect("a machine");
            records.iter().for_each(|record| cleaner.push(record).expect("a job"));
            let (workload, _, records) = cleaner.finish().expect("jobs");
            (workload, records.expect("kept"), options)
        };
        let pairs = |workload: &Workload| -> Vec<(i64, i64)> {
            workload.jobs().iter().zip(workload.truth()).map(|(job, truth)| (truth.run.0, job.estimate.0)).collect()
        };
        let (log_workload, _, _) = clean(Overrun::RunOn);
        assert_eq!(pairs(&log_workload), [(100, 100), (150, 100), (40, 100), (0, 1), (30, 20)]);
        assert_eq!(count_overrunning(&log_workload), 2);
        for overrun in [Overrun::Kill, Overrun::Raise] {
            let (workload, records, options) = clean(overrun);
            assert_eq!(count_overrunning(&workload), 0);
            let treatment = Treatment::from_overrun(overrun).expect("one of three");
            let undone = treatment.restore_workload(&workload, &records, &options).expect("possible");
            assert_eq!(pairs(&undone), pairs(&log_workload), "{overrun:?}");
            assert_eq!(
                pairs(&treatment.treat_workload(&log_workload).expect("possible")),
                pairs(&workload),
                "{overrun:?}"
            );
        }
        assert_eq!(Treatment::Kill.other_treatments().map(Treatment::name).collect::<Vec<_>>(), ["run-on", "raise"]);
    }
}
