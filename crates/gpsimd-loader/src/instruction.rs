//! Setting the 16-bit immediate of one Xtensa instruction in place.
//!
//! Unaware of relocation tables and addresses. Facts: spec `prelink.md` §9; sizes of the bundle formats by C13.

/// Why an immediate was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// A FLIX bundle: the format is known, the places of its immediate bits are not (§9.3, rule R10).
    Bundle(u32),
    /// No format with an immediate (16-bit density, reserved).
    Format(u32),
    /// The bytes end before the instruction does.
    Short,
}

/// Puts `imm` into bits 8..24 of the instruction that `bytes` start with. Neither opcode nor register is looked at:
/// any 24-bit instruction takes it. The vendor rewrites a whole word; the fourth byte keeps its value either way.
pub(crate) fn set_immediate(bytes: &mut [u8], imm: u16) -> Result<(), Refusal> {
    let mut first = [0; 4];
    for (to, from) in first.iter_mut().zip(&*bytes) {
        *to = *from;
    }
    let word = u32::from_le_bytes(first);
    if word & 0x8 != 0 {
        let is_bundle = word & 0x0100_000f == 0x0000_000f // N0, N1, N2: 8 bytes
            || word & 0x0000_000f == 0x0000_000e // F3, F11: 16 bytes
            || word & 0x0300_000f == 0x0100_000f; // F0, F4: 16 bytes
        return Err(if is_bundle { Refusal::Bundle(word) } else { Refusal::Format(word) });
    }
    match bytes {
        [_, low, high, ..] => {
            [*low, *high] = imm.to_le_bytes();
            Ok(())
        }
        _ => Err(Refusal::Short),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn immediate_of_a_const16() {
        // prelink.md §18 T3: const16 a2 with the next instruction's first byte behind it
        for (imm, want) in [(0x000b, [0x24, 0x0b, 0x00, 0xaa]), (0xe25c, [0x24, 0x5c, 0xe2, 0xaa])] {
            let mut bytes = [0x24, 0x11, 0x22, 0xaa];
            assert_eq!(set_immediate(&mut bytes, imm), Ok(()));
            assert_eq!(bytes, want);
        }
        let mut last_in_its_region = [0x24, 0, 2];
        assert_eq!(set_immediate(&mut last_in_its_region, 0x1234), Ok(()));
        assert_eq!(last_in_its_region, [0x24, 0x34, 0x12]);
        assert_eq!(set_immediate(&mut [0x24, 0], 1), Err(Refusal::Short));
    }

    #[test]
    fn classes() {
        // prelink.md §9.1, §18 T10: the bits are tested in this order
        let rows: &[(u32, Result<(), Refusal>)] = &[
            (0x0000_0000, Ok(())),
            (0xffff_fff7, Ok(())),
            (0x0000_0008, Err(Refusal::Format(0x0000_0008))),
            (0x0000_000d, Err(Refusal::Format(0x0000_000d))),
            (0x0000_000f, Err(Refusal::Bundle(0x0000_000f))),
            (0xfeff_ffff, Err(Refusal::Bundle(0xfeff_ffff))),
            (0x0000_000e, Err(Refusal::Bundle(0x0000_000e))),
            (0xffff_fffe, Err(Refusal::Bundle(0xffff_fffe))),
            (0x0100_000f, Err(Refusal::Bundle(0x0100_000f))),
            (0x0d00_000f, Err(Refusal::Bundle(0x0d00_000f))),
            (0x0300_000f, Err(Refusal::Format(0x0300_000f))),
            (0x0700_000f, Err(Refusal::Format(0x0700_000f))),
            (0x0b00_000f, Err(Refusal::Format(0x0b00_000f))),
        ];
        for (word, want) in rows {
            let mut bytes = word.to_le_bytes();
            let same = (*word >> 8) as u16;
            assert_eq!(set_immediate(&mut bytes, same), *want, "{word:#010x}");
            assert_eq!(u32::from_le_bytes(bytes), *word, "an equal immediate, or a refusal, changes nothing");
        }
    }
}
