//! The small grammar in which policies are named: `easy`, `easy(backfill=sjf)`, `easy@tsafrir2007(predict=recent(2))`.
//!
//! ```text
//! call  = name [ "@" variant ] [ "(" [ arg { "," arg } ] ")" ]
//! arg   = [ key "=" ] value          value = text with balanced parentheses, no comma outside them
//! name  = letters, digits, "+", "-", "_", "."
//! ```

use std::fmt;

/// A name with arguments, as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Call {
    /// What is called.
    pub name: String,
    /// Behind `@`.
    pub variant: Option<String>,
    /// In the order written: key, if any, and value.
    pub args: Vec<(Option<String>, String)>,
}

/// A text that does not follow the grammar, or says something impossible.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("policy `{text}`: {problem}")]
pub struct SpecError {
    /// The text.
    pub text: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

pub(crate) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '.')
}

impl Call {
    /// Reads a call.
    ///
    /// # Errors
    /// A text that does not follow the grammar; the message says where.
    pub fn parse(text: &str) -> Result<Call, SpecError> {
        let fail = |problem: String| SpecError { text: text.to_string(), problem };
        let trimmed = text.trim();
        let (head, args) = match trimmed.find('(') {
            None => (trimmed, None),
            Some(open) => {
                let inner = trimmed[open + 1..].strip_suffix(')').ok_or_else(|| {
                    fail(
                        "the parenthesis is not closed, or something follows it; write e.g. `easy(backfill=sjf)`"
                            .into(),
                    )
                })?;
                (trimmed[..open].trim_end(), Some(inner))
            }
        };
        let (name, variant) = match head.split_once('@') {
            Some((name, variant)) => (name.trim(), Some(variant.trim())),
            None => (head, None),
        };
        for part in [Some(name), variant].into_iter().flatten() {
            if part.is_empty() {
                return Err(fail("a name is missing".into()));
            }
            if let Some(bad) = part.chars().find(|&c| !is_name(c)) {
                return Err(fail(format!("`{}` may not stand in a name", bad.escape_default())));
            }
        }
        let mut call =
            Call { name: name.to_ascii_lowercase(), variant: variant.map(str::to_ascii_lowercase), args: Vec::new() };
        for arg in split_args(args.unwrap_or("")).map_err(fail)? {
            let (key, value) = match top_level_equals(arg) {
                Some(at) => (Some(arg[..at].trim().to_ascii_lowercase()), arg[at + 1..].trim()),
                None => (None, arg),
            };
            if value.is_empty() || key.as_deref() == Some("") {
                return Err(fail("an argument is empty; write `key=value`".into()));
            }
            if let Some(key) = &key
                && call.args.iter().any(|(other, _)| other.as_ref() == Some(key))
            {
                return Err(fail(format!("`{key}` is given twice")));
            }
            call.args.push((key, value.to_string()));
        }
        Ok(call)
    }
}

/// Splits at commas outside parentheses.
fn split_args(text: &str) -> Result<Vec<&str>, String> {
    let mut args = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1).ok_or("there is a `)` too many")?;
            }
            ',' if depth == 0 => {
                args.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("there is a `(` too many".into());
    }
    let last = text[from..].trim();
    if !last.is_empty() || !args.is_empty() {
        args.push(last);
    }
    Ok(args)
}

fn top_level_equals(arg: &str) -> Option<usize> {
    let open = arg.find('(').unwrap_or(arg.len());
    arg[..open].find('=')
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(variant) = &self.variant {
            write!(f, "@{variant}")?;
        }
        for (i, (key, value)) in self.args.iter().enumerate() {
            f.write_str(if i == 0 { "(" } else { "," })?;
            if let Some(key) = key {
                write!(f, "{key}=")?;
            }
            f.write_str(value)?;
        }
        if self.args.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// The nearest of `names` to a mistyped one, if any is near.
#[must_use]
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|n| (strsim::damerau_levenshtein(name, n), n))
        .filter(|&(distance, n)| distance <= 1 + n.len() / 3)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, n)| n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_people_write() {
        let c = Call::parse(" EASY++@Tsafrir2007 ( predict = recent(2, full=yes) , sjf ) ").expect("valid");
        assert_eq!(c.name, "easy++");
        assert_eq!(c.variant.as_deref(), Some("tsafrir2007"));
        assert_eq!(c.args, [(Some("predict".into()), "recent(2, full=yes)".into()), (None, "sjf".into())]);
        assert_eq!(Call::parse("easy()").expect("valid").to_string(), "easy");
    }

    #[test]
    fn refuses_what_is_no_call() {
        for (text, part) in [
            ("", "name is missing"),
            ("easy@", "name is missing"),
            ("easy(", "not closed"),
            ("easy(a=1))", "too many"),
            ("easy((a=1)", "too many"),
            ("easy(a=)", "empty"),
            ("easy(a,,b)", "empty"),
            ("ea sy", "may not stand"),
            ("easy(a)b", "follows"),
            ("recent(2,window=all,Window=immediate)", "`window` is given twice"),
        ] {
            let error = Call::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_what_it_read(text in "\\PC{0,40}|[a-z(),=@ ]{0,20}") {
            if let Ok(call) = Call::parse(&text) {
                prop_assert_eq!(Call::parse(&call.to_string()), Ok(call));
            }
        }
    }
}
