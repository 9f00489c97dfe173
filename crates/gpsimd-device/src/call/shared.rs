//! Memory all cores share: the tensors of one call, laid out in HBM and the state buffer with guard gaps between them.
//!
//! Frozen while the cores run; each core writes into its own [`crate::memory::view::View`], and the views are merged afterwards.
//! That is what makes a run independent of the thread schedule. Unaware of cores, windows and instructions.
//! Facts: spec `device-runtime.md` §14 (no synchronisation exists between cores), §21; `customop-abi.md` §5.2.

use crate::call::tensor::{ShapeError, Tensor, TensorSpec};
use crate::call::wire::{Descriptor, Location};
use crate::parts::map;

/// What a region is to the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "TensorRole")]
pub enum Role {
    /// A tensor the kernel reads.
    Input,
    /// A single value, which the runtime itself pulls.
    Scalar,
    /// The tensor the kernel writes.
    Output,
}

/// One tensor in device memory.
#[derive(Debug)]
pub struct Region {
    /// Name used in reports.
    pub name: String,
    /// SoC address of the first byte.
    pub base: u64,
    /// Type and shape.
    pub spec: TensorSpec,
    /// Role in the call.
    pub role: Role,
    /// Memory it lies in.
    pub location: Location,
    /// Initial contents; empty for an output, whose bytes are uninitialised.
    pub data: Vec<u8>,
}

impl Region {
    /// Bytes of the region.
    pub fn byte_len(&self) -> u64 {
        self.spec.byte_len()
    }

    /// The descriptor the device is given for it.
    pub fn descriptor(&self) -> Descriptor {
        let addr = match self.location {
            Location::Hbm => self.base,
            Location::Sbuf => self.base - map::SBUF,
        };
        Descriptor { location: self.location, addr, spec: self.spec.clone() }
    }
}

/// Why tensors do not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum PlaceError {
    /// A shape without a wire form.
    #[error("tensor `{name}`: {error}")]
    #[diagnostic(code(device::tensor_shape), help("{}", miette::Diagnostic::help(.error).map(|help| help.to_string()).unwrap_or_default()))]
    Shape {
        /// Tensor.
        name: String,
        /// What is wrong with its shape.
        #[source]
        error: ShapeError,
    },
    /// More bytes than the model is configured for.
    #[error("the tensors of the call need {needed} bytes of {memory}; the model is given {allowed}")]
    #[diagnostic(
        code(device::out_of_memory),
        help("use smaller tensors, or give the model more, if this machine has it: run --hbm GIB")
    )]
    OutOfMemory {
        /// "HBM" or "state buffer".
        memory: &'static str,
        /// Bytes all tensors need.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },
}

/// The tensors of one call, in address order.
#[derive(Debug, Default)]
pub struct SharedMemory {
    regions: Vec<Region>,
    hbm_used: u64,
    sbuf_used: u64,
}

impl SharedMemory {
    /// Places a tensor with contents.
    ///
    /// # Errors
    /// [`PlaceError`] for impossible shapes and for sizes beyond `hbm_limit` or the state buffer.
    pub fn place(
        &mut self,
        name: &str,
        tensor: Tensor,
        role: Role,
        location: Location,
        hbm_limit: u64,
    ) -> Result<usize, PlaceError> {
        let Tensor { spec, data } = tensor;
        self.place_region(name, spec, data, role, location, hbm_limit)
    }

    /// Places the output tensor, whose contents are uninitialised.
    ///
    /// # Errors
    /// As [`SharedMemory::place`].
    pub fn place_output(
        &mut self,
        name: &str,
        spec: TensorSpec,
        location: Location,
        hbm_limit: u64,
    ) -> Result<usize, PlaceError> {
        self.place_region(name, spec, Vec::new(), Role::Output, location, hbm_limit)
    }

    fn place_region(
        &mut self,
        name: &str,
        spec: TensorSpec,
        data: Vec<u8>,
        role: Role,
        location: Location,
        hbm_limit: u64,
    ) -> Result<usize, PlaceError> {
        spec.check().map_err(|error| PlaceError::Shape { name: name.to_owned(), error })?;
        let len = spec.byte_len();
        let (origin, used, memory, allowed) = match location {
            Location::Hbm => (map::TENSORS + map::TENSOR_GUARD, &mut self.hbm_used, "HBM", hbm_limit),
            Location::Sbuf => (
                map::SBUF + map::TENSOR_GUARD,
                &mut self.sbuf_used,
                "state buffer",
                map::SBUF_LEN - 2 * map::TENSOR_GUARD,
            ),
        };
        let needed = used.saturating_add(len);
        if needed > allowed {
            return Err(PlaceError::OutOfMemory { memory, needed, allowed });
        }
        let base = origin + *used;
        *used = (needed + map::TENSOR_GUARD).next_multiple_of(map::TENSOR_ALIGN);
        self.regions.push(Region { name: name.to_owned(), base, spec, role, location, data });
        Ok(self.regions.len() - 1)
    }

    /// All regions, in placement order.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The region that holds this SoC address.
    pub fn find(&self, soc: u64) -> Option<usize> {
        self.regions.iter().position(|region| soc.wrapping_sub(region.base) < region.byte_len())
    }

    /// The region nearest to an address outside all of them, with the distance in bytes (negative: before its start),
    /// if it is closer than `reach`.
    pub fn nearest(&self, soc: u64, reach: u64) -> Option<(usize, i64)> {
        self.regions
            .iter()
            .enumerate()
            .filter_map(|(index, region)| {
                let end = region.base + region.byte_len();
                let distance = if soc >= end {
                    (soc - end) as i64
                } else {
                    -((region.base - soc.min(region.base)) as i64)
                };
                (distance.unsigned_abs() < reach).then_some((index, distance))
            })
            .min_by_key(|(_, distance)| distance.unsigned_abs())
    }

    /// Bytes from `soc`, which lies in no region, to the next region; `u64::MAX` if none follows.
    pub fn gap(&self, soc: u64) -> u64 {
        self.regions
            .iter()
            .filter(|region| region.base > soc)
            .map(|region| region.base - soc)
            .min()
            .unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::dtype::Dtype;

    #[test]
    fn tensors_are_aligned_apart_and_found() {
        let mut shared = SharedMemory::default();
        let limit = 1 << 20;
        let x = Tensor::from_f32(&[1.0; 9]).unwrap();
        shared.place("x", x, Role::Input, Location::Hbm, limit).unwrap();
        shared.place_output("out", TensorSpec::new(Dtype::Int8, [7]), Location::Hbm, limit).unwrap();
        let [x, out] = shared.regions() else { panic!("two regions") };
        assert_eq!(x.base % 64, 0);
        assert_eq!(out.base % 64, 0);
        assert!(out.base - (x.base + 36) >= map::TENSOR_GUARD);
        assert_eq!(shared.find(x.base + 35), Some(0));
        assert_eq!(shared.find(x.base + 36), None);
        assert_eq!(shared.find(out.base), Some(1));
        assert_eq!(shared.nearest(x.base + 40, 4096), Some((0, 4)));
        assert_eq!(shared.nearest(out.base - 1, 4096), Some((1, -1)));
        assert_eq!(shared.nearest(0, 4096), None);
        assert_eq!(shared.gap(x.base + 36), out.base - x.base - 36);
    }

    #[test]
    fn sizes_beyond_the_limit_are_refused() {
        let mut shared = SharedMemory::default();
        let spec = TensorSpec::new(Dtype::Float32, [1 << 20]);
        let error = shared.place_output("out", spec.clone(), Location::Hbm, 1 << 20).err();
        assert_eq!(error, Some(PlaceError::OutOfMemory { memory: "HBM", needed: 4 << 20, allowed: 1 << 20 }));
        let huge = TensorSpec::new(Dtype::Int64, [u32::MAX as u64, 1]);
        assert!(matches!(
            shared.place_output("o", huge, Location::Sbuf, 0),
            Err(PlaceError::OutOfMemory { .. })
        ));
        let empty = TensorSpec::new(Dtype::Int64, [0]);
        assert!(matches!(shared.place_output("o", empty, Location::Hbm, 0), Err(PlaceError::Shape { .. })));
    }

    #[test]
    fn state_buffer_tensors_are_described_by_offset() {
        let mut shared = SharedMemory::default();
        let index = shared.place_output("s", TensorSpec::new(Dtype::Int8, [4]), Location::Sbuf, 0).unwrap();
        let descriptor = shared.regions()[index].descriptor();
        assert_eq!((descriptor.location, descriptor.addr), (Location::Sbuf, map::TENSOR_GUARD));
    }
}
