//! One core's loader: resident libraries, their windows and memory, and what load and unload records change.
//!
//! Unaware of other cores. Order of steps and log texts: spec `load-and-dispatch.md` §6.5-§6.9; the header is fetched
//! before the rest, so that nothing of a library without start symbol reaches the core's memory.

use std::fmt;

use crate::generation::{Bounds, Region};
use crate::kernel_table::{self, Row, TableRef};
use crate::record::{Direction, Record, RecordError};
use crate::ucpl;

use super::hardware::{CallError, DmaError, Entry, Hardware};
use super::{Assertion, WindowTable};

/// What is built into the cores' firmware.
#[derive(Debug, Clone)]
pub struct Config {
    /// Memory for libraries. A library goes where it was prelinked for, which its start symbol tells; two libraries can
    /// be resident if they were prelinked for different regions.
    pub regions: Vec<Bounds>,
    /// Rows of the kernels that need no library.
    pub builtin: Vec<Row>,
    /// Most bytes of an image (O9).
    pub max_library_size: u32,
    /// Size of an image whose record names none (O10).
    pub data_scratch_size: u32,
    /// Whether fini is called when unloading (§6.9).
    pub calls_fini: bool,
}

impl Config {
    /// One pair of regions, no built-in kernels.
    pub fn new(bounds: Bounds) -> Config {
        Config {
            regions: vec![bounds],
            builtin: Vec::new(),
            max_library_size: ucpl::MAX_IMAGE as u32,
            data_scratch_size: 0x1000,
            calls_fini: true,
        }
    }
}

/// What became of a record on a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The library is resident and its kernels are found.
    Loaded,
    /// The very same image was resident already (O16).
    AlreadyLoaded,
    /// The library is gone.
    Unloaded,
    /// There was no such library (O4).
    NotLoaded,
    /// The library was not loaded; nothing of it is left.
    Refused(Refusal),
    /// An assertion failed; the core runs nothing any more.
    Died(Assertion),
    /// The core had died before.
    Dead,
}

/// Why a library was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The record names more bytes than an image may have.
    Size {
        /// Bytes named.
        found: u32,
        /// Most bytes.
        allowed: u32,
    },
    /// The image does not start where a window does.
    Address {
        /// Where it is said to be.
        soc_addr: u64,
    },
    /// No window is free.
    NoWindow,
    /// Another library has the memory.
    Occupied {
        /// Its index.
        by: u32,
    },
    /// Channel 0 is not ready.
    DmaInit,
    /// A transfer failed.
    Dma(DmaError),
    /// No start symbol.
    NullStart,
    /// The start symbol lies in no region, or a segment is longer than its region or the image. The firmware would
    /// overwrite what lies there.
    Misplaced,
    /// The start symbol returned a status other than 0 (O7).
    Start {
        /// The status.
        status: u32,
    },
    /// Init or start did not return.
    Call(CallError),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Loaded => f.write_str("the library is loaded"),
            Outcome::AlreadyLoaded => f.write_str("the same image is loaded already"),
            Outcome::Unloaded => f.write_str("the library is unloaded"),
            Outcome::NotLoaded => f.write_str("it is not loaded"),
            Outcome::Refused(refusal) => refusal.fmt(f),
            Outcome::Died(assertion) => assertion.fmt(f),
            Outcome::Dead => f.write_str("an earlier assertion has ended the core"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Size { found, allowed } => {
                write!(f, "the record names {found} bytes, {allowed} is the most")
            }
            Refusal::Address { soc_addr } => {
                write!(f, "the image at {soc_addr:#x} does not start at a multiple of 16 MiB, where a window does")
            }
            Refusal::NoWindow => f.write_str("no address window is free"),
            Refusal::Occupied { by } => write!(f, "library {by} has the memory"),
            Refusal::DmaInit => f.write_str("channel 0 of its DMA does not become ready"),
            Refusal::Dma(DmaError(number)) => write!(f, "a DMA transfer failed with error {number}"),
            Refusal::NullStart => f.write_str("the image has no start symbol"),
            Refusal::Misplaced => f.write_str(
                "the start symbol lies in no region for libraries, or a segment is longer than its region or the image",
            ),
            Refusal::Start { status } => write!(f, "its start function returned status {status}"),
            Refusal::Call(CallError(why)) => write!(f, "its start function did not return: {why}"),
        }
    }
}

/// A library in a core's memory.
#[derive(Debug, Clone)]
struct Resident {
    record: Record,
    slot: u8,
    /// Index in [`Config::regions`].
    region: usize,
    fini: u32,
    rows: Vec<Row>,
}

/// One core.
#[derive(Debug, Clone)]
pub struct Core {
    pub(super) prid: u8,
    pub(super) config: Config,
    windows: WindowTable,
    /// In the order of loading.
    residents: Vec<Resident>,
    pub(super) dead: Option<Assertion>,
}

impl Core {
    /// A core after reset.
    pub fn new(prid: u8, config: Config) -> Core {
        Core { prid, config, windows: WindowTable::default(), residents: Vec::new(), dead: None }
    }

    /// Its windows.
    pub fn windows(&self) -> &WindowTable {
        &self.windows
    }

    /// Indices of the resident libraries, in the order of loading.
    pub fn resident(&self) -> impl Iterator<Item = u32> {
        self.residents.iter().map(|resident| resident.record.library_index)
    }

    /// How many cores a library is resident for, as its entry says: 1, 8, or 0 if it is not loaded.
    pub fn total_cpus(&self, library_index: u32) -> u32 {
        self.find(library_index).map_or(0, |resident| total_cpus(&resident.record))
    }

    /// The assertion that ended the core.
    pub fn dead(&self) -> Option<Assertion> {
        self.dead
    }

    /// All rows in the order in which they are searched: newest library first (O13), built-in ones last.
    pub fn rows(&self) -> impl Iterator<Item = (Option<u32>, &Row)> {
        let libraries = self.residents.iter().rev();
        let bound = libraries.flat_map(|r| r.rows.iter().map(|row| (Some(r.record.library_index), row)));
        bound.chain(self.config.builtin.iter().map(|row| (None, row)))
    }

    /// Executes a record. `table` says where the library's kernel table will lie, for libraries whose start symbol does
    /// not register one (§7.4).
    pub fn execute(
        &mut self,
        record: &Record,
        table: Option<TableRef>,
        hardware: &mut impl Hardware,
        log: &mut Vec<String>,
    ) -> Outcome {
        if self.dead.is_some() {
            return Outcome::Dead;
        }
        self.say(log, "dispatch : modify_pool_config");
        let outcome = match record.direction {
            Direction::Load => self.load(record, table, hardware, log),
            Direction::Unload => self.unload(record.library_index, hardware, log),
        };
        let checked = outcome.and_then(|outcome| {
            Assertion::check_core_count_after(self.total_cpus(record.library_index))?;
            Ok(outcome)
        });
        checked.unwrap_or_else(|assertion| {
            self.dead = Some(assertion);
            self.say(log, &assertion.to_string());
            Outcome::Died(assertion)
        })
    }

    fn load(
        &mut self,
        record: &Record,
        table: Option<TableRef>,
        hardware: &mut impl Hardware,
        log: &mut Vec<String>,
    ) -> Result<Outcome, Assertion> {
        match record.check(0) {
            Ok(()) => {}
            Err(RecordError::Address { found, .. }) => {
                return Ok(Outcome::Refused(Refusal::Address { soc_addr: found }));
            }
            Err(_) => return Err(Assertion::CORE_COUNT),
        }
        if let Some(resident) = self.find(record.library_index) {
            if (resident.record.soc_addr, resident.record.library_size)
                == (record.soc_addr, record.library_size)
            {
                return Ok(Outcome::AlreadyLoaded);
            }
            self.unload(record.library_index, hardware, log)?;
        }
        let allowed = self.config.max_library_size;
        let size = match record.library_size {
            0 => {
                self.say(
                    log,
                    "library_size not set, defaulting to data_scratch_size for backward compatibility",
                );
                self.config.data_scratch_size
            }
            found if found > allowed => {
                self.say(log, &format!("Invalid library_size: {found} (max: {allowed})"));
                return Ok(Outcome::Refused(Refusal::Size { found, allowed }));
            }
            size => size,
        };
        let Some(window) = self.windows.update_soc_address(record.soc_addr) else {
            self.say(log, "Failed to allocate memory for library");
            return Ok(Outcome::Refused(Refusal::NoWindow));
        };
        hardware.program_window(self.prid, window.slot, Some(&window));
        let (slot, xt, soc) = (window.slot, window.xt_addr, window.soc_addr);
        let mask = super::Window::MASK;
        self.say(
            log,
            &format!("update_window: num={slot}, xt_addr={xt:#x}, soc_addr={soc:#x}, l_mask={mask:#x}"),
        );
        let seen = self.windows.translate_soc_to_xt_address(record.soc_addr)?;
        self.say(log, &format!("WIN[{slot}]: @{:x} -> {seen:x}", record.soc_addr));
        match self.bring_in(record, size, slot, table, hardware, log) {
            Ok(resident) => {
                self.residents.push(resident);
                self.say(log, "Library loaded");
                Ok(Outcome::Loaded)
            }
            Err(refusal) => {
                self.release(slot, hardware)?;
                Ok(Outcome::Refused(refusal))
            }
        }
    }

    /// From the header to the bound table. The window is released by the caller if this fails; memory and table belong
    /// to the core only once this has succeeded.
    fn bring_in(
        &self,
        record: &Record,
        size: u32,
        slot: u8,
        table: Option<TableRef>,
        hardware: &mut impl Hardware,
        log: &mut Vec<String>,
    ) -> Result<Resident, Refusal> {
        let dma_error = |error: DmaError, log: &mut Vec<String>| {
            self.say(log, &format!("iDMA error: {}", error.0));
            Refusal::Dma(error)
        };
        if hardware.init_dma(self.prid).is_err() {
            self.say(log, "iDMA channel 0 failed to initialize!");
            return Err(Refusal::DmaInit);
        }
        let mut header = [0; ucpl::HEADER];
        hardware.dma(self.prid, record.soc_addr, &mut header).map_err(|error| dma_error(error, log))?;
        // The firmware looks at neither the magic number nor anything but lengths and start.
        let header = ucpl::Header::decode(&header);
        if header.start == 0 {
            self.say(log, "Corrupted prelink library; NULL start symbol");
            return Err(Refusal::NullStart);
        }
        let is_home = |bounds: &Bounds| bounds.code.offset_of(header.start).is_some();
        let region = self.config.regions.iter().position(is_home).ok_or(Refusal::Misplaced)?;
        let Bounds { code, data } = *self.config.regions.get(region).ok_or(Refusal::Misplaced)?;
        if let Some(resident) = self.residents.iter().find(|resident| resident.region == region) {
            self.say(log, "Failed to allocate memory for library");
            return Err(Refusal::Occupied { by: resident.record.library_index });
        }
        let parts = [(header.code_off, header.code_len, code), (header.data_off, header.data_len, data)];
        let fits = |&(off, len, to): &(u32, u32, Region)| {
            len <= to.size && u64::from(off) + u64::from(len) <= u64::from(size)
        };
        if !parts.iter().all(fits) {
            return Err(Refusal::Misplaced);
        }
        for (off, len, to) in parts {
            let mut bytes = vec![0; len as usize];
            let from = record.soc_addr.wrapping_add(u64::from(off));
            let moved = hardware.dma(self.prid, from, &mut bytes);
            moved
                .and_then(|()| hardware.store(self.prid, to.base, &bytes))
                .map_err(|error| dma_error(error, log))?;
        }
        let (code_len, data_len) = (header.code_len, header.data_len);
        self.say(
            log,
            &format!("LIB: codesize={code_len}@{:#x} datasize={data_len}@{:#x}", code.base, data.base),
        );

        if header.init != 0 {
            hardware.call(self.prid, Entry::Init, header.init).map_err(Refusal::Call)?;
        }
        let started = hardware.call(self.prid, Entry::Start, header.start).map_err(Refusal::Call)?;
        if started.value != 0 {
            return Err(Refusal::Start { status: started.value });
        }
        let mut rows = Vec::new();
        if let Some(table) = started.table.or(table) {
            // Never more than the data region holds, whatever the table's origin says.
            let len = (table.rows as usize).saturating_mul(kernel_table::ROW).min(data.size as usize);
            let mut bytes = vec![0; len];
            hardware.load(self.prid, table.addr, &mut bytes).map_err(|error| dma_error(error, log))?;
            rows = kernel_table::parse(&bytes);
        }
        Ok(Resident { record: *record, slot, region, fini: header.fini, rows })
    }

    fn unload(
        &mut self,
        library_index: u32,
        hardware: &mut impl Hardware,
        log: &mut Vec<String>,
    ) -> Result<Outcome, Assertion> {
        let is_it = |resident: &Resident| resident.record.library_index == library_index;
        let Some(at) = self.residents.iter().position(is_it) else {
            self.say(log, &format!("library {library_index} is not loaded"));
            return Ok(Outcome::NotLoaded);
        };
        let resident = self.residents.remove(at);
        if resident.fini != 0
            && self.config.calls_fini
            && let Err(CallError(why)) = hardware.call(self.prid, Entry::Fini, resident.fini)
        {
            self.say(log, &format!("fini of library {library_index} did not return: {why}"));
        }
        self.release(resident.slot, hardware)?;
        self.say(log, "Library unloaded");
        Ok(Outcome::Unloaded)
    }

    fn release(&mut self, slot: u8, hardware: &mut impl Hardware) -> Result<(), Assertion> {
        self.windows.push_unallocated_window(slot)?;
        hardware.program_window(self.prid, slot, None);
        Ok(())
    }

    fn find(&self, library_index: u32) -> Option<&Resident> {
        self.residents.iter().find(|resident| resident.record.library_index == library_index)
    }

    pub(super) fn say(&self, log: &mut Vec<String>, text: &str) {
        log.push(format!("P{}: {text}", self.prid));
    }
}

/// O8: the mask says how many cores the library is for.
fn total_cpus(record: &Record) -> u32 {
    record.core_mask.count_ones()
}
