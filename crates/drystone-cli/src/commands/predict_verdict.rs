//! Verdict on predictions of run times: the best predictor, and its help to a scheduler.

use crate::exit::CommandFailure;
use crate::output::number::{format_change, format_duration, format_fixed, format_percent};
use crate::progress::WorkProgress;
use drystone::experiment::Experiment;
use drystone::metrics::{Foresight, Measures, MetricsConfig};
use drystone::model::Workload;
use drystone::policy::PolicySpec;

/// Note on the learner, which is seldom the most accurate.
const LEARN: &str = "`learn` (Gaussier et al. 2015) does not aim at accuracy: it learns to avoid the errors with the highest loss, and \
                     it takes the job's size, user and time of day into account. It is here for logs on which that pays.";

/// Less is no gain.
const NOTHING: f64 = 0.005;

pub(super) struct JudgedPredictor<'a> {
    pub(super) predictor: &'a str,
    pub(super) clairvoyant: bool,
    pub(super) foresight: &'a Foresight,
}

/// The verdict in sentences. It simulates EASY twice: with the estimates, and with the most
/// accurate predictor.
pub(super) fn predictor_verdict(
    workload: &Workload,
    predictors: &[JudgedPredictor<'_>],
) -> Result<Vec<String>, CommandFailure> {
    let mut sentences = Vec::new();
    let accuracy = |predictor: &&JudgedPredictor<'_>| predictor.foresight.accuracy.mean.unwrap_or(0.0);
    let real = predictors.iter().filter(|predictor| !predictor.clairvoyant);
    let Some(best) = real.max_by(|a, b| accuracy(a).total_cmp(&accuracy(b))) else { return Ok(sentences) };
    let estimate = predictors.iter().find(|predictor| predictor.predictor == "estimate");
    let share_text = format_percent(Some(accuracy(&best)), 1);
    match estimate {
        Some(estimate) if accuracy(&best) > accuracy(&estimate) + NOTHING => {
            let before = format_percent(Some(accuracy(&estimate)), 1);
            sentences.push(format!(
                "The most accurate is {}: a mean accuracy of {share_text}, against {before} of the users' estimates.",
                best.predictor
            ));
            sentences.extend(describe_worth(workload, best.predictor)?);
        }
        Some(_) => sentences.push(format!(
            "No predictor is more accurate than the users' estimates ({share_text}): on this log predictions do not help to plan."
        )),
        None => sentences.push(format!("The most accurate of these is {}: a mean accuracy of {share_text}.", best.predictor)),
    }
    if predictors.iter().any(|predictor| predictor.predictor.starts_with("learn"))
        && !best.predictor.starts_with("learn")
    {
        sentences.push(LEARN.to_string());
    }
    Ok(sentences)
}

/// Describes the help of a predictor: EASY that tries short jobs first, with the estimates and with
/// the predictions.
fn describe_worth(workload: &Workload, predictor: &str) -> Result<Option<String>, CommandFailure> {
    let with = simulate_measures(workload, &format!("easy(backfill=sjf,predict={predictor})"))?;
    let without = simulate_measures(workload, "easy(backfill=sjf)")?;
    let wait = without.wait.mean.zip(with.wait.mean).filter(|(before, _)| *before > 0.0);
    let slowdown = without.bounded_slowdown.mean.zip(with.bounded_slowdown.mean);
    let (Some(wait), Some(slowdown)) = (wait, slowdown) else {
        return Ok(Some("Under easy-sjbf no job waits on this log: predictions have nothing to improve.".to_string()));
    };
    Ok(Some(format!(
        "Its value to a scheduler: under easy-sjbf the mean wait is {} with estimates and {} with these predictions \
         ({}), the mean bounded slowdown {} and {} ({}). `drystone compare --policy easy-sjbf --policy \
         'easy(backfill=sjf,predict={predictor})'` says how sure that is.",
        format_duration(wait.0),
        format_duration(wait.1),
        format_change(wait.1 / wait.0 - 1.0),
        format_fixed(slowdown.0, 2),
        format_fixed(slowdown.1, 2),
        format_change(slowdown.1 / slowdown.0 - 1.0)
    )))
}

fn simulate_measures(workload: &Workload, policy: &str) -> Result<Measures, CommandFailure> {
    let spec: PolicySpec = policy.parse()?;
    let progress = WorkProgress::new("simulating", "jobs", Some(workload.len() as u64));
    let measurement = Experiment::new(&spec, workload)
        .with_metrics(MetricsConfig::light_config())
        .with_progress(&|jobs| progress.add_done(jobs))
        .run(&mut ());
    let measurement = measurement.map_err(|error| CommandFailure::experiment_error(spec.text(), error))?;
    Ok(measurement.map(|outcome| outcome.report.measures).unwrap_or_default())
}
