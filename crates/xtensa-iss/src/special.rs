//! Special and user register numbers and what kind of register each is.
//!
//! Numbers as in the ISA reference manual; PRID also in spec `lsp-and-memory.md` §12.

use crate::state::ISL;

/// User register: thread pointer.
pub const THREADPTR: u8 = 231;
/// User register: floating-point control.
pub const FCR: u8 = 232;
/// User register: floating-point status.
pub const FSR: u8 = 233;
/// Special register: shift amount.
pub(crate) const SAR: u8 = 3;
/// Special register: booleans.
pub(crate) const BR: u8 = 4;
/// Special register: processor id.
pub const PRID: u8 = 235;

/// Rounding mode and trap enables (which trap nothing here).
pub(crate) const FCR_BITS: u32 = 0x7f;
/// Exception flags.
pub(crate) const FSR_BITS: u32 = 0xf80;
/// INTLEVEL, EXCM, UM, RING, OWB, CALLINC, WOE.
pub(crate) const PS_BITS: u32 = 0x0007_0fff;

/// Kinds of special register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sr {
    Lbeg,
    Lend,
    Lcount,
    Sar,
    Br,
    Scompare1,
    WindowBase,
    WindowStart,
    Ps,
    Isl,
    Prid,
    Ccount,
    /// Holds what was written to it.
    Plain,
    /// Writes have no effect here; reads do not exist.
    WriteOnly,
    Absent,
}

/// What special register `number` is.
pub(crate) fn classify(number: u8) -> Sr {
    match number {
        ISL => Sr::Isl,
        0 => Sr::Lbeg,
        1 => Sr::Lend,
        2 => Sr::Lcount,
        SAR => Sr::Sar,
        BR => Sr::Br,
        12 => Sr::Scompare1,
        72 => Sr::WindowBase,
        73 => Sr::WindowStart,
        230 => Sr::Ps,
        PRID => Sr::Prid,
        234 => Sr::Ccount,
        227 => Sr::WriteOnly, // INTCLEAR
        5                     // LITBASE
        | 40                  // PREFCTL
        | 97                  // MEMCTL
        | 99                  // ATOMCTL
        | 104                 // DDR
        | 177..=183           // EPC1..7
        | 192                 // DEPC
        | 194..=199           // EPS2..7
        | 209..=215           // EXCSAVE1..7
        | 224                 // CPENABLE
        | 226                 // INTERRUPT, INTSET
        | 228                 // INTENABLE
        | 231                 // VECBASE
        | 232                 // EXCCAUSE
        | 236                 // ICOUNT
        | 238                 // EXCVADDR
        | 240..=242           // CCOMPARE0..2
        | 244..=247           // MISC0..3
        => Sr::Plain,
        _ => Sr::Absent,
    }
}

/// Name of special register `number`, as assemblers write it.
#[must_use]
pub fn special_register_name(number: u8) -> Option<&'static str> {
    Some(match number {
        ISL => "isl",
        0 => "lbeg",
        1 => "lend",
        2 => "lcount",
        SAR => "sar",
        BR => "br",
        5 => "litbase",
        12 => "scompare1",
        40 => "prefctl",
        72 => "windowbase",
        73 => "windowstart",
        97 => "memctl",
        99 => "atomctl",
        104 => "ddr",
        177 => "epc1",
        178 => "epc2",
        179 => "epc3",
        180 => "epc4",
        181 => "epc5",
        182 => "epc6",
        183 => "epc7",
        192 => "depc",
        194 => "eps2",
        195 => "eps3",
        196 => "eps4",
        197 => "eps5",
        198 => "eps6",
        199 => "eps7",
        209 => "excsave1",
        210 => "excsave2",
        211 => "excsave3",
        212 => "excsave4",
        213 => "excsave5",
        214 => "excsave6",
        215 => "excsave7",
        224 => "cpenable",
        226 => "interrupt",
        227 => "intclear",
        228 => "intenable",
        230 => "ps",
        231 => "vecbase",
        232 => "exccause",
        234 => "ccount",
        PRID => "prid",
        236 => "icount",
        238 => "excvaddr",
        240 => "ccompare0",
        241 => "ccompare1",
        242 => "ccompare2",
        244 => "misc0",
        245 => "misc1",
        246 => "misc2",
        247 => "misc3",
        _ => return None,
    })
}

/// Name of user register `number`, as assemblers write it.
#[must_use]
pub fn user_register_name(number: u8) -> Option<&'static str> {
    match number {
        THREADPTR => Some("threadptr"),
        FCR => Some("fcr"),
        FSR => Some("fsr"),
        _ => None,
    }
}
