//! New formulas from nothing, from one, and from two.

use drystone::draw::RandomDraw;
use drystone::parts::formula::{Expr, Function, Operator, Variable};

/// Variables that a search uses: what is known of every job on every log.
const VARIABLES: [Variable; 6] =
    [Variable::Run, Variable::Procs, Variable::Waited, Variable::Submit, Variable::Estimate, Variable::Area];
const OPERATORS: [Operator; 5] =
    [Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide, Operator::Power];
const COMPARISONS: [Operator; 2] = [Operator::Below, Operator::Above];
const FUNCTIONS: [Function; 3] = [Function::Log10, Function::Sqrt, Function::Abs];

/// A number over many powers of ten: weights of times and areas differ by as much.
fn random_weight(draw: &mut RandomDraw) -> Expr {
    let exponent = draw.draw_below(9) as f64 - 2.0;
    let digits = 1.0 + draw.draw_below(90) as f64 / 10.0;
    Expr::Number((digits * libm::pow(10.0, exponent) * 1e4).round() / 1e4)
}

fn random_leaf(draw: &mut RandomDraw) -> Expr {
    if draw.draw_chance(25) { random_weight(draw) } else { Expr::Variable(*draw.pick_one(&VARIABLES)) }
}

fn list_exponents() -> [Expr; 4] {
    [2.0, 3.0, 0.5, -1.0].map(Expr::Number)
}

/// A formula at random, no deeper than this.
pub fn random_expr(draw: &mut RandomDraw, depth: usize) -> Expr {
    if depth <= 1 || draw.draw_chance(15) {
        return random_leaf(draw);
    }
    let below = depth - 1;
    match draw.draw_below(20) {
        0..=12 => {
            let operator = *draw.pick_one(&OPERATORS);
            let left = random_expr(draw, below);
            let right = if operator == Operator::Power {
                draw.pick_one(&list_exponents()).clone()
            } else {
                random_expr(draw, below)
            };
            Expr::from_binary(operator, left, right)
        }
        13..=15 => Expr::Call(*draw.pick_one(&FUNCTIONS), vec![random_expr(draw, below)]),
        16 => Expr::Minus(Box::new(random_expr(draw, below))),
        17 | 18 => {
            let function = if draw.draw_chance(50) { Function::Min } else { Function::Max };
            Expr::Call(function, vec![random_expr(draw, below), random_expr(draw, below)])
        }
        _ => {
            let condition = Expr::from_binary(*draw.pick_one(&COMPARISONS), random_expr(draw, 1), random_expr(draw, 1));
            Expr::Call(Function::If, vec![condition, random_expr(draw, below), random_expr(draw, below)])
        }
    }
}

/// The parts of a tree that are numbers, in preorder: places at which it may be changed.
fn count_places(expr: &Expr) -> usize {
    usize::from(!expr.is_condition()) + expr.direct_parts().into_iter().map(count_places).sum::<usize>()
}

fn expr_at(expr: &Expr, place: usize) -> Option<&Expr> {
    let mut remaining = place;
    find_in_tree(expr, &mut remaining)
}

fn find_in_tree<'a>(expr: &'a Expr, count: &mut usize) -> Option<&'a Expr> {
    if !expr.is_condition() {
        if *count == 0 {
            return Some(expr);
        }
        *count -= 1;
    }
    expr.direct_parts().into_iter().find_map(|part| find_in_tree(part, count))
}

/// Changes what is at a place. Returns whether there is such a place.
fn change_place(expr: &mut Expr, count: &mut usize, change: &mut dyn FnMut(&mut Expr)) -> bool {
    if !expr.is_condition() {
        if *count == 0 {
            change(expr);
            return true;
        }
        *count -= 1;
    }
    expr.parts_mut().into_iter().any(|part| change_place(part, count, change))
}

/// The formula with a part of another in place of one of its own.
pub fn cross_formulas(draw: &mut RandomDraw, base: &Expr, donor: &Expr) -> Expr {
    let from = draw.draw_below(count_places(donor));
    let part = expr_at(donor, from).unwrap_or(donor).clone();
    let mut child = base.clone();
    change_place(&mut child, &mut draw.draw_below(count_places(base)), &mut |place| *place = part.clone());
    child
}

/// The formula with one part changed: replaced, wrapped, cut down to a part of itself, or put
/// beside a new one.
pub fn mutate_formula(draw: &mut RandomDraw, expr: &Expr) -> Expr {
    let mut child = expr.clone();
    let place = draw.draw_below(count_places(expr));
    let kind = draw.draw_below(6);
    let new = random_expr(draw, if kind == 0 { 3 } else { 2 });
    let operator = *draw.pick_one(&OPERATORS[..4]);
    let function = *draw.pick_one(&FUNCTIONS);
    let variable = *draw.pick_one(&VARIABLES);
    change_place(&mut child, &mut place.clone(), &mut |part| {
        let old = part.clone();
        *part = match (kind, old) {
            (0, _) => new.clone(),
            (1, Expr::Variable(_)) => Expr::Variable(variable),
            (1, Expr::Binary(old, a, b)) if old != Operator::Power => Expr::Binary(operator, a, b),
            (2, old) => old.direct_parts().into_iter().find(|part| !part.is_condition()).unwrap_or(&old).clone(),
            (3, old) => Expr::Call(function, vec![old]),
            (_, old) => Expr::from_binary(operator, old, new.clone()),
        };
    });
    child
}

/// The formula with one of its numbers moved a little, or far; as it is where it has none.
pub fn tune_number(draw: &mut RandomDraw, expr: &Expr) -> Expr {
    let mut child = expr.clone();
    let is_number = |place: &usize| matches!(expr_at(expr, *place), Some(Expr::Number(_)));
    let numbers: Vec<usize> = (0..count_places(expr)).filter(is_number).collect();
    if numbers.is_empty() {
        return child;
    }
    let place = *draw.pick_one(&numbers);
    let step = if draw.draw_chance(50) { 0.1 } else { 1.0 };
    let factor = libm::exp(step * draw.draw_normal());
    let turn = draw.draw_chance(5);
    change_place(&mut child, &mut place.clone(), &mut |part| {
        if let Expr::Number(number) = part {
            let moved_number = if *number == 0.0 { factor } else { *number * factor };
            *part = Expr::Number(drystone::statistics::round_significant(
                if turn { -moved_number } else { moved_number },
                3,
            ));
        }
    });
    child
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::parts::formula::Formula;

    #[test]
    fn children_are_formulas() {
        let mut draw = RandomDraw::new(7, 0);
        let mut parents: Vec<Expr> = (0..50).map(|_| random_expr(&mut draw, 4)).collect();
        for _ in 0..2_000 {
            let (first_parent, second_parent) = (draw.pick_one(&parents).clone(), draw.pick_one(&parents).clone());
            let child = match draw.draw_below(3) {
                0 => cross_formulas(&mut draw, &first_parent, &second_parent),
                1 => mutate_formula(&mut draw, &first_parent),
                _ => tune_number(&mut draw, &first_parent),
            };
            assert!(!child.is_condition());
            if child.count_parts() < 60 && child.nesting_depth() < 20 {
                let formula = Formula::new(&child).unwrap_or_else(|e| panic!("{e}"));
                assert!(formula.text().parse::<Formula>().is_ok());
                let at = draw.draw_below(parents.len());
                parents[at] = child;
            }
        }
    }

    #[test]
    fn tuning_changes_numbers_only() {
        let mut draw = RandomDraw::new(1, 0);
        let formula: Formula = "log10(r)*n+870*log10(s)".parse().expect("valid");
        for _ in 0..50 {
            let text = tune_number(&mut draw, formula.expr()).to_string();
            assert!(text.starts_with("log10(r)*n+") && text.ends_with("*log10(s)"), "{text}");
        }
        let second_formula: Formula = "r*n".parse().expect("valid");
        assert_eq!(tune_number(&mut draw, second_formula.expr()), *second_formula.expr());
    }
}
