//! The model held to recordings of a real Slurm.

use crate::shared::shared;
use drystone_slurm::certify::{Agreement, Golden, pass_by_pass};

/// The bar: every start, 99 % of the plans to the second, hardly a pass with an extra start; in
/// every recording and in all.
#[test]
fn passes_are_those_of_a_real_slurm() {
    let Some(dir) = shared("golden/slurm") else { return };
    let (mut all, mut jobs) = (Agreement::default(), 0);
    for golden in Golden::all(&dir).expect("recordings") {
        let (agreement, differences) = pass_by_pass(&golden);
        assert!(agreement.holds(), "{}: {agreement:?}\n{differences:#?}", golden.name);
        all.add(&agreement);
        jobs += golden.jobs.len();
    }
    assert_eq!((all.starts, all.same_starts), (jobs, jobs));
    assert!(all.same_plans * 1000 >= all.plans * 999, "{all:?}");
    assert!(all.passes_with_extra * 356 <= all.passes, "{all:?}");
}
