//! Arguments of a call, as the host names them.
//!
//! Unaware of wire forms and addresses. Facts: scalar types in spec `customop-abi.md` §5.3 and its rule Q-6.

use crate::call::dtype::Dtype;
use crate::call::tensor::{ShapeError, Tensor, TensorSpec};
use crate::call::wire::Location;

/// A value for one parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `const at::Tensor&`
    Tensor(Tensor),
    /// `int`, passed as a 4-byte integer.
    Int(i32),
    /// `long long`, passed as an 8-byte integer.
    LongLong(i64),
    /// `float`, passed as a 4-byte float.
    Float(f32),
    /// `const at::Scalar&`: one element of any type; make it with [`Arg::scalar`].
    Scalar(Tensor),
}

/// One argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Arg {
    /// Name used in findings.
    pub name: String,
    /// Its value.
    pub value: Value,
    /// Memory to place it in.
    pub location: Location,
}

impl Arg {
    /// An argument in device memory.
    pub fn new(name: impl Into<String>, value: Value) -> Arg {
        Arg { name: name.into(), value, location: Location::Hbm }
    }

    /// A tensor argument.
    pub fn tensor(name: impl Into<String>, tensor: Tensor) -> Arg {
        Arg::new(name, Value::Tensor(tensor))
    }

    /// An `at::Scalar` argument: the little-endian bytes of one element.
    ///
    /// # Errors
    /// [`ShapeError::DataLength`] when `bytes` is not one element of `dtype`.
    pub fn scalar(name: impl Into<String>, dtype: Dtype, bytes: &[u8]) -> Result<Arg, ShapeError> {
        Ok(Arg::new(name, Value::Scalar(Tensor::new(dtype, [1], bytes.to_vec())?)))
    }

    /// The same argument, placed in the state buffer.
    pub fn in_sbuf(self) -> Arg {
        Arg { location: Location::Sbuf, ..self }
    }
}

/// The tensor a call writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Name used in findings.
    pub name: String,
    /// Type and shape.
    pub spec: TensorSpec,
    /// Memory to place it in.
    pub location: Location,
}

impl From<TensorSpec> for Output {
    /// An output called `out`, in device memory.
    fn from(spec: TensorSpec) -> Output {
        Output { name: "out".to_owned(), spec, location: Location::Hbm }
    }
}
