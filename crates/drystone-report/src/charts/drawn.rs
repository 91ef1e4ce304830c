//! Drawing with the JavaScript of the pages, and images of what was drawn.

use super::glyphs::outline_text;
use super::{ADVICE, DrawError, Drawing, FIDELITY, FIGURES, SCRIPT, WAITS, WHATIF};
use crate::assets;
use resvg::{tiny_skia, usvg};
use rquickjs::{CatchResultExt, Context, Function, Runtime};

/// Engine that draws plots without a browser.
const STILL: &str = include_str!("../../assets/still.js");
/// Stack of the thread that runs JavaScript.
const STACK: usize = 32 << 20;

pub(crate) fn run_drawing(function: &'static str, data: String, width: u32) -> Result<Vec<Drawing>, DrawError> {
    let work = move || -> Result<Vec<Drawing>, DrawError> {
        let engine = |e: rquickjs::Error| DrawError::Script(e.to_string());
        let runtime = Runtime::new().map_err(engine)?;
        runtime.set_max_stack_size(STACK / 2);
        let context = Context::full(&runtime).map_err(engine)?;
        let drawing_json: String = context.with(|ctx| {
            let script_error = |e: rquickjs::CaughtError<'_>| DrawError::Script(e.to_string());
            // Nothing is animated, so that nothing waits.
            ctx.eval::<(), _>("var setTimeout = function () { return 0; }, clearTimeout = function () {};")
                .catch(&ctx)
                .map_err(script_error)?;
            for script in [assets::ECHARTS, SCRIPT, assets::GANTT_JS, FIDELITY, WAITS, ADVICE, WHATIF, FIGURES, STILL] {
                ctx.eval::<(), _>(script).catch(&ctx).map_err(script_error)?;
            }
            let draw: Function<'_> = ctx.globals().get(function).catch(&ctx).map_err(script_error)?;
            draw.call((data, width)).catch(&ctx).map_err(script_error)
        })?;
        serde_json::from_str(&drawing_json).map_err(|e| DrawError::Script(e.to_string()))
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).map_err(DrawError::Thread)?;
    thread.join().unwrap_or_else(|_| Err(DrawError::Script("it panicked".to_string())))
}

/// The tree of a drawing, its text as outlines.
pub(super) fn parse_svg(svg: &str) -> Result<usvg::Tree, String> {
    let svg = outline_text(svg)?;
    usvg::Tree::from_str(&svg, &usvg::Options::default()).map_err(|error| error.to_string())
}

impl Drawing {
    /// The drawing as PNG, every unit `scale` pixels wide. What determined it is in its text
    /// `drystone`, as JSON.
    ///
    /// # Errors
    /// A drawing that is no SVG, or too large.
    pub fn png_image(&self, scale: f32) -> Result<Vec<u8>, DrawError> {
        let image_error = |problem: String| DrawError::Image { id: self.id.clone(), problem };
        let tree = parse_svg(&self.svg).map_err(image_error)?;
        let size =
            tree.size().to_int_size().scale_by(scale).ok_or_else(|| image_error("it has no size".to_string()))?;
        let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height())
            .ok_or_else(|| image_error(format!("{} × {} pixels are too many", size.width(), size.height())))?;
        resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
        self.encode_png(pixels).map_err(|e| image_error(e.to_string()))
    }

    fn encode_png(&self, pixels: tiny_skia::Pixmap) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, pixels.width(), pixels.height());
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.add_itxt_chunk("Title".to_string(), self.title.clone())?;
        if !self.determined.is_null() {
            encoder.add_itxt_chunk("drystone".to_string(), self.determined.to_string())?;
        }
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&pixels.take_demultiplied())?;
        writer.finish()?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Text of any script survives in both forms, also where XML has signs of its own.
    #[test]
    fn files_carry_what_determined_them() {
        let provenance = json!({ "workload": "Köln <&> \"log\"", "policy": "goal(lexical(Tw>avgX))" });
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="10" height="5"><rect width="4" height="5"/></svg>"#;
        let drawing = Drawing {
            id: "plot".to_string(),
            title: "Größe".to_string(),
            note: String::new(),
            svg: svg.to_string(),
            determined: provenance.clone(),
        };
        let file = drawing.svg_file();
        let document = usvg::roxmltree::Document::parse(&file).expect("XML");
        let text = |name: &str| {
            let element = document.descendants().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)));
            element.and_then(|node| node.text()).expect(name).to_string()
        };
        assert_eq!(text("title"), "Größe");
        assert_eq!(serde_json::from_str::<Value>(&text("metadata")).expect("JSON"), provenance);

        let bytes = drawing.png_image(2.0).expect("drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().expect("PNG");
        let texts: Vec<(String, String)> = (reader.info().utf8_text.iter())
            .map(|chunk| (chunk.keyword.clone(), chunk.get_text().expect("text")))
            .collect();
        assert_eq!(texts[0], ("Title".to_string(), "Größe".to_string()));
        assert_eq!(texts[1].0, "drystone");
        assert_eq!(serde_json::from_str::<Value>(&texts[1].1).expect("JSON"), provenance);
        // Black where the rectangle is, nothing elsewhere.
        let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
        reader.next_frame(&mut pixels).expect("pixels");
        assert_eq!((reader.info().width, reader.info().height), (20, 10));
        assert_eq!((&pixels[..4], &pixels[4 * 12..4 * 13]), (&[0, 0, 0, 255][..], &[0, 0, 0, 0][..]));
    }
}
