//! Platforms and priorities of studies.

use drystone_sweep::{Plan, Study, SweepError, simulate};
use std::path::Path;
use std::sync::atomic::AtomicBool;

const WORKLOAD: &str = "[[workload]]\ngenerate = { procs = 32, jobs = 400, load = 1.2 }\n";
const POLICIES: &str = "[[policy]]\npolicy = \"ss\"\n[[policy]]\npolicy = \"slack\"\n[[policy]]\npolicy = \"easy\"\n";

fn plan(directory: &Path, files: &str, policies: &str) -> Result<Plan, SweepError> {
    let study = Study::parse(&directory.join("study.toml"), format!("{WORKLOAD}{files}{policies}"))?;
    Plan::of(&study, None)
}

/// The mean waits under `ss`, `slack` and `easy`.
fn waits(plan: &Plan) -> Vec<f64> {
    let never = AtomicBool::new(false);
    let wait = |place| {
        let measured = simulate(plan, place, &never).expect("nothing stops it");
        assert_eq!(measured.error, None);
        measured.values[0].expect("jobs waited")
    };
    (0..plan.simulations.len()).map(wait).collect()
}

/// A platform is felt by the policy that suspends, priorities by the one that takes them, and
/// either changes the plan.
#[test]
fn each_file_is_felt_where_it_matters() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("slow.toml"), "[suspension]\nrate = 0.5\n").expect("written");
    std::fs::write(dir.path().join("users.toml"), "[[user]]\nid = [1, 2, 3]\npp = 1.0\n").expect("written");
    let of = |files: &str| plan(dir.path(), files, POLICIES).expect("a plan");
    let (plain, slow) = (of(""), of("platform = \"slow.toml\"\n"));
    let important = of("priorities = \"users.toml\"\n");
    let (free, paid, ranked) = (waits(&plain), waits(&slow), waits(&important));
    assert!(paid[0] > free[0], "suspensions cost time: {} and {}", paid[0], free[0]);
    assert_eq!(paid[1..], free[1..], "no other policy suspends");
    assert_ne!(ranked[1], free[1], "slack knows the preferred users");
    assert_eq!((ranked[0], ranked[2]), (free[0], free[2]));
    assert!(plain.hash != slow.hash && plain.hash != important.hash && slow.hash != important.hash);
    assert!(slow.cases[0].cleaning().contains("platform=blake3:"), "{}", slow.cases[0].cleaning());
    assert!(!plain.cases[0].cleaning().contains("blake3:"));
}

/// Mistakes are reported with their line.
#[test]
fn wrong_files_are_told() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("odd.toml"), "[suspension]\nrate = \"fast\"\n").expect("written");
    std::fs::write(dir.path().join("users.toml"), "[[user]]\nid = 1\npp = 1.0\n").expect("written");
    let easy = "[[policy]]\npolicy = \"easy\"\n";
    for (files, expected) in [
        ("platform = \"none.toml\"\n", "none.toml: cannot be read"),
        ("platform = \"odd.toml\"\n", "odd.toml: "),
        ("priorities = \"odd.toml\"\n", "odd.toml: "),
        ("priorities = \"users.toml\"\n", "no policy of this study has any use for `priorities`"),
    ] {
        let error = plan(dir.path(), files, easy).expect_err(files).to_string();
        assert!(error.contains("study.toml:3:") && error.contains(expected), "{error}");
    }
}
