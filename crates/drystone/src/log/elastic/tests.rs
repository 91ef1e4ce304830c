use super::formula::{Names, evaluate_formula};
use super::*;

fn value(text: &str) -> f64 {
    let names = Names::from([("n".to_string(), 4.0), ("alpha".to_string(), 0.5)]);
    evaluate_formula(text, &names).unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn formulas_by_hand() {
    for (text, expected) in [
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("2^3^0", 2.0),
        ("-2^2", -4.0),
        ("100/n^alpha", 50.0),
        ("(1 + n) * 2e1", 100.0),
        ("max(1, min(n, 3), 2)", 3.0),
        ("ceil(log2(n)) % 2 + sqrt(pow(n, 2))", 4.0),
        ("1.5e-1*10", 1.5),
    ] {
        assert!((value(text) - expected).abs() < 1e-12, "{text}: {}", value(text));
    }
    let deep = "(".repeat(10_000);
    for (text, part) in [
        ("2 * m", "`m` is unknown; known are n"),
        ("(1 + 2", "not closed"),
        ("1 +", "it ends where"),
        ("1 2", "from column 3 on"),
        ("1/0", "comes to inf"),
        ("sinus(1)", "no function `sinus`"),
        (deep.as_str(), "deep"),
    ] {
        let names = Names::from([("n".to_string(), 4.0)]);
        let problem = evaluate_formula(text, &names).expect_err(text);
        assert!(problem.contains(part), "{text}: {problem}");
    }
}

/// The application model of ElastiSim's example project, without what names its input and output.
const MODEL: &str = r#"{"on_init": {"tasks": [{"type": "pfs_read", "bytes": "model_size", "pattern": "all_ranks"}]},
    "on_expansion": {"tasks": []},
    "phases": [{"iterations": "iterations", "tasks": [
        {"type": "cpu", "flops": "flops/num_nodes^alpha", "computation_pattern": "uniform", "bytes": "communication_size",
         "communication_pattern": "all_to_all", "coupled": true}]}]}"#;

fn read(jobs: &str, machine: &ElasticMachine, models: &[(&str, &str)]) -> Result<ElasticLog, String> {
    let mut open = |file: &str| {
        let model = models.iter().find(|(name, _)| *name == file);
        model.map(|(_, text)| (*text).to_string()).ok_or_else(|| format!("{file}: cannot be read"))
    };
    read_elastic("jobs.json", jobs.as_bytes(), machine, &mut open).map_err(|error| error.to_string())
}

/// Jobs 1, 2, 3 and 7 of ElastiSim's example project, on nodes of 100 Gflop/s; the run times are
/// those of a calculation that is not ours (seconds at each size, rounded up).
#[test]
fn jobs_of_elastisim_have_the_run_times_of_their_formulas() {
    let job = |kind: &str, submit: u32, nodes: &str, iterations: u32, flops: u64, alpha: f64| {
        format!(
            r#"{{"type": "{kind}", "submit_time": {submit}, {nodes}, "application_model": "m.json", "arguments":
            {{"iterations": {iterations}, "flops": {flops}, "alpha": {alpha}, "communication_size": 1}}}}"#
        )
    };
    let sizes = r#""num_nodes_min": 2, "num_nodes_max": 16"#;
    let jobs = [
        job("adaptive", 61, sizes, 24, 28_010_281_208_643, 0.852_741_224_070_986_3),
        job("rigid", 81, r#""num_nodes": 14"#, 15, 196_401_146_004_155, 0.775_076_586_009_916_4),
        job("malleable", 159, sizes, 10, 131_866_146_977_721, 0.790_563_321_299_638_4),
        job("moldable", 631, sizes, 23, 84_474_847_242_139, 0.805_699_659_330_889_4),
    ];
    let jobs = format!(r#"{{"jobs": [{}]}}"#, jobs.join(","));
    let machine = ElasticMachine { flops: 1e11, gpu_flops: None, procs: Some(128) };
    let log = read(&jobs, &machine, &[("m.json", MODEL)]).unwrap_or_else(|problem| panic!("{problem}"));
    let runs: Vec<(i64, i64, i64)> =
        log.records.iter().map(|record| (record.submit.round(), record.run.round(), record.requested)).collect();
    assert_eq!(runs, [(61, 633, 16), (81, 3810, 14), (159, 1473, 16), (631, 2082, 16)]);
    let rows: Vec<&str> = log.table.lines().collect();
    assert_eq!((rows.len(), log.sized), (4, 3));
    let first = "table:2=3723;3=2635;4=2062;5=1705;6=1459;7=1280;8=1142;9=1033;10=944;11=870;12=808;13=755;14=709;15=668;\
                 16=633";
    assert!(rows[1].starts_with("1,adaptive,,,2 3 4") && rows[1].contains(first), "{}", rows[1]);
    assert!(rows[1].ends_with(",26"), "633 s in 24 iterations: {}", rows[1]);
    assert!(rows[3].contains("2=11116;3=8018") && rows[3].ends_with(",0"), "{}", rows[3]);
    assert_eq!(log.left_out.get("communications"), Some(&1));
    assert_eq!(log.left_out.get("tasks of input and output"), Some(&1));
}

#[test]
fn tasks_of_elastisim_by_hand() {
    let model = r#"{"phases": [
        {"iterations": 2, "tasks": [
            {"type": "cpu", "flops": 1200, "computation_pattern": "all_ranks"},
            {"type": "sequence", "iterations": 3, "tasks": [{"type": "idle", "delay": 5, "pattern": "uniform"}]},
            {"type": "gpu", "flops": "600*num_gpus", "computation_pattern": "total"}]},
        {"scheduling_point": false, "tasks": [{"type": "cpu", "flops": 90, "computation_pattern": "even_ranks"}]}]}"#;
    let job = r#"{"jobs": [{"type": "malleable", "submit_time": 0, "num_nodes_min": 1, "num_nodes_max": 3, "walltime": 900,
        "num_gpus_per_node_min": 2, "application_model": "m", "arguments": {"num_nodes_pref": 2}}]}"#;
    let machine = ElasticMachine { flops: 10.0, gpu_flops: Some(100.0), procs: None };
    let log = read(job, &machine, &[("m", model)]).unwrap_or_else(|problem| panic!("{problem}"));
    // 2·(120/n + 3·5 + 6) + 9/⌈n/2⌉: 291, 171, and 126.5 s, whose half goes up.
    assert!(log.table.contains("1,malleable,,,1 2 3,2,table:1=291;2=171;3=127,85"), "{}", log.table);
    let record = &log.records[0];
    assert_eq!((record.run.round(), record.requested_time.round(), record.requested), (171, 900, 2));
    let plain_machine = ElasticMachine { gpu_flops: None, ..machine };
    let problem = read(job, &plain_machine, &[("m", model)]).expect_err("no speed of a GPU");
    assert!(problem.contains("place 1") && problem.contains("--gpu-flops"), "{problem}");
}

#[test]
fn sizes_that_take_longer_are_left_out() {
    let model = r#"{"phases": [{"tasks": [{"type": "cpu", "flops": "100/num_nodes + 20*num_nodes",
        "computation_pattern": "uniform"}]}]}"#;
    let job = r#"{"jobs": [{"type": "moldable", "submit_time": 0, "num_nodes_min": 1, "num_nodes_max": 4,
        "application_model": "m", "arguments": {"num_nodes_pref": 3}}]}"#;
    let machine = ElasticMachine { flops: 1.0, gpu_flops: None, procs: None };
    let log = read(job, &machine, &[("m", model)]).unwrap_or_else(|problem| panic!("{problem}"));
    // 120, 90, 94 and 105 s: three are preferred, so that two, which are faster, go; four are
    // slower.
    assert!(log.table.contains("1 3,3,table:1=120;3=94,0"), "{}", log.table);
}

#[test]
fn computations_of_batsim_that_are_divided_are_moldable() {
    let text = r#"{"nb_res": 8, "jobs": [
        {"id": 1, "subtime": 0, "res": 4, "walltime": 500, "profile": "spread"},
        {"id": 2, "subtime": 5, "res": 2, "profile": "each"},
        {"id": 3, "subtime": 9, "res": 2, "profile": "both"},
        {"id": 4, "subtime": 9, "res": 1, "profile": "delay"}],
        "profiles": {
        "spread": {"type": "ParallelTaskHomogeneousProfile", "cpu": 4e3, "com": 1, "generation_strategy":
            "DefinedAmountsSpreadUniformly"},
        "each": {"type": "ParallelTaskHomogeneousProfile", "cpu": 4e3, "com": 0},
        "delay": {"type": "delay", "delay": 7},
        "both": {"type": "SequentialCompositionProfile", "repeat": 2, "seq": ["delay", "spread"]}}}"#;
    let machine = ElasticMachine { flops: 10.0, gpu_flops: None, procs: None };
    let log = read(text, &machine, &[]).unwrap_or_else(|problem| panic!("{problem}"));
    let runs: Vec<i64> = log.records.iter().map(|record| record.run.round()).collect();
    // 400 s over 4; 400 s each; 2·(7 + 200); 7.
    assert_eq!(runs, [100, 400, 414, 7]);
    let rows: Vec<&str> = log.table.lines().skip(1).collect();
    assert_eq!(rows, ["1,moldable,1,8,,4,linear,0", "3,moldable,,,1 2 4 8,2,table:1=814;2=414;4=214;8=114,0"]);
    assert_eq!((log.records[0].requested_time.round(), log.left_out["communications"]), (500, 1));
}

#[test]
fn what_is_wrong_has_a_place_and_a_remedy() {
    let machine = ElasticMachine { flops: 1e9, gpu_flops: None, procs: None };
    let with = |job: &str| read(&format!(r#"{{"jobs": [{job}]}}"#), &machine, &[("m", MODEL)]).expect_err(job);
    for (job, part) in [
        (r#"{"type": "rigid", "submit_time": 0, "num_nodes": 2}"#, "`application_model`"),
        (r#"{"type": "rigid", "submit_time": 0, "num_nodes": 2, "application_model": "x"}"#, "x: cannot be read"),
        (r#"{"type": "soft", "submit_time": 0, "application_model": "m"}"#, "expected rigid, moldable"),
        (r#"{"type": "moldable", "submit_time": 0, "num_nodes": 2, "application_model": "m"}"#, "`num_nodes_min`"),
        (r#"{"type": "rigid", "submit_time": 0, "num_nodes": 2, "application_model": "m"}"#, "`iterations` is unknown"),
    ] {
        let problem = with(job);
        assert!(problem.contains("place 1") && problem.contains(part), "{job}: {problem}");
    }
    let problem = read("{\n]", &machine, &[]).expect_err("no JSON");
    assert!(problem.contains("jobs.json") && problem.contains('2'), "{problem}");
}
