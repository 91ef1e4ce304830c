//! The processor time of this thread: what else the machine does is not in it.

use std::time::Duration;

/// Processor time of this thread so far.
#[cfg(unix)]
pub(crate) fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The clock on the wall, where processor time cannot be read.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "a benchmark")]
pub(crate) fn processor_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
