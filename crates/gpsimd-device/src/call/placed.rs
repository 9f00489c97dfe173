//! One call: its tensors laid out in device memory, and its instruction blocks.
//!
//! Unaware of who runs it and what comes of it.

use crate::call::arg::{Arg, Output, Value};
use crate::call::dtype::Dtype;
use crate::call::error::CallError;
use crate::call::shared::{Role, SharedMemory};
use crate::call::tensor::{Tensor, TensorSpec};
use crate::call::wire::Call;

/// A call ready to run.
#[derive(Debug)]
pub struct Placed {
    /// Its tensors.
    pub shared: SharedMemory,
    /// The 0x85 block and the 0x86 blocks, output first.
    pub blocks: Vec<u8>,
    /// Index of the output among the tensors.
    pub output: usize,
}

impl Placed {
    /// Places the output, then the arguments, in at most `hbm_limit` bytes of device memory.
    ///
    /// # Errors
    /// [`CallError::Place`], [`CallError::Chain`].
    pub fn new(
        function_id: usize,
        args: Vec<Arg>,
        output: Output,
        hbm_limit: u64,
    ) -> Result<Placed, CallError> {
        let mut shared = SharedMemory::default();
        let Output { name, spec, location } = output;
        let output = shared.place_output(&name, spec, location, hbm_limit)?;
        for Arg { name, value, location } in args {
            let (tensor, role) = value.into_tensor();
            shared.place(&name, tensor, role, location, hbm_limit)?;
        }
        let arguments = shared.regions().iter().map(|region| region.descriptor()).collect();
        let function_id = u8::try_from(function_id).unwrap_or(u8::MAX);
        let blocks = Call { function_id, arguments }.encode()?;
        Ok(Placed { shared, blocks, output })
    }
}

impl Value {
    fn into_tensor(self) -> (Tensor, Role) {
        let scalar = |dtype, bytes: &[u8]| Tensor { spec: TensorSpec::new(dtype, [1]), data: bytes.to_vec() };
        match self {
            Value::Tensor(tensor) => (tensor, Role::Input),
            Value::Int(value) => (scalar(Dtype::Int32, &value.to_le_bytes()), Role::Scalar),
            Value::LongLong(value) => (scalar(Dtype::Int64, &value.to_le_bytes()), Role::Scalar),
            Value::Float(value) => (scalar(Dtype::Float32, &value.to_le_bytes()), Role::Scalar),
            Value::Scalar(tensor) => (tensor, Role::Scalar),
        }
    }
}
