//! No floor is above the optimum, whatever the prices.

use crate::oracle::{Random, instance, optimum, optimum_by_starts};
use drystone_headroom::{
    Ascent, CapacitySteps, Certificate, DelayMeasure, DelayWeight, HeadroomTask, Instance, Prices, Relaxation,
    TaskSchedule, ascend_prices, float_value,
};

const INSTANCES: u64 = 1_000;

fn quick(relaxation: Relaxation, delta: i64) -> Ascent {
    Ascent { relaxation, grids: vec![(delta, 60)], threads: 1 }
}

#[test]
fn no_floor_is_above_the_optimum() {
    let (mut sums, mut shares) = (0, [0.0, 0.0]);
    for seed in 0..INSTANCES {
        let mut random = Random::new(seed + 1);
        let instance = instance(&mut random, seed % 4 == 3);
        let (best, schedule) = optimum(&instance);
        assert_eq!(schedule.check_starts(&instance), Ok(()));
        assert!((instance.schedule_cost(&schedule) - best).abs() < 1e-6 * best.max(1.0));
        let delta = [1, 3, 7, 60, 1000][random.below(5) as usize];
        let below = |value: f64, label: &str| {
            assert!(value <= best * (1.0 + 1e-9) + 1e-9, "{label} {value} above {best}, seed {seed}: {instance:?}");
        };
        for (at, relaxation) in [Relaxation::Seconds, Relaxation::Windows].into_iter().enumerate() {
            let ascent = ascend_prices(&instance, &schedule, &quick(relaxation, delta), &|_| true);
            below(ascent.value, "ascent");
            let floor = ascent.certify_floor(&instance).floor_value();
            below(floor, "certificate");
            // With any seconds the certificate chooses thresholds of its own.
            if relaxation == Relaxation::Windows {
                assert!(
                    (floor - ascent.value.max(0.0)).abs() <= 1e-6 * ascent.value.abs().max(1e-3),
                    "{floor} {ascent:?}"
                );
            }
            if best > 0.0 {
                shares[at] += floor / best;
            }
        }
        // Any prices are valid, also ones that fit nothing.
        for _ in 0..3 {
            let mut prices = Prices::zero(&instance, 30 + random.below(200), delta);
            let scale = 10f64.powi(random.below(6) as i32 - 4);
            prices.cells.iter_mut().for_each(|price| *price = scale * (random.unit() - 0.3).max(0.0));
            below(float_value(&instance, &prices), "random prices");
            below(
                Certificate::from_prices(&instance, &prices, Relaxation::Windows).floor_value(),
                "random prices, certified",
            );
            below(
                Certificate::from_prices(&instance, &prices, Relaxation::Seconds).floor_value(),
                "random prices, any seconds",
            );
        }
        sums += i32::from(best > 0.0);
    }
    // Floors that are 0 would pass as well.
    let [seconds, windows] = shares.map(|share| share / f64::from(sums));
    assert!(seconds > 0.2 && windows > 0.5, "{seconds} {windows} of {sums}");
}

/// The oracle itself: orders of earliest places against all starts.
#[test]
fn orders_find_what_all_starts_find() {
    for seed in 0..250 {
        let mut random = Random::new(4_000 + seed);
        let procs = [4, 7][random.below(2) as usize];
        let measure = DelayMeasure::ALL[random.below(3) as usize];
        let tasks = (0..4).map(|_| {
            let width = if random.below(3) == 0 { procs } else { 1 + random.below(procs) };
            measure.make_task(random.below(8), width as u32, random.below(6))
        });
        let tasks: Vec<HeadroomTask> = tasks.collect();
        let reductions = [(random.below(10), 10 + random.below(8), 1 + random.below(procs) as u32)];
        let instance =
            Instance::new(CapacitySteps::with_reductions(procs as u32, &reductions), tasks).expect("possible");
        let (best, _) = optimum(&instance);
        let exact_cost = optimum_by_starts(&instance, best + 1e-6);
        assert!((best - exact_cost).abs() <= 1e-6 + 1e-9, "{best} {exact_cost}: {instance:?}");
    }
}

/// The payment of each job at prices, by trying every second: the certificate is no approximation.
#[test]
fn a_certificate_is_what_trying_every_second_gives() {
    for seed in 0..300 {
        let mut random = Random::new(9_000 + seed);
        let instance = instance(&mut random, seed % 2 == 0);
        let delta = [1, 3, 7, 60, 1000][random.below(5) as usize];
        let mut prices = Prices::zero(&instance, 60 + random.below(200), delta);
        prices.cells.iter_mut().for_each(|price| *price = (random.unit() - 0.4).max(0.0));
        let certificate = Certificate::from_prices(&instance, &prices, Relaxation::Windows);
        let (begin, end) = (prices.begin, prices.begin + prices.delta * prices.cells.len() as i64);
        let price = |second: i64| {
            let inside = (begin..end).contains(&second);
            if inside { i128::from(certificate.prices[((second - begin) / prices.delta) as usize]) } else { 0 }
        };
        let mut floor = 0_i128;
        for task in instance.tasks() {
            let weight = (i128::from(task.weight.over) << certificate.q) / i128::from(task.weight.under);
            if weight == 0 {
                continue;
            }
            // Behind the last price a start one second later costs more.
            let paid = |start: i64| -> i128 {
                weight * i128::from(task.counted_delay(start))
                    + (start..start + task.run).map(|second| price(second) * i128::from(task.procs)).sum::<i128>()
            };
            floor += (task.release..end.max(task.release + task.grace) + 1).map(paid).min().expect("some second");
        }
        floor -=
            (begin..end).map(|second| price(second) * i128::from(instance.capacity().procs_at(second))).sum::<i128>();
        assert_eq!(certificate.floor, floor.max(0), "seed {seed}");
        let float = float_value(&instance, &prices).max(0.0);
        assert!(
            (certificate.floor_value() - float).abs() <= 1e-6 * float.max(1.0),
            "{} {float}",
            certificate.floor_value()
        );
    }
}

/// The preemptive greedy exceeds this optimum; the floor for suspended jobs must not.
#[test]
fn the_refuted_greedy_stays_refuted() {
    let tasks =
        [(0, 2, 3), (0, 3, 2), (3, 1, 8)].map(|(submit, procs, run)| DelayMeasure::Wait.make_task(submit, procs, run));
    let instance = Instance::new(CapacitySteps::from_constant(3), tasks.to_vec()).expect("possible");
    let (best, schedule) = optimum(&instance);
    assert_eq!(best, 2.0);
    let floor = |relaxation| {
        ascend_prices(&instance, &schedule, &quick(relaxation, 1), &|_| true).certify_floor(&instance).floor_value()
    };
    assert!(floor(Relaxation::Seconds) <= 2.0 && floor(Relaxation::Windows) <= 2.0);
}

/// Any number of threads gives the same bits.
#[test]
fn threads_change_nothing() {
    let mut random = Random::new(77);
    let tasks = (0..5_000)
        .map(|at| DelayMeasure::BoundedSlowdown.make_task(at * 40, 1 + random.below(16) as u32, random.below(350)))
        .collect();
    let instance = Instance::new(CapacitySteps::from_constant(40), tasks).expect("possible");
    let schedule = TaskSchedule::in_order(&instance);
    assert_eq!(schedule.check_starts(&instance), Ok(()));
    for relaxation in [Relaxation::Windows, Relaxation::Seconds] {
        let of = |threads| {
            let ascent = Ascent { relaxation, grids: vec![(3600, 8), (900, 8)], threads };
            ascend_prices(&instance, &schedule, &ascent, &|_| true)
        };
        let reference = of(1);
        // Both grids were climbed.
        assert_eq!(reference.steps.len(), 2);
        for threads in [2, 3, 5] {
            assert_eq!(of(threads), reference);
        }
    }
}

/// Numbers at their limits: no overflow, and still a floor.
#[test]
fn extreme_jobs_stay_below() {
    let far = 1 << 40;
    let wide = HeadroomTask {
        weight: DelayWeight { over: 1 << 60, under: 3 },
        ..DelayMeasure::AreaWait.make_task(-far, u32::MAX, far)
    };
    let instance = Instance::new(CapacitySteps::from_constant(u32::MAX), vec![wide, wide]).expect("possible");
    let schedule = TaskSchedule::in_order(&instance);
    let cost = instance.schedule_cost(&schedule);
    for relaxation in [Relaxation::Windows, Relaxation::Seconds] {
        let ascent = Ascent { relaxation, grids: vec![(1 << 20, 6)], threads: 1 };
        let floor = ascend_prices(&instance, &schedule, &ascent, &|_| true).certify_floor(&instance).floor_value();
        assert!((0.0..=cost).contains(&floor), "{floor} {cost}");
    }
}
