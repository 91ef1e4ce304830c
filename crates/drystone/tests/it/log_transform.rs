//! More load, on cases small enough to be done by hand.

use drystone::log::outages;
use drystone::log::transform::{LoadFactor, scale_load, scale_outages, shift_workload};
use drystone::model::{
    Job, LogStatus, Machine, Outage, Provenance, Resource, ResourceTableBuilder, ResourceUnit, Span, SupplyStep, Time,
    Truth, Which, Workload,
};

fn workload(submits: &[i64], provenance: Provenance) -> Workload {
    let jobs = submits.iter().map(|submit| Job::new(Time(*submit), 2, Span(100))).collect();
    let truth =
        (1..).zip(submits).map(|(number, _)| Truth { run: Span(50), number, status: LogStatus::Completed }).collect();
    Workload::new(Machine::new(8), jobs, truth, provenance).expect("good jobs")
}

fn settings(workload: &Workload) -> Vec<String> {
    workload.provenance.settings.iter().map(|s| format!("{}={}", s.name, s.value)).collect()
}

#[test]
fn more_load_brings_submits_together_exactly() {
    let factor: LoadFactor = "1.1".parse().expect("1.1");
    let w = scale_load(workload(&[0, 11, 22, 33, 34], Provenance::default()), factor).expect("times in range");
    let submits: Vec<_> = w.jobs().iter().map(|j| j.submit.0).collect();
    assert_eq!(submits, [0, 10, 20, 30, 30]);
    assert_eq!(settings(&w), ["load=1.1"]);
    // Work 5 × 2 × 50 over 30 s on 8 processors.
    assert_eq!(w.offered_load(), Some(500.0 / 240.0));
}

/// Changes of resources, and their announcements, come when the jobs around them do. Of two that
/// come to one time the later one holds, and what holds from the beginning stays.
#[test]
fn changes_of_resources_move_with_the_jobs() {
    let mut table = ResourceTableBuilder::new();
    let cad = table.add_resource(Resource::new("license:cad", ResourceUnit::Count, 4)).expect("new");
    let step = |from, amount, notice: Option<i64>| SupplyStep {
        resource: cad,
        from: Time(from),
        amount,
        announced: notice.map(Time),
    };
    let steps = [step(100, 2, Some(50)), step(101, 3, None), step(300, 6, Some(300))];
    let table = table.finish().with_supply(&steps).expect("possible");
    let log = workload(&[10, 20], Provenance::default()).with_supply_of(table);
    let dense_log = scale_load(log.clone(), "2".parse().expect("a factor")).expect("scaled");
    let supply = |workload: &Workload, times: [i64; 4]| {
        times.map(|at| workload.resources().expect("some").supply_at(cad, Time(at)))
    };
    assert_eq!(supply(&log, [99, 100, 101, 300]), [4, 2, 3, 6]);
    assert_eq!(supply(&dense_log, [49, 50, 149, 150]), [4, 3, 3, 6]);
    let shifted_log = shift_workload(log).expect("shifted");
    assert_eq!(supply(&shifted_log, [89, 90, 91, 290]), [4, 2, 3, 6]);
    let notices = |workload: &Workload| {
        let steps = workload.resources().expect("some").supply_steps().iter();
        steps.filter(|step| step.from > Time::MIN).map(|step| step.announced.map(|at| at.0)).collect::<Vec<_>>()
    };
    assert_eq!((notices(&shifted_log), notices(&dense_log)), (vec![Some(40), None, Some(290)], vec![None, Some(150)]));
}

/// Tables beside a log are of its own times, however these are moved: an outage meets the jobs that
/// it met.
#[test]
fn outages_follow_the_log() {
    // Time zero is 1996-09-23 12:00:31 UTC.
    let provenance = Provenance { unix_start: Some(843_480_031), ..Provenance::default() };
    let log = workload(&[12_000, 12_500, 13_100], provenance);
    let at = |workload: &Workload, table: &str| {
        let log_copy =
            outages::read_outages(table.as_bytes(), "o.csv", workload.machine(), &workload.provenance).expect("read");
        log_copy.list().iter().map(|out| (out.begin.0, out.end.map(|end| end.0))).collect::<Vec<_>>()
    };
    let tables = ["begin,end,procs\n12500,13000,2\n", "begin,end,procs\n1996-09-23T15:28:51,1996-09-23T15:37:11,2\n"];
    for table in tables {
        assert_eq!(at(&log, table), [(12_500, Some(13_000))]);
        // The first job comes at 0 then.
        let shifted_log = shift_workload(log.clone()).expect("shifted");
        assert_eq!(at(&shifted_log, table), [(500, Some(1_000))]);
        let dense_log = scale_load(log.clone(), "2".parse().expect("a factor")).expect("scaled");
        assert_eq!(at(&dense_log, table), [(6_250, Some(6_500))]);
        // One after the other, in either order.
        let first_order = shift_workload(dense_log).expect("shifted");
        assert_eq!(first_order.jobs()[1].submit, Time(250));
        assert_eq!(at(&first_order, table), [(250, Some(500))]);
        let second_order = scale_load(shifted_log, "2".parse().expect("a factor")).expect("scaled");
        assert_eq!(at(&second_order, table), [(250, Some(500))]);
    }
}

/// Outages come when the jobs around them do, and last half as long; one of a second is over before
/// it begins, and an end that was expected in the first second comes in the next one.
#[test]
fn outages_move_with_the_jobs() {
    let outage = |begin, end| Outage::new_window(Which::Count(2), Time(begin - 10), Time(begin), Time(end));
    let mut list = vec![outage(100, 200), outage(300, 301), outage(400, 500).with_expected_end(Time(401))];
    scale_outages(&mut list, "2".parse().expect("a factor"));
    let times = |outage: &Outage| [Some(outage.begin), outage.end, outage.announced, outage.expected];
    let right = [[50, 100, 45, 100], [200, 250, 195, 201]].map(|times| times.map(|at| Some(Time(at))));
    assert_eq!(list.iter().map(times).collect::<Vec<_>>(), right);
}
