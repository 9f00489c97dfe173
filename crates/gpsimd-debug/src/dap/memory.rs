//! Memory and instructions by address.
//!
//! A number below 4 GiB is an address of the core, one above it of the device. Unaware of what lies there.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use emmy_dap_types::requests::{DisassembleArguments, ReadMemoryArguments};
use emmy_dap_types::responses::{DisassembleResponse, ReadMemoryResponse};
use emmy_dap_types::types::DisassembledInstruction;
use gpsimd_device::cores::bus::Place;
use serde_json::{Value, json};

use super::answer::{Answer, arguments, body};
use super::session::Conversation;
use super::wire::Request;
use crate::error::DebugError;
use crate::memory::number;
use crate::track::Edit;

/// Most bytes of one answer.
const MOST: usize = 1 << 20;
/// Most instructions of one answer.
const MOST_INSTRUCTIONS: i64 = 10_000;

impl Conversation<'_, '_> {
    fn place(&mut self, address: u64) -> Place {
        let core = self.debugger.current;
        match u32::try_from(address) {
            Ok(address) => self.debugger.session.place(core, address),
            Err(_) => self.debugger.session.device_place(core, address),
        }
    }

    pub(super) fn read_memory(&mut self, request: &Request) -> Answer {
        let asked: ReadMemoryArguments = arguments(request)?;
        let wrong = || DebugError::Memory { text: asked.memory_reference.clone() };
        let address = number(&asked.memory_reference).ok_or_else(wrong)?;
        let address = address.wrapping_add_signed(asked.offset.unwrap_or(0));
        let count = usize::try_from(asked.count).unwrap_or(0).min(MOST);
        let place = self.place(address);
        let bytes = self.debugger.session.read(self.debugger.current, place, count).data;
        let missing = (count - bytes.len()) as i64;
        body(ReadMemoryResponse {
            address: format!("{address:#x}"),
            unreadable_bytes: (missing > 0).then_some(missing),
            data: Some(BYTES.encode(&bytes)),
        })
    }

    pub(super) fn write_memory(&mut self, request: &Request) -> Answer {
        let text = |name: &str| request.arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let wrong = || DebugError::Memory { text: text("memoryReference").to_owned() };
        let address = number(text("memoryReference")).ok_or_else(wrong)?;
        let offset = request.arguments.get("offset").and_then(Value::as_i64).unwrap_or(0);
        let bytes = BYTES.decode(text("data")).map_err(|_| wrong())?;
        let place = self.place(address.wrapping_add_signed(offset));
        let count = bytes.len();
        if !self.debugger.edit(self.debugger.current, Edit::Memory(place, bytes)) {
            return Err(wrong());
        }
        Ok(json!({ "bytesWritten": count }))
    }

    pub(super) fn disassemble(&mut self, request: &Request) -> Answer {
        let asked: DisassembleArguments = arguments(request)?;
        let wrong = || DebugError::Memory { text: asked.memory_reference.clone() };
        let address = number(&asked.memory_reference).ok_or_else(wrong)?;
        let address = address.wrapping_add_signed(asked.offset.unwrap_or(0));
        let address = u32::try_from(address).map_err(|_| wrong())?;
        let skipped = asked.instruction_offset.unwrap_or(0);
        let count = asked.instruction_count.clamp(0, MOST_INSTRUCTIONS);
        let core = self.debugger.current;
        // what lies before an address is counted from where its function begins
        let mut before: Vec<u32> = Vec::new();
        if skipped < 0 {
            let start = self.debugger.program(core).and_then(|program| program.symbols.extent(address));
            let mut at = start.map_or(address, |(start, _)| start);
            while at < address {
                before.push(at);
                at = at.wrapping_add(self.length(core, at));
            }
        }
        let mut instructions = Vec::new();
        let wanted = usize::try_from(-skipped).unwrap_or(0);
        let known = before.len().min(wanted);
        for missing in (known..wanted).rev() {
            let at = address.wrapping_sub(missing as u32 + 1);
            instructions.push(invalid(at));
        }
        instructions.extend(before[before.len() - known..].iter().map(|at| self.instruction(core, *at)));
        let mut at = address;
        for _ in 0..skipped.max(0) {
            at = at.wrapping_add(self.length(core, at));
        }
        while (instructions.len() as i64) < count {
            instructions.push(self.instruction(core, at));
            at = at.wrapping_add(self.length(core, at));
        }
        instructions.truncate(count as usize);
        body(DisassembleResponse { instructions })
    }

    fn bytes(&self, core: usize, at: u32) -> &[u8] {
        let memory = self.debugger.session.core(core).map(|core| core.memory());
        memory.and_then(|memory| (1..=3).rev().find_map(|len| memory.peek(at, len))).unwrap_or_default()
    }

    fn length(&self, core: usize, at: u32) -> u32 {
        match self.bytes(core, at) {
            [] => 1,
            bytes => u32::from(xtensa_iss::decode(bytes, at).len),
        }
    }

    fn instruction(&self, core: usize, at: u32) -> DisassembledInstruction {
        let bytes = self.bytes(core, at);
        if bytes.is_empty() {
            return invalid(at);
        }
        let len = usize::from(xtensa_iss::decode(bytes, at).len);
        let frames = self.debugger.location(core, at).frames;
        let frame = frames.first().filter(|frame| frame.line > 0);
        let shown: Vec<String> = bytes.iter().take(len).map(|byte| format!("{byte:02x}")).collect();
        DisassembledInstruction {
            address: format!("{at:#x}"),
            instruction_bytes: Some(shown.join(" ")),
            instruction: xtensa_iss::disasm(bytes, at),
            symbol: frames.last().map(|frame| frame.function.clone()),
            location: frame.map(|frame| self.source(&frame.file)),
            line: frame.map(|frame| i64::from(frame.line)),
            ..DisassembledInstruction::default()
        }
    }
}

fn invalid(at: u32) -> DisassembledInstruction {
    DisassembledInstruction {
        address: format!("{at:#x}"),
        instruction: "(no memory)".to_owned(),
        ..DisassembledInstruction::default()
    }
}

/// Bytes as the protocol has them; clients may leave out what fills the end.
const BYTES: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_travel_as_base64() {
        let rows: [(&[u8], &str); 4] = [(b"", ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foobar", "Zm9vYmFy")];
        for (bytes, text) in rows {
            assert_eq!(BYTES.encode(bytes), text);
            assert_eq!(BYTES.decode(text).ok().as_deref(), Some(bytes));
        }
        assert_eq!(BYTES.decode("Zm9*").ok(), None);
    }
}
