//! What the last run of an op took with the same inputs: a few hundred records in one file of the data directory.
//!
//! The newest come first, the oldest go. Two runs at once may lose the record of one. A file that is missing, damaged or not
//! to be written is no news: nothing but a line of a report depends on it. Unaware of how runs are told.

use std::path::{Path, PathBuf};

use gpsimd_device::{Arg, CoreReport, Costs, TensorSpec, Value};
use gpsimd_toolchain::Home;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::files::{read_at_most, write};

/// Records that are kept.
const MOST: usize = 256;
/// Bytes that they may have.
const LONGEST: u64 = 1 << 18;
/// The form of the file.
const VERSION: u32 = 1;

/// What a run took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Took {
    /// Estimated cycles of the slowest core.
    pub slowest: u64,
    /// Estimated cycles of all cores.
    pub cycles: u64,
    /// Instructions of all cores.
    pub instructions: u64,
}

impl Took {
    /// What a run on these cores took.
    pub fn by(cores: &[CoreReport]) -> Took {
        Took {
            slowest: cores.iter().map(|core| core.cycles).max().unwrap_or_default(),
            cycles: cores.iter().map(|core| core.cycles).sum(),
            instructions: cores.iter().map(|core| core.counters.instructions).sum(),
        }
    }

    /// What has changed since the last run, as a line.
    pub fn since(self, last: Took) -> String {
        let change = |what: &str, now: u64, then: u64| {
            let percent = 100.0 * (now as f64 - then as f64) / then.max(1) as f64;
            format!("{percent:+.1} % {what} ({then} to {now})")
        };
        let slowest = change("cycles of the slowest core", self.slowest, last.slowest);
        let instructions = change("instructions", self.instructions, last.instructions);
        format!("since the last run: {slowest}, {instructions}\n")
    }
}

/// A run of the file.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    took: Took,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    runs: Vec<Entry>,
}

/// What tells a run from others: where its library is, the op, what it was called with, and what the estimate charges. Not
/// the code, whose changes one wants to see.
pub fn key(library: &Path, op: &str, args: &[Arg], output: &TensorSpec, costs: Costs) -> String {
    let library = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    let mut hash = Sha256::new();
    let mut add = |part: &[u8]| {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    };
    add(library.as_os_str().as_encoded_bytes());
    add(op.as_bytes());
    for arg in args {
        match &arg.value {
            Value::Tensor(tensor) | Value::Scalar(tensor) => {
                add(tensor.spec.to_string().as_bytes());
                add(&tensor.data);
            }
            Value::Int(value) => add(&value.to_le_bytes()),
            Value::LongLong(value) => add(&value.to_le_bytes()),
            Value::Float(value) => add(&value.to_le_bytes()),
        }
    }
    add(output.to_string().as_bytes());
    add(format!("{costs:?}").as_bytes());
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// What the run before took, if there is a record of it; this one is kept in its place.
pub fn replace(key: &str, took: Took) -> Option<Took> {
    replace_in(&place()?, key, took)
}

/// Nothing without a data directory: a run makes none.
fn place() -> Option<PathBuf> {
    let home = Home::from_env().ok()?;
    home.path().is_dir().then(|| home.path().join("runs.json"))
}

fn replace_in(place: &Path, key: &str, took: Took) -> Option<Took> {
    let bytes = read_at_most(place, LONGEST).unwrap_or_default();
    let known = serde_json::from_slice::<File>(&bytes).ok().filter(|file| file.version == VERSION);
    let mut runs = known.map(|file| file.runs).unwrap_or_default();
    let last = runs.iter().position(|entry| entry.key == key).map(|at| runs.remove(at).took);
    runs.insert(0, Entry { key: key.to_owned(), took });
    runs.truncate(MOST);
    if let Ok(bytes) = serde_json::to_vec(&File { version: VERSION, runs }) {
        write(place, &bytes).ok();
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Took = Took { slowest: 1000, cycles: 4000, instructions: 3000 };
    const LESS: Took = Took { slowest: 875, cycles: 3500, instructions: 3000 };

    #[test]
    fn the_last_run_is_the_one_before() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = dir.path().join("runs.json");
        assert_eq!(replace_in(&place, "a", SOME), None);
        assert_eq!(replace_in(&place, "b", SOME), None);
        assert_eq!(replace_in(&place, "a", LESS), Some(SOME));
        assert_eq!(replace_in(&place, "a", LESS), Some(LESS));
        let want = "since the last run: -12.5 % cycles of the slowest core (1000 to 875), +0.0 % instructions (3000 to 3000)\n";
        assert_eq!(LESS.since(SOME), want);
    }

    #[test]
    fn the_file_stays_small_and_may_be_damaged() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = dir.path().join("runs.json");
        for number in 0..2 * MOST {
            replace_in(&place, &format!("{number:032}"), SOME);
        }
        assert!(std::fs::metadata(&place).expect("it is there").len() < LONGEST / 2);
        assert_eq!(replace_in(&place, &format!("{:032}", 2 * MOST - 1), LESS), Some(SOME));
        assert_eq!(replace_in(&place, &format!("{:032}", 0), LESS), None, "the oldest are gone");
        for damage in ["", "{", "[]", r#"{"version":2,"runs":[]}"#, r#"{"version":1,"runs":[{"key":7}]}"#] {
            std::fs::write(&place, damage).expect("written");
            assert_eq!(replace_in(&place, "a", SOME), None, "{damage}");
            assert_eq!(replace_in(&place, "a", LESS), Some(SOME), "{damage}");
        }
        let nowhere = dir.path().join("there/is/none");
        assert_eq!(replace_in(&nowhere, "a", SOME), None);
    }
}
