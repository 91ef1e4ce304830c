//! Random numbers of RLScheduler's windows: Mersenne Twister 19937 (Matsumoto & Nishimura 1998),
//! seeded and read as numpy's `RandomState` does.

const WORDS: usize = 624;
const SHIFT: usize = 397;

/// A state of the twister, and the place of the next word.
pub(super) struct MersenneTwister {
    words: [u32; WORDS],
    next: usize,
}

impl MersenneTwister {
    /// The twister seeded by an array, as its authors' `init_by_array`.
    pub(super) fn new(key: &[u32]) -> MersenneTwister {
        let mut words = [0; WORDS];
        words[0] = 19_650_218_u32;
        for at in 1..WORDS {
            words[at] = mix_word(&words, at, 1_812_433_253).wrapping_add(at as u32);
        }
        let mut at = 1;
        for step in 0..WORDS.max(key.len()) {
            let place = step % key.len();
            words[at] =
                (words[at] ^ mix_word(&words, at, 1_664_525)).wrapping_add(key[place]).wrapping_add(place as u32);
            at = next_place(&mut words, at);
        }
        for _ in 1..WORDS {
            words[at] = (words[at] ^ mix_word(&words, at, 1_566_083_941)).wrapping_sub(at as u32);
            at = next_place(&mut words, at);
        }
        words[0] = 0x8000_0000;
        MersenneTwister { words, next: WORDS }
    }

    fn next_word(&mut self) -> u32 {
        if self.next == WORDS {
            self.twist_words();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9D2C_5680;
        word ^= (word << 15) & 0xEFC6_0000;
        word ^ (word >> 18)
    }

    fn twist_words(&mut self) {
        for at in 0..WORDS {
            let joined_bits = (self.words[at] & 0x8000_0000) | (self.words[(at + 1) % WORDS] & 0x7FFF_FFFF);
            let odd = if joined_bits & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.words[at] = self.words[(at + SHIFT) % WORDS] ^ (joined_bits >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// A number from 0 up to and including `most`: words are masked and drawn again while they are
    /// too large.
    pub(super) fn at_most(&mut self, most: u32) -> u32 {
        let mask = u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let number = self.next_word() & mask;
            if number <= most {
                return number;
            }
        }
    }
}

fn mix_word(words: &[u32; WORDS], at: usize, factor: u32) -> u32 {
    let before = words[at - 1];
    (before ^ (before >> 30)).wrapping_mul(factor)
}

fn next_place(words: &mut [u32; WORDS], at: usize) -> usize {
    if at + 1 < WORDS {
        return at + 1;
    }
    words[0] = words[WORDS - 1];
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First words that the authors' own program prints for the key 0x123, 0x234, 0x345, 0x456.
    #[test]
    fn words_of_the_authors() {
        let mut twister = MersenneTwister::new(&[0x123, 0x234, 0x345, 0x456]);
        let words: Vec<u32> = (0..5).map(|_| twister.next_word()).collect();
        assert_eq!(words, [1_067_595_299, 955_945_823, 477_289_528, 4_107_218_783, 4_228_976_476]);
    }
}
