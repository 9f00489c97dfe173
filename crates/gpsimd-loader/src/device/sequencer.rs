//! The sequencer in front of the pool: it fetches an instruction stream and hands each instruction over by its opcode.
//!
//! Unaware of what cores do with an instruction. How the opcode reaches them in hardware is not known (O14); what is modelled
//! is who fetches, what is told apart, and that an unknown opcode is the end. Facts: spec `load-and-dispatch.md` §5.2, §8.1,
//! §9.1, §10.3. That a custom op's 0xF0 is followed by the blocks of its call is our convention (§0.2).

use std::fmt;

use crate::kernel_table::EXTENDED;
use crate::record::{self, RECORD, Record, RecordError};

/// Bytes of an instruction.
pub const INSTRUCTION: usize = RECORD;
/// Opcode that heads the call of a custom op, and of its arguments.
pub const CUSTOM_OP: u8 = 0x85;
const PAYLOAD: u8 = 0x86;
/// `inst_word_len` of every instruction: 16 words.
const WORDS: u8 = 0x10;

/// What is handed to the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handed<'s> {
    /// 0x95: load or unload a library.
    PoolConfig(Record),
    /// 0xF0: an extended instruction, with the blocks that follow it for its kernel.
    Extended {
        /// Which one.
        spec: u8,
        /// A 0x85 block and its 0x86 blocks, or nothing.
        blocks: &'s [u8],
    },
    /// 0x85 with its 0x86 blocks: a function of a library at a fixed place.
    CustomOp {
        /// `function_id`.
        function: u8,
        /// The 0x85 block and its 0x86 blocks.
        blocks: &'s [u8],
    },
}

/// Why the sequencer stopped; it executes nothing any more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum Fault {
    /// An opcode that has no handler.
    #[error("instruction {index} has opcode {opcode:#04x}, which the sequencer does not know")]
    #[diagnostic(
        code(loader::bad_opcode),
        help("the sequencer stops here for good; the stream of a custom op holds 0x95, 0xf0, 0x85 and 0x86")
    )]
    Opcode {
        /// Position in the stream, counted from the start of the device.
        index: usize,
        /// Its opcode.
        opcode: u8,
    },
    /// No instruction of 64 bytes.
    #[error("instruction {index} is no instruction of 64 bytes: {found}")]
    #[diagnostic(
        code(loader::instruction_length),
        help("the stream is cut short, or byte 1 of an instruction is not 0x10")
    )]
    Length {
        /// Position in the stream.
        index: usize,
        /// What stands there.
        found: String,
    },
    /// A load or unload record that its validator refuses.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Record(RecordError),
}

/// The front end of one device.
#[derive(Debug, Clone, Default)]
pub struct Sequencer {
    /// What it logged.
    pub log: Vec<String>,
    fetched: usize,
    fault: Option<Fault>,
}

impl Sequencer {
    /// Fetches the next instruction of `stream` with what belongs to it, and gives the rest; nothing at the stream's end.
    ///
    /// # Errors
    /// [`Fault`], the same for ever after.
    pub fn fetch<'s>(&mut self, stream: &'s [u8]) -> Result<Option<(Handed<'s>, &'s [u8])>, Fault> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        self.decode(stream).inspect_err(|fault| {
            if let Fault::Opcode { opcode, .. } = fault {
                self.log.push(format!("S: ErrorHandler : Bad Opcode({opcode:#x})"));
            }
            self.fault = Some(fault.clone());
        })
    }

    /// Instructions fetched so far.
    pub fn fetched(&self) -> usize {
        self.fetched
    }

    fn decode<'s>(&mut self, stream: &'s [u8]) -> Result<Option<(Handed<'s>, &'s [u8])>, Fault> {
        let index = self.fetched;
        let Some((head, rest)) = stream.split_first_chunk::<INSTRUCTION>() else {
            let found = format!("{} bytes are left", stream.len());
            return if stream.is_empty() { Ok(None) } else { Err(Fault::Length { index, found }) };
        };
        let [opcode, words, ..] = *head;
        if words != WORDS {
            return Err(Fault::Length { index, found: format!("it says {} bytes", usize::from(words) * 4) });
        }
        let (handed, rest) = match opcode {
            record::OPCODE => {
                self.log.push("S: ModifyPoolConfig".to_owned());
                let record = Record::parse(index, head).map_err(Fault::Record)?;
                (Handed::PoolConfig(record), rest)
            }
            EXTENDED => {
                let (blocks, rest) = rest.split_at(call(rest));
                (Handed::Extended { spec: head[12], blocks }, rest)
            }
            CUSTOM_OP => {
                let (blocks, rest) = stream.split_at(call(stream));
                (Handed::CustomOp { function: head[14], blocks }, rest)
            }
            opcode => return Err(Fault::Opcode { index, opcode }),
        };
        self.fetched += (stream.len() - rest.len()) / INSTRUCTION;
        Ok(Some((handed, rest)))
    }
}

/// Bytes of the call that `stream` starts with: a 0x85 block and the 0x86 blocks behind it, whatever number it names (C20).
fn call(stream: &[u8]) -> usize {
    let blocks = stream.as_chunks::<INSTRUCTION>().0;
    match blocks.first() {
        Some([CUSTOM_OP, WORDS, ..]) => {
            let payloads = blocks.iter().skip(1).take_while(|block| block[..2] == [PAYLOAD, WORDS]).count();
            (1 + payloads) * INSTRUCTION
        }
        _ => 0,
    }
}

impl fmt::Display for Handed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Handed::PoolConfig(record) => {
                write!(f, "0x95, {} library {}", record.direction, record.library_index)
            }
            Handed::Extended { spec, blocks } => {
                write!(f, "0xf0, spec {spec}, and {} blocks", blocks.len() / INSTRUCTION)
            }
            Handed::CustomOp { function, blocks } => {
                write!(
                    f,
                    "0x85, function {function}, and {} payloads",
                    (blocks.len() / INSTRUCTION).saturating_sub(1)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(opcode: u8, at: usize, value: u8) -> [u8; INSTRUCTION] {
        let mut bytes = [0; INSTRUCTION];
        bytes[..2].copy_from_slice(&[opcode, WORDS]);
        bytes[at] = value;
        bytes
    }

    fn names(stream: &[u8]) -> (Vec<String>, Sequencer) {
        let mut sequencer = Sequencer::default();
        let (mut names, mut rest) = (Vec::new(), stream);
        loop {
            match sequencer.fetch(rest) {
                Ok(Some((handed, behind))) => {
                    names.push(handed.to_string());
                    rest = behind;
                }
                Ok(None) => return (names, sequencer),
                Err(fault) => {
                    assert_eq!(sequencer.fetch(stream), Err(fault.clone()), "it stays where it is");
                    names.push(fault.to_string());
                    return (names, sequencer);
                }
            }
        }
    }

    #[test]
    fn the_stream_of_a_custom_op() {
        let load = Record::load(0x10_0000_0000, 3, 0x40).encode();
        let unload = Record::unload(3).encode();
        let (head, payload) = (block(0x85, 14, 7), block(0x86, 15, 1));
        let stream = [load, block(0xf0, 12, 10), head, payload, payload, head, payload, unload].concat();
        let (names, sequencer) = names(&stream);
        assert_eq!(
            names,
            [
                "0x95, load library 3",
                "0xf0, spec 10, and 3 blocks",
                "0x85, function 7, and 1 payloads",
                "0x95, unload library 3"
            ]
        );
        assert_eq!(sequencer.fetched(), 8);
        assert_eq!(sequencer.log, ["S: ModifyPoolConfig", "S: ModifyPoolConfig"]);
    }

    #[test]
    fn what_is_unknown_is_the_end() {
        let unload = Record::unload(3).encode();
        let mut reserved = unload;
        reserved[0x30] = 1;
        let rows: [(Vec<u8>, &str); 5] = [
            (
                [unload, block(0x33, 0, 0x33)].concat(),
                "instruction 1 has opcode 0x33, which the sequencer does not know",
            ),
            (block(0x86, 15, 1).to_vec(), "instruction 0 has opcode 0x86, which the sequencer does not know"),
            (unload[..63].to_vec(), "instruction 0 is no instruction of 64 bytes: 63 bytes are left"),
            (block(0xf0, 1, 0x11).to_vec(), "instruction 0 is no instruction of 64 bytes: it says 68 bytes"),
            (reserved.to_vec(), "record 0 has 0x01 in reserved byte 0x30"),
        ];
        for (stream, want) in rows {
            assert_eq!(names(&stream).0.last().map(String::as_str), Some(want));
        }
        assert_eq!(names(&block(0x33, 0, 0x33)).1.log, ["S: ErrorHandler : Bad Opcode(0x33)"]);
    }
}
