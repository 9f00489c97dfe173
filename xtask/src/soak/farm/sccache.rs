//! `sccache` as a launcher: a second build of the same is all hits. Debian's package has the client of its distributed mode, and
//! no server for it; one that is configured is asked by the same plan.
//!
//! Unaware of what is compiled.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{compare, ninja, plan};
use crate::soak::yard::{Yard, good};

/// The first library, twice.
pub fn storm(yard: &Yard) -> Result<String> {
    plan(yard, 1, "sccache", &["--launcher", "sccache"])?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let store = yard.path("sccache-store");
    let store = store.to_string_lossy();
    let variables =
        [("SCCACHE_DIR", store.as_ref()), ("SCCACHE_SERVER_PORT", &port), ("SCCACHE_IDLE_TIMEOUT", "0")];
    let sccache = |word: &[&str]| {
        let mut command = Command::new("sccache");
        command.args(word).envs(variables);
        command
    };
    good(&mut sccache(&["--start-server"]))?;
    let built = (|| {
        good(ninja(yard, "sccache").envs(variables))?;
        fs::remove_dir_all(yard.path("sccache"))?;
        plan(yard, 1, "sccache", &["--launcher", "sccache"])?;
        good(ninja(yard, "sccache").envs(variables))?;
        let said = good(&mut sccache(&["--show-stats", "--stats-format=json"]))?;
        let stats: Value = serde_json::from_str(&said).context("sccache's statistics")?;
        let count = |name: &str| {
            let kinds = stats["stats"][name]["counts"].as_object().into_iter().flatten();
            kinds.filter_map(|(_, count)| count.as_u64()).sum::<u64>()
        };
        let (hits, misses) = (count("cache_hits"), count("cache_misses"));
        ensure!(hits > 0 && hits == misses, "{hits} hits, {misses} misses: {said}");
        let ships = compare(yard, 1, "plain", "sccache")?;
        Ok(format!("sccache: {misses} compiles, then {hits} hits, {ships} equal"))
    })();
    good(&mut sccache(&["--stop-server"]))?;
    built
}
