//! Study files: what they mean, and errors that point at the line.

use drystone_sweep::{DesignLevel, SweepError, SweepPlan, SweepStudy};
use std::path::Path;

fn parse(text: &str) -> Result<SweepStudy, SweepError> {
    SweepStudy::parse(Path::new("dir/study.toml"), text.to_string())
}

fn plan(text: &str) -> SweepPlan {
    SweepPlan::from_study(&parse(text).expect("a study"), None).expect("a plan")
}

const WORKLOAD: &str = "[[workload]]\ngenerate = { procs = 16, jobs = 30 }\n";

/// The study with this policy's section.
fn with(policy: &str) -> String {
    format!("{WORKLOAD}[[policy]]\n{policy}\n")
}

#[test]
fn section_7_of_tsafrir_et_al_has_8640_configurations_of_which_1020_are_equal_to_others() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/tsafrir2007-section7.toml");
    let text = std::fs::read_to_string(file).expect("part of the project");
    // The same policies on one small workload instead of four logs.
    let policies = text.split_once("[[policy]]").expect("has policies").1;
    let plan = plan(&format!("{WORKLOAD}as = \"tsafrir2007\"\n[[policy]]{policies}"));
    assert_eq!(plan.configurations.len(), 3 * 2 * 2 * 2 * 4 * 3 * 30);
    // Per correction and propagation (6 of them), counted by hand from the equivalences: size 1:
    // metric and fullness do not matter; nor does the fallback with the window `all`: 1 + 2 + 2
    // windows. size 2: three metrics; `all` has 3 with a partial window and 3 × 2 with a full one,
    // the others 3 × 2 × 2 each. sizes 3 to 30: four metrics; `all` 4 × (1 + 2), the others 4 × 2 ×
    // 2 each.
    let per = 5 + (9 + 12 + 12) + 28 * (12 + 16 + 16);
    assert_eq!(plan.simulations.len(), 6 * per);
    assert_eq!(plan.saved_simulations(), 1020);
    // Every configuration is simulated by a policy with its own canonical text.
    for configuration in &plan.configurations {
        assert_eq!(configuration.policy.canonical_text(), plan.simulations[configuration.simulation].canonical);
    }
}

/// The studies of the project are studies; those that need no logs have a plan.
#[test]
fn the_studies_of_the_project_are_read() {
    let mut plan_count = 0;
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let paths = std::fs::read_dir(dir).expect("part of the project").map(|file| file.expect("readable").path());
    // Generated tables lie beside them.
    for path in paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
        let text = std::fs::read_to_string(&path).expect("readable");
        let study = SweepStudy::parse(&path, text.clone()).unwrap_or_else(|e| panic!("{e}"));
        if !text.contains("file = ") {
            let plan = SweepPlan::from_study(&study, None).unwrap_or_else(|e| panic!("{e}"));
            assert!(!plan.simulations.is_empty());
            plan_count += 1;
        }
    }
    assert_eq!(plan_count, 1, "the study that trains guided builds");
}

/// Parameters that take whole numbers are also sampled in logarithms; ends with fractions make
/// fractions.
#[test]
fn whole_ends_make_whole_samples() {
    let of = |ends: &str, policy: &str| {
        let range = format!("parameters = {{ x = {{ {ends}, log = true }} }}");
        plan(&with(&format!("policy = \"{policy}\"\ndesign = \"latin-hypercube\"\nsamples = 20\n{range}")))
    };
    let whole = of("from = 1, to = 200", "easy(predict=recent({x}))");
    assert!(whole.configurations.iter().all(|c| matches!(c.point[0], Some(DesignLevel::Int(1..=200)))));
    assert!(whole.simulations.len() > 10, "samples differ");
    let real = of("from = 1.0, to = 200", "slack(sf={x})");
    assert!(real.configurations.iter().all(|c| matches!(c.point[0], Some(DesignLevel::Real(_)))));
}

/// A sweep has no options of cleaning: its study has.
#[test]
fn advice_about_logs_is_for_study_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let job = "1 0 -1 10 8 -1 -1 8 10 -1 1 5 1 -1 0 -1 -1 -1\n";
    for (log, clean, advice) in [
        (format!("; MaxProcs: 4\n{job}"), "too-wide = \"error\"", "`procs = N`"),
        (job.to_string(), "", "`procs = N`"),
        (format!("; MaxProcs: 8\n{job}2 0 10\n"), "", "`lenient = true`"),
    ] {
        std::fs::write(dir.path().join("log.swf"), log).expect("written");
        let study = |clean: &str| {
            let text =
                format!("[[workload]]\nfile = \"log.swf\"\n[workload.clean]\n{clean}\n[[policy]]\npolicy = \"easy\"\n");
            SweepStudy::parse(&dir.path().join("study.toml"), text)
                .and_then(|study| SweepPlan::from_study(&study, None))
        };
        let error = study(clean).expect_err("refused").to_string();
        assert!(error.contains(advice) && error.ends_with("below [workload.clean]"), "{error}");
        assert!(!error.contains("--"), "{error}");
        study(&format!("{clean}\n{}", advice.trim_matches('`').replace('N', "8"))).expect("the advice helps");
    }
}

#[test]
fn every_point_meets_every_transformed_workload_and_seed() {
    let plan = plan(
        "seed = 5\nrepetitions = 2\n[[workload]]\nname = \"a\"\ngenerate = { procs = 16, jobs = 30 }\nload = [1, 1.25]\n\
         [[policy]]\npolicy = \"easy(order={order})\"\n[policy.parameters]\norder = [\"fcfs\", \"sjf\"]\n",
    );
    let labels: Vec<String> = plan.cases.iter().map(|case| case.label()).collect();
    assert_eq!(labels, ["a load=1 seed=5", "a load=1.25 seed=5", "a load=1 seed=6", "a load=1.25 seed=6"]);
    let rows: Vec<String> = plan
        .configurations
        .iter()
        .map(|c| format!("{} {}", c.point[0].as_ref().map_or(String::new(), DesignLevel::to_string), c.case))
        .collect();
    assert_eq!(rows, ["fcfs 0", "fcfs 1", "fcfs 2", "fcfs 3", "sjf 0", "sjf 1", "sjf 2", "sjf 3"]);
    let submits = |at: usize| plan.cases[at].workload.jobs().iter().map(|j| j.submit.0).collect::<Vec<_>>();
    let target_submits: Vec<i64> = submits(0).iter().map(|s| (s * 100).div_euclid(125)).collect();
    assert_eq!(submits(1), target_submits, "submits are divided by the load factor, rounded down");
    assert_ne!(submits(0), submits(2), "seeds matter");
}

#[test]
fn the_same_workload_by_two_names_is_simulated_once() {
    let plan = plan(
        "[[workload]]\nname = \"a\"\ngenerate = { procs = 16, jobs = 30 }\n\
         [[workload]]\nname = \"b\"\ngenerate = { procs = 16, jobs = 30 }\n\
         [[workload]]\nname = \"c\"\ngenerate = { procs = 16, jobs = 30 }\ntrim = \"tsafrir\"\n\
         [[policy]]\npolicy = \"easy\"\n[[policy]]\npolicy = \"easy(order=fcfs)\"\n",
    );
    // Other trimming counts other jobs.
    assert_eq!((plan.configurations.len(), plan.simulations.len()), (6, 2));
}

#[test]
fn lists_and_samples() {
    let list = plan(&with(
        "policy = \"easy(reserve={k},order={order})\"\npoints = [{ k = 1, order = \"sjf\" }, { order = \"fcfs\", k = 3 }]",
    ));
    let texts: Vec<&str> = list.configurations.iter().map(|c| c.policy.text()).collect();
    assert_eq!(texts, ["easy(reserve=1,order=sjf)", "easy(reserve=3,order=fcfs)"]);
    let sample = |design: &str, seed: u64| {
        let plan = plan(&with(&format!(
            "policy = \"easy(predict=recent({{k}},window={{w}}))\"\ndesign = \"{design}\"\nsamples = 6\nseed = {seed}\n\
             [policy.parameters]\nk = {{ from = 1, to = 6 }}\nw = [\"all\", \"immediate\", \"extended\"]"
        )));
        plan.configurations.iter().map(|c| c.policy.text().to_string()).collect::<Vec<_>>()
    };
    for design in ["random", "latin-hypercube"] {
        assert_eq!(sample(design, 1).len(), 6);
        assert_eq!(sample(design, 1), sample(design, 1));
        assert_ne!(sample(design, 1), sample(design, 2));
    }
    // Each of six sizes once, each of three windows twice.
    let cube = sample("latin-hypercube", 3);
    for k in 1..=6 {
        assert_eq!(cube.iter().filter(|t| t.contains(&format!("recent({k},"))).count(), 1, "{cube:?}");
    }
    for w in ["all", "immediate", "extended"] {
        assert_eq!(cube.iter().filter(|t| t.contains(w)).count(), 2, "{cube:?}");
    }
}

#[test]
fn ranges() {
    let values = |range: &str| {
        let plan =
            plan(&with(&format!("policy = \"easy(predict=quantile({{q}}))\"\n[policy.parameters]\nq = {range}")));
        plan.configurations.iter().map(|c| c.policy.text().to_string()).collect::<Vec<_>>()
    };
    let of = |values: &[&str]| values.iter().map(|v| format!("easy(predict=quantile({v}))")).collect::<Vec<_>>();
    assert_eq!(values("{ from = 0.1, to = 0.5, step = 0.1 }"), of(&["0.1", "0.2", "0.3", "0.4", "0.5"]));
    assert_eq!(values("{ from = 0, to = 1 }"), of(&["0", "1"]));
    assert_eq!(values("0.25"), of(&["0.25"]));
}

/// The largest seed there is, and the ones before it.
#[test]
fn seeds_up_to_the_largest() {
    let text = "seed = 9223372036854775806\nrepetitions = 2\n".to_string() + &with("policy = \"easy\"");
    let seeds: Vec<Option<u64>> = plan(&text).cases.iter().map(|case| case.seed).collect();
    assert_eq!(seeds, [Some(i64::MAX as u64 - 1), Some(i64::MAX as u64)]);
}

#[test]
fn mistakes_point_at_the_line() {
    let range = |range: &str| with(&format!("policy = \"easy(reserve={{k}})\"\n[policy.parameters]\nk = {range}"));
    for (text, line, part) in [
        ("nonsense".to_string(), 1, "expected"),
        ("x = 1\n".to_string(), 1, "unknown field `x`"),
        ("metrics = [\"wait_mean\",\n  \"wait\"]\n".to_string() + &with("policy = \"easy\""), 2, "no metric `wait`"),
        (WORKLOAD.to_string(), 1, "no [[policy]]"),
        ("[[policy]]\npolicy = \"easy\"\n".to_string(), 1, "no [[workload]]"),
        ("\n[[workload]]\nname = \"a\"\n".to_string(), 2, "either `file` or `generate`"),
        ("[[workload]]\ngenerate = { procs = 0, jobs = 3 }\n".to_string(), 2, "processor"),
        ("[[workload]]\nfile = \"a\"\nas = \"tsafrir\"\n".to_string(), 3, "expected tsafrir2007"),
        ("[[workload]]\nfile = \"a\"\nload = [1.0, -1]\n".to_string(), 3, "positive decimal"),
        ("[[workload]]\nfile = \"a\"\nload = [1, 1.0]\n".to_string(), 3, "`load` has 1 twice"),
        (
            "[[workload]]\nfile = \"a\"\nmonth = [\"1997-03\", \"1997-03\"]\n".to_string(),
            3,
            "`month` has 1997-03 twice",
        ),
        (
            "\nseed = 9223372036854775807\nrepetitions = 2\n".to_string() + &with("policy = \"easy\""),
            2,
            "a smaller `seed`",
        ),
        ("\nseeds = [9223372036854775808]\n".to_string() + &with("policy = \"easy\""), 2, ""),
        ("seeds = [3, 4, 3]\n".to_string() + &with("policy = \"easy\""), 1, "`seeds` has 3 twice"),
        (
            with("policy = \"easy(reserve={a},order={A})\"\n[policy.parameters]\na = [1]\nA = [\"sjf\"]"),
            3,
            "differ in case",
        ),
        ("[[workload]]\nfile = \"a\"\ntrim = \"some\"\n".to_string(), 3, "expected all, tsafrir"),
        ("[[workload]]\nfile = \"a\"\n[workload.clean]\noverrun = \"stop\"\n".to_string(), 4, "expected run-on"),
        ("[[workload]]\nfile = \"a\"\n[workload.clean]\ncolour = 1\n".to_string(), 4, "colour"),
        ("[[workload]]\nfile = \"a\"\n[workload.clean]\ntake = 0\n".to_string(), 4, "a number of jobs from 1"),
        (with("policy = \"esy\""), 4, "Did you mean `easy`?"),
        (with("policy = \"easy(order={o})\""), 4, "`{o}` has no values"),
        (with("policy = \"easy\"\n[policy.parameters]\nk = [1]"), 4, "`k` does not stand in the policy"),
        (with("policy = \"easy(order={o})\"\n[policy.parameters]\no = [\"fcfs\", \"sooner\"]"), 4, "order takes"),
        (range("[]"), 6, "at least one value"),
        (range("[1, 1]"), 6, "twice"),
        (range("[1, \"1\"]"), 6, "twice"),
        (with("policy = \"easy(reserve={rank})\"\n[policy.parameters]\nrank = [1]"), 6, "of a ranking"),
        (range("{ from = 3, to = 1 }"), 6, "at most"),
        (range("{ from = 1, to = 3, by = 1 }"), 6, "a range is"),
        (range("{ from = 0.5, to = 3.5 }"), 6, "needs a `step`"),
        (range("{ from = 1, to = 99999999999 }"), 6, "more than"),
        (with("policy = \"easy\"\ndesign = \"cube\""), 5, "no design"),
        (with("policy = \"easy\"\ndesign = \"random\""), 5, "needs `samples`"),
        (with("policy = \"easy(reserve={load})\"\n[policy.parameters]\nload = [1]"), 6, "column of the store"),
        (WORKLOAD.repeat(2) + "[[policy]]\npolicy = \"easy\"\n", 3, "another workload named"),
    ] {
        match parse(&text) {
            Err(SweepError::Study { file, line: at, problem, .. }) => {
                assert_eq!((file.as_str(), at), ("dir/study.toml", line), "{text}\n{problem}");
                assert!(problem.contains(part), "{text}\n{problem}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
    // Whatever is offered instead of a wrong name may stand there.
    let clean = |name: &str| parse(&format!("[[workload]]\nfile = \"a\"\n[workload.clean]\n{name} = 1\n"));
    let error = clean("colour").expect_err("a mistake").to_string();
    let (problem, offer_text) = error.split_once(", expected one of ").expect("a list");
    assert_eq!(problem, "dir/study.toml:4:1: unknown field `colour`");
    let offered: Vec<&str> =
        offer_text.lines().next().unwrap_or_default().split(", ").map(|f| f.trim_matches('`')).collect();
    assert!(offered.contains(&"overrun") && offered.contains(&"lenient"), "{offered:?}");
    for name in offered {
        if let Err(error) = clean(name) {
            assert!(!error.to_string().contains("cannot stand here"), "{error}");
        }
    }
    let error = parse("[[workload]]\nfile = \"a\"\nas = \"tsafrir\"\n").expect_err("a mistake").to_string();
    assert!(error.starts_with("dir/study.toml:3:6: ") && error.ends_with("\n  as = \"tsafrir\""), "{error}");
}

/// Mistakes that only the workloads reveal point at the line as well, with the reason and the
/// correction.
#[test]
fn mistakes_that_show_with_the_workloads_point_at_the_line() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("study.toml");
    // Its job outlives its estimate.
    let log = "; MaxProcs: 8\n1 0 -1 20 8 -1 -1 8 10 -1 1 5 1 -1 0 -1 -1 -1\n";
    std::fs::write(dir.path().join("log.swf"), log).expect("written");
    let of = |study: &str, policy: &str| {
        format!("[[workload]]\n{study}\nfile = \"log.swf\"\n[[policy]]\npolicy = \"{policy}\"\n")
    };
    let without_log = "[[workload]]\nname = \"w\"\nfile = \"gone.swf\"\n[[policy]]\npolicy = \"easy\"\n";
    for (text, at, parts) in [
        // Several reservations are no part of EASY as that study has it; `run` and `compare` also
        // refuse them.
        (
            of("as = \"tsafrir2007\"", "easy(reserve=4,order=fcfs)"),
            "5:10",
            [
                "`as = \"tsafrir2007\"` makes it `easy@tsafrir2007(reserve=4,order=fcfs)`",
                "leave the workload's `as` out",
            ],
        ),
        (
            of("", "easy@gaussier2015"),
            "5:10",
            ["jobs outlive theirs", "(write `overrun = \"kill\"` below its [workload.clean];"],
        ),
        (
            without_log.to_string(),
            "3:8",
            ["gone.swf: cannot be opened", "--logs DIR first, then beside the study file"],
        ),
    ] {
        let study = SweepStudy::parse(&file, text.clone()).expect("a study");
        let error = SweepPlan::from_study(&study, None).expect_err("refused").to_string();
        assert!(error.starts_with(&format!("{}:{at}: ", file.display())), "{text}\n{error}");
        for part in parts {
            assert!(error.contains(part), "{error}");
        }
    }
}

/// The page's example is one that can be carried out.
#[test]
fn the_example_of_the_page_is_a_study() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sweep.md"));
    let page = page.expect("part of the project");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(text, _)| text).collect();
    let &[short, whole] = &examples[..] else { panic!("further ones must also be planned here") };
    assert_eq!(plan(short).configurations.len(), 5, "a workload under five sizes");
    parse(whole).expect("a study");
    // With what can be generated here instead of the log, and without months of it.
    let local_line = |line: &str| match line.split(' ').next() {
        Some("file") => "generate = { procs = 100, jobs = 50 }\n".to_string(),
        Some("month") => "\n".to_string(),
        _ => format!("{line}\n"),
    };
    let text: String = whole.lines().map(local_line).collect();
    assert_eq!(plan(&text).cases.len(), 2 * 3 + 3, "two loads of the one, three seeds of both");
    // With the log itself, where it is.
    let data_root = std::env::var_os("DRYSTONE_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), std::path::PathBuf::from);
    let logs = data_root.join("traces");
    if !logs.join("KTH-SP2-1996-2.1-cln.swf.gz").exists() {
        eprintln!("SKIPPED: the log of the page's example is not in {} (set DRYSTONE_SHARED)", logs.display());
        return;
    }
    let plan = SweepPlan::from_study(&parse(whole).expect("a study"), Some(&logs)).expect("a plan");
    assert_eq!(plan.cases.len(), 2 * 2 + 3, "two months at two loads, and three seeds");
}

/// Cleaning leaves in the store what a workload was generated from.
#[test]
fn a_generated_workload_that_is_cleaned_says_both() {
    let text = with("policy = \"easy\"").replace("[[policy]]", "[workload.clean]\noverrun = \"kill\"\n[[policy]]");
    let plan = plan(&text);
    let cleaning = plan.cases[0].cleaning_text();
    assert!(cleaning.starts_with("generator=") && cleaning.contains("overrun=kill"), "{cleaning}");
}

#[test]
fn a_missing_month_and_a_missing_log_are_named() {
    let month =
        "[[workload]]\ngenerate = { procs = 16, jobs = 30 }\nmonth = \"1950-01\"\n[[policy]]\npolicy = \"easy\"\n";
    let error = SweepPlan::from_study(&parse(month).expect("a study"), None).expect_err("no such month").to_string();
    assert!(error.contains("study.toml:3") || error.contains("UnixStartTime"), "{error}");
    let log = "[[workload]]\nfile = \"gone.swf\"\n[[policy]]\npolicy = \"easy\"\n";
    let error = SweepPlan::from_study(&parse(log).expect("a study"), None).expect_err("no such log").to_string();
    assert!(error.contains("workload gone") && error.contains("dir/gone.swf"), "{error}");
}

#[test]
fn a_policy_with_a_time_limit_is_found() {
    let find_policy = |policy: &str| {
        let parameters = "[policy.parameters]\nn = [\"auto\", \"100\"]";
        let study = parse(&with(&format!("policy = \"{policy}\"\n{parameters}"))).expect("a study");
        study.timed_policy().map(|spec| spec.text().to_string())
    };
    assert_eq!(find_policy("goal(nodes={n})"), None);
    assert_eq!(find_policy("goal(budget=5ms,nodes={n})").as_deref(), Some("goal(budget=5ms,nodes=auto)"));
}

/// Windows cut each workload, before its load is scaled; what counts of a window with warm-up and
/// cool-down lies between. A table and a text say the same.
#[test]
fn windows_are_parts_of_each_workload() {
    let study = |windows: &str, more: &str| {
        format!(
            "windows = {windows}\n[[workload]]\nload = [1.0, 2.0]\n{more}generate = {{ procs = 16, jobs = 300 }}\n[[policy]]\npolicy = \"easy\"\n"
        )
    };
    let table = plan(&study("{ jobs = 50, count = 3, seed = 7 }", ""));
    assert_eq!(table.hash, plan(&study("\"jobs=50,count=3,seed=7\"", "")).hash);
    assert_eq!(table.cases.len(), 6);
    assert!(table.cases.iter().all(|case| case.workload.len() == 50));
    assert_eq!(table.cases[0].slice, table.cases[3].slice, "the same windows at each load");
    let (base_jobs, two) = (table.cases[0].workload.jobs(), table.cases[3].workload.jobs());
    assert_eq!(base_jobs[0].submit.0 / 2, two[0].submit.0);
    let margins = plan(&study("{ jobs = 50, from = [100], warm-up = 20, cool-down = 10 }", ""));
    let case = &margins.cases[1];
    assert_eq!((case.workload.len(), case.slice.as_deref()), (80, Some("jobs 100..150")));
    let jobs = case.workload.jobs();
    let expected = format!("submitted({},{})", jobs[20].submit.0, jobs[69].submit.0 + 1);
    assert_eq!(case.trim.to_string(), expected);
    assert_eq!(plan(&study("\"jobs=50\"", "windows = \"none\"\n")).cases.len(), 2);
    for (windows, more, part) in [
        ("{ jobs = 0 }", "", "`jobs=0` is no part of a rule of windows"),
        ("{ jobs = 500, count = 10 }", "", "needs 5000 jobs, and the log has 300 jobs"),
        ("{ jobs = 50 }", "slice = \"0..99\"\n", "do not go with `windows`"),
        ("{ jobs = 50, warm-up = 5 }", "trim = \"tsafrir\"\n", "`trim` does not go with `warm-up`"),
        ("[1, 2]", "", "`windows` is a table such as"),
    ] {
        let text = study(windows, more);
        let problem =
            parse(&text).and_then(|study| SweepPlan::from_study(&study, None)).expect_err(windows).to_string();
        assert!(problem.contains(part) && problem.contains("study.toml:"), "{windows}: {problem}");
    }
}

/// Checkpoints are cases of their own, beside those of failures: the interval follows the failures,
/// and where there are none it is the one that they would choose.
#[test]
fn checkpoints_are_a_parameter_of_a_study() {
    let study = |checkpoints: &str| {
        format!(
            "[[workload]]\ngenerate = {{ procs = 64, days = 20, load = 0.1 }}\nfailures = [\"none\", {{ mtbf = \"20d\", node = 8 }}]\n\
             checkpoints = {checkpoints}\n[[policy]]\npolicy = \"easy\"\n"
        )
    };
    let plan_of = plan(&study("[\"none\", \"young\", { interval = \"1h\", cost = 60 }]"));
    let changes: Vec<_> = plan_of.cases.iter().map(|case| case.change.as_deref().unwrap_or("none")).collect();
    let failures = "failures(mtbf=1728000s,repair=21600s,node=8,jobs=requeue,seed=1)";
    let (young, hour) = ("checkpoints(young,cost=300s,restart=300s)", "checkpoints(3600s,cost=60s,restart=60s)");
    let beside = |points: &str| format!("{failures}; {points}");
    assert_eq!(changes, ["none", young, hour, failures, &beside(young), &beside(hour)]);
    for at in [1, 4] {
        let checkpoints = plan_of.cases[at].given.platform.checkpoints.expect("some").to_string();
        assert_eq!(checkpoints, "young,cost=300s,restart=300s,mtbf=1728000s,node=8");
    }
    for (checkpoints, part) in [
        ("\"soon\"", "expected an interval"),
        ("7", "expected \"young\""),
        ("[]", "the list is empty"),
        ("[\"1h\", \"1h\"]", "twice"),
        ("{ interval = \"1h\", price = 3 }", "`price=3` is not possible"),
    ] {
        let text = study(checkpoints);
        let problem =
            parse(&text).and_then(|study| SweepPlan::from_study(&study, None)).expect_err(checkpoints).to_string();
        assert!(problem.contains(part) && problem.contains("study.toml:4"), "{checkpoints}: {problem}");
    }
}

/// Failures are cases of their own: the same jobs on a machine that loses nodes, as often as the
/// mean times say, alike at every load and unlike in every window.
#[test]
fn failures_are_a_parameter_of_a_study() {
    let study = |failures: &str| {
        format!(
            "[[workload]]\ngenerate = {{ procs = 64, days = 400, load = 0.1 }}\nfailures = {failures}\n[[policy]]\npolicy = \"easy\"\n"
        )
    };
    let pair_plan = plan(&study("[\"none\", { mtbf = \"20d\", repair = \"1d\", node = 8, seed = 3 }]"));
    assert_eq!((pair_plan.cases.len(), pair_plan.simulations.len()), (2, 2));
    assert!(pair_plan.cases[0].given.outages.is_empty() && pair_plan.cases[0].change.is_none());
    let failing = &pair_plan.cases[1];
    let text = "failures(mtbf=1728000s,repair=86400s,node=8,jobs=requeue,seed=3)";
    assert_eq!(failing.change.as_deref(), Some(text));
    // Eight nodes for 400 days, a failure every 21 days: 152 on average, give or take a deviation
    // of twelve.
    let count = failing.given.outages.list().len();
    assert!((100..210).contains(&count), "{count}");
    let windows = plan(&format!("windows = {{ days = 50 }}\n{}", study("{ mtbf = \"2d\", node = 8 }")));
    let begins = |case: usize| -> Vec<i64> {
        let case = &windows.cases[case];
        let first = case.workload.jobs()[0].submit;
        case.given.outages.list().iter().map(|outage| (outage.begin - first).0).collect()
    };
    assert_ne!(begins(0), begins(1));
    for (failures, part) in [
        ("{ repair = \"1d\" }", "`mtbf` is missing"),
        ("{ mtbf = \"1w\" }", "`mtbf` has no such value; expected"),
        ("{ mtbf = 5, jobs = \"vanish\" }", "`jobs` has no such value; expected"),
        ("{ mtbf = \"1h\", repair = \"2h\" }", "nodes cannot be out"),
        ("{ mtbf = \"30d\", node = 65 }", "a node of 65 processors is impossible"),
        ("[\"none\", \"none\"]", "twice"),
        ("3", "expected { mtbf"),
        ("{ mtbf = \"1d\", shape = 20 }", "cannot have the shape 20"),
    ] {
        let text = study(failures);
        let problem =
            parse(&text).and_then(|study| SweepPlan::from_study(&study, None)).expect_err(failures).to_string();
        assert!(problem.contains(part) && problem.contains("study.toml:3"), "{failures}: {problem}");
    }
}
