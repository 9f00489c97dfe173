//! A bare system in a directory, entered as a build server without rights: an ordinary user, nothing but a working directory
//! to write to, no variables, no `/usr/share`.
//!
//! Unaware of what is run in it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::yard::end;
use crate::chores::{run, target_directory};

/// Where the working directory is, seen from inside.
pub const WORK: &str = "/mnt";
const USER: u32 = 1000;
/// What a system that builds the toolchain for itself is told.
pub const BUILDING: [(&str, &str); 4] =
    [("GPSIMD_BUILD_HOME", "/mnt/home"), ("PATH", "/usr/bin:/bin"), ("TMPDIR", "/mnt"), ("NO_COLOR", "1")];

/// Mounts what a system needs, in name spaces of its own, and goes in: `$1` the root, `$2` the working directory. No program
/// of the system itself takes part.
const ENTER: &str = r#"
root=$1 work=$2; shift 2
/usr/bin/mount --bind "$root" "$root"
/usr/bin/mount --rbind "$work" "$root/mnt"
/usr/bin/mount --rbind /dev "$root/dev"
/usr/bin/mount -o remount,bind,ro "$root"
/usr/bin/mount -t proc proc "$root/proc"
exec /usr/bin/setpriv --clear-groups \
    /usr/bin/unshare --root="$root" --wd=/mnt --setgid=1000 --setuid=1000 "$@"
"#;

/// A system and the directory it works in.
pub struct Chroot {
    root: PathBuf,
    work: PathBuf,
}

impl Chroot {
    /// The release as it is without a single package more than it takes to be one; made once. `name` is of the working
    /// directory.
    pub fn bare(release: &str, name: &str) -> Result<Chroot> {
        let root = base(release, "bare", &[])?;
        let share = root.join("usr/share");
        if share.exists() {
            fs::remove_dir_all(&share).with_context(|| share.display().to_string())?;
        }
        Chroot::over(root, name)
    }

    /// No system at all: what an image that begins from nothing holds.
    pub fn empty(name: &str) -> Result<Chroot> {
        let root = target_directory().join("chroots/empty");
        for directory in ["dev", "mnt", "proc"] {
            fs::create_dir_all(root.join(directory))?;
        }
        Chroot::over(root, name)
    }

    /// The release with packages.
    pub fn with(release: &str, packages: &[&str], name: &str) -> Result<Chroot> {
        // of releases with packages there are several
        let kind = packages.first().map_or("bare", |first| first);
        Chroot::over(base(release, kind, packages)?, name)
    }

    /// The release with what it takes to be one, `apt-get` and its keys among it, and the network.
    pub fn plain(release: &str, keyring: &str, name: &str) -> Result<Chroot> {
        Chroot::over(base(release, "plain", &["apt", keyring])?, name)
    }

    /// Whether that one is there already, however it was made.
    pub fn is_made(release: &str) -> bool {
        directory(release, "plain").exists()
    }

    /// Archives of the device SDK come with a toolchain; none was made in the data directory `home`.
    pub fn has_compiled_no_sdk(&self) -> Result<()> {
        for sdk in fs::read_dir(self.work.join("home/sdk"))?.flatten() {
            let archives = sdk.path().join("lib");
            ensure!(!archives.exists(), "the device SDK was compiled: {}", archives.display());
        }
        Ok(())
    }

    fn over(root: PathBuf, name: &str) -> Result<Chroot> {
        let work = target_directory().join("soak/chroot").join(name);
        if work.exists() {
            fs::remove_dir_all(&work)?;
        }
        fs::create_dir_all(&work)?;
        chown(&work, Some(USER), Some(USER)).context("this storm needs root, to make bare systems")?;
        Ok(Chroot { root, work })
    }

    /// The system's root, seen from outside.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The working directory, seen from outside.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Puts a file or a directory there, the user's own.
    pub fn bring(&self, from: &Path, name: &str) -> Result<()> {
        let to = self.work.join(name);
        run(Command::new("cp").arg("-rL").arg(from).arg(&to))?;
        run(Command::new("chown").args(["-R", &format!("{USER}:{USER}")]).arg(&to))
    }

    /// A command inside, with these variables and no others.
    pub fn call(&self, variables: &[(&str, &str)], words: &[&str]) -> Command {
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-k", "5", "900", "/usr/bin/unshare", "--mount", "--pid", "--fork", "--kill-child"]);
        command.args(["/bin/sh", "-euc", ENTER, "enter"]).arg(&self.root).arg(&self.work).args(words);
        command.env_clear().envs(variables.iter().copied());
        command
    }

    /// Runs a command inside, which must succeed; gives what it said.
    pub fn good(&self, variables: &[(&str, &str)], words: &[&str]) -> Result<String> {
        end(&mut self.call(variables, words))?.good(words)
    }
}

fn directory(release: &str, kind: &str) -> PathBuf {
    target_directory().join("chroots").join(format!("{release}-{kind}"))
}

/// A release and packages, in a directory that later calls find.
pub fn base(release: &str, kind: &str, packages: &[&str]) -> Result<PathBuf> {
    let root = directory(release, kind);
    if root.exists() {
        return Ok(root);
    }
    let unfinished = root.with_extension("unfinished");
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished)?;
    }
    fs::create_dir_all(root.parent().context("a directory")?)?;
    let mut command = Command::new("mmdebstrap");
    command.args(["--quiet", "--variant=minbase"]);
    if !packages.is_empty() {
        command.arg(format!("--include={}", packages.join(",")));
    }
    if packages.contains(&"ubuntu-keyring") {
        // as Ubuntu installs itself
        command.arg("--components=main,universe");
    }
    run(command.arg(release).arg(&unfinished))?;
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o755))?;
    ensure!(unfinished.join("usr/bin/env").exists(), "{release} has no /usr/bin/env");
    fs::rename(&unfinished, &root)?;
    Ok(root)
}
