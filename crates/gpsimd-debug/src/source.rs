//! Source files by the names that the compiler knew them by.
//!
//! Unaware of programs. Nothing but files is read, and of those only what their ends are looked for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Longest source that is shown.
const LONGEST: u64 = 8 << 20;

/// Where sources are looked for.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    known: RefCell<HashMap<String, Option<Rc<Source>>>>,
}

/// A source that was found.
#[derive(Debug)]
pub(crate) struct Source {
    /// Its lines.
    pub lines: Vec<String>,
}

impl Sources {
    /// Looked for where their names say, and below these directories.
    pub fn below(roots: Vec<PathBuf>) -> Sources {
        Sources { roots, known: RefCell::default() }
    }

    /// The file of a name in the debug information.
    pub(crate) fn get(&self, name: &str) -> Option<Rc<Source>> {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let found = self.find(name).and_then(|path| {
            let is_fit = path.metadata().is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
            let text = is_fit.then(|| std::fs::read(&path).ok()).flatten()?;
            let lines = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
            Some(Rc::new(Source { lines }))
        });
        self.known.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    /// A line of a file.
    pub(crate) fn line(&self, name: &str, line: u32) -> Option<String> {
        self.get(name)?.lines.get((line as usize).checked_sub(1)?).cloned()
    }

    /// Where a file is, if it is there.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        let is_file = |path: &PathBuf| path.is_file();
        let given = PathBuf::from(name);
        if given.is_absolute() && is_file(&given) {
            return Some(given);
        }
        let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
        let tails = (0..parts.len()).map(|from| parts.get(from..).unwrap_or_default().join("/"));
        let below = |tail: String| self.roots.iter().map(|root| root.join(&tail)).find(is_file);
        let found = tails.into_iter().find_map(below)?;
        std::path::absolute(&found).ok().or_else(|| Some(Path::new(&found).to_owned()))
    }
}
