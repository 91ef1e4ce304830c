//! The folder of a site: what is written comes back, the same each time, and what is damaged is
//! found out.

use crate::common::{Folder, facts, imported, of_text, through_folder, utc};
use crate::generated::{Style, jobs};
use drystone_site::{
    AnonymousKey, ExportPurpose, Hide, ImportOptions, Site, SiteJob, SiteScene, open_folder, write_folder,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const CONF: &str = "ClusterName=made\nSchedulerParameters=bf_interval=60\nNodeName=DEFAULT CPUs=16 RealMemory=64000\n\
    NodeName=n[1-10]\nNodeName=g[1-4] Gres=gpu:4 Weight=5\n\
    PartitionName=DEFAULT MaxTime=7-0\nPartitionName=batch Nodes=n[1-10] Default=YES\nPartitionName=gpu Nodes=g[1-4] MaxTime=2-0\n";

const EVENTS: &str = "Cluster|ClusterNodes|NodeName|Start|End|State|Reason|TRES\n\
    made||n10|2023-11-16T00:00:00|2023-11-17T00:00:00|DOWN*|Not responding|cpu=16\n";

fn site() -> Site {
    let folder = Folder::new();
    let dump = folder.write("jobs.psv", Style::utc().text(&jobs(9, 500, 1_700_000_000)));
    let (conf, events) = (folder.write("slurm.conf", CONF), folder.write("events.psv", EVENTS));
    imported(&[dump], &ImportOptions { machine: vec![conf], events: vec![events], ..utc() })
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut list: Vec<(String, Vec<u8>)> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read(&path).expect("read")))
        .collect();
    list.sort();
    list
}

#[test]
fn every_field_of_every_job_comes_back() {
    let site = site();
    let (_folder, read) = through_folder(&site);
    assert_eq!(read.manifest, site.manifest);
    assert_eq!((&read.nodes, &read.losses, read.slurm_conf()), (&site.nodes, &site.losses, site.slurm_conf()));
    assert_eq!(read.len(), site.len());
    for (copy, original) in read.jobs().zip(site.jobs()) {
        assert_eq!(copy, original);
    }
    assert!(!site.losses.is_empty(), "a node was out");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::new();
    let (first, second) = (folder.path("one"), folder.path("other"));
    // The same files: where they lie is part of what is said of them.
    let dump = folder.write("jobs.psv", Style::utc().text(&jobs(9, 500, 1_700_000_000)));
    for out in [&first, &second] {
        write_folder(&imported(std::slice::from_ref(&dump), &utc()), out, &|_| {}).expect("written");
    }
    assert_eq!(files(&first), files(&second));
    // A site is replaced, and nothing is left beside it.
    write_folder(&imported(&[dump], &utc()), &first, &|_| {}).expect("written again");
    assert_eq!(files(&first), files(&second));
    let beside: BTreeSet<String> = fs::read_dir(folder.path(""))
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(beside, ["jobs.psv", "one", "other"].map(String::from).into());
}

#[test]
fn what_is_no_site_is_left_alone_and_what_is_damaged_is_found_out() {
    let folder = Folder::new();
    let site = of_text(Style::utc().text(&jobs(9, 60, 1_700_000_000)), &utc());
    folder.write("mine/thesis.tex", "years of work");
    let error = write_folder(&site, &folder.path("mine"), &|_| {}).expect_err("occupied").to_string();
    assert!(error.contains("mine") && error.contains("holds something else"), "{error}");
    assert_eq!(fs::read_to_string(folder.path("mine/thesis.tex")).expect("still there"), "years of work");
    let file = folder.write("file", "x");
    assert!(write_folder(&site, &file, &|_| {}).expect_err("a file").to_string().contains("this is no folder"));
    let out = folder.path("site");
    let fresh = || write_folder(&site, &out, &|_| {}).expect("written");
    let error = |name: &str| open_folder(&out).expect_err("damaged").to_string() + name;
    fresh();
    assert!(open_folder(&folder.path("mine")).expect_err("no site").to_string().contains("drystone import"));
    let text = fs::read_to_string(out.join("site.json")).expect("text");
    fs::write(out.join("site.json"), text.replace(drystone_site::SCHEMA, "drystone/site/99")).expect("written");
    assert!(error("").contains("drystone/site/99"), "{}", error(""));
    fs::write(out.join("site.json"), &text[..text.len() / 2]).expect("written");
    assert!(error("").contains("site.json") && error("").contains("no JSON"), "{}", error(""));
    fresh();
    let jobs = fs::read(out.join("jobs.parquet")).expect("bytes");
    for cut in [0, 10, jobs.len() / 2, jobs.len() - 1] {
        fs::write(out.join("jobs.parquet"), &jobs[..cut]).expect("written");
        assert!(error("").contains("jobs.parquet"), "{}", error(""));
    }
    fresh();
    fs::write(out.join("capacity.csv"), "pool,begin\nx,y\n").expect("written");
    assert!(error("").contains("capacity.csv"), "{}", error(""));
    fresh();
    fs::remove_file(out.join("nodes.csv")).expect("removed");
    assert!(error("").contains("nodes.csv"), "{}", error(""));
}

#[test]
fn each_pool_has_a_configuration_of_its_own() {
    // Other tests of this process register it as well.
    let _ = drystone_slurm::policy::register_policy();
    let site = site();
    let (folder, read) = through_folder(&site);
    let path = folder.path("site");
    for (pool, (name, nodes)) in [("batch", 10), ("gpu", 4)].into_iter().enumerate() {
        let summary = &read.manifest.pools[pool];
        assert_eq!(summary.name, name);
        let conf = drystone_slurm::conf::SlurmConf::read_file(path.join(format!("pool-{}.slurm.conf", pool + 1)))
            .expect("a configuration");
        assert_eq!((conf.nodes.len(), conf.partitions.len(), conf.sched.bf_interval), (nodes, 1, 60));
        assert_eq!(conf.partitions[0].nodes.len(), nodes);
        let units: u32 = conf.nodes.iter().map(|node| node.cpus).sum();
        assert_eq!(units, summary.units, "a processor of the configuration is a unit of the pool");
        assert_eq!(conf.partitions[0].max_minutes, Some(if name == "gpu" { 2 } else { 7 } * 1_440));
        let names = fs::read_to_string(path.join(format!("pool-{}.names.csv", pool + 1))).expect("names");
        assert!(names.contains(&format!("partition,1,{name}\n")) && names.contains(",lin\n"), "{names}");
        // A policy of the site's configuration is, for the pool, of the pool's.
        let own =
            read.policy_texts(pool as u16, &format!("slurm:{}/slurm.conf", path.display()).parse().expect("a policy"));
        assert_eq!(own.len(), 1);
        assert!(own[0].1.ends_with(&format!("pool-{}.slurm.conf", pool + 1)), "{own:?}");
    }
    assert!(read.policy_texts(0, &"easy".parse().expect("a policy")).is_empty());
}

#[test]
fn a_site_written_as_a_log_keeps_what_a_log_can_hold() {
    let site = site();
    for pool in 0..2 {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut site_again().into_log(pool), &mut bytes).expect("read");
        let mut reader = drystone::log::swf::SwfReader::new(bytes.as_slice(), "log").expect("a log");
        let mut records = Vec::new();
        while let Some(record) = reader.read_record().expect("a record") {
            records.push(record);
        }
        let mine: Vec<SiteJob<'_>> = site.jobs().filter(|job| job.pool == pool).collect();
        assert_eq!(records.len(), mine.len());
        let origin = site.job_at(0).arrive;
        for ((record, job), serial) in records.iter().zip(&mine).zip(1..) {
            assert_eq!((record.number, record.submit.round()), (serial, job.arrive - origin));
            match job.kind {
                drystone_site::SiteJobFate::Ran => {
                    assert_eq!(record.wait.round(), job.wait().expect("a wait"));
                    assert_eq!(record.run.round(), i64::from(job.run.expect("a run time")));
                    assert_eq!(record.allocated, i64::from(job.units));
                }
                drystone_site::SiteJobFate::Withdrawn => {
                    assert_eq!((record.run.round(), record.allocated, record.status), (0, -1, 5));
                }
                _ => assert_eq!(record.run.round(), -1),
            }
            assert_eq!(record.requested_time.round(), i64::from(job.limit));
        }
        let header = reader.into_header().0;
        assert_eq!(header.unix_start(), Some(origin));
        assert_eq!(header.max_procs(), Some(i64::from(site.manifest.pools[usize::from(pool)].units)));
        let notes = header.comments().iter().filter(|c| String::from_utf8_lossy(&c.text).contains("rule ")).count();
        assert_eq!(notes, site.manifest.rules.len(), "every rule is a note");
    }
    // What it cannot hold stands beside it, and is read again.
    let beside = site.beside_tables(0).expect("tables");
    let outages = beside.outages.expect("a node was out");
    let alone = site.pool_workload(0).expect("a pool");
    let read = drystone::log::outages::read_outages(
        outages.as_slice(),
        "outages.csv",
        alone.workload.machine(),
        &alone.workload.provenance,
    );
    assert_eq!(read.expect("outages").list(), alone.outages.list());
    assert!(beside.circumstances.is_some_and(|table| table.starts_with(b"job,")));
}

fn site_again() -> Site {
    site()
}

fn anonymous(key: &str, hide: Hide) -> Site {
    let mut site = site();
    site.anonymise_site(&AnonymousKey::from_text(key), hide).expect("imported just now");
    site
}

#[test]
fn an_anonymous_site_has_no_name_and_the_same_workload() {
    let (open_site, hide) = (site(), Hide { partitions: true, times: false });
    let site = anonymous("k", hide);
    let (folder, read) = through_folder(&site);
    let raw = [
        "lin",
        "böll",
        "c'est",
        "physics",
        "users",
        "normal",
        "batch",
        "gpu",
        "made",
        "two words",
        "jobs.psv",
        "Not responding",
    ];
    for (file, bytes) in files(&folder.path("site")) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for name in raw {
            // The words of the format itself.
            let own = ["users", "batch", "normal"].contains(&name) && !file.ends_with(".parquet") || name == "gpu";
            assert!(own || !text.contains(name), "{file} holds {name}");
        }
        assert!(!file.contains("slurm.conf"));
    }
    let same = |a: SiteJob<'_>, b: SiteJob<'_>| {
        assert_eq!(
            (a.submit, a.arrive, a.start, a.end, a.run, a.limit),
            (b.submit, b.arrive, b.start, b.end, b.run, b.limit)
        );
        assert_eq!((a.pool, a.units, a.kind, a.cpus, a.nodes), (b.pool, b.units, b.kind, b.cpus, b.nodes));
    };
    read.jobs().zip(open_site.jobs()).for_each(|(a, b)| same(a, b));
    // One user is one number, and each another; the administrator stays.
    let pairs: BTreeSet<(String, String)> =
        read.jobs().zip(open_site.jobs()).map(|(a, b)| (a.user.to_string(), b.user.to_string())).collect();
    let (masks, users): (BTreeSet<String>, BTreeSet<String>) = pairs.iter().cloned().unzip();
    assert_eq!((pairs.len(), masks.len()), (users.len(), users.len()));
    assert!(pairs.contains(&("root".to_string(), "root".to_string())));
    // The workload is simulated as it was.
    let workload = |site: &Site| {
        let scene = SiteScene::whole_site(site);
        scene
            .export_records(ExportPurpose::Simulation)
            .map(|r| (r.submit.round(), r.run.round(), r.requested, r.partition))
            .collect::<Vec<_>>()
    };
    assert_eq!(workload(&read), workload(&open_site));
    // Twice the same is nothing to be anonymised.
    let mut again = read;
    assert!(again.anonymise_site(&AnonymousKey::from_text("k"), hide).is_none());
}

#[test]
fn a_key_gives_the_same_numbers_and_another_gives_others() {
    let hide = Hide::default();
    let users = |site: &Site| -> Vec<String> { site.jobs().map(|job| job.user.to_string()).collect() };
    assert_eq!(users(&anonymous("k", hide)), users(&anonymous("k", hide)));
    assert_ne!(users(&anonymous("k", hide)), users(&anonymous("other", hide)));
    let mut random = site();
    random.anonymise_site(&AnonymousKey::random_key().expect("randomness"), hide);
    assert_ne!(users(&random), users(&anonymous("k", hide)));
}

#[test]
fn shifted_times_keep_hours_days_of_the_week_and_all_that_lies_between() {
    let (plain, shift_site) = (site(), anonymous("k", Hide { partitions: false, times: true }));
    let by = shift_site.job_at(0).submit - plain.job_at(0).submit;
    assert_eq!(by % (7 * 86_400), 0);
    assert!(by != 0);
    for (a, b) in shift_site.jobs().zip(plain.jobs()) {
        assert_eq!((a.submit, a.arrive), (b.submit + by, b.arrive + by));
        assert_eq!(
            (a.start, a.end, a.eligible),
            (b.start.map(|t| t + by), b.end.map(|t| t + by), b.eligible.map(|t| t + by))
        );
    }
    assert_eq!(shift_site.manifest.window.from, plain.manifest.window.from + by);
    for (a, b) in shift_site.losses.iter().zip(&plain.losses) {
        assert_eq!((a.begin, a.end), (b.begin + by, b.end.map(|end| end + by)));
    }
    assert_eq!(facts(&shift_site).len(), facts(&plain).len());
    assert_eq!(shift_site.manifest.time_zone, "UTC");
}

/// The page lists every rule with the words that the account uses, in the order in which they
/// apply.
#[test]
fn the_page_has_every_rule() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/import-rules.md")).expect("a page");
    let page_lines: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let expected: Vec<String> = drystone_site::ImportRule::ALL
        .iter()
        .map(|rule| format!("| `{rule}` | {} | {} |", rule.effect(), rule.meaning()))
        .collect();
    assert!(expected.len() > 50);
    let matches: Vec<&str> = page_lines.into_iter().filter(|line| expected.iter().any(|row| row == line)).collect();
    assert_eq!(matches, expected);
}
