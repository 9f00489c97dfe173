//! A small reproducible random number generator (SplitMix64), so that a failing case can be named by its seed.

pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    /// 0..n
    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n)) as u32
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }
    /// Words that matter: zero, ones, limits, single bits, small numbers, and anything.
    pub fn word(&mut self) -> u32 {
        match self.below(8) {
            0 => self.pick(&[0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000, 0x8000_0001, 0xffff, 0x10000]),
            1 => 1 << self.below(32),
            2 => self.below(64),
            3 => (self.below(64) as i32).wrapping_neg() as u32,
            _ => self.next() as u32,
        }
    }
    /// Single-precision bits that matter: NaNs of both kinds, infinities, denormals, limits, nearby numbers, anything.
    pub fn float(&mut self) -> u32 {
        let sign = (self.below(2)) << 31;
        sign | match self.below(12) {
            0 => self.pick(&[0, 0x7f80_0000, 0x7f7f_ffff, 0x0080_0000, 0x007f_ffff, 1, 0x3f80_0000]),
            1 => 0x7fc0_0000 | self.below(1 << 22),
            2 => 0x7f80_0001 | self.below(1 << 22),
            3 | 4 => self.below(1 << 23),
            5 => 0x0080_0000 + self.below(1 << 25),
            6 => 0x7e80_0000 + self.below(0x0100_0000),
            7 => (127 + self.below(34)) << 23 | self.below(1 << 23),
            8 | 9 => (120 + self.below(14)) << 23 | self.below(1 << 23),
            10 => (64 + self.below(4)) << 23 | self.below(1 << 23),
            _ => self.next() as u32 & 0x7fff_ffff,
        }
    }
}
