//! The machine: described in several ways, inferred, and changing over time.

use crate::common::{Folder, imported, of_text, rule, utc};
use crate::generated::{Made, Style};
use drystone_site::{Counting, ImportOptions, PoolUnit, Site};

const BEGIN: i64 = 1_767_225_600;

fn on(id: u64, node: &str, partition: &'static str, start: i64, end: i64, cpus: u32) -> Made {
    Made { node: Some(node.to_string()), partition, ..Made::ran(id, BEGIN + start, BEGIN + start, BEGIN + end, cpus) }
}

/// Two nodes of each partition, all processors used once, and then parts of nodes: most jobs have
/// no node for themselves, so that processors are counted.
fn made() -> Vec<Made> {
    vec![
        on(1, "n1", "batch", 0, 3_600, 8),
        on(2, "n2", "batch", 10, 3_600, 8),
        on(3, "g1", "gpu", 20, 3_600, 4),
        on(4, "g2", "gpu", 30, 3_600, 4),
        on(5, "n1", "batch", 4_000, 14_000, 2),
        on(6, "g2", "gpu", 4_000, 20_000, 1),
    ]
}

fn with(descriptions: &[(&str, &str)], jobs: &[Made]) -> Site {
    let folder = Folder::new();
    let dump = folder.write("jobs.psv", Style::utc().text(jobs));
    let machine = descriptions.iter().map(|(name, text)| folder.write(name, text)).collect();
    imported(&[dump], &ImportOptions { machine, ..utc() })
}

fn pools(site: &Site) -> Vec<(String, u32, u32)> {
    site.manifest.pools.iter().map(|pool| (pool.name.clone(), pool.nodes, pool.units)).collect()
}

const CONF: &str = "ClusterName=made\nNodeName=n[1-2] CPUs=8\nNodeName=g[1-2] CPUs=4\nPartitionName=batch Nodes=n[1-2] MaxTime=10:00:00\n\
                    PartitionName=gpu Nodes=g[1-2]\n";
const NODES: &str = "NodeName=n1 Arch=x86_64 CoresPerSocket=8 CPUAlloc=0 CPUTot=8 RealMemory=1000 State=IDLE ThreadsPerCore=1 Partitions=batch\n\
                     NodeName=n2 Arch=x86_64 CoresPerSocket=8 CPUAlloc=0 CPUTot=8 RealMemory=1000 State=IDLE ThreadsPerCore=1 Partitions=batch\n\
                     NodeName=g1 Arch=x86_64 CoresPerSocket=4 CPUAlloc=0 CPUTot=4 RealMemory=1000 State=IDLE ThreadsPerCore=1 Partitions=gpu\n\
                     NodeName=g2 Arch=x86_64 CoresPerSocket=4 CPUAlloc=0 CPUTot=4 RealMemory=1000 State=IDLE ThreadsPerCore=1 Partitions=gpu\n";
const PARTITIONS: &str = "PartitionName=batch AllowGroups=ALL Default=YES MaxTime=10:00:00 Nodes=n[1-2] PriorityTier=1 OverSubscribe=NO State=UP TotalCPUs=16 TotalNodes=2\n\
                          PartitionName=gpu AllowGroups=ALL Default=NO MaxTime=UNLIMITED Nodes=g[1-2] PriorityTier=1 OverSubscribe=NO State=UP TotalCPUs=8 TotalNodes=2\n";
const PBSNODES: &str = "n1\n     Mom = n1\n     state = free\n     pcpus = 8\n     resources_available.ncpus = 8\n     resources_available.mem = 1000mb\n\n\
                        n2\n     Mom = n2\n     state = free\n     pcpus = 8\n     resources_available.ncpus = 8\n     resources_available.mem = 1000mb\n\n\
                        g1\n     Mom = g1\n     state = free\n     pcpus = 4\n     resources_available.ncpus = 4\n     resources_available.mem = 1000mb\n\n\
                        g2\n     Mom = g2\n     state = free\n     pcpus = 4\n     resources_available.ncpus = 4\n     resources_available.mem = 1000mb\n";

#[test]
fn descriptions_of_one_machine_say_the_same() {
    let expected = vec![("batch".to_string(), 2, 16), ("gpu".to_string(), 2, 8)];
    for descriptions in [
        vec![("slurm.conf", CONF)],
        vec![("nodes.txt", NODES), ("partitions.txt", PARTITIONS)],
        vec![("nodes.txt", NODES)],
        vec![("pbsnodes.txt", PBSNODES)],
        vec![],
    ] {
        let site = with(&descriptions, &made());
        let names: Vec<&str> = descriptions.iter().map(|(name, _)| *name).collect();
        assert_eq!(pools(&site), expected, "{names:?}");
        assert_eq!(site.manifest.pools[0].described, !descriptions.is_empty(), "{names:?}");
    }
}

#[test]
fn partitions_that_share_a_node_are_one_pool() {
    let conf = CONF.to_string() + "PartitionName=both Nodes=n2,g1\n";
    let site = with(&[("slurm.conf", &conf)], &made());
    assert_eq!(site.manifest.pools.len(), 1);
    assert_eq!((site.manifest.pools[0].nodes, site.manifest.pools[0].units), (4, 24));
    let evidence = site.manifest.evidence.join("\n");
    assert!(evidence.contains("both"), "which overlap is said: {evidence}");
}

#[test]
fn limits_come_from_records_and_partitions_and_never_from_run_times() {
    let text = "JobIDRaw|Submit|Start|End|State|AllocCPUS|Partition|Timelimit|NodeList\n\
                1|1767225600|1767225600|1767229200|COMPLETED|8|batch|Partition_Limit|n1\n\
                2|1767225600|1767225600|1767229200|COMPLETED|8|batch|01:30|n2\n\
                3|1767225600|1767225600|1767229200|COMPLETED|4|gpu|Partition_Limit|g1\n\
                4|1767225600|1767225600|1767229200|COMPLETED|4|gpu|UNLIMITED|g2\n\
                5|1767229200|1767229200|1767229300|COMPLETED|4|gpu||g2\n";
    let folder = Folder::new();
    let (dump, conf) = (folder.write("jobs.psv", text), folder.write("slurm.conf", CONF));
    let site = imported(&[dump], &ImportOptions { machine: vec![conf], ..ImportOptions::default() });
    let limits: Vec<(u32, &str)> = site.jobs().map(|job| (job.limit, job.limit_from.name())).collect();
    let year = 365 * 86_400;
    // The partition has no default: its longest.
    assert_eq!(limits[0], (36_000, "partition-max"));
    // `01:30` is a minute and a half, as Slurm reads it.
    assert_eq!(limits[1].0, 90);
    assert_eq!((limits[2].0, limits[3].0), (year, year));
    assert!(limits.iter().all(|(limit, _)| *limit != 3_600 && *limit != 100), "{limits:?}");
    assert_eq!(rule(&site, "limit-unknown").1, 1);
}

#[test]
fn gpus_are_the_unit_where_nearly_all_jobs_hold_them() {
    let conf = "ClusterName=made\nGresTypes=gpu\nNodeName=g[1-2] CPUs=16 RealMemory=64000 Gres=gpu:4\nPartitionName=gpu Nodes=g[1-2]\n";
    let row = |id: u32, cpus: u32, gpus: u32, memory: u32, node: &str| {
        format!(
            "{id}|1767225600|1767225600|1767229200|COMPLETED|{cpus}|gpu|02:00:00|{node}|cpu={cpus},gres/gpu={gpus},mem={memory}M,node=1|{memory}M\n"
        )
    };
    let head = "JobIDRaw|Submit|Start|End|State|AllocCPUS|Partition|Timelimit|NodeList|AllocTRES|ReqMem\n";
    let text =
        head.to_string() + &row(1, 4, 1, 16_000, "g1") + &row(2, 4, 2, 16_000, "g1") + &row(3, 4, 1, 48_000, "g2");
    let folder = Folder::new();
    let (dump, conf) = (folder.write("jobs.psv", text), folder.write("slurm.conf", conf));
    let import_by = |count: Counting| {
        let options = ImportOptions { machine: vec![conf.clone()], count, ..ImportOptions::default() };
        let site = imported(std::slice::from_ref(&dump), &options);
        let units: Vec<u32> = site.jobs().map(|job| job.units).collect();
        let pool = site.manifest.pools[0].clone();
        (pool.unit, pool.units, pool.dominant, units, pool, drystone_site::render_report(&site.manifest))
    };
    // Where nearly all jobs hold GPUs, these are what is scarce: the third has one, though three
    // quarters of a node's memory.
    let (unit, total, dominant, units, pool, report) = import_by(Counting::Auto);
    assert_eq!((unit, total, dominant, units.as_slice()), (PoolUnit::Gpu, 8, false, &[1, 2, 1][..]));
    // What its dominant share would change is said all the same: four GPUs held for an hour would
    // be six.
    assert_eq!((pool.by_cpus, pool.by_memory, pool.by_gpus), (0, 1, 0));
    assert!((pool.inflated - 50.0).abs() < 1e-9, "{}", pool.inflated);
    assert!(report.contains("50.00% of GPU-seconds (--count dominant)"), "{report}");
    // Three quarters of the memory are three of four GPUs.
    let (unit, total, dominant, units, ..) = import_by(Counting::Dominant);
    assert_eq!((unit, total, dominant, units.as_slice()), (PoolUnit::Gpu, 8, true, &[1, 2, 3][..]));
    let (unit, total, dominant, units, ..) = import_by(Counting::Gpus);
    assert_eq!((unit, total, dominant, units.as_slice()), (PoolUnit::Gpu, 8, false, &[1, 2, 1][..]));
    let (unit, total, dominant, units, pool, _) = import_by(Counting::Cpus);
    assert_eq!((unit, total, dominant, units.as_slice()), (PoolUnit::Cpu, 32, false, &[4, 4, 4][..]));
    // Two of four GPUs are half of a node's processors, and three quarters of its memory are twelve
    // of sixteen.
    assert_eq!((pool.by_memory, pool.by_gpus), (1, 1));
    let (unit, total, dominant, units, ..) = import_by(Counting::Nodes);
    assert_eq!((unit, total, dominant, units.as_slice()), (PoolUnit::Node, 2, false, &[1, 1, 1][..]));
}

#[test]
fn a_pool_of_processors_counts_dominant_shares_unless_it_is_told_not_to() {
    let conf = "ClusterName=made\nGresTypes=gpu\nNodeName=n[1-2] CPUs=16 RealMemory=64000 Gres=gpu:4\nPartitionName=batch Nodes=n[1-2]\n";
    let row = |id: u32, cpus: u32, rest: &str, memory: u32| {
        format!(
            "{id}|1767225600|1767225600|1767229200|COMPLETED|{cpus}|batch|02:00:00|n1|cpu={cpus},mem={memory}M,node=1{rest}\n"
        )
    };
    let head = "JobIDRaw|Submit|Start|End|State|AllocCPUS|Partition|Timelimit|NodeList|AllocTRES\n";
    let text = head.to_string() + &row(1, 2, "", 1_000) + &row(2, 2, "", 32_000) + &row(3, 2, ",gres/gpu=1", 1_000);
    let folder = Folder::new();
    let (dump, conf) = (folder.write("jobs.psv", text), folder.write("slurm.conf", conf));
    let units = |count: Counting| -> Vec<u32> {
        let options = ImportOptions { machine: vec![conf.clone()], count, ..ImportOptions::default() };
        imported(std::slice::from_ref(&dump), &options).jobs().map(|job| job.units).collect()
    };
    // Half of the memory is eight processors of sixteen, one of four GPUs is four.
    assert_eq!(units(Counting::Auto), [2, 8, 4]);
    assert_eq!(units(Counting::Dominant), [2, 8, 4]);
    assert_eq!(units(Counting::Cpus), [2, 2, 2]);
    assert_eq!(units(Counting::Gpus), [1, 1, 1]);
}

#[test]
fn nodes_that_are_out_are_lacking_as_long_as_they_are() {
    let folder = Folder::new();
    let dump = folder.write("jobs.psv", Style::utc().text(&made()));
    let conf = folder.write("slurm.conf", CONF);
    let events = folder.write(
        "events.psv",
        "Cluster|ClusterNodes|NodeName|Start|End|State|Reason|TRES\n\
         made||n2|2026-01-01T01:30:00|2026-01-01T03:00:00|DRAIN|disk|cpu=8\n\
         made||n2|2026-01-01T01:45:00|2026-01-01T02:00:00|DOWN|disk|cpu=8\n\
         made||zz|2026-01-01T01:30:00|2026-01-01T03:00:00|DOWN|gone|cpu=8\n\
         made||g1|2026-01-01T02:00:00|Unknown|DRAIN|old|cpu=4\n",
    );
    let reservations = folder.write(
        "resv.psv",
        "Cluster|Name|NodeNames|TRES|Start|End|Flags\nmade|maint|n1|cpu=8|2026-01-01T04:00:00|2026-01-01T05:00:00|MAINT\n",
    );
    let site = imported(&[dump], &ImportOptions { machine: vec![conf], events: vec![events, reservations], ..utc() });
    let losses: Vec<(u16, i64, Option<i64>, u32, &str)> = site
        .losses
        .iter()
        .map(|l| (l.pool, l.begin - BEGIN, l.end.map(|end| end - BEGIN), l.units, l.cause.name()))
        .collect();
    // Two states of one node at once are out once; what never ends lacks to the end.
    assert!(losses.contains(&(0, 5_400, Some(10_800), 8, "down")), "{losses:?}");
    assert!(losses.contains(&(0, 14_400, Some(18_000), 8, "reservation")), "{losses:?}");
    assert!(losses.iter().any(|l| (l.0, l.1, l.3, l.4) == (1, 7_200, 4, "down")), "{losses:?}");
    assert_eq!(losses.len(), 3, "{losses:?}");
    assert!(
        site.manifest.warnings.iter().any(|w| w.contains("named by no description and no job, such as zz: left out")),
        "{:?}",
        site.manifest.warnings
    );
}

#[test]
fn jobs_of_reservations_start_when_they_started_and_others_lack_what_they_take() {
    let text = "JobIDRaw|Submit|Start|End|State|AllocCPUS|Partition|Timelimit|NodeList|Reservation\n\
                1|1767225600|1767225600|1767229200|COMPLETED|8|batch|02:00:00|n1|\n\
                2|1767225600|1767227600|1767229200|COMPLETED|8|batch|02:00:00|n2|course\n\
                3|1767225700|1767229200|1767229300|COMPLETED|8|batch|02:00:00|n1|\n";
    let site = of_text(text, &ImportOptions::default());
    assert_eq!(rule(&site, "reserved"), (0, 1));
    let pool = site.pool_workload(0).expect("a pool");
    assert_eq!(pool.workload.len(), 2, "the reserved job is not scheduled");
    assert_eq!(pool.outages.list().len(), 1);
    let loss = &site.losses[0];
    assert_eq!((loss.begin, loss.end, loss.units), (1_767_227_600, Some(1_767_229_200), 8));
}

#[test]
fn jobs_beyond_the_machine_are_dropped_and_counted_or_an_error() {
    let mut jobs = made();
    jobs.push(Made {
        start: None,
        end: Some(BEGIN + 500),
        state: "CANCELLED",
        node: None,
        cpus: 500,
        ..jobs[0].clone()
    });
    jobs.last_mut().expect("a job").id = 7;
    let site = with(&[("slurm.conf", CONF)], &jobs);
    assert_eq!((site.len(), rule(&site, "wide")), (6, (0, 1)));
    let folder = Folder::new();
    let (dump, conf) = (folder.write("jobs.psv", Style::utc().text(&jobs)), folder.write("slurm.conf", CONF));
    let options = ImportOptions { machine: vec![conf], wide: drystone_site::Wide::Error, ..utc() };
    let error = crate::common::try_import(&[dump], &options).expect_err("too wide").to_string();
    assert!(error.contains("job 7 needs 500") && error.contains("--wide drop"), "{error}");
}

/// Files that `slurm.conf` includes lie beside it: they are parts of it, not machines.
#[test]
fn included_files_in_the_folder_are_read_once() {
    let conf = "ClusterName=made\nInclude /nowhere/nodes.conf\nInclude /nowhere/partitions.conf\n";
    let (nodes, partitions): (Vec<&str>, Vec<&str>) = CONF.lines().skip(1).partition(|line| line.starts_with("Node"));
    let parts = [("nodes.conf", nodes.join("\n")), ("partitions.conf", partitions.join("\n"))];
    let mut descriptions: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    descriptions.push(("slurm.conf", conf));
    let site = with(&descriptions, &made());
    assert_eq!(pools(&site), pools(&with(&[("slurm.conf", CONF)], &made())));
}

/// Nodes that register by themselves are in no file: the jobs say what there is.
#[test]
fn a_configuration_without_nodes_describes_no_machine() {
    for (conf, key) in [
        ("ClusterName=made\nMaxNodeCount=16\nNodeSet=c Feature=c\nPartitionName=p Nodes=c\n", "NodeName"),
        ("ClusterName=made\nNodeName=n[1-2] CPUs=8\n", "PartitionName"),
    ] {
        let site = with(&[("slurm.conf", conf)], &made());
        assert_eq!(pools(&site), pools(&with(&[], &made())), "{key}");
        let warning = site.manifest.warnings.iter().find(|text| text.contains("describes no machine"));
        assert!(warning.is_some_and(|text| text.contains(key)), "{:?}", site.manifest.warnings);
    }
}
