//! The parameters of a policy or a predictor that is being built.

use super::grammar::find_nearest;
use super::{Param, SpecError};
use std::str::FromStr;

/// The parameters of a policy or a predictor that is being built: given ones, those of its variant,
/// defaults.
pub struct Args<'a> {
    /// The whole text, for errors.
    pub text: &'a str,
    /// Its own parameters, and those that all of its kind have.
    pub params: [&'a [Param]; 2],
    /// Later ones win.
    pub set: &'a [(String, String)],
}

impl Args<'_> {
    fn find_declaration(&self, name: &str) -> Option<&Param> {
        self.params.into_iter().flatten().find(|p| p.name == name)
    }

    /// The value of a parameter as text.
    ///
    /// # Panics
    /// If the policy does not declare such a parameter: a bug of its registry entry.
    #[must_use]
    pub fn text_value(&self, name: &str) -> &str {
        let entry = self.set.iter().rev().find(|(key, _)| key == name);
        entry.map(|(_, value)| value.as_str()).unwrap_or_else(|| {
            self.find_declaration(name).map(|p| p.default).unwrap_or_else(|| panic!("parameter {name} is not declared"))
        })
    }

    /// Returns whether a parameter has this value: `auto`, `none`.
    #[must_use]
    pub fn has_value(&self, name: &str, word: &str) -> bool {
        self.text_value(name) == word
    }

    /// Returns the meaning of `correct=auto` beside a predictor that learns, or does not: an
    /// estimate that proves too short is also corrected where the policy says so.
    pub fn automatic_correction(&self, learns: bool) -> &'static str {
        let extends = self.find_declaration("overdue").is_some() && self.has_value("overdue", "extended");
        if learns || extends { "estimate" } else { "none" }
    }

    /// The value of a parameter.
    ///
    /// # Errors
    /// A value that it does not take ([`Param::takes`]) or none of the type; the message names the
    /// parameter and what it takes.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, SpecError> {
        self.check_value(name)?.parse().map_err(|_| self.value_error(name))
    }

    /// The value of a parameter that may also be a word, such as `none` or `auto`, which is no
    /// value.
    ///
    /// # Errors
    /// As [`Args::get`].
    pub fn parse_unless<T: FromStr>(&self, word: &str, name: &str) -> Result<Option<T>, SpecError> {
        if self.has_value(name, word) { Ok(None) } else { self.get(name).map(Some) }
    }

    /// The numbers of a parameter that takes several, separated by `/`; none where it is the word
    /// `none`.
    ///
    /// # Errors
    /// As [`Args::get`].
    pub fn parse_list<T: FromStr>(&self, name: &str) -> Result<Vec<T>, SpecError> {
        match self.check_value(name)? {
            "none" => Ok(Vec::new()),
            text => text.split('/').map(|n| n.trim().parse().map_err(|_| self.value_error(name))).collect(),
        }
    }

    /// The value of a parameter that takes one of a few words.
    ///
    /// # Errors
    /// A word that is none of them.
    pub fn choose_value<T: Clone>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, SpecError> {
        let value = self.text_value(name);
        let choice = choices.iter().find(|(word, _)| *word == value);
        choice.map(|(_, t)| t.clone()).ok_or_else(|| self.value_error(name))
    }

    /// Returns whether a parameter that takes `yes` or `no` is `yes`.
    ///
    /// # Errors
    /// Another word.
    pub fn is_yes(&self, name: &str) -> Result<bool, SpecError> {
        self.choose_value(name, &[("no", false), ("yes", true)])
    }

    /// The value, if the parameter takes it.
    fn check_value(&self, name: &str) -> Result<&str, SpecError> {
        let value = self.text_value(name);
        match self.find_declaration(name) {
            Some(param) if !param.accepts_text(value) => Err(self.value_error(name)),
            _ => Ok(value),
        }
    }

    /// The error of a parameter whose value is wrong.
    #[must_use]
    pub fn value_error(&self, name: &str) -> SpecError {
        let values = self.find_declaration(name).map(Param::describe_values).unwrap_or_default();
        let text = self.text_value(name);
        // Of the words that it takes, not of numbers and descriptions.
        let is_word = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let near = find_nearest(text, values.split('|').filter(is_word));
        let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
        self.spec_error(format!("`{name}={text}` is not possible; {near}{name} takes {values}"))
    }

    /// Any other error about this text.
    #[must_use]
    pub fn spec_error(&self, problem: String) -> SpecError {
        SpecError { text: self.text.to_string(), problem }
    }
}
