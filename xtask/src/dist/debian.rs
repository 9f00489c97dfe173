//! The Debian package, by `dpkg-deb`.
//!
//! It depends on nothing: the program is static, and the toolchain comes by `toolchain install`. Unaware of what the files
//! are.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::{File, Release};
use crate::chores::{run, target_directory};

pub fn package(release: &Release, files: &[File]) -> Result<()> {
    let stage = target_directory().join("shipping-deb");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    let mut size = 0;
    for file in files {
        let (path, content) = placed(file)?;
        size += content.len();
        write(&stage.join("usr").join(path), &content, file.is_program)?;
    }
    write(&stage.join("DEBIAN/control"), control(&release.version, size).as_bytes(), false)?;
    directories(&stage)?;
    let deb = release.dir.join(format!("gpsimd-build_{}_amd64.deb", release.version));
    let mut command = Command::new("dpkg-deb");
    command.args(["--root-owner-group", "-Zxz", "--build"]).arg(&stage).arg(deb);
    run(command.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    Ok(fs::remove_dir_all(&stage)?)
}

/// Where policy wants a file, and how: manual pages are compressed, and the terms have a name of their own.
fn placed(file: &File) -> Result<(String, Vec<u8>)> {
    if file.path.starts_with("share/man/") {
        return Ok((format!("{}.gz", file.path), compressed(&file.content)?));
    }
    let path = file.path.replace("gpsimd-build/LICENSE", "gpsimd-build/copyright");
    Ok((path, file.content.clone()))
}

/// In gzip's form, without name and time.
fn compressed(page: &[u8]) -> Result<Vec<u8>> {
    let mut gzip = Command::new("gzip")
        .arg("-9n")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("gzip")?;
    // a page is smaller than a pipe's buffer, so that nobody waits for the other
    gzip.stdin.take().context("gzip")?.write_all(page)?;
    let output = gzip.wait_with_output()?;
    ensure!(output.status.success(), "gzip: {}", output.status);
    Ok(output.stdout)
}

fn control(version: &str, size: usize) -> String {
    format!(
        "Package: gpsimd-build\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: the authors of gpsimd-build <gpsimd-build@localhost>\n\
         Installed-Size: {}\n\
         Section: devel\n\
         Priority: optional\n\
         Suggests: gcc-xtensa-lx106, binutils-xtensa-lx106, binutils-source, gcc-12-source, newlib-source, gcc, libc6-dev\n\
         Description: C++ kernels to checked GPSIMD custom-op images\n \
         Compiles a kernel for the eight cores of a NeuronCore, generates the wrapper that\n \
         marshals its arguments, links, strips, packs and verifies the images, and runs them on\n \
         a model of the device.\n",
        size.div_ceil(1024)
    )
}

fn write(path: &Path, content: &[u8], is_program: bool) -> Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content).with_context(|| path.display().to_string())?;
    let mode = if is_program { 0o755 } else { 0o644 };
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(mode))?)
}

/// Whatever the caller's mask is.
fn directories(at: &Path) -> Result<()> {
    fs::set_permissions(at, fs::Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(at)?.flatten().filter(|entry| entry.path().is_dir()) {
        directories(&entry.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_where_policy_wants_them() {
        let rows = [
            ("bin/gpsimd-build", "bin/gpsimd-build"),
            ("share/man/man1/gpsimd-build.1", "share/man/man1/gpsimd-build.1.gz"),
            ("share/doc/gpsimd-build/LICENSE", "share/doc/gpsimd-build/copyright"),
        ];
        for (path, want) in rows {
            let file = File { path: path.into(), is_program: false, content: b"x".to_vec() };
            assert_eq!(placed(&file).unwrap().0, want);
        }
        assert!(control("1.2.3", 2049).contains("Version: 1.2.3\nArchitecture: amd64\n"));
        assert!(control("1.2.3", 2049).contains("Installed-Size: 3\n"));
        assert!(control("1.2.3", 1).ends_with("a model of the device.\n"));
    }
}
