//! Checks: is this set of files what a device may be given?
//!
//! Unaware of paths and terminals: named bytes in, findings out. Each file is checked by itself, then against its
//! siblings; relations are only looked at between files that hold up themselves, so that one fault gives one finding.
//! Facts: spec `lsp-and-memory.md` §9 and `toolchain.md` §15.

mod artefacts;
mod finding;
mod headers;
mod object_file;
mod second;
mod sections;
mod set;
mod symbols;

use std::collections::BTreeMap;

use gpsimd_lsp::Variant;
use serde::Serialize;

pub use finding::{Code, Finding, Place, Severity};

use crate::elf_file::ElfFile;
use crate::summary::Summary;
use finding::Findings;

/// A file to verify.
#[derive(Debug, Clone)]
pub struct FileEntry<'d> {
    /// Name for reports; its end tells role and variant.
    pub name: String,
    /// Contents.
    pub bytes: &'d [u8],
    /// What the file should be.
    pub role: Role,
    /// Which core it should be for.
    pub variant: Variant,
}

/// What a file is among the outputs of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// `.o`: compiler output.
    Object,
    /// `.so`: linked, with symbols.
    Linked,
    /// `.stripped.so`: what ships.
    Stripped,
    /// `.packed.so`: the stripped image inside an object.
    Packed,
}

impl<'d> FileEntry<'d> {
    /// A file whose role and variant follow from its name.
    pub fn new(name: impl Into<String>, bytes: &'d [u8]) -> FileEntry<'d> {
        let name = name.into();
        let role = match &name {
            name if name.ends_with(".packed.so") => Role::Packed,
            name if name.ends_with(".stripped.so") => Role::Stripped,
            name if name.ends_with(".o") => Role::Object,
            _ => Role::Linked,
        };
        let variant = Variant::of_file_name(&name);
        FileEntry { name, bytes, role, variant }
    }

    /// What all files of one library share in their names.
    fn library(&self) -> &str {
        let stem = self.name.strip_suffix(".so").unwrap_or(&self.name);
        let stem = match self.role {
            Role::Packed => stem.strip_suffix(".packed").unwrap_or(stem),
            Role::Stripped => stem.strip_suffix(".stripped").unwrap_or(stem),
            Role::Object | Role::Linked => stem,
        };
        stem.strip_suffix(self.variant.file_suffix()).unwrap_or(stem)
    }
}

/// What `verify` has to say about a set of files.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Report {
    /// Findings, file by file in the order given, relations last.
    pub findings: Vec<Finding>,
    /// A summary of every file that could be read, in the order given.
    pub images: Vec<FileReport>,
}

/// One readable file of a report.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct FileReport {
    /// Name as given.
    pub file: String,
    /// What it was checked as.
    pub role: Role,
    /// Which core it was checked for.
    pub variant: Variant,
    /// What it holds; for a packed object, what its payload holds.
    pub summary: Summary,
}

impl Report {
    /// The worst severity, or `None` when there is nothing to say.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// Whether nothing forbids shipping.
    pub fn is_clean(&self) -> bool {
        self.worst() < Some(Severity::Error)
    }
}

/// A file that was checked by itself.
#[derive(Debug)]
pub struct Checked<'f, 'd> {
    file: &'f FileEntry<'d>,
    /// The image, a packed object's payload included; absent when unreadable or an object.
    image: Option<ElfFile<'d>>,
    findings: Findings,
}

/// Verifies a set of files.
pub fn verify(files: &[FileEntry<'_>]) -> Report {
    relate(files.iter().map(check).collect())
}

/// Checks one file by itself. Files of a set may be checked in parallel and then given to [`relate`].
pub fn check<'f, 'd>(file: &'f FileEntry<'d>) -> Checked<'f, 'd> {
    let mut findings = Findings::new(&file.name);
    if crate::is_checked(file.bytes) {
        let message = "is a checked image, whose handlers only the simulator answers".to_owned();
        findings.add(finding::Code::CheckedImage, finding::Place::file(), message);
    }
    let image = match file.role {
        Role::Object => {
            object_file::check(file.bytes, &mut findings);
            None
        }
        Role::Packed => artefacts::payload(file.bytes, &mut findings)
            .and_then(|payload| image(payload, file.variant, Role::Stripped, &mut findings)),
        Role::Linked | Role::Stripped => image(file.bytes, file.variant, file.role, &mut findings),
    };
    Checked { file, image, findings }
}

fn image<'d>(bytes: &'d [u8], variant: Variant, role: Role, findings: &mut Findings) -> Option<ElfFile<'d>> {
    let image = match ElfFile::parse(bytes) {
        Ok(image) => image,
        Err(error) => {
            findings.error(&error);
            return None;
        }
    };
    second::check(&image, findings);
    headers::check(&image, variant, findings);
    sections::check(&image, variant, findings);
    symbols::check(&image, variant, findings);
    if role == Role::Stripped {
        artefacts::check_stripped(&image, findings);
    }
    Some(image)
}

/// Checks files against their siblings and closes the report.
pub fn relate(files: Vec<Checked<'_, '_>>) -> Report {
    let mut relations = Vec::new();
    let mut libraries: BTreeMap<&str, Vec<&Checked<'_, '_>>> = BTreeMap::new();
    for checked in files.iter().filter(|checked| checked.file.role != Role::Object) {
        libraries.entry(checked.file.library()).or_default().push(checked);
    }
    for members in libraries.values() {
        artefacts::relate(members, &mut relations);
        set::relate(members, &mut relations);
    }
    let mut findings = Vec::new();
    let mut images = Vec::new();
    for Checked { file, image, findings: own } in files {
        findings.extend(own.finish());
        if let Some(image) = image {
            let summary = Summary::of(&image, file.variant);
            images.push(FileReport {
                file: file.name.clone(),
                role: file.role,
                variant: file.variant,
                summary,
            });
        }
    }
    findings.extend(relations.into_iter().flat_map(Findings::finish));
    Report { findings, images }
}
