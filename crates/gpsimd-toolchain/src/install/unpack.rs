//! Takes the wanted files out of the source archives; the rest, nine tenths of them, never touches the disk.
//!
//! Unaware of what the files are for. An archive member can only land below its own directory: names with `..`, absolute
//! names, links and devices are refused or left out.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use liblzma::read::XzDecoder;
use tar::{Archive, EntryType};

use super::Step;
use super::workshop::{Workshop, create_dir};
use crate::ToolchainError;
use crate::error::IoContext as _;

/// More than any of the three takes unpacked; a bound on what a wrong archive can do to the disk.
const LIMIT: u64 = 512 << 20;

const LIBC_DIRS: &[&str] = &[
    "include", "string", "ctype", "stdlib", "stdio", "search", "locale", "reent", "time", "errno", "signal",
    "misc",
];
const LIBM_DIRS: &[&str] = &["math", "common", "complex", "fenv"];

pub(super) fn binutils(workshop: &Workshop, archive: &Path) -> Result<(), ToolchainError> {
    unpack(workshop, Step::BinutilsSource, archive, "binutils", &|name| {
        matches!(name, "bfd/xtensa-modules.c" | "include/ansidecl.h")
            || name.strip_prefix("include/xtensa-").is_some_and(|rest| rest.ends_with(".h"))
    })
}

pub(super) fn newlib(workshop: &Workshop, archive: &Path) -> Result<(), ToolchainError> {
    let is_in = |name: &str, dirs: &[&str]| name.split('/').next().is_some_and(|dir| dirs.contains(&dir));
    unpack(workshop, Step::NewlibSource, archive, "newlib", &|name| {
        name == "COPYING.NEWLIB"
            || name.strip_prefix("newlib/libc/").is_some_and(|rest| is_in(rest, LIBC_DIRS))
            || name.strip_prefix("newlib/libm/").is_some_and(|rest| is_in(rest, LIBM_DIRS))
    })
}

pub(super) fn gcc(workshop: &Workshop, archive: &Path) -> Result<(), ToolchainError> {
    unpack(workshop, Step::GccSource, archive, "gcc", &|name| {
        let is_cxx = |rest: &str| {
            ["include/", "libsupc++/", "src/c++98/", "src/c++11/", "src/shared/", "config/"]
                .iter()
                .any(|dir| rest.starts_with(dir))
        };
        matches!(name, "include/longlong.h" | "gcc/DATESTAMP" | "COPYING.RUNTIME" | "COPYING3")
            || name
                .strip_prefix("libgcc/")
                .is_some_and(|rest| !rest.contains('/') || rest.starts_with("config/xtensa/"))
            || name.strip_prefix("libstdc++-v3/").is_some_and(is_cxx)
    })
}

/// Unpacks the members that `is_wanted` (name without the archive's top directory) into `.src/<dir>`.
fn unpack(
    workshop: &Workshop,
    step: Step,
    archive: &Path,
    dir: &str,
    is_wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<(), ToolchainError> {
    let file = File::open(archive).context("cannot open", archive)?;
    let total = file.metadata().context("cannot look at", archive)?.len();
    workshop.progress(step, 0, total);
    let read = Cell::new(0);
    let counted = Counted { inner: file, read: &read };
    let mut told = 0;
    extract(
        archive,
        XzDecoder::new(BufReader::with_capacity(1 << 16, counted)),
        &workshop.source(dir),
        is_wanted,
        &mut || {
            if read.get() - told > total / 100 {
                told = read.get();
                workshop.progress(step, told, total);
            }
        },
    )?;
    workshop.progress(step, total, total);
    Ok(())
}

/// The part that does not care where the bytes come from. `tick` runs once a member.
pub(crate) fn extract(
    archive: &Path,
    bytes: impl Read,
    dir: &Path,
    is_wanted: &dyn Fn(&str) -> bool,
    tick: &mut dyn FnMut(),
) -> Result<(), ToolchainError> {
    let bad = |problem: String| ToolchainError::BadArchive { archive: archive.to_owned(), problem };
    let broken = |error: io::Error| bad(format!("cannot be read: {error}"));
    let mut left = LIMIT;
    let mut members = Archive::new(bytes);
    for member in members.entries().map_err(broken)? {
        tick();
        let mut member = member.map_err(broken)?;
        let path = member.path().map_err(broken)?.into_owned();
        let Some(name) = inner_name(&path).map_err(bad)? else { continue };
        let is_file = matches!(member.header().entry_type(), EntryType::Regular | EntryType::Continuous);
        if !is_file || !name.to_str().is_some_and(is_wanted) {
            continue;
        }
        left = left
            .checked_sub(member.size())
            .ok_or_else(|| bad(format!("the wanted members hold more than {LIMIT} bytes")))?;
        let to = dir.join(&name);
        if let Some(parent) = to.parent() {
            create_dir(parent)?;
        }
        let mut file = File::create(&to).context("cannot create", &to)?;
        // Only the file system's errors carry an errno; the decoders make up theirs.
        io::copy(&mut member, &mut file).map_err(|error| match error.raw_os_error() {
            Some(_) => ToolchainError::Io { action: "cannot write", path: to.clone(), source: error },
            None => broken(error),
        })?;
    }
    Ok(())
}

/// A member's name without the top directory; nothing for the top directory itself; an error for a name that points
/// out of the archive.
fn inner_name(path: &Path) -> Result<Option<PathBuf>, String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => parts.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(format!("member {path:?} points out of the archive"));
            }
        }
    }
    let name: PathBuf = parts.into_iter().skip(1).collect();
    Ok(Some(name).filter(|name| !name.as_os_str().is_empty()))
}

struct Counted<'a> {
    inner: File,
    read: &'a Cell<u64>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.set(self.read.get() + n as u64);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, Header};

    fn archive(members: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, kind, content) in members {
            let mut header = Header::new_gnu();
            // By hand: the crate's own setter would refuse the names this is about.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Result<Vec<String>, ToolchainError> {
        let dir = tempfile::tempdir().unwrap();
        extract(Path::new("x.tar"), bytes, dir.path(), &|name| name != "doc/no", &mut || {})?;
        let mut files = Vec::new();
        crate::tree::collect(dir.path(), &mut files)?;
        files.sort();
        Ok(files.iter().map(|f| f.strip_prefix(dir.path()).unwrap().display().to_string()).collect())
    }

    #[test]
    fn wanted_files_lose_the_top_directory() {
        let bytes = archive(&[
            ("top/", EntryType::Directory, b""),
            ("top/a.c", EntryType::Regular, b"a"),
            ("./top/sub/b.c", EntryType::Regular, b"b"),
            ("top/doc/no", EntryType::Regular, b"c"),
            ("top/link", EntryType::Symlink, b""),
            ("top/pipe", EntryType::Fifo, b""),
        ]);
        assert_eq!(unpacked(&bytes).unwrap(), ["a.c", "sub/b.c"]);
    }

    #[test]
    fn nothing_lands_outside() {
        for name in ["top/../../x", "/etc/x", "../x", "top/sub/../../../x"] {
            let error = unpacked(&archive(&[(name, EntryType::Regular, b"x")])).unwrap_err();
            assert!(error.to_string().contains("points out of the archive"), "{name}: {error}");
        }
    }

    #[test]
    fn broken_archives_are_errors() {
        let whole = archive(&[("top/a.c", EntryType::Regular, &[7; 2000])]);
        for bytes in [&whole[..600], &whole[..100], b"not a tar archive".as_slice()] {
            assert!(
                matches!(unpacked(bytes), Err(ToolchainError::BadArchive { .. })),
                "{} bytes",
                bytes.len()
            );
        }
    }
}
