//! The small cases of tables that are no accounting, each with neighbours of its kind.

use crate::common::{Folder, error_of, facts, imported, of_text, rule, try_import, utc};
use drystone_site::{AnonymousKey, Hide, ImportOptions, Site, SiteJobFate};
use std::path::PathBuf;

/// A file of the shared cases; says so where there are none.
fn case(path: &str) -> Option<PathBuf> {
    let default = || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("DRYSTONE_SHARED").map_or_else(default, PathBuf::from);
    let file = root.join("cases/accounting-2").join(path);
    if !file.exists() {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        return None;
    }
    Some(file)
}

/// The `--columns` that an error prints.
pub(crate) fn own_line(error: &str) -> String {
    let rest = error.split("--columns '").nth(1).unwrap_or_else(|| panic!("no line: {error}"));
    rest.split('\'').next().expect("a line").to_string()
}

pub(crate) fn with_columns(columns: &str) -> ImportOptions {
    ImportOptions { columns: Some(columns.to_string()), ..utc() }
}

/// The site that the printed line makes of a file.
fn by_own_line(path: &str) -> Option<Site> {
    let file = case(path)?;
    let error = try_import(std::slice::from_ref(&file), &utc()).map(|site| site.len()).expect_err("a question");
    let line = own_line(&error.to_string());
    Some(imported(&[file], &with_columns(&line)))
}

/// The site that the printed line makes of a text.
pub(crate) fn text_by_own_line(text: &str) -> (String, Site) {
    let error = error_of(text, &utc());
    let line = own_line(&error);
    let site = of_text(text, &with_columns(&line));
    (line, site)
}

fn read(path: &str) -> Option<Site> {
    Some(imported(&[case(path)?], &utc()))
}

fn error(path: &str) -> Option<String> {
    Some(try_import(&[case(path)?], &utc()).map(|site| site.len()).expect_err("refused").to_string())
}

fn runs(site: &Site) -> Vec<Option<u32>> {
    site.jobs().map(|job| job.run).collect()
}

fn limits(site: &Site) -> Vec<u32> {
    site.jobs().map(|job| job.limit).collect()
}

fn cpus(site: &Site) -> Vec<Option<u32>> {
    site.jobs().map(|job| job.cpus).collect()
}

#[test]
fn rows_without_a_job_number_are_numbered() {
    if let Some(site) = read("02/traverse.2023") {
        assert_eq!((cpus(&site), rule(&site, "numbered").0), (vec![Some(128), Some(256)], 2));
        assert!(
            site.manifest.warnings.iter().any(|text| text.contains("rows are numbered")),
            "{:?}",
            site.manifest.warnings
        );
    }
    // Equal rows are two jobs; a table of another kind.
    let text = "Start|End|ElapsedRaw|NCPUS\n1700000000|1700000600|600|4\n1700000000|1700000600|600|4\n";
    assert_eq!(of_text(text, &utc()).len(), 2);
    let text =
        "queued,begun_at,finished_at,cores\n1700000000,1700000010,1700000610,4\n1700000000,1700000010,1700000610,4\n";
    let (line, site) = text_by_own_line(&text.replace("begun", "start"));
    assert_eq!((line.as_str(), site.len()), ("Submit,Start,End,AllocCPUS", 2));
}

#[test]
fn a_limit_is_found_by_its_words_and_values() {
    if let Some(site) = by_own_line("03/jobs.csv") {
        assert_eq!(limits(&site), [25_200, 600]);
        assert_eq!(runs(&site), [Some(10_989), Some(81)]);
    }
    let text = "jobid,user,submit,start,end,reqcpus,allowed_hours,waited_hours\n\
                1,a,1700000000,1700003600,1700010800,4,3,1\n2,b,1700000000,1700007200,1700010800,4,1,2\n";
    let (line, site) = text_by_own_line(text);
    assert_eq!((limits(&site), line.ends_with("TimelimitSeconds*3600,-")), (vec![10_800, 3_600], true), "{line}");
    // A limit that no run keeps is none.
    let text = "jobid,submit,start,end,reqcpus,max_minutes\n1,1700000000,1700003600,1700010800,4,3\n2,1700000000,1700007200,1700010800,4,1\n";
    let site = of_text(text, &utc());
    assert!(limits(&site).iter().all(|limit| *limit == 365 * 86_400), "{:?}", limits(&site));
}

#[test]
fn a_history_of_htcondor_has_all_its_jobs() {
    for name in ["05/advised.csv", "05/advised-nospace.csv"] {
        let Some(file) = case(name) else { return };
        let site = imported(&[file], &with_columns("JobID,User,Submit,Start,End,ReqCPUS"));
        let mut ids: Vec<Option<u64>> = site.jobs().map(|job| job.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, [771, 771, 771, 772, 773].map(Some), "{name}");
        let never = site.jobs().find(|job| job.id == Some(772)).expect("a job");
        assert!(!never.kind.has_start());
        assert!(site.manifest.warnings.iter().any(|text| text.contains("ProcId")), "{:?}", site.manifest.warnings);
    }
    let site = by_own_line("05/history.csv").expect("shared");
    assert_eq!(runs(&site).iter().flatten().copied().collect::<Vec<_>>()[..2], [3_600, 7_200]);
    assert_eq!((site.len(), site.jobs().filter(|job| job.task == Some(1)).count()), (3, 1));
    let site = imported(&[case("05/history.json").expect("shared")], &with_columns("htcondor"));
    assert_eq!(runs(&site), [Some(3_600), Some(10)]);
    let message = error("05/history.txt").expect("shared");
    assert!(
        message.contains("HTCondor") && message.contains("ProcId") && message.contains("--columns htcondor"),
        "{message}"
    );
    // Equal rows of one user and number in a dump of sacct are one job.
    let text = "JobID|User|Submit|Start|End|State|AllocCPUS\n1|a|1700000000|1700000010|1700000100|COMPLETED|4\n\
                1|a|1700000000|1700000010|1700000100|COMPLETED|4\n";
    assert_eq!(of_text(text, &utc()).len(), 1);
}

#[test]
fn lists_of_other_schedulers_are_known_by_their_names() {
    if let Some(site) = by_own_line("06/jobs.csv") {
        assert_eq!((runs(&site), limits(&site)), (vec![Some(600), Some(10)], vec![3_600, 365 * 86_400]));
        let site = imported(&[case("06/jobs.json").expect("shared")], &with_columns("flux"));
        assert_eq!((runs(&site), cpus(&site)), (vec![Some(600)], vec![Some(8)]));
    }
    if let Some(site) = by_own_line("07/oar.csv") {
        let kinds: Vec<SiteJobFate> = site.jobs().map(|job| job.kind).collect();
        assert_eq!(kinds, [SiteJobFate::Ran, SiteJobFate::Ran, SiteJobFate::Withdrawn]);
        assert_eq!((limits(&site)[0], cpus(&site)[1]), (3_600, Some(32)));
    }
    if let Some(site) = read("09/jobcomp.ndjson") {
        assert_eq!((cpus(&site), limits(&site)), (vec![Some(8), Some(4)], vec![7_200, 3_600]));
        assert_eq!(site.job_at(0).submit, 1_709_287_200);
    }
    if let Some(site) = by_own_line("10/cluster_log.csv") {
        let places: Vec<String> = site.jobs().map(|job| job.partition.to_string()).collect();
        assert_eq!(places, ["vcX", "vcX", "vcY"]);
    }
    if let Some(site) = by_own_line("14/dim_job.csv") {
        let work: u64 = site.jobs().map(|job| u64::from(job.cpus.unwrap_or(0)) * u64::from(job.run.unwrap_or(0))).sum();
        assert_eq!(work, 40_960 * 3_600);
        assert_eq!(limits(&site), [21_600, 3_600]);
    }
}

#[test]
fn a_column_that_says_another_thing_is_not_taken() {
    if let Some(message) = error("17/view_accounting.csv") {
        let line = own_line(&message);
        assert!(message.contains("no column says how many processors or nodes"), "{message}");
        assert!(!line.contains("CPUS") && !line.contains("imelimit"), "{line}");
    }
    // Seconds of processors are no processors, a wait is no queue, waits in minutes no run times.
    let text = "id,owner,begin,finish,cpu_seconds,queue_wait_s,requested_minutes,n_slots\n\
                1,a,1700000000,1700000600,590,40,30,2\n2,b,1700000100,1700000800,1390,60,60,2\n3,b,1700000100,1700000900,700,60,60,1\n";
    let (line, site) = text_by_own_line(text);
    assert_eq!(line, "JobID,User,Start,End,-,-,TimelimitRaw,AllocCPUS");
    assert_eq!((limits(&site), cpus(&site)), (vec![1_800, 3_600, 3_600], vec![Some(2), Some(2), Some(1)]));
    // Two columns that say the same in other numbers are a question.
    let text = "id,begin,finish,cores,processors\n1,1700000000,1700000600,4,8\n2,1700000000,1700000700,2,4\n";
    let message = error_of(text, &utc());
    assert!(message.contains("`cores` or `processors`?"), "{message}");
}

#[test]
fn files_of_programs_for_people_get_one_sentence() {
    for name in ["18/qstat.json", "18/qstat.txt"] {
        let Some(message) = error(name) else { return };
        assert!(message.contains("qstat") && message.contains("server_priv/accounting"), "{message}");
    }
    let folder = case("28/dump").expect("shared");
    for beside in [None, case("18/qstat.json")] {
        let files: Vec<PathBuf> = std::iter::once(folder.clone()).chain(beside).collect();
        let site = imported(&files, &utc());
        assert_eq!((site.len(), site.job_at(0).cpus), (1, Some(8)));
        assert!(site.manifest.warnings.iter().any(|text| text.contains("qstat")), "{:?}", site.manifest.warnings);
    }
    let message = error("15/wide.psv").expect("shared");
    assert!(message.contains("Too wide of a date range in query") && message.lines().count() < 4, "{message}");
    assert!(error("15/fatal.psv").expect("shared").contains("ReqGRES is deprecated"));
    assert!(error("15/disabled.psv").expect("shared").contains("accounting is off"));
    assert!(error("15/empty.psv").expect("shared").contains("empty"));
    assert!(error("15/header-only.psv").expect("shared").contains("only a line that names columns"));
    assert!(error("21/pods.json").expect("shared").contains("Kubernetes"));
    let message = error("24/drevt.csv").expect("shared");
    assert!(!message.contains("header") && message.contains("no column says when jobs started"), "{message}");
}

#[test]
fn dates_of_digits_and_names_given_twice() {
    if let Some(site) = read("26/ymd.csv") {
        assert_eq!((site.job_at(0).submit, site.job_at(1).run), (1_640_995_200, Some(3 * 86_400)));
        let file = case("26/dup.csv").expect("shared");
        let outcome = try_import(&[file], &with_columns("JobID,Submit,Start,End,AllocCPUS,AllocCPUS"));
        assert!(outcome.map(|site| site.len()).expect_err("twice").to_string().contains("`AllocCPUS` is named twice"));
        let site = read("26/ymdhms.csv").expect("shared");
        assert_eq!((site.job_at(0).submit, site.job_at(0).run), (1_641_031_200, Some(3_600)));
    }
    let text = "JobIDRaw,Submit,Start,End,AllocCPUS\n1,202201011000,202201011001,202201011101,4\n";
    assert_eq!(of_text(text, &utc()).job_at(0).start, Some(1_641_031_260));
    // Thousandths of a second are no date.
    let text = "JobIDRaw,Submit,Start,End,AllocCPUS\n1,1641031200000,1641031260000,1641034860000,4\n";
    assert_eq!(of_text(text, &utc()).job_at(0).start, Some(1_641_031_260));
}

#[test]
fn blanks_and_other_encodings() {
    if let Some(site) = read("27/blanks.csv") {
        assert_eq!((site.len(), site.job_at(1).user.as_ref()), (2, "bob"));
    }
    let text = "JobIDRaw | User | Submit | Start | End | AllocCPUS | State\n 1 | ann | 1700000000 | 1700000010 | 1700000100 | 4 | COMPLETED\n";
    assert_eq!(of_text(text, &utc()).job_at(0).user, "ann");
    let text = "JobIDRaw, User, Submit, Start, End, AllocCPUS\n1, \"a, b\", 1700000000, 1700000010, 1700000100, 4\n";
    assert_eq!(of_text(text, &utc()).job_at(0).user, "a, b");
    let users = |site: &Site| {
        let mut users: Vec<String> = site.jobs().map(|job| job.user.to_string()).collect();
        users.sort_unstable();
        users.dedup();
        users
    };
    if let Some(site) = read("31/latin1.psv") {
        assert_eq!(users(&site).len(), 3);
        assert!(site.manifest.warnings.iter().any(|text| text.contains("iconv")), "{:?}", site.manifest.warnings);
        assert_eq!(users(&read("31/crlf.psv").expect("shared")), ["ann", "müller"]);
    }
}

#[test]
fn what_is_kept_of_an_anonymous_site_is_listed() {
    let Some(mut site) = read("35/leak.psv") else { return };
    let messages = site.anonymise_site(&AnonymousKey::from_text("k"), Hide::default()).expect("anonymous");
    let (_folder, site) = crate::common::through_folder(&site);
    for job in site.jobs() {
        assert!(!job.reason.contains("secret"), "{}", job.reason);
    }
    let text = messages.join("\n");
    for word in ["secretfeat", "secretpart", "secretlic", "secretgpu"] {
        assert!(text.contains(word), "{text}");
    }
}

/// Words that begin with `secret` in the files of a site, and the remarks of its anonymising.
fn secrets(mut site: Site, hide: Hide) -> (std::collections::BTreeSet<String>, String) {
    let remarks = site.anonymise_site(&AnonymousKey::from_text("k"), hide).expect("anonymous");
    let (folder, _) = crate::common::through_folder(&site);
    let mut words = std::collections::BTreeSet::new();
    for file in std::fs::read_dir(folder.path("site")).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("read");
        let text = String::from_utf8_lossy(&bytes);
        let words_of = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.starts_with("secret"));
        words.extend(words_of.filter(|word| *word != "secret").map(String::from));
    }
    (words, remarks.join("\n"))
}

#[test]
fn what_is_kept_beside_the_jobs_is_listed() {
    // With the machine, its accounts and its outages.
    let folder = |name: &str| case(&format!("35/{name}"));
    let Some(jobs) = folder("leak.psv") else { return };
    let options = ImportOptions {
        machine: folder("slurm.conf").into_iter().collect(),
        events: folder("events.psv").into_iter().collect(),
        accounts: folder("assoc.txt").into_iter().collect(),
        ..utc()
    };
    let (words, remarks) = secrets(imported(std::slice::from_ref(&jobs), &options), Hide::default());
    assert!(words.contains("secretpart2") && words.contains("secretfeat"), "{words:?}");
    words.iter().for_each(|word| assert!(remarks.contains(word), "{word}: {remarks}"));
    let hide = Hide { partitions: true, times: true };
    let (words, remarks) = secrets(imported(&[jobs], &options), hide);
    assert!(!words.iter().any(|word| word.starts_with("secretpart")), "{words:?}");
    words.iter().for_each(|word| assert!(remarks.contains(word), "{word}: {remarks}"));
}

#[test]
fn what_is_kept_of_other_records_is_listed() {
    // Torque: server, owner, project, properties of nodes, places.
    let record = "03/18/2017 05:01:15;E;7.secretsrv;user=secretuser group=secretgroup account=secretacct project=secretproj jobname=secretname \
                  queue=secretqueue ctime=1489798000 qtime=1489798000 etime=1489798453 start=1489799118 owner=secretuser@secretlogin \
                  exec_host=secretnode1/0-31+secretnode2/0-31 Resource_List.nodes=2:ppn=32:secretprop Resource_List.nodect=2 \
                  Resource_List.place=scatter:secretplace Resource_List.walltime=04:00:00 end=1489813275 Exit_status=0\n";
    let (words, remarks) = secrets(of_text(record, &utc()), Hide::default());
    assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), ["secretqueue"], "{remarks}");
    assert!(remarks.contains("secretqueue"));
    // A table with names of its own, whose names are options of the import.
    let text = "secretjob,user,project,queue,queued_at,begin,finish,n_cores,hosts,secretcolumn\n\
                1,secretann,secretproj,secretqueue,1700000000,1700000010,1700000100,4,\"secretnode[1-2],secretx\",secretwhy\n";
    let options = with_columns("JobID,User,Account,Partition,Submit,Start,End,AllocCPUS,NodeList,Reason");
    let (words, remarks) = secrets(of_text(text, &options), Hide::default());
    assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), ["secretqueue"], "{remarks}");
    let (words, _) = secrets(of_text(text, &options), Hide { partitions: true, times: false });
    assert!(words.is_empty(), "{words:?}");
}

#[test]
fn contradictions_within_a_row_are_told() {
    let has_warning = |site: &Site, part: &str| site.manifest.warnings.iter().any(|text| text.contains(part));
    if let Some(site) = read("39/skew.psv") {
        assert!(
            rule(&site, "skewed").1 >= 2 && has_warning(&site, "is not the run time"),
            "{:?}",
            site.manifest.warnings
        );
    }
    if let Some(site) = read("49/noval.psv") {
        assert_eq!(runs(&site), [Some(90), Some(90)]);
        assert!(site.manifest.window.until < 1_700_001_000);
    }
    for name in ["46/ny.psv", "46/ny-spring.psv"] {
        let Some(site) = read(name) else { return };
        assert!(
            has_warning(&site, "--timezone UTC cannot be") && has_warning(&site, "America/New_York"),
            "{:?}",
            site.manifest.warnings
        );
        let right = ImportOptions { time_zone: Some("America/New_York".to_string()), ..ImportOptions::default() };
        let site = imported(&[case(name).expect("shared")], &right);
        assert!(!has_warning(&site, "cannot be"), "{:?}", site.manifest.warnings);
    }
    let head = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|NNodes|AllocCPUS|NodeList\n";
    // Nodes of another number, fewer processors than nodes.
    let text = format!(
        "{head}1|1700000000|1700000000|1700000090|90|COMPLETED|2|8|n1\n2|1700000000|1700000000|1700000090|90|COMPLETED|3|2|n[1-3]\n"
    );
    let site = of_text(text, &utc());
    assert_eq!((rule(&site, "nodes-differ").1, has_warning(&site, "the list of nodes")), (2, true));
    // A suspension that no column says is one, up to a month.
    let text = format!(
        "{head}1|1700000000|1700000000|1700005000|90|COMPLETED|1|8|n1\n2|1700000000|1700000000|1710000000|90|COMPLETED|1|8|n1\n"
    );
    let site = of_text(text, &utc());
    let rows: Vec<_> = site.jobs().map(|job| (job.run, job.end)).collect();
    assert_eq!(rows, [(Some(5_000), Some(1_700_005_000)), (Some(90), Some(1_700_000_090))]);
    assert_eq!((rule(&site, "suspended").1, rule(&site, "skewed").1), (1, 1));
}

#[test]
fn values_in_parquet_have_their_logical_types() {
    if let Some(site) = read("43/tz.parquet") {
        let some: Vec<u32> = limits(&site).into_iter().take(2).collect();
        assert_eq!(some, [7_200, 93_600]);
        let site = read("43/elapsed.parquet").expect("shared");
        let ran: Vec<u32> = site.jobs().filter_map(|job| job.run.filter(|_| job.kind == SiteJobFate::Ran)).collect();
        assert_eq!(ran, [3_600, 7_200]);
        for name in ["43/naive.parquet", "43/rec.json", "43/naive_index.csv"] {
            let site = read(name).expect("shared");
            let some: Vec<u32> = limits(&site).into_iter().take(2).collect();
            assert_eq!((site.len(), some), (3, vec![7_200, 93_600]), "{name}");
        }
    }
}

#[test]
fn a_first_line_of_values_gets_a_line_that_works() {
    if let Some(site) = by_own_line("53/nohead.csv") {
        assert_eq!((site.len(), cpus(&site)), (2, vec![Some(4), Some(8)]));
    }
    let text = "p1;2024-03-01 10:00:00;2024-03-01 11:00:00;77;1-00:00:00\np1;2024-03-01 10:00:00;2024-03-01 12:00:00;78;1-00:00:00\n";
    let message = error_of(text, &utc());
    assert!(message.contains("--columns '") && message.contains("no header line"), "{message}");
    assert!(own_line(&message).starts_with("User,Start,End,JobID,Timelimit"), "{message}");
    let text = "1001|ada|p|2025-03-01T00:00:00|2025-03-01T00:10:00|2025-03-01T01:10:00|COMPLETED|4|02:00:00|n[1-2]\n";
    assert_eq!(own_line(&error_of(text, &utc())), "JobID,-,-,Submit,Start,End,State,AllocCPUS,Timelimit,NodeList");
}

#[test]
fn jobs_of_sacct_may_be_a_list_or_lines() {
    if let (Some(lines), Some(list)) = (read("54/lines.ndjson"), read("54/list.json")) {
        assert!(!lines.is_empty() && facts(&lines) == facts(&list));
    }
    let record = "{\"JobID\":1,\"Submit\":1700000000,\"Start\":1700000010,\"End\":1700000070,\"AllocCPUS\":4,\"State\":\"COMPLETED\"}";
    let two = record.replace("\"JobID\":1", "\"JobID\":2");
    for text in [
        format!("{record}\n{two}\n"),
        format!("[{record},{two}]"),
        format!("{{\"data\":[{record},{two}]}}"),
        format!(
            "{{\"hits\":{{\"hits\":[{{\"_id\":\"x\",\"_source\":{record}}},{{\"_id\":\"y\",\"_source\":{two}}}]}}}}"
        ),
    ] {
        let site = of_text(&text, &utc());
        assert_eq!((site.len(), site.job_at(0).cpus, site.job_at(1).run), (2, Some(4), Some(60)), "{text}");
    }
}

#[test]
fn cobalt_counts_its_nodes_by_their_numbers() {
    for name in ["55/cobalt.log", "55/cobalt2.log", "55/cobalt3.log"] {
        let Some(site) = read(name) else { return };
        let job = site.job_at(0);
        assert_eq!((job.cpus, job.nodes, job.submit), (Some(8_192), Some(128), 1_551_434_400), "{name}");
        assert_eq!((job.limit, job.run), (21_600, Some(7_200)), "{name}");
    }
    // Places with a gap, one node alone, a block of Blue Gene by its name.
    let record = |id: u32, cpus: u32, nodes: u32, place: &str| {
        format!(
            "03/01/2019 12:05:00;E;{id};Exit_status=0 Resource_List.ncpus={cpus} Resource_List.nodect={nodes} Resource_List.walltime=1:00:00 \
             account=p ctime=1551434400.12 end=1551437100.75 etime=1551434400.12 exec_host=\"{place}\" group=g qtime=1551434400.12 queue=q \
             resources_used.location=\"{place}\" resources_used.walltime=0:40:00 session=0 start=1551434700.5 user=ann\n"
        )
    };
    let text =
        [record(1, 512, 8, "0-4,6-8"), record(2, 64, 1, "5"), record(3, 8_192, 512, "MIR-00000-33331-512")].concat();
    let site = of_text(&text, &utc());
    let sizes: Vec<_> = site.jobs().map(|job| (job.cpus, job.nodes, job.run, job.limit)).collect();
    let size = |cpus, nodes| (Some(cpus), Some(nodes), Some(2_400), 3_600);
    assert_eq!(sizes, [size(512, 8), size(64, 1), size(8_192, 512)]);
    let lists: Vec<String> = site.jobs().map(|job| job.node_list.to_string()).collect();
    assert_eq!(lists, ["0,1,2,3,4,6,7,8", "5", ""]);
}

#[test]
fn a_few_unknown_submissions_keep_no_one_from_the_rest() {
    if let Some(site) = read("59/p.csv") {
        assert!(site.manifest.waits_half_known() && rule(&site, "no-submit").1 > 0);
    }
    // Three of ten are judged without; six of ten are not.
    let table = |unknown: usize| {
        let rows = (0..10).map(|at| {
            let submit = if at < unknown { "Unknown".to_string() } else { (1_700_000_000 + at).to_string() };
            format!("{at}|u{at}|{submit}|1700000100|1700000700|COMPLETED|4\n")
        });
        format!("JobIDRaw|User|Submit|Start|End|State|AllocCPUS\n{}", rows.collect::<String>())
    };
    for (unknown, verdict) in [(0, true), (3, true), (6, false), (10, false)] {
        assert_eq!(of_text(table(unknown), &utc()).manifest.waits_half_known(), verdict, "{unknown}");
    }
}

#[test]
fn a_header_without_times_of_running_is_a_header() {
    for text in [
        "job_submit_time\tnum_nodes\texit_status\tqueue\ttime_limit\n0\t80\t0\tp\t100\n10\t15\t0\tp\t30\n",
        "id;user;submitted_at;cores;walltime_limit\n7;ann;2024-03-01 10:00:00;4;3600\n8;bob;2024-03-01 11:00:00;8;7200\n",
    ] {
        let message = error_of(text, &utc());
        assert!(!message.contains("no header") && message.contains("no column says when jobs started"), "{message}");
        assert!(message.lines().count() <= 5, "{message}");
    }
    // With a run time the second is a log: its jobs start when they can, but not here.
    let message = error_of("id;user;submitted_at;cores;run_s\n7;ann;2024-03-01 10:00:00;4;3600\n", &utc());
    assert!(message.contains("when jobs started") && !message.contains("how long"), "{message}");
}

#[test]
fn jobs_that_still_run_count_with_their_work() {
    let text = "JobIDRaw|Submit|Start|End|ElapsedRaw|State|AllocCPUS|NodeList\n\
                1|1700000000|1700000000|1700036000|36000|COMPLETED|4|n1\n2|1700000000|1700000000|Unknown|0|RUNNING|4|n2\n";
    let site = of_text(text, &utc());
    // Ten hours of four processors each.
    assert_eq!(site.manifest.pools.iter().map(|pool| pool.core_seconds).sum::<u64>(), 2 * 4 * 36_000);
    let running = site.manifest.rules.iter().find(|rule| rule.name == "running").expect("counted");
    assert_eq!(running.core_seconds, 4 * 36_000);
}

#[test]
fn a_table_beside_jobs_in_a_folder_is_left_and_named() {
    let folder = Folder::new();
    folder.write(
        "dump/jobs.psv",
        "JobIDRaw|Submit|Start|End|State|AllocCPUS\n1|1700000000|1700000010|1700000100|COMPLETED|4\n",
    );
    folder.write("dump/other.csv", "id,begin,finish,cores\n1,1700000000,1700000600,4\n");
    let site = imported(&[folder.path("dump")], &utc());
    assert_eq!(site.len(), 1);
    assert!(site.manifest.warnings.iter().any(|text| text.contains("not read") && text.contains("other.csv")));
}
