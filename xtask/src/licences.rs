//! Licence sanity: every crate we link is under a licence that suits an Apache-2.0 binary.
//!
//! `deny.toml` says which do, for `cargo deny` too. Unaware of versions and advisories.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use spdx::{Expression, LicenseReq, ParseMode};

use crate::chores::{cargo, root};

/// What of `deny.toml` is read here.
#[derive(Deserialize)]
struct Deny {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

/// What of `cargo metadata` is read here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    license: Option<String>,
}

/// Checks every package of the lock file.
pub fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let allowed = toml::from_str::<Deny>(&text).context("deny.toml")?.licenses.allow;
    let output =
        cargo().args(["metadata", "--format-version=1", "--locked"]).output().context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let Metadata { packages } = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let unfit: Vec<String> = packages
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(|licence| is_met(licence, &allowed)))
        .map(|package| format!("{} ({})", package.name, package.license.as_deref().unwrap_or("none")))
        .collect();
    if !unfit.is_empty() {
        bail!("licences to think about before linking: {}", unfit.join(", "));
    }
    println!("xtask: licences of {} packages are fine", packages.len());
    Ok(())
}

/// Whether an SPDX expression can be met by the allowed licences.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let is_allowed = |required: &LicenseReq| allowed.contains(&required.to_string());
    // lax: older manifests write MIT/Apache-2.0
    Expression::parse_mode(expression, ParseMode::LAX).is_ok_and(|expression| expression.evaluate(is_allowed))
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn expressions() {
        let allowed =
            ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        let rows = [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT AND GPL-2.0", false),
            ("none", false),
        ];
        for (expression, want) in rows {
            assert_eq!(is_met(expression, &allowed), want, "{expression}");
        }
    }
}
