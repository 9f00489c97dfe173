//! Many builds at the same time: in one directory of one library, in one directory of several, in many directories with
//! one cache.
//!
//! Unaware of how builds wait for each other.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::yard::{Outputs, Yard};

pub fn storm(yard: &Yard, builds: usize) -> Result<String> {
    let alone = |name: &str, multicore: bool| -> Result<Outputs> {
        let mut line = vec!["compile", "vector_add.cpp", "--out-dir", "alone", "--name", name];
        line.extend(multicore.then_some("--multicore"));
        yard.good(&line)?;
        let found = yard.outputs("alone");
        fs::remove_dir_all(yard.path("alone"))?;
        Ok(found)
    };
    let one = alone("one", true)?;
    let names: Vec<String> = (0..builds).map(|index| format!("lib{index}")).collect();
    // the crowd meets no cache but what its own members put there
    let cache = yard.home().join("cache");
    if cache.exists() {
        fs::remove_dir_all(&cache)?;
    }
    let begin = Instant::now();
    let mut children = Vec::new();
    for (index, name) in names.iter().enumerate() {
        let own = format!("own{index}");
        let (dir, name, multicore) = match index % 3 {
            0 => ("same", "one", true),
            1 => ("shared", name.as_str(), false),
            _ => (own.as_str(), "one", true),
        };
        let mut line = vec!["compile", "vector_add.cpp", "-j", "2", "--out-dir", dir, "--name", name];
        line.extend(multicore.then_some("--multicore"));
        line.extend((index % 5 == 4).then_some("--no-cache"));
        let mut command = yard.call(&line);
        command.args(["--json"]).stdout(Stdio::null()).stderr(Stdio::piped());
        // the last of them waits for all the others
        let child = command.spawn().context("a build")?;
        children.push((dir.to_owned(), name.to_owned(), child));
    }
    for (dir, name, child) in children {
        let output = child.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{name} in {dir}: {}\n{said}", output.status);
        if dir != "shared" {
            let found = yard.outputs(&dir);
            ensure!(found == one, "{name} in {dir}: other files than alone: {:?}", found.keys());
        }
    }
    let took = begin.elapsed().as_secs();
    let shared = yard.outputs("shared");
    for name in names.iter().skip(1).step_by(3) {
        for (file, hash) in alone(name, false)? {
            ensure!(shared.get(&file) == Some(&hash), "{file} differs from what a build alone makes");
        }
    }
    Ok(format!("{builds} builds at the same time in {took} s, each with the files that it makes alone"))
}
