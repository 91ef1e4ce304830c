//! Properties of the log reader, for any bytes at all. Used by the fuzzer, and by the tests on the
//! kept corpus.

use drystone::log::clean::{Cleaner, CleaningOptions, CleaningStudy, Overrun, SizeField};
use drystone::log::source;
use drystone::log::swf::{SwfHeader, SwfReader, SwfRecord, SwfWriter};
use drystone::log::{self, LogError};
use drystone::model::LogStatus;
use std::collections::BTreeSet;
use std::io::Read;

/// Hands out its bytes in pieces, so that lines straddle reads.
struct Pieces<'a>(&'a [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.1.min(self.0.len()).min(buffer.len());
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

/// Records and comments, or what was wrong, in words.
type Outcome = Result<(SwfHeader, Vec<SwfRecord>), String>;

fn read(bytes: impl Read, careful: bool) -> Outcome {
    let all = || -> Result<_, LogError> {
        let mut reader = SwfReader::new(bytes, "log")?.with_care(careful);
        let mut records = Vec::new();
        while let Some(record) = reader.read_record()? {
            records.push(record);
        }
        Ok((reader.into_header().0, records))
    };
    all().map_err(|error| error.to_string())
}

/// Checks every property of the reader on these bytes.
pub(crate) fn hold(bytes: &[u8]) {
    let strict = read(bytes, false);
    assert_eq!(strict, read(bytes, true), "the quick and the careful way differ");
    assert_eq!(strict, read(Pieces(bytes, 7), false), "the size of reads matters");
    let mut reader = SwfReader::new(bytes, "log").map(|reader| reader.with_leniency(true));
    if let Ok(reader) = &mut reader {
        let records: Result<Vec<SwfRecord>, LogError> = reader.by_ref().collect();
        match &strict {
            Ok((header, expected)) => {
                assert_eq!(reader.malformed_lines().0, 0, "lenient reading complains of a good log");
                assert_eq!(records.as_ref().ok(), Some(expected));
                assert_eq!(reader.header(), header);
            }
            Err(error) => {
                assert!(records.is_err() || reader.malformed_lines().0 > 0, "lenient reading does not see: {error}")
            }
        }
        if let Ok(records) = records {
            rewritten(reader.header(), &records);
            cleaned(reader.header(), &records);
        }
    }
    // Whatever the bytes pretend to be compressed with.
    if let Ok(source) = source::decompress_log(Box::new(std::io::Cursor::new(bytes.to_vec())), "log".into()) {
        // Bounded, because a few bytes of compressed data may stand for very many.
        let _ = read(source.bytes.take(1 << 20), false);
    }
}

/// Checks that written records read back unchanged, and are written again byte for byte.
fn rewritten(header: &SwfHeader, records: &[SwfRecord]) {
    let write = |header: &SwfHeader, records: &[SwfRecord]| {
        let mut writer = SwfWriter::new(Vec::new());
        writer.write_log(header, records).expect("memory takes all");
        writer.into_inner()
    };
    let text = write(header, records);
    let (again, same) = read(text.as_slice(), false).expect("the written text is a log");
    let without_lines = |records: &[SwfRecord]| -> Vec<SwfRecord> {
        records.iter().map(|record| SwfRecord { line: 0, ..*record }).collect()
    };
    assert_eq!(without_lines(&same), without_lines(records), "records changed");
    assert_eq!(again, *header, "comments changed");
    assert!(write(&again, &same) == text, "the second writing differs from the first");
}

/// Cleaning accounts for every record, and a cleaned log that was written and read gives the same
/// workload.
fn cleaned(header: &SwfHeader, records: &[SwfRecord]) {
    let mut ways: Vec<CleaningOptions> = CleaningStudy::ALL.iter().map(|study| study.options()).collect();
    ways.push(CleaningOptions::default());
    for (size, overrun) in SizeField::ALL.iter().zip(Overrun::ALL) {
        ways.push(CleaningOptions { size: *size, overrun, shift: true, procs: Some(64), ..CleaningOptions::default() });
    }
    for options in ways {
        let options = CleaningOptions { list: true, records: true, ..options };
        let Ok(mut cleaner) = Cleaner::new(header, options, "log", "log") else {
            continue;
        };
        if !records.iter().all(|record| cleaner.push(record).is_ok()) {
            continue;
        }
        let Ok((workload, audit, kept)) = cleaner.finish() else {
            continue;
        };
        assert_eq!(audit.records, records.len() as u64);
        assert_eq!(audit.jobs + audit.dropped_count(), audit.records, "a record is unaccounted for");
        for (rule, count) in audit.rule_counts() {
            // Several fields of one record are listed one by one, and are one record.
            let lines: BTreeSet<u64> = audit.entries.iter().filter(|e| e.rule == rule).map(|e| e.line).collect();
            assert_eq!(count, lines.len() as u64, "{}: what is counted is not what is listed", rule.name());
        }
        let kept = kept.expect("records were asked for");
        assert_eq!(kept.len(), workload.len());
        for (record, truth) in kept.iter().zip(workload.truth()) {
            assert_eq!(record.number, truth.number, "records and jobs are in different orders");
        }
        // Sorting may bring a record of a part, that stood alone, behind one of the same number:
        // read again it would be taken for a part of that job. The format leaves no way to say
        // otherwise.
        let truth = workload.truth();
        if truth.windows(2).any(|two| two[1].status == LogStatus::Partial && two[0].number == two[1].number) {
            continue;
        }
        let mut writer = SwfWriter::new(Vec::new());
        let mut header = SwfHeader::new();
        header.set_field("MaxProcs", &workload.machine().procs.to_string());
        let jobs = workload.jobs().iter().zip(workload.truth());
        let records: Vec<SwfRecord> = jobs.map(|(job, truth)| SwfRecord::from_job(job, truth)).collect();
        writer.write_log(&header, &records).expect("memory takes all");
        let bytes = Box::new(std::io::Cursor::new(writer.into_inner()));
        let source = source::LogFile { bytes, name: "written".into() };
        let again = log::load_from(source, "written", &CleaningOptions::default()).expect("a good log").workload;
        assert_eq!(again.machine(), workload.machine());
        assert!(again.jobs() == workload.jobs() && again.truth() == workload.truth(), "the workload changed");
    }
}
