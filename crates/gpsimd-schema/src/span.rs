//! Where in a schema's text something was written.
//!
//! Unaware of what the text means; lexer, parser and lowering hand spans along.

use serde::{Serialize, Serializer};

/// A range of bytes of the schema text.
///
/// Two spans always compare equal: a span says where something was written, not what it is, so that two
/// schemas spelled with different spacing are the same schema.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Column of the first byte in `text`: counted in characters, from 1.
    pub fn column(self, text: &str) -> usize {
        text.char_indices().take_while(|(offset, _)| *offset < self.start).count() + 1
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

impl From<Span> for miette::SourceSpan {
    fn from(span: Span) -> miette::SourceSpan {
        (span.start, span.end.saturating_sub(span.start)).into()
    }
}

/// A name and where it was written. Serializes as the bare name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ident {
    /// The name: a letter or `_`, then letters, digits and `_`.
    pub text: String,
    /// Where it was written.
    pub span: Span,
}

impl Ident {
    /// A name that was not read from any text.
    pub fn new(text: impl Into<String>) -> Ident {
        Ident { text: text.into(), span: Span::default() }
    }
}

impl std::fmt::Display for Ident {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Ident {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_from_one() {
        assert_eq!(Span::new(0, 1).column("abc"), 1);
        assert_eq!(Span::new(3, 4).column("éab"), 3);
        assert_eq!(Span::new(99, 99).column("ab"), 3);
    }
}
