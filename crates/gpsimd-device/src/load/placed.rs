//! One call: its tensors laid out in device memory, its instruction blocks, and what the cores made of them.
//!
//! Unaware of who runs the cores and how the library got there.

use crate::call::arg::{Arg, Output, Value};
use crate::call::dtype::Dtype;
use crate::call::error::CallError;
use crate::call::shared::{Role, SharedMemory};
use crate::call::tensor::{Tensor, TensorSpec};
use crate::call::wire::Call;
use crate::cores::core::Run;
use crate::cores::run::Ended;
use crate::explain::diagnose::{self, Evidence};
use crate::explain::symbols::Symbols;
use crate::load::fixed::CoreImage;
use crate::memory::view::{self, Writes};
use crate::report::{CoreReport, Ending, HbmStackUse, RunReport};

/// A call ready to run.
pub struct Placed {
    /// Its tensors.
    pub shared: SharedMemory,
    /// The 0x85 block and the 0x86 blocks, output first.
    pub blocks: Vec<u8>,
    /// Index of the output among the tensors.
    output: usize,
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

    /// What the runs on the cores, in core order, come to. `images` are what was loaded on each of them, at `bases`, and
    /// `shift` is how far the loader moved their code.
    pub fn report(
        &self,
        op: &str,
        mut runs: Vec<Run>,
        images: &[CoreImage],
        bases: &[u32],
        shift: u32,
    ) -> RunReport {
        let (shared, out) = (&self.shared, self.output);
        let writes: Vec<(u8, Writes)> =
            runs.iter_mut().map(|run| (run.core, std::mem::take(&mut run.writes))).collect();
        let merged = view::merge(shared, out, &writes);
        let symbols: Vec<Symbols<'_>> = images.iter().map(|image| image.symbols().moved_by(shift)).collect();
        let evidence =
            Evidence { shared, output: out, merged: &merged, runs: &runs, symbols: &symbols, bases };
        let findings = diagnose::findings(&evidence);
        let output = Tensor { spec: shared.regions()[out].spec.clone(), data: merged.data };
        RunReport { op: op.to_owned(), output, cores: runs.iter().map(core_report).collect(), findings }
    }
}

fn core_report(run: &Run) -> CoreReport {
    let outcome = match run.ended {
        Ended::Returned(0) => Ending::Completed,
        Ended::Returned(_) => Ending::Failed,
        Ended::Aborted => Ending::Aborted,
        Ended::Fault(_) => Ending::Faulted,
        Ended::Budget => Ending::BudgetExhausted,
        Ended::Cancelled => Ending::Cancelled,
    };
    CoreReport {
        core: run.core,
        outcome,
        counters: run.counters,
        cycles: run.counters.cycles(),
        tcm_high_water: run.tcm_high_water,
        hbm_high_water: run.hbm_high_water,
        stack_high_water: run.stack_high_water,
        hbm_stack: run
            .hbm_stack
            .map(|stack| HbmStackUse { size: stack.len, high_water: stack.offset + stack.len - stack.low }),
        text: String::from_utf8_lossy(&run.text.bytes).into_owned(),
        text_dropped: run.text.dropped,
        incidents_dropped: run.log.dropped,
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
