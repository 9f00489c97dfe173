//! All outputs at once, or none.
//!
//! A library's files live in a *generation*, a directory that is complete before it gets its name. What a
//! person sees beside it are links through `current`, which one `rename` moves from the last generation to the
//! new one; so at any instant every visible file is of one build, however the tool ends.
//!
//! ```text
//! build/vector_add_cpu0.so -> .gpsimd-build/vector_add/current/vector_add_cpu0.so
//! build/.gpsimd-build/vector_add/current -> generations/5f0c…
//! ```
//!
//! Unaware of what the files are.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::words::disk::{self, HIDDEN};
use crate::words::error::EngineError;
use crate::words::lock::Lock;

/// The link to the generation in force.
const CURRENT: &str = "current";

/// A link before it gets its name.
const FRESH: &str = "link.new";

/// Makes `files` (name to content) the visible outputs of library `name` in `out_dir`. `content` names them: equal
/// names mean equal files. Gives whether anything changed.
pub(crate) fn generation<B: AsRef<[u8]>>(
    out_dir: &Path,
    name: &str,
    content: &str,
    files: &BTreeMap<String, B>,
) -> Result<bool, EngineError> {
    let library = out_dir.join(HIDDEN).join(name);
    let current = library.join(CURRENT);
    let id = intact_id(&library.join("generations"), content, files);
    let target = Path::new("generations").join(&id);
    let unchanged = std::fs::read_link(&current).is_ok_and(|now| now == target);

    disk::directory(&library.join(&target), files)?;
    // A link whose file the last generation lacks dangles until the flip: it does not exist yet for a reader.
    for file in files.keys() {
        link(out_dir, name, file)?;
    }
    if !unchanged {
        replace_link(&target, &current, &library)?;
    }
    forget_dead_links(out_dir, name, files)?;
    forget_others(&library.join("generations"), &id);
    Ok(!unchanged)
}

/// Removes links to files that the generation lacks: those of the last one stopped existing with the flip, those of a
/// build that was killed after its flip before that.
fn forget_dead_links<B>(out_dir: &Path, name: &str, files: &BTreeMap<String, B>) -> Result<(), EngineError> {
    for file in file_names(out_dir).into_iter().filter(|file| !files.contains_key(file)) {
        let path = out_dir.join(&file);
        if std::fs::read_link(&path).is_ok_and(|to| to == through_current(name, &file)) {
            std::fs::remove_file(&path).map_err(EngineError::io("cannot remove", &path))?;
        }
    }
    Ok(())
}

/// Takes a library's hidden directory: makes it, holds its lock, sees that all in it is this tool's own, and removes what
/// killed builds left unfinished.
/// `waiting` is called first if another build has it.
///
/// # Errors
/// [`EngineError::NotOurs`] for links and the like, [`EngineError::Io`].
pub(crate) fn own(library: &Path, waiting: impl FnOnce()) -> Result<Lock, EngineError> {
    let hidden = library.parent().unwrap_or(Path::new("."));
    disk::create(hidden.parent().unwrap_or(Path::new(".")))?;
    disk::own_directory(hidden)?;
    disk::own_directory(library)?;
    let lock = Lock::acquire(&library.join("lock"), waiting)?;
    disk::refuse_foreign(library, &[CURRENT, FRESH])?;
    disk::forget_abandoned(library);
    Ok(lock)
}

fn through_current(name: &str, file: &str) -> PathBuf {
    [HIDDEN, name, CURRENT, file].iter().collect()
}

fn link(out_dir: &Path, name: &str, file: &str) -> Result<(), EngineError> {
    let path = out_dir.join(file);
    let to = through_current(name, file);
    if std::fs::read_link(&path).is_ok_and(|now| now == to) {
        return Ok(());
    }
    replace_link(&to, &path, &out_dir.join(HIDDEN).join(name))
}

/// Points `path` at `to` in one step, whatever was there; `scratch` is a directory of ours beside it.
fn replace_link(to: &Path, path: &Path, scratch: &Path) -> Result<(), EngineError> {
    let fresh = scratch.join(FRESH);
    // left by a build that was killed just here
    let _ = std::fs::remove_file(&fresh);
    symlink(to, &fresh).map_err(EngineError::io("cannot link", &fresh))?;
    std::fs::rename(&fresh, path).map_err(EngineError::io("cannot replace", path))
}

fn file_names(directory: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Removes all generations but `keep`. Failing to is harmless; the next build tries again.
fn forget_others(generations: &Path, keep: &str) {
    for name in file_names(generations) {
        if name != keep {
            let _ = std::fs::remove_dir_all(generations.join(name));
        }
    }
}

/// A name for the generation: of its content, and numbered on if what has that name is no longer what it was.
fn intact_id<B: AsRef<[u8]>>(generations: &Path, content: &str, files: &BTreeMap<String, B>) -> String {
    let mut id = content.to_owned();
    let mut number = 1;
    while generations.join(&id).exists() && !is_intact(&generations.join(&id), files) {
        number += 1;
        id = format!("{content}-{number}");
    }
    id
}

fn is_intact<B: AsRef<[u8]>>(directory: &Path, files: &BTreeMap<String, B>) -> bool {
    file_names(directory).len() == files.len()
        && files.iter().all(|(name, bytes)| {
            std::fs::read(directory.join(name)).is_ok_and(|found| found == bytes.as_ref())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
        pairs.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn publish(out: &Path, name: &str, pairs: &[(&str, &str)]) -> Result<bool, EngineError> {
        let files = files(pairs);
        let id = crate::words::digest::Digest::of(format!("{files:?}").as_bytes()).to_string();
        generation(out, name, &id[..16], &files)
    }

    fn visible(directory: &Path) -> Vec<(String, String)> {
        let mut seen: Vec<_> = file_names(directory)
            .into_iter()
            .filter_map(|name| Some((name.clone(), std::fs::read_to_string(directory.join(&name)).ok()?)))
            .collect();
        seen.sort();
        seen
    }

    #[test]
    fn a_generation_replaces_the_last_one_whole() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let out = scratch.path();
        assert!(publish(out, "lib", &[("a", "1"), ("b", "1")]).expect("first"));
        assert!(!publish(out, "lib", &[("a", "1"), ("b", "1")]).expect("same again"));
        assert!(publish(out, "lib", &[("b", "2"), ("c", "2")]).expect("second"));
        let want = [("b", "2"), ("c", "2")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(visible(out), want);
        assert_eq!(file_names(&out.join(HIDDEN).join("lib/generations")).len(), 1);
    }

    #[test]
    fn a_damaged_generation_is_replaced() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let out = scratch.path();
        publish(out, "lib", &[("a", "1")]).expect("first");
        std::fs::write(out.join("a"), "damaged").expect("written through the link");
        assert!(publish(out, "lib", &[("a", "1")]).expect("again"));
        assert_eq!(visible(out), [("a".to_owned(), "1".to_owned())]);
        std::fs::remove_file(out.join("a")).expect("the link removed");
        publish(out, "lib", &[("a", "1")]).expect("again");
        assert_eq!(visible(out), [("a".to_owned(), "1".to_owned())]);
    }

    #[test]
    fn libraries_in_one_directory_do_not_touch_each_other() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let out = scratch.path();
        publish(out, "one", &[("one.so", "1")]).expect("one");
        publish(out, "two", &[("two.so", "2")]).expect("two");
        publish(out, "one", &[("one_cpu0.so", "3")]).expect("one again");
        let want =
            [("one_cpu0.so", "3"), ("two.so", "2")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(visible(out), want);
    }

    #[test]
    fn links_of_a_killed_build_go() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let out = scratch.path();
        publish(out, "lib", &[("a", "1")]).expect("published");
        symlink(through_current("lib", "old"), out.join("old")).expect("as a build before left it");
        symlink("elsewhere", out.join("other")).expect("a link of somebody else");
        publish(out, "lib", &[("a", "1")]).expect("again");
        let mut names = file_names(out);
        names.sort();
        assert_eq!(names, [".gpsimd-build", "a", "other"]);
    }

    #[test]
    fn a_directory_that_holds_links_is_not_taken() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let victim = scratch.path().join("victim");
        std::fs::create_dir(&victim).expect("made");
        let own_of = |out: &str| scratch.path().join(out).join(HIDDEN).join("lib");
        for (out, place) in [
            ("a", ".gpsimd-build"),
            ("b", ".gpsimd-build/lib"),
            ("c", ".gpsimd-build/lib/lock"),
            ("d", ".gpsimd-build/lib/generations"),
            ("e", ".gpsimd-build/lib/work/obj"),
            ("f", ".gpsimd-build/lib/work/obj/k.o"),
        ] {
            let path = scratch.path().join(out).join(place);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            symlink(&victim, &path).expect("linked");
            let error = own(&own_of(out), || {}).err().expect(place);
            assert!(matches!(&error, EngineError::NotOurs { path: at, .. } if *at == path), "{error}");
        }
        assert_eq!(file_names(&victim), [""; 0]);
        let library = own_of("g");
        own(&library, || {}).expect("nothing is there yet");
        symlink("generations/1", library.join(CURRENT)).expect("linked");
        own(&library, || {}).expect("its own link");
    }

    #[test]
    fn a_plain_file_of_the_same_name_gives_way() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let out = scratch.path();
        std::fs::write(out.join("a"), "old").expect("plain file");
        publish(out, "lib", &[("a", "new")]).expect("published");
        assert_eq!(visible(out), [("a".to_owned(), "new".to_owned())]);
    }
}
