//! Requirements on every importer: arrays, steps, carriers, zones.

use crate::common::{Folder, facts, imported, of_text, rule, shared, try_import, utc, xdmod};
use crate::generated::{self, Style, expected, sizeless};
use drystone_site::{ImportOptions, Site};
use jiff::tz::TimeZone;
use std::collections::BTreeSet;

#[test]
fn brackets_of_arrays_are_sets_of_tasks() {
    let Some(dump) = shared("sacct/xdmod-job-arrays.log") else { return };
    let text = std::fs::read_to_string(dump).expect("text");
    let expected: [&[u32]; 6] =
        [&[100], &[1, 2, 3], &[1, 5], &[9, 10, 11, 20], &[91, 100, 101, 102], &[9, 10, 11, 13, 16, 17, 18, 19, 20]];
    let tasks = |site: &Site| -> BTreeSet<u32> { site.jobs().filter_map(|job| job.task).collect() };
    for (line, tasks_of_line) in text.lines().zip(expected) {
        let site = of_text(line.to_string() + "\n", &xdmod());
        assert_eq!(tasks(&site), tasks_of_line.iter().copied().collect(), "{line}");
        assert!(site.jobs().all(|job| job.of == Some(4_103_947)));
    }
    // All six rows are of one array: a task is one job, however often it is reported.
    let joint_site = of_text(text, &xdmod());
    let union: BTreeSet<u32> = expected.concat().into_iter().collect();
    assert_eq!((tasks(&joint_site), joint_site.len()), (union.clone(), union.len()));
}

#[test]
fn suspension_steps_and_arrays_of_a_real_slurm() {
    let Some(dump) = shared("slurm-22.05/sacct_ALL.txt") else { return };
    let site = imported(&[dump], &utc());
    assert_eq!((site.manifest.rows, site.len(), rule(&site, "step").0), (5, 5, 5));
    let first = site.jobs().find(|job| job.id == Some(1)).expect("job 1");
    // It ran two of the four seconds that it held its processors.
    assert_eq!((first.run, first.suspended, first.occupied_seconds()), (Some(4), Some(2), Some(4)));
    assert_eq!(rule(&site, "suspended"), (0, 1));
    let array: BTreeSet<(Option<u64>, Option<u32>, Option<u64>)> =
        site.jobs().filter(|job| job.task.is_some()).map(|job| (job.of, job.task, job.id)).collect();
    assert!(array.contains(&(Some(2), Some(3), Some(2))), "the last task has the array's number: {array:?}");
    // The other dump of the same jobs has no steps.
    let Some(same) = shared("slurm-22.05/sacct_parsable2.txt") else { return };
    // Nor has it partitions.
    let placeless_facts = |site: &Site| {
        facts(site).into_iter().map(|f| (f.0, f.1, f.2, f.3, f.4, f.5, f.6, f.7, f.8, f.10)).collect::<Vec<_>>()
    };
    assert_eq!(placeless_facts(&imported(&[same], &utc())), placeless_facts(&site));
}

#[test]
fn every_carrier_tells_the_same() {
    for seed in 0..6 {
        let jobs = generated::jobs(seed, 400, 1_700_000_000);
        let style = Style::utc();
        let reference = of_text(style.text(&jobs), &utc());
        assert_eq!(sizeless(facts(&reference)), expected(&jobs), "seed {seed}");
        let same = |name: &str, site: &Site| {
            let (reference_facts, site_facts) = (facts(&reference), facts(site));
            let unlike = reference_facts.iter().zip(&site_facts).find(|(a, b)| a != b);
            assert_eq!(unlike, None, "{name}, seed {seed}");
            assert_eq!(reference_facts.len(), site_facts.len(), "{name}, seed {seed}");
            assert_eq!(units(&reference), units(site), "{name}, seed {seed}");
        };
        same("-p", &of_text(Style { trailing: true, ..style.clone() }.text(&jobs), &utc()));
        same("shuffled", &of_text(style.clone().shuffled(seed).text(&jobs), &utc()));
        same("steps", &of_text(Style { steps: true, ..style.clone() }.text(&jobs), &utc()));
        same("tabs", &of_text(Style { delimiter: "\t", ..style.clone() }.text(&jobs), &utc()));
        same("two characters", &of_text(Style { delimiter: "@@", ..style.clone() }.text(&jobs), &utc()));
        same("epochs", &of_text(Style { epochs: true, ..style.clone() }.text(&jobs), &ImportOptions::default()));
        same("old JSON", &of_text(generated::json(&jobs, true), &ImportOptions::default()));
        same("new JSON", &of_text(generated::json(&jobs, false), &ImportOptions::default()));
        // Two months that overlap, the first of them as it was when half of the jobs were there.
        let folder = Folder::new();
        let first = folder.write("first.psv", style.text(&jobs[..250]));
        let second = folder.write("second.psv", style.text(&jobs[150..]));
        let joint_site = imported(&[first, second], &utc());
        same("overlapping", &joint_site);
        // Rows in any order.
        let mut reverse_jobs = jobs.clone();
        reverse_jobs.reverse();
        same("reversed", &of_text(style.text(&reverse_jobs), &utc()));
    }
}

fn units(site: &Site) -> Vec<(String, u32)> {
    site.manifest.pools.iter().map(|pool| (pool.name.clone(), pool.units)).collect()
}

#[test]
fn records_of_completion_and_of_pbs_tell_the_same_of_what_they_hold() {
    for seed in 10..14 {
        let mut jobs = generated::jobs(seed, 300, 1_600_000_000);
        jobs.retain(|job| job.task.is_none());
        let finishers: Vec<generated::Made> = jobs.iter().filter(|job| job.end.is_some()).cloned().collect();
        // No record of completion says how long a job ran within its length.
        let whole = |jobs: &[generated::Made]| {
            let jobs: Vec<generated::Made> =
                jobs.iter().map(|job| generated::Made { suspended: 0, ..job.clone() }).collect();
            expected(&jobs)
        };
        let site = of_text(generated::jobcomp(&jobs), &utc());
        assert_eq!(sizeless(facts(&site)), whole(&finishers), "seed {seed}");
        let site = of_text(generated::pbs(&jobs), &ImportOptions::default());
        assert_eq!(sizeless(facts(&site)), whole(&jobs), "seed {seed}");
    }
}

#[test]
fn arrays_of_pbs_are_tasks() {
    let jobs = generated::jobs(3, 200, 1_600_000_000);
    let arrays: Vec<generated::Made> =
        jobs.into_iter().filter(|job| job.task.is_some()).map(|job| generated::Made { suspended: 0, ..job }).collect();
    assert!(arrays.len() > 20);
    let site = of_text(generated::pbs(&arrays), &ImportOptions::default());
    assert_eq!(sizeless(facts(&site)), expected(&arrays));
}

/// Zones with summer time on both halves of the earth, a shift of half an hour, and one that gave
/// it up.
const ZONES: [&str; 6] =
    ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "America/Sao_Paulo", "UTC"];

#[test]
fn local_times_come_back_whatever_the_zone() {
    for (name, seed) in ZONES.iter().zip(20..) {
        let zone = TimeZone::get(name).expect("a zone");
        // Weeks around the end of summer time in the north, and its begin in the south.
        for begin in [1_508_300_000, 1_553_500_000] {
            let jobs = generated::jobs(seed, 1_200, begin);
            let style = Style { zone: zone.clone(), ..Style::utc() };
            let options = ImportOptions { time_zone: Some((*name).to_string()), ..ImportOptions::default() };
            let site = of_text(style.text(&jobs), &options);
            let (site_facts, expected_facts) = (sizeless(facts(&site)), expected(&jobs));
            assert_eq!(site_facts.len(), expected_facts.len());
            let wrong = expected_facts.iter().filter(|job| !site_facts.contains(job)).count() as u64;
            let (ambiguous, _) = rule(&site, "twice");
            assert!(wrong <= ambiguous, "{name}: {wrong} jobs are wrong, {ambiguous} rows were counted as ambiguous");
            if *name == "UTC" {
                assert_eq!((wrong, ambiguous), (0, 0));
            }
        }
    }
}

#[test]
fn the_hour_that_comes_twice_is_settled_by_run_times_and_numbers() {
    // Berlin, 29 October 2017: at 01:00 UTC clocks go from 3 back to 2.
    let end = 1_509_238_800;
    let zone = TimeZone::get("Europe/Berlin").expect("a zone");
    let mut jobs = Vec::new();
    for (id, minute) in (1..).zip(-90..90_i64) {
        let submit = end + minute * 60;
        jobs.push(generated::Made::ran(id, submit, submit + 10, submit + 10 + 1_800, 1));
    }
    let style = Style { zone, ..Style::utc() };
    let options = ImportOptions { time_zone: Some("Europe/Berlin".to_string()), ..ImportOptions::default() };
    let site = of_text(style.text(&jobs), &options);
    assert!(rule(&site, "twice").0 > 100);
    // Numbers grow with submissions, and a start without its end within half an hour is in the
    // other hour.
    assert_eq!(sizeless(facts(&site)), expected(&jobs));
}

const SUSPENDED: &str = "JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|Suspended|TimelimitRaw|State|AllocCPUS|NNodes\n\
    1|b|p|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T11:10:00|3000|00:20:00|60|COMPLETED|4|1\n\
    2|b|p|2026-03-02T10:01:00|2026-03-02T10:01:00|2026-03-02T11:10:00|2026-03-02T11:20:00|600|00:00:00|10|COMPLETED|4|1\n";

/// A machine of four processors: the second job starts when the first has ended, after 69 minutes.
#[test]
fn a_suspended_job_holds_its_processors_in_simulations() {
    let column = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        [&fields[..8], &fields[9..]].concat().join("|") + "\n"
    };
    let without: String = SUSPENDED.lines().map(column).collect();
    for text in [SUSPENDED.to_string(), without] {
        let site = of_text(text, &utc());
        let spans = site.jobs().map(|job| (job.run, job.limit)).collect::<Vec<_>>();
        assert_eq!(spans, [(Some(4_200), 3_600 + 1_200), (Some(600), 600)]);
        assert_eq!(rule(&site, "suspended"), (0, 1));
        assert_eq!(rule(&site, "over"), (0, 0));
    }
    // An hour is a change of the clocks, no suspension.
    let clocks = SUSPENDED.replace("|00:20:00|", "||").replace("|3000|", "|600|");
    assert_eq!(of_text(clocks, &utc()).jobs().map(|job| job.run).collect::<Vec<_>>(), [Some(600), Some(600)]);
}

/// Local times of a zone that goes back from 4 to 3 on 2025-10-26: a job that runs on settles its
/// neighbours.
#[test]
fn settled_rows_settle_jobs_of_the_hour_that_comes_twice() {
    let text = "JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|NNodes\n\
        1912|u|p|2025-10-26T03:37:32|2025-10-26T03:37:32|2025-10-26T03:37:32|2025-10-26T05:14:54|9442|600|COMPLETED|1|1\n\
        1913|u|p|2025-10-26T03:11:30|2025-10-26T03:11:30|2025-10-26T03:11:30|2025-10-27T18:42:27|142257|6000|COMPLETED|1|1\n\
        1914|u|p|2025-10-26T03:46:26|2025-10-26T03:46:26|2025-10-26T03:46:26|2025-10-26T04:22:12|2146|600|COMPLETED|1|1\n\
        1915|u|p|2025-10-26T04:43:53|2025-10-26T04:43:53|2025-10-26T04:43:53|2025-10-26T04:53:53|600|600|COMPLETED|1|1\n";
    let options = ImportOptions { time_zone: Some("Europe/Helsinki".to_string()), ..ImportOptions::default() };
    let site = of_text(text, &options);
    assert_eq!(site.jobs().map(|job| job.wait()).collect::<Vec<_>>(), [Some(0); 4]);
    // 03:37:32 in summer is 00:37:32 in UTC, 03:11:30 in winter 01:11:30.
    let submits: Vec<i64> = site.jobs().map(|job| job.submit - 1_761_436_800).collect();
    assert_eq!(submits, [2_252, 4_290, 6_386, 9_833]);
}

#[test]
fn memory_counts_by_what_was_given_where_nothing_says_what_was_asked_for() {
    let of = |header: &str, row: &str| {
        let text = format!(
            "JobID|User|Partition|Submit|Start|End|State|ReqMem|{header}\n\
            1|u|p|2026-03-02T10:00:00|2026-03-02T10:00:00|2026-03-02T10:10:00|COMPLETED|{row}\n"
        );
        of_text(text, &utc()).jobs().next().expect("a job").memory_kb
    };
    let memory = Some(2 * 48_000 * 1_024);
    assert_eq!(of("AllocCPUS|NNodes", "48000Mn|4|2"), memory);
    assert_eq!(of("AllocCPUS|NNodes|ReqNodes", "48000Mn|4|2|2"), memory);
    assert_eq!(of("AllocCPUS|NNodes", "24000Mc|4|2"), memory);
    assert_eq!(of("NCPUS|NNodes|ReqCPUS", "24000Mc|8|2|4"), memory);
}

/// A version of Slurm says one node, another none, of a job that left the queue.
#[test]
fn what_never_ran_is_one_job_whatever_it_is_said_to_have_held() {
    let header = "JobID|User|Partition|Submit|Eligible|Start|End|ElapsedRaw|State|ReqCPUS|AllocCPUS|NNodes|NodeList";
    let row = "7|u|p|2026-03-02T10:00:00|2026-03-02T10:00:00|None|2026-03-02T11:00:00|0|CANCELLED by 3|4|0";
    let site = of_text(format!("{header}\n{row}|1|None assigned\n{row}|0|\n"), &utc());
    assert_eq!((site.len(), rule(&site, "same-id"), rule(&site, "dup").0), (1, (0, 0), 1));
}

const PBS: &str = "user=u group=g project=_pbs_project_default jobname=j queue=work ctime=1770000020 qtime=1770000020 \
    etime=1770000020 Resource_List.ncpus=8 Resource_List.walltime=01:00:00";

fn pbs(records: &[&str]) -> String {
    records.iter().map(|record| record.replace("$P", PBS) + "\n").collect()
}

/// PBS and Grid Engine keep the time of submission of a job that is run again.
#[test]
fn a_job_that_was_sent_back_waits_again_from_then_on() {
    let text = pbs(&[
        "02/02/2026 02:40:20;Q;5.srv;$P",
        "02/02/2026 02:40:30;S;5.srv;$P start=1770000030 exec_host=b/0*8",
        "02/02/2026 03:38:50;R;5.srv;$P start=1770000030 exec_host=b/0*8 end=1770003530 Exit_status=-11",
        "02/02/2026 04:37:20;E;5.srv;$P start=1770003540 exec_host=b/0*8 end=1770007040 Exit_status=0",
    ]);
    let site = of_text(text, &utc());
    assert_eq!(site.jobs().map(|job| job.wait()).collect::<Vec<_>>(), [Some(10), Some(10)]);
    assert!(site.jobs().all(|job| job.account.is_empty()), "the default project is no account");
}

#[test]
fn tasks_of_pbs_that_wait_have_no_records_of_their_own() {
    let task = "02/02/2026 02:41:00;S;4[1].srv;$P start=1770000060 exec_host=b/0*8";
    let queue_line = "02/02/2026 02:40:20;Q;4[].srv;$P array_indices=1-5:2";
    let of = |records: &[&str]| {
        let site = of_text(pbs(records), &utc());
        let mut jobs: Vec<String> = facts(&site).into_iter().map(|job| format!("{} {}", job.0, job.10)).collect();
        jobs.sort();
        jobs
    };
    assert_eq!(of(&[queue_line, task]), ["4_1 running", "4_3 waiting", "4_5 waiting"]);
    let end_line = "02/02/2026 02:50:00;E;4[].srv;$P Exit_status=0";
    assert_eq!(of(&[queue_line, task, end_line]), ["4_1 running"]);
    let delete_line = "02/02/2026 02:50:00;D;4[].srv;requestor=u@h";
    assert_eq!(of(&[queue_line, task, delete_line]), ["4_1 running", "4_3 withdrawn", "4_5 withdrawn"]);
}

#[test]
fn numbers_of_pbs_may_come_again() {
    let of = |records: &[&str]| {
        let site = of_text(pbs(records), &utc());
        let mut jobs: Vec<(String, i64)> = facts(&site).into_iter().map(|job| (job.10.to_string(), job.1)).collect();
        jobs.sort();
        jobs
    };
    let again = PBS.replace("1770000020", "1770009020");
    let rows = of(&[
        "02/02/2026 02:40:20;Q;1.s;$P",
        "02/02/2026 02:45:00;D;1.s;requestor=u@h",
        &format!("02/02/2026 05:10:20;Q;1.s;{again}"),
        &format!("02/02/2026 05:20:00;E;1.s;{again} start=1770009030 exec_host=b/0*8 end=1770009600 Exit_status=0"),
    ]);
    assert_eq!(rows, [("ran".to_string(), 1_770_009_020), ("withdrawn".to_string(), 1_770_000_020)]);
}

#[test]
fn a_record_of_pbs_that_ends_before_its_exit_status_is_cut() {
    let text = pbs(&["02/02/2026 02:50:00;E;5.b;$P start=1770000030 exec_host=c/0*8 end=1770000600 Exit_status=0"]);
    let cut = text.clone() + "02/02/2026 03:00:00;E;6.b;user=u ctime=1770000020 start=1770000030 exec_host=c/0*1";
    let folder = Folder::new();
    let file = folder.write("20260201", &cut);
    let Err(error) = try_import(&[file], &utc()) else { panic!("a cut file is taken") };
    let error = error.to_string();
    assert!(error.contains("the file ends in the middle of a record"), "{error}");
    // A whole record without its line end is one.
    assert_eq!(of_text(text.trim_end(), &utc()).len(), 1);
}

#[test]
fn a_reservation_of_pbs_is_that_of_its_jobs_and_a_standing_one_comes_again() {
    let job =
        "02/02/2026 03:40:20;E;1.srv;$P resvID=S20.srv start=1770000100 exec_host=c/0*8 end=1770003600 Exit_status=0";
    let second_job = job.replace("1.srv", "2.srv").replace("resvID=S20.srv ", "").replace("exec_host=c", "exec_host=d");
    let again =
        second_job.replace("2.srv", "3.srv").replace("start=17700", "start=17701").replace("end=17700", "end=17701");
    let begins = |local: &str, start: i64| {
        format!("{local};B;S20.srv;owner=r@h start={start} end={} nodes=(c:ncpus=8) count=3", start + 3_600)
    };
    let records = [
        begins("02/02/2026 02:40:30", 1_770_000_030),
        job.to_string(),
        second_job,
        begins("02/03/2026 02:40:30", 1_770_086_430),
        again.replace("02/02/2026 03:40:20", "02/03/2026 07:27:00"),
    ];
    let site = of_text(pbs(&records.iter().map(String::as_str).collect::<Vec<_>>()), &utc());
    // Once for each occurrence, and not once more for the job within.
    let losses: Vec<(i64, u32)> = site.losses.iter().map(|loss| (loss.begin, loss.units)).collect();
    assert_eq!(losses, [(1_770_000_030, 8), (1_770_086_430, 8)]);
}

#[test]
fn records_of_lsf_may_begin_with_another_event() {
    let text = "\"EVENT_ADRSV_FINISH\" \"10.1\" 1770001010 \"adv\" 1\n";
    let Some(sample) = shared("pbs-lsf-sge/xdmod-lsf.log") else { return };
    let whole = std::fs::read_to_string(sample).expect("a sample");
    assert_eq!(of_text(text.to_string() + &whole, &utc()).len(), of_text(whole, &utc()).len());
}
