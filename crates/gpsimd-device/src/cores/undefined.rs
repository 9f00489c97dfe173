//! Bytes without a value on their way through one core: which bits are undefined, where they came from, when it matters.
//!
//! Memory holds no value until something stores to it: tensors made by `empty`, blocks of all three heaps, the stack. The
//! core tracks what is read from there; what is kept here is what it stored again: per byte the undefined bits, if not
//! all, and the origin. Unaware of instructions and of names.

use xtensa_iss::{BusFault, Undefined, Use};

use crate::call::shared::Role;
use crate::cores::bus::{ATTENTION, Bus, Place};
use crate::cores::definedness::Origin;
use crate::cores::dma::holds_all;
use crate::cores::incident::{Actor, History, Incident, Near, What};
use crate::memory::heap::Chain;
use crate::memory::ram::{ACCESS, INIT, KNOWN};
use crate::parts::map;

/// Most origins and most bytes told apart per call.
const LIMIT: usize = 1 << 16;

/// Names a byte of memory, whichever window shows it.
fn key(place: Place) -> (u8, usize) {
    match place {
        Place::Tensor(region, offset) => (3 + region as u8, offset),
        Place::Image(offset) => (0, offset),
        Place::Scratch(offset) => (1, offset),
        Place::Dataram(offset) => (2, offset),
        Place::Apb(offset) => (u8::MAX, offset as usize),
        Place::Nowhere => (u8::MAX, 0),
    }
}

fn behind(place: Place, bytes: usize) -> Place {
    match place {
        Place::Tensor(region, offset) => Place::Tensor(region, offset + bytes),
        Place::Image(offset) => Place::Image(offset + bytes),
        Place::Scratch(offset) => Place::Scratch(offset + bytes),
        Place::Dataram(offset) => Place::Dataram(offset + bytes),
        other => other,
    }
}

impl Bus<'_> {
    /// Answers a load of bytes that hold no value: the core has to track them first.
    pub(crate) fn unwritten(&self) -> Result<(), BusFault> {
        if self.notes.definedness.tracking || self.quiet { Ok(()) } else { Err(BusFault::Undefined) }
    }

    /// Where an NX address leads.
    pub(crate) fn place(&mut self, addr: u32) -> Option<Place> {
        let offset = addr.wrapping_sub(map::DATARAM) as usize;
        if offset < self.memory.dataram.size() {
            return Some(Place::Dataram(offset));
        }
        let image = addr.wrapping_sub(self.memory.image_base) as usize;
        if image < self.memory.image.size() {
            return Some(Place::Image(image));
        }
        let soc = self.window(addr).ok()?;
        Some(self.locate(soc).0)
    }

    /// The undefined bits of a byte, if it may be read and does not hold a value, and their origin, if it is kept.
    fn undefined_bits(&mut self, place: Place) -> Option<(u8, Option<u32>)> {
        let state = match place {
            Place::Tensor(region, offset) => {
                let byte = self.view.load::<1>(region, offset)?;
                if byte.initialised == 0 { ACCESS | KNOWN } else { INIT }
            }
            _ => self.ram(place).and_then(|(ram, offset)| ram.states::<1>(offset)).map_or(0, |[state]| state),
        };
        if state & (ACCESS | INIT) != ACCESS {
            return None;
        }
        let known = self.notes.definedness.bytes.get(&key(place)).filter(|_| state & KNOWN != 0);
        Some(known.map_or((0xff, None), |(bits, origin)| (*bits, Some(*origin))))
    }

    /// The undefined bits of a byte and their origin, if it may be read and does not hold a value.
    fn undefined_byte(&mut self, place: Place) -> Option<(u8, u32)> {
        let (bits, origin) = self.undefined_bits(place)?;
        Some((bits, origin.unwrap_or_else(|| self.origin(place))))
    }

    /// The undefined bits of `size` bytes.
    pub(crate) fn undefined_at(&mut self, addr: u32, size: u8) -> Undefined {
        if self.memory.holds_values(addr, size) {
            return Undefined::default();
        }
        let Some(first) = self.place(addr) else { return Undefined::default() };
        self.refresh(first);
        let mut undefined = Undefined::default();
        for n in 0..usize::from(size) {
            let place = behind(first, n);
            let Some((bits, origin)) = self.undefined_bits(place) else { continue };
            if undefined.bits == 0 {
                undefined.origin = origin.unwrap_or_else(|| self.origin(place));
            }
            undefined.bits |= u32::from(bits) << (8 * n);
        }
        undefined
    }

    fn origin(&mut self, place: Place) -> u32 {
        let (near, history) = self.near_place(place, What::Uninitialised);
        if let Some(&number) = self.notes.definedness.numbers.get(&near) {
            return number;
        }
        let number = self.notes.definedness.origins.len() as u32;
        if number as usize >= LIMIT {
            return number - 1;
        }
        let frame = match near {
            Near::Stack { addr } => Some(addr),
            _ => None,
        };
        let history = History { frame, ..history };
        self.notes.definedness.origins.push(Origin { near, history, moved: Chain::new() });
        self.notes.definedness.numbers.insert(near, number);
        number
    }

    /// The origin of undefined bits that the repeated instruction moves to `place`.
    fn moved(&mut self, origin: u32, place: Place) -> u32 {
        let is_tensor = matches!(place, Place::Scratch(offset) if !self.memory.in_hbm_stack(offset));
        let known = &mut self.notes.definedness;
        if !is_tensor || known.frames.is_empty() || known.origins.len() >= LIMIT {
            return origin;
        }
        let Some(from) = known.origins.get(origin as usize).cloned() else { return origin };
        let next = known.origins.len() as u32;
        let moved: Chain = known.frames.iter().map(|(pc, _)| *pc).collect();
        let number = *known.moves.entry((origin, moved.clone())).or_insert(next);
        if number == next {
            let history = from.history.among(&known.frames);
            known.origins.push(Origin { near: from.near, history, moved });
        }
        number
    }

    /// Marks a byte that was stored or copied without a value.
    fn mark_undefined(&mut self, place: Place, bits: u8, origin: u32) {
        let origin = self.moved(origin, place);
        match place {
            Place::Tensor(region, offset) => _ = self.view.forget(region, offset, 1),
            _ => {
                let Some((ram, offset)) = self.ram(place) else { return };
                ram.remove_state(offset, 1, INIT);
                ram.add_state(offset, 1, KNOWN);
            }
        }
        let bytes = &mut self.notes.definedness.bytes;
        if bytes.len() < LIMIT || bytes.contains_key(&key(place)) {
            bytes.insert(key(place), (bits, origin));
        }
    }

    /// Marks bytes that were stored with undefined bits.
    pub(crate) fn keep_undefined(&mut self, addr: u32, size: u8, undefined: Undefined) {
        let Some(first) = self.place(addr) else { return };
        for n in 0..usize::from(size) {
            let bits = (undefined.bits >> (8 * n)) as u8;
            if bits != 0 {
                self.mark_undefined(behind(first, n), bits, undefined.origin);
            }
        }
    }

    /// The transfer at work has read bytes from `place` on, its own from byte `at` on; `init` says which hold a value.
    pub(crate) fn read_undefined(&mut self, place: Place, at: usize, init: &[bool]) {
        if holds_all(init) {
            return;
        }
        for n in (0..init.len()).filter(|n| !init[*n]) {
            if let Some(undefined) = self.undefined_byte(behind(place, n)) {
                self.notes.definedness.transferred.insert(at + n, undefined);
            }
        }
    }

    /// The transfer at work has written bytes to `place`.
    pub(crate) fn write_undefined(&mut self, place: Place, at: usize, init: &[bool]) {
        if self.notes.definedness.transferred.is_empty() {
            return;
        }
        for n in (0..init.len()).filter(|n| !init[*n]) {
            if let Some((bits, origin)) = self.notes.definedness.transferred.get(&(at + n)).copied() {
                self.mark_undefined(behind(place, n), bits, origin);
            }
        }
    }

    /// Forgets the transfer before.
    pub(crate) fn begin_transfer(&mut self) {
        self.notes.definedness.transferred.clear();
    }

    /// Records that undefined bits decide something, or get into the output. One that gets into a tensor of the kernel's
    /// own is noted: it may be the output yet.
    pub(crate) fn judge_undefined(&mut self, what: Use, undefined: Undefined) -> Result<(), BusFault> {
        let stored = match what {
            Use::Decision | Use::Address => None,
            Use::Store { addr, size } => match self.place(addr) {
                Some(place @ Place::Tensor(region, _)) if self.is_output(region) => Some((place, size)),
                Some(place @ Place::Scratch(offset)) if !self.memory.in_hbm_stack(offset) => {
                    Some((place, size))
                }
                _ => return Ok(()),
            },
        };
        if !self.lenient {
            return Err(ATTENTION);
        }
        match stored {
            Some((Place::Tensor(region, offset), size)) => {
                let near = Near::Tensor { region, offset: offset as i64 };
                self.report_copy(near, Actor::Cpu, undefined.origin, size.into());
            }
            Some(_) => {}
            None => {
                let Some(Origin { near, history, .. }) = self.known(undefined.origin) else { return Ok(()) };
                let len = (u32::BITS - undefined.bits.leading_zeros()).div_ceil(8);
                let (what, actor) = (What::Uninitialised, Actor::Cpu);
                self.incidents.push((
                    Incident { what, write: false, actor, near, len },
                    history,
                    Chain::new(),
                ));
            }
        }
        Ok(())
    }

    fn known(&self, origin: u32) -> Option<Origin> {
        self.notes.definedness.origins.get(origin as usize).cloned()
    }

    fn report_copy(&mut self, near: Near, actor: Actor, origin: u32, len: u32) {
        if let Some(origin) = self.known(origin) {
            let what = What::UninitialisedCopy(origin.near.source());
            self.incidents.push((
                Incident { what, write: true, actor, near, len },
                origin.history,
                origin.moved,
            ));
        }
    }

    /// Records that the transfer at work puts bytes without a value into the output at `region`, `offset`, its own from
    /// byte `at` on. An element passes that has a byte which holds one in part: its bits are being set one by one.
    pub(crate) fn report_transfer(&mut self, (region, offset): (usize, usize), at: usize, init: &[bool]) {
        if self.notes.definedness.transferred.is_empty() {
            return;
        }
        let size = self.view.shared().regions().get(region).map_or(1, |region| region.spec.dtype.size());
        let undefined =
            |n: usize| self.notes.definedness.transferred.get(&(at + n)).filter(|_| !init[n]).copied();
        let in_part = |n: usize| {
            let first = n - ((offset + n) % size).min(n);
            let mut element = first..(first + size).min(init.len());
            element.any(|n| undefined(n).is_some_and(|(bits, _)| bits != 0xff))
        };
        let all: Vec<(usize, u32)> = (0..init.len())
            .filter_map(|n| undefined(n).map(|(_, origin)| (n, origin)))
            .filter(|(n, _)| !in_part(*n))
            .collect();
        if let Some(&(first, origin)) = all.first() {
            let near = Near::Tensor { region, offset: (offset + first) as i64 };
            self.report_copy(near, Actor::Dma, origin, all.len() as u32);
        }
    }

    fn is_output(&self, region: usize) -> bool {
        self.view.shared().regions().get(region).is_some_and(|region| region.role == Role::Output)
    }

    /// A function returned: its frame holds no values any more.
    #[inline]
    pub(crate) fn leave_frame(&mut self, from: u32, to: u32) {
        let layout = &self.memory.layout;
        let len = to.wrapping_sub(from) as usize;
        if from >= layout.stack_floor && to <= layout.stack_top && from < to {
            self.memory.dataram.forget_values((from - map::DATARAM) as usize, len);
        } else if let Some(offset) = self.memory.scratch_offset(from)
            && self.memory.in_hbm_stack(offset as usize)
            && self.memory.in_hbm_stack((offset as usize).saturating_add(len))
            && from < to
        {
            self.memory.scratch.forget_values(offset as usize, len);
        }
    }
}
