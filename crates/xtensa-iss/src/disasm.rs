//! Disassembler: an instruction as the GNU tools print it, for reports.
//!
//! Unaware of symbols; targets are absolute addresses.

use crate::decode::decode;
use crate::op::{B4CONST, B4CONSTU, Insn, Op};
use crate::special::special_register_name;

/// The instruction that starts with `bytes` at address `pc`, as text such as `addi.n a10, a2, -1`. Never fails: what the
/// core cannot execute reads `.byte 0x…` or `flix`.
#[must_use]
pub fn disasm(bytes: &[u8], pc: u32) -> String {
    text(&decode(bytes, pc))
}

#[rustfmt::skip]
fn text(insn: &Insn) -> String {
    // The density forms have the suffix `.n`.
    let n = if insn.len == 2 { ".n" } else { "" };
    match insn.op {
        Op::Add { r, s, t } => three(&format!("add{n}"), r, s, t),
        Op::Addx2 { r, s, t } => three("addx2", r, s, t),
        Op::Addx4 { r, s, t } => three("addx4", r, s, t),
        Op::Addx8 { r, s, t } => three("addx8", r, s, t),
        Op::Sub { r, s, t } => three("sub", r, s, t),
        Op::Subx2 { r, s, t } => three("subx2", r, s, t),
        Op::Subx4 { r, s, t } => three("subx4", r, s, t),
        Op::Subx8 { r, s, t } => three("subx8", r, s, t),
        Op::And { r, s, t } => three("and", r, s, t),
        Op::Or { r, s, t } => three("or", r, s, t),
        Op::Xor { r, s, t } => three("xor", r, s, t),
        Op::Neg { r, t } => two("neg", r, t),
        Op::Abs { r, t } => two("abs", r, t),
        Op::Addi { t, s, imm } => add_immediate(n, t, s, imm),
        Op::AddiSp { s, imm } => add_immediate(n, 1, s, imm),
        Op::Movi { t, imm } => format!("movi{n} a{t}, {imm}"),
        Op::Mov { t, s } if insn.len == 2 => two("mov.n", t, s),
        Op::Mov { t, s } => three("or", t, s, s),
        Op::Const16 { t, imm } => format!("const16 a{t}, {imm}"),
        Op::Sext { r, s, bit } => format!("sext a{r}, a{s}, {bit}"),
        Op::Clamps { r, s, bit } => format!("clamps a{r}, a{s}, {bit}"),
        Op::Min { r, s, t } => three("min", r, s, t),
        Op::Max { r, s, t } => three("max", r, s, t),
        Op::Minu { r, s, t } => three("minu", r, s, t),
        Op::Maxu { r, s, t } => three("maxu", r, s, t),
        Op::Nsa { t, s } => two("nsa", t, s),
        Op::Nsau { t, s } => two("nsau", t, s),
        Op::Moveqz { r, s, t } => three("moveqz", r, s, t),
        Op::Movnez { r, s, t } => three("movnez", r, s, t),
        Op::Movltz { r, s, t } => three("movltz", r, s, t),
        Op::Movgez { r, s, t } => three("movgez", r, s, t),
        Op::Mull { r, s, t } => three("mull", r, s, t),
        Op::Muluh { r, s, t } => three("muluh", r, s, t),
        Op::Mulsh { r, s, t } => three("mulsh", r, s, t),
        Op::Mul16u { r, s, t } => three("mul16u", r, s, t),
        Op::Mul16s { r, s, t } => three("mul16s", r, s, t),
        Op::Quou { r, s, t } => three("quou", r, s, t),
        Op::Quos { r, s, t } => three("quos", r, s, t),
        Op::Remu { r, s, t } => three("remu", r, s, t),
        Op::Rems { r, s, t } => three("rems", r, s, t),
        Op::Ssr { s } => format!("ssr a{s}"),
        Op::Ssl { s } => format!("ssl a{s}"),
        Op::Ssa8l { s } => format!("ssa8l a{s}"),
        Op::Ssa8b { s } => format!("ssa8b a{s}"),
        Op::Ssai { amount } => format!("ssai {amount}"),
        Op::Sll { r, s } => two("sll", r, s),
        Op::Srl { r, t } => two("srl", r, t),
        Op::Sra { r, t } => two("sra", r, t),
        Op::Src { r, s, t } => three("src", r, s, t),
        Op::Slli { r, s, amount } => format!("slli a{r}, a{s}, {amount}"),
        Op::Srli { r, t, amount } => format!("srli a{r}, a{t}, {amount}"),
        Op::Srai { r, t, amount } => format!("srai a{r}, a{t}, {amount}"),
        Op::Extui { r, t, shift, bits } => format!("extui a{r}, a{t}, {shift}, {bits}"),
        Op::L8ui { t, s, offset } => memory("l8ui", t, s, offset),
        Op::L16ui { t, s, offset } => memory("l16ui", t, s, offset),
        Op::L16si { t, s, offset } => memory("l16si", t, s, offset),
        Op::L32i { t, s, offset } => memory(&format!("l32i{n}"), t, s, offset),
        Op::L32ai { t, s, offset } => memory("l32ai", t, s, offset),
        Op::L32r { t, addr } => format!("l32r a{t}, {addr:#x}"),
        Op::S8i { t, s, offset } => memory("s8i", t, s, offset),
        Op::S16i { t, s, offset } => memory("s16i", t, s, offset),
        Op::S32i { t, s, offset } => memory(&format!("s32i{n}"), t, s, offset),
        Op::S32ri { t, s, offset } => memory("s32ri", t, s, offset),
        Op::S32c1i { t, s, offset } => memory("s32c1i", t, s, offset),
        Op::L32e { t, s, offset } => format!("l32e a{t}, a{s}, {offset}"),
        Op::S32e { t, s, offset } => format!("s32e a{t}, a{s}, {offset}"),
        Op::Andb { r, s, t } => format!("andb b{r}, b{s}, b{t}"),
        Op::Andbc { r, s, t } => format!("andbc b{r}, b{s}, b{t}"),
        Op::Orb { r, s, t } => format!("orb b{r}, b{s}, b{t}"),
        Op::Orbc { r, s, t } => format!("orbc b{r}, b{s}, b{t}"),
        Op::Xorb { r, s, t } => format!("xorb b{r}, b{s}, b{t}"),
        Op::Any4 { t, s } => group("any4", t, s, 4),
        Op::All4 { t, s } => group("all4", t, s, 4),
        Op::Any8 { t, s } => group("any8", t, s, 8),
        Op::All8 { t, s } => group("all8", t, s, 8),
        Op::Movf { r, s, t } => format!("movf a{r}, a{s}, b{t}"),
        Op::Movt { r, s, t } => format!("movt a{r}, a{s}, b{t}"),
        Op::Lsi { t, s, offset } => float_memory("lsi", t, s, offset),
        Op::Ssi { t, s, offset } => float_memory("ssi", t, s, offset),
        Op::Lsiu { t, s, offset } => float_memory("lsiu", t, s, offset),
        Op::Ssiu { t, s, offset } => float_memory("ssiu", t, s, offset),
        Op::Lsx { r, s, t } => format!("lsx f{r}, a{s}, a{t}"),
        Op::Ssx { r, s, t } => format!("ssx f{r}, a{s}, a{t}"),
        Op::Lsxu { r, s, t } => format!("lsxu f{r}, a{s}, a{t}"),
        Op::Ssxu { r, s, t } => format!("ssxu f{r}, a{s}, a{t}"),
        Op::AddS { r, s, t } => float_three("add.s", r, s, t),
        Op::SubS { r, s, t } => float_three("sub.s", r, s, t),
        Op::MulS { r, s, t } => float_three("mul.s", r, s, t),
        Op::MaddS { r, s, t } => float_three("madd.s", r, s, t),
        Op::MsubS { r, s, t } => float_three("msub.s", r, s, t),
        Op::MovS { r, s } => format!("mov.s f{r}, f{s}"),
        Op::AbsS { r, s } => format!("abs.s f{r}, f{s}"),
        Op::NegS { r, s } => format!("neg.s f{r}, f{s}"),
        Op::RoundS { r, s, scale } => format!("round.s a{r}, f{s}, {scale}"),
        Op::TruncS { r, s, scale } => format!("trunc.s a{r}, f{s}, {scale}"),
        Op::FloorS { r, s, scale } => format!("floor.s a{r}, f{s}, {scale}"),
        Op::CeilS { r, s, scale } => format!("ceil.s a{r}, f{s}, {scale}"),
        Op::UtruncS { r, s, scale } => format!("utrunc.s a{r}, f{s}, {scale}"),
        Op::FloatS { r, s, scale } => format!("float.s f{r}, a{s}, {scale}"),
        Op::UfloatS { r, s, scale } => format!("ufloat.s f{r}, a{s}, {scale}"),
        Op::Rfr { r, s } => format!("rfr a{r}, f{s}"),
        Op::Wfr { r, s } => format!("wfr f{r}, a{s}"),
        Op::UnS { r, s, t } => format!("un.s b{r}, f{s}, f{t}"),
        Op::OeqS { r, s, t } => format!("oeq.s b{r}, f{s}, f{t}"),
        Op::UeqS { r, s, t } => format!("ueq.s b{r}, f{s}, f{t}"),
        Op::OltS { r, s, t } => format!("olt.s b{r}, f{s}, f{t}"),
        Op::UltS { r, s, t } => format!("ult.s b{r}, f{s}, f{t}"),
        Op::OleS { r, s, t } => format!("ole.s b{r}, f{s}, f{t}"),
        Op::UleS { r, s, t } => format!("ule.s b{r}, f{s}, f{t}"),
        Op::MoveqzS { r, s, t } => format!("moveqz.s f{r}, f{s}, a{t}"),
        Op::MovnezS { r, s, t } => format!("movnez.s f{r}, f{s}, a{t}"),
        Op::MovltzS { r, s, t } => format!("movltz.s f{r}, f{s}, a{t}"),
        Op::MovgezS { r, s, t } => format!("movgez.s f{r}, f{s}, a{t}"),
        Op::MovfS { r, s, t } => format!("movf.s f{r}, f{s}, b{t}"),
        Op::MovtS { r, s, t } => format!("movt.s f{r}, f{s}, b{t}"),
        Op::Nop => format!("nop{n}"),
        Op::Memw => "memw".into(),
        Op::Extw => "extw".into(),
        Op::Isync => "isync".into(),
        Op::Rsync => "rsync".into(),
        Op::Esync => "esync".into(),
        Op::Dsync => "dsync".into(),
        Op::Excw => "excw".into(),
        Op::Cache { t, s, offset } => {
            let name = match t {
                0 => "dpfr", 1 => "dpfw", 2 => "dpfro", 3 => "dpfwo", 4 => "dhwb", 5 => "dhwbi", 6 => "dhi", 7 => "dii",
                12 => "ipf", 14 => "ihi", _ => "iii",
            };
            format!("{name} a{s}, {offset}")
        }
        Op::Beqz { s, target } => format!("beqz{n} a{s}, {target:#x}"),
        Op::Bnez { s, target } => format!("bnez{n} a{s}, {target:#x}"),
        Op::Bltz { s, target } => format!("bltz a{s}, {target:#x}"),
        Op::Bgez { s, target } => format!("bgez a{s}, {target:#x}"),
        Op::Beqi { s, k, target } => constant("beqi", s, B4CONST[usize::from(k & 15)].into(), target),
        Op::Bnei { s, k, target } => constant("bnei", s, B4CONST[usize::from(k & 15)].into(), target),
        Op::Blti { s, k, target } => constant("blti", s, B4CONST[usize::from(k & 15)].into(), target),
        Op::Bgei { s, k, target } => constant("bgei", s, B4CONST[usize::from(k & 15)].into(), target),
        Op::Bltui { s, k, target } => constant("bltui", s, B4CONSTU[usize::from(k & 15)].into(), target),
        Op::Bgeui { s, k, target } => constant("bgeui", s, B4CONSTU[usize::from(k & 15)].into(), target),
        Op::Beq { s, t, target } => compare("beq", s, t, target),
        Op::Bne { s, t, target } => compare("bne", s, t, target),
        Op::Blt { s, t, target } => compare("blt", s, t, target),
        Op::Bge { s, t, target } => compare("bge", s, t, target),
        Op::Bltu { s, t, target } => compare("bltu", s, t, target),
        Op::Bgeu { s, t, target } => compare("bgeu", s, t, target),
        Op::Bany { s, t, target } => compare("bany", s, t, target),
        Op::Bnone { s, t, target } => compare("bnone", s, t, target),
        Op::Ball { s, t, target } => compare("ball", s, t, target),
        Op::Bnall { s, t, target } => compare("bnall", s, t, target),
        Op::Bbc { s, t, target } => compare("bbc", s, t, target),
        Op::Bbs { s, t, target } => compare("bbs", s, t, target),
        Op::Bbci { s, bit, target } => format!("bbci a{s}, {bit}, {target:#x}"),
        Op::Bbsi { s, bit, target } => format!("bbsi a{s}, {bit}, {target:#x}"),
        Op::Bf { s, target } => format!("bf b{s}, {target:#x}"),
        Op::Bt { s, target } => format!("bt b{s}, {target:#x}"),
        Op::J { target } => format!("j {target:#x}"),
        Op::Jx { s } => format!("jx a{s}"),
        Op::Loop { s, lend } => format!("loop a{s}, {lend:#x}"),
        Op::Loopnez { s, lend } => format!("loopnez a{s}, {lend:#x}"),
        Op::Loopgtz { s, lend } => format!("loopgtz a{s}, {lend:#x}"),
        Op::Call0 { target } => format!("call0 {target:#x}"),
        Op::Callx0 { s } => format!("callx0 a{s}"),
        Op::Ret => format!("ret{n}"),
        Op::Call { n, target } => format!("call{} {target:#x}", 4 * n),
        Op::Callx { n, s } => format!("callx{} a{s}", 4 * n),
        Op::Entry { s, frame } => format!("entry a{s}, {frame}"),
        Op::Retw => format!("retw{n}"),
        Op::Movsp { t, s } => two("movsp", t, s),
        Op::Rotw { by } => format!("rotw {by}"),
        Op::Rsr { t, number } => special("rsr", t, number),
        Op::Wsr { t, number } => special("wsr", t, number),
        Op::Xsr { t, number } => special("xsr", t, number),
        Op::Rur { r, number } => format!("rur.{} a{r}", user(number)),
        Op::Wur { t, number } => format!("wur.{} a{t}", user(number)),
        Op::Rsil { t, level } => format!("rsil a{t}, {level}"),
        Op::Break { s, .. } if insn.len == 2 => format!("break.n {s}"),
        Op::Break { s, t } => format!("break {s}, {t}"),
        Op::Syscall => "syscall".into(),
        Op::Simcall => "simcall".into(),
        Op::Waiti { level } => format!("waiti {level}"),
        Op::Illegal { bytes: [0, 0, 0] } => "ill".into(),
        Op::Illegal { bytes: [0x6d, 0xf0, _] } => "ill.n".into(),
        Op::Illegal { bytes: [a, b, _] } if insn.len == 2 => format!(".byte {a:#04x}, {b:#04x}"),
        Op::Illegal { bytes: [a, b, c] } => format!(".byte {a:#04x}, {b:#04x}, {c:#04x}"),
        Op::Flix => format!("flix ({} bytes)", insn.len),
    }
}

fn two(name: &str, a: u8, b: u8) -> String {
    format!("{name} a{a}, a{b}")
}

fn three(name: &str, r: u8, s: u8, t: u8) -> String {
    format!("{name} a{r}, a{s}, a{t}")
}

fn float_three(name: &str, r: u8, s: u8, t: u8) -> String {
    format!("{name} f{r}, f{s}, f{t}")
}

fn add_immediate(n: &str, t: u8, s: u8, imm: i32) -> String {
    let name = if (-128..128).contains(&imm) { "addi" } else { "addmi" };
    format!("{name}{n} a{t}, a{s}, {imm}")
}

fn memory(name: &str, t: u8, s: u8, offset: u16) -> String {
    format!("{name} a{t}, a{s}, {offset}")
}

fn float_memory(name: &str, t: u8, s: u8, offset: u16) -> String {
    format!("{name} f{t}, a{s}, {offset}")
}

fn compare(name: &str, s: u8, t: u8, target: u32) -> String {
    format!("{name} a{s}, a{t}, {target:#x}")
}

fn constant(name: &str, s: u8, k: i64, target: u32) -> String {
    format!("{name} a{s}, {k}, {target:#x}")
}

/// `any4 b0, b8:b9:b10:b11`
fn group(name: &str, t: u8, s: u8, size: u8) -> String {
    let members: Vec<String> = (s..s + size).map(|b| format!("b{b}")).collect();
    format!("{name} b{t}, {}", members.join(":"))
}

fn special(name: &str, t: u8, number: u8) -> String {
    match special_register_name(number) {
        Some(register) => format!("{name}.{register} a{t}"),
        None => format!("{name} a{t}, {number}"),
    }
}

fn user(number: u8) -> String {
    match number {
        crate::special::THREADPTR => "threadptr".into(),
        crate::special::FCR => "fcr".into(),
        crate::special::FSR => "fsr".into(),
        _ => number.to_string(),
    }
}
