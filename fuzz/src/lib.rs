//! Every parser of outside bytes in one table, with its seeds; a mutation storm over them on stable Rust.
//!
//! `libfuzzer/` drives the same table with coverage guidance. Unaware of what the parsers do: they must return,
//! and must not panic.

use std::path::{Path, PathBuf};

/// A parser under test.
#[derive(Clone, Copy)]
pub struct Target {
    /// `crate/name`; seeds are in `crates/<crate>/corpus/<name>`.
    pub name: &'static str,
    /// Feeds it one input.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "gpsimd-schema/schema", run: gpsimd_schema::fuzz::fuzz_schema },
    Target { name: "gpsimd-lsp/xmm", run: gpsimd_lsp::fuzz::fuzz_xmm },
    Target { name: "gpsimd-toolchain/depfile", run: gpsimd_toolchain::fuzz::fuzz_depfile },
    Target { name: "gpsimd-toolchain/archive", run: gpsimd_toolchain::fuzz::fuzz_archive },
    Target { name: "gpsimd-toolchain/travelling", run: gpsimd_toolchain::fuzz::fuzz_travelling },
    Target { name: "gpsimd-image/strip", run: gpsimd_image::fuzz::fuzz_strip },
    Target { name: "gpsimd-image/unpack", run: gpsimd_image::fuzz::fuzz_unpack },
    Target { name: "gpsimd-image/verify", run: gpsimd_image::fuzz::fuzz_verify },
    Target { name: "gpsimd-image/rebase", run: gpsimd_image::fuzz::fuzz_rebase },
    Target { name: "gpsimd-image/signatures", run: gpsimd_image::fuzz::fuzz_signatures },
    Target { name: "gpsimd-loader/prelink", run: gpsimd_loader::fuzz::fuzz_prelink },
    Target { name: "gpsimd-loader/ucpl", run: gpsimd_loader::fuzz::fuzz_ucpl },
    Target { name: "gpsimd-loader/records", run: gpsimd_loader::fuzz::fuzz_records },
    Target { name: "gpsimd-loader/split", run: gpsimd_loader::fuzz::fuzz_split },
    Target { name: "gpsimd-shapes/image", run: gpsimd_shapes::fuzz::fuzz_image },
    Target { name: "gpsimd-device/chain", run: gpsimd_device::fuzz::fuzz_chain },
    Target { name: "gpsimd-device/image", run: gpsimd_device::fuzz::fuzz_image },
    Target { name: "gpsimd-debug/dap", run: gpsimd_debug::fuzz::fuzz_dap },
    Target { name: "gpsimd-variables/program", run: gpsimd_variables::fuzz::fuzz_program },
    Target { name: "gpsimd-variables/expression", run: gpsimd_variables::fuzz::fuzz_expression },
    Target { name: "xtensa-iss/decode", run: xtensa_iss::fuzz::fuzz_decode },
    Target { name: "xtensa-iss/run", run: xtensa_iss::fuzz::fuzz_run },
];

impl Target {
    /// Directory of its seeds.
    pub fn corpus(&self) -> PathBuf {
        let (package, name) = self.name.split_once('/').unwrap_or((self.name, ""));
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(package).join("corpus").join(name)
    }

    /// Its seeds, sorted by file name.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn seeds(&self) -> std::io::Result<Vec<Vec<u8>>> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(self.corpus())?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        paths.sort();
        paths.into_iter().map(std::fs::read).collect()
    }

    /// Feeds `count` mutations of the seeds. The same `start` gives the same inputs.
    pub fn storm(&self, seeds: &[Vec<u8>], start: u64, count: u64) {
        let mut random = Random(start);
        for _ in 0..count {
            let input = mutated(seeds, &mut random);
            (self.run)(&input);
        }
    }
}

/// A seed with a few faults: flipped bits, extreme words, cuts, copies, splices.
fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = random.pick(seeds).cloned().unwrap_or_default();
    for _ in 0..=random.below(4) {
        let length = input.len();
        let at = random.below(length.max(1));
        match random.below(8) {
            0 if length > 0 => input[at] ^= 1 << random.below(8),
            1 if length > 0 => input[at] = random.next() as u8,
            2 if at + 4 <= length => {
                const WORDS: [u32; 8] =
                    [0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0xffff_fff0, 0x1_0000, 0x8400_0000];
                let word = WORDS[random.below(WORDS.len())];
                input[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            3 => input.truncate(at),
            4 => {
                let end = at + random.below(length - at.min(length) + 1);
                input.drain(at.min(length)..end.min(length));
            }
            5 => {
                let end = (at + random.below(64)).min(length);
                let piece = input[at.min(length)..end].to_vec();
                let to = random.below(length.max(1)).min(length);
                input.splice(to..to, piece);
            }
            6 => {
                if let Some(other) = random.pick(seeds) {
                    let from = random.below(other.len().max(1)).min(other.len());
                    let end = (from + random.below(256)).min(other.len());
                    let at = at.min(length);
                    input.splice(at..at, other[from..end].iter().copied());
                }
            }
            _ => input.insert(at.min(length), random.next() as u8),
        }
        input.truncate(1 << 20);
    }
    input
}

/// SplitMix64: small, seedable, good enough to wander.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.next() % bound as u64) as usize }
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let index = self.below(from.len());
        from.get(index)
    }
}
