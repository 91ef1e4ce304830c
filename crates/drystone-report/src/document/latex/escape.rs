//! Text as LaTeX that every `article` sets with its own fonts (encoding OT1).

use crate::document::make_visible;

/// Words from this length on may break inside, which names of policies need.
const LONG_WORD: usize = 20;

/// Returns the text with the signs that have a meaning in LaTeX written out. A letter that OT1
/// cannot set is written as its code point.
pub(super) fn escape_latex(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for sign in make_visible(text).chars() {
        push_escaped(sign, before, &mut out);
        before = sign;
    }
    out
}

/// Returns the text as [`escape_latex`] does, with places where long words may break.
pub(super) fn escape_latex_breaking(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for word in make_visible(text).split_inclusive(char::is_whitespace) {
        let long = word.chars().count() >= LONG_WORD;
        for sign in word.chars() {
            push_escaped(sign, before, &mut out);
            if long && matches!(sign, ',' | '(' | '+' | '_' | '/' | '=' | ';') {
                out.push_str("\\allowbreak{}");
            }
            before = sign;
        }
    }
    out
}

fn push_escaped(sign: char, before: char, out: &mut String) {
    match latex_sign(sign) {
        Some(command) => out.push_str(command),
        None if sign == '"' => out.push_str(if opens_quote(before) { "``" } else { "''" }),
        None if matches!(sign, '&' | '%' | '$' | '#' | '_' | '{' | '}') => out.extend(['\\', sign]),
        None if sign.is_ascii() || is_accented_latin(sign) => out.push(sign),
        None => out.push_str(&format!("[U+{:04X}]", u32::from(sign))),
    }
}

fn opens_quote(before: char) -> bool {
    before.is_whitespace() || matches!(before, '(' | '[' | '=' | '/')
}

/// Letters whose accents LaTeX composes without a further encoding.
fn is_accented_latin(sign: char) -> bool {
    let is_composed = matches!(u32::from(sign), 0xC0..=0x17E);
    // Eth, thorn, d with a stroke, eng and letters with an ogonek are in no font of OT1.
    let missing = "ÐðÞþĐđŊŋĄąĘęĮįŲųĦħĿŀĸŉŦŧ";
    is_composed && !missing.contains(sign)
}

fn latex_sign(sign: char) -> Option<&'static str> {
    Some(match sign {
        '\\' => "\\textbackslash{}",
        '~' => "\\textasciitilde{}",
        '^' => "\\textasciicircum{}",
        '<' => "$<$",
        '>' => "$>$",
        '|' => "$|$",
        '`' => "\\textasciigrave{}",
        '\n' => " ",
        '\u{a0}' | '\u{202f}' | '\u{2009}' => "~",
        '×' => "$\\times$",
        '÷' => "$\\div$",
        '−' => "$-$",
        '±' => "$\\pm$",
        '≤' => "$\\le$",
        '≥' => "$\\ge$",
        '≠' => "$\\neq$",
        '≈' => "$\\approx$",
        '→' => "$\\to$",
        '←' => "$\\gets$",
        '∞' => "$\\infty$",
        '·' => "$\\cdot$",
        '°' => "$^\\circ$",
        '²' => "$^2$",
        '³' => "$^3$",
        'µ' | 'μ' => "$\\mu$",
        'α' => "$\\alpha$",
        'κ' => "$\\kappa$",
        'λ' => "$\\lambda$",
        'ρ' => "$\\rho$",
        'σ' => "$\\sigma$",
        '½' => "$\\frac12$",
        '–' => "--",
        '—' => "---",
        '…' => "\\ldots{}",
        '‘' => "`",
        '’' => "'",
        '“' => "``",
        '”' => "''",
        '§' => "\\S{}",
        '†' => "\\dag{}",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_open_and_close_without_a_further_encoding() {
        assert_eq!(escape_latex("the \"easy\" one (\"x\")"), "the ``easy'' one (``x'')");
    }

    #[test]
    fn only_long_words_break() {
        assert_eq!(escape_latex_breaking("10,005 a,b"), "10,005 a,b");
        assert_eq!(escape_latex_breaking("easy(order=expfactor)"), "easy(\\allowbreak{}order=\\allowbreak{}expfactor)");
    }

    #[test]
    fn letters_that_no_font_has_are_code_points() {
        assert_eq!(escape_latex("Jörg Łukasz 中"), "Jörg Łukasz [U+4E2D]");
    }

    #[test]
    fn signs_with_a_meaning_lose_it() {
        assert_eq!(escape_latex("a_b 5 % <3"), "a\\_b 5 \\% $<$3");
    }
}
