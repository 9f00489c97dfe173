//! Which toolchain a build uses, and why that one.
//!
//! Unaware of builds. Everything comes in as a value: options, machine, variables.

use clap::ValueEnum as _;
use gpsimd_toolchain::{Environment, Home, Machine, Toolchain, ToolchainError, VendorError, XtensaTools};
use miette::{Diagnostic, Result};

use crate::cli::{Compiler, Which};

/// Names a toolchain for a whole project or session.
const VARIABLE: &str = "GPSIMD_BUILD_TOOLCHAIN";

/// A toolchain and how it came to be chosen.
#[derive(Debug)]
pub struct Choice {
    /// The toolchain.
    pub toolchain: Toolchain,
    /// `open`, `vendor` or `gnu`.
    pub name: &'static str,
    /// A clause such as `xtensa-tools is complete`.
    pub why: String,
}

#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{VARIABLE} is {text:?}")]
#[diagnostic(code(cli::toolchain), help("it may be auto, open or vendor"))]
struct Unknown {
    text: String,
}

/// Chooses by the options, then the variable, then by what is there.
///
/// # Errors
/// The chosen toolchain is not there or not complete; where nothing was chosen, why the open one is not.
pub fn choose(
    compiler: &Compiler,
    machine: &Machine,
    home: &Home,
    environment: &Environment,
) -> Result<Choice> {
    if let Some(prefix) = &compiler.gnu_prefix {
        let toolchain = Toolchain::discover_gnu(machine, prefix)?;
        return Ok(Choice { toolchain, name: "gnu", why: format!("--gnu-prefix {prefix}") });
    }
    let (which, asked) = match compiler.toolchain {
        Some(which) => (which, "--toolchain asks for it".to_owned()),
        None => (of_variable(std::env::var(VARIABLE).ok().as_deref())?, format!("{VARIABLE} asks for it")),
    };
    let open = |why| -> Result<Choice> {
        Ok(Choice { toolchain: Toolchain::discover(machine, home)?, name: "open", why })
    };
    let vendor = |why| move |tools| Choice { toolchain: Toolchain::Vendor(tools), name: "vendor", why };
    match which {
        Which::Open => open(asked),
        Which::Vendor => Ok(XtensaTools::discover(machine, environment).map(vendor(asked))?),
        Which::Auto => match XtensaTools::discover(machine, environment) {
            Ok(tools) => Ok(vendor("xtensa-tools is here and complete".to_owned())(tools)),
            Err(error) => open(why_not(&error)),
        },
    }
}

/// How the choice falls, in words, as long as it does not fall on the vendor's toolchain; that one has more files and
/// variables than can be watched.
pub fn unless_vendor(compiler: &Compiler) -> Option<String> {
    if compiler.gnu_prefix.is_some() {
        return Some("gnu".to_owned());
    }
    match compiler
        .toolchain
        .map_or_else(|| of_variable(std::env::var(VARIABLE).ok().as_deref()).ok(), Some)?
    {
        Which::Open => Some("open".to_owned()),
        Which::Vendor => None,
        Which::Auto => {
            XtensaTools::discover(&Machine::here(), &Environment::here()).err().map(|error| why_not(&error))
        }
    }
}

fn of_variable(text: Option<&str>) -> Result<Which, Unknown> {
    match text {
        None | Some("") => Ok(Which::Auto),
        Some(text) => Which::from_str(text, true).map_err(|_| Unknown { text: text.to_owned() }),
    }
}

/// One line of why the vendor's toolchain was not taken.
fn why_not(error: &ToolchainError) -> String {
    match error {
        ToolchainError::Vendor(VendorError::Absent { .. }) => "xtensa-tools is not installed".to_owned(),
        ToolchainError::Vendor(VendorError::Incomplete { missing }) => {
            let first = missing.first().map(|file| file.path.display().to_string()).unwrap_or_default();
            match missing.len() {
                1 => format!("xtensa-tools is incomplete: {first} is missing"),
                count => format!("xtensa-tools is incomplete: {first} and {} more are missing", count - 1),
            }
        }
        other => format!("xtensa-tools cannot be used: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_may_be_empty_but_not_wrong() {
        let rows = [
            (None, Some(Which::Auto)),
            (Some(""), Some(Which::Auto)),
            (Some("Vendor"), Some(Which::Vendor)),
            (Some("open"), Some(Which::Open)),
            (Some("gcc"), None),
        ];
        for (text, want) in rows {
            assert_eq!(of_variable(text).ok(), want, "{text:?}");
        }
    }
}
