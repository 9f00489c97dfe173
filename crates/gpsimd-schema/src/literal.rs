//! Default values.
//!
//! Kept as written, so that printing gives back the same digits and quotes; the accessors give the value.
//! Unaware of the type of the parameter they belong to.

use serde::Serialize;
use std::fmt;

/// A default value, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum Literal {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer: an optional `-`, then digits.
    Int(String),
    /// A number with a fraction or an exponent.
    Float(String),
    /// A number with the suffix `j`.
    Imaginary(String),
    /// A quoted string.
    Str(Quoted),
    /// A bare word, which names a value of an enumeration: `Mean`, `contiguous_format`, `long`.
    Word(String),
    /// `[a, b, …]`.
    List(Vec<Literal>),
}

/// A quoted string: what stands between the quotes, and which quotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Quoted {
    /// `'` or `"`.
    pub quote: char,
    /// The text between the quotes, escapes not resolved.
    pub body: String,
}

impl Literal {
    /// The value of an integer that fits 64 bits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Literal::Int(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The value of an integer or a floating-point number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Literal::Int(text) | Literal::Float(text) => text.parse().ok(),
            _ => None,
        }
    }
}

impl Quoted {
    /// The string meant, with escapes (`\n`, `\'`, `\x41`, `\101`, …) resolved. An unknown escape stands for itself.
    pub fn value(&self) -> String {
        let mut value = String::with_capacity(self.body.len());
        let mut rest = self.body.chars();
        while let Some(c) = rest.next() {
            if c != '\\' {
                value.push(c);
                continue;
            }
            match rest.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('r') => value.push('\r'),
                Some('a') => value.push('\x07'),
                Some('b') => value.push('\x08'),
                Some('f') => value.push('\x0c'),
                Some('v') => value.push('\x0b'),
                Some(c @ ('\\' | '\'' | '"')) => value.push(c),
                Some('x') => match take_code(&mut rest, 2, 16) {
                    Some(code) => value.push(char::from(code)),
                    None => value.push_str("\\x"),
                },
                Some(c @ '0'..='7') => {
                    let mut digits = std::iter::once(c).chain(rest.clone());
                    match take_code(&mut digits, 3, 8) {
                        Some(code) => {
                            value.push(char::from(code));
                            _ = rest.by_ref().nth(1);
                        }
                        None => value.extend(['\\', c]),
                    }
                }
                Some(c) => value.extend(['\\', c]),
                None => value.push('\\'),
            }
        }
        value
    }
}

/// Reads exactly `count` digits; consumes nothing unless all are there and fit a byte.
fn take_code(chars: &mut (impl Iterator<Item = char> + Clone), count: usize, radix: u32) -> Option<u8> {
    let digits: String = chars.clone().take(count).collect();
    if digits.len() != count || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let code = u8::from_str_radix(&digits, radix).ok()?;
    _ = chars.nth(count - 1);
    Some(code)
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Literal::None => f.write_str("None"),
            Literal::Bool(true) => f.write_str("True"),
            Literal::Bool(false) => f.write_str("False"),
            Literal::Int(text) | Literal::Float(text) | Literal::Imaginary(text) | Literal::Word(text) => {
                f.write_str(text)
            }
            Literal::Str(Quoted { quote, body }) => write!(f, "{quote}{body}{quote}"),
            Literal::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        assert_eq!(Literal::Int("-1".into()).as_i64(), Some(-1));
        assert_eq!(Literal::Int("9223372036854775808".into()).as_i64(), None);
        assert_eq!(Literal::Float("1e-05".into()).as_f64(), Some(1e-5));
        assert_eq!(Literal::Float(".5".into()).as_f64(), Some(0.5));
        assert_eq!(Literal::Bool(true).as_f64(), None);
    }

    #[test]
    fn escapes() {
        for (body, want) in [
            ("plain", "plain"),
            (r"a\nb", "a\nb"),
            (r#"\"\'\\"#, "\"'\\"),
            (r"\x41\101", "AA"),
            (r"\xg1", r"\xg1"),
            (r"\x+1", r"\x+1"),
            (r"\x", r"\x"),
            (r"\777", r"\777"),
            (r"\12", r"\12"),
            (r"\q", r"\q"),
            (r"é\té", "é\té"),
        ] {
            assert_eq!(Quoted { quote: '\'', body: body.into() }.value(), want, "{body}");
        }
    }
}
