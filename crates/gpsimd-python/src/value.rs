//! Arguments between Python and the device: `(dtype, shape, bytes)` for a tensor, numbers as they are.
//!
//! Unaware of ops; what a plain number becomes follows from the parameter's type, if that is known.

use gpsimd_device::{Arg, Dtype, Tensor, TensorSpec, Value};
use gpsimd_library::arguments::{ArgumentError, dtype as dtype_of};
use gpsimd_schema::ArgType;
use pyo3::prelude::*;

use crate::refusal::refuse;

/// What Python gives for one parameter.
#[derive(Debug, FromPyObject)]
pub enum Given {
    /// A tensor, or only its type and shape where no elements are needed.
    Tensor(String, Vec<u64>, Option<Vec<u8>>),
    /// Also `True` and `False`.
    Whole(i64),
    /// A float.
    Number(f64),
}

impl Given {
    /// Type and shape, of a tensor.
    pub fn spec(&self) -> PyResult<Option<TensorSpec>> {
        let Given::Tensor(dtype, shape, _) = self else { return Ok(None) };
        Ok(Some(TensorSpec::new(dtype_of(dtype).map_err(refuse)?, shape.clone())))
    }

    /// As shape functions are asked: `float32:2x3`, `7`, `0.5`.
    pub fn described(&self) -> PyResult<String> {
        Ok(match (self, self.spec()?) {
            (_, Some(spec)) => spec.to_string(),
            (Given::Whole(whole), _) => whole.to_string(),
            (Given::Number(number), _) => format!("{number:?}"),
            (Given::Tensor(..), None) => String::new(),
        })
    }

    /// The argument for the parameter `name` at `index`; `ty` is what the schema says, when there is one.
    pub fn argument(self, index: usize, name: &str, ty: Option<ArgType>) -> PyResult<Arg> {
        let wrong = |given: &Given, wanted| match given.described() {
            Ok(text) => refuse(ArgumentError::Kind { index, text, name: name.to_owned(), wanted }),
            Err(error) => error,
        };
        let value = match (self, ty) {
            (Given::Tensor(dtype, shape, data), None | Some(ArgType::Tensor)) => {
                let dtype = dtype_of(&dtype).map_err(refuse)?;
                Value::Tensor(Tensor::new(dtype, shape, data.unwrap_or_default()).map_err(refuse)?)
            }
            (given @ Given::Tensor(..), Some(wanted)) | (given, Some(wanted @ ArgType::Tensor)) => {
                return Err(wrong(&given, wanted));
            }
            (Given::Whole(whole), Some(wanted @ ArgType::Int)) => {
                Value::Int(i32::try_from(whole).map_err(|_| wrong(&Given::Whole(whole), wanted))?)
            }
            (Given::Whole(whole), Some(ArgType::LongLong)) => Value::LongLong(whole),
            (Given::Whole(whole), Some(ArgType::Scalar)) => {
                return Arg::scalar(name, Dtype::Int64, &whole.to_le_bytes()).map_err(refuse);
            }
            (Given::Number(number), Some(ArgType::Scalar)) => {
                return Arg::scalar(name, Dtype::Float32, &narrowed(number).to_le_bytes()).map_err(refuse);
            }
            (Given::Number(number), None | Some(ArgType::Float)) => Value::Float(narrowed(number)),
            #[allow(clippy::cast_precision_loss)] // as Python converts
            (Given::Whole(whole), Some(ArgType::Float)) => Value::Float(whole as f32),
            (Given::Whole(whole), None) => match i32::try_from(whole) {
                Ok(whole) => Value::Int(whole),
                Err(_) => Value::LongLong(whole),
            },
            (given @ Given::Number(_), Some(wanted)) => return Err(wrong(&given, wanted)),
        };
        Ok(Arg::new(name, value))
    }
}

/// A Python float as the device takes it.
#[allow(clippy::cast_possible_truncation)]
fn narrowed(number: f64) -> f32 {
    number as f32
}
