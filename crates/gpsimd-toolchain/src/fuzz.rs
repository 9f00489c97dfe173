//! Entry points for fuzzing: one function per parser of outside bytes.

use std::io::Read as _;
use std::path::Path;

use crate::{depfile, install};

/// Reads any bytes as a dependency file; what is accepted has no NUL and only inputs of a name.
pub fn fuzz_depfile(data: &[u8]) {
    if let Ok(depfile) = depfile::parse(data) {
        assert!(!depfile.target.as_os_str().is_empty());
        assert!(depfile.inputs.iter().all(|input| !input.as_os_str().is_empty()));
        assert!(depfile.inputs.len() <= data.len());
    }
}

/// Reads any bytes as a source archive, wanting nothing of it: all names are judged, nothing is written.
pub fn fuzz_archive(data: &[u8]) {
    let nowhere = Path::new("/nonexistent");
    let result = install::unpack::extract(Path::new("archive"), data, nowhere, &|_| false, &mut || {});
    assert!(!matches!(result, Err(crate::ToolchainError::Io { .. })));
}

/// Reads any bytes as an exported toolchain, as they are and as what an xz stream holds; nothing is written.
pub fn fuzz_travelling(data: &[u8]) {
    let run = |bytes: &[u8]| {
        let mut seen = std::collections::BTreeSet::new();
        let read = crate::travel::read(Path::new("archive"), bytes, &mut |member| {
            assert!(member.name.is_relative() && member.name.iter().all(|part| part != ".." && part != "."));
            assert!(seen.insert(member.name.to_owned()));
            std::io::copy(&mut member.content.take(1 << 16), &mut std::io::sink()).map(drop).ok();
            Ok(())
        });
        if let Err(error) = read {
            use crate::ToolchainError::{ArchiveRefused, ArchiveUnreadable};
            assert!(matches!(error, ArchiveRefused { .. } | ArchiveUnreadable { .. }), "{error}");
        }
    };
    run(data);
    let mut xz = Vec::new();
    if liblzma::read::XzEncoder::new(data, 0).read_to_end(&mut xz).is_ok() {
        run(&xz);
    }
}

#[cfg(test)]
mod tests {
    /// Names and bytes of a target's seeds.
    fn seeds(target: &str) -> impl Iterator<Item = (String, Vec<u8>)> {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        std::fs::read_dir(dir).unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())
        })
    }

    #[test]
    fn archive_seeds_run() {
        for (_, bytes) in seeds("archive") {
            // Whole, cut at every block and with every byte of the first header changed.
            super::fuzz_archive(&bytes);
            (0..bytes.len()).step_by(512).for_each(|len| super::fuzz_archive(&bytes[..len]));
            for i in 0..bytes.len().min(512) {
                let mut changed = bytes.clone();
                changed[i] ^= 0xff;
                super::fuzz_archive(&changed);
            }
        }
    }

    #[test]
    fn travelling_seeds_run() {
        for (_, bytes) in seeds("travelling") {
            super::fuzz_travelling(&bytes);
            (0..bytes.len()).step_by(97).for_each(|len| super::fuzz_travelling(&bytes[..len]));
        }
    }

    /// Every seed is worth its place: some are accepted, some refused, none panics.
    #[test]
    fn seeds_run() {
        let mut accepted = Vec::new();
        for (name, bytes) in seeds("depfile") {
            super::fuzz_depfile(&bytes);
            if crate::depfile::parse(&bytes).is_ok() {
                accepted.push(name);
            }
        }
        accepted.sort();
        assert_eq!(accepted, ["crlf", "cut-short", "quoting"]);
    }
}
