//! The site at work: passes that are left out would have changed nothing, and nothing that a limit
//! forbids happens.

use drystone_slurm::accounts::Accounts;
use drystone_slurm::conf::SlurmConf;
use drystone_slurm::model::{ModelCluster, ModelMachine, NONE, PassKind, PassVerdict, Pending, VerdictObserver};
use drystone_slurm::site::{JobPriorities, ModelSite, Multifactor, SchedulerRules, replay_jobs};
use proptest::prelude::*;

/// Wants every pass to be made in full.
struct Everything;

impl VerdictObserver for Everything {
    fn note_verdict(&mut self, _: PassKind, _: i64, _: u32, _: PassVerdict) {}

    fn wants_plans(&self) -> bool {
        true
    }
}

const ACCOUNTS: &str = "Account|User|ParentName|Share|GrpTRES|GrpJobs|MaxJobs|MaxSubmit\n\
    root|||1||||\n\
    physics||root|3|cpu=6|||\n\
    physics|u0||1|||2|\n\
    physics|u1||2||||\n\
    lasers||physics|1||2||\n\
    lasers|u2||1||||3\n\
    Name|Priority|MaxTRESPU|MaxJobsPU|UsageFactor\n\
    normal|0|cpu=7||1\n\
    small|10|cpu=4|2|0.5\n";
const USERS: [(&str, &str); 3] = [("physics", "u0"), ("physics", "u1"), ("lasers", "u2")];

const SHAPES: [&str; 3] = [
    "NodeName=n[1-8] CPUs=1\nPartitionName=all Nodes=n[1-8] Default=YES MaxTime=INFINITE\n\
     PartitionName=half Nodes=n[5-8] MaxTime=INFINITE PriorityTier=2\n",
    "NodeName=n[1-3] CPUs=4\nSelectType=select/cons_tres\nPartitionName=all Nodes=n[1-3] Default=YES MaxTime=INFINITE\n\
     PartitionName=half Nodes=n[2-3] MaxTime=INFINITE\n",
    "NodeName=n[1-70] CPUs=1\nPartitionName=all Nodes=n[1-70] Default=YES MaxTime=INFINITE\n\
     PartitionName=half Nodes=n[60-67] MaxTime=INFINITE OverTimeLimit=UNLIMITED\n",
];

/// Drawn properties of a job: submission, size, minutes, part of the limit that it runs, user,
/// partition, kind.
type DrawnJob = (i64, u32, i64, f64, usize, bool, u8);

#[derive(Clone, Debug)]
struct World {
    conf: String,
    limited: bool,
    jobs: Vec<DrawnJob>,
    epilog: bool,
    phase: u64,
}

fn world() -> impl Strategy<Value = World> {
    let job = (0_i64..400, 1_u32..9, 1_i64..9, 0.0..1.6_f64, 0_usize..3, prop::bool::weighted(0.2), any::<u8>());
    let parameters = (2_i64..40, prop_oneof![Just(1_i64), Just(60)], 1_i64..30, 0_i64..9, 3_i64..60, 0_u8..4);
    let parameters = parameters.prop_map(|(interval, resolution, window, user, depth, more)| {
        let more = ["", ",bf_max_job_start=2", ",assoc_limit_stop", ",bf_min_age_reserve=40"][usize::from(more)];
        format!(
            "SchedulerParameters=bf_interval={interval},bf_resolution={resolution},bf_window={window},\
             bf_max_job_user={user},bf_max_job_test={depth}{more}\n"
        )
    });
    let factors = prop_oneof![
        Just(""),
        Just(
            "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityMaxAge=0-1\nPriorityWeightJobSize=50\n"
        ),
        Just(
            "PriorityType=priority/multifactor\nPriorityWeightFairshare=100000\nPriorityDecayHalfLife=0:5\n\
             PriorityCalcPeriod=1\nAccountingStorageType=accounting_storage/slurmdbd\n\
             AccountingStorageEnforce=associations,limits\n"
        ),
    ];
    let jobs = prop::collection::vec(job, 1..50);
    (jobs, parameters, factors, 0_usize..3, any::<bool>(), any::<bool>(), any::<u64>()).prop_map(
        |(mut jobs, parameters, factors, shape, has_limits, epilog, phase)| {
            jobs.sort_by_key(|job| job.0);
            World { conf: format!("{parameters}{factors}{}", SHAPES[shape]), limited: has_limits, jobs, epilog, phase }
        },
    )
}

impl World {
    fn conf(&self) -> SlurmConf {
        SlurmConf::parse(&self.conf, "slurm.conf").expect("a configuration")
    }

    fn site(&self, test_micros: i64) -> ModelSite {
        let (conf, accounts) = (self.conf(), Accounts::parse(ACCOUNTS, "accounts").expect("accounts"));
        let mut cluster = ModelCluster::from_conf(&conf, &accounts);
        cluster.ledger = cluster.ledger.filter(|_| self.limited);
        if let Some(ledger) = &mut cluster.ledger {
            ledger.lenient = true;
        }
        let rules =
            SchedulerRules { epilog: self.epilog, phase: self.phase, test_micros, ..SchedulerRules::from_conf(&conf) };
        let rules = SchedulerRules { kills: true, ..rules };
        let priorities = Multifactor::from_conf(&conf).map(|rules| JobPriorities::new(rules, accounts));
        ModelSite::new(cluster, rules, priorities)
    }

    /// Each job with its entries: some wait in both partitions.
    fn jobs(&self) -> Vec<Vec<Pending>> {
        let accounts = Accounts::parse(ACCOUNTS, "accounts").expect("accounts");
        let single = ModelMachine::from_conf(&self.conf()).cpus.iter().all(|&cpus| cpus == 1);
        let mut array = NONE;
        let job = |(id, &(submit, procs, minutes, _, user, half, kind)): (u32, &DrawnJob)| {
            let (account, name) = USERS[user];
            let (procs, part) = if half { (procs.min(4), 1) } else { (procs.min(if self.limited { 6 } else { 8 }), 0) };
            // A limit on the processors of each user would keep larger jobs for ever.
            let qos = u32::from(kind % 4 == 0 && procs <= 4);
            let procs = if self.limited && user == 0 { procs.min(4) } else { procs };
            let (min_nodes, max_nodes) = if single { (procs, procs) } else { (1, u32::MAX) };
            // Equal neighbours are tasks of one array now and then.
            array = if kind < 40 && array != NONE { array } else { id };
            let several = kind % 5 == 2 && procs <= 4;
            let own = Pending {
                submit,
                accrue: submit,
                user: user as i32,
                min_nodes,
                max_nodes,
                part,
                qos,
                assoc: accounts.find_assoc(account, name).map_or(NONE, |index| index as u32),
                exclusive: !single && kind % 16 == 1,
                whole: !single && kind % 16 == 1,
                several,
                ..Pending::new(id, procs, minutes * 60)
            };
            let twin = Pending { part: 1 - part, ..own.clone() };
            if several { vec![own, twin] } else { vec![own] }
        };
        (0..).zip(&self.jobs).map(job).collect()
    }

    fn runs(&self) -> Vec<i64> {
        self.jobs.iter().map(|&(_, _, minutes, part, ..)| (minutes as f64 * 60.0 * part) as i64).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_job_starts_and_left_out_passes_change_nothing(world in world()) {
        let (jobs, runs) = (world.jobs(), world.runs());
        let quick = replay_jobs(&mut world.site(0), &jobs, &runs, &mut ());
        let full = replay_jobs(&mut world.site(0), &jobs, &runs, &mut Everything);
        prop_assert!(quick.iter().all(Option::is_some), "{quick:?}");
        prop_assert_eq!(quick, full);
    }

    /// Passes that take their time, and sleep: every job starts, and no more run at once than there
    /// are processors.
    #[test]
    fn slow_passes_start_every_job(world in world(), micros in prop_oneof![Just(20_000_i64), Just(700_000)]) {
        let (jobs, runs) = (world.jobs(), world.runs());
        let mut site = world.site(micros);
        let starts = replay_jobs(&mut site, &jobs, &runs, &mut ());
        prop_assert!(starts.iter().all(Option::is_some), "{starts:?}");
        let total = site.model_cluster().machine.total_cpus();
        for begin in &starts {
            let begin = begin.expect("started");
            // A job runs on for as long as its nodes are busy with it, so what ends in this second
            // may still be there.
            let running = starts.iter().zip(&runs).zip(jobs.iter().map(|job| &job[0])).filter(|((start, run), job)| {
                let (start, end) = (start.expect("started"), start.expect("started") + **run);
                start <= begin && begin < end.min(start + job.limit)
            });
            let busy_cpus: u64 = running.map(|(_, job)| u64::from(job.cpus)).sum();
            prop_assert!(busy_cpus <= total, "{busy_cpus} at {begin}");
        }
    }

    /// A site that is written down and read again goes on as it would have.
    #[test]
    fn saved_sites_go_on(world in world(), cut in 0_i64..500) {
        let jobs = world.jobs();
        let mut site = world.site(0);
        let (mut deeds, mut rest) = (Vec::new(), Vec::new());
        for job in &jobs {
            if job[0].submit <= cut {
                site.advance_to(job[0].submit, &mut deeds, &mut ());
                site.submit(job[0].submit, job);
            }
        }
        let mut copy: ModelSite = postcard::from_bytes(&postcard::to_stdvec(&site).expect("written")).expect("read");
        let mut more = Vec::new();
        for now in [cut, cut + 40, cut + 300] {
            rest.clear();
            site.advance_to(now, &mut rest, &mut ());
            more.clear();
            copy.advance_to(now, &mut more, &mut ());
            prop_assert_eq!(&rest, &more);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Deep queues, whose passes leave out what cannot succeed: many jobs at once on few nodes,
    /// with limits on and beyond the window, and few tests.
    #[test]
    fn passes_over_deep_queues_leave_out_only_what_fails(deep in deep_queue()) {
        let (site, jobs, runs) = deep;
        let quick = replay_jobs(&mut site.clone(), &jobs, &runs, &mut ());
        let full = replay_jobs(&mut site.clone(), &jobs, &runs, &mut Everything);
        prop_assert!(quick.iter().all(Option::is_some), "{quick:?}");
        prop_assert_eq!(quick, full);
    }
}

/// A job of a deep queue: submission, size, minutes, part of the limit that it runs, partition.
type DeepJob = (i64, u32, i64, f64, bool);

fn deep_queue() -> impl Strategy<Value = (ModelSite, Vec<Pending>, Vec<i64>)> {
    let minutes = prop_oneof![1_i64..12, 1_i64..200, Just(30_i64)];
    let job = (0_i64..40, 1_u32..16, minutes, 0.0..1.0_f64, prop::bool::weighted(0.1));
    let parameters = (10_i64..60, prop_oneof![Just(1_i64), Just(60)], 5_i64..150, prop_oneof![3_i64..40, Just(500)]);
    (prop::collection::vec(job, 20..120), parameters, 0_usize..4, any::<u64>()).prop_map(
        |(mut draws, (interval, resolution, window, depth), shape, phase)| {
            draws.sort_by_key(|job: &DeepJob| job.0);
            let (nodes, cpus) = [(40, 1), (16, 1), (5, 8), (12, 2)][shape];
            let conf = format!(
                "SchedulerParameters=bf_interval={interval},bf_resolution={resolution},bf_window={window},\
                 bf_max_job_test={depth}\nSelectType=select/cons_tres\nNodeName=n[1-{nodes}] CPUs={cpus}\n\
                 PartitionName=all Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE\n\
                 PartitionName=half Nodes=n[{}-{nodes}] MaxTime=INFINITE\n",
                nodes / 2
            );
            let conf = SlurmConf::parse(&conf, "slurm.conf").expect("a configuration");
            let cluster = ModelCluster::from_conf(&conf, &Accounts::new());
            let site = ModelSite::new(cluster, SchedulerRules { phase, ..SchedulerRules::from_conf(&conf) }, None);
            let pending = |(id, &(submit, procs, minutes, _, half)): (u32, &DeepJob)| {
                let procs = if half { procs.min(6) } else { procs };
                let min_nodes = if cpus == 1 && id % 3 > 0 { procs } else { 1 };
                Pending {
                    submit,
                    accrue: submit,
                    part: u16::from(half),
                    min_nodes,
                    ..Pending::new(id, procs, minutes * 60)
                }
            };
            let jobs: Vec<Pending> = (0..).zip(&draws).map(pending).collect();
            let runs =
                draws.iter().map(|&(_, _, minutes, part, _)| (minutes as f64 * 60.0 * part) as i64 + 1).collect();
            (site, jobs, runs)
        },
    )
}

/// A job arrives that does not fit, after a pass that another one has to follow when its plans no
/// longer hold: that pass is made in its time.
#[test]
fn an_arrival_does_not_put_off_the_next_pass() {
    let conf = "SchedulerParameters=bf_interval=2,bf_resolution=1,bf_window=5,bf_max_job_user=7,bf_max_job_test=6\n\
                NodeName=n[1-3] CPUs=4\nSelectType=select/cons_tres\n\
                PartitionName=all Nodes=n[1-3] Default=YES MaxTime=INFINITE\n\
                PartitionName=half Nodes=n[2-3] MaxTime=INFINITE\n";
    let jobs = vec![
        (0, 6, 6, 0.9014303847155841, 1, false, 50),
        (0, 1, 1, 0.0, 0, false, 0),
        (1, 1, 1, 0.0, 0, false, 0),
        (3, 3, 4, 0.49575449035405444, 0, false, 0),
        (24, 5, 1, 0.0, 1, false, 145),
        (24, 1, 2, 0.724036436396497, 0, false, 17),
        (37, 4, 6, 1.51713609253887, 0, false, 0),
        (37, 3, 1, 0.0, 0, false, 0),
        (37, 5, 1, 0.0, 0, false, 0),
        (37, 3, 4, 0.0, 0, false, 0),
        (37, 5, 1, 0.0, 1, false, 0),
        (37, 2, 2, 0.9259170164024051, 0, false, 2),
        (37, 3, 1, 0.0, 0, true, 0),
        (37, 5, 5, 0.0, 0, false, 0),
        (37, 1, 1, 0.0, 0, false, 0),
        (37, 3, 1, 0.0, 0, false, 0),
        (75, 1, 1, 0.0, 0, false, 0),
        (75, 1, 1, 0.0, 0, false, 0),
        (75, 5, 1, 0.0, 1, false, 0),
        (86, 1, 1, 0.0, 0, true, 0),
        (86, 1, 5, 0.0, 0, false, 0),
        (86, 1, 1, 0.0, 0, false, 0),
        (86, 1, 5, 0.0, 0, false, 0),
        (106, 1, 1, 0.0, 0, false, 0),
        (106, 1, 3, 0.0, 0, false, 0),
        (106, 1, 3, 0.0, 0, false, 0),
        (106, 1, 1, 0.0, 0, false, 0),
        (234, 3, 1, 0.0, 0, false, 0),
    ];
    let world = World { conf: conf.to_string(), limited: true, jobs, epilog: false, phase: 4_516_738_163_574_925_048 };
    let (jobs, runs) = (world.jobs(), world.runs());
    let quick = replay_jobs(&mut world.site(0), &jobs, &runs, &mut ());
    assert_eq!(quick, replay_jobs(&mut world.site(0), &jobs, &runs, &mut Everything));
}
