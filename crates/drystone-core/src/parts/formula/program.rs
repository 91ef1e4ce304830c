//! Formulas whose values change with time, compiled for many jobs at once.
//!
//! Parts that depend on a job alone are computed once, when it arrives, and kept in columns. The
//! rest is a list of steps on a stack of blocks of [`LANES`] jobs: each step is one loop, which the
//! compiler turns into vector instructions.

use super::arithmetic::{combine_values, compute_power, is_true, max, min, number_from_truth, of_one};
use super::expr::{Expr, Function, Operator, Variable};
use super::fold::find_dependencies;
use super::value::{Moment, WaitingFacts, compute_value};

/// Jobs in one block.
pub(super) const LANES: usize = 64;

/// The values of one part of the formula for a block of jobs.
pub(super) type ValueBlock = [f64; LANES];

#[derive(Clone, Copy, PartialEq, Debug)]
enum ProgramStep {
    Number(f64),
    Column(usize),
    Waited,
    Load,
    Waiting,
    Usage(usize),
    Minus,
    Not,
    Combine(Operator),
    /// A power of 1 to 4.
    Power(u8),
    Of(Function),
    Min,
    Max,
    If,
}

#[derive(Clone, Debug)]
pub(super) struct Program {
    steps: Vec<ProgramStep>,
    /// Expressions computed once per job.
    pub(super) columns: Vec<Expr>,
    /// The windows of `usage`.
    pub(super) windows: Vec<f64>,
    /// Most blocks on the stack.
    pub(super) depth: usize,
}

/// Inputs by which a block of jobs is rated.
pub(super) struct Inputs<'a> {
    pub(super) moment: Moment<'a>,
    pub(super) submits: &'a [f64],
    pub(super) users: &'a [i32],
    /// Column by column.
    pub(super) columns: &'a [Vec<f64>],
    /// The first of the jobs.
    pub(super) from: usize,
    /// Number of jobs.
    pub(super) count: usize,
}

impl Program {
    pub(super) fn new(expr: &Expr) -> Program {
        let mut program = Program { steps: Vec::new(), columns: Vec::new(), windows: Vec::new(), depth: 0 };
        program.compile_tree(expr, 1);
        program
    }

    pub(super) fn column_values<'a>(&'a self, facts: &'a WaitingFacts) -> impl Iterator<Item = f64> + 'a {
        self.columns.iter().map(|expr| compute_value(expr, facts, &Moment::default()))
    }

    fn push_column(&mut self, expr: &Expr) {
        let position = self.columns.iter().position(|column| column == expr);
        let at = position.unwrap_or_else(|| {
            self.columns.push(expr.clone());
            self.columns.len() - 1
        });
        self.steps.push(ProgramStep::Column(at));
    }

    /// Appends the steps that leave the value of a tree in place `depth` of the stack, counted from
    /// 1.
    fn compile_tree(&mut self, expr: &Expr, depth: usize) {
        self.depth = self.depth.max(depth);
        if let Expr::Number(number) = expr {
            return self.steps.push(ProgramStep::Number(*number));
        }
        if !find_dependencies(expr).can_change() {
            return self.push_column(expr);
        }
        match expr {
            Expr::Number(_) => {}
            Expr::Variable(Variable::Waited) => self.steps.push(ProgramStep::Waited),
            Expr::Variable(Variable::Load) => self.steps.push(ProgramStep::Load),
            Expr::Variable(Variable::Waiting) => self.steps.push(ProgramStep::Waiting),
            Expr::Variable(_) => self.push_expansion(depth),
            Expr::Usage(window) => {
                let position = self.windows.iter().position(|w| w == window);
                let at = position.unwrap_or_else(|| {
                    self.windows.push(*window);
                    self.windows.len() - 1
                });
                self.steps.push(ProgramStep::Usage(at));
            }
            Expr::Minus(a) => self.push_after(a, depth, ProgramStep::Minus),
            Expr::Not(a) => self.push_after(a, depth, ProgramStep::Not),
            Expr::Binary(Operator::Power, a, b) if small_power(b).is_some() => {
                self.push_after(a, depth, ProgramStep::Power(small_power(b).unwrap_or(1)));
            }
            Expr::Binary(operator, a, b) => {
                self.compile_tree(a, depth);
                self.push_after(b, depth + 1, ProgramStep::Combine(*operator));
            }
            Expr::Call(function, parts) => self.compile_call(*function, parts, depth),
        }
    }

    fn push_after(&mut self, expr: &Expr, depth: usize, step: ProgramStep) {
        self.compile_tree(expr, depth);
        self.steps.push(step);
    }

    /// (w + max(1, r)) / max(1, r)
    fn push_expansion(&mut self, depth: usize) {
        let run = Expr::Call(Function::Max, vec![Expr::Number(1.0), Expr::Variable(Variable::Run)]);
        let sum = Expr::from_binary(Operator::Add, Expr::Variable(Variable::Waited), run.clone());
        self.compile_tree(&Expr::from_binary(Operator::Divide, sum, run), depth);
    }

    fn compile_call(&mut self, function: Function, parts: &[Expr], depth: usize) {
        self.compile_tree(&parts[0], depth);
        match function {
            Function::Min | Function::Max => {
                let step = if function == Function::Min { ProgramStep::Min } else { ProgramStep::Max };
                parts[1..].iter().for_each(|part| self.push_after(part, depth + 1, step));
            }
            Function::If => {
                self.compile_tree(&parts[1], depth + 1);
                self.push_after(&parts[2], depth + 2, ProgramStep::If);
            }
            function => self.steps.push(ProgramStep::Of(function)),
        }
    }

    /// The values of a block of jobs, in the first block of the stack.
    pub(super) fn run_block<'a>(&self, stack: &'a mut Vec<ValueBlock>, inputs: &Inputs<'_>) -> &'a [f64] {
        stack.resize(self.depth.max(1), [0.0; LANES]);
        let count = inputs.count;
        let mut top = 0;
        for step in &self.steps {
            match step {
                ProgramStep::Minus => stack[top - 1][..count].iter_mut().for_each(|a| *a = -*a),
                ProgramStep::Not => {
                    stack[top - 1][..count].iter_mut().for_each(|a| *a = number_from_truth(!is_true(*a)))
                }
                ProgramStep::Power(exponent) => {
                    let exponent = f64::from(*exponent);
                    stack[top - 1][..count].iter_mut().for_each(|a| *a = compute_power(*a, exponent));
                }
                ProgramStep::Of(function) => {
                    stack[top - 1][..count].iter_mut().for_each(|a| *a = of_one(*function, *a))
                }
                ProgramStep::Combine(operator) => top = apply_operator(stack, top, count, *operator),
                ProgramStep::Min => top = zip_blocks(stack, top, count, min),
                ProgramStep::Max => top = zip_blocks(stack, top, count, max),
                ProgramStep::If => {
                    let [condition, yes, no] = &mut stack[top - 3..top] else { unreachable!("three blocks") };
                    for ((a, b), c) in condition[..count].iter_mut().zip(&yes[..count]).zip(&no[..count]) {
                        *a = if is_true(*a) { *b } else { *c };
                    }
                    top -= 2;
                }
                source => {
                    self.load_block(*source, &mut stack[top][..count], inputs);
                    top += 1;
                }
            }
        }
        &stack[0][..count]
    }

    /// Fills a block with what needs no other.
    fn load_block(&self, step: ProgramStep, into: &mut [f64], inputs: &Inputs<'_>) {
        let range = inputs.from..inputs.from + inputs.count;
        match step {
            ProgramStep::Number(number) => into.fill(number),
            ProgramStep::Column(at) => into.copy_from_slice(&inputs.columns[at][range]),
            ProgramStep::Load => into.fill(inputs.moment.load),
            ProgramStep::Waiting => into.fill(inputs.moment.waiting),
            ProgramStep::Usage(at) => {
                for (into, &user) in into.iter_mut().zip(&inputs.users[range]) {
                    *into = inputs.moment.user_share(user, self.windows[at]);
                }
            }
            _ => {
                for (into, &submit) in into.iter_mut().zip(&inputs.submits[range]) {
                    *into = inputs.moment.wait_since(submit);
                }
            }
        }
    }
}

/// A small whole power, which is a product.
fn small_power(expr: &Expr) -> Option<u8> {
    match expr {
        Expr::Number(number) if [1.0, 2.0, 3.0, 4.0].contains(number) => Some(*number as u8),
        _ => None,
    }
}

/// Combines the two uppermost blocks; answers the height of the stack then.
#[inline(always)]
fn zip_blocks(stack: &mut [ValueBlock], top: usize, count: usize, with: impl Fn(f64, f64) -> f64) -> usize {
    let (left, right) = stack[top - 2..top].split_at_mut(1);
    for (a, b) in left[0][..count].iter_mut().zip(&right[0][..count]) {
        *a = with(*a, *b);
    }
    top - 1
}

/// Applies an operator, each with a loop of its own where that makes vector instructions.
fn apply_operator(stack: &mut [ValueBlock], top: usize, count: usize, operator: Operator) -> usize {
    match operator {
        Operator::Add => zip_blocks(stack, top, count, |a, b| a + b),
        Operator::Subtract => zip_blocks(stack, top, count, |a, b| a - b),
        Operator::Multiply => zip_blocks(stack, top, count, |a, b| a * b),
        Operator::Divide => zip_blocks(stack, top, count, |a, b| a / b),
        other => zip_blocks(stack, top, count, |a, b| combine_values(other, a, b)),
    }
}
