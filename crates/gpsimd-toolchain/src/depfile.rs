//! Dependency files as GCC writes them with `-MD -MP`: one rule for the object, one empty rule per header.
//!
//! Unaware of the file system. GCC quotes blanks, `#` and `$` for make but not newlines, and a file name may end in a
//! colon; reading only the shape GCC writes keeps every such name either exact or refused, never misread.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// What an object was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Depfile {
    /// The rule's target: what `-MT`/`-MQ` said.
    pub target: PathBuf,
    /// Files read, the source first, in the order of the file.
    pub inputs: Vec<PathBuf>,
}

/// Why a dependency file cannot be trusted. A caller should treat the object as out of date.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum DepfileError {
    /// No rule at all.
    #[error("the dependency file holds no rule")]
    #[diagnostic(code(toolchain::depfile_empty), help("delete it and build again"))]
    Empty,
    /// A line is no rule: a file name with a newline, or a file that was cut short.
    #[error("line {line} of the dependency file is not a rule")]
    #[diagnostic(
        code(toolchain::depfile_no_rule),
        help(
            "names with newlines cannot be written in such a file; if no directory has one, delete the file and build again"
        )
    )]
    NotARule {
        /// Line number of the rule's first line, from 1.
        line: usize,
    },
    /// A second rule that names something the first does not depend on.
    #[error(
        "line {line} of the dependency file has a rule that is not about one of the {inputs} inputs of the first"
    )]
    #[diagnostic(
        code(toolchain::depfile_foreign_rule),
        help("the file was not written by one run of the compiler; delete it and build again")
    )]
    ForeignRule {
        /// Line number, from 1.
        line: usize,
        /// Number of inputs of the first rule.
        inputs: usize,
    },
    /// A NUL byte, which no file name has.
    #[error("byte {offset} of the dependency file is NUL")]
    #[diagnostic(code(toolchain::depfile_nul), help("delete the file and build again"))]
    Nul {
        /// Offset in bytes.
        offset: usize,
    },
}

/// Reads a dependency file with one rule for one target and, from `-MP`, an empty rule for each header.
///
/// ```
/// let d = gpsimd_toolchain::depfile::parse(b"k.o: k.cpp my\\ dir/a.h \\\n  b\\#1.h\nb\\#1.h:\n").unwrap();
/// assert_eq!(d.inputs.len(), 3);
/// assert_eq!(d.inputs[1].to_str(), Some("my dir/a.h"));
/// ```
pub fn parse(bytes: &[u8]) -> Result<Depfile, DepfileError> {
    if let Some(offset) = bytes.iter().position(|&b| b == 0) {
        return Err(DepfileError::Nul { offset });
    }
    let mut rules = logical_lines(bytes);
    let (line, first) = rules.next().ok_or(DepfileError::Empty)?;
    let (target, rest) = split_target(&first).ok_or(DepfileError::NotARule { line })?;
    let inputs = names(rest);
    // Sorted once: a file with many headers names each of them twice.
    let mut known = inputs.clone();
    known.sort_unstable();
    for (line, text) in rules {
        let name = text.trim_ascii_end().strip_suffix(b":").ok_or(DepfileError::NotARule { line })?;
        match names(name).as_slice() {
            [header] if known.binary_search(header).is_ok() => {}
            [_] => return Err(DepfileError::ForeignRule { line, inputs: inputs.len() }),
            _ => return Err(DepfileError::NotARule { line }),
        }
    }
    Ok(Depfile { target, inputs })
}

/// Lines with continuations joined by a blank; empty ones left out. Each with the number of its first line.
fn logical_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let mut physical = bytes.split(|&b| b == b'\n').enumerate();
    std::iter::from_fn(move || {
        loop {
            let (number, first) = physical.next()?;
            let mut text = Vec::new();
            let mut line = first;
            loop {
                line = line.strip_suffix(b"\r").unwrap_or(line);
                let Some(continued) = line.strip_suffix(b"\\") else {
                    text.extend_from_slice(line);
                    break;
                };
                text.extend_from_slice(continued);
                text.push(b' ');
                let Some((_, next)) = physical.next() else { break };
                line = next;
            }
            if !text.trim_ascii().is_empty() {
                return Some((number + 1, text));
            }
        }
    })
}

/// The one name before the first colon that ends a word, and what follows it.
fn split_target(line: &[u8]) -> Option<(PathBuf, &[u8])> {
    let colon = line
        .iter()
        .enumerate()
        .position(|(i, &b)| b == b':' && line.get(i + 1).is_none_or(u8::is_ascii_whitespace))?;
    let (before, after) = line.split_at_checked(colon)?;
    match <[PathBuf; 1]>::try_from(names(before)) {
        Ok([target]) => Some((target, after.get(1..)?)),
        Err(_) => None,
    }
}

/// Words with make's quoting undone: before a blank, 2n+1 backslashes are n and the blank itself; `\#` is `#`, `$$` is `$`.
fn names(text: &[u8]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut word = Vec::new();
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'\\' => {
                let run = 1 + rest.iter().take_while(|&&b| b == b'\\').count();
                rest = rest.get(run - 1..).unwrap_or_default();
                match rest.split_first() {
                    Some((&next @ (b' ' | b'\t'), tail)) => {
                        word.resize(word.len() + run / 2, b'\\');
                        if run % 2 == 1 {
                            word.push(next);
                            rest = tail;
                        }
                    }
                    Some((b'#', tail)) => {
                        word.resize(word.len() + run - 1, b'\\');
                        word.push(b'#');
                        rest = tail;
                    }
                    _ => word.resize(word.len() + run, b'\\'),
                }
            }
            b'$' => {
                word.push(b'$');
                rest = rest.strip_prefix(b"$").unwrap_or(rest);
            }
            b' ' | b'\t' => flush(&mut word, &mut out),
            _ => word.push(byte),
        }
    }
    flush(&mut word, &mut out);
    out
}

fn flush(word: &mut Vec<u8>, out: &mut Vec<PathBuf>) {
    if !word.is_empty() {
        out.push(PathBuf::from(OsString::from_vec(std::mem::take(word))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inputs(text: &str) -> Result<Vec<String>, DepfileError> {
        parse(text.as_bytes()).map(|d| d.inputs.iter().map(|p| p.display().to_string()).collect())
    }

    #[test]
    fn names_come_back_as_they_were() {
        let rows: &[(&str, &[&str])] = &[
            ("o: a.c", &["a.c"]),
            ("o: a.c \\\n b.h \\\n c.h\n\nb.h:\n\nc.h:\n", &["a.c", "b.h", "c.h"]),
            ("o: a.c \\\r\n b.h\r\nb.h:\r\n", &["a.c", "b.h"]),
            ("o: a\\ b.c", &["a b.c"]),
            ("o: a\\\\\\ b.c", &["a\\ b.c"]),
            ("o: a\\\\ b.c", &["a\\", "b.c"]),
            ("o: a\\b.c", &["a\\b.c"]),
            ("o: a\\#b.c", &["a#b.c"]),
            ("o: a$$b.c", &["a$b.c"]),
            ("o: a:b.c c:\nc::\n", &["a:b.c", "c:"]),
            ("c:/o: a.c", &["a.c"]),
            ("o: grün;'\".c", &["grün;'\".c"]),
            ("o:", &[]),
        ];
        for (text, want) in rows {
            assert_eq!(inputs(text).as_deref(), Ok(want.map_strings().as_slice()), "{text:?}");
        }
    }

    trait MapStrings {
        fn map_strings(&self) -> Vec<String>;
    }
    impl MapStrings for &[&str] {
        fn map_strings(&self) -> Vec<String> {
            self.iter().map(|s| s.to_string()).collect()
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let rows: &[(&str, DepfileError)] = &[
            ("", DepfileError::Empty),
            ("\n \\\n\n", DepfileError::Empty),
            ("a b c", DepfileError::NotARule { line: 1 }),
            ("a b: c", DepfileError::NotARule { line: 1 }),
            // a directory with a newline in its name
            ("o: /tmp/a\nb/k.cpp h.h\n", DepfileError::NotARule { line: 2 }),
            ("o: /tmp/a\nb: /k.cpp\n", DepfileError::NotARule { line: 2 }),
            ("o: a.c \\\n b.h\n\nx.h:\n", DepfileError::ForeignRule { line: 4, inputs: 2 }),
            ("o: a\0", DepfileError::Nul { offset: 4 }),
        ];
        for (text, want) in rows {
            assert_eq!(inputs(text).as_ref(), Err(want), "{text:?}");
        }
    }

    /// Make quoting as GCC's preprocessor writes it.
    fn quoted(name: &[u8]) -> Vec<u8> {
        let mut out: Vec<u8> = Vec::new();
        for &byte in name {
            match byte {
                b' ' | b'\t' => {
                    let run = out.iter().rev().take_while(|&&b| b == b'\\').count();
                    out.resize(out.len() + run + 1, b'\\');
                }
                b'#' => out.push(b'\\'),
                b'$' => out.push(b'$'),
                _ => {}
            }
            out.push(byte);
        }
        out
    }

    proptest! {
        #[test]
        fn round_trip(names in proptest::collection::vec(proptest::collection::vec(
            prop_oneof![Just(b' '), Just(b'\\'), Just(b'#'), Just(b'$'), Just(b':'), Just(b'a'), 0x80u8..=0xff], 1..8), 1..6)) {
            // A trailing backslash, or a carriage return, is a name GCC itself cannot write down.
            let names: Vec<Vec<u8>> = names.into_iter().map(|mut n| { n.push(b'x'); n }).collect();
            let mut text = b"o:".to_vec();
            for name in &names {
                text.extend_from_slice(b" \\\n ");
                text.extend(quoted(name));
            }
            for name in names.iter().skip(1) {
                text.push(b'\n');
                text.extend(quoted(name));
                text.push(b':');
            }
            let want: Vec<PathBuf> = names.into_iter().map(|n| PathBuf::from(OsString::from_vec(n))).collect();
            // A leading `#` run of backslashes is ambiguous in make's own syntax only when a backslash stands before it.
            prop_assume!(!want.iter().any(|p| p.to_string_lossy().contains("\\#")));
            prop_assert_eq!(parse(&text).map(|d| d.inputs), Ok(want));
        }

        #[test]
        fn no_input_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            crate::fuzz::fuzz_depfile(&bytes);
        }
    }
}
