//! Many jobs at once: the period adapts, and a look stays within its share of a core.

use super::site::{Site, Tests, full, user, within};
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![("thousands_come_and_are_cancelled", thousands)]
}

fn thousands() {
    // As many as a test has time for.
    let (jobs, minutes) = if full() { (10_000, 10) } else { (1_500, 0) };
    let Some(site) = Site::start(2, 4, "easy") else { return };
    let daemon = site.drive();
    let submit = |count: usize| {
        for _ in 0..count {
            site.submit(8, 30, 30);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| submit(jobs / 4));
        }
    });
    within(Duration::from_secs(240), "all are known", || {
        site.published()["jobs"]["waiting"].as_u64() >= Some(jobs as u64 - 120)
    });
    let before = (Instant::now(), daemon.used());
    std::thread::sleep(Duration::from_secs(15 + minutes * 60));
    let told = site.published();
    let share = (daemon.used() - before.1).as_secs_f64() / before.0.elapsed().as_secs_f64();
    println!(
        "{jobs} pending jobs for {:.0} s: daemon and its commands {:.2} % of a core, with slurmctld's part {:.2} %, a look every {:.2} s \
         costs {:.1} ms",
        before.0.elapsed().as_secs_f64(),
        share * 100.0,
        told["health"]["core_share"].as_f64().unwrap_or(0.0) * 100.0,
        told["health"]["period_ms"].as_f64().unwrap_or(0.0) / 1_000.0,
        told["health"]["look_ms"].as_f64().unwrap_or(0.0)
    );
    assert!(told["health"]["core_share"].as_f64() <= Some(0.05), "{}", told["health"]);
    assert!(share <= 0.08, "{share}: looking costs no more than it says, and deciding little");
    assert!(site.silence() <= Some(30), "the heart beats: {:?}", site.silence());
    site.settled();
    site.tell("scancel", &["--state=PENDING"]);
    site.tell("scancel", &["-u", &user()]);
    within(Duration::from_secs(240), "all are gone", || {
        let told = site.published();
        told["jobs"]["waiting"].as_u64().unwrap_or(0) + told["jobs"]["running"].as_u64().unwrap_or(0) == 0
    });
    site.settled();
    assert!(site.silence() <= Some(30), "{:?}", site.silence());
    drop(daemon);
    site.replays();
}
