//! Random numbers by name: the same question, sample and job give the same number, in whatever
//! order and on however many threads they are asked for. So two variants of a job see the same
//! futures.

/// Purpose of a drawn number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DrawPurpose {
    /// The run time of a job by itself.
    Own,
    /// The run time that jobs of one user and limit share.
    Shared,
    /// Decides if a job takes the shared number.
    Coupled,
    /// Decides if all jobs of one user and limit take the shared number.
    Batch,
    /// Chooses the day of the past that is replayed.
    Day,
    /// A place within ties.
    Tie,
    /// Decides if a batch of a user and limit is far shorter than what the user had before.
    Surprise,
}

/// The name of a number, for names that are used in every sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named(u64);

impl Named {
    #[inline]
    pub(crate) fn new(purpose: DrawPurpose, name: u64) -> Named {
        Named(mix_bits(name.wrapping_add((purpose as u64 + 1) << 56)))
    }
}

/// A source of numbers that are named by their purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    key: u64,
}

impl Draws {
    pub(crate) fn new(seed: u64, question: u64) -> Draws {
        Draws { key: mix_bits(mix_bits(seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_add(question)) }
    }

    pub(crate) fn for_sample(self, sample: u32) -> Draws {
        Draws { key: mix_bits(self.key ^ (u64::from(sample) + 1).wrapping_mul(0xd134_2543_de82_ef95)) }
    }

    /// A number in the open interval from 0 to 1.
    #[inline]
    pub(crate) fn draw_uniform(self, purpose: DrawPurpose, name: u64) -> f64 {
        self.draw_named(Named::new(purpose, name))
    }

    #[inline]
    pub(crate) fn draw_named(self, name: Named) -> f64 {
        let bits = mix_bits(self.key ^ name.0);
        ((bits >> 12) as f64 + 0.5) / (1u64 << 52) as f64
    }
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
#[inline]
fn mix_bits(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_uniform_and_do_not_hang_together() {
        let draws = Draws::new(1, 7);
        let n = 20_000;
        let list: Vec<f64> =
            (0..n).map(|i| draws.for_sample(i % 100).draw_uniform(DrawPurpose::Own, u64::from(i / 100))).collect();
        let mean = list.iter().sum::<f64>() / f64::from(n);
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        let square = list.iter().map(|x| (x - 0.5) * (x - 0.5)).sum::<f64>() / f64::from(n);
        assert!((square - 1.0 / 12.0).abs() < 0.003, "{square}");
        let with_next = list.windows(2).map(|w| (w[0] - 0.5) * (w[1] - 0.5)).sum::<f64>() / f64::from(n);
        assert!(with_next.abs() < 0.003, "{with_next}");
        let second_draw = draws.for_sample(3).draw_uniform(DrawPurpose::Shared, 5)
            - draws.for_sample(3).draw_uniform(DrawPurpose::Own, 5);
        assert!(second_draw.abs() > 1e-9);
    }
}
