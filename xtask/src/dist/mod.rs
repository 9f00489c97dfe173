//! What a release is made of, below `target/dist`: the program, its sources, packages, crates, bill of materials, checksums,
//! notes.
//!
//! Equal sources and compilers give equal files. Unaware of where they go: uploading and signing are steps of the
//! workflows in `integrations/ci`.

mod bill;
pub mod crates;
mod debian;
mod notes;
pub mod program;
mod terms;
mod wheel;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use liblzma::write::XzEncoder;
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use crate::chores::{root, target_directory};

/// The program by itself: whoever has nothing to unpack with can call it as it comes.
const ALONE: &str = "gpsimd-build-x86_64-linux";
/// For liblzma: half a minute less than the best, and nothing larger.
const PRESET: u32 = 6;

/// What to make.
#[derive(Debug, clap::Args)]
pub struct Order {
    /// Leave the wheel out: it takes a second build, and two packages of the Python index.
    #[arg(long)]
    pub no_wheel: bool,
    /// Take the working tree as it is, changes and all; the source package is of the last commit.
    #[arg(long)]
    pub dirty: bool,
}

/// The release's own facts.
pub struct Release {
    pub version: String,
    /// The commit that it is made from.
    pub commit: String,
    /// When that was made, in seconds since 1970: the time that every file in every archive gets.
    pub epoch: u64,
    /// `target/dist`.
    pub dir: PathBuf,
}

/// Makes everything anew.
pub fn run(order: &Order) -> Result<()> {
    let release = Release::of_this_tree(order)?;
    let program = program::build()?;
    let bill = bill::Bill::of("gpsimd-build", &release)?;
    let terms = terms::text(&bill.components)?;
    release.put(&format!("{}.cdx.json", release.stem()), bill.json()?.as_bytes())?;

    let tree = program::tree(&program, &terms)?;
    release.put(&release.program_archive(), &release.packed(&release.stem(), &tree)?)?;
    release.put(ALONE, &fs::read(&program)?)?;
    source(&release)?;
    debian::package(&release, &tree)?;
    crates::pack(&release, order)?;
    let floor = match order.no_wheel {
        true => None,
        false => Some(wheel::build(&release, &program)?),
    };
    notes::write(&release, &bill, floor.as_deref())?;
    println!("xtask: {}", release.dir.display());
    Ok(())
}

impl Release {
    fn of_this_tree(order: &Order) -> Result<Release> {
        let changes = git(&["status", "--porcelain"])?;
        if !changes.is_empty() && !order.dirty {
            bail!(
                "the source package would lack what is not committed (--dirty does it all the same):\n{changes}"
            );
        }
        let tool = crates::published()?.into_iter().find(|package| package.name == "gpsimd-build");
        let dir = target_directory().join("dist");
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        Ok(Release {
            version: tool.context("no package gpsimd-build")?.version,
            commit: git(&["rev-parse", "HEAD"])?,
            epoch: git(&["log", "-1", "--format=%ct"])?.parse().context("the commit's time")?,
            dir,
        })
    }

    /// Name of the program's archive, without what is behind the dot.
    fn stem(&self) -> String {
        format!("gpsimd-build-{}-x86_64-linux", self.version)
    }

    fn program_archive(&self) -> String {
        format!("{}.tar.xz", self.stem())
    }

    fn put(&self, name: &str, content: &[u8]) -> Result<()> {
        let path = self.dir.join(name);
        fs::write(&path, content).with_context(|| path.display().to_string())?;
        let mode = if name == ALONE { 0o755 } else { 0o644 };
        Ok(fs::set_permissions(&path, fs::Permissions::from_mode(mode))?)
    }

    /// A compressed tar file of these files below `top`, with the release's own time and no owner.
    fn packed(&self, top: &str, files: &[File]) -> Result<Vec<u8>> {
        let mut archive = Builder::new(XzEncoder::new(Vec::new(), PRESET));
        for file in files {
            let mut header = Header::new_ustar();
            header.set_path(Path::new(top).join(&file.path))?;
            header.set_entry_type(EntryType::Regular);
            header.set_size(file.content.len() as u64);
            header.set_mode(if file.is_program { 0o755 } else { 0o644 });
            header.set_mtime(self.epoch);
            header.set_uid(0);
            header.set_gid(0);
            header.set_cksum();
            archive.append(&header, file.content.as_slice())?;
        }
        Ok(archive.into_inner()?.finish()?)
    }
}

/// A file as it is installed, below a prefix such as `/usr`.
pub struct File {
    pub path: String,
    pub is_program: bool,
    pub content: Vec<u8>,
}

/// The committed tree, as git packs it.
fn source(release: &Release) -> Result<()> {
    let name = format!("gpsimd-build-{}", release.version);
    let archive = Command::new("git")
        .args(["archive", "--format=tar", &format!("--prefix={name}/"), "HEAD"])
        .current_dir(root())
        .stderr(Stdio::inherit())
        .output()
        .context("git")?;
    ensure!(archive.status.success(), "git archive: {}", archive.status);
    let mut compressed = XzEncoder::new(Vec::new(), PRESET);
    compressed.write_all(&archive.stdout)?;
    release.put(&format!("{name}.tar.xz"), &compressed.finish()?)
}

fn git(arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(root()).output().context("git")?;
    ensure!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// SHA-256 in the form of `sha256sum`.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_depends_on_nothing_but_its_files() {
        let release = Release {
            version: "1.2.3".into(),
            commit: "c".into(),
            epoch: 1_700_000_000,
            dir: "/nowhere".into(),
        };
        let files = || {
            let file = |path: &str, is_program, content: &[u8]| File {
                path: path.into(),
                is_program,
                content: content.into(),
            };
            [file("bin/x", true, b"program"), file("share/doc/y", false, b"text")]
        };
        let packed = release.packed("top", &files()).unwrap();
        assert_eq!(packed, release.packed("top", &files()).unwrap());
        let mut archive = tar::Archive::new(liblzma::read::XzDecoder::new(packed.as_slice()));
        let shown: Vec<String> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let header = entry.header();
                let path = entry.path().unwrap().display().to_string();
                format!("{path} {:o} {}", header.mode().unwrap(), header.mtime().unwrap())
            })
            .collect();
        assert_eq!(shown, ["top/bin/x 755 1700000000", "top/share/doc/y 644 1700000000"]);
    }
}
