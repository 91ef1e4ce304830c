//! Text of drawings as outlines of its glyphs: images need no font then, and nothing that lays text
//! out.

use std::borrow::Cow;
use std::fmt::Write;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Liberation Sans, as wide as Arial and Helvetica; SIL Open Font License, see `assets/fonts`.
const FONT: &[u8] = include_bytes!("../../assets/fonts/LiberationSans-Regular.ttf");
/// Size of text that names none, as browsers have it.
const SIZE: f32 = 16.0;

/// Returns a drawing with a path in place of each text.
///
/// # Errors
/// The font cannot be read, or a text has elements of its own, as none of a plot has.
pub(super) fn outline_text(svg: &str) -> Result<String, &'static str> {
    let face = Face::parse(FONT, 0).map_err(|_| "its font cannot be read")?;
    let mut out = String::with_capacity(2 * svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find("<text ") {
        let (before, text) = rest.split_at(at);
        out.push_str(before);
        let text_parts = text_element_parts(text).filter(|(_, content, _)| !content.contains('<'));
        let (tag, content, behind) = text_parts.ok_or("a text has elements of its own")?;
        TextRun::from_tag(tag, content).draw_glyphs(&face, &mut out);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

/// Attributes and content of a text element, and what follows it.
fn text_element_parts(text: &str) -> Option<(&str, &str, &str)> {
    let mut is_quoted = false;
    let end = text.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    })?;
    let tag = text.get("<text ".len()..end)?;
    let (content, behind) = text.get(end + 1..)?.split_once("</text>")?;
    Some((tag, content, behind))
}

struct TextRun<'a> {
    x: f32,
    y: f32,
    size: f32,
    /// Share of its width that is on the left of `x`.
    before: f32,
    /// True if `y` is its middle, false if it is its baseline.
    central: bool,
    text: Cow<'a, str>,
    /// Attributes that a path has as well.
    kept: String,
}

impl<'a> TextRun<'a> {
    fn from_tag(tag: &str, content: &'a str) -> TextRun<'a> {
        let mut run = TextRun {
            x: 0.0,
            y: 0.0,
            size: SIZE,
            before: 0.0,
            central: false,
            text: unescape_text(content),
            kept: String::new(),
        };
        let number = |text: &str| text.trim_end_matches("px").trim().parse::<f32>().unwrap_or(0.0);
        let mut rest = tag;
        while let Some((name, behind)) = rest.split_once("=\"") {
            let Some((value, behind)) = behind.split_once('"') else { break };
            rest = behind;
            match name.trim() {
                "x" => run.x = number(value),
                "y" => run.y = number(value),
                "font-size" => run.size = number(value),
                "text-anchor" => run.before = if value == "end" { 1.0 } else { f32::from(value == "middle") / 2.0 },
                "dominant-baseline" => run.central = value == "central",
                "style" => {
                    let declarations = value.split(';').filter_map(|declaration| declaration.split_once(':'));
                    for (property, value) in declarations {
                        match property.trim() {
                            "font-size" => run.size = number(value),
                            other if other.starts_with("font") => {}
                            other => drop(write!(run.kept, " {other}=\"{}\"", value.trim())),
                        }
                    }
                }
                "xml:space" | "font-family" | "font-weight" => {}
                other => drop(write!(run.kept, " {other}=\"{value}\"")),
            }
        }
        run
    }

    fn draw_glyphs(&self, face: &Face<'_>, out: &mut String) {
        let scale = self.size / f32::from(face.units_per_em());
        let middle = f32::from(face.ascender() + face.descender()) / 2.0;
        let mut pen = Pen { x: self.x, y: self.y, scale, path: String::new() };
        if self.central {
            pen.y += scale * middle;
        }
        let glyphs: Vec<GlyphId> = self.text.chars().map(|c| face.glyph_index(c).unwrap_or(GlyphId(0))).collect();
        let advance = |at: usize| {
            let kerning_units = glyphs.get(at + 1).map_or(0, |&next| kerning_between(face, glyphs[at], next));
            scale * (f32::from(face.glyph_hor_advance(glyphs[at]).unwrap_or(0)) + f32::from(kerning_units))
        };
        let advances: Vec<f32> = (0..glyphs.len()).map(advance).collect();
        pen.x -= self.before * advances.iter().sum::<f32>();
        for (&glyph, advance) in glyphs.iter().zip(advances) {
            face.outline_glyph(glyph, &mut pen);
            pen.x += advance;
        }
        let _ = write!(out, "<path{} d=\"{}\"/>", self.kept, pen.path.trim_start());
    }
}

/// Distance by which two glyphs are moved together or apart, in units of the font.
fn kerning_between(face: &Face<'_>, left: GlyphId, right: GlyphId) -> i16 {
    let tables = face.tables().kern.into_iter().flat_map(|kern| kern.subtables);
    let mut plain = tables.filter(|table| table.horizontal && !table.variable && !table.has_state_machine);
    plain.find_map(|table| table.glyphs_kerning(left, right)).unwrap_or(0)
}

/// Writes outlines as data of a path.
struct Pen {
    x: f32,
    y: f32,
    scale: f32,
    path: String,
}

impl Pen {
    fn write_command<const N: usize>(&mut self, command: char, points: [(f32, f32); N]) {
        self.path.push(command);
        for (at, (x, y)) in points.into_iter().enumerate() {
            let blank = if at > 0 { " " } else { "" };
            let _ = write!(self.path, "{blank}{:.3} {:.3}", self.x + self.scale * x, self.y - self.scale * y);
        }
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.write_command('M', [(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.write_command('L', [(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.write_command('Q', [(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.write_command('C', [(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

/// The characters that entities of XML stand for.
fn unescape_text(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let (name, behind) = behind.split_once(';').unwrap_or((behind, ""));
        let code = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let character = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => name
                .strip_prefix("#x")
                .map_or_else(|| name.strip_prefix('#').and_then(|digits| code(digits, 10)), |digits| code(digits, 16)),
        };
        out.extend(character);
        rest = behind;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Least and largest coordinate across and downwards.
    fn bounds(svg: &str) -> [f32; 4] {
        let data = svg.split(" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a path");
        let numbers: Vec<f32> =
            data.split(|c: char| c.is_ascii_alphabetic() || c == ' ').filter_map(|n| n.parse().ok()).collect();
        let of = |from: usize| numbers.iter().skip(from).step_by(2).copied();
        let (least, most) = (f32::INFINITY, f32::NEG_INFINITY);
        [
            of(0).fold(least, f32::min),
            of(0).fold(most, f32::max),
            of(1).fold(least, f32::min),
            of(1).fold(most, f32::max),
        ]
    }

    /// A capital H of this font is 1,409 of 2,048 units high and 1,479 wide. Its stems reach from
    /// 168 to 1,312.
    #[test]
    fn a_letter_by_hand() {
        let close = |values: [f32; 4], expected: [f32; 4]| {
            assert!(values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{values:?} {expected:?}");
        };
        let unit = 20.48 / 2_048.0;
        let left = outline_text(r#"<text x="10" y="50" font-size="20.48">H</text>"#).expect("a font");
        close(bounds(&left), [10.0 + 168.0 * unit, 10.0 + 1_312.0 * unit, 50.0 - 1_409.0 * unit, 50.0]);
        let text = r##"<g><text text-anchor="end" style="font-size:20.48px;font-family:x;" x="10" y="50" fill="#123" transform="rotate(5)">H</text></g>"##;
        let right = outline_text(text).expect("a font");
        let start = 10.0 - 1_479.0 * unit;
        close(bounds(&right), [start + 168.0 * unit, start + 1_312.0 * unit, 50.0 - 1_409.0 * unit, 50.0]);
        assert!(
            right.starts_with("<g><path fill=\"#123\" transform=\"rotate(5)\" d=\"M") && right.ends_with("Z\"/></g>")
        );
        // The middle of ascent and descent is on the line.
        let middle = (1_854.0 - 434.0) / 2.0 * unit;
        let central = outline_text(r#"<text dominant-baseline="central" font-size="20.48">H</text>"#).expect("a font");
        close(bounds(&central), [168.0 * unit, 1_312.0 * unit, middle - 1_409.0 * unit, middle]);
    }

    #[test]
    fn a_text_with_elements_is_refused() {
        let text = r#"<text x="1">a<tspan>b</tspan></text>"#;
        assert!(outline_text(text).is_err_and(|problem| problem.contains("elements")));
    }

    #[test]
    fn letters_move_together_and_entities_are_characters() {
        let width = |text: &str| {
            let [from, to, ..] = bounds(&outline_text(&format!("<text >{text}</text>")).expect("a font"));
            to - from
        };
        assert!(width("AV") < width("AH") - 0.5, "kerned");
        assert_eq!(width("&lt;&#62;&#x26;"), width("&lt;&gt;&amp;"));
        assert_eq!(unescape_text("a &amp; b &quot;&apos;&#x2212;"), "a & b \"'−");
    }
}
