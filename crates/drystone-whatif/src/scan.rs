//! The words of a change, read one by one, with errors that point at the character.

use std::fmt;

/// A text that is no change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteChangeError {
    pub text: String,
    /// The character that the problem is about, from 0.
    pub at: usize,
    /// Found, expected, and what to do.
    pub problem: String,
}

impl fmt::Display for SiteChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.problem)?;
        writeln!(f, "  {}", self.text.replace(|c: char| c.is_control(), " "))?;
        write!(f, "  {:at$}^", "", at = self.at)
    }
}

impl std::error::Error for SiteChangeError {}

/// A text with a place in it.
pub(super) struct Scan<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
    end: usize,
}

impl<'a> Scan<'a> {
    /// The characters from one place to another.
    pub(super) fn new(text: &'a str, from: usize, end: usize) -> Scan<'a> {
        Scan { text, chars: text.chars().collect(), at: from, end }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn error_at(&self, at: usize, problem: impl Into<String>) -> SiteChangeError {
        SiteChangeError { text: self.text.to_string(), at, problem: problem.into() }
    }

    fn peek_char(&self) -> Option<char> {
        (self.at < self.end).then(|| self.chars[self.at])
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.peek_char().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    /// Returns whether nothing is left but blanks.
    pub(super) fn is_done(&mut self) -> bool {
        self.skip_blanks();
        self.at >= self.end
    }

    /// Takes a character if it is the next one behind blanks.
    pub(super) fn take_char(&mut self, target: char) -> bool {
        let before = self.at;
        self.skip_blanks();
        let is_next = self.peek_char() == Some(target);
        if is_next {
            self.at += 1;
        } else {
            self.at = before;
        }
        is_next
    }

    /// The characters up to one that ends a word, behind blanks.
    pub(super) fn read_word(&mut self, ends: impl Fn(char) -> bool) -> (usize, String) {
        self.skip_blanks();
        let from = self.at;
        if self.peek_char() == Some('"') {
            let close = (from + 1..self.end).find(|&at| self.chars[at] == '"');
            if let Some(close) = close {
                self.at = close + 1;
                return (from, self.chars[from + 1..close].iter().collect());
            }
        }
        while self.peek_char().is_some_and(|c| !c.is_whitespace() && !ends(c)) {
            self.at += 1;
        }
        (from, self.chars[from..self.at].iter().collect())
    }

    /// Goes back to a place that was passed.
    pub(super) fn rewind_to(&mut self, at: usize) {
        self.at = at;
    }

    /// A partition, a pool or a list of nodes, which ends at a blank.
    pub(super) fn read_place_name(&mut self, subject: &str) -> Result<String, SiteChangeError> {
        let (from, name) = self.read_word(|_| false);
        match name.is_empty() {
            true => Err(self.error_at(from, format!("expected the name of {subject}"))),
            false => Ok(name),
        }
    }

    /// Reads a name with a colon behind it.
    pub(super) fn read_place(&mut self, subject: &str) -> Result<String, SiteChangeError> {
        let name = self.read_name(subject)?;
        match self.take_char(':') {
            true => Ok(name),
            false => Err(self.error_at(self.position(), format!("expected `:` behind the name of {subject}"))),
        }
    }

    /// A name, which ends at a blank or at a mark of the grammar.
    pub(super) fn read_name(&mut self, subject: &str) -> Result<String, SiteChangeError> {
        let (from, name) = self.read_word(|c| ":;,/=<>".contains(c));
        match name.is_empty() {
            true => Err(self.error_at(from, format!("expected the name of {subject}"))),
            false => Ok(name),
        }
    }

    /// One of a few words, if it is next.
    pub(super) fn is_word(&mut self, target: &str) -> bool {
        let before = self.at;
        let (_, word) = self.read_word(|_| false);
        let is_match = word.eq_ignore_ascii_case(target);
        if !is_match {
            self.at = before;
        }
        is_match
    }

    pub(super) fn expect_end(&mut self, expected: &str) -> Result<(), SiteChangeError> {
        match self.is_done() {
            true => Ok(()),
            false => Err(self.error_at(self.at, format!("expected {expected} and no more"))),
        }
    }
}

/// A name as a text has it: in quotes where it holds a blank or a mark of the grammar.
pub(super) fn quote_name(name: &str) -> String {
    let plain = !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || ":;,/=<>".contains(c));
    if plain { name.to_string() } else { format!("\"{name}\"") }
}
