//! Objects: typed places of a stopped frame, and the ways from one to the next.
//!
//! Unaware of texts. Whatever cannot be told stays told so: a member of an absent record is absent for the same reason.

use std::sync::Arc;

use gimli::AttributeValue;

use crate::entries::{Id, MAX_DEPTH};
use crate::error::Absence;
use crate::locations::Holds;
use crate::numbers::Scalar;
use crate::stop::{Spot, Stop};
use crate::types::{Member, Number, Shape, Type};

/// A typed place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) ty: Type,
    pub(crate) spot: Spot,
    /// First bit and number of bits of a bit field.
    pub(crate) bits: Option<(u32, u32)>,
}

impl Object {
    pub(crate) fn new(ty: Type, spot: Spot) -> Object {
        Object { ty, spot, bits: None }
    }

    /// A number that an expression made.
    pub(crate) fn number(scalar: Scalar) -> Object {
        Object::new(
            Type::Number(scalar.number),
            Spot::bytes(&scalar.bits.to_le_bytes()[..scalar.number.bytes.into()]),
        )
    }

    /// A pointer that an expression made.
    pub(crate) fn pointer(target: Type, address: u32) -> Object {
        Object::new(Type::Pointer(Arc::new(target)), Spot::bytes(&address.to_le_bytes()))
    }
}

impl Stop<'_> {
    /// A variable or parameter in this frame.
    pub(crate) fn variable(&self, id: Id) -> Object {
        let ty = self.entries.type_of(id);
        let spot = match self.place(id, &ty).unwrap_or_else(Spot::Absent) {
            spot if self.keeps_no_truth(id, &ty, &spot) => Spot::Absent(Absence::OptimisedAway),
            spot => spot,
        };
        Object::new(ty, spot)
    }

    /// Whether a place that holds a `bool` for a while holds neither 0 nor 1: a compiler that optimises keeps there what it
    /// will make the `bool` of, and has described it all the same.
    fn keeps_no_truth(&self, id: Id, ty: &Type, spot: &Spot) -> bool {
        let location = || self.entries.described(id, |id| self.entries.attribute(id, gimli::DW_AT_location));
        let is_bool = matches!(self.entries.shape(ty), Shape::Number(number) if number == Number::BOOL);
        is_bool
            && !matches!(location(), Some(AttributeValue::Exprloc(_) | AttributeValue::Block(_)))
            && self.read(spot, 1).is_ok_and(|bytes| bytes.first().is_some_and(|byte| *byte > 1))
    }

    /// Where a variable lies now.
    fn place(&self, id: Id, ty: &Type) -> Result<Spot, Absence> {
        if let Some(location) =
            self.entries.described(id, |id| self.entries.attribute(id, gimli::DW_AT_location))
        {
            return self.located(id, location, self.entries.size(ty));
        }
        let constant = self.entries.described(id, |id| self.entries.attribute(id, gimli::DW_AT_const_value));
        let constant = constant.ok_or(Absence::OptimisedAway)?;
        if let AttributeValue::Block(bytes) = &constant {
            return Ok(Spot::bytes(bytes.bytes()));
        }
        if let AttributeValue::String(text) = &constant {
            let mut bytes = text.bytes().to_vec();
            bytes.push(0);
            return Ok(Spot::bytes(&bytes));
        }
        let word = crate::entries::constant(&constant);
        let size = self.entries.size(ty).filter(|size| *size <= 8);
        match (word, size) {
            (Some(word), Some(size)) => Ok(Spot::bytes(&word.to_le_bytes()[..size as usize])),
            _ => Err(Absence::Unsupported("a constant without a size".to_owned())),
        }
    }

    fn located(
        &self,
        id: Id,
        location: AttributeValue<crate::entries::Reader>,
        size: Option<u32>,
    ) -> Result<Spot, Absence> {
        let unit = self.entries.unit(id);
        let listed = self.entries.dwarf.attr_locations(unit, location.clone());
        if let Ok(Some(mut list)) = listed {
            let damaged = |error: gimli::Error| Absence::Unsupported(error.to_string());
            while let Some(entry) = list.next().map_err(damaged)? {
                if !self.spend(1) {
                    return Err(Absence::Unsupported("a list of locations is too long".to_owned()));
                }
                if (entry.range.begin..entry.range.end).contains(&self.pc.into()) {
                    if self.entries.begins(self.pc) {
                        return Err(Absence::NotYet);
                    }
                    let holds = Holds::Within(entry.range.begin as u32, entry.range.end as u32);
                    return self.locate(id, (entry.data, holds), size, &|| self.frame_base(id));
                }
            }
            return Err(Absence::OptimisedAway);
        }
        let expression = match location {
            AttributeValue::Exprloc(expression) => expression,
            AttributeValue::Block(bytes) => gimli::Expression(bytes),
            _ => return Err(Absence::Unsupported("a location of an unknown form".to_owned())),
        };
        let base = || match self.is_in_prologue() {
            true => Err(Absence::NotYet),
            false => self.frame_base(id),
        };
        self.locate(id, (expression, Holds::Everywhere), size, &base)
    }

    /// The frame base of the function that a variable is of.
    fn frame_base(&self, id: Id) -> Result<u32, Absence> {
        let function = self.function().ok_or(Absence::OptimisedAway)?;
        if !self.entries.same_unit(function, id) {
            return Err(Absence::Unsupported("a frame of another file".to_owned()));
        }
        let Some(base) = self.entries.attribute(function, gimli::DW_AT_frame_base) else {
            return Err(Absence::OptimisedAway);
        };
        let expression = match base {
            AttributeValue::Exprloc(expression) => expression,
            AttributeValue::Block(bytes) => gimli::Expression(bytes),
            _ => return Err(Absence::Unsupported("a frame base that moves".to_owned())),
        };
        let none = || Err(Absence::Unsupported("a frame base that needs a frame base".to_owned()));
        match self.locate(function, (expression, Holds::Within(0, u32::MAX)), Some(4), &none)? {
            Spot::Memory(address) => Ok(address),
            spot @ Spot::Parts { .. } => word(&self.read(&spot, 4)?),
            _ => Err(Absence::Unsupported("a frame base that is nowhere".to_owned())),
        }
    }

    /// The object itself, references followed.
    pub(crate) fn referred(&self, object: &Object) -> Object {
        match self.entries.shape(&object.ty) {
            Shape::Reference(_) => self.target(object),
            _ => object.clone(),
        }
    }

    /// What a pointer or reference points at.
    pub(crate) fn target(&self, object: &Object) -> Object {
        let target = match self.entries.shape(&object.ty) {
            Shape::Pointer(target) | Shape::Reference(target) => target,
            Shape::Array { element, .. } => return Object::new(element, object.spot.clone()),
            _ => return Object::new(Type::Void, Spot::Absent(Absence::Unsupported("no pointer".to_owned()))),
        };
        let spot = match &object.spot {
            Spot::Implicit { target: entry, offset } => match u32::try_from(*offset) {
                // one step only: what it points at may be such a pointer itself, in circles
                Ok(offset) if self.spend(1 << 10) => self.variable(*entry).spot.plus(offset),
                _ => Spot::Absent(Absence::OptimisedAway),
            },
            spot => match self.read(spot, 4).and_then(|bytes| word(&bytes)) {
                Ok(address) => Spot::Memory(address),
                Err(why) => Spot::Absent(why),
            },
        };
        Object::new(target, spot)
    }

    /// A member of a record, or of what a pointer or reference points at, bases and anonymous members searched through.
    pub(crate) fn member(&self, object: &Object, name: &str) -> Option<Object> {
        self.member_within(object, name, MAX_DEPTH)
    }

    fn member_within(&self, object: &Object, name: &str, depth: usize) -> Option<Object> {
        let depth = depth.checked_sub(1)?;
        let object = self.referred(object);
        let record = match self.entries.shape(&object.ty) {
            Shape::Record(record) => record,
            Shape::Pointer(_) => return self.member_within(&self.target(&object), name, depth),
            _ => return None,
        };
        let members = self.entries.members(record);
        if !self.spend(members.len() + 1) {
            return None;
        }
        if let Some(member) = members.iter().find(|member| member.name == name) {
            return Some(self.part(&object, member));
        }
        let mut nameless = members.iter().filter(|member| member.name.is_empty());
        nameless.find_map(|member| {
            let inner = self.part(&object, member);
            matches!(self.entries.shape(&inner.ty), Shape::Record(_))
                .then(|| self.member_within(&inner, name, depth))
                .flatten()
        })
    }

    /// A path of members: `impl_`, then its `target_`.
    pub(crate) fn path(&self, object: &Object, names: &[&str]) -> Option<Object> {
        names.iter().try_fold(object.clone(), |object, name| self.member(&object, name))
    }

    /// The member of a record at hand.
    pub(crate) fn part(&self, object: &Object, member: &Member) -> Object {
        Object { ty: member.ty.clone(), spot: object.spot.plus(member.offset), bits: member.bits }
    }

    /// An element of an array, or of what a pointer points at.
    pub(crate) fn element(&self, object: &Object, index: i64) -> Option<Object> {
        let object = self.referred(object);
        let (element, base, stride) = match self.entries.shape(&object.ty) {
            Shape::Array { element, stride, .. } => (element, object.spot, stride),
            Shape::Pointer(target) => (target, self.target(&object).spot, None),
            _ => return None,
        };
        let stride = stride.or_else(|| self.entries.size(&element).map(i64::from))?;
        let bytes = stride.wrapping_mul(index);
        let spot = match base {
            Spot::Memory(address) => Spot::Memory(address.wrapping_add(bytes as u32)),
            Spot::Device(address) => Spot::Device(address.wrapping_add_signed(bytes)),
            other if (0..=i64::from(u32::MAX)).contains(&bytes) => other.plus(bytes as u32),
            _ => Spot::Absent(Absence::Unsupported("an index before the start".to_owned())),
        };
        Some(Object::new(element, spot))
    }

    /// The number that an object holds: a number, an enumerator, an address. None for records and arrays.
    pub(crate) fn scalar(&self, object: &Object) -> Option<Result<Scalar, Absence>> {
        let object = self.referred(object);
        let number = match self.entries.shape(&object.ty) {
            Shape::Number(number) => number,
            Shape::Enumeration(id) => self.entries.underlying(id),
            Shape::Pointer(_) => Number::UNSIGNED,
            _ => return None,
        };
        Some(self.load(&object, number))
    }

    fn load(&self, object: &Object, number: Number) -> Result<Scalar, Absence> {
        let Some((first, count)) = object.bits else {
            let mut word = [0; 8];
            let bytes = self.read(&object.spot, number.bytes.into())?;
            word[..bytes.len()].copy_from_slice(&bytes);
            return Ok(Scalar::new(number, u64::from_le_bytes(word)));
        };
        let (start, shift) = (first / 8, first % 8);
        let mut word = [0; 16];
        let bytes = self.read(&object.spot.plus(start), (shift + count).div_ceil(8))?;
        word[..bytes.len()].copy_from_slice(&bytes);
        let mut value = (u128::from_le_bytes(word) >> shift) as u64;
        let unused = 64 - count;
        value = match number.kind {
            crate::types::NumberKind::Signed => (((value << unused) as i64) >> unused) as u64,
            _ => (value << unused) >> unused,
        };
        Ok(Scalar::new(number, value))
    }
}

fn word(bytes: &[u8]) -> Result<u32, Absence> {
    let word = bytes.first_chunk::<4>().map(|word| u32::from_le_bytes(*word));
    word.ok_or_else(|| Absence::Unsupported("a short word".to_owned()))
}
