//! Formulas as text: the shortest that is read as the same tree.

use super::expr::{Expr, NOT_BINDING, Operator, SIGN_BINDING};
use std::fmt::{self, Write};

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_expr(self, 0, f)
    }
}

/// Returns the binding strength of a tree's outermost part in print.
fn print_binding(expr: &Expr) -> u8 {
    match expr {
        // Written as quotients.
        Expr::Number(number) if !number.is_finite() => Operator::Divide.binding_strength(),
        Expr::Number(number) if number.is_sign_negative() => SIGN_BINDING,
        Expr::Binary(operator, ..) => operator.binding_strength(),
        Expr::Minus(_) => SIGN_BINDING,
        Expr::Not(_) => NOT_BINDING,
        _ => u8::MAX,
    }
}

fn write_expr(expr: &Expr, least: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let brackets = print_binding(expr) < least;
    if brackets {
        f.write_char('(')?;
    }
    match expr {
        Expr::Number(number) => write_number(*number, f)?,
        Expr::Variable(variable) => f.write_str(variable.name())?,
        Expr::Usage(seconds) => write!(f, "usage({})", format_duration(*seconds))?,
        Expr::Minus(a) => {
            f.write_char('-')?;
            // `--2` would be read as 2, and `-2` as a number.
            let least = if matches!(**a, Expr::Number(_)) { u8::MAX } else { SIGN_BINDING };
            if least == u8::MAX {
                write!(f, "({a})")?;
            } else {
                write_expr(a, least + 1, f)?;
            }
        }
        Expr::Not(a) => {
            f.write_str("not ")?;
            write_expr(a, NOT_BINDING + 1, f)?;
        }
        Expr::Binary(operator, a, b) => {
            let own = operator.binding_strength();
            let (left, right) = if *operator == Operator::Power { (own + 1, own) } else { (own, own + 1) };
            // A comparison takes none on either side.
            let left = if operator.makes_condition() && !operator.joins_conditions() { own + 1 } else { left };
            write_expr(a, left, f)?;
            f.write_str(operator.sign())?;
            write_expr(b, right, f)?;
        }
        Expr::Call(function, arguments) => {
            write!(f, "{}(", function.name())?;
            for (at, argument) in arguments.iter().enumerate() {
                if at > 0 {
                    f.write_char(',')?;
                }
                write_expr(argument, 0, f)?;
            }
            f.write_char(')')?;
        }
    }
    if brackets {
        f.write_char(')')?;
    }
    Ok(())
}

/// A number that is read as the same, to the bit.
fn write_number(number: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if number.is_nan() {
        f.write_str("0/0")
    } else if number.is_infinite() {
        f.write_str(if number > 0.0 { "1/0" } else { "-1/0" })
    } else if number == 0.0 || (1e-4..1e9).contains(&number.abs()) {
        write!(f, "{number}")
    } else {
        write!(f, "{number:e}")
    }
}

/// A length of time in its largest whole unit.
pub(super) fn format_duration(seconds: f64) -> String {
    for (unit, length) in [("d", 86_400.0), ("h", 3_600.0), ("m", 60.0)] {
        if seconds >= length && seconds % length == 0.0 {
            return format!("{}{unit}", seconds / length);
        }
    }
    format!("{seconds}s")
}
