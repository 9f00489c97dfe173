//! What a build read, for the build system around it: sources and the headers that compilers found, as one rule in the
//! format that make and ninja read.
//!
//! Unaware of when something is rebuilt. The tool's own files (SDK, scratch) are left out: they follow from the tool,
//! which the outer build system names as an input of its own.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use miette::Diagnostic;

use crate::fresh::discovered;
use crate::plan::Plan;
use crate::words::error::{EngineError, Problem};

/// A name that make's syntax has no way to write.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("a dependency file cannot name {path:?}: the name holds a line break or ends in a backslash")]
#[diagnostic(code(engine::depfile_name), help("rename it, or build without --depfile"))]
struct Unwritable {
    path: PathBuf,
}

/// Every file outside this tool's own directories that the finished build of `plan` read.
///
/// # Errors
/// A dependency file of a compiler is missing or does not read.
pub fn dependencies(plan: &Plan) -> Result<BTreeSet<PathBuf>, EngineError> {
    let sources = &plan.job.project.sources;
    let mut found: BTreeSet<PathBuf> = sources.iter().map(|source| source.path.clone()).collect();
    let mut own = vec![plan.work.as_path(), plan.kit.sdk.root()];
    own.extend(plan.kit.toolchain.directory());
    let is_ours = |path: &Path| own.iter().any(|own| path.starts_with(own));
    for action in &plan.actions {
        if action.inputs.first().is_some_and(|source| source.starts_with(plan.kit.sdk.root())) {
            continue;
        }
        let inputs = discovered::listed(action)?.unwrap_or_default();
        found.extend(inputs.into_iter().filter(|path| !is_ours(path)));
    }
    Ok(found)
}

/// One rule that says `target` follows from `inputs`, and an empty rule for each input, so that one that goes away makes
/// a rebuild and not an error.
///
/// # Errors
/// A name that make's syntax cannot hold.
pub fn depfile_rule(target: &Path, inputs: &BTreeSet<PathBuf>) -> Result<Vec<u8>, EngineError> {
    let mut text = quoted(target)?;
    text.push(b':');
    for input in inputs {
        text.extend_from_slice(b" \\\n  ");
        text.extend(quoted(input)?);
    }
    text.push(b'\n');
    for input in inputs {
        text.extend(quoted(input)?);
        text.extend_from_slice(b":\n");
    }
    Ok(text)
}

/// Quotes as GCC's `-MQ` does, which is what make and ninja undo: blanks and the backslashes before them, `#`, `$`.
fn quoted(path: &Path) -> Result<Vec<u8>, EngineError> {
    let name = path.as_os_str().as_bytes();
    if name.contains(&b'\n') || name.contains(&b'\r') || name.last().is_none_or(|&byte| byte == b'\\') {
        let problem = Problem::new(Unwritable { path: path.to_owned() });
        return Err(EngineError::Stage { path: path.to_owned(), problem });
    }
    let mut out: Vec<u8> = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b' ' | b'\t' => {
                let run = out.iter().rev().take_while(|&&before| before == b'\\').count();
                out.resize(out.len() + run + 1, b'\\');
            }
            b'#' => out.push(b'\\'),
            b'$' => out.push(b'$'),
            _ => {}
        }
        out.push(byte);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let names =
            ["a.cpp", "my dir/a b.h", "b#1.h", "c$x.h", "d\\e.h", "grün.h", "back\\ slash.h", "x:y.h"];
        let inputs: BTreeSet<PathBuf> = names.iter().map(PathBuf::from).collect();
        let text = depfile_rule(Path::new("out put/k.stamp"), &inputs).expect("writable names");
        let rule = gpsimd_toolchain::depfile::parse(&text).expect("a rule");
        assert_eq!(rule.target, Path::new("out put/k.stamp"));
        assert_eq!(rule.inputs.into_iter().collect::<BTreeSet<_>>(), inputs);
    }

    #[test]
    fn a_name_that_cannot_be_written_is_refused() {
        for name in ["two\nlines.h", "cr\r.h", "ends\\", ""] {
            let error = depfile_rule(Path::new("k"), &BTreeSet::from([name.into()])).expect_err(name);
            assert_eq!(error.code().map(|code| code.to_string()).as_deref(), Some("engine::depfile_name"));
        }
    }
}
