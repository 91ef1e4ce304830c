//! Formulas of performance models: arithmetic on numbers and names.

use std::collections::BTreeMap;

/// Values of the names in formulas.
pub(super) type Names = BTreeMap<String, f64>;

/// Greatest depth of nested expressions.
const DEEPEST: usize = 64;

/// Works a formula out: `+ - * / % ^`, parentheses, and the functions below.
pub(super) fn evaluate(text: &str, names: &Names) -> Result<f64, String> {
    let mut reader = FormulaReader { text: text.as_bytes(), at: 0, names, depth: 0 };
    let value = reader.sum();
    let rest = reader.peek();
    match value {
        Ok(value) if rest.is_none() && value.is_finite() => Ok(value),
        Ok(value) if rest.is_none() => Err(format!("the formula `{text}` comes to {value}")),
        Ok(_) => Err(format!("the formula `{text}` is not understood from column {} on", reader.at + 1)),
        Err(problem) => Err(format!("the formula `{text}`: {problem}")),
    }
}

struct FormulaReader<'a> {
    text: &'a [u8],
    at: usize,
    names: &'a Names,
    depth: usize,
}

impl FormulaReader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, sign: u8) -> bool {
        let is_next = self.peek() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        loop {
            if self.takes(b'+') {
                value += self.product()?;
            } else if self.takes(b'-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.signed()?;
        loop {
            if self.takes(b'*') {
                value *= self.signed()?;
            } else if self.takes(b'/') {
                value /= self.signed()?;
            } else if self.takes(b'%') {
                value %= self.signed()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn signed(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("it is more than {DEEPEST} deep"));
        }
        let value = if self.takes(b'-') {
            -self.signed()?
        } else if self.takes(b'+') {
            self.signed()?
        } else {
            let base = self.operand()?;
            if self.takes(b'^') { base.powf(self.signed()?) } else { base }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn operand(&mut self) -> Result<f64, String> {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let value = self.sum()?;
                if self.takes(b')') { Ok(value) } else { Err("a parenthesis is not closed".into()) }
            }
            Some(first) if first.is_ascii_digit() || first == b'.' => self.number(),
            Some(first) if first.is_ascii_alphabetic() || first == b'_' => self.name(),
            Some(other) => Err(format!("`{}` stands where a number or a name is expected", char::from(other))),
            None => Err("it ends where a number or a name is expected".into()),
        }
    }

    fn number(&mut self) -> Result<f64, String> {
        let begin = self.at;
        while let Some(&sign) = self.text.get(self.at) {
            let after_power = self.at > begin && matches!(self.text[self.at - 1], b'e' | b'E');
            let is_part = sign.is_ascii_digit()
                || matches!(sign, b'.' | b'e' | b'E')
                || after_power && matches!(sign, b'+' | b'-');
            if !is_part {
                break;
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.text[begin..self.at]);
        text.parse().map_err(|_| format!("`{text}` is no number"))
    }

    fn name(&mut self) -> Result<f64, String> {
        let begin = self.at;
        while self.text.get(self.at).is_some_and(|sign| sign.is_ascii_alphanumeric() || *sign == b'_') {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[begin..self.at]).into_owned();
        if !self.takes(b'(') {
            let list = || self.names.keys().cloned().collect::<Vec<_>>().join(", ");
            return self.names.get(&name).copied().ok_or_else(|| format!("`{name}` is unknown; known are {}", list()));
        }
        let mut values = vec![self.sum()?];
        while self.takes(b',') {
            values.push(self.sum()?);
        }
        if !self.takes(b')') {
            return Err("a parenthesis is not closed".into());
        }
        match (name.as_str(), &values[..]) {
            ("sqrt", [x]) => Ok(x.sqrt()),
            ("log", [x]) => Ok(x.ln()),
            ("log2", [x]) => Ok(x.log2()),
            ("log10", [x]) => Ok(x.log10()),
            ("exp", [x]) => Ok(x.exp()),
            ("abs", [x]) => Ok(x.abs()),
            ("ceil", [x]) => Ok(x.ceil()),
            ("floor", [x]) => Ok(x.floor()),
            ("round", [x]) => Ok(x.round()),
            ("pow", [x, y]) => Ok(x.powf(*y)),
            ("min", _) => Ok(values.iter().copied().fold(f64::INFINITY, f64::min)),
            ("max", _) => Ok(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            _ => Err(format!(
                "there is no function `{name}` of {} values; expected abs, ceil, exp, floor, log, log2, log10, max, min, pow, \
                 round or sqrt",
                values.len()
            )),
        }
    }
}
