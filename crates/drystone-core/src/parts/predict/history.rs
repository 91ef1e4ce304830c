//! A window of terminated jobs whose summary is kept up to date as jobs come and go.

use super::recent_options::{RecentOptions, RecentWindow, WindowMetric};
use crate::model::Span;
use serde::{Deserialize, Serialize};

/// A terminated job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PastJob {
    /// Larger is more recent.
    pub(super) rank: u64,
    pub(super) estimate: Span,
    pub(super) run: Span,
}

/// Prediction of a window for jobs like the newest in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WindowPrediction {
    /// Too few jobs.
    Nothing,
    /// The metric of those that count.
    Run(Span),
}

/// A window of the most recent jobs. All of them count, or, where it is
/// [`RecentWindow::Immediate`], as many of the last as have the estimate of the newest.
///
/// Cost for a window of n jobs: [`JobHistory::remember_job`] amortised O(1) if jobs come in order
/// of rank, for a median O(n), which moves numbers in a sorted array;
/// [`JobHistory::window_prediction`] O(1), but O(n) where the job that was the minimum or maximum
/// has been forgotten, and O(n log n) where a late comer has cut a run of similar jobs short.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct JobHistory {
    /// The newest last. The first ones are forgotten already: see [`JobHistory::window_jobs`].
    past: Vec<PastJob>,
    forgotten: usize,
    // What follows from the jobs is not saved with them.
    /// Cached prediction.
    #[serde(skip)]
    foretells: Option<WindowPrediction>,
    #[serde(skip)]
    tally: RunTimeTally,
}

/// The run times that count, summarised as a metric needs them.
#[derive(Clone, Debug, Default)]
struct RunTimeTally {
    /// True if the rest is valid; otherwise it is recomputed on demand.
    known: bool,
    /// Describes the number of jobs that count.
    jobs: usize,
    /// The sum of their run times, the least or the greatest.
    value: i64,
    /// For a median: in order.
    sorted: Vec<i64>,
}

impl JobHistory {
    #[inline]
    pub(super) fn newest_job(&self) -> Option<&PastJob> {
        self.past.last()
    }

    #[inline]
    fn window_jobs(&self) -> &[PastJob] {
        &self.past[self.forgotten.min(self.past.len())..]
    }

    /// Forgets the oldest job in the window. Room is made once for as many as a window holds.
    #[inline]
    fn forget_oldest(&mut self, size: usize) {
        self.forgotten += 1;
        if self.forgotten >= size {
            self.past.drain(..self.forgotten.min(self.past.len()));
            self.forgotten = 0;
        }
    }

    #[inline]
    pub(super) fn window_prediction(&mut self, o: &RecentOptions) -> WindowPrediction {
        match self.foretells {
            Some(prediction) => prediction,
            None => self.compute_prediction(o),
        }
    }

    fn compute_prediction(&mut self, o: &RecentOptions) -> WindowPrediction {
        if !self.tally.known {
            let from = self.forgotten.min(self.past.len());
            self.tally.recount_jobs(&self.past[from..], o);
        }
        let jobs = self.tally.jobs;
        let foretold = if jobs == 0 || (o.full && jobs < o.size) {
            WindowPrediction::Nothing
        } else {
            WindowPrediction::Run(self.tally.compute_metric(o.metric))
        };
        self.foretells = Some(foretold);
        foretold
    }

    /// Adds a job in order of rank and forgets the oldest beyond the size of the window.
    #[inline]
    pub(super) fn remember_job(&mut self, job: PastJob, o: &RecentOptions) {
        // Most jobs end nearly in the order in which they are recent.
        let window = self.window_jobs();
        let later = window.iter().rposition(|p| p.rank < job.rank).map_or(window.len(), |at| window.len() - 1 - at);
        if window.len() >= o.size {
            if later == window.len() {
                return;
            }
            if self.tally.jobs == window.len() {
                self.tally.forget_run(window[0].run, o.metric);
            }
            self.forget_oldest(o.size);
        }
        let similar = match (o.window, self.newest_job()) {
            (RecentWindow::Immediate, Some(newest)) => newest.estimate == job.estimate,
            _ => true,
        };
        if later == 0 {
            if !similar {
                self.tally.clear();
            }
            self.tally.add_run(job.run, o.metric);
            self.past.push(job);
        } else {
            if similar && later <= self.tally.jobs {
                self.tally.add_run(job.run, o.metric);
            } else if later < self.tally.jobs {
                self.tally.known = false;
            }
            self.past.insert(self.past.len() - later, job);
        }
        self.foretells = None;
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.window_jobs().len()
    }
}

impl RunTimeTally {
    /// Nothing counts.
    #[inline]
    fn clear(&mut self) {
        (self.known, self.jobs) = (true, 0);
        self.sorted.clear();
    }

    /// Counts everything again.
    fn recount_jobs(&mut self, past: &[PastJob], o: &RecentOptions) {
        self.clear();
        let newest = past.last().map(|p| p.estimate);
        let counts = |p: &&PastJob| o.window != RecentWindow::Immediate || Some(p.estimate) == newest;
        for job in past.iter().rev().take_while(counts) {
            self.jobs += 1;
            match o.metric {
                WindowMetric::Median => self.sorted.push(job.run.0),
                metric => self.value = combine_metric(metric, self.jobs, self.value, job.run.0),
            }
        }
        self.sorted.sort_unstable();
    }

    #[inline]
    fn add_run(&mut self, run: Span, metric: WindowMetric) {
        self.jobs += 1;
        if !self.known {
            return;
        }
        if metric == WindowMetric::Median {
            let at = self.sorted.partition_point(|&value| value < run.0);
            self.sorted.insert(at, run.0);
        } else {
            self.value = combine_metric(metric, self.jobs, self.value, run.0);
        }
    }

    /// One of those that counted does no more.
    #[inline]
    fn forget_run(&mut self, run: Span, metric: WindowMetric) {
        self.jobs -= 1;
        if !self.known {
            return;
        }
        match metric {
            WindowMetric::Average => self.value -= run.0,
            WindowMetric::Min | WindowMetric::Max => self.known = run.0 != self.value,
            WindowMetric::Median => {
                let at = self.sorted.partition_point(|&value| value < run.0);
                self.sorted.remove(at);
            }
        }
    }

    /// The metric of those that count, at least one.
    fn compute_metric(&self, metric: WindowMetric) -> Span {
        Span(match metric {
            WindowMetric::Average => self.value.div_euclid(self.jobs as i64),
            WindowMetric::Min | WindowMetric::Max => self.value,
            WindowMetric::Median => {
                let middle = self.sorted.len() / 2;
                if self.sorted.len() % 2 == 1 {
                    self.sorted[middle]
                } else {
                    (self.sorted[middle - 1] + self.sorted[middle]).div_euclid(2)
                }
            }
        })
    }
}

/// The value of this many jobs, from that of all but one and the run time of this one.
#[inline]
fn combine_metric(metric: WindowMetric, jobs: usize, value: i64, run: i64) -> i64 {
    match metric {
        _ if jobs == 1 => run,
        WindowMetric::Min => value.min(run),
        WindowMetric::Max => value.max(run),
        WindowMetric::Average | WindowMetric::Median => value + run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// From all jobs there ever were: the last ones by rank, those of them that count, and their
    /// metric.
    fn obvious(past: &[PastJob], o: &RecentOptions) -> WindowPrediction {
        let mut window = past.to_vec();
        window.sort_by_key(|p| p.rank);
        let window = &window[window.len().saturating_sub(o.size)..];
        let counts =
            |p: &&PastJob| o.window != RecentWindow::Immediate || Some(p.estimate) == window.last().map(|p| p.estimate);
        let mut runs: Vec<i64> = window.iter().rev().take_while(counts).map(|p| p.run.0).collect();
        if runs.is_empty() || (o.full && runs.len() < o.size) {
            return WindowPrediction::Nothing;
        }
        runs.sort_unstable();
        let (n, middle) = (runs.len(), runs.len() / 2);
        WindowPrediction::Run(Span(match o.metric {
            WindowMetric::Average => runs.iter().sum::<i64>() / n as i64,
            WindowMetric::Min => runs[0],
            WindowMetric::Max => runs[n - 1],
            WindowMetric::Median if n % 2 == 1 => runs[middle],
            WindowMetric::Median => (runs[middle - 1] + runs[middle]) / 2,
        }))
    }

    proptest! {
        /// Jobs end in any order of their ranks, and the window is asked after some of them, or
        /// saved and restored.
        #[test]
        fn a_window_foretells_what_its_jobs_say(
            size in 1usize..7,
            jobs in prop::collection::vec((0u64..12, 1i64..3, 0i64..9, 0u8..8), 0..80),
        ) {
            for window in [RecentWindow::All, RecentWindow::Immediate] {
                for metric in [WindowMetric::Average, WindowMetric::Median, WindowMetric::Min, WindowMetric::Max] {
                    for full in [false, true] {
                        let o = RecentOptions { size, window, metric, full, ..RecentOptions::default() };
                        let (mut history, mut past) = (JobHistory::default(), Vec::new());
                        for (i, &(late, estimate, run, then)) in jobs.iter().enumerate() {
                            // Half of them in order, the others later than up to six that came
                            // after them; never two of one rank.
                            let rank = 100 * (i as u64 + 6 - late.saturating_sub(5)) + i as u64;
                            let job = PastJob { rank, estimate: Span(estimate), run: Span(run) };
                            history.remember_job(job, &o);
                            past.push(job);
                            if then > 1 {
                                prop_assert_eq!(history.window_prediction(&o), obvious(&past, &o), "{:?} {}", &o, i);
                            }
                            if then == 7 {
                                let bytes = postcard::to_stdvec(&history).expect("saves");
                                history = postcard::from_bytes(&bytes).expect("loads");
                            }
                            prop_assert!(history.len() <= size && history.past.len() < 2 * size.max(1));
                        }
                    }
                }
            }
        }
    }
}
