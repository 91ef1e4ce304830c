//! Distance of the simulated baseline from a site's records. No policy is called better or worse by
//! less.

use crate::output::number::{format_duration, format_fixed, format_percent, format_plural};
use crate::site::SiteInput;
use drystone::metrics::{Comparison, JobRow, Measure, Metric, MetricVerdict};
use serde::Serialize;

/// Run times below this count as this much in bounded slowdowns, as in every report.
const BOUND: f64 = 10.0;
/// Fewer jobs say nothing of a replay.
const LEAST: u64 = 10;

/// The jobs as they were recorded and as they were simulated.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub(crate) struct JobReplay {
    pub(crate) policy: String,
    /// Jobs that count and whose start is recorded.
    pub(crate) jobs: u64,
    /// The part of them that started within a minute of when they did.
    pub(crate) within_minute: f64,
    /// Mean waits, in seconds.
    pub(crate) wait: Miss,
    /// Mean response times, in seconds.
    pub(crate) response: Miss,
    /// Mean bounded slowdowns.
    pub(crate) bounded_slowdown: Miss,
}

/// A mean, recorded and simulated.
#[derive(Clone, Copy, PartialEq, Default, Serialize, Debug)]
pub(crate) struct Miss {
    pub(crate) recorded: f64,
    pub(crate) simulated: f64,
    /// Distance between the two: smaller differences between policies are not claimed.
    pub(crate) error: f64,
}

impl Miss {
    fn add(&mut self, log_wait: f64, simulated_wait: f64) {
        self.recorded += log_wait;
        self.simulated += simulated_wait;
    }

    fn mean_over(self, jobs: f64) -> Miss {
        let (mean_recorded, mean_simulated) = (self.recorded / jobs, self.simulated / jobs);
        Miss { recorded: mean_recorded, simulated: mean_simulated, error: (mean_recorded - mean_simulated).abs() }
    }
}

impl JobReplay {
    /// Of the rows of the baseline; `None` where too few starts are recorded.
    pub(crate) fn from_rows(site: &SiteInput, policy: &str, rows: &[JobRow]) -> Option<JobReplay> {
        let (mut wait, mut response, mut slowdown) = (Miss::default(), Miss::default(), Miss::default());
        let (mut jobs, mut near) = (0_u64, 0_u64);
        for row in rows.iter().filter(|row| row.counted) {
            let Some(log_wait) = site.recorded_wait(row.id.index()) else { continue };
            let (recorded_wait, simulated_wait, run) =
                (log_wait as f64, (row.start - row.submit).as_f64(), row.ran.as_f64());
            let bounded_slowdown = |wait: f64| ((wait + run) / run.max(BOUND)).max(1.0);
            wait.add(recorded_wait, simulated_wait);
            response.add(recorded_wait + run, simulated_wait + run);
            slowdown.add(bounded_slowdown(recorded_wait), bounded_slowdown(simulated_wait));
            jobs += 1;
            near += u64::from((recorded_wait - simulated_wait).abs() <= 60.0);
        }
        if jobs < LEAST {
            return None;
        }
        let job_count = jobs as f64;
        Some(JobReplay {
            policy: policy.to_string(),
            jobs,
            within_minute: near as f64 / job_count,
            wait: wait.mean_over(job_count),
            response: response.mean_over(job_count),
            bounded_slowdown: slowdown.mean_over(job_count),
        })
    }

    pub(crate) fn of_measure(&self, measure: Measure) -> Option<Miss> {
        match measure {
            Measure::Wait => Some(self.wait),
            Measure::Response => Some(self.response),
            Measure::BoundedSlowdown => Some(self.bounded_slowdown),
            _ => None,
        }
    }

    /// Takes back what a comparison claims by less than the replay is wrong.
    pub(crate) fn restrain_claims(&self, comparison: &mut Comparison) {
        for change in comparison.policies.iter_mut().flat_map(|policy| &mut policy.changes) {
            let Metric::Mean(measure) = change.metric else { continue };
            let (Some(miss), Some(value), Some(baseline)) = (self.of_measure(measure), change.value, change.baseline)
            else {
                continue;
            };
            let is_claimed = matches!(change.verdict, MetricVerdict::Better | MetricVerdict::Worse);
            if is_claimed && (value - baseline).abs() <= miss.error {
                change.verdict = MetricVerdict::InsideReplayError;
            }
        }
    }

    pub(crate) fn format_sentence(&self) -> String {
        let JobReplay { policy, wait, bounded_slowdown, .. } = self;
        format!(
            "Replay error: of {}, {} start under {policy} within a minute of their recorded start; mean wait {} against {} \
             recorded, mean bounded slowdown {} against {}. Differences between policies that are smaller than this error are not judged; \
             `drystone fidelity` says more.",
            format_plural(self.jobs, "job"),
            format_percent(Some(self.within_minute), 1),
            format_duration(wait.simulated),
            format_duration(wait.recorded),
            format_fixed(bounded_slowdown.simulated, 2),
            format_fixed(bounded_slowdown.recorded, 2),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::metrics::{ChangeEvidence, ComparedPolicy, IntervalOptions, MetricChange};

    fn miss(log_wait: f64, simulated_wait: f64) -> Miss {
        Miss { recorded: log_wait, simulated: simulated_wait, ..Miss::default() }.mean_over(1.0)
    }

    #[test]
    fn what_is_smaller_than_the_error_is_not_claimed() {
        let replay = JobReplay {
            policy: "easy".to_string(),
            jobs: 100,
            within_minute: 0.5,
            wait: miss(100.0, 130.0),
            response: miss(200.0, 230.0),
            bounded_slowdown: miss(3.0, 2.0),
        };
        let change = |measure, baseline: f64, value: f64, verdict| MetricChange {
            metric: Metric::Mean(measure),
            baseline: Some(baseline),
            value: Some(value),
            relative: Some(value / baseline - 1.0),
            interval: None,
            verdict,
            evidence: ChangeEvidence::default(),
        };
        let changes = vec![
            change(Measure::Wait, 130.0, 100.0, MetricVerdict::Better),
            change(Measure::Wait, 130.0, 99.0, MetricVerdict::Better),
            change(Measure::BoundedSlowdown, 2.0, 2.5, MetricVerdict::Worse),
            change(Measure::BoundedSlowdown, 2.0, 2.5, MetricVerdict::Unclear),
        ];
        let policies = vec![ComparedPolicy { name: "sjf".to_string(), changes }];
        let mut comparison = Comparison {
            baseline: "easy".to_string(),
            weeks: 9,
            basis: None,
            options: IntervalOptions::default(),
            policies,
        };
        replay.restrain_claims(&mut comparison);
        let verdicts: Vec<MetricVerdict> = comparison.policies[0].changes.iter().map(|c| c.verdict).collect();
        use MetricVerdict::{Better, InsideReplayError, Unclear};
        assert_eq!(verdicts, [InsideReplayError, Better, InsideReplayError, Unclear]);
    }
}
