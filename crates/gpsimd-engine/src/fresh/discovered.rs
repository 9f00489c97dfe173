//! Inputs that only the compiler or linker knows: the files it opened, and those it looked for in vain.
//!
//! A dependency file lists what was found. What was *not* found matters as much: a header put into a directory that is
//! searched earlier changes the next compile although every listed file is the same. So the places where each found
//! file was looked for before are derived from the search directories, and remembered as absent.
//! Unaware of hashes and of when actions run.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use gpsimd_toolchain::{Command, depfile};

use crate::words::action::Action;
use crate::words::error::{EngineError, Problem};

/// What an action read besides its declared inputs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Discovered {
    /// Files that were opened.
    pub(crate) found: Vec<PathBuf>,
    /// Paths that do not exist; if one of them comes to be, the action may read it instead of a found one.
    pub(crate) absent: Vec<PathBuf>,
    /// Files that exist in such a place but were not opened: the found one came first.
    pub(crate) passed: Vec<PathBuf>,
    /// Directories that a file may be searched in.
    pub(crate) directories: BTreeSet<PathBuf>,
}

/// Reads an action's dependency file, if it writes one. `None` when it cannot be understood: a file name that such a
/// file cannot hold. `fixed` are directories whose content has a name of its own, so that nothing appears in them.
pub(crate) fn discovered(action: &Action, fixed: &[PathBuf]) -> Option<Discovered> {
    let Some(mut found) = listed(action).ok()? else { return Some(Discovered::default()) };
    let mut seen = BTreeSet::new();
    found.retain(|path| !action.inputs.contains(path) && seen.insert(path.clone()));
    let is_fixed = |path: &Path| fixed.iter().any(|fixed| path.starts_with(fixed));
    let mut directories: BTreeSet<PathBuf> =
        action.work.compiler().into_iter().flat_map(search_directories).collect();
    // "quotes" are looked for beside the file that includes
    for file in found.iter().chain(&action.inputs) {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        directories.insert(folder.unwrap_or(Path::new(".")).to_owned());
    }
    let searched: Vec<&PathBuf> = directories.iter().filter(|directory| !is_fixed(directory)).collect();
    let (mut absent, mut passed) = (BTreeSet::new(), BTreeSet::new());
    for file in &found {
        for name in directories.iter().filter_map(|directory| below(file, directory)) {
            for directory in &searched {
                match first_absent(directory, name) {
                    Some(path) => absent.insert(path),
                    None => passed.insert(directory.join(name)),
                };
            }
        }
    }
    passed.retain(|path| !seen.contains(path) && !action.inputs.contains(path));
    let directories = searched.into_iter().cloned().collect();
    let [absent, passed] = [absent, passed].map(|paths| paths.into_iter().collect());
    Some(Discovered { found, absent, passed, directories })
}

/// What an action's dependency file lists, the compiler's or the linker's; `None` if it writes none.
///
/// # Errors
/// The file is missing or does not read.
pub(crate) fn listed(action: &Action) -> Result<Option<Vec<PathBuf>>, EngineError> {
    let Some(path) = &action.depfile else { return Ok(None) };
    let bytes = std::fs::read(path).map_err(EngineError::io("cannot read", path))?;
    if let Some(inputs) = action.outputs.first().and_then(|output| linker_inputs(&bytes, output)) {
        return Ok(Some(inputs));
    }
    let rule = depfile::parse(&bytes)
        .map_err(|error| EngineError::Stage { path: path.clone(), problem: Problem::new(error) })?;
    Ok(Some(rule.inputs))
}

/// The name that a search in `directory` finds `file` by. Without a directory in front, a file is in `.`.
fn below<'f>(file: &'f Path, directory: &Path) -> Option<&'f Path> {
    if directory == Path::new(".") && file.is_relative() {
        return Some(file);
    }
    file.strip_prefix(directory).ok()
}

/// The first part of `directory`/`name` that does not exist, if one does not.
fn first_absent(directory: &Path, name: &Path) -> Option<PathBuf> {
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    let mut path = if directory == Path::new(".") { PathBuf::new() } else { directory.to_owned() };
    if !path.as_os_str().is_empty() && !exists(&path) {
        return Some(path);
    }
    for part in name.components() {
        path.push(part);
        if !exists(&path) {
            return Some(path);
        }
    }
    None
}

/// A dependency file that lists `inputs`, as GCC would write it.
pub(crate) fn render<'p>(inputs: impl IntoIterator<Item = &'p Path>) -> Vec<u8> {
    let mut text = b"object:".to_vec();
    for input in inputs {
        text.extend(b" \\\n ");
        for &byte in input.as_os_str().as_bytes() {
            match byte {
                b' ' | b'\t' => {
                    let run = text.iter().rev().take_while(|&&byte| byte == b'\\').count();
                    text.resize(text.len() + run + 1, b'\\');
                }
                b'#' => text.push(b'\\'),
                b'$' => text.push(b'$'),
                _ => {}
            }
            text.push(byte);
        }
    }
    text.push(b'\n');
    text
}

/// Directories after the flags that name some, for headers and for libraries.
fn search_directories(command: &Command) -> Vec<PathBuf> {
    const FLAGS: [&str; 6] = ["-I", "-L", "-isystem", "-iquote", "-idirafter", "-B"];
    let mut directories = Vec::new();
    let mut words = command.args.iter();
    while let Some(word) = words.next() {
        for flag in FLAGS {
            match word.as_bytes().strip_prefix(flag.as_bytes()) {
                Some(b"") => directories.extend(words.next().map(PathBuf::from)),
                Some(rest) => directories.push(PathBuf::from(OsStr::from_bytes(rest))),
                None => continue,
            }
            break;
        }
    }
    directories
}

/// Files that words of a command name besides its inputs: response files, specs, scripts, `-include`s.
pub(crate) fn named_files(words: &[OsString]) -> BTreeSet<PathBuf> {
    let parts = words.iter().flat_map(|word| word.as_bytes().split(|byte| b"=,@".contains(byte)));
    let paths = parts.filter(|part| !part.is_empty()).map(|part| PathBuf::from(OsStr::from_bytes(part)));
    paths.filter(|path| path.is_file()).collect()
}

/// The list that `ld --dependency-file` writes: names as they are, one a line, the output first. `None` if this is
/// another kind of file.
fn linker_inputs(bytes: &[u8], output: &Path) -> Option<Vec<PathBuf>> {
    let rest = bytes.strip_prefix(output.as_os_str().as_bytes())?.strip_prefix(b":")?;
    let mut inputs = Vec::new();
    for line in rest.split(|&byte| byte == b'\n') {
        let is_last = !line.ends_with(b" \\");
        let name = line.strip_suffix(b" \\").unwrap_or(line);
        if let Some(name) = name.strip_prefix(b"  ") {
            inputs.push(PathBuf::from(OsString::from_vec(name.to_vec())));
        }
        if is_last {
            return Some(inputs);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::action::Work;

    fn action(scratch: &Path, depfile: &str, words: &[&str]) -> Action {
        let path = scratch.join("o.d");
        std::fs::write(&path, depfile).expect("written");
        let command = Command::new("cc").args(words.iter().copied());
        Action {
            label: "compile".into(),
            inputs: vec![scratch.join("src/k.cpp")],
            outputs: vec![scratch.join("o")],
            depfile: Some(path),
            work: Work::Process(command),
        }
    }

    #[test]
    fn a_header_earlier_in_the_search_is_remembered_as_absent() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let at = |name: &str| scratch.path().join(name);
        for directory in ["src", "a", "b/sub", "fixed"] {
            std::fs::create_dir_all(at(directory)).expect("made");
        }
        std::fs::write(at("b/sub/x.h"), "").expect("written");
        let text = format!("o: {} {}\n", at("src/k.cpp").display(), at("b/sub/x.h").display());
        let a = format!("-I{}", at("a").display());
        let b = at("b").display().to_string();
        let fixed = at("fixed").display().to_string();
        let action = action(scratch.path(), &text, &["-isystem", &fixed, &a, "-I", &b, "-I", "missing"]);
        let seen = discovered(&action, &[at("fixed")]).expect("understood");
        assert_eq!(seen.found, [at("b/sub/x.h")]);
        let mut want =
            vec![at("a/sub"), at("src/sub"), at("a/x.h"), at("src/x.h"), at("b/x.h"), "missing".into()];
        want.push(at("b/sub/sub"));
        want.sort();
        assert_eq!(seen.absent, want);
    }

    #[test]
    fn the_linkers_list_is_read_as_it_is() {
        let text = b"o x: \\\n  s a.o \\\n  lib/libc.a\n\ns a.o:\n\nlib/libc.a:\n";
        let want = ["s a.o", "lib/libc.a"].map(PathBuf::from).to_vec();
        assert_eq!(linker_inputs(text, Path::new("o x")), Some(want));
        assert_eq!(linker_inputs(text, Path::new("o")), None);
        assert_eq!(linker_inputs(b"o x: \\\n  a.o \\\n", Path::new("o x")), Some(vec!["a.o".into()]));
    }

    #[test]
    fn what_is_rendered_reads_back() {
        let names = ["a.cpp", "my dir/b.h", "#1.h", "$x.h", "back\\ slash.h"].map(PathBuf::from);
        let text = render(names.iter().map(PathBuf::as_path));
        assert_eq!(depfile::parse(&text).expect("a dependency file").inputs, names);
    }

    #[test]
    fn files_named_in_flags_are_inputs() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let file = scratch.path().join("list");
        std::fs::write(&file, "").expect("written");
        let name = file.display();
        let rows = [
            (format!("@{name}"), true),
            (format!("-Wl,-T,{name}"), true),
            (format!("-specs={name}"), true),
            (format!("{name}"), true),
            ("-O2".to_owned(), false),
        ];
        for (word, want) in rows {
            assert_eq!(!named_files(&[OsString::from(&word)]).is_empty(), want, "{word}");
        }
    }
}
