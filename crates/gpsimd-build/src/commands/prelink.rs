//! `prelink` and `records`: the host's part of loading a split-load library.

use std::path::{Path, PathBuf};

use gpsimd_loader::kernel_table::TableRef;
use gpsimd_loader::record::Record;
use gpsimd_loader::sequence;
use gpsimd_loader::ucpl::{Header, Ucpl};
use gpsimd_loader::{Bounds, Generation, Mode};
use miette::{Result, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Status, warn_never_staged};
use crate::cli::{Prelink, Records, RecordsCommand};
use crate::files::{read, write};
use crate::loadable;
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
    /// What the vendor's runtime would have logged.
    log: Vec<String>,
}

/// Turns a split-load library into the image that a device loads.
pub fn run(arguments: &Prelink, render: &Render) -> Result<Status> {
    let generation = arguments.generation;
    let bytes = read(&arguments.library)?;
    let mode = if arguments.compat { Mode::Compat } else { Mode::Strict };
    let (prelinked, log) = loadable::made(&arguments.library, &bytes, generation, mode)?;
    let image = prelinked.image();
    write(&arguments.output, &image)?;
    warn_never_staged(generation, render);
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
        text += &loadable::segments(&prelinked.header, &generation.bounds());
        if let Some(table) = prelinked.kernel_table {
            text += &format!("  table     {} rows at {:#x}\n", table.rows, table.addr);
        }
        text
    })?;
    Ok(Status::Good)
}

/// Writes load or unload records.
pub fn records(arguments: &Records, render: &Render) -> Result<Status> {
    let (record, order) = match &arguments.command {
        RecordsCommand::Load { addr, size, image, order } => {
            let size = match (size, image) {
                (Some(size), _) => *size,
                (None, Some(path)) => size_of_image(path, render)?,
                (None, None) => 0,
            };
            (Record::load(*addr, order.index, size), order)
        }
        RecordsCommand::Unload { order } => (Record::unload(order.index), order),
    };
    let record = if order.single { record.on_cores(1) } else { record };
    let mut log = Vec::new();
    let records = vec![record; sequence::count(!order.foreign, record.direction, &mut log)];
    let bytes: Vec<u8> = records.iter().flat_map(Record::encode).collect();
    // what the device does not take is not worth writing
    Record::read_all(&bytes)?;
    write(&order.output, &bytes)?;
    let log: Vec<String> = log.into_iter().map(|line| line.text).collect();
    if !render.is_json() {
        log.iter().for_each(|line| say(&format!("{line}\n")));
    }
    let document = RecordsDocument { file: order.output.clone(), records: records.clone(), log };
    render.result(&document, || {
        let lines = records.iter().enumerate().map(|(index, record)| loadable::record_text(index, record));
        format!("{}  {} bytes\n{}", order.output.display(), bytes.len(), lines.collect::<String>())
    })?;
    Ok(Status::Good)
}

fn size_of_image(path: &Path, render: &Render) -> Result<u32> {
    let bytes = read(path)?;
    let about = || path.display().to_string();
    let image = Ucpl::parse(&bytes).map_err(miette::Report::from).wrap_err_with(about)?;
    warn_never_staged(loadable::home(&bytes), render);
    // a header names at most 64 KiB, or the record below is refused
    Ok(u32::try_from(image.header.total()).unwrap_or(u32::MAX))
}
