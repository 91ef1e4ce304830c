//! Smaller formulas of the same order.

use drystone::parts::formula::{Expr, Function, Operator};
use drystone::statistics::round_significant;

/// Returns the formula without redundant parts: sums with 0, products with 1, double signs, roots
/// of squares. Values may differ in the last bits, so a simplified formula must be scored again.
pub fn simplify_expr(expr: &Expr) -> Expr {
    let mut expr = expr.clone();
    for part in expr.parts_mut() {
        *part = simplify_expr(part);
    }
    match expr {
        Expr::Minus(a) => match *a {
            Expr::Minus(b) => *b,
            Expr::Number(number) => Expr::Number(-number),
            Expr::Binary(Operator::Subtract, b, c) => Expr::Binary(Operator::Subtract, c, b),
            a => Expr::Minus(Box::new(a)),
        },
        Expr::Binary(operator, a, b) => simplify_binary(operator, *a, *b),
        Expr::Call(Function::Abs, parts) => match &parts[0] {
            Expr::Call(Function::Abs | Function::Sqrt, _) => parts[0].clone(),
            Expr::Variable(_) => parts[0].clone(),
            _ => Expr::Call(Function::Abs, parts),
        },
        Expr::Call(function @ (Function::Min | Function::Max), parts) if parts.windows(2).all(|p| p[0] == p[1]) => {
            parts.first().cloned().unwrap_or(Expr::Call(function, parts))
        }
        Expr::Call(Function::If, parts) if parts[1] == parts[2] => parts[1].clone(),
        other => other,
    }
}

fn simplify_binary(operator: Operator, a: Expr, b: Expr) -> Expr {
    use Expr::Number;
    use Operator::*;
    match (operator, a, b) {
        (Add, a, Number(0.0)) | (Add, Number(0.0), a) | (Subtract, a, Number(0.0)) => a,
        (Multiply, a, Number(1.0)) | (Multiply, Number(1.0), a) | (Divide | Power, a, Number(1.0)) => a,
        (Multiply, a, Number(-1.0)) | (Multiply, Number(-1.0), a) | (Divide, a, Number(-1.0)) => {
            Expr::Minus(Box::new(a))
        }
        (Subtract, Number(0.0), a) => Expr::Minus(Box::new(a)),
        (Add, a, Expr::Minus(b)) => Expr::Binary(Subtract, Box::new(a), b),
        (Subtract, a, Expr::Minus(b)) => Expr::Binary(Add, Box::new(a), b),
        (Subtract, a, b) if a == b => Number(0.0),
        (operator, a, b) => Expr::from_binary(operator, a, b),
    }
}

/// The formula with all its numbers rounded to this many significant digits.
pub(crate) fn with_rounded_numbers(expr: &Expr, digits: usize) -> Expr {
    let mut expr = expr.clone();
    if let Expr::Number(number) = &mut expr {
        *number = round_significant(*number, digits);
    }
    for part in expr.parts_mut() {
        *part = with_rounded_numbers(part, digits);
    }
    expr
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::parts::formula::Formula;

    #[test]
    fn what_changes_nothing_goes() {
        for (text, simple) in [
            ("r+0*1", "r"),
            ("-(-(r*1))", "r"),
            ("0-(r-n)", "n-r"),
            ("r--n", "r+n"),
            ("abs(sqrt(r))", "sqrt(r)"),
            ("min(r,r)+if(w>3,n,n)", "r+n"),
            ("r-r+n", "0+n"),
        ] {
            let formula: Formula = text.parse().expect(text);
            let once = simplify_expr(formula.expr());
            let again = simplify_expr(&once).to_string();
            assert!(again == simple || simple == "0+n" && again == "n", "{text}: {again}");
        }
    }
}
