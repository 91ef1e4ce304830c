//! Distance of the compared policies from the best possible.

use super::bench::Bench;
use super::simulate::Done;
use crate::args::Grid;
use crate::commands::headroom::bracket::{Bracket, Seek, Simulated, say_others, seek};
use crate::exit::Failure;
use drystone::metrics::JobRow;
use drystone::model::Span;
use drystone_headroom::{Case, DelayMeasure, Limit};
use std::time::Duration;

/// The bracket of the mean wait, where it was asked for. Policies with other jobs than the baseline
/// have no place in it.
pub(super) fn headroom(bench: &Bench<'_>, done: &Done, baseline: &str) -> Result<Option<Bracket>, Failure> {
    let Some(time) = bench.args.headroom else { return Ok(None) };
    let input = bench.input;
    if input.division().is_some() {
        return Err(Failure::usage(
            "--headroom brackets one machine, and the site has several pools; SITE#POOL names one",
        ));
    }
    let all: Vec<(&str, &[JobRow])> = done
        .specs
        .iter()
        .zip(&done.watched)
        .map(|(spec, watched)| (spec.text(), watched.measured.report.jobs.as_deref().unwrap_or_default()))
        .collect();
    let Some(&(_, first)) = all.iter().find(|(policy, _)| *policy == baseline) else { return Ok(None) };
    let real = (bench.outages, bench.args.common.real.feedback);
    let measured = (DelayMeasure::Wait, input.selection(&bench.args.common));
    let case = Case::of(&input.workload, first, real, measured)
        .map_err(|refused| Failure::usage(format_args!("--headroom: {refused}")))?;
    let others: Vec<(String, usize)> = all
        .iter()
        .map(|&(policy, rows)| (policy.to_string(), case.others(rows)))
        .filter(|(_, others)| *others > 0)
        .collect();
    say_others(&others);
    let fits = |policy: &str| !others.iter().any(|(other, _)| other == policy);
    let simulated: Vec<Simulated<'_>> = all
        .iter()
        .filter(|(policy, _)| fits(policy))
        .map(|&(policy, rows)| Simulated { policy, rows, shown: true })
        .collect();
    let how = Seek {
        grids: Grid::Quarter.steps(),
        limit: (time > Span::ZERO).then(|| Limit::Time(Duration::from_secs(time.0.unsigned_abs()))),
        seed: bench.args.common.seed,
        threads: bench.threads(),
        stop: bench.stop,
    };
    Ok(Some(seek(&case, &simulated, &how)?.bracket))
}
