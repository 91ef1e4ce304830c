//! Running jobs that give nodes, as their users allow.

use super::site::{Site, Tests, until};

pub(crate) fn tests() -> Tests {
    vec![
        ("a_job_that_allows_it_gives_nodes", gives_nodes),
        ("a_shadow_says_which_job_could_give_nodes", could_give_nodes),
    ]
}

/// Options of a job on four nodes of two processors each, which may go on with one.
const WIDE: [&str; 5] = ["-N", "4", "--ntasks-per-node=2", "--comment", "ours; drystone:min-nodes=1"];
const POLICY: &str = "easy(resize=shrink)";

fn nodes_of(site: &Site, job: u64) -> String {
    site.cluster
        .command_output("squeue", &["-h", "-a", "-t", "all", "-j", &job.to_string(), "-o", "%D %C"])
        .trim()
        .to_string()
}

fn gives_nodes() {
    let Some(site) = Site::start(4, 2, POLICY) else { return };
    // Without the site's permission it does not drive, and names the option that gives it.
    let output = site.command(&["live", "drive", "--policy", POLICY, "--check"]).output().expect("runs");
    let problem = String::from_utf8_lossy(&output.stderr).to_string();
    assert!(!output.status.success() && problem.contains("add `--shrink`"), "{problem}");
    let daemon = site.drive_with(&["--shrink"], None);
    let wide = site.submit_with(8, 60, 2, &WIDE);
    site.await_state(wide, &["R"]);
    let first = site.submit(3, 5, 1);
    site.await_state(first, &["R", "CD"]);
    assert_eq!(nodes_of(&site, wide), "2 4", "two nodes hold three processors");
    assert_eq!(site.state(wide), "R");
    site.settled();
    // A job that allows nothing keeps its nodes while another job waits.
    site.await_state(first, &["CD"]);
    let silent = site.submit(4, 60, 2);
    site.await_state(silent, &["R"]);
    let last = site.submit(8, 1, 1);
    until("it waits", || site.published()["jobs"]["waiting"] == 1);
    assert_eq!((nodes_of(&site, wide).as_str(), nodes_of(&site, silent).as_str()), ("2 4", "2 4"));
    assert_eq!((site.state(wide).as_str(), site.state(silent).as_str(), site.state(last).as_str()), ("R", "R", "held"));
    site.settled();
    let text = site.run(&["live", "journal", "show"]);
    assert!(text.contains(&format!("shrink {wide} to 4 processors")), "{text}");
    let notes = site.published()["health"]["notes"].to_string();
    assert!(notes.contains(&format!("job {wide} gives 2 of its 4 nodes, and job {first} starts")), "{notes}");
    drop(daemon);
    site.replays();
}

fn could_give_nodes() {
    let Some(site) = Site::start(4, 2, POLICY) else { return };
    let _daemon = site.shadow();
    let wide = site.submit_with(8, 60, 2, &WIDE);
    site.await_state(wide, &["R"]);
    let waits = site.submit(3, 5, 1);
    let expected = format!("job {wide} could give 2 of its 4 nodes: job {waits} would start now");
    until("the shadow says so", || site.published()["health"]["notes"].to_string().contains(&expected));
    assert_eq!((nodes_of(&site, wide).as_str(), site.state(waits).as_str()), ("4 8", "PD"));
    assert_eq!(site.orders(), [], "no order");
}
