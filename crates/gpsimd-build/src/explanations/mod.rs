//! Every error code with cause, example and remedy: what `explain` shows.
//!
//! The page `docs/errors.md` is the data. The tests below write it from the code of all crates and hold it current, so
//! that nothing is collected where the tool is built or run. Unaware of how an explanation looks on a terminal.

use schemars::JsonSchema;
use serde::Serialize;

const PAGE: &str = include_str!("../../docs/errors.md");

/// One error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Explanation<'page> {
    /// Stable.
    pub code: &'page str,
    /// Why it happens.
    pub cause: &'page str,
    /// A message, as it is shown.
    pub example: &'page str,
    /// What to do.
    pub remedy: &'page str,
}

/// All errors, sorted by code.
pub fn all() -> Vec<Explanation<'static>> {
    parse(PAGE)
}

fn parse(page: &str) -> Vec<Explanation<'_>> {
    page.split("\n### ").skip(1).filter_map(read).collect()
}

/// What follows `### `: the code, the cause, an example between fences, the remedy.
fn read(section: &str) -> Option<Explanation<'_>> {
    let (code, rest) = section.split_once("\n\n")?;
    let (cause, rest) = rest.split_once("\n\n```text\n")?;
    let (example, rest) = rest.split_once("\n```\n\nRemedy: ")?;
    let remedy = rest.lines().next()?;
    Some(Explanation { code, cause, example, remedy })
}

#[cfg(test)]
mod collected;
#[cfg(test)]
mod tests;
