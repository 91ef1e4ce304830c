//! Speed of reading, cleaning and writing a log: bytes of plain text per second on one core.
//!
//! The text is made up, with columns and magnitudes like those of the archive's logs.

#![allow(missing_docs)] // What criterion's macros make.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use drystone::log::clean::{Cleaner, CleaningOptions};
use drystone::log::swf::{SwfReader, SwfRecord, SwfWriter};
use std::hint::black_box;

/// Enough not to fit any cache.
const RECORDS: i64 = 400_000;

/// A log as text: numbers from a linear congruential generator.
fn text() -> Vec<u8> {
    let mut seed = 1u64;
    let mut up_to = |limit: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % limit) as i64
    };
    let mut writer = SwfWriter::new(b"; Version: 2.2\n; MaxProcs: 1152\n;\n".to_vec());
    let mut submit = 0;
    for number in 1..=RECORDS {
        submit += up_to(600);
        let procs = 1 << up_to(10);
        // As in logs, most run times are short and estimates are round.
        let magnitude = 1 + up_to(16);
        let run = up_to(1 << magnitude);
        let record = SwfRecord {
            number,
            submit: submit.into(),
            wait: up_to(100_000).into(),
            run: run.into(),
            allocated: procs,
            cpu_time: drystone::log::swf::SwfDecimal::new(run * 97, 2).unwrap_or_default(),
            requested: procs,
            requested_time: (600 * (1 + up_to(200))).into(),
            status: up_to(2),
            user: up_to(500),
            group: up_to(90),
            queue: up_to(6),
            ..SwfRecord::default()
        };
        writer.write_record(&record).expect("writes to memory");
    }
    writer.into_inner()
}

fn swf(criterion: &mut Criterion) {
    let text = text();
    let mut group = criterion.benchmark_group("swf");
    group.throughput(Throughput::Bytes(text.len() as u64)).sample_size(20);
    let read = |careful: bool| {
        let mut reader = SwfReader::new(text.as_slice(), "bench").expect("starts").with_care(careful);
        let mut sum = 0;
        while let Some(record) = reader.read_record().expect("a record") {
            sum += record.run.digits() + black_box(&record).number;
        }
        sum
    };
    group.bench_function("read", |b| b.iter(|| read(false)));
    group.bench_function("read-carefully", |b| b.iter(|| read(true)));
    group.bench_function("read-and-clean", |b| {
        b.iter(|| {
            let mut reader = SwfReader::new(text.as_slice(), "bench").expect("starts");
            let mut cleaner =
                Cleaner::new(reader.header(), CleaningOptions::default(), "bench", "bench").expect("a machine");
            while let Some(record) = reader.read_record().expect("a record") {
                cleaner.push(&record).expect("a good record");
            }
            cleaner.finish().expect("jobs").0.len()
        })
    });
    let records: Vec<SwfRecord> =
        SwfReader::new(text.as_slice(), "bench").expect("starts").map(|record| record.expect("a record")).collect();
    group.bench_function("write", |b| {
        b.iter(|| {
            let mut writer = SwfWriter::new(Vec::with_capacity(text.len()));
            for record in &records {
                writer.write_record(record).expect("writes to memory");
            }
            writer.into_inner().len()
        })
    });
    group.finish();
}

criterion_group!(benches, swf);
criterion_main!(benches);
