//! What the commands do: one file per command.

mod compare;
mod evolve;
mod explain;
mod gantt;
#[cfg(unix)]
mod live;
mod orders;
mod policies;
mod predict;
mod predict_verdict;
mod predictors;
mod report;
mod reproduce;
mod run;
mod shell;
mod sweep;
mod why_not;
mod workload;

use crate::args::{Cli, Command};
use crate::exit::Outcome;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Outcome {
    match cli.command {
        Command::Compare(args) => compare::compare(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::report(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Evolve(args) => evolve::evolve(&args),
        Command::Gantt(args) => gantt::gantt(&args),
        Command::Predict(args) => predict::predict(&args),
        Command::Reproduce(args) => reproduce::reproduce_studies(&args),
        Command::Policies(args) => policies::policies(&args),
        Command::Workload(args) => workload::workload(args),
        Command::Sweep(args) => sweep::sweep(*args),
        #[cfg(unix)]
        Command::Live(args) => live::live(args.command),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}
