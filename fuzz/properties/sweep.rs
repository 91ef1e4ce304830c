//! Properties of the study files of sweeps, for any text: an error states place and cause.

use drystone_sweep::analysis::Subspace;
use drystone_sweep::{Metric, SweepChunk, SweepError, SweepStudy};
use std::path::Path;

/// Checks every property of the reader on this text.
pub(crate) fn hold(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    // A study may ask for ten million points, which is no fault, but no input for a fuzzer either.
    let number = |digits: &str| digits.parse().unwrap_or(u64::MAX);
    if text.split(|c: char| !c.is_ascii_digit()).filter(|d| !d.is_empty()).any(|d| (13..1 << 30).contains(&number(d))) {
        return;
    }
    let file = Path::new("study.toml");
    match SweepStudy::parse(file, text.to_string()) {
        Ok(study) => {
            assert_eq!(study.text, text);
            let again = SweepStudy::parse(file, text.to_string());
            assert_eq!(again.ok().map(|s| format!("{s:?}")), Some(format!("{study:?}")), "one text, two studies");
        }
        Err(SweepError::Study { line, column, problem, .. }) => {
            assert!(!problem.trim().is_empty(), "an error says nothing");
            let lines: Vec<&str> = text.split('\n').collect();
            assert!(line >= 1 && line <= lines.len(), "line {line} of {}", lines.len());
            let long = lines[line - 1].chars().count();
            assert!(column >= 1 && column <= long + 1, "column {column} of {long}");
        }
        Err(error) => panic!("not an error of a text: {error}"),
    }
    if let Ok(chunk) = text.parse::<SweepChunk>() {
        assert!(chunk.k >= 1 && chunk.k <= chunk.n, "{chunk}");
        assert_eq!(chunk.to_string().parse(), Ok(chunk));
    }
    if let Ok(metric) = text.parse::<Metric>() {
        assert_eq!(metric.to_string().parse::<Metric>().map(|m| m.to_string()), Ok(metric.to_string()));
    }
    let _ = Subspace::parse(text, &["size".to_string(), "window".to_string()]);
}
