//! Types of the device SDK: tensors with element type, shape, place and elements; what gives access to them.
//!
//! Unaware of frames. The layouts are the SDK's own headers', by member names (spec device-runtime.md §4 to §8); elements of
//! tensors are read from device memory.

use std::sync::Arc;

use super::{count, number, parameter, type_parameter};
use crate::objects::Object;
use crate::stop::{Spot, Stop};
use crate::types::{Number, NumberKind, Shape, Type};
use crate::values::{Listing, Shown};

/// Most dimensions of a tensor (spec user-api.md §10).
const MOST_DIMS: u64 = 8;

/// `c10::ScalarType` by its ordinals (spec user-api.md §3): what the device can hold.
fn element_type(ordinal: i64) -> Option<(&'static str, Number)> {
    const fn number(kind: NumberKind, bytes: u8) -> Number {
        Number { kind, bytes }
    }
    Some(match ordinal {
        0 => ("Byte", number(NumberKind::Unsigned, 1)),
        1 => ("Char", number(NumberKind::Signed, 1)),
        2 => ("Short", number(NumberKind::Signed, 2)),
        3 => ("Int", Number::INT),
        4 => ("Long", Number::LONG),
        5 => ("Half", Number::HALF),
        6 => ("Float", Number::FLOAT),
        15 => ("BFloat16", Number::BFLOAT16),
        _ => return None,
    })
}

/// The first so many integers behind a pointer.
fn extents(stop: &Stop<'_>, pointer: &Object, dims: u64) -> Option<Vec<i64>> {
    let extent = |index| i64::try_from(stop.scalar(&stop.element(pointer, index)?)?.ok()?.integer()).ok();
    (0..dims.min(MOST_DIMS) as i64).map(extent).collect()
}

/// A tensor's elements as nested arrays over device memory; none if the sizes make no sense.
fn view(element: Type, size: i64, address: u64, sizes: &[i64], strides: &[i64]) -> Option<Object> {
    let mut ty = element;
    for (extent, stride) in sizes.iter().zip(strides).rev() {
        ty = Type::Strided(Arc::new(ty), u64::try_from(*extent).ok()?, stride.checked_mul(size)?);
    }
    Some(Object::new(ty, Spot::Device(address)))
}

/// What is known of a tensor.
struct Tensor {
    dtype: &'static str,
    sizes: Vec<i64>,
    strides: Vec<i64>,
    bytes: u32,
    address: u64,
    elements: Object,
    implementation: Object,
}

fn read(stop: &Stop<'_>, object: &Object) -> Option<Tensor> {
    let implementation = stop.target(&stop.path(object, &["impl_", "target_"])?);
    let dims = count(stop, &implementation, &["dim_"]).filter(|dims| *dims <= MOST_DIMS)?;
    let (dtype, element) = element_type(number(stop, &implementation, &["dtype_"])?)?;
    let sizes = extents(stop, &stop.member(&implementation, "sizes_")?, dims)?;
    let strides = extents(stop, &stop.member(&implementation, "strides_")?, dims)?;
    let storage = stop.target(&stop.path(&implementation, &["storage_", "target_"])?);
    let address = number(stop, &storage, &["data_ptr_", "ptr_", "hbm_addr"])? as u64;
    let elements = view(Type::Number(element), element.bytes.into(), address, &sizes, &strides)?;
    let bytes = element.bytes.into();
    Some(Tensor { dtype, bytes, sizes, strides, address, elements, implementation })
}

/// Whether the elements lie row by row without gaps.
fn is_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    let mut expected = 1_i64;
    sizes.iter().zip(strides).rev().all(|(size, stride)| {
        let fits = *size == 1 || *stride == expected;
        expected = expected.saturating_mul(*size);
        fits
    })
}

pub(super) fn tensor(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    if number(stop, object, &["impl_", "target_"])? == 0 {
        return Some(Shown { summary: "undefined".to_owned(), listing: Listing::None });
    }
    let tensor = read(stop, object)?;
    let strides = match is_contiguous(&tensor.sizes, &tensor.strides) {
        true => String::new(),
        false => format!(" strides {:?}", tensor.strides),
    };
    let elements = stop.inner(&tensor.elements, 2);
    let summary =
        format!("{} {:?}{strides} at {:#x}: {elements}", tensor.dtype, tensor.sizes, tensor.address);
    let member = |name: &str| {
        Some((name.trim_end_matches('_').to_owned(), None, stop.member(&tensor.implementation, name)?))
    };
    let dims = tensor.sizes.len() as u64;
    let shape = |name: &str| {
        let (shown, path, values) = member(name)?;
        let Shape::Array { element, .. } = stop.entries.shape(&values.ty) else { return None };
        Some((shown, path, Object::new(Type::Array(Arc::new(element), dims), values.spot)))
    };
    let listing = vec![
        member("dtype_")?,
        shape("sizes_")?,
        shape("strides_")?,
        ("elements".to_owned(), Some(String::new()), tensor.elements),
    ];
    Some(Shown { summary, listing: Listing::Named(listing) })
}

pub(super) fn tensor_elements(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    let tensor = read(stop, object)?;
    Some((tensor.elements, u64::try_from(*tensor.sizes.first()?).ok()?))
}

/// Extents and strides, in elements, and the bytes of one element.
pub(super) struct Extents {
    pub(super) sizes: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) bytes: u32,
}

/// The shape of a tensor or an accessor; none for anything else.
pub(super) fn shape(stop: &Stop<'_>, object: &Object) -> Option<Extents> {
    if let Some(Tensor { sizes, strides, bytes, .. }) = read(stop, object) {
        return Some(Extents { sizes, strides, bytes });
    }
    let element = type_parameter(stop, object, 0)?;
    let dims = stop.entries.number(parameter(stop, object, 1)?, gimli::DW_AT_const_value)?;
    Some(Extents {
        sizes: extents(stop, &stop.member(object, "sizes_")?, dims)?,
        strides: extents(stop, &stop.member(object, "strides_")?, dims)?,
        bytes: stop.entries.size(&element)?,
    })
}

fn accessor_view(stop: &Stop<'_>, object: &Object) -> Option<(Object, Vec<i64>)> {
    let element = type_parameter(stop, object, 0)?;
    let Extents { sizes, strides, bytes } = shape(stop, object)?;
    let address = number(stop, object, &["data_", "hbm_addr"])? as u64;
    Some((view(element, bytes.into(), address, &sizes, &strides)?, sizes))
}

pub(super) fn accessor(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let (elements, sizes) = accessor_view(stop, object)?;
    let element = stop.entries.spelled(&type_parameter(stop, object, 0)?);
    let count = u64::try_from(*sizes.first()?).ok()?;
    let summary = format!("{element} {sizes:?}: {}", stop.inner(&elements, 2));
    Some(Shown { summary, listing: Listing::Elements(elements, count) })
}

pub(super) fn accessor_elements(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    let (elements, sizes) = accessor_view(stop, object)?;
    Some((elements, u64::try_from(*sizes.first()?).ok()?))
}

/// A summary alone.
fn line(summary: String) -> Option<Shown> {
    Some(Shown { summary, listing: Listing::None })
}

pub(super) fn tcm_accessor(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    line(format!("copies to and from {}", device_pointer(stop, &stop.member(object, "data_")?)?.summary))
}

pub(super) fn read_stream(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    stream(stop, object, "read")
}

pub(super) fn write_stream(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    stream(stop, object, "written")
}

fn stream(stop: &Stop<'_>, object: &Object, done: &str) -> Option<Shown> {
    let stream = stop.member(object, "stream_")?;
    let element = stop.entries.spelled(&type_parameter(stop, object, 0)?);
    let (at, total) = (count(stop, &stream, &["data_idx_"])?, count(stop, &stream, &["data_size_"])?);
    let buffer = stop.member(&stream, "buffer_ptr_")?;
    if number(stop, &stream, &["buffer_ptr_"])? == 0 {
        return line(format!("{element} stream, closed, {at} of {total} {done}"));
    }
    let held = count(stop, &stream, &["buffer_size_"])?.min(1 << 12);
    let Shape::Pointer(target) = stop.entries.shape(&buffer.ty) else { return None };
    let block = Object::new(Type::Array(Arc::new(target), held), stop.target(&buffer).spot);
    let named = |name: &str| Some((name.trim_end_matches('_').to_owned(), None, stop.member(&stream, name)?));
    Some(Shown {
        summary: format!(
            "{element} stream, {at} of {total} {done}, {} in the buffer",
            count(stop, &stream, &["buffer_idx_"])?
        ),
        listing: Listing::Named(vec![
            named("data_idx_")?,
            named("data_size_")?,
            named("buffer_idx_")?,
            ("buffer".to_owned(), None, block),
        ]),
    })
}

/// The element itself, read from device memory.
pub(super) fn element_reference(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let element = type_parameter(stop, object, 0)?;
    let size = u64::from(stop.entries.size(&element)?);
    let index = count(stop, object, &["index_"])?;
    let address =
        (number(stop, object, &["data_", "hbm_addr"])? as u64).wrapping_add(size.wrapping_mul(index));
    let value = Object::new(element, Spot::Device(address));
    Some(Shown {
        summary: stop.inner(&value, 1),
        listing: Listing::Named(vec![("value".to_owned(), None, value)]),
    })
}

pub(super) fn device_pointer(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    if number(stop, object, &["is_nullptr"])? != 0 {
        return line("nullptr".to_owned());
    }
    line(format!("device memory at {:#x}", number(stop, object, &["hbm_addr"])?))
}

pub(super) fn unique_device_pointer(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    device_pointer(stop, &stop.member(object, "ptr_")?)
}

pub(super) fn counted_pointer(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let pointer = stop.member(object, "target_")?;
    let listing = match number(stop, object, &["target_"])? {
        0 => Listing::None,
        _ => Listing::Named(vec![("*".to_owned(), Some(".target_[0]".to_owned()), stop.target(&pointer))]),
    };
    Some(Shown { summary: stop.inner(&pointer, 1), listing })
}

pub(super) fn array_ref(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    Some((stop.member(object, "data_")?, count(stop, object, &["size_"]).filter(|size| *size <= 1 << 25)?))
}

pub(super) fn scalar(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let member = match number(stop, object, &["tag_"])? {
        0 => "d",
        1 | 2 => "i",
        _ => return None,
    };
    let value = stop.path(object, &["v_", member])?;
    line(stop.inner(&value, 1))
}

pub(super) fn options(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    line(stop.inner(&stop.member(object, "dtype_")?, 1))
}

pub(super) fn type_meta(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    line(stop.inner(&stop.member(object, "type_")?, 1))
}

pub(super) fn tcm(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let (data, count) = tcm_elements(stop, object)?;
    let element = stop.entries.spelled(&type_parameter(stop, object, 0)?);
    let address = number(stop, object, &["data_"])?;
    let summary = format!("{element}[{count}] of TCM at {address:#010x}: {}", stop.elements(&data, count, 1));
    Some(Shown { summary, listing: Listing::Elements(data, count) })
}

pub(super) fn tcm_elements(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    // more than the pool holds was never constructed
    Some((stop.member(object, "data_")?, count(stop, object, &["size_"]).filter(|size| *size <= 1 << 14)?))
}

/// A named member as a child.
fn child(stop: &Stop<'_>, object: &Object, name: &str) -> Option<(String, Option<String>, Object)> {
    Some((name.trim_end_matches('_').to_owned(), Some(format!(".{name}")), stop.member(object, name)?))
}

pub(super) fn window(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let [first, held, total] = ["first_", "held_", "total_"].map(|name| count(stop, object, &[name]));
    let (first, held) = (first?, held?);
    Some(Shown {
        summary: format!("elements {first} to {} of {}", first.saturating_add(held), total?),
        listing: Listing::Named(vec![child(stop, object, "block_")?, child(stop, object, "tensor_")?]),
    })
}

pub(super) fn sink(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let (first, held) = (count(stop, object, &["first_"])?, count(stop, object, &["held_"])?);
    Some(Shown {
        summary: format!("{held} elements wait to be written from element {first}"),
        listing: Listing::Named(vec![child(stop, object, "block_")?, child(stop, object, "tensor_")?]),
    })
}

pub(super) fn span(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let (begin, end) = (count(stop, object, &["begin"])?, count(stop, object, &["end"])?);
    Some(Shown {
        summary: format!("[{begin}, {end})"),
        listing: Listing::Named(vec![child(stop, object, "begin")?, child(stop, object, "end")?]),
    })
}
