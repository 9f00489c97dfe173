//! How types of the SDK and of the C++ library are shown: one row a type.
//!
//! Unaware of frames and of how plain types are shown. A printer reads members by name, and gives up where one is missing:
//! then the type is shown as any other.

mod calls;
mod library;
mod sdk;

pub(crate) use calls::called;

use crate::entries::Id;
use crate::objects::Object;
use crate::stop::Stop;
use crate::types::{Shape, Type};
use crate::values::{Listing, Shown};

/// A type that is not shown as its members.
struct Printer {
    /// Its qualified name; of a template, the name before `<`.
    name: &'static str,
    show: fn(&Stop<'_>, &Object) -> Option<Shown>,
    /// What `[i]` applies to.
    sequence: fn(&Stop<'_>, &Object) -> Option<(Object, u64)>,
}

/// A row without elements.
const fn plain(name: &'static str, show: fn(&Stop<'_>, &Object) -> Option<Shown>) -> Printer {
    Printer { name, show, sequence: |_, _| None }
}

/// A row with elements.
const fn indexed(
    name: &'static str,
    show: fn(&Stop<'_>, &Object) -> Option<Shown>,
    sequence: fn(&Stop<'_>, &Object) -> Option<(Object, u64)>,
) -> Printer {
    Printer { name, show, sequence }
}

/// A row that is its elements.
const fn list(name: &'static str, sequence: fn(&Stop<'_>, &Object) -> Option<(Object, u64)>) -> Printer {
    Printer { name, show: |_, _| None, sequence }
}

const PRINTERS: &[Printer] = &[
    indexed("at::Tensor", sdk::tensor, sdk::tensor_elements),
    indexed("at::TensorBase", sdk::tensor, sdk::tensor_elements),
    indexed("at::TensorAccessor", sdk::accessor, sdk::accessor_elements),
    plain("at::TensorTcmAccessor", sdk::tcm_accessor),
    plain("at::TensorReadStreamAccessor", sdk::read_stream),
    plain("at::TensorWriteStreamAccessor", sdk::write_stream),
    plain("at::TensorElementReference", sdk::element_reference),
    plain("c10::Q7PtrType", sdk::device_pointer),
    plain("c10::UniqueQ7Ptr", sdk::unique_device_pointer),
    plain("c10::intrusive_ptr", sdk::counted_pointer),
    list("c10::ArrayRef", sdk::array_ref),
    plain("c10::Scalar", sdk::scalar),
    plain("c10::TensorOptions", sdk::options),
    plain("caffe2::TypeMeta", sdk::type_meta),
    indexed("gpsimd::Tcm", sdk::tcm, sdk::tcm_elements),
    plain("gpsimd::Window", sdk::window),
    plain("gpsimd::Sink", sdk::sink),
    plain("gpsimd::Span", sdk::span),
    list("std::vector", library::vector),
    list("std::array", library::array),
    list("std::initializer_list", library::initializer_list),
    plain("std::pair", library::pair),
    plain("std::tuple", library::tuple),
    plain("std::optional", library::optional),
    indexed("std::basic_string", library::string, library::characters),
    indexed("std::__cxx11::basic_string", library::string, library::characters),
    indexed("std::unique_ptr", library::unique_pointer, library::unique_target),
];

/// The row for an object's type.
fn printer(stop: &Stop<'_>, object: &Object) -> Option<&'static Printer> {
    let Shape::Record(record) = stop.entries.shape(&object.ty) else { return None };
    let name = stop.entries.qualified(record);
    // the template's own name: scopes may be templates too, and none of the rows is in one
    let name = name.split('<').next().unwrap_or_default();
    PRINTERS.iter().find(|printer| printer.name == name)
}

/// What the printer of an object's type makes of it.
pub(crate) fn shown(stop: &Stop<'_>, object: &Object) -> Option<Shown> {
    let printer = printer(stop, object).filter(|_| stop.spend(64))?;
    (printer.show)(stop, object).or_else(|| {
        let (base, count) = (printer.sequence)(stop, object)?;
        Some(Shown { summary: stop.elements(&base, count, 1), listing: Listing::Elements(base, count) })
    })
}

/// What `[i]` of an object applies to, and how many elements that has.
pub(crate) fn sequence(stop: &Stop<'_>, object: &Object) -> Option<(Object, u64)> {
    (printer(stop, object)?.sequence)(stop, object)
}

/// A number at a path of members.
fn number(stop: &Stop<'_>, object: &Object, path: &[&str]) -> Option<i64> {
    let scalar = stop.scalar(&stop.path(object, path)?)?.ok()?;
    i64::try_from(scalar.integer()).ok()
}

/// A count at a path of members, which a damaged program may have made negative.
fn count(stop: &Stop<'_>, object: &Object, path: &[&str]) -> Option<u64> {
    u64::try_from(number(stop, object, path)?).ok()
}

/// The parameter of a template by its place.
fn parameter(stop: &Stop<'_>, object: &Object, index: usize) -> Option<Id> {
    let Shape::Record(record) = stop.entries.shape(&object.ty) else { return None };
    let is_parameter = |id: &Id| {
        matches!(
            stop.entries.tag(*id),
            gimli::DW_TAG_template_type_parameter | gimli::DW_TAG_template_value_parameter
        )
    };
    stop.entries.children(record).filter(is_parameter).nth(index)
}

/// The type that a template is given.
fn type_parameter(stop: &Stop<'_>, object: &Object, index: usize) -> Option<Type> {
    let parameter = parameter(stop, object, index)?;
    (stop.entries.tag(parameter) == gimli::DW_TAG_template_type_parameter)
        .then(|| stop.entries.type_of(parameter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printer_has_a_variable_in_the_test() {
        let kernel = include_str!("../../tests/kernels/sdk.cpp");
        for printer in PRINTERS {
            // the kernel knows some by other namespaces
            let name = match printer.name.rsplit("::").next().unwrap_or_default() {
                "basic_string" => "std::string",
                "TensorBase" => "Tensor",
                name => name,
            };
            assert!(kernel.contains(name), "{name} is not in the kernel that the test shows");
        }
    }
}
