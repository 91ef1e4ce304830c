//! Meaning of formulas to the last bit.
//!
//! Sums, products, quotients and roots are those of IEEE 754 double precision, which every platform
//! rounds alike. Logarithms, `exp` and `^` are those of the crate libm, which are the same code
//! everywhere. A division by zero is infinite, 0/0 and the like are NaN, and NaN makes NaN of all
//! that it is part of; a comparison with NaN does not hold. Nothing stops a run.

use super::expr::{Function, Operator};

pub(super) fn number_from_truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[inline]
pub(super) fn is_true(condition: f64) -> bool {
    condition != 0.0
}

/// The smaller one; NaN if any is NaN, and the first of equal ones.
#[inline]
pub(super) fn min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if b < a {
        b
    } else {
        a
    }
}

/// The larger one; NaN if any is NaN, and the first of equal ones.
#[inline]
pub(super) fn max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if b > a {
        b
    } else {
        a
    }
}

/// a to the power of b. Powers of 1, 2, 3 and 4 are products from left to right, others those of
/// libm.
#[inline]
pub(super) fn compute_power(a: f64, b: f64) -> f64 {
    if b == 1.0 {
        a
    } else if b == 2.0 {
        a * a
    } else if b == 3.0 {
        a * a * a
    } else if b == 4.0 {
        a * a * a * a
    } else {
        libm::pow(a, b)
    }
}

#[inline]
pub(super) fn combine_values(operator: Operator, a: f64, b: f64) -> f64 {
    match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::Power => compute_power(a, b),
        Operator::Below => number_from_truth(a < b),
        Operator::AtMost => number_from_truth(a <= b),
        Operator::Above => number_from_truth(a > b),
        Operator::AtLeast => number_from_truth(a >= b),
        Operator::Equal => number_from_truth(a == b),
        Operator::Unequal => number_from_truth(a != b),
        Operator::And => number_from_truth(is_true(a) && is_true(b)),
        Operator::Or => number_from_truth(is_true(a) || is_true(b)),
    }
}

#[inline]
pub(super) fn of_one(function: Function, a: f64) -> f64 {
    match function {
        Function::Log2 => libm::log2(a),
        Function::Log10 => libm::log10(a),
        Function::Ln => libm::log(a),
        Function::Sqrt => a.sqrt(),
        Function::Exp => libm::exp(a),
        Function::Abs => a.abs(),
        Function::Min | Function::Max | Function::If => a,
    }
}

/// The place in a queue that a value gives: smaller values first, both zeros alike, NaN behind
/// everything else.
#[inline]
#[must_use]
pub(super) fn queue_place(value: f64) -> i64 {
    if value.is_nan() {
        return i64::MAX;
    }
    // Both zeros have the same place.
    let bits = (value + 0.0).to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn places_are_in_the_order_of_values() {
        let values = [f64::NEG_INFINITY, -1e300, -2.0, -1.5, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0, 1.5, f64::INFINITY];
        assert!(values.windows(2).all(|pair| queue_place(pair[0]) < queue_place(pair[1])));
        assert!(queue_place(f64::INFINITY) < queue_place(f64::NAN));
        assert_eq!(queue_place(f64::NAN), queue_place(-f64::NAN));
        assert_eq!(queue_place(0.0), queue_place(-0.0));
    }

    proptest! {
        #[test]
        fn places_compare_as_values_do(a: f64, b: f64) {
            prop_assert_eq!(queue_place(a).cmp(&queue_place(b)), a.partial_cmp(&b).unwrap_or(a.is_nan().cmp(&b.is_nan())));
        }
    }

    /// Values that a table of logarithms gives.
    #[test]
    fn functions_are_what_they_are_called() {
        for (function, of, value) in [
            (Function::Log2, 8.0, 3.0),
            (Function::Log10, 1000.0, 3.0),
            (Function::Ln, std::f64::consts::E, 1.0),
            (Function::Sqrt, 144.0, 12.0),
            (Function::Exp, 0.0, 1.0),
            (Function::Abs, -3.0, 3.0),
        ] {
            assert!((of_one(function, of) - value).abs() < 1e-12, "{function:?}");
        }
        assert_eq!(compute_power(2.0, 10.0), 1024.0);
        assert_eq!(compute_power(-3.0, 3.0), -27.0);
        assert!(min(f64::NAN, 1.0).is_nan() && max(1.0, f64::NAN).is_nan());
        assert_eq!((min(2.0, 1.0), max(2.0, 1.0)), (1.0, 2.0));
    }
}
