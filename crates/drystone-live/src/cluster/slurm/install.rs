//! Files of an installation beside the program: the hook, the script of ends, units of systemd, a
//! dashboard.

use super::hook::{HookSettings, SILENCE, job_submit, wake_script};
use crate::state::Home;
use crate::tracker::DaemonMode;
use std::path::Path;

const SERVICE: &str = include_str!("../../../assets/drystone-live.service");
const BACK: &str = include_str!("../../../assets/drystone-live-hand-back.service");
const TIMER: &str = include_str!("../../../assets/drystone-live-hand-back.timer");
/// A dashboard for Grafana, made of the metrics of `/metrics`.
pub const DASHBOARD: &str = include_str!("../../../assets/grafana.json");

/// Lines for the message of the day.
pub const MOTD: &str = "\
Jobs wait here as JobHeldUser until the scheduler starts them: that is no error and no hold of yours.
`scontrol hold JOB` and `scontrol release JOB` work as always on jobs of your own; `scancel` as well.
Planned starts, where they are written: squeue --me -O JobID,State,admin_comment:60
";

#[derive(Clone, Debug)]
pub struct Installation<'a> {
    /// Paths of the daemon's files.
    pub home: &'a Home,
    /// The daemon's user: its name and number.
    pub user: (&'a str, u32),
    pub program: &'a Path,
    pub policy: &'a str,
    pub mode: DaemonMode,
    /// Partitions that are driven; none for the default one.
    pub partitions: &'a [String],
    /// `slurm.conf`, where it is not at Slurm's own default; the units set `SLURM_CONF`.
    pub conf: Option<&'a Path>,
    /// Folder of Slurm's commands, where systemd's search path has it not.
    pub commands: Option<&'a Path>,
}

impl Installation<'_> {
    /// `job_submit.lua`: goes beside `slurm.conf` before `JobSubmitPlugins=lua` goes into it.
    pub fn render_hook(&self) -> String {
        job_submit(&HookSettings {
            heartbeat: &self.home.heartbeat_path(),
            wake: &self.home.wake_path(),
            daemon: self.user.1,
            partitions: self.partitions,
            silence: SILENCE,
        })
    }

    /// The script that tells of ends, for `JobCompLoc`.
    pub fn render_wake(&self) -> String {
        wake_script(&self.home.wake_path())
    }

    pub fn render_unit(&self) -> String {
        let partitions: String =
            self.partitions.iter().map(|name| format!(" --partition {}", quote_word(name))).collect();
        let (mode, does) = if self.mode == DaemonMode::Drive { ("drive", "drives") } else { ("shadow", "watches") };
        self.fill_template(SERVICE).replace("@MODE@", mode).replace("@DOES@", does).replace("@MORE@", &partitions)
    }

    /// The unit that gives everything back when the daemon is silent, and its timer.
    pub fn hand_back(&self) -> (String, String) {
        (self.fill_template(BACK), TIMER.to_string())
    }

    /// A piece of `tmpfiles.d`: makes the run folder when the host boots, before slurmctld's hook
    /// reads the heartbeat in it. `None` where the folder outlives a boot.
    pub fn render_tmpfiles(&self) -> Option<String> {
        let run = self.home.run_folder();
        let volatile = ["/run", "/var/run", "/tmp", "/dev/shm"].iter().any(|root| run.starts_with(root));
        // Escapes are those of C; the fields are separated by blanks.
        let path = run.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        volatile.then(|| {
            format!(
                "# The folder of Drystone's heartbeat. Written by `drystone live install tmpfiles`.\nd \"{path}\" 0755 {} - -\n",
                self.user.0
            )
        })
    }

    /// Returns the daemon's start as a line for cron, for systems without systemd.
    pub fn render_cron(&self) -> String {
        let (program, state, run) =
            (show_path(self.program), show_path(self.home.state_folder()), show_path(self.home.run_folder()));
        let conf = self.conf.map(|path| format!("SLURM_CONF={} ", show_path(path))).unwrap_or_default();
        format!(
            "* * * * * {} {conf}{program} live hand-back --if-silent 120 --state {state} --run {run} --quiet\n",
            self.user.0
        )
    }

    fn fill_template(&self, text: &str) -> String {
        // A % is systemd's own.
        text.replace("@POLICY@", &self.policy.replace('%', "%%").replace('\'', ""))
            .replace("@USER@", self.user.0)
            .replace("@DRYSTONE@", &show_path(self.program))
            .replace("@FOLDERS@", &self.render_folders())
            .replace("@ENVIRONMENT@", &self.render_environment())
            .replace("@STATE@", &show_path(self.home.state_folder()))
            .replace("@RUN@", &show_path(self.home.run_folder()))
    }

    /// Environment in which Slurm's commands are found and find the cluster.
    fn render_environment(&self) -> String {
        let quote_path =
            |path: &Path| path.to_string_lossy().replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
        let conf = self.conf.map(|path| format!("Environment=\"SLURM_CONF={}\"\n", quote_path(path)));
        let path = self
            .commands
            .map(|path| format!("Environment=\"PATH={}:/usr/local/bin:/usr/bin:/bin\"\n", quote_path(path)));
        conf.unwrap_or_default() + &path.unwrap_or_default()
    }

    /// Folders that systemd makes: those at their usual places. Others must be there.
    fn render_folders(&self) -> String {
        let below =
            |path: &Path, root: &str| path.strip_prefix(root).ok().filter(|rest| *rest != Path::new("")).map(show_path);
        let state = below(self.home.state_folder(), "/var/lib")
            .map(|rest| format!("StateDirectory={rest}\nStateDirectoryMode=0750\n"));
        let run = below(self.home.run_folder(), "/run").map(|rest| {
            format!(
                "RuntimeDirectory={rest}\n# The hook continues to read the heartbeat when the daemon is \
                gone.\nRuntimeDirectoryPreserve=yes\n"
            )
        });
        state.unwrap_or_default() + &run.unwrap_or_default()
    }
}

fn show_path(path: &Path) -> String {
    quote_word(&path.to_string_lossy())
}

/// A word of a command line; quoted where it has to be.
fn quote_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.,:=+@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_filled_in() {
        let home = Home::new("/var/lib/drystone", "/run/drystone");
        let partitions = ["main".to_string()];
        let installation = Installation {
            home: &home,
            user: ("drystone", 991),
            program: Path::new("/usr/local/bin/drystone"),
            policy: "easy(order=sjf,backfill=sjf)",
            mode: DaemonMode::Drive,
            partitions: &partitions,
            conf: None,
            commands: None,
        };
        let (back, timer) = installation.hand_back();
        for text in [
            installation.render_hook(),
            installation.render_wake(),
            installation.render_unit(),
            back,
            timer,
            installation.render_cron(),
        ] {
            assert!(!text.contains('@'), "{text}");
        }
        let unit = installation.render_unit();
        assert!(unit.contains(
            "ExecStart=/usr/local/bin/drystone live drive --policy 'easy(order=sjf,backfill=sjf)' --state /var/lib/drystone --run \
             /run/drystone --partition main\n"
        ));
        assert!(unit.contains("User=drystone\n") && unit.contains("StateDirectory=drystone\n"));
        assert!(unit.contains("RuntimeDirectory=drystone\n#"));
        assert!(
            unit.contains("\nDescription=Drystone: drives this cluster by easy(order=sjf,backfill=sjf)\n"),
            "{unit}"
        );
        let watches = Installation { mode: DaemonMode::Shadow, ..installation.clone() }.render_unit();
        assert!(
            watches.starts_with("# Drystone watches this cluster.") && watches.contains(" live shadow "),
            "{watches}"
        );
        assert!(!watches.contains("drives"), "{watches}");
        assert!(installation.render_hook().contains("daemon = 991"));
        assert!(!unit.contains("Environment="), "{unit}");
        assert!(
            installation
                .render_tmpfiles()
                .is_some_and(|text| text.ends_with("d \"/run/drystone\" 0755 drystone - -\n"))
        );
        // A Slurm of its own place.
        let own = Installation {
            conf: Some(Path::new("/opt/slurm/etc/slurm.conf")),
            commands: Some(Path::new("/opt/slurm/bin")),
            ..installation.clone()
        };
        for text in [own.render_unit(), own.hand_back().0] {
            assert!(text.contains("\nEnvironment=\"SLURM_CONF=/opt/slurm/etc/slurm.conf\"\n"), "{text}");
            assert!(text.contains("\nEnvironment=\"PATH=/opt/slurm/bin:/usr/local/bin:/usr/bin:/bin\"\n"), "{text}");
        }
        assert!(
            own.render_cron()
                .starts_with("* * * * * drystone SLURM_CONF=/opt/slurm/etc/slurm.conf /usr/local/bin/drystone ")
        );
        // Folders elsewhere are not systemd's to make.
        let elsewhere = Home::new("/srv/drystone", "/srv/drystone/run");
        let second_install = Installation { home: &elsewhere, ..installation };
        assert_eq!(second_install.render_tmpfiles(), None);
        let unit = second_install.render_unit();
        assert!(
            !unit.contains("Directory=") && unit.contains("ReadWritePaths=-/srv/drystone -/srv/drystone/run\n"),
            "{unit}"
        );
    }

    #[test]
    fn the_dashboard_asks_for_what_there_is() {
        let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).expect("JSON");
        let panels = dashboard["panels"].as_array().expect("panels");
        assert!(panels.len() > 10);
        let expressions: Vec<&str> = panels
            .iter()
            .flat_map(|panel| panel["targets"].as_array().expect("targets"))
            .map(|target| target["expr"].as_str().expect("an expression"))
            .collect();
        let names = include_str!("../../board/metrics.rs");
        for expression in expressions {
            for name in expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                let Some(name) = name.strip_prefix("drystone_live_") else { continue };
                let name = name.strip_suffix("_total").unwrap_or(name);
                let is_known = names.contains(&format!("\"{name}\"")) || names.contains(&format!("\"{name}_total\""));
                assert!(is_known, "{expression}: {name}");
            }
        }
    }
}
