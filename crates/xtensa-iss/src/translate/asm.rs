//! A stream of host instructions with labels.
//!
//! Wraps the encoder: every jump is of the long form, so that a label behind it is filled in when it is known. Unaware of
//! what the instructions are for.

use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

/// A place to jump to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

pub(super) struct Asm {
    encoder: Encoder,
    at: usize,
    labels: Vec<Option<usize>>,
    /// Ends of jumps whose label is not known yet.
    open: Vec<(usize, Label)>,
    failed: bool,
}

impl Asm {
    pub fn new() -> Asm {
        Asm { encoder: Encoder::new(64), at: 0, labels: Vec::new(), open: Vec::new(), failed: false }
    }

    /// Appends an instruction.
    pub fn put(&mut self, instruction: Result<Instruction, IcedError>) {
        let encoded = instruction.and_then(|instruction| self.encoder.encode(&instruction, self.at as u64));
        match encoded {
            Ok(len) => self.at += len,
            Err(_) => self.failed = true,
        }
    }

    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// The next instruction is where `label` is.
    pub fn bind(&mut self, label: Label) {
        if let Some(place) = self.labels.get_mut(label.0) {
            *place = Some(self.at);
        }
    }

    /// Jumps to a label; `code` is a jump or call with a 32-bit offset.
    pub fn jump(&mut self, code: Code, label: Label) {
        self.put(Instruction::with_branch(code, self.at as u64));
        self.open.push((self.at, label));
    }

    /// The bytes, and where a label is in them; `None` if an instruction had no encoding or a label no place.
    pub fn finish(mut self) -> Option<(Vec<u8>, Vec<Option<usize>>)> {
        let mut bytes = self.encoder.take_buffer();
        for (end, label) in &self.open {
            let target = (*self.labels.get(label.0)?)?;
            let offset = i32::try_from(target as i64 - *end as i64).ok()?;
            bytes.get_mut(end - 4..*end)?.copy_from_slice(&offset.to_le_bytes());
        }
        (!self.failed).then_some((bytes, self.labels))
    }

    /// Where a label is, once [`Asm::finish`] gave the list.
    pub fn place(labels: &[Option<usize>], label: Label) -> Option<usize> {
        labels.get(label.0).copied().flatten()
    }
}

/// Memory at `base + displacement`.
pub(super) fn at(base: Register, displacement: i32) -> MemoryOperand {
    MemoryOperand::with_base_displ(base, displacement.into())
}

/// Memory at `base + index * scale + displacement`.
pub(super) fn indexed(base: Register, index: Register, scale: u32, displacement: i32) -> MemoryOperand {
    MemoryOperand::with_base_index_scale_displ_size(base, index, scale, displacement.into(), 1)
}
