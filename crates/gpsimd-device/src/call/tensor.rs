//! Tensor values on the host side: a type, a shape and contiguous row-major bytes.
//!
//! Unaware of device addresses and of file formats.
//! Facts: limits in spec `user-api.md` §10, `customop-abi.md` §5.2.

use crate::call::dtype::Dtype;

/// The most dimensions a descriptor can carry.
pub const MAX_RANK: usize = 8;

/// Why a shape cannot be passed to a custom op.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum ShapeError {
    /// No dimensions at all.
    #[error("the shape has 0 dimensions; a custom op takes 1 to {MAX_RANK}")]
    #[diagnostic(code(device::rank_zero), help("pass a single value as a tensor of shape [1]"))]
    RankZero,
    /// More than eight dimensions.
    #[error("the shape has {rank} dimensions; a custom op takes 1 to {MAX_RANK}")]
    #[diagnostic(code(device::rank), help("merge dimensions before the call; the kernel sees storage order"))]
    Rank {
        /// Number of dimensions found.
        rank: usize,
    },
    /// A dimension of size zero, which the wire format reads as "end of shape".
    #[error("dimension {dim} has size 0; every dimension must be at least 1")]
    #[diagnostic(
        code(device::empty_dimension),
        help("an empty tensor has no wire form; skip the call on the host")
    )]
    Empty {
        /// Index of the dimension.
        dim: usize,
    },
    /// A dimension too large for both wire forms.
    #[error("dimension {dim} has size {size}; rank {rank} allows at most {allowed}")]
    #[diagnostic(
        code(device::dimension_too_large),
        help("up to 8 dimensions may reach 65535 each, or up to 4 dimensions 4294967295 each")
    )]
    TooLarge {
        /// Index of the dimension.
        dim: usize,
        /// Its size.
        size: u64,
        /// Rank of the whole shape.
        rank: usize,
        /// Largest size allowed at this rank.
        allowed: u64,
    },
    /// More elements than the 32-bit count of a descriptor holds.
    #[error("the shape has {elements} elements; a descriptor counts at most {}", u32::MAX)]
    #[diagnostic(code(device::too_many_elements), help("split the tensor and call the op once per part"))]
    TooManyElements {
        /// Product of the dimensions, saturated.
        elements: u64,
    },
    /// Data whose length is not elements × element size.
    #[error("{found} bytes of data for a tensor that needs {needed}")]
    #[diagnostic(code(device::data_length), help("the data must be contiguous, row-major, without padding"))]
    DataLength {
        /// Bytes given.
        found: u64,
        /// Bytes needed.
        needed: u64,
    },
}

/// Type and shape of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TensorSpec {
    /// Element type.
    pub dtype: Dtype,
    /// Sizes, outermost first; checked by [`TensorSpec::check`].
    pub shape: Vec<u64>,
}

impl TensorSpec {
    /// A spec from its parts, unchecked.
    pub fn new(dtype: Dtype, shape: impl Into<Vec<u64>>) -> TensorSpec {
        TensorSpec { dtype, shape: shape.into() }
    }

    /// Checks the shape against what a descriptor can carry and returns the number of elements.
    ///
    /// # Errors
    /// [`ShapeError`] for rank 0 or above 8, zero or oversized dimensions, more than 2³²−1 elements.
    pub fn check(&self) -> Result<u32, ShapeError> {
        let rank = self.shape.len();
        if rank == 0 {
            return Err(ShapeError::RankZero);
        }
        if rank > MAX_RANK {
            return Err(ShapeError::Rank { rank });
        }
        let allowed = if rank <= 4 { u64::from(u32::MAX) } else { u64::from(u16::MAX) };
        for (dim, &size) in self.shape.iter().enumerate() {
            if size == 0 {
                return Err(ShapeError::Empty { dim });
            }
            if size > allowed {
                return Err(ShapeError::TooLarge { dim, size, rank, allowed });
            }
        }
        let elements = self.shape.iter().fold(1u64, |product, &size| product.saturating_mul(size));
        u32::try_from(elements).map_err(|_| ShapeError::TooManyElements { elements })
    }

    /// Bytes of the whole tensor, saturating for shapes that [`TensorSpec::check`] refuses.
    pub fn byte_len(&self) -> u64 {
        self.shape.iter().fold(self.dtype.size() as u64, |product, &size| product.saturating_mul(size))
    }

    /// The multi-index of the element with this row-major position.
    pub fn multi_index(&self, element: u64) -> Vec<u64> {
        let mut rest = element;
        let mut index: Vec<u64> = self
            .shape
            .iter()
            .rev()
            .map(|&size| {
                let size = size.max(1);
                let position = rest % size;
                rest /= size;
                position
            })
            .collect();
        index.reverse();
        index
    }
}

impl std::fmt::Display for TensorSpec {
    /// `float32:2x3`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let extents: Vec<String> = self.shape.iter().map(ToString::to_string).collect();
        write!(f, "{}:{}", self.dtype.name(), extents.join("x"))
    }
}

/// A tensor value: contiguous, row-major, little-endian elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Type and shape.
    pub spec: TensorSpec,
    /// `spec.byte_len()` bytes.
    pub data: Vec<u8>,
}

impl Tensor {
    /// A tensor from type, shape and bytes.
    ///
    /// # Errors
    /// [`ShapeError`] when the shape has no wire form or the length of `data` does not fit it.
    pub fn new(dtype: Dtype, shape: impl Into<Vec<u64>>, data: Vec<u8>) -> Result<Tensor, ShapeError> {
        let spec = TensorSpec::new(dtype, shape);
        spec.check()?;
        let (found, needed) = (data.len() as u64, spec.byte_len());
        if found != needed {
            return Err(ShapeError::DataLength { found, needed });
        }
        Ok(Tensor { spec, data })
    }

    /// A rank-1 `float32` tensor.
    pub fn from_f32(values: &[f32]) -> Result<Tensor, ShapeError> {
        let data = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Tensor::new(Dtype::Float32, [values.len() as u64], data)
    }

    /// The elements of a `float32` tensor; `None` for another type.
    pub fn to_f32(&self) -> Option<Vec<f32>> {
        (self.spec.dtype == Dtype::Float32)
            .then(|| self.data.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_verdicts() {
        let big = u64::from(u16::MAX) + 1;
        let rows: &[(&[u64], Result<u32, &str>)] = &[
            (&[1], Ok(1)),
            (&[2, 3], Ok(6)),
            (&[1, 1, 1, 1, 1, 1, 1, 65535], Ok(65535)),
            (&[big, 1, 1, 1], Ok(65536)),
            (&[], Err("device::rank_zero")),
            (&[1; 9], Err("device::rank")),
            (&[3, 0, 2], Err("device::empty_dimension")),
            (&[1, 1, 1, 1, big], Err("device::dimension_too_large")),
            (&[1 << 32], Err("device::dimension_too_large")),
            (&[1 << 31, 2], Err("device::too_many_elements")),
            (&[u32::MAX as u64; 4], Err("device::too_many_elements")),
        ];
        for (shape, want) in rows {
            let got = TensorSpec::new(Dtype::Int8, *shape).check();
            match (got, want) {
                (Ok(elements), Ok(want)) => assert_eq!(elements, *want, "{shape:?}"),
                (Err(error), Err(want)) => {
                    let code = miette::Diagnostic::code(&error).map(|code| code.to_string());
                    assert_eq!(code.as_deref(), Some(*want), "{shape:?}");
                }
                (got, want) => panic!("{shape:?}: {got:?}, expected {want:?}"),
            }
        }
    }

    #[test]
    fn data_must_fit_the_shape() {
        let error = Tensor::new(Dtype::Int16, [2, 2], vec![0; 7]).err();
        assert_eq!(error, Some(ShapeError::DataLength { found: 7, needed: 8 }));
    }

    #[test]
    fn multi_index_is_row_major() {
        let spec = TensorSpec::new(Dtype::Int8, [2, 3, 4]);
        assert_eq!(spec.multi_index(0), [0, 0, 0]);
        assert_eq!(spec.multi_index(23), [1, 2, 3]);
        assert_eq!(spec.multi_index(13), [1, 0, 1]);
    }
}
