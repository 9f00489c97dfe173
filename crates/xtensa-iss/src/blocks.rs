//! Blocks: straight runs of decoded instructions, cached by address, chained to their successors; and the run loop.
//!
//! Unaware of what instructions do and of how host code is made of them. A block may have a translation, which is entered in
//! its place, and runs on through others until it meets something that it leaves to this loop.
//!
//! Zero-overhead loops: LEND takes effect only when execution falls through to it, so no block runs across an address
//! that LEND has been seen to hold; the check happens once, at the block's end.

use std::collections::HashMap;

use crate::bus::{Bus, FETCH_BYTES};
use crate::core::{Core, Leave};
use crate::fault::{Fault, FaultKind, Stop};
use crate::isa::{Flow, Insn, Op, decode, execute};
use crate::native::{self, Routine};
use crate::state::ps;
use crate::track::{self, Marks};
use crate::translate::{Blocks, Declined, Entry, Exit, Translator};

/// Longest block, in instructions.
const MAX_BLOCK: usize = 64;
/// Decoded instructions kept before the cache starts afresh.
const MAX_DECODED: usize = 1 << 20;
/// Entries of the direct-mapped lookup in front of the hash map.
const NEAR: usize = 1 << 12;

/// A run of instructions that is entered at its start only.
#[derive(Debug)]
struct Block {
    pc: u32,
    insns: Box<[Insn]>,
    /// What tracking asks of each; nothing before it comes by.
    marks: Box<[Marks]>,
    /// What the host may do instead of the function that begins here.
    routine: Option<Routine>,
    /// Address behind the last instruction.
    end: u32,
    /// Its translation.
    code: Option<Entry>,
    /// How often it was interpreted, as long as it may still be translated.
    heat: u32,
    /// Blocks last seen after falling through and after a jump; only a guess, the target's pc decides.
    successors: [u32; 2],
}

#[derive(Debug)]
pub(crate) struct BlockCache {
    blocks: Vec<Block>,
    /// Instructions in all blocks together.
    decoded: usize,
    by_pc: HashMap<u32, u32>,
    near: Vec<u32>,
    /// Every address that was ever a loop end, with the start that LOOP gave it; blocks stop there.
    loop_ends: HashMap<u32, Option<u32>>,
    translator: Translator,
    /// The last LEND seen; it is in `loop_ends`.
    known_lend: u32,
    /// How often everything was forgotten.
    pub flushes: u64,
}

impl BlockCache {
    pub fn new() -> Self {
        Self {
            blocks: Vec::new(),
            decoded: 0,
            by_pc: HashMap::new(),
            near: vec![0; NEAR],
            loop_ends: HashMap::from([(0, None)]),
            translator: Translator::default(),
            known_lend: 0,
            flushes: 0,
        }
    }

    /// Runs from the core's pc on.
    pub fn run<B: Bus>(&mut self, core: &mut Core, bus: &mut B, budget: u64) -> Stop {
        let mut left = budget;
        // The bus may be another one than last time.
        bus.track(core.shadow.tracking);
        if !self.translator.prepare(bus) {
            self.forget_code();
        }
        loop {
            let paused = match core.shadow.tracking {
                false => self.run_as::<B, false>(core, bus, &mut left),
                true => self.run_as::<B, true>(core, bus, &mut left),
            };
            if let Some(stop) = paused {
                return stop;
            }
            core.shadow.tracking = !core.shadow.tracking;
            bus.track(core.shadow.tracking);
        }
    }

    /// Runs without or with an eye on undefined bits, and counts down the budget; `None` when it should go on the other way.
    /// Between blocks `core.state.pc` is exact; inside, the instruction knows its own.
    fn run_as<B: Bus, const TRACKED: bool>(
        &mut self,
        core: &mut Core,
        bus: &mut B,
        budget: &mut u64,
    ) -> Option<Stop> {
        let mut left = *budget;
        let profiled = bus.is_profiled();
        self.add_loop_end(core, core.state.lend, None);
        let mut id = match self.find(core, bus) {
            Ok(id) => id,
            Err(fault) => return Some(Stop::Fault(fault)),
        };
        // What translated code left to the interpreter.
        let mut by_hand = false;
        loop {
            if !TRACKED
                && !std::mem::take(&mut by_hand)
                && let Some(entry) = self.entry(core, bus, id)
            {
                let exit = self.translator.run(core, bus, entry, &mut left);
                match exit {
                    Exit::Fault if core.fault.is_undefined() => {
                        *budget = left;
                        return None;
                    }
                    Exit::Fault => {
                        return Some(Stop::Fault(Fault { pc: core.state.pc, kind: core.fault }));
                    }
                    Exit::Written => {
                        core.fall_through(core.state.pc);
                        self.flush(core);
                    }
                    Exit::Interpret => by_hand = true,
                    Exit::Go(_) => {}
                }
                if left == 0 {
                    return Some(Stop::Budget);
                }
                id = match self.find(core, bus) {
                    Ok(next) => next,
                    Err(fault) => return Some(Stop::Fault(fault)),
                };
                if let Exit::Go(link) = exit
                    && let Some(&Block { code: Some(entry), pc, .. }) = self.blocks.get(id as usize)
                {
                    self.translator.connect(link, pc, entry);
                }
                continue;
            }
            let Some(block) = self.blocks.get_mut(id as usize) else { return Some(Stop::Budget) };
            if TRACKED && block.marks.is_empty() {
                block.marks = block.insns.iter().map(Marks::of).collect();
            }
            let block = &*block;
            let site = if profiled { core.call_site(block.pc) } else { 0 };
            if !TRACKED && let Some(done) = block.call(core, bus, left) {
                if profiled {
                    bus.computed(block.pc, site, done);
                }
                left -= done;
                core.state.instructions = core.state.instructions.wrapping_add(done);
                core.state.cycles = core.state.cycles.wrapping_add(done);
                if left == 0 {
                    return Some(Stop::Budget);
                }
                id = match self.next(core, bus, id, true) {
                    Ok(next) => next,
                    Err(fault) => return Some(Stop::Fault(fault)),
                };
                continue;
            }
            let (allowed, beyond) = match usize::try_from(left) {
                Ok(left) if left < block.insns.len() => block.insns.split_at(left),
                _ => (&*block.insns, [].as_slice()),
            };

            // Counted ahead, so that the last instruction of a block sees exact counters; corrected on early leave.
            let ahead = allowed.len() as u64;
            left -= ahead;
            core.state.instructions = core.state.instructions.wrapping_add(ahead);
            core.state.cycles = core.state.cycles.wrapping_add(ahead);

            if profiled && block.is_entry() {
                bus.entered(block.pc, site);
            }
            let mut rest = allowed.iter();
            let mut marks = block.marks.iter();
            let left_by = loop {
                let Some(insn) = rest.next() else { break None };
                let done = match marks.next() {
                    Some(marks) if TRACKED => track::step(core, bus, insn, *marks),
                    _ => execute(core, bus, insn),
                };
                if let Err(leave) = done {
                    break Some((leave, insn));
                }
            };
            let mut skipped = rest.as_slice().len() as u64;
            if profiled {
                let refused = usize::from(matches!(left_by, Some((Leave::Fault, _))));
                tell(bus, &allowed[..allowed.len() - rest.as_slice().len() - refused], block);
            }

            let jumped = match left_by {
                None => match beyond.first() {
                    None => core.fall_through(block.end),
                    Some(next) => {
                        core.state.pc = next.pc;
                        return Some(Stop::Budget);
                    }
                },
                Some((Leave::Jump, _)) => true,
                Some((Leave::CodeWritten, insn)) => {
                    core.fall_through(insn.end());
                    self.flush(core);
                    core.take_back(&mut left, skipped);
                    skipped = 0;
                    true
                }
                Some((Leave::Trap, insn)) => {
                    core.fall_through(insn.end());
                    core.take_back(&mut left, skipped);
                    return Some(core.stop);
                }
                Some((Leave::Fault, insn)) => {
                    core.state.pc = insn.pc;
                    core.take_back(&mut left, skipped + 1);
                    if !TRACKED && core.fault.is_undefined() {
                        *budget = left;
                        return None;
                    }
                    return Some(Stop::Fault(Fault { pc: insn.pc, kind: core.fault }));
                }
            };
            if skipped != 0 {
                core.take_back(&mut left, skipped);
            }
            if left == 0 {
                return Some(Stop::Budget);
            }
            if TRACKED && core.shadow.is_clean() {
                *budget = left;
                return None;
            }

            id = match self.next(core, bus, id, jumped) {
                Ok(next) => next,
                Err(fault) => return Some(Stop::Fault(fault)),
            };
        }
    }

    /// The block behind another one: the remembered successor if it starts where execution goes.
    #[inline(always)]
    fn next<B: Bus>(&mut self, core: &mut Core, bus: &mut B, id: u32, jumped: bool) -> Result<u32, Fault> {
        let guess = self.blocks.get(id as usize).map_or(u32::MAX, |b| b.successors[usize::from(jumped)]);
        if self.blocks.get(guess as usize).is_some_and(|next| next.pc == core.state.pc) {
            return Ok(guess);
        }
        let next = self.find(core, bus)?;
        if let Some(block) = self.blocks.get_mut(id as usize) {
            block.successors[usize::from(jumped)] = next;
        }
        Ok(next)
    }

    /// The translation of a block, made when it has run often enough.
    #[inline(always)]
    fn entry<B: Bus>(&mut self, core: &mut Core, bus: &mut B, id: u32) -> Option<Entry> {
        let hot = core.config.translate_after?;
        if core.state.ps & (ps::WOE | ps::EXCM) != ps::WOE {
            return None;
        }
        let block = self.blocks.get_mut(id as usize)?;
        if block.code.is_some() || block.heat > hot {
            return block.code;
        }
        block.heat += 1;
        if block.heat <= hot { None } else { self.translate(core, bus, id) }
    }

    #[cold]
    fn translate<B: Bus>(&mut self, core: &mut Core, bus: &mut B, id: u32) -> Option<Entry> {
        let view = View { blocks: &self.blocks, by_pc: &self.by_pc, loop_ends: &self.loop_ends };
        let pc = view.blocks.get(id as usize)?.pc;
        match self.translator.translate(core, bus, &view, pc) {
            Ok(code) => {
                let block = self.blocks.get_mut(id as usize)?;
                block.code = Some(code);
                Some(code)
            }
            Err(Declined::Impossible) => None,
            Err(Declined::Full) => {
                self.translator.clear();
                self.forget_code();
                None
            }
        }
    }

    /// Blocks have no translations any more.
    fn forget_code(&mut self) {
        for block in &mut self.blocks {
            (block.code, block.heat) = (None, 0);
        }
    }

    /// The block at the core's pc, decoded if need be.
    fn find<B: Bus>(&mut self, core: &mut Core, bus: &mut B) -> Result<u32, Fault> {
        let pc = core.state.pc;
        if self.known_lend != core.state.lend {
            self.add_loop_end(core, core.state.lend, None);
            self.known_lend = core.state.lend;
        }
        let slot = (pc ^ pc >> 12) as usize % NEAR;
        let id = self.near[slot];
        if self.blocks.get(id as usize).is_some_and(|b| b.pc == pc) {
            return Ok(id);
        }
        let id = match self.by_pc.get(&pc) {
            Some(&id) => id,
            None => self.decode_block(core, bus, pc)?,
        };
        self.near[slot] = id;
        Ok(id)
    }

    fn decode_block<B: Bus>(&mut self, core: &mut Core, bus: &mut B, start: u32) -> Result<u32, Fault> {
        if self.decoded > MAX_DECODED {
            self.flush(core);
        }
        let mut run: Vec<Insn> = Vec::with_capacity(MAX_BLOCK);
        let mut pc = start;
        let mut new_loop_end = None;
        while run.len() < MAX_BLOCK {
            let mut bytes = [0; FETCH_BYTES];
            let valid = match bus.fetch(pc, &mut bytes) {
                Ok(n) => n.min(FETCH_BYTES),
                Err(fault) if run.is_empty() => return Err(Fault { pc, kind: FaultKind::Fetch { fault } }),
                Err(_) => break,
            };
            let insn = decode(&bytes[..valid], pc);
            run.push(insn);
            pc = insn.end();
            if let Op::Loop | Op::Loopnez | Op::Loopgtz = insn.op {
                new_loop_end = Some((insn.imm, insn.end()));
            }
            // A block does not wrap around the end of the address space.
            if insn.row().flow == Flow::Ends || self.loop_ends.contains_key(&pc) || pc < start {
                break;
            }
        }
        if let Some((lend, start)) = new_loop_end {
            self.add_loop_end(core, lend, Some(start));
        }
        let found =
            run.first().filter(|_| core.config.native).and_then(|first| native::recognise(bus, first));
        for &(first, last) in found.iter().flat_map(|found| &found.parts) {
            core.code.insert(first, last);
        }
        let id = self.blocks.len() as u32;
        core.code.insert(start, pc.wrapping_sub(1).max(start));
        self.blocks.push(Block {
            pc: start,
            insns: run.as_slice().into(),
            marks: Box::default(),
            routine: found.map(|found| found.routine),
            end: pc,
            successors: [u32::MAX; 2],
            code: None,
            heat: 0,
        });
        self.decoded += run.len();
        self.by_pc.insert(start, id);
        Ok(id)
    }

    /// Makes blocks stop at `lend`. Blocks that run across it are dropped (all are: it happens once a loop).
    fn add_loop_end(&mut self, core: &mut Core, lend: u32, start: Option<u32>) {
        if let Some(known) = self.loop_ends.get_mut(&lend) {
            *known = start.or(*known);
            return;
        }
        self.loop_ends.insert(lend, start);
        if self.translator.has_end(lend) {
            // Translated without an eye on loops that end there.
            self.translator.clear();
            self.forget_code();
        }
        if self.blocks.iter().any(|b| b.pc < lend && lend < b.end) {
            self.flush(core);
        }
    }

    /// Forgets what was decoded from memory that changed.
    pub fn invalidate(&mut self, core: &mut Core, addr: u32, len: u32) {
        if len > 0 && core.code.overlaps(addr, len) {
            self.flush(core);
        }
    }

    /// Tells a profiled bus what translated code counted since it was told last.
    pub fn tell_tallies<B: Bus>(&mut self, bus: &mut B) {
        self.translator.tell_tallies(bus);
    }

    /// Forgets everything decoded.
    pub fn flush(&mut self, core: &mut Core) {
        self.flushes += 1;
        self.translator.clear();
        self.blocks.clear();
        self.decoded = 0;
        self.by_pc.clear();
        core.code.clear();
    }
}

/// What a translator sees of the blocks.
struct View<'a> {
    blocks: &'a [Block],
    by_pc: &'a HashMap<u32, u32>,
    loop_ends: &'a HashMap<u32, Option<u32>>,
}

impl Blocks for View<'_> {
    fn at(&self, pc: u32) -> Option<(&[Insn], u32)> {
        let block = self.blocks.get(*self.by_pc.get(&pc)? as usize)?;
        Some((&block.insns, block.end))
    }

    fn loop_start(&self, end: u32) -> Option<Option<u32>> {
        self.loop_ends.get(&end).copied()
    }

    fn routine(&self, pc: u32) -> Option<Routine> {
        self.blocks.get(*self.by_pc.get(&pc)? as usize)?.routine
    }
}

/// Tells the bus what ran of a block.
fn tell<B: Bus>(bus: &mut B, ran: &[Insn], block: &Block) {
    bus.executed(ran.iter().map(|insn| insn.pc));
    let has_returned = ran.last().is_some_and(|last| matches!(last.op, Op::Retw | Op::RetwN));
    if has_returned || ran.is_empty() && block.is_entry() {
        bus.left();
    }
}

impl Block {
    /// Whether a function begins here.
    fn is_entry(&self) -> bool {
        self.insns.first().is_some_and(|first| first.op == Op::Entry)
    }

    /// The instructions that a native call stands for, if there is one.
    #[inline(always)]
    fn call<B: Bus>(&self, core: &mut Core, bus: &mut B, most: u64) -> Option<u64> {
        native::call(core, bus, self.routine?, self.insns.first()?, most)
    }
}

impl Core {
    /// Goes on at `next` in sequence, or back to LBEG at the end of a zero-overhead loop. Says whether it went back.
    #[inline(always)]
    fn fall_through(&mut self, next: u32) -> bool {
        let s = &mut self.state;
        if next == s.lend && s.lcount != 0 && s.ps & crate::state::ps::EXCM == 0 {
            s.lcount -= 1;
            s.pc = s.lbeg;
            true
        } else {
            s.pc = next;
            false
        }
    }

    /// Uncounts instructions that were counted ahead and did not run.
    #[inline(always)]
    fn take_back(&mut self, left: &mut u64, n: u64) {
        *left += n;
        self.state.instructions = self.state.instructions.wrapping_sub(n);
        self.state.cycles = self.state.cycles.wrapping_sub(n);
    }
}
