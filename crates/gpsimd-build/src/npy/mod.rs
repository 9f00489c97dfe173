//! `.npy` files to tensors and back.
//!
//! Big-endian and Fortran-ordered arrays are brought into the device's order; what has no device form is refused.
//! `bfloat16`, which numpy does not know, is read and written as two raw bytes per element (`V2`), the form that
//! `ml_dtypes` gives it. Unaware of ops and devices.

mod header;

use std::path::{Path, PathBuf};

use gpsimd_device::{Dtype, ShapeError, Tensor, TensorSpec};
use miette::Diagnostic;

use header::{Header, HeaderError};

/// Why a file is no tensor.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum NpyError {
    /// Not this file format.
    #[error("{path} is no .npy file: {reason}", path = .path.display())]
    #[diagnostic(code(npy::format), help("write it with numpy.save"))]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with its header.
        reason: HeaderError,
    },
    /// An element type the device does not have.
    #[error("{path} holds elements of type {found}", path = .path.display())]
    #[diagnostic(
        code(npy::dtype),
        help(
            "the device has int8, uint8, int16, int32, int64, float16, bfloat16 and float32 (bool is taken as uint8); convert with array.astype"
        )
    )]
    Dtype {
        /// The file.
        path: PathBuf,
        /// As written in the file.
        found: String,
    },
    /// More or fewer bytes than the header announces.
    #[error("{path} has {found} bytes of data, its header announces {wanted}", path = .path.display())]
    #[diagnostic(code(npy::length), help("the file was cut or something was appended; write it again"))]
    Length {
        /// The file.
        path: PathBuf,
        /// After the header.
        found: u64,
        /// Product of the shape and the element size.
        wanted: u64,
    },
    /// A shape without a device form.
    #[error("{path}: {source}", path = .path.display())]
    #[diagnostic(code(npy::shape), help("{}", .source.help().map(|help| help.to_string()).unwrap_or_default()))]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ShapeError,
    },
}

/// Reads the tensor in `bytes`, the contents of `path`.
pub fn read(path: &Path, bytes: Vec<u8>) -> Result<Tensor, NpyError> {
    let header = match Header::parse(&bytes) {
        Ok(header) => header,
        Err(HeaderError::Structured) => {
            return Err(NpyError::Dtype { path: path.to_owned(), found: "with named parts".to_owned() });
        }
        Err(reason) => return Err(NpyError::Format { path: path.to_owned(), reason }),
    };
    let (dtype, big_endian) = dtype(&header.descr)
        .ok_or_else(|| NpyError::Dtype { path: path.to_owned(), found: header.descr.clone() })?;
    let spec = TensorSpec::new(dtype, header.shape);
    spec.check().map_err(|source| NpyError::Shape { path: path.to_owned(), source })?;
    let mut data = bytes;
    data.drain(..header.len);
    let (found, wanted) = (data.len() as u64, spec.byte_len());
    if found != wanted {
        return Err(NpyError::Length { path: path.to_owned(), found, wanted });
    }
    if big_endian {
        data.chunks_exact_mut(dtype.size()).for_each(<[u8]>::reverse);
    }
    if header.is_fortran {
        data = row_major(&spec, &data);
    }
    Ok(Tensor { spec, data })
}

/// The bytes of a `.npy` file of `tensor`.
pub fn write(tensor: &Tensor) -> std::io::Result<Vec<u8>> {
    let descr = match tensor.spec.dtype {
        Dtype::Int8 => "|i1",
        Dtype::Uint8 => "|u1",
        Dtype::Int16 => "<i2",
        Dtype::Bfloat16 => "|V2",
        Dtype::Float16 => "<f2",
        Dtype::Int32 => "<i4",
        Dtype::Float32 => "<f4",
        Dtype::Int64 => "<i8",
    };
    let mut bytes = Header::bytes(descr, &tensor.spec.shape);
    bytes.extend_from_slice(&tensor.data);
    Ok(bytes)
}

/// The device's type for a file's, and whether the bytes of an element are reversed.
fn dtype(descr: &str) -> Option<(Dtype, bool)> {
    let plain = descr.trim_start_matches(['<', '>', '|', '=']);
    let dtype = match plain {
        "i1" => Dtype::Int8,
        "u1" => Dtype::Uint8,
        // a bool is a byte, 0 or 1 (kByte): the device has no type of its own for it
        "b1" => Dtype::Uint8,
        "i2" => Dtype::Int16,
        "i4" => Dtype::Int32,
        "i8" => Dtype::Int64,
        "f2" => Dtype::Float16,
        "f4" => Dtype::Float32,
        "V2" | "bfloat16" => Dtype::Bfloat16,
        _ => return None,
    };
    Some((dtype, descr.starts_with('>')))
}

/// Elements stored with the first dimension fastest, stored with the last one fastest.
fn row_major(spec: &TensorSpec, data: &[u8]) -> Vec<u8> {
    let size = spec.dtype.size();
    let strides: Vec<usize> = spec
        .shape
        .iter()
        .scan(1, |stride, &extent| {
            let this = *stride;
            *stride *= extent as usize;
            Some(this)
        })
        .collect();
    let count = data.len() / size;
    let mut out = Vec::with_capacity(data.len());
    let mut index = vec![0_usize; strides.len()];
    for _ in 0..count {
        let at: usize = index.iter().zip(&strides).map(|(position, stride)| position * stride).sum();
        out.extend_from_slice(&data[at * size..(at + 1) * size]);
        for (position, extent) in index.iter_mut().zip(&spec.shape).rev() {
            *position += 1;
            if (*position as u64) < *extent {
                break;
            }
            *position = 0;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut text = header.to_owned();
        while !(10 + text.len() + 1).is_multiple_of(64) {
            text.push(' ');
        }
        text.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn code(bytes: &[u8]) -> String {
        match read(Path::new("x.npy"), bytes.to_vec()) {
            Ok(_) => "ok".to_owned(),
            Err(error) => error.code().map(|code| code.to_string()).unwrap_or_default(),
        }
    }

    #[test]
    fn verdicts() {
        let plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        let rows: &[(&str, Vec<u8>)] = &[
            ("ok", file(plain, &[0; 8])),
            ("ok", file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", &[0, 1])),
            ("npy::length", file(plain, &[0; 7])),
            ("npy::length", file(plain, &[0; 9])),
            ("npy::format", b"no array at all".to_vec()),
            ("npy::format", Vec::new()),
            ("npy::format", file("{'descr': '<f4'", &[])),
            ("npy::dtype", file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &[0; 8])),
            ("npy::dtype", file("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", &[0; 8])),
            ("npy::shape", file("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", &[0; 4])),
            ("npy::shape", file("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", &[])),
            (
                "npy::shape",
                file("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999,), }", &[0; 4]),
            ),
            (
                "npy::length",
                file("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967295,), }", &[0; 4]),
            ),
        ];
        for (want, bytes) in rows {
            assert_eq!(code(bytes), *want, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn every_type_survives() {
        for dtype in Dtype::ALL {
            let data: Vec<u8> = (0..6 * dtype.size()).map(|byte| byte as u8).collect();
            let tensor = Tensor::new(dtype, [2, 3], data).expect("a tensor");
            let bytes = write(&tensor).expect("written");
            assert_eq!(read(Path::new("x.npy"), bytes).expect("read"), tensor);
        }
    }

    #[test]
    fn other_orders_are_brought_into_ours() {
        // the array [[1, 2, 3], [4, 5, 6]] in both foreign orders at once
        let values: [i16; 6] = [1, 4, 2, 5, 3, 6];
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
        let bytes = file("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", &data);
        let tensor = read(Path::new("x.npy"), bytes).expect("read");
        let want: Vec<u8> = (1..=6_i16).flat_map(i16::to_le_bytes).collect();
        assert_eq!(tensor.data, want);
    }
}
