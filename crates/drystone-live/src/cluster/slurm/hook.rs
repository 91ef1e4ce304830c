//! The hook in slurmctld, and what it writes.

use crate::tracker::Told;
use std::path::Path;

/// The hook, with a line of settings to be filled in.
const JOB_SUBMIT: &str = include_str!("../../../assets/job_submit.lua");
/// What tells the daemon of ends.
const WAKE: &str = include_str!("../../../assets/wake.sh");
/// Begins the line of settings.
const SETTINGS: &str = "local SETTINGS = ";

/// For how long the daemon may be silent before the hook lets jobs pass, in seconds.
pub const SILENCE: u64 = 60;

/// What the hook has to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookSettings<'a> {
    /// The daemon's heartbeat.
    pub heartbeat: &'a Path,
    /// Where the hook says that something happened.
    pub wake: &'a Path,
    /// The daemon's user.
    pub daemon: u32,
    /// Partitions whose jobs are held.
    pub partitions: &'a [String],
    /// For how long the daemon may be silent, in seconds.
    pub silence: u64,
}

/// `job_submit.lua`, filled in.
#[must_use]
pub fn job_submit(settings: &HookSettings<'_>) -> String {
    let names: Vec<String> = settings.partitions.iter().map(|name| format!("[{}] = true", quoted(name))).collect();
    let line = format!(
        "{SETTINGS}{{ heartbeat = {}, wake = {}, daemon = {}, silence = {}, partitions = {{ {} }} }}",
        quoted(&settings.heartbeat.to_string_lossy()),
        quoted(&settings.wake.to_string_lossy()),
        settings.daemon,
        settings.silence,
        names.join(", ")
    );
    let lines: Vec<&str> =
        JOB_SUBMIT.lines().map(|old| if old.starts_with(SETTINGS) { line.as_str() } else { old }).collect();
    lines.join("\n") + "\n"
}

/// What a hook that is in place was told: the line of its settings, if it is ours.
#[must_use]
pub fn settings_of(hook: &str) -> Option<&str> {
    hook.lines().find(|line| line.starts_with(SETTINGS) && line.contains("heartbeat"))
}

/// Whether a hook that is in place reads this heartbeat.
#[must_use]
pub fn reads(hook: &str, heartbeat: &Path) -> bool {
    settings_of(hook)
        .is_some_and(|line| line.contains(&format!("heartbeat = {},", quoted(&heartbeat.to_string_lossy()))))
}

/// The script that tells of ends.
#[must_use]
pub fn wake(file: &Path) -> String {
    WAKE.replace("@WAKE@", &file.to_string_lossy().replace('\'', "'\\''"))
}

/// A text as Lua writes it.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_string();
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'"' && byte != b'\\' || byte == b' ' {
            quoted.push(char::from(byte));
        } else {
            quoted.push_str(&format!("\\{byte:03}"));
        }
    }
    quoted + "\""
}

/// What a line of the wake file says, if it says more than "look". A user cannot write into it;
/// what is not understood only wakes.
#[must_use]
pub fn told(line: &str) -> Option<Told> {
    let (verb, number) = line.split_once(' ')?;
    let number = number.trim().parse().ok()?;
    match verb {
        "hold" => Some(Told::Hold(number)),
        "release" => Some(Told::Release(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hook_is_filled_in() {
        let partitions = vec!["main".to_string(), "l\"ng".to_string()];
        let settings = HookSettings {
            heartbeat: Path::new("/run/dry stone/heartbeat"),
            wake: Path::new("/run/drystone/wake"),
            daemon: 64030,
            partitions: &partitions,
            silence: 60,
        };
        let text = job_submit(&settings);
        let line = settings_of(&text).expect("there");
        assert_eq!(
            line,
            "local SETTINGS = { heartbeat = \"/run/dry stone/heartbeat\", wake = \"/run/drystone/wake\", daemon = 64030, silence = 60, partitions = { [\"main\"] = true, [\"l\\034ng\"] = true } }"
        );
        assert!(reads(&text, Path::new("/run/dry stone/heartbeat")) && !reads(&text, Path::new("/run/x")));
        assert!(!reads("-- another hook\n", Path::new("/run/x")));
    }

    #[test]
    fn lines_of_the_hook() {
        assert_eq!(told("hold 21"), Some(Told::Hold(21)));
        assert_eq!(told("release 7"), Some(Told::Release(7)));
        for other in ["submit", "change 7", "7 COMPLETED", "hold x", "hold -1", ""] {
            assert_eq!(told(other), None, "{other}");
        }
    }
}
