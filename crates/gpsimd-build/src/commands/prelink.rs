//! `prelink` and `records`: the host's part of loading a split-load library.

use std::path::{Path, PathBuf};

use gpsimd_loader::kernel_table::TableRef;
use gpsimd_loader::kernel_table::{self, Row};
use gpsimd_loader::record::Record;
use gpsimd_loader::ucpl::{Header, Ucpl};
use gpsimd_loader::{Bounds, Generation, Mode, Prelinked, Relocations, prelink, split};
use miette::{Diagnostic, Result, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;

use super::Status;
use crate::answer::{Diagnosis, Place, Severity};
use crate::cli::{Prelink, Records, RecordsCommand};
use crate::files::{read, write};
use crate::output::say;
use crate::render::Render;

/// What `prelink` wrote, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The image.
    file: PathBuf,
    /// Bytes.
    size: usize,
    /// What it is for.
    generation: Generation,
    /// Where its two segments may lie.
    bounds: Bounds,
    /// Its header.
    header: Header,
    /// Where its kernel table lies once loaded, if it has one.
    kernel_table: Option<TableRef>,
    /// What the vendor's prelinker would have logged.
    log: Vec<String>,
}

/// What `records` wrote, for programs.
#[derive(Serialize, JsonSchema)]
pub struct RecordsDocument {
    /// The file.
    file: PathBuf,
    /// What is in it.
    records: Vec<Record>,
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
        /// What the device would refuse or get wrong.
        findings: Vec<UcplFinding>,
    },
    /// Load records.
    Records {
        /// The file.
        file: PathBuf,
        /// In order.
        records: Vec<Record>,
    },
}

/// What is wrong with a prelinked image.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct UcplFinding {
    /// Stable name.
    code: String,
    /// What it is.
    message: String,
}

/// Worth knowing, and no fault.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{0}")]
#[diagnostic(severity(warning))]
struct Remark(String);

/// Turns a split-load library into the image that a device loads.
pub fn run(arguments: &Prelink, render: &Render) -> Result<Status> {
    let generation = arguments.generation;
    let bytes = read(&arguments.library)?;
    let about = || arguments.library.display().to_string();
    // a packed library is an object file around the library
    let elf = gpsimd_image::unpack(&bytes).unwrap_or(&bytes);
    let mode = if arguments.compat { Mode::Compat } else { Mode::Strict };
    let mut log = Vec::new();
    let prelinked = prelink(elf, &generation.bounds(), mode, &mut |line| log.push(line.to_owned()))
        .map_err(miette::Report::from)
        .wrap_err_with(about)?;
    let image = prelinked.image();
    write(&arguments.output, &image)?;
    if let Some(warning) = generation.warning() {
        render.warn(&Remark(warning.to_string()));
    }
    if !render.is_json() {
        log.iter().for_each(|line| say(&format!("{line}\n")));
    }
    let document = Document {
        file: arguments.output.clone(),
        size: image.len(),
        generation,
        bounds: generation.bounds(),
        header: prelinked.header,
        kernel_table: prelinked.kernel_table,
        log,
    };
    render.result(&document, || {
        let mut text = format!("{}  {} bytes, for {generation}\n", arguments.output.display(), image.len());
        text += &segments(&prelinked.header, &generation.bounds());
        if let Some(table) = prelinked.kernel_table {
            text += &format!("  table     {} rows at {:#x}\n", table.rows, table.addr);
        }
        text
    })?;
    Ok(Status::Good)
}

/// Header fields as a small table.
fn segments(header: &gpsimd_loader::ucpl::Header, bounds: &Bounds) -> String {
    let segment = |name, region: gpsimd_loader::Region, off: u32, len: u32| {
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

/// Writes a load or an unload record.
pub fn records(arguments: &Records, render: &Render) -> Result<Status> {
    let (record, output, is_single) = match &arguments.command {
        RecordsCommand::Load { addr, size, image, index, single, output } => {
            let size = match (size, image) {
                (Some(size), _) => *size,
                (None, Some(path)) => size_of_image(path)?,
                (None, None) => 0,
            };
            (Record::load(*addr, *index, size), output, *single)
        }
        RecordsCommand::Unload { index, single, output } => (Record::unload(*index), output, *single),
    };
    let record = if is_single { record.on_cores(1) } else { record };
    let bytes = record.encode();
    // what the device's validator refuses is not worth writing
    Record::parse(0, &bytes)?;
    write(output, &bytes)?;
    render.result(&RecordsDocument { file: output.clone(), records: vec![record] }, || {
        format!("{}  {} bytes\n{}", output.display(), bytes.len(), record_text(0, &record))
    })?;
    Ok(Status::Good)
}

fn size_of_image(path: &Path) -> Result<u32> {
    let bytes = read(path)?;
    let about = || path.display().to_string();
    let image = Ucpl::parse(&bytes).map_err(miette::Report::from).wrap_err_with(about)?;
    // a header names at most 64 KiB, or the record below is refused
    Ok(u32::try_from(image.header.total()).unwrap_or(u32::MAX))
}

/// What a file of this lane shows; nothing for other files. Without a generation, an image is taken for one of the
/// generation that has code where its start symbol is, and a library for CAYMAN.
pub fn inspect(path: &Path, bytes: &[u8], generation: Option<Generation>) -> Result<Option<Inspection>> {
    let about = || path.display().to_string();
    let library = gpsimd_image::unpack(bytes).unwrap_or(bytes);
    if split::is_split(library) {
        let generation = generation.unwrap_or(Generation::Cayman);
        let bounds = generation.bounds();
        let prelinked = prelink(library, &bounds, Mode::Strict, &mut |_| {})
            .map_err(miette::Report::from)
            .wrap_err_with(about)?;
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
        return Ok(Some(Inspection { text, document, fault: None }));
    }
    if bytes.starts_with(b"UCPL") {
        let image = Ucpl::parse(bytes).map_err(miette::Report::from).wrap_err_with(about)?;
        let is_home = |g: &Generation| g.bounds().code.offset_of(image.header.start).is_some();
        let guess = || [Generation::Cayman, Generation::Sunda].into_iter().find(is_home);
        let generation = generation.or_else(guess).unwrap_or(Generation::Cayman);
        let findings = image.check(&generation.bounds());
        let mut text = format!("{}\n  UCPL image for {generation}, {} bytes\n", path.display(), bytes.len());
        text += &segments(&image.header, &generation.bounds());
        for finding in &findings {
            text += &format!("  {}: {finding}\n", finding.code());
        }
        let findings: Vec<UcplFinding> = findings
            .iter()
            .map(|finding| UcplFinding { code: finding.code().to_owned(), message: finding.to_string() })
            .collect();
        let fault = findings.first().map(|finding| Diagnosis {
            code: Some(finding.code.clone()),
            severity: Severity::Error,
            headline: finding.message.clone(),
            detail: None,
            place: Some(Place { file: Some(path.display().to_string()), ..Place::default() }),
            remedy: Some("prelink the library again".to_owned()),
            labels: Vec::new(),
            related: Vec::new(),
        });
        let file = path.to_owned();
        let document = FileDocument::Ucpl { file, generation, header: image.header, findings };
        return Ok(Some(Inspection { text, document, fault }));
    }
    if bytes.starts_with(&gpsimd_loader::record::HEADER) {
        let records = Record::parse_all(bytes).map_err(miette::Report::from).wrap_err_with(about)?;
        let mut text = format!("{}\n  {} records\n", path.display(), records.len());
        for (index, record) in records.iter().enumerate() {
            text += &record_text(index, record);
        }
        let document = FileDocument::Records { file: path.to_owned(), records };
        return Ok(Some(Inspection { text, document, fault: None }));
    }
    Ok(None)
}

/// The rows of a library's kernel table.
fn rows(prelinked: &Prelinked, bounds: &Bounds) -> Vec<Row> {
    let Some(table) = prelinked.kernel_table else { return Vec::new() };
    let at = table.addr.wrapping_sub(bounds.data.base) as usize;
    let rows = kernel_table::parse(prelinked.data.get(at..).unwrap_or_default());
    rows.into_iter().take(table.rows as usize).collect()
}

/// What `inspect` found in a file of this lane.
pub struct Inspection {
    /// For people.
    pub text: String,
    /// For programs.
    pub document: FileDocument,
    /// Why the device could not rely on it.
    pub fault: Option<Diagnosis>,
}

fn record_text(index: usize, record: &Record) -> String {
    let Record { direction, core_mask, soc_addr, library_index, library_size, .. } = record;
    let what = format!("  {index:<3} {direction} library {library_index} on cores {core_mask:#04x}");
    match (soc_addr, library_size) {
        (0, 0) => format!("{what}\n"),
        _ => format!("{what}: {library_size} bytes at {soc_addr:#x}\n"),
    }
}
