//! Parts of a study that can be simulated apart.

use std::fmt;
use std::str::FromStr;

/// The `k`-th of `n` chunks: every n-th simulation, so that chunks take about the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepChunk {
    /// Number of the chunk, from 1.
    pub k: u32,
    pub n: u32,
}

impl SweepChunk {
    /// Returns whether the chunk holds the simulation at this place of the plan.
    pub fn contains_place(self, place: usize) -> bool {
        place % self.n as usize == self.k as usize - 1
    }
}

impl fmt::Display for SweepChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.k, self.n)
    }
}

/// A text that is no chunk.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is no chunk; expected K/N with 1 <= K <= N, e.g. 3/16")]
pub struct ChunkError {
    pub text: String,
}

impl FromStr for SweepChunk {
    type Err = ChunkError;

    fn from_str(text: &str) -> Result<SweepChunk, ChunkError> {
        let parse_chunk = || {
            let (k, n) = text.split_once('/')?;
            let chunk = SweepChunk { k: k.trim().parse().ok()?, n: n.trim().parse().ok()? };
            (1 <= chunk.k && chunk.k <= chunk.n).then_some(chunk)
        };
        parse_chunk().ok_or_else(|| ChunkError { text: text.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_part_the_whole() {
        for n in 1..6 {
            for place in 0..20 {
                let holders = (1..=n).filter(|&k| SweepChunk { k, n }.contains_place(place)).count();
                assert_eq!(holders, 1);
            }
        }
        for bad in ["", "0/3", "4/3", "1", "1/0", "a/b", "-1/2"] {
            assert!(bad.parse::<SweepChunk>().is_err(), "{bad}");
        }
        assert_eq!("3/16".parse(), Ok(SweepChunk { k: 3, n: 16 }));
    }
}
