//! Immediates: where an instruction keeps a constant, what it stands for, how assemblers write it.
//!
//! Unaware of rows and registers. Each immediate has a name, which the rows' operand lists use.

/// Constants of BEQI, BNEI, BLTI, BGEI.
pub const B4CONST: [i32; 16] = [-1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256];
/// Constants of BLTUI, BGEUI.
pub const B4CONSTU: [u32; 16] = [32768, 65536, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256];

/// An instruction word, little-endian, and its address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word {
    pub bits: u32,
    pub pc: u32,
}

impl Word {
    /// Nibble `n`, counted from the low end: op0, t, s, r, op1, op2.
    pub fn nibble(self, n: u32) -> u32 {
        self.bits >> (4 * n) & 15
    }
    pub fn t(self) -> u32 {
        self.nibble(1)
    }
    pub fn s(self) -> u32 {
        self.nibble(2)
    }
    pub fn r(self) -> u32 {
        self.nibble(3)
    }
    fn imm8(self) -> u32 {
        self.bits >> 16 & 0xff
    }
    fn imm16(self) -> u32 {
        self.bits >> 8 & 0xffff
    }
    /// Signed offset of J and CALLn, 18 bits.
    fn offset18(self) -> i32 {
        (self.bits << 8) as i32 >> 14
    }
    /// pc + 4 + `offset`: where branches and J go.
    fn relative(self, offset: i32) -> u32 {
        self.pc.wrapping_add(4).wrapping_add_signed(offset)
    }
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Decimal.
    Unsigned,
    /// Decimal, perhaps negative.
    Signed,
    /// An address.
    Label,
    /// Index into [`B4CONST`].
    B4const,
    /// Index into [`B4CONSTU`].
    B4constu,
    /// Number of a special or user register; part of the mnemonic when the register has a name.
    Special,
    /// See `Special`.
    User,
    /// Bytes that no row understands.
    Raw,
    /// Length in bytes.
    Bytes,
}

macro_rules! immediates {
    ($($(#[$doc:meta])* $name:literal $variant:ident $style:ident |$word:ident| $value:expr;)*) => {
        /// The kinds of immediate. Values are final: scaled, extended, targets absolute.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "named after the fields they are made of")]
        pub enum Imm { $($(#[$doc])* $variant,)* }

        impl Imm {
            /// Names in the rows' operand lists.
            pub(crate) const NAMES: &'static [(&'static str, Imm)] = &[$(($name, Imm::$variant),)*];

            /// The value in an instruction; signed ones as two's complement.
            pub(crate) fn value(self, word: Word) -> u32 {
                match self { $(Imm::$variant => { let $word = word; $value })* }
            }

            /// How its value is written.
            #[must_use]
            pub fn style(self) -> Style {
                match self { $(Imm::$variant => Style::$style,)* }
            }
        }
    };
}

immediates! {
    // One nibble, or one and a bit.
    "r" R Unsigned |w| w.r();
    "s" S Unsigned |w| w.s();
    "t" T Unsigned |w| w.t();
    "signed_t" SignedT Signed |w| ((w.t() << 28) as i32 >> 28) as u32;
    "t+7" T7 Unsigned |w| w.t() + 7;
    "op2+1" Op2Plus1 Unsigned |w| w.nibble(5) + 1;
    /// SSAI.
    "ts" Ts Unsigned |w| (w.t() & 1) << 4 | w.s();
    /// EXTUI.
    "op1_s" Op1S Unsigned |w| (w.nibble(4) & 1) << 4 | w.s();
    /// SRAI.
    "op2_s" Op2S Unsigned |w| (w.nibble(5) & 1) << 4 | w.s();
    /// SLLI encodes what is missing to 32.
    "32-op2_t" Sll Unsigned |w| 32 - ((w.nibble(5) & 1) << 4 | w.t());
    /// BBCI, BBSI.
    "r_t" Bit Unsigned |w| (w.r() & 1) << 4 | w.t();
    "b4const" B4const B4const |w| w.r();
    "b4constu" B4constu B4constu |w| w.r();
    // Values.
    "imm8" Imm8 Unsigned |w| w.imm8();
    "imm8*2" Imm8x2 Unsigned |w| w.imm8() << 1;
    "imm8*4" Imm8x4 Unsigned |w| w.imm8() << 2;
    "r*4" Rx4 Unsigned |w| w.r() << 2;
    /// L32E, S32E.
    "r*4-64" Exception Signed |w| (w.r() << 2).wrapping_sub(64);
    "simm8" Simm8 Signed |w| w.imm8() as i8 as u32;
    "simm8*256" Simm8x256 Signed |w| (w.imm8() as i8 as u32) << 8;
    "simm12" Simm12 Signed |w| ((w.s() << 28 | w.imm8() << 20) as i32 >> 20) as u32;
    /// ADDI.N: 0 means -1.
    "t_or_-1" NarrowAdd Signed |w| if w.t() == 0 { u32::MAX } else { w.t() };
    /// MOVI.N: -32..=95.
    "imm7" Imm7 Signed |w| {
        let imm = (w.t() & 7) << 4 | w.r();
        if imm < 96 { imm } else { imm.wrapping_sub(128) }
    };
    "imm16" Imm16 Unsigned |w| w.imm16();
    /// ENTRY counts its frame in eights.
    "imm12*8" Frame Unsigned |w| w.bits >> 12 << 3;
    // Addresses.
    "label6" Label6 Label |w| w.relative(((w.t() & 3) << 4 | w.r()) as i32);
    "label8" Label8 Label |w| w.relative((w.imm8() as i8).into());
    "label12" Label12 Label |w| w.relative((w.bits << 8) as i32 >> 20);
    "label18" Label18 Label |w| w.relative(w.offset18());
    /// CALLn: from the word of the call, in words.
    "call18" Call18 Label |w| (w.pc & !3).wrapping_add(4).wrapping_add_signed(w.offset18() << 2);
    /// LOOP: forward only.
    "lend" Lend Label |w| w.pc.wrapping_add(4).wrapping_add(w.imm8());
    /// L32R: backward only, in words.
    "literal" Literal Label |w| (w.pc.wrapping_add(3) & !3).wrapping_add((0xffff_0000 | w.imm16()) << 2);
    // Numbers of registers.
    "sr" Sr Special |w| w.imm16() & 0xff;
    "ur" Ur User |w| w.imm16() & 0xff;
    "ur_st" UrSt User |w| w.s() << 4 | w.t();
    // What stands for an instruction that is none.
    "bytes" Raw Raw |w| w.bits;
    "length" Length Bytes |w| w.bits;
}

/// The constant of BEQI and its like with index `k`.
#[inline(always)]
pub(crate) fn b4const(k: u8) -> i32 {
    B4CONST[usize::from(k & 15)]
}

/// The constant of BLTUI and BGEUI with index `k`.
#[inline(always)]
pub(crate) fn b4constu(k: u8) -> u32 {
    B4CONSTU[usize::from(k & 15)]
}
