//! Messages of the Debug Adapter Protocol on a stream: a length, an empty line, JSON.
//!
//! Unaware of what they ask for.

use std::io::{BufRead, Error, ErrorKind, Result, Write};

use serde::Serialize;
use serde_json::{Value, json};

/// Longest message that is read.
const LONGEST: usize = 64 << 20;
/// Longest line of a header.
const LONGEST_LINE: u64 = 1024;

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
        let mut bytes = vec![0; len];
        input.read_exact(&mut bytes)?;
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
    let wrong = |what: &str| Error::new(ErrorKind::InvalidData, what.to_owned());
    let mut found = None;
    loop {
        let mut line = String::new();
        let read = std::io::Read::take(&mut *input, LONGEST_LINE).read_line(&mut line)?;
        if read == 0 {
            return Ok(None);
        }
        let line = line.trim();
        if line.is_empty() {
            let len: usize = found.ok_or_else(|| wrong("a message without Content-Length"))?;
            return if len <= LONGEST { Ok(Some(len)) } else { Err(wrong("a message that is too long")) };
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            found = Some(value.trim().parse().map_err(|_| wrong("a Content-Length that is no number"))?);
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
        self.stream.flush()
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
        for damaged in [
            "\r\n",
            "Content-Length: x\r\n\r\n",
            "Content-Length: 99999999999\r\n\r\n",
            "Content-Length: 2\r\n\r\n{",
        ] {
            assert!(read(&mut damaged.as_bytes()).is_err(), "{damaged}");
        }
    }
}
