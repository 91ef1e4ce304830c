//! A progress bar for anything over two seconds, on terminals only.

use crate::output::message;
use crate::output::number::speed;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{self, IsTerminal, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What takes less is over before it can be read.
const PATIENCE: Duration = Duration::from_secs(2);

/// Counts work done. Can be shared by threads; costs little where nobody watches.
pub(crate) struct Progress {
    bar: ProgressBar,
    since: Instant,
    /// Nobody watches, or the bar is shown already.
    settled: AtomicBool,
}

impl Progress {
    /// Work counted in `unit` (`jobs`), of which there is `total` if known.
    #[expect(clippy::disallowed_methods, reason = "when to show a bar")]
    pub(crate) fn new(what: &str, unit: &str, total: Option<u64>) -> Progress {
        let bytes = unit == "bytes";
        let template = match (total.is_some(), bytes) {
            (true, false) => {
                format!("{what} [{{bar:30}}] {{human_pos}}/{{human_len}} {unit}, {{rate}}/s, {{eta}} left{{msg}}")
            }
            (true, true) => {
                format!("{what} [{{bar:30}}] {{bytes}}/{{total_bytes}}, {{bytes_per_sec}}, {{eta}} left")
            }
            (false, false) => format!("{what} {{human_pos}} {unit}, {{rate}}/s"),
            (false, true) => format!("{what} {{bytes}}, {{bytes_per_sec}}"),
        };
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(&template) {
            let rate = |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&speed(state.per_sec()));
            };
            bar.set_style(style.progress_chars("=> ").with_key("rate", rate));
        }
        let nobody = message::is_quiet() || !io::stderr().is_terminal();
        Progress { bar, since: Instant::now(), settled: AtomicBool::new(nobody) }
    }

    /// Says something behind the bar.
    pub(crate) fn say(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Some more is done.
    pub(crate) fn add(&self, done: u64) {
        self.bar.inc(done);
        if !self.settled.load(Ordering::Relaxed)
            && self.since.elapsed() >= PATIENCE
            && !self.settled.swap(true, Ordering::Relaxed)
        {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
            self.bar.enable_steady_tick(Duration::from_millis(500));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Reads and counts the bytes.
pub(crate) struct Counted<R> {
    pub(crate) input: R,
    pub(crate) progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.progress.add(read as u64);
        Ok(read)
    }
}
