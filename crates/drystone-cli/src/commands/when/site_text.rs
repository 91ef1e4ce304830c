//! A line for each job in the words of the site: for comments of jobs and login messages.

/// Names that may stand between braces.
pub(crate) const PLACEHOLDERS: [&str; 8] = ["job", "user", "procs", "early", "likely", "by90", "by95", "why"];

/// Reads a template.
///
/// # Errors
/// A name in braces that is none of [`PLACEHOLDERS`], in a sentence.
pub(crate) fn read_template(text: &str) -> Result<String, String> {
    let names = text.split('{').skip(1).map(|part| part.split('}').next().unwrap_or_default());
    for name in names {
        if !PLACEHOLDERS.contains(&name) {
            let placeholder_list = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
            return Err(format!("`{{{name}}}` is none of {placeholder_list}"));
        }
    }
    Ok(text.to_string())
}

/// The line of one job; `value` returns what stands for a name.
pub(super) fn fill_template(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut parts = template.split('{');
    let mut line = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        line += &value(name);
        line += rest;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_replaced() {
        let template = read_template("{job}: by {by90}, {by90} at most").expect("known names");
        let line = fill_template(&template, |name| name.to_uppercase());
        assert_eq!(line, "JOB: by BY90, BY90 at most");
        assert_eq!(fill_template("plain", |_| String::new()), "plain");
        let error = read_template("{job} {start}").expect_err("no such name");
        assert!(error.starts_with("`{start}` is none of {job}, {user}"), "{error}");
    }
}
