//! A process to start: program, argument vector, additions to the child's environment.
//!
//! Unaware of what the program is. No shell ever sees these words (spec `toolchain.md` §14, Q1): [`Command::to_std`]
//! hands them over as they are, and the shell text of `Display` is for people.

use std::ffi::{OsStr, OsString};
use std::fmt::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Variables through which GCC takes include and library directories, its own programs or extra outputs without
/// being told on the command line. [`Command::to_std`] removes them, so the argument vector alone decides the result.
const IMPLICIT_INPUTS: &[&str] = &[
    "COMPILER_PATH",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "C_INCLUDE_PATH",
    "DEPENDENCIES_OUTPUT",
    "GCC_COMPARE_DEBUG",
    "GCC_EXEC_PREFIX",
    "LDEMULATION",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "SUNPRO_DEPENDENCIES",
    crate::open::CONFIGURATION,
];

/// One process: what to start and with which words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Command {
    /// The program; looked up in `PATH` if it has no slash.
    #[serde(with = "crate::text")]
    pub program: PathBuf,
    /// Arguments after the program name.
    #[serde(with = "crate::text")]
    pub args: Vec<OsString>,
    /// Variables set for the child only, on top of the environment it inherits.
    #[serde(with = "crate::text", default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(OsString, OsString)>,
}

impl Command {
    /// A command without arguments.
    pub fn new(program: impl Into<PathBuf>) -> Command {
        Command { program: program.into(), args: Vec::new(), env: Vec::new() }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Command {
        self.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Command {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable in the child's environment.
    pub fn env(mut self, key: impl Into<OsString>, value: impl Into<OsString>) -> Command {
        self.env.push((key.into(), value.into()));
        self
    }

    /// The same process, started by another program.
    pub(crate) fn started_by(self, launcher: &Path) -> Command {
        Command { env: self.env, ..Command::new(launcher).arg(self.program).args(self.args) }
    }

    /// The same process for `std::process`; the variables by which GCC takes hidden inputs are removed.
    pub fn to_std(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.args);
        for name in IMPLICIT_INPUTS {
            command.env_remove(name);
        }
        // a compiler looks for its own programs there, too
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", crate::machine::search_path(&path));
        }
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }
}

impl fmt::Display for Command {
    /// POSIX shell text that starts the same process when pasted, whatever bytes the words hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (key, value) in &self.env {
            // A name is no place for quotes; names are ours and plain.
            write!(f, "{}={} ", key.to_string_lossy(), Quoted { word: value, first: false })?;
        }
        write!(f, "{}", Quoted { word: self.program.as_os_str(), first: true })?;
        for arg in &self.args {
            write!(f, " {}", Quoted { word: arg, first: false })?;
        }
        Ok(())
    }
}

/// A word as any POSIX shell reads it back.
struct Quoted<'a> {
    word: &'a OsStr,
    /// In command position `a=b` would be an assignment.
    first: bool,
}

impl Quoted<'_> {
    fn is_plain(&self) -> bool {
        let bytes = self.word.as_bytes();
        !bytes.is_empty()
            && bytes.iter().all(|&b| {
                b.is_ascii_alphanumeric() || b"_-./,:+@%".contains(&b) || (b == b'=' && !self.first)
            })
    }
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_plain() {
            return f.write_str(&self.word.to_string_lossy());
        }
        f.write_char('\'')?;
        for chunk in self.word.as_bytes().utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\'' => f.write_str(r"'\''")?,
                    // A newline survives a paste; other control characters are acted on by the terminal.
                    c if c.is_control() && c != '\n' => {
                        let mut utf8 = [0; 4];
                        write_escaped(f, c.encode_utf8(&mut utf8).as_bytes())?;
                    }
                    c => f.write_char(c)?,
                }
            }
            write_escaped(f, chunk.invalid())?;
        }
        f.write_char('\'')
    }
}

/// Bytes that text cannot hold, for the middle of a single-quoted word. `$'…'` is not in every `/bin/sh`, printf is.
fn write_escaped(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    if bytes.is_empty() {
        return Ok(());
    }
    f.write_str("'\"$(printf '")?;
    for byte in bytes {
        write!(f, "\\{byte:03o}")?;
    }
    f.write_str("')\"'")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    fn text(arg: &[u8]) -> String {
        Command::new("p").arg(OsString::from_vec(arg.to_vec())).to_string()
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_would_stumble() {
        let rows: &[(&[u8], &str)] = &[
            (b"-std=c++14", "p -std=c++14"),
            (b"a b", "p 'a b'"),
            (b"", "p ''"),
            (b"it's", r"p 'it'\''s'"),
            (b"a;b$c`d", "p 'a;b$c`d'"),
            (b"two\nlines", "p 'two\nlines'"),
            ("grün".as_bytes(), "p 'grün'"),
            (b"\xff", r#"p ''"$(printf '\377')"''"#),
            (b"a\tb", r#"p 'a'"$(printf '\011')"'b'"#),
            (b"~", "p '~'"),
            (b"*", "p '*'"),
        ];
        for (word, want) in rows {
            assert_eq!(text(word), *want);
        }
        assert_eq!(Command::new("a=b").env("K", "v w").arg("c=d").to_string(), "K='v w' 'a=b' c=d");
    }

    #[test]
    fn implicit_inputs_do_not_reach_the_child() {
        let command = Command::new("gcc").env("XTENSA_GNU_CONFIG", "/x.so").to_std();
        let env: Vec<_> = command.get_envs().collect();
        assert!(env.contains(&(OsStr::new("CPATH"), None)));
        assert!(env.contains(&(OsStr::new("XTENSA_GNU_CONFIG"), Some(OsStr::new("/x.so")))));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

        /// What `Display` prints, `/bin/sh` reads back as the same bytes.
        #[test]
        fn sh_reads_back_the_same_words(words in proptest::collection::vec(proptest::collection::vec(1u8..=255, 0..12), 0..6)) {
            let args: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            let command = Command::new("printf").arg("%s\\0").args(args.clone());
            let out = std::process::Command::new("/bin/sh").arg("-c").arg(command.to_string()).output().expect("/bin/sh starts");
            let want = std::process::Command::new("printf").arg("%s\\0").args(args).output().expect("printf starts");
            proptest::prop_assert_eq!(out.stdout, want.stdout);
        }
    }
}
