//! A toolchain that travels as a package for pip: the same files, which pip puts below a prefix's `share/gpsimd-build`, where
//! the program in that prefix's `bin` finds them ([`crate::Home`]).
//!
//! Unaware of indexes. Equal toolchains give equal packages, bit by bit; there is no code of Python in one.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, URL_SAFE_NO_PAD};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::export::{More, staged};
use super::{Exported, pack};
use crate::error::IoContext as _;
use crate::home::SHARED;
use crate::open::{self, Manifest};
use crate::{Machine, OpenToolchain, ToolchainError, tree};

/// As names of files have it.
const NAME: &str = "gpsimd_build_toolchain";
/// Its programs bring their loader and C library, so it is for machines with an old one, and for those with another.
const TAGS: [&str; 3] = ["manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"];
const COMPRESSION: i64 = 6;
/// How hashes of wheels are written.
const HASHES: GeneralPurpose = URL_SAFE_NO_PAD;

/// Writes `toolchain` as a wheel of its own name to `directory`; otherwise as [`super::export`].
pub fn wheel<E: From<ToolchainError>>(
    machine: &Machine,
    toolchain: &OpenToolchain,
    more: More<'_, E>,
    directory: &Path,
) -> Result<Exported, E> {
    staged(machine, toolchain, more, directory, |stage| {
        let manifest = open::read_manifest(stage)?;
        let package = Package::of(&manifest);
        let file = directory.join(package.file_name());
        let scratch = pack::scratch_beside(&file)?;
        let unpacked = package.write(stage, scratch.as_file())?;
        let content = File::open(scratch.path()).context("cannot open", scratch.path())?;
        let bytes = content.metadata().context("cannot look at", scratch.path())?.len();
        let sha256 = tree::hash_of(content).context("cannot read", scratch.path())?;
        scratch.persist(&file).map_err(|error| error.error).context("cannot write", &file)?;
        Ok(Exported { file, sha256, bytes, unpacked })
    })
}

/// What a wheel is called, inside and out.
struct Package {
    version: String,
    /// Of the toolchain below a directory of toolchains.
    directory: String,
}

impl Package {
    /// The version is this program's; what follows the `+` tells the toolchains of one program apart.
    fn of(manifest: &Manifest) -> Package {
        let compiler = manifest.versions.compiler.rsplit(' ').next().unwrap_or_default();
        let directory = open::travelling_name(manifest);
        let content = directory.rsplit('-').next().unwrap_or_default();
        // a part of digits only would be read as a number
        let version = format!("{}+gcc{compiler}.h{content}", env!("CARGO_PKG_VERSION"));
        Package { version, directory }
    }

    fn file_name(&self) -> String {
        format!("{NAME}-{}-py3-none-{}.whl", self.version, TAGS.join("."))
    }

    /// Gives the size of what is in it.
    fn write(&self, stage: &Path, to: &File) -> Result<u64, ToolchainError> {
        let mut wheel = Writer { zip: ZipWriter::new(BufWriter::new(to)), record: String::new(), bytes: 0 };
        let data = format!("{NAME}-{}.data/data/{SHARED}/{}", self.version, self.directory);
        pack::each(stage, |name, content, is_executable| {
            wheel.add(&format!("{data}/{}", name.display()), content, is_executable)
        })?;
        let sources = fs::read_to_string(stage.join("licenses/SOURCES")).context("cannot pack", stage)?;
        self.describe(wheel, &sources).context("cannot pack", stage)
    }

    /// Adds what is not of the toolchain, and gives the size of all.
    fn describe(&self, mut wheel: Writer<impl io::Write + io::Seek>, sources: &str) -> io::Result<u64> {
        let info = format!("{NAME}-{}.dist-info", self.version);
        wheel.add(&format!("{info}/METADATA"), self.metadata(sources).as_bytes(), false)?;
        wheel.add(&format!("{info}/WHEEL"), tags().as_bytes(), false)?;
        wheel.finish(&format!("{info}/RECORD"))
    }

    /// The description is the notice that must go along, and what it is about.
    fn metadata(&self, sources: &str) -> String {
        format!(
            "Metadata-Version: 2.1\n\
             Name: {}\n\
             Version: {}\n\
             Summary: The open toolchain of gpsimd-build: compiler, assembler, linker and runtime for the GPSIMD cores\n\
             License: GPL-3.0-or-later AND LGPL-3.0-or-later AND GPL-3.0-or-later WITH GCC-exception-3.1 AND others\n\
             Classifier: Operating System :: POSIX :: Linux\n\
             Requires-Python: >=3\n\
             Description-Content-Type: text/plain\n\
             \n\
             {}\n",
            NAME.replace('_', "-"),
            self.version,
            sources.trim_end(),
        )
    }
}

fn tags() -> String {
    let mut text = format!(
        "Wheel-Version: 1.0\nGenerator: gpsimd-build {}\nRoot-Is-Purelib: false\n",
        env!("CARGO_PKG_VERSION")
    );
    for tag in TAGS {
        text += &format!("Tag: py3-none-{tag}\n");
    }
    text
}

struct Writer<W: io::Write + io::Seek> {
    zip: ZipWriter<W>,
    record: String,
    bytes: u64,
}

impl<W: io::Write + io::Seek> Writer<W> {
    fn add(&mut self, name: &str, content: &[u8], is_executable: bool) -> io::Result<()> {
        self.member(name, content, is_executable)?;
        let hash = HASHES.encode(Sha256::digest(content));
        self.record += &format!("{name},sha256={hash},{}\n", content.len());
        Ok(())
    }

    fn member(&mut self, name: &str, content: &[u8], is_executable: bool) -> io::Result<()> {
        // the default time is the earliest that there is
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(COMPRESSION))
            .unix_permissions(if is_executable { 0o755 } else { 0o644 });
        self.zip.start_file(name, options)?;
        self.bytes += content.len() as u64;
        self.zip.write_all(content)
    }

    fn finish(mut self, record: &str) -> io::Result<u64> {
        let text = format!("{}{record},,\n", self.record);
        self.member(record, text.as_bytes(), false)?;
        self.zip.finish()?.flush()?;
        Ok(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::install::workshop;
    use std::io::Read as _;

    #[test]
    fn hashes_are_written_as_in_wheels() {
        for (bytes, want) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            assert_eq!(HASHES.encode(bytes), want);
        }
        assert_eq!(HASHES.encode([0xfb, 0xff]), "-_8");
    }

    #[test]
    fn every_file_is_on_record() {
        let stage = tempfile::tempdir().unwrap();
        for (name, text) in [("toolchain.json", "{}"), ("licenses/SOURCES", "cc 12\n")] {
            workshop::write(&stage.path().join(name), text).unwrap();
        }
        workshop::write_program(&stage.path().join("bin/q7-as"), "#!/bin/sh\n").unwrap();
        let package = Package { version: "1+gcc12.2.0.hc0ffee".into(), directory: "travelling-x".into() };
        let bytes = || {
            let file = tempfile::tempfile().unwrap();
            package.write(stage.path(), &file).unwrap();
            file
        };
        let mut wheel = zip::ZipArchive::new(bytes()).unwrap();
        let names: Vec<String> = wheel.file_names().map(|name| name.unwrap().into_owned()).collect();
        let data =
            "gpsimd_build_toolchain-1+gcc12.2.0.hc0ffee.data/data/share/gpsimd-build/toolchains/travelling-x";
        let info = "gpsimd_build_toolchain-1+gcc12.2.0.hc0ffee.dist-info";
        let want = [
            format!("{data}/toolchain.json"),
            format!("{data}/bin/q7-as"),
            format!("{data}/licenses/SOURCES"),
            format!("{info}/METADATA"),
            format!("{info}/WHEEL"),
            format!("{info}/RECORD"),
        ];
        assert_eq!(names, want);
        assert_eq!(wheel.by_name(&want[1]).unwrap().unix_mode(), Some(0o100_755));
        let text = |wheel: &mut zip::ZipArchive<File>, name: &str| {
            let mut text = String::new();
            wheel.by_name(name).unwrap().read_to_string(&mut text).unwrap();
            text
        };
        let record = text(&mut wheel, &want[5]);
        for name in &want[..5] {
            let content = text(&mut wheel, name);
            let line = format!("{name},sha256={},{}", HASHES.encode(Sha256::digest(&content)), content.len());
            assert!(record.lines().any(|other| other == line), "{line}\n{record}");
        }
        assert!(record.ends_with(&format!("{},,\n", want[5])));
        assert!(text(&mut wheel, &want[3]).ends_with("\n\ncc 12\n"));
        assert_eq!(tree::hash_of(rewound(bytes())).unwrap(), tree::hash_of(rewound(bytes())).unwrap());
    }

    fn rewound(mut file: File) -> File {
        io::Seek::rewind(&mut file).unwrap();
        file
    }
}
