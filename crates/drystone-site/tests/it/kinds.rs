//! Kinds of input that were once misread: columns that hold their own delimiter, numbers as data
//! frames write them, rows that look alike and are not, records that were never closed.

use crate::common::{Folder, error_of, imported, of_text, rule, try_import, utc};
use drystone_site::{ImportOptions, JobMarks, Site, SiteJobFate};

/// Processors, run time and nodes of every job.
fn sizes(site: &Site) -> Vec<(u32, u32, String)> {
    let one =
        |job: drystone_site::SiteJob<'_>| (job.cpus.unwrap_or(0), job.run.unwrap_or(0), job.node_list.to_string());
    site.jobs().map(one).collect()
}

#[test]
fn without_submissions_starts_stand_for_them_and_nothing_is_said_of_waits() {
    let text = "JobID|User|Partition|AllocCPUS|Elapsed|State|Start|End\n\
                7|ada|p|8|00:30:00|COMPLETED|2025-02-01T08:00:00|2025-02-01T08:30:00\n\
                7.batch|||8|00:30:00|COMPLETED|2025-02-01T08:00:00|2025-02-01T08:30:00\n\
                8|bob|p|2|01:00:00|FAILED|2025-02-01T08:10:00|2025-02-01T09:10:00\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "no-submit")), (2, (0, 2)));
    assert!(site.jobs().all(|job| job.marks.has_mark(JobMarks::NO_SUBMIT) && job.wait().is_none()));
    assert!(!site.manifest.waits_known());
    let has_warning =
        site.manifest.warnings.iter().any(|w| w.contains("submission is unknown") && w.contains("Submit"));
    assert!(has_warning, "{:?}", site.manifest.warnings);
    // One row of many: the others have their waits.
    let text = "JobID|Submit|Start|End|AllocCPUS|State\n1|1700000000|1700000100|1700000200|1|COMPLETED\n\
                2||1700000100|1700000200|1|COMPLETED\n";
    let site = of_text(text, &utc());
    let waits: Vec<Option<i64>> = site.jobs().map(|job| job.wait()).collect();
    assert_eq!((waits, rule(&site, "no-submit")), (vec![Some(100), None], (0, 1)));
    // Eligibility is as good: the wait counts from it anyway.
    let text = "JobID|Eligible|Start|End|AllocCPUS|State\n1|1700000000|1700000100|1700000200|1|COMPLETED\n";
    let site = of_text(text, &utc());
    assert_eq!(
        (site.job_at(0).wait(), rule(&site, "submit-eligible").1, site.manifest.waits_known()),
        (Some(100), 1, true)
    );
    // Nothing at all is a bad row.
    let text = "JobID|Submit|Start|End|AllocCPUS|State\n1||Unknown||1|CANCELLED\n2|1700000000|1700000001|1700000002|1|COMPLETED\n";
    assert_eq!(rule(&of_text(text, &utc()), "no-times").0, 1);
}

#[test]
fn delimiters_within_a_column_do_not_shift_the_others() {
    let header = "JobIDRaw|User|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|Reservation|Constraints|NNodes|ReqCPUS|AllocCPUS|ReqTRES|NodeList";
    let row = |id: u32, features: &str, nodes: &str| {
        format!("{id}|ada|1700000000|1700000010|1700000110|100|60|COMPLETED||{features}|2|6|8|cpu=6,mem=4G|{nodes}\n")
    };
    let mut text = format!("{header}\n");
    let features = ["", "gold", "gold|silver", "[red|blue]", "(a|b)&c", "x|y|z"];
    for (features, id) in features.iter().zip(1..) {
        text.push_str(&row(id, features, "n[1-2]"));
    }
    // The list of nodes is empty: the row has one more column than the header, and the last is
    // empty.
    text.push_str(&row(9, "gold|silver", ""));
    let site = of_text(&text, &utc());
    let mut expected = vec![(8, 100, "n[1-2]".to_string()); 6];
    expected.push((8, 100, String::new()));
    assert_eq!(sizes(&site), expected);
    let texts: Vec<String> = site.jobs().map(|job| job.constraints.to_string()).collect();
    assert_eq!(texts[..6], features.map(String::from));
    assert_eq!((rule(&site, "realigned").0, rule(&site, "columns").0), (5, 0));
    assert!(site.nodes.iter().all(|node| !node.name.contains('=')));
    // A name last that may hold anything does not hide the shift.
    let text = "JobID|Constraints|Elapsed|Start|End|Submit|NCPUS|State|JobName\n\
                1||01:00:00|1700000001|1700003601|1700000000|4|COMPLETED|one\n\
                2|p|q|00:00:56|1700000001|1700000057|1700000000|4|COMPLETED|two\n\
                3||00:00:56|1700000001|1700000057|1700000000|4|COMPLETED|a|b|c\n";
    let site = of_text(text, &utc());
    let runs: Vec<Option<u32>> = site.jobs().map(|job| job.run).collect();
    assert_eq!(runs, [Some(3_600), Some(56), Some(56)]);
    assert_eq!((rule(&site, "realigned").0, rule(&site, "joined").0), (1, 1));
    // What fits nowhere is a bad row, named, and the others stand.
    let text = "JobID|Constraints|Elapsed|Start|End|Submit|NCPUS|State\n\
                1||01:00:00|1700000001|1700003601|1700000000|4|COMPLETED\n\
                2|p|q|soon|1700000001|1700000057|1700000000|4|COMPLETED\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "columns").0), (1, 1));
    // Lists of nodes and resources in a file of commas, not quoted.
    let text = "JobID,Submit,Start,End,State,AllocTRES,NodeList,NCPUS\n\
                1,1700000000,1700000001,1700000101,COMPLETED,cpu=4,node=2,n[1,3],4\n";
    let site = of_text(text, &utc());
    assert_eq!((site.job_at(0).cpus, site.job_at(0).node_list.to_string()), (Some(4), "n[1,3]".to_string()));
}

#[test]
fn one_row_never_ends_an_import_and_most_rows_do() {
    let good = "JobID|Submit|Start|End|NCPUS|State\n";
    let rows = |bad: &str, goods: u32| {
        let rows: String = (1..=goods).map(|n| format!("{n}|1700000000|1700000001|1700000101|1|COMPLETED\n")).collect();
        format!("{good}{rows}{bad}\n")
    };
    for bad in [
        "99|00:00:56|1700000001|1700000101|1|COMPLETED",
        "99|2024-01-01T00:00:00|1700000001|1700000101|1|COMPLETED",
        "99|31.12.2023 10:00|1700000001|1700000101|1|COMPLETED",
        "99+|1700000000|1700000001|1700000101|1|COMPLETED",
    ] {
        let site = of_text(rows(bad, 2), &ImportOptions::default());
        assert_eq!((site.len(), site.manifest.bad_rows), (2, 1), "{bad}");
    }
    let site = of_text(rows("99|1700000000|1700000001|1700000101|1|CANCELL+", 2), &ImportOptions::default());
    assert_eq!(site.len(), 3);
    for (bad, message) in [
        ("99|00:00:56|10:00:00|11:00:00|1|COMPLETED", "relative"),
        ("99|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:00|1|COMPLETED", "--timezone"),
        ("99|31.12.2023 10:00|31.12.2023 10:00|31.12.2023 11:00|1|COMPLETED", "--time-format '%d.%m.%Y %H:%M'"),
        ("99|12/31/2023 10:00:00|12/31/2023 10:00:00|12/31/2023 11:00:00|1|COMPLETED", "%m/%d/%Y"),
    ] {
        let error = error_of(rows(bad, 0), &ImportOptions::default());
        assert!(error.contains(message) && error.contains("jobs.psv:2"), "{error}");
    }
}

#[test]
fn numbers_may_be_written_as_fractions() {
    let text = "JobIDRaw|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|NNodes\n\
                11.0|1700000000.0|1700000001.0|1700003601.0|3600.0|90.0|COMPLETED|6.0|2.0\n\
                12.0|1700000000.0|1.700000001e9|1700003601.0|3600.0|2.5|COMPLETED|6|nan\n\
                13.0|1700000000.0|1700000001.0|1700003601.0|3600.0|NaN|COMPLETED|1.2e1|1\n";
    let site = of_text(text, &utc());
    let rows: Vec<_> = site.jobs().map(|job| (job.id, job.cpus, job.limit)).collect();
    assert_eq!(rows, [(Some(11), Some(6), 5_400), (Some(12), Some(6), 150), (Some(13), Some(12), 5_400)]);
    assert_eq!((site.manifest.bad_rows, rule(&site, "field").0), (0, 0));
    // A fraction of a processor is none: named with its column, and counted.
    let text = "JobIDRaw|Submit|Start|End|ElapsedRaw|TimelimitRaw|State|AllocCPUS|ReqCPUS\n\
                1|1700000000|1700000001|1700000101|100|soon|COMPLETED|4|4\n\
                2|1700000000|1700000001|1700000101|100|10|COMPLETED|4.5|3\n";
    let site = of_text(text, &utc());
    let field = site.manifest.rules.iter().find(|rule| rule.name == "field").expect("counted");
    assert_eq!((field.rows, field.core_seconds), (2, 4 * 100 + 3 * 100));
    assert!(field.examples[0].text.contains("TimelimitRaw=`soon`"), "{:?}", field.examples);
    assert!(field.examples[1].text.contains("AllocCPUS=`4.5`"), "{:?}", field.examples);
}

#[test]
fn only_equal_rows_are_the_same_job() {
    let header = "job_id,user,submit_time,start_time,end_time,state,ncpus,nodelist\n";
    let row = |end: u32, cpus: u32, node: &str| format!("5,ada,1700000000,1700000060,{end},COMPLETED,{cpus},{node}\n");
    let text = [
        header.to_string(),
        row(1_700_000_160, 1, "n1"),
        row(1_700_000_260, 1, "n1"),
        row(1_700_000_160, 2, "n1"),
        row(1_700_000_160, 1, "n2"),
        row(1_700_000_160, 1, "n1"),
    ]
    .concat();
    let site = of_text(&text, &utc());
    assert_eq!((site.len(), rule(&site, "dup").0, rule(&site, "same-id").1), (4, 1, 3));
    // A row that still ran, or was written otherwise, is the same job.
    let text = "JobID|Submit|Start|End|State|NCPUS|NodeList\n\
                5|1700000000|1700000060|Unknown|RUNNING|2|n[1-2]\n\
                5|1700000000|1700000060|1700000260|COMPLETED|2|n[1-2]\n\
                5|1700000000|1700000060|1700000260|COMPLETED|2|n1,n2\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "dup").0), (1, 2));
}

#[test]
fn accounts_and_groups_are_two_columns_of_a_site() {
    let text = "JobID|User|Account|Group|Submit|Start|End|NCPUS|State\n\
                1|ada|physics|users|1700000000|1700000001|1700000101|1|COMPLETED\n\
                2|bob|biology|users|1700000000|1700000001|1700000101|1|COMPLETED\n";
    let site = of_text(text, &utc());
    let names = drystone_site::Numbering::from_site(&site).name_lines(0);
    assert!(names.contains("account,1,physics\n") && names.contains("account,2,biology\n"), "{names}");
    assert!(!names.contains("users"), "{names}");
    // Without accounts the groups are what there is, under their own name.
    let site = of_text(text.replace("physics", "").replace("biology", ""), &utc());
    let names = drystone_site::Numbering::from_site(&site).name_lines(0);
    assert!(names.contains("group,1,users\n") && !names.contains("account,"), "{names}");
}

#[test]
fn grid_engine_machines_are_as_large_as_their_slots() {
    let line = |name: &str, id: u32, host: &str, pe: &str, slots: u32, end: u32, category: &str| {
        format!(
            "all.q:{host}:grp:ada:{name}:{id}:sge:0:1500000000:1500000010:{end}:0:0:{}:1.0:0.1:1.0:0:0:0:0:1:0:0:0.0:1:0:0:0:1:1:NONE:dept:{pe}:{slots}:0:1.0:0.0:0.0:{category}:0.0:NONE:0.0:0:0\n",
            end - 1_500_000_010
        )
    };
    let text = [
        line("one", 1, "h1", "NONE", 1, 1_500_000_110, "-l h_rt=600"),
        line("a:b:9:c", 2, "h2", "mpi", 32, 1_500_001_010, "-l h_rt=7200,gpu=4 -pe mpi 32"),
        line("x", 3, "h1", "smp", 8, 1_500_000_510, "NONE"),
    ]
    .concat();
    let site = of_text(&text, &ImportOptions::default());
    assert_eq!((site.len(), rule(&site, "wide").1, site.manifest.bad_rows), (3, 0, 0));
    let wide = site.jobs().find(|job| job.id == Some(2)).expect("read");
    assert_eq!((wide.cpus, wide.gpus, wide.limit, wide.run), (Some(32), Some(4), 7_200, Some(1_000)));
    assert!(site.manifest.pools.iter().map(|pool| pool.units).sum::<u32>() >= 41);
}

#[test]
fn a_run_limit_of_lsf_is_found_by_the_counts_before_it() {
    let record = |extensions: &str, hosts: &str| {
        format!(
            "\"JOB_FINISH\" \"10.1\" 1700003600 55 1000 33816602 4 1700000000 0 0 1700000100 \"ada\" \"long\" \"\" \"\" \"\" \"l1\" \"/w\" \"\" \"\" \"\" \"1700000000.55\" 0 1 \"4*h1\" 64 60.0 \"n\" \"./x\" {} \"\" \"proj\" 0 4 \"\" \"\" 0 1024 0 \"\" \"\" \"\" \"\" 0 \"\" 0 \"\" -1 \"\" \"\" \"\" \"\" -1 \"\" \"\" 2097168 \"\" 1700000100 \"\" \"\" {extensions} {hosts} 5400 0 4096 \"select[x]\" \"\" -1 \"\" -1 0 \"\" 0 0 \"\" 3500 \"/w\" 0 \"\"\n",
            "-1 ".repeat(19).trim_end()
        )
    };
    for (extensions, hosts) in [
        ("0", "0"),
        ("2 \"a\" \"b\" \"c\" \"d\"", "0"),
        ("0", "1 \"h1\" 100 200 30 4 0"),
        ("1 \"k\" \"v\"", "2 h1 1 2 3 4 0 h2 1 2 3 4 0"),
    ] {
        let site = of_text(record(extensions, hosts), &ImportOptions::default());
        assert_eq!((site.job_at(0).limit, site.job_at(0).cpus), (5_400, Some(4)), "{extensions} {hosts}");
    }
}

#[test]
fn a_walltime_of_pbs_may_have_days_and_one_that_is_none_is_counted() {
    let text = "11/14/2023 22:13:20;E;7.srv;user=ada queue=q ctime=1699996400 qtime=1699996400 etime=1699996400 start=1699996500 end=1700000000 Resource_List.ncpus=4 Resource_List.walltime=1:12:00:00 exec_host=n1/0*4 Exit_status=0\n\
                11/14/2023 22:13:20;E;8.srv;user=ada queue=q ctime=1699996400 qtime=1699996400 etime=1699996400 start=1699996500 end=1700000000 Resource_List.ncpus=4 Resource_List.walltime=forever exec_host=n1/4*4 Exit_status=0\n";
    let site = of_text(text, &utc());
    let limits: Vec<u32> = site.jobs().map(|job| job.limit).collect();
    assert_eq!((limits[0], rule(&site, "field").0), (129_600, 1));
}

#[test]
fn a_revoked_sibling_is_no_job_of_this_cluster() {
    let text = "JobID|Submit|Start|End|State|NCPUS|NodeList\n\
                1|1700000000|1700000050|1700000050|REVOKED|4|None assigned\n\
                2|1700000000|1700000050|1700000150|COMPLETED|4|n1\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "revoked").1), (1, 1));
}

#[test]
fn the_first_of_several_partitions_counts() {
    let text = "JobID|Partition|Submit|Start|End|State|ReqCPUS|NodeList\n\
                1|main|1700000000|1700000050|1700000150|COMPLETED|4|n1\n\
                2|gpu,main|1700000100|Unknown|Unknown|PENDING|2|None assigned\n\
                3|gpu|1700000000|1700000050|1700000150|COMPLETED|4|n2\n";
    let site = of_text(text, &utc());
    let waits = site.jobs().find(|job| job.kind == SiteJobFate::Waiting).expect("waits");
    assert_eq!(
        (waits.partition.as_ref(), rule(&site, "partition-list").0, site.manifest.partitions.len()),
        ("gpu", 1, 2)
    );
}

#[test]
fn a_record_that_was_never_closed_does_not_run_for_ever() {
    let mut text =
        "JobID|Submit|Start|End|State|NCPUS|TimelimitRaw|NodeList\n1|1700000000|1700000000|Unknown|RUNNING|64|60|n9\n"
            .to_string();
    for n in 2..30_u32 {
        let at = 1_700_000_000 + n * 86_400;
        text.push_str(&format!("{n}|{at}|{at}|{}|COMPLETED|4|120|n1\n", at + 3_600));
    }
    text.push_str("40|1702500000|1702505000|Unknown|RUNNING|8|60|n2\n");
    let site = of_text(&text, &utc());
    let old = site.jobs().find(|job| job.id == Some(1)).expect("kept");
    assert_eq!((old.kind, old.run, old.end), (SiteJobFate::Ran, Some(3_600), Some(1_700_003_600)));
    assert_eq!((rule(&site, "overdue").1, rule(&site, "over").1, site.manifest.window.running_at_end), (1, 1, 1));
    // Its node went to another since: nothing is known of it.
    let site = of_text(text.replace("|n1\n", "|n9\n"), &utc());
    assert_eq!((rule(&site, "runaway").0, rule(&site, "overdue").1), (1, 0));
}

#[test]
fn states_that_are_not_known_are_named() {
    let text = "JobID|Submit|Start|End|State|ReqCPUS\n1|1700000000|Unknown|Unknown|MYSTERY|4\n2|1700000000|Unknown|Unknown|MYSTERY|4\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "state").1, rule(&site, "wide").1), (2, 2, 0));
    assert!(site.manifest.warnings.iter().any(|w| w.contains("MYSTERY")), "{:?}", site.manifest.warnings);
}

#[test]
fn a_heterogeneous_job_has_the_nodes_of_all_its_components() {
    let text = "JobID|JobIDRaw|Partition|Submit|Start|End|State|NCPUS|NodeList\n\
                9+0|9|p|1700000000|1700000050|1700000150|COMPLETED|4|n1\n\
                9+1|10|p|1700000000|1700000050|1700000150|COMPLETED|8|n[2-3]\n\
                20|20|p|1700000000|1700000200|1700000250|COMPLETED|12|n[1-3]\n";
    let site = of_text(text, &utc());
    let whole = site.jobs().find(|job| job.of == Some(9)).expect("joined");
    assert_eq!((site.len(), whole.cpus, whole.node_list.as_ref()), (2, Some(12), "n1,n[2-3]"));
}

#[test]
fn flags_behind_a_state_of_json_say_that_it_was_requeued() {
    let job = |submit: u32, start: u32, end: u32, state: &str| {
        format!(
            "{{\"job_id\":7,\"user\":\"ada\",\"partition\":\"p\",\"nodes\":\"n1\",\"allocation_nodes\":1,\"state\":{{\"current\":{state}}},\
             \"time\":{{\"submission\":{submit},\"eligible\":{submit},\"start\":{start},\"end\":{end},\"elapsed\":{},\"limit\":60}},\
             \"tres\":{{\"allocated\":[{{\"type\":\"cpu\",\"count\":2}}],\"requested\":[{{\"type\":\"cpu\",\"count\":2}}]}}}}",
            end - start
        )
    };
    let text = format!(
        "{{\"jobs\":[{},{}]}}",
        job(1_700_000_000, 1_700_000_010, 1_700_000_110, "[\"CANCELLED\",\"REQUEUED\"]"),
        job(1_700_000_110, 1_700_000_300, 1_700_000_900, "[\"COMPLETED\"]")
    );
    let site = of_text(&text, &ImportOptions::default());
    assert_eq!((site.len(), rule(&site, "requeue").1, rule(&site, "reused-id").1), (2, 1, 0));
}

#[test]
fn a_machine_that_is_inferred_is_as_wide_as_its_widest_job() {
    let text = "JobID|Partition|Submit|Start|End|State|ReqCPUS\n\
                1|p|1700000000|1700000050|1700000150|COMPLETED|4\n\
                2|p|1700000000|Unknown|Unknown|PENDING|96\n";
    let site = of_text(text, &utc());
    assert_eq!((site.len(), rule(&site, "wide").1, site.manifest.pools[0].units), (2, 0, 96));
}

#[test]
fn the_small_cases_of_others_are_read_as_they_should_be() {
    let default = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let cases = std::env::var_os("DRYSTONE_SHARED").map_or_else(default, Into::into).join("cases/accounting");
    if !cases.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", cases.display());
        return;
    }
    let read = |name: &str| imported(&[cases.join(name)], &utc());
    assert_eq!(rule(&read("01/no-submit.psv"), "no-submit").1, 2);
    assert_eq!(sizes(&read("02/constraints.psv")).iter().map(|s| s.0).collect::<Vec<_>>(), [4; 5]);
    assert_eq!(sizes(&read("02/abort.psv"))[1].1, 56);
    assert_eq!(sizes(&read("02/shift.psv"))[2], (4, 56, String::new()));
    let limits: Vec<u32> = read("03/floats.psv").jobs().map(|job| job.limit).collect();
    assert_eq!(limits, [7_200, 7_200, 630]);
    assert_eq!(read("04/array.csv").len(), 3);
    let colon = read("07/colon");
    assert_eq!((colon.len() as u64 + rule(&colon, "no-times").0, rule(&colon, "wide").1), (5, 0));
    let mut slots: Vec<u32> = sizes(&read("07/parallel")).iter().map(|s| s.0).collect();
    slots.sort_unstable();
    assert_eq!(slots, [1, 1, 1, 8, 16, 16]);
    assert_eq!(read("08/lsb.acct").job_at(0).limit, 3_600);
    let folder = Folder::new();
    assert!(try_import(&[folder.path("none")], &utc()).is_err());
}

/// One row, compressed by the tools of these names.
const XZ: &[u8] = b"\
    \xfd\x37\x7a\x58\x5a\x00\x00\x04\xe6\xd6\xb4\x46\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\xe0\x00\x51\x00\
    \x3e\x5d\x00\x25\x1b\xc8\x44\x95\x9c\xc8\xd5\xdb\xc5\x5f\x07\xb9\x8b\x8a\xda\xbe\xa8\x85\x59\x25\xb1\xd5\xfe\xa5\
    \x49\xdf\xd0\xd7\xde\xe8\xcf\x02\x0b\x89\xc9\xba\x48\xaf\x74\xd5\xce\x2d\xb4\x7b\xcb\x44\x46\xdd\x76\x46\xa1\xe1\
    \x85\x98\x14\xae\x97\x72\x4e\xe8\x00\x00\x00\x00\x75\xdb\x23\x01\x59\x43\xbf\x11\x00\x01\x5a\x52\x2d\x30\xb7\xe5\
    \x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04\x59\x5a\
    ";
const BZIP2: &[u8] = b"\
    \x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\x7c\xc2\xb0\xec\x00\x00\x13\x4f\x80\x34\x10\x64\x80\x0e\x37\xce\x00\x36\
    \x23\x96\x04\x20\x00\x54\x50\x08\xc1\x34\xd3\x26\x13\x13\x68\x46\x90\x9a\x64\x34\x34\x3d\x46\x80\xf4\x8e\x14\xb9\
    \x80\x8a\x22\x04\xf3\x7d\x44\x4d\xa0\xe7\x2c\x52\x76\x52\x08\x8e\xd5\x0d\x83\x8b\xde\xa5\xf5\x55\xab\x2b\x6f\x9c\
    \x88\x80\x06\xbf\xf6\x2e\x9a\x04\x4e\xb6\x2e\xe4\x8a\x70\xa1\x20\xf9\x85\x61\xd8\
    ";

#[test]
fn xz_and_bzip2_are_read_and_their_damage_is_told() {
    let folder = Folder::new();
    for (name, contents) in [("jobs.psv.xz", XZ), ("jobs.psv.bz2", BZIP2)] {
        let site = imported(&[folder.write(name, contents)], &utc());
        assert_eq!((site.len(), site.job_at(0).cpus), (1, Some(4)), "{name}");
        // Several streams in a row are one file.
        let twice = imported(&[folder.write(name, [contents, contents].concat())], &utc());
        assert_eq!((twice.len(), rule(&twice, "dup").0), (1, 1), "{name}");
        let cut = folder.write(name, &contents[..contents.len() - 8]);
        let error = try_import(&[cut], &utc()).map(|site| site.len());
        assert!(error.is_err(), "{name}");
    }
}

/// The columns of public tables, by their real names; values of our own.
#[test]
fn public_tables_are_read_by_name_and_others_say_what_they_lack() {
    let text = "job_id,user_id,partition,submit_time,eligible_time,start_time,end_time,run_time,time_limit,num_cores_alloc,num_gpus_alloc,num_nodes_alloc,mem_req,nodes,job_state,shared\n\
                7,3,1,2020-06-01 10:00:00+00:00,2020-06-01 10:00:00+00:00,2020-06-01 10:10:00+00:00,2020-06-01 11:10:00+00:00,3600,90,64,2,2,1,\"[4, 5]\",COMPLETED,0\n";
    for columns in [None, Some("m100"), Some("pm100")] {
        let site = of_text(text, &ImportOptions { columns: columns.map(String::from), ..ImportOptions::default() });
        let job = site.job_at(0);
        assert_eq!(
            (job.cpus, job.gpus, job.nodes, job.limit, job.wait()),
            (Some(64), Some(2), Some(2), 5_400, Some(600))
        );
        assert_eq!(job.node_list.as_ref(), "4,5");
    }
    let options_of = |columns: &str| ImportOptions { columns: Some(columns.to_string()), ..utc() };
    let text = "jid,usr,jnam,cnumr,cnumat,nnumr,adt,elpl,sdt,edt,nnuma,pri,duration,exit state\n\
                9,u,j,96,96,2,2021-04-01 09:00:00+09:00,5400,2021-04-01 09:01:40+09:00,2021-04-01 09:31:40+09:00,2,127,1800,completed\n";
    let site = of_text(text, &options_of("fugaku"));
    let job = site.job_at(0);
    assert_eq!((job.cpus, job.nodes, job.limit, job.start), (Some(96), Some(2), 5_400, Some(1_617_235_300)));
    let text = "job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_req,submit_time,start_time,end_time,run_time,state,name,work_dir,submit_line\n\
                5,u1,a1,p1,normal,7200.0,3,108,0,0.0,2019-02-01 08:00:00,2019-02-01 08:00:30,2019-02-01 09:00:30,3600.0,COMPLETED,n,w,s\n";
    let job_of = |site: &Site| (site.job_at(0).nodes, site.job_at(0).limit, site.job_at(0).run);
    assert_eq!(job_of(&of_text(text, &options_of("eagle"))), (Some(3), 7_200, Some(3_600)));
    let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n\
                pod-1,11500,1,2,1000,V100,LS,Succeeded,100,4000,400\n";
    let site = of_text(text, &options_of("alibaba-gpu"));
    assert_eq!(
        (site.job_at(0).cpus, site.job_at(0).gpus, site.job_at(0).wait(), site.job_at(0).run),
        (Some(12), Some(2), Some(300), Some(3_600))
    );
    // Without a first line of names.
    let text =
        "aa1,worker,3,Terminated,1000.0,1600.0,600.0,29.3,50.0,T4\nab2,ps,1,Failed,1100.0,1200.0,250.0,29.3,,T4\n";
    let site = of_text(text, &options_of("alibaba-gpu-2020"));
    let rows: Vec<_> = site.jobs().map(|job| (job.cpus, job.gpus, job.run)).collect();
    // Three halves of a GPU are two.
    assert_eq!(rows, [(Some(18), Some(2), Some(600)), (Some(3), None, Some(100))]);
    assert!(!site.manifest.waits_known());
    // A table of another kind: what is not known is named, with the line to use.
    let text = "id,owner,n_cores,walltime,queued_at,begin,finish\n1,ada,8,3600,1700000000,1700000100,1700000200\n";
    let error = error_of(text, &utc());
    let line = "--columns 'JobID,User,AllocCPUS,TimelimitSeconds,Submit,Start,End'";
    assert!(error.contains(line) && error.contains("n_cores"), "{error}");
    let site = of_text(text, &options_of("JobID,User,AllocCPUS,TimelimitSeconds,Submit,Start,End"));
    assert_eq!((site.len(), site.job_at(0).cpus, site.job_at(0).limit), (1, Some(8), 3_600));
    // Nearly sacct's: what it does not say is not guessed.
    let text = "JobID,Submit,Start,End,State,cores_used\n1,1700000000,1700000100,1700000200,COMPLETED,8\n";
    let error = error_of(text, &utc());
    assert!(error.contains("cores_used") && error.contains("JobID,Submit,Start,End,State,AllocCPUS"), "{error}");
}

#[test]
fn accounting_of_grid_engine_may_be_lines_of_json() {
    let line = |number: u32, slots: u32, end: u64, task: &str| {
        format!(
            "{{\"job_number\":{number},\"task_number\":0,\"submission_time\":1500000000000000,\"start_time\":1500000010000000,\
             \"end_time\":{end}000000,\"owner\":\"ada\",\"group\":\"g\",\"account\":\"sge\",\"project\":\"physics\",\"qname\":\"all.q\",\
             \"hostname\":\"h1\",\"slots\":{slots},\"job_name\":\"a:b\",\"failed\":0,\"exit_status\":0,\"granted_pe\":\"mpi\",\
             \"category\":\"-l h_rt=7200,gpu=2 -pe mpi 16\",{task}\"usage\":{{\"rusage\":{{\"ru_wallclock\":1}}}}}}\n"
        )
    };
    let text = [
        line(1, 16, 1_500_003_610, ""),
        line(1, 16, 1_500_003_610, "\"pe_taskid\":\"1.h2\","),
        line(2, 1, 1_500_000_110, ""),
    ];
    let site = of_text(text.concat(), &ImportOptions::default());
    let job = site.job_at(0);
    assert_eq!((site.len(), rule(&site, "record").0), (2, 1));
    assert_eq!((job.cpus, job.gpus, job.limit, job.run), (Some(16), Some(2), 7_200, Some(3_600)));
    assert_eq!((job.account.as_ref(), job.partition.as_ref()), ("physics", "all.q"));
    let error = error_of("{\"job_number\":1,\"qname\":\"q\"}\n", &ImportOptions::default());
    assert!(!error.contains("sacct"), "{error}");
}

#[test]
fn waits_are_those_that_were_recorded() {
    use drystone_site::waits::{GroupProperty, WaitsOptions, measure_waits};
    // Waits of 0, 60, 3,601, 90,000 s; run times of an hour; one job never starts, one still waits.
    let mut text = "JobID|User|Account|Partition|Submit|Eligible|Start|End|State|NCPUS|Reason|NodeList\n".to_string();
    for (id, user, account, wait) in
        [(1, "ada", "a", 0_i64), (2, "ada", "a", 60), (3, "bob", "b", 3_601), (4, "bob", "a", 90_000)]
    {
        let start = 1_700_000_000 + wait;
        text.push_str(&format!(
            "{id}|{user}|{account}|p|1699999000|1700000000|{start}|{}|COMPLETED|4|Priority|n1\n",
            start + 3_600
        ));
    }
    text.push_str("5|eve|b|p|1700000000|1700000000|1700000500|1700000500|CANCELLED|4|None|None assigned\n");
    text.push_str("6|eve|b|p|1700050000|1700050000|Unknown|Unknown|PENDING|4|Resources|None assigned\n");
    let site = of_text(&text, &utc());
    let waits = measure_waits(
        &site,
        &WaitsOptions { by: vec![GroupProperty::Account, GroupProperty::Size], ..WaitsOptions::default() },
    );
    assert_eq!((waits.jobs, waits.never_started, waits.still_waiting, waits.unknown), (6, 1, 1, 0));
    let summary = &waits.all;
    // By hand: the mean of the four; the second of four; the last.
    assert_eq!(
        (summary.jobs, summary.mean, summary.median, summary.p95),
        (4, Some(23_415.25), Some(60.0), Some(90_000.0))
    );
    assert_eq!((summary.over_hour, summary.over_day, summary.core_hours), (Some(0.5), Some(0.25), 16.0));
    assert_eq!(summary.expansion, Some((93_661.0 + 14_400.0) / 14_400.0));
    let names: Vec<(&str, u64)> =
        waits.divisions[0].groups.iter().map(|group| (group.name.as_str(), group.figures.jobs)).collect();
    assert_eq!(names, [("a", 3), ("b", 1)]);
    assert_eq!(waits.divisions[1].groups[0].name, "4-7");
    let longest = &waits.longest[0];
    assert_eq!((longest.job.as_str(), longest.wait, longest.reason.as_str()), ("4", 90_000, "Priority"));
    // 4 of 4 processors in use for four hours of the window, which ends with the last end.
    let hours = (1_700_093_600 - site.manifest.window.from) as f64 / 3_600.0;
    let share = waits.week.mean_use.expect("known") * hours * waits.week.processors;
    assert!((share - 16.0).abs() < 0.2, "{share}");
    // Three of the four waited, on a machine of 4 processors: the second 60 s and the third 3,601 s
    // beside the first, and the last one beside both until 7,201 s.
    assert_eq!(waits.seconds, 93_661.0);
    // From a moment on.
    let later = measure_waits(&site, &WaitsOptions { since: Some(1_700_000_001), ..WaitsOptions::default() });
    assert_eq!((later.jobs, later.all.jobs), (1, 0));
    // Without submissions nothing is claimed.
    let bare = of_text("JobID|Start|End|State|NCPUS\n1|1700000000|1700003600|COMPLETED|4\n", &utc());
    let waits = measure_waits(&bare, &WaitsOptions::default());
    assert_eq!((waits.all.jobs, waits.unknown, waits.all.mean, waits.week.mean_queue), (0, 1, None, None));
    assert!(waits.notes[0].contains("nothing can be said of waits"), "{:?}", waits.notes);
}

#[test]
fn a_table_in_parquet_is_read_like_text() {
    let folder = Folder::new();
    let text = "JobID|User|Submit|Start|End|State|NCPUS|NodeList\n\
                7|ada|1700000000|1700000100|1700003700|COMPLETED|8|n1\n\
                8|bob|1700000000|1700000200|1700003800|FAILED|2|n2\n";
    let site = of_text(text, &utc());
    let path = folder.path("site");
    drystone_site::write_folder(&site, &path, &|_| {}).expect("written");
    // The table of a site's own jobs, taken for a table of another program's.
    let columns = "-,JobID,-,-,-,-,User,Account,-,-,Partition,-,-,-,-,Submit,-,-,Start,End";
    let table = path.join("jobs.parquet");
    let error = try_import(std::slice::from_ref(&table), &utc()).map(|site| site.len());
    assert!(error.is_ok() || error.is_err_and(|e| e.to_string().contains("--columns")));
    let all =
        format!("{columns},ElapsedRaw,-,-,TimelimitSeconds,-,State,-,-,-,-,-,-,AllocCPUS,NNodes{}", ",-".repeat(14));
    let options = ImportOptions { columns: Some(all), ..utc() };
    let again = imported(&[table], &options);
    let facts = |site: &Site| -> Vec<_> {
        site.jobs().map(|job| (job.id, job.user.to_string(), job.start, job.run, job.cpus)).collect()
    };
    assert_eq!(facts(&again), facts(&site));
    let broken = folder.write("t.parquet", b"PAR1 and nothing else PAR1");
    assert!(try_import(&[broken], &utc()).expect_err("damaged").to_string().contains("Parquet"));
}

/// Eight processors. Job 3 waits for all eight until 3,600 s. Job 4 of four processors waits for
/// its limit from 600 to 3,000 s, in which four are free from 1,800 to 2,400 s. Job 5 of one waits
/// 600 s beside them, job 6 3,200 s for another job.
#[test]
fn waits_have_causes() {
    use drystone_site::waits::{WaitCauseKind, WaitsOptions, measure_waits};
    let at = 1_700_000_000_i64;
    let mut text = "JobID|User|Account|Partition|Submit|Eligible|Start|End|State|NCPUS|Reason|NodeList\n".to_string();
    let job = |(id, user, cpus, submit, start, end, reason): (i64, &str, u32, i64, i64, i64, &str)| {
        let (submit, start, end) = (at + submit, at + start, at + end);
        format!("{id}|{user}|a|p|{submit}|{submit}|{start}|{end}|COMPLETED|{cpus}|{reason}|n1\n")
    };
    for row in [
        (1, "ada", 4, 0, 0, 1_800, "None"),
        (2, "bob", 4, 0, 0, 3_000, "None"),
        (3, "eve", 8, 0, 3_600, 7_200, "Priority"),
        (4, "ada", 4, 600, 3_000, 3_600, "QOSMaxCpuPerUserLimit"),
        (5, "bob", 1, 1_800, 2_400, 3_000, "Resources"),
        (6, "eve", 1, 4_000, 7_200, 7_300, "Dependency"),
    ] {
        text.push_str(&job(row));
    }
    let waits = measure_waits(&of_text(&text, &utc()), &WaitsOptions::default());
    assert!(waits.has_reasons);
    let causes: Vec<(WaitCauseKind, u64, f64, f64, &str)> = waits
        .causes
        .iter()
        .map(|cause| (cause.kind, cause.jobs, cause.seconds, cause.free_seconds, cause.user.as_str()))
        .collect();
    assert_eq!(
        causes,
        [
            (WaitCauseKind::NoRoom, 1, 3_600.0, 0.0, "eve"),
            (WaitCauseKind::Dependency, 1, 3_200.0, 0.0, "eve"),
            (WaitCauseKind::QosLimit, 1, 2_400.0, 600.0, "ada"),
            (WaitCauseKind::RoomByCount, 1, 600.0, 600.0, "bob"),
        ]
    );
    assert_eq!(waits.seconds, 9_800.0);
    assert_eq!(waits.causes[0].share, 3_600.0 / 9_800.0);
    assert_eq!((waits.causes[2].job.as_str(), waits.causes[2].reason.as_str()), ("4", "QOSMaxCpuPerUserLimit"));
    // Without reasons the machine alone is known.
    let bare = text
        .replace("QOSMaxCpuPerUserLimit", "None")
        .replace("Priority", "")
        .replace("Resources", "")
        .replace("Dependency", "");
    let waits = measure_waits(&of_text(&bare, &utc()), &WaitsOptions::default());
    let kinds: Vec<(WaitCauseKind, f64)> = waits.causes.iter().map(|cause| (cause.kind, cause.seconds)).collect();
    // Job 4 waits 1,800 s without room; job 6 all of its time, for job 3 has all eight.
    assert_eq!(kinds, [(WaitCauseKind::NoRoom, 3_600.0 + 1_800.0 + 3_200.0), (WaitCauseKind::RoomByCount, 1_200.0)]);
    assert!(!waits.has_reasons);
}
