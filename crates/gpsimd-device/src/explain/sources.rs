//! The source files that addresses of an image lead to, as far as they can be read here.
//!
//! Unaware of what is shown of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Largest file that is read: no source, but anything may be named in debug information.
const LARGEST: u64 = 8 << 20;

/// Source files, each read once.
#[derive(Debug, Default)]
pub struct Sources {
    known: Vec<PathBuf>,
    roots: Vec<PathBuf>,
    read: RefCell<BTreeMap<String, Option<Rc<str>>>>,
}

impl Sources {
    /// Files are found as the compiler was given them, from here, or among these, which the library was built from.
    pub fn among(known: Vec<PathBuf>) -> Sources {
        Sources { known, ..Sources::default() }
    }

    /// Those that are not found so are looked for below these directories, by as much of their names as leads to one.
    #[must_use]
    pub fn below(self, roots: Vec<PathBuf>) -> Sources {
        Sources { roots, ..self }
    }

    /// The text of a file, by its name in the debug information.
    pub fn text(&self, file: &str) -> Option<Rc<str>> {
        if file.is_empty() {
            return None;
        }
        if let Some(known) = self.read.borrow().get(file) {
            return known.clone();
        }
        let found = self.find(file).and_then(|path| read(&path));
        self.read.borrow_mut().insert(file.to_owned(), found.clone());
        found
    }

    /// One line of a file, counted from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let text = self.text(file)?;
        text.lines().nth(line.checked_sub(1)? as usize).map(str::to_owned)
    }

    /// Where a file is, if it is there.
    pub fn find(&self, file: &str) -> Option<PathBuf> {
        let name = Path::new(file.trim_start_matches("./"));
        // what the library was built from is surer than what happens to lie here
        let mut alike = self.known.iter().filter(|path| path.ends_with(name) && path.is_file());
        let found = match (alike.next(), alike.next()) {
            (Some(only), None) => only.clone(),
            _ => Some(PathBuf::from(file)).filter(|path| path.is_file()).or_else(|| self.search(file))?,
        };
        std::path::absolute(&found).ok().or(Some(found))
    }

    fn search(&self, file: &str) -> Option<PathBuf> {
        let parts: Vec<&str> = file.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let tails = (0..parts.len()).map(|from| parts.get(from..).unwrap_or_default().join("/"));
        let below = |tail: String| self.roots.iter().map(|root| root.join(&tail)).find(|path| path.is_file());
        tails.into_iter().find_map(below)
    }
}

fn read(path: &Path) -> Option<Rc<str>> {
    let is_small = std::fs::metadata(path).is_ok_and(|about| about.len() <= LARGEST);
    let bytes = is_small.then(|| std::fs::read(path).ok()).flatten()?;
    Some(String::from_utf8_lossy(&bytes).into())
}

/// The bytes of a line that a column (from 1, in bytes) means: a name from there on, or a sign; at the bracket of a call or an
/// index all of it. The whole line without a column.
pub fn token(line: &str, column: u32) -> Range<usize> {
    let whole = || {
        let start = line.len() - line.trim_start().len();
        start..line.trim_end().len().max(start)
    };
    let Some(start) = (column as usize).checked_sub(1).filter(|at| *at < line.len()) else { return whole() };
    let (Some(before), Some(rest)) = (line.get(..start), line.get(start..)) else { return whole() };
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let name = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
    let sign = rest.chars().next().map_or(0, char::len_utf8);
    match (rest.as_bytes().first(), closed(rest)) {
        (Some(b'(' | b'['), Some(len)) => {
            let name = before.rfind(|letter| !is_name(letter) && letter != ':').map_or(0, |at| at + 1);
            // after a sign of more than one byte the name begins inside it
            if line.is_char_boundary(name) { name..start + len } else { start..start + len }
        }
        _ => start..start + name.max(sign),
    }
}

/// Bytes from a bracket to the one that closes it.
fn closed(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_mean_names_and_signs() {
        let rows = [
            ("    kept[i] += 1;", 5, "kept"),
            ("    kept[i] += 1;", 9, "kept[i]"),
            ("    kept[i] += 1;", 13, "+"),
            ("  tcm_free(f(block));", 11, "tcm_free(f(block))"),
            ("  at::neuron::tcm_free(", 23, "("),
            ("    kept[i] += 1;", 0, "kept[i] += 1;"),
            ("    kept[i] += 1;", 99, "kept[i] += 1;"),
            ("x = \u{fc}ber;", 5, "\u{fc}ber"),
            ("x = \u{fc}ber;", 6, "x = \u{fc}ber;"),
            ("", 3, ""),
        ];
        for (line, column, want) in rows {
            assert_eq!(line.get(token(line, column)), Some(want), "{line} {column}");
        }
    }

    #[test]
    fn a_file_is_found_among_those_that_were_built() {
        let crate_root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let sources = Sources::among(vec![crate_root.join("src/machine.rs")]).below(vec![crate_root.clone()]);
        assert!(sources.line("./src/machine.rs", 1).is_some_and(|line| line.starts_with("//!")));
        let elsewhere = sources.find("/built/elsewhere/src/explain/sources.rs");
        assert_eq!(
            elsewhere,
            Some(crate_root.join("src/explain/sources.rs")),
            "below a directory, by its end"
        );
        assert_eq!(sources.text("src/none.rs"), None);
        assert_eq!(sources.text(""), None);
    }
}
