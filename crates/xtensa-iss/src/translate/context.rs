//! What translated code and the rest of the core share: one record that code reaches through a register, and the functions
//! it calls for everything that is not plain.
//!
//! Unaware of how code is made.

use crate::bus::{At, Bus};
use crate::core::{Core, Leave, call_before};
use crate::exec::memory::{literal, load8, load16, load32, store8, store16, store32};
use crate::native::{Answer, Routine};
use crate::reach::LAYOUT_MEMORIES;
use crate::state::{PHYSICAL_REGISTERS, ps};

/// Physical registers, and as many more as a window at the last position sees beyond them: copies of the first ones.
pub(super) const FILE: usize = PHYSICAL_REGISTERS + 16;
/// The last window position that sees no copies.
pub(super) const LAST_FLAT: u32 = 12;
/// Entries of the table of jump targets.
pub(super) const SLOTS: usize = 1 << 12;
/// Most places that leave for a fixed address.
pub(super) const LINKS: usize = 1 << 16;

/// Why translated code came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Reason {
    /// The instructions from `pc` on are to be interpreted.
    Interpret = 0,
    /// On at `pc`, through the link `link`.
    Link = 1,
    /// On at `pc`, wherever that is.
    Jump = 2,
    /// The instruction at `pc` did not complete, for the reason in the core's `fault`.
    Fault = 3,
    /// The instruction before `pc` wrote to code.
    Written = 4,
}

/// A jump target that was met before: its pc, and where its code is. Plain numbers, so that a table of them is made of zeros
/// that nobody writes.
pub(super) type Slot = [u64; 2];

/// Offsets of the two.
pub(super) const SLOT_PC: usize = 0;
pub(super) const SLOT_CODE: usize = 8;

/// One memory that code reaches by itself.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct Reached {
    pub bytes: *mut u8,
    /// Accesses of 1, 2 and 4 bytes that fit.
    pub limits: [u32; 3],
    pub unused: u32,
}

/// Instructions for which code is entered at most.
pub(super) const MOST: u64 = 1 << 31;

/// Offsets in it are part of the code; `repr(C)` keeps them.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context {
    pub pc: u32,
    pub reason: u32,
    pub link: u32,
    pub value: u32,
    /// First argument of the function that is called.
    pub argument: u32,
    pub left: u64,
    /// What was left when a profiled bus was told last.
    pub told: u64,
    /// Instructions counted ahead when it is called from the middle of a block.
    pub behind: u32,
    /// First register of the window, in `file`.
    pub window: *mut u32,
    pub window_base: u32,
    /// WindowStart, turned so that the running frame is bit 0.
    pub frames: u32,
    pub callinc: u32,
    pub isl: u32,
    pub sar: u32,
    pub lcount: u32,
    pub lbeg: u32,
    pub lend: u32,
    /// Loads, and above them stores: one addition in memory counts both. [`MOST`] instructions do not fill a half.
    pub counts: [u32; 2],
    /// Calls of routines that the host computed.
    pub native_calls: u64,
    pub memories: [Reached; LAYOUT_MEMORIES],
    /// Bytes between the watermark's floor and the lowest byte stored above it.
    pub untouched: u32,
    /// Lowest and highest byte of decoded code, which stores in memory that may hold code keep off.
    pub code_from: u32,
    pub code_len: u32,
    /// Frames that ENTRY must not find alive ahead, by CALLINC.
    pub ahead: [u32; 4],
    pub frame_mark: [u8; 16],
    pub slots: *mut Slot,
    pub links: *mut usize,
    pub counters: *mut u64,
    pub exit: usize,
    pub call: usize,
    pub load8: usize,
    pub load16: usize,
    pub load32: usize,
    pub literal: usize,
    pub store8: usize,
    pub store16: usize,
    pub store32: usize,
    pub frame_left: usize,
    pub rotate: usize,
    pub routine: usize,
    pub entered: usize,
    pub computed: usize,
    pub returned: usize,
    /// Bytes that each memory must have, and how many of them may be reached.
    pub needed: [(usize, u32); LAYOUT_MEMORIES],
    pub core: *mut Core,
    pub bus: *mut (),
    pub file: [u32; FILE],
}

// Both halves are added to at once.
const _: () = assert!(std::mem::offset_of!(Context, counts).is_multiple_of(8));

impl Context {
    /// Points the helpers at a bus of type `B`.
    pub fn attach<B: Bus>(&mut self, core: &mut Core, bus: &mut B) {
        (self.load8, self.load16) =
            (help_load8::<B> as *const () as usize, help_load16::<B> as *const () as usize);
        (self.load32, self.literal) =
            (help_load32::<B> as *const () as usize, help_literal::<B> as *const () as usize);
        (self.store8, self.store16) =
            (help_store8::<B> as *const () as usize, help_store16::<B> as *const () as usize);
        (self.store32, self.frame_left) =
            (help_store32::<B> as *const () as usize, help_frame_left::<B> as *const () as usize);
        (self.rotate, self.routine) =
            (help_rotate as *const () as usize, help_routine::<B> as *const () as usize);
        (self.entered, self.computed, self.returned) = (
            help_entered::<B> as *const () as usize,
            help_computed::<B> as *const () as usize,
            help_returned::<B> as *const () as usize,
        );
        self.take(core);
        self.reach(bus);
        (self.core, self.bus) = (core, std::ptr::from_mut(bus).cast());
    }

    /// Takes the registers over.
    fn take(&mut self, core: &mut Core) {
        core.store_window();
        let s = &core.state;
        self.file[..PHYSICAL_REGISTERS].copy_from_slice(&s.ar);
        self.window_base = s.window_base.into();
        self.frames = s.window_start.rotate_right(self.window_base).into();
        self.callinc = (s.ps & ps::CALLINC) >> ps::CALLINC_SHIFT;
        (self.isl, self.sar) = (s.isl, s.sar);
        (self.lbeg, self.lend, self.lcount) = (s.lbeg, s.lend, s.lcount);
        (self.code_from, self.code_len) = core.code.span();
        self.enter_window();
    }

    /// Gives the registers back.
    pub fn give(&mut self, core: &mut Core) {
        self.leave_window();
        let s = &mut core.state;
        s.ar.copy_from_slice(&self.file[..PHYSICAL_REGISTERS]);
        s.window_base = self.window_base as u8 & 15;
        s.window_start = (self.frames as u16).rotate_left(self.window_base);
        s.ps = s.ps & !ps::CALLINC | self.callinc << ps::CALLINC_SHIFT;
        s.sar = self.sar;
        (s.lbeg, s.lend, s.lcount) = (self.lbeg, self.lend, self.lcount);
        s.pc = self.pc;
        core.load_window();
    }

    /// Tells a profiled bus what ran since it was told last, but for so many instructions that are counted ahead.
    #[inline(always)]
    pub fn tell<B: Bus>(&mut self, bus: &mut B, ahead: u32) {
        self.tell_time(bus, ahead);
        self.tell_accesses(bus);
    }

    /// Tells a bus of the accesses since it was told last.
    #[inline(always)]
    pub fn tell_accesses<B: Bus>(&mut self, bus: &mut B) {
        let [loads, stores] = std::mem::take(&mut self.counts).map(u64::from);
        bus.reached(loads, stores);
    }

    #[inline(always)]
    fn tell_time<B: Bus>(&mut self, bus: &mut B, ahead: u32) {
        let left = self.left.wrapping_add(ahead.into());
        bus.passed(self.told.wrapping_sub(left));
        self.told = left;
    }

    fn enter_window(&mut self) {
        if self.window_base > LAST_FLAT {
            let (physical, copies) = self.file.split_at_mut(PHYSICAL_REGISTERS);
            copies.copy_from_slice(&physical[..FILE - PHYSICAL_REGISTERS]);
        }
        let first = (self.window_base as usize & 15) * 4;
        self.window = self.file[first..].as_mut_ptr();
    }

    fn leave_window(&mut self) {
        if self.window_base > LAST_FLAT {
            let seen = (self.window_base as usize & 15) * 4 + 16 - PHYSICAL_REGISTERS;
            let (physical, copies) = self.file.split_at_mut(PHYSICAL_REGISTERS);
            physical[..seen].copy_from_slice(&copies[..seen]);
        }
    }

    /// Looks again at the memories that code reaches, which the bus may have opened, closed or moved.
    ///
    /// # Panics
    /// There is less of one than the bus said there would be: code must not go on.
    fn reach<B: Bus>(&mut self, bus: &mut B) {
        let reach = bus.reach();
        self.untouched = reach.untouched;
        let memories = self.memories.iter_mut().zip(self.needed).zip(reach.memories);
        for ((reached, (bytes_needed, len)), (bytes, open)) in memories {
            assert!(bytes.len() >= bytes_needed, "a memory of the bus shrank");
            let open = open.min(len);
            reached.bytes = bytes.as_mut_ptr();
            reached.limits = [open, open / 2, open / 4];
        }
    }
}

/// The core, the bus and the record behind the pointer that code passes.
///
/// # Safety
/// `context` comes from translated code: it is what [`super::Translator::run`] entered with, which has lent core and bus to
/// the code and touches neither until it returns; and `B` is the type that it attached.
unsafe fn parts<'a, B: Bus>(context: *mut Context) -> (&'a mut Context, &'a mut Core, &'a mut B) {
    // SAFETY: the three do not overlap, and nothing else refers to them meanwhile, as said above.
    unsafe {
        let context = &mut *context;
        let (core, bus) = (&mut *context.core, &mut *context.bus.cast::<B>());
        (context, core, bus)
    }
}

/// In place of a value: the load did not complete.
const REFUSED: u64 = 1 << 63;
/// What a store comes to.
const STORED: u64 = 0;
pub(super) const STORE_REFUSED: u64 = 1;
const CODE_WRITTEN: u64 = 2;

macro_rules! loads {
    ($($helper:ident $load:ident;)*) => {$(
        extern "sysv64" fn $helper<B: Bus>(context: *mut Context, addr: u32, sp: u32, pc: u32) -> u64 {
            // SAFETY: only translated code calls this.
            let (context, core, bus) = unsafe { parts::<B>(context) };
            if bus.is_profiled() {
                context.tell_time(bus, context.behind);
            }
            let loaded = $load(core, bus, At { pc, sp }, addr);
            context.reach(bus);
            loaded.map_or(REFUSED, u64::from)
        }
    )*};
}

macro_rules! stores {
    ($($helper:ident $store:ident $kind:ty;)*) => {$(
        extern "sysv64" fn $helper<B: Bus>(context: *mut Context, addr: u32, sp: u32, pc: u32) -> u64 {
            // SAFETY: only translated code calls this.
            let (context, core, bus) = unsafe { parts::<B>(context) };
            if bus.is_profiled() {
                context.tell_time(bus, context.behind);
            }
            let stored = $store(core, bus, At { pc, sp }, addr, context.value as $kind);
            context.reach(bus);
            match stored {
                Ok(()) => STORED,
                Err(Leave::CodeWritten) => CODE_WRITTEN,
                Err(_) => STORE_REFUSED,
            }
        }
    )*};
}

loads! {
    help_load8 load8;
    help_load16 load16;
    help_load32 load32;
    help_literal literal;
}

stores! {
    help_store8 store8 u8;
    help_store16 store16 u16;
    help_store32 store32 u32;
}

/// A frame that is not in the memory whose marks code fills itself.
extern "sysv64" fn help_frame_left<B: Bus>(context: *mut Context, from: u32, to: u32) -> u64 {
    // SAFETY: only translated code calls this.
    let (context, _, bus) = unsafe { parts::<B>(context) };
    bus.frame_left(from, to);
    context.reach(bus);
    0
}

/// Calls a routine that is not arithmetic alone: its number in [`Routine::WITH_MEMORY`], the stack pointer that it would have.
extern "sysv64" fn help_routine<B: Bus>(context: *mut Context, routine: u32, sp: u32, pc: u32) -> Answer {
    // SAFETY: only translated code calls this.
    let (context, core, bus) = unsafe { parts::<B>(context) };
    let first = 4 * (context.window_base as usize & 15) + 4 * (context.callinc as usize & 3);
    let words = [2, 3, 4, 5].map(|r| context.file.get(first + r).copied().unwrap_or_default());
    let routine = Routine::WITH_MEMORY.get(routine as usize);
    let outcome = routine.and_then(|routine| routine.perform(core, bus, At { pc, sp }, words, context.left));
    context.reach(bus);
    outcome.into()
}

/// A function has begun: its return address, what its first block counted ahead, its ENTRY.
extern "sysv64" fn help_entered<B: Bus>(context: *mut Context, back: u32, ahead: u32, pc: u32) -> u64 {
    // SAFETY: only translated code calls this.
    let (context, _, bus) = unsafe { parts::<B>(context) };
    context.tell(bus, ahead);
    bus.entered(pc, call_before(back, pc));
    0
}

/// The host computed a function that stands for so many instructions: its return address, its ENTRY.
extern "sysv64" fn help_computed<B: Bus>(context: *mut Context, done: u32, back: u32, pc: u32) -> u64 {
    // SAFETY: only translated code calls this.
    let (context, _, bus) = unsafe { parts::<B>(context) };
    let site = call_before(back, pc);
    if bus.is_timed() {
        context.tell(bus, done);
        bus.computed(pc, site, done.into());
        context.told = context.left;
    } else {
        // What ran before is told with what comes; this is not.
        bus.computed(pc, site, done.into());
        context.told = context.told.wrapping_sub(done.into());
    }
    0
}

/// A function has returned.
extern "sysv64" fn help_returned<B: Bus>(context: *mut Context) -> u64 {
    // SAFETY: only translated code calls this.
    let (context, _, bus) = unsafe { parts::<B>(context) };
    context.tell(bus, 0);
    bus.left();
    0
}

/// The window moves by some positions to or from one that sees copies.
extern "sysv64" fn help_rotate(context: *mut Context, by: u32) -> u64 {
    // SAFETY: only translated code calls this, with the record that it was entered with.
    let context = unsafe { &mut *context };
    context.leave_window();
    context.window_base = context.window_base.wrapping_add(by) & 15;
    context.enter_window();
    0
}
