//! Formulas at random, as texts.

use drystone::parts::Order;
use drystone::parts::formula::Expr;
use drystone::policy::PolicySpec;
use drystone_testkit::{Random, parameter_value};

const NAMES: [&str; 13] = ["r", "e", "n", "a", "w", "s", "x", "user", "group", "queue", "load", "waiting", "machine"];

/// A number: any formula of a few parts.
pub(crate) fn number(random: &mut Random, depth: u32) -> String {
    if depth == 0 || random.draw_chance(20) {
        return match random.draw_range(0, 9) {
            0 => random.pick_one(&["0.5", "2", "1e3", "10", "1h", "0", "1e300"]).to_string(),
            1 => random.pick_one(&["usage(1h)", "usage(7d)", "usage(30s)"]).to_string(),
            _ => random.pick_one(&NAMES).to_string(),
        };
    }
    let (a, b) = (number(random, depth - 1), number(random, depth - 1));
    match random.draw_range(0, 8) {
        0..=3 => format!("({a}{}{b})", random.pick_one(&["+", "-", "*", "/", "^"])),
        4 => format!("(-{a})"),
        5 => format!("{}({a})", random.pick_one(&["log2", "log10", "ln", "sqrt", "exp", "abs"])),
        6 => format!("{}({a},{b})", random.pick_one(&["min", "max"])),
        _ => {
            let c = number(random, depth - 1);
            let sign = random.pick_one(&["<", "<=", ">", ">=", "==", "!="]);
            format!("if({a}{sign}{b}{},{c},{b})", random.pick_one(&["", " and w>10", " or not n<4"]))
        }
    }
}

/// Returns whether a predicate holds for a policy's order and backfilling.
pub(crate) fn all_orders(spec: &PolicySpec, says: impl Fn(&str, &Order) -> bool) -> bool {
    ["order", "backfill"].into_iter().all(|name| {
        let text = parameter_value(spec, name);
        text.parse::<Order>().map_or(true, |order| says(&text, &order))
    })
}

/// Returns whether a predicate holds for any part of a formula.
pub(crate) fn asks(order: &Order, says: &dyn Fn(&Expr) -> bool) -> bool {
    fn any(expr: &Expr, says: &dyn Fn(&Expr) -> bool) -> bool {
        says(expr) || expr.direct_parts().into_iter().any(|part| any(part, says))
    }
    if let Order::Formula(formula) = order { any(formula.expr(), says) } else { false }
}
