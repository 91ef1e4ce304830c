//! Listings of other schedulers that are tables of jobs: `bjobs -o`, `kubectl get`, dumps of Open
//! XDMoD.

use crate::common::{error_of, of_text, rule, utc};
use crate::tables_cases::{own_line, text_by_own_line, with_columns};
use drystone_site::{ImportOptions, Site, SiteJobFate};

fn times(site: &Site) -> Vec<(i64, Option<i64>, Option<u32>)> {
    site.jobs().map(|job| (job.submit, job.start, job.run)).collect()
}

const BJOBS: &str = "JOBID|USER|STAT|QUEUE|SUBMIT_TIME|START_TIME|FINISH_TIME|SLOTS|RUN_TIME|RUNTIMELIMIT\n\
    101|ann|DONE|normal|Mar 14 05:00:00 2022|Mar 14 05:01:00 2022|Mar 14 06:01:00 2022 L|16|3600 second(s)|240.0/host1\n\
    102|bob|EXIT|normal|Mar  4 05:10:00 2022|Mar  4 05:11:00 2022|Mar  4 05:21:00 2022 X|4|600 second(s)|5.0\n\
    103|bob|RUN|short|Mar 14 05:10:00 2022|Mar 14 05:11:00 2022|Mar 14 09:11:00 2022 E|4|60 second(s)|-\n\
    104|cyd|PEND|short|Mar 14 05:20:00 2022|-|-|2|0 second(s)|240.0/host1\n";

#[test]
fn a_listing_of_lsf_has_its_own_times_lengths_and_limits() {
    let (line, site) = text_by_own_line(BJOBS);
    assert_eq!(line, "bjobs");
    // 14 March 2022 05:00 UTC is 1647234000, 4 March 05:10 is 1646370600.
    assert_eq!(
        times(&site),
        [
            (1_646_370_600, Some(1_646_370_660), Some(600)),
            (1_647_234_000, Some(1_647_234_060), Some(3_600)),
            (1_647_234_600, Some(1_647_234_660), None),
            (1_647_235_200, None, None),
        ]
    );
    let kinds: Vec<SiteJobFate> = site.jobs().map(|job| job.kind).collect();
    assert_eq!(kinds, [SiteJobFate::Ran, SiteJobFate::Ran, SiteJobFate::Running, SiteJobFate::Waiting]);
    let limits: Vec<u32> = site.jobs().map(|job| job.limit).collect();
    assert_eq!(limits[..2], [300, 14_400]);
    assert_eq!((site.job_at(0).cpus, site.job_at(1).cpus), (Some(4), Some(16)));
}

#[test]
fn a_listing_of_lsf_may_be_json_and_name_tasks() {
    let record = |id: u32, index: u32, start: &str| {
        format!(
            "{{\"JOBID\":\"{id}\",\"JOBINDEX\":\"{index}\",\"STAT\":\"DONE\",\"USER\":\"ann\",\"QUEUE\":\"q\",\"NALLOC_SLOT\":\"8\",\
             \"SUBMIT_TIME\":\"Mar 14 05:00:00 2022\",\"START_TIME\":\"Mar 14 {start} 2022\",\"FINISH_TIME\":\"Mar 14 06:00:00 2022 L\"}}"
        )
    };
    let records = [record(7, 0, "05:10:00"), record(8, 1, "05:20:00"), record(8, 2, "05:30:00")].join(",");
    let text = format!("{{\"COMMAND\":\"bjobs\",\"JOBS\":3,\"RECORDS\":[{records}]}}");
    let (line, site) = text_by_own_line(&text);
    let jobs: Vec<_> = site.jobs().map(|job| (job.task, job.run, job.cpus)).collect();
    assert_eq!(line, "bjobs");
    assert_eq!(jobs, [(None, Some(3_000), Some(8)), (Some(1), Some(2_400), Some(8)), (Some(2), Some(1_800), Some(8))]);
}

#[test]
fn a_listing_of_lsf_without_years_names_the_command_with_them() {
    let text = BJOBS.replace(":00 2022", "");
    let error = error_of(&text, &utc());
    assert!(error.contains("LSB_DISPLAY_YEAR=Y bjobs") && error.lines().count() <= 5, "{error}");
    let error = error_of(&text, &with_columns("bjobs"));
    assert!(error.contains("LSB_DISPLAY_YEAR=Y bjobs") && error.lines().count() <= 5, "{error}");
    // The names of sacct with such times.
    let text = "JobID|Submit|Start|End|State|NCPUS\n1|Mar 14 05:00:00 2022|Mar 14 05:00:00 2022|Mon Mar 14 06:00:00 2022|COMPLETED|4\n";
    assert_eq!(times(&of_text(text, &utc())), [(1_647_234_000, Some(1_647_234_000), Some(3_600))]);
}

/// A pod that ran from ten past ten for an hour.
fn pod(name: &str, requests: &str, status: &str) -> String {
    format!(
        "{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{name}\",\"namespace\":\"ml\",\
         \"creationTimestamp\":\"2024-03-01T10:00:00Z\"}},\"spec\":{{\"containers\":[{requests}],\"nodeName\":\"n1\"}},\
         \"status\":{{{status}}}}}"
    )
}

fn list(items: &[String]) -> String {
    format!("{{\"apiVersion\":\"v1\",\"items\":[{}],\"kind\":\"List\"}}", items.join(","))
}

const RAN: &str = "\"phase\":\"Succeeded\",\"startTime\":\"2024-03-01T10:10:00Z\",\"containerStatuses\":[\
    {\"state\":{\"terminated\":{\"finishedAt\":\"2024-03-01T11:00:00Z\",\"exitCode\":0}}},\
    {\"state\":{\"terminated\":{\"finishedAt\":\"2024-03-01T11:10:00Z\",\"exitCode\":0}}}]";
const TWO: &str = "{\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\",\"nvidia.com/gpu\":\"1\"}}},\
    {\"resources\":{\"requests\":{\"cpu\":\"0.7\"},\"limits\":{\"cpu\":\"9\",\"nvidia.com/gpu\":\"1\"}}}";

#[test]
fn pods_are_jobs_with_the_sum_of_their_requests() {
    let eviction = "\"phase\":\"Failed\",\"startTime\":\"2024-03-01T10:10:00Z\",\"conditions\":[\
        {\"type\":\"Ready\",\"status\":\"False\",\"lastTransitionTime\":\"2024-03-01T10:20:00Z\"}]";
    let items = [
        pod("a", TWO, RAN),
        pod("b", "{\"resources\":{\"requests\":{\"cpu\":2}}}", eviction),
        pod(
            "c",
            "{\"resources\":{\"limits\":{\"cpu\":\"250m\",\"amd.com/gpu\":2}}}",
            "\"phase\":\"Running\",\"startTime\":\"2024-03-01T10:10:00Z\"",
        ),
        pod("d", "{\"resources\":{\"requests\":{\"cpu\":\"3\"}}}", "\"phase\":\"Pending\""),
        pod(
            "e",
            "{\"resources\":{\"requests\":{\"cpu\":\"3\"}}}",
            "\"phase\":\"Pending\",\"startTime\":\"2024-03-01T10:30:00Z\"",
        ),
    ];
    let (line, site) = text_by_own_line(&list(&items));
    assert_eq!(line, "kubernetes");
    // 2.2 processors are three, and a limit stands for the request of GPUs.
    let mut jobs: Vec<_> = site.jobs().map(|job| (job.cpus, job.gpus, job.run, job.kind)).collect();
    jobs.sort_by_key(|(cpus, gpus, run, _)| (*cpus, *gpus, *run));
    let mut right = [
        (Some(3), Some(2), Some(3_600), SiteJobFate::Ran),
        (Some(2), None, Some(600), SiteJobFate::Ran),
        (Some(1), Some(2), None, SiteJobFate::Running),
        (Some(3), None, None, SiteJobFate::Waiting),
        (Some(3), None, None, SiteJobFate::Running),
    ];
    right.sort_by_key(|(cpus, gpus, run, _)| (*cpus, *gpus, *run));
    let gpus = |(cpus, gpus, run, kind): (_, Option<u32>, _, _)| (cpus, gpus.filter(|gpus| *gpus > 0), run, kind);
    let mut jobs: Vec<_> = jobs.into_iter().map(gpus).map(|row| format!("{row:?}")).collect();
    let mut right: Vec<_> = right.into_iter().map(|row| format!("{row:?}")).collect();
    jobs.sort_unstable();
    right.sort_unstable();
    assert_eq!(jobs, right);
    assert!(site.jobs().all(|job| job.account == "ml" && job.submit == 1_709_287_200));
    // Ten tenths are one processor, not two.
    let tenths = ["{\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}"; 10].join(",");
    assert_eq!(of_text(list(&[pod("a", &tenths, RAN)]), &with_columns("kubernetes")).job_at(0).cpus, Some(1));
}

#[test]
fn jobs_of_kubernetes_have_the_pods_that_run_at_once() {
    let job = |name: &str, spec: &str, status: &str| {
        format!(
            "{{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{{\"name\":\"{name}\",\"namespace\":\"ml\",\"uid\":\"u-{name}\",\
             \"creationTimestamp\":\"2024-03-01T10:00:00Z\",\"labels\":{{\"kueue.x-k8s.io/queue-name\":\"team-a\"}}}},\
             \"spec\":{{{spec},\"template\":{{\"spec\":{{\"containers\":[{TWO}]}}}}}},\"status\":{{{status}}}}}"
        )
    };
    let completion =
        "\"startTime\":\"2024-03-01T10:10:00Z\",\"completionTime\":\"2024-03-01T12:10:00Z\",\"succeeded\":4";
    let failure = "\"startTime\":\"2024-03-01T10:10:00Z\",\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\
                  \"lastTransitionTime\":\"2024-03-01T10:40:00Z\"}]";
    let items = [
        job("a", "\"parallelism\":4,\"completions\":2,\"activeDeadlineSeconds\":9000", completion),
        job("b", "\"parallelism\":4", failure),
        job("c", "\"suspend\":true", ""),
    ];
    let site = of_text(list(&items), &with_columns("kubernetes"));
    let mut jobs: Vec<_> = site.jobs().map(|job| (job.cpus, job.run, job.kind.name())).collect();
    jobs.sort_unstable();
    // Two of 2.2 at once, four of 2.2, one that waits.
    let right = [
        (Some(3), None, SiteJobFate::Waiting.name()),
        (Some(5), Some(7_200), SiteJobFate::Ran.name()),
        (Some(9), Some(1_800), SiteJobFate::Ran.name()),
    ];
    assert_eq!(jobs, right);
    assert!(site.jobs().all(|job| job.partition == "team-a"));
    assert_eq!(site.jobs().find(|job| job.cpus == Some(5)).map(|job| job.limit), Some(9_000));
    // A job and its pods would count twice.
    let list_items = [job("a", "\"parallelism\":4", completion), pod("a-1", TWO, RAN)];
    let error = error_of(list(&list_items), &with_columns("kubernetes"));
    assert!(error.contains("would count twice") && error.contains("kubectl get pods"), "{error}");
}

#[test]
fn other_objects_of_kubernetes_are_no_jobs() {
    let service = "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\",\"creationTimestamp\":\"2024-03-01T10:00:00Z\"},\"spec\":{}}";
    let site = of_text(list(&[service.to_string(), pod("a", TWO, RAN)]), &with_columns("kubernetes"));
    assert_eq!((site.len(), rule(&site, "record").0), (1, 1));
    let error = error_of(list(&[service.to_string()]), &utc());
    assert!(error.contains("this is a list of Kubernetes") && error.contains("JobKey"), "{error}");
}

/// A row of a dump of Open XDMoD.
fn dumped(id: u32, name: &str) -> String {
    format!(
        "{id}|{id}|c|p|q|a|g|10|ann|11|2022-03-14T05:00:00|2022-03-14T05:00:00|2022-03-14T05:01:00|2022-03-14T06:01:00|01:00:00|0:0|\
         COMPLETED|1|16|16|0|billing=16,cpu=16,node=1|billing=16,cpu=16,node=1|02:00:00|n1|{name}\n"
    )
}

#[test]
fn a_dump_of_xdmod_is_known_whatever_its_jobs_are_called() {
    for names in [["plain", "x"], ["a|b", "x"], ["x", "a|b|c"], ["|", "||"], ["", "a,b;c\td"]] {
        let text = dumped(7, names[0]) + &dumped(8, names[1]);
        let error = error_of(&text, &utc());
        assert_eq!(own_line(&error), "xdmod", "{error}");
        assert!(error.contains("a dump of Open XDMoD") && error.contains("2 jobs"), "{error}");
        let site = of_text(&text, &with_columns("xdmod"));
        let jobs: Vec<_> = site.jobs().map(|job| (job.cpus, job.run, job.limit)).collect();
        assert_eq!(jobs, [(Some(16), Some(3_600), 7_200); 2], "{names:?}");
    }
    // An array, and a job that waits.
    let text =
        dumped(7, "x").replacen("7|", "7_[1-3]|", 1).replace("2022-03-14T06:01:00", "Unknown") + &dumped(8, "a|b");
    assert_eq!(own_line(&error_of(text, &utc())), "xdmod");
    // Another table of 26 columns.
    let text = dumped(7, "x").replace("COMPLETED", "17") + &dumped(8, "y").replace("COMPLETED", "18");
    assert!(!error_of(text, &ImportOptions::default()).contains("XDMoD;"));
}
