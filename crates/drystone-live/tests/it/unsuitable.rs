//! Policies that a cluster cannot run.

use drystone::policy::PolicySpec;
use drystone_live::cluster::Capabilities;
use drystone_live::core::Core;

#[test]
fn a_policy_that_changes_paces_is_refused() {
    let can = Capabilities { suspend: true, migrate: true, pin: true, hold: true, shrink: true };
    let refusal = |policy: &str| {
        let spec: PolicySpec = policy.parse().unwrap_or_else(|error| panic!("{policy}: {error}"));
        Core::check_policy(&spec, can).err().map(|error| error.to_string())
    };
    let message = refusal("easy(drop=pace)").expect("no driver of a cluster changes paces");
    assert!(message.contains("changes the paces of jobs") && message.contains("leave out `drop=pace`"), "{message}");
    // Without caps no job starts slowly.
    assert_eq!(refusal("easy"), None);
}
