//! Series in a line of text.

use crate::timeline::Timeline;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A series as one character per part of it: means of this many parts, from nothing to `most` on a
/// logarithmic scale, so that series of very different size can stand side by side. Empty without
/// values.
pub fn draw_sparkline(values: &[f64], width: usize, most: f64) -> String {
    if values.is_empty() {
        return String::new();
    }
    let width = width.clamp(1, values.len());
    let part = |i: usize| &values[i * values.len() / width..(i + 1) * values.len() / width];
    let bar = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        let height = if most > 0.0 { mean.max(0.0).ln_1p() / most.ln_1p() * 8.0 } else { 0.0 };
        // A little less, so that what rounds up to an eighth stays in it.
        BARS[((height - 1e-9).ceil() as usize).clamp(1, 8) - 1]
    };
    (0..width).map(|i| bar(part(i))).collect()
}

/// The highest mean over such parts of any series, so that sparklines can share a scale.
pub fn highest_mean(series: &[&Timeline], width: usize) -> f64 {
    let means = |t: &&Timeline| {
        let values = &t.waiting_jobs;
        let width = width.clamp(1, values.len().max(1));
        let part = |i: usize| &values[i * values.len() / width..(i + 1) * values.len() / width];
        (0..width).map(|i| part(i).iter().sum::<f64>() / part(i).len().max(1) as f64).fold(0.0, f64::max)
    };
    series.iter().map(means).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighths_of_the_highest() {
        // 1 + value from 1 to 256: an eighth for each doubling.
        assert_eq!(draw_sparkline(&[0.0, 1.0, 3.0, 15.0, 127.0, 255.0], 6, 255.0), "▁▁▂▄▇█");
        assert_eq!(draw_sparkline(&[0.0, 6.0, 1.0, 5.0], 2, 255.0), "▂▂", "means of two");
        assert_eq!(draw_sparkline(&[3.0], 24, 0.0), "▁");
        assert_eq!(draw_sparkline(&[], 24, 1.0), "");
    }
}
