//! The reader and the writer: what is read is what was written, and what cannot be read is said
//! clearly.

#[path = "../../../../fuzz/properties/swf.rs"]
mod properties;

use drystone::log::clean::CleaningOptions;
use drystone::log::swf::{Preemption, SwfDecimal, SwfHeader, SwfReader, SwfRecord, SwfWriter};
use drystone::log::{self, LogError, source};
use proptest::prelude::*;
use std::io::{Read, Write};

const RECORD: &str = "1 0 10 3600 64 142.00 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1";

fn read_all(text: &[u8]) -> Result<(SwfHeader, Vec<SwfRecord>), LogError> {
    let mut reader = SwfReader::new(text, "log.swf")?;
    let records = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((reader.into_header().0, records))
}

fn message(text: &[u8]) -> String {
    read_all(text).expect_err("a bad log").to_string()
}

#[test]
fn all_fields_are_where_they_belong() {
    let text = "1 2.5 3 4 5 6.75 7 8 9 10 11 12 13 14 15 16 17 18";
    let (_, records) = read_all(text.as_bytes()).expect("a good log");
    let decimal = |digits, decimals| SwfDecimal::new(digits, decimals).expect("few decimals");
    let expected = SwfRecord {
        number: 1,
        submit: decimal(25, 1),
        wait: 3.into(),
        run: 4.into(),
        allocated: 5,
        cpu_time: decimal(675, 2),
        used_memory: 7.into(),
        requested: 8,
        requested_time: 9.into(),
        requested_memory: 10.into(),
        status: 11,
        user: 12,
        group: 13,
        executable: 14,
        queue: 15,
        partition: 16,
        preceding: 17,
        think_time: 18.into(),
        line: 1,
    };
    assert_eq!(records, [expected]);
}

#[test]
fn line_ends_blanks_and_comments_may_vary() {
    let tabs = RECORD.replace(' ', "\t");
    for (text, lines) in [
        (format!("{RECORD}\n{RECORD}\n"), [1, 2]),
        (format!("{RECORD}\r\n{RECORD}\r\n"), [1, 2]),
        (format!("{RECORD}\n{RECORD}"), [1, 2]),
        (format!("\n  \n{tabs}\n\n  {RECORD} \t\n\n"), [3, 5]),
        (format!("; a\n{RECORD}\n ; b\n{RECORD}\n;"), [2, 4]),
        (format!("\u{feff}; a\n{RECORD}\n{RECORD}"), [2, 3]),
    ] {
        let (_, records) = read_all(text.as_bytes()).expect(&text);
        let [first, second] = records.as_slice() else { panic!("{text:?}: {records:?}") };
        assert_eq!([first.line, second.line], lines, "{text:?}");
        assert_eq!(SwfRecord { line: 0, ..*first }, SwfRecord { line: 0, ..*second }, "{text:?}");
    }
}

#[test]
fn columns_beyond_the_format_are_counted_and_named_once() {
    let names = "id submit wait runtime cpus c m q w r s u g a q2 p pre think DAG_name Task_ID";
    let text = format!("{names}\n{RECORD} flow-a 1\n{RECORD} flow-b\n{RECORD}\n");
    for careful in [false, true] {
        let mut reader = SwfReader::new(text.as_bytes(), "log.swf").expect("starts").with_care(careful);
        let records: Vec<SwfRecord> = reader.by_ref().map(|record| record.expect("a record")).collect();
        assert!(records.iter().all(|record| SwfRecord { line: 0, ..*record } == SwfRecord { line: 0, ..records[2] }));
        assert_eq!((records.len(), records[0].line), (3, 2));
        let description = reader.describe_extra_data().expect("said");
        assert_eq!(
            description,
            "2 records have up to 2 columns beyond the 18 of the format (DAG_name, Task_ID), which are left out"
        );
    }
    // Words in fields that can be without are unknown; numbers in another form are mistakes.
    let text = "; MaxProcs: 4\n1 0 10 60 2 -1 -1 2 100 ecc 1 1 1 1 1 1 {7,7,7} -1 0\n";
    let mut reader = SwfReader::new(text.as_bytes(), "log.swf").expect("starts");
    let record = reader.read_record().expect("read").expect("one");
    assert_eq!((record.requested_memory.round(), record.preceding, record.requested), (-1, -1, 2));
    assert!(
        reader
            .describe_extra_data()
            .is_some_and(|remark| remark.contains("1 record has 1 column beyond") && remark.contains("words"))
    );
    // Users, groups, executables, queues and partitions may have names: equal ones, equal numbers.
    let row = |user: &str, rest: &str| format!("1 0 10 60 2 -1 -1 2 100 -1 1 {user} {rest} -1 -1\n");
    let text = [row("ada", "staff a.out gpu p1"), row("bob", "staff 7 cpu -1"), row("ada", "5 b.out gpu ada")].concat();
    for careful in [false, true] {
        let mut reader = SwfReader::new(text.as_bytes(), "log.swf").expect("starts").with_care(careful);
        let records: Vec<SwfRecord> = reader.by_ref().map(|record| record.expect("a record")).collect();
        let base = 1_000_000_001;
        let ids: Vec<_> = records.iter().map(|r| [r.user, r.group, r.executable, r.queue, r.partition]).collect();
        let expected =
            [[base, base, base, base, base], [base + 1, base, 7, base + 1, -1], [base, 5, base + 1, base, base + 1]];
        assert_eq!(ids, expected);
        assert!(reader.describe_extra_data().is_some_and(|remark| remark.starts_with("3 records have names of users")));
    }
    // One line that names no fields is no header.
    let text = "one two three\n1 0 10 60 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1\n";
    assert!(SwfReader::new(text.as_bytes(), "log.swf").expect("starts").read_record().is_err());
}

#[test]
fn malformed_lines_are_named_with_place_expectation_and_remedy() {
    let remedy = "; fix the line, or read leniently (--lenient) to skip and count such lines";
    for (line, problem) in [
        ("1 0 10 3600 64", "15: expected 18 fields, found the end of the line after 5"),
        ("1 0 x4 3600 64", "5: expected a number for field 3 (wait time), found `x4`"),
        ("1.5 0", "1: expected a whole number for field 1 (job number), found `1.5`"),
        ("1 0 10 3600 -", "13: expected a whole number for field 5 (allocated processors), found `-`"),
        (
            "1 5. 3",
            "3: expected a number for field 2 (submit time) in plain digits, such as `10.5` or `-1`, found `5.`",
        ),
        (
            "1 .5 3",
            "3: expected a number for field 2 (submit time) in plain digits, such as `10.5` or `-1`, found `.5`",
        ),
        (
            "1 1e2 3",
            "3: expected a number for field 2 (submit time) in plain digits, such as `10.5` or `-1`, found `1e2`",
        ),
        (
            "+100 5",
            "1: expected a whole number for field 1 (job number) in plain digits, such as `100` or `-1`, found `+100`",
        ),
        ("1 nan 3", "3: expected a number for field 2 (submit time), found `nan`"),
        (
            "1 0 1 1 99999999999999999999",
            "9: expected a number of at most 64 bits for field 5 (allocated processors), found `99999999999999999999`",
        ),
        (
            "1 1099511627777",
            "3: expected a time within ±1099511627776 s for field 2 (submit time), found `1099511627777`",
        ),
        ("\x7fELF\x02\0", "1: expected a whole number for field 1 (job number), found `\\x7fELF\\x02\\x00`"),
        (
            "nonsense nonsense nonsense nonsense",
            "1: expected a whole number for field 1 (job number), found `nonsense`",
        ),
    ] {
        let text = format!("; MaxProcs: 4\n{RECORD}\n{line}\n{RECORD}\n");
        assert_eq!(message(text.as_bytes()), format!("log.swf:3:{problem}{remedy}"));
        let mut reader = SwfReader::new(text.as_bytes(), "log.swf").expect("starts").with_leniency(true);
        assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 2);
        let (count, samples) = reader.malformed_lines();
        assert_eq!((count, samples[0].line), (1, 3));
        assert_eq!(samples[0].to_string(), format!("3:{problem}"));
    }
}

#[test]
fn after_a_malformed_line_reading_goes_on_where_asked() {
    let text = format!("{RECORD}\nbad\n{RECORD}\n");
    let mut reader = SwfReader::new(text.as_bytes(), "log.swf").expect("starts");
    assert!(reader.read_record().is_ok_and(|r| r.is_some()));
    assert!(reader.read_record().is_err());
    assert!(reader.read_record().is_ok_and(|r| r.is_some_and(|r| r.line == 3)));
    assert!(reader.read_record().is_ok_and(|r| r.is_none()));
    assert!(reader.read_record().is_ok_and(|r| r.is_none()));
}

#[test]
fn a_line_without_end_is_no_log() {
    let endless = vec![b'1'; 3_000_000];
    assert_eq!(
        message(&endless),
        "log.swf:1: the line is longer than 262144 bytes; this is not a log in Standard Workload Format"
    );
}

#[test]
fn times_at_the_limit_pass_and_memory_may_be_anything() {
    let text = "1 -1099511627776 1099511627776 1 1 -1 9223372036854775807 1 1 -9223372036854775808 1 1 1 1 1 1 -1 -1";
    let (_, records) = read_all(text.as_bytes()).expect("a good log");
    assert_eq!(records[0].submit, SwfDecimal::from(-(1 << 40)));
    assert_eq!(records[0].used_memory.digits(), i64::MAX);
    assert_eq!(records[0].requested_memory.digits(), i64::MIN);
}

const HEADER: &str = "\
; Version: 2.2
; Computer: IBM SP2
;Installation: Somewhere (SW)
; Acknowledge: A
; acknowledge: B
; Information: http://one.example/
;              http://two.example/
; Conversion: C
; MaxJobs: 10
; MaxRecords: 12
; Preemption: Double
; UnixStartTime: 843480031
; TimeZone: -18000
; TimeZoneString: US/Eastern
; StartTime: Mon Sep 23 14:00:31 CEST 1996
; EndTime:   Fri Aug 29 10:55:01 CEST 1997
; MaxNodes: 338 (batch partition; 512 total)
; MaxProcs: many
; MaxRuntime: 64800
; MaxMemory: 1048576
; AllowOveruse: Yes
; MaxQueues: 2
; Queues: classes
; Queue:  0  interactive
; Queue: 1 night: long
; MaxPartitions: 1
; Partitions: one
; Partition: 1 batch
; Copyright: D
;   and others
;
; Note: first
; Note: second
;       more of it
; no field here
";

#[test]
fn header_fields_are_read_by_type() {
    let (header, _) = read_all(HEADER.as_bytes()).expect("a header");
    let text = |s: &str| Some(s.to_string());
    assert_eq!(header.version(), text("2.2"));
    assert_eq!(header.computer(), text("IBM SP2"));
    assert_eq!(header.unreadable_fields(), [("MaxProcs", "many".to_string())]);
    assert_eq!(header.installation(), text("Somewhere (SW)"));
    assert_eq!(header.acknowledgements(), ["A", "B"]);
    assert_eq!(header.information(), ["http://one.example/\nhttp://two.example/"]);
    assert_eq!(header.conversion(), text("C"));
    assert_eq!(header.max_jobs(), Some(10));
    assert_eq!(header.max_records(), Some(12));
    assert_eq!(header.preemption(), Some(Preemption::Double));
    assert_eq!(header.unix_start(), Some(843_480_031));
    assert_eq!(header.utc_offset(), Some(-18_000));
    assert_eq!(header.time_zone(), text("US/Eastern"));
    assert_eq!(header.start_time(), text("Mon Sep 23 14:00:31 CEST 1996"));
    assert_eq!(header.end_time(), text("Fri Aug 29 10:55:01 CEST 1997"));
    assert_eq!(header.max_nodes(), Some(338));
    assert_eq!(header.max_procs(), None);
    assert_eq!(header.max_runtime(), Some(64_800));
    assert_eq!(header.max_memory(), Some(1_048_576));
    assert_eq!(header.allow_overuse(), Some(true));
    assert_eq!(header.max_queues(), Some(2));
    assert_eq!(header.queues_text(), text("classes"));
    assert_eq!(header.queues(), [(0, "interactive".to_string()), (1, "night: long".to_string())]);
    assert_eq!(header.max_partitions(), Some(1));
    assert_eq!(header.partitions_text(), text("one"));
    assert_eq!(header.partitions(), [(1, "batch".to_string())]);
    assert_eq!(header.find_text("Copyright"), text("D\nand others"));
    assert_eq!(header.notes(), ["first", "second\nmore of it"]);
    let mut again = Vec::new();
    SwfWriter::new(&mut again).write_log(&header, []).expect("memory takes all");
    assert_eq!(String::from_utf8(again).expect("text"), HEADER);
}

#[test]
fn setting_a_field_replaces_it_in_its_place() {
    let (mut header, _) = read_all(b"; A: 1\n; MaxProcs: 4\n; B: 2\n").expect("a header");
    header.set_field("maxprocs", "8");
    header.set_field("Note", "two\nlines");
    let mut text = Vec::new();
    SwfWriter::new(&mut text).write_log(&header, []).expect("memory takes all");
    assert_eq!(String::from_utf8(text).expect("text"), "; A: 1\n; maxprocs: 8\n; B: 2\n; Note: two lines\n");
}

#[test]
fn comments_keep_their_bytes_and_their_places() {
    let text = b"; \xfftop\n    1        0     10   3600   64 142.00    -1   64   7200    -1  1   5   1  -1  0 -1 -1 -1\n;middle\n    2        0     10   3600   64     -1    -1   64   7200    -1  1   5   1  -1  0 -1 -1 -1\n; end\n";
    let (header, records) = read_all(text).expect("a good log");
    let mut again = Vec::new();
    SwfWriter::new(&mut again).write_log(&header, &records).expect("memory takes all");
    assert_eq!(again, text);
}

fn load_error(bytes: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes).expect("writes");
    let outcome = log::load_log(file.path(), &CleaningOptions::default()).map(|log| log.audit);
    let error = outcome.expect_err("a bad log");
    error.to_string().replace(&file.path().display().to_string(), "FILE")
}

#[test]
fn bad_files_are_told_apart() {
    assert_eq!(
        load_error(b""),
        "FILE: no record in 0 lines; expected a log in Standard Workload Format, 18 numbers a line"
    );
    assert_eq!(
        load_error(b"; only\n; comments\n\n"),
        "FILE: no record in 3 lines; expected a log in Standard Workload Format, 18 numbers a line"
    );
    assert_eq!(
        load_error(RECORD.as_bytes()),
        "FILE: the header gives neither MaxProcs nor MaxNodes above 0, so the machine's size is unknown; give it (--procs N)"
    );
    let error = load_error(b"\xfd7zXZ\0rest");
    assert!(error.starts_with("FILE") && error.contains("the compressed data ends too soon"), "{error}");
    assert!(load_error(b"PK\x03\x04rest").contains("zip, which cannot be read here"));
    let missing = log::load_log("no/such/file.swf", &CleaningOptions::default()).expect_err("missing");
    assert!(missing.to_string().starts_with("no/such/file.swf: cannot be opened: "), "{missing}");
    let directory = tempfile::tempdir().expect("a directory");
    assert!(log::load_log(directory.path(), &CleaningOptions::default()).is_err());
}

/// A log of some length, and compressed.
fn compressed(ending: &str) -> (String, Vec<u8>) {
    let mut text = "; MaxProcs: 64\n".to_string();
    for number in 1..=20_000 {
        text += &format!("{number} {number} 10 3600 64 -1 -1 64 7200 -1 1 5 1 -1 0 -1 -1 -1\n");
    }
    let bytes = match ending {
        "gz" => {
            let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            out.write_all(text.as_bytes()).expect("writes");
            out.finish().expect("finishes")
        }
        "zst" => {
            let mut out = zstd::Encoder::new(Vec::new(), 3).expect("starts");
            // As the program zstd does; without it damage may go unnoticed.
            out.include_checksum(true).expect("can");
            out.write_all(text.as_bytes()).expect("writes");
            out.finish().expect("finishes")
        }
        _ => text.clone().into_bytes(),
    };
    (text, bytes)
}

#[test]
fn compression_is_known_by_content() {
    let directory = tempfile::tempdir().expect("a directory");
    // Whatever it is called.
    let path = directory.path().join("log.txt");
    for ending in ["swf", "gz", "zst"] {
        let (text, bytes) = compressed(ending);
        std::fs::write(&path, bytes).expect("writes");
        let mut again = String::new();
        source::open_log(&path).expect("opens").bytes.read_to_string(&mut again).expect("reads");
        assert!(again == text, "{ending}");
        let log_result = log::load_log(&path, &CleaningOptions::default()).expect("a good log");
        assert_eq!(log_result.workload.len(), 20_000);
    }
}

#[test]
fn truncated_and_damaged_files_are_told_apart_and_say_how_far_they_were_read() {
    for ending in ["gz", "zst"] {
        let (_, whole) = compressed(ending);
        for keep in [whole.len() - 1, whole.len() / 2, 8] {
            let error = load_error(&whole[..keep]);
            assert!(error.contains("the compressed data ends too soon"), "{ending} {keep}: {error}");
        }
        let mut bad_bytes = whole.clone();
        let middle = bad_bytes.len() / 2;
        bad_bytes[middle..middle + 40].fill(0xa5);
        let error = load_error(&bad_bytes);
        assert!(error.contains("the compressed data is damaged") || error.contains("expected"), "{ending}: {error}");
    }
}

#[test]
fn several_gzip_members_are_one_file() {
    let (_, member) = compressed("gz");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&[member.clone(), member].concat()).expect("writes");
    let log_result = log::load_log(file.path(), &CleaningOptions::default()).expect("a good log");
    assert_eq!(log_result.workload.len(), 40_000);
}

/// Nothing need be missing, so it is not called truncated; the trailing data is reported.
#[test]
fn what_stands_behind_gzip_is_told() {
    let (_, whole) = compressed("gz");
    for rest in ["x", "more", "and more than the head of a member\n", "\0\0\0\0"] {
        let error = load_error(&[&whole, rest.as_bytes()].concat());
        let message = "the compressed data ends after this line and is followed by data that is not gzip";
        assert!(error.contains(message) && !error.contains("truncated"), "{rest:?}: {error}");
    }
    // A second member that is cut off is that.
    for keep in [1, 5, whole.len() - 1] {
        let error = load_error(&[&whole, &whole[..keep]].concat());
        assert!(error.contains("the compressed data ends too soon"), "{keep}: {error}");
    }
}

/// Unknown, or what no calendar has, is no time; what is possible is one, to the very ends.
#[test]
fn times_of_headers_that_cannot_be() {
    for (key, value, read, absurd) in [
        ("UnixStartTime", -1, None, false),
        ("UnixStartTime", -2, None, true),
        ("UnixStartTime", 0, Some(0), false),
        ("UnixStartTime", 253_402_300_799, Some(253_402_300_799), false),
        ("UnixStartTime", 843_480_031_000, None, true),
        ("TimeZone", -1, None, false),
        ("TimeZone", -86_400, Some(-86_400), false),
        ("TimeZone", 99_999_999, None, true),
    ] {
        let mut header = SwfHeader::new();
        header.push(key, &value.to_string());
        assert_eq!(header.unix_start().or(header.utc_offset()), read, "{key} {value}");
        let absurd_values: Vec<(&str, i64)> =
            header.absurd_fields().into_iter().map(|(key, number, _)| (key, number)).collect();
        assert_eq!(absurd_values, if absurd { vec![(key, value)] } else { vec![] }, "{key} {value}");
    }
}

fn decimal() -> impl Strategy<Value = SwfDecimal> {
    prop_oneof![
        4 => Just(SwfDecimal::UNKNOWN),
        8 => (0i64..1_000_000).prop_map(SwfDecimal::from),
        2 => (-1_000_000_000i64..1_000_000_000, 0u8..=9)
            .prop_map(|(digits, decimals)| SwfDecimal::new(digits, decimals).expect("few decimals")),
        1 => (-(1i64 << 40)..=1 << 40).prop_map(SwfDecimal::from),
    ]
}

fn whole() -> impl Strategy<Value = i64> {
    prop_oneof![4 => Just(-1), 8 => 0i64..100_000, 1 => any::<i64>()]
}

prop_compose! {
    fn record()(
        times in prop::array::uniform8(decimal()),
        wholes in prop::array::uniform10(whole()),
    ) -> SwfRecord {
        let [submit, wait, run, cpu_time, used_memory, requested_time, requested_memory, think_time] = times;
        let [number, allocated, requested, status, user, group, executable, queue, partition, preceding] = wholes;
        SwfRecord {
            number, submit, wait, run, allocated, cpu_time, used_memory, requested, requested_time, requested_memory,
            status, user, group, executable, queue, partition, preceding, think_time, line: 0,
        }
    }
}

/// Words as they may stand in a line: mostly numbers, sometimes what is none.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => whole().prop_map(|n| n.to_string()),
        4 => decimal().prop_map(|d| d.to_string()),
        1 => "[-.0-9]{1,24}",
        1 => "[ -~]{0,4}",
    ]
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (prop::collection::vec(word(), 18), "[ \t]{1,3}").prop_map(|(words, gap)| words.join(&gap)),
        1 => prop::collection::vec(word(), 0..22).prop_map(|words| words.join(" ")),
        1 => "[ ]{0,2};[ -~]{0,30}",
        1 => "; MaxProcs: [0-9]{1,4}",
    ]
}

proptest! {
    #[test]
    fn reading_gives_back_what_was_written(records in prop::collection::vec(record(), 0..40)) {
        let mut text = Vec::new();
        SwfWriter::new(&mut text).write_log(&SwfHeader::new(), &records).expect("memory takes all");
        let (_, mut again) = read_all(&text).expect("a good log");
        again.iter_mut().for_each(|record| record.line = 0);
        prop_assert_eq!(again, records);
    }

    #[test]
    fn every_property_holds_of_lines_that_resemble_logs(
        lines in prop::collection::vec(line(), 0..12),
        end in prop_oneof![Just("\n"), Just("\r\n")],
        closed in any::<bool>(),
    ) {
        let mut text = lines.join(end);
        if closed {
            text += end;
        }
        properties::hold(text.as_bytes());
    }

    #[test]
    fn every_property_holds_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        properties::hold(&bytes);
    }
}

#[test]
fn every_property_holds_of_the_kept_corpus() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/swf");
    let mut files = 0;
    for entry in std::fs::read_dir(&corpus).expect("the corpus is kept with the project") {
        properties::hold(&std::fs::read(entry.expect("an entry").path()).expect("reads"));
        files += 1;
    }
    assert!(files >= 10, "only {files} files in {}", corpus.display());
}

/// A number that goes on is not cut: 1,152 processors are not one.
#[test]
fn numbers_of_the_header_are_read_whole_or_not_at_all() {
    for (text, number) in [
        ("1152", Some(1152)),
        ("-1", Some(-1)),
        ("338 (batch partition; 512 total)", Some(338)),
        ("128; see notes", Some(128)),
        ("144 nodes", Some(144)),
        ("1024, all alike", Some(1024)),
        ("1,152", None),
        ("1 152", None),
        ("1'152", None),
        ("1_152", None),
        ("12.5", None),
        ("8.5e8", None),
        ("1e3", None),
        ("2^10", None),
        ("12k", None),
        ("about 128", None),
    ] {
        let mut header = SwfHeader::new();
        header.push("MaxProcs", text);
        assert_eq!(header.max_procs(), number, "{text}");
        let unreadable = if number.is_none() { vec![("MaxProcs", text.to_string())] } else { Vec::new() };
        assert_eq!(header.unreadable_fields(), unreadable, "{text}");
    }
}
