//! The 64-byte record that loads or unloads a library: a `MODIFY_POOL_CONFIG` instruction, header word 0x1095.
//!
//! Unaware of handles and devices. Facts: spec `load-and-dispatch.md` §5.2.

use std::fmt;

use crate::ucpl;

/// Bytes of one record.
pub const RECORD: usize = 0x40;
/// Opcode of `MODIFY_POOL_CONFIG`.
pub const OPCODE: u8 = 0x95;
/// The first two bytes: the opcode, and the length in words.
pub const HEADER: [u8; 2] = [OPCODE, 0x10];
/// All eight cores.
pub const ALL_CORES: u8 = 0xff;

/// What to do (`modify_op`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// 1: load the library.
    Load,
    /// 2: unload it.
    Unload,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Load => "load",
            Direction::Unload => "unload",
        })
    }
}

/// A record. The host's generators leave `debug` and `events` zero; instruction streams use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
pub struct Record {
    /// Debug command and hint.
    pub debug: [u8; 2],
    /// Wait and update modes and indices, semaphore value.
    pub events: [u8; 8],
    /// Load or unload.
    pub direction: Direction,
    /// Cores to act on, bit 0 for core 0.
    pub core_mask: u8,
    /// SoC address of the UCPL image; 0 when unloading.
    pub soc_addr: u64,
    /// Which library.
    pub library_index: u32,
    /// Bytes of the image; 0 when unloading.
    pub library_size: u32,
}

/// Bytes that are no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum RecordError {
    /// No whole number of records.
    #[error("{found} bytes are no whole number of records of {RECORD} bytes")]
    #[diagnostic(code(loader::record_length), help("the file is cut short"))]
    Length {
        /// Bytes found.
        found: usize,
    },
    /// Another instruction.
    #[error("record {index} starts with {:02x} {:02x}, not with 95 10", .found[0], .found[1])]
    #[diagnostic(code(loader::record_header), help("this is another instruction, or no instruction stream"))]
    Header {
        /// Position in the stream.
        index: usize,
        /// The first two bytes.
        found: [u8; 2],
    },
    /// No direction.
    #[error("record {index} has operation {found}; 1 loads and 2 unloads")]
    #[diagnostic(code(loader::record_operation), help("the device's validator refuses such an instruction"))]
    Operation {
        /// Position in the stream.
        index: usize,
        /// `modify_op`.
        found: u8,
    },
    /// More than a device takes.
    #[error("record {index} says the library has {found:#x} bytes; {:#x} is the most", ucpl::MAX_IMAGE)]
    #[diagnostic(code(loader::record_size), help("the device's validator refuses such an instruction"))]
    Size {
        /// Position in the stream.
        index: usize,
        /// `library_size`.
        found: u32,
    },
    /// Reserved bytes in use.
    #[error("record {index} has {found:#04x} in reserved byte {at:#x}")]
    #[diagnostic(
        code(loader::record_reserved),
        help("reserved bytes are zero; the device's validator refuses others")
    )]
    Reserved {
        /// Position in the stream.
        index: usize,
        /// Which byte.
        at: usize,
        /// Its value.
        found: u8,
    },
    /// Neither one core nor all.
    #[error(
        "record {index} is for the cores {found:#04x}; a library goes to one core or to all eight (0xff)"
    )]
    #[diagnostic(
        code(loader::record_cores),
        help(
            "the firmware asserts this and ends every core of the mask; write the record again with `records`"
        )
    )]
    Cores {
        /// Position in the stream.
        index: usize,
        /// `core_mask`.
        found: u8,
    },
    /// An image that does not start where a window does.
    #[error("record {index} loads from {found:#x}, which is no multiple of 16 MiB")]
    #[diagnostic(
        code(loader::record_address),
        help(
            "the runtime stages images at multiples of 16 MiB (0x1000000), so that one address window shows all of it"
        )
    )]
    Address {
        /// Position in the stream.
        index: usize,
        /// `soc_addr`.
        found: u64,
    },
}

impl Record {
    /// Loads the image at `soc_addr` on all cores.
    pub fn load(soc_addr: u64, library_index: u32, library_size: u32) -> Record {
        let direction = Direction::Load;
        Record {
            debug: [0; 2],
            events: [0; 8],
            direction,
            core_mask: ALL_CORES,
            soc_addr,
            library_index,
            library_size,
        }
    }

    /// Unloads a library from all cores.
    pub fn unload(library_index: u32) -> Record {
        Record { direction: Direction::Unload, ..Record::load(0, library_index, 0) }
    }

    /// The same record for other cores.
    pub fn on_cores(self, core_mask: u8) -> Record {
        Record { core_mask, ..self }
    }

    /// The 64 bytes.
    pub fn encode(&self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        bytes[..2].copy_from_slice(&HEADER);
        bytes[2..4].copy_from_slice(&self.debug);
        bytes[4..0xc].copy_from_slice(&self.events);
        bytes[0xc] = match self.direction {
            Direction::Load => 1,
            Direction::Unload => 2,
        };
        bytes[0xd] = self.core_mask;
        bytes[0x10..0x18].copy_from_slice(&self.soc_addr.to_le_bytes());
        bytes[0x18..0x1c].copy_from_slice(&self.library_index.to_le_bytes());
        bytes[0x1c..0x20].copy_from_slice(&self.library_size.to_le_bytes());
        bytes
    }

    /// Reads a record by the rules of the device's validator. `index` is its position, for messages.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn parse(index: usize, bytes: &[u8; RECORD]) -> Result<Record, RecordError> {
        let [h0, h1, d0, d1, e0, e1, e2, e3, e4, e5, e6, e7, operation, core_mask, ..] = *bytes;
        if [h0, h1] != HEADER {
            return Err(RecordError::Header { index, found: [h0, h1] });
        }
        let direction = match operation {
            1 => Direction::Load,
            2 => Direction::Unload,
            found => return Err(RecordError::Operation { index, found }),
        };
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let record = Record {
            debug: [d0, d1],
            events: [e0, e1, e2, e3, e4, e5, e6, e7],
            direction,
            core_mask,
            soc_addr: u64::from(word(0x14)) << 32 | u64::from(word(0x10)),
            library_index: word(0x18),
            library_size: word(0x1c),
        };
        if u64::from(record.library_size) > ucpl::MAX_IMAGE {
            return Err(RecordError::Size { index, found: record.library_size });
        }
        let reserved = (0xe..0x10).chain(0x20..RECORD);
        match reserved.map(|at| (at, bytes[at])).find(|&(_, byte)| byte != 0) {
            Some((at, found)) => Err(RecordError::Reserved { index, at, found }),
            None => Ok(record),
        }
    }

    /// Whether a device can do what the record says: what decodes need not be what a loader takes. Hosts, checks and the
    /// modelled cores all ask here.
    ///
    /// # Errors
    /// [`RecordError::Cores`] (§6.6, O8), [`RecordError::Address`].
    pub fn check(&self, index: usize) -> Result<(), RecordError> {
        if self.core_mask != ALL_CORES && !self.core_mask.is_power_of_two() {
            return Err(RecordError::Cores { index, found: self.core_mask });
        }
        match self.direction {
            Direction::Load if !self.soc_addr.is_multiple_of(ucpl::IMAGE_ALIGN) => {
                Err(RecordError::Address { index, found: self.soc_addr })
            }
            _ => Ok(()),
        }
    }

    /// Reads a stream of records that a device is to carry out.
    ///
    /// # Errors
    /// [`RecordError`] of the first that is wrong, in its bytes or for the device.
    pub fn read_all(bytes: &[u8]) -> Result<Vec<Record>, RecordError> {
        let records = Record::parse_all(bytes)?;
        records.iter().enumerate().try_for_each(|(index, record)| record.check(index))?;
        Ok(records)
    }

    /// Reads a stream of records.
    ///
    /// # Errors
    /// [`RecordError`] of the first that is wrong.
    pub fn parse_all(bytes: &[u8]) -> Result<Vec<Record>, RecordError> {
        let (records, rest) = bytes.as_chunks::<RECORD>();
        if !rest.is_empty() {
            return Err(RecordError::Length { found: bytes.len() });
        }
        records.iter().enumerate().map(|(index, bytes)| Record::parse(index, bytes)).collect()
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;

    fn hex(lines: &str) -> Vec<u8> {
        let mut bytes: Vec<u8> =
            lines.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        bytes.resize(RECORD, 0);
        bytes
    }

    #[test]
    fn documented_records() {
        // load-and-dispatch.md §16
        let load = hex("95 10 00 00 00 00 00 00 00 00 00 00 01 ff 00 00
             00 70 56 34 12 00 00 00 03 00 00 00 20 6a 00 00");
        let unload = hex("95 10 00 00 00 00 00 00 00 00 00 00 02 ff 00 00
             00 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00");
        assert_eq!(Record::load(0x12_3456_7000, 3, 0x6a20).encode()[..], load);
        assert_eq!(Record::unload(3).encode()[..], unload);
        let stream = [load, unload].concat();
        assert_eq!(
            Record::parse_all(&stream),
            Ok(vec![Record::load(0x12_3456_7000, 3, 0x6a20), Record::unload(3)])
        );
    }

    #[test]
    fn validator() {
        let changed = |at: usize, value: u8| {
            let mut bytes = Record::load(0x1000, 0, 0x40).encode();
            bytes[at] = value;
            Record::parse_all(&bytes).map_err(|error| error.to_string())
        };
        let rows = [
            (0, 0x94, Some("record 0 starts with 94 10, not with 95 10")),
            (1, 0, Some("record 0 starts with 95 00, not with 95 10")),
            (0xc, 0, Some("record 0 has operation 0; 1 loads and 2 unloads")),
            (0xc, 3, Some("record 0 has operation 3; 1 loads and 2 unloads")),
            (0xe, 1, Some("record 0 has 0x01 in reserved byte 0xe")),
            (0x20, 7, Some("record 0 has 0x07 in reserved byte 0x20")),
            (0x3f, 0xff, Some("record 0 has 0xff in reserved byte 0x3f")),
            (0x1e, 1, Some("record 0 says the library has 0x10040 bytes; 0x10000 is the most")),
            (2, 1, None),
            (4, 1, None),
            (0xd, 0x01, None),
            (0x1b, 0xff, None),
        ];
        for (at, value, want) in rows {
            assert_eq!(changed(at, value).err().as_deref(), want, "byte {at:#x} = {value:#x}");
        }
        assert_eq!(Record::parse_all(&[0x95; 65]), Err(RecordError::Length { found: 65 }));
        assert_eq!(Record::parse_all(&[]), Ok(vec![]));
    }

    #[test]
    fn what_a_device_takes() {
        let load = Record::load(0x10_0000_0000, 0, 0x40);
        let rows = [
            (load, None),
            (load.on_cores(0x10), None),
            (Record::load(0, 0, 0), None),
            (Record::unload(3), None),
            (load.on_cores(0), Some("loader::record_cores")),
            (load.on_cores(3), Some("loader::record_cores")),
            (load.on_cores(0x7f), Some("loader::record_cores")),
            (Record::unload(3).on_cores(0xfe), Some("loader::record_cores")),
            (Record::load(0x12_3456_7000, 3, 0x6a20), Some("loader::record_address")),
            (Record::load(0x10_0000_0001, 0, 0x40), Some("loader::record_address")),
        ];
        for (record, want) in rows {
            let code = Record::read_all(&record.encode())
                .err()
                .and_then(|error| error.code().map(|c| c.to_string()));
            assert_eq!(code.as_deref(), want, "{record:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(addr: u64, index: u32, size in 0..=0x1_0000u32, mask: u8, events: [u8; 8], unload: bool) {
            let direction = if unload { Direction::Unload } else { Direction::Load };
            let record = Record { events, direction, ..Record::load(addr, index, size).on_cores(mask) };
            proptest::prop_assert_eq!(Record::parse(0, &record.encode()), Ok(record));
        }
    }
}
