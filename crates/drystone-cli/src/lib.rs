//! The `drystone` command as a library: simulate, compare and choose batch scheduling policies.
//!
//! A program that has policies of its own registers them and runs the command; they are then
//! compared, swept, explained and listed as the built-in ones are:
//!
//! ```no_run
//! use drystone::policy::{Backfill, BackfillChoices, PolicyKind, register_policy};
//! use std::process::ExitCode;
//!
//! static MINE: PolicyKind =
//!     PolicyKind::new("mine", "one line for people", &|_| Ok(Box::new(Backfill::new(BackfillChoices::default()))));
//!
//! fn main() -> ExitCode {
//!     register_policy(&MINE).expect("a new name");
//!     drystone_cli::main()
//! }
//! ```

mod args;
mod commands;
mod doubts;
mod exit;
mod input;
mod interrupt;
pub mod library;
mod measuring;
mod meta;
mod output;
mod parallel;
mod progress;
mod real;
#[cfg_attr(not(feature = "sites"), path = "site_absent.rs")]
mod site;
mod wait_conditions;
mod waiting;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

/// Runs the command with the arguments of this process, and answers its exit code.
pub fn main() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os().collect()))
}

/// The program that runs the command, where that is not this process's own.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// The program to begin where the command is to run in another process.
#[cfg(feature = "sweep")]
fn own_program() -> Result<PathBuf, exit::CommandFailure> {
    let own = || std::env::current_exe().map_err(|e| exit::CommandFailure::usage_error(format_args!("drystone: {e}")));
    PROGRAM.get().cloned().map_or_else(own, Ok)
}

/// Runs the program with these arguments, the name of the program first.
fn run_with(args: Vec<OsString>) -> u8 {
    let mut args = args::normalise_spelling(args);
    let is_all = args::asks_for_all(&mut args);
    args::choose_color_early(&args);
    interrupt::watch_signals();
    if let Err(failure) = library::register_policies() {
        return end_program(Err(failure));
    }
    let matches = args::build_command(is_all).try_get_matches_from(args);
    let cli = match matches.and_then(|arg_matches| <args::Cli as clap::FromArgMatches>::from_arg_matches(&arg_matches))
    {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                let _ = error.print();
                return exit::USAGE;
            }
            return end_program(print_help(&error));
        }
    };
    end_program(commands::run(cli))
}

/// Help and version are data, and a success where they can be written.
fn print_help(error: &clap::Error) -> exit::CommandOutcome {
    let text = error.render();
    let text = if output::stdout::is_styled() { text.ansi().to_string() } else { text.to_string() };
    output::stdout::write_bytes(text.as_bytes())?;
    Ok(exit::DONE)
}

fn end_program(outcome: exit::CommandOutcome) -> u8 {
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            failure.print_message();
            failure.exit_code()
        }
    }
}
