//! Instruction encoder of the tests: fields to bytes, nothing shared with the decoder under test.

pub type Code = Vec<u8>;

/// RRR format with op0 0.
pub fn rrr(op1: u8, op2: u8, r: u8, s: u8, t: u8) -> [u8; 3] {
    [t << 4, r << 4 | s, op2 << 4 | op1]
}
/// RRI8 format.
pub fn rri8(op0: u8, r: u8, s: u8, t: u8, imm8: u8) -> [u8; 3] {
    [t << 4 | op0, r << 4 | s, imm8]
}
/// 16-bit RRRN format.
pub fn narrow(op0: u8, r: u8, s: u8, t: u8) -> [u8; 2] {
    [t << 4 | op0, r << 4 | s]
}
pub fn l32i(t: u8, s: u8, offset: u32) -> [u8; 3] {
    rri8(2, 2, s, t, (offset / 4) as u8)
}
pub fn s32i(t: u8, s: u8, offset: u32) -> [u8; 3] {
    rri8(2, 6, s, t, (offset / 4) as u8)
}
pub fn lsi(t: u8, s: u8, offset: u32) -> [u8; 3] {
    rri8(3, 0, s, t, (offset / 4) as u8)
}
pub fn ssi(t: u8, s: u8, offset: u32) -> [u8; 3] {
    rri8(3, 4, s, t, (offset / 4) as u8)
}
pub fn movi(t: u8, imm: i32) -> [u8; 3] {
    rri8(2, 10, (imm >> 8 & 15) as u8, t, imm as u8)
}
pub fn addi(t: u8, s: u8, imm: i32) -> [u8; 3] {
    rri8(2, 12, s, t, imm as u8)
}
pub fn addmi(t: u8, s: u8, imm: i32) -> [u8; 3] {
    rri8(2, 13, s, t, (imm >> 8) as u8)
}
pub fn mov(t: u8, s: u8) -> [u8; 3] {
    rrr(0, 2, t, s, s)
}
pub fn add(r: u8, s: u8, t: u8) -> [u8; 3] {
    rrr(0, 8, r, s, t)
}
pub fn rsr(t: u8, number: u8) -> [u8; 3] {
    [t << 4, number, 0x03]
}
pub fn wsr(t: u8, number: u8) -> [u8; 3] {
    [t << 4, number, 0x13]
}
pub fn xsr(t: u8, number: u8) -> [u8; 3] {
    [t << 4, number, 0x61]
}
pub fn rur(r: u8, number: u8) -> [u8; 3] {
    rrr(3, 14, r, number >> 4, number & 15)
}
pub fn wur(t: u8, number: u8) -> [u8; 3] {
    [t << 4, number, 0xf3]
}
pub fn entry(s: u8, frame: u32) -> [u8; 3] {
    let word = (frame / 8) << 12 | u32::from(s) << 8 | 0x36;
    [word as u8, (word >> 8) as u8, (word >> 16) as u8]
}
/// J from the instruction at `from` to `to`.
pub fn jump(from: u32, to: u32) -> [u8; 3] {
    let word = to.wrapping_sub(from.wrapping_add(4)) << 6 | 0x06;
    [word as u8, (word >> 8) as u8, (word >> 16) as u8]
}
/// CALL0/4/8/12 (`n` 0..=3) from the instruction at `from` to the word-aligned `to`.
pub fn call(n: u8, from: u32, to: u32) -> [u8; 3] {
    let word = (to.wrapping_sub((from & !3).wrapping_add(4)) >> 2) << 6 | u32::from(n) << 4 | 5;
    [word as u8, (word >> 8) as u8, (word >> 16) as u8]
}
/// L32R from the instruction at `from` of the literal at `literal`.
pub fn l32r(t: u8, from: u32, literal: u32) -> [u8; 3] {
    let words = literal.wrapping_sub((from + 3) & !3) >> 2;
    [t << 4 | 1, words as u8, (words >> 8) as u8]
}
/// BEQZ/BNEZ/BLTZ/BGEZ (`m` 0..=3) over the next `skip` bytes.
pub fn branch_zero(m: u8, s: u8, skip: usize) -> [u8; 3] {
    let word = ((skip as u32).wrapping_sub(1) & 0xfff) << 12 | u32::from(s) << 8 | u32::from(m) << 6 | 0x16;
    [word as u8, (word >> 8) as u8, (word >> 16) as u8]
}
pub const RETW: [u8; 3] = [0x90, 0, 0];
pub const RETW_N: [u8; 2] = [0x1d, 0xf0];
pub const SYSCALL: [u8; 3] = [0, 0x50, 0];
pub const NOP: [u8; 3] = [0xf0, 0x20, 0];
/// J to the instruction behind it: offset -1 from pc + 4.
pub const JUMP_TO_NEXT: [u8; 3] = [0xc6, 0xff, 0xff];
