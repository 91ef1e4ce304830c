//! The value of a formula for one job.

use super::arithmetic::{combine_values, is_true, max, min, number_from_truth, of_one};
use super::expr::{Expr, Function, Operator, Variable};
use super::shares::Shares;
use drystone_engine::policy::BeyondProcessors;

/// Facts of a waiting job available to a formula: everything that does not change with time.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WaitingFacts {
    /// Predicted run time in seconds.
    pub run: f64,
    /// The user's estimate in seconds.
    pub estimate: f64,
    /// Processors.
    pub procs: f64,
    /// Submit time in seconds since the first submit.
    pub submit: f64,
    /// User.
    pub user: i32,
    /// Group.
    pub group: i32,
    /// Queue.
    pub queue: i32,
    /// Processors of the machine.
    pub machine: f64,
    /// Priority that a live site gives it; 0 where none is known.
    pub priority: f64,
    /// Demand beyond processors; 0 where nothing else is counted.
    pub beyond: BeyondProcessors,
}

/// Facts of the moment of a pass available to a formula.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment<'a> {
    /// The present in seconds since the first submit.
    pub now: f64,
    /// The part of the processors that is busy.
    pub load: f64,
    /// Number of waiting jobs.
    pub waiting: f64,
    /// Recent usage of the machine by users; needed where the formula asks for it.
    pub shares: Option<&'a Shares>,
}

impl Moment<'_> {
    #[inline]
    pub(super) fn wait_since(&self, submit: f64) -> f64 {
        (self.now - submit).max(0.0)
    }

    /// A user's share of what was used within this many seconds.
    pub(super) fn user_share(&self, user: i32, window: f64) -> f64 {
        self.shares.map_or(0.0, |shares| shares.user_share(user, window))
    }
}

/// The value for one job at one moment. Conditions are 1 where they hold, else 0.
pub(super) fn compute_value(expr: &Expr, facts: &WaitingFacts, moment: &Moment<'_>) -> f64 {
    match expr {
        Expr::Number(number) => *number,
        Expr::Variable(variable) => of_variable(*variable, facts, moment),
        Expr::Usage(window) => moment.user_share(facts.user, *window),
        Expr::Minus(a) => -compute_value(a, facts, moment),
        Expr::Not(a) => number_from_truth(!is_true(compute_value(a, facts, moment))),
        // The commonest ones first: the compiler then makes them the short way.
        Expr::Binary(Operator::Multiply, a, b) => compute_value(a, facts, moment) * compute_value(b, facts, moment),
        Expr::Binary(Operator::Add, a, b) => compute_value(a, facts, moment) + compute_value(b, facts, moment),
        Expr::Binary(operator, a, b) => {
            combine_values(*operator, compute_value(a, facts, moment), compute_value(b, facts, moment))
        }
        Expr::Call(Function::If, parts) => {
            compute_value(&parts[if is_true(compute_value(&parts[0], facts, moment)) { 1 } else { 2 }], facts, moment)
        }
        Expr::Call(function, parts) => {
            let first = compute_value(&parts[0], facts, moment);
            let rest = parts[1..].iter().map(|part| compute_value(part, facts, moment));
            match function {
                Function::Min => rest.fold(first, min),
                Function::Max => rest.fold(first, max),
                function => of_one(*function, first),
            }
        }
    }
}

fn of_variable(variable: Variable, facts: &WaitingFacts, moment: &Moment<'_>) -> f64 {
    match variable {
        Variable::Run => facts.run,
        Variable::Estimate => facts.estimate,
        Variable::Procs => facts.procs,
        Variable::Area => facts.run * facts.procs,
        Variable::Waited => moment.wait_since(facts.submit),
        Variable::Submit => facts.submit,
        Variable::Expansion => {
            let run = max(1.0, facts.run);
            (moment.wait_since(facts.submit) + run) / run
        }
        Variable::User => f64::from(facts.user),
        Variable::Group => f64::from(facts.group),
        Variable::Queue => f64::from(facts.queue),
        Variable::Load => moment.load,
        Variable::Waiting => moment.waiting,
        Variable::Machine => facts.machine,
        Variable::Gpus => facts.beyond.gpus,
        Variable::Memory => facts.beyond.memory,
        Variable::Priority => facts.priority,
        Variable::Share => max(facts.procs / facts.machine, facts.beyond.share),
    }
}
