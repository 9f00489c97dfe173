//! How routines are recognised: the rows say what the bytes of an archive's member are, with what a linker fills in left out.
//!
//! L32R reaches literals that lie anywhere, so its offset is left out of the digest and the literal itself is compared. A
//! compiler of another version has other bytes: then nothing is recognised, and everything is executed. Unaware of what
//! routines do.

use super::Routine;
use crate::bus::{Bus, FETCH_BYTES};
use crate::isa::{Insn, Op, decode};

/// The code of one archive member.
struct Member {
    len: u32,
    /// FNV-1a of the code with the offsets of its L32R instructions zero.
    digest: u64,
    /// Offsets of its L32R instructions, and the words that they load.
    literals: &'static [(u32, u32)],
    /// Offsets of its functions, with the four bytes they begin with.
    functions: &'static [(u32, [u8; 4], Routine)],
}

const INFINITY: u32 = 0x7f80_0000;
const QUIET: u32 = 0x0040_0000;
const INFINITY_HIGH: u32 = 0x7ff0_0000;
const QUIET_HIGH: u32 = 0x0008_0000;
/// Moves the exponent of a single-precision number to where double precision has it.
const REBIAS_HIGH: u32 = 0x3800_0000;
const ENTRY_16: [u8; 3] = [0x36, 0x21, 0x00];
const ENTRY_32: [u8; 3] = [0x36, 0x41, 0x00];

const fn begin(entry: [u8; 3], next: u8) -> [u8; 4] {
    [entry[0], entry[1], entry[2], next]
}

/// `libgcc.a` and `libc.a` of the open toolchain, and the C functions of the open runtime as that toolchain compiles them.
static MEMBERS: [Member; 27] = [
    // _mulsf3.o
    Member {
        len: 0x149,
        digest: 0x4754_20dc_ebe3_a1e6,
        literals: &[(0x6c, QUIET), (0x7b, INFINITY), (0x95, 0x00ff_ffff)],
        functions: &[(0x78, begin(ENTRY_32, 0x61), Routine::MulS)],
    },
    // _addsubsf3.o
    Member {
        len: 0x213,
        digest: 0x8db0_f38d_155a_5851,
        literals: &[(0x11, QUIET), (0x27, INFINITY), (0xf0, QUIET), (0x117, INFINITY)],
        functions: &[
            (0x24, begin(ENTRY_16, 0x61), Routine::AddS),
            (0x114, begin(ENTRY_16, 0x61), Routine::SubS),
        ],
    },
    // _cmpsf2.o
    Member {
        len: 0x12a,
        digest: 0xda4e_9f33_0e9b_581e,
        literals: &[
            (0x06, INFINITY),
            (0x2f, INFINITY),
            (0x4f, INFINITY),
            (0x9b, INFINITY),
            (0xbb, INFINITY),
            (0x107, INFINITY),
        ],
        functions: &[
            (0x00, begin(ENTRY_16, 0x37), Routine::EqS),
            (0x2c, begin(ENTRY_16, 0x61), Routine::GtS),
            (0x4c, begin(ENTRY_16, 0x61), Routine::LeS),
            (0x98, begin(ENTRY_16, 0x61), Routine::GeS),
            (0xb8, begin(ENTRY_16, 0x61), Routine::LtS),
            (0x104, begin(ENTRY_16, 0x61), Routine::UnordS),
        ],
    },
    // _fixsfsi.o
    Member {
        len: 0x40,
        digest: 0x5463_ac7e_6aa0_0cba,
        literals: &[(0x03, INFINITY)],
        functions: &[(0x00, begin(ENTRY_16, 0x61), Routine::FixS)],
    },
    // _floatsisf.o
    Member {
        len: 0x4c,
        digest: 0x6503_c8ae_c30d_9f2f,
        literals: &[],
        functions: &[
            (0x00, begin(ENTRY_16, 0xbc), Routine::FloatUnsignedS),
            (0x0c, begin(ENTRY_16, 0xac), Routine::FloatS),
        ],
    },
    // _umulsidi3.o
    Member {
        len: 0x35,
        digest: 0x450c_3be3_3ab7_5ea8,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_16, 0x20), Routine::Product)],
    },
    // _divsf3.o
    Member {
        len: 0x13d,
        digest: 0x7ac3_37a9_e4f4_ae50,
        literals: &[(0x2e, QUIET), (0x78, QUIET), (0x83, INFINITY), (0x9e, 0x00ff_ffff)],
        functions: &[(0x80, begin(ENTRY_16, 0x61), Routine::DivS)],
    },
    // _fixunssfsi.o
    Member {
        len: 0x55,
        digest: 0xffb4_9489_c542_db26,
        literals: &[(0x03, INFINITY)],
        functions: &[(0x00, begin(ENTRY_16, 0x61), Routine::FixUnsignedS)],
    },
    // _addsubdf3.o
    Member {
        len: 0x312,
        digest: 0xe489_70d4_2fe4_448c,
        literals: &[(0x1c, QUIET_HIGH), (0x33, INFINITY_HIGH), (0x164, QUIET_HIGH), (0x18f, INFINITY_HIGH)],
        functions: &[
            (0x30, begin(ENTRY_16, 0x61), Routine::AddD),
            (0x18c, begin(ENTRY_16, 0x61), Routine::SubD),
        ],
    },
    // _muldf3.o
    Member {
        len: 0x28b,
        digest: 0xc990_b4cf_8967_81aa,
        literals: &[(0xd8, QUIET_HIGH), (0xe7, INFINITY_HIGH), (0x101, 0x001f_ffff)],
        functions: &[(0xe4, begin(ENTRY_32, 0x61), Routine::MulD)],
    },
    // _divdf3.o
    Member {
        len: 0x217,
        digest: 0xa87e_43b2_391f_a2a1,
        literals: &[(0x5c, QUIET_HIGH), (0xe1, QUIET_HIGH), (0xf3, INFINITY_HIGH), (0x10e, 0x001f_ffff)],
        functions: &[(0xf0, begin(ENTRY_16, 0x61), Routine::DivD)],
    },
    // _cmpdf2.o
    Member {
        len: 0x176,
        digest: 0x02b3_7a18_7576_1c4d,
        literals: &[
            (0x09, INFINITY_HIGH),
            (0x37, INFINITY_HIGH),
            (0x5f, INFINITY_HIGH),
            (0xc3, INFINITY_HIGH),
            (0xeb, INFINITY_HIGH),
            (0x14f, INFINITY_HIGH),
        ],
        functions: &[
            (0x00, begin(ENTRY_16, 0x47), Routine::EqD),
            (0x34, begin(ENTRY_16, 0x61), Routine::GtD),
            (0x5c, begin(ENTRY_16, 0x61), Routine::LeD),
            (0xc0, begin(ENTRY_16, 0x61), Routine::GeD),
            (0xe8, begin(ENTRY_16, 0x61), Routine::LtD),
            (0x14c, begin(ENTRY_16, 0x61), Routine::UnordD),
        ],
    },
    // _fixdfsi.o
    Member {
        len: 0x4c,
        digest: 0xf174_8d26_7195_95a8,
        literals: &[(0x03, INFINITY_HIGH)],
        functions: &[(0x00, begin(ENTRY_16, 0x61), Routine::FixD)],
    },
    // _fixunsdfsi.o
    Member {
        len: 0x5d,
        digest: 0x6fc6_274b_d554_b454,
        literals: &[(0x03, INFINITY_HIGH)],
        functions: &[(0x00, begin(ENTRY_16, 0x61), Routine::FixUnsignedD)],
    },
    // _floatsidf.o
    Member {
        len: 0x3d,
        digest: 0x5f7c_cbea_b16b_bbca,
        literals: &[],
        functions: &[
            (0x00, begin(ENTRY_16, 0xbc), Routine::FloatUnsignedD),
            (0x0c, begin(ENTRY_16, 0xac), Routine::FloatD),
        ],
    },
    // _truncdfsf2.o
    Member {
        len: 0xa4,
        digest: 0x5131_8229_9daa_147f,
        literals: &[(0x03, REBIAS_HIGH), (0x44, INFINITY_HIGH)],
        functions: &[(0x00, begin(ENTRY_16, 0x41), Routine::Truncate)],
    },
    // _extendsfdf2.o
    Member {
        len: 0x62,
        digest: 0x41d4_b7a5_aeac_f953,
        literals: &[(0x1c, REBIAS_HIGH), (0x28, INFINITY_HIGH)],
        functions: &[(0x00, begin(ENTRY_16, 0x20), Routine::Extend)],
    },
    // _udivsi3.o
    Member {
        len: 0x50,
        digest: 0xb397_f3b7_69ac_5ac8,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_16, 0xb6), Routine::UnsignedQuotient)],
    },
    // _umodsi3.o
    Member {
        len: 0x3d,
        digest: 0x399f_8b28_fd71_5555,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_16, 0xb6), Routine::UnsignedRemainder)],
    },
    // _divsi3.o
    Member {
        len: 0x68,
        digest: 0x9e35_c01e_3698_adc5,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_16, 0x30), Routine::Quotient)],
    },
    // _modsi3.o
    Member {
        len: 0x49,
        digest: 0x14f6_df97_9e26_4da1,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_16, 0x7d), Routine::Remainder)],
    },
    // memcpy.o
    Member {
        len: 0x19,
        digest: 0x7126_77b0_0c32_740d,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_32, 0x0c), Routine::CopyBytes)],
    },
    // memset.o
    Member {
        len: 0x16,
        digest: 0x4ab2_6da5_7b0e_c014,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_32, 0x8d), Routine::SetBytes)],
    },
    // memmove.o
    Member {
        len: 0x41,
        digest: 0x65d8_3dce_c9a8_76b6,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_32, 0x27), Routine::Move)],
    },
    // strlen.o
    Member {
        len: 0x15,
        digest: 0x5d75_2847_7493_14c9,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_32, 0x8d), Routine::Length)],
    },
    // memcpy of the runtime
    Member {
        len: 0x43,
        digest: 0xd16a_bdb1_9402_026d,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_32, 0x30), Routine::CopyWords)],
    },
    // memset of the runtime
    Member {
        len: 0x3f,
        digest: 0xb69c_8b7c_cd0e_1611,
        literals: &[],
        functions: &[(0x00, begin(ENTRY_32, 0x30), Routine::SetWords)],
    },
];

/// A routine found in memory.
pub(crate) struct Found {
    pub routine: Routine,
    /// What it was recognised by: first and last byte of its code and of each literal.
    pub parts: Vec<(u32, u32)>,
}

/// The routine that an ENTRY begins.
pub(crate) fn recognise<B: Bus>(bus: &mut B, entry: &Insn) -> Option<Found> {
    if entry.op != Op::Entry || entry.s != 1 {
        return None;
    }
    let start = read::<4>(bus, entry.pc)?;
    // Functions of one member may begin alike: which one it is, its place among the member's bytes says.
    MEMBERS.iter().find_map(|member| {
        let mut alike = member.functions.iter().filter(|(_, begin, _)| *begin == start);
        alike.find_map(|&(offset, _, routine)| {
            let parts = member.parts(bus, entry.pc.wrapping_sub(offset))?;
            Some(Found { routine, parts })
        })
    })
}

impl Member {
    /// The parts of this member, if its code is at `base`.
    fn parts<B: Bus>(&self, bus: &mut B, base: u32) -> Option<Vec<(u32, u32)>> {
        let mut code = Vec::with_capacity(self.len as usize);
        while code.len() < self.len as usize {
            let mut bytes = [0; FETCH_BYTES];
            let valid =
                bus.fetch(base.wrapping_add(code.len() as u32), &mut bytes).ok().filter(|n| *n > 0)?;
            code.extend(bytes.iter().take(valid));
        }
        code.truncate(self.len as usize);
        let mut parts = vec![(base, base.wrapping_add(self.len - 1))];
        for &(at, word) in self.literals {
            let bytes = code.get_mut(at as usize..at as usize + 3)?;
            let load = decode(bytes, base.wrapping_add(at));
            let loaded = read::<4>(bus, load.imm).map(u32::from_le_bytes);
            if load.op != Op::L32r || loaded != Some(word) {
                return None;
            }
            bytes[1..].fill(0);
            parts.push((load.imm, load.imm.wrapping_add(3)));
        }
        (digest(&code) == self.digest).then_some(parts)
    }
}

fn read<const N: usize>(bus: &mut impl Bus, addr: u32) -> Option<[u8; N]> {
    let mut bytes = [0; FETCH_BYTES];
    let valid = bus.fetch(addr, &mut bytes).ok()?;
    bytes.get(..valid)?.first_chunk().copied()
}

fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
