//! Random sites, written as their files: nodes of several kinds, partitions that overlap, limits of
//! accounts and QOS, events, reservations, jobs.

use drystone::model::ProcSet;
use drystone_reference::nodes::{NaiveNode, NaiveShare};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Time before the first submission of a random site.
pub(crate) const BEGIN: i64 = 1_767_225_600;

/// Demand of a random job, as in its record and as the checker counts it.
pub(crate) struct Drawn {
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    pub(crate) memory: Option<(u64, bool)>,
    pub(crate) devices: Option<(Option<String>, u32)>,
    pub(crate) alone: bool,
}

/// A random site: its configuration, its events, its jobs, and its nodes in the order of Slurm.
pub(crate) struct RandomSite {
    pub(crate) conf: String,
    pub(crate) events: String,
    pub(crate) jobs: String,
    pub(crate) nodes: Vec<NaiveNode>,
    pub(crate) drawn: BTreeMap<i64, Drawn>,
    pub(crate) from: Option<i64>,
}

impl RandomSite {
    pub(crate) fn draw(seed: u64) -> RandomSite {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let memory = random.random_bool(0.7);
        let mut conf = format!(
            "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core{}\nGresTypes=gpu\n",
            if memory { "_Memory" } else { "" }
        );
        let (mut nodes, mut features) = (Vec::new(), Vec::new());
        for class in 0..random.random_range(1..=3_u32) {
            let node = NaiveNode {
                cpus: [2, 4, 8, 16][random.random_range(0..4_usize)],
                memory: memory.then(|| random.random_range(2..=32) * 1_000),
                devices: match random.random_range(0..4) {
                    0 => vec![("a".to_string(), random.random_range(1..=4))],
                    1 => vec![("a".to_string(), 1), ("b".to_string(), random.random_range(1..=3))],
                    _ => Vec::new(),
                },
            };
            let (first, last) = (nodes.len() + 1, nodes.len() + random.random_range(1..=4_usize));
            let _ = write!(conf, "NodeName=n[{first}-{last}] CPUs={}", node.cpus);
            let _ = write!(conf, " RealMemory={}", node.memory.unwrap_or(4_000));
            if !node.devices.is_empty() {
                let gres: Vec<String> = node.devices.iter().map(|(kind, n)| format!("gpu:{kind}:{n}")).collect();
                let _ = write!(conf, " Gres={}", gres.join(","));
            }
            let feature = format!("f{class}");
            let _ = writeln!(conf, " Features={feature} Weight={}", random.random_range(1..=2));
            for _ in first..=last {
                nodes.push(node.clone());
                features.push(feature.clone());
            }
        }
        let mut parts: Vec<(Vec<usize>, bool)> = Vec::new();
        for at in 0..random.random_range(1..=3_usize) {
            let indices: Vec<usize> = (0..nodes.len()).collect();
            let own: Vec<usize> = if at == 0 {
                indices
            } else {
                let mut some = indices;
                some.shuffle(&mut random);
                some.truncate(random.random_range(1..=nodes.len()));
                some.sort_unstable();
                some
            };
            let alone = at > 0 && random.random_bool(0.2);
            let names: Vec<String> = own.iter().map(|node| format!("n{}", node + 1)).collect();
            let _ = writeln!(
                conf,
                "PartitionName=p{at} Nodes={}{}{}",
                names.join(","),
                if at == 0 { " Default=YES" } else { "" },
                if alone { " OverSubscribe=EXCLUSIVE" } else { "" }
            );
            parts.push((own, alone));
        }
        let mut events = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\n".to_string();
        for _ in 0..random.random_range(1..=3) {
            let begin = BEGIN + random.random_range(0..40_000);
            let end = begin + random.random_range(100..20_000);
            let _ = writeln!(events, "c|n{}|{begin}|{end}|DOWN|x", random.random_range(1..=nodes.len()));
        }
        let mut site = RandomSite { conf, events, jobs: String::new(), nodes, drawn: BTreeMap::new(), from: None };
        for id in 1..=random.random_range(20..=50) {
            site.job(id, &parts, &features, &mut random);
        }
        site.from = random.random_bool(0.5).then(|| BEGIN + random.random_range(1_000..15_000));
        site
    }

    fn job(&mut self, id: i64, parts: &[(Vec<usize>, bool)], features: &[String], random: &mut ChaCha8Rng) {
        let part = random.random_range(0..parts.len());
        let (own, alone) = &parts[part];
        let like = own[random.random_range(0..own.len())];
        let node = self.nodes[like].clone();
        // As many nodes as there are of the kind, in its partition.
        let alike: Vec<usize> = own.iter().copied().filter(|&index| features[index] == features[like]).collect();
        let count = random.random_range(1..=alike.len().min(3)) as u32;
        let each = if *alone { node.cpus } else { random.random_range(1..=node.cpus) };
        let per_cpu = random.random_bool(0.3);
        let memory = node.memory.map(|most| {
            let mb =
                if per_cpu { random.random_range(1..=most / u64::from(each)) } else { random.random_range(1..=most) };
            (mb, per_cpu)
        });
        let devices = (!node.devices.is_empty() && random.random_bool(0.6)).then(|| {
            let (kind, most) = &node.devices[random.random_range(0..node.devices.len())];
            let n = random.random_range(1..=*most);
            (random.random_bool(0.7).then(|| kind.clone()), n)
        });
        let constraint = if random.random_bool(0.2) { features[like].as_str() } else { "" };
        let submit = BEGIN + random.random_range(0..30_000);
        let (run, minutes) = (random.random_range(0..6_000), random.random_range(1..=100));
        let run = run.min(minutes * 60);
        let start = submit + random.random_range(0..8_000);
        let (cpus, state) = (each * count, random.random_range(0..10));
        let mut picks = alike;
        picks.shuffle(random);
        picks.truncate(count as usize);
        let list: Vec<String> = picks.iter().map(|node| format!("n{}", node + 1)).collect();
        let total = |mb: u64, per_cpu: bool| mb * u64::from(if per_cpu { cpus } else { count });
        let mut tres = format!("cpu={cpus},node={count}");
        if let Some((mb, per_cpu)) = memory {
            let _ = write!(tres, ",mem={}M", total(mb, per_cpu));
        }
        if let Some((kind, n)) = &devices {
            let gpu_total = n * count;
            let _ = write!(tres, ",gres/gpu={gpu_total}");
            if let Some(kind) = kind {
                let _ = write!(tres, ",gres/gpu:{kind}={gpu_total}");
            }
        }
        let request =
            memory.map_or("0".to_string(), |(mb, per_cpu)| format!("{mb}M{}", if per_cpu { 'c' } else { 'n' }));
        let (times, word, alloc_cpus, nodes) = match state {
            0 => (format!("Unknown|{start}|0"), "CANCELLED by 0", 0, String::new()),
            1 => ("Unknown|Unknown|0".to_string(), "PENDING", 0, String::new()),
            2 => (format!("{start}|Unknown|{run}"), "RUNNING", cpus, list.join(",")),
            _ => (format!("{start}|{}|{run}", start + run), "COMPLETED", cpus, list.join(",")),
        };
        let alloc = if alloc_cpus > 0 { tres.as_str() } else { "" };
        let _ = writeln!(
            self.jobs,
            "{id}|u{}|a|p{part}|{submit}|{submit}|{times}|{minutes}|{word}|{cpus}|{alloc_cpus}|{count}|{count}|{request}|{tres}|{alloc}||{nodes}|{constraint}",
            id % 3
        );
        self.drawn.insert(id, Drawn { cpus: each, nodes: count, memory, devices, alone: *alone });
    }

    /// The shares of a job that is on these processors.
    pub(crate) fn shares(&self, id: i64, on: &ProcSet, in_turn: bool) -> Vec<NaiveShare> {
        let draw = &self.drawn[&id];
        let mut first = 0;
        let mut shares = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let cpus = on.intersection(&ProcSet::from_range(first..first + node.cpus)).len();
            first += node.cpus;
            if cpus > 0 {
                let memory = draw.memory.map_or(0, |(mb, per_cpu)| if per_cpu { mb * u64::from(cpus) } else { mb });
                shares.push(NaiveShare { node: place, cpus, memory, devices: draw.devices.clone() });
            }
        }
        // Whole nodes may be of another size, and of these the first processors are named. A job
        // whose nodes are out for good gets others after a week.
        if !draw.alone && in_turn {
            assert_eq!(shares.len() as u32, draw.nodes, "job {id} asked for {} nodes of {}", draw.nodes, draw.cpus);
        }
        shares
    }
}

/// Amount that a limit adds up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum LimitedAmount {
    Cpus,
    Gpus,
    /// Of the type `a`, by jobs that name it.
    GpusOfA,
    Jobs,
    /// Processors times the seconds that jobs have left.
    CpuSeconds,
}

/// A limit by its definition: the jobs that count for it, and how much these may have together.
#[derive(Clone, Debug)]
pub(crate) struct NaiveLimit {
    /// Jobs of each user count by themselves.
    pub(crate) each_user: bool,
    pub(crate) accounts: Option<&'static [&'static str]>,
    pub(crate) qos: Option<&'static str>,
    pub(crate) partition: Option<&'static str>,
    pub(crate) amount: LimitedAmount,
    pub(crate) most: u64,
}

/// Rules of a random site, and what its jobs are beside their demands.
pub(crate) struct SiteRules {
    pub(crate) conf: String,
    pub(crate) accounts: String,
    pub(crate) reservations: String,
    pub(crate) jobs: String,
    pub(crate) limits: Vec<NaiveLimit>,
    /// Licences that there are.
    pub(crate) licences: u32,
    /// By the number of a job.
    pub(crate) standing: BTreeMap<i64, JobStanding>,
}

/// Standing of a job among accounts and rules, beside its demand.
pub(crate) struct JobStanding {
    pub(crate) user: String,
    account: &'static str,
    qos: &'static str,
    partition: String,
    pub(crate) licences: u32,
    /// Time limit.
    pub(crate) seconds: i64,
}

impl SiteRules {
    /// Draws rules for a site, from numbers of their own.
    pub(crate) fn draw(seed: u64, site: &RandomSite) -> SiteRules {
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x005e_ed0f_7e57);
        let licences = if random.random_bool(0.5) { random.random_range(1..=3_u32) } else { 0 };
        let mut rules = SiteRules {
            conf: String::new(),
            accounts: String::new(),
            reservations: "Cluster|Name|NodeNames|TRES|Start|End|Flags\n".to_string(),
            jobs: String::new(),
            limits: Vec::new(),
            licences,
            standing: BTreeMap::new(),
        };
        rules.draw_limits(&site.conf, &mut random);
        for at in 0..random.random_range(0..=2) {
            let from = BEGIN + random.random_range(0..40_000);
            let until = from + random.random_range(100..10_000);
            let node = random.random_range(1..=site.nodes.len());
            let cpus = site.nodes[node - 1].cpus;
            let _ = writeln!(rules.reservations, "c|r{at}|n{node}|cpu={cpus}|{from}|{until}|MAINT");
        }
        for row in site.jobs.lines() {
            rules.draw_job(row, &mut random);
        }
        rules
    }

    fn draw_limits(&mut self, conf: &str, random: &mut ChaCha8Rng) {
        let (licences, mut limits) = (self.licences, Vec::new());
        let template = NaiveLimit {
            each_user: false,
            accounts: None,
            qos: None,
            partition: None,
            amount: LimitedAmount::Cpus,
            most: 0,
        };
        let mut draw = |chance: f64, largest: u64, limit: NaiveLimit| -> Option<u64> {
            let most = random.random_range(1..=largest);
            random.random_bool(chance).then(|| limits.push(NaiveLimit { most, ..limit }))?;
            Some(most)
        };
        let of_user = NaiveLimit { each_user: true, qos: Some("normal"), ..template.clone() };
        let normal = draw(0.6, 16, of_user).map_or(String::new(), |most| format!("cpu={most}"));
        let of_gpus = NaiveLimit { qos: Some("small"), amount: LimitedAmount::Gpus, ..template.clone() };
        let of_type = NaiveLimit { amount: LimitedAmount::GpusOfA, ..of_gpus.clone() };
        let mut small: Vec<String> = draw(0.6, 4, of_gpus).map(|most| format!("gres/gpu={most}")).into_iter().collect();
        small.extend(draw(0.4, 3, of_type).map(|most| format!("gres/gpu:a={most}")));
        let small = small.join(",");
        let of_door =
            NaiveLimit { each_user: true, partition: Some("p1"), amount: LimitedAmount::Jobs, ..template.clone() };
        let door = draw(0.5, 3, of_door).map_or(String::new(), |most| most.to_string());
        let of_both = NaiveLimit { accounts: Some(&["a", "b"]), ..template.clone() };
        let above = draw(0.5, 40, of_both).map_or(String::new(), |most| format!("cpu={most}"));
        let minutes = NaiveLimit { accounts: Some(&["a", "b"]), amount: LimitedAmount::CpuSeconds, ..template.clone() };
        let minutes_limit = draw(0.5, 4_000, minutes).map_or(String::new(), |most| format!("cpu={most}"));
        let of_child = NaiveLimit { accounts: Some(&["b"]), amount: LimitedAmount::Jobs, ..template };
        let child = draw(0.5, 5, of_child).map_or(String::new(), |most| most.to_string());
        let in_minutes = limits.iter_mut().filter(|limit| limit.amount == LimitedAmount::CpuSeconds);
        in_minutes.for_each(|limit| limit.most *= 60);
        self.limits = limits;
        self.accounts = format!(
            "Name|Priority|GrpTRES|MaxTRESPU|MaxJobsPU\nnormal|0||{normal}|\nsmall|0|{small}||\ndoor|0|||{door}\n\
             Account|User|ParentName|Share|GrpTRES|GrpJobs|GrpTRESRunMins\nroot|||1|||\na||root|1|{above}||{minutes_limit}\n\
             b||a|1||{child}|\n"
        );
        for user in 0..3 {
            let _ = write!(self.accounts, "a|u{user}||1|||\nb|u{user}||1|||\n");
        }
        let enforcement = "AccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\n\
                        AccountingStorageEnforce=associations,limits,qos\n";
        let licences = if licences > 0 { format!("Licenses=sim:{licences}\n") } else { String::new() };
        self.conf = conf.replace("PartitionName=p1 ", "PartitionName=p1 QOS=door ");
        self.conf = self.conf.replace("GresTypes=gpu\n", &format!("GresTypes=gpu\n{enforcement}{licences}"));
    }

    fn draw_job(&mut self, row: &str, random: &mut ChaCha8Rng) {
        let mut cells: Vec<String> = row.split('|').map(String::from).collect();
        let account = ["a", "b"][random.random_range(0..2_usize)];
        let qos = ["normal", "small"][random.random_range(0..2_usize)];
        let asks = self.licences > 0 && random.random_bool(0.3);
        let licences = if asks { random.random_range(1..=self.licences) } else { 0 };
        cells[2] = account.to_string();
        if asks {
            for cell in &mut cells[16..=17] {
                if !cell.is_empty() {
                    let _ = write!(cell, ",license/sim={licences}");
                }
            }
        }
        let id = cells[0].parse().expect("a number");
        let (user, partition) = (cells[1].clone(), cells[3].clone());
        let seconds = cells[9].parse::<i64>().expect("minutes") * 60;
        self.standing.insert(id, JobStanding { user, account, qos, partition, licences, seconds });
        let _ = writeln!(self.jobs, "{}|{qos}", cells.join("|"));
    }

    /// Returns whether a job counts for a limit.
    pub(crate) fn counts(&self, limit: &NaiveLimit, id: i64) -> bool {
        let JobStanding { account, qos, partition, .. } = &self.standing[&id];
        limit.accounts.is_none_or(|accounts| accounts.contains(account))
            && limit.qos.is_none_or(|own| own == *qos)
            && limit.partition.is_none_or(|own| own == partition)
    }
}
