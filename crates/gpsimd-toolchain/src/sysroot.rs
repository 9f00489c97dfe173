//! Our own pieces of the device's C and C++ runtime, embedded: `sdk/sysroot` of the source tree.
//!
//! Unaware of when they are compiled; see `sdk/sysroot/README.md` for what each is.

use include_dir::{Dir, include_dir};
use sha2::{Digest as _, Sha256};

use crate::tree;

static SYSROOT: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sdk/sysroot");

/// A source text that comes with this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Path below `sdk/sysroot`, unique.
    pub name: &'static str,
    /// The text.
    pub text: &'static [u8],
}

/// All files, sorted by name.
pub fn sources() -> Vec<Source> {
    let mut out = Vec::new();
    walk(&SYSROOT, &mut out);
    out.sort_unstable_by_key(|source| source.name);
    out
}

/// The text of this name, as [`crate::Toolchain::runtime_sources`] gives it.
pub fn runtime_source(name: &str) -> Option<Source> {
    sources().into_iter().find(|source| source.name == name)
}

/// The sources below one directory, sorted by name.
pub(crate) fn below(dir: &str) -> Vec<Source> {
    sources()
        .into_iter()
        .filter(|s| s.name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')))
        .collect()
}

fn walk(dir: &Dir<'static>, out: &mut Vec<Source>) {
    for file in dir.files() {
        // The README is for readers of the source tree.
        if let Some(name) = file.path().to_str().filter(|name| !name.ends_with(".md")) {
            out.push(Source { name, text: file.contents() });
        }
    }
    dir.dirs().for_each(|dir| walk(dir, out));
}

/// Hash over all names and texts.
pub(crate) fn hash() -> String {
    let mut hasher = Sha256::new();
    for source in sources() {
        tree::absorb(&mut hasher, source.name.as_bytes(), source.text);
    }
    tree::hex(hasher)
}
