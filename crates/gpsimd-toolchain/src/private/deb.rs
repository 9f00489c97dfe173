//! Unpacks a package below a root of its own and records it there as dpkg would, judging every member first.
//!
//! Unaware of what is in it. `dpkg-deb` takes the package apart; scripts of packages are never run. Of documentation only
//! the terms are taken.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;

use tar::{Archive, Entry, EntryType};

use crate::error::IoContext as _;
use crate::install::workshop::{create_dir, write};
use crate::{Command, ToolchainError, process};

/// Directories of `/` that are links into `/usr`.
const MERGED: [&str; 4] = ["bin", "lib", "lib64", "sbin"];

/// A root without a package.
pub(super) fn root(root: &Path) -> Result<(), ToolchainError> {
    for name in MERGED {
        let link = root.join(name);
        create_dir(&root.join("usr").join(name))?;
        symlink(Path::new("usr").join(name), &link).context("cannot create", link)?;
    }
    create_dir(&root.join("var/lib/dpkg/info"))
}

/// Unpacks and records the package in the file `deb`.
pub(super) fn unpack(dpkg_deb: &Path, deb: &Path, root: &Path) -> Result<(), ToolchainError> {
    let bad = |problem: String| ToolchainError::BadPackage { package: deb.to_owned(), problem };
    let field = Command::new(dpkg_deb).arg("--field").arg(deb);
    let control = process::captured(&field, Path::new("/")).map_err(|error| bad(error.to_string()))?;
    let name = control.lines().find_map(|line| line.strip_prefix("Package: "));
    let is_plain = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let name = name.filter(is_plain).ok_or_else(|| bad("it has no name".into()))?;

    let tar = Command::new(dpkg_deb).arg("--fsys-tarfile").arg(deb);
    let spawn_error = |source| ToolchainError::Spawn { command: Box::new(tar.clone()), source };
    let mut child = tar.to_std().stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(spawn_error)?;
    let mut content = child.stdout.take().ok_or_else(|| bad("it has no content".into()))?;
    let files = members(&mut content, root, &bad).and_then(|files| {
        // what comes after the last member, so that the program is not told that nobody reads it
        io::copy(&mut content, &mut io::sink()).map_err(|error| bad(error.to_string()))?;
        Ok(files)
    });
    drop(content);
    let status = child.wait().map_err(spawn_error)?;
    let files = files?;
    if !status.success() {
        return Err(bad(format!("dpkg-deb: {status}")));
    }
    let dpkg = root.join("var/lib/dpkg");
    write(&dpkg.join("info").join(format!("{name}.list")), files)?;
    let known = fs::read_to_string(dpkg.join("status")).unwrap_or_default();
    let record = format!("{known}{}\nStatus: install ok installed\n\n", control.trim_end());
    write(&dpkg.join("status"), record)
}

/// Places the members, and gives their names as the package has them, a line each.
fn members(
    content: &mut dyn Read,
    root: &Path,
    bad: &dyn Fn(String) -> ToolchainError,
) -> Result<String, ToolchainError> {
    let broken = |error: io::Error| bad(error.to_string());
    let mut files = String::new();
    let mut archive = Archive::new(content);
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.into_owned();
        let refused = |problem: &str| bad(format!("member {}: {problem}", path.display()));
        let name = inside(&path).ok_or_else(|| refused("its name points out of the package"))?;
        if name.as_os_str().is_empty() {
            continue;
        }
        files += &format!("/{}\n", name.display());
        let to = merged(&name);
        if is_left_out(&to, entry.header().entry_type()) || MERGED.iter().any(|top| name == Path::new(top)) {
            continue;
        }
        place(&mut entry, root, &to, &refused)?;
    }
    Ok(files)
}

fn place(
    entry: &mut Entry<'_, &mut dyn Read>,
    root: &Path,
    name: &Path,
    refused: &dyn Fn(&str) -> ToolchainError,
) -> Result<(), ToolchainError> {
    let to = root.join(name);
    let kind = entry.header().entry_type();
    if kind == EntryType::Directory {
        return create_dir(&to);
    }
    let parent = to.parent().unwrap_or(root);
    create_dir(parent)?;
    // links of other packages may be on the way
    if !parent.canonicalize().context("cannot look at", parent)?.starts_with(root) {
        return Err(refused("it is behind a link that leads out of the packages"));
    }
    let target = || entry.link_name().ok().flatten().map(|target| target.into_owned());
    match kind {
        EntryType::Regular => {
            let mode = entry.header().mode().unwrap_or(0o644);
            let mut file = File::create_new(&to).context("cannot create", &to)?;
            // only the file system's errors carry a number
            io::copy(entry, &mut file).map_err(|error| match error.raw_os_error() {
                Some(_) => ToolchainError::Io { action: "cannot write", path: to.clone(), source: error },
                None => refused(&error.to_string()),
            })?;
            let mode = if mode & 0o100 != 0 { 0o755 } else { 0o644 };
            fs::set_permissions(&to, Permissions::from_mode(mode)).context("cannot change", to)
        }
        EntryType::Symlink => {
            let target = target().ok_or_else(|| refused("it is a link to nothing"))?;
            symlink(relative(&target, name), &to).context("cannot create", to)
        }
        EntryType::Link => {
            let from =
                target().as_deref().and_then(inside).ok_or_else(|| refused("it is a link to nothing"))?;
            let from = root.join(merged(&from));
            fs::hard_link(from, &to).context("cannot create", to)
        }
        _ => Err(refused("it is neither file, link nor directory")),
    }
}

/// A member's name without the `./` in front; nothing if it could be anywhere else than below the root.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut name = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => name.push(part),
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(name)
}

/// Where a name is once the links into `/usr` are followed.
fn merged(name: &Path) -> PathBuf {
    match name.iter().next().and_then(OsStr::to_str) {
        Some(top) if MERGED.contains(&top) => Path::new("usr").join(name),
        _ => name.to_owned(),
    }
}

/// A link's target as seen from where the link is, so that it leads to this root and not to the machine's.
fn relative(target: &Path, link: &Path) -> PathBuf {
    match target.strip_prefix("/") {
        Ok(target) => {
            let up: PathBuf = link.iter().skip(1).map(|_| "..").collect();
            up.join(merged(target))
        }
        Err(_) => target.to_owned(),
    }
}

fn is_left_out(name: &Path, kind: EntryType) -> bool {
    let is_term = name.starts_with("usr/share/common-licenses")
        || name.starts_with("usr/share/doc")
            && (kind == EntryType::Symlink || name.file_name() == Some(OsStr::new("copyright")));
    name.starts_with("usr/share") && !is_term
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use tar::{Builder, Header};

    /// A package of these members: name, kind, content or target.
    fn unpacked(members: &[(&str, EntryType, &str)]) -> (tempfile::TempDir, Result<(), ToolchainError>) {
        let dir = tempfile::tempdir().unwrap();
        let mut builder = Builder::new(Vec::new());
        for (name, kind, content) in members {
            let mut header = Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_mode(0o4755);
            let is_link = matches!(kind, EntryType::Symlink | EntryType::Link);
            if is_link {
                header.as_old_mut().linkname[..content.len()].copy_from_slice(content.as_bytes());
            }
            let content = if is_link { "" } else { *content };
            header.set_size(content.len() as u64);
            header.set_cksum();
            builder.append(&header, content.as_bytes()).unwrap();
        }
        let deb = dir.path().join("p_1_all.deb");
        fs::write(&deb, builder.into_inner().unwrap()).unwrap();
        let dpkg_deb = dir.path().join("dpkg-deb");
        let script = "case $1 in --field) printf 'Package: p\\nVersion: 1\\n';; *) cat \"$2\";; esac";
        testing::script(&dpkg_deb, script);
        let place = dir.path().canonicalize().unwrap().join("root");
        root(&place).unwrap();
        let result = unpack(&dpkg_deb, &deb, &place);
        (dir, result)
    }

    #[test]
    fn members_go_where_the_machine_would_have_them() {
        use EntryType::{Directory, Link, Regular, Symlink};
        let (dir, result) = unpacked(&[
            ("./", Directory, ""),
            ("./bin", Symlink, "usr/bin"),
            ("./lib/x/", Directory, ""),
            ("./lib/x/a.so.1", Regular, "a"),
            ("./lib64/ld.so", Symlink, "/lib/x/a.so.1"),
            ("./usr/lib/x/a.so", Symlink, "a.so.1"),
            ("./usr/lib/x/b", Link, "./lib/x/a.so.1"),
            ("./usr/share/doc/p/copyright", Regular, "terms"),
            ("./usr/share/doc/p/changelog", Regular, "old"),
            ("./usr/share/man/p.1", Regular, "how"),
        ]);
        result.unwrap();
        let root = dir.path().join("root");
        for name in ["lib/x/a.so.1", "usr/lib/x/a.so", "lib64/ld.so", "usr/lib/x/b"] {
            assert_eq!(fs::read_to_string(root.join(name)).unwrap(), "a", "{name}");
        }
        assert!(root.join("usr/share/doc/p/copyright").exists() && !root.join("usr/share/man").exists());
        assert!(!root.join("usr/share/doc/p/changelog").exists());
        assert_eq!(fs::metadata(root.join("lib/x/a.so.1")).unwrap().permissions().mode() & 0o7777, 0o755);
        let list = fs::read_to_string(root.join("var/lib/dpkg/info/p.list")).unwrap();
        assert!(list.lines().any(|line| line == "/lib/x/a.so.1"), "{list}");
        let status = fs::read_to_string(root.join("var/lib/dpkg/status")).unwrap();
        assert_eq!(status, "Package: p\nVersion: 1\nStatus: install ok installed\n\n");
    }

    #[test]
    fn nothing_leads_out() {
        use EntryType::{Block, Link, Regular, Symlink};
        let rows: &[&[(&str, EntryType, &str)]] = &[
            &[("../x", Regular, "x")],
            &[("/x", Regular, "x")],
            &[("./usr/../../x", Regular, "x")],
            &[("./usr/out", Symlink, "../.."), ("./usr/out/x", Regular, "x")],
            &[("./usr/out", Symlink, "../../.."), ("./usr/out/x", Symlink, "y")],
            &[("./x", Link, "../p_1_all.deb")],
            &[("./dev/sda", Block, "")],
        ];
        for members in rows {
            let (dir, result) = unpacked(members);
            assert!(matches!(result, Err(ToolchainError::BadPackage { .. })), "{members:?}: {result:?}");
            assert!(!dir.path().join("x").exists());
        }
    }

    #[test]
    fn what_is_no_package() {
        let dir = tempfile::tempdir().unwrap();
        let dpkg_deb = dir.path().join("dpkg-deb");
        let rows = [
            ("echo 'no archive' >&2; exit 2", "no archive"),
            ("echo Package: ../p", "it has no name"),
            ("case $1 in --field) echo Package: p;; *) echo no tar;; esac", ""),
            ("case $1 in --field) echo Package: p;; *) exit 3;; esac", "exit status: 3"),
        ];
        for (script, want) in rows {
            testing::script(&dpkg_deb, script);
            let error = unpack(&dpkg_deb, Path::new("p.deb"), dir.path()).unwrap_err();
            assert!(matches!(error, ToolchainError::BadPackage { .. }), "{script}: {error}");
            assert!(error.to_string().contains(want), "{script}: {error}");
        }
    }
}
