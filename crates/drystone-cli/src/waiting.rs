//! Says that work without measurable progress continues: after two seconds, on terminals only.

use crate::progress::{PATIENCE, nobody_watches};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A wait with a note, from its creation until it is dropped.
pub(crate) struct WaitingNote {
    /// Gone when there is nothing to wait for any more.
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<bool>>,
}

impl WaitingNote {
    pub(crate) fn new(subject: &str) -> WaitingNote {
        if nobody_watches() {
            return WaitingNote { over: None, thread: None };
        }
        WaitingNote::start_after(PATIENCE, subject)
    }

    /// The thread says in the end whether anything was shown.
    fn start_after(patience: Duration, subject: &str) -> WaitingNote {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(&format!("{subject}, {{elapsed}}")) {
            bar.set_style(style);
        }
        let (over, waits) = mpsc::channel::<()>();
        let thread = thread::spawn(move || {
            let long = waits.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
            if long {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(Duration::from_millis(500));
                // Until the other end is gone.
                let _ = waits.recv();
            }
            bar.finish_and_clear();
            long
        });
        WaitingNote { over: Some(over), thread: Some(thread) }
    }

    fn end_note(&mut self) -> bool {
        drop(self.over.take());
        self.thread.take().is_some_and(|thread| thread.join().unwrap_or(false))
    }
}

impl Drop for WaitingNote {
    fn drop(&mut self) {
        self.end_note();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_takes_long_is_shown() {
        assert!(!WaitingNote::start_after(Duration::from_secs(3_600), "long").end_note());
        let mut waiting = WaitingNote::start_after(Duration::ZERO, "short");
        thread::sleep(Duration::from_millis(200));
        assert!(waiting.end_note());
        // Tests have no terminal.
        assert!(!WaitingNote::new("unseen").end_note());
    }
}
