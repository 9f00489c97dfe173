//! What holds for every library: two regions give images that differ by the move only, and no damage makes the
//! prelinker panic or hand out an image that its own checker refuses.
#![allow(clippy::unwrap_used)]

mod support;

use gpsimd_loader::ucpl::Ucpl;
use gpsimd_loader::{Bounds, Mode, Prelinked, Region, fuzz};
use proptest::prelude::*;
use support::*;

/// What a relocation patches, and the link address it stands for.
#[derive(Debug, Clone)]
enum Patch {
    /// Word at this link address.
    Word(u32, u32),
    /// Pair of CONST16 at this link address.
    Pair(u32, u32),
}

/// A library of 0x300 bytes of code and 0x200 of data whose patches do not touch each other: words in 8-byte cells of
/// either segment, at any alignment in the cell, and instruction pairs in the upper half of the code.
fn library() -> impl Strategy<Value = (Lib, Vec<Patch>)> {
    let target = prop_oneof![CODE..CODE + 0x300, DATA - 0x400..DATA + 0x200];
    let word = (0..0x60u32, 0..4u32, target.clone(), any::<bool>());
    let pair = (0..0x40u32, target);
    (proptest::collection::vec(word, 0..40), proptest::collection::vec(pair, 0..40)).prop_map(
        |(words, pairs)| {
            let mut lib = Lib::small();
            lib.code = Seg::new(CODE, vec![0x20; 0x300], 5);
            lib.data = Seg::new(DATA, vec![0x20; 0x200], 7);
            let mut patches = Vec::new();
            let mut taken = std::collections::BTreeSet::new();
            for (cell, misalign, target, in_data) in words {
                let offset = 8 * if in_data { cell % 0x40 } else { cell % 0x20 };
                let site = if in_data { DATA } else { CODE } + offset + misalign;
                if taken.insert((in_data, offset)) {
                    let segment = if in_data { &mut lib.data } else { &mut lib.code };
                    segment.bytes[(offset + misalign) as usize..][..4].copy_from_slice(&target.to_le_bytes());
                    lib.rela.push((site, WORD, 0));
                    patches.push(Patch::Word(site, target));
                }
            }
            for (cell, target) in pairs {
                let offset = 0x100 + 8 * cell;
                if taken.insert((false, offset)) {
                    lib.code.bytes[offset as usize..][..6].copy_from_slice(&[0x24, 0, 0, 0x24, 0, 0]);
                    lib.rela.push((CODE + offset, HIGH, target));
                    lib.rela.push((CODE + offset + 3, LOW, target));
                    patches.push(Patch::Pair(CODE + offset, target));
                }
            }
            (lib, patches)
        },
    )
}

fn bounds() -> impl Strategy<Value = Bounds> {
    (0..0x4000u32, 0..0x4000u32).prop_map(|(code, data)| Bounds {
        code: Region { base: 0x1000_0000 + code * 0x80, size: 0x8000 },
        data: Region { base: 0x2000_0000 + data * 0x80, size: 0x2000 },
    })
}

/// Moves an image from one pair of regions to another, knowing nothing of ELF: every patched value is read, moved by
/// its segment's distance, and written back.
fn rebase(image: &mut Prelinked, patches: &[Patch], from: &Bounds, to: &Bounds) {
    let distance = |target: u32| match target + 0x400 >= DATA {
        true => to.data.base.wrapping_sub(from.data.base),
        false => to.code.base.wrapping_sub(from.code.base),
    };
    for patch in patches {
        let (&Patch::Word(site, target) | &Patch::Pair(site, target)) = patch;
        let segment = if site >= DATA { &mut image.data } else { &mut image.code };
        let bytes = &mut segment[(site & 0xffff) as usize..];
        match patch {
            Patch::Word(..) => {
                let word: &mut [u8; 4] = bytes.first_chunk_mut().unwrap();
                *word = u32::from_le_bytes(*word).wrapping_add(distance(target)).to_le_bytes();
            }
            Patch::Pair(..) => {
                let [_, b2, b3, _, b0, b1, ..] = bytes else { panic!("a pair has six bytes") };
                let value = u32::from_le_bytes([*b0, *b1, *b2, *b3]).wrapping_add(distance(target));
                [*b0, *b1, *b2, *b3] = value.to_le_bytes();
            }
        }
    }
    let code = to.code.base.wrapping_sub(from.code.base);
    image.header.start = image.header.start.wrapping_add(code);
}

proptest! {
    #[test]
    fn prelinking_elsewhere_is_rebasing((lib, patches) in library(), from in bounds(), to in bounds()) {
        let mut moved = run(&lib, &from, Mode::Strict).0.unwrap();
        rebase(&mut moved, &patches, &from, &to);
        let direct = run(&lib, &to, Mode::Strict).0.unwrap();
        prop_assert_eq!(moved.image(), direct.image());
        let image = direct.image();
        prop_assert_eq!(Ucpl::parse(&image).unwrap().check(&to), vec![]);
    }

    #[test]
    fn both_modes_agree_on_what_strict_accepts((lib, _) in library(), to in bounds()) {
        // code and data sizes are multiples of four here, so even the tails agree
        let strict = run(&lib, &to, Mode::Strict).0.unwrap();
        let compat = run(&lib, &to, Mode::Compat).0.unwrap();
        prop_assert_eq!(strict, compat);
    }
}

/// xorshift64*: enough randomness for damage, and the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// How many damaged inputs: a taste of them, or as many as `GPSIMD_SOAK` says.
fn rounds() -> usize {
    std::env::var("GPSIMD_SOAK")
        .map_or(20_000, |text| text.parse().expect("GPSIMD_SOAK is a number of inputs"))
}

const STATUSES: [u32; 9] = [1, 4, 5, 6, 7, 8, 12, 13, 0];

#[test]
fn damaged_libraries_are_refused_or_right() {
    let mut small = Lib::small();
    small.rela =
        vec![(CODE, HIGH, DATA + 4), (CODE + 3, LOW, DATA + 4), (DATA + 8, WORD, 0), (DATA + 13, WORD, 0)];
    small.dynamic = vec![(12, CODE), (13, CODE + 8)];
    small.data.bytes.fill(0);
    let mut bare = small.clone();
    bare.scratch = None;
    let seeds = [small.build(), bare.build(), reference().build()];
    let extremes =
        [0u32, 1, 2, 3, 4, 5, 7, 0x20, 0x7f, 0x80, 0xff, 0x2000, 0x8000, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    let mut random = Random(0x5eed);
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..rounds() {
        // The small ones are more often hit where it hurts.
        let mut bytes = seeds[random.below(8).saturating_sub(5)].clone();
        for _ in 0..=random.below(4) {
            let len = bytes.len();
            match random.below(8) {
                0 => bytes.truncate(random.below(len + 1)),
                1 => bytes[random.below(len)] = random.next() as u8,
                2 => bytes[random.below(len)] ^= 1 << random.below(8),
                // headers, and the dynamic part, which the small libraries have at 0x280
                kind => {
                    let field = if kind < 6 { random.below(0xb4) } else { 0x280 + random.below(0x80) } & !3;
                    let value = match random.below(3) {
                        0 => random.next() as u32,
                        1 => extremes[random.below(extremes.len())],
                        _ => (random.next() as u32) >> random.below(32),
                    };
                    if let Some(word) = bytes.get_mut(field..field + 4) {
                        word.copy_from_slice(&value.to_le_bytes());
                    }
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        fuzz::fuzz_prelink(&bytes);
        for mode in [Mode::Strict, Mode::Compat] {
            let status =
                run_bytes(&bytes, &Bounds::CAYMAN, mode).0.map_or_else(|error| error.status(), |_| 0);
            assert!(STATUSES.contains(&status), "status {status} is not listed");
            *seen.entry(status).or_insert(0u32) += 1;
        }
    }
    // The damage reaches every check, or the test would show little.
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [0, 1, 4, 5, 6, 7, 8, 12, 13], "{seen:?}");
}

#[test]
fn damaged_images_and_records_are_refused_or_read() {
    let image = run(&reference(), &Bounds::CAYMAN, Mode::Strict).0.unwrap().image();
    let records = [gpsimd_loader::record::Record::load(0x1000, 1, 0x73cc).encode(); 3].concat();
    let mut random = Random(0xdecade);
    for _ in 0..rounds() {
        let (mut image, mut records) =
            (image[..image.len() - random.below(2) * random.below(image.len())].to_vec(), records.clone());
        for bytes in [&mut image, &mut records] {
            let at = random.below(bytes.len().clamp(1, 64));
            if let Some(byte) = bytes.get_mut(at) {
                *byte = random.next() as u8;
            }
        }
        records.truncate(64 * random.below(4) + random.below(8) / 7);
        fuzz::fuzz_ucpl(&image);
        fuzz::fuzz_records(&records);
    }
}
