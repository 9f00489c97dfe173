//! Tokens of an expression, with the column of each.
//!
//! Unaware of grammar.

use crate::error::EvaluateError;
use crate::numbers::Scalar;
use crate::types::Number;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(Scalar),
    Sign(&'static str),
    End,
}

/// Signs, longer ones first.
const SIGNS: &[&str] = &[
    "->", "::", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/", "%", "&", "|", "^", "~",
    "!", "<", ">", "(", ")", "[", "]", ".", ",", "?", ":",
];

fn wrong(text: &str, at: usize, what: String) -> EvaluateError {
    let column = text.get(..at).unwrap_or(text).chars().count() + 1;
    EvaluateError::Syntax { text: text.to_owned(), column, what }
}

/// Reads an expression; each token with the byte that it starts at.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, EvaluateError> {
    if text.len() > super::MAX_TEXT {
        let shown: String = text.chars().take(40).collect();
        let what = format!("more than {} characters", super::MAX_TEXT);
        return Err(EvaluateError::Syntax { text: shown + "…", column: super::MAX_TEXT, what });
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let len = number_len(rest);
            let number = number(&rest[..len])
                .ok_or_else(|| wrong(text, at, format!("`{}` is no number", &rest[..len])))?;
            found.push((start, Token::Number(number)));
            at += len;
        } else if first == '\'' {
            let (scalar, len) = character(rest).ok_or_else(|| wrong(text, at, "no character".to_owned()))?;
            found.push((start, Token::Number(scalar)));
            at += len;
        } else if first.is_alphabetic() || first == '_' || first == '$' {
            let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
            let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            found.push((start, Token::Name(rest[..len].to_owned())));
            at += len;
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| wrong(text, at, format!("`{first}` is not understood")))?;
            found.push((start, Token::Sign(sign)));
            at += sign.len();
        }
    }
    found.push((text.len(), Token::End));
    Ok(found)
}

/// The characters that may belong to a number: digits, a point, an exponent with its sign, suffixes.
fn number_len(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut before = ' ';
    let end = text.find(|c: char| {
        let is_sign_of_exponent = (c == '+' || c == '-') && matches!(before, 'e' | 'E') && !is_hex;
        let is_part = c.is_ascii_alphanumeric() || c == '.' || c == '\'' || is_sign_of_exponent;
        before = c;
        !is_part
    });
    end.unwrap_or(text.len())
}

fn number(text: &str) -> Option<Scalar> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0b", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return integer(digits, radix);
        }
    }
    if text.contains('.') || text.contains('e') || (text.ends_with('f') && text.len() > 1) {
        let (digits, is_float) = match text.strip_suffix('f') {
            Some(digits) => (digits, true),
            None => (text.strip_suffix('l').unwrap_or(&text), false),
        };
        let value: f64 = digits.parse().ok()?;
        return Some(match is_float {
            // rounds once
            true => Scalar::new(Number::FLOAT, digits.parse::<f32>().ok()?.to_bits().into()),
            false => Scalar::float(value),
        });
    }
    match text.strip_prefix('0') {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => integer(digits, 8),
        _ => integer(&text, 10),
    }
}

/// An integer with its suffix, of the first type that holds it.
fn integer(text: &str, radix: u32) -> Option<Scalar> {
    let digits = text.trim_end_matches(['u', 'l']);
    let suffix = &text[digits.len()..];
    if suffix.len() > 3 {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let (is_unsigned, is_long) = (suffix.contains('u'), suffix.contains("ll"));
    let fits = [
        (!is_unsigned && !is_long && value <= i32::MAX as u64, Number::INT),
        ((is_unsigned || radix != 10) && !is_long && value <= u32::MAX.into(), Number::UNSIGNED),
        (!is_unsigned && value <= i64::MAX as u64, Number::LONG),
    ];
    let number = fits.iter().find(|(fits, _)| *fits).map_or(Number::UNSIGNED_LONG, |(_, number)| *number);
    Some(Scalar::new(number, value))
}

/// A character in quotes, and the bytes that it takes.
fn character(text: &str) -> Option<(Scalar, usize)> {
    let inside = text.strip_prefix('\'')?;
    let (code, len) = match inside.strip_prefix('\\') {
        Some(escaped) => {
            let code = match escaped.chars().next()? {
                'n' => 10,
                't' => 9,
                'r' => 13,
                '0' => 0,
                other @ ('\\' | '\'' | '"') => other as u8,
                _ => return None,
            };
            (code, 2)
        }
        None => (u8::try_from(inside.chars().next().filter(char::is_ascii)?).ok()?, 1),
    };
    inside.get(len..)?.starts_with('\'').then(|| (Scalar::new(Number::CHAR, code.into()), len + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_cpp() {
        let rows = [
            ("12", "int 12"),
            ("0x10", "int 16"),
            ("0xffffffff", "unsigned int 4294967295"),
            ("4294967295", "long long 4294967295"),
            ("5u", "unsigned int 5"),
            ("5LL", "long long 5"),
            ("1'000", "int 1000"),
            ("017", "int 15"),
            ("1.5", "double 1.5"),
            ("1.5f", "float 1.5"),
            (".5", "double 0.5"),
            ("1e-3", "double 0.001"),
            ("'a'", "char 97 'a'"),
            ("'\\n'", "char 10 '\\n'"),
        ];
        for (text, want) in rows {
            let found = tokens(text).expect(text);
            let [(0, Token::Number(scalar)), (_, Token::End)] = found.as_slice() else {
                panic!("{text}: {found:?}")
            };
            assert_eq!(format!("{} {}", scalar.number.name(), scalar.text()), want);
        }
        for text in ["0x", "1ulull", "12abc", "''", "1.2.3", "\"a\"", "@"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }
}
