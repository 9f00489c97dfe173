//! Whether files of this lane belong together: an image to its library, records to an image.
//!
//! Unaware of how the files were read.

use std::path::{Path, PathBuf};

use gpsimd_library::prelinked::{differs, unfit};
use gpsimd_loader::record::{ALL_CORES, Direction, Record};
use miette::Diagnostic;

use super::{Fault, Inspection, What};

/// Where `run` stages an image.
const STAGED: u64 = 0x10_0000_0000;

/// A file that does not belong to those beside it.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum Unfit {
    /// A record that does not load or unload the image beside it.
    #[error("{path}: record {index} is not the image's: byte {at:#x} is {found:#04x}, not {wanted:#04x}", path = .path.display())]
    #[diagnostic(
        code(library::record_differs),
        help(
            "write it again with `records`; for another place or index, tell `verify` by --addr and --index"
        )
    )]
    Record {
        /// The records.
        path: PathBuf,
        /// Which of them.
        index: usize,
        /// The first byte that differs.
        at: usize,
        /// Its value.
        found: u8,
        /// What it should be.
        wanted: u8,
    },
}

/// What records are held against.
#[derive(Debug, Clone, Copy, Default)]
pub struct Expected {
    /// Cores of the library, if that is known.
    pub total_cpus: Option<u8>,
    /// Where the image is staged, if not where `run` stages it.
    pub addr: Option<u64>,
    /// Which library it is.
    pub index: u32,
}

/// Holds what was looked into against each other: images against what libraries of the same name prelink to, records against
/// those that load the only image. Adds what does not fit to the faults; says whether the records had an image to be held
/// against.
pub fn compare(files: &mut [(PathBuf, Inspection)], expected: Expected) -> bool {
    let libraries: Vec<(PathBuf, Vec<u8>)> = files
        .iter()
        .filter_map(|(path, file)| match &file.what {
            What::Library(image) => Some((stem(path)?, image.clone())),
            _ => None,
        })
        .collect();
    let mut images: Vec<Vec<u8>> = Vec::new();
    for (path, file) in files.iter_mut() {
        let What::Image(image) = &file.what else { continue };
        images.push(image.clone());
        for (_, made) in libraries.iter().filter(|(name, _)| stem(path).as_ref() == Some(name)) {
            file.faults.extend(unfit(path, image, made).map(|unfit| Fault::of(&unfit)));
        }
    }
    images.dedup();
    let [image] = images.as_slice() else { return false };
    for (path, file) in files.iter_mut() {
        let What::Records(records) = &file.what else { continue };
        for (index, record) in records.iter().enumerate() {
            let (found, wanted) = (record.encode(), expected.record(record, image).encode());
            if let Some(at) = differs(&found, &wanted) {
                let unfit =
                    Unfit::Record { path: path.clone(), index, at, found: found[at], wanted: wanted[at] };
                file.faults.push(Fault::of(&unfit));
            }
        }
    }
    true
}

/// The library's name, from that of a file of it.
fn stem(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let endings = [".split.packed.so", ".split.so", ".ucpl"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).map(|stem| path.with_file_name(stem))
}

impl Expected {
    /// The record that loads or unloads this image.
    fn record(&self, record: &Record, image: &[u8]) -> Record {
        let core_mask = match self.total_cpus {
            Some(1) => 1,
            Some(_) => ALL_CORES,
            None => record.core_mask,
        };
        let size = u32::try_from(image.len()).unwrap_or(u32::MAX);
        let made = match record.direction {
            Direction::Load => Record::load(self.addr.unwrap_or(STAGED), self.index, size),
            Direction::Unload => Record::unload(self.index),
        };
        made.on_cores(core_mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loadable::FileDocument;

    #[test]
    fn records_belong_to_an_image() {
        let image = What::Image(vec![0; 0x120]);
        let inspection = |what| Inspection {
            text: String::new(),
            document: FileDocument::Unreadable { file: PathBuf::new(), findings: Vec::new() },
            faults: Vec::new(),
            what,
        };
        let load = Record::load(STAGED, 0, 0x120);
        let rows = [
            (load.on_cores(1), Some(1), None, None),
            (load, Some(8), None, None),
            (load.on_cores(1), None, None, None),
            (load, Some(1), None, Some("byte 0xd is 0xff, not 0x01")),
            (Record::load(STAGED, 0, 0x124), None, None, Some("byte 0x1c is 0x24, not 0x20")),
            (Record::load(STAGED, 1, 0x120), None, None, Some("byte 0x18 is 0x01, not 0x00")),
            (Record::load(STAGED << 1, 0, 0x120), None, None, Some("byte 0x14 is 0x20, not 0x10")),
            (Record::load(STAGED << 1, 0, 0x120), None, Some(STAGED << 1), None),
            (Record { debug: [1, 0], ..load }, None, None, Some("byte 0x2 is 0x01, not 0x00")),
            (Record::unload(0), Some(8), None, None),
            (Record::unload(2), Some(8), None, Some("byte 0x18 is 0x02, not 0x00")),
        ];
        let mut files = vec![(PathBuf::from("x.ucpl"), inspection(image))];
        for (record, cpus, addr, want) in rows {
            files.truncate(1);
            files.push((PathBuf::from("load.bin"), inspection(What::Records(vec![record]))));
            assert!(compare(&mut files, Expected { total_cpus: cpus, addr, index: 0 }));
            let fault = files[1].1.faults.first().map(|fault| fault.message.as_str()).unwrap_or_default();
            assert!(
                fault.ends_with(want.unwrap_or_default()) && fault.is_empty() == want.is_none(),
                "{record:?}: {fault}"
            );
        }
    }

    #[test]
    fn files_differ_from_a_byte_on() {
        assert_eq!(differs(b"abc", b"abc"), None);
        assert_eq!(differs(b"abc", b"abd"), Some(2));
        assert_eq!(differs(b"abc", b"ab"), Some(2));
    }
}
