//! The small grammar in which policies are named: `easy`, `easy(backfill=sjf)`,
//! `easy@tsafrir2007(predict=recent(2))`.
//!
//! ```text
//! call  = name ":" value | name [ "@" variant ] [ "(" [ arg { "," arg } ] ")" ]
//! arg   = [ key "=" ] value          value = text with balanced parentheses, no comma outside them;
//!                                    or any text in double quotes
//! name  = letters, digits, "+", "-", "_", "."
//! ```

use super::FormulaError;
use std::borrow::Cow;
use std::fmt;

/// A name with arguments, as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NamedCall {
    /// Name of the call.
    pub name: String,
    /// Behind `@`.
    pub variant: Option<String>,
    /// In the order written: key, if any, and value.
    pub args: Vec<(Option<String>, String)>,
}

/// A text that does not follow the grammar, or says something impossible.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("policy `{}`: {problem}", shorten_text(.text))]
pub struct SpecError {
    /// The text.
    pub text: String,
    /// Description of the mistake and its correction.
    pub problem: String,
}

impl SpecError {
    /// The name that was perhaps meant, where one is near.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        let (_, after) = self.problem.split_once("Did you mean `")?;
        after.split_once('`').map(|(name, _)| name)
    }

    /// The character of the text, from 0, that the problem is about, where it is about one place.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        // Formulas, and brackets without the other one, are pointed at in a line of their own.
        if let Some(pointer) = self.problem.lines().find(|line| line.trim() == "^") {
            let text_line =
                self.problem.lines().zip(self.problem.lines().skip(1)).find(|(_, below)| *below == pointer)?.0;
            let column = pointer.trim_end().chars().count() - 1;
            let indent = text_line.chars().take_while(|c| c.is_whitespace()).count();
            // What is too long to be shown whole is not found.
            let part = self.text.find(text_line.trim())?;
            return Some(self.text[..part].chars().count() + column.saturating_sub(indent));
        }
        // Else the first word that the problem quotes and that stands in the text.
        let quotations = self.problem.split('`').skip(1).step_by(2);
        let at = quotations.filter(|word| !word.is_empty()).find_map(|word| self.text.find(word))?;
        Some(self.text[..at].chars().count())
    }
}

/// A text that fits a line or two.
fn shorten_text(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(LONGEST_SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Characters of a policy's text that an error shows.
const LONGEST_SHOWN: usize = 200;

pub(crate) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_' | '.')
}

impl NamedCall {
    /// Reads a call.
    ///
    /// # Errors
    /// A text that does not follow the grammar; the message says where.
    pub fn parse(text: &str) -> Result<NamedCall, SpecError> {
        let fail = |problem: String| SpecError { text: text.to_string(), problem };
        let spec_text = text.trim();
        if let Some((name, value)) = split_shorthand(spec_text) {
            return Ok(NamedCall {
                name: name.to_ascii_lowercase(),
                variant: None,
                args: vec![(None, value.to_string())],
            });
        }
        let (head, args) = match spec_text.find('(') {
            None => (spec_text, None),
            Some(open) => {
                let inner = spec_text[open + 1..].strip_suffix(')').ok_or_else(|| {
                    fail(
                        "the parenthesis is not closed, or something follows it; write e.g. `easy(backfill=sjf)`"
                            .into(),
                    )
                })?;
                (spec_text[..open].trim_end(), Some(inner))
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
                let several = if bad == ',' { "; several are given one by one" } else { "" };
                return Err(fail(format!("`{}` may not stand in a name{several}", bad.escape_default())));
            }
        }
        let mut call = NamedCall {
            name: name.to_ascii_lowercase(),
            variant: variant.map(str::to_ascii_lowercase),
            args: Vec::new(),
        };
        let unpaired_error = |bracket: Unpaired| {
            let inner = spec_text.find('(').map_or(0, |open| spec_text[..=open].chars().count());
            fail(FormulaError::new(spec_text, inner + bracket.at, bracket.problem).to_string())
        };
        for arg in split_args(args.unwrap_or("")).map_err(unpaired_error)? {
            let (key, value) = match top_level_equals(arg) {
                Some(at) => (Some(arg[..at].trim().to_ascii_lowercase()), arg[at + 1..].trim()),
                None => (None, arg),
            };
            if value.is_empty() || key.as_deref() == Some("") {
                return Err(fail("an argument is empty; write `key=value`".into()));
            }
            if let Some(key) = &key
                && call.args.iter().any(|(arg_key, _)| arg_key.as_ref() == Some(key))
            {
                return Err(fail(format!("`{key}` is given twice")));
            }
            call.args.push((key, strip_quotes(value).to_string()));
        }
        Ok(call)
    }
}

/// `name:value`, which is short for `name(value)`: a value such as the path of a file needs no
/// parentheses then.
fn split_shorthand(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let plain = !value.is_empty() && !value.contains(['(', ')', ',', '=', '"']);
    (plain && !name.is_empty() && name.chars().all(is_name)).then_some((name, value))
}

/// A value without the quotes around it, unless without them it would be read as another: a formula
/// with a bracket too many keeps them, so that its own error is reported.
fn strip_quotes(value: &str) -> &str {
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).map(str::trim);
    // Quotes within belong to the value: without the outer ones it would be another.
    let plain = |inner: &&str| !inner.contains('"') && split_args(inner).is_ok_and(|parts| parts.len() == 1);
    inner.filter(plain).unwrap_or(value)
}

/// A bracket or a quote without the other one.
struct Unpaired {
    /// Position of the character.
    at: usize,
    problem: &'static str,
}

/// Splits at commas outside parentheses and quotes.
fn split_args(text: &str) -> Result<Vec<&str>, Unpaired> {
    let mut args = Vec::new();
    let (mut open, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, (byte, c)) in text.char_indices().enumerate() {
        match c {
            '"' => quote = if quote.is_some() { None } else { Some(at) },
            _ if quote.is_some() => {}
            '(' => open.push(at),
            ')' => {
                open.pop().ok_or(Unpaired { at, problem: "there is a `)` too many" })?;
            }
            ',' if open.is_empty() => {
                args.push(text[from..byte].trim());
                from = byte + 1;
            }
            _ => {}
        }
    }
    if let Some(at) = quote {
        return Err(Unpaired { at, problem: "a quote is not closed" });
    }
    if let Some(&at) = open.last() {
        return Err(Unpaired { at, problem: "there is a `(` too many" });
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

impl fmt::Display for NamedCall {
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
///
/// ```
/// use drystone_core::text::find_nearest;
///
/// assert_eq!(find_nearest("avgx", ["avgX", "maxW"]), Some("avgX"));
/// assert_eq!(find_nearest("queue", ["avgX", "maxW"]), None);
/// ```
#[must_use]
pub fn find_nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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
        let c = NamedCall::parse(" EASY++@Tsafrir2007 ( predict = recent(2, full=yes) , sjf ) ").expect("valid");
        assert_eq!(c.name, "easy++");
        assert_eq!(c.variant.as_deref(), Some("tsafrir2007"));
        assert_eq!(c.args, [(Some("predict".into()), "recent(2, full=yes)".into()), (None, "sjf".into())]);
        assert_eq!(NamedCall::parse("easy()").expect("valid").to_string(), "easy");
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
            let error = NamedCall::parse(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn quotes_within_a_value_stay() {
        for (text, value) in [
            ("a(b=\"c, d\")", "\"c, d\""),
            ("a(b=\"c\")", "c"),
            ("a(b=\"\"c\"\")", "\"\"c\"\""),
            ("a(b=\"c\"+\"d\")", "\"c\"+\"d\""),
        ] {
            let call = NamedCall::parse(text).expect(text);
            assert_eq!(call.args, [(Some("b".into()), value.to_string())], "{text}");
            assert_eq!(NamedCall::parse(&call.to_string()), Ok(call), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_prints_what_it_read(text in "\\PC{0,40}|[a-z(),=@ ]{0,20}|[ab(\",= ]{0,12}|a\\([b=,\" ]{0,12}\\)") {
            if let Ok(call) = NamedCall::parse(&text) {
                prop_assert_eq!(NamedCall::parse(&call.to_string()), Ok(call));
            }
        }
    }
}
