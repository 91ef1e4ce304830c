//! From words to a tree whose types are right.

use super::expr::{Expr, FUNCTIONS, Function, NOT_BINDING, Operator, SIGN_BINDING, VARIABLES, Variable};
use super::lex::{Token, Word, split_words};
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

pub(super) fn parse(text: &str) -> Result<Parsed, FormulaError> {
    let length = text.chars().count();
    if length > LONGEST {
        let problem = format!("the formula has {length} characters; at most {LONGEST} are read");
        return Err(FormulaError::new(text, LONGEST, problem));
    }
    let mut parser = Parser { text, tokens: split_words(text)?, at: 0, depth: 0, parts: 0, clairvoyant: None };
    let value = parser.parse_expression(0)?;
    let Token { at, word } = parser.peek_token().clone();
    match word {
        Word::End => {}
        Word::Close => return parser.fail_at(at, "this bracket closes none that was opened"),
        _ => return parser.fail_at(at, "an operator is missing before this, such as `*`"),
    }
    if value.condition {
        let problem = "an order needs a number, and this is a condition; write `if(condition,0,1)`";
        return parser.fail_at(value.at, problem);
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
    fn fail_at<T>(&self, at: usize, problem: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError::new(self.text, at, problem))
    }

    fn peek_token(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn advance_token(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Accounts for one more part.
    fn count_part(&mut self, at: usize) -> Result<(), FormulaError> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return self.fail_at(at, format!("the formula has more than {MOST_PARTS} parts"));
        }
        Ok(())
    }

    fn expect_number(&self, value: ParsedValue) -> Result<ParsedValue, FormulaError> {
        if value.condition {
            let problem = "a number is needed here, and this is a condition; write `if(condition,1,0)`";
            return self.fail_at(value.at, problem);
        }
        Ok(value)
    }

    fn expect_condition(&self, value: ParsedValue) -> Result<ParsedValue, FormulaError> {
        if !value.condition {
            let problem = "a condition is needed here, such as `w > 2h`, and this is a number";
            return self.fail_at(value.at, problem);
        }
        Ok(value)
    }

    fn peek_operator(&self) -> Option<Operator> {
        match &self.peek_token().word {
            Word::Operator(operator) => Some(*operator),
            Word::Name(name) if name == "and" => Some(Operator::And),
            Word::Name(name) if name == "or" => Some(Operator::Or),
            _ => None,
        }
    }

    /// Everything that binds at least so tightly.
    fn parse_expression(&mut self, least: u8) -> Result<ParsedValue, FormulaError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let at = self.peek_token().at;
            return self.fail_at(at, format!("the formula is nested more than {DEEPEST} deep"));
        }
        let mut left_value = self.parse_prefixed()?;
        while let Some(operator) = self.peek_operator().filter(|operator| operator.binding_strength() >= least) {
            let at = self.advance_token().at;
            self.count_part(at)?;
            // Powers are read from the right: 2^3^2 is 2^9.
            let tighter =
                if operator == Operator::Power { operator.binding_strength() } else { operator.binding_strength() + 1 };
            let right = self.parse_expression(tighter)?;
            left_value = self.combine_binary(operator, at, left_value, right)?;
        }
        self.depth -= 1;
        Ok(left_value)
    }

    fn combine_binary(
        &self,
        operator: Operator,
        at: usize,
        left: ParsedValue,
        right: ParsedValue,
    ) -> Result<ParsedValue, FormulaError> {
        let condition = operator.makes_condition();
        let (left, right) = if operator.joins_conditions() {
            (self.expect_condition(left)?, self.expect_condition(right)?)
        } else if condition && left.condition {
            return self.fail_at(at, "comparisons cannot be chained; write `a < b and b < c`");
        } else {
            (self.expect_number(left)?, self.expect_number(right)?)
        };
        Ok(ParsedValue { at: left.at, condition, expr: Expr::from_binary(operator, left.expr, right.expr) })
    }

    /// A sign or `not` and what it belongs to, or a value alone.
    fn parse_prefixed(&mut self) -> Result<ParsedValue, FormulaError> {
        let at = self.peek_token().at;
        match &self.peek_token().word {
            Word::Operator(Operator::Subtract) => {
                self.advance_token();
                self.count_part(at)?;
                let value = self.parse_expression(SIGN_BINDING)?;
                let value = self.expect_number(value)?;
                let expr = match value.expr {
                    Expr::Number(number) => Expr::Number(-number),
                    other => Expr::Minus(Box::new(other)),
                };
                Ok(ParsedValue { expr, at, condition: false })
            }
            Word::Operator(Operator::Add) => {
                self.advance_token();
                let value = self.parse_expression(SIGN_BINDING)?;
                self.expect_number(value)
            }
            Word::Name(name) if name == "not" => {
                self.advance_token();
                self.count_part(at)?;
                let value = self.parse_expression(NOT_BINDING)?;
                let value = self.expect_condition(value)?;
                Ok(ParsedValue { expr: Expr::Not(Box::new(value.expr)), at, condition: true })
            }
            _ => self.parse_primary(),
        }
    }

    fn parse_primary(&mut self) -> Result<ParsedValue, FormulaError> {
        let Token { at, word } = self.advance_token();
        self.count_part(at)?;
        let plain = |expr| Ok(ParsedValue { expr, at, condition: false });
        match word {
            Word::Number(number) => plain(Expr::Number(number)),
            Word::Name(name) if name == "usage" => self.parse_usage(at),
            Word::Name(name) => match FUNCTIONS.iter().find(|info| info.name == name) {
                Some(info) => self.parse_call(info.function, at),
                None => self.resolve_variable(&name, at).and_then(plain),
            },
            Word::Open => {
                let value = self.parse_expression(0)?;
                self.expect_close(at)?;
                Ok(ParsedValue { at, ..value })
            }
            Word::Close => self.fail_at(at, "a value is missing before this bracket"),
            Word::Comma => self.fail_at(at, "a value is missing before this comma"),
            Word::Operator(operator) => {
                self.fail_at(at, format!("a value is missing before `{}`", operator.sign().trim()))
            }
            Word::End => self.fail_at(at, "the formula ends where a value is needed"),
        }
    }

    fn expect_close(&mut self, bracket: usize) -> Result<(), FormulaError> {
        let Token { at, word } = self.advance_token();
        match word {
            Word::Close => Ok(()),
            Word::End => self.fail_at(bracket, "this bracket is not closed"),
            Word::Comma => self.fail_at(at, "a comma stands between the arguments of a function only"),
            _ => self.fail_at(at, "an operator or `)` is missing before this"),
        }
    }

    fn resolve_variable(&mut self, name: &str, at: usize) -> Result<Expr, FormulaError> {
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
            .map(|known_name| (strsim::damerau_levenshtein(name, known_name), known_name))
            .filter(|&(distance, known_name)| known_name.len() > 1 && distance <= 1 + known_name.len() / 3)
            .min_by_key(|&(distance, _)| distance);
        let hint = match near {
            Some((_, near)) => format!("did you mean `{near}`? A formula knows "),
            None => "a formula knows ".to_string(),
        };
        let variable_names: Vec<&str> = VARIABLES.iter().map(|info| info.name).collect();
        let functions: Vec<&str> = FUNCTIONS.iter().map(|info| info.name).collect();
        let (variable_list, functions) = (variable_names.join(", "), functions.join(", "));
        self.fail_at(
            at,
            format!("`{name}` is unknown; {hint}{variable_list} and usage(7d), and the functions {functions}"),
        )
    }

    fn expect_open(&mut self, name: &str, example: &str) -> Result<usize, FormulaError> {
        let Token { at, word } = self.advance_token();
        if word != Word::Open {
            return self.fail_at(at, format!("`{name}` is a function; write `{example}`"));
        }
        Ok(at)
    }

    fn parse_usage(&mut self, at: usize) -> Result<ParsedValue, FormulaError> {
        let open_position = self.expect_open("usage", "usage(7d)")?;
        let value = self.parse_expression(0)?;
        self.expect_close(open_position)?;
        match value.expr {
            Expr::Number(seconds) if (1.0..=1e9).contains(&seconds) => {
                Ok(ParsedValue { expr: Expr::Usage(seconds.round()), at, condition: false })
            }
            _ => self.fail_at(value.at, "usage takes a length of time above 0, such as `usage(7d)` or `usage(12h)`"),
        }
    }

    fn parse_call(&mut self, function: Function, at: usize) -> Result<ParsedValue, FormulaError> {
        let name = function.name();
        let info = FUNCTIONS.iter().find(|info| info.function == function);
        let example = info.and_then(|info| info.meaning.split(':').next()).unwrap_or(name);
        let open_position = self.expect_open(name, example)?;
        let mut arguments = Vec::new();
        loop {
            let value = self.parse_expression(0)?;
            let wants_condition = function == Function::If && arguments.is_empty();
            let value = if wants_condition { self.expect_condition(value)? } else { self.expect_number(value)? };
            arguments.push(value.expr);
            if self.peek_token().word != Word::Comma {
                break;
            }
            self.advance_token();
        }
        self.expect_close(open_position)?;
        let count = arguments.len();
        let fits = match function {
            Function::Min | Function::Max => count >= 2,
            Function::If => count == 3,
            _ => count == 1,
        };
        if !fits {
            return self.fail_at(at, format!("`{name}` does not take {count} arguments; write `{example}`"));
        }
        Ok(ParsedValue { expr: Expr::Call(function, arguments), at, condition: false })
    }
}
