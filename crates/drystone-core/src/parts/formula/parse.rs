//! From words to a tree whose types are right.

use super::expr::{Expr, FUNCTIONS, Function, NOT_BINDING, Operator, SIGN_BINDING, VARIABLES, Variable};
use super::lex::{Token, Word, words};
use crate::text::FormulaError;

/// Longest text of a formula in characters.
const LONGEST: usize = 4_096;
/// Most numbers, variables, operators and functions in a formula.
pub(super) const MOST_PARTS: usize = 500;
/// Deepest nesting of brackets, signs and powers.
const DEEPEST: usize = 60;

/// Names for the true run time: no policy may know it, unless its predictions are perfect.
pub(super) const TRUE_RUN: [&str; 4] = ["actual", "runtime", "truth", "true_run"];

/// A tree, and where in the text the parts begin that a caller may have to point at.
pub(super) struct Parsed {
    pub(super) expr: Expr,
    /// Position of the true run time.
    pub(super) clairvoyant: Option<usize>,
}

/// Reads a formula.
pub(super) fn parse(text: &str) -> Result<Parsed, FormulaError> {
    let length = text.chars().count();
    if length > LONGEST {
        let problem = format!("the formula has {length} characters; at most {LONGEST} are read");
        return Err(FormulaError::new(text, LONGEST, problem));
    }
    let mut parser = Parser { text, tokens: words(text)?, at: 0, depth: 0, parts: 0, clairvoyant: None };
    let value = parser.expression(0)?;
    let Token { at, word } = parser.peek().clone();
    match word {
        Word::End => {}
        Word::Close => return parser.fail(at, "this bracket closes none that was opened"),
        _ => return parser.fail(at, "an operator is missing before this, such as `*`"),
    }
    if value.condition {
        let problem = "an order needs a number, and this is a condition; write `if(condition,0,1)`";
        return parser.fail(value.at, problem);
    }
    Ok(Parsed { expr: value.expr, clairvoyant: parser.clairvoyant })
}

/// A part of the tree: where it begins, and whether it is a condition.
struct ParsedValue {
    expr: Expr,
    at: usize,
    condition: bool,
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    parts: usize,
    clairvoyant: Option<usize>,
}

impl Parser<'_> {
    fn fail<T>(&self, at: usize, problem: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError::new(self.text, at, problem))
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Accounts for one more part.
    fn count(&mut self, at: usize) -> Result<(), FormulaError> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return self.fail(at, format!("the formula has more than {MOST_PARTS} parts"));
        }
        Ok(())
    }

    fn number(&self, value: ParsedValue) -> Result<ParsedValue, FormulaError> {
        if value.condition {
            let problem = "a number is needed here, and this is a condition; write `if(condition,1,0)`";
            return self.fail(value.at, problem);
        }
        Ok(value)
    }

    fn condition(&self, value: ParsedValue) -> Result<ParsedValue, FormulaError> {
        if !value.condition {
            let problem = "a condition is needed here, such as `w > 2h`, and this is a number";
            return self.fail(value.at, problem);
        }
        Ok(value)
    }

    fn operator(&self) -> Option<Operator> {
        match &self.peek().word {
            Word::Operator(operator) => Some(*operator),
            Word::Name(name) if name == "and" => Some(Operator::And),
            Word::Name(name) if name == "or" => Some(Operator::Or),
            _ => None,
        }
    }

    /// Everything that binds at least so tightly.
    fn expression(&mut self, least: u8) -> Result<ParsedValue, FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let at = self.peek().at;
            return self.fail(at, format!("the formula is nested more than {DEEPEST} deep"));
        }
        let mut left = self.prefixed()?;
        while let Some(operator) = self.operator().filter(|operator| operator.binding() >= least) {
            let at = self.advance().at;
            self.count(at)?;
            // Powers are read from the right: 2^3^2 is 2^9.
            let tighter = if operator == Operator::Power { operator.binding() } else { operator.binding() + 1 };
            let right = self.expression(tighter)?;
            left = self.binary(operator, at, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn binary(
        &self,
        operator: Operator,
        at: usize,
        left: ParsedValue,
        right: ParsedValue,
    ) -> Result<ParsedValue, FormulaError> {
        let condition = operator.makes_condition();
        let (left, right) = if operator.joins_conditions() {
            (self.condition(left)?, self.condition(right)?)
        } else if condition && left.condition {
            return self.fail(at, "comparisons cannot be chained; write `a < b and b < c`");
        } else {
            (self.number(left)?, self.number(right)?)
        };
        Ok(ParsedValue { at: left.at, condition, expr: Expr::binary(operator, left.expr, right.expr) })
    }

    /// A sign or `not` and what it belongs to, or a value alone.
    fn prefixed(&mut self) -> Result<ParsedValue, FormulaError> {
        let at = self.peek().at;
        match &self.peek().word {
            Word::Operator(Operator::Subtract) => {
                self.advance();
                self.count(at)?;
                let value = self.expression(SIGN_BINDING)?;
                let value = self.number(value)?;
                let expr = match value.expr {
                    Expr::Number(number) => Expr::Number(-number),
                    other => Expr::Minus(Box::new(other)),
                };
                Ok(ParsedValue { expr, at, condition: false })
            }
            Word::Operator(Operator::Add) => {
                self.advance();
                let value = self.expression(SIGN_BINDING)?;
                self.number(value)
            }
            Word::Name(name) if name == "not" => {
                self.advance();
                self.count(at)?;
                let value = self.expression(NOT_BINDING)?;
                let value = self.condition(value)?;
                Ok(ParsedValue { expr: Expr::Not(Box::new(value.expr)), at, condition: true })
            }
            _ => self.primary(),
        }
    }

    fn primary(&mut self) -> Result<ParsedValue, FormulaError> {
        let Token { at, word } = self.advance();
        self.count(at)?;
        let plain = |expr| Ok(ParsedValue { expr, at, condition: false });
        match word {
            Word::Number(number) => plain(Expr::Number(number)),
            Word::Name(name) if name == "usage" => self.usage(at),
            Word::Name(name) => match FUNCTIONS.iter().find(|info| info.name == name) {
                Some(info) => self.call(info.function, at),
                None => self.variable(&name, at).and_then(plain),
            },
            Word::Open => {
                let value = self.expression(0)?;
                self.close(at)?;
                Ok(ParsedValue { at, ..value })
            }
            Word::Close => self.fail(at, "a value is missing before this bracket"),
            Word::Comma => self.fail(at, "a value is missing before this comma"),
            Word::Operator(operator) => {
                self.fail(at, format!("a value is missing before `{}`", operator.sign().trim()))
            }
            Word::End => self.fail(at, "the formula ends where a value is needed"),
        }
    }

    fn close(&mut self, opened: usize) -> Result<(), FormulaError> {
        let Token { at, word } = self.advance();
        match word {
            Word::Close => Ok(()),
            Word::End => self.fail(opened, "this bracket is not closed"),
            Word::Comma => self.fail(at, "a comma stands between the arguments of a function only"),
            _ => self.fail(at, "an operator or `)` is missing before this"),
        }
    }

    fn variable(&mut self, name: &str, at: usize) -> Result<Expr, FormulaError> {
        if let Some(info) = VARIABLES.iter().find(|info| info.name == name) {
            return Ok(Expr::Variable(info.variable));
        }
        if TRUE_RUN.contains(&name) {
            self.clairvoyant.get_or_insert(at);
            return Ok(Expr::Variable(Variable::Run));
        }
        let names = VARIABLES.iter().map(|info| info.name).chain(FUNCTIONS.iter().map(|info| info.name));
        let near = names
            .chain(["usage"])
            .map(|known| (strsim::damerau_levenshtein(name, known), known))
            .filter(|&(distance, known)| known.len() > 1 && distance <= 1 + known.len() / 3)
            .min_by_key(|&(distance, _)| distance);
        let hint = match near {
            Some((_, near)) => format!("did you mean `{near}`? A formula knows "),
            None => "a formula knows ".to_string(),
        };
        let all: Vec<&str> = VARIABLES.iter().map(|info| info.name).collect();
        let functions: Vec<&str> = FUNCTIONS.iter().map(|info| info.name).collect();
        let (all, functions) = (all.join(", "), functions.join(", "));
        self.fail(at, format!("`{name}` is unknown; {hint}{all} and usage(7d), and the functions {functions}"))
    }

    fn open(&mut self, name: &str, example: &str) -> Result<usize, FormulaError> {
        let Token { at, word } = self.advance();
        if word != Word::Open {
            return self.fail(at, format!("`{name}` is a function; write `{example}`"));
        }
        Ok(at)
    }

    fn usage(&mut self, at: usize) -> Result<ParsedValue, FormulaError> {
        let opened = self.open("usage", "usage(7d)")?;
        let value = self.expression(0)?;
        self.close(opened)?;
        match value.expr {
            Expr::Number(seconds) if (1.0..=1e9).contains(&seconds) => {
                Ok(ParsedValue { expr: Expr::Usage(seconds.round()), at, condition: false })
            }
            _ => self.fail(value.at, "usage takes a length of time above 0, such as `usage(7d)` or `usage(12h)`"),
        }
    }

    fn call(&mut self, function: Function, at: usize) -> Result<ParsedValue, FormulaError> {
        let name = function.name();
        let info = FUNCTIONS.iter().find(|info| info.function == function);
        let example = info.and_then(|info| info.meaning.split(':').next()).unwrap_or(name);
        let opened = self.open(name, example)?;
        let mut arguments = Vec::new();
        loop {
            let value = self.expression(0)?;
            let wants_condition = function == Function::If && arguments.is_empty();
            let value = if wants_condition { self.condition(value)? } else { self.number(value)? };
            arguments.push(value.expr);
            if self.peek().word != Word::Comma {
                break;
            }
            self.advance();
        }
        self.close(opened)?;
        let count = arguments.len();
        let fits = match function {
            Function::Min | Function::Max => count >= 2,
            Function::If => count == 3,
            _ => count == 1,
        };
        if !fits {
            return self.fail(at, format!("`{name}` does not take {count} arguments; write `{example}`"));
        }
        Ok(ParsedValue { expr: Expr::Call(function, arguments), at, condition: false })
    }
}
