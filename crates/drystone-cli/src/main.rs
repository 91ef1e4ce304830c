//! The `drystone` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    drystone_cli::main()
}
