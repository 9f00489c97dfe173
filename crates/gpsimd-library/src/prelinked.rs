//! Split libraries as prelinking makes them, and whether a prelinked image is its library's.
//!
//! Unaware of manifests, records and of how it is shown.

use std::path::{Path, PathBuf};

use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Generation, Mode, PrelinkError, Prelinked, prelink};
use miette::Diagnostic;

/// A prelink that was refused, in the words of whoever knows the vendor's library, too.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{path}: {error}\n{verdict}", path = .path.display(), verdict = .error.verdict())]
#[diagnostic(forward(error))]
pub struct Refused {
    path: PathBuf,
    error: PrelinkError,
}

/// Prelinks a library, as it is or packed; with the vendor's log lines.
pub fn made(
    path: &Path,
    bytes: &[u8],
    generation: Generation,
    mode: Mode,
) -> Result<(Prelinked, Vec<String>), Refused> {
    // a packed library is an object file around the library
    let elf = gpsimd_image::unpack(bytes).unwrap_or(bytes);
    let mut log = Vec::new();
    match prelink(elf, &generation.bounds(), mode, &mut |line| log.push(line.to_owned())) {
        Ok(prelinked) => Ok((prelinked, log)),
        Err(error) => Err(Refused { path: path.to_owned(), error }),
    }
}

/// The image that a library prelinks to, if it does.
pub fn prelinks_to(bytes: &[u8], generation: Generation) -> Option<Vec<u8>> {
    made(Path::new(""), bytes, generation, Mode::Strict).ok().map(|(prelinked, _)| prelinked.image())
}

/// The generation that has code where an image's start symbol is; CAYMAN for what is no image.
pub fn home(bytes: &[u8]) -> Generation {
    let start = Header::parse(bytes).ok().map(|header| header.start);
    let is_home = |g: &Generation| start.is_some_and(|start| g.bounds().code.offset_of(start).is_some());
    [Generation::Cayman, Generation::Sunda].into_iter().find(is_home).unwrap_or(Generation::Cayman)
}

/// A prelinked image that is not its library's.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{path} is not what its library prelinks to: they differ from byte {at:#x} on", path = .path.display())]
#[diagnostic(
    code(library::ucpl_differs),
    help("build the library again; to run the image as it is, name it: run {} --lane ucpl", .path.display())
)]
pub struct Unfit {
    /// The prelinked image.
    path: PathBuf,
    /// The first byte that differs.
    at: usize,
}

/// Whether an image is not the one that its library prelinks to.
pub fn unfit(path: &Path, image: &[u8], made: &[u8]) -> Option<Unfit> {
    differs(image, made).map(|at| Unfit { path: path.to_owned(), at })
}

/// Where two files begin to differ.
pub fn differs(a: &[u8], b: &[u8]) -> Option<usize> {
    let common = a.iter().zip(b).position(|(a, b)| a != b);
    common.or_else(|| (a.len() != b.len()).then_some(a.len().min(b.len())))
}
