//! Dependencies of every kind: promptly once they are fulfilled, also where the other job has left
//! the records.

use super::site::{Site, Tests, until, within};
use drystone_live::cluster::ClusterOrder;
use drystone_live::core::CoreInput;
use drystone_live::journal::{self, JournalRecord};
use drystone_testbed::ClusterOptions;
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) fn tests() -> Tests {
    vec![
        ("dependencies_of_every_kind_start_promptly", every_kind),
        ("a_dependency_on_a_job_that_left_the_records", forgotten),
    ]
}

/// Most seconds, and most looks, from the time at which a job may start to its release: a job is
/// late that has more of both. On a busy machine seconds pass without a look.
const PROMPT: (i64, usize) = (4, 8);

/// Start and end of every job, by name, in seconds since 1970.
pub(super) fn times(site: &Site) -> BTreeMap<String, (i64, i64)> {
    let mut command = site.cluster.slurm_command("squeue");
    command.env("SLURM_TIME_FORMAT", "%s").args(["-h", "-a", "-r", "-t", "all", "-o", "%i %S %e"]);
    let output = command.output().expect("squeue runs");
    let listing = String::from_utf8_lossy(&output.stdout);
    let number = |text: &str| text.parse().unwrap_or(0);
    let line = |line: &str| {
        let [name, start, end] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        Some((name.to_string(), (number(start), number(end))))
    };
    listing.lines().filter_map(line).collect()
}

/// Seconds and looks from a time to the last release of a job, by the journal.
fn release_delay(site: &Site, job: (u64, Option<u32>), due: i64) -> (i64, usize) {
    let (mut now, mut looks, mut delay) = (0, 0, (i64::MAX, usize::MAX));
    let whole = journal::read_journal(&site.home().journal_folder()).expect("a journal");
    for record in whole.into_iter().flat_map(|(_, records)| records) {
        match record {
            JournalRecord::In(CoreInput::Facts { stamp, .. }) => {
                now = stamp.now;
                looks += usize::from(now >= due);
            }
            JournalRecord::Out(output) => {
                let is_its_release =
                    |order: &ClusterOrder| matches!(order, ClusterOrder::Release(key) if (key.id, key.task) == job);
                if output.orders.iter().any(is_its_release) {
                    delay = (now - due, looks);
                }
            }
            _ => {}
        }
    }
    delay
}

/// Submits tasks that sleep for their number times so many seconds.
fn submit_tasks(site: &Site, tasks: u32, seconds: u32, more: &[&str]) -> u64 {
    let (array, wrap) = (format!("--array=1-{tasks}"), format!("sleep $((SLURM_ARRAY_TASK_ID * {seconds}))"));
    let args = [&["--parsable", "-o", "/dev/null", "-n", "1", "-t", "5", &array], more, &["--wrap", &wrap]].concat();
    site.cluster.command_output("sbatch", &args).trim().parse().expect("a number")
}

fn every_kind() {
    let Some(site) = Site::start(1, 16, "easy") else { return };
    let _daemon = site.drive();
    let long = site.submit(1, 200, 10);
    let minute = site.submit_with(1, 1, 5, &["-d", &format!("after:{long}+1")]);
    let (first, second) = (site.submit_with(1, 9, 5, &["-J", "one"]), site.submit_with(1, 14, 5, &["-J", "two"]));
    let alone = site.submit_with(1, 1, 5, &["-J", "one", "-d", "singleton"]);
    let either = site.submit_with(1, 1, 5, &["-d", &format!("afterok:{long}?afterok:{second}")]);
    let array = submit_tasks(&site, 3, 7, &[]);
    let same = submit_tasks(&site, 3, 1, &["-d", &format!("aftercorr:{array}")]);
    within(Duration::from_secs(110), "all but the long one are over", || {
        let states = site.states();
        states.iter().all(|(name, state)| state == "CD" || *name == long.to_string())
    });
    let times = times(&site);
    let start = |name: &str| times[name].0;
    let end = |name: &str| times[name].1;
    let name = |job: u64| job.to_string();
    let mut conditions = vec![
        ("singleton", (alone, None), end(&name(first))),
        ("either of two", (either, None), end(&name(second))),
        ("a minute after the start", (minute, None), start(&name(long)) + 60),
    ];
    for task in 1..=3 {
        conditions.push(("the same task", (same, Some(task)), end(&format!("{array}_{task}"))));
    }
    for (condition, job, due) in conditions {
        let (id, task) = job;
        let start_time = start(&task.map_or_else(|| name(id), |task| format!("{id}_{task}")));
        let (seconds, looks) = release_delay(&site, job, due);
        println!(
            "{condition}: released {seconds} s and {looks} looks after it could start, started after {} s",
            start_time - due
        );
        assert!(start_time >= due, "{condition}: started at {start_time}, before {due}");
        assert!(seconds <= PROMPT.0 || looks <= PROMPT.1, "{condition}: released {seconds} s and {looks} looks late");
    }
    let releases = site.orders().iter().filter(|order| matches!(order, ClusterOrder::Release(_))).count();
    assert!(releases <= 11 + 12, "{releases} releases of 11 jobs");
    site.tell("scancel", &[&name(long)]);
    site.drain(Duration::from_secs(60));
    site.replays();
}

/// Slurm forgets a job after MinJobAge; one that depends on it starts all the same.
fn forgotten() {
    let lines = vec!["MinJobAge=60".into()];
    let Some(site) = Site::with(ClusterOptions { nodes: 1, cpus: 4, lines, ..ClusterOptions::default() }, "easy")
    else {
        return;
    };
    let _daemon = site.drive();
    let first = site.submit(1, 1, 5);
    let after = site.submit_with(1, 1, 5, &["-d", &format!("afterok:{first}"), "--begin=now+200"]);
    site.await_state(first, &["CD"]);
    within(Duration::from_secs(190), "the first is forgotten", || site.state(first).is_empty());
    until("its follower has not begun", || site.state(after) == "held");
    site.tell("scontrol", &["update", &format!("JobId={after}"), "StartTime=now"]);
    within(Duration::from_secs(30), &format!("it starts: {}", site.told()), || {
        ["R", "CG", "CD"].contains(&site.state(after).as_str())
    });
}
