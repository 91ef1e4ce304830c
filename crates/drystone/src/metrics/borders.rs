//! Classes of jobs whose borders a user chooses.

use crate::model::{Procs, Span};
use crate::times::read_duration;
use std::fmt;

/// Most borders of a measure.
const MOST: usize = 7;

/// Borders of run times and of widths, each the last value of its class; at least one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassBorders {
    runs: [i64; MOST],
    procs: [Procs; MOST],
    counts: (u8, u8),
}

impl ClassBorders {
    /// Borders of run times and of processors, ascending.
    ///
    /// # Errors
    /// None at all, too many, or not ascending.
    pub fn new(runs: &[Span], procs: &[Procs]) -> Result<ClassBorders, &'static str> {
        if runs.is_empty() && procs.is_empty() {
            return Err("a border of run times or processors");
        }
        if runs.len() > MOST || procs.len() > MOST {
            return Err("at most 7 borders of run times, and of processors");
        }
        if !(runs.is_sorted_by(|a, b| a < b) && procs.is_sorted_by(|a, b| a < b)) {
            return Err("borders that rise");
        }
        let mut borders =
            ClassBorders { runs: [0; MOST], procs: [0; MOST], counts: (runs.len() as u8, procs.len() as u8) };
        runs.iter().zip(&mut borders.runs).for_each(|(run, place)| *place = run.0);
        procs.iter().zip(&mut borders.procs).for_each(|(procs, place)| *place = *procs);
        Ok(borders)
    }

    /// Reads `run=10m/1h/8h,procs=1/8/32`: either may be left out.
    pub(super) fn parse(text: &str) -> Result<ClassBorders, &'static str> {
        let (mut runs, mut procs) = (Vec::new(), Vec::new());
        for part in text.split(',').map(str::trim) {
            match part.split_once('=') {
                Some(("run", list)) if runs.is_empty() => {
                    for item in list.split('/') {
                        runs.push(parse_seconds(item).ok_or("run times in s, or with m, h or d")?);
                    }
                }
                Some(("procs", list)) if procs.is_empty() => {
                    for item in list.split('/') {
                        let number = item.trim().parse().ok().filter(|&number| number > 0);
                        procs.push(number.ok_or("processors from 1")?);
                    }
                }
                _ => return Err("run=TIME/TIME… and procs=N/N…"),
            }
        }
        ClassBorders::new(&runs, &procs)
    }

    fn runs(&self) -> &[i64] {
        &self.runs[..usize::from(self.counts.0)]
    }

    fn procs(&self) -> &[Procs] {
        &self.procs[..usize::from(self.counts.1)]
    }

    /// Number of classes.
    #[must_use]
    pub fn class_count(&self) -> usize {
        (self.runs().len() + 1) * self.width_count()
    }

    fn width_count(&self) -> usize {
        self.procs().len() + 1
    }

    pub(super) fn class_key(&self, run: Span, procs: Procs) -> i64 {
        find_class(run.0, self.runs()) * self.width_count() as i64 + find_class(procs, self.procs())
    }

    /// Subject of the classes.
    pub(super) fn name(&self) -> &'static str {
        match (self.runs().is_empty(), self.procs().is_empty()) {
            (false, true) => "run time, borders given",
            (true, _) => "processors, borders given",
            _ => "run time × processors, borders given",
        }
    }

    /// Name of a class: `≤10 min × 2–8`.
    pub(super) fn class_name(&self, key: i64) -> Option<String> {
        let key = usize::try_from(key).ok().filter(|&key| key < self.class_count())?;
        let (run, width) = (key / self.width_count(), key % self.width_count());
        let run = match (self.runs().get(run), self.runs().last()) {
            (Some(&border), _) => Some(format!("≤{}", format_length(border))),
            (None, Some(&last)) => Some(format!(">{}", format_length(last))),
            _ => None,
        };
        let low = width.checked_sub(1).and_then(|below| self.procs().get(below)).map_or(1, |&border| border + 1);
        let width = match (self.procs().get(width), self.procs().last()) {
            (Some(&high), _) if high == low => Some(high.to_string()),
            (Some(&high), _) => Some(format!("{low}–{high}")),
            (None, Some(&last)) => Some(format!(">{last}")),
            _ => None,
        };
        match (run, width) {
            (Some(run), Some(width)) => Some(format!("{run} × {width}")),
            (run, width) => run.or_else(|| width.map(|width| format!("{width} processors"))),
        }
    }
}

impl fmt::Display for ClassBorders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |items: Vec<String>| items.join("/");
        let runs = list(self.runs().iter().map(i64::to_string).collect());
        let procs = list(self.procs().iter().map(Procs::to_string).collect());
        let parts = [("run", runs), ("procs", procs)];
        let parts = parts.iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| format!("{name}={list}"));
        f.pad(&parts.collect::<Vec<_>>().join(","))
    }
}

/// Seconds of `90`, `90s`, `10m`, `8h`, `1d`, `1-12:00:00`.
fn parse_seconds(text: &str) -> Option<Span> {
    let text = text.trim();
    let seconds = text.parse::<i64>().ok().or_else(|| {
        let length = read_duration(text)?;
        (length.fract() == 0.0 && length < 1e15).then_some(length as i64)
    });
    seconds.filter(|&seconds| seconds > 0 && seconds <= 1 << 40).map(Span)
}

/// Seconds in the largest unit that leaves no fraction.
fn format_length(seconds: i64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let unit = units.into_iter().find(|(unit, _)| seconds % unit == 0);
    let (unit, name) = unit.unwrap_or((1, "s"));
    format!("{} {name}", seconds / unit)
}

/// The first class whose border is not below the value.
pub(super) fn find_class<T: PartialOrd>(value: T, borders: &[T]) -> i64 {
    borders.iter().take_while(|&b| value > *b).count() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_belong_to_the_class_below() {
        let borders = ClassBorders::parse("run=10m/1h,procs=1/8").expect("borders");
        assert_eq!((borders.to_string().as_str(), borders.class_count()), ("run=600/3600,procs=1/8", 9));
        for (run, procs, name) in
            [(600, 1, "≤10 min × 1"), (601, 2, "≤1 h × 2–8"), (3_600, 8, "≤1 h × 2–8"), (3_601, 9, ">1 h × >8")]
        {
            assert_eq!(borders.class_name(borders.class_key(Span(run), procs)).as_deref(), Some(name));
        }
        let of = |text: &str, key| ClassBorders::parse(text).expect(text).class_name(key);
        assert_eq!(of("run=100s", 1).as_deref(), Some(">100 s"));
        assert_eq!(of("procs=16", 0).as_deref(), Some("1–16 processors"));
        assert_eq!(of("procs=16", 2), None);
    }

    #[test]
    fn borders_are_checked() {
        for (text, expected) in [
            ("", "run=TIME"),
            ("run=", "run times"),
            ("run=1h/10m", "rise"),
            ("procs=0", "processors from 1"),
            ("procs=8/8", "rise"),
            ("run=1,run=2", "run=TIME"),
            ("run=1/2/3/4/5/6/7/8", "at most 7"),
            ("run=99999999999999999999", "run times"),
            ("width=3", "run=TIME"),
        ] {
            let error = ClassBorders::parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
