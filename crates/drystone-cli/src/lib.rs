//! The `drystone` command as a library: simulate, compare and choose batch scheduling policies.
//!
//! A program that has policies of its own registers them and runs the command; they are then compared, swept, explained and
//! listed as the built-in ones are:
//!
//! ```no_run
//! use drystone::policy::{Backfill, Choices, Kind, register};
//! use std::process::ExitCode;
//!
//! static MINE: Kind =
//!     Kind::new("mine", "one line for people", &|_| Ok(Box::new(Backfill::new(Choices::default()))));
//!
//! fn main() -> ExitCode {
//!     register(&MINE).expect("a new name");
//!     drystone_cli::main()
//! }
//! ```

mod args;
mod commands;
mod doubts;
mod exit;
mod input;
mod interrupt;
mod measuring;
mod meta;
mod output;
mod parallel;
mod progress;
mod real;
mod site;
mod waiting;

use std::process::ExitCode;

/// Runs the command with the arguments of this process, and answers its exit code.
#[must_use]
pub fn main() -> ExitCode {
    args::choose_color_early();
    interrupt::watch();
    drystone::log::source::register(site::as_log);
    if let Err(error) = drystone_slurm::policy::register() {
        return end(Err(exit::Failure::usage(error.to_string())));
    }
    let cli = match <args::Cli as clap::Parser>::try_parse_from(args::spelled()) {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                let _ = error.print();
                return ExitCode::from(exit::USAGE);
            }
            return end(help(&error));
        }
    };
    end(commands::run(cli))
}

/// Help and version are data, and a success where they can be written.
fn help(error: &clap::Error) -> exit::Outcome {
    let text = error.render();
    let text = if output::stdout::is_styled() { text.ansi().to_string() } else { text.to_string() };
    output::stdout::write(text.as_bytes())?;
    Ok(exit::DONE)
}

fn end(outcome: exit::Outcome) -> ExitCode {
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.code())
        }
    }
}
