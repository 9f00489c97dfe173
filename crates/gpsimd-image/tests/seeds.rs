//! The fuzz targets on their seeds, and on damaged seeds.

use std::path::Path;

use gpsimd_image::fuzz;
use proptest::prelude::*;

type Target = fn(&[u8]);

const TARGETS: [(&str, Target); 5] = [
    ("strip", fuzz::fuzz_strip),
    ("unpack", fuzz::fuzz_unpack),
    ("verify", fuzz::fuzz_verify),
    ("rebase", fuzz::fuzz_rebase),
    ("signatures", fuzz::fuzz_signatures),
];

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let files = std::fs::read_dir(dir).expect("a corpus");
    files.map(|file| std::fs::read(file.expect("a file").path()).expect("a seed")).collect()
}

#[test]
fn seeds_pass() {
    for (name, target) in TARGETS {
        let seeds = seeds(name);
        assert!(!seeds.is_empty(), "{name}");
        seeds.iter().for_each(|seed| target(seed));
    }
}

proptest! {
    #[test]
    fn damaged_seeds_pass(
        target in 0..TARGETS.len(),
        seed in any::<usize>(),
        changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..6),
        words in proptest::collection::vec((any::<usize>(), any::<u32>()), 0..3),
    ) {
        let (name, target) = TARGETS[target];
        let seeds = seeds(name);
        let mut bytes = seeds[seed % seeds.len()].clone();
        for (at, value) in changes {
            let at = at % bytes.len();
            bytes[at] = value;
        }
        for (at, word) in words {
            let at = at % (bytes.len() / 4) * 4;
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        target(&bytes);
    }
}
