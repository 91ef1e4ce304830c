//! Pictures of pages without scripts, drawn from what their commands write as JSON.

use crate::charts::{DrawError, run_drawing};
use crate::still::Picture;
use serde_json::Value;

/// Width of a picture, in pixels.
const WIDTH: u32 = 900;

/// Results that have pictures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureSubject {
    /// Output of `drystone advise --format json`: the trade-off, and what choices promised against
    /// what they were worth.
    Advice,
    /// Output of `drystone fidelity --format json`.
    Fidelity,
    /// Figures, as a list of [`Figure`](crate::Figure).
    Figures,
    /// Output of `drystone waits --format json`.
    Waits,
    /// Output of `drystone whatif --format json`: mean waits with intervals, the curve over sizes
    /// of the machine where there is one, winners and losers.
    WhatIf,
}

impl PictureSubject {
    /// Draws the pictures.
    ///
    /// Cost: about 0.2 s for the start and 20 ms a picture.
    ///
    /// # Errors
    /// Mistakes in the JavaScript of the plots; a build without what draws.
    pub fn draw_pictures(self, data: &Value) -> Result<Vec<Picture>, DrawError> {
        let function = match self {
            PictureSubject::Advice => "drawAdvice",
            PictureSubject::Fidelity => "drawFidelity",
            PictureSubject::Figures => "drawPictures",
            PictureSubject::Waits => "drawWaits",
            PictureSubject::WhatIf => "drawWhatif",
        };
        Ok(run_drawing(function, data.to_string(), WIDTH)?.into_iter().map(Picture::from).collect())
    }
}

#[cfg(all(test, feature = "charts"))]
mod tests {
    use super::*;
    use serde_json::json;

    fn drawn(subject: PictureSubject, data: &Value) -> Vec<Picture> {
        let pictures = subject.draw_pictures(data).expect("drawn");
        for picture in &pictures {
            let svg = &picture.svg;
            assert!(svg.contains("<path") && !svg.contains("NaN") && !svg.contains("undefined"), "{}", picture.title);
            assert!(["<a>", "<b>", "<g>"].iter().all(|tag| !svg.contains(tag)), "{}", picture.title);
        }
        pictures
    }

    #[test]
    fn nothing_of_a_site_gets_out_of_an_advice() {
        let entry = |name: &str, live: bool, values: [f64; 2]| json!({"name": name, "live": live, "keeps": true, "values": values});
        let mut advice = json!({
            "baseline": {"figures": [{"figure": "avgX", "name": "slowdown", "value": 10.0},
                {"figure": "<b>axW", "name": "longest wait", "value": 0.0}]},
            "advice": {
                "settings": {"best": {"name": "bf_window=<a>"}, "judged": {"pairs": [[-0.2, -0.1]]}},
                "live": {"best": null, "judged": {"pairs": []}},
                "limits": null,
                "tried": [entry("bf_window=<a>", false, [9.0, 5.0]), entry("easy", true, [100.0, 5.0]), entry("as it is", false, [10.0, 0.0])]
            }
        });
        let pictures = drawn(PictureSubject::Advice, &advice);
        assert_eq!(pictures.len(), 2);
        assert!(pictures[0].svg.contains("bf_window=&lt;a&gt;") && pictures[0].svg.contains("as it is"));
        // No choice was judged, and there is one figure only: nothing to draw.
        advice["advice"]["settings"]["judged"]["pairs"] = json!([]);
        advice["baseline"]["figures"] = json!([{"figure": "avgX", "name": "slowdown", "value": 10.0}]);
        assert!(drawn(PictureSubject::Advice, &advice).is_empty());
    }

    #[test]
    fn nothing_of_a_site_gets_out_of_a_what_if() {
        let class = json!({"by": "account", "class": "<a>", "difference": -30.0, "interval": [-40.0, -20.0]});
        let unclear = json!({"by": "user", "class": "unclear", "difference": -30.0, "interval": [-40.0, 20.0]});
        let mut result = json!({
            "before": {"wait_mean": 60.0},
            "alternatives": [{"change": "nodes <g>:+8", "wait": {"difference": -30.0, "interval": [-40.0, -20.0]}, "classes": [class, unclear]},
                {"change": "nothing", "wait": {"difference": 0.0, "interval": null}, "classes": [unclear]}],
            "curve": {"points": [{"more": 8.0, "wait": 30.0, "difference": -30.0, "interval": [-40.0, -20.0]}], "sentence": null}
        });
        let pictures = drawn(PictureSubject::WhatIf, &result);
        assert_eq!(pictures.len(), 3);
        assert!(pictures[0].svg.contains("−30 s") && pictures[0].svg.contains("nodes &lt;g&gt;:+8"));
        assert!(pictures[2].svg.contains("account &lt;a&gt;") && !pictures[2].svg.contains("unclear"));
        result["curve"] = Value::Null;
        assert_eq!(drawn(PictureSubject::WhatIf, &result).len(), 2);
    }
}
