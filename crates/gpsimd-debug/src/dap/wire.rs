//! Messages of the Debug Adapter Protocol on a stream: a length, an empty line, JSON.
//!
//! Unaware of what they ask for.

use std::io::{BufRead, Read as _, Write};

use miette::Diagnostic;
use serde::Serialize;
use serde_json::{Value, json};

/// Longest message that is read.
const LONGEST: usize = 64 << 20;
/// Longest line of a header.
const LONGEST_LINE: u64 = 1024;

/// Why a conversation with an editor breaks off.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum WireError {
    /// Nobody is at the other end any more.
    #[error("the stream to the editor has failed: {0}")]
    #[diagnostic(code(debug::stream), help("see whether the program at the other end is still there"))]
    Stream(#[from] std::io::Error),
    /// A header without a length.
    #[error("a message without Content-Length")]
    #[diagnostic(
        code(debug::no_length),
        help("begin each message with `Content-Length: N` and an empty line")
    )]
    NoLength,
    /// A length that is none, or too large.
    #[error("a message with the Content-Length {text:?}, which is no number up to {LONGEST}")]
    #[diagnostic(code(debug::length), help("give the length of the JSON behind the empty line, in bytes"))]
    Length {
        /// As read.
        text: String,
    },
    /// Less than its length says.
    #[error("a message ends after {found} of {len} bytes")]
    #[diagnostic(code(debug::cut), help("see whether the program at the other end is still there"))]
    Cut {
        /// Bytes that came.
        found: usize,
        /// Bytes that were announced.
        len: usize,
    },
    /// No JSON.
    #[error("a message is no JSON: {0}")]
    #[diagnostic(code(debug::message), help("write each message as one JSON object in UTF-8"))]
    Message(#[from] serde_json::Error),
}

/// What becomes of reading or writing messages.
pub(super) type Result<T> = std::result::Result<T, WireError>;

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    /// Its number.
    pub seq: i64,
    /// What is asked for.
    pub command: String,
    /// With what.
    pub arguments: Value,
}

/// The next request; none at the end of the stream. What is no request is passed over.
pub(super) fn read(input: &mut impl BufRead) -> Result<Option<Request>> {
    loop {
        let Some(len) = length(input)? else { return Ok(None) };
        // not made before it is there: anybody can announce much
        let mut bytes = Vec::new();
        let found = input.by_ref().take(len as u64).read_to_end(&mut bytes)?;
        if found < len {
            return Err(WireError::Cut { found, len });
        }
        let message: Value = serde_json::from_slice(&bytes)?;
        let command = message.get("command").and_then(Value::as_str).unwrap_or_default();
        if message.get("type").and_then(Value::as_str) == Some("request") && !command.is_empty() {
            let seq = message.get("seq").and_then(Value::as_i64).unwrap_or(0);
            let arguments = message.get("arguments").cloned().unwrap_or_else(|| json!({}));
            return Ok(Some(Request { seq, command: command.to_owned(), arguments }));
        }
    }
}

/// The length that the header says; none at the end of the stream.
fn length(input: &mut impl BufRead) -> Result<Option<usize>> {
    let mut found = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return found.ok_or(WireError::NoLength).map(Some);
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            let len = value.trim().parse().ok().filter(|len| *len <= LONGEST);
            found = Some(len.ok_or_else(|| WireError::Length { text: value.trim().to_owned() })?);
        }
    }
}

/// What is said to the client, numbered.
pub(super) struct Output<'o> {
    stream: &'o mut dyn Write,
    seq: i64,
}

impl<'o> Output<'o> {
    pub fn new(stream: &'o mut dyn Write) -> Output<'o> {
        Output { stream, seq: 0 }
    }

    fn send(&mut self, mut message: Value) -> Result<()> {
        self.seq += 1;
        message["seq"] = self.seq.into();
        let text = message.to_string();
        write!(self.stream, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        Ok(self.stream.flush()?)
    }

    /// Something happened.
    pub fn event(&mut self, event: &str, body: impl Serialize) -> Result<()> {
        self.send(json!({ "type": "event", "event": event, "body": serde_json::to_value(body)? }))
    }

    /// What a request asked for.
    pub fn answer(&mut self, request: &Request, body: Value) -> Result<()> {
        let Request { seq, command, .. } = request;
        self.send(json!({
            "type": "response", "request_seq": seq, "success": true, "command": command, "body": body
        }))
    }

    /// Why a request is not carried out.
    pub fn refuse(&mut self, request: &Request, code: &str, text: &str) -> Result<()> {
        let Request { seq, command, .. } = request;
        let error = json!({ "id": 1, "format": text, "showUser": true, "variables": { "code": code } });
        self.send(json!({
            "type": "response", "request_seq": seq, "success": false, "command": command, "message": text,
            "body": { "error": error }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_and_damaged_ones_are_refused() {
        let message = r#"{"seq":3,"type":"request","command":"threads"}"#;
        let text = format!("content-length: {}\r\nContent-Type: x\r\n\r\n{message}", message.len());
        let request = read(&mut text.as_bytes()).unwrap().unwrap();
        assert_eq!((request.seq, request.command.as_str()), (3, "threads"));
        assert_eq!(read(&mut "".as_bytes()).unwrap(), None);
        let rows = [
            ("\r\n", "debug::no_length"),
            ("Content-Length: x\r\n\r\n", "debug::length"),
            ("Content-Length: 99999999999\r\n\r\n", "debug::length"),
            ("Content-Length: 60000000\r\n\r\n{}", "debug::cut"),
            ("Content-Length: 2\r\n\r\n{]", "debug::message"),
        ];
        for (damaged, code) in rows {
            let error = read(&mut damaged.as_bytes()).unwrap_err();
            assert_eq!(error.code().map(|code| code.to_string()).as_deref(), Some(code), "{damaged}");
        }
    }
}
