//! Loads and stores as host instructions: where memory and its marks say that an access is plain, it is done at once, else
//! the bus does it.
//!
//! Unaware of where control goes.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::asm::{Label, at, indexed};
use super::context::{Reached, Reason};
use super::emit::{Emitter, Place, Uncount, field, half_of_counts, wide};
use crate::isa::{Insn, Op};
use crate::reach::{Marks, Reachable};

const EAX: Register = Register::EAX;
const ECX: Register = Register::ECX;
const EDX: Register = Register::EDX;

/// How a width is accessed.
#[derive(Clone, Copy)]
struct Width {
    bytes: u32,
    /// Value to `eax` or a guest register's host register.
    load: Code,
    /// Marks to `ecx`.
    marks: Code,
    /// Value, or marks, from a host register of that width.
    store: Code,
    /// `ecx` and `edx` in that width.
    registers: (Register, Register),
}

const BYTE: Width = Width {
    bytes: 1,
    load: Code::Movzx_r32_rm8,
    marks: Code::Movzx_r32_rm8,
    store: Code::Mov_rm8_r8,
    registers: (Register::CL, Register::DL),
};
const HALF: Width = Width {
    bytes: 2,
    load: Code::Movzx_r32_rm16,
    marks: Code::Movzx_r32_rm16,
    store: Code::Mov_rm16_r16,
    registers: (Register::CX, Register::DX),
};
const SIGNED_HALF: Width = Width { load: Code::Movsx_r32_rm16, ..HALF };
const WORD: Width = Width {
    bytes: 4,
    load: Code::Mov_r32_rm32,
    marks: Code::Mov_r32_rm32,
    store: Code::Mov_rm32_r32,
    registers: (ECX, EDX),
};

impl Width {
    /// A mark for every byte.
    fn all(self, mark: u8) -> i32 {
        ((u32::from(mark) * 0x0101_0101) & (u32::MAX >> (32 - 8 * self.bytes))) as i32
    }
}

/// A field of one of the record's memories.
fn memory_field(memory: usize, offset: usize) -> MemoryOperand {
    let first = std::mem::offset_of!(super::context::Context, memories);
    at(Register::RBP, (first + memory * size_of::<Reached>() + offset) as i32)
}

impl<'a> Emitter<'a> {
    /// Translates a load or store; says whether it is one.
    pub fn access(&mut self, insn: &Insn, constants: &'a dyn Fn(u32) -> Option<u32>) -> bool {
        match insn.op {
            Op::L8ui => self.load_memory(insn, BYTE),
            Op::L16ui => self.load_memory(insn, HALF),
            Op::L16si => self.load_memory(insn, SIGNED_HALF),
            Op::L32i | Op::L32iN | Op::L32ai => self.load_memory(insn, WORD),
            Op::S8i => self.store_memory(insn, BYTE),
            Op::S16i => self.store_memory(insn, HALF),
            Op::S32i | Op::S32iN | Op::S32ri => self.store_memory(insn, WORD),
            Op::L32r => match constants(insn.imm) {
                Some(value) => {
                    self.set_value(insn.t, value);
                    self.learn(insn, Some((insn.t, Some(value))));
                    return true;
                }
                None => self.load_literal(insn),
            },
            _ => return false,
        }
        self.learn(insn, None);
        true
    }

    /// The memories that there are, with their numbers.
    fn memories(&self) -> Vec<(usize, Reachable)> {
        self.layout.memories.iter().copied().enumerate().filter(|(_, memory)| memory.len > 0).collect()
    }

    /// `eax <- s + value`
    fn address(&mut self, s: u8, value: u32) {
        match self.place(s) {
            Place::Host(host) => {
                self.put(Instruction::with2(Code::Lea_r32_m, EAX, at(wide(host), value as i32)));
            }
            place => {
                self.rm(Code::Mov_r32_rm32, EAX, place);
                if value != 0 {
                    self.mi(Code::Add_rm32_imm32, Place::Host(EAX), value);
                }
            }
        }
    }

    /// `eax` <- which access of this width in a memory it is; on to `other` if it is none. An address that is not a multiple
    /// of the width turns into a large number.
    fn find(&mut self, insn: &Insn, width: Width, n: usize, memory: Reachable, other: Label) {
        self.address(insn.s, insn.imm.wrapping_sub(memory.base));
        let power = width.bytes.trailing_zeros();
        if power > 0 {
            self.put(Instruction::with2(Code::Ror_rm32_imm8, EAX, power));
        }
        let limit = std::mem::offset_of!(Reached, limits) + 4 * power as usize;
        self.put(Instruction::with2(Code::Cmp_r32_rm32, EAX, memory_field(n, limit)));
        self.jump(Code::Jae_rel32_64, other);
    }

    /// The register that points at a memory.
    fn base(&mut self, n: usize) -> Register {
        if n == 0 {
            return Register::R14;
        }
        self.put(Instruction::with2(
            Code::Mov_r64_rm64,
            Register::RDX,
            memory_field(n, std::mem::offset_of!(Reached, bytes)),
        ));
        Register::RDX
    }

    fn load_memory(&mut self, insn: &Insn, width: Width) {
        let (slow, done) = (self.asm.label(), self.asm.label());
        let host = match self.place(insn.t) {
            Place::Host(host) => host,
            Place::Memory(_) => ECX,
        };
        let memories = self.memories();
        match *memories.as_slice() {
            [] => self.jump(Code::Jmp_rel32_64, slow),
            [first] => self.load_plain(insn, width, first, host, slow, slow),
            [first, second, ..] => {
                let other = self.asm.label();
                self.load_plain(insn, width, first, host, other, slow);
                let insn = *insn;
                self.cold(move |e| {
                    e.asm.bind(other);
                    e.load_plain(&insn, width, second, host, slow, slow);
                    e.jump(Code::Jmp_rel32_64, done);
                });
            }
        }
        self.asm.bind(done);
        let helper = match width.bytes {
            1 => field!(load8),
            2 => field!(load16),
            _ => field!(load32),
        };
        let (insn, dirty, behind, here) = (*insn, self.dirty, self.behind, self.here);
        let is_signed = width.load == Code::Movsx_r32_rm16;
        self.cold(move |e| {
            e.asm.bind(slow);
            // The bus counts for itself.
            e.tally_slow(&insn, behind);
            e.put(Instruction::with2(Code::Sub_rm32_imm8, half_of_counts(0), 1));
            e.address(insn.s, insn.imm);
            e.help(&insn, helper);
            let refused = e.asm.label();
            e.put(Instruction::with2(Code::Test_rm64_r64, Register::RAX, Register::RAX));
            e.jump(Code::Js_rel32_64, refused);
            if is_signed {
                e.put(Instruction::with2(Code::Movsx_r32_rm16, EAX, Register::AX));
            }
            e.set(insn.t, EAX);
            e.jump(Code::Jmp_rel32_64, done);
            e.asm.bind(refused);
            e.spill(dirty);
            e.tally_undone(here);
            e.leave(Reason::Fault, insn.pc, Uncount { instructions: behind.instructions + 1, ..behind });
        });
    }

    /// The load from a memory where it is plain.
    fn load_plain(
        &mut self,
        insn: &Insn,
        width: Width,
        (n, memory): (usize, Reachable),
        host: Register,
        other: Label,
        slow: Label,
    ) {
        self.find(insn, width, n, memory, other);
        let base = self.base(n);
        if let Some(Marks { load, .. }) = self.layout.marks {
            let marks = indexed(base, Register::RAX, width.bytes, memory.len as i32);
            self.put(Instruction::with2(width.marks, ECX, marks));
            self.put(Instruction::with1(Code::Not_rm32, ECX));
            self.mi(Code::Test_rm32_imm32, Place::Host(ECX), width.all(load) as u32);
            self.jump(Code::Jne_rel32_64, slow);
        }
        self.put(Instruction::with2(width.load, host, indexed(base, Register::RAX, width.bytes, 0)));
        self.set(insn.t, host);
    }

    fn store_memory(&mut self, insn: &Insn, width: Width) {
        let (slow, done) = (self.asm.label(), self.asm.label());
        let memories = self.memories();
        match *memories.as_slice() {
            [] => self.jump(Code::Jmp_rel32_64, slow),
            [first] => self.store_plain(insn, width, first, slow, slow),
            [first, second, ..] => {
                let other = self.asm.label();
                self.store_plain(insn, width, first, other, slow);
                let insn = *insn;
                self.cold(move |e| {
                    e.asm.bind(other);
                    e.store_plain(&insn, width, second, slow, slow);
                    e.jump(Code::Jmp_rel32_64, done);
                });
            }
        }
        self.asm.bind(done);
        let helper = match width.bytes {
            1 => field!(store8),
            2 => field!(store16),
            _ => field!(store32),
        };
        let (insn, dirty, behind, here) = (*insn, self.dirty, self.behind, self.here);
        self.cold(move |e| {
            e.asm.bind(slow);
            e.tally_slow(&insn, behind);
            e.put(Instruction::with2(Code::Sub_rm32_imm8, half_of_counts(1), 1));
            e.get(EAX, insn.t);
            e.put(Instruction::with2(Code::Mov_rm32_r32, field!(value), EAX));
            e.address(insn.s, insn.imm);
            e.help(&insn, helper);
            let refused = e.asm.label();
            e.put(Instruction::with2(Code::Test_rm32_r32, EAX, EAX));
            e.jump(Code::Je_rel32_64, done);
            e.spill(dirty);
            e.mi(Code::Cmp_rm32_imm32, Place::Host(EAX), super::context::STORE_REFUSED as u32);
            e.jump(Code::Je_rel32_64, refused);
            e.tally_skipped(here);
            e.leave(Reason::Written, insn.end(), behind);
            e.asm.bind(refused);
            e.tally_undone(here);
            e.leave(Reason::Fault, insn.pc, Uncount { instructions: behind.instructions + 1, ..behind });
        });
    }

    /// The store to a memory where it is plain.
    fn store_plain(
        &mut self,
        insn: &Insn,
        width: Width,
        (n, memory): (usize, Reachable),
        other: Label,
        slow: Label,
    ) {
        self.find(insn, width, n, memory, other);
        if let Some(floor) = self.layout.watermark.filter(|_| n == 0) {
            let above = MemoryOperand::with_index_scale_displ_size(
                Register::RAX,
                width.bytes,
                i64::from((floor as i32).wrapping_neg()),
                4,
            );
            self.put(Instruction::with2(Code::Lea_r32_m, ECX, above));
            self.put(Instruction::with2(Code::Cmp_r32_rm32, ECX, field!(untouched)));
            self.jump(Code::Jb_rel32_64, slow);
        }
        if self.layout.holds_code {
            let address = MemoryOperand::with_index_scale_displ_size(
                Register::RAX,
                width.bytes,
                memory.base as i32 as i64,
                4,
            );
            self.put(Instruction::with2(Code::Lea_r32_m, ECX, address));
            self.put(Instruction::with2(Code::Sub_r32_rm32, ECX, field!(code_from)));
            self.put(Instruction::with2(Code::Cmp_r32_rm32, ECX, field!(code_len)));
            self.jump(Code::Jb_rel32_64, slow);
        }
        let base = self.base(n);
        let place = indexed(base, Register::RAX, width.bytes, 0);
        let Some(Marks { store, storable, stored, .. }) = self.layout.marks else {
            self.store_value(insn, width, place);
            return;
        };
        let marks = indexed(base, Register::RAX, width.bytes, memory.len as i32);
        self.put(Instruction::with2(width.marks, ECX, marks));
        self.mi(Code::Xor_rm32_imm32, Place::Host(ECX), width.all(storable) as u32);
        self.mi(Code::Test_rm32_imm32, Place::Host(ECX), width.all(store) as u32);
        self.jump(Code::Jne_rel32_64, slow);
        self.mi(Code::Xor_rm32_imm32, Place::Host(ECX), width.all(storable) as u32);
        self.mi(Code::Or_rm32_imm32, Place::Host(ECX), width.all(stored) as u32);
        self.put(Instruction::with2(width.store, marks, width.registers.0));
        self.store_value(insn, width, place);
    }

    /// `place` <- the value, from where it is if that has the width.
    fn store_value(&mut self, insn: &Insn, width: Width, place: MemoryOperand) {
        match self.place(insn.t) {
            Place::Host(host) if width.bytes == 4 => self.put(Instruction::with2(width.store, place, host)),
            _ => {
                self.get(ECX, insn.t);
                self.put(Instruction::with2(width.store, place, width.registers.0));
            }
        }
    }

    /// A literal that may change.
    fn load_literal(&mut self, insn: &Insn) {
        let refused = self.asm.label();
        self.tell_time(self.behind);
        self.put(Instruction::with2(Code::Mov_r32_imm32, EAX, insn.imm as i32));
        self.help(insn, field!(literal));
        self.put(Instruction::with2(Code::Test_rm64_r64, Register::RAX, Register::RAX));
        self.jump(Code::Js_rel32_64, refused);
        self.set(insn.t, EAX);
        let (pc, dirty, behind, here) = (insn.pc, self.dirty, self.behind, self.here);
        self.cold(move |e| {
            e.asm.bind(refused);
            e.spill(dirty);
            e.tally_undone(here);
            e.leave(Reason::Fault, pc, Uncount { instructions: behind.instructions + 1, ..behind });
        });
    }

    /// Calls a function of the record for the access at the address in `eax`.
    fn help(&mut self, insn: &Insn, helper: MemoryOperand) {
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(argument), EAX));
        self.get(EDX, 1);
        self.put(Instruction::with2(Code::Mov_r32_imm32, ECX, insn.pc as i32));
        self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, helper));
        self.put(Instruction::with1(Code::Call_rm64, field!(call)));
    }
}
