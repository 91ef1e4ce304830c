//! `drystone when` on a real cluster with limits and arrays: how many answers hold.

use super::site::{Site, Tests, user, within};
use super::users::{as_user_submits, ordinary};
use drystone_testbed::ClusterOptions;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Only where it is asked for: `DRYSTONE_LIVE_ANSWERS` is the number of answers, and
/// `DRYSTONE_LIVE_SEED` another stream of jobs; `DRYSTONE_LIVE_STATES` is a folder that keeps the
/// states. It prints a measurement, and fails where far too few or too many answers hold.
pub(crate) fn tests() -> Tests {
    if wanted().is_none() {
        return Vec::new();
    }
    vec![("answers_under_limits", answers_under_limits)]
}

fn wanted() -> Option<usize> {
    std::env::var("DRYSTONE_LIVE_ANSWERS").ok()?.parse().ok()
}

/// Answer about a job when it was first seen to wait, in seconds since 1970.
struct FirstAnswer {
    asked: i64,
    /// Levels of 5, 25, 50, 75 and 95 %; `None` for a start at the next pass.
    levels: Option<[i64; 5]>,
    /// Reason that Slurm gave then.
    reason: String,
}

/// Number of answers from which on their share within 90 % is judged.
const FEWEST_JUDGED: u32 = 250;

const LEVELS: [&str; 5] = ["p05", "p25", "p50", "p75", "p95"];

/// Random numbers that are the same in each run.
struct Draws(u64);

impl Draws {
    /// A number below `end`.
    fn next(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Seconds with this mean, exponentially distributed.
    fn pause(&mut self, mean: f64) -> f64 {
        -mean * ((self.next(1_000_000) + 1) as f64 / 1e6).ln()
    }
}

/// Submits one job or array of either user; `false` where this is not root.
fn submit(site: &Site, draws: &mut Draws) -> bool {
    let procs = [1, 1, 1, 2, 2, 4, 4, 8][draws.next(8) as usize].to_string();
    // Between 4 and 150 seconds, by the logarithm; the limit is one to four times as long.
    let seconds = (4.0 * (draws.next(1_000) as f64 / 1_000.0 * 3.6).exp()) as u32;
    let limit = (seconds / 60 + 1 + draws.next(3) as u32).to_string();
    let array = format!("--array=1-{}%{}", 3 + draws.next(5), 2 + draws.next(2));
    let mut options = vec!["-n", &procs, "-t", &limit];
    if draws.next(6) == 0 {
        options.push(&array);
    }
    if draws.next(2) == 0 {
        return as_user_submits(site, &options, seconds).is_some();
    }
    let wrap = format!("sleep {seconds}");
    site.tell("sbatch", &[&["-o", "/dev/null"], options.as_slice(), &["--wrap", &wrap]].concat());
    true
}

/// Writes the state of the cluster by the printed script.
fn write_state(site: &Site, folder: &Path) {
    std::fs::create_dir_all(folder).expect("made");
    let script = site.run(&["when", "--ask"]);
    let output = std::process::Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder)
        .env("SLURM_CONF", site.cluster.conf_path())
        .output()
        .expect("bash runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns what `when` says of all jobs that wait in a state.
fn answer(site: &Site, folder: &Path) -> Value {
    let state = folder.display().to_string();
    serde_json::from_str(&site.run(&["when", "--state", &state, "--quiet", "--format", "json"])).expect("JSON")
}

/// Reasons of waiting jobs and tasks, by name.
fn waiting_reasons(site: &Site) -> BTreeMap<String, String> {
    let text = site.cluster.command_output("squeue", &["-h", "-r", "-t", "PD", "-o", "%i %r"]);
    text.lines().filter_map(|line| line.split_once(' ')).map(|(name, reason)| (name.into(), reason.into())).collect()
}

fn answers_under_limits() {
    let Some(sample_size) = wanted() else { return };
    let account = format!("add user {} account=a", user());
    let other_user = format!("add user {} account=a", ordinary());
    let accounts =
        ["add account a", &account, &other_user, "modify qos normal set MaxTRESPerUser=cpu=10 MaxJobsPerUser=5"];
    let lines = ["AccountingStorageEnforce=limits,qos"].map(String::from).to_vec();
    let accounts = Some(accounts.map(String::from).to_vec());
    let options = ClusterOptions { nodes: 2, cpus: 8, lines, accounts, ..ClusterOptions::default() };
    let Some(site) = Site::with(options, "easy") else { return };
    let seed = std::env::var("DRYSTONE_LIVE_SEED").ok().and_then(|text| text.parse().ok());
    let mut draws = Draws(seed.unwrap_or(7));
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    let begin = Instant::now();
    let (mut arrival, mut question) = (0.0, 300.0);
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = std::env::var_os("DRYSTONE_LIVE_STATES").map_or(scratch.path().to_path_buf(), Into::into);
    let mut states = Vec::new();
    // States first, answers when all is over: they need the processor that the cluster runs on.
    while reasons.len() < sample_size {
        let now = begin.elapsed().as_secs_f64();
        if now >= arrival {
            if !submit(&site, &mut draws) {
                return;
            }
            arrival += draws.pause(9.0);
        } else if now >= question {
            let waiting = waiting_reasons(&site);
            states.push(folder.join(format!("{now:05.0}")));
            write_state(&site, &states[states.len() - 1]);
            eprintln!("{} states after {now:.0} s; {} jobs wait", states.len(), waiting.len());
            waiting.into_iter().for_each(|(name, reason)| _ = reasons.entry(name).or_insert(reason));
            question = now + 20.0;
        } else {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    within(Duration::from_secs(3_600), "all jobs have started", || waiting_reasons(&site).is_empty());
    let mut answers: BTreeMap<String, FirstAnswer> = BTreeMap::new();
    for state in &states {
        let document = answer(&site, state);
        let question_time = document["asked"].as_i64().expect("a time");
        for job in document["jobs"].as_array().expect("a list") {
            let name = job["job"].as_str().expect("a name").to_string();
            let level = |level: &str| job["start"][level].as_i64();
            let levels = (!job["start"].is_null()).then(|| LEVELS.map(|name| level(name).unwrap_or(i64::MAX)));
            let reason = reasons.get(&name).cloned().unwrap_or_default();
            answers.entry(name).or_insert(FirstAnswer { asked: question_time, levels, reason });
        }
    }
    report(&site, &answers);
}

/// Prints how many answers held, of all jobs and of those at a limit, and checks it.
fn report(site: &Site, answers: &BTreeMap<String, FirstAnswer>) {
    let mut sacct = site.cluster.slurm_command("sacct");
    sacct.args(["-a", "-X", "-n", "-P", "-S", "now-1day", "-o", "JobID,Start"]);
    let output = sacct.env("SLURM_TIME_FORMAT", "%s").env("TZ", "UTC").output().expect("sacct runs");
    let starts: BTreeMap<String, i64> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| line.split_once('|'))
        .filter_map(|(name, start)| Some((name.to_string(), start.parse().ok()?)))
        .collect();
    let rest = ["Dependency", "JobArrayTaskLimit"];
    let is_at_limit = |answer: &FirstAnswer| answer.reason.starts_with("QOS") || answer.reason.starts_with("Assoc");
    let (mut answer_counts, mut soon_at_limit) = ((0_u32, 0_u32), 0);
    for (class, belongs) in [
        ("all", &(|_: &FirstAnswer| true) as &dyn Fn(&FirstAnswer) -> bool),
        ("at a limit", &is_at_limit),
        ("of an array's own limit", &|answer| rest.contains(&answer.reason.as_str())),
        ("for room", &|answer| !is_at_limit(answer) && !rest.contains(&answer.reason.as_str())),
    ] {
        let (mut count, mut inside90, mut inside50, mut next_pass, mut late_passes) = (0_u32, 0_u32, 0, 0, 0);
        let mut errors = Vec::new();
        for (name, answer) in answers.iter().filter(|(_, answer)| belongs(answer)) {
            let Some(&start) = starts.get(name) else { continue };
            count += 1;
            // Slurm looks every second, and notes whole seconds.
            let Some([p05, p25, p50, p75, p95]) = answer.levels else {
                next_pass += 1;
                let is_soon = start - answer.asked <= 10;
                late_passes += usize::from(!is_soon);
                inside90 += u32::from(is_soon);
                inside50 += usize::from(is_soon);
                continue;
            };
            inside90 += u32::from((p05 - 2..=p95.saturating_add(2)).contains(&start));
            inside50 += usize::from((p25 - 2..=p75.saturating_add(2)).contains(&start));
            errors.push((start - p50).abs());
        }
        errors.sort_unstable();
        let median = errors.get(errors.len() / 2).copied().unwrap_or(0);
        println!(
            "{class}: {count} answers, {inside90} within 90 %, {inside50} within 50 %; {next_pass} at the next pass, \
             {late_passes} of them later than 10 s; median error {median} s"
        );
        match class {
            "all" => answer_counts = (count, inside90),
            "at a limit" => soon_at_limit = next_pass,
            _ => {}
        }
    }
    for (name, answer) in answers {
        let start = starts.get(name).map_or(-1, |start| start - answer.asked);
        let levels = answer.levels.map(|levels| levels.map(|level| level.saturating_sub(answer.asked)));
        println!("{name} {} {start} {levels:?}", answer.reason);
    }
    // Answers of some minutes are right or wrong together: by the autocorrelation of their levels,
    // 300 of half an hour are worth 20 to 30, and two standard errors are 11 to 13 points. Nearly
    // all inside means intervals several times too wide. Fewer answers say nothing.
    let share = f64::from(answer_counts.1) / f64::from(answer_counts.0).max(1.0);
    let is_sound = answer_counts.0 < FEWEST_JUDGED || (0.79..=0.98).contains(&share);
    assert!(is_sound, "{share:.3} of {} answers lie within their 90 %", answer_counts.0);
    assert_eq!(soon_at_limit, 0, "answers at a limit that say: at the next pass");
}
