//! Predictions from a user's recent jobs (Tsafrir, Etsion & Feitelson 2007, sections 3.1 and 7).

use super::history::{JobHistory, PastJob, WindowPrediction};
use super::recent_options::{AboveEstimate, Fallback, Recency, RecentOptions, RecentWindow};
use super::{Prediction, Predictor, Propagation};
use crate::model::{Job, JobId, Span, Time};
use crate::parts::by_user::ByUser;
use serde::{Deserialize, Serialize};

/// Predicts from the run times of a user's recent jobs.
///
/// Memory: at most twice `size` jobs per user; with an extended window as many for each of the
/// user's 256 most recently used estimates. Jobs whose user the log does not know share one
/// history, as if they were one user's.
///
/// Cost: amortised O(1) to learn and to predict, if jobs end nearly in the order in which they are
/// recent; for a median learning is O(size), and after an end out of that order or of an extreme
/// the next prediction may be O(size log size).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RecentPredictor {
    options: RecentOptions,
    users: ByUser<RecentUser>,
    /// Terminations so far.
    clock: u64,
}

/// Different estimates of one user that an extended window remembers.
pub(crate) const KINDS: usize = 256;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct RecentUser {
    /// The window of all jobs; unused with an extended window.
    recent: JobHistory,
    /// The different estimates of the user's jobs, in order; for extended windows only.
    estimates: Vec<Span>,
    /// The window of similar jobs for each of them.
    similar: Vec<Similar>,
    /// Position of the last estimate: users repeat themselves.
    #[serde(skip)]
    last: usize,
    /// Sum of accuracies of the user's estimates, and their number; for relative fallbacks only.
    accuracy: f64,
    jobs: u64,
}

/// The window of the jobs of one estimate.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Similar {
    /// Time of last use.
    used: u64,
    history: JobHistory,
}

impl RecentPredictor {
    /// A predictor without history.
    #[must_use]
    pub fn new(options: RecentOptions) -> RecentPredictor {
        RecentPredictor { options, users: ByUser::default(), clock: 0 }
    }
}

impl RecentUser {
    fn fallback_span(&self, fallback: Fallback, estimate: Span) -> Span {
        match fallback {
            Fallback::Relative if self.jobs > 0 => {
                Span((estimate.as_f64() * (self.accuracy / self.jobs as f64)).floor() as i64)
            }
            Fallback::Relative | Fallback::Estimate => estimate,
        }
    }

    #[inline]
    fn window_prediction(&mut self, o: &RecentOptions, estimate: Span) -> WindowPrediction {
        match o.window {
            RecentWindow::All => self.recent.window_prediction(o),
            // The leading run of similar jobs is empty unless the newest is similar.
            RecentWindow::Immediate if self.recent.newest_job().is_some_and(|p| p.estimate == estimate) => {
                self.recent.window_prediction(o)
            }
            RecentWindow::Immediate => WindowPrediction::Nothing,
            RecentWindow::Extended => match self.place_of(estimate) {
                Ok(at) => self.similar[at].history.window_prediction(o),
                Err(_) => WindowPrediction::Nothing,
            },
        }
    }

    /// Returns the position of an estimate's window, or the one at which to insert it.
    #[inline]
    fn place_of(&mut self, estimate: Span) -> Result<usize, usize> {
        if self.estimates.get(self.last) != Some(&estimate) {
            self.last = self.estimates.binary_search(&estimate)?;
        }
        Ok(self.last)
    }

    /// The window of an estimate; a new one if there is none yet, where the one that was not used
    /// for longest goes if there are too many.
    fn similar_to(&mut self, estimate: Span) -> &mut Similar {
        let at = match self.place_of(estimate) {
            Ok(at) => at,
            Err(mut at) => {
                if self.similar.len() >= KINDS
                    && let Some(oldest) = (0..self.similar.len()).min_by_key(|&i| self.similar[i].used)
                {
                    self.estimates.remove(oldest);
                    self.similar.remove(oldest);
                    at -= usize::from(oldest < at);
                }
                self.estimates.insert(at, estimate);
                self.similar.insert(at, Similar { used: 0, history: JobHistory::default() });
                at
            }
        };
        &mut self.similar[at]
    }
}

impl Predictor for RecentPredictor {
    fn name(&self) -> &str {
        "recent"
    }

    fn predict(&mut self, _: JobId, job: &Job, _: Option<Span>) -> Prediction {
        let o = &self.options;
        let Some(user) = self.users.get_mut(job.user) else { return Prediction::from_given(job.estimate) };
        match (user.window_prediction(o, job.estimate), o.above) {
            (WindowPrediction::Nothing, _) => Prediction::from_given(user.fallback_span(o.fallback, job.estimate)),
            (WindowPrediction::Run(run), AboveEstimate::Discard) if run > job.estimate => {
                Prediction::from_given(job.estimate)
            }
            (WindowPrediction::Run(run), AboveEstimate::Clip) => Prediction::from_learned(run.min(job.estimate)),
            (WindowPrediction::Run(run), AboveEstimate::Discard | AboveEstimate::Keep) => Prediction::from_learned(run),
        }
    }

    fn learn_from_end(&mut self, id: JobId, job: &Job, ran: Span, _: Time) {
        self.clock += 1;
        let o = &self.options;
        let rank = match o.recency {
            Recency::Submission => u64::from(id.0),
            Recency::Termination => self.clock,
        };
        let past = PastJob { rank, estimate: job.estimate, run: ran };
        let user = self.users.value_of(job.user);
        if o.window == RecentWindow::Extended {
            let similar = user.similar_to(job.estimate);
            similar.used = self.clock;
            similar.history.remember_job(past, o);
        } else {
            user.recent.remember_job(past, o);
        }
        if o.fallback == Fallback::Relative {
            user.accuracy += if ran < job.estimate { ran.as_f64() / job.estimate.as_f64() } else { 1.0 };
            user.jobs += 1;
        }
    }

    fn propagation(&self) -> Propagation {
        self.options.propagation
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::predict::WindowMetric;

    fn job(user: i32, estimate: i64) -> Job {
        Job::new(Time::ZERO, 1, Span(estimate)).with_user(user)
    }

    /// Jobs (id, estimate, run) of user 1 in order of termination, then the prediction for an
    /// estimate.
    fn after(options: RecentOptions, past: &[(u32, i64, i64)], estimate: i64) -> i64 {
        let mut p = RecentPredictor::new(options);
        for &(id, estimate, run) in past {
            p.learn_from_end(JobId(id), &job(1, estimate), Span(run), Time::ZERO);
        }
        p.predict(JobId(99), &job(1, estimate), None).run.0
    }

    const D: fn() -> RecentOptions = RecentOptions::default;

    #[test]
    fn the_last_two_in_order_of_submission() {
        // Job 3 terminates first and job 1 last, but 2 and 3 are the last submitted: (20 + 31) / 2.
        let past = [(3, 100, 31), (2, 100, 20), (1, 100, 70)];
        assert_eq!(after(D(), &past, 100), 25);
        assert_eq!(after(RecentOptions { recency: Recency::Termination, ..D() }, &past, 100), 45);
    }

    #[test]
    fn without_enough_history_the_estimate() {
        assert_eq!(after(D(), &[], 100), 100);
        assert_eq!(after(D(), &[(1, 100, 10)], 100), 100);
        assert_eq!(after(RecentOptions { full: false, ..D() }, &[(1, 100, 10)], 100), 10);
    }

    #[test]
    fn a_prediction_above_the_estimate_is_discarded_clipped_or_kept() {
        let past = [(1, 100, 80), (2, 100, 90)];
        assert_eq!(after(D(), &past, 50), 50);
        assert_eq!(after(RecentOptions { above: AboveEstimate::Clip, ..D() }, &past, 50), 50);
        assert_eq!(after(RecentOptions { above: AboveEstimate::Keep, ..D() }, &past, 50), 85);
    }

    #[test]
    fn similar_jobs_have_the_same_estimate() {
        let past = [(1, 60, 10), (2, 60, 20), (3, 90, 40)];
        let immediate = RecentOptions { window: RecentWindow::Immediate, ..D() };
        let extended_window = RecentOptions { window: RecentWindow::Extended, ..D() };
        assert_eq!(after(immediate, &past, 60), 60, "the last job is not similar");
        assert_eq!(after(extended_window, &past, 60), 15);
        assert_eq!(after(immediate, &past[..2], 60), 15);
        let partial = RecentOptions { full: false, ..immediate };
        assert_eq!(after(partial, &past, 90), 40, "the leading run of similar jobs");
    }

    #[test]
    fn metrics_of_a_window_of_four() {
        let past = [(1, 100, 10), (2, 100, 20), (3, 100, 31), (4, 100, 60)];
        let of = |metric| after(RecentOptions { size: 4, metric, ..D() }, &past, 100);
        assert_eq!(
            [of(WindowMetric::Average), of(WindowMetric::Median), of(WindowMetric::Min), of(WindowMetric::Max)],
            [121 / 4, 51 / 2, 10, 60]
        );
    }

    #[test]
    fn the_relative_fallback_scales_by_the_users_accuracy() {
        // Accuracies 0.5 and 1 (the overrun counts as 1): 100 × 0.75.
        let relative = RecentOptions { size: 3, fallback: Fallback::Relative, ..D() };
        assert_eq!(after(relative, &[(1, 100, 50), (2, 100, 130)], 100), 75);
        assert_eq!(after(relative, &[], 100), 100);
    }

    /// Every combination of the seven parameters of section 7, and what other studies add.
    fn all_options(size: usize) -> Vec<RecentOptions> {
        let mut options = Vec::new();
        for window in [RecentWindow::All, RecentWindow::Immediate, RecentWindow::Extended] {
            for metric in [WindowMetric::Average, WindowMetric::Median, WindowMetric::Min, WindowMetric::Max] {
                for (full, relative, termination) in (0..8).map(|i| (i & 1 > 0, i & 2 > 0, i & 4 > 0)) {
                    for above in [AboveEstimate::Discard, AboveEstimate::Clip, AboveEstimate::Keep] {
                        let fallback = if relative { Fallback::Relative } else { Fallback::Estimate };
                        let recency = if termination { Recency::Termination } else { Recency::Submission };
                        options.push(RecentOptions { size, window, full, metric, fallback, recency, above, ..D() });
                    }
                }
            }
        }
        options
    }

    proptest::proptest! {
        #[test]
        fn canonical_options_predict_the_same(
            size in 1usize..5,
            past in proptest::collection::vec((0u32..40, 0i32..3, 1i64..5, 0i64..8), 0..40),
        ) {
            for options in all_options(size) {
                let (mut first_predictor, mut canonical_predictor) = (RecentPredictor::new(options), RecentPredictor::new(options.into_canonical()));
                for &(id, user, estimate, run) in &past {
                    let job = job(user, estimate);
                    let prediction = first_predictor.predict(JobId(id), &job, None);
                    proptest::prop_assert_eq!(prediction, canonical_predictor.predict(JobId(id), &job, None), "{:?}", options);
                    first_predictor.learn_from_end(JobId(id), &job, Span(run), Time::ZERO);
                    canonical_predictor.learn_from_end(JobId(id), &job, Span(run), Time::ZERO);
                }
            }
        }
    }

    #[test]
    fn only_what_predicts_the_same_is_merged() {
        // Each step away from a window of two of all jobs shows with some history, so it must stay.
        let past = [(1, 60, 10), (2, 90, 40), (3, 60, 21)];
        let variants = [
            RecentOptions { size: 3, ..D() },
            RecentOptions { window: RecentWindow::Immediate, ..D() },
            RecentOptions { window: RecentWindow::Extended, ..D() },
            RecentOptions { metric: WindowMetric::Min, ..D() },
            RecentOptions { metric: WindowMetric::Max, ..D() },
            RecentOptions { size: 3, metric: WindowMetric::Median, ..D() },
        ];
        for options in variants {
            let (mine, default_run) = (after(options, &past, 60), after(D(), &past, 60));
            assert!(mine != default_run && options.into_canonical() == options, "{options:?}: {mine}");
        }
        let relative = RecentOptions { size: 4, fallback: Fallback::Relative, ..D() };
        assert!(after(relative, &past, 60) < 60 && relative.into_canonical() == relative);
        let extended_window =
            RecentOptions { size: 1, window: RecentWindow::Extended, fallback: Fallback::Relative, ..D() };
        assert!(after(extended_window, &past, 70) < 70 && extended_window.into_canonical() == extended_window);
        let partial = RecentOptions { size: 4, full: false, ..D() };
        assert!(after(partial, &past, 60) < 60 && partial.into_canonical() == partial);
    }

    #[test]
    fn memory_is_bounded_per_user() {
        let mut p = RecentPredictor::new(RecentOptions { window: RecentWindow::Extended, ..D() });
        for i in 0..10_000u32 {
            p.learn_from_end(JobId(i), &job(1, i64::from(i)), Span(1), Time::ZERO);
        }
        assert_eq!(p.users.value_of(1).similar.len(), KINDS);
        let mut p = RecentPredictor::new(RecentOptions { size: 30, ..D() });
        (0..10_000).for_each(|i| p.learn_from_end(JobId(i), &job(1, 5), Span(1), Time::ZERO));
        assert_eq!(p.users.value_of(1).recent.len(), 30);
    }
}
