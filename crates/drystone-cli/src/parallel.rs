//! Work on several threads.

use std::sync::{Mutex, OnceLock, PoisonError};

/// Wrapper around the work of each thread: an interpreter that is called back may need to register
/// its threads.
pub(crate) static AROUND: OnceLock<fn(&mut (dyn FnMut() + Send))> = OnceLock::new();

fn run_wrapped(mut work: impl FnMut() + Send) {
    match AROUND.get() {
        Some(around) => around(&mut work),
        None => work(),
    }
}

/// Applies `work` to each item and its place, in the order of the items, on this many threads. A
/// thread that is free takes the next item; which thread does what does not show.
pub(crate) fn map<T: Send, R: Send>(items: Vec<T>, threads: usize, work: impl Fn(usize, T) -> R + Sync) -> Vec<R> {
    let threads = threads.clamp(1, items.len().max(1));
    let mut indexed_results = Vec::with_capacity(items.len());
    let todo = Mutex::new(items.into_iter().enumerate());
    let results = Mutex::new(&mut indexed_results);
    let take = || {
        // The lock is let go before the work begins.
        let next = || todo.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some((at, item)) = next() {
            let result = work(at, item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // A thread that cannot be started for want of memory is one fewer: this thread works as
            // well.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || run_wrapped(take));
        }
        take();
    });
    indexed_results.sort_by_key(|&(at, _)| at);
    indexed_results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for threads in [0, 1, 2, 7, 100] {
            let squares = map((0..50).collect(), threads, |at, n: usize| (at, n * n));
            assert_eq!(squares, (0..50).map(|n| (n, n * n)).collect::<Vec<_>>(), "{threads} threads");
        }
        assert!(map(Vec::<u8>::new(), 3, |_, n| n).is_empty());
    }
}
