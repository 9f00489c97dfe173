//! What a name stands for in a frame: a variable, a constant, a register, a type.
//!
//! Unaware of operators. The innermost block wins, then arguments, then members of `this` and captures, then what is outside
//! functions: the same file before others, the function's own namespaces before others.

use gimli::{AttributeValue, DwTag};

use crate::entries::{Entries, Id};
use crate::numbers::Scalar;
use crate::objects::Object;
use crate::scopes::Nest;
use crate::stop::{Spot, Stop};
use crate::types::{Number, NumberKind, Shape, Type};

/// Things of one name that are looked at.
const MAX_NAMESAKES: usize = 1024;

/// Entries that looking for a definition may visit.
const MAX_VISITED: usize = 1 << 16;

/// Names of built-in types that need no entry, qualifiers left out.
const BUILT_IN: &[(&str, Number)] = &[
    ("bool", Number::BOOL),
    ("char", Number::CHAR),
    ("signed char", Number { kind: NumberKind::Signed, bytes: 1 }),
    ("int8_t", Number { kind: NumberKind::Signed, bytes: 1 }),
    ("unsigned char", Number { kind: NumberKind::Unsigned, bytes: 1 }),
    ("uint8_t", Number { kind: NumberKind::Unsigned, bytes: 1 }),
    ("short", Number { kind: NumberKind::Signed, bytes: 2 }),
    ("int16_t", Number { kind: NumberKind::Signed, bytes: 2 }),
    ("unsigned short", Number { kind: NumberKind::Unsigned, bytes: 2 }),
    ("uint16_t", Number { kind: NumberKind::Unsigned, bytes: 2 }),
    ("int", Number::INT),
    ("long", Number::INT),
    ("signed", Number::INT),
    ("int32_t", Number::INT),
    ("unsigned", Number::UNSIGNED),
    ("unsigned int", Number::UNSIGNED),
    ("unsigned long", Number::UNSIGNED),
    ("uint32_t", Number::UNSIGNED),
    ("size_t", Number::UNSIGNED),
    ("long long", Number::LONG),
    ("int64_t", Number::LONG),
    ("unsigned long long", Number::UNSIGNED_LONG),
    ("uint64_t", Number::UNSIGNED_LONG),
    ("float", Number::FLOAT),
    ("double", Number::DOUBLE),
    ("long double", Number::DOUBLE),
    ("at::Half", Number::HALF),
    ("c10::Half", Number::HALF),
    ("torch::Half", Number::HALF),
    ("at::BFloat16", Number::BFLOAT16),
    ("c10::BFloat16", Number::BFLOAT16),
    ("torch::BFloat16", Number::BFLOAT16),
];

/// Namespaces of the SDK that have each other's names: `at::kFloat` is `c10::kFloat`, and `torch::` is both.
const SAME: [&str; 3] = ["at::", "c10::", "torch::"];

/// Whether a using declaration or directive may make `name` mean what is called `known`.
fn is_alias(known: &str, name: &str) -> bool {
    let bare = |name: &str| SAME.iter().find_map(|home| name.strip_prefix(home).map(str::to_owned));
    match (bare(known), bare(name)) {
        (Some(known), Some(name)) => known == name,
        _ => known.strip_suffix(name).is_some_and(|home| home.ends_with("::")),
    }
}

/// The last part of a qualified name: template arguments may be qualified, too.
fn last_part(name: &str) -> &str {
    let mut depth = 0_i32;
    let mut start = 0;
    for (at, c) in name.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ':' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &name[start..]
}

/// A type by its name, pointers and references left out.
pub(super) fn type_named(entries: &Entries, text: &str) -> Option<Type> {
    const QUALIFIERS: [&str; 6] = ["const", "volatile", "struct", "class", "enum", "union"];
    let words: Vec<&str> = text.split_whitespace().filter(|word| !QUALIFIERS.contains(word)).collect();
    let name = words.join(" ");
    if name == "void" {
        return Some(Type::Void);
    }
    if let Some((_, number)) = BUILT_IN.iter().find(|(known, _)| *known == name) {
        return Some(Type::Number(*number));
    }
    let name = name.trim_start_matches("::");
    let is_type = |tag: DwTag| {
        matches!(
            tag,
            gimli::DW_TAG_base_type
                | gimli::DW_TAG_typedef
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_enumeration_type
        )
    };
    let types = entries.by_name(last_part(name), MAX_NAMESAKES).filter(|id| is_type(entries.tag(*id)));
    let mut fallback = None;
    for id in types {
        let known = entries.qualified(id);
        if known == name {
            return Some(Type::Entry(id));
        }
        if is_alias(&known, name) {
            fallback.get_or_insert(id);
        }
    }
    fallback.map(Type::Entry)
}

/// A variable, constant or register by its name.
pub(super) fn object_named(stop: &Stop<'_>, nest: Option<&Nest>, name: &str) -> Option<Object> {
    if let Some(register) = name.strip_prefix('$') {
        return register_named(stop, register);
    }
    match name {
        "true" => return Some(Object::number(Scalar::truth(true))),
        "false" => return Some(Object::number(Scalar::truth(false))),
        "nullptr" => return Some(Object::pointer(Type::Void, 0)),
        _ => {}
    }
    nest.and_then(|nest| in_function(stop, nest, name))
        .or_else(|| outside(stop, nest, name.trim_start_matches("::")))
}

fn register_named(stop: &Stop<'_>, name: &str) -> Option<Object> {
    let word = |value| Object::number(Scalar::new(Number::UNSIGNED, u64::from(value)));
    match name {
        "pc" => return Some(word(stop.pc.wrapping_add(stop.shift))),
        "sp" => return register_named(stop, "a1"),
        _ => {}
    }
    let number: u8 = name.strip_prefix('a')?.parse().ok().filter(|number| *number < 16)?;
    // asked for by name, a register is what it is, whosever it is
    Some(match stop.frame.register(number) {
        Some(value) => word(value),
        None => {
            let why = crate::error::Absence::Unreadable(format!("register {name}"));
            Object::new(Type::Number(Number::UNSIGNED), Spot::Absent(why))
        }
    })
}

fn in_function(stop: &Stop<'_>, nest: &Nest, name: &str) -> Option<Object> {
    let entries = stop.entries;
    let is_called = |id: &Id, name: &str| stop.spend(1) && entries.name(*id).as_deref() == Some(name);
    let mut variables = entries.locals(nest).chain(entries.arguments(nest));
    if let Some(id) = variables.find(|id| is_called(id, name)) {
        return Some(stop.variable(id));
    }
    // members of the object that the function is of, and what a lambda captured
    for (holder, member) in [("this", name.to_owned()), ("__closure", format!("__{name}"))] {
        let id = entries.arguments(nest).find(|id| is_called(id, holder));
        if let Some(found) = id.and_then(|id| stop.member(&stop.variable(id), &member)) {
            return Some(found);
        }
    }
    None
}

/// What a function's names are looked up in: `a::b::f` gives `a::b::`, `a::`, and nothing.
fn homes(function: &str) -> Vec<String> {
    let mut homes = vec![String::new()];
    let mut home = function.len();
    while let Some(at) = function.get(..home).and_then(|before| before.rfind("::")) {
        homes.insert(homes.len() - 1, function[..at + 2].to_owned());
        home = at;
    }
    homes
}

fn outside(stop: &Stop<'_>, nest: Option<&Nest>, name: &str) -> Option<Object> {
    let entries = stop.entries;
    let function = nest.and_then(|nest| nest.entries.first().copied());
    let homes = homes(&function.map(|function| entries.qualified(function)).unwrap_or_default());
    let mut best: Option<(usize, Id)> = None;
    for id in entries.by_name(last_part(name), MAX_NAMESAKES) {
        let tag = entries.tag(id);
        let is_one = matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_enumerator | gimli::DW_TAG_member);
        if !is_one || !stop.spend(8) || !is_global(entries, id) {
            continue;
        }
        // an enumerator of a plain enumeration is known outside it, too
        let mut names = vec![entries.qualified(id)];
        if tag == gimli::DW_TAG_enumerator
            && let Some(enumeration) = entries.parent(id)
        {
            let home = entries.qualified(enumeration);
            let outer = home.strip_suffix(last_part(&home)).unwrap_or_default();
            names.push(format!("{outer}{}", last_part(name)));
        }
        let rank = homes.iter().position(|home| names.iter().any(|known| *known == format!("{home}{name}")));
        // a using directive may have made it known; it is taken where nothing else is
        let rank = match rank {
            Some(rank) => rank,
            None if names.iter().any(|known| is_alias(known, name)) => homes.len(),
            None => continue,
        };
        let is_near = function.is_some_and(|function| entries.same_unit(function, id));
        let rank = 2 * rank + usize::from(!is_near);
        if best.is_none_or(|(known, _)| rank < known) {
            best = Some((rank, id));
        }
    }
    let (_, id) = best?;
    match entries.tag(id) {
        gimli::DW_TAG_enumerator => enumerator(stop, id),
        _ => Some(stop.variable(defined(entries, id))),
    }
}

/// Whether an entry is outside functions and no plain member.
fn is_global(entries: &Entries, id: Id) -> bool {
    let mut at = entries.parent(id);
    let is_in = |tags: &[DwTag], at: Option<Id>| at.is_some_and(|at| tags.contains(&entries.tag(at)));
    if entries.tag(id) == gimli::DW_TAG_member
        && !entries.flag(id, gimli::DW_AT_external)
        && !entries.flag(id, gimli::DW_AT_declaration)
    {
        return false;
    }
    for _ in 0..crate::entries::MAX_DEPTH {
        if is_in(
            &[gimli::DW_TAG_subprogram, gimli::DW_TAG_lexical_block, gimli::DW_TAG_inlined_subroutine],
            at,
        ) {
            // an enumeration of a function is known in the function; where exactly does not matter
            return entries.tag(id) == gimli::DW_TAG_enumerator;
        }
        match at {
            Some(scope) => at = entries.parent(scope),
            None => return true,
        }
    }
    false
}

/// The entry that says where a declared variable lies, if there is one.
fn defined(entries: &Entries, id: Id) -> Id {
    let has_place = |id: Id| {
        entries.attribute(id, gimli::DW_AT_location).is_some()
            || entries.attribute(id, gimli::DW_AT_const_value).is_some()
    };
    if has_place(id) {
        return id;
    }
    // another file may define what this one declares
    let name = entries.qualified(id);
    let last = last_part(&name).to_owned();
    let elsewhere = entries.by_name(&last, MAX_NAMESAKES).find(|other| {
        entries.tag(*other) == gimli::DW_TAG_variable
            && has_place(*other)
            && entries.qualified(*other) == name
    });
    elsewhere.or_else(|| completing(entries, &name)).unwrap_or(id)
}

/// A definition that names its declaration, and has no name itself.
fn completing(entries: &Entries, name: &str) -> Option<Id> {
    let outer = entries.roots().flat_map(|root| entries.children(root)).take(MAX_VISITED);
    let mut definitions = outer.filter(|id| {
        entries.tag(*id) == gimli::DW_TAG_variable
            && matches!(
                entries.attribute(*id, gimli::DW_AT_specification),
                Some(AttributeValue::UnitRef(_) | AttributeValue::DebugInfoRef(_))
            )
    });
    definitions.find(|id| entries.qualified(*id) == name)
}

fn enumerator(stop: &Stop<'_>, id: Id) -> Option<Object> {
    let enumeration = stop.entries.parent(id)?;
    let Shape::Enumeration(of) = stop.entries.shape(&Type::Entry(enumeration)) else { return None };
    let value = stop.entries.number(id, gimli::DW_AT_const_value)?;
    let number = stop.entries.underlying(of);
    let bytes = &value.to_le_bytes()[..number.bytes.into()];
    Some(Object::new(Type::Entry(enumeration), Spot::bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_parts_and_functions_homes() {
        assert_eq!(last_part("a::b<c::d>::e"), "e");
        assert_eq!(last_part("a::b<c::d>"), "b<c::d>");
        assert_eq!(homes("a::b::f"), ["a::b::", "a::", ""]);
        assert_eq!(homes("f"), [""]);
        assert!(is_alias("c10::kFloat", "at::kFloat") && is_alias("std::size_t", "size_t"));
        assert!(!is_alias("mine::kFloat", "at::kFloat") && !is_alias("std::my_size_t", "size_t"));
    }
}
