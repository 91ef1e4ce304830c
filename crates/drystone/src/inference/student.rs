//! Student's distribution with any number of degrees of freedom.

/// The probability that Student's distribution exceeds this number in absolute value.
#[must_use]
pub fn tail_probability(t: f64, freedom: f64) -> f64 {
    let square = t * t;
    if square.is_infinite() {
        return 0.0;
    }
    incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + square), square / (freedom + square))
}

/// The number that Student's distribution exceeds in absolute value with this probability, between
/// 0 and 1.
#[must_use]
pub fn student_quantile(probability: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tail_probability(high, freedom) > probability && high < 1e150 {
        (low, high) = (high, high * 2.0);
    }
    // Newton's method on the logarithm, which is nearly straight in the tails, kept inside the
    // bracket.
    let mut at = f64::midpoint(low, high);
    for _ in 0..100 {
        let exceeds = tail_probability(at, freedom);
        if exceeds > probability {
            low = at
        } else {
            high = at
        }
        let step = (exceeds / probability).ln() * exceeds / (2.0 * student_density(at, freedom));
        let next = at + step;
        let next = if next > low && next < high { next } else { f64::midpoint(low, high) };
        if (next - at).abs() <= 1e-15 * at {
            break;
        }
        at = next;
    }
    at
}

fn student_density(t: f64, freedom: f64) -> f64 {
    let constant = libm::lgamma((freedom + 1.0) / 2.0) - libm::lgamma(freedom / 2.0);
    let exponent = -(freedom + 1.0) / 2.0 * (t * t / freedom).ln_1p();
    (constant + exponent).exp() / (freedom * std::f64::consts::PI).sqrt()
}

/// The regularised incomplete beta function I(x; a, b), by its continued fraction; `rest` is 1 − x.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if rest <= 0.0 {
        return 1.0;
    }
    let front = (libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * rest.ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(a, b, x) / a
    } else {
        1.0 - front * continued_fraction(b, a, rest) / b
    }
}

/// Lentz's evaluation of the continued fraction of the incomplete beta function.
fn continued_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for step in 1..=500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Continuous, ContinuousCDF, StudentsT};

    /// Tables of Student's distribution, two-sided, and quantiles of half-integers from an
    /// independent implementation (scipy).
    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (probability, freedom, expected) in [
            (0.05, 1.0, 12.706_205),
            (0.05, 2.0, 4.302_653),
            (0.05, 10.0, 2.228_139),
            (0.05, 120.0, 1.979_930),
            (0.01, 10.0, 3.169_273),
            (0.10, 7.0, 1.894_579),
            (0.05, 1.5, 6.016_663),
            (0.05, 2.5, 3.574_655),
            (0.05, 3.5, 2.940_089),
            (0.05, 4.5, 2.658_912),
        ] {
            let number = student_quantile(probability, freedom);
            assert!((number - expected).abs() < 6e-7, "{probability} {freedom}: {number}, not {expected}");
        }
    }

    #[test]
    fn probabilities_are_those_of_another_implementation() {
        for freedom in [0.7, 1.5, 3.0, 4.5, 9.0, 37.2, 400.0] {
            let reference = StudentsT::new(0.0, 1.0, freedom).expect("a distribution");
            // Near 0 the other one loses digits by a difference; there its density says as much.
            let near = 1e-6;
            assert!(
                (tail_probability(near, freedom) - (1.0 - 2.0 * near * reference.pdf(0.0))).abs() < 1e-12,
                "{freedom}"
            );
            for t in [0.1, 0.9, 2.0, 5.0, 40.0] {
                let (own, expected) = (tail_probability(t, freedom), 2.0 * reference.cdf(-t));
                assert!((own - expected).abs() < 1e-10 * expected.max(1e-3), "{t} {freedom}: {own}, not {expected}");
                assert!((student_quantile(own, freedom) / t - 1.0).abs() < 1e-9, "{t} {freedom}");
            }
        }
        assert_eq!((tail_probability(0.0, 4.5), tail_probability(f64::INFINITY, 4.5)), (1.0, 0.0));
    }
}
