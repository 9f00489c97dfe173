//! Every target has seeds, survives them, and survives a short storm.

use gpsimd_fuzz::TARGETS;

#[test]
fn every_parser_survives_its_seeds_and_a_short_storm() {
    for target in TARGETS {
        let seeds = target.seeds().unwrap_or_else(|error| panic!("{}: no seeds: {error}", target.name));
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for seed in &seeds {
            (target.run)(seed);
        }
        target.storm(&seeds, 7, 1500);
    }
}

/// A fuzz entry that is not in the table is never run.
#[test]
fn the_table_is_complete() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut missing = Vec::new();
    for package in std::fs::read_dir(crates).expect("crates").flatten() {
        let Ok(corpora) = std::fs::read_dir(package.path().join("corpus")) else { continue };
        for corpus in corpora.flatten() {
            let name =
                format!("{}/{}", package.file_name().to_string_lossy(), corpus.file_name().to_string_lossy());
            if !TARGETS.iter().any(|target| target.name == name) {
                missing.push(name);
            }
        }
    }
    assert!(missing.is_empty(), "not in gpsimd_fuzz::TARGETS: {missing:?}");
}
