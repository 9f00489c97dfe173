//! The wire form of a call: one 0x85 header block and one 0x86 payload block per argument, output first.
//!
//! Unaware of where tensors live; takes addresses as given. Also decodes, for tests and for reading captured chains.
//! Facts: spec `customop-abi.md` §5.1-§5.4, `load-and-dispatch.md` §10.3; shape form by its rule Q-9, payload count by C-9.

use crate::call::dtype::Dtype;
use crate::call::tensor::{ShapeError, TensorSpec};
use crate::parts::registers::BLOCK;

/// Bytes of an argument descriptor.
pub const DESCRIPTOR: usize = 48;
/// Most arguments of one call, output included.
pub const MAX_ARGUMENTS: usize = 10;

const OP_HEADER: u8 = 0x85;
const OP_PAYLOAD: u8 = 0x86;
const BLOCK_DWORDS: u8 = 0x10;
const ARG_TENSOR: u8 = 1;

/// Memory an argument lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    /// State buffer; the address is an offset from its base.
    Sbuf,
    /// Device memory; the address is absolute.
    Hbm,
}

/// One argument as the device reads it: where, what type, what shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// Memory of the tensor.
    pub location: Location,
    /// HBM: SoC address. SBUF: offset from the state buffer's base.
    pub addr: u64,
    /// Type and shape.
    pub spec: TensorSpec,
}

/// Why a block chain is not a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum ChainError {
    /// A shape without a wire form.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Shape(#[from] ShapeError),
    /// More arguments than the device holds.
    #[error("the call has {found} arguments with the output; the device holds {MAX_ARGUMENTS}")]
    #[diagnostic(code(device::too_many_arguments), help("pack scalars into one tensor argument"))]
    TooMany {
        /// Arguments, output included.
        found: usize,
    },
    /// An SBUF offset beyond 32 bits.
    #[error("the state-buffer offset {addr:#x} does not fit 32 bits")]
    #[diagnostic(code(device::sbuf_offset), help("state-buffer addresses are offsets from its base"))]
    SbufOffset {
        /// The offset.
        addr: u64,
    },
    /// Bytes that are no chain of a header and its payloads.
    #[error("block {block} is not a custom-op {expected}: {why}")]
    #[diagnostic(
        code(device::malformed_chain),
        help("a call is one 0x85 block followed by 0x86 blocks of 64 bytes each")
    )]
    Malformed {
        /// Index of the block.
        block: usize,
        /// What should stand there.
        expected: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// A decoded or to-be-encoded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Position of the function in the library, 0 to 254.
    pub function_id: u8,
    /// The output first, then the inputs in declared order.
    pub arguments: Vec<Descriptor>,
}

impl Call {
    /// The blocks of the call, 64 bytes each.
    ///
    /// # Errors
    /// [`ChainError`] for more than ten arguments, shapes without a wire form, or SBUF offsets beyond 32 bits.
    pub fn encode(&self) -> Result<Vec<u8>, ChainError> {
        let found = self.arguments.len();
        if found > MAX_ARGUMENTS {
            return Err(ChainError::TooMany { found });
        }
        let inputs = found.saturating_sub(1) as u8;
        let mut header = block(OP_HEADER);
        // C-9: the known emitter counts the header too, and gives 1 when there are no inputs.
        let num_payloads = if inputs == 0 { 1 } else { u16::from(inputs) + 2 };
        header[12..14].copy_from_slice(&num_payloads.to_le_bytes());
        header[14] = self.function_id;
        header[15] = inputs;
        let mut blocks = Vec::with_capacity(BLOCK * (found + 1));
        blocks.extend_from_slice(&header);
        for argument in &self.arguments {
            let mut payload = block(OP_PAYLOAD);
            payload[15] = ARG_TENSOR;
            payload[16..].copy_from_slice(&argument.encode()?);
            blocks.extend_from_slice(&payload);
        }
        Ok(blocks)
    }

    /// Reads a chain back. Payload counts of N+1 and N+2 are both accepted: the chain ends at the first foreign block.
    ///
    /// # Errors
    /// [`ChainError::Malformed`] for anything that is not a header with decodable tensor payloads.
    pub fn decode(bytes: &[u8]) -> Result<Call, ChainError> {
        let malformed = |block, expected, why| ChainError::Malformed { block, expected, why };
        let (blocks, _) = bytes.as_chunks::<BLOCK>();
        let header = blocks.first().ok_or(malformed(0, "header", "fewer than 64 bytes"))?;
        if header[..2] != [OP_HEADER, BLOCK_DWORDS] {
            return Err(malformed(0, "header", "the first two bytes are not 85 10"));
        }
        let mut arguments = Vec::new();
        for (index, payload) in blocks.iter().enumerate().skip(1) {
            if payload[..2] != [OP_PAYLOAD, BLOCK_DWORDS] {
                break;
            }
            if payload[15] != ARG_TENSOR {
                return Err(malformed(index, "payload", "the argument type is not TENSOR"));
            }
            if arguments.len() == MAX_ARGUMENTS {
                return Err(ChainError::TooMany { found: MAX_ARGUMENTS + 1 });
            }
            let descriptor =
                Descriptor::decode(&payload[16..]).map_err(|why| malformed(index, "payload", why))?;
            arguments.push(descriptor);
        }
        Ok(Call { function_id: header[14], arguments })
    }
}

impl Descriptor {
    /// The 48 descriptor bytes. The 8×u16 shape form is used whenever it can carry the shape, else 4×u32.
    ///
    /// # Errors
    /// [`ChainError`] when the shape or the SBUF offset has no wire form.
    pub fn encode(&self) -> Result<[u8; DESCRIPTOR], ChainError> {
        let elements = self.spec.check()?;
        let mut bytes = [0; DESCRIPTOR];
        bytes[2] = self.spec.dtype.isa_code();
        let narrow: Option<Vec<u16>> = self.spec.shape.iter().map(|&size| u16::try_from(size).ok()).collect();
        if let Some(sizes) = narrow {
            bytes[1] = 0;
            for (slot, size) in bytes[8..24].chunks_exact_mut(2).zip(sizes) {
                slot.copy_from_slice(&size.to_le_bytes());
            }
        } else {
            bytes[1] = 2;
            for (slot, &size) in bytes[8..24].chunks_exact_mut(4).zip(&self.spec.shape) {
                slot.copy_from_slice(&(size as u32).to_le_bytes());
            }
        }
        match self.location {
            Location::Hbm => {
                bytes[0] = 2;
                bytes[24..32].copy_from_slice(&self.addr.to_le_bytes());
                bytes[32..36].copy_from_slice(&elements.to_le_bytes());
            }
            Location::Sbuf => {
                bytes[0] = 1;
                let addr =
                    u32::try_from(self.addr).map_err(|_| ChainError::SbufOffset { addr: self.addr })?;
                bytes[24..28].copy_from_slice(&addr.to_le_bytes());
                bytes[28..32].copy_from_slice(&elements.to_le_bytes());
                bytes[32] = 1;
                bytes[36..40].copy_from_slice(&elements.to_le_bytes());
            }
        }
        Ok(bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Descriptor, &'static str> {
        let bytes: &[u8; DESCRIPTOR] = bytes.try_into().map_err(|_| "a descriptor is 48 bytes")?;
        let dtype = Dtype::from_isa_code(bytes[2]).ok_or("the element type is not one the device accepts")?;
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let sizes: Vec<u64> = match bytes[1] {
            0 => bytes[8..24]
                .chunks_exact(2)
                .map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 8)
                .collect(),
            2 => (8..24).step_by(4).map(|at| u64::from(word(at))).collect(),
            _ => return Err("the shape is not inline"),
        };
        let shape: Vec<u64> = sizes.into_iter().take_while(|&size| size != 0).collect();
        if shape.is_empty() {
            return Err("the shape has no dimensions");
        }
        let (location, addr) = match bytes[0] {
            1 => (Location::Sbuf, u64::from(word(24))),
            2 => (Location::Hbm, u64::from(word(24)) | u64::from(word(28)) << 32),
            _ => return Err("the location is neither SBUF nor HBM"),
        };
        Ok(Descriptor { location, addr, spec: TensorSpec { dtype, shape } })
    }
}

fn block(opcode: u8) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    block[0] = opcode;
    block[1] = BLOCK_DWORDS;
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hbm(addr: u64, dtype: Dtype, shape: &[u64]) -> Descriptor {
        Descriptor { location: Location::Hbm, addr, spec: TensorSpec::new(dtype, shape) }
    }

    #[test]
    fn worked_example() {
        // customop-abi.md §5.4: y = f(x), float32 [2,3], function 7
        let call = Call {
            function_id: 7,
            arguments: vec![
                hbm(0x10_0000_1000, Dtype::Float32, &[2, 3]),
                hbm(0x10_0000_0000, Dtype::Float32, &[2, 3]),
            ],
        };
        let bytes = call.encode().unwrap();
        assert_eq!(bytes.len(), 192);
        let mut header = vec![0x85, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 7, 1];
        header.resize(64, 0);
        assert_eq!(bytes[..64], header);
        let mut payload = vec![0x86, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        payload.extend([2, 0, 0x0a, 0, 0, 0, 0, 0]);
        payload.extend([2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        payload.extend([0, 0, 0, 0, 0x10, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0]);
        payload.extend([0; 8]);
        assert_eq!(bytes[128..], payload);
        assert_eq!(Call::decode(&bytes).unwrap(), call);
    }

    #[test]
    fn shape_forms() {
        // rule Q-9: 8D when every size fits 16 bits, else 4D
        let rows: &[(&[u64], u8)] = &[(&[65535], 0), (&[65536], 2), (&[1; 8], 0), (&[65536, 1, 1, 2], 2)];
        for (shape, form) in rows {
            let argument = hbm(64, Dtype::Int8, shape);
            let bytes = argument.encode().unwrap();
            assert_eq!(bytes[1], *form, "{shape:?}");
            assert_eq!(Descriptor::decode(&bytes), Ok(argument), "{shape:?}");
        }
    }

    #[test]
    fn sbuf_storage() {
        let argument =
            Descriptor { location: Location::Sbuf, addr: 0x1234, spec: TensorSpec::new(Dtype::Int16, [5]) };
        let bytes = argument.encode().unwrap();
        assert_eq!(bytes[24..40], [0x34, 0x12, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0]);
        assert_eq!(Descriptor::decode(&bytes), Ok(argument));
        let far =
            Descriptor { location: Location::Sbuf, addr: 1 << 32, spec: TensorSpec::new(Dtype::Int8, [1]) };
        assert_eq!(far.encode(), Err(ChainError::SbufOffset { addr: 1 << 32 }));
    }

    #[test]
    fn payload_counts() {
        // C-9: 1 without inputs, N+2 with N
        for (inputs, want) in [(0, 1), (1, 3), (9, 11)] {
            let arguments = vec![hbm(64, Dtype::Int8, &[1]); inputs + 1];
            let bytes = Call { function_id: 0, arguments }.encode().unwrap();
            assert_eq!(u16::from_le_bytes([bytes[12], bytes[13]]), want);
        }
        let arguments = vec![hbm(64, Dtype::Int8, &[1]); 11];
        assert_eq!(Call { function_id: 0, arguments }.encode(), Err(ChainError::TooMany { found: 11 }));
    }

    #[test]
    fn malformed_chains() {
        let good = Call { function_id: 0, arguments: vec![hbm(64, Dtype::Int8, &[1])] }.encode().unwrap();
        let edits: &[(usize, u8)] =
            &[(0, 0x84), (1, 0), (64 + 15, 2), (64 + 16, 3), (64 + 17, 1), (64 + 18, 0xB), (64 + 24, 0)];
        for &(at, value) in edits {
            let mut bytes = good.clone();
            bytes[at] = value;
            assert!(matches!(Call::decode(&bytes), Err(ChainError::Malformed { .. })), "byte {at}");
        }
        assert!(matches!(Call::decode(&good[..63]), Err(ChainError::Malformed { .. })));
    }
}
