//! The one clock of the engine: how long a decision takes, for policies that heed a time limit.

use crate::policy::Stopwatch;
use std::time::{Duration, Instant};

/// A stopwatch by the clock on the wall.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock {
    /// Deadline; `None` before the first start.
    until: Option<Instant>,
}

impl Stopwatch for WallClock {
    #[expect(clippy::disallowed_methods, reason = "time limits, which say so")]
    fn start_timer(&mut self, limit: Duration) {
        self.until = Instant::now().checked_add(limit);
    }

    #[expect(clippy::disallowed_methods, reason = "time limits, which say so")]
    fn is_up(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_up_after_the_limit_and_never_before_a_start() {
        let mut watch = WallClock::default();
        assert!(!watch.is_up());
        watch.start_timer(Duration::ZERO);
        assert!(watch.is_up());
        watch.start_timer(Duration::from_secs(3600));
        assert!(!watch.is_up());
        // Beyond what a clock can show, time is never up.
        watch.start_timer(Duration::MAX);
        assert!(!watch.is_up());
    }
}
