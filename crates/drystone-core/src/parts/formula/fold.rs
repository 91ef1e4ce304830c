//! Static analysis of a formula: constants, and the dependencies of each part.

use super::arithmetic::{combine_values, is_true, max, min, number_from_truth, of_one};
use super::expr::{Expr, Function, Operator, Variable};

/// Dependencies of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ValueDependencies {
    /// It differs from job to job.
    pub(super) job: bool,
    /// It changes as time passes.
    pub(super) clock: bool,
    /// It changes as jobs come and go.
    pub(super) state: bool,
}

impl ValueDependencies {
    /// Returns whether it may change while a job waits.
    pub(super) fn can_change(self) -> bool {
        self.clock || self.state
    }

    fn union_with(self, dependencies: ValueDependencies) -> ValueDependencies {
        ValueDependencies {
            job: self.job || dependencies.job,
            clock: self.clock || dependencies.clock,
            state: self.state || dependencies.state,
        }
    }
}

pub(super) fn find_dependencies(expr: &Expr) -> ValueDependencies {
    use Variable::*;
    match expr {
        Expr::Number(_) | Expr::Variable(Machine) => ValueDependencies::default(),
        Expr::Variable(Waited | Expansion) => ValueDependencies { job: true, clock: true, state: false },
        Expr::Variable(Load | Waiting) => ValueDependencies { job: false, clock: false, state: true },
        Expr::Variable(_) => ValueDependencies { job: true, ..ValueDependencies::default() },
        Expr::Usage(_) => ValueDependencies { job: true, clock: true, state: true },
        other => other
            .direct_parts()
            .into_iter()
            .map(find_dependencies)
            .fold(ValueDependencies::default(), ValueDependencies::union_with),
    }
}

/// Returns the formula with all constants computed. Every value keeps every bit.
pub(super) fn fold_constants(expr: Expr) -> Expr {
    let number = |expr: &Expr| if let Expr::Number(number) = expr { Some(*number) } else { None };
    match expr {
        Expr::Minus(a) => match fold_constants(*a) {
            Expr::Number(a) => Expr::Number(-a),
            Expr::Minus(a) => *a,
            a => Expr::Minus(Box::new(a)),
        },
        Expr::Not(a) => match fold_constants(*a) {
            Expr::Not(a) => *a,
            a => Expr::Not(Box::new(a)),
        },
        Expr::Binary(operator, a, b) => {
            let (a, b) = (fold_constants(*a), fold_constants(*b));
            match (number(&a), number(&b)) {
                // A condition that always holds stays as it is: there are no numbers for
                // conditions.
                (Some(a), Some(b)) if !operator.makes_condition() => Expr::Number(combine_values(operator, a, b)),
                _ => Expr::from_binary(operator, a, b),
            }
        }
        Expr::Call(function, arguments) => fold_call(function, arguments.into_iter().map(fold_constants).collect()),
        leaf => leaf,
    }
}

fn fold_call(function: Function, mut arguments: Vec<Expr>) -> Expr {
    let numbers: Vec<f64> =
        arguments.iter().map_while(|a| if let Expr::Number(n) = a { Some(*n) } else { None }).collect();
    let are_numbers = numbers.len() == arguments.len();
    match function {
        Function::Min | Function::Max if are_numbers => {
            let pick = if function == Function::Min { min } else { max };
            Expr::Number(numbers.into_iter().reduce(pick).unwrap_or(f64::NAN))
        }
        Function::If => match constant_condition(&arguments[0]) {
            Some(true) => arguments.swap_remove(1),
            Some(false) => arguments.swap_remove(2),
            None => Expr::Call(function, arguments),
        },
        Function::Min | Function::Max => Expr::Call(function, arguments),
        _ if are_numbers => Expr::Number(of_one(function, numbers[0])),
        _ => Expr::Call(function, arguments),
    }
}

/// Returns the value of a condition of numbers alone.
fn constant_condition(condition: &Expr) -> Option<bool> {
    match condition {
        Expr::Not(a) => constant_condition(a).map(|a| !a),
        Expr::Binary(operator, a, b) if operator.joins_conditions() => {
            let (a, b) = (constant_condition(a)?, constant_condition(b)?);
            Some(is_true(combine_values(*operator, number_from_truth(a), number_from_truth(b))))
        }
        Expr::Binary(operator, a, b) => match (&**a, &**b) {
            (Expr::Number(a), Expr::Number(b)) => Some(is_true(combine_values(*operator, *a, *b))),
            _ => None,
        },
        _ => None,
    }
}

/// A formula as `fixed + slope·w`, where the fixed part belongs to the job alone: then all values
/// change alike as time passes, and no job overtakes another. What is alike for all jobs is left
/// out of `fixed`.
pub(super) struct LinearFormula {
    pub(super) fixed: Expr,
    pub(super) slope: f64,
}

pub(super) fn find_line(expr: &Expr) -> Option<LinearFormula> {
    let on = find_dependencies(expr);
    if !on.job {
        return Some(LinearFormula { fixed: Expr::Number(0.0), slope: 0.0 });
    }
    if !on.can_change() {
        return Some(LinearFormula { fixed: expr.clone(), slope: 0.0 });
    }
    match expr {
        Expr::Variable(Variable::Waited) => Some(LinearFormula { fixed: Expr::Number(0.0), slope: 1.0 }),
        Expr::Minus(a) => {
            let a = find_line(a)?;
            Some(LinearFormula { fixed: fold_constants(Expr::Minus(Box::new(a.fixed))), slope: -a.slope })
        }
        Expr::Binary(operator @ (Operator::Add | Operator::Subtract), a, b) => {
            let (a, b) = (find_line(a)?, find_line(b)?);
            let sign = if *operator == Operator::Add { 1.0 } else { -1.0 };
            Some(LinearFormula { fixed: join_terms(*operator, a.fixed, b.fixed), slope: a.slope + sign * b.slope })
        }
        Expr::Binary(operator @ (Operator::Multiply | Operator::Divide), a, b) => {
            let (inner, factor, first) = match (&**a, &**b) {
                (a, Expr::Number(factor)) => (a, *factor, true),
                (Expr::Number(factor), b) if *operator == Operator::Multiply => (b, *factor, false),
                _ => return None,
            };
            let inner = find_line(inner)?;
            let (fixed_part, factor_expr) = (inner.fixed, Expr::Number(factor));
            let scaled_part = if first {
                Expr::from_binary(*operator, fixed_part, factor_expr)
            } else {
                Expr::from_binary(*operator, factor_expr, fixed_part)
            };
            Some(LinearFormula {
                fixed: fold_constants(scaled_part),
                slope: combine_values(*operator, inner.slope, factor),
            })
        }
        _ => None,
    }
    .filter(|line| line.slope.is_finite())
}

/// A sum or a difference, without what is nothing.
fn join_terms(operator: Operator, a: Expr, b: Expr) -> Expr {
    match (a, b) {
        (a, Expr::Number(0.0)) => a,
        (Expr::Number(0.0), b) if operator == Operator::Add => b,
        (Expr::Number(0.0), b) => fold_constants(Expr::Minus(Box::new(b))),
        (a, b) => Expr::from_binary(operator, a, b),
    }
}
