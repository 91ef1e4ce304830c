//! Choice of the points of a parameter space: all of a grid, or a sample of it.

use drystone::statistics::round_significant;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt;

#[derive(Clone, PartialEq, Debug)]
pub enum DesignLevel {
    Int(i64),
    Real(f64),
    Text(String),
    /// Yes or no.
    Bool(bool),
}

impl fmt::Display for DesignLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DesignLevel::Int(value) => value.fmt(f),
            DesignLevel::Real(value) => value.fmt(f),
            DesignLevel::Text(value) => value.fmt(f),
            DesignLevel::Bool(value) => value.fmt(f),
        }
    }
}

impl DesignLevel {
    /// Returns the value as a number, if it is one. Text is parsed as well, because a store holds
    /// numbers as text where a parameter also has words.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            DesignLevel::Int(value) => Some(*value as f64),
            DesignLevel::Real(value) => Some(*value),
            DesignLevel::Text(text) if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                text.parse().ok().filter(|number: &f64| number.is_finite())
            }
            DesignLevel::Text(_) | DesignLevel::Bool(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Range {
    /// These.
    Levels(Vec<DesignLevel>),
    /// All numbers between two, drawn evenly or evenly in their logarithms; for samples only.
    Between { from: f64, to: f64, log: bool },
    /// All whole numbers between two, drawn evenly in their logarithms; for samples only.
    Whole { from: i64, to: i64 },
}

impl Range {
    /// The value at a place from 0 up to but not including 1.
    fn value_at(&self, place: f64) -> DesignLevel {
        match self {
            Range::Levels(levels) => {
                let at = ((place * levels.len() as f64) as usize).min(levels.len() - 1);
                levels[at].clone()
            }
            Range::Between { from, to, log } => {
                let value = if *log { from * (to / from).powf(place) } else { from + (to - from) * place };
                DesignLevel::Real(round_value(value))
            }
            Range::Whole { from, to } => {
                // Each number has the stretch up to the next, also the last.
                let (first, beyond) = (*from as f64, *to as f64 + 1.0);
                let value = first * (beyond / first).powf(place);
                DesignLevel::Int((value as i64).clamp(*from, *to))
            }
        }
    }
}

/// Six significant digits: enough for any parameter, few enough to be read, and the same on every
/// platform.
fn round_value(value: f64) -> f64 {
    round_significant(value, 6)
}

/// Method of choosing points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sampling {
    /// Every combination.
    Grid,
    /// This many points, with independent draws of each parameter.
    Random(usize),
    /// This many points; the range of each parameter is cut into as many even pieces, and each
    /// piece is drawn once.
    LatinHypercube(usize),
}

/// The points, in an order that depends on nothing but ranges and seed. The first parameter of a
/// grid changes slowest.
pub(crate) fn choose_points(ranges: &[Range], sampling: Sampling, seed: u64) -> Vec<Vec<DesignLevel>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    match sampling {
        Sampling::Grid => grid_points(ranges),
        Sampling::Random(samples) => {
            (0..samples).map(|_| ranges.iter().map(|range| range.value_at(draw_unit(&mut rng))).collect()).collect()
        }
        Sampling::LatinHypercube(samples) => {
            let columns: Vec<Vec<DesignLevel>> = ranges
                .iter()
                .map(|range| {
                    let mut pieces: Vec<usize> = (0..samples).collect();
                    shuffle_values(&mut pieces, &mut rng);
                    let place = |piece: usize, rng: &mut ChaCha8Rng| (piece as f64 + draw_unit(rng)) / samples as f64;
                    pieces.into_iter().map(|piece| range.value_at(place(piece, &mut rng))).collect()
                })
                .collect();
            (0..samples).map(|at| columns.iter().map(|column| column[at].clone()).collect()).collect()
        }
    }
}

fn grid_points(ranges: &[Range]) -> Vec<Vec<DesignLevel>> {
    let mut points = vec![Vec::new()];
    for range in ranges {
        let Range::Levels(levels) = range else { return Vec::new() };
        points = points
            .iter()
            .flat_map(|point: &Vec<DesignLevel>| {
                levels.iter().map(move |level| point.iter().cloned().chain([level.clone()]).collect())
            })
            .collect();
    }
    points
}

/// From 0 up to but not including 1, with 53 random bits.
fn draw_unit(rng: &mut ChaCha8Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Fisher & Yates; the remainder's bias is below 2⁻⁴⁰ for any sample that fits memory.
fn shuffle_values(values: &mut [usize], rng: &mut ChaCha8Rng) {
    for last in (1..values.len()).rev() {
        values.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(n: i64) -> Range {
        Range::Levels((1..=n).map(DesignLevel::Int).collect())
    }

    #[test]
    fn a_grid_has_every_combination_once() {
        let points = choose_points(&[levels(2), levels(3)], Sampling::Grid, 0);
        let texts: Vec<String> = points.iter().map(|p| format!("{}{}", p[0], p[1])).collect();
        assert_eq!(texts, ["11", "12", "13", "21", "22", "23"]);
        assert_eq!(super::choose_points(&[], Sampling::Grid, 0), [vec![]], "a policy without parameters is one point");
    }

    #[test]
    fn a_latin_hypercube_meets_every_piece_of_every_range_once() {
        let ranges = [levels(10), Range::Between { from: 0.0, to: 1.0, log: false }];
        for seed in 0..20 {
            let points = choose_points(&ranges, Sampling::LatinHypercube(10), seed);
            let mut first: Vec<f64> = points.iter().filter_map(|p| p[0].as_number()).collect();
            let mut pieces: Vec<i64> = points.iter().filter_map(|p| Some((p[1].as_number()? * 10.0) as i64)).collect();
            first.sort_by(f64::total_cmp);
            pieces.sort_unstable();
            assert_eq!(first, (1..=10).map(f64::from).collect::<Vec<_>>());
            assert_eq!(pieces, (0..10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn samples_depend_on_the_seed_alone_and_stay_in_range() {
        let ranges = [levels(5), Range::Between { from: 0.01, to: 100.0, log: true }];
        for sampling in [Sampling::Random(200), Sampling::LatinHypercube(200)] {
            let once = choose_points(&ranges, sampling, 7);
            assert_eq!(once, choose_points(&ranges, sampling, 7));
            assert_ne!(once, choose_points(&ranges, sampling, 8));
            let numbers: Vec<f64> = once.iter().filter_map(|p| p[1].as_number()).collect();
            assert!(numbers.iter().all(|v| (0.01..=100.0).contains(v)));
            // Evenly in logarithms: half of them below the geometric middle, 1. Five standard
            // deviations of Random.
            let below = numbers.iter().filter(|v| **v < 1.0).count();
            assert!((65..=135).contains(&below), "{below}");
        }
    }

    #[test]
    fn whole_numbers_stay_whole_in_logarithms() {
        // 1 has ln 2 / ln 10 of all, 9 has ln(10 / 9) / ln 10: 301 and 45 or 46 of a thousand even
        // places.
        let range = Range::Whole { from: 1, to: 9 };
        let values: Vec<DesignLevel> = (0..1000).map(|i| range.value_at((f64::from(i) + 0.5) / 1000.0)).collect();
        let times = |value| values.iter().filter(|v| **v == DesignLevel::Int(value)).count();
        assert_eq!((1..=9).map(times).sum::<usize>(), 1000);
        assert!(times(1) == 301 && [45, 46].contains(&times(9)), "{} {}", times(1), times(9));
        assert_eq!(Range::Whole { from: 7, to: 7 }.value_at(0.999), DesignLevel::Int(7));
    }
}
