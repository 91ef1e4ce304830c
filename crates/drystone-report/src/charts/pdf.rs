//! Drawings as PDF: lines and areas, with text as outlines of its glyphs, so that it needs no font.

use super::drawn::parse_svg;
use super::{DrawError, Drawing};
use pdf_writer::types::{FunctionShadingType, LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, TextStr};
use resvg::tiny_skia::{Path, PathSegment, Point, Transform};
use resvg::usvg;
use std::collections::BTreeMap;
use std::io::Write;
use usvg::{ClipPath, FillRule, Group, LineCap, LineJoin, LinearGradient, Node, Paint, PaintOrder, SpreadMethod};

/// Points per unit of a drawing: 96 units are an inch.
const POINTS: f32 = 0.75;
/// Colours of a gradient.
const STEPS: u16 = 256;

const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const CONTENT: Ref = Ref::new(4);
const INFO: Ref = Ref::new(5);
const FIRST_FREE: i32 = 6;

impl Drawing {
    /// The drawing as PDF of one page. What determined it is in the document's information under
    /// `Drystone`, as JSON.
    ///
    /// # Errors
    /// A drawing that is no SVG, or has parts that no plot has: images, masks, filters.
    pub fn pdf_page(&self) -> Result<Vec<u8>, DrawError> {
        let image_error = |problem: String| DrawError::Image { id: self.id.clone(), problem };
        let tree = parse_svg(&self.svg).map_err(image_error)?;
        let (width, height) = (tree.size().width() * POINTS, tree.size().height() * POINTS);
        let mut page = Drawn { content: Content::new(), opacities: BTreeMap::new(), shadings: Vec::new() };
        // Vertical coordinates grow downwards in SVG, upwards in PDF.
        page.content.save_state().transform([POINTS, 0.0, 0.0, -POINTS, 0.0, height]);
        page.draw_group(tree.root(), 1.0).map_err(|part| image_error(format!("PDF has no {part} here")))?;
        page.content.restore_state();
        self.file_of(page, Rect::new(0.0, 0.0, width, height)).map_err(|e| image_error(e.to_string()))
    }

    /// The file around what was drawn.
    fn file_of(&self, page: Drawn, size: Rect) -> std::io::Result<Vec<u8>> {
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([PAGE]).count(1);
        let mut free = FIRST_FREE..;
        let mut next = || Ref::new(free.next().unwrap_or(FIRST_FREE));
        let states: Vec<(String, Ref, [f32; 2])> =
            page.opacities.iter().map(|(bits, name)| (name.clone(), next(), bits.map(f32::from_bits))).collect();
        let shadings: Vec<(String, Ref, Ref, Shading)> = page
            .shadings
            .into_iter()
            .enumerate()
            .map(|(at, shading)| (resource_name("S", at), next(), next(), shading))
            .collect();

        let mut out = pdf.page(PAGE);
        out.parent(PAGES).media_box(size).contents(CONTENT);
        let mut resources = out.resources();
        let mut of = resources.ext_g_states();
        states.iter().for_each(|(name, state, _)| {
            of.pair(Name(name.as_bytes()), *state);
        });
        of.finish();
        let mut of = resources.shadings();
        shadings.iter().for_each(|(name, shading, ..)| {
            of.pair(Name(name.as_bytes()), *shading);
        });
        of.finish();
        resources.finish();
        out.finish();

        for (_, state, [fill, stroke]) in &states {
            pdf.ext_graphics(*state).non_stroking_alpha(*fill).stroking_alpha(*stroke);
        }
        for (_, shading, function, Shading { from, to, colours }) in &shadings {
            let mut axial = pdf.function_shading(*shading);
            axial.shading_type(FunctionShadingType::Axial).color_space().device_rgb();
            axial.coords([from.x, from.y, to.x, to.y]).function(*function).extend([true, true]);
            axial.finish();
            let mut sampled_function = pdf.sampled_function(*function, colours);
            sampled_function.domain([0.0, 1.0]).range([0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
            sampled_function.size([i32::from(STEPS)]).bits_per_sample(8);
        }
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(&page.content.finish())?;
        pdf.stream(CONTENT, &encoder.finish()?).filter(Filter::FlateDecode);

        let mut info = pdf.document_info(INFO);
        info.title(TextStr(&self.title)).creator(TextStr("Drystone"));
        if !self.determined.is_null() {
            info.insert(Name(b"Drystone")).primitive(TextStr(&self.determined.to_string()));
        }
        info.finish();
        Ok(pdf.finish())
    }
}

fn resource_name(kind: &str, at: usize) -> String {
    format!("{kind}{at}")
}

/// An axial shading: where it begins and ends, and its colours in between, three bytes each.
struct Shading {
    from: Point,
    to: Point,
    colours: Vec<u8>,
}

/// A page while it is drawn.
struct Drawn {
    content: Content,
    /// Names of the graphics states, by the bits of the opacities of areas and lines.
    opacities: BTreeMap<[u32; 2], String>,
    shadings: Vec<Shading>,
}

impl Drawn {
    /// Draws a group with its children. Errors name a part that cannot be drawn.
    fn draw_group(&mut self, group: &Group, opacity: f32) -> Result<(), &'static str> {
        if group.mask().is_some() {
            return Err("mask");
        }
        if !group.filters().is_empty() {
            return Err("filter");
        }
        if group.blend_mode() != usvg::BlendMode::Normal {
            return Err("blend mode");
        }
        self.content.save_state().transform(to_matrix(group.transform()));
        if let Some(clip) = group.clip_path() {
            self.clip_to(clip);
        }
        let opacity = opacity * group.opacity().get();
        for child in group.children() {
            match child {
                Node::Group(group) => self.draw_group(group, opacity)?,
                Node::Path(path) => self.draw_path(path, opacity)?,
                Node::Text(_) => return Err("text"),
                Node::Image(_) => return Err("image"),
            }
        }
        self.content.restore_state();
        Ok(())
    }

    /// Restricts what follows to a clip path.
    fn clip_to(&mut self, clip: &ClipPath) {
        if let Some(outer) = clip.clip_path() {
            self.clip_to(outer);
        }
        let mut even_odd = false;
        self.outline_of(clip.root(), clip.transform(), &mut even_odd);
        match even_odd {
            true => self.content.clip_even_odd(),
            false => self.content.clip_nonzero(),
        };
        self.content.end_path();
    }

    fn outline_of(&mut self, group: &Group, transform: Transform, even_odd: &mut bool) {
        let transform = transform.pre_concat(group.transform());
        for child in group.children() {
            match child {
                Node::Group(group) => self.outline_of(group, transform, even_odd),
                Node::Path(path) => {
                    *even_odd |= path.fill().is_some_and(|fill| fill.rule() == FillRule::EvenOdd);
                    if let Some(outline) = path.data().clone().transform(transform) {
                        self.outline_path(&outline);
                    }
                }
                Node::Text(_) | Node::Image(_) => {}
            }
        }
    }

    fn outline_path(&mut self, path: &Path) {
        let mut last = Point::zero();
        for segment in path.segments() {
            match segment {
                PathSegment::MoveTo(p) => {
                    self.content.move_to(p.x, p.y);
                    last = p;
                }
                PathSegment::LineTo(p) => {
                    self.content.line_to(p.x, p.y);
                    last = p;
                }
                PathSegment::QuadTo(c, p) => {
                    // A quadratic curve is the cubic one whose control points are two thirds on.
                    let two_thirds = |from: f32, to: f32| from + (to - from) * 2.0 / 3.0;
                    let (x1, y1) = (two_thirds(last.x, c.x), two_thirds(last.y, c.y));
                    let (x2, y2) = (two_thirds(p.x, c.x), two_thirds(p.y, c.y));
                    self.content.cubic_to(x1, y1, x2, y2, p.x, p.y);
                    last = p;
                }
                PathSegment::CubicTo(a, b, p) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y);
                    last = p;
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    fn draw_path(&mut self, path: &usvg::Path, opacity: f32) -> Result<(), &'static str> {
        if !path.is_visible() {
            return Ok(());
        }
        match path.paint_order() {
            PaintOrder::FillAndStroke => {
                self.fill_path(path, opacity)?;
                self.stroke_path(path, opacity)
            }
            PaintOrder::StrokeAndFill => {
                self.stroke_path(path, opacity)?;
                self.fill_path(path, opacity)
            }
        }
    }

    fn fill_path(&mut self, path: &usvg::Path, opacity: f32) -> Result<(), &'static str> {
        let Some(fill) = path.fill() else { return Ok(()) };
        self.content.save_state();
        self.set_opacities([fill.opacity().get() * opacity, 1.0]);
        let even_odd = fill.rule() == FillRule::EvenOdd;
        match fill.paint() {
            Paint::Color(colour) => {
                let [r, g, b] = colour_shares(*colour);
                self.content.set_fill_rgb(r, g, b);
                self.outline_path(path.data());
                match even_odd {
                    true => self.content.fill_even_odd(),
                    false => self.content.fill_nonzero(),
                };
            }
            Paint::LinearGradient(gradient) => {
                let shading = gradient_shading(gradient)?;
                self.outline_path(path.data());
                match even_odd {
                    true => self.content.clip_even_odd(),
                    false => self.content.clip_nonzero(),
                };
                self.content.end_path().transform(to_matrix(gradient.transform()));
                self.content.shading(Name(resource_name("S", self.shadings.len()).as_bytes()));
                self.shadings.push(shading);
            }
            Paint::RadialGradient(_) => return Err("radial gradient"),
            Paint::Pattern(_) => return Err("pattern"),
        }
        self.content.restore_state();
        Ok(())
    }

    fn stroke_path(&mut self, path: &usvg::Path, opacity: f32) -> Result<(), &'static str> {
        let Some(stroke) = path.stroke() else { return Ok(()) };
        let Paint::Color(colour) = stroke.paint() else { return Err("line in a gradient") };
        self.content.save_state();
        self.set_opacities([1.0, stroke.opacity().get() * opacity]);
        let [r, g, b] = colour_shares(*colour);
        self.content.set_stroke_rgb(r, g, b).set_line_width(stroke.width().get());
        self.content.set_line_cap(match stroke.linecap() {
            LineCap::Butt => LineCapStyle::ButtCap,
            LineCap::Round => LineCapStyle::RoundCap,
            LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        self.content.set_line_join(match stroke.linejoin() {
            LineJoin::Miter | LineJoin::MiterClip => LineJoinStyle::MiterJoin,
            LineJoin::Round => LineJoinStyle::RoundJoin,
            LineJoin::Bevel => LineJoinStyle::BevelJoin,
        });
        self.content.set_miter_limit(stroke.miterlimit().get());
        if let Some(dashes) = stroke.dasharray() {
            self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
        }
        self.outline_path(path.data());
        self.content.stroke().restore_state();
        Ok(())
    }

    /// Sets the opacities of areas and lines.
    fn set_opacities(&mut self, opacities: [f32; 2]) {
        if opacities == [1.0, 1.0] {
            return;
        }
        let new = resource_name("G", self.opacities.len());
        let name = self.opacities.entry(opacities.map(f32::to_bits)).or_insert(new);
        self.content.set_parameters(Name(name.as_bytes()));
    }
}

fn to_matrix(t: Transform) -> [f32; 6] {
    [t.sx, t.ky, t.kx, t.sy, t.tx, t.ty]
}

fn colour_shares(colour: usvg::Color) -> [f32; 3] {
    [colour.red, colour.green, colour.blue].map(|c| f32::from(c) / 255.0)
}

/// The shading of an opaque gradient that ends with its last colour.
fn gradient_shading(gradient: &LinearGradient) -> Result<Shading, &'static str> {
    if gradient.spread_method() != SpreadMethod::Pad {
        return Err("repeated gradient");
    }
    let stops: Vec<(f32, [f32; 3])> =
        gradient.stops().iter().map(|stop| (stop.offset().get(), colour_shares(stop.color()))).collect();
    if gradient.stops().iter().any(|stop| stop.opacity().get() < 1.0) {
        return Err("transparent gradient");
    }
    let colour = |at: f32| -> [f32; 3] {
        let after = stops.partition_point(|stop| stop.0 <= at);
        let (before, after) = (&stops[after.saturating_sub(1)], &stops[after.min(stops.len() - 1)]);
        let share = if after.0 > before.0 { ((at - before.0) / (after.0 - before.0)).clamp(0.0, 1.0) } else { 0.0 };
        std::array::from_fn(|c| before.1[c] + (after.1[c] - before.1[c]) * share)
    };
    let colours = (0..STEPS).flat_map(|step| colour(f32::from(step) / f32::from(STEPS - 1)));
    Ok(Shading {
        from: Point::from_xy(gradient.x1(), gradient.y1()),
        to: Point::from_xy(gradient.x2(), gradient.y2()),
        colours: colours.map(|share| (share * 255.0).round() as u8).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Read;

    fn drawing(svg: &str) -> Drawing {
        Drawing {
            id: "plot".to_string(),
            title: "Größe".to_string(),
            note: String::new(),
            svg: format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{svg}</svg>"#),
            determined: json!({ "policy": "easy" }),
        }
    }

    fn operators(pdf: &[u8]) -> String {
        let find = |pattern: &[u8], from: usize| {
            let at = pdf[from..].windows(pattern.len()).position(|window| window == pattern);
            from + at.expect("in the file") + pattern.len()
        };
        let begin = find(b"stream\n", find(b"/FlateDecode", 0));
        let mut text = String::new();
        flate2::read::ZlibDecoder::new(&pdf[begin..]).read_to_string(&mut text).expect("operators");
        text
    }

    /// By hand: 40 × 20 units are 30 × 15 points, upside down; a red rectangle at half opacity.
    #[test]
    fn a_rectangle_by_hand() {
        let pdf = drawing(r##"<rect x="1" y="2" width="4" height="5" fill="#ff0000" fill-opacity="0.5"/>"##)
            .pdf_page()
            .expect("drawn");
        assert!(pdf.starts_with(b"%PDF-1."), "a PDF");
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.contains("/MediaBox [0 0 30 15]") && text.contains("/ca 0.5"), "{text}");
        assert!(text.contains("/Drystone ({\"policy\":\"easy\"})"), "{text}");
        let operators = operators(&pdf);
        for expected in ["0.75 0 0 -0.75 0 15 cm", "1 0 0 rg", "1 2 m", "5 2 l", "5 7 l", "1 7 l", "h\nf"] {
            assert!(operators.contains(expected), "{expected} in\n{operators}");
        }
        assert_eq!(operators.matches("q\n").count(), operators.matches("Q").count(), "{operators}");
    }

    /// Glyphs of text are outlines: the file refers to no font.
    #[test]
    fn text_needs_no_font() {
        let pdf = drawing(r#"<text x="2" y="15" font-size="12">log</text>"#).pdf_page().expect("drawn");
        assert!(operators(&pdf).contains(" c\n") && !String::from_utf8_lossy(&pdf).contains("/Font"));
    }

    /// A part that cannot be shown is named, and no file comes of it.
    #[test]
    fn parts_that_no_plot_has_are_refused() {
        let mask = r#"<mask id="m"><rect width="9" height="9" fill="white"/></mask><rect width="9" height="9" mask="url(#m)"/>"#;
        let error = drawing(mask).pdf_page().expect_err("a mask").to_string();
        assert!(error.contains("mask"), "{error}");
    }
}
