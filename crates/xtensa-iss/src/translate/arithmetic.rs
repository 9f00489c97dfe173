//! Arithmetic, moves, shifts and comparisons as host instructions.
//!
//! Unaware of memory and of where control goes: a branch is given the label to jump to.

use iced_x86::{Code, Instruction, Register};

use super::asm::{Label, at, indexed};
use super::context::Reason;
use super::emit::{Emitter, Place, Uncount, field, wide};
use crate::isa::{Insn, Op, b4const, b4constu};

const EAX: Register = Register::EAX;
const ECX: Register = Register::ECX;
const EDX: Register = Register::EDX;

impl Emitter<'_> {
    /// Translates an instruction of this module; says whether it is one.
    pub fn arithmetic(&mut self, insn: &Insn) -> bool {
        let &Insn { op, r, s, t, k, imm, .. } = insn;
        let mut result = None;
        let mut sar = self.known_sar;
        match op {
            Op::Add | Op::AddN => self.add(r, s, t, 1),
            Op::Addx2 => self.add(r, s, t, 2),
            Op::Addx4 => self.add(r, s, t, 4),
            Op::Addx8 => self.add(r, s, t, 8),
            Op::Sub => self.binary(Code::Sub_r32_rm32, r, s, t),
            Op::Subx2 => self.sub_scaled(r, s, t, 1),
            Op::Subx4 => self.sub_scaled(r, s, t, 2),
            Op::Subx8 => self.sub_scaled(r, s, t, 3),
            Op::And => self.binary(Code::And_r32_rm32, r, s, t),
            // A move that assemblers write as OR.
            Op::Or if s == t => {
                self.copy(r, s);
                result = Some((r, self.known[usize::from(s & 15)]));
            }
            Op::Or => self.binary(Code::Or_r32_rm32, r, s, t),
            Op::Xor => self.binary(Code::Xor_r32_rm32, r, s, t),
            Op::Mull => self.binary(Code::Imul_r32_rm32, r, s, t),
            Op::Neg => self.unary(r, t, |e| e.put(Instruction::with1(Code::Neg_rm32, EAX))),
            Op::Abs => self.unary(r, t, |e| {
                e.put(Instruction::with2(Code::Mov_r32_rm32, ECX, EAX));
                e.put(Instruction::with1(Code::Neg_rm32, ECX));
                e.put(Instruction::with2(Code::Cmovns_r32_rm32, EAX, ECX));
            }),
            Op::AddiSp | Op::AddmiSp | Op::AddiNSp => self.set_stack(insn),
            Op::Addi | Op::Addmi => self.add_value(t, s, imm),
            Op::AddiN => self.add_value(r, s, imm),
            Op::Movi => {
                self.set_value(t, imm);
                result = Some((t, Some(imm)));
            }
            Op::MoviN => {
                self.set_value(s, imm);
                result = Some((s, Some(imm)));
            }
            Op::MovN => {
                self.copy(t, s);
                result = Some((t, self.known[usize::from(s & 15)]));
            }
            Op::Const16 => self.unary(t, t, |e| {
                e.put(Instruction::with2(Code::Shl_rm32_imm8, EAX, 16));
                e.put(Instruction::with2(Code::Or_rm32_imm32, EAX, imm as i32));
            }),
            Op::Sext => self.unary(r, s, |e| {
                let up = 31 - (imm & 31);
                e.put(Instruction::with2(Code::Shl_rm32_imm8, EAX, up));
                e.put(Instruction::with2(Code::Sar_rm32_imm8, EAX, up));
            }),
            Op::Min => self.choose(Code::Cmovg_r32_rm32, r, s, t),
            Op::Max => self.choose(Code::Cmovl_r32_rm32, r, s, t),
            Op::Minu => self.choose(Code::Cmova_r32_rm32, r, s, t),
            Op::Maxu => self.choose(Code::Cmovb_r32_rm32, r, s, t),
            Op::Nsau => self.unary(t, s, |e| e.leading_zeros()),
            Op::Nsa => self.unary(t, s, |e| {
                e.put(Instruction::with2(Code::Mov_r32_rm32, EDX, EAX));
                e.put(Instruction::with2(Code::Sar_rm32_imm8, EDX, 31));
                e.put(Instruction::with2(Code::Xor_r32_rm32, EAX, EDX));
                e.leading_zeros();
                e.put(Instruction::with2(Code::Sub_rm32_imm8, EAX, 1));
            }),
            Op::Moveqz => self.move_if(Code::Cmove_r32_rm32, r, s, t),
            Op::Movnez => self.move_if(Code::Cmovne_r32_rm32, r, s, t),
            Op::Movltz => self.move_if(Code::Cmovs_r32_rm32, r, s, t),
            Op::Movgez => self.move_if(Code::Cmovns_r32_rm32, r, s, t),
            Op::Muluh => self.multiply_high(Code::Mul_rm32, r, s, t),
            Op::Mulsh => self.multiply_high(Code::Imul_rm32, r, s, t),
            Op::Mul16u => self.multiply_halves(Code::Movzx_r32_rm16, r, s, t),
            Op::Mul16s => self.multiply_halves(Code::Movsx_r32_rm16, r, s, t),
            Op::Quou => self.divide(insn, false, EAX),
            Op::Remu => self.divide(insn, false, EDX),
            Op::Quos => self.divide(insn, true, EAX),
            Op::Rems => self.divide(insn, true, EDX),
            Op::Ssai => {
                self.field_value(field!(sar), imm);
                sar = Some(imm & 63);
            }
            Op::Ssr => {
                self.get(EAX, s);
                self.put(Instruction::with2(Code::And_rm32_imm8, EAX, 31));
                self.put(Instruction::with2(Code::Mov_rm32_r32, field!(sar), EAX));
                sar = None;
            }
            Op::Ssl => {
                self.get(EAX, s);
                self.put(Instruction::with2(Code::And_rm32_imm8, EAX, 31));
                self.put(Instruction::with2(Code::Mov_r32_imm32, ECX, 32));
                self.put(Instruction::with2(Code::Sub_r32_rm32, ECX, EAX));
                self.put(Instruction::with2(Code::Mov_rm32_r32, field!(sar), ECX));
                sar = None;
            }
            Op::Ssa8l => {
                self.get(EAX, s);
                self.put(Instruction::with2(Code::And_rm32_imm8, EAX, 3));
                self.put(Instruction::with2(Code::Shl_rm32_imm8, EAX, 3));
                self.put(Instruction::with2(Code::Mov_rm32_r32, field!(sar), EAX));
                sar = None;
            }
            Op::Sll => {
                self.get(EAX, s);
                self.put(Instruction::with2(Code::Shl_rm64_imm8, Register::RAX, 32));
                self.shift_by_sar(Code::Shr_rm64_CL, Code::Shr_rm64_imm8, r);
            }
            Op::Srl => {
                self.get(EAX, t);
                self.shift_by_sar(Code::Shr_rm64_CL, Code::Shr_rm64_imm8, r);
            }
            Op::Sra => {
                match self.place(t) {
                    Place::Host(host) => {
                        self.put(Instruction::with2(Code::Movsxd_r64_rm32, Register::RAX, host))
                    }
                    Place::Memory(memory) => {
                        self.put(Instruction::with2(Code::Movsxd_r64_rm32, Register::RAX, memory));
                    }
                }
                self.shift_by_sar(Code::Sar_rm64_CL, Code::Sar_rm64_imm8, r);
            }
            Op::Src => {
                self.get(EAX, s);
                self.get(EDX, t);
                self.put(Instruction::with2(Code::Shl_rm64_imm8, Register::RAX, 32));
                self.put(Instruction::with2(Code::Or_r64_rm64, Register::RAX, Register::RDX));
                self.shift_by_sar(Code::Shr_rm64_CL, Code::Shr_rm64_imm8, r);
            }
            Op::Slli if imm & 63 >= 32 => self.set_value(r, 0),
            Op::Slli => self.in_place(r, s, |e, host| {
                e.put(Instruction::with2(Code::Shl_rm32_imm8, host, imm & 31));
            }),
            Op::Srli => self.in_place(r, t, |e, host| {
                e.put(Instruction::with2(Code::Shr_rm32_imm8, host, imm & 31));
            }),
            Op::Srai => self.in_place(r, t, |e, host| {
                e.put(Instruction::with2(Code::Sar_rm32_imm8, host, imm & 31));
            }),
            Op::Extui => self.in_place(r, t, |e, host| {
                let (shift, bits) = (u32::from(k & 31), imm & 31);
                if shift > 0 {
                    e.put(Instruction::with2(Code::Shr_rm32_imm8, host, shift));
                }
                // Nothing is left above a field that ends at the top.
                if shift + bits < 32 {
                    e.put(Instruction::with2(Code::And_rm32_imm32, host, (1i32 << bits) - 1));
                }
            }),
            Op::Nop
            | Op::NopN
            | Op::Isync
            | Op::Rsync
            | Op::Esync
            | Op::Dsync
            | Op::Excw
            | Op::Memw
            | Op::Extw => {}
            _ => return false,
        }
        self.known_sar = sar;
        self.learn(insn, result);
        true
    }

    /// Notes what is known of registers behind an instruction.
    pub fn learn(&mut self, insn: &Insn, result: Option<(u8, Option<u32>)>) {
        let writes = super::region::Uses::of(insn).writes;
        for (r, known) in self.known.iter_mut().enumerate().filter(|(r, _)| writes >> r & 1 != 0) {
            *known = result.filter(|(to, _)| usize::from(*to) == r).and_then(|(_, value)| value);
        }
    }

    /// `r <- s`
    fn copy(&mut self, r: u8, s: u8) {
        match (self.place(r), self.place(s)) {
            (Place::Host(to), from) => self.rm(Code::Mov_r32_rm32, to, from),
            (to, Place::Host(from)) => self.mr(Code::Mov_rm32_r32, to, from),
            (to, from) => {
                self.rm(Code::Mov_r32_rm32, EAX, from);
                self.mr(Code::Mov_rm32_r32, to, EAX);
            }
        }
    }

    /// `r <- s` through a host register that `operation` changes.
    fn in_place(&mut self, r: u8, s: u8, operation: impl FnOnce(&mut Self, Register)) {
        let host = match self.place(r) {
            Place::Host(host) => host,
            Place::Memory(_) => EAX,
        };
        match self.place(s) {
            Place::Host(from) if from == host => {}
            place => self.rm(Code::Mov_r32_rm32, host, place),
        }
        operation(self, host);
        self.set(r, host);
    }

    /// `r <- s`, by way of `eax`.
    fn unary(&mut self, r: u8, s: u8, operation: impl FnOnce(&mut Self)) {
        self.get(EAX, s);
        operation(self);
        self.set(r, EAX);
    }

    /// `r <- s op t`
    fn binary(&mut self, code: Code, r: u8, s: u8, t: u8) {
        let second = self.place(t);
        match self.place(r) {
            Place::Host(host) if r != t => {
                if r != s {
                    self.get(host, s);
                }
                self.rm(code, host, second);
            }
            _ => {
                self.get(EAX, s);
                self.rm(code, EAX, second);
                self.set(r, EAX);
            }
        }
    }

    /// `r <- s * scale + t`
    fn add(&mut self, r: u8, s: u8, t: u8, scale: u32) {
        let host = |e: &mut Self, register: u8, scratch: Register| match e.place(register) {
            Place::Host(host) => host,
            place => {
                e.rm(Code::Mov_r32_rm32, scratch, place);
                scratch
            }
        };
        match (self.place(r), self.place(t)) {
            (Place::Host(to), place) if r == s && scale == 1 => self.rm(Code::Add_r32_rm32, to, place),
            (Place::Host(to), _) if r == t && scale == 1 => {
                let place = self.place(s);
                self.rm(Code::Add_r32_rm32, to, place);
            }
            (to, _) => {
                let (index, base) = (host(self, s, EAX), host(self, t, EDX));
                let result = if let Place::Host(to) = to { to } else { EAX };
                let sum = indexed(wide(base), wide(index), scale, 0);
                self.put(Instruction::with2(Code::Lea_r32_m, result, sum));
                self.set(r, result);
            }
        }
    }

    /// `t <- s + value`
    fn add_value(&mut self, t: u8, s: u8, value: u32) {
        match (self.place(t), self.place(s)) {
            (place, _) if t == s => self.mi(Code::Add_rm32_imm32, place, value),
            (Place::Host(to), Place::Host(from)) => {
                self.put(Instruction::with2(Code::Lea_r32_m, to, at(wide(from), value as i32)));
            }
            (Place::Host(to), from) => {
                self.rm(Code::Mov_r32_rm32, to, from);
                self.mi(Code::Add_rm32_imm32, Place::Host(to), value);
            }
            _ => self.unary(t, s, |e| e.mi(Code::Add_rm32_imm32, Place::Host(EAX), value)),
        }
    }

    /// `r <- (s << up) - t`
    fn sub_scaled(&mut self, r: u8, s: u8, t: u8, up: u32) {
        let second = self.place(t);
        self.get(EAX, s);
        self.put(Instruction::with2(Code::Shl_rm32_imm8, EAX, up));
        self.rm(Code::Sub_r32_rm32, EAX, second);
        self.set(r, EAX);
    }

    /// The stack pointer, unless it would be below its limit: that is for the interpreter to tell.
    fn set_stack(&mut self, insn: &Insn) {
        let low = self.asm.label();
        self.get(EAX, insn.s);
        self.mi(Code::Add_rm32_imm32, Place::Host(EAX), insn.imm);
        self.put(Instruction::with2(Code::Cmp_r32_rm32, EAX, field!(isl)));
        self.jump(Code::Jb_rel32_64, low);
        self.set(1, EAX);
        self.interpret_at(low, insn);
    }

    /// At `label`, far away: leaves before `insn`, which was counted.
    fn interpret_at(&mut self, label: Label, insn: &Insn) {
        let (pc, dirty) = (insn.pc, self.dirty);
        let (behind, here) = (self.behind, self.here);
        self.cold(move |e| {
            e.asm.bind(label);
            e.spill(dirty);
            e.tally_undone(here);
            e.leave(Reason::Interpret, pc, Uncount { instructions: behind.instructions + 1, ..behind });
        });
    }

    /// `r <- s`, or `t` if the comparison of the two says so.
    fn choose(&mut self, code: Code, r: u8, s: u8, t: u8) {
        let second = self.place(t);
        self.get(EAX, s);
        self.rm(Code::Cmp_r32_rm32, EAX, second);
        self.rm(code, EAX, second);
        self.set(r, EAX);
    }

    /// `r <- s` if `t` is what `code` says.
    fn move_if(&mut self, code: Code, r: u8, s: u8, t: u8) {
        let (value, condition) = (self.place(s), self.place(t));
        let host = match self.place(r) {
            Place::Host(host) => host,
            place => {
                self.rm(Code::Mov_r32_rm32, EAX, place);
                EAX
            }
        };
        match condition {
            Place::Host(condition) => self.put(Instruction::with2(Code::Test_rm32_r32, condition, condition)),
            place => self.mi(Code::Cmp_rm32_imm32, place, 0),
        }
        self.rm(code, host, value);
        self.set(r, host);
    }

    /// `eax <- ` leading zeros of `eax`; changes `ecx`.
    fn leading_zeros(&mut self) {
        self.put(Instruction::with2(Code::Mov_r32_imm32, ECX, 63));
        self.put(Instruction::with2(Code::Bsr_r32_rm32, EAX, EAX));
        self.put(Instruction::with2(Code::Cmove_r32_rm32, EAX, ECX));
        self.put(Instruction::with2(Code::Xor_rm32_imm8, EAX, 31));
    }

    fn multiply_high(&mut self, code: Code, r: u8, s: u8, t: u8) {
        self.get(EAX, s);
        self.get(ECX, t);
        self.put(Instruction::with1(code, ECX));
        self.set(r, EDX);
    }

    fn multiply_halves(&mut self, extend: Code, r: u8, s: u8, t: u8) {
        self.get(EAX, s);
        self.get(EDX, t);
        self.put(Instruction::with2(extend, EAX, Register::AX));
        self.put(Instruction::with2(extend, EDX, Register::DX));
        self.put(Instruction::with2(Code::Imul_r32_rm32, EAX, EDX));
        self.set(r, EAX);
    }

    /// Quotient or remainder. What the host would trap at is interpreted.
    fn divide(&mut self, insn: &Insn, is_signed: bool, result: Register) {
        let refused = self.asm.label();
        self.get(ECX, insn.t);
        // 0, and for signed operands -1, whose quotient may not fit.
        let (test, bound) = if is_signed { (1, 1) } else { (0, 0) };
        self.put(Instruction::with2(Code::Lea_r32_m, EAX, at(Register::RCX, test)));
        self.mi(Code::Cmp_rm32_imm32, Place::Host(EAX), bound);
        self.jump(Code::Jbe_rel32_64, refused);
        self.get(EAX, insn.s);
        if is_signed {
            self.put(Ok(Instruction::with(Code::Cdq)));
            self.put(Instruction::with1(Code::Idiv_rm32, ECX));
        } else {
            self.put(Instruction::with2(Code::Xor_r32_rm32, EDX, EDX));
            self.put(Instruction::with1(Code::Div_rm32, ECX));
        }
        self.set(insn.r, result);
        self.interpret_at(refused, insn);
    }

    /// `r <- rax >> SAR`, its low word.
    fn shift_by_sar(&mut self, by_cl: Code, by_value: Code, r: u8) {
        match self.known_sar {
            Some(sar) => self.put(Instruction::with2(by_value, Register::RAX, sar)),
            None => {
                self.put(Instruction::with2(Code::Mov_r32_rm32, ECX, field!(sar)));
                self.put(Instruction::with2(by_cl, Register::RAX, Register::CL));
            }
        }
        self.set(r, EAX);
    }

    /// To `target` if the branch is taken.
    pub fn branch(&mut self, insn: &Insn, target: Label) {
        let &Insn { op, s, t, k, .. } = insn;
        let code = match op {
            Op::Beqz | Op::BeqzN => self.compare_zero(s, Code::Je_rel32_64),
            Op::Bnez | Op::BnezN => self.compare_zero(s, Code::Jne_rel32_64),
            Op::Bltz => self.compare_zero(s, Code::Js_rel32_64),
            Op::Bgez => self.compare_zero(s, Code::Jns_rel32_64),
            Op::Beqi => self.compare_value(s, b4const(k) as u32, Code::Je_rel32_64),
            Op::Bnei => self.compare_value(s, b4const(k) as u32, Code::Jne_rel32_64),
            Op::Blti => self.compare_value(s, b4const(k) as u32, Code::Jl_rel32_64),
            Op::Bgei => self.compare_value(s, b4const(k) as u32, Code::Jge_rel32_64),
            Op::Bltui => self.compare_value(s, b4constu(k), Code::Jb_rel32_64),
            Op::Bgeui => self.compare_value(s, b4constu(k), Code::Jae_rel32_64),
            Op::Beq => self.compare(s, t, Code::Je_rel32_64),
            Op::Bne => self.compare(s, t, Code::Jne_rel32_64),
            Op::Blt => self.compare(s, t, Code::Jl_rel32_64),
            Op::Bge => self.compare(s, t, Code::Jge_rel32_64),
            Op::Bltu => self.compare(s, t, Code::Jb_rel32_64),
            Op::Bgeu => self.compare(s, t, Code::Jae_rel32_64),
            Op::Bany => self.test(s, t, false, Code::Jne_rel32_64),
            Op::Bnone => self.test(s, t, false, Code::Je_rel32_64),
            Op::Ball => self.test(s, t, true, Code::Je_rel32_64),
            Op::Bnall => self.test(s, t, true, Code::Jne_rel32_64),
            Op::Bbc => self.test_bit(s, t, Code::Jae_rel32_64),
            Op::Bbs => self.test_bit(s, t, Code::Jb_rel32_64),
            Op::Bbci => self.test_value(s, 1 << (k & 31), Code::Je_rel32_64),
            Op::Bbsi => self.test_value(s, 1 << (k & 31), Code::Jne_rel32_64),
            _ => return,
        };
        self.jump(code, target);
    }

    fn compare_zero(&mut self, s: u8, code: Code) -> Code {
        match self.place(s) {
            Place::Host(host) => self.put(Instruction::with2(Code::Test_rm32_r32, host, host)),
            place => self.mi(Code::Cmp_rm32_imm32, place, 0),
        }
        code
    }

    fn compare_value(&mut self, s: u8, value: u32, code: Code) -> Code {
        let place = self.place(s);
        self.mi(Code::Cmp_rm32_imm32, place, value);
        code
    }

    fn compare(&mut self, s: u8, t: u8, code: Code) -> Code {
        let second = self.place(t);
        match self.place(s) {
            Place::Host(host) => self.rm(Code::Cmp_r32_rm32, host, second),
            place => {
                self.rm(Code::Mov_r32_rm32, EAX, place);
                self.rm(Code::Cmp_r32_rm32, EAX, second);
            }
        }
        code
    }

    /// Bits of `t` in `s`, or in its complement.
    fn test(&mut self, s: u8, t: u8, complement: bool, code: Code) -> Code {
        self.get(EAX, s);
        if complement {
            self.put(Instruction::with1(Code::Not_rm32, EAX));
        }
        let second = self.place(t);
        self.rm(Code::And_r32_rm32, EAX, second);
        code
    }

    fn test_bit(&mut self, s: u8, t: u8, code: Code) -> Code {
        self.get(EAX, s);
        self.get(ECX, t);
        self.put(Instruction::with2(Code::Bt_rm32_r32, EAX, ECX));
        code
    }

    fn test_value(&mut self, s: u8, bit: u32, code: Code) -> Code {
        let place = self.place(s);
        self.mi(Code::Test_rm32_imm32, place, bit);
        code
    }
}
