//! The windowed ABI as host code: calls, ENTRY, RETW, and what a frame leaves behind.
//!
//! Unaware of which instruction comes next.

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::{Emitter, Uncount, field, window};
use crate::isa::Insn;
use crate::reach::Frames;
use crate::translate::asm::{at, indexed};
use crate::translate::context::{Context, LAST_FLAT, Reason};

impl Emitter<'_> {
    /// CALL: `n` is by how many positions the callee's ENTRY will turn the window; 0 for CALL0.
    pub(super) fn call(&mut self, insn: &Insn, n: u8, target: Option<u32>) {
        if target.is_none() {
            self.get(Register::EAX, insn.s);
        }
        self.spill(self.dirty);
        match n {
            0 => self.field_value(window(0), insn.end()),
            _ => {
                self.field_value(window(n << 2), u32::from(n) << 30 | insn.end() & 0x3fff_ffff);
                self.field_value(field!(callinc), n.into());
            }
        }
        match target {
            Some(pc) => self.link(pc),
            None => self.look_up(),
        }
    }

    /// ENTRY, before registers are loaded. What it cannot do at once is interpreted.
    pub(super) fn entry(&mut self, insn: &Insn) {
        let (refused, far, turned) = (self.asm.label(), self.asm.label(), self.asm.label());
        let (eax, ecx, edx) = (Register::EAX, Register::ECX, Register::EDX);
        self.put(Instruction::with2(Code::Mov_r32_rm32, eax, window(1)));
        self.put(Instruction::with2(Code::Sub_rm32_imm32, eax, insn.imm as i32));
        self.put(Instruction::with2(Code::Cmp_r32_rm32, eax, field!(isl)));
        self.jump(Code::Jb_rel32_64, refused);
        self.put(Instruction::with2(Code::Mov_r32_rm32, ecx, field!(callinc)));
        self.put(Instruction::with2(Code::Mov_r32_rm32, edx, field!(frames)));
        let ahead = MemoryOperand::with_base_index_scale_displ_size(
            Register::RBP,
            Register::RCX,
            4,
            offset_of!(Context, ahead) as i64,
            1,
        );
        self.put(Instruction::with2(Code::Test_rm32_r32, ahead, edx));
        self.jump(Code::Jne_rel32_64, refused);
        self.put(Instruction::with2(Code::Ror_rm16_CL, Register::DX, Register::CL));
        self.put(Instruction::with2(Code::Or_rm32_imm32, edx, 1));
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(frames), edx));
        self.put(Instruction::with2(Code::Mov_r32_rm32, edx, field!(window_base)));
        self.put(Instruction::with2(Code::Add_r32_rm32, edx, ecx));
        self.put(Instruction::with2(Code::Cmp_rm32_imm32, edx, LAST_FLAT as i32));
        self.jump(Code::Ja_rel32_64, far);
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(window_base), edx));
        self.put(Instruction::with2(Code::Shl_rm32_imm8, ecx, 4));
        self.put(Instruction::with2(Code::Add_r64_rm64, Register::RBX, Register::RCX));
        self.asm.bind(turned);
        self.put(Instruction::with2(Code::Mov_rm32_r32, window(1), eax));
        let (pc, all) = (insn.pc, Uncount { instructions: self.behind.instructions, ..Uncount::default() });
        self.cold(move |e| {
            e.asm.bind(refused);
            e.leave(Reason::Interpret, pc, all);
            // To or from a window that sees copies.
            e.asm.bind(far);
            e.put(Instruction::with2(Code::Mov_rm32_r32, field!(value), eax));
            e.turn(ecx);
            e.put(Instruction::with2(Code::Mov_r32_rm32, eax, field!(value)));
            e.jump(Code::Jmp_rel32_64, turned);
        });
    }

    /// Turns the window by `ecx` positions, the long way.
    fn turn(&mut self, by: Register) {
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(argument), by));
        self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, field!(rotate)));
        self.put(Instruction::with1(Code::Call_rm64, field!(call)));
        self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RBX, field!(window)));
    }

    /// RETW. What it cannot do at once is interpreted.
    pub(super) fn return_from_window(&mut self, insn: &Insn) {
        let (refused, far, turned) = (self.asm.label(), self.asm.label(), self.asm.label());
        let (eax, ecx, edx) = (Register::EAX, Register::ECX, Register::EDX);
        self.spill(self.dirty);
        // ecx: how far back; the next live frame has to be there.
        self.put(Instruction::with2(Code::Mov_r32_rm32, eax, window(0)));
        self.put(Instruction::with2(Code::Shr_rm32_imm8, eax, 30));
        self.jump(Code::Je_rel32_64, refused);
        self.put(Instruction::with2(Code::Mov_r32_imm32, ecx, 3));
        self.put(Instruction::with2(Code::Sub_r32_rm32, ecx, eax));
        self.put(Instruction::with2(Code::Mov_r32_rm32, edx, field!(frames)));
        self.put(Instruction::with2(Code::Shr_rm32_imm8, edx, 13));
        self.put(Instruction::with2(Code::Shr_rm32_CL, edx, Register::CL));
        self.put(Instruction::with2(Code::Cmp_rm32_imm32, edx, 1));
        self.jump(Code::Jne_rel32_64, refused);
        self.put(Instruction::with2(Code::Mov_r32_rm32, ecx, eax));
        self.put(Instruction::with2(Code::Mov_r32_rm32, edx, field!(frames)));
        self.put(Instruction::with2(Code::And_rm32_imm32, edx, 0xfffe));
        self.put(Instruction::with2(Code::Rol_rm16_CL, Register::DX, Register::CL));
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(frames), edx));
        // The callee's stack pointer and return address outlast the turn.
        self.put(Instruction::with2(Code::Mov_r32_rm32, eax, window(1)));
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(argument), eax));
        self.put(Instruction::with2(Code::Mov_r32_rm32, eax, window(0)));
        self.put(Instruction::with2(Code::And_rm32_imm32, eax, 0x3fff_ffff));
        if insn.pc >> 30 != 0 {
            self.put(Instruction::with2(Code::Or_rm32_imm32, eax, (insn.pc & 0xc000_0000) as i32));
        }
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(value), eax));
        self.put(Instruction::with2(Code::Mov_r32_rm32, edx, field!(window_base)));
        self.put(Instruction::with2(Code::Cmp_rm32_imm32, edx, LAST_FLAT as i32));
        self.jump(Code::Ja_rel32_64, far);
        self.put(Instruction::with2(Code::Sub_r32_rm32, edx, ecx));
        self.jump(Code::Jb_rel32_64, far);
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(window_base), edx));
        self.put(Instruction::with2(Code::Shl_rm32_imm8, ecx, 4));
        self.put(Instruction::with2(Code::Sub_r64_rm64, Register::RBX, Register::RCX));
        self.asm.bind(turned);
        if let Some(frames) = self.layout.frames {
            self.forget_frame(frames);
        }
        self.tell_returned();
        self.put(Instruction::with2(Code::Mov_r32_rm32, eax, field!(value)));
        self.look_up();
        let (pc, here) = (insn.pc, self.here);
        let all = Uncount { instructions: 1, ..Uncount::default() };
        self.cold(move |e| {
            e.asm.bind(refused);
            e.tally_undone(here);
            e.leave(Reason::Interpret, pc, all);
            e.asm.bind(far);
            let back = Register::EDX;
            e.put(Instruction::with2(Code::Mov_r32_rm32, back, field!(argument)));
            e.put(Instruction::with2(Code::Mov_rm32_r32, field!(link), back));
            e.put(Instruction::with1(Code::Neg_rm32, ecx));
            e.turn(ecx);
            e.put(Instruction::with2(Code::Mov_r32_rm32, back, field!(link)));
            e.put(Instruction::with2(Code::Mov_rm32_r32, field!(argument), back));
            e.jump(Code::Jmp_rel32_64, turned);
        });
    }

    /// The frame between the callee's stack pointer, in `argument`, and that of its caller, whose window it is, holds no
    /// values any more; both less the save area below.
    pub fn forget_frame(&mut self, frames: Frames) {
        let (far, done, again) = (self.asm.label(), self.asm.label(), self.asm.label());
        let (eax, ecx, edx) = (Register::EAX, Register::ECX, Register::EDX);
        let Some(first) = self.layout.memories.first() else { return };
        self.put(Instruction::with2(Code::Mov_r32_rm32, edx, field!(argument)));
        self.put(Instruction::with2(Code::Mov_r32_rm32, ecx, window(1)));
        // eax: the frame's start, counted from where frames may be; ecx: its length, of which only whole 16 are done here.
        self.put(Instruction::with2(
            Code::Lea_r32_m,
            eax,
            at(Register::RDX, 0u32.wrapping_sub(16).wrapping_sub(frames.from) as i32),
        ));
        self.put(Instruction::with2(Code::Sub_r32_rm32, ecx, edx));
        self.jump(Code::Jbe_rel32_64, far);
        self.put(Instruction::with2(Code::Test_rm32_imm32, ecx, 15));
        self.jump(Code::Jne_rel32_64, far);
        // All of it has to be there: neither start nor length is beyond, nor their sum.
        self.put(Instruction::with2(Code::Cmp_rm32_imm32, eax, (frames.to - frames.from) as i32));
        self.jump(Code::Ja_rel32_64, far);
        self.put(Instruction::with2(
            Code::Lea_r64_m,
            Register::RDX,
            indexed(Register::RAX, Register::RCX, 1, 0),
        ));
        self.put(Instruction::with2(Code::Cmp_rm64_imm32, Register::RDX, (frames.to - frames.from) as i32));
        self.jump(Code::Ja_rel32_64, far);
        self.put(Instruction::with2(Code::Movups_xmm_xmmm128, Register::XMM0, field!(frame_mark)));
        let marks = first.len.wrapping_add(frames.from - first.base) as i32;
        self.asm.bind(again);
        self.put(Instruction::with2(
            Code::Movups_xmmm128_xmm,
            indexed(Register::R14, Register::RAX, 1, marks),
            Register::XMM0,
        ));
        self.put(Instruction::with2(Code::Add_rm32_imm8, eax, 16));
        self.put(Instruction::with2(Code::Sub_rm32_imm8, ecx, 16));
        self.jump(Code::Jne_rel32_64, again);
        self.asm.bind(done);
        self.cold(move |e| {
            e.asm.bind(far);
            e.put(Instruction::with2(Code::Mov_r32_rm32, edx, window(1)));
            e.put(Instruction::with2(Code::Sub_rm32_imm8, edx, 16));
            e.put(Instruction::with2(Code::Sub_rm32_imm8, field!(argument), 16));
            e.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, field!(frame_left)));
            e.put(Instruction::with1(Code::Call_rm64, field!(call)));
            e.jump(Code::Jmp_rel32_64, done);
        });
    }
}
