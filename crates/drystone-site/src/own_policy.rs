//! Policies of a site's own Slurm.

use drystone::policy::{NamedCall, PolicySpec, SpecError};
use drystone_slurm::policy::SLURM;
use std::path::Path;

/// Parameters that describe a machine where no `slurm.conf` does.
const MACHINE: [&str; 2] = ["cpus", "whole"];

/// Returns the policy as it is meant beside this `slurm.conf`: Slurm's own, where it names no other
/// file, is the one of that file with the settings that its parameters change. A policy of another
/// machine says so by its file, or by `conf=none`.
///
/// # Errors
/// A policy that describes the nodes as well, or a path that cannot stand in a policy.
pub fn with_conf(spec: &PolicySpec, conf: &Path) -> Result<PolicySpec, SpecError> {
    if spec.kind().name != SLURM.name {
        return Ok(spec.clone());
    }
    let call = NamedCall::parse(spec.text())?;
    let is = |key: &Option<String>, name: &str| key.as_deref() == Some(name);
    if call.args.iter().any(|(key, _)| key.is_none() || is(key, "conf")) {
        return Ok(spec.clone());
    }
    let fail = |problem: String| Err(SpecError { text: spec.text().to_string(), problem });
    if let Some((name, value)) =
        MACHINE.iter().find_map(|name| Some((name, &call.args.iter().find(|(key, _)| is(key, name))?.1)))
    {
        return fail(format!(
            "`{name}` describes nodes, and {} has described them; leave `{name}` out, or write slurm(conf=none,{name}={value}) \
             for another machine",
            conf.display()
        ));
    }
    let Some(path) = conf.to_str().filter(|text| !text.contains('"')) else {
        return fail(format!("a path with a double quote or without UTF-8 cannot stand in it: {}", conf.display()));
    };
    let plain = path.chars().all(|c| c.is_alphanumeric() || "/._-#".contains(c));
    let mut text = match (&call.args[..], plain) {
        ([], true) => return format!("{}:{path}", SLURM.name).parse(),
        (_, true) => format!("{}(conf={path}", SLURM.name),
        (_, false) => format!("{}(conf=\"{path}\"", SLURM.name),
    };
    for (key, value) in &call.args {
        let quote = if value.chars().any(|c| c.is_whitespace() || "(),=\"".contains(c)) { "\"" } else { "" };
        text += &format!(",{}={quote}{value}{quote}", key.as_deref().unwrap_or_default());
    }
    (text + ")").parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text beside a configuration, and the text that is meant there.
    #[test]
    fn a_policy_that_names_no_machine_is_of_the_sites() {
        let _ = drystone_slurm::policy::register_policy();
        let folder = tempfile::tempdir().expect("a folder");
        let conf = folder.path().join("slurm.conf");
        std::fs::write(&conf, "NodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n").expect("a file");
        let path = conf.display().to_string();
        let meant = |text: &str| with_conf(&text.parse().expect("a policy"), &conf).map(|spec| spec.text().to_string());
        for (text, expected) in [
            ("slurm", format!("slurm({path})")),
            ("slurm(bf_interval=60)", format!("slurm(conf={path},bf_interval=60)")),
            ("slurm(bf_window=9,defer=yes)", format!("slurm(conf={path},bf_window=9,defer=yes)")),
            ("slurm(conf=none,cpus=4)", "slurm(conf=none,cpus=4)".to_string()),
            (&format!("slurm:{path}"), format!("slurm({path})")),
            ("easy", "easy".to_string()),
        ] {
            assert_eq!(meant(text).as_ref(), Ok(&expected), "{text}");
        }
        let problem = meant("slurm(cpus=4)").expect_err("the file says what nodes there are").problem;
        assert!(problem.ends_with("or write slurm(conf=none,cpus=4) for another machine"), "{problem}");
        let space_path = folder.path().join("a site");
        std::fs::create_dir(&space_path).expect("a folder");
        std::fs::copy(&conf, space_path.join("slurm.conf")).expect("a file");
        let spec = with_conf(&"slurm(bf_interval=60)".parse().expect("a policy"), &space_path.join("slurm.conf"))
            .expect("quoted");
        assert_eq!(spec.parameters()[0], ("conf", space_path.join("slurm.conf").display().to_string()));
    }
}
