//! The site at work: passes that are left out would have changed nothing.

use drystone_slurm::model::{Cluster, Machine, Pass, Pending, Verdict, Watch};
use drystone_slurm::site::{Rules, Site, replay};
use proptest::prelude::*;

/// Wants every pass to be made in full.
struct Everything;

impl Watch for Everything {
    fn verdict(&mut self, _: Pass, _: i64, _: u32, _: Verdict) {}

    fn wants_plans(&self) -> bool {
        true
    }
}

#[derive(Clone, Debug)]
struct World {
    jobs: Vec<Pending>,
    runs: Vec<i64>,
    rules: Rules,
    nodes: usize,
    cpus: u32,
}

fn world() -> impl Strategy<Value = World> {
    let job = (0_i64..400, 1_u32..9, 1_i64..9, 0.0..1.0_f64, 0_i32..3);
    let rules = (2_i64..40, prop_oneof![Just(1_i64), Just(60)], 1_i64..30, 0_i64..3, any::<bool>(), any::<u64>());
    (prop::collection::vec(job, 1..60), rules, prop_oneof![Just((8, 1)), Just((3, 4))]).prop_map(build)
}

type Drawn = (Vec<(i64, u32, i64, f64, i32)>, (i64, i64, i64, i64, bool, u64), (usize, u32));

fn build((mut drawn, (interval, resolution, window, per_user, epilog, phase), (nodes, cpus)): Drawn) -> World {
    drawn.sort_by_key(|job| job.0);
    let mut rules = Rules { epilog, phase, ..Rules::default() };
    rules.params.bf_interval = interval;
    rules.params.bf_resolution = resolution;
    rules.params.bf_window = window;
    rules.params.bf_max_job_user = per_user * 3;
    let job = |(id, &(submit, procs, minutes, _, user)): (u32, &(i64, u32, i64, f64, i32))| {
        let (min_nodes, max_nodes) = if cpus == 1 { (procs, procs) } else { (1, u32::MAX) };
        Pending { submit, user, min_nodes, max_nodes, ..Pending::new(id, procs, minutes * 60) }
    };
    let jobs = (0..).zip(&drawn).map(job).collect();
    let runs = drawn.iter().map(|&(_, _, minutes, part, _)| (minutes as f64 * 60.0 * part) as i64).collect();
    World { jobs, runs, rules, nodes, cpus }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_job_starts_and_left_out_passes_change_nothing(world in world()) {
        let site = || {
            let cluster = Cluster::new(Machine::uniform(world.nodes, world.cpus));
            Site::new(cluster, world.rules.clone(), None)
        };
        let quick = replay(&mut site(), &world.jobs, &world.runs, &mut ());
        let full = replay(&mut site(), &world.jobs, &world.runs, &mut Everything);
        prop_assert!(quick.iter().all(Option::is_some));
        prop_assert_eq!(quick, full);
    }
}
