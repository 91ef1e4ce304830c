//! Clocks. The only place of this crate that reads one.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub trait DaemonClock {
    /// Seconds since 1970 by the machine's clock, which may be set.
    fn wall_seconds(&self) -> i64;
    /// Time that never goes back, from any beginning.
    fn steady_time(&self) -> Duration;
    fn sleep(&mut self, time: Duration);
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    began: Instant,
}

impl MachineClock {
    /// Clocks that begin now.
    #[expect(
        clippy::disallowed_methods,
        reason = "a daemon lives in time; what it decides is journaled with the time it saw"
    )]
    pub fn new() -> MachineClock {
        MachineClock { began: Instant::now() }
    }
}

impl Default for MachineClock {
    fn default() -> Self {
        MachineClock::new()
    }
}

impl DaemonClock for MachineClock {
    fn wall_seconds(&self) -> i64 {
        unix_seconds()
    }

    fn steady_time(&self) -> Duration {
        self.began.elapsed()
    }

    fn sleep(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Seconds since 1970 by the machine's clock.
pub fn unix_seconds() -> i64 {
    wall_millis().div_euclid(1000)
}

/// Milliseconds since 1970 by the machine's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "a daemon lives in time; what it decides is journaled with the time it saw"
)]
pub fn wall_millis() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Processor time that this process has taken, its children left out.
pub(crate) fn processor_time() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else { return Duration::ZERO };
    let whole = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec().unsigned_abs()) + Duration::from_micros(time.tv_usec().unsigned_abs())
    };
    whole(usage.user_time()) + whole(usage.system_time())
}
