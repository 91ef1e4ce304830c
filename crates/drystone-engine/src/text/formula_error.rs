//! Errors of formulas, with their position.

use std::fmt;

/// Characters of a formula that an error shows before and behind the place it is about.
const SHOWN: usize = 40;

/// A text that is no formula, or says something impossible. Prints the problem, the formula and a
/// caret below the character that it is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormulaError {
    /// The formula.
    pub text: String,
    /// The character that the problem is about, counted from 0.
    pub at: usize,
    /// Description of the mistake and its correction.
    pub problem: String,
}

impl FormulaError {
    /// A problem at this character of a text, counted from 0.
    pub fn new(text: &str, at: usize, problem: impl Into<String>) -> FormulaError {
        FormulaError { text: text.to_string(), at, problem: problem.into() }
    }

    /// The part of the formula around the problem, and the column of the caret in it.
    fn render_excerpt(&self) -> (String, usize) {
        let visible = |c: char| if c.is_control() { ' ' } else { c };
        let characters: Vec<char> = self.text.chars().map(visible).collect();
        let (from, to) = (self.at.saturating_sub(SHOWN), (self.at + SHOWN).min(characters.len()));
        let (mut excerpt, mut caret) = (String::new(), self.at - from);
        if from > 0 {
            excerpt.push_str("...");
            caret += 3;
        }
        excerpt.extend(&characters[from.min(to)..to]);
        if to < characters.len() {
            excerpt.push_str("...");
        }
        (excerpt, caret)
    }
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (excerpt, caret) = self.render_excerpt();
        write!(f, "character {}: {}\n  {excerpt}\n  {:caret$}^", self.at + 1, self.problem, "")
    }
}

impl std::error::Error for FormulaError {}
