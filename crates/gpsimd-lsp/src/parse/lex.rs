//! Words, quoted strings and punctuation of a memory map, each with its place. Unaware of grammar.

use miette::SourceSpan;

use crate::error::MapError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Quoted,
    Punctuation,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Byte offset of `text`.
    pub start: usize,
    pub line: usize,
}

impl Token<'_> {
    pub fn span(&self) -> SourceSpan {
        (self.start, self.text.len()).into()
    }

    pub fn unexpected(&self, expected: &'static str) -> MapError {
        MapError::Syntax { expected, found: format!("`{}`", self.text), at: self.span() }
    }

    pub fn keyword(&self, what: &'static str, known: &'static str) -> MapError {
        MapError::Keyword { what, found: self.text.to_owned(), known, at: self.span() }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> Lexer<'t> {
    pub fn new(text: &'t str) -> Lexer<'t> {
        Lexer { text, at: 0, line: 1 }
    }

    /// An empty span where the text ends.
    pub fn end(&self) -> SourceSpan {
        (self.text.len(), 0).into()
    }

    pub fn peek(&self) -> Result<Option<Token<'t>>, MapError> {
        let mut ahead = *self;
        ahead.next()
    }

    /// Takes the next token if it reads `text`.
    pub fn skip_if(&mut self, text: &str) -> Result<bool, MapError> {
        let found = self.peek()?.is_some_and(|token| token.text == text);
        if found {
            self.next()?;
        }
        Ok(found)
    }

    pub fn next(&mut self) -> Result<Option<Token<'t>>, MapError> {
        self.skip_blank();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        let (kind, skip, len) = match first {
            '"' => {
                let body = rest.get(1..).unwrap_or_default();
                let Some(len) = body.find(['"', '\n']).filter(|&i| body[i..].starts_with('"')) else {
                    let found = "a quote that the line does not close".to_owned();
                    return Err(MapError::Syntax { expected: "`\"…\"`", found, at: (self.at, 1).into() });
                };
                (Kind::Quoted, 1, len)
            }
            c if is_punctuation(c) => (Kind::Punctuation, 0, 1),
            _ => {
                let stops = |c: char| c.is_whitespace() || is_punctuation(c) || c == '"';
                let end = rest.find(stops).unwrap_or(rest.len());
                // A comment may follow a word without a space.
                (Kind::Word, 0, rest[..end].find("//").unwrap_or(end))
            }
        };
        let start = self.at + skip;
        let token = Token { kind, text: &self.text[start..start + len], start, line: self.line };
        self.at = start + len + skip;
        Ok(Some(token))
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(first) = rest.chars().next() else { return };
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if first.is_whitespace() {
                self.line += usize::from(first == '\n');
                self.at += first.len_utf8();
            } else {
                return;
            }
        }
    }
}

fn is_punctuation(c: char) -> bool {
    matches!(c, ':' | ';' | ',' | '=' | '(' | ')')
}
