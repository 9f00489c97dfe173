//! Whether files are what a manifest says: nothing that lies on a disk is believed.
//!
//! Unaware of what images must be like; that every byte is the one that was built is all that is judged here.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use miette::Diagnostic;

use crate::publish::file::FileEntry;
use crate::publish::manifest::Manifest;
use crate::words::digest::Digest;
use crate::words::disk;
use crate::words::error::EngineError;

/// The layout that this tool writes and reads.
const FORMAT: u32 = 1;

/// Why a text is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestFault {
    /// It does not read.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Of another version.
    #[error("its format is {found}, this tool reads {FORMAT}")]
    Format {
        /// As it says.
        found: u32,
    },
    /// It describes nothing.
    #[error("it lists no image")]
    Empty,
    /// A file elsewhere.
    #[error("{name:?} is not a plain file name")]
    Name {
        /// As it says.
        name: String,
    },
    /// One file for two purposes.
    #[error("it lists {name:?} twice")]
    Twice {
        /// As it says.
        name: String,
    },
    /// A link to somewhere else.
    #[error("{name:?} is a link out of its directory")]
    Outside {
        /// As it says.
        name: String,
    },
}

/// A file that is not what the manifest says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Diagnostic)]
pub enum Damage {
    /// The manifest itself.
    #[error("{file}: the manifest is not as it was written")]
    #[diagnostic(
        code(library::manifest_changed),
        help("build the library again, or take it from where it came from")
    )]
    Manifest {
        /// Its name.
        file: String,
    },
    /// A file is gone.
    #[error("{file}: it is not there")]
    #[diagnostic(code(library::file_missing), help("take all files that the manifest lists, or build again"))]
    Missing {
        /// Its name.
        file: String,
    },
    /// A file is shorter or longer.
    #[error("{file}: it has {found} bytes, the manifest says {expected}")]
    #[diagnostic(
        code(library::file_size),
        help("build the library again, or take it from where it came from")
    )]
    Size {
        /// Its name.
        file: String,
        /// Bytes.
        found: u64,
        /// As the manifest says.
        expected: u64,
    },
    /// A file has other content.
    #[error("{file}: its SHA-256 is {found}, the manifest says {expected}")]
    #[diagnostic(
        code(library::file_changed),
        help("build the library again, or take it from where it came from")
    )]
    Content {
        /// Its name.
        file: String,
        /// SHA-256.
        found: String,
        /// As the manifest says.
        expected: String,
    },
}

impl Manifest {
    /// Reads a manifest; the names in it are plain, each there once.
    ///
    /// # Errors
    /// [`ManifestFault`].
    pub fn parse(text: &[u8]) -> Result<Manifest, ManifestFault> {
        let manifest: Manifest = serde_json::from_slice(text)?;
        if manifest.format != FORMAT {
            return Err(ManifestFault::Format { found: manifest.format });
        }
        if manifest.entries().next().is_none() || manifest.ops.is_empty() {
            return Err(ManifestFault::Empty);
        }
        let mut seen = BTreeSet::new();
        for name in manifest.names().chain([manifest.name.as_str()]) {
            let mut parts = Path::new(name).components();
            let (first, second) = (parts.next(), parts.next());
            let is_plain = matches!(first, Some(Component::Normal(part)) if part == name) && second.is_none();
            if !is_plain || name.contains(char::is_control) {
                return Err(ManifestFault::Name { name: name.to_owned() });
            }
            if !seen.insert(name) {
                return Err(ManifestFault::Twice { name: name.to_owned() });
            }
        }
        Ok(manifest)
    }

    /// The file of that name in the manifest's directory. A link may lead to where builds keep their outputs, which is
    /// below it, but not out of it.
    ///
    /// # Errors
    /// [`ManifestFault::Outside`].
    pub fn locate(directory: &Path, name: &str) -> Result<PathBuf, ManifestFault> {
        let path = directory.join(name);
        let within = || Some(path.canonicalize().ok()?.starts_with(directory.canonicalize().ok()?));
        // a file that is missing is nowhere
        if within() == Some(false) {
            return Err(ManifestFault::Outside { name: name.to_owned() });
        }
        Ok(path)
    }

    /// What of a library is not as it was built; `text` is the manifest's own, `directory` where it lies.
    ///
    /// # Errors
    /// [`EngineError::Io`] for files that cannot be read; those that are missing are damage.
    pub fn damage(&self, text: &[u8], directory: &Path) -> Result<Vec<Damage>, EngineError> {
        let mut found = Vec::new();
        let is_sealed = self.seal.is_empty() || self.sealed()?.seal == self.seal;
        if self.text()? != text || !is_sealed {
            found.push(Damage::Manifest { file: self.file_name() });
        }
        for entry in self.entries() {
            found.extend(entry.damage(directory)?);
        }
        Ok(found)
    }

    /// As it is written.
    pub(crate) fn text(&self) -> Result<Vec<u8>, EngineError> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|error| EngineError::io("cannot write", self.file_name())(error.into()))?;
        text.push(b'\n');
        Ok(text)
    }

    /// With the seal that its content has.
    pub(crate) fn sealed(&self) -> Result<Manifest, EngineError> {
        let bare = Manifest { seal: String::new(), ..self.clone() };
        Ok(Manifest { seal: Digest::of(&bare.text()?).to_string(), ..bare })
    }
}

impl FileEntry {
    /// Whether the file is not the one that was built.
    ///
    /// # Errors
    /// [`EngineError::Io`] for a file that cannot be read; one that is missing is damage.
    pub fn damage(&self, directory: &Path) -> Result<Option<Damage>, EngineError> {
        let path = directory.join(&self.file);
        let file = self.file.clone();
        let size = match std::fs::metadata(&path) {
            Ok(found) => found.len(),
            Err(error) if disk::is_absence(&error) => return Ok(Some(Damage::Missing { file })),
            Err(error) => return Err(EngineError::io("cannot read", path)(error)),
        };
        if size != self.size {
            return Ok(Some(Damage::Size { file, found: size, expected: self.size }));
        }
        let found = Digest::of(&disk::read(&path)?).to_string();
        let expected = self.sha256.clone();
        Ok((found != expected).then_some(Damage::Content { file, found, expected }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::file::FileKind;
    use crate::publish::manifest::{ImageEntry, OpEntry, Versions};

    fn manifest(files: &[(&str, &[u8])]) -> Manifest {
        let entry = |(file, bytes): &(&str, &[u8])| FileEntry {
            kind: FileKind::Linked,
            file: (*file).to_owned(),
            size: bytes.len() as u64,
            sha256: Digest::of(bytes).to_string(),
        };
        let op = OpEntry {
            kernel: "k".into(),
            schema: "my::k(Tensor a) -> Tensor".into(),
            opcode: 133,
            sub_opcode: 0,
        };
        let files = files.iter().map(entry).collect();
        let image = ImageEntry { cpu_id: 0, window_base: 0, window_len: 0, files };
        let bare = Manifest {
            format: 1,
            name: "k".to_owned(),
            total_cpus: 1,
            ops: vec![op],
            images: vec![image],
            shapes: None,
            split: None,
            versions: Versions::of("a compiler".to_owned(), "an SDK"),
            seal: String::new(),
        };
        bare.sealed().expect("text")
    }

    #[test]
    fn names_lead_nowhere_else() {
        let refused = [
            (vec![], "it lists no image"),
            (vec!["../k.so"], "\"../k.so\" is not a plain file name"),
            (vec![".."], "\"..\" is not a plain file name"),
            (vec!["."], "\".\" is not a plain file name"),
            (vec!["/etc/passwd"], "\"/etc/passwd\" is not a plain file name"),
            (vec!["a/"], "\"a/\" is not a plain file name"),
            (vec![""], "\"\" is not a plain file name"),
            (vec!["a\u{1b}"], "\"a\\u{1b}\" is not a plain file name"),
            (vec!["a", "a"], "it lists \"a\" twice"),
        ];
        for (names, want) in refused {
            let files: Vec<(&str, &[u8])> = names.iter().map(|name| (*name, &b"x"[..])).collect();
            let text = manifest(&files).text().expect("text");
            let fault = Manifest::parse(&text).expect_err(want);
            assert_eq!(fault.to_string(), want);
        }
        let scratch = tempfile::tempdir().expect("scratch directory");
        let out = scratch.path().join("out");
        std::fs::create_dir(&out).expect("made");
        std::fs::write(scratch.path().join("secret"), "x").expect("written");
        std::os::unix::fs::symlink("../secret", out.join("k.so")).expect("linked");
        let fault = Manifest::locate(&out, "k.so").expect_err("a link out");
        assert_eq!(fault.to_string(), "\"k.so\" is a link out of its directory");
    }

    #[test]
    fn every_changed_byte_is_found() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let content = b"\x7fELF and so on";
        std::fs::write(scratch.path().join("k.so"), content).expect("written");
        let text = manifest(&[("k.so", content)]).text().expect("text");
        let judge = |text: &[u8]| match Manifest::parse(text) {
            Ok(manifest) => manifest.damage(text, scratch.path()).expect("readable").is_empty(),
            Err(_) => false,
        };
        assert!(judge(&text));
        for index in 0..text.len() {
            for bit in [1, 0x20, 0x80] {
                let mut changed = text.clone();
                changed[index] ^= bit;
                assert!(!judge(&changed), "byte {index} ^ {bit:#x}: {}", String::from_utf8_lossy(&changed));
            }
        }
        for index in 0..content.len() {
            let mut changed = content.to_vec();
            changed[index] ^= 1;
            std::fs::write(scratch.path().join("k.so"), changed).expect("written");
            assert!(!judge(&text), "byte {index} of the image");
        }
        std::fs::write(scratch.path().join("k.so"), &content[1..]).expect("written");
        assert!(!judge(&text), "shorter");
        std::fs::remove_file(scratch.path().join("k.so")).expect("removed");
        assert!(!judge(&text), "gone");
    }
}
