//! A compile's words, told apart for a header that is parsed once: those that the header must be compiled with too, and those
//! of no consequence to it.
//!
//! GCC itself compares few of them (target, exceptions, kind of debug information), and goes by the header's for the rest. So all
//! words must be the same here, but for those that are known not to matter or that GCC checks: macros whose names
//! the header does not use. A word of another kind means no such header. Unaware of files.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::Command;
use crate::job::path_arg;
use crate::open::INNER;

/// A C++ compile as [`crate::Toolchain::compile`] writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed<'c> {
    command: &'c Command,
    /// Words that change what a header means or becomes, in their order.
    kept: Vec<&'c OsStr>,
    /// `-ffile-prefix-map` and its like, in their order.
    maps: Vec<&'c OsStr>,
    /// Directories searched for headers, the callers' first.
    searched: Vec<PathBuf>,
    /// What is compiled.
    pub source: &'c Path,
}

/// Beginnings of words that a header may be compiled with.
const KEPT: &[&str] = &["-f", "-m", "-O", "-g", "-W", "-std=", "-nostdinc", "--param=", "-pedantic", "-w"];

/// Beginnings of words that start with one of those and still are another matter: files read or written besides, words for other
/// programs, macros in debug information.
const OTHER: &[&str] = &[
    "-fplugin",
    "-fpch",
    "-fpreprocessed",
    "-fdirectives-only",
    "-fprofile",
    "-fbranch-prob",
    "-ftest-coverage",
    "-fdump",
    "-fsave",
    "-fmodule",
    "-fcallgraph-info",
    "-fstack-usage",
    "-flto",
    "-fopt-info",
    "-g3",
    "-ggdb3",
    "-gsplit",
    "-Wp,",
    "-Wl,",
    "-wrapper",
];

/// Maps of names: they matter where they are about the header's own.
const MAPS: &[&str] = &["-ffile-prefix-map=", "-fmacro-prefix-map=", "-fdebug-prefix-map="];

impl<'c> Parsed<'c> {
    /// `None` for what is no C++ compile, or has a word that a header parsed before may not agree with.
    pub fn of(command: &'c Command) -> Option<Parsed<'c>> {
        let mut words = command.args.iter().map(OsString::as_os_str);
        let (mut kept, mut maps, mut searched) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(word) = words.next() {
            let bytes = word.as_bytes();
            match bytes {
                b"-MD" | b"-MP" | b"-c" => {}
                b"-MF" | b"-MT" | b"-o" => {
                    words.next()?;
                }
                b"-D" => {
                    let macros = words.next()?;
                    kept.extend(
                        is_asked_for(macros.as_bytes()).then_some([word, macros]).into_iter().flatten(),
                    );
                }
                b"-I" => searched.push(words.next()?.into()),
                b"-isystem" => {
                    let directory = words.next()?;
                    kept.extend([word, directory]);
                    searched.push(directory.into());
                }
                b"-x" => {
                    let source = words.next().filter(|language| *language == "c++").and(words.next())?;
                    let source = Path::new(source);
                    return words.next().is_none().then_some(Parsed {
                        command,
                        kept,
                        maps,
                        searched,
                        source,
                    });
                }
                _ if bytes.starts_with(b"-D") => {
                    kept.extend(bytes.get(2..).is_some_and(is_asked_for).then_some(word));
                }
                _ if bytes.starts_with(b"-I") => searched.push(OsStr::from_bytes(bytes.get(2..)?).into()),
                _ if begins(bytes, MAPS) => maps.push(word),
                _ if begins(bytes, KEPT) && !begins(bytes, OTHER) => kept.push(word),
                // where the toolchain has its own programs
                _ if bytes.starts_with(b"-B") && Path::new(word).ends_with(INNER) => kept.push(word),
                _ => return None,
            }
        }
        None
    }

    /// Directories searched for headers, the callers' first.
    pub fn searched(&self) -> &[PathBuf] {
        &self.searched
    }

    /// Environment, program and words: where these are the same, so is what is made of a header in `directories`.
    pub fn key(&self, directories: &[PathBuf]) -> Vec<OsString> {
        let environment = self.command.env.iter().flat_map(|(name, value)| [name.clone(), value.clone()]);
        let program = self.command.program.clone().into_os_string();
        environment.chain([program]).chain(self.words(directories).map(OsString::from)).collect()
    }

    fn words<'a>(&'a self, directories: &'a [PathBuf]) -> impl Iterator<Item = &'c OsStr> + 'a {
        let maps = self.maps.iter().filter(|word| is_about(word.as_bytes(), directories));
        self.kept.iter().chain(maps).copied()
    }

    /// Compiles the header `text`, which includes one of `directories`, the first of which is named by `-I`, to `output`.
    pub fn make(&self, directories: &[PathBuf], text: &Path, output: &Path, depfile: &Path) -> Command {
        let mut command = Command { args: Vec::new(), ..self.command.clone() };
        command.args.extend(self.words(directories).map(OsString::from));
        command = command.args(["-MD", "-MF"]).arg(path_arg(depfile)).args(["-MT", "object"]);
        for directory in directories.iter().take(1) {
            command = command.arg("-I").arg(path_arg(directory));
        }
        command.args(["-c", "-o"]).arg(path_arg(output)).args(["-x", "c++-header"]).arg(path_arg(text))
    }

    /// The same compile, with the file `header` read first; GCC takes what was made of it, if that lies beside it as `header.gch`.
    pub fn with(&self, header: &Path) -> Command {
        let mut command = self.command.clone();
        let end = command.args.len().saturating_sub(3);
        command.args.splice(end..end, ["-include".into(), path_arg(header)]);
        command
    }
}

fn begins(word: &[u8], beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| word.starts_with(beginning.as_bytes()))
}

/// Whether a macro is of those that the compiler's own headers ask for; with another that the SDK's do, GCC parses them anew.
fn is_asked_for(macros: &[u8]) -> bool {
    macros.starts_with(b"_") || macros.starts_with(b"NDEBUG")
}

/// Whether a map can change a name in one of `directories`: it maps texts, not paths, and so one may begin like the other.
fn is_about(map: &[u8], directories: &[PathBuf]) -> bool {
    let from = map.splitn(2, |&byte| byte == b'=').nth(1).unwrap_or_default();
    let from = from.iter().rposition(|&byte| byte == b'=').and_then(|end| from.get(..end)).unwrap_or(from);
    directories.iter().any(|directory| {
        let directory = directory.as_os_str().as_bytes();
        directory.starts_with(from) || from.starts_with(directory)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "-g -std=c++14 -Os -Wall -isystem /t/include -ffile-prefix-map=/t=/toolchain \
        -MD -MP -MF o.d -MT object -ffile-prefix-map=/home/me=. -ffile-prefix-map=/data/sdk/=gpsimd-sdk/";

    fn compile(more: &str) -> Command {
        let words = format!("{PLAIN} {more} -I /data/sdk/include -I inc -c -o k.o -x c++ k.cpp");
        Command::new("g++").env("CONFIG", "q7.so").args(words.split_whitespace().map(str::to_owned))
    }

    fn directories() -> [PathBuf; 2] {
        ["/data/sdk/include", "/t/include"].map(PathBuf::from)
    }

    #[test]
    fn a_header_is_made_and_used() {
        let command = compile("-O3 -DX=1 -D Y -Iown");
        let parsed = Parsed::of(&command).expect("a compile");
        assert_eq!(parsed.searched(), ["/t/include", "own", "/data/sdk/include", "inc"].map(PathBuf::from));
        let made = parsed.make(&directories(), Path::new("s.h"), Path::new("first.h.gch"), Path::new("s.d"));
        assert_eq!(
            made.to_string(),
            "CONFIG=q7.so g++ -g -std=c++14 -Os -Wall -isystem /t/include -O3 -ffile-prefix-map=/t=/toolchain \
             -ffile-prefix-map=/data/sdk/=gpsimd-sdk/ -MD -MF s.d -MT object -I /data/sdk/include \
             -c -o first.h.gch -x c++-header s.h"
        );
        let used = parsed.with(Path::new("/p/first.h")).to_string();
        assert!(used.ends_with("-c -o k.o -include /p/first.h -x c++ k.cpp"), "{used}");
    }

    #[test]
    fn what_must_be_the_same() {
        let [plain, macros, other] = ["", "-DX -Iown -ffile-prefix-map=/home=x", "-O2"].map(compile);
        let key = |command: &Command| Parsed::of(command).expect("a compile").key(&directories());
        assert_eq!(key(&plain), key(&macros));
        assert_ne!(key(&plain), key(&other));
        // macros of headers, and maps that may change the names of the header's own files
        for word in [
            "-D_GLIBCXX_ASSERTIONS",
            "-D NDEBUG",
            "-ffile-prefix-map=/da=x",
            "-fmacro-prefix-map=/data/sdk/include/c10=x",
        ] {
            assert_ne!(key(&plain), key(&compile(word)), "{word}");
        }
    }

    #[test]
    fn other_words_mean_no_such_header() {
        let rows = [
            "-include x.h",
            "-imacros x.h",
            "-iquote d",
            "-idirafter d",
            "-UNDEBUG",
            "@list",
            "-save-temps",
            "-fplugin=x.so",
            "-fdump-tree-all",
            "-g3",
            "-Wp,-DX",
            "-B.",
            "-specs=x",
            "other.cpp",
            "-E",
            "-x c",
        ];
        for row in rows {
            assert_eq!(Parsed::of(&compile(row)), None, "{row}");
        }
        let link = Command::new("g++").args(["-o", "k.so", "k.o"]);
        assert_eq!(Parsed::of(&link), None);
    }
}
