//! `drystone live install`.

use super::find_home;
use crate::args::{InstallArgs, InstallPiece};
use crate::exit::{CommandFailure, CommandOutcome, DONE};
use crate::output::{file, message, stdout};
use drystone_live::cluster::slurm::hook::{merge_hooks, sites_own};
use drystone_live::cluster::slurm::install::{DASHBOARD, Installation, MOTD};
use drystone_live::tracker::DaemonMode;
use nix::unistd::{Uid, User};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub(super) fn run_install(args: &InstallArgs) -> CommandOutcome {
    let user = match &args.user {
        Some(name) => User::from_name(name).ok().flatten().ok_or_else(|| no_user(name, args.home.state.as_path()))?,
        None => User::from_uid(Uid::effective())
            .ok()
            .flatten()
            .ok_or_else(|| CommandFailure::usage_error("this user has no name"))?,
    };
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("drystone"));
    // What the hook and systemd read must not depend on where this was run.
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let home = find_home(&args.home);
    let home = drystone_live::state::Home::new(whole(home.state_folder()), whole(home.run_folder()));
    let policy = args.policy.canonical_text();
    let conf = args.conf.as_deref().map(whole);
    let commands = folder_of("scontrol");
    let installation = Installation {
        home: &home,
        user: (&user.name, user.uid.as_raw()),
        program: &program,
        policy: &policy,
        mode: if args.shadow { DaemonMode::Shadow } else { DaemonMode::Drive },
        partitions: &args.partition,
        conf: conf.as_deref(),
        commands: commands.as_deref(),
    };
    let text = match args.piece {
        InstallPiece::Tmpfiles => installation.render_tmpfiles().ok_or_else(|| {
            CommandFailure::usage_error(format_args!(
                "{}: this run folder outlives a boot, and needs no piece of tmpfiles.d; --run names another",
                home.run_folder().display()
            ))
        })?,
        InstallPiece::Hook => beside_the_sites(args, installation.render_hook())?,
        InstallPiece::Wake => installation.render_wake(),
        InstallPiece::Unit => installation.render_unit(),
        InstallPiece::HandBack => installation.hand_back().0,
        InstallPiece::Timer => installation.hand_back().1,
        InstallPiece::Cron => installation.render_cron(),
        InstallPiece::Dashboard => DASHBOARD.to_string(),
        InstallPiece::Motd => MOTD.to_string(),
    };
    if args.piece == InstallPiece::Unit && is_hidden(&program) {
        message::print_warning(&format!(
            "{}: the unit cannot reach a program in a home directory (ProtectHome=yes): copy it to /usr/local/bin and call that",
            program.display()
        ));
    }
    if args.out == Path::new("-") {
        stdout::write_bytes(text.as_bytes())?;
        return Ok(DONE);
    }
    let new_file = file::write_bytes(&args.out, text.as_bytes())?;
    new_file.publish()?;
    if args.piece == InstallPiece::Wake {
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&args.out, executable)
            .map_err(|e| CommandFailure::write_error(&args.out.display().to_string(), &e))?;
    }
    next(args.piece, &whole(&args.out));
    Ok(DONE)
}

/// The failure where a user is missing: what makes one that can do nothing else.
fn no_user(name: &str, state: &Path) -> CommandFailure {
    CommandFailure::usage_error(format_args!(
        "there is no user {name} here; `useradd --system --home-dir {} --shell /usr/sbin/nologin {name}` makes one",
        state.display()
    ))
}

/// Returns whether `ProtectHome=yes` hides a program from a unit.
fn is_hidden(program: &Path) -> bool {
    ["/home", "/root", "/run/user"].iter().any(|folder| program.starts_with(folder))
}

/// Folder of a command on the search path, unless systemd searches it anyway.
fn folder_of(command: &str) -> Option<PathBuf> {
    const SEARCHED: [&str; 6] = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
    let path = std::env::var_os("PATH")?;
    let folder = std::env::split_paths(&path).find(|folder| folder.is_absolute() && folder.join(command).is_file())?;
    (!SEARCHED.iter().any(|folder_name| folder == Path::new(folder_name))).then_some(folder)
}

/// The hook as it goes to its place: a site's own `job_submit.lua` there is never lost.
fn beside_the_sites(args: &InstallArgs, hook: String) -> Result<String, CommandFailure> {
    let present_text = match std::fs::read_to_string(&args.out) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(hook),
        Err(error) if args.out != Path::new("-") => {
            return Err(CommandFailure::usage_error(format_args!("{}: cannot be read: {error}", args.out.display())));
        }
        Err(_) => return Ok(hook),
    };
    match sites_own(&present_text) {
        None => Ok(hook),
        Some(own) if args.merge => {
            let copy = args.out.with_extension("lua.site");
            file::write_bytes(&copy, own.as_bytes())?.publish()?;
            message::print_note(&format!("a copy of the site's own script is {}", copy.display()));
            Ok(merge_hooks(&hook, &own))
        }
        Some(_) => Err(CommandFailure::usage_error(format_args!(
            "{}: there is a script already that Drystone did not write; --merge keeps it and calls it first, or name another file",
            args.out.display()
        ))),
    }
}

/// Says what comes next.
fn next(piece: InstallPiece, out: &Path) {
    let out = out.display();
    message::print_note(&match piece {
        InstallPiece::Hook => format!(
            "{out} is in place; now JobSubmitPlugins=lua in slurm.conf, and restart slurmctld. Until a daemon drives, jobs pass"
        ),
        InstallPiece::Wake => format!("now JobCompType=jobcomp/script and JobCompLoc={out} in slurm.conf"),
        InstallPiece::Unit | InstallPiece::HandBack => {
            "now systemctl daemon-reload; install the hand-back and its timer as well".to_string()
        }
        InstallPiece::Timer => {
            "now systemctl daemon-reload and systemctl enable --now drystone-live-hand-back.timer".to_string()
        }
        InstallPiece::Tmpfiles => format!("now systemd-tmpfiles --create {out}"),
        InstallPiece::Cron | InstallPiece::Dashboard | InstallPiece::Motd => format!("{out} is written"),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_in_home_directories_are_hidden_from_units() {
        for (program, hidden) in [
            ("/home/anna/.cargo/bin/drystone", true),
            ("/root/drystone", true),
            ("/run/user/1000/drystone", true),
            ("/usr/local/bin/drystone", false),
            ("/opt/home/drystone", false),
            ("/homes/drystone", false),
        ] {
            assert_eq!(is_hidden(Path::new(program)), hidden, "{program}");
        }
    }
}
