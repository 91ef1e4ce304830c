//! Many jobs at once: the period adapts, and a look stays within its share of a core.

use super::site::{Site, Tests, full, user, within};
use std::time::{Duration, Instant};

pub(crate) fn tests() -> Tests {
    vec![
        ("thousands_come_and_are_cancelled", || thousands("easy")),
        ("thousands_come_under_conservative", || thousands("conservative")),
        ("an_array_of_fifty_thousand_under_easy", || large_array("easy")),
        ("an_array_of_fifty_thousand_under_conservative", || large_array("conservative")),
        ("thousands_come_under_a_policy_that_counts", || thousands("conservative by count")),
        ("an_array_of_fifty_thousand_under_a_policy_that_counts", || large_array("easy by count")),
    ]
}

/// Oldest heartbeat and slowest submission of a time, in seconds. A job is submitted every five
/// seconds and cancelled again. Calls `sample` four times a second.
fn watch(site: &Site, time: Duration, mut sample: impl FnMut()) -> (i64, f64) {
    let since = Instant::now();
    let (mut oldest, mut slowest, mut next) = (0, 0.0_f64, Duration::ZERO);
    while since.elapsed() < time {
        oldest = oldest.max(site.silence().unwrap_or(i64::MAX));
        if since.elapsed() >= next {
            let submit_time = Instant::now();
            let job = site.submit(1, 1, 1);
            slowest = slowest.max(submit_time.elapsed().as_secs_f64());
            site.tell("scancel", &[&job.to_string()]);
            next += Duration::from_secs(5);
        }
        sample();
        std::thread::sleep(Duration::from_millis(250));
    }
    (oldest, slowest)
}

/// Longest that a heartbeat may be old, in seconds; the timer of a hand-back waits for 120.
const OLDEST: i64 = 10;
/// Slurm's commands give up after so many seconds (`MessageTimeout` is 20 here).
const GIVES_UP: f64 = 10.0;

/// Prints figures of a crowd, and checks them.
fn judge(site: &Site, crowd: &str, busy_time: Duration, duration: Duration, (oldest, slowest): (i64, f64)) {
    let status = site.published();
    let share = busy_time.as_secs_f64() / duration.as_secs_f64();
    let number = |name: &str| status["health"][name].as_f64().unwrap_or(0.0);
    println!(
        "{crowd} under {} for {:.0} s: daemon and its commands {:.2} % of a core, with slurmctld's part {:.2} %, a look every {:.2} s \
         costs {:.1} ms; oldest heartbeat {oldest} s, slowest submission {slowest:.2} s",
        site.policy,
        duration.as_secs_f64(),
        share * 100.0,
        number("core_share") * 100.0,
        number("period_ms") / 1_000.0,
        number("look_ms")
    );
    // Long looks name the controller's part.
    let log = site.log();
    let long: Vec<&str> = log.lines().filter(|line| line.contains("took long")).collect();
    println!(
        "{} looks without an answer, {} long times: {long:#?}",
        status["health"]["counters"]["failures"],
        long.len()
    );
    assert!(oldest <= OLDEST, "the heart beats: {oldest} s");
    assert!(slowest < GIVES_UP, "submissions never wait for us: {slowest} s");
    assert!(status["health"]["core_share"].as_f64() <= Some(0.05), "{}", status["health"]);
    assert!(share <= 0.08, "{share}: looking costs no more than it says, and deciding little");
}

/// A huge array: tasks start, end and split off one by one while all the others wait.
fn large_array(policy: &str) {
    const TASKS: u64 = 50_000;
    const SEATS: u32 = 8;
    const SECONDS: u32 = 20;
    let Some(site) = Site::start(2, SEATS / 2, policy) else { return };
    let daemon = site.drive();
    let array = site.submit_with(1, SECONDS, 5, &[&format!("--array=1-{TASKS}")]);
    within(Duration::from_secs(120), "all are known", || {
        let status = site.published();
        status["jobs"]["waiting"].as_u64().unwrap_or(0) + status["jobs"]["running"].as_u64().unwrap_or(0) >= TASKS - 100
    });
    let before = (Instant::now(), daemon.used());
    // Tasks come in waves: how many start in a time depends on its ends, how many run does not.
    let (mut running, mut samples) = (0, 0);
    let time = Duration::from_secs(if full() { 600 } else { 60 });
    let lags = watch(&site, time, || (running, samples) = (running + site.running_of(array), samples + 1));
    judge(&site, "50,000 tasks", daemon.used() - before.1, before.0.elapsed(), lags);
    // Of what the processors can do, looks that are rare leave this much.
    let mean = running as f64 / f64::from(samples);
    println!("{mean:.2} tasks ran in the mean, on {SEATS} processors");
    assert!(mean >= 0.7 * f64::from(SEATS), "{mean} of {SEATS}: {}", site.told());
    site.tell("scancel", &["-u", &user()]);
    within(Duration::from_secs(120), "all are gone", || {
        let status = site.published();
        status["jobs"]["waiting"].as_u64().unwrap_or(0) + status["jobs"]["running"].as_u64().unwrap_or(0) == 0
    });
    site.settled();
    drop(daemon);
    site.replays();
}

fn thousands(policy: &str) {
    // As many as a test has time for.
    let (jobs, minutes) = if full() { (10_000, 10) } else { (1_500, 0) };
    let Some(site) = Site::start(2, 4, policy) else { return };
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
    // A round of forecasts may take two seconds, once in a hundred: in a shorter time it weighs
    // more.
    let lags = watch(&site, Duration::from_secs(60 + minutes * 60), || ());
    judge(&site, &format!("{jobs} pending jobs"), daemon.used() - before.1, before.0.elapsed(), lags);
    site.settled();
    site.tell("scancel", &["--state=PENDING"]);
    site.tell("scancel", &["-u", &user()]);
    within(Duration::from_secs(240), "all are gone", || {
        let status = site.published();
        status["jobs"]["waiting"].as_u64().unwrap_or(0) + status["jobs"]["running"].as_u64().unwrap_or(0) == 0
    });
    site.settled();
    assert!(site.silence() <= Some(30), "{:?}", site.silence());
    drop(daemon);
    site.replays();
}
