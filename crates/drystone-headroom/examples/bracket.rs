//! A bracket for the schedule in a file of `--jobs`, by measure, processors and seconds of search.

use drystone_headroom::{
    Ascent, Capacity, DelayMeasure, Instance, Limit, Relaxation, Schedule, Search, ascend, search,
};
use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let procs: u32 = args[1].parse().unwrap();
    let measure = DelayMeasure::ALL.into_iter().find(|m| m.word() == args[2]).unwrap();
    let seconds: f64 = args[3].parse().unwrap();
    let text = std::fs::read_to_string(&args[0]).unwrap();
    let mut tasks = Vec::new();
    let mut starts = Vec::new();
    for line in text.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let n = |i: usize| f[i].parse::<i64>().unwrap();
        tasks.push(measure.task(n(1), n(6) as u32, n(5)));
        starts.push(n(2));
    }
    let jobs = tasks.len() as f64;
    let instance = Instance::new(Capacity::constant(procs), tasks).unwrap();
    let schedule = Schedule { starts };
    let unit = if measure == DelayMeasure::Wait { 60.0 } else { 1.0 } * jobs;
    println!("begin {:.4}", instance.cost(&schedule) / unit);
    let mut best = schedule.clone();
    if seconds > 0.0 {
        let how = Search {
            limit: Limit::Time(Duration::from_secs_f64(seconds)),
            heat: args.get(5).map_or(0.75, |h| h.parse().unwrap()),
            most: args.get(6).map_or(40, |h| h.parse().unwrap()),
            ..Search::default()
        };
        let found = search(&instance, &schedule, &how, &|_| true).unwrap();
        println!("found {:.4} after {} trials, {:.1} s", found.cost / unit, found.trials, found.took.as_secs_f64());
        best = found.schedule;
    }
    let mode = args.get(4).map_or("", String::as_str);
    if mode.contains('b') {
        let since = Instant::now();
        let told = |s: drystone_headroom::Step| {
            if s.steps % 100 == 0 {
                println!("  {:?} {:.4} {:.1} s", (s.delta, s.steps), s.value / unit, since.elapsed().as_secs_f64());
            }
            true
        };
        let a = ascend(&instance, &best, &Ascent::default(), &told);
        let t = since.elapsed().as_secs_f64();
        let c = a.certify(&instance);
        println!(
            "(b) {:.4} certified {:.6} steps {:?} {:.1} s, certificate {:.1} s q {}",
            a.value / unit,
            c.value() / unit,
            a.steps,
            t,
            since.elapsed().as_secs_f64() - t,
            c.q
        );
    }
    if mode.contains('a') {
        let since = Instant::now();
        let how = Ascent { relaxation: Relaxation::Seconds, grids: vec![(3600, 400)], threads: 1 };
        let a = ascend(&instance, &best, &how, &|_| true);
        let c = a.certify(&instance);
        println!(
            "(a) {:.4} certified {:.6} {:?} {:.1} s",
            a.value / unit,
            c.value() / unit,
            a.steps,
            since.elapsed().as_secs_f64()
        );
    }
}
