//! Random legal instruction sequences, and the program that runs many of them and writes down every register after each.
//!
//! A case owns 512 bytes: 256 of memory to play in, then the registers, loaded before the sequence and stored after it.
//! `a1` (stack pointer) and `a3` (the case's bytes) are never a destination.

use super::encode::*;
use super::image::BASE;
use super::rng::Rng;

pub const CASE_BYTES: usize = 512;
const AR: u32 = 256;
const SAR: u32 = 320;
const BR: u32 = 324;
const SCOMPARE1: u32 = 328;
const FCR: u32 = 332;
const FSR: u32 = 336;
const LBEG: u32 = 340;
const LEND: u32 = 344;
const LCOUNT: u32 = 348;
const FR: u32 = 384;
const STACK_BYTES: u32 = 64 * 1024;

/// What a sequence is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Arithmetic, logic, shifts, multiplication, division, moves, booleans.
    Integer,
    /// The same with loads and stores.
    Memory,
    /// Forward branches of every kind, jumps, CALL0.
    Control,
    /// Zero-overhead loops, early exits, bodies that end in branches.
    Loops,
    /// Chains of windowed calls up to 60 deep, with MOVSP.
    Windows,
    /// Single-precision floating point.
    Float,
}

/// What the core that runs a program has beyond what all test cores have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Features {
    pub booleans: bool,
    pub multiply_high: bool,
    pub float: bool,
}

/// One sequence and where it lies.
pub struct Case {
    pub kind: Kind,
    pub start: u32,
    pub code: Code,
}

/// A program of many cases.
pub struct Program {
    /// Data, then stack, then code, to be loaded at [`BASE`].
    pub bytes: Vec<u8>,
    pub memory: u32,
    pub entry: u32,
    pub cases: Vec<Case>,
}

/// Names of the words of a case's bytes, for failure messages.
pub fn word_name(offset: usize) -> String {
    match offset as u32 {
        o @ 0..AR => format!("mem[{o}]"),
        o @ AR..SAR => format!("a{}", (o - AR) / 4),
        SAR => "sar".into(),
        BR => "br".into(),
        SCOMPARE1 => "scompare1".into(),
        FCR => "fcr".into(),
        FSR => "fsr".into(),
        LBEG => "lbeg".into(),
        LEND => "lend".into(),
        LCOUNT => "lcount".into(),
        o @ FR.. if o < FR + 64 => format!("f{}", (o - FR) / 4),
        o => format!("unused[{o}]"),
    }
}

struct Emitter {
    code: Code,
    base: u32,
    features: Features,
}

impl Emitter {
    fn pc(&self) -> u32 {
        self.base + self.code.len() as u32
    }
    /// An emitter for a piece to be put into this one.
    fn fragment(&self) -> Self {
        Self { code: Vec::new(), base: 0, features: self.features }
    }
    fn put(&mut self, bytes: impl AsRef<[u8]>) {
        self.code.extend(bytes.as_ref());
    }
    fn align(&mut self) {
        while !self.code.len().is_multiple_of(4) {
            self.code.push(0);
        }
    }
}

/// Builds the program for `kinds`, one case each. `features` decide what is generated and saved.
pub fn program(rng: &mut Rng, kinds: &[Kind], features: Features) -> Program {
    let data_len = kinds.len() * CASE_BYTES;
    let stack_top = BASE + data_len as u32 + STACK_BYTES;
    let mut bytes = Vec::with_capacity(data_len + STACK_BYTES as usize + kinds.len() * 256);
    for _ in kinds {
        bytes.extend(initial_bytes(rng));
    }
    bytes.resize(data_len + STACK_BYTES as usize, 0);

    let mut out = Emitter { code: Vec::new(), base: stack_top, features };
    for literal in [stack_top - 256, BASE, data_len as u32] {
        out.put(literal.to_le_bytes());
    }
    let entry = out.pc();
    let literal = |n: u32| stack_top + 4 * n;
    out.put(l32r(1, out.pc(), literal(0)));
    out.put(l32r(3, out.pc(), literal(1)));
    // The outermost frame's own save area says where its a4..a11 may be spilled to.
    out.put(addi(4, 1, -16));
    out.put(addi(5, 1, 64));
    out.put(s32i(5, 4, 4));
    let mut cases = Vec::new();
    for &kind in kinds {
        prologue(&mut out);
        let start = out.code.len();
        sequence(rng, &mut out, kind);
        cases.push(Case { kind, start: out.base + start as u32, code: out.code[start..].to_vec() });
        epilogue(&mut out);
        // The next case's literals are behind; only a3 moves on.
        out.put(addmi(3, 3, CASE_BYTES as i32));
    }
    // write(1, BASE, data_len); exit(0). The length was stored behind the stack top, out of L32R's reach by now.
    out.put(movi(4, -1));
    let (len, base) = (data_len as u32, BASE);
    constant(&mut out, 4, len);
    constant(&mut out, 3, base);
    out.put(movi(6, 1));
    out.put(movi(2, 13));
    out.put(SYSCALL);
    out.put(movi(6, 0));
    out.put(movi(2, 118));
    out.put(SYSCALL);
    let memory = (data_len as u32 + STACK_BYTES + out.code.len() as u32 + 0xfff) & !0xfff;
    bytes.extend(&out.code);
    Program { bytes, memory, entry, cases }
}

/// at <- value, in shifts and adds of 7 bits.
fn constant(out: &mut Emitter, t: u8, value: u32) {
    out.put(movi(t, (value >> 28) as i32));
    for shift in [21, 14, 7, 0] {
        out.put(rrr(1, 1, t, t, 32 - 7 - 16)); // slli t, t, 7
        out.put(addi(t, t, (value >> shift & 0x7f) as i32));
    }
}

fn initial_bytes(rng: &mut Rng) -> Vec<u8> {
    let mut words = [0u32; CASE_BYTES / 4];
    let float_memory = rng.chance(50);
    for w in &mut words[..AR as usize / 4] {
        *w = if float_memory { rng.float() } else { rng.word() };
    }
    for w in &mut words[AR as usize / 4..SAR as usize / 4] {
        *w = rng.word();
    }
    words[SAR as usize / 4] = rng.below(33);
    words[BR as usize / 4] = rng.next() as u32 & 0xffff;
    words[SCOMPARE1 as usize / 4] = words[0];
    words[FCR as usize / 4] = rng.below(4);
    words[FSR as usize / 4] = if rng.chance(50) { 0 } else { 1 << 7 };
    for w in &mut words[FR as usize / 4..FR as usize / 4 + 16] {
        *w = rng.float();
    }
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

fn prologue(out: &mut Emitter) {
    if out.features.booleans {
        out.put(l32i(4, 3, BR));
        out.put(wsr(4, 4));
    }
    for (offset, number) in [(SAR, 3), (SCOMPARE1, 12)] {
        out.put(l32i(4, 3, offset));
        out.put(wsr(4, number));
    }
    if out.features.float {
        for (offset, number) in [(FCR, 232), (FSR, 233)] {
            out.put(l32i(4, 3, offset));
            out.put(wur(4, number));
        }
        for f in 0..16 {
            out.put(lsi(f, 3, FR + 4 * u32::from(f)));
        }
    }
    for r in (0..16).filter(|r| ![1, 3].contains(r)) {
        out.put(l32i(r, 3, AR + 4 * u32::from(r)));
    }
}

fn epilogue(out: &mut Emitter) {
    for r in 0..16 {
        out.put(s32i(r, 3, AR + 4 * u32::from(r)));
    }
    if out.features.booleans {
        out.put(rsr(4, 4));
        out.put(s32i(4, 3, BR));
    }
    for (offset, number) in [(SAR, 3), (SCOMPARE1, 12), (LBEG, 0), (LEND, 1), (LCOUNT, 2)] {
        out.put(rsr(4, number));
        out.put(s32i(4, 3, offset));
    }
    if out.features.float {
        for (offset, number) in [(FCR, 232), (FSR, 233)] {
            out.put(rur(4, number));
            out.put(s32i(4, 3, offset));
        }
        for f in 0..16 {
            out.put(ssi(f, 3, FR + 4 * u32::from(f)));
        }
    }
}

fn sequence(rng: &mut Rng, out: &mut Emitter, kind: Kind) {
    let n = 4 + rng.below(20);
    match kind {
        Kind::Windows => windows(rng, out),
        Kind::Loops => {
            for _ in 0..1 + rng.below(3) {
                zero_overhead_loop(rng, out);
                simple(rng, out);
            }
        }
        _ => {
            for _ in 0..n {
                match kind {
                    Kind::Integer => integer(rng, out),
                    Kind::Memory => memory(rng, out),
                    Kind::Control => control(rng, out),
                    _ => float(rng, out),
                }
            }
        }
    }
}

fn any(rng: &mut Rng) -> u8 {
    rng.below(16) as u8
}

fn destination(rng: &mut Rng) -> u8 {
    rng.pick(&[0, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
}

/// Integer or memory.
fn simple(rng: &mut Rng, out: &mut Emitter) {
    if rng.chance(25) { memory(rng, out) } else { integer(rng, out) }
}

fn integer(rng: &mut Rng, out: &mut Emitter) {
    let (d, s, t) = (destination(rng), any(rng), any(rng));
    let nibble = any(rng);
    match rng.below(20) {
        // and or xor add.. sub..
        0..=3 => out.put(rrr(0, rng.pick(&[1, 2, 3, 8, 9, 10, 11, 12, 13, 14, 15]), d, s, t)),
        // src mul16u mul16s
        4 => out.put(rrr(1, rng.pick(&[8, 12, 13]), d, s, t)),
        // mull muluh mulsh
        5 if out.features.multiply_high => out.put(rrr(2, rng.pick(&[8, 10, 11]), d, s, t)),
        5 => out.put(rrr(2, 8, d, s, t)),
        // quou quos remu rems of a divisor that is not zero
        6 => {
            let divisor = destination(rng);
            if rng.chance(50) {
                out.put(movi(divisor, rng.pick(&[-1, 1, 2, 3, 7, 100, -5, -2048])));
            } else {
                out.put(movi(divisor, 1));
                out.put(rrr(0, 2, divisor, divisor, t));
            }
            out.put(rrr(2, rng.pick(&[12, 13, 14, 15]), d, s, divisor));
        }
        // min max minu maxu, moveqz movnez movltz movgez, movf movt, sext, clamps
        7 if out.features.booleans => out.put(rrr(3, rng.pick(&[12, 13]), d, s, t)),
        7 | 8 => out.put(rrr(3, rng.pick(&[2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), d, s, t)),
        // neg abs
        9 => out.put(rrr(0, 6, d, rng.below(2) as u8, t)),
        // slli (never by 32) srai srli
        10 => out.put(rrr(1, 0, d, s, t.max(1))),
        11 => match rng.below(3) {
            0 => out.put(rrr(1, 1, d, s, t)),
            1 => out.put(rrr(1, rng.pick(&[2, 3]), d, s, t)),
            _ => out.put(rrr(1, 4, d, s, t)),
        },
        // ssr ssa8l ssai, then a shift to the right; ssl ssa8b, then one to the left; either, then src. SRL and SRA by the
        // 32 that SSL may leave give 0 or the sign in the manual, something else in qemu's translation.
        12 | 13 => {
            let right = rng.chance(50);
            match (right, rng.below(3)) {
                (true, 0) => out.put(rrr(0, 4, 0, s, 0)),
                (true, 1) => out.put(rrr(0, 4, 2, s, 0)),
                (true, _) => out.put(rrr(0, 4, 4, s, rng.below(2) as u8)),
                (false, 0) => out.put(rrr(0, 4, 3, s, 0)),
                (false, _) => out.put(rrr(0, 4, 1, s, 0)),
            }
            match (right, rng.below(3)) {
                (_, 0) => out.put(rrr(1, 8, d, s, t)),
                (true, 1) => out.put(rrr(1, 9, d, 0, t)),
                (true, _) => out.put(rrr(1, 11, d, 0, t)),
                (false, _) => out.put(rrr(1, 10, d, s, 0)),
            }
        }
        // extui
        14 => {
            let shift = rng.below(32) as u8;
            let bits = rng.below(16.min(32 - u32::from(shift))) as u8;
            out.put(rrr(4 | shift >> 4, bits, d, shift & 15, t));
        }
        // nsa nsau
        15 => out.put(rrr(0, 4, rng.pick(&[14, 15]), s, d)),
        16 => match rng.below(3) {
            0 => out.put(addi(d, s, rng.below(256) as i32)),
            1 => out.put(addmi(d, s, (rng.below(256) << 8) as i32)),
            _ => out.put(movi(d, rng.below(4096) as i32)),
        },
        // add.n addi.n mov.n movi.n nop.n
        17 => match rng.below(5) {
            0 => out.put(narrow(10, d, s, t)),
            1 => out.put(narrow(11, d, s, t)),
            2 => out.put(narrow(13, 0, s, d)),
            3 => out.put(narrow(12, nibble, d, rng.below(8) as u8)),
            _ => out.put(narrow(13, 15, 0, 3)),
        },
        // andb andbc orb orbc xorb any4 all4 any8 all8
        18 if out.features.booleans => match rng.below(3) {
            0 => alone(out, rrr(0, 0, rng.pick(&[8, 9]), s & 12, t)),
            1 => alone(out, rrr(0, 0, rng.pick(&[10, 11]), s & 8, t)),
            _ => alone(out, rrr(2, rng.below(5) as u8, nibble, s, t)),
        },
        // rsr wsr xsr of sar (up to 32), br, scompare1; rur wur threadptr
        _ => match rng.below(6) {
            0 => out.put(rsr(d, rng.pick(&[3, 12]))),
            1 => alone(out, wsr(s, if out.features.booleans { 4 } else { 12 })),
            2 => alone(out, xsr(d, if out.features.booleans { 4 } else { 12 })),
            3 => {
                out.put(movi(d, rng.below(33) as i32));
                out.put(rng.pick(&[wsr, xsr])(d, 3));
            }
            4 => out.put(wur(s, 231)),
            _ => {
                out.put(wur(s, 231));
                out.put(rur(d, 231));
            }
        },
    }
}

/// Between two jumps to the next instruction. qemu keeps the booleans as bits, fours and eights and as a special register in
/// four variables, which agree only between its translation blocks; a jump ends one.
fn alone(out: &mut Emitter, insn: [u8; 3]) {
    out.put(JUMP_TO_NEXT);
    out.put(insn);
    out.put(JUMP_TO_NEXT);
}

fn memory(rng: &mut Rng, out: &mut Emitter) {
    let (d, s) = (destination(rng), any(rng));
    let word = rng.below(64) * 4;
    match rng.below(12) {
        0 => out.put(rri8(2, 0, 3, d, rng.below(256) as u8)), // l8ui
        1 => out.put(rri8(2, rng.pick(&[1, 9]), 3, d, rng.below(128) as u8)), // l16ui l16si
        2 => out.put(l32i(d, 3, word)),
        3 => out.put(rri8(2, 4, 3, s, rng.below(256) as u8)), // s8i
        4 => out.put(rri8(2, 5, 3, s, rng.below(128) as u8)), // s16i
        5 => out.put(s32i(s, 3, word)),
        6 => out.put(narrow(8, rng.below(16) as u8, 3, d)), // l32i.n
        7 => out.put(narrow(9, rng.below(16) as u8, 3, s)), // s32i.n
        8 => out.put(rri8(2, 14, 3, d, (word / 4) as u8)),  // s32c1i
        9 => out.put(rri8(2, rng.pick(&[11, 15]), 3, d, (word / 4) as u8)), // l32ai s32ri
        // Through another register, so that the address is computed.
        10 => {
            out.put(addi(d, 3, rng.below(32) as i32 * 4));
            out.put(l32i(d, d, rng.below(32) * 4));
        }
        _ => integer(rng, out),
    }
}

/// A forward branch over `inner`.
fn branch_over(rng: &mut Rng, out: &mut Emitter, inner: &[u8]) {
    let skip = inner.len();
    let (s, t, r) = (any(rng), any(rng), any(rng));
    match rng.below(8) {
        // bnone beq blt bltu ball bbc bbci bany bne bge bgeu bnall bbs bbsi
        0..=2 => out.put(rri8(7, r, s, t, skip as u8 - 1)),
        3 => out.put(branch_zero(rng.below(4) as u8, s, skip)),
        // beqi bnei blti bgei
        4 => out.put(rri8(6, r, s, (rng.below(4) << 2) as u8 | 2, skip as u8 - 1)),
        // bltui bgeui
        5 => out.put(rri8(6, r, s, rng.pick(&[0b1011, 0b1111]), skip as u8 - 1)),
        // bf bt
        6 if out.features.booleans => out.put(rri8(6, rng.below(2) as u8, s, 0b0111, skip as u8 - 1)),
        // beqz.n bnez.n: two bytes long, so the offset is one less again
        _ if (2..=64).contains(&skip) => {
            let imm6 = skip as u8 - 2;
            out.put(narrow(12, imm6 & 15, s, rng.pick(&[8, 12]) | imm6 >> 4));
        }
        _ => out.put(jump(out.pc(), out.pc() + 3 + skip as u32)),
    }
    out.put(inner);
}

fn control(rng: &mut Rng, out: &mut Emitter) {
    let mut inner = out.fragment();
    for _ in 0..1 + rng.below(3) {
        simple(rng, &mut inner);
    }
    match rng.below(8) {
        0 => {
            // call0 over a little function that returns behind it
            let d = rng.pick(&[4, 5, 6]);
            let skip_from = out.pc();
            let function = (skip_from + 3 + 3) & !3;
            out.put(jump(skip_from, function));
            while out.pc() < function {
                out.put([0]);
            }
            // function: falls into the call the first time round, so guard it with a0
            let call_at = function;
            let target = (call_at + 3 + 3 + 3) & !3;
            out.put(call(0, call_at, target));
            let after = call_at + 3;
            out.put(jump(after, target + 6));
            while out.pc() < target {
                out.put([0]);
            }
            out.put(add(d, d, 0));
            out.put([0x80, 0, 0]); // ret
        }
        1 => out.put(jump(out.pc(), out.pc() + 3)),
        _ => branch_over(rng, out, &inner.code),
    }
}

fn zero_overhead_loop(rng: &mut Rng, out: &mut Emitter) {
    let counter = destination(rng);
    let form = rng.pick(&[8u8, 9, 10]); // loop loopnez loopgtz
    let count = match form {
        8 => 1 + rng.below(6) as i32,
        9 => rng.below(6) as i32,
        _ => rng.below(8) as i32 - 2,
    };
    out.put(movi(counter, count));
    let mut body = out.fragment();
    for _ in 0..1 + rng.below(4) {
        simple(rng, &mut body);
    }
    // Sometimes a branch inside: over the rest of the body, to LEND itself (no loop-back) or past it.
    if rng.chance(60) {
        let mut tail = out.fragment();
        for _ in 0..1 + rng.below(2) {
            simple(rng, &mut tail);
        }
        let beyond = if rng.chance(30) { 3 } else { 0 };
        let (r, s, t) = (any(rng), any(rng), any(rng));
        body.put(rri8(7, r, s, t, (tail.code.len() + beyond) as u8 - 1));
        body.put(&tail.code);
        if beyond == 0 && rng.chance(50) {
            simple(rng, &mut body);
        }
    }
    // Sometimes the last instruction is a branch backwards or an untaken one.
    if rng.chance(20) {
        body.put(branch_zero(0, 3, 3)); // beqz a3: a3 is never zero
    }
    out.put(rri8(6, form, counter, 0b0111, body.code.len() as u8 - 1));
    out.put(&body.code);
    out.put(NOP);
}

/// A chain of windowed functions that call each other to a random depth, then the values they returned.
fn windows(rng: &mut Rng, out: &mut Emitter) {
    let functions = 1 + rng.below(3);
    let skip = out.pc();
    out.put([0; 3]);
    out.align();
    let mut starts = Vec::new();
    let mut calls = Vec::new();
    for f in 0..functions {
        out.align();
        starts.push(out.pc());
        let next = (f + 1) % functions;
        let frame = 64 + 16 * rng.below(4);
        out.put(entry(1, frame));
        for r in 4..16 {
            out.put(movi(r, rng.below(4096) as i32));
        }
        for _ in 0..2 + rng.below(5) {
            windowed_integer(rng, out);
        }
        out.put(s32i(3, 1, 4));
        let mut calling = out.fragment();
        let n = 1 + rng.below(3) as u8;
        calling.put(addi(4 * n + 2, 2, -1));
        calling.put(mov(4 * n + 3, 3));
        let call_at = calling.code.len();
        calling.put([0; 3]);
        calling.put(rrr(0, 3, 3, 3, 4 * n + 2));
        for r in 4 * n..16 {
            calling.put(movi(r, rng.below(4096) as i32));
        }
        out.put(branch_zero(0, 2, calling.code.len()));
        calls.push((out.code.len() + call_at, n, next));
        out.put(&calling.code);
        for r in 4..16 {
            out.put(movi(r, rng.below(4096) as i32));
        }
        if rng.chance(40) {
            out.put(addi(8, 1, -32));
            out.put(rrr(0, 0, 1, 8, 1)); // movsp a1, a8
        } else {
            out.put(l32i(5, 1, 4));
            out.put(add(3, 3, 5));
        }
        if rng.chance(50) {
            // A leaf call afterwards: the windows go up again.
            let n = 1 + rng.below(3) as u8;
            let mut leaf = out.fragment();
            leaf.put(movi(4 * n + 2, 0));
            leaf.put(mov(4 * n + 3, 3));
            let at = leaf.code.len();
            leaf.put([0; 3]);
            leaf.put(rrr(0, 3, 3, 3, 4 * n + 2));
            for r in 4..16 {
                leaf.put(movi(r, 0));
            }
            out.put(branch_zero(0, 2, leaf.code.len()));
            calls.push((out.code.len() + at, n, next));
            out.put(&leaf.code);
        }
        for _ in 0..rng.below(3) {
            windowed_integer(rng, out);
        }
        out.put(mov(2, 3));
        if rng.chance(50) {
            out.put(RETW_N);
        } else {
            out.put(RETW);
        }
    }
    let here = out.pc();
    let at = (skip - out.base) as usize;
    out.code[at..at + 3].copy_from_slice(&jump(skip, here));
    for (at, n, callee) in calls {
        let bytes = call(n, out.base + at as u32, starts[callee as usize]);
        out.code[at..at + 3].copy_from_slice(&bytes);
    }
    let n = 1 + rng.below(3) as u8;
    out.put(movi(4 * n + 2, rng.below(60) as i32));
    out.put(movi(4 * n + 3, rng.below(4096) as i32));
    out.put(call(n, out.pc(), starts[0]));
    out.put(mov(2, 4 * n + 2));
    // a0..a3 survive CALL4, a0..a7 CALL8; the rest is the callee's.
    for r in 4 * n..16 {
        out.put(movi(r, 0));
    }
}

/// An operation among a3..a15, leaving a2 (depth) alone.
fn windowed_integer(rng: &mut Rng, out: &mut Emitter) {
    let r = 3 + rng.below(13) as u8;
    out.put(rrr(0, rng.pick(&[1, 2, 3, 8, 9, 12, 13]), r, rng.below(16) as u8, rng.below(16) as u8));
}

fn float(rng: &mut Rng, out: &mut Emitter) {
    let (r, s, t, d) = (any(rng), any(rng), any(rng), destination(rng));
    match rng.below(12) {
        // add sub mul madd msub
        0..=4 => out.put(rrr(10, rng.pick(&[0, 1, 2, 4, 5]), r, s, t)),
        // round trunc floor ceil utrunc
        5 if rng.chance(80) => out.put(rrr(10, rng.pick(&[8, 9, 10, 11]), d, s, t)),
        // utrunc; qemu forgets earlier flags when the operand is negative, so it is made positive or the flags are set anew
        5 => {
            let positive = rng.chance(50);
            if positive {
                out.put(rrr(10, 15, s, s, 1));
            }
            out.put(rrr(10, 14, d, s, t));
            if !positive {
                out.put(movi(d, 0));
                out.put(wur(d, 233));
            }
        }
        // float ufloat
        6 => out.put(rrr(10, rng.pick(&[12, 13]), r, s, t)),
        // mov abs neg wfr; rfr
        7 => match rng.below(5) {
            0 => out.put(rrr(10, 15, d, s, 4)),
            _ => out.put(rrr(10, 15, r, s, rng.pick(&[0, 1, 5, 6]))),
        },
        // comparisons
        8 => alone(out, rrr(11, 1 + rng.below(7) as u8, r, s, t)),
        // conditional moves
        9 => out.put(rrr(11, 8 + rng.below(6) as u8, r, s, t)),
        10 => {
            let word = rng.below(64) * 4;
            match rng.below(4) {
                0 => out.put(lsi(r, 3, word)),
                1 => out.put(ssi(r, 3, word)),
                2 => {
                    out.put(movi(d, word as i32));
                    out.put(rrr(8, rng.pick(&[0, 4]), r, 3, d)); // lsx ssx
                }
                _ => {
                    out.put(movi(d, rng.below(4) as i32));
                    out.put(wur(d, 232)); // another rounding mode
                }
            }
        }
        _ => integer(rng, out),
    }
}
