//! The archive's logs: job counts, rewriting byte for byte, and the very jobs that independent
//! implementations simulated.
//!
//! The logs are no part of the project. Where they are missing, these tests say so and pass.

use drystone::log::clean::{CleaningOptions, CleaningRule, CleaningStudy};
use drystone::log::swf::{SwfReader, SwfWriter};
use drystone::log::transform::{calendar_months, talby1999_months};
use drystone::log::{self, LoadedLog, source};
use std::io::Read;
use std::path::PathBuf;

/// A file shared beside the checkout, or `None` with a loud line.
fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let file = root.join(path);
    if file.exists() {
        Some(file)
    } else {
        eprintln!("SKIPPED: {} is missing (set DRYSTONE_SHARED)", file.display());
        None
    }
}

const KTH: &str = "KTH-SP2-1996-2.1-cln";
const KTH_RAW: &str = "KTH-SP2-1996-2";
const CTC: &str = "CTC-SP2-1996-3.1-cln";
const SP2: &str = "SDSC-SP2-1998-4.2-cln";
const BLUE: &str = "SDSC-BLUE-2000-4.1-cln";
const PARAGON: &str = "SDSC-Par-1996-3.1-cln";

fn trace(name: &str) -> Option<PathBuf> {
    shared(&format!("traces/{name}.swf.gz"))
}

fn text(path: &std::path::Path) -> Vec<u8> {
    let mut text = Vec::new();
    source::open_log(path).expect("opens").bytes.read_to_end(&mut text).expect("reads");
    text
}

fn loaded(name: &str, options: &CleaningOptions) -> Option<LoadedLog> {
    Some(log::load_log(trace(name)?, options).expect("a good log"))
}

#[test]
fn every_log_has_the_records_and_the_machine_of_the_index() {
    for (name, records, procs) in [
        (KTH, 28_476, 100),
        (KTH_RAW, 28_489, 100),
        (CTC, 77_222, 338),
        (SP2, 59_715, 128),
        (BLUE, 243_314, 1_152),
        (PARAGON, 32_135, 400),
    ] {
        let Some(path) = trace(name) else { return };
        let source = source::open_log(&path).expect("opens");
        let mut reader = SwfReader::new(source.bytes, source.name).expect("starts");
        assert_eq!(reader.header().max_procs(), Some(procs), "{name}");
        let mut lines = Vec::new();
        while let Some(record) = reader.read_record().expect(name) {
            lines.push(record);
        }
        assert_eq!(lines.len(), records, "{name}");
        // The careful way reads the same.
        let source = source::open_log(&path).expect("opens");
        let careful: Vec<_> = SwfReader::new(source.bytes, source.name)
            .expect("starts")
            .with_care(true)
            .map(|r| r.expect("a record"))
            .collect();
        assert!(lines == careful, "{name}: the two ways of reading differ");
    }
}

#[test]
fn rewriting_a_log_changes_no_byte() {
    for name in [KTH, KTH_RAW, CTC, SP2, BLUE, PARAGON] {
        let Some(path) = trace(name) else { return };
        let before = text(&path);
        let mut reader = SwfReader::new(before.as_slice(), name).expect("starts");
        let mut writer = SwfWriter::new(Vec::new());
        while let Some(record) = reader.read_record().expect(name) {
            writer.write_comments(reader.header()).expect("writes");
            writer.write_record(&record).expect("writes");
        }
        writer.write_comments(reader.header()).expect("writes");
        let after = writer.into_inner();
        let same = before.split(|b| *b == b'\n').zip(after.split(|b| *b == b'\n')).position(|(b, a)| b != a);
        assert_eq!(same.map(|line| line + 1), None, "{name}: first line that differs");
        assert!(before == after, "{name}: another number of lines");
    }
}

/// Numbers and submit times of the jobs in a schedule.
fn golden(path: &str) -> Option<Vec<(i64, i64)>> {
    let text = String::from_utf8(text(&shared(&format!("golden/{path}"))?)).expect("text");
    let mut jobs: Vec<(i64, i64)> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut cells = line.split(',').map(|cell| cell.parse().expect("a number"));
            (cells.next().expect("job_id"), cells.next().expect("submit"))
        })
        .collect();
    jobs.sort_by_key(|(number, submit)| (*submit, *number));
    Some(jobs)
}

/// Numbers and submit times of the jobs in a workload.
fn jobs(log: &LoadedLog) -> Vec<(i64, i64)> {
    let w = &log.workload;
    let mut jobs: Vec<_> = w.jobs().iter().zip(w.truth()).map(|(j, t)| (t.number, j.submit.0)).collect();
    jobs.sort_by_key(|(number, submit)| (*submit, *number));
    jobs
}

#[test]
fn presets_produce_the_jobs_that_were_simulated() {
    let kettimuthu = CleaningStudy::Kettimuthu2005.options();
    let first = CleaningOptions { take: Some(5_000), ..kettimuthu.clone() };
    let loaded_more = CleaningOptions { load: Some("1.2".parse().expect("1.2")), ..first.clone() };
    let cases = [
        ("easy/KTH-SP2-1996-2.1-cln.EASY.csv.gz", CleaningStudy::Tsafrir2007.options()),
        ("preempt/kth-ns.csv.gz", kettimuthu),
        ("preempt/kth5000-ns.csv.gz", first),
        ("preempt/kth5000-ss2-load1.2.csv.gz", loaded_more),
        ("multiqueue/kth-single.csv.gz", CleaningStudy::Lawson2002.options()),
        ("slack/event.cons.p128.year.csv.gz", CleaningStudy::Talby1999.options()),
        ("slack/event.cons.p128.month.csv.gz", CleaningStudy::Talby1999.options()),
    ];
    for (path, options) in cases {
        let Some(expected) = golden(path) else { return };
        let Some(log) = loaded(KTH, &options) else {
            return;
        };
        assert!(jobs(&log) == expected, "{path}: other jobs");
    }
}

#[test]
fn gaussiers_filter_leaves_as_many_jobs_as_published() {
    for (name, jobs, procs) in [(KTH_RAW, 28_481, 100), (CTC, 77_199, 338)] {
        let Some(log) = loaded(name, &CleaningStudy::Gaussier2015.options()) else {
            return;
        };
        assert_eq!(log.workload.len(), jobs, "{name}");
        assert_eq!(log.workload.machine().procs, procs, "{name}");
        assert_eq!(log.audit.dropped_count() + jobs as u64, log.audit.records, "{name}");
    }
}

#[test]
fn studies_know_their_machines_and_a_given_size_goes_before() {
    for (name, study, procs) in [
        (CTC, CleaningStudy::Tsafrir2007, 512),
        (CTC, CleaningStudy::Kettimuthu2005, 430),
        (CTC, CleaningStudy::Lawson2002, 512),
        (KTH, CleaningStudy::Talby1999, 128),
        (KTH, CleaningStudy::Tsafrir2007, 100),
        (PARAGON, CleaningStudy::Lawson2002, 416),
        (SP2, CleaningStudy::Tsafrir2007, 128),
        (BLUE, CleaningStudy::Tsafrir2007, 1_152),
    ] {
        let Some(l) = loaded(name, &study.options()) else {
            return;
        };
        assert_eq!(l.workload.machine().procs, procs, "{name} as {study}");
    }
    let options = CleaningOptions { procs: Some(340), ..CleaningStudy::Tsafrir2007.options() };
    let Some(l) = loaded(CTC, &options) else { return };
    assert_eq!(l.workload.machine().procs, 340);
}

/// The numbers are counted by a few lines of awk over the raw text, not by this library.
#[test]
fn the_audit_counts_the_quirks_of_the_logs() {
    // SDSC SP2: cancelled before start, without run time or allocation; 66 without an estimate.
    let Some(sp2) = loaded(SP2, &CleaningOptions::default()) else {
        return;
    };
    assert_eq!(sp2.audit.count_touched(CleaningRule::NegativeRun), 5_671);
    let tsafrir = loaded(SP2, &CleaningStudy::Tsafrir2007.options()).expect("present");
    assert_eq!(
        tsafrir.audit.count_touched(CleaningRule::NegativeRun)
            + tsafrir.audit.count_touched(CleaningRule::NoProcessors),
        5_671
    );
    // BLUE: 10,746 negative run times; of the 19,518 records without allocation 8,899 carry a run
    // time.
    let blue = loaded(BLUE, &CleaningStudy::Tsafrir2007.options()).expect("present");
    assert_eq!(blue.audit.count_touched(CleaningRule::NegativeRun), 10_746);
    assert_eq!(blue.audit.count_touched(CleaningRule::NoProcessors), 8_899);
    assert_eq!(blue.audit.count_touched(CleaningRule::OtherSizeField), 0);
    // CTC: no requested processors at all; 7,174 run past their estimates, 9.3 %.
    let ctc = loaded(CTC, &CleaningOptions::default()).expect("present");
    assert_eq!(ctc.audit.count_touched(CleaningRule::OtherSizeField), 77_222);
    assert_eq!(ctc.audit.count_touched(CleaningRule::GuessedEstimate), 6);
    assert_eq!(ctc.audit.count_touched(CleaningRule::RunsOn), 7_174);
    // PARAGON: no estimates at all.
    let paragon = loaded(PARAGON, &CleaningOptions::default()).expect("present");
    assert_eq!(paragon.audit.count_touched(CleaningRule::GuessedEstimate), 32_135);
    let kth = loaded(KTH, &CleaningOptions::default()).expect("present");
    assert_eq!(
        (kth.audit.count_touched(CleaningRule::NoProcessors), kth.audit.count_touched(CleaningRule::RunsOn)),
        (1, 475)
    );
}

/// Months in three-letter form, as the list of the jobs of Talby & Feitelson has them.
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[test]
fn talbys_jobs_are_the_listed_ones() {
    let Some(list) = shared("golden/slack/paper.input.csv.gz") else {
        return;
    };
    let Some(log) = loaded(KTH_RAW, &CleaningOptions { records: true, ..CleaningOptions::default() }) else {
        return;
    };
    // job_id,month,submit,procs,declared,run
    let list = String::from_utf8(text(&list)).expect("text");
    let mut expected: Vec<String> = list.lines().skip(1).map(str::to_string).collect();
    let records = log.records.expect("kept");
    let months = talby1999_months(&log.header, &records, KTH_RAW).expect("a calendar");
    assert_eq!(months.len(), 12);
    let mut jobs = Vec::new();
    for (month, workload) in &months {
        assert_eq!(workload.machine().procs, 128);
        let number: usize = month.split_once('-').and_then(|(_, m)| m.parse().ok()).expect("a month");
        let name = MONTHS[number - 1];
        for (job, truth) in workload.jobs().iter().zip(workload.truth()) {
            jobs.push(format!("{},{name},{},{},{},{}", truth.number, job.submit, job.procs, job.estimate, truth.run));
        }
    }
    // Where the list has the logged run times, the workload's are cut at the estimate, as its
    // options say.
    for line in &mut expected {
        let mut cells: Vec<String> = line.split(',').map(str::to_string).collect();
        let number = |cell: &str| cell.parse::<i64>().expect("a number");
        cells[5] = number(&cells[5]).min(number(&cells[4])).to_string();
        *line = cells.join(",");
    }
    jobs.sort();
    expected.sort();
    let differ = jobs.iter().zip(&expected).find(|(job, line)| job != line);
    assert_eq!(differ, None);
    assert_eq!(jobs.len(), expected.len());
}

/// Stockholm set its clocks back on 1996-10-27 at 01:00 UTC and forth on 1997-03-30; the bounds
/// below are local midnights computed by hand from that.
#[test]
fn kths_months_begin_at_swedish_midnight() {
    let Some(log) = loaded(KTH, &CleaningStudy::Talby1999.options()) else {
        return;
    };
    let start = log.workload.provenance.unix_start.expect("a start");
    let months = calendar_months(&log.workload).expect("a calendar");
    assert_eq!(months.len(), 12);
    assert_eq!(months.iter().map(|(_, places)| places.len()).sum::<usize>(), log.workload.len());
    let midnights = [
        ("1996-09", 841_528_800),
        ("1996-10", 844_120_800),
        ("1996-11", 846_802_800),
        ("1996-12", 849_394_800),
        ("1997-01", 852_073_200),
        ("1997-02", 854_751_600),
        ("1997-03", 857_170_800),
        ("1997-04", 859_845_600),
        ("1997-05", 862_437_600),
        ("1997-06", 865_116_000),
        ("1997-07", 867_708_000),
        ("1997-08", 870_386_400),
        ("1997-09", 873_064_800),
    ];
    for ((month, places), bounds) in months.into_iter().zip(midnights.windows(2)) {
        assert_eq!(month, bounds[0].0);
        for job in &log.workload.jobs()[places] {
            assert!((bounds[0].1..bounds[1].1).contains(&(job.submit.0 + start)), "{month}: {job:?}");
        }
    }
}
