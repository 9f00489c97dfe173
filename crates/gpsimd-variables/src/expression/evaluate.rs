//! The value of an expression in a frame, and the writing of one.
//!
//! Unaware of text. Operators are those of C++ on what a kernel has: numbers, pointers, arrays, and the SDK's types that
//! have elements.

use super::names::{object_named, type_named};
use super::parser::{Tree, Unary};
use crate::error::{Absence, EvaluateError};
use crate::inspect::Inspect;
use crate::numbers::{Binary, Scalar};
use crate::objects::Object;
use crate::printers;
use crate::scopes::Nest;
use crate::stop::{From, MAX_STEPS, Spot, Stop};
use crate::types::{Number, NumberKind, Shape, Type};

/// Operators inside operators: chains such as `a.b.b` count, too.
const MAX_LEVELS: usize = 128;

/// Evaluates expressions in one function of one frame.
pub(crate) struct Evaluator<'a> {
    pub(crate) stop: Stop<'a>,
    pub(crate) nest: Option<Nest>,
}

type Evaluated<T = Object> = Result<T, EvaluateError>;

fn absent(what: &Tree, why: Absence) -> EvaluateError {
    EvaluateError::Absent { what: shown(what), why }
}

/// What an error calls an expression.
fn shown(tree: &Tree) -> String {
    match tree {
        Tree::Name(name) => name.clone(),
        Tree::Member(of, name) => format!("{}.{name}", shown(of)),
        Tree::Arrow(of, name) => format!("{}->{name}", shown(of)),
        Tree::Call(of, name, _) => format!("{}.{name}(…)", shown(of)),
        Tree::Index(of, _) => format!("{}[…]", shown(of)),
        Tree::Unary(with, of) => format!("{}{}", with.sign(), shown(of)),
        _ => "the expression".to_owned(),
    }
}

impl Evaluator<'_> {
    pub(crate) fn type_named(&self, name: &str) -> Option<Type> {
        type_named(self.stop.entries, name)
    }

    /// The object that an expression names or makes.
    pub(crate) fn object(&self, tree: &Tree) -> Evaluated {
        self.level(tree, MAX_LEVELS)
    }

    fn level(&self, tree: &Tree, levels: usize) -> Evaluated {
        let out = EvaluateError::Steps { allowed: MAX_STEPS };
        let levels = levels.checked_sub(1).filter(|_| self.stop.spend(4)).ok_or(out)?;
        match tree {
            Tree::Number(scalar) => Ok(Object::number(*scalar)),
            Tree::Name(name) => {
                let unknown = || EvaluateError::Unknown { name: name.clone() };
                let found = object_named(&self.stop, self.nest.as_ref(), name).ok_or_else(unknown)?;
                Ok(self.stop.referred(&found))
            }
            Tree::Member(of, name) | Tree::Arrow(of, name) => {
                let object = self.level(of, levels)?;
                self.known(of, &object)?;
                let missing = || EvaluateError::Member {
                    name: name.clone(),
                    type_name: self.stop.entries.spelled(&object.ty),
                };
                let member = self.stop.member(&self.counted(&object, tree), name).ok_or_else(missing)?;
                Ok(self.stop.referred(&member))
            }
            Tree::Call(of, name, arguments) => {
                let object = self.level(of, levels)?;
                self.known(of, &object)?;
                let numbers = arguments.iter().map(|argument| Ok(self.scalar(argument, levels)?.integer()));
                let numbers: Vec<i128> = numbers.collect::<Evaluated<_>>()?;
                let called = printers::called(&self.stop, &object, name, &numbers);
                called.map(Object::number).ok_or_else(|| EvaluateError::Call {
                    name: name.clone(),
                    type_name: self.stop.entries.spelled(&object.ty),
                })
            }
            Tree::Index(of, index) => {
                let object = self.level(of, levels)?;
                let index = self.scalar(index, levels)?;
                if index.is_float() {
                    return Err(self.refused("[]", &[&object]));
                }
                self.known(of, &object)?;
                self.indexed(&object, index.integer())
            }
            Tree::Cast(ty, of) => {
                let object = self.level(of, levels)?;
                self.cast(ty, &object, of)
            }
            Tree::SizeOf(ty) => {
                let size = self.stop.entries.size(ty);
                let size =
                    size.ok_or_else(|| self.refused("sizeof", &[&Object::new(ty.clone(), Spot::Memory(0))]))?;
                Ok(Object::number(Scalar::new(Number::UNSIGNED, size.into())))
            }
            Tree::Unary(Unary::Deref, of) => {
                let object = self.level(of, levels)?;
                self.known(of, &object)?;
                match self.stop.entries.shape(&object.ty) {
                    Shape::Pointer(_) | Shape::Array { .. } => Ok(self.stop.target(&object)),
                    // an owner of something on the heap
                    _ => match self.owned(&object) {
                        Some(pointer) => Ok(self.stop.target(&pointer)),
                        None => Err(self.refused("*", &[&object])),
                    },
                }
            }
            Tree::Unary(Unary::Address, of) => {
                let object = self.level(of, levels)?;
                match object.spot {
                    Spot::Memory(address) if object.bits.is_none() => Ok(Object::pointer(object.ty, address)),
                    Spot::Absent(why) => Err(absent(of, why)),
                    _ => Err(EvaluateError::Fixed {
                        what: shown(tree),
                        why: "it does not lie in memory that a pointer reaches".to_owned(),
                    }),
                }
            }
            Tree::Unary(with, of) => {
                let scalar = self.scalar(of, levels)?;
                let result = match with {
                    Unary::Minus => Some(scalar.negated()),
                    Unary::Not => Some(Scalar::truth(!scalar.is_true())),
                    Unary::Complement => scalar.complemented(),
                    _ => Some(scalar),
                };
                result
                    .map(Object::number)
                    .ok_or_else(|| self.refused(with.sign(), &[&Object::number(scalar)]))
            }
            Tree::Binary(with, left, right) => {
                let (left_object, right_object) = (self.level(left, levels)?, self.level(right, levels)?);
                self.known(left, &left_object)?;
                self.known(right, &right_object)?;
                self.binary(*with, &left_object, &right_object, (left, right))
            }
            Tree::And(left, right) => {
                let truth = self.scalar(left, levels)?.is_true() && self.scalar(right, levels)?.is_true();
                Ok(Object::number(Scalar::truth(truth)))
            }
            Tree::Or(left, right) => {
                let truth = self.scalar(left, levels)?.is_true() || self.scalar(right, levels)?.is_true();
                Ok(Object::number(Scalar::truth(truth)))
            }
            Tree::Choice(condition, yes, no) => match self.scalar(condition, levels)?.is_true() {
                true => self.level(yes, levels),
                false => self.level(no, levels),
            },
        }
    }

    /// Refuses an object that lies nowhere.
    fn known(&self, tree: &Tree, object: &Object) -> Evaluated<()> {
        match &object.spot {
            Spot::Absent(why) => Err(absent(tree, why.clone())),
            _ => Ok(()),
        }
    }

    /// What `->` goes through: the pointer inside an owner of something.
    fn counted(&self, object: &Object, tree: &Tree) -> Object {
        match tree {
            Tree::Arrow(..) => self.owned(object).unwrap_or_else(|| object.clone()),
            _ => object.clone(),
        }
    }

    /// The pointer in an owner of something on the heap: `intrusive_ptr`, `unique_ptr`.
    fn owned(&self, object: &Object) -> Option<Object> {
        self.stop.member(object, "target_").or_else(|| match printers::sequence(&self.stop, object)? {
            (pointer, 1) if matches!(self.stop.entries.shape(&pointer.ty), Shape::Pointer(_)) => {
                Some(pointer)
            }
            _ => None,
        })
    }

    fn refused(&self, operator: &str, operands: &[&Object]) -> EvaluateError {
        let types: Vec<String> =
            operands.iter().map(|object| format!("`{}`", self.stop.entries.spelled(&object.ty))).collect();
        EvaluateError::Operands { operator: operator.to_owned(), operands: types.join(" and ") }
    }

    fn indexed(&self, object: &Object, index: i128) -> Evaluated {
        let index = i64::try_from(index).map_err(|_| self.refused("[]", &[object]))?;
        let (base, count) = match printers::sequence(&self.stop, object) {
            Some((base, count)) => (base, Some(count)),
            None => (object.clone(), None),
        };
        let count = count.or(match self.stop.entries.shape(&base.ty) {
            // an array without an extent has one that nobody knows
            Shape::Array { count, .. } => Some(count).filter(|count| *count > 0),
            _ => None,
        });
        if let Some(count) = count
            && u64::try_from(index).map_or(true, |index| index >= count)
        {
            return Err(EvaluateError::Index { index, count });
        }
        let element = self.stop.element(&base, index).ok_or_else(|| self.refused("[]", &[object]))?;
        Ok(self.stop.referred(&element))
    }

    fn scalar(&self, tree: &Tree, levels: usize) -> Evaluated<Scalar> {
        let object = self.level(tree, levels)?;
        self.number(tree, &object)
    }

    fn number(&self, tree: &Tree, object: &Object) -> Evaluated<Scalar> {
        self.known(tree, object)?;
        // an element of a tensor, as an accessor gives it
        let object = match printers::shown(&self.stop, object).map(|shown| shown.listing) {
            Some(crate::values::Listing::Named(named)) if named.len() == 1 && named[0].0 == "value" => {
                named[0].2.clone()
            }
            _ => object.clone(),
        };
        match self.stop.scalar(&object) {
            Some(scalar) => scalar.map_err(|why| absent(tree, why)),
            None => match (self.stop.entries.shape(&object.ty), &object.spot) {
                (Shape::Array { .. }, Spot::Memory(address)) => {
                    Ok(Scalar::new(Number::UNSIGNED, (*address).into()))
                }
                _ => Err(self.refused("a number", &[&object])),
            },
        }
    }

    /// The element type of a pointer, or of an array where one counts as a pointer, and its size.
    fn stepped(&self, object: &Object) -> Option<(Type, u32)> {
        let element = match self.stop.entries.shape(&object.ty) {
            Shape::Pointer(target) => target,
            Shape::Array { element, .. } => element,
            _ => return None,
        };
        let size = self.stop.entries.size(&element).unwrap_or(1);
        Some((element, size))
    }

    fn binary(&self, with: Binary, left: &Object, right: &Object, trees: (&Tree, &Tree)) -> Evaluated {
        let refused = || self.refused(with.sign(), &[left, right]);
        let (a, b) = (self.number(trees.0, left)?, self.number(trees.1, right)?);
        let moved = |element: Type, size: u32, base: Scalar, by: i128| {
            Object::pointer(element, (base.bits as u32).wrapping_add((by as u32).wrapping_mul(size)))
        };
        match (with, self.stepped(left), self.stepped(right)) {
            (_, None, None) => Ok(Object::number(a.combined(with, b)?.ok_or_else(refused)?)),
            (Binary::Add, Some((element, size)), None) if !b.is_float() => {
                Ok(moved(element, size, a, b.integer()))
            }
            (Binary::Add, None, Some((element, size))) if !a.is_float() => {
                Ok(moved(element, size, b, a.integer()))
            }
            (Binary::Sub, Some((element, size)), None) if !b.is_float() => {
                Ok(moved(element, size, a, b.integer().wrapping_neg()))
            }
            (Binary::Sub, Some((_, size)), Some(_)) => {
                let bytes = (a.bits as u32).wrapping_sub(b.bits as u32) as i32;
                let count = bytes.checked_div(size as i32).ok_or(EvaluateError::Division)?;
                Ok(Object::number(Scalar::new(Number::INT, count as u64)))
            }
            (Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge, ..)
                if !a.is_float() && !b.is_float() =>
            {
                let (a, b) = (a.cast(Number::UNSIGNED), b.cast(Number::UNSIGNED));
                Ok(Object::number(a.combined(with, b)?.ok_or_else(refused)?))
            }
            _ => Err(refused()),
        }
    }

    fn cast(&self, ty: &Type, object: &Object, tree: &Tree) -> Evaluated {
        self.known(tree, object)?;
        match self.stop.entries.shape(ty) {
            Shape::Number(number) => {
                let scalar = self.number(tree, object)?.cast(number);
                Ok(Object { ty: ty.clone(), ..Object::number(scalar) })
            }
            Shape::Enumeration(id) => {
                let scalar = self.number(tree, object)?.cast(self.stop.entries.underlying(id));
                Ok(Object { ty: ty.clone(), ..Object::number(scalar) })
            }
            Shape::Pointer(target) => {
                let scalar = self.number(tree, object)?;
                match scalar.is_float() {
                    true => Err(self.refused("a cast to a pointer", &[object])),
                    false => {
                        Ok(Object { ty: ty.clone(), ..Object::pointer(target, scalar.integer() as u32) })
                    }
                }
            }
            _ if self.stop.entries.peeled(ty) == self.stop.entries.peeled(&object.ty) => Ok(object.clone()),
            _ => Err(self.refused("a cast", &[object])),
        }
    }

    /// What has to be written so that `to` holds what `from` does.
    pub(crate) fn writes(&self, to: &Tree, from: &Tree) -> Evaluated<Vec<Write>> {
        let (place, value) = (self.object(to)?, self.object(from)?);
        self.known(to, &place)?;
        let number = match self.stop.entries.shape(&place.ty) {
            Shape::Number(number) => number,
            Shape::Enumeration(id) => self.stop.entries.underlying(id),
            Shape::Pointer(_) => Number::UNSIGNED,
            _ => return Err(self.fixed(to, "it has no number: assign to its members or elements")),
        };
        let scalar = self.number(from, &value)?.cast(number);
        let Some((first, count)) = place.bits else {
            return self.bytes_written(to, &place.spot, scalar);
        };
        // the bits beside a bit field stay
        let (start, shift) = (first / 8, first % 8);
        let spot = place.spot.plus(start);
        let len = (shift + count).div_ceil(8);
        let mut word = [0; 16];
        let before = self.stop.read(&spot, len).map_err(|why| absent(to, why))?;
        word[..before.len()].copy_from_slice(&before);
        let mask = ((u64::MAX >> (64 - count)) as u128) << shift;
        let after = (u128::from_le_bytes(word) & !mask) | (u128::from(scalar.bits) << shift) & mask;
        match spot {
            Spot::Memory(address) => {
                Ok(vec![Write::Memory(address, after.to_le_bytes()[..len as usize].to_vec())])
            }
            _ => Err(self.fixed(to, "a bit field outside memory")),
        }
    }

    fn fixed(&self, what: &Tree, why: &str) -> EvaluateError {
        EvaluateError::Fixed { what: shown(what), why: why.to_owned() }
    }

    fn bytes_written(&self, to: &Tree, spot: &Spot, scalar: Scalar) -> Evaluated<Vec<Write>> {
        let len = usize::from(scalar.number.bytes);
        let bytes = scalar.bits.to_le_bytes()[..len].to_vec();
        let constant = || self.fixed(to, "the compiler made it a constant");
        match spot {
            Spot::Memory(address) => Ok(vec![Write::Memory(*address, bytes)]),
            Spot::Device(address) => Ok(vec![Write::Device(*address, bytes)]),
            Spot::Absent(why) => Err(absent(to, why.clone())),
            Spot::Implicit { .. } => Err(constant()),
            Spot::Parts { parts, offset: 0 } if len <= 4 && parts.len() == 1 => match parts[0].from {
                // a register holds a small number extended, as its type is signed or not
                From::Register(number) => {
                    let wide = match scalar.number.kind {
                        NumberKind::Signed => scalar.integer() as u32,
                        _ => scalar.bits as u32,
                    };
                    Ok(vec![Write::Register(number, wide)])
                }
                From::Memory(address) => Ok(vec![Write::Memory(address, bytes)]),
                _ => Err(constant()),
            },
            Spot::Parts { parts, offset: 0 } => {
                let (mut rest, mut writes) = (bytes.as_slice(), Vec::new());
                for part in parts.iter() {
                    let (now, later) = rest.split_at((part.size as usize).min(rest.len()));
                    match (&part.from, now.first_chunk::<4>()) {
                        (_, None) if now.is_empty() => break,
                        (From::Register(number), Some(word)) if now.len() == 4 => {
                            writes.push(Write::Register(*number, u32::from_le_bytes(*word)));
                        }
                        (From::Memory(address), _) => writes.push(Write::Memory(*address, now.to_vec())),
                        _ => return Err(constant()),
                    }
                    rest = later;
                }
                Ok(writes)
            }
            Spot::Parts { .. } => Err(self.fixed(to, "it is a part of a value that is in registers")),
        }
    }
}

/// A change of the frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Write {
    Memory(u32, Vec<u8>),
    Device(u64, Vec<u8>),
    Register(u8, u32),
}

impl Write {
    /// Makes the change; false if the frame cannot.
    pub(crate) fn apply(&self, frame: &mut dyn Inspect) -> bool {
        match self {
            Write::Memory(address, bytes) => frame.write_memory(*address, bytes),
            Write::Device(address, bytes) => frame.write_device_memory(*address, bytes),
            Write::Register(number, value) => frame.write_register(*number, *value),
        }
    }
}
