//! Cancellation: by Ctrl-C, by SIGTERM, as batch systems send it when time is up, or by SIGHUP,
//! when the terminal goes away.

use crate::output::file::clean_up_and_exit;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// Offset of a signal's number in an exit code.
const SIGNAL: u8 = 128;
/// Ctrl-C.
const SIGINT: u8 = 2;

/// True if the work in hand stops by itself, in order, when [`ASKED`] is set.
static ORDERLY: AtomicBool = AtomicBool::new(false);
/// True if work that stops in order has been cancelled.
static ASKED: AtomicBool = AtomicBool::new(false);
/// The exit code that says by what.
static CODE: AtomicU8 = AtomicU8::new(SIGNAL + SIGINT);

/// From now on the first such signal only sets what this returns; the second one ends the program
/// as before.
pub(crate) fn stop_in_order() -> &'static AtomicBool {
    ORDERLY.store(true, Ordering::SeqCst);
    &ASKED
}

/// From now on such a signal ends the program again, whatever is in hand. Returns whether one came
/// meanwhile.
pub(crate) fn stop_at_once() -> bool {
    ORDERLY.store(false, Ordering::SeqCst);
    ASKED.load(Ordering::SeqCst)
}

/// True if the time ran out, without an interrupt.
static TIME_IS_UP: AtomicBool = AtomicBool::new(false);

/// Cancels work that stops in order after this time.
pub(crate) fn stop_after(time: std::time::Duration) -> std::io::Result<()> {
    let wait = move || {
        std::thread::sleep(time);
        if !ASKED.swap(true, Ordering::SeqCst) {
            TIME_IS_UP.store(true, Ordering::SeqCst);
        }
    };
    std::thread::Builder::new().name("time".to_string()).spawn(wait).map(|_| ())
}

/// Returns whether work was cancelled because its time was up.
pub(crate) fn time_is_up() -> bool {
    TIME_IS_UP.load(Ordering::SeqCst)
}

/// The exit code of work that was stopped in order.
pub(crate) fn exit_code() -> u8 {
    CODE.load(Ordering::SeqCst)
}

/// From now on the end of the standard input counts as SIGTERM. The parent process holds it open;
/// killed, it could send no signal.
#[cfg(feature = "sweep")]
pub(crate) fn stop_with_parent() {
    const SIGTERM: u8 = 15;
    let watch = || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        stop_on_signal(SIGTERM);
    };
    // Where no thread can be had, it works to its end.
    let _ = std::thread::Builder::new().name("parent".to_string()).spawn(watch);
}

/// Returns whether the parent process, which has this number, is gone: another process is the
/// parent then.
#[cfg(all(feature = "sweep", unix))]
pub(crate) fn is_orphan_of(parent: u32) -> bool {
    std::os::unix::process::parent_id() != parent
}

/// Returns whether the parent process is gone, as far as the end of the standard input says so.
#[cfg(all(feature = "sweep", not(unix)))]
pub(crate) fn is_orphan_of(_parent: u32) -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// A signal came: work that stops in order does so; anything else ends here, without a temporary
/// file left.
fn stop_on_signal(signal: u8) {
    let code = SIGNAL + signal;
    if ORDERLY.load(Ordering::SeqCst) && !ASKED.load(Ordering::SeqCst) {
        CODE.store(code, Ordering::SeqCst);
        ASKED.store(true, Ordering::SeqCst);
        return;
    }
    clean_up_and_exit(code.into());
}

/// From now on Ctrl-C, SIGTERM and SIGHUP remove temporary files before the program exits with code
/// 130, 143 or 129. Where SIGHUP is ignored it stays so: that is how `nohup` works.
#[cfg(unix)]
pub(crate) fn watch_signals() {
    use signal_hook::consts::signal;
    use signal_hook::iterator::Signals;
    let (ready, wait) = std::sync::mpsc::sync_channel(1);
    let watch = move || {
        let hup = (!is_ignored(signal::SIGHUP)).then_some(signal::SIGHUP);
        let signals = Signals::new([signal::SIGINT, signal::SIGTERM].into_iter().chain(hup));
        let _ = ready.send(());
        let Ok(mut signals) = signals else { return };
        for number in signals.forever() {
            stop_on_signal(u8::try_from(number).unwrap_or(SIGINT));
        }
    };
    // Where no thread or no handler can be had, stopping works as the system has it: handlers are
    // set by the thread, or a signal could have a handler and no thread that heeds it.
    if std::thread::Builder::new().name("signals".to_string()).spawn(watch).is_ok() {
        let _ = wait.recv();
    }
}

/// Returns whether this signal was ignored when the program began. Linux says so; elsewhere it
/// cannot be known without `unsafe`, and the signal is left alone.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask >> (signal - 1) & 1 == 1)
}

/// From now on Ctrl-C removes temporary files before the program exits with code 130.
#[cfg(not(unix))]
pub(crate) fn watch() {
    // Where no handler can be set, interrupting works as the system has it.
    let _ = ctrlc::set_handler(|| stop_on_signal(SIGINT));
}
