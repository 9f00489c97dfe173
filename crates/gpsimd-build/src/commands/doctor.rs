//! `doctor`: what this machine has, what it lacks, and the remedy of each lack.

use gpsimd_engine::Sdk;
use gpsimd_toolchain::{Home, Machine, Toolchain, packages};
use miette::{Diagnostic, Result};
use serde::Serialize;

use super::Outcome;
use crate::render::Render;

/// One thing looked at.
#[derive(Debug, Serialize)]
struct Finding {
    /// What was looked at.
    about: &'static str,
    /// Whether it is as it should be.
    good: bool,
    /// What was found.
    found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    /// The error's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

impl Finding {
    fn good(about: &'static str, found: impl Into<String>) -> Self {
        Self { about, good: true, found: found.into(), remedy: None, code: None }
    }

    fn bad(about: &'static str, error: &dyn Diagnostic) -> Self {
        Self {
            about,
            good: false,
            found: error.to_string(),
            remedy: error.help().map(|help| help.to_string()),
            code: error.code().map(|code| code.to_string()),
        }
    }
}

/// Looks at everything a build needs.
pub fn run(render: &Render) -> Result<Outcome> {
    let findings = examine();
    let healthy = findings.iter().all(|finding| finding.good);
    render.result(&findings, || findings.iter().map(line).collect())?;
    Ok(if healthy { Outcome::Good } else { Outcome::Findings })
}

fn examine() -> Vec<Finding> {
    let machine = Machine::here();
    let mut findings = vec![match packages::check(&machine) {
        Ok(()) => Finding::good("packages", "every distribution package of the open toolchain is here"),
        Err(error) => Finding::bad("packages", &error),
    }];
    let home = match Home::from_env() {
        Ok(home) => home,
        Err(error) => {
            findings.push(Finding::bad("data directory", &error));
            return findings;
        }
    };
    findings.push(Finding::good("data directory", home.path().display().to_string()));
    findings.push(match Toolchain::discover(&machine, &home) {
        Ok(Toolchain::Open(open)) => match open.verify() {
            Ok(()) => {
                Finding::good("toolchain", format!("{} in {}", open.compiler_version(), open.dir().display()))
            }
            Err(error) => Finding::bad("toolchain", &error),
        },
        Ok(other) => Finding::good("toolchain", other.compiler_version()),
        Err(error) => Finding::bad("toolchain", &error),
    });
    findings.push(match Sdk::locate(home.path()) {
        Ok(sdk) => Finding::good("device SDK", format!("content {}", &sdk.hash()[..16])),
        Err(error) => Finding::bad("device SDK", &error),
    });
    findings
}

fn line(finding: &Finding) -> String {
    let mark = if finding.good { "ok     " } else { "LACKING" };
    let mut text = format!("{mark} {:15} {}\n", finding.about, finding.found);
    if let Some(remedy) = &finding.remedy {
        text += &format!("        remedy          {remedy}\n");
    }
    text
}
