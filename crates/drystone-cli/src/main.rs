//! The `drystone` command: simulate, compare and choose batch scheduling policies.

mod args;
mod commands;
mod exit;
mod input;
mod interrupt;
mod meta;
mod output;
mod parallel;
mod progress;
mod simulate;
mod waiting;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::choose_color_early();
    interrupt::watch();
    let cli = match <args::Cli as clap::Parser>::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are data and a success; a reader who has seen enough of them is one, too.
            let code = if error.use_stderr() { exit::USAGE } else { exit::DONE };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    match commands::run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.code())
        }
    }
}
