//! The hook in slurmctld, and what it writes.

use std::path::{Path, PathBuf};

/// The hook, with a line of settings to be filled in.
const JOB_SUBMIT: &str = include_str!("../../../assets/job_submit.lua");
/// Script that notifies the daemon of ends.
const WAKE: &str = include_str!("../../../assets/wake.sh");
/// Begins the line of settings.
const SETTINGS: &str = "local SETTINGS = ";

/// Silence of the daemon after which the hook lets jobs pass, in seconds.
pub const SILENCE: u64 = 60;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HookSettings<'a> {
    /// The daemon's heartbeat.
    pub heartbeat: &'a Path,
    /// File in which the hook reports events.
    pub wake: &'a Path,
    /// The daemon's user.
    pub daemon: u32,
    /// Partitions whose jobs are held.
    pub partitions: &'a [String],
    /// Silence of the daemon that is allowed, in seconds.
    pub silence: u64,
}

/// `job_submit.lua`, filled in.
pub fn job_submit(settings: &HookSettings<'_>) -> String {
    let names: Vec<String> = settings.partitions.iter().map(|name| format!("[{}] = true", quote_lua(name))).collect();
    let line = format!(
        "{SETTINGS}{{ heartbeat = {}, wake = {}, daemon = {}, silence = {}, partitions = {{ {} }} }}",
        quote_lua(&settings.heartbeat.to_string_lossy()),
        quote_lua(&settings.wake.to_string_lossy()),
        settings.daemon,
        settings.silence,
        names.join(", ")
    );
    let lines: Vec<&str> =
        JOB_SUBMIT.lines().map(|old| if old.starts_with(SETTINGS) { line.as_str() } else { old }).collect();
    lines.join("\n") + "\n"
}

/// Returns the settings line of an installed hook, if the hook is ours.
pub fn settings_of(hook: &str) -> Option<&str> {
    hook.lines().find(|line| line.starts_with(SETTINGS) && line.contains("heartbeat"))
}

/// Returns whether an installed hook is the one that this version writes, whatever its settings and
/// beside whichever script of the site's.
pub fn is_current(hook: &str) -> bool {
    let Some(settings) = settings_of(hook) else { return false };
    let own = JOB_SUBMIT.lines().map(|line| if line.starts_with(SETTINGS) { settings } else { line });
    let own = own.collect::<Vec<_>>().join("\n") + "\n";
    match (hook.contains(SITE_BEGINS), sites_own(hook)) {
        (true, Some(site)) => hook == merge_hooks(&own, &site),
        _ => hook == own,
    }
}

pub fn reads_heartbeat(hook: &str, heartbeat: &Path) -> bool {
    settings_of(hook)
        .is_some_and(|line| line.contains(&format!("heartbeat = {},", quote_lua(&heartbeat.to_string_lossy()))))
}

/// The heartbeat that a hook reads, where it is ours.
pub fn heartbeat_of(hook: &str) -> Option<PathBuf> {
    let (_, rest) = settings_of(hook)?.split_once("heartbeat = \"")?;
    let mut bytes = rest.bytes();
    let mut path = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => return Some(PathBuf::from(String::from_utf8_lossy(&path).into_owned())),
            b'\\' => {
                let digits: Vec<u8> = bytes.by_ref().take(3).collect();
                path.push(std::str::from_utf8(&digits).ok()?.parse().ok()?);
            }
            byte => path.push(byte),
        }
    }
}

/// Lines around a site's own script in a merged one.
const SITE_BEGINS: &str = "local site = (function() -- the site's own script begins";
const SITE_ENDS: &str = "end) -- the site's own script ends";

/// The script that a site had before: the whole text where it is not ours, what is kept inside of a
/// merged one; `None` where there is nothing of the site's.
pub fn sites_own(text: &str) -> Option<String> {
    if let Some((_, rest)) = text.split_once(&format!("{SITE_BEGINS}\n")) {
        return rest.split_once(&format!("{SITE_ENDS}\n")).map(|(own, _)| own.to_string());
    }
    (settings_of(text).is_none() && !text.trim().is_empty()).then(|| text.to_string())
}

/// Our hook and a site's own script in one file: the site's decides first, and what it refuses is
/// refused.
pub fn merge_hooks(hook: &str, own: &str) -> String {
    let end = if own.ends_with('\n') { "" } else { "\n" };
    let hook = hook.replace("function slurm_job_", "local function drystone_job_");
    let body = hook.strip_suffix("return slurm.SUCCESS\n").unwrap_or(&hook);
    format!(
        "{SITE_BEGINS}\n{own}{end}{SITE_ENDS}\nsite()\nlocal site_submit, site_modify = slurm_job_submit, slurm_job_modify\n\n{body}\n\
         function slurm_job_submit(job, partitions, uid)\n  local code = slurm.SUCCESS\n  if site_submit then code = site_submit(job, partitions, uid) end\n  \
         if code ~= nil and code ~= slurm.SUCCESS then return code end\n  return drystone_job_submit(job, partitions, uid)\nend\n\n\
         function slurm_job_modify(job, record, partitions, uid)\n  local code = slurm.SUCCESS\n  if site_modify then code = site_modify(job, record, partitions, uid) end\n  \
         if code ~= nil and code ~= slurm.SUCCESS then return code end\n  return drystone_job_modify(job, record, partitions, uid)\nend\n\nreturn slurm.SUCCESS\n"
    )
}

/// The script that tells of ends.
pub fn wake_script(file: &Path) -> String {
    WAKE.replace("@WAKE@", &file.to_string_lossy().replace('\'', "'\\''"))
}

fn quote_lua(text: &str) -> String {
    let mut literal = "\"".to_string();
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'"' && byte != b'\\' || byte == b' ' {
            literal.push(char::from(byte));
        } else {
            literal.push_str(&format!("\\{byte:03}"));
        }
    }
    literal + "\""
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
        assert!(
            reads_heartbeat(&text, Path::new("/run/dry stone/heartbeat"))
                && !reads_heartbeat(&text, Path::new("/run/x"))
        );
        assert!(!reads_heartbeat("-- another hook\n", Path::new("/run/x")));
    }

    #[test]
    fn the_heartbeat_of_a_hook_is_read_back() {
        let heartbeat = Path::new("/run/dry \"s\" stone/h\u{e9}art");
        let settings = HookSettings { heartbeat, wake: Path::new("/w"), daemon: 0, partitions: &[], silence: 60 };
        assert_eq!(heartbeat_of(&job_submit(&settings)).as_deref(), Some(heartbeat));
        assert_eq!(heartbeat_of("return slurm.SUCCESS\n"), None);
    }

    #[test]
    fn a_sites_own_script_is_kept() {
        let settings =
            HookSettings { heartbeat: Path::new("/h"), wake: Path::new("/w"), daemon: 0, partitions: &[], silence: 60 };
        let hook = job_submit(&settings);
        let own = "function slurm_job_submit(job, parts, uid)\n  return slurm.ERROR\nend\nreturn slurm.SUCCESS";
        assert_eq!((sites_own(&hook), sites_own("")), (None, None));
        assert_eq!(sites_own(own).as_deref(), Some(own));
        let once = merge_hooks(&hook, own);
        let script = sites_own(&once).expect("inside");
        assert_eq!(script.trim_end(), own);
        assert_eq!(merge_hooks(&hook, &script), once, "merging again changes nothing");
        assert!(is_current(&hook) && is_current(&once) && !is_current(own));
        for text in [&hook, &once] {
            assert!(!is_current(&text.replace("wake(\"submit\")", "wake(\"came\")")), "{text}");
        }
        assert_eq!(heartbeat_of(&once).as_deref(), Some(Path::new("/h")));
    }
}
