//! Reading slurm.conf: settings, messages, refusals.

use crate::shared::shared;
use drystone_slurm::conf::{PreemptMode, PreemptType, SelectUnit, Sharing, SlurmConf, Topic};
use std::fs;

fn parse(text: &str) -> SlurmConf {
    SlurmConf::parse(text, "slurm.conf").expect("a configuration")
}

fn refused(text: &str) -> String {
    SlurmConf::parse(text, "slurm.conf").expect_err("a mistake").to_string()
}

#[test]
fn defaults_hold_for_later_lines_and_add_up() {
    let conf = parse(
        "NodeName=DEFAULT Sockets=2 CoresPerSocket=16 RealMemory=1000\n\
         NodeName=a[1-2]\n\
         NodeName=DEFAULT CoresPerSocket=20\n\
         NodeName=b1 CPUs=80 ThreadsPerCore=2\n\
         PartitionName=DEFAULT MaxTime=10 OverSubscribe=EXCLUSIVE\n\
         PartitionName=x Nodes=a[1-2] Priority=7\n\
         PartitionName=y Nodes=ALL MaxTime=1-0 PriorityTier=3\n",
    );
    let cpus = conf.nodes.iter().map(|n| (n.name.as_str(), n.cpus, n.cpus_per_core())).collect::<Vec<_>>();
    assert_eq!(cpus, [("a1", 32, 1), ("a2", 32, 1), ("b1", 80, 2)]);
    assert_eq!(conf.nodes[2].memory_mb, 1000);
    let [x, y] = conf.partitions.as_slice() else { panic!("two partitions") };
    assert_eq!((x.max_minutes, x.sharing, x.tier, x.job_factor), (Some(10), Sharing::Exclusive, 7, 7));
    assert_eq!((y.max_minutes, y.nodes.len(), y.tier, y.job_factor), (Some(1440), 3, 3, 1));
}

#[test]
fn included_files_are_read_in_their_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a file");
    write("slurm.conf", "ClusterName=Tux\ninclude %c-nodes.conf\nPartitionName=p Nodes=n[1-2]\n");
    write("tux-nodes.conf", "# nodes\nNodeName=n1 CPUs=4\nNodeName=n2 \\\n  CPUs=8\n");
    let conf = SlurmConf::read_file(dir.path().join("slurm.conf")).expect("a configuration");
    assert_eq!(conf.nodes.iter().map(|n| n.cpus).collect::<Vec<_>>(), [4, 8]);
    assert_eq!(conf.nodes[1].place.line, 3);
    write("tux-nodes.conf", "Include slurm.conf\n");
    let error = SlurmConf::read_file(dir.path().join("slurm.conf")).expect_err("a cycle").to_string();
    assert!(error.ends_with("includes itself"), "{error}");
    write("tux-nodes.conf", "Include other.conf\n");
    let error = SlurmConf::read_file(dir.path().join("slurm.conf")).expect_err("no file").to_string();
    assert!(error.contains("other.conf: cannot be read") && error.contains("tux-nodes.conf:1"), "{error}");
}

#[test]
fn mistakes_name_file_and_line() {
    assert_eq!(refused("\nNodeName=n[1-2\n"), "slurm.conf:2: `[` without `]` in `n[1-2`");
    assert_eq!(refused("NodeName=n1 CPUs=x"), "slurm.conf:1: CPUs: `x` is no count; expected a whole number from 0");
    assert_eq!(
        refused("NodeName=n1\nPartitionName=p Nodes=n[1-2]"),
        "slurm.conf:2: no NodeName line has the node n2; add one, or take it out of `n[1-2]`"
    );
    assert_eq!(refused("NodeName=n1\nNodeName=n1"), "slurm.conf:2: the node n1 is there already, at slurm.conf:1");
    assert_eq!(
        refused("PriorityMaxAge=soon"),
        "slurm.conf:1: PriorityMaxAge: `soon` is no time; expected minutes, hours:minutes:seconds, \
         days-hours:minutes:seconds or UNLIMITED"
    );
    assert_eq!(
        refused("NodeName=n1\nPriorityUsageResetPeriod=FOO"),
        "slurm.conf:2: PriorityUsageResetPeriod: `FOO` is no reset period, and slurmctld does not start with it; expected \
         one of NONE, NOW, DAILY, WEEKLY, MONTHLY, QUARTERLY, YEARLY"
    );
}

#[test]
fn what_is_not_understood_is_told() {
    let conf = parse(
        "SchedulerParamaters=bf_interval=9\nSchedulerParameters=bf_window=60\nTopologyPlugin=topology/tree\n\
         NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=120 DefaultTime=180 MinNodes=3 MaxNodes=2\n\
         SelectType=select/cons_tres\n",
    );
    let topics = conf.remarks.iter().map(|r| (r.topic, r.place.as_ref().map_or(0, |p| p.line))).collect::<Vec<_>>();
    use Topic::{Contradiction, NotModelled, Unknown};
    assert_eq!(topics, [(Unknown, 1), (Contradiction, 2), (NotModelled, 3), (Contradiction, 5), (Contradiction, 5)]);
    assert_eq!(
        conf.remarks[0].to_string(),
        "slurm.conf:1: unknown: the key SchedulerParamaters is not known here, and changes nothing in the model"
    );
}

/// A controller and its backups, and scripts, stand on a line each.
#[test]
fn keys_that_add_up_contradict_nothing() {
    let conf = parse(
        "SlurmctldHost=head1\nSlurmctldHost=head2(10.0.0.2)\nProlog=/a\nProlog=/b\nEpilog=/a\nEpilog=/b\nMaxJobCount=9\n\
         MaxJobCount=10\nNodeName=n1\nPartitionName=p Nodes=n1\nSelectType=select/linear\n",
    );
    let remarks: Vec<String> = conf.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(remarks, ["slurm.conf:8: contradiction: MaxJobCount is at line 7 as well; the later line counts"]);
}

#[test]
fn settings_become_values() {
    let conf = parse(
        "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityMaxAge=0-0:05:00\nPriorityFlags=no_fair_tree\n\
         PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG\nEpilog=/bin/true\nSelectType=select/linear\n\
         PriorityWeightTRES=CPU=0,Mem=.03\nOverTimeLimit=UNLIMITED\nNodeName=n1\nDownNodes=n1 State=DRAIN\n",
    );
    assert!(conf.priority.multifactor && conf.priority.has_flag("NO_FAIR_TREE") && conf.ends.epilog);
    assert_eq!((conf.priority.max_age, conf.priority.tres["mem"]), (300, 0.03));
    assert_eq!((conf.preempt.by, conf.preempt.mode), (PreemptType::Partition, PreemptMode::Suspend));
    assert_eq!((conf.select, conf.ends.over_minutes), (SelectUnit::Linear, None));
    assert!(conf.is_down(0));
}

/// Counts taken by hand from the files.
#[test]
fn configurations_of_real_sites_are_read() {
    let Some(dir) = shared("accounting/machine") else { return };
    let ub = SlurmConf::read_file(dir.join("ub-hpc.slurm.conf")).expect("a configuration");
    assert_eq!(ub.nodes.len(), 87 + 2 + 8 + 96 + 24);
    assert_eq!(ub.find_partition("general-compute").map(|p| (p.nodes.len(), p.tier)), Some((215, 100)));
    assert_eq!((ub.sched.bf_interval, ub.sched.bf_continue, ub.priority.fair_share), (120, 1, 120_000.0));
    let usc = SlurmConf::read_file(dir.join("usc-discovery.slurm.conf")).expect("a configuration");
    assert_eq!(usc.partitions.len(), 7);
    assert_eq!(usc.find_partition("oneweek").map(|p| p.nodes.len()), Some(45));
    let epyc = SlurmConf::read_file(dir.join("usc-epyc.slurm.conf")).expect("a configuration");
    let unknown = |conf: &SlurmConf| {
        let unknown = conf.remarks.iter().filter(|r| r.topic == Topic::Unknown);
        unknown.map(|r| r.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!((unknown(&ub), unknown(&epyc)), (vec![], vec![]));
    // The site's own mistake: the word is preempt_strict_order.
    let [remark] = unknown(&usc).try_into().expect("one word");
    assert!(remark.contains("preemptstrict_order is not known here"), "{remark}");
}

#[test]
fn a_flat_file_reads_as_its_parts_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let main = folder.path().join("slurm.conf");
    std::fs::write(
        &main,
        "ClusterName=c # a comment\nInclude nodes.conf\nPartitionName=p Nodes=n[1-2] \\\n  Default=YES\n",
    )
    .expect("written");
    std::fs::write(folder.path().join("nodes.conf"), "NodeName=n[1-2] CPUs=4 Reason=\"a\\#b\"\n").expect("written");
    let flat = drystone_slurm::conf::flatten_file(&main).expect("readable");
    assert_eq!(flat.lines().count(), 3);
    let (whole, parts) =
        (SlurmConf::parse(&flat, "elsewhere/slurm.conf").expect("reads"), SlurmConf::read_file(&main).expect("reads"));
    assert_eq!(
        (whole.nodes.len(), whole.partitions[0].nodes.as_slice()),
        (parts.nodes.len(), parts.partitions[0].nodes.as_slice())
    );
    assert_eq!(whole.cluster, parts.cluster);
}

#[test]
fn what_the_system_keeps_of_a_node_is_not_for_jobs() {
    let conf = parse(
        "NodeName=DEFAULT RealMemory=64000\n\
         NodeName=a Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CoreSpecCount=2 MemSpecLimit=4000\n\
         NodeName=b Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CpuSpecList=0-2\n\
         NodeName=c CPUs=16 CpuSpecList=0,15\n\
         NodeName=d CPUs=16 CoreSpecCount=0\n",
    );
    // Two cores of two threads; three threads lie on two cores; two cores of one thread.
    let cpus = conf.nodes.iter().map(|n| (n.cpus, n.cpus_per_core(), n.memory_mb)).collect::<Vec<_>>();
    assert_eq!(cpus, [(28, 2, 60_000), (28, 2, 64_000), (14, 1, 64_000), (16, 1, 64_000)]);
    let message = refused("NodeName=n CPUs=1 CoreSpecCount=1\n");
    assert_eq!(message, "slurm.conf:1: the system keeps 1 cores of this node, which leaves jobs no processor");
}

/// Numbers that slurmctld 22.05.8 has of the same lines.
#[test]
fn numbers_that_contradict_each_other_are_reset_as_slurm_resets_them() {
    let cases = [
        ("CPUs=20 Boards=1 SocketsPerBoard=2 CoresPerSocket=24", 48, true),
        ("CPUs=30 Sockets=2 CoresPerSocket=10 ThreadsPerCore=2", 40, true),
        ("CPUs=4 Sockets=2", 2, true),
        ("CPUs=64 Sockets=2 CoresPerSocket=64", 128, true),
        ("CPUs=25 CoresPerSocket=10", 10, true),
        ("CPUs=7 ThreadsPerCore=2", 2, true),
        ("CPUs=8 Boards=2 SocketsPerBoard=2", 4, true),
        ("CPUs=8 CoreSpecCount=8", 7, true),
        ("CPUs=8 MemSpecLimit=2000", 8, true),
        ("CPUs=8 RealMemory=100 MemSpecLimit=100", 8, true),
        ("CPUs=30 CoresPerSocket=10", 30, false),
        ("CPUs=4 CoresPerSocket=4 ThreadsPerCore=2", 4, false),
        ("CPUs=20 Boards=2 CoresPerSocket=5", 20, false),
        ("CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 16, false),
        ("CPUs=2 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2", 2, false),
        ("CPUs=8 Weight=2k RealMemory=2k", 8, false),
    ];
    for (line, cpus, has_remark) in cases {
        let conf = parse(&format!("NodeName=n {line}\nSelectType=select/cons_tres\n"));
        assert_eq!(
            (conf.nodes[0].cpus, conf.remarks.len()),
            (cpus, usize::from(has_remark)),
            "{line}: {:?}",
            conf.remarks
        );
        assert!(conf.remarks.iter().all(|remark| remark.topic == Topic::Refused), "{line}");
    }
    let conf = parse(
        "NodeName=a[1-2] CPUs=8\nNodeName=b1 CPUs=8\n\
         PartitionName=p Nodes=\"a1 a2\" PriorityTier=3 PriorityJobFactor=9 Priority=7 State=DRAINED MaxNodes=010\n\
         PartitionName=q Nodes=b1 PriorityTier=2 PriorityJobFactor=5 State=UPPISH\n",
    );
    let [p, q] = conf.partitions.as_slice() else { panic!("two partitions") };
    assert_eq!(
        (p.nodes.as_slice(), p.tier, p.job_factor, p.up, p.max_nodes),
        ([0, 1].as_slice(), 7, 7, false, Some(8))
    );
    assert_eq!((q.tier, q.job_factor, q.up), (2, 5, true));
}

#[test]
fn weights_have_the_forms_of_counts() {
    let conf = parse(
        "PriorityType=priority/multifactor\nPriorityWeightAge=10k\nPriorityWeightFairshare=UNLIMITED\n\
         PreemptMode=CHECKPOINT\nPreemptType=preempt/partition_prio\n",
    );
    assert_eq!((conf.priority.age, conf.priority.fair_share), (10_240.0, 4_294_967_295.0));
    assert_eq!(conf.preempt.mode, PreemptMode::Cancel);
    assert!(conf.remarks.iter().any(|remark| remark.text.starts_with("PreemptMode=CHECKPOINT")), "{:?}", conf.remarks);
    let conf = parse("PriorityWeightFairshare=10000\n");
    let [remark] = conf.remarks.as_slice() else { panic!("{:?}", conf.remarks) };
    assert!(remark.topic == Topic::Assumed && remark.text.starts_with("PriorityWeightFairshare without"), "{remark:?}");
    assert_eq!(parse("PriorityWeightAge=0\n").remarks, []);
}

/// A configuration that was copied from its cluster has includes beside it.
#[test]
fn included_files_are_found_beside_the_first() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("a file");
    write("slurm.conf", "Include /nowhere/slurm/nodes.conf\nPartitionName=p Nodes=n1\n");
    write("nodes.conf", "NodeName=n1 CPUs=4\n");
    let path = dir.path().join("slurm.conf");
    assert_eq!(SlurmConf::read_file(&path).expect("a configuration").nodes.len(), 1);
    assert_eq!(drystone_slurm::conf::included_files(&path), [dir.path().join("nodes.conf")].into());
    fs::remove_file(dir.path().join("nodes.conf")).expect("gone");
    let error = SlurmConf::read_file(&path).expect_err("no file").to_string();
    assert!(error.contains("/nowhere/slurm/nodes.conf: cannot be read") && error.contains("a copy beside"), "{error}");
}

#[test]
fn keys_of_nodes_and_partitions_that_slurm_does_not_have_are_remarked() {
    let conf = parse(
        "NodeName=DEFAULT Featuer=x\nNodeName=n CPUs=4 Sockets=2 SocketsPerBoard=4\n\
         PartitionName=p Nodes=n PriorityTeir=10 LLN=YES MaxCPUsPerSocket=2 TRESBillingWeights=\"CPU=1\"\n\
         DownNodes=n Status=DOWN State=DOWN\nSelectType=select/cons_tres\n",
    );
    let remarks: Vec<String> = conf.remarks.iter().map(ToString::to_string).collect();
    assert_eq!(
        remarks,
        [
            "slurm.conf:1: unknown: the key Featuer is not known here on lines of NodeName, and changes nothing in the model",
            "slurm.conf:2: contradiction: Sockets and SocketsPerBoard exclude each other; Slurm takes SocketsPerBoard",
            "slurm.conf:3: unknown: the key PriorityTeir is not known here on lines of PartitionName, and changes nothing in the model",
            "slurm.conf:4: unknown: the key Status is not known here on lines of DownNodes, and changes nothing in the model",
            "slurm.conf:3: not modelled: p: MaxCPUsPerSocket=2 is counted on the whole node: its sockets times 2 processors",
        ]
    );
    assert_eq!(conf.nodes[0].sockets, 4);
}

/// Every database has the QOS `normal`; a name that a script does not know is a mistake.
#[test]
fn a_script_modifies_what_there_is() {
    use drystone_slurm::accounts::Accounts;
    let accounts = Accounts::parse("modify qos normal set MaxJobsPerUser=1\nadd account a\nadd qos normal\n", "a");
    let accounts = accounts.expect("accounts");
    let normal = accounts.find_qos("normal").expect("it is always there");
    assert_eq!((accounts.qos.len(), accounts.qos[normal].max_jobs_user), (1, Some(1)));
    let error = Accounts::parse("add qos small\nmodify qos nosuch set MaxJobsPerUser=1\n", "a").expect_err("unknown");
    assert!(error.to_string().contains("there is no qos `nosuch` to modify"), "{error}");
    assert!(Accounts::parse("modify account root set fairshare=1\nadd account a\n", "a").is_ok());
}

/// Values that Slurm takes.
#[test]
fn values_have_all_the_forms_that_slurm_takes() {
    let conf = parse(
        "clustername=c\nKillWait=UNLIMITED\nPreemptMode=REQUEUE,PRIORITY,WITHIN\nPreemptType=preempt/qos\nJobRequeue=0\n\
         PreemptParameters=youngest_first,min_exempt_priority=100\nSelectType=select/cons_tres\n\
         SchedulerParameters=bf_ignore_newly_avail_nodes\nCliFilterParameters=a\nCertmgrParameters=b\nSuspendExcStates=DOWN\n\
         nodename=DEFAULT cpus=8 \\\n   realmemory=64000\nnodename=n[1-2]\npartitionname=default maxtime=1-0\n\
         partitionname=p nodes=all default=yes PriorityTier=0x10 GraceTime=UNLIMITED MinNodes=1 MaxNodes=UNLIMITED\n",
    );
    let p = &conf.partitions[0];
    assert_eq!((p.nodes.as_slice(), p.tier, p.max_nodes, p.min_nodes), ([0, 1].as_slice(), 16, None, 1));
    assert!(p.grace_seconds > 86_400 * 365 && conf.ends.kill_wait > 86_400 * 365);
    let preempt = conf.preempt;
    assert_eq!((preempt.mode, preempt.within, preempt.by_priority), (PreemptMode::Requeue, true, true));
    assert_eq!((preempt.requeues, preempt.exempt_priority), (false, Some(100)));
    assert_eq!(conf.remarks, []);
    assert!(refused("PreemptMode=SOMETIMES").contains("none of OFF, CANCEL, REQUEUE, SUSPEND, GANG, WITHIN, PRIORITY"));
    assert!(
        refused("NodeName=n1\nPartitionName=p Nodes=n1 PriorityTier=0xg").contains("PriorityTier: `0xg` is no count")
    );
}

/// A sentence for each key, however many partitions have it.
#[test]
fn what_is_left_out_is_named_once() {
    let conf = parse(
        "SelectTypeParameters=CR_Core_Memory,CR_ONE_TASK_PER_CORE,CR_Pack_Nodes\nPriorityType=priority/multifactor\n\
         PriorityFlags=MAX_TRES,ACCRUE_ALWAYS,DEPTH_OBLIVIOUS\nPriorityUsageResetPeriod=MONTHLY\nMCSPlugin=mcs/group\n\
         PreemptMode=GANG\nPriorityWeightTRES=CPU=10,billing=5,GRES/gpu=2\nResvOverRun=5\n\
         NodeName=n1 CPUs=8 RealMemory=64000\n\
         PartitionName=DEFAULT SelectTypeParameters=CR_Socket AllowAccounts=a DenyQos=b ReqResv=YES\n\
         PartitionName=p Nodes=n1 OverSubscribe=YES:4\nPartitionName=q Nodes=n1 TRESBillingWeights=CPU=1,license/x=2 AllowAccounts=ALL\n",
    );
    let remarks: Vec<String> = conf.remarks.iter().map(|remark| format!("{}: {}", remark.topic, remark.text)).collect();
    for expected in [
        "not modelled: SelectTypeParameters=CR_ONE_TASK_PER_CORE; a core with several threads may have several tasks",
        "not modelled: SelectTypeParameters=CR_PACK_NODES; the nodes of jobs that ask for more nodes than they need",
        "not modelled: PriorityFlags=ACCRUE_ALWAYS; a job has no age before it could start",
        "not modelled: PreemptMode=GANG; jobs do not take turns on the same processors",
        "not modelled: MCSPlugin=mcs/group; it may cost: starts beside jobs of another group",
        "not modelled: PriorityUsageResetPeriod=MONTHLY; it may cost: the order of the queue after a day on which use is forgotten, \
         unless slurm(begins=DATE) says on which day the log begins",
        "not modelled: ResvOverRun=5; it may cost: starts after the end of a reservation that its jobs overrun",
        "not modelled: PriorityWeightTRES of billing; it counts nothing in priorities",
        "not modelled: p and 1 more: SelectTypeParameters; jobs are given the unit of the whole cluster",
        "not modelled: p and 1 more: ReqResv; jobs start without a reservation",
        "not modelled: p and 1 more: AllowAccounts, DenyQos; jobs are taken as recorded, without a look at who may use a partition",
        "not modelled: p: OverSubscribe=YES; jobs that ask for it get cores of their own",
        "not modelled: q: TRESBillingWeights of license/x; jobs are not billed for it",
    ] {
        assert_eq!(remarks.iter().filter(|own| *own == expected).count(), 1, "`{expected}` in {remarks:#?}");
    }
    assert!(remarks.iter().any(|own| own.starts_with("assumed: no SelectType: cores and memory")), "{remarks:#?}");
    assert_eq!(remarks.len(), 14, "{remarks:#?}");
}

/// Limits of accounts that are left out are named once for all lines. `MaxTRESRunMinsPU` is none:
/// Slurm itself does nothing with it.
#[test]
fn limits_of_accounts_that_are_left_out_are_named_once() {
    use drystone_slurm::accounts::Accounts;
    let text = "Account|User|Share|GrpTRESMins\nroot||1|\na||1|cpu=5\na|x|1|cpu=6\nName|Priority|Flags|UsageThres|MaxTRESRunMinsPU\n\
        normal|0|NoDecay,DenyOnLimit|0.5|cpu=1\nlow|0|NoDecay|0.5|-1\n";
    let accounts = Accounts::parse(text, "accounts").expect("accounts");
    let mut omissions = accounts.left_out.clone();
    omissions.sort();
    assert_eq!(
        omissions,
        [
            "line 3: grptresmins: not modelled",
            "line 6: flags=nodecay: not modelled",
            "line 6: usagethres: not modelled",
        ]
    );
}

/// slurmctld starts with negative weights of resources, and refuses all other negative weights.
#[test]
fn weights_of_resources_may_be_negative_and_no_others() {
    let conf = |line: &str| SlurmConf::parse(&format!("{line}\nNodeName=n1\nPartitionName=p Nodes=n1\n"), "slurm.conf");
    let read =
        conf("PriorityType=priority/multifactor\nPriorityWeightTRES=cpu=1.5,GRES/gpu=-1000").expect("as slurmctld");
    assert_eq!(read.priority.tres.values().copied().collect::<Vec<_>>(), [1.5, -1000.0]);
    for wrong_line in ["PriorityWeightAge=-1000", "PriorityWeightQOS=-1", "FairShareDampeningFactor=-1"] {
        assert!(conf(wrong_line).is_err(), "{wrong_line}");
    }
    assert!(conf("PriorityWeightTRES=cpu=many").is_err());
}
