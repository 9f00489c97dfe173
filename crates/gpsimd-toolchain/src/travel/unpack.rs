//! Reads an archive, judging every member before a byte of it is written.
//!
//! Unaware of where files go; the caller places them. An archive holds regular files below the known directories, each
//! once; whatever else a tar file can hold (links, devices, names with `..`, extensions) is refused, and what it can take
//! of memory and disk is bounded.

use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path, PathBuf};

use liblzma::bufread::XzDecoder;
use liblzma::stream::Stream;
use tar::{Archive, Entry, EntryType};

use super::BROUGHT;
use crate::ToolchainError;
use crate::open::{HASHED, MANIFEST, Manifest};

/// Five times of what an archive holds; a bound on what a wrong one can do to the disk.
const LIMIT: u64 = 512 << 20;
const MEMBERS: usize = 20_000;
const MANIFEST_LIMIT: u64 = 1 << 20;
/// Of the decoder; what is written needs 65 MiB.
const MEMORY: u64 = 96 << 20;

/// A file of the archive.
pub(crate) struct Member<'a> {
    /// Below the toolchain's directory.
    pub(crate) name: &'a Path,
    pub(crate) is_executable: bool,
    pub(crate) content: &'a mut dyn Read,
}

/// Hands every file but the manifest to `place`, and returns the manifest.
pub(crate) fn read(
    archive: &Path,
    bytes: impl Read,
    place: &mut dyn FnMut(Member<'_>) -> Result<(), ToolchainError>,
) -> Result<Manifest, ToolchainError> {
    let broken = |error: io::Error| unreadable(archive, error.to_string());
    let decoder = Stream::new_stream_decoder(MEMORY, 0).map_err(io::Error::from).map_err(broken)?;
    let mut stream = XzDecoder::new_stream(BufReader::with_capacity(1 << 16, bytes), decoder);
    let manifest = members(archive, &mut stream, place)?;
    // The stream's own checksum comes last, and so is read only now.
    let rest = io::copy(&mut (&mut stream).take(LIMIT), &mut io::sink()).map_err(broken)?;
    if rest == LIMIT || !stream.get_mut().fill_buf().map_err(broken)?.is_empty() {
        return Err(unreadable(archive, "there is more after its end".into()));
    }
    Ok(manifest)
}

fn members(
    archive: &Path,
    stream: &mut dyn Read,
    place: &mut dyn FnMut(Member<'_>) -> Result<(), ToolchainError>,
) -> Result<Manifest, ToolchainError> {
    let broken = |error: io::Error| unreadable(archive, error.to_string());
    let mut tar = Archive::new(stream);
    // Raw: long names and other extensions come as members of their own kind, and are refused as such.
    let mut entries = tar.entries().map_err(broken)?.raw(true);
    let manifest = match entries.next() {
        Some(entry) => manifest(archive, entry.map_err(broken)?)?,
        None => return Err(unreadable(archive, "it is empty".into())),
    };
    let mut left = LIMIT;
    let mut names = BTreeSet::new();
    for entry in entries {
        let mut entry = entry.map_err(broken)?;
        let shown = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let refused = |problem: String| ToolchainError::ArchiveRefused {
            archive: archive.to_owned(),
            member: shown.clone(),
            problem,
        };
        let kind = entry.header().entry_type();
        if kind != EntryType::Regular {
            return Err(refused(format!("it is no regular file but of kind {kind:?}")));
        }
        let name = name(&entry.path_bytes()).map_err(&refused)?;
        if names.contains(&name) {
            return Err(refused("it is there twice".into()));
        }
        if name.ancestors().skip(1).any(|above| names.contains(above)) {
            return Err(refused("it is below another file".into()));
        }
        if names.len() >= MEMBERS {
            return Err(refused(format!("the archive holds more than {MEMBERS} files")));
        }
        left = left
            .checked_sub(entry.size())
            .ok_or_else(|| refused(format!("with it, the archive holds more than {LIMIT} bytes")))?;
        let is_executable = entry.header().mode().map_err(broken)? & 0o100 != 0;
        place(Member { name: &name, is_executable, content: &mut entry })?;
        names.insert(name);
    }
    Ok(manifest)
}

fn manifest(archive: &Path, entry: Entry<'_, &mut dyn Read>) -> Result<Manifest, ToolchainError> {
    let is_it = &*entry.path_bytes() == MANIFEST.as_bytes()
        && entry.header().entry_type() == EntryType::Regular
        && entry.size() <= MANIFEST_LIMIT;
    if !is_it {
        return Err(unreadable(archive, format!("its first member is no {MANIFEST}")));
    }
    let mut text = Vec::new();
    entry
        .take(MANIFEST_LIMIT)
        .read_to_end(&mut text)
        .map_err(|error| unreadable(archive, error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| unreadable(archive, format!("{MANIFEST}: {error}")))
}

/// A name that stays where it should: below a known directory, written one way only.
fn name(bytes: &[u8]) -> Result<PathBuf, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "its name is no UTF-8".to_owned())?;
    let path = Path::new(text);
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => plain.push(part),
            _ => return Err("its name points out of the archive, or could".into()),
        }
    }
    if plain.as_os_str() != path.as_os_str() || text.contains('\0') {
        return Err("its name is not in its shortest form".into());
    }
    let top = plain.iter().next().and_then(|part| part.to_str()).unwrap_or_default();
    if !BROUGHT.iter().chain(HASHED).any(|known| *known == top) || plain.iter().count() < 2 {
        return Err("a toolchain has no such file".into());
    }
    Ok(plain)
}

fn unreadable(archive: &Path, problem: String) -> ToolchainError {
    ToolchainError::ArchiveUnreadable { archive: archive.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use liblzma::read::XzEncoder;
    use tar::{Builder, Header};

    const MANIFEST_TEXT: &str = r#"{"recipe": 1, "key": "0123456789ab", "versions": {"compiler": "c", "assembler": "a",
        "sysroot": "s"}, "sources": [], "compiler_headers": [], "tree": "t"}"#;

    type Row<'a> = (&'a str, EntryType, u64, &'a [u8]);

    /// The tar file of a manifest and these members, with the sizes that they claim.
    fn tar_of(members: &[Row<'_>]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        let first: Row<'_> =
            (MANIFEST, EntryType::Regular, MANIFEST_TEXT.len() as u64, MANIFEST_TEXT.as_bytes());
        for (name, kind, size, content) in [first].iter().chain(members) {
            let mut header = Header::new_ustar();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(*size);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn verdict(tar: &[u8]) -> String {
        let mut xz = Vec::new();
        XzEncoder::new(tar, 0).read_to_end(&mut xz).unwrap();
        let mut names = Vec::new();
        let read = read(Path::new("a"), xz.as_slice(), &mut |member| {
            names.push(member.name.display().to_string());
            Ok(())
        });
        match read {
            Ok(_) => names.join(" "),
            Err(ToolchainError::ArchiveRefused { problem, .. }) => format!("refused: {problem}"),
            Err(ToolchainError::ArchiveUnreadable { problem, .. }) => format!("unreadable: {problem}"),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn only_plain_files_of_a_toolchain() {
        use EntryType::{Block, Directory, GNULongName, Link, Regular, Symlink, XHeader};
        let file = |name| -> Vec<Row<'_>> { vec![(name, Regular, 1, b"x")] };
        let kind = |kind| -> Vec<Row<'_>> { vec![("lib/a", kind, 0, b"")] };
        let rows: Vec<(Vec<Row<'_>>, &str)> = vec![
            (vec![], ""),
            (file("lib/a"), "lib/a"),
            (file("lib/../a"), "refused: its name points out"),
            (file("../lib/a"), "refused: its name points out"),
            (file("/lib/a"), "refused: its name points out"),
            (file("./lib/a"), "refused: its name points out"),
            (file("lib//a"), "refused: its name is not in its shortest form"),
            (file("lib/a/"), "refused: its name is not in its shortest form"),
            (file("lib"), "refused: a toolchain has no such file"),
            (file("etc/passwd"), "refused: a toolchain has no such file"),
            (file(MANIFEST), "refused: a toolchain has no such file"),
            (kind(Symlink), "refused: it is no regular file"),
            (kind(Link), "refused: it is no regular file"),
            (kind(Block), "refused: it is no regular file"),
            (kind(Directory), "refused: it is no regular file"),
            (kind(GNULongName), "refused: it is no regular file"),
            (kind(XHeader), "refused: it is no regular file"),
            ([file("lib/a"), file("lib/a")].concat(), "refused: it is there twice"),
            ([file("lib/a"), file("lib/a/b")].concat(), "refused: it is below another file"),
            (vec![("lib/a", Regular, LIMIT + 1, b"")], "refused: with it, the archive holds more than"),
            (vec![("lib/a", Regular, u64::MAX / 2, b"")], "refused: with it, the archive holds more than"),
        ];
        for (members, want) in rows {
            let found = verdict(&tar_of(&members));
            assert!(found.starts_with(want) && found.is_empty() == want.is_empty(), "{members:?}: {found}");
        }
    }

    #[test]
    fn what_is_no_archive() {
        let whole = tar_of(&[("lib/a", EntryType::Regular, 1, b"x")]);
        for tar in [b"".as_slice(), b"no tar", &whole[..700], &whole[512..]] {
            let found = verdict(tar);
            assert!(found.starts_with("unreadable: "), "{} bytes: {found}", tar.len());
        }
    }
}
