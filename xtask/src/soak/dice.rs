//! Random numbers that come again from the same seed, and damage done with them.
//!
//! Unaware of what is damaged.

/// xorshift64*.
pub struct Dice(u64);

/// Values at which arithmetic goes wrong.
const ODD: [u32; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_fff0, 0xffff_ffff, 0x1_0000, 0x8400_0000];

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Below `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides.max(1) as u64) as usize
    }

    /// Puts `things` in another order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.roll(last + 1));
        }
    }

    /// Damages bytes: one to four changes of a kind that files suffer.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len());
            let len = self.roll(64.min(bytes.len() - at.min(bytes.len())) + 1);
            match self.roll(8) {
                _ if bytes.is_empty() => bytes.push(self.roll(256) as u8),
                0 => bytes[at] ^= 1 << self.roll(8),
                1 => bytes[at] = self.roll(256) as u8,
                // a word where words are
                2 | 3 => {
                    let at = (at & !3).min(bytes.len().saturating_sub(4));
                    let word = ODD[self.roll(ODD.len())].to_le_bytes();
                    let room = word.len().min(bytes.len() - at);
                    bytes[at..at + room].copy_from_slice(&word[..room]);
                }
                // headers are where damage tells
                4 => {
                    let at = self.roll(bytes.len().min(0x60));
                    bytes[at] = self.roll(256) as u8;
                }
                5 => bytes.truncate(at),
                6 => {
                    let piece = bytes[at..at + len].to_vec();
                    let to = self.roll(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
                _ => drop(bytes.drain(at..at + len)),
            }
        }
    }
}
