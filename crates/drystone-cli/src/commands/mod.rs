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
        Command::Compare(args) => compare::run_compare(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run_report(&args),
        Command::Explain(args) => explain::run_explain(&args),
        #[cfg(feature = "sites")]
        Command::Advise(args) => advise::run_advise(&args),
        #[cfg(not(feature = "sites"))]
        Command::Advise(_) => Err(crate::output::format::missing_feature_error("drystone advise", "sites")),
        #[cfg(feature = "sites")]
        Command::Whatif(args) => whatif::run_whatif(&args),
        #[cfg(not(feature = "sites"))]
        Command::Whatif(_) => Err(crate::output::format::missing_feature_error("drystone whatif", "sites")),
        #[cfg(feature = "evolve")]
        Command::Evolve(args) => evolve::run_evolve(&args),
        #[cfg(not(feature = "evolve"))]
        Command::Evolve(_) => Err(crate::output::format::missing_feature_error("drystone evolve", "evolve")),
        Command::Gantt(args) => gantt::run_gantt(&args),
        Command::Headroom(args) => headroom::run_headroom(&args),
        #[cfg(feature = "sites")]
        Command::Foresee(args) => foresee::run_foresee(&args),
        #[cfg(not(feature = "sites"))]
        Command::Foresee(_) => Err(crate::output::format::missing_feature_error("drystone foresee", "sites")),
        #[cfg(feature = "sites")]
        Command::When(args) => when::run_when(&args),
        #[cfg(not(feature = "sites"))]
        Command::When(_) => Err(crate::output::format::missing_feature_error("drystone when", "sites")),
        Command::Predict(args) => predict::run_predict(&args),
        #[cfg(feature = "reproduce")]
        Command::Reproduce(args) => reproduce::reproduce_studies(&args),
        #[cfg(not(feature = "reproduce"))]
        Command::Reproduce(_) => Err(crate::output::format::missing_feature_error("drystone reproduce", "reproduce")),
        Command::Policies(args) => policies::run_policies(&args),
        Command::Cite(args) => cite::run_cite(&args),
        #[cfg(feature = "sites")]
        Command::Import(args) => import::run_import(&args),
        #[cfg(not(feature = "sites"))]
        Command::Import(_) => Err(crate::output::format::missing_feature_error("drystone import", "sites")),
        #[cfg(feature = "sites")]
        Command::Fidelity(args) => fidelity::run_fidelity(&args),
        #[cfg(not(feature = "sites"))]
        Command::Fidelity(_) => Err(crate::output::format::missing_feature_error("drystone fidelity", "sites")),
        #[cfg(feature = "sites")]
        Command::Waits(args) => waits::run_waits(&args),
        #[cfg(not(feature = "sites"))]
        Command::Waits(_) => Err(crate::output::format::missing_feature_error("drystone waits", "sites")),
        #[cfg(all(unix, feature = "live"))]
        Command::Serve(args) => serve::run_serve(&args),
        #[cfg(all(unix, not(feature = "live")))]
        Command::Serve(_) => Err(crate::output::format::missing_feature_error("drystone serve", "live")),
        Command::Workload(args) => workload::run_workload(args),
        #[cfg(feature = "sweep")]
        Command::Sweep(args) => sweep::run_sweep(*args),
        #[cfg(not(feature = "sweep"))]
        Command::Sweep(_) => Err(crate::output::format::missing_feature_error("drystone sweep", "sweep")),
        #[cfg(all(unix, feature = "live"))]
        Command::Live(args) => live::run_live(args.command),
        #[cfg(all(unix, not(feature = "live")))]
        Command::Live(_) => Err(crate::output::format::missing_feature_error("drystone live", "live")),
        #[cfg(feature = "shell")]
        Command::Completions(args) => shell::run_completions(&args),
        #[cfg(not(feature = "shell"))]
        Command::Completions(_) => Err(crate::output::format::missing_feature_error("drystone completions", "shell")),
        #[cfg(feature = "shell")]
        Command::Man(args) => shell::run_man(&args),
        #[cfg(not(feature = "shell"))]
        Command::Man(_) => Err(crate::output::format::missing_feature_error("drystone man", "shell")),
    }
}
