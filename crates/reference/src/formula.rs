//! Orders by formula: what a formula means for one job, one rule after the other, and the named
//! orders as they are printed.
//!
//! Sums, products, quotients and roots are IEEE's, logarithms and powers libm's; x^1 to x^4 are
//! products from left to right. What is alike for all jobs does not count, and where a formula is
//! `fixed + slope·w` with one slope for all jobs, jobs are compared by `fixed − slope·s`: at any
//! moment both differ by the same.

use std::fmt;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct NaiveKnown {
    /// r.
    pub run: f64,
    /// e.
    pub estimate: f64,
    /// n.
    pub procs: f64,
    /// w.
    pub wait: f64,
    /// s.
    pub submit: f64,
    pub user: f64,
    pub machine: f64,
    pub load: f64,
    pub waiting: f64,
    /// usage, with its windows.
    pub usage: Vec<(f64, f64)>,
}

/// A formula. Printed, it is what the product reads.
#[derive(Clone, PartialEq, Debug)]
pub enum NaiveExpr {
    /// A number that is not negative.
    Number(f64),
    /// r, e, n, a, w, s, x, user, load, waiting or machine.
    Name(&'static str),
    /// usage of this many seconds.
    Usage(u32),
    Minus(Box<NaiveExpr>),
    /// a with a sign of + - * / ^ and b.
    Two(char, Box<NaiveExpr>, Box<NaiveExpr>),
    /// log2, log10, ln, sqrt, exp or abs.
    One(&'static str, Box<NaiveExpr>),
    /// min or max.
    Pick(&'static str, Box<NaiveExpr>, Box<NaiveExpr>),
    /// if(a < b, c, d), or with another comparison.
    If(&'static str, Box<[NaiveExpr; 4]>),
}

impl NaiveExpr {
    pub fn collect_windows(formula: &NaiveExpr, windows: &mut Vec<f64>) {
        match formula {
            NaiveExpr::Usage(seconds) => windows.push(f64::from(*seconds)),
            NaiveExpr::Minus(a) | NaiveExpr::One(_, a) => NaiveExpr::collect_windows(a, windows),
            NaiveExpr::Two(_, a, b) | NaiveExpr::Pick(_, a, b) => {
                [a, b].into_iter().for_each(|e| NaiveExpr::collect_windows(e, windows))
            }
            NaiveExpr::If(_, parts) => parts.iter().for_each(|e| NaiveExpr::collect_windows(e, windows)),
            NaiveExpr::Number(_) | NaiveExpr::Name(_) => {}
        }
    }

    /// The value by which jobs are compared.
    pub fn job_rank(&self, job: &NaiveKnown) -> f64 {
        match self.linear_form(job) {
            Some((base, slope)) if slope != 0.0 => base + -slope * job.submit,
            Some((base, _)) => base,
            None => self.job_value(job),
        }
    }

    pub fn job_value(&self, job: &NaiveKnown) -> f64 {
        match self {
            NaiveExpr::Number(number) => *number,
            NaiveExpr::Name(name) => named_value(name, job),
            NaiveExpr::Usage(window) => {
                job.usage.iter().find(|usage| usage.0 == f64::from(*window)).map_or(0.0, |usage| usage.1)
            }
            NaiveExpr::Minus(a) => -a.job_value(job),
            NaiveExpr::Two(sign, a, b) => apply_binary(*sign, a.job_value(job), b.job_value(job)),
            NaiveExpr::One(name, a) => apply_function(name, a.job_value(job)),
            NaiveExpr::Pick(name, a, b) => {
                let (a, b) = (a.job_value(job), b.job_value(job));
                let second = if *name == "min" { b < a } else { b > a };
                if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else if second {
                    b
                } else {
                    a
                }
            }
            NaiveExpr::If(sign, parts) => {
                let (a, b) = (parts[0].job_value(job), parts[1].job_value(job));
                let holds = match *sign {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    "==" => a == b,
                    _ => a != b,
                };
                parts[if holds { 2 } else { 3 }].job_value(job)
            }
        }
    }

    fn has_any(&self, asks: &impl Fn(&NaiveExpr) -> bool) -> bool {
        asks(self)
            || match self {
                NaiveExpr::Minus(a) | NaiveExpr::One(_, a) => a.has_any(asks),
                NaiveExpr::Two(_, a, b) | NaiveExpr::Pick(_, a, b) => a.has_any(asks) || b.has_any(asks),
                NaiveExpr::If(_, parts) => parts.iter().any(|e| e.has_any(asks)),
                NaiveExpr::Number(_) | NaiveExpr::Name(_) | NaiveExpr::Usage(_) => false,
            }
    }

    /// Returns the value if it is the same for every job, moment and machine.
    fn constant_value(&self) -> Option<f64> {
        let asks = |e: &NaiveExpr| matches!(e, NaiveExpr::Name(_) | NaiveExpr::Usage(_));
        (!self.has_any(&asks)).then(|| self.job_value(&NaiveKnown::default()))
    }

    /// As `fixed + slope·w`, with what is alike for all jobs left out.
    fn linear_form(&self, job: &NaiveKnown) -> Option<(f64, f64)> {
        let of_the_job = |e: &NaiveExpr| match e {
            NaiveExpr::Name(name) => !["load", "waiting", "machine"].contains(name),
            e => matches!(e, NaiveExpr::Usage(_)),
        };
        let changes = |e: &NaiveExpr| match e {
            NaiveExpr::Name(name) => ["w", "x", "load", "waiting"].contains(name),
            e => matches!(e, NaiveExpr::Usage(_)),
        };
        if !self.has_any(&of_the_job) {
            return Some((0.0, 0.0));
        }
        if !self.has_any(&changes) {
            return Some((self.job_value(job), 0.0));
        }
        let (intercept, slope) = match self {
            NaiveExpr::Name("w") => (0.0, 1.0),
            NaiveExpr::Minus(a) => a.linear_form(job).map(|(base, slope)| (-base, -slope))?,
            NaiveExpr::Two('+', a, b) => {
                let (a, b) = (a.linear_form(job)?, b.linear_form(job)?);
                (a.0 + b.0, a.1 + b.1)
            }
            NaiveExpr::Two('-', a, b) => {
                let (a, b) = (a.linear_form(job)?, b.linear_form(job)?);
                (a.0 - b.0, a.1 - b.1)
            }
            NaiveExpr::Two(sign @ ('*' | '/'), a, b) => match (a.constant_value(), b.constant_value()) {
                (_, Some(b)) => {
                    a.linear_form(job).map(|a| (apply_binary(*sign, a.0, b), apply_binary(*sign, a.1, b)))?
                }
                (Some(a), None) if *sign == '*' => b.linear_form(job).map(|b| (a * b.0, a * b.1))?,
                _ => return None,
            },
            _ => return None,
        };
        slope.is_finite().then_some((intercept, slope))
    }
}

fn named_value(name: &str, job: &NaiveKnown) -> f64 {
    match name {
        "r" => job.run,
        "e" => job.estimate,
        "n" => job.procs,
        "a" => job.run * job.procs,
        "w" => job.wait,
        "s" => job.submit,
        "x" => (job.wait + job.run.max(1.0)) / job.run.max(1.0),
        "user" => job.user,
        "load" => job.load,
        "waiting" => job.waiting,
        _ => job.machine,
    }
}

fn apply_binary(sign: char, a: f64, b: f64) -> f64 {
    match sign {
        '+' => a + b,
        '-' => a - b,
        '*' => a * b,
        '/' => a / b,
        _ => match b {
            1.0 => a,
            2.0 => a * a,
            3.0 => a * a * a,
            4.0 => a * a * a * a,
            _ => libm::pow(a, b),
        },
    }
}

fn apply_function(name: &str, a: f64) -> f64 {
    match name {
        "log2" => libm::log2(a),
        "log10" => libm::log10(a),
        "ln" => libm::log(a),
        "sqrt" => a.sqrt(),
        "exp" => libm::exp(a),
        _ => a.abs(),
    }
}

impl fmt::Display for NaiveExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NaiveExpr::Number(number) => write!(f, "{number}"),
            NaiveExpr::Name(name) => write!(f, "{name}"),
            NaiveExpr::Usage(window) => write!(f, "usage({window}s)"),
            NaiveExpr::Minus(a) => write!(f, "(-{a})"),
            NaiveExpr::Two(sign, a, b) => write!(f, "({a}{sign}{b})"),
            NaiveExpr::One(name, a) => write!(f, "{name}({a})"),
            NaiveExpr::Pick(name, a, b) => write!(f, "{name}({a},{b})"),
            NaiveExpr::If(sign, parts) => write!(f, "if({}{sign}{},{},{})", parts[0], parts[1], parts[2], parts[3]),
        }
    }
}

/// A published order as a function of what it names, smallest first: WFP3 and UNICEF as in Tang et
/// al. 2009, F1 to F4 as in table 3 of Carastan-Santos & de Camargo 2017, the others as in Lelong
/// et al. 2017. Times below 1 s count as 1 s where the paper divides by them or takes their
/// logarithm, and a single processor as two in UNICEF's logarithm.
pub fn published_rank(name: &str, job: &NaiveKnown) -> f64 {
    let NaiveKnown { run, estimate, procs, wait, submit, .. } = *job;
    let (at_least, since) = (run.max(1.0), submit.max(1.0));
    match name {
        "wfp3" => {
            let by_estimate = wait / estimate.max(1.0);
            -(by_estimate * by_estimate * by_estimate) * procs
        }
        "unicef" => -wait / (libm::log2(procs.max(2.0)) * estimate.max(1.0)),
        "f1" => libm::log10(at_least) * procs + 8.70e2 * libm::log10(since),
        "f2" => run.sqrt() * procs + 2.56e4 * libm::log10(since),
        "f3" => run * procs + 6.86e6 * libm::log10(since),
        "f4" => run * procs.sqrt() + 5.30e5 * libm::log10(since),
        "saf" => run * procs,
        "laf" => -(run * procs),
        "spf" => run,
        "lpf" => -run,
        "sqf" => procs,
        "lqf" => -procs,
        "srf" => run / procs,
        "lrf" => -(run / procs),
        "sexp" => (wait + at_least) / at_least,
        "lexp" => -((wait + at_least) / at_least),
        "lcfs" => -submit,
        // Jobs of logs have no priority.
        "site" => 0.0,
        other => panic!("no order `{other}`"),
    }
}
