//! Reduction of a failing case to a small one, and its report.

use crate::case::{PolicyCase, Random};
use crate::check::check_policy;
use crate::real::check_real;
use crate::subject::Subject;

/// A case that fails, as small as was found.
#[derive(Debug)]
pub struct CaseFailure {
    /// The policy's text, or name.
    pub policy: String,
    /// Case on which it fails.
    pub case: PolicyCase,
    /// Description of the failure.
    pub problem: String,
}

/// Check of a policy on a case.
pub type CaseCheck<'a> = &'a dyn Fn(&Subject, &PolicyCase) -> Result<(), String>;

/// Tries a policy on the random case of a seed.
///
/// # Errors
/// A small case on which it fails.
pub fn try_random_case(subject: &Subject, seed: u64) -> Result<(), Box<CaseFailure>> {
    attempt_with(subject, seed, &check_policy)
}

/// Tries a policy on the random case of a seed, in a [`CaseWorld`](crate::CaseWorld): with outages,
/// holds, dependencies, a busy beginning.
///
/// # Errors
/// A small case on which it fails.
pub fn attempt_real(subject: &Subject, seed: u64) -> Result<(), Box<CaseFailure>> {
    let case = PolicyCase::random_real(&mut Random::new(seed), subject.limits);
    if std::env::var_os("DRYSTONE_SHOW").is_some() {
        println!("{}: {case:?}", subject.name);
    }
    match check_real(subject, &case) {
        Ok(()) => Ok(()),
        Err(problem) => Err(Box::new(shrink_case(subject, case, problem, &check_real))),
    }
}

/// Asks something of a policy on the random case of a seed.
///
/// # Errors
/// A small case on which it fails.
pub fn attempt_with(subject: &Subject, seed: u64, ask: CaseCheck<'_>) -> Result<(), Box<CaseFailure>> {
    let case = PolicyCase::random_case(&mut Random::new(seed), subject.limits);
    if std::env::var_os("DRYSTONE_SHOW").is_some() {
        println!("{}: {case:?}", subject.name);
    }
    match ask(subject, &case) {
        Ok(()) => Ok(()),
        Err(problem) => Err(Box::new(shrink_case(subject, case, problem, ask))),
    }
}

/// Limit on the number of smaller cases tried.
const TRIES: usize = 4_000;

/// A smallest case in this sense: no job, withdrawal, processor or second of those tried can go.
fn shrink_case(subject: &Subject, case: PolicyCase, problem: String, ask: CaseCheck<'_>) -> CaseFailure {
    let mut best = CaseFailure { policy: subject.name.clone(), case, problem };
    let mut tries = 0;
    'again: while tries < TRIES {
        let case = best.case.clone();
        for smaller in smaller_cases(&case) {
            tries += 1;
            if let Err(problem) = ask(subject, &smaller) {
                (best.case, best.problem) = (smaller, problem);
                continue 'again;
            }
            if tries >= TRIES {
                break;
            }
        }
        break;
    }
    best
}

/// Smaller cases, the much smaller ones first.
fn smaller_cases(case: &PolicyCase) -> impl Iterator<Item = PolicyCase> + '_ {
    let n = case.rows.len();
    let sizes = std::iter::successors(Some(n / 2), |size| Some(size / 2)).take_while(|&size| size > 0);
    let pieces = sizes.flat_map(move |size| (0..n).step_by(size).map(move |from| (from, (from + size).min(n))));
    let without =
        pieces.filter(move |(from, until)| until - from < n).map(|(from, until)| remove_jobs(case, from, until));
    let withdrawals = (0..case.cancel.len()).map(|at| {
        let mut smaller = case.clone();
        smaller.cancel.remove(at);
        smaller
    });
    let whole = [
        // The same a little earlier, a machine just wide enough, one user.
        change_case(case, |c| {
            let first = c.rows[0].submit;
            c.rows.iter_mut().for_each(|r| r.submit -= first);
        }),
        change_case(case, |c| c.procs = c.rows.iter().map(|r| r.procs).max().unwrap_or(1)),
        change_case(case, |c| c.procs -= u32::from(c.rows.iter().all(|r| r.procs < c.procs))),
        change_case(case, |c| c.rows.iter_mut().for_each(|r| r.user = 1)),
        change_case(case, |c| c.stop /= 2),
        change_case(case, |c| c.stop = c.stop.saturating_sub(1)),
        change_case(case, |c| c.stop = 0),
    ];
    let rows = (0..n).flat_map(move |at| {
        let row = case.rows[at];
        let previous = if at == 0 { row.submit.min(0) } else { case.rows[at - 1].submit };
        [
            change_case(case, |c| {
                let gap = c.rows[at].submit - previous;
                c.rows[at..].iter_mut().for_each(|r| r.submit -= gap);
            }),
            change_case(case, |c| {
                let gap = (c.rows[at].submit - previous + 1) / 2;
                c.rows[at..].iter_mut().for_each(|r| r.submit -= gap);
            }),
            change_case(case, |c| c.rows[at].procs = 1),
            change_case(case, |c| c.rows[at].procs = row.procs.div_ceil(2)),
            change_case(case, |c| c.rows[at].procs = row.procs.max(2) - 1),
            change_case(case, |c| c.rows[at].run = 0),
            change_case(case, |c| c.rows[at].run = row.run / 2),
            change_case(case, |c| c.rows[at].run = row.run.max(1) - 1),
            change_case(case, |c| c.rows[at].estimate = row.run.max(1)),
            change_case(case, |c| c.rows[at].estimate = (row.estimate / 2).max(1)),
            change_case(case, |c| c.rows[at].estimate = (row.estimate - 1).max(1)),
        ]
    });
    let worlds = case.world.smaller_worlds().into_iter().map(|world| PolicyCase { world, ..case.clone() });
    worlds.chain(without).chain(withdrawals).chain(whole.into_iter().chain(rows).flatten())
}

fn change_case(case: &PolicyCase, change: impl FnOnce(&mut PolicyCase)) -> Option<PolicyCase> {
    let mut smaller = case.clone();
    change(&mut smaller);
    (smaller != *case).then_some(smaller)
}

fn remove_jobs(case: &PolicyCase, from: usize, until: usize) -> PolicyCase {
    let mut smaller = case.clone();
    smaller.rows.drain(from..until);
    smaller.world = smaller.world.without_jobs(from, until);
    smaller.cancel.retain(|c| !(from..until).contains(&c.0));
    smaller.cancel.iter_mut().filter(|c| c.0 >= until).for_each(|c| c.0 -= until - from);
    smaller
}

impl CaseFailure {
    /// Returns the failure in one line.
    #[must_use]
    pub fn render_line(&self) -> String {
        format!("policy {}: {}\n", self.policy, self.problem)
    }

    /// Returns the failure, the log, and the command that reproduces it.
    #[must_use]
    pub fn render_report(&self) -> String {
        let CaseFailure { policy, case, problem } = self;
        let mut text =
            format!("\npolicy {policy}: {problem}\n\nThe smallest log found on which it fails:\n\n{}\n", case.to_swf());
        text.push_str(&format!(
            "Save it as failing.swf and run\n\n    drystone run --workload failing.swf --policy '{policy}' --jobs -\n\n"
        ));
        if !case.cancel.is_empty() {
            let words: Vec<String> =
                case.cancel.iter().map(|(job, after)| format!("job {} {after} s after its arrival", job + 1)).collect();
            text.push_str(&format!("Withdrawn, which only the library can do: {}.\n", words.join(", ")));
        }
        if !case.world.is_empty() {
            text.push_str("Outages, and what is known of jobs, are in the data; --outages and --circumstances take tables of them.\n");
        }
        text.push_str(&format!("Saved and restored after step {}. As data for a test:\n{case:?}\n", case.stop));
        text
    }
}
