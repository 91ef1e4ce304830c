//! A policy tried with all its parameters: the one line that its author calls.

use crate::case::{CaseLimits, Random};
use crate::change::{CaseChange, check_change};
use crate::check::check_policy;
use crate::parameters::{draw_policy, list_parameters, one_at_a_time};
use crate::shrink::{CaseFailure, attempt_with};
use crate::subject::{Guarantee, Subject};
use drystone::policy::PolicySpec;

/// Tries a family of policies with every parameter at every value that its declaration suggests,
/// and with combinations of them. `guarantees` must hold whatever the parameters are.
///
/// The cases are the same in every run. `DRYSTONE_CASES` sets how many are drawn for each text, 4
/// by default.
///
/// ```
/// use drystone_testkit::{Guarantee, assert_sound};
///
/// assert_sound("fcfs", &[Guarantee::Uninterrupted]);
/// ```
///
/// # Panics
/// With a log of a few jobs that shows what is wrong; or if no policy has this name.
pub fn assert_sound(family: &str, guarantees: &[Guarantee]) {
    if let Err(failure) = FamilyTrial::for_family(family).with_guarantees(|_| guarantees.to_vec()).run() {
        panic!("{}", failure.render_report());
    }
}

/// Guarantees of a policy, by its parameters.
type Guarantees<'a> = Box<dyn Fn(&PolicySpec) -> Vec<Guarantee> + 'a>;
/// Filter of the parameter values that are left out, by name and value.
type Skip<'a> = Box<dyn Fn(&str, &str) -> bool + 'a>;

/// Trial of a family of policies.
pub struct FamilyTrial<'a> {
    family: &'a str,
    guarantees: Guarantees<'a>,
    skip: Skip<'a>,
    changes: Vec<CaseChange>,
    limits: CaseLimits,
    cases: u64,
    combinations: u64,
    seed: u64,
}

impl<'a> FamilyTrial<'a> {
    /// A family that guarantees nothing and follows no change.
    #[must_use]
    pub fn for_family(family: &'a str) -> FamilyTrial<'a> {
        let cases = std::env::var("DRYSTONE_CASES").ok().and_then(|n| n.trim().parse().ok()).unwrap_or(4);
        FamilyTrial {
            family,
            guarantees: Box::new(|_| Vec::new()),
            skip: Box::new(|_, _| false),
            changes: Vec::new(),
            limits: CaseLimits::default(),
            cases,
            combinations: 30,
            seed: 20_261_121,
        }
    }

    /// Sets the guarantees of its policies, by their parameters
    /// ([`parameter_value`](crate::parameter_value)).
    #[must_use]
    pub fn with_guarantees(self, guarantees: impl Fn(&PolicySpec) -> Vec<Guarantee> + 'a) -> FamilyTrial<'a> {
        FamilyTrial { guarantees: Box::new(guarantees), ..self }
    }

    /// Leaves out values of parameters, told by name and value: those that would compute for hours.
    #[must_use]
    pub fn skip_values(self, skip: impl Fn(&str, &str) -> bool + 'a) -> FamilyTrial<'a> {
        FamilyTrial { skip: Box::new(skip), ..self }
    }

    /// Sets the changes of a workload that its schedules follow, whatever the parameters are.
    #[must_use]
    pub fn with_changes(self, changes: &[CaseChange]) -> FamilyTrial<'a> {
        FamilyTrial { changes: changes.to_vec(), ..self }
    }

    /// With cases no larger than this.
    #[must_use]
    pub fn with_limits(self, limits: CaseLimits) -> FamilyTrial<'a> {
        FamilyTrial { limits, ..self }
    }

    /// With this many cases for each text.
    #[must_use]
    pub fn with_cases(self, cases: u64) -> FamilyTrial<'a> {
        FamilyTrial { cases, ..self }
    }

    /// With this many combinations of parameters.
    #[must_use]
    pub fn with_combinations(self, combinations: u64) -> FamilyTrial<'a> {
        FamilyTrial { combinations, ..self }
    }

    /// With other random numbers.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> FamilyTrial<'a> {
        FamilyTrial { seed, ..self }
    }

    /// Tries all.
    ///
    /// # Errors
    /// The first failure, on a case as small as was found.
    ///
    /// # Panics
    /// If no policy has this name.
    pub fn run(&self) -> Result<(), Box<CaseFailure>> {
        let values = list_parameters(self.family, &self.skip);
        let mut random = Random::new(self.seed);
        let mut specs = one_at_a_time(self.family, &values);
        specs.extend((0..self.combinations).map(|_| draw_policy(&mut random, self.family, &values)));
        for spec in &specs {
            let subject = Subject::from_spec(spec).with_guarantees((self.guarantees)(spec)).with_limits(self.limits);
            for _ in 0..self.cases {
                attempt_with(&subject, random.draw_bits(), &check_policy)?;
            }
            for &change in &self.changes {
                attempt_with(&subject, random.draw_bits(), &|subject, case| check_change(change, subject, case))?;
            }
        }
        Ok(())
    }
}
