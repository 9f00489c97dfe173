//! Schemas back to text, with PyTorch's spacing: `ns::op.overload(Type name=default, *, Type name) -> (Type, Type)`.
//!
//! Unaware of the parser; that parsing what is printed gives the same schema is a property test's to show.

use crate::ast::{FunctionSchema, OpName, Parameter, Return, Returns};
use crate::types::{Alias, AliasSet, Type, TypeKind};
use std::fmt::{self, Display, Formatter};

impl Display for FunctionSchema {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut list = Separated::new(", ");
        write!(f, "{}(", self.name)?;
        let mut starred = false;
        for param in &self.params {
            if param.is_keyword_only && !starred {
                list.item(f, &"*")?;
                starred = true;
            }
            list.item(f, param)?;
        }
        if self.vararg.is_some() {
            list.item(f, &"...")?;
        }
        write!(f, ") -> {}", self.returns)
    }
}

impl Display for OpName {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{}::", namespace.text)?;
        }
        f.write_str(&self.name.text)?;
        match &self.overload {
            Some(overload) => write!(f, ".{}", overload.text),
            None => Ok(()),
        }
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name.text)?;
        match &self.default {
            Some(default) => write!(f, "={}", default.value),
            None => Ok(()),
        }
    }
}

impl Display for Returns {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut list = Separated::new(", ");
        if self.is_parenthesised {
            f.write_str("(")?;
        }
        for item in &self.items {
            list.item(f, item)?;
        }
        if self.vararg.is_some() {
            list.item(f, &"...")?;
        }
        f.write_str(if self.is_parenthesised { ")" } else { "" })
    }
}

impl Display for Return {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        write!(f, "{}", self.ty)?;
        match &self.name {
            Some(name) => write!(f, " {}", name.text),
            None => Ok(()),
        }
    }
}

impl Display for Type {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match &self.kind {
            TypeKind::Base(base) => f.write_str(base.name())?,
            TypeKind::Variable(name) | TypeKind::Class(name) => f.write_str(name)?,
            TypeKind::Tuple(items) => write_applied(f, "", items)?,
            TypeKind::Union(items) => write_applied(f, "Union", items)?,
            TypeKind::Handle { handle, item } => write!(f, "{}({item})", handle.name())?,
            TypeKind::Dict { key, value } => write!(f, "Dict({key}, {value})")?,
            TypeKind::List { item, size: None } => write!(f, "{item}[]")?,
            TypeKind::List { item, size: Some(size) } => write!(f, "{item}[{size}]")?,
            TypeKind::Optional(inner) => write!(f, "{inner}?")?,
        }
        match &self.alias {
            Some(alias) => write!(f, "{alias}"),
            None => Ok(()),
        }
    }
}

fn write_applied(f: &mut Formatter, name: &str, items: &[Type]) -> fmt::Result {
    write!(f, "{name}(")?;
    let mut list = Separated::new(", ");
    for item in items {
        list.item(f, item)?;
    }
    f.write_str(")")
}

impl Display for Alias {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let Alias::Sets { before, is_write, after } = self else {
            return f.write_str("!");
        };
        f.write_str("(")?;
        write_sets(f, before)?;
        if *is_write {
            f.write_str("!")?;
        }
        if !after.is_empty() {
            f.write_str(" -> ")?;
            write_sets(f, after)?;
        }
        f.write_str(")")
    }
}

fn write_sets(f: &mut Formatter, sets: &[AliasSet]) -> fmt::Result {
    let mut list = Separated::new("|");
    for set in sets {
        list.item(f, &set.name())?;
    }
    Ok(())
}

/// Writes items with a separator between them.
struct Separated {
    separator: &'static str,
    is_first: bool,
}

impl Separated {
    fn new(separator: &'static str) -> Separated {
        Separated { separator, is_first: true }
    }

    fn item(&mut self, f: &mut Formatter, item: &dyn Display) -> fmt::Result {
        if !self.is_first {
            f.write_str(self.separator)?;
        }
        self.is_first = false;
        item.fmt(f)
    }
}
