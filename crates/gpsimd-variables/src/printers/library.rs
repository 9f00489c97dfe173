//! Types of the C++ library, by the member names of libstdc++.
//!
//! Unaware of the SDK. Sizes are what the object claims: a vector that was not yet constructed may claim anything, so that
//! one which makes no sense is shown as its members.

use super::{count, number, type_parameter};
use crate::objects::Object;
use crate::stop::Stop;
use crate::types::Shape;
use crate::values::{Listing, Shown, quoted};

/// Elements that a container here may have: all of a core's memory as bytes.
const MOST: u64 = 1 << 25;

pub(super) fn vector(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    let start = stop.path(object, &["_M_impl", "_M_start"])?;
    let first = number(stop, object, &["_M_impl", "_M_start"])?;
    let end = number(stop, object, &["_M_impl", "_M_finish"])?;
    let Shape::Pointer(element) = stop.entries.shape(&start.ty) else { return None };
    let size = i64::from(stop.entries.size(&element).filter(|size| *size > 0)?);
    let bytes = u64::try_from(end - first).ok().filter(|bytes| *bytes <= MOST)?;
    (bytes % size as u64 == 0).then_some((start, bytes / size as u64))
}

pub(super) fn array(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    let elements = stop.member(object, "_M_elems")?;
    match stop.entries.shape(&elements.ty) {
        Shape::Array { count, .. } => Some((elements, count)),
        _ => None,
    }
}

pub(super) fn initializer_list(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    let len = count(stop, object, &["_M_len"]).filter(|len| *len <= MOST)?;
    Some((stop.member(object, "_M_array")?, len))
}

fn parts(stop: &Stop<'_>, parts: Vec<(String, Object)>) -> Shown {
    let texts: Vec<String> = parts.iter().map(|(_, part)| stop.inner(part, 1)).collect();
    Shown {
        summary: format!("({})", texts.join(", ")),
        listing: Listing::Named(parts.into_iter().map(|(name, part)| (name, None, part)).collect()),
    }
}

pub(super) fn pair(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let (first, second) = (stop.member(object, "first")?, stop.member(object, "second")?);
    let texts = [stop.inner(&first, 1), stop.inner(&second, 1)];
    let named = [("first", first), ("second", second)];
    let listing = named.map(|(name, part)| (name.to_owned(), Some(format!(".{name}")), part));
    Some(Shown { summary: format!("({})", texts.join(", ")), listing: Listing::Named(listing.into()) })
}

/// The first base of a record.
fn base(stop: &Stop<'_>, object: &Object) -> Option<Object> {
    let Shape::Record(record) = stop.entries.shape(&object.ty) else { return None };
    let bases = stop.entries.members(record).into_iter();
    bases.filter(|member| member.is_base).map(|member| stop.part(object, &member)).next()
}

/// A tuple is a chain of bases, each with one element in a base or member of its own.
pub(super) fn tuple(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let mut found = Vec::new();
    let mut level = base(stop, object);
    while let Some(here) = level.filter(|_| found.len() < 16 && stop.spend(16)) {
        let Shape::Record(record) = stop.entries.shape(&here.ty) else { break };
        let mut next = None;
        for member in stop.entries.members(record).into_iter().filter(|member| member.is_base) {
            let part = stop.part(&here, &member);
            match stop.entries.spelled(&part.ty).contains("_Head_base<") {
                true => found
                    .push((format!("[{}]", found.len()), stop.member(&part, "_M_head_impl").unwrap_or(part))),
                false => next = Some(part),
            }
        }
        level = next;
    }
    (!found.is_empty()).then(|| parts(stop, found))
}

pub(super) fn optional(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let engaged = number(stop, object, &["_M_payload", "_M_engaged"])?;
    if engaged == 0 {
        return Some(Shown { summary: "nullopt".to_owned(), listing: Listing::None });
    }
    let value = stop.path(object, &["_M_payload", "_M_payload", "_M_value"])?;
    Some(Shown {
        summary: stop.inner(&value, 2),
        listing: Listing::Named(vec![("value".to_owned(), None, value)]),
    })
}

pub(super) fn characters(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    let len = count(stop, object, &["_M_string_length"]).filter(|len| *len <= MOST)?;
    Some((stop.path(object, &["_M_dataplus", "_M_p"])?, len))
}

pub(super) fn string(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let (text, len) = characters(stop, object)?;
    let bytes = stop.read(&stop.target(&text).spot, len.min(120) as u32).ok()?;
    Some(Shown { summary: quoted(&bytes, len > 120), listing: Listing::Elements(text, len) })
}

/// The pointer itself. A deleter that has something to remember lies before it, and is not looked through.
fn owned(stop: &Stop<'_>, object: &Object) -> Option<Object> {
    let target = type_parameter(stop, object, 0)?;
    let is_alone = stop.entries.size(&object.ty) == Some(4);
    is_alone.then(|| Object::new(crate::types::Type::Pointer(target.into()), object.spot.clone()))
}

pub(super) fn unique_pointer(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let pointer = owned(stop, object)?;
    Some(Shown {
        summary: stop.inner(&pointer, 2),
        listing: Listing::Named(vec![("*".to_owned(), Some("*".to_owned()), stop.target(&pointer))]),
    })
}

pub(super) fn unique_target(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    Some((owned(stop, object)?, 1))
}
