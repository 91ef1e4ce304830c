//! Every policy of the registry on random sites, under the rules of the site: no refusal, no broken
//! contract, no lost job, and by naive definitions no node, licence or limit beyond what it has.

use crate::common::{Folder, imported, utc};
use crate::random_site::{BEGIN, LimitedAmount, NaiveLimit, RandomSite, SiteRules};
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{
    Adopted, DemandId, DependencyEffect, DependsOn, EndedJob, JobId, NodeFill, ProcSet, Procs, Span, Time,
};
use drystone::policy::{PolicySpec, StartReason, policy_names};
use drystone_reference::nodes::{Stay, find_overfull};
use drystone_site::{ImportOptions, PoolWorkload, Site};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

const HEADER: &str = "JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|\
                      ReqMem|ReqTRES|AllocTRES|Licenses|NodeList|Constraints|QOS";

/// Time of a job on its processors; suspended, it has its memory there and nothing else.
struct SeenStay {
    id: JobId,
    from: Time,
    until: Time,
    on: ProcSet,
    suspended: bool,
}

/// Fates of the jobs.
#[derive(Default)]
struct Seen {
    stays: Vec<SeenStay>,
    on: BTreeMap<JobId, (Time, ProcSet, bool)>,
    /// Starts; those of jobs that are present at the beginning are not among them.
    starts: Vec<(Time, JobId)>,
    /// First start, or the beginning for those present then.
    first: BTreeMap<JobId, Time>,
    /// Last start, also one before the beginning.
    last: BTreeMap<JobId, Time>,
    ends: BTreeMap<JobId, Time>,
    requeued: BTreeSet<JobId>,
}

impl Seen {
    fn leaves(&mut self, id: JobId, until: Time) -> Option<ProcSet> {
        let (from, on, is_suspended) = self.on.remove(&id)?;
        self.stays.push(SeenStay { id, from, until, on: on.clone(), suspended: is_suspended });
        Some(on)
    }

    fn ends_at(&mut self, job: &EndedJob<'_>) {
        self.leaves(job.id, job.outcome.end);
        self.ends.insert(job.id, job.outcome.end);
    }
}

impl Observer for Seen {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.starts.push((now, id));
        self.first.entry(id).or_insert(now);
        self.last.insert(id, now);
    }

    fn note_placement(&mut self, now: Time, id: JobId, on: &ProcSet) {
        self.on.insert(id, (now, on.clone(), false));
    }

    fn note_adoption(&mut self, now: Time, id: JobId, adoption: &Adopted) {
        if let Adopted::Running { on, since } = adoption {
            self.first.insert(id, now);
            self.last.insert(id, *since);
            self.on.extend(on.as_ref().map(|on| (id, (now, on.clone(), false))));
        }
    }

    fn note_suspension(&mut self, now: Time, id: JobId) {
        if let Some(on) = self.leaves(id, now) {
            self.on.insert(id, (now, on, true));
        }
    }

    fn note_resumption(&mut self, now: Time, id: JobId) {
        if let Some(on) = self.leaves(id, now) {
            self.on.insert(id, (now, on, false));
        }
    }

    fn note_requeue(&mut self, now: Time, id: JobId, _: Procs, _: Span) {
        self.leaves(id, now);
        self.requeued.insert(id);
    }

    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.ends_at(job);
    }

    fn note_withdrawal(&mut self, now: Time, id: JobId) {
        self.ends.insert(id, now);
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.ends_at(job);
    }
}

/// A random site with its rules, and the workload of its pool.
struct World {
    random: RandomSite,
    rules: SiteRules,
    _folder: Folder,
    site: Site,
    pool: PoolWorkload,
    conf: String,
}

impl World {
    fn draw(seed: u64) -> World {
        let random = RandomSite::draw(seed);
        let rules = SiteRules::draw(seed, &random);
        let folder = Folder::new();
        let jobs = folder.write("jobs.psv", format!("{HEADER}\n{}", rules.jobs));
        let options = ImportOptions {
            machine: vec![folder.write("slurm.conf", &rules.conf)],
            events: vec![folder.write("events.psv", &random.events), folder.write("resv.psv", &rules.reservations)],
            accounts: vec![folder.write("accounts.txt", &rules.accounts)],
            from: random.from.map(|from| from.to_string()),
            ..utc()
        };
        let site = imported(&[jobs], &options);
        drystone_site::write_folder(&site, &folder.path("site"), &|_| {}).expect("written");
        let mut site = drystone_site::open_folder(&folder.path("site")).expect("read");
        assert!(site.take_nodes(), "its nodes are described");
        site.place_jobs(if seed.is_multiple_of(2) { NodeFill::Pack } else { NodeFill::Spread });
        let mut pool = site.pool_workload(0).unwrap_or_else(|error| panic!("site {seed}: {error}"));
        depend(&mut pool, seed);
        let conf = folder.path("site/slurm.conf").display().to_string();
        World { random, rules, _folder: folder, site, pool, conf }
    }

    fn number(&self, id: JobId) -> i64 {
        self.pool.workload.truth()[id.index()].number
    }

    fn simulate(&self, policy: &str) -> Result<Seen, String> {
        let text = if policy == "slurm" { format!("slurm:{}", self.conf) } else { policy.to_string() };
        let spec: PolicySpec = text.parse().map_err(|error| format!("{error}"))?;
        let spec = self.site.pool_policy(0, &spec).map_err(|error| error.to_string())?;
        let mut record = Seen::default();
        Experiment::new(&spec, &self.pool.workload)
            .with_outages(Some(&self.pool.outages))
            .for_metrics(&[], JobSelection::All)
            .run(&mut record)
            .map_err(|error| error.to_string())?;
        Ok(record)
    }

    fn check(&self, record: &Seen, own_ledger: bool) -> Result<(), String> {
        let ids = (0..self.pool.workload.len() as u32).map(JobId);
        let losses: Vec<i64> = ids.filter(|id| !record.ends.contains_key(id)).map(|id| self.number(id)).collect();
        if !losses.is_empty() {
            return Err(format!("jobs {losses:?} are lost"));
        }
        self.check_nodes(record)?;
        self.check_outages(record)?;
        self.check_licences(record)?;
        self.check_dependencies(record)?;
        self.check_limits(record, own_ledger)
    }

    /// No node has more than it has, and each job is where its partition is.
    fn check_nodes(&self, record: &Seen) -> Result<(), String> {
        let table = self.pool.workload.resources();
        let (mut running, mut stays) = (Vec::new(), Vec::new());
        for &(_, id) in &record.starts {
            if !record.stays.iter().any(|stay| stay.id == id) {
                return Err(format!("job {} is on no nodes", self.number(id)));
            }
        }
        for stay in &record.stays {
            let (number, job) = (self.number(stay.id), self.pool.workload.job(stay.id));
            let draw = &self.random.drawn[&number];
            // A job of a record that contradicts itself, or that runs at the beginning on what
            // others have, counts its processors only.
            if job.demand == DemandId::NONE && (draw.memory.is_some() || draw.devices.is_some()) {
                continue;
            }
            let shape = table.as_ref().and_then(|table| table.node_shape(job.demand));
            let has_shape = shape.is_some_and(|shape| shape.nodes.0 == draw.nodes);
            let early = stay.from - job.submit < Span(7 * 86_400);
            let mut shares = self.random.shares(number, &stay.on, early && has_shape);
            let is_suspended = stay.suspended;
            if is_suspended {
                shares.iter_mut().for_each(|share| (share.cpus, share.devices) = (0, None));
            }
            let (from, until, alone) = (stay.from.0, stay.until.0, draw.alone);
            let stay = Stay { job: number as u64, from, until, alone, shares };
            if !is_suspended {
                running.push(stay.clone());
            }
            stays.push(Stay { alone: false, ..stay });
        }
        // Memory of a suspended job may stay where another is alone.
        let problem = find_overfull(&self.random.nodes, &running).or_else(|| find_overfull(&self.random.nodes, &stays));
        problem.map_or(Ok(()), Err)
    }

    /// No job starts on what is out.
    fn check_outages(&self, record: &Seen) -> Result<(), String> {
        for stay in record.stays.iter().filter(|stay| !stay.suspended) {
            if !record.starts.contains(&(stay.from, stay.id)) {
                continue;
            }
            for (at, outage) in self.pool.outages.list().iter().enumerate() {
                let out = outage.begin <= stay.from && outage.end.is_none_or(|end| stay.from < end);
                let common = stay.on.intersection(self.pool.outages.processors_of(at)).len();
                if out && common > 0 {
                    let number = self.number(stay.id);
                    return Err(format!("job {number} starts at {} on {common} processors that are out", stay.from));
                }
            }
        }
        Ok(())
    }

    /// Jobs that are not suspended have no more licences than there are, but for what they had at
    /// the beginning by the records.
    fn check_licences(&self, record: &Seen) -> Result<(), String> {
        let ask = |id: JobId| {
            let has_demand = self.pool.workload.job(id).demand != DemandId::NONE;
            if has_demand { self.rules.standing[&self.number(id)].licences } else { 0 }
        };
        let running = |at: Time| {
            let stays = record.stays.iter().filter(|stay| !stay.suspended);
            stays.filter(move |stay| stay.from <= at && at < stay.until)
        };
        let begin = self.pool.workload.circumstances().and_then(|circumstances| circumstances.begin);
        let by_policy = |stay: &&SeenStay| !stay.suspended && begin.is_none_or(|begin| stay.from > begin);
        for stay in record.stays.iter().filter(by_policy).filter(|stay| ask(stay.id) > 0) {
            let sum: u32 = running(stay.from).map(|stay| ask(stay.id)).sum();
            if sum > self.rules.licences {
                let number = self.number(stay.id);
                return Err(format!("at {} job {number} runs, and {sum} licences are in use", stay.from));
            }
        }
        Ok(())
    }

    fn check_dependencies(&self, record: &Seen) -> Result<(), String> {
        let Some(circumstances) = self.pool.workload.circumstances() else { return Ok(()) };
        for (&id, at) in record.starts.iter().map(|(at, id)| (id, at)) {
            let early = circumstances.eligible.get(&id).is_some_and(|eligible| at < eligible);
            let after = circumstances.after.get(&id);
            let before = after.is_some_and(|after| {
                after.jobs.iter().any(|prerequisite| record.ends[prerequisite] + after.think > *at)
            });
            if early || before {
                return Err(format!("job {} starts at {at}, before it may", self.number(id)));
            }
        }
        Ok(())
    }

    /// Jobs of a limit have no more together than it allows, once another of them has started.
    fn check_limits(&self, record: &Seen, own_ledger: bool) -> Result<(), String> {
        // Slurm gives whole nodes to jobs that are alone there, and counts them so.
        if own_ledger && self.random.drawn.values().any(|draw| draw.alone) {
            return Ok(());
        }
        for limit in &self.rules.limits {
            for &(at, id) in &record.starts {
                let number = self.number(id);
                // The present of a job that has started again since is not known any more.
                if record.last[&id] != at || !self.rules.counts(limit, number) {
                    continue;
                }
                let user = &self.rules.standing[&number].user;
                let present = || record.first.iter().filter(|(rival, from)| **from <= at && record.ends[rival] > at);
                // What a job that begins again has left is more than what it took.
                let again = present().any(|(rival, _)| record.requeued.contains(rival));
                if again && limit.amount == LimitedAmount::CpuSeconds {
                    continue;
                }
                let rivals: Vec<(i64, i64)> = present()
                    .map(|(rival, _)| (self.number(*rival), (at - record.last[rival]).0.max(0)))
                    .filter(|(rival, _)| self.rules.counts(limit, *rival))
                    .filter(|(rival, _)| !limit.each_user || self.rules.standing[rival].user == *user)
                    .collect();
                let amounts: Vec<u64> = rivals.iter().map(|&(rival, ran)| self.amount(limit, rival, ran)).collect();
                // A job that is too large by itself ran all the same.
                let fit = rivals.iter().all(|&(rival, _)| self.amount(limit, rival, 0) <= limit.most);
                if fit && self.amount(limit, number, 0) > 0 && amounts.iter().sum::<u64>() > limit.most {
                    return Err(format!("at {at} jobs {rivals:?} have {amounts:?} of {limit:?}"));
                }
            }
        }
        Ok(())
    }

    /// Part of a limit that a job takes after so many seconds.
    fn amount(&self, limit: &NaiveLimit, number: i64, ran: i64) -> u64 {
        let draw = &self.random.drawn[&number];
        let cpus = u64::from(draw.cpus * draw.nodes);
        match limit.amount {
            LimitedAmount::Jobs => 1,
            LimitedAmount::Cpus => cpus,
            LimitedAmount::CpuSeconds => cpus * (self.rules.standing[&number].seconds - ran).max(0) as u64,
            LimitedAmount::Gpus => u64::from(draw.devices.as_ref().map_or(0, |(_, count)| count * draw.nodes)),
            LimitedAmount::GpusOfA => match &draw.devices {
                Some((Some(kind), count)) if kind == "a" => u64::from(count * draw.nodes),
                _ => 0,
            },
        }
    }
}

/// Lets some jobs depend on others, and some begin later.
fn depend(pool: &mut PoolWorkload, seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xdede);
    let mut circumstances = pool.workload.circumstances().cloned().unwrap_or_default();
    for at in 1..pool.workload.len() as u32 {
        let id = JobId(at);
        if circumstances.here.contains_key(&id) {
            continue;
        }
        if random.random_bool(0.1) {
            let (jobs, think) = (vec![JobId(random.random_range(0..at))], Span(random.random_range(0..100)));
            circumstances.after.insert(id, DependsOn { jobs, think, then: DependencyEffect::Starts });
        } else if random.random_bool(0.1) {
            let later = Span(random.random_range(0..5_000));
            circumstances.eligible.insert(id, pool.workload.job(id).submit + later);
        }
    }
    pool.workload = pool.workload.clone().with_circumstances(circumstances).expect("possible");
}

/// Limits on the time left and on GPUs of a type, by hand. The account `a` may have 360
/// processor-minutes left: beside the 240 of job 1 the 240 of job 2 fit when it has run for an
/// hour, 2 a minute. Jobs of the QOS `small` may have one A100: job 4 waits for the end of job 3.
/// Job 5 is of another QOS, and job 6 asks for a GPU of any type.
#[test]
fn time_left_and_types_of_gpus_are_limits_of_a_site() {
    let conf = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nGresTypes=gpu\n\
                AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\n\
                AccountingStorageEnforce=associations,limits,qos\n\
                NodeName=g[1-4] CPUs=8 RealMemory=16000 Gres=gpu:a100:2\nPartitionName=p Nodes=ALL Default=YES\n";
    let accounts = "Name|Priority|GrpTRES\nnormal|0|\nsmall|0|gres/gpu:a100=1\n\
                    Account|User|ParentName|Share|GrpTRESRunMins\nroot|||1|\na||root|1|cpu=360\na|u||1|\nb||root|1|\nb|u||1|\n";
    let row = |id: i64, account: &str, qos: &str, submit: i64, run: i64, gres: &str| {
        let (begin, end) = (BEGIN + submit, BEGIN + submit + run);
        let tres = format!("cpu=2,node=1{gres}");
        format!(
            "{id}|u|{account}|p|{begin}|{begin}|{begin}|{end}|{run}|120|COMPLETED|2|2|1|1|0|{tres}|{tres}||g{}||{qos}\n",
            id % 4 + 1
        )
    };
    let gpu_text = |count: u32| format!(",gres/gpu={count},gres/gpu:a100={count}");
    let jobs = [
        row(1, "a", "normal", 0, 7_200, ""),
        row(2, "a", "normal", 10, 600, ""),
        row(3, "b", "small", 20, 1_000, &gpu_text(1)),
        row(4, "b", "small", 30, 500, &gpu_text(1)),
        row(5, "b", "normal", 40, 500, &gpu_text(2)),
        row(6, "b", "small", 50, 500, ",gres/gpu=1"),
    ];
    let folder = Folder::new();
    let file = folder.write("jobs.psv", format!("{HEADER}\n{}", jobs.concat()));
    let options = ImportOptions {
        machine: vec![folder.write("slurm.conf", conf)],
        accounts: vec![folder.write("accounts.txt", accounts)],
        ..utc()
    };
    drystone_site::write_folder(&imported(&[file], &options), &folder.path("site"), &|_| {}).expect("written");
    let mut site = drystone_site::open_folder(&folder.path("site")).expect("read");
    assert!(
        !site.manifest.warnings.iter().any(|text| text.to_ascii_lowercase().contains("tres")),
        "{:?}",
        site.manifest.warnings
    );
    assert!(site.take_nodes(), "its nodes are described");
    site.place_jobs(NodeFill::Pack);
    let pool = site.pool_workload(0).expect("a workload");
    let _ = drystone_slurm::policy::register_policy();
    let own = format!("slurm:{}", folder.path("site/slurm.conf").display());
    for (policy, late) in [("easy", 0), ("conservative", 0), ("ss", 0), ("goal(nodes=50)", 0), (own.as_str(), 70)] {
        let spec: PolicySpec = policy.parse().expect("a policy");
        let spec = site.pool_policy(0, &spec).expect("the policy of the pool");
        let mut record = Seen::default();
        let experiment = Experiment::new(&spec, &pool.workload).for_metrics(&[], JobSelection::All);
        experiment.run(&mut record).unwrap_or_else(|error| panic!("{policy}: {error}"));
        for (id, expected) in [0, 3_600, 20, 1_020, 40, 50].into_iter().enumerate() {
            let start = record.first[&JobId(id as u32)].0;
            let in_time = (expected..=expected + late).contains(&start);
            assert!(in_time, "{policy}: job {} starts at {start}, expected {expected}", id + 1);
        }
    }
}

/// The policies that are tried: every name of the registry.
fn policies() -> Vec<&'static str> {
    let _ = drystone_slurm::policy::register_policy();
    // Policies of other tests are no policies of the program.
    let mut names: Vec<&str> = policy_names().into_iter().filter(|name| !name.starts_with("t-")).collect();
    names.sort_unstable();
    names
}

/// Random sites, every policy on each.
///
/// 24 sites, and every sixth for `goal`, which searches long; `DRYSTONE_POLICY_SITES=1000` takes
/// more of them, `1000..2000` others, and `DRYSTONE_POLICY` one policy alone, on all of them.
#[test]
fn every_policy_keeps_the_rules_of_a_random_site() {
    let sites_asked = std::env::var("DRYSTONE_POLICY_SITES").unwrap_or_else(|_| "24".to_string());
    let (first, end) = sites_asked.split_once("..").unwrap_or(("0", &sites_asked));
    let number = |text: &str| text.parse::<u64>().expect("DRYSTONE_POLICY_SITES is a number or FROM..UNTIL");
    let alone = std::env::var("DRYSTONE_POLICY").ok();
    let policies = policies();
    assert!(policies.contains(&"slurm") && policies.contains(&"easy++") && policies.len() > 25, "{policies:?}");
    let mut failures = Vec::new();
    let mut start_count = 0;
    for seed in number(first)..number(end) {
        let world = World::draw(seed);
        let is_choice = |policy: &str| match &alone {
            Some(alone) => alone == policy,
            None => policy != "goal" || seed % 6 == 0,
        };
        for policy in policies.iter().filter(|policy| is_choice(policy)) {
            let outcome = world.simulate(policy);
            let wrong = outcome.and_then(|record| {
                start_count += record.starts.len();
                world.check(&record, *policy == "slurm")
            });
            failures.extend(wrong.err().map(|wrong| format!("site {seed}, {policy}: {wrong}")));
        }
    }
    let list = failures.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} failures\n{list}", failures.len());
    assert!(start_count > 0, "no job started");
}
