//! From tokens to a tree, by precedence.
//!
//! Unaware of what names mean; the one thing it asks is whether a name in brackets is a type, which makes `(t)x` a cast.

use super::MAX_NESTING;
use super::lexer::{Token, tokens};
use crate::error::EvaluateError;
use crate::numbers::{Binary, Scalar};
use crate::types::Type;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Number(Scalar),
    /// `x`, `a::b::x`, `this`, `$a2`.
    Name(String),
    Member(Box<Tree>, String),
    Arrow(Box<Tree>, String),
    /// A member function that only reads: `x.size(0)`.
    Call(Box<Tree>, String, Vec<Tree>),
    Index(Box<Tree>, Box<Tree>),
    Cast(Type, Box<Tree>),
    Unary(Unary, Box<Tree>),
    Binary(Binary, Box<Tree>, Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Choice(Box<Tree>, Box<Tree>, Box<Tree>),
    SizeOf(Type),
}

/// Operators of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Deref,
    Address,
    Plus,
    Minus,
    Not,
    Complement,
}

/// Operators of two numbers with how strongly they bind.
const BINARY: &[(&str, u8, Binary)] = &[
    ("|", 3, Binary::Or),
    ("^", 4, Binary::Xor),
    ("&", 5, Binary::And),
    ("==", 6, Binary::Eq),
    ("!=", 6, Binary::Ne),
    ("<", 7, Binary::Lt),
    ("<=", 7, Binary::Le),
    (">", 7, Binary::Gt),
    (">=", 7, Binary::Ge),
    ("<<", 8, Binary::Shl),
    (">>", 8, Binary::Shr),
    ("+", 9, Binary::Add),
    ("-", 9, Binary::Sub),
    ("*", 10, Binary::Mul),
    ("/", 10, Binary::Div),
    ("%", 10, Binary::Rem),
];

const UNARY: &[(&str, Unary)] = &[
    ("*", Unary::Deref),
    ("&", Unary::Address),
    ("+", Unary::Plus),
    ("-", Unary::Minus),
    ("!", Unary::Not),
    ("~", Unary::Complement),
];

const CASTS: [&str; 4] = ["static_cast", "reinterpret_cast", "const_cast", "dynamic_cast"];

impl Binary {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        BINARY.iter().find(|(.., with)| *with == self).map_or("", |(sign, ..)| *sign)
    }
}

impl Unary {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        UNARY.iter().find(|(_, with)| *with == self).map_or("", |(sign, _)| *sign)
    }
}

/// Reads an expression; `type_named` knows types by name.
pub(crate) fn parse(text: &str, type_named: &dyn Fn(&str) -> Option<Type>) -> Result<Tree, EvaluateError> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, nesting: 0, type_named };
    let tree = parser.choice()?;
    match parser.token() {
        Token::End => Ok(tree),
        _ => Err(parser.wrong("this follows a whole expression")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    nesting: usize,
    type_named: &'a dyn Fn(&str) -> Option<Type>,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(_, token)| token)
    }

    fn wrong(&self, what: &str) -> EvaluateError {
        let at = self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at);
        let column = self.text[..at].chars().count() + 1;
        EvaluateError::Syntax { text: self.text.to_owned(), column, what: what.to_owned() }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = matches!(self.token(), Token::Sign(next) if *next == sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), EvaluateError> {
        match self.takes(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{sign}` is missing"))),
        }
    }

    fn name(&mut self) -> Result<String, EvaluateError> {
        match self.token().clone() {
            Token::Name(name) => {
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.wrong("a name is missing")),
        }
    }

    /// Counts a level of nesting around what `read` reads.
    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, EvaluateError>,
    ) -> Result<T, EvaluateError> {
        if self.nesting == MAX_NESTING {
            return Err(self.wrong("the expression is nested too deeply"));
        }
        self.nesting += 1;
        let done = read(self);
        self.nesting -= 1;
        done
    }

    fn choice(&mut self) -> Result<Tree, EvaluateError> {
        self.nested(|parser| {
            let condition = parser.any()?;
            if !parser.takes("?") {
                return Ok(condition);
            }
            let yes = parser.choice()?;
            parser.expect(":")?;
            let no = parser.choice()?;
            Ok(Tree::Choice(condition.into(), yes.into(), no.into()))
        })
    }

    fn any(&mut self) -> Result<Tree, EvaluateError> {
        let mut left = self.all()?;
        while self.takes("||") {
            left = Tree::Or(left.into(), self.all()?.into());
        }
        Ok(left)
    }

    fn all(&mut self) -> Result<Tree, EvaluateError> {
        let mut left = self.binary(3)?;
        while self.takes("&&") {
            left = Tree::And(left.into(), self.binary(3)?.into());
        }
        Ok(left)
    }

    fn binary(&mut self, least: u8) -> Result<Tree, EvaluateError> {
        let mut left = self.unary()?;
        while let Token::Sign(sign) = *self.token() {
            let found = BINARY.iter().find(|(known, binds, _)| *known == sign && *binds >= least);
            let Some((_, binds, with)) = found else { break };
            self.at += 1;
            let right = self.nested(|parser| parser.binary(binds + 1))?;
            left = Tree::Binary(*with, left.into(), right.into());
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Tree, EvaluateError> {
        if let Token::Sign(sign) = *self.token()
            && let Some((_, with)) = UNARY.iter().find(|(known, _)| *known == sign)
        {
            self.at += 1;
            let operand = self.nested(Self::unary)?;
            return Ok(Tree::Unary(*with, operand.into()));
        }
        if matches!(self.token(), Token::Sign("("))
            && let Some((ty, end)) = self.type_in("(", ")")
        {
            self.at = end;
            let operand = self.nested(Self::unary)?;
            return Ok(Tree::Cast(ty, operand.into()));
        }
        self.postfix()
    }

    /// A type between two signs from here on, and the token after it.
    fn type_in(&self, open: &str, close: &str) -> Option<(Type, usize)> {
        let is = |at: usize, sign: &str| matches!(self.tokens.get(at), Some((_, Token::Sign(next))) if *next == sign);
        if !is(self.at, open) {
            return None;
        }
        let first = self.at + 1;
        let mut last = first;
        // a name, templates with their arguments, then stars
        let mut angles = 0_usize;
        while let Some((_, token)) = self.tokens.get(last) {
            match token {
                Token::Name(_) | Token::Sign("::") => {}
                Token::Sign("<") if close != ">" => angles += 1,
                Token::Sign(">") if angles > 0 => angles -= 1,
                Token::Sign(">>") if angles > 1 => angles -= 2,
                Token::Number(_) | Token::Sign("," | "*" | "&") if angles > 0 => {}
                _ => break,
            }
            last += 1;
        }
        let text = self.text.get(self.tokens.get(first)?.0..self.tokens.get(last)?.0)?.trim();
        let mut ty = (self.type_named)(text)?;
        while is(last, "*")
            || matches!(self.tokens.get(last), Some((_, Token::Name(name))) if name == "const")
        {
            if is(last, "*") {
                ty = Type::Pointer(ty.into());
            }
            last += 1;
        }
        is(last, close).then_some((ty, last + 1))
    }

    fn postfix(&mut self) -> Result<Tree, EvaluateError> {
        let mut tree = self.primary()?;
        loop {
            tree = if self.takes(".") {
                self.member(tree, Tree::Member)?
            } else if self.takes("->") {
                self.member(tree, Tree::Arrow)?
            } else if self.takes("[") {
                let index = self.choice()?;
                self.expect("]")?;
                Tree::Index(tree.into(), index.into())
            } else {
                return Ok(tree);
            };
        }
    }

    /// A member of `of`, or a call of one.
    fn member(&mut self, of: Tree, plain: fn(Box<Tree>, String) -> Tree) -> Result<Tree, EvaluateError> {
        let name = self.name()?;
        if !self.takes("(") {
            return Ok(plain(of.into(), name));
        }
        let mut arguments = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.choice()?);
        }
        Ok(Tree::Call(of.into(), name, arguments))
    }

    fn primary(&mut self) -> Result<Tree, EvaluateError> {
        if self.takes("(") {
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Token::Number(scalar) = *self.token() {
            self.at += 1;
            return Ok(Tree::Number(scalar));
        }
        let mut name = if self.takes("::") { "::".to_owned() } else { String::new() };
        let first = self.at;
        name += &self.name()?;
        if name == "sizeof"
            && let Some((ty, end)) = self.type_in("(", ")")
        {
            self.at = end;
            return Ok(Tree::SizeOf(ty));
        }
        if CASTS.contains(&name.as_str())
            && let Some((ty, end)) = self.type_in("<", ">")
        {
            self.at = end;
            self.expect("(")?;
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(Tree::Cast(ty, inner.into()));
        }
        while self.takes("::") {
            name = name + "::" + &self.name()?;
        }
        // a cast as a call: float(x)
        if matches!(self.token(), Token::Sign("(")) {
            let Some(ty) = (self.type_named)(&name) else {
                self.at = first;
                return Err(self.wrong("functions are not called here"));
            };
            self.at += 1;
            let inner = self.choice()?;
            self.expect(")")?;
            return Ok(Tree::Cast(ty, inner.into()));
        }
        Ok(Tree::Name(name))
    }
}
