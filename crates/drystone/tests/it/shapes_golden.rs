//! Jobs of several sizes, and power: cases computed by hand, and schedules of an independent naive
//! simulator, segment by segment.

use crate::common::shared;
use drystone::engine::Segments;
use drystone::experiment::Experiment;
use drystone::log::clean::{CleaningOptions, Overrun};
use drystone::log::power::{CapTable, give_power, read_caps};
use drystone::log::shapes::{give_shapes, read_shapes};
use drystone::metrics::SizeReport;
use drystone::model::{Outage, Outages, PowerCap, Time, Which, Workload};
use drystone::policy::PolicySpec;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Segments of each job, by the log's number: start, end, processors.
type Sizes = BTreeMap<i64, Vec<[i64; 3]>>;

fn simulate(workload: &Workload, policy: &str, outages: Option<&Outages>) -> (Sizes, Segments) {
    let policy: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut segments = Segments::default();
    let experiment = Experiment::new(&policy, workload).with_outages(outages);
    experiment.run(&mut segments).unwrap_or_else(|error| panic!("{policy}: {error}")).expect("nothing stops it");
    let mut sizes = Sizes::new();
    for segment in &segments.list {
        let row = [segment.start.0, segment.end.0, i64::from(segment.procs)];
        sizes.entry(segment.number).or_default().push(row);
    }
    sizes.values_mut().for_each(|rows| rows.sort_unstable());
    (sizes, segments)
}

fn read_log(path: &Path) -> Workload {
    let options = CleaningOptions::default();
    drystone::log::load_log(path, &options).expect("a good log").workload
}

fn shaped(workload: Workload, file: &str, text: &str) -> Workload {
    let table = read_shapes(file, text).expect("a good table");
    give_shapes(workload, &table, Overrun::RunOn).expect("shapes that can be").0
}

fn text(path: &str) -> Option<String> {
    Some(std::fs::read_to_string(shared(path)?).expect("readable"))
}

/// The policy of a case in our words.
fn policy_of(settings: &Value) -> String {
    let mut parts = Vec::new();
    for key in ["shape", "resize", "ladder", "share", "drop"] {
        if let Some(value) = settings.get(key).and_then(Value::as_str) {
            parts.push(format!("{key}={value}"));
        }
    }
    let name = settings.get("policy").and_then(Value::as_str).unwrap_or("easy");
    if parts.is_empty() { name.to_string() } else { format!("{name}({})", parts.join(",")) }
}

fn caps_of(settings: &Value) -> Option<Vec<PowerCap>> {
    let foresees = settings.get("foresight").and_then(Value::as_str) != Some("no");
    let caps = settings.get("caps")?.as_array()?;
    let cap = |row: &Value| {
        let from = Time(row[0].as_i64().expect("a time"));
        let notice = if foresees { Time::MIN } else { from };
        PowerCap { from, watts: row[1].as_u64().expect("watts"), announced: notice }
    };
    Some(caps.iter().map(cap).collect())
}

/// The outages of a case: of unknown end, as its simulator plans.
fn outages_of(settings: &Value, workload: &Workload) -> Option<Outages> {
    let rows = settings.get("outages")?.as_array()?;
    let outage = |row: &Value| {
        let number = |at: usize| row[at].as_i64().expect("a number");
        let which = Which::Count(u32::try_from(number(2)).expect("processors"));
        Outage::new_failure(which, Time(number(0)), Some(Time(number(1))))
    };
    Some(Outages::new(workload.machine(), rows.iter().map(outage).collect()).expect("good outages"))
}

#[test]
fn cases_computed_by_hand_come_out_segment_by_segment() {
    let Some(folder) = shared("golden/shapes") else { return };
    let list = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<_> = list.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    assert!(files.len() >= 25, "{} cases", files.len());
    let mut wrong = String::new();
    for file in files {
        let case: Value = serde_json::from_slice(&std::fs::read(&file).expect("readable")).expect("JSON");
        let lines = |key: &str| -> Option<String> {
            let lines = case.get(key)?.as_array()?.iter().map(|line| line.as_str().expect("text"));
            Some(lines.collect::<Vec<_>>().join("\n"))
        };
        let log = drystone::log::source::LogFile {
            bytes: Box::new(std::io::Cursor::new(lines("swf").expect("a log"))),
            name: "case.swf".into(),
        };
        let options = CleaningOptions::default();
        let mut workload = drystone::log::load_from(log, "case", &options).expect("a good log").workload;
        if let Some(shapes) = lines("shapes") {
            workload = shaped(workload, "case.csv", &shapes);
        }
        let settings = &case["settings"];
        if let Some(caps) = caps_of(settings) {
            workload = give_power(workload, &CapTable::from_caps("caps", caps), 0).expect("caps that can be");
        }
        let expected: Sizes = serde_json::from_value(case["expect"].clone()).expect("segments");
        let outages = outages_of(settings, &workload);
        let policy = policy_of(settings);
        let (sizes, _) = simulate(&workload, &policy, outages.as_ref());
        if sizes != expected {
            let _ = writeln!(wrong, "{}: {policy}\n  {sizes:?}\n  {expected:?}", file.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The settings of the large schedules: name, policy, shapes, caps.
const LARGE: &[(&str, &str, &str, &str)] = &[
    ("rigid", "easy", "malleable-100", ""),
    ("moldable-submit", "easy(shape=submit)", "moldable-100", ""),
    ("moldable-start", "easy(shape=start)", "moldable-100", ""),
    ("moldable-start-now", "easy(shape=start-now)", "moldable-100", ""),
    ("moldable-most", "easy(shape=most)", "moldable-100", ""),
    ("malleable-shrink", "easy(resize=shrink)", "malleable-100", ""),
    ("malleable-grow", "easy(resize=grow)", "malleable-100", ""),
    ("malleable-both", "easy(resize=both)", "malleable-100", ""),
    ("both-min", "easy(resize=both,shape=min)", "malleable-100", ""),
    ("both-pref", "easy-pref", "malleable-100", ""),
    ("both-keep", "easy-keep", "malleable-100", ""),
    ("both-equal", "easy(resize=both,share=equal)", "malleable-100", ""),
    ("both-fpsma", "easy(resize=both,share=fpsma)", "malleable-100", ""),
    ("both-20", "easy(resize=both)", "malleable-20", ""),
    ("both-60", "easy(resize=both)", "malleable-60", ""),
    ("both-costs", "easy(resize=both)", "malleable-100-costs", ""),
    ("rigid-cap-flat", "easy", "malleable-100", "cap-flat"),
    ("rigid-cap-daily", "easy", "malleable-100", "cap-daily"),
    ("both-cap-daily", "easy(resize=both)", "malleable-100", "cap-daily"),
];

fn schedule(text: &str) -> Sizes {
    let mut sizes = Sizes::new();
    for line in text.lines().skip(1) {
        let row: Vec<i64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        sizes.entry(row[0]).or_default().push([row[1], row[2], row[3]]);
    }
    sizes
}

/// The first difference between two schedules.
fn difference(sizes: &Sizes, expected: &Sizes) -> Option<String> {
    let at = expected.iter().find(|(job, rows)| sizes.get(job) != Some(rows));
    let differ = expected.iter().filter(|(job, rows)| sizes.get(job) != Some(rows)).count();
    let first = expected
        .iter()
        .filter(|(job, rows)| sizes.get(job) != Some(rows))
        .min_by_key(|(_, rows)| rows.first().copied());
    at.map(|_| format!("{differ} jobs differ, first {:?}: {:?}", first, first.and_then(|(job, _)| sizes.get(job))))
}

#[test]
fn large_schedules_come_out_segment_by_segment() {
    let Some(log) = shared("golden/shapes/base.swf") else { return };
    let log = read_log(&log);
    let measures: Value =
        serde_json::from_str(&text("golden/shapes/large/measures.json").expect("measures")).expect("JSON");
    let mut wrong = String::new();
    for &(name, policy, shapes, caps) in LARGE {
        let file = format!("golden/shapes/large/{shapes}.csv");
        let mut workload = shaped(log.clone(), &file, &text(&file).expect("shapes"));
        if !caps.is_empty() {
            let file = format!("golden/shapes/large/{caps}.csv");
            let caps = read_caps(&file, &text(&file).expect("caps")).expect("good caps");
            workload = give_power(workload, &caps, 0).expect("caps that can be");
        }
        let (sizes, segments) = simulate(&workload, policy, None);
        // Some schedules are not here; the figures of all of them are.
        if let Some(expected) = text(&format!("golden/shapes/large/{name}.schedule.csv"))
            && let Some(differs) = difference(&sizes, &schedule(&expected))
        {
            let _ = writeln!(wrong, "{name}: {differs}");
        }
        let area: i64 = sizes.values().flatten().map(|[start, end, procs]| (end - start) * procs).sum();
        let count = |up: bool| -> usize {
            let pairs = sizes.values().flat_map(|rows| rows.windows(2));
            pairs.filter(|pair| if up { pair[1][2] > pair[0][2] } else { pair[1][2] < pair[0][2] }).count()
        };
        let figures = (area, count(true) as i64, count(false) as i64);
        let of = |key: &str| measures[name][key].as_i64().expect("a figure");
        let expected = (of("held"), of("grows"), of("shrinks"));
        if figures != expected {
            let _ = writeln!(wrong, "{name}: held, grows, shrinks {figures:?}, not {expected:?}");
        }
        // Printed with four digits behind the point.
        let report = SizeReport::from_segments(&workload, &segments, None).expect("measured");
        let shares = [report.slowdown_ref, report.utilisation, report.useful];
        let expected =
            ["slowdown_ref_mean", "utilisation", "useful"].map(|key| measures[name][key].as_f64().expect("a figure"));
        if shares.iter().zip(expected).any(|(share, expected)| (share - expected).abs() > 5.1e-5) {
            let _ = writeln!(wrong, "{name}: slowdown, utilisation, useful {shares:?}, not {expected:?}");
        }
        let energy = report.power.map(|power| (power.energy as i64, power.above_cap));
        if energy != Some((of("energy_joule"), of("above_cap_s"))) {
            let _ = writeln!(wrong, "{name}: energy and time above the cap {energy:?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
