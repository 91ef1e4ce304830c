//! Passes without shortcuts, for tests that compare with them.

#[cfg(test)]
thread_local! {
    static IS_NAIVE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Returns whether searches leave out what cannot succeed, and passes what cannot start: always,
/// but within [`run_naively`].
pub(crate) fn takes_shortcuts() -> bool {
    #[cfg(test)]
    if IS_NAIVE.get() {
        return false;
    }
    true
}

/// Does some work on this thread without shortcuts: each pass looks at every job, and each look
/// tries one place after the other and lets one running job end after the other.
#[cfg(test)]
pub(crate) fn run_naively<T>(work: impl FnOnce() -> T) -> T {
    IS_NAIVE.set(true);
    let result = work();
    IS_NAIVE.set(false);
    result
}
