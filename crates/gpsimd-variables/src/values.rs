//! Values as people read them: type, one line, children on demand.
//!
//! Unaware of what is special about the SDK's types; `printers` has them. Every text and list is bounded, whatever the
//! program claims its sizes to be.

use crate::entries::{Id, MAX_DEPTH};
use crate::error::Absence;
use crate::objects::Object;
use crate::printers;
use crate::spelling::cut;
use crate::stop::{Spot, Stop};
use crate::types::{Number, NumberKind, Shape, Type};

/// Elements and members that one line shows.
const MAX_SHOWN: usize = 8;

/// Records in records that one line shows.
const MAX_NESTED: usize = 3;

/// Longest text of characters that one line shows.
const MAX_STRING: u32 = 120;

/// What a variable or an expression holds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Value {
    /// As the source spells it: `const at::Tensor&`.
    pub type_name: String,
    /// One line: `3`, `{x = 1, y = 2}`, `Float [2, 3] …`; why it is absent, if it is.
    pub summary: String,
    /// Where it lies in memory as the core sees it.
    pub address: Option<u32>,
    /// Where it lies in device memory.
    pub device_address: Option<u64>,
    /// Its size in bytes, if it has one.
    pub size: Option<u32>,
    /// How many children it has.
    pub children: u64,
    /// Whether the children are elements, `[0]`, `[1]`, …, rather than members.
    pub is_indexed: bool,
    /// Why it cannot be told.
    pub absent: Option<Absence>,
    pub(crate) object: Object,
    pub(crate) truth: bool,
    /// Members as they are, whatever the printers would make of them.
    pub(crate) raw: bool,
}

/// A value with a name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Variable {
    /// As the source or the parent has it: `x`, `[3]`, `sizes`.
    pub name: String,
    /// An expression for it, if one can be written.
    pub path: Option<String>,
    /// What it holds.
    pub value: Value,
}

/// What a value is made of.
pub(crate) enum Listing {
    None,
    /// Name, end of the path if it has one, and the part.
    Named(Vec<(String, Option<String>, Object)>),
    /// Elements of an array or behind a pointer.
    Elements(Object, u64),
}

impl Listing {
    fn len(&self) -> u64 {
        match self {
            Listing::None => 0,
            Listing::Named(named) => named.len() as u64,
            Listing::Elements(_, count) => *count,
        }
    }
}

/// What a printer makes of an object.
pub(crate) struct Shown {
    pub(crate) summary: String,
    pub(crate) listing: Listing,
}

impl Stop<'_> {
    pub(crate) fn value(&self, object: Object, raw: bool) -> Value {
        let target = self.referred(&object);
        let absent = match &target.spot {
            Spot::Absent(why) => Some(why.clone()),
            _ => self
                .scalar(&target)
                .and_then(Result::err)
                .filter(|_| !matches!(target.spot, Spot::Implicit { .. })),
        };
        let (summary, listing) = match &absent {
            Some(why) => (why.to_string(), Listing::None),
            None => (self.summary(&target, raw), self.listing(&target, raw)),
        };
        let (address, device_address) = match &target.spot {
            Spot::Memory(address) => (Some(*address), None),
            Spot::Device(address) => (None, Some(*address)),
            _ => (None, None),
        };
        let truth =
            absent.is_none() && !matches!(self.scalar(&target), Some(Ok(scalar)) if !scalar.is_true());
        Value {
            truth,
            type_name: self.entries.spelled(&object.ty),
            summary,
            address,
            device_address,
            size: self.entries.size(&target.ty),
            children: listing.len(),
            is_indexed: matches!(listing, Listing::Elements(..)),
            absent,
            object: target,
            raw,
        }
    }

    /// Some children of a value; `path` is the expression that the value came from.
    pub(crate) fn some_children(
        &self,
        of: &Value,
        path: Option<&str>,
        start: u64,
        count: usize,
    ) -> Vec<Variable> {
        if of.absent.is_some() {
            return Vec::new();
        }
        match self.listing(&of.object, of.raw) {
            Listing::None => Vec::new(),
            Listing::Named(named) => {
                let some = named.into_iter().skip(usize::try_from(start).unwrap_or(usize::MAX)).take(count);
                some.map(|(name, suffix, object)| Variable {
                    path: path.zip(suffix).map(|(path, suffix)| joined(path, &suffix)),
                    value: self.value(object, name == RAW),
                    name,
                })
                .collect()
            }
            Listing::Elements(base, total) => {
                let end = total.min(start.saturating_add(count as u64));
                let elements = (start..end).map_while(|index| {
                    let object = self.spend(1).then(|| self.element(&base, index as i64))??;
                    Some(Variable {
                        name: format!("[{index}]"),
                        path: path.map(|path| joined(path, &format!("[{index}]"))),
                        value: self.value(object, false),
                    })
                });
                elements.collect()
            }
        }
    }

    fn listing(&self, object: &Object, raw: bool) -> Listing {
        if !raw && let Some(shown) = printers::shown(self, object) {
            let mut listing = shown.listing;
            if let Listing::Named(named) = &mut listing {
                named.push((RAW.to_owned(), Some(String::new()), object.clone()));
            }
            return listing;
        }
        match self.entries.shape(&object.ty) {
            Shape::Array { count, .. } => Listing::Elements(object.clone(), count),
            Shape::Pointer(target) => self.pointee(object, &target),
            Shape::Record(record) => {
                let members = self.entries.members(record).into_iter();
                let named = members.filter(|member| !member.is_artificial).map(|member| {
                    let suffix = (!member.name.is_empty()).then(|| format!(".{}", member.name));
                    // what has no name of its own is reached without one
                    let suffix = suffix.or_else(|| Some(String::new()));
                    let name = match (member.is_base, member.name.is_empty()) {
                        (true, _) => self.entries.spelled(&member.ty),
                        (false, true) => "(anonymous)".to_owned(),
                        _ => member.name.clone(),
                    };
                    (name, suffix, self.part(object, &member))
                });
                Listing::Named(named.collect())
            }
            _ => Listing::None,
        }
    }

    fn pointee(&self, object: &Object, target: &Type) -> Listing {
        let is_null = matches!(self.scalar(object), Some(Ok(address)) if address.bits == 0);
        match self.entries.shape(target) {
            Shape::Void | Shape::Function | Shape::Opaque => Listing::None,
            _ if is_null => Listing::None,
            _ => Listing::Named(vec![("*".to_owned(), Some("*".to_owned()), self.target(object))]),
        }
    }

    /// One line.
    pub(crate) fn summary(&self, object: &Object, raw: bool) -> String {
        cut(self.line(object, raw, MAX_NESTED))
    }

    /// The line of a part of something.
    pub(crate) fn inner(&self, object: &Object, nested: usize) -> String {
        self.line(&self.referred(object), false, nested)
    }

    fn line(&self, object: &Object, raw: bool, nested: usize) -> String {
        if let Spot::Absent(why) = &object.spot {
            return format!("<{why}>");
        }
        if !self.spend(16) {
            return "…".to_owned();
        }
        if !raw
            && nested > 0
            && let Some(shown) = printers::shown(self, object)
        {
            return shown.summary;
        }
        match self.entries.shape(&object.ty) {
            Shape::Number(_) => match self.scalar(object) {
                Some(Ok(scalar)) => scalar.text(),
                Some(Err(why)) => format!("<{why}>"),
                None => String::new(),
            },
            Shape::Enumeration(id) => match self.scalar(object) {
                Some(Ok(scalar)) => self.enumerated(id, scalar.integer() as i64),
                Some(Err(why)) => format!("<{why}>"),
                None => String::new(),
            },
            Shape::Pointer(target) => self.pointer(object, &target, nested),
            Shape::Array { element, count, .. } => self.array(object, &element, count, nested),
            Shape::Record(record) if nested > 0 => self.record(object, record, nested - 1),
            Shape::Record(_) => "{…}".to_owned(),
            // what a reference in a record refers to
            Shape::Reference(_) if nested > 0 => self.line(&self.target(object), false, nested - 1),
            Shape::Reference(_) => "…".to_owned(),
            Shape::Void => "void".to_owned(),
            Shape::Function => format!("{{{}}}", self.entries.spelled(&object.ty)),
            Shape::Opaque => "{…}".to_owned(),
        }
    }

    fn enumerated(&self, id: Id, value: i64) -> String {
        let names: Vec<(String, i64)> = self.entries.enumerators(id).collect();
        self.spend(names.len());
        if let Some((name, _)) = names.iter().find(|(_, known)| *known == value) {
            return name.clone();
        }
        // flags, if they make up the whole value
        let (mut rest, mut set) = (value, Vec::new());
        for (name, flag) in names.iter().filter(|(_, flag)| flag.count_ones() == 1 && value & flag == *flag) {
            rest &= !flag;
            set.push(name.as_str());
        }
        match rest == 0 && !set.is_empty() {
            true => set.join(" | "),
            false => format!("{value} (no enumerator)"),
        }
    }

    fn pointer(&self, object: &Object, target: &Type, nested: usize) -> String {
        if let Spot::Implicit { .. } = object.spot {
            return format!(
                "<address optimised away> {}",
                self.line(&self.target(object), false, nested.saturating_sub(1))
            );
        }
        let address = match self.scalar(object) {
            Some(Ok(scalar)) => scalar.bits as u32,
            Some(Err(why)) => return format!("<{why}>"),
            None => return String::new(),
        };
        if address == 0 {
            return "nullptr".to_owned();
        }
        let shown = match self.entries.shape(target) {
            Shape::Number(number) if number == Number::CHAR => self.string(address, MAX_STRING),
            Shape::Function => {
                self.entries.function(address.wrapping_sub(self.shift)).map(|f| self.entries.qualified(f))
            }
            Shape::Void | Shape::Opaque => None,
            _ if nested == 0 => None,
            _ => {
                let target = self.target(object);
                let mut bytes = vec![0; self.entries.size(&target.ty).unwrap_or(0).min(1 << 12) as usize];
                let is_readable = self.spend(bytes.len()) && self.frame.memory(address, &mut bytes);
                is_readable.then(|| self.line(&target, false, nested - 1))
            }
        };
        match shown {
            Some(shown) => format!("{address:#010x} → {shown}"),
            None => format!("{address:#010x}"),
        }
    }

    /// The characters at an address up to the first zero, quoted.
    fn string(&self, address: u32, most: u32) -> Option<String> {
        let mut bytes = Vec::new();
        for at in 0..most {
            match self.read(&Spot::Memory(address.wrapping_add(at)), 1).ok()?.first() {
                Some(0) | None => return Some(quoted(&bytes, false)),
                Some(byte) => bytes.push(*byte),
            }
        }
        Some(quoted(&bytes, true))
    }

    fn array(&self, object: &Object, element: &Type, count: u64, nested: usize) -> String {
        let is_text =
            matches!(self.entries.shape(element), Shape::Number(number) if number.kind == NumberKind::Char);
        if is_text
            && let Ok(bytes) = self.read(&object.spot, u32::try_from(count).unwrap_or(0).min(MAX_STRING))
        {
            let end = bytes.iter().position(|byte| *byte == 0);
            return quoted(&bytes[..end.unwrap_or(bytes.len())], end.is_none() && count > MAX_STRING.into());
        }
        self.elements(object, count, nested.saturating_sub(1))
    }

    /// The first elements of an array or behind a pointer, in braces.
    pub(crate) fn elements(&self, base: &Object, count: u64, nested: usize) -> String {
        let mut shown: Vec<String> = Vec::new();
        for index in 0..count.min(MAX_SHOWN as u64) {
            match self.element(base, index as i64) {
                Some(element) if self.spend(1) => shown.push(self.inner(&element, nested)),
                _ => break,
            }
        }
        if count > shown.len() as u64 {
            shown.push("…".to_owned());
        }
        format!("{{{}}}", shown.join(", "))
    }

    fn record(&self, object: &Object, record: Id, nested: usize) -> String {
        let members = self.entries.members(record);
        self.spend(members.len());
        let mut shown = Vec::new();
        for member in members.iter().filter(|member| !member.is_artificial) {
            if shown.len() == MAX_SHOWN {
                shown.push("…".to_owned());
                break;
            }
            let part = self.part(object, member);
            match member.name.is_empty() {
                // bases read as their members
                true => {
                    let line = self.inner(&part, nested.min(MAX_DEPTH));
                    let inside =
                        line.strip_prefix('{').and_then(|line| line.strip_suffix('}')).unwrap_or(&line);
                    if !inside.is_empty() {
                        shown.push(inside.to_owned());
                    }
                }
                false => shown.push(format!("{} = {}", member.name, self.inner(&part, nested))),
            }
        }
        format!("{{{}}}", shown.join(", "))
    }
}

/// The name of the child that shows the members behind a printed value.
const RAW: &str = "[members]";

/// The path of a part: a suffix, or an operator that comes first.
fn joined(path: &str, suffix: &str) -> String {
    let is_simple = path.chars().all(|c| c.is_ascii_alphanumeric() || "_.[]:".contains(c));
    let path = if is_simple || suffix.is_empty() { path.to_owned() } else { format!("({path})") };
    match suffix {
        "*" => format!("*{path}"),
        suffix => path + suffix,
    }
}

/// Bytes as a C++ string literal.
pub(crate) fn quoted(bytes: &[u8], is_cut: bool) -> String {
    let text: String = bytes
        .iter()
        .map(|byte| match byte {
            b'"' => "\\\"".to_owned(),
            byte if byte.is_ascii() => char::from(*byte).escape_default().to_string(),
            byte => format!("\\x{byte:02x}"),
        })
        .collect();
    format!("\"{text}\"{}", if is_cut { "…" } else { "" })
}
