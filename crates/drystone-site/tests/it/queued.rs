//! Jobs that left the queue before they ran, and of which no record says how large they are.

use crate::common::{error_of, of_text, rule, utc};
use crate::tables_cases::with_columns;
use drystone_site::{ImportOptions, Site, SiteJobFate};

fn warns_of(site: &Site, part: &str) -> bool {
    site.manifest.warnings.iter().any(|text| text.contains(part))
}

/// Jobs, bad rows, and jobs that were cancelled while queued without a size.
fn sums(site: &Site) -> (usize, u64, u64) {
    (site.len(), site.manifest.bad_rows, rule(site, "unsized").1)
}

/// A job of Philly with these attempts.
fn philly(id: u32, status: &str, attempts: &str) -> String {
    format!(
        "{{\"status\":\"{status}\",\"vc\":\"v\",\"jobid\":\"application_{id}\",\"attempts\":[{attempts}],\
         \"submitted_time\":\"2017-10-07 01:00:0{id}\",\"user\":\"u{id}\"}}"
    )
}

const ATTEMPT: &str = "{\"start_time\":\"2017-10-07 01:13:10\",\"end_time\":\"2017-10-07 03:13:10\",\
                       \"detail\":[{\"ip\":\"m1\",\"gpus\":[\"gpu0\",\"gpu1\"]}]}";

#[test]
fn a_job_of_philly_without_an_attempt_was_cancelled_while_queued() {
    // No attempt; one without a start and a place; one whose start is the word `None`.
    let wait_record = "{\"start_time\":null,\"end_time\":\"2017-10-07 02:10:00\",\"detail\":[]}";
    let word_record = "{\"start_time\":\"None\",\"end_time\":\"None\",\"detail\":[]}";
    for (nothing, status) in [("", "Killed"), (wait_record, "Killed"), (word_record, "Failed")] {
        let text = format!("[{},{}]", philly(1, "Pass", ATTEMPT), philly(2, status, nothing));
        let site = of_text(text, &with_columns("philly"));
        assert_eq!(sums(&site), (1, 0, 1), "{nothing}");
        assert!(warns_of(&site, "cancelled while they were queued"), "{:?}", site.manifest.warnings);
        assert_eq!((site.job_at(0).run, site.job_at(0).gpus), (Some(7_200), Some(2)));
    }
    // One that ran without a place that is named lost its size: that is a bad row.
    let loss_record = "{\"start_time\":\"2017-10-07 01:11:00\",\"end_time\":\"2017-10-07 02:10:00\"}";
    let text = format!("[{},{}]", philly(1, "Pass", ATTEMPT), philly(2, "Pass", loss_record));
    let site = of_text(text, &with_columns("philly"));
    assert_eq!(site.len() as u64 + site.manifest.bad_rows + rule(&site, "unsized").1, 2);
}

const ENDED: &str = "03/01/2019 12:05:00;E;303.s;Exit_status=0 Resource_List.ncpus=512 Resource_List.nodect=8 \
                     Resource_List.walltime=1:00:00 ctime=1551434400 end=1551441900 etime=1551434400 exec_host=n1/0*64 group=g \
                     qtime=1551434400 queue=q session=0 start=1551439500 user=ann\n";

fn pbs(records: &[&str]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect::<String>() + ENDED
}

#[test]
fn a_job_of_pbs_that_was_deleted_while_queued_never_ran() {
    // The zone is known from the record of an end: 12:05 there is 12:05 UTC.
    let zoneless = ImportOptions::default();
    for (options, first) in [(&utc(), ENDED), (&zoneless, ENDED)] {
        let text = format!("{first}03/01/2019 12:10:00;Q;304.s;queue=q\n03/01/2019 12:30:00;D;304.s;requestor=ann@h\n");
        let site = of_text(text, options);
        assert_eq!(sums(&site), (1, 0, 1));
        assert!(warns_of(&site, "cancelled while they were queued") && !warns_of(&site, "days before"));
    }
    // Aborted; still queued at the end of the records; before the zone is known.
    for records in [
        &["03/01/2019 11:00:00;Q;301.s;queue=q", "03/01/2019 11:30:00;A;301.s;Job deleted"][..],
        &["03/01/2019 11:00:00;Q;301.s;queue=q"],
    ] {
        assert_eq!(sums(&of_text(pbs(records), &utc())), (1, 0, 1), "{records:?}");
    }
    assert_eq!(sums(&of_text(pbs(&["03/01/2019 11:00:00;Q;301.s;queue=q"]), &zoneless)), (1, 0, 1));
    // With a size it is a job that left.
    let records = [
        "03/01/2019 11:00:00;Q;301.s;queue=q ctime=1551438000 Resource_List.ncpus=64",
        "03/01/2019 11:30:00;D;301.s;requestor=ann@h",
    ];
    let site = of_text(pbs(&records), &utc());
    let job = site.jobs().find(|job| job.kind == SiteJobFate::Withdrawn).expect("left");
    assert_eq!((sums(&site), job.submit, job.end), ((2, 0, 0), 1_551_438_000, Some(1_551_439_800)));
}

#[test]
fn a_deletion_alone_asks_for_the_record_of_its_submission() {
    let site = of_text(pbs(&["03/01/2019 11:30:00;D;301.s;requestor=ann@h"]), &utc());
    assert_eq!((site.len(), rule(&site, "no-times").0), (1, 1));
    assert!(warns_of(&site, "no record here says when they were queued"), "{:?}", site.manifest.warnings);
}

#[test]
fn the_time_of_a_first_record_is_that_of_the_submission() {
    // A record of the start without times of its own but the start; the wait is half an hour.
    let records = [
        "03/01/2019 11:00:00;Q;301.s;queue=q",
        "03/01/2019 11:30:00;S;301.s;user=ann queue=q start=1551439800 exec_host=n2/0*4 Resource_List.ncpus=4",
    ];
    let site = of_text(pbs(&records), &utc());
    let job = site.jobs().find(|job| job.id == Some(301)).expect("runs");
    assert_eq!((job.submit, job.start, job.kind), (1_551_438_000, Some(1_551_439_800), SiteJobFate::Running));
}

#[test]
fn a_cancelled_job_of_sacct_without_a_size_is_no_bad_row() {
    let head = "JobIDRaw|Submit|Start|End|State|NCPUS\n1|1700000000|1700000010|1700000100|COMPLETED|4\n";
    // Cancelled before its start, as new and old versions of Slurm write it.
    for row in ["2|1700000000|Unknown|1700000050|CANCELLED by 7|0", "2|1700000000|1700000050|1700000050|CANCELLED|0"] {
        let site = of_text(format!("{head}{row}\n"), &utc());
        assert_eq!(sums(&site), (1, 0, 1), "{row}");
        assert!(warns_of(&site, "ReqCPUS"), "{:?}", site.manifest.warnings);
    }
    // A job that ran had a size, which is lost.
    let site = of_text(format!("{head}2|1700000000|1700000010|1700000100|COMPLETED|\n"), &utc());
    assert_eq!(sums(&site), (1, 1, 0));
    let error = error_of(
        head.replace("COMPLETED|4", "CANCELLED|0").replace("1700000010|1700000100", "Unknown|1700000100"),
        &utc(),
    );
    assert!(error.contains("ask for AllocCPUS"), "{error}");
}
