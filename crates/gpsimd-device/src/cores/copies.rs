//! Tells a copy from a use: does the value that a load fetched go straight to a store?
//!
//! Copying bytes nobody wrote is fine (structure padding, half-filled buffers); computing with them is not. So a load of
//! such bytes is not reported when the code stores the register a few instructions on; the bytes stored count as
//! unwritten then. Knows just enough of the encoding for that. Unaware of memory and reports.
//! Facts: Xtensa ISA, formats RRI8 and RRRN.

/// How many instructions after a load its store is looked for.
const REACH: usize = 8;

/// A store instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Store {
    /// Register stored.
    pub value: u8,
    /// Register that holds the address.
    pub base: u8,
    /// Added to it, in bytes.
    pub offset: u32,
    /// Bytes stored: 1, 2 or 4.
    pub size: u8,
}

/// Bytes that [`store_after`] wants to see, at most.
pub const WINDOW: usize = 3 * (REACH + 1);

fn len(code: &[u8]) -> usize {
    if code.first().is_some_and(|byte| byte & 0xF >= 8) { 2 } else { 3 }
}

/// Register that a load instruction writes.
fn load(code: &[u8]) -> Option<u8> {
    let (first, second) = (*code.first()?, *code.get(1)?);
    let is_load = match first & 0xF {
        // L8UI, L16UI, L32I, L16SI
        2 => matches!(second >> 4, 0 | 1 | 2 | 9),
        // L32I.N
        8 => true,
        _ => false,
    };
    is_load.then_some(first >> 4)
}

/// The store instruction at the start of `code`, if it is one.
pub fn store(code: &[u8]) -> Option<Store> {
    let (first, second) = (*code.first()?, *code.get(1)?);
    let (value, base) = (first >> 4, second & 0xF);
    match first & 0xF {
        2 => {
            // S8I, S16I, S32I
            let shift = (second >> 4).checked_sub(4).filter(|shift| *shift <= 2)?;
            Some(Store { value, base, offset: u32::from(*code.get(2)?) << shift, size: 1 << shift })
        }
        // S32I.N
        9 => Some(Store { value, base, offset: u32::from(second >> 4) * 4, size: 4 }),
        _ => None,
    }
}

/// Whether control may leave the straight line here.
fn leaves(code: &[u8]) -> bool {
    let (first, second) = (code.first().copied().unwrap_or(0), code.get(1).copied().unwrap_or(0));
    match first & 0xF {
        // CALLn; J, BEQZ, …; Bcc
        5..=7 => true,
        // SNM0 group: RET, RETW, JX, CALLXn, ILL
        0 => second & 0xF0 == 0 && code.get(2).is_none_or(|third| *third == 0),
        // BEQZ.N, BNEZ.N
        0xC => first & 0x80 != 0,
        // RET.N, RETW.N, BREAK.N, ILL.N
        0xD => second & 0xF0 == 0xF0,
        _ => false,
    }
}

/// Offset in `code`, which starts with a load, of the store that puts the loaded register into memory; `None` if the
/// register may be used otherwise first.
pub fn store_after(code: &[u8]) -> Option<usize> {
    let register = load(code)?;
    let mut at = len(code);
    for _ in 0..REACH {
        let here = code.get(at..)?;
        if leaves(here) || load(here) == Some(register) {
            return None;
        }
        if store(here).is_some_and(|store| store.value == register) {
            return Some(at);
        }
        at += len(here);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_uses() {
        let rows: &[(&str, &[u8], Option<usize>)] = &[
            ("l32i.n a8, a2, 0; s32i.n a8, a3, 0", &[0x88, 0x02, 0x89, 0x03], Some(2)),
            (
                "l32i a8, a2, 0; l32i.n a9, a2, 4; s32i a8, a3, 0",
                &[0x82, 0x22, 0, 0x98, 0x12, 0x82, 0x63, 0],
                Some(5),
            ),
            ("l8ui a8, a2, 1; s8i a8, a3, 1", &[0x82, 0x02, 1, 0x82, 0x43, 1], Some(3)),
            (
                "l32i.n a8, a2, 0; l32i.n a8, a2, 4; s32i.n a8, a3, 0",
                &[0x88, 0x02, 0x88, 0x12, 0x89, 0x03],
                None,
            ),
            ("l32i.n a8, a2, 0; call8; s32i.n a8, a3, 0", &[0x88, 0x02, 0x25, 0, 0, 0x89, 0x03], None),
            ("l32i.n a8, a2, 0; beqz.n a8; s32i.n a8, a3, 0", &[0x88, 0x02, 0x8C, 0x08, 0x89, 0x03], None),
            ("l32i.n a2, a2, 0; retw.n; s32i.n a2, a3, 0", &[0x28, 0x02, 0x1D, 0xF0, 0x29, 0x03], None),
            ("add.n a8, a8, a9; s32i.n a8, a3, 0", &[0x9A, 0x88, 0x89, 0x03], None),
            ("l32i.n a8, a2, 0", &[0x88, 0x02], None),
        ];
        for (text, code, want) in rows {
            assert_eq!(store_after(code), *want, "{text}");
        }
    }

    #[test]
    fn stores() {
        let rows: &[(&[u8], Option<Store>)] = &[
            (&[0x82, 0x63, 5], Some(Store { value: 8, base: 3, offset: 20, size: 4 })),
            (&[0x82, 0x53, 5], Some(Store { value: 8, base: 3, offset: 10, size: 2 })),
            (&[0x82, 0x43, 5], Some(Store { value: 8, base: 3, offset: 5, size: 1 })),
            (&[0x89, 0x23], Some(Store { value: 8, base: 3, offset: 8, size: 4 })),
            (&[0x82, 0x23, 5], None),
        ];
        for (code, want) in rows {
            assert_eq!(store(code), *want);
        }
    }
}
