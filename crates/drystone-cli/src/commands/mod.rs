//! Commands, one file for each.

#[cfg(feature = "sites")]
pub(crate) mod advise;
mod cite;
pub(crate) mod compare;
#[cfg(feature = "evolve")]
pub(crate) mod evolve;
pub(crate) mod explain;
#[cfg(feature = "sites")]
pub(crate) mod fidelity;
#[cfg(feature = "sites")]
pub(crate) mod foresee;
pub(crate) mod gantt;
pub(crate) mod headroom;
#[cfg(feature = "sites")]
pub(crate) mod import;
#[cfg_attr(not(feature = "sites"), path = "job_story_absent.rs")]
mod job_story;
#[cfg(all(unix, feature = "live"))]
mod live;
mod log_words;
mod orders;
mod parameters;
#[cfg_attr(not(feature = "sites"), path = "passes_absent.rs")]
mod passes;
mod policies;
pub(crate) mod predict;
mod predict_verdict;
mod predictors;
mod report;
#[cfg(feature = "reproduce")]
pub(crate) mod reproduce;
pub(crate) mod run;
#[cfg(all(unix, feature = "live"))]
mod serve;
#[cfg(feature = "shell")]
mod shell;
#[cfg(feature = "sweep")]
mod sweep;
#[cfg(feature = "sites")]
pub(crate) mod waits;
#[cfg(feature = "sites")]
pub(crate) mod whatif;
#[cfg(feature = "sites")]
pub(crate) mod when;
mod why_not;
pub(crate) mod workload;

use crate::args::{Cli, Command};
use crate::exit::CommandOutcome;

/// Does what the command line says.
pub(crate) fn run(cli: Cli) -> CommandOutcome {
    match cli.command {
        Command::Compare(args) => compare::compare(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::report(&args),
        Command::Explain(args) => explain::explain(&args),
        #[cfg(feature = "sites")]
        Command::Advise(args) => advise::advise(&args),
        #[cfg(not(feature = "sites"))]
        Command::Advise(_) => Err(crate::output::format::without("drystone advise", "sites")),
        #[cfg(feature = "sites")]
        Command::Whatif(args) => whatif::whatif(&args),
        #[cfg(not(feature = "sites"))]
        Command::Whatif(_) => Err(crate::output::format::without("drystone whatif", "sites")),
        #[cfg(feature = "evolve")]
        Command::Evolve(args) => evolve::evolve(&args),
        #[cfg(not(feature = "evolve"))]
        Command::Evolve(_) => Err(crate::output::format::without("drystone evolve", "evolve")),
        Command::Gantt(args) => gantt::gantt(&args),
        Command::Headroom(args) => headroom::headroom(&args),
        #[cfg(feature = "sites")]
        Command::Foresee(args) => foresee::foresee(&args),
        #[cfg(not(feature = "sites"))]
        Command::Foresee(_) => Err(crate::output::format::without("drystone foresee", "sites")),
        #[cfg(feature = "sites")]
        Command::When(args) => when::when(&args),
        #[cfg(not(feature = "sites"))]
        Command::When(_) => Err(crate::output::format::without("drystone when", "sites")),
        Command::Predict(args) => predict::predict(&args),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(args) => reproduce::reproduce_studies(&args),
        #[cfg(not(feature = "reproduce"))]
        Command::Reproduce(_) => Err(crate::output::format::without("drystone reproduce", "reproduce")),
        Command::Policies(args) => policies::policies(&args),
        Command::Cite(args) => cite::cite(&args),
        #[cfg(feature = "sites")]
        Command::Import(args) => import::import(&args),
        #[cfg(not(feature = "sites"))]
        Command::Import(_) => Err(crate::output::format::without("drystone import", "sites")),
        #[cfg(feature = "sites")]
        Command::Fidelity(args) => fidelity::fidelity(&args),
        #[cfg(not(feature = "sites"))]
        Command::Fidelity(_) => Err(crate::output::format::without("drystone fidelity", "sites")),
        #[cfg(feature = "sites")]
        Command::Waits(args) => waits::waits(&args),
        #[cfg(not(feature = "sites"))]
        Command::Waits(_) => Err(crate::output::format::without("drystone waits", "sites")),
        #[cfg(all(unix, feature = "live"))]
        Command::Serve(args) => serve::serve(&args),
        #[cfg(all(unix, not(feature = "live")))]
        Command::Serve(_) => Err(crate::output::format::without("drystone serve", "live")),
        Command::Workload(args) => workload::workload(args),
        #[cfg(feature = "sweep")]
        Command::Sweep(args) => sweep::sweep(*args),
        #[cfg(not(feature = "sweep"))]
        Command::Sweep(_) => Err(crate::output::format::without("drystone sweep", "sweep")),
        #[cfg(all(unix, feature = "live"))]
        Command::Live(args) => live::live(args.command),
        #[cfg(all(unix, not(feature = "live")))]
        Command::Live(_) => Err(crate::output::format::without("drystone live", "live")),
        #[cfg(feature = "shell")]
        Command::Completions(args) => shell::completions(&args),
        #[cfg(not(feature = "shell"))]
        Command::Completions(_) => Err(crate::output::format::without("drystone completions", "shell")),
        #[cfg(feature = "shell")]
        Command::Man(args) => shell::man(&args),
        #[cfg(not(feature = "shell"))]
        Command::Man(_) => Err(crate::output::format::without("drystone man", "shell")),
    }
}
