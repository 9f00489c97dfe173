//! What member functions that only read would return, told from the object.
//!
//! Unaware of syntax. The program stands still, and nothing is called.

use super::{printer, sdk, sequence};
use crate::numbers::Scalar;
use crate::objects::Object;
use crate::stop::Stop;
use crate::types::Number;

/// The result of a member function; none for one that is not known, or for arguments that it does not take.
pub(crate) fn called(stop: &Stop<'_>, object: &Object, name: &str, arguments: &[i128]) -> Option<Scalar> {
    let printer = printer(stop, object)?;
    if let Some(shape) = sdk::shape(stop, object) {
        return shaped(&shape, name, arguments);
    }
    let count = match printer.name {
        "gpsimd::Span" => {
            super::count(stop, object, &["end"])?.checked_sub(super::count(stop, object, &["begin"])?)?
        }
        "std::unique_ptr" => return None,
        _ => sequence(stop, object)?.1,
    };
    match (name, arguments) {
        ("size", []) => Some(Scalar::new(Number::UNSIGNED, count)),
        ("empty", []) => Some(Scalar::truth(count == 0)),
        _ => None,
    }
}

/// Of tensors and accessors.
fn shaped(shape: &sdk::Extents, name: &str, arguments: &[i128]) -> Option<Scalar> {
    let long = |value: i64| Some(Scalar::new(Number::LONG, value as u64));
    let sizes = shape.sizes.as_slice();
    match (name, arguments) {
        ("dim" | "ndimension", []) => long(sizes.len() as i64),
        ("numel", []) => long(sizes.iter().try_fold(1_i64, |all, size| all.checked_mul(*size))?),
        ("size" | "stride", [index]) => {
            // negative ones count from the last dimension
            let dims = sizes.len() as i128;
            let index = usize::try_from(if *index < 0 { index + dims } else { *index }).ok()?;
            long(*(if name == "size" { sizes } else { shape.strides.as_slice() }).get(index)?)
        }
        ("element_size" | "itemsize", []) => long(shape.bytes.into()),
        _ => None,
    }
}
