//! The release where it must work: bare systems of an older and a newer Debian, without root, packages and a writable disk.
//!
//! The static program and one archive build, verify, run and test every example there, to the same bytes as here. Another
//! storm: machines that build the toolchain for themselves export one archive. Unaware of how the program does it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::chroot::{Chroot, WORK};
use super::yard::{ARCHIVE, Yard, end};
use crate::chores::root;
use crate::dist;

/// What is neither this machine's release nor near it: glibc 2.31 and 2.41.
const RELEASES: [&str; 2] = ["bullseye", "trixie"];
/// The release that the toolchain is built on.
const NATIVE: &str = "bookworm";
const INSTALL_LIMIT: Duration = Duration::from_secs(10);
const VARIABLES: [(&str, &str); 2] = [("GPSIMD_BUILD_HOME", "/mnt/home"), ("NO_COLOR", "1")];
/// Where what `integrations/ci` publishes goes.
const PUBLISHED: &str = "published";

pub fn storm(yard: &Yard) -> Result<String> {
    let program = program(yard)?;
    yard.good(&["toolchain", "export", ARCHIVE])?;
    // compiled by this tool, too, and not by an older one whose data directory was copied
    let sdk = yard.home().join("sdk");
    if sdk.exists() {
        fs::remove_dir_all(sdk)?;
    }
    let archive = yard.path(ARCHIVE);
    let examples = examples()?;
    yard.bring_examples()?;
    for example in &examples {
        yard.good(&words(&example.build()))?;
    }
    let mut said = Vec::new();
    for release in RELEASES {
        let chroot = Chroot::bare(release, release)?;
        let line = there(&chroot, &program, &archive, &examples, yard);
        said.push(format!("{release}: {}", line.with_context(|| format!("in a bare {release}"))?));
        workflow(&chroot).with_context(|| format!("the workflow in a bare {release}"))?;
    }
    let empty = Chroot::empty("empty")?;
    let line = there(&empty, &program, &archive, &examples[..2], yard);
    said.push(format!("nothing but a kernel: {}", line.context("in an empty root")?));
    Ok(said.join("; "))
}

/// What the toolchain is built from, with the compiler's sources of the release's version.
pub fn toolchain_packages(gcc: &str) -> [&str; 7] {
    ["gcc-xtensa-lx106", "binutils-xtensa-lx106", "binutils-source", gcc, "newlib-source", "gcc", "libc6-dev"]
}

/// The one that is given, or the one of a release.
fn program(yard: &Yard) -> Result<PathBuf> {
    match dist::program::is_static(yard.tool())? {
        true => Ok(yard.tool().to_owned()),
        false => dist::program::build(),
    }
}

/// Everything a user does, in one bare system.
fn there(
    chroot: &Chroot,
    program: &Path,
    archive: &Path,
    examples: &[Example],
    yard: &Yard,
) -> Result<String> {
    chroot.bring(program, "gpsimd-build")?;
    chroot.bring(archive, ARCHIVE)?;
    chroot.bring(&root().join("examples"), "examples")?;
    let tool = format!("{WORK}/gpsimd-build");
    let good = |arguments: &[&str]| chroot.good(&VARIABLES, &[&[tool.as_str()], arguments].concat());
    // without a home it says so, and asks nobody else for one
    let homeless = end(&mut chroot.call(&[], &[&tool, "toolchain", "show"]))?;
    ensure!(homeless.code == Some(3), "without a home: {:?}\n{}", homeless.code, homeless.said);

    let mut took = Duration::MAX;
    // a machine that does other things meanwhile is slow once, not three times
    for home in ["/mnt/once", "/mnt/twice", "/mnt/home"] {
        let begin = Instant::now();
        let variables = [("GPSIMD_BUILD_HOME", home), ("NO_COLOR", "1")];
        chroot.good(&variables, &[&tool, "toolchain", "install", "--from", ARCHIVE])?;
        took = took.min(begin.elapsed());
    }
    ensure!(took <= INSTALL_LIMIT, "installing took {took:?}");
    good(&["doctor"])?;
    let (mut calls, mut images) = (0, 0);
    for example in examples {
        let library = example.library();
        good(&words(&example.build()))?;
        good(&["verify", &library])?;
        for call in &example.calls {
            good(&[&["run", &library], &words(&call.run)[..]].concat())?;
            good(&[&["test", &library, "--only", "given,calls"], &words(&call.test)[..]].concat())?;
            calls += 1;
        }
        images = same_images(yard, chroot)?;
    }
    chroot.has_compiled_no_sdk()?;
    // what came in an archive goes out as the same
    good(&["toolchain", "export", "again.tar.xz"])?;
    let again = fs::read(chroot.work().join("again.tar.xz"))?;
    ensure!(again == fs::read(archive)?, "the imported toolchain exports to another archive");
    Ok(format!(
        "installed in {:.1} s, {} examples, {calls} ops run and tested, {images} images byte for byte as here",
        took.as_secs_f64(),
        examples.len()
    ))
}

/// The script of the example workflow, as a build server calls it; what is published is what its sums say.
fn workflow(chroot: &Chroot) -> Result<()> {
    chroot.bring(&root().join("integrations/ci/publish.sh"), "publish.sh")?;
    let variables =
        [&VARIABLES[..], &[("PATH", "/mnt:/usr/bin:/bin"), ("GPSIMD_TEST_OPTIONS", "--only calls")]].concat();
    let op = "examples/relu.cpp:examples/shape/relu_shape.cpp";
    chroot.good(&variables, &["/bin/sh", "publish.sh", PUBLISHED, op])?;
    let check = format!("cd {PUBLISHED} && sha256sum --check --quiet SHA256SUMS");
    chroot.good(&variables, &["/bin/sh", "-c", &check])?;
    let text = fs::read(chroot.work().join(PUBLISHED).join("provenance.json")).context("provenance.json")?;
    let provenance: Value = serde_json::from_slice(&text).context("provenance.json")?;
    let subjects = provenance["subject"].as_array().map_or(0, Vec::len);
    let identity =
        &provenance["predicate"]["buildDefinition"]["resolvedDependencies"][0]["annotations"]["identity"];
    ensure!(subjects == 9, "{subjects} subjects: eight images and a manifest");
    ensure!(identity.as_str().is_some_and(|text| text.starts_with("open ")), "no toolchain: {provenance:#}");
    Ok(())
}

/// Two machines that have the packages and build for themselves, each in a place of its own.
pub fn exports(yard: &Yard) -> Result<String> {
    let program = program(yard)?;
    yard.good(&["toolchain", "export", ARCHIVE])?;
    let mut hashes = Vec::new();
    let machines =
        [("one", ("GPSIMD_BUILD_HOME", "/mnt/a"), "1"), ("two", ("XDG_DATA_HOME", "/mnt/b c"), "2")];
    for (name, home, jobs) in machines {
        let chroot = Chroot::with(NATIVE, &toolchain_packages("gcc-12-source"), name)?;
        chroot.bring(&program, "gpsimd-build")?;
        let tool = format!("{WORK}/gpsimd-build");
        // gcc finds its parts by itself, and is found by PATH
        let variables = [home, ("PATH", "/usr/bin:/bin"), ("TMPDIR", "/mnt"), ("NO_COLOR", "1")];
        let calls: [&[&str]; 2] =
            [&["toolchain", "install", "--yes", "--jobs", jobs], &["toolchain", "export", ARCHIVE]];
        for arguments in calls {
            chroot.good(&variables, &[&[tool.as_str()], arguments].concat()).context(name)?;
        }
        hashes.push(dist::sha256(&fs::read(chroot.work().join(ARCHIVE))?));
    }
    ensure!(hashes[0] == hashes[1], "two machines export {} and {}", hashes[0], hashes[1]);
    let ours = dist::sha256(&fs::read(yard.path(ARCHIVE))?) == hashes[0];
    let same = if ours { "as does this machine" } else { "this machine has other packages" };
    Ok(format!("two {NATIVE} machines export {}, {same}", &hashes[0][..12]))
}

/// A library to build, and its ops.
pub struct Example {
    pub name: String,
    source: String,
    shapes: String,
    pub is_multicore: bool,
    pub calls: Vec<Call>,
}

/// Words behind `run LIBRARY` and behind `test LIBRARY`.
pub struct Call {
    pub run: Vec<String>,
    test: Vec<String>,
}

impl Example {
    pub fn library(&self) -> String {
        format!("build/{}", self.name)
    }

    /// The tool's arguments that build it.
    pub fn build(&self) -> Vec<String> {
        let mut line = ["compile", &format!("examples/{}", self.source), "--name", &self.name]
            .map(str::to_owned)
            .to_vec();
        line.extend(["--shape-src".to_owned(), format!("examples/{}", self.shapes)]);
        line.extend(self.is_multicore.then(|| "--multicore".to_owned()));
        line
    }
}

/// Of `examples/examples.json`.
pub fn examples() -> Result<Vec<Example>> {
    let text = fs::read_to_string(root().join("examples/examples.json")).context("examples.json")?;
    let document: Value = serde_json::from_str(&text).context("examples.json")?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let call = |op: &Value| {
        let inputs: Vec<String> = list(&op["inputs"]).iter().map(input).collect();
        let kernel = ["--op".to_owned(), word(&op["kernel"])];
        let given = inputs.iter().flat_map(|input| ["--input".to_owned(), input.clone()]);
        Call {
            test: kernel.iter().cloned().chain(given).collect(),
            run: inputs.iter().cloned().chain(kernel).collect(),
        }
    };
    Ok(list(&document["examples"])
        .iter()
        .map(|example| Example {
            name: word(&example["name"]),
            source: word(&example["source"]),
            shapes: word(&example["shape_source"]),
            is_multicore: example["multicore"] == true,
            calls: list(&example["ops"]).iter().map(call).collect(),
        })
        .collect())
}

/// A parameter of a call on the command line: random elements of a tensor, or the value.
fn input(input: &Value) -> String {
    let value = || ["float", "int", "scalar"].iter().find_map(|kind| input.get(kind));
    match input["shape"].as_array() {
        Some(extents) => {
            let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
            format!("rand:{}:{}", extents.join("x"), input["dtype"].as_str().unwrap_or("float32"))
        }
        None => value().map(ToString::to_string).unwrap_or_default(),
    }
}

/// What was built there has the bytes that it has here; gives how many images that are.
pub fn same_images(yard: &Yard, chroot: &Chroot) -> Result<usize> {
    let (ours, theirs) = (images(&yard.path("build"))?, images(&chroot.work().join("build"))?);
    for (name, bytes) in &theirs {
        ensure!(ours.get(name) == Some(bytes), "{name} has other bytes than here");
    }
    Ok(theirs.len())
}

/// Images, linked and stripped, by name.
fn images(directory: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut images = BTreeMap::new();
    for entry in entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "so")) {
        images.insert(entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path())?);
    }
    Ok(images)
}

pub fn words(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}
