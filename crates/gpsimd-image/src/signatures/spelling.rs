//! Types of debug information as C++ text.
//!
//! Unaware of how they were read. Types may refer to each other in circles or fan out without end in a damaged file, so
//! one text may visit a fixed number of them.

use std::collections::HashMap;

use gimli::{DwTag, UnitOffset};

use super::TypeText;

type Offset = UnitOffset<usize>;

/// Types that one text may visit, and scopes that one path may have.
const MAX_VISITS: usize = 64;

/// Longest text; a template's name may be longer and is cut.
const MAX_TEXT: usize = 512;

/// The types and scopes of one unit.
#[derive(Default)]
pub(super) struct Types {
    scopes: Vec<(String, Option<usize>)>,
    entries: HashMap<Offset, TypeEntry>,
}

/// One type.
pub(super) enum TypeEntry {
    /// A class, an enumeration, a built-in type.
    Named { name: String, scope: Option<usize> },
    /// A typedef.
    Alias { name: String, scope: Option<usize>, target: Option<Offset> },
    /// `const T`, `volatile T`.
    Qualified { qualifier: &'static str, target: Option<Offset> },
    /// `T*`, `T&`, `T&&`, `T[]`.
    Suffixed { suffix: &'static str, target: Option<Offset> },
    /// A function type.
    Function { result: Option<Offset>, params: Vec<Option<Offset>> },
}

impl TypeEntry {
    pub(super) fn named(name: String, scope: Option<usize>) -> Self {
        Self::Named { name, scope }
    }

    /// A type made from one other type.
    pub(super) fn derived(tag: DwTag, target: Option<Offset>) -> Option<Self> {
        let suffixed = |suffix| Some(Self::Suffixed { suffix, target });
        let qualified = |qualifier| Some(Self::Qualified { qualifier, target });
        match tag {
            gimli::DW_TAG_const_type => qualified("const"),
            gimli::DW_TAG_volatile_type => qualified("volatile"),
            gimli::DW_TAG_restrict_type => qualified("__restrict"),
            gimli::DW_TAG_pointer_type => suffixed("*"),
            gimli::DW_TAG_reference_type => suffixed("&"),
            gimli::DW_TAG_rvalue_reference_type => suffixed("&&"),
            gimli::DW_TAG_array_type => suffixed("[]"),
            _ => None,
        }
    }
}

/// Whether typedefs are followed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aliases {
    Keep,
    Resolve,
}

impl Types {
    pub(super) fn add_scope(&mut self, name: String, parent: Option<usize>) -> usize {
        self.scopes.push((name, parent));
        self.scopes.len() - 1
    }

    pub(super) fn insert(&mut self, offset: Offset, entry: TypeEntry) {
        self.entries.insert(offset, entry);
    }

    /// Adds a parameter to a function type.
    pub(super) fn add_param(&mut self, function: Offset, ty: Option<Offset>) {
        if let Some(TypeEntry::Function { params, .. }) = self.entries.get_mut(&function)
            && params.len() < MAX_VISITS
        {
            params.push(ty);
        }
    }

    /// Names of a scope and those around it, outermost first.
    pub(super) fn path(&self, scope: Option<usize>) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = scope;
        while let Some((name, parent)) = next.and_then(|index| self.scopes.get(index)) {
            path.push(name.clone());
            if path.len() == MAX_VISITS {
                break;
            }
            next = *parent;
        }
        path.reverse();
        path
    }

    /// Both texts of a type; no type is `void`.
    pub(super) fn text(&self, ty: Option<Offset>) -> TypeText {
        let spell = |aliases| {
            let mut visits = 0;
            cut(self.spell(ty, aliases, &mut visits))
        };
        TypeText { written: spell(Aliases::Keep), canonical: spell(Aliases::Resolve) }
    }

    fn spell(&self, ty: Option<Offset>, aliases: Aliases, visits: &mut usize) -> String {
        let Some(offset) = ty else { return "void".to_owned() };
        *visits += 1;
        if *visits > MAX_VISITS {
            return "…".to_owned();
        }
        match self.entries.get(&offset) {
            None => "(unknown type)".to_owned(),
            Some(TypeEntry::Named { name, scope }) => self.qualified(name, *scope),
            Some(TypeEntry::Alias { name, scope, target }) => match aliases {
                Aliases::Keep => self.qualified(name, *scope),
                Aliases::Resolve => self.spell(*target, aliases, visits),
            },
            Some(TypeEntry::Qualified { qualifier, target }) => {
                let inner = self.spell(*target, aliases, visits);
                match inner.ends_with(['*', '&']) {
                    true => format!("{inner} {qualifier}"),
                    false => format!("{qualifier} {inner}"),
                }
            }
            Some(TypeEntry::Suffixed { suffix, target }) => {
                let inner = self.spell(*target, aliases, visits);
                format!("{inner}{suffix}")
            }
            Some(TypeEntry::Function { result, params }) => {
                let result = self.spell(*result, aliases, visits);
                let params: Vec<String> =
                    params.iter().map(|param| self.spell(*param, aliases, visits)).collect();
                format!("{result} ({})", params.join(", "))
            }
        }
    }

    fn qualified(&self, name: &str, scope: Option<usize>) -> String {
        let mut path = self.path(scope);
        path.push(name.to_owned());
        cut(path.join("::"))
    }
}

/// At most [`MAX_TEXT`] bytes, whole characters.
fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}
