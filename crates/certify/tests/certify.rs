//! The model held to recordings of a real Slurm.

#[path = "../../drystone-slurm/tests/it/shared.rs"]
mod shared;

use drystone_certify::{Agreement, Golden, pass_by_pass};
use shared::shared;

/// The bar: every start, 99 % of the plans to the second, hardly a pass with an extra start; in
/// every recording and in all.
#[test]
fn passes_are_those_of_a_real_slurm() {
    let Some(dir) = shared("golden/slurm") else { return };
    let mut all = Agreement::default();
    for golden in Golden::read_all(&dir).expect("recordings") {
        let (agreement, differences) = pass_by_pass(&golden);
        assert!(agreement.reaches_bar(), "{}: {agreement:?}\n{differences:#?}", golden.name);
        all.add(&agreement);
        // Jobs that never started are for ever in the way of nothing.
        let started = golden.jobs.iter().filter(|job| job.start >= 0).count();
        assert!(agreement.starts >= started, "{}: {} of {started} starts", golden.name, agreement.starts);
    }
    assert_eq!(all.same_starts, all.starts);
    assert!(all.same_plans * 1000 >= all.plans * 999, "{all:?}");
    assert!(all.passes_with_extra * 356 <= all.passes, "{all:?}");
}
