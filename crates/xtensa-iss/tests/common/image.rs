//! A minimal static ELF executable around code and data, one segment, as qemu's loader wants it.

/// Where test images live; qemu-user cannot map the device's own addresses.
pub const BASE: u32 = 0x1000_0000;

/// A 32-bit little-endian Xtensa executable: `bytes` at [`BASE`], zeroed up to `memory` bytes.
pub fn elf(bytes: &[u8], memory: u32, entry: u32) -> Vec<u8> {
    const HEADERS: u32 = 0x1000;
    let mut out = Vec::with_capacity(HEADERS as usize + bytes.len());
    let half = |out: &mut Vec<u8>, v: u16| out.extend(v.to_le_bytes());
    let word = |out: &mut Vec<u8>, v: u32| out.extend(v.to_le_bytes());
    out.extend(*b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0");
    half(&mut out, 2); // ET_EXEC
    half(&mut out, 94); // EM_XTENSA
    for v in [1, entry, 52, 0, 0x300] {
        word(&mut out, v);
    }
    for v in [52, 32, 1, 40, 0, 0] {
        half(&mut out, v);
    }
    for v in [1, HEADERS, BASE, BASE, bytes.len() as u32, memory, 7, 0x1000] {
        word(&mut out, v);
    }
    out.resize(HEADERS as usize, 0);
    out.extend(bytes);
    out
}
