//! Another build of the program (release for debug, another compiler's) makes the same files, byte
//! for byte.

use crate::common::Folder;
use std::process::Command;

/// `DRYSTONE_OTHER` names the other build.
#[test]
fn another_build_makes_the_same_bytes() {
    let Some(program) = std::env::var_os("DRYSTONE_OTHER") else {
        eprintln!("SKIPPED: no other build to compare with (set DRYSTONE_OTHER to a program of the same version)");
        return;
    };
    let folder = Folder::new();
    folder.run(&["workload", "generate", "--jobs", "1500", "--procs", "64", "--load", "0.9", "--out", "log.swf"]).ok();
    let list = folder.run(&["policies", "--format", "json"]).json();
    let policies: Vec<&str> =
        list["policies"].as_array().expect("a list").iter().filter_map(|p| p["name"].as_str()).collect();
    assert!(policies.len() > 8, "{policies:?}");
    for policy in policies {
        let args =
            |name| ["run", "-w", "log.swf", "-p", policy, "--quiet", "--format", "json", "--details", "--jobs", name];
        let own_output = folder.run(&args("here.csv")).ok();
        let other_output =
            Command::new(&program).args(args("there.csv")).current_dir(folder.path("")).output().expect("runs");
        assert!(other_output.status.success(), "{policy}: {}", String::from_utf8_lossy(&other_output.stderr));
        assert_eq!(folder.read("here.csv"), folder.read("there.csv"), "{policy}");
        assert!(own_output.as_bytes() == other_output.stdout, "{policy}: the same schedule, but not the same results");
    }
}
