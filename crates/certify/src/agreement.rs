//! Agreement of the model with recordings.

use super::deeds::Deeds;

/// Agreement of the model with one recording.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Passes of both schedulers.
    pub passes: usize,
    /// Passes in which the model starts a job that Slurm did not.
    pub passes_with_extra: usize,
    /// Those among them that began within 25 ms of an end, whose nodes Slurm may still have held.
    pub extra_after_end: usize,
    /// Jobs that Slurm started.
    pub starts: usize,
    /// Those that the model started in the same pass.
    pub same_starts: usize,
    pub same_nodes: usize,
    /// Plans that Slurm made.
    pub plans: usize,
    /// Those that the model made with the same start, to the second.
    pub same_plans: usize,
    /// And with the same end on the same nodes.
    pub same_plan_nodes: usize,
    /// Plans that the model made and Slurm did not.
    pub extra_plans: usize,
    /// Jobs that had to go for others.
    pub victims: usize,
    /// Those that the model chose in the same pass.
    pub same_victims: usize,
}

impl Agreement {
    pub fn add(&mut self, other: &Agreement) {
        self.passes += other.passes;
        self.passes_with_extra += other.passes_with_extra;
        self.extra_after_end += other.extra_after_end;
        self.starts += other.starts;
        self.same_starts += other.same_starts;
        self.same_nodes += other.same_nodes;
        self.plans += other.plans;
        self.same_plans += other.same_plans;
        self.same_plan_nodes += other.same_plan_nodes;
        self.extra_plans += other.extra_plans;
        self.victims += other.victims;
        self.same_victims += other.same_victims;
    }

    /// Returns whether it reaches the bar: every start, 99 % of the plans, an extra start in no
    /// more than 1 % of the passes that is not explained by nodes that were still completing.
    pub fn reaches_bar(&self) -> bool {
        let unexplained_passes = self.passes_with_extra - self.extra_after_end;
        self.same_starts == self.starts
            && self.same_plans * 100 >= self.plans * 99
            && unexplained_passes * 100 <= self.passes
    }

    /// Counts what was done, of a whole pass or a part of it.
    pub(super) fn count_deeds(&mut self, real: &Deeds, model: &Deeds, whole: bool, after_end: bool) {
        self.passes += usize::from(whole);
        self.starts += real.starts.len();
        self.plans += real.plans.len();
        self.victims += real.victims.len();
        self.same_victims += real.victims.intersection(&model.victims).count();
        let extra = model.starts.keys().any(|id| !real.starts.contains_key(id));
        self.passes_with_extra += usize::from(extra);
        self.extra_after_end += usize::from(extra && after_end);
        self.extra_plans += model.plans.keys().filter(|id| !real.plans.contains_key(id)).count();
        for (id, nodes) in &real.starts {
            let model_start = model.starts.get(id);
            self.same_starts += usize::from(model_start.is_some());
            self.same_nodes += usize::from(model_start == Some(nodes));
        }
        for (id, plan) in &real.plans {
            let model_plan = model.plans.get(id);
            self.same_plans += usize::from(model_plan.is_some_and(|f| f.0 == plan.0));
            self.same_plan_nodes += usize::from(model_plan == Some(plan));
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Beginning of the pass, in milliseconds.
    pub at: i64,
    /// Slurm's number of the job.
    pub job: u32,
    /// Action of Slurm.
    pub real: String,
    /// Action of the model.
    pub model: String,
    /// Idle processors of each node at the time.
    pub nodes: String,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { at, job, real, model, nodes } = self;
        let seconds = *at as f64 / 1000.0;
        write!(f, "pass at {seconds:.3} s, job {job}: Slurm {real}, the model {model}; idle processors: {nodes}")
    }
}
