//! What the commands do: one file per command.

mod advise;
pub(crate) mod compare;
mod evolve;
pub(crate) mod explain;
pub(crate) mod fidelity;
pub(crate) mod gantt;
pub(crate) mod import;
#[cfg(unix)]
mod live;
mod orders;
mod parameters;
mod passes;
mod policies;
pub(crate) mod predict;
mod predict_verdict;
mod predictors;
mod report;
mod reproduce;
pub(crate) mod run;
mod shell;
#[cfg(feature = "sweep")]
mod sweep;
mod why_not;
pub(crate) mod workload;

use crate::args::{Cli, Command};
use crate::exit::Outcome;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> Outcome {
    match cli.command {
        Command::Compare(args) => compare::compare(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::report(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Evolve(args) => evolve::evolve(&args),
        Command::Gantt(args) => gantt::gantt(&args),
        Command::Predict(args) => predict::predict(&args),
        Command::Reproduce(args) => reproduce::reproduce_studies(&args),
        Command::Policies(args) => policies::policies(&args),
        Command::Import(args) => import::import(&args),
        Command::Fidelity(args) => fidelity::fidelity(&args),
        Command::Workload(args) => workload::workload(args),
        #[cfg(feature = "sweep")]
        Command::Sweep(args) => sweep::sweep(*args),
        #[cfg(not(feature = "sweep"))]
        Command::Sweep(_) => Err(crate::output::format::without("drystone sweep", "sweep")),
        #[cfg(unix)]
        Command::Live(args) => live::live(args.command),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
    }
}
