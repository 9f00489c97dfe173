//! The inputs of a run as people write them: files, made-up tensors, numbers.
//!
//! Unaware of libraries; what a plain number means follows from the parameter's type, if that is known.

use std::path::Path;

use gpsimd_device::{Arg, Dtype, Tensor, TensorSpec, Value};
use gpsimd_library::arguments::{ArgumentError, dtype};
use gpsimd_schema::ArgType;
use gpsimd_test::{Kind, Made};
use miette::Diagnostic;

use crate::files::read_at_most;
use crate::memory;
use crate::npy;

/// Longest tensor file read: what the device has memory for, and a header.
pub const LONGEST: u64 = (4 << 30) + (1 << 16);

/// Why an input cannot be used.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum InputError {
    /// Not a file, a number or a made-up tensor.
    #[error("input {text:?} is neither a .npy file, nor a number, nor a tensor to make up")]
    #[diagnostic(code(run::input), help("{}", ways(.text)))]
    Unknown {
        /// As given.
        text: String,
    },
    /// An integer that 32 bits do not hold.
    #[error(
        "input {index} is {text}, and the op's parameter {name} is an int, which has 32 bits on the device"
    )]
    #[diagnostic(
        code(run::int_width),
        help(
            "an int is -2147483648 to 2147483647; a wider one is `long long` in the schema, and int64_t in the kernel"
        )
    )]
    Width {
        /// Position, from 0.
        index: usize,
        /// As given.
        text: String,
        /// The parameter.
        name: String,
    },
    /// A shape that does not read.
    #[error("{text:?} is no shape")]
    #[diagnostic(code(run::shape), help("extents joined by x, for example 2x3"))]
    Shape {
        /// As given.
        text: String,
    },
}

/// Every form of an input, after what the text was likely meant to be.
fn ways(text: &str) -> String {
    const FORMS: &str =
        "an input is x.npy, a number, or made up: rand:2x3, arange:6:int32, zeros:4:float16, ones:2x2";
    let path = Path::new(text);
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    let likely = match text.split(':').next().unwrap_or_default() {
        _ if path.is_dir() => format!("{text} is a directory: name a .npy file in it"),
        _ if path.is_file() => {
            let stem = path.with_extension("");
            let load = if text.ends_with(".npz") || text.ends_with(".pt") { "load" } else { "loadtxt" };
            format!(
                "{text} is a file of another kind: np.save('{0}.npy', np.{load}('{text}')) makes {0}.npy of it",
                stem.display()
            )
        }
        "random" | "randn" | "uniform" | "normal" => format!("did you mean rand:{rest}?"),
        "range" | "iota" => format!("did you mean arange:{rest}?"),
        "zero" => format!("did you mean zeros:{rest}?"),
        "one" => format!("did you mean ones:{rest}?"),
        "rand" | "arange" | "zeros" | "ones" => {
            format!("say its shape, too: {}:1000", text.trim_end_matches(':'))
        }
        _ => return FORMS.to_owned(),
    };
    format!("{likely}; {FORMS}")
}

/// The argument for a parameter, by its text; `ty` is what the schema says, when there is one. Random numbers are others for
/// every `call`, counted from 0.
pub fn argument(index: usize, name: &str, text: &str, ty: Option<ArgType>, call: u32) -> miette::Result<Arg> {
    let wrong = |wanted| ArgumentError::Kind { index, text: text.to_owned(), name: name.to_owned(), wanted };
    if let Some(tensor) = tensor(text, call)? {
        return match ty {
            None | Some(ArgType::Tensor) => Ok(Arg::tensor(name, tensor)),
            Some(wanted) => Err(wrong(wanted).into()),
        };
    }
    let value = match ty {
        Some(ArgType::Tensor) if text.parse::<f64>().is_err() => {
            return Err(InputError::Unknown { text: text.to_owned() }.into());
        }
        Some(wanted @ ArgType::Tensor) => return Err(wrong(wanted).into()),
        Some(ArgType::Int) if text.parse::<i32>().is_err() && text.parse::<i128>().is_ok() => {
            return Err(InputError::Width { index, text: text.to_owned(), name: name.to_owned() }.into());
        }
        Some(wanted @ ArgType::Int) => Value::Int(text.parse().map_err(|_| wrong(wanted))?),
        Some(wanted @ ArgType::LongLong) => Value::LongLong(text.parse().map_err(|_| wrong(wanted))?),
        Some(wanted @ ArgType::Float) => Value::Float(text.parse().map_err(|_| wrong(wanted))?),
        // a whole number is an integral Scalar, as in Python
        Some(wanted @ ArgType::Scalar) => return scalar(name, text).ok_or_else(|| wrong(wanted).into()),
        None if text.parse::<i32>().is_ok() => Value::Int(text.parse().unwrap_or_default()),
        None => Value::Float(text.parse().map_err(|_| InputError::Unknown { text: text.to_owned() })?),
    };
    Ok(Arg::new(name, value))
}

fn scalar(name: &str, text: &str) -> Option<Arg> {
    if let Ok(whole) = text.parse::<i64>() {
        return Arg::scalar(name, Dtype::Int64, &whole.to_le_bytes()).ok();
    }
    let value: f32 = text.parse().ok()?;
    Arg::scalar(name, Dtype::Float32, &value.to_le_bytes()).ok()
}

/// A tensor read from a file or made up; `None` if the text is neither.
fn tensor(text: &str, call: u32) -> miette::Result<Option<Tensor>> {
    if text.ends_with(".npy") {
        let path = Path::new(text);
        return Ok(Some(npy::read(path, read_at_most(path, LONGEST)?)?));
    }
    let Some(made) = made(text)? else { return Ok(None) };
    made.spec.check()?;
    memory::check("the made-up tensors", made.spec.byte_len())?;
    Ok(Some(made.tensor(call)?))
}

/// A tensor to make up, by its words; `None` if they are something else.
pub fn made(text: &str) -> miette::Result<Option<Made>> {
    let mut parts = text.split(':');
    let kind = parts.next().and_then(Kind::from_name);
    let (Some(kind), Some(extents), element, seed, None) =
        (kind, parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Ok(None);
    };
    let spec = TensorSpec::new(element.map_or(Ok(Dtype::Float32), dtype)?, shape(extents)?);
    let unknown = |_| InputError::Unknown { text: text.to_owned() };
    Ok(Some(Made { kind, spec, seed: seed.map_or(Ok(0), str::parse).map_err(unknown)? }))
}

/// `2x3`.
pub fn shape(text: &str) -> Result<Vec<u64>, InputError> {
    text.split('x')
        .map(|extent| extent.parse().map_err(|_| InputError::Shape { text: text.to_owned() }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let rows = [
            ("rand:2x3", None, "ok"),
            ("rand:2x3:bfloat16", Some(ArgType::Tensor), "ok"),
            ("arange:5:int64", None, "ok"),
            ("rand:2x3:int8:7", Some(ArgType::Tensor), "ok"),
            ("unusual:2x3", None, "ok"),
            ("rand:2x3:int8:x", None, "run::input"),
            ("rand:2x", None, "run::shape"),
            ("rand:2:float64", None, "run::dtype"),
            ("rand:0", None, "device::empty_dimension"),
            ("rand:3", Some(ArgType::Int), "run::input_type"),
            ("7", Some(ArgType::Tensor), "run::input_type"),
            ("7", Some(ArgType::Float), "ok"),
            ("7.5", Some(ArgType::Int), "run::input_type"),
            ("3000000000", Some(ArgType::Int), "run::int_width"),
            ("3000000000", Some(ArgType::LongLong), "ok"),
            ("-.5", Some(ArgType::Float), "ok"),
            ("nan", Some(ArgType::Scalar), "ok"),
            ("seven", None, "run::input"),
            ("no-such.npy", None, "cli::file"),
        ];
        for (text, ty, want) in rows {
            let code = match argument(0, "x", text, ty, 0) {
                Ok(_) => "ok".to_owned(),
                Err(error) => error.code().map(|code| code.to_string()).unwrap_or_default(),
            };
            assert_eq!(code, want, "{text}");
        }
    }
}
