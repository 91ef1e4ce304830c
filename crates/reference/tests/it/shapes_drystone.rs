//! Jobs of several sizes: the product against the naive definitions, segment by segment, and what
//! must hold under every setting.

use drystone::engine::Segments;
use drystone::experiment::Experiment;
use drystone::log::clean::Overrun;
use drystone::log::power::{CapTable, give_power, give_terms};
use drystone::log::series::PowerSeries;
use drystone::log::shapes::{give_rules, give_shapes, read_shapes};
use drystone::model::{Job, LogStatus, Machine, PowerCap, Provenance, Span, Time, Truth, Workload};
use drystone::policy::PolicySpec;
use drystone_reference::shapes::{NaiveKind, NaiveShapeRules, NaiveSizedJob, simulate_shapes};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A random job: gap to the one before, kind, smallest size, steps above it, steps of the preferred
/// size and of that in the log, run time at the smallest, factor of the estimate, points, costs,
/// watts, what each slower pace loses of the speed in thousandths and saves of the watts, asks.
#[derive(Clone, Debug)]
struct DrawnJob {
    gap: i64,
    kind: NaiveKind,
    min: i64,
    gains: Vec<i64>,
    preferred: usize,
    reference: usize,
    run: i64,
    factor: i64,
    every: i64,
    costs: (i64, i64),
    watts: i64,
    slower: Vec<(i64, i64)>,
    ask: Option<(i64, usize)>,
}

fn drawn_job() -> impl Strategy<Value = DrawnJob> {
    let kinds = prop_oneof![
        1 => Just(NaiveKind::Rigid),
        2 => Just(NaiveKind::Moldable),
        4 => Just(NaiveKind::Malleable),
        1 => Just(NaiveKind::Evolving),
    ];
    let shape = (kinds, 1i64..=5, prop::collection::vec(0i64..=12, 0..6), (0usize..6, 0usize..6), 1i64..=60, 1i64..=3);
    let slower = prop::collection::vec((1i64..400, 1i64..3), 0..4);
    let asks = (any::<prop::sample::Index>(), 1i64..99);
    let extra = (prop_oneof![Just(0i64), 0i64..9], (0i64..4, 0i64..4), 0i64..=5, slower, asks);
    (0i64..25, shape, extra).prop_map(
        |(
            gap,
            (kind, min, gains, (preference, reference), run, factor),
            (every, costs, watts, slower, (to, share)),
        )| {
            let preference_index = preference.min(gains.len());
            let ask = (kind == NaiveKind::Evolving).then(|| (share, to.index(gains.len() + 1)));
            DrawnJob {
                gap,
                kind,
                min,
                gains,
                preferred: preference_index,
                reference,
                run,
                factor,
                every,
                costs,
                watts,
                slower,
                ask,
            }
        },
    )
}

impl DrawnJob {
    fn naive(&self, submit: i64, machine: i64) -> NaiveSizedJob {
        let (mut size, mut run) = (self.min.min(machine), self.run + self.gains.iter().sum::<i64>());
        let mut table = BTreeMap::from([(size, run)]);
        for gain in &self.gains {
            (size, run) = (size + 1, run - gain);
            if size <= machine {
                table.insert(size, run);
            }
        }
        let sizes: Vec<i64> = table.keys().copied().collect();
        let preference = sizes[self.preferred.min(sizes.len() - 1)];
        let reference = sizes[self.reference.min(sizes.len() - 1)];
        let is_rigid = self.kind == NaiveKind::Rigid;
        let reference = if is_rigid { preference } else { reference };
        let sizes = if is_rigid { vec![preference] } else { sizes };
        let mut paces = Vec::new();
        let (mut speed, mut draw) = (1000, self.watts);
        for (loss, saving) in &self.slower {
            (speed, draw) = (speed - loss, draw - saving);
            if speed > 0 && draw >= 0 {
                paces.push((speed, draw));
            }
        }
        let asks = self.ask.map(|(share, to)| (share, sizes[to.min(sizes.len() - 1)]));
        NaiveSizedJob {
            submit,
            kind: self.kind,
            preferred: preference,
            reference,
            known: table.iter().map(|(size, run)| (*size, run * self.factor)).collect(),
            run: table,
            sizes,
            every: self.every,
            costs: self.costs,
            watts: self.watts,
            paces,
            asks: asks.into_iter().collect(),
        }
    }
}

fn table(run: &BTreeMap<i64, i64>) -> String {
    let rows: Vec<String> = run.iter().map(|(size, seconds)| format!("{size}={seconds}")).collect();
    format!("table:{}", rows.join(";"))
}

/// The paces of a job, as its table has them.
fn paces(job: &NaiveSizedJob) -> String {
    let slower = job.paces.iter().map(|(speed, watts)| format!(" 0.{speed:03}:{watts}"));
    if job.paces.is_empty() { String::new() } else { format!("1:{}{}", job.watts, slower.collect::<String>()) }
}

/// The jobs as a log and its table.
fn product(machine: i64, jobs: &[NaiveSizedJob], rules: &NaiveShapeRules) -> Workload {
    let mut text = "job,kind,sizes,pref,speedup,declared,every,grow_cost,shrink_cost,watts,paces,asks\n".to_string();
    let (mut list, mut truths) = (Vec::new(), Vec::new());
    for (job, number) in jobs.iter().zip(1i64..) {
        let kind = match job.kind {
            NaiveKind::Rigid => "rigid",
            NaiveKind::Moldable => "moldable",
            NaiveKind::Malleable => "malleable",
            NaiveKind::Evolving => "evolving",
        };
        let sizes: Vec<String> = job.sizes.iter().map(i64::to_string).collect();
        let asks: Vec<String> = job.asks.iter().map(|(share, size)| format!("0.{share:02}={size}")).collect();
        let _ = writeln!(
            text,
            "{number},{kind},{},{},{},{},{},{},{},{},{},{}",
            sizes.join(" "),
            job.preferred,
            table(&job.run),
            table(&job.known),
            job.every,
            job.costs.0,
            job.costs.1,
            job.watts,
            paces(job),
            asks.join(" ")
        );
        let (size, run) = (u32::try_from(job.reference).expect("a size"), job.run[&job.reference]);
        list.push(Job::new(Time(job.submit), size, Span(job.known[&job.reference])));
        truths.push(Truth { run: Span(run), number, status: LogStatus::Completed });
    }
    let machine = Machine::new(u32::try_from(machine).expect("processors"));
    let workload = Workload::new(machine, list, truths, Provenance::default()).expect("possible");
    let shapes = read_shapes("drawn", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let workload = give_shapes(workload, &shapes, Overrun::RunOn).unwrap_or_else(|error| panic!("{error}\n{text}")).0;
    let workload = match rules.releases_late {
        true => give_rules(workload, "release=after".parse().expect("a rule")),
        false => workload,
    };
    let workload = match &rules.hold {
        None => workload,
        Some((steps, _)) => {
            let rows: Vec<String> = steps.iter().map(|(time, value)| format!("{time},{value}\n")).collect();
            let series =
                PowerSeries::parse_table("drawn", &format!("time,carbon\n{}", rows.concat())).expect("a series");
            give_terms(workload, &series)
        }
    };
    if rules.caps.is_empty() {
        return workload;
    }
    let cap = |&(from, watts): &(i64, i64)| PowerCap {
        from: Time(from),
        watts: watts.unsigned_abs(),
        announced: if rules.foresees { Time::MIN } else { Time(from) },
    };
    give_power(workload, &CapTable::from_caps("drawn", rules.caps.iter().map(cap).collect()), 0)
        .expect("caps that can be")
}

fn segments(workload: &Workload, policy: &str) -> (Vec<Vec<[i64; 4]>>, u64) {
    let spec: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut segments = Segments::default();
    let result =
        Experiment::new(&spec, workload).run(&mut segments).unwrap_or_else(|error| panic!("{policy}: {error}"));
    let mut rows = vec![Vec::new(); workload.len()];
    for segment in &segments.list {
        let paces =
            workload.shapes().and_then(|shapes| shapes.shape_at(segment.job.index())).map(|(shape, _)| &shape.paces);
        let pace =
            segment.pace.map(|pace| paces.and_then(|paces| paces.iter().position(|candidate| *candidate == pace)));
        let pace = pace.map_or(0, |pace| pace.expect("one of its paces"));
        rows[segment.job.index()].push([segment.start.0, segment.end.0, i64::from(segment.procs), pace as i64]);
    }
    rows.iter_mut().for_each(|rows| rows.sort_unstable());
    (rows, result.expect("nothing stops it").promises.broken)
}

/// Neighbours of the same size and pace as one.
fn joined(rows: &[[i64; 4]]) -> Vec<[i64; 4]> {
    let mut list: Vec<[i64; 4]> = Vec::new();
    for row in rows {
        match list.last_mut() {
            Some(last) if last[1] == row[0] && last[2..] == row[2..] => last[1] = row[1],
            _ => list.push(*row),
        }
    }
    list
}

fn rules() -> impl Strategy<Value = NaiveShapeRules> {
    let shape = prop::sample::select(vec!["preferred", "submit", "start", "start-now", "most", "upto", "min"]);
    let (ladder, share) =
        (prop::sample::select(vec!["min", "pref", "keep"]), prop::sample::select(vec!["surplus", "equal", "fpsma"]));
    let drop = prop::sample::select(vec!["none", "shrink", "pace", "pace", "suspend", "suspend"]);
    let flags =
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), (drop, any::<bool>(), prop::bool::weighted(0.3)));
    let steps = prop::collection::vec((1i64..40, 0i64..9), 0..6);
    let extra = (prop::bool::weighted(0.8), prop::bool::weighted(0.3), prop::option::weighted(0.3, (steps, 0i64..120)));
    (shape, ladder, share, flags, prop::collection::vec((5i64..40, 40i64..80), 0..4), extra).prop_map(
        |(
            shape,
            ladder,
            share,
            (shrinks, grows, capped, foresees, (drop, migrates, releases_late)),
            caps,
            (any_pace, is_fair, hold),
        )| {
            let hold = hold.map(|(gaps, most)| {
                let mut list = vec![(-1000, 4)];
                gaps.into_iter().fold(0, |from, (gap, value)| {
                    list.push((from + gap, value));
                    from + gap
                });
                (list, most)
            });
            let (mut from, mut list) = (0, Vec::new());
            if capped {
                list.push((-1000, 65));
                for (gap, watts) in caps {
                    from += gap;
                    list.push((from, watts));
                }
                list.push((from + 30, 65));
            }
            let drop = if capped { drop } else { "none" };
            let migrates = migrates && drop == "suspend";
            let caps = list;
            NaiveShapeRules {
                shape,
                shrinks,
                grows,
                ladder,
                share,
                caps,
                foresees,
                drop,
                any_pace,
                migrates,
                releases_late,
                is_fair,
                hold,
            }
        },
    )
}

/// The policy in the product's words.
fn words(rules: &NaiveShapeRules) -> String {
    let resize = match (rules.shrinks, rules.grows) {
        (false, false) => "none",
        (true, false) => "shrink",
        (false, true) => "grow",
        (true, true) => "both",
    };
    let migration = if rules.migrates { ",migration=yes" } else { "" };
    let cap = if rules.is_fair { "fair" } else { "none" };
    let hold = rules.hold.as_ref().map_or(String::new(), |(_, most)| format!(",hold=carbon,most={most}s"));
    let pace = if rules.any_pace { "any" } else { "full" };
    let NaiveShapeRules { shape, ladder, share, drop, .. } = rules;
    format!(
        "easy(shape={shape},resize={resize},ladder={ladder},share={share},drop={drop}{migration},cap={cap}{hold},pace={pace})"
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn easy_with_sizes_is_what_its_definition_says(
        machine in prop::sample::select(vec![4i64, 8, 13]),
        drawn in prop::collection::vec(drawn_job(), 1..14),
        rules in rules(),
    ) {
        let mut submit = 0;
        let jobs: Vec<NaiveSizedJob> = drawn.iter().map(|job| {
            submit += job.gap;
            job.naive(submit, machine)
        }).collect();
        let workload = product(machine, &jobs, &rules);
        let policy = words(&rules);
        let (rows, broken) = segments(&workload, &policy);
        let expected: Vec<Vec<[i64; 4]>> = simulate_shapes(machine, &jobs, &rules).iter().map(|rows| joined(rows)).collect();
        prop_assert_eq!(&rows, &expected, "{}", policy);
        for (job, rows) in jobs.iter().zip(&rows) {
            // Sizes stay in the set; what may not change does not.
            prop_assert!(rows.iter().all(|row| job.sizes.contains(&row[2])));
            let may_change = matches!(job.kind, NaiveKind::Malleable | NaiveKind::Evolving);
            prop_assert!(may_change || rules.drop == "suspend" || !job.paces.is_empty() || rows.len() == 1);
            let is_slow = rows.iter().any(|row| row[3] > 0);
            prop_assert!(!is_slow || rules.any_pace || rules.drop == "pace");
            prop_assert!(may_change || rows.iter().all(|row| row[2] == rows[0][2]));
            // Never less work than is due, and without costs at most one second more per change.
            let run = |row: &[i64; 4]| match row[3] {
                0 => job.run[&row[2]],
                pace => (job.run[&row[2]] * 1000 + job.paces[pace as usize - 1].0 - 1) / job.paces[pace as usize - 1].0,
            };
            let work: f64 = rows.iter().map(|row| (row[1] - row[0]) as f64 / run(row) as f64).sum();
            prop_assert!(work >= 1.0 - 1e-9, "{rows:?}");
            if job.costs == (0, 0) {
                let changes = rows.windows(2).filter(|two| two[0][2..] != two[1][2..]);
                let more: f64 = changes.map(|two| 1.0 / run(&two[1]) as f64).sum();
                prop_assert!(work <= 1.0 + more + 1e-9, "{rows:?}");
            }
        }
        let times = || rows.iter().flatten().map(|row| row[0]);
        for time in times() {
            let spans: i64 = rows.iter().flatten().filter(|row| row[0] <= time && time < row[1]).map(|row| row[2]).sum();
            prop_assert!(spans <= machine);
        }
        // Where jobs are suspended, or the caps and run times are known, the draw is never above a
        // cap.
        let exact = drawn.iter().all(|job| job.factor == 1);
        let is_below = rules.drop == "suspend" || (exact && rules.foresees);
        let turns = times().chain(rules.caps.iter().map(|cap| cap.0)).filter(|_| is_below);
        for time in turns {
            let watts = |job: &NaiveSizedJob, row: &[i64; 4]| match row[3] {
                0 => job.watts,
                pace => job.paces[pace as usize - 1].1,
            };
            let spans = rows.iter().zip(&jobs).flat_map(|(rows, job)| rows.iter().map(move |row| (row, watts(job, row))));
            let draw: i64 =
                spans.filter(|(row, _)| row[0] <= time && time < row[1]).map(|(row, watts)| row[2] * watts).sum();
            let cap = rules.caps.iter().rev().find(|cap| cap.0 <= time).map_or(i64::MAX, |cap| cap.1);
            prop_assert!(draw <= cap, "{draw} W above {cap} at {time}: {policy}");
        }
        // Where predictions are exact, what was promised to a head is kept.
        let asks = drawn.iter().any(|job| job.ask.is_some());
        if exact && !asks && (rules.caps.is_empty() || rules.foresees) {
            prop_assert_eq!(broken, 0, "{}", policy);
        }
    }

    /// A policy that knows no sizes starts every job with the preferred one: its schedule is that
    /// of the log.
    #[test]
    fn other_policies_take_the_preferred_size(
        machine in prop::sample::select(vec![4i64, 8, 13]),
        drawn in prop::collection::vec(drawn_job(), 1..14),
        policy in prop::sample::select(vec![
            "easy", "easy(reserve=2)", "easy(order=sjf)", "easy(backfill=sjf)", "easy(order=lxf)", "fcfs", "greedy",
            "conservative", "slack", "multiqueue", "ss", "easy@tsafrir2007", "easy(order=wfp3,starve=1h)",
        ]),
    ) {
        let rules = NaiveShapeRules {
            shape: "preferred", shrinks: false, grows: false, ladder: "min", share: "surplus", caps: Vec::new(),
            foresees: true, drop: "none", any_pace: true, migrates: false, releases_late: false, is_fair: false, hold: None,
        };
        let mut submit = 0;
        let jobs: Vec<NaiveSizedJob> = drawn.iter().map(|job| {
            submit += job.gap;
            NaiveSizedJob { asks: Vec::new(), ..job.naive(submit, machine) }
        }).collect();
        let workload = product(machine, &jobs, &rules);
        let plain = workload.clone().with_shapes(None);
        prop_assert_eq!(segments(&workload, policy).0, segments(&plain, policy).0, "{}", policy);
    }
}
