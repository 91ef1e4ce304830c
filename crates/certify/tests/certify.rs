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
    let mut total = Agreement::default();
    for golden in Golden::read_all(&dir).expect("recordings") {
        let (agreement, differences) = pass_by_pass(&golden);
        assert!(agreement.reaches_bar(), "{}: {agreement:?}\n{differences:#?}", golden.name);
        total.add(&agreement);
        // Jobs that never started are for ever in the way of nothing.
        let start_count = golden.jobs.iter().filter(|job| job.start >= 0).count();
        assert!(agreement.starts >= start_count, "{}: {} of {start_count} starts", golden.name, agreement.starts);
    }
    assert_eq!(total.same_starts, total.starts);
    assert!(total.same_plans * 1000 >= total.plans * 999, "{total:?}");
    assert!(total.passes_with_extra * 356 <= total.passes, "{total:?}");
}
