//! Multiple queues against golden schedules, job by job.

use crate::common::{assert_golden, exact_jobs};
use drystone_reference::checker::{check_promises, check_schedule, list_segments};
use drystone_reference::multiqueue::{Broken, NaiveDelay, NaiveMultiQueue, run};

#[test]
fn kth() {
    let Some((numbers, jobs)) = exact_jobs("KTH-SP2-1996-2.1-cln", 100) else { return };
    let adaptive = NaiveDelay { first: 2500.0, adapts: true, batch: 100, hidden: false };
    let plain = NaiveMultiQueue::default();
    for (name, policy) in [
        ("mq", plain),
        ("mq-eager", NaiveMultiQueue { eager: true, ..plain }),
        ("mq-order-arrival", NaiveMultiQueue { broken: Some(Broken::ByArrival), ..plain }),
        ("mq-own-fig4", NaiveMultiQueue { broken: Some(Broken::ByOwners), ..plain }),
        ("mq-delay2500", NaiveMultiQueue { delay: Some(adaptive), ..plain }),
        ("mq-delay2500-fixed", NaiveMultiQueue { delay: Some(NaiveDelay { adapts: false, ..adaptive }), ..plain }),
        ("mq-delay2500-hold", NaiveMultiQueue { delay: Some(NaiveDelay { hidden: true, ..adaptive }), ..plain }),
    ] {
        let out = run(policy, &jobs, 100);
        assert_eq!(check_schedule(100, &jobs, &list_segments(&out.schedule)), Ok(()), "{name}");
        // How many pivots start late, as the independent implementation counted them.
        let late = match policy.broken {
            None => 0,
            Some(Broken::ByArrival) => 833,
            Some(_) => 941,
        };
        let late_count = check_promises(&out.schedule, &out.promised).err().map_or(0, |late| late.len());
        assert_eq!(late_count, late, "{name}");
        assert_golden(&format!("multiqueue/kth-{name}"), &numbers, &out.schedule);
    }
}
