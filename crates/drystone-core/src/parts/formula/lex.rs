//! Formulas as words: numbers, names, signs.

use super::expr::Operator;
use crate::text::FormulaError;

/// A word and the character at which it begins.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) word: Word,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Word {
    Number(f64),
    /// In small letters.
    Name(String),
    Operator(Operator),
    Open,
    Close,
    Comma,
    End,
}

/// Units that may follow a number: lengths of time in seconds.
const UNITS: [(char, f64); 5] = [('s', 1.0), ('m', 60.0), ('h', 3_600.0), ('d', 86_400.0), ('w', 604_800.0)];

/// The words of a text; the last is [`Word::End`].
pub(super) fn split_words(text: &str) -> Result<Vec<Token>, FormulaError> {
    let chars: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { text, chars, at: 0 };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next()? {
        tokens.push(token);
    }
    tokens.push(Token { at: lexer.at, word: Word::End });
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
}

impl Lexer<'_> {
    fn peek_ahead(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn fail_at<T>(&self, at: usize, problem: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError::new(self.text, at, problem))
    }

    fn skip_while(&mut self, while_true: impl Fn(char) -> bool) {
        while self.peek_ahead(0).is_some_and(&while_true) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Result<Option<Token>, FormulaError> {
        self.skip_while(char::is_whitespace);
        let at = self.at;
        let Some(c) = self.peek_ahead(0) else { return Ok(None) };
        let word = match c {
            '0'..='9' | '.' => self.lex_number()?,
            c if c.is_ascii_alphabetic() => {
                self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
                Word::Name(self.chars[at..self.at].iter().collect::<String>().to_ascii_lowercase())
            }
            _ => self.lex_sign(c)?,
        };
        Ok(Some(Token { at, word }))
    }

    fn lex_number(&mut self) -> Result<Word, FormulaError> {
        let at = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        if self.peek_ahead(0) == Some('.') {
            self.at += 1;
            self.skip_while(|c| c.is_ascii_digit());
        }
        self.skip_exponent();
        let digits: String = self.chars[at..self.at].iter().collect();
        let Some(number) = digits.parse::<f64>().ok().filter(|n| n.is_finite()) else {
            return self.fail_at(at, format!("`{digits}` is no number that can be counted with"));
        };
        Ok(Word::Number(number * self.lex_unit()?))
    }

    /// Skips an exponent, if one follows. `2e` is no number with an exponent; the name `e` behind
    /// it is reported later.
    fn skip_exponent(&mut self) {
        if !matches!(self.peek_ahead(0), Some('e' | 'E')) {
            return;
        }
        let sign = usize::from(matches!(self.peek_ahead(1), Some('+' | '-')));
        if self.peek_ahead(1 + sign).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1 + sign;
            self.skip_while(|c| c.is_ascii_digit());
        }
    }

    fn lex_unit(&mut self) -> Result<f64, FormulaError> {
        let (at, Some(c)) = (self.at, self.peek_ahead(0)) else { return Ok(1.0) };
        if !(c.is_ascii_alphabetic() || c == '_' || c == '.') {
            return Ok(1.0);
        }
        let alone = !self.peek_ahead(1).is_some_and(|next| next.is_ascii_alphanumeric() || next == '_');
        match UNITS.iter().find(|unit| unit.0 == c && alone) {
            Some(unit) => {
                self.at += 1;
                Ok(unit.1)
            }
            None => self.fail_at(
                at,
                "a number is followed by a unit of time (s, m, h, d, w) or an operator; write `2*n` for two times n",
            ),
        }
    }

    fn lex_sign(&mut self, c: char) -> Result<Word, FormulaError> {
        use Operator::*;
        let followed_by_equals = self.peek_ahead(1) == Some('=');
        let (word, length) = match (c, followed_by_equals) {
            ('(', _) => (Word::Open, 1),
            (')', _) => (Word::Close, 1),
            (',', _) => (Word::Comma, 1),
            ('+', _) => (Word::Operator(Add), 1),
            ('-', _) => (Word::Operator(Subtract), 1),
            ('*', _) if self.peek_ahead(1) == Some('*') => (Word::Operator(Power), 2),
            ('*', _) => (Word::Operator(Multiply), 1),
            ('/', _) => (Word::Operator(Divide), 1),
            ('^', _) => (Word::Operator(Power), 1),
            ('<', true) => (Word::Operator(AtMost), 2),
            ('<', false) => (Word::Operator(Below), 1),
            ('>', true) => (Word::Operator(AtLeast), 2),
            ('>', false) => (Word::Operator(Above), 1),
            ('=', equals) => (Word::Operator(Equal), 1 + usize::from(equals)),
            ('!', true) => (Word::Operator(Unequal), 2),
            _ => {
                let problem = format!("`{}` has no place in a formula", c.escape_default());
                return self.fail_at(self.at, problem);
            }
        };
        self.at += length;
        Ok(word)
    }
}
