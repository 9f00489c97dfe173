//! The header of a `.npy` file: a Python dictionary of three keys (numpy's NEP 1, versions 1.0 to 3.0).
//!
//! Read in one pass and without recursion, so that its cost is its length whatever is nested in it. Unaware of tensors.

/// What every file begins with, before the two bytes of the version.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header text read; numpy itself reads no longer one (`max_header_size`).
const LONGEST: usize = 10_000;
/// Data begins at a multiple of this.
const ALIGN: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
pub struct Header {
    /// Element type, such as `<f4`.
    pub descr: String,
    /// Whether the first dimension is the fastest.
    pub is_fortran: bool,
    /// Extents.
    pub shape: Vec<u64>,
    /// Where the data begins.
    pub len: usize,
}

/// Why there is no header to read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error("it does not begin as one")]
    Magic,
    #[error("version {major}.{minor} is not known; numpy writes 1.0 to 3.0")]
    Version { major: u8, minor: u8 },
    #[error("it ends after {found} bytes, inside its header")]
    Cut { found: usize },
    #[error("its header has {found} bytes, at most {LONGEST} are read")]
    Long { found: usize },
    #[error("its header is not text")]
    Encoding,
    #[error("its header has no {wanted} at byte {at}")]
    Syntax { at: usize, wanted: &'static str },
    #[error("its header lacks {key}")]
    Lacking { key: &'static str },
    #[error("its elements have parts")]
    Structured,
}

impl Header {
    /// Reads the header that `bytes` begin with.
    pub fn parse(bytes: &[u8]) -> Result<Header, HeaderError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(HeaderError::Magic)?;
        let cut = HeaderError::Cut { found: bytes.len() };
        let (size, before) = match rest {
            [1, 0, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), MAGIC.len() + 4),
            [2 | 3, 0, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, MAGIC.len() + 6),
            [1..=3, 0, ..] | [_] | [] => return Err(cut),
            [major, minor, ..] => return Err(HeaderError::Version { major: *major, minor: *minor }),
        };
        if size > LONGEST {
            return Err(HeaderError::Long { found: size });
        }
        let len = before + size;
        let text = bytes.get(before..len).ok_or(cut)?;
        let text = std::str::from_utf8(text).map_err(|_| HeaderError::Encoding)?;
        Scan { text, at: 0 }.dictionary(len)
    }

    /// The bytes of a header of version 1.0 for an array whose last dimension is the fastest.
    pub fn bytes(descr: &str, shape: &[u64]) -> Vec<u8> {
        let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
        // a tuple of one keeps its comma, a longer one does not need it
        let extents = if shape.len() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
        let before = MAGIC.len() + 4;
        let len = (before + text.len() + 1).next_multiple_of(ALIGN);
        let size = u16::try_from(len - before).unwrap_or(u16::MAX);
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend(size.to_le_bytes());
        bytes.extend(text.bytes());
        bytes.resize(len - 1, b' ');
        bytes.push(b'\n');
        bytes
    }
}

/// A place in the header's text.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn dictionary(mut self, len: usize) -> Result<Header, HeaderError> {
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        self.want("{", "dictionary")?;
        while !self.eats("}") {
            let key = self.string("key")?;
            self.want(":", "colon")?;
            match key {
                "descr" if self.rest().starts_with(['[', '(']) => return Err(HeaderError::Structured),
                "descr" => descr = Some(self.string("element type")?.to_owned()),
                "fortran_order" => is_fortran = Some(self.truth()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return Err(self.lacks("known key")),
            }
            if !self.eats(",") {
                self.want("}", "end of the dictionary")?;
                break;
            }
        }
        if !self.rest().is_empty() {
            return Err(self.lacks("end"));
        }
        Ok(Header {
            descr: descr.ok_or(HeaderError::Lacking { key: "descr" })?,
            is_fortran: is_fortran.ok_or(HeaderError::Lacking { key: "fortran_order" })?,
            shape: shape.ok_or(HeaderError::Lacking { key: "shape" })?,
            len,
        })
    }

    fn tuple(&mut self) -> Result<Vec<u64>, HeaderError> {
        let mut extents = Vec::new();
        self.want("(", "shape")?;
        while !self.eats(")") {
            let digits = self.rest();
            let count = digits.bytes().take_while(u8::is_ascii_digit).count();
            extents.push(digits[..count].parse().map_err(|_| self.lacks("extent"))?);
            self.at += count;
            // Python 2 marks long integers
            self.eats("L");
            if !self.eats(",") {
                self.want(")", "end of the shape")?;
                break;
            }
        }
        Ok(extents)
    }

    fn truth(&mut self) -> Result<bool, HeaderError> {
        if self.eats("True") {
            return Ok(true);
        }
        self.want("False", "True or False")?;
        Ok(false)
    }

    /// A string without escapes; no key or element type needs one.
    fn string(&mut self, wanted: &'static str) -> Result<&'t str, HeaderError> {
        let quote = if self.eats("'") { '\'' } else { '"' };
        if quote == '"' {
            self.want("\"", wanted)?;
        }
        let (inner, _) = self.text[self.at..].split_once(quote).ok_or(self.lacks("end of the string"))?;
        self.at += inner.len() + 1;
        Ok(inner)
    }

    /// What is left, without the blanks before it.
    fn rest(&mut self) -> &'t str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn eats(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn want(&mut self, word: &str, wanted: &'static str) -> Result<(), HeaderError> {
        if self.eats(word) { Ok(()) } else { Err(self.lacks(wanted)) }
    }

    fn lacks(&self, wanted: &'static str) -> HeaderError {
        HeaderError::Syntax { at: self.at, wanted }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(version: [u8; 2], size: &[u8], text: &str) -> Vec<u8> {
        [MAGIC, &version, size, text.as_bytes()].concat()
    }

    fn short(text: &str) -> Result<Header, HeaderError> {
        Header::parse(&with([1, 0], &(text.len() as u16).to_le_bytes(), text))
    }

    #[test]
    fn forms_that_numpy_and_others_write() {
        let rows: &[(&str, &[u64])] = &[
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", &[2, 3]),
            ("{\"shape\":(7,),\"descr\":\"<f4\",\"fortran_order\":False}", &[7]),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}\n", &[2, 3]),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': ()}", &[]),
        ];
        for (text, shape) in rows {
            let header = short(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(
                (header.descr.as_str(), header.is_fortran, header.shape.as_slice()),
                ("<f4", false, *shape)
            );
            assert_eq!(header.len, 10 + text.len());
        }
        let text = "{'descr': '>i2', 'fortran_order': True, 'shape': (1,)}";
        for version in [2, 3] {
            let header = Header::parse(&with([version, 0], &(text.len() as u32).to_le_bytes(), text));
            assert_eq!(header.map(|header| header.is_fortran), Ok(true), "{version}");
        }
    }

    #[test]
    fn what_is_refused() {
        let rows: &[(&str, &str)] = &[
            ("", "its header has no dictionary at byte 0"),
            ("{'descr': '<f4'", "its header has no end of the dictionary at byte 15"),
            ("{'descr': '<f4'}", "its header lacks fortran_order"),
            ("{'descr': [('a', '<f4')], 'shape': (1,)}", "its elements have parts"),
            (
                "{'descr': '<f4', 'fortran_order': None, 'shape': (1,)}",
                "its header has no True or False at byte 34",
            ),
            (
                "{'descr': '<f4', 'fortran_order': True, 'shape': (-1,)}",
                "its header has no extent at byte 50",
            ),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (1,)} x", "its header has no end at byte 55"),
            ("{'other': 1}", "its header has no known key at byte 9"),
        ];
        for (text, want) in rows {
            assert_eq!(short(text).map_err(|error| error.to_string()), Err((*want).to_owned()), "{text}");
        }
        let version = Header::parse(&with([4, 0], &[0; 4], ""));
        assert_eq!(version, Err(HeaderError::Version { major: 4, minor: 0 }));
        assert_eq!(Header::parse(&with([1, 0], &[9, 0], "{}")), Err(HeaderError::Cut { found: 12 }));
        assert_eq!(
            Header::parse(&with([2, 0], &[0, 0, 0, 1], "")),
            Err(HeaderError::Long { found: 1 << 24 })
        );
    }

    #[test]
    fn a_header_reads_as_it_was_written() {
        for shape in [&[5][..], &[2, 3], &[1, 2, 3, 4, 5, 6, 7]] {
            let bytes = Header::bytes("<f4", shape);
            let header = Header::parse(&bytes).expect("a header");
            assert_eq!((header.shape.as_slice(), header.len), (shape, bytes.len()));
            assert!(bytes.len().is_multiple_of(ALIGN) && bytes.ends_with(b"\n"));
        }
    }
}
