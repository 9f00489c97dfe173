//! The `UCPL` image: 32 header bytes, code, gap, data. Written, read back and checked here.
//!
//! Unaware of ELF; knows only what the device gets. Facts: spec `prelink.md` §10, §11, `load-and-dispatch.md` §4.1.

use std::fmt;

use crate::error::Segment;
use crate::generation::{Bounds, Region};

/// Bytes of the header.
pub const HEADER: usize = 0x20;
/// The first eight bytes. The last four double as the offset of the code.
pub const MAGIC: [u8; 8] = *b"UCPL \0\0\0";
/// Alignment of a staged image: one 16 MiB address window of a core then shows all of it.
pub const IMAGE_ALIGN: u64 = 0x100_0000;
/// Most bytes of an image.
pub const MAX_IMAGE: u64 = 0x1_0000;

/// The fields of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Header {
    /// Offset of the code; always 0x20.
    pub code_off: u32,
    /// Bytes of code, a multiple of four.
    pub code_len: u32,
    /// Offset of the data, a multiple of 32.
    pub data_off: u32,
    /// Bytes of data, a multiple of four.
    pub data_len: u32,
    /// Device address of the initialisation function, or 0.
    pub init: u32,
    /// Device address of the finalisation function, or 0.
    pub fini: u32,
    /// Device address of the start symbol; the device refuses 0.
    pub start: u32,
}

/// Bytes that are no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum UcplError {
    /// No header.
    #[error("the image has {found} bytes; its header alone has {HEADER}")]
    #[diagnostic(code(loader::ucpl_truncated), help("the file is cut short; prelink the library again"))]
    Truncated {
        /// Bytes found.
        found: usize,
    },
    /// Another kind of file.
    #[error("the image starts with {found:02x?}, not with {MAGIC:02x?}")]
    #[diagnostic(code(loader::ucpl_magic), help("this is no UCPL image; make one with `prelink`"))]
    Magic {
        /// The first eight bytes.
        found: [u8; 8],
    },
    /// A segment that is not there.
    #[error("the {segment} segment ends at byte {end} of an image of {found} bytes")]
    #[diagnostic(
        code(loader::ucpl_extent),
        help("the file is cut short or its header is damaged; prelink the library again")
    )]
    Extent {
        /// Which segment.
        segment: Segment,
        /// Where it would end.
        end: u64,
        /// Bytes found.
        found: usize,
    },
}

impl Header {
    /// The header of segments of these sizes in memory, or `None` if offsets would not fit 32 bits.
    pub fn new(code_memsz: u32, data_memsz: u32, init: u32, fini: u32, start: u32) -> Option<Header> {
        let code_len = code_memsz.checked_add(3)? & !3;
        let data_off = code_len.checked_add(0x3f)? & !0x1f;
        let data_len = data_memsz.checked_add(3)? & !3;
        Some(Header { code_off: HEADER as u32, code_len, data_off, data_len, init, fini, start })
    }

    /// Bytes of the whole image.
    pub fn total(&self) -> u64 {
        u64::from(self.data_off) + u64::from(self.data_len)
    }

    /// The 32 bytes.
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        let fields =
            [self.code_off, self.code_len, self.data_off, self.data_len, self.init, self.fini, self.start];
        for (to, field) in bytes[4..].chunks_exact_mut(4).zip(fields) {
            to.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    /// Reads a header back.
    ///
    /// # Errors
    /// [`UcplError::Truncated`], [`UcplError::Magic`].
    pub fn parse(bytes: &[u8]) -> Result<Header, UcplError> {
        let header: &[u8; HEADER] = bytes.first_chunk().ok_or(UcplError::Truncated { found: bytes.len() })?;
        let found = header.first_chunk().copied().unwrap_or_default();
        if found != MAGIC {
            return Err(UcplError::Magic { found });
        }
        Ok(Header::decode(header))
    }

    /// Reads the fields, whatever the magic number is, as the device does.
    pub fn decode(header: &[u8; HEADER]) -> Header {
        let word =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        Header {
            code_off: word(4),
            code_len: word(8),
            data_off: word(0xc),
            data_len: word(0x10),
            init: word(0x14),
            fini: word(0x18),
            start: word(0x1c),
        }
    }
}

/// An image, read in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ucpl<'a> {
    /// The header.
    pub header: Header,
    /// The code.
    pub code: &'a [u8],
    /// The data.
    pub data: &'a [u8],
    bytes: &'a [u8],
}

impl<'a> Ucpl<'a> {
    /// Reads an image: magic, and segments that are really there. [`Ucpl::check`] looks closer.
    ///
    /// # Errors
    /// [`UcplError`].
    pub fn parse(bytes: &'a [u8]) -> Result<Ucpl<'a>, UcplError> {
        let header = Header::parse(bytes)?;
        let segment = |segment, off: u32, len: u32| {
            let end = u64::from(off) + u64::from(len);
            let range = usize::try_from(end).ok().and_then(|end| bytes.get(off as usize..end));
            range.ok_or(UcplError::Extent { segment, end, found: bytes.len() })
        };
        let code = segment(Segment::Code, header.code_off, header.code_len)?;
        let data = segment(Segment::Data, header.data_off, header.data_len)?;
        Ok(Ucpl { header, code, data, bytes })
    }

    /// Everything about the image that the device relies on without checking it.
    pub fn check(&self, bounds: &Bounds) -> Vec<Finding> {
        let header = &self.header;
        let mut findings = Vec::new();
        let mut expect = |ok: bool, finding: Finding| {
            if !ok {
                findings.push(finding);
            }
        };
        let found = self.bytes.len() as u64;
        expect(header.total() == found, Finding::Length { expected: header.total(), found });
        expect(found <= MAX_IMAGE, Finding::TooLarge { found, allowed: MAX_IMAGE });
        for (segment, len, region) in
            [(Segment::Code, header.code_len, bounds.code), (Segment::Data, header.data_len, bounds.data)]
        {
            expect(len % 4 == 0, Finding::Unaligned { segment, len });
            expect(len <= region.size, Finding::SegmentTooLarge { segment, len, region });
        }
        let expected = (u64::from(header.code_len) + 0x3f) & !0x1f;
        expect(
            u64::from(header.data_off) == expected,
            Finding::DataOffset { found: header.data_off, expected },
        );
        let gap = self.bytes.get(HEADER + self.code.len()..header.data_off as usize).unwrap_or_default();
        expect(gap.iter().all(|&byte| byte == 0), Finding::Gap);
        let code = Region { base: bounds.code.base, size: header.code_len };
        let is_entry = |addr: u32| code.offset_of(addr).is_some();
        expect(is_entry(header.start), Finding::Entry { what: "start", addr: header.start, code });
        for (what, addr) in [("init", header.init), ("fini", header.fini)] {
            expect(addr == 0 || is_entry(addr), Finding::Entry { what, addr, code });
        }
        findings
    }
}

/// Something wrong with an image.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub enum Finding {
    /// The file is longer or shorter than the header says.
    Length {
        /// What the header says.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// Larger than the device takes.
    TooLarge {
        /// Bytes of the file.
        found: u64,
        /// Most bytes.
        allowed: u64,
    },
    /// A segment whose length is no multiple of four.
    Unaligned {
        /// Which.
        segment: Segment,
        /// Bytes.
        len: u32,
    },
    /// A segment larger than its region.
    SegmentTooLarge {
        /// Which.
        segment: Segment,
        /// Bytes.
        len: u32,
        /// Where it should go.
        region: Region,
    },
    /// Data that does not start where it should.
    DataOffset {
        /// What the header says.
        found: u32,
        /// The code's end, rounded up.
        expected: u64,
    },
    /// Something other than zeros between code and data.
    Gap,
    /// An entry outside the code; `start` may not be 0 either.
    Entry {
        /// Which.
        what: &'static str,
        /// Its address.
        addr: u32,
        /// The code on the device.
        code: Region,
    },
}

impl Finding {
    /// A stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Finding::Length { .. } => "loader::ucpl_length",
            Finding::TooLarge { .. } => "loader::ucpl_too_large",
            Finding::Unaligned { .. } => "loader::ucpl_unaligned",
            Finding::SegmentTooLarge { .. } => "loader::ucpl_segment_too_large",
            Finding::DataOffset { .. } => "loader::ucpl_data_offset",
            Finding::Gap => "loader::ucpl_gap",
            Finding::Entry { .. } => "loader::ucpl_entry",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::Length { expected, found } => {
                write!(f, "the image has {found} bytes; its header says {expected}")
            }
            Finding::TooLarge { found, allowed } => {
                write!(f, "the image has {found:#x} bytes; the device takes {allowed:#x}")
            }
            Finding::Unaligned { segment, len } => {
                write!(f, "the {segment} segment has {len} bytes, no multiple of 4")
            }
            Finding::SegmentTooLarge { segment, len, region } => {
                write!(
                    f,
                    "the {segment} segment has {len:#x} bytes; its region {region} has {:#x}",
                    region.size
                )
            }
            Finding::DataOffset { found, expected } => {
                write!(f, "the data starts at {found:#x}; behind the code would be {expected:#x}")
            }
            Finding::Gap => f.write_str("the bytes between code and data are not zero"),
            Finding::Entry { what, addr, code } => write!(f, "{what} is {addr:#x}, outside the code {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_offsets() {
        // prelink.md §18 T6, load-and-dispatch.md §16
        let rows = [
            (0, 0, 0x20),
            (0x21, 0x24, 0x60),
            (0x100, 0x100, 0x120),
            (0x1234, 0x1234, 0x1260),
            (0x8000, 0x8000, 0x8020),
        ];
        for (memsz, code_len, data_off) in rows {
            let header = Header::new(memsz, 0, 0, 0, 0).unwrap();
            assert_eq!((header.code_len, header.data_off), (code_len, data_off), "{memsz:#x}");
        }
        assert_eq!(Header::new(u32::MAX, 0, 0, 0, 0), None);
        assert_eq!(Header::new(0, u32::MAX - 2, 0, 0, 0), None);
    }

    #[test]
    fn documented_header() {
        // load-and-dispatch.md §16
        let header = Header::new(0x1233, 0x45, 0, 0, 0x1_d610).unwrap();
        let bytes = [
            0x55, 0x43, 0x50, 0x4c, 0x20, 0, 0, 0, 0x34, 0x12, 0, 0, 0x60, 0x12, 0, 0, //
            0x48, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0xd6, 0x01, 0,
        ];
        assert_eq!(header.encode(), bytes);
        assert_eq!(header.total(), 0x12a8);
        assert_eq!(u64::from_le_bytes(MAGIC), 0x20_4c50_4355);
        assert_eq!(Header::parse(&bytes), Ok(header));
    }

    fn image() -> Vec<u8> {
        let header = Header::new(0x44, 8, 0, 0x1_8043, 0x1_8000).unwrap();
        let mut image = header.encode().to_vec();
        image.resize(header.total() as usize, 0);
        image
    }

    #[test]
    fn findings() {
        let rows: &[(usize, u8, &[&str])] = &[
            (0x1f, 0, &[]),
            (0x08, 0x46, &["loader::ucpl_unaligned"]),
            (0x08, 0x68, &["loader::ucpl_data_offset"]),
            (0x10, 4, &["loader::ucpl_length"]),
            (0x0c, 0x60, &["loader::ucpl_length", "loader::ucpl_data_offset"]),
            (0x64, 1, &["loader::ucpl_gap"]),
            (0x1d, 0, &["loader::ucpl_entry"]),
            (0x1c, 0x44, &["loader::ucpl_entry"]),
            (0x15, 0x80, &["loader::ucpl_entry"]),
        ];
        for (at, value, want) in rows {
            let mut bytes = image();
            bytes[*at] = *value;
            let findings = Ucpl::parse(&bytes).unwrap().check(&Bounds::CAYMAN);
            let codes: Vec<&str> = findings.iter().map(Finding::code).collect();
            assert_eq!(codes, *want, "byte {at:#x} = {value:#x}");
        }
    }

    #[test]
    fn sizes_are_judged_against_the_regions() {
        let header = Header::new(0x1_0000, 0x2004, 0, 0, 0x1_8000).unwrap();
        let mut bytes = header.encode().to_vec();
        bytes.resize(header.total() as usize, 0);
        let findings = Ucpl::parse(&bytes).unwrap().check(&Bounds::CAYMAN);
        let texts: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert_eq!(
            texts,
            [
                "the image has 0x12024 bytes; the device takes 0x10000",
                "the code segment has 0x10000 bytes; its region 0x18000..0x20000 has 0x8000",
                "the data segment has 0x2004 bytes; its region 0xbe000..0xc0000 has 0x2000",
            ]
        );
    }

    #[test]
    fn no_image() {
        let mut bytes = image();
        assert_eq!(Ucpl::parse(&bytes[..0x1f]), Err(UcplError::Truncated { found: 0x1f }));
        bytes.pop();
        let error = Ucpl::parse(&bytes).unwrap_err();
        assert_eq!(error.to_string(), "the data segment ends at byte 136 of an image of 135 bytes");
        bytes[4] = 0x21;
        assert!(matches!(Ucpl::parse(&bytes), Err(UcplError::Magic { .. })));
    }
}
