//! Eight cores as the loader sees them: windows, DMA, instruction and data memory, calls.
//!
//! Unaware of records and of the order of loading, which [`gpsimd_loader::device`] decides. A load goes the documented way:
//! whatever the DMA brings must be shown by a window. Facts: spec `load-and-dispatch.md` §6.3, §6.4, §11.2.

use gpsimd_loader::device::{CallError, DmaError, Entry, Hardware, Returned, Window};
use gpsimd_loader::memory::HostMemory;
use gpsimd_loader::{Bounds, Region};

use super::control::{Config, Control};
use super::error::beside;
use super::way::{Asked, Launch};
use crate::call::shared::SharedMemory;
use crate::cores::core::{Core, Run};
use crate::cores::run::{Ended, Limits};
use crate::explain::describe;
use crate::memory::private::Memory;
use crate::memory::ram::{ACCESS, INIT, LOCKED, Ram};
use crate::memory::view::View;
use crate::memory::watch::Job;
use crate::parts::firmware;
use crate::parts::map::{self, DataramLayout};

/// Why a transfer fails, as the model numbers it: no window shows the source.
const NOT_SHOWN: DmaError = DmaError(1);
/// There is no memory at the source.
const NO_SOURCE: DmaError = DmaError(2);
/// There is no library memory at the destination.
const NO_DESTINATION: DmaError = DmaError(3);

/// What the model's numbers mean.
pub fn transfer_error(error: DmaError) -> &'static str {
    match error {
        NOT_SHOWN => "no address window shows its source",
        NO_SOURCE => "there is no device memory at its source",
        NO_DESTINATION => "there is no library memory at its destination",
        _ => "the DMA engine gives no reason",
    }
}

/// Cores with memory for split-load libraries.
#[derive(Debug)]
pub struct Chip {
    config: Config,
    bounds: Bounds,
    layout: DataramLayout,
    cores: Vec<Unit>,
    /// Functions of the library whose calls are looked into, where they will be.
    pub watched: Vec<(u32, Job)>,
    /// First address and length of its constants among the data, where they will be.
    pub constants: Vec<(u32, u32)>,
}

/// A core and the windows that its loader has programmed.
#[derive(Debug)]
struct Unit {
    core: Core,
    windows: Vec<Window>,
}

/// The device's turn: the chip together with what a record or an instruction is about.
pub struct Turn<'s> {
    /// The cores.
    pub chip: &'s mut Chip,
    /// Device memory with staged images.
    pub hbm: &'s HostMemory,
    /// The call that an instruction makes.
    pub call: Option<Asked<'s>>,
    /// Whether several cores run the library.
    pub multicore: bool,
    /// What the cores did that ran a kernel, in order.
    pub runs: Vec<Run>,
    /// The cores that would run a kernel, if somebody else is to see to that.
    pub handed_over: Option<Vec<Launch>>,
}

impl Chip {
    /// Cores after reset; nothing if the data RAM cannot hold what it must. Where the library region is the data RAM's own
    /// tail, the stack ends below it.
    pub fn new(config: Config, bounds: Bounds) -> Option<Chip> {
        let below = bounds.data.base.checked_sub(map::DATARAM)?;
        let layout = DataramLayout::new(config.dataram.min(below), config.stack)?;
        let cores = (0..).take(map::CORES).map(|prid| Unit::new(prid, layout, bounds, config)).collect();
        Some(Chip { config, bounds, layout, cores, watched: Vec::new(), constants: Vec::new() })
    }

    /// A core.
    pub fn core(&self, prid: u8) -> Option<&Core> {
        self.cores.get(usize::from(prid)).map(|unit| &unit.core)
    }

    /// Bytes of a core's own stack.
    pub fn local_stack(&self) -> u32 {
        self.config.stack
    }

    /// Where the cores have code and data of a library.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    fn unit(&mut self, prid: u8) -> Option<&mut Unit> {
        self.cores.get_mut(usize::from(prid))
    }
}

impl Unit {
    fn new(prid: u8, layout: DataramLayout, bounds: Bounds, config: Config) -> Unit {
        // From the code region's start to the data region's end; what lies between is nobody's.
        let len = bounds.data.end() - u64::from(bounds.code.base);
        let ram = Ram::new(usize::try_from(len).unwrap_or_default());
        let core = Core::new(Memory::with_image(prid, layout, bounds.code.base, ram), config.core());
        Unit { core, windows: Vec::new() }
    }

    fn shows(&self, soc_addr: u64, len: usize) -> bool {
        let last = soc_addr.wrapping_add(len as u64).wrapping_sub(1);
        self.windows.iter().any(|w| w.translate(soc_addr).is_some() && w.translate(last).is_some())
    }
}

impl Hardware for Turn<'_> {
    fn program_window(&mut self, core: u8, slot: u8, window: Option<&Window>) {
        let (layout, bounds, config) = (self.chip.layout, self.chip.bounds, self.chip.config);
        let Some(unit) = self.chip.unit(core) else { return };
        unit.windows.retain(|window| window.slot != slot);
        match window {
            Some(window) => unit.windows.push(*window),
            // A library's window goes when the library does: nothing it left behind can be used any more.
            None => {
                *unit = Unit {
                    windows: std::mem::take(&mut unit.windows),
                    ..Unit::new(core, layout, bounds, config)
                }
            }
        }
    }

    fn init_dma(&mut self, _core: u8) -> Result<(), DmaError> {
        Ok(())
    }

    fn dma(&mut self, core: u8, soc_addr: u64, into: &mut [u8]) -> Result<(), DmaError> {
        let len = into.len();
        if len > 0 && !self.chip.unit(core).is_some_and(|unit| unit.shows(soc_addr, len)) {
            return Err(NOT_SHOWN);
        }
        into.copy_from_slice(self.hbm.at(soc_addr, len).ok_or(NO_SOURCE)?);
        Ok(())
    }

    fn store(&mut self, core: u8, addr: u32, bytes: &[u8]) -> Result<(), DmaError> {
        let Bounds { code, data } = self.chip.bounds;
        let fits =
            |region: Region| addr >= region.base && u64::from(addr) + bytes.len() as u64 <= region.end();
        let state = match () {
            () if fits(code) => ACCESS | INIT | LOCKED,
            () if fits(data) => ACCESS | INIT,
            () => return Err(NO_DESTINATION),
        };
        let constants = self.chip.constants.clone();
        let unit = self.chip.unit(core).ok_or(NO_DESTINATION)?;
        let memory = &mut unit.core.memory;
        let at = addr.wrapping_sub(memory.image_base) as usize;
        memory.image.paint(at, bytes.len(), state);
        memory.image.poke(at, bytes);
        let stored = addr..addr.saturating_add(bytes.len() as u32);
        for (start, len) in constants.into_iter().filter(|(start, _)| stored.contains(start)) {
            let len = len.min(stored.end - start) as usize;
            memory.image.add_state((start - memory.image_base) as usize, len, LOCKED);
        }
        unit.core.code_changed(addr, bytes.len() as u32);
        Ok(())
    }

    fn load(&mut self, core: u8, addr: u32, into: &mut [u8]) -> Result<(), DmaError> {
        let bytes = self.chip.core(core).and_then(|core| core.memory.peek(addr, into.len()));
        into.copy_from_slice(bytes.ok_or(NO_SOURCE)?);
        Ok(())
    }

    fn call(&mut self, core: u8, entry: Entry, addr: u32) -> Result<Returned, CallError> {
        let (config, multicore) = (self.chip.config, self.multicore);
        let watched = self.chip.watched.clone();
        let (layout, bounds) = (self.chip.layout, self.chip.bounds);
        let unit = self.chip.unit(core).ok_or_else(|| CallError("there is no such core".to_owned()))?;
        if let (Entry::Kernel, Some(Asked { placed, .. }), Some(launches)) =
            (entry, self.call, &mut self.handed_over)
        {
            let nothing = Unit::new(core, layout, bounds, config).core;
            let mut core = std::mem::replace(&mut unit.core, nothing);
            core.memory.registers.feed(placed.blocks.clone());
            launches.push(Launch { core, launcher: addr, multicore });
            return Ok(Returned { value: 0, table: None });
        }
        let core = &mut unit.core;
        let (nothing, unwatched) = (SharedMemory::default(), Control::default());
        let aside = unwatched.limits(core.memory.core, config.for_boot());
        let run = match (entry, self.call) {
            (Entry::Kernel, Some(Asked { placed, control, beat })) => {
                core.memory.registers.feed(placed.blocks.clone());
                let limits = Limits { beat, ..control.limits(core.memory.core, config) };
                core.run(addr, None, View::new(&placed.shared), multicore, limits)
            }
            (Entry::Start, _) => {
                core.functions.clear();
                core.watch(watched);
                let handoff = core.memory.firmware_base + firmware::HANDOFF;
                core.run(addr, Some(handoff), View::new(&nothing), multicore, aside)
            }
            _ => core.run(addr, None, View::new(&nothing), multicore, aside),
        };
        let result = match run.ended {
            Ended::Returned(value) => Ok(Returned { value, table: None }),
            _ => {
                let why = describe::ending(&run).map_or_else(String::new, |(_, message)| message);
                let text = beside(&why, &String::from_utf8_lossy(&run.text.bytes));
                Err(CallError(why + &text))
            }
        };
        match entry {
            Entry::Kernel => self.runs.push(run),
            // What goes wrong before the first call is reported with it.
            _ => core.earlier = run.log,
        }
        result
    }
}
