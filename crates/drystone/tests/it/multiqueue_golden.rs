//! Multiple queues, job by job, against the schedules of an independent implementation: all eight
//! of them.

use crate::common::{KTH, assert_equals_golden, log};
use drystone::log::clean::CleaningStudy;

#[test]
fn kth_is_met_job_by_job() {
    let Some(kth) = log(KTH, CleaningStudy::Lawson2002, None) else { return };
    for (file, policy) in [
        ("kth-single", "easy@lawson2002"),
        ("kth-mq", "multiqueue@lawson2002"),
        ("kth-mq", "multiqueue"),
        ("kth-mq-eager", "multiqueue(promise=eager)"),
        ("kth-mq-delay2500", "multiqueue@lawson2002-delay"),
        ("kth-mq-delay2500-fixed", "multiqueue(delay=2500,adapt=fixed)"),
        ("kth-mq-delay2500-hold", "multiqueue(delay=2500,hold=yes)"),
        ("kth-mq-order-arrival", "multiqueue(promise=arrival)"),
        ("kth-mq-own-fig4", "multiqueue@lawson2002-figure4"),
    ] {
        assert_equals_golden(&kth, policy, &format!("multiqueue/{file}"));
    }
}
