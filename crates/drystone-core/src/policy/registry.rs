//! Every policy by name: those of this crate and those that others register.

use super::kind::PolicyKind;
use super::kinds::{ALIASES, BUILT_IN, COMMON};
use crate::text::Param;
use std::sync::{PoisonError, RwLock};

impl PolicyKind {
    /// Its own parameters and those that every policy takes.
    pub(super) fn all_params(&self) -> impl Iterator<Item = &'static Param> + use<> {
        self.params.iter().chain(COMMON)
    }

    pub(super) fn has_param(&self, param: &str) -> bool {
        self.all_params().any(|p| p.name == param)
    }
}

/// Policies registered by other crates, in that order.
pub(super) static REGISTERED: RwLock<Vec<&'static PolicyKind>> = RwLock::new(Vec::new());

/// All families: those of this crate, then those registered, in that order.
#[must_use]
pub fn policy_kinds() -> Vec<&'static PolicyKind> {
    let registry = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    BUILT_IN.iter().chain(registry.iter()).copied().collect()
}

/// The families of this crate alone.
#[must_use]
pub fn built_in() -> &'static [&'static PolicyKind] {
    BUILT_IN
}

/// The family of this name.
#[must_use]
pub fn find_kind(name: &str) -> Option<&'static PolicyKind> {
    let of = |kinds: &[&'static PolicyKind]| kinds.iter().copied().find(|k| k.name == name);
    of(BUILT_IN).or_else(|| of(&REGISTERED.read().unwrap_or_else(PoisonError::into_inner)))
}

/// All names that [`PolicySpec`](super::PolicySpec) understands: families, then short names.
#[must_use]
pub fn policy_names() -> Vec<&'static str> {
    policy_kinds().iter().map(|k| k.name).chain(ALIASES.iter().map(|a| a.name)).collect()
}
