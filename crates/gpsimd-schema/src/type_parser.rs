//! The type and alias rules of the schema grammar.
//!
//! Unaware of parameters, defaults and returns: `parser` calls it where a type stands.

use crate::error::SyntaxError;
use crate::lexer::Kind;
use crate::parser::{MAX_DEPTH, Parser};
use crate::span::{Ident, Span};
use crate::types::{Alias, AliasSet, Base, Handle, Type, TypeKind};

type Parsed<T> = Result<T, SyntaxError>;

const HELP: &str =
    "a type reads `Tensor`, `int`, `float?`, `int[2]`, `Tensor(a!)`, `Dict(str, Tensor)` or `(int, Tensor)`";

/// Parses one type at the parser's place.
pub(crate) fn parse(p: &mut Parser) -> Parsed<Type> {
    Ok(nested(p, 1)?.ty)
}

/// A type and how deep it is, itself included.
struct Nested {
    ty: Type,
    height: usize,
}

// type = base [alias] { "[" [size] "]" [alias] | "?" }
fn nested(p: &mut Parser, depth: usize) -> Parsed<Nested> {
    check_depth(depth, p.look(0).span)?;
    let start = p.look(0).span;
    let Nested { mut ty, mut height } = prefix(p, depth)?;
    loop {
        let kind = if p.take(Kind::LBracket).is_some() {
            let size = list_size(p)?;
            p.expect(Kind::RBracket, "`]`", "a list reads `int[]`, or `int[2]` with a size")?;
            TypeKind::List { item: Box::new(ty), size }
        } else if p.take(Kind::Question).is_some() {
            TypeKind::Optional(Box::new(ty))
        } else {
            return Ok(Nested { ty, height });
        };
        height += 1;
        check_depth(depth.saturating_add(height).saturating_sub(1), p.previous())?;
        let alias = match kind {
            TypeKind::List { .. } => alias(p)?,
            _ => None,
        };
        ty = Type { kind, alias, span: start.to(p.previous()) };
    }
}

fn check_depth(depth: usize, at: Span) -> Parsed<()> {
    match depth > MAX_DEPTH {
        true => Err(SyntaxError::TooDeep { allowed: MAX_DEPTH, at }),
        false => Ok(()),
    }
}

fn list_size(p: &mut Parser) -> Parsed<Option<u32>> {
    let Some(at) = p.take(Kind::Int) else { return Ok(None) };
    let found = p.source(at);
    match found.parse() {
        Ok(size) => Ok(Some(size)),
        Err(_) => Err(SyntaxError::BadListSize { found: found.to_owned(), at }),
    }
}

// base = name | name "(" types ")" | "(" types ")" | "__torch__" { "." name }
fn prefix(p: &mut Parser, depth: usize) -> Parsed<Nested> {
    let start = p.look(0).span;
    if p.at(Kind::LParen) {
        let (items, height) = arguments(p, depth)?;
        return Ok(made(TypeKind::Tuple(items), None, start.to(p.previous()), height));
    }
    let name = p.ident("a type", HELP)?;
    let (kind, height) = match name.text.as_str() {
        "__torch__" => (class(p, &name)?, 0),
        "Union" => {
            let (items, height) = arguments(p, depth)?;
            (TypeKind::Union(items), height)
        }
        "Dict" => {
            let at = p.look(0);
            let (items, height) = arguments(p, depth)?;
            let [key, value] = <[Type; 2]>::try_from(items).map_err(|items| SyntaxError::Expected {
                wanted: "two types",
                found: items.len().to_string(),
                at: at.span.to(p.previous()),
                help: "a dictionary reads `Dict(str, Tensor)`",
            })?;
            (TypeKind::Dict { key: Box::new(key), value: Box::new(value) }, height)
        }
        text => match Handle::ALL.iter().find(|(handle, _)| *handle == text) {
            Some((_, handle)) => {
                let help = "a handle reads `Future(Tensor)`";
                p.expect(Kind::LParen, "`(`", help)?;
                let inner = nested(p, depth + 1)?;
                p.expect(Kind::RParen, "`)`", help)?;
                (TypeKind::Handle { handle: *handle, item: Box::new(inner.ty) }, inner.height)
            }
            None => (named(p, &name)?, 0),
        },
    };
    let alias = match kind {
        TypeKind::Base(_) | TypeKind::Variable(_) | TypeKind::Class(_) | TypeKind::Dict { .. } => alias(p)?,
        _ => None,
    };
    Ok(made(kind, alias, start.to(p.previous()), height))
}

fn made(kind: TypeKind, alias: Option<Alias>, span: Span, height_inside: usize) -> Nested {
    Nested { ty: Type { kind, alias, span }, height: height_inside + 1 }
}

fn arguments(p: &mut Parser, depth: usize) -> Parsed<(Vec<Type>, usize)> {
    let mut items = Vec::new();
    let mut height = 0;
    p.list((Kind::LParen, Kind::RParen), "a type", |p| {
        let item = nested(p, depth + 1)?;
        height = height.max(item.height);
        items.push(item.ty);
        Ok(())
    })?;
    Ok((items, height))
}

fn class(p: &mut Parser, first: &Ident) -> Parsed<TypeKind> {
    const HELP: &str = "a class reads `__torch__.torch.classes.library.Name`";
    let mut path = first.text.clone();
    p.expect(Kind::Dot, "`.`", HELP)?;
    loop {
        let part = p.ident("a class name", HELP)?;
        path.push('.');
        path.push_str(&part.text);
        if p.take(Kind::Dot).is_none() {
            return Ok(TypeKind::Class(path));
        }
    }
}

/// A base type or a type variable; `long long` is the one name of two words.
fn named(p: &mut Parser, name: &Ident) -> Parsed<TypeKind> {
    let next = p.look(0);
    if name.text == "long" && next.kind == Kind::Ident && p.source(next.span) == "long" {
        p.advance();
        return Ok(TypeKind::Base(Base::LongLong));
    }
    if let Some(base) = Base::ALL.iter().find(|base| base.name() == name.text) {
        return Ok(TypeKind::Base(*base));
    }
    let is_path = matches!(next.kind, Kind::ColonColon | Kind::Dot);
    if let Some(help) = foreign_type_help(&name.text, is_path) {
        return Err(SyntaxError::UnknownType { name: name.text.clone(), at: name.span, help });
    }
    if name.text.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Ok(TypeKind::Variable(name.text.clone()));
    }
    let help = match nearest(&name.text) {
        Some(base) => format!("did you mean `{}`?", base.name()),
        None => HELP.to_owned(),
    };
    Err(SyntaxError::UnknownType { name: name.text.clone(), at: name.span, help })
}

/// What to write instead of a type of C++ or Python that people put into schemas.
fn foreign_type_help(name: &str, is_path: bool) -> Option<String> {
    let help = match name {
        _ if is_path => "types have no namespace in a schema: write `Tensor`, `Scalar`, …",
        "double" => "write `float`: it is PyTorch's name for C++'s `double`, and a kernel's `float`",
        "long" => "write `int`, or `long long` for 64 bits",
        "int64_t" => "write `int`, or `long long` for a value that needs 64 bits on the device",
        "short" | "char" | "unsigned" | "size_t" | "int32_t" | "uint32_t" | "int16_t" | "int8_t" => {
            "write `int`"
        }
        "const" => "schemas carry no constness: write the type alone, as in `Tensor a`",
        "void" => "write `-> ()` for an op that returns nothing",
        "List" => "write `int[]` for a list of integers",
        "Optional" => "write `int?` for an optional integer",
        "Tuple" => "write `(int, Tensor)` for a tuple",
        _ => return None,
    };
    Some(help.to_owned())
}

/// The base type that differs in case only, or in one letter.
pub(crate) fn nearest(name: &str) -> Option<Base> {
    let same = Base::ALL.iter().find(|base| base.name().eq_ignore_ascii_case(name));
    same.or_else(|| Base::ALL.iter().find(|base| base.name().len() > 3 && is_one_edit(base.name(), name)))
        .copied()
}

/// Whether one replaced, missing or extra letter makes `b` of `a`.
fn is_one_edit(a: &str, b: &str) -> bool {
    let same_start = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.bytes().skip(same_start), b.bytes().skip(same_start));
    let same_end = a.clone().rev().zip(b.clone().rev()).take_while(|(x, y)| x == y).count();
    a.len() - same_end <= 1 && b.len() - same_end <= 1
}

// alias = "!" | "(" sets ["!"] ["->" sets] ")"
fn alias(p: &mut Parser) -> Parsed<Option<Alias>> {
    if p.take(Kind::Bang).is_some() {
        return Ok(Some(Alias::Fresh));
    }
    if p.take(Kind::LParen).is_none() {
        return Ok(None);
    }
    let before = sets(p)?;
    let is_write = p.take(Kind::Bang).is_some();
    let after = match p.take(Kind::Arrow) {
        Some(_) => sets(p)?,
        None => Vec::new(),
    };
    p.expect(Kind::RParen, "`)`", "an alias annotation reads `(a)`, `(a!)`, `(a|b)` or `(a! -> b)`")?;
    Ok(Some(Alias::Sets { before, is_write, after }))
}

fn sets(p: &mut Parser) -> Parsed<Vec<AliasSet>> {
    let mut sets = Vec::new();
    loop {
        sets.push(match p.take(Kind::Star) {
            Some(_) => AliasSet::Wildcard,
            None => AliasSet::Named(p.ident("an alias set", "a set is a name, as in `Tensor(a!)`, or `*`")?),
        });
        if p.take(Kind::Bar).is_none() {
            return Ok(sets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_type() {
        for (name, want) in [
            ("tensor", Some(Base::Tensor)),
            ("Tensr", Some(Base::Tensor)),
            ("Tennsor", Some(Base::Tensor)),
            ("Tensot", Some(Base::Tensor)),
            ("Tensors", Some(Base::Tensor)),
            ("Bool", Some(Base::Bool)),
            ("Symint", Some(Base::SymInt)),
            ("Foo", None),
            ("Tnesor", None),
            ("", None),
        ] {
            assert_eq!(nearest(name), want, "{name}");
        }
    }
}
