//! Licence sanity: every crate we link is under a licence that suits an Apache-2.0 binary.
//!
//! Unaware of versions and advisories.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::chores::cargo;

/// Licences that may end up in the binary.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Checks every package of the lock file.
pub fn check() -> Result<()> {
    let output =
        cargo().args(["metadata", "--format-version=1", "--locked"]).output().context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let unfit: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let licence = package["license"].as_str().unwrap_or("none");
            (!is_allowed(licence)).then(|| format!("{} ({licence})", package["name"].as_str().unwrap_or("?")))
        })
        .collect();
    if !unfit.is_empty() {
        bail!("licences to think about before linking: {}", unfit.join(", "));
    }
    println!("xtask: licences of {} packages are fine", packages.len());
    Ok(())
}

/// Whether an SPDX expression can be satisfied: one side of each OR, both of each AND.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], " ").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|name| ALLOWED.contains(&name.trim())))
}

#[cfg(test)]
mod tests {
    use super::is_allowed;

    #[test]
    fn expressions() {
        let rows = [
            ("MIT", true),
            ("MIT OR Apache-2.0", true),
            ("MIT/Apache-2.0", true),
            ("GPL-3.0", false),
            ("GPL-3.0 OR MIT", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("MIT AND GPL-2.0", false),
            ("none", false),
        ];
        for (expression, want) in rows {
            assert_eq!(is_allowed(expression), want, "{expression}");
        }
    }
}
