//! The crate to copy for a policy of one's own: its profiles are those of the workspace.

use crate::files;
use std::collections::BTreeMap;

/// Packages that a copied crate does not optimise: those of tests, and those of Python.
const NOT_IN_A_COPY: [&str; 6] =
    ["proptest", "drystone-reference", "drystone-testkit", "drystone-python", "numpy", "pyo3"];

/// Returns the settings of each profile of builds and tests, by the name of its table.
fn read_profiles(manifest: &str) -> BTreeMap<String, Vec<String>> {
    let mut profiles: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut table = None;
    for line in manifest.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = Some(name.to_owned()).filter(|name| {
                let counts = name.starts_with("profile.release") || name.starts_with("profile.dev");
                counts && !NOT_IN_A_COPY.iter().any(|package| name.ends_with(&format!(".package.{package}")))
            });
        } else if let (Some(table), false) = (&table, line.is_empty() || line.starts_with('#')) {
            profiles.entry(table.clone()).or_default().push(line.to_owned());
        }
    }
    profiles
}

#[test]
fn profiles_of_the_template_are_those_of_the_workspace() {
    let workspace = read_profiles(&files::text("Cargo.toml"));
    assert!(workspace.len() > 20, "{workspace:?}");
    assert_eq!(read_profiles(&files::text("templates/policy/Cargo.toml")), workspace);
}
