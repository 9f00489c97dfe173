//! Words and paths for `#[serde(with = "gpsimd_toolchain::text")]`: text where they are text, numbers of bytes where not.
//!
//! Unaware of what they mean. Nothing is lost: what is read is what was written.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

/// One word.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word {
    /// Of UTF-8.
    Text(String),
    /// Of other bytes.
    Bytes(Vec<u8>),
}

/// What consists of words.
pub trait Words: Sized {
    /// What is written for it.
    type Written: Serialize + DeserializeOwned;
    /// To write.
    fn written(&self) -> Self::Written;
    /// As read.
    fn read(written: Self::Written) -> Self;
}

impl Words for OsString {
    type Written = Word;
    fn written(&self) -> Word {
        match self.to_str() {
            Some(text) => Word::Text(text.to_owned()),
            None => Word::Bytes(self.as_bytes().to_vec()),
        }
    }
    fn read(written: Word) -> OsString {
        match written {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => OsString::from_vec(bytes),
        }
    }
}

impl Words for PathBuf {
    type Written = Word;
    fn written(&self) -> Word {
        self.as_os_str().to_owned().written()
    }
    fn read(written: Word) -> PathBuf {
        OsString::read(written).into()
    }
}

impl<W: Words> Words for Vec<W> {
    type Written = Vec<W::Written>;
    fn written(&self) -> Self::Written {
        self.iter().map(W::written).collect()
    }
    fn read(written: Self::Written) -> Self {
        written.into_iter().map(W::read).collect()
    }
}

impl<W: Words> Words for Option<W> {
    type Written = Option<W::Written>;
    fn written(&self) -> Self::Written {
        self.as_ref().map(W::written)
    }
    fn read(written: Self::Written) -> Self {
        written.map(W::read)
    }
}

impl<A: Words, B: Words> Words for (A, B) {
    type Written = (A::Written, B::Written);
    fn written(&self) -> Self::Written {
        (self.0.written(), self.1.written())
    }
    fn read(written: Self::Written) -> Self {
        (A::read(written.0), B::read(written.1))
    }
}

/// For serde.
///
/// # Errors
/// The serializer's own.
pub fn serialize<W: Words, S: Serializer>(words: &W, serializer: S) -> Result<S::Ok, S::Error> {
    words.written().serialize(serializer)
}

/// For serde.
///
/// # Errors
/// Something else stands there.
pub fn deserialize<'de, W: Words, D: Deserializer<'de>>(deserializer: D) -> Result<W, D::Error> {
    W::Written::deserialize(deserializer).map(W::read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;

    #[test]
    fn every_word_reads_back() {
        let odd = OsString::from_vec(vec![b'a', 0xff]);
        let command = Command::new(odd.clone()).arg("plain").arg(odd.clone()).env("K", odd);
        let text = serde_json::to_string(&command).unwrap();
        assert_eq!(text, r#"{"program":[97,255],"args":["plain",[97,255]],"env":[["K",[97,255]]]}"#);
        assert_eq!(serde_json::from_str::<Command>(&text).unwrap(), command);
    }
}
