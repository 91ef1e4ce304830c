//! Into which queue a job goes.

use super::settings::{QueueBorders, QueueSettings};
use crate::model::{Procs, Span};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Most classes of run times that borders made from history may have.
const MOST: u32 = 8;

/// The borders in force, and the history they are made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct QueueClasses {
    runs: Vec<Span>,
    widths: Vec<Procs>,
    /// Number of queues asked for and arrivals looked back on, where borders follow history.
    auto: Option<(Option<u32>, usize)>,
    /// Predicted run times of the last arrivals.
    history: VecDeque<Span>,
    /// Arrivals since the borders were made.
    since: usize,
}

impl QueueClasses {
    pub(super) fn new(settings: &QueueSettings) -> QueueClasses {
        let (runs, auto) = match &settings.borders {
            QueueBorders::Fixed(runs) => (runs.clone(), None),
            // Until there is history: the paper's.
            QueueBorders::Auto { queues, history } => {
                (vec![Span(100), Span(1_000), Span(10_000)], Some((*queues, *history as usize)))
            }
        };
        QueueClasses { runs, widths: settings.widths.clone(), auto, history: VecDeque::new(), since: 0 }
    }

    /// Upper borders of run times, ascending.
    pub(super) fn borders(&self) -> &[Span] {
        &self.runs
    }

    pub(super) fn queue_count(&self) -> usize {
        (self.runs.len() + 1) * self.per_run()
    }

    /// The most queues there can ever be.
    pub(super) fn max_queues(&self) -> usize {
        let auto = self.auto.map_or(0, |(queues, _)| queues.unwrap_or(MOST) as usize * self.per_run());
        self.queue_count().max(auto)
    }

    fn per_run(&self) -> usize {
        self.widths.len() + 1
    }

    /// The queue of a job: run times first, widths within.
    #[inline]
    pub(super) fn queue_of(&self, prediction: Span, procs: Procs) -> usize {
        let run = self.runs.iter().take_while(|&&b| prediction > b).count();
        if self.widths.is_empty() {
            return run;
        }
        run * self.per_run() + self.widths.iter().take_while(|&&b| procs > b).count()
    }

    #[inline]
    pub(super) fn is_short(&self, class: usize) -> bool {
        class < self.per_run()
    }

    #[inline]
    pub(super) fn is_long(&self, class: usize) -> bool {
        class + self.per_run() >= self.queue_count()
    }

    /// Learns from an arrival. Returns whether the borders have moved.
    #[inline]
    pub(super) fn learn_arrival(&mut self, prediction: Span) -> bool {
        let Some((queues, length)) = self.auto else { return false };
        if self.history.len() == length {
            self.history.pop_front();
        }
        self.history.push_back(prediction);
        self.since += 1;
        if self.since < length {
            return false;
        }
        self.since = 0;
        let mut sorted_predictions: Vec<Span> = self.history.iter().copied().collect();
        sorted_predictions.sort_unstable();
        let runs = match queues {
            Some(queues) => quantile_borders(&sorted_predictions, queues),
            None => (1..MOST)
                .map(|q| quantile_borders(&sorted_predictions, q))
                .find(|b| are_parts_even(&sorted_predictions, b))
                .unwrap_or_else(|| quantile_borders(&sorted_predictions, MOST)),
        };
        let has_moved = runs != self.runs;
        self.runs = runs;
        has_moved
    }
}

/// Borders that cut sorted run times into this many parts with equally many jobs, as far as ties
/// allow.
fn quantile_borders(spans: &[Span], parts: u32) -> Vec<Span> {
    let parts = parts as usize;
    let mut borders: Vec<Span> = (1..parts).filter_map(|i| spans.get(i * spans.len() / parts).copied()).collect();
    borders.dedup();
    // Above the last border there must be a job.
    while borders.last().is_some_and(|b| spans.last() <= Some(b)) {
        borders.pop();
    }
    borders
}

/// Returns whether no part has a coefficient of variation above 1.
fn are_parts_even(spans: &[Span], borders: &[Span]) -> bool {
    let mut from = 0;
    for border in borders.iter().chain([&Span::MAX]) {
        let to = spans.partition_point(|s| s <= border);
        if coefficient_of_variation(&spans[from..to]) > 1.0 {
            return false;
        }
        from = to;
    }
    true
}

/// Coefficient of variation; 0 without spread.
fn coefficient_of_variation(values: &[Span]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v.as_f64()).sum::<f64>() / n;
    if values.is_empty() || mean <= 0.0 {
        return 0.0;
    }
    let square = values.iter().map(|v| (v.as_f64() - mean).powi(2)).sum::<f64>() / n;
    square.sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(borders: QueueBorders, widths: &[Procs]) -> QueueClasses {
        QueueClasses::new(&QueueSettings { borders, widths: widths.to_vec(), ..QueueSettings::default() })
    }

    #[test]
    fn borders_belong_to_the_lower_class() {
        let c = QueueClasses::new(&QueueSettings::default());
        let of = |run| c.queue_of(Span(run), 1);
        assert_eq!([0, 1, 100, 101, 1_000, 1_001, 10_000, 10_001].map(of), [0, 0, 0, 1, 1, 2, 2, 3]);
        assert!(c.is_short(0) && !c.is_short(1) && c.is_long(3) && !c.is_long(2));
    }

    #[test]
    fn widths_split_every_class() {
        let c = classes(QueueBorders::Fixed(vec![Span(60)]), &[1, 8]);
        assert_eq!(c.queue_count(), 6);
        assert_eq!(
            [(60, 1), (60, 2), (60, 9), (61, 1), (61, 8), (61, 99)].map(|(r, p)| c.queue_of(Span(r), p)),
            [0, 1, 2, 3, 4, 5]
        );
        assert!(c.is_short(2) && !c.is_short(3) && c.is_long(3) && !c.is_long(2));
    }

    #[test]
    fn history_moves_the_borders() {
        let mut c = classes(QueueBorders::Auto { queues: Some(4), history: 8 }, &[]);
        let decisions: Vec<bool> = (1..=8).map(|i| c.learn_arrival(Span(i * 10))).collect();
        assert_eq!(decisions, [false, false, false, false, false, false, false, true]);
        // A border is the first run time of the next eighth: 30, 50, 70 and everything above.
        assert_eq!(c.borders(), [Span(30), Span(50), Span(70)]);
        // Equal run times need one queue, however many were asked for.
        (0..8).for_each(|_| {
            c.learn_arrival(Span(5));
        });
        assert_eq!((c.borders(), c.queue_count()), (&[][..], 1));
    }

    #[test]
    fn as_few_queues_as_even_run_times_need() {
        let mut c = classes(QueueBorders::Auto { queues: None, history: 100 }, &[]);
        (0..100).for_each(|i| {
            c.learn_arrival(Span(100 + i));
        });
        assert_eq!(c.queue_count(), 1);
        // Half seconds, half days: two queues separate them.
        (0..100).for_each(|i| {
            c.learn_arrival(Span(if i < 50 { 10 } else { 86_400 * 10 }));
        });
        assert!(c.queue_count() <= 2, "{:?}", c.borders());
        (0..100).for_each(|i| {
            c.learn_arrival(Span(if i < 60 { 10 } else { 86_400 * 10 }));
        });
        assert_eq!(c.queue_of(Span(10), 1), 0);
    }
}
