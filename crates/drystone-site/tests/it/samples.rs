//! Real dumps, job by job, against an independent reading by pandas and DuckDB.

use crate::common::{Folder, imported, rule, shared, utc, xdmod};
use drystone_site::{ImportOptions, Site, write_folder};
use std::path::Path;
use std::process::Command;

/// A Python with pandas and DuckDB.
fn python() -> Option<String> {
    if let Ok(program) = std::env::var("DRYSTONE_READERS") {
        return Some(program);
    }
    let imports = Command::new("python3").args(["-c", "import pandas, duckdb"]).output();
    if imports.is_ok_and(|o| o.status.success()) {
        return Some("python3".to_string());
    }
    eprintln!("SKIPPED: no Python with duckdb and pandas (set DRYSTONE_READERS)");
    None
}

/// Imports a dump, and lets the script hold the folder against the dump. Returns the site, and what
/// the script counted: jobs, those that never ran, processors times seconds.
fn counted(kind: &str, dump: &Path, options: &ImportOptions) -> (Site, Option<[u64; 3]>) {
    let site = imported(&[dump.to_path_buf()], options);
    let Some(python) = python() else { return (site, None) };
    let folder = Folder::new();
    let path = folder.path("site");
    write_folder(&site, &path, &|_| {}).expect("written");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/counts.py");
    let read = Command::new(python).args([script, kind]).arg(dump).arg(&path).output().expect("Python runs");
    let output = String::from_utf8_lossy(&read.stdout);
    assert!(read.status.success(), "{}: {}", dump.display(), String::from_utf8_lossy(&read.stderr));
    let counts: Vec<u64> = output.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    (site, Some([counts[0], counts[1], counts[2]]))
}

/// Jobs, those that never ran, and core-seconds of the others, as the site has them.
fn own(site: &Site) -> [u64; 3] {
    let never = site.jobs().filter(|job| job.kind == drystone_site::SiteJobFate::Withdrawn).count() as u64;
    [site.len() as u64, never, site.manifest.pools.iter().map(|pool| pool.core_seconds).sum()]
}

#[test]
fn a_dump_of_a_gpu_cluster_to_the_row() {
    let Some(dump) = shared("sacct/ub-phillips.log.gz") else { return };
    let (site, counts) = counted("phillips", &dump, &xdmod());
    assert_eq!((site.manifest.rows, site.manifest.bad_rows, site.len()), (4_285, 0, 4_285));
    assert_eq!(own(&site)[1], 239);
    counts.into_iter().for_each(|counts| assert_eq!(counts, own(&site)));
    // Each memory is that of its nodes, once the flag is off.
    assert!(site.jobs().all(|job| job.memory_kb.is_some_and(|kb| kb < 1 << 30)));
    assert_eq!(rule(&site, "memory-flag").0, 4_238);
    assert!(site.manifest.window.ended_only);
}

#[test]
fn three_repetitions_of_a_week_to_the_row() {
    for name in ["usc-job0", "usc-job1", "usc-job2"] {
        let Some(dump) = shared(&format!("simulated-by-slurm/{name}.sacct.gz")) else { return };
        let (site, counts) = counted("usc", &dump, &utc());
        assert_eq!((site.manifest.rows, site.manifest.bad_rows, site.len()), (12_962, 0, 12_962), "{name}");
        counts.into_iter().for_each(|counts| assert_eq!(counts, own(&site), "{name}"));
        // 78 nodes of 64 processors.
        assert_eq!(site.manifest.pools[0].units, 4_992, "{name}");
    }
}

#[test]
fn a_snapshot_of_a_large_cluster_to_the_row() {
    let Some(dump) = shared("snapshots/graham-2021-05-pending-at-noon.csv.gz") else { return };
    let (site, counts) = counted("graham", &dump, &utc());
    assert_eq!((site.manifest.rows, site.manifest.bad_rows, site.len()), (92_623, 0, 92_623));
    counts.into_iter().for_each(|counts| assert_eq!(counts[..2], own(&site)[..2]));
    let later = site.jobs().filter(|job| job.eligible.is_some_and(|eligible| eligible > job.submit)).count() as u64;
    assert_eq!(rule(&site, "arrive").1, later);
}

#[test]
fn records_of_completed_jobs_to_the_row() {
    let Some(dump) = shared("simulated-by-slurm/usc-jobcomp.log.gz") else { return };
    let (site, counts) = counted("jobcomp", &dump, &utc());
    // Two never had a processor.
    assert_eq!((site.manifest.rows, site.manifest.bad_rows, site.len()), (460, 2, 458));
    assert_eq!(rule(&site, "no-size").0, 2);
    counts.into_iter().for_each(|counts| assert_eq!(counts, own(&site)));
}

#[test]
fn json_of_three_versions() {
    if let Some(dump) = shared("json/sacct-25.05.2-v0.0.43.json.gz") {
        let (site, counts) = counted("json", &dump, &ImportOptions::default());
        assert_eq!((site.manifest.rows, site.len()), (7, 7));
        counts.into_iter().for_each(|counts| assert_eq!(counts, own(&site)));
    }
    if let Some(dump) = shared("json/sacct-22.05.5-v0.0.38.json") {
        let (site, counts) = counted("json", &dump, &ImportOptions::default());
        assert_eq!((site.manifest.rows, site.len()), (1, 1));
        counts.into_iter().for_each(|counts| assert_eq!(counts, own(&site)));
    }
    if let Some(dump) = shared("json/sacct-21.08.8-v0.0.37.json") {
        let site = imported(&[dump], &ImportOptions::default());
        assert_eq!((site.manifest.rows, site.len()), (2, 2));
        // One lost its node, and its record its end: 20,615 seconds of run time say it.
        let job = site.jobs().find(|job| job.id == Some(10)).expect("job 10");
        assert_eq!((job.start, job.end), (Some(1_680_193_504), Some(1_680_193_504 + 20_615)));
        assert_eq!(rule(&site, "derived"), (0, 1));
    }
}

#[test]
fn columns_of_one_version_all_of_them() {
    let Some(dump) = shared("sacct/tdhock-cedar-allcols.tsv") else { return };
    let site = imported(&[dump], &utc());
    assert_eq!((site.manifest.rows, site.len(), rule(&site, "step").0), (1, 1, 2));
    assert!(site.manifest.ignored_columns.contains(&"AveCPUFreq".to_string()), "{:?}", site.manifest.ignored_columns);
}

#[test]
fn five_columns_are_too_few_and_the_command_is_said() {
    for name in ["sacct/tdhock-multistep.txt", "sacct/tdhock-2019-11-21.csv.gz"] {
        let Some(dump) = shared(name) else { return };
        let error = crate::common::try_import(&[dump], &utc()).expect_err("no times").to_string();
        assert!(error.contains("Submit") && error.contains("sacct -a"), "{error}");
    }
}

#[test]
fn records_of_pbs_and_torque() {
    if let Some(dump) = shared("pbs-lsf-sge/xdmod-pbs.log") {
        // Nine records of ends, two of them of one job.
        let site = imported(&[dump], &ImportOptions::default());
        assert_eq!((site.manifest.rows, site.len(), rule(&site, "dup").0), (9, 8, 1));
        let job = site.jobs().find(|job| job.id == Some(6)).expect("job 6");
        assert_eq!((job.submit, job.start, job.end), (1_261_424_924, Some(1_261_425_023), Some(1_261_427_220)));
        assert_eq!((job.cpus, job.nodes, job.limit), (Some(32), Some(4), 4 * 3_600));
    }
    if let Some(dump) = shared("pbs-lsf-sge/pbs-pro-and-torque-records.txt") {
        let site = imported(&[dump], &ImportOptions::default());
        // Q and E of one job, E of another, and R of a third, which waits again. D, A and a are of
        // jobs that were submitted before, Y and C of none.
        assert_eq!((site.manifest.rows, site.len(), rule(&site, "no-times").0, rule(&site, "record").0), (7, 4, 3, 2));
        let again: Vec<(u16, &str, Option<i64>)> = site
            .jobs()
            .filter(|job| job.id == Some(4_400_521))
            .map(|job| (job.attempt, job.kind.name(), job.eligible))
            .collect();
        assert_eq!(again, [(1, "ran", Some(1_744_751_276)), (2, "waiting", Some(1_744_751_698))]);
        let has_warning = site
            .manifest
            .warnings
            .iter()
            .any(|text| text.contains("delete, abort or change and that have no other record: 3;"));
        assert!(has_warning, "{:?}", site.manifest.warnings);
        let job = site.jobs().find(|job| job.id == Some(4_413_086)).expect("job 4413086");
        assert_eq!((job.submit, job.start, job.cpus, job.gpus), (1_744_817_013, Some(1_744_817_058), Some(1), Some(1)));
    }
}

#[test]
fn records_of_lsf() {
    let Some(dump) = shared("pbs-lsf-sge/xdmod-lsf.log") else { return };
    let site = imported(&[dump], &ImportOptions::default());
    let job = site.job_at(0);
    assert_eq!((job.id, job.cpus, job.nodes), (Some(404_717), Some(128), Some(8)));
    assert_eq!((job.submit, job.start, job.end), (1_389_642_318, Some(1_389_642_771), Some(1_389_683_139)));
    assert_eq!((job.user.as_ref(), job.partition.as_ref()), ("anonuser", "regular"));
}

#[test]
fn a_log_comes_back_as_it_was() {
    let names = ["KTH-SP2-1996-2.1-cln.swf.gz", "SDSC-SP2-1998-4.2-cln.swf.gz", "CTC-SP2-1996-3.1-cln.swf.gz"];
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let traces = std::env::var_os("DRYSTONE_SHARED").map_or_else(default, std::path::PathBuf::from).join("traces");
    let mut log_count = 0;
    for log in names.iter().map(|name| traces.join(name)).filter(|log| log.exists()) {
        let site = imported(std::slice::from_ref(&log), &ImportOptions::default());
        let (_folder, site) = crate::common::through_folder(&site);
        let mut output = Vec::new();
        std::io::Read::read_to_end(&mut site.into_log(0), &mut output).expect("read");
        let mut original = Vec::new();
        let mut decoder = flate2::read::MultiGzDecoder::new(std::fs::File::open(&log).expect("a log"));
        std::io::Read::read_to_end(&mut decoder, &mut original).expect("read");
        let records = |bytes: &[u8]| -> Vec<drystone::log::swf::SwfRecord> {
            let mut reader = drystone::log::swf::SwfReader::new(bytes, "log").expect("a log");
            let mut list = Vec::new();
            while let Some(record) = reader.read_record().expect("a record") {
                list.push(drystone::log::swf::SwfRecord { line: 0, ..record });
            }
            list
        };
        assert_eq!(records(&output), records(&original), "{}", log.display());
        log_count += 1;
    }
    if log_count == 0 {
        eprintln!("SKIPPED: no log in {} (set DRYSTONE_SHARED)", traces.display());
    }
}

#[test]
fn a_dump_that_pandas_wrote_again_holds_the_same_jobs() {
    let Some(dump) = shared("simulated-by-slurm/usc-job0.sacct.gz") else { return };
    let Some(python) = python() else { return };
    let folder = Folder::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/frames.py");
    let wrote = Command::new(python).arg(script).arg(&dump).arg(folder.path("")).output().expect("Python runs");
    assert!(wrote.status.success(), "{}", String::from_utf8_lossy(&wrote.stderr));
    let facts_of = |site: &Site| -> Vec<_> {
        let fact_of = |job: drystone_site::SiteJob<'_>| {
            let owner = (job.user.to_string(), job.account.to_string(), job.partition.to_string());
            (job.id, job.submit, job.start, job.end, job.cpus, job.limit, owner)
        };
        site.jobs().map(fact_of).collect()
    };
    let expected = facts_of(&imported(&[dump], &utc()));
    let names = String::from_utf8_lossy(&wrote.stdout).into_owned();
    assert!(names.lines().count() >= 5, "{names}");
    for name in names.lines() {
        let site = imported(&[folder.path(name)], &utc());
        assert_eq!((site.manifest.bad_rows, rule(&site, "field").0), (0, 0), "{name}");
        assert!(facts_of(&site) == expected, "{name}: other jobs than the dump has");
    }
}
