//! Comments and strings of Rust source, without a parser.

/// Part of a source file that people read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Line of its first character, from 1.
    pub line: usize,
    pub kind: Kind,
    /// Text without marker and quotes.
    pub text: String,
}

/// Kind of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A line of `///` or `//!`.
    Doc,
    /// A line of `//`, alone or behind code.
    Comment,
    /// A string literal.
    Text,
}

/// Returns comments and strings in their order.
pub(crate) fn pieces(source: &str) -> Vec<Piece> {
    let chars: Vec<char> = source.chars().collect();
    let mut out = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < chars.len() {
        let rest = &chars[at..];
        let (length, piece) = match rest {
            ['/', '/', ..] => comment(rest),
            ['"', ..] => quoted(rest, 1, 0),
            ['r', '#' | '"', ..] if !follows_name(&chars, at) => raw(rest),
            ['\'', '\\', ..] => (1 + escaped_char(&rest[1..]), None),
            ['\'', _, '\'', ..] => (3, None),
            _ => (1, None),
        };
        if let Some((kind, text)) = piece {
            out.push(Piece { line, kind, text });
        }
        line += rest[..length].iter().filter(|c| **c == '\n').count();
        at += length;
    }
    out
}

type Token = (usize, Option<(Kind, String)>);

fn follows_name(chars: &[char], at: usize) -> bool {
    at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_')
}

fn comment(rest: &[char]) -> Token {
    let end = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
    let doc = matches!(rest, ['/', '/', '!', ..] | ['/', '/', '/', ..]) && rest.get(3) != Some(&'/');
    let marker = if doc { 3 } else { 2 };
    let text: String = rest[marker..end].iter().collect();
    let text = text.strip_prefix(' ').unwrap_or(&text).to_owned();
    (end, Some((if doc { Kind::Doc } else { Kind::Comment }, text)))
}

/// Reads a string up to a quote and `hashes` signs; escapes count only in plain strings.
fn quoted(rest: &[char], from: usize, hashes: usize) -> Token {
    let raw = from > 1;
    let mut text = String::new();
    let mut at = from;
    while at < rest.len() {
        match rest[at] {
            '\\' if !raw => {
                // A line that goes on: its blanks are no part of the text.
                if rest.get(at + 1) == Some(&'\n') {
                    at += 2;
                    while rest.get(at).is_some_and(|c| c.is_whitespace()) {
                        at += 1;
                    }
                    continue;
                }
                text.push(if rest.get(at + 1) == Some(&'n') { '\n' } else { ' ' });
                at += 2;
            }
            '"' if rest[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes => {
                return (at + 1 + hashes, Some((Kind::Text, text)));
            }
            c => {
                text.push(c);
                at += 1;
            }
        }
    }
    (rest.len(), None)
}

fn raw(rest: &[char]) -> Token {
    let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
    if rest.get(1 + hashes) == Some(&'"') { quoted(rest, 2 + hashes, hashes) } else { (1, None) }
}

fn escaped_char(rest: &[char]) -> usize {
    rest.iter().skip(2).position(|c| *c == '\'').map_or(rest.len(), |end| end + 3)
}

#[test]
fn comments_and_strings_are_separated() {
    let source =
        "//! a\nfn b() { c('\"', '\\'', \"d // \\\n    e\"); } // f\nlet g = r#\"h \"i\" j\"#; let k: &'a str;\n";
    let result: Vec<(usize, Kind, String)> = pieces(source).into_iter().map(|p| (p.line, p.kind, p.text)).collect();
    let wanted =
        [(1, Kind::Doc, "a"), (2, Kind::Text, "d // e"), (3, Kind::Comment, "f"), (4, Kind::Text, "h \"i\" j")];
    assert_eq!(result, wanted.map(|(line, kind, text)| (line, kind, text.to_owned())));
}
