//! Description of a family of policies: its parameters, its named variants, its constructor.

use super::Policy;
use crate::text::{Args, Param, ParamNeeds, SpecError};
use std::fmt;

/// A named variant that fixes parameters as a published study has them.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Behind `@`.
    pub name: &'static str,
    /// The parameters it sets, `key=value` separated by commas. Nothing where the defaults are the
    /// study's own choices: the variant then says that they are checked against it.
    pub sets: &'static str,
    /// Reproduced study.
    pub meaning: &'static str,
}

/// Constructor of a policy from its parameters.
pub type Build = &'static (dyn Fn(&Args<'_>) -> Result<Box<dyn Policy>, SpecError> + Send + Sync);

/// A family of policies.
///
/// [`PolicyKind::new`] and what follows it declare one in another crate;
/// [`register_policy`](super::register_policy) makes it known by name.
#[non_exhaustive]
pub struct PolicyKind {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Source.
    pub source: &'static str,
    /// Its own parameters; those of [`COMMON`](super::COMMON) come with every policy.
    pub params: &'static [Param],
    /// Conditions under which some of them count.
    pub needs: &'static [ParamNeeds],
    /// The parameter whose value may stand without its key, as in `goal(lexical(Tw>avgX))`, if
    /// there is one.
    pub unnamed: Option<&'static str>,
    /// Its named variants.
    pub variants: &'static [Variant],
    /// Builds it from its parameters.
    pub build: Build,
}

impl PolicyKind {
    /// A family without parameters and variants.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str, build: Build) -> PolicyKind {
        PolicyKind { name, summary, source: "", params: &[], needs: &[], unnamed: None, variants: &[], build }
    }

    /// With a source: a paper, a program, a site.
    #[must_use]
    pub const fn with_source(mut self, source: &'static str) -> PolicyKind {
        self.source = source;
        self
    }

    /// With these parameters.
    #[must_use]
    pub const fn with_params(mut self, params: &'static [Param]) -> PolicyKind {
        self.params = params;
        self
    }

    /// With parameters that count only beside others.
    #[must_use]
    pub const fn with_needs(mut self, needs: &'static [ParamNeeds]) -> PolicyKind {
        self.needs = needs;
        self
    }

    /// With a parameter whose value may stand without its key.
    #[must_use]
    pub const fn with_unnamed_param(mut self, param: &'static str) -> PolicyKind {
        self.unnamed = Some(param);
        self
    }

    /// With these variants.
    #[must_use]
    pub const fn with_variants(mut self, variants: &'static [Variant]) -> PolicyKind {
        self.variants = variants;
        self
    }
}

impl fmt::Debug for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A short name for a policy with certain parameters.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The short name.
    pub name: &'static str,
    /// Meaning.
    pub means: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Further meaning in a variant, where the study had more choices of its own: variant and
    /// parameters.
    pub in_variant: &'static [(&'static str, &'static str)],
}
