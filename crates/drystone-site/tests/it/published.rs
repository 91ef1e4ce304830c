//! Ten rows of published tables that no name on the command line stands for, or whose names differ:
//! the columns of their descriptions, numbers of our own, right values by hand.

use crate::common::{of_text, utc};
use crate::tables::{civil, end, run, start, submit};
use crate::tables_cases::{text_by_own_line, with_columns};
use drystone_site::{ImportOptions, Site, SiteJobFate};

/// Submission, start, run time, processors, nodes and limit of every job.
type Facts = (i64, Option<i64>, Option<u32>, Option<u32>, Option<u32>, u32);

fn facts(site: &Site) -> Vec<Facts> {
    let fact_of = |job: drystone_site::SiteJob<'_>| (job.submit, job.start, job.run, job.cpus, job.nodes, job.limit);
    site.jobs().map(fact_of).collect()
}

/// The facts of ten jobs: `n + 1` nodes of so many processors, a minute of waiting.
fn right(processors: u32, limit: u32) -> Vec<Facts> {
    let row_of = |n: i64| {
        let nodes = n as u32 + 1;
        (submit(n), Some(start(n)), Some(run(n) as u32), Some(processors * nodes), Some(nodes), limit)
    };
    (0..10).map(row_of).collect()
}

/// A time as PBS begins its records.
fn stamp(moment: i64) -> String {
    let text = civil(moment);
    format!("{}/{}/{} {}", &text[5..7], &text[8..10], &text[..4], &text[11..])
}

#[test]
fn blue_waters_has_records_of_torque() {
    let record = |n: i64| {
        let k = n + 1;
        let hosts: Vec<String> = (0..k).map(|at| format!("{}/0-31", 26_700 + at)).collect();
        format!(
            "{};E;{}.bw;user=U7 group=G3 account=A1 jobname=dm5 queue=normal ctime={s} qtime={s} etime={s} start={} owner=U7@h2ologin2 exec_host={} \
             login_node=nid27563 Resource_List.flags=commtolerant:commlocal Resource_List.neednodes={k}:ppn=32 Resource_List.nodect={k} \
             Resource_List.nodes={k}:ppn=32 Resource_List.partition=bwsched Resource_List.walltime=04:00:00 session=16472 \
             total_execution_slots={} unique_node_count={k} end={} Exit_status={} resources_used.cput=28 resources_used.energy_used=0 \
             resources_used.mem=18996kb resources_used.vmem=130088kb resources_used.walltime=00:10:00\n",
            stamp(end(n)),
            6_335_144 + n,
            start(n),
            hosts.join("+"),
            32 * k,
            end(n),
            if n == 3 { 2 } else { 0 },
            s = submit(n),
        )
    };
    let site = of_text((0..10).map(record).collect::<String>(), &utc());
    assert_eq!((facts(&site), site.manifest.bad_rows), (right(32, 14_400), 0));
    let job = site.job_at(3);
    assert_eq!((job.state.as_ref(), job.node_list.as_ref()), ("FAILED", "26700,26701,26702,26703"));
    assert_eq!((job.user.as_ref(), job.account.as_ref(), job.partition.as_ref()), ("U7", "A1", "normal"));
    assert!(site.jobs().filter(|job| job.state == "COMPLETED").count() == 9);
}

#[test]
fn cobalt_has_places_in_place_of_names() {
    let record = |n: i64| {
        let k = n + 1;
        let place = if n == 0 { "0".to_string() } else { format!("{}-{}", 10 * n, 11 * n) };
        let list = format!("Resource_List.ncpus={} Resource_List.nodect={k} Resource_List.walltime=6:00:00", 64 * k);
        let contents = format!(
            "account=proj ctime={s}.12 etime={s}.12 exec_host=\"{place}\" group=users jobname=N/A qtime={s}.12 queue=default session=0 \
             start={}.5 user=ann",
            start(n),
            s = submit(n)
        );
        let id = 400_001 + n;
        format!(
            "{};Q;{id};queue=default\n{};S;{id};{list} {contents}\n{};E;{id};Exit_status=0 {list} end={}.5 resources_used.location=\"{place}\" \
             resources_used.nodect={k} {contents}\n",
            stamp(submit(n)),
            stamp(start(n)),
            stamp(end(n)),
            end(n)
        )
    };
    let site = of_text((0..10).map(record).collect::<String>(), &utc());
    assert_eq!((facts(&site), site.manifest.bad_rows), (right(64, 21_600), 0));
    assert_eq!(site.job_at(2).node_list, "20,21,22");
}

#[test]
fn marconi_counts_limits_in_minutes() {
    let zone_text = |moment: i64| civil(moment) + "+00:00";
    // PM100: cores of nodes that have 32 of them.
    let row = |n: i64| {
        let k = n + 1;
        let nodes: Vec<String> = (0..k).map(|at| (40 + at).to_string()).collect();
        format!(
            "1,{sub},{},5,{},COMPLETED,{k}.0,{k},\"[{}]\",{c},{c},{g},{g},{k},{k},{k},1,100,1,{},0,{},{sub},4,240,9\n",
            zone_text(end(n)),
            7 + n,
            nodes.join(", "),
            run(n),
            zone_text(start(n)),
            sub = zone_text(submit(n)),
            c = 32 * k,
            g = 4 * k,
        )
    };
    let head = "cores_per_task,eligible_time,end_time,group_id,job_id,job_state,mem_alloc,mem_req,nodes,num_cores_alloc,num_cores_req,num_gpus_alloc,\
                num_gpus_req,num_nodes_alloc,num_nodes_req,num_tasks,partition,priority,qos,run_time,shared,start_time,submit_time,threads_per_core,\
                time_limit,user_id\n";
    let text = head.to_string() + &(0..10).map(row).collect::<String>();
    for options in [ImportOptions::default(), with_columns("m100"), with_columns("pm100")] {
        let site = of_text(&text, &options);
        assert_eq!((facts(&site), site.manifest.bad_rows), (right(32, 14_400), 0));
        let gpus: Vec<_> = site.jobs().map(|job| job.gpus).collect();
        assert_eq!(gpus, (1..11).map(|k| Some(4 * k)).collect::<Vec<_>>());
        assert_eq!(site.job_at(1).node_list, "40,41");
    }
    // ExaData: processors are threads, four of a core; the rest is in the words of Slurm.
    let row = |n: i64| {
        let k = n + 1;
        let tres = format!("cpu={},mem={k}G,node={k},billing=9,gres/gpu={}", 128 * k, 4 * k);
        format!(
            "{};9;1;1;{sub};{sub};{};{};{};240;{};{k};{tres};{tres};COMPLETED\n",
            7 + n,
            zone_text(start(n)),
            zone_text(end(n)),
            run(n),
            128 * k,
            sub = zone_text(submit(n)),
        )
    };
    let head = "job_id;user_id;partition;qos;submit_time;eligible_time;start_time;end_time;run_time;time_limit;num_cpus;num_nodes;tres_req_str;\
                tres_alloc_str;job_state\n";
    let site = of_text(head.to_string() + &(0..10).map(row).collect::<String>(), &with_columns("m100"));
    assert_eq!((facts(&site), site.manifest.bad_rows), (right(128, 14_400), 0));
    assert!(site.jobs().zip(1..).all(|(job, k)| job.gpus == Some(4 * k)));
}

#[test]
fn a_log_with_names_has_waits() {
    let head = "Job Number,Submit Time,Wait Time,Run Time,Number of Allocated Processors,Average CPU Time Used,Used Memory,\
                Requested Number of Processors,Requested Time,Requested Memory,Status,User ID,Group ID,Executable Number,Queue Number,\
                Partition Number,Preceding Job Number,Think Time from Preceding Job\n";
    // The sixth failed, the eighth was cancelled while it waited.
    let row = |n: i64| {
        let (ran, procs, status) = match n {
            5 => (run(n), 8 * (n + 1), 0),
            7 => (-1, -1, 5),
            _ => (run(n), 8 * (n + 1), 1),
        };
        format!(
            "{},{},60,{ran},{procs},-1,-1,{},14400,-1,{status},{},1,-1,2,-1,-1,-1\n",
            n + 1,
            900 * n,
            8 * (n + 1),
            20 + n
        )
    };
    let (line, site) = text_by_own_line(&(head.to_string() + &(0..10).map(row).collect::<String>()));
    assert!(line.contains("WaitRaw") && line.contains("SwfState"), "{line}");
    // 2020-01-01 stands for the day from which times count.
    let shift = 1_577_836_800 - submit(0);
    for (job, n) in site.jobs().zip(0_i64..) {
        let cpus = 8 * (n as u32 + 1);
        assert_eq!((job.submit, job.cpus, job.limit), (submit(n) + shift, Some(cpus), 14_400), "{n}");
        assert_eq!((job.user.to_string(), job.partition.as_ref()), ((20 + n).to_string(), "2"), "{n}");
        let ran = (Some(start(n) + shift), Some(run(n) as u32), SiteJobFate::Ran);
        let right = if n == 7 { (None, None, SiteJobFate::Withdrawn) } else { ran };
        assert_eq!((job.start, job.run, job.kind), right, "{n}");
    }
    let states: Vec<String> = site.jobs().map(|job| job.state.to_string()).collect();
    assert_eq!((site.len(), states[5].as_str(), states[7].as_str()), (10, "FAILED", "CANCELLED"));
    assert_eq!(site.job_at(7).end, Some(submit(7) + 60 + shift));
}

#[test]
fn a_line_of_units_is_a_header() {
    let rows = "1,1700000000,1700000060,1700003660,64,5400,ann\n2,1700000100,1700000160,1700001960,32,3600,bob\n3,1700000200,1700000800,1700008000,128,10800,ann\n";
    let names = "job,submitted,started,finished,cores,walltime,user\n";
    let plain = text_by_own_line(&format!("{names}{rows}"));
    // The unit of the limit stands there as well, in brackets or without: else seconds fit.
    assert_eq!(plain.1.job_at(0).limit, 5_400);
    for units in ["-,s,s,s,cores,min,name\n", "id,[s],[s],[s],[-],[min],\n"] {
        let (line, site) = text_by_own_line(&format!("{names}{units}{rows}"));
        assert_eq!(line, "JobID,Submit,Start,End,AllocCPUS,TimelimitRaw,user");
        assert_eq!(crate::common::rule(&site, "header").0, 1, "{units}");
        assert_eq!((site.manifest.bad_rows, site.job_at(0).limit), (0, 324_000));
        assert_eq!(crate::common::facts(&site).len(), crate::common::facts(&plain.1).len());
    }
    // Of sacct's own names as well; a row that is none stays a bad row.
    let names = "JobID|Submit|Start|End|State|AllocCPUS\n";
    let text = format!("{names}id|s|s|s|word|number\n7|1700000000|1700000060|1700003660|COMPLETED|4\n");
    let site = of_text(&text, &utc());
    assert_eq!((site.len(), site.manifest.bad_rows), (1, 0));
}

#[test]
fn numbers_of_python_that_are_no_json_are_missing() {
    let record = |n: i64, limit: &str| {
        format!(
            "{{\"job_id\":{},\"submit_time\":{},\"start_time\":{},\"end_time\":{},\"num_cores\":8,\"walltime_s\":{limit},\"note\":\"NaN\"}}",
            n + 1,
            submit(n),
            start(n),
            end(n)
        )
    };
    let text = format!("[{},{},{}]", record(0, "NaN"), record(1, "7200"), record(2, "14400.0"));
    let (line, site) = text_by_own_line(&text);
    assert!(line.contains("TimelimitSeconds"), "{line}");
    let limits: Vec<u32> = site.jobs().map(|job| job.limit).collect();
    // Without a limit of its own a job has the longest.
    assert_eq!((limits, site.manifest.bad_rows), (vec![14_400, 7_200, 14_400], 0));
}
