//! A soak: a stream of jobs of all kinds from five users, with random faults, beside the same
//! stream under Slurm's own scheduler. No job may wait longer than there for no reason: checked job
//! by job.

use super::depends::times;
use super::site::{Site, Tests, full, within};
use drystone::policy::Action;
use drystone_live::cluster::JobKey;
use drystone_live::core::CoreInput;
use drystone_live::journal::{self, JournalRecord};
use drystone_testbed::ClusterOptions;
use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Only where it is asked for: with `DRYSTONE_LIVE_FULL` two hours, or as `DRYSTONE_LIVE_SOAK`
/// says.
pub(crate) fn tests() -> Tests {
    if Plan::given().is_none() {
        return Vec::new();
    }
    vec![("soak", soak)]
}

/// Length and faults of a soak.
#[derive(Clone, Copy, Debug)]
struct Plan {
    minutes: u64,
    /// Seconds from one fault to the next.
    fault: u64,
    seed: u64,
    /// The only kind of fault; all of them otherwise.
    kind: Option<u64>,
}

impl Plan {
    /// `DRYSTONE_LIVE_SOAK` is minutes, seconds between faults, a seed and the only kind of fault,
    /// as `12:40:3:2`; the last ones may be left out.
    fn given() -> Option<Plan> {
        let long = full().then_some(Plan { minutes: 120, fault: FAULT, seed: SEED, kind: None });
        let Ok(text) = std::env::var("DRYSTONE_LIVE_SOAK") else { return long };
        let parts: Vec<u64> = text.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
        let part = |at: usize| parts.get(at).copied();
        let (fault, seed) = (part(1).unwrap_or(FAULT), part(2).unwrap_or(SEED));
        Some(Plan { minutes: part(0)?, fault, seed, kind: part(3) })
    }
}

/// Policy that drives: `DRYSTONE_LIVE_SOAK_POLICY`, such as `easy by count`.
fn policy() -> String {
    std::env::var("DRYSTONE_LIVE_SOAK_POLICY").unwrap_or_else(|_| "easy".into())
}

/// Users that every Linux has, with their numbers.
const USERS: [(&str, u32); 5] = [("daemon", 1), ("bin", 2), ("sys", 3), ("games", 5), ("man", 6)];
const NODES: usize = 4;
const CPUS: u32 = 8;
/// Memory of a node, and of a processor of most jobs, in MB.
const MEMORY: u32 = 8_000;
const EACH: u32 = 100;
/// Jobs of one user that run at once under the limited QOS.
const LIMIT: usize = 3;
/// Mean pause between submissions, in milliseconds. Arrays make 1.3 jobs of one: 3,000 in two
/// hours, for submissions and faults take time as well.
const EVERY: u64 = 2_700;
/// Run times in seconds. The mean job has 3.8 processors for 17.5 s, its launch included, so that
/// the offered load is about 0.85 of the 32 processors: queues come and go.
const SECONDS: [u64; 6] = [4, 8, 12, 16, 24, 32];
/// Seconds from one fault to the next, and a seed, where none are given.
const FAULT: u64 = 170;
const SEED: u64 = 7;
/// Seconds after a fault in which no job can be expected to start.
const SHADOW: i64 = 45;
/// Seconds that a job may wait longer than under Slurm's own scheduler while it could run.
const LATE: i64 = 30;
/// Seconds after which an owner releases a job again that is still held.
const AGAIN: i64 = 30;
/// A machine whose sleeps of a tenth of a second end so late, in milliseconds, is short of time.
const SLOW: u128 = 500;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A job of the stream, as both sites have it.
#[derive(Clone, Debug)]
struct Planned {
    user: usize,
    /// Processors on one node; of several nodes all processors.
    procs: u32,
    nodes: u32,
    memory: u32,
    minutes: i64,
    limited: bool,
    /// Number of the job on each site, and of the one that it waits for.
    number: [u64; 2],
    task: Option<u32>,
    after: Option<[String; 2]>,
    /// Time from which it may run, but for others.
    ready: i64,
    /// True if it can never run.
    never: bool,
}

impl Planned {
    fn name(&self, site: usize) -> String {
        match self.task {
            Some(task) => format!("{}_{task}", self.number[site]),
            None => self.number[site].to_string(),
        }
    }
}

/// A command of Slurm as one of the users.
fn as_one(site: &Site, user: usize, program: &str, args: &[&str]) -> String {
    let mut command = site.cluster.slurm_command(program);
    command.args(args).uid(USERS[user].1).gid(USERS[user].1).current_dir("/tmp");
    let output = command.output().expect("Slurm's commands run");
    let stdout = String::from_utf8_lossy(&output.stdout).trim().to_string();
    assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    stdout
}

fn start(policy: &str, scheduler: &str) -> Option<Site> {
    let mut accounts = vec!["add account a".to_string(), "add qos limited".into()];
    accounts.push(format!("modify qos limited set MaxJobsPerUser={LIMIT}"));
    for (name, _) in USERS {
        accounts.push(format!("add user {name} account=a"));
        accounts.push(format!("modify user {name} set qos=normal,limited"));
    }
    let lines = [
        "SelectTypeParameters=CR_Core_Memory",
        "AccountingStorageEnforce=limits,qos",
        // Every job stays listed, with its times, until the end.
        "MinJobAge=86400",
    ];
    let partitions = vec!["PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP".into()];
    let options = ClusterOptions {
        nodes: NODES as u32,
        cpus: CPUS,
        memory: MEMORY,
        scheduler: scheduler.into(),
        lines: lines.map(String::from).to_vec(),
        partitions,
        accounts: Some(accounts),
        ..ClusterOptions::default()
    };
    Site::with(options, policy)
}

/// Draws the next submission and makes it on both sites; an array gives several jobs.
fn submit(dice: &mut Dice, sites: [&Site; 2], jobs: &[Planned], holds: &mut Vec<(i64, usize)>) -> Vec<Planned> {
    let user = dice.roll(5) as usize;
    let kind = dice.roll(100);
    let nodes = if dice.roll(20) == 0 { 2 } else { 1 };
    let procs = if nodes > 1 { CPUS } else { [1, 1, 2, 2, 4, 4, 8][dice.roll(7) as usize] };
    let seconds = SECONDS[dice.roll(6) as usize];
    let minutes = 1 + dice.roll(4) as i64;
    let mut job = Planned {
        user,
        procs,
        nodes,
        memory: EACH * procs,
        minutes,
        limited: false,
        number: [0, 0],
        task: None,
        after: None,
        ready: drystone_live::clock::unix_seconds(),
        never: false,
    };
    let mut more: Vec<String> = Vec::new();
    let mut tasks = 1;
    match kind {
        // Half of the arrays have more tasks than their user's jobs may run at once.
        0..8 => (tasks, job.limited) = (3 + dice.roll(4) as u32, dice.roll(2) == 0),
        8..20 if nodes == 1 => job.memory = 2_000 + 1_000 * dice.roll(5) as u32,
        20..30 => job.limited = true,
        30..37 => {
            let own: Vec<&Planned> = jobs.iter().rev().take(60).filter(|job| job.user == user && !job.never).collect();
            job.after = own.first().map(|parent| [parent.name(0), parent.name(1)]);
        }
        37..43 => {
            // Arrays as well.
            tasks = [1, 1, 4][dice.roll(3) as usize];
            more.push("--hold".into());
            holds.push((job.ready + 25, jobs.len()));
            job.ready += 25;
        }
        43 => (job.minutes, job.never) = (90, true),
        _ => {}
    }
    if job.limited {
        more.push("--qos=limited".into());
    }
    if tasks > 1 {
        more.push(format!("--array=1-{tasks}"));
    }
    for (at, site) in sites.into_iter().enumerate() {
        let mut args = vec!["--parsable".to_string(), "-o".into(), "/dev/null".into(), format!("-N{nodes}")];
        args.extend([
            format!("--ntasks-per-node={procs}"),
            format!("-t{}", job.minutes),
            format!("--mem={}", job.memory),
        ]);
        args.extend(more.iter().cloned());
        if let Some(after) = &job.after {
            args.push(format!("--dependency=afterany:{}", after[at]));
        }
        args.extend(["--wrap".to_string(), format!("sleep {seconds}")]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        job.number[at] = as_one(site, user, "sbatch", &args).parse().expect("a number");
    }
    if tasks == 1 {
        return vec![job];
    }
    (1..=tasks).map(|task| Planned { task: Some(task), ..job.clone() }).collect()
}

/// Lets jobs go whose time has come, as their owners.
fn release(sites: [&Site; 2], jobs: &[Planned], holds: &mut Vec<(i64, usize)>) {
    let now = drystone_live::clock::unix_seconds();
    holds.retain(|&(time, at)| {
        if time > now {
            return true;
        }
        for (site, number) in sites.into_iter().zip(jobs[at].number) {
            as_one(site, jobs[at].user, "scontrol", &["release", &number.to_string()]);
        }
        false
    });
}

/// Waits until slurmctld answers.
fn answers(site: &Site) {
    within(Duration::from_secs(60), "slurmctld answers", || {
        let output = site.cluster.slurm_command("scontrol").args(["ping"]).output().expect("scontrol runs");
        String::from_utf8_lossy(&output.stdout).contains("is UP")
    });
}

/// Does on both sites what people do when a killed slurmctld has started a job a second time. Slurm
/// drains the node and holds the job; an administrator resumes the one, the owner releases the
/// other. Returns the jobs released, by name.
fn mend(sites: [&Site; 2], jobs: &[Planned], releases: &mut [BTreeMap<String, i64>; 2]) {
    for (at, site) in sites.into_iter().enumerate() {
        let listing = site.cluster.command_output("sinfo", &["-h", "-R", "-o", "%N %E"]);
        for line in listing.lines().filter(|line| line.ends_with("Duplicate jobid")) {
            let name = format!("NodeName={}", line.split(' ').next().unwrap_or_default());
            site.tell("scontrol", &["update", &name, "State=RESUME"]);
        }
        let listing = site.cluster.command_output("squeue", &["-h", "-a", "-r", "-t", "PD", "-o", "%i %r"]);
        for line in listing.lines().filter(|line| line.ends_with("launch failed requeued held")) {
            let name = line.split(' ').next().unwrap_or_default();
            let Some(job) = jobs.iter().find(|job| job.name(at) == name) else { continue };
            let now = drystone_live::clock::unix_seconds();
            if releases[at].get(name).is_none_or(|&before| now - before > AGAIN) {
                println!("site {at}: job {name} is released by its owner: {line}");
                as_one(site, job.user, "scontrol", &["release", name]);
                releases[at].insert(name.to_string(), now);
            }
        }
    }
}

/// Something goes wrong: with Slurm or a node on both sites, with the daemon on the driven one.
fn fault(kind: u64, sites: [&mut Site; 2], daemon: &mut super::site::Running) {
    let [own_site, peer] = sites;
    match kind {
        0 | 1 => {
            daemon.kill();
            std::thread::sleep(Duration::from_secs(2));
            *daemon = own_site.drive();
        }
        2 => {
            // What slurmctld has not saved is forgotten: nothing is submitted in its last seconds.
            std::thread::sleep(Duration::from_secs(12));
            let mut pair = [own_site, peer];
            pair.iter_mut().for_each(|site| site.cluster.kill_controller());
            pair.iter_mut().for_each(|site| site.cluster.start_controller());
            pair.iter().for_each(|site| answers(site));
        }
        3 => {
            let pair = [&*own_site, &*peer];
            pair.iter().for_each(|site| site.cluster.pause_controller(true));
            std::thread::sleep(Duration::from_secs(15));
            pair.iter().for_each(|site| site.cluster.pause_controller(false));
            pair.iter().for_each(|site| answers(site));
        }
        _ => {
            for site in [&*own_site, &*peer] {
                site.tell("scontrol", &["update", "NodeName=n2", "State=DRAIN", "Reason=soak"]);
            }
            std::thread::sleep(Duration::from_secs(20));
            for site in [&*own_site, &*peer] {
                site.tell("scontrol", &["update", "NodeName=n2", "State=RESUME"]);
            }
        }
    }
}

/// Seconds in which the machine itself was late, each with its lateness in milliseconds; noted
/// until the test ends.
fn lateness() -> Arc<Mutex<BTreeMap<i64, u128>>> {
    let delays = Arc::new(Mutex::new(BTreeMap::new()));
    let handle = Arc::downgrade(&delays);
    std::thread::spawn(move || {
        while let Some(delay_map) = handle.upgrade() {
            let (nap_start, nap) = (Instant::now(), Duration::from_millis(100));
            std::thread::sleep(nap);
            let late = nap_start.elapsed().saturating_sub(nap).as_millis();
            if late > SLOW {
                delay_map
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(drystone_live::clock::unix_seconds(), late);
            }
        }
    });
    delays
}

fn soak() {
    let Some(plan) = Plan::given() else { return };
    let (Some(mut own_site), Some(mut peer)) = (start(&policy(), "backfill"), start("easy", "backfill")) else {
        return;
    };
    let mut daemon = own_site.drive();
    let late = lateness();
    let (mut dice, mut jobs, mut holds, mut faults) = (Dice(plan.seed), Vec::new(), Vec::new(), Vec::new());
    let mut releases = [BTreeMap::new(), BTreeMap::new()];
    let start_time = Instant::now();
    let mut next_fault = Duration::from_secs(plan.fault);
    let mut oldest = 0;
    while start_time.elapsed() < Duration::from_secs(plan.minutes * 60) {
        let new = submit(&mut dice, [&own_site, &peer], &jobs, &mut holds);
        jobs.extend(new);
        release([&own_site, &peer], &jobs, &mut holds);
        mend([&own_site, &peer], &jobs, &mut releases);
        oldest = oldest.max(own_site.silence().unwrap_or(0));
        if start_time.elapsed() >= next_fault {
            let (from, roll) = (drystone_live::clock::unix_seconds(), dice.roll(5));
            let kind = plan.kind.unwrap_or(roll);
            fault(kind, [&mut own_site, &mut peer], &mut daemon);
            println!("{} s: fault {kind}, {} jobs so far", start_time.elapsed().as_secs(), jobs.len());
            faults.push((from, drystone_live::clock::unix_seconds() + SHADOW));
            next_fault = start_time.elapsed() + Duration::from_secs(plan.fault);
        }
        std::thread::sleep(Duration::from_millis(EVERY / 2 + dice.roll(EVERY)));
    }
    while !holds.is_empty() {
        release([&own_site, &peer], &jobs, &mut holds);
        std::thread::sleep(Duration::from_secs(1));
    }
    for job in jobs.iter().filter(|job| job.never) {
        for (site, number) in [&own_site, &peer].into_iter().zip(job.number) {
            site.tell("scancel", &[&number.to_string()]);
        }
    }
    let since = Instant::now();
    while [&own_site, &peer].iter().any(|site| !left(site).is_empty()) {
        mend([&own_site, &peer], &jobs, &mut releases);
        assert!(since.elapsed() < Duration::from_secs(900), "jobs are left; {}", lost([&own_site, &peer], &jobs));
        std::thread::sleep(Duration::from_secs(1));
    }
    own_site.settled();
    let counters = own_site.published()["health"]["counters"].clone();
    drop(daemon);
    let records = [times(&own_site), times(&peer)];
    println!(
        "{} jobs, {} faults in {} min; oldest heartbeat seen {oldest} s; {counters}",
        jobs.len(),
        faults.len(),
        plan.minutes
    );
    let late = late.lock().unwrap_or_else(PoisonError::into_inner).clone();
    println!(
        "the machine was late by more than {SLOW} ms {} times, at most {} ms",
        late.len(),
        late.values().max().unwrap_or(&0)
    );
    let again = [0, 1].map(|at| begun_again([&own_site, &peer][at], &releases[at]));
    println!("jobs that Slurm started again: {} here, {} there", again[0].len(), again[1].len());
    judge(&own_site, &jobs, &records, &again, &faults, &late);
    own_site.replays();
}

/// Jobs that are not over.
fn left(site: &Site) -> Vec<String> {
    let listing = site.cluster.command_output("squeue", &["-h", "-a", "-r", "-o", "%i %t %r %Q"]);
    listing.lines().map(str::to_string).collect()
}

/// Jobs that are left on both sites, and what the daemon says of them.
fn lost(sites: [&Site; 2], jobs: &[Planned]) -> String {
    let of = |at: usize| {
        let line = |line: String| {
            let name = line.split(' ').next().unwrap_or_default();
            let job = jobs.iter().find(|job| job.name(at) == name);
            format!("{line}: {job:?}\n")
        };
        left(sites[at]).into_iter().map(line).collect::<String>()
    };
    let waiting = sites[0].published()["waiting"].clone();
    format!("here:\n{}there:\n{}published: {waiting}\nlog: {}", of(0), of(1), sites[0].log_tail())
}

/// Jobs that Slurm requeued, by name, each with the time from which its last start was possible: a
/// requeued job may begin two minutes later, and one that it holds waits for its owner.
fn begun_again(site: &Site, releases: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let mut command = site.cluster.slurm_command("squeue");
    let format = "JobArrayID:20,RestartCnt:8,EligibleTime:24";
    command.env("SLURM_TIME_FORMAT", "%s").args(["-h", "-a", "-r", "-t", "all", "-O", format]);
    let output = command.output().expect("squeue runs");
    let listing = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut again = releases.clone();
    for line in listing.lines() {
        let [name, restarts, eligible] = line.split_whitespace().collect::<Vec<_>>()[..] else { continue };
        if restarts != "0" {
            let from = again.entry(name.to_string()).or_default();
            *from = (*from).max(eligible.parse().unwrap_or(0));
        }
    }
    again
}

/// A job with its times on the driven site.
struct Row<'a> {
    job: &'a Planned,
    ready: i64,
    start: i64,
    end: i64,
    longer: i64,
    nodes: Vec<usize>,
}

type Times = BTreeMap<String, (i64, i64)>;

/// Nodes of every job of a site, by name.
fn nodes(site: &Site) -> BTreeMap<String, Vec<usize>> {
    let listing = site.cluster.command_output("squeue", &["-h", "-a", "-r", "-t", "all", "-o", "%i %N"]);
    let line = |line: &str| {
        let (name, list) = line.split_once(' ')?;
        let names = drystone_slurm::conf::expand_hostlist(list).ok()?;
        let at = names.iter().filter_map(|node| node.strip_prefix('n')?.parse::<usize>().ok());
        Some((name.to_string(), at.map(|at| at - 1).collect()))
    };
    listing.lines().filter_map(line).collect()
}

/// Announced and ordered starts of the journal.
#[derive(Default)]
struct Plans {
    /// Announced starts: time of the announcement, job, time announced.
    reserved: Vec<(i64, JobKey, i64)>,
    /// Ordered starts: time of the order, job.
    ordered: Vec<(i64, JobKey)>,
}

fn plans(site: &Site) -> Plans {
    let mut plans = Plans::default();
    for (_, records) in journal::read_journal(&site.home().journal_folder()).expect("a journal") {
        let mut offset = 0;
        let mut now = 0;
        for record in records {
            match record {
                JournalRecord::In(CoreInput::Facts { stamp, delta, .. }) => {
                    (offset, now) = (stamp.now - delta.time, delta.time)
                }
                JournalRecord::Out(output) => {
                    for decision in output.decided {
                        match (decision.action, decision.key) {
                            (Action::Reserve { start, .. }, Some(key)) => {
                                plans.reserved.push((now, key, start.0 - offset));
                            }
                            (Action::Start { .. }, Some(key)) => plans.ordered.push((now, key)),
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
        }
    }
    plans
}

/// Checks that a job that waits longer than under Slurm's own scheduler had no room, or that it was
/// reserved.
fn judge(
    site: &Site,
    jobs: &[Planned],
    records: &[Times; 2],
    again: &[BTreeMap<String, i64>; 2],
    faults: &[(i64, i64)],
    slow: &BTreeMap<i64, u128>,
) {
    let on = nodes(site);
    let ready = |job: &Planned, at: usize| {
        let after = job.after.as_ref().map(|after| ended(&records[at], &after[at]));
        let again = again[at].get(&job.name(at)).copied();
        job.ready.max(after.unwrap_or(0)).max(again.unwrap_or(0))
    };
    let mut rows = Vec::new();
    let mut missing = Vec::new();
    for job in jobs.iter().filter(|job| !job.never) {
        let pair = (records[0].get(&job.name(0)), records[1].get(&job.name(1)));
        let (Some(&(start, end)), Some(&(peer_start, _))) = pair else {
            missing.push(job.name(0));
            continue;
        };
        let from = ready(job, 0);
        let longer = (start - from) - (peer_start - ready(job, 1));
        let nodes = on.get(&job.name(0)).cloned().unwrap_or_default();
        rows.push(Row { job, ready: from, start, end, longer, nodes });
    }
    let mean = |wait: &dyn Fn(&Row<'_>) -> i64| rows.iter().map(wait).sum::<i64>() as f64 / rows.len().max(1) as f64;
    let late: Vec<&Row<'_>> = rows.iter().filter(|row| row.longer > LATE).collect();
    println!(
        "mean wait {:.1} s, under Slurm's own scheduler {:.1} s; {} jobs wait more than {LATE} s longer, {} more than {LATE} s shorter",
        mean(&|row| row.start - row.ready),
        mean(&|row| row.start - row.ready - row.longer),
        late.len(),
        rows.iter().filter(|row| row.longer < -LATE).count()
    );
    wide(&rows);
    let plans = plans(site);
    let announcements = announced(&rows, &plans);
    let mut culprits = Vec::new();
    for row in &late {
        let seconds: Vec<(i64, &str)> =
            (row.ready..row.start).map(|t| (t, reason(row, &rows, &plans, &announcements, faults, t))).collect();
        explain(row, &seconds, &plans, slow);
        let idle = seconds.iter().filter(|(_, cause)| [IDLE, FLIGHT].contains(cause)).count() as i64;
        if idle > LATE {
            culprits.push((row.job.name(0), row.longer, idle, row.job));
        }
    }
    assert!(missing.is_empty(), "lost: {missing:?}");
    assert!(culprits.is_empty(), "{} jobs waited for no reason (longer, idle): {culprits:#?}", culprits.len());
}

/// Prints the waits of jobs of several nodes, which need nodes that are wholly free.
fn wide(rows: &[Row<'_>]) {
    let wide: Vec<&Row<'_>> = rows.iter().filter(|row| row.job.nodes > 1).collect();
    let mean = |wait: &dyn Fn(&Row<'_>) -> i64| {
        wide.iter().map(|row| wait(row)).sum::<i64>() as f64 / wide.len().max(1) as f64
    };
    println!(
        "{} jobs of several nodes: mean wait {:.1} s, under Slurm's own scheduler {:.1} s; longest {} s",
        wide.len(),
        mean(&|row| row.start - row.ready),
        mean(&|row| row.start - row.ready - row.longer),
        wide.iter().map(|row| row.start - row.ready).max().unwrap_or(0)
    );
}

/// A job whose start was announced, with the times of the announcements and the starts announced.
struct Announced<'a> {
    head: &'a Row<'a>,
    times: Vec<(i64, i64)>,
}

fn announced<'a>(rows: &'a [Row<'a>], plans: &Plans) -> Vec<Announced<'a>> {
    let mut of: BTreeMap<JobKey, Vec<(i64, i64)>> = BTreeMap::new();
    for &(at, key, start) in &plans.reserved {
        of.entry(key).or_default().push((at, start));
    }
    let row = |key: &JobKey| rows.iter().find(|row| row.job.number[0] == key.id && row.job.task == key.task);
    of.into_iter().filter_map(|(key, times)| Some(Announced { head: row(&key)?, times })).collect()
}

/// End of a job, or of the last task of an array.
fn ended(times: &Times, name: &str) -> i64 {
    let tasks = format!("{name}_");
    let own = times.iter().filter(|(entry, _)| *entry == name || entry.starts_with(&tasks));
    own.map(|(_, &(_, end))| end).max().unwrap_or(0)
}

const IDLE: &str = "idle";
const FLIGHT: &str = "idle, but ordered for others";
/// The policy, which counts processors of all nodes together, kept them for a job that cannot start
/// on them at that time, for they are in pieces.
const FRAGMENTS: &str = "reserved in pieces that the head does not fit";

/// Reason why a job waits in a second.
fn reason(
    row: &Row<'_>,
    rows: &[Row<'_>],
    plans: &Plans,
    announcements: &[Announced<'_>],
    faults: &[(i64, i64)],
    t: i64,
) -> &'static str {
    if faults.iter().any(|&(from, to)| (from..=to).contains(&t)) {
        return "a fault";
    }
    if let Some(obstacle) = obstacle(row, rows, t, &|other| other.start) {
        return obstacle;
    }
    if let Some(cause) = announcements.iter().find_map(|announcement| reservation(row, rows, announcement, t)) {
        return cause;
    }
    let own = |rival: &Row<'_>, key: &JobKey| rival.job.number[0] == key.id && rival.job.task == key.task;
    let order_time = |rival: &Row<'_>| {
        let mut orders = plans.ordered.iter().filter(|(at, key)| *at <= rival.start && own(rival, key));
        if std::ptr::eq(rival, row) { rival.start } else { orders.next_back().map_or(rival.start, |(at, _)| *at) }
    };
    if obstacle(row, rows, t, &order_time).is_some() { FLIGHT } else { IDLE }
}

/// Prints why a late job waited, in seconds of each reason, with its idle stretches.
fn explain(row: &Row<'_>, seconds: &[(i64, &str)], plans: &Plans, slow: &BTreeMap<i64, u128>) {
    let mut of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut stretches: Vec<(i64, i64)> = Vec::new();
    for &(t, cause) in seconds {
        *of.entry(cause).or_default() += 1;
        match stretches.last_mut() {
            _ if cause != IDLE => {}
            Some((_, to)) if *to == t => *to = t + 1,
            _ => stretches.push((t, t + 1)),
        }
    }
    let since = |t: i64| t - row.ready;
    let longest = stretches.iter().max_by_key(|(from, to)| to - from);
    let head = longest.and_then(|&(from, _)| plans.reserved.iter().take_while(|(at, _, _)| *at <= from).last());
    let own = |key: &JobKey| row.job.number[0] == key.id && row.job.task == key.task;
    let orders: Vec<i64> = plans.ordered.iter().filter(|(_, key)| own(key)).map(|(at, _)| since(*at)).collect();
    let job = row.job;
    println!(
        "job {} ({} × {} processors, {} MB, {} min{}{}): waits {} s, {} longer: {of:?}; ordered at {orders:?}; idle {:?}; \
         reserved then {:?}; machine late {} times",
        job.name(0),
        job.nodes,
        job.procs,
        job.memory,
        job.minutes,
        if job.limited { ", limited" } else { "" },
        if job.after.is_some() { ", after another" } else { "" },
        row.start - row.ready,
        row.longer,
        stretches.iter().map(|&(from, to)| (since(from), since(to))).collect::<Vec<_>>(),
        head.map(|(at, key, start)| (since(*at), key.id, since(*start))),
        slow.range(row.ready..=row.start).count()
    );
}

/// Obstacle to a job on the nodes or of its QOS, if any; `from`: time from which a job has its
/// processors.
fn obstacle(row: &Row<'_>, rows: &[Row<'_>], t: i64, from: &dyn Fn(&Row<'_>) -> i64) -> Option<&'static str> {
    let mut free = [(CPUS, MEMORY); NODES];
    let mut of_user = 0;
    // An end is seen and its processors are free a moment later.
    for rival in rows.iter().filter(|rival| t <= rival.end + 1 && from(rival) <= t) {
        of_user += usize::from(rival.job.limited && rival.job.user == row.job.user);
        take(&mut free, rival);
    }
    let node_count = row.job.nodes as usize;
    if row.job.limited && of_user >= LIMIT {
        return Some("limit of the QOS");
    }
    if free.iter().filter(|(procs, _)| *procs >= row.job.procs).count() < node_count {
        let procs_free: u32 = free.iter().map(|(procs, _)| procs).sum();
        return Some(if procs_free < row.job.procs * row.job.nodes { "processors" } else { "processors of one node" });
    }
    (places(&free, row.job) < node_count).then_some("memory")
}

/// Returns whether the start of a job would have moved the reservation of another, by the number of
/// processors, as the policy counts, or by nodes; and whether that one could keep it.
fn reservation(row: &Row<'_>, rows: &[Row<'_>], announcement: &Announced<'_>, t: i64) -> Option<&'static str> {
    let head = announcement.head;
    let &(_, start) = announcement.times.iter().take_while(|(at, _)| *at <= t).last()?;
    if head.start <= t || std::ptr::eq(head, row) || t + row.job.minutes * 60 <= start {
        return None;
    }
    let demand = |job: &Planned| (i64::from(job.procs * job.nodes), i64::from(job.memory * job.nodes));
    let mut spare = (i64::from(CPUS) * NODES as i64, i64::from(MEMORY) * NODES as i64);
    let (mut now, mut free) = ([(CPUS, MEMORY); NODES], [(CPUS, MEMORY); NODES]);
    for rival in rows.iter().filter(|rival| rival.start <= t && t < rival.end) {
        take(&mut now, rival);
        if rival.start + rival.job.minutes * 60 > start {
            let (procs, memory) = demand(rival.job);
            spare = (spare.0 - procs, spare.1 - memory);
            take(&mut free, rival);
        }
    }
    let (own, head_demand) = (demand(row.job), demand(head.job));
    let counts = own.0 <= spare.0 - head_demand.0 && own.1 <= spare.1 - head_demand.1;
    if places(&free, head.job) < head.job.nodes as usize {
        return (!counts).then_some(FRAGMENTS);
    }
    (!counts || !fits_beside(row.job, head.job, &now, &free)).then_some("reserved")
}

/// Returns whether a job fits on some nodes now so that another still fits later.
fn fits_beside(job: &Planned, head: &Planned, now: &[(u32, u32); NODES], later: &[(u32, u32); NODES]) -> bool {
    (0u32..1 << NODES).filter(|set| set.count_ones() == job.nodes).any(|set| {
        let mut room = *later;
        let on = (0..NODES).filter(|at| set & (1 << at) != 0);
        let fits = on
            .clone()
            .all(|at| [now[at], later[at]].iter().all(|&(procs, memory)| procs >= job.procs && memory >= job.memory));
        for at in on {
            room[at] = (room[at].0.saturating_sub(job.procs), room[at].1.saturating_sub(job.memory));
        }
        fits && places(&room, head) >= head.nodes as usize
    })
}

/// Takes the room of a job off its nodes.
fn take(free: &mut [(u32, u32); NODES], row: &Row<'_>) {
    for &at in &row.nodes {
        free[at].0 = free[at].0.saturating_sub(row.job.procs);
        free[at].1 = free[at].1.saturating_sub(row.job.memory);
    }
}

/// Returns the number of nodes with room for a part of a job.
fn places(free: &[(u32, u32); NODES], job: &Planned) -> usize {
    free.iter().filter(|(procs, memory)| *procs >= job.procs && *memory >= job.memory).count()
}
