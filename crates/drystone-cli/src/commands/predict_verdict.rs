//! Verdict on predictions of run times: the best predictor, and its help to a scheduler.

use crate::exit::CommandFailure;
use crate::output::number::{change, duration, fixed, percent};
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

/// A predictor with what it foresees.
pub(super) struct JudgedPredictor<'a> {
    pub(super) predictor: &'a str,
    pub(super) clairvoyant: bool,
    pub(super) foresight: &'a Foresight,
}

/// The verdict in sentences. It simulates EASY twice: with the estimates, and with the most
/// accurate predictor.
pub(super) fn verdict(workload: &Workload, all: &[JudgedPredictor<'_>]) -> Result<Vec<String>, CommandFailure> {
    let mut sentences = Vec::new();
    let accuracy = |judged: &&JudgedPredictor<'_>| judged.foresight.accuracy.mean.unwrap_or(0.0);
    let real = all.iter().filter(|judged| !judged.clairvoyant);
    let Some(best) = real.max_by(|a, b| accuracy(a).total_cmp(&accuracy(b))) else { return Ok(sentences) };
    let estimate = all.iter().find(|judged| judged.predictor == "estimate");
    let told = percent(Some(accuracy(&best)), 1);
    match estimate {
        Some(estimate) if accuracy(&best) > accuracy(&estimate) + NOTHING => {
            let before = percent(Some(accuracy(&estimate)), 1);
            sentences.push(format!(
                "The most accurate is {}: a mean accuracy of {told}, against {before} of the users' estimates.",
                best.predictor
            ));
            sentences.extend(worth(workload, best.predictor)?);
        }
        Some(_) => sentences.push(format!(
            "No predictor is more accurate than the users' estimates ({told}): on this log predictions do not help to plan."
        )),
        None => sentences.push(format!("The most accurate of these is {}: a mean accuracy of {told}.", best.predictor)),
    }
    if all.iter().any(|judged| judged.predictor.starts_with("learn")) && !best.predictor.starts_with("learn") {
        sentences.push(LEARN.to_string());
    }
    Ok(sentences)
}

/// Describes the help of a predictor: EASY that tries short jobs first, with the estimates and with
/// the predictions.
fn worth(workload: &Workload, predictor: &str) -> Result<Option<String>, CommandFailure> {
    let with = measures(workload, &format!("easy(backfill=sjf,predict={predictor})"))?;
    let without = measures(workload, "easy(backfill=sjf)")?;
    let wait = without.wait.mean.zip(with.wait.mean).filter(|(before, _)| *before > 0.0);
    let slowdown = without.bounded_slowdown.mean.zip(with.bounded_slowdown.mean);
    let (Some(wait), Some(slowdown)) = (wait, slowdown) else {
        return Ok(Some("Under easy-sjbf no job waits on this log: predictions have nothing to improve.".to_string()));
    };
    Ok(Some(format!(
        "Its value to a scheduler: under easy-sjbf the mean wait is {} with estimates and {} with these predictions \
         ({}), the mean bounded slowdown {} and {} ({}). `drystone compare --policy easy-sjbf --policy \
         'easy(backfill=sjf,predict={predictor})'` says how sure that is.",
        duration(wait.0),
        duration(wait.1),
        change(wait.1 / wait.0 - 1.0),
        fixed(slowdown.0, 2),
        fixed(slowdown.1, 2),
        change(slowdown.1 / slowdown.0 - 1.0)
    )))
}

fn measures(workload: &Workload, policy: &str) -> Result<Measures, CommandFailure> {
    let spec: PolicySpec = policy.parse()?;
    let progress = WorkProgress::new("simulating", "jobs", Some(workload.len() as u64));
    let measured = Experiment::new(&spec, workload)
        .measuring(MetricsConfig::light())
        .telling(&|jobs| progress.add(jobs))
        .run(&mut ());
    let measured = measured.map_err(|error| CommandFailure::experiment(spec.text(), error))?;
    Ok(measured.map(|measured| measured.report.measures).unwrap_or_default())
}
