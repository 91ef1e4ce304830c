//! Faults of the made-up cluster.

#[derive(Clone, Debug, Default)]
pub struct SeededFaults {
    /// Of a thousand orders this many are not carried out, and it is not known.
    pub lost: u32,
    /// Of a thousand orders this many are carried out, and it is not known.
    pub unsaid: u32,
    /// Of a thousand orders this many are refused.
    pub refused: u32,
    /// Intervals in which the controller does not answer, in milliseconds.
    pub silent: Vec<(i64, i64)>,
    /// Intervals in which the controller starts no job, in milliseconds.
    pub idle: Vec<(i64, i64)>,
    /// Milliseconds that pass between the look at jobs and that at nodes.
    pub between: i64,
    /// The state of the generator.
    pub seed: u64,
}

impl SeededFaults {
    pub(super) fn is_silent(&self, now: i64) -> bool {
        self.silent.iter().any(|&(from, until)| (from..until).contains(&now))
    }

    pub(super) fn is_idle(&self, now: i64) -> bool {
        self.idle.iter().any(|&(from, until)| (from..until).contains(&now))
    }

    /// Returns whether the next order is carried out, and whether the answer says so.
    pub(super) fn next(&mut self) -> (bool, bool) {
        let draw = (self.draw_number() % 1_000) as u32;
        match draw {
            d if d < self.lost => (false, false),
            d if d < self.lost + self.unsaid => (true, false),
            d if d < self.lost + self.unsaid + self.refused => (false, true),
            _ => (true, true),
        }
    }

    /// One step of splitmix64 (Steele, Lea & Flood 2014).
    fn draw_number(&mut self) -> u64 {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}
