//! When one machine is too small: the exported plan of 200 ops under compile servers and shared caches, and the same ops under
//! Bazel's sandbox. What ships is byte for byte what a plain build makes, and an input that is not declared is not there.
//!
//! The servers are heard on the loopback interface only, or in networks that end in this process's children. Unaware of how
//! the engines distribute.

mod bazel;
mod distcc;
mod icecc;
mod sccache;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::yard::{ARCHIVE, Yard, end, good};

/// A library holds ten ops at most.
const OPS: usize = 10;

pub fn storm(yard: &Yard, libraries: usize) -> Result<String> {
    for library in 0..libraries {
        write_library(&yard.path("ops"), library)?;
    }
    // a farm passes no variable on, neither to a toolchain built from packages
    let servers = distcc::Servers::start(yard)?;
    plan(yard, 1, "packages", &["--launcher", "distcc"])?;
    good(&mut servers.spread(yard, "packages")?)?;

    yard.good(&["toolchain", "export", ARCHIVE])?;
    yard.good(&["toolchain", "install", "--from", ARCHIVE])?;
    plan(yard, libraries, "plain", &[])?;
    plan(yard, libraries, "farm", &["--launcher", "distcc"])?;
    let begin = Instant::now();
    good(&mut ninja(yard, "plain"))?;
    let plain = begin.elapsed();

    let begin = Instant::now();
    good(&mut servers.spread(yard, "farm")?)?;
    let farmed = begin.elapsed();
    let shares = servers.shares()?;
    ensure!(shares.iter().all(|share| *share > 0), "one server compiled nothing: {shares:?}");
    let ships = compare(yard, libraries, "plain", "farm")? + compare(yard, 1, "plain", "packages")?;
    undeclared(yard)?;
    drop(servers);
    let (icecc, sccache) = (icecc::storm(yard)?, sccache::storm(yard)?);
    let bazel = bazel::storm(yard, libraries)?;
    Ok(format!(
        "{} ops in {libraries} libraries: {} compiles by two distcc servers ({shares:?}) in {} s, plain in {} s, \
         {ships} files that ship are equal; {icecc}; {sccache}; {bazel}",
        libraries * OPS,
        shares.iter().sum::<usize>(),
        farmed.as_secs(),
        plain.as_secs()
    ))
}

/// A header and ten sources that include it.
fn write_library(ops: &Path, library: usize) -> Result<()> {
    let directory = ops.join(format!("lib{library}"));
    fs::create_dir_all(&directory)?;
    let factor = format!("constexpr float factor = {library}.5f;\n");
    fs::write(directory.join("factor.hpp"), factor)?;
    for op in 0..OPS {
        let text = format!(
            "#include <gpsimd/kit.hpp>\n#include \"factor.hpp\"\n\
             torch::Tensor op{op}(const torch::Tensor& t) {{\n    torch::Tensor out = get_dst_tensor();\n    \
             gpsimd::map<float(float)>(out, [](float x) {{ return x * factor + {op}.0f; }}, t);\n    return out;\n}}\n"
        );
        fs::write(directory.join(format!("op{op}.cpp")), text)?;
    }
    Ok(())
}

/// Sources and schemas of a library, as arguments.
fn arguments(library: usize) -> Vec<String> {
    let sources = (0..OPS).map(|op| format!("ops/lib{library}/op{op}.cpp"));
    let schemas = (0..OPS).flat_map(|op| ["--schema".to_owned(), format!("my::op{op}(Tensor t) -> Tensor")]);
    sources.chain(schemas).chain(["--name".to_owned(), format!("lib{library}")]).collect()
}

/// `DIR.ninja`, which runs the plan of every library.
fn plan(yard: &Yard, libraries: usize, directory: &str, options: &[&str]) -> Result<()> {
    let mut top = String::from("ninja_required_version = 1.7\n");
    fs::create_dir_all(yard.path(directory))?;
    for library in 0..libraries {
        let file = format!("{directory}/lib{library}.ninja");
        let own = arguments(library);
        let mut line = vec!["plan", "--format", "ninja", "--output", &file, "--out-dir", directory];
        line.extend(own.iter().map(String::as_str));
        line.extend(options);
        yard.good(&line)?;
        writeln!(top, "subninja {file}")?;
    }
    Ok(fs::write(yard.path(format!("{directory}.ninja")), top)?)
}

/// Ninja without a variable but where programs are.
fn ninja(yard: &Yard, directory: &str) -> Command {
    let mut command = Command::new("ninja");
    command.current_dir(yard.dir()).env_clear().env("PATH", "/usr/bin:/bin");
    command.args(["-j", "4", "-f", &format!("{directory}.ninja")]);
    command
}

/// A source that the plan names is taken away: ninja refuses before it starts anything.
fn undeclared(yard: &Yard) -> Result<()> {
    let (source, aside) = (yard.path("ops/lib0/op3.cpp"), yard.path("aside.cpp"));
    fs::rename(&source, &aside)?;
    let end = end(&mut ninja(yard, "farm"))?;
    fs::rename(&aside, &source)?;
    ensure!(end.code == Some(1) && end.said.contains("op3.cpp"), "{:?}\n{}", end.code, end.said);
    Ok(())
}

/// Compares what ships; debug information of preprocessed text is in another order.
fn compare(yard: &Yard, libraries: usize, ours: &str, theirs: &str) -> Result<usize> {
    let (ours, theirs) = (yard.path(ours), yard.path(theirs));
    let mut count = 0;
    for library in 0..libraries {
        for kind in ["stripped.so", "packed.so"] {
            let name = format!("lib{library}.{kind}");
            let same = fs::read(ours.join(&name))? == fs::read(theirs.join(&name)).context(name.clone())?;
            ensure!(same, "{name} has other bytes than in a plain build");
            count += 1;
        }
    }
    Ok(count)
}
