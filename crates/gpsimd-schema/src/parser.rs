//! Tokens to a function schema, by recursive descent; one function a rule.
//!
//! The grammar is PyTorch's (its schema parser and `torchgen` agree on it), plus `long long` (spec codegen.md §10 D4).
//! Unaware of devices: accepts everything PyTorch prints, `lower` refuses what cannot run.

use crate::ast::{DefaultValue, FunctionSchema, OpName, Parameter, Return, Returns};
use crate::error::{SchemaError, SyntaxError};
use crate::lexer::{self, Kind, Token};
use crate::literal::{Literal, Quoted};
use crate::span::{Ident, Span};
use crate::type_parser;
use crate::types::Type;

/// Deepest nesting of types and of list values.
pub const MAX_DEPTH: usize = 32;

/// Parses one schema.
///
/// ```
/// let schema = gpsimd_schema::parse("my::scale( Tensor a,float s ) -> (Tensor r)")?;
/// assert_eq!(schema.to_string(), "my::scale(Tensor a, float s) -> (Tensor r)");
/// # Ok::<(), gpsimd_schema::SchemaError>(())
/// ```
///
/// # Errors
/// The first place where the text stops being a schema.
pub fn parse(text: &str) -> Result<FunctionSchema, SchemaError> {
    let attempt = || {
        let mut parser = Parser { text, tokens: lexer::tokens(text)?, next: 0 };
        let schema = parser.schema()?;
        parser.end()?;
        Ok(schema)
    };
    attempt().map_err(|cause| SchemaError { text: text.to_owned(), cause })
}

type Parsed<T> = Result<T, SyntaxError>;

pub(crate) struct Parser<'a> {
    pub text: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

impl Parser<'_> {
    /// Where the last taken token stands.
    pub fn previous(&self) -> Span {
        self.tokens.get(self.next.saturating_sub(1)).map_or(Span::default(), |token| token.span)
    }

    /// The token `ahead` places on; `End` for ever at the end.
    pub fn look(&self, ahead: usize) -> Token {
        let end = Span::new(self.text.len(), self.text.len());
        self.tokens.get(self.next + ahead).copied().unwrap_or(Token { kind: Kind::End, span: end })
    }

    pub fn at(&self, kind: Kind) -> bool {
        self.look(0).kind == kind
    }

    pub fn advance(&mut self) -> Token {
        let token = self.look(0);
        if token.kind != Kind::End {
            self.next += 1;
        }
        token
    }

    /// Takes the next token if it is of this kind.
    pub fn take(&mut self, kind: Kind) -> Option<Span> {
        self.at(kind).then(|| self.advance().span)
    }

    pub fn source(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    pub fn expected(&self, wanted: &'static str, help: &'static str) -> SyntaxError {
        let token = self.look(0);
        let found = match token.kind {
            Kind::End => "the end".to_owned(),
            _ => format!("`{}`", self.source(token.span)),
        };
        SyntaxError::Expected { wanted, found, at: token.span, help }
    }

    pub fn expect(&mut self, kind: Kind, wanted: &'static str, help: &'static str) -> Parsed<Span> {
        self.take(kind).ok_or_else(|| self.expected(wanted, help))
    }

    pub fn ident(&mut self, wanted: &'static str, help: &'static str) -> Parsed<Ident> {
        let span = self.expect(Kind::Ident, wanted, help)?;
        Ok(Ident { text: self.source(span).to_owned(), span })
    }

    /// `( item, item, … )`; gives the span of the whole.
    pub fn list(
        &mut self,
        (open, close): (Kind, Kind),
        wanted: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<Span> {
        let (opener, after_item) = match open {
            Kind::LParen => ("`(`", "`,` or `)`"),
            _ => ("`[`", "`,` or `]`"),
        };
        let start = self.expect(open, opener, "a schema reads `namespace::op(Tensor a) -> (Tensor out)`")?;
        if let Some(end) = self.take(close) {
            return Ok(start.to(end));
        }
        loop {
            if matches!(self.look(0).kind, Kind::Comma | Kind::End) || self.at(close) {
                return Err(self.expected(wanted, "a comma separates two entries"));
            }
            item(self)?;
            if let Some(end) = self.take(close) {
                return Ok(start.to(end));
            }
            self.expect(Kind::Comma, after_item, "entries are separated by a comma")?;
        }
    }

    // ns::name.overload(params) -> returns
    fn schema(&mut self) -> Parsed<FunctionSchema> {
        let name = self.op_name()?;
        let (params, vararg) = self.params()?;
        self.expect(Kind::Arrow, "`->`", "say what the op returns: `-> (Tensor out)`")?;
        let returns = self.returns()?;
        Ok(FunctionSchema { name, params, vararg, returns })
    }

    fn end(&self) -> Parsed<()> {
        if self.at(Kind::End) {
            return Ok(());
        }
        Err(self.expected(
            "the end of the schema",
            "several returned values need parentheses: `-> (Tensor a, Tensor b)`",
        ))
    }

    fn op_name(&mut self) -> Parsed<OpName> {
        const HELP: &str = "a schema starts with the op's name: `namespace::op(`";
        let first = self.ident("the op's name", HELP)?;
        let (namespace, name) = match self.take(Kind::ColonColon) {
            Some(_) => (Some(first), self.ident("the op's name", HELP)?),
            None => (None, first),
        };
        if let (Some(outer), Some(at)) = (&namespace, self.take(Kind::ColonColon)) {
            let name = format!("{}::{}::", outer.text, name.text);
            return Err(SyntaxError::NestedNamespace { name, outer: outer.text.clone(), at });
        }
        let mut overload = None;
        if self.take(Kind::Dot).is_some() {
            let name = self.ident("the overload's name", "an overload reads `namespace::op.overload(`")?;
            if name.text == "default" || name.text.starts_with("__") {
                return Err(SyntaxError::ReservedOverload { name: name.text, at: name.span });
            }
            overload = Some(name);
        }
        Ok(OpName { namespace, name, overload })
    }

    fn params(&mut self) -> Parsed<(Vec<Parameter>, Option<Span>)> {
        let mut params: Vec<Parameter> = Vec::new();
        let mut star: Option<Span> = None;
        let mut vararg: Option<Span> = None;
        self.list((Kind::LParen, Kind::RParen), "a parameter", |p| {
            if let Some(at) = vararg {
                return Err(SyntaxError::VarargNotLast { at });
            }
            if let Some(at) = p.take(Kind::Ellipsis) {
                vararg = Some(at);
                return Ok(());
            }
            if let Some(at) = p.take(Kind::Star) {
                if star.is_some() {
                    return Err(SyntaxError::SecondStar { at });
                }
                star = Some(at);
                return Ok(());
            }
            params.push(p.param(star.is_some())?);
            Ok(())
        })?;
        match star {
            Some(at) if !params.iter().any(|param| param.is_keyword_only) => {
                Err(SyntaxError::StarLast { at })
            }
            _ => Ok((params, vararg)),
        }
    }

    fn param(&mut self, is_keyword_only: bool) -> Parsed<Parameter> {
        let ty = self.ty()?;
        let name =
            self.ident("the parameter's name", "a parameter reads `Tensor a`: its type, then its name")?;
        let default = match self.take(Kind::Equals) {
            Some(_) => Some(self.default_value()?),
            None => None,
        };
        Ok(Parameter { ty, name, default, is_keyword_only })
    }

    fn ty(&mut self) -> Parsed<Type> {
        type_parser::parse(self)
    }

    // -> Tensor | -> (Tensor a, Tensor b) | -> () | -> ...
    fn returns(&mut self) -> Parsed<Returns> {
        let mut items = Vec::new();
        let mut vararg: Option<Span> = None;
        let start = self.look(0).span;
        let is_parenthesised = self.at(Kind::LParen);
        if is_parenthesised {
            let span = self.list((Kind::LParen, Kind::RParen), "a type", |p| {
                if let Some(at) = vararg {
                    return Err(SyntaxError::VarargNotLast { at });
                }
                match p.take(Kind::Ellipsis) {
                    Some(at) => vararg = Some(at),
                    None => items.push(p.returned()?),
                }
                Ok(())
            })?;
            return Ok(Returns { items, vararg, is_parenthesised, span });
        }
        vararg = self.take(Kind::Ellipsis);
        if vararg.is_none() {
            items.push(self.returned()?);
        }
        Ok(Returns { items, vararg, is_parenthesised, span: start.to(self.previous()) })
    }

    fn returned(&mut self) -> Parsed<Return> {
        let ty = self.ty()?;
        let name = self.take(Kind::Ident);
        let name = name.map(|span| Ident { text: self.source(span).to_owned(), span });
        Ok(Return { ty, name })
    }

    fn default_value(&mut self) -> Parsed<DefaultValue> {
        let start = self.look(0).span;
        let value = self.literal(1)?;
        Ok(DefaultValue { value, span: start.to(self.previous()) })
    }

    fn literal(&mut self, depth: usize) -> Parsed<Literal> {
        let token = self.look(0);
        if token.kind == Kind::LBracket {
            if depth >= MAX_DEPTH {
                return Err(SyntaxError::TooDeep { allowed: MAX_DEPTH, at: token.span });
            }
            let mut items = Vec::new();
            self.list((Kind::LBracket, Kind::RBracket), "a value", |p| {
                items.push(p.literal(depth + 1)?);
                Ok(())
            })?;
            return Ok(Literal::List(items));
        }
        let sign = if self.take(Kind::Minus).is_some() { "-" } else { "" };
        let token = self.look(0);
        let text = self.source(token.span);
        let number = || format!("{sign}{text}");
        let literal = match token.kind {
            Kind::Int => Literal::Int(number()),
            Kind::Float => Literal::Float(number()),
            Kind::Imaginary => Literal::Imaginary(number()),
            _ if !sign.is_empty() => return Err(self.expected("a number", "`-` stands before numbers only")),
            Kind::Str => {
                let quote = text.chars().next().unwrap_or('"');
                let body = text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned();
                Literal::Str(Quoted { quote, body })
            }
            Kind::Ident => match text {
                "None" => Literal::None,
                "True" => Literal::Bool(true),
                "False" => Literal::Bool(false),
                word => Literal::Word(word.to_owned()),
            },
            _ => {
                return Err(self.expected(
                    "a default value",
                    "a default reads `1`, `0.5`, `True`, `None`, `\"text\"`, `[0, 1]` or a name such as `Mean`",
                ));
            }
        };
        self.advance();
        Ok(literal)
    }
}
