//! The `drystone` command: simulate, compare and choose batch scheduling policies.

mod args;
mod commands;
mod exit;
mod input;
mod interrupt;
mod measuring;
mod meta;
mod output;
mod parallel;
mod progress;
mod waiting;

use std::process::ExitCode;

fn main() -> ExitCode {
    args::choose_color_early();
    interrupt::watch();
    let cli = match <args::Cli as clap::Parser>::try_parse() {
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
