//! Every public table that is read by name: ten rows with the columns of its description and
//! numbers of our own, of which the right values are known.

use crate::common::{error_of, of_text};
use crate::tables_cases::{own_line, with_columns};
use drystone_site::SiteJob;

/// Submission of row `n`: 1 September 2023 at eight, and a quarter of an hour for each row.
pub(crate) fn submit(n: i64) -> i64 {
    1_693_555_200 + 900 * n
}

/// A minute later.
pub(crate) fn start(n: i64) -> i64 {
    submit(n) + 60
}

/// Row `n` runs for ten minutes more than the one before, from ten on.
pub(crate) fn run(n: i64) -> i64 {
    600 * (n + 1)
}

pub(crate) fn end(n: i64) -> i64 {
    start(n) + run(n)
}

/// A time with a blank, as tables write it.
pub(crate) fn civil(moment: i64) -> String {
    let day = (moment - 1_693_526_400) / 86_400;
    let second = (moment - 1_693_526_400) % 86_400;
    format!("2023-09-{:02} {:02}:{:02}:{:02}", 1 + day, second / 3_600, second / 60 % 60, second % 60)
}

/// A time as LSF prints it with its year.
fn lsf(moment: i64) -> String {
    let text = civil(moment);
    format!("Sep {:>2} {} 2023", text[8..10].trim_start_matches('0'), &text[11..])
}

/// Right values of a table, of row `n`, which has `n + 1` units of each size.
struct RightValues {
    name: &'static str,
    header: &'static str,
    row: fn(i64) -> String,
    /// Processors, nodes and GPUs of a unit; 0 where the table does not say.
    sizes: (u32, u32, u32),
    /// The limit in seconds; `None` where the table has none.
    limit: Option<u32>,
    /// True if the table has submissions.
    waits: bool,
    /// Seconds from the times above to those of the table.
    shift: i64,
}

const TABLES: &[RightValues] = &[
    RightValues {
        name: "eagle",
        header: "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,start_time,end_time,run_time,state,name,work_dir,submit_line",
        row: |n| {
            let k = n + 1;
            format!(
                "{},u1,a1,p,q,14400,{k},{},0,0.0,{},{},{},{}.0,COMPLETED,n,w,s",
                7 + n,
                36 * k,
                civil(submit(n)),
                civil(start(n)),
                civil(end(n)),
                run(n)
            )
        },
        sizes: (36, 1, 0),
        limit: Some(14_400),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "kestrel",
        header: "job_id,user,account,nodes_required,wall_time,wallclock_req,submit_time,start_time,end_time,job_state,power_per_node",
        row: |n| {
            format!(
                "{},u1,a1,{},{},7200,{},{},{},COMPLETED,512.5",
                7 + n,
                n + 1,
                run(n),
                civil(submit(n)),
                civil(start(n)),
                civil(end(n))
            )
        },
        sizes: (0, 1, 0),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "fugaku",
        header: "jid,usr,jnam,cnumr,cnumat,nnumr,adt,qdt,schedsdt,deldt,ec,elpl,sdt,edt,nnuma,idle_time_ave,pri,duration,exit state,pclass",
        row: |n| {
            let k = n + 1;
            format!(
                "{},u1,j,{c},{c},{k},{},{},,,0,7200,{},{},{k},0.5,127,{},completed,memory-bound",
                7 + n,
                civil(submit(n)),
                civil(submit(n)),
                civil(start(n)),
                civil(end(n)),
                run(n),
                c = 48 * k
            )
        },
        sizes: (48, 1, 0),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "alcf",
        header: "JOB_NAME,COBALT_JOBID,MACHINE_NAME,QUEUED_TIMESTAMP,QUEUED_DATE_ID,START_TIMESTAMP,START_DATE_ID,END_TIMESTAMP,END_DATE_ID,USERNAME_GENID,PROJECT_NAME_GENID,QUEUE_NAME,WALLTIME_SECONDS,RUNTIME_SECONDS,NODES_USED,NODES_REQUESTED,CORES_USED,CORES_REQUESTED,LOCATION,EXIT_STATUS,ELIGIBLE_WAIT_SECONDS,REQUESTED_CORE_HOURS,USED_CORE_HOURS",
        row: |n| {
            let k = n + 1;
            format!(
                "\"{id}.t\",{id},theta,{},20230901,{},20230901,{},20230901,11,22,default,7200.0,{}.0,{k}.0,{k}.0,{c}.0,{c}.0,\"0-3\",0,60.0,{}.5,7.0",
                civil(submit(n)),
                civil(start(n)),
                civil(end(n)),
                run(n),
                128 * k,
                id = 4_000 + n,
                c = 64 * k
            )
        },
        sizes: (64, 1, 0),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "lassen",
        header: "allocation_id,primary_job_id,launch_node_name,isolated_cores,user_flags,num_nodes,num_processors,num_gpus,projected_memory,type,job_type,hashed_user_id,hashed_user_group_id,begin_time,end_time,exit_status,job_submit_time,queue,requeue,time_limit,smt_mode,core_blink",
        row: |n| {
            format!(
                "{},{},l1,0,,{},0,0,0,user-managed,batch,u9,g9,{}.25,{}.25,0,{}.25,pbatch,N,7200,1,f",
                900 + n,
                800 + n,
                n + 1,
                civil(start(n)),
                civil(end(n)),
                civil(submit(n))
            )
        },
        sizes: (0, 1, 0),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "slurm-db",
        header: "job_db_inx,mod_time,deleted,account,array_task_str,cpus_req,exit_code,job_name,id_array_job,id_array_task,id_assoc,id_group,id_job,id_qos,id_resv,id_user,kill_requid,mem_req,nodelist,nodes_alloc,partition,priority,state,timelimit,time_submit,time_eligible,time_start,time_end,time_suspended,tres_alloc,tres_req",
        row: |n| {
            let k = n + 1;
            format!(
                "{},0,0,a1,,{c},0,j,0,4294967294,3,5,{},1,0,1001,-1,9223372036854779808,g[1-{k}],{k},gpu,100,3,120,{},{},{},{},0,\"1={c},2=1000,4={k},1001={g}\",\"1={c},2=1000,4={k},1001={g},1002={g}\"",
                50 + n,
                700 + n,
                submit(n),
                submit(n),
                start(n),
                end(n),
                c = 40 * k,
                g = 2 * k
            )
        },
        sizes: (40, 1, 2),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "helios",
        header: "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue",
        row: |n| {
            let k = n + 1;
            format!(
                "{},u1,vc1,{},{},{k},COMPLETED,{},{},{},{},60",
                100 + n,
                8 * k,
                32 * k,
                civil(submit(n)),
                civil(start(n)),
                civil(end(n)),
                run(n)
            )
        },
        sizes: (32, 1, 8),
        limit: None,
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "acme",
        header: "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time",
        row: |n| {
            let k = n + 1;
            format!(
                "dlc{n}x{k}abc,u1,{k},{},{},1000,100.0,Other,COMPLETED,{}+00:00,{}+00:00,{}+00:00,,,{},60.0,9.0",
                8 * k,
                120 * k,
                civil(submit(n)),
                civil(start(n)),
                civil(end(n)),
                run(n) + 60
            )
        },
        sizes: (120, 1, 8),
        limit: None,
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "alibaba-gpu",
        header: "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time",
        row: |n| {
            let k = n + 1;
            let from = |moment: i64| moment - 1_672_531_200;
            format!(
                "pod-{n},{},100,{k},1000,,LS,Succeeded,{},{},{}.0",
                4_000 * k - 500,
                from(submit(n)),
                from(end(n)),
                from(start(n))
            )
        },
        sizes: (4, 0, 1),
        limit: None,
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "htcondor",
        header: "ClusterId,ProcId,Owner,QDate,JobStartDate,CompletionDate,RemoteWallClockTime,JobStatus,RequestCpus,RequestMemory",
        row: |n| format!("9,{n},ann,{},{},{},{}.0,4,{},2048", submit(n), start(n), end(n), run(n) + 5, 2 * (n + 1)),
        sizes: (2, 0, 0),
        limit: None,
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "oar",
        header: "job_id,job_name,job_user,project,queue_name,state,submission_time,start_time,stop_time,walltime,nb_resources",
        row: |n| {
            format!("{},,ann,pj,default,Terminated,{},{},{},7200,{}", 60 + n, submit(n), start(n), end(n), 16 * (n + 1))
        },
        sizes: (16, 0, 0),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "flux",
        header: "id,username,queue,bank,t_submit,t_depend,t_run,t_cleanup,t_inactive,duration,nnodes,ncores,ngpus,nodelist,status",
        row: |n| {
            let k = n + 1;
            format!(
                "f{n}aBc{k},ann,batch,b1,{s}.0,{s}.0,{}.5,{e}.1,{e}.9,7200.0,{k},{},{k},c[1-{k}],COMPLETED",
                start(n),
                8 * k,
                s = submit(n),
                e = end(n)
            )
            .replace("c[1-1]", "c1")
        },
        sizes: (8, 1, 1),
        limit: Some(7_200),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "clustercockpit",
        header: "id,job_id,cluster,subcluster,start_time,hpc_user,project,cluster_partition,array_job_id,duration,walltime,job_state,num_nodes,num_hwthreads,num_acc,smt",
        row: |n| {
            let k = n + 1;
            format!(
                "{n},{},fritz,main,{},ann,pj,singlenode,0,{},7200,completed,{k},{},{k},1",
                300 + n,
                start(n),
                run(n),
                72 * k
            )
        },
        sizes: (72, 1, 1),
        limit: Some(7_200),
        waits: false,
        shift: 0,
    },
    RightValues {
        name: "jobcomp-table",
        header: "jobid,uid,user_name,gid,group_name,name,state,partition,timelimit,starttime,endtime,nodelist,nodecnt,proc_cnt,connect_type,reboot,rotate,maxprocs,geometry,start,blockid",
        row: |n| {
            let k = n + 1;
            format!(
                "{},1001,ann,100,g,j,3,batch,120,{},{},c[1-{k}],{k},{},NULL,NULL,NULL,0,NULL,NULL,NULL",
                900 + n,
                start(n),
                end(n),
                48 * k
            )
            .replace("c[1-1]", "c1")
        },
        sizes: (48, 1, 0),
        limit: Some(7_200),
        waits: false,
        shift: 0,
    },
    RightValues {
        name: "alibaba-2018",
        header: "",
        row: |n| {
            let from = |moment: i64| moment - 1_693_526_400;
            format!("task_{n},{},j_{n},1,Terminated,{},{},50,0.2", 4 * (n + 1), from(start(n)), from(end(n)))
        },
        // Four instances of half a processor are two.
        sizes: (2, 0, 0),
        limit: None,
        waits: false,
        shift: 1_514_764_800 - 1_693_526_400,
    },
    RightValues {
        name: "alibaba-2017",
        header: "",
        row: |n| {
            let from = |moment: i64| moment - 1_693_526_400;
            format!("{},{},{},3,{},Terminated,100,0.01", from(start(n)), from(end(n)), 40 + n, 2 * (n + 1))
        },
        sizes: (2, 0, 0),
        limit: None,
        waits: false,
        shift: 1_501_545_600 - 1_693_526_400,
    },
    RightValues {
        name: "alibaba-gpu-2020",
        header: "",
        row: |n| {
            let from = |moment: i64| moment - 1_693_526_400;
            format!("a{n}b2,worker,{}.0,Terminated,{}.0,{}.0,600.0,29.3,100.0,T4", n + 1, from(start(n)), from(end(n)))
        },
        sizes: (6, 0, 1),
        limit: None,
        waits: false,
        shift: 1_593_561_600 - 1_693_526_400,
    },
    RightValues {
        name: "bjobs",
        header: "JOBID,STAT,USER,QUEUE,SUBMIT_TIME,START_TIME,FINISH_TIME,SLOTS,NEXEC_HOST,RUN_TIME,RUNTIMELIMIT,EXEC_HOST",
        row: |n| {
            let k = n + 1;
            format!(
                "{},DONE,ann,normal,{},{},{} L,{},{k},{} second(s),240.0/h1,16*h1:16*h2",
                7 + n,
                lsf(submit(n)),
                lsf(start(n)),
                lsf(end(n)),
                16 * k,
                run(n)
            )
        },
        sizes: (16, 1, 0),
        limit: Some(14_400),
        waits: true,
        shift: 0,
    },
    RightValues {
        name: "xdmod",
        header: "",
        row: |n| {
            let (id, k) = (7 + n, n + 1);
            let times =
                [submit(n), submit(n), start(n), end(n)].map(|moment| civil(moment).replace(' ', "T")).join("|");
            format!(
                "{id}|{id}|c|p|q|a|g|10|ann|11|{times}|{}|0:0|COMPLETED|{k}|{c}|{c}|0|cpu={c},node={k}|cpu={c},node={k}|04:00:00|n[1-{k}]|a|b",
                crate::generated::span(run(n)),
                c = 16 * k
            )
        },
        sizes: (16, 1, 0),
        limit: Some(14_400),
        waits: true,
        shift: 0,
    },
];

fn check(job: &SiteJob<'_>, n: i64, right: &RightValues) {
    let units = n as u32 + 1;
    let name = right.name;
    let size = |each: u32| (each > 0).then_some(each * units);
    assert_eq!(job.start, Some(start(n) + right.shift), "{name} {n}");
    assert_eq!(job.run, Some(run(n) as u32), "{name} {n}");
    if right.waits {
        assert_eq!((job.submit, job.wait()), (submit(n) + right.shift, Some(60)), "{name} {n}");
    }
    assert_eq!(job.cpus.filter(|_| right.sizes.0 > 0), size(right.sizes.0), "{name} {n}");
    assert_eq!(job.nodes.filter(|_| right.sizes.1 > 0), size(right.sizes.1), "{name} {n}");
    assert_eq!(job.gpus.filter(|_| right.sizes.2 > 0), size(right.sizes.2), "{name} {n}");
    assert_eq!(job.limit, right.limit.unwrap_or(365 * 86_400), "{name} {n}");
}

#[test]
fn every_table_with_a_name_is_known_and_read() {
    for right in TABLES {
        let rows: Vec<String> = (0..10).map(right.row).collect();
        let head = if right.header.is_empty() { String::new() } else { format!("{}\n", right.header) };
        let text = format!("{head}{}\n", rows.join("\n"));
        let message = error_of(&text, &crate::common::utc());
        assert_eq!(own_line(&message), right.name, "{message}");
        assert!(message.contains("10 jobs") && message.lines().count() <= 5, "{message}");
        let site = of_text(&text, &with_columns(right.name));
        assert_eq!((site.len(), site.manifest.bad_rows), (10, 0), "{}", right.name);
        for (job, n) in site.jobs().zip(0..) {
            check(&job, n, right);
        }
    }
}

#[test]
fn columns_of_a_known_table_stand_in_any_order() {
    let reverse_row = |row: String| {
        let mut fields: Vec<&str> = row.split(',').collect();
        fields.reverse();
        fields.join(",")
    };
    for right in TABLES.iter().filter(|right| ["helios", "oar", "htcondor", "kestrel"].contains(&right.name)) {
        let rows: Vec<String> = (0..10).map(right.row).map(reverse_row).collect();
        let text = format!("{}\n{}\n", reverse_row(right.header.to_string()), rows.join("\n"));
        assert_eq!(own_line(&error_of(&text, &crate::common::utc())), right.name);
        let site = of_text(&text, &with_columns(right.name));
        site.jobs().zip(0..).for_each(|(job, n)| check(&job, n, right));
    }
}

#[test]
fn the_job_log_of_philly_has_attempts() {
    let attempt = |from: i64, to: i64, gpus: &str| {
        format!(
            "{{\"start_time\":\"{}\",\"end_time\":\"{}\",\"detail\":[{{\"ip\":\"m1\",\"gpus\":[{gpus}]}},{{\"ip\":\"m2\",\"gpus\":[{gpus}]}}]}}",
            civil(from),
            civil(to)
        )
    };
    let job = |n: i64| {
        let attempts = match n {
            0 => [
                attempt(start(0), start(0) + 100, "\"gpu0\""),
                attempt(start(0) + 200, start(0) + 200 + run(0), "\"gpu0\""),
            ]
            .join(","),
            n => attempt(start(n), end(n), "\"gpu0\",\"gpu1\""),
        };
        format!(
            "{{\"status\":\"Pass\",\"vc\":\"v1\",\"jobid\":\"application_{n}\",\"attempts\":[{attempts}],\"submitted_time\":\"{}\",\"user\":\"u1\"}}",
            civil(submit(n))
        )
    };
    let text = format!("[{}]", (0..10).map(job).collect::<Vec<_>>().join(","));
    assert_eq!(own_line(&error_of(&text, &crate::common::utc())), "philly");
    let site = of_text(&text, &with_columns("philly"));
    let second: Vec<_> = site.jobs().filter(|job| job.attempt == 2).map(|job| (job.start, job.run)).collect();
    assert_eq!((site.len(), second), (11, vec![(Some(start(0) + 200), Some(600))]));
    let wide = site.jobs().filter(|job| job.gpus == Some(4) && job.nodes == Some(2)).count();
    assert_eq!(wide, 9);
}

#[test]
fn completion_records_for_search_engines_and_records_of_clustercockpit() {
    let record = |n: i64| {
        format!(
            "{{\"jobid\":{},\"array_job_id\":5,\"array_task_id\":{n},\"username\":\"ann\",\"@start\":\"{}\",\"@end\":\"{}\",\"elapsed\":{},\"partition\":\"p\",\
             \"total_cpus\":{},\"total_nodes\":1,\"state\":\"COMPLETED\",\"@submit\":\"{}\",\"@eligible\":\"{}\",\"time_limit\":7200,\"account\":\"ac\"}}\n",
            30 + n,
            civil(start(n)).replace(' ', "T"),
            civil(end(n)).replace(' ', "T"),
            run(n),
            8 * (n + 1),
            civil(submit(n)).replace(' ', "T"),
            civil(submit(n)).replace(' ', "T")
        )
    };
    // Slurm writes UTC, whatever the zone of the site.
    let zone = drystone_site::ImportOptions::default();
    let site = of_text((0..10).map(record).collect::<String>(), &zone);
    for (job, n) in site.jobs().zip(0..) {
        assert_eq!((job.submit, job.start, job.run), (submit(n), Some(start(n)), Some(run(n) as u32)));
        assert_eq!((job.cpus, job.limit, job.task), (Some(8 * (n as u32 + 1)), 7_200, Some(n as u32)));
    }
    let record = |n: i64| {
        format!(
            "{{\"jobId\":{},\"user\":\"ann\",\"cluster\":\"f\",\"numNodes\":2,\"numHwthreads\":{},\"startTime\":{},\"duration\":{},\"walltime\":7200,\
             \"jobState\":\"completed\",\"resources\":[{{\"hostname\":\"a\",\"hwthreads\":[0,1]}},{{\"hostname\":\"b\"}}]}}\n",
            30 + n,
            72 * (n + 1),
            start(n),
            run(n)
        )
    };
    let text: String = (0..10).map(record).collect();
    let site = of_text(&text, &with_columns(&own_line(&error_of(&text, &crate::common::utc()))));
    let job = site.job_at(3);
    assert_eq!((job.cpus, job.nodes, job.run, job.node_list.as_ref()), (Some(288), Some(2), Some(2_400), "a,b"));
}

#[test]
fn ten_pods_of_kubernetes() {
    let pod = |n: i64| {
        let time = |moment: i64| civil(moment).replace(' ', "T") + "Z";
        format!(
            "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"p{n}\",\"namespace\":\"ml\",\"creationTimestamp\":\"{}\"}},\
             \"spec\":{{\"containers\":[{{\"resources\":{{\"requests\":{{\"cpu\":\"{}\",\"nvidia.com/gpu\":\"{}\"}}}}}}]}},\
             \"status\":{{\"phase\":\"Succeeded\",\"startTime\":\"{}\",\
             \"containerStatuses\":[{{\"state\":{{\"terminated\":{{\"finishedAt\":\"{}\"}}}}}}]}}}}",
            time(submit(n)),
            4 * (n + 1),
            n + 1,
            time(start(n)),
            time(end(n))
        )
    };
    let text = format!(
        "{{\"apiVersion\":\"v1\",\"items\":[{}],\"kind\":\"List\"}}",
        (0..10).map(pod).collect::<Vec<_>>().join(",")
    );
    assert_eq!(own_line(&error_of(&text, &crate::common::utc())), "kubernetes");
    let site = of_text(&text, &with_columns("kubernetes"));
    let jobs: Vec<_> = site.jobs().map(|job| (job.submit, job.start, job.run, job.cpus, job.gpus)).collect();
    let right = |n: i64| {
        let units = n as u32 + 1;
        (submit(n), Some(start(n)), Some(run(n) as u32), Some(4 * units), Some(units))
    };
    assert_eq!(jobs, (0..10).map(right).collect::<Vec<_>>());
}

#[test]
fn an_array_of_the_database_has_its_tasks() {
    let text = "id_job,id_array_job,id_array_task,array_task_str,cpus_req,state,timelimit,time_submit,time_start,time_end,tres_req\n\
                51,50,1,,4,3,60,1693555200,1693555300,1693555400,\"1=4\"\n\
                50,50,4294967294,\"2-4\",4,4,60,1693555200,0,1693555500,\"1=4\"\n\
                60,0,4294967294,,4,1,4294967295,1693555200,1693555300,0,\"1=4\"\n";
    let site = of_text(text, &with_columns("slurm-db"));
    let mut tasks: Vec<_> = site.jobs().map(|job| (job.of, job.task, job.kind.name())).collect();
    tasks.sort_unstable();
    assert_eq!(tasks.len(), 5);
    assert_eq!(tasks.iter().filter(|(of, ..)| *of == Some(50)).count(), 4);
    assert!(site.jobs().any(|job| job.id == Some(60) && job.kind == drystone_site::SiteJobFate::Running));
}

#[test]
fn every_table_with_a_name_is_in_the_documents() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/accounting.md");
    let text = std::fs::read_to_string(path).expect("the page");
    for name in TABLES.iter().map(|right| right.name).chain(["philly", "kubernetes", "m100", "adastra"]) {
        assert!(text.contains(&format!("`{name}`")), "{name}");
    }
}
