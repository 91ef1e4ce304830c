//! Formulas of performance models: arithmetic on numbers and names.

use std::collections::BTreeMap;

/// Values of the names in formulas.
pub(super) type Names = BTreeMap<String, f64>;

/// Greatest depth of nested expressions.
const DEEPEST: usize = 64;

/// Works a formula out: `+ - * / % ^`, parentheses, and the functions below.
pub(super) fn evaluate_formula(text: &str, names: &Names) -> Result<f64, String> {
    let mut reader = FormulaReader { text: text.as_bytes(), at: 0, names, depth: 0 };
    let value = reader.sum();
    let rest = reader.peek_sign();
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
    fn peek_sign(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take_sign(&mut self, sign: u8) -> bool {
        let is_next = self.peek_sign() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.read_product()?;
        loop {
            if self.take_sign(b'+') {
                value += self.read_product()?;
            } else if self.take_sign(b'-') {
                value -= self.read_product()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn read_product(&mut self) -> Result<f64, String> {
        let mut value = self.read_signed()?;
        loop {
            if self.take_sign(b'*') {
                value *= self.read_signed()?;
            } else if self.take_sign(b'/') {
                value /= self.read_signed()?;
            } else if self.take_sign(b'%') {
                value %= self.read_signed()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn read_signed(&mut self) -> Result<f64, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("it is more than {DEEPEST} deep"));
        }
        let value = if self.take_sign(b'-') {
            -self.read_signed()?
        } else if self.take_sign(b'+') {
            self.read_signed()?
        } else {
            let base = self.read_operand()?;
            if self.take_sign(b'^') { base.powf(self.read_signed()?) } else { base }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn read_operand(&mut self) -> Result<f64, String> {
        match self.peek_sign() {
            Some(b'(') => {
                self.at += 1;
                let value = self.sum()?;
                if self.take_sign(b')') { Ok(value) } else { Err("a parenthesis is not closed".into()) }
            }
            Some(first) if first.is_ascii_digit() || first == b'.' => self.read_number(),
            Some(first) if first.is_ascii_alphabetic() || first == b'_' => self.read_name(),
            Some(other) => Err(format!("`{}` stands where a number or a name is expected", char::from(other))),
            None => Err("it ends where a number or a name is expected".into()),
        }
    }

    fn read_number(&mut self) -> Result<f64, String> {
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

    fn read_name(&mut self) -> Result<f64, String> {
        let begin = self.at;
        while self.text.get(self.at).is_some_and(|sign| sign.is_ascii_alphanumeric() || *sign == b'_') {
            self.at += 1;
        }
        let name = String::from_utf8_lossy(&self.text[begin..self.at]).into_owned();
        if !self.take_sign(b'(') {
            let list = || self.names.keys().cloned().collect::<Vec<_>>().join(", ");
            return self.names.get(&name).copied().ok_or_else(|| format!("`{name}` is unknown; known are {}", list()));
        }
        let mut values = vec![self.sum()?];
        while self.take_sign(b',') {
            values.push(self.sum()?);
        }
        if !self.take_sign(b')') {
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
