//! Orders by formula: what a formula means for one job, one rule after the other, and the named
//! orders as they are printed.
//!
//! Sums, products, quotients and roots are IEEE's, logarithms and powers libm's; x^1 to x^4 are
//! products from left to right. What is alike for all jobs does not count, and where a formula is
//! `fixed + slope·w` with one slope for all jobs, jobs are compared by `fixed − slope·s`: at any
//! moment both differ by the same.

use std::fmt;

/// Facts available to formulas.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Known {
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
    /// user.
    pub user: f64,
    /// machine.
    pub machine: f64,
    /// load.
    pub load: f64,
    /// waiting.
    pub waiting: f64,
    /// usage, with its windows.
    pub usage: Vec<(f64, f64)>,
}

/// A formula. Printed, it is what the product reads.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A number that is not negative.
    Number(f64),
    /// r, e, n, a, w, s, x, user, load, waiting or machine.
    Name(&'static str),
    /// usage of this many seconds.
    Usage(u32),
    /// −a.
    Minus(Box<Expr>),
    /// a with a sign of + - * / ^ and b.
    Two(char, Box<Expr>, Box<Expr>),
    /// log2, log10, ln, sqrt, exp or abs.
    One(&'static str, Box<Expr>),
    /// min or max.
    Pick(&'static str, Box<Expr>, Box<Expr>),
    /// if(a < b, c, d), or with another comparison.
    If(&'static str, Box<[Expr; 4]>),
}

impl Expr {
    /// The windows of usage that it asks for.
    pub fn windows(formula: &Expr, windows: &mut Vec<f64>) {
        match formula {
            Expr::Usage(seconds) => windows.push(f64::from(*seconds)),
            Expr::Minus(a) | Expr::One(_, a) => Expr::windows(a, windows),
            Expr::Two(_, a, b) | Expr::Pick(_, a, b) => [a, b].into_iter().for_each(|e| Expr::windows(e, windows)),
            Expr::If(_, all) => all.iter().for_each(|e| Expr::windows(e, windows)),
            Expr::Number(_) | Expr::Name(_) => {}
        }
    }

    /// The value by which jobs are compared.
    #[must_use]
    pub fn rank(&self, job: &Known) -> f64 {
        match self.line(job) {
            Some((fixed, slope)) if slope != 0.0 => fixed + -slope * job.submit,
            Some((fixed, _)) => fixed,
            None => self.value(job),
        }
    }

    /// The value.
    #[must_use]
    pub fn value(&self, job: &Known) -> f64 {
        match self {
            Expr::Number(number) => *number,
            Expr::Name(name) => named(name, job),
            Expr::Usage(window) => {
                job.usage.iter().find(|usage| usage.0 == f64::from(*window)).map_or(0.0, |usage| usage.1)
            }
            Expr::Minus(a) => -a.value(job),
            Expr::Two(sign, a, b) => two(*sign, a.value(job), b.value(job)),
            Expr::One(name, a) => one(name, a.value(job)),
            Expr::Pick(name, a, b) => {
                let (a, b) = (a.value(job), b.value(job));
                let second = if *name == "min" { b < a } else { b > a };
                if a.is_nan() || b.is_nan() {
                    f64::NAN
                } else if second {
                    b
                } else {
                    a
                }
            }
            Expr::If(sign, all) => {
                let (a, b) = (all[0].value(job), all[1].value(job));
                let holds = match *sign {
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    "==" => a == b,
                    _ => a != b,
                };
                all[if holds { 2 } else { 3 }].value(job)
            }
        }
    }

    fn any(&self, asks: &impl Fn(&Expr) -> bool) -> bool {
        asks(self)
            || match self {
                Expr::Minus(a) | Expr::One(_, a) => a.any(asks),
                Expr::Two(_, a, b) | Expr::Pick(_, a, b) => a.any(asks) || b.any(asks),
                Expr::If(_, all) => all.iter().any(|e| e.any(asks)),
                Expr::Number(_) | Expr::Name(_) | Expr::Usage(_) => false,
            }
    }

    /// Returns the value if it is the same for every job, moment and machine.
    fn constant(&self) -> Option<f64> {
        let asks = |e: &Expr| matches!(e, Expr::Name(_) | Expr::Usage(_));
        (!self.any(&asks)).then(|| self.value(&Known::default()))
    }

    /// As `fixed + slope·w`, with what is alike for all jobs left out.
    fn line(&self, job: &Known) -> Option<(f64, f64)> {
        let of_the_job = |e: &Expr| match e {
            Expr::Name(name) => !["load", "waiting", "machine"].contains(name),
            e => matches!(e, Expr::Usage(_)),
        };
        let changes = |e: &Expr| match e {
            Expr::Name(name) => ["w", "x", "load", "waiting"].contains(name),
            e => matches!(e, Expr::Usage(_)),
        };
        if !self.any(&of_the_job) {
            return Some((0.0, 0.0));
        }
        if !self.any(&changes) {
            return Some((self.value(job), 0.0));
        }
        let (fixed, slope) = match self {
            Expr::Name("w") => (0.0, 1.0),
            Expr::Minus(a) => a.line(job).map(|(fixed, slope)| (-fixed, -slope))?,
            Expr::Two('+', a, b) => {
                let (a, b) = (a.line(job)?, b.line(job)?);
                (a.0 + b.0, a.1 + b.1)
            }
            Expr::Two('-', a, b) => {
                let (a, b) = (a.line(job)?, b.line(job)?);
                (a.0 - b.0, a.1 - b.1)
            }
            Expr::Two(sign @ ('*' | '/'), a, b) => match (a.constant(), b.constant()) {
                (_, Some(b)) => a.line(job).map(|a| (two(*sign, a.0, b), two(*sign, a.1, b)))?,
                (Some(a), None) if *sign == '*' => b.line(job).map(|b| (a * b.0, a * b.1))?,
                _ => return None,
            },
            _ => return None,
        };
        slope.is_finite().then_some((fixed, slope))
    }
}

fn named(name: &str, job: &Known) -> f64 {
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

fn two(sign: char, a: f64, b: f64) -> f64 {
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

fn one(name: &str, a: f64) -> f64 {
    match name {
        "log2" => libm::log2(a),
        "log10" => libm::log10(a),
        "ln" => libm::log(a),
        "sqrt" => a.sqrt(),
        "exp" => libm::exp(a),
        _ => a.abs(),
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(number) => write!(f, "{number}"),
            Expr::Name(name) => write!(f, "{name}"),
            Expr::Usage(window) => write!(f, "usage({window}s)"),
            Expr::Minus(a) => write!(f, "(-{a})"),
            Expr::Two(sign, a, b) => write!(f, "({a}{sign}{b})"),
            Expr::One(name, a) => write!(f, "{name}({a})"),
            Expr::Pick(name, a, b) => write!(f, "{name}({a},{b})"),
            Expr::If(sign, all) => write!(f, "if({}{sign}{},{},{})", all[0], all[1], all[2], all[3]),
        }
    }
}

/// A published order as a function of what it names, smallest first: WFP3 and UNICEF as in Tang et
/// al. 2009, F1 to F4 as in table 3 of Carastan-Santos & de Camargo 2017, the others as in Lelong
/// et al. 2017. Times below 1 s count as 1 s where the paper divides by them or takes their
/// logarithm, and a single processor as two in UNICEF's logarithm.
#[must_use]
pub fn published(name: &str, job: &Known) -> f64 {
    let Known { run, estimate, procs, wait, submit, .. } = *job;
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
