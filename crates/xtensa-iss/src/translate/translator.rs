//! The translator: keeps code and what it shares with the core, enters it, and connects its parts.
//!
//! Unaware of how a region becomes code.

use std::collections::HashSet;

use iced_x86::{Code, Instruction, Register};

use super::asm::{Asm, at};
use super::code::{CodeStore, Full};
use super::context::{Context, LINKS, MOST, Reached, Reason, SLOTS, Slot};
use super::emit::{HOSTS, emit, field};
use super::region::Region;
use super::tally::{COUNTERS, Tallies};
use super::{Blocks, Declined, Entry, Exit};
use crate::bus::Bus;
use crate::core::Core;
use crate::isa::Op;
use crate::reach::{Frames, LAYOUT_MEMORIES, Layout};

/// Links that one region may need, and counters.
const LINKS_OF_REGION: u32 = 1 << 10;
const COUNTERS_OF_REGION: usize = 1 << 12;

#[derive(Default)]
pub(crate) struct Translator {
    /// Nothing before the first translation.
    live: Option<Box<Live>>,
    /// What the last bus said of its memory.
    layout: Layout,
    /// What code counts, if that bus was to be told.
    is_profiled: bool,
    tallies: Tallies,
}

struct Live {
    store: CodeStore,
    context: Context,
    /// `extern "sysv64" fn(*mut Context, code)`
    enter: usize,
    slots: Vec<Slot>,
    /// Where each link leads; as many as there are.
    links: Vec<usize>,
    /// Addresses behind translated blocks.
    ends: HashSet<u32>,
}

impl std::fmt::Debug for Translator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Translator").field("layout", &self.layout).finish_non_exhaustive()
    }
}

// SAFETY: the pointers in `Context` lead into `Live` itself, which moves as a whole behind its box, or are set anew whenever
// code is entered and are not used after it is left.
unsafe impl Send for Translator {}

impl Translator {
    /// Looks at a bus before it is used; `false` if code was made for another one and has been forgotten.
    pub fn prepare<B: Bus>(&mut self, bus: &B) -> bool {
        let layout = bus.layout();
        if layout == self.layout && bus.is_profiled() == self.is_profiled {
            return true;
        }
        self.clear();
        (self.layout, self.is_profiled) = (layout, bus.is_profiled());
        false
    }

    /// Translates what begins at `pc`.
    pub fn translate<B: Bus>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        blocks: &impl Blocks,
        pc: u32,
    ) -> Result<Entry, Declined> {
        if self.live.is_none() {
            self.live = Live::new(&self.layout).map(Box::new);
        }
        let live = self.live.as_mut().ok_or(Declined::Impossible)?;
        let next_link = live.links.len() as u32;
        let has_room = self.tallies.len() + COUNTERS_OF_REGION <= COUNTERS;
        if next_link + LINKS_OF_REGION > LINKS as u32 || !has_room {
            return Err(Declined::Full);
        }
        let region = Region::collect(blocks, pc, HOSTS.len()).ok_or(Declined::Impossible)?;
        // Literals become part of the code; a change of one is a change of code.
        let literals: Vec<(u32, u32)> = region
            .nodes
            .iter()
            .flat_map(|node| &node.insns)
            .filter(|insn| insn.op == Op::L32r)
            .filter_map(|insn| Some((insn.imm, bus.constant32(insn.imm)?)))
            .collect();
        let constant = |addr: u32| literals.iter().find(|(at, _)| *at == addr).map(|(_, value)| *value);
        let counters = self.is_profiled.then(|| self.tallies.len() as u32);
        let emitted =
            emit(&region, &self.layout, &constant, next_link, counters).ok_or(Declined::Impossible)?;
        let start = live.store.add(&emitted.code).map_err(|Full| Declined::Full)? as usize;
        // Numbered in this order: see `emit`.
        live.links.extend(emitted.links.iter().map(|stub| start + stub));
        self.tallies.extend(emitted.counters);
        live.ends.extend(region.nodes.iter().map(|node| node.end));
        for (addr, _) in literals {
            core.code.insert(addr, addr.wrapping_add(3));
        }
        Ok(Entry(start))
    }

    /// Runs translated code until it comes back, and counts down what is left.
    pub fn run<B: Bus>(&mut self, core: &mut Core, bus: &mut B, entry: Entry, left: &mut u64) -> Exit {
        let Some(live) = self.live.as_mut() else { return Exit::Interpret };
        let before = (*left).min(MOST);
        let context = &mut live.context;
        (context.slots, context.links) = (live.slots.as_mut_ptr(), live.links.as_mut_ptr());
        context.attach(core, bus);
        (context.left, context.told, context.native_calls) = (before, before, 0);
        (context.counts, context.counters) = ([0; 2], self.tallies.counters());
        // SAFETY: `enter` and `entry` are addresses in the store, of code made by `Live::new` and `translate` (an entry does
        // not outlive `clear`, which its only keeper calls together with forgetting it). The code keeps the calling
        // convention. It writes to the record; to the two memories, within the limits that `Bus::reach` gave, which are
        // looked at again after every call of the bus; and to its own tables and counters. Core and bus are borrowed exclusively here
        // and not used before it returns.
        unsafe {
            let enter: extern "sysv64" fn(*mut Context, usize) = std::mem::transmute(live.enter);
            enter(context, entry.0);
        }
        let done = before.wrapping_sub(context.left);
        *left = left.wrapping_sub(done);
        context.give(core);
        core.state.instructions = core.state.instructions.wrapping_add(done);
        core.state.cycles = core.state.cycles.wrapping_add(done);
        core.native_calls += context.native_calls;
        match self.is_profiled {
            true => context.tell(bus, 0),
            false => context.tell_accesses(bus),
        }
        match context.reason {
            r if r == Reason::Link as u32 => Exit::Go(Some(context.link)),
            r if r == Reason::Jump as u32 => Exit::Go(None),
            r if r == Reason::Fault as u32 => Exit::Fault,
            r if r == Reason::Written as u32 => Exit::Written,
            _ => Exit::Interpret,
        }
    }

    /// From now on a link, or any jump to `pc`, leads to `entry` at once.
    pub fn connect(&mut self, link: Option<u32>, pc: u32, entry: Entry) {
        let Some(live) = self.live.as_mut() else { return };
        match link {
            Some(link) => {
                if let Some(target) = live.links.get_mut(link as usize) {
                    *target = entry.0;
                }
            }
            None => {
                if let Some(slot) = live.slots.get_mut(pc as usize % SLOTS) {
                    *slot = [u64::from(pc), entry.0 as u64];
                }
            }
        }
    }

    /// Whether a translated block ends there.
    pub fn has_end(&self, pc: u32) -> bool {
        self.live.as_ref().is_some_and(|live| live.ends.contains(&pc))
    }

    /// Forgets all code.
    pub fn clear(&mut self) {
        self.live = None;
        self.tallies.clear();
    }

    /// Tells a bus what code counted, once.
    pub fn tell_tallies<B: Bus>(&mut self, bus: &mut B) {
        self.tallies.tell(bus);
    }
}

impl Live {
    fn new(layout: &Layout) -> Option<Live> {
        let mut store = CodeStore::default();
        let (code, [enter, exit, call]) = frame()?;
        let start = store.add(&code).ok()? as usize;
        let ahead = [0u32, 1, 2, 3].map(|increment| (2 << (increment + 3)) - 2);
        let each = if layout.marks.is_some() { 2 } else { 1 };
        let needed = layout.memories.map(|memory| (memory.len as usize * each, memory.len));
        let [first, _] = layout.memories;
        let is_inside = |frames: Frames| {
            first.base <= frames.from && frames.from <= frames.to && frames.to - first.base <= first.len
        };
        let in_words = layout.memories.iter().all(|memory| (memory.base | memory.len) & 3 == 0);
        // Offsets are signed words in the code.
        let is_near = layout.memories.iter().all(|memory| memory.len <= i32::MAX as u32 / 2);
        let frames_ok = layout.frames.is_none_or(|frames| layout.marks.is_some() && is_inside(frames));
        if !in_words || !is_near || !frames_ok {
            return None;
        }
        let none = Reached { bytes: std::ptr::null_mut(), limits: [0; 3], unused: 0 };
        let context = Context {
            pc: 0,
            reason: 0,
            link: 0,
            value: 0,
            argument: 0,
            left: 0,
            told: 0,
            behind: 0,
            window: std::ptr::null_mut(),
            window_base: 0,
            frames: 0,
            callinc: 0,
            isl: 0,
            sar: 0,
            lcount: 0,
            lbeg: 0,
            lend: 0,
            counts: [0; 2],
            native_calls: 0,
            memories: [none; LAYOUT_MEMORIES],
            untouched: 0,
            code_from: 0,
            code_len: 0,
            ahead,
            frame_mark: [layout.frames.map_or(0, |frames| frames.mark); 16],
            slots: std::ptr::null_mut(),
            links: std::ptr::null_mut(),
            counters: std::ptr::null_mut(),
            exit: start + exit,
            call: start + call,
            load8: 0,
            load16: 0,
            load32: 0,
            literal: 0,
            store8: 0,
            store16: 0,
            store32: 0,
            frame_left: 0,
            rotate: 0,
            routine: 0,
            entered: 0,
            computed: 0,
            returned: 0,
            needed,
            core: std::ptr::null_mut(),
            bus: std::ptr::null_mut(),
            file: [0; super::context::FILE],
        };
        // No jump goes to an empty slot's code: the pc of all is 0, which has the first, and that one has another.
        let mut slots: Vec<Slot> = vec![[0; 2]; SLOTS];
        if let Some(first) = slots.first_mut() {
            *first = [u64::from(u32::MAX), (start + exit) as u64];
        }
        Some(Live { store, context, enter: start + enter, slots, links: Vec::new(), ends: HashSet::new() })
    }
}

/// The way in, the way out, and the way to a function of the record: code and offsets.
fn frame() -> Option<(Vec<u8>, [usize; 3])> {
    let mut asm = Asm::new();
    let saved = [Register::RBX, Register::RBP, Register::R12, Register::R13, Register::R14, Register::R15];
    let guest = [Register::RSI, Register::RDI, Register::R8, Register::R9, Register::R10, Register::R11];
    let [enter, exit, call] = [(); 3].map(|()| asm.label());
    let first = at(
        Register::RBP,
        (std::mem::offset_of!(Context, memories) + std::mem::offset_of!(Reached, bytes)) as i32,
    );
    asm.bind(enter);
    for register in saved {
        asm.put(Instruction::with1(Code::Push_r64, register));
    }
    asm.put(Instruction::with2(Code::Sub_rm64_imm8, Register::RSP, 8));
    asm.put(Instruction::with2(Code::Mov_r64_rm64, Register::RBP, Register::RDI));
    asm.put(Instruction::with2(Code::Mov_r64_rm64, Register::RBX, field!(window)));
    asm.put(Instruction::with2(Code::Mov_r64_rm64, Register::R14, first));
    asm.put(Instruction::with2(Code::Mov_r64_rm64, Register::R15, field!(left)));
    asm.put(Instruction::with1(Code::Jmp_rm64, Register::RSI));
    asm.bind(exit);
    asm.put(Instruction::with2(Code::Mov_rm64_r64, field!(left), Register::R15));
    asm.put(Instruction::with2(Code::Add_rm64_imm8, Register::RSP, 8));
    for register in saved.into_iter().rev() {
        asm.put(Instruction::with1(Code::Pop_r64, register));
    }
    asm.put(Ok(Instruction::with(Code::Retnq)));
    // The address is in rax, its first argument in the record, the others in edx and ecx.
    asm.bind(call);
    for register in guest {
        asm.put(Instruction::with1(Code::Push_r64, register));
    }
    asm.put(Instruction::with2(Code::Sub_rm64_imm8, Register::RSP, 8));
    asm.put(Instruction::with2(Code::Mov_r64_rm64, Register::RDI, Register::RBP));
    asm.put(Instruction::with2(Code::Mov_r32_rm32, Register::ESI, field!(argument)));
    asm.put(Instruction::with1(Code::Call_rm64, Register::RAX));
    asm.put(Instruction::with2(Code::Add_rm64_imm8, Register::RSP, 8));
    for register in guest.into_iter().rev() {
        asm.put(Instruction::with1(Code::Pop_r64, register));
    }
    asm.put(Instruction::with2(Code::Mov_r64_rm64, Register::R14, first));
    asm.put(Ok(Instruction::with(Code::Retnq)));
    let (code, labels) = asm.finish()?;
    let place = |label| Asm::place(&labels, label);
    Some((code, [place(enter)?, place(exit)?, place(call)?]))
}
