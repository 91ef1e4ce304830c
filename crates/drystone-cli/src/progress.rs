//! A progress bar on terminals for anything over two seconds; elsewhere a line a minute.

use crate::output::file::OutputFile;
use crate::output::message;
use crate::output::number::{format_count, format_speed};
use drystone::engine::Observer;
use drystone::model::EndedJob;
use drystone_report::document::make_visible;
use indicatif::style::ProgressTracker;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::collections::VecDeque;
use std::fmt::Write;
use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Duration below which progress is not shown, because it could not be read.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Returns whether progress has no terminal to appear on.
pub(crate) fn nobody_watches() -> bool {
    message::is_quiet() || message::is_overheard() || !io::stderr().is_terminal()
}

/// Number of items between two steps of a bar, which have a cost.
const STRIDE: u64 = 1_000;

/// Counts work done. Can be shared by threads; costs little without a terminal.
pub(crate) struct WorkProgress {
    bar: ProgressBar,
    since: Instant,
    /// There is no terminal, or the bar is shown already.
    settled: AtomicBool,
    /// Lines in the place of the bar, where there is no terminal.
    lines: Option<ProgressLines>,
}

/// Lines in the place of a bar, for a standard error that is no terminal.
struct ProgressLines {
    what: String,
    unit: String,
    total: Option<u64>,
    minutes: AtomicU64,
}

impl ProgressLines {
    /// Tells how far the work is, once in each minute.
    fn print_line(&self, done_count: u64, duration: Duration) {
        let minutes = duration.as_secs() / 60;
        if self.minutes.fetch_max(minutes, Ordering::Relaxed) >= minutes {
            return;
        }
        let ProgressLines { what, unit, .. } = self;
        let Some(total) = self.total.filter(|&total| total >= done_count && done_count > 0) else {
            return message::print_note(&format!("{what}: {} {unit} in {minutes} min", format_count(done_count)));
        };
        let remaining_seconds = duration.as_secs_f64() / done_count as f64 * (total - done_count) as f64;
        message::print_note(&format!(
            "{what}: {} of {} {unit}, {} min so far, about {:.0} min left",
            format_count(done_count),
            format_count(total),
            minutes,
            (remaining_seconds / 60.0).ceil()
        ));
    }
}

impl WorkProgress {
    /// Work counted in `unit` (`jobs`), of which there is `total` if known.
    #[expect(clippy::disallowed_methods, reason = "when to show a bar")]
    pub(crate) fn new(subject: &str, unit: &str, total: Option<u64>) -> WorkProgress {
        let bytes = unit == "bytes";
        let template = match (total.is_some(), bytes) {
            (true, false) => {
                format!("{subject} [{{bar:30}}] {{human_pos}}/{{human_len}} {unit}, {{rate}}/s, {{left}} left{{msg}}")
            }
            (true, true) => {
                format!("{subject} [{{bar:30}}] {{bytes}}/{{total_bytes}}, {{bytes_per_sec}}, {{eta}} left")
            }
            (false, false) => format!("{subject} {{human_pos}} {unit}, {{rate}}/s"),
            (false, true) => format!("{subject} {{bytes}}, {{bytes_per_sec}}"),
        };
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let style = style
                .with_key("rate", RecentRate::new(RateText::Rate))
                .with_key("left", RecentRate::new(RateText::Left));
            bar.set_style(style.progress_chars("=> "));
        }
        let lines = (nobody_watches() && !message::is_quiet() && !message::is_overheard()).then(|| ProgressLines {
            what: subject.to_string(),
            unit: unit.to_string(),
            total,
            minutes: AtomicU64::new(0),
        });
        WorkProgress { bar, since: Instant::now(), settled: AtomicBool::new(nobody_watches()), lines }
    }

    /// Of records that are written. Nothing is shown where they go to a terminal themselves.
    pub(crate) fn for_writing(records: usize, out: &OutputFile) -> WorkProgress {
        let progress = WorkProgress::new("writing", "records", Some(records as u64));
        if out.is_terminal() {
            progress.settled.store(true, Ordering::Relaxed);
        }
        progress
    }

    /// Counts things as they pass.
    pub(crate) fn count_items<I: IntoIterator>(&self, things: I) -> impl Iterator<Item = I::Item> {
        let mut item_count = 0;
        things.into_iter().inspect(move |_| {
            item_count += 1;
            if item_count % STRIDE == 0 {
                self.add_done(STRIDE);
            }
        })
    }

    /// Says something behind the bar.
    pub(crate) fn set_message(&self, text: String) {
        self.bar.set_message(make_visible(&text).into_owned());
    }

    /// Returns whether the work takes long enough to be watched.
    #[cfg(feature = "sites")]
    pub(crate) fn is_watched(&self) -> bool {
        self.since.elapsed() >= PATIENCE
    }

    /// Says a line of its own, above the bar, of work that takes long enough to be watched.
    pub(crate) fn print_notice(&self, text: &str) {
        if self.since.elapsed() >= PATIENCE {
            self.bar.suspend(|| message::print_note(text));
        }
    }

    /// Says how long the rest will take, where no bar says it and that is more than half a minute:
    /// so many of all the `things` are done.
    #[cfg(feature = "sites")]
    pub(crate) fn forecast_remaining(&self, done_count: u64, total: u64, things: &str) {
        let remaining_seconds =
            self.since.elapsed().as_secs_f64() / done_count.max(1) as f64 * total.saturating_sub(done_count) as f64;
        if nobody_watches() && remaining_seconds >= 30.0 {
            message::print_note(&format!(
                "about {} for {total} {things}",
                HumanDuration(Duration::from_secs_f64(remaining_seconds))
            ));
        }
    }

    pub(crate) fn add_done(&self, amount: u64) {
        self.bar.inc(amount);
        if let Some(lines) = &self.lines {
            lines.print_line(self.bar.position(), self.since.elapsed());
        }
        if !self.settled.load(Ordering::Relaxed)
            && self.since.elapsed() >= PATIENCE
            && !self.settled.swap(true, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            self.bar.enable_steady_tick(Duration::from_millis(500));
        }
    }
}

/// Names what is being done, one thing after the other, of work that nothing counts. Each is shown
/// once it takes long enough.
#[cfg(feature = "sites")]
pub(crate) struct Phases {
    bar: ProgressBar,
}

#[cfg(feature = "sites")]
impl Phases {
    pub(crate) fn new() -> Phases {
        Phases { bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()) }
    }

    /// This is what is done now.
    pub(crate) fn enter_phase(&self, phase: &str) {
        if nobody_watches() {
            return;
        }
        let write_elapsed = |state: &ProgressState, out: &mut dyn Write| {
            if state.elapsed() >= PATIENCE {
                let _ = write!(out, "{:#}", HumanDuration(state.elapsed()));
            }
        };
        // A line that says nothing yet is empty.
        let phase = make_visible(phase).into_owned();
        let write_phase = move |state: &ProgressState, out: &mut dyn Write| {
            if state.elapsed() >= PATIENCE {
                let _ = write!(out, "{phase}, ");
            }
        };
        if let Ok(style) = ProgressStyle::with_template("{phase}{time}") {
            self.bar.set_style(style.with_key("phase", write_phase).with_key("time", write_elapsed));
        }
        self.bar.reset_elapsed();
        self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        self.bar.enable_steady_tick(Duration::from_millis(500));
    }
}

#[cfg(feature = "sites")]
impl Drop for Phases {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Contents of a [`RecentRate`].
#[derive(Clone, Copy)]
enum RateText {
    Rate,
    Left,
}

/// The rate of the last seconds, and the time left if it stays so. What was faster before says
/// little of what is left: one policy may take a hundred times as long as another.
#[derive(Clone)]
struct RecentRate {
    shown: RateText,
    /// Times and amounts of work, at least [`APART`] apart, back to [`RECENT`] ago.
    seen: VecDeque<(Instant, u64)>,
}

/// Time over which the rate is averaged.
const RECENT: Duration = Duration::from_secs(5);
const APART: Duration = Duration::from_millis(200);

impl RecentRate {
    fn new(format_rate: RateText) -> RecentRate {
        RecentRate { shown: format_rate, seen: VecDeque::new() }
    }

    fn note_progress(&mut self, now: Instant, done_count: u64) {
        if self.seen.back().is_some_and(|(then, _)| now.saturating_duration_since(*then) < APART) {
            return;
        }
        self.seen.push_back((now, done_count));
        while self.seen.get(1).is_some_and(|(then, _)| now.saturating_duration_since(*then) >= RECENT) {
            self.seen.pop_front();
        }
    }

    /// Per second; 0 where nothing is known yet.
    fn work_rate(&self) -> f64 {
        let (Some(first), Some(last)) = (self.seen.front(), self.seen.back()) else { return 0.0 };
        let seconds = last.0.saturating_duration_since(first.0).as_secs_f64();
        if seconds > 0.0 { last.1.saturating_sub(first.1) as f64 / seconds } else { 0.0 }
    }

    /// Returns the time for this much work at this rate; `None` where there is no progress any
    /// more.
    fn remaining_time(&self, work: u64) -> Option<Duration> {
        Duration::try_from_secs_f64((work as f64 / self.work_rate()).ceil()).ok()
    }
}

impl ProgressTracker for RecentRate {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, now: Instant) {
        self.note_progress(now, state.pos());
    }

    fn reset(&mut self, _state: &ProgressState, _now: Instant) {
        self.seen.clear();
    }

    fn write(&self, state: &ProgressState, out: &mut dyn Write) {
        let text = match self.shown {
            RateText::Rate => format_speed(self.work_rate()),
            RateText::Left => {
                let remaining_time = self.remaining_time(state.len().unwrap_or(0).saturating_sub(state.pos()));
                remaining_time.map_or_else(|| "?".to_string(), |time| format!("{:#}", HumanDuration(time)))
            }
        };
        let _ = out.write_str(&text);
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

pub(crate) struct EndCounter<'a> {
    progress: &'a WorkProgress,
    /// Not passed to the bar yet.
    ended: u64,
}

impl EndCounter<'_> {
    pub(crate) fn for_progress(progress: &WorkProgress) -> EndCounter<'_> {
        EndCounter { progress, ended: 0 }
    }
}

impl Observer for EndCounter<'_> {
    fn note_end(&mut self, _: &EndedJob<'_>) {
        self.ended += 1;
        if self.ended == STRIDE {
            self.progress.add_done(std::mem::take(&mut self.ended));
        }
    }
}

pub(crate) struct CountedReader<R> {
    pub(crate) input: R,
    pub(crate) progress: WorkProgress,
}

impl<R: Read> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let byte_count = self.input.read(buffer)?;
        self.progress.add_done(byte_count as u64);
        Ok(byte_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "some instant or other")]
    fn the_time_left_follows_what_is_slow_now() {
        let (start, mut recent) = (Instant::now(), RecentRate::new(RateText::Left));
        assert_eq!((recent.work_rate(), recent.remaining_time(5)), (0.0, None));
        // A million a second for ten seconds, then ten.
        (0..=10).for_each(|s| recent.note_progress(start + Duration::from_secs(s), s * 1_000_000));
        assert_eq!((recent.work_rate(), recent.remaining_time(3_000_000)), (1e6, Some(Duration::from_secs(3))));
        (11..=30).for_each(|s| recent.note_progress(start + Duration::from_secs(s), 10_000_000 + (s - 10) * 10));
        assert_eq!((recent.work_rate(), recent.remaining_time(3_000)), (10.0, Some(Duration::from_secs(300))));
        // Nothing moves.
        (31..=40).for_each(|s| recent.note_progress(start + Duration::from_secs(s), 10_000_200));
        assert_eq!(recent.remaining_time(3_000), None);
    }
}
