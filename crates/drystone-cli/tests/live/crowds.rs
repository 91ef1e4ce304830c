//! Many jobs at once: the period adapts, and a look stays within its share of a core.

use super::site::{Site, Tests, until, within};
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![("thousands_come_and_are_cancelled", thousands)]
}

/// As many as a test has time for; `examples/live_crowd.rs` has ten thousand for ten minutes.
const JOBS: usize = 2_000;

fn thousands() {
    let Some(site) = Site::start(2, 4, "easy") else { return };
    let daemon = site.drive();
    let submit = |count: usize| {
        for _ in 0..count {
            site.submit(8, 30, 30);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| submit(JOBS / 4));
        }
    });
    within(Duration::from_secs(120), "all are known", || {
        site.published()["jobs"]["waiting"].as_u64() >= Some(JOBS as u64 - 60)
    });
    std::thread::sleep(Duration::from_secs(20));
    let told = site.published();
    assert!(told["health"]["core_share"].as_f64() <= Some(0.05), "{}", told["health"]);
    assert!(site.silence() <= Some(12), "the heart beats: {:?}", site.silence());
    assert_eq!(told["health"]["differences"], 0);
    site.tell("scancel", &["--state=PENDING"]);
    site.tell("scancel", &["-u", "root"]);
    within(Duration::from_secs(120), "all are gone", || {
        let told = site.published();
        told["jobs"]["waiting"].as_u64().unwrap_or(0) + told["jobs"]["running"].as_u64().unwrap_or(0) == 0
    });
    until("the books agree", || site.published()["health"]["differences"] == 0);
    assert!(site.silence() <= Some(12), "{:?}", site.silence());
    drop(daemon);
    site.replays();
}
