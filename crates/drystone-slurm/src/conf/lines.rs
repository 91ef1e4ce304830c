//! Physical lines to logical ones: comments, continuations, includes.

use super::error::{ConfError, ConfPlace};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A logical line with its place.
#[derive(Clone, Debug)]
pub(crate) struct ConfLine {
    pub(crate) place: ConfPlace,
    pub(crate) text: String,
}

/// Files included by files included … : more than that is a mistake.
const DEEPEST: usize = 16;

/// Reads a file with all it includes, in order.
pub(crate) fn read_lines(path: &Path) -> Result<Vec<ConfLine>, ConfError> {
    let mut reader = ConfReader { dir: path.parent().unwrap_or(Path::new("")).to_path_buf(), ..ConfReader::default() };
    reader.read_file(path, None)?;
    Ok(reader.lines)
}

/// The lines of a text. A relative include is looked up in the folder of `name`.
pub(crate) fn parse(text: &str, name: &Path) -> Result<Vec<ConfLine>, ConfError> {
    let mut reader = ConfReader { dir: name.parent().unwrap_or(Path::new("")).to_path_buf(), ..ConfReader::default() };
    reader.open.push(name.to_path_buf());
    reader.read_text(text, name)?;
    Ok(reader.lines)
}

#[derive(Default)]
struct ConfReader {
    /// Folder in which relative includes are looked up: that of the first file.
    dir: PathBuf,
    /// Files being read, outermost first.
    open: Vec<PathBuf>,
    /// For `%c` in the names of included files.
    cluster: String,
    lines: Vec<ConfLine>,
}

impl ConfReader {
    fn read_file(&mut self, path: &Path, from: Option<&ConfPlace>) -> Result<(), ConfError> {
        if let Some(place) = from {
            let cycle = self.open.iter().any(|open| open == path);
            if cycle || self.open.len() >= DEEPEST {
                return Err(ConfError::at_line(place, format!("{} includes itself", path.display())));
            }
        }
        let bytes = fs::read(path).map_err(|source| ConfError::Unreadable {
            file: path.to_path_buf(),
            from: from.cloned(),
            source,
        })?;
        // Comments are written in any encoding; names and numbers are ASCII.
        let text = String::from_utf8_lossy(&bytes);
        self.open.push(path.to_path_buf());
        self.read_text(&text, path)?;
        self.open.pop();
        Ok(())
    }

    fn read_text(&mut self, text: &str, name: &Path) -> Result<(), ConfError> {
        let file: Arc<Path> = Arc::from(name);
        let mut physical = text.lines().zip(1..).peekable();
        while let Some((first, number)) = physical.next() {
            let mut whole = String::new();
            let mut part = without_comment(first);
            while let Some(start) = strip_continuation(part) {
                whole.push_str(start);
                match physical.next() {
                    Some((next, _)) => part = without_comment(next),
                    None => {
                        part = "";
                        break;
                    }
                }
            }
            whole.push_str(part);
            let whole = unescape_text(whole.trim());
            if !whole.is_empty() {
                self.take_line(ConfLine { place: ConfPlace { file: file.clone(), line: number }, text: whole })?;
            }
        }
        Ok(())
    }

    fn take_line(&mut self, line: ConfLine) -> Result<(), ConfError> {
        if let Some(name) = included_file(&line.text) {
            if name.is_empty() {
                return Err(ConfError::at_line(&line.place, "Include without a file name; expected `Include FILE`"));
            }
            let name = self.replace_modifiers(name, &line.place)?;
            return self.read_file(&self.find_included(&name), Some(&line.place));
        }
        if let Some((key, value)) = line.text.split_once('=')
            && key.trim().eq_ignore_ascii_case("ClusterName")
        {
            self.cluster = value.split_whitespace().next().unwrap_or("").trim_matches('"').to_ascii_lowercase();
        }
        self.lines.push(line);
        Ok(())
    }

    /// Returns the path of an included file: where the line says or, if that is not here, the file
    /// of its name beside the first one. A configuration that was copied from a cluster reads so.
    fn find_included(&self, name: &str) -> PathBuf {
        let path = self.dir.join(name);
        match path.file_name().map(|name| self.dir.join(name)) {
            Some(beside) if !path.exists() && beside.is_file() => beside,
            _ => path,
        }
    }

    /// `%c` is the name of the cluster.
    fn replace_modifiers(&self, name: &str, place: &ConfPlace) -> Result<String, ConfError> {
        if name.contains("%c") && self.cluster.is_empty() {
            return Err(ConfError::at_line(place, "`%c` in an Include needs a ClusterName before it"));
        }
        Ok(name.replace("%c", &self.cluster))
    }
}

/// The line without what follows a `#` that is not escaped.
fn without_comment(line: &str) -> &str {
    let bytes = line.as_bytes();
    let mut is_escaped = false;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'#' if !is_escaped => return &line[..at],
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    line
}

/// The line without the backslash at its end, if it goes on in the next one.
fn strip_continuation(line: &str) -> Option<&str> {
    let line = line.trim_end();
    let backslashes = line.bytes().rev().take_while(|&b| b == b'\\').count();
    (backslashes % 2 == 1).then(|| &line[..line.len() - 1])
}

fn unescape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

/// The file name of an `Include` line.
fn included_file(text: &str) -> Option<&str> {
    let (word, rest) = text.split_at_checked("include".len())?;
    let separate = rest.is_empty() || rest.starts_with([' ', '\t']);
    (word.eq_ignore_ascii_case("include") && separate).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(u32, String)> {
        let lines = parse(text, Path::new("slurm.conf")).expect("plain lines");
        lines.into_iter().map(|l| (l.place.line, l.text)).collect()
    }

    #[test]
    fn a_line_that_ends_in_a_backslash_goes_on() {
        let text = "A=1,\\\n2\n# B=3 \\\nC=4 # \\\nD=5\\";
        assert_eq!(texts(text), [(1, "A=1,2".into()), (4, "C=4".into()), (5, "D=5".into())]);
    }

    #[test]
    fn an_escaped_hash_is_no_comment() {
        assert_eq!(texts("A=x\\#y#z\n"), [(1, "A=x#y".into())]);
    }

    #[test]
    fn include_is_a_word_of_its_own() {
        assert_eq!(included_file("INCLUDE  a.conf"), Some("a.conf"));
        assert_eq!(included_file("IncludeMe=1"), None);
        assert_eq!(included_file("inc"), None);
    }
}
