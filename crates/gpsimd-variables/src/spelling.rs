//! Types and functions as the source spells them.
//!
//! Unaware of values. A text visits a fixed number of types, because a damaged file may have circles of them.

use crate::entries::{Entries, Id, MAX_DEPTH};
use crate::types::Type;

/// Longest text; the name of a template may be longer and is cut.
const MAX_TEXT: usize = 512;

impl Entries {
    /// A type as C++ text: `const at::Tensor&`, `float[16]`.
    pub(crate) fn spelled(&self, ty: &Type) -> String {
        cut(self.spell(ty, &mut MAX_DEPTH.clone()))
    }

    fn spell(&self, ty: &Type, visits: &mut usize) -> String {
        let Some(left) = visits.checked_sub(1) else { return "…".to_owned() };
        *visits = left;
        let id = match ty {
            Type::Void => return "void".to_owned(),
            Type::Number(number) => return number.name().to_owned(),
            Type::Pointer(target) => return suffixed(self.spell(target, visits), "*"),
            Type::Array(element, count) | Type::Strided(element, count, _) => {
                return indexed(self.spell(element, visits), *count);
            }
            Type::Entry(id) => *id,
        };
        let target = self.type_of(id);
        match self.tag(id) {
            gimli::DW_TAG_const_type => qualified("const", self.spell(&target, visits)),
            gimli::DW_TAG_volatile_type => qualified("volatile", self.spell(&target, visits)),
            gimli::DW_TAG_restrict_type | gimli::DW_TAG_atomic_type => self.spell(&target, visits),
            gimli::DW_TAG_pointer_type => suffixed(self.spell(&target, visits), "*"),
            gimli::DW_TAG_reference_type => suffixed(self.spell(&target, visits), "&"),
            gimli::DW_TAG_rvalue_reference_type => suffixed(self.spell(&target, visits), "&&"),
            gimli::DW_TAG_array_type => match self.shape(ty) {
                crate::types::Shape::Array { element, count, .. } => {
                    indexed(self.spell(&element, visits), count)
                }
                _ => self.spell(&target, visits) + "[]",
            },
            gimli::DW_TAG_subroutine_type => {
                let params = self.children(id).take(MAX_DEPTH).filter(is_parameter(self));
                let params: Vec<String> =
                    params.map(|param| self.spell(&self.type_of(param), visits)).collect();
                format!("{} ({})", self.spell(&target, visits), params.join(", "))
            }
            _ => self.qualified(id),
        }
    }

    /// The name of a type, function or variable with its namespaces and classes.
    pub(crate) fn qualified(&self, id: Id) -> String {
        let declared = |id: Id| self.reference(id, gimli::DW_AT_specification);
        let origin = |id: Id| self.reference(id, gimli::DW_AT_abstract_origin);
        // what is defined outside its class or namespace is declared inside
        let mut home = id;
        for _ in 0..MAX_DEPTH {
            match origin(home).or_else(|| declared(home)) {
                Some(next) => home = next,
                None => break,
            }
        }
        let mut parts = vec![self.name(id).unwrap_or_else(|| "(unnamed)".to_owned())];
        let mut at = self.parent(home);
        while let Some(scope) = at.filter(|_| parts.len() < MAX_DEPTH) {
            match self.tag(scope) {
                gimli::DW_TAG_namespace => {
                    parts.push(self.name(scope).unwrap_or_else(|| "(anonymous namespace)".to_owned()));
                }
                gimli::DW_TAG_class_type
                | gimli::DW_TAG_structure_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_enumeration_type => {
                    parts.push(self.name(scope).unwrap_or_else(|| "(unnamed)".to_owned()));
                }
                _ => {}
            }
            at = self.parent(scope);
        }
        parts.reverse();
        cut(parts.join("::"))
    }
}

fn is_parameter(entries: &Entries) -> impl Fn(&Id) -> bool {
    |id| entries.tag(*id) == gimli::DW_TAG_formal_parameter
}

fn qualified(qualifier: &str, inner: String) -> String {
    match inner.ends_with(['*', '&']) {
        true => format!("{inner} {qualifier}"),
        false => format!("{qualifier} {inner}"),
    }
}

/// A pointer or reference; the star of a pointer to a function or an array goes inside.
fn suffixed(inner: String, suffix: &str) -> String {
    match inner.find(" (").or_else(|| inner.find('[').filter(|_| inner.ends_with(']'))) {
        Some(at) if inner.ends_with([')', ']']) => {
            let (before, after) = inner.split_at(at);
            format!("{before} ({suffix}){}", after.trim_start())
        }
        _ => inner + suffix,
    }
}

/// An array; the first index of an array of arrays comes first.
fn indexed(inner: String, count: u64) -> String {
    match inner.find('[').filter(|_| inner.ends_with(']')) {
        Some(at) => format!("{}[{count}]{}", &inner[..at], &inner[at..]),
        None => format!("{inner}[{count}]"),
    }
}

/// At most [`MAX_TEXT`] bytes, whole characters.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_and_arrays_nest_as_in_cpp() {
        let rows = [
            (suffixed("float".into(), "*"), "float*"),
            (suffixed("void (int)".into(), "*"), "void (*)(int)"),
            (suffixed("float[4]".into(), "*"), "float (*)[4]"),
            (indexed("float[4]".into(), 3), "float[3][4]"),
            (qualified("const", "char*".into()), "char* const"),
            (qualified("const", "char".into()), "const char"),
        ];
        for (got, want) in rows {
            assert_eq!(got, want);
        }
    }
}
