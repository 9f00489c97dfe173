//! Schema text to tokens.
//!
//! Unaware of the grammar: knows only what a name, a number and a string look like.

use crate::error::SyntaxError;
use crate::span::Span;

/// Longest schema text read, in bytes. The longest of PyTorch's own is under 2 KiB.
pub const MAX_LEN: usize = 64 * 1024;

/// What kind of token, without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ident,
    Int,
    Float,
    /// A number with a `j` suffix.
    Imaginary,
    /// A quoted string, quotes included in the span.
    Str,
    ColonColon,
    Arrow,
    Ellipsis,
    LParen,
    RParen,
    LBracket,
    RBracket,
    Comma,
    Equals,
    Star,
    Bang,
    Bar,
    Question,
    Dot,
    Minus,
    End,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// Splits `text` into tokens, an `End` token last.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    if text.len() > MAX_LEN {
        return Err(SyntaxError::TooLong { found: text.len(), allowed: MAX_LEN, at: Span::new(0, 0) });
    }
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next()?;
        tokens.push(token);
        if token.kind == Kind::End {
            return Ok(tokens);
        }
    }
}

/// Symbols, longest first where one is a prefix of another.
const SYMBOLS: &[(&str, Kind)] = &[
    ("...", Kind::Ellipsis),
    ("::", Kind::ColonColon),
    ("->", Kind::Arrow),
    ("(", Kind::LParen),
    (")", Kind::RParen),
    ("[", Kind::LBracket),
    ("]", Kind::RBracket),
    (",", Kind::Comma),
    ("=", Kind::Equals),
    ("*", Kind::Star),
    ("!", Kind::Bang),
    ("|", Kind::Bar),
    ("?", Kind::Question),
    (".", Kind::Dot),
    ("-", Kind::Minus),
];

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn next(&mut self) -> Result<Token, SyntaxError> {
        self.skip(|c| c.is_ascii_whitespace());
        let start = self.at;
        let mut chars = self.rest().chars();
        let Some(first) = chars.next() else {
            return Ok(Token { kind: Kind::End, span: Span::new(start, start) });
        };
        let second = chars.next();
        let kind = match first {
            'a'..='z' | 'A'..='Z' | '_' => {
                self.skip(is_word);
                Kind::Ident
            }
            '0'..='9' => self.number()?,
            '.' if second.is_some_and(|c| c.is_ascii_digit()) => self.number()?,
            '\'' | '"' => self.string(first)?,
            _ => self.symbol(first)?,
        };
        Ok(Token { kind, span: Span::new(start, self.at) })
    }

    fn skip(&mut self, keep: impl Fn(char) -> bool) {
        let rest = self.rest();
        let len = rest.find(|c| !keep(c)).unwrap_or(rest.len());
        self.at += len;
    }

    fn symbol(&mut self, first: char) -> Result<Kind, SyntaxError> {
        let found = SYMBOLS.iter().find(|(symbol, _)| self.rest().starts_with(symbol));
        let Some((symbol, kind)) = found else {
            let at = Span::new(self.at, self.at + first.len_utf8());
            return Err(SyntaxError::UnexpectedCharacter { found: first, at });
        };
        self.at += symbol.len();
        Ok(*kind)
    }

    /// Digits, an optional fraction, an optional exponent, an optional `j`; at least one digit in all.
    fn number(&mut self) -> Result<Kind, SyntaxError> {
        let start = self.at;
        let mut kind = Kind::Int;
        self.skip(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') && !self.rest().starts_with("..") {
            kind = Kind::Float;
            self.at += 1;
            self.skip(|c| c.is_ascii_digit());
        }
        if self.rest().starts_with(['e', 'E']) {
            kind = Kind::Float;
            self.at += 1;
            if self.rest().starts_with(['+', '-']) {
                self.at += 1;
            }
            let digits = self.at;
            self.skip(|c| c.is_ascii_digit());
            if self.at == digits {
                return Err(self.bad_number(start));
            }
        }
        if self.rest().starts_with('j') {
            kind = Kind::Imaginary;
            self.at += 1;
        }
        if self.rest().starts_with(is_word) {
            return Err(self.bad_number(start));
        }
        Ok(kind)
    }

    fn bad_number(&mut self, start: usize) -> SyntaxError {
        self.skip(is_word);
        let found = self.text.get(start..self.at).unwrap_or_default().to_owned();
        SyntaxError::BadNumber { found, at: Span::new(start, self.at) }
    }

    /// To the closing quote; a backslash takes the next character with it.
    fn string(&mut self, quote: char) -> Result<Kind, SyntaxError> {
        let start = self.at;
        let mut chars = self.rest().char_indices().skip(1);
        let mut len = None;
        while let Some((offset, c)) = chars.next() {
            match c {
                '\\' => _ = chars.next(),
                '\n' => break,
                _ if c == quote => {
                    len = Some(offset + quote.len_utf8());
                    break;
                }
                _ => {}
            }
        }
        let Some(len) = len else {
            return Err(SyntaxError::UnterminatedString { quote, at: Span::new(start, self.text.len()) });
        };
        self.at += len;
        Ok(Kind::Str)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::Kind::*;
    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        tokens(text).expect(text).iter().map(|token| token.kind).collect()
    }

    #[test]
    fn numbers() {
        for (text, want) in [
            ("0", Int),
            ("12", Int),
            ("1.", Float),
            (".5", Float),
            ("1e-05", Float),
            ("1.5E+3", Float),
            ("2j", Imaginary),
            ("1.5e3j", Imaginary),
        ] {
            assert_eq!(kinds(text), [want, End], "{text}");
        }
        for text in ["1e", "1e+", "0x10", "1.2.3x", "3d", "1_000"] {
            assert!(tokens(text).is_err_and(|e| matches!(e, SyntaxError::BadNumber { .. })), "{text}");
        }
    }

    #[test]
    fn dots_arrows_and_minus_are_told_apart() {
        assert_eq!(kinds("f.out"), [Ident, Dot, Ident, End]);
        assert_eq!(kinds("..."), [Ellipsis, End]);
        assert_eq!(kinds("1...2"), [Int, Ellipsis, Int, End]);
        assert_eq!(kinds("-1->-2"), [Minus, Int, Arrow, Minus, Int, End]);
    }

    #[test]
    fn strings_keep_escaped_quotes() {
        assert_eq!(kinds(r#"'a\'b' "c\\""#), [Str, Str, End]);
        for text in ["'abc", r"'abc\'", "\"a\nb\"", "'"] {
            assert!(
                tokens(text).is_err_and(|e| matches!(e, SyntaxError::UnterminatedString { .. })),
                "{text}"
            );
        }
    }
}
