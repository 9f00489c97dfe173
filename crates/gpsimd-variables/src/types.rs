//! Types: their shape, size and members.
//!
//! Unaware of where values lie, and of how types are spelled. Chains of typedefs end after [`MAX_DEPTH`] steps.

use std::sync::Arc;

use gimli::{AttributeValue, DwAte};

use crate::entries::{Entries, Id, MAX_DEPTH};

/// Members that one record may have; a damaged file may claim more.
const MAX_MEMBERS: usize = 4096;

/// Completions of a declared class that are looked at.
const MAX_NAMESAKES: usize = 256;

/// A type: one of the program, or one made from such by an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    Void,
    Entry(Id),
    Number(Number),
    Pointer(Arc<Type>),
    Array(Arc<Type>, u64),
    /// An array whose elements lie a number of bytes apart: a dimension of a tensor.
    Strided(Arc<Type>, u64, i64),
}

/// A built-in type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    pub(crate) kind: NumberKind,
    pub(crate) bytes: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Bool,
    /// `char`, which is unsigned here.
    Char,
    Signed,
    Unsigned,
    Float,
    /// `at::Half`: a class to C++, a number to kernels.
    Half,
    /// `at::BFloat16`.
    BFloat16,
}

impl Number {
    pub(crate) const BOOL: Number = Number { kind: NumberKind::Bool, bytes: 1 };
    pub(crate) const CHAR: Number = Number { kind: NumberKind::Char, bytes: 1 };
    pub(crate) const HALF: Number = Number { kind: NumberKind::Half, bytes: 2 };
    pub(crate) const BFLOAT16: Number = Number { kind: NumberKind::BFloat16, bytes: 2 };
    pub(crate) const INT: Number = Number { kind: NumberKind::Signed, bytes: 4 };
    pub(crate) const UNSIGNED: Number = Number { kind: NumberKind::Unsigned, bytes: 4 };
    pub(crate) const LONG: Number = Number { kind: NumberKind::Signed, bytes: 8 };
    pub(crate) const UNSIGNED_LONG: Number = Number { kind: NumberKind::Unsigned, bytes: 8 };
    pub(crate) const FLOAT: Number = Number { kind: NumberKind::Float, bytes: 4 };
    pub(crate) const DOUBLE: Number = Number { kind: NumberKind::Float, bytes: 8 };

    /// The name that C++ gives it.
    pub(crate) fn name(self) -> &'static str {
        match (self.kind, self.bytes) {
            (NumberKind::Bool, _) => "bool",
            (NumberKind::Char, _) => "char",
            (NumberKind::Signed, 1) => "signed char",
            (NumberKind::Signed, 2) => "short",
            (NumberKind::Signed, 8) => "long long",
            (NumberKind::Signed, _) => "int",
            (NumberKind::Unsigned, 1) => "unsigned char",
            (NumberKind::Unsigned, 2) => "unsigned short",
            (NumberKind::Unsigned, 8) => "unsigned long long",
            (NumberKind::Unsigned, _) => "unsigned int",
            (NumberKind::Float, 4) => "float",
            (NumberKind::Float, _) => "double",
            (NumberKind::Half, _) => "at::Half",
            (NumberKind::BFloat16, _) => "at::BFloat16",
        }
    }
}

/// What a type is, typedefs and qualifiers left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Void,
    Number(Number),
    Pointer(Type),
    Reference(Type),
    Record(Id),
    Enumeration(Id),
    Array {
        element: Type,
        count: u64,
        /// Bytes from one element to the next, unless they touch.
        stride: Option<i64>,
    },
    Function,
    /// `std::nullptr_t`, pointers to members, what is declared only.
    Opaque,
}

/// One member or base of a record.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// Empty for a base, an anonymous union or struct.
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) offset: u32,
    /// First bit, counted from `offset` in the order of significance, and their number.
    pub(crate) bits: Option<(u32, u32)>,
    pub(crate) is_base: bool,
    pub(crate) is_artificial: bool,
}

impl Entries {
    /// The type of an entry: a variable, a member, a typedef.
    pub(crate) fn type_of(&self, id: Id) -> Type {
        self.described(id, |id| self.reference(id, gimli::DW_AT_type)).map_or(Type::Void, Type::Entry)
    }

    /// A type without typedefs and qualifiers.
    pub(crate) fn peeled(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        for _ in 0..MAX_DEPTH {
            let Type::Entry(id) = ty else { return ty };
            match self.tag(id) {
                gimli::DW_TAG_typedef
                | gimli::DW_TAG_const_type
                | gimli::DW_TAG_volatile_type
                | gimli::DW_TAG_restrict_type
                | gimli::DW_TAG_atomic_type => ty = self.type_of(id),
                _ => return ty,
            }
        }
        Type::Void
    }

    pub(crate) fn shape(&self, ty: &Type) -> Shape {
        let id = match self.peeled(ty) {
            Type::Void => return Shape::Void,
            Type::Number(number) => return Shape::Number(number),
            Type::Pointer(target) => return Shape::Pointer((*target).clone()),
            Type::Array(element, count) => {
                return Shape::Array { element: (*element).clone(), count, stride: None };
            }
            Type::Strided(element, count, stride) => {
                return Shape::Array { element: (*element).clone(), count, stride: Some(stride) };
            }
            Type::Entry(id) => id,
        };
        match self.tag(id) {
            gimli::DW_TAG_base_type => self.built_in(id).map_or(Shape::Opaque, Shape::Number),
            gimli::DW_TAG_pointer_type => Shape::Pointer(self.type_of(id)),
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                Shape::Reference(self.type_of(id))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                match (self.sixteen_bits(id), self.completed(id)) {
                    (Some(number), _) => Shape::Number(number),
                    (None, Some(id)) => Shape::Record(id),
                    (None, None) => Shape::Opaque,
                }
            }
            gimli::DW_TAG_enumeration_type => Shape::Enumeration(id),
            gimli::DW_TAG_array_type => self.array(id),
            gimli::DW_TAG_subroutine_type => Shape::Function,
            _ => Shape::Opaque,
        }
    }

    fn built_in(&self, id: Id) -> Option<Number> {
        let bytes = u8::try_from(self.number(id, gimli::DW_AT_byte_size)?).ok()?;
        let Some(AttributeValue::Encoding(encoding)) = self.attribute(id, gimli::DW_AT_encoding) else {
            return None;
        };
        let kind = match encoding {
            gimli::DW_ATE_boolean => NumberKind::Bool,
            gimli::DW_ATE_float if bytes == 4 || bytes == 8 => NumberKind::Float,
            gimli::DW_ATE_signed => NumberKind::Signed,
            gimli::DW_ATE_unsigned | gimli::DW_ATE_UTF => NumberKind::Unsigned,
            // `char` is a kind of its own beside `signed char` and `unsigned char`, which are numbers to kernels
            gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char
                if self.name(id).as_deref() == Some("char") =>
            {
                NumberKind::Char
            }
            gimli::DW_ATE_signed_char => NumberKind::Signed,
            gimli::DW_ATE_unsigned_char => NumberKind::Unsigned,
            DwAte(_) => return None,
        };
        matches!(bytes, 1 | 2 | 4 | 8).then_some(Number { kind, bytes })
    }

    /// The SDK's classes of 16-bit floating-point numbers.
    fn sixteen_bits(&self, id: Id) -> Option<Number> {
        if self.number(id, gimli::DW_AT_byte_size) != Some(2) {
            return None;
        }
        let kind = match self.qualified(id).as_str() {
            "c10::Half" => NumberKind::Half,
            "c10::BFloat16" => NumberKind::BFloat16,
            _ => return None,
        };
        Some(Number { kind, bytes: 2 })
    }

    /// The entry that has the members: a unit may know a class by declaration only.
    fn completed(&self, id: Id) -> Option<Id> {
        let is_complete = |id: Id| !self.flag(id, gimli::DW_AT_declaration);
        if is_complete(id) {
            return Some(id);
        }
        let (name, path) = (self.name(id)?, self.qualified(id));
        let is_record = |id: Id| {
            matches!(
                self.tag(id),
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
            )
        };
        self.by_name(&name, MAX_NAMESAKES)
            .find(|other| is_record(*other) && is_complete(*other) && self.qualified(*other) == path)
    }

    fn array(&self, id: Id) -> Shape {
        let mut element = self.type_of(id);
        let mut counts: Vec<u64> = Vec::new();
        for child in self.children(id).take(MAX_DEPTH) {
            if self.tag(child) == gimli::DW_TAG_subrange_type {
                let bound =
                    || self.number(child, gimli::DW_AT_upper_bound).map(|bound| bound.wrapping_add(1));
                let count = self.number(child, gimli::DW_AT_count).or_else(bound);
                counts.push(count.filter(|count| *count <= u64::from(u32::MAX)).unwrap_or(0));
            }
        }
        let first = if counts.is_empty() { 0 } else { counts.remove(0) };
        for count in counts.into_iter().rev() {
            element = Type::Array(Arc::new(element), count);
        }
        Shape::Array { element, count: first, stride: None }
    }

    /// Bytes of a value; none for what has no size or none that an address space could hold.
    pub(crate) fn size(&self, ty: &Type) -> Option<u32> {
        self.size_within(ty, MAX_DEPTH)
    }

    fn size_within(&self, ty: &Type, depth: usize) -> Option<u32> {
        let depth = depth.checked_sub(1)?;
        match self.shape(ty) {
            Shape::Number(number) => Some(number.bytes.into()),
            Shape::Pointer(_) | Shape::Reference(_) => Some(4),
            Shape::Array { element, count, stride: None } => {
                self.size_within(&element, depth)?.checked_mul(u32::try_from(count).ok()?)
            }
            Shape::Record(id) | Shape::Enumeration(id) => {
                let own = self.number(id, gimli::DW_AT_byte_size);
                let size = own.or_else(|| self.size_within(&self.type_of(id), depth).map(u64::from));
                u32::try_from(size?).ok()
            }
            Shape::Opaque => match self.peeled(ty) {
                Type::Entry(id) => u32::try_from(self.number(id, gimli::DW_AT_byte_size)?).ok(),
                _ => None,
            },
            Shape::Void | Shape::Function | Shape::Array { .. } => None,
        }
    }

    /// Bases and members of a record that have a place in it, in order.
    pub(crate) fn members(&self, record: Id) -> Vec<Member> {
        let members = self.children(record).filter_map(|child| self.member(record, child));
        members.take(MAX_MEMBERS).collect()
    }

    fn member(&self, record: Id, id: Id) -> Option<Member> {
        let is_base = match self.tag(id) {
            gimli::DW_TAG_inheritance => true,
            gimli::DW_TAG_member => false,
            _ => return None,
        };
        // a static member is declared here and lies elsewhere
        if self.flag(id, gimli::DW_AT_external) || self.flag(id, gimli::DW_AT_declaration) {
            return None;
        }
        let ty = self.type_of(id);
        let offset = match self.attribute(id, gimli::DW_AT_data_member_location) {
            // what must be computed is a virtual base
            Some(AttributeValue::Exprloc(_) | AttributeValue::Block(_)) => return None,
            Some(offset) => u32::try_from(offset.udata_value()?).ok()?,
            // members of a union, and DWARF 5's bit fields
            None if self.tag(record) == gimli::DW_TAG_union_type => 0,
            None if self.attribute(id, gimli::DW_AT_data_bit_offset).is_some() => 0,
            None => return None,
        };
        Some(Member {
            name: if is_base { String::new() } else { self.name(id).unwrap_or_default() },
            bits: self.bits(id, &ty)?,
            is_artificial: self.flag(id, gimli::DW_AT_artificial),
            ty,
            offset,
            is_base,
        })
    }

    /// The bits of a bit field; the outer option is none where they make no sense.
    fn bits(&self, id: Id, ty: &Type) -> Option<Option<(u32, u32)>> {
        let Some(count) = self.number(id, gimli::DW_AT_bit_size) else { return Some(None) };
        let count = u32::try_from(count).ok().filter(|count| (1..=64).contains(count))?;
        let first = match self.number(id, gimli::DW_AT_data_bit_offset) {
            Some(first) => u32::try_from(first).ok()?,
            // DWARF 4 counts from the most significant bit of the storage unit
            None => {
                let unit = match self.number(id, gimli::DW_AT_byte_size) {
                    Some(bytes) => u32::try_from(bytes).ok()?,
                    None => self.size(ty)?,
                };
                let before = u32::try_from(self.number(id, gimli::DW_AT_bit_offset)?).ok()?;
                unit.checked_mul(8)?.checked_sub(before)?.checked_sub(count)?
            }
        };
        Some(Some((first, count)))
    }

    /// Names and values of an enumeration.
    pub(crate) fn enumerators(&self, id: Id) -> impl Iterator<Item = (String, i64)> {
        let constants = self.children(id).filter(|child| self.tag(*child) == gimli::DW_TAG_enumerator);
        constants.take(MAX_MEMBERS).filter_map(|child| {
            Some((self.name(child)?, self.number(child, gimli::DW_AT_const_value)? as i64))
        })
    }

    /// The numbers that an enumeration is stored as.
    pub(crate) fn underlying(&self, id: Id) -> Number {
        let bytes = self.number(id, gimli::DW_AT_byte_size).and_then(|bytes| u8::try_from(bytes).ok());
        let bytes = bytes.filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8)).unwrap_or(4);
        match self.shape(&self.type_of(id)) {
            Shape::Number(number) if number.bytes == bytes => number,
            _ => Number { kind: NumberKind::Unsigned, bytes },
        }
    }
}
