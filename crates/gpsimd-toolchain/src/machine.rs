//! The machine a toolchain is looked for on: where its files begin, what is in `PATH`, who is asking.
//!
//! Unaware of compilers. A test gives another root and another `PATH` and so plays a machine without packages; packages
//! that were unpacked for one install only are a machine of their own.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// A file system root, a program search path and a user.
#[derive(Debug, Clone)]
pub struct Machine {
    root: PathBuf,
    path: OsString,
    /// What relative program names and `PATH` entries are relative to.
    dir: PathBuf,
    is_root: bool,
    /// Where programs are whose places hold scripts that start them.
    moved: Option<PathBuf>,
}

/// `PATH` without empty elements: they mean the current directory, which may be a stranger's.
pub(crate) fn search_path(path: &OsStr) -> OsString {
    let elements: Vec<&[u8]> =
        path.as_bytes().split(|&byte| byte == b':').filter(|part| !part.is_empty()).collect();
    OsString::from_vec(elements.join(&b':'))
}

impl Machine {
    /// This machine, with this process's `PATH` and user.
    pub fn here() -> Machine {
        let path = search_path(&std::env::var_os("PATH").unwrap_or_default());
        // The owner of a process's /proc entry is its effective user.
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
        let dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        Machine { root: PathBuf::from("/"), path, dir, is_root, moved: None }
    }

    /// A machine whose file system begins at `root`, the current directory, and whose programs are in `path`
    /// (`:`-separated).
    pub fn at(root: impl Into<PathBuf>, path: impl Into<OsString>, is_root: bool) -> Machine {
        let root = root.into();
        Machine { dir: root.clone(), root, path: path.into(), is_root, moved: None }
    }

    /// Packages unpacked below `root`, which has no links on the way; programs that only scripts can start are in `moved`.
    pub(crate) fn unpacked(root: PathBuf, moved: PathBuf) -> Machine {
        let path = root.join("usr/bin");
        Machine { moved: Some(moved), ..Machine::at(root, path, false) }
    }

    /// What a file below its root is called on this machine, `..` on the way taken out.
    pub(crate) fn name(&self, file: &Path) -> PathBuf {
        let mut name = PathBuf::from("/");
        for component in file.strip_prefix(&self.root).unwrap_or(file).components() {
            match component {
                Component::Normal(part) => name.push(part),
                Component::ParentDir => drop(name.pop()),
                _ => {}
            }
        }
        name
    }

    /// The program itself, where its place holds a script that starts it.
    pub(crate) fn program_file(&self, file: &Path) -> PathBuf {
        let moved = self.moved.as_ref().zip(file.strip_prefix(&self.root).ok());
        moved.map(|(to, name)| to.join(name)).filter(|to| to.exists()).unwrap_or_else(|| file.to_owned())
    }

    /// Whether commands run as the superuser.
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    /// An absolute path below this machine's root.
    pub fn file(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// Where packages have libraries, as loaders are told.
    pub(crate) fn library_path(&self) -> OsString {
        let dirs = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"].map(|dir| self.file(dir));
        let mut path = dirs[0].clone().into_os_string();
        path.push(":");
        path.push(&dirs[1]);
        path
    }

    /// Where a program is, as an absolute path; a name with a slash is not looked for in `PATH`.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        which::which_in(name, Some(&self.path), &self.dir).ok()
    }

    /// The last, by name, of the files in `dir` whose names start and end so.
    pub fn newest(&self, dir: &str, start: &str, end: &str) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.file(dir)).ok()?;
        entries
            .flatten()
            .filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(start) && n.ends_with(end)))
            .map(|e| e.path())
            .max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_elements_are_no_directories() {
        for (path, want) in [(":/a::/b:", "/a:/b"), ("", ""), (":", ""), (".:/a", ".:/a")] {
            assert_eq!(search_path(path.as_ref()), want, "{path}");
        }
    }

    #[test]
    fn names_are_of_the_machine() {
        let machine = Machine::unpacked("/r".into(), "/m".into());
        let rows = [("/r/usr/bin/../lib/gcc", "/usr/lib/gcc"), ("/r/a", "/a"), ("/b/a", "/b/a"), ("/r", "/")];
        for (file, want) in rows {
            assert_eq!(machine.name(file.as_ref()), Path::new(want), "{file}");
        }
        assert_eq!(Machine::at("/", "", true).name("/usr/x".as_ref()), Path::new("/usr/x"));
    }

    #[test]
    fn programs_are_absolute_wherever_they_were_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for name in ["bin/cc", "tools/x-gcc"] {
            crate::testing::script(&root.join(name), "");
        }
        std::fs::write(root.join("bin/readme"), "").unwrap();
        let machine = Machine::at(root, root.join("bin"), false);
        let rows =
            [("cc", Some("bin/cc")), ("tools/x-gcc", Some("tools/x-gcc")), ("x-gcc", None), ("readme", None)];
        for (name, want) in rows {
            assert_eq!(machine.program(name), want.map(|w| root.join(w)), "{name}");
        }
    }
}
