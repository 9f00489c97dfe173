//! A directory as an archive: the same files give the same bytes, wherever and whenever.
//!
//! Unaware of what the files are. Nothing of the file system but names, contents and the executable bit goes in.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use liblzma::stream::{Check, Filters, LzmaOptions, Stream};
use liblzma::write::XzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::{BROUGHT, Exported};
use crate::error::IoContext as _;
use crate::open::{HASHED, MANIFEST};
use crate::{ToolchainError, tree};

/// Quick to make; the large dictionary finds what `cc1` and `cc1plus` have in common, which is most of both.
const PRESET: u32 = 2;
const DICTIONARY: u32 = 64 << 20;

/// Writes the archive and, beside it, its hash; the archive appears complete or not at all.
pub(super) fn pack(dir: &Path, file: &Path) -> Result<Exported, ToolchainError> {
    let absolute = std::path::absolute(file).context("cannot make absolute", file)?;
    let scratch = scratch_beside(&absolute)?;
    let (hash, bytes, unpacked) = written(dir, scratch.as_file())?;
    let sum = sum_file(&absolute);
    // an old hash must not stand beside a new archive
    match fs::remove_file(&sum) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).context("cannot remove", sum);
        }
        _ => {}
    }
    scratch.persist(&absolute).map_err(|error| error.error).context("cannot write", &absolute)?;
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    fs::write(&sum, format!("{hash}  {name}\n")).context("cannot write", sum)?;
    Ok(Exported { file: file.to_owned(), sha256: hash, bytes, unpacked })
}

/// What becomes the file once it is complete.
pub(super) fn scratch_beside(file: &Path) -> Result<tempfile::NamedTempFile, ToolchainError> {
    let beside = file.parent().unwrap_or(Path::new("/"));
    tempfile::Builder::new()
        .prefix(".export-")
        .permissions(fs::Permissions::from_mode(0o644))
        .tempfile_in(beside)
        .context("cannot create a file in", beside)
}

/// `FILE.sha256`, as `sha256sum --check` reads it.
pub(super) fn sum_file(archive: &Path) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(".sha256");
    PathBuf::from(name)
}

/// Hash and size of the archive, and the size of what is in it.
fn written(dir: &Path, to: &File) -> Result<(String, u64, u64), ToolchainError> {
    let encoder = encoder().map_err(io::Error::from).context("cannot pack", dir)?;
    let sink = Hashed { inner: BufWriter::new(to), hasher: Sha256::new(), bytes: 0 };
    let mut archive = Builder::new(XzEncoder::new_stream(sink, encoder));
    let unpacked = each(dir, |name, content, is_executable| {
        archive.append(&header(name, content.len() as u64, is_executable)?, content)
    })?;
    let mut sink = archive.into_inner().and_then(XzEncoder::finish).context("cannot pack", dir)?;
    sink.flush().context("cannot pack", dir)?;
    Ok((tree::hex(sink.hasher), sink.bytes, unpacked))
}

fn encoder() -> Result<Stream, liblzma::stream::Error> {
    let mut options = LzmaOptions::new_preset(PRESET)?;
    options.dict_size(DICTIONARY);
    Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc64)
}

/// Hands the name, the content and the executable bit of each file to `add`, and gives the size of all; an error says at which.
pub(super) fn each(
    dir: &Path,
    mut add: impl FnMut(&Path, &[u8], bool) -> io::Result<()>,
) -> Result<u64, ToolchainError> {
    let mut bytes = 0;
    for name in names(dir)? {
        let path = dir.join(&name);
        let content = fs::read(&path).context("cannot pack", &path)?;
        let mode = fs::metadata(&path).context("cannot pack", &path)?.permissions().mode();
        bytes += content.len() as u64;
        add(&name, &content, mode & 0o100 != 0).context("cannot pack", path)?;
    }
    Ok(bytes)
}

/// The manifest, then all others in the order of their bytes.
fn names(dir: &Path) -> Result<Vec<PathBuf>, ToolchainError> {
    let mut files = Vec::new();
    let parts = BROUGHT.iter().chain(HASHED).map(|part| dir.join(part));
    for part in parts.filter(|part| part.exists()) {
        tree::collect(&part, &mut files)?;
    }
    let mut names: Vec<PathBuf> =
        files.iter().map(|file| file.strip_prefix(dir).unwrap_or(file).to_owned()).collect();
    names.sort_unstable_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    names.insert(0, MANIFEST.into());
    Ok(names)
}

pub(super) fn header(name: &Path, len: u64, is_executable: bool) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_entry_type(EntryType::Regular);
    header.set_size(len);
    header.set_mode(if is_executable { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    Ok(header)
}

struct Hashed<W> {
    inner: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hasher.update(bytes.get(..n).unwrap_or_default());
        self.bytes += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
