//! qemu's own tests of Xtensa instructions, from the distribution's source package; nothing of them is in the repository.
//!
//! Unaware of what is done with them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where `apt` is told of a distribution's packages; its sources are in the same places.
const LISTS: [&str; 3] = ["sources.list", "sources.list.d/debian.sources", "sources.list.d/ubuntu.sources"];

/// The folder with the tests, fetched below `scratch`, once.
pub fn tests(scratch: &Path) -> PathBuf {
    let kept = scratch.join("qemu-tests");
    if !kept.is_dir() {
        std::fs::create_dir_all(scratch).expect("a directory");
        let fresh = tempfile::tempdir_in(scratch).expect("a directory");
        fetch(fresh.path());
        let folder = fresh.path().join("unpacked");
        std::fs::create_dir(&folder).expect("a directory");
        let archive = std::fs::read_dir(fresh.path()).expect("readable").flatten().map(|entry| entry.path());
        let mut archives = archive.filter(|path| path.to_string_lossy().contains(".orig.tar."));
        let mut tar = Command::new("tar");
        tar.arg("-xf").arg(archives.next().expect("apt-get fetched the sources")).arg("-C").arg(&folder);
        run(tar.args(["--strip-components=4", "--wildcards", "*/tests/tcg/xtensa/*"]));
        // Ours stands in its place.
        std::fs::remove_file(folder.join("macros.inc")).expect("it was there");
        // Whole or not at all; another test may have been first.
        let _ = std::fs::rename(&folder, &kept);
    }
    kept
}

/// Downloads the package's source, with lists of our own: the machine need not know of sources.
fn fetch(folder: &Path) {
    let lists = folder.join("lists");
    std::fs::create_dir_all(lists.join("partial")).expect("a directory");
    let parts = folder.join("parts");
    std::fs::create_dir(&parts).expect("a directory");
    for name in LISTS {
        let path = Path::new("/etc/apt").join(name);
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let of_sources = |line: &str| match line.strip_prefix("deb ") {
            Some(rest) => format!("deb-src {rest}\n"),
            None => line.replace("Types: deb", "Types: deb-src") + "\n",
        };
        let text: String = text.lines().map(of_sources).collect();
        std::fs::write(parts.join(path.file_name().expect("a name")), text).expect("written");
    }
    // A single list is one of the parts by another ending.
    let _ = std::fs::rename(parts.join("sources.list"), parts.join("first.list"));
    let apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(folder).arg("-q").arg("-o").arg("Dir::Etc::SourceList=/dev/null");
        command.arg("-o").arg(format!("Dir::Etc::SourceParts={}", parts.display()));
        command.arg("-o").arg(format!("Dir::State::Lists={}", lists.display()));
        run(command.args(words));
    };
    apt(&["update"]);
    apt(&["source", "--download-only", "qemu"]);
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
