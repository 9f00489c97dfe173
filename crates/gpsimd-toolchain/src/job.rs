//! What a caller asks of a compiler, in the build's own terms: one source to compile, one image to link, one archive.
//!
//! Unaware of any particular compiler; [`crate::OpenToolchain`] and [`crate::GnuToolchain`] turn these into words.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The language of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// C++14: kernels, the generated wrapper, most of the SDK.
    Cxx,
    /// C.
    C,
    /// Assembly that goes through the preprocessor (`.S`).
    Asm,
}

impl Language {
    /// By file name: `.S`/`.s` is assembly, `.c` is C, everything else C++, which is what kernels are written in.
    pub fn of(source: &Path) -> Language {
        match source.extension().and_then(OsStr::to_str) {
            Some("S" | "s" | "sx") => Language::Asm,
            Some("c") => Language::C,
            _ => Language::Cxx,
        }
    }
}

/// A directory name that must not show in objects (`-ffile-prefix-map`): debug info and `__FILE__` say `to` for `from`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PrefixMap {
    /// The prefix as the compiler sees it.
    pub from: PathBuf,
    /// What objects hold instead. Must not contain `=` (GCC splits at the last one); [`PrefixMap::new`] sees to it.
    pub to: String,
}

impl PrefixMap {
    /// Maps `from` to `to`; an `=` in `to` becomes `_`.
    pub fn new(from: impl Into<PathBuf>, to: &str) -> PrefixMap {
        PrefixMap { from: from.into(), to: to.replace('=', "_") }
    }
}

/// Compile one source to one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CompileJob {
    /// Source file.
    pub source: PathBuf,
    /// Object to write.
    pub object: PathBuf,
    /// Make-style dependency file to write; read it with [`crate::depfile::parse`].
    pub depfile: Option<PathBuf>,
    /// Language of `source`.
    pub language: Language,
    /// The caller's flags. They follow the built-in ones, so the last of two contradicting flags is the caller's
    /// (spec `toolchain.md` §2).
    pub cflags: Vec<OsString>,
    /// Include directories, searched in this order.
    pub includes: Vec<PathBuf>,
    /// Directory names kept out of the object; of two that fit, the later one counts.
    pub prefix_maps: Vec<PrefixMap>,
    /// A program that starts the compiler (`ccache`, `distcc`).
    pub launcher: Option<PathBuf>,
}

impl CompileJob {
    /// A job with no dependency file, flags, includes, maps or launcher; language by file name.
    pub fn new(source: impl Into<PathBuf>, object: impl Into<PathBuf>) -> CompileJob {
        let source = source.into();
        CompileJob {
            language: Language::of(&source),
            source,
            object: object.into(),
            depfile: None,
            cflags: Vec::new(),
            includes: Vec::new(),
            prefix_maps: Vec::new(),
            launcher: None,
        }
    }
}

/// What happens to the relocations of loaded sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relocations {
    /// Resolved and dropped.
    Drop,
    /// Resolved, and kept beside the code (`--emit-relocs`), so that the image can be moved to another bank later.
    Keep,
}

/// Link one static image.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkJob {
    /// Image to write.
    pub output: PathBuf,
    /// Linker support package: the script is `ldscripts/elf32xtensa.x` in it (spec `toolchain.md` §4).
    pub lsp_dir: PathBuf,
    /// Objects, in link order.
    pub objects: Vec<PathBuf>,
    /// Archives between the objects and the toolchain's own libraries, in order; each is searched once.
    pub archives: Vec<PathBuf>,
    /// The caller's link flags, after the built-in ones.
    pub ldflags: Vec<OsString>,
    /// Link map to write.
    pub map: Option<PathBuf>,
    /// List of the files that the linker opened, to write; only for linkers that can
    /// ([`crate::Toolchain::lists_link_inputs`]).
    pub depfile: Option<PathBuf>,
    /// Keep or drop relocations.
    pub relocations: Relocations,
}

impl LinkJob {
    /// A job with no objects, archives, flags or map, relocations dropped.
    pub fn new(output: impl Into<PathBuf>, lsp_dir: impl Into<PathBuf>) -> LinkJob {
        LinkJob {
            output: output.into(),
            lsp_dir: lsp_dir.into(),
            objects: Vec::new(),
            archives: Vec::new(),
            ldflags: Vec::new(),
            map: None,
            depfile: None,
            relocations: Relocations::Drop,
        }
    }

    /// The script of the default link.
    pub fn script(&self) -> PathBuf {
        self.lsp_dir.join("ldscripts/elf32xtensa.x")
    }
}

/// Collect objects into a static archive. The archive must not exist yet: `ar` would append.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArchiveJob {
    /// Archive to write.
    pub archive: PathBuf,
    /// Members, in order.
    pub objects: Vec<PathBuf>,
}

/// Strip a linked image and put the result into a relocatable object, by a program of the toolchain.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PackJob {
    /// Image to read.
    pub linked: PathBuf,
    /// Loadable image to write.
    pub stripped: PathBuf,
    /// Relocatable object to write.
    pub packed: PathBuf,
}

/// A path as an argument that no option parser takes for something else: `-x` (option), `@x` (response file), `=x` and
/// `$SYSROOT` (system root) get `./` in front.
pub(crate) fn path_arg(path: &Path) -> OsString {
    match path.as_os_str().as_bytes().first() {
        Some(b'-' | b'@' | b'=' | b'$') => Path::new(".").join(path).into_os_string(),
        _ => path.as_os_str().to_owned(),
    }
}

/// `prefix` and a path in one word.
pub(crate) fn joined(prefix: &str, path: &Path) -> OsString {
    let mut word = OsString::from(prefix);
    word.push(path);
    word
}

/// The flag by which debug information and `__FILE__` call what lies below `from` after `to`.
pub(crate) fn prefix_map(from: &Path, to: impl AsRef<OsStr>) -> OsString {
    let mut word = joined("-ffile-prefix-map=", from);
    word.push("=");
    word.push(to);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_never_an_option() {
        let rows = [
            ("-o", "./-o"),
            ("@list", "./@list"),
            ("=x", "./=x"),
            ("$SYSROOT", "./$SYSROOT"),
            ("a-b", "a-b"),
            ("/-x", "/-x"),
            ("../x", "../x"),
        ];
        for (path, want) in rows {
            assert_eq!(path_arg(Path::new(path)), want);
        }
    }

    #[test]
    fn language_by_name() {
        let rows = [
            ("k.cpp", Language::Cxx),
            ("k.cc", Language::Cxx),
            ("k", Language::Cxx),
            ("k.c", Language::C),
            ("k.S", Language::Asm),
        ];
        for (path, want) in rows {
            assert_eq!(Language::of(Path::new(path)), want, "{path}");
        }
    }
}
