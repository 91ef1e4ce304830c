//! Limits of partitions and QOS as candidates, and the classes of jobs that pay for a
//! recommendation: simulated as `whatif` simulates changes.

use super::inputs::AdviseInputs;
use crate::args::{AdviseArgs, Command, WhatifArgs};
use crate::commands::whatif::baseline::WhatIfBaseline;
use crate::commands::whatif::classes::JobClasses;
use crate::commands::whatif::simulate::{Before, ScenarioRun, WhatIfInputs};
use crate::exit::CommandFailure;
use crate::input::WorkloadInput;
use crate::progress::WorkProgress;
use drystone::model::{Outages, Span};
use drystone_advise::{ClassOf, GoalFigure, GoalGuard, PeriodFigures, Thresholds};
use drystone_whatif::{Applied, ApplyError, ChangeList, ClassChange, PairedChange, apply_changes, limit_candidates};
use std::collections::BTreeMap;

/// Probability that an interval of a class covers the true change.
const CONFIDENCE: f64 = 0.95;

/// The site as it is, to be changed.
pub(super) struct Changer {
    args: WhatifArgs,
    baseline: WhatIfBaseline,
    seed: u64,
}

impl Changer {
    /// The site that `advise` is asked about, as `whatif` sees it under the same configuration.
    pub(super) fn from_args(
        args: &AdviseArgs,
        input: &mut WorkloadInput,
        outages: &Outages,
    ) -> Result<Changer, CommandFailure> {
        let Command::Whatif(mut own) = crate::library::of_words(&["whatif", "--policy", "slurm"])? else {
            return Err(CommandFailure::usage_error("no options of a what-if"));
        };
        own.source = args.source.clone();
        (own.slurm, own.accounts, own.cpus) = (args.slurm.clone(), args.accounts.clone(), args.cpus);
        (own.log, own.cut, own.real) = (args.log.clone(), args.cut.clone(), args.real.clone());
        let baseline = WhatIfBaseline::from_args(&own, input, outages)?;
        Ok(Changer { args: *own, baseline, seed: args.seed })
    }

    /// Makes a change; no limit has a date.
    fn apply(&self, baseline: &WhatIfBaseline, list: &ChangeList) -> Result<Applied, ApplyError> {
        apply_changes(&baseline.premises, list, &|text| Err(format!("`{text}` is no part of a limit")), self.seed)
    }

    /// The guards with the numbers of the classes that they name.
    pub(super) fn looked_up(&self, guards: &[GoalGuard]) -> Result<Vec<GoalGuard>, CommandFailure> {
        let look_up = |guard: &GoalGuard| -> Result<GoalGuard, CommandFailure> {
            let GoalFigure::Class { of, name, number: None, longest } = guard.figure else { return Ok(*guard) };
            let class_numbers = self.class_numbers(of);
            // A log has numbers only.
            let plain = name
                .parse()
                .ok()
                .filter(|number| class_numbers.is_empty() || class_numbers.values().any(|own| own == number));
            let Some(number) = class_numbers.get(name).copied().or(plain) else {
                let near = drystone::text::find_nearest(name, class_numbers.keys().map(String::as_str));
                let near = near.map_or(". ".to_string(), |near| format!("; did you mean `{near}`? "));
                let listed_names: Vec<&str> =
                    class_numbers.keys().map(String::as_str).filter(|name| !name.is_empty()).take(12).collect();
                let name_list =
                    if listed_names.is_empty() { "none is known".to_string() } else { listed_names.join(", ") };
                return Err(CommandFailure::usage_error(format_args!(
                    "--guard {guard}: no {} is called `{name}`{near}Known are: {name_list}",
                    of.name()
                )));
            };
            Ok(GoalGuard { figure: GoalFigure::Class { of, name, number: Some(number), longest }, bound: guard.bound })
        };
        guards.iter().map(look_up).collect()
    }

    /// The numbers of the partitions, accounts, users or QOS that are known by name.
    fn class_numbers(&self, of: ClassOf) -> BTreeMap<String, i32> {
        let premises = &self.baseline.premises;
        match of {
            ClassOf::Account => premises.accounts.clone(),
            ClassOf::User => premises.users.clone(),
            ClassOf::Partition => {
                premises.pools.iter().flat_map(|pool| &pool.partitions).map(|p| (p.name.clone(), p.number)).collect()
            }
            ClassOf::Qos => {
                let lines = premises.pools.iter().filter_map(|pool| pool.names.as_deref()).flat_map(str::lines);
                let qos = |line: &str| {
                    let (number, name) = line.strip_prefix("qos,")?.split_once(',')?;
                    Some((name.to_string(), number.parse().ok()?))
                };
                lines.filter_map(qos).collect()
            }
        }
    }

    /// The limits to try, without those that leave jobs out: their waits would count as gained.
    pub(super) fn list_candidates(&self) -> Vec<String> {
        let limits = limit_candidates(&self.baseline.premises).into_iter();
        let keeps = |list: &ChangeList| self.apply(&self.baseline, list).is_ok_and(|scenario| scenario.left.jobs == 0);
        limits.filter(keeps).map(|list| list.to_string()).collect()
    }

    /// Simulates a policy after a change; `None` where it was stopped.
    pub(super) fn run_scenario(
        &self,
        (policy, list): (&str, &ChangeList),
        ground: &AdviseInputs<'_>,
        progress: &WorkProgress,
    ) -> Result<Option<ScenarioRun>, CommandFailure> {
        let mut baseline = self.baseline.clone();
        baseline.text = policy.to_string();
        if !policy.starts_with("slurm(") {
            // A policy that knows processors only: limits are those of the site.
            let premises = &mut baseline.premises;
            (premises.is_slurm, baseline.conf) = (false, None);
            premises.pools.iter_mut().for_each(|pool| (pool.conf, pool.names) = (None, None));
        }
        let before = self.apply(&baseline, &ChangeList::default()).map_err(CommandFailure::caused_by)?;
        let changed_site = self.apply(&baseline, list).map_err(CommandFailure::caused_by)?;
        let bench =
            WhatIfInputs { args: &self.args, baseline: &baseline, selection: ground.selection, stop: ground.stop };
        bench.simulate_once((&changed_site, list), &before.premises.workload, progress)
    }

    /// The figures of a policy after a change, period by period, over the jobs as they were before.
    pub(super) fn sum_periods(
        &self,
        trial: (&str, &ChangeList),
        (ground, thresholds): (&AdviseInputs<'_>, Thresholds),
        progress: &WorkProgress,
    ) -> Result<Option<PeriodFigures>, CommandFailure> {
        let Some(ran) = self.run_scenario(trial, ground, progress)? else { return Ok(None) };
        let jobs = self.baseline.premises.workload.jobs().iter().zip(&ran.fates);
        let counted_jobs = jobs.filter(|(_, fate)| fate.counted && fate.wait.is_finite());
        let span = |seconds: f64| Span(seconds.round() as i64);
        let mut rows: Vec<_> = counted_jobs.map(|(job, fate)| (job, span(fate.wait), span(fate.ran))).collect();
        // In the order of their ends, in which other candidates are summed up: to the last digit.
        rows.sort_by_key(|(job, wait, ran)| job.submit + *wait + *ran);
        Ok(Some(PeriodFigures::of_jobs(ground.figures, thresholds, ground.periods, rows.into_iter())))
    }

    /// The differences of waits that each of these changes makes, and that of Slurm's clocks alone.
    pub(super) fn measure_worth(
        &self,
        input: &WorkloadInput,
        lists: &[ChangeList],
        ground: &AdviseInputs<'_>,
    ) -> Result<Vec<Option<PairedChange>>, CommandFailure> {
        let jobs = (lists.len() as u64 + 1) * self.baseline.premises.workload.len() as u64;
        let progress = WorkProgress::new("worth of remarks", "jobs", Some(jobs));
        let policy = self.baseline.text.clone();
        let no_change = ChangeList::default();
        let candidates: Vec<&ChangeList> = std::iter::once(&no_change).chain(lists).collect();
        let threads = self.args.threads.map_or_else(crate::site::thread_count, usize::from);
        let run_list = |_: usize, list: &ChangeList| self.run_scenario((&policy, list), ground, &progress);
        let mut ran = crate::parallel::map(candidates, threads, run_list)
            .into_iter()
            .collect::<Result<Vec<Option<ScenarioRun>>, CommandFailure>>()?;
        let Some(before) = ran.remove(0) else { return Ok(vec![None; lists.len()]) };
        let periods = ground.periods.clone();
        let before = Before { ran: before, workload: self.baseline.premises.workload.clone(), periods };
        let classes = JobClasses::from_input(input, &self.baseline, &before);
        let of = |after: &Option<ScenarioRun>| {
            let pairs = classes.paired_waits(&before.ran, after.as_ref()?);
            Some(classes.overall_change(&pairs, CONFIDENCE))
        };
        Ok(ran.iter().map(of).collect())
    }

    /// The change of every class of jobs from the site as it is to a candidate, those with most
    /// node-hours of waiting gained or lost first.
    pub(super) fn paying_classes(
        &self,
        input: &WorkloadInput,
        (now, then): ((&str, &ChangeList), (&str, &ChangeList)),
        ground: &AdviseInputs<'_>,
    ) -> Result<Vec<ClassChange>, CommandFailure> {
        let progress = WorkProgress::new("who pays", "jobs", Some(2 * self.baseline.premises.workload.len() as u64));
        let (Some(ran), Some(after)) =
            (self.run_scenario(now, ground, &progress)?, self.run_scenario(then, ground, &progress)?)
        else {
            return Ok(Vec::new());
        };
        let before = Before { ran, workload: self.baseline.premises.workload.clone(), periods: ground.periods.clone() };
        let classes = JobClasses::from_input(input, &self.baseline, &before);
        let pairs = classes.paired_waits(&before.ran, &after);
        Ok(classes.class_changes(&pairs, CONFIDENCE))
    }
}
