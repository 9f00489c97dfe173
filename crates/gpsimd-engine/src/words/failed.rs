//! A failed command of the toolchain, and what its words mean for a kernel author.
//!
//! Unaware of the mistakes there are.

use std::fmt;
use std::path::PathBuf;

use miette::Diagnostic;

/// One kind of mistake, as `docs/errors.md` lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable code.
    pub code: &'static str,
    /// What went wrong.
    pub cause: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// The host lets no stack be executed.
pub(crate) const EXECUTABLE_STACK: &str = "compile::executable_stack";
/// A tool of the vendor's gets no licence.
pub(crate) const LICENCE: &str = "compile::licence";

/// A place in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// As the compiler names it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where only the line is known.
    pub column: u32,
}

impl Place {
    /// Whether it lies in a source of the author, not in one of the SDK, the toolchain or this tool's own.
    pub fn is_authors(&self) -> bool {
        const OTHERS: &[&str] = &["/gpsimd-sdk/", "/toolchain/", "/toolchains/", "/usr/lib/gcc/"];
        let is_installed = |(_, rest): (&str, &str)| {
            let hash = rest.split('/').next().unwrap_or_default();
            hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        !OTHERS.iter().any(|part| self.file.contains(part))
            && !self.file.starts_with("gpsimd-sdk/")
            && !self.file.split_once("/sdk/").is_some_and(is_installed)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(f, "{}:{}", self.file, self.line),
            column => write!(f, "{}:{}:{column}", self.file, self.line),
        }
    }
}

/// What the first error of an output means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Stable code; `engine::command_failed` where the words speak for themselves.
    pub code: &'static str,
    /// The cause, in a sentence.
    pub headline: String,
    /// What to do.
    pub remedy: String,
    /// Where.
    pub place: Option<Place>,
}

impl Verdict {
    /// Whether this machine lacks something, and the kernel is not at fault.
    pub fn is_about_the_machine(&self) -> bool {
        [EXECUTABLE_STACK, LICENCE].contains(&self.code)
    }
}

/// A compiler, linker or archiver that did not succeed.
#[derive(Debug)]
pub struct Failed {
    /// What its words mean.
    pub verdict: Verdict,
    /// `compile relu.cpp`.
    pub label: String,
    /// `exit status: 1`.
    pub status: String,
    /// The command's own words.
    pub output: String,
    /// Paste-able shell text.
    pub command: String,
    /// The log that has the command and its words, too.
    pub log: Option<PathBuf>,
}

impl Failed {
    /// Label, place and cause in a line.
    pub fn headline(&self) -> String {
        let Verdict { headline, place, .. } = &self.verdict;
        match place {
            Some(place) => format!("{} failed: {place}: {headline}", self.label),
            None => format!("{} failed: {headline}", self.label),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline())?;
        if self.output.is_empty() { Ok(()) } else { write!(f, "\n\n{}", self.output) }
    }
}

impl std::error::Error for Failed {}

impl Diagnostic for Failed {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.verdict.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let Self { verdict, command, .. } = self;
        Some(Box::new(format!("{}\nthe command, to try by hand:\n{command}", verdict.remedy)))
    }
}
