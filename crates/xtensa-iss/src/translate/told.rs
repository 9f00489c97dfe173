//! What code does for a profile besides its work: it counts, and tells the bus when functions begin and end.
//!
//! Nothing is emitted without one. Unaware of who answers for the counts.

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::asm::at;
use super::emit::{Emitter, Here, Uncount, field, window};
use super::tally::Share;
use crate::isa::Insn;

const RAX: Register = Register::RAX;
const ESI: Register = Register::ESI;
const ECX: Register = Register::ECX;
const EDX: Register = Register::EDX;

impl Emitter<'_> {
    /// Counts once more what the shares stand for. Takes `rax` and the flags.
    pub fn tally(&mut self, shares: impl FnOnce() -> Vec<Share>) {
        let Some(first) = self.first_counter else { return };
        let number = first as usize + self.counters.len();
        self.counters.push(shares());
        self.put(Instruction::with2(Code::Mov_r64_rm64, RAX, field!(counters)));
        self.put(Instruction::with2(Code::Add_rm64_imm8, at(RAX, 8 * number as i32), 1));
    }

    /// The bus counts the access of `insn`, and wants to know when it is.
    pub fn tally_slow(&mut self, insn: &Insn, behind: Uncount) {
        self.tally(|| vec![Share::access(insn).back()]);
        self.tell_time(behind);
    }

    /// The instruction at work did not complete, and those behind it do not run.
    pub fn tally_undone(&mut self, here: Here) {
        let rest = self.rest(here);
        self.tally(|| {
            let undone = rest.first().map(Share::without_access);
            undone.into_iter().chain(rest.iter().skip(1).map(Share::ran)).map(Share::back).collect()
        });
    }

    /// Those behind the instruction at work do not run.
    pub fn tally_skipped(&mut self, here: Here) {
        let rest = self.rest(here);
        self.tally(|| rest.iter().skip(1).map(Share::ran).map(Share::back).collect());
    }

    /// The bus is about to be called in the middle of a block.
    pub fn tell_time(&mut self, behind: Uncount) {
        if self.first_counter.is_some() {
            self.put(Instruction::with2(Code::Mov_rm64_r64, field!(left), Register::R15));
            self.field_value(field!(behind), behind.instructions as u32 + 1);
        }
    }

    /// ENTRY is done, and nothing else: registers are in memory.
    pub fn tell_entered(&mut self, entry: &Insn) {
        if self.first_counter.is_some() {
            self.put(Instruction::with2(Code::Mov_r32_rm32, ESI, window(0)));
            self.put(Instruction::with2(Code::Mov_r32_imm32, EDX, self.behind.instructions));
            self.put(Instruction::with2(Code::Mov_r32_imm32, ECX, entry.pc as i32));
            self.tell(field!(entered));
        }
    }

    /// The host computed the function, as so many instructions as `edx` says; its return address is in `back`.
    pub fn tell_computed(&mut self, entry: &Insn, back: MemoryOperand) {
        if self.first_counter.is_some() {
            self.put(Instruction::with2(Code::Mov_r32_rm32, ESI, EDX));
            self.put(Instruction::with2(Code::Mov_r32_rm32, EDX, back));
            self.put(Instruction::with2(Code::Mov_r32_imm32, ECX, entry.pc as i32));
            self.tell(field!(computed));
        }
    }

    /// RETW is done; registers are in memory.
    pub fn tell_returned(&mut self) {
        if self.first_counter.is_some() {
            self.tell(field!(returned));
        }
    }

    /// Calls a function of the record, whose other arguments are in place. No host register holds a guest's.
    fn tell(&mut self, function: MemoryOperand) {
        self.put(Instruction::with2(Code::Mov_rm64_r64, field!(left), Register::R15));
        self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RDI, Register::RBP));
        self.put(Instruction::with1(Code::Call_rm64, function));
    }
}
