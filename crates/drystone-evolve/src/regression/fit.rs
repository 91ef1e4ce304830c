//! Functions fitted to scores: three basic functions, one of each variable, joined by two
//! operators.

use super::QueueSample;
use drystone::model::SharedSort;
use serde::Serialize;
use std::fmt::Write;

/// A basic function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs, reason = "the words say it")]
#[serde(rename_all = "snake_case")]
pub enum Base {
    Identity,
    Log10,
    Root,
    Inverse,
}

/// An operator between two of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[allow(missing_docs, reason = "the words say it")]
#[serde(rename_all = "snake_case")]
pub enum Join {
    Add,
    Multiply,
    Divide,
}

const BASES: [Base; 4] = [Base::Identity, Base::Log10, Base::Root, Base::Inverse];
const JOINS: [Join; 3] = [Join::Add, Join::Multiply, Join::Divide];

/// A function without its weights: of the run time, the processors and the submit time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct FunctionForm {
    /// Of the run time, the processors, the submit time.
    pub bases: [Base; 3],
    /// Between the first two, and between the last two; `*` and `/` before `+`.
    pub joins: [Join; 2],
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FittedFunction {
    pub form: FunctionForm,
    /// One weight per sum of the form.
    pub weights: Vec<f64>,
    /// The root of the mean squared error, large jobs weighing more.
    pub error: f64,
    /// Fit as an order: the smallest value first, the first weight scaled to 1.
    pub formula: String,
}

impl Base {
    fn apply_to(self, value: f64) -> f64 {
        match self {
            Base::Identity => value,
            Base::Log10 => libm::log10(value),
            Base::Root => value.sqrt(),
            Base::Inverse => 1.0 / value,
        }
    }

    fn format_term(self, variable: &str) -> String {
        match self {
            Base::Identity => variable.to_string(),
            Base::Log10 => format!("log10(max(1,{variable}))"),
            Base::Root => format!("sqrt({variable})"),
            Base::Inverse => format!("(1/max(1,{variable}))"),
        }
    }
}

impl FunctionForm {
    /// All 4³·3² = 576 of them.
    pub fn all_forms() -> impl Iterator<Item = FunctionForm> {
        let bases = (0..64).map(|n| [BASES[n / 16], BASES[n / 4 % 4], BASES[n % 4]]);
        bases.flat_map(|bases| (0..9).map(move |n| FunctionForm { bases, joins: [JOINS[n / 3], JOINS[n % 3]] }))
    }

    /// Returns the products of the three terms: the positions of the factors, each with true if it
    /// divides.
    fn list_products(self) -> Vec<Vec<(usize, bool)>> {
        let mut products = vec![vec![(0, false)]];
        for (at, join) in self.joins.into_iter().enumerate() {
            match (join, products.last_mut()) {
                (Join::Add, _) | (_, None) => products.push(vec![(at + 1, false)]),
                (join, Some(last)) => last.push((at + 1, join == Join::Divide)),
            }
        }
        products
    }

    fn product_values(self, sample: &QueueSample) -> Vec<f64> {
        let variables = [sample.run.max(1.0), sample.procs, sample.submit.max(1.0)];
        let factor = |&(at, divides): &(usize, bool)| {
            let value = self.bases[at].apply_to(variables[at]);
            if divides { 1.0 / value } else { value }
        };
        self.list_products().iter().map(|product| product.iter().map(factor).product()).collect()
    }

    /// As an order: the weights relative to the first, whose sign stays.
    fn render_formula(self, weights: &[f64]) -> String {
        let first = weights[0].abs();
        let mut text = String::new();
        for (product, weight) in self.list_products().iter().zip(weights) {
            let relative = drystone::statistics::round_significant(weight / first, 3);
            let sign = if relative < 0.0 {
                "-"
            } else if text.is_empty() {
                ""
            } else {
                "+"
            };
            // Writing into a string cannot fail.
            let _ = write!(text, "{sign}");
            if relative.abs() != 1.0 {
                let _ = write!(text, "{:?}*", relative.abs());
            }
            for (at, &(variable, divides)) in product.iter().enumerate() {
                let join = if at == 0 {
                    ""
                } else if divides {
                    "/"
                } else {
                    "*"
                };
                let _ = write!(text, "{join}{}", self.bases[variable].format_term(["r", "n", "s"][variable]));
            }
        }
        text
    }
}

/// The weights of a form that fit the scores best; `None` if the samples do not determine them.
///
/// Least squares: the sum over all samples of run time × processors × (score − value)² is smallest.
pub fn fit_form(form: FunctionForm, samples: &[QueueSample]) -> Option<FittedFunction> {
    let count = form.list_products().len();
    // Columns brought to a like size, or the equations could not be solved: areas beside
    // logarithms.
    let mut sizes = vec![0.0_f64; count];
    let rows: Vec<(Vec<f64>, f64, f64)> =
        samples.iter().map(|s| (form.product_values(s), s.score, s.run * s.procs)).collect();
    if rows.iter().any(|(values, ..)| values.iter().any(|value| !value.is_finite())) {
        return None;
    }
    for (values, _, weight) in &rows {
        sizes.iter_mut().zip(values).for_each(|(size, value)| *size += weight * value * value);
    }
    sizes.iter_mut().for_each(|size| *size = size.sqrt().max(f64::MIN_POSITIVE));
    let (mut matrix, mut right) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for (values, score, weight) in &rows {
        for i in 0..count {
            right[i] += weight * values[i] / sizes[i] * score;
            for j in 0..count {
                matrix[i][j] += weight * values[i] / sizes[i] * values[j] / sizes[j];
            }
        }
    }
    let scaled_weights = solve_system(matrix, right)?;
    let weights: Vec<f64> = scaled_weights.iter().zip(&sizes).map(|(weight, size)| weight / size).collect();
    if weights.iter().any(|weight| !weight.is_finite()) || weights[0] == 0.0 {
        return None;
    }
    let total_weight: f64 = rows.iter().map(|row| row.2).sum();
    let squared_error: f64 = rows
        .iter()
        .map(|(values, score, weight)| {
            let value: f64 = values.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            weight * (score - value) * (score - value)
        })
        .sum();
    let formula = form.render_formula(&weights);
    Some(FittedFunction { form, weights, error: (squared_error / total_weight).sqrt(), formula })
}

/// All forms, best first. Some are the same function, such as `r*n` and `r/(1/n)`: of these the
/// first in [`FunctionForm::all_forms`] is first.
pub fn fit_all(samples: &[QueueSample]) -> Vec<FittedFunction> {
    let mut fits: Vec<FittedFunction> = FunctionForm::all_forms().filter_map(|form| fit_form(form, samples)).collect();
    // Errors of equal functions differ by rounding; scores are about 1 / 32.
    let error_key = |fit: &FittedFunction| (fit.error * 1e12).round();
    fits.sort_shared_by(|a, b| error_key(a).total_cmp(&error_key(b)));
    fits
}

/// Solves a small system by elimination; `None` where it has no single solution.
fn solve_system(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let count = right.len();
    for at in 0..count {
        let pivot = (at..count).max_by(|&a, &b| matrix[a][at].abs().total_cmp(&matrix[b][at].abs()))?;
        if matrix[pivot][at].abs() < 1e-12 {
            return None;
        }
        matrix.swap(at, pivot);
        right.swap(at, pivot);
        let (above, below) = matrix.split_at_mut(at + 1);
        let pivot = &above[at];
        for (row, values) in (at + 1..).zip(below) {
            let factor = values[at] / pivot[at];
            values.iter_mut().zip(pivot).skip(at).for_each(|(value, over)| *value -= factor * over);
            right[row] -= factor * right[at];
        }
    }
    for at in (0..count).rev() {
        let known_sum: f64 = (at + 1..count).map(|column| matrix[at][column] * right[column]).sum();
        right[at] = (right[at] - known_sum) / matrix[at][at];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use drystone::parts::formula::Formula;

    fn samples(score: impl Fn(f64, f64, f64) -> f64) -> Vec<QueueSample> {
        let values = |n: u32| (f64::from(n * 37 % 91 + 2), f64::from(n * 53 % 64 + 1), f64::from(n * 29 % 97 + 3));
        (0..200)
            .map(values)
            .map(|(run, procs, submit)| QueueSample { run, procs, submit, score: score(run, procs, submit) })
            .collect()
    }

    #[test]
    fn there_are_as_many_forms_as_in_the_paper() {
        assert_eq!(FunctionForm::all_forms().count(), 576);
    }

    /// A function that made the scores is found again, with its weights.
    #[test]
    fn a_function_is_found_again() {
        let data = samples(|r, n, s| 1e-4 * (libm::log10(r) * n + 870.0 * libm::log10(s)));
        let best = &fit_all(&data)[0];
        assert_eq!(best.form.bases, [Base::Log10, Base::Identity, Base::Log10]);
        assert_eq!(best.form.joins, [Join::Multiply, Join::Add]);
        assert_eq!(best.formula, "log10(max(1,r))*n+870.0*log10(max(1,s))");
        assert!(best.error < 1e-9, "{}", best.error);
    }

    #[test]
    fn every_fit_is_a_formula() {
        let fits = fit_all(&samples(|r, n, s| 0.03 + r * n / s * 1e-6));
        assert!(fits.len() > 400, "{}", fits.len());
        for fit in fits {
            assert!(fit.formula.parse::<Formula>().is_ok(), "{}", fit.formula);
        }
    }
}
