//! Files that a loader handles: split-load libraries, prelinked images, records; what is in them and what is wrong with them.
//!
//! Unaware of commands and of manifests.

mod fit;

use std::path::{Path, PathBuf};

use gpsimd_loader::kernel_table::{self, Row, TableRef};
use gpsimd_loader::record::Record;
use gpsimd_loader::ucpl::{Header, Ucpl};
use gpsimd_loader::{Bounds, Generation, Mode, Prelinked, Region, Relocations, split};
use miette::{Diagnostic, Result, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Diagnosis, Place, Severity};

pub use fit::{Expected, compare};
pub use gpsimd_library::prelinked::{home, made};

/// What is wrong with a file of this lane.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Fault {
    /// Stable name.
    pub code: String,
    /// What it is.
    pub message: String,
    /// What to do.
    #[serde(skip)]
    remedy: Option<String>,
}

impl Fault {
    fn of(error: &dyn Diagnostic) -> Fault {
        Fault {
            code: error.code().map_or_else(String::new, |code| code.to_string()),
            message: error.to_string(),
            remedy: error.help().map(|help| help.to_string()),
        }
    }

    /// The same as any error is told.
    fn diagnosis(&self, path: &Path) -> Diagnosis {
        Diagnosis {
            code: Some(self.code.clone()),
            severity: Severity::Error,
            headline: self.message.clone(),
            detail: None,
            place: Some(Place { file: Some(path.display().to_string()), ..Place::default() }),
            remedy: self.remedy.clone(),
            labels: Vec::new(),
            related: Vec::new(),
        }
    }
}

/// A file of the way by load record, for programs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum FileDocument {
    /// A split-load library.
    Split {
        /// The file.
        file: PathBuf,
        /// What it was looked at for.
        generation: Generation,
        /// The header that its image would have.
        header: Header,
        /// What prelinking moves.
        relocations: Relocations,
        /// Where its kernel table lies once loaded, if it has one.
        kernel_table: Option<TableRef>,
        /// The table's rows.
        rows: Vec<Row>,
    },
    /// A prelinked image.
    Ucpl {
        /// The file.
        file: PathBuf,
        /// What it was looked at for.
        generation: Generation,
        /// Its header.
        header: Header,
        /// What the device would refuse or get wrong, and what does not fit its library.
        findings: Vec<Fault>,
    },
    /// Load records.
    Records {
        /// The file.
        file: PathBuf,
        /// In order.
        records: Vec<Record>,
        /// What the device would refuse, and what does not fit the image.
        findings: Vec<Fault>,
    },
    /// A file that its own reader refuses.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        findings: Vec<Fault>,
    },
}

/// A file of this lane, looked into.
pub struct Inspection {
    /// For people.
    pub text: String,
    /// For programs.
    document: FileDocument,
    /// What the device could not rely on; empty: nothing is wrong.
    pub faults: Vec<Fault>,
    /// What it is.
    pub what: What,
}

/// What a file of this lane is.
pub enum What {
    /// A library, with the image that it prelinks to.
    Library(Vec<u8>),
    /// A prelinked image.
    Image(Vec<u8>),
    /// Records.
    Records(Vec<Record>),
    /// Nothing that can be read.
    Unread,
}

/// What a file of this lane shows; nothing for other files. Without a generation, an image is taken for one of the
/// generation that has code where its start symbol is, and a library for CAYMAN.
pub fn inspect(path: &Path, bytes: &[u8], generation: Option<Generation>) -> Result<Option<Inspection>> {
    let about = || path.display().to_string();
    let library = gpsimd_image::unpack(bytes).unwrap_or(bytes);
    if split::is_split(library) {
        return Ok(Some(library_of(path, library, generation.unwrap_or(Generation::Cayman))?));
    }
    if bytes.starts_with(b"UCPL") {
        let image = Ucpl::parse(bytes).map_err(miette::Report::from).wrap_err_with(about)?;
        return Ok(Some(image_of(path, bytes, &image, generation.unwrap_or_else(|| home(bytes)))));
    }
    if bytes.starts_with(&gpsimd_loader::record::HEADER) {
        let records = Record::parse_all(bytes).map_err(miette::Report::from).wrap_err_with(about)?;
        return Ok(Some(records_of(path, records)));
    }
    Ok(None)
}

fn library_of(path: &Path, library: &[u8], generation: Generation) -> Result<Inspection> {
    let bounds = generation.bounds();
    let (prelinked, _) = made(path, library, generation, Mode::Strict)?;
    let relocations = prelinked.relocations;
    let rows = rows(&prelinked, &bounds);
    let mut text = format!("{}\n  split-load library, for {generation}\n", path.display());
    text += &segments(&prelinked.header, &bounds);
    text += &format!("  moves     {} words, {} immediates\n", relocations.words, relocations.low);
    for row in &rows {
        text += &format!("  kernel    ({:#04x}, {}) -> {:#x}\n", row.opcode, row.spec, row.func);
    }
    let document = FileDocument::Split {
        file: path.to_owned(),
        generation,
        header: prelinked.header,
        relocations,
        kernel_table: prelinked.kernel_table,
        rows,
    };
    Ok(Inspection { text, document, faults: Vec::new(), what: What::Library(prelinked.image()) })
}

fn image_of(path: &Path, bytes: &[u8], image: &Ucpl<'_>, generation: Generation) -> Inspection {
    let findings = image.check(&generation.bounds());
    let mut text = format!("{}\n  UCPL image for {generation}, {} bytes\n", path.display(), bytes.len());
    text += &segments(&image.header, &generation.bounds());
    let fault = |finding: &gpsimd_loader::ucpl::Finding| Fault {
        code: finding.code().to_owned(),
        message: finding.to_string(),
        remedy: Some("prelink the library again".to_owned()),
    };
    let faults = findings.iter().map(fault).collect();
    let file = path.to_owned();
    let document = FileDocument::Ucpl { file, generation, header: image.header, findings: Vec::new() };
    Inspection { text, document, faults, what: What::Image(bytes.to_vec()) }
}

fn records_of(path: &Path, records: Vec<Record>) -> Inspection {
    let mut text = format!("{}\n  {} records\n", path.display(), records.len());
    let mut faults = Vec::new();
    for (index, record) in records.iter().enumerate() {
        text += &record_text(index, record);
        faults.extend(record.check(index).err().map(|error| Fault::of(&error)));
    }
    let document =
        FileDocument::Records { file: path.to_owned(), records: records.clone(), findings: Vec::new() };
    Inspection { text, document, faults, what: What::Records(records) }
}

impl Inspection {
    /// A file that its own reader refuses.
    pub fn unread(path: &Path, why: &dyn Diagnostic) -> Inspection {
        let text = format!("{}\n", path.display());
        let document = FileDocument::Unreadable { file: path.to_owned(), findings: Vec::new() };
        Inspection { text, document, faults: vec![Fault::of(why)], what: What::Unread }
    }

    /// What programs are told: what is in it, and what is wrong with it.
    pub fn told(&self) -> FileDocument {
        let mut document = self.document.clone();
        match &mut document {
            FileDocument::Split { .. } => {}
            FileDocument::Ucpl { findings, .. }
            | FileDocument::Records { findings, .. }
            | FileDocument::Unreadable { findings, .. } => findings.clone_from(&self.faults),
        }
        document
    }

    /// The first fault, as any error is told.
    pub fn fault(&self) -> Option<Diagnosis> {
        let path = match &self.document {
            FileDocument::Split { file, .. }
            | FileDocument::Ucpl { file, .. }
            | FileDocument::Records { file, .. }
            | FileDocument::Unreadable { file, .. } => file,
        };
        self.faults.first().map(|fault| fault.diagnosis(path))
    }

    /// What people are told.
    pub fn words(&self) -> String {
        let faults = self.faults.iter().map(|Fault { code, message, .. }| format!("  {code}: {message}\n"));
        self.text.clone() + &faults.collect::<String>()
    }
}

/// Header fields as a small table.
pub fn segments(header: &Header, bounds: &Bounds) -> String {
    let segment = |name, region: Region, off: u32, len: u32| {
        let end = u64::from(region.base) + u64::from(len);
        format!(
            "  {name:9} {:#x}..{end:#x}  {len} of {} bytes, at {off:#x} in the image\n",
            region.base, region.size
        )
    };
    segment("code", bounds.code, header.code_off, header.code_len)
        + &segment("data", bounds.data, header.data_off, header.data_len)
        + &format!(
            "  init      {:#x}\n  fini      {:#x}\n  start     {:#x}\n",
            header.init, header.fini, header.start
        )
}

/// The rows of a library's kernel table.
fn rows(prelinked: &Prelinked, bounds: &Bounds) -> Vec<Row> {
    let Some(table) = prelinked.kernel_table else { return Vec::new() };
    let at = table.addr.wrapping_sub(bounds.data.base) as usize;
    let rows = kernel_table::parse(prelinked.data.get(at..).unwrap_or_default());
    rows.into_iter().take(table.rows as usize).collect()
}

/// A record in a line.
pub fn record_text(index: usize, record: &Record) -> String {
    let Record { direction, core_mask, soc_addr, library_index, library_size, .. } = record;
    let what = format!("  {index:<3} {direction} library {library_index} on cores {core_mask:#04x}");
    match (soc_addr, library_size) {
        (0, 0) => format!("{what}\n"),
        _ => format!("{what}: {library_size} bytes at {soc_addr:#x}\n"),
    }
}
