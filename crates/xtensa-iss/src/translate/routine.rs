//! Calls of routines that the host computes, where translated code meets them: asked for and done as by [`crate::native::call`],
//! on the record in place of the core.
//!
//! Unaware of what routines do.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::asm::at;
use super::context::Context;
use super::emit::{Emitter, field, window};
use crate::isa::Insn;
use crate::native::Routine;

const EAX: Register = Register::EAX;
const ECX: Register = Register::ECX;
const EDX: Register = Register::EDX;

/// Register `r` of the callee's window, while `r12` points at it: guest registers are in memory on entry.
fn callee(r: u8) -> MemoryOperand {
    at(Register::R12, 4 * i32::from(r))
}

impl Emitter<'_> {
    /// Calls the routine that `entry` begins and returns for it; goes on at `entry` itself where that is not plain.
    pub fn routine(&mut self, routine: Routine, entry: &Insn) {
        let ordinary = self.asm.label();
        // CALL4 or CALL8: four arguments are in sight.
        self.put(Instruction::with2(Code::Mov_r32_rm32, EAX, field!(callinc)));
        self.put(Instruction::with2(Code::Lea_r32_m, ECX, at(Register::RAX, -1)));
        self.put(Instruction::with2(Code::Cmp_rm32_imm8, ECX, 1));
        self.jump(Code::Ja_rel32_64, ordinary);
        // No live frame where the routine's would be, and one here.
        let ahead = std::mem::offset_of!(Context, ahead) as i64;
        let ahead =
            MemoryOperand::with_base_index_scale_displ_size(Register::RBP, Register::RAX, 4, ahead, 1);
        self.put(Instruction::with2(Code::Mov_r32_rm32, ECX, field!(frames)));
        self.put(Instruction::with2(Code::Test_rm32_r32, ahead, ECX));
        self.jump(Code::Jne_rel32_64, ordinary);
        self.put(Instruction::with2(Code::Test_rm32_imm32, ECX, 1));
        self.jump(Code::Je_rel32_64, ordinary);
        // Room for its frame.
        self.put(Instruction::with2(Code::Mov_r32_rm32, EDX, window(1)));
        self.put(Instruction::with2(Code::Sub_rm32_imm32, EDX, entry.imm as i32));
        self.put(Instruction::with2(Code::Cmp_r32_rm32, EDX, field!(isl)));
        self.jump(Code::Jb_rel32_64, ordinary);
        // A return address of the same increment.
        self.put(Instruction::with2(Code::Shl_rm32_imm8, EAX, 4));
        let there = MemoryOperand::with_base_index(Register::RBX, Register::RAX);
        self.put(Instruction::with2(Code::Lea_r64_m, Register::R12, there));
        self.put(Instruction::with2(Code::Mov_r32_rm32, EAX, callee(0)));
        self.put(Instruction::with2(Code::Shr_rm32_imm8, EAX, 30));
        self.put(Instruction::with2(Code::Cmp_r32_rm32, EAX, field!(callinc)));
        self.jump(Code::Jne_rel32_64, ordinary);
        match routine.host_function() {
            Some(function) => {
                // Where the frame would be outlasts the call in `r13`.
                self.put(Instruction::with2(Code::Mov_r32_rm32, Register::R13D, EDX));
                for (argument, r) in [Register::EDI, Register::ESI, EDX, ECX].into_iter().zip(2..) {
                    self.put(Instruction::with2(Code::Mov_r32_rm32, argument, callee(r)));
                }
                let address = function as *const () as u64;
                self.put(Instruction::with2(Code::Mov_r64_imm64, Register::RAX, address));
                self.put(Instruction::with1(Code::Call_rm64, Register::RAX));
            }
            None => {
                let number = Routine::WITH_MEMORY.iter().position(|one| *one == routine);
                self.put(Instruction::with2(Code::Mov_r32_rm32, Register::R13D, EDX));
                self.field_value(field!(argument), number.map_or(u32::MAX, |number| number as u32));
                self.put(Instruction::with2(Code::Mov_rm64_r64, field!(left), Register::R15));
                self.put(Instruction::with2(Code::Mov_r32_imm32, ECX, entry.pc as i32));
                self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, field!(routine)));
                self.put(Instruction::with1(Code::Call_rm64, field!(call)));
            }
        }
        // rax: what it returns; rdx: the instructions that it stands for.
        self.put(Instruction::with2(Code::Test_rm64_r64, Register::RDX, Register::RDX));
        self.jump(Code::Je_rel32_64, ordinary);
        self.put(Instruction::with2(Code::Cmp_r64_rm64, Register::R15, Register::RDX));
        self.jump(Code::Jb_rel32_64, ordinary);
        self.put(Instruction::with2(Code::Sub_r64_rm64, Register::R15, Register::RDX));
        self.put(Instruction::with2(Code::Add_rm64_imm8, field!(native_calls), 1));
        self.put(Instruction::with2(Code::Mov_rm32_r32, callee(2), EAX));
        if routine.is_wide() {
            self.put(Instruction::with2(Code::Shr_rm64_imm8, Register::RAX, 32));
            self.put(Instruction::with2(Code::Mov_rm32_r32, callee(3), EAX));
        }
        self.tell_computed(entry, callee(0));
        if let Some(frames) = self.layout.frames {
            self.put(Instruction::with2(Code::Mov_rm32_r32, field!(argument), Register::R13D));
            self.forget_frame(frames);
        }
        self.put(Instruction::with2(Code::Mov_r32_rm32, EAX, callee(0)));
        self.put(Instruction::with2(Code::And_rm32_imm32, EAX, 0x3fff_ffff));
        if entry.pc >> 30 != 0 {
            self.put(Instruction::with2(Code::Or_rm32_imm32, EAX, (entry.pc & 0xc000_0000) as i32));
        }
        self.look_up();
        self.asm.bind(ordinary);
    }
}
