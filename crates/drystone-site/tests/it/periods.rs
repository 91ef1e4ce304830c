//! Edges of dumps, two dumps in one file, and jobs that never stood in a queue.

use crate::common::{Folder, error_of, facts, imported, of_text, rule, utc};
use drystone_site::{ImportEffort, ImportOptions, SiteJobFate, write_folder};

const HEADER: &str = "JobIDRaw|JobID|User|Partition|Submit|Eligible|Start|End|State|AllocCPUS|NNodes|TimelimitRaw\n";
const DAY: i64 = 86_400;
const BEGIN: i64 = 1_700_000_000;

/// A job an hour for so many days on one of four processors: it waits ten minutes and runs an hour.
fn steady(days: i64) -> String {
    let row = |i: i64| {
        let at = BEGIN + i * 3_600;
        format!("{0}|{0}|u|p|{at}|{at}|{1}|{2}|COMPLETED|1|1|120\n", i + 1, at + 600, at + 4_200)
    };
    (0..days * 24).map(row).fold(HEADER.to_string(), |text, row| text + &row)
}

/// A row of a job with these times and this state.
fn row(number: u32, [submit, eligible, start, end]: [&str; 4], state: &str) -> String {
    format!("{number}|{number}|v|p|{submit}|{eligible}|{start}|{end}|{state}|1|1|120\n")
}

#[test]
fn a_job_that_waits_for_a_later_day_does_not_stretch_the_window() {
    let days = 30;
    let plain =
        of_text(steady(days) + &row(9_000, ["1702580000", "1702580000", "1702588000", "Unknown"], "RUNNING"), &utc());
    let submit_time = BEGIN + days * DAY - 100;
    let later = (submit_time + 90 * DAY).to_string();
    let waits = row(9_001, [&submit_time.to_string(), &later, "Unknown", "Unknown"], "PENDING");
    let text = steady(days) + &row(9_000, ["1702580000", "1702580000", "1702588000", "Unknown"], "RUNNING") + &waits;
    let site = of_text(text, &utc());
    assert_eq!(site.manifest.window.until, plain.manifest.window.until.max(submit_time));
    assert_eq!(rule(&site, "outside").1, 1);
    assert_eq!(facts(&site), facts(&plain));
}

#[test]
fn the_end_of_a_past_period_is_its_last_start() {
    // A month later `sacct -S … -E …` prints how long the jobs of the period ran in the end.
    let long = |number: u32| {
        let [at, start, end] = [29 * DAY, 29 * DAY + 60, 55 * DAY].map(|after| (BEGIN + after).to_string());
        row(number, [&at, &at, &start, &end], "COMPLETED")
    };
    let last_start = BEGIN + (30 * 24 - 1) * 3_600 + 600;
    let site = of_text(steady(30) + &long(9_001) + &long(9_002), &utc());
    assert_eq!(site.manifest.window.until, last_start + 1);
    assert!(site.manifest.window.evidence.contains("last arrival or start"), "{}", site.manifest.window.evidence);
    // One that still runs shows that nothing is missing.
    let runs = row(
        9_003,
        [&(BEGIN + DAY).to_string(), &(BEGIN + DAY).to_string(), &(BEGIN + 2 * DAY).to_string(), "Unknown"],
        "RUNNING",
    );
    // Its limit is long enough for its record to be no forgotten one.
    let runs = runs.replace("|120", "|200000");
    let site = of_text(steady(30) + &long(9_001) + &runs, &utc());
    assert_eq!(site.manifest.window.until, BEGIN + 55 * DAY);
    // A site that rests for weeks has such pauses within as well.
    let rest = steady(4) + &steady(30).lines().skip(1 + 26 * 24).fold(String::new(), |text, row| text + row + "\n");
    let [at, start, end] = [0, 60, 50 * DAY].map(|after| (BEGIN + 29 * DAY + after).to_string());
    let site = of_text(rest + &row(9_001, [&at, &at, &start, &end], "COMPLETED"), &utc());
    assert_eq!(site.manifest.window.until, BEGIN + 30 * DAY - 3_600 + 601);
    let [at, start, end] = [0, 60, 20 * DAY].map(|after| (BEGIN + 29 * DAY + after).to_string());
    let rest = steady(4) + &steady(30).lines().skip(1 + 26 * 24).fold(String::new(), |text, row| text + row + "\n");
    let site = of_text(rest + &row(9_001, [&at, &at, &start, &end], "COMPLETED"), &utc());
    assert_eq!(site.manifest.window.until, BEGIN + 49 * DAY);
}

#[test]
fn what_was_never_eligible_never_stood_in_the_queue() {
    let [submit, end] = [5, 9].map(|days| (BEGIN + days * DAY).to_string());
    let cancel_row = row(9_001, [&submit, "Unknown", "Unknown", &end], "CANCELLED by 7");
    let hold_row = row(9_002, [&submit, "Unknown", "Unknown", "Unknown"], "PENDING");
    let site = of_text(steady(20) + &cancel_row + &hold_row, &utc());
    assert_eq!(rule(&site, "never-eligible").1, 2);
    let job = site.jobs().find(|job| job.display_name() == "9001").expect("kept");
    assert_eq!((job.kind, job.arrive, job.imputed_run), (SiteJobFate::Withdrawn, BEGIN + 9 * DAY, Some(1)));
    assert!(site.jobs().all(|job| job.display_name() != "9002"));
    // Where no row says when its job was eligible, the submission stands for it.
    let text = (steady(20) + &cancel_row).replace("|Eligible|", "|Eligible2|");
    let site = of_text(text, &utc());
    assert_eq!(rule(&site, "never-eligible").1, 0);
    let job = site.jobs().find(|job| job.display_name() == "9001").expect("kept");
    assert_eq!(job.arrive, BEGIN + 5 * DAY);
}

#[test]
fn a_second_header_counts_from_its_line_on() {
    let first_text = steady(3);
    let names: Vec<&str> = HEADER.trim_end().split('|').collect();
    // Rows with the columns in the reverse order, as another version of a script asks for them.
    let reverse_text: String = steady(6)
        .lines()
        .enumerate()
        .filter(|(at, _)| *at == 0 || *at > 3 * 24)
        .map(|(_, line)| line.split('|').rev().collect::<Vec<_>>().join("|") + "\n")
        .collect();
    assert_eq!(reverse_text.lines().next().map(|line| line.split('|').count()), Some(names.len()));
    let whole = facts(&of_text(steady(6), &utc()));
    for threads in [1, 4] {
        for block in [0, 300, 2_000] {
            let options = ImportOptions { effort: ImportEffort { threads, block }, ..utc() };
            let site = of_text(first_text.clone() + &reverse_text, &options);
            assert_eq!((site.manifest.bad_rows, rule(&site, "header").0), (0, 1), "{threads} {block}");
            assert!(facts(&site) == whole, "{threads} {block}");
            // And back again.
            let third: String =
                steady(6).lines().filter(|line| !line.is_empty()).map(|line| line.to_string() + "\n").collect();
            let site = of_text(first_text.clone() + &reverse_text + &third, &options);
            assert_eq!((site.manifest.bad_rows, rule(&site, "header").0), (0, 2), "{threads} {block}");
            assert!(facts(&site) == whole, "{threads} {block}");
        }
    }
}

#[test]
fn large_counts_may_have_units() {
    let text = "JobID|Submit|Start|End|State|NNodes|NCPUS\n1|1740787200|1740787800|1740791400|COMPLETED|1K|64K\n\
                2|1740787200|1740787800|1740791400|COMPLETED|1.50K|98304\n";
    let site = of_text(text, &utc());
    let sizes: Vec<_> = site.jobs().map(|job| (job.nodes, job.cpus)).collect();
    assert_eq!(sizes, [(Some(1_024), Some(65_536)), (Some(1_536), Some(98_304))]);
}

#[test]
fn generic_resources_are_asked_for_each_node_and_given_in_all() {
    let head = "JobID|Submit|Start|End|State|NNodes|NCPUS|ReqGRES|AllocGRES\n";
    let row = |request: &str, grant: &str| {
        of_text(format!("{head}1|1740787200|1740787800|1740791400|COMPLETED|4|8|{request}|{grant}\n"), &utc())
            .job_at(0)
            .gpus
    };
    assert_eq!(row("gpu:2", ""), Some(8));
    assert_eq!(row("7696487:4", ""), Some(16));
    assert_eq!(row("gpu:2", "gpu:8"), Some(8));
    assert_eq!(row("", "gpu:k80:4(IDX:0-3)"), Some(4));
}

#[test]
fn associations_and_qos_are_two_files_of_one_table() {
    let conf = "ClusterName=c\nNodeName=n[1-4] CPUs=1\nPartitionName=p Nodes=ALL Default=YES\n";
    let assoc = "Account|User|ParentName|Share|Def QOS\nroot|||1|\na||root|1|normal\na|u||1|normal\n";
    let qos = "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|MaxTRESPU\nnormal|0|00:00:00||cluster||1.000000|cpu=1\n";
    let folder = Folder::new();
    let (jobs, conf) = (folder.write("jobs.psv", steady(3)), folder.write("slurm.conf", conf));
    let with = |accounts: &[(&str, &str)]| {
        let accounts = accounts.iter().map(|(name, text)| folder.write(name, text)).collect();
        imported(std::slice::from_ref(&jobs), &ImportOptions { machine: vec![conf.clone()], accounts, ..utc() })
    };
    let accounts_of = |site: &drystone_site::Site| {
        write_folder(site, &folder.path("site"), &|_| {}).expect("written");
        std::fs::read_to_string(folder.path("site/accounts.txt")).expect("accounts")
    };
    for order in [[("assoc.txt", assoc), ("qos.txt", qos)], [("qos.txt", qos), ("assoc.txt", assoc)]] {
        let site = with(&order);
        assert!(accounts_of(&site).contains("MaxTRESPU"), "{order:?}");
        assert!(site.manifest.warnings.iter().all(|text| !text.contains("QOS")), "{:?}", site.manifest.warnings);
    }
    // Alone, the associations count, and what is missing is named.
    let site = with(&[("assoc.txt", assoc)]);
    let warnings = site.manifest.warnings.join("\n");
    assert!(
        accounts_of(&site).contains("ParentName") && warnings.contains("assoc.txt: the default QOS normal"),
        "{warnings}"
    );
    // A mistake has the place in its own file.
    let wrong = folder.write("wrong.txt", assoc.replace("|1|normal", "|many|normal"));
    let file = folder.write("qos.txt", qos);
    let options = ImportOptions { machine: vec![conf.clone()], accounts: vec![file, wrong], ..utc() };
    let error = crate::common::try_import(std::slice::from_ref(&jobs), &options).expect_err("wrong").to_string();
    assert!(error.contains("wrong.txt:3") && error.contains("many"), "{error}");
}

#[test]
fn nodes_that_jobs_name_are_all_there() {
    // Two jobs one after the other on nodes of their own: at once they hold four processors.
    let text = "JobID|Submit|Start|End|State|NNodes|NCPUS|NodeList\n1|1740787200|1740787200|1740790800|COMPLETED|1|4|n1\n\
                2|1740790800|1740790800|1740794400|COMPLETED|1|4|n2\n";
    let site = of_text(text, &utc());
    assert_eq!(site.manifest.pools.iter().map(|pool| pool.units).collect::<Vec<_>>(), [8]);
}

#[cfg(unix)]
#[test]
fn a_site_replaces_nothing_but_a_site() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = Folder::new();
    let site = of_text(steady(3), &utc());
    let socket = folder.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
    let error = write_folder(&site, &socket, &|_| {}).expect_err("a socket").to_string();
    assert!(error.contains("no folder"), "{error}");
    assert!(std::fs::symlink_metadata(&socket).expect("there").file_type().is_socket());
    let astray = folder.path("astray");
    symlink(folder.path("nowhere"), &astray).expect("linked");
    assert!(write_folder(&site, &astray, &|_| {}).is_err());
    // A link to a site leads to the new one.
    let (real, link) = (folder.path("real"), folder.path("link"));
    write_folder(&site, &real, &|_| {}).expect("written");
    symlink(&real, &link).expect("linked");
    write_folder(&site, &link, &|_| {}).expect("written");
    assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink());
    assert!(drystone_site::open_folder(&real).is_ok());
    // The folder in which this test runs.
    let current_folder = std::env::current_dir().expect("a folder");
    assert!(
        write_folder(&site, &current_folder, &|_| {})
            .expect_err("here")
            .to_string()
            .contains("the folder that you are in")
    );
    assert!(error_of("x", &utc()).contains("jobs.psv"));
}

#[test]
fn reporting_of_grid_engine_has_its_accounting() {
    let record = "long.q:n6:g:bob:plain:579397:sge:0:1490016700:1490016705:1490016720:0:0:15:10.0:1.0:2000.0:0:0:0:0:100:0:0:0.0:0:0:0:0:10:5:NONE:\
                  defaultdepartment:NONE:1:0:11.0:0.1:0.0:-l h_rt=3600:0.0:NONE:104.0:0:0\n";
    let plain = of_text(record, &utc());
    let text = format!(
        "# Version: 6.2\n1490016700:new_job:1490016700:579397:-1:NONE:plain:bob:g::defaultdepartment:sge:1024\n\
         1490016720:acct:{record}1490016720:host:n6:1490016720:X:cpu=0.0\n"
    );
    let site = of_text(text, &utc());
    assert_eq!((facts(&site), site.manifest.bad_rows, rule(&site, "record").0), (facts(&plain), 0, 2));
    assert_eq!(site.len(), 1);
}

/// Job 9001 was eligible before its user held it, and was cancelled two days later; 9002 still
/// waits so. 9003 ran in the end: when it was released is not recorded.
#[test]
fn a_job_that_was_held_never_stood_in_the_queue_after() {
    let with_reason = |row: String, reason: &str| row.trim_end().to_string() + "|" + reason + "\n";
    let text: String = steady(20)
        .lines()
        .enumerate()
        .map(|(at, line)| with_reason(line.to_string(), if at == 0 { "Reason" } else { "None" }))
        .collect();
    let [submit, start, end] = [5, 6, 7].map(|days| (BEGIN + days * DAY).to_string());
    let cancelled = || row(9_001, [&submit, &submit, "Unknown", &end], "CANCELLED by 7");
    let waits = || row(9_002, [&submit, &submit, "Unknown", "Unknown"], "PENDING");
    let ran = || row(9_003, [&submit, &submit, &start, &end], "COMPLETED");
    for reason in ["JobHeldUser", "JobHeldAdmin", "DependencyNeverSatisfied", "Priority"] {
        let is_held = reason != "Priority";
        let rows = [cancelled(), waits(), ran()].map(|row| with_reason(row, reason)).concat();
        let site = of_text(text.clone() + &rows, &utc());
        let arrival = |name: &str| site.jobs().find(|job| job.display_name() == name).map(|job| job.arrive);
        assert_eq!(arrival("9001"), Some(BEGIN + if is_held { 7 } else { 5 } * DAY), "{reason}");
        assert_eq!(arrival("9002").is_some(), !is_held, "{reason}");
        assert_eq!(arrival("9003"), Some(BEGIN + 5 * DAY), "{reason}");
        let counts = (rule(&site, "held").1, rule(&site, "hold-over").1);
        assert_eq!(counts, if is_held { (2, 1) } else { (0, 0) }, "{reason}");
    }
}
