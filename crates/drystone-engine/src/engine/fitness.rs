//! Checks that a scheduler can work on a workload at all, made before anything is simulated.

use super::Scheduler;
use crate::model::{PowerTerm, ResourceTable, Span, Workload};
use crate::parts::predict::Correction;
use crate::policy::Requirement;

/// A workload that a policy cannot be simulated on. Wrong usage, not a bug of the policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unfit {
    /// The machine has resources beyond processors, and the policy does not count them.
    #[error(
        "the workload has resources beyond processors, and this policy counts processors only; leave `overdue=free`, `own` or \
         `promise=arrival` out where it has one of these, take another policy, such as easy or conservative, or leave the \
         resources out (`--resources none`)"
    )]
    Uncounted,
    /// Jobs are placed on nodes, and the policy places none.
    #[error(
        "the workload's jobs are placed on nodes, and this policy counts amounts in all only; take another policy, such as easy \
         or conservative, or leave the nodes out (`--on-nodes none`; in Python `read(…, on_nodes=\"none\")`, or a policy that asks \
         `view.fits_now` and says `places = True`)"
    )]
    Unplaced,
    /// Jobs have several sizes or draw power, and the machine has resources beyond processors.
    #[error(
        "the workload has resources beyond processors, and jobs of several sizes or power, which count processors and watts \
         only; leave out the resources (`--resources none`, `--on-nodes none`), or the sizes and power"
    )]
    Mixed,
    /// Power is limited, and the policy does not count it.
    #[error(
        "the machine has limited power, and this policy does not count it; take easy, fcfs or greedy in their plain forms, or \
         leave the caps out (`--power`)"
    )]
    Unpowered,
    /// The policy waits for low carbon or prices, and nothing says what they are.
    #[error(
        "it waits for times of low {name}, and nothing says when these are; give it a table with the columns time and {name} \
         (`--series`), or leave `hold` out",
        name = term.name()
    )]
    Unpriced {
        /// Quantity that it waits for.
        term: PowerTerm,
    },
    /// Jobs outlive what the policy takes for certain.
    #[error(
        "it counts a job as gone when its prediction is over, but {outliving} of {jobs} jobs outlive theirs, first job \
         {first}, which is predicted to run for {predicted} s and runs for {run} s; run times must be cut at the estimates \
         (`--overrun kill`; in a study file `overrun = \"kill\"`; studies that use such a policy do it)"
    )]
    Outlived {
        /// Number of jobs.
        outliving: usize,
        /// Number of all jobs.
        jobs: usize,
        /// The log's number of the first.
        first: i64,
        /// Its prediction.
        predicted: Span,
        /// Its run time.
        run: Span,
    },
}

impl Scheduler {
    /// Checks that the policy can be simulated on this workload
    /// ([`crate::policy::Policy::requirement`]).
    ///
    /// # Errors
    /// The workload lacks what the policy requires.
    ///
    /// Cost: nothing for a policy without requirements, else O(n).
    pub fn check_fit(&self, workload: &Workload) -> Result<(), Unfit> {
        if workload.resources().is_some_and(|table| table.has_resources()) && !self.policy.counts_resources() {
            return Err(Unfit::Uncounted);
        }
        if workload.resources().is_some_and(|table| table.node_fill().is_some()) && !self.places_on_nodes() {
            return Err(Unfit::Unplaced);
        }
        let counts = |table: &ResourceTable| table.has_resources() || table.node_fill().is_some();
        if workload.shapes().is_some() && workload.resources().is_some_and(|table| counts(table)) {
            return Err(Unfit::Mixed);
        }
        let has_power_caps =
            workload.shapes().and_then(|shapes| shapes.power.as_ref()).is_some_and(|power| !power.caps.is_empty());
        if has_power_caps && !self.policy.knows_shapes() {
            return Err(Unfit::Unpowered);
        }
        if let Some(term) = self.policy.awaits_term() {
            let terms = workload.shapes().and_then(|shapes| shapes.terms.as_ref());
            if !terms.is_some_and(|terms| terms.has_term(term)) {
                return Err(Unfit::Unpriced { term });
            }
        }
        let forecast = &self.forecast;
        match self.policy.requirement() {
            Requirement::Nothing => Ok(()),
            // Predictions that are corrected, or known to be right, are never outlived.
            Requirement::Punctual if forecast.correction != Correction::None || forecast.predictor.is_clairvoyant() => {
                Ok(())
            }
            Requirement::Punctual => {
                let factor = i64::from(forecast.factor);
                let predicted_span = |estimate: Span| Span(estimate.0.saturating_mul(factor));
                let pairs = workload.jobs().iter().zip(workload.truth());
                let mut outliving = pairs.filter(|(job, truth)| truth.run > predicted_span(job.estimate));
                let Some((job, truth)) = outliving.next() else { return Ok(()) };
                Err(Unfit::Outlived {
                    outliving: 1 + outliving.count(),
                    jobs: workload.len(),
                    first: truth.number,
                    predicted: predicted_span(job.estimate),
                    run: truth.run,
                })
            }
        }
    }
}
