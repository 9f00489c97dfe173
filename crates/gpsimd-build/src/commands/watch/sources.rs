//! Which files a command may read, as far as its arguments tell.
//!
//! Unaware of how changes are noticed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::cli::{Command, Compile, Run};

/// What may stand in a kernel's directories and matter to it.
const READ: &[&str] = &["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "tpp", "py"];

/// The files of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sources {
    /// Files that it names, whatever they are.
    named: BTreeSet<PathBuf>,
    /// Where other sources and headers lie, at any depth.
    directories: BTreeSet<PathBuf>,
    /// Where it writes.
    out: PathBuf,
}

impl Sources {
    /// Of a command.
    pub fn of(command: &Command) -> Self {
        let mut sources = Self::default();
        match command {
            Command::Compile(arguments) => sources.compile(arguments),
            Command::Run(arguments) => sources.run(arguments),
            Command::Test(arguments) => {
                sources.compile(&arguments.compile);
                sources.inputs(&arguments.inputs);
                sources.name_all(&arguments.expect);
                // where Python finds the module of a reference
                sources.directory(Path::new("."));
            }
            _ => {}
        }
        sources
    }

    /// What to watch, each with all below it.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.directories.iter().map(PathBuf::as_path)
    }

    /// Whether a file is one of them.
    pub fn contain(&self, path: &Path) -> bool {
        let is_read = || path.extension().and_then(OsStr::to_str).is_some_and(|ext| READ.contains(&ext));
        let is_hidden = || {
            let below = self.directories().filter_map(|directory| path.strip_prefix(directory).ok());
            below.flat_map(Path::components).any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
        };
        self.named.contains(path) || (is_read() && !path.starts_with(&self.out) && !is_hidden())
    }

    fn compile(&mut self, arguments: &Compile) {
        self.name_all(&arguments.sources);
        self.name_all(&arguments.shape_sources);
        arguments.includes.iter().for_each(|include| self.directory(Path::new(include)));
        self.out = real(&arguments.out_dir);
    }

    fn run(&mut self, arguments: &Run) {
        let mut manifest = arguments.library.clone().into_os_string();
        manifest.push(".manifest.json");
        self.name_all(&[arguments.library.clone(), PathBuf::from(manifest)]);
        self.name_all(&arguments.call.sources);
        self.name_all(&arguments.call.shape_sources);
        self.inputs(&arguments.call.inputs);
        for flag in &arguments.call.cflags {
            if let Some(directory) = flag.to_str().and_then(|flag| flag.strip_prefix("-I")) {
                self.directory(Path::new(directory));
            }
        }
        self.out = real(&arguments.out_dir);
    }

    fn inputs(&mut self, inputs: &[String]) {
        self.name_all(inputs.iter().filter(|input| input.ends_with(".npy")));
    }

    fn name_all(&mut self, files: impl IntoIterator<Item = impl AsRef<Path>>) {
        for file in files {
            // by both names, where it is a link: an editor writes either
            for path in [named(file.as_ref()), real(file.as_ref())] {
                self.directory(path.parent().unwrap_or(Path::new("/")));
                self.named.insert(path);
            }
        }
    }

    /// A directory, if it is one.
    fn directory(&mut self, path: &Path) {
        if path.is_dir() {
            self.directories.insert(real(path));
        }
    }
}

/// The file itself.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| named(path))
}

/// Its name in the directory itself.
fn named(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match (path.parent().map(Path::canonicalize), path.file_name()) {
        (Some(Ok(directory)), Some(name)) => directory.join(name),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn what_counts() {
        let scratch = tempfile::tempdir().expect("a directory");
        let root = scratch.path().canonicalize().expect("it is there");
        for directory in ["src/deep/.git", "inc", "build"] {
            std::fs::create_dir_all(root.join(directory)).expect("made");
        }
        std::fs::write(root.join("src/k.cpp"), "").expect("written");
        std::os::unix::fs::symlink(root.join("src/k.cpp"), root.join("src/link.cpp")).expect("linked");
        let at = |name: &str| root.join(name).display().to_string();
        let line = [
            "gpsimd-build",
            "run",
            &at("src/link.cpp"),
            &at("src/x.npy"),
            "rand:8",
            "-o",
            &at("src/y.npy"),
            "--out-dir",
            &at("build"),
            "--",
            &format!("-I{}", at("inc")),
        ];
        let command = Cli::try_parse_from(line).expect("it reads").command;
        let sources = Sources::of(&command);
        let rows = [
            ("src/k.cpp", true),
            ("src/link.cpp", true),
            ("src/x.npy", true),
            ("src/deep/h.hpp", true),
            ("inc/common.h", true),
            ("src/reference.py", true),
            ("src/y.npy", false),
            ("src/notes.txt", false),
            ("src/k.cpp~", false),
            ("src/.k.cpp.swp", false),
            ("src/deep/.git/h.hpp", false),
            ("build/wrapper.cpp", false),
        ];
        for (name, want) in rows {
            assert_eq!(sources.contain(&root.join(name)), want, "{name}");
        }
        let watched: Vec<&Path> = sources.directories().collect();
        assert_eq!(watched, [root.join("inc"), root.join("src")]);
    }
}
