//! The host's part of loading a split library: from what ships to an image in device memory, and the orders to load it.
//!
//! Unaware of cores. Facts: spec `load-and-dispatch.md` §2, §3, §5.1, `prelink.md` §11, §12.

use gpsimd_image::ElfFile;
use gpsimd_loader::kernel_table::{self, TableRef};
use gpsimd_loader::library::{Context, ContextId, CreateError, Library};
use gpsimd_loader::memory::HostMemory;
use gpsimd_loader::record::{Direction, RECORD, Record};
use gpsimd_loader::registry::Registry;
use gpsimd_loader::selector::{Build, NullArgument, library_from_opcodes, selector};
use gpsimd_loader::sequence::{self, SequenceError, get_load_sequence, get_unload_sequence};
use gpsimd_loader::ucpl::Ucpl;
use gpsimd_loader::{Mode, Region, prelink};

use super::error::LoadError;
use super::program::Shipment;
use super::steps::Step;
use super::trace::Trace;
use crate::explain::symbols::Symbols;

/// SoC address of the device memory in which images are staged.
const IMAGES: u64 = 0x10_0000_0000;
/// Bytes of it.
const IMAGES_LEN: u64 = 1 << 30;
/// The index that callers ask for; the environment may turn it into another one.
const LIBRARY: u64 = 0;

/// The device's orders, as an instruction stream holds them.
#[derive(Debug)]
pub(super) struct Orders {
    /// Records that load the library.
    pub load: Vec<Record>,
    /// Records that unload it.
    pub unload: Vec<Record>,
}

/// What the host has made of a shipment.
pub(super) struct Made {
    pub context: Context<HostMemory>,
    pub library: Library,
    pub debug: Vec<u8>,
    pub table: TableRef,
    pub shift: u32,
    /// Where its constants will be, and their bytes.
    pub constants: Vec<(u32, u32)>,
    /// Opcode and spec of each row.
    pub opcodes: Vec<(u8, u8)>,
}

/// As the runtime does with a library of its own: packed object, library, prelinked image in device memory.
pub(super) fn make(shipment: &Shipment, trace: &mut Trace) -> Result<Made, LoadError> {
    let Shipment { image, generation, environment, .. } = shipment;
    let bounds = generation.bounds();
    let nameless = Symbols::read(&[]);
    let (packed, elf) = packed_and_plain(&image.bytes)
        .map_err(LoadError::Unpack)
        .inspect_err(|error| trace.fail("unpack", error, Vec::new()))?;
    trace.stages.push(Step::Packed(packed.len()).tell(&nameless, Vec::new()));
    trace.stages.push(Step::Unpacked(elf.len()).tell(&nameless, Vec::new()));

    let selector = selector(LIBRARY, *environment);
    let (coretype, guards) = (generation.coretype(), guarded("nrtucode_ll_create")?);
    trace.stages.push(Step::Created { coretype, selector, guards }.tell(&nameless, Vec::new()));
    let mut libraries = Registry::new();
    libraries.insert(*generation, selector, elf.clone());
    let mut context = Context::new(ContextId(0), HostMemory::new(IMAGES, IMAGES_LEN), *environment);
    let created = context.create(&libraries, coretype, 0, LIBRARY);
    let logged = |context: &mut Context<HostMemory>| context.log.drain(..).map(|line| line.text).collect();
    let library = match created {
        Ok(library) => library,
        Err(CreateError::Prelink(error)) => {
            trace.fail("prelink", &format!("{error}\n{}", error.verdict()), logged(&mut context));
            return Err(error.into());
        }
        Err(error) => {
            trace.fail("stage", &error, logged(&mut context));
            return Err(error.into());
        }
    };
    let prelinked = prelink(&elf, &bounds, Mode::Strict, &mut |_| {})?;
    let header = prelinked.header;
    let table = prelinked.kernel_table.unwrap_or(TableRef { addr: bounds.data.base, rows: 0 });
    let shift = header.start.wrapping_sub(entry(&elf));
    let constants = constants(&elf, bounds.data);
    let debug = image.debug.clone().unwrap_or(elf);
    let symbols = Symbols::read(&debug).moved_by(shift);
    let image = prelinked.image().len();
    trace.stages.push(
        Step::Prelinked { generation: *generation, bounds, header, table, image }.tell(&symbols, Vec::new()),
    );
    trace.stages.push(staged(&library).tell(&symbols, logged(&mut context)));
    let opcodes = opcodes(&prelinked.data, bounds.data.base, table);
    Ok(Made { context, library, debug, table, shift, constants, opcodes })
}

/// The very bytes of an image, put where its record says, if there is one.
pub(super) fn adopt(shipment: &Shipment, given: &[Record], trace: &mut Trace) -> Result<Made, LoadError> {
    let Shipment { image, generation, environment, .. } = shipment;
    let bounds = generation.bounds();
    let ucpl = Ucpl::parse(&image.bytes).inspect_err(|error| trace.fail("adopt", error, Vec::new()))?;
    let header = ucpl.header;
    let found =
        || kernel_table::locate(ucpl.data, bounds.data.base, Region { size: header.code_len, ..bounds.code });
    let table = shipment.table.or_else(found).unwrap_or(TableRef { addr: bounds.data.base, rows: 0 });
    let debug = image.debug.clone().unwrap_or_default();
    let constants = constants(&debug, bounds.data);
    let shift = if debug.is_empty() { 0 } else { header.start.wrapping_sub(entry(&debug)) };
    let symbols = Symbols::read(&debug).moved_by(shift);
    let step = Step::Adopted { generation: *generation, bounds, header, table, image: image.bytes.len() };
    trace.stages.push(step.tell(&symbols, Vec::new()));
    let load = given.iter().find(|record| record.direction == Direction::Load);
    let at = load.map_or(IMAGES, |record| record.soc_addr);
    let mut context = Context::new(ContextId(0), HostMemory::new(at, IMAGES_LEN), *environment);
    let library =
        context.adopt(&image.bytes, LIBRARY).inspect_err(|error| trace.fail("stage", error, Vec::new()))?;
    let log = context.log.drain(..).map(|line| line.text).collect();
    trace.stages.push(staged(&library).tell(&symbols, log));
    let opcodes = opcodes(ucpl.data, bounds.data.base, table);
    Ok(Made { context, library, debug, table, shift, constants, opcodes })
}

/// Where a library is in device memory.
fn staged(library: &Library) -> Step<'static> {
    Step::Staged {
        handle: library.name().to_owned(),
        selector: library.selector(),
        soc_addr: library.device_addr().unwrap_or_default(),
        size: library.size() as usize,
    }
}

/// What the rows of a table are called by.
fn opcodes(data: &[u8], base: u32, table: TableRef) -> Vec<(u8, u8)> {
    let at = table.addr.wrapping_sub(base) as usize;
    let rows = kernel_table::parse(data.get(at..).unwrap_or_default());
    rows.iter().take(table.rows as usize).map(|row| (row.opcode, row.spec)).collect()
}

/// The runtime's question which library has these instructions.
pub(super) fn resolve(opcodes: &[(u8, u8)], shipment: &Shipment) -> Result<Step<'static>, LoadError> {
    let guards = guarded("nrtucode_ll_get_libraries_from_opcodes")?;
    let coretype = shipment.generation.coretype();
    let library = library_from_opcodes(Build::Shipped, coretype, opcodes.len(), shipment.environment)?;
    Ok(Step::Resolved { opcodes: opcodes.to_vec(), library, guards })
}

/// The arguments that a function of the runtime aborts without; here all are there.
fn guarded(function: &str) -> Result<String, LoadError> {
    let guards = NullArgument::GUARDS.iter().filter(|guard| guard.function == function);
    let present: Vec<(&str, bool)> = guards.map(|guard| (guard.argument, true)).collect();
    NullArgument::check(function, &present).map_err(SequenceError::from)?;
    Ok(present.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", "))
}

/// The records of a library for cores of its own context; those that are given count instead.
pub(super) fn orders(
    library: &Library,
    context: &mut Context<HostMemory>,
    core_mask: u8,
    given: Vec<Record>,
) -> Result<Orders, LoadError> {
    let (load, unload): (Vec<Record>, Vec<Record>) =
        given.iter().partition(|record| record.direction == Direction::Load);
    let Some(first) = load.first() else {
        if !given.is_empty() {
            return Err(LoadError::NoLoadRecord { found: given.len() });
        }
        let (load, unload) = records(library, context)?;
        return Ok(Orders { load: vec![load.on_cores(core_mask)], unload: vec![unload.on_cores(core_mask)] });
    };
    let own = Record::unload(first.library_index).on_cores(first.core_mask);
    Ok(Orders { unload: if unload.is_empty() { vec![own] } else { unload }, load })
}

/// The packed form of a library and the library that comes out of it again.
fn packed_and_plain(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), gpsimd_image::ImageError> {
    let packed = match gpsimd_image::unpack(bytes) {
        Ok(_) => bytes.to_vec(),
        Err(_) => gpsimd_image::pack(bytes)?,
    };
    let elf = gpsimd_image::unpack(&packed)?.to_vec();
    Ok((packed, elf))
}

/// Both records of a library for a core of its own context.
fn records(library: &Library, context: &mut Context<HostMemory>) -> Result<(Record, Record), LoadError> {
    let core = sequence::Core { context: context.id };
    let log = &mut context.log;
    let mut buffer = Buffer([0; RECORD]);
    get_load_sequence(Some(library), Some(&core), Some(&mut buffer.0), log)?;
    let load = Record::parse(0, &buffer.0)?;
    get_unload_sequence(Some(library), Some(&core), Some(&mut buffer.0), log)?;
    Ok((load, Record::parse(0, &buffer.0)?))
}

/// One record, aligned as the generators ask.
#[repr(align(8))]
struct Buffer([u8; RECORD]);

/// Where the constants of a library will be: sections that nobody writes, in the segment that becomes its data.
fn constants(elf: &[u8], data: Region) -> Vec<(u32, u32)> {
    let Ok(elf) = ElfFile::without_symbols(elf) else { return Vec::new() };
    let Some((_, segment)) = elf.loads().nth(1) else { return Vec::new() };
    let within = |addr: u32| addr.checked_sub(segment.vaddr).filter(|offset| *offset < segment.memsz);
    let constants = elf.sections.iter().filter(|section| section.is_alloc() && !section.is_writable());
    constants
        .filter_map(|section| Some((data.base.checked_add(within(section.addr)?)?, section.size)))
        .collect()
}

/// The entry point of an ELF file; 0 if it is none, which the prelinker has refused before.
fn entry(elf: &[u8]) -> u32 {
    let word = elf.get(24..).and_then(|rest| rest.first_chunk::<4>());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}
