//! Sites with a `slurm.conf`, simulated on their nodes under their own Slurm.

use crate::common::{Folder, imported, utc};
use crate::random_site::{BEGIN, RandomSite};
use drystone::engine::Observer;
use drystone::experiment::Experiment;
use drystone::metrics::JobSelection;
use drystone::model::{Adopted, DevicePer, EndedJob, JobId, NodeMemory, ProcSet, Procs, Span, Time};
use drystone::policy::{PolicySpec, StartReason};
use drystone_reference::nodes::{Stay, find_overfull};
use drystone_site::{ImportOptions, PoolWorkload, Site};
use std::collections::{BTreeMap, BTreeSet};

const HEADER: &str = "JobIDRaw|User|Account|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|ReqCPUS|AllocCPUS|ReqNodes|NNodes|\
                      ReqMem|ReqTRES|AllocTRES|Licenses|NodeList|Constraints";

/// A site that is written, read again, and taken as its nodes.
fn site(conf: &str, jobs: &str, more: impl FnOnce(&Folder, &mut ImportOptions)) -> (Folder, Site) {
    let folder = Folder::new();
    let file = folder.write("jobs.psv", format!("{HEADER}\n{jobs}"));
    let mut options = ImportOptions { machine: vec![folder.write("slurm.conf", conf)], ..utc() };
    more(&folder, &mut options);
    let site = imported(&[file], &options);
    drystone_site::write_folder(&site, &folder.path("site"), &|_| {}).expect("written");
    let mut site = drystone_site::open_folder(&folder.path("site")).expect("read");
    assert!(site.take_nodes(), "its nodes are described");
    (folder, site)
}

fn slurm(folder: &Folder) -> PolicySpec {
    let _ = drystone_slurm::policy::register_policy();
    format!("slurm:{}", folder.path("site/slurm.conf").display()).parse().expect("a policy")
}

/// Outcomes of jobs, and their nodes.
#[derive(Default)]
struct Seen {
    stays: Vec<(JobId, Time, Time, ProcSet)>,
    on: BTreeMap<JobId, (Time, ProcSet)>,
    starts: BTreeMap<JobId, Time>,
    gone: BTreeSet<JobId>,
    done: BTreeSet<JobId>,
}

impl Seen {
    fn leaves(&mut self, id: JobId, now: Time) {
        if let Some((since, set)) = self.on.remove(&id) {
            self.stays.push((id, since, now, set));
        }
    }
}

impl Observer for Seen {
    fn note_start(&mut self, now: Time, id: JobId, _: StartReason) {
        self.starts.insert(id, now);
    }

    fn note_placement(&mut self, now: Time, id: JobId, on: &ProcSet) {
        self.on.insert(id, (now, on.clone()));
    }

    fn note_adoption(&mut self, now: Time, id: JobId, adoption: &Adopted) {
        if let Adopted::Running { on: Some(on), since } = adoption {
            self.starts.insert(id, *since);
            self.on.insert(id, (now, on.clone()));
        }
    }

    fn note_requeue(&mut self, now: Time, id: JobId, _: Procs, _: Span) {
        self.leaves(id, now);
    }

    fn note_loss(&mut self, job: &EndedJob<'_>) {
        self.leaves(job.id, job.outcome.end);
        self.done.insert(job.id);
    }

    fn note_withdrawal(&mut self, _: Time, id: JobId) {
        self.gone.insert(id);
    }

    fn note_end(&mut self, job: &EndedJob<'_>) {
        self.leaves(job.id, job.outcome.end);
        self.done.insert(job.id);
    }
}

fn simulated(site: &Site, pool: &PoolWorkload, policy: &PolicySpec) -> Seen {
    let mut record = Seen::default();
    let policy = site.pool_policy(pool.pool, policy).expect("the policy of the pool");
    Experiment::new(&policy, &pool.workload)
        .with_outages(Some(&pool.outages))
        .for_metrics(&[], JobSelection::All)
        .run(&mut record)
        .unwrap_or_else(|error| panic!("{error}"));
    record
}

/// Waits by the jobs' numbers.
fn waits(site: &Site, folder: &Folder) -> BTreeMap<i64, i64> {
    let pool = site.pool_workload(0).expect("a workload");
    let record = simulated(site, &pool, &slurm(folder));
    let number = |id: JobId| pool.workload.truth()[id.index()].number;
    record.starts.iter().map(|(&id, &at)| (number(id), (at - pool.workload.job(id).submit).0)).collect()
}

const GPUS: &str = "ClusterName=toy\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nGresTypes=gpu\n\
    NodeName=c1 CPUs=8 RealMemory=16000\nNodeName=g[1-2] CPUs=8 RealMemory=16000 Gres=gpu:a100:2 Features=fast\n\
    PartitionName=main Nodes=c1,g[1-2] Default=YES MaxTime=INFINITE\nPartitionName=gpu Nodes=g[1-2] MaxTime=INFINITE\n";

/// A row of a job that ran for an hour, started when it was submitted.
fn row(id: u32, partition: &str, submit: i64, (nodes, cpus): (u32, u32), memory: &str, gres: &str) -> String {
    let (begin, end) = (BEGIN + submit, BEGIN + submit + 3_600);
    let gres = if gres.is_empty() { String::new() } else { format!(",{gres}") };
    let tres = format!("billing={cpus},cpu={cpus},mem={memory},node={nodes}{gres}");
    format!(
        "{id}|u|a|{partition}|{begin}|{begin}|{begin}|{end}|3600|120|COMPLETED|{cpus}|{cpus}|{nodes}|{nodes}|{memory}|{tres}|{tres}|||\n"
    )
}

/// Two nodes have two GPUs each. Two jobs take one and two of them, on one processor each; a third
/// that needs two on both nodes waits for the longer of the two, though 21 processors are idle; one
/// without GPUs passes it.
#[test]
fn jobs_wait_for_gpus_while_processors_are_idle() {
    let jobs = row(1, "gpu", 0, (1, 1), "1G", "gres/gpu:a100=1,gres/gpu=1")
        + &row(2, "gpu", 0, (1, 1), "1G", "gres/gpu:a100=2,gres/gpu=2")
        + &row(3, "gpu", 60, (2, 2), "2G", "gres/gpu=4")
        + &row(4, "main", 120, (1, 4), "1G", "");
    let (folder, site) = site(GPUS, &jobs, |_, _| {});
    let waits = waits(&site, &folder);
    assert!(waits[&1] < 60 && waits[&2] < 60 && waits[&4] < 60, "{waits:?}");
    assert!((3_540..3_660).contains(&waits[&3]), "{waits:?}");
}

/// A job of 12,000 MB leaves no room for one of 8,000 on its node. Three nodes have 16,000 each, so
/// the fourth such job waits until the first one has ended.
#[test]
fn jobs_wait_for_memory() {
    let jobs: String = (1..=4).map(|id| row(id, "main", i64::from(id), (1, 1), "12000M", "")).collect();
    let (folder, site) = site(GPUS, &jobs, |_, _| {});
    let waits = waits(&site, &folder);
    assert!((1..=3).all(|id| waits[&id] < 60) && (3_500..3_700).contains(&waits[&4]), "{waits:?}");
}

/// A type of GPU, a feature and memory that no node has, and a licence that the configuration
/// lacks: each is named with what is assumed, and the jobs run.
#[test]
fn what_no_node_has_is_named() {
    let feature = row(4, "main", 30, (1, 1), "1G", "");
    let feature = format!("{}quick\n", feature.trim_end_matches('\n'));
    let licence = row(5, "main", 40, (1, 1), "1G", "license/sim=1");
    let jobs = row(1, "gpu", 0, (1, 1), "1G", "gres/gpu:h100=1,gres/gpu=1")
        + &row(2, "main", 10, (1, 1), "99G", "")
        + &row(3, "gpu", 20, (1, 1), "1G", "gres/gpu=5")
        + &feature
        + &licence;
    let (folder, site) = site(GPUS, &jobs, |_, _| {});
    for sentence in [
        "1 job asks in the partition gpu for gpu:h100:1 on each node, such as 1: no node of the partition has so many of this type",
        "1 job asks in the partition main for 99 GB of each node, such as 2: no node of the partition has so much memory",
        "1 job asks in the partition gpu for gpu:5 on each node, such as 3: the partition has not so many devices",
        "1 job asks in the partition main for the features `quick`, such as 4: no node of the partition has these features",
        "1 job asks in the partition main for the licences sim:1, such as 5: `Licenses=` of slurm.conf has not so many",
    ] {
        let warnings = &site.manifest.warnings;
        assert!(warnings.iter().any(|text| text.starts_with(sentence)), "{sentence}\n{}", warnings.join("\n"));
    }
    assert_eq!(waits(&site, &folder).len(), 5);
}

/// Records have totals. Of a job on nodes that it asked for each has its share; of one that was
/// spread over several the whole counts.
#[test]
fn totals_become_shares_of_nodes() {
    let spread = row(2, "main", 0, (2, 4), "4096M", "gres/gpu=3").replace("|4|4|2|2|", "|4|4|1|2|");
    let jobs = row(1, "gpu", 0, (2, 2), "2048M", "gres/gpu:a100=4,gres/gpu=4") + &spread;
    let (_folder, site) = site(GPUS, &jobs, |_, _| {});
    let pool = site.pool_workload(0).expect("a workload");
    let table = pool.workload.resources().expect("resources");
    let shape = |id: u32| table.node_shape(pool.workload.job(JobId(id)).demand).expect("a shape");
    let (first, second) = (shape(0), shape(1));
    assert_eq!((first.nodes, first.memory), ((2, 2), NodeMemory::PerNode(1024 * 1024)));
    assert_eq!((first.devices[0].kind.as_str(), first.devices[0].count), ("a100", 2));
    assert_eq!((second.nodes.0, second.memory), (1, NodeMemory::PerCore(1024 * 1024)));
    assert_eq!((second.devices[0].per, second.devices[0].count), (DevicePer::Job, 3));
    let mem = table.find_id("mem").expect("memory");
    assert_eq!(table.find_resource(mem).map(|resource| resource.total), Some(3 * 16_000 * 1024));
    let amount = |id: u32| table.find_demand(pool.workload.job(JobId(id)).demand).map(|demand| demand.amount_of(mem));
    assert_eq!((amount(0), amount(1)), (Some(2 * 1024 * 1024), Some(4 * 1024 * 1024)));
}

/// `gres.conf` names the type that `slurm.conf` leaves out; where the two disagree `slurm.conf`
/// counts, and that is said.
#[test]
fn gres_conf_is_held_against_slurm_conf() {
    let conf = GPUS.replace("Gres=gpu:a100:2", "Gres=gpu:2");
    let jobs = row(1, "gpu", 0, (1, 1), "1G", "gres/gpu:a100=1,gres/gpu=1");
    let gres = "NodeName=g1 Name=gpu Type=a100 File=/dev/nvidia[0-1]\nNodeName=g2 Name=gpu Type=a100 Count=1\n";
    let (_folder, site) = site(&conf, &jobs, |folder, options| options.machine.push(folder.write("gres.conf", gres)));
    let sentence = "g2 has gpu:a100:1, and slurm.conf says gpu:2: slurm.conf counts";
    assert!(site.manifest.warnings.iter().any(|text| text.ends_with(sentence)), "{:?}", site.manifest.warnings);
    let gres: Vec<&str> = site.nodes.iter().map(|node| node.gres.as_str()).collect();
    assert_eq!(gres, ["", "gpu:a100:2", "gpu:2"]);
}

/// Limits follow the account: a group of two processors under `AccountingStorageEnforce` holds the
/// second job of the account back, whatever UNIX group its user has.
#[test]
fn accounts_of_the_site_limit_its_jobs() {
    let conf = format!("AccountingStorageEnforce=limits\n{GPUS}").replace(
        "GresTypes=gpu\n",
        "GresTypes=gpu\nAccountingStorageType=accounting_storage/slurmdbd\nPriorityType=priority/multifactor\n",
    );
    let accounts = "Account|User|ParentName|Share|GrpTRES\nroot|||1|\na||root|1|cpu=2\na|u||1|\n";
    let jobs: String = (1..=2).map(|id| row(id, "main", i64::from(id), (1, 2), "1G", "")).collect();
    let (folder, with) =
        site(&conf, &jobs, |folder, options| options.accounts.push(folder.write("assoc.txt", accounts)));
    let limit_waits = waits(&with, &folder);
    assert!(limit_waits[&1] < 60 && (3_500..3_700).contains(&limit_waits[&2]), "{limit_waits:?}");
    // Names that the associations lack are said.
    let stranger_jobs = jobs.replace("|a|", "|b|");
    let (_, strange) =
        site(&conf, &stranger_jobs, |folder, options| options.accounts.push(folder.write("assoc.txt", accounts)));
    let sentence = "2 jobs are of the account b, which --accounts lacks: none of its limits is known";
    let count = strange.manifest.warnings.iter().filter(|warning| warning.starts_with(sentence)).count();
    assert_eq!(count, 1, "{:?}", strange.manifest.warnings);
    let (folder, without) = site(&conf, &jobs, |_, _| {});
    assert!(waits(&without, &folder).values().all(|&wait| wait < 60));
}

/// Two of three jobs are of a partition that the description lacks.
#[test]
fn partitions_that_the_machine_lacks_are_named() {
    let rows = [("main", 1), ("gone", 2), ("gone", 3)].map(|(part, id)| row(id, part, i64::from(id), (1, 2), "1G", ""));
    let (_, strange) = site(GPUS, &rows.concat(), |_, _| {});
    let sentence = "2 jobs are of the partition gone, which --machine lacks: they may have any nodes";
    let warnings = &strange.manifest.warnings;
    assert_eq!(warnings.iter().filter(|warning| warning.starts_with(sentence)).count(), 1, "{warnings:?}");
    let (_, complete_site) = site(GPUS, &rows[0], |_, _| {});
    let warnings = &complete_site.manifest.warnings;
    assert!(warnings.iter().all(|warning| !warning.contains("lacks")), "{warnings:?}");
}

/// A node that was down is out as a whole: of two jobs of a node each, the second waits for the
/// first, though as many processors are in service as both need.
#[test]
fn a_node_that_was_down_is_out_as_a_whole() {
    let conf = "ClusterName=c\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nNodeName=n[1-3] CPUs=4\n\
                PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE\n";
    let events = format!(
        "Cluster|NodeName|TimeStart|TimeEnd|State|Reason\nc|n2|{}|{}|DOWN|bad\nc|n3|{}|{}|DOWN|bad\n",
        BEGIN - 100,
        BEGIN + 9_000,
        BEGIN - 100,
        BEGIN + 9_000
    );
    let jobs: String = (1..=2).map(|id| row(id, "p", i64::from(id), (1, 4), "0", "")).collect::<String>()
        + &row(3, "p", 20_000, (1, 1), "0", "");
    let (folder, site) = site(conf, &jobs, |folder, options| options.events.push(folder.write("events.psv", events)));
    let pool = site.pool_workload(0).expect("a workload");
    let out: Vec<String> = (0..pool.outages.len()).map(|at| pool.outages.processors_of(at).to_string()).collect();
    assert_eq!(out, ["4-7", "8-11"]);
    let waits = waits(&site, &folder);
    assert!(waits[&1] < 60 && (3_500..3_700).contains(&waits[&2]) && waits[&3] < 60, "{waits:?}");
}

/// Random sites with nodes of several kinds, overlapping and exclusive partitions, GPUs with types,
/// memory, features, nodes that are down, jobs that are withdrawn or run and wait at the beginning,
/// and records that contradict each other. No node has more than it has, and no job is lost.
///
/// 100 sites; `DRYSTONE_RANDOM_SITES=1000` takes more of them, `1000..2000` others.
#[test]
fn no_node_of_a_random_site_has_too_much() {
    let range = std::env::var("DRYSTONE_RANDOM_SITES").unwrap_or_else(|_| "100".to_string());
    let (first, end) = range.split_once("..").unwrap_or(("0", &range));
    let number = |text: &str| text.parse::<u64>().expect("DRYSTONE_RANDOM_SITES is a number or FROM..UNTIL");
    let (first, end) = (number(first), number(end));
    let count = end - first;
    let (mut stay_count, mut beside, mut untold) = (0_u64, 0_u64, 0_u64);
    for seed in first..end {
        let random = RandomSite::draw(seed);
        let (folder, site) = site(&random.conf, &random.jobs, |folder, options| {
            options.events.push(folder.write("events.psv", &random.events));
            options.from = random.from.map(|from| from.to_string());
        });
        for pool in 0..site.manifest.pools.len() as u16 {
            assert_eq!(site.manifest.pools.len(), 1, "the first partition has all nodes");
            let pool = site.pool_workload(pool).unwrap_or_else(|error| panic!("site {seed}: {error}"));
            let record = simulated(&site, &pool, &slurm(&folder));
            let number = |id: JobId| pool.workload.truth()[id.index()].number;
            let losses: Vec<i64> = (0..pool.workload.len() as u32)
                .map(JobId)
                .filter(|id| !record.done.contains(id) && !record.gone.contains(id))
                .map(number)
                .collect();
            assert!(losses.is_empty(), "site {seed}: jobs {losses:?} are lost");
            // A job of a record that contradicts itself counts its processors only.
            let has_demand = |id: &JobId| {
                let draw = &random.drawn[&number(*id)];
                let plain = draw.memory.is_none() && draw.devices.is_none();
                plain || pool.workload.job(*id).demand != drystone::model::DemandId::NONE
            };
            let stays: Vec<Stay> = (record.stays.iter())
                .filter(|(id, ..)| has_demand(id))
                .map(|(id, from, until, on)| Stay {
                    job: number(*id) as u64,
                    from: from.0,
                    until: until.0,
                    alone: random.drawn[&number(*id)].alone,
                    shares: {
                        let wait = *from - pool.workload.job(*id).submit;
                        // A job that runs at the beginning on what others have counts its
                        // processors only.
                        let table = pool.workload.resources();
                        let shape = table.as_ref().and_then(|table| table.node_shape(pool.workload.job(*id).demand));
                        let has_shape = shape.is_some_and(|shape| shape.nodes.0 == random.drawn[&number(*id)].nodes);
                        untold += u64::from(!has_shape && random.drawn[&number(*id)].nodes > 1);
                        random.shares(number(*id), on, wait < Span(7 * 86_400) && has_shape)
                    },
                })
                .collect();
            stay_count += stays.len() as u64;
            beside += (record.stays.len() - stays.len()) as u64;
            if let Some(problem) = find_overfull(&random.nodes, &stays) {
                panic!("site {seed}: {problem}");
            }
        }
    }
    assert!(stay_count > 15 * count && beside * 20 < stay_count, "{stay_count} jobs were looked at, {beside} were not");
    assert!(untold * 20 < stay_count, "{untold} of {stay_count} jobs are on any number of nodes");
}
