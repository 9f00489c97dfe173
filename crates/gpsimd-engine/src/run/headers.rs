//! The SDK's large headers, parsed once for all sources that begin with one: found, used, made.
//!
//! Nothing but time depends on them. A plan's commands do not name them, objects are the same bytes, dependency files
//! name the headers themselves, and whatever a compile by one says, a failure too, is said by one without. Unaware of what
//! else a build does.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gpsimd_toolchain::precompiled::Parsed;
use gpsimd_toolchain::{Command, CompileJob, depfile};

use crate::fresh::discovered;
use crate::words::digest::Digest;
use crate::words::disk::{self, locked};
use crate::words::error::EngineError;
use crate::words::kit::Kit;
use crate::words::request::Project;

/// What sources begin with and what takes long: each brings tensors.
const HEADERS: [&str; 5] =
    ["torch/torch.h", "torch/extension.h", "custom_op.h", "gpsimd/kit.hpp", "neuron/wrapper_api.h"];

/// Most that are kept with an SDK, of five MiB each; the oldest goes first.
const MOST: usize = 16;

/// What a source is read of: its first include stands below a comment.
const HEAD: u64 = 16 << 10;

/// In a header's folder: an empty file, what GCC takes in its place, and the names of the files that were parsed.
const FIRST: &str = "first.h";
const MADE: &str = "first.h.gch";
const LIST: &str = "list.json";

/// Runs a command; the text says what is being done.
type Start<'a> = dyn Fn(&str, &Command) -> Result<String, EngineError> + 'a;

/// Where headers are, and which ones this build found missing.
pub(crate) struct Headers {
    /// Holds a folder for each header and set of words.
    folder: PathBuf,
    /// The SDK's headers and the compiler's own: their content follows from the folder's name and the compiler's identity.
    directories: Vec<PathBuf>,
    /// The device's C++ compiler.
    program: PathBuf,
    identity: String,
    missing: Mutex<Missing>,
}

/// How a compile by a header that was parsed before went.
pub(crate) enum Tried {
    /// Its object and dependency file are what the compile without it would have made.
    Made,
    /// There is no such header for it.
    No,
    /// It failed, or said something: whether for the source's sake, the compile without it shows.
    Failed(PathBuf),
}

#[derive(Default)]
struct Missing {
    wanted: Vec<Wanted>,
    /// Those, and those that were tried.
    folders: BTreeSet<PathBuf>,
}

/// A header that is to be made.
pub(crate) struct Wanted {
    header: &'static str,
    folder: PathBuf,
    /// A compile that would have used it.
    command: Command,
}

impl Headers {
    /// `None` where objects are not known to be the same with them, or where a launcher starts compilers.
    pub(crate) fn of(project: &Project, kit: &Kit) -> Option<Headers> {
        let is_known = kit.toolchain.precompiles() && kit.compiles_sdk() && project.launcher.is_none();
        is_known.then(|| {
            let own = kit.toolchain.immutable_directories();
            let program = kit.toolchain.compile(&CompileJob::new("k.cpp", "k.o")).program;
            Headers {
                program,
                folder: kit.sdk.root().join("precompiled"),
                directories: [kit.sdk.include_dir()].into_iter().chain(own).collect(),
                identity: kit.toolchain.identity(),
                missing: Mutex::default(),
            }
        })
    }

    /// Compiles by a header that was parsed before, if there is one for this command.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] only.
    pub(crate) fn compile(
        &self,
        command: &Command,
        depfile: &Path,
        start: &Start,
    ) -> Result<Tried, EngineError> {
        let Some((parsed, header)) = self.begins_with(command) else { return Ok(Tried::No) };
        let folder = self.folder_of(&parsed, header);
        if !folder.is_dir() {
            self.want(Wanted { header, folder, command: command.clone() });
            return Ok(Tried::No);
        }
        let list = read_list(&folder.join(LIST)).filter(|_| folder.join(MADE).is_file());
        let Some(list) = list.filter(|list| !self.is_shadowed(&parsed, header, list)) else {
            return Ok(Tried::No);
        };
        tracing::debug!("<{header}> as it was parsed for {}", folder.display());
        match start("compile", &parsed.with(&folder.join(FIRST))) {
            Ok(said) if said.is_empty() && complete(depfile, &folder, &list).is_some() => Ok(Tried::Made),
            Err(error @ EngineError::Stopped) => Err(error),
            Ok(_) | Err(_) => Ok(Tried::Failed(folder)),
        }
    }

    /// Gives up a header by which a compile fails that succeeds without it.
    pub(crate) fn give_up(&self, folder: &Path) {
        tracing::debug!("{} is of no use", folder.display());
        let _ = fs::remove_file(folder.join(MADE));
    }

    /// The header of ours that a compile's source begins with.
    fn begins_with<'c>(&self, command: &'c Command) -> Option<(Parsed<'c>, &'static str)> {
        let parsed = Some(command).filter(|command| command.program == self.program).and_then(Parsed::of)?;
        let mut head = Vec::new();
        File::open(parsed.source).and_then(|file| file.take(HEAD).read_to_end(&mut head)).ok()?;
        let name = first_include(&head)?;
        HEADERS.into_iter().find(|header| header.as_bytes() == name).map(|header| (parsed, header))
    }

    fn folder_of(&self, parsed: &Parsed, header: &str) -> PathBuf {
        let words = parsed.key(&self.directories);
        let words = words.iter().map(|word| word.as_bytes());
        self.folder.join(
            Digest::of_parts([self.identity.as_bytes(), header.as_bytes()].into_iter().chain(words)).short(),
        )
    }

    /// Whether another file is found for one of the names that the header includes, beside the source or in a directory of
    /// the caller's.
    fn is_shadowed(&self, parsed: &Parsed, header: &str, list: &[PathBuf]) -> bool {
        let exists = |path: PathBuf| path.symlink_metadata().is_ok();
        if parsed.source.parent().is_some_and(|beside| exists(beside.join(header))) {
            return true;
        }
        let is_own = |directory: &&PathBuf| self.directories.iter().any(|own| directory.starts_with(own));
        let others: Vec<&PathBuf> = parsed.searched().iter().filter(|directory| !is_own(directory)).collect();
        // a name in the compiler's own directories may be found by more than one of them
        let own = || parsed.searched().iter().filter(is_own);
        let names = || list.iter().flat_map(|file| own().filter_map(|own| file.strip_prefix(own).ok()));
        others.into_iter().any(|other| names().any(|name| exists(other.join(name))))
    }

    fn want(&self, wanted: Wanted) {
        let mut missing = locked(&self.missing);
        if missing.folders.insert(wanted.folder.clone()) {
            missing.wanted.push(wanted);
        }
    }

    /// One that a compile would have used.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        locked(&self.missing).wanted.pop()
    }

    /// Makes a header, unless another build does. One that cannot be made is not tried again.
    pub(crate) fn make(&self, wanted: &Wanted, start: &Start) {
        match self.try_make(wanted, start) {
            Ok(()) | Err(EngineError::Stopped) => {}
            Err(error) => tracing::debug!("<{}> is parsed for every source: {error}", wanted.header),
        }
    }

    fn try_make(&self, wanted: &Wanted, start: &Start) -> Result<(), EngineError> {
        let Some(parsed) = Parsed::of(&wanted.command) else { return Ok(()) };
        disk::create(&self.folder)?;
        let path = self.folder.join("lock");
        let lock = disk::own_file(&path, File::options().create(true).truncate(false).write(true))?;
        if lock.try_lock().is_err() || wanted.folder.is_dir() {
            return Ok(());
        }
        let scratch = disk::unfinished_directory(&self.folder)?;
        let at = |name: &str| scratch.path().join(name);
        disk::write(&at(FIRST), format!("#include <{}>\n", wanted.header).as_bytes())?;
        let (made, listed) = (at(MADE), at("list.d"));
        let command = parsed.make(&self.directories, &at(FIRST), &made, &listed);
        match start("compile a header", &command) {
            Err(error @ EngineError::Stopped) => return Err(error),
            Ok(said) if said.is_empty() => {
                let bytes = disk::read(&listed)?;
                let list = depfile::parse(&bytes).map(|rule| rule.inputs).unwrap_or_default();
                let list: Vec<PathBuf> = list.into_iter().filter(|file| *file != at(FIRST)).collect();
                let is_own = |file: &PathBuf| self.directories.iter().any(|own| file.starts_with(own));
                if list.iter().all(is_own) {
                    disk::replace_json(&at(LIST), &list)?;
                }
            }
            Ok(_) | Err(_) => {}
        }
        if !at(LIST).is_file() {
            // its folder says that there is none
            let _ = fs::remove_file(made);
        }
        disk::write(&at(FIRST), b"")?;
        self.forget_oldest();
        disk::finish_directory(scratch, &wanted.folder)
    }

    /// Removes what has been there longest, if there are many.
    fn forget_oldest(&self) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let folders = entries.filter_map(|entry| {
            let found = entry.metadata().ok().filter(fs::Metadata::is_dir)?;
            Some((found.modified().ok()?, entry.path()))
        });
        let mut folders: Vec<_> = folders.collect();
        folders.sort();
        let surplus = folders.len().saturating_sub(MOST);
        for (_, folder) in folders.into_iter().take(surplus) {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

fn read_list(path: &Path) -> Option<Vec<PathBuf>> {
    serde_json::from_slice(&disk::read_own(path).ok()?).ok()
}

/// Lets a dependency file name the files of the header, where the compile without it would have.
fn complete(depfile: &Path, folder: &Path, list: &[PathBuf]) -> Option<()> {
    let bytes = fs::read(depfile).ok()?;
    let mut inputs = depfile::parse(&bytes).ok()?.inputs.into_iter();
    let source = inputs.next()?;
    let mut seen = BTreeSet::new();
    let files = [source].into_iter().chain(list.iter().cloned()).chain(inputs);
    let files: Vec<PathBuf> =
        files.filter(|file| !file.starts_with(folder) && seen.insert(file.clone())).collect();
    fs::write(depfile, discovered::render(files.iter().map(PathBuf::as_path))).ok()
}

/// What the first line that is neither blank nor comment includes. `None` for any other line, and for what only looks like a
/// comment to some.
fn first_include(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        rest = rest.trim_ascii_start();
        if let Some(comment) = rest.strip_prefix(b"//") {
            let end = comment.iter().position(|&byte| byte == b'\n')?;
            let (line, after) = comment.split_at_checked(end)?;
            // goes on in the next line
            if line.trim_ascii_end().ends_with(b"\\") || line.trim_ascii_end().ends_with(b"??/") {
                return None;
            }
            rest = after;
        } else if let Some(comment) = rest.strip_prefix(b"/*") {
            let end = comment.windows(2).position(|two| two == b"*/")?;
            rest = comment.get(end + 2..)?;
        } else if let Some(line) = rest.strip_prefix(b"#line ") {
            // what generators write
            rest = line.get(line.iter().position(|&byte| byte == b'\n')?..)?;
        } else {
            break;
        }
    }
    let line = rest.strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"include")?;
    let line = line.get(..line.iter().position(|&byte| byte == b'\n')?)?.trim_ascii();
    let close = match line.first()? {
        b'<' => b'>',
        b'"' => b'"',
        _ => return None,
    };
    let (name, after) =
        line.get(1..)?.split_at_checked(line.iter().skip(1).position(|&byte| byte == close)?)?;
    let after = after.get(1..)?.trim_ascii();
    (after.is_empty() || after.starts_with(b"//") && !after.ends_with(b"\\")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_include_is_found_or_there_is_none() {
        let rows: &[(&str, Option<&str>)] = &[
            ("#include <torch/torch.h>\n", Some("torch/torch.h")),
            ("#include \"custom_op.h\" // tensors\nint x;\n", Some("custom_op.h")),
            ("\n// Copyright\n/* a\n b */ /**/\n\t#  include<a.h>\r\n", Some("a.h")),
            (
                "// AUTO GENERATED\n#line 3 \"wrapper.cpp\"\n#include \"neuron/wrapper_api.h\"\n",
                Some("neuron/wrapper_api.h"),
            ),
            ("#define N 1\n#include <a.h>\n", None),
            ("#pragma once\n#include <a.h>\n", None),
            ("#if 1\n#include <a.h>\n#endif\n", None),
            ("// goes on \\\n#include <a.h>\n#include <b.h>\n", None),
            ("// goes on \\ \n#include <a.h>\n#include <b.h>\n", None),
            ("/* never ends\n#include <a.h>\n", None),
            ("#include MACRO\n", None),
            ("#include <a.h> int x;\n", None),
            ("#include <a.h>", None),
            ("#include <a.h\n>\n", None),
            ("#include_next <a.h>\n", None),
            ("\u{feff}#include <a.h>\n", None),
            ("", None),
        ];
        for (text, want) in rows {
            assert_eq!(first_include(text.as_bytes()), want.map(str::as_bytes), "{text:?}");
        }
    }
}
