//! A dump with everything that goes wrong in dumps, row by row.

use crate::common::{of_text, rule};
use drystone_site::{ImportOptions, Site, SiteJobFate};
use std::collections::BTreeSet;

/// Berlin's clocks go back on 29 October 2017 at 01:00 UTC.
const TORTURE: &str = "\
JobID|JobIDRaw|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|State|Timelimit|ReqCPUS|AllocCPUS|ReqMem|NodeList|JobName
100|100|ada|batch|2017-10-29T02:10:00|2017-10-29T02:10:00|2017-10-29T02:50:00|2017-10-29T02:20:00|1800|COMPLETED|01:00:00|1|1|4Gn|n1|over the hour
101|101|ada|batch|2017-10-29T02:40:00|2017-10-29T02:40:00|2017-10-29T02:45:00|2017-10-29T02:50:00|300|COMPLETED|01:00:00|1|1|4Gn|n1|a|b||c
102|102|ada|batch|2017-10-29T12:00:00|2017-10-29T12:00:00|2017-10-29T12:00:00|2017-10-29T12:30:00|1800|NODE_FAIL|02:00:00|2|2|4Gn|n2|requeued
102|102|ada|batch|2017-10-29T12:30:00|2017-10-29T12:30:00|2017-10-29T12:30:00|2017-10-29T13:00:00|1800|COMPLETED|02:00:00|2|2|4Gn|n2|requeued
103_[0-3,5,7-9%2]|103|ada|batch|2017-10-29T14:00:00|2017-10-29T14:00:00|Unknown|Unknown|0|PENDING|02:00:00|1|0|4Gn|None assigned|waiting
104_[0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000FF]|104|ada|batch|2017-10-29T14:00:00|2017-10-29T14:00:00|Unknown|2017-10-29T15:00:00|0|CANCELLED by 0|02:00:00|1|0|4Gn|None assigned|a mask of 64 bytes
105_[1-2000,...]|105|ada|batch|2017-10-29T14:00:00|2017-10-29T14:00:00|Unknown|2017-10-29T15:00:00|0|CANCELLED by 17|02:00:00|1|0|4Gn|None assigned|a list that is cut
106|106|ada|batch|2017-10-29T14:00:00|2017-10-29T14:00:00|2017-10-29T14:00:01|2017-10-29T14:00:01|0|COMPLETED|Partition_Limit|4|4|2147487744Mn|n1|a flag in the memory
107|107|ada|batch|2017-10-29T14:00:00|2017-10-29T14:00:00|2017-10-29T14:00:01|2017-10-29T15:00:01|3600|TIMEOUT|UNLIMITED|4|4|4294967295Mn|n1|memory of 32 bits
108|108|gr\u{fc}n|batch|2017-10-29T14:00:00|2017-10-29T14:00:00|2017-10-29T15:00:00|2017-10-29T14:59:59|3599|COMPLETED|02:00:00|4|4|4Gn|n1|ends before its start
109|109|eve|batch|2017-10-29T14:00:00|2017-10-29T13:00:00|2017-10-29T15:00:00|2017-10-29T16:00:00|3600|COMPLETED|02:00:00|4|4|4Gn|n1|eligible first
110.batch|110.batch|||2017-10-29T14:00:00|2017-10-29T14:00:00|2017-10-29T15:00:00|2017-10-29T16:00:00|3600|COMPLETED||4|4|4Gn|n1|batch
111|111|eve|batch|2017-10-29T14:00:00|Unknown|2017-10-29T15:00:00|2017-10-29T16:00:00|3600|COMPLETED|1-00:00:00|4|4|?|n1|
111|111|eve|batch|2017-10-29T14:00:00|Unknown|2017-10-29T15:00:00|2017-10-29T16:00:00|3600|COMPLETED|1-00:00:00|4|4|?|n1|
112+0|112|eve|batch|2017-10-29T17:00:00|2017-10-29T17:00:00|2017-10-29T17:00:00|2017-10-29T18:00:00|3600|COMPLETED|02:00:00|3|3|4Gn|n1|leader
112+1|113|eve|batch|2017-10-29T17:00:00|2017-10-29T17:00:00|2017-10-29T17:00:00|2017-10-29T18:00:00|3600|COMPLETED|02:00:00|2|2|4Gn|n2|second
100|100|zoe|batch|2017-11-29T02:10:00|2017-11-29T02:10:00|2017-11-29T02:50:00|2017-11-29T03:20:00|1800|COMPLETED|01:00:00|1|1|4Gn|n1|a number that comes again
JobID|JobIDRaw|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|State|Timelimit|ReqCPUS|AllocCPUS|ReqMem|NodeList|JobName
";

/// The dump, with a name of which the last letter is cut in half.
fn torture() -> Vec<u8> {
    let mut bytes = TORTURE.as_bytes().to_vec();
    bytes.extend(b"114|114|b\xc3|batch|2017-10-29T19:00:00|2017-10-29T19:00:00|2017-10-29T19:00:00|2017-10-29T20:00:00|3600|COMPLETED|02:00:00|1|1|4Gn|n1|Gr\xc3\n");
    bytes
}

fn site() -> Site {
    of_text(torture(), &ImportOptions { time_zone: Some("Europe/Berlin".to_string()), ..ImportOptions::default() })
}

fn all<'a>(site: &'a Site, display: &str) -> Vec<drystone_site::SiteJob<'a>> {
    site.jobs().filter(|job| job.display_name() == display).collect()
}

#[test]
fn the_hour_that_comes_twice() {
    let site = site();
    // It ran half an hour: from 00:50 UTC to 01:20 UTC, though its end reads as before its start.
    let over = &all(&site, "100")[0];
    assert_eq!((over.start, over.end), (Some(1_509_238_200), Some(1_509_240_000)));
    // The next number was submitted later, so in the second of both hours, or at the same hour:
    // never before.
    let next = &all(&site, "101")[0];
    assert!(next.submit >= over.submit);
    assert!(rule(&site, "twice").0 >= 1);
}

#[test]
fn delimiters_in_names_and_bytes_that_are_no_text() {
    let site = site();
    assert_eq!(rule(&site, "joined").0, 1);
    assert_eq!((all(&site, "101").len(), all(&site, "114").len()), (1, 1));
    assert!(all(&site, "114")[0].user.starts_with('b'));
}

#[test]
fn a_job_requeued_in_the_same_second_has_two_attempts() {
    let site = site();
    let attempts: Vec<(u16, Option<i64>, Option<i64>)> =
        all(&site, "102").iter().map(|job| (job.attempt, job.start, job.end)).collect();
    let noon = 1_509_274_800;
    assert_eq!(attempts, [(1, Some(noon), Some(noon + 1_800)), (2, Some(noon + 1_800), Some(noon + 3_600))]);
    assert_eq!(rule(&site, "requeue"), (0, 1));
    // A month later the number is another job's.
    assert_eq!((all(&site, "100").len(), rule(&site, "reused-id").1), (2, 1));
}

#[test]
fn rows_that_are_many_jobs() {
    let site = site();
    let tasks = |of: u64| -> BTreeSet<u32> {
        site.jobs().filter(|job| job.of == Some(of)).filter_map(|job| job.task).collect()
    };
    assert_eq!(tasks(103), BTreeSet::from([0, 1, 2, 3, 5, 7, 8, 9]));
    assert_eq!(tasks(104), (0..8).collect());
    // What the list held is there; what was cut off is counted as unknown.
    assert_eq!((tasks(105).len(), rule(&site, "array-cut").0), (2_000, 1));
    assert_eq!(rule(&site, "array").0, 3);
    let root: BTreeSet<String> =
        site.jobs().filter(|job| job.of == Some(104)).map(|job| job.canceller.to_string()).collect();
    assert_eq!(root, BTreeSet::from(["0".to_string()]));
}

#[test]
fn sizes_limits_and_times_that_cannot_be() {
    let site = site();
    // 2^31 + 4096: the flag `for each processor` in 32 bits, on 4 processors of 4 GB.
    assert_eq!(all(&site, "106")[0].memory_kb, Some(4 * 4_096 * 1_024));
    assert_eq!(rule(&site, "memory-flag").0, 1);
    let full = all(&site, "107")[0].memory_kb;
    assert!(full.is_none_or(|kb| kb == u64::MAX || kb < 1 << 42), "{full:?}");
    assert_eq!((rule(&site, "limit-partition").1, rule(&site, "limit-unlimited").1), (1, 1));
    assert!(all(&site, "107")[0].limit > 3_600, "no limit is filled from a run time");
    assert_eq!((all(&site, "108").len(), rule(&site, "time-order").0), (0, 1));
    assert_eq!(rule(&site, "submit-late").1, 1);
    assert_eq!(all(&site, "109")[0].submit, all(&site, "109")[0].eligible.expect("eligible"));
}

#[test]
fn steps_without_jobs_duplicates_components_and_headers() {
    let site = site();
    assert_eq!((all(&site, "110").len(), rule(&site, "only-steps").0), (0, 1));
    assert_eq!((all(&site, "111").len(), rule(&site, "dup").0), (1, 1));
    let parts = site.jobs().filter(|job| job.of == Some(112) || job.id == Some(112)).collect::<Vec<_>>();
    assert_eq!((parts.len(), parts[0].cpus, rule(&site, "het").1), (1, Some(5), 1));
    assert_eq!(rule(&site, "header").0, 1);
    // Nothing is lost: every row became jobs, or a rule says why not.
    let rows = site.manifest.rows;
    assert_eq!(rows, 17, "rows but steps and headers");
    let kinds = |kind: SiteJobFate| site.jobs().filter(|job| job.kind == kind).count();
    assert_eq!((kinds(SiteJobFate::Waiting), kinds(SiteJobFate::Withdrawn)), (8, 2_008));
}
