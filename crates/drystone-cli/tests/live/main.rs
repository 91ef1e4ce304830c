//! `drystone live` on a real Slurm: see `drystone-testbed`. Without one every test says that it
//! skips, and passes; with `DRYSTONE_SLURM_REQUIRED=1` it fails. With `DRYSTONE_LIVE_FULL=1` runs
//! have the length of the figures in docs/live.md. Tests wait more than they work, so that twelve
//! run at once, each with a cluster of its own.
#![allow(clippy::disallowed_methods, reason = "tests wait for processes")]

#[cfg(unix)]
mod arrays;
#[cfg(unix)]
mod back;
#[cfg(unix)]
mod crowds;
#[cfg(unix)]
mod depends;
#[cfg(unix)]
mod faults;
#[cfg(unix)]
mod fidelity;
#[cfg(unix)]
mod holds;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod messages;
#[cfg(unix)]
mod model;
#[cfg(unix)]
mod nodes;
#[cfg(unix)]
mod sets;
#[cfg(unix)]
mod shadow;
#[cfg(unix)]
mod site;
#[cfg(unix)]
mod soak;
#[cfg(unix)]
mod tutorial;
#[cfg(unix)]
mod users;
#[cfg(unix)]
mod when;

#[cfg(not(unix))]
fn main() {}

#[cfg(unix)]
fn main() {
    use libtest_mimic::{Arguments, Trial, run};
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(12);
    let one = |name: &str, test: fn()| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    };
    // The longest first, which wait most: the others fit beside them.
    let all = [
        shadow::tests(),
        soak::tests(),
        depends::tests(),
        limits::tests(),
        back::tests(),
        arrays::tests(),
        tutorial::tests(),
        nodes::tests(),
        sets::tests(),
        faults::tests(),
        model::tests(),
        crowds::tests(),
        users::tests(),
        holds::tests(),
        messages::tests(),
        fidelity::tests(),
        when::tests(),
    ];
    let trials = all.into_iter().flatten().map(|(name, test)| one(name, test)).collect();
    run(&arguments, trials).exit();
}
