//! A function schema as written: name, parameters, returns.
//!
//! Unaware of the text it came from beyond spans, and of what a device can do.

use crate::literal::Literal;
use crate::span::{Ident, Span};
use crate::types::Type;
use serde::Serialize;

/// A PyTorch function schema.
///
/// `Display` prints it with canonical spacing; nothing else of the text changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionSchema {
    /// The operator's name.
    pub name: OpName,
    /// The parameters, in order; keyword-only ones last.
    pub params: Vec<Parameter>,
    /// `...` at the end of the parameters, where it was written.
    #[serde(rename = "is_vararg", serialize_with = "is_some")]
    pub vararg: Option<Span>,
    /// What the op returns.
    pub returns: Returns,
}

/// `namespace::name.overload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpName {
    /// The library the op belongs to. PyTorch's own files leave it out.
    pub namespace: Option<Ident>,
    /// The op.
    pub name: Ident,
    /// Which of several ops of that name.
    pub overload: Option<Ident>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Its name.
    pub name: Ident,
    /// Its default value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<DefaultValue>,
    /// Whether it stands after `*`, and can only be passed by name.
    pub is_keyword_only: bool,
}

/// A default value and where it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct DefaultValue {
    /// The value.
    pub value: Literal,
    /// Where.
    #[serde(skip)]
    pub span: Span,
}

/// What stands after the arrow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Returns {
    /// The returned values, in order.
    pub items: Vec<Return>,
    /// `...` at the end of the values.
    #[serde(rename = "is_vararg", serialize_with = "is_some")]
    pub vararg: Option<Span>,
    /// Whether parentheses stand around them, which one value alone does not need.
    pub is_parenthesised: bool,
    /// Everything after the arrow.
    #[serde(skip)]
    pub span: Span,
}

/// One returned value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Return {
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Ident>,
}

impl Parameter {
    /// Where the parameter was written: from its type to its name or default.
    pub fn span(&self) -> Span {
        let end = self.default.as_ref().map_or(self.name.span, |default| default.span);
        self.ty.span.to(end)
    }
}

fn is_some<S: serde::Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(span.is_some())
}
