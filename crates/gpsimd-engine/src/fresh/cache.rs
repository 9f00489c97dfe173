//! Results of compilers, shared by all builds of a user: content in, content out, no matter in which directory.
//!
//! An *entry* is found by the command, with the names of directories taken out, and the contents of its declared inputs;
//! it lists the results so far, each with the headers it was made from, and the first whose headers are the same here
//! counts. Outputs are *blobs* named by their content and checked against that name when they are taken out. Files
//! appear by rename and are removed oldest use first; a reader that loses a race just misses.
//! Unaware of when actions run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::fresh::files::Files;
use crate::fresh::state::Record;
use crate::words::digest::Digest;
use crate::words::disk::{self, Contents as _, locked};

/// Results that one entry keeps: variants of headers under the same source.
const RESULTS: usize = 16;

/// Directories that the cache's files are spread over; each gets its part of the size.
const SHARDS: u64 = 16;

/// Default bound of a cache, in bytes.
pub const DEFAULT_CACHE_SIZE: u64 = 2 << 30;

/// Flags after which a compiler reads or writes files that nobody lists; what follows is not looked at.
const UNCACHEABLE: &[&str] = &[
    "-save-temps",
    "--coverage",
    "-ftest-coverage",
    "-fprofile",
    "-fdump",
    "-gsplit-dwarf",
    "-fstack-usage",
    "-fcallgraph-info",
    "-fplugin",
    "-wrapper",
    "-B",
    "-specs",
    "-frecord",
    "-Wl,-Map",
    "-Map",
    "-Wp,",
    "-Wa,-a",
    "-M",
];

/// A cache directory.
#[derive(Debug)]
pub struct Cache {
    directory: PathBuf,
    limit: u64,
    /// Shards written to by this run.
    grown: Mutex<BTreeSet<String>>,
}

/// The letter of the toolchain's directory.
pub(crate) const TOOLCHAIN: char = 'T';

/// Names of directories that are left out of keys, longest first.
#[derive(Debug, Clone)]
pub(crate) struct Places(Vec<(PathBuf, String)>);

/// A result taken from the cache.
pub(crate) struct Hit {
    pub(crate) outputs: Vec<Vec<u8>>,
    /// As a dependency file lists them.
    pub(crate) found: Vec<PathBuf>,
    pub(crate) said: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Entry {
    /// Newest first.
    results: Vec<CachedResult>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct CachedResult {
    found: Vec<(String, Digest)>,
    absent: Vec<String>,
    outputs: Vec<Digest>,
    said: String,
}

impl Cache {
    /// A cache in `directory`, which need not exist, of at most `limit` bytes.
    pub fn new(directory: PathBuf, limit: u64) -> Cache {
        Cache { directory, limit, grown: Mutex::default() }
    }

    /// Users whose entries are taken: this one, the superuser, and the owner of the directory, who lets others use it.
    fn trusted(&self) -> Vec<u32> {
        let own = ["/proc/self".as_ref(), self.directory.as_path()].map(std::fs::metadata);
        own.iter().flatten().map(MetadataExt::uid).chain([0]).collect()
    }

    /// The result of an action here, if some build made it before from the same contents.
    pub(crate) fn find(&self, key: Digest, places: &Places, files: &Files) -> Option<Hit> {
        let path = self.entry(key);
        let Some(entry) = read_entry(&path, &self.trusted()) else {
            tracing::debug!("cache: nothing of {key}");
            return None;
        };
        let differs = |result: &CachedResult| {
            let is_other = |(path, digest): &&(String, Digest)| {
                files.look(&places.put_in(path)).ok().flatten().is_none_or(|known| known.digest != *digest)
            };
            let other = result.found.iter().find(is_other).map(|(path, _)| path);
            let came = || result.absent.iter().find(|path| places.put_in(path).symlink_metadata().is_ok());
            let path = other.or_else(came)?;
            tracing::debug!("cache: {key} was made with another {}", places.put_in(path).display());
            Some(())
        };
        let result = entry.results.iter().find(|result| differs(result).is_none())?;
        let outputs = result.outputs.iter().map(|digest| self.blob_bytes(*digest)).collect::<Option<_>>()?;
        touch(&path);
        let found = result.found.iter().map(|(path, _)| places.put_in(path)).collect();
        Some(Hit { outputs, found, said: result.said.clone() })
    }

    /// Keeps what an action made. A cache that cannot be written is a cache that does not help, not an error.
    pub(crate) fn keep(&self, key: Digest, places: &Places, record: &Record, files: &Files) {
        if let Err(error) = self.try_keep(key, places, record, files) {
            tracing::debug!("{}: {error}", self.directory.display());
        }
    }

    fn try_keep(
        &self,
        key: Digest,
        places: &Places,
        record: &Record,
        files: &Files,
    ) -> Result<(), Box<dyn std::error::Error>> {
        if !record.listings.is_empty() {
            return Ok(());
        }
        let text = |path: &Path| places.take_out(path.as_os_str()).ok_or("a path is not UTF-8");
        let found = record.found.iter().map(|(path, digest)| Ok((text(path)?, *digest)));
        let found = found.collect::<Result<_, &str>>()?;
        let absent = record.absent.iter().map(|path| text(path)).collect::<Result<_, _>>()?;
        for (path, digest) in &record.outputs {
            let blob = self.blob(*digest);
            if blob.exists() {
                touch(&blob);
                continue;
            }
            let bytes = files.bytes(path)?;
            // somebody may have changed it since
            if Digest::of(&bytes) != *digest {
                return Err("an output changed".into());
            }
            self.write(&blob, &bytes)?;
        }
        let outputs = record.outputs.iter().map(|(_, digest)| *digest).collect();
        let result = CachedResult { found, absent, outputs, said: record.said.clone() };
        let path = self.entry(key);
        let mut entry = read_entry(&path, &self.trusted()).unwrap_or_default();
        entry.results.retain(|old| old.found != result.found);
        entry.results.insert(0, result);
        entry.results.truncate(RESULTS);
        self.write(&path, &serde_json::to_vec(&entry)?)?;
        Ok(())
    }

    /// Removes what was not used for longest from each shard that grew beyond its part of the limit.
    pub(crate) fn trim(&self) {
        for shard in std::mem::take(&mut *locked(&self.grown)) {
            let shard = self.directory.join(shard);
            disk::forget_abandoned(&shard);
            let Ok(entries) = std::fs::read_dir(shard) else { continue };
            let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
                .flatten()
                .filter_map(|entry| {
                    let metadata = entry.metadata().ok()?;
                    Some((metadata.modified().ok()?, metadata.len(), entry.path()))
                })
                .collect();
            let mut size: u64 = files.iter().map(|(_, size, _)| size).sum();
            if size <= self.limit / SHARDS {
                continue;
            }
            files.sort();
            for (_, len, path) in files {
                if size <= self.limit / SHARDS / 10 * 9 {
                    break;
                }
                // another build may have removed it already
                let _ = std::fs::remove_file(path);
                size -= len;
            }
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
        let shard = path.parent().unwrap_or(&self.directory);
        std::fs::create_dir_all(shard)?;
        disk::replace(path, bytes)?;
        if let Some(name) = shard.file_name() {
            locked(&self.grown).insert(name.to_string_lossy().into_owned());
        }
        Ok(())
    }

    fn blob_bytes(&self, digest: Digest) -> Option<Vec<u8>> {
        let path = self.blob(digest);
        let bytes = std::fs::read(&path).ok()?;
        if Digest::of(&bytes) != digest {
            tracing::debug!("{} is damaged", path.display());
            let _ = std::fs::remove_file(&path);
            return None;
        }
        touch(&path);
        Some(bytes)
    }

    fn entry(&self, key: Digest) -> PathBuf {
        self.file(key, "json")
    }

    fn blob(&self, digest: Digest) -> PathBuf {
        self.file(digest, "blob")
    }

    fn file(&self, digest: Digest, kind: &str) -> PathBuf {
        let name = digest.to_string();
        self.directory.join(&name[..1]).join(format!("{name}.{kind}"))
    }
}

/// The entry at `path`, provided that it is of somebody whom the cache's owner, or this user, trusts. An entry says what
/// a compiler would make: who writes one decides what is built. Blobs need no such trust; they are named by content.
fn read_entry(path: &Path, trusted: &[u32]) -> Option<Entry> {
    let file = std::fs::symlink_metadata(path).ok()?;
    if !file.is_file() || !trusted.contains(&file.uid()) {
        tracing::debug!("cache: {} is not taken: it is of user {}", path.display(), file.uid());
        return None;
    }
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Notes a use: the time of the file is the time of its last use.
fn touch(path: &Path) {
    if let Ok(file) = std::fs::File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// The key of a command with these words and declared inputs; `None` if its result must not be kept.
pub(crate) fn key(
    compiler: Digest,
    words: &[OsString],
    inputs: &[(PathBuf, Digest)],
    places: &Places,
) -> Option<Digest> {
    let is_uncacheable = |word: &OsString| {
        let is_ours = matches!(word.to_str(), Some("-MD" | "-MP" | "-MF" | "-MT" | "-MMD"));
        !is_ours
            && !places.is_toolchains(word)
            && UNCACHEABLE.iter().any(|flag| word.as_bytes().starts_with(flag.as_bytes()))
    };
    if words.iter().any(is_uncacheable) {
        return None;
    }
    let mut parts = vec![places.relations().into_bytes()];
    for word in words {
        parts.push(places.take_out(word)?.into_bytes());
    }
    parts.push(Vec::new());
    let named = inputs.iter().map(|(path, digest)| Some((places.take_out(path.as_os_str())?, digest)));
    let mut named = named.collect::<Option<Vec<_>>>()?;
    named.sort();
    for (path, digest) in named {
        parts.push(path.into_bytes());
        parts.push(digest.as_bytes().to_vec());
    }
    Some(Digest::of_parts([compiler.as_bytes()].into_iter().chain(parts.iter().map(Vec::as_slice))))
}

impl Places {
    /// Directories and a letter for each; relative ones and `/` are no places.
    pub(crate) fn new(places: &[(&Path, char)]) -> Places {
        let mut list: Vec<(PathBuf, String)> = places
            .iter()
            .filter(|(path, _)| path.is_absolute() && path.parent().is_some() && path.to_str().is_some())
            .map(|(path, letter)| ((*path).to_owned(), format!("\0{letter}")))
            .collect();
        list.sort_by_key(|(path, _)| std::cmp::Reverse(path.as_os_str().len()));
        Places(list)
    }

    /// Which place is within which: that decides which of the compiler's prefix maps apply.
    fn relations(&self) -> String {
        let pairs = self.0.iter().flat_map(|inner| self.0.iter().map(move |outer| (inner, outer)));
        let within = pairs.filter(|(inner, outer)| inner != outer && inner.0.starts_with(&outer.0));
        within.map(|(inner, outer)| format!("{}<{};", inner.1, outer.1)).collect()
    }

    /// Whether the word says where the toolchain has its own programs, which are part of its identity.
    fn is_toolchains(&self, word: &std::ffi::OsStr) -> bool {
        self.take_out(word).is_some_and(|word| word.starts_with(&format!("-B\0{TOOLCHAIN}/")))
    }

    /// The word with the place it begins with (after a flag, or each `=`) taken out; `None` if it is not UTF-8.
    fn take_out(&self, word: &std::ffi::OsStr) -> Option<String> {
        let parts = word.to_str()?.split('=').map(|part| {
            let Some(slash) = part.find('/') else { return part.to_owned() };
            let (flag, path) = part.split_at(slash);
            for (place, token) in &self.0 {
                if let Ok(rest) = Path::new(path).strip_prefix(place) {
                    return format!("{flag}{token}/{}", rest.display());
                }
            }
            part.to_owned()
        });
        Some(parts.collect::<Vec<_>>().join("="))
    }

    fn put_in(&self, text: &str) -> PathBuf {
        for (place, token) in &self.0 {
            if let Some(rest) = text.strip_prefix(token.as_str()) {
                let rest = rest.trim_start_matches('/');
                return if rest.is_empty() { place.clone() } else { place.join(rest) };
            }
        }
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(cwd: &str) -> Places {
        Places::new(&[
            (Path::new(cwd), 'C'),
            (Path::new("/sdk"), 'S'),
            (Path::new("/toolchain"), TOOLCHAIN),
            (Path::new("/"), 'R'),
        ])
    }

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn keys_forget_the_place_and_nothing_else() {
        let compiler = Digest::of(b"gcc");
        let key_of = |cwd: &str, list: &[&str]| key(compiler, &words(list), &[], &places(cwd));
        let here = key_of("/home/a", &["g++", "-I/home/a/inc", "-ffile-prefix-map=/home/a=.", "k.cpp"]);
        assert!(here.is_some());
        assert_eq!(here, key_of("/b", &["g++", "-I/b/inc", "-ffile-prefix-map=/b=.", "k.cpp"]));
        let others: &[&[&str]] = &[
            &["g++", "-I/b/inc2", "-ffile-prefix-map=/b=.", "k.cpp"],
            &["g++", "-I/x/b/inc", "-ffile-prefix-map=/b=.", "k.cpp"],
            &["g++", "-I/bb/inc", "-ffile-prefix-map=/b=.", "k.cpp"],
            &["g++", "-I/b/inc", "-ffile-prefix-map=/b=.", "l.cpp"],
            &["g++", "-I/b/inc", "-ffile-prefix-map=/b=.", "k.cpp", ""],
        ];
        for list in others {
            assert_ne!(here, key_of("/b", list), "{list:?}");
        }
        // within the SDK, another prefix map applies
        assert_ne!(here, key_of("/sdk/b", &["g++", "-I/sdk/b/inc", "-ffile-prefix-map=/sdk/b=.", "k.cpp"]));
    }

    #[test]
    fn commands_with_unlisted_files_have_no_key() {
        let rows = [
            ("-save-temps=obj", false),
            ("-B/toolchain/bin/inner", true),
            ("-B/toolchain-of-a-stranger", false),
            ("-fprofile-use", false),
            ("-O2", true),
            ("-MD", true),
            ("-MMD", true),
        ];
        for (flag, want) in rows {
            let found = key(Digest::of(b""), &words(&["g++", flag]), &[], &places("/b"));
            assert_eq!(found.is_some(), want, "{flag}");
        }
    }

    fn record(output: &Path, header: &Path, content: &str) -> Record {
        Record {
            command: Digest::of(b""),
            words: Vec::new(),
            inputs: Vec::new(),
            found: vec![(header.to_owned(), Digest::of(content.as_bytes()))],
            absent: Vec::new(),
            listings: Vec::new(),
            outputs: vec![(output.to_owned(), Digest::of(&std::fs::read(output).expect("read")))],
            took: 0,
            said: "warning".into(),
        }
    }

    #[test]
    fn a_result_is_found_where_its_headers_are_the_same() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let cache = Cache::new(scratch.path().join("cache"), 1 << 20);
        let key = Digest::of(b"key");
        for directory in ["here", "there"] {
            let cwd = scratch.path().join(directory);
            std::fs::create_dir(&cwd).expect("made");
            std::fs::write(cwd.join("x.h"), "one").expect("written");
        }
        let [here, there] = ["here", "there"].map(|directory| scratch.path().join(directory));
        let [places_here, places_there] = [&here, &there].map(|cwd| Places::new(&[(cwd, 'C')]));
        let files = Files::remembering([]);
        std::fs::write(here.join("o"), "object").expect("written");
        cache.keep(key, &places_here, &record(&here.join("o"), &here.join("x.h"), "one"), &files);
        let hit = cache.find(key, &places_there, &files).expect("the same headers");
        assert_eq!(
            (hit.outputs, hit.found, &*hit.said),
            (vec![b"object".to_vec()], vec![there.join("x.h")], "warning")
        );
        std::fs::write(there.join("x.h"), "two!").expect("written");
        assert!(cache.find(key, &places_there, &files).is_none(), "another header");
        // both variants are kept side by side
        std::fs::write(there.join("o"), "other").expect("written");
        cache.keep(key, &places_there, &record(&there.join("o"), &there.join("x.h"), "two!"), &files);
        assert_eq!(
            cache.find(key, &places_here, &files).map(|hit| hit.outputs),
            Some(vec![b"object".to_vec()])
        );
        // a damaged blob is a miss and is gone after
        let blob = cache.blob(Digest::of(b"object"));
        std::fs::write(&blob, "objecT").expect("written");
        assert!(cache.find(key, &places_here, &files).is_none());
        assert!(!blob.exists());
    }

    #[test]
    fn entries_of_strangers_and_links_are_not_taken() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let path = scratch.path().join("entry.json");
        std::fs::write(&path, r#"{"results":[]}"#).expect("written");
        let own = std::fs::metadata(&path).expect("there").uid();
        assert!(read_entry(&path, &[own]).is_some());
        assert!(read_entry(&path, &[own + 1]).is_none(), "of another user");
        let link = scratch.path().join("link.json");
        std::os::unix::fs::symlink(&path, &link).expect("linked");
        assert!(read_entry(&link, &[own]).is_none(), "a link");
    }

    #[test]
    fn the_oldest_go_when_the_cache_is_full() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let cache = Cache::new(scratch.path().to_owned(), 100 * SHARDS);
        let at = |seconds| SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        for (name, age) in [("0old", 1), ("0young", 3), ("0middle", 2)] {
            let path = scratch.path().join("0").join(name);
            cache.write(&path, &[0; 40]).expect("written");
            std::fs::File::options()
                .append(true)
                .open(&path)
                .and_then(|f| f.set_modified(at(age)))
                .expect("set");
        }
        cache.trim();
        let left = |name: &str| scratch.path().join("0").join(name).exists();
        assert_eq!([left("0old"), left("0middle"), left("0young")], [false, true, true]);
    }
}
