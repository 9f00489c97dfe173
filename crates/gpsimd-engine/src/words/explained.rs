//! A failed command whose words mean a known mistake.
//!
//! Unaware of the mistakes there are.

use std::fmt;

use miette::Diagnostic;

/// One kind of mistake; the signs are those of GCC, of Clang and of GNU ld.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable code.
    pub code: &'static str,
    /// Texts of which one is in the output of the failed command.
    pub signs: &'static [&'static str],
    /// What went wrong.
    pub cause: &'static str,
    /// What to do.
    pub remedy: &'static str,
}

/// A failed command whose words fit a [`Rule`].
#[derive(Debug)]
pub struct Explained {
    /// Which.
    pub rule: &'static Rule,
    /// `compile relu.cpp`.
    pub label: String,
    /// `exit status: 1`.
    pub status: String,
    /// The command's own words.
    pub output: String,
    /// Paste-able shell text.
    pub command: String,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { rule, label, status, output, .. } = self;
        write!(f, "{label} failed: {status}\n{}\n\n{output}", rule.cause)
    }
}

impl std::error::Error for Explained {}

impl Diagnostic for Explained {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.rule.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(format!("{}\nthe command, to try by hand:\n{}", self.rule.remedy, self.command)))
    }
}
