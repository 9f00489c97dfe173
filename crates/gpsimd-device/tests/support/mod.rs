//! Tiny hand-assembled libraries, so that these tests need no compiler.
//!
//! [`Asm`] knows the few instructions they use; [`library`] wraps them in an ELF image that registers one operator.

use gpsimd_lsp::Variant;

/// Instructions after a pool of literals, at a fixed address.
pub struct Asm {
    base: u32,
    literals: Vec<u32>,
    code: Vec<u8>,
}

/// Bytes reserved for literals in front of the code.
const POOL: u32 = 256;

impl Asm {
    pub fn new(base: u32) -> Asm {
        Asm { base, literals: Vec::new(), code: Vec::new() }
    }

    pub fn here(&self) -> u32 {
        self.base + POOL + self.code.len() as u32
    }

    fn emit(&mut self, word: u32) -> &mut Asm {
        self.code.extend_from_slice(&word.to_le_bytes()[..3]);
        self
    }

    /// `entry a1, 32`
    pub fn entry(&mut self) -> &mut Asm {
        while !self.here().is_multiple_of(4) {
            self.code.push(0);
        }
        self.emit(4 << 12 | 1 << 8 | 0x36)
    }

    pub fn retw(&mut self) -> &mut Asm {
        self.emit(0x90)
    }

    pub fn memw(&mut self) -> &mut Asm {
        self.emit(0x20C0)
    }

    /// `ill`
    pub fn ill(&mut self) -> &mut Asm {
        self.emit(0)
    }

    pub fn movi(&mut self, t: u32, imm: i32) -> &mut Asm {
        let imm = imm as u32;
        self.emit((imm & 0xFF) << 16 | 0xA << 12 | (imm >> 8 & 0xF) << 8 | t << 4 | 2)
    }

    /// `l32r`: any 32-bit constant.
    pub fn li(&mut self, t: u32, value: u32) -> &mut Asm {
        let at = self.base + 4 * self.literals.len() as u32;
        assert!(at < self.base + POOL);
        self.literals.push(value);
        let offset = at.wrapping_sub((self.here() + 3) & !3) >> 2 & 0xFFFF;
        self.emit(offset << 8 | t << 4 | 1)
    }

    pub fn l32i(&mut self, t: u32, s: u32, offset: u32) -> &mut Asm {
        self.emit((offset / 4) << 16 | 2 << 12 | s << 8 | t << 4 | 2)
    }

    pub fn s32i(&mut self, t: u32, s: u32, offset: u32) -> &mut Asm {
        self.emit((offset / 4) << 16 | 6 << 12 | s << 8 | t << 4 | 2)
    }

    pub fn addi(&mut self, t: u32, s: u32, imm: i32) -> &mut Asm {
        self.emit((imm as u32 & 0xFF) << 16 | 0xC << 12 | s << 8 | t << 4 | 2)
    }

    pub fn add(&mut self, r: u32, s: u32, t: u32) -> &mut Asm {
        self.emit(0x80_0000 | r << 12 | s << 8 | t << 4)
    }

    /// `r = 4 * s + t`
    pub fn addx4(&mut self, r: u32, s: u32, t: u32) -> &mut Asm {
        self.emit(0xA0_0000 | r << 12 | s << 8 | t << 4)
    }

    pub fn and(&mut self, r: u32, s: u32, t: u32) -> &mut Asm {
        self.emit(0x10_0000 | r << 12 | s << 8 | t << 4)
    }

    pub fn rsr_prid(&mut self, t: u32) -> &mut Asm {
        self.emit(0x03_EB00 | t << 4)
    }

    pub fn callx8(&mut self, s: u32) -> &mut Asm {
        self.emit(s << 8 | 0xE0)
    }

    pub fn bnez(&mut self, s: u32, target: u32) -> &mut Asm {
        let offset = target.wrapping_sub(self.here() + 4) & 0xFFF;
        self.emit(offset << 12 | s << 8 | 0x56)
    }

    pub fn jump_to_self(&mut self) -> &mut Asm {
        self.emit((-4i32 as u32 & 0x3_FFFF) << 6 | 6)
    }

    /// Takes `count` words off the instruction port; the last one is in `t`. Uses a14 and a15.
    pub fn pop(&mut self, t: u32, count: u32) -> &mut Asm {
        self.li(15, 0x10_0844).movi(14, count as i32);
        let top = self.here();
        self.l32i(t, 15, 0).addi(14, 14, -1).bnez(14, top)
    }

    /// Points a2 at the output tensor through MEM_WINDOW3. Uses a2 to a7, a14 and a15.
    pub fn map_output(&mut self) -> &mut Asm {
        // Header (16 words) and ten words of the output's payload come before its address.
        self.pop(2, 16 + 10).l32i(2, 15, 0).l32i(3, 15, 0);
        self.li(4, 0x10_0218).s32i(3, 4, 4).li(5, 0xFF00_0000).and(6, 2, 5).memw().s32i(6, 4, 0).memw();
        self.li(5, 0x00FF_FFFF).and(2, 2, 5).li(7, 0x0700_0000).add(2, 2, 7)
    }

    /// Data between instructions; returns its address.
    pub fn bytes(&mut self, bytes: &[u8]) -> u32 {
        let at = self.here();
        self.code.extend_from_slice(bytes);
        at
    }

    fn image(&self) -> Vec<u8> {
        let mut bytes = vec![0; POOL as usize];
        for (slot, literal) in bytes.chunks_exact_mut(4).zip(&self.literals) {
            slot.copy_from_slice(&literal.to_le_bytes());
        }
        bytes.extend_from_slice(&self.code);
        bytes
    }
}

/// A library for `variant` with operator `op`, whose launcher's body (between ENTRY and the final RETW with result 0)
/// `body` writes. The hand-off block is kept in a word whose address `body` is given.
pub fn library(variant: Variant, body: impl Fn(&mut Asm, u32)) -> Vec<u8> {
    library_with_start(variant, body, |asm| {
        asm.movi(2, 0);
    })
}

/// As [`library`], with `finish` setting `_start`'s result in a2.
pub fn library_with_start(
    variant: Variant,
    body: impl Fn(&mut Asm, u32),
    finish: impl Fn(&mut Asm),
) -> Vec<u8> {
    let mut asm = Asm::new(variant.window().base);
    let handoff = asm.bytes(&[0; 4]);
    let name = asm.bytes(b"op\0\0");
    let launcher = asm.here().next_multiple_of(4);
    asm.entry();
    body(&mut asm, handoff);
    asm.movi(2, 0).retw();
    let start = asm.here().next_multiple_of(4);
    asm.entry().li(3, handoff).s32i(2, 3, 0);
    asm.l32i(10, 2, 4).li(11, name).li(12, launcher).l32i(3, 2, 8).callx8(3);
    finish(&mut asm);
    asm.retw();
    elf(start, asm.base, &asm.image())
}

/// Makes the segment of [`elf`]'s image read-only.
pub fn read_only(mut image: Vec<u8>) -> Vec<u8> {
    image[52 + 24] = 5;
    image
}

/// An ELF executable with one segment, readable, writable and executable.
pub fn elf(entry: u32, vaddr: u32, data: &[u8]) -> Vec<u8> {
    let mut elf = Vec::new();
    elf.extend_from_slice(b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0");
    for half in [2u16, 94] {
        elf.extend_from_slice(&half.to_le_bytes());
    }
    for word in [1, entry, 52, 0, 0x300] {
        elf.extend_from_slice(&u32::to_le_bytes(word));
    }
    for half in [52u16, 32, 1, 40, 0, 0] {
        elf.extend_from_slice(&half.to_le_bytes());
    }
    let len = data.len() as u32;
    for word in [1, 84, vaddr, vaddr, len, len + 64, 7, 4] {
        elf.extend_from_slice(&u32::to_le_bytes(word));
    }
    elf.extend_from_slice(data);
    elf
}
