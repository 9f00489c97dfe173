//! Standard output and standard error: what is printed arrives or is an error, and what strangers wrote steers no terminal.
//!
//! Unaware of what is printed.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal as _, Write as _, stderr, stdout};

/// A result that did not arrive.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("cannot write to standard output: {0}")]
#[diagnostic(
    code(cli::output),
    help("see whether the disk that it goes to is full; nothing else was undone")
)]
pub struct OutputError(std::io::Error);

/// Prints a result. A reader that leaves early, as `head` does, is no failure, and changes no status.
///
/// # Errors
/// Not all of it could be written.
pub fn print(text: &str) -> Result<(), OutputError> {
    let text = if stdout().is_terminal() { escaped(text) } else { Cow::Borrowed(text) };
    print_raw(text.as_bytes())
}

/// Prints bytes as they are, terminal or not.
///
/// # Errors
/// Not all of them could be written.
pub fn print_raw(bytes: &[u8]) -> Result<(), OutputError> {
    let mut out = stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// What became of a write to standard output.
///
/// # Errors
/// It did not arrive.
pub fn written(result: std::io::Result<()>) -> Result<(), OutputError> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(OutputError(error)),
    }
}

/// Says something beside the result. Whether anybody hears it is not the tool's concern.
pub fn say(text: &str) {
    let text = if stderr().is_terminal() { escaped(text) } else { Cow::Borrowed(text) };
    say_raw(&text);
}

/// Says something whose control characters are the tool's own.
pub fn say_raw(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}

/// Text without what a terminal would obey: control characters become `\x1b`, and so do the marks that reorder text.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match (is_obeyed(letter), u32::from(letter)) {
            (false, _) => shown.push(letter),
            (true, code @ ..0x80) => shown += &format!("\\x{code:02x}"),
            (true, code) => shown += &format!("\\u{{{code:x}}}"),
        }
    }
    Cow::Owned(shown)
}

/// JSON text of the same value, without what a terminal would obey; `serde_json` leaves some of it in strings.
pub fn json_escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_obeyed(letter) {
            false => shown.push(letter),
            // none of them lies beyond the basic plane
            true => shown += &format!("\\u{:04x}", u32::from(letter)),
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal does something with the letter other than to show it where it is.
pub fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_spelled() {
        let rows = [
            ("plain text, ümlaut\n\tand tab", "plain text, ümlaut\n\tand tab"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("over\rwritten", "over\\x0dwritten"),
            ("c1 \u{9b}2J del \x7f", "c1 \\u{9b}2J del \\x7f"),
            ("bidi \u{202e}txt", "bidi \\u{202e}txt"),
        ];
        for (text, want) in rows {
            assert_eq!(escaped(text), want);
        }
    }

    #[test]
    fn json_keeps_its_value() {
        let value = serde_json::json!({ "a": "x\u{9b}\x7f\u{202e}\n\x1b" });
        let text = serde_json::to_string_pretty(&value).expect("JSON");
        let shown = json_escaped(&text);
        assert!(!shown.contains(is_obeyed), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }
}
