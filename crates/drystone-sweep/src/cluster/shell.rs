//! Words in shell scripts.

pub(super) fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A word in which the shell replaces variables, and does nothing else.
pub(super) fn with_variables(word: &str) -> String {
    let mut text = "\"".to_string();
    let mut rest = word.chars().peekable();
    while let Some(c) = rest.next() {
        // `$(…)` would run a command.
        if matches!(c, '"' | '`' | '\\') || (c == '$' && rest.peek() == Some(&'(')) {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn read(word: &str) -> String {
        let script = format!("printf %s {word}");
        let output = Command::new("sh").args(["-c", &script]).env("DIR", "/a b").output().expect("a shell");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    #[test]
    fn the_shell_reads_what_was_meant() {
        for word in ["plain", "a b", "it's", "$DIR", "a\"b\\", "", "--x=1,2", "$(echo no)", "`echo no`", "*"] {
            assert_eq!(read(&quote_word(word)), word);
        }
        assert_eq!(read(&with_variables("$DIR/x y")), "/a b/x y");
        for word in ["$(echo no)", "`echo no`", "a\"b\\c", "*"] {
            assert_eq!(read(&with_variables(word)), word);
        }
    }
}
