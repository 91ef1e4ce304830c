//! Tables with waits in place of starts or submissions, as those made of the Standard Workload
//! Format.

use crate::common::{error_of, of_text, rule, utc};
use crate::tables_cases::{own_line, text_by_own_line, with_columns};
use drystone_site::{Site, SiteJobFate};

fn times(site: &Site) -> Vec<(i64, Option<i64>, Option<u32>)> {
    site.jobs().map(|job| (job.submit, job.start, job.run)).collect()
}

const THREE: &str = "job,submit,wait,run,procs,user\n1,1700000000,60,3600,64,u1\n2,1700000100,0,1800,32,u2\n\
                     3,1700000200,600,7200,128,u1\n";

#[test]
fn a_wait_says_the_start() {
    let error = error_of(THREE, &utc());
    assert!(error.contains("is `wait` the wait before the start in seconds?"), "{error}");
    let (line, site) = text_by_own_line(THREE);
    assert_eq!(line, "JobID,submit,WaitRaw,ElapsedRaw,AllocCPUS,user");
    let right = [
        (1_700_000_000, Some(1_700_000_060), Some(3_600)),
        (1_700_000_100, Some(1_700_000_100), Some(1_800)),
        (1_700_000_200, Some(1_700_000_800), Some(7_200)),
    ];
    assert_eq!((times(&site), rule(&site, "waited").0), (right.to_vec(), 3));
    // In minutes, as lengths, with ends in place of run times.
    for text in [
        "id,submitted_at,wait_minutes,run_s,cores\n1,1700000000,1,3600,64\n2,1700000100,0,1800,32\n3,1700000200,10,7200,128\n",
        "id,submitted_at,queue_time,run_time,cores\n1,1700000000,00:01:00,01:00:00,64\n2,1700000100,00:00:00,00:30:00,32\n\
         3,1700000200,00:10:00,02:00:00,128\n",
        "id,submitted_at,waited,finished_at,cores\n1,1700000000,60,1700003660,64\n2,1700000100,0,1700001900,32\n\
         3,1700000200,600,1700008000,128\n",
    ] {
        assert_eq!(times(&text_by_own_line(text).1), right, "{text}");
    }
}

#[test]
fn a_wait_says_the_submission() {
    let text = "id,start_time,end_time,pending_s,cores\n1,1700000060,1700003660,60,64\n2,1700000100,1700001900,0,32\n";
    // It is asked, and not taken: a table without submissions is read as well.
    let error = error_of(text, &utc());
    assert!(error.contains("is `pending_s` the wait before the start in seconds (WaitRaw)?"), "{error}");
    assert_eq!(own_line(&error), "JobID,start_time,end_time,-,AllocCPUS");
    let site = of_text(text, &with_columns("JobID,Start,End,WaitRaw,AllocCPUS"));
    assert_eq!(
        times(&site),
        [(1_700_000_000, Some(1_700_000_060), Some(3_600)), (1_700_000_100, Some(1_700_000_100), Some(1_800))]
    );
    // Where both are there, a wait says nothing new.
    let text = "id,submit_time,start_time,end_time,wait,cores\n1,1700000000,1700000060,1700003660,60,64\n2,1700000000,1700000100,1700001900,100,32\n";
    assert!(own_line(&error_of(text, &utc())).ends_with("end_time,-,AllocCPUS"));
}

#[test]
fn a_wait_that_cannot_be_is_not_taken() {
    // Longer than from submission to end; negative; a reason; a mean.
    for column in [
        "waited\n1,1700000000,1700003660,64,99999\n2,1700000100,1700001900,32,99999\n",
        "wait\n1,1700000000,1700003660,64,-60\n2,1700000100,1700001900,32,-5\n",
        "pend_reason\n1,1700000000,1700003660,64,7\n2,1700000100,1700001900,32,8\n",
        "average_wait\n1,1700000000,1700003660,64,7\n2,1700000100,1700001900,32,8\n",
    ] {
        let error = error_of(format!("id,submitted_at,finished_at,cores,{column}"), &utc());
        assert!(error.contains("no column says when jobs started"), "{error}");
    }
}

/// The eighteen fields of the Standard Workload Format as people name them.
const NAMES: &str = "Job Number,Submit Time,Wait Time,Run Time,Number of Allocated Processors,Average CPU Time Used,Used Memory,\
    Requested Number of Processors,Requested Time,Requested Memory,Status,User ID,Group ID,Executable Number,Queue Number,\
    Partition Number,Preceding Job Number,Think Time from Preceding Job\n";
const SHORT: &str = "job_number,submit_time,wait_time,run_time,allocated_procs,avg_cpu_time,used_memory,req_procs,req_time,req_memory,\
    status,user_id,group_id,exec_number,queue_id,partition_id,prev_job,think_time\n";
/// A job that ended, one that failed, one that was cancelled while queued, one after its start.
const LOG: &str = "1,0,10,3600,64,-1,-1,64,7200,-1,1,5,1,-1,2,-1,-1,-1\n2,100,0,50,32,-1,-1,32,600,-1,0,6,1,-1,2,-1,-1,-1\n\
    3,200,400,-1,-1,-1,-1,16,600,-1,5,6,1,-1,1,-1,-1,-1\n4,300,30,20,8,-1,-1,8,600,-1,5,7,1,-1,1,-1,-1,-1\n";

#[test]
fn the_fields_of_a_log_with_names_are_its_jobs() {
    for names in [NAMES, SHORT] {
        let (line, site) = text_by_own_line(&format!("{names}{LOG}"));
        assert!(line.contains("WaitRaw") && line.contains("SwfState"), "{line}");
        let from = 1_577_836_800;
        assert_eq!(
            times(&site),
            [
                (from, Some(from + 10), Some(3_600)),
                (from + 100, Some(from + 100), Some(50)),
                (from + 200, None, None),
                (from + 300, Some(from + 330), Some(20)),
            ],
            "{line}"
        );
        let record = site.job_at(2);
        assert_eq!((record.kind, record.end, record.cpus), (SiteJobFate::Withdrawn, Some(from + 600), Some(16)));
        let jobs: Vec<_> =
            site.jobs().map(|job| (job.limit, job.partition.to_string(), job.user.to_string())).collect();
        let right = [(7_200, "2", "5"), (600, "2", "6"), (600, "1", "6"), (600, "1", "7")];
        assert_eq!(jobs, right.map(|(limit, partition, user)| (limit, partition.to_string(), user.to_string())));
        assert_eq!(site.job_at(0).cpus, Some(64));
        let states: Vec<String> = site.jobs().map(|job| job.state.to_string()).collect();
        assert_eq!(states, ["COMPLETED", "FAILED", "CANCELLED", "CANCELLED"]);
    }
}

#[test]
fn a_wait_has_a_name_for_columns() {
    let text = "7;1700000000;2;60;4\n8;1700000100;0;30;8\n";
    let site = of_text(text, &with_columns("JobID,Submit,WaitRaw*60,ElapsedRaw,AllocCPUS"));
    assert_eq!(times(&site)[0], (1_700_000_000, Some(1_700_000_120), Some(60)));
    // A run of no second ran; a wait that still goes on says nothing.
    let head = "JobID|Submit|WaitRaw|ElapsedRaw|State|AllocCPUS\n";
    let site = of_text(
        format!("{head}1|1700000000|5|0|COMPLETED|4\n2|1700000000|50|0|PENDING|4\n3|1700000000|50||RUNNING|4\n"),
        &utc(),
    );
    let jobs: Vec<_> = site.jobs().map(|job| (job.kind, job.start, job.run)).collect();
    assert_eq!(
        jobs,
        [
            (SiteJobFate::Ran, Some(1_700_000_005), Some(0)),
            (SiteJobFate::Waiting, None, None),
            (SiteJobFate::Running, Some(1_700_000_050), None)
        ]
    );
}
