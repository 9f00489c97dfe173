//! What the numbers stand for that editors unfold variables by.
//!
//! Unaware of sessions.

use gpsimd_variables::Value;

use crate::device::Part;

/// Something that can be unfolded, at a frame of a core.
#[derive(Debug, Clone)]
pub(super) enum Reference {
    Arguments((usize, usize)),
    Locals((usize, usize)),
    Globals((usize, usize)),
    Registers((usize, usize)),
    Device((usize, usize)),
    Parts(Vec<Part>),
    Tensors,
    Tensor(usize),
    Value((usize, usize), Box<Value>, Option<String>),
}

impl Reference {
    /// The frame that it is about.
    pub fn at(&self) -> (usize, usize) {
        match self {
            Reference::Arguments(at)
            | Reference::Locals(at)
            | Reference::Globals(at)
            | Reference::Registers(at)
            | Reference::Device(at)
            | Reference::Value(at, ..) => *at,
            Reference::Parts(_) | Reference::Tensors | Reference::Tensor(_) => (0, 0),
        }
    }
}
